/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "core/sim/losses.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <thermix/policy.h>

#include "core/machine/machine.h"

const char *const tmx_loss_words[TMX_N_LOSS] = {"clock stopped by the throttle",
                                                "blocks of new kernels measured",
                                                "no blocks on the SM (waiting)",
                                                "slower clock level",
                                                "units waking up (gating)",
                                                "shared memory, cores kept free for it",
                                                "mixing of kernels",
                                                "data or SMs of another GPU",
                                                "system kernels, barriers, round-off"};
const char *const tmx_loss_names[TMX_N_LOSS] = {"throttle", "profiling", "idle",  "level", "gating",
                                                "memory",   "mixing",    "place", "rest"};

enum tmx_status tmx_losses_create(struct tmx_losses **l, const struct tmx_sim *sim, struct tmx_err *err)
{
    struct tmx_losses *x = calloc(1, sizeof *x);
    const size_t n = sim->machine->n_sm;
    *l = x;
    if (x) {
        x->n_sm = n;
        x->bin_s = 0.05;
        x->sm_s = calloc(n * TMX_N_LOSS, sizeof *x->sm_s);
    }
    return x && x->sm_s ? TMX_OK : tmx_fail(err, TMX_ENOMEM, "ledger of %zu SMs", n);
}

void tmx_losses_destroy(struct tmx_losses *l)
{
    if (l) {
        free(l->sm_s);
    }
    free(l);
}

/* The bin of a time; pairs of bins become one when there are no more. */
static size_t bin_at(struct tmx_losses *l, double time_s)
{
    while (time_s / l->bin_s >= TMX_LOSS_BINS) {
        for (size_t b = 0; b < TMX_LOSS_BINS; b++) {
            const size_t from = 2 * b;
            const bool there = from < TMX_LOSS_BINS;
            for (size_t c = 0; c < TMX_N_LOSS; c++) {
                l->bin[b][c] = there ? l->bin[from][c] + l->bin[from + 1][c] : 0;
            }
            l->busy[b] = there ? l->busy[from] + l->busy[from + 1] : 0;
            l->hottest_k[b] = there ? fmax(l->hottest_k[from], l->hottest_k[from + 1]) : 0;
        }
        l->bin_s *= 2;
        l->n_bin = (l->n_bin + 1) / 2;
    }
    const size_t b = time_s > 0 ? (size_t)(time_s / l->bin_s) : 0;
    l->n_bin = b + 1 > l->n_bin ? b + 1 : l->n_bin;
    return b;
}

/* What a kernel loses of used_s SM seconds on one SM of a GPU. */
static void lose_kernel(const struct tmx_machine *m, size_t g, size_t kernel_slot, double used_s,
                        double lost[TMX_N_LOSS])
{
    const struct tmx_gpu *gpu = &m->gpu[g];
    const struct tmx_job *job = &m->job[gpu->run[kernel_slot]];
    const struct {
        enum tmx_loss cause;
        double speed;
    } chain[] = {{TMX_LOSS_LEVEL, tmx_machine_step_speed(m, g, kernel_slot)},
                 {TMX_LOSS_GATING, 1 / job->gate_slowdown},
                 {TMX_LOSS_MEMORY, 1 / job->memory_slowdown},
                 {TMX_LOSS_MIXING, gpu->n_run >= 2 ? m->gain : 1},
                 {TMX_LOSS_PLACE, gpu->speed_scale / job->sm_speed * tmx_machine_remote_speed(m, job, g)}};
    for (size_t i = 0; i < sizeof chain / sizeof chain[0]; i++) {
        lost[chain[i].cause] += used_s * (1 - chain[i].speed);
        used_s *= chain[i].speed;
    }
}

/* True: a thread-block policy kept the SM free. */
static bool lose_sm(const struct tmx_machine *m, size_t g, size_t sm, double lost[TMX_N_LOSS])
{
    if (m->gated[sm]) {
        lost[TMX_LOSS_THROTTLE] += m->dt_s;
        return false;
    }
    double idle_s = m->dt_s;
    const struct tmx_gpu *gpu = &m->gpu[g];
    for (size_t k = 0; k < gpu->n_run; k++) {
        const double used_s = m->busy[tmx_machine_at(m, sm, k)] * m->dt_s;
        lose_kernel(m, g, k, used_s, lost);
        idle_s -= used_s;
    }
    const double measured_s = fmin(m->volunteer_s[sm], idle_s);
    const bool kept_free = gpu->n_active < gpu->chip->n_sm && idle_s >= m->dt_s && measured_s <= 0;
    lost[TMX_LOSS_PROFILING] += measured_s;
    lost[kept_free ? TMX_LOSS_MEMORY : TMX_LOSS_IDLE] += idle_s - measured_s;
    return kept_free;
}

void tmx_losses_tick(void *ctx, const struct tmx_sim *sim)
{
    struct tmx_losses *l = ctx;
    const struct tmx_machine *m = sim->machine;
    if (!m->counting) {
        return;
    }
    const struct tmx_frame *f = &sim->frame;
    const size_t b = bin_at(l, fmax(0, tmx_sim_time_s(sim) - m->dt_s));
    for (size_t g = 0; g < m->n_gpu; g++) {
        const struct tmx_gpu *gpu = &m->gpu[g];
        for (size_t u = 0; u < gpu->chip->floorplan.n_unit; u++) {
            if (gpu->chip->sm_of_unit[u] != TMX_NO_SM) {
                l->hottest_k[b] = fmax(l->hottest_k[b], f->temp_k[gpu->unit0 + u]);
            }
        }
        if (gpu->n_run == 0) {
            continue;
        }
        l->busy[b] += m->dt_s * (double)gpu->chip->n_sm;
        for (size_t sm = gpu->sm0; sm < gpu->sm0 + gpu->chip->n_sm; sm++) {
            double lost[TMX_N_LOSS] = {0};
            l->free_sm_s += lose_sm(m, g, sm, lost) ? m->dt_s : 0;
            for (size_t c = 0; c < TMX_N_LOSS; c++) {
                l->sm_s[sm * TMX_N_LOSS + c] += lost[c];
                l->bin[b][c] += lost[c];
            }
        }
    }
}

void tmx_losses_end(struct tmx_losses *l, const struct tmx_sim *sim)
{
    const struct tmx_machine *m = sim->machine;
    double counted_s = 0, rest_s;
    l->busy_sm_s = l->done_sm_s = 0;
    memset(l->total, 0, sizeof l->total);
    for (size_t g = 0; g < m->n_gpu; g++) {
        l->busy_sm_s += m->gpu[g].busy_s * (double)m->gpu[g].chip->n_sm;
    }
    for (size_t j = 0; j < m->n_job; j++) {
        l->done_sm_s += m->job[j].done_sm_s / m->job[j].sm_speed;
    }
    for (size_t i = 0; i < l->n_sm * TMX_N_LOSS; i++) {
        l->total[i % TMX_N_LOSS] += l->sm_s[i];
    }
    for (size_t b = 0; b < l->n_bin; b++) {
        counted_s += l->busy[b];
    }
    /* what is idle between the end of a GPU's last kernel and the end of that tick is not busy time */
    l->total[TMX_LOSS_IDLE] = fmax(0, l->total[TMX_LOSS_IDLE] - fmax(0, counted_s - l->busy_sm_s));
    rest_s = l->busy_sm_s - l->done_sm_s;
    for (size_t c = 0; c < TMX_LOSS_REST; c++) {
        rest_s -= l->total[c];
    }
    l->total[TMX_LOSS_REST] = rest_s;
}

struct tmx_table *tmx_losses_causes(const struct tmx_losses *l, bool zeros)
{
    struct tmx_table *t = tmx_table_of("cause lost_pct:3 sm_s:2");
    for (size_t c = 0; c < TMX_N_LOSS; c++) {
        if (!zeros && fabs(l->total[c]) < 5e-6 * l->busy_sm_s) {
            continue;
        }
        tmx_table_row(t, "%s %g %g", tmx_loss_words[c],
                      l->busy_sm_s > 0 ? 100 * l->total[c] / l->busy_sm_s : 0, l->total[c]);
    }
    return t;
}

/* The causes that a figure shows: those that took a ten thousandth of the busy time. Returns how many. */
static size_t shown(const struct tmx_losses *l, size_t cause[TMX_N_LOSS])
{
    size_t n = 0;
    for (size_t c = 0; c < TMX_LOSS_REST; c++) {
        if (fabs(l->total[c]) > 1e-4 * l->busy_sm_s) {
            cause[n++] = c;
        }
    }
    return n;
}

static struct tmx_table *open_table(const char *first, const size_t *cause, size_t n)
{
    struct tmx_table *t = tmx_table_of(first);
    for (size_t i = 0; i < n; i++) {
        tmx_table_extend(t, tmx_loss_names[cause[i]], TMX_COLUMN_REAL, 4);
    }
    return t;
}

struct tmx_table *tmx_losses_over_time(const struct tmx_losses *l)
{
    size_t cause[TMX_N_LOSS];
    const size_t n = shown(l, cause);
    struct tmx_table *t = open_table("time_s:3 hottest_c:2", cause, n);
    for (size_t b = 0; b < l->n_bin; b++) {
        tmx_table_row(t, "%g %g", (double)b * l->bin_s, l->hottest_k[b] - TMX_ZERO_C);
        for (size_t i = 0; i < n; i++) {
            tmx_table_real(t, l->busy[b] > 0 ? 100 * l->bin[b][cause[i]] / l->busy[b] : 0);
        }
    }
    return t;
}

struct tmx_table *tmx_losses_by_sm(const struct tmx_losses *l)
{
    size_t cause[TMX_N_LOSS];
    const size_t n = shown(l, cause);
    struct tmx_table *t = open_table("sm:d", cause, n);
    for (size_t sm = 0; sm < l->n_sm; sm++) {
        tmx_table_int(t, (int64_t)sm);
        for (size_t i = 0; i < n; i++) {
            tmx_table_real(t, l->sm_s[sm * TMX_N_LOSS + cause[i]]);
        }
    }
    return t;
}

double tmx_losses_of_sm(const struct tmx_losses *l, size_t sm)
{
    double sum = 0;
    for (size_t c = 0; c < TMX_N_LOSS; c++) {
        sum += l->sm_s[sm * TMX_N_LOSS + c];
    }
    return sum;
}

double tmx_losses_of_bin(const struct tmx_losses *l, size_t bin)
{
    double sum = 0;
    for (size_t c = 0; c < TMX_N_LOSS; c++) {
        sum += l->bin[bin][c];
    }
    return sum;
}

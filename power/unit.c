/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Power of every floorplan unit:
 *
 *   dynamic   in the SMs: sum over resident kernels of busy * P_kernel * part, times V^2 f relative to the
 * nominal level (dvfs_power = "f": f alone; a kernel that waits for memory: its own speed in place of f)
 *   leakage   L_unit * r(T) * V * (1 - saved)        (dvfs_leakage = false: without V)
 *   baseline  constant, outside the SMs, and what a resident kernel keeps awake there
 *
 * A kernel that waits for memory the share m of its time (memory_bound_time, waits of a phase) runs at
 * 1 / ((1 - m) f0/f + m) of its speed. Of phases over its work a tick has the mean. What is drawn outside the
 * SMs is l2_w, with the SMs' V^2 f, and dram_w, with the rate of work, both in proportion to the kernel's
 * SMs. Energies are the die's: a board's memory, regulators and fan are group `board` of the chip.
 *
 * Paper 003, section 4.1: dynamic power from Hong and Kim (its reference 10), leakage that
 * depends on temperature, a baseline of the chip. Sharing out leakage and baseline by area is
 * assumed (the paper does not say). */
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/os.h"
#include "power/leakage.h"
#include "power/power.h"

struct unit_options {
    bool leakage;
};

static const struct tmx_opt opts[] = {
    TMX_ROW_BOOL(unit_options, leakage, 1, "count leakage"),
    {0},
};

struct unit_model {
    struct tmx_arena arena;      /* of the arrays */
    tmx_watts_kernel kernel;     /* for this processor */
    struct tmx_leakage *leakage; /* [n_gpu] */
    size_t *unit0;        /* [n_gpu] where its rows of what follows begin; GPUs that are alike have one */
    double *leak_ref_w;   /* [n_unit] at the reference temperature and nominal voltage */
    double *baseline_w;   /* [n_unit] */
    double *area_share;   /* [n_unit] of the SM area of the GPU; transitions heat it */
    double *uncore_share; /* [n_unit] of the other area; resident kernels keep it awake */
    double *l2_share, *dram_share; /* [n_unit] of the kernels' watts there */
    double *slot_w;                /* [TMX_SLOTS * n_gpu] per SM, of each kernel in the last tick */
    double *awake_w;               /* [n_gpu] likewise, of shared structures */
};

static void destroy(void *model)
{
    struct unit_model *m = model;
    if (m) {
        tmx_arena_finish(&m->arena);
        free(m);
    }
}

/* Spread `total_w` of the chip: sm_share of it over SM area, the rest over the other area;
 * a negative sm_share spreads by area over the whole die. */
static double share_w(double total_w, double sm_share, bool is_sm, double area, double sm_area,
                      double die_area)
{
    const double other_area = die_area - sm_area;
    if (sm_share < 0) {
        return total_w * area / die_area;
    }
    if (other_area <= 1e-9 * die_area) {
        return total_w * area / sm_area;
    }
    return is_sm ? total_w * sm_share * area / sm_area : total_w * (1 - sm_share) * area / other_area;
}

void tmx_power_share_out(const struct tmx_chip *c, double leakage_w, double baseline_w,
                         const struct tmx_power_shares *s)
{
    double sm_area = 0, die_area = 0, placed = 0;
    bool placed_l2 = false, placed_dram = false;
    for (size_t u = 0; u < c->floorplan.n_unit; u++) {
        const double a = tmx_unit_area_m2(&c->floorplan.unit[u]);
        die_area += c->is_off[u] || c->off_die[u] ? 0 : a; /* what is fused off draws nothing */
        sm_area += c->sm_of_unit[u] == TMX_NO_SM ? 0 : a;
        placed += c->baseline_share[u];
        placed_l2 = placed_l2 || c->l2_share[u] > 0;
        placed_dram = placed_dram || c->dram_share[u] > 0;
    }
    for (size_t u = 0; u < c->floorplan.n_unit; u++) {
        const double a = tmx_unit_area_m2(&c->floorplan.unit[u]);
        const bool is_sm = c->sm_of_unit[u] != TMX_NO_SM;
        s->leakage_w[u] = share_w(leakage_w, c->power.leakage_sm_share, is_sm, a, sm_area, die_area);
        s->baseline_w[u] =
            share_w(baseline_w * (1 - placed), c->power.baseline_sm_share, is_sm, a, sm_area, die_area);
        s->area[u] = is_sm ? a / sm_area : 0;
        s->uncore[u] = share_w(1, 0, is_sm, a, sm_area, die_area);
        if (c->is_off[u] || c->off_die[u]) {
            s->leakage_w[u] = s->baseline_w[u] = s->uncore[u] = 0;
        }
        s->baseline_w[u] += baseline_w * c->baseline_share[u];
        s->l2[u] = placed_l2 ? c->l2_share[u] : s->uncore[u];
        s->dram[u] = placed_dram ? c->dram_share[u] : s->uncore[u];
    }
}

static enum tmx_status create(const void *options, const struct tmx_machine *machine, void **model,
                              struct tmx_err *err)
{
    const struct unit_options *o = options;
    struct unit_model *m = calloc(1, sizeof *m);
    if (!m) {
        return tmx_fail(err, TMX_ENOMEM, "power model");
    }
    m->kernel = TMX_ISA_OF(tmx_watts_any, tmx_watts_v3, tmx_watts_v4);
    TMX_TAKE(&m->arena, m->leakage, machine->n_gpu);
    TMX_TAKE(&m->arena, m->unit0, machine->n_gpu);
    TMX_TAKE_REALS(&m->arena, machine->n_unit, &m->leak_ref_w, &m->baseline_w, &m->area_share,
                   &m->uncore_share, &m->l2_share, &m->dram_share);
    TMX_TAKE(&m->arena, m->slot_w, machine->n_gpu * TMX_SLOTS);
    TMX_TAKE(&m->arena, m->awake_w, machine->n_gpu);
    if (m->arena.failed) {
        destroy(m);
        return tmx_fail(err, TMX_ENOMEM, "power model of %zu units", machine->n_unit);
    }
    for (size_t g = 0; g < machine->n_gpu; g++) {
        const struct tmx_gpu *gpu = &machine->gpu[g];
        const struct tmx_chip_power *power = &gpu->chip->power;
        const size_t u = m->unit0[g] = gpu->unit0;
        m->leakage[g] = tmx_leakage_init(power);
        if (g > 0 && gpu[-1].chip == gpu->chip && gpu[-1].leakage_scale == gpu->leakage_scale) {
            m->unit0[g] = m->unit0[g - 1];
            continue;
        }
        const struct tmx_power_shares shares = {m->leak_ref_w + u,   m->baseline_w + u, m->area_share + u,
                                                m->uncore_share + u, m->l2_share + u,   m->dram_share + u};
        tmx_power_share_out(gpu->chip, o->leakage ? gpu->leakage_scale * power->leakage_w : 0,
                            power->baseline_w, &shares);
    }
    *model = m;
    return TMX_OK;
}

/* What kernels draw in L2 and memory, added to the units and to the kernels' sums; leakage as above. Memory
 * has a clock and a voltage of its own: its watts follow the rate of work. */
static double outside_sms(const struct unit_model *m, const struct tmx_machine *machine, size_t g,
                          const double *busy_sms, double *sum_w, struct tmx_frame *f)
{
    const struct tmx_gpu *gpu = &machine->gpu[g];
    const double volt2 = gpu->chip->power.dvfs_power == TMX_DVFS_V2F ? machine->volt2[g] : 1;
    double l2_w = 0, dram_w = 0, busy = 0, leak = 0;
    for (size_t k = 0; k < gpu->n_run; k++) {
        const struct tmx_job *j = &machine->job[gpu->run[k]];
        const double rate = busy_sms[k] * tmx_machine_step_speed(machine, g, k) * gpu->power_scale /
                            tmx_job_slowdown(j) * tmx_machine_remote_speed(machine, j, g);
        l2_w += rate * volt2 * j->l2_w;
        dram_w += rate * j->dram_w;
        sum_w[k] += rate * (volt2 * j->l2_w + j->dram_w);
        busy += busy_sms[k];
        leak += busy_sms[k] * tmx_job_leak(j);
    }
    for (size_t i = 0, u = m->unit0[g]; i < gpu->chip->floorplan.n_unit; i++, u++) {
        f->dynamic_w[gpu->unit0 + i] += l2_w * m->l2_share[u] + dram_w * m->dram_share[u];
    }
    return busy > 0 ? leak / busy : 1;
}

/* Dynamic watts of each unit, n kernel slots; what each draws and how many SMs it keeps busy. */
static inline __attribute__((always_inline)) void in_sms(const struct tmx_machine *machine,
                                                         const struct tmx_gpu *gpu, size_t n,
                                                         const double *slot_w, double *sum_w,
                                                         double *busy_sms, double *restrict dynamic_w)
{
    const struct tmx_chip *c = gpu->chip;
    double watts[TMX_SLOTS] = {0}, sms[TMX_SLOTS] = {0};
    for (size_t u = 0; u < c->floorplan.n_unit; u++) {
        const int sm = c->sm_of_unit[u];
        double w = 0;
        if (sm != TMX_NO_SM) {
            const double *busy = &machine->busy[gpu->sm0 + (size_t)sm];
            for (size_t k = 0; k < n; k++) {
                const double part_w = busy[k * machine->n_sm] * slot_w[k] * c->part_share[u];
                watts[k] += part_w;
                sms[k] += busy[k * machine->n_sm] * c->part_share[u];
                w += part_w;
            }
        }
        dynamic_w[u] = w;
    }
    for (size_t k = 0; k < n; k++) {
        sum_w[k] = watts[k];
        busy_sms[k] = sms[k];
    }
}

/* Dynamic watts; the leakage of the GPU under its kernels, relative to leakage_w. */
static double dynamic(const struct unit_model *m, const struct tmx_machine *machine, size_t g,
                      struct tmx_frame *f)
{
    const struct tmx_gpu *gpu = &machine->gpu[g];
    const struct tmx_chip *c = gpu->chip;
    const double volt2 = c->power.dvfs_power == TMX_DVFS_V2F ? machine->volt2[g] : 1;
    double slot_w[TMX_SLOTS] = {0}, sum_w[TMX_SLOTS] = {0}, busy_sms[TMX_SLOTS] = {0};
    const size_t n_kernel_slot = tmx_machine_kernel_slots(gpu);
    bool outside = false;
    for (size_t k = 0; k < gpu->n_run; k++) {
        const struct tmx_job *j = &machine->job[gpu->run[k]];
        const double scale = volt2 * tmx_machine_step_speed(machine, g, k) * gpu->power_scale;
        slot_w[k] = tmx_machine_step_w(machine, g, k) * scale /
                    tmx_job_slowdown(j) * /* the same work, spread over a longer time */
                    tmx_machine_remote_speed(machine, j, g);
        outside = outside || tmx_job_outside(j);
    }
    double *last_w = &m->slot_w[TMX_SLOTS * g];
    if (gpu->same && !outside && memcmp(last_w, slot_w, sizeof slot_w) == 0) {
        return 1; /* as in the last tick */
    }
    memcpy(last_w, slot_w, sizeof slot_w);
    if (n_kernel_slot == 2) { /* a constant: sums in registers */
        in_sms(machine, gpu, 2, slot_w, sum_w, busy_sms, f->dynamic_w + gpu->unit0);
    } else {
        in_sms(machine, gpu, n_kernel_slot, slot_w, sum_w, busy_sms, f->dynamic_w + gpu->unit0);
    }
    double leak = 1;
    if (outside) {
        leak = outside_sms(m, machine, g, busy_sms, sum_w, f);
    }
    for (size_t k = 0; k < TMX_SLOTS; k++) {
        f->slot_w[k * f->n_gpu + g] = sum_w[k];
    }
    return leak;
}

static enum tmx_status eval(void *model, const struct tmx_machine *machine, struct tmx_gpus span,
                            struct tmx_frame *f)
{
    const struct unit_model *m = model;
    enum { AT_ONCE = 16 }; /* GPUs */
    struct tmx_watts watts[AT_ONCE];
    for (size_t g = span.first, n = 0; g < span.end; g++) {
        const struct tmx_gpu *gpu = &machine->gpu[g];
        const size_t u0 = gpu->unit0, row0 = m->unit0[g];
        const double transition_w = gpu->transition_j / machine->dt_s,
                     volt = gpu->chip->power.dvfs_leakage ? machine->volt[g] : 1;
        double awake_w = 0; /* shared structures serve all resident kernels at once */
        for (size_t k = 0; k < gpu->n_run; k++) {
            const struct tmx_job *j = &machine->job[gpu->run[k]];
            awake_w = j->state == TMX_JOB_RUNNING && j->uncore_w > awake_w ? j->uncore_w : awake_w;
        }
        const double leak = dynamic(m, machine, g, f);
        f->transition_w[g] = transition_w;
        watts[n] = (struct tmx_watts){.leakage = n > 0 && gpu[-1].chip == gpu->chip ? watts[n - 1].leakage
                                                                                    : &m->leakage[g],
                                      .n = gpu->chip->floorplan.n_unit,
                                      .volt = volt * leak,
                                      .awake_w = awake_w,
                                      .same_base = gpu->same && awake_w == m->awake_w[g],
                                      .transition_w = transition_w,
                                      .temp_k = f->temp_k + u0,
                                      .dynamic_w = f->dynamic_w + u0,
                                      .asleep = f->sleeps ? f->asleep + u0 : NULL,
                                      .unpowered = f->unpowered + u0,
                                      .leak_ref_w = m->leak_ref_w + row0,
                                      .fixed_w = m->baseline_w + row0,
                                      .uncore_share = m->uncore_share + row0,
                                      .area_share = m->area_share + row0,
                                      .leakage_w = f->leakage_w + u0,
                                      .saved_w = f->saved_w + u0,
                                      .baseline_w = f->baseline_w + u0,
                                      .power_w = f->power_w + u0};
        m->awake_w[g] = awake_w;
        if ((++n == AT_ONCE || g + 1 == span.end) && !m->kernel(watts, n)) {
            return TMX_ERUNAWAY;
        }
        n %= AT_ONCE;
    }
    return TMX_OK;
}

static void factors(const void *leakage, size_t n, const double *temp_k, double *factor)
{
    enum { BLOCK = 64 };
    for (size_t from = 0; from < n; from += BLOCK) {
        const size_t m = n - from < BLOCK ? n - from : BLOCK;
        double in_range_k[BLOCK];
        for (size_t i = 0; i < m; i++) {
            const double t = temp_k[from + i] < TMX_LEAK_MIN_K ? TMX_LEAK_MIN_K : temp_k[from + i];
            in_range_k[i] = t > TMX_LEAK_MAX_K ? TMX_LEAK_MAX_K : t;
        }
        tmx_leakage_factors(leakage, m, in_range_k, factor + from);
    }
}

static void still(const void *model, const struct tmx_machine *machine, size_t gpu,
                  struct tmx_static_power *p)
{
    const struct unit_model *m = model;
    (void)machine;
    *p = (struct tmx_static_power){.baseline_w = m->baseline_w + m->unit0[gpu],
                                   .leak_w = m->leak_ref_w + m->unit0[gpu],
                                   .factors = factors,
                                   .table = &m->leakage[gpu]};
}

static const struct tmx_power_ops unit = {
    .base = {.name = "unit",
             .doc = "Dynamic power of the resident kernels, leakage at the unit's temperature, baseline.",
             .source = "paper 003, section 4.1 and equation 1; HotSpot's leakage exponent",
             .opts = opts,
             .state_size = sizeof(struct unit_options)},
    .create = create,
    .destroy = destroy,
    .eval = eval,
    .still = still,
};

/* Every power model: this is the only one. */
const struct tmx_power_ops *const tmx_power_models[] = {&unit, NULL};
const struct tmx_plugin *const tmx_power_heads[] = {&unit.base, NULL};

/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "study/study.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/config.h"
#include "base/os.h"
#include "base/plausible.h"
#include "base/text.h"
#include "core/machine/machine.h"
#include "core/sim/sim.h"
#include "run/run.h"
#include "run/summary.h"

/* Where the busy time of a run's SMs goes that does no work, tick by tick: an observer's ledger. Each SM
 * second of a GPU with work is lost to one cause or is work; causes act one after another in the order below,
 * as the machine's own equations do (core/machine/advance.c), and sum to the slowdown. */

enum loss {
    LOSS_THROTTLE,  /* the clock stopped */
    LOSS_PROFILING, /* blocks of a new kernel measured */
    LOSS_IDLE,      /* no block on the SM, changes of level, rests that a policy puts in */
    LOSS_LEVEL,     /* a slower clock level, as far as the kernel follows the clock */
    LOSS_GATING,    /* sleeping units wake up */
    LOSS_MEMORY,    /* cores wait for a shared memory, or are kept free so that the others wait less */
    LOSS_MIXING,    /* two kernels on a GPU; negative where they gain */
    LOSS_PLACE,     /* data of another GPU, SMs slower than GPU 0's */
    LOSS_REST,      /* what the policies' own kernels take, waiting at a synchronous job's barriers */
    N_LOSS
};
static const struct {
    const char *column, *words;
} causes[N_LOSS] = {{"throttle", "clock stopped by the throttle"},
                    {"profiling", "blocks of new kernels measured"},
                    {"idle", "no blocks on the SM (waiting)"},
                    {"level", "slower clock level"},
                    {"gating", "units waking up (gating)"},
                    {"memory", "shared memory, cores kept free for it"},
                    {"mixing", "mixing of kernels"},
                    {"place", "data or SMs of another GPU"},
                    {"rest", "system kernels, barriers, round-off"}};

enum { LOSS_BINS = 512 };

struct losses {
    size_t n_sm;
    double (*sm_s)[N_LOSS];                     /* [n_sm] of each SM; REST is of none */
    double bin_s;                               /* counted time of a bin; doubled when they are full */
    size_t n_bin;                               /* begun */
    double bin[LOSS_BINS][N_LOSS];              /* SM seconds */
    double busy[LOSS_BINS];                     /* SM seconds of GPUs with work */
    double hottest_k[LOSS_BINS];                /* SM unit at the end of any tick; 0: none yet */
    double free_sm_s;                           /* of MEMORY: SMs that a thread-block policy kept free */
    double done_sm_s, busy_sm_s, total[N_LOSS]; /* REST is filled by end_losses */
};

/* The bin of a time; pairs of bins become one when there are no more. */
static size_t bin_at(struct losses *l, double time_s)
{
    while (time_s / l->bin_s >= LOSS_BINS) {
        for (size_t b = 0; b < LOSS_BINS; b++) {
            const size_t from = 2 * b;
            const bool there = from < LOSS_BINS;
            for (size_t c = 0; c < N_LOSS; c++) {
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

/* What is lost on one SM of a GPU, and by every kernel of the time it has. True: a thread-block policy kept
 * the SM free. */
static bool lose_sm(const struct tmx_machine *m, size_t g, size_t sm, double lost[N_LOSS])
{
    if (m->gated[sm]) {
        lost[LOSS_THROTTLE] += m->dt_s;
        return false;
    }
    double idle_s = m->dt_s;
    const struct tmx_gpu *gpu = &m->gpu[g];
    for (size_t k = 0; k < gpu->n_run; k++) {
        const struct tmx_job *job = &m->job[gpu->run[k]];
        const struct {
            enum loss cause;
            double speed;
        } chain[] = {{LOSS_LEVEL, tmx_machine_step_speed(m, g, k)},
                     {LOSS_GATING, 1 / job->gate_slowdown},
                     {LOSS_MEMORY, 1 / job->memory_slowdown},
                     {LOSS_MIXING, gpu->n_run >= 2 ? m->gain : 1},
                     {LOSS_PLACE, gpu->speed_scale / job->sm_speed * tmx_machine_remote_speed(m, job, g)}};
        double used_s = m->busy[tmx_machine_at(m, sm, k)] * m->dt_s;
        idle_s -= used_s;
        for (size_t i = 0; i < sizeof chain / sizeof chain[0]; i++) {
            lost[chain[i].cause] += used_s * (1 - chain[i].speed);
            used_s *= chain[i].speed;
        }
    }
    const double measured_s = fmin(m->volunteer_s[sm], idle_s);
    const bool kept_free = gpu->n_active < gpu->chip->n_sm && idle_s >= m->dt_s && measured_s <= 0;
    lost[LOSS_PROFILING] += measured_s;
    lost[kept_free ? LOSS_MEMORY : LOSS_IDLE] += idle_s - measured_s;
    return kept_free;
}

/* After each tick, ctx is the ledger. */
static void lose_tick(void *ctx, const struct tmx_sim *sim)
{
    struct losses *l = ctx;
    const struct tmx_machine *m = sim->machine;
    if (!m->counting) {
        return;
    }
    double lost[N_LOSS] = {0}, busy_sm_s = 0, hottest_k = 0;
    for (size_t g = 0; g < m->n_gpu; g++) {
        const struct tmx_gpu *gpu = &m->gpu[g];
        for (size_t u = 0; u < gpu->chip->floorplan.n_unit; u++) {
            if (gpu->chip->sm_of_unit[u] != TMX_NO_SM) {
                hottest_k = fmax(hottest_k, sim->frame.temp_k[gpu->unit0 + u]);
            }
        }
        if (gpu->n_run == 0) {
            continue;
        }
        busy_sm_s += m->dt_s * (double)gpu->chip->n_sm;
        for (size_t sm = gpu->sm0; sm < gpu->sm0 + gpu->chip->n_sm; sm++) {
            double of_sm[N_LOSS] = {0};
            l->free_sm_s += lose_sm(m, g, sm, of_sm) ? m->dt_s : 0;
            for (size_t c = 0; c < N_LOSS; c++) {
                l->sm_s[sm][c] += of_sm[c];
                lost[c] += of_sm[c];
            }
        }
    }
    const double n = round(m->dt_s / m->tick_s); /* ticks of the step, each in its bin */
    for (double i = n; i > 0; i--) {
        const size_t b = bin_at(l, tmx_sim_time_s(sim) - (i - 0.5) * m->tick_s);
        l->hottest_k[b] = fmax(l->hottest_k[b], hottest_k);
        l->busy[b] += busy_sm_s / n;
        for (size_t c = 0; c < N_LOSS; c++) {
            l->bin[b][c] += lost[c] / n;
        }
    }
}

/* After the last one: what no cause before it took is REST. */
static void end_losses(struct losses *l, const struct tmx_sim *sim)
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
    for (size_t i = 0; i < l->n_sm * N_LOSS; i++) {
        l->total[i % N_LOSS] += l->sm_s[i / N_LOSS][i % N_LOSS];
    }
    for (size_t b = 0; b < l->n_bin; b++) {
        counted_s += l->busy[b];
    }
    /* what is idle between the end of a GPU's last kernel and the end of that tick is not busy time */
    l->total[LOSS_IDLE] = fmax(0, l->total[LOSS_IDLE] - fmax(0, counted_s - l->busy_sm_s));
    rest_s = l->busy_sm_s - l->done_sm_s;
    for (size_t c = 0; c < LOSS_REST; c++) {
        rest_s -= l->total[c];
    }
    l->total[LOSS_REST] = rest_s;
}

/* Of the causes a row of each, without zeros of those that took something; over time (a bin's begin) [%] of
 * the busy time and by SM [SM s] a column of each that took a ten thousandth of the busy time. */
static void make_tables(const struct losses *l, bool zeros, struct tmx_explained *e, struct tmx_err *err)
{
    size_t cause[N_LOSS], n = 0;
    e->causes = tmx_table_of("cause lost_pct:3 sm_s:2");
    e->over_time = tmx_table_of("time_s:3 hottest_c:2");
    e->by_sm = tmx_table_of("sm:d");
    for (size_t c = 0; c < N_LOSS; c++) {
        const double took = fabs(l->total[c]);
        if (zeros || took >= 5e-6 * l->busy_sm_s) {
            tmx_table_row(e->causes, "%s %g %g", causes[c].words,
                          l->busy_sm_s > 0 ? 100 * l->total[c] / l->busy_sm_s : 0, l->total[c]);
        }
        if (c < LOSS_REST && took > 1e-4 * l->busy_sm_s) {
            cause[n++] = c;
            tmx_table_extend(e->over_time, causes[c].column, TMX_COLUMN_REAL, 4);
            tmx_table_extend(e->by_sm, causes[c].column, TMX_COLUMN_REAL, 4);
        }
    }
    for (size_t b = 0; b < l->n_bin; b++) {
        tmx_table_row(e->over_time, "%g %g", (double)b * l->bin_s, l->hottest_k[b] - TMX_ZERO_C);
        for (size_t i = 0; i < n; i++) {
            tmx_table_real(e->over_time, l->busy[b] > 0 ? 100 * l->bin[b][cause[i]] / l->busy[b] : 0);
        }
    }
    for (size_t sm = 0; sm < l->n_sm; sm++) {
        tmx_table_int(e->by_sm, (int64_t)sm);
        for (size_t i = 0; i < n; i++) {
            tmx_table_real(e->by_sm, l->sm_s[sm][cause[i]]);
        }
    }
    tmx_table_check(e->causes, err);
    tmx_table_check(e->over_time, err);
    tmx_table_check(e->by_sm, err);
}

/* [SM s] of all causes. */
static double sum_of(const double lost[N_LOSS])
{
    double sum = 0;
    for (size_t c = 0; c < N_LOSS; c++) {
        sum += lost[c];
    }
    return sum;
}

enum { MOST_SM = 3, N_STEP = 10 };

static double metric(const struct tmx_run *run, const char *name)
{
    const struct tmx_metric *k = &tmx_metrics[tmx_study_metric(name)];
    return k->name ? tmx_run_metric(run, k) : 0;
}

static const double NOTHING_PCT = 0.005; /* what two decimals show */

/* One knob turned one step, each a run of its own. */
struct step {
    const char *words, *key;
    struct tmx_scalar value;
};

struct steps {
    const struct tmx_explain *x;
    struct step step[N_STEP];
    size_t n;
};

static void sets(const void *ctx, size_t task, struct tmx_sets *s, struct tmx_err *err)
{
    const struct steps *t = ctx;
    tmx_sets_join(s, t->x->sets, "", err);
    tmx_sets_put(s, t->step[task].key, t->step[task].value, NULL, 0, err);
}

/* A value of ten digits, as the step is printed. */
static void add_step(struct steps *s, const char *words, const char *key, double value)
{
    s->step[s->n++] = (struct step){words, key, TMX_REAL_VALUE(tmx_real_round(value, 10))};
}

static const char *step_text(const struct step *t, char *buf, size_t size)
{
    char value[TMX_REAL_SIZE];
    double kelvin;
    if (strcmp(t->key, "package.ambient") == 0 && tmx_scalar_real(t->value, &kelvin)) {
        snprintf(buf, size, "%s=%gC", t->key, tmx_real_round(kelvin - 273.15, 10)); /* as it may be typed */
        return buf;
    }
    snprintf(buf, size, "%s=%s", t->key, tmx_scalar_plain(t->value, value));
    return buf;
}

static bool is_word(const struct tmx_setting *root, const char *path, const char *word)
{
    const char *text = tmx_setting_text(tmx_setting_find(root, path));
    return text && strcmp(text, word) == 0;
}

/* Steps from the values that the run has, those that make a run: a key may be of another policy only. */
static void choose_steps(struct steps *s, const struct tmx_run *run)
{
    static const struct {
        const char *mix, *words;
    } policies[] = {{"mixed_nonuniform", "both kernels on every SM"},
                    {"alternate", "kernels in turns on all SMs"}};
    const struct tmx_setting *root = tmx_run_settings(run);
    double v;
    if (!tmx_setting_find(root, "topology") && /* whose cards have their own convection */
        tmx_setting_real(tmx_setting_find(root, "package.r_convec"), &v)) {
        add_step(s, "a sink with a tenth less resistance to air", "package.r_convec", 0.9 * v);
    }
    if (tmx_setting_real(tmx_setting_find(root, "package.ambient"), &v)) {
        add_step(s, "air 2 K colder", "package.ambient", v - 2);
    }
    if (tmx_setting_real(tmx_setting_find(root, "fan.speed"), &v) && v < 0.95) {
        add_step(s, "fans a tenth faster", "fan.speed", fmin(1, 1.1 * v));
    }
    if (tmx_setting_real(tmx_setting_find(root, "throttle.trip_c"), &v)) {
        add_step(s, "a throttle that trips 1 K later", "throttle.trip_c", v + 1);
    }
    if (is_word(root, "dtm.policy", "boost")) {
        const double board_c = tmx_run_sim(run)->machine->gpu[0].chip->board.target_c;
        const bool own = tmx_setting_real(tmx_setting_find(root, "dtm.target_c"), &v) && v > 0;
        if (own || board_c > 0) {
            add_step(s, "a governor that holds 2 K more", "dtm.target_c", (own ? v : board_c) + 2);
        }
        const struct tmx_setting *caps = tmx_setting_find(root, "power_caps_w");
        double first_w = 0;
        bool alike = tmx_setting_is_list(caps) && tmx_setting_length(caps) > 0;
        for (size_t i = 0; alike && i < tmx_setting_length(caps); i++) {
            alike = tmx_setting_real(tmx_setting_at(caps, i), &v) && (i == 0 || v == first_w);
            first_w = v;
        }
        if (alike) {
            add_step(s, "a power cap a tenth higher", "power_caps_w", 1.1 * first_w);
        }
    }
    if (is_word(root, "dtm.policy", "none")) {
        s->step[s->n++] =
            (struct step){"slower clocks before the trip point", "dtm.policy", TMX_TEXT_VALUE("dvfs")};
    }
    const struct tmx_machine *m = tmx_run_sim(run)->machine;
    const bool mixes = m->n_job > (is_word(root, "place.policy", "own_gpu") ? m->n_gpu : 1);
    for (size_t i = 0; i < sizeof policies / sizeof policies[0] && mixes; i++) {
        if (!is_word(root, "mix_policy.policy", policies[i].mix)) {
            s->step[s->n++] =
                (struct step){policies[i].words, "mix_policy.policy", TMX_TEXT_VALUE(policies[i].mix)};
        }
    }
    size_t n = 0;
    for (size_t i = 0; i < s->n; i++) {
        struct tmx_sets all = {0};
        const struct tmx_run_how how = {.sets = &all, .described = true};
        struct tmx_run *with = NULL;
        struct tmx_err ignored = {0};
        sets(s, i, &all, &ignored);
        if (!tmx_run_load(&with, s->x->path, &how, &ignored)) {
            s->step[n++] = s->step[i];
        }
        tmx_run_destroy(with);
        tmx_sets_finish(&all);
    }
    s->n = n;
}

/* The slowdown with this step; without an error in `b`. */
static double with_step(const struct tmx_run_values *b, size_t step)
{
    return b->value[step * b->n_value + tmx_study_metric("slowdown_pct")];
}

/* Steps that move the slowdown, then the others in a sentence. */
static void print_effects(const struct steps *s, const struct tmx_run_values *b, const size_t *order,
                          double slowdown_pct, FILE *out)
{
    enum { INDENT = 20 };
    const size_t width = tmx_os_terminal_width(out);
    bool idle = false;
    char text[96];
    fprintf(out, "\nOne step of one knob, all else equal, takes the slowdown of %.2f %% to:\n", slowdown_pct);
    for (size_t k = 0; k < s->n; k++) {
        const size_t i = order[k];
        const double v = b->error[i] ? 0 : with_step(b, i);
        const bool moves = !b->error[i] && fabs(v - slowdown_pct) > NOTHING_PCT;
        idle = idle || !(moves || b->error[i]);
        if (moves) {
            fprintf(out, "  %6.2f %% (%+.2f)  %s\n%*s--set %s\n", v, v - slowdown_pct, s->step[i].words,
                    INDENT, "", step_text(&s->step[i], text, sizeof text));
        } else if (b->error[i]) {
            char line[600];
            snprintf(line, sizeof line, "%s: %s", s->step[i].words, b->error[i]);
            fprintf(out, "  %-*s", INDENT - 2, "fails");
            tmx_text_wrap(line, INDENT, width, out);
        }
    }
    for (size_t i = 0; i < s->n && idle; i++) {
        if (!b->error[i] && fabs(with_step(b, i) - slowdown_pct) <= NOTHING_PCT) {
            char line[200];
            snprintf(line, sizeof line, "%s (%s)", s->step[i].words,
                     step_text(&s->step[i], text, sizeof text));
            fprintf(out, "  %-*s", INDENT - 2, "no change");
            tmx_text_wrap(line, INDENT, width, out);
        }
    }
}

static void print_steps(const struct tmx_explain *x, const struct tmx_run *run, double slowdown_pct,
                        FILE *out, struct tmx_explained *e, struct tmx_err *err)
{
    struct steps s = {.x = x};
    size_t order[N_STEP];
    char text[96];
    choose_steps(&s, run);
    if (s.n == 0) {
        return;
    }
    const struct tmx_runs runs = {.name = "explain",
                                  .file = x->path,
                                  .base = x->path,
                                  .n_point = s.n,
                                  .ctx = &s,
                                  .sets = sets,
                                  .suite = true};
    struct tmx_run_values b = {0};
    tmx_study_values(&b, &runs, &(struct tmx_study_options){.n_worker = x->n_worker, TMX_STUDY_WHOLE}, err);
    if (!err->code) {
        /* By insertion: what helps most first. */
        for (size_t i = 0; i < s.n; i++) {
            size_t at = i;
            for (; at > 0 && !b.error[i] &&
                   (b.error[order[at - 1]] || with_step(&b, i) < with_step(&b, order[at - 1]));
                 at--) {
                order[at] = order[at - 1];
            }
            order[at] = i;
        }
        if (!x->brief) {
            print_effects(&s, &b, order, slowdown_pct, out);
        }
        e->steps = tmx_table_of("step set slowdown_pct:2");
        tmx_table_check(e->steps, err);
    }
    for (size_t k = 0; k < s.n && !err->code; k++) {
        if (!b.error[order[k]]) {
            tmx_table_row(e->steps, "%s %s %g", s.step[order[k]].words,
                          step_text(&s.step[order[k]], text, sizeof text), with_step(&b, order[k]));
        }
    }
    tmx_run_values_finish(&b);
}

/* The SM that lost most of those not in done [n]; n_sm when none lost anything. */
static size_t worst_sm(const struct losses *l, const size_t *done, size_t n)
{
    size_t worst = l->n_sm;
    for (size_t sm = 0; sm < l->n_sm; sm++) {
        bool taken = sum_of(l->sm_s[sm]) <= 1e-4 * l->busy_sm_s / (double)l->n_sm;
        for (size_t k = 0; k < n; k++) {
            taken = taken || done[k] == sm;
        }
        if (!taken && (worst == l->n_sm || sum_of(l->sm_s[sm]) > sum_of(l->sm_s[worst]))) {
            worst = sm;
        }
    }
    return worst;
}

static void print_places(const struct losses *l, const struct tmx_run *run, FILE *out)
{
    const struct tmx_machine *m = tmx_run_sim(run)->machine;
    char label[TMX_COOLING_LABEL];
    size_t done[MOST_SM], n = 0, worst = 0;
    for (; n < MOST_SM; n++) {
        done[n] = worst_sm(l, done, n);
        if (done[n] == l->n_sm) {
            break;
        }
        size_t g = 0;
        while (g + 1 < m->n_gpu && m->gpu[g + 1].sm0 <= done[n]) {
            g++;
        }
        fputs(n ? ", " : "Lost most: ", out);
        if (m->n_gpu > 1) {
            fprintf(out, "GPU %s ", tmx_cooling_label(&tmx_run_sim(run)->spec.cooling, g, label));
        }
        fprintf(out, "SM %zu %.2f s", done[n] - m->gpu[g].sm0, sum_of(l->sm_s[done[n]]));
    }
    size_t n_alike = 0; /* that lost as much as the last one named, with those that are */
    for (size_t sm = 0; sm < l->n_sm && n == MOST_SM; sm++) {
        n_alike += sum_of(l->sm_s[sm]) > sum_of(l->sm_s[done[n - 1]]) * (1 - 1e-9);
    }
    if (n_alike > n) {
        fprintf(out, " and %zu more alike", n_alike - n);
    }
    if (n == 0) {
        fputs("No SM lost any time to speak of.\n", out);
        return;
    }
    for (size_t b = 0; b < l->n_bin; b++) { /* of alike ones the first */
        worst = sum_of(l->bin[b]) > sum_of(l->bin[worst]) * (1 + 1e-9) ? b : worst;
    }
    fprintf(out, ".\nThe worst %.3g s, from %.4g s on, lost %.2f of %.2f SM seconds.\n", l->bin_s,
            (double)worst * l->bin_s, sum_of(l->bin[worst]), l->busy[worst]);
}

/* Kernels that were there and had to wait for their turn; that is not slowdown, which counts busy time. */
static void print_queue(const struct tmx_run *run, FILE *out)
{
    const struct tmx_machine *m = tmx_run_sim(run)->machine;
    const struct tmx_job *longest = NULL;
    double longest_s = 0;
    for (size_t j = 0; j < m->n_job; j++) {
        const double wait_s = m->job[j].started_s - tmx_run_arrival_s(run, &m->job[j]);
        if (m->job[j].started_s >= 0 && wait_s > longest_s) {
            longest = &m->job[j];
            longest_s = wait_s;
        }
    }
    if (longest && longest_s > m->tick_s) {
        tmx_print_visible(out, "%s waited %.2f s for its turn (busy time does not count that).\n",
                          longest->kernel->name, longest_s);
    }
}

/* Do the files of the folder still make the run whose results are in it? */
static void check_folder(const struct tmx_explain *x, struct tmx_err *err)
{
    struct tmx_run *run = NULL;
    bool partial;
    char change[1200] = "";
    (void)(tmx_run_folder_check(x->folder, &partial, err) ||
           tmx_run_load(&run, x->path, &(struct tmx_run_how){.described = true}, err) ||
           tmx_run_folder_compare(run, x->folder, change, sizeof change, err));
    if (change[0] && !x->accept_changed) {
        tmx_error_at(err, TMX_ECONFIG, x->folder, 0,
                     "its results are not those of the run that its resolved.cfg now describes: %s; run it "
                     "again, or explain the run with the new files by --accept-changed",
                     change);
    } else if (!err->code && change[0]) {
        tmx_print_visible(stderr, "warning: %s: %s; the explanation below is of the run with the new files\n",
                          x->folder, change);
    }
    tmx_run_destroy(run);
}

enum tmx_status tmx_explain(const struct tmx_explain *x, FILE *out, struct tmx_explained *e,
                            struct tmx_err *err)
{
    struct tmx_arena arena = {0};
    struct losses *l = NULL;
    struct tmx_run *run = NULL;
    *e = (struct tmx_explained){0};
    if (x->folder) {
        check_folder(x, err);
    }
    if (!tmx_run_load(&run, x->path, &(struct tmx_run_how){.sets = x->sets}, err) && TMX_TAKE(&arena, l, 1)) {
        l->n_sm = tmx_run_sim(run)->machine->n_sm;
        l->bin_s = 0.05;
        TMX_TAKE(&arena, l->sm_s, l->n_sm);
    }
    tmx_arena_check(&arena, err);
    const struct tmx_observer observer = {.ctx = l, .tick = lose_tick};
    const bool serves = !err->code && tmx_sim_serve(tmx_run_sim(run));
    (void)(!err->code && tmx_run_execute(run, serves ? NULL : &observer, err));
    if (!err->code && serves) {
        fprintf(out,
                "%s served %.0f requests in %.2f s.\n"
                "Means over the requests that missed a limit (one that is not given: the slowest hundredth): "
                "time\n"
                "beyond the request alone in the queue, by others in the batch, and by slow clocks, these in "
                "percent\n"
                "by the row's policy, its power brake, or the board (power, temperature).\n",
                tmx_run_mix_name(run), metric(run, "requests_done"), metric(run, "makespan_s"));
        e->causes = tmx_run_missed(run);
        tmx_table_check(e->causes, err);
    } else if (!err->code) {
        char policy[300], line[900];
        const double slow = metric(run, "slowdown_pct");
        end_losses(l, tmx_run_sim(run));
        if (x->first && x->first[0]) {
            tmx_os_headline(out, x->first);
        }
        if (!x->brief) {
            snprintf(line, sizeof line, "%s under %s lost %.2f %% of its busy time.", tmx_run_mix_name(run),
                     tmx_run_policy_words(run, policy, sizeof policy), slow);
            tmx_text_wrap(line, 0, tmx_os_terminal_width(out), out);
            fprintf(out, "The last kernel ended after %.2f s.\n", metric(run, "makespan_s"));
        }
        /* the hottest SM against what would slow it */
        const double below = metric(run, "below_trip_k"), by_heat = metric(run, "sw_thermal_slowdown_s"),
                     by_cap = metric(run, "sw_power_cap_s");
        fprintf(out, "The hottest SM reached %.2f degC", metric(run, "peak_temp_c"));
        if (below != 0) {
            fprintf(out, ", %.2f K %s the throttle's trip point.\n", fabs(below),
                    below > 0 ? "below" : "above");
        } else {
            fputs("; no throttle stops clocks here.\n", out);
        }
        if (by_heat > 0) {
            fprintf(out, "The governor slowed it for %.2f s by its temperature.\n", by_heat);
        }
        if (by_cap > 0) {
            fprintf(out, "The governor slowed it for %.2f s by its power cap.\n", by_cap);
        }
        if (!x->brief) {
            print_places(l, run, out);
            print_queue(run, out);
        }
        if (l->free_sm_s > 1e-4 * l->busy_sm_s) { /* both sides of what the causes show as one */
            snprintf(line, sizeof line,
                     "The thread-block policy kept %.2f %% of the SMs' time free; memory, less crowded, gave "
                     "%.2f %% back.",
                     100 * l->free_sm_s / l->busy_sm_s,
                     100 * (l->free_sm_s - l->total[LOSS_MEMORY]) / l->busy_sm_s);
            tmx_text_wrap(line, 0, tmx_os_terminal_width(out), out);
        }
        for (int fall = 0; fall < 2; fall++) {
            if (*tmx_run_ramp_why(run, fall, line, sizeof line)) {
                tmx_text_wrap(strcat(line, "."), 0, tmx_os_terminal_width(out), out);
            }
        }
        make_tables(l, x->zeros, e, err);
        e->trip_c = NAN;
        (void)tmx_setting_real(tmx_setting_find(tmx_run_settings(run), "throttle.trip_c"), &e->trip_c);
        struct tmx_warn_listener unheard = {.alone = true}; /* of steps that are not the user's */
        tmx_warn_begin(&unheard);
        if (!err->code && x->steps && slow > NOTHING_PCT) {
            print_steps(x, run, slow, out, e, err);
        }
        tmx_warn_end(&unheard);
    }
    tmx_run_destroy(run);
    tmx_arena_finish(&arena);
    return err->code;
}

void tmx_explained_finish(struct tmx_explained *e)
{
    tmx_table_destroy(e->causes);
    tmx_table_destroy(e->over_time);
    tmx_table_destroy(e->by_sm);
    tmx_table_destroy(e->steps);
    *e = (struct tmx_explained){0};
}

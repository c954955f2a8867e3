/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How many jobs fit below a temperature.
 *
 * A job takes one GPU. The forecast is the state in the long run, GPU by GPU in the order in which air flows:
 *
 *   T = inlet + A(rpm) (baseline + dynamic + leakage(T))       A: influence matrix at the fans' speed
 *   inlet = room + what the GPUs before it give to its air     (tmx_air_flow)
 *   rpm = the fans' curve at the hottest SM of their card      (by bisection of that temperature)
 *
 * A of a speed between two convection levels is their mean by distance. Nodes share no air, so each takes its
 * jobs alone: the next job goes where the node's hottest SM is then coolest, and is refused where that is
 * above the limit. Watts of a job are what the power model draws in the first two seconds of a run with every
 * GPU at work, spread between GPUs included. A second run with the admitted jobs checks the forecast. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/config.h"
#include "base/os.h"
#include "base/text.h"
#include "core/topology/topology.h"
#include "core/workload/mix.h"
#include "limits/budget.h"
#include "limits/chip_model.h"
#include "run/load/data.h"

static const double TICK_S = 0.1, LOOK_S = 2, NEAR_K = 1e-4, TOO_HOT_K = 580;
enum { SWEEPS = 60, LEAK_ROUNDS = 2000, HALVINGS = 60 };

struct model { /* a thermal model that GPUs share, at its convection levels */
    const void *thermal;
    size_t n_level;
    struct tmx_plan_chip *level; /* [n_level], made when asked for */
};

struct node {
    char name[TMX_NAME];
    size_t gpu0, n_gpu, card0, n_card;
    size_t n_job;      /* that fit */
    size_t *order;     /* [n_gpu] GPUs by admission, those that do not fit behind */
    double *hottest_k; /* [n_gpu + 1] of the node with so many jobs; NAN: not computed */
    double *error_k;   /* [n_gpu + 1] half of its 95 % interval; NAN: not known */
};

struct admission {
    const struct tmx_admission_call *call;
    struct tmx_topology file;            /* GPUs and fans before there is a run */
    const struct tmx_topology *topology; /* those, then the run's */
    struct tmx_run *run;                 /* with every GPU at work */
    const struct tmx_cooling_spec *cooling;
    double limit_k;
    struct model *model; /* [n_model] */
    size_t n_model;
    size_t *model_of;  /* [n_gpu] */
    struct node *node; /* [n_node] */
    size_t n_node;
    double *dynamic_w; /* [n_unit] of all GPUs, of a job there */
    double *leak;      /* [n_gpu] leakage under it, relative to the chip's */
    bool *works;       /* [n_gpu] */
    /* the forecast's state, [n_gpu] */
    double *room_k, *flow, *heat_w, *outlet_w, *inlet_k, *sensed_k, *rpm;
    double *temp_k, *power_w, *factor; /* [units of the largest GPU] scratch */
    double *end_k;                     /* [n_gpu] hottest SM at the end of the check */
    double peak_k;                     /* of the check */
    struct tmx_arena arena;            /* of all arrays */
    struct tmx_err *err;               /* of the first failure */
};

/* ---- the runs ---- */

/* A job for every GPU: of work_s where works[g] (NULL: all), one that is over at once elsewhere. NULL with an
 * error. */
static struct tmx_run *open_run(const struct admission *a, const bool *works, double watt, double work_s)
{
    const char *kernel = a->call->kernel ? a->call->kernel : "load";
    const size_t n = a->topology->n_gpu;
    struct tmx_run *run = NULL;
    struct tmx_sets sets = {0};
    struct tmx_mix mix = {.name = "place", .entry = calloc(n, sizeof *mix.entry)};
    bool curves = true;
    for (size_t i = 0; i < a->topology->n_fan; i++) {
        curves = curves && a->topology->fan[i].n_curve > 0;
    }
    const struct {
        const char *key;
        struct tmx_scalar value;
    } own[] = {{"topology", TMX_TEXT_VALUE(a->call->system)},
               {"policy", TMX_TEXT_VALUE("BL")},
               {"place.policy", TMX_TEXT_VALUE("own_gpu")},
               {"fan.policy", TMX_TEXT_VALUE(curves ? "curve" : "fixed")},
               {"seed", TMX_INTEGER_VALUE(1)},
               {"warmup_s", TMX_REAL_VALUE(0)},
               {"tick_s", TMX_REAL_VALUE(TICK_S)},
               {"quantum_s", TMX_REAL_VALUE(TICK_S)},
               {"sensor.period_s", TMX_REAL_VALUE(TICK_S)}};
    if (!mix.entry) {
        tmx_no_memory(a->err);
    }
    for (size_t i = 0; i < sizeof own / sizeof own[0]; i++) {
        tmx_sets_put(&sets, own[i].key, own[i].value, NULL, 0, a->err);
    }
    tmx_sets_join(&sets, a->call->sets, "", a->err);
    for (size_t g = 0; g < n && !a->err->code; g++) {
        struct tmx_mix_entry *e = &mix.entry[mix.n_entry++];
        *e = (struct tmx_mix_entry){.order = g, .gpus = 1, .power_w = watt};
        e->work_s = !works || works[g] ? work_s : TICK_S / 10;
        if (snprintf(e->kernel, sizeof e->kernel, "%s", kernel) >= (int)sizeof e->kernel) {
            tmx_error(a->err, TMX_ECONFIG, "--kernel %s: a kernel's name or path has at most %zu letters",
                      kernel, sizeof e->kernel - 1);
        }
    }
    tmx_run_load(&run, "", &(struct tmx_run_how){.sets = &sets, .mix = &mix}, a->err);
    tmx_sets_finish(&sets);
    return run;
}

/* Watts of the units of each GPU at work: the most of two seconds, as a kernel is profiled first. */
static void read_watts(struct admission *a)
{
    struct tmx_sim *sim = tmx_run_sim(a->run);
    const struct tmx_machine *m = sim->machine;
    double *most_w;
    TMX_TAKE(&a->arena, most_w, m->n_gpu);
    tmx_arena_check(&a->arena, a->err);
    memset(a->dynamic_w, 0, m->n_unit * sizeof *a->dynamic_w);
    for (size_t g = 0; g < m->n_gpu; g++) { /* each has the job of its number */
        a->leak[g] = tmx_job_leak(&m->job[g]);
    }
    for (double t = 0; t < LOOK_S && !a->err->code && !tmx_sim_advance(sim, 1, NULL, a->err);
         t += tmx_run_tick_s(a->run)) {
        for (size_t g = 0; g < m->n_gpu; g++) {
            const double *now_w = sim->frame.dynamic_w + m->gpu[g].unit0;
            const size_t n = m->gpu[g].chip->floorplan.n_unit;
            double sum_w = 0;
            for (size_t u = 0; u < n; u++) {
                sum_w += now_w[u];
            }
            if (sum_w > most_w[g]) {
                most_w[g] = sum_w;
                memcpy(a->dynamic_w + m->gpu[g].unit0, now_w, n * sizeof *now_w);
            }
        }
    }
}

static double work_w(const struct admission *a, size_t gpu)
{
    const struct tmx_gpu *g = &tmx_run_sim(a->run)->machine->gpu[gpu];
    double w = 0;
    for (size_t u = 0; u < g->chip->floorplan.n_unit; u++) {
        w += a->dynamic_w[g->unit0 + u];
    }
    return w;
}

/* ---- the forecast ---- */

/* Of a GPU's thermal model, made when it is first asked for. */
static const struct tmx_plan_chip *level_of(struct admission *a, size_t gpu, size_t level)
{
    struct model *m = &a->model[a->model_of[gpu]];
    struct tmx_plan_chip *c = &m->level[level];
    if (!c->influence && !a->err->code &&
        tmx_plan_chip_init(c, a->run, gpu, m->n_level > 1 ? level : SIZE_MAX, a->err)) {
        return NULL;
    }
    return c;
}

/* Two levels around a speed, and the share of the upper one. */
static double between(const struct admission *a, size_t card, double rpm, size_t level[2])
{
    const double *at = a->cooling->level_rpm[card];
    const size_t n = a->cooling->n_level[card], first = rpm > 0 && n > 1 && at[0] <= 0 ? 1 : 0;
    size_t l = first;
    while (l + 2 < n && at[l + 1] < rpm) {
        l++;
    }
    level[0] = n > 0 ? l : 0;
    level[1] = l + 1 < n && rpm > 0 ? l + 1 : level[0];
    return level[1] == level[0] ? 0 : fmin(fmax((rpm - at[l]) / (at[l + 1] - at[l]), 0), 1);
}

/* Steady temperatures of a GPU in air of inlet_k: its hottest sensor; returns its watts, which the air takes
 * up. INFINITY where leakage runs away, and then no watts: its neighbours do not count any more. */
static double settle(struct admission *a, size_t gpu, double rpm, double inlet_k)
{
    const struct tmx_machine *m = tmx_run_sim(a->run)->machine;
    const size_t card = a->topology->gpu[gpu].card;
    struct tmx_static_power still;
    size_t level[2];
    const double share = between(a, card, rpm, level);
    const struct tmx_plan_chip *low = level_of(a, gpu, level[0]), *high = level_of(a, gpu, level[1]);
    if (!tmx_sim_static_power(tmx_run_sim(a->run), gpu, &still)) {
        tmx_error(a->err, TMX_EUNSUPPORTED, "the power model does not give a GPU's rest");
    }
    if (a->err->code) {
        return 0;
    }
    const size_t n = low->n_unit;
    const double leak = a->works[gpu] ? a->leak[gpu] : 1;
    const double volt = low->leak[m->gpu[gpu].level], *dynamic_w = a->dynamic_w + m->gpu[gpu].unit0;
    const double k_per_w = a->cooling->level_k_per_w[card][level[0]] * (1 - share) +
                           a->cooling->level_k_per_w[card][level[1]] * share;
    const double more = a->cooling->spread ? (a->cooling->spread[gpu].sink - 1) * k_per_w : 0;
    double move_k = INFINITY, heat_w = 0;
    for (size_t u = 0; u < n; u++) {
        a->temp_k[u] = inlet_k;
    }
    for (int round = 0; move_k > NEAR_K && round < LEAK_ROUNDS; round++) {
        heat_w = move_k = 0;
        still.factors(still.table, n, a->temp_k, a->factor);
        for (size_t u = 0; u < n; u++) {
            a->power_w[u] = still.baseline_w[u] + volt * leak * still.leak_w[u] * a->factor[u] +
                            (a->works[gpu] ? dynamic_w[u] : 0);
            heat_w += a->power_w[u];
        }
        for (size_t u = 0; u < n; u++) {
            const double *x = low->influence + u * n, *y = high->influence + u * n;
            double t = inlet_k + more * heat_w;
            for (size_t j = 0; j < n; j++) {
                t += (x[j] + share * (y[j] - x[j])) * a->power_w[j];
            }
            move_k = fmax(move_k, fabs(t - a->temp_k[u]));
            a->temp_k[u] = t;
        }
        if (!(a->temp_k[0] < TOO_HOT_K)) {
            break;
        }
    }
    const double hottest_k = tmx_plan_hottest_k(low, a->temp_k);
    const bool runs_away = !(hottest_k < TOO_HOT_K) || move_k > NEAR_K;
    a->sensed_k[gpu] = runs_away ? INFINITY : hottest_k;
    return runs_away ? 0 : heat_w;
}

/* Does one of these fans fail? */
static bool failed(const struct admission *a, size_t fan, size_t n)
{
    bool any = false;
    for (size_t i = 0; i < a->cooling->n_failure; i++) {
        any = any || (a->cooling->failure[i].fan >= fan && a->cooling->failure[i].fan < fan + n);
    }
    return any;
}

/* The GPUs of a card with its fans as they turn while its hottest SM has fan_k; returns what that has then.
 */
static double settle_card(struct admission *a, const struct node *n, size_t card, double fan_k)
{
    const struct tmx_topology *t = a->topology;
    const struct tmx_card *k = &t->card[card];
    const struct tmx_fan_policy *policy = tmx_fan_of(a->cooling->choice);
    double rpm = 0, flow = k->still_flow_m3_per_s, fan_w = 0, hottest_k = 0;
    for (size_t f = k->fan0; f < k->fan0 + k->n_fan; f++) {
        const struct tmx_fan *fan = &t->fan[f];
        const double speed = policy->constant
                                 ? policy->constant(a->cooling->choice->state)
                                 : tmx_fan_curve_speed(fan->curve, fan->n_curve, fan_k - TMX_ZERO_C);
        const double turns = failed(a, f, 1) || !(speed > 0)
                                 ? 0
                                 : fmin(fmax(speed * fan->max_rpm, fan->min_rpm), fan->max_rpm);
        rpm += turns / (double)k->n_fan;
        flow += tmx_fan_flow_m3_per_s(fan, turns);
        fan_w += fan->heat_share * tmx_fan_power_w(fan, turns);
    }
    for (size_t g = k->gpu0; g < k->gpu0 + k->n_gpu; g++) {
        a->flow[g] = flow / (double)k->n_gpu;
        a->rpm[g] = rpm;
    }
    for (size_t i = n->gpu0; i < n->gpu0 + n->n_gpu; i++) {
        const size_t g = t->upstream_first[i]; /* a node's are behind one another */
        if (g >= k->gpu0 && g < k->gpu0 + k->n_gpu) {
            (void)tmx_air_flow(t, a->room_k, a->flow, a->heat_w, a->outlet_w, a->inlet_k);
            a->heat_w[g] = settle(a, g, rpm, a->inlet_k[g]) + fan_w / (double)k->n_gpu;
            hottest_k = fmax(hottest_k, a->sensed_k[g]);
        }
    }
    return hottest_k;
}

/* The node as its GPUs now work; returns its hottest SM. The fans' own temperature is found by halves: hotter
 * fans cool, so there is one that is what it makes. */
static double forecast(struct admission *a, const struct node *n)
{
    const struct tmx_fan_policy *policy = tmx_fan_of(a->cooling->choice);
    double move_k = INFINITY, hottest_k = 0;
    for (size_t g = n->gpu0; g < n->gpu0 + n->n_gpu; g++) {
        a->heat_w[g] = a->sensed_k[g] = 0;
    }
    for (int i = 0; i < SWEEPS && move_k > NEAR_K && !a->err->code; i++) {
        double sum_k = 0, was_k = 0;
        for (size_t g = n->gpu0; g < n->gpu0 + n->n_gpu; g++) {
            was_k += a->sensed_k[g];
        }
        for (size_t c = n->card0; c < n->card0 + n->n_card && !a->err->code; c++) {
            double low_k = 200, high_k = TOO_HOT_K;
            if (policy->constant) {
                settle_card(a, n, c, 0);
                continue;
            }
            for (int half = 0; half < HALVINGS && high_k - low_k > NEAR_K && !a->err->code; half++) {
                const double k = (low_k + high_k) / 2;
                *(settle_card(a, n, c, k) > k ? &low_k : &high_k) = k;
            }
        }
        hottest_k = 0;
        for (size_t g = n->gpu0; g < n->gpu0 + n->n_gpu; g++) {
            sum_k += a->sensed_k[g];
            hottest_k = fmax(hottest_k, a->sensed_k[g]);
        }
        move_k = n->n_card == 1 || isinf(sum_k) ? 0 : fabs(sum_k - was_k);
    }
    return hottest_k;
}

/* ---- admission ---- */

static bool same_gpu(const struct admission *a, size_t x, size_t y)
{
    const struct tmx_card *k = &a->topology->card[a->topology->gpu[x].card],
                          *l = &a->topology->card[a->topology->gpu[y].card];
    const struct tmx_sim *sim = tmx_run_sim(a->run);
    const struct tmx_gpu *gpu = sim->machine->gpu;
    const struct tmx_chip_draw *spread = a->cooling->spread;
    struct tmx_static_power p, q;
    if (a->model_of[x] != a->model_of[y] || a->room_k[x] != a->room_k[y] || a->leak[x] != a->leak[y] ||
        failed(a, k->fan0, k->n_fan) || failed(a, l->fan0, l->n_fan) ||
        (spread && spread[x].sink != spread[y].sink) || !tmx_sim_static_power(sim, x, &p) ||
        !tmx_sim_static_power(sim, y, &q)) {
        return false;
    }
    const size_t n = gpu[x].chip->floorplan.n_unit, size = n * sizeof(double);
    return memcmp(p.leak_w, q.leak_w, size) == 0 && memcmp(p.baseline_w, q.baseline_w, size) == 0 &&
           memcmp(a->dynamic_w + gpu[x].unit0, a->dynamic_w + gpu[y].unit0, size) == 0;
}

/* Half of the 95 % interval of the node's hottest SM as its GPUs now work. */
static void judge_error(struct admission *a, struct node *n, size_t n_job)
{
    static const double TWO_SIDED_95 = 1.96;
    if (!a->call->error_k || a->err->code) {
        return;
    }
    forecast(a, n);
    size_t hot = n->gpu0;
    for (size_t g = n->gpu0; g < n->gpu0 + n->n_gpu; g++) {
        hot = a->sensed_k[g] > a->sensed_k[hot] ? g : hot;
    }
    n->error_k[n_job] = TWO_SIDED_95 * a->call->error_k(a->call->error_to, a->topology, n->gpu0, n->n_gpu,
                                                        hot - n->gpu0, a->heat_w + n->gpu0, a->rpm + n->gpu0);
}

/* Job after job to the GPU with which the node's hottest SM is coolest, as long as they fit. */
static void admit(struct admission *a, struct node *n)
{
    n->hottest_k[0] = forecast(a, n);
    judge_error(a, n, 0);
    bool fits = n->hottest_k[0] <= a->limit_k;
    for (size_t k = 0; k < n->n_gpu && fits && !a->err->code; k++) {
        size_t best = k;
        double best_k = INFINITY;
        for (size_t i = k; i < n->n_gpu; i++) {
            a->works[n->order[i]] = true;
            const double hottest_k = forecast(a, n);
            a->works[n->order[i]] = false;
            if (hottest_k < best_k - NEAR_K) {
                best = i;
                best_k = hottest_k;
            }
        }
        n->hottest_k[k + 1] = best_k;
        fits = best_k <= a->limit_k;
        const size_t gpu = n->order[best];
        memmove(n->order + k + 1, n->order + k, (best - k) * sizeof *n->order); /* the others by number */
        n->order[k] = gpu;
        n->n_job += fits;
        a->works[gpu] = true;
        judge_error(a, n, k + 1);
        a->works[gpu] = fits;
    }
}

/* Nodes whose GPUs, coolers and air are the same take the same jobs. */
static void admit_all(struct admission *a)
{
    for (size_t i = 0; i < a->n_node && !a->err->code; i++) {
        struct node *n = &a->node[i];
        const struct node *like = NULL;
        for (size_t k = 0; k < i && !like; k++) {
            like = &a->node[k];
            for (size_t g = 0; g < n->n_gpu && like; g++) {
                like = same_gpu(a, like->gpu0 + g, n->gpu0 + g) ? like : NULL;
            }
        }
        if (!like) {
            admit(a, n);
            continue;
        }
        n->n_job = like->n_job;
        memcpy(n->hottest_k, like->hottest_k, (n->n_gpu + 1) * sizeof *n->hottest_k);
        memcpy(n->error_k, like->error_k, (n->n_gpu + 1) * sizeof *n->error_k);
        for (size_t g = 0; g < n->n_gpu; g++) {
            n->order[g] = like->order[g] - like->gpu0 + n->gpu0;
            a->works[n->order[g]] = g < n->n_job;
        }
    }
}

/* ---- the check ---- */

/* The admitted jobs, for as long as the caller wants. */
static void check(struct admission *a, double watt)
{
    const struct tmx_machine *m = tmx_run_sim(a->run)->machine;
    double speed = 1; /* of work: no job ends before the check */
    bool any = false; /* a run without work is over at once */
    for (size_t g = 0; g < m->n_gpu; g++) {
        any = any || a->works[g];
        speed = fmax(speed, m->gpu[g].speed_scale * tmx_chip_speed(m->gpu[g].chip, m->gpu[g].level));
    }
    struct tmx_run *run = any ? open_run(a, a->works, watt, 1.1 * speed * a->call->check_s + 10) : NULL;
    struct tmx_sim *sim = run ? tmx_run_sim(run) : NULL;
    const uint64_t ticks = run ? (uint64_t)llround(a->call->check_s / tmx_run_tick_s(run)) : 0;
    size_t n_shown = 0;
    for (uint64_t t = 0; t < ticks && !a->err->code; t++) {
        const enum tmx_status st = tmx_sim_advance(sim, 1, NULL, a->err);
        const size_t n_second = (size_t)((double)(t + 1) * tmx_run_tick_s(run) + 1e-9);
        if (a->call->second_done && n_second > n_shown) {
            n_shown = n_second;
            a->call->second_done(a->call->second_done_to, n_second, (size_t)a->call->check_s);
        }
        for (size_t g = 0; g < a->topology->n_gpu && !st; g++) {
            const struct tmx_gpu *gpu = &sim->machine->gpu[g];
            const struct tmx_chip *chip = gpu->chip;
            a->end_k[g] = tmx_plan_hottest_k(
                &(struct tmx_plan_chip){.chip = chip, .n_unit = chip->floorplan.n_unit, .n_sm = chip->n_sm},
                sim->frame.temp_k + gpu->unit0);
            a->peak_k = fmax(a->peak_k, a->end_k[g]);
        }
    }
    tmx_run_destroy(run);
}

/* ---- set-up ---- */

/* What the forecast cannot follow. */
static void check_policies(const struct admission *a)
{
    const struct tmx_setting *root = tmx_run_settings(a->run);
    const struct tmx_fan_policy *fan = tmx_fan_of(a->cooling->choice);
    const char *dtm = tmx_setting_text(tmx_setting_find(root, "dtm.policy"));
    static const char *const groups[] = {"gate", "cta", "job", "serve", "smooth", "sync_job"};
    for (size_t i = 0; i < sizeof groups / sizeof groups[0]; i++) {
        if (tmx_setting_member(root, groups[i])) {
            tmx_error(a->err, TMX_EUNSUPPORTED, "place forecasts plain jobs; leave out group %s", groups[i]);
        }
    }
    if (tmx_cooling_room_changes(a->cooling)) {
        tmx_error(
            a->err, TMX_EUNSUPPORTED,
            "place forecasts constant room air; leave out inlet, loop and the topology's inlet_rise_k_per_s");
    }
    if (tmx_run_sim(a->run)->machine->job[0].phases) {
        tmx_error(a->err, TMX_EUNSUPPORTED, "kernel %s draws watts in phases; place forecasts constant ones",
                  a->call->kernel);
    }
    if (dtm && strcmp(dtm, "none") != 0) {
        tmx_error(a->err, TMX_EUNSUPPORTED,
                  "dtm policy %s moves clocks, so that watts follow temperatures; place forecasts constant "
                  "clocks",
                  dtm);
    }
    if (!fan->constant && !fan->needs_curve) {
        tmx_error(a->err, TMX_EUNSUPPORTED,
                  "fan policy %s: place forecasts fans that are fixed or on their curve", fan->base.name);
    }
}

/* The dynamic watts that bring GPU 0's board to its limit when its chip is at the limit. */
static double board_w(const struct admission *a)
{
    const struct tmx_sim *sim = tmx_run_sim(a->run);
    const struct tmx_chip *c = sim->machine->gpu[0].chip;
    struct tmx_static_power still;
    const double volt = c->power.dvfs_leakage ? tmx_chip_volt(c, sim->machine->gpu[0].level) : 1;
    double rest_w = 0, factor = 1;
    if (!(c->board.power_w > 0) || !tmx_sim_static_power(sim, 0, &still)) {
        tmx_error(a->err, TMX_ECONFIG, "which job? chip %s states no board power; give --kernel or --power",
                  c->name);
        return 0;
    }
    still.factors(still.table, 1, &a->limit_k, &factor);
    for (size_t u = 0; u < c->floorplan.n_unit; u++) {
        rest_w += still.baseline_w[u] + volt * factor * still.leak_w[u];
    }
    const double watt = c->board.power_w * (1 - c->board.loss) - c->board.other_w - rest_w;
    if (watt <= 0) {
        tmx_error(a->err, TMX_ECONFIG, "chip %s draws its board's %g W without work", c->name,
                  c->board.power_w);
    }
    return watt;
}

/* Every GPU at work; watt: what the mix states, 0: the kernel's own. */
static void look(struct admission *a, double watt)
{
    a->topology = &a->file;
    tmx_run_destroy(a->run);
    a->run = open_run(a, NULL, watt, 100 * LOOK_S);
    if (!a->run) {
        return;
    }
    a->cooling = &tmx_run_sim(a->run)->spec.cooling;
    a->topology = a->cooling->topology;
    check_policies(a);
    const double trip_k = tmx_sim_trip_k(tmx_run_sim(a->run));
    a->limit_k = !isnan(a->call->limit_c) ? a->call->limit_c + TMX_ZERO_C : trip_k;
    if (!(a->limit_k > 0)) {
        tmx_error(a->err, TMX_ECONFIG, "nothing limits the temperature: give --limit");
    } else if (a->limit_k > trip_k) {
        tmx_error(a->err, TMX_ECONFIG,
                  "the limit of %g degC is above %g degC, where the throttle stops clocks; give a lower one, "
                  "or --set throttle.trip_c",
                  a->call->limit_c, trip_k - TMX_ZERO_C);
    }
    if (!a->err->code && !a->dynamic_w) {
        const struct tmx_machine *m = tmx_run_sim(a->run)->machine;
        const size_t n = m->n_gpu;
        size_t most = 0;
        for (size_t g = 0; g < n; g++) {
            most = m->gpu[g].chip->floorplan.n_unit > most ? m->gpu[g].chip->floorplan.n_unit : most;
        }
        TMX_TAKE_REALS(&a->arena, n, &a->room_k, &a->flow, &a->heat_w, &a->outlet_w, &a->inlet_k,
                       &a->sensed_k, &a->rpm, &a->end_k, &a->leak);
        TMX_TAKE_REALS(&a->arena, most, &a->temp_k, &a->power_w, &a->factor);
        TMX_TAKE(&a->arena, a->dynamic_w, m->n_unit);
        TMX_TAKE(&a->arena, a->works, n);
        tmx_arena_check(&a->arena, a->err);
        for (size_t g = 0; g < n && !a->err->code; g++) {
            const double *above_k = a->topology->inlet_above_k;
            a->room_k[g] = a->cooling->room_k + (above_k ? above_k[g] : 0);
            a->flow[g] = 1; /* until its card's fans are known */
        }
    }
    if (!a->err->code) {
        read_watts(a);
    }
}

/* Returns what a mix states. Watts on GPU 0 are what a load of 1 W draws there, at its clock, times that. */
static double open_system(struct admission *a)
{
    char path[TMX_PATH_SIZE];
    const bool own = a->call->kernel != NULL;
    double watt = 0;
    if (!a->err->code && !tmx_data_find(TMX_DATA_SYSTEM, a->call->system, path, a->err) &&
        !tmx_topology_load(&a->file, path, a->err)) {
        look(a, own ? 0 : 1);
    }
    if (!a->err->code && !own && work_w(a, 0) == 0) {
        tmx_error(a->err, TMX_ECONFIG,
                  "GPU 0 does no work in air of %.4g degC: it is throttled from the start",
                  a->room_k[0] - TMX_ZERO_C);
    }
    if (!a->err->code && !own) {
        watt = (isnan(a->call->power_w) ? board_w(a) : a->call->power_w) / work_w(a, 0);
    }
    if (!a->err->code && !own) {
        look(a, watt);
    }
    if (a->err->code) {
        return 0;
    }
    const struct tmx_topology *t = a->topology;
    a->n_node = (size_t)t->nodes;
    TMX_TAKE(&a->arena, a->node, a->n_node);
    for (size_t i = 0; i < a->n_node && !a->arena.failed; i++) {
        struct node *n = &a->node[i];
        n->n_gpu = t->n_gpu / a->n_node;
        n->n_card = t->n_card / a->n_node;
        n->gpu0 = i * n->n_gpu;
        n->card0 = i * n->n_card;
        const char *name = t->gpu[n->gpu0].name, *dot = a->n_node > 1 ? strrchr(name, '.') : NULL;
        if (dot) {
            snprintf(n->name, sizeof n->name, "%.*s", (int)(dot - name), name);
        } else if (a->n_node > 1) {
            snprintf(n->name, sizeof n->name, "node%zu", i);
        } else {
            tmx_data_word(TMX_DATA_SYSTEM, a->call->system, n->name, sizeof n->name);
        }
        TMX_TAKE(&a->arena, n->order, n->n_gpu + 1);
        TMX_TAKE(&a->arena, n->hottest_k, n->n_gpu + 1);
        TMX_TAKE(&a->arena, n->error_k, n->n_gpu + 1);
        for (size_t g = 0; g <= n->n_gpu && !a->arena.failed; g++) {
            n->hottest_k[g] = n->error_k[g] = NAN;
            n->order[g] = n->gpu0 + g;
        }
    }
    /* GPUs with one thermal model share its influence matrices */
    TMX_TAKE(&a->arena, a->model, t->n_gpu);
    TMX_TAKE(&a->arena, a->model_of, t->n_gpu);
    for (size_t g = 0; g < t->n_gpu && !a->arena.failed; g++) {
        const void *thermal = tmx_run_gpu_thermal(a->run, g)->model;
        size_t m = 0;
        while (m < a->n_model && a->model[m].thermal != thermal) {
            m++;
        }
        a->model_of[g] = m;
        if (m == a->n_model) {
            const size_t n = a->cooling->n_level[t->gpu[g].card];
            struct tmx_plan_chip *level;
            TMX_TAKE(&a->arena, level, n > 1 ? n : 1);
            a->model[m] = (struct model){.thermal = thermal, .n_level = n > 1 ? n : 1, .level = level};
            a->n_model += level != NULL;
        }
    }
    tmx_arena_check(&a->arena, a->err);
    return watt;
}

/* ---- the answer ---- */

static double hottest_of(const struct node *n, const double *gpu_k)
{
    double k = 0;
    for (size_t g = n->gpu0; g < n->gpu0 + n->n_gpu; g++) {
        k = fmax(k, gpu_k[g]);
    }
    return k;
}

static double celsius_of(double k)
{
    return k > 0 ? k - TMX_ZERO_C : NAN;
}

static void add_row(const struct admission *a, const struct node *n, size_t n_job, struct tmx_table *t)
{
    const bool checked = a->call->check_s > 0 && a->peak_k > 0 && n_job == n->n_job;
    char *list = calloc(n->n_gpu, TMX_NAME + 1), *end = list;
    if (!list) {
        tmx_no_memory(a->err);
        return;
    }
    for (size_t g = 0; g < n->n_gpu; g++) { /* as the topology calls them: a log's GPU 5 is 5 */
        const char *name = a->topology->gpu[n->gpu0 + g].name,
                   *dot = a->n_node > 1 ? strrchr(name, '.') : NULL;
        char label[TMX_NAME];
        if (a->call->by_job ? n_job > 0 && n->order[n_job - 1] == n->gpu0 + g : a->works[n->gpu0 + g]) {
            end += snprintf(end, TMX_NAME + 1, "%s%s", end > list ? " " : "",
                            tmx_gpu_label(dot ? dot + 1 : name, g, label));
        }
    }
    tmx_table_row(t, "%s %g %zu %zu %s %G %G %G", n->name, a->room_k[n->gpu0] - TMX_ZERO_C, n->n_gpu, n_job,
                  list, celsius_of(n->hottest_k[n_job]),
                  n_job < n->n_gpu ? celsius_of(n->hottest_k[n_job + 1]) : NAN,
                  checked ? celsius_of(hottest_of(n, a->end_k)) : NAN);
    if (a->call->error_k) {
        tmx_table_real_or_empty(t, n->error_k[n_job]);
    }
    free(list);
}

/* "59.9 +- 2.1 degC" of a node with so many jobs. */
static const char *celsius(const struct node *n, size_t n_job, char *buf, size_t size)
{
    const double c = n->hottest_k[n_job] - TMX_ZERO_C;
    if (isfinite(n->error_k[n_job])) {
        snprintf(buf, size, "%.1f +- %.1f degC", c, n->error_k[n_job]);
    } else {
        snprintf(buf, size, "%.1f degC", c);
    }
    return buf;
}

/* What the forecast's error says of the answer. */
static void print_error(const struct admission *a, size_t width, FILE *out)
{
    const struct node *n = &a->node[0];
    char line[400], text[64];
    size_t sure = 0; /* jobs that fit by the upper end of the interval */
    if (!a->call->error_k || a->n_node > 1) {
        return;
    }
    if (!isfinite(n->error_k[n->n_job])) {
        snprintf(line, sizeof line,
                 "How far this forecast may be off is not known: the calibration does not identify what it "
                 "rests on.");
    } else {
        while (sure < n->n_job && n->hottest_k[sure + 1] + n->error_k[sure + 1] <= a->limit_k) {
            sure++;
        }
        snprintf(line, sizeof line,
                 "%s; limit %.4g. +- is 95 %% by the calibration's covariance and residual",
                 celsius(n, n->n_job, text, sizeof text), a->limit_k - TMX_ZERO_C);
        const bool idle = n->hottest_k[0] + n->error_k[0] <= a->limit_k;
        tmx_text_add(line, sizeof line,
                     n->n_job == 0        ? "."
                     : !idle || sure == 0 ? "; with it, no job is sure to fit."
                     : sure == n->n_job   ? "; with it, these jobs fit, too."
                     : sure == 1          ? "; with it, 1 job is sure to fit."
                                          : "; with it, %zu jobs are sure to fit.",
                     sure);
    }
    tmx_text_wrap(line, 0, width, out);
}

static void print_answer(const struct admission *a)
{
    FILE *out = a->call->say;
    const size_t width = tmx_os_terminal_width(out);
    size_t n_job = 0, most = 0, least = SIZE_MAX;
    double forecast_k = 0, end_k = 0, coldest_k = INFINITY, warmest_k = 0;
    char line[600], air[80], name[TMX_NAME];
    tmx_data_word(TMX_DATA_SYSTEM, a->call->system, name, sizeof name);
    for (size_t i = 0; i < a->n_node; i++) {
        const struct node *n = &a->node[i];
        n_job += n->n_job;
        most = n->n_job > most ? n->n_job : most;
        least = n->n_job < least ? n->n_job : least;
        forecast_k = fmax(forecast_k, n->hottest_k[n->n_job]);
        end_k = fmax(end_k, hottest_of(n, a->end_k));
    }
    for (size_t g = 0; g < a->topology->n_gpu; g++) {
        coldest_k = fmin(coldest_k, a->room_k[g]);
        warmest_k = fmax(warmest_k, a->room_k[g]);
    }
    snprintf(air, sizeof air, warmest_k - coldest_k < 0.05 ? "%.4g degC" : "%.4g to %.4g degC",
             coldest_k - TMX_ZERO_C, warmest_k - TMX_ZERO_C);
    snprintf(line, sizeof line,
             "%s carries %zu job%s of %.4g W on its %zu GPU%s below %.4g degC in air of %s", name, n_job,
             tmx_plural(n_job), work_w(a, 0), a->topology->n_gpu, tmx_plural(a->topology->n_gpu),
             a->limit_k - TMX_ZERO_C, air);
    const struct node *n = &a->node[0];
    char at[64];
    if (a->n_node > 1) {
        tmx_text_add(line, sizeof line, least == most ? ": %zu on each node." : ": %zu to %zu on a node.",
                     least, most);
    } else if (n->hottest_k[0] > a->limit_k) {
        tmx_text_add(line, sizeof line, ": without work it comes to %s.", celsius(n, 0, at, sizeof at));
    } else if (n->n_job == n->n_gpu) {
        tmx_text_add(line, sizeof line, ": all of them, at %s.", celsius(n, n->n_job, at, sizeof at));
    } else if (isinf(n->hottest_k[n->n_job + 1])) {
        tmx_text_add(line, sizeof line, ": with one more, its leakage would run away.");
    } else {
        tmx_text_add(line, sizeof line, ": one more would heat it to %s.",
                     celsius(n, n->n_job + 1, at, sizeof at));
    }
    const struct tmx_bold bold = tmx_os_bold(out);
    fputs(bold.on, out);
    tmx_text_wrap(line, 0, width, out);
    fputs(bold.off, out);
    print_error(a, width, out);
    if (a->peak_k > 0) {
        snprintf(line, sizeof line,
                 "A run of %g s with these jobs ends at %.1f degC (forecast: %.1f); its hottest moment has ",
                 a->call->check_s, end_k - TMX_ZERO_C, forecast_k - TMX_ZERO_C);
        tmx_text_add(line, sizeof line, /* with error_k, further digits are not known */
                     a->call->error_k ? "%.1f degC." : "%.2f degC, %.2f K %s the limit.",
                     a->peak_k - TMX_ZERO_C, fabs(a->limit_k - a->peak_k),
                     a->peak_k > a->limit_k ? "above" : "below");
        tmx_text_wrap(line, 0, width, out);
    }
    fputc('\n', out);
}

enum tmx_status tmx_admission_table(struct tmx_table **t, const struct tmx_admission_call *call,
                                    struct tmx_err *err)
{
    struct tmx_err own = {0};
    struct admission a = {.call = call, .err = &own};
    *t = NULL;
    if (call->kernel && !isnan(call->power_w)) {
        tmx_error(&own, TMX_ECONFIG, "--kernel and --power are two jobs: give one");
    }
    /* the system, its jobs and where they go are what the table is about; whether policies of the GPUs hold a
     * limit, a run says */
    tmx_sets_refuse(
        call->sets, "mix topology policy place mix_policy tb",
        "place makes its own jobs and gives each a GPU of its own; give SYSTEM, --kernel or --power", &own);
    const double watt = open_system(&a);
    admit_all(&a);
    if (call->check_s > 0 && !own.code) {
        check(&a, watt);
    }
    *t = own.code ? NULL
         : call->error_k
             ? tmx_table_of("node inlet_c:1 gpus:d jobs:d gpu forecast_c:2 next_c:2 run_c:2 error_k:2")
             : tmx_table_of("node inlet_c:1 gpus:d jobs:d gpu forecast_c:2 next_c:2 run_c:2");
    for (size_t i = 0; i < a.n_node && !own.code; i++) {
        const struct node *n = &a.node[i];
        const size_t first = call->by_job ? 0 : n->n_job,
                     last = n->n_job + (call->by_job && n->n_job < n->n_gpu && n->hottest_k[0] <= a.limit_k);
        for (size_t k = first; k <= last; k++) {
            add_row(&a, n, k, *t);
        }
    }
    if (!own.code && call->say) {
        print_answer(&a);
    }
    for (size_t m = 0; m < a.n_model; m++) {
        for (size_t l = 0; l < a.model[m].n_level; l++) {
            tmx_plan_chip_finish(&a.model[m].level[l]);
        }
    }
    tmx_arena_finish(&a.arena);
    tmx_run_destroy(a.run);
    tmx_topology_finish(&a.file);
    if (own.code) {
        tmx_table_destroy(*t);
        *t = NULL;
    }
    return tmx_error_give(err, &own);
}

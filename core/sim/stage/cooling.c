/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "core/sim/stage/cooling.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <thermix/policy.h>

#include "base/curve.h"
#include "base/thread_pool.h"
#include "core/machine/decomposition.h"
#include "core/sim/stage/answers.h"
#include "core/topology/topology.h"

const struct tmx_opt tmx_loop_opts[] = {
    TMX_ROW_REAL(tmx_loop_options, ua_w_per_k, "W/K", 0, 1e9, 0,
                 "of a CDU's heat exchanger, heat by how much warmer it supplies than it gets; 0: no loop"),
    TMX_ROW_REAL(tmx_loop_options, flow, "m3/s", 0, 10, 0,
                 "of water, shared by the branches; 0: it does not warm up on its way"),
    TMX_ROW_INT(tmx_loop_options, branches, "1", 1, 65536, 1,
                "equal parts of the GPUs, with as much water each"),
    {0},
};

static void order_gpus(struct tmx_cooling *c)
{
    const struct tmx_topology *t = c->spec.topology;
    size_t n = 0;
    c->n_level = 0;
    for (size_t level = 0; n < t->n_gpu; level++) {
        const size_t before = n;
        for (size_t g = 0; g < t->n_gpu; g++) {
            if ((size_t)c->level[t->gpu[g].card] == level) {
                c->order[n++] = g;
            }
        }
        c->n_level += n > before;
    }
}

static double out_j(const struct tmx_cooled *gpu)
{
    struct tmx_thermal_heat heat;
    gpu->ops->heat(gpu->state, &heat);
    return heat.to_ambient_j;
}

/* The air of the room in front of a GPU, or the water before its plate. */
static double room_k(const struct tmx_cooling *c, size_t gpu, double time_s)
{
    const struct tmx_topology *t = c->spec.topology;
    const struct tmx_inlet_point *p = c->spec.inlet;
    const double now_s = time_s - c->warmup_s;
    const double scheduled_k = /* what the schedule of the inlet adds to its first value */
        c->spec.n_inlet > 0 ? tmx_curve_at(c->spec.n_inlet, &p->time_s, &p->inlet_c, 2, now_s) - p->inlet_c
                            : 0;
    return c->spec.room_k + scheduled_k + c->loop_k[gpu] + (t->inlet_above_k ? t->inlet_above_k[gpu] : 0) +
           t->inlet_rise_k_per_s * fmax(now_s, 0);
}

bool tmx_cooling_room_changes(const struct tmx_cooling_spec *s)
{
    return s->topology->inlet_rise_k_per_s != 0 || s->n_inlet > 1 || s->loop.ua_w_per_k > 0;
}

enum tmx_status tmx_cooling_take(struct tmx_cooling **out, struct tmx_arena *arena,
                                 const struct tmx_cooling_spec *spec, const struct tmx_cooled *gpu,
                                 uint64_t warmup, double dt_s, struct tmx_err *err)
{
    const struct tmx_topology *t = spec->topology;
    struct tmx_cooling *c = TMX_TAKE(arena, c, 1);
    if (!c) {
        return tmx_fail(err, TMX_ENOMEM, "cooling");
    }
    *c = (struct tmx_cooling){
        .spec = *spec, .warmup = warmup, .warmup_s = (double)warmup * dt_s, .has_heat = true};
    TMX_TAKE(arena, c->rpm, t->n_fan);
    TMX_TAKE(arena, c->memory, TMX_FAN_MEMORY * t->n_fan);
    TMX_TAKE(arena, c->level, t->n_card);
    TMX_TAKE_REALS(arena, t->n_gpu, &c->inlet_k, &c->out_j, &c->flow, &c->heat_w, &c->outlet_w, &c->gpu_rpm_s,
                   &c->gpu_inlet_k_s, &c->sink_k, &c->loop_k, &c->fan_w, &c->room_k, &c->now_j);
    TMX_TAKE(arena, c->order, t->n_gpu);
    TMX_TAKE(arena, c->changed, t->n_card);
    if (arena->failed) {
        return tmx_fail(err, TMX_ENOMEM, "cooling of %zu GPUs", t->n_gpu);
    }
    for (size_t g = 0; g < t->n_gpu; g++) {
        c->inlet_k[g] = c->room_k[g] = room_k(c, g, 0);
        c->has_heat = c->has_heat && gpu[g].ops->heat && gpu[g].ops->set_ambient;
    }
    if ((t->n_air > 0 || t->inlet_above_k || tmx_cooling_room_changes(&c->spec) || spec->spread) &&
        !c->has_heat) {
        return tmx_fail(err, TMX_EUNSUPPORTED,
                        "topology %s: thermal back-end %s cannot model air that flows from GPU to GPU, "
                        "differs between them or warms",
                        t->name, gpu[0].ops->base.name);
    }
    for (size_t g = 0; t->inlet_above_k && g < t->n_gpu; g++) {
        gpu[g].ops->set_ambient(gpu[g].state, c->room_k[g]);
    }
    c->sum.peak_noise_dba = -INFINITY;
    order_gpus(c);
    *out = c;
    return TMX_OK;
}

static double power_w(const struct tmx_cooling *c)
{
    double w = 0;
    for (size_t f = 0; f < c->spec.topology->n_fan; f++) {
        w += tmx_fan_power_w(&c->spec.topology->fan[f], c->rpm[f]);
    }
    return w;
}

static double sum_of(const double *v, size_t n)
{
    double s = 0;
    for (size_t i = 0; i < n; i++) {
        s += v[i];
    }
    return s;
}

/* The sums at now_s, after heat and fans have been as they are since the last update. */
static struct tmx_cooling_sum add(const struct tmx_cooling *c, double now_s, double exhaust_j)
{
    const struct tmx_topology *t = c->spec.topology;
    struct tmx_cooling_sum s = c->sum;
    const double dt_s = now_s - s.since_s;
    s.fan_j += power_w(c) * dt_s;
    s.exhaust_j += exhaust_j;
    s.rpm_s += sum_of(c->rpm, t->n_fan) / (double)t->n_fan * dt_s;
    s.inlet_k_s += sum_of(c->inlet_k, t->n_gpu) / (double)t->n_gpu * dt_s;
    s.since_s = now_s;
    return s;
}

/* Mean speed of the fans of a GPU's card. */
static double gpu_rpm(const struct tmx_cooling *c, size_t gpu)
{
    const struct tmx_card *k = &c->spec.topology->card[c->spec.topology->gpu[gpu].card];
    return k->n_fan > 0 ? sum_of(&c->rpm[k->fan0], k->n_fan) / (double)k->n_fan : 0;
}

static bool failed(const struct tmx_cooling *c, size_t fan, double time_s)
{
    for (size_t i = 0; i < c->spec.n_failure; i++) {
        if (c->spec.failure[i].fan == fan && time_s >= c->spec.failure[i].at_s + c->warmup_s) {
            return true;
        }
    }
    return false;
}

static bool is_own(const struct tmx_cooling *c, size_t gpu)
{
    return gpu >= c->own.first && gpu < c->own.end;
}

/* The level whose speed is nearest; stopped only when the fans are. */
static size_t nearest(const double *level_rpm, size_t n, double rpm)
{
    size_t best = 0;
    for (size_t l = 1; l < n; l++) {
        if (fabs(level_rpm[l] - rpm) < fabs(level_rpm[best] - rpm) ||
            (best == 0 && level_rpm[0] <= 0 && rpm > 0)) {
            best = l;
        }
    }
    return best;
}

/* True when the level has changed. */
static bool set_convection(struct tmx_cooling *c, size_t card, const struct tmx_cooled *gpu)
{
    const struct tmx_card *k = &c->spec.topology->card[card];
    const double rpm = sum_of(&c->rpm[k->fan0], k->n_fan) / (double)k->n_fan;
    double flow = k->still_flow_m3_per_s, fans_w = 0;
    for (size_t f = k->fan0; f < k->fan0 + k->n_fan; f++) {
        fans_w += tmx_fan_power_w(&c->spec.topology->fan[f], c->rpm[f]);
        flow += tmx_fan_flow_m3_per_s(&c->spec.topology->fan[f], c->rpm[f]);
    }
    const size_t level = nearest(c->spec.level_rpm[card], c->spec.n_level[card], rpm);
    const bool changed = c->sum.updates <= 0 || level != (size_t)c->level[card];
    c->level[card] = (double)level;
    for (size_t g = k->gpu0; g < k->gpu0 + k->n_gpu; g++) {
        c->flow[g] = flow / (double)k->n_gpu;
        c->fan_w[g] = fans_w / (double)k->n_gpu;
        if (changed && c->spec.n_level[card] > 1 && is_own(c, g)) {
            gpu[g].ops->set_convection(gpu[g].state, level);
        }
    }
    return changed;
}

/* Pieces of BATCH GPUs or cards go to the thread pool. */
enum { BATCH = 32 };

static void read_heat(void *ctx, size_t batch)
{
    const struct tmx_cooling *c = ctx;
    const size_t n = c->spec.topology->n_gpu, end = (batch + 1) * BATCH < n ? (batch + 1) * BATCH : n;
    for (size_t g = batch * BATCH; g < end; g++) {
        c->now_j[g] = c->has_heat && is_own(c, g) ? out_j(&c->gpu[g]) : 0;
    }
}

static void set_cards(void *ctx, size_t batch)
{
    struct tmx_cooling *c = ctx;
    const size_t n = c->spec.topology->n_card, end = (batch + 1) * BATCH < n ? (batch + 1) * BATCH : n;
    for (size_t k = batch * BATCH; k < end; k++) {
        c->changed[k] = set_convection(c, k, c->gpu);
    }
}

void tmx_cooling_update(struct tmx_cooling *c, const struct tmx_view *view, const struct tmx_cooled *gpu,
                        struct tmx_decomposition *share, struct tmx_thread_pool *pool, struct tmx_err *err)
{
    const struct tmx_topology *t = c->spec.topology;
    const double dt_s = view->time_s - c->sum.since_s;
    c->gpu = gpu;
    /* heat_w: what each GPU's stream took up since the last update, its card's fans included */
    const struct tmx_decomposition_part heat = {c->now_j, TMX_OF_GPU, sizeof *c->now_j};
    c->own = tmx_decomposition_own(share, t->n_gpu);
    tmx_thread_pool_run(pool, (t->n_gpu + BATCH - 1) / BATCH, read_heat, c);
    if (share) {
        tmx_decomposition_exchange(share, &heat, 1, err);
    }
    for (size_t g = 0; g < t->n_gpu; g++) {
        const struct tmx_card *k = &t->card[t->gpu[g].card];
        const double now_j = c->now_j[g];
        double fan_w = 0;
        for (size_t f = k->fan0; f < k->fan0 + k->n_fan; f++) {
            fan_w += t->fan[f].heat_share * tmx_fan_power_w(&t->fan[f], c->rpm[f]);
        }
        const double sink_w = dt_s > 0 ? (now_j - c->out_j[g]) / dt_s : 0;
        c->heat_w[g] = dt_s > 0 ? sink_w + fan_w / (double)k->n_gpu : 0;
        c->out_j[g] = now_j;
        if (c->spec.spread && dt_s > 0) {
            /* All sinks of a card share one thermal model. One whose resistance is r times the model's R is
             * that model in air warmer by (r - 1) R q under its heat q, with the same steady states. The step
             * is towards the sink that is where it is, x above its inlet, as a sink is slower than an update:
             * (1 - 1 / r) x, which ends there and swings for no r above a half. */
            const size_t card = t->gpu[g].card;
            const double k_per_w = c->spec.level_k_per_w[card][(size_t)c->level[card]];
            c->sink_k[g] = (1 - 1 / c->spec.spread[g].sink) * (c->sink_k[g] + k_per_w * sink_w);
        }
    }
    if (err->code) {
        return;
    }
    if (c->spec.loop.ua_w_per_k > 0) {
        /* By the heat of the time that has passed. Warmer water takes less, k_per_w of it from each sink: the
         * step is towards the water whose heat is its own, which ends there and does not swing. */
        const struct tmx_loop_options *o = &c->spec.loop;
        const size_t n = t->n_gpu / (size_t)o->branches;
        const double all_w = sum_of(c->heat_w, t->n_gpu);
        for (size_t g = 0; g < t->n_gpu; g++) {
            const size_t card = t->gpu[g].card;
            const double k_per_w = c->spec.level_k_per_w[card][(size_t)c->level[card]],
                         k_per_branch_w =
                             o->flow > 0 ? o->branches / (2 * o->flow * t->card[card].coolant_j_per_m3k) : 0,
                         wanted_k = all_w / o->ua_w_per_k + sum_of(&c->heat_w[g / n * n], n) * k_per_branch_w,
                         gain = ((double)t->n_gpu / o->ua_w_per_k + (double)n * k_per_branch_w) / k_per_w;
            c->loop_k[g] += (wanted_k - c->loop_k[g]) / (1 + gain);
        }
    }
    for (size_t g = 0; tmx_cooling_room_changes(&c->spec) && g < t->n_gpu; g++) {
        c->room_k[g] = room_k(c, g, view->time_s);
    }
    for (size_t g = 0; g < t->n_gpu; g++) {
        c->gpu_rpm_s[g] += gpu_rpm(c, g) * dt_s;
        c->gpu_inlet_k_s[g] += c->inlet_k[g] * dt_s;
    }
    c->sum = add(c, view->time_s, 0);
    if (dt_s > 0) {          /* the air of the time that has passed; its inlets hold for the time to come */
        double behind_w = 0; /* of the fans' power, what leaves behind the GPUs */
        for (size_t f = 0; f < t->n_fan; f++) {
            behind_w += (1 - t->fan[f].heat_share) * tmx_fan_power_w(&t->fan[f], c->rpm[f]);
        }
        const double air_w = tmx_air_flow(t, c->room_k, c->flow, c->heat_w, c->outlet_w, c->inlet_k);
        c->sum.exhaust_j += (behind_w + air_w) * dt_s;
    }
    if (view->tick == c->warmup) { /* count from here on */
        c->sum = (struct tmx_cooling_sum){.since_s = c->sum.since_s,
                                          .from_s = c->sum.since_s,
                                          .peak_noise_dba = -INFINITY,
                                          .updates = c->sum.updates};
        memset(c->gpu_rpm_s, 0, t->n_gpu * sizeof *c->gpu_rpm_s);
        memset(c->gpu_inlet_k_s, 0, t->n_gpu * sizeof *c->gpu_inlet_k_s);
    }
    for (size_t f = 0; f < t->n_fan && !err->code; f++) {
        const struct tmx_fan *fan = &t->fan[f];
        const struct tmx_card *card = &t->card[fan->card];
        struct tmx_fan_view v = {.view = view,
                                 .min_rpm = fan->min_rpm,
                                 .max_rpm = fan->max_rpm,
                                 .curve = fan->curve,
                                 .n_curve = fan->n_curve,
                                 .hottest_c = -TMX_ZERO_C,
                                 .speed = c->rpm[f] / fan->max_rpm,
                                 .dt_s = c->sum.updates > 0 ? dt_s : 0,
                                 .memory = &c->memory[TMX_FAN_MEMORY * f]};
        for (size_t g = card->gpu0; g < card->gpu0 + card->n_gpu; g++) {
            v.hottest_c = fmax(v.hottest_c, view->hottest_k[g] - TMX_ZERO_C);
        }
        const double speed = tmx_fan_of(c->spec.choice)->speed(c->spec.choice->state, &v),
                     rpm = speed * fan->max_rpm;
        if (!isfinite(speed)) {
            tmx_error(err, TMX_ESOLVE, "fan policy %s: a speed of %g for fan %zu",
                      c->spec.choice->policy->name, speed, f);
        }
        c->rpm[f] =
            failed(c, f, view->time_s) || !(rpm > 0) ? 0 : fmin(fmax(rpm, fan->min_rpm), fan->max_rpm);
    }
    if (err->code) {
        return;
    }
    bool changed = false;
    tmx_thread_pool_run(pool, (t->n_card + BATCH - 1) / BATCH, set_cards, c);
    for (size_t k = 0; k < t->n_card; k++) {
        changed = changed || c->changed[k];
    }
    if (changed) {
        order_gpus(c);
    }
    c->sum.updates += 1;
    double noise = 0; /* acoustic powers add */
    for (size_t f = 0; f < t->n_fan; f++) {
        noise += pow(10, tmx_fan_noise_dba(&t->fan[f], c->rpm[f]) / 10);
    }
    c->sum.peak_noise_dba = fmax(c->sum.peak_noise_dba, 10 * log10(noise));
    const bool moves = t->n_air > 0 || tmx_cooling_room_changes(&c->spec) || c->spec.spread;
    for (size_t g = c->own.first; moves && dt_s > 0 && g < c->own.end; g++) {
        gpu[g].ops->set_ambient(gpu[g].state, c->inlet_k[g] + c->sink_k[g]);
    }
}

struct tmx_cooling_ledger tmx_cooling_read(const struct tmx_cooling *c, double now_s,
                                           const struct tmx_cooled *gpu)
{
    const double dt_s = now_s - c->sum.since_s;
    double exhaust_j = power_w(c) * dt_s;
    for (size_t g = 0; c->has_heat && g < c->spec.topology->n_gpu; g++) {
        exhaust_j += out_j(&gpu[g]) - c->out_j[g];
    }
    for (size_t a = 0; c->has_heat && a < c->spec.topology->n_air; a++) {
        exhaust_j += c->spec.topology->air[a].heat_w * dt_s;
    }
    const struct tmx_cooling_sum s = add(c, now_s, exhaust_j);
    const double span_s = now_s - s.from_s;
    return (struct tmx_cooling_ledger){
        .fan_j = s.fan_j,
        .exhaust_j = s.exhaust_j,
        .mean_rpm = span_s > 0 ? s.rpm_s / span_s : 0,
        .mean_inlet_k = span_s > 0 ? s.inlet_k_s / span_s : c->spec.room_k,
        .peak_noise_dba = s.peak_noise_dba,
    };
}

struct tmx_cooling_gpu tmx_cooling_of_gpu(const struct tmx_cooling *c, double now_s, size_t gpu)
{
    const struct tmx_card *k = &c->spec.topology->card[c->spec.topology->gpu[gpu].card];
    const double dt_s = now_s - c->sum.since_s, span_s = now_s - c->sum.from_s, inlet_k = c->inlet_k[gpu];
    double rpm = gpu_rpm(c, gpu);
    for (size_t f = k->fan0; f < k->fan0 + k->n_fan; f++) { /* of fans that none was measured of: unknown */
        rpm = c->spec.topology->fan[f].stand_in ? NAN : rpm;
    }
    return (struct tmx_cooling_gpu){
        .rpm = rpm,
        .inlet_k = inlet_k,
        .mean_rpm = span_s > 0 ? (c->gpu_rpm_s[gpu] + rpm * dt_s) / span_s : rpm,
        .mean_inlet_k = span_s > 0 ? (c->gpu_inlet_k_s[gpu] + inlet_k * dt_s) / span_s : inlet_k,
    };
}

const char *tmx_cooling_label(const struct tmx_cooling_spec *spec, size_t gpu, char buf[TMX_COOLING_LABEL])
{
    _Static_assert((int)TMX_COOLING_LABEL >= (int)TMX_NAME, "a label holds a name");
    return tmx_gpu_label(spec->topology ? spec->topology->gpu[gpu].name : "", gpu, buf);
}

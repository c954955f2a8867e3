/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Ticks only where something happens (tick = "events").
 *
 * A tick is then no more than the unit in which times are counted. The loop takes a span of ticks in one
 * step:
 *
 *      fixed    |--|--|--|--|--|--|--|--|--|--|--|--|      a step a tick
 *      events   |-----------------|--|--------------|      a step from event to event
 *               scheduling        a kernel          next
 *               tick              ends in it        scheduling tick
 *
 * A span ends before anything that changes rates or watts, or that reads:
 *
 *   the node    scheduling ticks, updates of fans, the end of the warm-up, a late change of level, rows of a
 *               trace, the caller's own end (tmx_sim_advance)
 *   a GPU       a kernel's end or change of power, the end of a drain, of a profile, of a change of level
 *               (tmx_machine_steady_ticks); kernels' turns (tmx_dispatch_ticks)
 *   sensors     every sample, unless nothing could come of it
 *
 * What happens inside a tick is averaged over that tick, as with fixed ticks; so the tick in which a kernel
 * ends is a step of its own.
 *
 * Samples are skipped where only the hardware's throttle looks at them (spec.samples_skippable), every clock
 * runs, and no sensor can reach the trip point: under constant watts each mode of the thermal model goes one
 * way, so the temperature at the end plus all that fell on the way is a bound on what was in between
 * (ops->bound). What leakage adds is part of the bound. A trip is therefore found at the same sample as with
 * fixed ticks. The last sample before a scheduling tick or an update of fans is always taken.
 *
 * Scheduling ticks are skipped while they would ask for what they asked before: all that arrived is placed,
 * and the policies answer the same to every reading (spec.policies_skippable), or the node is empty and they
 * answer the same then (spec.idle_skippable). An arrival brings the next one.
 *
 * Leakage follows temperature within a span. A GPU goes through it in pieces of h ticks, each a step of the
 * thermal model under the watts that the middle of the piece is guessed to have: those of its begin and half
 * of what leakage rises by, as fast as in the piece before. Temperatures at the end say what it does rise by.
 *
 *      watts              .  found       begin .. end: leakage as it is
 *        |            .--'"               used: constant, the middle as guessed
 *        |====.--'============ used
 *        |.-'
 *        +----------------------> time
 *        begin       h     end
 *
 * Temperatures rise with watts, so the end is off by at most the error of the middle's watts times
 * ops->response. A guess off by more than GUESS_K of this is replaced by half of the rise found, and the
 * piece is taken again. Leakage lies between both ends, so then the end is right to half of the rise times
 * the response at most, and by far better, as leakage is nearly linear in time. A piece whose rise had to be
 * found may have RISE_K of it, one whose guess was right MOST_RISE_K: that guess is a second difference. A
 * piece beyond is halved; one far within doubles the next. The error of a piece is of third order in h. */
#include "core/sim/tiles.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/sim/sim.h"

/* Bounds on what a piece leaves out, at its end [K]. Chosen by measurement (docs/models.md, Ticks where
 * something happens). */
static const double RISE_K = 2e-3, MOST_RISE_K = 2e-2, GUESS_K = 3e-4;

struct tmx_events *tmx_events_take(struct tmx_arena *arena, const struct tmx_machine *m)
{
    struct tmx_events *e = TMX_TAKE(arena, e, 1);
    if (!e) {
        return NULL;
    }
    TMX_TAKE_REALS(arena, m->n_unit, &e->start_w, &e->start_leak_w, &e->start_saved_w, &e->start_k,
                   &e->middle_w, &e->sum_w, &e->sum_leak_w, &e->sum_saved_w, &e->sum_k, &e->rate_w,
                   &e->rate_k, &e->mean_k);
    TMX_TAKE(arena, e->grows, m->n_gpu);
    TMX_TAKE(arena, e->piece, m->n_gpu);
    return e;
}

/* ---- where the node's next event is ---- */

static uint64_t after(uint64_t tick, uint64_t period)
{
    return (tick / period + 1) * period;
}

static uint64_t earlier(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* The next scheduling tick that may ask for something else than what was asked before: until something
 * arrives the others would not, where all is placed and policies answer the same to every reading, or to an
 * empty node. */
static uint64_t next_schedule(const struct tmx_sim *s)
{
    const struct tmx_machine *m = s->machine;
    const bool warming = s->tick < s->warmup && s->spec.warmup_with != TMX_WARMUP_POLICY;
    const uint64_t next = after(s->tick, s->quantum);
    bool waits = false, works = false;
    for (size_t j = m->first_unfinished; j < m->n_arrived; j++) {
        waits = waits || (m->job[j].n_gpu == 0 && m->job[j].state == TMX_JOB_WAITING);
    }
    for (size_t g = 0; g < m->n_gpu; g++) {
        works = works || m->gpu[g].n_run + m->gpu[g].n_queue + m->gpu[g].level > 0;
    }
    if (!(warming && s->spec.warmup_with == TMX_WARMUP_IDLE) &&
        (waits || !(warming || s->spec.policies_skippable || (s->spec.idle_skippable && !works)))) {
        return next;
    }
    if (m->n_arrived == m->n_job) {
        return UINT64_MAX;
    }
    const double at = floor(m->job[m->n_arrived].arrival_s / s->spec.dt_s / (double)s->quantum);
    const uint64_t arrival = at < 1e15 ? (uint64_t)at * s->quantum : UINT64_MAX;
    return arrival > next ? arrival : next;
}

/* The next tick at which policies look at readings, and the next at which anything of the node happens. */
struct ahead {
    uint64_t reads, happens;
};

static struct ahead look_ahead(const struct tmx_sim *s)
{
    struct ahead a = {.reads = next_schedule(s)};
    a.reads = s->cooling ? earlier(a.reads, after(s->tick, s->cool)) : a.reads;
    a.happens = earlier(a.reads, s->until);
    a.happens = s->tick < s->warmup ? earlier(a.happens, s->warmup) : a.happens;
    a.happens = s->row > 0 ? earlier(a.happens, after(s->tick, s->row)) : a.happens;
    for (size_t g = 0; g < s->machine->n_gpu; g++) {
        const struct tmx_gpu_request *r = &s->request.gpu[g];
        if (r->late_s > 0) {
            const uint64_t end = after(s->tick, s->quantum),
                           late = (uint64_t)(r->late_s / s->spec.dt_s * (1 + 1e-9));
            a.happens = late < end - s->tick ? earlier(a.happens, end - late) : s->tick + 1;
        }
    }
    return a;
}

uint64_t tmx_events_most(const struct tmx_sim *s)
{
    static const uint64_t LONGEST = (uint64_t)1 << 50; /* whole in a double */
    return earlier(look_ahead(s).happens - s->tick, LONGEST);
}

/* ---- temperatures of a piece ---- */

static struct tmx_gpus only(size_t g)
{
    return (struct tmx_gpus){g, g + 1};
}

static size_t units(const struct tmx_sim *s, size_t g)
{
    return s->machine->gpu[g].chip->floorplan.n_unit;
}

static enum tmx_status evaluate(struct tmx_sim *s, size_t g)
{
    return s->spec.power.ops->eval(s->power, s->machine, only(g), &s->frame);
}

/* Keep the begin of a piece, or go back to it. */
static void start(const struct tmx_sim *s, size_t g, bool back)
{
    const struct tmx_events *e = s->events;
    const struct tmx_frame *f = &s->frame;
    const size_t u0 = s->machine->gpu[g].unit0, size = units(s, g) * sizeof(double);
    double *const pairs[][2] = {{e->start_w, f->power_w},
                                {e->start_leak_w, f->leakage_w},
                                {e->start_saved_w, f->saved_w},
                                {e->start_k, f->temp_k}};
    for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++) {
        memcpy(pairs[i][back] + u0, pairs[i][!back] + u0, size);
    }
}

/* Largest difference of a unit's leakage at the frame's temperatures from `rise` of the begin's, in half [W].
 */
static double half_off_w(const struct tmx_sim *s, size_t g, bool guessed)
{
    const struct tmx_events *e = s->events;
    const size_t u0 = s->machine->gpu[g].unit0, n = units(s, g);
    double most = 0;
    for (size_t u = u0; u < u0 + n; u++) {
        const double rise = guessed ? 2 * (e->middle_w[u] - e->start_w[u]) : 0,
                     off = fabs(s->frame.power_w[u] - e->start_w[u] - rise);
        most = off > most ? off : most;
    }
    return most / 2;
}

/* The end of a piece of h ticks of GPU g: temperatures and watts there in the frame, the watts used in
 * middle_w. *fits: the bounds hold. */
static enum tmx_status foresee_piece(struct tmx_sim *s, size_t g, uint64_t h, bool *fits)
{
    const struct tmx_events *e = s->events;
    const struct tmx_thermal_ops *ops = s->spec.thermal[g].ops;
    const size_t u0 = s->machine->gpu[g].unit0, n = units(s, g);
    const void *state = s->thermal[g].state;
    const double dt_s = (double)h * s->spec.dt_s, response = ops->response(state, dt_s);
    double *restrict middle_w = e->middle_w;
    *fits = false;
    for (size_t u = u0; u < u0 + n; u++) {
        middle_w[u] = e->start_w[u] + e->rate_w[u] * (double)h / 2;
    }
    for (int again = 0; again < 3 && !*fits; again++) {
        enum tmx_status st = ops->predict(state, dt_s, middle_w + u0, s->frame.temp_k + u0);
        st = st ? st : evaluate(s, g);
        if (st) {
            return st;
        }
        const double rise_k = half_off_w(s, g, false) * response, guess_k = half_off_w(s, g, true) * response;
        *fits = guess_k <= GUESS_K && rise_k <= (again == 0 ? MOST_RISE_K : RISE_K);
        e->grows[g] = *fits && (rise_k < RISE_K / 4 || (again == 0 && guess_k < GUESS_K / 8));
        if (!*fits && rise_k > RISE_K) {
            return TMX_OK;
        }
        for (size_t u = u0; u < u0 + n && !*fits; u++) {
            middle_w[u] = (e->start_w[u] + s->frame.power_w[u]) / 2;
        }
    }
    return TMX_OK;
}

/* Go to what foresee_piece found. */
static void take_piece(const struct tmx_sim *s, size_t g, uint64_t h)
{
    const struct tmx_events *e = s->events;
    const struct tmx_frame *f = &s->frame;
    const size_t u0 = s->machine->gpu[g].unit0, n = units(s, g);
    const double by = (double)h / 2, dt_s = (double)h * s->spec.dt_s;
    s->spec.thermal[g].ops->mean(s->thermal[g].state, dt_s, e->middle_w + u0, e->mean_k + u0);
    s->spec.thermal[g].ops->commit(s->thermal[g].state, dt_s, e->middle_w + u0);
    for (size_t u = u0; u < u0 + n; u++) {
        e->rate_w[u] = (f->leakage_w[u] - e->start_leak_w[u]) / (double)h;
        e->rate_k[u] = (f->temp_k[u] - e->start_k[u]) / (double)h;
        e->sum_w[u] += (double)h * e->middle_w[u];
        e->sum_leak_w[u] += (double)h * (e->start_leak_w[u] + e->middle_w[u] - e->start_w[u]);
        e->sum_saved_w[u] += by * (e->start_saved_w[u] + f->saved_w[u]);
        e->sum_k[u] += (double)h * e->mean_k[u];
    }
}

/* After a piece of h, which may have been shorter than wanted. */
static uint64_t wants(const struct tmx_sim *s, size_t g, uint64_t want, uint64_t h)
{
    return s->events->grows[g] && 2 * h > want && h < (uint64_t)1 << 50 ? 2 * h : want;
}

enum tmx_status tmx_events_heat(struct tmx_sim *s, size_t g)
{
    const struct tmx_events *e = s->events;
    const struct tmx_frame *f = &s->frame;
    const size_t u0 = s->machine->gpu[g].unit0, n = units(s, g);
    double *const sums[] = {e->sum_w, e->sum_leak_w, e->sum_saved_w, e->sum_k};
    for (size_t i = 0; i < sizeof sums / sizeof sums[0]; i++) {
        memset(sums[i] + u0, 0, n * sizeof *sums[i]);
    }
    uint64_t left = s->span, want = e->piece[g] > 0 ? e->piece[g] : left;
    if (e->foreseen) {
        take_piece(s, g, left);
        e->piece[g] = wants(s, g, want, left);
        left = 0;
    } else {
        start(s, g, false);
    }
    while (left > 0) {
        const uint64_t h = want < left ? want : left;
        bool fits = false;
        const enum tmx_status st = foresee_piece(s, g, h, &fits);
        if (h > 1 && (st || !fits)) {
            start(s, g, true);
            want = h / 2;
            continue;
        }
        if (st) {
            return st;
        }
        take_piece(s, g, h);
        want = wants(s, g, want, h);
        e->piece[g] = want;
        left -= h;
        start(s, g, false);
    }
    for (size_t u = u0; u < u0 + n; u++) {
        f->power_w[u] = e->sum_w[u] / (double)s->span;
        f->leakage_w[u] = e->sum_leak_w[u] / (double)s->span;
        f->saved_w[u] = e->sum_saved_w[u] / (double)s->span;
        e->sum_k[u] /= (double)s->span;
    }
    return TMX_OK;
}

/* ---- samples that need no look ---- */

/* May samples be skipped from here on? Then pieces begin with the frame's watts. */
static bool may_skip(struct tmx_sim *s)
{
    const struct tmx_machine *m = s->machine;
    bool may = s->spec.samples_skippable && !s->sensor->needs_all;
    for (size_t sm = 0; sm < m->n_sm && may; sm++) {
        may = !m->gated[sm];
    }
    for (size_t g = 0; g < m->n_gpu && may; g++) {
        may = tmx_machine_is_steady(m, g);
    }
    for (size_t g = 0; g < m->n_gpu && may; g++) {
        tmx_machine_rates(s->machine, g);
        if (s->gate) {
            tmx_gate_stage_sleep(s->gate, s->machine, only(g), s->frame.asleep);
        }
        may = evaluate(s, g) == TMX_OK;
        start(s, g, false);
    }
    return may;
}

/* Ticks until the hottest sensor of any GPU is at the trip point, as fast as it rose in the last piece; most
 * at most. */
static uint64_t ticks_to_trip(const struct tmx_sim *s, double trip_k, uint64_t most)
{
    for (size_t g = 0; g < s->machine->n_gpu; g++) {
        const struct tmx_gpu *gpu = &s->machine->gpu[g];
        for (size_t u = 0; u < units(s, g); u++) {
            const double left_k = trip_k - s->frame.temp_k[gpu->unit0 + u],
                         rate_k = s->events->rate_k[gpu->unit0 + u];
            if (gpu->chip->sm_of_unit[u] != TMX_NO_SM && rate_k * (double)most > left_k) {
                most = left_k > 0 ? (uint64_t)(left_k / rate_k) : 0;
            }
        }
    }
    return most;
}

/* No sensor of GPU g reaches the trip point within the piece that was foreseen. */
static bool stays_below(const struct tmx_sim *s, size_t g, double trip_k)
{
    const struct tmx_gpu *gpu = &s->machine->gpu[g];
    double *high_k = s->events->sum_k + gpu->unit0;
    bool below = true;
    for (size_t u = 0; u < units(s, g) && below; u++) { /* at its end */
        below = gpu->chip->sm_of_unit[u] == TMX_NO_SM || s->frame.temp_k[gpu->unit0 + u] < trip_k;
    }
    if (below) {
        s->spec.thermal[g].ops->bound(s->thermal[g].state, high_k);
    }
    for (size_t u = 0; u < units(s, g) && below; u++) {
        below = gpu->chip->sm_of_unit[u] == TMX_NO_SM || high_k[u] < trip_k;
    }
    return below;
}

/* The ends of all GPUs' pieces of n ticks, if n fits all and no sensor trips within them. */
static bool foresee(struct tmx_sim *s, uint64_t n, double trip_k)
{
    bool fits = true;
    size_t g = 0;
    for (; g < s->machine->n_gpu && fits; g++) {
        fits = foresee_piece(s, g, n, &fits) == TMX_OK && fits;
        s->events->piece[g] = fits ? s->events->piece[g] : n / 2;
        const double by_leakage_k =
            half_off_w(s, g, false) *
            s->spec.thermal[g].ops->response(s->thermal[g].state, (double)n * s->spec.dt_s);
        fits = fits && stays_below(s, g, trip_k - GUESS_K - by_leakage_k);
    }
    while (!fits && g-- > 0) {
        start(s, g, true);
    }
    return fits;
}

uint64_t tmx_events_span(struct tmx_sim *s, uint64_t most)
{
    const uint64_t end = s->tick + most, sample = after(s->tick, s->sample), reads = look_ahead(s).reads;
    struct tmx_events *e = s->events;
    e->foreseen = false;
    if (end <= sample) {
        return most;
    }
    const uint64_t last = end < reads ? end : reads / s->sample * s->sample;
    const double top_k = tmx_sim_trip_k(s), trip_k = (isnan(top_k) ? INFINITY : top_k) - s->sensor->above_k;
    uint64_t wanted = last - s->tick;
    for (size_t g = 0; g < s->machine->n_gpu; g++) {
        const uint64_t want = s->events->piece[g];
        wanted = want > 0 && want < wanted ? want : wanted;
    }
    const uint64_t fit = ticks_to_trip(s, trip_k, wanted);
    uint64_t to = fit < last - s->tick ? (s->tick + fit) / s->sample * s->sample : last;
    if (to <= sample || !may_skip(s)) {
        return sample - s->tick;
    }
    while (to > sample && !e->foreseen) {
        e->foreseen = foresee(s, to - s->tick, trip_k);
        to = e->foreseen ? to : (s->tick + (to - s->tick) / 2) / s->sample * s->sample;
    }
    return (to > sample ? to : sample) - s->tick;
}

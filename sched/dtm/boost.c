/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The governor that vendors ship: the fastest clock of the V/f curve at which the board keeps its power
 * limit and its temperatures. Vendors do not publish theirs; what is known are its limits and what NVML says
 * of it (clock event reasons, field by field in NVML's reference), which is what this one keeps:
 *
 *   power      the mean of the board's watts over window_s stays at the cap: of a dynamic power that goes
 *              as V^2 f, the coming time may draw as far below the cap as the mean of the past is above it,
 *              and the cap itself where the window is no longer than what the sensors look at. Looked at with
 *              every sample of the sensors, at which the clock falls; it rises at scheduling ticks
 *   lock       clocks of min_hz to max_hz, as users set them in place of a cap; the other limits slow further
 *   target     a PI controller of V^2 f holds the hottest sensor, filtered over filter_s, at target_c:
 *              in each tick of dt  u -= gain (dT + (T - target) dt / integral_s), u in share of the
 *              fastest level's V^2 f; free further than band_k below, and never more than a kelvin's worth
 *              above what is in force. Above the target by more than half a kelvin the sensor itself,
 *              unfiltered, takes away power as well, gain (T - target - 0.5) dt / fast_s: a die answers a
 *              jump of its power within a second
 *   jump       a rise of the sensor beyond its filtered value shows what the watts of new work do: the
 *              part above the target is taken away at once; of the memory's half the last rise too
 *   memory     the same for the memory's sensor, free further than memory_band_k below: a stack warms fast
 *              at first, and its first seconds do not show where it is going
 *   slowdown   from slowdown_c on every other pulse of the clock is left out, at once, until the sensor is
 *              hysteresis_k below
 *   shutdown   from shutdown_c on all clocks stop for good
 *
 * The slowest of the answers counts; the reasons are those that ask for it. integral_s: of the order of a
 * sink's time constant, so that the controller sees where the temperature is going (chosen, not published).
 */
#include <math.h>

#include <thermix/policy.h>

#include "sched/policies.h"

static const double HALF_STEP_K = 0.5; /* boards' sensors read whole degrees */
/* A change of work: kelvins above the filtered temperature, share of the watts; what a stack's rise does in
 * the next tick; the most that is taken away in one. Chosen. */
static const double JUMP_K = 2, JUMP = 0.1, GOES_ON = 0.5, MOST_AT_ONCE = 0.7;

struct boost {
    double power_cap_w, window_s, min_hz, max_hz;
    double target_c, memory_c, slowdown_c, shutdown_c, hysteresis_k;
    double gain_per_k, integral_s, fast_s, filter_s, band_k, memory_band_k;
    bool idle_clock;
};

static const struct tmx_opt opts[] = {
    TMX_ROW_REAL(boost, power_cap_w, "W", 0, 1e5, 0, "board watts; 0: the board's own limit"),
    TMX_ROW_REAL(boost, window_s, "s", 0, 100, 0.01, "the cap holds for the mean over this time"),
    TMX_ROW_REAL(boost, max_hz, "Hz", 0, 1e11, 0,
                 "no faster clock, whatever the limits allow; 0: the fastest level"),
    TMX_ROW_REAL(boost, min_hz, "Hz", 0, 1e11, 0, "no slower clock while nothing runs; 0: the slowest level"),
    TMX_ROW_REAL(boost, target_c, "degC", 0, 300, 0, "temperature to hold; 0: the board's target_c"),
    TMX_ROW_REAL(boost, memory_c, "degC", 0, 300, 0, "limit of the memory; 0: the board's"),
    TMX_ROW_REAL(boost, slowdown_c, "degC", 0, 300, 0,
                 "temperature from which the clock is halved; 0: the board's"),
    TMX_ROW_REAL(boost, shutdown_c, "degC", 0, 300, 0,
                 "temperature at which the GPU shuts down; 0: the board's"),
    TMX_ROW_REAL(boost, hysteresis_k, "K", 0, 50, 3, "slowdown ends this far below its temperature"),
    TMX_ROW_REAL(boost, gain_per_k, "1/K", 1e-4, 1, 0.04,
                 "share of the power removed for each kelvin above the target"),
    TMX_ROW_REAL(boost, integral_s, "s", 0.1, 1e4, 60,
                 "time in which a lasting kelvin removes that share once more"),
    TMX_ROW_REAL(boost, fast_s, "s", 1e-3, 1e4, 0.1,
                 "the same time for the error beyond half a kelvin above the target"),
    TMX_ROW_REAL(boost, filter_s, "s", 0, 100, 2,
                 "time constant of the filter on the controller's temperature"),
    TMX_ROW_REAL(boost, band_k, "K", 0.1, 100, 10, "the controller is off this far or more below the target"),
    TMX_ROW_REAL(boost, memory_band_k, "K", 0.1, 100, 3, "the same for the memory"),
    TMX_ROW_BOOL(boost, idle_clock, 1, "use the slowest level while no kernel runs"),
    {0},
};

/* What is kept of a GPU: numbers, all 0 at first. */
struct control {
    double started, temp_c, last_c, limit;
    double read_c, read_w; /* the sensor and the board's watts a tick ago, unfiltered */
};
struct kept {
    double started, mean_w, slow, shut;
    double looked_s, sample_s; /* time of the last sample, and since the one before */
    struct control target, memory;
};
enum { N_KEPT = sizeof(struct kept) / sizeof(double) };

static struct kept *kept_of(const struct tmx_request *r, size_t g)
{
    return (struct kept *)(void *)&r->memory[N_KEPT * g];
}

static size_t memory(const void *state, const struct tmx_view *view)
{
    (void)state;
    return N_KEPT * view->node->n_gpu;
}

static double given(double option, double board)
{
    return option > 0 ? option : board;
}

/* Dynamic power at a level in share of the fastest one's. */
static double drive(const struct tmx_board_view *b, size_t level)
{
    return b->speed[level] * b->volt[level] * b->volt[level] / (b->speed[0] * b->volt[0] * b->volt[0]);
}

static size_t level_within(const struct tmx_board_view *b, double limit)
{
    size_t level = 0;
    while (level + 1 < b->n_level && drive(b, level) > limit * (1 + 1e-9)) {
        level++;
    }
    return level;
}

static size_t under_cap(const struct boost *o, const struct tmx_view *view, size_t g, double cap_w,
                        struct kept *kept)
{
    const struct tmx_board_view *b = &view->board[g];
    const double now_w = view->board_w[g], past_s = view->time_s - kept->looked_s;
    const double w = o->window_s > kept->sample_s ? kept->sample_s / o->window_s : 1;
    if (past_s > 0 || !(kept->started > 0)) { /* a new sample */
        const double by = o->window_s > past_s ? past_s / o->window_s : 1;
        kept->mean_w = kept->started > 0 ? kept->mean_w + by * (now_w - kept->mean_w) : now_w;
        kept->sample_s = past_s;
        kept->looked_s = view->time_s;
    }
    if (!(cap_w > 0 && cap_w < INFINITY) || now_w <= 0) {
        return 0;
    }
    const double allowed_w = fmax(cap_w + (1 - w) * (cap_w - kept->mean_w), 0);
    return level_within(b, drive(b, view->node->gpus[g]->level) * allowed_w / now_w);
}

/* New work may draw twice the watts from one tick to the next, or put them elsewhere, and what is fast of die
 * and stack follows within ticks. What the watts do to it is seen in that jump itself, from the filtered
 * temperature to the sensor's: of them take away at once what stands too high, and the share goes_on of
 * the last rise, which a stack makes in two ticks and a die in one (a die's governor loses more by it than it
 * wins). */
static double after_jump(double temp_c, double target_c, double now_w, double goes_on,
                         const struct control *c)
{
    const double rise_k = temp_c - c->read_c, jump_k = temp_c - c->temp_c, rise_w = now_w - c->read_w,
                 over_k = temp_c + goes_on * rise_k - target_c - HALF_STEP_K;
    if (!(c->started > 0) || rise_k <= 0 || jump_k < JUMP_K || over_k <= 0) {
        return 0;
    }
    return fmin(over_k / jump_k * (rise_w > JUMP * now_w ? rise_w / now_w : 1), MOST_AT_ONCE);
}

/* One step of the controller of a temperature; the level it allows. */
static size_t hold(const struct boost *o, const struct tmx_view *view, size_t g, double temp_c,
                   double target_c, double band_k, double goes_on, struct control *c)
{
    const struct tmx_board_view *b = &view->board[g];
    const double dt_s = view->quantum_s, free_c = target_c - band_k;
    const double w = o->filter_s > dt_s ? dt_s / o->filter_s : 1;
    const double now = drive(b, view->node->gpus[g]->level), now_w = view->board_w[g],
                 cut = temp_c < free_c ? 0 : after_jump(temp_c, target_c, now_w, goes_on, c);
    c->read_c = temp_c;
    c->read_w = now_w;
    c->temp_c = c->started > 0 ? c->temp_c + w * (temp_c - c->temp_c) : temp_c;
    c->started = 1;
    if (c->temp_c < free_c && temp_c <= target_c + HALF_STEP_K && cut <= 0) {
        c->limit = 1;
        c->last_c = free_c;
        return 0;
    }
    c->limit -= o->gain_per_k * (c->temp_c - c->last_c + (c->temp_c - target_c) * dt_s / o->integral_s +
                                 fmax(temp_c - target_c - HALF_STEP_K, 0) * dt_s / o->fast_s);
    c->limit = fmin(now + o->gain_per_k, fmax(0, c->limit));
    c->limit = fmin(c->limit, (1 - cut) * now + (cut > 0 ? 0 : 1));
    c->last_c = c->temp_c;
    return level_within(b, c->limit);
}

static void shut(const struct tmx_view *view, size_t g, struct tmx_request *r)
{
    const struct tmx_gpu_view *gpu = view->node->gpus[g];
    for (size_t sm = gpu->sm0; sm < gpu->sm0 + gpu->n_sm; sm++) {
        r->gate[sm] = true;
    }
    r->gpu[g].reasons |= 1u << TMX_REASON_SHUTDOWN;
}

static void slow_down(struct tmx_gpu_request *q)
{
    q->rest = fmax(q->rest, 0.5);
    q->reasons |= 1u << TMX_REASON_HW_THERMAL_SLOWDOWN;
}

static double cap_w(const struct boost *o, const struct tmx_board_view *b, const struct tmx_gpu_request *q)
{
    return fmin(given(o->power_cap_w, b->power_w > 0 ? b->power_w : INFINITY), q->power_cap_w);
}

static void guard(void *state, const struct tmx_view *view, struct tmx_request *r)
{
    const struct boost *o = state;
    for (size_t g = 0; g < view->node->n_gpu; g++) {
        const struct tmx_board_view *b = &view->board[g];
        struct kept *kept = kept_of(r, g);
        const double temp_c = view->hottest_k[g] - TMX_ZERO_C, slow_c = given(o->slowdown_c, b->slowdown_c),
                     shut_c = given(o->shutdown_c, b->shutdown_c);
        if (shut_c > 0 && temp_c >= shut_c) {
            kept->shut = 1;
        }
        if (slow_c > 0 && temp_c >= slow_c) {
            kept->slow = 1;
        } else if (temp_c < slow_c - o->hysteresis_k) {
            kept->slow = 0;
        }
        if (kept->slow > 0) {
            slow_down(&r->gpu[g]);
        }
        if (kept->shut > 0) {
            shut(view, g, r);
        }
        if (kept->started > 0) {
            /* above the cap: slower before the next scheduling tick */
            const size_t level = under_cap(o, view, g, cap_w(o, &view->board[g], &r->gpu[g]), kept);
            if (level > view->node->gpus[g]->level) {
                r->gpu[g].level = level > r->gpu[g].level ? level : r->gpu[g].level;
                r->gpu[g].late_s = 0;
                r->gpu[g].reasons |= 1u << TMX_REASON_SW_POWER_CAP;
            }
        }
    }
}

/* The slowest level of at least hz, or the fastest of at most hz. */
static size_t level_at(const struct tmx_board_view *b, double hz, bool at_least)
{
    const double speed = hz / b->nominal_hz;
    size_t level = 0;
    while (level + 1 < b->n_level &&
           (at_least ? b->speed[level + 1] >= speed * (1 - 1e-9) : b->speed[level] > speed * (1 + 1e-9))) {
        level++;
    }
    return level;
}

static void govern(void *state, const struct tmx_view *view, struct tmx_request *r)
{
    const struct boost *o = state;
    for (size_t g = 0; g < view->node->n_gpu; g++) {
        const struct tmx_board_view *b = &view->board[g];
        struct tmx_gpu_request *q = &r->gpu[g];
        struct kept *kept = kept_of(r, g);
        const struct tmx_gpu_view *gpu = view->node->gpus[g];
        const double target_c = given(o->target_c, b->target_c), memory_c = given(o->memory_c, b->memory_c);
        size_t asked[TMX_N_REASON] = {0};
        asked[TMX_REASON_SW_POWER_CAP] = under_cap(o, view, g, cap_w(o, b, q), kept);
        if (target_c > 0) {
            asked[TMX_REASON_SW_THERMAL_SLOWDOWN] =
                hold(o, view, g, view->hottest_k[g] - TMX_ZERO_C, target_c, o->band_k, 0, &kept->target);
        }
        if (memory_c > 0 && !isnan(view->memory_k[g])) {
            asked[TMX_REASON_MEMORY_LIMIT] = hold(o, view, g, view->memory_k[g] - TMX_ZERO_C, memory_c,
                                                  o->memory_band_k, GOES_ON, &kept->memory);
        }
        if (o->idle_clock && gpu->n_run == 0 && gpu->n_queue == 0) {
            asked[TMX_REASON_GPU_IDLE] = o->min_hz > 0 ? level_at(b, o->min_hz, true) : b->n_level - 1;
        }
        kept->started = 1;
        const size_t locked = o->max_hz > 0 ? level_at(b, o->max_hz, false) : 0;
        size_t slowest = locked;
        for (size_t why = 0; why < TMX_N_REASON; why++) {
            slowest = asked[why] > slowest ? asked[why] : slowest;
        }
        for (size_t why = 0; why < TMX_N_REASON; why++) {
            q->reasons |= slowest > locked && asked[why] == slowest ? 1u << why : 0;
        }
        if (kept->slow > 0) {
            slow_down(q);
        }
        if (q->reasons >> TMX_REASON_MEMORY_LIMIT & 1) {
            q->reasons |= 1u << TMX_REASON_SW_THERMAL_SLOWDOWN;
        }
        q->level = slowest > q->level ? slowest : q->level;
        if (kept->shut > 0) {
            shut(view, g, r);
        }
    }
}

const struct tmx_dtm_policy tmx_dtm_boost = {
    .base = {.name = "boost",
             .doc = "The fastest clock within power cap, temperature target and slowdown limit.",
             .source = "limits and reasons as NVIDIA's NVML reference names them; the control law is ours",
             .opts = opts,
             .state_size = sizeof(struct boost)},
    .guard = guard,
    .govern = govern,
    .memory = memory,
    .caps = true,
};

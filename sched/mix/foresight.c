/* SPDX-License-Identifier: GPL-3.0-or-later */
/* foresight: hold the limit by knowing what comes. Every scheduling tick, on each GPU:
 *
 *   observe  the thermal model's modes run along under the power the policy thinks was drawn; what the
 *            sensors say beside them becomes a common error c and one of each SM b_s, so that any constant
 *            error (power, convection, leakage) ends there; q: variance of what remains
 *   guard    target = limit - below - sigma sqrt(q) - m, where the tracker m rises when an SM was gated
 *   learn    what the mean of the sensors says at once, not little by little, is power: factor f on what
 *            the stat table has, found from one tick's response; the largest of late is kept, and slowly
 *            forgotten; after a fall not expected before it came back the last times
 *   hold     no hotter than where leakage feeds back once: beyond, it grows by more than the package sheds
 *   mix      T^ABS's proactive rule: a waiting kernel of another power density joins, half the GPU each
 *   place    the hot kernel of two on the cool SMs (sched/mix/ahead)
 *   level    the fastest clock level whose hottest SM at the end of the tick stays below the target; where
 *            even the slowest does not, rest for a part of the time
 *   save     resting costs more work a watt than any slower clock: after ticks with rest, no tick runs at the
 *            fastest levels, until rest is forgotten
 *   part     of the tick at the next faster level, at its end: there the peak was predicted
 *
 * One tick ahead is enough: idling is always available, and the bound (docs/notes/foresight.md) says that
 * the optimum holds the limit with the most even temperatures and two adjacent levels. Without a forecast
 * (view->outlook NULL) it only mixes. */
#include <math.h>
#include <string.h>

#include "sched/mix/ahead.h"
#include "sched/policies.h"

struct foresight {
    double below_k, sigma, trips;
    double common_gain, sm_gain, variance_gain, tracker_gain, place_gain;
    double power_scale, leak_scale;
    int window, levels;
    double forget;
    bool parts, place, learn, dwell, late;
};

static const struct tmx_opt opts[] = {
    TMX_ROW_REAL(foresight, below_k, "K", 0, 50, 0.1, "target below the hardware's limit"),
    TMX_ROW_REAL(foresight, sigma, "1", 0, 10, 3, "margin in standard deviations of the sensors' noise"),
    TMX_ROW_REAL(foresight, trips, "1", 0, 1, 0.01, "share of scheduling ticks in which an SM may be gated"),
    TMX_ROW_REAL(foresight, common_gain, "1", 0, 1, 0.3, "gain of the observer for the common error"),
    TMX_ROW_REAL(foresight, sm_gain, "1", 0, 1, 0.02, "gain of the observer for each SM's error"),
    TMX_ROW_REAL(foresight, variance_gain, "1", 0, 1, 0.02, "gain of the estimate of the noise's variance"),
    TMX_ROW_REAL(foresight, tracker_gain, "K", 0, 10, 0.02, "gain of the tracker of gated SMs"),
    TMX_ROW_REAL(foresight, place_gain, "W/K", 0, 1, 0.02, "of the placement"),
    TMX_ROW_REAL(foresight, power_scale, "1", 0, 10, 1,
                 "kernels' powers that the policy assumes, relative to the table's"),
    TMX_ROW_REAL(foresight, leak_scale, "1", 0, 10, 1,
                 "leakage that the policy assumes, relative to the true one"),
    TMX_ROW_INT(foresight, window, "1", 1, 1024, 32, "fairness window N of arrivals"),
    TMX_ROW_BOOL(foresight, parts, 1, "allow two clock levels in one scheduling tick"),
    TMX_ROW_BOOL(foresight, learn, 1, "estimate the factor by which power differs from the stat table's"),
    TMX_ROW_REAL(foresight, forget, "1", 0, 1, 0.0025,
                 "decay per scheduling tick of the largest factor, which predictions use"),
    TMX_ROW_BOOL(
        foresight, dwell, 1,
        "after the factor falls, expect its next rise only after as long a time as before the last rises"),
    TMX_ROW_BOOL(foresight, late, 1,
                 "compare delayed readings with predictions for the time they were taken"),
    TMX_ROW_INT(foresight, levels, "1", 0, 64, 0, "number of clock levels to use, from the fastest; 0: all"),
    TMX_ROW_BOOL(foresight, place, 1,
                 "choose SMs for the hot kernel; otherwise both kernels share every SM alike"),
    {0},
};

/* What one GPU's state consists of; the memory is the shares of all SMs of the node, then one such a GPU. */
enum {
    STARTED,
    COMMON,
    VARIANCE,
    MARGIN,
    HOLD,
    HIGHEST,
    EXPECTED,
    DRIFT,
    FALLEN,
    SINCE,
    DWELL,
    SAVING,
    LEAK,
    FIRST,
    SECOND,
    N_SCALAR
};

struct mind {
    struct tmx_follow model;
    double *scalar;             /* [N_SCALAR] */
    double *b, *g;              /* [n_sm] error, integrator of the placement */
    double *sm_k;               /* [n_sm] temperatures now */
    double *free_k, *a_k, *l_k; /* [n_sm] at the end of the tick: without work; rise by work; by leakage */
    double *part_k;             /* [n_sm] rise by the faster part; of the observer, by the tick's work */
    double *then_k, *work_then; /* [n_sm] the same as sm_k and part_k, when the readings were taken */
    double *x;                  /* [n_sm] share of the hot kernel; of the node's array */
};

/* at NULL: only count. */
static size_t lay_out(const struct tmx_view *view, size_t gpu, double *at, struct mind *m)
{
    const size_t sm = view->node->gpus[gpu]->n_sm;
    double **const sms[] = {&m->b,   &m->g,      &m->sm_k,   &m->free_k,   &m->a_k,
                            &m->l_k, &m->part_k, &m->then_k, &m->work_then};
    const size_t n = tmx_ahead_lay_out(at, tmx_follow_lay_out(&view->outlook[gpu], at, &m->model), N_SCALAR,
                                       1, (double **const[]){&m->scalar});
    return tmx_ahead_lay_out(at, n, sm, sizeof sms / sizeof sms[0], sms);
}

static size_t memory(const void *state, const struct tmx_view *view)
{
    size_t n = view->outlook ? view->node->n_sm : 0;
    (void)state;
    for (size_t g = 0; view->outlook && g < view->node->n_gpu; g++) {
        struct mind m;
        n += lay_out(view, g, NULL, &m);
    }
    return n;
}

/* Did a kernel end in the tick that ran? Then its SMs stood still for an unknown part of it. */
static bool someone_ended(const struct tmx_node_view *node, const struct mind *d)
{
    for (size_t i = FIRST; i <= SECOND; i++) { /* job + 1; 0: none */
        if (d->scalar[i] > 0 && node->jobs[(size_t)d->scalar[i] - 1]->state == TMX_JOB_DONE) {
            return true;
        }
    }
    return false;
}

/* Where the last tick led to by what was thought to be drawn: m->sm_k, and by its work alone m->part_k;
 * m->then_k and m->work_then when the readings were taken, `back` parts ago. The mean of the last [K]. */
static double run_along(const struct tmx_view *view, size_t gpu, size_t back, struct mind *m)
{
    const struct tmx_outlook *look = &view->outlook[gpu];
    const struct tmx_chip *c = look->chip;
    struct tmx_follow *w = &m->model;
    double mean_k = 0;
    memset(w->later, 0, look->forecast->modes.mode_row * sizeof *w->later);
    const size_t then = TMX_FORECAST_PARTS - back, level = tmx_follow_go(look, w, 0, then);
    if (back > 0) {
        tmx_follow_read(look, w, level, then > 0 ? 1 : 0);
        tmx_ahead_sms(c, w->unit_k, m->then_k);
        tmx_ahead_sms(c, w->work_k, m->work_then);
        (void)tmx_follow_go(look, w, then, TMX_FORECAST_PARTS);
    }
    tmx_follow_read_end(look, w);
    tmx_ahead_sms(c, w->unit_k, m->sm_k);
    tmx_ahead_sms(c, w->work_k, m->part_k);
    if (back == 0) {
        memcpy(m->then_k, m->sm_k, c->n_sm * sizeof *m->then_k);
        memcpy(m->work_then, m->part_k, c->n_sm * sizeof *m->work_then);
    }
    for (size_t s = 0; s < c->n_sm; s++) {
        mean_k += m->work_then[s] / (double)c->n_sm;
    }
    return mean_k;
}

/* Is the next rise of the factor still some ticks away? */
static bool resting(const struct foresight *o, const struct mind *m)
{
    return o->dwell && m->scalar[FALLEN] > 0 && m->scalar[SINCE] + 2 < 0.9 * m->scalar[DWELL];
}

/* off_k: what the mean of the sensors differs by from what was expected, of which work_k would be all power.
 * An error within the noise, or one that stays from tick to tick, is left to the observer. The state follows;
 * returns what of off_k is explained.
 */
static double learn(const struct foresight *o, const struct tmx_view *view, size_t gpu, double off_k,
                    double work_k, struct mind *m)
{
    const struct tmx_chip *c = view->outlook[gpu].chip;
    const struct tmx_forecast *f = view->outlook[gpu].forecast;
    const double drift_gain = 0.1, jump_k = off_k - m->scalar[DRIFT]; /* a drift is no power */
    const double least_k = 0.05, least_work_k = 0.1; /* model errors of a tick; too little work to tell */
    const double noise_k = least_k + 4 * sqrt(m->scalar[VARIANCE] / (double)c->n_sm);
    const double settled_s = 10; /* until then the state is still finding itself */
    if (work_k < least_work_k || m->scalar[STARTED] * view->quantum_s < settled_s) {
        m->scalar[DRIFT] += drift_gain * jump_k;
        return 0;
    }
    const double before = m->model.tick[TMX_FOLLOW_FACTOR], sure_k = fabs(jump_k) > noise_k ? jump_k : 0;
    const double after = fmin(4, fmax(0.25, before + sure_k / work_k)), more = after - before;
    m->model.tick[TMX_FOLLOW_FACTOR] = after;
    m->scalar[DRIFT] += drift_gain * (jump_k - more * work_k);
    for (size_t k = 0; k < m->model.n_mode; k++) {
        m->model.z[k] += more * m->model.later[k];
    }
    for (size_t u = 0; u < f->modes.n_unit; u++) {
        m->model.unit_k[u] += more * m->model.work_k[u];
    }
    for (size_t s = 0; s < c->n_sm; s++) {
        m->sm_k[s] += more * m->part_k[s];
        m->then_k[s] += more * m->work_then[s];
    }
    /* phases come back: for how many ticks the factor stays down after a fall, at least. What moves in the
     * first ticks after a fall is the observer finding its state */
    /* set by hand on WL3, WL7 and WL8 under phases, as those below: docs/notes/foresight.md */
    const double step = 0.05, low = 0.9; /* a jump, of the factor; down, of the highest */
    const double slow = 0.25, first = 3; /* of a longer stay, what is believed; ticks that do not count */
    const bool down = m->model.tick[TMX_FOLLOW_FACTOR] < low * m->scalar[HIGHEST];
    m->scalar[SINCE] += 1;
    if ((down && m->scalar[FALLEN] <= 0) || more < -step * before) {
        m->scalar[SINCE] = 0;
        m->scalar[FALLEN] = down ? 1 : m->scalar[FALLEN];
    } else if (m->scalar[FALLEN] > 0 && more > step * before && m->scalar[SINCE] > first) {
        const double stay = m->scalar[SINCE], longer = m->scalar[DWELL] + slow * (stay - m->scalar[DWELL]);
        m->scalar[DWELL] = m->scalar[DWELL] > 0 ? fmin(stay, longer) : stay;
        m->scalar[SINCE] = 0;
        m->scalar[FALLEN] = down ? 1 : 0;
    }
    const double forget = resting(o, m) ? 0 : o->forget; /* it comes back */
    m->scalar[HIGHEST] = fmax(after, m->scalar[HIGHEST] + forget * (after - m->scalar[HIGHEST]));
    return more * work_k;
}

/* How old the readings are, in parts of a tick; a tick at most. */
static size_t parts_ago(const struct foresight *o, const struct tmx_view *view, size_t gpu)
{
    const double parts = round(TMX_FORECAST_PARTS * view->outlook[gpu].delay_s / view->quantum_s);
    return o->late ? (size_t)fmin(parts, TMX_FORECAST_PARTS) : 0;
}

/* Where the last tick led to, and what the sensors say to that: m->sm_k are temperatures now. */
static void observe(const struct foresight *o, const struct tmx_view *view, size_t gpu, struct mind *m)
{
    const struct tmx_gpu_view *hw = view->node->gpus[gpu];
    const struct tmx_outlook *look = &view->outlook[gpu];
    const struct tmx_chip *c = look->chip;
    const struct tmx_forecast *f = look->forecast;
    const double *sensed_k = view->sensed_k + hw->sm0, n = (double)c->n_sm;
    const bool started = m->scalar[STARTED] > 0;
    const size_t back = parts_ago(o, view, gpu);
    double work_k = 0;
    if (!started) {
        m->scalar[HIGHEST] = 1;
        tmx_follow_start(look, &m->model);
        memset(m->sm_k, 0, c->n_sm * sizeof *m->sm_k);
        memset(m->then_k, 0, c->n_sm * sizeof *m->then_k);
    } else {
        const double all_k = run_along(view, gpu, back, m);
        work_k = o->learn ? all_k : 0;
    }
    double mean_k = 0, e2 = 0;
    for (size_t s = 0; s < c->n_sm; s++) {
        mean_k += (sensed_k[s] - f->modes.ambient_k - m->then_k[s]) / n;
    }
    const double sure = started && someone_ended(view->node, m) ? 0 : 1;
    m->scalar[SAVING] *= sure;
    if (started && sure > 0) {
        mean_k -= learn(o, view, gpu, mean_k - m->scalar[COMMON], work_k, m);
    }
    m->scalar[COMMON] += sure * (started ? o->common_gain : 1) * (mean_k - m->scalar[COMMON]);
    for (size_t s = 0; s < c->n_sm; s++) {
        const double e = sensed_k[s] - f->modes.ambient_k - m->then_k[s] - mean_k - m->b[s];
        m->b[s] += sure * (started ? o->sm_gain : 1) * e;
        e2 += e * e / n;
    }
    m->scalar[VARIANCE] += started ? sure * o->variance_gain * (e2 - m->scalar[VARIANCE]) : 0;
    const double offset_k = f->modes.ambient_k + m->scalar[COMMON];
    for (size_t s = 0; s < c->n_sm; s++) {
        m->sm_k[s] += offset_k + m->b[s];
    }
    double *unit_k = m->model.unit_k, *leak_w = m->model.leak_w; /* what leaks now, for the coming tick */
    const size_t n_unit = f->modes.n_unit;
    for (size_t u = 0; u < n_unit; u++) {
        unit_k[u] += offset_k + (c->sm_of_unit[u] == TMX_NO_SM ? 0 : m->b[c->sm_of_unit[u]]);
    }
    look->still.factors(look->still.table, n_unit, unit_k, leak_w);
    for (size_t u = 0; u < n_unit; u++) {
        leak_w[u] *= o->leak_scale * look->still.leak_w[u];
    }
    m->scalar[EXPECTED] = resting(o, m) ? m->model.tick[TMX_FOLLOW_FACTOR] : m->scalar[HIGHEST];
    m->scalar[STARTED] += 1;
    for (size_t k = 0; k < 2; k++) {
        m->scalar[FIRST + k] = k < hw->n_run ? (double)hw->run[k] + 1 : 0;
    }
}

static double target_k(const struct foresight *o, const struct tmx_view *view, size_t gpu, struct mind *m)
{
    bool gated = false;
    for (size_t s = 0; s < view->node->gpus[gpu]->n_sm; s++) {
        gated = gated || view->outlook[gpu].gated[s];
    }
    m->scalar[MARGIN] = fmin(4, fmax(0, m->scalar[MARGIN] + o->tracker_gain * ((gated ? 1 : 0) - o->trips)));
    return fmin(m->scalar[HOLD],
                view->limit_k - o->below_k - o->sigma * sqrt(m->scalar[VARIANCE]) - m->scalar[MARGIN]);
}

static double peak_k(const struct tmx_chip *c, const struct mind *m, size_t level, const double *part_k)
{
    const double w = m->scalar[EXPECTED] * tmx_ahead_power(c, level, m->model.tick[TMX_FOLLOW_WAITS]),
                 v = tmx_ahead_volt(c, level);
    double peak = 0;
    for (size_t s = 0; s < c->n_sm; s++) {
        const double t = m->free_k[s] + w * m->a_k[s] + v * m->l_k[s] + (part_k ? part_k[s] : 0);
        peak = t > peak ? t : peak;
    }
    return peak;
}

/* The fewest tenths of the scheduling tick that are whole ticks. */
static size_t grain(const struct tmx_view *view)
{
    for (size_t part = 1; part < TMX_FORECAST_PARTS; part++) {
        const double ticks = view->quantum_s * (double)part / TMX_FORECAST_PARTS / view->dt_s;
        if (fabs(ticks - round(ticks)) <= 1e-6 * ticks) {
            return part;
        }
    }
    return TMX_FORECAST_PARTS;
}

/* The longest last part of the tick, in tenths, that may run one level faster. A longer one warms more: begun
 * beside the last tick's, halved from the third try on. */
static size_t faster_part(const struct tmx_view *view, size_t gpu, struct mind *m, size_t level,
                          double limit_k)
{
    const struct tmx_outlook *look = &view->outlook[gpu];
    const struct tmx_chip *c = look->chip;
    struct tmx_follow *f = &m->model;
    const double waits = f->tick[TMX_FOLLOW_WAITS];
    const double dw =
        m->scalar[EXPECTED] * (tmx_ahead_power(c, level - 1, waits) - tmx_ahead_power(c, level, waits));
    const double dv = tmx_ahead_volt(c, level - 1) - tmx_ahead_volt(c, level);
    const size_t each = grain(view);
    size_t fits = 0, wrong = (TMX_FORECAST_PARTS + each - 1) / each,
           next = (size_t)f->tick[TMX_FOLLOW_LATE_PARTS] / each;
    for (int i = 0; wrong - fits > 1; i++) {
        const size_t now = next <= fits ? fits + 1 : next >= wrong ? wrong - 1 : next;
        tmx_follow_try(look, f, now * each);
        for (size_t u = 0; u < look->forecast->modes.n_unit; u++) {
            f->unit_k[u] = dw * f->try_dyn_k[u] + dv * f->try_leak_k[u];
        }
        tmx_ahead_sms(c, f->unit_k, m->part_k);
        const bool cool = peak_k(c, m, level, m->part_k) <= limit_k;
        if (cool) {
            tmx_follow_keep(look, f);
        }
        fits = cool ? now : fits;
        wrong = cool ? wrong : now;
        next = i > 0 ? (fits + wrong) / 2 : cool ? now + 1 : now - 1;
    }
    return fits * each;
}

static void choose_level(const struct foresight *o, const struct tmx_view *view, size_t gpu, struct mind *m,
                         double limit_k, struct tmx_gpu_request *r)
{
    const struct tmx_chip *c = view->outlook[gpu].chip;
    const double save = o->dwell ? 0.05 : 0, spend = 0.005; /* levels a tick */
    const size_t n_level = o->levels > 0 && (size_t)o->levels < c->n_level ? (size_t)o->levels : c->n_level;
    size_t level = (size_t)fmin(m->scalar[SAVING], (double)(n_level - 1)), late = 0;
    while (level + 1 < n_level && peak_k(c, m, level, NULL) > limit_k) {
        level++;
    }
    if (peak_k(c, m, level, NULL) > limit_k) {
        const double w = m->scalar[EXPECTED] * tmx_ahead_power(c, level, m->model.tick[TMX_FOLLOW_WAITS]),
                     v = tmx_ahead_volt(c, level);
        double duty = 1;
        for (size_t s = 0; s < c->n_sm; s++) {
            if (m->a_k[s] > 0) {
                duty = fmin(duty, (limit_k - m->free_k[s] - v * m->l_k[s]) / (w * m->a_k[s]));
            }
        }
        duty = fmax(0.5, duty);
        r->rest = 1 - duty;
        m->scalar[SAVING] = fmin((double)(n_level - 1), m->scalar[SAVING] + save);
        tmx_follow_rest(&view->outlook[gpu], &m->model, duty);
    } else if (level > 0 && o->parts) {
        late = faster_part(view, gpu, m, level, limit_k);
    }
    m->scalar[SAVING] = fmax(0, m->scalar[SAVING] - spend);
    r->level = level;
    r->late_level = late > 0 ? level - 1 : level;
    r->late_s = view->quantum_s * (double)late / TMX_FORECAST_PARTS;
    m->model.tick[TMX_FOLLOW_LEVEL] = (double)level;
    m->model.tick[TMX_FOLLOW_LATE_LEVEL] = (double)r->late_level;
    m->model.tick[TMX_FOLLOW_LATE_PARTS] = (double)late;
}

static void decide(void *state, const struct tmx_view *view, struct tmx_request *request)
{
    const struct foresight *o = state;
    const struct tmx_ahead ahead = {o->power_scale, o->place_gain, o->window, o->place};
    double *at = request->memory ? request->memory + view->node->n_sm : NULL;
    for (size_t g = 0; g < view->node->n_gpu; g++) {
        struct tmx_gpu_request *r = &request->gpu[g];
        tmx_ahead_mix(&ahead, view, g, r);
        if (!view->outlook || !at) {
            continue;
        }
        struct mind m = {.x = request->memory + view->node->gpus[g]->sm0};
        const struct tmx_forecast *f = view->outlook[g].forecast;
        at += lay_out(view, g, at, &m);
        m.model.n_mode = parts_ago(o, view, g) > 0 ? f->modes.n_mode : f->n_lasting;
        observe(o, view, g, &m);
        double leak;
        m.model.tick[TMX_FOLLOW_WAITS] =
            tmx_ahead_work(&ahead, view, g, r, m.sm_k, m.g, m.x, m.model.dyn_w, &leak);
        const struct tmx_chip *c = view->outlook[g].chip;
        if (leak != m.scalar[LEAK]) {
            const double volt = (tmx_ahead_volt(c, 0) + tmx_ahead_volt(c, c->n_level - 1)) / 2;
            m.scalar[HOLD] = tmx_ahead_hold_k(&view->outlook[g], view->limit_k, volt, o->leak_scale * leak,
                                              m.model.power_w, m.model.unit_k, m.sm_k);
            m.scalar[LEAK] = leak;
        }
        for (size_t u = 0; u < f->modes.n_unit; u++) {
            m.model.leak_w[u] *= leak;
        }
        tmx_follow_predict(&view->outlook[g], &m.model);
        tmx_ahead_sms(c, m.model.end_k, m.free_k);
        tmx_ahead_sms(c, m.model.end_dyn_k, m.a_k);
        tmx_ahead_sms(c, m.model.end_leak_k, m.l_k);
        for (size_t s = 0; s < c->n_sm; s++) {
            m.free_k[s] += view->outlook[g].forecast->modes.ambient_k + m.scalar[COMMON] + m.b[s];
        }
        choose_level(o, view, g, &m, target_k(o, view, g, &m), r);
    }
}

const struct tmx_mix_policy tmx_mix_foresight = {
    .base = {.name = "foresight",
             .doc = "Predict temperatures at the end of the tick; mix, place and clock kernels just below "
                    "the limit.",
             .source = "docs/notes/foresight.md",
             .opts = opts,
             .state_size = sizeof(struct foresight)},
    .memory = memory,
    .foresees = true,
    .decide = decide,
    .spread = tmx_ahead_spread,
};

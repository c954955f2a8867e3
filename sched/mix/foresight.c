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
 *   place    the hot kernel of two on the cool SMs (sched/mix/equalise)
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
    TMX_ROW_REAL(foresight, common_gain, "1", 0, 1, 0.3, "of the observer, common error"),
    TMX_ROW_REAL(foresight, sm_gain, "1", 0, 1, 0.02, "of the observer, each SM's error"),
    TMX_ROW_REAL(foresight, variance_gain, "1", 0, 1, 0.02, "of the noise's variance"),
    TMX_ROW_REAL(foresight, tracker_gain, "K", 0, 10, 0.02, "of the tracker of gated SMs"),
    TMX_ROW_REAL(foresight, place_gain, "W/K", 0, 1, 0.02, "of the placement"),
    TMX_ROW_REAL(foresight, power_scale, "1", 0, 10, 1,
                 "kernels' powers as believed, relative to the table's"),
    TMX_ROW_REAL(foresight, leak_scale, "1", 0, 10, 1, "leakage as believed, relative to the true one"),
    TMX_ROW_INT(foresight, window, "1", 1, 1024, 32, "fairness window N of arrivals"),
    TMX_ROW_BOOL(foresight, parts, 1, "two clock levels in a scheduling tick"),
    TMX_ROW_BOOL(foresight, learn, 1, "estimate the factor by which power differs from the stat table's"),
    TMX_ROW_REAL(foresight, forget, "1", 0, 1, 0.0025,
                 "of the largest factor, a scheduling tick: predictions count with it"),
    TMX_ROW_BOOL(foresight, dwell, 1,
                 "after a fall of the factor, its next rise is not expected before it came the last times"),
    TMX_ROW_BOOL(foresight, late, 1, "compare readings with what was expected when they were taken"),
    TMX_ROW_INT(foresight, levels, "1", 0, 64, 0, "how many clock levels it uses, the fastest first; 0: all"),
    TMX_ROW_BOOL(foresight, place, 1, "place the hot kernel; else both on every SM alike"),
    {0},
};

/* What one GPU's state consists of; the memory is the shares of all SMs of the node, then one such a GPU. */
enum {
    STARTED,
    COMMON,
    VARIANCE,
    MARGIN,
    HOLD,
    FACTOR,
    HIGHEST,
    EXPECTED,
    DRIFT,
    FALLEN,
    SINCE,
    DWELL,
    SAVING,
    LEVEL,
    LATE_LEVEL,
    LATE_PARTS,
    FIRST,
    SECOND,
    N_SCALAR
};

struct mind {
    double *scalar;             /* [N_SCALAR] */
    double *z;                  /* [mode_row] */
    double *later;              /* [mode_row] work */
    double *dyn_w, *leak_w;     /* [unit_row] of the tick that ran, at the nominal level */
    double *power_w, *unit_k;   /* [unit_row] work */
    double *work_k;             /* [unit_row] what the tick's work warmed */
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
    const struct tmx_modes_view *v = &view->outlook[gpu].forecast->modes;
    const size_t sm = view->node->gpus[gpu]->n_sm, mode = v->mode_row, unit = v->unit_row;
    const struct {
        double **array;
        size_t n;
    } rows[] = {
        {&m->scalar, N_SCALAR}, {&m->z, mode},      {&m->later, mode},  {&m->dyn_w, unit}, {&m->leak_w, unit},
        {&m->power_w, unit},    {&m->unit_k, unit}, {&m->work_k, unit}, {&m->b, sm},       {&m->g, sm},
        {&m->sm_k, sm},         {&m->free_k, sm},   {&m->a_k, sm},      {&m->l_k, sm},     {&m->part_k, sm},
        {&m->then_k, sm},       {&m->work_then, sm}};
    size_t n = 0;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        *rows[i].array = at ? at + n : NULL;
        n += rows[i].n;
    }
    return n;
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

/* Rise of the SMs by watts, from a table of step responses. */
static void rise(const struct tmx_forecast *f, const struct tmx_chip *c, const double *table,
                 const double *power_w, double *unit_k, double *sm_k)
{
    memset(unit_k, 0, f->modes.unit_row * sizeof *unit_k);
    tmx_forecast_add(f, table, power_w, unit_k);
    tmx_ahead_sms(c, unit_k, sm_k);
}

/* The level of the last tick's parts from `from` on, and how many of them up to `to` have it. */
static size_t level_of(const struct mind *m, size_t from, size_t to, size_t *n)
{
    const size_t change = TMX_FORECAST_PARTS - (size_t)m->scalar[LATE_PARTS];
    *n = from < change && change < to ? change - from : to - from;
    return (size_t)m->scalar[from < change ? LEVEL : LATE_LEVEL];
}

/* m->power_w: all that was drawn at a level. */
static void fill_power(const struct tmx_view *view, size_t gpu, struct mind *m, size_t level)
{
    const struct tmx_chip *c = view->outlook[gpu].chip;
    const double w = m->scalar[FACTOR] * tmx_ahead_power(c, level), v = tmx_ahead_volt(c, level);
    for (size_t u = 0; u < view->outlook[gpu].forecast->modes.n_unit; u++) {
        m->power_w[u] = view->outlook[gpu].still.baseline_w[u] + w * m->dyn_w[u] + v * m->leak_w[u];
    }
}

/* Parts `from` to `to` of the last tick go by; m->power_w is the last of them's. */
static void go_by(const struct tmx_view *view, size_t gpu, struct mind *m, size_t from, size_t to)
{
    fill_power(view, gpu, m, (size_t)m->scalar[LEVEL]);
    for (size_t n; from < to; from += n) {
        fill_power(view, gpu, m, level_of(m, from, to, &n));
        tmx_forecast_advance(view->outlook[gpu].forecast, n, m->power_w, m->z);
    }
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

/* Hottest SM with watt on each SM, for ever; INFINITY where the leakage runs away. */
static double steady_peak_k(const struct foresight *o, const struct tmx_outlook *look, double watt,
                            double volt, struct mind *m)
{
    enum { ROUNDS = 300 };
    const double far_k = 600, near_k = 1e-3;
    const struct tmx_forecast *f = look->forecast;
    double move_k = far_k, peak_k = 0;
    for (size_t u = 0; u < f->modes.n_unit; u++) {
        m->unit_k[u] = f->modes.ambient_k;
    }
    for (int round = 0; round < ROUNDS && move_k > near_k && peak_k < far_k; round++) {
        for (size_t u = 0; u < f->modes.n_unit; u++) {
            m->power_w[u] = look->still.baseline_w[u] +
                            (look->chip->sm_of_unit[u] == TMX_NO_SM ? 0 : watt * look->chip->part_share[u]) +
                            volt * o->leak_scale * look->still.leak_w[u] *
                                look->still.factor(look->still.table, m->unit_k[u]);
            m->unit_k[u] = f->modes.ambient_k;
        }
        tmx_forecast_add(f, f->steady, m->power_w, m->unit_k);
        tmx_ahead_sms(look->chip, m->unit_k, m->sm_k);
        const double before_k = peak_k;
        peak_k = 0;
        for (size_t s = 0; s < look->chip->n_sm; s++) {
            peak_k = fmax(peak_k, m->sm_k[s]);
        }
        move_k = fabs(peak_k - before_k);
    }
    return move_k <= near_k && peak_k < far_k ? peak_k : INFINITY;
}

/* The temperature beyond which more heat is leaked than shed: hottest SM under the most watts that have a
 * steady state; the limit where that comes first. */
static double hold_k(const struct foresight *o, const struct tmx_outlook *look, double limit_k, double volt,
                     struct mind *m)
{
    enum { HALVINGS = 20 };
    double low_w = 0, high_w = 1, best_k = 0;
    bool limited = false;
    if (!isfinite(limit_k)) {
        return limit_k;
    }
    while (steady_peak_k(o, look, high_w, volt, m) < limit_k) {
        high_w *= 2;
    }
    for (int i = 0; i < HALVINGS; i++) {
        const double watt = (low_w + high_w) / 2, peak_k = steady_peak_k(o, look, watt, volt, m);
        if (peak_k < limit_k) {
            low_w = watt;
            best_k = peak_k;
        } else {
            high_w = watt;
            limited = isfinite(peak_k);
        }
    }
    return limited || best_k == 0 ? limit_k : best_k;
}

/* Parts of the last tick for its work alone: m->later. */
static void work_goes_by(const struct tmx_view *view, size_t gpu, struct mind *m, size_t from, size_t to)
{
    const struct tmx_forecast *f = view->outlook[gpu].forecast;
    for (size_t n; from < to; from += n) {
        const double w = tmx_ahead_power(view->outlook[gpu].chip, level_of(m, from, to, &n));
        for (size_t u = 0; u < f->modes.n_unit; u++) {
            m->power_w[u] = w * m->dyn_w[u];
        }
        tmx_forecast_advance(f, n, m->power_w, m->later);
    }
}

/* What the last tick's work warmed, by the stat table: m->work_k, and m->part_k of the SMs; m->work_then when
 * the readings were taken, `back` parts ago. The mean of the last [K]. */
static double work_warmed(const struct tmx_view *view, size_t gpu, size_t back, struct mind *m)
{
    const struct tmx_chip *c = view->outlook[gpu].chip;
    const struct tmx_forecast *f = view->outlook[gpu].forecast;
    double mean_k = 0;
    memset(m->later, 0, f->modes.mode_row * sizeof *m->later);
    memset(m->power_w, 0, f->modes.unit_row * sizeof *m->power_w);
    work_goes_by(view, gpu, m, 0, TMX_FORECAST_PARTS - back);
    tmx_forecast_read(f, m->later, m->power_w, m->work_k);
    tmx_ahead_sms(c, m->work_k, m->work_then);
    if (back > 0) {
        work_goes_by(view, gpu, m, TMX_FORECAST_PARTS - back, TMX_FORECAST_PARTS);
        tmx_forecast_read(f, m->later, m->power_w, m->work_k);
    }
    tmx_ahead_sms(c, m->work_k, m->part_k);
    for (size_t s = 0; s < c->n_sm; s++) {
        mean_k += m->work_then[s] / (double)c->n_sm;
    }
    return mean_k;
}

/* Phases come back: for how many ticks the factor stays down after a fall, at least. What moves in the first
 * ticks after a fall is the observer finding its state. */
static void keep_time(struct mind *m, double before, double more)
{
    /* set by hand on WL3, WL7 and WL8 under phases, as those below: docs/notes/foresight.md */
    const double step = 0.05, low = 0.9; /* a jump, of the factor; down, of the highest */
    const double slow = 0.25, first = 3; /* of a longer stay, what is believed; ticks that do not count */
    const bool down = m->scalar[FACTOR] < low * m->scalar[HIGHEST];
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
    const double before = m->scalar[FACTOR], sure_k = fabs(jump_k) > noise_k ? jump_k : 0;
    m->scalar[FACTOR] = fmin(4, fmax(0.25, before + sure_k / work_k));
    const double more = m->scalar[FACTOR] - before;
    m->scalar[DRIFT] += drift_gain * (jump_k - more * work_k);
    for (size_t k = 0; k < f->modes.mode_row; k++) {
        m->z[k] += more * m->later[k];
    }
    for (size_t u = 0; u < f->modes.n_unit; u++) {
        m->unit_k[u] += more * m->work_k[u];
    }
    for (size_t s = 0; s < c->n_sm; s++) {
        m->sm_k[s] += more * m->part_k[s];
        m->then_k[s] += more * m->work_then[s];
    }
    keep_time(m, before, more);
    const double forget = resting(o, m) ? 0 : o->forget; /* it comes back */
    m->scalar[HIGHEST] =
        fmax(m->scalar[FACTOR], m->scalar[HIGHEST] + forget * (m->scalar[FACTOR] - m->scalar[HIGHEST]));
    return more * work_k;
}

/* How old the readings are, in parts of a tick; a tick at most. */
static size_t parts_ago(const struct tmx_view *view, size_t gpu)
{
    const double parts = round(TMX_FORECAST_PARTS * view->outlook[gpu].delay_s / view->quantum_s);
    return (size_t)fmin(parts, TMX_FORECAST_PARTS);
}

/* Where the last tick led to, and what the sensors say to that: m->unit_k and m->sm_k are temperatures now.
 */
static void observe(const struct foresight *o, const struct tmx_view *view, size_t gpu, struct mind *m)
{
    const struct tmx_gpu_view *hw = view->node->gpus[gpu];
    const struct tmx_chip *c = view->outlook[gpu].chip;
    const struct tmx_forecast *f = view->outlook[gpu].forecast;
    const double *sensed_k = view->sensed_k + hw->sm0, n = (double)c->n_sm;
    const bool started = m->scalar[STARTED] > 0;
    const size_t back = o->late ? parts_ago(view, gpu) : 0;
    double work_k = 0;
    if (!started) {
        m->scalar[FACTOR] = m->scalar[HIGHEST] = 1;
        const double volt = (tmx_ahead_volt(c, 0) + tmx_ahead_volt(c, c->n_level - 1)) / 2;
        m->scalar[HOLD] = hold_k(o, &view->outlook[gpu], view->limit_k, volt, m);
    } else {
        work_k = o->learn ? work_warmed(view, gpu, back, m) : 0;
        go_by(view, gpu, m, 0, TMX_FORECAST_PARTS - back);
    }
    tmx_forecast_read(f, m->z, started ? m->power_w : NULL, m->unit_k);
    tmx_ahead_sms(c, m->unit_k, m->then_k);
    if (started && back > 0) {
        go_by(view, gpu, m, TMX_FORECAST_PARTS - back, TMX_FORECAST_PARTS);
        tmx_forecast_read(f, m->z, m->power_w, m->unit_k);
    }
    tmx_ahead_sms(c, m->unit_k, m->sm_k);
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
    for (size_t u = 0; u < f->modes.n_unit; u++) {
        m->unit_k[u] += offset_k + (c->sm_of_unit[u] == TMX_NO_SM ? 0 : m->b[c->sm_of_unit[u]]);
        m->leak_w[u] = o->leak_scale * view->outlook[gpu].still.leak_w[u] *
                       view->outlook[gpu].still.factor(view->outlook[gpu].still.table, m->unit_k[u]);
    }
    m->scalar[EXPECTED] = m->scalar[resting(o, m) ? FACTOR : HIGHEST];
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
    const double w = m->scalar[EXPECTED] * tmx_ahead_power(c, level), v = tmx_ahead_volt(c, level);
    double peak = 0;
    for (size_t s = 0; s < c->n_sm; s++) {
        peak = fmax(peak, m->free_k[s] + w * m->a_k[s] + v * m->l_k[s] + (part_k ? part_k[s] : 0));
    }
    return peak;
}

/* Temperatures at the end of the tick: m->free_k, m->a_k, m->l_k. */
static void predict(const struct tmx_view *view, size_t gpu, struct mind *m)
{
    const struct tmx_chip *c = view->outlook[gpu].chip;
    const struct tmx_forecast *f = view->outlook[gpu].forecast;
    const double *decay = f->decay[TMX_FORECAST_PARTS], *step = f->step[TMX_FORECAST_PARTS];
    for (size_t k = 0; k < f->modes.mode_row; k++) {
        m->later[k] = decay[k] * m->z[k];
    }
    tmx_forecast_read(f, m->later, NULL, m->unit_k);
    tmx_forecast_add(f, step, view->outlook[gpu].still.baseline_w, m->unit_k);
    tmx_ahead_sms(c, m->unit_k, m->free_k);
    for (size_t s = 0; s < c->n_sm; s++) {
        m->free_k[s] += f->modes.ambient_k + m->scalar[COMMON] + m->b[s];
    }
    rise(f, c, step, m->dyn_w, m->unit_k, m->a_k);
    rise(f, c, step, m->leak_w, m->unit_k, m->l_k);
}

/* The longest last part of the tick, in tenths, that may run one level faster. */
static size_t faster_part(const struct tmx_view *view, size_t gpu, struct mind *m, size_t level,
                          double limit_k)
{
    const struct tmx_chip *c = view->outlook[gpu].chip;
    const struct tmx_forecast *f = view->outlook[gpu].forecast;
    const double dw = m->scalar[EXPECTED] * (tmx_ahead_power(c, level - 1) - tmx_ahead_power(c, level));
    const double dv = tmx_ahead_volt(c, level - 1) - tmx_ahead_volt(c, level);
    for (size_t u = 0; u < f->modes.n_unit; u++) {
        m->power_w[u] = dw * m->dyn_w[u] + dv * m->leak_w[u];
    }
    for (size_t part = TMX_FORECAST_PARTS - 1; part > 0; part--) {
        const double ticks = view->quantum_s * (double)part / TMX_FORECAST_PARTS / view->dt_s;
        if (fabs(ticks - round(ticks)) > 1e-6 * ticks) {
            continue;
        }
        rise(f, c, f->step[part], m->power_w, m->unit_k, m->part_k);
        if (peak_k(c, m, level, m->part_k) <= limit_k) {
            return part;
        }
    }
    return 0;
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
        const double w = m->scalar[EXPECTED] * tmx_ahead_power(c, level), v = tmx_ahead_volt(c, level);
        double duty = 1;
        for (size_t s = 0; s < c->n_sm; s++) {
            if (m->a_k[s] > 0) {
                duty = fmin(duty, (limit_k - m->free_k[s] - v * m->l_k[s]) / (w * m->a_k[s]));
            }
        }
        duty = fmax(0.5, duty);
        r->rest = 1 - duty;
        m->scalar[SAVING] = fmin((double)(n_level - 1), m->scalar[SAVING] + save);
        for (size_t u = 0; u < c->floorplan.n_unit; u++) {
            m->dyn_w[u] *= duty;
        }
    } else if (level > 0 && o->parts) {
        late = faster_part(view, gpu, m, level, limit_k);
    }
    m->scalar[SAVING] = fmax(0, m->scalar[SAVING] - spend);
    r->level = level;
    r->late_level = late > 0 ? level - 1 : level;
    r->late_s = view->quantum_s * (double)late / TMX_FORECAST_PARTS;
    m->scalar[LEVEL] = (double)level;
    m->scalar[LATE_LEVEL] = (double)r->late_level;
    m->scalar[LATE_PARTS] = (double)late;
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
        at += lay_out(view, g, at, &m);
        observe(o, view, g, &m);
        const double limit_k = target_k(o, view, g, &m);
        tmx_ahead_work(&ahead, view, g, r, m.sm_k, m.g, m.x, m.dyn_w);
        predict(view, g, &m);
        choose_level(o, view, g, &m, limit_k, r);
    }
}

const struct tmx_mix_policy tmx_mix_foresight = {
    .base = {.name = "foresight",
             .doc = "Predict the end of the tick; mix, place and clock so that the limit is just kept.",
             .source = "docs/notes/foresight.md",
             .opts = opts,
             .state_size = sizeof(struct foresight)},
    .memory = memory,
    .foresees = true,
    .decide = decide,
    .spread = tmx_ahead_spread,
};

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The structure grows from one pole a GPU by what lowers the error and is told by the data; what is not is
 * left out by name. */
#include "measure/calibrate.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "measure/calibrate_work.h"
#include "measure/fit_problem.h"

/* ---- what the log holds ---- */

struct tmx_cal_range tmx_cal_range(const struct tmx_measured *log, enum tmx_log_quantity q, int gpu)
{
    struct tmx_cal_range r = {INFINITY, -INFINITY};
    for (size_t i = 0; i < log->n_series; i++) {
        const struct tmx_series *s = &log->series[i];
        for (size_t k = 0; s->q[q] && (gpu < 0 || (int)s->gpu == gpu) && k < s->n; k++) {
            if (!isnan(s->q[q][k])) {
                r.low = fmin(r.low, s->q[q][k]);
                r.high = fmax(r.high, s->q[q][k]);
            }
        }
    }
    return r;
}

static bool every_series_has(const struct tmx_measured *log, enum tmx_log_quantity q)
{
    bool all = true;
    for (size_t i = 0; i < log->n_series; i++) {
        all = all && log->series[i].q[q];
    }
    return all;
}

/* ---- growing the model ---- */

/* Equal parts: what sets the rows apart is their air. Where that is not told, nobody breathes another's. */
static enum tmx_status part_rows(struct tmx_cal_work *w, struct tmx_err *err)
{
    struct tmx_rc *m = &w->c->model;
    struct tmx_cal_state apart = {0};
    double junction = 0, sink = 0;
    enum tmx_status st = tmx_cal_save(w, &apart, err);
    for (size_t g = 0; g < m->n_gpu; g++) {
        junction += m->gpu[g].junction_k_per_w / (double)m->n_gpu;
        sink += m->gpu[g].sink_k_per_w / (double)m->n_gpu;
    }
    for (size_t g = 0; g < m->n_gpu; g++) {
        m->gpu[g].sink_k_per_w = sink;
        m->gpu[g].preheat_k_per_w = m->gpu[g].upstream >= 0 ? 0.1 * (junction + sink) : 0;
    }
    w->sink_shared = w->preheat = true;
    st = st ? st : tmx_cal_refit(w, true, err);
    if (!st && !tmx_cal_identified(tmx_cal_parameter(w, TMX_FIT_PREHEAT))) {
        tmx_cal_leave_out(w, "preheat_k_per_w", "rows do not differ: load one row alone, or two fan speeds");
        tmx_cal_go_back(w, &apart);
        for (size_t g = 0; g < m->n_gpu; g++) {
            m->gpu[g].upstream = TMX_RC_NONE;
            m->gpu[g].preheat_k_per_w = 0;
        }
        w->sink_shared = w->options->alike;
        w->preheat = w->c->air_found = false;
        st = tmx_cal_refit(w, true, err);
    }
    tmx_cal_state_finish(&apart);
    return st;
}

static enum tmx_status give_or_find_air(struct tmx_cal_work *w, struct tmx_err *err)
{
    const char *air = w->options->air ? w->options->air : "auto";
    enum tmx_status st = TMX_OK;
    bool any = false;
    if (strcmp(air, "auto") == 0) {
        tmx_cal_find_air(w);
    } else if (strcmp(air, "none") != 0) {
        st = tmx_cal_give_air(w, err);
    }
    for (size_t g = 0; g < w->c->model.n_gpu; g++) {
        any = any || w->c->model.gpu[g].upstream >= 0;
    }
    return st || !any ? st : part_rows(w, err);
}

/* Are the rows' watts means? */
static enum tmx_status try_means(struct tmx_cal_work *w, struct tmx_err *err)
{
    struct tmx_cal_state points = {0};
    struct tmx_err ignored = {0};
    if (w->c->power_is != TMX_POWER_AUTO) { /* is given */
        return TMX_OK;
    }
    const enum tmx_status st = tmx_cal_save(w, &points, err);
    w->c->model.power_is_mean = true;
    if (!st && (tmx_cal_refit(w, true, &ignored) || w->c->fit.rms_k > 0.998 * points.rms_k)) {
        tmx_cal_go_back(w, &points);
    }
    tmx_cal_state_finish(&points);
    return st;
}

/* As given: a mean over much less than a row is a moment, one over about a row is the row's, a longer one is
 * the power of half of it ago. */
static void give_power(struct tmx_cal_work *w)
{
    const double window = w->options->power_window_s;
    struct tmx_calibration *c = w->c;
    double step = INFINITY;
    for (size_t i = 0; i < w->log->n_series; i++) {
        step = fmin(step, w->log->series[i].step_s);
    }
    c->power_is = w->options->power_is;
    if (c->power_is == TMX_POWER_AUTO && strstr(c->model.power_from, "instant")) { /* power.draw.instant */
        c->power_is = TMX_POWER_INSTANT;
    }
    c->power_window_s = window;
    if (window > 0) {
        c->power_is = window > 0.5 * step && window <= 1.5 * step ? TMX_POWER_MEAN : TMX_POWER_INSTANT;
        c->model.power_lag_s = window > 1.5 * step ? 0.5 * window : 0;
    }
    c->model.power_is_mean = c->power_is == TMX_POWER_MEAN;
}

struct scale { /* of the log and of the model as it stands */
    double step_s, length_s, tau_s, r_k_per_w;
};

static struct scale scale_of(const struct tmx_cal_work *w)
{
    const struct tmx_rc *m = &w->c->model;
    struct scale s = {INFINITY, 0, m->gpu[0].sink_j_per_k * m->gpu[0].sink_k_per_w,
                      tmx_cal_static_k_per_w(m, 0, m->rpm_ref)};
    for (size_t i = 0; i < w->log->n_series; i++) {
        const struct tmx_series *r = &w->log->series[i];
        s.step_s = fmin(s.step_s, r->step_s);
        s.length_s = fmax(s.length_s, r->q[TMX_Q_TIME][r->n - 1]);
    }
    return s;
}

static enum tmx_status try_fan_law(struct tmx_cal_work *w, const struct scale *s, struct tmx_err *err)
{
    struct tmx_rc *m = &w->c->model;
    const struct tmx_cal_trial exponent = {.flag = &w->exponent,
                                           .kinds = {TMX_FIT_EXPONENT},
                                           .n_kind = 1,
                                           .value = {&m->fan_exponent},
                                           .start = {{0.8}, {1.6}},
                                           .n_start = 2,
                                           .gain = 0.02,
                                           .name = "fan_exponent",
                                           .why = "0.8 taken: hold the same load at two fan speeds"};
    const struct tmx_cal_trial base = {.flag = &w->base,
                                       .kinds = {TMX_FIT_SINK_BASE},
                                       .n_kind = 1,
                                       .value = {&m->sink_base_k_per_w},
                                       .start = {{0.3 * s->r_k_per_w}},
                                       .n_start = 1,
                                       .gain = 0.02,
                                       .name = "sink_base_k_per_w",
                                       .why = "0 taken: hold the same load at three fan speeds"};
    if (!w->c->fan_varies) {
        return TMX_OK;
    }
    const enum tmx_status st = tmx_cal_try(w, &exponent, err);
    return st ? st : tmx_cal_try(w, &base, err);
}

static enum tmx_status try_poles(struct tmx_cal_work *w, const struct scale *s, struct tmx_err *err)
{
    struct tmx_rc *m = &w->c->model;
    const double r = s->r_k_per_w, tau = s->tau_s, step = s->step_s;
    const struct tmx_cal_trial die = {
        .flag = &w->die,
        .kinds = {TMX_FIT_DIE, TMX_FIT_DIE_S},
        .n_kind = 2,
        .value = {&(double){0}, &m->die_s},
        .start = {{0.2 * r, fmax(2 * step, tau / 40)}, {0.2 * r, tau / 6}, {0.2 * r, 4 * step}},
        .n_start = tau > 6 * step ? 3 : 0,
        .gain = 0.02,
        .name = "die_k_per_w, die_s",
        .why = "a second, faster pole does not show: log at a tenth of its time constant, through steps of "
               "load"};
    const struct tmx_cal_trial kase = {
        .flag = &w->kase,
        .kinds = {TMX_FIT_CASE, TMX_FIT_CASE_S},
        .n_kind = 2,
        .value = {&m->case_k_per_w, &m->case_s},
        .start = {{0.1 * r, 4 * tau}, {0.1 * r, 20 * tau}},
        .n_start = s->length_s > 3 * tau ? 2 : 0,
        .gain = 0.02,
        .name = "case_k_per_w, case_s",
        .why = "a warming case does not show: half an hour of steady load, then half an hour idle"};
    const enum tmx_status st = w->die ? TMX_OK : tmx_cal_try(w, &die, err);
    return st ? st : tmx_cal_try(w, &kase, err);
}

static enum tmx_status try_chassis(struct tmx_cal_work *w, struct tmx_err *err)
{
    struct tmx_rc *m = &w->c->model;
    const struct tmx_cal_trial chassis = {.flag = &w->chassis,
                                          .kinds = {TMX_FIT_CHASSIS},
                                          .n_kind = 1,
                                          .value = {&m->chassis_k},
                                          .start = {{1}},
                                          .n_start = 1,
                                          .gain = 0.01,
                                          .name = "chassis_k",
                                          .why = "no sign of air warmed before it reaches the GPUs"};
    if (w->c->fan_varies) {
        return tmx_cal_try(w, &chassis, err);
    }
    tmx_cal_leave_out(w, "fan law",
                      m->rpm_ref > 0 ? "one fan speed only: log the same load at a second one"
                                     : "no fan speed in rpm: the resistance holds for this fan curve only "
                                       "(percent will do: --column fan_rpm=NAME)");
    return TMX_OK;
}

static enum tmx_status try_lag(struct tmx_cal_work *w, double step, struct tmx_err *err)
{
    const struct tmx_cal_trial lag = {.flag = &w->lag,
                                      .kinds = {TMX_FIT_LAG},
                                      .n_kind = 1,
                                      .value = {&w->c->model.power_lag_s},
                                      .start = {{0.3 * step}, {-0.3 * step}},
                                      .n_start = 2,
                                      .gain = 0.01,
                                      .name = "power_lag_s",
                                      .why = "power and temperature of a row belong together"};
    return w->c->power_window_s > 0 ? TMX_OK : tmx_cal_try(w, &lag, err);
}

/* A capacity for each sink, where that lowers the error and every one is told, one of them apart from the
 * rest. */
static enum tmx_status try_capacities(struct tmx_cal_work *w, struct tmx_err *err)
{
    struct tmx_calibration *c = w->c;
    struct tmx_cal_state shared = {0};
    struct tmx_err ignored = {0};
    if (c->model.n_gpu < 2) {
        return TMX_OK;
    }
    const enum tmx_status st = tmx_cal_save(w, &shared, err);
    w->c_near = c->model.gpu[0].sink_j_per_k;
    w->c_apart = true;
    bool good = !st && !tmx_cal_refit(w, true, &ignored) && c->fit.rms_k < 0.99 * shared.rms_k, apart = false;
    for (size_t k = 0; good && k < c->fit.n_parameter; k++) {
        const struct tmx_fit_parameter *p = &c->parameter[k];
        if (p->kind == TMX_FIT_SINK_C) {
            good = tmx_cal_identified(p);
            apart = apart || fabs(log(p->value / w->c_near)) > 1.96 * p->error / p->value;
        }
    }
    if (!st && (!good || !apart)) {
        tmx_cal_go_back(w, &shared);
        w->c_apart = false;
        tmx_cal_leave_out(w, "sink_j_per_k of each GPU",
                          "one for all: the log does not tell them apart; steps of load held for three time "
                          "constants, logged at a tenth of one");
    }
    tmx_cal_state_finish(&shared);
    return st;
}

static enum tmx_status grow_model(struct tmx_cal_work *w, struct tmx_err *err)
{
    enum tmx_status st = tmx_cal_first_guess(w, err);
    w->sink_shared = w->options->alike;
    st = st ? st : tmx_cal_refit(w, true, err);
    st = st ? st : tmx_cal_judge_offsets(w, err);
    st = st ? st : give_or_find_air(w, err);
    st = st ? st : try_means(w, err);
    const struct scale s = scale_of(w);
    st = st ? st : try_fan_law(w, &s, err);
    st = st ? st : try_poles(w, &s, err);
    st = st ? st : try_chassis(w, err);
    st = st ? st : try_lag(w, s.step_s, err);
    if (!st && w->sink_shared && !w->options->alike) {
        w->sink_near = w->c->model.gpu[0].sink_k_per_w;
        w->sink_shared = false;
        st = tmx_cal_refit(w, true, err);
    }
    st = st ? st : tmx_cal_judge_offsets(w, err);
    return st ? st : try_capacities(w, err);
}

static enum tmx_status find_leak(struct tmx_cal_work *w, struct tmx_err *err)
{
    struct tmx_leak *leak = &w->c->leak;
    const enum tmx_status st = tmx_leak_slope(leak, w->log, w->options->same_work, err);
    w->c->model.leak_per_k = !st && leak->identified ? leak->per_k : 0;
    if (!st && !leak->identified) {
        tmx_cal_leave_out(w, "leak_per_k", leak->why);
    }
    return st;
}

/* ---- the whole ---- */

/* An offset that the log does not tell stays near 0, as sensors and air of one kind are alike: assumed. */
static void held_offset(struct tmx_cal_work *w, struct tmx_fit_parameter *p)
{
    const double spread = tmx_fit_spread(p);
    const bool strained = fabs(p->value) > 3 * spread;
    snprintf(p->why, sizeof p->why,
             "held near 0 by what is assumed of sensors (%.2g K)%s; would need a longer idle part", spread,
             strained ? ", and yet far from it" : "");
    if (strained) {
        tmx_log_say(w->say, TMX_LOG_WARNING,
                    "GPU %s: its air or sensor is %.1f K or more apart from the first GPU's, which this log "
                    "does not tell well: "
                    "its resistances lean on what is assumed (%.2g K); log a longer idle part",
                    w->c->model.gpu[p->gpu].name, p->value, spread);
    }
}

static void judge_identified(struct tmx_cal_work *w)
{
    struct tmx_calibration *c = w->c;
    for (size_t k = 0; k < c->fit.n_parameter; k++) {
        struct tmx_fit_parameter *p = &c->parameter[k];
        const bool number =
            p->kind == TMX_FIT_OFFSET || p->kind == TMX_FIT_AMBIENT || p->kind == TMX_FIT_AIR_RISE;
        p->identified = p->kind == TMX_FIT_OFFSET ? w->offset_identified[p->gpu]
                        : number                  ? p->error < 5
                                                  : tmx_cal_identified(p);
        if (p->kind == TMX_FIT_OFFSET && !p->identified) {
            held_offset(w, p);
        } else if (!p->identified) {
            const char *why = p->kind == TMX_FIT_JUNCTION
                                  ? "steps of load logged faster than the sink's time constant"
                              : number ? "a longer idle part"
                                       : "a larger step of power, held for three time constants";
            snprintf(p->why, sizeof p->why, "would need %s", why);
        }
    }
}

static enum tmx_status begin(struct tmx_cal_work *w, struct tmx_err *err)
{
    struct tmx_calibration *c = w->c;
    const struct tmx_measured *log = w->log;
    const struct tmx_calibrate_options *o = w->options;
    c->model.gpu = calloc(log->n_gpu + 1, sizeof *c->model.gpu);
    c->ambient_c = calloc(log->n_run + 1, sizeof *c->ambient_c);
    c->parameter = calloc(4 * log->n_gpu + log->n_run + 16, sizeof *c->parameter);
    if (!c->model.gpu || !c->ambient_c || !c->parameter) {
        return tmx_fail(err, TMX_ENOMEM, "%zu GPUs", log->n_gpu);
    }
    for (size_t g = 0; g < log->n_gpu; g++) {
        bool there = false;
        for (size_t i = 0; i < log->n_series; i++) {
            there = there || log->series[i].gpu == g;
        }
        if (there) {
            struct tmx_rc_gpu *gpu = &c->model.gpu[c->model.n_gpu++];
            gpu->upstream = TMX_RC_NONE;
            snprintf(gpu->name, sizeof gpu->name, "%s", log->gpu[g]);
        }
    }
    const struct tmx_cal_range p = tmx_cal_range(log, TMX_Q_POWER, -1),
                               t = tmx_cal_range(log, TMX_Q_TEMP, -1), n = tmx_cal_range(log, TMX_Q_RPM, -1);
    if (p.high - p.low < fmax(2, 0.05 * p.high) || t.high - t.low < 3) {
        return tmx_fail(err, TMX_ERANGE,
                        "power goes from %.1f to %.1f W and temperature from %.1f to %.1f degC: nothing can "
                        "be identified; "
                        "log idle, a step of load held for minutes, and idle again",
                        p.low, p.high, t.low, t.high);
    }
    if (p.high - p.low < 0.5 * p.high) {
        tmx_log_say(
            w->say, TMX_LOG_WARNING,
            "power goes from %.0f to %.0f W only: temperatures at other powers will lean on little; train on "
            "runs from idle to the highest",
            p.low, p.high);
    }
    c->model.power_low_w = p.low;
    c->model.power_high_w = p.high;
    const bool rpm = n.high > 0;
    c->model.fan_exponent = 0.8;
    c->model.rpm_ref = rpm ? n.high : o->rpm;
    c->fan_varies = rpm && (n.low < 0.9 * n.high || (o->rpm > 0 && fabs(o->rpm - n.high) > 0.1 * n.high));
    c->fit = (struct tmx_fit){.model = &c->model,
                              .log = log,
                              .from = 0,
                              .to = o->split > 0 && o->split < 1 ? o->split : 1,
                              .ambient_c = c->ambient_c,
                              .rpm = o->rpm,
                              .inlet = o->ambient == TMX_AMBIENT_INLET};
    if (o->ambient == TMX_AMBIENT_INLET && !every_series_has(log, TMX_Q_INLET)) {
        return tmx_fail(err, TMX_ECONFIG,
                        "ambient inlet: not every run has a column of inlet air; --ambient fit fits it");
    }
    for (size_t r = 0; r < log->n_run; r++) {
        c->ambient_c[r] = o->ambient == TMX_AMBIENT_GIVEN ? o->ambient_c : t.low - 5;
    }
    tmx_measured_source(log, TMX_Q_POWER, c->model.power_from, sizeof c->model.power_from);
    c->model.ambient_fitted = !c->fit.inlet && o->ambient != TMX_AMBIENT_GIVEN;
    c->rest_rms_k = NAN;
    give_power(w);
    return TMX_OK;
}

/* ---- long logs: the structure is found on a part of the rows, the values are fitted to all ---- */

enum { LONG_ROWS = 60000, PART_ROWS = 20000, LEAST_PART = 2000 };

static size_t rows_of(const struct tmx_measured *log)
{
    size_t n = 0;
    for (size_t i = 0; i < log->n_series; i++) {
        n += log->series[i].n;
    }
    return n;
}

/* Where the n rows in a row begin whose power varies most. */
static size_t liveliest(const struct tmx_series *s, size_t n)
{
    size_t best = 0;
    double most = -1;
    for (size_t first = 0; first + n <= s->n; first += n / 4) {
        double mean = 0, m2 = 0;
        for (size_t k = 0; k < n; k++) {
            const double d = s->q[TMX_Q_POWER][first + k] - mean;
            mean += d / (double)(k + 1);
            m2 += d * (s->q[TMX_Q_POWER][first + k] - mean);
        }
        if (m2 > most) {
            most = m2;
            best = first;
        }
    }
    return best;
}

/* A view of n rows of a series; its times are its own, from 0. */
static enum tmx_status view_rows(struct tmx_series *s, size_t n, struct tmx_err *err)
{
    const size_t first = liveliest(s, n);
    double *time_s = malloc(n * sizeof *time_s);
    if (!time_s) {
        return tmx_fail(err, TMX_ENOMEM, "%zu rows", n);
    }
    for (size_t k = 0; k < n; k++) {
        time_s[k] = s->q[TMX_Q_TIME][first + k] - s->q[TMX_Q_TIME][first];
    }
    for (size_t q = 0; q < TMX_N_LOG_QUANTITY; q++) {
        s->q[q] = s->q[q] ? s->q[q] + first : NULL;
    }
    s->q[TMX_Q_TIME] = time_s;
    s->line = s->line ? s->line + first : NULL;
    s->n = n;
    return TMX_OK;
}

static void part_finish(struct tmx_measured *part, const struct tmx_measured *log)
{
    for (size_t i = 0; part->series && i < part->n_series; i++) {
        if (part->series[i].n < log->series[i].n) {
            free(part->series[i].q[TMX_Q_TIME]);
        }
    }
    free(part->series);
}

/* The same share of every series, shallow. */
static enum tmx_status part_of(struct tmx_measured *part, const struct tmx_measured *log, struct tmx_err *err)
{
    const double share = (double)PART_ROWS / (double)rows_of(log);
    enum tmx_status st = TMX_OK;
    *part = *log;
    part->series = malloc((log->n_series + 1) * sizeof *part->series);
    if (!part->series) {
        return tmx_fail(err, TMX_ENOMEM, "%zu series", log->n_series);
    }
    memcpy(part->series, log->series, log->n_series * sizeof *part->series);
    for (size_t i = 0; !st && i < part->n_series; i++) {
        const size_t n = (size_t)fmax(share * (double)log->series[i].n, LEAST_PART);
        st = n < log->series[i].n ? view_rows(&part->series[i], n, err) : TMX_OK;
    }
    return st;
}

/* As grow_model, on a part of a long log; the values that it ends with are where the fit to all begins. */
static enum tmx_status grow_on_part(struct tmx_cal_work *w, struct tmx_err *err)
{
    static const double ROW_US = 25; /* of the whole fit, a row, on one core of 2024 */
    const size_t n = rows_of(w->log);
    struct tmx_measured part = {0};
    if (n <= LONG_ROWS) {
        return grow_model(w, err);
    }
    const struct tmx_measured *log = w->log;
    enum tmx_status st = part_of(&part, log, err);
    if (!st) {
        tmx_log_say(
            w->say, TMX_LOG_INFO,
            "%zu rows: which parts the model has is found on %zu of them, where the power varies most; "
            "its values are fitted to all (about %.0f s)",
            n, rows_of(&part), ceil(1e-6 * ROW_US * (double)n));
        w->log = w->c->fit.log = &part;
        st = grow_model(w, err);
        w->log = w->c->fit.log = log;
    }
    part_finish(&part, log);
    return st;
}

enum tmx_status tmx_calibrate(struct tmx_calibration *c, const struct tmx_measured *log,
                              const struct tmx_calibrate_options *options, const struct tmx_log *say,
                              struct tmx_err *err)
{
    struct tmx_cal_work w = {.c = c, .log = log, .options = options, .say = say};
    *c = (struct tmx_calibration){0};
    w.offset_identified = calloc(log->n_gpu + 1, sizeof *w.offset_identified);
    enum tmx_status st =
        w.offset_identified ? begin(&w, err) : tmx_fail(err, TMX_ENOMEM, "%zu GPUs", log->n_gpu);
    st = st ? st : grow_on_part(&w, err);
    st = st ? st : find_leak(&w, err);
    st = st ? st : tmx_cal_refit(&w, true, err);
    if (!st) {
        judge_identified(&w);
        tmx_cal_print_air(c);
    }
    if (!st && c->fit.to < 1) {
        st = tmx_cal_judge_rest(&w, err);
    } else if (!st && options->leave_one_out) {
        st = tmx_cal_leave_one_out(&w, err);
    }
    free(w.offset_identified);
    return st;
}

void tmx_calibration_finish(struct tmx_calibration *c)
{
    tmx_rc_finish(&c->model);
    free(c->parameter);
    free(c->ambient_c);
    free(c->leave_one_out);
    *c = (struct tmx_calibration){0};
}

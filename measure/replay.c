/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A log's watts through a calibrated model: how far its temperatures are from the measured ones, and what the
 * log would have been otherwise.
 *
 * As logged, the start of each sink and, where the log has no inlet air, one ambient a run are fitted
 * (fit.c); everything else is the calibration's. A what-if is a copy of the log with other watts, fans or
 * air, predicted from the same starts and ambients. Fans on a curve are a fixed point, fan -> temperature ->
 * fan: each round goes half of the way, until no speed moves by more than 1e-4.
 *
 * How far a what-if may be off. The row as logged was measured, so only what the what-if changes can be
 * wrong. The parameters of the calibration err along directions k, by one standard deviation and each apart
 * from the others:
 *
 *      e_k = d (T_if - T_logged) / d k         error = 1.96 sqrt(sum of e_k^2 + rms^2)
 *
 * by central differences, in which a fitted ambient is fitted again; rms: what the model misses in this log.
 */
#include "measure/replay.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/curve.h"
#include "base/os.h"
#include "base/text.h"

enum { MAX_CURVE = 16, MAX_SWAP = 8 };

struct what_if {
    double inlet_c, rpm, cap_w, scale; /* NAN: as it is; scale 1 */
    double inlet_plus_k;
    double curve_c[MAX_CURVE], curve_rpm[MAX_CURVE];
    size_t n_curve;
    char swap[MAX_SWAP][2][64];
    size_t n_swap;
};

/* ---- reading what-ifs ---- */

static bool number(const char *begin, const char *end, double *v)
{
    return tmx_span_real((struct tmx_span){begin, end}, v);
}

/* A temperature: "32" or "32C"; a difference may be "8K". */
static bool temperature(const char *begin, const char *end, double *v)
{
    char text[48];
    const size_t n = (size_t)(end - begin);
    if (number(begin, end, v) || n + 1 > sizeof text) {
        return n + 1 <= sizeof text;
    }
    snprintf(text, sizeof text, "%.*s", (int)n, begin);
    return tmx_celsius_read(text, v);
}

static void read_curve(struct what_if *w, const char *text, struct tmx_err *err)
{
    for (const char *p = text; *p;) {
        const char *end = strchr(p, ','), *colon = strchr(p, ':');
        end = end ? end : p + strlen(p);
        const size_t i = w->n_curve;
        if (i == MAX_CURVE || !colon || colon > end || !temperature(p, colon, &w->curve_c[i]) ||
            !number(colon + 1, end, &w->curve_rpm[i]) || !(w->curve_rpm[i] > 0) ||
            (i > 0 && w->curve_c[i] <= w->curve_c[i - 1])) {
            tmx_error(
                err, TMX_ECONFIG,
                "fan_curve=%s: expected up to %d points degC:rpm with rising temperatures, 30:3000,60:9000",
                text, MAX_CURVE);
            return;
        }
        w->n_curve++;
        p = *end ? end + 1 : end;
    }
    if (w->n_curve == 0) {
        tmx_error(err, TMX_ECONFIG, "fan_curve= is empty");
    }
}

static void read_swap(struct what_if *w, const char *text, const struct tmx_rc *m,
                      const struct tmx_measured *log, struct tmx_err *err)
{
    const char *colon = strchr(text, ':');
    if (!colon || w->n_swap == MAX_SWAP || colon - text > 63 || strlen(colon + 1) > 63) {
        tmx_error(err, TMX_ECONFIG, "swap=%s: expected two GPUs, 0:3", text);
        return;
    }
    char(*s)[64] = w->swap[w->n_swap++];
    snprintf(s[0], sizeof s[0], "%.*s", (int)(colon - text), text);
    snprintf(s[1], sizeof s[1], "%s", colon + 1);
    for (size_t i = 0; i < 2; i++) {
        bool there = false;
        for (size_t k = 0; k < log->n_series; k++) {
            there = there || strcmp(log->gpu[log->series[k].gpu], s[i]) == 0;
        }
        if (tmx_rc_find(m, s[i]) == m->n_gpu || !there) {
            tmx_error(err, TMX_ECONFIG, "swap=%s: there is no GPU \"%s\"%s", text, s[i],
                      there ? "" : " in the log");
        }
    }
    if (strcmp(s[0], s[1]) == 0) {
        tmx_error(err, TMX_ECONFIG, "swap=%s: expected two GPUs", text);
    }
}

static void read_what_ifs(struct what_if *w, const char *const *set, const struct tmx_rc *m,
                          const struct tmx_measured *log, struct tmx_err *err)
{
    const struct {
        double *at, low, high;
    } numbers[] = {{&w->inlet_c, -60, 90},
                   {&w->inlet_plus_k, -60, 60},
                   {&w->rpm, 1, 60000},
                   {&w->cap_w, 1, 5000}, /* no board runs on less */
                   {&w->scale, 0.01, 100}};
    static const char *const names[] = {"inlet_c",     "inlet_plus_k", "fan_rpm", "power_cap_w",
                                        "power_scale", "fan_curve",    "swap"}; /* the first: those numbers */
    enum { N_NAME = sizeof names / sizeof names[0], FAN_CURVE = sizeof numbers / sizeof numbers[0], SWAP };
    bool given[N_NAME + 1] = {false}; /* the last: a word that is none of them */
    *w = (struct what_if){.inlet_c = NAN, .rpm = NAN, .cap_w = NAN, .scale = 1};
    for (size_t i = 0; !err->code && i < TMX_MAX_WHAT_IF && set[i]; i++) {
        const char *eq = strchr(set[i], '=');
        char name[64];
        snprintf(name, sizeof name, "%.*s", eq ? (int)(eq - set[i]) : 0, set[i]);
        if (eq && eq[1] == '+' && strcmp(name, "inlet_c") == 0) {
            eq++;
            snprintf(name, sizeof name, "inlet_plus_k");
        }
        const size_t k = tmx_names_find(name, names, N_NAME);
        if (given[k] && k != SWAP) {
            tmx_error(err, TMX_ECONFIG, "--set %s: %s is given twice", set[i], name);
        }
        given[k] = true;
        if (k < FAN_CURVE) {
            const char *end = eq + strlen(eq);
            double *at = numbers[k].at;
            end -= at == &w->inlet_plus_k && end[-1] == 'K';
            if (!(at == &w->inlet_c ? temperature : number)(eq + 1, end, at) || *at < numbers[k].low ||
                *at > numbers[k].high) {
                tmx_error(err, TMX_ECONFIG, "--set %s: expected a number from %g to %g", set[i],
                          numbers[k].low, numbers[k].high);
            }
        } else if (k == FAN_CURVE) {
            read_curve(w, eq + 1, err);
        } else if (k == SWAP) {
            read_swap(w, eq + 1, m, log, err);
        } else {
            char hint[TMX_HINT_SIZE];
            tmx_error(err, TMX_ECONFIG, "--set %s: no such what-if%s", set[i],
                      tmx_suggest(hint, name, names, N_NAME));
        }
    }
    if (w->n_curve > 0 && !isnan(w->rpm)) {
        tmx_error(err, TMX_ECONFIG, "fan_rpm and fan_curve are two speeds of one fan: give one");
    }
    if ((w->n_curve || !isnan(w->rpm)) && !(m->rpm_ref > 0)) {
        tmx_error(err, TMX_ECONFIG,
                  "what-ifs of the fan need a calibration with fan speeds: this one knows none (give them to "
                  "thermix calibrate: --column fan_rpm=NAME, or --rpm N)");
    }
}

/* ---- a log as it would have been ---- */

static double *copy_of(struct tmx_arena *a, const double *v, size_t n, double other)
{
    double *p;
    TMX_TAKE(a, p, n);
    for (size_t i = 0; p && i < n; i++) {
        p[i] = v ? v[i] : other;
    }
    return p;
}

/* Into a, which knows whether it could be done. */
static void copy_log(struct tmx_measured *to, struct tmx_arena *a, const struct tmx_measured *log,
                     const struct what_if *w, const struct tmx_rc *m, const struct tmx_replay_options *o)
{
    *to = *log; /* names and times are shared; power, fan and inlet are its own */
    TMX_TAKE(a, to->series, log->n_series + 1);
    for (size_t i = 0; !a->failed && i < log->n_series; i++) {
        const struct tmx_series *s = &log->series[i];
        struct tmx_series *c = &to->series[i];
        *c = *s;
        c->q[TMX_Q_POWER] = copy_of(a, s->q[TMX_Q_POWER], s->n, 0);
        c->q[TMX_Q_RPM] =
            m->rpm_ref > 0 ? copy_of(a, s->q[TMX_Q_RPM], s->n, o->rpm > 0 ? o->rpm : m->rpm_ref) : NULL;
        c->q[TMX_Q_INLET] = s->q[TMX_Q_INLET] ? copy_of(a, s->q[TMX_Q_INLET], s->n, 0) : NULL;
        size_t from = s->gpu; /* whose work it does behind all swaps: the last is undone first */
        for (size_t k = w->n_swap; k-- > 0;) {
            const char *const *name = (const char *const *)log->gpu;
            const size_t one = tmx_names_find(w->swap[k][0], name, log->n_gpu),
                         two = tmx_names_find(w->swap[k][1], name, log->n_gpu);
            from = from == one ? two : from == two ? one : from;
        }
        const struct tmx_series *other = from == s->gpu ? NULL : tmx_measured_find(log, s->run, from);
        for (size_t j = 0; other && !a->failed && j < s->n; j++) { /* its power at this one's times */
            c->q[TMX_Q_POWER][j] = other->q[TMX_Q_POWER][tmx_series_at(other, s->q[TMX_Q_TIME][j])];
        }
        for (size_t k = 0; !a->failed && k < s->n; k++) {
            double *p = &c->q[TMX_Q_POWER][k];
            *p *= w->scale;
            *p = isnan(w->cap_w) ? *p : fmin(*p, w->cap_w);
            if (!isnan(w->rpm)) {
                c->q[TMX_Q_RPM][k] = w->rpm;
            }
            if (c->q[TMX_Q_INLET]) {
                c->q[TMX_Q_INLET][k] =
                    (isnan(w->inlet_c) ? c->q[TMX_Q_INLET][k] : w->inlet_c) + w->inlet_plus_k;
            }
        }
    }
}

/* ---- the replay ---- */

static void set_ambients(struct tmx_fit *f, const struct tmx_replay_options *o, const struct tmx_log *say,
                         struct tmx_err *err)
{
    const struct tmx_measured *log = f->log;
    size_t without = 0;
    for (size_t i = 0; i < log->n_series; i++) {
        without += log->series[i].q[TMX_Q_INLET] ? 0u : 1u;
    }
    f->inlet =
        o->ambient == TMX_AMBIENT_INLET || (o->ambient == TMX_AMBIENT_AUTO && !f->model->ambient_fitted);
    if (err->code) {
        return;
    }
    if (o->ambient == TMX_AMBIENT_INLET && without > 0) {
        tmx_error(err, TMX_ECONFIG,
                  "ambient inlet: %zu series have no column of inlet air; --ambient fit fits it", without);
    } else if (o->ambient == TMX_AMBIENT_AUTO && f->model->ambient_fitted && without < log->n_series) {
        tmx_log_say(say, TMX_LOG_INFO,
                    "one ambient a run is fitted, as in the calibration; --ambient inlet takes the log's");
    } else if (o->ambient == TMX_AMBIENT_AUTO && without > 0) {
        tmx_log_say(say, TMX_LOG_INFO, "%s no inlet air: one ambient a run is fitted",
                    without == log->n_series ? "the log has" : "some runs have");
    }
    if (o->ambient != TMX_AMBIENT_GIVEN) {
        tmx_fit_ambients(f, err);
    }
}

static void predict_all(const struct tmx_fit *f, const bool *known, double *start, double **temp,
                        struct tmx_arena *a, struct tmx_err *err)
{
    for (size_t i = 0; !err->code && i < f->log->n_series; i++) {
        if (known[i] && !temp[i] && !TMX_TAKE(a, temp[i], f->log->series[i].n)) {
            tmx_error(err, TMX_ENOMEM, "out of memory");
        } else if (known[i]) {
            tmx_fit_predict(f, i, &start[i], temp[i], err);
        }
    }
}

/* ---- how far a what-if may be off ---- */

struct errors {                 /* scratch of a direction in which the calibration's parameters may err */
    struct tmx_rc moved[2];     /* the model a little to either side */
    double half;                /* of the way between the two, in standard deviations */
    double *ambient_c[2];       /* [n_run] */
    double *temp[2], *if_so[2]; /* [rows of the longest series] as logged, and with the what-ifs */
};

/* What a fitted ambient makes good: the mean error of its run's rows, which set it. */
static void refit_ambients(struct errors *e, const struct tmx_fit *f, const bool *known,
                           double *const *logged, double *start, struct tmx_err *err)
{
    for (int side = 0; side < 2; side++) {
        struct tmx_fit g = *f;
        g.model = &e->moved[side];
        for (size_t run = 0; run < f->log->n_run; run++) {
            double sum = 0, n = 0;
            for (size_t i = 0; i < f->log->n_series; i++) {
                const struct tmx_series *s = &f->log->series[i];
                if (s->run != run || !known[i] || (f->inlet && s->q[TMX_Q_INLET])) {
                    continue;
                }
                tmx_fit_predict(&g, i, &start[i], e->temp[side], err);
                for (size_t k = 0; k < s->n && !err->code; k++) {
                    if (!isnan(s->q[TMX_Q_TEMP][k]) && tmx_series_share(s, k) <= f->to) {
                        sum += e->temp[side][k] - logged[i][k];
                        n += 1;
                    }
                }
            }
            e->ambient_c[side][run] = n > 0 ? -sum / n : 0;
        }
    }
}

/* Half of the 95 % interval of each row of the what-if, into r->error_k. As logged, the row was measured, and
 * the model misses it by its rms in this log; the calibration's parameters may err in what the what-if
 * changes, the difference of the two predictions. g: the fit on the log as it would have been. */
static void judge_errors(struct tmx_replay *r, const struct tmx_fit *f, const struct tmx_fit *g,
                         const struct what_if *w, const struct tmx_replay_options *o, const bool *known,
                         double *start, struct tmx_err *err)
{
    static const double TWO_SIDED_95 = 1.96, STEP = 1e-3;
    const struct tmx_fit_errors *of = o->errors;
    struct errors e = {.half = 0};
    const bool fitted = o->ambient != TMX_AMBIENT_GIVEN;
    size_t longest = 0;
    for (size_t i = 0; i < f->log->n_series; i++) {
        longest = f->log->series[i].n > longest ? f->log->series[i].n : longest;
        if (known[i]) {
            TMX_TAKE(&r->arena, r->error_k[i], f->log->series[i].n + 1);
        }
    }
    for (int side = 0; side < 2; side++) {
        TMX_TAKE(&r->arena, e.moved[side].gpu, f->model->n_gpu + 1);
        TMX_TAKE(&r->arena, e.ambient_c[side], f->log->n_run + 1);
        TMX_TAKE(&r->arena, e.temp[side], longest + 1);
        TMX_TAKE(&r->arena, e.if_so[side], longest + 1);
    }
    tmx_arena_check(&r->arena, err);
    for (size_t k = 0; k < of->n && !err->code; k++) {
        double most = 0;
        for (size_t i = 0; i < of->n; i++) {
            most = fmax(most, fabs(of->direction[k * of->n + i]));
        }
        e.half = most > 0 ? STEP / most : 0;
        for (int side = 0; side < 2; side++) { /* the model a thousandth to either side along the direction */
            tmx_rc_copy(&e.moved[side], f->model);
            for (size_t i = 0; i < of->n; i++) {
                tmx_fit_shift(&e.moved[side], &of->parameter[i],
                              (side ? 1 : -1) * e.half * of->direction[k * of->n + i]);
            }
        }
        if (e.half == 0) {
            continue;
        }
        if (fitted) {
            refit_ambients(&e, f, known, r->temp_c, start, err);
        }
        for (size_t i = 0; i < f->log->n_series; i++) {
            const struct tmx_series *s = &f->log->series[i];
            for (int side = 0; side < 2 && known[i]; side++) {
                struct tmx_fit as_logged = *f, if_so = *g;
                as_logged.model = if_so.model = &e.moved[side];
                tmx_fit_predict(&as_logged, i, &start[i], e.temp[side], err);
                tmx_fit_predict(&if_so, i, &start[i], e.if_so[side], err);
            }
            /* air that is given does not move with the run's ambient */
            const bool given = fitted && !isnan(w->inlet_c) && !(f->inlet && s->q[TMX_Q_INLET]);
            const double shift = given ? e.ambient_c[0][s->run] - e.ambient_c[1][s->run] : 0;
            for (size_t j = 0; j < s->n && known[i] && !err->code; j++) {
                const double d =
                    (e.if_so[1][j] - e.if_so[0][j] - e.temp[1][j] + e.temp[0][j] + shift) / (2 * e.half);
                r->error_k[i][j] += d * d;
            }
        }
    }
    for (size_t k = 0; k < r->n_row && !err->code; k++) {
        struct tmx_replay_row *row = &r->row[k];
        const size_t i = r->series[k], n = f->log->series[i].n;
        size_t hottest = 0;
        for (size_t j = 0; j < n; j++) {
            const double misses_k = isnan(row->rmse_k) ? 0 : row->rmse_k;
            r->error_k[i][j] = TWO_SIDED_95 * sqrt(r->error_k[i][j] + misses_k * misses_k);
            hottest = r->if_c[i][j] > r->if_c[i][hottest] ? j : hottest;
        }
        row->error_k = r->error_k[i][hottest];
    }
}

static void predict_what_if(struct tmx_replay *r, const struct tmx_fit *f, const struct what_if *w,
                            const struct tmx_replay_options *o, const bool *known, double *start,
                            struct tmx_err *err)
{
    struct tmx_measured other;
    struct tmx_arena own = {0};
    struct tmx_fit g = *f;
    copy_log(&other, &own, f->log, w, f->model, o);
    g.log = &other;
    TMX_TAKE(&own, g.ambient_c, f->log->n_run + 1);
    for (size_t k = 0; g.ambient_c && k < f->log->n_run; k++) {
        g.ambient_c[k] = (isnan(w->inlet_c) ? f->ambient_c[k] : w->inlet_c) + w->inlet_plus_k;
    }
    tmx_arena_check(&own, err);
    predict_all(&g, known, start, r->if_c, &r->arena, err);
    /* rounds of the fixed point fan -> temperature -> fan: every GPU of a run follows its hottest */
    double most = 1; /* change of a speed, in share of it */
    for (int round = 0; !err->code && w->n_curve && round < 60 && most >= 1e-4; round++) {
        most = 0;
        for (size_t i = 0; i < other.n_series; i++) {
            struct tmx_series *s = &other.series[i];
            for (size_t k = 0; r->if_c[i] && k < s->n; k++) {
                double hottest = r->if_c[i][k];
                for (size_t j = 0; j < other.n_series; j++) {
                    const struct tmx_series *u = &other.series[j];
                    if (u->run == s->run && r->if_c[j] && u->n > 0) {
                        hottest = fmax(hottest, r->if_c[j][tmx_series_at(u, s->q[TMX_Q_TIME][k])]);
                    }
                }
                const double rpm = tmx_curve_at(w->n_curve, w->curve_c, w->curve_rpm, 1, hottest),
                             before = s->q[TMX_Q_RPM][k];
                s->q[TMX_Q_RPM][k] = 0.5 * (before + rpm);
                most = fmax(most, fabs(rpm - before) / rpm);
            }
        }
        if (most >= 1e-4) {
            predict_all(&g, known, start, r->if_c, &r->arena, err);
        }
    }
    for (size_t k = 0; !err->code && k < r->n_row; k++) {
        struct tmx_replay_row *row = &r->row[k];
        const double *t = r->if_c[r->series[k]];
        const size_t n = f->log->series[r->series[k]].n;
        row->peak_if_c = -INFINITY;
        for (size_t i = 0; i < n; i++) {
            row->peak_if_c = fmax(row->peak_if_c, t[i]);
            row->mean_if_c += t[i] / (double)n;
        }
        row->error_k = NAN;
    }
    if (!err->code && o->errors && o->errors->known) {
        judge_errors(r, f, &g, w, o, known, start, err);
    }
    tmx_arena_finish(&own);
}

enum tmx_status tmx_replay(struct tmx_replay *r, const struct tmx_rc *model, const struct tmx_measured *log,
                           const struct tmx_replay_options *o, const struct tmx_log *say, struct tmx_err *err)
{
    static const double FAR = 1.25;
    struct tmx_rc own = *model;
    struct what_if w;
    const size_t n = log->n_series;
    struct tmx_err failed = {0};
    bool *known;
    double *start;
    *r = (struct tmx_replay){.what_if = o->what_if[0] != NULL};
    TMX_TAKE(&r->arena, r->row, n + 1);
    TMX_TAKE(&r->arena, r->temp_c, n + 1);
    TMX_TAKE(&r->arena, r->if_c, n + 1);
    TMX_TAKE(&r->arena, r->error_k, n + 1);
    TMX_TAKE(&r->arena, r->ambient_c, log->n_run + 1);
    TMX_TAKE(&r->arena, r->series, n + 1);
    TMX_TAKE(&r->arena, known, n + 1);
    TMX_TAKE(&r->arena, start, n + 1);
    struct tmx_fit f = {.model = &own,
                        .log = log,
                        .to = o->from > 0 ? o->from : 1,
                        .ambient_c = r->ambient_c,
                        .rpm = o->rpm,
                        .use = known};
    if (r->arena.failed) {
        return tmx_no_memory(err);
    }
    read_what_ifs(&w, o->what_if, model, log, &failed);
    if (o->rpm > 0 && !(model->rpm_ref > 0)) {
        tmx_error(&failed, TMX_ECONFIG, "--rpm does nothing: the calibration knows no fan speed");
    }
    r->covariance = o->errors && o->errors->n > 0;
    r->fans_held = !failed.code && isnan(w.rpm) && w.n_curve == 0;
    if (!failed.code) {
        /* a board's watts hold its memory and regulators, a chip's do not: one calibrated to the other is off
         * by kelvins */
        const struct tmx_log_column *power = tmx_measured_source(log, TMX_Q_POWER);
        const char *from = power ? power->name : "";
        if (model->power_from[0] && from[0] && tmx_word_compare(from, model->power_from) != 0) {
            tmx_log_say(
                say, TMX_LOG_WARNING,
                "the calibration's watts are the column \"%s\", this log's \"%s\": do they measure the "
                "same power? --column power_w=NAME takes another",
                model->power_from, from);
        }
        /* a calibration knows the powers it was fitted to; what is further away leans on its slopes; no cap
         * holds a board below what it draws idle */
        const struct tmx_series *most = NULL;
        double high_w = 0, idle_w = INFINITY;
        for (size_t i = 0; i < n; i++) {
            const struct tmx_range of = tmx_range_of(log->series[i].q[TMX_Q_POWER], log->series[i].n);
            const double high = fmin(w.scale * of.high, isnan(w.cap_w) ? INFINITY : w.cap_w);
            most = high > high_w ? &log->series[i] : most;
            high_w = fmax(high_w, high);
            idle_w = fmin(idle_w, w.scale * of.low);
        }
        if (w.cap_w < idle_w) {
            tmx_log_say(say, TMX_LOG_WARNING, "a cap of %g W: no GPU of the log ever draws less than %.0f W",
                        w.cap_w, idle_w);
        }
        if (model->power_high_w > 0 && high_w > FAR * model->power_high_w) {
            tmx_log_say(
                say, TMX_LOG_WARNING,
                "run %s reaches %.0f W, the calibration's log %.0f to %.0f W: errors grow with the distance",
                log->run[most->run], high_w, model->power_low_w, model->power_high_w);
        }
    }
    for (size_t i = 0; !failed.code && i < n; i++) {
        start[i] = NAN;
        known[i] = tmx_rc_find(model, log->gpu[log->series[i].gpu]) < model->n_gpu;
        if (known[i]) {
            r->series[r->n_row++] = i;
        } else {
            tmx_log_say(say, TMX_LOG_WARNING, "GPU %s is not in the calibration: left out",
                        log->gpu[log->series[i].gpu]);
        }
        if (known[i] && model->rpm_ref > 0 && !log->series[i].q[TMX_Q_RPM] && o->rpm <= 0) {
            tmx_log_say(
                say, TMX_LOG_WARNING,
                "run %s has no fan speed: taken to be %g rpm, that of the calibration; --rpm gives another",
                log->run[log->series[i].run], model->rpm_ref);
        }
    }
    if (r->n_row == 0) {
        tmx_error(&failed, TMX_ECONFIG,
                  "no GPU of the log is in the calibration (its first is \"%s\", the log's \"%s\")",
                  model->gpu[0].name, log->gpu[0]);
    }
    for (size_t k = 0; k < log->n_run; k++) {
        r->ambient_c[k] = o->ambient == TMX_AMBIENT_GIVEN ? o->ambient_c : 25;
    }
    set_ambients(&f, o, say, &failed);
    predict_all(&f, known, start, r->temp_c, &r->arena, &failed);
    for (size_t k = 0; !failed.code && k < r->n_row; k++) {
        const struct tmx_series *s = &log->series[r->series[k]];
        const double *temp_c = r->temp_c[r->series[k]];
        struct tmx_replay_row *row = &r->row[k];
        double sum = 0, bias = 0, all = 0;
        *row = (struct tmx_replay_row){.run = s->run, .gpu = s->gpu, .peak_c = -INFINITY};
        for (size_t i = 0; i < s->n; i++) {
            const double d = temp_c[i] - s->q[TMX_Q_TEMP][i];
            row->peak_c = fmax(row->peak_c, temp_c[i]);
            all += temp_c[i];
            if (!(tmx_series_share(s, i) < o->from) && !isnan(s->q[TMX_Q_TEMP][i])) {
                sum += d * d;
                bias += d;
                row->max_abs_k = fmax(row->max_abs_k, fabs(d));
                row->rows++;
            }
        }
        row->mean_c = all / (double)s->n;
        row->rmse_k = row->rows ? sqrt(sum / (double)row->rows) : NAN;
        row->bias_k = row->rows ? bias / (double)row->rows : NAN;
    }
    if (r->what_if && !failed.code) {
        predict_what_if(r, &f, &w, o, known, start, &failed);
    }
    return tmx_error_give(err, &failed);
}

void tmx_replay_finish(struct tmx_replay *r)
{
    tmx_arena_finish(&r->arena);
    *r = (struct tmx_replay){0};
}

struct tmx_table *tmx_replay_table(const struct tmx_replay *r, const struct tmx_measured *log)
{
    struct tmx_table *t = tmx_table_of(
        r->what_if ? "run gpu rows:d peak_c:1 peak_if_c:1 mean_c:1 mean_if_c:1 rmse_k:2 error_k:2"
                   : "run gpu rows:d rmse_k:2 bias_k:2 max_abs_k:2");
    for (size_t k = 0; k < r->n_row; k++) {
        const struct tmx_replay_row *row = &r->row[k];
        tmx_table_row(t, "%s %s %zu", log->run[row->run], log->gpu[row->gpu], row->rows);
        if (r->what_if) {
            tmx_table_row(t, "%G %G %G %G %G %G", row->peak_c, row->peak_if_c, row->mean_c, row->mean_if_c,
                          row->rmse_k, row->error_k);
        } else {
            tmx_table_row(t, "%G %G %G", row->rmse_k, row->bias_k, row->max_abs_k);
        }
    }
    return t;
}

struct tmx_table *tmx_replay_trace(const struct tmx_replay *r, const struct tmx_measured *log, bool stamps)
{
    struct tmx_table *t =
        tmx_table_of(r->what_if ? "run gpu time_s:3 power_w:1 measured_c:1 predicted_c:2 what_if_c:2"
                                : "run gpu time_s:3 power_w:1 measured_c:1 predicted_c:2");
    for (size_t k = 0; k < r->n_row; k++) {
        const struct tmx_series *s = &log->series[r->series[k]];
        for (size_t i = 0; i < s->n; i++) {
            tmx_table_row(t, "%s %s %g %g %G %g", log->run[s->run], log->gpu[s->gpu],
                          s->q[TMX_Q_TIME][i] + (stamps ? s->begin_s : 0), s->q[TMX_Q_POWER][i],
                          s->q[TMX_Q_TEMP][i], r->temp_c[r->series[k]][i]);
            if (r->what_if) {
                tmx_table_real(t, r->if_c[r->series[k]][i]);
            }
        }
    }
    return t;
}

void tmx_replay_summary(const struct tmx_replay *r, const struct tmx_measured *log, FILE *out)
{
    const struct tmx_replay_row *worst = NULL, *hot = &r->row[0];
    const struct tmx_bold bold = tmx_os_bold(out);
    double sum = 0, n = 0;
    char error[32] = "";
    for (size_t k = 0; k < r->n_row; k++) {
        const struct tmx_replay_row *row = &r->row[k];
        hot = row->peak_if_c > hot->peak_if_c ? row : hot;
        if (row->rows > 0) {
            sum += row->rmse_k * row->rmse_k * (double)row->rows;
            n += (double)row->rows;
            worst = !worst || row->rmse_k > worst->rmse_k ? row : worst;
        }
    }
    if (r->what_if) {
        if (isfinite(hot->error_k)) {
            snprintf(error, sizeof error, " +- %.1f", hot->error_k);
        }
        tmx_print_visible(
            out, "%sGPU %s of run %s would reach %.1f%s degC, the hottest;%s it reached %.1f as logged.%s\n",
            bold.on, log->gpu[hot->gpu], log->run[hot->run], hot->peak_if_c, error, bold.off, hot->peak_c,
            error[0] ? " +- is 95 % by the calibration's covariance and what it misses in this log."
                     : " How far that may be off is not known: the calibration does not identify it.");
    } else if (worst) {
        fprintf(out, "%sall rows: rms %.3f K%s", bold.on, sqrt(sum / n), bold.off);
        tmx_print_visible(out, "; worst: run %s, GPU %s, %.3f K\n", log->run[worst->run],
                          log->gpu[worst->gpu], worst->rmse_k);
    }
}

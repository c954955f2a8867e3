/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "measure/fit_problem.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

bool tmx_fit_moves(const struct tmx_fit_problem *q, const struct tmx_fit_parameter *p,
                   const struct tmx_fit_span *s)
{
    const struct tmx_series *r = &q->fit->log->series[s->series];
    if (p->kind == TMX_FIT_AMBIENT) {
        return (int)r->run == p->run;
    }
    for (const struct tmx_fit_span *u = s; p->gpu >= 0;) {
        if ((int)u->gpu == p->gpu) {
            return true;
        }
        if (u->upstream < 0) {
            return false;
        }
        u = &q->span[u->upstream];
    }
    return true;
}

/* Where a span's rows do not count by time or by lack of a reading, start's weight is 0 too. */
static bool row_counts(const struct tmx_fit *f, const struct tmx_series *s, size_t i)
{
    const double t = s->q[TMX_Q_TIME][i], begin = s->q[TMX_Q_TIME][0], end = s->q[TMX_Q_TIME][s->n - 1];
    const double share = end > begin ? (t - begin) / (end - begin) : 0;
    return s->q[TMX_Q_TEMP] && !isnan(s->q[TMX_Q_TEMP][i]) && share >= f->from && share <= f->to;
}

void tmx_fit_simulate(const struct tmx_fit_problem *q, const struct tmx_fit_span *s, const double *up_heat)
{
    const struct tmx_series *r = &q->fit->log->series[s->series];
    struct tmx_rc_drive d = {.n = r->n,
                             .time_s = r->q[TMX_Q_TIME],
                             .power_w = r->q[TMX_Q_POWER],
                             .rpm = q->fit->model->rpm_ref > 0 ? q->rpm + s->at : NULL,
                             .ambient_c = q->inlet + s->at};
    if (s->upstream >= 0) {
        const struct tmx_series *u = &q->fit->log->series[q->span[s->upstream].series];
        d.n_up = u->n;
        d.up_time_s = u->q[TMX_Q_TIME];
        d.up_heat_w = up_heat;
    }
    tmx_rc_simulate(q->fit->model, s->gpu, &d, q->temp + s->at, q->start + s->at, q->heat + s->at);
}

double tmx_fit_best_start(const struct tmx_fit_problem *q, const struct tmx_fit_span *s, double constant)
{
    const struct tmx_series *r = &q->fit->log->series[s->series];
    double sr = 0, ss = 0;
    for (size_t i = 0; i < r->n; i++) {
        if (row_counts(q->fit, r, i)) {
            const double d = q->start[s->at + i];
            sr += d * (r->q[TMX_Q_TEMP][i] - constant - q->temp[s->at + i]);
            ss += d * d;
        }
    }
    /* a start that no counted row sees any more is none, and one that hardly decays would be an offset */
    const double rest = q->start[s->at + r->n - 1];
    return ss > 1e-3 ? sr / (ss + 10 * pow(rest, 4) * (double)s->n) : 0;
}

double tmx_fit_ambient_of(const struct tmx_fit_problem *q, const struct tmx_series *r)
{
    return q->fit->inlet && r->q[TMX_Q_INLET] ? 0 : q->fit->ambient_c[r->run];
}

void tmx_fit_residuals(const struct tmx_fit_problem *q, const struct tmx_fit_span *s, const double *up_heat,
                       double *out)
{
    const struct tmx_series *r = &q->fit->log->series[s->series];
    const double constant = tmx_fit_ambient_of(q, r);
    size_t n = 0;
    tmx_fit_simulate(q, s, up_heat);
    if (!s->counts) {
        return;
    }
    const double x = tmx_fit_best_start(q, s, constant);
    for (size_t i = 0; i < r->n; i++) {
        if (row_counts(q->fit, r, i)) {
            out[n++] = q->temp[s->at + i] + constant + x * q->start[s->at + i] - r->q[TMX_Q_TEMP][i];
        }
    }
}

const double *tmx_fit_up_of(const struct tmx_fit_problem *q, const struct tmx_fit_span *s, const double *heat)
{
    return s->upstream >= 0 ? heat + q->span[s->upstream].at : NULL;
}
/* ---- set-up ---- */

bool tmx_fit_uses(const struct tmx_fit *f, size_t series)
{
    return !f->use || f->use[series];
}

static int span_of(const struct tmx_fit_problem *q, size_t run, size_t gpu)
{
    for (size_t i = 0; i < q->n_span; i++) {
        if (q->fit->log->series[q->span[i].series].run == run && q->span[i].gpu == gpu) {
            return (int)i;
        }
    }
    return -1;
}

/* Add the series and first the one upstream of it. */
static void add_span(struct tmx_fit_problem *q, size_t series, bool counts)
{
    const struct tmx_measured *log = q->fit->log;
    const struct tmx_series *r = &log->series[series];
    const size_t gpu = tmx_rc_find(q->fit->model, log->gpu[r->gpu]);
    if (gpu == q->fit->model->n_gpu) {
        return;
    }
    const int there = span_of(q, r->run, gpu);
    if (there >= 0) {
        q->span[there].counts = q->span[there].counts || counts;
        return;
    }
    const int up = q->fit->model->gpu[gpu].upstream;
    int up_span = -1;
    for (size_t i = 0; up >= 0 && i < log->n_series; i++) {
        if (log->series[i].run == r->run &&
            strcmp(log->gpu[log->series[i].gpu], q->fit->model->gpu[up].name) == 0) {
            add_span(q, i, tmx_fit_uses(q->fit, i) && counts);
            up_span = span_of(q, r->run, (size_t)up);
            break;
        }
    }
    q->span[q->n_span++] =
        (struct tmx_fit_span){.series = series, .gpu = gpu, .upstream = up_span, .counts = counts};
}

static void fill_drive(struct tmx_fit_problem *q, const struct tmx_fit_span *s)
{
    const struct tmx_series *r = &q->fit->log->series[s->series];
    double inlet = NAN, rpm = NAN;
    for (size_t pass = 0; pass < 2; pass++) { /* the second pass fills what stands before the first value */
        for (size_t k = 0; k < r->n; k++) {
            const size_t i = pass ? r->n - 1 - k : k;
            double *in = &q->inlet[s->at + i], *n = &q->rpm[s->at + i];
            *in = pass ? *in : r->q[TMX_Q_INLET] && q->fit->inlet ? r->q[TMX_Q_INLET][i] : 0;
            *n = pass              ? *n
                 : r->q[TMX_Q_RPM] ? r->q[TMX_Q_RPM][i]
                 : q->fit->rpm > 0 ? q->fit->rpm
                                   : q->fit->model->rpm_ref;
            *in = isnan(*in) ? inlet : *in;
            *n = isnan(*n) || !(*n > 0) ? rpm : *n;
            inlet = *in;
            rpm = *n;
        }
    }
}

/* How much power changes from the row before when that is a jump, a tenth of the range or more; else 0. */
static double jump_w(const struct tmx_series *r, size_t i, double range_w)
{
    const double change = i > 0 ? r->q[TMX_Q_POWER][i] - r->q[TMX_Q_POWER][i - 1] : 0;
    return fabs(change) >= 0.1 * range_w ? change : 0;
}

/* The same jump where it is whole from one row to the next: rows of means show a part of nearly every one. */
static double bare_w(const struct tmx_series *r, size_t i, double jump)
{
    static const double PART = 0.05;
    const double *p = r->q[TMX_Q_POWER];
    const double before = i > 1 ? (p[i - 1] - p[i - 2]) / jump : 0,
                 after = i + 1 < r->n ? (p[i + 1] - p[i]) / jump : 0;
    return jump != 0 && before < PART && after < PART ? jump : 0;
}

static double power_range_w(const struct tmx_series *r)
{
    double low = INFINITY, high = -INFINITY;
    for (size_t k = 0; k < r->n; k++) {
        low = fmin(low, r->q[TMX_Q_POWER][k]);
        high = fmax(high, r->q[TMX_Q_POWER][k]);
    }
    return high - low;
}

/* The sensor's step: the smallest difference between readings that follow each other. */
static double resolution_k(const struct tmx_series *r)
{
    double step = INFINITY, last = NAN;
    for (size_t i = 0; r->q[TMX_Q_TEMP] && i < r->n; i++) {
        const double t = r->q[TMX_Q_TEMP][i];
        if (!isnan(t)) {
            step = fabs(t - last) > 1e-6 ? fmin(step, fabs(t - last)) : step;
            last = t;
        }
    }
    return step;
}

void tmx_fit_problem_finish(struct tmx_fit_problem *q)
{
    free(q->span);
    free(q->temp);
    free(q->base);
    free(q->cluster);
}

enum tmx_status tmx_fit_problem_init(struct tmx_fit_problem *q, struct tmx_fit *f, struct tmx_err *err)
{
    *q = (struct tmx_fit_problem){.fit = f, .span = calloc(f->log->n_series + 1, sizeof *q->span)};
    if (!q->span) {
        return tmx_fail(err, TMX_ENOMEM, "%zu series", f->log->n_series);
    }
    for (size_t i = 0; i < f->log->n_series; i++) {
        if (tmx_fit_uses(f, i)) {
            add_span(q, i, true);
        }
    }
    for (size_t k = 0; k < q->n_span; k++) {
        struct tmx_fit_span *s = &q->span[k];
        const struct tmx_series *r = &f->log->series[s->series];
        s->at = q->n_all;
        s->row0 = q->n_row;
        q->n_all += r->n;
        for (size_t i = 0; s->counts && i < r->n; i++) {
            s->n += row_counts(f, r, i);
        }
        q->n_row += s->n;
    }
    q->temp = calloc(7 * q->n_all + 1, sizeof *q->temp);
    q->base = calloc(5 * q->n_row + 5, sizeof *q->base);
    q->step_k = q->base ? q->base + q->n_row + 1 : NULL;
    q->jump_w = q->base ? q->step_k + q->n_row + 1 : NULL;
    q->time_s = q->base ? q->jump_w + q->n_row + 1 : NULL;
    q->bare_w = q->base ? q->time_s + q->n_row + 1 : NULL;
    q->cluster = calloc(q->n_row + 1, sizeof *q->cluster);
    if (!q->temp || !q->base || !q->cluster) {
        tmx_fit_problem_finish(q);
        return tmx_fail(err, TMX_ENOMEM, "%zu rows", q->n_all);
    }
    q->start = q->temp + q->n_all;
    q->heat = q->start + q->n_all;
    q->heat_base = q->heat + q->n_all;
    q->scratch = q->heat_base + q->n_all;
    q->inlet = q->scratch + q->n_all;
    q->rpm = q->inlet + q->n_all;
    for (size_t k = 0; k < q->n_span; k++) {
        const struct tmx_fit_span *s = &q->span[k];
        const struct tmx_series *r = &f->log->series[s->series];
        const double step_k = resolution_k(r), range_w = power_range_w(r);
        double low = NAN, high = NAN, last = NAN;
        size_t n = s->row0;
        fill_drive(q, s);
        for (size_t i = 0; s->counts && i < r->n; i++) {
            if (row_counts(f, r, i)) {
                const double t = r->q[TMX_Q_TEMP][i];
                const bool first = n == s->row0 || fmax(high, t) - fmin(low, t) > 1.01 * step_k;
                low = first ? t : fmin(low, t);
                high = first ? t : fmax(high, t);
                q->n_cluster += first;
                q->n_reading += n == s->row0 || t != last;
                last = t;
                q->step_k[q->n_cluster - 1] = isfinite(step_k) ? step_k : 0;
                q->jump_w[n] = jump_w(r, i, range_w);
                q->bare_w[n] = bare_w(r, i, q->jump_w[n]);
                q->time_s[n] = r->q[TMX_Q_TIME][i];
                q->cluster[n++] = q->n_cluster - 1;
            }
        }
    }
    return TMX_OK;
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The fit: least squares of an RC node (rc.c) to measured temperatures, and how far its values may be off.
 *
 * The residual of row i of a series is predicted less measured temperature. The prediction is linear in one
 * number of no interest, the unknown heat x0 in the sink at the series' first row:
 *
 *      r_i(p, x0) = T_i(p) + x0 s_i(p) - measured_i          s_i: how much of the start is left at row i
 *
 * For given parameters p the best x0 is a quotient of two sums (best_start), so it is put in and forgotten:
 * variable projection. Only p is left to Levenberg-Marquardt (GSL), and a log may begin before the GPU has
 * settled. Positive parameters are fitted by their logarithm, which cannot change sign. Derivatives are
 * central differences, taken only over the spans that a parameter moves: a GPU's resistance moves that GPU
 * and those that breathe its air.
 *
 *      x of GSL --put--> rc model --simulate, upstream GPU first--> T, s, heat to the air --residuals--> r
 *         ^                                                                                              |
 *         +---------------------------- Levenberg-Marquardt <---------------------------------------------+
 *
 * What is known beforehand (kinds[], or a parameter's own prior) is a further row each, weighed as one
 * cluster of rows would weigh. It keeps what the log does not identify at plausible values. Standard errors
 * do not count it.
 *
 * Standard errors. A sensor in whole degrees repeats one rounding error while its reading does not change:
 *
 *      reading   61 61 61 61 62 62 62 62 62 61 61        a row is no independent observation;
 *      cluster   |----------- 0 ------------- ...        a stretch of one reading or two neighbours is
 *
 * Rows taken as independent would give errors that are far too small. Three variances are added instead:
 *
 *   jackknife  leave each cluster c out; linearised, the solution moves by (J'J - Jc'Jc)^-1 Jc' rc.
 *              A parameter that rests on one cluster makes this matrix singular: its error is infinite.
 *
 *   rounding   one number, even over the sensor's step, constant in a cluster:
 *              step^2 / 12 times the square of (J'J)^-1 sum_c J.
 *
 *   jumps      power that jumped between two rows did so at an unknown moment. GPUs of one run jump
 *              together, so their effects add before they are squared.
 *
 * Of 200 random logs 96 % of the 95 % intervals hold the true value (test unit.measure.fit.all).
 *
 * The order below: what can be fitted, the problem in memory, standard errors, the fit. */
#include "measure/fit.h"

#include <gsl/gsl_blas.h>
#include <gsl/gsl_eigen.h>
#include <gsl/gsl_linalg.h>
#include <gsl/gsl_matrix.h>
#include <gsl/gsl_multifit_nlinear.h>
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

struct fit_span {   /* one series of the fit */
    size_t series;  /* of the log */
    size_t gpu;     /* of the model */
    size_t row0, n; /* its rows in the residual vector: those that count */
    size_t at;      /* its rows in the arrays over all rows */
    int upstream;   /* index of the span upstream, or -1 */
    bool counts;    /* false: only heats others */
};

struct problem {
    struct tmx_fit *fit;
    struct fit_span *span; /* [n_span] upstream first within a run */
    size_t n_span, n_row, n_all;
    double *temp, *start, *heat, *scratch, *inlet, *rpm; /* [n_all] */
    double *heat_base;                                   /* [n_all] */
    double *base;                                        /* [n_row] residuals of the last evaluation */
    double *jump_w,
        *time_s;     /* [n_row] jump of power in the interval that ends with the row, else 0; its time */
    double *bare_w;  /* [n_row] the jump where no row beside it holds part of it, else 0 */
    double *step_k;  /* [n_cluster] of its sensor */
    size_t *cluster; /* [n_row] */
    size_t n_cluster, n_reading; /* n_reading: stretches of one reading */
    struct tmx_arena arena;      /* of all these */
};

/* ---- what can be fitted: names, units, what is known beforehand, and which number of the model each is ----
 */

#define OF_GPU(member)   true, offsetof(struct tmx_rc_gpu, member)
#define OF_MODEL(member) false, offsetof(struct tmx_rc, member)
/* Sensors of one kind agree to a quarter of a kelvin, and the air of a room is near 25 degC: assumed, so that
 * what a log does not tell stays at a sane value. Standard errors do not count this as knowledge. */
const struct tmx_fit_what tmx_fit_kinds[TMX_N_RC] = {
    [TMX_FIT_OFFSET] = {"offset_k", "K", false, 0, 0.25, OF_GPU(offset_k)},
    [TMX_FIT_JUNCTION] = {"junction_k_per_w", "K/W", true, 0, 0, OF_GPU(junction_k_per_w)},
    [TMX_FIT_DIE] = {"die_k_per_w", "K/W", true, 0, 0, OF_GPU(die_k_per_w)},
    [TMX_FIT_SINK] = {"sink_k_per_w", "K/W", true, -2.3, 1.5, OF_GPU(sink_k_per_w)},
    [TMX_FIT_SINK_C] = {"sink_j_per_k", "J/K", true, 6.5, 1, OF_GPU(sink_j_per_k)},
    [TMX_FIT_PREHEAT] = {"preheat_k_per_w", "K/W", false, 0, 0, OF_GPU(preheat_k_per_w)},
    [TMX_FIT_DIE_S] = {"die_s", "s", true, 0, 0, OF_MODEL(die_s)},
    [TMX_FIT_CASE] = {"case_k_per_w", "K/W", true, 0, 0, OF_MODEL(case_k_per_w)},
    [TMX_FIT_SINK_BASE] = {"sink_base_k_per_w", "K/W", true, 0, 0, OF_MODEL(sink_base_k_per_w)},
    [TMX_FIT_EXPONENT] = {"fan_exponent", "1", true, -0.2, 0.7, OF_MODEL(fan_exponent)},
    [TMX_FIT_CASE_S] = {"case_s", "s", true, 0, 0, OF_MODEL(case_s)},
    [TMX_FIT_AIR_RISE] = {"air_rise_k", "K", false, 0, 5, OF_MODEL(air_rise_k)},
    [TMX_FIT_CHASSIS] = {"chassis_k", "K", true, 0, 0, OF_MODEL(chassis_k)},
    [TMX_FIT_LAG] = {"power_lag_s", "s", false, 0, 0, OF_MODEL(power_lag_s)},
    [TMX_FIT_AMBIENT] = {"ambient_c", "degC", false, 25, 10, OF_MODEL(rpm_ref)}, /* of the run instead */
    {"rpm_ref", "rpm", true, 0, 0, OF_MODEL(rpm_ref)},
    {"leak_per_k", "1/K", false, 0, 0, OF_MODEL(leak_per_k)},
    {"power_low_w", "W", false, 0, 0, OF_MODEL(power_low_w)},
    {"power_high_w", "W", false, 0, 0, OF_MODEL(power_high_w)},
    {"residual_k", "K", false, 0, 0, OF_MODEL(residual_k)},
};

static double *field(const struct tmx_fit *f, const struct tmx_fit_parameter *p, size_t gpu)
{
    const struct tmx_fit_what *k = &tmx_fit_kinds[p->kind];
    void *of = k->of_gpu ? (void *)&f->model->gpu[gpu] : (void *)f->model;
    return p->kind == TMX_FIT_AMBIENT ? &f->ambient_c[p->run] : (double *)(void *)((char *)of + k->offset);
}

bool tmx_fit_set(struct tmx_rc *m, const char *name, const char *gpu, double v)
{
    const struct tmx_fit f = {.model = m};
    struct tmx_fit_parameter p = {0};
    bool any = false;
    while (p.kind < TMX_N_RC &&
           (p.kind == TMX_FIT_AMBIENT || strcmp(tmx_fit_kinds[p.kind].name, name) != 0)) {
        p.kind++;
    }
    for (size_t g = 0; p.kind < TMX_N_RC && g < (tmx_fit_kinds[p.kind].of_gpu ? m->n_gpu : 1); g++) {
        if (!tmx_fit_kinds[p.kind].of_gpu || strcmp(gpu, "all") == 0 || strcmp(gpu, m->gpu[g].name) == 0) {
            *field(&f, &p, g) = v;
            any = true;
        }
    }
    return any;
}

static void put(const struct tmx_fit *f, const struct tmx_fit_parameter *p, double x)
{
    const double v = tmx_fit_kinds[p->kind].positive ? exp(x) : x;
    if (p->gpu >= 0 || p->kind > TMX_FIT_PREHEAT) {
        *field(f, p, p->gpu >= 0 ? (size_t)p->gpu : 0) = v;
        return;
    }
    for (size_t g = 0; g < f->model->n_gpu; g++) {
        if (p->kind != TMX_FIT_PREHEAT || f->model->gpu[g].upstream >= 0) {
            *field(f, p, g) = v;
        }
    }
}

static double get(const struct tmx_fit *f, const struct tmx_fit_parameter *p)
{
    size_t gpu = p->gpu >= 0 ? (size_t)p->gpu : 0;
    while (p->gpu < 0 && p->kind == TMX_FIT_PREHEAT && gpu + 1 < f->model->n_gpu &&
           f->model->gpu[gpu].upstream < 0) {
        gpu++;
    }
    const double v = *field(f, p, gpu);
    return tmx_fit_kinds[p->kind].positive ? log(fmax(v, 1e-12)) : v;
}

void tmx_fit_shift(struct tmx_rc *model, const struct tmx_fit_parameter *p, double dx)
{
    const struct tmx_fit f = {.model = model};
    if (p->kind != TMX_FIT_AMBIENT) {
        put(&f, p, get(&f, p) + dx);
    }
}

double tmx_fit_spread(const struct tmx_fit_parameter *p)
{
    return p->spread > 0 ? p->spread : tmx_fit_kinds[p->kind].spread;
}

/* ---- the problem: which rows of a log count, and what the model makes of them ---- */

static bool moves(const struct problem *q, const struct tmx_fit_parameter *p, const struct fit_span *s)
{
    const struct tmx_series *r = &q->fit->log->series[s->series];
    if (p->kind == TMX_FIT_AMBIENT) {
        return (int)r->run == p->run;
    }
    for (const struct fit_span *u = s; p->gpu >= 0;) {
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
    return s->q[TMX_Q_TEMP] && !isnan(s->q[TMX_Q_TEMP][i]) && tmx_series_share(s, i) <= f->to;
}

/* Temperatures, their derivative by the start, and heat of one span; up_heat: of the span upstream. */
static void simulate(const struct problem *q, const struct fit_span *s, const double *up_heat)
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

/* The start of the sink that fits best, beyond steady [K]. */
static double best_start(const struct problem *q, const struct fit_span *s, double constant)
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

/* What is added to every prediction of a series: the ambient of its run, 0 where its rows have an inlet. */
static double ambient_of(const struct problem *q, const struct tmx_series *r)
{
    return q->fit->inlet && r->q[TMX_Q_INLET] ? 0 : q->fit->ambient_c[r->run];
}

/* Residuals predicted - measured of one span, its start projected out. */
static void residuals(const struct problem *q, const struct fit_span *s, const double *up_heat, double *out)
{
    const struct tmx_series *r = &q->fit->log->series[s->series];
    const double constant = ambient_of(q, r);
    size_t n = 0;
    simulate(q, s, up_heat);
    if (!s->counts) {
        return;
    }
    const double x = best_start(q, s, constant);
    for (size_t i = 0; i < r->n; i++) {
        if (row_counts(q->fit, r, i)) {
            out[n++] = q->temp[s->at + i] + constant + x * q->start[s->at + i] - r->q[TMX_Q_TEMP][i];
        }
    }
}

/* The heat of the span upstream in an array over all rows; NULL without one. */
static const double *up_of(const struct problem *q, const struct fit_span *s, const double *heat)
{
    return s->upstream >= 0 ? heat + q->span[s->upstream].at : NULL;
}
/* ---- set-up ---- */

static bool uses(const struct tmx_fit *f, size_t series)
{
    return !f->use || f->use[series];
}

static int span_of(const struct problem *q, size_t run, size_t gpu)
{
    for (size_t i = 0; i < q->n_span; i++) {
        if (q->fit->log->series[q->span[i].series].run == run && q->span[i].gpu == gpu) {
            return (int)i;
        }
    }
    return -1;
}

/* Add the series and first the one upstream of it. */
static void add_span(struct problem *q, size_t series, bool counts)
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
            add_span(q, i, uses(q->fit, i) && counts);
            up_span = span_of(q, r->run, (size_t)up);
            break;
        }
    }
    q->span[q->n_span++] =
        (struct fit_span){.series = series, .gpu = gpu, .upstream = up_span, .counts = counts};
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

/* Empty where *err holds an error already. */
static void problem_init(struct problem *q, struct tmx_fit *f, struct tmx_err *err)
{
    *q = (struct problem){.fit = f};
    TMX_TAKE(&q->arena, q->span, f->log->n_series + 1);
    for (size_t i = 0; i < f->log->n_series && q->span && !err->code; i++) {
        if (uses(f, i)) {
            add_span(q, i, true);
        }
    }
    for (size_t k = 0; k < q->n_span; k++) {
        struct fit_span *s = &q->span[k];
        const struct tmx_series *r = &f->log->series[s->series];
        s->at = q->n_all;
        s->row0 = q->n_row;
        q->n_all += r->n;
        for (size_t i = 0; s->counts && i < r->n; i++) {
            s->n += row_counts(f, r, i);
        }
        q->n_row += s->n;
    }
    TMX_TAKE_REALS(&q->arena, q->n_all + 1, &q->temp, &q->start, &q->heat, &q->heat_base, &q->scratch,
                   &q->inlet, &q->rpm);
    TMX_TAKE_REALS(&q->arena, q->n_row + 1, &q->base, &q->step_k, &q->jump_w, &q->time_s, &q->bare_w);
    if (!TMX_TAKE(&q->arena, q->cluster, q->n_row + 1)) {
        tmx_error(err, TMX_ENOMEM, "out of memory");
        return;
    }
    for (size_t k = 0; k < q->n_span; k++) {
        const struct fit_span *s = &q->span[k];
        const struct tmx_series *r = &f->log->series[s->series];
        const struct tmx_range w = tmx_range_of(r->q[TMX_Q_POWER], r->n);
        size_t n = s->row0;
        double inlet = NAN, rpm = NAN, low = NAN, high = NAN, before = NAN, last = NAN, step_k = INFINITY;
        for (size_t pass = 0; pass < 2; pass++) { /* the second fills what is before the first value */
            for (size_t from = 0; from < r->n; from++) {
                const size_t i = pass ? r->n - 1 - from : from;
                double *in = &q->inlet[s->at + i], *turns = &q->rpm[s->at + i];
                *in = pass ? *in : r->q[TMX_Q_INLET] && q->fit->inlet ? r->q[TMX_Q_INLET][i] : 0;
                *turns = pass              ? *turns
                         : r->q[TMX_Q_RPM] ? r->q[TMX_Q_RPM][i]
                         : q->fit->rpm > 0 ? q->fit->rpm
                                           : q->fit->model->rpm_ref;
                *in = isnan(*in) ? inlet : *in;
                *turns = *turns > 0 ? *turns : rpm;
                inlet = *in;
                rpm = *turns;
            }
        }
        /* the sensor's step: the smallest difference between readings that follow each other */
        for (size_t i = 0; r->q[TMX_Q_TEMP] && i < r->n; i++) {
            const double t = r->q[TMX_Q_TEMP][i], step = fabs(t - before);
            step_k = step > 1e-6 ? fmin(step_k, step) : step_k;
            before = isnan(t) ? before : t;
        }
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
                q->jump_w[n] = jump_w(r, i, w.high - w.low);
                q->bare_w[n] = bare_w(r, i, q->jump_w[n]);
                q->time_s[n] = r->q[TMX_Q_TIME][i];
                q->cluster[n++] = q->n_cluster - 1;
            }
        }
    }
}

/* ---- standard errors ---- */

/* What a jump of power adds to the variance of each parameter, because it is unknown when between two rows it
 * fell:
 *
 *   heat      of the interval, even over half of it either way where rows hold moments (rows of means hold
 * the energy): the poles after it start off by dP R (1 - exp(-h / tau)), and forget that junction  one row in
 * twenty ends behind a jump that its power does not show yet: off by R_j dP
 *
 * GPUs of one run are loaded together: what one jump does to all of them is one error, and adds up before it
 * is squared. */

static const double EVEN = 1.0 / 12, HIDDEN = 0.05;

struct jump {
    size_t run, row;
    long long when; /* rows of the run's own step, so that GPUs read one after another still meet */
};

struct work {
    const struct problem *q;
    const gsl_matrix *J;
    gsl_matrix *covariance;
    gsl_matrix_view B; /* [p][p] to be factored */
    gsl_vector_view g; /* [p] a right side, then what it moves */
    double *scale;     /* [p] of the columns of J */
    double *lower;     /* [p][p] of J'J, the lower triangle */
    size_t n;
    struct jump *jump; /* [n] */
    double *effect;    /* [n_row * p] J' e of the jump at that row; rows without one stay 0 */
};

static int by_time(const void *a, const void *b)
{
    const struct jump *x = a, *y = b;
    return x->run != y->run     ? (x->run < y->run ? -1 : 1)
           : x->when != y->when ? (x->when < y->when ? -1 : 1)
                                : (x->row > y->row) - (x->row < y->row);
}

/* One more error of size s, all of whose effects g come together: s g g' is added to a covariance. */
static void add_product(gsl_matrix *covariance, const struct work *w, double s)
{
    const double *d = w->g.vector.data;
    for (size_t a = 0; a < covariance->size1; a++) {
        const double x = s * (d[a] * w->scale[a]);
        for (size_t b = 0; b < covariance->size1 && x != 0; b++) {
            *gsl_matrix_ptr(covariance, a, b) += x * (d[b] * w->scale[b]);
        }
    }
}

/* Sum over the GPUs of each jump, solve, square. */
static void add_variance(struct work *w, double share)
{
    const size_t p = w->J->size2;
    for (size_t k = 0; k < w->n;) {
        const struct jump first = w->jump[k];
        gsl_vector_set_zero(&w->g.vector);
        for (; k < w->n && w->jump[k].run == first.run && w->jump[k].when == first.when; k++) {
            for (size_t a = 0; a < p; a++) {
                w->g.vector.data[a] += w->effect[w->jump[k].row * p + a] * w->scale[a];
            }
        }
        if (gsl_linalg_cholesky_svx(&w->B.matrix, &w->g.vector) == GSL_SUCCESS) {
            add_product(w->covariance, w, share);
        }
    }
}

/* Factor B, whose lower triangle is filled. */
static bool factored(struct work *w)
{
    gsl_matrix *B = &w->B.matrix;
    for (size_t a = 0; a < B->size1; a++) {
        *gsl_matrix_ptr(B, a, a) += 1e-12;
        for (size_t c = 0; c < a; c++) {
            gsl_matrix_set(B, c, a, gsl_matrix_get(B, a, c));
        }
    }
    return gsl_linalg_cholesky_decomp1(B) == GSL_SUCCESS;
}

/* A reading in whole steps is off by one number, even over a step, while it stands still; power may jump
 * between two rows: what both do to the parameters. */
static void rounding_and_jumps(struct work *w)
{
    const struct problem *q = w->q;
    const size_t p = w->J->size2;
    const struct tmx_rc *m = q->fit->model;
    const double *jump_w = m->power_is_mean ? q->bare_w : q->jump_w;
    for (size_t a = 0; a < p; a++) {
        for (size_t c = 0; c <= a; c++) {
            gsl_matrix_set(&w->B.matrix, a, c, w->lower[a * p + c] * w->scale[a] * w->scale[c]);
        }
    }
    if (!factored(w)) {
        return;
    }
    for (size_t i = 0, end; i < q->n_row; i = end) {
        gsl_vector_set_zero(&w->g.vector);
        for (end = i; end < q->n_row && q->cluster[end] == q->cluster[i]; end++) {
            for (size_t a = 0; a < p; a++) {
                w->g.vector.data[a] += gsl_matrix_get(w->J, end, a) * w->scale[a];
            }
        }
        if (gsl_linalg_cholesky_svx(&w->B.matrix, &w->g.vector) == GSL_SUCCESS) {
            const double step_k = q->step_k[q->cluster[i]];
            add_product(w->covariance, w, step_k * step_k / 12);
        }
    }
    for (size_t k = 0; k < q->n_span; k++) {
        const struct fit_span *s = &q->span[k];
        const struct tmx_series *r = &q->fit->log->series[s->series];
        const double step = r->step_s > 0 ? r->step_s : 1;
        for (size_t i = s->row0; i < s->row0 + s->n; i++) {
            if (q->jump_w[i] != 0) {
                w->jump[w->n++] = (struct jump){r->run, i, llround(q->time_s[i] / step)};
            }
        }
        /* J' e of each jump: rows from the last to the first, each pole's sum fading by its step */
        const struct tmx_rc_gpu *g = &m->gpu[s->gpu];
        const double r_sink = tmx_rc_sink(m, s->gpu, 0), k_per_w[] = {r_sink, g->die_k_per_w},
                     tau[] = {r_sink * g->sink_j_per_k, m->die_s};
        for (size_t pole = 0; pole < 2; pole++) {
            for (size_t a = 0; k_per_w[pole] > 0 && tau[pole] > 0 && a < p; a++) {
                double sum = 0;
                for (size_t i = s->row0 + s->n; i-- > s->row0;) {
                    const double h = i > s->row0 ? q->time_s[i] - q->time_s[i - 1] : 0;
                    sum += gsl_matrix_get(w->J, i, a);
                    w->effect[i * p + a] += jump_w[i] * k_per_w[pole] * -expm1(-h / tau[pole]) * sum;
                    sum *= exp(-h / tau[pole]);
                }
            }
        }
    }
    qsort(w->jump, w->n, sizeof *w->jump, by_time);
    add_variance(w, EVEN);
    memset(w->effect, 0, q->n_row * p * sizeof *w->effect);
    const size_t before = m->power_is_mean ? 1 : 0;
    for (const struct fit_span *s = q->span; s < q->span + q->n_span; s++) {
        const double r_j = m->gpu[s->gpu].junction_k_per_w;
        for (size_t i = s->row0 + before; i < s->row0 + s->n; i++) {
            for (size_t a = 0; a < p; a++) {
                w->effect[i * p + a] += q->jump_w[i] * r_j * gsl_matrix_get(w->J, i - before, a);
            }
        }
    }
    add_variance(w, HIDDEN);
}

/* Jackknife over clusters: leaving out cluster c moves the solution by (J'J - Jc'Jc)^-1 Jc' rc. A parameter
 * that rests on one cluster makes that matrix singular: its error is then infinite. No error is known where
 * most are singular, nor without memory. covariance: of x, zero before. */
static void jackknife(const struct problem *q, const gsl_matrix *J, const gsl_vector *r,
                      gsl_matrix *covariance)
{
    const size_t p = J->size2;
    struct work w = {.q = q, .J = J, .covariance = covariance};
    struct tmx_arena arena = {0};
    double *b, *square, *jack, n_good = 0;
    TMX_TAKE(&arena, b, p);
    TMX_TAKE(&arena, square, p * p);
    TMX_TAKE(&arena, jack, p * p);
    TMX_TAKE(&arena, w.scale, p);
    TMX_TAKE(&arena, w.lower, p * p);
    TMX_TAKE(&arena, w.jump, q->n_row + 1);
    if (TMX_TAKE(&arena, w.effect, q->n_row * p + 1)) {
        const gsl_matrix_const_view rows = gsl_matrix_const_submatrix(J, 0, 0, q->n_row, p);
        gsl_matrix_view lower = gsl_matrix_view_array(w.lower, p, p), all = gsl_matrix_view_array(jack, p, p);
        w.B = gsl_matrix_view_array(square, p, p);
        w.g = gsl_vector_view_array(b, p);
        gsl_blas_dsyrk(CblasLower, CblasTrans, 1, &rows.matrix, 0, &lower.matrix);
        for (size_t i = 0; i < p; i++) {
            w.scale[i] = 1 / sqrt(fmax(w.lower[i * p + i], 1e-300));
        }
        rounding_and_jumps(&w);
        for (size_t i = 0, end; i < q->n_row; i = end) {
            for (end = i; end < q->n_row && q->cluster[end] == q->cluster[i]; end++) {
            }
            for (size_t a = 0; a < p; a++) {
                double move = 0;
                for (size_t k = i; k < end; k++) {
                    move += gsl_matrix_get(J, k, a) * gsl_vector_get(r, k);
                }
                b[a] = move * w.scale[a];
                for (size_t c = 0; c <= a; c++) {
                    double v = w.lower[a * p + c];
                    for (size_t k = i; k < end; k++) {
                        v -= gsl_matrix_get(J, k, a) * gsl_matrix_get(J, k, c);
                    }
                    gsl_matrix_set(&w.B.matrix, a, c, v * (w.scale[a] * w.scale[c]));
                }
            }
            if (factored(&w) && gsl_linalg_cholesky_svx(&w.B.matrix, &w.g.vector) == GSL_SUCCESS) {
                add_product(&all.matrix, &w, 1);
                n_good += 1;
            }
        }
        gsl_matrix_scale(&all.matrix, n_good > 1 ? (n_good - 1) / n_good : 1);
        gsl_matrix_add(covariance, &all.matrix);
    }
    for (size_t a = 0; a < p && !(n_good > (double)p / 2); a++) {
        gsl_matrix_set(covariance, a, a, INFINITY);
    }
    tmx_arena_finish(&arena);
}

/* ---- the fit ---- */

static const double NOISE_K = 0.4; /* of a reading: what weak knowledge is weighed against */

static void set_all(const struct problem *q, const gsl_vector *x)
{
    for (size_t k = 0; k < q->fit->n_parameter; k++) {
        put(q->fit, &q->fit->parameter[k], gsl_vector_get(x, k));
    }
}

static bool sane(const struct problem *q, const gsl_vector *x)
{
    for (size_t k = 0; k < q->fit->n_parameter; k++) {
        const double v = gsl_vector_get(x, k);
        if (!isfinite(v) || (tmx_fit_kinds[q->fit->parameter[k].kind].positive && fabs(v) > 27)) {
            return false;
        }
    }
    return true;
}

/* As one cluster of rows would weigh. */
static double prior_weight(const struct problem *q, const struct tmx_fit_parameter *p)
{
    const double spread = tmx_fit_spread(p);
    return spread > 0 ? NOISE_K / spread * sqrt((double)q->n_row / (double)q->n_reading) : 0;
}

static int evaluate(const gsl_vector *x, void *params, gsl_vector *f)
{
    struct problem *q = params;
    if (!sane(q, x)) {
        return GSL_EDOM;
    }
    set_all(q, x);
    for (size_t k = 0; k < q->n_span; k++) {
        residuals(q, &q->span[k], up_of(q, &q->span[k], q->heat), q->base + q->span[k].row0);
    }
    for (size_t i = 0; i < q->n_row; i++) {
        gsl_vector_set(f, i, q->base[i]);
        if (!isfinite(q->base[i])) {
            return GSL_EDOM;
        }
    }
    for (size_t k = 0; k < q->fit->n_parameter; k++) {
        const struct tmx_fit_parameter *p = &q->fit->parameter[k];
        gsl_vector_set(f, q->n_row + k,
                       prior_weight(q, p) * (gsl_vector_get(x, k) -
                                             (p->spread > 0 ? p->prior : tmx_fit_kinds[p->kind].prior)));
    }
    return GSL_SUCCESS;
}

/* Central differences, only over the spans a parameter moves. */
static int jacobian(const gsl_vector *x, void *params, gsl_matrix *J)
{
    struct problem *q = params;
    set_all(q, x);
    for (size_t k = 0; k < q->n_span; k++) {
        simulate(q, &q->span[k], up_of(q, &q->span[k], q->heat));
    }
    memcpy(q->heat_base, q->heat, q->n_all * sizeof *q->heat);
    gsl_matrix_set_zero(J);
    for (size_t k = 0; k < q->fit->n_parameter; k++) {
        const struct tmx_fit_parameter *p = &q->fit->parameter[k];
        const double v = gsl_vector_get(x, k),
                     h = tmx_fit_kinds[p->kind].positive ? 1e-4 : 1e-4 * fmax(1, fabs(v));
        for (int side = -1; side <= 1; side += 2) {
            put(q->fit, p, v + side * h);
            for (size_t i = 0; i < q->n_span; i++) {
                const struct fit_span *s = &q->span[i];
                if (!moves(q, p, s)) {
                    continue;
                }
                const bool up_moves = s->upstream >= 0 && moves(q, p, &q->span[s->upstream]);
                residuals(q, s, up_of(q, s, up_moves ? q->heat : q->heat_base), q->scratch);
                for (size_t r = 0; s->counts && r < s->n; r++) {
                    double *at = gsl_matrix_ptr(J, s->row0 + r, k);
                    *at += side * q->scratch[r] / (2 * h);
                }
            }
        }
        put(q->fit, p, v);
        gsl_matrix_set(J, q->n_row + k, k, prior_weight(q, p));
    }
    return GSL_SUCCESS;
}

bool tmx_fit_run(struct tmx_fit *f, bool errors, struct tmx_err *err)
{
    struct problem q;
    const size_t p = f->n_parameter;
    gsl_multifit_nlinear_workspace *w = NULL;
    gsl_multifit_nlinear_parameters how = gsl_multifit_nlinear_default_parameters();
    gsl_matrix *covariance = gsl_matrix_calloc(p ? p : 1, p ? p : 1);
    gsl_vector *x = gsl_vector_alloc(p ? p : 1);
    problem_init(&q, f, err);
    if (!x || !covariance) {
        tmx_error(err, TMX_ENOMEM, "%zu parameters", p);
    }
    if (!err->code && q.n_row <= p + q.n_span) {
        tmx_error(err, TMX_ESOLVE, "%zu rows are too few for %zu parameters", q.n_row, p);
    }
    for (size_t k = 0; !err->code && k < p; k++) {
        gsl_vector_set(x, k, get(f, &f->parameter[k]));
    }
    if (!err->code) {
        gsl_multifit_nlinear_fdf fdf = {
            .f = evaluate, .df = jacobian, .n = q.n_row + p, .p = p, .params = &q};
        how.solver = gsl_multifit_nlinear_solver_cholesky;
        w = gsl_multifit_nlinear_alloc(gsl_multifit_nlinear_trust, &how, q.n_row + p, p);
        int info = 0;
        int code = w ? gsl_multifit_nlinear_init(x, &fdf, w) : GSL_ENOMEM;
        code = code ? code
                    : gsl_multifit_nlinear_driver(f->most_iterations > 0 ? (size_t)f->most_iterations : 60,
                                                  1e-5, 1e-9, 0, NULL, NULL, &info, w);
        if (code != GSL_SUCCESS && code != GSL_EMAXITER && code != GSL_ENOPROG) {
            tmx_error(err, TMX_ESOLVE, "the fit fails: %s", gsl_strerror(code));
        }
    }
    if (!err->code) {
        f->iterations = (int)gsl_multifit_nlinear_niter(w);
        gsl_vector_memcpy(x, gsl_multifit_nlinear_position(w));
        set_all(&q, x);
        const gsl_vector *r = gsl_multifit_nlinear_residual(w);
        const gsl_vector_const_view rows = gsl_vector_const_subvector(r, 0, q.n_row);
        f->rms_k = gsl_blas_dnrm2(&rows.vector) / sqrt((double)q.n_row);
        f->n_row = q.n_row;
        if (errors) {
            jackknife(&q, gsl_multifit_nlinear_jac(w), r, covariance);
        }
    }
    for (size_t k = 0; !err->code && k < p; k++) {
        struct tmx_fit_parameter *of = &f->parameter[k];
        const double v = gsl_vector_get(x, k);
        of->value = tmx_fit_kinds[of->kind].positive ? exp(v) : v;
        of->error =
            sqrt(gsl_matrix_get(covariance, k, k)) * (tmx_fit_kinds[of->kind].positive ? of->value : 1);
        for (size_t i = 0; f->covariance && i < p; i++) {
            f->covariance[k * p + i] = gsl_matrix_get(covariance, k, i);
        }
    }
    if (w) {
        gsl_multifit_nlinear_free(w);
    }
    gsl_vector_free(x);
    gsl_matrix_free(covariance);
    tmx_arena_finish(&q.arena);
    return !err->code;
}

bool tmx_fit_predict(const struct tmx_fit *f, size_t series, double *start_k, double *temp_c,
                     struct tmx_err *err)
{
    struct tmx_fit one = *f;
    struct problem q;
    struct tmx_arena arena = {0};
    bool *use;
    if (!TMX_TAKE(&arena, use, f->log->n_series + 1)) {
        tmx_error(err, TMX_ENOMEM, "%zu series", f->log->n_series);
        return false;
    }
    use[series] = true;
    one.use = use;
    problem_init(&q, &one, err);
    for (size_t k = 0; !err->code && k < q.n_span; k++) {
        const struct fit_span *s = &q.span[k];
        simulate(&q, s, up_of(&q, s, q.heat));
        if (s->series == series) {
            const struct tmx_series *r = &f->log->series[series];
            const double constant = ambient_of(&q, r);
            *start_k = isnan(*start_k) ? best_start(&q, s, constant) : *start_k;
            for (size_t i = 0; i < r->n; i++) {
                temp_c[i] = q.temp[s->at + i] + constant + *start_k * q.start[s->at + i];
            }
        }
    }
    tmx_arena_finish(&q.arena);
    tmx_arena_finish(&arena);
    return !err->code;
}

void tmx_fit_ambients(struct tmx_fit *f, struct tmx_err *err)
{
    struct tmx_fit_parameter *keep = f->parameter;
    const size_t n = f->n_parameter;
    struct tmx_arena arena = {0};
    f->n_parameter = 0;
    if (!TMX_TAKE(&arena, f->parameter, f->log->n_run + 1)) {
        tmx_error(err, TMX_ENOMEM, "%zu runs", f->log->n_run);
    }
    for (size_t r = 0; !err->code && r < f->log->n_run; r++) {
        bool any = false;
        for (size_t i = 0; i < f->log->n_series; i++) {
            const struct tmx_series *s = &f->log->series[i];
            any = any || (s->run == r && uses(f, i) && !(f->inlet && s->q[TMX_Q_INLET]) &&
                          tmx_rc_find(f->model, f->log->gpu[s->gpu]) < f->model->n_gpu);
        }
        if (any) {
            f->parameter[f->n_parameter++] =
                (struct tmx_fit_parameter){.kind = TMX_FIT_AMBIENT, .gpu = TMX_FIT_ALL, .run = (int)r};
        }
    }
    if (f->n_parameter > 0) {
        tmx_fit_run(f, false, err);
    }
    f->parameter = keep;
    f->n_parameter = n;
    tmx_arena_finish(&arena);
}

/* ---- how far what is computed from a fit may be off ---- */

/* Rows of e->direction: the eigenvectors, each as long as one standard deviation. */
enum tmx_status tmx_fit_errors_make(struct tmx_fit_errors *e, const struct tmx_fit_parameter *parameter,
                                    size_t n, const double *covariance, struct tmx_err *err)
{
    gsl_eigen_symmv_workspace *w = gsl_eigen_symmv_alloc(n ? n : 1);
    double *square, *variance, *vector;
    *e = (struct tmx_fit_errors){.n = n, .known = n > 0};
    TMX_TAKE(&e->arena, e->parameter, n + 1);
    TMX_TAKE(&e->arena, e->direction, n * n + 1);
    TMX_TAKE(&e->arena, square, n * n + 1);
    TMX_TAKE(&e->arena, vector, n * n + 1);
    enum tmx_status st = TMX_TAKE(&e->arena, variance, n + 1) && w ? TMX_OK : tmx_no_memory(err);
    for (size_t k = 0; !st && k < n; k++) {
        e->parameter[k] = parameter[k];
        e->n_ambient += parameter[k].kind == TMX_FIT_AMBIENT;
    }
    for (size_t i = 0; !st && i < n * n; i++) {
        square[i] = covariance[i];
        e->known = e->known && isfinite(covariance[i]);
    }
    if (!st && e->known) {
        gsl_matrix_view A = gsl_matrix_view_array(square, n, n), V = gsl_matrix_view_array(vector, n, n);
        gsl_vector_view v = gsl_vector_view_array(variance, n);
        st = gsl_eigen_symmv(&A.matrix, &v.vector, &V.matrix, w)
                 ? tmx_fail(err, TMX_ESOLVE, "the covariance of %zu parameters has no eigenvectors", n)
                 : TMX_OK;
    }
    for (size_t i = 0; !st && e->known && i < n * n; i++) {
        e->direction[i] = sqrt(fmax(variance[i / n], 0)) * vector[i % n * n + i / n];
    }
    if (w) {
        gsl_eigen_symmv_free(w);
    }
    return st;
}

void tmx_fit_errors_finish(struct tmx_fit_errors *e)
{
    tmx_arena_finish(&e->arena);
    *e = (struct tmx_fit_errors){0};
}

double tmx_fit_steady_error_k(const struct tmx_fit_errors *e, const struct tmx_rc *model, size_t gpu,
                              const double *power_w, const double *rpm, bool air)
{
    static const double STEP = 1e-3; /* of a logarithm, or in the parameter's unit */
    struct tmx_rc moved = {0};
    struct tmx_arena arena = {0};
    double *slope, variance = model->residual_k * model->residual_k; /* by each parameter */
    TMX_TAKE(&arena, moved.gpu, model->n_gpu + 1);
    const bool ok = TMX_TAKE(&arena, slope, e->n + 1) && e->known;
    for (size_t i = 0; ok && i < e->n; i++) {
        double side[2];
        for (int k = 0; k < 2; k++) {
            tmx_rc_copy(&moved, model);
            tmx_fit_shift(&moved, &e->parameter[i], k ? STEP : -STEP);
            side[k] = tmx_rc_steady_k(&moved, gpu, power_w, rpm);
        }
        slope[i] = e->parameter[i].kind != TMX_FIT_AMBIENT ? (side[1] - side[0]) / (2 * STEP)
                   : air                                   ? 1.0 / (double)e->n_ambient
                                                           : 0;
    }
    for (size_t k = 0; ok && k < e->n; k++) {
        double d = 0;
        for (size_t i = 0; i < e->n; i++) {
            d += slope[i] * e->direction[k * e->n + i];
        }
        variance += d * d;
    }
    tmx_arena_finish(&arena);
    return ok ? sqrt(variance) : NAN;
}

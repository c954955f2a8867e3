/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "study/analysis/effects.h"

#include <gsl/gsl_multifit.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/text.h"

struct fit {                     /* least squares of n runs on the axes */
    double *coefficient, *error; /* [n_axis]; NULL when not possible */
    double r2;
};

struct effects {
    const struct tmx_result_set *set;
    size_t metric;
    size_t *axis; /* [n_axis] keys that are numbers and vary */
    size_t n_axis;
    double *x, *y; /* [n_run][n_axis], [n_run]: finished runs */
    size_t n_run;
    struct fit log, standard;
    double *first, *first_error, *total, *total_error; /* [n_axis]; NULL: no such design */
};

static bool number(const char *s, double *v)
{
    return tmx_span_real((struct tmx_span){s, s + strlen(s)}, v);
}

static bool usable(const struct effects *e, const struct tmx_result *r)
{
    return r->done && !isnan(r->metric[e->metric]);
}

static bool axis_varies(const struct effects *e, size_t key)
{
    double first = NAN;
    bool varies = false;
    for (size_t i = 0; i < e->set->n_run; i++) {
        double v;
        const struct tmx_result *r = &e->set->run[i];
        if (!usable(e, r)) {
            continue;
        }
        if (!number(r->value[key], &v)) {
            return false;
        }
        varies = varies || (!isnan(first) && v != first);
        first = isnan(first) ? v : first;
    }
    return varies;
}

/* Is a key a straight line of an earlier axis over the finished runs (keys that move together)?
 * Their effects are one: it is reported for the earlier axis. */
static bool follows(const struct effects *e, size_t key)
{
    static const double nearly_one = 1 - 1e-9;
    for (size_t a = 0; a < e->n_axis; a++) {
        double n = 0, sx = 0, sy = 0, sxx = 0, syy = 0, sxy = 0, x0 = 0, y0 = 0;
        for (size_t i = 0; i < e->set->n_run; i++) {
            const struct tmx_result *r = &e->set->run[i];
            double x = 0, y = 0;
            if (!usable(e, r) || !number(r->value[e->axis[a]], &x) || !number(r->value[key], &y)) {
                continue;
            }
            x0 = n == 0 ? x : x0; /* differences to the first run: no cancellation */
            y0 = n == 0 ? y : y0;
            x -= x0;
            y -= y0;
            n += 1;
            sx += x, sy += y, sxx += x * x, syy += y * y, sxy += x * y;
        }
        const double cov = n * sxy - sx * sy, vx = n * sxx - sx * sx, vy = n * syy - sy * sy;
        if (cov * cov >= nearly_one * vx * vy) {
            return true;
        }
    }
    return false;
}

static enum tmx_status gather(struct effects *e, struct tmx_err *err)
{
    const struct tmx_result_set *set = e->set;
    e->axis = malloc((set->n_key + 1) * sizeof *e->axis);
    e->x = malloc((set->n_run * set->n_key + 1) * sizeof *e->x);
    e->y = malloc((set->n_run + 1) * sizeof *e->y);
    if (!e->axis || !e->x || !e->y) {
        return tmx_no_memory(err);
    }
    for (size_t k = 0; k < set->n_key; k++) {
        if (axis_varies(e, k) && !follows(e, k)) {
            e->axis[e->n_axis++] = k;
        }
    }
    for (size_t i = 0; i < set->n_run; i++) {
        const struct tmx_result *r = &set->run[i];
        if (!usable(e, r)) {
            continue;
        }
        for (size_t a = 0; a < e->n_axis; a++) {
            tmx_assert(number(r->value[e->axis[a]], &e->x[e->n_run * e->n_axis + a]));
        }
        e->y[e->n_run++] = r->metric[e->metric];
    }
    if (e->n_axis == 0) {
        return tmx_fail(err, TMX_ECONFIG, "no axis of numbers varies over the finished runs");
    }
    if (e->n_run < e->n_axis + 2) {
        return tmx_fail(err, TMX_ECONFIG, "%zu finished runs are too few for %zu axes", e->n_run, e->n_axis);
    }
    return TMX_OK;
}

static double mean_of(const double *v, size_t n, size_t stride)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++) {
        sum += v[i * stride];
    }
    return sum / (double)n;
}

static double stdev_of(const double *v, size_t n, size_t stride)
{
    const double mean = mean_of(v, n, stride);
    double sum = 0;
    for (size_t i = 0; i < n; i++) {
        sum += (v[i * stride] - mean) * (v[i * stride] - mean);
    }
    return sqrt(sum / (double)(n - 1));
}

/* Least squares of y on a constant and the columns of x; both are read after transform. */
static enum tmx_status solve(const struct effects *e, const double *x, const double *y, struct fit *f,
                             struct tmx_err *err)
{
    const size_t n = e->n_run, p = e->n_axis + 1;
    double chisq = 0;
    gsl_matrix *X = gsl_matrix_alloc(n, p), *cov = gsl_matrix_alloc(p, p);
    gsl_vector *Y = gsl_vector_alloc(n), *c = gsl_vector_alloc(p);
    gsl_multifit_linear_workspace *work = gsl_multifit_linear_alloc(n, p);
    f->coefficient = malloc(p * sizeof *f->coefficient);
    f->error = malloc(p * sizeof *f->error);
    bool ok = X && cov && Y && c && work && f->coefficient && f->error;
    enum tmx_status st = ok ? TMX_OK : tmx_no_memory(err);
    for (size_t i = 0; i < n && ok; i++) {
        gsl_vector_set(Y, i, y[i]);
        gsl_matrix_set(X, i, 0, 1);
        for (size_t a = 0; a < e->n_axis; a++) {
            gsl_matrix_set(X, i, a + 1, x[i * e->n_axis + a]);
        }
    }
    if (ok && gsl_multifit_linear(X, Y, c, cov, &chisq, work) != 0) {
        st = tmx_fail(err, TMX_ESOLVE, "the regression failed");
    }
    if (!st) {
        const double sd = stdev_of(y, n, 1);
        f->r2 = sd > 0 ? 1 - chisq / (sd * sd * (double)(n - 1)) : 1;
        for (size_t a = 0; a < e->n_axis; a++) {
            f->coefficient[a] = gsl_vector_get(c, a + 1);
            f->error[a] = sqrt(gsl_matrix_get(cov, a + 1, a + 1));
        }
    }
    gsl_multifit_linear_free(work);
    gsl_vector_free(Y);
    gsl_vector_free(c);
    gsl_matrix_free(X);
    gsl_matrix_free(cov);
    return st;
}

static bool positive(const double *v, size_t n, size_t stride)
{
    bool all = true;
    for (size_t i = 0; i < n; i++) {
        all = all && v[i * stride] > 0;
    }
    return all;
}

static enum tmx_status regressions(struct effects *e, struct tmx_err *err)
{
    const size_t n = e->n_run, m = e->n_axis;
    double *x = calloc(n * m + 1, sizeof *x), *y = calloc(n + 1, sizeof *y);
    enum tmx_status st = x && y ? TMX_OK : tmx_no_memory(err);
    if (!st && positive(e->y, n, 1)) {
        for (size_t a = 0; a < m; a++) {
            const bool logs = positive(e->x + a, n, m);
            for (size_t i = 0; i < n; i++) {
                x[i * m + a] = logs ? log(e->x[i * m + a]) : e->x[i * m + a];
            }
        }
        for (size_t i = 0; i < n; i++) {
            y[i] = log(e->y[i]);
        }
        st = solve(e, x, y, &e->log, err);
    }
    const double sd = st ? 0 : stdev_of(e->y, n, 1);
    if (!st && sd > 0) {
        for (size_t i = 0; i < n; i++) {
            y[i] = (e->y[i] - mean_of(e->y, n, 1)) / sd;
        }
        for (size_t a = 0; a < m; a++) {
            const double mean = mean_of(e->x + a, n, m), sd_x = stdev_of(e->x + a, n, m);
            for (size_t i = 0; i < n; i++) {
                x[i * m + a] = (e->x[i * m + a] - mean) / sd_x;
            }
        }
        st = solve(e, x, y, &e->standard, err);
    }
    free(x);
    free(y);
    return st;
}

/* Metric of the runs of one block of the design: A, B, then A with axis i of B. */
static bool block(const struct effects *e, size_t b, size_t width, double *y)
{
    for (size_t i = 0; i < width; i++) {
        const size_t run = e->set->run_of_point[b * width + i];
        if (run == e->set->n_run || !usable(e, &e->set->run[run])) {
            return false;
        }
        y[i] = e->set->run[run].metric[e->metric];
    }
    return true;
}

struct moments {
    double sum, square;
};

static void axis_terms(const double *y, double mean, size_t key, struct moments *first, struct moments *total)
{
    const double a = y[0] - mean, b = y[1] - mean, ab = y[2 + key] - mean;
    const double v = b * (ab - a), t = 0.5 * (a - ab) * (a - ab);
    first->sum += v;
    first->square += v * v;
    total->sum += t;
    total->square += t * t;
}

static double error_of(const struct moments *m, double n)
{
    const double var = (m->square - m->sum * m->sum / n) / (n - 1);
    return sqrt((var > 0 ? var : 0) / n);
}

/* Mean and variance of the metric over A and B of the whole blocks; how many of them. */
static size_t base_moments(const struct effects *e, size_t width, double *y, double *mean, double *variance)
{
    double sum = 0, square = 0;
    size_t n = 0;
    for (size_t b = 0; b < e->set->n_point / width; b++) {
        if (block(e, b, width, y)) {
            sum += y[0] + y[1];
            n++;
        }
    }
    *mean = n ? sum / (2 * (double)n) : 0;
    for (size_t b = 0; b < e->set->n_point / width; b++) {
        if (block(e, b, width, y)) {
            square += (y[0] - *mean) * (y[0] - *mean) + (y[1] - *mean) * (y[1] - *mean);
        }
    }
    *variance = n ? square / (2 * (double)n) : 0;
    return n;
}

static enum tmx_status sobol(struct effects *e, struct tmx_err *err)
{
    const size_t width = e->set->n_key + 2;
    if (strcmp(e->set->method, "indices") != 0) {
        return TMX_OK;
    }
    double mean, variance;
    double *y = calloc(width, sizeof *y);
    double *all = calloc(4 * e->n_axis + 1, sizeof *all);
    if (!y || !all) {
        free(y);
        free(all);
        return tmx_no_memory(err);
    }
    const size_t n_block = base_moments(e, width, y, &mean, &variance);
    e->first = all;
    e->first_error = all + e->n_axis;
    e->total = all + 2 * e->n_axis;
    e->total_error = all + 3 * e->n_axis;
    for (size_t a = 0; a < e->n_axis && n_block > 1 && variance > 0; a++) {
        struct moments first = {0}, total = {0};
        for (size_t b = 0; b < e->set->n_point / width; b++) {
            if (block(e, b, width, y)) {
                axis_terms(y, mean, e->axis[a], &first, &total);
            }
        }
        const double n = (double)n_block;
        e->first[a] = first.sum / n / variance;
        e->total[a] = total.sum / n / variance;
        e->first_error[a] = error_of(&first, n) / variance;
        e->total_error[a] = error_of(&total, n) / variance;
    }
    free(y);
    return n_block > 1 ? TMX_OK : tmx_fail(err, TMX_ECONFIG, "the design for Sobol indices is not finished");
}

static void pair(struct tmx_table *t, const double *value, const double *error, size_t a)
{
    if (value) {
        tmx_table_real(t, value[a]);
        tmx_table_real(t, error[a]);
    } else {
        tmx_table_empty(t);
        tmx_table_empty(t);
    }
}

static enum tmx_status write(const struct effects *e, struct tmx_table **t, struct tmx_err *err)
{
    static const struct tmx_column columns[] = {
        {"axis", TMX_COLUMN_TEXT, 0},
        {"elasticity_1", TMX_COLUMN_REAL, 4},
        {"elasticity_se_1", TMX_COLUMN_REAL, 4},
        {"standardised_1", TMX_COLUMN_REAL, 4},
        {"standardised_se_1", TMX_COLUMN_REAL, 4},
        {"first_order_1", TMX_COLUMN_REAL, 4},
        {"first_order_se_1", TMX_COLUMN_REAL, 4},
        {"total_1", TMX_COLUMN_REAL, 4},
        {"total_se_1", TMX_COLUMN_REAL, 4},
        {"r2_1", TMX_COLUMN_REAL, 4},
        {"runs", TMX_COLUMN_INT, 0},
    };
    const enum tmx_status st = tmx_table_create(t, columns, sizeof columns / sizeof columns[0], err);
    for (size_t a = 0; a < e->n_axis && !st; a++) {
        tmx_table_text(*t, e->set->key[e->axis[a]]);
        pair(*t, positive(e->x + a, e->n_run, e->n_axis) ? e->log.coefficient : NULL, e->log.error, a);
        pair(*t, e->standard.coefficient, e->standard.error, a);
        pair(*t, e->first, e->first_error, a);
        pair(*t, e->total, e->total_error, a);
        if (e->standard.coefficient) {
            tmx_table_real(*t, e->standard.r2);
        } else {
            tmx_table_empty(*t);
        }
        tmx_table_int(*t, (int64_t)e->n_run);
    }
    return st;
}

enum tmx_status tmx_effects(const struct tmx_result_set *set, size_t metric, struct tmx_table **t,
                            struct tmx_err *err)
{
    struct effects e = {.set = set, .metric = metric};
    *t = NULL;
    enum tmx_status st = gather(&e, err);
    st = st ? st : regressions(&e, err);
    st = st ? st : sobol(&e, err);
    st = st ? st : write(&e, t, err);
    free(e.axis);
    free(e.x);
    free(e.y);
    free(e.log.coefficient);
    free(e.log.error);
    free(e.standard.coefficient);
    free(e.standard.error);
    free(e.first);
    return st;
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "study/analysis/analysis.h"

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_multifit.h>
#include <gsl/gsl_statistics_double.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/text.h"

struct fit {                     /* least squares of n runs on the axes */
    double *coefficient, *error; /* [n_axis]; NULL when not possible */
    double r2;
};

enum { MOST_VALUES = 100, FEW_VALUES = 12, RUNS_A_VALUE = 4 };

struct factor { /* an axis in the model of main effects */
    size_t key;
    bool text;
    const char **value; /* [n_value] in order; NULL: a straight line */
    size_t n_value;
    size_t column, n_column;    /* of the model */
    double mean, sd, low, high; /* of a straight line */
    bool told;                  /* from earlier axes, by the runs */
    double share;
};

struct effects {
    const struct tmx_result_set *set;
    size_t metric;
    size_t *axis; /* [n_axis] keys that are numbers and vary */
    size_t n_axis;
    double *x, *y; /* [n_axis][n_run], [n_run]: finished runs, those that differ in their seed alone as one */
    const struct tmx_result **run; /* [n_run] the first of each */
    double *weight;                /* [n_run] how many there are of it */
    size_t n_run, n_all;
    double seeds_ss; /* among runs that differ in their seed alone */
    bool log_y;
    struct fit log, standard;
    double *first, *first_error, *total, *total_error; /* [n_axis]; NULL: no such design */
    struct factor *factor;                             /* [n_factor] */
    size_t n_factor;
    double *model; /* [(n_column + 1)^2] swept */
    size_t n_column, n_free;
    double total_ss, rest_ss;
    struct tmx_arena arena; /* of all arrays */
};

static bool usable(const struct effects *e, const struct tmx_result *r)
{
    return r->done && !isnan(r->metric[e->metric]);
}

/* Kelvins and degrees have no percent. */
static bool is_temperature(const char *name)
{
    const char *last = tmx_text_behind(name, '.');
    return strcmp(last, "ambient") == 0 || strcmp(last, "init_temp") == 0 || tmx_text_ends(last, "_c") ||
           tmx_text_ends(last, "_k");
}

/* The unit of a metric whose changes are in it: percents of a percent mislead, and of kelvins there are none.
 */
static const char *own_unit(const struct effects *e)
{
    const char *name = e->set->metric[e->metric];
    return is_temperature(name) ? "K" : tmx_text_ends(name, "_pct") ? "points" : NULL;
}

/* Does a key make an axis: numbers x [n_run] that vary, and are no straight line of an earlier axis (keys
 * that move together)? Their effects are one: it is reported for the earlier axis. */
static bool read_axis(const struct effects *e, size_t key, double *x)
{
    static const double nearly_one = 1 - 1e-9;
    bool numbers = !tmx_is_seed(e->set->key[key]), varies = false;
    for (size_t i = 0; i < e->n_run && numbers; i++) {
        numbers = tmx_text_real(e->run[i]->value[key], &x[i]);
        varies = varies || x[i] != x[0];
    }
    bool own = numbers && varies;
    for (size_t a = 0; a < e->n_axis && own; a++) {
        own = pow(gsl_stats_correlation(e->x + a * e->n_run, 1, x, 1, e->n_run), 2) < nearly_one;
    }
    return own;
}

int tmx_run_axes(const struct tmx_run_of *x, const struct tmx_run_of *y)
{
    const struct tmx_result_set *set = x->set;
    int d = 0;
    for (size_t k = 0; k < set->n_key && d == 0; k++) {
        d = tmx_is_seed(set->key[k]) ? 0 : tmx_value_compare(x->run->value[k], y->run->value[k]);
    }
    return d;
}

int tmx_run_order(const void *a, const void *b)
{
    const struct tmx_run_of *x = a, *y = b;
    const int d = tmx_run_axes(x, y);
    return d ? d : (x->run > y->run) - (x->run < y->run);
}

static void gather(struct effects *e, struct tmx_err *err)
{
    const struct tmx_result_set *set = e->set;
    struct tmx_run_of *all;
    TMX_TAKE(&e->arena, all, set->n_run);
    TMX_TAKE(&e->arena, e->axis, set->n_key);
    TMX_TAKE(&e->arena, e->x, set->n_run * set->n_key);
    TMX_TAKE(&e->arena, e->y, set->n_run);
    TMX_TAKE(&e->arena, e->run, set->n_run);
    TMX_TAKE(&e->arena, e->weight, set->n_run);
    if (e->arena.failed) {
        tmx_no_memory(err);
        return;
    }
    for (size_t i = 0; i < set->n_run; i++) {
        if (usable(e, &set->run[i])) {
            all[e->n_all++] = (struct tmx_run_of){set, &set->run[i]};
        }
    }
    qsort(all, e->n_all, sizeof *all, tmx_run_order);
    for (size_t first = 0, next; first < e->n_all; first = next) {
        struct tmx_moments of = {0};
        for (next = first; next < e->n_all && tmx_run_axes(&all[first], &all[next]) == 0; next++) {
            tmx_moments_add(&of, all[next].run->metric[e->metric]);
        }
        e->run[e->n_run] = all[first].run;
        e->weight[e->n_run] = (double)of.n;
        e->seeds_ss += of.m2;
        e->y[e->n_run++] = of.mean;
    }
    for (size_t k = 0; k < set->n_key; k++) {
        if (read_axis(e, k, e->x + e->n_axis * e->n_run)) {
            e->axis[e->n_axis++] = k;
        }
    }
}

/* ---- main effects of all axes ---- */

static int by_value(const void *a, const void *b)
{
    return tmx_value_compare(*(const char *const *)a, *(const char *const *)b);
}

/* The axes that vary: with the effect of every value, or a straight line where there are many numbers. */
static void find_factors(struct effects *e, struct tmx_err *err)
{
    const char **all;
    TMX_TAKE(&e->arena, all, e->n_run);
    TMX_TAKE(&e->arena, e->factor, e->set->n_key + 1);
    for (size_t k = 0; k < e->set->n_key && !e->arena.failed; k++) {
        struct factor *f = &e->factor[e->n_factor];
        size_t n = 0;
        *f = (struct factor){.key = k, .share = NAN};
        for (size_t i = 0; i < e->n_run; i++) {
            double v;
            all[i] = e->run[i]->value[k];
            f->text = f->text || !tmx_text_real(all[i], &v);
        }
        qsort(all, e->n_run, sizeof *all, by_value);
        for (size_t i = 0; i < e->n_run; i++) {
            if (n == 0 || tmx_value_compare(all[n - 1], all[i]) != 0) {
                all[n++] = all[i];
            }
        }
        const bool line = !f->text && (n > FEW_VALUES || e->n_run < RUNS_A_VALUE * n);
        if (n < 2 || tmx_is_seed(e->set->key[k])) {
            continue;
        }
        f->n_value = n;
        e->n_factor++;
        if (!line && n <= MOST_VALUES && TMX_TAKE(&e->arena, f->value, n)) {
            memcpy(f->value, all, n * sizeof *all);
        } else if (line) {
            double sum = 0, square = 0, v = 0;
            for (size_t i = 0; i < e->n_run; i++) {
                sum += tmx_text_real(e->run[i]->value[k], &v) ? v : 0;
            }
            f->mean = sum / (double)e->n_run;
            for (size_t i = 0; i < e->n_run; i++) {
                (void)tmx_text_real(e->run[i]->value[k], &v);
                square += (v - f->mean) * (v - f->mean);
            }
            f->sd = sqrt(square / (double)e->n_run);
            (void)tmx_text_real(all[0], &f->low);
            (void)tmx_text_real(all[n - 1], &f->high);
        }
        f->column = e->n_column;
        f->n_column = f->value ? n - 1 : line;
        e->n_column += f->n_column;
    }
    if (e->arena.failed) {
        tmx_no_memory(err);
    } else if (e->n_factor == 0) {
        tmx_error(err, TMX_ECONFIG, "no axis varies over the finished runs");
    } else if (e->n_run < e->n_axis + 2) {
        tmx_error(err, TMX_ECONFIG, "%zu finished runs are too few for %zu axes", e->n_run, e->n_axis);
    }
}

/* A run's row of the model. Of an axis of values the last one's effect is less the sum of the others'. */
static void row_of(const struct effects *e, size_t run, double *row)
{
    memset(row, 0, e->n_column * sizeof *row);
    for (size_t k = 0; k < e->n_factor; k++) {
        const struct factor *f = &e->factor[k];
        const char *value = e->run[run]->value[f->key];
        if (f->value) {
            const char **at = bsearch(&value, f->value, f->n_value, sizeof *f->value, by_value);
            const size_t i = (size_t)(at - f->value);
            for (size_t c = 0; c < f->n_column; c++) {
                row[f->column + c] = i == f->n_column ? -1 : i == c;
            }
        } else if (f->n_column > 0) {
            double v = 0;
            (void)tmx_text_real(value, &v);
            row[f->column] = (v - f->mean) / f->sd;
        }
    }
}

/* Sweep (Beaton 1964) of the symmetric matrix on one column; again: back, but for signs. */
static void sweep(double *m, size_t n, size_t k)
{
    const double d = m[k * n + k];
    for (size_t j = 0; j < n; j++) {
        m[k * n + j] /= d;
    }
    for (size_t i = 0; i < n; i++) {
        const double b = m[i * n + k];
        if (i == k) {
            continue;
        }
        for (size_t j = 0; j < n; j++) {
            m[i * n + j] -= j == k ? 0 : b * m[k * n + j];
        }
        m[i * n + k] = -b / d;
    }
    m[k * n + k] = 1 / d;
}

/* Fit the model; its matrix then holds the inverse and, in the last column, the coefficients. */
static void fit_effects(struct effects *e, struct tmx_err *err)
{
    static const double alias = 1e-9;
    const size_t n = e->n_column + 2; /* a constant first, the metric last */
    double *m, *row, *work, mean = 0;
    bool *in;
    TMX_TAKE(&e->arena, m, n * n);
    TMX_TAKE(&e->arena, row, n);
    TMX_TAKE(&e->arena, work, n * n);
    TMX_TAKE(&e->arena, in, n);
    if (e->arena.failed) {
        tmx_no_memory(err);
        return;
    }
    for (size_t i = 0; i < e->n_run; i++) {
        mean += e->weight[i] * e->y[i] / (double)e->n_all;
    }
    for (size_t r = 0; r < e->n_run; r++) {
        row[0] = 1;
        row_of(e, r, row + 1);
        row[n - 1] = e->y[r] - mean;
        for (size_t i = 0; i < n; i++) {
            for (size_t j = 0; row[i] != 0 && j < n; j++) {
                m[i * n + j] += e->weight[r] * row[i] * row[j];
            }
        }
    }
    e->total_ss = m[n * n - 1] + e->seeds_ss;
    e->n_free = e->n_run;
    for (size_t k = 0; k + 1 < n; k++) {
        row[k] = m[k * n + k];
    }
    for (size_t k = 0; k + 1 < n; k++) {
        in[k] = m[k * n + k] > alias * row[k];
        if (in[k]) {
            sweep(m, n, k);
            e->n_free -= e->n_free > 0;
        }
    }
    e->rest_ss = fmax(0, m[n * n - 1]);
    for (size_t k = 0; k < e->n_factor; k++) { /* how much is lost without it */
        struct factor *f = &e->factor[k];
        bool all = f->n_column > 0;
        memcpy(work, m, n * n * sizeof *m);
        for (size_t c = f->column + 1; c <= f->column + f->n_column; c++) {
            all = all && in[c];
            if (in[c]) {
                sweep(work, n, c);
            }
        }
        f->told = all;
        f->share = all && e->total_ss > 0 ? 100 * (work[n * n - 1] - e->rest_ss) / e->total_ss : NAN;
    }
    e->model = m;
}

/* What a linear combination of a factor's columns adds, and half its interval. */
static double combination(const struct effects *e, const struct factor *f, const double *c, double *half)
{
    const size_t n = e->n_column + 2, at = f->column + 1;
    double sum = 0, var = 0;
    for (size_t i = 0; i < f->n_column; i++) {
        sum += c[i] * e->model[(at + i) * n + n - 1];
        for (size_t j = 0; j < f->n_column; j++) {
            var += c[i] * c[j] * e->model[(at + i) * n + at + j];
        }
    }
    /* without a free run, as of one axis of words, the seeds tell how far a run may be off */
    const double ss = e->n_free > 0 ? e->rest_ss : e->seeds_ss,
                 n_free = (double)(e->n_free > 0 ? e->n_free : e->n_all - e->n_run);
    *half = n_free > 0 ? gsl_cdf_tdist_Pinv(0.975, n_free) * sqrt(fmax(0, var) * ss / n_free) : NAN;
    return sum;
}

/* Coefficients of the effect of value a, less that of value b where b is one. */
static void contrast(const struct factor *f, size_t a, size_t b, double c[MOST_VALUES])
{
    for (size_t i = 0; i < f->n_column; i++) {
        c[i] = (a == f->n_column ? -1 : a == i) - (b > f->n_column ? 0 : b == f->n_column ? -1.0 : b == i);
    }
}

static double moments(const double *v, size_t n, double *sd)
{
    double sum = 0, square = 0;
    for (size_t i = 0; i < n; i++) {
        sum += v[i];
    }
    const double mean = sum / (double)n;
    for (size_t i = 0; i < n; i++) {
        square += (v[i] - mean) * (v[i] - mean);
    }
    *sd = sqrt(square / (double)(n - 1));
    return mean;
}

/* Least squares of y on a constant and the rows of x. */
static void solve(struct effects *e, const double *x, const double *y, struct fit *f, struct tmx_err *err)
{
    const size_t n = e->n_run, p = e->n_axis + 1;
    double chisq = 0;
    gsl_matrix *X = gsl_matrix_alloc(n, p), *cov = gsl_matrix_alloc(p, p);
    gsl_vector *c = gsl_vector_alloc(p);
    gsl_multifit_linear_workspace *work = gsl_multifit_linear_alloc(n, p);
    TMX_TAKE(&e->arena, f->coefficient, p);
    TMX_TAKE(&e->arena, f->error, p);
    const bool ok = X && cov && c && work && !e->arena.failed;
    for (size_t i = 0; i < n && ok; i++) {
        gsl_matrix_set(X, i, 0, 1);
        for (size_t a = 0; a < e->n_axis; a++) {
            gsl_matrix_set(X, i, a + 1, x[a * n + i]);
        }
    }
    const gsl_vector_const_view Y = gsl_vector_const_view_array(y, n);
    if (!ok) {
        tmx_no_memory(err);
    } else if (gsl_multifit_linear(X, &Y.vector, c, cov, &chisq, work) != 0) {
        tmx_error(err, TMX_ESOLVE, "the regression failed");
    } else {
        double sd;
        (void)moments(y, n, &sd);
        f->r2 = sd > 0 ? 1 - chisq / (sd * sd * (double)(n - 1)) : 1;
        for (size_t a = 0; a < e->n_axis; a++) {
            f->coefficient[a] = gsl_vector_get(c, a + 1);
            f->error[a] = sqrt(gsl_matrix_get(cov, a + 1, a + 1));
        }
    }
    gsl_multifit_linear_free(work);
    gsl_vector_free(c);
    gsl_matrix_free(X);
    gsl_matrix_free(cov);
}

static bool standardise(const double *v, size_t n, double *to)
{
    double sd;
    const double mean = moments(v, n, &sd);
    for (size_t i = 0; i < n; i++) {
        to[i] = (v[i] - mean) / sd;
    }
    return sd > 0;
}

/* Is one percent of an axis something? */
static bool has_percent(const struct effects *e, size_t a)
{
    return !is_temperature(e->set->key[e->axis[a]]) && gsl_stats_min(e->x + a * e->n_run, 1, e->n_run) > 0;
}

static void regressions(struct effects *e, struct tmx_err *err)
{
    const size_t n = e->n_run, m = e->n_axis;
    double *x, *y;
    TMX_TAKE(&e->arena, x, n * m);
    if (!TMX_TAKE(&e->arena, y, n)) {
        tmx_arena_check(&e->arena, err);
        return;
    }
    e->log_y = !own_unit(e) && gsl_stats_min(e->y, 1, n) > 0;
    if (m > 0 && (own_unit(e) || e->log_y)) {
        for (size_t a = 0; a < m; a++) {
            const bool logs = has_percent(e, a);
            for (size_t i = a * n; i < (a + 1) * n; i++) {
                x[i] = logs ? log(e->x[i]) : e->x[i];
            }
        }
        for (size_t i = 0; i < n; i++) {
            y[i] = e->log_y ? log(e->y[i]) : e->y[i];
        }
        solve(e, x, y, &e->log, err);
    }
    if (!err->code && m > 0 && standardise(e->y, n, y)) {
        for (size_t a = 0; a < m; a++) {
            (void)standardise(e->x + a * n, n, x + a * n); /* they vary */
        }
        solve(e, x, y, &e->standard, err);
    }
}

/* Are key k's values those of axis a in every block of the design, A, B, then A with axis i of B? */
static bool is_of_axis(const struct tmx_result_set *set, size_t width, size_t k, size_t a)
{
    bool is = true;
    for (size_t i = 0; i < set->n_point && is; i++) {
        const size_t r = i % width, from = i - r + (r == 1 || r == 2 + a), run = set->run_of_point[i],
                     as = set->run_of_point[from];
        is = run == set->n_run || as == set->n_run ||
             strcmp(set->run[run].value[k], set->run[as].value[k]) == 0;
    }
    return is;
}

/* The axis of each key, since an axis may have several, one after another; how many there are, 0: the points
 * are no design. */
static size_t axes_of(const struct tmx_result_set *set, size_t *of)
{
    for (size_t n_axis = set->n_key; n_axis > 0; n_axis--) {
        bool fits = set->n_point % (n_axis + 2) == 0 && is_of_axis(set, n_axis + 2, 0, 0);
        for (size_t k = 1; k < set->n_key && fits; k++) {
            of[k] = of[k - 1] + is_of_axis(set, n_axis + 2, k, of[k - 1] + 1);
            fits = is_of_axis(set, n_axis + 2, k, of[k]);
        }
        if (fits && of[set->n_key - 1] + 1 == n_axis) {
            return n_axis;
        }
    }
    return 0;
}

/* Metric of the runs of one block of the design. */
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

static double error_of(double sum, double square, double n)
{
    return sqrt(fmax(0, (square - sum * sum / n) / (n - 1)) / n);
}

static void sobol(struct effects *e, struct tmx_err *err)
{
    double sum = 0, square = 0, *y, *end; /* [n_block][width]: the blocks whose runs are all there */
    size_t n_block = 0, *of;
    if (strcmp(e->set->method, "indices") != 0 || !TMX_TAKE(&e->arena, of, e->set->n_key)) {
        tmx_arena_check(&e->arena, err);
        return;
    }
    const size_t width = axes_of(e->set, of) + 2, most = width > 2 ? e->set->n_point / width : 0;
    TMX_TAKE(&e->arena, y, most * width);
    TMX_TAKE_REALS(&e->arena, e->n_axis, &e->first, &e->first_error, &e->total, &e->total_error);
    tmx_arena_check(&e->arena, err);
    for (size_t b = 0; b < most && !err->code; b++) {
        n_block += block(e, b, width, y + n_block * width);
    }
    if (n_block < 2) {
        tmx_error(err, TMX_ECONFIG, "the design for Sobol indices is not finished");
        return;
    }
    end = y + n_block * width;
    const double n = (double)n_block;
    for (const double *b = y; b < end; b += width) {
        sum += b[0] + b[1];
    }
    const double mean = sum / (2 * n);
    for (const double *b = y; b < end; b += width) {
        square += (b[0] - mean) * (b[0] - mean) + (b[1] - mean) * (b[1] - mean);
    }
    const double variance = square / (2 * n);
    for (size_t a = 0; a < e->n_axis && variance > 0; a++) {
        double v = 0, vv = 0, t = 0, tt = 0;
        for (const double *b = y; b < end; b += width) {
            const double at = b[0] - mean, bt = b[1] - mean, ab = b[2 + of[e->axis[a]]] - mean,
                         first = bt * (ab - at), total = 0.5 * (at - ab) * (at - ab);
            v += first;
            vv += first * first;
            t += total;
            tt += total * total;
        }
        e->first[a] = v / n / variance;
        e->total[a] = t / n / variance;
        e->first_error[a] = error_of(v, vv, n) / variance;
        e->total_error[a] = error_of(t, tt, n) / variance;
    }
}

static void pair(struct tmx_table *t, const double *value, const double *error, size_t a, double factor)
{
    tmx_table_row(t, "%G %G", value ? factor * value[a] : NAN, value ? factor * error[a] : NAN);
}

/* The row of an axis up to its share: from one value to another. */
static void head_row(const struct effects *e, const struct factor *f, struct tmx_table *t)
{
    char words[300];
    double c[MOST_VALUES], half = NAN, effect = NAN, lowest = INFINITY, highest = -INFINITY;
    size_t from = 0, to = f->n_value - 1;
    for (size_t i = 0; f->text && f->value && i < f->n_value; i++) {
        contrast(f, i, SIZE_MAX, c);
        const double v = combination(e, f, c, &half);
        from = v < lowest ? i : from;
        to = v > highest ? i : to;
        lowest = fmin(lowest, v);
        highest = fmax(highest, v);
    }
    to = from == to ? f->n_value - 1 : to; /* all alike */
    if (f->value) {
        contrast(f, to, from, c);
        effect = combination(e, f, c, &half);
        snprintf(words, sizeof words, "%.140s to %.140s", f->value[from], f->value[to]);
    } else if (f->n_column > 0) {
        char low[TMX_REAL_SIZE], high[TMX_REAL_SIZE];
        c[0] = (f->high - f->low) / f->sd;
        effect = combination(e, f, c, &half);
        tmx_real_print(low, f->low);
        tmx_real_print(high, f->high);
        snprintf(words, sizeof words, "%s to %s", low, high);
    } else {
        snprintf(words, sizeof words, "%zu values, too many for effects", f->n_value);
    }
    tmx_table_row(t, "%s %s %G %G %G", e->set->key[f->key], words, f->told ? effect : NAN,
                  f->told ? half : NAN, f->share);
}

static void end_row(const struct effects *e, struct tmx_table *t)
{
    tmx_table_row(t, "- - %s - - - - - - - - - %zu", "", e->n_all);
}

/* The rest of the row of an axis of numbers. */
static void numeric(const struct effects *e, size_t a, struct tmx_table *t)
{
    const bool kelvins = is_temperature(e->set->key[e->axis[a]]), logs = has_percent(e, a),
               any = e->log.coefficient && (kelvins || logs);
    /* ln y by ln x: % per 1 %; ln y by x: 100 % per 1 K; y by ln x: a hundredth K per 1 % */
    const double factor = e->log_y ? (logs ? 1 : 100) : logs ? 0.01 : 1;
    pair(t, any ? e->log.coefficient : NULL, e->log.error, a, factor);
    char per[40] = "";
    if (any) {
        snprintf(per, sizeof per, "%s per 1 %s", e->log_y ? "%" : own_unit(e), logs ? "%" : "K");
    }
    tmx_table_text(t, per);
    pair(t, any && logs && e->log_y ? e->log.coefficient : NULL, e->log.error, a, 1);
    pair(t, e->standard.coefficient, e->standard.error, a, 1);
    pair(t, e->first, e->first_error, a, 1);
    pair(t, e->total, e->total_error, a, 1);
    tmx_table_row(t, "%G %zu", e->standard.coefficient ? e->standard.r2 : NAN, e->n_all);
}

static struct tmx_table *write(const struct effects *e)
{
    struct tmx_table *t =
        tmx_table_of("axis value effect:3 effect_ci95:3 share_pct:1 change:4 change_se:4 per elasticity_1:4 "
                     "elasticity_se_1:4 standardised_1:4 standardised_se_1:4 first_order_1:4 "
                     "first_order_se_1:4 total_1:4 total_se_1:4 r2_1:4 runs:d");
    for (size_t k = 0; k < e->n_factor; k++) {
        const struct factor *f = &e->factor[k];
        size_t a = 0;
        while (a < e->n_axis && e->axis[a] != f->key) {
            a++;
        }
        if (a == e->n_axis && (!f->text || (f->n_column > 0 && !f->told))) {
            continue; /* it moves with an earlier one */
        }
        head_row(e, f, t);
        a < e->n_axis ? numeric(e, a, t) : end_row(e, t);
        for (size_t i = 0; f->text && f->value && f->told && i < f->n_value; i++) {
            double c[MOST_VALUES], half;
            contrast(f, i, SIZE_MAX, c);
            const double effect = combination(e, f, c, &half);
            tmx_table_row(t, "%s %s %g %G -", e->set->key[f->key], f->value[i], effect, half);
            end_row(e, t);
        }
    }
    const struct {
        const char *name;
        double ss;
    } rest[] = {{"(interactions)", e->rest_ss}, {"(seeds)", e->seeds_ss}};
    for (size_t i = 0; i < (e->n_all > e->n_run ? 2 : 1); i++) {
        tmx_table_row(t, "%s %s - - %G", rest[i].name, "",
                      e->total_ss > 0 ? 100 * rest[i].ss / e->total_ss : NAN);
        end_row(e, t);
    }
    return t;
}

enum tmx_status tmx_effects(const struct tmx_result_set *set, size_t metric, struct tmx_table **t,
                            struct tmx_err *err)
{
    static void (*const steps[])(struct effects * e, struct tmx_err * err) = {
        gather, find_factors, fit_effects, regressions, sobol};
    struct effects e = {.set = set, .metric = metric};
    for (size_t i = 0; i < sizeof steps / sizeof steps[0] && !err->code; i++) {
        steps[i](&e, err);
    }
    *t = err->code ? NULL : write(&e);
    tmx_arena_finish(&e.arena);
    return tmx_table_check(*t, err);
}

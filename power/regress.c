/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <gsl/gsl_blas.h>
#include <gsl/gsl_linalg.h>
#include <gsl/gsl_multifit.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "base/text.h"
#include "power/regress.h"

#define FAIL(line, ...) tmx_error_at(&own, TMX_EPARSE, csv->source, (line), __VA_ARGS__)

enum tmx_status tmx_training_load(struct tmx_training *t, const char *path, struct tmx_err *err)
{
    struct tmx_csv *csv = &t->csv;
    struct tmx_err own = {0};
    *t = (struct tmx_training){0};
    if (tmx_csv_read(csv, path, err)) {
        return err->code;
    }
    const size_t n = csv->n_column;
    t->feature = csv->column + 1;
    t->n_feature = n > 2 ? n - 2 : 0; /* between the kernel and power_w */
    t->n_row = csv->n_row;
    if (tmx_word_compare(csv->column[0], "kernel") != 0) {
        FAIL(csv->head_line, "the first column must be \"kernel\"");
    } else if (tmx_word_compare(csv->column[n - 1], "power_w") != 0) {
        FAIL(csv->head_line, "the last column must be \"power_w\"");
    } else if (t->n_feature == 0) {
        FAIL(csv->head_line, "no event column before power_w");
    } else if (t->n_feature > TMX_FEATURE_MAX) {
        FAIL(csv->head_line, "more than %d events", TMX_FEATURE_MAX);
    } else if (t->n_row == 0) {
        FAIL(0, "a header, but no kernel below it");
    }
    TMX_TAKE(&t->arena, t->kernel, t->n_row);
    TMX_TAKE(&t->arena, t->event, t->n_row * t->n_feature);
    TMX_TAKE(&t->arena, t->power_w, t->n_row);
    tmx_arena_check(&t->arena, &own);
    for (size_t r = 0; r < t->n_row && !own.code; r++) {
        t->kernel[r] = tmx_csv_cell(csv, r, 0);
        if (!t->kernel[r][0]) {
            FAIL(csv->line[r], "kernel without a name");
        }
        for (size_t c = 1; c < n; c++) {
            double *v = c + 1 < n ? &t->event[r * t->n_feature + c - 1] : &t->power_w[r];
            if (!tmx_csv_real(csv, r, c, v)) {
                FAIL(csv->line[r], "%s: \"%.60s\" is not a finite number", csv->column[c],
                     tmx_csv_cell(csv, r, c));
            }
        }
        if (!(t->power_w[r] > 0)) {
            FAIL(csv->line[r], "power_w = %g is not positive", t->power_w[r]);
        }
        for (size_t i = 0; i < r; i++) {
            if (strcmp(t->kernel[i], t->kernel[r]) == 0) {
                FAIL(csv->line[r], "kernel \"%s\" is already on line %u", t->kernel[r], csv->line[i]);
            }
        }
    }
    if (own.code) {
        tmx_training_finish(t);
    }
    return tmx_error_give(err, &own);
}

void tmx_training_finish(struct tmx_training *t)
{
    tmx_csv_finish(&t->csv);
    tmx_arena_finish(&t->arena);
    *t = (struct tmx_training){0};
}

/* A column whose part outside the span of the earlier ones is smaller than this, relative to its
 * own size, is a combination of them. */
static const double collinear = 1e-8;

struct work { /* one least-squares problem of up to n_row rows */
    gsl_matrix *X, *cov;
    gsl_vector *y, *c;
    gsl_multifit_linear_workspace *ws;
};

static void work_free(struct work *w)
{
    gsl_matrix_free(w->X);
    gsl_matrix_free(w->cov);
    gsl_vector_free(w->y);
    gsl_vector_free(w->c);
    gsl_multifit_linear_free(w->ws);
}

/* Rows of t but `left_out` (n_row: none), columns 1 and the events. */
static enum tmx_status work_create(struct work *w, const struct tmx_training *t, size_t left_out,
                                   struct tmx_err *err)
{
    const size_t n = t->n_row - (left_out < t->n_row), p = t->n_feature + 1;
    *w = (struct work){.X = gsl_matrix_alloc(n, p),
                       .cov = gsl_matrix_alloc(p, p),
                       .y = gsl_vector_alloc(n),
                       .c = gsl_vector_alloc(p),
                       .ws = gsl_multifit_linear_alloc(n, p)};
    if (!w->X || !w->cov || !w->y || !w->c || !w->ws) {
        return tmx_fail(err, TMX_ENOMEM, "regression of %zu rows", n);
    }
    for (size_t r = 0, at = 0; r < t->n_row; r++) {
        if (r != left_out) {
            gsl_matrix_set(w->X, at, 0, 1);
            for (size_t f = 0; f < t->n_feature; f++) {
                gsl_matrix_set(w->X, at, f + 1, t->event[r * t->n_feature + f]);
            }
            gsl_vector_set(w->y, at++, t->power_w[r]);
        }
    }
    return TMX_OK;
}

static bool constant(const struct tmx_training *t, size_t f, size_t left_out)
{
    const size_t first = left_out == 0 ? 1 : 0;
    for (size_t r = first; r < t->n_row; r++) {
        if (r != left_out && t->event[r * t->n_feature + f] != t->event[first * t->n_feature + f]) {
            return false;
        }
    }
    return true;
}

static enum tmx_status solve(struct work *w, const struct tmx_training *t, size_t left_out, double *chisq,
                             struct tmx_err *err)
{
    /* the first column of X that earlier columns span: in X = Q R column j keeps R_jj outside their span */
    const size_t p = w->X->size2;
    gsl_matrix *R = gsl_matrix_alloc(w->X->size1, p);
    size_t bad = 0;
    if (!R) {
        return tmx_no_memory(err);
    }
    gsl_matrix_memcpy(R, w->X);
    gsl_linalg_QR_decomp(R, w->c); /* c: scratch */
    while (bad < p) {
        gsl_vector_const_view column = gsl_matrix_const_column(w->X, bad);
        if (!(fabs(gsl_matrix_get(R, bad, bad)) > collinear * gsl_blas_dnrm2(&column.vector))) {
            break;
        }
        bad++;
    }
    gsl_matrix_free(R);
    if (bad <= t->n_feature) {
        const size_t f = bad > 0 ? bad - 1 : 0;
        const char *what = constant(t, f, left_out) ? "is the same in all rows"
                                                    : "is a linear combination of the columns before it";
        if (left_out < t->n_row) {
            return tmx_fail_at(err, TMX_EPARSE, t->csv.source, t->csv.line[left_out],
                               "without kernel \"%s\", column %s %s: it cannot be cross-validated",
                               t->kernel[left_out], t->feature[f], what);
        }
        return tmx_fail_at(err, TMX_EPARSE, t->csv.source, 0, "column %s %s", t->feature[f], what);
    }
    if (gsl_multifit_linear(w->X, w->y, w->c, w->cov, chisq, w->ws)) {
        return tmx_fail_at(err, TMX_ESOLVE, t->csv.source, 0, "least squares failed");
    }
    return TMX_OK;
}

double tmx_power_fit_predict_w(const struct tmx_power_fit *fit, const double *event)
{
    double w = fit->coefficient[0];
    for (size_t f = 0; f + 1 < fit->n_coefficient; f++) {
        w += fit->coefficient[f + 1] * event[f];
    }
    return w;
}

/* Coefficients and their errors from all rows but `left_out`. */
static enum tmx_status fit_without(const struct tmx_training *t, size_t left_out, struct tmx_power_fit *fit,
                                   double *chisq, struct tmx_err *err)
{
    struct work w;
    enum tmx_status st = work_create(&w, t, left_out, err);
    st = st ? st : solve(&w, t, left_out, chisq, err);
    for (size_t i = 0; !st && i < fit->n_coefficient; i++) {
        fit->coefficient[i] = gsl_vector_get(w.c, i);
        fit->std_error[i] = sqrt(gsl_matrix_get(w.cov, i, i));
    }
    work_free(&w);
    return st;
}

enum tmx_status tmx_power_fit(const struct tmx_training *t, struct tmx_power_fit *fit, struct tmx_err *err)
{
    double chisq = 0, mean = 0, total = 0, unused;
    *fit = (struct tmx_power_fit){.n_coefficient = t->n_feature + 1};
    struct tmx_power_fit other = *fit; /* without a row, which it predicts */
    if (t->n_row < fit->n_coefficient + 2) {
        return tmx_fail_at(err, TMX_EPARSE, t->csv.source, 0,
                           "%zu rows are too few for %zu coefficients: at least %zu are needed", t->n_row,
                           fit->n_coefficient, fit->n_coefficient + 2);
    }
    TMX_TAKE(&fit->arena, fit->fitted_w, t->n_row);
    TMX_TAKE(&fit->arena, fit->left_out_w, t->n_row);
    enum tmx_status st = fit->arena.failed ? tmx_fail(err, TMX_ENOMEM, "regression of %zu rows", t->n_row)
                                           : fit_without(t, t->n_row, fit, &chisq, err);
    for (size_t r = 0; !st && r < t->n_row; r++) {
        const double *event = &t->event[r * t->n_feature];
        mean += t->power_w[r] / (double)t->n_row;
        fit->fitted_w[r] = tmx_power_fit_predict_w(fit, event);
        st = fit_without(t, r, &other, &unused, err);
        fit->left_out_w[r] = tmx_power_fit_predict_w(&other, event);
    }
    for (size_t r = 0; !st && r < t->n_row; r++) {
        total += (t->power_w[r] - mean) * (t->power_w[r] - mean);
    }
    fit->r_squared = total > 0 ? 1 - chisq / total : 0;
    fit->rms_w = sqrt(chisq / (double)(t->n_row - fit->n_coefficient));
    if (st) {
        tmx_power_fit_finish(fit);
    }
    return st;
}

void tmx_power_fit_finish(struct tmx_power_fit *fit)
{
    tmx_arena_finish(&fit->arena);
    fit->fitted_w = fit->left_out_w = NULL;
}

struct tmx_table *tmx_fit_coefficients(const struct tmx_training *train, const struct tmx_power_fit *fit)
{
    struct tmx_table *t = tmx_table_of("coefficient value_w:3 standard_error_w:3");
    for (size_t i = 0; i < fit->n_coefficient; i++) {
        tmx_table_row(t, "%s %g %g", i == 0 ? "lambda" : train->feature[i - 1], fit->coefficient[i],
                      fit->std_error[i]);
    }
    return t;
}

static double left_out_pct(const struct tmx_training *train, const struct tmx_power_fit *fit, double idle_w,
                           size_t r)
{
    return 100 * (fit->left_out_w[r] - train->power_w[r]) / (train->power_w[r] + idle_w);
}

struct tmx_table *tmx_fit_rows(const struct tmx_training *train, const struct tmx_power_fit *fit,
                               double idle_w)
{
    struct tmx_table *t =
        tmx_table_of("kernel measured_w:2 fitted_w:2 residual_w:2 left_out_w:2 left_out_error_percent:2");
    for (size_t r = 0; r < train->n_row; r++) {
        tmx_table_row(t, "%s %g %g %g %g %g", train->kernel[r], train->power_w[r], fit->fitted_w[r],
                      train->power_w[r] - fit->fitted_w[r], fit->left_out_w[r],
                      left_out_pct(train, fit, idle_w, r));
    }
    return t;
}

static void count(struct tmx_fit_error *e, double percent, size_t row, size_t n_row)
{
    e->mean += fabs(percent) / (double)n_row;
    if (fabs(percent) > e->worst) {
        e->worst = fabs(percent);
        e->worst_row = row;
    }
}

struct tmx_fit_error tmx_fit_left_out(const struct tmx_training *train, const struct tmx_power_fit *fit,
                                      double idle_w)
{
    struct tmx_fit_error e = {0};
    for (size_t r = 0; r < train->n_row; r++) {
        count(&e, left_out_pct(train, fit, idle_w, r), r, train->n_row);
    }
    return e;
}

enum tmx_status tmx_fit_test(const struct tmx_training *train, const struct tmx_power_fit *fit,
                             const struct tmx_training *test, double idle_w, struct tmx_table **t,
                             struct tmx_fit_error *e, struct tmx_err *err)
{
    *e = (struct tmx_fit_error){0};
    for (size_t f = 0; f < train->n_feature; f++) {
        if (test->n_feature != train->n_feature || strcmp(test->feature[f], train->feature[f]) != 0) {
            return tmx_fail_at(err, TMX_EPARSE, test->csv.source, 0, "columns differ from those of %s",
                               train->csv.source);
        }
    }
    *t = tmx_table_of("kernel measured_w:2 predicted_w:2 error_percent:2");
    for (size_t r = 0; *t && r < test->n_row; r++) {
        const double w = tmx_power_fit_predict_w(fit, &test->event[r * test->n_feature]);
        const double percent = 100 * (w - test->power_w[r]) / (test->power_w[r] + idle_w);
        tmx_table_row(*t, "%s %g %g %g", test->kernel[r], test->power_w[r], w, percent);
        count(e, percent, r, test->n_row);
    }
    return *t ? TMX_OK : tmx_no_memory(err);
}

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

double tmx_power_fit_predict_w(const struct tmx_power_fit *fit, const double *event)
{
    double w = fit->coefficient[0];
    for (size_t f = 0; f + 1 < fit->n_coefficient; f++) {
        w += fit->coefficient[f + 1] * event[f];
    }
    return w;
}

/* Coefficients and their errors from all rows but `left_out` (n_row: none), columns 1 and the events. */
static void fit_without(const struct tmx_training *t, size_t left_out, struct tmx_power_fit *fit,
                        double *chisq, struct tmx_err *err)
{
    const size_t n = t->n_row - (left_out < t->n_row), p = t->n_feature + 1;
    gsl_matrix *X = gsl_matrix_alloc(n, p), *R = gsl_matrix_alloc(n, p), *cov = gsl_matrix_alloc(p, p);
    gsl_vector *y = gsl_vector_alloc(n), *c = gsl_vector_alloc(p);
    gsl_multifit_linear_workspace *ws = gsl_multifit_linear_alloc(n, p);
    size_t bad = 0; /* the first column of X that earlier columns span */
    if (!X || !R || !cov || !y || !c || !ws) {
        tmx_error(err, TMX_ENOMEM, "regression of %zu rows", n);
    }
    for (size_t r = 0, at = 0; r < t->n_row && !err->code; r++) {
        if (r != left_out) {
            gsl_matrix_set(X, at, 0, 1);
            for (size_t f = 0; f < t->n_feature; f++) {
                gsl_matrix_set(X, at, f + 1, t->event[r * t->n_feature + f]);
            }
            gsl_vector_set(y, at++, t->power_w[r]);
        }
    }
    if (!err->code) { /* in X = Q R column j keeps R_jj outside the span of the earlier ones */
        gsl_matrix_memcpy(R, X);
        gsl_linalg_QR_decomp(R, c); /* c: scratch */
    }
    for (; bad < p && !err->code; bad++) {
        gsl_vector_const_view column = gsl_matrix_const_column(X, bad);
        if (!(fabs(gsl_matrix_get(R, bad, bad)) > collinear * gsl_blas_dnrm2(&column.vector))) {
            break;
        }
    }
    if (bad < p && !err->code) {
        const size_t f = bad > 0 ? bad - 1 : 0, first = left_out == 0 ? 1 : 0;
        bool same = true;
        for (size_t r = first; r < t->n_row; r++) {
            same = same &&
                   (r == left_out || t->event[r * t->n_feature + f] == t->event[first * t->n_feature + f]);
        }
        const char *what =
            same ? "is the same in all rows" : "is a linear combination of the columns before it";
        if (left_out < t->n_row) {
            tmx_error_at(err, TMX_EPARSE, t->csv.source, t->csv.line[left_out],
                         "without kernel \"%s\", column %s %s: it cannot be cross-validated",
                         t->kernel[left_out], t->feature[f], what);
        } else {
            tmx_error_at(err, TMX_EPARSE, t->csv.source, 0, "column %s %s", t->feature[f], what);
        }
    }
    if (!err->code && gsl_multifit_linear(X, y, c, cov, chisq, ws)) {
        tmx_error_at(err, TMX_ESOLVE, t->csv.source, 0, "least squares failed");
    }
    for (size_t i = 0; i < p && !err->code; i++) {
        fit->coefficient[i] = gsl_vector_get(c, i);
        fit->std_error[i] = sqrt(gsl_matrix_get(cov, i, i));
    }
    gsl_matrix_free(X);
    gsl_matrix_free(R);
    gsl_matrix_free(cov);
    gsl_vector_free(y);
    gsl_vector_free(c);
    gsl_multifit_linear_free(ws);
}

enum tmx_status tmx_power_fit(const struct tmx_training *t, struct tmx_power_fit *fit, struct tmx_err *err)
{
    double chisq = 0, mean = 0, total = 0, unused;
    struct tmx_err own = {0};
    *fit = (struct tmx_power_fit){.n_coefficient = t->n_feature + 1};
    struct tmx_power_fit other = *fit; /* without a row, which it predicts */
    if (t->n_row < fit->n_coefficient + 2) {
        return tmx_fail_at(err, TMX_EPARSE, t->csv.source, 0,
                           "%zu rows are too few for %zu coefficients: at least %zu are needed", t->n_row,
                           fit->n_coefficient, fit->n_coefficient + 2);
    }
    TMX_TAKE(&fit->arena, fit->fitted_w, t->n_row);
    TMX_TAKE(&fit->arena, fit->left_out_w, t->n_row);
    tmx_arena_check(&fit->arena, &own);
    fit_without(t, t->n_row, fit, &chisq, &own);
    for (size_t r = 0; !own.code && r < t->n_row; r++) {
        const double *event = &t->event[r * t->n_feature];
        mean += t->power_w[r] / (double)t->n_row;
        fit->fitted_w[r] = tmx_power_fit_predict_w(fit, event);
        fit_without(t, r, &other, &unused, &own);
        fit->left_out_w[r] = tmx_power_fit_predict_w(&other, event);
    }
    for (size_t r = 0; !own.code && r < t->n_row; r++) {
        total += (t->power_w[r] - mean) * (t->power_w[r] - mean);
    }
    fit->r_squared = total > 0 ? 1 - chisq / total : 0;
    fit->rms_w = sqrt(chisq / (double)(t->n_row - fit->n_coefficient));
    if (own.code) {
        tmx_power_fit_finish(fit);
    }
    return tmx_error_give(err, &own);
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

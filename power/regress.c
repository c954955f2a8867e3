/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "power/regress.h"

#include <gsl/gsl_multifit.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

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
    if (w->X) {
        gsl_matrix_free(w->X);
    }
    if (w->cov) {
        gsl_matrix_free(w->cov);
    }
    if (w->y) {
        gsl_vector_free(w->y);
    }
    if (w->c) {
        gsl_vector_free(w->c);
    }
    if (w->ws) {
        gsl_multifit_linear_free(w->ws);
    }
}

/* Rows of t but `left_out` (n_row: none), columns 1 and the events. */
static enum tmx_status work_fill(struct work *w, const struct tmx_training *t, size_t left_out,
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

/* The first column of X that earlier columns span (modified Gram-Schmidt on a copy); p when none. */
static size_t dependent_column(const gsl_matrix *X)
{
    const size_t n = X->size1, p = X->size2;
    gsl_matrix *Q = gsl_matrix_alloc(n, p);
    size_t bad = Q ? p : 0;
    for (size_t j = 0; Q && j < p && bad == p; j++) {
        double before = 0, after = 0;
        for (size_t i = 0; i < n; i++) {
            gsl_matrix_set(Q, i, j, gsl_matrix_get(X, i, j));
            before = hypot(before, gsl_matrix_get(X, i, j));
        }
        for (size_t k = 0; k < j; k++) {
            double dot = 0;
            for (size_t i = 0; i < n; i++) {
                dot += gsl_matrix_get(Q, i, k) * gsl_matrix_get(Q, i, j);
            }
            for (size_t i = 0; i < n; i++) {
                gsl_matrix_set(Q, i, j, gsl_matrix_get(Q, i, j) - dot * gsl_matrix_get(Q, i, k));
            }
        }
        for (size_t i = 0; i < n; i++) {
            after = hypot(after, gsl_matrix_get(Q, i, j));
        }
        if (!(after > collinear * before)) {
            bad = j;
        }
        for (size_t i = 0; i < n && bad == p; i++) {
            gsl_matrix_set(Q, i, j, gsl_matrix_get(Q, i, j) / after);
        }
    }
    if (Q) {
        gsl_matrix_free(Q);
    }
    return bad;
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
    const size_t bad = dependent_column(w->X);
    if (bad <= t->n_feature) {
        const size_t f = bad > 0 ? bad - 1 : 0;
        const char *what = constant(t, f, left_out) ? "is the same in all rows"
                                                    : "is a linear combination of the columns before it";
        if (left_out < t->n_row) {
            return tmx_fail_at(err, TMX_EPARSE, t->name, t->line[left_out],
                               "without kernel \"%s\", column %s %s: it cannot be cross-validated",
                               t->kernel[left_out], t->feature[f], what);
        }
        return tmx_fail_at(err, TMX_EPARSE, t->name, 0, "column %s %s", t->feature[f], what);
    }
    if (gsl_multifit_linear(w->X, w->y, w->c, w->cov, chisq, w->ws)) {
        return tmx_fail_at(err, TMX_ESOLVE, t->name, 0, "least squares failed");
    }
    return TMX_OK;
}

static double predict(const double *coefficient, size_t n_feature, const double *event)
{
    double w = coefficient[0];
    for (size_t f = 0; f < n_feature; f++) {
        w += coefficient[f + 1] * event[f];
    }
    return w;
}

double tmx_power_fit_predict_w(const struct tmx_power_fit *fit, const double *event)
{
    return predict(fit->coefficient, fit->n_coefficient - 1, event);
}

static enum tmx_status fit_all(const struct tmx_training *t, struct tmx_power_fit *fit, struct tmx_err *err)
{
    struct work w;
    double chisq = 0, mean = 0, total = 0;
    enum tmx_status st = work_fill(&w, t, t->n_row, err);
    if (!st) {
        st = solve(&w, t, t->n_row, &chisq, err);
    }
    for (size_t i = 0; !st && i < fit->n_coefficient; i++) {
        fit->coefficient[i] = gsl_vector_get(w.c, i);
        fit->std_error[i] = sqrt(gsl_matrix_get(w.cov, i, i));
    }
    work_free(&w);
    for (size_t r = 0; !st && r < t->n_row; r++) {
        fit->fitted_w[r] = tmx_power_fit_predict_w(fit, &t->event[r * t->n_feature]);
        mean += t->power_w[r] / (double)t->n_row;
    }
    for (size_t r = 0; !st && r < t->n_row; r++) {
        total += (t->power_w[r] - mean) * (t->power_w[r] - mean);
    }
    fit->r_squared = total > 0 ? 1 - chisq / total : 0;
    fit->rms_w = sqrt(chisq / (double)(t->n_row - fit->n_coefficient));
    return st;
}

static enum tmx_status leave_out(const struct tmx_training *t, size_t row, struct tmx_power_fit *fit,
                                 struct tmx_err *err)
{
    struct work w;
    double chisq = 0, c[TMX_FEATURE_MAX + 1] = {0};
    enum tmx_status st = work_fill(&w, t, row, err);
    if (!st) {
        st = solve(&w, t, row, &chisq, err);
    }
    if (!st) {
        for (size_t i = 0; i < fit->n_coefficient; i++) {
            c[i] = gsl_vector_get(w.c, i);
        }
        fit->left_out_w[row] = predict(c, t->n_feature, &t->event[row * t->n_feature]);
        const double percent = 100 * fabs(fit->left_out_w[row] / t->power_w[row] - 1);
        fit->mean_percent += percent / (double)t->n_row;
        if (percent > fit->worst_percent) {
            fit->worst_percent = percent;
            fit->worst_row = row;
        }
    }
    work_free(&w);
    return st;
}

enum tmx_status tmx_power_fit(const struct tmx_training *t, struct tmx_power_fit *fit, struct tmx_err *err)
{
    enum tmx_status st = TMX_OK;
    *fit = (struct tmx_power_fit){.n_coefficient = t->n_feature + 1, .n_row = t->n_row};
    if (t->n_row < fit->n_coefficient + 2) {
        return tmx_fail_at(err, TMX_EPARSE, t->name, 0,
                           "%zu rows are too few for %zu coefficients: at least %zu are needed", t->n_row,
                           fit->n_coefficient, fit->n_coefficient + 2);
    }
    fit->fitted_w = calloc(t->n_row, sizeof *fit->fitted_w);
    fit->left_out_w = calloc(t->n_row, sizeof *fit->left_out_w);
    if (!fit->fitted_w || !fit->left_out_w) {
        st = tmx_fail(err, TMX_ENOMEM, "regression of %zu rows", t->n_row);
    }
    if (!st) {
        st = fit_all(t, fit, err);
    }
    for (size_t r = 0; !st && r < t->n_row; r++) {
        st = leave_out(t, r, fit, err);
    }
    if (st) {
        tmx_power_fit_finish(fit);
    }
    return st;
}

void tmx_power_fit_finish(struct tmx_power_fit *fit)
{
    free(fit->fitted_w);
    free(fit->left_out_w);
    fit->fitted_w = fit->left_out_w = NULL;
}

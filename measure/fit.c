/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "measure/fit.h"

#include <gsl/gsl_blas.h>
#include <gsl/gsl_multifit_nlinear.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "measure/fit_problem.h"

static const double NOISE_K = 0.4; /* of a reading: what weak knowledge is weighed against */

static void set_all(const struct tmx_fit_problem *q, const gsl_vector *x)
{
    for (size_t k = 0; k < q->fit->n_parameter; k++) {
        tmx_fit_put(q->fit, &q->fit->parameter[k], gsl_vector_get(x, k));
    }
}

static bool sane(const struct tmx_fit_problem *q, const gsl_vector *x)
{
    for (size_t k = 0; k < q->fit->n_parameter; k++) {
        const double v = gsl_vector_get(x, k);
        if (!isfinite(v) || (tmx_fit_positive(q->fit->parameter[k].kind) && fabs(v) > 27)) {
            return false;
        }
    }
    return true;
}

/* As one cluster of rows would weigh. */
static double prior_weight(const struct tmx_fit_problem *q, const struct tmx_fit_parameter *p)
{
    const double spread = tmx_fit_spread(p);
    return spread > 0 ? NOISE_K / spread * sqrt((double)q->n_row / (double)q->n_reading) : 0;
}

static int evaluate(const gsl_vector *x, void *params, gsl_vector *f)
{
    struct tmx_fit_problem *q = params;
    if (!sane(q, x)) {
        return GSL_EDOM;
    }
    set_all(q, x);
    for (size_t k = 0; k < q->n_span; k++) {
        tmx_fit_residuals(q, &q->span[k], tmx_fit_up_of(q, &q->span[k], q->heat), q->base + q->span[k].row0);
    }
    for (size_t i = 0; i < q->n_row; i++) {
        gsl_vector_set(f, i, q->base[i]);
        if (!isfinite(q->base[i])) {
            return GSL_EDOM;
        }
    }
    for (size_t k = 0; k < q->fit->n_parameter; k++) {
        const struct tmx_fit_parameter *p = &q->fit->parameter[k];
        gsl_vector_set(f, q->n_row + k, prior_weight(q, p) * (gsl_vector_get(x, k) - tmx_fit_prior(p)));
    }
    return GSL_SUCCESS;
}

/* Central differences, only over the spans a parameter moves. */
static int jacobian(const gsl_vector *x, void *params, gsl_matrix *J)
{
    struct tmx_fit_problem *q = params;
    set_all(q, x);
    for (size_t k = 0; k < q->n_span; k++) {
        tmx_fit_simulate(q, &q->span[k], tmx_fit_up_of(q, &q->span[k], q->heat));
    }
    memcpy(q->heat_base, q->heat, q->n_all * sizeof *q->heat);
    gsl_matrix_set_zero(J);
    for (size_t k = 0; k < q->fit->n_parameter; k++) {
        const struct tmx_fit_parameter *p = &q->fit->parameter[k];
        const double v = gsl_vector_get(x, k), h = tmx_fit_positive(p->kind) ? 1e-4 : 1e-4 * fmax(1, fabs(v));
        for (int side = -1; side <= 1; side += 2) {
            tmx_fit_put(q->fit, p, v + side * h);
            for (size_t i = 0; i < q->n_span; i++) {
                const struct tmx_fit_span *s = &q->span[i];
                if (!tmx_fit_moves(q, p, s)) {
                    continue;
                }
                const bool up_moves = s->upstream >= 0 && tmx_fit_moves(q, p, &q->span[s->upstream]);
                tmx_fit_residuals(q, s, tmx_fit_up_of(q, s, up_moves ? q->heat : q->heat_base), q->scratch);
                for (size_t r = 0; s->counts && r < s->n; r++) {
                    double *at = gsl_matrix_ptr(J, s->row0 + r, k);
                    *at += side * q->scratch[r] / (2 * h);
                }
            }
        }
        tmx_fit_put(q->fit, p, v);
        gsl_matrix_set(J, q->n_row + k, k, prior_weight(q, p));
    }
    return GSL_SUCCESS;
}

enum tmx_status tmx_fit_run(struct tmx_fit *f, bool errors, struct tmx_err *err)
{
    struct tmx_fit_problem q;
    gsl_multifit_nlinear_workspace *w = NULL;
    double *variance = calloc(f->n_parameter + 1, sizeof *variance);
    gsl_vector *x = gsl_vector_alloc(f->n_parameter ? f->n_parameter : 1);
    enum tmx_status st = tmx_fit_problem_init(&q, f, err);
    if (!st && (!x || !variance)) {
        st = tmx_fail(err, TMX_ENOMEM, "%zu parameters", f->n_parameter);
    }
    if (!st && q.n_row <= f->n_parameter + q.n_span) {
        st = tmx_fail(err, TMX_ESOLVE, "%zu rows are too few for %zu parameters", q.n_row, f->n_parameter);
    }
    for (size_t k = 0; !st && k < f->n_parameter; k++) {
        gsl_vector_set(x, k, tmx_fit_get(f, &f->parameter[k]));
    }
    if (!st) {
        gsl_multifit_nlinear_parameters how = gsl_multifit_nlinear_default_parameters();
        gsl_multifit_nlinear_fdf fdf = {
            .f = evaluate, .df = jacobian, .n = q.n_row + f->n_parameter, .p = f->n_parameter, .params = &q};
        how.solver = gsl_multifit_nlinear_solver_cholesky;
        w = gsl_multifit_nlinear_alloc(gsl_multifit_nlinear_trust, &how, q.n_row + f->n_parameter,
                                       f->n_parameter);
        int info = 0;
        int code = w ? gsl_multifit_nlinear_init(x, &fdf, w) : GSL_ENOMEM;
        code = code ? code
                    : gsl_multifit_nlinear_driver(f->most_iterations > 0 ? (size_t)f->most_iterations : 60,
                                                  1e-5, 1e-9, 0, NULL, NULL, &info, w);
        if (code != GSL_SUCCESS && code != GSL_EMAXITER && code != GSL_ENOPROG) {
            st = tmx_fail(err, TMX_ESOLVE, "the fit fails: %s", gsl_strerror(code));
        } else {
            f->iterations = (int)gsl_multifit_nlinear_niter(w);
            gsl_vector_memcpy(x, gsl_multifit_nlinear_position(w));
            set_all(&q, x);
            const gsl_vector *r = gsl_multifit_nlinear_residual(w);
            const gsl_vector_const_view rows = gsl_vector_const_subvector(r, 0, q.n_row);
            f->rms_k = gsl_blas_dnrm2(&rows.vector) / sqrt((double)q.n_row);
            f->n_row = q.n_row;
            if (errors) {
                tmx_fit_jackknife(&q, gsl_multifit_nlinear_jac(w), r, variance);
            }
        }
    }
    for (size_t k = 0; !st && k < f->n_parameter; k++) {
        struct tmx_fit_parameter *p = &f->parameter[k];
        const double v = gsl_vector_get(x, k);
        p->value = tmx_fit_positive(p->kind) ? exp(v) : v;
        p->error = sqrt(variance[k]) * (tmx_fit_positive(p->kind) ? p->value : 1);
    }
    if (w) {
        gsl_multifit_nlinear_free(w);
    }
    gsl_vector_free(x);
    free(variance);
    tmx_fit_problem_finish(&q);
    return st;
}

enum tmx_status tmx_fit_predict(const struct tmx_fit *f, size_t series, double *start_k, double *temp_c,
                                struct tmx_err *err)
{
    struct tmx_fit one = *f;
    struct tmx_fit_problem q;
    bool *use = calloc(f->log->n_series + 1, sizeof *use);
    if (!use) {
        return tmx_fail(err, TMX_ENOMEM, "%zu series", f->log->n_series);
    }
    use[series] = true;
    one.use = use;
    enum tmx_status st = tmx_fit_problem_init(&q, &one, err);
    for (size_t k = 0; !st && k < q.n_span; k++) {
        const struct tmx_fit_span *s = &q.span[k];
        tmx_fit_simulate(&q, s, tmx_fit_up_of(&q, s, q.heat));
        if (s->series == series) {
            const struct tmx_series *r = &f->log->series[series];
            const double constant = tmx_fit_ambient_of(&q, r);
            *start_k = isnan(*start_k) ? tmx_fit_best_start(&q, s, constant) : *start_k;
            for (size_t i = 0; i < r->n; i++) {
                temp_c[i] = q.temp[s->at + i] + constant + *start_k * q.start[s->at + i];
            }
        }
    }
    if (!st) {
        tmx_fit_problem_finish(&q);
    }
    free(use);
    return st;
}

enum tmx_status tmx_fit_ambients(struct tmx_fit *f, struct tmx_err *err)
{
    struct tmx_fit_parameter *keep = f->parameter;
    const size_t n = f->n_parameter;
    struct tmx_fit_parameter *ambient = calloc(f->log->n_run + 1, sizeof *ambient);
    enum tmx_status st = ambient ? TMX_OK : tmx_fail(err, TMX_ENOMEM, "%zu runs", f->log->n_run);
    f->parameter = ambient;
    f->n_parameter = 0;
    for (size_t r = 0; !st && r < f->log->n_run; r++) {
        bool any = false;
        for (size_t i = 0; i < f->log->n_series; i++) {
            const struct tmx_series *s = &f->log->series[i];
            any = any || (s->run == r && tmx_fit_uses(f, i) && !(f->inlet && s->q[TMX_Q_INLET]) &&
                          tmx_rc_find(f->model, f->log->gpu[s->gpu]) < f->model->n_gpu);
        }
        if (any) {
            ambient[f->n_parameter++] =
                (struct tmx_fit_parameter){.kind = TMX_FIT_AMBIENT, .gpu = TMX_FIT_ALL, .run = (int)r};
        }
    }
    st = st || f->n_parameter == 0 ? st : tmx_fit_run(f, false, err);
    f->parameter = keep;
    f->n_parameter = n;
    free(ambient);
    return st;
}

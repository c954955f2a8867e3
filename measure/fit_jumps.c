/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a jump of power adds to the variance of each parameter, because nobody knows when between two rows it
 * fell:
 *
 *   heat      of the interval, even over half of it either way where rows hold moments (rows of means hold
 * the energy): the poles after it start off by dP R (1 - exp(-h / tau)), and forget that junction  one row in
 * twenty ends behind a jump that its power does not show yet: off by R_j dP
 *
 * GPUs of one run are loaded together: what one jump does to all of them is one error, and adds up before it
 * is squared. */
#include <gsl/gsl_linalg.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "measure/fit_problem.h"

static const double EVEN = 1.0 / 12, HIDDEN = 0.05;

struct jump {
    size_t run, row;
    long long when; /* rows of the run's own step, so that GPUs read one after another still meet */
};

struct work {
    const struct tmx_fit_problem *q;
    const gsl_matrix *J;
    const gsl_vector *scale;
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

/* J' e of each jump of a span: rows from the last to the first, each pole's sum fading by its step. */
static void heat_effects(struct work *w, const struct tmx_fit_span *s)
{
    const struct tmx_fit_problem *q = w->q;
    const struct tmx_rc *m = q->fit->model;
    const struct tmx_rc_gpu *g = &m->gpu[s->gpu];
    const double r_sink = tmx_rc_sink(m, s->gpu, 0);
    const double r[] = {r_sink, g->die_k_per_w}, tau[] = {r_sink * g->sink_j_per_k, m->die_s};
    const size_t p = w->J->size2;
    const double *jump_w = m->power_is_mean ? q->bare_w : q->jump_w;
    for (size_t pole = 0; pole < 2; pole++) {
        for (size_t a = 0; r[pole] > 0 && tau[pole] > 0 && a < p; a++) {
            double sum = 0;
            for (size_t i = s->row0 + s->n; i-- > s->row0;) {
                const double h = i > s->row0 ? q->time_s[i] - q->time_s[i - 1] : 0;
                sum += gsl_matrix_get(w->J, i, a);
                w->effect[i * p + a] += jump_w[i] * r[pole] * -expm1(-h / tau[pole]) * sum;
                sum *= exp(-h / tau[pole]);
            }
        }
    }
}

static void junction_effects(struct work *w, const struct tmx_fit_span *s)
{
    const struct tmx_fit_problem *q = w->q;
    const double r_j = q->fit->model->gpu[s->gpu].junction_k_per_w;
    const size_t p = w->J->size2, before = q->fit->model->power_is_mean ? 1 : 0;
    for (size_t i = s->row0 + before; i < s->row0 + s->n; i++) {
        for (size_t a = 0; a < p; a++) {
            w->effect[i * p + a] += q->jump_w[i] * r_j * gsl_matrix_get(w->J, i - before, a);
        }
    }
}

/* Sum over the GPUs of each jump, solve, square. B: the factored, scaled J'J. */
static void add_variance(const struct work *w, const gsl_matrix *B, double share, double *variance)
{
    const size_t p = w->J->size2;
    gsl_vector *g = gsl_vector_alloc(p);
    for (size_t k = 0; g && k < w->n;) {
        const struct jump first = w->jump[k];
        gsl_vector_set_zero(g);
        for (; k < w->n && w->jump[k].run == first.run && w->jump[k].when == first.when; k++) {
            for (size_t a = 0; a < p; a++) {
                *gsl_vector_ptr(g, a) += w->effect[w->jump[k].row * p + a] * gsl_vector_get(w->scale, a);
            }
        }
        if (gsl_linalg_cholesky_svx(B, g) == GSL_SUCCESS) {
            for (size_t a = 0; a < p; a++) {
                const double d = gsl_vector_get(g, a) * gsl_vector_get(w->scale, a);
                variance[a] += share * d * d;
            }
        }
    }
    gsl_vector_free(g);
}

static void list_jumps(struct work *w)
{
    const struct tmx_fit_problem *q = w->q;
    for (size_t k = 0; k < q->n_span; k++) {
        const struct tmx_series *r = &q->fit->log->series[q->span[k].series];
        const double step = r->step_s > 0 ? r->step_s : 1;
        for (size_t i = q->span[k].row0; i < q->span[k].row0 + q->span[k].n; i++) {
            if (q->jump_w[i] != 0) {
                w->jump[w->n++] = (struct jump){r->run, i, llround(q->time_s[i] / step)};
            }
        }
    }
    qsort(w->jump, w->n, sizeof *w->jump, by_time);
}

bool tmx_fit_jumps(const struct tmx_fit_problem *q, const gsl_matrix *J, const gsl_matrix *B,
                   const gsl_vector *scale, double *variance)
{
    const size_t p = J->size2;
    struct work w = {.q = q, .J = J, .scale = scale};
    w.jump = malloc((q->n_row + 1) * sizeof *w.jump);
    w.effect = calloc(q->n_row * p + 1, sizeof *w.effect);
    const bool good = w.jump && w.effect;
    if (good) {
        list_jumps(&w);
        for (size_t k = 0; k < q->n_span; k++) {
            heat_effects(&w, &q->span[k]);
        }
        add_variance(&w, B, EVEN, variance);
        memset(w.effect, 0, q->n_row * p * sizeof *w.effect);
        for (size_t k = 0; k < q->n_span; k++) {
            junction_effects(&w, &q->span[k]);
        }
        add_variance(&w, B, HIDDEN, variance);
    }
    free(w.jump);
    free(w.effect);
    return good;
}

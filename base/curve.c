/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/curve.h"

#include <gsl/gsl_multimin.h>
#include <gsl/gsl_statistics_double.h>
#include <math.h>

double tmx_curve_at(size_t n, const double *x, const double *y, size_t step, double at)
{
    size_t i = 0;
    while (i < n && x[i * step] < at) {
        i++;
    }
    const size_t b = i * step, a = i ? b - step : 0;
    if (i == 0 || i == n) {
        return y[a];
    }
    const double w = (at - x[a]) / (x[b] - x[a]);
    return y[a] + w * (y[b] - y[a]);
}

double tmx_quantile(size_t n, double *v, double share)
{
    const size_t rank = (size_t)ceil(share * (double)n);
    return n > 0 ? gsl_stats_select(v, 1, n, rank > 0 ? rank - 1 : 0) : NAN;
}

struct function {
    double (*f)(const double *x, void *ctx);
    void *ctx;
};

static double call(const gsl_vector *x, void *ctx)
{
    const struct function *fn = ctx;
    return fn->f(x->data, fn->ctx);
}

void tmx_minimise(double (*f)(const double *x, void *ctx), void *ctx, size_t n, double *x, double step,
                  double size, int rounds, struct tmx_err *err)
{
    struct function fn = {f, ctx};
    gsl_multimin_function of = {.f = call, .n = n, .params = &fn};
    gsl_vector_view at = gsl_vector_view_array(x, n);
    gsl_vector *steps = gsl_vector_alloc(n);
    gsl_multimin_fminimizer *m = gsl_multimin_fminimizer_alloc(gsl_multimin_fminimizer_nmsimplex2, n);
    if (!m || !steps) {
        tmx_error(err, TMX_ENOMEM, "out of memory");
    } else {
        gsl_vector_set_all(steps, step);
        int code = gsl_multimin_fminimizer_set(m, &of, &at.vector, steps);
        for (int i = 0; i < rounds && !code && gsl_multimin_fminimizer_size(m) > size; i++) {
            code = gsl_multimin_fminimizer_iterate(m);
        }
        gsl_vector_memcpy(&at.vector, m->x);
    }
    gsl_multimin_fminimizer_free(m);
    gsl_vector_free(steps);
}

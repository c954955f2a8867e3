/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "thermal/reduction/shift_pipeline.h"

#include <stdatomic.h>
#include <stdlib.h>

#include "core/base/os.h"

struct tmx_shift_pipeline {
    struct tmx_shift_pipeline_options options;
    struct tmx_thread_pool *pool;
    struct tmx_solver *solver;
    size_t n_made;
    double *x; /* [n_rhs][n_node] of the shift that was factored */
    struct tmx_factor *factor;
    enum tmx_status status; /* of the shift that was factored */
    struct tmx_err err;
    atomic_bool stop; /* no more are wanted */
};

static void make(void *pipeline)
{
    struct tmx_shift_pipeline *l = pipeline;
    const struct tmx_shift_pipeline_options *w = &l->options;
    if (atomic_load(&l->stop)) {
        return;
    }
    const double shift = w->shift[l->n_made];
    l->status = l->factor ? tmx_factor_renew(l->solver, w->gamma, shift, l->factor, &l->err)
                          : tmx_factor_create(l->solver, w->gamma, shift, &l->factor, &l->err);
    if (!l->status && !atomic_load(&l->stop)) {
        l->status = tmx_solve(l->solver, l->factor, w->n_rhs, w->b, l->x);
        if (l->status) {
            (void)tmx_fail(&l->err, l->status, "basis solve");
        }
    }
    l->n_made++;
}

enum tmx_status tmx_shift_pipeline_create(const struct tmx_solver *solver, struct tmx_thread_pool *pool,
                                          const struct tmx_shift_pipeline_options *options,
                                          struct tmx_shift_pipeline **pipeline, struct tmx_err *err)
{
    struct tmx_shift_pipeline *l = calloc(1, sizeof *l);
    *pipeline = NULL;
    if (!l) {
        return tmx_no_memory(err);
    }
    l->options = *options;
    l->pool = pool;
    atomic_init(&l->stop, false);
    l->x = calloc(options->n_rhs * options->n_node, sizeof *l->x);
    tmx_os_large_pages(l->x, options->n_rhs * options->n_node * sizeof *l->x);
    const enum tmx_status st = l->x ? tmx_solver_create_copy(solver, &l->solver, err) : tmx_no_memory(err);
    if (st) {
        free(l->x);
        free(l);
        return st;
    }
    tmx_thread_pool_start(pool, make, l);
    *pipeline = l;
    return TMX_OK;
}

enum tmx_status tmx_shift_pipeline_take(struct tmx_shift_pipeline *l, struct tmx_factor **factor, double **x,
                                        struct tmx_err *err)
{
    tmx_thread_pool_wait(l->pool);
    const enum tmx_status st = l->status;
    if (st) {
        if (err) {
            *err = l->err;
        }
        return st;
    }
    double *const old = *x;
    struct tmx_factor *const done = *factor;
    *x = l->x;
    l->x = old;
    *factor = l->factor;
    l->factor = done;
    if (l->n_made < l->options.n_shift) {
        tmx_thread_pool_start(l->pool, make, l);
    }
    return TMX_OK;
}

void tmx_shift_pipeline_destroy(struct tmx_shift_pipeline *l)
{
    if (!l) {
        return;
    }
    atomic_store(&l->stop, true);
    tmx_thread_pool_wait(l->pool);
    tmx_factor_destroy(l->solver, l->factor);
    tmx_solver_destroy(l->solver);
    free(l->x);
    free(l);
}

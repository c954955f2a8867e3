/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TMX_THERMAL_REDUCTION_SHIFT_PIPELINE_H
#define TMX_THERMAL_REDUCTION_SHIFT_PIPELINE_H

#include "core/base/thread_pool.h"
#include "thermal/assembly/solve.h"

/* Factors of a network at rising shifts and the solutions (G_net + gamma A + s C)^-1 B with them, one shift
 * made ahead by a helper thread while the caller works on the one before. Each is the same in either thread.
 */

struct tmx_shift_pipeline_options {
    double gamma;
    const double *shift; /* [n_shift, 1/s] */
    size_t n_shift;
    const double *b; /* [n_rhs][n_node] */
    size_t n_rhs, n_node;
};

struct tmx_shift_pipeline;

/* The network of solver, the pool and what the options point to are kept by reference and must outlive
 * the pipeline, which alone may start tasks of the pool. */
TMX_NODISCARD enum tmx_status tmx_shift_pipeline_create(const struct tmx_solver *solver,
                                                        struct tmx_thread_pool *pool,
                                                        const struct tmx_shift_pipeline_options *options,
                                                        struct tmx_shift_pipeline **pipeline,
                                                        struct tmx_err *err);
/* The next shift, waited for: its factor, which is the caller's (tmx_factor_destroy by any solver of net),
 * and x [n_rhs][n_node] owned, put in place of the caller's block of that size and of a factor that is no
 * longer needed, or NULL. At most n_shift times, and not after a failure. */
TMX_NODISCARD enum tmx_status tmx_shift_pipeline_take(struct tmx_shift_pipeline *pipeline,
                                                      struct tmx_factor **factor, double **x,
                                                      struct tmx_err *err);
/* Waits for a shift that is being factored. NULL is fine. */
void tmx_shift_pipeline_destroy(struct tmx_shift_pipeline *pipeline);

#endif

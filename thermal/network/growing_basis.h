/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TMX_THERMAL_NETWORK_GROWING_BASIS_H
#define TMX_THERMAL_NETWORK_GROWING_BASIS_H

#include <stdbool.h>

#include "thermal/network/dense.h"
#include "thermal/network/krylov.h"

/* The vectors of a basis while it grows: V' C V = 1, with the projections of G, A, B and E onto them. */

struct tmx_growing_basis {
    const struct tmx_network *net;
    struct tmx_basis
        *basis; /* gamma is the caller's; g and a have room rows a column until tmx_growing_basis_close */
    struct tmx_thread_pool *pool; /* of two threads */
    struct tmx_tall tall;
    bool several;             /* film coefficients will be used: a is needed */
    size_t room;              /* columns v, g, a have space for */
    size_t n_in;              /* columns of B: the units', and perhaps that of the air */
    double *b;                /* [n_in][n_node] B, the caller's to fill */
    double *e;                /* [n_unit][n_node] E, likewise; NULL when E = B */
    double *x, *w;            /* [n_in][n_node] what is to be appended; work */
    double *in, *out;         /* [room][n_in] B' V, [room][n_unit] E' V; out NULL when E = B */
    double *small, *part;     /* [room * n_in], [TMX_TALL_PIECES][room * n_in] work */
    double *eigen, *eigenval; /* [n_in * n_in], [n_in] work */
    double *square;           /* [room * room] work */
};

/* net and basis are kept by reference. Overwritten; end it with tmx_growing_basis_finish, also after failure.
 */
TMX_NODISCARD enum tmx_status tmx_growing_basis_init(struct tmx_growing_basis *basis_so_far,
                                                     struct tmx_basis *basis, const struct tmx_network *net,
                                                     size_t n_in, bool several, bool own_out,
                                                     struct tmx_err *err);
void tmx_growing_basis_finish(struct tmx_growing_basis *basis_so_far);

/* Append the first n_col columns of x to the basis, without what depends on it. Uses x and w. */
TMX_NODISCARD enum tmx_status tmx_growing_basis_append(struct tmx_growing_basis *basis_so_far, size_t n_col,
                                                       struct tmx_err *err);
/* r := columns - (G + s C) V (Gr + s)^-1 V' columns, for m columns; seen is columns' V. Uses x. */
TMX_NODISCARD enum tmx_status tmx_growing_basis_residual(struct tmx_growing_basis *basis_so_far, double s,
                                                         size_t m, const double *columns, const double *seen,
                                                         double *r, struct tmx_err *err);
/* The basis has all its vectors: drop the spare room of g and a, and project what is left. */
TMX_NODISCARD enum tmx_status tmx_growing_basis_close(struct tmx_growing_basis *basis_so_far,
                                                      struct tmx_err *err);

#endif

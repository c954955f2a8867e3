/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TMX_THERMAL_NETWORK_BASIS_SELECT_H
#define TMX_THERMAL_NETWORK_BASIS_SELECT_H

#include <stdbool.h>

#include "thermal/network/reduce.h"
#include "thermal/network/truncate.h"

/* Which directions of a basis to keep: all of them, the most worthy first. */

enum { TMX_MAX_LEVEL_BASIS = 3 };

struct tmx_level_basis { /* the whole basis at one film coefficient */
    struct tmx_modes modes;
    double *bt, *ot; /* [n_in][k], [m][k] */
};

struct tmx_basis_select { /* k: modes of the basis, m: units, n_in: those and with wish->ambient_k the air */
    const struct tmx_basis *basis;
    const struct tmx_truncation *options;
    size_t k, m, n_in, n_level_basis;
    struct tmx_level_basis level_basis[TMX_MAX_LEVEL_BASIS]; /* the first is that of the basis' own
                                           coefficient, in whose xi directions are */
    double *weight;                                          /* [n_in] power_w, ambient_k */
    double *root;                                            /* [k] Lambda^1/2 */
    double *u;                                               /* [k][k] directions, best first, by columns */
    size_t n_kept;                                           /* of them must be kept */
    double *small;                                           /* [k][k] work */
    /* several film coefficients, else NULL: */
    double *f;    /* [k][k] F */
    double *air;  /* [k] F Lambda^1/2 c */
    double *mass; /* [k][k] work */
};

/* basis and wish are kept by reference. Overwritten; end it with tmx_basis_select_finish, also after failure.
 */
TMX_NODISCARD enum tmx_status tmx_basis_select_init(struct tmx_basis_select *dir,
                                                    const struct tmx_basis *basis,
                                                    const struct tmx_truncation *options,
                                                    struct tmx_err *err);
void tmx_basis_select_finish(struct tmx_basis_select *dir);

bool tmx_basis_select_several(const struct tmx_basis_select *dir); /* film coefficients? */
/* v := (1 + d F)^-1 v for n columns; several film coefficients alone. */
TMX_NODISCARD enum tmx_status tmx_basis_select_at_level(struct tmx_basis_select *dir, double d, size_t n,
                                                        double *v, struct tmx_err *err);

#endif

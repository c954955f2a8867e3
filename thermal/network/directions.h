/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TMX_THERMAL_NETWORK_DIRECTIONS_H
#define TMX_THERMAL_NETWORK_DIRECTIONS_H

#include <stdbool.h>

#include "thermal/network/reduce.h"
#include "thermal/network/truncate.h"

/* Which directions of a basis to keep: all of them, the most worthy first. */

enum { TMX_MAX_FACE = 3 };

struct tmx_face { /* the whole basis at one film coefficient */
    struct tmx_modes modes;
    double *bt, *ot; /* [n_in][k], [m][k] */
};

struct tmx_directions { /* k: modes of the basis, m: units, n_in: those and with wish->ambient_k the air */
    const struct tmx_basis *basis;
    const struct tmx_truncation *wish;
    size_t k, m, n_in, n_face;
    struct tmx_face face[TMX_MAX_FACE]; /* the first is that of the basis' own coefficient, in whose xi
                                           directions are */
    double *weight;                     /* [n_in] power_w, ambient_k */
    double *root;                       /* [k] Lambda^1/2 */
    double *u;                          /* [k][k] directions, best first, by columns */
    size_t n_kept;                      /* of them must be kept */
    double *small;                      /* [k][k] work */
    /* several film coefficients, else NULL: */
    double *f;    /* [k][k] F */
    double *air;  /* [k] F Lambda^1/2 c */
    double *mass; /* [k][k] work */
};

/* basis and wish are kept by reference. Overwritten; end it with tmx_directions_finish, also after failure.
 */
TMX_NODISCARD enum tmx_status tmx_directions_init(struct tmx_directions *dir, const struct tmx_basis *basis,
                                                  const struct tmx_truncation *wish, struct tmx_err *err);
void tmx_directions_finish(struct tmx_directions *dir);

bool tmx_directions_several(const struct tmx_directions *dir); /* film coefficients? */
/* v := (1 + d F)^-1 v for n columns; several film coefficients alone. */
TMX_NODISCARD enum tmx_status tmx_directions_at_level(struct tmx_directions *dir, double d, size_t n,
                                                      double *v, struct tmx_err *err);

#endif

/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TMX_THERMAL_NETWORK_REDUCE_H
#define TMX_THERMAL_NETWORK_REDUCE_H

#include "thermal/network/krylov.h"
#include "thermal/network/modal.h"

/* From a basis to the modal form at one film coefficient. */

struct tmx_modes { /* the modal form, not yet laid out for stepping; columns over n_mode */
    size_t n_mode, n_unit;
    double gamma;
    double *rate;        /* [n_mode, 1/s] owned, ascending */
    double *vector;      /* [n_mode][n_mode] owned: modes in the basis, by columns */
    double *in, *out;    /* [n_unit][n_mode] owned; out may be in */
    double *one, *leave; /* [n_mode] owned; leave: heat to the air [W], through sink and board */
};

/* Diagonalise the projected network at gamma. Overwritten; end with tmx_modes_finish. */
TMX_NODISCARD enum tmx_status tmx_modes_init(struct tmx_modes *modes, const struct tmx_basis *basis,
                                             double gamma, struct tmx_err *err);
void tmx_modes_finish(struct tmx_modes *modes);

/* The full modal form, ready to step. */
TMX_NODISCARD enum tmx_status tmx_modes_layout(const struct tmx_modes *modes, struct tmx_modal *modal,
                                               struct tmx_err *err);

#endif

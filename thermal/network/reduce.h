/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TMX_THERMAL_NETWORK_REDUCE_H
#define TMX_THERMAL_NETWORK_REDUCE_H

#include "thermal/network/krylov.h"
#include "thermal/network/modal.h"

/* From a basis to models that step: the modal form at one film coefficient, and its
 * truncation to the modes that matter for steps of power. */

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

struct tmx_truncation {
    double tolerance_k;    /* at every unit, for steps of power_w in all units */
    const double *power_w; /* [n_unit] */
    double ambient_k;      /* and for a uniform start so far from the air; 0: not looked at */
    double min_step_s;     /* from this time after a step on */
    size_t n_mode;         /* 0: as few as the tolerance allows */
    bool octaves;          /* choose directions by every octave of time alike, not by every second */
};

/* The truncated form. lift [n_mode of modal][n_mode of modes], allocated here and owned by
 * the caller (free), takes a state to mode amplitudes:
 *   amplitudes = in p / rate + lift (z - in p / rate of modal).
 * error [n_unit + 1][n_unit], rows as those of tmx_basis: the largest difference to the modal
 * form from min_step_s on, added to what is there. */
TMX_NODISCARD enum tmx_status tmx_modes_truncate(const struct tmx_modes *modes,
                                                 const struct tmx_truncation *wish, struct tmx_modal *modal,
                                                 double **lift, double *error, struct tmx_err *err);

#endif

/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TMX_THERMAL_REDUCTION_TRUNCATE_H
#define TMX_THERMAL_REDUCTION_TRUNCATE_H

#include "thermal/reduction/krylov.h"
#include "thermal/reduction/modal.h"

/* From a basis to a model of as few modes as steps of power need, at one film coefficient or at several. */

/* At level l a state z has the field V x,
 *   one level:  x = rest p + map (z - in p / rate)       several:  x = rest p + map vector[l]' z
 * w = vector[l]' z is the same before and after a change of level; z = back[l] w. */
struct tmx_truncated {
    size_t n_mode;
    double *map;               /* [n_mode][basis n_mode] */
    double *rest;              /* [n_unit][basis n_mode] */
    double *vector;            /* [n_level][n_mode][n_mode] by rows of modes; NULL: one level */
    double *back;              /* the same of its inverse */
    struct tmx_arena *vectors; /* of these two: the caller's */
    struct tmx_arena arena;    /* of map and rest */
};

/* Overwritten but for `vectors`; end it with tmx_truncated_finish, also after failure. modal [n_level] is
 * filled, one table a level, each to be ended with tmx_modal_finish. error [n_unit + 1][n_unit], rows as
 * those of tmx_basis: the largest difference to the whole basis from min_step_s on, added to what is there.
 */
void tmx_truncate(struct tmx_truncated *cut, const struct tmx_basis *basis, const struct tmx_demand *demand,
                  struct tmx_modal *modal, double *error, struct tmx_err *err);
void tmx_truncated_finish(struct tmx_truncated *cut);

/* From a basis to the modal form at one film coefficient. */

struct tmx_modes { /* the modal form, not yet laid out for stepping; columns over n_mode */
    size_t n_mode, n_unit;
    double gamma;
    double *rate;        /* [n_mode, 1/s] ascending */
    double *vector;      /* [n_mode][n_mode] modes in the basis, by columns */
    double *in, *out;    /* [n_unit][n_mode] out may be in */
    double *one, *leave; /* [n_mode] leave: heat to the air [W], through sink and board */
    struct tmx_arena arena;
};

/* Diagonalise the projected network at gamma. Overwritten; end with tmx_modes_finish. */
void tmx_modes_init(struct tmx_modes *modes, const struct tmx_basis *basis, double gamma,
                    struct tmx_err *err);
void tmx_modes_finish(struct tmx_modes *modes);

/* The full modal form, ready to step. */
void tmx_modes_layout(const struct tmx_modes *modes, struct tmx_modal *modal, struct tmx_err *err);

#endif

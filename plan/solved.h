/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TMX_PLAN_SOLVED_H
#define TMX_PLAN_SOLVED_H

/* Linear programmes solved before, by content: the runs of one mix have one bound under every policy. */

#include "plan/lp.h"

struct tmx_solved;

/* End with tmx_solved_destroy (accepts NULL). */
TMX_NODISCARD enum tmx_status tmx_solved_create(struct tmx_solved **s, struct tmx_err *err);
void tmx_solved_destroy(struct tmx_solved *s);

/* As tmx_lp_solve, but what s has kept is not solved again; s NULL: nothing is kept. Failures are not. */
TMX_NODISCARD enum tmx_status tmx_solved_lp(struct tmx_solved *s, const struct tmx_lp *lp, double *x,
                                            double *dual, double *objective, struct tmx_err *err);

/* How many had to be solved. */
size_t tmx_solved_new(const struct tmx_solved *s);

#endif

/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TMX_LIMITS_LP_CACHE_H
#define TMX_LIMITS_LP_CACHE_H

/* Linear programmes solved before, by content: the runs of one mix have one bound under every policy. */

#include "limits/lp.h"

struct tmx_lp_cache;

/* End with tmx_lp_cache_destroy (accepts NULL). */
TMX_NODISCARD enum tmx_status tmx_lp_cache_create(struct tmx_lp_cache **s, struct tmx_err *err);
void tmx_lp_cache_destroy(struct tmx_lp_cache *s);

/* As tmx_lp_solve, but what s has kept is not solved again; s NULL: nothing is kept. Failures are not. */
TMX_NODISCARD enum tmx_status tmx_lp_cache_lp(struct tmx_lp_cache *s, const struct tmx_lp *lp, double *x,
                                              double *dual, double *objective, struct tmx_err *err);

/* How many had to be solved. */
size_t tmx_lp_cache_new(const struct tmx_lp_cache *s);

#endif

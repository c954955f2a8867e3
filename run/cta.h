/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TMX_RUN_CTA_H
#define TMX_RUN_CTA_H

/* CTA policies in a run: group `cta = { policy = "tcs"; place = "coldest"; }`. Private to run/. */

#include "run/state.h"

/* Run every kernel of the mix once under the policy on the epoch model and fill sim_spec.cta. Without the
 * group, or with policy "none", nothing happens. Errors: TMX_ECONFIG (unknown policy, kernel or chip
 * without group `memory`, several kinds of chips). */
TMX_NODISCARD enum tmx_status tmx_run_cta_open(struct tmx_run *r, const struct tmx_setting *root,
                                               struct tmx_err *err);
void tmx_run_cta_write(const struct tmx_run *r, enum tmx_resolved what,
                       FILE *out); /* the group, resolved, and the plans */
void tmx_run_cta_close(struct tmx_run *r);

#endif

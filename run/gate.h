/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TMX_RUN_GATE_H
#define TMX_RUN_GATE_H

/* Unit gating in a run: group `gate = { policy = "warped_gates"; }`. Private to run/. */

#include "run/state.h"

/* Profile every kernel of the mix under the policy on every kind's chip (cached on disk) and fill spec.gate.
 * Without the group, or with policy "none", nothing happens. Errors: TMX_ECONFIG (unknown policy, kernel
 * without `instructions`), TMX_EIO (a chip without sm.cfg). */
TMX_NODISCARD enum tmx_status tmx_run_gate_open(struct tmx_run *r, const struct tmx_setting *root,
                                                struct tmx_err *err);
void tmx_run_gate_close(struct tmx_run *r);
/* Largest errors of the interpolation against fresh cycle-level runs, over the mix's kernels [1]; 0 without
 * gating. */
double tmx_run_gate_asleep_error(const struct tmx_run *r);
double tmx_run_gate_slowdown_error(const struct tmx_run *r);
void tmx_run_gate_write(const struct tmx_run *r, enum tmx_resolved what, FILE *out); /* the group, resolved */

#endif

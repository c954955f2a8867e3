/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TMX_RUN_NODE_H
#define TMX_RUN_NODE_H

#include "run/run.h"

/* Which GPUs a run has: `gpus` of one `chip`, or a `topology` of cards, fans and air. GPUs of one
 * kind (chip and cooler) share chip data and thermal model. After the policies are known. */
TMX_NODISCARD enum tmx_status tmx_run_node_open(struct tmx_run *r, const struct tmx_setting *root,
                                                struct tmx_err *err);
void tmx_run_node_close(struct tmx_run *r);

/* Fill the machine's, the thermal and the cooling part of the simulation's spec. */
TMX_NODISCARD enum tmx_status tmx_run_node_spec(struct tmx_run *r, struct tmx_err *err);

#endif

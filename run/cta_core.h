/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TMX_RUN_CTA_CORE_H
#define TMX_RUN_CTA_CORE_H

/* Per-core parameters of the epoch model (ipc1, cpi1, mlp): as the kernel's group `memory` gives them, or
 * measured by running its `instructions` on the chip's SM cycle by cycle. */

#include "core/base/table.h"
#include "run/cta_alone.h"

/* Load a kernel's program by name; its per-core parameters come from chip->memory.core; seed: of the streams
 * they are measured with. Launches that are alike are measured once; what was measured is kept in the user's
 * cache folder. compare: NULL, or a table of tmx_cta_core_table that gets a row a group of launches alike,
 * both sources side by side (then it is measured in any case). Errors: TMX_EIO, TMX_ECONFIG (no such kernel,
 * no group `memory`; to measure: no `instructions`, a chip without memory.sm). */
TMX_NODISCARD enum tmx_status tmx_cta_program_load(struct tmx_memory_program *program, const char *kernel,
                                                   const struct tmx_cta_chip *chip, uint64_t seed,
                                                   struct tmx_table *compare, struct tmx_err *err);

/* An empty table with the columns of the comparison. */
TMX_NODISCARD enum tmx_status tmx_cta_core_table(struct tmx_table **t, struct tmx_err *err);

#endif

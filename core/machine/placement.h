/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TMX_CORE_MACHINE_PLACEMENT_H
#define TMX_CORE_MACHINE_PLACEMENT_H

/* Thread blocks of one launch over the SMs of one GPU, paper 004 section V. Blocks go
 * round-robin to SMs until the slots are full; the rest stay untouched until SMs have room.
 * Blocks that share an SM share its time: the paper's "one big workload" adds their work up. */

#include <stddef.h>

#include "core/machine/workload.h"

struct tmx_block_type { /* blocks in the order of their indices in the launch */
    size_t blocks;
    double work_s;   /* of one block alone on an SM, > 0 */
    double sm_share; /* of an SM's throughput that one block uses, 0..1; 1: work of SM mates adds up */
};

struct tmx_placement {
    double time_s;      /* end of the critical SMs */
    size_t critical_sm; /* the first of them */
    size_t n_critical;
    size_t occupied;                         /* SMs that ran any block */
    double end_s[TMX_SM_MAX];                /* [sms] last block of each SM, 0: none */
    size_t blocks[TMX_SM_MAX][TMX_KIND_MAX]; /* [sms][n_type] blocks each SM ran */
};

/* Place n_type <= TMX_KIND_MAX types on sms <= TMX_SM_MAX SMs of `slots` <= TMX_SLOT_MAX block
 * slots each. Pure. */
void tmx_placement_run(const struct tmx_block_type *type, size_t n_type, size_t sms, size_t slots,
                       enum tmx_redistribution redistribution, struct tmx_placement *out);

#endif

/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TMX_CORE_MICRO_LAUNCH_PROFILE_H
#define TMX_CORE_MICRO_LAUNCH_PROFILE_H

/* From the instructions of a kernel to the per-core parameters of one of its launches: the link between
 * sm_cycle, which knows instructions, and the epoch model, which knows ipc1, cpi1 and mlp. What a core
 * executes comes from group `instructions`; how many warps are resident and how many lines they send to the
 * L2 comes from the launch. */

#include "core/micro/memory.h"
#include "core/micro/profile.h"

/* Statistics of the launch: those of the kernel with the launch's resident blocks and, at the chip's
 * contention-free latency, exactly its lines per instruction. Traffic is matched in this order: lines per
 * access (at least one), share of loads that miss, share of stores; a body without a global load, but with
 * traffic, sends all its loads and stores to global memory. key->stats is replaced; its knobs, SM and seed
 * are read. Errors: TMX_ECONFIG (statistics that no stream can be made of), TMX_ENOMEM. */
TMX_NODISCARD enum tmx_status tmx_launch_profile_key(struct tmx_profile_key *key,
                                                     const struct tmx_memory_kernel *launch,
                                                     const struct tmx_memory_chip *chip, struct tmx_err *err);

/* Put what sm_cycle has measured in place of the given parameters. The distance between two waits of a
 * warp, B = mlp / q, is what was measured: where the stream's q differs from the launch's, mlp follows. */
void tmx_launch_profile_use(struct tmx_memory_kernel *launch, const struct tmx_memory_chip *chip,
                            const struct tmx_core_fit *fit);

#endif

/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TMX_CORE_MACHINE_DECOMPOSITION_H
#define TMX_CORE_MACHINE_DECOMPOSITION_H

/* One simulation on several processes ("ranks"). Each has the whole of it: arrivals, queues, policies, fans,
 * air, and blocks on SMs. Watts, kelvins and their record each steps for its own GPUs alone, a range of them,
 * and takes from the others what the rest is decided by. So results do not depend on the number of ranks. */

#include "core/machine/machine.h"

struct tmx_ranks { /* how processes reach one another: a function of the program that started them */
    size_t rank, size;
    const void *ctx;
    /* Called by all: rank r has count[r] bytes in its `all` from byte at[r] on; afterwards every rank has
     * them. */
    enum tmx_status (*gather)(const void *ctx, void *all, const int *count, const int *at,
                              struct tmx_err *err);
    bool watched; /* the observer looks at temperatures and watts after every tick */
};

struct tmx_decomposition;

/* Whose of n_gpu GPUs are whose; at most one rank a GPU. */
TMX_NODISCARD enum tmx_status tmx_decomposition_create(struct tmx_decomposition **share,
                                                       const struct tmx_ranks *ranks,
                                                       const struct tmx_machine *machine,
                                                       struct tmx_err *err);
void tmx_decomposition_destroy(struct tmx_decomposition *share); /* accepts NULL */

const struct tmx_ranks *tmx_decomposition_ranks(const struct tmx_decomposition *share);
/* The GPUs of this rank; share NULL: all of n_gpu. */
struct tmx_gpus tmx_decomposition_own(const struct tmx_decomposition *share, size_t n_gpu);

/* An array that goes over all ranks, or GPUs, or their SMs or units; each rank has written its own part of
 * it. */
enum tmx_decomposition_of { TMX_OF_RANK, TMX_OF_GPU, TMX_OF_SM, TMX_OF_UNIT, TMX_N_OF };
struct tmx_decomposition_part {
    void *array;
    enum tmx_decomposition_of of;
    size_t size; /* bytes of an element */
};
/* Called by all with the same parts: afterwards the arrays are whole on each rank. Allocates where more is
 * exchanged than ever before. Errors stay (base/err.h). */
void tmx_decomposition_exchange(struct tmx_decomposition *share, const struct tmx_decomposition_part *part,
                                size_t n_part, struct tmx_err *err);

#endif

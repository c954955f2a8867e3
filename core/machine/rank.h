/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TMX_CORE_MACHINE_RANK_H
#define TMX_CORE_MACHINE_RANK_H

#include <stddef.h>

/* Order order[0..n) = 0..n-1 by key ascending, ties by index. Allocates nothing; n is a chip's SMs. */
void tmx_rank_ascending(const double *key, size_t n, size_t *order);

#endif

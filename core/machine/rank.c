/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "core/machine/rank.h"

void tmx_rank_ascending(const double *key, size_t n, size_t *order)
{
    for (size_t i = 0; i < n; i++) {
        size_t j = i;
        for (; j > 0 && key[order[j - 1]] > key[i]; j--) {
            order[j] = order[j - 1];
        }
        order[j] = i;
    }
}

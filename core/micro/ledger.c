/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "core/micro/ledger.h"

#include "core/base/err.h"

size_t tmx_ledger_clock(struct tmx_ledger *l, double core_clock, double memory_clock)
{
    for (size_t i = 0; i < l->n_clock; i++) {
        if (l->core_clock[i] == core_clock && l->memory_clock[i] == memory_clock) {
            return i;
        }
    }
    tmx_assert(l->n_clock < TMX_MAX_CLOCK);
    l->core_clock[l->n_clock] = core_clock;
    l->memory_clock[l->n_clock] = memory_clock;
    return l->n_clock++;
}

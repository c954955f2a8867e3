/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TMX_CORE_MICRO_LEDGER_H
#define TMX_CORE_MICRO_LEDGER_H

/* What a chip did, in a form a power model can price: time in each state and counts of events, kept
 * apart by clock setting and number of working cores. */

#include <stddef.h>
#include <stdint.h>

#include <thermix/policy.h>

#include "core/micro/cta_book.h"

struct tmx_ledger_bin { /* one clock setting, one number of clocked cores */
    double seconds;
    double core_s[TMX_N_CORE_STATE]; /* core-seconds in each state; GIVEN: lent and taken */
    double instr;                    /* warp instructions */
    double lines;                    /* L2 accesses */
    double dram_lines;               /* of these, missed */
};

enum { TMX_MAX_CLOCK = 4 };

struct tmx_ledger {
    size_t n_clock;
    double core_clock[TMX_MAX_CLOCK], memory_clock[TMX_MAX_CLOCK]; /* relative */
    struct tmx_ledger_bin bin[TMX_MAX_CLOCK][TMX_MAX_CORE + 1];    /* [clock][clocked cores] */
    double gatings, wakeups;                                       /* cores switched off, on */
    double clock_changes;
};

/* Index of a clock setting, added when new. A run has at most TMX_MAX_CLOCK settings. */
size_t tmx_ledger_clock(struct tmx_ledger *l, double core_clock, double memory_clock);

#endif

#ifndef TMX_CORE_CONTRACT_GATE_POLICY_H
#define TMX_CORE_CONTRACT_GATE_POLICY_H

/* Which execution units sleep, and in which order warps are issued.
 *
 * A policy is pure data: it chooses among mechanisms that core/micro/sm_cycle has once.
 * Source of all of them: Abdel-Majeed, Wong & Annavaram, "Warped Gates", MICRO 2013
 * (below "WG"), sections 2 to 6; times in core clock cycles (700 MHz on a GTX480). */

#include <stdbool.h>

#include "core/base/plugin.h"

enum tmx_gate_order {                    /* in which order the arbiter looks at ready warps */
                      TMX_ORDER_ROUND,   /* two-level scheduler: round robin over all active warps */
                      TMX_ORDER_BY_TYPE, /* GATES: INT|FP first, LDST, SFU, the other of FP|INT last (WG 4.1)
                                          */
};

enum tmx_gate_wake {                     /* when a sleeping unit may be woken */
                     TMX_WAKE_NO_GATING, /* it never sleeps */
                     TMX_WAKE_ANY_TIME,  /* conventional power gating (WG figure 2c) */
                     TMX_WAKE_AFTER_BET, /* blackout: not before the break-even time (WG 5) */
};

/* The times and thresholds, the same for every policy; a chip gives them (sm.cfg, group gate). */
struct tmx_gate_params {
    int idle_detect_cycles;     /* idle cycles before a unit is gated; the start value where adaptive */
    int break_even_cycles;      /* sleep that pays for one switching of the sleep transistor */
    int wakeup_cycles;          /* from the request until the unit can be used */
    int epoch_cycles;           /* adaptive: length of one observation */
    int critical_limit;         /* adaptive: more critical wake-ups than this in an epoch: idle detect + 1 */
    int relax_epochs;           /* adaptive: this many epochs within the limit: idle detect - 1 */
    int idle_detect_min_cycles; /* adaptive: bounds */
    int idle_detect_max_cycles;
    int switch_limit_cycles; /* GATES: swap INT and FP priority at the latest after this; 0: no limit */
    bool gate_sfu;           /* the SFU sleeps too, always by the conventional rule (WG 3) */
};

extern const struct tmx_opt tmx_gate_opts[]; /* rows of struct tmx_gate_params, {0}-terminated */

struct tmx_gate_policy {
    struct tmx_plugin base; /* no options, no state */
    enum tmx_gate_order order;
    enum tmx_gate_wake wake;
    bool coordinated; /* the second cluster of a type sleeps only when no active warp wants the type */
    bool adaptive;    /* idle detect follows the count of critical wake-ups */
};

#endif

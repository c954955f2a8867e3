/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TMX_CORE_MICRO_SM_GATING_H
#define TMX_CORE_MICRO_SM_GATING_H

/* The power-gating state machine of every unit (WG figure 2c, sections 5 and 5.1). Private to
 * sm_cycle and its tests.
 *
 *   ON --idle for idle-detect cycles--> ASLEEP --request--> WAKING --wakeup cycles--> ON
 *
 * Under blackout the request is refused until the unit has slept for the break-even time. Nothing is
 * counted per cycle: every state holds the cycle at which it began or ends. */

#include "core/micro/sm_cycle.h"

#define TMX_NEVER UINT32_MAX

enum { TMX_SLEPT_NOT, TMX_SLEPT_LONG, TMX_SLEPT_SHORT }; /* in the current idle period */

struct tmx_gating {
    const struct tmx_gate_params *params;
    const struct tmx_sm_probe *probe;
    enum tmx_gate_wake wake;
    bool coordinated, adaptive;
    unsigned n_unit;             /* units that can sleep are 0 .. n_unit - 1 */
    unsigned on, asleep, waking; /* bit per unit; exactly one of the three is set */
    uint32_t busy_until[TMX_SM_N_UNIT];
    uint32_t idle_since[TMX_SM_N_UNIT]; /* ON: end of busy or of waking, the later */
    uint32_t gate_at[TMX_SM_N_UNIT];    /* ON: idle_since + idle detect; else TMX_NEVER */
    uint32_t asleep_since[TMX_SM_N_UNIT];
    uint32_t on_at[TMX_SM_N_UNIT];     /* WAKING: first cycle of use; else TMX_NEVER */
    uint32_t soonest_gate, soonest_on; /* minima of the two */
    uint8_t slept[TMX_SM_N_UNIT];
    uint32_t idle_detect[3];       /* per type, adaptive */
    uint64_t idle_detect_sum[3];   /* over epochs */
    unsigned critical[3], calm[3]; /* critical wake-ups in this epoch; epochs within the limit in a row */
    uint32_t epoch_end, n_epoch;
    struct tmx_gate_stat stat[3];
};

static inline unsigned tmx_unit_kind(unsigned unit) /* 0 INT, 1 FP, 2 SFU */
{
    return unit >> 1;
}

void tmx_gating_init(struct tmx_gating *g, const struct tmx_sm_params *sm,
                     const struct tmx_gate_policy *policy, const struct tmx_gate_params *params,
                     const struct tmx_sm_probe *probe);
/* Units whose wake-up time is over at t. */
void tmx_gating_arrive(struct tmx_gating *g, uint32_t t);
/* Ask a sleeping unit to wake at t; the caller has checked tmx_gating_may_wake. */
void tmx_gating_request(struct tmx_gating *g, unsigned unit, uint32_t t);
/* End of cycle t: let idle units sleep from t + 1. wanted: bit per type that an active warp waits for. */
void tmx_gating_settle(struct tmx_gating *g, uint32_t t, unsigned wanted);
/* End of an epoch (adaptive). */
void tmx_gating_adapt(struct tmx_gating *g);
/* Close all periods at the end of a run of T cycles. */
void tmx_gating_finish(struct tmx_gating *g, uint32_t T);

static inline bool tmx_gating_may_wake(const struct tmx_gating *g, unsigned unit, uint32_t t)
{
    return g->wake != TMX_WAKE_AFTER_BET || unit == TMX_SM_SFU ||
           t - g->asleep_since[unit] >= (uint32_t)g->params->break_even_cycles;
}

static inline void tmx_gating_period(struct tmx_gating *g, unsigned unit, uint32_t length)
{
    struct tmx_gate_stat *s = &g->stat[tmx_unit_kind(unit)];
    int idle_class = TMX_IDLE_WASTED;
    if (g->wake == TMX_WAKE_NO_GATING) {
        const uint32_t detect = (uint32_t)g->params->idle_detect_cycles;
        const uint32_t gain = detect + (uint32_t)g->params->break_even_cycles;
        idle_class += (length >= detect) + (length >= gain);
    } else if (g->slept[unit] != TMX_SLEPT_NOT) {
        idle_class = g->slept[unit] == TMX_SLEPT_SHORT ? TMX_IDLE_UNCOMPENSATED : TMX_IDLE_COMPENSATED;
    }
    s->idle_cycles += length;
    s->idle_periods[idle_class]++;
    s->period_cycles[idle_class] += length;
}

static inline void tmx_gating_soonest(struct tmx_gating *g)
{
    uint32_t soonest = TMX_NEVER;
    for (unsigned u = 0; u < g->n_unit; u++) {
        soonest = g->gate_at[u] < soonest ? g->gate_at[u] : soonest;
    }
    g->soonest_gate = soonest;
}

/* The unit takes an instruction at t and is busy for `busy` cycles. */
static inline void tmx_gating_use(struct tmx_gating *g, unsigned unit, uint32_t t, uint32_t busy)
{
    const unsigned kind = tmx_unit_kind(unit);
    g->stat[kind].issued++;
    if (t > g->busy_until[unit]) {
        tmx_gating_period(g, unit, t - g->busy_until[unit]);
        g->slept[unit] = TMX_SLEPT_NOT;
    }
    g->busy_until[unit] = t + busy;
    g->idle_since[unit] = t + busy;
    if (unit < g->n_unit) {
        const bool was_soonest = g->gate_at[unit] == g->soonest_gate;
        g->gate_at[unit] = t + busy + g->idle_detect[kind];
        if (was_soonest) {
            tmx_gating_soonest(g);
        }
    }
}

#endif

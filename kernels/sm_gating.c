/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "kernels/sm_cycle.h"

/* Defaults: WG 2.2 (break-even 14 of 9, 14, 19, 24; wake-up 3), 5.1 (epoch 1000, limit 5, four
 * epochs, bounds 5 to 10), 7.1 (idle detect 5). */
const struct tmx_opt tmx_gate_opts[] = {
    TMX_ROW_INT(tmx_gate_params, idle_detect_cycles, "cycles", 1, 1000, 5, "idle time before gating"),
    TMX_ROW_INT(tmx_gate_params, break_even_cycles, "cycles", 1, 1000, 14,
                "sleep that saves the energy of one switching"),
    TMX_ROW_INT(tmx_gate_params, wakeup_cycles, "cycles", 1, 1000, 3, "delay from request to use"),
    TMX_ROW_INT(tmx_gate_params, epoch_cycles, "cycles", 10, 1000000, 1000,
                "adaptive: length of one observation"),
    TMX_ROW_INT(tmx_gate_params, critical_limit, "wake-ups", 0, 100000, 5,
                "adaptive: more critical wake-ups per epoch lengthen idle detect"),
    TMX_ROW_INT(tmx_gate_params, relax_epochs, "epochs", 1, 1000, 4,
                "adaptive: epochs within the limit that shorten idle detect"),
    TMX_ROW_INT(tmx_gate_params, idle_detect_min_cycles, "cycles", 1, 1000, 5, "adaptive: lower bound"),
    TMX_ROW_INT(tmx_gate_params, idle_detect_max_cycles, "cycles", 1, 1000, 10, "adaptive: upper bound"),
    TMX_ROW_INT(tmx_gate_params, switch_limit_cycles, "cycles", 0, 1000000, 0,
                "GATES: longest time one type keeps priority; 0: no limit"),
    TMX_ROW_BOOL(tmx_gate_params, gate_sfu, 0, "gate the SFU too, by the conventional rule"),
    {0},
};

static void tell(const struct tmx_gating *g, enum tmx_sm_event_kind kind, unsigned unit, uint32_t t)
{
    if (g->probe) {
        g->probe->event(g->probe->context, &(struct tmx_sm_event){.cycle = t, .kind = kind, .unit = unit});
    }
}

static void soonest_on(struct tmx_gating *g)
{
    uint32_t soonest = TMX_NEVER;
    for (unsigned u = 0; u < TMX_SM_N_UNIT; u++) {
        soonest = g->on_at[u] < soonest ? g->on_at[u] : soonest;
    }
    g->soonest_on = soonest;
}

void tmx_gating_init(struct tmx_gating *g, int clusters, const struct tmx_gate_policy *policy,
                     const struct tmx_gate_params *params, const struct tmx_sm_probe *probe)
{
    const bool gates = policy->wake != TMX_WAKE_NO_GATING;
    *g = (struct tmx_gating){.params = params,
                             .probe = probe,
                             .wake = policy->wake,
                             .coordinated = policy->coordinated && clusters == 2,
                             .adaptive = policy->adaptive,
                             .n_unit = gates ? (params->gate_sfu ? TMX_SM_N_UNIT : TMX_SM_SFU) : 0,
                             .on = clusters == 2 ? 0x1f : 0x15,
                             .soonest_on = TMX_NEVER,
                             .epoch_end = policy->adaptive ? (uint32_t)params->epoch_cycles : TMX_NEVER};
    for (unsigned kind = 0; kind < 3; kind++) {
        g->idle_detect[kind] = (uint32_t)params->idle_detect_cycles;
        g->stat[kind].clusters = kind == 2 ? 1 : (unsigned)clusters;
    }
    for (unsigned u = 0; u < TMX_SM_N_UNIT; u++) {
        g->on_at[u] = TMX_NEVER;
        g->gate_at[u] = (g->on >> u & 1) ? g->idle_detect[tmx_unit_kind(u)] : TMX_NEVER;
    }
    tmx_gating_soonest(g);
}

void tmx_gating_arrive(struct tmx_gating *g, uint32_t t)
{
    for (unsigned u = 0; u < TMX_SM_N_UNIT; u++) {
        if (t >= g->on_at[u]) {
            g->idle_since[u] = g->on_at[u];
            g->gate_at[u] = g->on_at[u] + g->idle_detect[tmx_unit_kind(u)];
            g->on_at[u] = TMX_NEVER;
            g->waking &= ~(1u << u);
            g->on |= 1u << u;
            tell(g, TMX_SM_ON, u, t);
        }
    }
    soonest_on(g);
    tmx_gating_soonest(g);
}

/* A sleep of `slept` cycles ends. */
static void account(struct tmx_gating *g, unsigned unit, uint32_t slept)
{
    struct tmx_gate_stat *s = &g->stat[tmx_unit_kind(unit)];
    const uint32_t bet = (uint32_t)g->params->break_even_cycles;
    s->asleep_cycles += slept;
    if (slept < bet) {
        s->unpaid_cycles += bet - slept;
    } else {
        s->paid_cycles += slept - bet;
    }
}

void tmx_gating_request(struct tmx_gating *g, unsigned unit, uint32_t t)
{
    struct tmx_gate_stat *s = &g->stat[tmx_unit_kind(unit)];
    const uint32_t bet = (uint32_t)g->params->break_even_cycles;
    const uint32_t slept = t - g->asleep_since[unit];

    account(g, unit, slept);
    s->wakeups++;
    s->waking_cycles += (uint32_t)g->params->wakeup_cycles;
    if (slept < bet) {
        s->early_wakeups++;
        g->slept[unit] = TMX_SLEPT_SHORT;
    } else if (g->slept[unit] == TMX_SLEPT_NOT) {
        g->slept[unit] = TMX_SLEPT_LONG;
    }
    if (slept == bet) {
        s->critical_wakeups++;
        g->critical[tmx_unit_kind(unit)]++;
    }
    g->asleep &= ~(1u << unit);
    g->waking |= 1u << unit;
    g->on_at[unit] = t + (uint32_t)g->params->wakeup_cycles;
    soonest_on(g);
    tell(g, TMX_SM_WAKE, unit, t);
}

void tmx_gating_settle(struct tmx_gating *g, uint32_t t, unsigned wanted)
{
    bool changed = false;
    for (unsigned u = 0; u < g->n_unit; u++) {
        const bool follows = g->coordinated && u != TMX_SM_SFU && (g->asleep >> (u ^ 1u) & 1), /* partner */
            idle = follows ? t + 1 > g->idle_since[u] && !(wanted >> tmx_unit_kind(u) & 1)
                           : t + 1 >= g->gate_at[u];
        if (idle && (g->on >> u & 1)) {
            g->on &= ~(1u << u);
            g->asleep |= 1u << u;
            g->asleep_since[u] = t + 1;
            g->gate_at[u] = TMX_NEVER;
            g->stat[tmx_unit_kind(u)].gatings++;
            tell(g, TMX_SM_SLEEP, u, t + 1);
            changed = true;
        }
    }
    if (changed) {
        tmx_gating_soonest(g);
    }
}

void tmx_gating_adapt(struct tmx_gating *g)
{
    const struct tmx_gate_params *p = g->params;
    for (unsigned kind = 0; kind < 2; kind++) {
        g->idle_detect_sum[kind] += g->idle_detect[kind];
        if (g->critical[kind] > (unsigned)p->critical_limit) {
            g->calm[kind] = 0;
            g->idle_detect[kind] += g->idle_detect[kind] < (uint32_t)p->idle_detect_max_cycles;
        } else if (++g->calm[kind] == (unsigned)p->relax_epochs) {
            g->calm[kind] = 0;
            g->idle_detect[kind] -= g->idle_detect[kind] > (uint32_t)p->idle_detect_min_cycles;
        }
        g->critical[kind] = 0;
    }
    g->n_epoch++;
    g->epoch_end += (uint32_t)p->epoch_cycles;
    for (unsigned u = 0; u < g->n_unit; u++) {
        if (g->on >> u & 1) {
            g->gate_at[u] = g->idle_since[u] + g->idle_detect[tmx_unit_kind(u)];
        }
    }
    tmx_gating_soonest(g);
}

void tmx_gating_finish(struct tmx_gating *g, uint32_t T)
{
    for (unsigned u = 0; u < TMX_SM_N_UNIT; u++) {
        if (!((g->on | g->asleep | g->waking) >> u & 1)) {
            continue; /* no such cluster */
        }
        if (g->asleep >> u & 1) {
            account(g, u, T - g->asleep_since[u]);
            g->slept[u] = g->slept[u] == TMX_SLEPT_NOT ? TMX_SLEPT_LONG : g->slept[u];
        }
        if (g->waking >> u & 1) {
            g->stat[tmx_unit_kind(u)].waking_cycles -= g->on_at[u] - T;
        }
        if (T > g->busy_until[u]) {
            tmx_gating_period(g, u, T - g->busy_until[u]);
        }
    }
}

double tmx_gate_saved(const struct tmx_gate_stat *g, uint64_t cycles, uint64_t base_cycles,
                      int break_even_cycles)
{
    const double burnt = (double)g->clusters * (double)cycles - (double)g->asleep_cycles +
                         (double)break_even_cycles * (double)g->gatings;
    return 1 - burnt / ((double)g->clusters * (double)base_cycles);
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "core/micro/sm_cycle.h"

#include <string.h>

#include "core/micro/sm_gating.h"
#include "core/micro/sm_warps.h"

enum { LAST_CYCLE = 1 << 30 };

static const char *const cluster_choices[] = {"first", "rested", NULL};
static const char *const wakings[] = {"port", "type", NULL};
static const char *const scans[] = {"round", "slot", "entry", NULL};

const struct tmx_opt tmx_sm_opts[] = {
    /* WG 6: five-bit counters, "at most 32 active warps" */
    TMX_ROW_INT(tmx_sm_params, active, "warps", 1, TMX_MAX_WARPS, 32, "most warps in the active set"),
    /* fitted to ConvPG's means, see docs/notes/warped-gates.md; fetch and operand collectors limit it */
    TMX_ROW_REAL(tmx_sm_params, dual_issue, "1", 0, 1, 0.6, "chance that the second issue slot is usable"),
    TMX_ROW_INT(tmx_sm_params, issue_gap_cycles, "cycles", 1, 64, 1, "between two issues of a warp"),
    /* WG 3: four-cycle add; two more for operand collection and write-back: assumed */
    TMX_ROW_INT(tmx_sm_params, alu_cycles, "cycles", 1, 100, 6, "issue to dependent issue, INT and FP"),
    TMX_ROW_INT(tmx_sm_params, sfu_cycles, "cycles", 1, 200, 20, "the same, SFU (assumed)"),
    TMX_ROW_INT(tmx_sm_params, shared_cycles, "cycles", 1, 200, 24, "the same, shared memory (assumed)"),
    TMX_ROW_INT(tmx_sm_params, hit_cycles, "cycles", 1, 400, 32, "the same, global load that hits (assumed)"),
    /* WG 3: latency four cycles, initiation interval one */
    TMX_ROW_INT(tmx_sm_params, busy_cycles, "cycles", 1, 100, 4, "a cluster is busy per instruction"),
    /* 32 threads on 4 SFUs (WG 2.1) at the lanes' double clock (assumed) */
    TMX_ROW_INT(tmx_sm_params, sfu_interval_cycles, "cycles", 1, 100, 4, "between two SFU issues"),
    /* 32 threads on 16 LD/ST units (WG 2.1); a global access holds the port for its lines, if more */
    TMX_ROW_INT(tmx_sm_params, ldst_interval_cycles, "cycles", 1, 100, 2, "between two LDST issues"),
    TMX_ROW_INT(tmx_sm_params, mshr, "lines", 1, 4096, 64, "outstanding global lines"),
    TMX_ROW_INT(tmx_sm_params, launch_cycles, "cycles", 1, 10000, 100, "between two blocks (assumed)"),
    TMX_ROW_INT(tmx_sm_params, barrier_cycles, "cycles", 1, 1000, 4, "to leave a barrier (assumed)"),
    TMX_ROW_INT(tmx_sm_params, clusters, "1", 1, 2, 2, "lane clusters, each with an INT and an FP part"),
    TMX_ROW_CHOICE(tmx_sm_params, cluster_choice, cluster_choices, "first",
                   "of two usable clusters take the first or the one that has rested longer"),
    TMX_ROW_INT(tmx_sm_params, slots, "1", 1, 2, 2, "issue slots"),
    TMX_ROW_CHOICE(tmx_sm_params, scan, scans, "round",
                   "of the ready warps take the next after the last one issued, the first slot's, or the one "
                   "that entered the active set first"),
    TMX_ROW_CHOICE(tmx_sm_params, waking, wakings, "port",
                   "a waking unit holds up its port, and the slot may issue only LDST or SFU, or its type"),
    {0},
};

struct sm {
    struct tmx_warps warps;
    struct tmx_gating gating;
    const struct tmx_sm_params *params;
    const struct tmx_sm_probe *probe;
    uint64_t budget, issued, issued_type[TMX_N_UNIT_TYPE], active_sum;
    uint64_t dual_limit;            /* the second slot is usable when the cycle's hash is below */
    uint32_t sfu_free;              /* first cycle of the next SFU issue */
    uint32_t switched;              /* GATES: cycle of the last swap */
    unsigned high;                  /* GATES: TMX_UNIT_INT or TMX_UNIT_FP */
    unsigned turn[TMX_N_UNIT_TYPE]; /* after the last warp issued; [0] alone under ROUND */
    unsigned active_max;
};

struct cycle { /* what has been used in this cycle */
    uint32_t t;
    unsigned ports; /* bit per cluster */
};

enum { SKIP = -1, HOLD = -2 };

/* Of the warps in set the one that the scan meets first; turn: after the last warp issued. */
static inline unsigned pick(const struct sm *sm, uint64_t set, unsigned turn)
{
    if (sm->params->scan == TMX_SCAN_ENTRY) {
        unsigned first = (unsigned)__builtin_ctzll(set);
        for (uint64_t rest = set & (set - 1); rest; rest &= rest - 1) {
            const unsigned warp = (unsigned)__builtin_ctzll(rest);
            first = sm->warps.entered[warp] < sm->warps.entered[first] ? warp : first;
        }
        return first;
    }
    const uint64_t above = sm->params->scan == TMX_SCAN_ROUND ? set & ~0ull << turn : 0;
    return (unsigned)__builtin_ctzll(above ? above : set);
}

static inline unsigned cluster_bits(unsigned units, unsigned type)
{
    return units >> (2 * type) & 3;
}

/* The unit a candidate of INT or FP leaves through: a unit, HOLD (it wakes, or can be asked to: *ask), or
 * SKIP. */
static inline int lane_choice(const struct sm *sm, unsigned type, const struct cycle *c, int *port, int *ask)
{
    const struct tmx_gating *g = &sm->gating;
    const unsigned on = cluster_bits(g->on, type) & ~c->ports;
    *ask = SKIP;
    if (on) {
        *port = __builtin_ctz(on);
        if (on == 3 && sm->params->cluster_choice == TMX_CLUSTER_RESTED) {
            const size_t first = (size_t)2 * type;
            *port = g->busy_until[first + 1] < g->busy_until[first];
        }
        return (int)(2 * type) + *port;
    }
    const unsigned waking = cluster_bits(g->waking, type) & ~c->ports;
    if (waking) {
        *port = __builtin_ctz(waking);
        return HOLD;
    }
    const unsigned asleep = cluster_bits(g->asleep, type) & ~c->ports;
    for (int p = 0; p < 2; p++) {
        if ((asleep >> p & 1) && tmx_gating_may_wake(g, 2 * type + (unsigned)p, c->t)) {
            *port = p;
            *ask = (int)(2 * type) + p;
            return HOLD;
        }
    }
    return SKIP;
}

/* Types a slot may take now, as a mask of enum tmx_unit_type. */
static inline unsigned open_types(const struct sm *sm, const struct cycle *c, bool lanes)
{
    unsigned open = 0;
    int port, ask;
    for (unsigned type = TMX_UNIT_INT; lanes && type <= TMX_UNIT_FP; type++) {
        open |= (unsigned)(lane_choice(sm, type, c, &port, &ask) != SKIP) << type;
    }
    open |= (unsigned)(c->t >= sm->sfu_free && !(sm->gating.waking >> TMX_SM_SFU & 1)) << TMX_UNIT_SFU;
    open |= (unsigned)(c->t >= sm->warps.port_free && sm->warps.outstanding < (uint32_t)sm->params->mshr)
            << TMX_UNIT_LDST;
    return open;
}

/* First candidate among the open types in the policy's order; SKIP when there is none. */
static inline int candidate(const struct sm *sm, unsigned open, bool by_type, unsigned *type)
{
    const struct tmx_warps *w = &sm->warps;
    if (!by_type) {
        uint64_t set = 0;
        for (unsigned k = 0; k < TMX_N_UNIT_TYPE; k++) {
            set |= (open >> k & 1) ? w->next[k] : 0;
        }
        set &= w->ready;
        if (!set) {
            return SKIP;
        }
        const unsigned warp = pick(sm, set, sm->turn[0]);
        *type = w->warp[warp].next->type;
        return (int)warp;
    }
    const unsigned order[] = {sm->high, TMX_UNIT_LDST, TMX_UNIT_SFU, TMX_UNIT_FP - sm->high};
    for (unsigned k = 0; k < TMX_N_UNIT_TYPE; k++) {
        const uint64_t set = w->ready & w->next[order[k]];
        if (set && (open >> order[k] & 1)) {
            *type = order[k];
            return (int)pick(sm, set, sm->turn[order[k]]);
        }
    }
    return SKIP;
}

static inline void issue(struct sm *sm, unsigned warp, unsigned type, unsigned unit, bool by_type, uint32_t t)
{
    if (sm->probe) {
        sm->probe->event(
            sm->probe->context,
            &(struct tmx_sm_event){.cycle = t, .kind = TMX_SM_ISSUE, .unit = unit, .warp = warp});
    }
    sm->turn[by_type ? type : 0] = (warp + 1) & 63;
    sm->issued++;
    sm->issued_type[type]++;
    tmx_warps_issue(&sm->warps, warp, t);
}

/* One issue slot. Returns true when an instruction left. */
static inline bool slot(struct sm *sm, struct cycle *c, bool by_type)
{
    const struct tmx_sm_params *p = sm->params;
    struct tmx_gating *g = &sm->gating;
    unsigned open = open_types(sm, c, true);
    for (;;) {
        unsigned type = 0;
        int port = 0, ask = SKIP;
        const int warp = candidate(sm, open, by_type, &type);
        if (warp == SKIP) {
            return false;
        }
        if (type == TMX_UNIT_LDST) {
            issue(sm, (unsigned)warp, type, TMX_SM_N_UNIT, by_type, c->t);
            return true;
        }
        if (type == TMX_UNIT_SFU) {
            if (g->asleep >> TMX_SM_SFU & 1) {
                tmx_gating_request(g, TMX_SM_SFU, c->t);
                open &= ~(1u << TMX_UNIT_SFU);
                continue;
            }
            sm->sfu_free = c->t + (uint32_t)p->sfu_interval_cycles;
            tmx_gating_use(g, TMX_SM_SFU, c->t, (uint32_t)(p->sfu_interval_cycles + p->busy_cycles));
            issue(sm, (unsigned)warp, type, TMX_SM_SFU, by_type, c->t);
            return true;
        }
        const int unit = lane_choice(sm, type, c, &port, &ask);
        if (unit >= 0) {
            c->ports |= 1u << port;
            tmx_gating_use(g, (unsigned)unit, c->t, (uint32_t)p->busy_cycles);
            issue(sm, (unsigned)warp, type, (unsigned)unit, by_type, c->t);
            return true;
        }
        if (ask != SKIP) {
            tmx_gating_request(g, (unsigned)ask, c->t);
        }
        if (p->waking == TMX_WAKING_TYPE) {
            open &= ~(1u << type);
        } else { /* the slot waits with its port */
            c->ports |= 1u << port;
            open &= 1u << TMX_UNIT_SFU | 1u << TMX_UNIT_LDST;
        }
    }
}

/* Bit per type: an active warp's next instruction is of it. */
static inline unsigned wanted_types(const struct tmx_warps *w)
{
    return (unsigned)((w->active & w->next[TMX_UNIT_INT]) != 0) |
           (unsigned)((w->active & w->next[TMX_UNIT_FP]) != 0) << 1 |
           (unsigned)((w->active & w->next[TMX_UNIT_SFU]) != 0) << 2;
}

/* All clusters of the type are asleep (and none may be woken yet, when `locked`). */
static bool type_dark(const struct sm *sm, unsigned type, uint32_t t, bool locked)
{
    const struct tmx_gating *g = &sm->gating;
    const unsigned asleep = cluster_bits(g->asleep, type);
    if (cluster_bits(g->on | g->waking, type)) {
        return false;
    }
    for (unsigned p = 0; p < 2; p++) {
        if (locked && (asleep >> p & 1) && tmx_gating_may_wake(g, 2 * type + p, t)) {
            return false;
        }
    }
    return true;
}

/* GATES' dynamic priority (WG 4.1, 5). Asked in cycles with a ready warp. */
static void choose_priority(struct sm *sm, uint32_t t)
{
    const unsigned low = TMX_UNIT_FP - sm->high, wanted = wanted_types(&sm->warps);
    const int limit = sm->gating.params->switch_limit_cycles;
    const bool want_high = wanted >> sm->high & 1, want_low = wanted >> low & 1;
    bool swap = !want_high && want_low;

    if (sm->gating.coordinated && want_high) {
        swap = type_dark(sm, sm->high, t, true) && !type_dark(sm, low, t, false);
    }
    if (limit > 0 && want_low && t - sm->switched >= (uint32_t)limit) {
        swap = true;
    }
    if (swap) {
        sm->high = low;
        sm->switched = t;
    }
}

static inline void issue_cycle(struct sm *sm, uint32_t t, bool by_type)
{
    struct cycle c = {.t = t};
    if (by_type) {
        choose_priority(sm, t);
    }
    const bool second =
        sm->params->slots == 2 && tmx_mix64(sm->warps.stream->seed, t, 7) >> 11 < sm->dual_limit;
    slot(sm, &c, by_type);
    if (second && sm->warps.ready && sm->issued < sm->budget) {
        slot(sm, &c, by_type);
    }
}

/* Coordinated Blackout: the next cycle in which a unit may follow its sleeping partner: its first idle
 * one, and not before the partner has been seen asleep. */
static uint32_t next_partner(const struct tmx_gating *g, uint32_t t)
{
    uint32_t next = TMX_NEVER;
    for (unsigned u = 0; u < TMX_SM_SFU; u++) {
        if ((g->on >> u & 1) && (g->asleep >> (u ^ 1u) & 1)) {
            const uint32_t seen = g->asleep_since[u ^ 1u];
            const uint32_t first = g->idle_since[u] > seen ? g->idle_since[u] : seen;
            next = first > t && first < next ? first : next;
        }
    }
    return next;
}

/* The next cycle in which anything can happen. */
static inline uint32_t next_cycle(const struct sm *sm, uint32_t t)
{
    const struct tmx_warps *w = &sm->warps;
    const struct tmx_gating *g = &sm->gating;
    if (w->ready || w->waiting) {
        return t + 1;
    }
    uint32_t next = tmx_warps_next_event(w, t);
    /* settled in the cycle before; one that is due but held back by its partner hides later ones */
    const uint32_t gate = g->soonest_gate > t + 1 ? g->soonest_gate - 1 : t + 1;
    next = gate < next ? gate : next;
    if (g->coordinated && g->asleep) {
        const uint32_t partner = next_partner(g, t);
        next = partner < next ? partner : next;
    }
    next = g->soonest_on < next ? g->soonest_on : next;
    next = g->epoch_end - 1 < next && g->epoch_end - 1 > t ? g->epoch_end - 1 : next;
    return next > t ? next : t + 1;
}

static inline bool done(const struct sm *sm)
{
    const struct tmx_warps *w = &sm->warps;
    return sm->issued >= sm->budget || w->n_ended == w->stream->n_block;
}

static inline uint32_t run(struct sm *sm, bool by_type)
{
    struct tmx_warps *w = &sm->warps;
    struct tmx_gating *g = &sm->gating;
    uint32_t t = 0;
    for (;;) {
        if (t >= g->soonest_on) {
            tmx_gating_arrive(g, t);
        }
        if (tmx_warps_event_at(w, t)) {
            tmx_warps_arrive(w, t);
        }
        if (w->waiting) {
            tmx_warps_promote(w);
        }
        const unsigned n_active = (unsigned)__builtin_popcountll(w->active);
        sm->active_max = n_active > sm->active_max ? n_active : sm->active_max;
        sm->active_sum += n_active;
        if (w->ready) {
            issue_cycle(sm, t, by_type);
            if (done(sm)) {
                return t + 1;
            }
        }
        if (t + 1 >= g->soonest_gate || (g->coordinated && g->asleep)) {
            tmx_gating_settle(g, t, wanted_types(w));
        }
        if (t + 1 >= g->epoch_end) {
            tmx_gating_adapt(g);
        }
        const uint32_t next = next_cycle(sm, t);
        sm->active_sum += (uint64_t)(next - t - 1) * (unsigned)__builtin_popcountll(w->active);
        if (next >= LAST_CYCLE) {
            return next;
        }
        t = next;
    }
}

static void collect(const struct sm *sm, uint32_t T, struct tmx_sm_result *r)
{
    const struct tmx_warps *w = &sm->warps;
    const struct tmx_gating *g = &sm->gating;
    *r = (struct tmx_sm_result){.cycles = T,
                                .issued = sm->issued,
                                .blocks = w->n_ended,
                                .block_cycles = w->block_cycles,
                                .active_sum = sm->active_sum,
                                .active_max = sm->active_max,
                                .lines = w->lines,
                                .latency_sum_cycles = w->latency_sum,
                                .misses = w->misses};
    memcpy(r->issued_type, sm->issued_type, sizeof r->issued_type);
    memcpy(r->type, g->stat, sizeof r->type);
    for (unsigned kind = 0; kind < 2; kind++) {
        r->idle_detect_mean[kind] =
            g->n_epoch ? (double)g->idle_detect_sum[kind] / g->n_epoch : (double)g->idle_detect[kind];
    }
}

enum tmx_status tmx_sm_run(const struct tmx_sm_params *params, const struct tmx_stream *s,
                           const struct tmx_gate_policy *policy, const struct tmx_gate_params *gate,
                           uint64_t budget, const struct tmx_sm_probe *probe, struct tmx_sm_result *r,
                           struct tmx_err *err)
{
    struct sm sm = {.params = params,
                    .probe = probe,
                    .budget = budget,
                    .dual_limit = (uint64_t)(params->dual_issue * 0x1p53),
                    .high = TMX_UNIT_INT};
    enum tmx_status st = tmx_warps_init(&sm.warps, params, s, err);
    if (st) {
        return st;
    }
    tmx_gating_init(&sm.gating, params, policy, gate, probe);
    const uint32_t T = policy->order == TMX_ORDER_BY_TYPE ? run(&sm, true) : run(&sm, false);
    if (T >= LAST_CYCLE) {
        st = tmx_fail(err, TMX_ERANGE, "%llu of %llu instructions after 2^30 cycles",
                      (unsigned long long)sm.issued, (unsigned long long)budget);
    } else {
        tmx_gating_finish(&sm.gating, T);
        collect(&sm, T, r);
    }
    tmx_warps_finish(&sm.warps);
    return st;
}

double tmx_sm_ipc(const struct tmx_sm_result *r)
{
    return (double)r->issued / (double)r->cycles;
}

double tmx_gate_saved(const struct tmx_gate_stat *g, uint64_t cycles, uint64_t base_cycles,
                      int break_even_cycles)
{
    const double burnt = (double)g->clusters * (double)cycles - (double)g->asleep_cycles +
                         (double)break_even_cycles * (double)g->gatings;
    return 1 - burnt / ((double)g->clusters * (double)base_cycles);
}

double tmx_gate_slowdown(uint64_t cycles, uint64_t base_cycles)
{
    return (double)cycles / (double)base_cycles - 1;
}

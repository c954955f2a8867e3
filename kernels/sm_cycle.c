/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The SM cycle: one streaming multiprocessor, simulated cycle by cycle, but only in cycles that matter.
 *
 *              waiting warps (any number)              event wheel: slot = cycle mod n_event
 *                     |  promote, round robin            [ ][w][ ][ ][w,w][ ]...
 *                     v                                        |
 *   active set (at most `active`)  <---- results arrive -------+
 *     ready:   next instruction may issue now                  ^
 *                     |  pick by the policy's order            | warps_issue books the cycle in which
 *                     v                                        | the warp's next instruction may issue
 *   slot 1, slot 2 --> INT0 INT1 FP0 FP1 | SFU | LDST ---------+
 *                      \___ gating: ON, ASLEEP, WAKING ___/
 *
 * Why an event wheel is enough. Warps run in order, and all latencies are fixed when an instruction issues
 * (that of a global load is a hash of seed, warp and number of the load). So at the issue in cycle t it is
 * known when the warp's next instruction n may issue:
 *
 *   ready(n) = max(t + issue_gap, result[dest(n)], result[source(n)], ...)
 *
 * where result[r] is the cycle in which register r may be read. The warp is put into the wheel's slot of that
 * cycle and is not looked at before. A warp that waits for a global load leaves the active set and makes room
 * for another one; a short wait (ALU, SFU, shared memory) keeps its place. The wheel is longer than the
 * longest wait (horizon), so a slot holds events of one cycle only.
 *
 * Memory. The lines of an access leave through a bus of `bandwidth` lines a cycle:
 *
 *   bus_free = max(bus_free, t) + lines / bandwidth,   done = bus_free + latency
 *
 * in units of 1/1024 cycle. This queue is the only place where warps slow each other down outside the issue
 * slots; at most `mshr` lines are outstanding, else the LDST port is closed.
 *
 * Sets of warps are 64-bit masks: ready & next[type] are the candidates of a type, count-trailing-zeros picks
 * one. `next` holds for every type the warps whose next instruction is of it, active or not.
 *
 * Issue. A slot takes the first candidate whose type is open. INT and FP leave through the ports of the two
 * clusters, one instruction each per cycle. If the clusters of the candidate's type sleep, the slot asks one
 * to wake and holds its port (sm_cycle.h has the state machine and what blackout forbids). Under GATES one
 * of INT and FP has priority, so that the other type's clusters idle longer and can sleep.
 *
 * Skipping. If no warp is ready or waiting, nothing can happen before the earliest of: next slot of the wheel
 * that is used, next unit that falls asleep or has woken, end of an epoch of adaptive idle detect. `run`
 * jumps there (next_cycle); counters are sums over intervals, so a jump changes no result.
 * tests/oracle/slow_sm.c is the same machine without wheel, masks and jumps; both agree in every count.
 *
 * Parts below: the warps, the options, an issue slot, the cycle, the results. */
#include "kernels/sm_cycle.h"
#include "base/arena.h"

#include <string.h>

/* ---- the warps: position in the program, when the next instruction may issue, who is active, who waits ----
 */

struct wheel_slot {
    uint64_t warps;    /* their next instruction may issue */
    uint32_t released; /* global lines that have been answered */
};

struct warp {
    const struct tmx_instr *body, *end, *next; /* program, and the next instruction in it */
    uint32_t left;                             /* walks through the program after this one */
    uint32_t load;                             /* number of the next global access */
    uint32_t ready_at; /* at a barrier: the cycle at which the next instruction could issue */
    uint64_t id;       /* block * warps_per_block + index in the block */
};

struct block {              /* a resident thread block */
    unsigned live, arrived; /* warps that have not ended; of these: waiting at the barrier */
    uint64_t waiting;       /* their mask */
    uint32_t start;         /* cycle of launch */
};

struct warps {
    const struct tmx_sm_params *sm;
    const struct tmx_stream *stream;
    uint64_t active;                           /* in the active set */
    uint64_t ready;                            /* active, and the next instruction may issue now */
    uint64_t waiting;                          /* could be active, but the set is full */
    uint64_t next[TMX_N_UNIT_TYPE];            /* active or not, by type of the next instruction */
    unsigned promoted;                         /* round robin over waiting */
    uint32_t n_entry;                          /* entries into the active set */
    uint32_t outstanding;                      /* global lines */
    uint64_t bus_free;                         /* [1/1024 cycle] the lines asked for so far have been sent */
    uint64_t line_time;                        /* [1/1024 cycle] per line */
    unsigned n_live, quota;                    /* blocks on the SM; left of the present grid */
    uint32_t port_free;                        /* first cycle of the next LDST issue */
    uint64_t n_started, n_ended, block_cycles; /* blocks; the lives of those ended */
    uint64_t lines, misses, latency_sum;
    unsigned n_event;         /* slots of the wheel, a power of two */
    struct tmx_arena arena;   /* of the next three */
    struct wheel_slot *wheel; /* [n_event] */
    uint64_t *used;           /* [n_event / 64] owned: slots that hold something */
    uint32_t *result; /* [warps * n_register] owned: 2 * (cycle a register may be read) + (global load) */
    uint32_t entered[TMX_MAX_WARPS]; /* which of the entries was a warp's last */
    struct warp warp[TMX_MAX_WARPS];
    struct block block[TMX_MAX_WARPS];
};

enum { FIXED = 1024, LOAD_BITS = 24 };

static struct wheel_slot *slot_at(struct warps *w, uint32_t t)
{
    const unsigned at = t & (w->n_event - 1);
    w->used[at >> 6] |= 1ull << (at & 63);
    return &w->wheel[at];
}

/* First cycle after t with an event; UINT32_MAX: none. */
static uint32_t warps_next_event(const struct warps *w, uint32_t t)
{
    const unsigned n_word = w->n_event >> 6, from = (t + 1) & (w->n_event - 1);
    uint64_t bits = w->used[from >> 6] & ~0ull << (from & 63);
    for (unsigned i = 0; i <= n_word; i++) {
        const unsigned word = ((from >> 6) + i) & (n_word - 1);
        if (i > 0) {
            bits = w->used[word];
        }
        if (bits) {
            const unsigned at = (word << 6) + (unsigned)__builtin_ctzll(bits);
            return t + 1 + ((at - from) & (w->n_event - 1));
        }
    }
    return UINT32_MAX;
}

/* The longest time between an issue and the event it books: a full queue, then the longest latency. */
static uint64_t horizon(const struct tmx_sm_params *sm, const struct tmx_stream *s, uint64_t line_time)
{
    const struct tmx_memory *m = &s->memory;
    uint64_t longest = (uint64_t)(m->latency_cycles * (1 + m->latency_variation)) + 2;
    const int fixed[] = {sm->alu_cycles,    sm->sfu_cycles,     sm->shared_cycles,   sm->hit_cycles,
                         sm->launch_cycles, sm->barrier_cycles, sm->issue_gap_cycles};
    for (size_t i = 0; i < sizeof fixed / sizeof fixed[0]; i++) {
        longest = (uint64_t)fixed[i] > longest ? (uint64_t)fixed[i] : longest;
    }
    return longest + s->launch_gap_cycles + ((uint64_t)sm->mshr + 64) * line_time / FIXED + 64;
}

/* Put the next thread block, if there is one, on the slot; its first issue is possible at `at`. */
static void launch(struct warps *w, unsigned slot, uint32_t at)
{
    const struct tmx_stream *s = w->stream;
    struct block *b = &w->block[slot];
    const uint64_t block = w->n_started;

    *b = (struct block){.start = at};
    if (block >= s->n_block || w->quota == 0) {
        return;
    }
    w->n_started++;
    w->n_live++;
    w->quota -= s->blocks_per_launch > 0;
    for (unsigned i = 0; i < s->warps_per_block; i++) {
        const unsigned warp = slot * s->warps_per_block + i;
        const uint64_t id = block * s->warps_per_block + i;
        const struct tmx_program *p = &s->program[id % s->n_program];
        memset(w->result + (size_t)warp * s->n_register, 0, s->n_register * sizeof *w->result);
        if (p->count == 0) {
            continue;
        }
        w->warp[warp] = (struct warp){.body = s->instr + p->first,
                                      .end = s->instr + p->first + p->count,
                                      .next = s->instr + p->first,
                                      .left = p->repetitions - 1,
                                      .id = id};
        if (s->stagger && block < s->warps / s->warps_per_block) {
            const uint64_t at_instr = tmx_mix64(s->seed, ~0ull, block) % (p->count * p->repetitions);
            w->warp[warp].next += at_instr % p->count;
            w->warp[warp].left -= (uint32_t)(at_instr / p->count);
        }
        for (unsigned t = 0; t < TMX_N_UNIT_TYPE; t++) {
            w->next[t] &= ~(1ull << warp);
        }
        w->next[w->warp[warp].next->type] |= 1ull << warp;
        slot_at(w, at)->warps |= 1ull << warp;
        b->live++;
    }
}

/* Start a grid: fill every slot. */
static void launch_grid(struct warps *w, uint32_t at)
{
    const struct tmx_stream *s = w->stream;
    w->quota = s->blocks_per_launch ? s->blocks_per_launch : 1;
    for (unsigned slot = 0; slot < s->warps / s->warps_per_block; slot++) {
        launch(w, slot, at);
    }
}

static enum tmx_status warps_init(struct warps *w, const struct tmx_sm_params *sm, const struct tmx_stream *s,
                                  struct tmx_err *err)
{
    *w = (struct warps){.sm = sm, .stream = s};
    if (s->warps == 0 || s->warps > TMX_MAX_WARPS || s->warps % s->warps_per_block != 0) {
        return tmx_fail(err, TMX_ERANGE, "%u warps in blocks of %u: expected a multiple, at most %d",
                        s->warps, s->warps_per_block, TMX_MAX_WARPS);
    }
    w->line_time = s->memory.bandwidth > 0 ? (uint64_t)(FIXED / s->memory.bandwidth + 0.5) : 0;
    const uint64_t need = horizon(sm, s, w->line_time);
    if (need > 1u << 24) {
        return tmx_fail(err, TMX_ERANGE, "memory latency with queueing reaches %llu cycles",
                        (unsigned long long)need);
    }
    for (w->n_event = 256; w->n_event < need;) {
        w->n_event *= 2;
    }
    TMX_TAKE(&w->arena, w->wheel, w->n_event);
    TMX_TAKE(&w->arena, w->used, w->n_event / 64);
    TMX_TAKE(&w->arena, w->result, (size_t)s->warps * s->n_register);
    if (w->arena.failed) {
        tmx_arena_finish(&w->arena);
        return tmx_no_memory(err);
    }
    launch_grid(w, 0);
    return TMX_OK;
}

/* A global access at t: the cycle at which its data can be read. Draws from one hash of (warp, number of
 * the access): 24 bits for hit or miss, 24 for the latency, 16 for the number of lines. */
static uint32_t access_global(struct warps *w, struct warp *warp, bool store, uint32_t t)
{
    const struct tmx_memory *m = &w->stream->memory;
    const uint64_t h = tmx_mix64(w->stream->seed, warp->id + 1, warp->load++);
    const double hit = (double)(h & 0xffffff) * 0x1p-24, late = (double)(h >> 24 & 0xffffff) * 0x1p-24;
    const double part = (double)(h >> 48) * 0x1p-16;

    if (!store && hit >= m->miss) {
        return t + (uint32_t)w->sm->hit_cycles;
    }
    const uint32_t lines = (uint32_t)(m->lines + part);
    const uint64_t now = (uint64_t)t * FIXED;
    w->bus_free = (w->bus_free > now ? w->bus_free : now) + lines * w->line_time;
    const uint32_t sent = (uint32_t)((w->bus_free + FIXED - 1) / FIXED);
    uint32_t done = sent + 1;
    if (!store) {
        done = sent + (uint32_t)(m->latency_cycles * (1 + m->latency_variation * (2 * late - 1)));
        w->misses++;
        w->latency_sum += done - t;
    }
    done = done > t ? done : t + 1;
    w->port_free =
        t + (lines > (uint32_t)w->sm->ldst_interval_cycles ? lines : (uint32_t)w->sm->ldst_interval_cycles);
    w->outstanding += lines;
    w->lines += lines;
    slot_at(w, done)->released += lines;
    return done;
}

static void release_barrier(struct warps *w, struct block *b, uint32_t t)
{
    const uint32_t earliest = t + (uint32_t)w->sm->barrier_cycles;
    while (b->waiting) {
        const unsigned warp = (unsigned)__builtin_ctzll(b->waiting);
        const uint32_t ready_at = w->warp[warp].ready_at;
        slot_at(w, ready_at > earliest ? ready_at : earliest)->warps |= 1ull << warp;
        b->waiting &= b->waiting - 1;
    }
    b->arrived = 0;
}

/* The warp has issued its last instruction at t. */
static void end_warp(struct warps *w, unsigned slot, unsigned warp, uint32_t t)
{
    struct block *b = &w->block[slot];
    w->active &= ~(1ull << warp);
    b->live--;
    if (b->live == 0) {
        w->n_ended++;
        w->block_cycles += t + 1 - b->start;
        w->n_live--;
        launch(w, slot, t + (uint32_t)w->sm->launch_cycles);
        if (w->n_live == 0) {
            launch_grid(w, t + w->stream->launch_gap_cycles + (uint32_t)w->sm->launch_cycles);
        }
    } else if (b->arrived == b->live) {
        release_barrier(w, b, t);
    }
}

/* Cycle, and whether a global load decides it, at which the scoreboard lets `in` issue. */
static uint32_t scoreboard(const uint32_t *result, const struct tmx_instr *in)
{
    uint32_t latest = result[in->dest];
    for (unsigned i = 0; i < TMX_INSTR_SOURCES; i++) {
        const uint32_t r = result[in->source[i]];
        latest = r > latest ? r : latest;
    }
    return latest;
}

/* Warp `index` has issued its next instruction at t: book the result, step on. */
static void warps_issue(struct warps *w, unsigned index, uint32_t t)
{
    const struct tmx_sm_params *sm = w->sm;
    struct warp *warp = &w->warp[index];
    const struct tmx_instr *in = warp->next;
    uint32_t *result = w->result + (size_t)index * w->stream->n_register;
    const uint32_t fixed[] = {[TMX_LATENCY_ALU] = (uint32_t)sm->alu_cycles,
                              [TMX_LATENCY_SFU] = (uint32_t)sm->sfu_cycles,
                              [TMX_LATENCY_SHARED] = (uint32_t)sm->shared_cycles};
    const bool global = in->latency >= TMX_LATENCY_GLOBAL;
    if (in->type == TMX_UNIT_LDST) {
        w->port_free = t + (uint32_t)sm->ldst_interval_cycles;
    }
    const uint32_t done =
        global ? access_global(w, warp, in->latency == TMX_LATENCY_STORE, t) : t + fixed[in->latency];
    const uint64_t bit = 1ull << index;

    w->ready &= ~bit;
    if (in->dest) {
        result[in->dest] = done << 1 | global;
    }
    const unsigned slot = index / w->stream->warps_per_block;
    if (++warp->next == warp->end) {
        if (warp->left == 0) {
            end_warp(w, slot, index, t);
            return;
        }
        warp->left--;
        warp->next = warp->body;
    }
    if (warp->next->type != in->type) {
        w->next[in->type] &= ~bit;
        w->next[warp->next->type] |= bit;
    }
    const uint32_t latest = scoreboard(result, warp->next);
    const uint32_t soonest = t + (uint32_t)sm->issue_gap_cycles;
    uint32_t ready_at = soonest;
    if (latest >> 1 > soonest) {
        ready_at = latest >> 1;
        if (latest & 1) {
            w->active &= ~bit; /* waits for memory */
        }
    }
    if (in->barrier) {
        struct block *b = &w->block[slot];
        w->active &= ~bit;
        warp->ready_at = ready_at;
        b->waiting |= bit;
        if (++b->arrived == b->live) {
            release_barrier(w, b, t);
        }
        return;
    }
    slot_at(w, ready_at)->warps |= bit;
}

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
    struct warps warps;
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

/* First candidate among the open types in the policy's order; SKIP when there is none. */
static inline int candidate(const struct sm *sm, unsigned open, bool by_type, unsigned *type)
{
    const struct warps *w = &sm->warps;
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
    warps_issue(&sm->warps, warp, t);
}

/* One issue slot. Returns true when an instruction left. */
static inline bool slot(struct sm *sm, struct cycle *c, bool by_type)
{
    const struct tmx_sm_params *p = sm->params;
    struct tmx_gating *g = &sm->gating;
    unsigned open = 0; /* types that it may take now, as a mask */
    int port = 0, ask = SKIP;
    for (unsigned type = TMX_UNIT_INT; type <= TMX_UNIT_FP; type++) {
        open |= (unsigned)(lane_choice(sm, type, c, &port, &ask) != SKIP) << type;
    }
    open |= (unsigned)(c->t >= sm->sfu_free && !(g->waking >> TMX_SM_SFU & 1)) << TMX_UNIT_SFU;
    open |= (unsigned)(c->t >= sm->warps.port_free && sm->warps.outstanding < (uint32_t)p->mshr)
            << TMX_UNIT_LDST;
    for (;;) {
        unsigned type = 0;
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
static inline unsigned wanted_types(const struct warps *w)
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

/* The next cycle in which anything can happen. */
static inline uint32_t next_cycle(const struct sm *sm, uint32_t t)
{
    const struct warps *w = &sm->warps;
    const struct tmx_gating *g = &sm->gating;
    if (w->ready || w->waiting) {
        return t + 1;
    }
    uint32_t next = warps_next_event(w, t);
    /* settled in the cycle before; one that is due but held back by its partner hides later ones */
    const uint32_t gate = g->soonest_gate > t + 1 ? g->soonest_gate - 1 : t + 1;
    next = gate < next ? gate : next;
    if (g->coordinated && g->asleep) {
        /* coordinated Blackout: the next cycle in which a unit may follow its sleeping partner: its first
         * idle one, and not before the partner has been seen asleep */
        uint32_t partner = TMX_NEVER;
        for (unsigned u = 0; u < TMX_SM_SFU; u++) {
            if ((g->on >> u & 1) && (g->asleep >> (u ^ 1u) & 1)) {
                const uint32_t seen = g->asleep_since[u ^ 1u];
                const uint32_t first = g->idle_since[u] > seen ? g->idle_since[u] : seen;
                partner = first > t && first < partner ? first : partner;
            }
        }
        next = partner < next ? partner : next;
    }
    next = g->soonest_on < next ? g->soonest_on : next;
    next = g->epoch_end - 1 < next && g->epoch_end - 1 > t ? g->epoch_end - 1 : next;
    return next > t ? next : t + 1;
}

static inline uint32_t run(struct sm *sm, bool by_type)
{
    struct warps *w = &sm->warps;
    struct tmx_gating *g = &sm->gating;
    uint32_t t = 0;
    for (;;) {
        if (t >= g->soonest_on) {
            tmx_gating_arrive(g, t);
        }
        const unsigned at = t & (w->n_event - 1);
        if (w->used[at >> 6] >> (at & 63) & 1) { /* events of cycle t */
            struct wheel_slot *slot = &w->wheel[at];
            w->ready |= slot->warps & w->active;
            w->waiting |= slot->warps & ~w->active;
            w->outstanding -= slot->released;
            *slot = (struct wheel_slot){0};
            w->used[at >> 6] &= ~(1ull << (at & 63));
        }
        if (w->waiting) {
            /* fill the active set from the waiting warps */
            int room = w->sm->active - __builtin_popcountll(w->active);
            while (w->waiting && room-- > 0) {
                const uint64_t above = w->waiting & ~0ull << w->promoted;
                const unsigned warp = (unsigned)__builtin_ctzll(above ? above : w->waiting);
                w->waiting &= ~(1ull << warp);
                w->active |= 1ull << warp;
                w->entered[warp] = w->n_entry++;
                w->ready |= 1ull << warp;
                w->promoted = (warp + 1) & 63;
            }
        }
        const unsigned n_active = (unsigned)__builtin_popcountll(w->active);
        sm->active_max = n_active > sm->active_max ? n_active : sm->active_max;
        sm->active_sum += n_active;
        if (w->ready) {
            /* issue cycle */
            struct cycle c = {.t = t};
            if (by_type) {
                /* GATES' dynamic priority (WG 4.1, 5). Asked in cycles with a ready warp. */
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
            const bool second =
                sm->params->slots == 2 && tmx_mix64(sm->warps.stream->seed, t, 7) >> 11 < sm->dual_limit;
            slot(sm, &c, by_type);
            if (second && sm->warps.ready && sm->issued < sm->budget) {
                slot(sm, &c, by_type);
            }
            if (sm->issued >= sm->budget || w->n_ended == w->stream->n_block) {
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
    enum tmx_status st = warps_init(&sm.warps, params, s, err);
    if (st) {
        return st;
    }
    tmx_gating_init(&sm.gating, params->clusters, policy, gate, probe);
    const uint32_t T = policy->order == TMX_ORDER_BY_TYPE ? run(&sm, true) : run(&sm, false);
    if (T >= LAST_CYCLE) {
        st = tmx_fail(err, TMX_ERANGE, "%llu of %llu instructions after 2^30 cycles",
                      (unsigned long long)sm.issued, (unsigned long long)budget);
    } else {
        const struct warps *w = &sm.warps;
        const struct tmx_gating *g = &sm.gating;
        tmx_gating_finish(&sm.gating, T);
        *r = (struct tmx_sm_result){.cycles = T,
                                    .issued = sm.issued,
                                    .blocks = w->n_ended,
                                    .block_cycles = w->block_cycles,
                                    .active_sum = sm.active_sum,
                                    .active_max = sm.active_max,
                                    .lines = w->lines,
                                    .latency_sum_cycles = w->latency_sum,
                                    .misses = w->misses};
        memcpy(r->issued_type, sm.issued_type, sizeof r->issued_type);
        memcpy(r->type, g->stat, sizeof r->type);
        for (unsigned kind = 0; kind < 2; kind++) {
            r->idle_detect_mean[kind] =
                g->n_epoch ? (double)g->idle_detect_sum[kind] / g->n_epoch : (double)g->idle_detect[kind];
        }
    }
    tmx_arena_finish(&sm.warps.arena);
    return st;
}

double tmx_sm_ipc(const struct tmx_sm_result *r)
{
    return (double)r->issued / (double)r->cycles;
}

double tmx_gate_slowdown(uint64_t cycles, uint64_t base_cycles)
{
    return (double)cycles / (double)base_cycles - 1;
}

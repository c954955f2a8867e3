/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "core/micro/sm_warps.h"

#include <stdlib.h>
#include <string.h>

enum { FIXED = 1024, LOAD_BITS = 24 };

static struct tmx_wheel_slot *slot_at(struct tmx_warps *w, uint32_t t)
{
    const unsigned at = t & (w->n_event - 1);
    w->used[at >> 6] |= 1ull << (at & 63);
    return &w->wheel[at];
}

uint32_t tmx_warps_next_event(const struct tmx_warps *w, uint32_t t)
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

static void set_next(struct tmx_warps *w, unsigned warp, unsigned type)
{
    for (unsigned t = 0; t < TMX_N_UNIT_TYPE; t++) {
        w->next[t] &= ~(1ull << warp);
    }
    w->next[type] |= 1ull << warp;
}

/* Put the next thread block, if there is one, on the slot; its first issue is possible at `at`. */
static void launch(struct tmx_warps *w, unsigned slot, uint32_t at)
{
    const struct tmx_stream *s = w->stream;
    struct tmx_block *b = &w->block[slot];
    const uint64_t block = w->n_started;

    *b = (struct tmx_block){.start = at};
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
        w->warp[warp] = (struct tmx_warp){.body = s->instr + p->first,
                                          .end = s->instr + p->first + p->count,
                                          .next = s->instr + p->first,
                                          .left = p->repetitions - 1,
                                          .id = id};
        if (s->stagger && block < s->warps / s->warps_per_block) {
            const uint64_t at_instr = tmx_mix64(s->seed, ~0ull, block) % (p->count * p->repetitions);
            w->warp[warp].next += at_instr % p->count;
            w->warp[warp].left -= (uint32_t)(at_instr / p->count);
        }
        set_next(w, warp, w->warp[warp].next->type);
        slot_at(w, at)->warps |= 1ull << warp;
        b->live++;
    }
}

/* Start a grid: fill every slot. */
static void launch_grid(struct tmx_warps *w, uint32_t at)
{
    const struct tmx_stream *s = w->stream;
    w->quota = s->blocks_per_launch ? s->blocks_per_launch : 1;
    for (unsigned slot = 0; slot < s->warps / s->warps_per_block; slot++) {
        launch(w, slot, at);
    }
}

enum tmx_status tmx_warps_init(struct tmx_warps *w, const struct tmx_sm_params *sm,
                               const struct tmx_stream *s, struct tmx_err *err)
{
    *w = (struct tmx_warps){.sm = sm, .stream = s};
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
    w->wheel = calloc(w->n_event, sizeof *w->wheel);
    w->used = calloc(w->n_event / 64, sizeof *w->used);
    w->result = calloc((size_t)s->warps * s->n_register, sizeof *w->result);
    if (!w->wheel || !w->used || !w->result) {
        tmx_warps_finish(w);
        return tmx_fail(err, TMX_ENOMEM, "event wheel of %u", w->n_event);
    }
    launch_grid(w, 0);
    return TMX_OK;
}

void tmx_warps_finish(struct tmx_warps *w)
{
    free(w->wheel);
    free(w->used);
    free(w->result);
    w->wheel = NULL;
    w->used = NULL;
    w->result = NULL;
}

void tmx_warps_promote(struct tmx_warps *w)
{
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

/* A global access at t: the cycle at which its data can be read. Draws from one hash of (warp, number of
 * the access): 24 bits for hit or miss, 24 for the latency, 16 for the number of lines. */
static uint32_t access_global(struct tmx_warps *w, struct tmx_warp *warp, bool store, uint32_t t)
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

static void release_barrier(struct tmx_warps *w, struct tmx_block *b, uint32_t t)
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
static void end_warp(struct tmx_warps *w, unsigned slot, unsigned warp, uint32_t t)
{
    struct tmx_block *b = &w->block[slot];
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

void tmx_warps_issue(struct tmx_warps *w, unsigned index, uint32_t t)
{
    const struct tmx_sm_params *sm = w->sm;
    struct tmx_warp *warp = &w->warp[index];
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
        struct tmx_block *b = &w->block[slot];
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

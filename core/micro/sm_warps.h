/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TMX_CORE_MICRO_SM_WARPS_H
#define TMX_CORE_MICRO_SM_WARPS_H

/* The warps of one SM: the position of each in its program, when its next instruction may issue,
 * who is active, who waits. Private to sm_cycle.
 *
 * When an instruction issues, the cycle at which the warp's next one may issue is already known
 * (in-order warps, latencies fixed at issue), so the warp is put on an event wheel and touched again
 * only then. Sets of warps are 64-bit masks. */

#include "core/micro/sm_cycle.h"

struct tmx_wheel_slot {
    uint64_t warps;    /* their next instruction may issue */
    uint32_t released; /* global lines that have been answered */
};

struct tmx_warp {
    const struct tmx_instr *body, *end, *next; /* program, and the next instruction in it */
    uint32_t left;                             /* walks through the program after this one */
    uint32_t load;                             /* number of the next global access */
    uint32_t ready_at; /* at a barrier: the cycle at which the next instruction could issue */
    uint64_t id;       /* block * warps_per_block + index in the block */
};

struct tmx_block {          /* a resident thread block */
    unsigned live, arrived; /* warps that have not ended; of these: waiting at the barrier */
    uint64_t waiting;       /* their mask */
    uint32_t start;         /* cycle of launch */
};

struct tmx_warps {
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
    unsigned n_event;             /* slots of the wheel, a power of two */
    struct tmx_wheel_slot *wheel; /* [n_event] owned */
    uint64_t *used;               /* [n_event / 64] owned: slots that hold something */
    uint32_t *result; /* [warps * n_register] owned: 2 * (cycle a register may be read) + (global load) */
    uint32_t entered[TMX_MAX_WARPS]; /* which of the entries was a warp's last */
    struct tmx_warp warp[TMX_MAX_WARPS];
    struct tmx_block block[TMX_MAX_WARPS];
};

TMX_NODISCARD enum tmx_status tmx_warps_init(struct tmx_warps *w, const struct tmx_sm_params *sm,
                                             const struct tmx_stream *s, struct tmx_err *err);
void tmx_warps_finish(struct tmx_warps *w);

/* First cycle after t with an event; UINT32_MAX: none. */
uint32_t tmx_warps_next_event(const struct tmx_warps *w, uint32_t t);
/* Warp `index` has issued its next instruction at t: book the result, step on. */
void tmx_warps_issue(struct tmx_warps *w, unsigned index, uint32_t t);
/* Fill the active set from the waiting warps. */
void tmx_warps_promote(struct tmx_warps *w);

/* Events of cycle t. */
static inline void tmx_warps_arrive(struct tmx_warps *w, uint32_t t)
{
    const unsigned at = t & (w->n_event - 1);
    struct tmx_wheel_slot *slot = &w->wheel[at];
    w->ready |= slot->warps & w->active;
    w->waiting |= slot->warps & ~w->active;
    w->outstanding -= slot->released;
    *slot = (struct tmx_wheel_slot){0};
    w->used[at >> 6] &= ~(1ull << (at & 63));
}

static inline bool tmx_warps_event_at(const struct tmx_warps *w, uint32_t t)
{
    const unsigned at = t & (w->n_event - 1);
    return w->used[at >> 6] >> (at & 63) & 1;
}

#endif

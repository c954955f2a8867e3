/* SPDX-License-Identifier: GPL-3.0-or-later */
/* TCS: fewer cores for kernels that wait for memory anyway (paper 000, Algorithms 1 and 2).
 *
 * MONITOR, every window: a core is memory-bound when it was stalled for more than half of the window and
 * its average memory latency exceeds thr. If at least half of the active cores are, one more core is
 * throttled: it gets no more blocks and sends no requests. MONITOR ends with the kernel's first completed
 * block, or after monitor_cycles, whichever is later.
 * REDUCE: no core gets new blocks; a core that finishes is gated and a throttled one takes its place,
 * until none is throttled.
 * Readings of the text: C_mem and the stall counters start again at every window, else C_mem would add up
 * over windows with no decision; the last core is never throttled. Without throttling the cores chosen in
 * MONITOR are held back only there (MONITOR could not see the effect of its choice otherwise) and run on in
 * REDUCE, where each of them is gated once it has finished. */
#include <math.h>

#include <thermix/policy.h>

#include "sched/policies.h"

enum tmx_tcs_phase { TMX_TCS_MONITOR, TMX_TCS_REDUCE, TMX_TCS_SETTLED };

struct tmx_tcs {
    double threshold;      /* thr, in contention-free latencies */
    double stall_share;    /* of the window a core must be stalled */
    double window_cycles;  /* mon_cycle */
    double monitor_cycles; /* MONITOR lasts at least this long */
    bool throttling;       /* THROTTLE cores are also held back in REDUCE */
    /* state */
    bool half;  /* htcs: the first window runs on half the cores */
    bool share; /* tcs_share: finished cores are lent, not gated */
    enum tmx_tcs_phase phase;
    double next_window; /* cycle */
    size_t n_throttle;  /* C_throttle */
};

static const struct tmx_opt opts[] = {
    TMX_ROW_REAL(tmx_tcs, threshold, "1", 1, 10, 1.30, "thr, in contention-free memory latencies"),
    TMX_ROW_REAL(tmx_tcs, stall_share, "1", 0, 1, 0.5, "a core counts when stalled for more of the window"),
    TMX_ROW_REAL(tmx_tcs, window_cycles, "cycles", 64, 1e7, 8192, "monitoring period"),
    TMX_ROW_REAL(tmx_tcs, monitor_cycles, "cycles", 0, 1e8, 10000, "MONITOR lasts at least this long"),
    TMX_ROW_BOOL(tmx_tcs, throttling, 1, "throttled cores stop until their turn"),
    {0},
};

static void launch(void *state, const struct tmx_cta_view *view, struct tmx_cta_request *request)
{
    struct tmx_tcs *t = state;
    t->phase = TMX_TCS_MONITOR;
    t->n_throttle = 0;
    t->next_window = t->window_cycles;
    request->watch_blocks = true;
    request->wake_cycle = t->next_window;
    for (size_t i = t->half ? (view->n_core + 1) / 2 : view->n_core; i < view->n_core; i++) {
        request->state[i] = TMX_CORE_OFF;
        request->accept[i] = false;
    }
}

/* One monitoring period is over. */
static void window(struct tmx_tcs *t, const struct tmx_cta_view *view, struct tmx_cta_request *request)
{
    size_t n_active = 0, n_memory = 0, last = 0; /* n_memory: C_mem of Algorithm 1 */
    for (size_t i = 0; i < view->n_core; i++) {
        const struct tmx_cta_core *c = &view->core[i];
        const bool active = c->state == TMX_CORE_ACTIVE;
        n_active += active;
        n_memory += active && c->stall_cycles > t->stall_share * t->window_cycles &&
                    c->latency_cycles > t->threshold * view->base_latency_cycles;
        last = active ? i : last;
    }
    const bool first = t->next_window <= t->window_cycles;
    if (2 * n_memory >= n_active && n_memory > 0) {
        if (n_active > 1) {
            request->state[last] = TMX_CORE_THROTTLE;
            request->accept[last] = false;
            t->n_throttle++;
        }
    } else if (t->half && first) {
        for (size_t i = 0; i < view->n_core; i++) { /* hTCS: half the cores do not suffice */
            request->state[i] = TMX_CORE_ACTIVE;
            request->accept[i] = true;
        }
    }
    t->next_window += t->window_cycles;
    request->reset_counters = true;
}

static void settle(struct tmx_tcs *t, const struct tmx_cta_view *view, struct tmx_cta_request *request)
{
    t->phase = TMX_TCS_SETTLED;
    for (size_t i = 0; i < view->n_core; i++) {
        request->accept[i] = request->state[i] == TMX_CORE_ACTIVE;
    }
    request->watch_blocks = false;
    request->wake_cycle = INFINITY;
}

/* Algorithm 2. */
static void core_finished(struct tmx_tcs *t, size_t core, const struct tmx_cta_view *view,
                          struct tmx_cta_request *request)
{
    if (t->n_throttle == 0 || request->state[core] != TMX_CORE_ACTIVE) {
        return;
    }
    request->state[core] = t->share ? TMX_CORE_GIVEN : TMX_CORE_OFF;
    t->n_throttle--;
    for (size_t i = 0; t->throttling && i < view->n_core; i++) {
        if (request->state[i] == TMX_CORE_THROTTLE) {
            request->state[i] = TMX_CORE_ACTIVE;
            return;
        }
    }
}

static void observe(void *state, const struct tmx_cta_view *view, struct tmx_cta_request *request)
{
    struct tmx_tcs *t = state;
    if (t->phase == TMX_TCS_MONITOR) {
        const double end = fmax(view->first_done_cycle, t->monitor_cycles);
        if (view->cycle >= t->next_window && t->next_window <= end) {
            window(t, view, request);
        }
        request->wake_cycle = fmin(t->next_window, end);
        if (view->cycle < end) {
            return;
        }
        /* MONITOR has found the number of cores; the others have to go */
        bool works = false;
        t->phase = TMX_TCS_REDUCE;
        request->watch_blocks = false;
        request->wake_cycle = INFINITY;
        for (size_t i = 0; i < view->n_core && t->n_throttle > 0; i++) {
            request->accept[i] = false;
            if (!t->throttling && request->state[i] == TMX_CORE_THROTTLE) {
                request->state[i] = TMX_CORE_ACTIVE;
            }
            works = works || (view->core[i].state == TMX_CORE_ACTIVE && view->core[i].n_block > 0);
        }
        /* a MONITOR longer than the kernel: where every active core has run out of blocks, none will finish
         * any more and take a throttled one's place */
        for (size_t i = 0; i < view->n_core && !works; i++) {
            if (view->core[i].state == TMX_CORE_ACTIVE) {
                core_finished(t, i, view, request);
            }
        }
    }
    if (t->phase == TMX_TCS_REDUCE) {
        for (size_t d = 0; d < view->n_drained; d++) {
            core_finished(t, view->drained[d], view, request);
        }
        if (t->n_throttle == 0) {
            settle(t, view, request);
        }
    }
}

const struct tmx_cta_policy tmx_cta_tcs = {
    .base = {.name = "tcs",
             .doc = "Throttle cores while memory is congested, gate those not needed.",
             .source = "paper 000 (Song et al.), Algorithms 1 and 2",
             .opts = opts,
             .state_size = sizeof(struct tmx_tcs)},
    .launch = launch,
    .observe = observe,
};

/* Half TCS: the first window runs on half the cores; if they are not memory-bound, all are used, else the
 * rest stays off and TCS goes on from there (paper 000, section III.C). */
static void launch_on_half(void *state, const struct tmx_cta_view *view, struct tmx_cta_request *request)
{
    struct tmx_tcs *t = state;
    t->half = true;
    launch(t, view, request);
}

const struct tmx_cta_policy tmx_cta_htcs = {
    .base = {.name = "htcs",
             .doc = "TCS that starts each kernel on half the cores.",
             .source = "paper 000 (Song et al.), section III.C",
             .opts = opts,
             .state_size = sizeof(struct tmx_tcs)},
    .launch = launch_on_half,
    .observe = observe,
};

/* TCS whose freed cores are lent to the next kernel waiting instead of being gated: the question that
 * paper 000 leaves open (section VI). Without a taker they are gated as in TCS. */
static void launch_lending(void *state, const struct tmx_cta_view *view, struct tmx_cta_request *request)
{
    struct tmx_tcs *t = state;
    t->share = true;
    launch(t, view, request);
}

const struct tmx_cta_policy tmx_cta_tcs_share = {
    .base = {.name = "tcs_share",
             .doc = "TCS that gives freed cores to the next kernel.",
             .source = "paper 000 (Song et al.), section VI (future work)",
             .opts = opts,
             .state_size = sizeof(struct tmx_tcs)},
    .launch = launch_lending,
    .observe = observe,
    .lends = true,
};

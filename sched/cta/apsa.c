/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Application-aware scalable architecture (paper 002). PROFILE: one block on one core, until it ends or for
 * 7000 cycles. DECISION: does the kernel want cores (type I) or memory (type II)? ACTION: type I gets every
 * core; type II gets half of them with the core clock 15 % down and the memory system's clock 15 % up.
 *
 * The paper's text (3.1.2) and its Algorithm 2 differ where bandwidth use exceeds t_max_bw: the text then
 * asks for GBR, the algorithm says type II at once and asks for GBR where bandwidth use is low. */
#include <math.h>

#include "sched/policies.h"

static const char *const readings[] = {"text", "pseudocode", NULL};

static const struct tmx_opt opts[] = {
    TMX_ROW_REAL(tmx_apsa, ipc_upper, "1", 0, 1, 0.85, "IPC above this share of a core's peak: type I"),
    TMX_ROW_REAL(tmx_apsa, ipc_lower, "1", 0, 1, 0.15, "IPC below this share: type II"),
    TMX_ROW_REAL(tmx_apsa, bandwidth, "1", 0, 1, 0.01025, "busiest partition, share of its peak"),
    TMX_ROW_REAL(tmx_apsa, good_to_bad, "1", 0, 1, 0.65, "threshold of the good-to-bad cycles ratio"),
    TMX_ROW_REAL(tmx_apsa, profile_cycles, "cycles", 1, 1e8, 7000, "longest profile"),
    TMX_ROW_CHOICE(tmx_apsa, reading, readings, "text",
                   "of the decision: the paper's text or its Algorithm 2"),
    TMX_ROW_BOOL(tmx_apsa, power_gate, 0, "power-gate unused cores instead of clock-gating them"),
    TMX_ROW_REAL(tmx_apsa, clock_step, "1", 0, 0.5, 0.15, "core clock down, memory clock up for type II"),
    {0},
};

bool tmx_apsa_is_type1(const struct tmx_apsa *a, double ipc_share, double bandwidth_share, double good_to_bad)
{
    if (ipc_share > a->ipc_upper) {
        return true;
    }
    if (ipc_share < a->ipc_lower) {
        return false;
    }
    if (a->reading == TMX_APSA_TEXT) {
        return bandwidth_share <= a->bandwidth || good_to_bad >= a->good_to_bad;
    }
    return bandwidth_share <= a->bandwidth && good_to_bad > a->good_to_bad;
}

static void launch(void *state, const struct tmx_cta_view *view, struct tmx_cta_request *request)
{
    struct tmx_apsa *a = state;
    a->phase = TMX_APSA_PROFILE;
    for (size_t i = 1; i < view->n_core; i++) {
        request->accept[i] = false;
    }
    request->block_limit = 1;
    request->watch_blocks = true;
    request->wake_cycle = a->profile_cycles;
}

static enum tmx_core_state unused_core(const void *state)
{
    return ((const struct tmx_apsa *)state)->power_gate ? TMX_CORE_OFF : TMX_CORE_CLOCK_OFF;
}

static void observe(void *state, const struct tmx_cta_view *view, struct tmx_cta_request *request)
{
    struct tmx_apsa *a = state;
    if (a->phase == TMX_APSA_ACTION || (isinf(view->first_done_cycle) && view->cycle < a->profile_cycles)) {
        return;
    }
    a->phase = TMX_APSA_ACTION;
    const bool type1 = tmx_apsa_is_type1(a, view->ipc_share, view->bandwidth_share, view->good_to_bad);
    const size_t n_core = view->n_core;
    const size_t n = type1 ? n_core : n_core > 1 ? n_core / 2 : 1;
    request->block_limit = 0;
    request->watch_blocks = false;
    request->wake_cycle = INFINITY;
    for (size_t i = 0; i < n_core; i++) {
        request->accept[i] = i < n;
        if (i >= n) {
            request->state[i] = unused_core(a);
        }
    }
    if (!type1) { /* the frequency calibrator, FC = 1 */
        request->core_clock = 1 - a->clock_step;
        request->memory_clock = 1 + a->clock_step;
    }
}

const struct tmx_cta_policy tmx_cta_apsa = {
    .base = {.name = "apsa",
             .doc = "Profile one block, then all cores, or half of them with a faster memory.",
             .source = "paper 002 (Thomas and Daruwala), Algorithms 1 to 3",
             .opts = opts,
             .state_size = sizeof(struct tmx_apsa)},
    .launch = launch,
    .observe = observe,
    .unused_core = unused_core,
};

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Stop-go throttling: a chip, or an SM, that reaches the trip point stops until it has cooled below the
 * release point. Paper 003, section 4.1: 90 and 85 degC, and the GPGPU is what stops, as boards of that time
 * did. SM by SM some latch off, kept warm by their neighbours: metric latched_sm counts them. */
#include <string.h>

#include <thermix/policy.h>

#include "sched/policies.h"

enum scope { PER_SM, PER_CHIP };
static const char *const scopes[] = {"sm", "chip", NULL};

struct throttle {
    double trip_c;
    double release_c;
    int scope;
};

static const struct tmx_opt opts[] = {
    TMX_ROW_REAL(throttle, trip_c, "degC", 0, 300, 90, "clock off at or above this"),
    TMX_ROW_REAL(throttle, release_c, "degC", 0, 300, 85, "clock on again below this"),
    TMX_ROW_CHOICE(throttle, scope, scopes, "chip", "what is gated: the whole chip, or the SM alone"),
    {0},
};

static void guard(void *state, const struct tmx_view *view, struct tmx_request *request)
{
    const struct throttle *t = state;
    const double trip_k = t->trip_c + TMX_ZERO_C, release_k = t->release_c + TMX_ZERO_C;
    for (size_t g = 0; g < view->node->n_gpu; g++) {
        const struct tmx_gpu_view *gpu = view->node->gpus[g];
        if (t->scope == PER_CHIP && view->hottest_k[g] < release_k &&
            release_k <= trip_k) { /* as most of the time */
            memset(request->gate + gpu->sm0, false, gpu->n_sm);
            continue;
        }
        for (size_t sm = gpu->sm0; sm < gpu->sm0 + gpu->n_sm; sm++) {
            const double k = t->scope == PER_CHIP ? view->hottest_k[g] : view->sensed_k[sm];
            request->gate[sm] = k >= trip_k || (request->gate[sm] && k >= release_k);
        }
    }
}

static double trip_k(const void *state)
{
    return ((const struct throttle *)state)->trip_c + TMX_ZERO_C;
}

const struct tmx_dtm_policy tmx_dtm_throttle = {
    .base = {.name = "throttle",
             .doc = "Clock-gate an SM or chip that is too hot until it has cooled.",
             .source = "paper 003, section 4.1; Brooks and Martonosi, HPCA 2001",
             .opts = opts,
             .state_size = sizeof(struct throttle),
             .rests = TMX_RESTS_BELOW_TRIP},
    .guard = guard,
    .trip_k = trip_k,
};

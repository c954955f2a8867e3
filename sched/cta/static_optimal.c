/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The number of cores of the smallest energy-delay product, found by trying all of them before the run
 * (paper 000, section II.C). */
#include <math.h>

#include "base/err.h"
#include "sched/policies.h"

enum { MAX_LAUNCH = 128 };

struct static_optimal {
    int cores; /* option: 0 searches */
    size_t n_launch, next;
    size_t best[MAX_LAUNCH];
};

static const struct tmx_opt opts[] = {
    TMX_ROW_INT(static_optimal, cores, "1", 0, 128, 0, "cores of every launch; 0: smallest EDP, by search"),
    {0},
};

static void prepare(void *state, size_t n_launch, size_t n_core,
                    double (*edp)(void *ctx, size_t launch, size_t n), void *ctx)
{
    struct static_optimal *s = state;
    tmx_assert(n_launch <= MAX_LAUNCH);
    s->n_launch = s->cores > 0 ? 0 : n_launch;
    for (size_t l = 0; l < s->n_launch; l++) {
        double least = INFINITY;
        for (size_t n = n_core; n > 0; n--) { /* ties: more cores */
            const double e = edp(ctx, l, n);
            if (e < least) {
                least = e;
                s->best[l] = n;
            }
        }
    }
}

static void launch(void *state, const struct tmx_cta_view *view, struct tmx_cta_request *request)
{
    struct static_optimal *s = state;
    size_t n = s->cores > 0 ? (size_t)s->cores : view->n_core;
    if (s->next < s->n_launch) {
        n = s->best[s->next++];
    }
    for (size_t i = n; i < view->n_core; i++) {
        request->state[i] = TMX_CORE_OFF;
        request->accept[i] = false;
    }
}

const struct tmx_cta_policy tmx_cta_static_optimal = {
    .base = {.name = "static_optimal",
             .doc = "The number of cores with the smallest energy-delay product, by search.",
             .source = "paper 000 (Song et al.), section II.C",
             .opts = opts,
             .state_size = sizeof(struct static_optimal)},
    .launch = launch,
    .prepare = prepare,
};

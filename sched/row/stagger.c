/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Steps of a row's synchronous jobs begin one after another, so that some compute while others communicate:
 * job k of n a share k / n of the mean period after job 0. Each is held until its turn; of the n jobs that
 * could stay as they are, the one that costs the least waiting does. A phase within `tolerance` of the
 * distance of two jobs stays, so that jobs are not held again for what their clocks do. */
#include <math.h>

#include "sched/policies.h"

struct stagger {
    double tolerance;
};

static const struct tmx_opt opts[] = {
    TMX_ROW_REAL(stagger, tolerance, "1", 0.001, 0.5, 0.1,
                 "a phase may be off by so much of the distance of two jobs (assumed)"),
    {0},
};

/* How long job i waits when job `still` does not; a wait of nearly a period is none. */
static double hold_s(const struct tmx_row_view *v, size_t still, size_t i, double period_s, double tolerance)
{
    const double n = (double)v->n_instance, due_s = ((double)i - (double)still) * period_s / n,
                 late_s = v->instance[i].begun_s - v->instance[still].begun_s,
                 wait_s = due_s - late_s - floor((due_s - late_s) / period_s) * period_s;
    const double slack_s = tolerance * period_s / n;
    return wait_s < slack_s || wait_s > period_s - slack_s ? 0 : wait_s;
}

static void decide(const void *state, const struct tmx_row_view *v, double *asked_s)
{
    const struct stagger *s = state;
    double period_s = 0, least_s = INFINITY;
    size_t best = 0;
    for (size_t i = 0; i < v->n_instance; i++) {
        if (!(v->instance[i].period_s > 0)) { /* not measured */
            return;
        }
        period_s += v->instance[i].period_s / (double)v->n_instance;
    }
    for (size_t still = 0; still < v->n_instance; still++) {
        double sum_s = 0;
        for (size_t i = 0; i < v->n_instance; i++) {
            sum_s += hold_s(v, still, i, period_s, s->tolerance);
        }
        if (sum_s < least_s) {
            least_s = sum_s;
            best = still;
        }
    }
    for (size_t i = 0; i < v->n_instance; i++) {
        asked_s[i] = hold_s(v, best, i, period_s, s->tolerance);
    }
}

const struct tmx_row_policy tmx_row_stagger = {
    .base = {.name = "stagger",
             .doc = "Shifts the steps of synchronous jobs, so that their swings of power cancel.",
             .source = "own",
             .opts = opts,
             .state_size = sizeof(struct stagger)},
    .decide = decide,
    .asks = TMX_ROW_HOLDS,
};

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The instance that will be done first with what it has and this prompt, at the speed that its heat will
 * leave it.
 *
 *   T(1 s) = T + k (W_prompt - W)        of die and memory; k: a step of the thermal model
 *   room   = (limit - T) / (T(1 s) - T)  of the watts that a prompt adds, 0 to 1
 *   time   ~ (pending + input) / speed,  speed = slowest + (1 - slowest) room
 *
 * Where a row passes its target, watts are short instead of kelvins: the same with the row's watts. Without
 * temperatures it is `tokens`. */
#include <math.h>

#include "sched/policies.h"

struct foresight {
    double margin_k, slowest, row_share;
};

static const struct tmx_opt opts[] = {
    TMX_ROW_REAL(foresight, margin_k, "K", 0, 100, 3, "below the limits of die and memory"),
    TMX_ROW_REAL(foresight, slowest, "1", 0.01, 1, 0.5, "speed of an instance that has no room left"),
    TMX_ROW_REAL(foresight, row_share, "1", 0, 2, 0.95, "share of the row's budget that may be drawn"),
    {0},
};

/* Share of the watts that fits below a limit; unknown: all. */
static double room(double now, double limit, double rise)
{
    return isnan(now) || isinf(limit) || rise <= 0 ? 1 : fmin(1, fmax(0, (limit - now) / rise));
}

static double time_left(const void *policy, const struct tmx_route_view *v, const struct tmx_instance_view *x)
{
    const struct foresight *f = policy;
    const double more_w = fmax(0, x->prompt_w - x->gpu_w),
                 row_limit_w = v->budget_w > 0 ? f->row_share * v->budget_w : INFINITY,
                 die = room(x->hottest_k, x->limit_k - f->margin_k, x->k_per_w * more_w),
                 memory = room(x->memory_k, x->memory_limit_k - f->margin_k, x->memory_k_per_w * more_w),
                 row = room(v->row_w[x->row], row_limit_w, (double)x->n_gpu * more_w),
                 left = fmin(fmin(die, memory), row);
    return (x->pending_tokens + v->input_tokens) / (f->slowest + (1 - f->slowest) * left);
}

static void route(void *state, const struct tmx_route_view *v, struct tmx_route *to)
{
    tmx_route_by(time_left, state, v, to);
}

const struct tmx_route_policy tmx_route_foresight = {
    .base = {.name = "foresight",
             .doc =
                 "The instance that will be done first at the speed that a forecast of its heat leaves it.",
             .source = "own",
             .opts = opts,
             .state_size = sizeof(struct foresight)},
    .route = route,
};

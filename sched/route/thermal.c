/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Routers that look at temperatures and at the row's power. */
#include <math.h>

#include "sched/policies.h"

static double heat(const void *policy, const struct tmx_route_view *v, const struct tmx_instance_view *i)
{
    (void)policy, (void)v;
    return isnan(i->hottest_k) ? 0 : i->hottest_k;
}

/* The instance whose hottest GPU is the coolest: what not to do. All requests of a moment go to one. */
static void route_coldest(void *state, const struct tmx_route_view *v, struct tmx_route *to)
{
    tmx_route_by(heat, state, v, to);
}

const struct tmx_route_policy tmx_route_coldest = {
    .base = {.name = "coldest",
             .doc = "The instance whose hottest GPU is the coolest.",
             .source = "textbook; requests of a moment herd to one instance"},
    .route = route_coldest,
};

struct weighted {
    double tokens_per_k;
    double tokens_per_kw;
};

static const struct tmx_opt weighted_opts[] = {
    TMX_ROW_REAL(weighted, tokens_per_k, "1/K", 0, 1e6, 150,
                 "pending tokens that a kelvin of the hottest GPU is worth"),
    TMX_ROW_REAL(weighted, tokens_per_kw, "1/kW", 0, 1e6, 0,
                 "pending tokens that a kilowatt of the row is worth"),
    {0},
};

/* Pending tokens, and more for heat: pending + a T + b P_row. */
static double weigh(const void *policy, const struct tmx_route_view *v, const struct tmx_instance_view *i)
{
    const struct weighted *w = policy;
    return i->pending_tokens + w->tokens_per_k * heat(NULL, v, i) +
           w->tokens_per_kw * v->row_w[i->row] / 1000;
}

static void route_weighted(void *state, const struct tmx_route_view *v, struct tmx_route *to)
{
    tmx_route_by(weigh, state, v, to);
}

const struct tmx_route_policy tmx_route_weighted = {
    .base =
        {.name = "weighted",
         .doc =
             "The instance with the fewest pending tokens, each kelvin of its hottest GPU counted as tokens.",
         .source = "own; the weight of 150 tokens a kelvin is assumed",
         .opts = weighted_opts,
         .state_size = sizeof(struct weighted)},
    .route = route_weighted,
};

struct tapas {
    double limit_c;
    double row_share;
};

static const struct tmx_opt tapas_opts[] = {
    TMX_ROW_REAL(tapas, limit_c, "degC", 0, 150, 70,
                 "predicted temperature of the hottest GPU below which an instance is safe"),
    TMX_ROW_REAL(tapas, row_share, "1", 0, 10, 1, "share of the row's budget below which it is"),
    {0},
};

/* Load of a safe instance: its hottest GPU stays below the limit after a second of a long prompt (k_per_w: a
 * step of its thermal model), and its row below its share of the budget. */
static double safe_load(const void *policy, const struct tmx_route_view *v, const struct tmx_instance_view *i)
{
    const struct tapas *t = policy;
    const bool hot = i->hottest_k + i->k_per_w * fmax(0, i->prompt_w - i->gpu_w) > t->limit_c + TMX_ZERO_C;
    const bool row_safe = v->budget_w <= 0 || v->row_w[i->row] < t->row_share * v->budget_w;
    return row_safe && !hot ? i->pending_tokens : INFINITY;
}

static void route_tapas(void *state, const struct tmx_route_view *v, struct tmx_route *to)
{
    tmx_route_by(safe_load, state, v, to);
    if (to->prompt == SIZE_MAX) { /* none is safe */
        tmx_route_by(heat, state, v, to);
    }
}

const struct tmx_route_policy tmx_route_tapas = {
    .base = {.name = "tapas",
             .doc = "The least loaded instance whose predicted temperature and row power are safe, else the "
                    "coolest.",
             .source = "after TAPAS (Stojkovic et al., ASPLOS 2025), whose control law is not printed",
             .opts = tapas_opts,
             .state_size = sizeof(struct tapas)},
    .route = route_tapas,
};

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Clocks fall first where no prompt waits: decodes wait for memory and lose little. An integral of the row's
 * power over its target gives the share of the servers that run at slow_hz; they are those with the fewest
 * prompt tokens, ties to the lowest number. memory[0] is that share. */
#include <math.h>

#include "sched/policies.h"

struct slosh {
    double target, gain, slow_hz;
};

static const struct tmx_opt opts[] = {
    TMX_ROW_REAL(slosh, target, "1", 0, 2, 0.85, "power to keep, of the budget"),
    TMX_ROW_REAL(slosh, gain, "1", 0, 100, 0.5, "share of the servers for each unit above it, a telemetry"),
    TMX_ROW_REAL(slosh, slow_hz, "Hz", 1e6, 1e10, 1110e6, "clock of slowed servers"),
    {0},
};

/* How many of the row's instances come before i. */
static size_t rank(const struct tmx_row_view *v, size_t i)
{
    size_t n = 0;
    for (size_t k = 0; k < v->n_instance; k++) {
        const double a = v->instance[k].prompt_tokens, b = v->instance[i].prompt_tokens;
        n += v->instance[k].row == v->row && (a < b || (a == b && k < i));
    }
    return n;
}

static void decide(const void *state, const struct tmx_row_view *v, double *clock_hz)
{
    const struct slosh *s = state;
    size_t n = 0;
    const double over = v->power_w / v->budget_w - s->target;
    v->memory[0] = fmin(1, fmax(0, v->memory[0] + s->gain * over));
    for (size_t i = 0; i < v->n_instance; i++) {
        n += v->instance[i].row == v->row;
    }
    for (size_t i = 0; i < v->n_instance; i++) {
        if (v->instance[i].row == v->row) {
            clock_hz[i] = (double)rank(v, i) < v->memory[0] * (double)n ? s->slow_hz : INFINITY;
        }
    }
}

const struct tmx_row_policy tmx_row_slosh = {
    .base = {.name = "slosh",
             .doc = "Slows the servers with the fewest waiting prompts until the row keeps its target.",
             .source = "own",
             .opts = opts,
             .state_size = sizeof(struct slosh)},
    .decide = decide,
};

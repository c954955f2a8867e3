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

/* How many of the row's instances are slowed before i. */
static size_t rank(const struct tmx_row_view *v, bool by_class, size_t i)
{
    const struct tmx_instance_view *b = &v->instance[i];
    size_t n = 0;
    for (size_t k = 0; k < v->n_instance; k++) {
        const struct tmx_instance_view *a = &v->instance[k];
        const bool tie = !by_class || a->class_of == b->class_of,
                   less = tie ? a->prompt_tokens < b->prompt_tokens : a->class_of > b->class_of;
        n += a->row == v->row && (less || (tie && a->prompt_tokens == b->prompt_tokens && k < i));
    }
    return n;
}

void tmx_row_slow(const struct tmx_row_view *v, double share, double slow_hz, bool by_class, double *clock_hz)
{
    size_t n = 0;
    for (size_t i = 0; i < v->n_instance; i++) {
        n += v->instance[i].row == v->row;
    }
    for (size_t i = 0; i < v->n_instance; i++) {
        if (v->instance[i].row == v->row) {
            clock_hz[i] = (double)rank(v, by_class, i) < share * (double)n ? slow_hz : INFINITY;
        }
    }
}

static void decide(const void *state, const struct tmx_row_view *v, double *clock_hz)
{
    const struct slosh *s = state;
    const double over = v->power_w / v->budget_w - s->target;
    v->memory[0] = fmin(1, fmax(0, v->memory[0] + s->gain * over));
    tmx_row_slow(v, v->memory[0], s->slow_hz, false, clock_hz);
}

const struct tmx_row_policy tmx_row_slosh = {
    .base = {.name = "slosh",
             .doc = "Slows the servers with the fewest waiting prompts until the row keeps its target.",
             .source = "own",
             .opts = opts,
             .state_size = sizeof(struct slosh)},
    .decide = decide,
};

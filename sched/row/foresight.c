/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Clocks for the row's power as it will be when they are in force: its mean now and the largest rise above
 * the mean that it has shown (which fades). An integral of that over the budget gives the share of the
 * servers that run at slow_hz: low priority first, then those with the fewest prompt tokens, which lose
 * least; ties to the lowest number. memory[0] is the share, [1] the largest rise, [2] the mean, [3] the
 * number of calls. */
#include <math.h>

#include "sched/policies.h"

struct foresight {
    double target, gain, slow_hz, mean_s, fade_s;
};

static const struct tmx_opt opts[] = {
    TMX_ROW_REAL(foresight, target, "1", 0, 2, 0.97, "forecast power to keep, of the budget"),
    TMX_ROW_REAL(foresight, gain, "1", 0, 100, 0.3,
                 "share of the servers for each unit above it, a telemetry"),
    TMX_ROW_REAL(foresight, slow_hz, "Hz", 1e6, 1e10, 1110e6, "clock of slowed servers"),
    TMX_ROW_REAL(foresight, mean_s, "s", 0.001, 1e5, 40, "of the mean"),
    TMX_ROW_REAL(foresight, fade_s, "s", 0.001, 1e7, 3600, "in which a rise fades to a third"),
    {0},
};

static void decide(const void *state, const struct tmx_row_view *v, double *clock_hz)
{
    const struct foresight *f = state;
    double *share = &v->memory[0], *rise = &v->memory[1], *mean = &v->memory[2];
    const double weight = fmax(1 / ++v->memory[3], fmin(1, v->telemetry_s / f->mean_s));
    *rise = fmax(*rise * exp(-v->telemetry_s / f->fade_s), v->power_w - *mean);
    *rise = v->memory[3] * v->telemetry_s < f->mean_s ? 0 : *rise; /* there is no mean yet */
    *mean += weight * (v->power_w - *mean);
    *share = fmin(1, fmax(0, *share + f->gain * ((*mean + *rise) / v->budget_w - f->target)));
    tmx_row_slow(v, *share, f->slow_hz, true, clock_hz);
}

const struct tmx_row_policy tmx_row_foresight = {
    .base = {.name = "foresight",
             .doc =
                 "Slows servers before the row's forecast power passes the budget: low priority, then those "
                 "with the fewest waiting prompts.",
             .source = "own",
             .opts = opts,
             .state_size = sizeof(struct foresight)},
    .decide = decide,
};

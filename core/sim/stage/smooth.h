/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TMX_CORE_SIM_STAGE_SMOOTH_H
#define TMX_CORE_SIM_STAGE_SMOOTH_H

/* Power smoothing, as NVML's profiles have it (PERCENT_TMP_FLOOR, RAMP_UP_RATE, RAMP_DOWN_RATE,
 * RAMP_DOWN_HYSTERESIS; Blackwell and later), each GPU by itself, on its board's watts. Vendors do not
 * publish the controller; what is kept here:
 *
 *   up     a GPU rests for the share of each tick that keeps its watts from rising faster than ramp_up. It
 *          knows what its kernels draw at full speed on the SMs that the tick gives them; of a synchronous
 *          job, whose members wait, the largest share of it in the last 10 s (assumed). Phases that draw more
 *          than the last tick's overshoot for a tick
 *   floor  while kernels draw power, for hysteresis_s after, and prime_s before one arrives, dummy work fills
 *          up to the floor; a second, lower floor in watts holds at any time (assumed: NVML says its name and
 *          unit alone)
 *   down   dummy work keeps the watts from falling faster than ramp_down
 *
 * Dummy work runs on the SMs, all alike, and on none whose clock the throttle stops: its watts heat them. */

#include "base/opt.h"
#include "core/contract/power_model.h"
#include "core/machine/machine.h"

struct tmx_smooth_options {
    double floor;             /* percent of the board's limit */
    double secondary_floor_w; /* at any time */
    double ramp_up_w_per_s, ramp_down_w_per_s;
    double hysteresis_s, prime_s;
};
extern const struct tmx_opt tmx_smooth_opts[];

struct tmx_smooth_gpu { /* of the last tick; zeroed at first */
    double started, held;
    double board_w, still_w; /* with dummy work; of kernels and dummies nothing */
    double full_w;           /* what kernels could draw at full speed */
    double used, unused_s;   /* share of it that members drew of late, and for how long not */
    double idle_s;           /* since kernels drew power */
    double row_w_per_s;      /* a row policy's share, both ways; 0: none */
};

/* What its kernels could draw above what the board draws. */
double tmx_smooth_rise_w(const struct tmx_smooth_gpu *gpu);
bool tmx_smooth_on(const struct tmx_smooth_options *o);
/* After blocks are placed: rests. Then, with the tick's power: dummy work, into power_w and smooth_w. */
void tmx_smooth_slow(const struct tmx_smooth_options *o, struct tmx_machine *m, struct tmx_gpus span,
                     struct tmx_smooth_gpu *gpu);
void tmx_smooth_fill(const struct tmx_smooth_options *o, const struct tmx_machine *m, struct tmx_gpus span,
                     double time_s, struct tmx_smooth_gpu *gpu, struct tmx_frame *f);

#endif

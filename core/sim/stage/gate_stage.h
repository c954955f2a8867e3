/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TMX_CORE_SIM_STAGE_GATE_STAGE_H
#define TMX_CORE_SIM_STAGE_GATE_STAGE_H

/* Unit gating in the tick: which share of each floorplan unit's leakage sleeping INT, FP and SFU units
 * save, and how much longer thread blocks live.
 *
 *   asleep(u) = sum over types t of share_t(u) * ( sum over kernels k of busy_k * saved_t(k) + idle )
 *
 * busy_k: share of the tick kernel k keeps the SM busy; idle: the rest, all its units asleep (ticks are
 * thousands of times longer than a break-even time). saved_t(k): fraction of time type t sleeps under
 * kernel k less the switching overhead, from kernels/profile at the latency that memory has, in core
 * cycles, at the present clock, times what a CTA policy makes of it. share_t(u): leakage of type t in that of
 * unit u. A floorplan whose SMs are split takes the parts by name (SM3_FP); else they are spread over the SM.
 */

#include "core/contract/power_model.h"
#include "core/machine/machine.h"
#include "kernels/profile.h"

enum tmx_gate_type { TMX_GATE_INT, TMX_GATE_FP, TMX_GATE_SFU, TMX_N_GATE_TYPE };

struct tmx_gate_kind {                      /* of GPU: what its SM makes of the kernels */
    const struct tmx_gate_profile *profile; /* [n_kernel] */
    const double *latency_cycles;           /* [n_kernel] at the nominal clock */
    double break_even_cycles;
    double chip_share[TMX_N_GATE_TYPE]; /* leakage of all units of a type in the chip's */
};

struct tmx_gate_spec {               /* kind NULL: no gating; all is copied */
    const struct tmx_kernel *kernel; /* [n_kernel], as the jobs point to them */
    size_t n_kernel;
    const struct tmx_gate_kind *kind; /* [n_kind] */
    size_t n_kind;
    const size_t *kind_of_gpu; /* [n_gpu] */
};

struct tmx_gate_stage;

/* Errors: TMX_ENOMEM. */
/* In the arena of a simulation, whose `failed` says whether there was memory. */
struct tmx_gate_stage *tmx_gate_stage_take(struct tmx_arena *a, const struct tmx_gate_spec *spec,
                                           const struct tmx_machine *m);

/* Before blocks advance: the resident kernels' slowdowns at the present clock. latency_factor [n_job]: memory
 * latency against the kernel alone on the whole chip, as a CTA policy leaves it. NULL: no CTA policy. */
void tmx_gate_stage_slow(struct tmx_gate_stage *g, struct tmx_machine *m, struct tmx_gpus span,
                         const double *latency_factor);
/* After: fill asleep [n_unit]. No allocation. */
void tmx_gate_stage_sleep(const struct tmx_gate_stage *g, const struct tmx_machine *m, struct tmx_gpus span,
                          double *asleep);

#endif

/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TMX_CORE_SIM_STAGE_ROW_STAGE_H
#define TMX_CORE_SIM_STAGE_ROW_STAGE_H

/* The row level of a run that serves no language model: at every telemetry a policy holds back synchronous
 * jobs, or shares ramps of power among boards. What it asks for is in force at once. */

#include "core/contract/choice.h"
#include "core/machine/machine.h"
#include "core/sim/stage/smooth.h"

struct tmx_row_stage_options { /* group row, beside the policy's */
    double telemetry_s;
};
extern const struct tmx_opt tmx_row_stage_opts[];

struct tmx_row_stage {
    const struct tmx_choice *choice; /* not owned */
    double telemetry_s;
    uint64_t period; /* ticks; 0: no such policy */
    size_t n;        /* instances */
    struct tmx_instance_view *instance;
    double *asked, *memory;
};

/* n_gpu boards or the machine's synchronous jobs. */
void tmx_row_stage_take(struct tmx_row_stage *r, struct tmx_arena *arena, const struct tmx_choice *choice,
                        double telemetry_s, const struct tmx_machine *m);
/* smooth [n_gpu]: gets the ramps. TMX_ESOLVE: an answer that is no hold or ramp. */
TMX_NODISCARD enum tmx_status tmx_row_stage_decide(struct tmx_row_stage *r, const struct tmx_view *view,
                                                   struct tmx_machine *m, struct tmx_smooth_gpu *smooth,
                                                   struct tmx_err *err);

#endif

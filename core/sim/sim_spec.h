/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TMX_CORE_SIM_SIM_SPEC_H
#define TMX_CORE_SIM_SIM_SPEC_H

/* What a simulation consists of: its parts, policies and times. */

#include "core/contract/choice.h"
#include "core/contract/power_model.h"
#include "core/contract/thermal_model.h"
#include "core/machine/decomposition.h"
#include "core/sim/record/recorder.h"
#include "core/sim/source/sources.h"
#include "core/sim/stage/cooling.h"
#include "core/sim/stage/cta_stage.h"
#include "core/sim/stage/gate_stage.h"
#include "core/sim/stage/row_stage.h"
#include "core/sim/stage/sensor.h"
#include "core/sim/stage/smooth.h"

struct tmx_sim_gpu_thermal { /* one GPU's temperatures; GPUs of one kind share the model */
    const struct tmx_thermal_ops *ops;
    void *model; /* not owned */
    double ambient_k;
};

enum tmx_warmup {
    TMX_WARMUP_POLICY,   /* work and policies as in the counted time */
    TMX_WARMUP_THROTTLE, /* the queue in order, nothing intermixed, full speed; only the hardware guards */
    TMX_WARMUP_IDLE,     /* work waits */
};

/* Everything a run consists of. */
struct tmx_sim_spec {
    struct tmx_machine_spec machine;
    /* By level, and the hardware's throttle at TMX_SAFETY, that is asked before the dtm policy. States are
     * plain data from malloc; tmx_sim_create takes them over, also when it fails. REQUIRED: place, mix, tb
     * and the throttle; job: with its source; dtm: NULL: none; fan with
     * cooling.topology. Levels cta and gate act through the plans below. */
    struct tmx_choice choice[TMX_N_CHOICE];
    struct {
        const struct tmx_source *is; /* NULL: the jobs of the machine arrive at their times */
        const void *options;
    } source; /* of work */
    struct {
        const struct tmx_power_ops *ops;
        const void *options;
    } power;
    struct tmx_gate_spec gate;                  /* unit gating; kind NULL: none */
    struct tmx_cta_spec cta;                    /* CTA policy; plan NULL: none */
    const struct tmx_sim_gpu_thermal *thermal;  /* [n_gpu] */
    const struct tmx_forecast *const *forecast; /* [n_gpu] for policies that look ahead; NULL: none */
    struct tmx_cooling_spec
        cooling;               /* topology NULL: convection and inlet air stay as the models have them */
    const double *power_cap_w; /* [n_gpu] board watts a GPU may draw, INFINITY: no cap; NULL: none has one */
    const struct tmx_power_group
        *group; /* [n_group] whose power is looked at: all GPUs, then parts of them */
    size_t n_group;
    bool shared_queue; /* arrivals wait in one queue until the GPU they go to has none waiting */
    struct tmx_sensor_options sensor;
    struct tmx_smooth_options smooth; /* not with events */
    struct tmx_store_options store;
    struct tmx_row_stage_options rows; /* of a row policy that asks for no clocks; whole ticks */
    double dt_s;
    /* Steps from event to event (core/sim/events.c); not with a source but the mix, cta and ranks. */
    bool events;
    bool
        samples_skippable; /* no policy but the throttle looks at a reading before the next scheduling tick */
    bool policies_skippable; /* mix, dtm and tb answer the same to every reading */
    bool idle_skippable;     /* likewise while no GPU has a kernel and every clock is at its fastest level */
    double quantum_s;        /* scheduling tick of the operating system */
    double warmup_s;         /* not counted */
    enum tmx_warmup warmup_with;
    double stuck_s; /* simulated time without progress after which the run fails */
    uint64_t seed;
    size_t n_thread; /* that advance GPUs; 0 or 1: the caller's alone. Results do not depend on it */
};

#endif

/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TMX_PLOTS_HISTORY_H
#define TMX_PLOTS_HISTORY_H

/* What a run left in its folder (folder.cfg, floorplan_gpuN.flp, resolved.cfg, trace.csv,
 * temps.ttrace, power.ptrace), for
 * figures, films and reports. Long traces are thinned: every stride-th row is kept. */

#include <stdbool.h>

#include "base/arena.h"
#include "core/floorplan/floorplan.h"
#include "core/topology/topology.h"

enum { TMX_HISTORY_KERNELS = 16 };

struct tmx_history { /* of one GPU */
    size_t gpu;
    char label[TMX_NAME]; /* what people call it */
    char mix[64], policy[64];
    double trip_c, release_c; /* of the throttle; NAN: it has none */
    double target_c;          /* of the governor; NAN: it has none */
    char floorplan_file[64];  /* in the folder */
    struct tmx_floorplan floorplan;
    /* from trace.csv */
    size_t n_time, n_sm, time_stride;
    double *time_s, *freq_mhz, *power_w, *hottest_c, *mean_c; /* [n_time] */
    double *inlet_c, *fan_rpm;                                /* [n_time] NAN: none */
    /* [n_time] since the row before: the least of the coolest SM, least and most of the hottest, the mean of
     * all, the share that was stopped. Of a trace without these columns those of the row's moment. */
    double *coolest_min_c, *hottest_min_c, *hottest_max_c, *sample_mean_c, *stopped_1;
    double *reason; /* [n_time] why the GPU is slow: the number of a text, from 1; 0: it is not */
    char reason_text[TMX_HISTORY_KERNELS][128];
    size_t n_reason;
    double *sm_temp_c, *sm_power_w, *sm_kernel, *sm_stopped; /* [n_time * n_sm] */
    /* Kernels in the order in which they came. sm_kernel is the number, from 1, of the one that has all of
     * the SM, n_kernel + 1 where two share it, 0 where none runs. Beyond the most: as the last. */
    char kernel[TMX_HISTORY_KERNELS][64];
    size_t n_kernel;
    /* from temps.ttrace and power.ptrace (temps_gpu0.ttrace, ... of several GPUs), empty when the run
     * wrote none */
    size_t n_frame, frame_stride;
    double *frame_s;              /* [n_frame] */
    double *unit_temp_c, *unit_w; /* [n_frame * floorplan.n_unit]; powers are means over the row's period */
    struct tmx_arena arena;       /* of all these */
};

/* Read the parts that are there (at least one must be), at most max rows of each: one history a GPU,
 * *all owned by the caller. Errors: TMX_EIO with how to make the files, TMX_EPARSE. */
TMX_NODISCARD enum tmx_status tmx_history_load(struct tmx_history **all, size_t *n_gpu, const char *dir,
                                               size_t max, struct tmx_err *err);
void tmx_history_free(struct tmx_history *all, size_t n_gpu); /* accepts NULL */

/* Does the folder hold what heat maps are made of? */
bool tmx_history_has_frames(const char *dir);
/* Both over the measured time; of a run that ended in its warm-up, over that. */
/* Where and when the hottest unit of all was. */
struct tmx_hottest {
    size_t gpu, frame, unit;
};
struct tmx_hottest tmx_history_hottest(const struct tmx_history *all, size_t n_gpu);
/* The frame nearest to at_s; NAN: the one of that moment. */
size_t tmx_history_frame(const struct tmx_history *all, size_t n_gpu, double at_s);
/* Lowest and highest unit temperature over all GPUs and frames [degC]. */
void tmx_history_range(const struct tmx_history *all, size_t n_gpu, double *low_c, double *high_c);

#endif

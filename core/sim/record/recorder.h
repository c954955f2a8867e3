/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TMX_CORE_SIM_RECORD_RECORDER_H
#define TMX_CORE_SIM_RECORD_RECORDER_H

/* The energy ledger and the extremes of a run; the only way out of the tick. */

#include <stddef.h>

#include "core/contract/power_model.h"
#include "core/machine/machine.h"
#include "core/sim/record/swing.h"

/* What the recorder adds up over the units and SMs of one GPU, compiled for each kind of processor
 * (recorder_*.c). All give the same bits. */

struct tmx_recorder_watts {
    size_t n; /* units */
    double dt_s;
    /* [n], none overlaps another; saved_w NULL: nothing sleeps */
    const double *dynamic_w, *leakage_w, *baseline_w, *saved_w, *power_w;
    double *dynamic_j, *leakage_j, *baseline_j, *saved_j; /* added to */
    double now_w;                                         /* written: sum of power_w */
};

struct tmx_recorder_kelvins {
    size_t n, n_sm;
    double n_tick;
    /* [n] */
    const double *temp_k, *mean_k;
    const int *sm_of_unit;
    double *sum_k; /* mean_k times n_tick added to */
    /* [n_sm] */
    const double *sensed_k;
    double *hot_k;              /* the larger of both */
    double low_k, high_k, sm_k; /* written: coldest and hottest unit, hottest of SMs (0: no SM) */
};

struct tmx_recorder_kernel {
    void (*watts)(struct tmx_recorder_watts *s);
    void (*kelvins)(struct tmx_recorder_kelvins *s);
};
extern const struct tmx_recorder_kernel tmx_recorder_any, tmx_recorder_v3, tmx_recorder_v4;

extern const char *const tmx_reason_names[TMX_N_REASON + 1]; /* as NVML names them, NULL-terminated */

enum { TMX_REPORT_SLOTS = 10 };

struct tmx_recorder {
    const struct tmx_recorder_kernel *kernel; /* for this processor */
    size_t n_gpu, n_sm, n_unit, n_job;
    struct tmx_arena state; /* the arrays; the simulation ends it */
    struct tmx_swing swing; /* in it */
    uint64_t n_tick;        /* counted */
    double tick_s;
    /* [n_unit] J */
    double *dynamic_j, *leakage_j, *baseline_j;
    double *saved_j;      /* leakage that sleeping units did not spend; not part of the sum */
    double *job_j;        /* [n_job] dynamic energy of each job */
    double *transition_j; /* [n_gpu] */
    double *smooth_j;     /* [n_gpu] dummy work */
    double total_j;       /* integral of power, summed independently of the causes */
    double peak_sm_k;     /* hottest SM unit at the end of any tick */
    double gradient_k;    /* largest difference between two units of a GPU at the end of any tick */
    double *reason_s;     /* [n_gpu * TMX_N_REASON] time slowed for each reason */
    double *memory_k;     /* [n_gpu] hottest memory stack; 0: none */
    double *sum_k;        /* [n_unit] of temperatures at the end of ticks; with events of their means */
    double *peak_k;       /* [n_gpu] */
    double *peak_w;       /* [n_gpu] largest power of any tick */
    double *now_w;        /* [n_gpu] of this tick; the sum over GPUs is taken in their order */
    double *clock_s;      /* [n_gpu] time at the nominal clock that would have as many pulses */
    /* What boards report: the mean over a window that moves by a tenth of it. */
    double slot_tick;         /* ticks of a tenth */
    double *slot_w, *slot_at; /* [n_gpu][TMX_REPORT_SLOTS] sums of ticks' watts; [n_gpu] ticks seen */
    double *peak_reported_w;  /* [n_gpu] of the board */
    double *peak_gradient_k;  /* [n_gpu] largest of any tick */
    /* [n_sm] stops of the clock */
    double *hot_k;     /* highest reading of the sensor */
    double *trips;     /* how often the clock was stopped */
    double *stopped_s; /* for how long it has been stopped now; 0: it runs */
    double *longest_s; /* longest of such times */
    double *first_s;   /* counted time of the first stop, */
    double *last_s;    /* and of the last */
};

/* report_s: the window of what boards report. group, boards: swing.h. */
struct tmx_recorder *tmx_recorder_take(struct tmx_arena *arena, const struct tmx_machine *m, double report_s,
                                       const struct tmx_power_group *group, size_t n_group, bool boards);
/* Forget what was recorded (the end of the warm-up). */
void tmx_recorder_reset(struct tmx_recorder *r);
/* A step, a tick or several, of a span's GPUs: watts, and then kelvins, as soon as they are there; of the
 * jobs on them; then, when all have been recorded, the end of it. */
void tmx_recorder_watts(struct tmx_recorder *r, const struct tmx_machine *m, struct tmx_gpus span,
                        const struct tmx_frame *f, double dt_s);
/* mean_k [n_unit, K]: over the step, whose first tick is the number `first` of those counted. */
void tmx_recorder_kelvins(struct tmx_recorder *r, const struct tmx_machine *m, struct tmx_gpus span,
                          const struct tmx_frame *f, const double *mean_k, uint64_t first, uint64_t n_tick);
void tmx_recorder_jobs(struct tmx_recorder *r, const struct tmx_machine *m, struct tmx_gpus span,
                       const struct tmx_frame *f, double dt_s);
/* gpu_w [n][n_gpu, W]: now_w of n steps of n_tick ticks, TMX_SWING_STEPS at most. pool may be NULL. */
void tmx_recorder_end_steps(struct tmx_recorder *r, size_t n, const double *gpu_w, uint64_t n_tick,
                            struct tmx_thread_pool *pool);

#endif

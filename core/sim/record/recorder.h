/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TMX_CORE_SIM_RECORD_RECORDER_H
#define TMX_CORE_SIM_RECORD_RECORDER_H

/* The energy ledger and the extremes of a run; the only way out of the tick. */

#include <stddef.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/opt.h"
#include "base/thread_pool.h"
#include "core/contract/power_model.h"
#include "core/machine/machine.h"
#include "core/topology/topology.h"

/* What the feed of a node sees: its boards, fans and host, less what its energy store gives, behind its
 * supply. A store starts half full. Its controller, assumed, as vendors publish none:
 *
 *   feed = mean - (charge - joules / 2) / tau      mean: of the load, its first-order lag of tau
 *   tau  = e / 2 * sqrt(efficiency) * joules / watts        one with which a step of `watts` does not empty
 * it
 *
 * within watts and charge. Half of the losses, sqrt(efficiency), are those of charging. So, always,
 *
 *   energy of the feed behind the supply = energy of the load + losses of the store + change of its charge */

struct tmx_store_options { /* of each node */
    double joules, watts;  /* 0: none */
    double efficiency;     /* there and back */
};
extern const struct tmx_opt tmx_store_opts[];

struct tmx_feed_node {
    double host_w, mean_w, above_j; /* above_j: charge above half of the store */
    double started;
    double load_j, fed_j, wall_j, loss_j, from_j; /* since the end of the warm-up; from_j: above_j then */
};

struct tmx_feed {
    struct tmx_store_options store;
    const struct tmx_host *host; /* NULL: none */
    const double *fan_w;         /* [n_gpu] of a GPU's part of its card's fans; NULL: none */
    size_t n_node, gpus;         /* of a node */
    double tick_s, tau_s, way;   /* efficiency of one way */
    struct tmx_feed_node *node;  /* [n_node] */
};

void tmx_feed_take(struct tmx_feed *f, struct tmx_arena *arena, const struct tmx_machine *m,
                   const struct tmx_topology *t, const struct tmx_store_options *o);
void tmx_feed_restart(struct tmx_feed *f);
/* At scheduling ticks: hosts follow the share of their GPUs that have work. */
void tmx_feed_hosts(struct tmx_feed *f, const struct tmx_machine *m);
/* n_tick ticks, one where there is a store, of the boards' watts [n_gpu]; returns those of all feeds. */
double tmx_feed_tick(struct tmx_feed *f, const double *board_w, double n_tick);

/* It sees its boards, no more. */
bool tmx_feed_is_boards(const struct tmx_feed *f);

struct tmx_feed_sum {                               /* since the end of the warm-up, of all nodes */
    double load_j, fed_j, wall_j, loss_j, charge_j; /* fed_j behind supplies, wall_j before them */
};
struct tmx_feed_sum tmx_feed_sum(const struct tmx_feed *f);

/* How power swings: of groups of GPUs, and of what feeds see, the extremes, percentiles and largest ramps; of
 * the first group and the feed the spectrum.
 * A tick adds to arrays of fixed size; what they keep bounds the error:
 *
 *   lowest, highest   exact
 *   percentiles       a histogram of 64 bins an octave from 1 W on: within 1.6 % of the value
 *   ramps             per window the extremes of at most 50 slots and of the slot that fills: the largest
 *                     difference of two ticks that are no further apart than the window; pairs up to a slot
 *                     further apart may count, too (2 % of the window; none where a slot is a tick)
 *   spectrum          Welch's: means over 10 ms, segments of 2048 of them (20.48 s) that overlap by
 *                     half under Hann's window: resolution 0.1 Hz; what is faster than 50 Hz is averaged
 *                     out */

enum {
    TMX_SWING_WINDOWS = 4,
    TMX_SWING_SLOTS = 50, /* and the one that fills */
    TMX_SWING_BINS = 64 * 28,
    TMX_SWING_SEGMENT = 2048,
    TMX_SWING_STEPS = 16 /* that are added at once */
};
extern const double tmx_swing_window_s[TMX_SWING_WINDOWS];

struct tmx_power_group { /* GPUs whose watts are looked at together */
    const char *level;   /* hall, rack, node, gpu; feed: what all feeds see */
    size_t name_length;  /* of the first GPU's name; 0: its number */
    struct tmx_gpus gpus;
};

struct tmx_swing_window {         /* [0] of watts and [1] with their sign changed, so that falls are rises */
    double least[2], past[2];     /* of the slot that fills; of those before it, */
    double since[2];              /* of some of which (push) */
    double ramp_w[2], ramp_at[2]; /* the largest rise and fall; ticks, of the first one after it */
};

struct tmx_swing_series {
    double low_w, high_w;
    struct tmx_swing_window window[TMX_SWING_WINDOWS];
    double slot[TMX_SWING_WINDOWS][TMX_SWING_SLOTS]
               [2];             /* rings of what was least in each slot, or in several */
    double bin[TMX_SWING_BINS]; /* ticks */
};

struct tmx_spectrum {
    double n_mean, n_segment, part, part_w; /* part: ticks in the next mean, and their sum */
    double mean_w[TMX_SWING_SEGMENT];
    double psd[TMX_SWING_SEGMENT / 2 + 1]; /* of all segments */
};

/* n ticks from the tick `at` on: the slots of each window that the first of them and the one after them are
 * in. */
struct tmx_swing_ticks {
    double at, n, place[TMX_SWING_WINDOWS], last[TMX_SWING_WINDOWS];
    size_t ring[TMX_SWING_WINDOWS]; /* of the first slot */
};

struct tmx_swing {
    const struct tmx_machine *machine;
    const struct tmx_power_group *group; /* [n] not owned; the first is all GPUs, the last may be the feed */
    struct tmx_feed *feed;               /* not owned; of the last group, where it is the feed */
    size_t n, n_board;                   /* groups, and those of boards */
    bool boards;                         /* watts are the boards' already */
    double slot[TMX_SWING_WINDOWS];      /* ticks of a slot, and slots of a window; 0: shorter than a tick */
    size_t n_slot[TMX_SWING_WINDOWS];    /* before the one that fills */
    double sample;                       /* ticks of a sample of the spectrum */
    double *n_tick;                      /* [1] */
    struct tmx_swing_series *series;     /* [n] */
    struct tmx_spectrum *spectrum;       /* [2] of the first group, and of the feed */
    double *board_w, *scratch;           /* [STEPS][n_gpu]; [SEGMENT] */
    size_t n_kept;                       /* steps whose board_w no group has taken up yet */
    struct tmx_swing_ticks kept[TMX_SWING_STEPS];
};

/* n_group 0: nothing is kept. boards: tmx_swing_steps gets boards' watts, else chips'. */
void tmx_swing_take(struct tmx_swing *s, struct tmx_arena *arena, const struct tmx_machine *m,
                    const struct tmx_power_group *group, size_t n_group, bool boards);
/* n steps, STEPS at most, of watts now_w [n][n_gpu] for n_tick ticks each; a pool (NULL: none) shares the
 * groups: a group's sums have one order. Groups take them up when STEPS are there, or to be read. */
void tmx_swing_steps(struct tmx_swing *s, size_t n, const double *now_w, double n_tick,
                     struct tmx_thread_pool *pool);
void tmx_swing_settle(struct tmx_swing *s, struct tmx_thread_pool *pool);

/* NAN: no power, or a run shorter than the window (of the band: than 10 s). */
double tmx_swing_quantile_w(const struct tmx_swing *s, size_t group, double share);
double tmx_swing_range_w(const struct tmx_swing *s, size_t group);
/* The largest rise, or fall. */
double tmx_swing_ramp_w(const struct tmx_swing *s, size_t group, size_t window, bool fall);
/* What is kept of a group, whose number is less than n. */
const struct tmx_swing_series *tmx_swing_of(const struct tmx_swing *s, size_t group);
/* The group of the feed, which has none where there is no such group: SIZE_MAX. */
size_t tmx_swing_feed(const struct tmx_swing *s);
/* Mean square [W2] of all GPUs' power, or the feed's, without its mean, from low_hz to high_hz; *share
 * (may be NULL): of what it is at all frequencies. */
double tmx_swing_band_w2(const struct tmx_swing *s, bool feed, double low_hz, double high_hz, double *share);
/* Into psd [SEGMENT / 2 + 1] the mean square, in units of *unit [W2], in each bin k >= 1 at k times the Hz
 * that are returned; NAN: shorter than 10 s. */
double tmx_swing_spectrum(const struct tmx_swing *s, bool feed, double *psd, double *unit);

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
    size_t n, n_sm, first; /* units, SMs; of a chip whose SMs are units in a row the first of them */
    bool in_row;
    double n_tick;
    /* [n] */
    const double *temp_k, *mean_k;
    const int *sm_of_unit;
    double *sum_k; /* mean_k times n_tick added to */
    /* [n_sm] */
    const double *sensed_k;
    double *hot_k;              /* the larger of both */
    double low_k, high_k, sm_k; /* written: coldest and hottest unit, hottest of SMs' units (0: no SM) */
};

struct tmx_recorder_kernel {
    void (*watts)(struct tmx_recorder_watts *s);
    void (*kelvins)(struct tmx_recorder_kelvins *s);
};
extern const struct tmx_recorder_kernel tmx_recorder_any, tmx_recorder_v3, tmx_recorder_v4;

extern const char *const tmx_reason_names[TMX_N_REASON + 1]; /* as NVML names them, NULL-terminated */

enum { TMX_REPORT_SLOTS = 10 }; /* at most: each a tick or more */

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
    double peak_sm_k;     /* hottest SM at the end of any tick */
    double gradient_k;    /* largest difference between two units of a GPU at the end of any tick */
    double *reason_s;     /* [n_gpu * TMX_N_REASON] time slowed for each reason */
    double *memory_k;     /* [n_gpu] hottest memory stack; 0: none */
    double *sum_k;        /* [n_unit] of temperatures at the end of ticks; with events of their means */
    double *peak_k;       /* [n_gpu] */
    double *peak_w;       /* [n_gpu] largest power of any tick */
    double *now_w;        /* [n_gpu] of this tick; the sum over GPUs is taken in their order */
    double *clock_s;      /* [n_gpu] time at the nominal clock that would have as many pulses */
    /* What boards report: the mean over a window that moves by a slot of it. */
    double slot_tick;         /* ticks of a slot */
    size_t n_slot;            /* of the window */
    double *slot_w, *slot_at; /* [n_gpu][TMX_REPORT_SLOTS] sums of ticks' watts; [n_gpu] ticks seen */
    double *peak_reported_w;  /* [n_gpu] of the board */
    double *peak_gradient_k;  /* [n_gpu] largest of any tick */
    double *stops;            /* [n_gpu] 1: a clock is stopped */
    /* [n_sm] stops of the clock */
    double *hot_k;     /* highest reading of the sensor */
    double *trips;     /* how often the clock was stopped */
    double *stopped_s; /* for how long it has been stopped now; 0: it runs */
    double *longest_s; /* longest of such times */
    double *first_s;   /* counted time of the first stop, */
    double *last_s;    /* and of the last */
    double *sm_k;      /* temperatures of SMs that are several units, now */
};

/* report_s: the window of what boards report. group, boards: tmx_swing_take. */
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

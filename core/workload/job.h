/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TMX_CORE_WORKLOAD_JOB_H
#define TMX_CORE_WORKLOAD_JOB_H

/* A kernel as submitted: how much work, when, and how far it is. Times in seconds;
 * work in SM-seconds at the nominal clock, the time one SM needs alone. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <thermix/policy.h>

#include "core/floorplan/chip.h"
#include "core/workload/kernel.h"

struct tmx_job {
    union { /* what policies see of it; kernel is not owned */
        struct tmx_job_view view;
        struct {
            TMX_JOB_VIEW
        };
    };
    double blocks_per_sm_s; /* blocks one SM retires per second at the nominal clock */
    double lifetime_s;      /* of one block at the nominal clock */
    double power_w;         /* dynamic W per SM it runs on alone, at the nominal clock and voltage */
    double l2_w, dram_w;    /* the same of L2 and memory, per SM it runs on */
    double leak_factor;     /* of the chip's leakage while it runs on all SMs; 0: it does not say */
    double uncore_w;        /* W it keeps awake outside the SMs; of several resident kernels the largest */
    double sm_speed, sm_w;  /* of an SM of the chip that its time and watts are of; GPU 0's is 1 */
    double memory_bound;    /* share of its blocks' time that does not follow the clock, unless phases say */
    double chip_sms;        /* SMs of the whole chip, each of speed 1 */
    double gate_slowdown;   /* block lifetimes times this, 1: none; written by the gate stage, */
    double memory_slowdown; /* and this by the CTA stage */
    bool transient_charged; /* what a CTA policy costs until it has settled for this kernel */
    const struct tmx_phases *phases; /* of its power; NULL: power_w all the time */
    bool has_home;                   /* its GPU is given: home_gpu, which no place policy changes */
    double remote_weight; /* extra lifetime of its blocks away from its data, over the reference link */
    /* progress, written by the machine */
    double profiling_s;           /* volunteer time left until pdi_w is known */
    size_t data_gpu;              /* GPU whose memory holds its data: the first it was placed on */
    double started_s, finished_s; /* negative: not yet */
};

/* The one maker of jobs: kernel k alone on chip c, arrived at 0 with priority 0. work_s: time it needs on the
 * whole chip; 0: that of its thread blocks. TMX_ECONFIG: a block does not fit an SM, or k has no sm_power_w.
 */
TMX_NODISCARD enum tmx_status tmx_job_init(struct tmx_job *job, const struct tmx_kernel *k,
                                           const struct tmx_chip *c, double work_s, struct tmx_err *err);

/* Work and watts of an SM of chip c, where one of chip `unit` is 1. */
double tmx_job_sm_speed(const struct tmx_chip *c, const struct tmx_chip *unit);
double tmx_job_sm_w(const struct tmx_chip *c, const struct tmx_chip *unit);

/* A machine counts work and watts of all jobs in SMs of GPU 0's chip, `unit`: so a job that tmx_job_init made
 * for chip c. On c it takes the time and watts that it had; it can fill `widest` SMs if its blocks do. */
void tmx_job_count_in(struct tmx_job *job, const struct tmx_chip *c, const struct tmx_chip *unit,
                      size_t widest);

/* Block lifetimes times this; 1: nothing slows it. */
static inline double tmx_job_slowdown(const struct tmx_job *job)
{
    return job->gate_slowdown * job->memory_slowdown;
}

/* Share of its blocks' time that does not follow the clock then. */
double tmx_job_waits(const struct tmx_job *job, double now_s);
/* Speed of blocks of which a share waits, at a clock relative to the nominal one. */
static inline double tmx_waiting_speed(double clock, double waits)
{
    return waits > 0 ? clock / (1 - waits + waits * clock) : clock;
}

/* Leakage of a chip under it alone, relative to the chip's. */
static inline double tmx_job_leak(const struct tmx_job *job)
{
    return job->leak_factor > 0 ? job->leak_factor : 1;
}

/* Does it draw outside the SMs, or change the chip's leakage? */
static inline bool tmx_job_outside(const struct tmx_job *job)
{
    return job->l2_w > 0 || job->dram_w > 0 || job->leak_factor > 0;
}

/* Has it phases over its work? Then a step of time sees their mean. */
static inline bool tmx_job_changes(const struct tmx_job *job)
{
    return job->phases && job->phases->over != TMX_PHASE_TIME;
}
struct tmx_job_step {
    double speed;   /* mean over the time */
    double power_w; /* dynamic W per SM, mean over the work */
};
/* Of a job that changes: run_sm_s SM-seconds at this clock, of which `rate` is worth what a second alone at
 * home is. Of none: its place; of a job that does not get on, where phases repeat: a whole turn of them. */
struct tmx_job_step tmx_job_step(const struct tmx_job *job, double run_sm_s, double clock, double rate,
                                 bool gets_on);

/* Dynamic W per SM now_s into the counted time. */
double tmx_job_power_w(const struct tmx_job *job, double now_s);
/* Which of its phases it is in then; 0: it has none. */
size_t tmx_job_phase(const struct tmx_job *job, double now_s);
/* Until that changes: SM-seconds of work of a job that changes, else seconds; INFINITY: never. */
double tmx_job_phase_left(const struct tmx_job *job, double now_s);

struct tmx_job_launch { /* a launch whose time and power are known, measured or predicted */
    double blocks;
    double sms;    /* it fills; a whole number */
    double time_s; /* it takes on them */
    double sm_w;   /* dynamic power of all its SMs */
    double uncore_w;
};

/* The same from a known launch; overwrites work, width and power, leaves all else. */
void tmx_job_launch(struct tmx_job *job, const struct tmx_job_launch *l);

struct tmx_job_blocks { /* whole thread blocks of a job */
    uint64_t total, retired;
};
struct tmx_job_blocks tmx_job_blocks(const struct tmx_job *job);

/* row[n_job]: which of kernel[n_kernel] each job runs; SIZE_MAX: none of them. */
void tmx_job_rows(const struct tmx_job *job, size_t n_job, const struct tmx_kernel *kernel, size_t n_kernel,
                  size_t *row);

#endif

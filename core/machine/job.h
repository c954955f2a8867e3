#ifndef TMX_CORE_MACHINE_JOB_H
#define TMX_CORE_MACHINE_JOB_H

/* A kernel as submitted: how much work, when, and how far it is. Times in seconds;
 * work in SM-seconds at the nominal clock, the time one SM needs alone. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/machine/chip.h"
#include "core/machine/kernel.h"

enum tmx_job_state {
    TMX_JOB_FUTURE,  /* not arrived */
    TMX_JOB_WAITING, /* arrived, in the operating system or in a kernel queue */
    TMX_JOB_RUNNING, /* resident on a GPU */
    TMX_JOB_MERGED,  /* runs as part of another job (core/sim/jobs) */
    TMX_JOB_DONE,
};

struct tmx_job {
    const struct tmx_kernel *kernel; /* not owned */
    double arrival_s;
    int priority; /* higher first among equals in the queue */
    double work_sm_s;
    double blocks_per_sm_s; /* blocks one SM retires per second at the nominal clock */
    double lifetime_s;      /* of one block at the nominal clock */
    double power_w;         /* dynamic W per SM it runs on alone, at the nominal clock and voltage */
    double uncore_w;        /* W it keeps awake outside the SMs; of several resident kernels the largest */
    double memory_bound;    /* share of its blocks' time that does not follow the core clock */
    double slowdown;        /* block lifetimes times this (unit gating); 1: none */
    bool transient_charged; /* what a CTA policy costs until it has settled for this kernel */
    double remote_weight;   /* extra lifetime of its blocks away from its data, over the reference link */
    size_t width_sms;       /* SMs its blocks can fill; more than the chip has: all */
    /* progress, written by the machine */
    enum tmx_job_state state;
    double done_sm_s;
    double pdi_w; /* power density index: dynamic W per SM as the volunteer SM measured it */
    bool pdi_valid;
    double profiling_s;           /* volunteer time left until pdi_w is known */
    uint64_t queue_order;         /* rank of arrival in the kernel queues */
    size_t data_gpu;              /* GPU whose memory holds its data: the first it was placed on */
    size_t home_gpu;              /* the first GPU it may run on, */
    size_t n_gpu;                 /* and how many from there; 0: not placed yet */
    double started_s, finished_s; /* negative: not yet */
};

/* The one maker of jobs: kernel k alone on chip c, arrived at 0 with priority 0. work_s: time it needs on the
 * whole chip; 0: that of its thread blocks. TMX_ECONFIG: a block does not fit an SM, or k has no sm_power_w.
 */
TMX_NODISCARD enum tmx_status tmx_job_init(struct tmx_job *job, const struct tmx_kernel *k,
                                           const struct tmx_chip *c, double work_s, struct tmx_err *err);

struct tmx_job_launch { /* a launch whose time and power are known, measured or predicted */
    double blocks;
    double sms;    /* it fills; a whole number */
    double time_s; /* it takes on them */
    double sm_w;   /* dynamic power of all its SMs */
    double uncore_w;
};

/* The same from a known launch; overwrites work, width and power, leaves all else. */
void tmx_job_launch(struct tmx_job *job, const struct tmx_job_launch *l);

struct tmx_job_blocks {
    uint64_t total, pending, resident, retired;
};

/* Whole thread blocks of a job; resident is what its share of the SMs holds now:
 * `slots` block slots. pending + resident + retired = total, always. */
struct tmx_job_blocks tmx_job_blocks(const struct tmx_job *job, double slots);

/* row[n_job]: which of kernel[n_kernel] each job runs; SIZE_MAX: none of them. */
void tmx_job_rows(const struct tmx_job *job, size_t n_job, const struct tmx_kernel *kernel, size_t n_kernel,
                  size_t *row);

#endif

/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TMX_CORE_MACHINE_WORKLOAD_H
#define TMX_CORE_MACHINE_WORKLOAD_H

/* Job level, paper 004: kinds of instances that users submit, the templates that can merge
 * them into one kernel, and the node they run on. Plain data; read from files by cli/. */

#include <stdbool.h>
#include <stddef.h>

enum {
    TMX_KIND_MAX = 16,  /* kinds of instances at a time */
    TMX_SM_MAX = 128,   /* SMs of one GPU */
    TMX_SLOT_MAX = 32,  /* resident blocks of one SM */
    TMX_MEMBER_MAX = 8, /* kernels in one template */
};

/* One kind of instance: a kernel with one input size. Times and energies that the paper
 * measured for one instance alone are inputs; NAN where unknown. */
struct tmx_workload {
    char name[128];  /* "encryption:table7" */
    char kernel[64]; /* "encryption" */
    int blocks;      /* thread blocks of one instance */
    int threads_per_block;
    int registers_per_thread;
    int shared_bytes;           /* per block */
    double sm_share;            /* of an SM's throughput that one block uses, 0..1 */
    double gpu_time_s;          /* one instance alone on the GPU, with its transfers */
    double dynamic_w_per_block; /* mean dynamic power of one block of an instance alone, before SM scaling */
    double bandwidth_per_block; /* slow-down that one running block causes to other instances */
    double copy_bytes;          /* moved through the framework's buffer per instance, both ways */
    double constant_bytes;      /* tables that instances of this kernel can share */
    double cpu_first_s;         /* one instance alone on the CPU */
    double cpu_more_s;          /* and every further one at the same time */
    double cpu_power_w;         /* of the whole system meanwhile, GPU disconnected */
};

struct tmx_template { /* a precompiled merged kernel */
    char name[64];
    char kernel[TMX_MEMBER_MAX][64];
    double slowdown[TMX_MEMBER_MAX]; /* each member's code runs this much longer than on its own, 0: none */
    size_t n_kernel;
    double overhead_s; /* set-up of the template by the framework, once a launch */
};

enum tmx_redistribution {
    TMX_BULK,   /* when SMs fall idle, all untouched blocks are spread over them at once (paper 004's reading)
                 */
    TMX_GREEDY, /* an SM with a free slot takes the next untouched block */
};

enum tmx_sm_scaling {
    TMX_SCALE_LINEAR, /* dynamic power follows the virtual average SM, equations 11 and 12 */
    TMX_SCALE_LOG10,  /* and rises with log10 of the occupied SMs (Hong & Kim, ISCA 2010) */
};

struct tmx_node { /* one computer with its GPUs */
    /* GPU */
    int sms;
    int sm_threads, sm_blocks, sm_registers, sm_shared_bytes;
    int redistribution; /* enum tmx_redistribution */
    /* power of the whole system, equation 10 */
    double idle_w;              /* P_static and everything outside the GPU */
    double active_w;            /* lambda: a GPU that runs anything */
    double on_die;              /* of what the GPU draws outside its SMs, 0..1; the rest heats the board */
    double temperature_w_per_k; /* P_T */
    double reference_c;         /* chip temperature at which active_w holds */
    int scaling;                /* enum tmx_sm_scaling */
    /* framework */
    double message_s;        /* one exchange between a frontend and the backend */
    int messages;            /* exchanges per instance */
    bool leader;             /* in a merge of one kind one frontend speaks for all */
    bool reuse_constants;    /* tables are loaded once per kernel */
    double copy_bytes_per_s; /* through the backend's buffer */
    /* what a prediction of energy is worth: half-width relative to the value */
    double uncertainty;
};

#endif

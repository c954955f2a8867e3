/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TMX_KERNELS_MERGE_H
#define TMX_KERNELS_MERGE_H

/* Time and energy of instances run as one merged kernel, one after another, or on the CPU.
 * Closed forms of paper 004, sections V and VI. Everything here is pure: the same counts
 * give the same answer, in whatever order the instances arrived. */

#include <stdbool.h>
#include <stddef.h>

#include <thermix/policy.h>

/* Job level, paper 004: kinds of instances that users submit, the templates that can merge
 * them into one kernel, and the node they run on. Plain data; run/load/job_files.c reads it from files. */

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
    struct tmx_template_member {
        char kernel[64];
        double slowdown; /* its code runs this much longer than on its own, 0: none */
    } member[TMX_MEMBER_MAX];
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

/* Thread blocks of one launch over the SMs of one GPU, paper 004 section V. Blocks go
 * round-robin to SMs until the slots are full; the rest stay untouched until SMs have room.
 * Blocks that share an SM share its time: the paper's "one big workload" adds their work up. */

struct tmx_block_type { /* blocks in the order of their indices in the launch */
    size_t blocks;
    double work_s;   /* of one block alone on an SM, > 0 */
    double sm_share; /* of an SM's throughput that one block uses, 0..1; 1: work of blocks that share an SM
                        adds up */
};

struct tmx_placement {
    double time_s;      /* end of the critical SMs */
    size_t critical_sm; /* the first of them */
    size_t n_critical;
    size_t occupied;                         /* SMs that ran any block */
    double end_s[TMX_SM_MAX];                /* [sms] last block of each SM, 0: none */
    size_t blocks[TMX_SM_MAX][TMX_KIND_MAX]; /* [sms][n_type] blocks each SM ran */
};

/* Place n_type <= TMX_KIND_MAX types on sms <= TMX_SM_MAX SMs of `slots` <= TMX_SLOT_MAX block
 * slots each. Pure. */
void tmx_placement_run(const struct tmx_block_type *type, size_t n_type, size_t sms, size_t slots,
                       enum tmx_redistribution redistribution, struct tmx_placement *out);

/* How many instances of each kind: count[n_kind]. */
struct tmx_batch {
    const struct tmx_node *node;
    const struct tmx_workload *kind; /* [n_kind <= TMX_KIND_MAX] */
    size_t n_kind;
    const size_t *count; /* [n_kind] */
};

enum tmx_obstacle { /* why a merge cannot be launched */
                    TMX_FITS,
                    TMX_NO_TEMPLATE,  /* no template holds all its kernels */
                    TMX_NO_THREADS,   /* one block of the merged kernel has more threads than an SM, */
                    TMX_NO_REGISTERS, /* more registers */
                    TMX_NO_SHARED,    /* or more shared memory */
};
const char *tmx_obstacle_text(enum tmx_obstacle o);

struct tmx_prediction {
    double time_s;     /* overheads included */
    double overhead_s; /* of the framework */
    double energy_j;   /* of the whole system */
    double power_w;    /* mean, whole system */
    double gpu_w;      /* mean above the idle system, */
    double sm_w;       /* and what of it the blocks draw in their SMs */
    size_t occupied_sms;
    size_t critical_sm;
    int slots;       /* blocks of the merged kernel that one SM holds */
    bool shared_sms; /* second type of paper 004: more than one block on an SM */
};

/* Factor on dynamic power: 1 (linear), or 30 log10(alpha N + beta) / N with beta = 1.1,
 * alpha = (10 - beta) / 30 on 30 SMs (recalled from Hong & Kim, ISCA 2010: assumed). */
double tmx_node_scale(const struct tmx_node *n, size_t occupied);

/* dynamic_w_per_block of an instance whose measured mean system power alone is power_w; not below 0. */
double tmx_workload_dynamic_w(const struct tmx_node *n, int blocks, double power_w);

/* Blocks of the merged kernel one SM holds. The merged kernel is one kernel: it has the largest
 * block, register count and shared memory of its members. 0 and *why when none fits. */
int tmx_merge_slots(const struct tmx_batch *b, enum tmx_obstacle *why);

/* The merge with this template; TMX_FITS, or why not (then *p is unspecified). overheads false is
 * a merge written by hand. temp_c is the GPU's temperature. placement may be NULL. */
enum tmx_obstacle tmx_merge_predict(const struct tmx_batch *b, const struct tmx_template *t, bool overheads,
                                    double temp_c, struct tmx_prediction *p, struct tmx_placement *placement);

/* First of t[n] that holds every kernel of the batch; NULL when none does. */
const struct tmx_template *tmx_template_for(const struct tmx_batch *b, const struct tmx_template *t,
                                            size_t n);

/* The instances one after another on the GPU, without the framework. */
void tmx_serial_predict(const struct tmx_batch *b, double temp_c, struct tmx_prediction *p);

/* All at once on the CPU: the longest instance alone, and every other one adds its share. False when
 * the CPU's times are not known. */
bool tmx_cpu_predict(const struct tmx_batch *b, struct tmx_prediction *p);

size_t tmx_batch_instances(const struct tmx_batch *b);

/* Job level: which waiting instances are merged into one kernel, and where does it run?
 * Asked before a kernel reaches any queue; everything below it sees a merged kernel as one job. */

enum { TMX_LAUNCH_MAX = 256 }; /* instances in one launch */

struct tmx_instance { /* waiting */
    size_t id;        /* of the caller */
    size_t kind;      /* index into the view's kinds */
    double arrival_s;
    double deadline_s; /* must have ended by then; INFINITY: none */
};

struct tmx_waiting_view { /* all const for the policy; temperatures as the sensors say */
    double now_s;
    const struct tmx_node *node;
    const struct tmx_workload *kind; /* [n_kind] */
    size_t n_kind;
    const struct tmx_template *tmpl; /* [n_tmpl] */
    size_t n_tmpl;
    const struct tmx_instance *waiting; /* [n_waiting] by arrival, then id */
    size_t n_waiting;
    const bool *gpu_idle;     /* [n_gpu] can start a kernel now */
    const double *gpu_temp_c; /* [n_gpu] hottest sensor */
    size_t n_gpu;
    bool cpu_idle; /* the CPU may take instances */
};

enum tmx_job_target { TMX_TO_GPU, TMX_TO_CPU };

struct tmx_launch {
    enum tmx_job_target target;
    size_t gpu;                    /* TMX_TO_GPU */
    size_t n_member;               /* 1: the instance runs as it is */
    size_t member[TMX_LAUNCH_MAX]; /* indices into view->waiting, ascending */
    struct tmx_prediction predicted;
};

struct tmx_job_policy {
    struct tmx_plugin base; /* the state is plain data */
    /* REQUIRED. The next launch for this view; false: none now. Asked again, with the members taken
     * out and the GPU no longer idle, until it answers false. Pure: the state is read only. */
    bool (*next)(const void *state, const struct tmx_waiting_view *view, struct tmx_launch *launch);
};

#endif

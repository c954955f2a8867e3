/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TMX_CORE_MACHINE_MERGE_H
#define TMX_CORE_MACHINE_MERGE_H

/* Time and energy of instances run as one merged kernel, one after another, or on the CPU.
 * Closed forms of paper 004, sections V and VI. Everything here is pure: the same counts
 * give the same answer, in whatever order the instances arrived. */

#include "core/machine/placement.h"
#include "core/machine/workload.h"

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

/* Power above the idle system with dynamic_w (sum over running blocks) on `occupied` SMs of a
 * GPU at temp_c: active + temperature term + scaled dynamic power. */
double tmx_node_gpu_w(const struct tmx_node *n, double dynamic_w, size_t occupied, double temp_c);

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

/* Rank of kinds in the launch: fewer blocks first, then by index; order[n_kind] is written. */
void tmx_batch_order(const struct tmx_batch *b, size_t *order);

#endif

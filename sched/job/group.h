/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TMX_SCHED_JOB_GROUP_H
#define TMX_SCHED_JOB_GROUP_H

/* Which of the waiting instances form one launch: the partition of a waiting set into groups
 * with the least predicted energy, exact for small sets, greedy with a bound for large ones.
 * Instances of one kind are alike, so a set is a vector of counts. Pure but for memory. */

#include "base/err.h"
#include "kernels/merge.h"

/* The decision of paper 004, Figure 6: merge, one after another on the GPU, or the CPU,
 * by predicted energy. Pure. */

enum tmx_means { TMX_MERGE, TMX_SERIAL, TMX_CPU };
const char *tmx_choice_word(enum tmx_means c);

struct tmx_verdict {
    enum tmx_means choice;
    bool sure; /* the choice differs from the next best by more than the node's uncertainty */
    double
        gain; /* energy the merge saves against the best alternative, relative to that; -INFINITY: no merge */
    double
        margin; /* energy of the next best choice over the chosen one, minus 1; INFINITY: no other choice */
    enum tmx_obstacle obstacle; /* to a merge */
    bool cpu_known;
    const struct tmx_template *tmpl;
    struct tmx_prediction merge, serial, cpu; /* merge unless obstacle, cpu if cpu_known */
};

/* measured_cpu: time and energy of this batch on the CPU where measured, NULL: the node's model. A merge
 * must promise less energy than every alternative; when the difference is within the uncertainty the
 * models cannot decide: sure is false, and without a sure gain nothing is merged. */
void tmx_decide(const struct tmx_batch *b, const struct tmx_template *t, size_t n_tmpl,
                const struct tmx_prediction *measured_cpu, double temp_c, struct tmx_verdict *v);

struct tmx_group {
    size_t count[TMX_KIND_MAX];
    size_t times; /* how often this group occurs in the grouping */
    enum tmx_means choice;
    double energy_j, time_s; /* of one occurrence */
    double gpu_w;            /* 0 on the CPU */
};

struct tmx_group_limits {               /* on one launch */
    double time_s[TMX_KIND_MAX];        /* [n_kind] a group with this kind must end within; INFINITY: none */
    double temp_c;                      /* of the GPU now */
    double limit_c;                     /* predicted temperature must stay below; INFINITY: none */
    double ambient_c, r_k_per_w, tau_s; /* prediction: one RC to ambient */
    bool use_cpu;
    size_t largest; /* instances of one launch; 0: any number */
};

enum { TMX_GROUP_MAX = 64 }; /* different groups of one grouping */

struct tmx_grouping {
    struct tmx_group group[TMX_GROUP_MAX];
    size_t n;
    double energy_j;
    double bound_j; /* no grouping can need less; equal to energy_j when exact */
    bool exact;
};

/* Temperature after time_s under gpu_w. */
double tmx_group_temp_c(const struct tmx_group_limits *l, double gpu_w, double time_s);

/* The cheapest way to run the whole batch as one launch within the limits; false when there is none. */
bool tmx_group_cost(const struct tmx_batch *b, const struct tmx_template *t, size_t n_tmpl,
                    const struct tmx_group_limits *l, struct tmx_group *g);

/* From one instance of kind seed, add instances of `available` while that lowers the energy relative to
 * running them apart; the best group on the way is *g. False when not even the seed fits the limits. */
bool tmx_group_grow(const struct tmx_batch *available, size_t seed, const struct tmx_template *t,
                    size_t n_tmpl, const struct tmx_group_limits *l, struct tmx_group *g);

/* Partition all of b. Exact when the number of count vectors is at most max_states (time grows with its
 * square, memory linearly). TMX_ENOMEM; TMX_ERANGE when an instance fits nowhere within the limits. */
TMX_NODISCARD enum tmx_status tmx_group_all(const struct tmx_batch *b, const struct tmx_template *t,
                                            size_t n_tmpl, const struct tmx_group_limits *l,
                                            size_t max_states, struct tmx_grouping *out, struct tmx_err *err);

#endif

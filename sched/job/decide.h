/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TMX_SCHED_JOB_DECIDE_H
#define TMX_SCHED_JOB_DECIDE_H

/* The decision of paper 004, Figure 6: merge, one after another on the GPU, or the CPU,
 * by predicted energy. Pure. */

#include "kernels/merge.h"

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

#endif

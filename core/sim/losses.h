/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TMX_CORE_SIM_LOSSES_H
#define TMX_CORE_SIM_LOSSES_H

/* Where the busy time of a run's SMs goes that does no work, tick by tick: an observer's ledger. Each SM
 * second of a GPU with work is lost to one cause or is work; causes act one after another in the order below,
 * as the machine's own equations do (core/machine/advance.c), and sum to the slowdown. */

#include "base/table.h"
#include "core/sim/sim.h"

enum tmx_loss {
    TMX_LOSS_THROTTLE,  /* the clock stopped */
    TMX_LOSS_PROFILING, /* blocks of a new kernel measured */
    TMX_LOSS_IDLE,      /* no block on the SM, changes of level, rests that a policy puts in */
    TMX_LOSS_LEVEL,     /* a slower clock level, as far as the kernel follows the clock */
    TMX_LOSS_GATING,    /* sleeping units wake up */
    TMX_LOSS_MEMORY,    /* cores wait for a shared memory, or are kept free so that the others wait less */
    TMX_LOSS_MIXING,    /* two kernels on a GPU; negative where they gain */
    TMX_LOSS_PLACE,     /* data of another GPU, SMs slower than GPU 0's */
    TMX_LOSS_REST,      /* what the policies' own kernels take, waiting at a synchronous job's barriers */
    TMX_N_LOSS
};

extern const char *const tmx_loss_words[TMX_N_LOSS];
extern const char *const tmx_loss_names[TMX_N_LOSS]; /* as columns */

enum { TMX_LOSS_BINS = 512 };

struct tmx_losses {
    size_t n_sm;
    double *sm_s;                          /* [n_sm][TMX_N_LOSS] owned: of each SM; REST is of none */
    double bin_s;                          /* counted time of a bin; doubled when they are full */
    size_t n_bin;                          /* begun */
    double bin[TMX_LOSS_BINS][TMX_N_LOSS]; /* SM seconds */
    double busy[TMX_LOSS_BINS];            /* SM seconds of GPUs with work */
    double hottest_k[TMX_LOSS_BINS];       /* SM unit at the end of any tick; 0: none yet */
    double free_sm_s;                      /* of MEMORY: SMs that a thread-block policy kept free */
    double done_sm_s, busy_sm_s, total[TMX_N_LOSS]; /* REST is filled by tmx_losses_end */
};

TMX_NODISCARD enum tmx_status tmx_losses_create(struct tmx_losses **l, const struct tmx_sim *sim,
                                                struct tmx_err *err);
void tmx_losses_destroy(struct tmx_losses *l); /* accepts NULL */

/* After each tick, ctx is the ledger: an observer's function. */
void tmx_losses_tick(void *ctx, const struct tmx_sim *sim);
/* After the last one: what no cause above took is REST. */
void tmx_losses_end(struct tmx_losses *l, const struct tmx_sim *sim);

/* cause, lost_pct of the busy time, sm_s: a row a cause; without zeros those that took something. */
struct tmx_table *tmx_losses_causes(const struct tmx_losses *l, bool zeros);
/* time_s (a bin's begin), hottest_c, then [%] of the busy time a column a cause that is not 0 all over. */
struct tmx_table *tmx_losses_over_time(const struct tmx_losses *l);
/* sm, then [SM s] the same columns. */
struct tmx_table *tmx_losses_by_sm(const struct tmx_losses *l);

double tmx_losses_of_sm(const struct tmx_losses *l, size_t sm);   /* [SM s] all causes */
double tmx_losses_of_bin(const struct tmx_losses *l, size_t bin); /* likewise */

#endif

/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TMX_CORE_SIM_STAGE_ANSWERS_H
#define TMX_CORE_SIM_STAGE_ANSWERS_H

/* What policies answer, checked where it is taken over; errors stay (base/err.h). A bad answer is TMX_ESOLVE
 * with the policy's name, the GPU or job, and what was expected; it has had no effect. Nothing allocates. */

#include <thermix/policy.h>

#include "core/contract/choice.h"
#include "core/machine/machine.h"

/* A place within the node; n = 0 is "none yet". */
void tmx_answer_place(const struct tmx_plugin *policy, const struct tmx_place *p, const struct tmx_machine *m,
                      size_t job, struct tmx_err *err);
/* A place that also has all GPUs the job has. */
void tmx_answer_wider(const struct tmx_plugin *policy, const struct tmx_place *p, const struct tmx_machine *m,
                      size_t job, struct tmx_err *err);
/* order[n_sm] of a GPU is a permutation of 0 .. n_sm - 1; scratch [n_sm] is overwritten. */
void tmx_answer_order(const struct tmx_plugin *policy, const size_t *order, size_t n_sm, size_t gpu,
                      double *scratch, struct tmx_err *err);
/* Every clock level one that the GPU has, and from one to all of its SMs active; of a policy of this kind. */
void tmx_answer_levels(const char *kind, const struct tmx_plugin *policy, const struct tmx_request *r,
                       const struct tmx_machine *m, struct tmx_err *err);
/* Likewise; every share finite and in 0..1, every job to admit one that there is, every power cap above 0,
 * and none where no dtm policy keeps it (kept = false). */
void tmx_answer_mix(const struct tmx_plugin *policy, const struct tmx_request *r, const struct tmx_machine *m,
                    bool kept, struct tmx_err *err);

/* The hardware thread-block scheduler: lays the shares of the resident kernels over SMs. */

/* Write machine->share of the span for the tick that begins at begin_s. scratch: [largest n_sm]. TMX_ESOLVE:
 * the policy's spread is no share. */
void tmx_dispatch(struct tmx_machine *m, struct tmx_gpus span, const struct tmx_mix_policy *mix,
                  const void *mix_state, double begin_s, double *scratch, struct tmx_err *err);

/* Ticks from tick on, 1 to most, in which dispatch would give GPU g the shares that it has. */
uint64_t tmx_dispatch_ticks(const struct tmx_machine *m, size_t g, const struct tmx_mix_policy *mix,
                            const void *mix_state, uint64_t tick, uint64_t most, double *scratch);

#endif

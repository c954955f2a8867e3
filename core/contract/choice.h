/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TMX_CORE_CONTRACT_CHOICE_H
#define TMX_CORE_CONTRACT_CHOICE_H

/* A level is a question, a policy an answer, a choice a policy with its state. A run makes one choice a
 * level, and one more of level dtm: the hardware's own throttle. */

#include <thermix/policy.h>

#include "core/contract/gate_policy.h"
#include "core/contract/job_policy.h"

struct tmx_choice {
    enum tmx_level level;
    const struct tmx_plugin *policy; /* head of the level's table; NULL: none chosen */
    void *state;                     /* policy->state_size bytes of plain data, from malloc; NULL: none */
};

/* Places in an array of choices: each level at its own number, and the throttle. */
enum { TMX_SAFETY = TMX_N_LEVEL, TMX_N_CHOICE };

/* The key of each place in a configuration, `dtm = { policy = "dvfs"; }`: the word of the level, and
 * "throttle". */
extern const char *const tmx_choice_keys[TMX_N_CHOICE];

enum tmx_level tmx_choice_level(size_t place);

/* Free the states and forget the policies of choice[TMX_N_CHOICE]. */
void tmx_choices_finish(struct tmx_choice *choice);

/* Every table begins with its struct tmx_plugin, so a choice leads to the level's functions. */
static inline const struct tmx_job_policy *tmx_job_of(const struct tmx_choice *c)
{
    return (const struct tmx_job_policy *)c->policy;
}
static inline const struct tmx_place_policy *tmx_place_of(const struct tmx_choice *c)
{
    return (const struct tmx_place_policy *)c->policy;
}
static inline const struct tmx_mix_policy *tmx_mix_of(const struct tmx_choice *c)
{
    return (const struct tmx_mix_policy *)c->policy;
}
static inline const struct tmx_dtm_policy *tmx_dtm_of(const struct tmx_choice *c)
{
    return (const struct tmx_dtm_policy *)c->policy;
}
static inline const struct tmx_cta_policy *tmx_cta_of(const struct tmx_choice *c)
{
    return (const struct tmx_cta_policy *)c->policy;
}
static inline const struct tmx_tb_policy *tmx_tb_of(const struct tmx_choice *c)
{
    return (const struct tmx_tb_policy *)c->policy;
}
static inline const struct tmx_gate_policy *tmx_gate_of(const struct tmx_choice *c)
{
    return (const struct tmx_gate_policy *)c->policy;
}
static inline const struct tmx_fan_policy *tmx_fan_of(const struct tmx_choice *c)
{
    return (const struct tmx_fan_policy *)c->policy;
}

#endif

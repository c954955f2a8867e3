/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TMX_CORE_CONTRACT_CHOICE_H
#define TMX_CORE_CONTRACT_CHOICE_H

/* Policies: which there are (the catalog), and which ones a run uses (its choices). */

#include <thermix/policy.h>

#include "base/opt.h"

struct tmx_job_policy; /* kernels/merge.h */

/* A level is a question, a policy an answer, a choice a policy with its state. A run makes one choice a
 * level, and one more of level dtm: the hardware's own throttle. */
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

static inline const struct tmx_route_policy *tmx_route_of(const struct tmx_choice *c)
{
    return (const struct tmx_route_policy *)c->policy;
}
static inline const struct tmx_row_policy *tmx_row_of(const struct tmx_choice *c)
{
    return (const struct tmx_row_policy *)c->policy;
}

/* Which policies, thermal back-ends and power models there are, by level and name. run/registry.c fills one
 * with what is built in. */

/* What is looked up like a policy without being one. */
enum { TMX_KIND_BACKEND = TMX_N_LEVEL, TMX_KIND_POWER, TMX_N_KIND };

struct tmx_catalog {
    const struct tmx_plugin *const
        *kind[TMX_N_KIND];       /* NULL-terminated lists by level or kind; NULL: empty */
    struct tmx_catalog_own *own; /* of one that grows (run/module.c); NULL: constant */
    bool loads_nothing;          /* modules are looked at and not loaded (thermix check) */
};

/* The word for one of a kind in messages: "place policy", "thermal back-end". */
const char *tmx_catalog_word(size_t kind);

/* The i-th of a kind; NULL after the last. */
const struct tmx_plugin *tmx_catalog_item(const struct tmx_catalog *c, size_t kind, size_t i);

/* By its exact name; NULL when there is none. */
const struct tmx_plugin *tmx_catalog_find(const struct tmx_catalog *c, size_t kind, const char *name);

/* The same for a name written at a setting (NULL: elsewhere). The message names the nearest one, or all.
 * TMX_ECONFIG. */
TMX_NODISCARD enum tmx_status tmx_catalog_get(const struct tmx_catalog *c, size_t kind, const char *name,
                                              const struct tmx_plugin **p, const struct tmx_setting *at,
                                              struct tmx_err *err);

#endif

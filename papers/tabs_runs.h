/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Suites of mixes x policies (x variants): what is to run. The tables made of it: papers/tabs.c. */
#ifndef TMX_PAPERS_TABS_RUNS_H
#define TMX_PAPERS_TABS_RUNS_H

#include <stdbool.h>
#include <stddef.h>

#include "papers/suite.h"

enum { TMX_TABS_LIST = 128 }; /* mixes, policies, variants or runs beside, at most */

struct tmx_tabs_choice { /* a column of the suite: a policy, a variant or a run beside the mixes, with the
                          * keys it sets
                          */
    char name[64];
    char policy[32];
    char mix[64];                  /* of a run beside; of a variant: in place of the suite's one mix */
    const struct tmx_setting *set; /* list of "key=value", may be NULL */
};

struct tmx_tabs_suite {
    const struct tmx_suite_call *call;
    char baseline[64], compare[64], paper[16];
    struct tmx_tabs_choice policy[TMX_TABS_LIST], variant[TMX_TABS_LIST];
    const char *mix[TMX_TABS_LIST]; /* as the suite names them */
    char (*mix_name)[64];           /* [TMX_TABS_LIST] their own names */
    bool target[TMX_TABS_LIST];
    size_t n_policy, n_variant, n_mix;
    struct tmx_tabs_choice beside[TMX_TABS_LIST]; /* single runs in no mean: mix n_mix + i of the table */
    size_t n_beside;
    struct tmx_run_values runs; /* [n_variant * tmx_tabs_runs()] */
};

/* Runs of one variant. */
size_t tmx_tabs_runs(const struct tmx_tabs_suite *s);

/* Number of the run of a mix (n_mix + i: the i-th beside the mixes) under a policy; and the other way round,
 * with the mix as the suite names it and the row's name. */
size_t tmx_tabs_task(const struct tmx_tabs_suite *s, size_t variant, size_t mix, size_t policy);
const struct tmx_tabs_choice *tmx_tabs_run(const struct tmx_tabs_suite *s, size_t task, const char **mix,
                                           const char **label);

/* What the row of a mix is called under a variant, which may have its own. */
const char *tmx_tabs_label(const struct tmx_tabs_suite *s, size_t variant, size_t mix);

/* Index of a policy by its name; n_policy where there is none. */
size_t tmx_tabs_policy(const struct tmx_tabs_suite *s, const char *name);

/* Reads the suite of s->call into s, whose `mix_name` is the caller's [TMX_TABS_LIST]. Texts are the call's.
 * TMX_ECONFIG with file:line for lists, names and numbers that are none. */
enum tmx_status tmx_tabs_read(struct tmx_tabs_suite *s, struct tmx_err *err);

/* The suite as many runs. */
void tmx_tabs_as_runs(const struct tmx_tabs_suite *s, struct tmx_runs *runs);

#endif

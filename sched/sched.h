/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TMX_SCHED_SCHED_H
#define TMX_SCHED_SCHED_H

/* Every built-in policy: NULL-terminated lists, the first of each is its level's default. */

#include "core/contract/choice.h"
#include "kernels/merge.h"

/* By their heads. */
extern const struct tmx_plugin *const tmx_job_heads[];
extern const struct tmx_plugin *const tmx_place_heads[];
extern const struct tmx_plugin *const tmx_mix_heads[];
extern const struct tmx_plugin *const tmx_dtm_heads[];
extern const struct tmx_plugin *const tmx_cta_heads[];
extern const struct tmx_plugin *const tmx_tb_heads[];
extern const struct tmx_plugin *const tmx_gate_heads[];
extern const struct tmx_plugin *const tmx_fan_heads[];
extern const struct tmx_plugin *const tmx_route_heads[];
extern const struct tmx_plugin *const tmx_row_heads[];

/* The same with the tables' own types. */
extern const struct tmx_job_policy *const tmx_job_policies[];
extern const struct tmx_place_policy *const tmx_place_policies[];
extern const struct tmx_mix_policy *const tmx_mix_policies[];
extern const struct tmx_dtm_policy *const tmx_dtm_policies[];
extern const struct tmx_cta_policy *const tmx_cta_policies[];
extern const struct tmx_tb_policy *const tmx_tb_policies[];
extern const struct tmx_gate_policy *const tmx_gate_policies[];
extern const struct tmx_fan_policy *const tmx_fan_policies[];
extern const struct tmx_route_policy *const tmx_route_policies[];
extern const struct tmx_row_policy *const tmx_row_policies[];

/* A gating policy by its exact name; NULL when there is none. */
const struct tmx_gate_policy *tmx_gate_find(const char *name);

#endif

/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sched/sched.h"

#include <string.h>

#include "sched/policies.h"

/* clang-format off */
#define POLICY(level, name) &tmx_##level##_##name,
#define HEAD(level, name) &tmx_##level##_##name.base,
/* clang-format on */

const struct tmx_job_policy *const tmx_job_policies[] = {TMX_JOB_LIST(POLICY) NULL};
const struct tmx_place_policy *const tmx_place_policies[] = {TMX_PLACE_LIST(POLICY) NULL};
const struct tmx_mix_policy *const tmx_mix_policies[] = {TMX_MIX_LIST(POLICY) NULL};
const struct tmx_dtm_policy *const tmx_dtm_policies[] = {TMX_DTM_LIST(POLICY) NULL};
const struct tmx_cta_policy *const tmx_cta_policies[] = {TMX_CTA_LIST(POLICY) NULL};
const struct tmx_tb_policy *const tmx_tb_policies[] = {TMX_TB_LIST(POLICY) NULL};
const struct tmx_gate_policy *const tmx_gate_policies[] = {TMX_GATE_LIST(POLICY) NULL};
const struct tmx_fan_policy *const tmx_fan_policies[] = {TMX_FAN_LIST(POLICY) NULL};
const struct tmx_route_policy *const tmx_route_policies[] = {TMX_ROUTE_LIST(POLICY) NULL};
const struct tmx_row_policy *const tmx_row_policies[] = {TMX_ROW_LIST(POLICY) NULL};

const struct tmx_plugin *const tmx_job_heads[] = {TMX_JOB_LIST(HEAD) NULL};
const struct tmx_plugin *const tmx_place_heads[] = {TMX_PLACE_LIST(HEAD) NULL};
const struct tmx_plugin *const tmx_mix_heads[] = {TMX_MIX_LIST(HEAD) NULL};
const struct tmx_plugin *const tmx_dtm_heads[] = {TMX_DTM_LIST(HEAD) NULL};
const struct tmx_plugin *const tmx_cta_heads[] = {TMX_CTA_LIST(HEAD) NULL};
const struct tmx_plugin *const tmx_tb_heads[] = {TMX_TB_LIST(HEAD) NULL};
const struct tmx_plugin *const tmx_gate_heads[] = {TMX_GATE_LIST(HEAD) NULL};
const struct tmx_plugin *const tmx_fan_heads[] = {TMX_FAN_LIST(HEAD) NULL};
const struct tmx_plugin *const tmx_route_heads[] = {TMX_ROUTE_LIST(HEAD) NULL};
const struct tmx_plugin *const tmx_row_heads[] = {TMX_ROW_LIST(HEAD) NULL};

const struct tmx_gate_policy *tmx_gate_find(const char *name)
{
    for (const struct tmx_gate_policy *const *p = tmx_gate_policies; *p; p++) {
        if (strcmp((*p)->base.name, name) == 0) {
            return *p;
        }
    }
    return NULL;
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sched/sched.h"

#include <string.h>

#include "sched/policies.h"

/* clang-format off */
#define JOB(name) &tmx_job_##name,
#define PLACE(name) &tmx_place_##name,
#define MIX(name) &tmx_mix_##name,
#define DTM(name) &tmx_dtm_##name,
#define CTA(name) &tmx_cta_##name,
#define TB(name) &tmx_tb_##name,
#define GATE(name) &tmx_gate_##name,
#define FAN(name) &tmx_fan_##name,
#define ROUTE(name) &tmx_route_##name,
#define ROW(name) &tmx_row_##name,
#define JOB_HEAD(name) &tmx_job_##name.base,
#define PLACE_HEAD(name) &tmx_place_##name.base,
#define MIX_HEAD(name) &tmx_mix_##name.base,
#define DTM_HEAD(name) &tmx_dtm_##name.base,
#define CTA_HEAD(name) &tmx_cta_##name.base,
#define TB_HEAD(name) &tmx_tb_##name.base,
#define GATE_HEAD(name) &tmx_gate_##name.base,
#define FAN_HEAD(name) &tmx_fan_##name.base,
#define ROUTE_HEAD(name) &tmx_route_##name.base,
#define ROW_HEAD(name) &tmx_row_##name.base,
/* clang-format on */

const struct tmx_job_policy *const tmx_job_policies[] = {TMX_JOB_LIST(JOB) NULL};
const struct tmx_place_policy *const tmx_place_policies[] = {TMX_PLACE_LIST(PLACE) NULL};
const struct tmx_mix_policy *const tmx_mix_policies[] = {TMX_MIX_LIST(MIX) NULL};
const struct tmx_dtm_policy *const tmx_dtm_policies[] = {TMX_DTM_LIST(DTM) NULL};
const struct tmx_cta_policy *const tmx_cta_policies[] = {TMX_CTA_LIST(CTA) NULL};
const struct tmx_tb_policy *const tmx_tb_policies[] = {TMX_TB_LIST(TB) NULL};
const struct tmx_gate_policy *const tmx_gate_policies[] = {TMX_GATE_LIST(GATE) NULL};
const struct tmx_fan_policy *const tmx_fan_policies[] = {TMX_FAN_LIST(FAN) NULL};
const struct tmx_route_policy *const tmx_route_policies[] = {TMX_ROUTE_LIST(ROUTE) NULL};
const struct tmx_row_policy *const tmx_row_policies[] = {TMX_ROW_LIST(ROW) NULL};

const struct tmx_plugin *const tmx_job_heads[] = {TMX_JOB_LIST(JOB_HEAD) NULL};
const struct tmx_plugin *const tmx_place_heads[] = {TMX_PLACE_LIST(PLACE_HEAD) NULL};
const struct tmx_plugin *const tmx_mix_heads[] = {TMX_MIX_LIST(MIX_HEAD) NULL};
const struct tmx_plugin *const tmx_dtm_heads[] = {TMX_DTM_LIST(DTM_HEAD) NULL};
const struct tmx_plugin *const tmx_cta_heads[] = {TMX_CTA_LIST(CTA_HEAD) NULL};
const struct tmx_plugin *const tmx_tb_heads[] = {TMX_TB_LIST(TB_HEAD) NULL};
const struct tmx_plugin *const tmx_gate_heads[] = {TMX_GATE_LIST(GATE_HEAD) NULL};
const struct tmx_plugin *const tmx_fan_heads[] = {TMX_FAN_LIST(FAN_HEAD) NULL};
const struct tmx_plugin *const tmx_route_heads[] = {TMX_ROUTE_LIST(ROUTE_HEAD) NULL};
const struct tmx_plugin *const tmx_row_heads[] = {TMX_ROW_LIST(ROW_HEAD) NULL};

const struct tmx_gate_policy *tmx_gate_find(const char *name)
{
    for (const struct tmx_gate_policy *const *p = tmx_gate_policies; *p; p++) {
        if (strcmp((*p)->base.name, name) == 0) {
            return *p;
        }
    }
    return NULL;
}

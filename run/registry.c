/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "run/registry.h"

#include "power/power.h"
#include "sched/sched.h"
#include "thermal/thermal.h"

const struct tmx_catalog tmx_builtin = {
    .kind = {[TMX_LEVEL_JOB] = tmx_job_heads,
             [TMX_LEVEL_PLACE] = tmx_place_heads,
             [TMX_LEVEL_MIX] = tmx_mix_heads,
             [TMX_LEVEL_DTM] = tmx_dtm_heads,
             [TMX_LEVEL_CTA] = tmx_cta_heads,
             [TMX_LEVEL_TB] = tmx_tb_heads,
             [TMX_LEVEL_GATE] = tmx_gate_heads,
             [TMX_LEVEL_FAN] = tmx_fan_heads,
             [TMX_KIND_BACKEND] = tmx_thermal_heads,
             [TMX_KIND_POWER] = tmx_power_heads},
};

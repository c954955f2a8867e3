#ifndef TMX_SCHED_POLICIES_H
#define TMX_SCHED_POLICIES_H

/* Private to sched/: one line per policy, each defined in the file of its name. */

#include "core/contract/cta_policy.h"
#include "core/contract/dtm_policy.h"
#include "core/contract/fan_policy.h"
#include "core/contract/job_policy.h"
#include "core/contract/mix_policy.h"
#include "core/contract/place_policy.h"
#include "core/contract/tb_policy.h"

extern const struct tmx_job_policy tmx_job_none;
extern const struct tmx_job_policy tmx_job_consolidate;

extern const struct tmx_place_policy tmx_place_own_gpu;
extern const struct tmx_place_policy tmx_place_round_robin;
extern const struct tmx_place_policy tmx_place_coldest;
extern const struct tmx_place_policy tmx_place_least_loaded;
extern const struct tmx_place_policy tmx_place_spread;
extern const struct tmx_place_policy tmx_place_pair_hot_cold;

extern const struct tmx_fan_policy tmx_fan_fixed;
extern const struct tmx_fan_policy tmx_fan_curve;
extern const struct tmx_fan_policy tmx_fan_pi;

extern const struct tmx_mix_policy tmx_mix_fcfs;
extern const struct tmx_mix_policy tmx_mix_alternate;
extern const struct tmx_mix_policy tmx_mix_mixed_uniform;
extern const struct tmx_mix_policy tmx_mix_mixed_nonuniform;
extern const struct tmx_mix_policy tmx_mix_mixed_alternate;

extern const struct tmx_cta_policy tmx_cta_all;
extern const struct tmx_cta_policy tmx_cta_tcs;
extern const struct tmx_cta_policy tmx_cta_htcs;
extern const struct tmx_cta_policy tmx_cta_tcs_share;
extern const struct tmx_cta_policy tmx_cta_static_optimal;
extern const struct tmx_cta_policy tmx_cta_apsa;

extern const struct tmx_dtm_policy tmx_dtm_none;
extern const struct tmx_dtm_policy tmx_dtm_throttle;
extern const struct tmx_dtm_policy tmx_dtm_dvfs;

extern const struct tmx_tb_policy tmx_tb_round_robin;
extern const struct tmx_tb_policy tmx_tb_coldest_first;

#endif

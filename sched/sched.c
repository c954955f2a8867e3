#include "sched/sched.h"

#include "sched/policies.h"

const struct tmx_job_policy *const tmx_job_policies[] = {&tmx_job_none, &tmx_job_consolidate, NULL};

const struct tmx_place_policy *const tmx_place_policies[] = {
    &tmx_place_own_gpu,
    &tmx_place_round_robin,
    &tmx_place_coldest,
    &tmx_place_least_loaded,
    &tmx_place_spread,
    &tmx_place_pair_hot_cold,
    NULL,
};

const struct tmx_fan_policy *const tmx_fan_policies[] = {&tmx_fan_fixed, &tmx_fan_curve, &tmx_fan_pi, NULL};

const struct tmx_mix_policy *const tmx_mix_policies[] = {
    &tmx_mix_fcfs,
    &tmx_mix_alternate,
    &tmx_mix_mixed_uniform,
    &tmx_mix_mixed_nonuniform,
    &tmx_mix_mixed_alternate,
    NULL,
};

const struct tmx_cta_policy *const tmx_cta_policies[] = {
    &tmx_cta_all,  &tmx_cta_tcs, &tmx_cta_htcs, &tmx_cta_tcs_share, &tmx_cta_static_optimal,
    &tmx_cta_apsa, NULL,
};

const struct tmx_dtm_policy *const tmx_dtm_policies[] = {&tmx_dtm_none, &tmx_dtm_throttle, &tmx_dtm_dvfs,
                                                         NULL};

const struct tmx_tb_policy *const tmx_tb_policies[] = {&tmx_tb_round_robin, &tmx_tb_coldest_first, NULL};

#ifndef TMX_SCHED_SCHED_H
#define TMX_SCHED_SCHED_H

/* Every policy of every level, NULL-terminated tables. */

#include "core/contract/cta_policy.h"
#include "core/contract/dtm_policy.h"
#include "core/contract/fan_policy.h"
#include "core/contract/job_policy.h"
#include "core/contract/mix_policy.h"
#include "core/contract/place_policy.h"
#include "core/contract/tb_policy.h"

extern const struct tmx_job_policy *const tmx_job_policies[];
extern const struct tmx_place_policy *const tmx_place_policies[];
extern const struct tmx_mix_policy *const tmx_mix_policies[];
extern const struct tmx_cta_policy *const tmx_cta_policies[];
extern const struct tmx_dtm_policy *const tmx_dtm_policies[];
extern const struct tmx_fan_policy *const tmx_fan_policies[];
extern const struct tmx_tb_policy *const tmx_tb_policies[];

#endif

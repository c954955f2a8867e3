/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TMX_SCHED_POLICIES_H
#define TMX_SCHED_POLICIES_H

/* Private to sched/: one line a policy, X(name), defined in a file of its level as tmx_LEVEL_NAME. From
 * these lists come the declarations below and every table of sched.c. The first of a level is what it does by
 * default. */

#include <thermix/policy.h>

#include "core/contract/choice.h"
#include "kernels/merge.h"

#define TMX_JOB_LIST(X) \
    X(none)             \
    X(consolidate)

#define TMX_PLACE_LIST(X) \
    X(own_gpu)            \
    X(round_robin)        \
    X(coldest)            \
    X(least_loaded)       \
    X(spread)             \
    X(pair_hot_cold)

#define TMX_MIX_LIST(X) \
    X(fcfs)             \
    X(alternate)        \
    X(mixed_uniform)    \
    X(mixed_nonuniform) \
    X(mixed_alternate)  \
    X(foresight)        \
    X(tsp)              \
    X(slosh)            \
    X(partition)

#define TMX_DTM_LIST(X) \
    X(none)             \
    X(throttle)         \
    X(dvfs)             \
    X(boost)

#define TMX_CTA_LIST(X) \
    X(all)              \
    X(tcs)              \
    X(htcs)             \
    X(tcs_share)        \
    X(static_optimal)   \
    X(apsa)

#define TMX_TB_LIST(X) \
    X(round_robin)     \
    X(coldest_first)

#define TMX_GATE_LIST(X)    \
    X(none)                 \
    X(convpg)               \
    X(gates)                \
    X(naive_blackout)       \
    X(coordinated_blackout) \
    X(warped_gates)

#define TMX_FAN_LIST(X) \
    X(fixed)            \
    X(curve)            \
    X(pi)               \
    X(price)

#define TMX_ROUTE_LIST(X) \
    X(tokens)             \
    X(round_robin)        \
    X(jsq)                \
    X(splitwise)          \
    X(coldest)            \
    X(weighted)           \
    X(tapas)              \
    X(foresight)

#define TMX_ROW_LIST(X) \
    X(none)             \
    X(polca)            \
    X(slosh)            \
    X(foresight)        \
    X(stagger)          \
    X(smooth_row)

#define TMX_DECLARE_JOB(name)   extern const struct tmx_job_policy tmx_job_##name;
#define TMX_DECLARE_PLACE(name) extern const struct tmx_place_policy tmx_place_##name;
#define TMX_DECLARE_MIX(name)   extern const struct tmx_mix_policy tmx_mix_##name;
#define TMX_DECLARE_DTM(name)   extern const struct tmx_dtm_policy tmx_dtm_##name;
#define TMX_DECLARE_CTA(name)   extern const struct tmx_cta_policy tmx_cta_##name;
#define TMX_DECLARE_TB(name)    extern const struct tmx_tb_policy tmx_tb_##name;
#define TMX_DECLARE_GATE(name)  extern const struct tmx_gate_policy tmx_gate_##name;
#define TMX_DECLARE_FAN(name)   extern const struct tmx_fan_policy tmx_fan_##name;
#define TMX_DECLARE_ROUTE(name) extern const struct tmx_route_policy tmx_route_##name;
#define TMX_DECLARE_ROW(name)   extern const struct tmx_row_policy tmx_row_##name;

TMX_JOB_LIST(TMX_DECLARE_JOB)
TMX_PLACE_LIST(TMX_DECLARE_PLACE)
TMX_MIX_LIST(TMX_DECLARE_MIX)
TMX_DTM_LIST(TMX_DECLARE_DTM)
TMX_CTA_LIST(TMX_DECLARE_CTA)
TMX_TB_LIST(TMX_DECLARE_TB)
TMX_GATE_LIST(TMX_DECLARE_GATE)
TMX_FAN_LIST(TMX_DECLARE_FAN)
TMX_ROUTE_LIST(TMX_DECLARE_ROUTE)
TMX_ROW_LIST(TMX_DECLARE_ROW)

/* dtm/dvfs.c: clock level by two thresholds, one step a call: slower at emergency_c, faster below
 * release_c. Paper 003's DVFS, and what T^ABS falls back to. */
size_t tmx_level_next(const struct tmx_gpu_view *gpu, double hottest_k, double emergency_c, double release_c);

/* row/slosh.c: this share of the row's servers runs at slow_hz: (by_class) low priority first, those with the
 * fewest prompt tokens, ties to the lowest number. */
void tmx_row_slow(const struct tmx_row_view *v, double share, double slow_hz, bool by_class,
                  double *clock_hz);

/* route/balance.c: the prompt goes to the open instance of the least score (ties: the lowest number;
 * INFINITY: not there; SIZE_MAX: to none), the tokens are made there or at the instance with the least
 * reserved cache. */
typedef double tmx_route_score(const void *policy, const struct tmx_route_view *v,
                               const struct tmx_instance_view *i);
void tmx_route_by(tmx_route_score *score, const void *policy, const struct tmx_route_view *v,
                  struct tmx_route *to);

#endif

/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TMX_SCHED_POLICIES_H
#define TMX_SCHED_POLICIES_H

/* Private to sched/: one line a policy, X(level, name), defined in a file of its level as tmx_LEVEL_NAME.
 * From these lists come the declarations below and every table of sched.c. The first of a level is what it
 * does by default. */

#include <thermix/policy.h>

#include "core/contract/choice.h"
#include "kernels/merge.h"

#define TMX_JOB_LIST(X) \
    X(job, none)        \
    X(job, consolidate)

#define TMX_PLACE_LIST(X)  \
    X(place, own_gpu)      \
    X(place, round_robin)  \
    X(place, coldest)      \
    X(place, least_loaded) \
    X(place, spread)       \
    X(place, pair_hot_cold)

#define TMX_MIX_LIST(X)      \
    X(mix, fcfs)             \
    X(mix, alternate)        \
    X(mix, mixed_uniform)    \
    X(mix, mixed_nonuniform) \
    X(mix, mixed_alternate)  \
    X(mix, foresight)        \
    X(mix, tsp)              \
    X(mix, slosh)            \
    X(mix, partition)

#define TMX_DTM_LIST(X) \
    X(dtm, none)        \
    X(dtm, throttle)    \
    X(dtm, dvfs)        \
    X(dtm, boost)

#define TMX_CTA_LIST(X)    \
    X(cta, all)            \
    X(cta, tcs)            \
    X(cta, htcs)           \
    X(cta, tcs_share)      \
    X(cta, static_optimal) \
    X(cta, apsa)

#define TMX_TB_LIST(X) \
    X(tb, round_robin) \
    X(tb, coldest_first)

#define TMX_GATE_LIST(X)          \
    X(gate, none)                 \
    X(gate, convpg)               \
    X(gate, gates)                \
    X(gate, naive_blackout)       \
    X(gate, coordinated_blackout) \
    X(gate, warped_gates)

#define TMX_FAN_LIST(X) \
    X(fan, fixed)       \
    X(fan, curve)       \
    X(fan, pi)          \
    X(fan, price)

#define TMX_ROUTE_LIST(X) \
    X(route, tokens)      \
    X(route, round_robin) \
    X(route, jsq)         \
    X(route, splitwise)   \
    X(route, coldest)     \
    X(route, weighted)    \
    X(route, tapas)       \
    X(route, foresight)

#define TMX_ROW_LIST(X) \
    X(row, none)        \
    X(row, polca)       \
    X(row, slosh)       \
    X(row, foresight)   \
    X(row, stagger)     \
    X(row, smooth_row)

#define TMX_DECLARE(level, name) extern const struct tmx_##level##_policy tmx_##level##_##name;
TMX_JOB_LIST(TMX_DECLARE)
TMX_PLACE_LIST(TMX_DECLARE)
TMX_MIX_LIST(TMX_DECLARE)
TMX_DTM_LIST(TMX_DECLARE)
TMX_CTA_LIST(TMX_DECLARE)
TMX_TB_LIST(TMX_DECLARE)
TMX_GATE_LIST(TMX_DECLARE)
TMX_FAN_LIST(TMX_DECLARE)
TMX_ROUTE_LIST(TMX_DECLARE)
TMX_ROW_LIST(TMX_DECLARE)

/* place/one_gpu.c: GPUs in turn by arrival. */
void tmx_place_in_turn(const void *state, const struct tmx_view *view, size_t job, struct tmx_place *at);

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

/* cta/apsa.c: ApSA's decision (paper 002, Algorithm 2), apart from the policy so that it can be tested alone.
 */
enum tmx_apsa_reading { TMX_APSA_TEXT, TMX_APSA_PSEUDOCODE };
enum tmx_apsa_phase { TMX_APSA_PROFILE, TMX_APSA_ACTION };

struct tmx_apsa {
    double ipc_upper, ipc_lower; /* t_u_ipc, t_l_ipc: shares of a core's peak */
    double bandwidth;            /* t_max_bw: share of a partition's peak */
    double good_to_bad;          /* t_GBR */
    double profile_cycles;       /* one block or this long, whichever comes first */
    int reading;                 /* enum tmx_apsa_reading */
    bool power_gate;             /* cores not needed are power-gated, not clock-gated */
    double clock_step;           /* of the frequency calibrator */
    enum tmx_apsa_phase phase;   /* state */
};

/* True: type I, which wants cores; false: type II, which waits for memory or has little parallelism. */
bool tmx_apsa_is_type1(const struct tmx_apsa *a, double ipc_share, double bandwidth_share,
                       double good_to_bad);

#endif

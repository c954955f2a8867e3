/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TMX_LIMITS_BUDGET_H
#define TMX_LIMITS_BUDGET_H

/* Thermal safe power: how many watts may each of n working SMs draw, for ever or for a while, so that no SM
 * passes the limit? Leakage is solved with the temperatures, not frozen at the limit.
 *   T = ambient + A (baseline + P on the SMs of a set S + V L(T)),   largest P with max over SMs T <= limit
 * Source: Pagani et al., TSP, IEEE TC 2017 (the idea; leakage solved and mappings searched here). */

#include "core/contract/forecast.h"
#include "limits/chip_model.h"

struct tmx_budget_call {
    double limit_k;
    double volt; /* relative to level 0, of the clock level */
};

/* Gain of the loop leakage -> temperature -> leakage with every unit at temp_k: spectral radius of
 * A diag(V L'). From 1 on no power is safe. */
double tmx_budget_loop_gain(const struct tmx_plan_chip *c, double volt, double temp_k);

/* W on each SM of the set (on[n_sm]); 0 where even idling passes the limit. temp_k [n_unit] receives the
 * temperatures at the budget; may be NULL. TMX_ERUNAWAY where the loop gain at the limit is 1 or more. */
enum tmx_status tmx_budget_of(const struct tmx_plan_chip *c, const struct tmx_budget_call *call,
                              const bool *on, double *watt, double *temp_k, struct tmx_err *err);

struct tmx_budget_path;

/* For one chip and limit: which sets may draw least and most, for ever (modes and path NULL) or all along a
 * path, whose end compares them. TMX_ERUNAWAY as above. Chip, modes and path have to outlive it. */
struct tmx_budget_search;
enum tmx_status tmx_budget_search_create(struct tmx_budget_search **l, const struct tmx_plan_chip *c,
                                         const struct tmx_budget_call *call,
                                         const struct tmx_modes_view *modes,
                                         const struct tmx_budget_path *path, struct tmx_err *err);
void tmx_budget_search_destroy(struct tmx_budget_search *l); /* accepts NULL */

/* W on each of the n SMs (1 to n_sm) that may draw least: exact for linear leakage. Those that may draw most,
 * as found by greedy growth from many SMs, shrinking of the whole chip, and exchanges. on [n_sm] receives the
 * set. */
double tmx_budget_worst(struct tmx_budget_search *l, size_t n, bool *on);
double tmx_budget_best(struct tmx_budget_search *l, size_t n, bool *on);

/* Temperatures of the chip that has been idle for long [n_unit, K]. TMX_ERUNAWAY: there are none. */
enum tmx_status tmx_budget_idle(const struct tmx_plan_chip *c, double volt, double *temp_k,
                                struct tmx_err *err);

/* How the chip goes on without work from a state, leakage as at the limit (it never is above). */
struct tmx_budget_path {
    size_t n;
    double *time_s; /* [n] rising */
    double *sm_k;   /* [n][n_sm] what the sensors would read */
    struct tmx_arena arena;
};

/* From the steady state of an idle chip, in modes. End with tmx_budget_path_finish, also after failure. */
enum tmx_status tmx_budget_path_idle(struct tmx_budget_path *p, const struct tmx_plan_chip *c,
                                     const struct tmx_modes_view *modes, const struct tmx_budget_call *call,
                                     double horizon_s, struct tmx_err *err);
/* From where a simulation is: its GPU 0, stepped on a copy. The horizon is one tick of the run at least.
 * TMX_EUNSUPPORTED where fans move: the way would depend on them. */
enum tmx_status tmx_budget_path_run(struct tmx_budget_path *p, const struct tmx_plan_chip *c,
                                    const struct tmx_run *run, const struct tmx_budget_call *call,
                                    double horizon_s, struct tmx_err *err);
void tmx_budget_path_finish(struct tmx_budget_path *p); /* accepts zeroed memory */

/* W on each SM of the set, all along a path. */
enum tmx_status tmx_budget_for(const struct tmx_plan_chip *c, const struct tmx_modes_view *modes,
                               const struct tmx_budget_call *call, const bool *on,
                               const struct tmx_budget_path *path, double *watt, struct tmx_err *err);

#endif

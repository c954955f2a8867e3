/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TMX_SCHED_MIX_AHEAD_H
#define TMX_SCHED_MIX_AHEAD_H

/* What mix policies that look ahead have in common: who joins, where the hot kernel runs, what that draws. */

#include <stddef.h>

#include <thermix/policy.h>

#include "core/contract/forecast.h"

struct tmx_ahead {
    double power_scale; /* kernels' powers as believed, relative to the stat table */
    double place_gain;  /* of the placement [W/K] */
    int window;         /* fairness window of arrivals */
    bool place;         /* else both kernels on every SM alike */
};

/* What the sensors of the SMs would read: sm_k [n_sm] of unit_k [n_unit]. */
void tmx_ahead_sms(const struct tmx_chip *c, const double *unit_k, double *sm_k);
/* Leakage and dynamic power at a clock level, relative to the nominal one. */
double tmx_ahead_volt(const struct tmx_chip *c, size_t level);
/* waits: of the work's watts, the share whose time does not follow the clock. */
double tmx_ahead_power(const struct tmx_chip *c, size_t level, double waits);

/* The temperature beyond which more heat is leaked than shed: hottest SM under the most watts that have a
 * steady state; the limit where that comes first. power_w, unit_k [unit_row] and sm_k [n_sm] are work. */
double tmx_ahead_hold_k(const struct tmx_outlook *look, double limit_k, double volt, double leak_scale,
                        double *power_w, double *unit_k, double *sm_k);

/* A waiting kernel of another power density joins, half the GPU each. */
void tmx_ahead_mix(const struct tmx_ahead *o, const struct tmx_view *view, size_t gpu,
                   struct tmx_gpu_request *r);
/* Who runs in the coming tick, where, and what it draws at the nominal level. sm_k [n_sm] temperatures; g
 * [n_sm] integrator of the placement; x [n_sm] receives the share of the hotter kernel, dyn_w [n_unit] watts.
 * Returns the share of these watts whose time does not follow the clock. */
double tmx_ahead_work(const struct tmx_ahead *o, const struct tmx_view *view, size_t gpu,
                      const struct tmx_gpu_request *r, const double *sm_k, double *g, double *x,
                      double *dyn_w);
/* The slot of that name; the policy's memory begins with x of all SMs of the node. */
void tmx_ahead_spread(const void *state, const struct tmx_spread *s, double *share0);

#endif

/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TMX_LIMITS_BUDGET_STEADY_H
#define TMX_LIMITS_BUDGET_STEADY_H

/* What one budget and the search for sets share: steady temperatures with leakage, by iteration. */

#include "limits/budget.h"

struct tmx_budget_steady { /* of one chip; arrays of units are `row` long, of which slope is [W/K] */
    const struct tmx_plan_chip *c;
    double volt;
    size_t row;    /* n_unit and what fills a block of sums; that stays 0 */
    double *block; /* owned: all the arrays */
    double *temp_k, *power_w, *slope, *rise, *ones;
    double *warming; /* [n_unit][row, K/W] row: unit that is powered (the influence matrix, turned) */
    double *sm_k;    /* [n_sm] what the sensors read of a field */
};

TMX_NODISCARD enum tmx_status tmx_budget_steady_init(struct tmx_budget_steady *w,
                                                     const struct tmx_plan_chip *c, double volt,
                                                     struct tmx_err *err);
void tmx_budget_steady_finish(struct tmx_budget_steady *w); /* accepts zeroed memory */

/* w->slope at these temperatures; temp_k may be w->temp_k. */
void tmx_budget_steady_slopes(struct tmx_budget_steady *w, const double *temp_k);
/* x [row] = A (b [n_unit] + slope x). false: it grows. */
bool tmx_budget_steady_respond(struct tmx_budget_steady *w, const double *b, double *x);
/* w->sm_k: what the sensors read of a field over units. */
void tmx_budget_steady_sensors(struct tmx_budget_steady *w, const double *unit);
/* As tmx_budget_of, where the loop gain is known to be below 1; w->temp_k: the temperatures. */
double tmx_budget_steady_watt(struct tmx_budget_steady *w, double limit_k, const bool *on);

#endif

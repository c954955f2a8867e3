/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TMX_LIMITS_CHIP_MODEL_H
#define TMX_LIMITS_CHIP_MODEL_H

/* One GPU as a planner sees it: which watts heat which unit, and how much is drawn anyway.
 *
 *   T = ambient + A p,   p = baseline + dynamic + leakage(T)     (steady; A [K/W] is the influence matrix) */

#include "base/arena.h"
#include "core/contract/power_model.h"
#include "core/contract/thermal_model.h"
#include "run/run.h"

struct tmx_plan_chip {
    size_t n_unit, n_sm, n_level;
    double *influence;  /* [n_unit][n_unit, K/W] row = unit that warms */
    double *baseline_w; /* [n_unit] */
    double *leak_w;     /* [n_unit] where factor is 1, nominal voltage */
    struct tmx_arena arena;
    double ambient_k;
    void (*factors)(const void *table, size_t n, const double *temp_k, double *factor);
    const void *table;                                  /* not owned: of the run's power model */
    const struct tmx_chip *chip;                        /* not owned: units of SMs, levels */
    double speed[TMX_MAX_LEVEL];                        /* relative to the nominal level, */
    double dynamic[TMX_MAX_LEVEL], leak[TMX_MAX_LEVEL]; /* as dynamic power and leakage */
};

/* From a run that is open; the run has to outlive the chip. r_convec: convection level, of those the
 * run's GPU has; SIZE_MAX: the one it starts at. TMX_EUNSUPPORTED where the back-end or the power model
 * is not one of superposition. An error stays in err (base/err.h). */
enum tmx_status tmx_plan_chip_init(struct tmx_plan_chip *c, const struct tmx_run *run, size_t gpu,
                                   size_t r_convec, struct tmx_err *err);
void tmx_plan_chip_finish(struct tmx_plan_chip *c); /* accepts zeroed memory */

/* Leakage against temperature, 1 where leak_w is meant. */
double tmx_plan_leak_factor(const struct tmx_plan_chip *c, double temp_k);
/* Leakage of a unit at a temperature, nominal voltage, and its slope [W/K]. */
double tmx_plan_leak_w(const struct tmx_plan_chip *c, size_t unit, double temp_k);
double tmx_plan_leak_slope(const struct tmx_plan_chip *c, size_t unit, double temp_k);

/* What the sensor of an SM reads of a field over units, and the highest that one does. */
double tmx_plan_sensor(const struct tmx_plan_chip *c, size_t sm, const double *unit);
double tmx_plan_hottest_k(const struct tmx_plan_chip *c, const double *temp_k);

/* Bounds rest on leakage being convex from the ambient up to top_k. TMX_EUNSUPPORTED: it is not. */
void tmx_plan_check_convex(const struct tmx_plan_chip *c, double top_k, struct tmx_err *err);

#endif

/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TMX_HOTSPOT_SETTLE_H
#define TMX_HOTSPOT_SETTLE_H

/* Steady state of a stack on the full grid, with HotSpot's two feedback loops: leakage that
 * depends on temperature, and a still-air sink whose resistance does. */

#include "base/err.h"
#include "thermal/files/hotspot_temps.h"
#include "thermal/thermal.h"

struct tmx_settle_options {
    bool leakage; /* add HotSpot's leakage to the power */
    bool natural; /* iterate r_convec of the stack's fan_sink, which must be natural */
    const struct tmx_thermal_ops *backend; /* what solves; NULL: the full grid */
    double leakage_tolerance_k;            /* stop below this increase; HotSpot's: 0.01 */
};

/* Equilibrium node_k [tmx_temps_nodes, K] for power_w [units, W]; *r_convec (may be NULL) is
 * the resistance it was found at. Errors: TMX_ERUNAWAY when leakage or the sink never
 * settles, those of the grid back-end. */
enum tmx_status tmx_settle(const struct tmx_stack *stack, const struct tmx_settle_options *options,
                           const double *power_w, const struct tmx_temps *shape, double *node_k,
                           double *r_convec, const struct tmx_log *log, struct tmx_err *err);

/* Add HotSpot's leakage of every dissipating unit at temp_k [units, K] to power_w [units, W]. */
void tmx_settle_leakage(const struct tmx_thermal_spec *spec, const double *temp_k, double *power_w);

/* One row of dt_s under power_w [units, W] and the leakage that follows the temperature: one step with the
 * leakage of the row's begin gives its end, the second takes the mean of both (Heun): second order in rows
 * shorter than the chip's response. power_w gains the leakage of the first step's end, temp_k [units, K] is
 * that of the row's end; snapshot [ops->snapshot_size] and mean_w [units] are scratch. */
enum tmx_status tmx_settle_step(const struct tmx_thermal_instance *chip, double dt_s, double *power_w,
                                double *temp_k, void *snapshot, double *mean_w);

#endif

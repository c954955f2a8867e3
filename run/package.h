/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TMX_RUN_PACKAGE_H
#define TMX_RUN_PACKAGE_H

#include "run/run.h"

/* The thermal side of a run: package files and their overrides -> stacks, */
TMX_NODISCARD enum tmx_status tmx_run_thermal_read(struct tmx_run *r, const struct tmx_setting *root,
                                                   struct tmx_err *err);
/* -> models, ready to step. */
TMX_NODISCARD enum tmx_status tmx_run_thermal_build(struct tmx_run *r, struct tmx_err *err);
void tmx_run_thermal_close(struct tmx_run *r);

/* Why a key of HotSpot's does nothing in a run; NULL when it does something. */
const char *tmx_run_package_unused(const char *key);

extern const struct tmx_opt tmx_run_forecast_opts[]; /* rows of struct tmx_run_forecast_options */

/* Fill sim_spec.forecast, one a kind of GPU, where the mix policy foresees; else nothing. The policy's model
 * is the run's own where that is in modes, its belief true and its tolerance not given; else a reduced model
 * of the same package. */
TMX_NODISCARD enum tmx_status tmx_run_forecast_build(struct tmx_run *r, struct tmx_err *err);
void tmx_run_forecast_close(struct tmx_run *r);

#endif

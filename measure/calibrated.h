/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TMX_MEASURE_CALIBRATED_H
#define TMX_MEASURE_CALIBRATED_H

/* What a calibration leaves on disk, and reading it again.
 *
 *   fit.csv          one row a parameter: name, GPU, run, value, unit, standard error, 95 % interval, status;
 *                    `thermix replay` needs nothing else
 *   covariance.csv   of the fitted parameters, a row and a column each, of logarithms where positive: how far
 *                    what is computed from them may be off
 *   residuals.csv    run, gpu, time_s, power_w, measured_c, predicted_c, residual_k
 *   chips/<gpu>/     a chip of one unit and its package for `thermix run`
 *   node.cfg         the topology of these chips
 *   how.txt          runs, GPUs and options it was made with, to repeat it */

#include "base/table.h"
#include "core/floorplan/chip.h"
#include "core/topology/topology.h"
#include "measure/calibrate.h"

/* The table, the errors and the air, for people. */
TMX_NODISCARD enum tmx_status tmx_calibrated_print(const struct tmx_calibration *c,
                                                   const struct tmx_measured *log, FILE *out,
                                                   struct tmx_err *err);
/* Everything of the above but figures. The folder is made; files in it are replaced. */
TMX_NODISCARD enum tmx_status tmx_calibrated_write(const struct tmx_calibration *c,
                                                   const struct tmx_measured *log,
                                                   const struct tmx_calibrate_options *options,
                                                   const char *dir, struct tmx_err *err);

/* The model of DIR/fit.csv (or of the file itself). TMX_EIO, TMX_EPARSE with file:line. */
TMX_NODISCARD enum tmx_status tmx_calibrated_read(struct tmx_rc *model, const char *path,
                                                  struct tmx_err *err);

/* How far the model of DIR/fit.csv may be off, from covariance.csv beside it; n is 0 where there is none.
 * TMX_EPARSE with file:line. tmx_fit_errors_finish also after failure. */
TMX_NODISCARD enum tmx_status tmx_calibrated_errors(struct tmx_fit_errors *e, const struct tmx_rc *model,
                                                    const char *path, struct tmx_err *err);

/* What node.cfg calls a GPU: its name, its begin, its end and its place where that is longer than a topology
 * takes. Returns buf. */
const char *tmx_calibrated_name(const struct tmx_rc *model, size_t gpu, char buf[TMX_NAME]);

#endif

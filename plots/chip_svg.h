/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TMX_PLOTS_CHIP_SVG_H
#define TMX_PLOTS_CHIP_SVG_H

#include "core/base/table.h"
#include "core/floorplan/chip.h"
#include "core/floorplan/floorplan.h"

/* A drawing of the units with their names and a millimetre scale. */
TMX_NODISCARD enum tmx_status tmx_floorplan_save_svg(const struct tmx_floorplan *fp, const char *path,
                                                     struct tmx_err *err);

/* The maps of a table of `thermix budget --map`: a small die for each row with the SMs that work, over their
 * number and what each may draw (column `watts`). */
TMX_NODISCARD enum tmx_status tmx_budget_save_svg(const struct tmx_chip *c, const struct tmx_table *t,
                                                  const char *watts, const char *path, struct tmx_err *err);

#endif

/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TMX_PLOTS_FLOORPLAN_SVG_H
#define TMX_PLOTS_FLOORPLAN_SVG_H

#include "core/machine/floorplan.h"

/* A drawing of the units with their names and a millimetre scale. */
TMX_NODISCARD enum tmx_status tmx_floorplan_save_svg(const struct tmx_floorplan *fp, const char *path,
                                                     struct tmx_err *err);

#endif

/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TMX_THERMAL_FILES_ICE_IO_H
#define TMX_THERMAL_FILES_ICE_IO_H

/* Import from 3D-ICE: floorplans (.flp) and simple stacks (.stk) of layers and dies with a
 * conventional heat sink on top. Lengths there are um, conductivities W/(um K), heat
 * capacities J/(um3 K). Microchannels, pin fins, a bottom sink as the only one, and
 * 2.5D placements are refused with the line. Format: 3D-ICE 4.0 user guide. */

#include <stdbool.h>

#include "core/machine/floorplan.h"

/* True when the file looks like a 3D-ICE floorplan (or stack) by its content. */
bool tmx_ice_is(const char *path);
bool tmx_ice_is_stack(const char *path);

/* Read `name : position x, y; dimension w, h; power values ...;` blocks; powers are skipped. */
TMX_NODISCARD enum tmx_status tmx_ice_read_flp(const char *path, struct tmx_floorplan *fp,
                                               struct tmx_err *err);

/* Write stack.lcf and one .flp a layer into the folder out_dir (made when absent): HotSpot's
 * layer order, layer 0 farthest from the sink. Layers without a floorplan get one block. */
TMX_NODISCARD enum tmx_status tmx_ice_convert_stack(const char *path, const char *out_dir,
                                                    struct tmx_err *err);

#endif

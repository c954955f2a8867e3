/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TMX_THERMAL_FILES_ICE_IO_H
#define TMX_THERMAL_FILES_ICE_IO_H

/* Import from 3D-ICE: floorplans (.flp) and simple stacks (.stk) of layers and dies with a
 * conventional heat sink on top. Lengths there are um, conductivities W/(um K), heat
 * capacities J/(um3 K). Microchannels, pin fins, a bottom sink as the only one, and
 * 2.5D placements are refused with the line. Format: 3D-ICE 4.0 user guide. */

#include <stdbool.h>

#include "core/floorplan/floorplan.h"

/* True when the file looks like a 3D-ICE floorplan (or stack) by its content. */
bool tmx_ice_is(const char *path);
bool tmx_ice_is_stack(const char *path);

struct tmx_ice_powers { /* of a floorplan's units: its elements, those of several rectangles shared by area */
    double *w;          /* [n_unit][n_slot] owned */
    size_t n_slot;      /* 0: no element has any; those without have none */
};

/* Read `name : position x, y; dimension w, h; power values ...;` blocks. powers may be NULL; else it is
 * overwritten, and its w is freed by the caller, also after failure. */
TMX_NODISCARD enum tmx_status tmx_ice_read_flp(const char *path, struct tmx_floorplan *fp,
                                               struct tmx_ice_powers *powers, struct tmx_err *err);

/* Write fp as a 3D-ICE floorplan; power_w [n_row][n_column] (NULL: none) has a column each unit, column[u],
 * in rows. Errors: TMX_EIO, TMX_ECONFIG for a name that 3D-ICE could not read twice. */
struct tmx_trace;
TMX_NODISCARD enum tmx_status tmx_ice_write_flp(const char *path, const struct tmx_floorplan *fp,
                                                const struct tmx_trace *power, const size_t *column,
                                                struct tmx_err *err);

/* The chip of a HotSpot `.config` or `.lcf` at path -> the folder out_dir with stack.stk and a floorplan for
 * each layer that dissipates, with the powers of the config's -p. Errors: TMX_EUNSUPPORTED for what 3D-ICE's
 * solid stacks do not have (fillers, units' own materials, a secondary path). *note says what is not the
 * same. */
TMX_NODISCARD enum tmx_status tmx_ice_write_stack(const char *path, const char *out_dir, const char **note,
                                                  struct tmx_err *err);

/* Write stack.lcf and one .flp a layer into the folder out_dir (made when absent): HotSpot's
 * layer order, layer 0 farthest from the sink. Layers without a floorplan get one block. Where the stack has
 * a top heat sink also stack.config, its film, ambient, start, slot and cells as HotSpot's options, and where
 * elements have power values stack.ptrace. 3D-ICE has no spreader and no sink: those are two sheets of 10 nm,
 * so the configuration is one for --network physical. */
TMX_NODISCARD enum tmx_status tmx_ice_convert_stack(const char *path, const char *out_dir,
                                                    struct tmx_err *err);

#endif

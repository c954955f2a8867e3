/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TMX_THERMAL_ASSEMBLY_GRIDMAP_H
#define TMX_THERMAL_ASSEMBLY_GRIDMAP_H

#include "base/arena.h"
#include "thermal/assembly/spec.h"

/* Which grid cells each unit of a floorplan covers, and by how much of their area.
 * Row 0 is the north (largest y) row; cell (row i, column j) has index i * cols + j. */

struct tmx_gridmap {
    size_t n_unit, rows, cols;
    const struct tmx_floorplan *floorplan; /* not owned; used by init alone */
    size_t *range;                         /* [4 * n_unit] rows [r0, r1), columns [c0, c1) touched */
    size_t *start;                         /* [n_unit + 1] first entry of each unit in cell, part */
    size_t *cell;                          /* [start[n_unit]] cell index, ascending within a unit */
    double *part;                          /* likewise: fraction of the cell's area the unit covers */
    double *col_share;                     /* [cols] width of a column, of the mean one */
    double *sum;                           /* [n_unit] sum of part, each by its column's share */
    struct tmx_arena arena;                /* of these */
};

/* Map floorplan onto rows x cols cells of a die of width_m x height_m whose corner is the
 * origin; columns end at col_line_m [cols + 1], or NULL: are equal. With a single row, each unit is a cell.
 * map is overwritten; end it with tmx_gridmap_finish (also after failure). Returns TMX_OK, TMX_ENOMEM or
 * TMX_ERANGE (a unit that lies outside the die). */
enum tmx_status tmx_gridmap_init(struct tmx_gridmap *map, const struct tmx_floorplan *floorplan,
                                 double width_m, double height_m, size_t rows, size_t cols,
                                 const double *col_line_m, struct tmx_err *err);
/* map [n_layer + 2] of the layers of a spec; spreader and sink have the last one's floorplan. Layers of one
 * floorplan have the arrays of the first of them, finished with it. */
enum tmx_status tmx_gridmap_layers(struct tmx_gridmap *map, const struct tmx_thermal_spec *spec,
                                   struct tmx_err *err);
void tmx_gridmap_finish(struct tmx_gridmap *map); /* accepts zeroed memory */

/* Add power_w [n_unit, W] to cell_w [rows * cols, W]: uniform over each unit's area, all
 * of it (parts that stick out of the die by a rounding are put inside). */
void tmx_gridmap_spread_power(const struct tmx_gridmap *map, const double *power_w, double *cell_w);

/* Conductivity k and heat capacity p [rows * cols] of the cells of a layer: its units' own materials, else
 * the layer's, and its filler (else the layer's) beside them, mixed by area. Before the floorplan has gone.
 */
void tmx_gridmap_mix(const struct tmx_gridmap *map, const struct tmx_layer *layer, double *k, double *p);

/* unit_k [n_unit, K] from cell_k [rows * cols, K], in the way of mode. */
void tmx_gridmap_read(const struct tmx_gridmap *map, enum tmx_map_mode mode, const double *cell_k,
                      double *unit_k);

/* Add to row [rows * cols] the weights by which tmx_gridmap_read makes unit's value from
 * the cells; mode is one of the linear ones (AREA, AVG, CENTER). */
void tmx_gridmap_weights(const struct tmx_gridmap *map, enum tmx_map_mode mode, size_t unit, double *row);

/* cell_k [rows * cols, K] from unit_k [n_unit, K]: the area-weighted mean of the units on
 * the cell; a cell without any gets the area mean of the layer. as_hotspot: the plain sum
 * of part * unit_k instead, so that cells partly covered start too cold. */
enum tmx_status tmx_gridmap_fill(const struct tmx_gridmap *map, const double *unit_k, bool as_hotspot,
                                 double *cell_k, struct tmx_err *err);

#endif

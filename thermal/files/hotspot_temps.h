/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TMX_THERMAL_FILES_HOTSPOT_TEMPS_H
#define TMX_THERMAL_FILES_HOTSPOT_TEMPS_H

/* Temperatures of a whole stack by block and layer, and HotSpot's files of them: .steady and
 * .init (a block a line), grid files (a cell a line). Formats: docs/formats.md. */

#include <stdio.h>

#include "thermal/assembly/gridmap.h"
#include "thermal/files/stack.h"

enum { TMX_TEMPS_PACKAGE = 28 };

struct tmx_temps {
    const struct tmx_stack *stack; /* not owned */
    size_t n_layer;                /* with spreader and sink */
    size_t n_cell;
    struct tmx_gridmap *map; /* [n_layer] spreader and sink use the last die layer's floorplan */
    size_t *first;           /* [n_layer + 1] first block of each layer */
    double *block_k;         /* [first[n_layer], K] */
    struct tmx_arena arena;
    size_t n_package;                    /* 12, or 28 with a board */
    double package_k[TMX_TEMPS_PACKAGE]; /* [n_package, K] W,E,N,S of spreader, inner and outer sink, then
                                            substrate, solder, inner and outer board */
};

/* Room for the blocks of stack (which must outlive *t), all at the stack's init_k. End it
 * with tmx_temps_finish, also after failure. Errors: TMX_ENOMEM, TMX_ERANGE. */
enum tmx_status tmx_temps_init(struct tmx_temps *t, const struct tmx_stack *stack, struct tmx_err *err);
void tmx_temps_finish(struct tmx_temps *t); /* accepts zeroed memory */

/* Nodes of the model: n_layer grids, then the package. */
size_t tmx_temps_nodes(const struct tmx_temps *t);

/* Blocks and package from node_k [tmx_temps_nodes, K], by the stack's map mode. */
void tmx_temps_from_nodes(struct tmx_temps *t, const double *node_k);

/* Read a .steady or .init file into t. Layers in order, blocks of a layer in any order.
 * Errors: TMX_EIO, TMX_EPARSE with file:line (unknown, repeated or missing block, text
 * after the last node, a temperature in degrees C). */
enum tmx_status tmx_temps_read(const char *path, struct tmx_temps *t, struct tmx_err *err);

/* Write the blocks as tmx_temps_read takes them; decimals as in tmx_trace_print_row. */
void tmx_temps_print(const struct tmx_temps *t, int decimals, FILE *out);

/* Write all grids of node_k [tmx_temps_nodes, K], one cell a line; a stack with fillers begins with its
 * outline [m], which not all of its floorplans have. */
void tmx_temps_print_grids(const struct tmx_temps *t, const double *node_k, int decimals, FILE *out);

/* The same cells as a VTK rectilinear grid in metres, from the face away from the sink; spreader and sink are
 * cut at the die's edge. */
void tmx_temps_print_vtk(const struct tmx_temps *t, const double *node_k, FILE *out);

/* Scale all temperatures about the ambient so that the hottest block of the lowest die is at most threshold_k
 * (HotSpot's dtm_used); as_hotspot: with a board, the hottest block of the board in its place. */
void tmx_temps_limit(struct tmx_temps *t, bool as_hotspot, double threshold_k);

/* The start field that cfg wants: of its init file, scaled down with dtm_used, or HotSpot's uniform start
 * where blocks leave gaps. *node_k [tmx_temps_nodes, K] is the caller's to free, NULL where all starts at
 * init_temp. Errors: those of tmx_temps_read. */
enum tmx_status tmx_temps_start(struct tmx_temps *t, const struct tmx_hotspot_config *cfg, bool as_hotspot,
                                double **node_k, struct tmx_err *err);

/* Area-weighted mean temperature of the sink [K] over cells and sink nodes of node_k. */
double tmx_temps_sink_mean_k(const struct tmx_temps *t, const double *node_k);

#endif

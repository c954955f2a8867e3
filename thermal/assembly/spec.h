/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TMX_THERMAL_ASSEMBLY_SPEC_H
#define TMX_THERMAL_ASSEMBLY_SPEC_H

/* What a thermal back-end models: a stack of layers on a spreader and a sink, gridded.
 * Source of the model: HotSpot's grid model, see docs/models.md. */

#include <stdbool.h>
#include <stddef.h>

#include "core/contract/thermal_model.h"
#include "core/floorplan/floorplan.h"

struct tmx_layer {                         /* of the die stack; layer 0 is farthest from the sink */
    const struct tmx_floorplan *floorplan; /* not owned; layers without a filler have the same extent */
    bool lateral;                          /* heat flows sideways */
    bool dissipates;                       /* its units carry power */
    double thickness_m;
    double k_w_per_mk;         /* conductivity */
    double p_j_per_m3k;        /* volumetric heat capacity */
    double filler_k_w_per_mk;  /* of what no unit covers: moulding beside dies; 0: the layer's own. With a */
    double filler_p_j_per_m3k; /* filler the units' own materials count, mixed by area, detailed_3d or not */
};

struct tmx_package {
    double s_spreader_m, t_spreader_m, k_spreader, p_spreader; /* side, thickness [m]; W/(m K), J/(m3 K) */
    double s_sink_m, t_sink_m, k_sink, p_sink;
    double r_convec_k_per_w; /* sink to air */
    double c_convec_j_per_k;
};

/* Secondary heat path, from the die's other face through substrate and solder balls to the board and its air:
 * HotSpot's. Layers 0, 1, 2 of the stack are then board, solder and substrate over the die. */
struct tmx_board {
    double s_sub_m, s_solder_m, s_pcb_m; /* sides */
    double r_convec_k_per_w;             /* board to air */
    double c_convec_j_per_k;
    bool quasi_static; /* what lies beyond the die's edge stores no heat, as in HotSpot's SuperLU build */
};

enum tmx_map_mode { TMX_MAP_AREA, TMX_MAP_AVG, TMX_MAP_MIN, TMX_MAP_MAX, TMX_MAP_CENTER };

enum tmx_network_kind {
    TMX_NETWORK_HOTSPOT, /* HotSpot's grid model: one sheet a layer, twelve package nodes, a third of the heat
                          */
    TMX_NETWORK_PHYSICAL, /* finite volumes to the edges of spreader and sink, refined layers, all of the heat
                           */
};

struct tmx_thermal_spec {
    enum tmx_network_kind network;
    unsigned refine; /* physical: cells and sheets outside the die's plane this many times finer; 0: 1 */
    const struct tmx_layer *layer; /* [n_layer] not owned; spreader and sink are appended by the model */
    size_t n_layer;
    struct tmx_package package;
    const struct tmx_board *board; /* not owned; NULL: no board below the stack */
    double r_below_k_per_w;        /* physical: a film on all of the face away from the sink; 0: none */
    size_t rows, cols;             /* grid, each >= 2 */
    enum tmx_map_mode map_mode;    /* how a unit's temperature is read from its cells */
    bool hotspot_lateral;          /* exchange the lateral resistances as HotSpot does */
    bool detailed_3d;              /* per-unit materials, series half-cell resistances */
    double ambient_k;
    const double *r_convec_levels; /* [n_level, K/W] for a fan; n_level 0: package.r_convec_k_per_w alone */
    size_t n_level;
    double init_k;             /* uniform start, used when init_node_k is NULL */
    const double *init_node_k; /* [n_view, K] start field over the view (n_layer + 2 layers of rows * cols
                                  cells, row 0 = north, then 12 package nodes W,E,N,S of spreader, inner and
                                  outer sink, and with a board 16 more); NULL: uniform init_k */
    double min_step_s;         /* shortest step that must be accurate to the tolerance; 0: 1 ms */
    bool accurate_cells; /* the tolerance must hold for every cell of every layer, not for units alone */
    bool no_field;       /* grid temperatures are not needed: their maps are not made */
    double power_density_w_per_m2; /* highest power density of a unit for which the tolerance must
                                      hold; at least 0.5e6 (0.5 W/mm2, assumed) is taken */
};

/* Number of units that dissipate, over all layers: the n_unit of power_w and temp_k,
 * ordered by layer, then by position in the layer's floorplan. */
size_t tmx_thermal_spec_units(const struct tmx_thermal_spec *spec);

/* Extent of the stack [m]: that of its layers without a filler, or where all have one of the largest. */
double tmx_thermal_spec_width_m(const struct tmx_thermal_spec *spec);
double tmx_thermal_spec_height_m(const struct tmx_thermal_spec *spec);

/* Convection levels of the spec: at least one. */
size_t tmx_thermal_spec_levels(const struct tmx_thermal_spec *spec);
double tmx_thermal_spec_r_convec(const struct tmx_thermal_spec *spec, size_t level); /* [K/W] */

#endif

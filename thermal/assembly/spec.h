/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TMX_THERMAL_ASSEMBLY_SPEC_H
#define TMX_THERMAL_ASSEMBLY_SPEC_H

/* What a thermal back-end models: a stack of layers on a spreader and a sink, gridded.
 * Source of the model: HotSpot's grid model, see docs/models.md. */

#include <stdbool.h>
#include <stddef.h>

#include "core/contract/thermal_model.h"
#include "core/floorplan/floorplan.h"

enum tmx_channel_kind {
    TMX_CHANNELS_MERGED,         /* a coolant and a wall node a cell (3D-ICE: microchannel 2rm) */
    TMX_CHANNELS_RESOLVED,       /* columns of cells are walls and channels by turns (microchannel 4rm) */
    TMX_CHANNELS_PINS_INLINE,    /* round pins in a coolant (pinfin), in line */
    TMX_CHANNELS_PINS_STAGGERED, /* or staggered */
    TMX_CHANNELS_MAPPED,         /* HotSpot's network: some of the cells are coolant, a pressure drives it */
};

/* Cells of mapped channels. */
enum { TMX_CELL_SOLID, TMX_CELL_FLUID, TMX_CELL_INLET, TMX_CELL_OUTLET };

/* Coolant that flows through a layer from its south to its north edge. */
struct tmx_channels {
    enum tmx_channel_kind kind;
    double width_m, wall_m; /* of a channel, and between two; of pins: diameter, and pitch less it */
    double first_m, last_m; /* resolved: the walls at the west and the east edge */
    double flow_m3_per_s;   /* of the whole layer; of pins the velocity in an empty layer times its area */
    double inlet_k, p_j_per_m3k;    /* of the coolant */
    double h_top, h_bottom, h_side; /* film coefficients [W/(m2 K)]; top: towards the sink. Of pins: unused */
    double viscosity_pa_s;          /* of the coolant, for the pumping power; 0: unknown */
    const unsigned char
        *cell; /* [rows * cols] not owned: mapped, row 0 = north; each cell a unit of the layer's
                  floorplan with its own material. h_top is every film then, flow is not used */
    double pressure_pa, pump_pa_s_per_m3; /* mapped: of the pump, and its inner resistance to flow */
    bool upwind; /* a face has the temperature of the cell before it; else the mean of both sides */
};

/* Is there room for one channel or pin with its walls in width_m? And how many lie side by side in it, then.
 */
bool tmx_channels_fit(const struct tmx_channels *c, double width_m);
size_t tmx_channels_count(const struct tmx_channels *c, double width_m);
/* Power [W] of a pump without losses that drives the flow through a layer of this size: laminar, developed.
 * NAN where it is not known: pins, or a coolant without a viscosity. */
double tmx_channels_pump_w(const struct tmx_channels *c, double width_m, double length_m, double height_m);

struct tmx_layer {                         /* of the die stack; layer 0 is farthest from the sink */
    const struct tmx_floorplan *floorplan; /* not owned; layers without a filler have the same extent */
    bool lateral;                          /* heat flows sideways */
    bool dissipates;                       /* its units carry power */
    double thickness_m;
    double k_w_per_mk;         /* conductivity, from face to face */
    double k_part_x, k_part_y; /* those along x and y, of it; 0: 1 */
    double falls,
        falls_from_k;   /* it falls as (T / falls_from_k)^-falls: what k_part says of now; 0: constant */
    double p_j_per_m3k; /* volumetric heat capacity */
    double filler_k_w_per_mk;  /* of what no unit covers: moulding beside dies; 0: the layer's own. With a */
    double filler_p_j_per_m3k; /* filler the units' own materials count, mixed by area, detailed_3d or not */
    const struct tmx_channels *channels; /* not owned; physical: coolant flows through it, k and p are of the
                                            walls; NULL: none */
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
/* Is a unit read as one of its cells, which no linear map gives? */
static inline bool tmx_map_by_cell(enum tmx_map_mode mode)
{
    return mode == TMX_MAP_MIN || mode == TMX_MAP_MAX;
}

enum tmx_network_kind {
    TMX_NETWORK_HOTSPOT, /* HotSpot's grid model: one sheet a layer, twelve package nodes, a third of the heat
                          */
    TMX_NETWORK_PHYSICAL, /* finite volumes to the edges of spreader and sink, refined layers, all of the heat
                           */
    TMX_NETWORK_BLOCK, /* HotSpot's block model: a node a unit and layer; rows 1, cols the units. The stack is
                          a die on an interface */
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
    const double *col_line_m;      /* [cols + 1] not owned: where columns begin and end; NULL: equal ones */
    enum tmx_map_mode map_mode;    /* how a unit's temperature is read from its cells */
    bool hotspot_lateral; /* exchange the lateral resistances as HotSpot does; with detailed_3d also count
                             what it counts twice */
    bool omit_lateral;    /* block model: no heat flows sideways in the die */
    bool detailed_3d;     /* per-unit materials, series half-cell resistances */
    double ambient_k;
    const double *k_part; /* [n_layer * rows * cols] not owned: of the layers' conductivities, of each cell;
                             NULL: 1 */
    const double *r_convec_levels; /* [n_level, K/W] for a fan; n_level 0: package.r_convec_k_per_w alone */
    size_t n_level;
    const double *flow_levels; /* [n_level] not owned: flow of all coolant at each level, of what its layers
                                  say; NULL: 1 */
    bool inlet_at_ambient;     /* coolant enters at the ambient of the chip, not at its layers' inlet_k */
    double coolant_limit_k;    /* a step that ends with warmer coolant fails; 0: none */
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
double tmx_thermal_spec_flow(const struct tmx_thermal_spec *spec, size_t level);     /* of the layers' own */

/* Layers whose conductivity falls with temperature, k(T) = k (T / T0)^-n: the conductivities of each cell at
 * its temperature, which a model is made with and made again for. */

/* Largest difference of a cell's conductivity from the one that is meant, in a step. */
extern const double tmx_falling_most;

bool tmx_falling(const struct tmx_thermal_spec *spec); /* is there such a layer? */

/* part [n_layer * rows * cols] of the layers' conductivities at node_k [as tmx_thermal_instance_nodes has
 * it]. */
void tmx_falling_part(const struct tmx_thermal_spec *spec, const double *node_k, double *part);

#endif

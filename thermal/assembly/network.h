/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TMX_THERMAL_ASSEMBLY_NETWORK_H
#define TMX_THERMAL_ASSEMBLY_NETWORK_H

#include "thermal/assembly/gridmap.h"
#include "thermal/assembly/vectors.h"

/* The RC network of a spec: C dtheta/dt + G theta = B p with theta = T - T_ambient and
 * G = G_net + gamma(R_convec) diag(A). Built here, solved elsewhere.
 *
 * The view: cells of every layer (die stack, spreader, sink), index layer * n_cell + cell,
 * then 12 package nodes: W,E,N,S of the spreader, the inner and the outer sink ring, and with a secondary
 * path 16 more: W,E,N,S of substrate, solder, the inner and the outer ring of the board. In HotSpot's network
 * the nodes are just these. In the physical one the cells of the die layers come first, as in the view;
 * what else the view shows are means over the nodes that follow. */

enum { TMX_PACKAGE_NODES = 12, TMX_BOARD_NODES = 16 };

struct tmx_conductance {
    size_t a, b;
    double w_k;
};

struct tmx_sheet { /* of ny x nx cells by rows, nodes from first on */
    size_t first, nx, ny;
};

struct tmx_network {
    size_t n_node, n_view, n_cell, n_layer; /* n_layer counts spreader and sink */
    size_t n_package;                       /* nodes of the view behind the cells: 12, or 28 with a board */
    size_t rows, cols;
    double width_m, height_m; /* of the die */
    size_t n_unit;            /* dissipating units */
    const struct tmx_vectors *vectors;

    /* Conductances of G_net between nodes: of a cell of a sheet to the next one along x and y, of a sheet on
     * the chip's grid to the cell of the next sheet, 0 where there is none; and all others */
    double *east_w_k, *south_w_k, *up_w_k; /* [n_node] */
    struct tmx_conductance *link;          /* [n_link] a < b */
    size_t n_link;
    /* Its sheets, from the far side of the sink on. Those on the chip's grid come first; cells of theirs are
     * linked to the next ones beside, above and below. Nodes of no sheet: HotSpot's rings, coolant beside
     * walls. */
    struct tmx_sheet *sheet; /* [n_sheet] */
    size_t n_sheet, n_on_chip;
    unsigned short
        *sheet_of; /* [n_node] while it is made: of each node its sheet and 1, 0: none; else NULL */
    struct tmx_arena scratch; /* of that */
    double *heat_j_k;         /* [n_node, J/K] the diagonal of C */
    double *area_m2;          /* [n_node, m2] the diagonal of A, area facing the air */
    double *ground_w_k; /* [n_node, W/K] to the air, not through the sink, part of G_net; NULL: nothing */
    /* what coolant carries, NULL where none flows: G_net has it, too, beside the lower triangle, and is then
     * not symmetric. Heat [W] lost by node a per kelvin of node b; and gained per kelvin of the inlet. */
    struct tmx_conductance *flow; /* [n_flow] a and b in any order */
    size_t n_flow;
    double *inflow_w_k; /* [n_node] */
    double inlet_k;     /* of every layer of channels */
    double
        film_base_k; /* [m2 K/W] sink conduction in series with the film: gamma = 1 / (film_base + R S^2) */
    double sink_area_m2;

    /* physical: the rows of the view behind the die layers, r = view index - (n_layer - 2) n_cell; NULL in
     * HotSpot's network */
    size_t *view_start; /* [rows + 1] first entry of each row */
    size_t *view_node;
    double *view_part; /* share of the node in the row's mean */
    double *view_back; /* share of the row in the node's value, where a field is given */
    size_t *twin;      /* [n_node] the die cell whose value a node takes then, or itself */

    struct tmx_gridmap *map; /* [n_layer] spreader and sink use the last die layer's floorplan */
    size_t *first_unit;      /* [n_layer + 1] first dissipating unit of each layer */
    enum tmx_map_mode mode;
    struct tmx_arena arena; /* of all arrays */
};

/* Returns TMX_OK, TMX_ENOMEM, or TMX_ERANGE for a geometry that cannot be modelled (die
 * not smaller than spreader, spreader not smaller than sink, layers of unequal extent,
 * grid below 2 x 2, no unit that dissipates). *net is overwritten; end it with
 * tmx_network_finish, also after failure. */
enum tmx_status tmx_network_init(struct tmx_network *net, const struct tmx_thermal_spec *spec,
                                 struct tmx_err *err);
/* Before the network is factored, and reduced: time and memory of that (base/cost.h). */
enum tmx_status tmx_network_check_cost(const struct tmx_network *net, bool reduce, struct tmx_err *err);
void tmx_network_finish(struct tmx_network *net); /* accepts zeroed memory */

/* Film coefficient gamma [W/(m2 K)] at a convection resistance. */
double tmx_network_gamma(const struct tmx_network *net, double r_convec_k_per_w);

/* Heat [W] that leaves from theta_k [n_node, K] to the air, through the sink and below, and with coolant,
 * whose inlet is at ambient here: one of theta_inlet_k brings tmx_network_brought in. flow: of the
 * spec's. */
double tmx_network_leaving(const struct tmx_network *net, double gamma, double flow, const double *theta_k);
double tmx_network_brought(const struct tmx_network *net, double flow, double theta_inlet_k);
/* The time that coolant takes through [s]; NaN without. */
double tmx_network_transit_s(const struct tmx_network *net, double flow);

/* Node of the hottest coolant in theta_k [n_node], SIZE_MAX where none flows; and what to say where it
 * boils there. */
size_t tmx_network_hottest_coolant(const struct tmx_network *net, const double *theta_k);
void tmx_network_boils(const struct tmx_network *net, size_t node, double hottest_k, double limit_k,
                       char *text, size_t size);

/* Add power_w [n_unit, W] to node_w [n_node, W]. */
void tmx_network_spread_power(const struct tmx_network *net, const double *power_w, double *node_w);

/* unit_k [n_unit] from node_k [n_node], dissipating units only. */
void tmx_network_read(const struct tmx_network *net, const double *node_k, double *unit_k);

/* y = (G_net + gamma A + sigma C) x, vectors of [n_node]. */
void tmx_network_apply(const struct tmx_network *net, double gamma, double sigma, const double *x, double *y);

/* y = what coolant of the spec's own flow carries, [n_node]: the rest of G_net, or its transpose. */
void tmx_network_carry(const struct tmx_network *net, bool transposed, const double *x, double *y);

/* view_k [n] of the view's rows [first, first + n) from node_k [n_node]; and node_k [n_node] from a
 * whole view_k [n_view]: what a start file says of the nodes it does not name. */
void tmx_network_view(const struct tmx_network *net, const double *node_k, size_t first, size_t n,
                      double *view_k);
void tmx_network_unview(const struct tmx_network *net, const double *view_k, double *node_k);

/* visit(ctx, kind, a, b, w_k) for every conductance between nodes. */
enum tmx_link_kind { TMX_LINK_EAST, TMX_LINK_SOUTH, TMX_LINK_UP, TMX_LINK_OTHER };
void tmx_network_each_link(const struct tmx_network *net,
                           void (*visit)(void *ctx, enum tmx_link_kind kind, size_t a, size_t b, double w_k),
                           void *ctx);

/* Private to the assemblers. */

/* Add a link of resistance_k_w between two nodes, which is stored where it belongs once sheet_of is made. */
void tmx_network_link(struct tmx_network *net, size_t a, size_t b, double resistance_k_w);
/* Coolant carries w_k [W/K] out of node `to` per kelvin of node `of`. */
void tmx_network_flow(struct tmx_network *net, size_t to, size_t of, double w_k);
/* The arrays of n_node, when it and the sheets are known. */
void tmx_network_alloc(struct tmx_network *net);

/* Conductivity k and heat capacity p [n_cell] of the cells of a layer, spreader and sink included. */
void tmx_network_materials(const struct tmx_network *net, const struct tmx_thermal_spec *spec, size_t layer,
                           double *k, double *p);

/* The other assembler: cells to the edges of spreader and sink, refined layers. Its part of
 * tmx_network_init, after maps and sizes are set. */
void tmx_physical_init(struct tmx_network *net, const struct tmx_thermal_spec *spec);

#endif

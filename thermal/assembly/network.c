/* SPDX-License-Identifier: GPL-3.0-or-later */
/* From a stack of layers to its RC network: the conductances between nodes, HotSpot's grid of cells with its
 * twelve package nodes and the secondary path below, and what everybody does with a network. The physical
 * network is the other assembler (physical.c).
 *
 * HotSpot's network (HotSpot 7, grid model). Letters: W, H die sides; s, S spreader and sink sides; R x Q
 * cells of dx = W/Q by dy = H/R and area a; t, k, p thickness, conductivity and heat capacity of a layer.
 * With theta = T - T_ambient,
 *
 *      C theta' + G theta = B P,   G = G_net + gamma diag(A),   gamma = 1 / (t_sink/k_sink + R_convec S^2)
 *
 * Nodes      every cell of every layer (the die's, the spreader's, the sink's; spreader and sink have cells
 *            only over the die), then twelve package nodes: W, E, N, S of the spreader beyond the die, of
 *            the inner and of the outer ring of the sink.
 * Links      between cells r_x = dx/(k dy t), r_y = dy/(k dx t); up and down r_z = t/(k a) of the layer that
 *            is farther from the sink, so a node lies on the far face of its layer. An edge cell and the ring
 *            beside it: half a cell and R or Q times the ring's own path, as (s-W)/4 / (k t (s+3H)/4).
 * Areas      of rings to the air (s+H)(s-W)/4 and (S^2-s^2)/4; of cells a. The air is reached by gamma times
 *            the area, so a fan's speed changes G by one number.
 * Capacity   0.333 p t a (HotSpot's factor); c_convec, the air's, is spread over the sink.
 * Powers     enter uniformly over a unit's area. A unit's temperature is the mean of its cells by covered
 *            area, or their mean, centre, least or largest, as grid_map_mode says.
 *
 * Cells of coolant (use_microchannels): a network of ducts gives the pressures, their differences the flows.
 * Coolant carries heat at the mean temperature of the cells on both sides of a face, and film coefficients
 * couple it to walls. The secondary path has five layers below the die and sixteen nodes for what extends
 * beyond it; its equations are at its functions below. */
#include <cs.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/cost.h"
#include "base/os.h"
#include "thermal/assembly/network.h"

void tmx_network_alloc(struct tmx_network *net)
{
    const size_t n = net->n_node;
    TMX_TAKE_REALS(&net->arena, n, &net->heat_j_k, &net->area_m2, &net->east_w_k, &net->south_w_k,
                   &net->up_w_k);
    if (net->n_sheet > 0) {
        TMX_TAKE(&net->scratch, net->sheet_of, n);
        net->arena.failed = net->arena.failed || net->scratch.failed;
    }
    for (size_t k = 0; k < net->n_sheet && !net->arena.failed; k++) {
        for (size_t c = 0; c < net->sheet[k].nx * net->sheet[k].ny; c++) {
            net->sheet_of[net->sheet[k].first + c] = (unsigned short)(k + 1);
        }
    }
}

void tmx_network_flow(struct tmx_network *net, size_t to, size_t of, double w_k)
{
    if (TMX_GROW(&net->arena, net->flow, net->n_flow)) {
        net->flow[net->n_flow++] = (struct tmx_conductance){to, of, w_k};
    }
}

void tmx_network_link(struct tmx_network *net, size_t from, size_t to, double resistance_k_w)
{
    const size_t a = from < to ? from : to, b = from < to ? to : from;
    const size_t k = net->sheet_of ? net->sheet_of[a] : 0, l = net->sheet_of ? net->sheet_of[b] : 0;
    const double w_k = 1.0 / resistance_k_w;
    if (k > 0 && l > 0) {
        const struct tmx_sheet *s = &net->sheet[k - 1], *t = &net->sheet[l - 1];
        const size_t own = a - s->first, step = b - a;
        const bool up =
            k <= net->n_on_chip && l <= net->n_on_chip && (k + 1 == l || l + 1 == k) && own == b - t->first;
        double *const at = k == l && step == 1 && own % s->nx + 1 < s->nx ? &net->east_w_k[a]
                           : k == l && step == s->nx                      ? &net->south_w_k[a]
                           : up                                           ? &net->up_w_k[k < l ? a : b]
                                                                          : NULL;
        if (at) {
            *at += w_k;
            return;
        }
    }
    if (TMX_GROW(&net->arena, net->link, net->n_link)) {
        net->link[net->n_link++] = (struct tmx_conductance){a, b, w_k};
    }
}

void tmx_network_each_link(const struct tmx_network *net,
                           void (*visit)(void *ctx, enum tmx_link_kind kind, size_t a, size_t b, double w_k),
                           void *ctx)
{
    for (size_t k = 0; k < net->n_sheet; k++) {
        const struct tmx_sheet *s = &net->sheet[k];
        for (size_t i = s->first; i < s->first + s->nx * s->ny; i++) {
            if (net->east_w_k[i] > 0) {
                visit(ctx, TMX_LINK_EAST, i, i + 1, net->east_w_k[i]);
            }
            if (net->south_w_k[i] > 0) {
                visit(ctx, TMX_LINK_SOUTH, i, i + s->nx, net->south_w_k[i]);
            }
            if (net->up_w_k[i] > 0) {
                visit(ctx, TMX_LINK_UP, i, s[1].first + i - s->first, net->up_w_k[i]);
            }
        }
    }
    for (size_t e = 0; e < net->n_link; e++) {
        visit(ctx, TMX_LINK_OTHER, net->link[e].a, net->link[e].b, net->link[e].w_k);
    }
}

/* Links of the cells on the edge of a layer of HotSpot's network to the ring node of each side, W,E,N,S from
 * node ring on: half a cell and this cell's share of the ring's conduction path. */
static void link_edge(struct tmx_network *net, size_t layer, double thickness_m, size_t ring, double side_m,
                      double k)
{
    const double W = net->width_m, H = net->height_m, t = thickness_m;
    const double dx = W / (double)net->cols, dy = H / (double)net->rows;
    const double path_x = (side_m - W) / 4 / (k * t * (side_m + 3 * H) / 4);
    const double path_y = (side_m - H) / 4 / (k * t * (side_m + 3 * W) / 4);
    const double to_x = 0.5 * dx / (k * dy * t) + (double)net->rows * path_x;
    const double to_y = 0.5 * dy / (k * dx * t) + (double)net->cols * path_y;
    const size_t cell = layer * net->n_cell;
    for (size_t j = 0; j < net->cols; j++) {
        tmx_network_link(net, cell + j, ring + 2, to_y);
        tmx_network_link(net, cell + (net->rows - 1) * net->cols + j, ring + 3, to_y);
    }
    for (size_t i = 0; i < net->rows; i++) {
        tmx_network_link(net, cell + i * net->cols, ring, to_x);
        tmx_network_link(net, cell + i * net->cols + net->cols - 1, ring + 1, to_x);
    }
}

static const double LUMPING = 0.333;        /* HotSpot's factor on every capacitance */
static const double SAME_M = 1e-6;          /* layers may differ by this much in extent (HotSpot) */
static const double NEXT_TO_NOTHING = 1e-9; /* of a node's heat, where it is to store none */
static const double OWN_PART = 0.95; /* a cell takes a unit's material from this covered part on (HotSpot) */

enum { BOARD, SOLDER, SUBSTRATE, BOARD_LAYERS }; /* of the stack, where there is a board */
enum { WEST, EAST, NORTH, SOUTH, SIDES };
enum { SPREADER = 0, INNER = SIDES, OUTER = 2 * SIDES }; /* first package node of each ring */

struct builder { /* scratch of tmx_network_init */
    const struct tmx_thermal_spec *spec;
    struct tmx_network *net;
    double *k, *p; /* [n_layer * n_cell] conductivity, heat capacity of each cell */
    double *t;     /* [n_layer] thickness */
    bool *lateral; /* [n_layer] */
    struct tmx_arena arena;
};

/* What HotSpot counts twice with detailed_3D: the whole of layer 0, all of the sink, and half of the film
 * between spreader and sink, too. */
static bool counts_twice(const struct tmx_thermal_spec *spec)
{
    return spec->detailed_3d && spec->hotspot_lateral;
}

void tmx_network_materials(const struct tmx_network *net, const struct tmx_thermal_spec *spec, size_t layer,
                           double *k, double *p)
{
    const struct tmx_package *pk = &spec->package;
    const struct tmx_layer *die = layer < spec->n_layer ? &spec->layer[layer] : NULL;
    const bool spreader = layer == spec->n_layer, physical = spec->network == TMX_NETWORK_PHYSICAL,
               detailed = die && spec->detailed_3d;
    for (size_t c = 0; c < net->n_cell; c++) {
        k[c] = die ? die->k_w_per_mk : spreader ? pk->k_spreader : pk->k_sink;
        p[c] = die ? die->p_j_per_m3k : spreader ? pk->p_spreader : pk->p_sink;
    }
    if (die && (die->filler_k_w_per_mk > 0 || (detailed && physical))) {
        tmx_gridmap_mix(&net->map[layer], die, k, p);
    } else if (detailed && !(spec->board && layer < BOARD_LAYERS)) {
        /* The material of every cell of a die layer: its units' own where it is given, as HotSpot has it.
         * The board has the die's floorplan, not its materials. */
        const struct tmx_gridmap *map = &net->map[layer];
        for (size_t c = 0; c < net->n_cell; c++) {
            k[c] = 0;
            p[c] = NAN; /* not yet owned by a unit */
        }
        for (size_t u = 0; u < map->n_unit; u++) {
            const struct tmx_unit *unit = &map->floorplan->unit[u];
            const double own_k =
                isnan(unit->resistivity_mk_per_w) ? die->k_w_per_mk : 1.0 / unit->resistivity_mk_per_w;
            const double own_p =
                isnan(unit->heat_capacity_j_per_m3k) ? die->p_j_per_m3k : unit->heat_capacity_j_per_m3k;
            for (size_t e = map->start[u]; e < map->start[u + 1]; e++) {
                const size_t c = map->cell[e];
                if (map->part[e] >= OWN_PART) {
                    k[c] = own_k;
                    p[c] = own_p;
                } else if (isnan(p[c])) {
                    k[c] += map->part[e] * own_k;
                }
            }
        }
        for (size_t c = 0; c < net->n_cell; c++) {
            p[c] = isnan(p[c]) ? die->p_j_per_m3k : p[c];
            k[c] = k[c] > 0 ? k[c] : die->k_w_per_mk; /* a cell no unit covers */
        }
    }
    for (size_t c = 0; die && spec->k_part && c < net->n_cell; c++) {
        k[c] *= spec->k_part[layer * net->n_cell + c];
    }
}

/* Is this a cell of coolant? */
static bool is_fluid(const struct builder *b, size_t layer, size_t cell)
{
    const struct tmx_channels *c = layer < b->spec->n_layer ? b->spec->layer[layer].channels : NULL;
    return c && c->cell[cell] != TMX_CELL_SOLID;
}

/* Link of two cells of this resistance; of coolant and solid, whose part is r_from or r_to [K/W], through
 * their film over an area. */
static void add_cells(struct builder *b, size_t from, size_t to, double resistance, double r_from,
                      double r_to, double area)
{
    const size_t n_cell = b->net->n_cell, l = from / n_cell, m = to / n_cell;
    const bool wet = is_fluid(b, l, from % n_cell), also = is_fluid(b, m, to % n_cell);
    if (wet != also) {
        const double film = 1 / (b->spec->layer[wet ? l : m].channels->h_top * area);
        resistance = film + (wet ? r_to : r_from);
    }
    tmx_network_link(b->net, from, to, resistance);
}

/* Cell-to-cell links: two half cells in series, which is one whole cell where both are
 * equal. Vertical ones of a uniform stack use the whole thickness of the layer farther
 * from the sink (its node lies on its far face), of a detailed one half of each. */
static void cell_links(struct builder *b)
{
    const struct tmx_network *net = b->net;
    const struct tmx_package *pk = &b->spec->package;
    const size_t rows = net->rows, cols = net->cols, n_cell = net->n_cell;
    const double dx = net->width_m / (double)cols, dy = net->height_m / (double)rows;
    const double east = b->spec->hotspot_lateral ? dy / dx : dx / dy; /* HotSpot exchanges the two */
    const double north = 1.0 / east;
    const bool twice = counts_twice(b->spec);
    const double film = twice ? pk->r_convec_k_per_w * pk->s_sink_m * pk->s_sink_m / (dx * dy) : 0;
    for (size_t l = 0; l < net->n_layer; l++) {
        const double *k = b->k + l * n_cell, t = b->t[l];
        for (size_t c = 0; c < n_cell; c++) {
            const size_t node = l * n_cell + c;
            const struct tmx_layer *die = l < b->spec->n_layer ? &b->spec->layer[l] : NULL;
            const double part_x = die && die->k_part_x > 0 ? die->k_part_x : 1;
            const double part_y = die && die->k_part_y > 0 ? die->k_part_y : 1;
            const double half_x = 0.5 * east / t / part_x, half_y = 0.5 * north / t / part_y;
            if (b->lateral[l] && (c + 1) % cols != 0) {
                add_cells(b, node, node + 1, half_x * (1.0 / k[c] + 1.0 / k[c + 1]), half_x / k[c],
                          half_x / k[c + 1], dy * t);
            }
            if (b->lateral[l] && c + cols < n_cell) {
                add_cells(b, node, node + cols, half_y * (1.0 / k[c] + 1.0 / k[c + cols]), half_y / k[c],
                          half_y / k[c + cols], dx * t);
            }
            if (l + 1 < net->n_layer) {
                const double own = t / (k[c] * dx * dy), to_film = l + 2 == net->n_layer ? film : 0;
                const double next = b->t[l + 1] / (k[c + n_cell] * dx * dy) + to_film;
                const double first = twice && l == 0 ? own : 0.5 * own;
                add_cells(b, node, node + n_cell,
                          !b->spec->detailed_3d ? own
                          : twice && l == 0     ? own + 0.5 * next
                                                : 0.5 * (own + next),
                          first, 0.5 * next, dx * dy);
            }
        }
    }
}

/* The 12 package nodes: ring to ring links, heat capacity, area towards the air; and the sink's film. */
static void package_nodes(struct builder *b)
{
    struct tmx_network *net = b->net;
    const struct tmx_package *pk = &b->spec->package;
    const double W = net->width_m, H = net->height_m, s = pk->s_spreader_m, S = pk->s_sink_m;
    const double t_sp = pk->t_spreader_m, t_hs = pk->t_sink_m, k_hs = pk->k_sink;
    const double air = LUMPING * pk->c_convec_j_per_k / (S * S), outer = (S * S - s * s) / 4;
    const double across = (S - s) / 4 / (k_hs * t_hs * (S + 3 * s) / 4);
    const bool halves = b->spec->detailed_3d && !counts_twice(b->spec); /* half cells in series */
    const double of_sink = halves ? 0.5 * t_hs / k_hs : 0;
    const double of_spreader = (halves ? 0.5 : 1.0) * t_sp / pk->k_spreader;
    const size_t first = net->n_layer * net->n_cell;
    net->sink_area_m2 = S * S;
    net->film_base_k = (halves ? 0.5 : 1.0) * t_hs / k_hs;
    for (size_t side = 0; side < SIDES; side++) {
        const bool x = side == WEST || side == EAST;
        const double along = x ? H : W, gap = x ? s - W : s - H;
        const double ring = (s + along) * gap / 4;
        const double in_sink = gap / 4 / (k_hs * t_hs * (3 * s + along) / 4);
        const size_t sp = first + SPREADER + side, in = first + INNER + side, out = first + OUTER + side;
        tmx_network_link(net, sp, in, (of_spreader + of_sink) / ring);
        tmx_network_link(net, in, out, in_sink + across);
        net->heat_j_k[sp] = LUMPING * pk->p_spreader * t_sp * ring;
        net->heat_j_k[in] = LUMPING * pk->p_sink * t_hs * ring + air * ring;
        net->heat_j_k[out] = LUMPING * pk->p_sink * t_hs * outer + air * outer;
        net->area_m2[in] = ring;
        net->area_m2[out] = outer;
    }
}

static enum tmx_status check(const struct tmx_thermal_spec *spec, struct tmx_err *err)
{
    const struct tmx_package *pk = &spec->package;
    const struct tmx_board *board = spec->board;
    const bool block = spec->network == TMX_NETWORK_BLOCK,
               physical = spec->network == TMX_NETWORK_PHYSICAL; /* its package may end where the die does */
    if (!block && (spec->rows < 2 || spec->cols < 2)) {
        return tmx_fail(err, TMX_ERANGE, "grid of %zu x %zu; at least 2 x 2 is needed", spec->rows,
                        spec->cols);
    }
    if (spec->n_layer == 0 || tmx_thermal_spec_units(spec) == 0) {
        return tmx_fail(err, TMX_ERANGE, "no block dissipates power");
    }
    const double W = tmx_thermal_spec_width_m(spec), H = tmx_thermal_spec_height_m(spec);
    /* what files/stack.c refuses with the key to blame: one die on its interface, a film below, a board that
     * carries what lies on it */
    if ((block &&
         (spec->rows != 1 || spec->n_layer != 2 || board || !spec->layer[0].dissipates ||
          spec->layer[1].floorplan != spec->layer[0].floorplan || spec->layer[0].filler_k_w_per_mk > 0)) ||
        (!physical && spec->r_below_k_per_w > 0) ||
        (board && (spec->n_layer < 4 || fmin(board->s_sub_m, board->s_solder_m) < fmax(W, H) ||
                   board->s_pcb_m < board->s_solder_m))) {
        return tmx_fail(err, TMX_ERANGE, "a block model, film or board that cannot be modelled");
    }
    const struct tmx_channels *one = NULL;
    for (size_t l = 0; l < spec->n_layer; l++) {
        const struct tmx_layer *layer = &spec->layer[l];
        const struct tmx_floorplan *fp = layer->floorplan;
        const double w = tmx_floorplan_width_m(fp), h = tmx_floorplan_height_m(fp);
        const bool filled = layer->filler_k_w_per_mk > 0;
        if (w - W > SAME_M || h - H > SAME_M || (!filled && (W - w > SAME_M || H - h > SAME_M))) {
            return tmx_fail_at(err, TMX_ERANGE, fp->source, 0,
                               "layer %zu is %g x %g mm, the stack is %g x %g mm; layers must be equal, but "
                               "for those with a filler",
                               l, 1e3 * w, 1e3 * h, 1e3 * W, 1e3 * H);
        }
        if (layer->k_part_x > 0 && (block || board)) {
            return tmx_fail(err, TMX_ERANGE,
                            "layer %zu: conductivities that differ by direction are not of %s", l,
                            block ? "the block model" : "a stack with a board (model_secondary)");
        }
        const struct tmx_channels *c = layer->channels;
        const bool mapped = c && c->kind == TMX_CHANNELS_MAPPED, below = l > 0 && spec->layer[l - 1].channels;
        const char *fault = !c         ? NULL
                            : mapped   ? physical ? "mapped channels are of HotSpot's network" : NULL
                            : physical ? NULL
                                       : "channels need the physical network";
        fault = fault || !c         ? fault
                : layer->dissipates ? "a layer of channels cannot dissipate power"
                : below             ? "channels lie on channels: a layer must be between them"
                : l == 0 && spec->r_below_k_per_w > 0
                    ? "channels have nothing below, so a film below them has no face (r_below)"
                : one && one->inlet_k != c->inlet_k
                    ? "its coolant enters at another temperature than that of the layers before"
                : c->kind == TMX_CHANNELS_RESOLVED && (!spec->col_line_m || spec->cols % 2 == 0)
                    ? "resolved channels need columns that end at their walls"
                    : NULL;
        if (fault) {
            return tmx_fail(err, TMX_ERANGE, "layer %zu: %s", l, fault);
        }
        one = c ? c : one;
    }
    if (physical && (board || spec->hotspot_lateral)) {
        return tmx_fail(err, TMX_ERANGE, "the physical network %s",
                        board ? "has no secondary path (model_secondary)"
                              : "does not exchange lateral resistances");
    }
    if (physical ? fmax(W, H) > pk->s_spreader_m + SAME_M : fmax(W, H) >= pk->s_spreader_m) {
        return tmx_fail(err, TMX_ERANGE, "die of %g x %g mm is not smaller than the spreader of %g mm",
                        1e3 * W, 1e3 * H, 1e3 * pk->s_spreader_m);
    }
    if (physical ? pk->s_spreader_m > pk->s_sink_m + SAME_M : pk->s_spreader_m >= pk->s_sink_m) {
        return tmx_fail(err, TMX_ERANGE, "spreader of %g mm is not smaller than the sink of %g mm",
                        1e3 * pk->s_spreader_m, 1e3 * pk->s_sink_m);
    }
    if (4.0 * ((double)spec->n_layer + 2) * (double)spec->rows * (double)spec->cols > 1e8) {
        return tmx_fail(err, TMX_ERANGE, "grid of %zu x %zu x %zu layers is too large", spec->rows,
                        spec->cols, spec->n_layer);
    }
    return TMX_OK;
}

/* The secondary heat path of HotSpot's grid model. Layers 0, 1, 2 are board, solder balls and substrate,
 * gridded over the die; what of them lies beyond its edge is W,E,N,S nodes of substrate, solder, and an inner
 * and an outer ring of the board. With b the solder's side, B the board's, H the die's other side,
 * A = (b+H)(b-W)/4:
 *
 *   edge cells to rings   as the spreader's (link_edge), the board's inner ring as wide as the solder
 *   substrate to solder   t_solder / (k_solder A)
 *   solder to board       t_board / (k_board A)
 *   inner to outer ring   (b-W)/4 / (k t (3b+H)/4) + (B-b)/4 / (k t (B+3b)/4)
 *   board to air          R B^2 / area, for cells, inner ring (A) and outer ring ((B^2-b^2)/4)
 *
 * Source: HotSpot 7's grid model; its capacities are 0.333 p t area. */

enum { AT_SUBSTRATE = 0, AT_SOLDER = SIDES, BOARD_INNER = 2 * SIDES, BOARD_OUTER = 3 * SIDES };

static void board_init(struct tmx_network *net, const struct tmx_thermal_spec *spec)
{
    const struct tmx_board *board = spec->board;
    const double side_m[BOARD_LAYERS] = {board->s_solder_m, board->s_solder_m, board->s_sub_m};
    static const size_t rings[BOARD_LAYERS] = {BOARD_INNER, AT_SOLDER, AT_SUBSTRATE};
    const struct tmx_layer *pcb = &spec->layer[BOARD], *solder = &spec->layer[SOLDER],
                           *sub = &spec->layer[SUBSTRATE];
    const double W = net->width_m, H = net->height_m, b = board->s_solder_m, B = board->s_pcb_m;
    const double air = LUMPING * board->c_convec_j_per_k / (B * B),
                 film = 1 / (board->r_convec_k_per_w * B * B);
    const double outer = (B * B - b * b) / 4, sheet = pcb->k_w_per_mk * pcb->thickness_m;
    const double stores = LUMPING * (board->quasi_static ? NEXT_TO_NOTHING : 1);
    const size_t first = net->n_layer * net->n_cell + TMX_PACKAGE_NODES;
    TMX_TAKE(&net->arena, net->ground_w_k, net->n_node);
    for (size_t c = 0; c < net->n_cell && net->ground_w_k; c++) {
        net->ground_w_k[c] = film * W * H / (double)net->n_cell;
    }
    for (size_t l = 0; l < BOARD_LAYERS; l++) {
        link_edge(net, l, spec->layer[l].thickness_m, first + rings[l], side_m[l], spec->layer[l].k_w_per_mk);
    }
    for (size_t side = 0; side < SIDES && net->ground_w_k; side++) {
        const bool x = side < 2; /* W, E */
        const double along = x ? H : W, across = x ? W : H;
        const double ring = (b + along) * (b - across) / 4;
        const double beside = (board->s_sub_m + along) * (board->s_sub_m - across) / 4;
        const double out =
            (b - across) / 4 / (sheet * (3 * b + along) / 4) + (B - b) / 4 / (sheet * (B + 3 * b) / 4);
        const size_t su = first + AT_SUBSTRATE + side, so = first + AT_SOLDER + side,
                     in = first + BOARD_INNER + side, to = first + BOARD_OUTER + side;
        tmx_network_link(net, su, so, solder->thickness_m / (solder->k_w_per_mk * ring));
        tmx_network_link(net, so, in, pcb->thickness_m / (pcb->k_w_per_mk * ring));
        tmx_network_link(net, in, to, out);
        net->ground_w_k[in] = film * ring;
        net->ground_w_k[to] = film * outer;
        net->heat_j_k[su] = stores * sub->p_j_per_m3k * sub->thickness_m * beside;
        net->heat_j_k[so] = stores * solder->p_j_per_m3k * solder->thickness_m * ring;
        net->heat_j_k[in] = stores * (pcb->p_j_per_m3k * pcb->thickness_m + air / LUMPING) * ring;
        net->heat_j_k[to] = stores * (pcb->p_j_per_m3k * pcb->thickness_m + air / LUMPING) * outer;
    }
}

/* ---- Coolant in some of a layer's cells (HotSpot's micro-channels): the pressures that drive it, its flow
 * from cell to cell, and the heat that this carries. ---- */

/* Pressures [Pa] of the n cells of coolant, numbered at[cell]: a network of its own, whose ground is the
 * outlets, and inlets at the pump. */
static enum tmx_status find_pressures(const struct tmx_network *net, const struct tmx_channels *c,
                                      double per_pa, const size_t *at, size_t n, double *pressure,
                                      struct tmx_err *err)
{
    static const double STIFF = 1e9; /* of a link to what has a pressure, in links */
    cs *t = cs_spalloc((int)n, (int)n, (int)(7 * n), 1, 1), *a = NULL;
    int ok = t != NULL;
    for (size_t cell = 0; cell < net->n_cell && ok; cell++) {
        const size_t next[2] = {cell + 1, cell + net->cols};
        const bool has[2] = {next[0] % net->cols != 0, next[1] < net->n_cell};
        const int i = (int)at[cell];
        if (c->cell[cell] == TMX_CELL_SOLID) {
            continue;
        }
        for (size_t k = 0; k < 2 && ok; k++) {
            if (has[k] && c->cell[next[k]] != TMX_CELL_SOLID) {
                const int j = (int)at[next[k]];
                ok = cs_entry(t, i, i, 1) && cs_entry(t, j, j, 1) && cs_entry(t, i, j, -1) &&
                     cs_entry(t, j, i, -1);
            }
        }
        const bool in = c->cell[cell] == TMX_CELL_INLET;
        const double r = in ? c->pump_pa_s_per_m3 * per_pa : 0, to = r > 1 / STIFF ? 1 / r : STIFF;
        pressure[i] = in ? c->pressure_pa * to : 0;
        ok = ok && (c->cell[cell] == TMX_CELL_FLUID || cs_entry(t, i, i, to));
    }
    a = ok ? cs_compress(t) : NULL;
    ok = a && cs_dupl(a) && cs_cholsol(1, a, pressure);
    cs_spfree(t);
    cs_spfree(a);
    return ok ? TMX_OK : tmx_fail(err, TMX_ESOLVE, "pressures in %zu cells of coolant", n);
}

static enum tmx_status coolant_init(const struct builder *b, struct tmx_err *err)
{
    struct tmx_network *net = b->net;
    const struct tmx_thermal_spec *spec = b->spec;
    struct tmx_arena scratch = {0};
    enum tmx_status st = TMX_OK;
    for (size_t l = 0; l < spec->n_layer && !st; l++) {
        const struct tmx_channels *c = spec->layer[l].channels;
        if (!c) {
            continue;
        }
        /* Flow [m3/s] per pascal between two cells of coolant: developed flow in a rectangular duct as wide
         * as a cell, to first order in its sides' ratio. Source: H. Bruus, "Theoretical microfluidics", 2008,
         * eq. 3.58; HotSpot takes a cell's height for the length in both directions. */
        const double w = net->width_m / (double)net->cols, length = net->height_m / (double)net->rows;
        const double low = fmin(w, b->t[l]), high = fmax(w, b->t[l]);
        const double shape = w == b->t[l] ? 0.42229 : 1 - 0.63 * low / high; /* of a square: all terms */
        const double per_pa = shape * low * low * low * high / (12 * c->viscosity_pa_s * length);
        const size_t first = l * net->n_cell;
        size_t *at, n = 0;
        double *pressure;
        net->inlet_k = c->inlet_k; /* of all alike */
        if (!net->inflow_w_k) {
            TMX_TAKE(&net->arena, net->inflow_w_k, net->n_node);
        }
        TMX_TAKE(&scratch, at, net->n_cell);
        TMX_TAKE(&scratch, pressure, net->n_cell);
        st = net->arena.failed || scratch.failed ? tmx_no_memory(err) : TMX_OK;
        for (size_t cell = 0; cell < net->n_cell && !st; cell++) {
            at[cell] = n;
            n += c->cell[cell] != TMX_CELL_SOLID;
        }
        st = st ? st : find_pressures(net, c, per_pa, at, n, pressure, err);
        for (size_t link = 0; link < 2 * net->n_cell && !st; link++) { /* to the next one along x and y */
            const size_t cell = link / 2, next = cell + (link % 2 ? net->cols : 1);
            if ((link % 2 ? next >= net->n_cell : next % net->cols == 0) || c->cell[cell] == TMX_CELL_SOLID ||
                c->cell[next] == TMX_CELL_SOLID) {
                continue;
            }
            const double w_k = c->p_j_per_m3k * per_pa * (pressure[at[cell]] - pressure[at[next]]);
            const size_t node = first + cell, to = first + next;
            if (w_k != 0) { /* half of the heat that coolant carries counts with the temperature of each */
                tmx_network_flow(net, node, node, 0.5 * w_k);
                tmx_network_flow(net, node, to, 0.5 * w_k);
                tmx_network_flow(net, to, node, -0.5 * w_k);
                tmx_network_flow(net, to, to, -0.5 * w_k);
            }
            for (size_t k = 0; k < 2; k++) { /* what an inlet gives comes in, what an outlet gets goes out */
                const double leaves = k == 0 ? w_k : -w_k;
                const size_t end = k == 0 ? cell : next;
                if (c->cell[end] == TMX_CELL_INLET) {
                    net->inflow_w_k[first + end] += leaves;
                } else if (c->cell[end] == TMX_CELL_OUTLET) {
                    tmx_network_flow(net, first + end, first + end, -leaves);
                }
            }
        }
        tmx_arena_finish(&scratch);
    }
    return st;
}

/* HotSpot's network: one sheet of cells a layer, twelve package nodes. */
static enum tmx_status hotspot_init(struct builder *b, struct tmx_err *err)
{
    struct tmx_network *net = b->net;
    const struct tmx_package *pk = &b->spec->package;
    cell_links(b);
    const size_t spreader = net->n_layer - 2, sink = net->n_layer - 1, rings = net->n_layer * net->n_cell;
    link_edge(net, spreader, pk->t_spreader_m, rings + SPREADER, pk->s_spreader_m, pk->k_spreader);
    link_edge(net, sink, pk->t_sink_m, rings + INNER, pk->s_spreader_m, pk->k_sink);
    if (b->spec->board) {
        board_init(net, b->spec);
    }
    package_nodes(b);
    const double a = net->width_m * net->height_m / (double)net->n_cell;
    for (size_t node = 0; node < net->n_layer * net->n_cell; node++) {
        net->heat_j_k[node] = LUMPING * b->p[node] * b->t[node / net->n_cell] * a;
        if (b->spec->board && node < net->n_cell) {
            const struct tmx_board *board = b->spec->board;
            net->heat_j_k[node] += LUMPING * board->c_convec_j_per_k * a / (board->s_pcb_m * board->s_pcb_m);
        }
        if (node >= sink * net->n_cell) {
            net->heat_j_k[node] += LUMPING * pk->c_convec_j_per_k * a / (pk->s_sink_m * pk->s_sink_m);
            net->area_m2[node] = a;
        }
    }
    return coolant_init(b, err);
}

/* ---- HotSpot's block model ---- */

/* Two blocks share an edge of length e: each gives half of its resistance across the edge, over e alone.
 * Blocks on the die's edge divide the path to their side's package node by their conductances. All else is as
 * on the grid, with a block for a cell. */

/* Length [m] of the edge that two units share, across x or y; HotSpot's tolerance of a micrometre. */
static double shared_edge(const struct tmx_unit *u, const struct tmx_unit *v, bool across_x)
{
    const double u0 = across_x ? u->x_m : u->y_m, u1 = u0 + (across_x ? u->w_m : u->h_m);
    const double v0 = across_x ? v->x_m : v->y_m, v1 = v0 + (across_x ? v->w_m : v->h_m);
    const double a0 = across_x ? u->y_m : u->x_m, a1 = a0 + (across_x ? u->h_m : u->w_m);
    const double b0 = across_x ? v->y_m : v->x_m, b1 = b0 + (across_x ? v->h_m : v->w_m);
    const double e = fmin(a1, b1) - fmax(a0, b0);
    return (fabs(u1 - v0) < SAME_M || fabs(v1 - u0) < SAME_M) && e > SAME_M ? e : 0;
}

/* Heat that a block conducts to one of its edges [W/K], across x or y. */
static double to_edge(const struct tmx_unit *u, bool across_x, double kt)
{
    return across_x ? kt * u->h_m / (0.5 * u->w_m) : kt * u->w_m / (0.5 * u->h_m);
}

static bool on_side(const struct tmx_network *net, const struct tmx_unit *u, size_t side)
{
    const double off = side == WEST    ? u->x_m
                       : side == EAST  ? u->x_m + u->w_m - net->width_m
                       : side == NORTH ? u->y_m + u->h_m - net->height_m
                                       : u->y_m;
    return fabs(off) < SAME_M;
}

/* From the blocks on a side of a layer to the package node of that side. */
static void block_ring(struct builder *b, size_t layer, size_t side, size_t ring, double side_m, double kt)
{
    const struct tmx_network *net = b->net;
    const struct tmx_floorplan *fp = b->spec->layer[0].floorplan;
    const bool x = side == WEST || side == EAST;
    const double die = x ? net->width_m : net->height_m, along = x ? net->height_m : net->width_m;
    const double path = (side_m - die) / 4 / (kt * (side_m + 3 * along) / 4);
    double all = 0;
    for (size_t u = 0; u < fp->n_unit; u++) {
        all += on_side(net, &fp->unit[u], side) ? to_edge(&fp->unit[u], x, kt) : 0;
    }
    for (size_t u = 0; u < fp->n_unit; u++) {
        if (on_side(net, &fp->unit[u], side)) {
            const double g = to_edge(&fp->unit[u], x, kt);
            tmx_network_link(b->net, layer * net->n_cell + u, ring + side, 1 / g + path * all / g);
        }
    }
}

static enum tmx_status block_init(struct builder *b)
{
    struct tmx_network *net = b->net;
    const struct tmx_thermal_spec *spec = b->spec;
    const struct tmx_package *pk = &spec->package;
    const struct tmx_floorplan *fp = spec->layer[0].floorplan;
    const size_t n = fp->n_unit, rings = net->n_layer * n;
    for (size_t l = 0; l < net->n_layer; l++) {
        const double k = b->k[l * n], kt = k * b->t[l];
        for (size_t u = 0; u < n; u++) {
            const struct tmx_unit *unit = &fp->unit[u];
            const double area = tmx_unit_area_m2(unit);
            for (size_t v = u + 1; v < n && (l > 0 || !spec->omit_lateral); v++) {
                const double ex = shared_edge(unit, &fp->unit[v], true),
                             ey = shared_edge(unit, &fp->unit[v], false);
                if (ex > 0 || ey > 0) {
                    tmx_network_link(net, l * n + u, l * n + v,
                                     ex > 0 ? 0.5 * (unit->w_m + fp->unit[v].w_m) / (kt * ex)
                                            : 0.5 * (unit->h_m + fp->unit[v].h_m) / (kt * ey));
                }
            }
            if (l + 1 < net->n_layer) {
                tmx_network_link(net, l * n + u, (l + 1) * n + u, b->t[l] / (k * area));
            } else {
                net->area_m2[l * n + u] = area;
            }
            const double air =
                l + 1 < net->n_layer ? 0 : pk->c_convec_j_per_k / (pk->s_sink_m * pk->s_sink_m);
            net->heat_j_k[l * n + u] = LUMPING * (b->p[l * n] * b->t[l] + air) * area;
        }
    }
    for (size_t side = 0; side < SIDES; side++) {
        block_ring(b, 2, side, rings + SPREADER, pk->s_spreader_m, pk->k_spreader * pk->t_spreader_m);
        block_ring(b, 3, side, rings + INNER, pk->s_spreader_m, pk->k_sink * pk->t_sink_m);
    }
    package_nodes(b);
    return TMX_OK;
}

/* Measured on grids of 64 x 64 to 256 x 256 with four layers. */
enum tmx_status tmx_network_check_cost(const struct tmx_network *net, bool reduce, struct tmx_err *err)
{
    const double n = (double)net->n_node;
    const struct tmx_cost cost = {.seconds = (reduce ? 150e-6 : 1e-6) * n,
                                  .bytes = (reduce ? 4.5e3 : 400) * n};
    return tmx_cost_check(cost, err, "a thermal network of %zu nodes (grid %zu x %zu, %zu layers)",
                          net->n_node, net->rows, net->cols, net->n_layer);
}

enum tmx_status tmx_network_init(struct tmx_network *net, const struct tmx_thermal_spec *spec,
                                 struct tmx_err *err)
{
    struct builder b = {.spec = spec, .net = net};
    *net = (struct tmx_network){.vectors = TMX_ISA_OF(&tmx_vectors_any, &tmx_vectors_v3, &tmx_vectors_v4)};
    enum tmx_status st = check(spec, err);
    if (st) {
        return st;
    }
    net->rows = spec->rows;
    net->cols = spec->cols;
    net->n_cell = spec->rows * spec->cols;
    net->n_layer = spec->n_layer + 2;
    net->n_package = TMX_PACKAGE_NODES + (spec->board ? TMX_BOARD_NODES : 0);
    net->n_view = net->n_layer * net->n_cell + net->n_package;
    net->width_m = tmx_thermal_spec_width_m(spec);
    net->height_m = tmx_thermal_spec_height_m(spec);
    net->mode = spec->map_mode;
    TMX_TAKE(&net->arena, net->map, net->n_layer);
    TMX_TAKE(&net->arena, net->first_unit, net->n_layer + 1);
    st = net->arena.failed ? TMX_OK : tmx_gridmap_layers(net->map, spec, err);
    for (size_t l = 0; l < net->n_layer && !st && !net->arena.failed; l++) {
        const bool heats = l < spec->n_layer && spec->layer[l].dissipates;
        net->first_unit[l + 1] = net->first_unit[l] + (heats ? net->map[l].n_unit : 0);
        net->n_unit = net->first_unit[l + 1];
    }
    if (!st && !net->arena.failed && spec->network == TMX_NETWORK_PHYSICAL) {
        tmx_physical_init(net, spec);
    } else if (!st && !net->arena.failed) {
        const bool grid = spec->network == TMX_NETWORK_HOTSPOT;
        TMX_TAKE(&net->arena, net->sheet, grid ? net->n_layer : 0);
        for (; net->n_sheet < net->n_layer && grid && net->sheet; net->n_sheet++) {
            net->sheet[net->n_sheet] = (struct tmx_sheet){net->n_sheet * net->n_cell, net->cols, net->rows};
        }
        net->n_on_chip = net->n_sheet;
        TMX_TAKE_REALS(&b.arena, net->n_layer * net->n_cell, &b.k, &b.p);
        TMX_TAKE(&b.arena, b.t, net->n_layer);
        TMX_TAKE(&b.arena, b.lateral, net->n_layer);
        net->n_node = net->n_view;
        tmx_network_alloc(net);
        net->arena.failed = net->arena.failed || b.arena.failed;
        if (!net->arena.failed) {
            for (size_t l = 0; l < net->n_layer; l++) {
                const struct tmx_layer *die = l < spec->n_layer ? &spec->layer[l] : NULL;
                b.t[l] = die                  ? die->thickness_m
                         : l == spec->n_layer ? spec->package.t_spreader_m
                                              : spec->package.t_sink_m;
                b.lateral[l] =
                    !die || die->lateral || counts_twice(spec); /* which HotSpot does not ask then */
                tmx_network_materials(net, spec, l, b.k + l * net->n_cell, b.p + l * net->n_cell);
            }
            st = grid ? hotspot_init(&b, err) : block_init(&b);
        }
    }
    for (size_t l = 0; net->map && l < net->n_layer; l++) {
        net->map[l].floorplan = NULL; /* the network outlives the spec */
    }
    tmx_arena_finish(&b.arena);
    tmx_arena_finish(&net->scratch);
    net->sheet_of = NULL;
    return st || !net->arena.failed ? st : tmx_fail(err, TMX_ENOMEM, "network of %zu nodes", net->n_node);
}

void tmx_network_finish(struct tmx_network *net)
{
    for (size_t l = 0; net->map && l < net->n_layer; l++) {
        tmx_gridmap_finish(&net->map[l]);
    }
    tmx_arena_finish(&net->arena);
    *net = (struct tmx_network){0};
}

double tmx_network_gamma(const struct tmx_network *net, double r_convec_k_per_w)
{
    return 1.0 / (net->film_base_k + r_convec_k_per_w * net->sink_area_m2);
}

double tmx_network_leaving(const struct tmx_network *net, double gamma, double flow, const double *theta_k)
{
    double sum = 0, board = 0;
    for (size_t c = 0; c < net->n_node; c++) {
        sum += net->area_m2[c] * theta_k[c];
    }
    for (size_t c = 0; c < net->n_node && net->ground_w_k; c++) {
        board += net->ground_w_k[c] * theta_k[c];
    }
    for (size_t e = 0; e < net->n_flow; e++) {
        board += flow * net->flow[e].w_k * theta_k[net->flow[e].b];
    }
    return gamma * sum + board;
}

double tmx_network_brought(const struct tmx_network *net, double flow, double theta_inlet_k)
{
    double w = 0;
    for (size_t c = 0; c < net->n_node && net->inflow_w_k; c++) {
        w += flow * net->inflow_w_k[c] * theta_inlet_k;
    }
    return w;
}

double tmx_network_transit_s(const struct tmx_network *net, double flow)
{
    double heat_j_k = 0;
    for (size_t e = 0; e < net->n_flow; e++) {
        heat_j_k += net->heat_j_k[net->flow[e].a];
    }
    return heat_j_k / tmx_network_brought(net, flow, 1);
}

size_t tmx_network_hottest_coolant(const struct tmx_network *net, const double *theta_k)
{
    size_t node = SIZE_MAX;
    for (size_t e = 0; e < net->n_flow; e++) {
        const size_t wet = net->flow[e].a;
        /* of nodes that are equal but for rounding the first */
        node = node == SIZE_MAX || theta_k[wet] > theta_k[node] + 1e-6 * fabs(theta_k[node]) ? wet : node;
    }
    return node;
}

void tmx_network_boils(const struct tmx_network *net, size_t node, double hottest_k, double limit_k,
                       char *text, size_t size)
{
    const size_t cell = node % net->n_cell, i = cell / net->cols, j = cell % net->cols;
    snprintf(
        text, size,
        "coolant boils: it reaches %.2f K in layer %zu, about %.3g mm from the west and %.3g mm from the "
        "south edge; the limit is %.2f K (coolant_limit)",
        hottest_k, node / net->n_cell, 1e3 * net->width_m * ((double)j + 0.5) / (double)net->cols,
        1e3 * net->height_m * (1 - ((double)i + 0.5) / (double)net->rows), limit_k);
}

void tmx_network_spread_power(const struct tmx_network *net, const double *power_w, double *node_w)
{
    for (size_t l = 0; l < net->n_layer; l++) {
        if (net->first_unit[l + 1] > net->first_unit[l]) {
            tmx_gridmap_spread_power(&net->map[l], power_w + net->first_unit[l], node_w + l * net->n_cell);
        }
    }
}

void tmx_network_read(const struct tmx_network *net, const double *node_k, double *unit_k)
{
    for (size_t l = 0; l < net->n_layer; l++) {
        if (net->first_unit[l + 1] > net->first_unit[l]) {
            tmx_gridmap_read(&net->map[l], net->mode, node_k + l * net->n_cell, unit_k + net->first_unit[l]);
        }
    }
}

/* What cells [from, to) of a sheet of n give to the cells `step` behind them and before. By differences of
 * temperatures: what goes to ground is not lost in the rounding of what goes sideways. */
static void gain_along(const struct tmx_vectors *v, size_t from, size_t to, size_t n, size_t step,
                       const double *w_k, const double *t, double *y)
{
    const size_t end = to < n - step ? to : n - step, begin = from > step ? from : step;
    if (end > from) {
        v->gain(end - from, w_k + from, t + from, t + from + step, y + from);
    }
    if (to > begin) {
        v->gain(to - begin, w_k + begin - step, t + begin, t + begin - step, y + begin);
    }
}

enum { PIECE = 1024 }; /* cells */

void tmx_network_apply(const struct tmx_network *net, double gamma, double sigma, const double *x, double *y)
{
    const struct tmx_vectors *v = net->vectors;
    for (size_t c = 0; c < net->n_node; c++) {
        y[c] = (gamma * net->area_m2[c] + sigma * net->heat_j_k[c]) * x[c];
    }
    for (size_t c = 0; c < net->n_node && net->ground_w_k; c++) {
        y[c] += net->ground_w_k[c] * x[c];
    }
    for (size_t k = 0; k < net->n_sheet; k++) {
        const size_t nx = net->sheet[k].nx, n = nx * net->sheet[k].ny, first = net->sheet[k].first;
        const double *t = x + first, *up = net->up_w_k + first;
        double *own = y + first;
        for (size_t from = 0, to; from < n; from = to) { /* pieces stay in the cache from side to side */
            to = n - from < PIECE ? n : from + PIECE;
            if (k > 0 && k < net->n_on_chip) {
                const size_t below = net->sheet[k - 1].first + from;
                v->gain(to - from, net->up_w_k + below, t + from, x + below, own + from);
            }
            gain_along(v, from, to, n, 1, net->east_w_k + first, t, own);
            gain_along(v, from, to, n, nx, net->south_w_k + first, t, own);
            if (k + 1 < net->n_on_chip) {
                v->gain(to - from, up + from, t + from, x + net->sheet[k + 1].first + from, own + from);
            }
        }
    }
    for (size_t e = 0; e < net->n_link; e++) {
        const struct tmx_conductance *l = &net->link[e];
        const double w = l->w_k * (x[l->a] - x[l->b]);
        y[l->a] += w;
        y[l->b] -= w;
    }
}

void tmx_network_carry(const struct tmx_network *net, bool transposed, const double *x, double *y)
{
    memset(y, 0, net->n_node * sizeof *y);
    for (size_t e = 0; e < net->n_flow; e++) {
        const struct tmx_conductance *f = &net->flow[e];
        y[transposed ? f->b : f->a] += f->w_k * x[transposed ? f->a : f->b];
    }
}

void tmx_network_view(const struct tmx_network *net, const double *node_k, size_t first, size_t n,
                      double *view_k)
{
    const size_t plain = net->view_start ? (net->n_layer - 2) * net->n_cell : net->n_view;
    for (size_t v = 0; v < n; v++) {
        const size_t row = first + v;
        if (row < plain) {
            view_k[v] = node_k[row];
            continue;
        }
        view_k[v] = 0;
        for (size_t e = net->view_start[row - plain]; e < net->view_start[row - plain + 1]; e++) {
            view_k[v] += net->view_part[e] * node_k[net->view_node[e]];
        }
    }
}

void tmx_network_unview(const struct tmx_network *net, const double *view_k, double *node_k)
{
    if (!net->view_start) {
        memcpy(node_k, view_k, net->n_node * sizeof *node_k);
        return;
    }
    const size_t plain = (net->n_layer - 2) * net->n_cell;
    memset(node_k, 0, net->n_node * sizeof *node_k);
    memcpy(node_k, view_k, plain * sizeof *node_k);
    for (size_t row = plain; row < net->n_view; row++) {
        for (size_t e = net->view_start[row - plain]; e < net->view_start[row - plain + 1]; e++) {
            node_k[net->view_node[e]] += net->view_back[e] * view_k[row];
        }
    }
    for (size_t node = plain; node < net->n_node; node++) {
        if (net->twin[node] != node) {
            node_k[node] = node_k[net->twin[node]];
        }
    }
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The secondary heat path of HotSpot's grid model: layers 0, 1, 2 are board, solder balls and substrate,
 * gridded over the die; what of them lies beyond its edge is W,E,N,S nodes of substrate, solder, and an inner
 * and an outer ring of the board. With b the solder's side, B the board's, H the die's other side: edge cells
 * to rings     as the spreader's (links.h), the board's inner ring as wide as the solder substrate to solder
 * t_solder / (k_solder A),  solder to board  t_board / (k_board A),  A = (b+H)(b-W)/4 inner to outer ring
 * (b-W)/4 / (k t (3b+H)/4) + (B-b)/4 / (k t (B+3b)/4) board to air            R B^2 / area, for cells, inner
 * ring (A) and outer ring ((B^2-b^2)/4) Source: HotSpot 7's grid model; its capacities are 0.333 p t area. */
#include <stdlib.h>

#include "thermal/network/conductances.h"

static const double LUMPING = 0.333;        /* HotSpot's factor on every capacitance */
static const double NEXT_TO_NOTHING = 1e-9; /* of a node's heat, where it is to store none */

enum { BOARD, SOLDER, SUBSTRATE, LAYERS };                                  /* of the stack */
enum { AT_SUBSTRATE = 0, AT_SOLDER = 4, INNER = 8, OUTER = 12, SIDES = 4 }; /* nodes */

static enum tmx_status edges(struct tmx_network *net, const struct tmx_thermal_spec *spec,
                             struct tmx_conductances *links, size_t first, struct tmx_err *err)
{
    const double side_m[LAYERS] = {spec->board->s_solder_m, spec->board->s_solder_m, spec->board->s_sub_m};
    static const size_t ring[LAYERS] = {INNER, AT_SOLDER, AT_SUBSTRATE};
    enum tmx_status st = TMX_OK;
    for (size_t l = 0; l < LAYERS && !st; l++) {
        st = tmx_conductances_edge(links, net, l, spec->layer[l].thickness_m, first + ring[l], side_m[l],
                                   spec->layer[l].k_w_per_mk, err);
    }
    return st;
}

enum tmx_status tmx_board_init(struct tmx_network *net, const struct tmx_thermal_spec *spec,
                               struct tmx_conductances *links, struct tmx_err *err)
{
    const struct tmx_board *board = spec->board;
    const struct tmx_layer *pcb = &spec->layer[BOARD], *solder = &spec->layer[SOLDER],
                           *sub = &spec->layer[SUBSTRATE];
    const double W = net->width_m, H = net->height_m, b = board->s_solder_m, B = board->s_pcb_m;
    const double air = LUMPING * board->c_convec_j_per_k / (B * B),
                 film = 1 / (board->r_convec_k_per_w * B * B);
    const double outer = (B * B - b * b) / 4, sheet = pcb->k_w_per_mk * pcb->thickness_m;
    const double stores = LUMPING * (board->quasi_static ? NEXT_TO_NOTHING : 1);
    const size_t first = net->n_layer * net->n_cell + TMX_PACKAGE_NODES;
    net->ground_w_k = calloc(net->n_node, sizeof *net->ground_w_k);
    if (!net->ground_w_k) {
        return tmx_fail(err, TMX_ENOMEM, "network of %zu nodes", net->n_node);
    }
    for (size_t c = 0; c < net->n_cell; c++) {
        net->ground_w_k[c] = film * W * H / (double)net->n_cell;
    }
    enum tmx_status st = edges(net, spec, links, first, err);
    for (size_t side = 0; side < SIDES && !st; side++) {
        const bool x = side < 2; /* W, E */
        const double along = x ? H : W, across = x ? W : H;
        const double ring = (b + along) * (b - across) / 4;
        const double beside = (board->s_sub_m + along) * (board->s_sub_m - across) / 4;
        const double out =
            (b - across) / 4 / (sheet * (3 * b + along) / 4) + (B - b) / 4 / (sheet * (B + 3 * b) / 4);
        const size_t su = first + AT_SUBSTRATE + side, so = first + AT_SOLDER + side,
                     in = first + INNER + side, to = first + OUTER + side;
        st = tmx_conductances_add(links, su, so, solder->thickness_m / (solder->k_w_per_mk * ring), err);
        st = st ? st : tmx_conductances_add(links, so, in, pcb->thickness_m / (pcb->k_w_per_mk * ring), err);
        st = st ? st : tmx_conductances_add(links, in, to, out, err);
        net->ground_w_k[in] = film * ring;
        net->ground_w_k[to] = film * outer;
        net->heat_j_k[su] = stores * sub->p_j_per_m3k * sub->thickness_m * beside;
        net->heat_j_k[so] = stores * solder->p_j_per_m3k * solder->thickness_m * ring;
        net->heat_j_k[in] = stores * (pcb->p_j_per_m3k * pcb->thickness_m + air / LUMPING) * ring;
        net->heat_j_k[to] = stores * (pcb->p_j_per_m3k * pcb->thickness_m + air / LUMPING) * outer;
    }
    return st;
}

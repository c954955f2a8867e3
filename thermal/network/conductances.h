/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TMX_THERMAL_NETWORK_CONDUCTANCES_H
#define TMX_THERMAL_NETWORK_CONDUCTANCES_H

#include "thermal/network/assemble.h"

/* Private to the assemblers: conductances between nodes, collected one by one. */

struct tmx_conductance {
    size_t a, b; /* a < b */
    double w_k;
};

struct tmx_conductances {
    struct tmx_conductance *link; /* [n] owned */
    size_t n, room;
};

/* Add a link of resistance_k_w; it grows as needed. Returns TMX_OK or TMX_ENOMEM. */
TMX_NODISCARD enum tmx_status tmx_conductances_add(struct tmx_conductances *l, size_t from, size_t to,
                                                   double resistance_k_w, struct tmx_err *err);
/* Fill the matrix of net, whose n_node is set. No two links join the same nodes. */
TMX_NODISCARD enum tmx_status tmx_conductances_compress(const struct tmx_conductances *l,
                                                        struct tmx_network *net, struct tmx_err *err);
void tmx_conductances_finish(struct tmx_conductances *l); /* accepts zeroed memory */

/* Links of the cells on the edge of a layer of HotSpot's network to the ring node of each side, W,E,N,S from
 * node ring on: half a cell and this cell's share of the ring's conduction path. */
TMX_NODISCARD enum tmx_status tmx_conductances_edge(struct tmx_conductances *l, const struct tmx_network *net,
                                                    size_t layer, double thickness_m, size_t ring,
                                                    double side_m, double k, struct tmx_err *err);

/* The secondary path's nodes beyond the die: links, heat, and net->ground_w_k, which is yet to be added to
 * the matrix. */
TMX_NODISCARD enum tmx_status tmx_board_init(struct tmx_network *net, const struct tmx_thermal_spec *spec,
                                             struct tmx_conductances *links, struct tmx_err *err);

/* The other assembler: cells to the edges of spreader and sink, refined layers. Its part of
 * tmx_network_init, after maps and sizes are set. */
TMX_NODISCARD enum tmx_status tmx_physical_init(struct tmx_network *net, const struct tmx_thermal_spec *spec,
                                                struct tmx_err *err);

#endif

/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TMX_THERMAL_NETWORK_LINKS_H
#define TMX_THERMAL_NETWORK_LINKS_H

#include "thermal/network/assemble.h"

/* Private to the assemblers: conductances between nodes, collected one by one. */

struct tmx_link {
    size_t a, b; /* a < b */
    double w_k;
};

struct tmx_links {
    struct tmx_link *link; /* [n] owned */
    size_t n, room;
};

/* Add a link of resistance_k_w; it grows as needed. Returns TMX_OK or TMX_ENOMEM. */
TMX_NODISCARD enum tmx_status tmx_links_add(struct tmx_links *l, size_t from, size_t to,
                                            double resistance_k_w, struct tmx_err *err);
/* Fill the matrix of net, whose n_node is set. No two links join the same nodes. */
TMX_NODISCARD enum tmx_status tmx_links_compress(const struct tmx_links *l, struct tmx_network *net,
                                                 struct tmx_err *err);
void tmx_links_finish(struct tmx_links *l); /* accepts zeroed memory */

/* The other assembler: cells to the edges of spreader and sink, refined layers. Its part of
 * tmx_network_init, after maps and sizes are set. */
TMX_NODISCARD enum tmx_status tmx_physical_init(struct tmx_network *net, const struct tmx_thermal_spec *spec,
                                                struct tmx_err *err);

#endif

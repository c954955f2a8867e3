/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TMX_THERMAL_NETWORK_REGIONS_H
#define TMX_THERMAL_NETWORK_REGIONS_H

#include "thermal/network/assemble.h"

/* Sets of nodes whose own temperatures must be accurate, where a mean over a unit is not
 * all that is read: errors are kept for each region, as its worst node's. */

struct tmx_regions {
    size_t n;
    size_t *start; /* [n + 1] owned: first entry of each region in node */
    size_t *node;  /* [start[n]] owned */
};

/* One region a dissipating unit: the cells it touches. *r is overwritten; end it with
 * tmx_regions_finish, also after failure (TMX_ENOMEM). */
TMX_NODISCARD enum tmx_status tmx_regions_units(struct tmx_regions *r, const struct tmx_network *net,
                                                struct tmx_err *err);
/* All nodes: every layer in tiles, then what is not a layer's cell. */
TMX_NODISCARD enum tmx_status tmx_regions_tiles(struct tmx_regions *r, const struct tmx_network *net,
                                                struct tmx_err *err);
void tmx_regions_finish(struct tmx_regions *r); /* accepts zeroed memory */

/* worst[n] := the largest |node[]| of each region, where that is more than what is there. */
void tmx_regions_worst(const struct tmx_regions *r, const double *node, double *worst);

#endif

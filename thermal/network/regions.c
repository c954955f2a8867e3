/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "thermal/network/regions.h"

#include <math.h>
#include <stdlib.h>

enum { TILES = 8 }; /* of a layer, each way: errors are local, a few cells around a unit's rim */

static enum tmx_status allocate(struct tmx_regions *r, size_t n, size_t n_entry, struct tmx_err *err)
{
    *r = (struct tmx_regions){.n = n};
    r->start = calloc(n + 1, sizeof *r->start);
    r->node = calloc(n_entry + 1, sizeof *r->node);
    return r->start && r->node ? TMX_OK : tmx_fail(err, TMX_ENOMEM, "%zu regions", n);
}

enum tmx_status tmx_regions_units(struct tmx_regions *r, const struct tmx_network *net, struct tmx_err *err)
{
    size_t n_entry = 0;
    for (size_t l = 0; l < net->n_layer; l++) {
        const bool any = net->first_unit[l + 1] > net->first_unit[l];
        n_entry += any ? net->map[l].start[net->map[l].n_unit] : 0;
    }
    const enum tmx_status st = allocate(r, net->n_unit, n_entry, err);
    if (st) {
        return st;
    }
    for (size_t l = 0; l < net->n_layer; l++) {
        const struct tmx_gridmap *map = &net->map[l];
        for (size_t unit = net->first_unit[l]; unit < net->first_unit[l + 1]; unit++) {
            const size_t own = unit - net->first_unit[l];
            size_t at = r->start[unit];
            for (size_t e = map->start[own]; e < map->start[own + 1]; e++) {
                r->node[at++] = l * net->n_cell + map->cell[e];
            }
            r->start[unit + 1] = at;
        }
    }
    return TMX_OK;
}

enum tmx_status tmx_regions_tiles(struct tmx_regions *r, const struct tmx_network *net, struct tmx_err *err)
{
    const size_t down = net->rows < TILES ? net->rows : TILES, across = net->cols < TILES ? net->cols : TILES;
    const size_t n_layer = net->view_start ? net->n_layer - 2 : net->n_layer; /* that nodes follow in order */
    const size_t cells = n_layer * net->n_cell, n_tile = n_layer * down * across;
    const size_t more = (net->n_node - cells + net->n_cell - 1) / net->n_cell;
    const enum tmx_status st = allocate(r, n_tile + more, net->n_node, err);
    if (st) {
        return st;
    }
    size_t at = 0, region = 0;
    for (size_t tile = 0; tile < n_tile; tile++) {
        const size_t l = tile / (down * across), i = tile / across % down, j = tile % across;
        for (size_t row = i * net->rows / down; row < (i + 1) * net->rows / down; row++) {
            for (size_t col = j * net->cols / across; col < (j + 1) * net->cols / across; col++) {
                r->node[at++] = l * net->n_cell + row * net->cols + col;
            }
        }
        r->start[++region] = at;
    }
    while (at < net->n_node) {
        r->node[at] = at;
        at++;
        if (at == net->n_node || (at - cells) % net->n_cell == 0) {
            r->start[++region] = at;
        }
    }
    tmx_assert(region == r->n);
    return TMX_OK;
}

void tmx_regions_finish(struct tmx_regions *r)
{
    free(r->start);
    free(r->node);
    *r = (struct tmx_regions){0};
}

void tmx_regions_worst(const struct tmx_regions *r, const double *node, double *worst)
{
    for (size_t k = 0; k < r->n; k++) {
        double v = worst[k];
        for (size_t e = r->start[k]; e < r->start[k + 1]; e++) {
            v = fmax(v, fabs(node[r->node[e]]));
        }
        worst[k] = v;
    }
}

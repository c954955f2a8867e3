/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "thermal/network/conductances.h"

#include <stdlib.h>

enum tmx_status tmx_conductances_add(struct tmx_conductances *l, size_t from, size_t to,
                                     double resistance_k_w, struct tmx_err *err)
{
    if (l->n == l->room) {
        const size_t room = l->room ? 2 * l->room : 4096;
        struct tmx_conductance *grown = realloc(l->link, room * sizeof *grown);
        if (!grown) {
            return tmx_fail(err, TMX_ENOMEM, "network of %zu links", room);
        }
        l->link = grown;
        l->room = room;
    }
    l->link[l->n++] =
        (struct tmx_conductance){from < to ? from : to, from < to ? to : from, 1.0 / resistance_k_w};
    return TMX_OK;
}

enum tmx_status tmx_conductances_compress(const struct tmx_conductances *l, struct tmx_network *net,
                                          struct tmx_err *err)
{
    const size_t n = net->n_node, n_entry = n + l->n;
    int *at = calloc(n, sizeof *at);
    net->col_start = calloc(n + 1, sizeof *net->col_start);
    net->row = calloc(n_entry, sizeof *net->row);
    net->value_w_k = calloc(n_entry, sizeof *net->value_w_k);
    if (!at || !net->col_start || !net->row || !net->value_w_k) {
        free(at);
        return tmx_fail(err, TMX_ENOMEM, "network of %zu nodes", n);
    }
    for (size_t k = 0; k < l->n; k++) {
        net->col_start[l->link[k].a + 1]++;
    }
    for (size_t c = 0; c < n; c++) {
        net->col_start[c + 1] += net->col_start[c] + 1;
        at[c] = net->col_start[c] + 1;
        net->row[net->col_start[c]] = (int)c;
    }
    for (size_t k = 0; k < l->n; k++) {
        const struct tmx_conductance *link = &l->link[k];
        int e = at[link->a]++;
        for (; net->row[e - 1] > (int)link->b; e--) { /* keep the rows ascending: a few per column */
            net->row[e] = net->row[e - 1];
            net->value_w_k[e] = net->value_w_k[e - 1];
        }
        net->row[e] = (int)link->b;
        net->value_w_k[e] = -link->w_k;
        net->value_w_k[net->col_start[link->a]] += link->w_k;
        net->value_w_k[net->col_start[link->b]] += link->w_k;
    }
    free(at);
    return TMX_OK;
}

enum tmx_status tmx_conductances_edge(struct tmx_conductances *l, const struct tmx_network *net, size_t layer,
                                      double thickness_m, size_t ring, double side_m, double k,
                                      struct tmx_err *err)
{
    const double W = net->width_m, H = net->height_m, t = thickness_m;
    const double dx = W / (double)net->cols, dy = H / (double)net->rows;
    const double path_x = (side_m - W) / 4 / (k * t * (side_m + 3 * H) / 4);
    const double path_y = (side_m - H) / 4 / (k * t * (side_m + 3 * W) / 4);
    const double to_x = 0.5 * dx / (k * dy * t) + (double)net->rows * path_x;
    const double to_y = 0.5 * dy / (k * dx * t) + (double)net->cols * path_y;
    const size_t cell = layer * net->n_cell;
    enum tmx_status st = TMX_OK;
    for (size_t j = 0; j < net->cols && !st; j++) {
        st = tmx_conductances_add(l, cell + j, ring + 2, to_y, err);
        st = st ? st : tmx_conductances_add(l, cell + (net->rows - 1) * net->cols + j, ring + 3, to_y, err);
    }
    for (size_t i = 0; i < net->rows && !st; i++) {
        st = tmx_conductances_add(l, cell + i * net->cols, ring, to_x, err);
        st = st ? st : tmx_conductances_add(l, cell + i * net->cols + net->cols - 1, ring + 1, to_x, err);
    }
    return st;
}

void tmx_conductances_finish(struct tmx_conductances *l)
{
    free(l->link);
    *l = (struct tmx_conductances){0};
}

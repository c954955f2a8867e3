/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "thermal/network/links.h"

#include <stdlib.h>

enum tmx_status tmx_links_add(struct tmx_links *l, size_t from, size_t to, double resistance_k_w,
                              struct tmx_err *err)
{
    if (l->n == l->room) {
        const size_t room = l->room ? 2 * l->room : 4096;
        struct tmx_link *grown = realloc(l->link, room * sizeof *grown);
        if (!grown) {
            return tmx_fail(err, TMX_ENOMEM, "network of %zu links", room);
        }
        l->link = grown;
        l->room = room;
    }
    l->link[l->n++] = (struct tmx_link){from < to ? from : to, from < to ? to : from, 1.0 / resistance_k_w};
    return TMX_OK;
}

enum tmx_status tmx_links_compress(const struct tmx_links *l, struct tmx_network *net, struct tmx_err *err)
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
        const struct tmx_link *link = &l->link[k];
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

void tmx_links_finish(struct tmx_links *l)
{
    free(l->link);
    *l = (struct tmx_links){0};
}

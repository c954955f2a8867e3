/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Nested dissection by the places of the nodes.
 *
 * A network is a pile of layers whose cells touch their neighbours alone. A line across the plan therefore
 * divides all layers into two parts that touch each other along the line only (a plane between two layers,
 * too, where that cut is smaller):
 *
 *         .----------.---.----------.
 *         |          |   |          |     order: left, right, S; left and right in the same way again, until
 *         |   left   | S |  right   |     few nodes remain
 *         |          |   |          |
 *         '----------'---'----------'     S: the nodes of one part that touch the other one
 *
 * A factor in this order has no entries between left and right. METIS finds such parts without places, and
 * takes as long as two factors for it (docs/notes/engine.md); with places the order takes a twentieth of a
 * factor. The package nodes of HotSpot's network touch all cells of an edge: they are last.
 *
 * Source: A. George, "Nested dissection of a regular finite element mesh", SIAM J. Numer. Anal. 10 (1973). */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "thermal/assembly/solve.h"

enum { LEAF = 24 }; /* nodes that are not divided; a factor takes as long from 8 to 64 */

enum part { LEFT = 1, RIGHT, CUT };

struct dissection {
    const struct tmx_network *net;
    int *start, *touched; /* [n + 1], [start[n]]: the nodes that each node touches */
    int *node, *room;     /* [n]: those of one part side by side; work */
    unsigned char *part;  /* [n]: of the division at hand, 0 outside */
    float *along;         /* [n]: work */
    int *order;           /* [n]: the result */
    size_t done;          /* nodes of it */
};

static float place(const struct tmx_network *net, int node, int axis)
{
    const size_t cell = (size_t)node % net->n_cell;
    if (net->place_m) {
        return net->place_m[3 * (size_t)node + (size_t)axis];
    }
    if (axis == 2) {
        return (float)((size_t)node / net->n_cell);
    }
    return axis == 0 ? (float)(net->width_m * (double)(cell % net->cols) / (double)net->cols)
                     : (float)(net->height_m * (double)(cell / net->cols) / (double)net->rows);
}

/* The k-th smallest of v, whose order changes (Hoare's selection). */
static float select_kth(float *v, size_t n, size_t k)
{
    size_t low = 0, high = n - 1;
    while (low < high) {
        const float pivot = v[low + (high - low) / 2];
        size_t i = low, j = high;
        for (;;) {
            while (v[i] < pivot) {
                i++;
            }
            while (v[j] > pivot) {
                j--;
            }
            if (i >= j) {
                break;
            }
            const float kept = v[i];
            v[i++] = v[j];
            v[j--] = kept;
        }
        const size_t split = v[i] > pivot ? i - 1 : i; /* v[low .. split] <= pivot <= the rest */
        if (k <= split && split < high) {
            high = split;
        } else if (k > split) {
            low = split + 1;
        } else {
            high--; /* pivot is the largest and at the end */
        }
    }
    return v[k];
}

/* The line that divides n nodes at the places d->along: below it about half of them and at least one.
 * INFINITY where all have the same place. */
static float divide(struct dissection *d, size_t n)
{
    float least = INFINITY, next = INFINITY;
    for (size_t i = 0; i < n; i++) {
        least = fminf(least, d->along[i]);
    }
    const float half = select_kth(d->along, n, n / 2);
    for (size_t i = 0; i < n && half == least; i++) {
        next = d->along[i] > least ? fminf(next, d->along[i]) : next;
    }
    return half > least ? half : next;
}

/* The nodes of `of` among d->node[from .. to) that touch the other part, to room; how many. */
static size_t find_cut(const struct dissection *d, size_t from, size_t to, enum part of, int *room)
{
    size_t n = 0;
    for (size_t i = from; i < to; i++) {
        const int v = d->node[i];
        for (int e = d->start[v]; d->part[v] == of && e < d->start[v + 1]; e++) {
            if (d->part[d->touched[e]] == LEFT + RIGHT - of) {
                room[n++] = v;
                break;
            }
        }
    }
    return n;
}

struct division {
    int axis;
    float line;
    enum part of; /* the part that the cut belongs to */
    size_t n_cut;
};

/* Divide the nodes d->node[from .. to) at the line: marks their parts. */
static void mark(struct dissection *d, size_t from, size_t to, const struct division *v)
{
    for (size_t i = from; i < to; i++) {
        d->part[d->node[i]] = place(d->net, d->node[i], v->axis) < v->line ? LEFT : RIGHT;
    }
}

/* The division of these nodes with the smallest cut, unequal parts counted against it; false where there is
 * none. Uses part, along and room. */
static bool choose(struct dissection *d, size_t from, size_t to, struct division *best)
{
    double least = INFINITY;
    for (int axis = 0; axis < 3 && to - from > LEAF; axis++) {
        size_t n_left = 0;
        for (size_t i = from; i < to; i++) {
            d->along[i - from] = place(d->net, d->node[i], axis);
        }
        struct division v = {.axis = axis, .line = divide(d, to - from)};
        if (v.line == INFINITY) {
            continue;
        }
        mark(d, from, to, &v);
        for (size_t i = from; i < to; i++) {
            n_left += d->part[d->node[i]] == LEFT;
        }
        const size_t left = find_cut(d, from, to, LEFT, d->room);
        const size_t right = find_cut(d, from, to, RIGHT, d->room), n_right = to - from - n_left;
        v.of = left <= right ? LEFT : RIGHT;
        v.n_cut = left <= right ? left : right;
        const double size =
            (double)v.n_cut * sqrt((double)(to - from) / (double)(n_left < n_right ? n_left : n_right));
        if (size < least) {
            least = size;
            *best = v;
        }
    }
    return least < INFINITY;
}

/* Append the nodes d->node[from .. to) to the order. */
static void dissect(struct dissection *d, size_t from, size_t to)
{
    struct division v;
    if (!choose(d, from, to, &v)) { /* marks nothing then */
        memcpy(d->order + d->done, d->node + from, (to - from) * sizeof *d->order);
        d->done += to - from;
        return;
    }
    const size_t n_cut = v.n_cut;
    mark(d, from, to, &v);
    (void)find_cut(d, from, to, v.of, d->room);
    for (size_t i = 0; i < n_cut; i++) {
        d->part[d->room[i]] = CUT;
    }
    size_t n = 0, end[CUT + 1] = {0};
    for (enum part part = LEFT; part <= CUT; part++) {
        for (size_t i = from; i < to; i++) {
            if (d->part[d->node[i]] == part) {
                d->room[n++] = d->node[i];
            }
        }
        end[part] = from + n;
    }
    memcpy(d->node + from, d->room, n * sizeof *d->node);
    for (size_t i = from; i < to; i++) {
        d->part[d->node[i]] = 0;
    }
    dissect(d, from, end[LEFT]);
    dissect(d, end[LEFT], end[RIGHT]);
    memcpy(d->order + d->done, d->node + end[RIGHT], n_cut * sizeof *d->order);
    d->done += n_cut;
}

/* The lower triangle of net and what its coolant carries, seen from both nodes of each entry. */
static void fill_touched(struct dissection *d)
{
    const struct tmx_network *net = d->net;
    const int n = (int)net->n_node;
    for (int c = 0; c < n; c++) {
        for (int e = net->col_start[c] + 1; e < net->col_start[c + 1]; e++) {
            d->start[c + 1]++;
            d->start[net->row[e] + 1]++;
        }
    }
    for (size_t e = 0; e < net->n_flow; e++) {
        d->start[net->flow[e].a + 1]++;
        d->start[net->flow[e].b + 1]++;
    }
    for (int c = 0; c < n; c++) {
        d->start[c + 1] += d->start[c];
        d->room[c] = d->start[c];
    }
    for (int c = 0; c < n; c++) {
        for (int e = net->col_start[c] + 1; e < net->col_start[c + 1]; e++) {
            d->touched[d->room[c]++] = net->row[e];
            d->touched[d->room[net->row[e]]++] = c;
        }
    }
    for (size_t e = 0; e < net->n_flow; e++) {
        d->touched[d->room[net->flow[e].a]++] = (int)net->flow[e].b;
        d->touched[d->room[net->flow[e].b]++] = (int)net->flow[e].a;
    }
}

enum tmx_status tmx_order_by_place(const struct tmx_network *net, int *order, struct tmx_err *err)
{
    const size_t n = net->n_node, n_placed = net->place_m ? n : net->n_layer * net->n_cell;
    const size_t n_link = 2 * ((size_t)net->col_start[n] - n + net->n_flow);
    struct dissection d = {.net = net, .order = order};
    tmx_assert(n_placed <= n && net->n_cell > 0);
    d.start = calloc(n + 1, sizeof *d.start);
    d.touched = calloc(n_link + 1, sizeof *d.touched);
    d.node = calloc(n, sizeof *d.node);
    d.room = calloc(n, sizeof *d.room);
    d.part = calloc(n, sizeof *d.part);
    d.along = calloc(n, sizeof *d.along);
    const bool have = d.start && d.touched && d.node && d.room && d.part && d.along;
    if (have) {
        fill_touched(&d);
        for (size_t i = 0; i < n; i++) {
            d.node[i] = (int)i;
        }
        dissect(&d, 0, n_placed);
        memcpy(order + n_placed, d.node + n_placed, (n - n_placed) * sizeof *order);
    }
    free(d.start);
    free(d.touched);
    free(d.node);
    free(d.room);
    free(d.part);
    free(d.along);
    return have ? TMX_OK : tmx_fail(err, TMX_ENOMEM, "order of %zu nodes", n);
}

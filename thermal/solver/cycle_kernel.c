/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Cycles and conjugate gradients on the levels of multigrid.c, compiled for each width of vector (CMake names
 * TMX_KERNEL). No value depends on the width: rows are worked on cell by cell, and sums have a fixed number
 * of chains.
 *
 * Rows are functions of their own, so that the compiler knows what overlaps. */
#include <math.h>
#include <string.h>

#include "thermal/solver/cycle.h"
#include "thermal/solver/multigrid.h"

enum { MOST_ITERATIONS = 60, CHAINS = 16 };

#define KERNEL static inline __attribute__((always_inline))

/* ---- The smoother ---- */

struct row {      /* cells of one colour of a line */
    size_t n, at; /* n: in_lines */
    bool even;
    const float *east, *west, *south, *north; /* links of its cells to those of the other colour */
    ptrdiff_t to_east, to_west, to_south;     /* steps in an array to these; - to_south to the north */
};

KERNEL struct row row_at(const struct tmx_mg_level *l, const struct tmx_mg_group *g, size_t z, size_t y,
                         size_t colour)
{
    const bool even = (y + colour) % 2 == 0;
    const ptrdiff_t odd = (ptrdiff_t)g->odd, south = (ptrdiff_t)g->row;
    const size_t at = g->first + z * g->sheet + y * g->row + (even ? 0 : g->odd);
    const ptrdiff_t to_east = even ? odd : 1 - odd, to_west = even ? odd - 1 : -odd;
    return (struct row){.n = in_lines(even ? g->nx - g->nx / 2 : g->nx / 2),
                        .at = at,
                        .even = even,
                        .east = l->east + at,
                        .west = l->east + at + to_west,
                        .south = l->south + at,
                        .north = l->south + at - south,
                        .to_east = to_east,
                        .to_west = to_west,
                        .to_south = south};
}

/* Has the row a cell with another link? */
KERNEL bool is_linked(const struct tmx_mg_group *g, size_t z, size_t y, const struct row *a)
{
    return g->linked[2 * (z * g->ny + y) + !a->even];
}

/* r := what the cells beside bring */
KERNEL void beside_row(struct row a, const float *restrict x, float *restrict r)
{
    const float *restrict east = a.east, *restrict west = a.west, *restrict south = a.south,
                          *restrict north = a.north;
    const float *restrict x_east = x + a.to_east, *restrict x_west = x + a.to_west,
                          *restrict x_south = x + a.to_south, *restrict x_north = x - a.to_south;
    for (size_t i = 0; i < a.n; i++) {
        r[i] = (east[i] * x_east[i] + west[i] * x_west[i]) + (south[i] * x_south[i] + north[i] * x_north[i]);
    }
}

/* sum := b + m of the row below (m is 0 of the lowest), with what the cells beside bring */
KERNEL void gather_row(struct row a, bool beside, const float *restrict b, const float *restrict x,
                       const float *restrict m, const float *restrict below, float *restrict sum)
{
    const float *restrict east = a.east, *restrict west = a.west, *restrict south = a.south,
                          *restrict north = a.north;
    const float *restrict x_east = x + a.to_east, *restrict x_west = x + a.to_west,
                          *restrict x_south = x + a.to_south, *restrict x_north = x - a.to_south;
    for (size_t i = 0; i < a.n && beside; i++) {
        sum[i] = (b[i] + m[i] * below[i]) + ((east[i] * x_east[i] + west[i] * x_west[i]) +
                                             (south[i] * x_south[i] + north[i] * x_north[i]));
    }
    for (size_t i = 0; i < a.n && !beside; i++) {
        sum[i] = b[i] + m[i] * below[i];
    }
}

/* x := pivot sum + m x of the row above; above NULL: there is none. */
KERNEL void substitute_row(size_t n, const float *restrict pivot, const float *restrict sum,
                           const float *restrict m, const float *restrict above, float *restrict x)
{
    for (size_t i = 0; i < n && above; i++) {
        x[i] = pivot[i] * sum[i] + m[i] * above[i];
    }
    for (size_t i = 0; i < n && !above; i++) {
        x[i] = pivot[i] * sum[i];
    }
}

/* r += what links [from, to) bring. */
KERNEL void add_flows(const struct tmx_mg_level *l, const struct tmx_mg_vectors *v, size_t from, size_t to)
{
    for (size_t e = from; e < to; e++) {
        v->r[l->link[e].own] += l->link[e].w_k * v->x[l->link[e].other];
    }
}

/* The columns of one colour of a group := their solution for what is around them. fresh: only blocks before
 * this one have an x. Columns are solved row by row in `room` [nz][row]. */
KERNEL void relax(const struct tmx_mg_level *l, const struct tmx_mg_vectors *v, size_t block, bool fresh,
                  float *room)
{
    const struct tmx_mg_group *g = &l->group[block / 2];
    const size_t colour = block % 2, *first = &l->first[2 * block], end = first[fresh ? 1 : 2];
    const bool beside = !fresh || colour == 1;
    for (size_t z = 0; z < g->nz && end > first[0]; z++) {
        for (size_t y = 0; y < g->ny; y++) {
            const struct row a = row_at(l, g, z, y, colour);
            if (is_linked(g, z, y, &a)) {
                memcpy(v->r + a.at, v->b + a.at, a.n * sizeof *v->r);
            }
        }
    }
    add_flows(l, v, first[0], end);
    for (size_t y = 0; y < g->ny; y++) {
        for (size_t z = 0; z < g->nz; z++) {
            const struct row a = row_at(l, g, z, y, colour);
            const bool linked = end > first[0] && is_linked(g, z, y, &a);
            const float *b = (linked ? v->r : v->b) + a.at;
            float *sum = room + z * g->row;
            gather_row(a, beside, b, v->x + a.at, l->eliminate + a.at, z > 0 ? sum - g->row : b, sum);
        }
        for (size_t z = g->nz; z-- > 0;) {
            const struct row a = row_at(l, g, z, y, colour);
            const size_t above = a.at + (z + 1 == g->nz ? 0 : g->sheet);
            substitute_row(a.n, l->pivot + a.at, room + z * g->row, l->eliminate + above,
                           above > a.at ? v->x + above : NULL, v->x + a.at);
        }
    }
}

KERNEL void relax_single(const struct tmx_multigrid *mg, const struct tmx_mg_level *l,
                         const struct tmx_mg_vectors *v, size_t i, bool fresh)
{
    const size_t *first = &l->first[2 * (2 * mg->n_group + i)], own = l->single + i;
    v->r[own] = v->b[own];
    add_flows(l, v, first[0], first[fresh ? 1 : 2]);
    v->x[own] = v->r[own] * l->pivot[own];
}

/* From x = 0, whatever it holds. */
KERNEL void smooth_down(const struct tmx_multigrid *mg, const struct tmx_mg_level *l,
                        const struct tmx_mg_vectors *v, float *room)
{
    for (size_t block = 0; block < 2 * mg->n_group; block++) {
        relax(l, v, block, true, room);
    }
    for (size_t i = 0; i < mg->n_single; i++) {
        relax_single(mg, l, v, i, true);
    }
}

/* The same backwards, so that a cycle is symmetric. */
KERNEL void smooth_up(const struct tmx_multigrid *mg, const struct tmx_mg_level *l,
                      const struct tmx_mg_vectors *v, float *room)
{
    for (size_t i = mg->n_single; i-- > 0;) {
        relax_single(mg, l, v, i, false);
    }
    for (size_t block = 2 * mg->n_group; block-- > 0;) {
        relax(l, v, block, false, room);
    }
}

/* r := what smooth_down leaves of b: what blocks have brought to those before them. Where nothing has, r
 * keeps what it holds: cells of the second colour without another link. */
KERNEL void residual(const struct tmx_multigrid *mg, const struct tmx_mg_level *l,
                     const struct tmx_mg_vectors *v)
{
    for (size_t k = 0; k < mg->n_group; k++) {
        const struct tmx_mg_group *g = &l->group[k];
        for (size_t z = 0; z < g->nz; z++) {
            for (size_t y = 0; y < g->ny; y++) {
                const struct row a = row_at(l, g, z, y, 0), second = row_at(l, g, z, y, 1);
                beside_row(a, v->x + a.at, v->r + a.at);
                if (is_linked(g, z, y, &second)) {
                    memset(v->r + second.at, 0, second.n * sizeof *v->r);
                }
            }
        }
    }
    memset(v->r + l->single, 0, mg->n_single * sizeof *v->r);
    for (size_t block = 0; block < 2 * mg->n_group + mg->n_single; block++) {
        add_flows(l, v, l->first[2 * block + 1], l->first[2 * block + 2]);
    }
}

/* ---- Between levels ---- */

/* sum += part of r */
KERNEL void add_row(size_t n, float part, const float *restrict r, float *restrict sum)
{
    for (size_t i = 0; i < n; i++) {
        sum[i] += part * r[i];
    }
}

/* line: n coarse cells, of sums over fine rows by the transpose of interpolation. */
KERNEL void restrict_row(size_t n, const struct tmx_mg_axis *a, const float *restrict even,
                         const float *restrict odd, float *restrict line)
{
    const float *restrict first = a->down[0], *restrict second = a->down[1], *restrict third = a->down[2],
                          *restrict fourth = a->down[3], *restrict west = odd - 1;
    for (size_t i = 0; i < n; i++) {
        line[i] = (first[i] * west[i] + second[i] * even[i]) + (third[i] * odd[i] + fourth[i] * even[i + 1]);
    }
}

/* even, odd := every second cell of line, n of either. */
KERNEL void split_row(size_t n, const float *restrict line, float *restrict even, float *restrict odd)
{
    for (size_t i = 0; i < n; i++) {
        even[i] = line[2 * i];
    }
    for (size_t i = 0; i < n; i++) {
        odd[i] = line[2 * i + 1];
    }
}

/* Line (z, y) of b, of a coarse group, := what is left on the finer one; sums of fine rows go to room. */
KERNEL void restrict_line(const struct tmx_mg_level *f, const struct tmx_mg_group *g,
                          const struct tmx_mg_group *h, size_t z, size_t y, const struct tmx_cycle *c,
                          const float *r, float *b)
{
    float *sum = g->x.own ? c->room : b;
    memset(sum, 0, g->row * sizeof *sum);
    for (size_t t = 0; t < (g->y.own ? 4 : 1); t++) {
        const size_t row = g->y.own ? 2 * y + t - 1 : y;
        const float part = g->y.own ? g->y.down[t][y] : 1;
        for (size_t colour = 0; colour < 2 && part != 0; colour++) { /* 0: there is no such row */
            const struct row a = row_at(f, g, z, row, colour);
            if (colour == 0 || is_linked(g, z, row, &a)) {
                add_row(a.n, part, r + a.at, sum + (a.even ? 0 : g->odd));
            }
        }
    }
    if (g->x.own) {
        restrict_row(in_lines(h->nx), &g->x, sum, sum + g->odd, c->line);
        memset(c->line + in_lines(h->nx), 0, 2 * TMX_MG_LINE * sizeof *b); /* split_row reads so far */
        split_row(in_lines(h->nx - h->nx / 2), c->line, b, b + h->odd);
    }
}

/* b of the coarse level := what is left on the fine one. */
KERNEL void restrict_residual(const struct tmx_multigrid *mg, const struct tmx_mg_level *f,
                              const struct tmx_mg_level *c, const struct tmx_cycle *cycle,
                              const struct tmx_mg_vectors *from, const struct tmx_mg_vectors *to)
{
    for (size_t k = 0; k < mg->n_group; k++) {
        const struct tmx_mg_group *g = &f->group[k], *h = &c->group[k];
        for (size_t z = 0; z < h->nz; z++) {
            for (size_t y = 0; y < h->ny; y++) {
                restrict_line(f, g, h, z, y, cycle, from->r, to->b + h->first + z * h->sheet + y * h->row);
            }
        }
    }
    memcpy(to->b + c->single, from->r + f->single, mg->n_single * sizeof *to->b);
}

/* line := part p + (1 - part) q, rows of n even and n odd cells. */
KERNEL void blend_row(size_t n, size_t odd, float part, const float *restrict p, const float *restrict q,
                      float *restrict line)
{
    const float rest = 1 - part;
    for (size_t i = 0; i < n; i++) {
        line[2 * i] = part * p[i] + rest * q[i];
        line[2 * i + 1] = part * p[odd + i] + rest * q[odd + i];
    }
}

/* x, every second cell of a row of the finer level, += line, one of the coarser with zeros around it, linear
 * between the middles of cells: next is its own neighbour. */
KERNEL void interpolate_row(size_t n, const float *restrict take, const float *restrict own,
                            const float *restrict next, float *restrict x)
{
    for (size_t i = 0; i < n; i++) {
        x[i] += take[i] * own[i] + (1 - take[i]) * next[i];
    }
}

/* Line (z, y) of x, of a fine group, += that of the coarser one. */
KERNEL void interpolate_line(const struct tmx_mg_group *g, const struct tmx_mg_group *h, size_t y,
                             const float *coarse, float *line, float *x)
{
    const size_t own = g->y.own ? y / 2 : y;
    const float part = g->y.own ? g->y.own[y % 2 * in_lines(h->ny) + y / 2] : 1;
    const size_t next = part == 1 ? own : y % 2 ? own + 1 : own - 1;
    if (g->x.own) {
        blend_row(in_lines(h->nx - h->nx / 2), h->odd, part, coarse + own * h->row, coarse + next * h->row,
                  line);
        interpolate_row(in_lines(h->nx), g->x.own, line, line - 1, x);
        interpolate_row(in_lines(g->nx / 2), g->x.own + in_lines(h->nx), line, line + 1, x + g->odd);
    } else {
        add_row(in_lines(g->row), part, coarse + own * h->row, x);
        add_row(in_lines(g->row), 1 - part, coarse + next * h->row, x);
    }
}

/* x of the fine level += x of the coarse one. */
KERNEL void interpolate(const struct tmx_multigrid *mg, const struct tmx_mg_level *f,
                        const struct tmx_mg_level *c, const struct tmx_mg_vectors *from,
                        const struct tmx_mg_vectors *to, float *line)
{
    for (size_t k = 0; k < mg->n_group; k++) {
        const struct tmx_mg_group *g = &f->group[k], *h = &c->group[k];
        for (size_t z = 0; z < g->nz; z++) {
            for (size_t y = 0; y < g->ny; y++) {
                interpolate_line(g, h, y, from->x + h->first + z * h->sheet, line,
                                 to->x + g->first + z * g->sheet + y * g->row);
            }
        }
    }
    for (size_t i = 0; i < mg->n_single; i++) {
        to->x[f->single + i] += from->x[c->single + i];
    }
}

KERNEL void cycle(const struct tmx_multigrid *mg, const struct tmx_cycle *c)
{
    const size_t last = mg->n_level - 1;
    for (size_t k = 0; k < last; k++) {
        smooth_down(mg, &mg->level[k], &c->v[k], c->room);
        residual(mg, &mg->level[k], &c->v[k]);
        restrict_residual(mg, &mg->level[k], &mg->level[k + 1], c, &c->v[k], &c->v[k + 1]);
    }
    tmx_cycle_solve_last(mg, c);
    for (size_t k = last; k-- > 0;) {
        interpolate(mg, &mg->level[k], &mg->level[k + 1], &c->v[k + 1], &c->v[k], c->line);
        smooth_up(mg, &mg->level[k], &c->v[k], c->room);
    }
}

/* ---- Conjugate gradients ---- */

KERNEL void apply_row(struct row a, const float *restrict ground, const float *restrict up,
                      const float *restrict down, ptrdiff_t below, ptrdiff_t above, const float *restrict x,
                      float *restrict y)
{
    const float *restrict east = a.east, *restrict west = a.west, *restrict south = a.south,
                          *restrict north = a.north;
    const float *restrict x_east = x + a.to_east, *restrict x_west = x + a.to_west,
                          *restrict x_south = x + a.to_south, *restrict x_north = x - a.to_south,
                          *restrict x_below = x + below, *restrict x_above = x + above;
    for (size_t i = 0; i < a.n; i++) {
        y[i] = ground[i] * x[i] +
               ((east[i] * (x[i] - x_east[i]) + west[i] * (x[i] - x_west[i])) +
                (south[i] * (x[i] - x_south[i]) + north[i] * (x[i] - x_north[i]))) +
               (down[i] * (x[i] - x_below[i]) + up[i] * (x[i] - x_above[i]));
    }
}

/* y := A x on the first level, by differences: in single precision links would drown what goes to ground. */
KERNEL void apply(const struct tmx_multigrid *mg, const float *x, float *y)
{
    const struct tmx_mg_level *l = &mg->level[0];
    for (size_t k = 0; k < mg->n_group; k++) {
        const struct tmx_mg_group *g = &l->group[k];
        const ptrdiff_t sheet = (ptrdiff_t)g->sheet;
        for (size_t half = 0; half < 2 * g->nz * g->ny; half++) {
            const size_t z = half / 2 / g->ny;
            const struct row a = row_at(l, g, z, half / 2 % g->ny, half % 2);
            const ptrdiff_t below = z > 0 ? -sheet : 0, above = z + 1 < g->nz ? sheet : 0;
            const float *down = z > 0 ? l->up + a.at - sheet : l->up + g->first - g->row; /* the rim's: 0 */
            apply_row(a, l->ground + a.at, l->up + a.at, down, below, above, x + a.at, y + a.at);
        }
    }
    for (size_t i = l->single; i < l->single + mg->n_single; i++) {
        y[i] = l->ground[i] * x[i];
    }
    for (size_t e = 0; e < l->first[2 * (2 * mg->n_group + mg->n_single)]; e++) {
        const struct tmx_mg_link *link = &l->link[e];
        y[link->own] += link->w_k * (x[link->own] - x[link->other]);
    }
}

KERNEL double dot(size_t n, const float *restrict a, const float *restrict b)
{
    double part[CHAINS] = {0}, sum = 0;
    const size_t whole = n - n % CHAINS;
    for (size_t i = 0; i < whole; i += CHAINS) {
        for (size_t k = 0; k < CHAINS; k++) {
            part[k] += (double)a[i + k] * (double)b[i + k];
        }
    }
    for (size_t i = whole; i < n; i++) {
        part[i - whole] += (double)a[i] * (double)b[i];
    }
    for (size_t k = 0; k < CHAINS; k++) {
        sum += part[k];
    }
    return sum;
}

/* A NaN is none. */
KERNEL float largest(size_t n, const float *restrict x)
{
    float part[CHAINS] = {0}, most = 0;
    const size_t whole = n - n % CHAINS;
    for (size_t i = 0; i < whole; i += CHAINS) {
        for (size_t k = 0; k < CHAINS; k++) {
            const float v = fabsf(x[i + k]);
            part[k] = v > part[k] ? v : part[k];
        }
    }
    for (size_t i = whole; i < n; i++) {
        part[i - whole] = fmaxf(part[i - whole], fabsf(x[i]));
    }
    for (size_t k = 0; k < CHAINS; k++) {
        most = fmaxf(most, part[k]);
    }
    return most;
}

/* p := z + beta p */
KERNEL void turn(size_t n, float beta, const float *restrict z, float *restrict p)
{
    for (size_t i = 0; i < n; i++) {
        p[i] = z[i] + beta * p[i];
    }
}

/* x += alpha p, r -= alpha q */
KERNEL void advance(size_t n, float alpha, const float *restrict p, const float *restrict q,
                    float *restrict x, float *restrict r)
{
    for (size_t i = 0; i < n; i++) {
        x[i] += alpha * p[i];
        r[i] -= alpha * q[i];
    }
}

KERNEL void add(size_t n, const float *restrict z, float *restrict x)
{
    for (size_t i = 0; i < n; i++) {
        x[i] += z[i];
    }
}

/* The least eigenvalue of the symmetric matrix with diag and the squares of the off-diagonal, n rows: below
 * it all pivots of a shifted matrix are positive. */
static double least_value(size_t n, const double *diag, const double *off2)
{
    double low = 0, high = n > 0 ? fmin(diag[0], 1) : 1;
    for (size_t halving = 0; n > 0 && halving < 12; halving++) { /* to a few thousandths */
        const double middle = 0.5 * (low + high);
        double pivot = diag[0] - middle;
        for (size_t i = 1; i < n && pivot > 0; i++) {
            pivot = diag[i] - middle - off2[i - 1] / pivot;
        }
        low = pivot > 0 ? middle : low;
        high = pivot > 0 ? high : middle;
    }
    return high;
}

struct tmx_cycle_end TMX_KERNEL(const struct tmx_multigrid *mg, const struct tmx_cycle *c, float part,
                                float limit) {
    const size_t n = mg->level[0].n;
    float *r = c->v[0].b, *z = c->v[0].x, alpha = 0, left = 0;
    double rz = 0, diag[MOST_ITERATIONS] = {0}, off2[MOST_ITERATIONS]; /* Lanczos' matrix of M^-1 A */
    size_t seen = 0;
    memset(c->p, 0, n * sizeof *c->p);
    memset(c->sum, 0, n * sizeof *c->sum);
    for (size_t it = 0; it < MOST_ITERATIONS; it++) {
        cycle(mg, c);
        left = largest(n, z);
        if (part >= 1 || left <= fmaxf(limit, part * fmaxf(largest(n, c->sum), left))) {
            break;
        }
        const float beta = rz > 0 ? (float)(-(double)alpha * dot(n, c->q, z) / rz) : 0;
        rz = dot(n, r, z);
        turn(n, beta, z, c->p);
        apply(mg, c->p, c->q);
        const double pq = dot(n, c->p, c->q), before = alpha;
        alpha = pq > 0 ? (float)(rz / pq) : 0;
        if (pq > 0 && rz > 0 && (it == 0 || before > 0)) {
            const double more = it > 0 ? fmax((double)beta, 0) : 0;
            diag[seen] = pq / rz + (it > 0 ? more / before : 0);
            if (seen > 0) {
                off2[seen - 1] = more / (before * before);
            }
            seen++;
        }
        advance(n, alpha, c->p, c->q, c->sum, r);
    }
    add(n, z, c->sum);
    return (struct tmx_cycle_end){(double)left, (double)largest(n, c->sum), least_value(seen, diag, off2)};
}

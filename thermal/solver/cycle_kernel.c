/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Cycles and conjugate gradients on the levels of multigrid.c, compiled for each width of vector (CMake names
 * TMX_KERNEL). No value depends on the width: rows are worked on cell by cell, and sums have a fixed number
 * of chains.
 *
 * Rows are functions of their own, so that the compiler knows what overlaps. */
#include <math.h>
#include <string.h>

#include "thermal/solver/cycle.h"

enum { DEGREE = 2, MOST_ITERATIONS = 60, CHAINS = 16 };
static const double LOW = 0.3; /* the smoother leaves what is below; 0.2 to 0.5 take as many iterations */

#define KERNEL static inline __attribute__((always_inline))

/* ---- The smoother ---- */

struct row { /* of a matrix: links of its cells to all sides, and their diagonal */
    const float *east, *south, *north, *up, *down, *diagonal;
};

/* Steps in an array from a cell to those beside it; 0 where there is none above or below. */
struct beside {
    ptrdiff_t south, below, above;
};

/* Below the first sheet is what the rim before its first line has: no link. */
KERNEL struct row row_at(const struct tmx_mg_level *l, const struct tmx_mg_group *g, const float *diagonal,
                         size_t z, size_t at)
{
    return (struct row){l->east + at,
                        l->south + at,
                        l->south + at - g->row,
                        l->up + at,
                        l->up + (z > 0 ? at - g->sheet : g->first - g->row),
                        diagonal + at};
}

KERNEL struct beside beside_at(const struct tmx_mg_group *g, size_t z)
{
    const ptrdiff_t sheet = (ptrdiff_t)g->sheet;
    return (struct beside){(ptrdiff_t)g->row, z > 0 ? -sheet : 0, z + 1 < g->nz ? sheet : 0};
}

KERNEL size_t line_at(const struct tmx_mg_group *g, size_t z, size_t y)
{
    return g->first + z * g->sheet + y * g->row;
}

/* r := b - A x, or r + that */
KERNEL void residual_row(size_t n, struct row a, struct beside to, bool add, const float *restrict b,
                         const float *restrict x, float *restrict r)
{
    const float *restrict east = a.east, *restrict west = east - 1, *restrict south = a.south,
                          *restrict north = a.north, *restrict up = a.up, *restrict down = a.down,
                          *restrict d = a.diagonal;
    const float *restrict x_west = x - 1, *restrict x_south = x + to.south, *restrict x_north = x - to.south,
                          *restrict x_below = x + to.below, *restrict x_above = x + to.above;
    for (size_t i = 0; i < n; i++) {
        const float own =
            (b[i] - d[i] * x[i]) +
            ((east[i] * x[i + 1] + west[i] * x_west[i]) + (south[i] * x_south[i] + north[i] * x_north[i])) +
            (down[i] * x_below[i] + up[i] * x_above[i]);
        r[i] = add ? r[i] + own : own;
    }
}

/* What the other links bring: r of linked lines and of single nodes. By differences: rings are linked to one
 * another 1e5 times as well as to cells. */
KERNEL void link_flows(const struct tmx_multigrid *mg, const struct tmx_mg_level *l,
                       const struct tmx_mg_vectors *v)
{
    for (size_t k = 0; k < mg->n_group; k++) {
        const struct tmx_mg_group *g = &l->group[k];
        for (size_t line = 0; line < g->nz * g->ny; line++) {
            if (g->linked[line]) {
                memset(v->r + line_at(g, line / g->ny, line % g->ny), 0, g->nx * sizeof *v->r);
            }
        }
    }
    for (size_t i = l->single; i < l->single + mg->n_single; i++) {
        v->r[i] = v->b[i] - l->diagonal[i] * v->x[i];
    }
    for (size_t e = 0; e < l->n_link; e++) {
        const size_t a = l->link[2 * e], b = l->link[2 * e + 1];
        const float flow = l->link_w_k[e] * (v->x[a] - v->x[b]);
        v->r[a] -= flow;
        v->r[b] += flow;
    }
}

/* r := b - A x */
KERNEL void residual(const struct tmx_multigrid *mg, const struct tmx_mg_level *l,
                     const struct tmx_mg_vectors *v)
{
    link_flows(mg, l, v);
    for (size_t k = 0; k < mg->n_group; k++) {
        const struct tmx_mg_group *g = &l->group[k];
        for (size_t line = 0; line < g->nz * g->ny; line++) {
            const size_t z = line / g->ny, at = line_at(g, z, line % g->ny);
            residual_row(g->nx, row_at(l, g, l->diagonal, z, at), beside_at(g, z), g->linked[line], v->b + at,
                         v->x + at, v->r + at);
        }
    }
}

/* r += m r of the row below */
KERNEL void eliminate_row(size_t n, const float *restrict m, const float *restrict below, float *restrict r)
{
    for (size_t i = 0; i < n; i++) {
        r[i] += m[i] * below[i];
    }
}

/* r := pivot r + m r of the row above; above NULL: there is none. */
KERNEL void substitute_row(size_t n, const float *restrict pivot, const float *restrict m,
                           const float *restrict above, float *restrict r)
{
    for (size_t i = 0; i < n && above; i++) {
        r[i] = r[i] * pivot[i] + m[i] * above[i];
    }
    for (size_t i = 0; i < n && !above; i++) {
        r[i] *= pivot[i];
    }
}

/* step := part r + again step */
KERNEL void step_row(size_t n, float part, float again, const float *restrict r, float *restrict step)
{
    for (size_t i = 0; i < n && again != 0; i++) {
        step[i] = part * r[i] + again * step[i];
    }
    for (size_t i = 0; i < n && again == 0; i++) {
        step[i] = part * r[i];
    }
}

/* x := step, or x + step */
KERNEL void move_row(size_t n, bool fresh, const float *restrict step, float *restrict x)
{
    for (size_t i = 0; i < n; i++) {
        x[i] = fresh ? step[i] : x[i] + step[i];
    }
}

/* step := part D^-1 (b - A x) + again step, x := x + step, in one pass: columns are solved row by row in
 * `room` [nz][row], and x of a row moves when the residual of the next one is made. fresh: x is 0, whatever
 * it holds. */
KERNEL void relax(const struct tmx_multigrid *mg, const struct tmx_mg_level *l,
                  const struct tmx_mg_vectors *v, float part, float again, bool fresh, float *room)
{
    if (!fresh) {
        link_flows(mg, l, v);
    }
    for (size_t k = 0; k < mg->n_group; k++) {
        const struct tmx_mg_group *g = &l->group[k];
        const size_t n = g->nx;
        for (size_t y = 0; y <= g->ny; y++) {
            for (size_t z = 0; z < g->nz && y < g->ny; z++) {
                const size_t at = line_at(g, z, y);
                float *r = room + z * g->row;
                const bool linked = !fresh && g->linked[z * g->ny + y];
                if (fresh || linked) {
                    memcpy(r, (fresh ? v->b : v->r) + at, n * sizeof *r);
                }
                if (!fresh) {
                    residual_row(n, row_at(l, g, l->diagonal, z, at), beside_at(g, z), linked, v->b + at,
                                 v->x + at, r);
                }
                if (z > 0) {
                    eliminate_row(n, l->eliminate + at, r - g->row, r);
                }
            }
            for (size_t z = g->nz; z-- > 0;) {
                const size_t at = line_at(g, z, y), before = at - g->row;
                float *r = room + z * g->row;
                if (y > 0) {
                    move_row(n, fresh, v->step + before, v->x + before);
                }
                if (y < g->ny) {
                    const bool top = z + 1 == g->nz;
                    substitute_row(n, l->pivot + at, l->eliminate + at + (top ? 0 : g->sheet),
                                   top ? NULL : r + g->row, r);
                    step_row(n, part, again, r, v->step + at);
                }
            }
        }
    }
    for (size_t i = l->single; i < l->single + mg->n_single; i++) {
        const float r = (fresh ? v->b[i] : v->r[i]) * l->pivot[i];
        v->step[i] = part * r + (again == 0 ? 0 : again * v->step[i]);
        v->x[i] = fresh ? v->step[i] : v->x[i] + v->step[i];
    }
}

/* Chebyshev's polynomial of D^-1 A on [LOW, 2]. */
KERNEL void smooth(const struct tmx_multigrid *mg, const struct tmx_mg_level *l,
                   const struct tmx_mg_vectors *v, bool fresh, float *room)
{
    const double theta = 0.5 * (2 + LOW), delta = 0.5 * (2 - LOW), sigma = theta / delta;
    double rho = 1 / sigma, part = 1 / theta, again = 0;
    for (size_t k = 0; k < DEGREE; k++) {
        relax(mg, l, v, (float)part, (float)again, fresh && k == 0, room);
        const double next = 1 / (2 * sigma - rho);
        part = 2 * next / delta;
        again = next * rho;
        rho = next;
    }
}

/* ---- Between levels ---- */

/* b += part of r, a row of the finer level, by the transpose of interpolation; n coarse cells. */
KERNEL void restrict_row(size_t n, const struct tmx_mg_axis *a, float part, const float *restrict r,
                         float *restrict b)
{
    const float *restrict first = a->down[0], *restrict second = a->down[1], *restrict third = a->down[2],
                          *restrict fourth = a->down[3], *restrict r_west = r - 1;
    for (size_t i = 0; i < n && !a->own; i++) {
        b[i] += part * r[i];
    }
    for (size_t i = 0; i < n && a->own; i++) {
        b[i] += part * ((first[i] * r_west[2 * i] + second[i] * r[2 * i]) +
                        (third[i] * r[2 * i + 1] + fourth[i] * r[2 * i + 2]));
    }
}

/* b of the coarse level := what is left on the fine one. */
KERNEL void restrict_residual(const struct tmx_multigrid *mg, const struct tmx_mg_level *f,
                              const struct tmx_mg_level *c, const struct tmx_mg_vectors *from,
                              const struct tmx_mg_vectors *to)
{
    for (size_t k = 0; k < mg->n_group; k++) {
        const struct tmx_mg_group *g = &f->group[k], *h = &c->group[k];
        for (size_t line = 0; line < h->nz * h->ny; line++) {
            const size_t z = line / h->ny, y = line % h->ny;
            float *b = to->b + line_at(h, z, y);
            memset(b, 0, h->nx * sizeof *b);
            for (size_t t = 0; t < (g->y.own ? 4 : 1); t++) {
                const size_t row = g->y.own ? 2 * y + t - 1 : y;
                const float part = g->y.own ? g->y.down[t][y] : 1;
                if (part != 0) { /* it is 0 where that row is not there */
                    restrict_row(h->nx, &g->x, part, from->r + line_at(g, z, row), b);
                }
            }
        }
    }
    memcpy(to->b + c->single, from->r + f->single, mg->n_single * sizeof *to->b);
}

/* line := part p + (1 - part) q */
KERNEL void blend_row(size_t n, float part, const float *restrict p, const float *restrict q,
                      float *restrict line)
{
    for (size_t i = 0; i < n; i++) {
        line[i] = part * p[i] + (1 - part) * q[i];
    }
}

/* x, a row of the finer level, += line, one of the coarser with zeros around it, linear between the middles
 * of cells. */
KERNEL void interpolate_row(const struct tmx_mg_axis *a, const float *restrict line, float *restrict x)
{
    const float *restrict take = a->own, *restrict west = line - 1;
    for (size_t i = 0; i < a->n && !take; i++) {
        x[i] += line[i];
    }
    for (size_t i = 0; i < a->n / 2 && take; i++) {
        x[2 * i] += take[2 * i] * line[i] + (1 - take[2 * i]) * west[i];
        x[2 * i + 1] += take[2 * i + 1] * line[i] + (1 - take[2 * i + 1]) * line[i + 1];
    }
    if (take && a->n % 2 == 1) { /* the last cell is alone */
        x[a->n - 1] += line[a->n / 2];
    }
}

/* x of the fine level += x of the coarse one. */
KERNEL void interpolate(const struct tmx_multigrid *mg, const struct tmx_mg_level *f,
                        const struct tmx_mg_level *c, const struct tmx_mg_vectors *from,
                        const struct tmx_mg_vectors *to, float *line)
{
    for (size_t k = 0; k < mg->n_group; k++) {
        const struct tmx_mg_group *g = &f->group[k], *h = &c->group[k];
        for (size_t row = 0; row < g->nz * g->ny; row++) {
            const size_t z = row / g->ny, y = row % g->ny, own = g->y.own ? y / 2 : y;
            const float part = g->y.own ? g->y.own[y] : 1;
            const size_t next = part == 1 ? own : y % 2 ? own + 1 : own - 1;
            blend_row(h->nx, part, from->x + line_at(h, z, own), from->x + line_at(h, z, next), line);
            line[-1] = line[h->nx] = 0;
            interpolate_row(&g->x, line, to->x + line_at(g, z, y));
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
        smooth(mg, &mg->level[k], &c->v[k], true, c->room);
        residual(mg, &mg->level[k], &c->v[k]);
        restrict_residual(mg, &mg->level[k], &mg->level[k + 1], &c->v[k], &c->v[k + 1]);
    }
    tmx_cycle_solve_last(mg, c);
    for (size_t k = last; k-- > 0;) {
        interpolate(mg, &mg->level[k], &mg->level[k + 1], &c->v[k + 1], &c->v[k], c->line);
        smooth(mg, &mg->level[k], &c->v[k], false, c->room);
    }
}

/* ---- Conjugate gradients ---- */

KERNEL void apply_row(size_t n, struct row a, struct beside to, const float *restrict x, float *restrict y)
{
    const float *restrict east = a.east, *restrict west = east - 1, *restrict south = a.south,
                          *restrict north = a.north, *restrict up = a.up, *restrict down = a.down,
                          *restrict ground = a.diagonal;
    const float *restrict x_west = x - 1, *restrict x_south = x + to.south, *restrict x_north = x - to.south,
                          *restrict x_below = x + to.below, *restrict x_above = x + to.above;
    for (size_t i = 0; i < n; i++) {
        y[i] = ground[i] * x[i] +
               ((east[i] * (x[i] - x[i + 1]) + west[i] * (x[i] - x_west[i])) +
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
        for (size_t line = 0; line < g->nz * g->ny; line++) {
            const size_t z = line / g->ny, at = line_at(g, z, line % g->ny);
            apply_row(g->nx, row_at(l, g, l->ground, z, at), beside_at(g, z), x + at, y + at);
        }
    }
    for (size_t i = l->single; i < l->single + mg->n_single; i++) {
        y[i] = l->ground[i] * x[i];
    }
    for (size_t e = 0; e < l->n_link; e++) {
        const size_t a = l->link[2 * e], b = l->link[2 * e + 1];
        const float flow = l->link_w_k[e] * (x[a] - x[b]);
        y[a] += flow;
        y[b] -= flow;
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

float TMX_KERNEL(const struct tmx_multigrid *mg, const struct tmx_cycle *c, float part, float limit,
                 double *least)
{
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
    *least = least_value(seen, diag, off2);
    return left;
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Multigrid for networks of cells.
 *
 * The idea. A sheet of a die conducts sideways from cell to cell and, through a thin layer, to the sheet
 * above it. An error of the temperatures that changes from cell to cell dies out in a few passes in which
 * every cell takes the mean of its neighbours; one that is as wide as the die needs as many passes as there
 * are cells. Seen on a grid of half as many cells a side, the wide error is narrower. A V-cycle therefore
 * smooths on each grid what changes from cell to cell there, and leaves the rest to the next coarser one:
 *
 *      level 0   ny x nx cells      smooth              smooth
 *      level 1   ny/2 x nx/2             \  smooth  smooth  /        all sheets on every level: only
 *      level 2   ny/4 x nx/4               \  ...    ...  /          x and y are coarsened
 *      last      at most 2 x 2               solve exactly
 *
 * Its cost is that of the first level and a third, and its result is within some ten per cent of the solution
 * whatever the number of cells. solver.c uses it as the preconditioner of conjugate gradients.
 *
 * The smoother. Sheets are thin, so that heat flows up and down a column of cells a thousand times as easily
 * as sideways, and a pass over single cells would do nothing. Columns are solved exactly (a tridiagonal
 * matrix each), coloured as a chessboard is: those of one colour see only the other one beside them, so that
 * they are solved at once, and half of the residual is 0 behind them. Groups follow one another (black and
 * white each), then single nodes; upwards the order is the reverse, so that a cycle is symmetric. Such a pass
 * (Gauss and Seidel's) makes the error's energy smaller on any network, with no estimate of an eigenvalue.
 * Cells of a colour lie side by side in memory: all loops run along x, and every sum has a fixed order, so
 * that bits do not depend on the width of vectors.
 *
 * Coarse cells. A cell of the next level is two by two of this one (the last of an odd number is one alone;
 * where links along x are more than twice those along y, only x is halved, and conversely). Links up and to
 * ground add up. A link sideways is that from the middle of one coarse cell to the middle of the next: each
 * fine link that crosses the face in series with half of the fine links inside on both sides, added up along
 * the face. Corrections come back by linear interpolation between the middles of coarse cells, and residuals
 * go down by its transpose.
 *
 * More than one grid. The sheets of spreader and sink have grids of their own. Each is a group of one sheet,
 * linked to the cells above and below that it overlaps; its columns are single cells. Such sheets are halved
 * until FEW cells are left of all together. HotSpot's rings around spreader, sink and board are single nodes,
 * which are themselves on every level. The last level solves all of this exactly.
 *
 * Cycles and conjugate gradients (cycle_kernel.c) are in single precision: solver.c corrects what they leave.
 */
#include <stdlib.h>
#include <string.h>

#include "base/os.h"
#include "thermal/solver/cycle.h"
#include "thermal/solver/multigrid.h"

enum { FEW = 2000 };
/* Cells of two groups hang together where links between groups are all of both diagonals but this part: the
 * smoother takes each cell by itself, so that a cycle corrects this part only of what they have in common.
 * Single nodes are solved exactly on the last level, but what they have besides their links to one another
 * must not drown in single precision beside these. */
static const double TOGETHER = 1e-3;
static const double FLAT = 2.0; /* ratio of mean links from which on one direction alone is coarsened */

/* ---- Levels ---- */

void tmx_cells_take(struct tmx_cells *c, size_t n_link, struct tmx_err *err)
{
    TMX_TAKE(&c->arena, c->east_w_k, 3 * c->n_cell + c->n_node); /* one block, which goes back whole */
    if (c->east_w_k) {
        c->south_w_k = c->east_w_k + c->n_cell;
        c->up_w_k = c->south_w_k + c->n_cell;
        c->ground_w_k = c->up_w_k + c->n_cell;
    }
    TMX_TAKE(&c->arena, c->link, n_link);
    tmx_arena_check(&c->arena, err);
}

/* Resistance of half a fine link inside a coarse cell; 0 where there is none. */
static double half(const double *w_k, bool inside)
{
    return inside && *w_k > 0 ? 0.5 / *w_k : 0;
}

/* A link from fine cell i of n of an axis to the next one, where it crosses a coarse face: to the coarse
 * cell's. */
static void add_crossing(const double *w_k, size_t step, size_t i, size_t n, double *to)
{
    if (i + 1 < n && i % 2 == 1 && *w_k > 0) {
        *to += 1 / (1 / *w_k + half(w_k - step, true) + half(w_k + step, i + 2 < n));
    }
}

/* Conductance between a single node and the middle of the coarse cell of cell a: where the node lies beside
 * the sheet, the fine link between both cells is in series with it. */
static double from_middle(const struct tmx_cells *f, const struct tmx_cell_link *l, size_t by_x, size_t by_y)
{
    enum { WEST, EAST, NORTH, SOUTH, SIDES };
    const struct tmx_sheets *g = &f->group[0];
    if (!f->beside || l->a >= f->n_cell || l->b < f->n_cell) {
        return l->w_k;
    }
    const size_t side = (l->b - f->n_cell) % SIDES, x = l->a % g->nx, y = l->a / g->nx % g->ny;
    const bool pair_x = by_x == 2 && (x | 1) < g->nx, pair_y = by_y == 2 && (y | 1) < g->ny;
    const double r = side == WEST    ? half(f->east_w_k + l->a, pair_x)
                     : side == EAST  ? half(f->east_w_k + l->a - (x > 0), pair_x && x > 0)
                     : side == NORTH ? half(f->south_w_k + l->a, pair_y)
                                     : half(f->south_w_k + l->a - (y > 0 ? g->nx : 0), pair_y && y > 0);
    return 1 / (1 / l->w_k + r);
}

struct halving { /* of each group: fine cells a side of a coarse one */
    size_t by_x, by_y;
};

/* The next level of f. */
static void coarsen(const struct tmx_cells *f, const struct halving *by, struct tmx_cells *c,
                    struct tmx_err *err)
{
    struct tmx_arena scratch = {0};
    size_t *to, *start, *last, *order; /* to: the coarse node of each */
    *c = (struct tmx_cells){.n_group = f->n_group, .beside = f->beside};
    TMX_TAKE(&c->arena, c->group, f->n_group);
    for (size_t g = 0; g < f->n_group && c->group; g++) {
        const struct tmx_sheets *fine = &f->group[g];
        c->group[g] = (struct tmx_sheets){(fine->nx + by[g].by_x - 1) / by[g].by_x,
                                          (fine->ny + by[g].by_y - 1) / by[g].by_y, fine->nz, c->n_cell};
        c->n_cell += c->group[g].nx * c->group[g].ny * fine->nz;
    }
    c->n_node = c->n_cell + f->n_node - f->n_cell;
    TMX_TAKE(&scratch, to, f->n_node);
    TMX_TAKE(&scratch, start, c->n_node + 1);
    TMX_TAKE(&scratch, last, c->n_node);
    TMX_TAKE(&scratch, order, f->n_link);
    c->arena.failed = c->arena.failed || scratch.failed;
    tmx_cells_take(c, f->n_link, err);
    for (size_t k = 0; k < f->n_group && !err->code; k++) {
        const struct tmx_sheets *g = &f->group[k], *h = &c->group[k];
        const bool half_x = by[k].by_x == 2, half_y = by[k].by_y == 2;
        for (size_t z = 0; z < g->nz; z++) {
            for (size_t y = 0; y < g->ny; y++) {
                for (size_t x = 0; x < g->nx; x++) {
                    const size_t i = g->first + (z * g->ny + y) * g->nx + x;
                    const size_t into = h->first + (z * h->ny + y / by[k].by_y) * h->nx + x / by[k].by_x;
                    to[i] = into;
                    c->ground_w_k[into] += f->ground_w_k[i];
                    c->up_w_k[into] += f->up_w_k[i];
                    if (half_x) {
                        add_crossing(f->east_w_k + i, 1, x, g->nx, c->east_w_k + into);
                    } else {
                        c->east_w_k[into] += f->east_w_k[i];
                    }
                    if (half_y) {
                        add_crossing(f->south_w_k + i, g->nx, y, g->ny, c->south_w_k + into);
                    } else {
                        c->south_w_k[into] += f->south_w_k[i];
                    }
                }
            }
        }
    }
    for (size_t i = f->n_cell; i < f->n_node && !err->code; i++) {
        to[i] = c->n_cell + i - f->n_cell;
        c->ground_w_k[to[i]] = f->ground_w_k[i];
    }
    /* the other links: those between the same nodes added up, without those of a node to itself */
    const size_t n_link = err->code ? 0 : f->n_link;
    for (size_t e = 0; e < n_link; e++) {
        start[to[f->link[e].a] + 1]++;
    }
    for (size_t i = 0; i < c->n_node && !err->code; i++) {
        start[i + 1] += start[i];
        last[i] = SIZE_MAX;
    }
    for (size_t e = 0; e < n_link; e++) { /* by their lower end, as start goes on */
        order[start[to[f->link[e].a]]++] = e;
    }
    for (size_t e = 0; e < n_link; e++) {
        const struct tmx_cell_link *l = &f->link[order[e]];
        const size_t a = to[l->a], b = to[l->b];
        if (last[b] >= c->n_link || c->link[last[b]].a != a) {
            last[b] = c->n_link;
            c->link[c->n_link++] = (struct tmx_cell_link){.a = a, .b = b};
        }
        c->link[last[b]].w_k += from_middle(f, l, by->by_x, by->by_y);
    }
    tmx_arena_finish(&scratch);
}

static double mean_positive(const double *w_k, size_t n)
{
    double sum = 0;
    size_t count = 0;
    for (size_t i = 0; i < n; i++) {
        sum += w_k[i];
        count += w_k[i] > 0;
    }
    return count ? sum / (double)count : 0;
}

/* What to halve of each group; false: c is the last level. */
static bool choose_halving(const struct tmx_cells *c, struct halving *by)
{
    const size_t others = c->n_cell - c->group[0].nx * c->group[0].ny * c->group[0].nz;
    bool any = false;
    for (size_t k = 0; k < c->n_group; k++) {
        const struct tmx_sheets *g = &c->group[k];
        const size_t n = g->nx * g->ny * g->nz;
        const double along_x = mean_positive(c->east_w_k + g->first, n),
                     along_y = mean_positive(c->south_w_k + g->first, n);
        const bool stays = k > 0 && others <= FEW;
        by[k] = (struct halving){g->nx > 2 && !stays ? 2 : 1, g->ny > 2 && !stays ? 2 : 1};
        if (by[k].by_x == 2 && along_x > FLAT * along_y) {
            by[k].by_y = 1;
        } else if (by[k].by_y == 2 && along_y > FLAT * along_x) {
            by[k].by_x = 1;
        }
        any = any || by[k].by_x == 2 || by[k].by_y == 2;
    }
    return any;
}

static void axis_init(struct tmx_mg_axis *a, size_t n, size_t by, struct tmx_arena *arena)
{
    *a = (struct tmx_mg_axis){.n = n, .coarse = (n + by - 1) / by};
    if (by == 1) {
        return;
    }
    const size_t half = in_lines(a->coarse);
    TMX_TAKE(arena, a->own, 2 * half);
    for (size_t k = 0; k < 4; k++) {
        TMX_TAKE(arena, a->down[k], half);
    }
    if (arena->failed) {
        return;
    }
    for (size_t i = 0; i < 2 * half; i++) { /* where there is no cell, too */
        a->own[i] = 1;
    }
    for (size_t i = 0; i < n;
         i++) { /* linear between the middles of coarse cells, constant beyond the outermost */
        const bool alone = i % 2 == 0 && i + 1 == n, before = i % 2 == 0;
        const bool has_next = !alone && (before ? i > 0 : i / 2 + 1 < a->coarse);
        const double next_width =
            i % 2 == 1 && i + 2 == n ? 1 : 2; /* of the coarse cell beside, in fine cells */
        const double own = has_next ? 1 - 0.5 / (1 + 0.5 * next_width) : 1;
        a->own[i % 2 * half + i / 2] = (float)own;
        a->down[1 + i % 2][i / 2] = (float)own;
        if (has_next) { /* an even cell is number 2I + 2 of the coarse one before it, an odd one 2I - 1 of the
                           next */
            a->down[before ? 3 : 0][before ? i / 2 - 1 : i / 2 + 1] = (float)(1 - own);
        }
    }
}

/* Diagonals of c [n_node]: ground and all links; and behind them those without the other links. */
static void sum_up(const struct tmx_cells *c, double *d)
{
    memcpy(d, c->ground_w_k, c->n_node * sizeof *d);
    for (size_t k = 0; k < c->n_group; k++) {
        const struct tmx_sheets *g = &c->group[k];
        const size_t end = g->first + g->nx * g->ny * g->nz, step[3] = {1, g->nx, g->nx * g->ny};
        const double *const to[3] = {c->east_w_k, c->south_w_k, c->up_w_k};
        for (size_t i = g->first; i < end; i++) {
            for (size_t a = 0; a < 3; a++) {
                d[i] += to[a][i];
                if (to[a][i] > 0) {
                    d[i + step[a]] += to[a][i];
                }
            }
        }
    }
    memcpy(d + c->n_node, d, c->n_node * sizeof *d);
    for (size_t e = 0; e < c->n_link; e++) {
        d[c->link[e].a] += c->link[e].w_k;
        d[c->link[e].b] += c->link[e].w_k;
    }
}

/* Node `own` of a group, or of the single nodes behind the last one, in the arrays of a level. */
static size_t place_of(const struct tmx_mg_level *l, const struct tmx_mg_group *g, size_t own)
{
    return g ? g->first + own / (g->nx * g->ny) * g->sheet + own / g->nx % g->ny * g->row +
                   own % g->nx % 2 * g->odd + own % g->nx / 2
             : l->single + own;
}

static size_t root_of(const size_t *parent, size_t i)
{
    while (parent[i] != i) {
        i = parent[i];
    }
    return i;
}

bool tmx_multigrid_suits(const struct tmx_cells *c, struct tmx_err *err)
{
    struct tmx_arena scratch = {0};
    const size_t n = c->n_node, first = c->n_cell, n_single = n - first;
    double *sum, *besides_w_k;
    size_t *parent;
    bool suits = true;
    TMX_TAKE(&scratch, sum, 2 * n);
    TMX_TAKE(&scratch, besides_w_k, n_single + 1);
    TMX_TAKE(&scratch, parent, n_single + 1);
    tmx_arena_check(&scratch, err);
    const size_t n_link = err->code ? 0 : c->n_link;
    if (!err->code) {
        sum_up(c, sum);
    }
    for (size_t i = 0; i < n_single && !err->code; i++) {
        parent[i] = i;
        besides_w_k[i] = c->ground_w_k[first + i];
    }
    for (size_t e = 0; e < n_link; e++) {
        if (c->link[e].a >= first) {
            const size_t a = root_of(parent, c->link[e].a - first), b = root_of(parent, c->link[e].b - first);
            besides_w_k[a] += a != b ? besides_w_k[b] : 0;
            parent[b] = a;
        }
    }
    for (size_t e = 0; e < n_link; e++) {
        if (c->link[e].a < first && c->link[e].b >= first) {
            besides_w_k[root_of(parent, c->link[e].b - first)] += c->link[e].w_k;
        }
    }
    /* Single nodes that are linked to one another hang together where all that they have besides is little.
     */
    for (size_t e = 0; e < n_link && suits; e++) {
        const size_t a = c->link[e].a, b = c->link[e].b;
        suits = a >= first ? besides_w_k[root_of(parent, b - first)] > TOGETHER * c->link[e].w_k
                           : sum[n + a] > TOGETHER * sum[a] || sum[n + b] > TOGETHER * sum[b];
    }
    tmx_arena_finish(&scratch);
    return suits;
}

/* Where node i is in the arrays of a level, and in *block its block; its line is marked as linked. */
static size_t place(const struct tmx_cells *c, const struct tmx_mg_level *l, size_t i, size_t *block)
{
    size_t k = c->n_group;
    if (i >= c->n_cell) {
        *block = 2 * k + i - c->n_cell;
        return place_of(l, NULL, i - c->n_cell);
    }
    while (c->group[--k].first > i) {
    }
    const struct tmx_mg_group *g = &l->group[k];
    const size_t own = i - c->group[k].first, x = own % g->nx, y = own / g->nx % g->ny;
    g->linked[own / g->nx * 2 + x % 2] = 1;
    *block = 2 * k + (x + y) % 2;
    return place_of(l, g, own);
}

/* n floats, a multiple of TMX_MG_LINE. */
static float *take_lines(struct tmx_arena *arena, size_t n)
{
    float *p;
    TMX_TAKE(arena, p, n + TMX_MG_LINE);
    return p ? p + (TMX_MG_LINE - (uintptr_t)p / sizeof *p % TMX_MG_LINE) % TMX_MG_LINE : NULL;
}

static void level_init(struct tmx_multigrid *mg, const struct tmx_cells *c, const struct halving *by,
                       const double *sum, struct tmx_err *err)
{
    enum { ARRAYS = 6, MARGIN = 4 };
    const size_t n_array = mg->n_level == 0 ? ARRAYS : ARRAYS - 2; /* without up and ground */
    const size_t n_part = 2 * (2 * c->n_group + c->n_node - c->n_cell);
    struct tmx_mg_level *l = &mg->level[mg->n_level++];
    TMX_TAKE(&mg->arena, l->group, c->n_group);
    TMX_TAKE(&mg->arena, l->link, 2 * c->n_link);
    TMX_TAKE(&mg->arena, l->first, n_part + 2);
    for (size_t k = 0; k < c->n_group && l->group; k++) {
        struct tmx_mg_group *g = &l->group[k];
        const struct tmx_sheets *s = &c->group[k];
        *g = (struct tmx_mg_group){
            .nx = s->nx, .ny = s->ny, .nz = s->nz, .odd = in_lines(s->nx - s->nx / 2 + 1)};
        g->row = g->odd + in_lines(s->nx - s->nx / 2);
        g->sheet = g->row * (s->ny + 2);
        g->first = l->n + g->row;
        l->n += g->nz * g->sheet;
        TMX_TAKE(&mg->arena, g->linked, 2 * s->nz * s->ny);
        axis_init(&g->x, s->nx, by[k].by_x, &mg->arena);
        axis_init(&g->y, s->ny, by[k].by_y, &mg->arena);
    }
    l->single = l->n;
    l->n = in_lines(l->n + c->n_node - c->n_cell + MARGIN); /* which transfers read beyond a row, times 0 */
    float **const array[ARRAYS] = {&l->east, &l->south, &l->eliminate, &l->pivot, &l->up, &l->ground};
    /* one block: single arrays would lie between cells that are freed */
    float *lines = take_lines(&mg->arena, n_array * l->n);
    for (size_t a = 0; a < n_array && lines; a++) {
        *array[a] = lines + a * l->n;
    }
    tmx_arena_check(&mg->arena, err);
    if (err->code) {
        return;
    }
    bool positive = true;
    for (size_t k = 0; k < c->n_group; k++) {
        const struct tmx_mg_group *g = &l->group[k];
        const size_t layer = g->nx * g->ny;
        for (size_t own = 0; own < layer; own++) {
            double pivot = 1, before = 0; /* of the cell below, and the link to it */
            for (size_t z = 0; z < g->nz; z++) {
                const size_t i = c->group[k].first + z * layer + own;
                const size_t at = place_of(l, g, z * layer + own);
                const double m = before / pivot, left = sum[i] - m * before;
                positive = positive && left >= 0;
                l->east[at] = (float)c->east_w_k[i];
                l->south[at] = (float)c->south_w_k[i];
                if (l->ground) {
                    l->up[at] = (float)c->up_w_k[i];
                    l->ground[at] = (float)c->ground_w_k[i];
                }
                l->eliminate[at] = (float)m;
                l->pivot[at] = left > 0 ? (float)(1 / left) : 0; /* 0: a cell that is not there */
                pivot = left > 0 ? left : 1;
                before = c->up_w_k[i];
            }
        }
    }
    for (size_t i = c->n_cell; i < c->n_node; i++) {
        const size_t at = l->single + i - c->n_cell;
        positive = positive && sum[i] > 0;
        if (l->ground) {
            l->ground[at] = (float)c->ground_w_k[i];
        }
        l->pivot[at] = (float)(1 / sum[i]);
    }
    /* Both ends of every other link of c, by blocks; first is 0 everywhere. */
    for (int fill = 0; fill < 2; fill++) {
        for (size_t e = 0; e < c->n_link; e++) {
            size_t block[2];
            const size_t at[2] = {place(c, l, c->link[e].a, &block[0]), place(c, l, c->link[e].b, &block[1])};
            for (size_t i = 0; i < 2; i++) {
                size_t *first = &l->first[2 * block[i] + (block[i] <= block[1 - i])];
                if (fill) { /* which moves its beginning to its end */
                    l->link[first[1]++] =
                        (struct tmx_mg_link){(uint32_t)at[i], (uint32_t)at[1 - i], (float)c->link[e].w_k};
                } else {
                    first[2]++;
                }
            }
        }
        for (size_t k = 0; !fill && k < n_part; k++) { /* of part k, from now on at k + 1 */
            l->first[k + 2] += l->first[k + 1];
        }
    }
    if (!positive) {
        tmx_error(err, TMX_ESOLVE, "a network that is not positive definite");
    }
}

/* The exact solution of the last level. */
static void factor_last(struct tmx_multigrid *mg, const struct tmx_cells *c, const double *sum,
                        struct tmx_err *err)
{
    const int n = (int)c->n_node;
    cs *t = cs_spalloc(n, n, 4 * n + (int)c->n_link, 1, 1), *a = NULL;
    int ok = t != NULL;
    for (int i = 0; i < n && ok; i++) { /* the upper triangle */
        ok = cs_entry(t, i, i, sum[i] > 0 ? sum[i] : 1);
    }
    for (size_t k = 0; k < c->n_group && ok; k++) {
        const struct tmx_sheets *g = &c->group[k];
        const size_t end = g->first + g->nx * g->ny * g->nz, step[3] = {1, g->nx, g->nx * g->ny};
        const double *const to[3] = {c->east_w_k, c->south_w_k, c->up_w_k};
        for (size_t i = g->first; i < end && ok; i++) {
            for (size_t d = 0; d < 3; d++) {
                ok = ok && (!(to[d][i] > 0) || cs_entry(t, (int)i, (int)(i + step[d]), -to[d][i]));
            }
        }
    }
    for (size_t e = 0; e < c->n_link && ok; e++) {
        ok = cs_entry(t, (int)c->link[e].a, (int)c->link[e].b, -c->link[e].w_k);
    }
    a = ok ? cs_compress(t) : NULL;
    ok = a && cs_dupl(a);
    mg->order = ok ? cs_schol(1, a) : NULL;
    mg->factor = mg->order ? cs_chol(a, mg->order) : NULL;
    ok = ok && mg->order;
    cs_spfree(t);
    cs_spfree(a);
    if (!ok || !mg->factor) {
        tmx_error(err, ok ? TMX_ESOLVE : TMX_ENOMEM,
                  ok ? "a network that is not positive definite" : "out of memory");
    }
}

struct tmx_multigrid *tmx_multigrid_create(const struct tmx_cells *cells, struct tmx_err *err)
{
    struct tmx_multigrid *m = err->code ? NULL : calloc(1, sizeof *m);
    struct halving *by = err->code ? NULL : calloc(cells->n_group, sizeof *by);
    struct tmx_cells now = *cells, next;
    tmx_memory_check(m && by, err);
    now.arena = (struct tmx_arena){0}; /* the caller's */
    for (bool more = true; more && !err->code;) {
        double *sum = calloc(2 * now.n_node, sizeof *sum);
        tmx_assert(m->n_level < TMX_MOST_LEVELS);
        m->n_group = now.n_group;
        m->n_single = now.n_node - now.n_cell;
        more = choose_halving(&now, by);
        if (sum) {
            sum_up(&now, sum);
            level_init(m, &now, by, sum, err);
        } else {
            tmx_error(err, TMX_ENOMEM, "out of memory");
        }
        if (!more && !err->code) {
            factor_last(m, &now, sum, err);
        }
        free(sum);
        if (more && !err->code) {
            coarsen(&now, by, &next, err);
            tmx_arena_finish(&now.arena);
            now = next;
        }
    }
    tmx_arena_finish(&now.arena);
    free(by);
    if (err->code) {
        tmx_multigrid_destroy(m);
        m = NULL;
    }
    return m;
}

void tmx_multigrid_destroy(struct tmx_multigrid *mg)
{
    if (mg) {
        cs_sfree(mg->order);
        cs_nfree(mg->factor);
        tmx_arena_finish(&mg->arena);
        free(mg);
    }
}

/* ---- The cycle ---- */

static size_t last_nodes(const struct tmx_multigrid *mg)
{
    const struct tmx_mg_level *l = &mg->level[mg->n_level - 1];
    size_t n = mg->n_single;
    for (size_t g = 0; g < mg->n_group; g++) {
        n += l->group[g].nx * l->group[g].ny * l->group[g].nz;
    }
    return n;
}

struct tmx_cycle *tmx_cycle_create(const struct tmx_multigrid *mg)
{
    struct tmx_cycle *c = calloc(1, sizeof *c);
    size_t total = 3 * mg->level[0].n, widest = 0, room = 0;
    float *at;
    for (size_t k = 0; k < mg->n_level; k++) {
        total += 3 * mg->level[k].n;
    }
    for (size_t g = 0; g < mg->n_group; g++) {
        const struct tmx_mg_group *group = &mg->level[0].group[g];
        widest = group->row > widest ? group->row : widest;
        room = group->nz * group->row > room ? group->nz * group->row : room;
    }
    if (!c) {
        return NULL;
    }
    TMX_TAKE(&c->arena, c->group, mg->n_group);
    at = take_lines(&c->arena, total + 4 * TMX_MG_LINE + widest + room);
    TMX_TAKE(&c->arena, c->last, last_nodes(mg));
    TMX_TAKE(&c->arena, c->work, last_nodes(mg));
    if (c->arena.failed) {
        tmx_cycle_destroy(c);
        return NULL;
    }
    memcpy(c->group, mg->level[0].group, mg->n_group * sizeof *c->group);
    c->single = mg->level[0].single;
    tmx_os_large_pages(at, total * sizeof *at);
    for (size_t k = 0; k < mg->n_level; k++) {
        float **const own[] = {&c->v[k].x, &c->v[k].b, &c->v[k].r};
        for (size_t i = 0; i < 3; i++) {
            *own[i] = at;
            at += mg->level[k].n;
        }
    }
    c->p = at;
    c->q = c->p + mg->level[0].n;
    c->sum = c->q + mg->level[0].n;
    c->line = c->sum + mg->level[0].n + TMX_MG_LINE;
    c->room = c->line + widest + 2 * TMX_MG_LINE;
    return c;
}

void tmx_cycle_destroy(struct tmx_cycle *c)
{
    if (c) {
        tmx_arena_finish(&c->arena);
        free(c);
    }
}

static size_t row_at(const struct tmx_mg_group *g, size_t z, size_t y)
{
    return g->first + z * g->sheet + y * g->row;
}

void tmx_cycle_put_row(struct tmx_cycle *c, size_t group, size_t z, size_t y, double scale, const double *row)
{
    const struct tmx_mg_group *g = &c->group[group];
    float *even = c->v[0].b + row_at(g, z, y), *odd = even + g->odd;
    for (size_t i = 0; i < g->nx / 2; i++) {
        even[i] = (float)(scale * row[2 * i]);
        odd[i] = (float)(scale * row[2 * i + 1]);
    }
    if (g->nx % 2 == 1) {
        even[g->nx / 2] = (float)(scale * row[g->nx - 1]);
    }
}

void tmx_cycle_add_row(const struct tmx_cycle *c, size_t group, size_t z, size_t y, double scale, double *row)
{
    const struct tmx_mg_group *g = &c->group[group];
    const float *even = c->sum + row_at(g, z, y), *odd = even + g->odd;
    for (size_t i = 0; i < g->nx / 2; i++) {
        row[2 * i] += scale * (double)even[i];
        row[2 * i + 1] += scale * (double)odd[i];
    }
    if (g->nx % 2 == 1) {
        row[g->nx - 1] += scale * (double)even[g->nx / 2];
    }
}

float *tmx_cycle_rhs_single(struct tmx_cycle *c)
{
    return c->v[0].b + c->single;
}

const float *tmx_cycle_result_single(const struct tmx_cycle *c)
{
    return c->sum + c->single;
}

void tmx_cycle_solve_last(const struct tmx_multigrid *mg, const struct tmx_cycle *c)
{
    const struct tmx_mg_level *l = &mg->level[mg->n_level - 1];
    const struct tmx_mg_vectors *v = &c->v[mg->n_level - 1];
    for (int back = 0; back < 2; back++) {
        size_t n = 0;
        for (size_t k = 0; k <= mg->n_group; k++) {
            const struct tmx_mg_group *g = k < mg->n_group ? &l->group[k] : NULL;
            for (size_t i = 0; i < (g ? g->nx * g->ny * g->nz : mg->n_single); i++, n++) {
                if (back) {
                    v->x[place_of(l, g, i)] = (float)c->last[n];
                } else {
                    c->last[n] = (double)v->b[place_of(l, g, i)];
                }
            }
        }
        if (!back) {
            cs_ipvec(mg->order->pinv, c->last, c->work, (int)n);
            cs_lsolve(mg->factor->L, c->work);
            cs_ltsolve(mg->factor->L, c->work);
            cs_pvec(mg->order->pinv, c->work, c->last, (int)n);
        }
    }
}

struct tmx_cycle_end tmx_cycle_run(const struct tmx_multigrid *mg, const struct tmx_cycle *c, float part,
                                   float limit)
{
    return TMX_ISA_OF(tmx_cycle_any, tmx_cycle_v3, tmx_cycle_v4)(mg, c, part, limit);
}

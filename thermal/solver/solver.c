/* SPDX-License-Identifier: GPL-3.0-or-later */
/* x = (G_net + gamma A + sigma C)^-1 b
 *
 * Symmetric networks. Multigrid with conjugate gradients (multigrid.h) solves for a correction in single
 * precision, to PASS of its largest value; what is left of b is computed in double precision and solved for
 * again. A cycle's answer is an error in kelvins, and passes end when the last one is small. (The size of
 * what is left of b would not do: the heat that a row of backward Euler stores makes b a thousand times as
 * large as what its temperatures move by.)
 *
 * Where coolant flows. Let w be the nodes of coolant and d all others. Coolant is carried along chains of
 * cells, so that A_ww has nearly no fill and is factored. What is left for d,
 *
 *      (A_dd - A_dw A_ww^-1 A_wd) x_d = b_d - A_dw A_ww^-1 b_w,
 *
 * is A_dd, which is symmetric, less the feedback of coolant that was warmed before. GMRES with a cycle of
 * A_dd as the preconditioner solves it. The transposed matrix has A_ww' in place of A_ww.
 *
 * Small networks, and those that have no sheets (HotSpot's block model), are factored as a whole: below SMALL
 * nodes that takes as long as some ten solutions.
 *
 * Where multigrid does not converge a factor of the whole is made after all (solve_exactly).
 *
 * Sums have a fixed number of chains, so that no result depends on the processor. */
#include "thermal/solver/solver.h"

#include <cs.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "thermal/solver/multigrid.h"

enum { SMALL = 1000, SMALL_FLOWING = 500, MOST_PASSES = 12, MOST_ITERATIONS = 300, RESTART = 20, PIECES = 2 };
static const uint32_t FACTORED = 1U << 31; /* of a node's number: it is that in the factor */
static const double ROUNDING = 1e-11;      /* of the largest |x|: no correction is asked to be smaller */
static const double SAFETY = 0.2;          /* the last correction, in parts of the error that is allowed */
/* With coolant, whose feedback no cycle sees, the error is the last correction over the least singular value
 * of (matrix x cycle), 0.014 of pins: the one that the iterations saw, MOST at most, and ASSUMED where they
 * were FEW. */
enum { FEW = 8 };
static const double ASSUMED = 0.05, MOST = 0.5;
/* A pass ends at PASS of its correction. The residual of single precision drifts from the true one by so much
 * of the correction: 4e-5 at worst (ten layers, network 8 of tests/property/test_solver.c), of 16 networks of
 * every kind. */
static const float PASS = 3e-5F;
static const double DRIFT = 5e-5;
static const double PIVOT = 0.1; /* the diagonal is taken where it is so much of the largest entry */

struct workspace { /* of one thread */
    struct tmx_cycle *cycle;
    double *vector; /* owned */
};

struct tmx_solver {
    const struct tmx_network *net;
    struct tmx_thread_pool *pool;
    bool direct;
    struct tmx_sheets *group; /* [n_group] as multigrid has the cells */
    size_t n_group, n_cell, n_single, n_factored;
    uint32_t *number;             /* [n_node] a node's number in multigrid, or with FACTORED */
    uint32_t *single;             /* [n_single] nodes of no sheet, without coolant */
    uint32_t *node;               /* [n_factored] those in the factor */
    struct tmx_conductance *wall; /* [n_wall] from a node in the factor, a, to one that is not, b */
    size_t n_wall;
    struct tmx_arena arena;
    struct workspace work[PIECES];
    struct tmx_solver *exact;        /* owned: NULL until multigrid has failed, which then is its work */
    struct tmx_system *exact_system; /* owned: the last matrix that it failed for */
};

struct tmx_system {
    struct tmx_matrix matrix;
    struct tmx_multigrid *mg; /* NULL: all nodes are in the factor */
    css *order;
    csn *factor;
    bool triangular; /* LL' in place of LU */
};

/* ---- The network as multigrid sees it, and what is factored ---- */

static bool is_factored(const struct tmx_solver *s, size_t node)
{
    return s->number[node] >= FACTORED;
}

static void add_wall(void *ctx, enum tmx_link_kind kind, size_t a, size_t b, double w_k)
{
    struct tmx_solver *s = ctx;
    const bool wet = is_factored(s, a);
    (void)kind;
    if (wet != is_factored(s, b) && TMX_GROW(&s->arena, s->wall, s->n_wall)) {
        s->wall[s->n_wall++] = (struct tmx_conductance){wet ? a : b, wet ? b : a, w_k};
    }
}

static void find_nodes(struct tmx_solver *s)
{
    const struct tmx_network *net = s->net;
    const size_t n = net->n_node;
    TMX_TAKE(&s->arena, s->group, net->n_sheet);
    TMX_TAKE(&s->arena, s->number, n);
    TMX_TAKE(&s->arena, s->single, n);
    TMX_TAKE(&s->arena, s->node, n);
    if (s->arena.failed) {
        return;
    }
    for (size_t i = 0; i < n && s->direct; i++) {
        s->number[i] = FACTORED;
    }
    for (size_t e = 0; e < net->n_flow; e++) {
        s->number[net->flow[e].a] = FACTORED;
    }
    for (size_t k = 0; k < net->n_sheet; k++) {
        const struct tmx_sheet *sheet = &net->sheet[k];
        if (k > 0 && k < net->n_on_chip) {
            s->group[0].nz++;
        } else {
            s->group[s->n_group++] = (struct tmx_sheets){sheet->nx, sheet->ny, 1, s->n_cell};
        }
        for (size_t c = sheet->first; c < sheet->first + sheet->nx * sheet->ny; c++, s->n_cell++) {
            s->number[c] = is_factored(s, c) ? FACTORED : (uint32_t)s->n_cell + 1; /* 0: of no sheet */
        }
    }
    for (size_t i = 0; i < n; i++) {
        if (is_factored(s, i)) {
            s->number[i] = FACTORED + (uint32_t)s->n_factored;
            s->node[s->n_factored++] = (uint32_t)i;
        } else if (s->number[i] > 0) {
            s->number[i]--;
        } else {
            s->number[i] = (uint32_t)(s->n_cell + s->n_single);
            s->single[s->n_single++] = (uint32_t)i;
        }
    }
    if (net->n_flow > 0) {
        tmx_network_each_link(net, add_wall, s);
    }
}

struct tmx_solver *tmx_solver_create(const struct tmx_network *net, enum tmx_solver_method method,
                                     struct tmx_thread_pool *pool, struct tmx_err *err)
{
    struct tmx_solver *s = err->code ? NULL : calloc(1, sizeof *s);
    if (s) {
        s->net = net;
        s->pool = pool;
        s->direct =
            method == TMX_SOLVER_DIRECT || net->n_sheet == 0 ||
            (method == TMX_SOLVER_BY_SIZE && net->n_node <= (net->n_flow > 0 ? SMALL_FLOWING : SMALL));
        find_nodes(s);
    }
    if (!s || s->arena.failed) {
        tmx_error(err, TMX_ENOMEM, "out of memory");
        tmx_solver_destroy(s);
        return NULL;
    }
    return s;
}

struct tmx_solver *tmx_solver_share(const struct tmx_solver *of, struct tmx_err *err)
{
    struct tmx_solver *s = err->code ? NULL : malloc(sizeof *s);
    if (s) {
        *s = *of;
        memset(s->work, 0, sizeof s->work);
        s->arena = (struct tmx_arena){0};
        s->exact = NULL;
        s->exact_system = NULL;
    } else {
        tmx_error(err, TMX_ENOMEM, "out of memory");
    }
    return s;
}

void tmx_solver_destroy(struct tmx_solver *s)
{
    if (s) {
        for (size_t i = 0; i < PIECES; i++) {
            tmx_cycle_destroy(s->work[i].cycle);
            free(s->work[i].vector);
        }
        tmx_system_destroy(s->exact_system);
        tmx_solver_destroy(s->exact);
        tmx_arena_finish(&s->arena);
        free(s);
    }
}

bool tmx_solver_gave_up(const struct tmx_solver *s)
{
    return s->exact != NULL;
}

static double own_w_k(const struct tmx_network *net, const struct tmx_matrix *m, size_t node)
{
    return (net->ground_w_k ? net->ground_w_k[node] : 0) + m->gamma * net->area_m2[node] +
           m->sigma * net->heat_j_k[node];
}

struct filling { /* of cells, or of a matrix */
    const struct tmx_solver *s;
    struct tmx_cells *cells;
    cs *matrix;
    bool failed;
};

/* Factored nodes are ground to the others. */
static void fill_link(void *ctx, enum tmx_link_kind kind, size_t a, size_t b, double w_k)
{
    struct filling *f = ctx;
    const struct tmx_solver *s = f->s;
    struct tmx_cells *c = f->cells;
    const bool wet = is_factored(s, a), also = is_factored(s, b);
    if (wet || also) {
        if (wet != also) {
            c->ground_w_k[s->number[wet ? b : a]] += w_k;
        }
        return;
    }
    const size_t i = s->number[a], j = s->number[b];
    if (kind == TMX_LINK_OTHER) {
        c->link[c->n_link++] = (struct tmx_cell_link){i < j ? i : j, i < j ? j : i, w_k};
    } else {
        double *const to[] = {c->east_w_k, c->south_w_k, c->up_w_k};
        to[kind][i] = w_k;
    }
}

static int factor_row(const struct tmx_solver *s, size_t node)
{
    return (int)(s->number[node] & ~FACTORED);
}

static void fill_entry(void *ctx, enum tmx_link_kind kind, size_t a, size_t b, double w_k)
{
    struct filling *f = ctx;
    const bool wet = is_factored(f->s, a), also = is_factored(f->s, b);
    const int p = factor_row(f->s, a), q = factor_row(f->s, b);
    (void)kind;
    f->failed = f->failed || (wet && !cs_entry(f->matrix, p, p, w_k)) ||
                (also && !cs_entry(f->matrix, q, q, w_k)) ||
                (wet && also && !(cs_entry(f->matrix, p, q, -w_k) && cs_entry(f->matrix, q, p, -w_k)));
}

/* The matrix of the factored nodes, and its factor: with coolant LU, else LL'. */
static void factor(const struct tmx_solver *s, struct tmx_system *a, struct tmx_err *err)
{
    const struct tmx_network *net = s->net;
    const int n = (int)s->n_factored;
    struct filling f = {.s = s, .matrix = cs_spalloc(n, n, 8 * n, 1, 1)};
    cs *c = NULL;
    bool ok = f.matrix != NULL;
    a->triangular = net->n_flow == 0;
    for (int p = 0; p < n && ok; p++) {
        ok = cs_entry(f.matrix, p, p, own_w_k(net, &a->matrix, s->node[p]));
    }
    if (ok) {
        tmx_network_each_link(net, fill_entry, &f);
    }
    for (size_t e = 0; e < net->n_flow && ok && !f.failed; e++) {
        const struct tmx_conductance *flow = &net->flow[e];
        ok = cs_entry(f.matrix, factor_row(s, flow->a), factor_row(s, flow->b), a->matrix.flow * flow->w_k);
    }
    c = ok && !f.failed ? cs_compress(f.matrix) : NULL;
    ok = c && cs_dupl(c);
    a->order = !ok ? NULL : a->triangular ? cs_schol(1, c) : cs_sqr(1, c, 0);
    a->factor = !a->order ? NULL : a->triangular ? cs_chol(c, a->order) : cs_lu(c, a->order, PIVOT);
    cs_spfree(f.matrix);
    cs_spfree(c);
    if (!a->order) {
        tmx_error(err, TMX_ENOMEM, "out of memory");
    } else if (!a->factor) {
        tmx_error(err, TMX_ESOLVE, "network of %zu nodes has no solution", net->n_node);
    }
}

struct tmx_system *tmx_system_create(const struct tmx_solver *s, const struct tmx_matrix *matrix,
                                     struct tmx_err *err)
{
    struct tmx_system *a = err->code ? NULL : calloc(1, sizeof *a);
    struct tmx_cells cells = {0};
    if (!a) {
        tmx_error(err, TMX_ENOMEM, "out of memory");
        return NULL;
    }
    a->matrix = *matrix;
    if (s->n_factored > 0) {
        factor(s, a, err);
    }
    if (!s->direct) {
        const struct tmx_network *net = s->net; /* without the factored nodes */
        cells = (struct tmx_cells){.group = s->group,
                                   .n_group = s->n_group,
                                   .n_cell = s->n_cell,
                                   .n_node = s->n_cell + s->n_single,
                                   .beside = !net->view_start};
        tmx_cells_take(&cells, net->n_link, err);
        for (size_t i = 0; i < net->n_node && !err->code; i++) {
            if (!is_factored(s, i)) {
                cells.ground_w_k[s->number[i]] = own_w_k(net, matrix, i);
            }
        }
        if (!err->code) {
            tmx_network_each_link(net, fill_link, &(struct filling){.s = s, .cells = &cells});
        }
        a->mg = tmx_multigrid_suits(&cells, err) ? tmx_multigrid_create(&cells, err) : NULL;
        tmx_arena_finish(&cells.arena);
    }
    if (err->code) {
        tmx_system_destroy(a);
        a = NULL;
    }
    return a;
}

void tmx_system_destroy(struct tmx_system *system)
{
    if (system) {
        tmx_multigrid_destroy(system->mg);
        cs_sfree(system->order);
        cs_nfree(system->factor);
        free(system);
    }
}

/* x := the factored nodes' matrix^-1 x; work of that size. */
static void solve_factored(const struct tmx_system *a, size_t n_node, bool transposed, double *x,
                           double *work)
{
    const int n = (int)n_node;
    if (a->triangular) {
        cs_ipvec(a->order->pinv, x, work, n);
        cs_lsolve(a->factor->L, work);
        cs_ltsolve(a->factor->L, work);
        cs_pvec(a->order->pinv, work, x, n);
    } else if (!transposed) {
        cs_ipvec(a->factor->pinv, x, work, n);
        cs_lsolve(a->factor->L, work);
        cs_usolve(a->factor->U, work);
        cs_ipvec(a->order->q, work, x, n);
    } else {
        cs_pvec(a->order->q, x, work, n);
        cs_utsolve(a->factor->U, work);
        cs_ltsolve(a->factor->L, work);
        cs_pvec(a->factor->pinv, work, x, n);
    }
}

/* ---- Vectors [n_node] ---- */

/* y := A x, with what coolant carries. */
static void apply(const struct tmx_network *net, const struct tmx_matrix *m, bool transposed, const double *x,
                  double *y)
{
    tmx_network_apply(net, m->gamma, m->sigma, x, y);
    for (size_t e = 0; e < net->n_flow; e++) {
        const struct tmx_conductance *f = &net->flow[e];
        y[transposed ? f->b : f->a] += m->flow * f->w_k * x[transposed ? f->a : f->b];
    }
}

/* r := b - A x */
static void residual(const struct tmx_network *net, const struct tmx_matrix *m, bool transposed,
                     const double *b, const double *x, double *r)
{
    apply(net, m, transposed, x, r);
    for (size_t i = 0; i < net->n_node; i++) {
        r[i] = b[i] - r[i];
    }
}

/* The error that is allowed of an x of a size, and the correction that ends the iterations. */
static double allowed(const struct tmx_accuracy *a, double size)
{
    return fmax(a->kelvin, fmax(a->part, ROUNDING) * size);
}
static double enough(const struct tmx_accuracy *a, double size)
{
    return fmax(SAFETY * a->kelvin, fmax(a->part, ROUNDING) * size);
}

/* Multigrid's right-hand side := scale r, or x += scale its result. */
static void exchange(const struct tmx_solver *s, struct tmx_cycle *c, double scale, const double *r,
                     double *x)
{
    const struct tmx_network *net = s->net;
    for (size_t k = 0; k < net->n_sheet; k++) {
        const struct tmx_sheet *sheet = &net->sheet[k];
        const bool chip = k < net->n_on_chip;
        const size_t group = chip ? 0 : k - net->n_on_chip + (net->n_on_chip > 0), level = chip ? k : 0;
        for (size_t y = 0; y < sheet->ny; y++) {
            const size_t first = sheet->first + y * sheet->nx;
            if (r) {
                tmx_cycle_put_row(c, group, level, y, scale, r + first);
            } else {
                tmx_cycle_add_row(c, group, level, y, scale, x + first);
            }
        }
    }
    for (size_t k = 0; k < s->n_single; k++) {
        if (r) {
            tmx_cycle_rhs_single(c)[k] = (float)(scale * r[s->single[k]]);
        } else {
            x[s->single[k]] += scale * (double)tmx_cycle_result_single(c)[k];
        }
    }
}

/* x += the answer of multigrid to r, to part or limit_k; returns how it ended, in kelvins. */
static struct tmx_cycle_end answer(const struct tmx_solver *s, const struct workspace *work,
                                   const struct tmx_system *a, float part, double limit_k, const double *r,
                                   double *x)
{
    const struct tmx_vectors *v = s->net->vectors;
    const double size = v->largest(s->net->n_node, r),
                 scale = size > 0 ? 1 / size : 0; /* single precision likes values of 1 */
    exchange(s, work->cycle, scale, r, NULL);
    struct tmx_cycle_end end = tmx_cycle_run(a->mg, work->cycle, part, (float)(limit_k * scale));
    exchange(s, work->cycle, size, NULL, x);
    end.correction *= size;
    end.largest *= size;
    return end;
}

/* ---- Symmetric networks ---- */

static enum tmx_status refine(const struct tmx_solver *s, const struct workspace *work,
                              const struct tmx_system *a, const struct tmx_accuracy *accuracy,
                              const double *b, double *x)
{
    const struct tmx_vectors *v = s->net->vectors;
    const size_t n = s->net->n_node;
    const float part = fmaxf(PASS, (float)accuracy->part);
    double least = 1, stricter = 1, size = v->largest(n, x);
    for (size_t pass = 0; pass < MOST_PASSES; pass++) {
        const double *r = size == 0 ? b : work->vector;
        if (r != b) {
            residual(s->net, &a->matrix, false, b, x, work->vector);
        }
        const struct tmx_cycle_end end = answer(s, work, a, part, stricter * enough(accuracy, size), r, x);
        least = fmin(least, end.least);
        size = v->largest(n, x);
        const double error_k = end.correction * (1 / least - 1), may_k = allowed(accuracy, size);
        if (isfinite(size) && end.correction <= enough(accuracy, size) &&
            error_k + DRIFT * end.largest <= may_k) {
            return TMX_OK;
        }
        stricter *= error_k > may_k / 2 && end.correction <= may_k ? 0.5 * may_k / error_k : 1;
    }
    return TMX_ESOLVE;
}

/* ---- Where coolant flows ---- */

/* Vectors; RESTART + 1 of the basis, and as many in single precision of what the cycle made of these. */
enum { F_R, F_Z, F_ROOM, F_BASIS, F_STEPS = F_BASIS + RESTART + 1, F_END = F_STEPS + RESTART / 2 };

struct flowing { /* a solution */
    const struct tmx_solver *s;
    const struct workspace *work;
    const struct tmx_system *a;
    bool transposed;
    double *z, *room; /* [n_node] work */
};

/* x_w := x_w + A_ww^-1 r_w, r := r - A of that: r_w becomes 0. */
static void settle_coolant(const struct flowing *f, double *x, double *r)
{
    const struct tmx_solver *s = f->s;
    double *delta = f->z;
    for (size_t k = 0; k < s->n_factored; k++) {
        delta[k] = r[s->node[k]];
    }
    solve_factored(f->a, s->n_factored, f->transposed, delta, f->room);
    for (size_t k = 0; k < s->n_factored; k++) {
        x[s->node[k]] += delta[k];
        r[s->node[k]] = 0;
    }
    for (size_t e = 0; e < s->n_wall; e++) {
        r[s->wall[e].b] += s->wall[e].w_k * delta[factor_row(s, s->wall[e].a)];
    }
}

/* z := M^-1 v with the coolant that goes with it; v has none. */
static void precondition_flowing(const struct flowing *f, const double *v, double *z)
{
    const struct tmx_solver *s = f->s;
    const size_t w = s->n_factored;
    double *gain = f->room, *work = f->room + w; /* gain: - A_wd z_d */
    memset(z, 0, s->net->n_node * sizeof *z);
    (void)answer(s, f->work, f->a, 1, 0, v, z);
    for (size_t i = 0; i < s->net->n_node; i++) {
        z[i] = (double)(float)z[i]; /* as krylov keeps it */
    }
    memset(gain, 0, w * sizeof *gain);
    for (size_t e = 0; e < s->n_wall; e++) {
        gain[factor_row(s, s->wall[e].a)] += s->wall[e].w_k * z[s->wall[e].b];
    }
    solve_factored(f->a, w, f->transposed, gain, work);
    for (size_t k = 0; k < w; k++) {
        z[s->node[k]] = gain[k];
    }
}

struct seen { /* in n iterations */
    double least;
    size_t n;
};

static double least_of(const struct seen *seen)
{
    return seen->n < FEW ? fmin(ASSUMED, seen->least) : seen->least;
}

/* About the least singular value of h, a triangle of m rows, by inverse iteration: never below it. */
static double least_singular(size_t m, double (*h)[RESTART])
{
    enum { TIMES = 4 };
    double u[RESTART], square = 1;
    for (size_t j = 0; j < m; j++) {
        u[j] = 1;
    }
    for (int k = 0; k < TIMES; k++) {
        for (size_t j = m; j-- > 0;) {
            for (size_t i = j + 1; i < m; i++) {
                u[j] -= h[j][i] * u[i];
            }
            u[j] /= h[j][j];
        }
        for (size_t j = 0; j < m; j++) {
            for (size_t i = 0; i < j; i++) {
                u[j] -= h[i][j] * u[i];
            }
            u[j] /= h[j][j];
        }
        square = 0;
        for (size_t j = 0; j < m; j++) {
            square += u[j] * u[j];
        }
        for (size_t j = 0; j < m; j++) {
            u[j] /= sqrt(square);
        }
    }
    return 1 / sqrt(sqrt(square));
}

/* x += the correction that the basis has of the residual r it began with, until what is left of that is small
 * enough; z is M^-1 r. */
static enum tmx_status krylov(const struct flowing *f, double *x, const double *r, double enough,
                              struct seen *seen)
{
    const struct tmx_vectors *v = f->s->net->vectors;
    const size_t n = f->s->net->n_node;
    double h[RESTART + 1][RESTART], c[RESTART], s[RESTART], g[RESTART + 1] = {0}, y[RESTART];
    double *basis = f->work->vector + F_BASIS * n;
    float *step = (float *)(f->work->vector + F_STEPS * n);
    size_t m = 0;
    const double begin = g[0] = sqrt(v->dot(n, r, r));
    for (size_t i = 0; i < n; i++) {
        basis[i] = r[i] / begin;
        step[i] = (float)f->z[i];
        f->z[i] /= begin;
    }
    while (m < RESTART && fabs(g[m]) > enough * least_of(seen)) {
        double *next = basis + (m + 1) * n;
        if (m > 0) {
            precondition_flowing(f, basis + m * n, f->z);
            for (size_t i = 0; i < n; i++) {
                step[m * n + i] = (float)f->z[i];
            }
        }
        apply(f->s->net, &f->a->matrix, f->transposed, f->z, next);
        for (size_t k = 0; k < f->s->n_factored; k++) {
            next[f->s->node[k]] = 0; /* but for rounding */
        }
        for (size_t j = 0; j <= m; j++) {
            h[j][m] = v->dot(n, basis + j * n, next);
            v->axpy(n, -h[j][m], basis + j * n, next);
        }
        h[m + 1][m] = sqrt(v->dot(n, next, next));
        for (size_t i = 0; i < n && h[m + 1][m] > 0; i++) {
            next[i] /= h[m + 1][m];
        }
        for (size_t j = 0; j < m; j++) { /* rotations make h triangular */
            const double up = c[j] * h[j][m] + s[j] * h[j + 1][m];
            h[j + 1][m] = c[j] * h[j + 1][m] - s[j] * h[j][m];
            h[j][m] = up;
        }
        const double size = hypot(h[m][m], h[m + 1][m]);
        if (!(size > 0) || !isfinite(size)) {
            return TMX_ESOLVE;
        }
        c[m] = h[m][m] / size;
        s[m] = h[m + 1][m] / size;
        h[m][m] = size;
        g[m + 1] = -s[m] * g[m];
        g[m] *= c[m];
        m++;
        seen->least = fmin(seen->least, least_singular(m, h));
        seen->n++;
    }
    for (size_t j = m; j-- > 0;) {
        y[j] = g[j];
        for (size_t k = j + 1; k < m; k++) {
            y[j] -= h[j][k] * y[k];
        }
        y[j] /= h[j][j];
    }
    y[0] /= begin;
    for (size_t j = 0; j < m; j++) {
        for (size_t i = 0; i < n; i++) {
            x[i] += y[j] * (double)step[j * n + i];
        }
    }
    return TMX_OK;
}

static enum tmx_status flowing(const struct tmx_solver *s, const struct workspace *work,
                               const struct tmx_system *a, const struct tmx_accuracy *accuracy,
                               bool transposed, const double *b, double *x)
{
    const struct tmx_vectors *v = s->net->vectors;
    const size_t n = s->net->n_node;
    double *r = work->vector + F_R * n;
    const struct flowing f = {s, work, a, transposed, work->vector + F_Z * n, work->vector + F_ROOM * n};
    struct seen seen = {MOST, 0};
    for (size_t it = 0; it < MOST_ITERATIONS; it += RESTART) {
        residual(s->net, &a->matrix, transposed, b, x, r);
        settle_coolant(&f, x, r);
        precondition_flowing(&f, r, f.z);
        const double left = v->largest(n, f.z);
        const double want = enough(accuracy, fmax(left, v->largest(n, x)));
        if (left <= want * least_of(&seen)) {
            v->axpy(n, 1, f.z, x);
            return TMX_OK;
        }
        const enum tmx_status st = krylov(&f, x, r, 0.3 * sqrt(v->dot(n, r, r)) * want / left, &seen);
        if (st) {
            return st;
        }
    }
    return TMX_ESOLVE;
}

/* ---- Right-hand sides ---- */

struct call {
    struct tmx_solver *s;
    const struct tmx_system *a;
    const struct tmx_accuracy *accuracy;
    bool transposed;
    size_t n_rhs;
    const double *b, *from;
    double *x;
    enum tmx_status st[PIECES];
};

static enum tmx_status have(const struct tmx_solver *s, const struct tmx_system *a, struct workspace *work)
{
    const size_t n = s->net->n_node, vectors = s->direct ? 2 : s->net->n_flow > 0 ? F_END : 1;
    work->vector = work->vector ? work->vector : malloc(vectors * n * sizeof *work->vector);
    work->cycle = work->cycle || !a->mg ? work->cycle : tmx_cycle_create(a->mg);
    return !work->vector || (a->mg && !work->cycle) ? TMX_ENOMEM : TMX_OK;
}

/* Every PIECES-th right-hand side where a pool shares them; else all. */
static void solve_piece(void *ctx, size_t piece)
{
    struct call *c = ctx;
    struct tmx_solver *s = c->s;
    const size_t n = s->net->n_node, step = s->pool ? PIECES : 1;
    const bool flows = s->net->n_flow > 0;
    struct workspace *work = &s->work[piece];
    enum tmx_status st = have(s, c->a, work);
    for (size_t k = piece; k < c->n_rhs && !st; k += step) {
        const double *b = c->b + k * n;
        double *x = c->x + k * n;
        if (s->direct) {
            /* A steady state is corrected once: the sums on the diagonal have rounded off some of what goes
             * to ground. */
            double *r = work->vector, *room = work->vector + n;
            memcpy(x, b, n * sizeof *x);
            solve_factored(c->a, n, c->transposed, x, room);
            if (c->a->matrix.sigma == 0) {
                residual(s->net, &c->a->matrix, c->transposed, b, x, r);
                solve_factored(c->a, n, c->transposed, r, room);
                s->net->vectors->axpy(n, 1, r, x);
            }
            continue;
        }
        if (!c->from) {
            memset(x, 0, n * sizeof *x);
        } else if (c->from != c->x) {
            memcpy(x, c->from + k * n, n * sizeof *x);
        }
        st = flows ? flowing(s, work, c->a, c->accuracy, c->transposed, b, x)
                   : refine(s, work, c->a, c->accuracy, b, x);
    }
    c->st[piece] = st;
}

/* By a factor of the whole, where multigrid does not converge: sheets of different extent with a link between
 * them that is some 1e7 times as strong as those beside it. */
static enum tmx_status solve_exactly(struct call *c)
{
    struct tmx_solver *s = c->s;
    struct tmx_err err = {0};
    const struct tmx_matrix *has = s->exact_system ? &s->exact_system->matrix : NULL, *want = &c->a->matrix;
    s->exact = s->exact ? s->exact : tmx_solver_create(s->net, TMX_SOLVER_DIRECT, NULL, &err);
    if (!(has && has->gamma == want->gamma && has->sigma == want->sigma && has->flow == want->flow)) {
        tmx_system_destroy(s->exact_system);
        s->exact_system = tmx_system_create(s->exact, want, &err);
    }
    return err.code
               ? err.code
               : tmx_solve(s->exact, s->exact_system, c->accuracy, c->transposed, c->n_rhs, c->b, NULL, c->x);
}

enum tmx_status tmx_solve(struct tmx_solver *s, const struct tmx_system *a,
                          const struct tmx_accuracy *accuracy, bool transposed, size_t n_rhs, const double *b,
                          const double *from, double *x)
{
    struct call c = {s, a, accuracy, transposed, n_rhs, b, from, x, {TMX_OK}};
    if (!s->direct && !a->mg) {
        return solve_exactly(&c);
    }
    tmx_thread_pool_run(s->pool, s->pool ? PIECES : 1, solve_piece, &c);
    const enum tmx_status st = c.st[0] ? c.st[0] : c.st[1];
    return st == TMX_ESOLVE && !s->direct ? solve_exactly(&c) : st;
}

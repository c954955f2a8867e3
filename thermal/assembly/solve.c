/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "thermal/assembly/solve.h"

#include <cholmod.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/os.h"
#include "thermal/assembly/lu.h"

/* CHOLMOD's loops over index lists begin OpenMP threads, four or more, for each block of the factor: they
 * wait for one another longer than they work. No level of them may be active while it factors: it goes on
 * alone, to the same numbers, in half the time. */
#ifdef TMX_GOMP
int omp_get_max_active_levels(void);
void omp_set_max_active_levels(int levels);
static int factorise(cholmod_sparse *a, cholmod_factor *l, cholmod_common *common)
{
    const int levels = omp_get_max_active_levels();
    omp_set_max_active_levels(0);
    const int done = cholmod_factorize(a, l, common);
    omp_set_max_active_levels(levels);
    return done;
}
#else
static int factorise(cholmod_sparse *a, cholmod_factor *l, cholmod_common *common)
{
    return cholmod_factorize(a, l, common);
}
#endif

/* A matrix that flow makes unsymmetric: the lower triangle, [n_entry] each. */
struct flowing {
    struct tmx_lu_order order;
    size_t *diagonal; /* [n] owned: entry */
    double *net, *lower_flow,
        *upper_flow;       /* owned: G_net, what coolant carries there and at its mirror image */
    double *lower, *upper; /* owned: the shifted matrix */
    double part;           /* of the coolant */
};

struct tmx_solver {
    const struct tmx_network *net;
    cholmod_common common;
    cholmod_factor *order; /* symbolic */
    double *value;         /* [n_entry] of the shifted matrix */
    cholmod_dense *y, *e;
    struct flowing flow; /* where coolant flows; CHOLMOD finds the order of it */
    double *work;        /* [n_work] owned: of a solve with it */
    size_t n_work;
};

struct tmx_factor {
    cholmod_factor *l;
    double *value;                    /* owned: where coolant flows */
    const struct tmx_lu_order *order; /* of the solver that made it */
};

static void flowing_finish(struct flowing *f)
{
    tmx_lu_order_finish(&f->order);
    free(f->diagonal);
    free(f->net);
    free(f->lower);
    *f = (struct flowing){0};
}

/* The lower triangle of net with the entries of its flow, added up: from[0] of the network itself, from[1]
 * and from[2] of the flow, the second that of the mirror image. The pattern is the same in each. */
static cholmod_sparse *collect(const struct tmx_network *net, int from, cholmod_common *common)
{
    const size_t n = net->n_node, n_net = (size_t)net->col_start[n];
    cholmod_triplet *t = cholmod_allocate_triplet(n, n, n_net + net->n_flow, -1, CHOLMOD_REAL, common);
    if (!t) {
        return NULL;
    }
    int *row = t->i, *col = t->j;
    double *value = t->x;
    for (size_t c = 0; c < n; c++) {
        for (int e = net->col_start[c]; e < net->col_start[c + 1]; e++, t->nnz++) {
            row[t->nnz] = net->row[e], col[t->nnz] = (int)c;
            value[t->nnz] = from == 0 ? net->value_w_k[e] : 0;
        }
    }
    for (size_t e = 0; e < net->n_flow; e++, t->nnz++) {
        const struct tmx_conductance *f = &net->flow[e];
        row[t->nnz] = (int)(f->a > f->b ? f->a : f->b), col[t->nnz] = (int)(f->a > f->b ? f->b : f->a);
        value[t->nnz] = from == (f->a >= f->b ? 1 : 2) ? f->w_k : 0;
    }
    cholmod_sparse *a = cholmod_triplet_to_sparse(t, t->nnz, common);
    cholmod_free_triplet(&t, common);
    return a;
}

static cholmod_factor *analyze_by_place(const struct tmx_network *net, cholmod_sparse *a,
                                        cholmod_common *common)
{
    int *order = calloc(net->n_node, sizeof *order);
    cholmod_factor *l = NULL;
    if (order && !tmx_order_by_place(net, order, NULL)) {
        common->method[0].ordering = CHOLMOD_GIVEN;
        l = cholmod_analyze_p(a, order, NULL, 0, common);
    }
    free(order);
    return l;
}

static enum tmx_status flowing_init(struct flowing *f, const struct tmx_network *net, cholmod_common *common,
                                    struct tmx_err *err)
{
    const size_t n = net->n_node;
    cholmod_sparse *part[3] = {0};
    for (int i = 0; i < 3; i++) {
        part[i] = collect(net, i, common);
    }
    /* few zeros in the blocks: an instance solves once a step, for which each entry is read */
    common->supernodal = CHOLMOD_SUPERNODAL;
    common->zrelax[0] = 0.1;
    common->zrelax[1] = 0.02;
    common->zrelax[2] = 0.01;
    common->nmethods = 2; /* by place or by least degree, whichever has fewer entries: 14 and 22 million on
                             150 x 100 merged cells, 8 and 6 million on 50 x 201 resolved ones */
    common->method[1].ordering = CHOLMOD_AMD;
    const bool have = part[0] && part[1] && part[2];
    cholmod_factor *l = have ? analyze_by_place(net, part[0], common) : NULL;
    const size_t n_entry = l ? (size_t)((int *)part[0]->p)[n] : 0;
    f->part = 1;
    f->diagonal = calloc(n, sizeof *f->diagonal);
    f->net = calloc(3 * n_entry + 1, sizeof *f->net);
    f->lower = calloc(2 * n_entry + 1, sizeof *f->lower);
    f->lower_flow = f->net + n_entry;
    f->upper_flow = f->net + 2 * n_entry;
    f->upper = f->lower + n_entry;
    enum tmx_status st = TMX_ENOMEM;
    if (l && f->diagonal && f->net && f->lower) {
        const struct tmx_lu_pattern pattern = {.n = n,
                                               .n_block = l->nsuper,
                                               .col_start = part[0]->p,
                                               .row = part[0]->i,
                                               .column = l->Perm,
                                               .first = l->super,
                                               .row_start = l->pi,
                                               .block_row = l->s};
        for (int i = 0; i < 3; i++) {
            memcpy(f->net + (size_t)i * n_entry, part[i]->x, n_entry * sizeof *f->net);
        }
        for (size_t c = 0; c < n; c++) {
            size_t e = (size_t)pattern.col_start[c];
            while (pattern.row[e] != (int)c) {
                e++;
            }
            f->diagonal[c] = e;
        }
        st = tmx_lu_order_init(&f->order, &pattern, err);
    }
    for (int i = 0; i < 3; i++) {
        cholmod_free_sparse(&part[i], common);
    }
    cholmod_free_factor(&l, common);
    return st ? tmx_fail(err, TMX_ENOMEM, "ordering of %zu nodes", n) : TMX_OK;
}

static enum tmx_status flowing_factor(struct flowing *f, const struct tmx_network *net, double gamma,
                                      double sigma, struct tmx_factor *factor, struct tmx_err *err)
{
    const size_t n_value = f->order.start[f->order.n_block];
    if (!factor->value) {
        factor->value = malloc(n_value * sizeof *factor->value);
        factor->order = &f->order;
        if (!factor->value) {
            return tmx_fail(err, TMX_ENOMEM, "factor of %zu nodes: out of memory", net->n_node);
        }
        tmx_os_large_pages(factor->value, n_value * sizeof *factor->value);
    }
    for (size_t e = 0; e < f->order.n_entry; e++) {
        f->lower[e] = f->net[e] + f->part * f->lower_flow[e];
        f->upper[e] = f->net[e] + f->part * f->upper_flow[e];
    }
    for (size_t c = 0; c < net->n_node; c++) {
        f->lower[f->diagonal[c]] += gamma * net->area_m2[c] + sigma * net->heat_j_k[c];
    }
    const enum tmx_status st = tmx_lu_factor(&f->order, f->lower, f->upper, factor->value);
    if (st) {
        return tmx_fail(err, st,
                        st == TMX_ENOMEM ? "factor of %zu nodes: out of memory"
                                         : "network of %zu nodes has no solution",
                        net->n_node);
    }
    return TMX_OK;
}

static enum tmx_status flowing_solve(struct tmx_solver *s, const struct tmx_factor *f, bool transposed,
                                     size_t n_rhs, const double *b, double *x)
{
    const size_t n_work = n_rhs * (f->order->n + f->order->most_row);
    if (s->n_work < n_work) {
        free(s->work);
        s->work = malloc(n_work * sizeof *s->work);
        s->n_work = s->work ? n_work : 0;
        if (!s->work) {
            return TMX_ENOMEM;
        }
        tmx_os_large_pages(s->work, n_work * sizeof *s->work);
    }
    tmx_lu_solve(f->order, f->value, transposed, n_rhs, b, x, s->work);
    return TMX_OK;
}

/* The matrix of net with these values, as CHOLMOD sees it. */
static cholmod_sparse view(const struct tmx_network *net, double *value)
{
    return (cholmod_sparse){.nrow = net->n_node,
                            .ncol = net->n_node,
                            .nzmax = (size_t)net->col_start[net->n_node],
                            .p = net->col_start,
                            .i = net->row,
                            .x = value,
                            .stype = -1,
                            .itype = CHOLMOD_INT,
                            .xtype = CHOLMOD_REAL,
                            .dtype = CHOLMOD_DOUBLE,
                            .sorted = 1,
                            .packed = 1};
}

enum tmx_factoring tmx_factoring_for_steps(const struct tmx_network *net)
{
    return net->view_start ? TMX_FACTOR_BLOCKS : TMX_FACTOR_COLUMNS; /* HotSpot's nodes are its view */
}

enum tmx_status tmx_solver_create_workspace(const struct tmx_network *net, struct tmx_solver **s,
                                            struct tmx_err *err)
{
    struct tmx_solver *v = calloc(1, sizeof *v);
    if (!v) {
        return tmx_fail(err, TMX_ENOMEM, "solver");
    }
    cholmod_start(&v->common);
    v->common.final_ll = 1;
    v->common.print = 0;
    v->common.nmethods = 1; /* one order, always the same */
    v->common.method[0].ordering = CHOLMOD_AMD;
    v->net = net;
    *s = v;
    return TMX_OK;
}

enum tmx_status tmx_solver_create(const struct tmx_network *net, enum tmx_factoring factoring,
                                  struct tmx_solver **s, struct tmx_err *err)
{
    const enum tmx_status st = tmx_solver_create_workspace(net, s, err);
    if (st) {
        return st;
    }
    struct tmx_solver *v = *s;
    if (net->n_flow > 0) {
        const enum tmx_status made = flowing_init(&v->flow, net, &v->common, err);
        if (made) {
            tmx_solver_destroy(v);
            *s = NULL;
        }
        return made;
    }
    v->common.supernodal = factoring == TMX_FACTOR_BLOCKS ? CHOLMOD_SUPERNODAL : CHOLMOD_SIMPLICIAL;
    v->value = calloc((size_t)net->col_start[net->n_node], sizeof *v->value);
    cholmod_sparse a = view(net, net->value_w_k);
    if (v->value && factoring == TMX_FACTOR_BLOCKS) {
        v->order = analyze_by_place(net, &a, &v->common);
    } else if (v->value) {
        v->order = cholmod_analyze(&a, &v->common);
    }
    if (!v->order) {
        tmx_solver_destroy(v);
        *s = NULL;
        return tmx_fail(err, TMX_ENOMEM, "ordering of %zu nodes", net->n_node);
    }
    return TMX_OK;
}

enum tmx_status tmx_solver_create_copy(const struct tmx_solver *s, struct tmx_solver **copy,
                                       struct tmx_err *err)
{
    const enum tmx_status st = tmx_solver_create_workspace(s->net, copy, err);
    if (st) {
        return st;
    }
    struct tmx_solver *v = *copy;
    v->common.supernodal = s->common.supernodal;
    v->value = calloc((size_t)s->net->col_start[s->net->n_node], sizeof *v->value);
    v->order = v->value ? cholmod_copy_factor(s->order, &v->common) : NULL;
    if (!v->order) {
        tmx_solver_destroy(v);
        *copy = NULL;
        return tmx_fail(err, TMX_ENOMEM, "ordering of %zu nodes", s->net->n_node);
    }
    return TMX_OK;
}

void tmx_solver_set_flow(struct tmx_solver *s, double flow)
{
    s->flow.part = flow;
}

void tmx_solver_destroy(struct tmx_solver *s)
{
    if (!s) {
        return;
    }
    cholmod_free_dense(&s->y, &s->common);
    cholmod_free_dense(&s->e, &s->common);
    cholmod_free_factor(&s->order, &s->common);
    cholmod_finish(&s->common);
    flowing_finish(&s->flow);
    free(s->work);
    free(s->value);
    free(s);
}

enum tmx_status tmx_factor_create(struct tmx_solver *s, double gamma, double sigma, struct tmx_factor **f,
                                  struct tmx_err *err)
{
    tmx_assert(s->order || s->flow.net); /* a work space makes no factors */
    struct tmx_factor *v = calloc(1, sizeof *v);
    *f = NULL;
    if (v && s->order) {
        v->l = cholmod_copy_factor(s->order, &s->common);
    }
    if (!v || (!v->l && s->order)) {
        free(v);
        return tmx_fail(err, TMX_ENOMEM, "factor of %zu nodes", s->net->n_node);
    }
    const enum tmx_status st = tmx_factor_renew(s, gamma, sigma, v, err);
    if (st) {
        tmx_factor_destroy(s, v);
        return st;
    }
    *f = v;
    return TMX_OK;
}

/* Memory of a supernodal factor, before CHOLMOD fills it. */
static bool make_room(struct tmx_solver *s, cholmod_factor *l)
{
    if (!l->is_super || l->xtype != CHOLMOD_PATTERN) {
        return true;
    }
    const bool made = cholmod_change_factor(CHOLMOD_REAL, 1, 1, 1, 1, l, &s->common);
    tmx_os_large_pages(made ? l->x : NULL, l->xsize * sizeof(double));
    return made;
}

enum tmx_status tmx_factor_renew(struct tmx_solver *s, double gamma, double sigma, struct tmx_factor *f,
                                 struct tmx_err *err)
{
    const struct tmx_network *net = s->net;
    const size_t n_entry = (size_t)net->col_start[net->n_node];
    if (s->flow.net) {
        return flowing_factor(&s->flow, net, gamma, sigma, f, err);
    }
    tmx_assert(f->l);
    memcpy(s->value, net->value_w_k, n_entry * sizeof *s->value);
    for (size_t c = 0; c < net->n_node; c++) {
        s->value[net->col_start[c]] += gamma * net->area_m2[c] + sigma * net->heat_j_k[c];
    }
    cholmod_sparse a = view(net, s->value);
    if (!make_room(s, f->l) || !factorise(&a, f->l, &s->common) || s->common.status != CHOLMOD_OK) {
        const int memory = s->common.status == CHOLMOD_OUT_OF_MEMORY;
        return tmx_fail(err, memory ? TMX_ENOMEM : TMX_ESOLVE,
                        memory ? "factor of %zu nodes: out of memory"
                               : "network of %zu nodes is not positive definite",
                        net->n_node);
    }
    return TMX_OK;
}

void tmx_factor_destroy(struct tmx_solver *s, struct tmx_factor *f)
{
    if (f) {
        free(f->value);
        cholmod_free_factor(&f->l, &s->common);
        free(f);
    }
}

size_t tmx_solver_entries(const struct tmx_solver *s)
{
    return !s->order ? 0 : s->order->is_super ? s->order->xsize : (size_t)s->common.lnz;
}

size_t tmx_factor_entries(const struct tmx_factor *f)
{
    tmx_assert(f->l); /* of a symmetric network */
    const int *count = f->l->nz;
    size_t n = 0;
    if (f->l->is_super) {
        return f->l->xsize; /* with its padding */
    }
    for (size_t c = 0; c < f->l->n; c++) {
        n += (size_t)count[c];
    }
    return n;
}

/* The columns of x as CHOLMOD sees them. It writes them only where they are a result. */
static cholmod_dense columns(const struct tmx_solver *s, size_t n_rhs, const double *x)
{
    const size_t n = s->net->n_node;
    const union {
        const double *from;
        double *to;
    } at = {.from = x};
    return (cholmod_dense){.nrow = n,
                           .ncol = n_rhs,
                           .nzmax = n * n_rhs,
                           .d = n,
                           .x = at.to,
                           .xtype = CHOLMOD_REAL,
                           .dtype = CHOLMOD_DOUBLE};
}

/* One of CHOLMOD's systems of a factor. */
static enum tmx_status solve(struct tmx_solver *s, int system, const struct tmx_factor *f, size_t n_rhs,
                             const double *b, double *x)
{
    cholmod_dense rhs = columns(s, n_rhs, b), result = columns(s, n_rhs, x), *into = &result;
    if (n_rhs > 1 && system != CHOLMOD_P && (!s->y || s->y->nzmax < s->net->n_node * n_rhs)) {
        cholmod_dense *y =
            cholmod_ensure_dense(&s->y, s->net->n_node, n_rhs, s->net->n_node, CHOLMOD_REAL, &s->common);
        tmx_os_large_pages(y ? y->x : NULL, s->net->n_node * n_rhs * sizeof(double));
    }
    if (!cholmod_solve2(system, f->l, &rhs, NULL, &into, NULL, &s->y, &s->e, &s->common)) {
        return s->common.status == CHOLMOD_OUT_OF_MEMORY ? TMX_ENOMEM : TMX_ESOLVE;
    }
    tmx_assert(into == &result && result.x == x); /* of the size it wants: written in place */
    return TMX_OK;
}

enum tmx_status tmx_solve(struct tmx_solver *s, const struct tmx_factor *f, size_t n_rhs, const double *b,
                          double *x)
{
    return f->value ? flowing_solve(s, f, false, n_rhs, b, x) : solve(s, CHOLMOD_A, f, n_rhs, b, x);
}

enum tmx_status tmx_solve_transposed(struct tmx_solver *s, const struct tmx_factor *f, size_t n_rhs,
                                     const double *b, double *x)
{
    return flowing_solve(s, f, true, n_rhs, b, x);
}

enum tmx_status tmx_solve_half(struct tmx_solver *s, const struct tmx_factor *f, size_t n_rhs, double *b,
                               double *work)
{
    const enum tmx_status st = solve(s, CHOLMOD_P, f, n_rhs, b, work);
    return st ? st : solve(s, CHOLMOD_L, f, n_rhs, work, b);
}

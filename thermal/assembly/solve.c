/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "thermal/assembly/solve.h"

#include <cholmod.h>
#include <stdlib.h>
#include <string.h>
#include <umfpack.h>

#include "core/base/os.h"

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

/* All of a matrix that flow makes unsymmetric, by columns, and UMFPACK's analysis of it. */
struct full {
    int *start, *row;           /* [n + 1], [start[n]] owned, rows ascending */
    int *diagonal;              /* [n] owned: entry */
    double *net, *flow, *value; /* [start[n]] owned: G_net, what coolant carries; the shifted matrix */
    double part;                /* of the coolant */
    void *symbolic;
};

struct tmx_solver {
    const struct tmx_network *net;
    cholmod_common common;
    cholmod_factor *order; /* symbolic */
    double *value;         /* [n_entry] of the shifted matrix */
    cholmod_dense *y, *e;
    struct full full; /* where coolant flows; CHOLMOD is not used then */
    int *wi;          /* [n] and */
    double *w;        /* [n] owned: of a solve with it */
};

struct tmx_factor {
    cholmod_factor *l;
    void *numeric;
    const struct full *full; /* of the solver that made it */
};

static void full_finish(struct full *f)
{
    umfpack_di_free_symbolic(&f->symbolic);
    free(f->start);
    free(f->row);
    free(f->diagonal);
    free(f->net);
    free(f->flow);
    free(f->value);
    *f = (struct full){0};
}

/* Both triangles of G_net, and its flow, as triplets; UMFPACK sorts and adds them, twice to the same places:
 * G_net alone, and the flow alone. */
static enum tmx_status full_init(struct full *f, const struct tmx_network *net, struct tmx_err *err)
{
    const size_t n = net->n_node, n_lower = (size_t)net->col_start[n], n_all = 2 * n_lower + net->n_flow;
    int *row = calloc(n_all, sizeof *row), *col = calloc(n_all, sizeof *col),
        status = UMFPACK_ERROR_out_of_memory;
    double *value = calloc(n_all, sizeof *value), *carried = calloc(n_all, sizeof *carried);
    f->start = calloc(n + 1, sizeof *f->start);
    f->row = calloc(n_all, sizeof *f->row);
    f->diagonal = calloc(n, sizeof *f->diagonal);
    f->net = calloc(n_all, sizeof *f->net);
    f->flow = calloc(n_all, sizeof *f->flow);
    f->value = calloc(n_all, sizeof *f->value);
    f->part = 1;
    size_t k = 0;
    if (row && col && value && carried && f->start && f->row && f->diagonal && f->net && f->flow &&
        f->value) {
        for (size_t c = 0; c < n; c++) {
            for (int e = net->col_start[c]; e < net->col_start[c + 1]; e++) {
                row[k] = net->row[e], col[k] = (int)c, value[k++] = net->value_w_k[e];
                if (net->row[e] != (int)c) {
                    row[k] = (int)c, col[k] = net->row[e], value[k++] = net->value_w_k[e];
                }
            }
        }
        for (size_t e = 0; e < net->n_flow; e++) {
            row[k] = (int)net->flow[e].a, col[k] = (int)net->flow[e].b, carried[k++] = net->flow[e].w_k;
        }
        status = umfpack_di_triplet_to_col((int)n, (int)n, (int)k, row, col, value, f->start, f->row, f->net,
                                           NULL);
        status = status ? status
                        : umfpack_di_triplet_to_col((int)n, (int)n, (int)k, row, col, carried, f->start,
                                                    f->row, f->flow, NULL);
        for (size_t c = 0; c < n && !status; c++) {
            for (int e = f->start[c]; e < f->start[c + 1]; e++) {
                f->diagonal[c] = f->row[e] == (int)c ? e : f->diagonal[c];
                f->value[e] = f->net[e] + f->flow[e];
            }
        }
        status = status ? status
                        : umfpack_di_symbolic((int)n, (int)n, f->start, f->row, f->value, &f->symbolic, NULL,
                                              NULL);
    }
    free(row);
    free(col);
    free(value);
    free(carried);
    return status ? tmx_fail(err, TMX_ENOMEM, "ordering of %zu nodes", n) : TMX_OK;
}

static enum tmx_status full_factor(struct full *f, const struct tmx_network *net, double gamma, double sigma,
                                   void **numeric, struct tmx_err *err)
{
    for (int e = 0; e < f->start[net->n_node]; e++) {
        f->value[e] = f->net[e] + f->part * f->flow[e];
    }
    for (size_t c = 0; c < net->n_node; c++) {
        f->value[f->diagonal[c]] += gamma * net->area_m2[c] + sigma * net->heat_j_k[c];
    }
    double control[UMFPACK_CONTROL];
    umfpack_di_defaults(control);
    control[UMFPACK_SCALE] =
        UMFPACK_SCALE_NONE; /* of rows: diagonals lead here, and a solve takes 0.88 of the time */
    umfpack_di_free_numeric(numeric);
    const int status = umfpack_di_numeric(f->start, f->row, f->value, f->symbolic, numeric, control, NULL);
    if (status) {
        const bool memory = status == UMFPACK_ERROR_out_of_memory;
        return tmx_fail(err, memory ? TMX_ENOMEM : TMX_ESOLVE,
                        memory ? "factor of %zu nodes: out of memory"
                               : "network of %zu nodes has no solution",
                        net->n_node);
    }
    return TMX_OK;
}

static enum tmx_status full_solve(struct tmx_solver *s, const struct tmx_factor *f, int system, size_t n_rhs,
                                  const double *b, double *x)
{
    const size_t n = s->net->n_node;
    double control[UMFPACK_CONTROL];
    umfpack_di_defaults(control);
    control[UMFPACK_IRSTEP] = 0; /* the matrix of a factor is not kept */
    s->wi = s->wi ? s->wi : calloc(n, sizeof *s->wi);
    s->w = s->w ? s->w : calloc(n, sizeof *s->w);
    if (!s->wi || !s->w) {
        return TMX_ENOMEM;
    }
    for (size_t r = 0; r < n_rhs; r++) {
        if (umfpack_di_wsolve(system, f->full->start, f->full->row, f->full->value, x + r * n, b + r * n,
                              f->numeric, control, NULL, s->wi, s->w)) {
            return TMX_ESOLVE;
        }
    }
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
        const enum tmx_status made = full_init(&v->full, net, err);
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
        int *order = calloc(net->n_node, sizeof *order);
        if (order && !tmx_order_by_place(net, order, NULL)) {
            v->common.method[0].ordering = CHOLMOD_GIVEN;
            v->order = cholmod_analyze_p(&a, order, NULL, 0, &v->common);
        }
        free(order);
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
    s->full.part = flow;
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
    full_finish(&s->full);
    free(s->wi);
    free(s->w);
    free(s->value);
    free(s);
}

enum tmx_status tmx_factor_create(struct tmx_solver *s, double gamma, double sigma, struct tmx_factor **f,
                                  struct tmx_err *err)
{
    tmx_assert(s->order || s->full.start); /* a work space makes no factors */
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
    if (s->full.start) {
        f->full = &s->full;
        return full_factor(&s->full, net, gamma, sigma, &f->numeric, err);
    }
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
        umfpack_di_free_numeric(&f->numeric);
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
    return f->full ? full_solve(s, f, UMFPACK_A, n_rhs, b, x) : solve(s, CHOLMOD_A, f, n_rhs, b, x);
}

enum tmx_status tmx_solve_transposed(struct tmx_solver *s, const struct tmx_factor *f, size_t n_rhs,
                                     const double *b, double *x)
{
    return full_solve(s, f, UMFPACK_At, n_rhs, b, x);
}

enum tmx_status tmx_solve_half(struct tmx_solver *s, const struct tmx_factor *f, size_t n_rhs, double *b,
                               double *work)
{
    const enum tmx_status st = solve(s, CHOLMOD_P, f, n_rhs, b, work);
    return st ? st : solve(s, CHOLMOD_L, f, n_rhs, work, b);
}

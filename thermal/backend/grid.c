/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The exponential in a Krylov space of M = (G + sigma C)^-1 sigma C, sigma = POLE/h, which is
 * symmetric in the C inner product: M V = V T + ..., so exp(-h C^-1 G) V e1 = V f(T) e1 with
 * f(tau) = exp(-POLE (1/tau - 1)). Where coolant flows G is not symmetric, and T is a Hessenberg matrix.
 * Source: J. van den Eshof, M. Hochbruck, "Preconditioning Lanczos approximations to the matrix
 * exponential", SIAM J. Sci. Comput. 27 (2006) 1438. */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <threads.h>

#include "thermal/backend/backends.h"
#include "thermal/reduction/dense.h"
#include "thermal/solver/solver.h"

/* How a temperature field dies away without power: exp(-h C^-1 G) v for one step h. */

enum { MAX_KRYLOV = 100, SOLID_KRYLOV = 60 }; /* terms: with coolant, without */
/* h sigma. Near the optimum of the source, figure 3: 5 to 20. In a step in which coolant sweeps a jump
 * through the die and not yet out, 40 takes half as many terms, and each solve has fewer iterations: chosen
 * on 24 to 96 cells along the flow. */
static const double POLE = 10.0, SWEEP_POLE = 40.0;
static const double SWEEPS[] = {0.1, 2}; /* of the time that coolant takes through, such a step */
/* A series of MAX_KRYLOV terms ends where coolant passes no more links than that, or leaves the die in the
 * step: seen on 32 to 128 cells along the flow. */
static const double MOST_PASSED = 95, LEFT = 1.2;
enum { MOST_PIECES = 256 };
static const double ENOUGH_K = 1e-10; /* size of the last Krylov term at which the series ends */
static const double ENOUGH_FLOW_K =
    1e-7; /* where coolant flows: what it carries is damped by nothing but the walls */
/* Before a slow mode is seen all seems to have decayed by the end: the mean over the step shows it. Chosen on
 * steps of 0.1 to 300 s of two solid networks, where 1e-3 left 2e-8 K. */
static const double ENOUGH_MEAN_K = 1e-5;
/* A solve may be as inexact as its term is small beside the error that is allowed: V. Simoncini, "Variable
 * accuracy of matrix-vector products in projection methods for eigencomputation", SIAM J. Numer. Anal. 43
 * (2005) 1155. */
static const double EXACT_PART = 1e-10, INEXACT_PART = 1e-3, INEXACT_SHARE = 0.1;

struct decay { /* work space of one instance */
    const struct tmx_network *net;
    size_t most;   /* terms */
    double *basis; /* [most + 1][n_node]; the first is the field v [K] before decay */
    double *rhs;   /* [n_node] */
    /* T = tridiag(b, a, b) and f(T) e1 */
    double a[MAX_KRYLOV], b[MAX_KRYLOV + 1];
    double *hessenberg; /* [MAX_KRYLOV][MAX_KRYLOV + 1] by columns, where coolant flows, and the work of that
                         */
    double vector[MAX_KRYLOV * MAX_KRYLOV], value[MAX_KRYLOV], off[MAX_KRYLOV];
    double end[MAX_KRYLOV], mean[MAX_KRYLOV]; /* weights of the basis in the end and in the time mean */
};

/* end = f(T) e1 and mean = (integral of f over the step / h) e1 for the leading n x n part. */
static enum tmx_status evaluate(struct decay *d, size_t n, double pole)
{
    if (d->net->n_flow > 0) {
        return tmx_dense_exponential(n, d->hessenberg, MAX_KRYLOV + 1, pole, d->end, d->mean,
                                     d->hessenberg + (MAX_KRYLOV + 1) * MAX_KRYLOV);
    }
    for (size_t r = 0; r < n; r++) {
        d->value[r] = d->a[r];
        d->off[r] = d->b[r + 1];
        d->end[r] = d->mean[r] = 0;
    }
    const enum tmx_status st = tmx_dense_tridiagonal(n, d->value, d->off, d->vector);
    for (size_t i = 0; i < n && !st; i++) {
        const double *v = d->vector + i * n;
        const double decay = pole * (1.0 / fmax(d->value[i], 1e-300) - 1.0);
        const double end = exp(-decay), mean = fabs(decay) > 1e-12 ? -expm1(-decay) / decay : 1.0;
        for (size_t r = 0; r < n; r++) {
            d->end[r] += v[r] * end * v[0];
            d->mean[r] += v[r] * mean * v[0];
        }
    }
    return st;
}

static double norm(struct decay *d, const double *v)
{
    const double *heat = d->net->heat_j_k;
    for (size_t c = 0; c < d->net->n_node; c++) {
        d->rhs[c] = heat[c] * v[c];
    }
    return sqrt(d->net->vectors->dot(d->net->n_node, d->rhs, v));
}

/* Vector j + 1 = M v_j orthogonalised against the basis; T grows by one. */
static enum tmx_status extend(struct decay *d, size_t j, double sigma, double part, struct tmx_solver *work,
                              const struct tmx_system *f)
{
    const struct tmx_accuracy accuracy = {.part = part};
    const double *heat = d->net->heat_j_k;
    const size_t n = d->net->n_node;
    double *v = d->basis + j * n, *w = v + n;
    for (size_t c = 0; c < n; c++) {
        d->rhs[c] = sigma * heat[c] * v[c];
    }
    const enum tmx_status st = tmx_solve(work, f, &accuracy, false, 1, d->rhs, NULL, w);
    if (st) {
        return st;
    }
    for (size_t i = j + 1; i-- > 0;) { /* against all: the space is small, and short recurrences drift */
        for (size_t c = 0; c < n; c++) {
            d->rhs[c] = heat[c] * w[c];
        }
        const double h = d->net->vectors->dot(n, d->basis + i * n, d->rhs);
        d->net->vectors->axpy(n, -h, d->basis + i * n, w);
        d->a[j] = i == j ? h : d->a[j];
        d->hessenberg[j * (MAX_KRYLOV + 1) + i] = h;
    }
    d->b[j + 1] = d->hessenberg[j * (MAX_KRYLOV + 1) + j + 1] = norm(d, w);
    for (size_t c = 0; c < n && d->b[j + 1] > 0; c++) {
        w[c] /= d->b[j + 1];
    }
    return TMX_OK;
}

/* Add what is left of v after dt_s to field_k [n_node]; *mean_w is the time mean of
 * the heat that leaves [W] at film coefficient gamma and flow. system: at the shift pole / dt_s and these.
 * Allocates nothing. Returns TMX_OK, or TMX_ESOLVE when the series does not end. */
static enum tmx_status decay(struct decay *d, struct tmx_solver *work, const struct tmx_system *system,
                             double gamma, double flow, double pole, double dt_s, double *field_k,
                             double *mean_w)
{
    const size_t n = d->net->n_node;
    const double size = norm(d, d->basis);
    for (size_t c = 0; c < n; c++) {
        d->basis[c] = size > 0 ? d->basis[c] / size : 0;
    }
    const double enough = d->net->n_flow > 0 ? ENOUGH_FLOW_K : ENOUGH_K;
    double term_k = INFINITY, mean_k = INFINITY;
    *mean_w = 0;
    size_t m = 0;
    int small = 0;
    while (size > 0 && m < d->most && small < 2) { /* one small term may be chance */
        const double part =
            fmin(INEXACT_PART, fmax(EXACT_PART, INEXACT_SHARE * enough / fmax(term_k, mean_k)));
        enum tmx_status st = extend(d, m, pole / dt_s, part, work, system);
        m++;
        const double most_k = size * d->net->vectors->largest(n, d->basis + (m - 1) * n);
        st = st ? st : evaluate(d, m, pole);
        if (st) {
            return st;
        }
        term_k = most_k * fabs(d->end[m - 1]);
        mean_k = most_k * fabs(d->mean[m - 1]);
        small = term_k < enough && mean_k < ENOUGH_MEAN_K ? small + 1 : 0;
        if (!(d->b[m] > 0)) {
            break; /* the space is invariant: the result is exact */
        }
    }
    for (size_t j = 0; j < m; j++) {
        d->net->vectors->axpy(n, size * d->end[j], d->basis + j * n, field_k);
        *mean_w += size * d->mean[j] * tmx_network_leaving(d->net, gamma, flow, d->basis + j * n);
    }
    return small < 2 && m == d->most ? TMX_ESOLVE : TMX_OK;
}

/* Back-end: the full network, solved at every step.
 *
 *   C theta' + G theta = B p,   theta = T - T_ambient,   p constant over a step of length h
 *
 * scheme = "be" (one backward-Euler step, as HotSpot's SuperLU build):
 *   (G + C/h) theta1 = C/h theta0 + B p
 * scheme = "exact": theta1 = s + exp(-h C^-1 G) (theta0 - s) with G s = B p; the exponential
 *   is struct decay's. */

enum { EXACT, EULER };
static const struct tmx_accuracy STEADY = {.kelvin = 1e-9}, ROW = {.kelvin = 1e-8},
                                 FLOW_ROW = {.kelvin = ENOUGH_FLOW_K};

struct options {
    int scheme;
};
static const char *const schemes[] = {"exact", "be", NULL};
static const struct tmx_opt opts[] = {
    TMX_ROW_CHOICE(options, scheme, schemes, "exact",
                   "exact for constant power over a step, or one backward-Euler step"),
    {0},
};

struct entry { /* one matrix, ready to be solved with */
    struct tmx_matrix matrix;
    struct tmx_system *system;
    struct entry *next;
};

struct model {
    struct tmx_network net;
    struct tmx_solver *solver; /* makes the entries, under lock */
    mtx_t lock;
    struct entry *entry; /* under lock; entries never move or change once listed */
    int scheme;
    double *gamma, *flow; /* [n_level] */
    size_t n_level;
    double ambient_k;
    double transit_s; /* of coolant at flow 1 */
    double chain;     /* links of coolant from an inlet to its outlet */
    bool inlet_at_ambient;
    double coolant_limit_k; /* INFINITY: none */
    double init_k, *start;  /* a uniform start, or [n_node, K] */
    struct tmx_arena arena;
};

struct equilibrium { /* the last one needed */
    double *theta;   /* [n_node] */
    double *power;   /* [n_unit] it belongs to, at level and ambient_k */
    double ambient_k;
    size_t level; /* n_level: none yet */
};

struct state {
    struct model *model;
    struct tmx_solver *work;
    size_t level;
    double ambient_k;
    double out_j;               /* heat that left since create */
    double *theta, *next, *rhs; /* [n_node] */
    struct equilibrium *end;
    struct decay *decay; /* NULL for backward Euler */
    struct tmx_arena arena;
};

static enum tmx_status find_system(struct model *m, double sigma, size_t level, const struct tmx_system **f,
                                   struct tmx_err *err)
{
    const struct tmx_matrix want = {.gamma = m->gamma[level], .sigma = sigma, .flow = m->flow[level]};
    struct tmx_err own = {0};
    mtx_lock(&m->lock);
    struct entry *e = m->entry;
    while (e && memcmp(&e->matrix, &want, sizeof want) != 0) {
        e = e->next;
    }
    if (!e) {
        struct tmx_system *made = tmx_system_create(m->solver, &want, &own);
        e = own.code ? NULL : malloc(sizeof *e);
        if (e) {
            *e = (struct entry){want, made, m->entry};
            m->entry = e;
        } else {
            tmx_error(&own, TMX_ENOMEM, "out of memory");
            tmx_system_destroy(made);
        }
    }
    *f = e ? e->system : NULL;
    mtx_unlock(&m->lock);
    return tmx_error_give(err, &own);
}

static void model_destroy(void *model)
{
    struct model *m = model;
    if (!m) {
        return;
    }
    while (m->entry) {
        struct entry *e = m->entry;
        m->entry = e->next;
        tmx_system_destroy(e->system);
        free(e);
    }
    tmx_solver_destroy(m->solver);
    tmx_network_finish(&m->net);
    mtx_destroy(&m->lock);
    tmx_arena_finish(&m->arena);
    free(m);
}

static enum tmx_status model_create(const void *options, const struct tmx_thermal_spec *spec, void **model,
                                    struct tmx_err *err)
{
    struct tmx_err own = {0};
    struct model *m = calloc(1, sizeof *m);
    if (!m || mtx_init(&m->lock, mtx_plain) != thrd_success) {
        free(m);
        return tmx_fail(err, TMX_ENOMEM, "thermal model");
    }
    m->scheme = ((const struct options *)options)->scheme;
    m->n_level = tmx_thermal_spec_levels(spec);
    m->ambient_k = spec->ambient_k;
    m->inlet_at_ambient = spec->inlet_at_ambient;
    m->coolant_limit_k = spec->coolant_limit_k > 0 ? spec->coolant_limit_k : INFINITY;
    m->init_k = spec->init_k;
    if (!tmx_network_init(&m->net, spec, &own) && !tmx_network_check_cost(&m->net, false, &own)) {
        m->transit_s = m->net.n_flow > 0 ? tmx_network_transit_s(&m->net, 1) : 0;
        size_t n_inlet = 0;
        for (size_t c = 0; c < m->net.n_node && m->net.n_flow > 0; c++) {
            n_inlet += m->net.inflow_w_k[c] > 0;
        }
        m->chain = n_inlet > 0 ? (double)m->net.n_flow / (double)n_inlet : 0;
        TMX_TAKE_REALS(&m->arena, m->n_level, &m->gamma, &m->flow);
        if (spec->init_node_k) {
            TMX_TAKE(&m->arena, m->start, m->net.n_node);
        }
        if (m->arena.failed) {
            tmx_error(&own, TMX_ENOMEM, "model of %zu nodes", m->net.n_node);
        }
    }
    for (size_t l = 0; l < m->n_level && !own.code; l++) {
        m->gamma[l] = tmx_network_gamma(&m->net, tmx_thermal_spec_r_convec(spec, l));
        m->flow[l] = tmx_thermal_spec_flow(spec, l);
    }
    if (spec->init_node_k && !own.code) {
        tmx_network_unview(&m->net, spec->init_node_k, m->start);
    }
    m->solver = tmx_solver_create(&m->net, TMX_SOLVER_BY_SIZE, NULL, &own);
    *model = m;
    if (own.code) {
        model_destroy(m);
        *model = NULL;
    }
    return tmx_error_give(err, &own);
}

/* Of a step at a level, times its length. */
static double pole(const struct model *m, size_t level, double dt_s)
{
    if (m->scheme == EULER || m->net.n_flow == 0) {
        return m->scheme == EULER ? 1 : POLE;
    }
    const double part = dt_s * m->flow[level] / m->transit_s;
    return part > SWEEPS[0] && part < SWEEPS[1] ? SWEEP_POLE : POLE;
}

/* Equal pieces of a step, such that coolant sweeps a jump through few enough cells for one series. */
static int pieces_of(const struct model *m, size_t level, double dt_s)
{
    const bool sweeps = m->scheme == EXACT && m->net.n_flow > 0;
    const double part = sweeps ? dt_s * m->flow[level] / m->transit_s : 0;
    int pieces = 1;
    while (pieces < MOST_PIECES && part < LEFT && part * m->chain > MOST_PASSED * pieces) {
        pieces *= 4;
    }
    return pieces;
}

static enum tmx_status prepare(void *model, double dt_s, struct tmx_err *err)
{
    struct model *m = model;
    const struct tmx_system *f;
    enum tmx_status st = TMX_OK;
    for (size_t l = 0; l < m->n_level && !st; l++) {
        const double piece_s = dt_s / pieces_of(m, l, dt_s);
        st = find_system(m, pole(m, l, piece_s) / piece_s, l, &f, err);
        st = !st && m->scheme == EXACT ? find_system(m, 0, l, &f, err) : st;
    }
    return st;
}

/* Writes a change alone: of a large array that stays zero the system has no pages. */
static void put(double *to, double value)
{
    if (*to != value) {
        *to = value;
    }
}

static void destroy(void *state)
{
    struct state *s = state;
    if (s) {
        tmx_solver_destroy(s->work);
        tmx_arena_finish(&s->arena);
        free(s);
    }
}

static enum tmx_status create(const void *model, void **state, struct tmx_err *err)
{
    struct state *s = calloc(1, sizeof *s);
    struct tmx_err own = {0};
    if (!s) {
        return tmx_fail(err, TMX_ENOMEM, "thermal instance");
    }
    memcpy(&s->model, &model, sizeof model); /* its list of systems grows, behind the lock */
    struct model *m = s->model;
    const size_t n = m->net.n_node;
    s->ambient_k = m->ambient_k;
    TMX_TAKE_REALS(&s->arena, n, &s->theta, &s->next, &s->rhs);
    if (TMX_TAKE(&s->arena, s->end, 1)) {
        s->end->level = m->n_level;
        TMX_TAKE(&s->arena, s->end->theta, n);
        TMX_TAKE(&s->arena, s->end->power, m->net.n_unit);
    }
    if (m->scheme == EXACT && TMX_TAKE(&s->arena, s->decay, 1)) {
        struct decay *d = s->decay;
        d->net = &m->net;
        d->most = m->net.n_flow > 0 ? MAX_KRYLOV : SOLID_KRYLOV;
        TMX_TAKE(&s->arena, d->basis, (d->most + 1) * n);
        TMX_TAKE(&s->arena, d->rhs, n);
        TMX_TAKE(&s->arena, d->hessenberg, (MAX_KRYLOV + 1) * MAX_KRYLOV + TMX_DENSE_EXPONENTIAL(MAX_KRYLOV));
    }
    if (s->arena.failed) {
        tmx_error(&own, TMX_ENOMEM, "thermal instance of %zu nodes", n);
    }
    s->work = tmx_solver_share(m->solver, &own);
    for (size_t c = 0; c < n && !own.code; c++) {
        put(&s->theta[c], (m->start ? m->start[c] : m->init_k) - m->ambient_k);
    }
    *state = s;
    if (own.code) {
        destroy(s);
        *state = NULL;
    }
    return tmx_error_give(err, &own);
}

/* Of the coolant that enters, above ambient. */
static double inlet_theta(const struct state *s)
{
    return s->model->inlet_at_ambient ? 0 : s->model->net.inlet_k - s->ambient_k;
}

/* s->rhs += power and what coolant brings in. */
static void add_sources(const struct state *s, const double *power_w)
{
    const struct tmx_network *net = &s->model->net;
    tmx_network_spread_power(net, power_w, s->rhs);
    for (size_t c = 0; c < net->n_node && net->inflow_w_k; c++) {
        s->rhs[c] += s->model->flow[s->level] * net->inflow_w_k[c] * inlet_theta(s);
    }
}

static enum tmx_status settle(const struct state *s, const double *power_w, double *theta)
{
    const struct tmx_system *f;
    const enum tmx_status st = find_system(s->model, 0, s->level, &f, NULL);
    if (st) {
        return st;
    }
    for (size_t c = 0; c < s->model->net.n_node; c++) {
        put(&s->rhs[c], 0);
    }
    add_sources(s, power_w);
    return tmx_solve(s->work, f, &STEADY, false, 1, s->rhs, NULL, theta);
}

/* Heat to ambient [W] from a field theta, or [J] from its time integral. */
static double to_ambient(const struct state *s, const double *theta)
{
    const struct tmx_network *net = &s->model->net;
    const double flow = s->model->flow[s->level];
    return tmx_network_leaving(net, s->model->gamma[s->level], flow, theta) -
           tmx_network_brought(net, flow, inlet_theta(s));
}

static enum tmx_status advance_euler(const struct state *s, double dt_s, const double *power_w, double *out_j)
{
    const struct tmx_network *net = &s->model->net;
    const struct tmx_system *f;
    enum tmx_status st = find_system(s->model, 1 / dt_s, s->level, &f, NULL);
    if (st) {
        return st;
    }
    for (size_t c = 0; c < net->n_node; c++) {
        s->rhs[c] = net->heat_j_k[c] / dt_s * s->theta[c];
    }
    add_sources(s, power_w);
    st = tmx_solve(s->work, f, net->n_flow > 0 ? &FLOW_ROW : &ROW, false, 1, s->rhs, s->theta, s->next);
    *out_j = dt_s * to_ambient(s, s->next);
    return st;
}

/* s->next = equilibrium + what is left of the distance to it: after more and shorter pieces of a step, where
 * with coolant a series does not end. */
static enum tmx_status advance_exact(const struct state *s, double dt_s, const double *power_w, double *out_j)
{
    const size_t bytes = s->model->net.n_unit * sizeof *power_w;
    const size_t n = s->model->net.n_node;
    struct equilibrium *end = s->end;
    double mean_w = 0, *away = s->decay->basis;
    enum tmx_status settled = TMX_OK;
    if (end->level != s->level || end->ambient_k != s->ambient_k || memcmp(end->power, power_w, bytes) != 0) {
        settled = settle(s, power_w, end->theta);
        memcpy(end->power, power_w, bytes);
        end->level = settled ? s->model->n_level : s->level;
        end->ambient_k = s->ambient_k;
    }
    enum tmx_status st = settled ? settled : TMX_ESOLVE;
    for (int pieces = pieces_of(s->model, s->level, dt_s);
         st == TMX_ESOLVE && !settled && pieces <= (s->model->net.n_flow ? MOST_PIECES : 1); pieces *= 4) {
        const double piece_s = dt_s / pieces;
        const double at = pole(s->model, s->level, piece_s);
        const struct tmx_system *f;
        st = find_system(s->model, at / piece_s, s->level, &f, NULL);
        for (size_t c = 0; c < n; c++) {
            away[c] = s->theta[c] - end->theta[c];
        }
        mean_w = 0;
        for (int k = 1; k <= pieces && !st; k++) {
            double w = 0;
            memset(s->next, 0, n * sizeof *s->next);
            if (k == pieces) {
                memcpy(s->next, end->theta, n * sizeof *s->next);
            }
            st = decay(s->decay, s->work, f, s->model->gamma[s->level], s->model->flow[s->level], at, piece_s,
                       s->next, &w);
            mean_w += w / pieces;
            if (k < pieces) {
                memcpy(away, s->next, n * sizeof *away);
            }
        }
    }
    *out_j = dt_s * (to_ambient(s, end->theta) + mean_w);
    return st;
}

static enum tmx_status report(const struct state *s, const double *theta, double *temp_k)
{
    const size_t n_unit = s->model->net.n_unit;
    tmx_network_read(&s->model->net, theta, temp_k);
    for (size_t u = 0; u < n_unit; u++) {
        temp_k[u] += s->ambient_k;
        if (!isfinite(temp_k[u])) {
            return TMX_ESOLVE;
        }
    }
    return TMX_OK;
}

static enum tmx_status advance(const struct state *s, double dt_s, const double *power_w, double *out_j)
{
    return (s->model->scheme == EXACT ? advance_exact : advance_euler)(s, dt_s, power_w, out_j);
}

/* The hottest coolant, where it boils; else SIZE_MAX. */
static size_t boils(const struct state *s)
{
    const size_t at = tmx_network_hottest_coolant(&s->model->net, s->theta);
    return at != SIZE_MAX && s->theta[at] + s->ambient_k > s->model->coolant_limit_k ? at : SIZE_MAX;
}

static void why(const void *state, char *text, size_t size)
{
    const struct state *s = state;
    const size_t hottest = boils(s);
    text[0] = '\0';
    if (hottest != SIZE_MAX) {
        tmx_network_boils(&s->model->net, hottest, s->theta[hottest] + s->ambient_k,
                          s->model->coolant_limit_k, text, size);
    }
}

static enum tmx_status step(void *state, double dt_s, const double *power_w, double *temp_k)
{
    struct state *s = state;
    double out_j;
    const enum tmx_status st = advance(s, dt_s, power_w, &out_j);
    if (st) {
        return st;
    }
    double *const old = s->theta;
    s->theta = s->next;
    s->next = old;
    s->out_j += out_j;
    if (boils(s) != SIZE_MAX) { /* it carries heat away in another manner than is computed */
        for (size_t u = 0; u < s->model->net.n_unit; u++) {
            temp_k[u] = NAN;
        }
        return TMX_ESOLVE;
    }
    return report(s, s->theta, temp_k);
}

static enum tmx_status predict(const void *state, double dt_s, const double *power_w, double *temp_k)
{
    const struct state *s = state;
    double out_j;
    const enum tmx_status st = advance(s, dt_s, power_w, &out_j);
    return st ? st : report(s, s->next, temp_k);
}

static enum tmx_status steady(void *state, const double *power_w, bool move, double *temp_k)
{
    struct state *s = state;
    const enum tmx_status st = settle(s, power_w, s->next);
    if (st) {
        return st;
    }
    double *const now = s->next;
    if (move) {
        s->next = s->theta;
        s->theta = now;
    }
    return report(s, now, temp_k);
}

static void read_now(const void *state, double *temp_k)
{
    const struct state *s = state;
    (void)report(s, s->theta, temp_k); /* not finite: step said so */
}

static void set_convection(void *state, size_t level)
{
    struct state *s = state;
    tmx_assert(level < s->model->n_level);
    s->level = level;
}

static void set_ambient(void *state, double ambient_k)
{
    struct state *s = state;
    for (size_t c = 0; c < s->model->net.n_node; c++) {
        s->theta[c] += s->ambient_k - ambient_k;
    }
    s->ambient_k = ambient_k;
}

static enum tmx_status field(const void *state, size_t layer, double *cell_k)
{
    const struct state *s = state;
    const struct tmx_network *net = &s->model->net;
    const size_t n = layer == net->n_layer ? net->n_package : net->n_cell;
    tmx_network_view(net, s->theta, layer * net->n_cell, n, cell_k);
    for (size_t c = 0; c < n; c++) {
        cell_k[c] += s->ambient_k;
    }
    return TMX_OK;
}

static void heat(const void *state, struct tmx_thermal_heat *h)
{
    const struct state *s = state;
    *h = (struct tmx_thermal_heat){.to_ambient_w = to_ambient(s, s->theta), .to_ambient_j = s->out_j};
    for (size_t c = 0; c < s->model->net.n_node; c++) {
        h->stored_j += s->model->net.heat_j_k[c] * s->theta[c];
    }
}

static void image(void *state, struct tmx_image *i)
{
    struct state *s = state;
    TMX_IMAGE_FIELD(i, s->ambient_k);
    TMX_IMAGE_FIELD(i, s->out_j);
    TMX_IMAGE_FIELD(i, s->level);
    tmx_image_item(i, s->theta, s->model->net.n_node * sizeof *s->theta);
}

const struct tmx_thermal_ops tmx_thermal_grid = {
    .base = {.name = "grid",
             .doc = "The full network, solved at every step: the reference.",
             .source = "docs/models.md, Thermal network",
             .opts = opts,
             .state_size = sizeof(struct options)},
    .claims = TMX_THERMAL_BALANCE | TMX_THERMAL_LINEAR | TMX_THERMAL_RECIPROCAL | TMX_THERMAL_SEMIGROUP |
              TMX_THERMAL_MONOTONE,
    .can = TMX_THERMAL_FULL | TMX_THERMAL_PHYSICAL | TMX_THERMAL_LEVELS | TMX_THERMAL_BELOW |
           TMX_THERMAL_CHANNELS | TMX_THERMAL_FILLER | TMX_THERMAL_FALLS | TMX_THERMAL_FIELD |
           TMX_THERMAL_BLOCKS,
    .model_create = model_create,
    .model_destroy = model_destroy,
    .create = create,
    .destroy = destroy,
    .step = step,
    .prepare = prepare,
    .steady = steady,
    .read = read_now,
    .set_convection = set_convection,
    .set_ambient = set_ambient,
    .field = field,
    .predict = predict,
    .heat = heat,
    .why = why,
    .image = image,
};

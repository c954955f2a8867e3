/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The reduced model of a network that coolant makes unsymmetric:
 *
 *      C theta' + K theta = B p + flow c theta_inlet,   K = G + gamma A + flow F,   T = ambient + E' theta
 *
 * The idea is that of krylov.c: project on a space V of a few hundred fields, V' C V = 1. Without symmetry
 * the answers to powers alone, (K + s C)^-1 B, make errors of first order. So V holds those of the transposed
 * network, too, (K + s C)'^-1 E, and what a reduced temperature is off is a product of what both miss:
 *
 *      e(s) = RE' (K + s C)^-1 RB
 *      RB = B - (K + s C) V (Kr + s)^-1 V' B,   RE = E - (K + s C)' V (Kr + s)'^-1 V' E
 *
 * The projection is on V from both sides, for stability: coolant carries heat downstream and makes none, so
 * x' K x >= 0 at every flow, and V' K V inherits that. (Balanced pairs of spaces V, W lost it at flows other
 * than that they were made for.) Levels of flow are one space with Kr = g + gamma a + flow f. The uniform
 * field is in V, so the heat that leaves, 1' K theta, and the heat that is stored, 1' C theta, are those of
 * the network, and the balance closes to rounding.
 *
 *   1. Basis: at the lowest, the middle and the highest flow, shifts s = 0 and a decade apart. At each shift
 * the network itself is solved, and compared with the projection: what is off by more than BASIS_SHARE of the
 * tolerance adds its fields and those of the transpose. Then the middle shifts, and the quarters where a
 * middle was missed. Then the network follows traces of random powers, and what the projection misses of
 * them joins, too.
 *   2. Directions: the basis answers steps of power in time, exp(-Kr t) Kr^-1 V' B at octaves of t, and so
 * does its transpose. The largest directions of both sets, in turns, span the model: as few as keep every
 * unit's answer at every octave within CUT_SHARE of the tolerance, at those flows and at two between them,
 * and every unit's on the traces. What they miss of a steady state follows the power at once (the direct term
 * of each level): it settles within the shortest step, also where the flow changes. At a flow that cannot
 * carry the powers for which the tolerance is meant without boiling, it is meant for the part that it can
 * (RISE_K).
 *   3. Modes: eigenvectors of each level's projection. They are complex in part: pairs that turn (modal.h).
 *   4. Error: BETWEEN times what the tested shifts and octaves are off, or TRACES times what the finished
 * model is off on the traces, whichever is larger: measured, where krylov.c bounds it. The inputs' parts of a
 * trace's error are as of errors that do not know of each other: each 1 / sqrt(m) of the sum.
 *
 * Coolant that boils. Of the nodes of coolant a few are watched at every step: none of the others is warmer
 * than one of these by more than tmx_coolant_slack of its rise, by whatever unit it is heated, in the steady
 * states of the least, the middle and the largest flow. Where a watched one comes so near the limit all are
 * looked at (backend/reduced.c).
 *
 * Source of the projection: E. Grimme, "Krylov projection methods for model reduction", PhD thesis, Univ. of
 * Illinois 1997, ch. 3 (both sides); of the directions: C. Rowley, "Model reduction for fluids, using
 * balanced proper orthogonal decomposition", Int. J. Bifurcation Chaos 15 (2005) 997, whose snapshots these
 * are. */
#include "thermal/reduction/reduction.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "thermal/reduction/dense.h"
#include "thermal/solver/solver.h"

const double tmx_coolant_slack = 0.25;
static const double BASIS_SHARE = 0.1,
                    CUT_SHARE = 0.5;  /* of the tolerance; the rest is for errors that add up */
static const double DEPENDENT = 1e-5; /* part of a unit vector that is new, below which it is dropped */
static const struct tmx_accuracy FIELD = {.part = 1e-9};
static const double HIGHEST = 10;      /* shift above the rate of the shortest step */
static const double EARLIEST = 0.25;   /* of the shortest step: first octave */
static const double NOTHING = 0.03;    /* of the largest rise by a unit: no difference */
static const double RISE_K = 80;       /* of coolant, at most: assumed, water from 20 degC */
static const double LAST = 30;         /* slowest decays that the last octave lies after */
static const double STEP = 0.1;        /* of the time coolant takes through: of a trace, at most */
static const double TRACE_SHARE = 0.1; /* of the tolerance, what the basis may be off on a trace */
/* Between the tested shifts and octaves errors are larger: chosen on a stack of pins in rows of one transit,
 * where 3.6 would do. */
static const double BETWEEN = 4;
/* Other traces are off by more than those that were tried: chosen on the first 60 stacks of test_channels. */
static const double TRACES = 4;
enum {
    SNAPS = 3,
    TESTS = 5,
    DEEPEST = 2,
    MOST_BASIS = 1600,
    MOST_OCTAVES = 60,
    TRACE_STEPS = 80, /* of each, and of the transposed network */
    MOST_HOLD = 10,   /* of them in a row; coolant is then faster than any power */
    MOST_TRACES = 6
};

struct trace {      /* random inputs, and how the network reads */
    double shift;   /* s of march */
    size_t hold;    /* steps of a row */
    double *input;  /* [TRACE_STEPS][m] */
    double *answer; /* [TRACE_STEPS][u] */
};

struct small { /* the network in a space: its vectors as columns, of `room` rows */
    size_t room;
    double *g, *a, *f;              /* [room][room] */
    double *in, *out, *board, *one; /* [m][room], [u][room], [room], [room] V' C 1 */
};

struct build {
    const struct tmx_network *net;
    const struct tmx_demand *o;
    struct tmx_err *err;
    struct tmx_thread_pool *pool; /* of two threads */
    struct tmx_solver *solver;
    size_t n, u, m;      /* nodes, units, inputs: units, inlet, air */
    size_t k;            /* of the basis */
    double *v;           /* [k][n] owned */
    double brings_w_k;   /* what coolant brings in, a kelvin above ambient, at flow 1 */
    double *input;       /* [m][n] B, c, air; the last two at flow 1 and film 1, the board apart */
    double *ground;      /* [n] */
    double *read;        /* [u][n] E */
    struct small q;      /* of V */
    double *basis_error; /* [m][u] */
    /* levels: what makes the space; and those between them, which test it */
    size_t snap[TESTS], n_snap, n_test;
    size_t n_shift;
    double *work;              /* [1 + 2 max(m, TRACE_STEPS)][n] */
    struct trace trace[SNAPS]; /* by level, the last tried */
    struct tmx_arena arena;    /* of all but v */
};

static bool ok(const struct build *b)
{
    return !b->err->code;
}

static double *zeros(const struct build *b, struct tmx_arena *a, size_t n)
{
    double *p = ok(b) ? tmx_arena_take(a, n, sizeof *p) : NULL;
    if (!p) {
        tmx_error(b->err, TMX_ENOMEM, "reduced model of %zu nodes", b->n);
    }
    return p;
}

static double level_input(const struct build *b, size_t level, size_t input)
{
    return input < b->u ? 1 : input == b->u ? b->o->flow[level] : b->o->gamma[level];
}

/* What input i amounts to where the tolerance must hold. */
static double asked(const struct build *b, size_t i)
{
    return i < b->u ? b->o->power_w[i] : b->o->ambient_k;
}

/* The part of the powers that the flow of a level can carry: more would boil it. Errors are counted for that
 * part. */
static double carried(const struct build *b, size_t level)
{
    double power_w = 0;
    for (size_t i = 0; i < b->u; i++) {
        power_w += b->o->power_w[i];
    }
    return fmin(1, RISE_K * b->o->flow[level] * b->brings_w_k / power_w);
}

/* ---- basis ---- */

/* Arrays of a space of `room` vectors. */
static void small_init(struct build *b, size_t room, struct small *q)
{
    q->room = room;
    q->g = zeros(b, &b->arena, room * room);
    q->a = zeros(b, &b->arena, room * room);
    q->f = zeros(b, &b->arena, room * room);
    q->in = zeros(b, &b->arena, b->m * room);
    q->out = zeros(b, &b->arena, b->u * room);
    q->board = zeros(b, &b->arena, room);
    q->one = zeros(b, &b->arena, room);
}

/* The projections of the vectors [from, k); y [k - from][n] is work. */
static void project(struct build *b, size_t from, double *y)
{
    const struct tmx_network *net = b->net;
    const size_t n = b->n, k = b->k, room = b->q.room, more = k - from;
    const double *new = b->v + from *n;
    for (size_t c = 0; c < more; c++) {
        tmx_network_apply(net, 0, 0, new + c *n, y + c * n);
        b->q.one[from + c] = tmx_dot(n, new + c *n, net->heat_j_k);
        b->q.board[from + c] = tmx_dot(n, new + c *n, b->ground);
    }
    tmx_dense_tn(k, more, n, 1, b->v, n, y, n, 0, b->q.g + from * room, room);
    for (size_t i = 0; i < more * n; i++) {
        y[i] = net->area_m2[i % n] * new[i];
    }
    tmx_dense_tn(k, more, n, 1, b->v, n, y, n, 0, b->q.a + from * room, room);
    for (size_t c = 0; c < more; c++) {
        tmx_network_carry(net, false, new + c *n, y + c * n);
    }
    tmx_dense_tn(k, more, n, 1, b->v, n, y, n, 0, b->q.f + from * room, room);
    for (size_t c = 0; c < more; c++) {
        tmx_network_carry(net, true, new + c *n, y + c * n);
    }
    tmx_dense_tn(more, from, n, 1, y, n, b->v, n, 0, b->q.f + from, room);
    for (size_t c = 0; c < from; c++) { /* the new rows of the old columns: g and a are symmetric */
        for (size_t r = from; r < k; r++) {
            b->q.g[c * room + r] = b->q.g[r * room + c];
            b->q.a[c * room + r] = b->q.a[r * room + c];
        }
    }
    tmx_dense_tn(more, b->m, n, 1, new, n, b->input, n, 0, b->q.in + from, room);
    tmx_dense_tn(more, b->u, n, 1, new, n, b->read, n, 0, b->q.out + from, room);
}

/* What of x [n_col][n], which is destroyed, the basis has not yet. */
static void add(struct build *b, double *x, size_t n_col)
{
    const size_t n = b->n, from = b->k;
    struct tmx_arena a = {0};
    double *grown = ok(b) ? realloc(b->v, (from + n_col) * n * sizeof *grown) : NULL;
    if (!grown) {
        tmx_error(b->err, TMX_ENOMEM, "basis of %zu fields", from + n_col);
    }
    b->v = grown ? grown : b->v;
    struct tmx_growing to = {.net = b->net,
                             .basis = &(struct tmx_basis){.v = b->v, .n_mode = from},
                             .tall = {.n = n, .pool = b->pool},
                             .dependent = DEPENDENT * DEPENDENT,
                             .x = x,
                             .w = zeros(b, &a, n_col * n),
                             .small = zeros(b, &a, from * n_col),
                             .part = zeros(b, &a, TMX_TALL_PIECES * (from + n_col) * n_col),
                             .eigen = zeros(b, &a, n_col * n_col),
                             .eigenval = zeros(b, &a, n_col),
                             .err = b->err};
    n_col = ok(b) ? tmx_orthonormalise(&to, n_col) : 0;
    if (n_col > 0) {
        memcpy(b->v + from * n, to.x, n_col * n * sizeof *x);
        b->k = from + n_col;
        project(b, from, to.x);
    }
    if (b->k > MOST_BASIS) {
        tmx_error(b->err, TMX_ESOLVE,
                  "the reduced model of this coolant needs more than %d fields: --method grid", MOST_BASIS);
    }
    tmx_arena_finish(&a);
}

/* kr [k][k] := Kr of a level in the first k vectors, plus shift. */
static void reduced(const struct build *b, const struct small *q, size_t k, size_t level, double shift,
                    double *kr)
{
    for (size_t c = 0; c < k * k; c++) {
        const size_t i = c / k * q->room + c % k;
        kr[c] = q->g[i] + b->o->gamma[level] * q->a[i] + b->o->flow[level] * q->f[i] +
                (c % (k + 1) == 0 ? shift : 0);
    }
}

/* x [m][k] := V' of the inputs at a level. */
static void reduced_inputs(const struct build *b, const struct small *q, size_t k, size_t level, double *x)
{
    for (size_t c = 0; c < b->m * k; c++) {
        const size_t i = c / k, r = c % k;
        x[c] = level_input(b, level, i) * q->in[i * q->room + r] + (i == b->u + 1 ? q->board[r] : 0);
    }
}

/* rhs [m][n] of a level. */
static void inputs(const struct build *b, size_t level, double *rhs)
{
    for (size_t i = 0; i < b->m * b->n; i++) {
        rhs[i] =
            level_input(b, level, i / b->n) * b->input[i] + (i / b->n == b->u + 1 ? b->ground[i % b->n] : 0);
    }
}

/* x [m][k] := (Kr + shift)^-1 of the first n inputs at a level; the others stay. */
static void solve_small(const struct build *b, const struct small *q, size_t k, size_t level, double shift,
                        size_t n, double *x)
{
    struct tmx_arena a = {0};
    double *kr = zeros(b, &a, k * k);
    if (ok(b)) {
        reduced(b, q, k, level, shift, kr);
        reduced_inputs(b, q, k, level, x);
        tmx_dense_solve_any(k, n, false, kr, x, b->err);
    }
    tmx_arena_finish(&a);
}

/* Solve the network at a shift and compare: the largest sum of errors over the tolerance's share. Where it is
 * above 1 the fields join the basis, else the errors are noted. last: they are noted in any case. */
static double visit(struct build *b, size_t level, double s, bool last)
{
    const size_t n = b->n, m = b->m, u = b->u, k = b->k;
    struct tmx_arena a = {0};
    double *x = b->work + n, *rhs = x + m * n, *xr = zeros(b, &a, m * k), *e = zeros(b, &a, 2 * m * u),
           off = 0;
    const struct tmx_matrix matrix = {.gamma = b->o->gamma[level], .sigma = s, .flow = b->o->flow[level]};
    struct tmx_system *system = tmx_system_create(b->solver, &matrix, b->err);
    inputs(b, level, rhs);
    if (ok(b) && tmx_solve(b->solver, system, &FIELD, false, m, rhs, NULL, x)) {
        tmx_error(b->err, TMX_ESOLVE, "fields of coolant");
    }
    solve_small(b, &b->q, k, level, s, m, xr);
    if (ok(b)) {
        b->n_shift++;
        tmx_dense_tn(u, m, n, 1, b->read, n, x, n, 0, e, u);
        tmx_dense_tn(u, m, k, 1, b->q.out, b->q.room, xr, k, 0, e + m * u, u);
        for (size_t r = 0; r < u; r++) {
            double sum = 0;
            for (size_t i = 0; i < m; i++) {
                e[i * u + r] = (i < u ? carried(b, level) : 1) * fabs(e[i * u + r] - e[(m + i) * u + r]);
                sum += e[i * u + r] * asked(b, i);
            }
            off = fmax(off, sum / (BASIS_SHARE * b->o->tolerance_k));
        }
    }
    for (size_t i = 0; i < m * u && ok(b) && (off <= 1 || last); i++) {
        b->basis_error[i] = fmax(b->basis_error[i], e[i]);
    }
    if (ok(b) && off > 1 && !last) {
        add(b, x, m);
        if (ok(b) && tmx_solve(b->solver, system, &FIELD, true, u, b->read, NULL, x)) {
            tmx_error(b->err, TMX_ESOLVE, "fields of coolant");
        }
        add(b, x, u);
    }
    tmx_system_destroy(system);
    tmx_arena_finish(&a);
    return off;
}

/* The middle of two shifts, and both halves where it is missed. */
static void between(struct build *b, size_t level, double low, double high, int deep)
{
    const double middle = sqrt(low * high), off = visit(b, level, middle, deep == DEEPEST);
    if (ok(b) && off > 1 && deep < DEEPEST) {
        between(b, level, low, middle, deep + 1);
        between(b, level, middle, high, deep + 1);
    }
}

/* A rate below the slowest: heat that leaves over heat that is stored, when all powers have settled. */
static double slowest(struct build *b, size_t level)
{
    const size_t k = b->k;
    struct tmx_arena a = {0};
    double *x = zeros(b, &a, b->m * k), heat_j = 0, power_w = 0;
    solve_small(b, &b->q, k, level, 0, b->m, x);
    for (size_t i = 0; i < b->u && ok(b); i++) {
        heat_j += b->o->power_w[i] * tmx_dot(k, b->q.one, x + i * k);
        power_w += b->o->power_w[i];
    }
    tmx_arena_finish(&a);
    return ok(b) ? power_w / heat_j : 1;
}

/* The level whose flow is nearest to one, or level `first` where none is nearer. */
static size_t nearest(const struct tmx_demand *o, size_t first, double flow)
{
    for (size_t l = 0; l < o->n_level; l++) {
        first = fabs(log(o->flow[l] / flow)) < fabs(log(o->flow[first] / flow)) ? l : first;
    }
    return first;
}

/* ---- traces ---- */

/* Powers that change are fronts that coolant carries downstream, and sharper than what real shifts show,
 * means over all of time. So both, the network and what is reduced of it, follow a trace of random powers,
 * inlets and air. A row of 1 / (GAMMA s) is one step of a method of second order that damps what is fast:
 * with
 *
 *      y = (K + s C)^-1 (s C x + B p),   y' = (K + s C)^-1 (s C y + B p)      x := y' + sqrt(2) (y' - y)
 *
 * Source: E. Hairer, G. Wanner, "Solving ordinary differential equations II", Springer 1996, IV.6 (SDIRK of
 * two stages, gamma = 1 - 1 / sqrt(2)). */
static const double ROOT2 = 1.4142135623730951, GAMMA = 1 - 0.5 * 1.4142135623730951;

/* x [TRACE_STEPS][n] := the fields of the network, or of its transpose, under drive [n_drive][n] times weight
 * [TRACE_STEPS][n_drive]. */
static void march(struct build *b, size_t level, double s, bool transposed, size_t n_drive,
                  const double *drive, const double *weight, double *x)
{
    const size_t n = b->n;
    const struct tmx_matrix matrix = {.gamma = b->o->gamma[level], .sigma = s, .flow = b->o->flow[level]};
    struct tmx_system *system = tmx_system_create(b->solver, &matrix, b->err);
    struct tmx_arena a = {0};
    enum tmx_status st = TMX_OK;
    double *rhs = zeros(b, &a, 3 * n), *force = rhs + n, *y = force + n;
    for (size_t row = 0; row < TRACE_STEPS && ok(b); row++) {
        double *now = x + row * n;
        if (row > 0) {
            memcpy(now, now - n, n * sizeof *now);
        } else {
            memset(now, 0, n * sizeof *now);
        }
        tmx_dense_nn(n, 1, n_drive, 1, drive, n, weight + row * n_drive, n_drive, 0, force, n);
        for (int stage = 0; stage < 2 && !st; stage++) {
            const double *from = stage == 0 ? now : y;
            double *to = stage == 0 ? y : now;
            for (size_t i = 0; i < n; i++) {
                rhs[i] = s * b->net->heat_j_k[i] * from[i] + force[i];
            }
            st = tmx_solve(b->solver, system, &FIELD, transposed, 1, rhs, from, to);
        }
        for (size_t i = 0; i < n && !st; i++) {
            now[i] += ROOT2 * (now[i] - y[i]);
        }
        if (st) {
            tmx_error(b->err, st, "fields of coolant");
        }
    }
    tmx_system_destroy(system);
    tmx_arena_finish(&a);
}

/* What of a trace's answers the first k vectors of a space are off at a level, [u] the largest of all rows;
 * direct [m][u] or NULL. */
static void retrace(struct build *b, const struct trace *t, const struct small *q, size_t k, size_t level,
                    const double *direct, double *off)
{
    const size_t m = b->m, u = b->u;
    struct tmx_arena a = {0};
    double *kr = zeros(b, &a, 2 * k * k + (m + 4) * k + u), *inverse = kr + k * k, *in = inverse + k * k,
           *x = in + m * k, *y = x + k, *rhs = y + k, *force = rhs + k, *read = force + k;
    memset(off, 0, u * sizeof *off);
    if (ok(b)) {
        reduced(b, q, k, level, t->shift, kr);
        reduced_inputs(b, q, k, level, in);
    }
    for (size_t i = 0; i < k && ok(b); i++) {
        inverse[i * k + i] = 1;
    }
    tmx_dense_solve_any(k, k, false, kr, inverse, b->err);
    for (size_t row = 0; row < TRACE_STEPS && ok(b); row++) {
        const double *p = t->input + row * m;
        tmx_dense_nn(k, 1, m, 1, in, k, p, m, 0, force, k);
        for (int stage = 0; stage < 2; stage++) {
            const double *from = stage == 0 ? x : y;
            for (size_t i = 0; i < k; i++) {
                rhs[i] = t->shift * from[i] + force[i];
            }
            tmx_dense_nn(k, 1, k, 1, inverse, k, rhs, k, 0, stage == 0 ? y : x, k);
        }
        for (size_t i = 0; i < k; i++) {
            x[i] += ROOT2 * (x[i] - y[i]);
        }
        tmx_dense_tn(u, 1, k, 1, q->out, q->room, x, k, 0, read, u);
        for (size_t r = 0; r < u && (row + 1) % t->hold == 0; r++) {
            double sum = read[r];
            for (size_t i = 0; i < m && direct; i++) {
                sum += direct[i * u + r] * p[i];
            }
            off[r] = fmax(off[r], fabs(sum - t->answer[row * u + r]));
        }
    }
    tmx_arena_finish(&a);
}

/* Traces at a level of snap: where the basis is off, the fields of the trace and of one of the transpose join
 * it, and the next is another. */
static void follow_traces(struct build *b, size_t which)
{
    const size_t n = b->n, u = b->u, level = b->snap[which];
    struct trace *t = &b->trace[which];
    struct tmx_rng *rng = NULL;
    if (!ok(b) || tmx_rng_create(&rng, level, "traces of coolant", b->err)) {
        return;
    }
    double *x = b->work + n, *drive = x + TRACE_STEPS * n, *off = zeros(b, &b->arena, u),
           *weight = zeros(b, &b->arena, TRACE_STEPS * u);
    t->input = zeros(b, &b->arena, TRACE_STEPS * b->m);
    t->answer = zeros(b, &b->arena, TRACE_STEPS * u);
    const double step_s = STEP * tmx_network_transit_s(b->net, b->o->flow[level]);
    t->hold = (size_t)fmin(MOST_HOLD, fmax(1, ceil(b->o->min_step_s / step_s)));
    t->shift = 1 / (GAMMA * fmax(step_s, b->o->min_step_s / (double)t->hold));
    bool met = false;
    for (int i = 0; i < MOST_TRACES && ok(b) && !met; i++) {
        for (size_t k = 0; k < TRACE_STEPS * b->m; k++) { /* half of the values stay from row to row */
            const size_t in = k % b->m;
            const double part = tmx_rng_uniform(rng), most = asked(b, in) * (in < u ? carried(b, level) : 1);
            const bool stays = k >= b->m && (tmx_rng_uniform(rng) < 0.5 || k / b->m % t->hold > 0);
            t->input[k] = stays ? t->input[k - b->m] : most * part;
        }
        inputs(b, level, drive);
        march(b, level, t->shift, false, b->m, drive, t->input, x);
        tmx_dense_tn(u, TRACE_STEPS, n, 1, b->read, n, x, n, 0, t->answer, u);
        if (ok(b)) {
            retrace(b, t, &b->q, b->k, level, NULL, off);
        }
        met = tmx_largest(u, off) <= TRACE_SHARE * b->o->tolerance_k;
        if (ok(b) && !met && i + 1 < MOST_TRACES) {
            add(b, x, TRACE_STEPS);
            for (size_t w = 0; w < TRACE_STEPS * u && ok(b); w++) {
                weight[w] = tmx_rng_uniform(rng) - 0.5;
            }
            march(b, level, t->shift, true, u, b->read, weight, x);
            add(b, x, TRACE_STEPS);
        }
    }
    tmx_rng_destroy(rng);
}

static void make_basis(struct build *b)
{
    const struct tmx_demand *o = b->o;
    const double top = HIGHEST / o->min_step_s;
    double rate = 1, *uniform = b->work + b->n;
    size_t least = 0, most = 0;
    for (size_t l = 1; l < o->n_level; l++) {
        least = o->flow[l] < o->flow[least] ? l : least;
        most = o->flow[l] > o->flow[most] ? l : most;
    }
    const size_t middle = nearest(o, 0, sqrt(o->flow[least] * o->flow[most]));
    b->snap[b->n_snap++] = middle; /* whose direct term a field has */
    if (least != middle) {
        b->snap[b->n_snap++] = least;
    }
    if (most != middle && most != least) {
        b->snap[b->n_snap++] = most;
    }
    b->n_test = b->n_snap;
    for (size_t i = 1; i < b->n_snap; i++) { /* nearest to the middle of two */
        const size_t l = nearest(o, middle, sqrt(o->flow[middle] * o->flow[b->snap[i]]));
        if (l != middle && l != b->snap[i]) {
            b->snap[b->n_test++] = l;
        }
    }
    for (size_t i = 0; i < b->n && ok(b); i++) {
        uniform[i] = 1;
    }
    add(b, uniform, 1);
    for (size_t i = 0; i < b->n_snap && ok(b); i++) {
        const size_t level = b->snap[i];
        visit(b, level, 0, false);
        rate = slowest(b, level);
        const double low = !ok(b) ? top : pow(10, floor(log10(0.3 * rate)));
        for (double s = low; s < 10 * top && ok(b); s *= 10) {
            visit(b, level, s, false);
        }
        for (double s = low; 10 * s < 10 * top && ok(b); s *= 10) {
            between(b, level, s, 10 * s, 0);
        }
        visit(b, level, 0.3 * low, true);
        follow_traces(b, i);
    }
    for (size_t t = b->n_snap; t < b->n_test && ok(b); t++) { /* the levels between */
        const double s[] = {0, rate, 1 / o->min_step_s};
        for (size_t i = 0; i < 3 && ok(b); i++) {
            if (visit(b, b->snap[t], s[i], false) > 1) {
                visit(b, b->snap[t], s[i] > 0 ? 2 * s[i] : s[i], true);
            }
        }
    }
}

/* ---- directions ---- */

struct answers { /* of the basis, in time */
    size_t n_time;
    double time_s[MOST_OCTAVES];
    double *settled; /* [n_level][m][u] */
    double
        *rest; /* [n_level][n_time][m][u] of it, that is not there yet; the last input is the uniform field */
};

/* x [m][k] := K^-1 of the inputs, and the uniform field for the air. */
static void settled_states(struct build *b, size_t level, double *x)
{
    solve_small(b, &b->q, b->k, level, 0, b->m - 1, x);
    if (ok(b)) {
        memcpy(x + (b->m - 1) * b->k, b->q.one, b->k * sizeof *x);
    }
}

/* to [k][k] += x x', x [n][k]. */
static void add_square(size_t k, size_t n, const double *x, double *to)
{
    for (size_t r = 0; r < k; r++) {
        for (size_t i = 0; i < n; i++) {
            tmx_axpy(k, x[i * k + r], x + i * k, to + r * k);
        }
    }
}

static void follow(struct build *b, size_t level, bool snap, struct answers *y, double *right, double *left)
{
    const size_t k = b->k, m = b->m, u = b->u;
    struct tmx_arena a = {0};
    double *e = zeros(b, &a, 6 * k * k), *kr = e + k * k, *work = kr + k * k,
           *x = zeros(b, &a, 2 * (m + u) * k), *xt = x + m * k, *weighted = xt + m * k;
    settled_states(b, level, x);
    if (ok(b)) {
        reduced(b, &b->q, k, level, 0, kr);
        tmx_dense_decay(k, kr, y->time_s[0], e, work, b->err);
    }
    for (size_t j = 0; j < y->n_time && ok(b); j++) {
        tmx_dense_nn(k, m, k, 1, e, k, x, k, 0, xt, k);
        tmx_dense_tn(u, m, k, 1, b->q.out, b->q.room, xt, k, 0, y->rest + (level * y->n_time + j) * m * u, u);
        if (snap) {
            for (size_t i = 0; i < m * k; i++) {
                weighted[i] = (i / k < u ? carried(b, level) : 1) * asked(b, i / k) * xt[i];
            }
            add_square(k, m, weighted, right);
            for (size_t i = 0; i < u; i++) {
                tmx_dense_tn(k, 1, k, 1, e, k, b->q.out + i * b->q.room, k, 0, weighted + i * k, k);
            }
            add_square(k, u, weighted, left);
        }
        if (j + 1 < y->n_time) {
            tmx_dense_nn(k, k, k, 1, e, k, e, k, 0, work, k);
            memcpy(e, work, k * k * sizeof *e);
        }
    }
    tmx_arena_finish(&a);
}

static void answer(struct build *b, struct answers *y, double *right, double *left)
{
    double least = INFINITY;
    for (size_t i = 0; i < b->n_snap && ok(b); i++) {
        least = fmin(least, slowest(b, b->snap[i]));
    }
    for (double t = EARLIEST * b->o->min_step_s; y->n_time < MOST_OCTAVES && t < 2 * LAST / least; t *= 2) {
        y->time_s[y->n_time++] = t;
    }
    struct tmx_arena a = {0};
    const size_t size = b->m * b->u;
    double *x = zeros(b, &a, b->m * b->k);
    y->settled = zeros(b, &b->arena, b->o->n_level * size);
    y->rest = zeros(b, &b->arena, b->o->n_level * y->n_time * size);
    for (size_t l = 0; l < b->o->n_level && ok(b); l++) {
        settled_states(b, l, x);
        tmx_dense_tn(b->u, b->m, b->k, 1, b->q.out, b->q.room, x, b->k, 0, y->settled + l * size, b->u);
    }
    tmx_arena_finish(&a);
    for (size_t i = 0; i < b->n_test && ok(b); i++) {
        follow(b, b->snap[i], i < b->n_snap, y, right, left);
    }
}

/* s [*count][k] := the uniform field, then the largest of both sets in turns, orthonormal. */
static void directions(struct build *b, double *right, double *left, double *s, size_t *count)
{
    const size_t k = b->k;
    double *size = zeros(b, &b->arena, k);
    tmx_dense_eigen(k, right, size, b->err);
    tmx_dense_eigen(k, left, size, b->err);
    *count = 0;
    for (size_t i = 0; i < 2 * k + 1 && ok(b) && *count < k; i++) {
        const double *from = i == 0 ? b->q.one : (i % 2 ? right : left) + (k - 1 - (i - 1) / 2) * k;
        double *to = s + *count * k, norm = 0;
        memcpy(to, from, k * sizeof *to);
        for (int pass = 0; pass < 2; pass++) {
            const double before = sqrt(tmx_dot(k, to, to));
            for (size_t c = 0; c < *count; c++) {
                tmx_axpy(k, -tmx_dot(k, s + c * k, to), s + c * k, to);
            }
            norm = sqrt(tmx_dot(k, to, to)) / (pass == 0 ? before : 1);
        }
        const double length = sqrt(tmx_dot(k, to, to));
        for (size_t r = 0; r < k && length > 1e-6; r++) {
            to[r] /= length;
        }
        *count += length > 1e-6 && norm > 0;
    }
}

/* ---- modes ---- */

/* With all directions; a model of fewer is the leading part. */
static void turn(struct build *b, const double *s, size_t count, struct small *q)
{
    const size_t k = b->k;
    double *work = zeros(b, &b->arena, k * count);
    small_init(b, count, q);
    if (ok(b)) {
        const double *const from[] = {b->q.g, b->q.a, b->q.f};
        double *const to[] = {q->g, q->a, q->f};
        for (size_t i = 0; i < 3; i++) {
            tmx_dense_nn(k, count, k, 1, from[i], b->q.room, s, k, 0, work, k);
            tmx_dense_tn(count, count, k, 1, s, k, work, k, 0, to[i], count);
        }
        tmx_dense_tn(count, b->m, k, 1, s, k, b->q.in, b->q.room, 0, q->in, count);
        tmx_dense_tn(count, b->u, k, 1, s, k, b->q.out, b->q.room, 0, q->out, count);
        tmx_dense_tn(count, 1, k, 1, s, k, b->q.board, k, 0, q->board, count);
        tmx_dense_tn(count, 1, k, 1, s, k, b->q.one, k, 0, q->one, count);
    }
}

/* The modes of the first k directions at a level: t [k][k] by columns, back likewise by rows; inlet_state
 * [k]. */
static void make_modes(struct build *b, const struct small *q, size_t k, size_t level,
                       struct tmx_modal *modal, double *t, double *back, double *inlet_state)
{
    struct tmx_arena a = {0};
    tmx_modal_init(modal, k, b->u, true, true, b->err);
    double *kr = zeros(b, &a, k * k), *imag = zeros(b, &a, k), *settled = zeros(b, &a, b->m * k);
    if (ok(b)) {
        reduced(b, q, k, level, 0, kr);
    }
    tmx_dense_eigen_any(k, kr, modal->rate, imag, t, b->err);
    for (size_t i = 0; i < k && ok(b); i++) {
        modal->frequency[i] = -imag[i];
        if (!(modal->rate[i] > 0)) {
            tmx_error(b->err, TMX_ESOLVE,
                      "the reduced model of coolant has a mode that grows: --method grid");
        }
    }
    if (ok(b)) {
        memset(back, 0, k * k * sizeof *back);
        for (size_t i = 0; i < k; i++) {
            back[i * k + i] = 1;
        }
        memcpy(kr, t, k * k * sizeof *kr);
        tmx_dense_solve_any(k, k, true, kr, back, b->err);
    }
    solve_small(b, q, k, level, 0, b->u + 1, settled);
    for (size_t i = 0; i < k && ok(b); i++) {
        const double *row = back + i * k, *mode = t + i * k;
        for (size_t v = 0; v < b->u; v++) {
            modal->in[v * modal->mode_row + i] = tmx_dot(k, row, q->in + v * q->room);
            modal->out[i * modal->unit_row + v] = tmx_dot(k, mode, q->out + v * q->room);
        }
        modal->stored[i] = tmx_dot(k, mode, q->one);
        modal->one[i] = tmx_dot(k, row, q->one);
        inlet_state[i] = tmx_dot(k, row, settled + b->u * k);
    }
    /* the heat that leaves a mode is the heat that it no longer stores */
    for (size_t i = 0; i < k && ok(b); i++) {
        modal->leave[i] = modal->rate[i] * modal->stored[i] + modal->frequency[i] * modal->stored[i ^ 1];
    }
    tmx_arena_finish(&a);
}

/* z := what a watt of unit v settles at. */
static void unit_settled(const struct tmx_modal *modal, size_t v, double *z)
{
    memcpy(z, modal->in + v * modal->mode_row, modal->mode_row * sizeof *z);
    tmx_modal_divide(modal, z);
}

/* What the modes miss of the basis' answers at a level, [m][u] where it is more. What has settled is exact:
 * the direct term. */
static void compare(struct build *b, const struct answers *y, size_t level, const struct tmx_modal *modal,
                    const double *inlet_state, double *error)
{
    const size_t m = b->m, u = b->u, row = modal->mode_row, table = tmx_modal_table(modal);
    const double part = carried(b, level);
    struct tmx_arena a = {0};
    double *z = zeros(b, &a, 2 * row + 2 * table + u), *decay = z + row, *gain = decay + table,
           *theta = gain + table;
    for (size_t i = 0; i < m && ok(b); i++) {
        memset(z, 0, row * sizeof *z);
        if (i < u) {
            unit_settled(modal, i, z);
        } else {
            memcpy(z, i == u ? inlet_state : modal->one, modal->n_mode * sizeof *z);
        }
        for (size_t j = 0; j < y->n_time; j++) {
            const double *rest = y->rest + ((level * y->n_time + j) * m + i) * u;
            if (y->time_s[j] < 0.9 * b->o->min_step_s) {
                continue;
            }
            memset(theta, 0, u * sizeof *theta);
            tmx_modal_tabulate(modal, y->time_s[j], decay, gain);
            for (size_t k = 0; k < modal->n_mode; k++) {
                tmx_axpy(u, decay[k] * z[k] + decay[row + k] * z[k ^ 1], modal->out + k * modal->unit_row,
                         theta);
            }
            for (size_t r = 0; r < u; r++) {
                error[i * u + r] = fmax(error[i * u + r], (i < u ? part : 1) * fabs(rest[r] - theta[r]));
            }
        }
    }
    tmx_arena_finish(&a);
}

/* Modes of k directions at the levels that are tested, which are compared, or at the others. */
static void try(struct build *b, const struct answers *y, const struct small *q, size_t k, bool tested,
                struct tmx_modal *modal, struct tmx_coolant *c, double *error)
{
    const size_t u = b->u;
    for (size_t level = 0; level < b->o->n_level && ok(b); level++) {
        struct tmx_modal *p = &modal[level];
        double *state = c->inlet_state + level * k;
        bool test = false;
        for (size_t t = 0; t < b->n_test; t++) {
            test = test || b->snap[t] == level;
        }
        if (test != tested) {
            continue;
        }
        tmx_modal_finish(p);
        make_modes(b, q, k, level, p, c->vector + level * k * k, c->back + level * k * k, state);
        struct tmx_arena a = {0};
        double *z = zeros(b, &a, p->mode_row);
        for (size_t v = 0; v < u && ok(b); v++) {
            double *direct = p->direct + v * p->unit_row;
            unit_settled(p, v, z);
            memcpy(direct, y->settled + (level * b->m + v) * u, u * sizeof *direct);
            for (size_t r = 0; r < k; r++) {
                tmx_axpy(u, -z[r], p->out + r * p->unit_row, direct);
            }
        }
        tmx_arena_finish(&a);
        if (tested) {
            compare(b, y, level, p, state, error);
        }
    }
}

/* What a model of k directions is off on the traces, [u]. What the directions miss of a steady state follows
 * the inputs at once. */
static void check(struct build *b, const struct answers *y, const struct small *q, size_t k, double *off)
{
    const size_t u = b->u, m = b->m;
    struct tmx_arena a = {0};
    double *x = zeros(b, &a, m * k + m * u + u), *direct = x + m * k, *one = direct + m * u;
    memset(off, 0, u * sizeof *off);
    for (size_t i = 0; i < b->n_snap && ok(b); i++) {
        const size_t level = b->snap[i];
        const double *settled = y->settled + level * m * u;
        solve_small(b, q, k, level, 0, m, x);
        tmx_dense_tn(u, m, k, -1, q->out, q->room, x, k, 0, direct, u);
        for (size_t d = 0; d < m * u; d++) { /* of the air alone: what is uniform without the inlet's */
            direct[d] += settled[d] - (d / u == u + 1 ? settled[d - u] : 0);
        }
        retrace(b, &b->trace[i], q, k, level, direct, one);
        for (size_t r = 0; r < u; r++) {
            off[r] = fmax(off[r], one[r]);
        }
    }
    tmx_arena_finish(&a);
}

static void cut(struct build *b, const struct answers *y, const struct small *q, struct tmx_modal *modal,
                struct tmx_coolant *c, double *error, double *off)
{
    const double enough_k = CUT_SHARE * b->o->tolerance_k;
    size_t k = b->o->n_mode > 0 ? b->o->n_mode : 16;
    for (bool done = false; !done && ok(b);) {
        k = k < q->room ? k : q->room;
        const bool end = k == q->room || b->o->n_mode > 0;
        tmx_arena_finish(&c->of_modes);
        c->n_mode = k;
        c->vector = zeros(b, &c->of_modes, b->o->n_level * k * k);
        c->back = zeros(b, &c->of_modes, b->o->n_level * k * k);
        c->inlet_state = zeros(b, &c->of_modes, b->o->n_level * k);
        check(b, y, q, k, off);
        if (end || tmx_largest(b->u, off) <= enough_k) { /* else spare the modes, which take longer */
            memset(error, 0, b->m * b->u * sizeof *error);
            try(b, y, q, k, true, modal, c, error);
            double worst_k = 0;
            for (size_t r = 0; r < b->u; r++) {
                double sum_k = 0;
                for (size_t i = 0; i < b->m; i++) {
                    sum_k += error[i * b->u + r] * asked(b, i);
                }
                worst_k = fmax(worst_k, sum_k);
            }
            done = end || worst_k <= enough_k;
        }
        k = done ? k : k + 8 + k / 6;
    }
    try(b, y, q, k, false, modal, c, error);
}

/* ---- fields, and coolant that boils ---- */

static void fields(struct build *b, struct tmx_coolant *c, const struct small *q, const double *s)
{
    const size_t n = b->n, u = b->u, k = c->n_mode, n_view = b->net->n_view;
    struct tmx_arena a = {0};
    double *field = zeros(b, &a, k * n), *still = zeros(b, &a, u * n), *x = zeros(b, &a, b->m * b->k),
           *view = zeros(b, &a, n_view), *small = zeros(b, &a, b->m * k), *is_wet = zeros(b, &a, n);
    for (size_t e = 0; e < b->net->n_flow && ok(b); e++) {
        is_wet[b->net->flow[e].a] = 1;
    }
    for (size_t i = 0; i < n && ok(b); i++) {
        c->n_wet += is_wet[i] > 0;
    }
    TMX_TAKE(&c->arena, c->wet, c->n_wet);
    TMX_TAKE(&c->arena, c->wet_map, k * c->n_wet);
    TMX_TAKE(&c->arena, c->wet_still, b->o->n_level * u * c->n_wet);
    if (b->o->field) {
        TMX_TAKE(&c->arena, c->still, u * n_view);
        c->map = calloc(k * n_view, sizeof *c->map);
    }
    tmx_memory_check(!c->arena.failed && (!b->o->field || c->map), b->err);
    if (ok(b)) {
        tmx_dense_nn(n, k, b->k, 1, b->v, n, s, b->k, 0, field, n);
    }
    for (size_t i = 0, at = 0; i < n && ok(b); i++) {
        if (is_wet[i] > 0) {
            c->wet[at++] = i;
        }
    }
    for (size_t i = 0; i < k && ok(b); i++) {
        for (size_t w = 0; w < c->n_wet; w++) {
            c->wet_map[i * c->n_wet + w] = (float)field[i * n + c->wet[w]];
        }
        if (c->map) {
            tmx_network_view(b->net, field + i * n, 0, n_view, view);
        }
        for (size_t r = 0; c->map && r < n_view; r++) {
            c->map[i * n_view + r] = (float)view[r];
        }
    }
    for (size_t l = 0; l < b->o->n_level && ok(b); l++) { /* what the direct term is of the field */
        settled_states(b, l, x);
        solve_small(b, q, k, l, 0, u, small);
        tmx_dense_nn(b->k, u, k, -1, s, b->k, small, k, 1, x, b->k);
        tmx_dense_nn(n, u, b->k, 1, b->v, n, x, b->k, 0, still, n);
        for (size_t v = 0; v < u && ok(b); v++) {
            for (size_t w = 0; w < c->n_wet; w++) {
                c->wet_still[(l * u + v) * c->n_wet + w] = (float)still[v * n + c->wet[w]];
            }
            if (c->still && l == b->snap[0]) {
                tmx_network_view(b->net, still + v * n, 0, n_view, c->still + v * n_view);
            }
        }
    }
    tmx_arena_finish(&a);
}

struct rank {
    double sum;
    size_t w;
};

static int by_sum(const void *a, const void *b)
{
    const struct rank *x = a, *y = b;
    return x->sum != y->sum ? (x->sum < y->sum) - (x->sum > y->sum) : (x->w > y->w) - (x->w < y->w);
}

static void choose_watched(struct build *b, struct tmx_coolant *c, const struct small *q)
{
    const size_t k = c->n_mode, u = b->u, wide = b->n_snap * u, n_wet = c->n_wet;
    struct tmx_arena a = {0};
    size_t *kept;
    struct rank *rank;
    TMX_TAKE(&a, kept, n_wet);
    TMX_TAKE(&a, rank, n_wet);
    /* rise: steady, of each coolant by each unit's power, at the levels of snap; most: their largest */
    double *z = zeros(b, &a, b->m * k), *rise = zeros(b, &a, n_wet * wide), *most = zeros(b, &a, wide);
    for (size_t i = 0; i < wide && ok(b); i++) {
        const size_t level = b->snap[i / u], v = i % u;
        if (v == 0) {
            solve_small(b, q, k, level, 0, u, z);
        }
        for (size_t w = 0; w < n_wet; w++) {
            double sum = c->wet_still[(level * u + v) * n_wet + w];
            for (size_t r = 0; r < k; r++) {
                sum += (double)c->wet_map[r * n_wet + w] * z[v * k + r];
            }
            rise[w * wide + i] = sum;
            most[i] = fmax(most[i], sum);
        }
    }
    for (size_t w = 0; w < n_wet && ok(b); w++) {
        rank[w].w = w;
        for (size_t i = 0; i < wide; i++) {
            rank[w].sum += rise[w * wide + i] / (most[i] > 0 ? most[i] : 1);
        }
    }
    qsort(rank, ok(b) ? n_wet : 0, sizeof *rank, by_sum);
    for (size_t r = 0; r < n_wet && ok(b); r++) {
        const double *mine = rise + rank[r].w * wide;
        bool below = false;
        for (size_t j = 0; j < c->n_watch && !below; j++) {
            const double *other = rise + kept[j] * wide;
            below = true;
            for (size_t i = 0; i < wide && below; i++) {
                below = mine[i] <= (1 + tmx_coolant_slack) * other[i] + NOTHING * most[i];
            }
        }
        if (!below) {
            kept[c->n_watch++] = rank[r].w;
        }
    }
    const size_t n = c->n_watch;
    c->watch = zeros(b, &c->arena, b->o->n_level * k * n);
    c->watch_direct = zeros(b, &c->arena, b->o->n_level * u * n);
    for (size_t i = 0; i < b->o->n_level * k * n && ok(b); i++) {
        for (size_t r = 0; r < k; r++) {
            c->watch[i] += c->vector[i / n * k + r] * (double)c->wet_map[r * n_wet + kept[i % n]];
        }
    }
    for (size_t i = 0; i < b->o->n_level * u * n && ok(b); i++) {
        c->watch_direct[i] = c->wet_still[i / n * n_wet + kept[i % n]];
    }
    tmx_arena_finish(&a);
}

/* ---- the whole ---- */

void tmx_coolant_reduce(struct tmx_coolant *c, const struct tmx_network *net, const struct tmx_demand *demand,
                        struct tmx_modal *modal, double *error, struct tmx_err *err)
{
    struct build b = {
        .net = net, .o = demand, .err = err, .n = net->n_node, .u = net->n_unit, .m = net->n_unit + 2};
    struct answers y = {0};
    struct small q = {0};
    size_t count = 0;
    *c = (struct tmx_coolant){0};
    if (err->code) {
        return;
    }
    const size_t n = b.n, more = b.m > TRACE_STEPS ? b.m : TRACE_STEPS;
    b.input = zeros(&b, &b.arena, b.m * n);
    b.read = zeros(&b, &b.arena, b.u * n);
    b.ground = zeros(&b, &b.arena, n);
    b.basis_error = zeros(&b, &b.arena, b.m * b.u);
    b.work = zeros(&b, &b.arena, (1 + 2 * more) * n);
    b.brings_w_k = tmx_network_brought(net, 1, 1);
    small_init(&b, MOST_BASIS + more, &b.q);
    for (size_t l = 0, v = 0; l < net->n_layer && ok(&b); l++) {
        for (size_t own = 0; v < net->first_unit[l + 1]; v++, own++) {
            tmx_gridmap_weights(&net->map[l], TMX_MAP_AREA, own, b.input + v * n + l * net->n_cell);
            tmx_gridmap_weights(&net->map[l], net->mode, own, b.read + v * n + l * net->n_cell);
        }
    }
    for (size_t i = 0; i < n && ok(&b); i++) {
        b.input[b.u * n + i] = net->inflow_w_k[i];
        b.input[(b.u + 1) * n + i] = net->area_m2[i];
        b.ground[i] = net->ground_w_k ? net->ground_w_k[i] : 0;
    }
    if (tmx_thread_pool_create(&b.pool, 2, err) == TMX_EIO) {
        *err = (struct tmx_err){0}; /* the system gives no second thread */
    }
    b.solver = tmx_solver_create(net, TMX_SOLVER_BY_SIZE, b.pool, err);
    make_basis(&b);
    double *right = zeros(&b, &b.arena, b.k * b.k), *left = zeros(&b, &b.arena, b.k * b.k),
           *s = zeros(&b, &b.arena, b.k * b.k), *cut_error = zeros(&b, &b.arena, b.m * b.u),
           *off = zeros(&b, &b.arena, b.u);
    answer(&b, &y, right, left);
    directions(&b, right, left, s, &count);
    turn(&b, s, count, &q);
    cut(&b, &y, &q, modal, c, cut_error, off);
    fields(&b, c, &q, s);
    choose_watched(&b, c, &q);
    c->inlet_unit = zeros(&b, &c->arena, demand->n_level * b.u);
    for (size_t l = 0; l < demand->n_level && ok(&b); l++) {
        memcpy(c->inlet_unit + l * b.u, y.settled + (l * b.m + b.u) * b.u, b.u * sizeof *c->inlet_unit);
    }
    for (size_t i = 0; i < b.m * b.u && ok(&b); i++) {
        const size_t row = i / b.u < b.u ? i / b.u : b.u; /* inlet and air: one row */
        const double traced = TRACES * off[i % b.u] / (sqrt((double)b.m) * asked(&b, i / b.u));
        error[row * b.u + i % b.u] += fmax(BETWEEN * (b.basis_error[i] + cut_error[i]), traced);
    }
    c->n_basis = b.k;
    c->n_shift = b.n_shift;
    free(b.v);
    tmx_arena_finish(&b.arena);
    tmx_solver_destroy(b.solver);
    tmx_thread_pool_destroy(b.pool);
}

void tmx_coolant_finish(struct tmx_coolant *c)
{
    tmx_arena_finish(&c->arena);
    tmx_arena_finish(&c->of_modes);
    *c = (struct tmx_coolant){0};
}

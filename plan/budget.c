/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "plan/budget.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Sums run until nothing moves: the loop gain is below 1 where there is a budget at all. */
enum { ROUNDS = 100000 };
static const double SETTLED_K = 1e-11;

struct work { /* of one chip; arrays of n_unit, of which slope is [W/K] */
    const struct tmx_plan_chip *c;
    double volt;
    double *temp_k, *power_w, *slope, *rise, *block;
};

static enum tmx_status work_init(struct work *w, const struct tmx_plan_chip *c, double volt,
                                 struct tmx_err *err)
{
    *w = (struct work){.c = c, .volt = volt};
    w->block = calloc(4 * c->n_unit, sizeof *w->block);
    if (!w->block) {
        return tmx_fail(err, TMX_ENOMEM, "budget of %zu units", c->n_unit);
    }
    w->temp_k = w->block;
    w->power_w = w->temp_k + c->n_unit;
    w->slope = w->power_w + c->n_unit;
    w->rise = w->slope + c->n_unit;
    return TMX_OK;
}

static void slopes(struct work *w, const double *temp_k)
{
    for (size_t u = 0; u < w->c->n_unit; u++) {
        w->slope[u] = w->volt * tmx_plan_leak_slope(w->c, u, temp_k[u]);
    }
}

/* x = A (b + slope x), by iteration. false: it grows. */
static bool respond(const struct work *w, const double *b, double *x)
{
    const size_t n = w->c->n_unit;
    double move = 1;
    memset(x, 0, n * sizeof *x);
    for (int round = 0; round < ROUNDS && move > SETTLED_K; round++) {
        move = 0;
        for (size_t u = 0; u < n; u++) {
            w->power_w[u] = b[u] + w->slope[u] * x[u];
        }
        for (size_t u = 0; u < n; u++) {
            double t = 0;
            for (size_t j = 0; j < n; j++) {
                t += w->c->influence[u * n + j] * w->power_w[j];
            }
            move = fmax(move, fabs(t - x[u]));
            x[u] = t;
        }
        if (!(move < 1e9)) {
            return false;
        }
    }
    return move <= SETTLED_K;
}

double tmx_budget_loop_gain(const struct tmx_plan_chip *c, double volt, double temp_k)
{
    struct work w;
    double gain = 0;
    if (work_init(&w, c, volt, NULL)) {
        return NAN;
    }
    for (size_t u = 0; u < c->n_unit; u++) {
        w.temp_k[u] = temp_k;
        w.rise[u] = 1;
    }
    slopes(&w, w.temp_k);
    for (int round = 0; round < 200; round++) { /* power iteration; A is positive */
        double most = 0;
        for (size_t u = 0; u < c->n_unit; u++) {
            w.power_w[u] = w.slope[u] * w.rise[u];
        }
        for (size_t u = 0; u < c->n_unit; u++) {
            w.rise[u] = 0;
            for (size_t j = 0; j < c->n_unit; j++) {
                w.rise[u] += c->influence[u * c->n_unit + j] * w.power_w[j];
            }
            most = fmax(most, w.rise[u]);
        }
        gain = most;
        for (size_t u = 0; u < c->n_unit && most > 0; u++) {
            w.rise[u] /= most;
        }
    }
    free(w.block);
    return gain;
}

/* From a cold chip: above the steady state lies another, where leakage holds itself. false: it runs away. */
static bool settle(struct work *w, const bool *on, double watt)
{
    const struct tmx_plan_chip *c = w->c;
    const double top_k = 590; /* the leakage's table ends at 600 K */
    double move = 1;
    for (size_t u = 0; u < c->n_unit; u++) {
        w->temp_k[u] = c->ambient_k;
    }
    for (int round = 0; round < ROUNDS && move > SETTLED_K; round++) {
        move = 0;
        for (size_t u = 0; u < c->n_unit; u++) {
            const int s = c->chip->sm_of_unit[u];
            w->power_w[u] = c->baseline_w[u] + w->volt * tmx_plan_leak_w(c, u, w->temp_k[u]) +
                            (s != TMX_NO_SM && on[s] ? watt * c->chip->part_share[u] : 0);
        }
        for (size_t u = 0; u < c->n_unit; u++) {
            double t = c->ambient_k;
            for (size_t j = 0; j < c->n_unit; j++) {
                t += c->influence[u * c->n_unit + j] * w->power_w[j];
            }
            if (t > top_k) {
                return false;
            }
            move = fmax(move, fabs(t - w->temp_k[u]));
            w->temp_k[u] = t;
        }
    }
    return true;
}

enum tmx_status tmx_budget_idle(const struct tmx_plan_chip *c, double volt, double *temp_k,
                                struct tmx_err *err)
{
    struct work w;
    bool *none = calloc(c->n_sm, sizeof *none);
    enum tmx_status st = none ? work_init(&w, c, volt, err) : tmx_fail(err, TMX_ENOMEM, "budget");
    if (!st) {
        st = settle(&w, none, 0) ? TMX_OK
                                 : tmx_fail(err, TMX_ERUNAWAY, "no power is safe: the idle chip runs away");
        memcpy(temp_k, w.temp_k, c->n_unit * sizeof *temp_k);
        free(w.block);
    }
    free(none);
    return st;
}

enum tmx_status tmx_budget_of(const struct tmx_plan_chip *c, const struct tmx_budget_call *call,
                              const bool *on, double *watt, double *temp_k, struct tmx_err *err)
{
    enum { STEPS = 60 };
    const double gain = tmx_budget_loop_gain(c, call->volt, call->limit_k);
    struct work w;
    enum tmx_status st =
        gain < 1 ? work_init(&w, c, call->volt, err)
                 : tmx_fail(err, TMX_ERUNAWAY, "no power is safe: at %g degC leakage feeds back %.2f-fold",
                            call->limit_k - 273.15, gain);
    double *ones = st ? NULL : calloc(c->n_unit, sizeof *ones), step = 1;
    if (st || !ones) {
        return st ? st : tmx_fail(err, TMX_ENOMEM, "budget");
    }
    for (size_t u = 0; u < c->n_unit; u++) {
        const int s = c->chip->sm_of_unit[u];
        ones[u] = s != TMX_NO_SM && on[s] ? c->chip->part_share[u] : 0;
    }
    *watt = 0;
    for (int i = 0; i < STEPS && fabs(step) > 1e-9; i++) {
        size_t hottest = 0;
        const bool steady = settle(&w, on, *watt);
        for (size_t s = 1; s < c->n_sm; s++) {
            hottest = tmx_plan_sensor(c, s, w.temp_k) > tmx_plan_sensor(c, hottest, w.temp_k) ? s : hottest;
        }
        slopes(&w, w.temp_k);
        if (!steady || !respond(&w, ones, w.rise)) { /* beyond the runaway: back half way */
            step = -*watt / 2;
        } else {
            step =
                (call->limit_k - tmx_plan_sensor(c, hottest, w.temp_k)) / tmx_plan_sensor(c, hottest, w.rise);
        }
        *watt = fmax(0, *watt + step);
        step = *watt > 0 ? step : 0;
    }
    if (temp_k) {
        memcpy(temp_k, w.temp_k, c->n_unit * sizeof *temp_k);
    }
    free(ones);
    free(w.block);
    return TMX_OK;
}

/* Linear in the powers about the limit: P <= head_s / sum over the set of M_sj. */
struct linear {
    size_t n;
    double *M;    /* [n][n] K/W */
    double *head; /* [n] K */
};

static enum tmx_status linearise(struct linear *l, const struct tmx_plan_chip *c,
                                 const struct tmx_budget_call *call, struct tmx_err *err)
{
    const double others_k = 7; /* units without a sensor stay about so far below the limit; only the search
                                  for mappings rests on it, not their budgets */
    struct work w;
    double *b = calloc(c->n_unit, sizeof *b);
    *l = (struct linear){
        .n = c->n_sm, .M = calloc(c->n_sm * c->n_sm, sizeof *l->M), .head = calloc(c->n_sm, sizeof *l->head)};
    enum tmx_status st = work_init(&w, c, call->volt, err);
    if (!st && (!b || !l->M || !l->head)) {
        st = tmx_fail(err, TMX_ENOMEM, "budget of %zu SMs", c->n_sm);
    }
    if (!st && tmx_budget_loop_gain(c, call->volt, call->limit_k) >= 1) {
        st = tmx_fail(err, TMX_ERUNAWAY, "no power is safe at %g degC: leakage runs away",
                      call->limit_k - 273.15);
    }
    for (size_t u = 0; u < c->n_unit && !st; u++) {
        w.temp_k[u] = call->limit_k - (c->chip->sm_of_unit[u] == TMX_NO_SM ? others_k : 0);
    }
    if (!st) {
        slopes(&w, w.temp_k);
        for (size_t u = 0; u < c->n_unit; u++) {
            b[u] = c->baseline_w[u] + call->volt * tmx_plan_leak_w(c, u, w.temp_k[u]) +
                   w.slope[u] * (c->ambient_k - w.temp_k[u]);
        }
        st = respond(&w, b, w.rise) ? TMX_OK : tmx_fail(err, TMX_ERUNAWAY, "leakage runs away");
    }
    for (size_t s = 0; s < c->n_sm && !st; s++) {
        l->head[s] = call->limit_k - c->ambient_k - tmx_plan_sensor(c, s, w.rise);
    }
    for (size_t j = 0; j < c->n_sm && !st; j++) {
        for (size_t u = 0; u < c->n_unit; u++) {
            b[u] = c->chip->sm_of_unit[u] == (int)j ? c->chip->part_share[u] : 0;
        }
        (void)respond(&w, b, w.rise);
        for (size_t s = 0; s < c->n_sm; s++) {
            l->M[s * c->n_sm + j] = tmx_plan_sensor(c, s, w.rise);
        }
    }
    free(b);
    free(w.block);
    return st;
}

static void linear_finish(struct linear *l)
{
    free(l->M);
    free(l->head);
}

/* The heaviest load of an SM of the set, in 1/W; sum: of M over the set, by SM. */
static double load(const struct linear *l, const bool *on, const double *sum)
{
    double most = 0;
    for (size_t s = 0; s < l->n; s++) {
        most = on[s] ? fmax(most, sum[s] / l->head[s]) : most;
    }
    return most;
}

static void put(const struct linear *l, bool *on, double *sum, size_t j, bool in)
{
    on[j] = in;
    for (size_t s = 0; s < l->n; s++) {
        sum[s] += in ? l->M[s * l->n + j] : -l->M[s * l->n + j];
    }
}

/* SM s and the n - 1 that warm it most. */
static double crowd(const struct linear *l, size_t s, size_t n, bool *on)
{
    double sum = l->M[s * l->n + s];
    memset(on, 0, l->n * sizeof *on);
    on[s] = true;
    for (size_t i = 1; i < n; i++) {
        size_t best = l->n;
        for (size_t j = 0; j < l->n; j++) {
            if (!on[j] && (best == l->n || l->M[s * l->n + j] > l->M[s * l->n + best])) {
                best = j;
            }
        }
        on[best] = true;
        sum += l->M[s * l->n + best];
    }
    return l->head[s] / sum;
}

enum tmx_status tmx_budget_worst(const struct tmx_plan_chip *c, const struct tmx_budget_call *call, size_t n,
                                 bool *on, double *watt, struct tmx_err *err)
{
    const double near = 1.02; /* sets whose linear budget is this near the least are solved exactly */
    struct linear l;
    bool *set = calloc(c->n_sm, sizeof *set);
    double *guess = calloc(c->n_sm, sizeof *guess), least = INFINITY;
    enum tmx_status st = linearise(&l, c, call, err);
    st = st || (set && guess) ? st : tmx_fail(err, TMX_ENOMEM, "budget");
    for (size_t s = 0; s < c->n_sm && !st; s++) {
        guess[s] = crowd(&l, s, n, set);
        least = fmin(least, guess[s]);
    }
    *watt = INFINITY;
    for (size_t s = 0; s < c->n_sm && !st; s++) {
        double w;
        if (guess[s] > least * near) {
            continue;
        }
        (void)crowd(&l, s, n, set);
        st = tmx_budget_of(c, call, set, &w, NULL, err);
        if (!st && w < *watt) {
            *watt = w;
            memcpy(on, set, c->n_sm * sizeof *on);
        }
    }
    free(set);
    free(guess);
    linear_finish(&l);
    return st;
}

/* Exchange pairs as long as the load falls. */
static double exchange(const struct linear *l, bool *on, double *sum)
{
    double best = load(l, on, sum);
    for (bool better = true; better;) {
        better = false;
        for (size_t i = 0; i < l->n; i++) {
            for (size_t j = 0; j < l->n && on[i]; j++) {
                if (on[j]) {
                    continue;
                }
                put(l, on, sum, i, false);
                put(l, on, sum, j, true);
                const double now = load(l, on, sum);
                if (now < best * (1 - 1e-9)) { /* not for round-off among sets that mirror one another */
                    best = now;
                    better = true;
                } else {
                    put(l, on, sum, j, false);
                    put(l, on, sum, i, true);
                }
            }
        }
    }
    return best;
}

/* From SM `first`: whichever SM loads the set least joins it. */
static void grow(const struct linear *l, size_t first, size_t n, bool *on, double *sum)
{
    memset(on, 0, l->n * sizeof *on);
    memset(sum, 0, l->n * sizeof *sum);
    put(l, on, sum, first, true);
    for (size_t i = 1; i < n; i++) {
        size_t best = l->n;
        double least = INFINITY;
        for (size_t j = 0; j < l->n; j++) {
            double most = on[j] ? INFINITY : (sum[j] + l->M[j * l->n + j]) / l->head[j];
            for (size_t s = 0; s < l->n && most < least; s++) {
                most = on[s] ? fmax(most, (sum[s] + l->M[s * l->n + j]) / l->head[s]) : most;
            }
            if (most < least) {
                least = most;
                best = j;
            }
        }
        put(l, on, sum, best, true);
    }
}

/* From the whole chip: whichever SM relieves the set most leaves it. */
static void shrink(const struct linear *l, size_t n, bool *on, double *sum)
{
    memset(on, 0, l->n * sizeof *on);
    memset(sum, 0, l->n * sizeof *sum);
    for (size_t j = 0; j < l->n; j++) {
        put(l, on, sum, j, true);
    }
    for (size_t i = l->n; i > n; i--) {
        size_t best = l->n;
        double least = INFINITY;
        for (size_t j = 0; j < l->n; j++) {
            double most = on[j] ? 0 : INFINITY;
            for (size_t s = 0; s < l->n && most < least; s++) {
                most = on[s] && s != j ? fmax(most, (sum[s] - l->M[s * l->n + j]) / l->head[s]) : most;
            }
            if (most < least) {
                least = most;
                best = j;
            }
        }
        put(l, on, sum, best, false);
    }
}

enum tmx_status tmx_budget_best(const struct tmx_plan_chip *c, const struct tmx_budget_call *call, size_t n,
                                bool *on, double *watt, struct tmx_err *err)
{
    struct linear l;
    bool *set = calloc(c->n_sm, sizeof *set);
    double *sum = calloc(c->n_sm, sizeof *sum), least = INFINITY;
    enum tmx_status st = linearise(&l, c, call, err);
    st = st || (set && sum) ? st : tmx_fail(err, TMX_ENOMEM, "budget");
    const size_t stride = 1 + c->n_sm / 48; /* of the starts: exchanges grow with the fourth power of n_sm */
    for (size_t first = 0; first <= c->n_sm && !st; first += stride) {
        if (first + stride <= c->n_sm) {
            grow(&l, first, n, set, sum);
        } else {
            shrink(&l, n, set, sum);
        }
        const double now = exchange(&l, set, sum);
        if (now < least) {
            least = now;
            memcpy(on, set, c->n_sm * sizeof *on);
        }
    }
    st = st ? st : tmx_budget_of(c, call, on, watt, NULL, err);
    free(set);
    free(sum);
    linear_finish(&l);
    return st;
}

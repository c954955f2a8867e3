/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "limits/budget.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- for ever: steady temperatures with leakage, by iteration ---- */

struct steady { /* of one chip; arrays of units are `row` long, of which slope is [W/K] */
    const struct tmx_plan_chip *c;
    double volt;
    size_t row; /* n_unit and what fills a block of sums; that stays 0 */
    double *temp_k, *power_w, *slope, *rise, *ones;
    double *warming; /* [n_unit][row, K/W] row: unit that is powered (the influence matrix, turned) */
    double *sm_k;    /* [n_sm] what the sensors read of a field */
    struct tmx_arena arena;
};

/* Sums run until nothing moves: the loop gain is below 1 where there is a budget at all. */
enum { ROUNDS = 100000, BLOCK = 8 }; /* units whose sums stay in registers */
static const double SETTLED_K = 1e-11;

static void steady_init(struct steady *w, const struct tmx_plan_chip *c, double volt, struct tmx_err *err)
{
    const size_t n = c->n_unit, row = (n + BLOCK - 1) / BLOCK * BLOCK;
    *w = (struct steady){.c = c, .volt = volt, .row = row};
    TMX_TAKE_REALS(&w->arena, row, &w->temp_k, &w->power_w, &w->slope, &w->rise, &w->ones);
    TMX_TAKE(&w->arena, w->warming, n * row);
    TMX_TAKE(&w->arena, w->sm_k, c->n_sm);
    tmx_arena_check(&w->arena, err);
    for (size_t j = 0; j < n && !err->code; j++) {
        for (size_t u = 0; u < n; u++) {
            w->warming[j * row + u] = c->influence[u * n + j];
        }
    }
}

/* w->slope at these temperatures; temp_k may be w->temp_k. */
static void steady_slopes(struct steady *w, const double *temp_k)
{
    for (size_t u = 0; u < w->c->n_unit; u++) {
        w->slope[u] = w->volt * tmx_plan_leak_slope(w->c, u, temp_k[u]);
    }
}

/* w->sm_k: what the sensors read of a field over units. */
static void steady_sensors(struct steady *w, const double *unit)
{
    const struct tmx_chip *chip = w->c->chip;
    memset(w->sm_k, 0, w->c->n_sm * sizeof *w->sm_k);
    for (size_t u = 0; u < w->c->n_unit; u++) {
        if (chip->sm_of_unit[u] != TMX_NO_SM) {
            w->sm_k[chip->sm_of_unit[u]] += chip->part_share[u] * unit[u];
        }
    }
}

/* x [row] = start + A power_w; returns how far that moves x at most. */
static double warm(const struct steady *w, double start, double *x)
{
    double move = 0;
    for (size_t u = 0; u < w->row; u += BLOCK) {
        double sum[BLOCK];
        for (size_t i = 0; i < BLOCK; i++) {
            sum[i] = start;
        }
        for (size_t j = 0; j < w->c->n_unit; j++) {
            const double *column = w->warming + j * w->row + u, watt = w->power_w[j];
            for (size_t i = 0; i < BLOCK; i++) {
                sum[i] += column[i] * watt;
            }
        }
        for (size_t i = 0; i < BLOCK; i++) {
            const double d = fabs(sum[i] - x[u + i]);
            move = d > move ? d : move;
            x[u + i] = sum[i];
        }
    }
    return move;
}

/* x [row] = A (b [n_unit] + slope x), by iteration. false: it grows. */
static bool steady_respond(struct steady *w, const double *b, double *x)
{
    double move = 1;
    memset(x, 0, w->row * sizeof *x);
    for (int round = 0; round < ROUNDS && move > SETTLED_K; round++) {
        for (size_t u = 0; u < w->c->n_unit; u++) {
            w->power_w[u] = b[u] + w->slope[u] * x[u];
        }
        move = warm(w, 0, x);
        if (!(move < 1e9)) {
            return false;
        }
    }
    return move <= SETTLED_K;
}

/* Power iteration; A is positive. */
static double loop_gain(struct steady *w, double temp_k)
{
    double gain = 0;
    for (size_t u = 0; u < w->c->n_unit; u++) {
        w->temp_k[u] = temp_k;
        w->rise[u] = 1;
    }
    steady_slopes(w, w->temp_k);
    for (int round = 0; round < 200; round++) {
        gain = 0;
        for (size_t u = 0; u < w->c->n_unit; u++) {
            w->power_w[u] = w->slope[u] * w->rise[u];
        }
        (void)warm(w, 0, w->rise);
        for (size_t u = 0; u < w->c->n_unit; u++) {
            gain = fmax(gain, w->rise[u]);
        }
        for (size_t u = 0; u < w->c->n_unit && gain > 0; u++) {
            w->rise[u] /= gain;
        }
    }
    return gain;
}

double tmx_budget_loop_gain(const struct tmx_plan_chip *c, double volt, double temp_k)
{
    struct steady w;
    struct tmx_err none = {0};
    steady_init(&w, c, volt, &none);
    const double gain = none.code ? NAN : loop_gain(&w, temp_k);
    tmx_arena_finish(&w.arena);
    return gain;
}

/* From a cold chip: above the steady state lies another, where leakage holds itself. false: it runs away. */
static bool settle(struct steady *w, double watt)
{
    const struct tmx_plan_chip *c = w->c;
    const double top_k = 590; /* the leakage's table ends at 600 K */
    double move = 1;
    for (size_t u = 0; u < c->n_unit; u++) {
        w->temp_k[u] = c->ambient_k;
    }
    for (int round = 0; round < ROUNDS && move > SETTLED_K; round++) {
        for (size_t u = 0; u < c->n_unit; u++) {
            w->power_w[u] =
                c->baseline_w[u] + w->volt * tmx_plan_leak_w(c, u, w->temp_k[u]) + watt * w->ones[u];
        }
        move = warm(w, c->ambient_k, w->temp_k);
        for (size_t u = 0; u < c->n_unit; u++) {
            if (w->temp_k[u] > top_k) {
                return false;
            }
        }
    }
    return true;
}

void tmx_budget_idle(const struct tmx_plan_chip *c, double volt, double *temp_k, struct tmx_err *err)
{
    struct steady w;
    steady_init(&w, c, volt, err);
    if (!err->code && !settle(&w, 0)) {
        tmx_error(err, TMX_ERUNAWAY, "no power is safe: the idle chip runs away");
    }
    if (!err->code) {
        memcpy(temp_k, w.temp_k, c->n_unit * sizeof *temp_k);
    }
    tmx_arena_finish(&w.arena);
}

/* As tmx_budget_of, where the loop gain is known to be below 1; w->temp_k: the temperatures. */
static double steady_watt(struct steady *w, double limit_k, const bool *on)
{
    enum { STEPS = 60 };
    const struct tmx_plan_chip *c = w->c;
    double watt = 0, step = 1;
    for (size_t u = 0; u < c->n_unit; u++) {
        const int s = c->chip->sm_of_unit[u];
        w->ones[u] = s != TMX_NO_SM && (!on || on[s]) ? c->chip->part_share[u] : 0;
    }
    for (int i = 0; i < STEPS && fabs(step) > 1e-9; i++) {
        size_t hottest = 0;
        const bool steady = settle(w, watt);
        steady_sensors(w, w->temp_k);
        for (size_t s = 1; s < c->n_sm; s++) {
            hottest = w->sm_k[s] > w->sm_k[hottest] ? s : hottest;
        }
        steady_slopes(w, w->temp_k);
        if (!steady || !steady_respond(w, w->ones, w->rise)) { /* runs away: back half way */
            step = -watt / 2;
        } else {
            step = (limit_k - w->sm_k[hottest]) / tmx_plan_sensor(c, hottest, w->rise);
        }
        watt = fmax(0, watt + step);
        step = watt > 0 ? step : 0;
    }
    return watt;
}

double tmx_budget_of(const struct tmx_plan_chip *c, const struct tmx_budget_call *call, const bool *on,
                     double *temp_k, struct tmx_err *err)
{
    struct steady w;
    double watt = NAN;
    steady_init(&w, c, call->volt, err);
    const double gain = err->code ? 0 : loop_gain(&w, call->limit_k);
    if (!(gain < 1)) {
        tmx_error(err, TMX_ERUNAWAY,
                  "no power holds %g degC: leakage feeds back %.2f-fold there; take a lower limit",
                  call->limit_k - TMX_ZERO_C, gain);
    }
    if (!err->code) {
        watt = steady_watt(&w, call->limit_k, on);
        if (temp_k) {
            memcpy(temp_k, w.temp_k, c->n_unit * sizeof *temp_k);
        }
    }
    tmx_arena_finish(&w.arena);
    return watt;
}

/* ---- for a while ---- */

/* Safe watts for a while: what the chip would do without work, and what a watt adds to that.
 *   P = min over sensors s of the set and times t of (limit - free_s(t)) / (S(t) 1)_s */

enum { TIMES = 60 }; /* of a path, in equal ratios */

static void path_init(struct tmx_budget_path *p, const struct tmx_plan_chip *c)
{
    *p = (struct tmx_budget_path){0};
    TMX_TAKE(&p->arena, p->time_s, TIMES);
    TMX_TAKE(&p->arena, p->sm_k, TIMES * c->n_sm);
}

void tmx_budget_path_finish(struct tmx_budget_path *p)
{
    tmx_arena_finish(&p->arena);
    *p = (struct tmx_budget_path){0};
}

static void add_point(struct tmx_budget_path *p, const struct tmx_plan_chip *c, double time_s,
                      const double *unit_k)
{
    p->time_s[p->n] = time_s;
    for (size_t s = 0; s < c->n_sm; s++) {
        p->sm_k[p->n * c->n_sm + s] = tmx_plan_sensor(c, s, unit_k);
    }
    p->n++;
}

/* theta of every unit at tau under constant power from state z0 (scaled into the modes). */
static void at_time(const struct tmx_modes_view *m, double tau_s, const double *z0, const double *in_w,
                    const double *direct, double *theta_k)
{
    for (size_t u = 0; u < m->n_unit; u++) {
        theta_k[u] = direct[u];
    }
    for (size_t k = 0; k < m->n_mode; k++) {
        const double decay = exp(-m->rate[k] * tau_s);
        const double z = (z0 ? decay * z0[k] : 0) + (1 - decay) / m->rate[k] * in_w[k];
        for (size_t u = 0; u < m->n_unit; u++) {
            theta_k[u] += z * m->out[k * m->unit_row + u];
        }
    }
}

static void project(const struct tmx_modes_view *m, const double *power_w, double *in_w, double *direct)
{
    for (size_t k = 0; k < m->n_mode; k++) {
        in_w[k] = 0;
        for (size_t u = 0; u < m->n_unit; u++) {
            in_w[k] += m->in[u * m->mode_row + k] * power_w[u];
        }
    }
    for (size_t u = 0; u < m->n_unit; u++) {
        direct[u] = 0;
        for (size_t j = 0; j < m->n_unit && m->direct; j++) {
            direct[u] += m->direct[j * m->unit_row + u] * power_w[j];
        }
    }
}

/* What is drawn without work: leakage at the units' temperatures, or (temp_k NULL) at the limit. */
static void still(const struct tmx_plan_chip *c, const struct tmx_budget_call *call, const double *temp_k,
                  double *power_w)
{
    for (size_t u = 0; u < c->n_unit; u++) {
        power_w[u] =
            c->baseline_w[u] + call->volt * tmx_plan_leak_w(c, u, temp_k ? temp_k[u] : call->limit_k);
    }
}

void tmx_budget_path_idle(struct tmx_budget_path *p, const struct tmx_plan_chip *c,
                          const struct tmx_modes_view *m, const struct tmx_budget_call *call,
                          double horizon_s, struct tmx_err *err)
{
    const double first_s = fmin(1e-3, horizon_s);
    double *power_w, *unit_k, *direct, *z0, *in_w;
    path_init(p, c);
    TMX_TAKE_REALS(&p->arena, c->n_unit, &power_w, &unit_k, &direct);
    TMX_TAKE_REALS(&p->arena, m->n_mode, &z0, &in_w);
    tmx_arena_check(&p->arena, err);
    if (!err->code) {
        tmx_budget_idle(c, call->volt, unit_k, err);
    }
    if (err->code) {
        return;
    }
    still(c, call, unit_k, power_w);
    project(m, power_w, z0, direct);
    for (size_t k = 0; k < m->n_mode; k++) {
        z0[k] /= m->rate[k];
    }
    still(c, call, NULL, power_w);
    project(m, power_w, in_w, direct);
    for (int i = 0; i < TIMES; i++) {
        const double tau_s = first_s * pow(horizon_s / first_s, (double)i / (TIMES - 1));
        at_time(m, tau_s, z0, in_w, direct, unit_k);
        for (size_t u = 0; u < c->n_unit; u++) {
            unit_k[u] += c->ambient_k;
        }
        add_point(p, c, tau_s, unit_k);
    }
}

void tmx_budget_path_run(struct tmx_budget_path *p, const struct tmx_plan_chip *c, const struct tmx_run *run,
                         const struct tmx_budget_call *call, double horizon_s, struct tmx_err *err)
{
    const struct tmx_sim_gpu_thermal *t = tmx_run_gpu_thermal(run, 0);
    void *now = tmx_run_sim(run)->thermal[0].state;
    const double dt_s = tmx_run_tick_s(run), ticks = floor(horizon_s / dt_s * (1 + 1e-9));
    path_init(p, c);
    double *power_w = TMX_TAKE(&p->arena, power_w, 2 * c->n_unit);
    void *state = NULL, *image = tmx_arena_take(&p->arena, tmx_image_size(t->ops->image, now), 1);
    tmx_arena_check(&p->arena, err);
    if (tmx_run_sim(run)->cooling) {
        tmx_error(err, TMX_EUNSUPPORTED, "--state: the run has fans, and the budget would depend on them");
    } else if (ticks < 1) {
        tmx_error(err, TMX_ECONFIG, "--horizon %g: the state's run has ticks of %g s", horizon_s, dt_s);
    }
    if (err->code || t->ops->create(t->model, &state, err)) {
        return;
    }
    tmx_image_save(t->ops->image, now, image);
    tmx_image_restore(t->ops->image, state, image);
    still(c, call, NULL, power_w);
    double next = 1; /* the instance goes on for the horizon; a point at about every time of the idle path */
    for (double i = 1; i <= ticks && !err->code; i++) {
        const enum tmx_status st = t->ops->step(state, dt_s, power_w, power_w + c->n_unit);
        if (st) {
            tmx_error(err, st, "budget: the thermal step failed");
        } else if (i == next || i == ticks) {
            add_point(p, c, i * dt_s, power_w + c->n_unit);
            next = fmax(i + 1, ceil(i * pow(ticks, 1.0 / (TIMES / 2))));
        }
    }
    t->ops->destroy(state);
}

/* What a watt on each SM adds to what each sensor reads after time_s, sm_k [n_sm][n_sm], row: powered. */
static void rises(const struct tmx_plan_chip *c, const struct tmx_modes_view *m, double time_s, double *sm_k,
                  struct tmx_err *err)
{
    double *one = calloc(3 * c->n_unit + m->n_mode, sizeof *one), *direct = one + c->n_unit,
           *rise_k = direct + c->n_unit, *in_w = rise_k + c->n_unit;
    tmx_memory_check(one, err);
    for (size_t j = 0; j < c->n_sm && one; j++) {
        for (size_t u = 0; u < c->n_unit; u++) {
            one[u] = c->chip->sm_of_unit[u] == (int)j ? c->chip->part_share[u] : 0;
        }
        project(m, one, in_w, direct);
        at_time(m, time_s, NULL, in_w, direct, rise_k);
        for (size_t s = 0; s < c->n_sm; s++) {
            sm_k[j * c->n_sm + s] = tmx_plan_sensor(c, s, rise_k);
        }
    }
    free(one);
}

double tmx_budget_for(const struct tmx_plan_chip *c, const struct tmx_modes_view *m,
                      const struct tmx_budget_call *call, const bool *on, const struct tmx_budget_path *path,
                      struct tmx_err *err)
{
    double watt = INFINITY, *one = calloc(3 * c->n_unit + m->n_mode, sizeof *one), *direct = one + c->n_unit,
           *rise_k = direct + c->n_unit, *in_w = rise_k + c->n_unit;
    tmx_memory_check(one, err);
    if (err->code) {
        free(one);
        return NAN;
    }
    for (size_t u = 0; u < c->n_unit; u++) {
        const int s = c->chip->sm_of_unit[u];
        one[u] = s != TMX_NO_SM && (!on || on[s]) ? c->chip->part_share[u] : 0;
    }
    project(m, one, in_w, direct);
    for (size_t i = 0; i < path->n; i++) {
        at_time(m, path->time_s[i], NULL, in_w, direct, rise_k);
        for (size_t s = 0; s < c->n_sm; s++) {
            const double per_watt = tmx_plan_sensor(c, s, rise_k);
            if (per_watt > 0) {
                watt = fmin(watt, (call->limit_k - path->sm_k[i * c->n_sm + s]) / per_watt);
            }
        }
    }
    free(one);
    return fmax(0, watt);
}

/* ---- which SMs ---- */

/* Which SMs may draw least and most: sets are compared by a budget that is linear in the powers about the
 * limit, P <= head_s / sum over the set of M_sj; what is found is solved exactly. What does not depend on how
 * many SMs work is made once: M, who warms whom most, and in which order sets grow and shrink. For a horizon
 * M and head are those of its end, and s is any SM: one that rests may still be near the limit. */

struct tmx_budget_search {
    struct steady steady;
    double limit_k;
    struct tmx_budget_call call;
    const struct tmx_modes_view *modes; /* of a horizon, with its path; not owned. NULL: for ever */
    const struct tmx_budget_path *path;
    double *least_w;               /* [n] of a horizon: the worst budget of 1, 2, ... SMs */
    bool *least_set;               /* [n][n] and its SMs */
    struct tmx_budget_search *few; /* of a horizon: best sets as compared for few SMs, and for ever; */
    struct tmx_budget_search *steady_sets; /* the best of the three counts. Owned */
    size_t n, n_start;
    double *M;       /* [n][n] K/W, row: SM that is powered */
    double *head;    /* [n] K */
    double *sum;     /* [n] of M over a set, by SM */
    double *guess;   /* [n] W */
    size_t *warmers; /* [n][n] row: SM that is warmed; the others by how much they do */
    size_t *grown;   /* [n_start][n] in which order SMs join */
    size_t *shrunk;  /* [n] in which order they leave */
    bool *set;       /* [n] */
    struct tmx_arena arena;
};

static void linearise(struct tmx_budget_search *l, struct tmx_err *err)
{
    const double others_k = 7; /* units without a sensor stay about so far below the limit; only the search
                                  for mappings rests on it, not their budgets */
    struct steady *w = &l->steady;
    const struct tmx_plan_chip *c = w->c;
    for (size_t u = 0; u < c->n_unit; u++) {
        w->temp_k[u] = l->limit_k - (c->chip->sm_of_unit[u] == TMX_NO_SM ? others_k : 0);
    }
    steady_slopes(w, w->temp_k);
    for (size_t u = 0; u < c->n_unit; u++) {
        w->ones[u] = c->baseline_w[u] + w->volt * tmx_plan_leak_w(c, u, w->temp_k[u]) +
                     w->slope[u] * (c->ambient_k - w->temp_k[u]);
    }
    if (!steady_respond(w, w->ones, w->rise)) {
        tmx_error(err, TMX_ERUNAWAY, "leakage runs away");
    }
    steady_sensors(w, w->rise);
    for (size_t s = 0; s < l->n; s++) {
        l->head[s] = l->limit_k - c->ambient_k - w->sm_k[s];
    }
    for (size_t j = 0; j < l->n; j++) {
        for (size_t u = 0; u < c->n_unit; u++) {
            w->ones[u] = c->chip->sm_of_unit[u] == (int)j ? c->chip->part_share[u] : 0;
        }
        (void)steady_respond(w, w->ones, w->rise);
        steady_sensors(w, w->rise);
        memcpy(l->M + j * l->n, w->sm_k, l->n * sizeof *l->M);
    }
}

/* Does SM s have to stay below the limit, as far as a set's budget is concerned? */
static bool counts(const struct tmx_budget_search *l, size_t s)
{
    return l->set[s] || l->path;
}

/* W of a set, exactly; NaN without memory. */
static double solve(struct tmx_budget_search *l, const bool *on)
{
    struct tmx_err none = {0};
    return l->path ? tmx_budget_for(l->steady.c, l->modes, &l->call, on, l->path, &none)
                   : steady_watt(&l->steady, l->limit_k, on);
}

/* By insertion: SMs that warm alike stay in the order of their numbers. */
static void sort_warmers(struct tmx_budget_search *l)
{
    for (size_t s = 0; s < l->n; s++) {
        size_t *row = l->warmers + s * l->n, n = 0;
        row[n++] = s;
        for (size_t j = 0; j < l->n; j++) {
            size_t at = n;
            if (j == s) {
                continue;
            }
            for (; at > 1 && l->M[row[at - 1] * l->n + s] < l->M[j * l->n + s]; at--) {
                row[at] = row[at - 1];
            }
            row[at] = j;
            n++;
        }
    }
}

/* Less, and not by round-off: chips mirror themselves, and among sets that are equally good the first is
 * taken. */
static bool below(double a, double b)
{
    return b - a > 1e-9 * fabs(a);
}

static void put(struct tmx_budget_search *l, size_t j, bool in)
{
    const double *row = l->M + j * l->n;
    l->set[j] = in;
    for (size_t s = 0; s < l->n; s++) {
        l->sum[s] += in ? row[s] : -row[s];
    }
}

static void clear(struct tmx_budget_search *l)
{
    memset(l->set, 0, l->n * sizeof *l->set);
    memset(l->sum, 0, l->n * sizeof *l->sum);
}

/* The SM that loads the set least by joining it (in), or relieves it most by leaving it. */
static size_t next_sm(const struct tmx_budget_search *l, bool in)
{
    size_t best = l->n;
    double least = INFINITY;
    for (size_t j = 0; j < l->n; j++) {
        const double *row = l->M + j * l->n;
        double most = l->set[j] == in ? INFINITY : in ? (l->sum[j] + row[j]) / l->head[j] : 0;
        for (size_t s = 0; s < l->n && most < least; s++) {
            const double load = (in ? l->sum[s] + row[s] : l->sum[s] - row[s]) / l->head[s];
            most = l->path || (l->set[s] && (in || s != j)) ? fmax(most, load) : most;
        }
        if (l->set[j] != in && (below(most, least) || best == l->n)) {
            least = most;
            best = j;
        }
    }
    return best;
}

/* In which order SMs join, from SM `first` on, or leave the whole chip (first: n). */
static void put_in_order(struct tmx_budget_search *l, size_t first, size_t *order)
{
    const bool in = first < l->n;
    clear(l);
    for (size_t j = 0; j < l->n && !in; j++) {
        put(l, j, true);
    }
    for (size_t i = 0; i < l->n; i++) {
        order[i] = i == 0 && in ? first : next_sm(l, in);
        put(l, order[i], in);
    }
}

/* A time of the path, whose rises are in M: of which sets does it make the worst? A horizon's budget is
 * linear at each time, so that the least over sensors, times and the SMs that warm most is exact. */
static void worst_at(struct tmx_budget_search *l, const double *head)
{
    const size_t n = l->n;
    sort_warmers(l);
    for (size_t s = 0; s < n; s++) {
        const size_t *row = l->warmers + s * n;
        double sum = 0;
        for (size_t i = 0; i < n; i++) {
            sum += l->M[row[i] * n + s];
            if (sum > 0 && below(fmax(0, head[s]) / sum, l->least_w[i])) {
                l->least_w[i] = fmax(0, head[s]) / sum;
                memset(l->least_set + i * n, 0, n * sizeof *l->least_set);
                for (size_t k = 0; k <= i; k++) {
                    l->least_set[i * n + row[k]] = true;
                }
            }
        }
    }
}

/* M and head of each SM at the time at which a chip whose other SMs draw `weight` of its watts would bring it
 * to the limit. */
static void along_path(struct tmx_budget_search *l, double weight, struct tmx_err *err)
{
    const size_t n = l->n;
    double *kept, *head;
    TMX_TAKE(&l->arena, kept, n * n);
    TMX_TAKE(&l->arena, head, n);
    TMX_TAKE(&l->arena, l->least_w, n);
    TMX_TAKE(&l->arena, l->least_set, n * n);
    tmx_arena_check(&l->arena, err);
    for (size_t s = 0; s < n && !err->code; s++) {
        l->guess[s] = l->least_w[s] = INFINITY;
    }
    for (size_t i = 0; i < l->path->n && !err->code; i++) {
        rises(l->steady.c, l->modes, l->path->time_s[i], l->M, err);
        for (size_t s = 0; s < n; s++) {
            double sum = 0;
            head[s] = l->limit_k - l->path->sm_k[i * n + s];
            for (size_t j = 0; j < n; j++) {
                sum += l->M[j * n + s] * (j == s ? 1 : weight);
            }
            if (sum > 0 && head[s] / sum < l->guess[s]) {
                l->guess[s] = head[s] / sum;
                l->head[s] = head[s];
                for (size_t j = 0; j < n; j++) {
                    kept[j * n + s] = l->M[j * n + s];
                }
            }
        }
        worst_at(l, head);
    }
    if (!err->code) {
        memcpy(l->M, kept, n * n * sizeof *kept);
    }
}

/* NULL where err has an error. */
static struct tmx_budget_search *open_one(const struct tmx_plan_chip *c, const struct tmx_budget_call *call,
                                          const struct tmx_modes_view *modes,
                                          const struct tmx_budget_path *path, double weight,
                                          struct tmx_err *err)
{
    const size_t stride = 1 + c->n_sm / 48; /* of the starts */
    struct tmx_budget_search *l = err->code ? NULL : calloc(1, sizeof *l);
    tmx_memory_check(l, err);
    if (!l) {
        return NULL;
    }
    l->n = c->n_sm;
    l->n_start = c->n_sm / stride;
    l->limit_k = call->limit_k;
    l->call = *call;
    l->modes = modes;
    l->path = path;
    const size_t n = l->n;
    TMX_TAKE_REALS(&l->arena, n, &l->head, &l->sum, &l->guess);
    TMX_TAKE(&l->arena, l->M, n * n);
    TMX_TAKE(&l->arena, l->warmers, n * n);
    TMX_TAKE(&l->arena, l->grown, l->n_start * n);
    TMX_TAKE(&l->arena, l->shrunk, n);
    TMX_TAKE(&l->arena, l->set, n);
    steady_init(&l->steady, c, call->volt, err);
    tmx_arena_check(&l->arena, err);
    if (!err->code && !(tmx_budget_loop_gain(c, call->volt, call->limit_k) < 1)) {
        tmx_error(err, TMX_ERUNAWAY, "no power holds %g degC: leakage runs away there; take a lower limit",
                  call->limit_k - TMX_ZERO_C);
    }
    if (!err->code && path && weight >= 0) {
        along_path(l, weight, err);
    } else if (!err->code) {
        linearise(l, err);
    }
    if (err->code) {
        tmx_budget_search_destroy(l);
        return NULL;
    }
    sort_warmers(l);
    for (size_t i = 0; i < l->n_start; i++) {
        put_in_order(l, i * stride, l->grown + i * n);
    }
    put_in_order(l, n, l->shrunk);
    return l;
}

struct tmx_budget_search *tmx_budget_search_create(const struct tmx_plan_chip *c,
                                                   const struct tmx_budget_call *call,
                                                   const struct tmx_modes_view *modes,
                                                   const struct tmx_budget_path *path, struct tmx_err *err)
{
    const double few = 1.0 / (double)c->n_sm; /* all others together as much as one */
    struct tmx_budget_search *l = open_one(c, call, modes, path, 1, err);
    if (l && path) {
        l->few = open_one(c, call, modes, path, few, err);
        l->steady_sets = open_one(c, call, modes, path, -1, err);
    }
    if (err->code) {
        tmx_budget_search_destroy(l);
        l = NULL;
    }
    return l;
}

void tmx_budget_search_destroy(struct tmx_budget_search *l)
{
    if (l) {
        tmx_budget_search_destroy(l->few);
        tmx_budget_search_destroy(l->steady_sets);
        tmx_arena_finish(&l->steady.arena);
        tmx_arena_finish(&l->arena);
        free(l);
    }
}

/* l->set: SM s and the n - 1 that warm it most. */
static double crowd(struct tmx_budget_search *l, size_t s, size_t n)
{
    const size_t *row = l->warmers + s * l->n;
    double sum = 0;
    memset(l->set, 0, l->n * sizeof *l->set);
    for (size_t i = 0; i < n; i++) {
        l->set[row[i]] = true;
        sum += l->M[row[i] * l->n + s];
    }
    return fmax(0, l->head[s]) / sum; /* 0: idling passes the limit */
}

/* Was the crowd of an SM before s, of those solved, the same set? */
static bool again(struct tmx_budget_search *l, size_t s, size_t n, double most_w)
{
    const size_t *row = l->warmers + s * l->n;
    for (size_t before = 0; before < s; before++) {
        size_t same = 0;
        if (l->guess[before] > most_w) {
            continue;
        }
        (void)crowd(l, before, n);
        while (same < n && l->set[row[same]]) {
            same++;
        }
        if (same == n) {
            return true;
        }
    }
    return false;
}

double tmx_budget_worst(struct tmx_budget_search *l, size_t n, bool *on)
{
    const double near = 1.02; /* sets whose linear budget is this near the least are solved exactly */
    double least = INFINITY, watt = INFINITY;
    if (l->path) {
        memcpy(on, l->least_set + (n - 1) * l->n, l->n * sizeof *on);
        return l->least_w[n - 1];
    }
    for (size_t s = 0; s < l->n; s++) {
        l->guess[s] = crowd(l, s, n);
        least = fmin(least, l->guess[s]);
    }
    for (size_t s = 0; s < l->n; s++) {
        if (l->guess[s] > least * near || again(l, s, n, least * near)) {
            continue;
        }
        (void)crowd(l, s, n);
        const double w = solve(l, l->set);
        if (below(w, watt)) {
            watt = w;
            memcpy(on, l->set, l->n * sizeof *on);
        }
    }
    return watt;
}

/* The SM of the set with the heaviest load, sum / head in 1/W. */
static size_t heaviest(const struct tmx_budget_search *l, double *load)
{
    size_t at = 0;
    *load = 0;
    for (size_t s = 0; s < l->n; s++) {
        const double here = counts(l, s) ? l->sum[s] / l->head[s] : 0;
        at = here > *load ? s : at;
        *load = fmax(*load, here);
    }
    return at;
}

/* Would the heaviest load, were SM j in the place of i, be below `enough`? guard: the SM asked first, and
 * which said no. Loads below 0, of SMs that idling brings beyond the limit, count as none. */
static bool relieves(const struct tmx_budget_search *l, size_t i, size_t j, double enough, size_t *guard)
{
    const double *out = l->M + i * l->n, *in = l->M + j * l->n;
    if (!(enough > 0)) {
        return false;
    }
    if (counts(l, *guard) && *guard != i &&
        !((l->sum[*guard] - out[*guard] + in[*guard]) / l->head[*guard] < enough)) {
        return false;
    }
    if (!((l->sum[j] - out[j] + in[j]) / l->head[j] < enough)) {
        return false;
    }
    for (size_t s = 0; s < l->n; s++) {
        if ((l->path || (l->set[s] && s != i)) && !((l->sum[s] - out[s] + in[s]) / l->head[s] < enough)) {
            *guard = s;
            return false;
        }
    }
    return true;
}

/* Exchange pairs as long as the load falls; not for round-off among sets that mirror one another. */
static double exchange(struct tmx_budget_search *l)
{
    double best;
    size_t guard = heaviest(l, &best);
    for (bool better = true; better;) {
        better = false;
        for (size_t i = 0; i < l->n; i++) {
            for (size_t j = 0; j < l->n && l->set[i]; j++) {
                if (!l->set[j] && relieves(l, i, j, best * (1 - 1e-9), &guard)) {
                    put(l, i, false);
                    put(l, j, true);
                    guard = heaviest(l, &best);
                    better = true;
                }
            }
        }
    }
    return best;
}

static double best_of(struct tmx_budget_search *l, size_t n, bool *on)
{
    double least = INFINITY;
    for (size_t start = 0; start <= l->n_start; start++) {
        clear(l);
        if (start < l->n_start) {
            for (size_t i = 0; i < n; i++) {
                put(l, l->grown[start * l->n + i], true);
            }
        } else {
            for (size_t j = 0; j < l->n; j++) {
                put(l, j, true);
            }
            for (size_t i = 0; i < l->n - n; i++) {
                put(l, l->shrunk[i], false);
            }
        }
        const double now = exchange(l);
        if (below(now, least)) {
            least = now;
            memcpy(on, l->set, l->n * sizeof *on);
        }
    }
    return solve(l, on);
}

double tmx_budget_best(struct tmx_budget_search *l, size_t n, bool *on)
{
    struct tmx_budget_search *other[] = {l->few, l->steady_sets};
    double watt = best_of(l, n, on);
    for (size_t i = 0; i < sizeof other / sizeof other[0] && l->path; i++) {
        const double w = best_of(other[i], n, l->set);
        if (below(watt, w)) {
            watt = w;
            memcpy(on, l->set, l->n * sizeof *on);
        }
    }
    return watt;
}

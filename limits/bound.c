/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How much work can a chip do at most, if no SM may ever be hotter than a limit? And how do we know that the
 * answer is right?
 *
 * The idea. Take any schedule of any policy, run it for a long time, and look only at its averages: the share
 * of time x[s,k,v] for which SM s runs kernel k at clock level v, the share y[v] of the clock levels, the
 * mean temperature T and the mean leakage l of every unit. Whatever the policy does, these averages satisfy a
 * handful of linear conditions:
 *
 *   maximise   speed                                    speed = work / (time x SMs)
 *   SM         sum_k x[s,k,v] <= y[v]                   shares of SM s by kernel k and level v
 *   clock      sum_v y[v] = 1
 *   work       speed W_k / W <= sum_{s,v} gain f_kv x[s,k,v] / N
 *   heat       T = ambient + A (baseline + l + sum_{k,v} V_v^2 f_kv P_k part x[s,k,v])
 *   leakage    l_u >= L_u(t) + L_u'(t) (T_u - t) - (1 - sum_v V_v y[v]) L_u(T_max,u)   for tangents t
 *   limit      T of every sensor <= limit
 *
 * f_kv is the speed of kernel k at level v: the clock's, f_v, or where a part m of its time waits for memory,
 * f_v / (1 - m + m f_v); its watts follow its speed. A kernel whose power changes with its work is a kernel a
 * phase here: each phase has its own work to do, in whatever order. Work, shares and dynamic power are linear
 * in the shares. A is the influence matrix of the thermal model,
 * K/W. What is always below the limit is below it on average. Leakage L(T) is not linear, but it is convex,
 * so its mean is at least its value at the mean temperature, and that is at least every tangent:
 *
 *        L |             .        the curve L(T): a schedule's mean of L is on it or above
 *          |           .:/
 *          |        . '/ /        the tangents at t1 and t2: the programme allows every l
 *          |   . ' ` / /          above all of them
 *          |' `  /  /
 *          +----t1-t2------ T
 *
 * So the averages of every schedule are a point that the programme allows, and the optimum of the programme
 * is at least the speed of every schedule: a bound. The one thing left out is heat stored since the start,
 * which vanishes with time. Changes of level, wake-up times, ripple within a tick, queues and arrivals are
 * left out, too. Each of them can only slow a schedule down: the bound is then further away, not wrong.
 *
 * The certificate. The solver is not trusted. Its prices d (one a row) are: for any d, with d >= 0 in the
 * rows with <=, weak duality gives
 *
 *   speed  <=  rhs . d + sum_j max(r_j lo_j, r_j hi_j),     r = cost - A' d       (tmx_lp_bound)
 *
 * The right side is a sum of products of numbers that we hold; it needs no solver, and round-off is added to
 * it. It is `bound.speed`. Poor prices make it larger, never wrong, and `bound.certificate`, its distance
 * from the solver's own optimum, shows that: 0 but for round-off. For it every column needs a finite box
 * lo..hi. That of a temperature is what the unit can reach at most; a unit without a sensor of its own may be
 * hotter than the limit, and top_of() finds its maximum by the same kind of programme.
 *
 * The other side. tmx_bound_steady_peak() runs the optimum's shares for ever under exact leakage, and
 * tmx_bound_feasible() lowers the limit of the programme until that keeps the true one: a schedule that
 * exists. The best policy lies between the two.
 *
 * Several GPUs of one kind: the same programme with the means over the GPUs in its columns, as it is convex,
 * and the work spread over all of them. It then bounds work / (makespan x all SMs), because a GPU that has
 * nothing to do cools. Warm air of neighbours and links are left out.
 *
 * The order below: the columns and rows in the order of the list above, prices and solution, the two
 * schedules of the other side, and how a run becomes the work W of the programme. */
#include "limits/bound.h"

#include <math.h>
#include <stdlib.h>

#include "run/state.h"

/* Tangents of the leakage, below the limit [K]: more change the bound of the reference chip by 2e-4 points,
 * three give away 5e-3, one 3e-2 (tests). */
static const double below_k[] = {20, 15, 12, 10, 8, 6, 5, 4, 3, 2, 1, 0};
enum { N_BELOW = sizeof below_k / sizeof below_k[0] };

struct build {
    struct tmx_bound *b;
    const struct tmx_plan_chip *c;
    const struct tmx_work *w;
    const struct tmx_bound_options *o;
    double *leak_w; /* [n_unit] where factor is 1, with what unit gating leaves */
    double *top_k;  /* [n_unit] no unit is ever hotter */
    double *of_sm;  /* [n_unit][n_sm, K/W] temperature by one watt in an SM */
};

static size_t x_col(const struct tmx_bound *b, size_t sm, size_t kernel, size_t level)
{
    return (sm * b->n_kernel + kernel) * b->n_level + level;
}

static double leak(const struct build *d, size_t unit, double temp_k)
{
    return d->leak_w[unit] * tmx_plan_leak_factor(d->c, temp_k);
}

static bool is_sensor(const struct tmx_plan_chip *c, size_t unit)
{
    return c->chip->sm_of_unit[unit] != TMX_NO_SM && c->chip->part_share[unit] >= 1;
}

static double speed_of(const struct tmx_plan_chip *c, const struct tmx_work *w, size_t kernel, size_t level)
{
    const double f = c->speed[level], waits = w->waits ? w->waits[kernel] : 0;
    return f / (1 - waits + waits * f);
}

/* W on one SM. */
static double watts_of(const struct tmx_plan_chip *c, const struct tmx_work *w, size_t kernel, size_t level)
{
    return w->sm_w[kernel] * c->dynamic[level] * (speed_of(c, w, kernel, level) / c->speed[level]);
}

static double still_k(const struct tmx_plan_chip *c, size_t unit)
{
    double t = c->ambient_k;
    for (size_t j = 0; j < c->n_unit; j++) {
        t += c->influence[unit * c->n_unit + j] * c->baseline_w[j];
    }
    return t;
}

/* Every power of the SMs whose sensors keep the limit: columns power [n_sm], temperature and leakage
 * [n_unit]. */
static void top_rows(const struct build *d, struct tmx_lp *lp, struct tmx_err *err)
{
    const struct tmx_plan_chip *c = d->c;
    const size_t t0 = c->n_sm, l0 = t0 + c->n_unit;
    double most_w = 0;
    for (size_t k = 0; k < d->w->n; k++) {
        most_w = fmax(most_w, d->w->sm_w[k]);
    }
    tmx_lp_init(lp, l0 + c->n_unit, err);
    for (size_t s = 0; s < c->n_sm && !err->code; s++) {
        lp->hi[s] = most_w;
        (void)tmx_lp_row(lp, d->o->limit_k, false);
        for (size_t u = 0; u < c->n_unit; u++) {
            tmx_lp_add(lp, t0 + u, c->chip->sm_of_unit[u] == (int)s ? c->chip->part_share[u] : 0);
        }
    }
    for (size_t u = 0; u < c->n_unit && !err->code; u++) {
        lp->lo[t0 + u] = c->ambient_k;
        lp->hi[t0 + u] = d->top_k[u];
        (void)tmx_lp_row(lp, still_k(c, u), true);
        tmx_lp_add(lp, t0 + u, 1);
        for (size_t s = 0; s < c->n_sm; s++) {
            tmx_lp_add(lp, s, -d->of_sm[u * c->n_sm + s]);
        }
        for (size_t j = 0; j < c->n_unit; j++) {
            tmx_lp_add(lp, l0 + j, -c->influence[u * c->n_unit + j]);
        }
    }
}

/* A unit without a sensor of its own could be hotter than the limit while every sensor keeps it: the
 * hottest it can be, over all powers of the SMs. Its leakage makes it hotter, so: from a top that is far too
 * high, down as long as the programme allows. */
static void top_of(struct build *d, struct tmx_err *err)
{
    enum { ROUNDS = 30 };
    const struct tmx_plan_chip *c = d->c;
    const size_t t0 = c->n_sm, l0 = t0 + c->n_unit;
    struct tmx_lp lp = {0};
    double objective, move_k = 0;
    for (size_t u = 0; u < c->n_unit; u++) {
        d->top_k[u] = d->o->limit_k + (is_sensor(c, u) ? 0 : 40);
        move_k = is_sensor(c, u) ? move_k : 40;
    }
    if (move_k > 0) {
        top_rows(d, &lp, err);
    }
    double *dual;
    TMX_TAKE(&d->b->arena, dual, lp.n_row);
    tmx_arena_check(&d->b->arena, err);
    for (int round = 0; round < ROUNDS && !err->code && move_k > 1e-3; round++) {
        move_k = 0;
        for (size_t u = 0; u < c->n_unit; u++) {
            lp.hi[t0 + u] = d->top_k[u];
            lp.hi[l0 + u] = leak(d, u, d->top_k[u]);
        }
        for (size_t u = 0; u < c->n_unit && !err->code; u++) {
            if (d->top_k[u] <= d->o->limit_k) {
                continue;
            }
            lp.cost[t0 + u] = 1;
            tmx_lp_cache_lp(d->o->solved, &lp, NULL, dual, &objective, err);
            const double top_k = err->code ? d->top_k[u] : fmax(d->o->limit_k, tmx_lp_bound(&lp, dual, NULL));
            lp.cost[t0 + u] = 0;
            move_k = fmax(move_k, d->top_k[u] - top_k);
            d->top_k[u] = top_k;
        }
    }
    tmx_lp_finish(&lp);
}

/* At a level the optimum never uses, what an idle SM costs and what being at the level costs are not
 * determined, only their sum: any split is a vertex a solver may stop at. Ours: an idle SM costs what its
 * best kernel would bring there, and all SMs alike what then remains until the level itself is free. */
static void choose_prices(struct tmx_bound *b)
{
    (void)tmx_lp_bound(&b->lp, b->dual, b->reduced);
    for (size_t v = 0; v < b->n_level; v++) {
        double left = -b->reduced[b->y0 + v];
        if (b->x[b->y0 + v] > 1e-9 || left <= 0) {
            continue;
        }
        for (size_t s = 0; s < b->n_sm; s++) {
            double *d = &b->dual[b->sm_row0 + s * b->n_level + v], least = 0;
            for (size_t k = 0; k < b->n_kernel; k++) {
                least = fmax(least, b->reduced[x_col(b, s, k, v)] + *d);
            }
            left += *d - least;
            *d = least;
        }
        for (size_t s = 0; s < b->n_sm; s++) {
            b->dual[b->sm_row0 + s * b->n_level + v] += left / (double)b->n_sm;
        }
    }
}

enum tmx_status tmx_bound_init(struct tmx_bound *b, const struct tmx_plan_chip *c, const struct tmx_work *w,
                               const struct tmx_bound_options *o, struct tmx_err *err)
{
    struct build d = {.b = b, .c = c, .w = w, .o = o};
    const size_t n_x = c->n_sm * w->n * c->n_level;
    *b = (struct tmx_bound){
        .n_sm = c->n_sm, .n_kernel = w->n, .n_level = c->n_level, .n_unit = c->n_unit, .sm_leak = o->sm_leak};
    b->y0 = n_x;
    b->t0 = b->y0 + c->n_level;
    b->l0 = b->t0 + c->n_unit;
    b->speed_col = b->l0 + c->n_unit;
    if (o->limit_k <= c->ambient_k) {
        tmx_error(err, TMX_ECONFIG, "the limit of %g degC is not above the ambient %g degC",
                  o->limit_k - TMX_ZERO_C, c->ambient_k - TMX_ZERO_C);
    }
    TMX_TAKE(&b->arena, d.leak_w, c->n_unit);
    TMX_TAKE(&b->arena, d.top_k, c->n_unit);
    TMX_TAKE(&b->arena, d.of_sm, c->n_unit * c->n_sm);
    tmx_arena_check(&b->arena, err);
    if (!err->code) {
        tmx_plan_check_convex(c, o->limit_k + 10, err);
    }
    if (!err->code) {
        for (size_t u = 0; u < c->n_unit; u++) {
            d.leak_w[u] = c->leak_w[u] * (c->chip->sm_of_unit[u] == TMX_NO_SM ? 1 : o->sm_leak);
            for (size_t j = 0; j < c->n_unit; j++) {
                const int sm = c->chip->sm_of_unit[j];
                if (sm != TMX_NO_SM) {
                    d.of_sm[u * c->n_sm + (size_t)sm] +=
                        c->influence[u * c->n_unit + j] * c->chip->part_share[j];
                }
            }
        }
        top_of(&d, err);
    }
    tmx_lp_init(&b->lp, b->speed_col + 1, err);
    if (!err->code) {
        for (size_t s = 0; s < b->n_sm; s++) {
            for (size_t k = 0; k < b->n_kernel; k++) {
                for (size_t v = 1; v < b->n_level && o->one_level; v++) {
                    b->lp.hi[x_col(b, s, k, v)] = 0;
                }
            }
        }
        for (size_t v = 1; v < b->n_level && o->one_level; v++) {
            b->lp.hi[b->y0 + v] = 0;
        }
        for (size_t u = 0; u < b->n_unit; u++) {
            b->lp.lo[b->t0 + u] = c->ambient_k;
            b->lp.hi[b->t0 + u] = d.top_k[u];
            b->lp.hi[b->l0 + u] = 1.2 * leak(&d, u, d.top_k[u]);
        }
        b->lp.hi[b->speed_col] = w->gain;
        b->lp.cost[b->speed_col] = 1;
        b->sm_row0 = b->lp.n_row; /* rows: shares of each SM, */
        for (size_t s = 0; s < b->n_sm; s++) {
            for (size_t v = 0; v < b->n_level; v++) {
                (void)tmx_lp_row(&b->lp, 0, false);
                for (size_t k = 0; k < b->n_kernel; k++) {
                    tmx_lp_add(&b->lp, x_col(b, s, k, v), 1);
                }
                tmx_lp_add(&b->lp, b->y0 + v, -1);
            }
        }
        b->clock_row = tmx_lp_row(&b->lp, 1, true); /* of the clock, */
        for (size_t v = 0; v < b->n_level; v++) {
            tmx_lp_add(&b->lp, b->y0 + v, 1);
        }
        b->work_row0 = b->lp.n_row; /* work, */
        for (size_t k = 0; k < b->n_kernel; k++) {
            (void)tmx_lp_row(&b->lp, 0, false);
            tmx_lp_add(&b->lp, b->speed_col, w->work_s[k] / w->sum_s);
            for (size_t s = 0; s < b->n_sm; s++) {
                for (size_t v = 0; v < b->n_level; v++) {
                    tmx_lp_add(&b->lp, x_col(b, s, k, v), -w->gain * speed_of(c, w, k, v) / (double)b->n_sm);
                }
            }
        }
        b->heat_row0 = b->lp.n_row; /* heat, */
        for (size_t u = 0; u < b->n_unit; u++) {
            (void)tmx_lp_row(&b->lp, still_k(c, u), true);
            tmx_lp_add(&b->lp, b->t0 + u, 1);
            for (size_t j = 0; j < b->n_unit; j++) {
                tmx_lp_add(&b->lp, b->l0 + j, -c->influence[u * b->n_unit + j]);
            }
            for (size_t s = 0; s < b->n_sm; s++) {
                for (size_t k = 0; k < b->n_kernel; k++) {
                    for (size_t v = 0; v < b->n_level; v++) {
                        tmx_lp_add(&b->lp, x_col(b, s, k, v),
                                   -d.of_sm[u * b->n_sm + s] * watts_of(c, w, k, v));
                    }
                }
            }
        }
        const size_t n = o->tangent_k ? o->n_tangent : N_BELOW;
        b->leak_row0 = b->lp.n_row; /* leakage, */
        for (size_t u = 0; u < b->n_unit; u++) {
            for (size_t i = 0; i < n && d.leak_w[u] > 0; i++) {
                const double t = o->tangent_k ? o->tangent_k[i] : o->limit_k - below_k[i];
                const double slope = tmx_plan_leak_slope(c, u, t) * d.leak_w[u] / c->leak_w[u];
                const double top_w = leak(&d, u, d.top_k[u]);
                (void)tmx_lp_row(&b->lp, top_w - leak(&d, u, t) + slope * t, false);
                tmx_lp_add(&b->lp, b->l0 + u, -1);
                tmx_lp_add(&b->lp, b->t0 + u, slope);
                for (size_t v = 0; v < b->n_level; v++) {
                    tmx_lp_add(&b->lp, b->y0 + v, c->leak[v] * top_w);
                }
            }
        }
        b->n_leak_row = b->lp.n_row - b->leak_row0;
        b->limit_row0 = b->lp.n_row; /* and the limit where the sensor of several units reads their mean */
        for (size_t s = 0; s < b->n_sm; s++) {
            if (!is_sensor(c, c->chip->unit_of_sm[s])) {
                (void)tmx_lp_row(&b->lp, o->limit_k, false);
                for (size_t u = c->chip->unit_of_sm[s]; u < b->n_unit; u++) {
                    tmx_lp_add(&b->lp, b->t0 + u,
                               c->chip->sm_of_unit[u] == (int)s ? c->chip->part_share[u] : 0);
                }
            }
        }
        for (size_t s = 1; s < b->n_sm && o->uniform; s++) {
            for (size_t i = 0; i < b->n_kernel * b->n_level; i++) {
                (void)tmx_lp_row(&b->lp, 0, true);
                tmx_lp_add(&b->lp, s * b->n_kernel * b->n_level + i, 1);
                tmx_lp_add(&b->lp, i, -1);
            }
        }
        TMX_TAKE(&b->arena, b->x, b->lp.n_col);
        TMX_TAKE(&b->arena, b->dual, b->lp.n_row);
        TMX_TAKE(&b->arena, b->reduced, b->lp.n_col);
        tmx_arena_check(&b->arena, err);
        tmx_lp_cache_lp(o->solved, &b->lp, b->x, b->dual, &b->objective, err);
    }
    if (!err->code) {
        for (size_t i = 0; i < b->lp.n_row; i++) {
            b->dual[i] = b->lp.equal[i] || b->dual[i] > 0 ? b->dual[i] : 0;
        }
        choose_prices(b);
        b->speed = tmx_lp_bound(&b->lp, b->dual, b->reduced);
        b->certificate = b->speed - b->objective;
        b->speed = fmin(b->speed, b->lp.hi[b->speed_col]);
    }
    if (err->code == TMX_ESOLVE) {
        tmx_fail(err, TMX_ESOLVE,
                 "no solution at a limit of %g degC: is the chip hotter than that without work?",
                 o->limit_k - TMX_ZERO_C);
    }
    return err->code;
}

void tmx_bound_finish(struct tmx_bound *b)
{
    tmx_lp_finish(&b->lp);
    tmx_arena_finish(&b->arena);
    *b = (struct tmx_bound){0};
}

double tmx_bound_level_share(const struct tmx_bound *b, size_t level)
{
    return b->x[b->y0 + level];
}

/* T = ambient + A (baseline + busy work + mean voltage * L(T)), by iteration. */
enum tmx_status tmx_bound_steady_peak(const struct tmx_bound *b, const struct tmx_plan_chip *c,
                                      const struct tmx_work *w, double busy, double *peak_k,
                                      struct tmx_err *err)
{
    enum { ROUNDS = 2000 };
    const double far_k = 600; /* no chip comes back from there */
    const size_t n = c->n_unit;
    double *power_w = calloc(3 * n, sizeof *power_w), *work_w = power_w + n, *temp_k = work_w + n;
    double volt = 0, move = 1;
    *peak_k = 0;
    tmx_memory_check(power_w, err);
    if (err->code) {
        free(power_w);
        return err->code;
    }
    for (size_t v = 0; v < b->n_level; v++) {
        volt += c->leak[v] * b->x[b->y0 + v];
    }
    for (size_t u = 0; u < n; u++) {
        const int sm = c->chip->sm_of_unit[u];
        temp_k[u] = c->ambient_k;
        for (size_t i = 0; sm != TMX_NO_SM && i < b->n_kernel * b->n_level; i++) {
            const size_t v = i % b->n_level;
            work_w[u] += busy * b->x[(size_t)sm * b->n_kernel * b->n_level + i] * c->chip->part_share[u] *
                         watts_of(c, w, i / b->n_level, v);
        }
    }
    for (int round = 0; round < ROUNDS && move > 1e-10 && *peak_k < far_k; round++) {
        move = 0;
        for (size_t u = 0; u < n; u++) {
            power_w[u] = c->baseline_w[u] + work_w[u] +
                         volt * (c->chip->sm_of_unit[u] == TMX_NO_SM ? 1 : b->sm_leak) *
                             tmx_plan_leak_w(c, u, temp_k[u]);
        }
        for (size_t u = 0; u < n; u++) {
            double t = c->ambient_k;
            for (size_t j = 0; j < n; j++) {
                t += c->influence[u * n + j] * power_w[j];
            }
            move = fmax(move, fabs(t - temp_k[u]));
            temp_k[u] = t;
        }
        *peak_k = tmx_plan_hottest_k(c, temp_k);
    }
    *peak_k = move <= 1e-10 && *peak_k < far_k ? *peak_k : INFINITY;
    free(power_w);
    return TMX_OK;
}

enum tmx_status tmx_bound_feasible(double *speed, const struct tmx_plan_chip *c, const struct tmx_work *w,
                                   const struct tmx_bound_options *o, struct tmx_err *err)
{
    enum { STEPS = 6, HALVINGS = 30 };
    struct tmx_bound_options lower = *o;
    struct tmx_bound b;
    double excess_k = 1, peak_k = 0;
    for (int i = 0; i < STEPS && !err->code && fabs(excess_k) > 1e-4 && isfinite(peak_k); i++) {
        tmx_bound_init(&b, c, w, &lower, err);
        tmx_bound_steady_peak(&b, c, w, 1, &peak_k, err);
        *speed = b.objective;
        excess_k = peak_k - o->limit_k;
        if (excess_k < 0 && lower.limit_k >= o->limit_k) {
            excess_k = 0; /* the work does not reach the limit */
        }
        lower.limit_k -= excess_k;
        tmx_bound_finish(&b);
    }
    if (!err->code && !isfinite(peak_k)) {
        /* Leakage feeds back more than once, and a lower limit makes no schedule that holds without control:
         * the optimum's shares for as much of the time as keeps the limit. */
        double low = 0, high = 1;
        tmx_bound_init(&b, c, w, o, err);
        for (int i = 0; i < HALVINGS && !err->code; i++) {
            const double busy = (low + high) / 2;
            tmx_bound_steady_peak(&b, c, w, busy, &peak_k, err);
            *(peak_k <= o->limit_k ? &low : &high) = busy;
        }
        *speed = low * b.objective;
        tmx_bound_finish(&b);
    }
    return err->code;
}

/* ---- what a run has to do, as the rows of a bound ---- */

/* The pieces of a job: its phases over its work, or itself. */
static size_t n_piece(const struct tmx_job *j)
{
    return j->phases ? j->phases->n : 1;
}

/* Seconds of the work of a phase: in whole turns of those that repeat, and in the last. */
static double phase_work_s(const struct tmx_phases *p, size_t i, double work_s)
{
    const double from = i > 0 ? p->until[i - 1] : 0, last = p->until[p->n - 1];
    if (p->over == TMX_PHASE_WORK) {
        return (p->until[i] - from) * work_s;
    }
    const double turns = p->repeat ? floor(work_s / last) : 0, rest_s = work_s - turns * last;
    const double to = i + 1 < p->n || p->repeat ? p->until[i] : INFINITY;
    return turns * (p->until[i] - from) + fmax(0, fmin(rest_s, to) - from);
}

static void add_job(struct tmx_work *w, const struct tmx_machine *m, size_t job, size_t *piece,
                    struct tmx_err *err)
{
    const struct tmx_job *j = &m->job[job];
    const struct tmx_phases *p = j->phases;
    if (p && !tmx_job_changes(j)) {
        tmx_error(err, TMX_EUNSUPPORTED,
                  "no bound here: the power of kernel %s changes with time, whatever work is done",
                  j->kernel->name);
    } else if (j->arrival_s > 0) {
        tmx_error(err, TMX_EUNSUPPORTED, "no bound here: kernels arrive later, and idle time cools");
    } else if (tmx_job_outside(j)) {
        tmx_error(err, TMX_EUNSUPPORTED,
                  "no bound here: kernel %s heats more than SMs, or leakage is another under it",
                  j->kernel->name);
    }
    w->piece0[job] = *piece;
    for (size_t i = 0; i < n_piece(j); i++) {
        const double all_s = j->work_sm_s / (double)m->n_sm, work_s = p ? phase_work_s(p, i, all_s) : all_s;
        const double sm_w = p ? j->power_w * p->power_w[i] / j->kernel->power.sm_power_w : j->power_w;
        const double waits = p && p->waits[i] >= 0 ? p->waits[i] : j->memory_bound;
        size_t row = 0;
        while (row < w->n && (w->sm_w[row] != sm_w || w->waits[row] != waits)) {
            row++;
        }
        w->sm_w[row] = sm_w;
        w->waits[row] = waits;
        w->n += row == w->n;
        w->row[(*piece)++] = row;
        w->work_s[row] += work_s;
        w->sum_s += work_s;
    }
}

enum tmx_status tmx_work_init(struct tmx_work *w, const struct tmx_run *run, struct tmx_err *err)
{
    const struct tmx_machine *m = tmx_run_sim(run)->machine;
    size_t n = 0, piece = 0;
    *w = (struct tmx_work){.gain = m->gain > 1 ? m->gain : 1};
    const char *what =
        run->jobs  ? "the job level merges work"
        : run->cta ? "CTA policies change how fast kernels run beside one another"
        : run->gate && !(run->bound_options.sm_leak < 1)
            ? "unit gating changes leakage with the work; bound.sm_leak sets the share that remains"
        : run->n_kind > 1 ? "GPUs of several kinds"
                          : NULL;
    if (what) {
        tmx_error(err, TMX_EUNSUPPORTED, "no bound here: %s", what);
    }
    for (size_t j = 0; j < m->n_job; j++) {
        n += n_piece(&m->job[j]);
    }
    TMX_TAKE_REALS(&w->arena, n, &w->sm_w, &w->waits, &w->work_s);
    TMX_TAKE(&w->arena, w->row, n);
    TMX_TAKE(&w->arena, w->piece0, m->n_job);
    tmx_arena_check(&w->arena, err);
    for (size_t j = 0; j < m->n_job && !err->code; j++) {
        add_job(w, m, j, &piece, err);
    }
    return err->code;
}

size_t tmx_work_row(const struct tmx_work *w, const struct tmx_machine *m, size_t job)
{
    return w->row[w->piece0[job] + tmx_job_phase(&m->job[job], m->now_s)];
}

void tmx_work_finish(struct tmx_work *w)
{
    tmx_arena_finish(&w->arena);
    *w = (struct tmx_work){0};
}

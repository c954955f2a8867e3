/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Safe watts for a while: what the chip would do without work, and what a watt adds to that.
 *   P = min over sensors s of the set and times t of (limit - free_s(t)) / (S(t) 1)_s */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "limits/budget.h"

enum { TIMES = 60 }; /* of a path, in equal ratios */

static enum tmx_status path_init(struct tmx_budget_path *p, const struct tmx_plan_chip *c,
                                 struct tmx_err *err)
{
    *p = (struct tmx_budget_path){.time_s = calloc(TIMES, sizeof *p->time_s),
                                  .sm_k = calloc(TIMES * c->n_sm, sizeof *p->sm_k)};
    return p->time_s && p->sm_k ? TMX_OK : tmx_fail(err, TMX_ENOMEM, "budget");
}

void tmx_budget_path_finish(struct tmx_budget_path *p)
{
    free(p->time_s);
    free(p->sm_k);
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

enum tmx_status tmx_budget_path_idle(struct tmx_budget_path *p, const struct tmx_plan_chip *c,
                                     const struct tmx_modes_view *m, const struct tmx_budget_call *call,
                                     double horizon_s, struct tmx_err *err)
{
    const double first_s = fmin(1e-3, horizon_s);
    enum tmx_status st = path_init(p, c, err);
    double *power_w = calloc(3 * c->n_unit + 2 * m->n_mode, sizeof *power_w);
    if (st || !power_w) {
        free(power_w);
        return st ? st : tmx_fail(err, TMX_ENOMEM, "budget");
    }
    double *unit_k = power_w + c->n_unit, *direct = unit_k + c->n_unit, *z0 = direct + c->n_unit,
           *in_w = z0 + m->n_mode;
    st = tmx_budget_idle(c, call->volt, unit_k, err);
    still(c, call, unit_k, power_w);
    project(m, power_w, z0, direct);
    for (size_t k = 0; k < m->n_mode; k++) {
        z0[k] /= m->rate[k];
    }
    still(c, call, NULL, power_w);
    project(m, power_w, in_w, direct);
    for (int i = 0; i < TIMES && !st; i++) {
        const double tau_s = first_s * pow(horizon_s / first_s, (double)i / (TIMES - 1));
        at_time(m, tau_s, z0, in_w, direct, unit_k);
        for (size_t u = 0; u < c->n_unit; u++) {
            unit_k[u] += c->ambient_k;
        }
        add_point(p, c, tau_s, unit_k);
    }
    free(power_w);
    return st;
}

/* The instance goes on for the horizon; a point at about every time of the idle path. */
static enum tmx_status walk(struct tmx_budget_path *p, const struct tmx_plan_chip *c,
                            const struct tmx_thermal_ops *ops, void *state, double dt_s, uint64_t ticks,
                            const double *power_w, double *unit_k, struct tmx_err *err)
{
    uint64_t next = 1;
    for (uint64_t i = 1; i <= ticks; i++) {
        const enum tmx_status st = ops->step(state, dt_s, power_w, unit_k);
        if (st) {
            return tmx_fail(err, st, "budget: the thermal step failed");
        }
        if (i == next || i == ticks) {
            add_point(p, c, (double)i * dt_s, unit_k);
            const double ratio = pow((double)ticks, 1.0 / (TIMES / 2));
            next = (uint64_t)fmax((double)i + 1, ceil((double)i * ratio));
        }
    }
    return TMX_OK;
}

enum tmx_status tmx_budget_path_run(struct tmx_budget_path *p, const struct tmx_plan_chip *c,
                                    const struct tmx_run *run, const struct tmx_budget_call *call,
                                    double horizon_s, struct tmx_err *err)
{
    const struct tmx_sim_gpu_thermal *t = tmx_run_gpu_thermal(run, 0);
    const void *now = tmx_sim_thermal_state(tmx_run_sim_const(run), 0);
    const double dt_s = tmx_run_tick_s(run), ticks = floor(horizon_s / dt_s * (1 + 1e-9));
    enum tmx_status st = path_init(p, c, err);
    if (!st && tmx_sim_cooling(tmx_run_sim_const(run))) {
        st =
            tmx_fail(err, TMX_EUNSUPPORTED, "--state: the run has fans, and the budget would depend on them");
    }
    if (!st && ticks < 1) {
        st = tmx_fail(err, TMX_ECONFIG, "--horizon %g: the state's run has ticks of %g s", horizon_s, dt_s);
    }
    void *state = NULL, *image = st ? NULL : malloc(t->ops->snapshot_size(now) + 1);
    double *power_w = calloc(2 * c->n_unit, sizeof *power_w);
    st = st || (image && power_w) ? st : tmx_fail(err, TMX_ENOMEM, "budget");
    st = st ? st : t->ops->create(t->model, &state, err);
    if (!st) {
        t->ops->save(now, image);
        t->ops->restore(state, image);
        still(c, call, NULL, power_w);
        st = walk(p, c, t->ops, state, dt_s, (uint64_t)ticks, power_w, power_w + c->n_unit, err);
    }
    if (state) {
        t->ops->destroy(state);
    }
    free(image);
    free(power_w);
    return st;
}

enum tmx_status tmx_budget_rises(const struct tmx_plan_chip *c, const struct tmx_modes_view *m, double time_s,
                                 double *sm_k, struct tmx_err *err)
{
    double *one = calloc(3 * c->n_unit + m->n_mode, sizeof *one), *direct = one + c->n_unit,
           *rise_k = direct + c->n_unit, *in_w = rise_k + c->n_unit;
    if (!one) {
        return tmx_fail(err, TMX_ENOMEM, "budget");
    }
    for (size_t j = 0; j < c->n_sm; j++) {
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
    return TMX_OK;
}

enum tmx_status tmx_budget_for(const struct tmx_plan_chip *c, const struct tmx_modes_view *m,
                               const struct tmx_budget_call *call, const bool *on,
                               const struct tmx_budget_path *path, double *watt, struct tmx_err *err)
{
    double *one = calloc(3 * c->n_unit + m->n_mode, sizeof *one), *direct = one + c->n_unit,
           *rise_k = direct + c->n_unit, *in_w = rise_k + c->n_unit;
    if (!one) {
        return tmx_fail(err, TMX_ENOMEM, "budget");
    }
    for (size_t u = 0; u < c->n_unit; u++) {
        const int s = c->chip->sm_of_unit[u];
        one[u] = s != TMX_NO_SM && on[s] ? c->chip->part_share[u] : 0;
    }
    project(m, one, in_w, direct);
    *watt = INFINITY;
    for (size_t i = 0; i < path->n; i++) {
        at_time(m, path->time_s[i], NULL, in_w, direct, rise_k);
        for (size_t s = 0; s < c->n_sm; s++) {
            const double per_watt = tmx_plan_sensor(c, s, rise_k);
            if (per_watt > 0) {
                *watt = fmin(*watt, (call->limit_k - path->sm_k[i * c->n_sm + s]) / per_watt);
            }
        }
    }
    *watt = fmax(0, *watt);
    free(one);
    return TMX_OK;
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "limits/chip_model.h"

#include <math.h>

void tmx_plan_chip_finish(struct tmx_plan_chip *c)
{
    tmx_arena_finish(&c->arena);
    *c = (struct tmx_plan_chip){0};
}

double tmx_plan_leak_factor(const struct tmx_plan_chip *c, double temp_k)
{
    double factor;
    c->factors(c->table, 1, &temp_k, &factor);
    return factor;
}

double tmx_plan_leak_w(const struct tmx_plan_chip *c, size_t unit, double temp_k)
{
    return c->leak_w[unit] * tmx_plan_leak_factor(c, temp_k);
}

double tmx_plan_leak_slope(const struct tmx_plan_chip *c, size_t unit, double temp_k)
{
    const double h = 1e-2; /* K; the factor is tabulated to 1e-8 */
    return (tmx_plan_leak_w(c, unit, temp_k + h) - tmx_plan_leak_w(c, unit, temp_k - h)) / (2 * h);
}

/* The influence matrix, column by column: what one watt in a unit does to all in the long run. */
static void read_thermal(struct tmx_plan_chip *c, const struct tmx_sim_gpu_thermal *t, size_t r_convec,
                         struct tmx_err *err)
{
    const size_t n = c->n_unit;
    void *state = NULL;
    double *power_w, *temp_k;
    if (!(t->ops->claims & TMX_THERMAL_LINEAR)) {
        tmx_error(err, TMX_EUNSUPPORTED,
                  "back-end %s has no influence matrix (temperatures are not linear in watts)",
                  t->ops->base.name);
    }
    TMX_TAKE(&c->arena, power_w, n);
    TMX_TAKE(&c->arena, temp_k, n);
    tmx_arena_check(&c->arena, err);
    if (err->code || t->ops->create(t->model, &state, err)) {
        return;
    }
    if (r_convec != SIZE_MAX) {
        t->ops->set_convection(state, r_convec);
    }
    enum tmx_status st = t->ops->steady(state, power_w, false, temp_k);
    c->ambient_k = temp_k[0];
    for (size_t j = 0; j < n && !st; j++) {
        power_w[j] = 1;
        st = t->ops->steady(state, power_w, false, temp_k);
        power_w[j] = 0;
        for (size_t i = 0; i < n; i++) {
            c->influence[i * n + j] = temp_k[i] - c->ambient_k;
        }
    }
    t->ops->destroy(state);
    if (st) {
        tmx_error(err, st, "influence matrix by back-end %s", t->ops->base.name);
    }
}

enum tmx_status tmx_plan_chip_init(struct tmx_plan_chip *c, const struct tmx_run *run, size_t gpu,
                                   size_t r_convec, struct tmx_err *err)
{
    const struct tmx_sim *sim = tmx_run_sim(run);
    const struct tmx_chip *chip = sim->machine->gpu[gpu].chip;
    const size_t n = chip->floorplan.n_unit;
    struct tmx_static_power still;
    *c = (struct tmx_plan_chip){.n_unit = n, .n_sm = chip->n_sm, .n_level = chip->n_level, .chip = chip};
    if (!tmx_sim_static_power(sim, gpu, &still)) {
        tmx_error(err, TMX_EUNSUPPORTED, "the power model does not give a GPU's power without work");
        return err->code;
    }
    TMX_TAKE(&c->arena, c->influence, n * n);
    TMX_TAKE(&c->arena, c->baseline_w, n);
    TMX_TAKE(&c->arena, c->leak_w, n);
    tmx_arena_check(&c->arena, err);
    for (size_t u = 0; u < n && !err->code; u++) {
        c->baseline_w[u] = still.baseline_w[u];
        c->leak_w[u] = still.leak_w[u];
    }
    c->factors = still.factors;
    c->table = still.table;
    for (size_t l = 0; l < c->n_level; l++) {
        c->speed[l] = tmx_chip_speed(chip, l);
        const double volt = tmx_chip_volt(chip, l);
        c->dynamic[l] = c->speed[l] * (chip->power.dvfs_power == TMX_DVFS_V2F ? volt * volt : 1);
        c->leak[l] = chip->power.dvfs_leakage ? volt : 1;
    }
    read_thermal(c, tmx_run_gpu_thermal(run, gpu), r_convec, err);
    return err->code;
}

double tmx_plan_sensor(const struct tmx_plan_chip *c, size_t sm, const double *unit)
{
    double sum = 0;
    for (size_t u = c->chip->unit_of_sm[sm]; u < c->n_unit; u++) {
        sum += c->chip->sm_of_unit[u] == (int)sm ? c->chip->part_share[u] * unit[u] : 0;
    }
    return sum;
}

double tmx_plan_hottest_k(const struct tmx_plan_chip *c, const double *temp_k)
{
    double k = 0;
    for (size_t s = 0; s < c->n_sm; s++) {
        k = fmax(k, tmx_plan_sensor(c, s, temp_k));
    }
    return k;
}

void tmx_plan_check_convex(const struct tmx_plan_chip *c, double top_k, struct tmx_err *err)
{
    const double h = (top_k - c->ambient_k) / 64;
    for (int i = 1; i < 64; i++) {
        const double t = c->ambient_k + i * h, mid = tmx_plan_leak_factor(c, t);
        if (tmx_plan_leak_factor(c, t - h) + tmx_plan_leak_factor(c, t + h) < 2 * mid * (1 - 1e-7)) {
            tmx_error(err, TMX_EUNSUPPORTED,
                      "no bound: the leakage of chip %s is not convex in temperature near %.1f degC",
                      c->chip->name, t - TMX_ZERO_C);
            return;
        }
    }
}

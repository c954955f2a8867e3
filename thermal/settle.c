/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Steady states whose equations depend on their own temperatures. Three loops, from the inside:
 *
 * Leakage        1.5e4 W/m2 of each block's area times exp(0.036 (T - 383.15 K)), HotSpot's, until no unit
 *                gets warmer by more than the tolerance. A rise of RUNAWAY_STEP_K, or too many rounds, is a
 *                runaway.
 * Conductivity   k of a cell is k0 (T / from)^-n at the cell's own temperature (the middle of the layer, or
 *                its heated face). The network is made again with the conductivities of the last solution
 *                until no cell moves by more than FALLING_STEP_K. For silicon, n = 1.5, 12 K across five
 *                layers, the result is within 0.002 K of Kirchhoff's transform.
 * Still air      the sink's resistance follows its temperature (files/package.c).
 *
 * In transients trace_run.c repeats a row with its model made again until every cell has the mean of its
 * conductivities at the row's begin and end, to 0.2 %. */
#include "thermal/settle.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "thermal/assembly/spec.h"

/* Constants and stopping rules are HotSpot's. */
static const double LEAK_W_PER_M2 = 1.5e4, LEAK_PER_K = 0.036, LEAK_REFERENCE_K = 383.15;
static const double RUNAWAY_STEP_K = 500, MAX_SINK_K = 1000;
static const double FALLING_STEP_K = 1e-6;
static const double SINK_STEP_K = 0.01, R_TOLERANCE = 0.01; /* [K], [K/W] */
enum { MAX_ROUNDS = 101 };

/* Add the leakage of every dissipating unit at temp_k [units, K] to power_w [units, W]. */
static void add_leakage(const struct tmx_thermal_spec *spec, const double *temp_k, double *power_w)
{
    size_t unit = 0;
    for (size_t l = 0; l < spec->n_layer; l++) {
        const struct tmx_floorplan *fp = spec->layer[l].floorplan;
        for (size_t i = 0; spec->layer[l].dissipates && i < fp->n_unit; i++, unit++) {
            power_w[unit] += LEAK_W_PER_M2 * tmx_unit_area_m2(&fp->unit[i]) *
                             exp(LEAK_PER_K * (temp_k[unit] - LEAK_REFERENCE_K));
        }
    }
}

struct settle {
    const struct tmx_settle_options *options;
    const double *power_w; /* [n_unit] without leakage */
    size_t n_unit;
    double *with_leak_w, *temp_k, *last_k; /* [n_unit] owned */
    struct tmx_err *err;
};

/* Equilibrium of one chip, its leakage included. */
static enum tmx_status with_leakage(struct settle *s, struct tmx_thermal_instance *inst)
{
    for (int round = 0;; round++) {
        memcpy(s->with_leak_w, s->power_w, s->n_unit * sizeof *s->with_leak_w);
        if (s->options->leakage && round > 0) {
            add_leakage(inst->spec, s->temp_k, s->with_leak_w);
        }
        memcpy(s->last_k, s->temp_k, s->n_unit * sizeof *s->last_k);
        const enum tmx_status st = inst->ops->steady(inst->state, s->with_leak_w, true, s->temp_k);
        if (st || !s->options->leakage) {
            return st ? tmx_fail(s->err, st, "steady state") : TMX_OK;
        }
        double increase = -INFINITY;
        for (size_t i = 0; i < s->n_unit && round > 0; i++) {
            increase = fmax(increase, s->temp_k[i] - s->last_k[i]);
        }
        if (round > 0 && increase < s->options->leakage_tolerance_k) {
            return TMX_OK;
        }
        if (round > MAX_ROUNDS || increase > RUNAWAY_STEP_K) {
            return tmx_fail(s->err, TMX_ERUNAWAY,
                            "thermal runaway: leakage still heats the chip by %g K in round %d", increase,
                            round);
        }
    }
}

static enum tmx_status at_resistance(struct settle *s, const struct tmx_thermal_spec *spec, double r_convec,
                                     double *node_k)
{
    struct tmx_thermal_spec still = *spec;
    struct tmx_thermal_instance chip;
    const size_t n_die = spec->n_layer * spec->rows * spec->cols;
    double *part = tmx_falling(spec) ? calloc(2 * n_die, sizeof *part) : NULL, moved_k = INFINITY;
    enum tmx_status st = tmx_falling(spec) && !part ? tmx_no_memory(s->err) : TMX_OK;
    still.package.r_convec_k_per_w = r_convec;
    still.n_level = 0;
    still.r_convec_levels = NULL;
    still.init_node_k = NULL;
    still.k_part = NULL;
    for (int round = 0; !st && moved_k > FALLING_STEP_K;
         round++) { /* once, but for conductivities that fall */
        st = tmx_thermal_instance_create(
            &chip, (s->options->backend ? s->options->backend : &tmx_thermal_grid)->base.name, NULL, &still,
            s->err);
        st = st ? st : with_leakage(s, &chip);
        for (size_t c = 0; c < n_die && part; c++) {
            part[n_die + c] = node_k[c];
        }
        st = st ? st : tmx_thermal_instance_nodes(&chip, node_k, s->err);
        tmx_thermal_instance_finish(&chip);
        moved_k = 0;
        for (size_t c = 0; c < n_die && part && !st; c++) {
            moved_k = fmax(moved_k, round > 0 ? fabs(node_k[c] - part[n_die + c]) : INFINITY);
        }
        if (part && !st) {
            tmx_falling_part(spec, node_k, part);
            still.k_part = part;
        }
        if (!st && round == MAX_ROUNDS) {
            st = tmx_fail(s->err, TMX_ERUNAWAY,
                          "conductivities that fall: temperatures still move by %g K in round %d", moved_k,
                          round);
        }
    }
    free(part);
    return st;
}

static enum tmx_status natural(struct settle *s, const struct tmx_stack *stack, const struct tmx_temps *shape,
                               double *node_k, double *r_convec)
{
    const double ambient_k = stack->spec.ambient_k;
    double sink_k = ambient_k + SINK_STEP_K, r = tmx_fan_natural_k_per_w(&stack->fan, sink_k, ambient_k);
    for (int round = 0; round < MAX_ROUNDS; round++) {
        const enum tmx_status st = at_resistance(s, &stack->spec, r, node_k);
        if (st) {
            return st;
        }
        sink_k = tmx_temps_sink_mean_k(shape, node_k) + SINK_STEP_K;
        *r_convec = r;
        if (sink_k > MAX_SINK_K) {
            return tmx_fail(s->err, TMX_ERUNAWAY, "still air: the sink reaches %g K", sink_k);
        }
        if (sink_k <= ambient_k) {
            return tmx_fail(s->err, TMX_ERANGE, "still air: the sink is not warmer than the air");
        }
        r = tmx_fan_natural_k_per_w(&stack->fan, sink_k, ambient_k);
        if (fabs(r - *r_convec) < R_TOLERANCE) {
            return TMX_OK;
        }
    }
    return tmx_fail(s->err, TMX_ESOLVE, "still air: r_convec does not settle");
}

enum tmx_status tmx_settle(const struct tmx_stack *stack, const struct tmx_settle_options *options,
                           const double *power_w, const struct tmx_temps *shape, double *node_k,
                           double *r_convec, const struct tmx_log *log, struct tmx_err *err)
{
    struct settle s = {
        .options = options, .power_w = power_w, .n_unit = tmx_thermal_spec_units(&stack->spec), .err = err};
    double r = stack->spec.package.r_convec_k_per_w;
    s.with_leak_w = calloc(s.n_unit, sizeof *s.with_leak_w);
    s.temp_k = calloc(s.n_unit, sizeof *s.temp_k);
    s.last_k = calloc(s.n_unit, sizeof *s.last_k);
    enum tmx_status st = TMX_OK;
    if (!s.with_leak_w || !s.temp_k || !s.last_k) {
        st = tmx_fail(err, TMX_ENOMEM, "steady state of %zu units", s.n_unit);
    } else if (options->natural) {
        st = natural(&s, stack, shape, node_k, &r);
        if (!st) {
            tmx_log_say(log, TMX_LOG_INFO, "still air: r_convec = %.6g K/W in the steady state", r);
        }
    } else {
        st = at_resistance(&s, &stack->spec, r, node_k);
    }
    if (r_convec) {
        *r_convec = r;
    }
    free(s.with_leak_w);
    free(s.temp_k);
    free(s.last_k);
    return st;
}

enum tmx_status tmx_settle_step(const struct tmx_thermal_instance *chip, double dt_s, double *power_w,
                                double *temp_k, void *snapshot, double *mean_w)
{
    const struct tmx_thermal_ops *ops = chip->ops;
    const size_t n_unit = tmx_thermal_spec_units(chip->spec);
    tmx_image_save(ops->image, chip->state, snapshot);
    ops->read(chip->state, temp_k);
    memcpy(mean_w, power_w, n_unit * sizeof *mean_w);
    add_leakage(chip->spec, temp_k, mean_w);
    const enum tmx_status st = ops->step(chip->state, dt_s, mean_w, temp_k);
    if (st) {
        return st;
    }
    add_leakage(chip->spec, temp_k, power_w);
    for (size_t i = 0; i < n_unit; i++) {
        mean_w[i] = 0.5 * (mean_w[i] + power_w[i]);
    }
    tmx_image_restore(ops->image, chip->state, snapshot);
    return ops->step(chip->state, dt_s, mean_w, temp_k);
}

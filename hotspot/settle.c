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
#include "hotspot/hotspot.h"

#include <math.h>
#include <string.h>

#include "thermal/assembly/spec.h"

/* Constants and stopping rules are HotSpot's. */
static const double LEAK_W_PER_M2 = 1.5e4, LEAK_PER_K = 0.036, LEAK_REFERENCE_K = 383.15;
static const double RUNAWAY_STEP_K = 500, MAX_SINK_K = 1000;
static const double FALLING_STEP_K = 1e-6;
static const double SINK_STEP_K = 0.01, R_TOLERANCE = 0.01; /* [K], [K/W] */
enum { MAX_ROUNDS = 101 };

void tmx_settle_leakage(const struct tmx_thermal_spec *spec, const double *temp_k, double *power_w)
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
    double *with_leak_w, *temp_k, *last_k; /* [n_unit] */
    double *part, *before_k;               /* [die cells] where conductivities fall */
    struct tmx_arena arena;
    struct tmx_err *err;
};

static void at_resistance(struct settle *s, const struct tmx_thermal_spec *spec, double r_convec,
                          double *node_k)
{
    const struct tmx_thermal_ops *ops = s->options->backend ? s->options->backend : &tmx_thermal_grid;
    struct tmx_thermal_spec still = *spec;
    struct tmx_thermal_instance chip;
    const size_t n_die = spec->n_layer * spec->rows * spec->cols;
    double moved_k = INFINITY;
    still.package.r_convec_k_per_w = r_convec;
    still.init_k = spec->ambient_k; /* of a field of zeros the system has no pages */
    still.n_level = 0;
    still.r_convec_levels = NULL;
    still.init_node_k = NULL;
    still.k_part = NULL;
    for (int round = 0; !s->err->code && moved_k > FALLING_STEP_K; round++) { /* once, but for falling ones */
        enum tmx_status st = tmx_thermal_instance_create(&chip, ops->base.name, NULL, &still, s->err);
        bool settled = false;
        for (int leaks = 0; !settled && !st; leaks++) { /* its leakage included */
            memcpy(s->with_leak_w, s->power_w, s->n_unit * sizeof *s->with_leak_w);
            if (s->options->leakage && leaks > 0) {
                tmx_settle_leakage(spec, s->temp_k, s->with_leak_w);
            }
            memcpy(s->last_k, s->temp_k, s->n_unit * sizeof *s->last_k);
            st = ops->steady(chip.state, s->with_leak_w, true, s->temp_k);
            if (st) {
                tmx_error(s->err, st, "steady state");
            }
            double increase = -INFINITY;
            for (size_t i = 0; i < s->n_unit && leaks > 0; i++) {
                increase = fmax(increase, s->temp_k[i] - s->last_k[i]);
            }
            settled = !s->options->leakage || (leaks > 0 && increase < s->options->leakage_tolerance_k);
            if (!st && !settled && (leaks > MAX_ROUNDS || increase > RUNAWAY_STEP_K)) {
                st = TMX_ERUNAWAY;
                tmx_error(s->err, st, "thermal runaway: leakage still heats the chip by %g K in round %d",
                          increase, leaks);
            }
        }
        if (s->part) {
            memcpy(s->before_k, node_k, n_die * sizeof *node_k);
        }
        moved_k = 0;
        if (!s->err->code && !tmx_thermal_instance_nodes(&chip, node_k, s->err) && s->part) {
            for (size_t c = 0; c < n_die; c++) {
                moved_k = fmax(moved_k, round > 0 ? fabs(node_k[c] - s->before_k[c]) : INFINITY);
            }
            tmx_falling_part(spec, node_k, s->part);
            still.k_part = s->part;
        }
        tmx_thermal_instance_finish(&chip);
        if (round == MAX_ROUNDS) {
            tmx_error(s->err, TMX_ERUNAWAY,
                      "conductivities that fall: temperatures still move by %g K in round %d", moved_k,
                      round);
        }
    }
}

enum tmx_status tmx_settle(const struct tmx_stack *stack, const struct tmx_settle_options *options,
                           const double *power_w, const struct tmx_temps *shape, double *node_k,
                           double *r_convec, const struct tmx_log *log, struct tmx_err *err)
{
    const struct tmx_thermal_spec *spec = &stack->spec;
    const double ambient_k = spec->ambient_k;
    struct tmx_err own = {0};
    struct settle s = {
        .options = options, .power_w = power_w, .n_unit = tmx_thermal_spec_units(spec), .err = &own};
    double r = spec->package.r_convec_k_per_w;
    TMX_TAKE_REALS(&s.arena, s.n_unit, &s.with_leak_w, &s.temp_k, &s.last_k);
    if (tmx_falling(spec)) {
        TMX_TAKE_REALS(&s.arena, spec->n_layer * spec->rows * spec->cols, &s.part, &s.before_k);
    }
    if (s.arena.failed) {
        tmx_error(&own, TMX_ENOMEM, "steady state of %zu units", s.n_unit);
    } else if (!options->natural) {
        at_resistance(&s, spec, r, node_k);
    }
    double next = 0, moved = INFINITY;
    if (options->natural) {
        next = tmx_fan_natural_k_per_w(&stack->fan, ambient_k + SINK_STEP_K, ambient_k);
    }
    for (int round = 0; options->natural && !own.code && moved >= R_TOLERANCE; round++) {
        if (round == MAX_ROUNDS) {
            tmx_error(&own, TMX_ESOLVE, "still air: r_convec does not settle");
            break;
        }
        r = next;
        at_resistance(&s, spec, r, node_k);
        const double sink_k = own.code ? MAX_SINK_K : tmx_temps_sink_mean_k(shape, node_k) + SINK_STEP_K;
        if (sink_k > MAX_SINK_K) {
            tmx_error(&own, TMX_ERUNAWAY, "still air: the sink reaches %g K", sink_k);
        } else if (sink_k <= ambient_k) {
            tmx_error(&own, TMX_ERANGE, "still air: the sink is not warmer than the air");
        }
        next = tmx_fan_natural_k_per_w(&stack->fan, sink_k, ambient_k);
        moved = fabs(next - r);
    }
    if (options->natural && !own.code) {
        tmx_log_say(log, TMX_LOG_INFO, "still air: r_convec = %.6g K/W in the steady state", r);
    }
    if (r_convec) {
        *r_convec = r;
    }
    tmx_arena_finish(&s.arena);
    return tmx_error_give(err, &own);
}

enum tmx_status tmx_settle_step(const struct tmx_thermal_instance *chip, double dt_s, double *power_w,
                                double *temp_k, void *snapshot, double *mean_w)
{
    const struct tmx_thermal_ops *ops = chip->ops;
    const size_t n_unit = tmx_thermal_spec_units(chip->spec);
    tmx_image_save(ops->image, chip->state, snapshot);
    ops->read(chip->state, temp_k);
    memcpy(mean_w, power_w, n_unit * sizeof *mean_w);
    tmx_settle_leakage(chip->spec, temp_k, mean_w);
    const enum tmx_status st = ops->step(chip->state, dt_s, mean_w, temp_k);
    if (st) {
        return st;
    }
    tmx_settle_leakage(chip->spec, temp_k, power_w);
    for (size_t i = 0; i < n_unit; i++) {
        mean_w[i] = 0.5 * (mean_w[i] + power_w[i]);
    }
    tmx_image_restore(ops->image, chip->state, snapshot);
    return ops->step(chip->state, dt_s, mean_w, temp_k);
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* n nodes in sheets of rows x cols cells, L nodes a cell, m units, lnz entries of a factor (nested
 * dissection of the plane, L unknowns a cell). Times in seconds, fitted on golden case A at 32 x 32, 64 x 64
 * and 128 x 128 and on HotSpot's example 4, one thread of a busy 3 GHz core: factor one right-hand side at a
 * time 3.7e-9 lnz^2 / n, supernodal 1.1e-9 lnz^2 / n solve 1.5e-9 lnz, of many at once 0.5e-9 lnz each exact
 * row 28 solves; reduced basis N shifts, 2.5 times m solves each, products of 7 n m^2 N^2 / 25e9, k = 0.9 m N
 * modes, dense work 40 k^3 / 8e9. */
#include "thermal/method.h"

#include <math.h>

#include "thermal/backend/reduced_model.h"

static const double FACTOR_S = 3.7e-9, SUPER_FACTOR_S = 1.1e-9, SOLVE_S = 1.5e-9, MANY_SOLVE_S = 0.5e-9;
static const double PRODUCT_S = 1 / 25e9, DENSE_S = 1 / 8e9, FIELD_S = 1e-9, READ_S_PER_BYTE = 1e-9;
static const double ROW_SOLVES = 28, SET_UP_SOLVES = 2.5, START_SOLVES = 60;
static const double KRYLOV_VECTORS = 70; /* of n doubles, of the exact scheme */
static const double SHEETS = 2.5,
                    PACKAGE_CELLS = 7000; /* of the physical network: a die layer's, all the rest */
static const double MB = 1e-6;

struct size {
    double n, m, lnz, shifts, modes, kept, levels;
    bool cells;
};

static struct size measure(const struct tmx_thermal_spec *spec, const struct tmx_method_work *work)
{
    const bool physical = spec->network == TMX_NETWORK_PHYSICAL;
    const double cells = (double)(spec->rows * spec->cols), fine = spec->refine > 1 ? spec->refine : 1;
    const double n = physical ? fine * (cells * SHEETS * (double)spec->n_layer + fine * fine * PACKAGE_CELLS)
                              : cells * ((double)spec->n_layer + 2);
    const double layers = n / cells;
    struct size s = {.n = n,
                     .m = (double)tmx_thermal_spec_units(spec),
                     .levels = (double)tmx_thermal_spec_levels(spec),
                     .cells = work->fields || spec->map_mode == TMX_MAP_MIN || spec->map_mode == TMX_MAP_MAX};
    const double step_s = spec->min_step_s > 0 ? fmin(spec->min_step_s, 1e-3) : 1e-3;
    s.lnz = 1.2 * layers * layers * cells * log2(cells) * pow(cells / 4096, 0.12);
    /* a decade of shifts from 0.1 1/s to ten times the rate of the shortest step, halves in between for each
     * factor of 100 below 0.1 K */
    s.shifts = (4 + log10(1 / step_s)) * (1 + 0.25 * fmax(0, -1 - log10(work->tolerance_k)));
    s.shifts *= (s.cells ? 1.4 : 1) * (physical ? 1.4 : 1);
    s.modes = fmin(0.9 * s.m * s.shifts, s.n);
    s.kept = s.cells || s.levels > 1 ? s.modes : 0.45 * s.modes;
    return s;
}

static void cost_grid(const struct size *s, const struct tmx_method_work *work, struct tmx_method_cost *cost)
{
    const double factors = 2 * s->levels, rows = (double)work->n_row * (work->twice ? 2 : 1);
    cost->seconds = factors * FACTOR_S * s->lnz * s->lnz / s->n + rows * ROW_SOLVES * SOLVE_S * s->lnz;
    cost->megabytes = MB * (factors * 12 * s->lnz + (KRYLOV_VECTORS + 20) * 8 * s->n);
}

static void cost_reduced(const struct size *s, const struct tmx_thermal_spec *spec,
                         const struct tmx_method_work *work, bool cached, struct tmx_method_cost *cost)
{
    const double map = s->n * (s->cells ? 8 * s->modes : 4 * s->kept + 8 * s->m);
    double seconds = 0, bytes = map;
    if (cached) {
        seconds = READ_S_PER_BYTE * map;
    } else {
        seconds = s->shifts * (SUPER_FACTOR_S * s->lnz * s->lnz / s->n +
                               SET_UP_SOLVES * s->m * MANY_SOLVE_S * s->lnz) +
                  7 * PRODUCT_S * s->n * s->m * s->m * s->shifts * s->shifts +
                  40 * DENSE_S * pow(s->modes, 3) + 10 * DENSE_S * (s->levels - 1) * pow(s->modes, 3);
        bytes += 8 * s->n * (s->modes + 6 * s->m) + 3 * 10 * s->lnz + 8 * 6 * s->modes * s->modes;
    }
    if (spec->init_node_k) {
        const double step_s = spec->min_step_s > 0 ? fmin(spec->min_step_s, 1e-3) : 1e-3;
        const double poles = 2 + ceil(log10(10 / step_s / 0.1) / 2);
        seconds += poles * FACTOR_S * s->lnz * s->lnz / s->n + START_SOLVES * SOLVE_S * s->lnz;
        bytes = fmax(bytes, map + poles * 12 * s->lnz + START_SOLVES * 8 * s->n);
    }
    if (s->cells) {
        seconds += (double)work->n_row * FIELD_S * s->modes * (work->fields ? s->n : s->n / 4);
    }
    cost->seconds = seconds;
    cost->megabytes = MB * bytes;
}

enum tmx_status tmx_method_estimate(const struct tmx_thermal_spec *spec, const struct tmx_method_work *work,
                                    struct tmx_method_estimate *e, struct tmx_err *err)
{
    const struct size s = measure(spec, work);
    const struct tmx_reduced_wish wish = {work->tolerance_k, 0, work->cache};
    *e = (struct tmx_method_estimate){.cached = false};
    const enum tmx_status st = tmx_reduced_model_cached(spec, &wish, &e->cached, err);
    cost_grid(&s, work, &e->grid);
    cost_reduced(&s, spec, work, e->cached, &e->reduced);
    return st;
}

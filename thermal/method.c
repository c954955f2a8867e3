/* SPDX-License-Identifier: GPL-3.0-or-later */
/* n nodes in sheets of rows x cols cells, L nodes a cell, m units, lnz entries of a factor (nested
 * dissection of the plane, L unknowns a cell). Times in seconds, fitted on golden case A at 32, 48, 64, 96
 * and 128 cells a side, CPU time of one thread with 32 MiB of third-level cache: HotSpot's network on an idle
 * machine (one where others use the cache takes up to twice as long for a solve at 64), the physical one on a
 * busy machine.
 *
 * A factor for one right-hand side at a time takes 1.4e-9 lnz^2 / n, a supernodal one 0.55e-9 lnz^2 / n.
 * A solve takes (0.87e-9 + 1.35e-9 x^6 / (1 + x^6)) lnz, x being the factor's 12 lnz bytes in 20 MB: what is
 * in the cache and what is not; one of many at once 0.23e-9 lnz. An exact row is 28 solves.
 * The reduced basis takes N shifts, m solves and 1.5 times m tests each, which are half solves but where
 * cells are read, products of 7 n m^2 N^2 / 40e9, k = 0.9 m N modes, dense work 40 k^3 / 12e9. The physical
 * network has supernodal factors for both (tmx_factoring_for_steps), with 1.8 times the entries by their
 * padding, of 8 bytes, made in 0.1 to 0.13e-9 lnz^2 / n, solved in 1.2e-9 lnz or 0.2e-9 of many at once.
 */
#include "thermal/method.h"

#include <math.h>

#include "thermal/backend/reduced_model.h"

struct factoring {
    double fill;                                      /* entries, of those of a nested dissection */
    double entry_bytes, factor_s, basis_factor_s;     /* [s] of lnz^2 / n */
    double cached_solve_s, far_solve_s, many_solve_s; /* [s] of lnz */
};
static const struct factoring HOTSPOT = {1, 12, 1.4e-9, 0.55e-9, 0.87e-9, 1.35e-9, 0.23e-9},
                              PHYSICAL = {1.8, 8, 0.1e-9, 0.13e-9, 1.2e-9, 0, 0.2e-9};
static const double CACHE_BYTES = 20e6;
static const double PRODUCT_S = 1 / 40e9, DENSE_S = 1 / 12e9, FIELD_S = 1e-9, READ_S_PER_BYTE = 1e-9;
static const double ROW_SOLVES = 28, SHIFT_TESTS = 1.5, START_SOLVES = 60;
static const double KRYLOV_VECTORS = 70; /* of n doubles, of the exact scheme */
/* of the physical network: a die layer's sheets, those of the package as fine as the die's, all the rest */
static const double SHEETS = 2.5, PACKAGE_SHEETS = 3.7, PACKAGE_CELLS = 5000;
static const double MB = 1e-6;

struct size {
    const struct factoring *f;
    double n, m, lnz, shifts, modes, kept, levels;
    bool cells;
};

static struct size measure(const struct tmx_thermal_spec *spec, const struct tmx_method_work *work)
{
    const bool physical = spec->network == TMX_NETWORK_PHYSICAL;
    const double cells = (double)(spec->rows * spec->cols), fine = spec->refine > 1 ? spec->refine : 1;
    const double sheets = SHEETS * (double)spec->n_layer + PACKAGE_SHEETS;
    const double n = physical ? fine * (cells * sheets + fine * fine * PACKAGE_CELLS)
                              : cells * ((double)spec->n_layer + 2);
    const double layers = n / cells;
    struct size s = {.f = physical ? &PHYSICAL : &HOTSPOT,
                     .n = n,
                     .m = (double)tmx_thermal_spec_units(spec),
                     .levels = (double)tmx_thermal_spec_levels(spec),
                     .cells = work->fields || spec->map_mode == TMX_MAP_MIN || spec->map_mode == TMX_MAP_MAX};
    const double step_s = spec->min_step_s > 0 ? fmin(spec->min_step_s, 1e-3) : 1e-3;
    s.lnz = s.f->fill * 1.2 * layers * layers * cells * log2(cells) * pow(cells / 4096, 0.12);
    /* a decade of shifts from 0.1 1/s to ten times the rate of the shortest step, halves in between for each
     * factor of 100 below 0.1 K */
    s.shifts = (4 + log10(1 / step_s)) * (1 + 0.25 * fmax(0, -1 - log10(work->tolerance_k)));
    s.shifts *= (s.cells ? 1.4 : 1) * (physical ? 1.4 : 1);
    s.modes = fmin(0.9 * s.m * s.shifts, s.n);
    s.kept = s.cells ? s.modes : 0.45 * s.modes;
    return s;
}

/* One solve of one right-hand side. */
static double solve_s(const struct size *s)
{
    const double x = pow(s->f->entry_bytes * s->lnz / CACHE_BYTES, 6);
    return (s->f->cached_solve_s + s->f->far_solve_s * x / (1 + x)) * s->lnz;
}

static void cost_grid(const struct size *s, const struct tmx_method_work *work, struct tmx_method_cost *cost)
{
    const double factors = 2 * s->levels, rows = (double)work->n_row * (work->twice ? 2 : 1);
    cost->seconds = factors * s->f->factor_s * s->lnz * s->lnz / s->n + rows * ROW_SOLVES * solve_s(s);
    cost->megabytes = MB * (factors * s->f->entry_bytes * s->lnz + (KRYLOV_VECTORS + 20) * 8 * s->n);
}

static void cost_reduced(const struct size *s, const struct tmx_thermal_spec *spec,
                         const struct tmx_method_work *work, bool cached, struct tmx_method_cost *cost)
{
    const bool maps = s->cells || spec->init_node_k || !spec->no_field;
    const double map = maps ? s->n * (s->cells ? 8 * s->modes : 4 * s->kept + 8 * s->m) : 0;
    double seconds = 0, bytes = map;
    if (cached) {
        seconds = READ_S_PER_BYTE * map;
    } else {
        seconds =
            s->shifts * (s->f->basis_factor_s * s->lnz * s->lnz / s->n +
                         (1 + SHIFT_TESTS * (s->cells ? 1 : 0.5)) * s->m * s->f->many_solve_s * s->lnz) +
            7 * PRODUCT_S * s->n * s->m * s->m * s->shifts * s->shifts + 40 * DENSE_S * pow(s->modes, 3) +
            10 * DENSE_S * (s->cells ? s->levels - 1 : fmin(s->levels - 1, 2)) * pow(s->modes, 3);
        bytes += 8 * s->n * (s->modes + 10 * s->m) + 4 * 10 * s->lnz + 8 * 6 * s->modes * s->modes;
    }
    if (spec->init_node_k) {
        const double step_s = spec->min_step_s > 0 ? fmin(spec->min_step_s, 1e-3) : 1e-3;
        const double poles = 2 + ceil(log10(10 / step_s / 0.1) / 2);
        seconds += poles * s->f->factor_s * s->lnz * s->lnz / s->n + START_SOLVES * solve_s(s);
        bytes = fmax(bytes, map + poles * s->f->entry_bytes * s->lnz + START_SOLVES * 8 * s->n);
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
    const struct tmx_reduced_options options = {work->tolerance_k, 0, work->cache};
    *e = (struct tmx_method_estimate){.cached = false};
    const enum tmx_status st = tmx_reduced_model_cached(spec, &options, &e->cached, err);
    cost_grid(&s, work, &e->grid);
    cost_reduced(&s, spec, work, e->cached, &e->reduced);
    return st;
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "thermal/assembly/gridmap.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Overlap of axis-parallel rectangles, with HotSpot's rounding: a unit's edge within
 * SNAP of a cell edge lies on it. */
static const double SNAP = 1e-6; /* of the cell's side */

static double snapped(double v)
{
    const double whole = nearbyint(v);
    return fabs(v - whole) < SNAP ? whole : v;
}

/* A place in cells: 2.5 is the middle of the third. Lines end the n cells, or NULL: all are cell_m. */
static double in_cells(double v, double cell_m, const double *line, size_t n)
{
    size_t i = 0;
    if (!line) {
        return v / cell_m;
    }
    while (i + 1 < n && v >= line[i + 1]) {
        i++;
    }
    return (double)i + (v - line[i]) / (line[i + 1] - line[i]);
}

/* Cells [first, last) touched by [low, high], in cells, cut to [0, n). */
static void touched(double low, double high, size_t n, size_t *first, size_t *last)
{
    const double a = floor(snapped(low)), b = ceil(snapped(high));
    *first = a <= 0 ? 0 : a >= (double)n ? n : (size_t)a;
    *last = b <= 0 ? 0 : b >= (double)n ? n : (size_t)b;
}

/* Fraction of a cell of this size that [low, high] covers. */
static double covered(double low, double high, double begin, double end, double size)
{
    const double f = snapped((fmin(high, end) - fmax(low, begin)) / size);
    return f < 0 ? 0 : f;
}

/* Area of a cell that its unit covers, in mean cells. */
static double area_of(const struct tmx_gridmap *map, size_t entry)
{
    return map->part[entry] * map->col_share[map->cell[entry] % map->cols];
}

enum tmx_status tmx_gridmap_init(struct tmx_gridmap *map, const struct tmx_floorplan *floorplan,
                                 double width_m, double height_m, size_t rows, size_t cols,
                                 const double *col_line_m, struct tmx_err *err)
{
    const double dx = width_m / (double)cols, dy = height_m / (double)rows, *line = col_line_m;
    const size_t n_unit = floorplan->n_unit;
    *map = (struct tmx_gridmap){.n_unit = n_unit, .rows = rows, .cols = cols, .floorplan = floorplan};
    TMX_TAKE(&map->arena, map->range, 4 * n_unit);
    TMX_TAKE(&map->arena, map->start, n_unit + 1);
    TMX_TAKE(&map->arena, map->sum, n_unit);
    TMX_TAKE(&map->arena, map->col_share, cols);
    if (map->arena.failed) {
        return tmx_fail(err, TMX_ENOMEM, "grid map of %zu units", n_unit);
    }
    for (size_t j = 0; j < cols; j++) {
        map->col_share[j] = line ? (line[j + 1] - line[j]) / dx : 1;
    }
    for (size_t u = 0; u < n_unit; u++) {
        const struct tmx_unit *unit = &floorplan->unit[u];
        size_t *r = map->range + 4 * u, south, north;
        touched(unit->y_m / dy, (unit->y_m + unit->h_m) / dy, rows, &south, &north);
        r[0] = rows - north;
        r[1] = rows - south;
        touched(in_cells(unit->x_m, dx, line, cols), in_cells(unit->x_m + unit->w_m, dx, line, cols), cols,
                &r[2], &r[3]);
        if (rows == 1) { /* of the block model: a cell is a unit */
            memcpy(r, (const size_t[]){0, 1, u, u + 1}, 4 * sizeof *r);
        }
        const size_t n_row = r[1] > r[0] ? r[1] - r[0] : 0, n_col = r[3] > r[2] ? r[3] - r[2] : 0;
        map->start[u + 1] = map->start[u] + n_row * n_col;
    }
    TMX_TAKE(&map->arena, map->cell, map->start[n_unit]);
    TMX_TAKE(&map->arena, map->part, map->start[n_unit]);
    if (map->arena.failed) {
        return tmx_fail(err, TMX_ENOMEM, "grid map of %zu cells", map->start[n_unit]);
    }
    for (size_t u = 0; u < n_unit; u++) {
        const struct tmx_unit *unit = &floorplan->unit[u];
        const size_t *r = map->range + 4 * u;
        const double x = unit->x_m, east = x + unit->w_m;
        size_t at = map->start[u];
        for (size_t i = r[0]; i < r[1] && rows > 1; i++) {
            const double south = (double)(rows - 1 - i);
            const double fy = covered(unit->y_m, unit->y_m + unit->h_m, south * dy, (south + 1) * dy, dy);
            for (size_t j = r[2]; j < r[3]; j++, at++) {
                map->cell[at] = i * cols + j;
                map->part[at] = fy * (line ? covered(x, east, line[j], line[j + 1], line[j + 1] - line[j])
                                           : covered(x, east, (double)j * dx, (double)(j + 1) * dx, dx));
                map->sum[u] += area_of(map, at);
            }
        }
        if (rows == 1) {
            map->cell[u] = u;
            map->part[u] = map->sum[u] = 1;
        }
        if (!(map->sum[u] > 0)) {
            return tmx_fail_at(err, TMX_ERANGE, floorplan->source, unit->line,
                               "block %s covers no cell of the %zu x %zu grid", unit->name, rows, cols);
        }
    }
    return TMX_OK;
}

enum tmx_status tmx_gridmap_layers(struct tmx_gridmap *map, const struct tmx_thermal_spec *spec,
                                   struct tmx_err *err)
{
    enum tmx_status st = TMX_OK;
    for (size_t l = 0; l < spec->n_layer + 2 && !st; l++) {
        const struct tmx_floorplan *fp = spec->layer[l < spec->n_layer ? l : spec->n_layer - 1].floorplan;
        if (l > 0 && map[l - 1].floorplan == fp) {
            map[l] = map[l - 1];
            map[l].arena = (struct tmx_arena){0};
        } else {
            st =
                tmx_gridmap_init(&map[l], fp, tmx_thermal_spec_width_m(spec), tmx_thermal_spec_height_m(spec),
                                 spec->rows, spec->cols, spec->col_line_m, err);
        }
    }
    return st;
}

void tmx_gridmap_finish(struct tmx_gridmap *map)
{
    tmx_arena_finish(&map->arena);
    *map = (struct tmx_gridmap){0};
}

void tmx_gridmap_spread_power(const struct tmx_gridmap *map, const double *power_w, double *cell_w)
{
    for (size_t u = 0; u < map->n_unit; u++) {
        const double per_part = power_w[u] / map->sum[u];
        for (size_t e = map->start[u]; e < map->start[u + 1]; e++) {
            cell_w[map->cell[e]] += area_of(map, e) * per_part;
        }
    }
}

/* The up to four cells in the middle of the range; the two of a pair may be the same. */
static void middle(const struct tmx_gridmap *map, size_t unit, size_t cell[4])
{
    const size_t *r = map->range + 4 * unit;
    const size_t ci = (r[0] + r[1]) / 2, cj = (r[2] + r[3]) / 2;
    const size_t di = (r[1] - r[0]) % 2 == 0 ? ci - 1 : ci, dj = (r[3] - r[2]) % 2 == 0 ? cj - 1 : cj;
    cell[0] = ci * map->cols + cj;
    cell[1] = di * map->cols + cj;
    cell[2] = ci * map->cols + dj;
    cell[3] = di * map->cols + dj;
}

void tmx_gridmap_weights(const struct tmx_gridmap *map, enum tmx_map_mode mode, size_t unit, double *row)
{
    const size_t begin = map->start[unit], end = map->start[unit + 1];
    if (mode == TMX_MAP_CENTER) {
        size_t cell[4];
        middle(map, unit, cell);
        for (size_t k = 0; k < 4; k++) {
            row[cell[k]] += 0.25;
        }
        return;
    }
    tmx_assert(mode == TMX_MAP_AREA || mode == TMX_MAP_AVG);
    const double equal = 1.0 / (double)(end - begin);
    for (size_t e = begin; e < end; e++) {
        row[map->cell[e]] += mode == TMX_MAP_AVG ? equal : area_of(map, e) / map->sum[unit];
    }
}

void tmx_gridmap_read(const struct tmx_gridmap *map, enum tmx_map_mode mode, const double *cell_k,
                      double *unit_k)
{
    for (size_t u = 0; u < map->n_unit; u++) {
        const size_t begin = map->start[u], end = map->start[u + 1];
        double v = tmx_map_by_cell(mode) ? cell_k[map->cell[begin]] : 0;
        size_t mid[4];
        for (size_t e = begin; e < end && mode != TMX_MAP_CENTER; e++) {
            const double t = cell_k[map->cell[e]];
            v = mode == TMX_MAP_AREA  ? v + area_of(map, e) * t
                : mode == TMX_MAP_AVG ? v + t
                : mode == TMX_MAP_MIN ? fmin(v, t)
                                      : fmax(v, t);
        }
        if (mode == TMX_MAP_CENTER) {
            middle(map, u, mid);
            v = 0.25 * (cell_k[mid[0]] + cell_k[mid[1]] + cell_k[mid[2]] + cell_k[mid[3]]);
        } else if (mode == TMX_MAP_AREA || mode == TMX_MAP_AVG) {
            v /= mode == TMX_MAP_AREA ? map->sum[u] : (double)(end - begin);
        }
        unit_k[u] = v;
    }
}

void tmx_gridmap_mix(const struct tmx_gridmap *map, const struct tmx_layer *layer, double *k, double *p)
{
    const bool filled = layer->filler_k_w_per_mk > 0;
    const double beside_k = filled ? layer->filler_k_w_per_mk : layer->k_w_per_mk;
    const double beside_p = filled ? layer->filler_p_j_per_m3k : layer->p_j_per_m3k;
    for (size_t c = 0; c < map->rows * map->cols; c++) {
        k[c] = beside_k;
        p[c] = beside_p;
    }
    for (size_t u = 0; u < map->n_unit; u++) {
        const struct tmx_unit *unit = &map->floorplan->unit[u];
        const double own_k =
            isnan(unit->resistivity_mk_per_w) ? layer->k_w_per_mk : 1 / unit->resistivity_mk_per_w;
        const double own_p =
            isnan(unit->heat_capacity_j_per_m3k) ? layer->p_j_per_m3k : unit->heat_capacity_j_per_m3k;
        for (size_t e = map->start[u]; e < map->start[u + 1]; e++) {
            k[map->cell[e]] += map->part[e] * (own_k - beside_k);
            p[map->cell[e]] += map->part[e] * (own_p - beside_p);
        }
    }
    for (size_t c = 0; c < map->rows * map->cols; c++) { /* overlaps within rounding take nothing below one */
        k[c] = fmax(k[c], 0.01 * beside_k);
        p[c] = fmax(p[c], 0.01 * beside_p);
    }
}

enum tmx_status tmx_gridmap_fill(const struct tmx_gridmap *map, const double *unit_k, bool as_hotspot,
                                 double *cell_k, struct tmx_err *err)
{
    const size_t n_cell = map->rows * map->cols;
    double mean = 0, area = 0;
    double *share = calloc(n_cell, sizeof *share);
    if (!share) {
        return tmx_fail(err, TMX_ENOMEM, "start field of %zu cells", n_cell);
    }
    memset(cell_k, 0, n_cell * sizeof *cell_k);
    for (size_t u = 0; u < map->n_unit; u++) {
        mean += map->sum[u] * unit_k[u];
        area += map->sum[u];
        for (size_t e = map->start[u]; e < map->start[u + 1]; e++) {
            cell_k[map->cell[e]] += map->part[e] * unit_k[u];
            share[map->cell[e]] += map->part[e];
        }
    }
    for (size_t c = 0; c < n_cell && !as_hotspot; c++) {
        cell_k[c] = share[c] > 0 ? cell_k[c] / share[c] : mean / area;
    }
    free(share);
    return TMX_OK;
}

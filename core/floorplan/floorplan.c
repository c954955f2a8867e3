/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "core/floorplan/floorplan.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/output.h"
#include "base/text.h"

enum tmx_status tmx_floorplan_add(struct tmx_floorplan *fp, const struct tmx_unit *u, struct tmx_err *err)
{
    const size_t n = fp->n_unit;
    char *name = TMX_GROW(&fp->arena, fp->unit, n) ? tmx_arena_text(&fp->arena, u->name) : NULL;
    if (!name) {
        return tmx_fail(err, TMX_ENOMEM, "floorplan of %zu units", n + 1);
    }
    fp->unit[n] = *u;
    fp->unit[n].name = name;
    fp->n_unit = n + 1;
    return TMX_OK;
}

void tmx_floorplan_finish(struct tmx_floorplan *fp)
{
    tmx_arena_finish(&fp->arena);
    *fp = (struct tmx_floorplan){0};
}

void tmx_floorplan_normalise(struct tmx_floorplan *fp)
{
    double x_min = INFINITY, y_min = INFINITY;
    for (size_t i = 0; i < fp->n_unit; i++) {
        x_min = fp->unit[i].x_m < x_min ? fp->unit[i].x_m : x_min;
        y_min = fp->unit[i].y_m < y_min ? fp->unit[i].y_m : y_min;
    }
    for (size_t i = 0; i < fp->n_unit; i++) {
        fp->unit[i].x_m -= x_min;
        fp->unit[i].y_m -= y_min;
    }
}

double tmx_floorplan_width_m(const struct tmx_floorplan *fp)
{
    double w = 0;
    for (size_t i = 0; i < fp->n_unit; i++) {
        const double right = fp->unit[i].x_m + fp->unit[i].w_m;
        w = right > w ? right : w;
    }
    return w;
}

double tmx_floorplan_height_m(const struct tmx_floorplan *fp)
{
    double h = 0;
    for (size_t i = 0; i < fp->n_unit; i++) {
        const double top = fp->unit[i].y_m + fp->unit[i].h_m;
        h = top > h ? top : h;
    }
    return h;
}

double tmx_unit_area_m2(const struct tmx_unit *u)
{
    return u->w_m * u->h_m;
}

size_t tmx_floorplan_find(const struct tmx_floorplan *fp, const char *name)
{
    for (size_t i = 0; i < fp->n_unit; i++) {
        if (tmx_word_compare(fp->unit[i].name, name) == 0) {
            return i;
        }
    }
    return fp->n_unit;
}

/* Do the units tile the die?
 *
 * An empty square of side t fits somewhere exactly when some point of the die, t/2 away
 * from its edges, is farther than t/2 (along x or y) from every unit. So: grow every unit
 * by t/2 on each side, shrink the die likewise, and look for a point left uncovered. The
 * die is cut into vertical slabs at every unit's edge; inside a slab the covering units
 * are intervals in y. */

static const double MIN_DEPTH_M = 2e-6, REL_DEPTH = 1e-4; /* what HotSpot users' floorplans round to */
static const double UM = 1e6, MM = 1e3;

struct sweep {
    const struct tmx_floorplan *fp;
    double grow_m; /* added to every side of a unit, taken from every side of the die */
    struct bottom {
        double y;
        size_t unit;
    } * bottom;            /* [n_unit] by y */
    double covered_m2;     /* union of the units */
    double hole_x, hole_y; /* a point left uncovered; NAN when none */
};

static int by_bottom(const void *a, const void *b)
{
    const struct bottom *x = a, *y = b;
    return x->y != y->y ? (x->y > y->y) - (x->y < y->y) : (x->unit > y->unit) - (x->unit < y->unit);
}

static double clip(double v, double lo, double hi)
{
    return v < lo ? lo : v > hi ? hi : v;
}

/* Cover one slab from bottom to top. */
static void sweep_slab(struct sweep *s, double left, double right)
{
    const double middle = 0.5 * (left + right);
    const double top = tmx_floorplan_height_m(s->fp) - s->grow_m;
    double reached = s->grow_m, covered = 0;
    for (size_t k = 0; k < s->fp->n_unit; k++) {
        const struct tmx_unit *u = &s->fp->unit[s->bottom[k].unit];
        if (middle < u->x_m - s->grow_m || middle > u->x_m + u->w_m + s->grow_m) {
            continue;
        }
        const double from = u->y_m - s->grow_m, to = fmin(u->y_m + u->h_m + s->grow_m, top);
        if (from > reached && isnan(s->hole_x)) {
            s->hole_x = middle;
            s->hole_y = 0.5 * (reached + fmin(from, top));
        }
        covered += fmax(0, to - fmax(from, reached));
        reached = fmax(reached, to);
    }
    if (reached < top && isnan(s->hole_x)) {
        s->hole_x = middle;
        s->hole_y = 0.5 * (reached + top);
    }
    s->covered_m2 += covered * (right - left);
}

static enum tmx_status sweep(struct sweep *s, const struct tmx_floorplan *fp, double grow_m,
                             struct tmx_err *err)
{
    const size_t n = fp->n_unit, n_x = 2 * n + 2;
    const double lo = grow_m, hi = tmx_floorplan_width_m(fp) - grow_m;
    double *x = malloc(n_x * sizeof *x); /* slab edges */
    *s = (struct sweep){fp, grow_m, malloc((n + 1) * sizeof *s->bottom), 0, NAN, NAN};
    if (x && s->bottom) {
        x[2 * n] = lo;
        x[2 * n + 1] = hi;
        for (size_t i = 0; i < n; i++) {
            const struct tmx_unit *u = &fp->unit[i];
            x[2 * i] = clip(u->x_m - grow_m, lo, hi);
            x[2 * i + 1] = clip(u->x_m + u->w_m + grow_m, lo, hi);
            s->bottom[i] = (struct bottom){u->y_m, i};
        }
        qsort(x, n_x, sizeof *x, tmx_real_compare);
        qsort(s->bottom, n, sizeof *s->bottom, by_bottom);
        for (size_t i = 0; i + 1 < n_x; i++) {
            if (x[i + 1] > x[i]) {
                sweep_slab(s, x[i], x[i + 1]);
            }
        }
    }
    const bool ok = x && s->bottom;
    free(x);
    free(s->bottom);
    return ok ? TMX_OK : tmx_fail(err, TMX_ENOMEM, "checking a floorplan of %zu units", n);
}

/* The empty stretch through (x, y) along x, and the units that end it (NULL: the die's edge).
 * With swap, along y. */
struct stretch {
    double from_m, to_m;
    const struct tmx_unit *before, *after;
};

static struct stretch stretch_at(const struct tmx_floorplan *fp, double x, double y, bool swap)
{
    struct stretch s = {0, swap ? tmx_floorplan_height_m(fp) : tmx_floorplan_width_m(fp), NULL, NULL};
    const double along = swap ? y : x, across = swap ? x : y;
    for (size_t i = 0; i < fp->n_unit; i++) {
        const struct tmx_unit *u = &fp->unit[i];
        const double lo = swap ? u->y_m : u->x_m, size = swap ? u->h_m : u->w_m;
        const double side = swap ? u->x_m : u->y_m, depth = swap ? u->w_m : u->h_m;
        if (across < side || across > side + depth) {
            continue;
        }
        if (lo + size <= along && lo + size >= s.from_m) {
            s.from_m = lo + size;
            s.before = u;
        }
        if (lo >= along && lo <= s.to_m) {
            s.to_m = lo;
            s.after = u;
        }
    }
    return s;
}

static const char *unit_name(const struct tmx_unit *u)
{
    return u ? u->name : "the die's edge";
}

static void check_gaps(const struct tmx_floorplan *fp, double depth_m, struct tmx_err *err)
{
    struct sweep s;
    err->code = sweep(&s, fp, 0.5 * depth_m, err);
    if (err->code || isnan(s.hole_x)) {
        return;
    }
    const struct stretch h = stretch_at(fp, s.hole_x, s.hole_y, false),
                         v = stretch_at(fp, s.hole_x, s.hole_y, true);
    const struct tmx_unit *near = h.before ? h.before : h.after ? h.after : v.before ? v.before : v.after;
    tmx_error_at(err, TMX_EPARSE, fp->source, near ? near->line : 0,
                 "gap of %.3f x %.3f um in the die at x = %.6f mm, y = %.6f mm, between \"%s\" and \"%s\" "
                 "along x, \"%s\" and \"%s\" along y; blocks must tile the die (--allow-gaps accepts it, in "
                 "a run -k_filler of the chip's package)",
                 UM * (h.to_m - h.from_m), UM * (v.to_m - v.from_m), 0.5 * MM * (h.from_m + h.to_m),
                 0.5 * MM * (v.from_m + v.to_m), unit_name(h.before), unit_name(h.after), unit_name(v.before),
                 unit_name(v.after));
}

/* A unit with nothing near, as far as it is wide or high, most often has a slip in its position. */
static bool isolated(const struct tmx_floorplan *fp, size_t unit)
{
    const struct tmx_unit *a = &fp->unit[unit];
    const double reach = fmax(a->w_m, a->h_m);
    for (size_t i = 0; i < fp->n_unit; i++) {
        const struct tmx_unit *b = &fp->unit[i];
        if (i != unit && fmax(a->x_m, b->x_m) <= fmin(a->x_m + a->w_m, b->x_m + b->w_m) + reach &&
            fmax(a->y_m, b->y_m) <= fmin(a->y_m + a->h_m, b->y_m + b->h_m) + reach) {
            return false;
        }
    }
    return fp->n_unit > 1;
}

static const double ROUNDING = 1e-6; /* of a depth that is typed as a file writes it */

static void check_unit(const struct tmx_floorplan *fp, size_t unit, int allow_gaps, double depth_m,
                       double overlap_m, struct tmx_err *err)
{
    const struct tmx_unit *u = &fp->unit[unit];
    if (!(u->w_m > 0 && u->h_m > 0)) {
        tmx_error_at(err, TMX_EPARSE, fp->source, u->line, "\"%s\": size %g x %g m must be above 0", u->name,
                     u->w_m, u->h_m);
    } else if (u->x_m < -depth_m || u->y_m < -depth_m) {
        tmx_error_at(err, TMX_EPARSE, fp->source, u->line,
                     "\"%s\" lies outside the die: left, bottom = %g, %g m", u->name, u->x_m, u->y_m);
    } else if (!allow_gaps && isolated(fp, unit)) {
        tmx_error_at(err, TMX_EPARSE, fp->source, u->line,
                     "\"%s\" at x = %.6f mm, y = %.6f mm lies outside the die: no other block is near "
                     "(--allow-gaps accepts it)",
                     u->name, MM * u->x_m, MM * u->y_m);
    }
    for (size_t j = 0; j < unit && !err->code; j++) {
        const struct tmx_unit *a = &fp->unit[j];
        const double left = fmax(a->x_m, u->x_m), right = fmin(a->x_m + a->w_m, u->x_m + u->w_m);
        const double low = fmax(a->y_m, u->y_m), high = fmin(a->y_m + a->h_m, u->y_m + u->h_m);
        if (tmx_word_compare(a->name, u->name) == 0) {
            tmx_error_at(err, TMX_EPARSE, fp->source, u->line,
                         "name \"%s\" given twice (first at line %u; case does not count)", u->name, a->line);
        } else if (fmin(right - left, high - low) > fmax(depth_m, (1 + ROUNDING) * overlap_m)) {
            tmx_error_at(err, TMX_EPARSE, fp->source, u->line,
                         "\"%s\" overlaps \"%s\" by %.3f x %.3f um at x = %.6f mm, y = %.6f mm (thermix "
                         "thermal --allow-overlaps accepts it)",
                         u->name, a->name, UM * (right - left), UM * (high - low), MM * left, MM * low);
        }
    }
}

enum tmx_status tmx_floorplan_check(const struct tmx_floorplan *fp, int allow_gaps, struct tmx_err *err)
{
    return tmx_floorplan_check_loose(fp, allow_gaps, 0, err);
}

enum tmx_status tmx_floorplan_check_loose(const struct tmx_floorplan *fp, int allow_gaps, double overlap_m,
                                          struct tmx_err *err)
{
    const double depth_m =
        fmax(MIN_DEPTH_M, REL_DEPTH * fmax(tmx_floorplan_width_m(fp), tmx_floorplan_height_m(fp)));
    struct tmx_err own = {0};
    if (fp->n_unit == 0) {
        tmx_error_at(&own, TMX_EPARSE, fp->source, 0, "no blocks");
    }
    for (size_t i = 0; i < fp->n_unit && !own.code; i++) {
        check_unit(fp, i, allow_gaps, depth_m, overlap_m, &own);
    }
    if (!allow_gaps && !own.code) {
        check_gaps(fp, depth_m, &own);
    }
    return tmx_error_give(err, &own);
}

enum tmx_status tmx_floorplan_tiling(const struct tmx_floorplan *fp, struct tmx_tiling *tiling,
                                     struct tmx_err *err)
{
    struct sweep s;
    double sum = 0;
    const enum tmx_status st = sweep(&s, fp, 0, err);
    for (size_t i = 0; i < fp->n_unit; i++) {
        sum += tmx_unit_area_m2(&fp->unit[i]);
    }
    const double die = tmx_floorplan_width_m(fp) * tmx_floorplan_height_m(fp);
    *tiling = (struct tmx_tiling){die, fmax(0, die - s.covered_m2), fmax(0, sum - s.covered_m2)};
    return st;
}

enum { NAME, WIDTH, HEIGHT, LEFT, BOTTOM, HEAT_CAPACITY, RESISTIVITY, MAX_FIELDS };

static const char *const field_name[MAX_FIELDS] = {"name",     "width",         "height",     "left-x",
                                                   "bottom-y", "heat capacity", "resistivity"};

static const double MAX_M = 1.0; /* no die is this large: the file is in other units */

struct reader {
    struct tmx_floorplan *fp;
    unsigned line;
    struct tmx_err err;
};
#define fail(r, ...) tmx_error_at(&(r)->err, TMX_EPARSE, (r)->fp->source, (r)->line, __VA_ARGS__)

static void block(struct reader *r, const struct tmx_span *field, size_t n)
{
    char name[TMX_NAME_SIZE];
    double v[MAX_FIELDS] = {0};
    if (n != BOTTOM + 1 && n != MAX_FIELDS) {
        fail(r,
             "%s%zu fields; a block has 5 (name width height left-x bottom-y) or 7 (... heat capacity, "
             "resistivity)",
             n > MAX_FIELDS ? "more than " : "", n > MAX_FIELDS ? (size_t)MAX_FIELDS : n);
    } else if (!tmx_span_copy(field[NAME], name, sizeof name)) {
        fail(r, "name longer than %d characters", TMX_NAME_SIZE - 1);
    }
    for (size_t i = WIDTH; i < n && !r->err.code; i++) {
        if (!tmx_span_real(field[i], &v[i])) {
            fail(r, "%s \"%.*s\" %s", field_name[i], TMX_SPAN_ARG(field[i]), tmx_span_real_fault(field[i]));
        } else if (i <= BOTTOM && fabs(v[i]) > MAX_M) {
            fail(r, "%s = %g m is larger than %g m; floorplans are in metres", field_name[i], v[i], MAX_M);
        } else if (i != LEFT && i != BOTTOM && v[i] <= 0) {
            fail(r, "%s = %g must be above 0", field_name[i], v[i]);
        }
    }
    if (r->err.code) {
        return;
    }
    const size_t first = tmx_floorplan_find(r->fp, name);
    if (first < r->fp->n_unit) {
        fail(r, "name \"%s\" given twice (first at line %u; case does not count)", name,
             r->fp->unit[first].line);
    } else if (r->fp->n_unit == TMX_FLP_MAX_UNITS) {
        fail(r, "more than %d blocks", TMX_FLP_MAX_UNITS);
    }
    const bool own = n == MAX_FIELDS;
    const struct tmx_unit unit = {.name = name,
                                  .w_m = v[WIDTH],
                                  .h_m = v[HEIGHT],
                                  .x_m = v[LEFT],
                                  .y_m = v[BOTTOM],
                                  .heat_capacity_j_per_m3k = own ? v[HEAT_CAPACITY] : NAN,
                                  .resistivity_mk_per_w = own ? v[RESISTIVITY] : NAN,
                                  .line = r->line};
    r->err.code = r->err.code ? r->err.code : tmx_floorplan_add(r->fp, &unit, &r->err);
}

enum tmx_status tmx_flp_read(const char *path, struct tmx_floorplan *fp, struct tmx_err *err)
{
    struct tmx_text_file text;
    struct tmx_lines lines = {0};
    struct reader r = {.fp = fp};
    *fp = (struct tmx_floorplan){0};
    enum tmx_status st = tmx_text_load(&text, path, err);
    if (st) {
        return st;
    }
    snprintf(fp->source, sizeof fp->source, "%s", path);
    while (!r.err.code && tmx_lines_next_filled(&lines, &text)) {
        struct tmx_span rest = lines.line, field[MAX_FIELDS + 1];
        size_t n = 0;
        while (n <= MAX_FIELDS && tmx_span_field(&rest, &field[n])) {
            n++;
        }
        double v; /* `name1 name2 density` is a wire: the second field of a block would be a number */
        r.line = lines.number;
        if (n != 3 || tmx_span_real(field[1], &v) || !tmx_span_real(field[2], &v)) {
            block(&r, field, n);
        }
    }
    r.line = lines.number;
    if (fp->n_unit == 0) {
        fail(&r, "no blocks");
    }
    r.err.code = tmx_text_locate(r.err.code, &text, "",
                                 "a floorplan of HotSpot, a block a line: name width height left-x bottom-y, "
                                 "in metres and between blanks",
                                 &r.err);
    tmx_text_finish(&text);
    tmx_floorplan_normalise(fp);
    const double side = fmax(tmx_floorplan_width_m(fp), tmx_floorplan_height_m(fp));
    if (side > MAX_M) {
        r.line = fp->unit[0].line;
        fail(&r, "the die's side is %g m, larger than %g m; floorplans are in metres", side, MAX_M);
    }
    return tmx_error_give(err, &r.err);
}

void tmx_flp_print(const struct tmx_floorplan *fp, const char *comment, FILE *out)
{
    while (comment && *comment) {
        const size_t n = strcspn(comment, "\n");
        fprintf(out, "# %.*s\n", (int)n, comment);
        comment += n + (comment[n] == '\n');
    }
    for (size_t i = 0; i < fp->n_unit; i++) {
        const struct tmx_unit *u = &fp->unit[i];
        const double v[] = {
            u->w_m, u->h_m, u->x_m, u->y_m, u->heat_capacity_j_per_m3k, u->resistivity_mk_per_w};
        const size_t n = isnan(u->heat_capacity_j_per_m3k) || isnan(u->resistivity_mk_per_w) ? 4 : 6;
        fputs(u->name, out);
        for (size_t k = 0; k < n; k++) {
            char real[TMX_REAL_SIZE];
            tmx_real_print(real, v[k]);
            fprintf(out, "\t%s", real);
        }
        fputc('\n', out);
    }
}

enum tmx_status tmx_flp_write(const char *path, const struct tmx_floorplan *fp, const char *comment,
                              struct tmx_err *err)
{
    struct tmx_output out;
    const double side = fmax(tmx_floorplan_width_m(fp), tmx_floorplan_height_m(fp));
    for (size_t i = 0; i < fp->n_unit; i++) { /* what is written can be read again */
        if (!(fp->unit[i].w_m > 0 && fp->unit[i].h_m > 0 && side <= MAX_M)) {
            return tmx_fail(err, TMX_ECONFIG,
                            "\"%s\" would be %g x %g m of a die whose side is %g m; at most %g m",
                            fp->unit[i].name, fp->unit[i].w_m, fp->unit[i].h_m, side, MAX_M);
        }
    }
    const enum tmx_status st = tmx_output_open(&out, path, err);
    if (st) {
        return st;
    }
    tmx_flp_print(fp, comment, out.file);
    return tmx_output_commit(&out, err);
}

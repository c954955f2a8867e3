/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "core/machine/floorplan_file.h"

#include <math.h>
#include <string.h>

#include "core/base/output.h"
#include "core/base/text.h"

enum { NAME, WIDTH, HEIGHT, LEFT, BOTTOM, HEAT_CAPACITY, RESISTIVITY, MAX_FIELDS };

static const char *const field_name[MAX_FIELDS] = {"name",     "width",         "height",     "left-x",
                                                   "bottom-y", "heat capacity", "resistivity"};

static const double MAX_M = 1.0; /* no die is this large: the file is in other units */

struct reader {
    const char *path;
    unsigned line;
    struct tmx_floorplan *fp;
    struct tmx_err *err;
};

static enum tmx_status numbers(const struct reader *r, const struct tmx_span *field, size_t n, double *v)
{
    for (size_t i = WIDTH; i < n; i++) {
        if (!tmx_span_real(field[i], &v[i])) {
            return tmx_fail_at(r->err, TMX_EPARSE, r->path, r->line, "%s \"%.*s\" %s", field_name[i],
                               TMX_SPAN_ARG(field[i]), tmx_span_real_fault(field[i]));
        }
        if (i <= BOTTOM && fabs(v[i]) > MAX_M) {
            return tmx_fail_at(r->err, TMX_EPARSE, r->path, r->line,
                               "%s = %g m is larger than %g m; floorplans are in metres", field_name[i], v[i],
                               MAX_M);
        }
        if (i != LEFT && i != BOTTOM && v[i] <= 0) {
            return tmx_fail_at(r->err, TMX_EPARSE, r->path, r->line, "%s = %g must be above 0", field_name[i],
                               v[i]);
        }
    }
    return TMX_OK;
}

static enum tmx_status block(const struct reader *r, const struct tmx_span *field, size_t n)
{
    char name[TMX_NAME_SIZE];
    double v[MAX_FIELDS] = {0};
    if (n != BOTTOM + 1 && n != MAX_FIELDS) {
        return tmx_fail_at(r->err, TMX_EPARSE, r->path, r->line,
                           "%s%zu fields; a block has 5 (name width height left-x bottom-y) or 7 (... heat "
                           "capacity, resistivity)",
                           n > MAX_FIELDS ? "more than " : "", n > MAX_FIELDS ? (size_t)MAX_FIELDS : n);
    }
    if (!tmx_span_copy(field[NAME], name, sizeof name)) {
        return tmx_fail_at(r->err, TMX_EPARSE, r->path, r->line, "name longer than %d characters",
                           TMX_NAME_SIZE - 1);
    }
    const enum tmx_status st = numbers(r, field, n, v);
    if (st) {
        return st;
    }
    const size_t first = tmx_floorplan_find(r->fp, name);
    if (first < r->fp->n_unit) {
        return tmx_fail_at(r->err, TMX_EPARSE, r->path, r->line,
                           "name \"%s\" given twice (first at line %u; case does not count)", name,
                           r->fp->unit[first].line);
    }
    if (r->fp->n_unit == TMX_FLP_MAX_UNITS) {
        return tmx_fail_at(r->err, TMX_EPARSE, r->path, r->line, "more than %d blocks", TMX_FLP_MAX_UNITS);
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
    return tmx_floorplan_add(r->fp, &unit, r->err);
}

/* `name1 name2 density`: the second field of a block line would be a number. */
static bool is_wire(const struct tmx_span *field, size_t n)
{
    double v;
    return n == 3 && !tmx_span_real(field[1], &v) && tmx_span_real(field[2], &v);
}

enum tmx_status tmx_flp_read(const char *path, struct tmx_floorplan *fp, struct tmx_err *err)
{
    struct tmx_text_file text;
    struct tmx_lines lines = {0};
    *fp = (struct tmx_floorplan){0};
    enum tmx_status st = tmx_text_load(&text, path, err);
    if (st) {
        return st;
    }
    snprintf(fp->source, sizeof fp->source, "%s", path);
    while (!st && tmx_lines_next_filled(&lines, &text)) {
        struct tmx_span rest = lines.line, field[MAX_FIELDS + 1], more;
        size_t n = 0;
        while (n <= MAX_FIELDS && tmx_span_field(&rest, &more)) {
            field[n++] = more;
        }
        if (!is_wire(field, n)) {
            st = block(&(struct reader){path, lines.number, fp, err}, field, n);
        }
    }
    if (!st && fp->n_unit == 0) {
        st = tmx_fail_at(err, TMX_EPARSE, path, lines.number, "no blocks");
    }
    tmx_text_finish(&text);
    tmx_floorplan_normalise(fp);
    const double side = fmax(tmx_floorplan_width_m(fp), tmx_floorplan_height_m(fp));
    if (!st && side > MAX_M) {
        st = tmx_fail_at(err, TMX_EPARSE, path, fp->unit[0].line,
                         "the die's side is %g m, larger than %g m; floorplans are in metres", side, MAX_M);
    }
    return st;
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

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What `thermix floorplan VERB` does. */
#include "cli/parts/floorplan_verbs.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/opt.h"
#include "core/base/os.h"
#include "core/base/text.h"
#include "core/machine/floorplan_edit.h"
#include "core/machine/floorplan_file.h"
#include "plots/chip_svg.h"
#include "study/floorplan_compare.h"
#include "study/table_out.h"
#include "thermal/files/ice_io.h"

struct verb {
    const char *name;
    bool reads, writes; /* a floorplan FILE; one to -o */
    enum tmx_status (*run)(const struct tmx_floorplan_args *a, struct tmx_floorplan *fp, struct tmx_err *err);
};

/* "2x3", "2x3mm", "0.5": two numbers in the unit asked for. */
static enum tmx_status pair(const char *text, const char *what, double v[2], struct tmx_err *err)
{
    double unit = 1;
    size_t n = text ? strlen(text) : 0;
    if (n > 2 && (strcmp(text + n - 2, "mm") == 0 || strcmp(text + n - 2, "um") == 0)) {
        unit = text[n - 2] == 'u' ? 1e-3 : 1;
        n -= 2;
    }
    const char *x = n ? memchr(text, 'x', n) : NULL;
    const char *end = text ? text + n : NULL;
    if (!text || !tmx_span_real((struct tmx_span){text, x ? x : end}, &v[0]) ||
        !tmx_span_real((struct tmx_span){x ? x + 1 : text, end}, &v[1])) {
        return tmx_fail(err, TMX_ECONFIG, "%s %s: expected WIDTHxHEIGHT like %s", what,
                        text ? text : "missing", strcmp(what, "--die") == 0 ? "24x24mm" : "2x3");
    }
    v[0] *= unit;
    v[1] *= unit;
    return TMX_OK;
}

static enum tmx_status counts(const char *text, size_t n[2], struct tmx_err *err)
{
    double v[2] = {0};
    const enum tmx_status st = pair(text, "--by", v, err);
    if (st) {
        return st;
    }
    for (size_t i = 0; i < 2; i++) {
        if (v[i] < 1 || v[i] > 1024 || v[i] != floor(v[i])) {
            return tmx_fail(err, TMX_ECONFIG, "--by %s: expected whole numbers from 1 to 1024", text);
        }
        n[i] = (size_t)v[i];
    }
    return n[0] * n[1] <= TMX_FLP_MAX_UNITS
               ? TMX_OK
               : tmx_fail(err, TMX_ECONFIG, "--by %s: more than %d pieces", text, TMX_FLP_MAX_UNITS);
}

static enum tmx_status find_unit(const struct tmx_floorplan *fp, const char *name, size_t *unit,
                                 struct tmx_err *err)
{
    const char **names = calloc(fp->n_unit + 1, sizeof *names);
    *unit = name ? tmx_floorplan_find(fp, name) : fp->n_unit;
    for (size_t i = 0; names && i < fp->n_unit; i++) {
        names[i] = fp->unit[i].name;
    }
    const char *near = names && name ? tmx_suggest_nearest(name, names, fp->n_unit) : NULL;
    free(names);
    if (name && *unit < fp->n_unit) {
        return TMX_OK;
    }
    return tmx_fail_at(err, TMX_ECONFIG, fp->source, 0,
                       name ? "no unit \"%s\"%s%s%s" : "which unit? --unit NAME", name,
                       near ? "; did you mean \"" : "", near ? near : "", near ? "\"?" : "");
}

static enum tmx_status check(const struct tmx_floorplan_args *a, struct tmx_floorplan *fp,
                             struct tmx_err *err)
{
    (void)err;
    printf("%s: %zu units tile %.4g x %.4g mm%s\n", a->file, fp->n_unit, 1e3 * tmx_floorplan_width_m(fp),
           1e3 * tmx_floorplan_height_m(fp), a->gaps ? " (gaps allowed)" : "");
    return TMX_OK;
}

static enum tmx_status show(const struct tmx_floorplan_args *a, struct tmx_floorplan *fp, struct tmx_err *err)
{
    static const struct tmx_column columns[] = {
        {"unit", TMX_COLUMN_TEXT, 0},      {"left_mm", TMX_COLUMN_REAL, 3},
        {"bottom_mm", TMX_COLUMN_REAL, 3}, {"width_mm", TMX_COLUMN_REAL, 3},
        {"height_mm", TMX_COLUMN_REAL, 3}, {"area_mm2", TMX_COLUMN_REAL, 3},
    };
    struct tmx_table *t = NULL;
    const size_t n = strlen(a->out);
    if (n > 4 && strcmp(a->out + n - 4, ".svg") == 0) {
        return tmx_floorplan_save_svg(fp, a->out, err);
    }
    enum tmx_status st = tmx_table_create(&t, columns, sizeof columns / sizeof columns[0], err);
    for (size_t i = 0; i < fp->n_unit && !st; i++) {
        const struct tmx_unit *u = &fp->unit[i];
        tmx_table_text(t, u->name);
        tmx_table_real(t, 1e3 * u->x_m);
        tmx_table_real(t, 1e3 * u->y_m);
        tmx_table_real(t, 1e3 * u->w_m);
        tmx_table_real(t, 1e3 * u->h_m);
        tmx_table_real(t, 1e6 * tmx_unit_area_m2(u));
    }
    st = st ? st : tmx_table_save(t, (enum tmx_format)a->format, a->out, err);
    tmx_table_destroy(t);
    return st;
}

static enum tmx_status convert(const struct tmx_floorplan_args *a, struct tmx_floorplan *fp,
                               struct tmx_err *err)
{
    (void)a, (void)fp, (void)err; /* reading and writing is all */
    return TMX_OK;
}

static enum tmx_status scale(const struct tmx_floorplan_args *a, struct tmx_floorplan *fp,
                             struct tmx_err *err)
{
    double v[2] = {0};
    enum tmx_status st = pair(a->by, "--by", v, err);
    if (!st && (v[0] <= 0 || v[1] <= 0)) {
        return tmx_fail(err, TMX_ECONFIG, "--by %s: factors are above 0", a->by);
    }
    const double side_m[] = {v[0] * tmx_floorplan_width_m(fp), v[1] * tmx_floorplan_height_m(fp)};
    for (size_t i = 0; i < 2 && !st; i++) {
        if (side_m[i] < 1e-6) {
            st = tmx_fail(err, TMX_ECONFIG, "--by %s: a die of %g x %g m; expected sides of 1e-6 m or more",
                          a->by, side_m[0], side_m[1]);
        }
    }
    if (!st) {
        tmx_floorplan_scale(fp, v[0], v[1]);
    }
    return st;
}

static enum tmx_status rotate(const struct tmx_floorplan_args *a, struct tmx_floorplan *fp,
                              struct tmx_err *err)
{
    (void)err;
    tmx_floorplan_rotate(fp, (int)(a->turns % 4));
    return TMX_OK;
}

static enum tmx_status mirror(const struct tmx_floorplan_args *a, struct tmx_floorplan *fp,
                              struct tmx_err *err)
{
    (void)a, (void)err;
    tmx_floorplan_mirror(fp);
    return TMX_OK;
}

static enum tmx_status move(const struct tmx_floorplan_args *a, struct tmx_floorplan *fp, struct tmx_err *err)
{
    size_t unit = 0;
    double v[2] = {0};
    enum tmx_status st = find_unit(fp, a->unit, &unit, err);
    st = st ? st : pair(a->by, "--by", v, err);
    if (!st) {
        tmx_floorplan_move(fp, unit, 1e-3 * v[0], 1e-3 * v[1]);
    }
    return st;
}

static enum tmx_status swap(const struct tmx_floorplan_args *a, struct tmx_floorplan *fp, struct tmx_err *err)
{
    size_t unit = 0, with = 0;
    enum tmx_status st = find_unit(fp, a->unit, &unit, err);
    st = st ? st : find_unit(fp, a->with, &with, err);
    if (!st) {
        tmx_floorplan_swap(fp, unit, with);
    }
    return st;
}

static enum tmx_status split(const struct tmx_floorplan_args *a, struct tmx_floorplan *fp,
                             struct tmx_err *err)
{
    size_t unit = 0, n[2] = {0};
    enum tmx_status st = find_unit(fp, a->unit, &unit, err);
    st = st ? st : counts(a->by, n, err);
    return st ? st : tmx_floorplan_split(fp, unit, n[0], n[1], err);
}

static enum tmx_status grid(const struct tmx_floorplan_args *a, struct tmx_floorplan *fp, struct tmx_err *err)
{
    size_t n[2] = {0};
    const enum tmx_status st = counts(a->by, n, err);
    return st ? st : tmx_floorplan_grid(fp, n[0], n[1], err);
}

static enum tmx_status generate(const struct tmx_floorplan_args *a, struct tmx_floorplan *fp,
                                struct tmx_err *err)
{
    /* SM area and margin of the two-band GT200 plan in floorplans/gtx280: 30 SMs of 10 mm2 on 576 mm2, memory
     * controllers 2 mm wide on a side of 24 mm. Assumed for other chips. */
    static const double sm_share = 300.0 / 576.0, margin_share = 2.0 / 24.0;
    double die[2] = {0};
    struct tmx_regular_chip c = {
        .n_sm = (size_t)a->sms, .per_cluster = (size_t)a->per_tpc, .placement = a->place};
    const enum tmx_status st = pair(a->die, "--die", die, err);
    if (st) {
        return st;
    }
    c.width_m = 1e-3 * die[0];
    c.height_m = 1e-3 * die[1];
    c.margin_m = isnan(a->margin_mm) ? margin_share * c.width_m : 1e-3 * a->margin_mm;
    c.sm_area_m2 =
        isnan(a->sm_area_mm2) ? sm_share * c.width_m * c.height_m / (double)a->sms : 1e-6 * a->sm_area_mm2;
    return tmx_floorplan_generate(fp, &c, err);
}

static const struct verb verbs[] = {
    {"check", true, false, check}, {"show", true, false, show},         {"convert", true, true, convert},
    {"scale", true, true, scale},  {"rotate", true, true, rotate},      {"mirror", true, true, mirror},
    {"move", true, true, move},    {"swap", true, true, swap},          {"split", true, true, split},
    {"grid", true, true, grid},    {"generate", false, true, generate},
};
const char *const tmx_floorplan_verbs[] = {"check",    "show",    "convert", "scale", "rotate",
                                           "mirror",   "move",    "swap",    "split", "grid",
                                           "generate", "compare", NULL};

static enum tmx_status read_floorplan(const struct tmx_floorplan_args *a, struct tmx_floorplan *fp,
                                      struct tmx_err *err)
{
    if (!a->file) {
        return tmx_fail(err, TMX_ECONFIG, "%s: which floorplan?", a->verb);
    }
    enum tmx_status st =
        tmx_ice_is(a->file) ? tmx_ice_read_flp(a->file, fp, NULL, err) : tmx_flp_read(a->file, fp, err);
    return st ? st : tmx_floorplan_check(fp, a->gaps, err);
}

static enum tmx_status write_floorplan(const struct tmx_floorplan_args *a, struct tmx_floorplan *fp,
                                       struct tmx_err *err)
{
    char comment[256];
    snprintf(comment, sizeof comment, "thermix floorplan %s%s%s", a->verb, a->file ? " of " : "",
             a->file ? a->file : "");
    tmx_floorplan_normalise(fp);
    enum tmx_status st = tmx_floorplan_check(fp, a->gaps, err);
    st = st ? st : tmx_os_mkdirs_for(a->out, err);
    if (!st && a->to == TMX_TO_ICE && strcmp(a->verb, "convert") == 0) {
        return tmx_ice_write_flp(a->out, fp, NULL, NULL, err);
    }
    return st ? st : tmx_flp_write(a->out, fp, comment, err);
}

static bool has_suffix(const char *path, const char *suffix)
{
    const size_t n = strlen(path), m = strlen(suffix);
    return n > m && strcmp(path + n - m, suffix) == 0;
}

static enum tmx_status write_ice_stack(const struct tmx_floorplan_args *a, struct tmx_err *err)
{
    const char *note = NULL;
    if (strcmp(a->out, "-") == 0) {
        return tmx_fail(err, TMX_ECONFIG, "convert --to ice: -o DIR, a stack is several files");
    }
    const enum tmx_status st = tmx_ice_write_stack(a->file, a->out, &note, err);
    if (!st && note) {
        fprintf(stderr, "thermix floorplan: %s\n", note);
    }
    return st;
}

static enum tmx_status compare(const struct tmx_floorplan_args *a, struct tmx_err *err)
{
    struct tmx_floorplan_compare c = {.file = (const char *const *)a->words.text + 1,
                                      .n_file = a->words.n - 1,
                                      .suite = a->suite,
                                      .policy = a->policy,
                                      .out_dir = strcmp(a->out, "-") == 0 ? NULL : a->out,
                                      .n_worker = (unsigned)a->jobs,
                                      .format = (enum tmx_format)a->format};
    if (a->words.n < 3 || !a->suite) {
        return tmx_fail(err, TMX_ECONFIG, "compare: expected two floorplans or more and --suite SUITE");
    }
    return tmx_floorplan_compare(&c, err);
}

enum tmx_status tmx_floorplan_do(struct tmx_floorplan_args *a, struct tmx_err *err)
{
    const struct verb *v = verbs;
    struct tmx_floorplan fp = {0};
    a->verb = a->words.text[0];
    a->file = a->words.n > 1 ? a->words.text[1] : NULL;
    if (strcmp(a->verb, "compare") == 0) {
        return compare(a, err);
    }
    if (a->words.n > 2) {
        return tmx_fail(err, TMX_ECONFIG, "one floorplan at a time");
    }
    while (strcmp(v->name, a->verb) != 0) { /* it is one of tmx_floorplan_verbs */
        v++;
    }
    const bool to_ice = v->run == convert && a->to == TMX_TO_ICE;
    if (v->run == convert && a->file && tmx_ice_is_stack(a->file)) {
        return to_ice ? tmx_fail_at(err, TMX_ECONFIG, a->file, 0, "is a stack of 3D-ICE already")
                      : tmx_ice_convert_stack(a->file, a->out, err);
    }
    if (to_ice && a->file && !has_suffix(a->file, ".flp")) {
        return write_ice_stack(a, err);
    }
    enum tmx_status st = v->reads ? read_floorplan(a, &fp, err) : TMX_OK;
    st = st ? st : v->run(a, &fp, err);
    st = st || !v->writes ? st : write_floorplan(a, &fp, err);
    tmx_floorplan_finish(&fp);
    return st;
}

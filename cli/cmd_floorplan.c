#include <argp.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/commands.h"
#include "core/base/opt.h"
#include "core/base/os.h"
#include "core/base/text.h"
#include "core/machine/floorplan_edit.h"
#include "core/machine/floorplan_file.h"
#include "plots/floorplan_svg.h"
#include "study/floorplan_compare.h"
#include "study/table_out.h"
#include "thermal/files/ice_io.h"

enum {
    KEY_BY = 256,
    KEY_UNIT,
    KEY_WITH,
    KEY_TURNS,
    KEY_SMS,
    KEY_PER_TPC,
    KEY_DIE,
    KEY_SM_AREA,
    KEY_MARGIN,
    KEY_PLACE,
    KEY_FORMAT,
    KEY_GAPS,
    KEY_SUITE,
    KEY_POLICY
};

enum { MAX_FILES = 32 };

struct arguments {
    const char *files[MAX_FILES]; /* compare: all; else file alone */
    size_t n_file;
    const char *verb, *file, *out, *suite, *policy, *by, *unit, *with, *die, *place, *format;
    double sm_area_mm2, margin_mm;
    long turns, sms, per_tpc, jobs;
    bool gaps;
};

struct verb {
    const char *name;
    bool reads, writes; /* a floorplan FILE; one to -o */
    enum tmx_status (*run)(const struct arguments *a, struct tmx_floorplan *fp, struct tmx_err *err);
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
    const char *near = names && name ? tmx_nearest(name, names, fp->n_unit) : NULL;
    free(names);
    if (name && *unit < fp->n_unit) {
        return TMX_OK;
    }
    return tmx_fail_at(err, TMX_ECONFIG, fp->source, 0,
                       name ? "no unit \"%s\"%s%s%s" : "which unit? --unit NAME", name,
                       near ? "; did you mean \"" : "", near ? near : "", near ? "\"?" : "");
}

static enum tmx_status check(const struct arguments *a, struct tmx_floorplan *fp, struct tmx_err *err)
{
    (void)err;
    printf("%s: %zu units tile %.4g x %.4g mm%s\n", a->file, fp->n_unit, 1e3 * tmx_floorplan_width_m(fp),
           1e3 * tmx_floorplan_height_m(fp), a->gaps ? " (gaps allowed)" : "");
    return TMX_OK;
}

static enum tmx_status show(const struct arguments *a, struct tmx_floorplan *fp, struct tmx_err *err)
{
    static const struct tmx_column columns[] = {
        {"unit", TMX_COLUMN_TEXT, 0},      {"left_mm", TMX_COLUMN_REAL, 3},
        {"bottom_mm", TMX_COLUMN_REAL, 3}, {"width_mm", TMX_COLUMN_REAL, 3},
        {"height_mm", TMX_COLUMN_REAL, 3}, {"area_mm2", TMX_COLUMN_REAL, 3},
    };
    struct tmx_table *t = NULL;
    enum tmx_format format = TMX_FORMAT_TEXT;
    const size_t n = strlen(a->out);
    if (n > 4 && strcmp(a->out + n - 4, ".svg") == 0) {
        return tmx_floorplan_save_svg(fp, a->out, err);
    }
    enum tmx_status st = tmx_format_parse(a->format, &format, err);
    st = st ? st : tmx_table_create(&t, columns, sizeof columns / sizeof columns[0], err);
    for (size_t i = 0; i < fp->n_unit && !st; i++) {
        const struct tmx_unit *u = &fp->unit[i];
        tmx_table_text(t, u->name);
        tmx_table_real(t, 1e3 * u->x_m);
        tmx_table_real(t, 1e3 * u->y_m);
        tmx_table_real(t, 1e3 * u->w_m);
        tmx_table_real(t, 1e3 * u->h_m);
        tmx_table_real(t, 1e6 * tmx_unit_area_m2(u));
    }
    st = st ? st : tmx_table_save(t, format, a->out, err);
    tmx_table_destroy(t);
    return st;
}

static enum tmx_status convert(const struct arguments *a, struct tmx_floorplan *fp, struct tmx_err *err)
{
    (void)a, (void)fp, (void)err; /* reading and writing is all */
    return TMX_OK;
}

static enum tmx_status scale(const struct arguments *a, struct tmx_floorplan *fp, struct tmx_err *err)
{
    double v[2] = {0};
    const enum tmx_status st = pair(a->by, "--by", v, err);
    if (!st && (v[0] <= 0 || v[1] <= 0)) {
        return tmx_fail(err, TMX_ECONFIG, "--by %s: factors are above 0", a->by);
    }
    if (!st) {
        tmx_floorplan_scale(fp, v[0], v[1]);
    }
    return st;
}

static enum tmx_status rotate(const struct arguments *a, struct tmx_floorplan *fp, struct tmx_err *err)
{
    (void)err;
    tmx_floorplan_rotate(fp, (int)(a->turns % 4));
    return TMX_OK;
}

static enum tmx_status mirror(const struct arguments *a, struct tmx_floorplan *fp, struct tmx_err *err)
{
    (void)a, (void)err;
    tmx_floorplan_mirror(fp);
    return TMX_OK;
}

static enum tmx_status move(const struct arguments *a, struct tmx_floorplan *fp, struct tmx_err *err)
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

static enum tmx_status swap(const struct arguments *a, struct tmx_floorplan *fp, struct tmx_err *err)
{
    size_t unit = 0, with = 0;
    enum tmx_status st = find_unit(fp, a->unit, &unit, err);
    st = st ? st : find_unit(fp, a->with, &with, err);
    if (!st) {
        tmx_floorplan_swap(fp, unit, with);
    }
    return st;
}

static enum tmx_status split(const struct arguments *a, struct tmx_floorplan *fp, struct tmx_err *err)
{
    size_t unit = 0, n[2] = {0};
    enum tmx_status st = find_unit(fp, a->unit, &unit, err);
    st = st ? st : counts(a->by, n, err);
    return st ? st : tmx_floorplan_split(fp, unit, n[0], n[1], err);
}

static enum tmx_status grid(const struct arguments *a, struct tmx_floorplan *fp, struct tmx_err *err)
{
    size_t n[2] = {0};
    const enum tmx_status st = counts(a->by, n, err);
    return st ? st : tmx_floorplan_grid(fp, n[0], n[1], err);
}

static enum tmx_status generate(const struct arguments *a, struct tmx_floorplan *fp, struct tmx_err *err)
{
    /* SM area and margin of the two-band GT200 plan in floorplans/gtx280: 30 SMs of 10 mm2 on 576 mm2, memory
     * controllers 2 mm wide on a side of 24 mm. Assumed for other chips. */
    static const double sm_share = 300.0 / 576.0, margin_share = 2.0 / 24.0;
    double die[2] = {0};
    struct tmx_regular_chip c = {.n_sm = (size_t)a->sms, .per_cluster = (size_t)a->per_tpc, .placement = -1};
    const enum tmx_status st = pair(a->die, "--die", die, err);
    if (st) {
        return st;
    }
    for (int i = 0; tmx_placement_names[i]; i++) {
        c.placement = strcmp(tmx_placement_names[i], a->place) == 0 ? i : c.placement;
    }
    if (c.placement < 0) {
        return tmx_fail(err, TMX_ECONFIG, "--place %s: edges, centre, columns, checkerboard or spread",
                        a->place);
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
enum { N_VERB = sizeof verbs / sizeof verbs[0] };

static const struct argp_option options[] = {
    {"output", 'o', "FILE", 0, "default: standard output; `show -o X.svg` draws; compare: a folder", 0},
    {"by", KEY_BY, "XxY", 0, "scale: factors; move: millimetres; split, grid: pieces", 0},
    {"unit", KEY_UNIT, "NAME", 0, "the unit to move, swap or split", 0},
    {"with", KEY_WITH, "NAME", 0, "swap: the other unit", 0},
    {"turns", KEY_TURNS, "N", 0, "rotate: quarter turns counter-clockwise (default 1)", 0},
    {"allow-gaps", KEY_GAPS, 0, 0, "units need not fill the die", 0},
    {"format", KEY_FORMAT, "FORMAT", 0, "show: text (default), csv, markdown or json", 0},
    {0, 0, 0, 0, "compare:", 2},
    {"suite", KEY_SUITE, "SUITE", 0, "its mixes and settings are run on every floorplan", 2},
    {"policy", KEY_POLICY, "NAME", 0, "the policy (default BL)", 2},
    {"jobs", 'j', "N", 0, "runs at a time (default: one a processor)", 2},
    {0, 0, 0, 0, "generate:", 1},
    {"sms", KEY_SMS, "N", 0, "number of SMs", 1},
    {"per-tpc", KEY_PER_TPC, "N", 0, "SMs of one cluster (default 1)", 1},
    {"die", KEY_DIE, "WxHmm", 0, "sides of the die", 1},
    {"sm-area", KEY_SM_AREA, "MM2", 0, "area of one SM (default: 52 % of the die for all)", 1},
    {"margin", KEY_MARGIN, "MM", 0, "width of the memory controllers (default: a twelfth of the die)", 1},
    {"place", KEY_PLACE, "HOW", 0, "edges (default), centre, columns, checkerboard or spread", 1},
    {0},
};

static long whole(const char *text, long min, struct argp_state *state)
{
    char *end;
    const long v = strtol(text, &end, 10);
    if (*end || end == text || v < min || v > 4096) {
        argp_error(state, "\"%s\" is not a whole number from %ld to 4096", text, min);
    }
    return v;
}

static double real(const char *text, struct argp_state *state)
{
    double v = 0;
    if (!tmx_span_real((struct tmx_span){text, text + strlen(text)}, &v) || v < 0) {
        argp_error(state, "\"%s\" is not a number from 0 up", text);
    }
    return v;
}

static error_t parse_text(int key, char *arg, struct arguments *a)
{
    switch (key) {
    case 'o':
        a->out = arg;
        return 0;
    case KEY_BY:
        a->by = arg;
        return 0;
    case KEY_UNIT:
        a->unit = arg;
        return 0;
    case KEY_WITH:
        a->with = arg;
        return 0;
    case KEY_DIE:
        a->die = arg;
        return 0;
    case KEY_PLACE:
        a->place = arg;
        return 0;
    case KEY_FORMAT:
        a->format = arg;
        return 0;
    case KEY_SUITE:
        a->suite = arg;
        return 0;
    case KEY_POLICY:
        a->policy = arg;
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct arguments *a = state->input;
    switch (key) {
    case 'j':
        a->jobs = whole(arg, 1, state);
        return 0;
    case KEY_TURNS:
        a->turns = whole(arg, -4096, state);
        return 0;
    case KEY_SMS:
        a->sms = whole(arg, 1, state);
        return 0;
    case KEY_PER_TPC:
        a->per_tpc = whole(arg, 1, state);
        return 0;
    case KEY_SM_AREA:
        a->sm_area_mm2 = real(arg, state);
        return 0;
    case KEY_MARGIN:
        a->margin_mm = real(arg, state);
        return 0;
    case KEY_GAPS:
        a->gaps = true;
        return 0;
    case ARGP_KEY_ARG:
        if (!a->verb) {
            a->verb = arg;
        } else if (a->n_file == 0 || (strcmp(a->verb, "compare") == 0 && a->n_file < MAX_FILES)) {
            a->files[a->n_file++] = arg;
            a->file = a->files[0];
        } else {
            argp_error(state, "one floorplan at a time");
        }
        return 0;
    case ARGP_KEY_END:
        if (!a->verb) {
            argp_error(state, "what to do?");
        }
        return 0;
    default:
        return parse_text(key, arg, a);
    }
}

static const struct argp argp = {
    options,
    parse,
    "VERB [FILE...]",
    "Check, show, change, make and compare floorplans (HotSpot .flp; 3D-ICE .flp and .stk are read too).\n\n"
    "Verbs: check show convert scale rotate mirror move swap split grid generate compare\v"
    "Every result is checked to tile the die before it is written.\n\nExamples:\n"
    "  thermix floorplan generate --sms 30 --per-tpc 3 --die 24x24mm --place centre -o centre.flp\n"
    "  thermix floorplan scale centre.flp --by 0.7 -o shrink.flp\n"
    "  thermix floorplan show shrink.flp -o shrink.svg\n"
    "  thermix floorplan compare centre.flp floorplans/gtx280/gtx280.flp --suite tabs",
    NULL,
    NULL,
    NULL};

static enum tmx_status read_floorplan(const struct arguments *a, struct tmx_floorplan *fp,
                                      struct tmx_err *err)
{
    if (!a->file) {
        return tmx_fail(err, TMX_ECONFIG, "%s: which floorplan?", a->verb);
    }
    enum tmx_status st =
        tmx_ice_is(a->file) ? tmx_ice_read_flp(a->file, fp, err) : tmx_flp_read(a->file, fp, err);
    return st ? st : tmx_floorplan_check(fp, a->gaps, err);
}

static enum tmx_status write_floorplan(const struct arguments *a, struct tmx_floorplan *fp,
                                       struct tmx_err *err)
{
    char comment[256];
    snprintf(comment, sizeof comment, "thermix floorplan %s%s%s", a->verb, a->file ? " of " : "",
             a->file ? a->file : "");
    tmx_floorplan_normalise(fp);
    const enum tmx_status st = tmx_floorplan_check(fp, a->gaps, err);
    return st ? st : tmx_flp_write(a->out, fp, comment, err);
}

static enum tmx_status compare(const struct arguments *a, struct tmx_err *err)
{
    struct tmx_floorplan_compare c = {.file = a->files,
                                      .n_file = a->n_file,
                                      .suite = a->suite,
                                      .policy = a->policy,
                                      .out_dir = strcmp(a->out, "-") == 0 ? NULL : a->out,
                                      .n_worker = (unsigned)a->jobs};
    if (a->n_file < 2 || !a->suite) {
        return tmx_fail(err, TMX_ECONFIG, "compare: expected two floorplans or more and --suite SUITE");
    }
    const enum tmx_status st = tmx_format_parse(a->format, &c.format, err);
    return st ? st : tmx_floorplan_compare(&c, err);
}

static enum tmx_status run(const struct arguments *a, struct tmx_err *err)
{
    const char *names[N_VERB + 1];
    const struct verb *v = NULL;
    struct tmx_floorplan fp = {0};
    for (size_t i = 0; i < N_VERB; i++) {
        names[i] = verbs[i].name;
        v = strcmp(verbs[i].name, a->verb) == 0 ? &verbs[i] : v;
    }
    names[N_VERB] = "compare";
    if (strcmp(a->verb, "compare") == 0) {
        return compare(a, err);
    }
    if (!v) {
        const char *near = tmx_nearest(a->verb, names, N_VERB + 1);
        return tmx_fail(err, TMX_ECONFIG, "unknown verb \"%s\"%s%s%s", a->verb,
                        near ? ", did you mean \"" : "", near ? near : "", near ? "\"?" : "");
    }
    if (v->run == convert && a->file && tmx_ice_is_stack(a->file)) {
        return tmx_ice_convert_stack(a->file, a->out, err);
    }
    enum tmx_status st = v->reads ? read_floorplan(a, &fp, err) : TMX_OK;
    st = st ? st : v->run(a, &fp, err);
    st = st || !v->writes ? st : write_floorplan(a, &fp, err);
    tmx_floorplan_finish(&fp);
    return st;
}

int tmx_cmd_floorplan(int argc, char **argv)
{
    struct arguments a = {.out = "-",
                          .policy = "BL",
                          .format = "text",
                          .place = "edges",
                          .sm_area_mm2 = NAN,
                          .margin_mm = NAN,
                          .turns = 1,
                          .sms = 1,
                          .per_tpc = 1};
    struct tmx_err err = {0};
    argp_parse(&argp, argc, argv, 0, NULL, &a);
    return tmx_command_end("floorplan", run(&a, &err), &err);
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _POSIX_C_SOURCE 200809L

#include <dirent.h>
#include <jansson.h>
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/config.h"
#include "base/csv.h"
#include "base/os.h"
#include "base/output.h"
#include "base/plausible.h"
#include "base/provenance.h"
#include "base/text.h"
#include "plots/plot.h"
#include "run/load/data.h"
#include "run/run.h"
#include "run/summary.h"
#include "study/analysis/analysis.h"
#include "study/results.h"
#include "study/study.h"
#include "thermal/backend/reduced_model.h"
#include "thermal/files/stack.h"

struct page {
    const struct tmx_report *r;
    json_t *data;                     /* what the page is made of, by name; most are lists */
    struct tmx_csv captions, colours; /* of plots/scripts */
    struct tmx_warnings warnings;     /* of the folders of runs, by their number among the results */
    size_t n_folder;
    char sampling[512];
    struct tmx_err err; /* the first stays: what follows it does nothing */
};

static void keep(struct page *p, bool ok)
{
    if (!ok) {
        tmx_error(&p->err, TMX_ENOMEM, "out of memory, or text that is not UTF-8");
    }
}

static json_t *list(const struct page *p, const char *name)
{
    return json_object_get(p->data, name);
}

/* Append an item, which is taken over; NULL: there was no memory for it. */
static void add(struct page *p, const char *name, json_t *item)
{
    keep(p, json_array_append_new(list(p, name), item) == 0);
}

/* ---- the thermal model of a run's GPU 0 as data of the page, which steps it (report/what_if.js) ---- */

enum { N_LEVEL = 5 };

static const double TOLERANCE_K = 5e-4; /* of the page's model: numbers agree within 1e-3 K */
static const double FASTEST = 0.5,
                    SLOWEST = 2;    /* sink to air at the ends of the fan's slider, of the run's */
static const double HEADROOM = 1.5; /* sliders reach this many times the run's highest power density */

struct chip {
    struct tmx_hotspot_config cfg;
    bool physical, fans; /* fans: the run had cooling of its own, which is not in the package's file */
    struct tmx_stack stack;
    double level_k_per_w[N_LEVEL];
    double *most_w; /* [n_unit] owned: where the sliders end */
};

/* Name of the two files' content. */
static void content(const char *config, const char *floorplan, bool physical, char hex[TMX_HASH_HEX],
                    struct tmx_err *err)
{
    const char *const path[] = {config, floorplan};
    struct tmx_hash *hash = NULL;
    (void)!tmx_hash_create(&hash, err);
    for (size_t i = 0; i < 2 && !err->code; i++) {
        struct tmx_text_file text;
        if (!tmx_text_load(&text, path[i], err)) {
            tmx_hash_add(hash, text.data, text.size);
        }
        tmx_text_finish(&text);
    }
    if (!err->code) {
        tmx_hash_add_text(hash, physical ? "physical" : "hotspot");
        tmx_hash_hex(hash, hex);
    }
    tmx_hash_destroy(hash);
}

static void read_chip(struct chip *c, const char *config, const char *floorplan, const struct tmx_history *h,
                      struct tmx_err *err)
{
    const struct tmx_stack_options options = {.network =
                                                  c->physical ? TMX_NETWORK_PHYSICAL : TMX_NETWORK_HOTSPOT};
    const size_t n = h->floorplan.n_unit;
    double densest = 1e4; /* [W/m2] so that the sliders of an idle run move */
    tmx_hotspot_config_init(&c->cfg);
    if (tmx_hotspot_config_set(&c->cfg, "f", floorplan, TMX_HOTSPOT_COMMAND_LINE, 0, err) ||
        tmx_hotspot_config_read(&c->cfg, config, TMX_HOTSPOT_CONFIG, err) ||
        tmx_stack_create(&c->cfg, &options, NULL, &c->stack, err)) {
        return;
    }
    if (tmx_thermal_spec_units(&c->stack.spec) != n) {
        tmx_error_at(err, TMX_EUNSUPPORTED, config, 0, "%zu blocks take power, %zu are drawn",
                     tmx_thermal_spec_units(&c->stack.spec), n);
    } else if (!(c->most_w = calloc(n, sizeof *c->most_w))) {
        tmx_error(err, TMX_ENOMEM, "%zu units", n);
    }
    for (size_t i = 0; !err->code && i < h->n_frame * n; i++) {
        densest = fmax(densest, h->unit_w[i] / tmx_unit_area_m2(&h->floorplan.unit[i % n]));
    }
    for (size_t u = 0; !err->code && u < n; u++) {
        c->most_w[u] = HEADROOM * densest * tmx_unit_area_m2(&h->floorplan.unit[u]);
    }
    for (size_t l = 0; l < N_LEVEL; l++) {
        const double step = log(FASTEST / SLOWEST) * (double)l / (N_LEVEL - 1);
        c->level_k_per_w[l] = c->stack.spec.package.r_convec_k_per_w * SLOWEST * exp(step);
    }
    c->level_k_per_w[N_LEVEL / 2] = c->stack.spec.package.r_convec_k_per_w; /* to the last bit */
    c->stack.spec.r_convec_levels = c->level_k_per_w;
    c->stack.spec.n_level = N_LEVEL;
    c->stack.spec.power_density_w_per_m2 = HEADROOM * densest;
}

/* n bytes as base64 text (RFC 4648), owned by the caller; NULL without memory. */
static char *base64(const void *bytes, size_t n)
{
    static const char digit[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const unsigned char *in = bytes;
    char *out = malloc(4 * (n / 3 + 1) + 1);
    size_t k = 0;
    for (size_t i = 0; out && i < n; i += 3) {
        const unsigned a = in[i], b = i + 1 < n ? in[i + 1] : 0, c = i + 2 < n ? in[i + 2] : 0;
        const unsigned all = a << 16 | b << 8 | c;
        out[k++] = digit[all >> 18];
        out[k++] = digit[all >> 12 & 63];
        out[k++] = i + 1 < n ? digit[all >> 6 & 63] : '=';
        out[k++] = i + 2 < n ? digit[all & 63] : '=';
    }
    if (out) {
        out[k] = '\0';
    }
    return out;
}

/* Numbers as little-endian 32-bit floats, in base64. */
static json_t *floats(const double *v, size_t n)
{
    unsigned char *bytes = malloc(4 * n);
    char *text = NULL;
    for (size_t i = 0; bytes && i < n; i++) {
        const float f = (float)v[i];
        unsigned bits;
        memcpy(&bits, &f, sizeof bits);
        for (size_t b = 0; b < 4; b++) {
            bytes[4 * i + b] = (unsigned char)(bits >> 8 * b);
        }
    }
    text = bytes ? base64(bytes, 4 * n) : NULL;
    json_t *j = text ? json_string(text) : NULL;
    free(bytes);
    free(text);
    return j;
}

static json_t *reals(const double *v, size_t n)
{
    json_t *a = json_array();
    for (size_t i = 0; i < n; i++) {
        json_array_append_new(a, json_real(v[i]));
    }
    return a;
}

/* to += the sum over the modes of level 0 of scale_i row_i turn_i, turn [k][k] by rows. */
static void add_rows(size_t k, const double *row, size_t stride, const double *scale, const double *turn,
                     double *to)
{
    for (size_t i = 0; i < k; i++) {
        const double part = row[i * stride] / (scale ? scale[i] : 1);
        for (size_t r = 0; r < k; r++) {
            to[r] += part * turn[i * k + r];
        }
    }
}

/* The model in coordinates q that mean the same at every convection level: units' temperatures above ambient
 * are out q + direct p. Over a step dt under powers p, at level l with V = vector[l]: z = back[l] q, e = V in
 * p, z_i <- exp(-rate_i dt) z_i + (1 - exp(-rate_i dt)) e_i, q = V' z. An ambient that rises by d: q <- q - d
 * one. NULL without memory. */
static json_t *as_json(const struct chip *c, const struct tmx_reduced_model *m, const char *id)
{
    const size_t k = m->n_mode, n = m->net.n_unit;
    const struct tmx_modal *first = m->modal;
    struct tmx_arena arena = {0};
    double *in, *out, *one, *direct, *rate;
    TMX_TAKE_REALS(&arena, n * k, &in, &out);
    TMX_TAKE(&arena, one, k);
    TMX_TAKE(&arena, direct, n * n);
    TMX_TAKE(&arena, rate, N_LEVEL * k);
    for (size_t u = 0; u < n && !arena.failed; u++) {
        add_rows(k, first->in + u * first->mode_row, 1, first->rate, m->back, in + u * k);
        add_rows(k, first->out + u, first->unit_row, NULL, m->back, out + u * k);
        memcpy(direct + u * n, first->direct + u * first->unit_row, n * sizeof *direct);
    }
    for (size_t l = 0; l < N_LEVEL && !arena.failed; l++) {
        memcpy(rate + l * k, m->modal[l].rate, k * sizeof *rate);
    }
    json_t *j = NULL;
    if (!arena.failed) {
        add_rows(k, first->one, 1, NULL, m->vector, one);
        j = json_pack("{s:s, s:b, s:b, s:i, s:f, s:f, s:f, s:f, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}",
                      "id", id, "physical", c->physical, "fans", c->fans, "modes", (int)k, "ambient_k",
                      c->stack.spec.ambient_k, "init_k", c->stack.spec.init_k, "interval_s",
                      c->cfg.sampling_intvl, "error_k", tmx_reduced_model_bound(m, false, c->most_w),
                      "r_convec", reals(c->level_k_per_w, N_LEVEL), "most_w", reals(c->most_w, n), "rate",
                      floats(rate, N_LEVEL * k), "vector", floats(m->vector, N_LEVEL * k * k), "back",
                      floats(m->back, N_LEVEL * k * k), "in", floats(in, n * k), "out", floats(out, n * k),
                      "direct", floats(direct, n * n), "one", floats(one, k));
    }
    tmx_arena_finish(&arena);
    return j;
}

/* Append the model of the run in dir to models, unless one of the same files is there; *which: its index.
 * h: the run's GPU 0, with frames. Shape: docs/formats.md, Report. Errors: those of reading the folder's
 * files and of the reduced model; models is unchanged then, and a page can do without. */
static void page_model(json_t *models, const char *dir, const struct tmx_history *h, size_t *which,
                       struct tmx_err *err)
{
    struct chip chip = {0};
    struct tmx_reduced_model m = {0};
    const struct tmx_reduced_options options = {.tolerance_k = TOLERANCE_K, .cache = true};
    struct tmx_config *cfg = NULL;
    const char *network = "hotspot", *topology = "";
    char config[TMX_PATH_SIZE], floorplan[TMX_PATH_SIZE], resolved[TMX_PATH_SIZE], id[TMX_HASH_HEX];
    bool have = false;
    if (!tmx_path_join(config, dir, "thermal.config", err) &&
        !tmx_path_join(floorplan, dir, h->floorplan_file, err) &&
        !tmx_path_join(resolved, dir, "resolved.cfg", err) && !tmx_config_open(&cfg, resolved, err)) {
        network = tmx_setting_word(tmx_config_root(cfg), "network", network, err);
        topology = tmx_setting_word(tmx_config_root(cfg), "topology", topology, err);
    }
    if (!err->code) {
        chip.physical = strcmp(network, "physical") == 0;
        chip.fans = topology[0] != '\0';
        content(config, floorplan, chip.physical, id, err);
    }
    tmx_config_close(cfg);
    for (*which = 0; !err->code && !have && *which < json_array_size(models); *which += !have) {
        have = strcmp(json_string_value(json_object_get(json_array_get(models, *which), "id")), id) == 0;
    }
    if (!err->code && !have) {
        read_chip(&chip, config, floorplan, h, err);
        const enum tmx_map_mode mode = chip.stack.spec.map_mode;
        if (mode == TMX_MAP_MIN || mode == TMX_MAP_MAX) {
            tmx_error(err, TMX_EUNSUPPORTED, "a unit read as the %s of its cells is no linear map",
                      mode == TMX_MAP_MIN ? "coldest" : "hottest");
        }
        if (!err->code && !tmx_reduced_model_init(&m, &chip.stack.spec, &options, err) && m.net.n_flow > 0) {
            tmx_error(err, TMX_EUNSUPPORTED,
                      "modes of coolant turn into one another: they are no plain arrays");
        }
        if (!err->code && json_array_append_new(models, as_json(&chip, &m, id))) { /* refuses NULL */
            tmx_error(err, TMX_ENOMEM, "model of the page");
        }
    }
    tmx_reduced_model_finish(&m);
    tmx_stack_finish(&chip.stack);
    free(chip.most_w);
}

/* ---- the page ---- */

static bool is_number(const char *s, double *v)
{
    const bool name = s[0] == '0' && s[1] >= '0' && s[1] <= '9'; /* 003 is one */
    return !name && tmx_text_real(s, v);
}

static json_t *number_or_text(const char *s, bool text)
{
    double v;
    if (s[0] == '\0') {
        return json_null();
    }
    return !text && is_number(s, &v) ? json_real(v) : json_string(s);
}

/* One word makes a column of words: "4.3" beside "Figure 3" is a section, no number. */
static bool holds_text(const struct tmx_csv *csv, size_t c)
{
    bool text = false;
    for (size_t r = 0; r < csv->n_row && !text; r++) {
        const char *s = tmx_csv_cell(csv, r, c);
        double v;
        text = s[0] != '\0' && !is_number(s, &v);
    }
    return text;
}

/* Ten significant digits are enough for reading, and half the size. */
static double short_real(double v)
{
    char buf[40];
    snprintf(buf, sizeof buf, "%.10g", v);
    return strtod(buf, NULL);
}

/* Takes over columns and rows, also when it fails. of: the folder; title: the file in it, or what a study is;
 * n_axis: of a study, whose first columns are its axes; 0: of none. */
static void add_table(struct page *p, const char *of, const char *title, json_t *columns, json_t *rows,
                      size_t n_axis)
{
    add(p, "tables",
        json_pack("{s:s, s:s, s:O, s:O, s:i}", "of", of, "title", title, "columns", columns, "rows", rows,
                  "axes", (int)n_axis));
    json_decref(columns);
    json_decref(rows);
}

static void add_csv(struct page *p, const char *path, const char *of, const char *title)
{
    struct tmx_csv csv = {0};
    tmx_csv_read(&csv, path, &p->err);
    json_t *columns = json_array(), *rows = json_array();
    bool *text = calloc(csv.n_column + 1, sizeof *text);
    keep(p, text != NULL);
    for (size_t c = 0; !p->err.code && c < csv.n_column; c++) {
        keep(p, json_array_append_new(columns, json_string(csv.column[c])) == 0);
        text[c] = holds_text(&csv, c);
    }
    for (size_t r = 0; !p->err.code && r < csv.n_row; r++) {
        json_t *row = json_array();
        for (size_t c = 0; c < csv.n_column; c++) {
            json_array_append_new(row, number_or_text(tmx_csv_cell(&csv, r, c), text[c]));
        }
        keep(p, json_array_append_new(rows, row) == 0); /* takes row, also on failure */
    }
    free(text);
    tmx_csv_finish(&csv);
    add_table(p, of, title, columns, rows, 0);
}

/* Cells of a table as rows of the page. typed: texts that are numbers become numbers. */
static json_t *rows_of(const struct tmx_table *t, bool typed)
{
    json_t *rows = json_array();
    for (size_t r = 0; r < tmx_table_rows(t); r++) {
        json_t *row = json_array();
        for (size_t c = 0; c < tmx_table_columns(t); c++) {
            const struct tmx_cell *cell = tmx_table_cell(t, r, c);
            json_array_append_new(row, cell->empty                     ? json_null()
                                       : cell->type != TMX_COLUMN_TEXT ? json_real(short_real(cell->real))
                                       : typed                         ? number_or_text(cell->text, false)
                                                                       : json_string(cell->text));
        }
        json_array_append_new(rows, row);
    }
    return rows;
}

static enum tmx_results_which which_of(const struct page *p)
{
    return p->r->all ? TMX_RESULTS_ALL : TMX_RESULTS_POINTS;
}

/* A sentence of the verdict. */
static void add_finding(struct page *p, const char *of, const char *words)
{
    json_array_append_new(list(p, "findings"), json_pack("[s, s]", of, words));
}

/* Which axes the slowdown depends on. */
static void add_effects(struct page *p, const char *path, const struct tmx_result_set *set)
{
    static const char metric[] = "slowdown_pct";
    enum { SHARE = 4, MOST = 5 };
    struct tmx_table *t = NULL;
    struct tmx_err ignored = {0};
    size_t index, named[MOST], n = 0;
    char words[400];
    if (tmx_metric_index(set, metric, &index, &ignored) || tmx_effects(set, index, &t, &ignored)) {
        return;
    }
    tmx_assert(strcmp(tmx_table_column(t, SHARE)->name, "share_pct") == 0);
    snprintf(words, sizeof words, "%s depends on", metric);
    while (n < MOST) { /* the next largest share */
        size_t best = tmx_table_rows(t);
        for (size_t r = 0; r < tmx_table_rows(t); r++) {
            const struct tmx_cell *share = tmx_table_cell(t, r, SHARE);
            bool new = !share->empty &&tmx_table_cell(t, r, 0)->text[0] != '(' && share->real >= 1;
            for (size_t i = 0; i < n; i++) {
                new = new &&named[i] != r;
            }
            best = new && (best == tmx_table_rows(t) || share->real > tmx_table_cell(t, best, SHARE)->real)
                       ? r
                       : best;
        }
        if (best == tmx_table_rows(t)) {
            break;
        }
        tmx_text_add(words, sizeof words, "%s %s (%.0f %%)", n ? "," : "", tmx_table_cell(t, best, 0)->text,
                     tmx_table_cell(t, best, SHARE)->real);
        named[n++] = best;
    }
    if (n > 0 && strlen(words) + 1 < sizeof words) {
        tmx_text_add(words, sizeof words, " of its variance (`thermix sensitivity`).");
        add_finding(p, path, words);
    }
    tmx_table_destroy(t);
}

static void add_study(struct page *p, const char *path)
{
    struct tmx_result_set set;
    struct tmx_table *t = NULL;
    const struct tmx_query all = {0};
    char title[400], partial[64];
    if (tmx_results_load(&set, path, which_of(p), &p->err)) {
        return;
    }
    tmx_flat(&set, &all, &t, &p->err);
    json_t *columns = json_array();
    for (size_t c = 0; !p->err.code && c < tmx_table_columns(t); c++) {
        json_array_append_new(columns, json_string(tmx_table_column(t, c)->name));
    }
    add_effects(p, path, &set);
    tmx_results_note(&set, stderr);
    tmx_results_partial(&set, partial, sizeof partial);
    snprintf(title, sizeof title, "Study %s%s%s%s%s", set.study, *set.doc ? ": " : "", set.doc,
             *partial ? "; " : "", partial);
    if (set.n_left_out > 0) {
        tmx_text_add(title, sizeof title, " (without %zu runs of earlier inputs)", set.n_left_out);
    }
    add_table(p, path, title, columns, rows_of(t, true), set.n_key);
    tmx_table_destroy(t);
    tmx_result_set_finish(&set);
}

/* Temperatures in tenths of a degree and powers in hundredths of a watt: whole numbers are short. */
static json_t *scaled(const double *v, size_t n, double factor)
{
    json_t *a = json_array();
    for (size_t i = 0; i < n; i++) {
        json_array_append_new(a, json_integer((json_int_t)llround(v[i] * factor)));
    }
    return a;
}

static json_t *units(const struct tmx_floorplan *fp)
{
    json_t *a = json_array();
    for (size_t u = 0; u < fp->n_unit; u++) {
        const struct tmx_unit *unit = &fp->unit[u];
        json_array_append_new(a, json_pack("{s:s, s:f, s:f, s:f, s:f}", "name", unit->name, "x",
                                           short_real(1e3 * unit->x_m), "y", short_real(1e3 * unit->y_m), "w",
                                           short_real(1e3 * unit->w_m), "h", short_real(1e3 * unit->h_m)));
    }
    return a;
}

/* The index of a floorplan among those of the page, which many GPUs share. */
static size_t plan_of(struct page *p, const struct tmx_floorplan *fp)
{
    json_t *mine = units(fp), *plans = list(p, "plans");
    size_t i = 0;
    while (i < json_array_size(plans) && !json_equal(json_array_get(plans, i), mine)) {
        i++;
    }
    if (i == json_array_size(plans)) {
        json_array_append(plans, mine);
    }
    json_decref(mine);
    return i;
}

/* One heat map a GPU: at most `most` pictures, with that of its hottest moment. */
static void add_heatmap(struct page *p, const char *dir, const struct tmx_history *h, size_t n_gpu,
                        size_t most, const size_t *model)
{
    char name[240], which[64] = "";
    const size_t n = h->floorplan.n_unit, hottest = tmx_history_hottest(h, 1).frame,
                 stride = h->n_frame > most ? (h->n_frame + most - 1) / most : 1;
    json_t *time = json_array(), *temp = json_array(), *power = json_array();
    for (size_t i = 0; i < h->n_frame; i += stride) {
        const size_t f = hottest >= i && hottest < i + stride ? hottest : i;
        json_t *temps = scaled(h->unit_temp_c + f * n, n, 10), *powers = scaled(h->unit_w + f * n, n, 100);
        json_array_append_new(time, json_real(short_real(h->frame_s[f])));
        json_array_extend(temp, temps);
        json_array_extend(power, powers);
        json_decref(temps);
        json_decref(powers);
    }
    if (n_gpu > 1) {
        snprintf(which, sizeof which, " GPU %s", h->label);
    }
    snprintf(name, sizeof name, "%s %s%s", h->mix, h->policy, which);
    json_t *trace = h->n_time == 0 || n_gpu > 1
                        ? NULL /* tenths of a degree, as the pictures' */
                        : json_pack("{s:o, s:o, s:o}", "time_ds", scaled(h->time_s, h->n_time, 10), "low_dc",
                                    scaled(h->hottest_min_c, h->n_time, 10), "high_dc",
                                    scaled(h->hottest_max_c, h->n_time, 10));
    add(p, "runs",
        json_pack("{s:s, s:s, s:i, s:f, s:i, s:O, s:O, s:O, s:o*, s:o*, s:o*}", "name", name, "of", dir,
                  "gpu", (int)h->gpu, "hottest_s", short_real(h->frame_s[hottest]), "plan",
                  (int)plan_of(p, &h->floorplan), "time_s", time, "temp_dc", temp, "power_cw", power, "trace",
                  trace, "limit_c", isfinite(h->trip_c) ? json_real(h->trip_c) : NULL, "model",
                  model ? json_integer((json_int_t)*model) : NULL));
    json_decref(time);
    json_decref(temp);
    json_decref(power);
    if (h->gpu == 0) {
        tmx_text_add(p->sampling, sizeof p->sampling, "%s%s %s: %zu pictures, every %zu of the run's rows",
                     p->sampling[0] ? "; " : "Sampling: ", h->mix, h->policy, h->n_frame, h->frame_stride);
    }
}

enum { HALL = 16, WORST = 10 }; /* of more GPUs, this many of the hottest have all their pictures, */
static const double WORST_BYTES = 4e5, OTHER_BYTES = 4e5,
                    UNIT_BYTES = 9; /* about, of one unit in a picture */

static double peak_c(const struct tmx_history *h)
{
    const struct tmx_hottest at = tmx_history_hottest(h, 1);
    return h->unit_temp_c[at.frame * h->floorplan.n_unit + at.unit];
}

static void add_run(struct page *p, const char *dir, bool *hall)
{
    struct tmx_history *all;
    size_t n_gpu, model = 0;
    tmx_history_load(&all, &n_gpu, dir, p->r->max_frame, &p->err);
    *hall = n_gpu > HALL;
    for (size_t g = 0; g < n_gpu && !p->err.code; g++) {
        size_t hotter = 0, most = p->r->max_frame;
        if (all[g].n_frame == 0) {
            continue;
        }
        if (n_gpu > HALL) {
            for (size_t i = 0; i < n_gpu; i++) {
                const double more_k = peak_c(&all[i]) - peak_c(&all[g]);
                hotter += more_k > 0 || (more_k == 0 && i < g);
            }
            const double one = UNIT_BYTES * (double)all[g].floorplan.n_unit,
                         fit = hotter < WORST ? WORST_BYTES / WORST / one
                                              : OTHER_BYTES / (double)(n_gpu - WORST) / one;
            most = (size_t)fmax(1, fmin(fit, (double)most));
        }
        const bool live = g == 0 && p->r->what_if;
        struct tmx_err why = {0};
        if (live) {
            page_model(list(p, "models"), dir, &all[g], &model, &why);
        }
        if (why.code) { /* the page does without */
            tmx_print_visible(stderr, "thermix report: %s has no what-if: %s\n", dir, why.msg);
        }
        add_heatmap(p, dir, &all[g], n_gpu, most, live && !why.code ? &model : NULL);
    }
    tmx_history_free(all, n_gpu);
}

/* What to see in a figure: the caption of the script that its labels name; "": unknown. */
static const char *caption_of(const struct page *p, const char *folder, const char *name)
{
    char path[TMX_PATH_SIZE];
    struct tmx_csv labels = {0};
    struct tmx_err ignored = {0};
    const char *caption = "";
    snprintf(path, sizeof path, "%s/data/%s_labels.csv", folder, name);
    if (tmx_os_exists(path) && tmx_csv_read(&labels, path, &ignored) == TMX_OK) {
        for (size_t r = 0; r < labels.n_row; r++) {
            for (size_t i = 0; strcmp(tmx_csv_cell(&labels, r, 0), "script") == 0 && i < p->captions.n_row;
                 i++) {
                const bool its = strcmp(tmx_csv_cell(&p->captions, i, 0), tmx_csv_cell(&labels, r, 1)) == 0;
                caption = its ? tmx_csv_cell(&p->captions, i, 1) : caption;
            }
        }
    }
    tmx_csv_finish(&labels);
    return caption;
}

static void add_figure(struct page *p, const char *of, const char *folder, const char *file)
{
    char path[TMX_PATH_SIZE], name[256];
    struct tmx_text_file svg = {0};
    snprintf(path, sizeof path, "%s/%s", folder, file);
    snprintf(name, sizeof name, "%.*s", (int)strlen(file) - 4, file);
    if (tmx_text_load(&svg, path, &p->err)) {
        return;
    }
    char *code = base64(svg.data, svg.size);
    add(p, "figures",
        code ? json_pack("{s:s, s:s, s:s, s:s}", "name", name, "of", of, "caption",
                         caption_of(p, folder, name), "svg", code)
             : NULL);
    free(code);
    tmx_text_finish(&svg);
}

enum { MAX_FIGURES = 512 };

/* The figures that lie in a folder, by name. */
static void add_drawn(struct page *p, const char *of, const char *folder)
{
    char *names[MAX_FIGURES];
    DIR *dir = opendir(folder);
    size_t n = 0;
    for (struct dirent *e; dir && (e = readdir(dir)) && n < MAX_FIGURES;) {
        if (tmx_text_ends(e->d_name, ".svg") && (names[n] = strdup(e->d_name))) {
            n++;
        }
    }
    if (dir) {
        closedir(dir);
    }
    qsort(names, n, sizeof *names, tmx_text_compare);
    for (size_t i = 0; i < n; i++) {
        add_figure(p, of, folder, names[i]);
        free(names[i]);
    }
}

/* hall: the overview and what of a served model there is, since the page has the chips. */
static void add_figures(struct page *p, const char *results, bool hall)
{
    char folder[TMX_PATH_SIZE];
    snprintf(folder, sizeof folder, "%s.figures/%zu", p->r->out, ++p->n_folder);
    struct tmx_plot plot = {
        .dir = folder, .format = "svg", .size = "small", .quiet = true, .only = hall ? "hall" : NULL};
    const struct tmx_study_axes axes = {.which = which_of(p)};
    if (p->err.code || tmx_plot_begin(&plot, &p->err) || tmx_plot_results(&plot, results, &axes)) {
        return;
    }
    if (hall) {
        plot.only = NULL;
        tmx_plot_serve(&plot, results);
    }
    add_drawn(p, results, folder);
}

/* Has the folder's run few GPUs, and would it take less than half a minute? */
static bool is_short(const char *dir, const char *path)
{
    struct tmx_config *cfg = NULL;
    struct tmx_run *run = NULL;
    struct tmx_err ignored = {0};
    char folder[TMX_PATH_SIZE];
    if (!tmx_path_join(folder, dir, "folder.cfg", &ignored) && !tmx_config_open(&cfg, folder, &ignored)) {
        (void)tmx_setting_list(tmx_config_root(cfg), "gpus", 1, HALL, &ignored);
    }
    tmx_config_close(cfg);
    const bool ok =
        !ignored.code && !tmx_run_load(&run, path, NULL, &ignored) && tmx_run_cost(run).seconds < 30;
    tmx_run_destroy(run);
    return ok;
}

/* What `thermix explain` has to say of the run; the page says what it can of one that is not explained. */
static void add_verdict(struct page *p, const char *dir)
{
    char path[TMX_PATH_SIZE], *words = NULL;
    size_t size = 0;
    const struct tmx_sets none = {0};
    const struct tmx_explain x = {.path = path, .folder = dir, .sets = &none, .steps = true, .brief = true};
    struct tmx_explained e = {0};
    struct tmx_err why = {0};
    tmx_path_join(path, dir, "resolved.cfg", &p->err);
    struct tmx_warn_listener unheard = {.alone = true}; /* resolved.cfg has them */
    tmx_warn_begin(&unheard);
    const bool explain = !p->err.code && p->r->explain && is_short(dir, path);
    FILE *out = explain ? open_memstream(&words, &size) : NULL;
    keep(p, !explain || out);
    const bool done = out && tmx_explain(&x, out, &e, &why) == TMX_OK;
    tmx_warn_end(&unheard);
    if (out) {
        fclose(out);
    }
    if (out && !done) {
        tmx_print_visible(stderr, "thermix report: %s is not explained: %s\n", dir, why.msg);
    } else if (done) {
        add(p, "verdicts",
            json_pack("{s:s, s:s, s:o, s:o}", "of", dir, "words", words, "causes", rows_of(e.causes, false),
                      "steps", rows_of(e.steps, false)));
    }
    tmx_explained_finish(&e);
    free(words);
}

/* What the runs of a folder warn of: its own, or those of a suite. */
static void add_warnings(struct page *p, const char *folder, size_t number)
{
    char path[TMX_PATH_SIZE];
    struct tmx_text_file text = {0};
    struct tmx_result_set set;
    if (!p->err.code && tmx_plot_holds(folder, "resolved.cfg", path)) {
        if (!tmx_text_load(&text, path, &p->err)) {
            (void)!tmx_warnings_add(&p->warnings, number, text.data, &p->err);
        }
        tmx_text_finish(&text);
    }
    if (!p->err.code && tmx_plot_holds(folder, TMX_SUITE_RESULTS, path) &&
        !tmx_results_load(&set, path, which_of(p), &p->err)) {
        tmx_results_note(&set, stderr);
        tmx_result_set_finish(&set);
    }
}

static void add_results(struct page *p, const char *results, size_t number)
{
    static const char *const tables[] = {"table.csv",   "paper.csv",     "ledger.csv",
                                         "summary.csv", "kernels.csv",   "gpus.csv",
                                         "members.csv", "instances.csv", "fit.csv"};
    char path[TMX_PATH_SIZE];
    bool hall = false, partial;
    size_t found = 0;
    if (tmx_text_ends(results, ".sqlite")) {
        add_study(p, results);
        add_figures(p, results, false);
        return;
    }
    if (tmx_text_ends(results, ".csv")) {
        add_csv(p, results, results, tmx_text_behind(results, '/'));
        return;
    }
    if (tmx_history_has_frames(results)) {
        add_run(p, results, &hall);
    } else if (tmx_plot_holds(results, "folder.cfg", path)) {
        (void)!tmx_run_folder_check(results, &partial, &p->err);
    }
    add_warnings(p, results, number);
    if (!p->err.code && tmx_plot_holds(results, "resolved.cfg", path)) {
        add_verdict(p, results);
        /* Fans that a run stops. */
        struct tmx_config *cfg = NULL;
        const struct tmx_setting *list = NULL;
        struct tmx_err ignored = {0};
        if (!tmx_config_open(&cfg, path, &ignored)) {
            list = tmx_setting_member(tmx_config_root(cfg), "fan_failures");
        }
        for (size_t i = 0; list && i < tmx_setting_length(list); i++) {
            const struct tmx_setting *e = tmx_setting_at(list, i);
            const char *fan = tmx_setting_text(tmx_setting_member(e, "fan"));
            double at_s = 0;
            char words[200];
            if (fan && tmx_setting_real(tmx_setting_member(e, "at_s"), &at_s)) {
                snprintf(words, sizeof words, "Fan %s stops at %g s.", fan, at_s);
                add_finding(p, results, words);
            }
        }
        tmx_config_close(cfg);
    }
    for (size_t i = 0; i < sizeof tables / sizeof tables[0] && !p->err.code; i++) {
        if (tmx_plot_holds(results, tables[i], path)) {
            add_csv(p, path, results, tables[i]);
            found++;
        }
    }
    const bool draws = tmx_plot_holds(results, "table.csv", path) ||
                       tmx_plot_holds(results, "trace.csv", path) ||
                       tmx_plot_holds(results, "requests.csv", path) || tmx_history_has_frames(results);
    if (!draws) {
        const size_t before = json_array_size(list(p, "figures"));
        add_drawn(p, results, results);
        found += json_array_size(list(p, "figures")) - before;
    }
    if (draws || found == 0) {
        add_figures(p, results, hall);
    }
}

/* The page's skeleton with data and scripts in their places. */
static void put_page(const char *json, FILE *out, struct tmx_err *err)
{
    static const char *const scripts[] = {"plots/report/model.js",   "plots/report/report.js",
                                          "plots/report/verdict.js", "plots/report/what_if.js",
                                          "plots/report/study.js",   "plots/report/main.js"};
    char path[TMX_PATH_SIZE];
    struct tmx_text_file page = {0};
    if (tmx_data_file("plots/report/page.html", path, err) || tmx_text_load(&page, path, err)) {
        return;
    }
    const char *data_at = strstr(page.data, "@DATA@"), *script_at = strstr(page.data, "@SCRIPT@");
    tmx_assert(data_at && script_at && data_at < script_at);
    fwrite(page.data, 1, (size_t)(data_at - page.data), out);
    for (; *json; json++) { /* no text in the data ends the script element */
        *json == '<' ? fputs("\\u003c", out) : fputc(*json, out);
    }
    fwrite(data_at + 6, 1, (size_t)(script_at - data_at - 6), out);
    for (size_t i = 0; i < sizeof scripts / sizeof scripts[0]; i++) {
        struct tmx_text_file script = {0};
        if (!tmx_data_file(scripts[i], path, err) && !tmx_text_load(&script, path, err)) {
            fwrite(script.data, 1, script.size, out);
        }
        tmx_text_finish(&script);
    }
    fputs(script_at + 8, out);
    tmx_text_finish(&page);
}

static void keep_warning(void *to, const char *text)
{
    json_t *all = to;
    size_t i = 0;
    while (i < json_array_size(all) && strcmp(json_string_value(json_array_get(all, i)), text) != 0) {
        i++;
    }
    if (i == json_array_size(all)) {
        json_array_append_new(all, json_string(text));
    }
}

static const char *result_name(const void *ctx, size_t run, size_t key, char *buf, size_t size)
{
    (void)key, (void)buf, (void)size;
    return ((const struct tmx_report *)ctx)->results[run];
}

static void save(struct page *p)
{
    struct tmx_output o;
    char made[400];
    const size_t n_table = json_array_size(list(p, "tables")), n_figure = json_array_size(list(p, "figures")),
                 n_run = json_array_size(list(p, "runs"));
    snprintf(made, sizeof made,
             "thermix %s; %zu table%s, %zu figure%s, %zu heat map%s. This file needs no network.",
             TMX_VERSION, n_table, tmx_plural(n_table), n_figure, tmx_plural(n_figure), n_run,
             tmx_plural(n_run));
    json_t *colours = json_object();
    for (size_t r = 0; r < p->colours.n_row; r++) {
        keep(p, json_object_set_new(colours, tmx_csv_cell(&p->colours, r, 0),
                                    json_string(tmx_csv_cell(&p->colours, r, 1))) == 0);
    }
    keep(p, json_object_set_new(p->data, "made", json_string(made)) == 0 &&
                json_object_set_new(p->data, "sampling", json_string(p->sampling)) == 0 &&
                json_object_set_new(p->data, "colours", colours) == 0);
    char *json = p->err.code ? NULL : json_dumps(p->data, JSON_COMPACT | JSON_REAL_PRECISION(10));
    keep(p, json != NULL);
    if (!tmx_output_open(&o, p->r->out, &p->err)) {
        put_page(json, o.file, &p->err);
        tmx_output_end(&o, &p->err);
    }
    free(json);
}

enum tmx_status tmx_report_write(const struct tmx_report *r, struct tmx_err *err)
{
    struct page p = {.r = r};
    static const char *const no_key[] = {""};
    const struct tmx_warned who = {r, r->n_result, 1, no_key, result_name};
    char folder[TMX_PATH_SIZE];
    p.data = json_pack("{s:s, s:s, s:s, s:[], s:[], s:[], s:[], s:[], s:[], s:[], s:[]}", "title", r->title,
                       "made", "", "sampling", "", "verdicts", "warnings", "findings", "tables", "runs",
                       "plans", "figures", "models");
    struct tmx_warn_listener listener = {.line = keep_warning, .to = list(&p, "warnings")};
    snprintf(folder, sizeof folder, "%s.figures", r->out);
    keep(&p, p.data != NULL);
    tmx_warn_begin(&listener);
    if (!p.err.code && !tmx_folder_open(folder, TMX_FOLDER_FIGURES, &p.err) &&
        !tmx_data_file("plots/scripts/captions.csv", folder, &p.err) &&
        !tmx_csv_read(&p.captions, folder, &p.err) &&
        !tmx_data_file("plots/scripts/colours.csv", folder, &p.err)) {
        tmx_csv_read(&p.colours, folder, &p.err);
    }
    for (size_t i = 0; i < r->n_result && !p.err.code; i++) {
        add_results(&p, r->results[i], i);
    }
    tmx_warnings_listen(&p.warnings, &who);
    tmx_warn_end(&listener);
    if (!p.err.code) {
        save(&p);
    }
    tmx_csv_finish(&p.captions);
    tmx_csv_finish(&p.colours);
    tmx_warnings_finish(&p.warnings);
    json_decref(p.data);
    return tmx_error_give(err, &p.err);
}

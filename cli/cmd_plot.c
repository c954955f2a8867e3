/* SPDX-License-Identifier: GPL-3.0-or-later */
/* thermix plot: the figures that results allow. */
#include <math.h>
#include <string.h>

#include "base/plausible.h"
#include "base/text.h"
#include "cli/commands.h"
#include "plots/plot.h"

struct args {
    struct tmx_texts results, where, rename, order;
    const char *out, *only, *x, *y, *by, *title, *x_label, *y_label, *config, *floorplan, *cells, *layer,
        *scale;
    double at_s;
    int format, size;
    bool quiet, all;
};

static const char *const formats[] = {"svg", "png", "pdf", NULL};

static const struct tmx_arg rows[] = {
    TMX_ARG(args, out, TEXT, "output", 'o', .value = "DIR", .names = TMX_NAMES_FOLDER,
            .doc = "folder for the figures and, in data/, their data; for a single figure (--figure, --flp, "
                   "or --x and --y) it may be a file X.svg, X.png or X.pdf"),
    TMX_ARG(args, format, WORD, "format", 'f', .words = formats,
            .doc = "kind of file (without it: as the ending of -o, or svg)"),
    TMX_ARG(args, size, WORD, "size", 's', .words = tmx_plot_sizes,
            .doc = "canvas and letters for a column of a paper, a page or a slide (default: a page)"),
    TMX_ARG(args, only, TEXT, "figure", 0, .apart = "x", .value = "NAME",
            .doc = "draw only this figure, such as figure3"),
    TMX_ARG(args, at_s, REAL, "at", 0, .apart = "x y by where all config flp", .value = "SECONDS",
            .min = -1e9, .max = 1e9,
            .doc =
                "the heat map at this time, 0 is the end of the warm-up (without it: at its hottest moment)"),
    TMX_ARG(args, title, TEXT, "title", 0, .value = "TEXT",
            .doc = "title of the figure; this, --x-label and --y-label need --figure, or --x and --y"),
    TMX_ARG(args, x_label, TEXT, "x-label", 0, .value = "TEXT", .doc = "words of the horizontal axis"),
    TMX_ARG(args, y_label, TEXT, "y-label", 0, .value = "TEXT", .doc = "words of the vertical axis"),
    TMX_ARG(args, rename, TEXTS, "rename", 0, .value = "OLD=NEW",
            .doc = "another name for a policy, mix or value in the figures; may be repeated"),
    TMX_ARG(args, order, LIST, "order", 0, .value = "NAME,...",
            .doc = "bars and curves of these names come first, in this order"),
    TMX_ARG(args, quiet, FLAG, "quiet", 'q', .doc = "do not print the names of the figures"),
    {.type = TMX_ARG_GROUP, .doc = "of a study's database:"},
    TMX_ARG(args, x, TEXT, "x", 0, .value = "KEY|METRIC",
            .doc = "key or metric along the horizontal axis; of two metrics the points that no other beats "
                   "in both are joined"),
    TMX_ARG(args, y, TEXT, "y", 0, .value = "METRIC", .names = TMX_NAMES_METRIC, .doc = "metric to draw"),
    TMX_ARG(args, by, TEXT, "by", 0, .value = "KEY",
            .doc = "draw a curve for each value of this key, or a map if it has many numbers"),
    TMX_ARG(args, where, TEXTS, "where", 0, .value = "CONDITION",
            .doc = "only these runs, as in `thermix query`; may be repeated"),
    TMX_ARG_ALL(args, all),
    {.type = TMX_ARG_GROUP, .doc = "of a file of temperatures (.steady, .init, .ttrace or a grid's):"},
    TMX_ARG(args, config, TEXT, "config", 'c', .value = "FILE", .names = TMX_NAMES_FILE,
            .doc = "the package that computed RESULTS: draw its layers on the stack's outline, each with the "
                   "blocks that lie in it; of a .ttrace the interval of its curves"),
    TMX_ARG(args, floorplan, TEXT, "flp", 0, .value = "FILE", .names = TMX_NAMES_FILE,
            .doc = "the floorplan, where -c names none, or of one layer: draw RESULTS as a map of its "
                   "blocks, of a .ttrace the hottest row"),
    TMX_ARG(args, layer, TEXT, "layer", 0, .value = "N|all",
            .doc = "draw this layer, 0 is the lowest (without it: layer 0; with -c into a folder all)"),
    TMX_ARG(
        args, scale, TEXT, "scale", 0, .value = "LOW:HIGH|own",
        .doc =
            "the colours' ends in degC, or each layer's own (without it: one scale for all that are drawn)"),
    TMX_ARG(args, cells, TEXT, "cells", 0, .value = "ROWSxCOLS",
            .doc = "grid_rows and grid_cols of a grid's file without -c (without it: a square)"),
    {0},
};

static void run(void *args, struct tmx_err *err)
{
    const struct args *a = args;
    char dir[1024], name[160], rest;
    struct tmx_where where[16];
    struct tmx_study_axes axes = {.x = a->x,
                                  .y = a->y,
                                  .by = a->by,
                                  .where = where,
                                  .which = a->all ? TMX_RESULTS_ALL : TMX_RESULTS_POINTS};
    struct tmx_plot p = {.title = a->title,
                         .x_label = a->x_label,
                         .y_label = a->y_label,
                         .rename = a->rename.text,
                         .n_rename = a->rename.n,
                         .order = a->order.text,
                         .n_order = a->order.n,
                         .at = !isnan(a->at_s),
                         .at_s = a->at_s,
                         .only = a->only,
                         .quiet = a->quiet,
                         .size = a->size < 0 ? NULL : tmx_plot_sizes[a->size]};
    if (!a->out) {
        tmx_error(err, TMX_ECONFIG, "where to? -o DIR");
    }
    if ((a->title || a->x_label || a->y_label) && !a->only && !a->floorplan && !a->config &&
        !(a->x && a->y)) {
        tmx_error(err, TMX_ECONFIG, "--title, --x-label and --y-label are of one figure: give --figure NAME");
    }
    if ((a->x || a->y || a->by || a->where.n > 0 || a->all) &&
        !tmx_text_ends(a->results.text[0], ".sqlite")) {
        tmx_error(err, TMX_ECONFIG,
                  "--x, --y, --by, --where and --all are for the database of a study, X.sqlite");
    }
    for (size_t i = 0; i < a->rename.n; i++) {
        if (!strchr(a->rename.text[i], '=')) {
            tmx_error(err, TMX_ECONFIG, "--rename %s: expected OLD=NEW", a->rename.text[i]);
        }
    }
    axes.n_where = tmx_where_parse(a->where.text, a->where.n, where, sizeof where / sizeof where[0], err);
    const char *ending = strrchr(a->results.text[0], '.');
    const bool trace = ending && strcmp(ending, ".ttrace") == 0,
               temperatures = a->config || a->floorplan || trace ||
                              (ending && (strcmp(ending, ".steady") == 0 || strcmp(ending, ".init") == 0)),
               map_of = a->floorplan || (a->config && !trace);
    struct tmx_thermal_map map = {.config = a->config, .floorplan = a->floorplan, .layer = -1};
    if ((a->cells || a->layer || a->scale) && !map_of) {
        tmx_error(err, TMX_ECONFIG,
                  "--layer, --scale and --cells are of a map of temperatures: give -c FILE or --flp FILE");
    }
    if (a->layer && strcmp(a->layer, "all") != 0 &&
        (sscanf(a->layer, "%ld%c", &map.layer, &rest) != 1 || map.layer < 0)) {
        tmx_error(err, TMX_ECONFIG, "--layer %s: expected a layer's number or all", a->layer);
    }
    if (a->scale && strcmp(a->scale, "own") != 0 &&
        (sscanf(a->scale, "%lf:%lf%c", &map.low_c, &map.high_c, &rest) != 2 || !(map.low_c < map.high_c))) {
        tmx_error(err, TMX_ECONFIG, "--scale %s: expected LOW:HIGH in degC, or own", a->scale);
    }
    map.own_scale = a->scale && strcmp(a->scale, "own") == 0;
    map.all = (a->layer && strcmp(a->layer, "all") == 0) ||
              (!a->layer && a->config && !trace && a->out && !tmx_plot_is_file(a->out));
    if (a->cells && (sscanf(a->cells, "%ldx%ld%c", &map.rows, &map.cols, &rest) != 2 || map.rows < 2 ||
                     map.cols < 2 || map.rows > 4096 || map.cols > 4096)) {
        tmx_error(err, TMX_ECONFIG, "--cells %s: expected ROWSxCOLS, each from 2 to 4096", a->cells);
    }
    if (temperatures && !a->only && !map.all) {
        p.only = map_of ? "map" : "curves";
    }
    if (a->x && a->y && !a->only) { /* that is one figure */
        const char *dot = strrchr(a->x, '.');
        snprintf(name, sizeof name, "%s_by_%s", a->y, dot ? dot + 1 : a->x);
        p.only = name;
    }
    const size_t n_name = p.n_rename + p.n_order;
    struct tmx_arena arena = {0};
    TMX_TAKE(&arena, p.found, n_name);
    tmx_arena_check(&arena, err);
    (void)(err->code ||
           tmx_plot_target(&p, a->out, a->format < 0 ? NULL : formats[a->format], dir, sizeof dir, err) ||
           tmx_plot_begin(&p, err) ||
           (temperatures ? tmx_plot_thermal(&p, a->results.text[0], &map)
                         : tmx_plot_results(&p, a->results.text[0], &axes)));
    for (size_t i = 0; i < n_name && !err->code; i++) {
        const bool order = i >= p.n_rename;
        if (!p.found[i]) {
            tmx_warn("--%s %s: no figure has this name", order ? "order" : "rename",
                     order ? p.order[i - p.n_rename] : p.rename[i]);
        }
    }
    if (p.at && !err->code) {
        tmx_warn("--at does nothing: no heat map is drawn");
    }
    tmx_arena_finish(&arena);
}

const struct tmx_command tmx_cmd_plot = {
    .name = "plot",
    .summary = "figures of a table, a run or a study",
    .doc = "Draw the figures of a table's folder, a run's folder or a study's database, or the temperatures "
           "that `thermix thermal` wrote: a grid's cells or blocks as maps, a trace as curves.",
    .notes = "Each figure is a gnuplot script of plots/ that reads a CSV file of DIR/data. To change a "
             "figure, copy its script and edit it.",
    .examples =
        "thermix table tabs -o out/tabs && thermix plot out/tabs -o out/figures\n"
        "thermix run wl1 -o out/wl1 --trace 1 --hotspot 1 && thermix plot out/wl1 -o out/wl1/figures\n"
        "thermix plot cooling.sqlite -o out/cooling --format pdf\n"
        "thermix plot cooling.sqlite --x r_convec --y peak_temp_c --by policy --where ambient=308.15 --size "
        "large -o peak.png\n"
        "thermix plot chip.grid.steady -c chip.config -o maps\n"
        "thermix plot chip.ttrace -c chip.config -o curves.svg\n"
        "thermix plot out/tabs --figure slowdown --title 'Lost time' --rename BL=throttle --order MNU,BL -o "
        "lost.svg",
    TMX_OPERANDS(args, results, 1, 1, "RESULTS", FILE,
                 "which results? A folder of a table or a run, a study's database or a file of temperatures"),
    TMX_RUNS(args),
};

/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <string.h>

#include "base/text.h"
#include "cli/commands.h"
#include "cli/measured_args.h"
#include "measure/calibrate.h"
#include "measure/replay.h"
#include "run/load/data.h"

struct args {
    struct tmx_texts logs;
    struct tmx_measured_args log;
    const char *dir, *air, *same_work, *power_is, *levels;
    double split;
    bool alike, no_figures, no_check;
};

static const struct tmx_arg rows[] = {
    TMX_ARG(args, dir, TEXT, "output", 'o', .value = "DIR", .names = TMX_NAMES_FOLDER,
            .doc = "fit.csv, covariance.csv, residuals.csv, figures, and a node that thermix run takes"),
    TMX_ARG(args, air, TEXT, "air", 0, .value = "WHO", .def = "auto",
            .doc = "which GPU breathes another's air: auto finds it from the log; none; or 0>1,3>2: GPU 1 "
                   "breathes GPU 0's air"),
    TMX_ARG(args, alike, FLAG, "alike", 0, .doc = "one sink for all GPUs, which share a fan in node.cfg"),
    TMX_ARG(args, split, REAL, "split", 0, .value = "SHARE", .min = 0.1, .max = 0.99,
            .doc = "fit to this share of each run's time and compute errors on the rest"),
    TMX_ARG(
        args, same_work, TEXT, "same-work", 0, .value = "RUNS;RUNS",
        .doc =
            "groups of runs that do the same work, separated by ;: gives the increase of leakage per kelvin"),
    TMX_ARG(args, power_is, TEXT, "power-is", 0, .value = "WHAT", .def = "auto",
            .doc = "a row's watts: instant; mean (of the row); a mean over seconds; auto: what fits better"),
    TMX_ARG(args, levels, TEXT, "levels", 0, .value = "CHIP",
            .doc = "give the node's GPUs the clock levels of this chip, so that caps and governors cost time "
                   "in `thermix run`; without it they have one level"),
    TMX_MEASURED_LOG_ROWS(args),
    TMX_MEASURED_MODEL_ROWS(args),
    TMX_ARG(args, no_figures, FLAG, "no-figures", 0, .doc = "draw nothing"),
    TMX_ARG(args, no_check, FLAG, "no-check", 0, .doc = "skip cross-validation (leaving each run out once)"),
    {0},
};

/* The chip of --levels: a name, a folder or its chip.cfg. */
static void open_levels(const char *name, struct tmx_chip *chip, struct tmx_err *err)
{
    char path[TMX_PATH_SIZE], folder[TMX_PATH_SIZE];
    const size_t end = tmx_text_ends(name, "/chip.cfg") ? strlen("/chip.cfg") : 0;
    snprintf(folder, sizeof folder, "%.*s", (int)(strlen(name) - end), name);
    (void)(err->code || tmx_data_find(TMX_DATA_CHIP, folder, path, err) || tmx_chip_open(chip, path, err));
}

static void run(void *args, struct tmx_err *err)
{
    struct args *a = args;
    struct tmx_measured m = {0};
    struct tmx_calibration c = {0};
    struct tmx_chip levels = {0};
    const struct tmx_log say = {tmx_measured_say, &a->log};
    struct tmx_calibrate_options o = {.air = a->air,
                                      .split = isnan(a->split) ? 1 : a->split,
                                      .rpm = tmx_measured_rpm(&a->log),
                                      .same_work = a->same_work,
                                      .alike = a->alike,
                                      .leave_one_out = !a->no_check,
                                      .levels = a->levels ? &levels : NULL};
    a->log.command = "calibrate";
    if (!a->dir) {
        tmx_error(err, TMX_ECONFIG, "where to? -o DIR");
    }
    tmx_measured_ambient(&a->log, &o.ambient, &o.ambient_c, err);
    tmx_measured_power_is(a->power_is, &o.power_is, &o.power_window_s, err);
    if (a->levels) {
        open_levels(a->levels, &levels, err);
    }
    tmx_measured_open(&a->log, &a->logs, &m, err);
    (void)(err->code || tmx_calibrate(&c, &m, &o, &say, err));
    tmx_log_say(&say, TMX_LOG_PROGRESS, "%s", "");
    (void)(err->code || tmx_calibrated_print(&c, &m, stdout, err) ||
           tmx_calibrated_write(&c, &m, &o, a->dir, err));
    if (!err->code && !a->no_figures) {
        struct tmx_plot p = {.dir = a->dir, .format = "svg", .quiet = true};
        struct tmx_err none = {0}; /* without gnuplot the numbers are still good */
        if (tmx_plot_begin(&p, &none) || tmx_measured_figures(&p, &m, c.predicted, NULL)) {
            tmx_measured_say(&a->log, TMX_LOG_WARNING, none.msg);
        }
    }
    if (!err->code) {
        tmx_print_visible(stdout, "%s/fit.csv, covariance.csv, residuals.csv, node.cfg, chips/, how.txt\n",
                          a->dir);
    }
    tmx_calibration_finish(&c);
    tmx_measured_finish(&m);
    tmx_chip_finish(&levels);
}

const struct tmx_command tmx_cmd_calibrate = {
    .name = "calibrate",
    .summary = "fit a GPU or a node to measured power and temperature",
    .doc = "Fit a GPU's or a node's thermal parameters to measured power and temperature. Each comes with "
           "its standard error and whether the log identifies it. Parameters that the log does not identify "
           "are listed by name and left out.",
    .notes = "docs/measure.md describes eight minutes of load that make a good log.",
    .examples = "thermix calibrate gpu.csv -o mine\n"
                "thermix calibrate workloads/measured/b200_hgx8.csv.gz --runs "
                "0108_auto_400w,0108_auto_1000w_tc --ambient fit -o b200\n"
                "thermix calibrate workloads/measured/pulses_3090.csv.gz --split 0.5 -o 3090",
    TMX_OPERANDS(args, logs, 1, 64, "LOG...", FILE, "which log?"),
    .keeps = true,
    TMX_RUNS(args),
};

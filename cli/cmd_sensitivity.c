/* SPDX-License-Identifier: GPL-3.0-or-later */
/* thermix sensitivity: what each axis of a study does to a metric. */
#include "base/plausible.h"
#include "cli/commands.h"
#include "study/analysis/analysis.h"

struct args {
    struct tmx_texts db;
    const char *metric, *out;
    bool all;
    struct tmx_print print;
};

static const struct tmx_arg rows[] = {
    TMX_ARG(args, metric, TEXT, "value", 0, .value = "METRIC", .names = TMX_NAMES_METRIC,
            .doc = "the metric to explain, for example peak_temp_c"),
    TMX_ARG_ALL(args, all),
    TMX_ARG_TABLE(args),
    TMX_ARG_TABLE_TO(args, out, "write to FILE"),
    {0},
};

static void run(void *args, struct tmx_err *err)
{
    static const char *const prefer[] = {"axis",      "value",  "effect", "effect_ci95",
                                         "share_pct", "change", "per"};
    struct args *a = args;
    const struct tmx_screen screen = {.prefer = prefer, .n_prefer = sizeof prefer / sizeof prefer[0]};
    struct tmx_result_set set = {0};
    struct tmx_table *t = NULL;
    size_t metric = 0;
    if (!tmx_results_load(&set, a->db.text[0], a->all ? TMX_RESULTS_ALL : TMX_RESULTS_POINTS, err)) {
        tmx_results_note(&set, stderr);
    }
    if (!err->code && !a->metric && tmx_result_find(set.metric, set.n_metric, a->out) < set.n_metric) {
        tmx_warn("--output is a file; a metric is --value %s", a->out); /* as 1.0 had it */
        a->metric = a->out;
        a->out = "-";
    }
    if (!a->metric) {
        tmx_error(err, TMX_ECONFIG, "which metric? For example --value slowdown_pct");
    }
    if (!err->code && !tmx_metric_index(&set, a->metric, &metric, err)) {
        tmx_effects(&set, metric, &t, err);
    }
    tmx_print_end(t, &a->print, a->out, &screen, err);
    tmx_result_set_finish(&set);
}

const struct tmx_command tmx_cmd_sensitivity = {
    .name = "sensitivity",
    .summary = "how much each axis of a study moves a metric",
    .doc = "How much each axis of a study moves one metric.",
    .notes = "effect: what each value adds to the mean over the values of its axis, and from the first to "
             "the second named value, with half the 95 % interval (effect_ci95); share_pct: of the variance "
             "over the runs; change: for 1 % of an axis of numbers or 1 K of a temperature. Also "
             "standardised regression coefficients with standard errors, and Sobol indices when the study "
             "was sampled with sample.method = \"indices\".",
    .examples = "thermix sensitivity cooling.sqlite --value peak_temp_c",
    TMX_OPERANDS(args, db, 1, 1, "DB", FILE, "which database?"),
    TMX_RUNS(args),
};

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* thermix sensitivity: what each axis of a study does to a metric. */
#include "cli/commands.h"
#include "study/analysis/effects.h"
#include "study/analysis/pivot.h"
#include "study/table_out.h"

struct args {
    struct tmx_texts db, columns;
    const char *metric, *out;
    int format;
    bool all;
};

static const struct tmx_arg rows[] = {
    TMX_ARG(args, metric, TEXT, "output", 0, .value = "METRIC", .names = TMX_NAMES_METRIC,
            .doc = "the metric to explain, for example peak_temp_c"),
    TMX_ARG_ALL(args, all),
    TMX_ARG_FORMAT(args, format),
    TMX_ARG(args, columns, LIST, "columns", 0, .value = "NAME,...", .doc = "these columns, in this order"),
    TMX_ARG(args, out, TEXT, "file", 'o', .value = "FILE", .def = "-", .names = TMX_NAMES_FILE,
            .doc = "write to FILE"),
    {0},
};

static enum tmx_status run(void *args, struct tmx_err *err)
{
    const struct args *a = args;
    struct tmx_result_set set = {0};
    struct tmx_table *t = NULL;
    size_t metric = 0;
    if (!a->metric) {
        return tmx_fail(err, TMX_ECONFIG, "which metric? For example --output slowdown_pct");
    }
    enum tmx_status st =
        tmx_results_load(&set, a->db.text[0], a->all ? TMX_RESULTS_ALL : TMX_RESULTS_POINTS, err);
    if (!st) {
        tmx_results_note(&set, stderr);
    }
    st = st ? st : tmx_metric_index(&set, a->metric, &metric, err);
    st = st ? st : tmx_effects(&set, metric, &t, err);
    st = st ? st
            : tmx_table_save_columns(t, (enum tmx_format)a->format, a->out,
                                     (const char *const *)a->columns.text, a->columns.n, err);
    tmx_table_destroy(t);
    tmx_result_set_finish(&set);
    return st;
}

const struct tmx_command tmx_cmd_sensitivity = {
    .name = "sensitivity",
    .summary = "how much each axis of a study moves a metric",
    .doc = "How much each axis of a study moves one metric.",
    .notes = "Elasticities and standardised regression coefficients with standard errors; Sobol indices when "
             "the study "
             "was sampled with sample.method = \"indices\".",
    .examples = "thermix sensitivity cooling.sqlite --output peak_temp_c",
    .args = rows,
    .operands = "DB",
    .operand = offsetof(struct args, db),
    .min_operand = 1,
    .max_operand = 1,
    .which = "which database?",
    .operand_names = TMX_NAMES_FILE,
    .size = sizeof(struct args),
    .run = run,
};

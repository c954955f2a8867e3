/* SPDX-License-Identifier: GPL-3.0-or-later */
/* thermix consolidate: merge these jobs? */
#include <math.h>

#include <thermix/policy.h>

#include "base/plausible.h"
#include "cli/commands.h"
#include "papers/suite.h"
#include "run/load/job_files.h"

struct args {
    struct tmx_texts batch;
    struct tmx_sets sets;
    const char *node;
    double temp_c;
    bool decide;
    struct tmx_print print;
};

static const struct tmx_arg rows[] = {
    TMX_ARG(args, decide, FLAG, "decide", 0,
            .doc = "print the decision, its margin and the best grouping instead of the times"),
    TMX_ARG(args, node, TEXT, "node", 0, .value = "NODE", .def = "c1060", .names = TMX_NAMES_NODE,
            .doc = "node's name or file"),
    TMX_ARG(args, sets, SETS, "set", 0, .value = "KEY=VALUE",
            .doc = "override a key of the node, as in gpu.redistribution=greedy; may be repeated"),
    TMX_ARG(args, temp_c, REAL, "temp", 0, .value = "C", .min = -TMX_ZERO_C, .max = 1000,
            .doc = "chip temperature; without it the node's reference"),
    TMX_ARG_TABLE_IF(args, .apart = "decide"),
    {0},
};

static void run(void *args, struct tmx_err *err)
{
    const struct args *a = args;
    struct tmx_job_data d = {0};
    struct tmx_job_batch j;
    if (tmx_job_data_load(&d, a->node, &a->sets, err)) {
        return;
    }
    const double temp_c = isnan(a->temp_c) ? d.node.reference_c : a->temp_c;
    if (!isnan(a->temp_c) && d.node.temperature_w_per_k == 0) {
        tmx_error(err, TMX_ECONFIG, "--temp does nothing: %s has temperature_w_per_k = 0", a->node);
    } else if (!tmx_plausible("", "temp_c", "degC", temp_c, "--temp", 0, err) &&
               !tmx_job_batch_load(&d, a->batch.text[0], &j, err)) {
        if (a->decide) {
            (void)!tmx_merge_print(&d, &j, temp_c, stdout, err);
        } else {
            struct tmx_table *t = NULL;
            (void)!tmx_merge_table(&d, &j, temp_c, &t, err);
            tmx_print_end(t, &a->print, "-", NULL, err);
        }
    }
    tmx_job_data_finish(&d);
}

const struct tmx_command tmx_cmd_consolidate = {
    .name = "consolidate",
    .summary = "time and energy of merged small jobs, and whether to merge them",
    .doc = "Predict time and energy of a MIX of instances (workloads/batches or a file) on the CPU, merged "
           "by hand, merged by the framework, and one after another; or decide.",
    .examples = "thermix consolidate 1S+20B --decide",
    TMX_OPERANDS(args, batch, 1, 1, "MIX", BATCH, "missing MIX"),
    TMX_RUNS(args),
};

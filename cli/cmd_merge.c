/* SPDX-License-Identifier: GPL-3.0-or-later */
/* thermix merge: the databases of a study's parts, joined. */
#include <stdio.h>

#include "cli/commands.h"
#include "study/results.h"

struct args {
    struct tmx_texts from;
    const char *out;
};

static const struct tmx_arg rows[] = {
    TMX_ARG(args, out, TEXT, "output", 'o', .value = "DB", .names = TMX_NAMES_FILE,
            .doc = "database to make or to add to"),
    {0},
};

static void run(void *args, struct tmx_err *err)
{
    const struct args *a = args;
    struct tmx_result_set set = {0};
    if (!a->out) {
        tmx_error(err, TMX_ECONFIG, "expected databases and -o DB");
    }
    if (!tmx_results_merge(a->out, a->from.text, a->from.n, err) &&
        !tmx_results_load(&set, a->out, TMX_RESULTS_ALL, err)) {
        tmx_print_visible(stdout, "%zu runs of %zu points; %s\n", set.n_run, set.n_point, a->out);
    }
    tmx_result_set_finish(&set);
}

const struct tmx_command tmx_cmd_merge = {
    .name = "merge",
    .summary = "join the databases of one study's parts",
    .doc = "Join the databases of one study's parts.",
    .notes = "A run that is in several parts is taken once. A finished run replaces a failed one. A DB may "
             "be the folder of a suite (thermix table SUITE -o DIR).",
    .examples = "thermix sweep cooling --shard 1/2 -o a.sqlite\n"
                "thermix sweep cooling --shard 2/2 -o b.sqlite\n"
                "thermix merge a.sqlite b.sqlite -o all.sqlite",
    TMX_OPERANDS(args, from, 1, 100000, "DB...", FILE, "expected databases and -o DB"),
    TMX_RUNS(args),
};

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cli/cmd_points.c: thermix points, what a study would run. */
#include "cli/commands.h"
#include "run/load/data.h"
#include "study/sweep.h"
#include "study/table_out.h"

struct args {
    struct tmx_texts sweep; /* words of the command line without dashes */
    const char *out;
    int format;
};

static const struct tmx_arg rows[] = {
    TMX_ARG(args, out, TEXT, "out", 'o', .value = "FILE", .def = "-", .names = TMX_NAMES_FILE,
            .doc = "write to FILE"),
    TMX_ARG_FORMAT(args, format),
    {0},
};

/* Its errors stay (base/err.h). */
static void run(void *args, struct tmx_err *err)
{
    const struct args *a = args;
    struct tmx_sweep sweep = {0};
    char path[TMX_PATH_SIZE];
    (void)(tmx_data_find(TMX_DATA_SUITE, a->sweep.text[0], path, err) || tmx_sweep_load(&sweep, path, err));
    struct tmx_table *t = tmx_sweep_table(&sweep);
    tmx_table_save(t, (enum tmx_format)a->format, a->out, err);
    tmx_table_destroy(t);
    tmx_sweep_finish(&sweep);
}

const struct tmx_command tmx_cmd_points = {
    .name = "points",
    .summary = "what a study would run",
    .doc = "Print the points of a study, a row each.",
    .examples = "thermix points cooling --format csv",
    .args = rows,
    .operands = "SWEEP",
    .operand = offsetof(struct args, sweep),
    .min_operand = 1,
    .max_operand = 1,
    .which = "which study? `thermix list studies` names them",
    .operand_names = TMX_NAMES_SUITE,
    .size = sizeof(struct args),
    .run = run,
};

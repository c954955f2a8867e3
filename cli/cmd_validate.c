/* SPDX-License-Identifier: GPL-3.0-or-later */
/* thermix validate: every stored measurement beside what thermix makes of it. */
#include "cli/commands.h"
#include "measure/validate.h"
#include "study/table_out.h"

struct args {
    const char *out;
    int format;
    struct tmx_texts none;
};

static const struct tmx_arg rows[] = {
    TMX_ARG(args, out, TEXT, "output", 'o', .value = "FILE", .names = TMX_NAMES_FILE,
            .doc = "also write the table to FILE as CSV"),
    TMX_ARG_FORMAT(args, format),
    {0},
};

static enum tmx_status run(void *args, struct tmx_err *err)
{
    const struct args *a = args;
    static const char *const prefer[] = {"what", "quantity", "ours", "bar", "unit", "holds"};
    const struct tmx_screen screen = {.prefer = prefer, .n_prefer = sizeof prefer / sizeof prefer[0]};
    struct tmx_table *t = NULL;
    size_t missed;
    enum tmx_status st = tmx_validate(&t, &missed, err);
    st = st ? st : tmx_table_show(t, (enum tmx_format)a->format, &screen, err);
    st = st || !a->out ? st : tmx_table_save(t, TMX_FORMAT_CSV, a->out, err);
    tmx_table_destroy(t);
    return st || missed == 0 ? st : tmx_fail(err, TMX_ESOLVE, "%zu of the claims do not hold", missed);
}

const struct tmx_command tmx_cmd_validate = {
    .name = "validate",
    .summary = "compare thermix with measurements of real GPUs",
    .doc = "Calibrate to parts of the stored measurements, predict the rest, repeat HotSpot's stored "
           "outputs, and print one table of quantities, sources, our errors and the largest error allowed.",
    .notes = "The exit code is 1 if a claim does not hold. HotSpot's stored outputs are repeated with its "
             "conventions and its step. If they are not among the data, the row reads `not installed`.",
    .examples = "thermix validate -o validation.csv",
    .args = rows,
    .operand = offsetof(struct args, none),
    .keeps = true,
    .size = sizeof(struct args),
    .run = run,
};

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* thermix validate: every stored measurement beside what thermix makes of it. */
#include "cli/commands.h"
#include "measure/silicon.h"
#include "measure/validate.h"
#include "study/table_out.h"

struct args {
    const char *out, *figures;
    int format;
    struct tmx_texts none;
};

static const struct tmx_arg rows[] = {
    TMX_ARG(args, out, TEXT, "output", 'o', .value = "FILE", .names = TMX_NAMES_FILE,
            .doc = "also write the table to FILE as CSV"),
    TMX_ARG(args, figures, TEXT, "figures", 0, .value = "DIR",
            .doc = "also draw the measurements of chips, servers and halls beside ours into DIR"),
    TMX_ARG_FORMAT(args, format),
    {0},
};

static enum tmx_status run(void *args, struct tmx_err *err)
{
    const struct args *a = args;
    static const char *const prefer[] = {"what", "quantity", "measured", "ours", "bar", "origin", "holds"};
    const struct tmx_screen screen = {.prefer = prefer, .n_prefer = sizeof prefer / sizeof prefer[0]};
    struct tmx_table *t = NULL, *points = NULL;
    size_t missed;
    enum tmx_status st = a->figures ? tmx_silicon_points(&points, err) : TMX_OK;
    st = st ? st : tmx_validate(&t, &missed, points, err);
    st = st ? st : tmx_table_show(t, (enum tmx_format)a->format, &screen, err);
    st = st || !a->out ? st : tmx_table_save(t, TMX_FORMAT_CSV, a->out, err);
    st = st || !a->figures ? st : tmx_silicon_draw(points, a->figures, err);
    tmx_table_destroy(t);
    tmx_table_destroy(points);
    return st || missed == 0 ? st : tmx_fail(err, TMX_ESOLVE, "%zu of the claims do not hold", missed);
}

const struct tmx_command tmx_cmd_validate = {
    .name = "validate",
    .summary = "compare thermix with measurements of real GPUs",
    .doc = "Calibrate to parts of the stored measurements, predict the rest, repeat HotSpot's stored "
           "outputs, run chips, cards, servers and halls as they were measured, and print one table of "
           "quantities, "
           "sources, measured values, ours, bands and where ours come from.",
    .notes = "The exit code is 1 if a claim does not hold. HotSpot's stored outputs are repeated with its "
             "conventions and its step. If they are not among the data, the row reads `not installed`.",
    .examples = "thermix validate -o validation.csv --figures validation",
    .args = rows,
    .operand = offsetof(struct args, none),
    .keeps = true,
    .size = sizeof(struct args),
    .run = run,
};

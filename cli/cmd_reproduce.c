/* SPDX-License-Identifier: GPL-3.0-or-later */
/* thermix reproduce: papers against ours. */
#include "base/output.h"
#include "cli/commands.h"
#include "papers/values.h"

struct args {
    struct tmx_texts dir;
    const char *out, *notes;
    struct tmx_print print;
};

static const struct tmx_arg rows[] = {
    TMX_ARG(args, out, TEXT, "out", 'o', .value = "FILE", .def = "-", .names = TMX_NAMES_FILE,
            .doc = "write to FILE"),
    TMX_ARG(args, notes, TEXT, "notes", 'n', .value = "DIR", .def = "docs/notes", .names = TMX_NAMES_FOLDER,
            .doc = "hand-written notes: DIR/<suite>.md, or `## Suite <suite>` in the file of its family"),
    TMX_ARG(args, print.format, WORD, "format", 0, .words = tmx_formats, .def = "markdown",
            .doc = "the report (markdown), or only the values, one per row"),
    TMX_ARG(args, print.columns, LIST, "columns", 0, .value = "NAME,...",
            .doc = "the values, with these columns"),
    {0},
};

static void run(void *args, struct tmx_err *err)
{
    const struct args *a = args;
    struct tmx_output o;
    if (a->print.format != TMX_FORMAT_MARKDOWN || a->print.columns.n > 0) { /* the values of all folders */
        struct tmx_table *t = NULL;
        (void)!tmx_paper_stack(a->dir.text, a->dir.n, &t, err);
        tmx_print_end(t, &a->print, a->out, NULL, err);
        return;
    }
    (void)(tmx_output_open(&o, a->out, err) || tmx_reproduce(a->dir.text, a->dir.n, a->notes, o.file, err));
    tmx_output_end(&o, err);
}

const struct tmx_command tmx_cmd_reproduce = {
    .name = "reproduce",
    .summary = "report of our results beside those of the papers",
    .doc = "Write the reproduction report from the paper.csv files that `thermix table` wrote.",
    .examples = "thermix reproduce out/tabs out/tabs-leaky -o report.md\n"
                "thermix reproduce out/tabs --format csv -o values.csv",
    TMX_OPERANDS(args, dir, 1, 1000, "DIR...", FOLDER,
                 "name the folders that `thermix table SUITE -o DIR` wrote"),
    TMX_RUNS(args),
};

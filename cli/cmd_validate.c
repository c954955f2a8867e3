/* SPDX-License-Identifier: GPL-3.0-or-later */
/* thermix validate: every stored measurement beside what thermix makes of it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/os.h"
#include "cli/commands.h"
#include "measure/measure.h"

struct args {
    const char *out, *figures;
    long jobs;
    bool quiet;
    struct tmx_texts parts;
    struct tmx_print print;
};

static const struct tmx_arg rows[] = {
    TMX_ARG(args, out, TEXT, "output", 'o', .value = "FILE", .names = TMX_NAMES_FILE,
            .doc = "also write the table to FILE as CSV"),
    TMX_ARG(args, figures, TEXT, "figures", 0, .value = "DIR",
            .doc = "also draw the measurements of chips, servers and halls beside ours into DIR"),
    TMX_ARG_JOBS(args, jobs),
    TMX_ARG_QUIET(args, quiet),
    TMX_ARG_TABLE(args),
    {0},
};

/* A list in words; what does not fit is left out. */
static void append(char text[700], const char *word)
{
    const size_t n = strlen(text);
    snprintf(text + n, 700 - n, "%s%s", n ? ", " : "", word);
}

/* The first line for people. */
static void headline(const struct tmx_table *t)
{
    const size_t holds = tmx_table_find(t, "holds"), seen = tmx_table_find(t, "seen");
    size_t n[2] = {0}, of[2] = {0};
    for (size_t i = 0; i < tmx_table_rows(t); i++) {
        const char *word = tmx_table_cell(t, i, holds)->text;
        const bool unseen = strcmp(tmx_table_cell(t, i, seen)->text, "unseen") == 0;
        n[unseen] += strcmp(word, "yes") == 0;
        of[unseen] += strcmp(word, "yes") == 0 || strcmp(word, "no") == 0;
    }
    const struct tmx_bold bold = tmx_os_bold(stdout);
    printf("%s%zu of %zu targets are within their bands", bold.on, n[0] + n[1], of[0] + of[1]);
    if (of[1] > 0) {
        printf(": %zu of the %zu whose measurement was unseen, which come first", n[1], of[1]);
    }
    printf(".%s\n\n", bold.off);
}

/* One line: which rows are out of their bands, and which of them without a known reason. */
static void verdict(const struct tmx_table *t, struct tmx_err *err)
{
    const size_t holds = tmx_table_find(t, "holds"), known = tmx_table_find(t, "known"),
                 quantity = tmx_table_find(t, "quantity");
    size_t n = 0;
    char with[700] = "", without[700] = "";
    for (size_t i = 0; i < tmx_table_rows(t); i++) {
        if (strcmp(tmx_table_cell(t, i, holds)->text, "no") == 0) {
            append(tmx_table_cell(t, i, known)->text[0] ? with : without,
                   tmx_table_cell(t, i, quantity)->text);
            n++;
        }
    }
    if (n > 0) {
        tmx_error(
            err, TMX_ESOLVE,
            "%zu of %zu rows are out of their bands. Known, column `known` has the reason: %s. Not known: "
            "%s",
            n, tmx_table_rows(t), with[0] ? with : "none", without[0] ? without : "none");
    }
}

static void run(void *args, struct tmx_err *err)
{
    const struct args *a = args;
    static const char *const prefer[] = {"quantity", "measured", "ours",     "bar",   "unit",
                                         "origin",   "seen",     "protocol", "holds", "what"};
    const struct tmx_screen screen = {.prefer = prefer, .n_prefer = sizeof prefer / sizeof prefer[0]};
    struct tmx_table *t = NULL;
    struct tmx_silicon_points points = {0};
    for (size_t i = 0; i < a->parts.n; i++) {
        char known[700] = "";
        bool found = false;
        for (size_t k = 0; tmx_validate_parts[k]; k++) {
            found = found || strcmp(tmx_validate_parts[k], a->parts.text[i]) == 0;
            append(known, tmx_validate_parts[k]);
        }
        if (!found) {
            tmx_error(err, TMX_ECONFIG, "unknown part \"%s\", expected one of %s", a->parts.text[i], known);
        }
    }
    const struct tmx_validate_options o = {.part = a->parts.text,
                                           .n_part = a->parts.n,
                                           .n_worker = (unsigned)a->jobs,
                                           .quiet = a->quiet,
                                           .points = a->figures ? &points : NULL};
    if (!err->code && !tmx_validate(&t, &o, err) && a->print.format == TMX_FORMAT_TEXT) {
        headline(t);
    }
    tmx_print(t, &a->print, "-", &screen, err);
    if (a->out) {
        tmx_table_save(t, TMX_FORMAT_CSV, a->out, err);
    }
    (void)(!err->code && a->figures && tmx_validate_draw(&points, a->figures, err));
    if (!err->code) {
        verdict(t, err);
    }
    tmx_table_destroy(t);
    free(points.point);
}

const struct tmx_command tmx_cmd_validate = {
    .name = "validate",
    .summary = "compare thermix with measurements of real GPUs",
    .doc = "Calibrate to parts of the stored measurements, predict the rest, repeat HotSpot's stored "
           "outputs, run chips, cards, servers and halls as they were measured, and print one table of "
           "quantities, sources, measured values, ours, bands and where ours come from. Without PART all of "
           "it; one or more parts do these alone.\n\n"
           "Parts: b200 pulses accelwattch hotspot longhorn zeus maxq wall steps kalos lit-silicon",
    .notes = "The exit code is 1 if a row is out of its band; the last line names these rows, and column "
             "`known` has the reason where it is known. `seen`: the measured value was known while a "
             "constant, a load or a reading that the row depends on was chosen. Protocol `favourable`: "
             "judged with the best pair of runs and an ambient fitted to each; `held out`: nothing of a "
             "judged run but its watts. HotSpot's stored outputs are repeated with its conventions and its "
             "step. What is not among the data reads `not installed`.",
    .examples = "thermix validate -o validation.csv --figures validation\n"
                "thermix validate longhorn steps",
    TMX_OPERANDS(args, parts, 0, SIZE_MAX, "[PART...]", WORDS, NULL),
    .operand_words = tmx_validate_parts,
    .keeps = true,
    TMX_RUNS(args),
};

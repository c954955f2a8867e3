/* SPDX-License-Identifier: GPL-3.0-or-later */
/* thermix check: is this file in order? */
#include "cli/commands.h"
#include "cli/parts/check_file.h"

struct args {
    struct tmx_texts config, set;
    int format;
};

static const struct tmx_arg rows[] = {TMX_ARG_SET(args, set, ""), TMX_ARG_FORMAT(args, format), {0}};

static enum tmx_status run(void *args, struct tmx_err *err)
{
    const struct args *a = args;
    return tmx_check_file(a->config.text[0], (const char *const *)a->set.text, a->set.n,
                          (enum tmx_format)a->format, stdout, err);
}

const struct tmx_command tmx_cmd_check = {
    .name = "check",
    .summary = "check a run, suite, study, mix, kernel, chip or system without running it",
    .doc = "Check a file and everything it names: a run (printed resolved), suite, study, mix, kernel, chip, "
           "system, batch or node of the job level. FILE is a file, a chip's folder, or a name of `thermix "
           "list`.",
    .notes = "No module is loaded: a warning names each policy of one, which is therefore not checked.\n\n"
             "With --format csv, markdown or json: rows of file, kind, key and value. Overrides (--set) are "
             "for runs; of a suite's runs they start with base.",
    .examples = "thermix check wl1\n"
                "thermix check tabs\n"
                "thermix check wl1 --set policy=MNU --format json\n"
                "thermix check floorplans/gtx280",
    .args = rows,
    .operands = "FILE",
    .operand = offsetof(struct args, config),
    .min_operand = 1,
    .max_operand = 1,
    .which = "which configuration?",
    .operand_names = TMX_NAMES_DATA,
    .size = sizeof(struct args),
    .run = run,
};

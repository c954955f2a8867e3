/* SPDX-License-Identifier: GPL-3.0-or-later */
/* thermix list: what there is to choose from. */
#include <stdio.h>

#include "cli/commands.h"
#include "run/registry.h"
#include "study/table_out.h"

struct args {
    struct tmx_texts what, module, columns;
    bool options;
    int format;
};

static const struct tmx_arg rows[] = {
    TMX_ARG(args, options, FLAG, "options", 'v',
            .doc = "also print every option of the policies and back-ends, or every number of the chips with "
                   "its source"),
    TMX_ARG(args, module, TEXTS, "module", 0, .value = "FILE", .names = TMX_NAMES_FILE,
            .doc = "policies: also list those of this shared object; may be repeated"),
    TMX_ARG_FORMAT(args, format),
    TMX_ARG_COLUMNS(args, columns),
    {0},
};

static enum tmx_status run(void *args, struct tmx_err *err)
{
    const struct args *a = args;
    const char *what = a->what.text[0];
    struct tmx_catalog *catalog = NULL;
    const struct tmx_screen screen = {
        .column = (const char *const *)a->columns.text, .n_column = a->columns.n, .wrap = true};
    struct tmx_table *t = NULL;
    enum tmx_status st = tmx_catalog_create(&catalog, err);
    for (size_t i = 0; i < a->module.n && !st; i++) {
        st = tmx_catalog_load(catalog, a->module.text[i], err);
    }
    st = st ? st : tmx_choices_table(catalog, what, &t, err);
    st = st ? st : tmx_table_show(t, (enum tmx_format)a->format, &screen, err);
    if (!st && a->options && a->format == TMX_FORMAT_TEXT) {
        tmx_choices_keys(catalog, what, stdout);
    }
    tmx_table_destroy(t);
    tmx_catalog_destroy(catalog);
    return st;
}

const struct tmx_command tmx_cmd_list = {
    .name = "list",
    .summary = "runs, suites, studies, mixes, kernels, chips, policies, backends, metrics",
    .doc = "Print the available choices with their sources. WHAT: runs, suites, studies, mixes, kernels, "
           "chips, systems, batches, policies, backends or metrics.",
    .examples = "thermix list policies -v\n"
                "thermix list policies --module ./my_policy.so",
    .args = rows,
    .operands = "WHAT",
    .operand = offsetof(struct args, what),
    .min_operand = 1,
    .max_operand = 1,
    .which = "list what? runs, suites, studies, mixes, kernels, chips, systems, batches, policies, backends "
             "or metrics",
    .operand_words = tmx_choices,
    .size = sizeof(struct args),
    .run = run,
};

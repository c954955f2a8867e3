/* SPDX-License-Identifier: GPL-3.0-or-later */
/* thermix list: what there is to choose from. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "cli/commands.h"
#include "core/floorplan/chip.h"
#include "core/serve/llm.h"
#include "core/topology/topology.h"
#include "core/workload/kernel.h"
#include "core/workload/mix.h"
#include "kernels/memory.h"
#include "papers/suite.h"
#include "papers/values.h"
#include "power/chip_energy.h"
#include "run/cta.h"
#include "run/load/gate_files.h"
#include "run/load/job_files.h"
#include "run/options.h"
#include "run/registry.h"
#include "study/sweep.h"

struct args {
    struct tmx_texts what, module;
    bool options;
    struct tmx_print print;
};

static const struct tmx_arg rows[] = {
    TMX_ARG(args, options, FLAG, "options", 'v', .of = "policies backends chips",
            .doc = "also print every option of the policies and back-ends, or every number of the chips with "
                   "its source"),
    TMX_ARG(args, module, TEXTS, "module", 0, .of = "policies", .value = "FILE", .names = TMX_NAMES_FILE,
            .doc = "policies: also list those of this shared object; may be repeated"),
    TMX_ARG_TABLE(args),
    {0},
};

/* `list keys`: the rows that the readers of a kind of file have. */
static const struct {
    const char *file;
    const struct tmx_keys *keys;
} key_tables[] = {
    {"run", tmx_run_file_keys},
    {"run", tmx_cta_keys},
    {"run", tmx_serve_keys},
    {"chip", tmx_chip_keys},
    {"chip", tmx_memory_chip_keys},
    {"chip", tmx_chip_energy_keys},
    {"kernel", tmx_kernel_keys},
    {"kernel", tmx_code_kernel_keys},
    {"kernel", tmx_memory_kernel_keys},
    {"kernel", tmx_job_kernel_keys},
    {"mix", tmx_mix_keys},
    {"topology", tmx_topology_keys},
    {"llm", tmx_llm_keys},
    {"study", tmx_study_keys},
    {"suite", tmx_suite_keys},
    {"suite", tmx_value_keys},
    {"node", tmx_node_keys},
    {"batch", tmx_batch_keys},
    {"sm", tmx_sm_keys},
};

static void add_key(struct tmx_table *t, const char *file, const char *group, const struct tmx_opt *o)
{
    char key[128], range[512] = "", def[128] = "";
    const bool number = o->type == TMX_OPT_INT || o->type == TMX_OPT_REAL;
    snprintf(key, sizeof key, "%s%s%s", group, group[0] ? "." : "", o->key);
    if (number) {
        snprintf(range, sizeof range, "%g to %g", o->min, o->max);
    }
    for (size_t i = 0; o->type == TMX_OPT_CHOICE && o->choices[i]; i++) {
        tmx_text_add(range, sizeof range, "%s%s", i ? ", " : "", o->choices[i]);
    }
    if (o->type == TMX_OPT_BOOL) {
        snprintf(def, sizeof def, "%s", o->def != 0 ? "true" : "false");
    } else if (number ? isnan(o->def) : !o->def_text) {
        snprintf(def, sizeof def, "required");
    } else if (number) {
        snprintf(def, sizeof def, fabs(o->def) == 1e300 ? "none" : "%g", o->def);
    } else {
        snprintf(def, sizeof def, "\"%s\"", o->def_text);
    }
    tmx_table_row(t, "%s %s %s %s %s %s", file, key,
                  number                    ? o->unit
                  : o->type == TMX_OPT_BOOL ? "bool"
                                            : "text",
                  range, def, o->doc);
}

static void add_keys(struct tmx_table *t, const char *file, const char *outer, const struct tmx_keys *k)
{
    for (; k && k->group; k++) {
        char group[200];
        snprintf(group, sizeof group, "%s%s%s", outer, outer[0] ? "." : "", k->group);
        for (const struct tmx_opt *o = k->opts; o && o->key; o++) {
            add_key(t, file, group, o);
        }
        add_keys(t, file, group, k->inner); /* NOLINT(misc-no-recursion): as deep as the rows are */
    }
}

static struct tmx_table *keys_table(const char *file, struct tmx_err *err)
{
    struct tmx_table *t = tmx_table_of("file key unit range default doc");
    for (size_t i = 0; i < sizeof key_tables / sizeof key_tables[0]; i++) {
        if (!file || strcmp(file, key_tables[i].file) == 0) {
            add_keys(t, key_tables[i].file, "", key_tables[i].keys);
        }
    }
    if (!tmx_table_check(t, err) && tmx_table_rows(t) == 0) {
        tmx_error(
            err, TMX_ECONFIG,
            "keys of \"%s\"? of a run, chip, kernel, mix, topology, llm, study, suite, node, batch or sm",
            file);
    }
    return t;
}

static void run(void *args, struct tmx_err *err)
{
    const struct args *a = args;
    const char *what = a->what.text[0];
    struct tmx_catalog *catalog = NULL;
    struct tmx_table *t = NULL;
    (void)!tmx_catalog_create(&catalog, err);
    for (size_t i = 0; i < a->module.n && !err->code; i++) {
        (void)!tmx_catalog_load(catalog, a->module.text[i], err);
    }
    if (strcmp(what, "keys") == 0) {
        t = keys_table(a->what.n > 1 ? a->what.text[1] : NULL, err);
    } else if (a->what.n > 1) {
        tmx_error(err, TMX_ECONFIG, "%s: only `keys` takes a second word", what);
    } else if (!err->code) {
        t = tmx_choices_table(catalog, what, err);
    }
    tmx_print_end(t, &a->print, "-", &(struct tmx_screen){.wrap = true}, err);
    if (!err->code && a->options && a->print.format == TMX_FORMAT_TEXT) {
        tmx_choices_keys(catalog, what, stdout);
    }
    tmx_catalog_destroy(catalog);
}

const struct tmx_command tmx_cmd_list = {
    .name = "list",
    .summary = "runs, suites, studies, mixes, kernels, chips, policies, backends, metrics, keys",
    .doc = "Print the available choices with their sources. WHAT: runs, suites, studies, mixes, kernels, "
           "chips, systems, batches, policies, backends, metrics or keys; `keys FILE` prints the keys of one "
           "kind of file: run, chip, kernel, mix, topology, llm, study, suite, node, batch or sm.",
    .examples = "thermix list policies -v\n"
                "thermix list keys chip\n"
                "thermix list policies --module ./my_policy.so",
    TMX_OPERANDS(args, what, 1, 2, "WHAT [FILE]", NONE,
                 "list what? runs, suites, studies, mixes, kernels, chips, systems, batches, policies, "
                 "backends, metrics or keys"),
    .operand_words = tmx_choices,
    TMX_RUNS(args),
};

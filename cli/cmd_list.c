/* thermix list: what there is to choose from. */
#include <stdio.h>
#include <string.h>

#include "cli/commands.h"
#include "core/base/config.h"
#include "core/base/opt.h"
#include "papers/suite.h"
#include "power/power.h"
#include "run/input/data.h"
#include "run/presets.h"
#include "run/run.h"
#include "sched/gate/gate.h"
#include "sched/sched.h"
#include "thermal/thermal.h"

struct args {
    struct tmx_texts what;
    bool options;
};

static const struct tmx_arg rows[] = {
    {.name = "options",
     .letter = 'v',
     .type = TMX_ARG_FLAG,
     TMX_ARG_FIELD(args, options),
     .doc = "print every option of the policies and back-ends too"},
    {0},
};
static const char *const words[] = {"runs",    "suites",   "mixes",    "kernels", "chips", "systems",
                                    "batches", "policies", "backends", "metrics", NULL};

/* One line of a data file: its name and doc. */
static void print_file(const char *name, const char *path)
{
    struct tmx_config *cfg = NULL;
    const char *doc = "", *source = "";
    struct tmx_err ignored; /* a file that cannot be read is listed without its words */
    enum tmx_status st = tmx_config_open(&cfg, path, &ignored);
    st = st ? st : tmx_setting_word(tmx_config_root(cfg), "doc", "", &doc, &ignored);
    st = st ? st : tmx_setting_word(tmx_config_root(cfg), "source", "", &source, &ignored);
    doc = doc ? doc : "";
    source = st || !source ? "" : source;
    printf("%-22s %s%s%s%s\n", name, doc, *source ? " [" : "", source, *source ? "]" : "");
    tmx_config_close(cfg);
}

static enum tmx_status list_files(enum tmx_data kind, struct tmx_err *err)
{
    char **names;
    enum tmx_status st = tmx_data_names(kind, &names, err);
    if (st) {
        return st;
    }
    for (char **n = names; *n && !st; n++) {
        char path[TMX_PATH_SIZE], file[TMX_PATH_SIZE + 16];
        st = tmx_data_find(kind, *n, path, err);
        if (!st) {
            snprintf(file, sizeof file, "%s%s", path, kind == TMX_DATA_CHIP ? "/chip.cfg" : "");
            print_file(*n, file);
        }
    }
    tmx_data_names_free(names);
    return st;
}

static void list_plugins(const char *level, const void *const *table, bool options)
{
    printf("\n%s\n", level);
    for (; *table; table++) {
        const struct tmx_plugin *p = *table;
        printf("  %-22s %s [%s]\n", p->name, p->doc, p->source);
        if (options && p->opts) {
            tmx_opt_help(p->opts, "      ", stdout);
        }
    }
}

static void list_policies(bool options)
{
    printf("presets (key policy)\n");
    for (const struct tmx_preset *p = tmx_presets; p->name; p++) {
        printf("  %-10s %s: place %s, mix %s, dtm %s, tb %s\n", p->name, p->doc, p->place, p->mix, p->dtm,
               p->tb);
    }
    list_plugins("group job", (const void *const *)tmx_job_policies, options);
    list_plugins("group place", (const void *const *)tmx_place_policies, options);
    list_plugins("group mix_policy", (const void *const *)tmx_mix_policies, options);
    list_plugins("groups throttle, dtm", (const void *const *)tmx_dtm_policies, options);
    list_plugins("group fan", (const void *const *)tmx_fan_policies, options);
    list_plugins("group cta", (const void *const *)tmx_cta_policies, options);
    list_plugins("group tb", (const void *const *)tmx_tb_policies, options);
    list_plugins("unit gating (thermix gate)", (const void *const *)tmx_gate_policies, options);
}

static enum tmx_status run(void *args, struct tmx_err *err)
{
    static const struct {
        const char *what;
        enum tmx_data kind;
    } files[] = {{"chips", TMX_DATA_CHIP},   {"kernels", TMX_DATA_KERNEL}, {"mixes", TMX_DATA_MIX},
                 {"suites", TMX_DATA_SUITE}, {"systems", TMX_DATA_SYSTEM}, {"runs", TMX_DATA_RUN},
                 {"batches", TMX_DATA_BATCH}};
    const struct args *a = args;
    const char *what = a->what.text[0];
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        if (strcmp(files[i].what, what) == 0) {
            return list_files(files[i].kind, err);
        }
    }
    if (strcmp(what, "policies") == 0) {
        list_policies(a->options);
    } else if (strcmp(what, "backends") == 0) {
        list_plugins("thermal back-ends (key method)", (const void *const *)tmx_thermal_backends, a->options);
        list_plugins("power models", (const void *const *)tmx_power_models, a->options);
    } else {
        for (const struct tmx_metric *m = tmx_metrics; m->name; m++) {
            printf("%-26s %s\n", m->name, m->doc);
        }
    }
    return TMX_OK;
}

const struct tmx_command tmx_cmd_list = {
    .name = "list",
    .summary = "runs, suites, mixes, kernels, chips, policies, back-ends, metrics",
    .doc = "Print what there is to choose from, with sources.",
    .examples = "thermix list policies -v",
    .args = rows,
    .operands = "runs|suites|mixes|kernels|chips|systems|batches|policies|backends|metrics",
    .operand = offsetof(struct args, what),
    .min_operand = 1,
    .max_operand = 1,
    .which =
        "list what? runs, suites, mixes, kernels, chips, systems, batches, policies, backends or metrics",
    .operand_words = words,
    .size = sizeof(struct args),
    .run = run,
};

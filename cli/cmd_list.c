/* SPDX-License-Identifier: GPL-3.0-or-later */
/* thermix list: what there is to choose from. */
#include <stdio.h>
#include <string.h>

#include "cli/commands.h"
#include "core/base/config.h"
#include "core/base/opt.h"
#include "core/contract/gate_policy.h"
#include "papers/suite.h"
#include "run/input/data.h"
#include "run/presets.h"
#include "run/registry.h"
#include "run/run.h"

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

static void list_kind(size_t kind, const char *title, bool options)
{
    const struct tmx_plugin *p;
    printf("\n%s\n", title);
    for (size_t i = 0; (p = tmx_catalog_at(&tmx_builtin, kind, i)) != NULL; i++) {
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
    static const char *const titles[TMX_N_LEVEL] = {
        [TMX_LEVEL_JOB] = "group job",
        [TMX_LEVEL_PLACE] = "group place",
        [TMX_LEVEL_MIX] = "group mix_policy",
        [TMX_LEVEL_DTM] = "groups throttle, dtm",
        [TMX_LEVEL_CTA] = "group cta",
        [TMX_LEVEL_TB] = "group tb",
        [TMX_LEVEL_GATE] = "group gate, thermix gate",
        [TMX_LEVEL_FAN] = "group fan",
    };
    for (size_t level = 0; level < TMX_N_LEVEL; level++) {
        list_kind(level, titles[level], options);
    }
    if (options) {
        printf("  of every gating policy, in the chip's sm.cfg:\n");
        tmx_opt_help(tmx_gate_opts, "      ", stdout);
    }
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
        list_kind(TMX_KIND_BACKEND, "thermal back-ends (key method)", a->options);
        list_kind(TMX_KIND_POWER, "power models", a->options);
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

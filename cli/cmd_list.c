/* thermix list: what there is to choose from. */
#include <argp.h>
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
    const char *what;
    bool options;
};

static const struct argp_option argp_options[] = {
    {"options", 'v', NULL, 0, "print every option of the policies and back-ends too", 0},
    {0},
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct args *a = state->input;
    switch (key) {
    case 'v':
        a->options = true;
        return 0;
    case ARGP_KEY_ARG:
        a->what = arg;
        return 0;
    case ARGP_KEY_END:
        if (!a->what) {
            argp_error(state,
                       "list what? chips, kernels, mixes, policies, suites, systems, backends or metrics");
        }
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

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

static enum tmx_status list(const struct args *a, struct tmx_err *err)
{
    static const struct {
        const char *what;
        enum tmx_data kind;
    } files[] = {{"chips", TMX_DATA_CHIP},
                 {"kernels", TMX_DATA_KERNEL},
                 {"mixes", TMX_DATA_MIX},
                 {"suites", TMX_DATA_SUITE},
                 {"systems", TMX_DATA_SYSTEM}};
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        if (strcmp(files[i].what, a->what) == 0) {
            return list_files(files[i].kind, err);
        }
    }
    if (strcmp(a->what, "policies") == 0) {
        list_policies(a->options);
    } else if (strcmp(a->what, "backends") == 0) {
        list_plugins("thermal back-ends (key method)", (const void *const *)tmx_thermal_backends, a->options);
        list_plugins("power models", (const void *const *)tmx_power_models, a->options);
    } else if (strcmp(a->what, "metrics") == 0) {
        for (const struct tmx_metric *m = tmx_metrics; m->name; m++) {
            printf("%-26s %s\n", m->name, m->doc);
        }
    } else {
        return tmx_fail(
            err, TMX_ECONFIG,
            "\"%s\": expected chips, kernels, mixes, policies, suites, systems, backends or metrics",
            a->what);
    }
    return TMX_OK;
}

int tmx_cmd_list(int argc, char **argv)
{
    static const struct argp argp = {argp_options,
                                     parse,
                                     "chips|kernels|mixes|policies|suites|systems|backends|metrics",
                                     "Print what there is to choose from, with sources."
                                     "\vExample: thermix list policies -v",
                                     NULL,
                                     NULL,
                                     NULL};
    struct args a = {0};
    struct tmx_err err = {0};
    argp_parse(&argp, argc, argv, 0, NULL, &a);
    return tmx_command_end("list", list(&a, &err), &err);
}

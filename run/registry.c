/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "run/registry.h"

#include <stdio.h>
#include <string.h>

#include "base/config.h"
#include "base/opt.h"
#include "base/text.h"
#include "core/contract/choice.h"
#include "power/power.h"
#include "run/load/data.h"
#include "run/options.h"
#include "run/run.h"
#include "sched/sched.h"
#include "thermal/thermal.h"

/* clang-format off */
#define KINDS {[TMX_LEVEL_JOB] = tmx_job_heads, \
             [TMX_LEVEL_PLACE] = tmx_place_heads, \
             [TMX_LEVEL_MIX] = tmx_mix_heads, \
             [TMX_LEVEL_DTM] = tmx_dtm_heads, \
             [TMX_LEVEL_CTA] = tmx_cta_heads, \
             [TMX_LEVEL_TB] = tmx_tb_heads, \
             [TMX_LEVEL_GATE] = tmx_gate_heads, \
             [TMX_LEVEL_FAN] = tmx_fan_heads, \
             [TMX_LEVEL_ROUTE] = tmx_route_heads, \
             [TMX_LEVEL_ROW] = tmx_row_heads, \
             [TMX_KIND_BACKEND] = tmx_thermal_heads, \
             [TMX_KIND_POWER] = tmx_power_heads}
/* clang-format on */
const struct tmx_catalog tmx_builtin = {.kind = KINDS};
const struct tmx_catalog tmx_builtin_check = {.kind = KINDS, .loads_nothing = true};

const char *const tmx_choices[] = {"runs",    "suites",  "studies", "mixes",    "kernels",
                                   "chips",   "systems", "batches", "policies", "backends",
                                   "metrics", "keys",    NULL};

/* Suites and studies share a folder: a suite has a kind, a study has axes. */
enum of { ALL, WITH_KIND, WITHOUT_KIND };

/* Rows of what data files say of themselves. */
static void add_files(struct tmx_table *t, enum tmx_data data, enum of of, struct tmx_err *err)
{
    struct tmx_arena arena = {0};
    const char *const *names;
    const size_t n = tmx_data_names(data, &names, &arena);
    tmx_arena_check(&arena, err);
    for (size_t i = 0; i < n && !err->code; i++) {
        char path[TMX_PATH_SIZE], file[TMX_PATH_SIZE + 16];
        struct tmx_config *cfg = NULL;
        struct tmx_err ignored = {0}; /* a file that cannot be read is listed without its words */
        if (tmx_data_find(data, names[i], path, err)) {
            break;
        }
        snprintf(file, sizeof file, "%s%s", path, data == TMX_DATA_CHIP ? "/chip.cfg" : "");
        tmx_config_load(&cfg, file, NULL, &ignored);
        const struct tmx_setting *root = tmx_config_root(cfg);
        const char *doc = tmx_setting_word(root, "doc", "", &ignored),
                   *source = tmx_setting_word(root, "source", "", &ignored),
                   *kind = tmx_setting_word(root, "kind", "", &ignored);
        if (of == ALL || (of == WITH_KIND) == (ignored.code || kind[0])) {
            tmx_table_row(t, "%s %s %s", names[i], doc, ignored.code ? "" : source);
        }
        tmx_config_close(cfg);
    }
    tmx_arena_finish(&arena);
}

/* What stands under "level" for policies and back-ends: the configuration's groups and keys. */
static const char *level_word(size_t kind)
{
    return kind < TMX_N_LEVEL ? tmx_choice_keys[kind] : kind == TMX_KIND_BACKEND ? "method" : "power";
}

static void add_kind(const struct tmx_catalog *c, struct tmx_table *t, size_t kind)
{
    const struct tmx_plugin *p;
    for (size_t i = 0; (p = tmx_catalog_item(c, kind, i)) != NULL; i++) {
        tmx_table_row(t, "%s %s %s %s", level_word(kind), p->name, p->doc, p->source);
    }
}

static void print_keys(const struct tmx_catalog *c, size_t first, size_t last, FILE *out)
{
    const struct tmx_plugin *p;
    for (size_t kind = first; kind <= last; kind++) {
        for (size_t i = 0; (p = tmx_catalog_item(c, kind, i)) != NULL; i++) {
            if (p->opts && p->opts->key) {
                fprintf(out, "\nkeys of %s = %s:\n", level_word(kind), p->name);
                tmx_opt_help(p->opts, "  ", out);
            }
        }
    }
}

struct tmx_table *tmx_choices_table(const struct tmx_catalog *c, const char *what, struct tmx_err *err)
{
    static const struct {
        const char *what;
        enum tmx_data kind;
        enum of of;
    } files[] = {{"chips", TMX_DATA_CHIP, ALL},
                 {"kernels", TMX_DATA_KERNEL, ALL},
                 {"mixes", TMX_DATA_MIX, ALL},
                 {"suites", TMX_DATA_SUITE, WITH_KIND},
                 {"studies", TMX_DATA_SUITE, WITHOUT_KIND},
                 {"systems", TMX_DATA_SYSTEM, ALL},
                 {"runs", TMX_DATA_RUN, ALL},
                 {"batches", TMX_DATA_BATCH, ALL}};
    const bool policies = strcmp(what, "policies") == 0, backends = strcmp(what, "backends") == 0,
               metrics = strcmp(what, "metrics") == 0;
    struct tmx_table *t = tmx_table_of(policies || backends ? "level name doc source"
                                       : metrics            ? "name doc"
                                                            : "name doc source");
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        if (strcmp(files[i].what, what) == 0) {
            add_files(t, files[i].kind, files[i].of, err);
        }
    }
    if (policies) {
        /* add policies */
        for (const struct tmx_preset *p = tmx_presets; p->name; p++) {
            char source[160];
            snprintf(source, sizeof source, "place %s, mix %s, dtm %s, tb %s", p->place, p->mix, p->dtm,
                     p->tb);
            tmx_table_row(t, "%s %s %s %s", "policy", p->name, p->doc, source);
        }
        for (size_t level = 0; level < TMX_N_LEVEL; level++) {
            add_kind(c, t, level);
        }
    } else if (backends) {
        add_kind(c, t, TMX_KIND_BACKEND);
        add_kind(c, t, TMX_KIND_POWER);
    } else if (metrics) {
        for (const struct tmx_metric *m = tmx_metrics; m->name; m++) {
            tmx_table_row(t, "%s %s", m->name, m->doc);
        }
    }
    return t;
}

void tmx_choices_keys(const struct tmx_catalog *c, const char *what, FILE *out)
{
    struct tmx_arena arena = {0};
    const char *const *names;
    const size_t n = strcmp(what, "chips") == 0 ? tmx_data_names(TMX_DATA_CHIP, &names, &arena) : 0;
    if (strcmp(what, "policies") == 0) {
        print_keys(c, 0, TMX_N_LEVEL - 1, out);
        fprintf(out, "\nkeys of every gating policy, in the chip's sm.cfg:\n");
        tmx_opt_help(tmx_gate_opts, "  ", out);
    } else if (strcmp(what, "backends") == 0) {
        print_keys(c, TMX_KIND_BACKEND, TMX_KIND_POWER, out);
    }
    for (size_t i = 0; i < n; i++) {  /* a source beside every number; the catalog repeats nothing of it */
        struct tmx_err ignored = {0}; /* the table has named what cannot be read */
        char path[TMX_PATH_SIZE], file[TMX_PATH_SIZE + 16];
        struct tmx_text_file text = {0};
        if (!tmx_data_find(TMX_DATA_CHIP, names[i], path, &ignored) &&
            !tmx_path_join(file, path, "chip.cfg", &ignored) && !tmx_text_load(&text, file, &ignored)) {
            fprintf(out, "\n%s/chip.cfg:\n\n%s", names[i], text.data);
        }
        tmx_text_finish(&text);
    }
    tmx_arena_finish(&arena);
}

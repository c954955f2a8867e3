/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The names that there are: for the shell's completion. */
#define _POSIX_C_SOURCE 200809L
#include <stdlib.h>
#include <string.h>

#include "cli/commands.h"
#include "core/contract/choice.h"
#include "core/floorplan/chip.h"
#include "core/sim/stage/sensor.h"
#include "core/workload/sync_job.h"
#include "run/load/data.h"
#include "run/options.h"
#include "run/run.h"
#include "sched/sched.h"
#include "thermal/files/hotspot_config.h"
#include "thermal/thermal.h"

static void put_data(enum tmx_data kind, const char *prefix, FILE *out)
{
    struct tmx_arena arena = {0};
    const char *const *names;
    const size_t n = tmx_data_names(kind, &names, &arena);
    for (size_t i = 0; i < n; i++) {
        fprintf(out, "%s%s\n", prefix, names[i]);
    }
    tmx_arena_finish(&arena);
}

static void put_plugins(const void *const *table, const char *prefix, FILE *out)
{
    for (; table && *table; table++) {
        fprintf(out, "%s%s\n", prefix, ((const struct tmx_plugin *)*table)->name);
    }
}

static void put_presets(const char *prefix, FILE *out)
{
    for (const struct tmx_preset *p = tmx_presets; p->name; p++) {
        fprintf(out, "%s%s\n", prefix, p->name);
    }
}

static void put_keys(const struct tmx_opt *opts, const char *group, FILE *out)
{
    for (; opts && opts->key; opts++) {
        fprintf(out, "%s%s%s=\n", group, group[0] ? "." : "", opts->key);
    }
}

/* Groups of a run's configuration: policies with their own keys, or keys alone. */
static const struct group {
    const char *name;
    const void *const *policies;
    const struct tmx_opt *opts;
} groups[] = {
#define GROUP(name, policies, opts) {#name, (const void *const *)(policies), opts},
    TMX_RUN_GROUPS(GROUP)};
enum { N_GROUP = sizeof groups / sizeof groups[0] };

/* The words of a row behind "key=". */
static void put_values(const struct tmx_opt *o, const char *key, const char *prefix, FILE *out)
{
    for (; o && o->key; o++) {
        const bool is = strcmp(o->key, key) == 0;
        if (is && o->type == TMX_OPT_BOOL) {
            fprintf(out, "%strue\n%sfalse\n", prefix, prefix);
        }
        for (const char *const *w = is && o->type == TMX_OPT_CHOICE ? o->choices : NULL; w && *w; w++) {
            fprintf(out, "%s%s\n", prefix, *w);
        }
    }
}

static void put_root_values(const char *key, const char *prefix, FILE *out)
{
    static const struct {
        const char *key;
        enum tmx_data kind;
    } files[] = {{"mix", TMX_DATA_MIX}, {"chip", TMX_DATA_CHIP}, {"topology", TMX_DATA_SYSTEM}};
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        if (strcmp(files[i].key, key) == 0) {
            put_data(files[i].kind, prefix, out);
        }
    }
    if (strcmp(key, "policy") == 0) {
        put_presets(prefix, out);
    } else if (strcmp(key, "method") == 0) {
        put_plugins((const void *const *)tmx_thermal_backends, prefix, out);
    }
    put_values(tmx_run_opts, key, prefix, out);
}

/* "": root keys and groups; "group.": its keys; "key=": what it may be. */
static void put_settings(const char *word, FILE *out)
{
    const char *equal = strchr(word, '='), *dot = strchr(word, '.');
    char prefix[256];
    if (!equal && (!dot || dot == word)) {
        put_keys(tmx_run_opts, "", out);
        for (const char *const *g = tmx_run_groups; *g; g++) {
            if (g == tmx_run_groups || strcmp(g[0], g[-1]) != 0) {
                fprintf(out, "%s.\n", *g);
            }
        }
        return;
    }
    const bool grouped = dot && (!equal || dot < equal);
    if (equal) {
        snprintf(prefix, sizeof prefix, "%.*s", (int)(equal - word + 1), word);
    }
    for (size_t i = 0; grouped && i < N_GROUP; i++) {
        if (strncmp(word, groups[i].name, (size_t)(dot - word)) == 0 && groups[i].name[dot - word] == '\0') {
            char key[64];
            snprintf(key, sizeof key, "%.*s", equal ? (int)(equal - dot - 1) : 0, dot + 1);
            const struct group *g = &groups[i];
            if (equal && strcmp(key, "policy") == 0) {
                put_plugins(g->policies, prefix, out);
            } else if (!equal && g->policies) {
                fprintf(out, "%s.policy=\n", g->name);
            }
            for (const void *const *p = g->policies; !equal && p && *p; p++) {
                put_keys(((const struct tmx_plugin *)*p)->opts, g->name, out);
            }
            equal ? put_values(g->opts, key, prefix, out) : put_keys(g->opts, g->name, out);
        }
    }
    if (!grouped) {
        char key[64];
        snprintf(key, sizeof key, "%.*s", (int)(equal - word), word);
        put_root_values(key, prefix, out);
    }
}

/* The candidates of a kind. word: the part typed so far, for SETTING. */
static void put_names(enum tmx_names kind, const char *word, FILE *out)
{
    static const struct {
        enum tmx_names names;
        enum tmx_data data;
    } files[] = {{TMX_NAMES_RUN, TMX_DATA_RUN},       {TMX_NAMES_SUITE, TMX_DATA_SUITE},
                 {TMX_NAMES_MIX, TMX_DATA_MIX},       {TMX_NAMES_CHIP, TMX_DATA_CHIP},
                 {TMX_NAMES_KERNEL, TMX_DATA_KERNEL}, {TMX_NAMES_BATCH, TMX_DATA_BATCH},
                 {TMX_NAMES_SYSTEM, TMX_DATA_SYSTEM}, {TMX_NAMES_NODE, TMX_DATA_NODE}};
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        if (files[i].names == kind) {
            put_data(files[i].data, "", out);
            fputs(":files\n", out);
        }
    }
    switch (kind) {
    case TMX_NAMES_FILE:
        fputs(":files\n", out);
        break;
    case TMX_NAMES_FOLDER:
        fputs(":folders\n", out);
        break;
    case TMX_NAMES_DATA:
        for (int k = 0; k < TMX_N_DATA; k++) {
            if (k != TMX_DATA_TRACE && k != TMX_DATA_PLOT) {
                put_data((enum tmx_data)k, "", out);
            }
        }
        fputs(":files\n", out);
        break;
    case TMX_NAMES_PRESET:
        put_presets("", out);
        break;
    case TMX_NAMES_GATE:
        put_plugins((const void *const *)tmx_gate_policies, "", out);
        break;
    case TMX_NAMES_CTA:
        put_plugins((const void *const *)tmx_cta_policies, "", out);
        break;
    case TMX_NAMES_SETTING:
        put_settings(word, out);
        break;
    case TMX_NAMES_METRIC:
        for (const struct tmx_metric *m = tmx_metrics; m->name; m++) {
            fprintf(out, "%s\n", m->name);
        }
        break;
    case TMX_NAMES_COMMAND:
        for (size_t i = 0; tmx_commands[i]; i++) {
            fprintf(out, "%s\n", tmx_commands[i]->name);
        }
        break;
    default: /* the words of a row, or those above */
        break;
    }
}

/* What can follow on a command line: the rows of the commands read backwards. */

/* The option that a word of n letters is: "--out", "-o"; NULL for anything else. */
static const struct tmx_arg *option_of(const struct tmx_command *c, const char *word, size_t n)
{
    for (const struct tmx_arg *a = c->args; word[0] == '-' && a->type; a++) {
        const bool is = word[1] == '-'
                            ? a->name && strlen(a->name) == n - 2 && strncmp(a->name, word + 2, n - 2) == 0
                            : n == 2 && a->name && a->letter == word[1];
        if (is) {
            return a;
        }
    }
    return NULL;
}

static bool takes_value(const struct tmx_arg *a)
{
    return a && a->type != TMX_ARG_FLAG;
}

/* Candidates for an option's value; prefix is what stands before it in the word ("--format="). Of a list the
 * last word is completed, those before the last comma stay. */
static void put_value(const struct tmx_arg *a, const char *typed, const char *prefix, FILE *out)
{
    char *text = NULL;
    size_t size = 0;
    FILE *all = open_memstream(&text, &size);
    const char *comma = a->type == TMX_ARG_LIST ? strrchr(typed, ',') : NULL;
    const int kept = comma ? (int)(comma - typed + 1) : 0;
    if (!all) {
        return;
    }
    for (const char *const *w = a->words; w && *w; w++) {
        fprintf(all, "%s\n", *w);
    }
    put_names(a->names, typed, all);
    fclose(all);
    for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n")) {
        if (line[0] == ':') {
            fprintf(out, "%s\n", line);
        } else {
            fprintf(out, "%s%.*s%s\n", prefix, kept, typed, line);
        }
    }
    free(text);
}

static void put_options(const struct tmx_command *c, FILE *out)
{
    for (const struct tmx_arg *a = c->args; a->type; a++) {
        if (a->name) {
            fprintf(out, "--%s\n", a->name);
        }
    }
    fputs("--help\n", out);
    for (const struct tmx_opt *o = c->pairs; o && o->key; o++) {
        fprintf(out, "-%s\n", o->key);
    }
}

void tmx_complete(const char *const *words, size_t n, FILE *out)
{
    if (n <= 1) {
        put_names(TMX_NAMES_COMMAND, "", out);
        return;
    }
    const struct tmx_command *c = tmx_command_find(words[0], NULL);
    if (!c) {
        return;
    }
    const char *last = words[n - 1], *equal = strchr(last, '=');
    const struct tmx_arg *before = n > 2 ? option_of(c, words[n - 2], strlen(words[n - 2])) : NULL;
    if (takes_value(before)) {
        put_value(before, last, "", out);
    } else if (strncmp(last, "--", 2) == 0 && equal) {
        char prefix[128];
        const struct tmx_arg *a = option_of(c, last, (size_t)(equal - last));
        snprintf(prefix, sizeof prefix, "%.*s", (int)(equal - last + 1), last);
        if (takes_value(a)) {
            put_value(a, equal + 1, prefix, out);
        }
    } else if (last[0] == '-') {
        put_options(c, out);
    } else {
        size_t n_operand = 0; /* those before the one being typed */
        for (size_t i = 1; i + 1 < n; i++) {
            n_operand += words[i][0] != '-' && !takes_value(option_of(c, words[i - 1], strlen(words[i - 1])));
        }
        for (const char *const *w = n_operand == 0 ? c->operand_words : NULL; w && *w; w++) {
            fprintf(out, "%s\n", *w);
        }
        if (n_operand < c->max_operand && (n_operand > 0 || !c->operand_words)) {
            put_names(c->operand_names, last, out);
        }
    }
}

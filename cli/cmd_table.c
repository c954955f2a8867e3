/* thermix table: run a suite and print its table. */
#include <argp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/commands.h"
#include "core/base/config.h"
#include "papers/suite.h"
#include "run/input/data.h"

enum { MAX_SET = 256, KEY_FORMAT = 256, KEY_SET, KEY_GATE, KEY_CTA };

struct args {
    const char *suite;
    struct tmx_suite_call call;
    const char *set[MAX_SET];
    char *made[MAX_SET]; /* owned texts among set */
    size_t n_set, n_made;
};

static const struct argp_option options[] = {
    {"out", 'o', "DIR", 0, "write table.csv and paper.csv into DIR", 0},
    {"jobs", 'j', "N", 0, "run N simulations at a time (default: one a processor)", 0},
    {"format", KEY_FORMAT, "WORD", 0, "text, csv, markdown or json (default text)", 0},
    {"set", KEY_SET, "KEY=VALUE", 0, "override a key of the runs' configuration; may be repeated", 0},
    {"gate", KEY_GATE, "POLICY", 0, "unit gating under every policy, short for --set gate.policy=POLICY", 0},
    {"cta", KEY_CTA, "POLICY", 0,
     "thread-block throttling under every policy, short for --set cta.policy=POLICY", 0},
    {"quiet", 'q', NULL, 0, "print no progress", 0},
    {0},
};

static void add_set(struct args *a, const char *prefix, const char *value, struct argp_state *state)
{
    const size_t size = strlen(prefix) + strlen(value) + 1;
    char *text = malloc(size);
    if (!text || a->n_set == MAX_SET) {
        free(text);
        argp_error(state, "too many --set");
        return;
    }
    snprintf(text, size, "%s%s", prefix, value);
    a->set[a->n_set++] = a->made[a->n_made++] = text;
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct args *a = state->input;
    struct tmx_err err = {0};
    char *end;
    switch (key) {
    case 'o':
        a->call.out_dir = arg;
        return 0;
    case 'j': {
        const long n = strtol(arg, &end, 10);
        if (*end || n < 1 || n > 1024) {
            argp_error(state, "-j %s: expected a number from 1 to 1024", arg);
        }
        a->call.n_worker = (unsigned)n;
        return 0;
    }
    case KEY_FORMAT:
        if (tmx_format_parse(arg, &a->call.format, &err)) {
            argp_error(state, "--format: %s", err.msg);
        }
        return 0;
    case KEY_SET:
        add_set(a, "base.", arg, state);
        return 0;
    case KEY_GATE:
        add_set(a, "base.gate.policy=", arg, state);
        return 0;
    case KEY_CTA:
        add_set(a, "base.cta.policy=", arg, state);
        return 0;
    case 'q':
        a->call.quiet = true;
        return 0;
    case ARGP_KEY_ARG:
        if (a->suite) {
            argp_error(state, "one suite at a time: \"%s\" is too much", arg);
        }
        a->suite = arg;
        return 0;
    case ARGP_KEY_END:
        if (!a->suite) {
            argp_error(state, "which suite? `thermix list suites` names them");
        }
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static enum tmx_status run_suite(struct args *a, struct tmx_err *err)
{
    char path[TMX_PATH_SIZE];
    struct tmx_config *cfg = NULL;
    enum tmx_status st = tmx_data_find(TMX_DATA_SUITE, a->suite, path, err);
    if (st) {
        return st;
    }
    st = tmx_config_load(&cfg, path, a->set, a->n_set, err);
    if (!st) {
        const struct tmx_setting *kind = tmx_config_find(cfg, "kind");
        const char *word = kind ? tmx_setting_text(kind) : NULL;
        const struct tmx_suite_kind *k = tmx_suite_kinds;
        while (word && k->kind && strcmp(k->kind, word) != 0) {
            k++;
        }
        if (!word || !k->kind) {
            st = tmx_fail_at(err, TMX_ECONFIG, path, kind ? tmx_setting_line(kind) : 0,
                             "kind: expected the suite's kind, such as \"%s\"", tmx_suite_kinds[0].kind);
        } else {
            a->call.name = a->suite;
            a->call.path = path;
            a->call.set = a->set;
            a->call.n_set = a->n_set;
            a->call.root = tmx_config_root(cfg);
            st = k->run(&a->call, err);
        }
    }
    tmx_config_close(cfg);
    return st;
}

int tmx_cmd_table(int argc, char **argv)
{
    static const struct argp argp = {options,
                                     parse,
                                     "SUITE",
                                     "Run a suite (workloads/suites/SUITE.cfg or a file) and print its table."
                                     "\vExample: thermix table tabs -o out/tabs -j 2\n"
                                     "         thermix table tabs --set tick_s=0.01 --format markdown",
                                     NULL,
                                     NULL,
                                     NULL};
    struct args a = {0};
    struct tmx_err err = {0};
    argp_parse(&argp, argc, argv, 0, NULL, &a);
    const enum tmx_status st = run_suite(&a, &err);
    for (size_t i = 0; i < a.n_made; i++) {
        free(a.made[i]);
    }
    return tmx_command_end("table", st, &err);
}

#include <argp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/commands.h"
#include "study/pivot.h"
#include "study/table_out.h"

enum { KEY_PIVOT = 256, KEY_ROWS, KEY_VALUE, KEY_WHERE, KEY_AGGREGATE, KEY_FORMAT, KEY_FAILED };

struct arguments {
    const char *db, *out, *format, *aggregate;
    struct tmx_query q;
    bool failed;
};

static const struct argp_option options[] = {
    {"rows", KEY_ROWS, "KEY,...", 0, "keys of the rows", 0},
    {"pivot", KEY_PIVOT, "KEY", 0, "key whose values become columns", 0},
    {"value", KEY_VALUE, "METRIC,...", 0, "what the cells show", 0},
    {"where", KEY_WHERE, "KEY=VALUE", 0, "only these runs; may be repeated", 0},
    {"aggregate", KEY_AGGREGATE, "HOW", 0, "mean (default), min, max, stdev or count of runs in one cell", 0},
    {"failed", KEY_FAILED, 0, 0, "list the failed runs and their errors", 0},
    {"format", KEY_FORMAT, "FORMAT", 0, "text (default), csv, markdown or json", 0},
    {"output", 'o', "FILE", 0, "default: standard output", 0},
    {0},
};

static void split(char *list, const char **part, size_t room, struct argp_state *state)
{
    size_t n = 0;
    for (char *rest = list; rest && *rest;) {
        char *comma = strchr(rest, ',');
        if (n + 1 == room) {
            argp_error(state, "at most %zu names in a list", room - 1);
            return;
        }
        part[n++] = rest;
        if (comma) {
            *comma = '\0';
        }
        rest = comma ? comma + 1 : NULL;
    }
    part[n] = NULL;
}

static void where(struct arguments *a, char *arg, struct argp_state *state)
{
    char *equal = strchr(arg, '=');
    if (!equal || a->q.n_where == sizeof a->q.where / sizeof a->q.where[0]) {
        argp_error(state, "--where %s: expected KEY=VALUE, at most 16 of them", arg);
        return;
    }
    *equal = '\0';
    a->q.where[a->q.n_where].key = arg;
    a->q.where[a->q.n_where++].value = equal + 1;
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct arguments *a = state->input;
    switch (key) {
    case KEY_ROWS:
        split(arg, a->q.rows, sizeof a->q.rows / sizeof a->q.rows[0], state);
        return 0;
    case KEY_VALUE:
        split(arg, a->q.value, sizeof a->q.value / sizeof a->q.value[0], state);
        return 0;
    case KEY_PIVOT:
        a->q.pivot = arg;
        return 0;
    case KEY_WHERE:
        where(a, arg, state);
        return 0;
    case KEY_AGGREGATE:
        a->aggregate = arg;
        return 0;
    case KEY_FAILED:
        a->failed = true;
        return 0;
    case KEY_FORMAT:
        a->format = arg;
        return 0;
    case 'o':
        a->out = arg;
        return 0;
    case ARGP_KEY_ARG:
        if (a->db) {
            argp_error(state, "one database at a time");
        }
        a->db = arg;
        return 0;
    case ARGP_KEY_END:
        if (!a->db) {
            argp_error(state, "which database?");
        }
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp argp = {
    options,
    parse,
    "DB",
    "Tables from a study's results.\v"
    "Without --rows and --pivot every finished run is a row. A key may be given by its part after the last "
    "dot.\n\nExample:\n"
    "  thermix query cooling.sqlite --pivot policy --rows r_convec --value slowdown_pct --format markdown",
    NULL,
    NULL,
    NULL};

int tmx_cmd_query(int argc, char **argv)
{
    struct arguments a = {.out = "-", .format = "text", .aggregate = "mean"};
    struct tmx_err err = {0};
    struct tmx_result_set set = {0};
    struct tmx_table *t = NULL;
    enum tmx_format format = TMX_FORMAT_TEXT;
    argp_parse(&argp, argc, argv, 0, NULL, &a);
    enum tmx_status st = tmx_format_parse(a.format, &format, &err);
    st = st ? st : tmx_aggregate_parse(a.aggregate, &a.q.aggregate, &err);
    st = st ? st : tmx_results_load(&set, a.db, &err);
    if (!st) {
        st = a.failed                   ? tmx_failures(&set, &t, &err)
             : a.q.rows[0] || a.q.pivot ? tmx_pivot(&set, &a.q, &t, &err)
                                        : tmx_flat(&set, &a.q, &t, &err);
    }
    st = st ? st : tmx_table_save(t, format, a.out, &err);
    tmx_table_destroy(t);
    tmx_result_set_finish(&set);
    return tmx_command_end("query", st, &err);
}

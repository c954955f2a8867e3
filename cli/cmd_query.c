/* SPDX-License-Identifier: GPL-3.0-or-later */
/* thermix query: tables from a study's results. */
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "cli/commands.h"
#include "study/analysis/analysis.h"

struct args {
    struct tmx_texts db, rows, value, where, aggregate;
    const char *pivot, *out;
    bool failed, all;
    struct tmx_print print;
};

static const struct tmx_arg rows[] = {
    TMX_ARG(args, rows, LIST, "rows", 0, .apart = "failed", .value = "KEY,...", .doc = "keys of the rows"),
    TMX_ARG(args, pivot, TEXT, "pivot", 0, .apart = "failed", .value = "KEY",
            .doc = "key whose values become columns"),
    TMX_ARG(args, value, LIST, "value", 0, .apart = "failed", .value = "METRIC,...",
            .names = TMX_NAMES_METRIC, .doc = "metrics to show in the cells"),
    TMX_ARG(args, where, TEXTS, "where", 0, .apart = "failed", .value = "CONDITION",
            .doc = "only these runs: KEY=VALUE, with !=, <, <=, >, >= in place of =, or \"KEY in A,B\"; KEY "
                   "may be a metric; may be repeated"),
    TMX_ARG(args, aggregate, LIST, "aggregate", 0, .apart = "failed", .value = "WHAT,...",
            .doc = "statistics of the runs in one cell: mean (default), sd, ci95 (half the 95 % interval of "
                   "the mean, by Student's t, over runs that differ in their seed alone), n, min, max; "
                   "several give a column each"),
    TMX_ARG(args, failed, FLAG, "failed", 0, .doc = "list the failed runs and their errors"),
    TMX_ARG_ALL(args, all),
    TMX_ARG_TABLE(args),
    TMX_ARG_TABLE_TO(args, out, "write to FILE"),
    {0},
};

/* Into one of the query's lists, which end with NULL. */
static void copy(const char *what, const struct tmx_texts *from, const char **to, size_t room,
                 struct tmx_err *err)
{
    if (from->n >= room) {
        tmx_error(err, TMX_ECONFIG, "%s: at most %zu names in a list", what, room - 1);
    }
    for (size_t i = 0; i < from->n && !err->code; i++) {
        to[i] = from->text[i];
    }
}

static void make_query(const struct args *a, struct tmx_query *q, struct tmx_err *err)
{
    copy("--rows", &a->rows, q->rows, sizeof q->rows / sizeof q->rows[0], err);
    copy("--value", &a->value, q->value, sizeof q->value / sizeof q->value[0], err);
    q->pivot = a->pivot;
    if (a->aggregate.n > TMX_N_AGGREGATE) {
        tmx_error(err, TMX_ECONFIG, "--aggregate: at most %d", TMX_N_AGGREGATE);
    }
    for (; q->n_aggregate < a->aggregate.n && !err->code; q->n_aggregate++) {
        q->aggregate[q->n_aggregate] = tmx_aggregate_parse(a->aggregate.text[q->n_aggregate], err);
    }
    q->n_where =
        tmx_where_parse(a->where.text, a->where.n, q->where, sizeof q->where / sizeof q->where[0], err);
    if (a->aggregate.n > 0 && !q->rows[0] && !q->pivot) {
        tmx_error(err, TMX_ECONFIG, "--aggregate needs --rows or --pivot: without them every run is a row");
    }
}

/* An interval of a mean over an axis's chosen values says nothing. */
static void refuse_interval(const struct tmx_result_set *set, const bool *pooled, struct tmx_err *err)
{
    char names[300] = "";
    for (size_t k = 0; k < set->n_key; k++) {
        if (pooled[k] && !tmx_is_seed(set->key[k])) {
            tmx_text_add(names, sizeof names, "%s%s", *names ? ", " : "", set->key[k]);
        }
    }
    tmx_error(err, TMX_ECONFIG,
              "--aggregate ci95: a cell has the runs of several values of %s, which are no repetitions; name "
              "them in --rows, --pivot or --where, or take sd, min and max",
              names);
}

static void run(void *args, struct tmx_err *err)
{
    const struct args *a = args;
    struct tmx_query q = {0};
    struct tmx_result_set set = {0};
    struct tmx_table *t = NULL;
    make_query(a, &q, err);
    tmx_results_load(&set, a->db.text[0], a->all ? TMX_RESULTS_ALL : TMX_RESULTS_POINTS, err);
    TMX_TAKE(&set.arena, q.pooled, set.n_key);
    tmx_arena_check(&set.arena, err);
    if (!err->code) {
        tmx_results_note(&set, stderr);
        if (a->failed) {
            t = tmx_failures(&set);
        } else {
            (q.rows[0] || q.pivot ? tmx_pivot : tmx_flat)(&set, &q, &t, err);
        }
    }
    const bool grid = strcmp(set.method, "grid") == 0;
    for (size_t i = 0; i < q.n_aggregate && !err->code; i++) {
        if (q.aggregate[i] == TMX_CI95 && grid && !tmx_only_repeated(&set, q.pooled)) {
            refuse_interval(&set, q.pooled, err);
        }
    }
    bool spread = false; /* over seeds is what was asked for */
    for (size_t i = 0; i < q.n_aggregate; i++) {
        spread = spread || q.aggregate[i] != TMX_MEAN;
    }
    for (size_t k = 0, n = 0; !err->code && k <= set.n_key; k++) { /* what a cell hides */
        if (k < set.n_key && q.pooled[k] && !(spread && tmx_is_seed(set.key[k]))) {
            tmx_print_visible(stderr, "%s%s", n++ ? ", " : "note: a cell has the runs of several values of ",
                              set.key[k]);
        }
        fputs(k == set.n_key && n > 0 ? "; --rows, --pivot or --where names them\n" : "", stderr);
    }
    tmx_print_end(t, &a->print, a->out, &(struct tmx_screen){0}, err);
    tmx_result_set_finish(&set);
}

const struct tmx_command tmx_cmd_query = {
    .name = "query",
    .summary = "tables from a study's results",
    .doc = "Tables from a study's results.",
    .notes = "Without --rows and --pivot every finished run is a row. The last part of a key, after its last "
             "dot, is enough. DB may be the folder of a suite (thermix table SUITE -o DIR) or the runs.csv "
             "of a study in Python.",
    .examples =
        "thermix query cooling.sqlite --pivot policy --rows r_convec --value slowdown_pct --format markdown\n"
        "thermix query cooling.sqlite --rows policy --value slowdown_pct --aggregate mean,sd,n",
    TMX_OPERANDS(args, db, 1, 1, "DB", FILE, "which database?"),
    TMX_RUNS(args),
};

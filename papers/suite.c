/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "papers/suite.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/base/config.h"
#include "core/base/os.h"
#include "core/base/text.h"
#include "papers/values.h"
#include "run/load/data.h"

#define KIND(kind, doc) {#kind, doc, tmx_suite_##kind},
const struct tmx_suite_kind tmx_suite_kinds[] = {TMX_SUITE_KINDS(KIND){0}};

struct tmx_runs tmx_suite_runs(const struct tmx_suite_call *call)
{
    const struct tmx_setting *doc = tmx_setting_member(call->root, "doc");
    return (struct tmx_runs){.name = call->name,
                             .doc = doc ? tmx_setting_text(doc) : "",
                             .method = "suite",
                             .file = call->path,
                             .base = call->path,
                             .group = "base",
                             .suite = true};
}

enum tmx_status tmx_suite_values(const struct tmx_suite_call *call, const struct tmx_runs *runs,
                                 const char *noun, struct tmx_run_values *v, struct tmx_err *err)
{
    char path[TMX_PATH_SIZE];
    *v = (struct tmx_run_values){0};
    if (call->check) {
        return tmx_study_check(runs, err);
    }
    if (call->out_dir &&
        snprintf(path, sizeof path, "%s/" TMX_SUITE_RESULTS, call->out_dir) >= (int)sizeof path) {
        return tmx_fail(err, TMX_EIO, "%s: path too long", call->out_dir);
    }
    const struct tmx_study_options o = {.path = call->out_dir ? path : NULL,
                                        .n_worker = call->n_worker,
                                        .noun = call->quiet ? NULL : noun,
                                        TMX_STUDY_WHOLE};
    return tmx_study_values(v, runs, &o, err);
}

/* How many independent values of the paper there are of each origin, and how many of them are in their bands.
 */
static void print_standing(const struct tmx_table *paper)
{
    struct tmx_score score = {0};
    const size_t origin = tmx_table_find(paper, "origin"), outcome = tmx_table_find(paper, "outcome"),
                 follows = tmx_table_find(paper, "follows");
    size_t n_follow = 0;
    for (size_t r = 0; r < tmx_table_rows(paper); r++) {
        if (strcmp(tmx_table_cell(paper, r, follows)->text, "yes") == 0) {
            n_follow++;
            continue;
        }
        tmx_score_add(&score, tmx_table_cell(paper, r, origin)->text,
                      tmx_table_cell(paper, r, outcome)->text);
    }
    size_t none = 0;
    printf("\n%zu independent values of the paper; within their bands:\n", tmx_table_rows(paper) - n_follow);
    for (size_t o = 0; o < TMX_N_ORIGIN; o++) {
        const size_t n = tmx_score_of(&score, (enum tmx_origin)o);
        none += score.n[o][TMX_NO_VALUE];
        if (n > 0) {
            printf("  %-8s %3zu of %zu\n", tmx_origins[o], score.n[o][TMX_IN_BAND], n);
        }
    }
    if (none > 0) {
        printf("  no value of ours for %zu\n", none);
    }
    if (n_follow > 0) {
        printf("%zu more follow from other values, or cannot be missed\n", n_follow);
    }
}

/* The suite's headlines by group, one line each: printed, ours, and the range over the sets of constants that
 * agree. *n: how many there are. */
static enum tmx_status print_groups(const struct tmx_table *paper, size_t *n, struct tmx_err *err)
{
    static const struct tmx_column columns[] = {{"", TMX_COLUMN_TEXT, 0},
                                                {"printed", TMX_COLUMN_REAL, 2},
                                                {"ours", TMX_COLUMN_REAL, 2},
                                                {"5 % of sets", TMX_COLUMN_REAL, 1},
                                                {"95 %", TMX_COLUMN_REAL, 1}};
    static const char *const from[] = {"headline", "paper_value", "ours", "sets_low", "sets_high"},
                             *const all[] = {"all"};
    const size_t under = tmx_table_find(paper, "under"), rows = tmx_table_rows(paper);
    enum tmx_status st = TMX_OK;
    *n = 0;
    for (size_t first = 0; first < rows && !st; first++) { /* a group begins with its first row */
        const char *group = tmx_table_cell(paper, first, under)->text;
        struct tmx_table *t = NULL;
        bool seen = !group[0];
        for (size_t r = 0; r < first; r++) {
            seen = seen || strcmp(tmx_table_cell(paper, r, under)->text, group) == 0;
        }
        st = seen ? TMX_OK : tmx_table_create(&t, columns, sizeof columns / sizeof columns[0], err);
        for (size_t r = first; r < rows && !seen && !st; r++) {
            const bool in = strcmp(tmx_table_cell(paper, r, under)->text, group) == 0;
            for (size_t c = 0; in && c < sizeof from / sizeof from[0]; c++) {
                tmx_table_copy(t, tmx_table_cell(paper, r, tmx_table_find(paper, from[c])));
            }
            *n += in;
        }
        if (!st && !seen) {
            printf("\n%s:\n", group);
            st = tmx_table_show(t, TMX_FORMAT_TEXT, &(struct tmx_screen){.column = all, .n_column = 1}, err);
        }
        tmx_table_destroy(t);
    }
    return st;
}

/* The paper's printed means beside ours. */
static enum tmx_status print_headline(const struct tmx_table *paper, struct tmx_err *err)
{
    static const struct tmx_column columns[] = {
        {"quantity", TMX_COLUMN_TEXT, 0}, {"case", TMX_COLUMN_TEXT, 0},   {"unit", TMX_COLUMN_TEXT, 0},
        {"paper", TMX_COLUMN_REAL, 2},    {"ours", TMX_COLUMN_REAL, 2},   {"error", TMX_COLUMN_REAL, 2},
        {"origin", TMX_COLUMN_TEXT, 0},   {"outcome", TMX_COLUMN_TEXT, 0}};
    static const char *const prefer[] = {"quantity", "case", "paper", "ours", "error", "origin", "outcome"};
    const struct tmx_screen o = {.prefer = prefer, .n_prefer = sizeof prefer / sizeof prefer[0]};
    enum { N = sizeof columns / sizeof columns[0] };
    const size_t of = tmx_table_find(paper, "case"), value = tmx_table_find(paper, "paper_value");
    struct tmx_table *t = NULL;
    enum tmx_status st = tmx_table_create(&t, columns, N, err);
    for (size_t r = 0; r < tmx_table_rows(paper) && !st; r++) {
        const bool mean = strncmp(tmx_table_cell(paper, r, of)->text, "mean", 4) == 0;
        for (size_t i = 0; i < N && mean && !tmx_table_cell(paper, r, value)->empty; i++) {
            const bool paper_value = strcmp(columns[i].name, "paper") == 0;
            tmx_table_copy(
                t, tmx_table_cell(paper, r, paper_value ? value : tmx_table_find(paper, columns[i].name)));
        }
    }
    if (!st && tmx_table_rows(t) > 0) {
        printf("\nThe paper beside ours, means:\n");
        st = tmx_table_show(t, TMX_FORMAT_TEXT, &o, err);
    }
    tmx_table_destroy(t);
    return st;
}

/* Do two rows say the same of one mix in what no two different runs have in common? */
static bool same(const struct tmx_table *t, size_t a, size_t b)
{
    static const char *const texts[] = {"mix", "variant"};
    static const char *const reals[] = {"slowdown_pct", "energy_j", "peak_temp_c"};
    bool yes = true;
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        const size_t c = tmx_table_find(t, texts[i]);
        yes = yes && strcmp(tmx_table_cell(t, a, c)->text, tmx_table_cell(t, b, c)->text) == 0;
    }
    for (size_t i = 0; i < sizeof reals / sizeof reals[0]; i++) {
        const struct tmx_cell *x = tmx_table_cell(t, a, tmx_table_find(t, reals[i])),
                              *y = tmx_table_cell(t, b, tmx_table_find(t, reals[i]));
        yes = yes && !x->empty && !y->empty && fabs(x->real - y->real) <= 1e-12 * fabs(x->real);
    }
    return yes;
}

/* "A and B on M1", by why: what is known of the runs that did the very same. */
struct alike {
    char why[400], who[700];
};

static void add_alike(struct alike *list, size_t n_list, const char *why, const char *who)
{
    size_t i = 0;
    while (i + 1 < n_list && list[i].who[0] && strcmp(list[i].why, why) != 0) {
        i++;
    }
    const size_t n = strlen(list[i].who);
    if (strstr(list[i].who, who)) { /* of a further variant */
        return;
    }
    snprintf(list[i].why, sizeof list[i].why, "%s", n > 0 && strcmp(list[i].why, why) != 0 ? "" : why);
    snprintf(list[i].who + n, sizeof list[i].who - n, "%s%s", n > 0 ? "; " : "", who);
}

/* Why the rows [a, b) are alike: what their runs warn of; else where no SM got so hot that a throttle would
 * act.
 */
static void why_alike(const struct tmx_suite_call *call, const struct tmx_table *t, size_t a, size_t b,
                      char why[400])
{
    const size_t mix = tmx_table_find(t, "mix"), policy = tmx_table_find(t, "policy"),
                 below = tmx_table_find(t, "below_trip_k");
    bool cool = true;
    size_t n = 0;
    why[0] = '\0';
    for (size_t r = a; r < b; r++) {
        char facts[300] = "";
        const struct tmx_cell *k = tmx_table_cell(t, r, below);
        cool = cool && !k->empty && k->real > 0;
        if (call->facts) {
            call->facts(call->facts_ctx, tmx_table_cell(t, r, mix)->text, tmx_table_cell(t, r, policy)->text,
                        facts, sizeof facts);
        }
        if (facts[0] && !strstr(why, facts)) {
            n += (size_t)snprintf(why + n, 400 - n, "%s%s", n > 0 ? "; " : "", facts);
            n = n < 400 ? n : 399;
        }
    }
    if (n == 0 && cool) {
        snprintf(why, 400, "no SM reached the throttle's trip point");
    }
}

/* Policies that did the very same, with what is known of why: said, lest it be taken for a result. */
static void print_alike(const struct tmx_suite_call *call, const struct tmx_table *t)
{
    enum { MOST = 8 };
    struct alike list[MOST] = {0};
    const size_t mix = tmx_table_find(t, "mix"), policy = tmx_table_find(t, "policy");
    for (size_t r = 0; r < tmx_table_rows(t); r++) {
        const char *of = tmx_table_cell(t, r, mix)->text;
        char who[300] = "", why[400];
        size_t next = r + 1, n = 0;
        if (strncmp(of, "mean", 4) == 0 || (r > 0 && same(t, r - 1, r))) {
            continue;
        }
        for (; next < tmx_table_rows(t) && same(t, r, next); next++) {
            n += (size_t)snprintf(who + n, sizeof who - n, "%s%s", n > 0 ? ", " : "",
                                  tmx_table_cell(t, next - 1, policy)->text);
            n = n < sizeof who ? n : sizeof who - 1;
        }
        if (next > r + 1) {
            snprintf(who + n, sizeof who - n, " and %s on %s", tmx_table_cell(t, next - 1, policy)->text, of);
            why_alike(call, t, r, next, why);
            add_alike(list, MOST, why, who);
        }
    }
    for (size_t i = 0; i < MOST && list[i].who[0]; i++) {
        char line[1200];
        snprintf(line, sizeof line, "Did the same: %.700s (%.400s).", list[i].who,
                 list[i].why[0] ? list[i].why : "why: docs/faq.md");
        tmx_text_wrap(line, 0, tmx_os_terminal_width(stdout), stdout);
    }
}

/* Runs in which SMs latched off instead of being throttled. */
static void print_latched(const struct tmx_table *t)
{
    const size_t latched = tmx_table_find(t, "latched_sm"), longest = tmx_table_find(t, "longest_gating_s");
    size_t n = 0;
    double most_s = 0;
    for (size_t r = 0; r < tmx_table_rows(t); r++) {
        if (strncmp(tmx_table_cell(t, r, 0)->text, "mean", 4) != 0 &&
            tmx_table_cell(t, r, latched)->real > 0) {
            n++;
            most_s = fmax(most_s, tmx_table_cell(t, r, longest)->real);
        }
    }
    if (n > 0) {
        char line[200];
        snprintf(
            line, sizeof line,
            "In %zu runs, SMs stood still for more than 10 s at a time, for up to %.0f s: throttle.scope = "
            "\"sm\" has latched.",
            n, most_s);
        tmx_text_wrap(line, 0, tmx_os_terminal_width(stdout), stdout);
    }
}

static enum tmx_status print(const struct tmx_suite_call *call, const struct tmx_table *table,
                             const struct tmx_table *paper, const struct tmx_table *brief,
                             struct tmx_err *err)
{
    static const char *const prefer[] = {
        "mix", "kernel", "policy", "slowdown_pct", "improvement_over_bl_pct", "energy_j", "peak_temp_c"};
    const struct tmx_screen o = {.column = call->column,
                                 .n_column = call->n_column,
                                 .prefer = prefer,
                                 .n_prefer = sizeof prefer / sizeof prefer[0]};
    const bool full = call->n_column > 0 || call->format != TMX_FORMAT_TEXT || !brief;
    static const char *const all[] = {"all"}; /* of a matrix no column goes below it */
    const struct tmx_screen matrix = {.column = all, .n_column = 1};
    enum tmx_status st = tmx_table_show(full ? table : brief, call->format, full ? &o : &matrix, err);
    if (st || call->format != TMX_FORMAT_TEXT || call->n_column > 0) {
        return st;
    }
    if (brief && strcmp(tmx_table_column(brief, 0)->name, "slowdown_pct") == 0) { /* mixes x policies */
        print_alike(call, table);
        print_latched(table);
    }
    size_t n_group = 0;
    if (paper && brief && tmx_table_rows(paper) > 0) {
        st = print_groups(paper, &n_group, err);
        st = st || n_group > 0 ? st : print_headline(paper, err);
    }
    if (!st && paper && tmx_table_rows(paper) > 0 && n_group == 0) {
        print_standing(paper);
    }
    if (!st && call->out_dir) {
        printf("%sAll columns: %s/table.csv%s%s%s\n", n_group > 0 ? "\n" : "", call->out_dir,
               paper ? n_group > 0 ? "; every printed value: " : "; the paper beside ours: " : "",
               paper ? call->out_dir : "", paper ? "/paper.csv" : "");
    } else if (!st && brief) {
        printf("All columns: --columns all, or -o DIR\n");
    }
    return st;
}

enum tmx_status tmx_suite_write(const struct tmx_suite_call *call, const struct tmx_table *table,
                                const struct tmx_table *paper, const struct tmx_table *brief,
                                struct tmx_err *err)
{
    enum tmx_status st = TMX_OK;
    if (call->out_dir) {
        st = tmx_table_save_in(table, call->out_dir, "table.csv", err);
        if (!st && paper) {
            st = tmx_table_save_in(paper, call->out_dir, "paper.csv", err);
        }
    }
    return st ? st : print(call, table, paper, brief, err);
}

/* Some kinds have their seeds in the group base. */
static enum tmx_status put_seeds(struct tmx_config *cfg, long n, bool nudge, struct tmx_err *err)
{
    const char *kind = tmx_setting_text(tmx_config_find(cfg, "kind"));
    if (nudge && (n < 2 || !kind || strcmp(kind, "tabs") != 0)) {
        return n < 2 ? tmx_fail(err, TMX_ECONFIG, "--nudge is of --seeds N, with N of 2 or more")
                     : tmx_fail(err, TMX_ECONFIG, "--nudge is of suites of kind tabs");
    }
    if (n == 0) {
        return TMX_OK;
    }
    const bool in_base = kind && (strcmp(kind, "tcs") == 0 || strcmp(kind, "apsa") == 0);
    struct tmx_sets sets = {0};
    if (kind && strcmp(kind, "consolidation") == 0) {
        return tmx_fail(err, TMX_ECONFIG, "--seeds: nothing in a suite of kind consolidation is random");
    }
    enum tmx_status st =
        tmx_sets_put(&sets, in_base ? "base.seeds" : "seeds", TMX_INTEGER_VALUE(n), "--seeds", 1, err);
    st = st ? st : tmx_config_apply(cfg, &sets, err);
    tmx_sets_finish(&sets);
    return st;
}

enum tmx_status tmx_suite_run(struct tmx_suite_call *call, struct tmx_err *err)
{
    char path[TMX_PATH_SIZE];
    struct tmx_config *cfg = NULL;
    enum tmx_status st = tmx_data_find(TMX_DATA_SUITE, call->name, path, err);
    if (st) {
        return st;
    }
    st = tmx_config_load(&cfg, path, call->sets, err);
    st = st ? st : put_seeds(cfg, call->n_seed, call->nudge, err);
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
            call->path = path;
            call->root = tmx_config_root(cfg);
            static const char *const words[] = {"name", "doc", "source", "paper"}; /* of every kind */
            for (size_t i = 0; i < sizeof words / sizeof words[0] && !st; i++) {
                st = tmx_setting_check(tmx_setting_member(call->root, words[i]), TMX_SETTING_TEXT, err);
            }
            st = st ? st : k->run(call, err);
        }
    }
    tmx_config_close(cfg);
    return st;
}

enum tmx_status tmx_suite_save(const struct tmx_suite_call *call, const struct tmx_table *table,
                               const char *name, struct tmx_err *err)
{
    return call->out_dir ? tmx_table_save_in(table, call->out_dir, name, err) : TMX_OK;
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "papers/suite.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/config.h"
#include "base/os.h"
#include "base/text.h"
#include "papers/values.h"
#include "run/load/data.h"

#define KIND(kind, seeds, doc) {#kind, seeds, doc, tmx_suite_##kind},
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

void tmx_suite_values(const struct tmx_suite_call *call, const struct tmx_runs *runs, const char *noun,
                      struct tmx_run_values *v, struct tmx_err *err)
{
    char path[TMX_PATH_SIZE];
    *v = (struct tmx_run_values){0};
    if (call->out_dir &&
        snprintf(path, sizeof path, "%s/" TMX_SUITE_RESULTS, call->out_dir) >= (int)sizeof path) {
        tmx_error(err, TMX_EIO, "%s: path too long", call->out_dir);
    }
    const struct tmx_study_options o = {.path = call->out_dir ? path : NULL,
                                        .n_worker = call->n_worker,
                                        .noun = call->quiet ? NULL : noun,
                                        TMX_STUDY_WHOLE};
    call->check ? tmx_study_check(runs, err) : tmx_study_values(v, runs, &o, err);
}

static const struct tmx_cell *cell(const struct tmx_table *t, size_t row, const char *column)
{
    return tmx_table_cell(t, row, tmx_table_find(t, column));
}

static const char *text(const struct tmx_table *t, size_t row, const char *column)
{
    return cell(t, row, column)->text;
}

/* The suite's headlines by group, one line each: printed, ours, and the range over the sets of constants that
 * agree. How many there are. */
static size_t print_groups(const struct tmx_table *paper, struct tmx_err *err)
{
    static const struct tmx_column columns[] = {{"", TMX_COLUMN_TEXT, 0},
                                                {"printed", TMX_COLUMN_REAL, 2},
                                                {"ours", TMX_COLUMN_REAL, 2},
                                                {"5 % of sets", TMX_COLUMN_REAL, 1},
                                                {"95 %", TMX_COLUMN_REAL, 1}};
    static const char *const from[] = {"headline", "paper_value", "ours", "sets_low", "sets_high"},
                             *const all[] = {"all"};
    size_t n = 0;
    for (size_t first = 0; first < tmx_table_rows(paper) && !err->code; first++) {
        const char *group = text(paper, first, "under"); /* begins with its first row */
        bool seen = !group[0];
        for (size_t r = 0; r < first; r++) {
            seen = seen || strcmp(text(paper, r, "under"), group) == 0;
        }
        if (seen) {
            continue;
        }
        struct tmx_table *t = tmx_table_new(columns, sizeof columns / sizeof columns[0]);
        for (size_t r = first; r < tmx_table_rows(paper); r++) {
            const bool in = strcmp(text(paper, r, "under"), group) == 0;
            for (size_t c = 0; in && c < sizeof from / sizeof from[0]; c++) {
                tmx_table_copy(t, cell(paper, r, from[c]));
            }
            n += in;
        }
        printf("\n%s:\n", group);
        (void)!tmx_table_show(t, TMX_FORMAT_TEXT, &(struct tmx_screen){.column = all, .n_column = 1}, err);
        tmx_table_destroy(t);
    }
    return n;
}

/* Do two rows say the same of one mix in what no two different runs have in common? */
static bool same(const struct tmx_table *t, size_t a, size_t b)
{
    static const char *const reals[] = {"slowdown_pct", "energy_j", "peak_temp_c"};
    bool yes = strcmp(text(t, a, "mix"), text(t, b, "mix")) == 0 &&
               strcmp(text(t, a, "variant"), text(t, b, "variant")) == 0;
    for (size_t i = 0; i < sizeof reals / sizeof reals[0]; i++) {
        const struct tmx_cell *x = cell(t, a, reals[i]), *y = cell(t, b, reals[i]);
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
    struct alike *a = &list[i];
    if (strstr(a->who, who)) { /* of a further variant */
        return;
    }
    snprintf(a->why, sizeof a->why, "%s", a->who[0] && strcmp(a->why, why) != 0 ? "" : why);
    tmx_text_add(a->who, sizeof a->who, "%s%s", a->who[0] ? "; " : "", who);
}

/* Policies that did the very same, with what is known of why: said, lest it be taken for a result. Why: what
 * their runs warn of; else where no SM got so hot that a throttle would act. */
static void print_alike(const struct tmx_suite_call *call, const struct tmx_table *t)
{
    enum { MOST = 8 };
    struct alike list[MOST] = {0};
    for (size_t r = 0, next; r < tmx_table_rows(t); r++) {
        const char *mix = text(t, r, "mix");
        char who[300] = "", why[400] = "";
        bool cool = true;
        if (strncmp(mix, "mean", 4) == 0 || (r > 0 && same(t, r - 1, r))) {
            continue;
        }
        for (next = r + 1; next < tmx_table_rows(t) && same(t, r, next); next++) {
            tmx_text_add(who, sizeof who, "%s%s", who[0] ? ", " : "", text(t, next - 1, "policy"));
        }
        if (next == r + 1) {
            continue;
        }
        tmx_text_add(who, sizeof who, " and %s on %s", text(t, next - 1, "policy"), mix);
        for (size_t k = r; k < next; k++) {
            char facts[300] = "";
            const struct tmx_cell *below = cell(t, k, "below_trip_k");
            cool = cool && !below->empty && below->real > 0;
            if (call->facts) {
                call->facts(call->facts_ctx, mix, text(t, k, "policy"), facts, sizeof facts);
            }
            if (facts[0] && !strstr(why, facts)) {
                tmx_text_add(why, sizeof why, "%s%s", why[0] ? "; " : "", facts);
            }
        }
        add_alike(list, MOST, why[0] || !cool ? why : "no SM reached the throttle's trip point", who);
    }
    for (size_t i = 0; i < MOST && list[i].who[0]; i++) {
        char line[1200];
        snprintf(line, sizeof line, "Did the same: %.700s (%.400s).", list[i].who,
                 list[i].why[0] ? list[i].why : "why: docs/faq.md");
        tmx_text_wrap(line, 0, tmx_os_terminal_width(stdout), stdout);
    }
}

/* What people read behind the table: what is alike, the paper's values, where the files are. */
static void print_more(const struct tmx_suite_call *call, const struct tmx_table *table,
                       const struct tmx_table *paper, const struct tmx_table *brief, struct tmx_err *err)
{
    if (brief && strcmp(tmx_table_column(brief, 0)->name, "slowdown_pct") == 0) { /* mixes x policies */
        print_alike(call, table);
        /* Runs in which SMs latched off instead of being throttled. */
        size_t n = 0;
        double most_s = 0;
        for (size_t r = 0; r < tmx_table_rows(table); r++) {
            if (strncmp(text(table, r, "mix"), "mean", 4) != 0 && cell(table, r, "latched_sm")->real > 0) {
                n++;
                most_s = fmax(most_s, cell(table, r, "longest_gating_s")->real);
            }
        }
        if (n > 0) {
            char line[200];
            snprintf(line, sizeof line,
                     "In %zu runs, SMs stood still for more than 10 s at a time, for up to %.0f s: "
                     "throttle.scope = "
                     "\"sm\" has latched.",
                     n, most_s);
            tmx_text_wrap(line, 0, tmx_os_terminal_width(stdout), stdout);
        }
    }
    const bool any = tmx_table_rows(paper) > 0;
    const size_t n_group = any && brief ? print_groups(paper, err) : 0;
    if (any && brief && n_group == 0) {
        /* The paper's printed means beside ours. */
        static const char *const from[] = {"quantity", "case",  "unit",   "paper_value",
                                           "ours",     "error", "origin", "outcome"},
                                 *const prefer[] = {"quantity", "case",   "paper",  "ours",
                                                    "error",    "origin", "outcome"};
        const struct tmx_screen o = {.prefer = prefer, .n_prefer = sizeof prefer / sizeof prefer[0]};
        struct tmx_table *t = tmx_table_of("quantity case unit paper:2 ours:2 error:2 origin outcome");
        for (size_t r = 0; r < tmx_table_rows(paper); r++) {
            const bool mean = strncmp(text(paper, r, "case"), "mean", 4) == 0;
            for (size_t i = 0;
                 i < sizeof from / sizeof from[0] && mean && !cell(paper, r, "paper_value")->empty; i++) {
                tmx_table_copy(t, cell(paper, r, from[i]));
            }
        }
        if (!t || tmx_table_rows(t) > 0) {
            printf("\nThe paper beside ours, means:\n");
            (void)!tmx_table_show(t, TMX_FORMAT_TEXT, &o, err);
        }
        tmx_table_destroy(t);
    }
    if (any && n_group == 0 && !err->code) {
        /* How many independent values of the paper there are of each origin, and how many of them are in
         * their bands.
         */
        struct tmx_score score = {0};
        size_t n_follow = 0, none = 0;
        for (size_t r = 0; r < tmx_table_rows(paper); r++) {
            const bool follows = strcmp(text(paper, r, "follows"), "yes") == 0;
            n_follow += follows;
            if (!follows) {
                tmx_score_add(&score, text(paper, r, "origin"), text(paper, r, "outcome"));
            }
        }
        printf("\n%zu independent values of the paper; within their bands:\n",
               tmx_table_rows(paper) - n_follow);
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
    if (call->out_dir && !err->code) {
        printf("%sAll columns: %s/table.csv%s%s%s\n", n_group > 0 ? "\n" : "", call->out_dir,
               paper ? n_group > 0 ? "; every printed value: " : "; the paper beside ours: " : "",
               paper ? call->out_dir : "", paper ? "/paper.csv" : "");
    } else if (brief && !err->code) {
        printf("All columns: --columns all, or -o DIR\n");
    }
}

void tmx_suite_write(const struct tmx_suite_call *call, const struct tmx_table *table,
                     const struct tmx_value_source *values, const struct tmx_table *brief,
                     struct tmx_err *err)
{
    static const char *const prefer[] = {
        "mix", "kernel", "policy", "slowdown_pct", "improvement_over_bl_pct", "energy_j", "peak_temp_c"};
    static const char *const all[] = {"all"}; /* of a matrix no column goes below it */
    const struct tmx_screen matrix = {.column = all, .n_column = 1},
                            o = {.column = call->column,
                                 .n_column = call->n_column,
                                 .prefer = prefer,
                                 .n_prefer = sizeof prefer / sizeof prefer[0]};
    const bool people = call->n_column == 0 && call->format == TMX_FORMAT_TEXT;
    const bool any = values && values->any, printed = any && !call->stopped;
    if (call->check || tmx_table_check(table, err)) {
        return;
    }
    struct tmx_table *seeds = NULL, *paper = any ? tmx_values_table(values, &seeds) : NULL;
    if (seeds) {
        tmx_suite_save(call, seeds, "seeds.csv", err);
    }
    tmx_suite_save(call, table, "table.csv", err);
    if (printed) {
        tmx_table_check(paper, err);
        tmx_suite_save(call, paper, "paper.csv", err);
    }
    tmx_table_show(people && brief ? brief : table, call->format, people && brief ? &matrix : &o, err);
    if (!err->code && people) {
        print_more(call, table, printed ? paper : NULL, brief, err);
    }
    tmx_table_destroy(paper);
    tmx_table_destroy(seeds);
}

enum tmx_status tmx_suite_run(struct tmx_suite_call *call, struct tmx_err *err)
{
    static const char *const words[] = {"name", "doc", "source", "paper"}; /* of every kind */
    char path[TMX_PATH_SIZE];
    struct tmx_config *cfg = NULL;
    struct tmx_sets seeds = {0};
    if (tmx_data_find(TMX_DATA_SUITE, call->name, path, err) ||
        tmx_config_load(&cfg, path, call->sets, err)) {
        return err->code;
    }
    const struct tmx_setting *at = tmx_config_find(cfg, "kind");
    const char *kind = tmx_setting_text(at) ? tmx_setting_text(at) : "";
    const struct tmx_suite_kind *k = tmx_suite_kinds;
    while (k->kind && strcmp(k->kind, kind) != 0) {
        k++;
    }
    if (!k->kind) {
        tmx_error_at(err, TMX_ECONFIG, path, tmx_setting_line(at),
                     "kind: expected the suite's kind, such as \"%s\"", tmx_suite_kinds[0].kind);
    } else if (call->nudge && call->n_seed < 2) {
        tmx_error(err, TMX_ECONFIG, "--nudge is of --seeds N, with N of 2 or more");
    } else if ((call->nudge || call->n_policy > 0) && k->run != tmx_suite_tabs) {
        tmx_error(err, TMX_ECONFIG, "--%s is of suites of kind tabs", call->nudge ? "nudge" : "policy");
    } else if (call->n_seed > 0 && !k->seeds) {
        tmx_error(err, TMX_ECONFIG, "--seeds: nothing in a suite of kind %s is random", kind);
    } else if (call->n_seed > 0) {
        tmx_sets_put(&seeds, k->seeds, TMX_INTEGER_VALUE(call->n_seed), "--seeds", 1, err);
        tmx_config_apply(cfg, &seeds, err);
        tmx_sets_finish(&seeds);
    }
    call->path = path;
    call->root = tmx_config_root(cfg);
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        tmx_setting_check(tmx_setting_member(call->root, words[i]), TMX_SETTING_TEXT, err);
    }
    if (!err->code) {
        k->run(call, err);
    }
    tmx_config_close(cfg);
    return err->code;
}

void tmx_suite_save(const struct tmx_suite_call *call, const struct tmx_table *table, const char *name,
                    struct tmx_err *err)
{
    if (call->out_dir) {
        tmx_table_save_in(table, call->out_dir, name, err);
    }
}

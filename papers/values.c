/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "papers/values.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/csv.h"
#include "base/opt.h"
#include "base/os.h"
#include "base/text.h"
#include "study/analysis/analysis.h"

const char *const tmx_origins[] = {"fitted", "watched", "derived", "identity", "input", "unseen", NULL};
const char *const tmx_outcomes[] = {"in band", "not in band", "undecided", "no value", NULL};
static const char *const relations[] = {"equal", "at_most", "at_least", NULL};

enum { MAX_VALUES = 10000 };

struct tmx_value { /* one entry of `values` */
    char figure[64], quantity[128], name[128], unit[16], printed[64], as_one[64], headline[64], under[96];
    int origin, relation;
    bool follows; /* from other entries of the list, or cannot be missed: counted apart */
    bool weighs;  /* in a posterior */
    double value, band, band_pct, spread;
    double low, high; /* 5 and 95 % of the sets of a posterior */
    struct tmx_pick pick;
    bool has_minus, has_over;
    struct tmx_pick minus, over; /* ours is pick - minus, or pick / over */
};

#define PICK_ROWS(s)                                                                     \
    TMX_ROW_TEXT(s, of, "", "mix, kernel or batch, or a group of them"),                 \
        TMX_ROW_TEXT(s, policy, "", "policy or setup"),                                  \
        TMX_ROW_TEXT(s, column, "", "what is taken; absent: thermix does not model it"), \
        TMX_ROW_TEXT(s, variant, "", "variant of the suite")

static const struct tmx_opt pick_opts[] = {PICK_ROWS(tmx_pick), {0}};
static const char *const pick_also[] = {"figure",  "quantity", "name",   "unit",     "printed",  "value",
                                        "band",    "band_pct", "origin", "relation", "minus",    "over",
                                        "follows", "spread",   "as_one", "weighs",   "headline", "under",
                                        "low",     "high",     NULL};
static const char *const value_also[] = {"of", "policy", "column", "variant", "minus", "over", NULL};

static const double absent = 1e300;
static const struct tmx_opt value_opts[] = {
    TMX_ROW_TEXT(tmx_value, figure, NULL, "where the paper prints it"),
    TMX_ROW_TEXT(tmx_value, quantity, NULL, "what it is"),
    TMX_ROW_TEXT(tmx_value, name, "", "column `case`; absent: what is picked"),
    TMX_ROW_TEXT(tmx_value, unit, "percent", "unit"),
    TMX_ROW_CHOICE(tmx_value, origin, tmx_origins, NULL, "where our number comes from"),
    TMX_ROW_CHOICE(tmx_value, relation, relations, "equal", "how the paper relates the value to the number"),
    TMX_ROW_BOOL(tmx_value, follows, 0, "it follows from other values of the list, or nothing can miss it"),
    TMX_ROW_REAL(
        tmx_value, spread, "1", 0, 1e300, 0,
        "what tick, grid, seed and model move it: an order within twice that is undecided; a posterior "
        "adds it to the band"),
    TMX_ROW_TEXT(tmx_value, headline, "", "a line of the suite's first screen"),
    TMX_ROW_TEXT(tmx_value, under, "", "the group of headlines it is in"),
    TMX_ROW_REAL(tmx_value, low, "1", -1e300, 1e300, 1e300, "5 % of the sets of a posterior are below this"),
    TMX_ROW_REAL(tmx_value, high, "1", -1e300, 1e300, 1e300, "95 %"),
    TMX_ROW_TEXT(tmx_value, as_one, "",
                 "a posterior weighs values of one such name as one: the mean of their errors"),
    TMX_ROW_BOOL(tmx_value, weighs, 1, "it is in the weights of a posterior"),
    TMX_ROW_REAL(tmx_value, value, "1", -1e9, 1e300, 1e300, "the printed value"),
    TMX_ROW_TEXT(tmx_value, printed, "", "instead of value: the column of the suite that holds it"),
    TMX_ROW_REAL(tmx_value, band, "1", 0, 1e300, 1e300,
                 "how far ours may be off, stated before it was known"),
    TMX_ROW_REAL(tmx_value, band_pct, "percent", 0, 1e300, 1e300, "instead of band: in percent of the value"),
    {0},
};

void tmx_pick_check(const struct tmx_value_source *from, const struct tmx_pick *p,
                    const struct tmx_setting *at, struct tmx_err *err)
{
    char why[TMX_WHY] = "";
    if (!err->code) {
        (void)from->number(from->ctx, p, TMX_NAMES_ALONE, why);
    }
    if (why[0]) {
        tmx_error_setting(err, at, "values: %s", why);
    }
}

/* A second pick says only what differs from the first. False: it is absent. */
static bool read_second(const struct tmx_setting *e, const char *key, const struct tmx_value_source *from,
                        const struct tmx_pick *first, struct tmx_pick *p, struct tmx_err *err)
{
    const struct tmx_setting *g = tmx_setting_member(e, key);
    char *const to[] = {p->of, p->policy, p->column, p->variant};
    const char *const others[] = {first->of, first->policy, first->column, first->variant};
    const size_t size[] = {sizeof p->of, sizeof p->policy, sizeof p->column, sizeof p->variant};
    if (!g || tmx_opt_read(pick_opts, p, g, NULL, err)) {
        return false;
    }
    for (size_t i = 0; i < 4; i++) {
        if (!to[i][0]) {
            memcpy(to[i], others[i], size[i]);
        }
    }
    if (first->column[0]) {
        tmx_pick_check(from, p, e, err);
    }
    return true;
}

static void read_value(const struct tmx_setting *e, const struct tmx_value_source *from, struct tmx_value *v,
                       struct tmx_err *err)
{
    tmx_opt_read(value_opts, v, e, value_also, err);
    if (tmx_opt_read(pick_opts, &v->pick, e, pick_also, err)) {
        return;
    }
    if (!v->pick.policy[0]) {
        snprintf(v->pick.policy, sizeof v->pick.policy, "%s", from->policy);
    }
    const struct {
        bool wrong;
        const char *words;
    } rules[] = {
        {(v->value < absent) == (v->printed[0] != '\0'), "expected either value or printed"},
        {(v->band < absent) == (v->band_pct < absent),
         "expected either band or band_pct, stated before the run"},
        {(v->headline[0] != '\0') != (v->under[0] != '\0'),
         "a headline is under a group: expected headline and under"},
        {(v->low < absent) != (v->high < absent) || v->low > v->high,
         "expected low and high of the sets, low first"},
        {tmx_setting_member(e, "minus") && tmx_setting_member(e, "over"), "expected either minus or over"}};
    for (size_t i = 0; i < sizeof rules / sizeof rules[0]; i++) {
        if (rules[i].wrong) {
            tmx_error_setting(err, e, "values: %s", rules[i].words);
        }
    }
    struct tmx_pick printed = v->pick;
    memcpy(printed.column, v->printed, sizeof printed.column);
    if (v->pick.column[0]) {
        tmx_pick_check(from, &v->pick, e, err);
    }
    v->has_minus = read_second(e, "minus", from, &v->pick, &v->minus, err);
    v->has_over = read_second(e, "over", from, &v->pick, &v->over, err);
    if (v->pick.column[0] && v->printed[0]) {
        tmx_pick_check(from, &printed, e, err);
    }
}

void tmx_values_read(struct tmx_value_source *from, const struct tmx_setting *root, struct tmx_err *err)
{
    const struct tmx_setting *list = tmx_setting_list(root, "values", 0, MAX_VALUES, err);
    from->any = list != NULL;
    from->n_value = tmx_setting_length(list);
    TMX_TAKE(&from->arena, from->value, from->n_value);
    tmx_arena_check(&from->arena, err);
    for (size_t i = 0; i < from->n_value && !err->code; i++) {
        read_value(tmx_setting_at(list, i), from, &from->value[i], err);
    }
}

void tmx_values_finish(struct tmx_value_source *from)
{
    tmx_arena_finish(&from->arena);
}

enum tmx_outcome tmx_value_outcome(enum tmx_paper_relation relation, double printed, double ours, double band)
{
    const double error = ours - printed;
    if (!isfinite(error)) {
        return TMX_NO_VALUE;
    }
    const double beyond = relation == TMX_PAPER_AT_MOST    ? error
                          : relation == TMX_PAPER_AT_LEAST ? -error
                                                           : fabs(error);
    return beyond <= band ? TMX_IN_BAND : TMX_OUT_OF_BAND;
}

double tmx_values_ours(const struct tmx_value_source *from, size_t value, size_t seed)
{
    const struct tmx_value *v = &from->value[value];
    char why[TMX_WHY];
    double ours = v->pick.column[0] ? from->number(from->ctx, &v->pick, seed, why) : NAN;
    ours -= v->has_minus ? from->number(from->ctx, &v->minus, seed, why) : 0;
    return v->has_over ? ours / from->number(from->ctx, &v->over, seed, why) : ours;
}

/* "of policy variant", and what the second pick has otherwise. */
static void describe(const struct tmx_value *v, char *text, size_t size)
{
    const struct tmx_pick *p = &v->pick, *q = v->has_minus ? &v->minus : v->has_over ? &v->over : p;
    if (v->name[0]) {
        snprintf(text, size, "%s", v->name);
        return;
    }
    const char *const has[] = {p->of, p->policy, p->variant}, *const other[] = {q->of, q->policy, q->variant};
    text[0] = '\0';
    for (size_t i = 0; i < 3; i++) {
        tmx_text_add(text, size, "%s%s", text[0] && has[i][0] ? " " : "", has[i]);
    }
    for (size_t i = 0; i < 3; i++) {
        if (strcmp(has[i], other[i]) != 0) {
            tmx_text_add(text, size, " %s %s", v->has_minus ? "less" : "over", other[i]);
        }
    }
}

struct tmx_table *tmx_values_table(const struct tmx_value_source *from, struct tmx_table **seeds)
{
    static const char columns[] =
        "value paper figure quantity case unit paper_value:2 ours:2 sd:2 ci95:2 seeds:d origin "
        "relation error:2 band:2 outcome follows spread:2 as_one weighs headline under sets_low:1 "
        "sets_high:1";
    const bool several = seeds && from->n_seed > 1;
    struct tmx_table *t = tmx_table_of(columns + (from->number_rows ? 0 : strlen("value ")));
    struct tmx_table *each = several ? tmx_table_of("figure quantity case seed:d ours:2") : NULL;
    for (size_t i = 0; i < from->n_value; i++) {
        const struct tmx_value *v = &from->value[i];
        double printed = v->value;
        struct tmx_moments of = {0};
        char text[320], row[16], why[TMX_WHY];
        describe(v, text, sizeof text);
        for (size_t k = 0; k < from->n_seed; k++) {
            const double x = tmx_values_ours(from, i, k);
            tmx_moments_add(&of, x);
            tmx_table_row(each, "%s %s %s %zu %G", v->figure, v->quantity, text, from->first_seed + k, x);
        }
        if (v->printed[0]) {
            struct tmx_pick p = v->pick;
            memcpy(p.column, v->printed, sizeof p.column);
            printed = from->number(from->ctx, &p, 0, why);
        }
        const double mean = tmx_moments_mean(&of);
        const double band = v->band < absent ? v->band : fabs(printed) * v->band_pct / 100;
        const bool undecided = v->relation != TMX_PAPER_EQUAL && fabs(mean - printed) < 2 * v->spread;
        const enum tmx_outcome outcome =
            undecided ? TMX_UNDECIDED
                      : tmx_value_outcome((enum tmx_paper_relation)v->relation, printed, mean, band);
        if (from->number_rows) {
            snprintf(row, sizeof row, "v%zu", i + 1);
            tmx_table_text(t, row);
        }
        tmx_table_row(t, "%s %s %s %s %s %G %G %G %G %zu %s %s %G %G %s %s %g %s %s %s %s %G %G", from->paper,
                      v->figure, v->quantity, text, v->unit, printed, mean, tmx_moments_sd(&of),
                      tmx_moments_ci95(&of), from->n_seed,
                      tmx_origins[from->fitted && v->origin == TMX_WATCHED ? TMX_FITTED : v->origin],
                      relations[v->relation], mean - printed, band, tmx_outcomes[outcome],
                      v->follows ? "yes" : "no", v->spread, v->as_one, v->weighs ? "yes" : "no", v->headline,
                      v->under, v->low < absent ? v->low : NAN, v->high < absent ? v->high : NAN);
    }
    if (several) {
        *seeds = each;
    }
    return t;
}

bool tmx_values_find(const struct tmx_setting *root, const struct tmx_pick *pick, enum tmx_origin origin,
                     double *printed)
{
    const struct tmx_setting *list = tmx_setting_member(root, "values");
    for (size_t i = 0; list && i < tmx_setting_length(list); i++) {
        const struct tmx_setting *e = tmx_setting_at(list, i);
        struct tmx_value v;
        struct tmx_err none = {0};
        tmx_opt_read(value_opts, &v, e, value_also, &none);
        if (!tmx_opt_read(pick_opts, &v.pick, e, pick_also, &none) && v.origin == (int)origin &&
            !tmx_setting_member(e, "minus") && !tmx_setting_member(e, "over") &&
            strcmp(v.pick.of, pick->of) == 0 && strcmp(v.pick.policy, pick->policy) == 0 &&
            strcmp(v.pick.column, pick->column) == 0 && strcmp(v.pick.variant, pick->variant) == 0) {
            *printed = v.value;
            return true;
        }
    }
    return false;
}

void tmx_score_add(struct tmx_score *s, const char *origin, const char *outcome)
{
    const size_t o = tmx_names_find(origin, tmx_origins, TMX_N_ORIGIN),
                 k = tmx_names_find(outcome, tmx_outcomes, TMX_N_OUTCOME);
    if (o < TMX_N_ORIGIN && k < TMX_N_OUTCOME) {
        s->n[o][k]++;
    }
}

size_t tmx_score_of(const struct tmx_score *s, enum tmx_origin o)
{
    size_t n = 0;
    for (size_t k = 0; k < TMX_N_OUTCOME; k++) {
        n += s->n[o][k];
    }
    return n;
}

/* ---- the report of papers against ours, from the suites' paper.csv files and hand-written notes ---- */

/* The notes on a suite: file NOTES/<suite>.md, or in NOTES/<suite up to its first "-">.md the part below the
 * heading "## Suite <suite>". In a part, the title ("# ...") is skipped and "#### <quantity>" begins the note
 * on one quantity. */
struct notes {
    struct tmx_text_file text;
    bool is_part; /* below its heading, otherwise above the first one */
    char heading[256];
};

static bool begins(struct tmx_span s, const char *with)
{
    return tmx_span_length(s) >= strlen(with) && memcmp(s.begin, with, strlen(with)) == 0;
}

/* The part of the notes on a quantity ("": on the whole suite). Prints it, or returns whether there is one
 * when out is NULL. */
static bool note_of(const struct notes *notes, const char *quantity, FILE *out)
{
    struct tmx_lines l = {0};
    bool here = !notes->is_part, inside = !quantity[0], found = false;
    while (notes->text.data && tmx_lines_next(&l, &notes->text)) {
        if (begins(l.line, "## Suite ")) {
            here = notes->is_part && tmx_span_is(l.line, notes->heading);
            inside = !quantity[0];
            continue;
        }
        if (begins(l.line, "#### ")) {
            inside = tmx_span_is((struct tmx_span){l.line.begin + 5, l.line.end}, quantity);
            continue;
        }
        if (here && inside && !begins(l.line, "# ") && (tmx_span_length(l.line) > 0 || found)) {
            found = true;
            if (out) {
                fprintf(out, "%.*s\n", (int)tmx_span_length(l.line), l.line.begin);
            }
        }
    }
    return found;
}

static void load_notes(struct notes *n, const char *dir, const char *suite, struct tmx_err *err)
{
    char path[1024];
    snprintf(n->heading, sizeof n->heading, "## Suite %s", suite);
    snprintf(path, sizeof path, "%s/%s.md", dir, suite);
    if (!tmx_os_exists(path)) {
        n->is_part = true;
        snprintf(path, sizeof path, "%s/%.*s.md", dir, (int)strcspn(suite, "-"), suite);
    }
    if (!err->code && tmx_os_exists(path)) {
        tmx_text_load(&n->text, path, err);
    }
}

/* A number as people read it; "-" for none. */
static void print_number(const struct tmx_csv *csv, size_t row, const char *column, const char *form,
                         FILE *out)
{
    double v;
    fputs("| ", out);
    if (tmx_csv_real(csv, row, tmx_csv_column(csv, column), &v)) {
        fprintf(out, form, fabs(v) < 5e-7 ? 0 : v);
    } else {
        fputc('-', out);
    }
    fputc(' ', out);
}

/* The folder's paper.csv; no rows for a suite without the paper's values. */
static void read_paper(struct tmx_csv *csv, const char *dir, struct tmx_err *err)
{
    char path[1024];
    if (!tmx_os_exists(dir)) {
        tmx_error_at(err, TMX_EIO, dir, 0, "no such folder; make it with `thermix table SUITE -o %s`", dir);
    } else if (!tmx_path_join(path, dir, "paper.csv", err) && tmx_os_exists(path)) {
        (void)(tmx_csv_read(csv, path, err) ||
               tmx_csv_need(csv,
                            "paper figure quantity case unit paper_value ours sd relation origin error band "
                            "outcome follows",
                            err));
    }
}

/* A suite's folder, read. */
struct suite {
    const char *name;
    struct tmx_csv csv;
    struct notes notes;
};

static void print_suite(const struct suite *s, FILE *out)
{
    const struct tmx_csv *csv = &s->csv;
    fprintf(out, "\n## Suite %s", s->name);
    if (csv->n_row > 0) {
        fprintf(out, " (paper %s)", tmx_csv_at(csv, 0, "paper"));
    }
    fprintf(out, "\n\n");
    if (note_of(&s->notes, "", out) && csv->n_row > 0) {
        fputc('\n', out);
    }
    if (csv->n_row > 0) {
        fprintf(out,
                "| where | quantity | case | unit | paper | ours | sd | error | band | origin | outcome |\n"
                "| --- | --- | --- | --- | ---: | ---: | ---: | ---: | ---: | --- | --- |\n");
        for (size_t r = 0; r < csv->n_row; r++) {
            const char *relation = tmx_csv_at(csv, r, "relation");
            fprintf(out, "| %s | %s | %s | %s ", tmx_csv_at(csv, r, "figure"), tmx_csv_at(csv, r, "quantity"),
                    tmx_csv_at(csv, r, "case"), tmx_csv_at(csv, r, "unit"));
            print_number(csv, r, "paper_value",
                         strcmp(relation, "at_most") == 0    ? "at most %.4g"
                         : strcmp(relation, "at_least") == 0 ? "at least %.4g"
                                                             : "%.4g",
                         out);
            print_number(csv, r, "ours", "%.4g", out);
            print_number(csv, r, "sd", "%.2g", out);
            print_number(csv, r, "error", "%+.3g", out);
            print_number(csv, r, "band", "%.3g", out);
            fprintf(out, "| %s | %s |\n", tmx_csv_at(csv, r, "origin"), tmx_csv_at(csv, r, "outcome"));
        }
        fputc('\n', out);
        /* the headings' notes, each once, in the order the quantities appear */
        const size_t q = tmx_csv_column(csv, "quantity");
        for (size_t r = 0; r < csv->n_row; r++) {
            const char *quantity = tmx_csv_cell(csv, r, q);
            bool seen = false;
            for (size_t k = 0; k < r && !seen; k++) {
                seen = strcmp(tmx_csv_cell(csv, k, q), quantity) == 0;
            }
            if (!seen && note_of(&s->notes, quantity, NULL)) {
                fprintf(out, "**%s.** ", quantity);
                (void)note_of(&s->notes, quantity, out);
                fputc('\n', out);
            }
        }
    }
}

/* In bands, of all, by origin; one row a suite, papers in order. */
static void print_scores(const struct suite *suite, size_t n, FILE *out)
{
    static const char *const papers[] = {"000", "001", "002", "003", "004"};
    static const enum tmx_origin shown[] = {TMX_FITTED, TMX_WATCHED,  TMX_DERIVED,
                                            TMX_UNSEEN, TMX_IDENTITY, TMX_INPUT};
    enum { N_PAPER = sizeof papers / sizeof papers[0] };
    fprintf(
        out,
        "\n| paper | suite | independent values | fitted, in band | watched | derived | unseen | identity | "
        "input | undecided | no value | follow |\n"
        "| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |\n");
    for (size_t i = 0; i < (N_PAPER + 1) * n; i++) { /* others last */
        const struct tmx_csv *csv = &suite[i % n].csv;
        struct tmx_score score = {0};
        size_t none = 0, undecided = 0, follow = 0;
        if (csv->n_row == 0 || tmx_names_find(tmx_csv_at(csv, 0, "paper"), papers, N_PAPER) != i / n) {
            continue;
        }
        for (size_t r = 0; r < csv->n_row; r++) {
            if (strcmp(tmx_csv_at(csv, r, "follows"), "yes") == 0) {
                follow++;
            } else {
                tmx_score_add(&score, tmx_csv_at(csv, r, "origin"), tmx_csv_at(csv, r, "outcome"));
            }
        }
        fprintf(out, "| %s | %s | %zu ", tmx_csv_at(csv, 0, "paper"), suite[i % n].name, csv->n_row - follow);
        for (size_t k = 0; k < sizeof shown / sizeof shown[0]; k++) {
            const size_t *of = score.n[shown[k]];
            none += of[TMX_NO_VALUE];
            undecided += of[TMX_UNDECIDED];
            fprintf(out, "| %zu of %zu ", of[TMX_IN_BAND], tmx_score_of(&score, shown[k]));
        }
        fprintf(out, "| %zu | %zu | %zu |\n", undecided, none, follow);
    }
}

/* In front of the papers. */
static const char head[] =
    "# What the papers say, and what thermix computes\n"
    "\n"
    "Generated by `thermix reproduce` from the suites' `paper.csv` files and the notes in\n"
    "`docs/notes/`. Every value the papers' texts print has an origin and an outcome.\n"
    "\n"
    "* **fitted**: parameters were fitted to it; **watched**: looked at while a reading or a constant was\n"
    "  chosen; **derived**: follows from fitted ones inside a model that was chosen with it in view;\n"
    "  **unseen**: nothing was fitted to it, and no reading was chosen after looking at it;\n"
    "  **identity**: could not come out otherwise; **input**: went in. Values that follow from others,\n"
    "  or that nothing can miss, are counted apart.\n"
    "* **undecided**: an order closer than twice what tick, grid and seed move it.\n"
    "* **error** is ours less the paper's; **in band** when it is within the band stated in the suite's\n"
    "  file, or does not pass the printed bound by more; **no value** where thermix has no number. With\n"
    "  several seeds, ours is their mean and sd their standard deviation.\n";

enum tmx_status tmx_reproduce(const char *const *dir, size_t n_dir, const char *notes, FILE *out,
                              struct tmx_err *err)
{
    struct tmx_arena arena = {0};
    struct suite *suite;
    TMX_TAKE(&arena, suite, n_dir);
    tmx_arena_check(&arena, err);
    for (size_t i = 0; i < n_dir && !err->code; i++) { /* before anything is printed: half a report is none */
        struct suite *s = &suite[i];
        s->name = tmx_text_behind(dir[i], '/');
        read_paper(&s->csv, dir[i], err);
        load_notes(&s->notes, notes, s->name, err);
        if (s->csv.n_row == 0 && !note_of(&s->notes, "", NULL)) {
            tmx_error_at(err, TMX_EIO, dir[i], 0, "no paper.csv there, and no notes for it in %s", notes);
        }
    }
    if (!err->code) {
        fputs(head, out);
        print_scores(suite, n_dir, out);
    }
    for (size_t i = 0; i < n_dir && suite; i++) {
        if (!err->code) {
            print_suite(&suite[i], out);
        }
        tmx_text_finish(&suite[i].notes.text);
        tmx_csv_finish(&suite[i].csv);
    }
    tmx_arena_finish(&arena);
    return err->code;
}

enum tmx_status tmx_paper_stack(const char *const *dir, size_t n_dir, struct tmx_table **t,
                                struct tmx_err *err)
{
    static const char *const numbers[] = {"paper_value", "ours", "sd", "seeds", "error", "band"};
    enum { N_NUMBER = sizeof numbers / sizeof numbers[0] };
    struct tmx_arena arena = {0};
    struct tmx_csv *csv;
    TMX_TAKE(&arena, csv, n_dir);
    tmx_arena_check(&arena, err);
    for (size_t i = 0; i < n_dir && !err->code; i++) {
        char path[1200];
        tmx_path_join(path, dir[i], "paper.csv", err);
        tmx_csv_read(&csv[i], path, err);
    }
    *t = err->code ? NULL : tmx_table_of("suite");
    for (size_t i = 0; i < n_dir && *t; i++) { /* all columns, in the order in which they are met */
        for (size_t c = 0; c < csv[i].n_column; c++) {
            const char *name = csv[i].column[c];
            if (tmx_table_find(*t, name) == tmx_table_columns(*t)) {
                tmx_table_extend(*t, name, TMX_COLUMN_TEXT,
                                 tmx_names_find(name, numbers, N_NUMBER) < N_NUMBER ? TMX_TEXT_TYPED : 0);
            }
        }
    }
    tmx_table_check(*t, err);
    for (size_t i = 0; i < n_dir && !err->code; i++) {
        for (size_t r = 0; r < csv[i].n_row; r++) {
            tmx_table_text(*t, dir[i]);
            for (size_t c = 1; c < tmx_table_columns(*t); c++) {
                const size_t from = tmx_csv_column(&csv[i], tmx_table_column(*t, c)->name);
                if (from < csv[i].n_column && tmx_csv_cell(&csv[i], r, from)[0]) {
                    tmx_table_text(*t, tmx_csv_cell(&csv[i], r, from));
                } else {
                    tmx_table_empty(*t);
                }
            }
        }
    }
    for (size_t i = 0; csv && i < n_dir; i++) {
        tmx_csv_finish(&csv[i]);
    }
    tmx_arena_finish(&arena);
    return err->code;
}

const struct tmx_keys tmx_value_keys[] = {TMX_KEYS("values", pick_opts), TMX_KEYS("values", value_opts), {0}};

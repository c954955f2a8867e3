/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The report of papers against ours, from the suites' paper.csv files and hand-written notes. */
#include "papers/reproduce.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/arena.h"
#include "base/csv.h"
#include "base/os.h"
#include "base/text.h"
#include "papers/values.h"

/* The notes on a suite: file NOTES/<suite>.md, or in NOTES/<suite up to its first "-">.md the part below the
 * heading
 * "## Suite <suite>". In a part, the title ("# ...") is skipped and "#### <quantity>" begins the note on one
 * quantity. */
struct notes {
    struct tmx_text_file text;
    bool is_part; /* below its heading, otherwise above the first one */
    char heading[256];
};

static bool begins(struct tmx_span s, const char *with)
{
    const size_t n = strlen(with);
    return tmx_span_length(s) >= n && memcmp(s.begin, with, n) == 0;
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

static enum tmx_status load_notes(struct notes *n, const char *dir, const char *suite, struct tmx_err *err)
{
    char path[1024];
    *n = (struct notes){0};
    snprintf(n->heading, sizeof n->heading, "## Suite %s", suite);
    snprintf(path, sizeof path, "%s/%s.md", dir, suite);
    if (!tmx_os_exists(path)) {
        n->is_part = true;
        snprintf(path, sizeof path, "%s/%.*s.md", dir, (int)strcspn(suite, "-"), suite);
    }
    return tmx_os_exists(path) ? tmx_text_load(&n->text, path, err) : TMX_OK;
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

static void print_cells(const struct tmx_csv *csv, size_t row, FILE *out)
{
    static const char *const names[] = {"figure", "quantity", "case", "unit"};
    const char *relation = tmx_csv_at(csv, row, "relation");
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        fprintf(out, "| %s ", tmx_csv_cell(csv, row, tmx_csv_column(csv, names[i])));
    }
    print_number(csv, row, "paper_value",
                 strcmp(relation, "at_most") == 0    ? "at most %.4g"
                 : strcmp(relation, "at_least") == 0 ? "at least %.4g"
                                                     : "%.4g",
                 out);
    print_number(csv, row, "ours", "%.4g", out);
    print_number(csv, row, "sd", "%.2g", out);
    print_number(csv, row, "error", "%+.3g", out);
    print_number(csv, row, "band", "%.3g", out);
    fprintf(out, "| %s | %s |\n", tmx_csv_at(csv, row, "origin"), tmx_csv_at(csv, row, "outcome"));
}

/* The headings' notes, each printed once, in the order the quantities appear. */
static void print_notes(const struct tmx_csv *csv, const struct notes *notes, FILE *out)
{
    const size_t q = tmx_csv_column(csv, "quantity");
    for (size_t r = 0; r < csv->n_row; r++) {
        const char *quantity = tmx_csv_cell(csv, r, q);
        bool seen = false;
        for (size_t s = 0; s < r && !seen; s++) {
            seen = strcmp(tmx_csv_cell(csv, s, q), quantity) == 0;
        }
        if (!seen && note_of(notes, quantity, NULL)) {
            fprintf(out, "**%s.** ", quantity);
            (void)note_of(notes, quantity, out);
            fputc('\n', out);
        }
    }
}

/* The folder's paper.csv; no rows for a suite without the paper's values. */
static enum tmx_status read_paper(struct tmx_csv *csv, const char *dir, struct tmx_err *err)
{
    static const char *const need[] = {"paper",       "figure", "quantity", "case",     "unit",
                                       "paper_value", "ours",   "sd",       "relation", "origin",
                                       "error",       "band",   "outcome",  "follows"};
    char path[1024];
    *csv = (struct tmx_csv){0};
    if (!tmx_os_exists(dir)) {
        return tmx_fail_at(err, TMX_EIO, dir, 0, "no such folder; make it with `thermix table SUITE -o %s`",
                           dir);
    }
    enum tmx_status st = tmx_path_join(path, dir, "paper.csv", err);
    st = st ? st : tmx_os_exists(path) ? tmx_csv_read(csv, path, err) : TMX_OK;
    for (size_t i = 0; !st && csv->n_row > 0 && i < sizeof need / sizeof need[0]; i++) {
        if (tmx_csv_column(csv, need[i]) == csv->n_column) {
            st = tmx_fail_at(err, TMX_EPARSE, path, 1, "no column \"%s\"", need[i]);
        }
    }
    return st;
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
            print_cells(csv, r, out);
        }
        fputc('\n', out);
        print_notes(csv, &s->notes, out);
    }
}

/* In bands, of all, by origin; one row a suite, papers in order. */
static void print_score(const struct tmx_csv *csv, const char *name, FILE *out)
{
    static const enum tmx_origin shown[] = {TMX_FITTED, TMX_WATCHED,  TMX_DERIVED,
                                            TMX_UNSEEN, TMX_IDENTITY, TMX_INPUT};
    struct tmx_score score = {0};
    size_t none = 0, undecided = 0, follow = 0;
    for (size_t r = 0; r < csv->n_row; r++) {
        if (strcmp(tmx_csv_at(csv, r, "follows"), "yes") == 0) {
            follow++;
            continue;
        }
        tmx_score_add(&score, tmx_csv_at(csv, r, "origin"), tmx_csv_at(csv, r, "outcome"));
    }
    fprintf(out, "| %s | %s | %zu ", tmx_csv_at(csv, 0, "paper"), name, csv->n_row - follow);
    for (size_t i = 0; i < sizeof shown / sizeof shown[0]; i++) {
        const size_t *n = score.n[shown[i]];
        none += n[TMX_NO_VALUE];
        undecided += n[TMX_UNDECIDED];
        fprintf(out, "| %zu of %zu ", n[TMX_IN_BAND], tmx_score_of(&score, shown[i]));
    }
    fprintf(out, "| %zu | %zu | %zu |\n", undecided, none, follow);
}

static void print_scores(const struct suite *suite, size_t n, FILE *out)
{
    static const char *const papers[] = {"000", "001", "002", "003", "004"};
    enum { N_PAPER = sizeof papers / sizeof papers[0] };
    fprintf(
        out,
        "\n| paper | suite | independent values | fitted, in band | watched | derived | unseen | identity | "
        "input | undecided | no value | follow |\n"
        "| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |\n");
    for (size_t i = 0; i < (N_PAPER + 1) * n; i++) { /* others last */
        const struct tmx_csv *csv = &suite[i % n].csv;
        if (csv->n_row > 0 && tmx_names_find(tmx_csv_at(csv, 0, "paper"), papers, N_PAPER) == i / n) {
            print_score(csv, suite[i % n].name, out);
        }
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
    enum tmx_status st = TMX_TAKE(&arena, suite, n_dir) ? TMX_OK : tmx_no_memory(err);
    for (size_t i = 0; i < n_dir && !st; i++) { /* before anything is printed: half a report is none */
        struct suite *s = &suite[i];
        const char *slash = strrchr(dir[i], '/');
        s->name = slash ? slash + 1 : dir[i];
        st = read_paper(&s->csv, dir[i], err);
        st = st ? st : load_notes(&s->notes, notes, s->name, err);
        if (!st && s->csv.n_row == 0 && !note_of(&s->notes, "", NULL)) {
            st = tmx_fail_at(err, TMX_EIO, dir[i], 0, "no paper.csv there, and no notes for it in %s", notes);
        }
    }
    fputs(st ? "" : head, out);
    if (!st) {
        print_scores(suite, n_dir, out);
    }
    for (size_t i = 0; i < n_dir && suite; i++) {
        if (!st) {
            print_suite(&suite[i], out);
        }
        tmx_text_finish(&suite[i].notes.text);
        tmx_csv_finish(&suite[i].csv);
    }
    tmx_arena_finish(&arena);
    return st;
}

enum { MAX_COLUMN = 64 };

/* The names of all columns, in the order in which they are met. */
static size_t all_columns(const struct tmx_csv *csv, size_t n, struct tmx_column column[MAX_COLUMN])
{
    static const char *const numbers[] = {"paper_value", "ours", "sd", "seeds", "error", "band"};
    enum { N_NUMBER = sizeof numbers / sizeof numbers[0] };
    size_t n_column = 0;
    column[n_column++] = (struct tmx_column){"suite", TMX_COLUMN_TEXT, 0};
    for (size_t i = 0; i < n; i++) {
        for (size_t c = 0; c < csv[i].n_column; c++) {
            size_t at = 0;
            while (at < n_column && strcmp(column[at].name, csv[i].column[c]) != 0) {
                at++;
            }
            if (at == n_column && n_column < MAX_COLUMN) {
                column[n_column++] = (struct tmx_column){
                    csv[i].column[c], TMX_COLUMN_TEXT,
                    tmx_names_find(csv[i].column[c], numbers, N_NUMBER) < N_NUMBER ? TMX_TEXT_TYPED : 0};
            }
        }
    }
    return n_column;
}

enum tmx_status tmx_paper_stack(const char *const *dir, size_t n_dir, struct tmx_table **t,
                                struct tmx_err *err)
{
    struct tmx_column column[MAX_COLUMN];
    struct tmx_arena arena = {0};
    struct tmx_csv *csv;
    enum tmx_status st = TMX_TAKE(&arena, csv, n_dir) ? TMX_OK : tmx_no_memory(err);
    for (size_t i = 0; i < n_dir && !st; i++) {
        char path[1200];
        st = tmx_path_join(path, dir[i], "paper.csv", err);
        st = st ? st : tmx_csv_read(&csv[i], path, err);
    }
    const size_t n = st ? 0 : all_columns(csv, n_dir, column);
    st = st ? st : tmx_table_create(t, column, n, err);
    for (size_t i = 0; i < n_dir && !st; i++) {
        for (size_t r = 0; r < csv[i].n_row; r++) {
            tmx_table_text(*t, dir[i]);
            for (size_t c = 1; c < n; c++) {
                const size_t from = tmx_csv_column(&csv[i], column[c].name);
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
    return st;
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The report of papers against ours, from the suites' paper.csv files and hand-written notes. */
#include "papers/reproduce.h"

#include <math.h>
#include <string.h>

#include "core/base/csv.h"
#include "core/base/os.h"
#include "core/base/text.h"

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static void print_note(struct tmx_span s, FILE *out)
{
    fwrite(s.begin, 1, tmx_span_length(s), out);
    fputc('\n', out);
}

/* The part of a notes file that belongs to a heading "## <quantity>" ("" for the part before the
 * first); prints it, or tells whether there is one when out is NULL. */
static bool note_of(const struct tmx_text *notes, const char *quantity, FILE *out)
{
    struct tmx_lines l = {0};
    bool inside = !quantity[0], found = false;
    while (notes->data && tmx_lines_next(&l, notes)) {
        const size_t n = tmx_span_length(l.line);
        if (n > 3 && memcmp(l.line.begin, "## ", 3) == 0) {
            inside = tmx_span_is((struct tmx_span){l.line.begin + 3, l.line.end}, quantity);
            continue;
        }
        if (inside && (n > 0 || found)) {
            found = true;
            if (out) {
                print_note(l.line, out);
            }
        }
    }
    return found;
}

static void print_cells(const struct tmx_csv *csv, size_t row, FILE *out)
{
    static const char *const names[] = {"figure",      "quantity", "case",  "unit",
                                        "paper_value", "ours",     "status"};
    double paper, ours;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        const size_t c = tmx_csv_column(csv, names[i]);
        double v;
        if ((i == 4 || i == 5) && tmx_csv_real(csv, row, c, &v)) {
            fprintf(out, "| %.4g ", fabs(v) < 5e-7 ? 0 : v);
        } else {
            fprintf(out, "| %s ", tmx_csv_cell(csv, row, c));
        }
    }
    if (tmx_csv_real(csv, row, tmx_csv_column(csv, "paper_value"), &paper) &&
        tmx_csv_real(csv, row, tmx_csv_column(csv, "ours"), &ours)) {
        fprintf(out, "| %+.3g |\n", fabs(ours - paper) < 5e-7 ? 0 : ours - paper);
    } else {
        fprintf(out, "| |\n");
    }
}

/* The headings' notes, each printed once, in the order the quantities appear. */
static void print_notes(const struct tmx_csv *csv, const struct tmx_text *notes, FILE *out)
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

static enum tmx_status print_suite(const char *notes_dir, const char *dir, FILE *out, struct tmx_err *err)
{
    static const char *const need[] = {"paper", "figure",      "quantity", "case",
                                       "unit",  "paper_value", "ours",     "status"};
    char path[1024];
    struct tmx_csv csv = {0};
    struct tmx_text notes = {0};
    if (!tmx_os_exists(dir)) {
        return tmx_fail_at(err, TMX_EIO, dir, 0, "no such folder; make it with `thermix table SUITE -o %s`",
                           dir);
    }
    snprintf(path, sizeof path, "%s/%s.md", notes_dir, base_name(dir));
    enum tmx_status st = tmx_os_exists(path) ? tmx_text_load(&notes, path, err) : TMX_OK;
    snprintf(path, sizeof path, "%s/paper.csv", dir);
    if (!st && notes.data && !tmx_os_exists(path)) { /* a suite without the paper's values: its notes */
        fprintf(out, "\n## Suite %s\n\n", base_name(dir));
        (void)note_of(&notes, "", out);
        tmx_text_finish(&notes);
        return TMX_OK;
    }
    st = st ? st : tmx_csv_read(&csv, path, err);
    for (size_t i = 0; !st && i < sizeof need / sizeof need[0]; i++) {
        if (tmx_csv_column(&csv, need[i]) == csv.n_column) {
            st = tmx_fail_at(err, TMX_EPARSE, path, 1, "no column \"%s\"", need[i]);
        }
    }
    if (!st) {
        fprintf(out, "\n## Suite %s (paper %s)\n\n", base_name(dir),
                csv.n_row ? tmx_csv_cell(&csv, 0, tmx_csv_column(&csv, "paper")) : "-");
        if (note_of(&notes, "", out)) {
            fputc('\n', out);
        }
        fprintf(out, "| where | quantity | case | unit | paper | ours | status | ours - paper |\n"
                     "| --- | --- | --- | --- | ---: | ---: | --- | ---: |\n");
        for (size_t r = 0; r < csv.n_row; r++) {
            print_cells(&csv, r, out);
        }
        fputc('\n', out);
        print_notes(&csv, &notes, out);
    }
    tmx_text_finish(&notes);
    tmx_csv_finish(&csv);
    return st;
}

enum tmx_status tmx_reproduce(const char *const *dir, size_t n_dir, const char *notes, FILE *out,
                              struct tmx_err *err)
{
    enum tmx_status st = TMX_OK;
    fprintf(out,
            "# What the papers say, and what thermix computes\n\n"
            "Generated by `thermix reproduce` from the suites' `paper.csv` files and the notes in\n"
            "`docs/notes/`. Status: **calibrated** values were fitted to or chosen by looking at the\n"
            "paper's; **prediction** follows without having been looked at; **input** went in;\n"
            "**not_reproduced** is not reached, with the reason in the notes. An empty paper value is not\n"
            "printed in the paper's text.\n");
    for (size_t i = 0; i < n_dir && !st; i++) {
        st = print_suite(notes, dir[i], out, err);
    }
    return st;
}

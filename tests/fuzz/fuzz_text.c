/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tables and configurations. */
#define _POSIX_C_SOURCE 200809L
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/config.h"
#include "base/csv.h"
#include "base/opt.h"
#include "tests/fuzz/fuzz.h"

void fuzz_csv(const char *path)
{
    struct tmx_csv csv = {0};
    struct tmx_err err = {0};
    double v;
    if (fuzz_reads(tmx_csv_read(&csv, path, &err), &err)) {
        for (size_t row = 0; row < csv.n_row; row++) {
            for (size_t column = 0; column < csv.n_column; column++) {
                fuzz_check(tmx_csv_cell(&csv, row, column));
                (void)tmx_csv_real(&csv, row, column, &v);
            }
        }
    }
    tmx_csv_finish(&csv);
}

/* Cells that are written come back as they were. */
static void write_cells(const struct tmx_csv *csv, FILE *out)
{
    for (size_t row = 0; row <= csv->n_row; row++) {
        for (size_t column = 0; column < csv->n_column; column++) {
            fputs(column ? "," : "", out);
            if (row == 0) {
                fprintf(out, "c%zu", column); /* a name may be like another one behind a mark */
            } else {
                tmx_csv_text(tmx_csv_cell(csv, row - 1, column), out);
            }
        }
        fputc('\n', out);
    }
}

/* What a spreadsheet would run begins with ' when it is written. */
static bool same(const char *a, const char *b)
{
    return strcmp(a, b) == 0 || (b[0] == '\'' && strcmp(a, b + 1) == 0);
}

void fuzz_table(const char *path)
{
    struct tmx_csv csv = {0}, again = {0};
    struct tmx_err err = {0};
    char *text = NULL;
    size_t size = 0;
    if (tmx_csv_read(&csv, path, &err) == TMX_OK && csv.n_column > 1) {
        FILE *f = open_memstream(&text, &size);
        fuzz_check(f);
        write_cells(&csv, f);
        fclose(f);
        fuzz_check(tmx_csv_read(&again, fuzz_file(text, size), &err) == TMX_OK);
        fuzz_check(again.n_row == csv.n_row && again.n_column == csv.n_column);
        for (size_t i = 0; i < csv.n_row * csv.n_column; i++) {
            fuzz_check(same(csv.cell[i], again.cell[i]));
        }
        free(text);
    }
    tmx_csv_finish(&csv);
    tmx_csv_finish(&again);
}

/* A part with an option of each type, and what its values may be. */

struct part {
    double real;
    int integer, choice;
    bool flag;
    char text[8];
};

static const char *const part_words[] = {"one", "two", NULL};
static const struct tmx_opt part_options[] = {TMX_ROW_REAL(part, real, "W", -1, 1e6, 0, "a number"),
                                              TMX_ROW_INT(part, integer, "1", -5, 5, 0, "an integer"),
                                              TMX_ROW_CHOICE(part, choice, part_words, "one", "a word"),
                                              TMX_ROW_BOOL(part, flag, 0, "a switch"),
                                              TMX_ROW_TEXT(part, text, "", "some text"),
                                              {0}};

static bool part_within(const struct part *p)
{
    return p->real >= -1 && p->real <= 1e6 && p->integer >= -5 && p->integer <= 5 && p->choice >= 0 &&
           p->choice < 2;
}

/* Configuration files and the option tables that read them. */
void fuzz_libconfig(const char *path)
{
    struct tmx_config *cfg = NULL;
    struct part part;
    struct tmx_err err = {0};
    enum tmx_status st = tmx_config_load(&cfg, path, NULL, &err);
    st = st ? st : tmx_opt_read(part_options, &part, tmx_config_root(cfg), NULL, &err);
    fuzz_check(st ? err.msg[0] != 0 : part_within(&part));
    tmx_config_close(cfg);
}

/* Overrides, one a line, of a configuration that stays; and the same words as values of options. */
void fuzz_set(const char *path)
{
    struct tmx_config *cfg = NULL;
    struct part part = {0};
    struct tmx_lines l = {0};
    struct tmx_err err = {0};
    struct tmx_text_file t;
    if (tmx_text_load(&t, path, &err) != TMX_OK) {
        return;
    }
    fuzz_check(tmx_config_parse(&cfg, "real = 1.0; text = \"a\"; flag = true;", "part", &err) == TMX_OK);
    while (tmx_lines_next(&l, &t)) {
        char word[256];
        if (!tmx_span_copy(l.line, word, sizeof word)) {
            continue;
        }
        (void)fuzz_reads(tmx_config_set(cfg, word, &err), &err);
        for (const struct tmx_opt *o = part_options; o->key; o++) {
            (void)fuzz_reads(tmx_opt_set(o, &part, word, "file", 1, &err), &err);
        }
        fuzz_check(part_within(&part));
    }
    if (fuzz_reads(tmx_opt_read(part_options, &part, tmx_config_root(cfg), NULL, &err), &err)) {
        fuzz_check(part_within(&part));
    }
    tmx_config_close(cfg);
    tmx_text_finish(&t);
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _POSIX_C_SOURCE 200809L
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/csv.h"
#include "tests/fuzz/fuzz.h"

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

void fuzz_reader(const char *path)
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

/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "papers/stack.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/csv.h"

enum { MAX_COLUMN = 64 };

static bool is_number(const char *column)
{
    static const char *const numbers[] = {"paper_value", "ours", "sd", "seeds", "error", "band"};
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        if (strcmp(column, numbers[i]) == 0) {
            return true;
        }
    }
    return false;
}

/* The names of all columns, in the order in which they are met. */
static size_t all_columns(const struct tmx_csv *csv, size_t n, struct tmx_column column[MAX_COLUMN])
{
    size_t n_column = 0;
    column[n_column++] = (struct tmx_column){"suite", TMX_COLUMN_TEXT, 0};
    for (size_t i = 0; i < n; i++) {
        for (size_t c = 0; c < csv[i].n_column; c++) {
            size_t at = 0;
            while (at < n_column && strcmp(column[at].name, csv[i].column[c]) != 0) {
                at++;
            }
            if (at == n_column && n_column < MAX_COLUMN) {
                column[n_column++] = (struct tmx_column){csv[i].column[c], TMX_COLUMN_TEXT,
                                                         is_number(csv[i].column[c]) ? TMX_TEXT_TYPED : 0};
            }
        }
    }
    return n_column;
}

enum tmx_status tmx_paper_stack(const char *const *dir, size_t n_dir, struct tmx_table **t,
                                struct tmx_err *err)
{
    struct tmx_column column[MAX_COLUMN];
    struct tmx_csv *csv = calloc(n_dir, sizeof *csv);
    enum tmx_status st = csv ? TMX_OK : tmx_fail(err, TMX_ENOMEM, "%zu folders", n_dir);
    for (size_t i = 0; i < n_dir && !st; i++) {
        char path[1200];
        snprintf(path, sizeof path, "%s/paper.csv", dir[i]);
        st = tmx_csv_read(&csv[i], path, err);
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
    free(csv);
    return st;
}

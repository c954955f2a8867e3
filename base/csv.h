/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TMX_BASE_CSV_H
#define TMX_BASE_CSV_H

/* Tables with a header line (RFC 4180: cells may have double quotes, "" is a quote): columns between commas,
 * or where the header has none between bars, semicolons or tabs. JSON lines are read as the same: the keys of
 * the first object are the columns, every object has them, a list or an object inside is a cell's text. */

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "base/err.h"

struct tmx_csv {
    char **cell;    /* [n_row * n_column] rows after the header, each cell a piece of text */
    char **column;  /* [n_column] names, pieces of text */
    char *text;     /* owned: the file, its cells ended by NULs */
    char *head;     /* owned: of JSON lines the first object, which has the columns' names */
    unsigned *line; /* [n_row] the line of each row in the file */
    unsigned head_line;
    size_t n_row, n_column;
    char source[512];
};

/* Every row must have as many cells as the header; blank lines and those that begin with # are skipped,
 * blanks around cells dropped. Text is UTF-8. Errors: TMX_EIO, TMX_EPARSE, TMX_ECONFIG, TMX_ENOMEM; of this
 * and the two that follow they stay (base/err.h), and err may be NULL. */
enum tmx_status tmx_csv_read(struct tmx_csv *csv, const char *path, struct tmx_err *err);
/* The same, but a row may end early, with `least` cells or more: the others are empty. */
enum tmx_status tmx_csv_read_short(struct tmx_csv *csv, const char *path, size_t least, struct tmx_err *err);
/* Row by row, for files that are long beside what is kept of them: once with n_row = 0 behind the header,
 * then once a row, which is row 0. */
typedef enum tmx_status tmx_csv_row_fn(void *ctx, const struct tmx_csv *csv, struct tmx_err *err);
enum tmx_status tmx_csv_each(const char *path, tmx_csv_row_fn *row, void *ctx, struct tmx_err *err);
/* Write one cell, in quotes where it needs them. A text that a spreadsheet would run as a formula gets a ' in
 * front. */
void tmx_csv_text(const char *text, FILE *out);

void tmx_csv_finish(struct tmx_csv *csv); /* accepts zeroed memory */

/* Index of a column; n_column when absent. */
size_t tmx_csv_column(const struct tmx_csv *csv, const char *name);
/* An error, which stays, unless it has these columns, which blanks separate. */
enum tmx_status tmx_csv_need(const struct tmx_csv *csv, const char *names, struct tmx_err *err);
/* A warning about columns that are none of these. */
void tmx_csv_idle(const struct tmx_csv *csv, const size_t *column, size_t n);
const char *tmx_csv_cell(const struct tmx_csv *csv, size_t row, size_t column);
/* The same of a column that is there, by its name. */
const char *tmx_csv_at(const struct tmx_csv *csv, size_t row, const char *column);
/* A cell as a number; false when it is none (empty ones too). */
bool tmx_csv_real(const struct tmx_csv *csv, size_t row, size_t column, double *v);
/* The same as a value: NAN where it is none, or where there is no such column. */
double tmx_csv_value(const struct tmx_csv *csv, size_t row, size_t column);
double tmx_csv_value_at(const struct tmx_csv *csv, size_t row, const char *column);

#endif

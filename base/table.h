/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TMX_BASE_TABLE_H
#define TMX_BASE_TABLE_H

/* Result tables: typed columns whose names carry the unit ("peak_temp_c"), rows of
 * cells, written as aligned text, CSV, Markdown or LaTeX. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/err.h"

enum tmx_column_type { TMX_COLUMN_TEXT, TMX_COLUMN_INT, TMX_COLUMN_REAL };

enum { TMX_TEXT_TYPED = 1 }; /* as decimals of a TEXT column: JSON has its numbers and booleans as such */

struct tmx_column {
    const char *name; /* with its unit; copied */
    enum tmx_column_type type;
    int decimals; /* REAL on a screen (text, Markdown, LaTeX), -n: as 1.5e-12 with n; CSV is always lossless
                   */
};

struct tmx_cell {
    bool empty;
    enum tmx_column_type type;
    int64_t integer;  /* INT */
    double real;      /* REAL, finite */
    const char *text; /* TEXT */
};

struct tmx_table;

/* NULL without memory: that takes cells as a table does, has no rows, and fails where it is checked. */
struct tmx_table *tmx_table_new(const struct tmx_column *columns, size_t n_column);
/* The same of columns in words: in "kernel blocks:d time_us:2 value:t" a TEXT, an INT, a REAL of two
 * decimals, and a TEXT that JSON has as the number or boolean it is. */
struct tmx_table *tmx_table_of(const char *columns);
/* One more column, its name copied, of a table without rows: of tmx_table_of("") the first. */
void tmx_table_extend(struct tmx_table *t, const char *name, enum tmx_column_type type, int decimals);
struct tmx_arena;
size_t tmx_columns_of(struct tmx_arena *arena, const char *words,
                      struct tmx_column **c); /* these; how many */
void tmx_table_destroy(struct tmx_table *t);  /* accepts NULL */

/* Append the next cell, left to right; a full row starts the next one. The type must
 * be the column's (tmx_assert). A text is copied. Lack of memory and a real that is
 * not finite are remembered and reported by tmx_table_check and every writer. */
void tmx_table_text(struct tmx_table *t, const char *text);
void tmx_table_int(struct tmx_table *t, int64_t v);
void tmx_table_real(struct tmx_table *t, double v);
void tmx_table_empty(struct tmx_table *t);                   /* no value: "" in CSV, "-" on screens */
void tmx_table_real_or_empty(struct tmx_table *t, double v); /* empty where v is not finite */
/* The next cells at once: %s TEXT, %d, %zu and PRId64 INT, %g REAL, %G REAL that is empty where
 * it is not finite, "-" empty. Blanks between them are skipped. */
void tmx_table_row(struct tmx_table *t, const char *cells, ...) TMX_PRINTF(2, 3);

/* TMX_OK when every row is whole and every real finite; else TMX_ENOMEM or TMX_ESOLVE
 * naming the column and the row. An error that *err (may be NULL) has already stays, and its code is
 * returned.
 */
enum tmx_status tmx_table_check(const struct tmx_table *t, struct tmx_err *err);

size_t tmx_table_rows(const struct tmx_table *t);
size_t tmx_table_columns(const struct tmx_table *t);
const struct tmx_column *tmx_table_column(const struct tmx_table *t, size_t column);
const struct tmx_cell *tmx_table_cell(const struct tmx_table *t, size_t row, size_t column);

/* Index of a column; their number where there is none of this name. */
size_t tmx_table_find(const struct tmx_table *t, const char *name);
/* Append a cell of another table as the next one. */
void tmx_table_copy(struct tmx_table *t, const struct tmx_cell *cell);

/* Each writer checks the table first; write errors stay in the FILE (ferror). */
TMX_NODISCARD enum tmx_status tmx_table_write_text(const struct tmx_table *t, FILE *out, struct tmx_err *err);

struct tmx_screen {
    size_t width; /* letters a line; 0: any */
    const char *const
        *column; /* [n_column] these columns, in this order, "all": every one; broken into blocks that fit */
    size_t n_column;           /* 0: those that say something and fit */
    const char *const *prefer; /* [n_prefer] they fit first */
    size_t n_prefer;
    bool wrap;        /* a last text that is too long goes on in the lines below it */
    size_t most_rows; /* without `column`: the first so many, and how many more there are; 0: all */
};
/* The columns of these names in this order ("all": all of them) as a table of its own. */
TMX_NODISCARD enum tmx_status tmx_table_choose(const struct tmx_table *t, const char *const *name,
                                               size_t n_name, struct tmx_table **out, struct tmx_err *err);
/* For a screen: columns that are the same or empty in every row, and those that do not fit, become lines
 * below. TMX_ECONFIG for a column that there is not. */
TMX_NODISCARD enum tmx_status tmx_table_write_screen(const struct tmx_table *t, const struct tmx_screen *o,
                                                     FILE *out, struct tmx_err *err);
/* A cell as text writers print it; in buf, or its own text. */
const char *tmx_table_cell_text(const struct tmx_table *t, size_t row, size_t column, char *buf, size_t size);
TMX_NODISCARD enum tmx_status tmx_table_write_csv(const struct tmx_table *t, FILE *out, struct tmx_err *err);
TMX_NODISCARD enum tmx_status tmx_table_write_markdown(const struct tmx_table *t, FILE *out,
                                                       struct tmx_err *err);
/* A tabular of the package booktabs. */
TMX_NODISCARD enum tmx_status tmx_table_write_latex(const struct tmx_table *t, FILE *out,
                                                    struct tmx_err *err);

#endif

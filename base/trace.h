/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TMX_BASE_TRACE_H
#define TMX_BASE_TRACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "base/arena.h"
#include "base/err.h"

/* Tables of named columns: a line of names, then one number per name and line. The
 * format of HotSpot's power (.ptrace) and temperature (.ttrace) traces. */

struct tmx_trace {
    char **name; /* [n_column] spelled as in the file, may repeat */
    size_t n_column;
    double *value; /* [n_row * n_column] owned, row after row */
    size_t n_row;
    unsigned *line;         /* [n_row] owned: where each row stood */
    unsigned name_line;     /* where the names stood */
    bool comma;             /* columns between commas; then also: */
    double step_s;          /* from row to row of a column of time, which is not among the columns; 0: none */
    char source[512];       /* file name for messages */
    struct tmx_arena arena; /* of the names */
};

/* Read the file at path ("-": standard input) into *t (overwritten; end it with
 * tmx_trace_finish, also after failure). Blank lines and lines starting with `#` are
 * skipped. Columns are between blanks, as HotSpot's, or commas; of these the first may be a time (time,
 * time_s, t_ms, "Time (us)", ...), which rises by equal steps. Errors: no names, no rows, a row of another
 * width, a value that is no finite decimal number (TMX_EPARSE with file:line), TMX_EIO, TMX_ENOMEM. */
TMX_NODISCARD enum tmx_status tmx_trace_read(const char *path, struct tmx_trace *t, struct tmx_err *err);
void tmx_trace_finish(struct tmx_trace *t); /* accepts zeroed memory */

/* Index of the first column of this name (case-insensitive); n_column when absent. */
size_t tmx_trace_find(const struct tmx_trace *t, const char *name);

/* mean[n_column]: of each column over all rows. */
void tmx_trace_mean(const struct tmx_trace *t, double *mean);

enum { TMX_TRACE_LOSSLESS = -1 }; /* as decimals: shortest digits that read back equal */
/* Tab separated, no tab before the newline. */
void tmx_trace_print_names(const char *const *name, size_t n, FILE *out);
void tmx_trace_print_row(const double *value, size_t n, int decimals, FILE *out);

/* Traces as NumPy's .npy files. */

/* tmx_trace_read, and of a file that begins as a .npy does: a little-endian array of float32 or float64,
 * one-dimensional of named fields, or rows and columns whose names are in `X.names` beside `X.npy`. A
 * row's line is its number, from 1. *npy says which it was. Errors: tmx_trace_read's. */
enum tmx_status tmx_trace_read_any(const char *path, struct tmx_trace *t, bool *npy, struct tmx_err *err);

/* The head of a .npy file of n_row rows with named float64 fields; the rows follow as tmx_trace_put_row has
 * them, digit for digit. */
void tmx_trace_put_names(const char *const *name, size_t n, size_t n_row, FILE *out);
void tmx_trace_put_row(const double *value, size_t n, FILE *out);
/* Is a trace to be written in binary: does the path end in .npy? */
bool tmx_trace_wants_npy(const char *path);

#endif

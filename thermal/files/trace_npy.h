/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TMX_THERMAL_FILES_TRACE_NPY_H
#define TMX_THERMAL_FILES_TRACE_NPY_H

/* Traces as NumPy's .npy files. */

#include <stdbool.h>

#include "base/trace.h"

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

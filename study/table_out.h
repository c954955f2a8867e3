/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TMX_STUDY_TABLE_OUT_H
#define TMX_STUDY_TABLE_OUT_H

#include "base/table.h"

/* --format of every command that prints a table. */
enum tmx_format {
    TMX_FORMAT_TEXT,
    TMX_FORMAT_CSV,
    TMX_FORMAT_MARKDOWN,
    TMX_FORMAT_JSON,
    TMX_FORMAT_LATEX,
    TMX_FORMAT_OPENMETRICS
};
extern const char *const tmx_formats[]; /* their words, NULL-terminated */

/* JSON is an array of objects keyed by column name, numbers lossless, empty cells null. OpenMetrics is a
 * gauge thermix_COLUMN for each column of numbers, with the texts as labels; smN_x is x of label sm. In a
 * table with time_s the labels are run and gpu, rows before 0 s are left out, and a text is a gauge of 1. */
enum tmx_status tmx_table_write(const struct tmx_table *t, enum tmx_format f, FILE *out, struct tmx_err *err);

/* Of this and the following an error stays (base/err.h), and its code is returned. On standard output; as a
 * table: as wide as the terminal, the columns that o says. */
enum tmx_status tmx_table_show(const struct tmx_table *t, enum tmx_format f, const struct tmx_screen *o,
                               struct tmx_err *err);

/* The same to a file that appears whole or not at all; "-" is standard output. */
enum tmx_status tmx_table_save(const struct tmx_table *t, enum tmx_format f, const char *path,
                               struct tmx_err *err);

/* Of its columns these alone, in this order; n 0: all. */
enum tmx_status tmx_table_save_columns(const struct tmx_table *t, enum tmx_format f, const char *path,
                                       const char *const *column, size_t n, struct tmx_err *err);

/* The same as CSV to dir/name; the folder is made. */
enum tmx_status tmx_table_save_in(const struct tmx_table *t, const char *dir, const char *name,
                                  struct tmx_err *err);

#endif

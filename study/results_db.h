/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TMX_STUDY_RESULTS_DB_H
#define TMX_STUDY_RESULTS_DB_H

/* Private to results*.c: the connection and the statements' errors. */

#include <sqlite3.h>

#include "study/results.h"

struct tmx_results {
    sqlite3 *db;
    char path[512];
    bool writes;
};

enum tmx_open { TMX_OPEN_READ, TMX_OPEN_WRITE };

/* Open and check application, version and integrity of the schema; in write mode make it. */
TMX_NODISCARD enum tmx_status tmx_results_connect(struct tmx_results **r, const char *path,
                                                  enum tmx_open mode, struct tmx_err *err);
/* *err from the connection's last error. */
enum tmx_status tmx_results_fail(const struct tmx_results *r, struct tmx_err *err);
TMX_NODISCARD enum tmx_status tmx_results_exec(struct tmx_results *r, const char *sql, struct tmx_err *err);
TMX_NODISCARD enum tmx_status tmx_results_prepare(struct tmx_results *r, sqlite3_stmt **stmt, const char *sql,
                                                  struct tmx_err *err);
/* Run a prepared statement that returns no rows, and reset it. */
TMX_NODISCARD enum tmx_status tmx_results_step(struct tmx_results *r, sqlite3_stmt *stmt,
                                               struct tmx_err *err);

#endif

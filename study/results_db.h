/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TMX_STUDY_RESULTS_DB_H
#define TMX_STUDY_RESULTS_DB_H

/* Private to results*.c: the connection and the statements' errors. */

#include <sqlite3.h>

#include "study/results.h"

enum { TMX_HASH_PARTS = 3 };

struct tmx_results {
    sqlite3 *db;
    char path[512];
    bool writes;
    sqlite3_stmt *part[TMX_HASH_PARTS]; /* a run's rows, in the order of its hash */
};

enum tmx_open { TMX_OPEN_READ, TMX_OPEN_WRITE };

/* Open and check application, version, schema and structure; in write mode make it where there is nothing
 * (path NULL: in memory). Nothing of a database that is there is written. */
TMX_NODISCARD enum tmx_status tmx_results_connect(struct tmx_results **r, const char *path,
                                                  enum tmx_open mode, struct tmx_err *err);
/* *err from the connection's last error. */
enum tmx_status tmx_results_fail(const struct tmx_results *r, struct tmx_err *err);
TMX_NODISCARD enum tmx_status tmx_results_exec(struct tmx_results *r, const char *sql, struct tmx_err *err);
TMX_NODISCARD enum tmx_status tmx_results_prepare(struct tmx_results *r, sqlite3_stmt **stmt, const char *sql,
                                                  struct tmx_err *err);
/* Before anything is written. */
TMX_NODISCARD enum tmx_status tmx_results_write(struct tmx_results *r, struct tmx_err *err);
/* The hash of a run, and that of the study and its points (id NULL), of what the database has. Statements may
 * use the first as the function intact(id, hash). */
TMX_NODISCARD enum tmx_status tmx_results_hash(struct tmx_results *r, const char *id, char hex[TMX_HASH_HEX],
                                               struct tmx_err *err);
/* Everything in it has its hash; else TMX_EPARSE. */
TMX_NODISCARD enum tmx_status tmx_results_whole(struct tmx_results *r, struct tmx_err *err);
/* The first column of the first row of a query: a number. */
TMX_NODISCARD enum tmx_status tmx_results_int(struct tmx_results *r, const char *sql, int *v,
                                              struct tmx_err *err);
/* Run a prepared statement that returns no rows, and reset it. */
TMX_NODISCARD enum tmx_status tmx_results_step(struct tmx_results *r, sqlite3_stmt *stmt,
                                               struct tmx_err *err);

#endif

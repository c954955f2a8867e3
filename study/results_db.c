/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "study/results_db.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/inputs.h"
#include "core/base/os.h"

enum { APPLICATION = 0x544d5852, BUSY_MS = 5000 }; /* "TMXR" */

static const char schema[] =
    "CREATE TABLE study(key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;"
    "CREATE TABLE point(n INTEGER PRIMARY KEY, run TEXT NOT NULL);"
    "CREATE TABLE run(id TEXT PRIMARY KEY, status TEXT NOT NULL CHECK(status IN ('done', 'failed')),"
    " error TEXT NOT NULL, seconds REAL NOT NULL, version TEXT NOT NULL, config TEXT NOT NULL) WITHOUT ROWID;"
    "CREATE TABLE parameter(run TEXT NOT NULL REFERENCES run(id), key TEXT NOT NULL, value,"
    " PRIMARY KEY(run, key)) WITHOUT ROWID;"
    "CREATE TABLE metric(run TEXT NOT NULL REFERENCES run(id), name TEXT NOT NULL, n INTEGER NOT NULL,"
    " value REAL NOT NULL, PRIMARY KEY(run, name)) WITHOUT ROWID;";

enum tmx_status tmx_results_fail(const struct tmx_results *r, struct tmx_err *err)
{
    const int code = sqlite3_errcode(r->db) & 0xff;
    const char *path = r->path;
    switch (code) {
    case SQLITE_NOMEM:
        return tmx_fail_at(err, TMX_ENOMEM, path, 0, "out of memory");
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
        return tmx_fail_at(err, TMX_EIO, path, 0,
                           "the database is locked by another program (waited %d s); finished runs are kept",
                           BUSY_MS / 1000);
    case SQLITE_FULL:
        return tmx_fail_at(err, TMX_EFULL, path, 0, "the disk is full; finished runs are kept");
    case SQLITE_IOERR:
        return tmx_fail_at(err, TMX_EFULL, path, 0,
                           "reading or writing failed (disk full?); finished runs are kept");
    case SQLITE_READONLY:
        return tmx_fail_at(err, TMX_EIO, path, 0, "the database is read-only");
    case SQLITE_NOTADB:
        return tmx_fail_at(err, TMX_EIO, path, 0, "not a results database");
    case SQLITE_CANTOPEN:
        return tmx_fail_at(err, TMX_EIO, path, 0, "cannot open: no such file or folder, or no permission");
    case SQLITE_CORRUPT:
        return tmx_fail_at(err, TMX_EIO, path, 0, "the database is damaged: %s", sqlite3_errmsg(r->db));
    default:
        return tmx_fail_at(err, TMX_EIO, path, 0, "%s", sqlite3_errmsg(r->db));
    }
}

enum tmx_status tmx_results_exec(struct tmx_results *r, const char *sql, struct tmx_err *err)
{
    return sqlite3_exec(r->db, sql, NULL, NULL, NULL) == SQLITE_OK ? TMX_OK : tmx_results_fail(r, err);
}

enum tmx_status tmx_results_prepare(struct tmx_results *r, sqlite3_stmt **stmt, const char *sql,
                                    struct tmx_err *err)
{
    return sqlite3_prepare_v2(r->db, sql, -1, stmt, NULL) == SQLITE_OK ? TMX_OK : tmx_results_fail(r, err);
}

enum tmx_status tmx_results_step(struct tmx_results *r, sqlite3_stmt *stmt, struct tmx_err *err)
{
    const int code = sqlite3_step(stmt);
    const enum tmx_status st = code == SQLITE_DONE || code == SQLITE_ROW ? TMX_OK : tmx_results_fail(r, err);
    sqlite3_reset(stmt);
    return st;
}

static enum tmx_status pragma_int(struct tmx_results *r, const char *sql, int *v, struct tmx_err *err)
{
    sqlite3_stmt *stmt = NULL;
    enum tmx_status st = tmx_results_prepare(r, &stmt, sql, err);
    if (!st && sqlite3_step(stmt) == SQLITE_ROW) {
        *v = sqlite3_column_int(stmt, 0);
    } else if (!st) {
        st = tmx_results_fail(r, err);
    }
    sqlite3_finalize(stmt);
    return st;
}

/* A table must be the one that we make: a view of that name may never end, another column may hold anything.
 */
static enum tmx_status check_schema(struct tmx_results *r, struct tmx_err *err)
{
    const char *text = schema;
    while (*text) {
        const char *end = strchr(text, ';');
        char sql[1024];
        int n = 0;
        snprintf(sql, sizeof sql, "SELECT count(*) FROM sqlite_master WHERE type = 'table' AND sql = ?");
        sqlite3_stmt *stmt = NULL;
        enum tmx_status st = tmx_results_prepare(r, &stmt, sql, err);
        if (!st) {
            sqlite3_bind_text(stmt, 1, text, (int)(end - text), SQLITE_STATIC);
            n = sqlite3_step(stmt) == SQLITE_ROW ? sqlite3_column_int(stmt, 0) : -1;
            st = n < 0 ? tmx_results_fail(r, err) : TMX_OK;
        }
        sqlite3_finalize(stmt);
        if (!st && n != 1) {
            const char *name = text + strlen("CREATE TABLE ");
            st = tmx_fail_at(err, TMX_EIO, r->path, 0,
                             "the database is damaged: its table %.*s is not the one that thermix makes",
                             (int)strcspn(name, "("), name);
        }
        if (st) {
            return st;
        }
        text = end + 1;
    }
    return TMX_OK;
}

static enum tmx_status check_format(struct tmx_results *r, bool *empty, struct tmx_err *err)
{
    int application = 0, version = 0, n_table = 0;
    enum tmx_status st = pragma_int(r, "PRAGMA application_id", &application, err);
    if (!st) {
        st = pragma_int(r, "PRAGMA user_version", &version, err);
    }
    if (!st) {
        st = pragma_int(r, "SELECT count(*) FROM sqlite_master", &n_table, err);
    }
    if (st) {
        return st;
    }
    *empty = application == 0 && n_table == 0;
    if (!*empty && application != APPLICATION) {
        return tmx_fail_at(err, TMX_EIO, r->path, 0,
                           "not a results database (it belongs to another program)");
    }
    if (!*empty && version != TMX_RESULTS_VERSION) {
        return tmx_fail_at(err, TMX_EIO, r->path, 0,
                           "a results database of version %d; this program reads version %d", version,
                           TMX_RESULTS_VERSION);
    }
    return *empty ? TMX_OK : check_schema(r, err);
}

static enum tmx_status make_schema(struct tmx_results *r, struct tmx_err *err)
{
    char sql[2048];
    bool empty = true;
    enum tmx_status st = tmx_results_exec(r, "BEGIN IMMEDIATE", err);
    if (st) {
        return st;
    }
    st = check_format(r, &empty, err); /* another process may have been faster */
    snprintf(sql, sizeof sql, "PRAGMA application_id = %d; PRAGMA user_version = %d; %s", (int)APPLICATION,
             (int)TMX_RESULTS_VERSION, schema);
    if (!st && empty) {
        st = tmx_results_exec(r, sql, err);
    }
    if (!st) {
        return tmx_results_exec(r, "COMMIT", err);
    }
    sqlite3_exec(r->db, "ROLLBACK", NULL, NULL, NULL);
    return st;
}

/* A read-only folder has no room for the WAL's index: read the file as it is. */
static int open_immutable(struct tmx_results *r, const char *path)
{
    char uri[1600] = "file:";
    size_t n = strlen(uri);
    for (const char *c = path; *c && n + 32 < sizeof uri; c++) {
        if (*c == '?' || *c == '#' || *c == '%') {
            n += (size_t)snprintf(uri + n, sizeof uri - n, "%%%02X", (unsigned char)*c);
        } else {
            uri[n++] = *c;
        }
    }
    snprintf(uri + n, sizeof uri - n, "?immutable=1");
    sqlite3_close(r->db);
    r->db = NULL;
    return sqlite3_open_v2(uri, &r->db, SQLITE_OPEN_READONLY | SQLITE_OPEN_URI, NULL);
}

static enum tmx_status connect_read(struct tmx_results *r, const char *path, struct tmx_err *err)
{
    bool empty = false;
    tmx_inputs_note(path, NULL, 0);
    if (sqlite3_open_v2(path, &r->db, SQLITE_OPEN_READONLY, NULL) != SQLITE_OK) {
        return tmx_results_fail(r, err);
    }
    sqlite3_busy_timeout(r->db, BUSY_MS);
    enum tmx_status st = check_format(r, &empty, err);
    if (st && (sqlite3_errcode(r->db) & 0xff) == SQLITE_CANTOPEN) {
        char wal[600];
        snprintf(wal, sizeof wal, "%.511s-wal", path);
        if (tmx_os_file_size(wal) > 0) { /* runs that only the log holds would be missing */
            return tmx_fail_at(
                err, TMX_EIO, path, 0,
                "%s holds runs that are not in it yet, and the folder is read-only; copy both to a "
                "folder that may be written",
                wal);
        }
        st = open_immutable(r, path) == SQLITE_OK ? check_format(r, &empty, err) : tmx_results_fail(r, err);
    }
    return !st && empty ? tmx_fail_at(err, TMX_EIO, path, 0, "an empty database: no results") : st;
}

static enum tmx_status connect_write(struct tmx_results *r, const char *path, struct tmx_err *err)
{
    bool empty = false;
    enum tmx_status st = tmx_os_mkdirs_for(path, err);
    if (st) {
        return st;
    }
    if (sqlite3_open_v2(path, &r->db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, NULL) != SQLITE_OK) {
        return tmx_results_fail(r, err);
    }
    sqlite3_busy_timeout(r->db, BUSY_MS);
    st = check_format(r, &empty, err);
    if (!st && sqlite3_db_readonly(r->db, "main") == 1) {
        st = tmx_fail_at(err, TMX_EIO, path, 0, "the database is read-only");
    }
    if (!st) {
        st = tmx_results_exec(r, "PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL", err);
    }
    return !st && empty ? make_schema(r, err) : st;
}

enum tmx_status tmx_results_connect(struct tmx_results **r, const char *path, enum tmx_open mode,
                                    struct tmx_err *err)
{
    struct tmx_results *n = calloc(1, sizeof *n);
    *r = NULL;
    if (!n) {
        return tmx_no_memory(err);
    }
    snprintf(n->path, sizeof n->path, "%s", path);
    enum tmx_status st = tmx_input_check(path, err); /* SQLite would wait for a FIFO's writer */
    n->writes = mode != TMX_OPEN_READ;
    st = st ? st : mode == TMX_OPEN_READ ? connect_read(n, path, err) : connect_write(n, path, err);
    if (st) {
        tmx_results_close(n);
        return st;
    }
    *r = n;
    return TMX_OK;
}

void tmx_results_close(struct tmx_results *r)
{
    if (r) {
        if (r->db && r->writes) { /* the last one to write leaves one file, which readers add none to */
            sqlite3_busy_timeout(r->db, 0);
            sqlite3_exec(r->db, "PRAGMA journal_mode = DELETE", NULL, NULL, NULL);
        }
        sqlite3_close(r->db);
        free(r);
    }
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "study/results_db.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/os.h"
#include "core/base/provenance.h"

enum { APPLICATION = 0x544d5852, BUSY_MS = 5000 }; /* "TMXR" */

static const char schema[] =
    "CREATE TABLE study(key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;"
    "CREATE TABLE point(n INTEGER PRIMARY KEY, run TEXT NOT NULL);"
    "CREATE TABLE run(id TEXT PRIMARY KEY, status TEXT NOT NULL CHECK(status IN ('done', 'failed')),"
    " error TEXT NOT NULL, seconds REAL NOT NULL, version TEXT NOT NULL, config TEXT NOT NULL, hash TEXT NOT "
    "NULL) WITHOUT ROWID;"
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
        return tmx_fail_at(err, TMX_EPARSE, path, 0, "not a results database");
    case SQLITE_CANTOPEN:
        if (sqlite3_extended_errcode(r->db) == SQLITE_CANTOPEN_SYMLINK) {
            return tmx_fail_at(err, TMX_EIO, path, 0,
                               "a symbolic link: a database is not written through one");
        }
        return tmx_fail_at(err, TMX_EIO, path, 0, "cannot open: no such file or folder, or no permission");
    case SQLITE_CORRUPT:
        return tmx_fail_at(err, TMX_EPARSE, path, 0, "the database is damaged: %s", sqlite3_errmsg(r->db));
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

enum tmx_status tmx_results_int(struct tmx_results *r, const char *sql, int *v, struct tmx_err *err)
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
            st = tmx_fail_at(err, TMX_EPARSE, r->path, 0,
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

/* Rows in a page that nothing leads to any more would be missing without a word. */
static enum tmx_status check_structure(struct tmx_results *r, struct tmx_err *err)
{
    sqlite3_stmt *stmt = NULL;
    enum tmx_status st = tmx_results_prepare(r, &stmt, "PRAGMA integrity_check(1)", err);
    if (!st && sqlite3_step(stmt) != SQLITE_ROW) {
        st = tmx_results_fail(r, err);
    }
    const char *answer = st ? "ok" : (const char *)sqlite3_column_text(stmt, 0);
    if (!answer || strcmp(answer, "ok") != 0) {
        st = tmx_fail_at(err, TMX_EPARSE, r->path, 0, "the database is damaged: %.200s",
                         answer ? answer : "no text");
    }
    sqlite3_finalize(stmt);
    return st;
}

/* ---- hashes of what is there ---- */

/* All rows that are left of a statement: types, lengths and bytes. */
static enum tmx_status hash_rows(struct tmx_results *r, sqlite3_stmt *stmt, struct tmx_hash *h,
                                 struct tmx_err *err)
{
    int code;
    while ((code = sqlite3_step(stmt)) == SQLITE_ROW) {
        for (int c = 0; c < sqlite3_column_count(stmt); c++) {
            const int type = sqlite3_column_type(stmt, c);
            const double real = type == SQLITE_FLOAT ? sqlite3_column_double(stmt, c) : 0;
            const sqlite3_int64 whole = type == SQLITE_INTEGER ? sqlite3_column_int64(stmt, c) : 0;
            const void *bytes =
                type == SQLITE_TEXT || type == SQLITE_BLOB ? sqlite3_column_blob(stmt, c) : NULL;
            const int n = bytes ? sqlite3_column_bytes(stmt, c) : 0;
            tmx_hash_add(h, &type, sizeof type);
            tmx_hash_add(h, &real, sizeof real);
            tmx_hash_add(h, &whole, sizeof whole);
            tmx_hash_add(h, &n, sizeof n);
            tmx_hash_add(h, bytes, (size_t)n);
        }
    }
    const enum tmx_status st = code == SQLITE_DONE ? TMX_OK : tmx_results_fail(r, err);
    sqlite3_reset(stmt);
    return st;
}

enum tmx_status tmx_results_hash(struct tmx_results *r, const char *id, char hex[TMX_HASH_HEX],
                                 struct tmx_err *err)
{
    static const char *const of_study[] = {"SELECT key, value FROM study WHERE key <> 'hash' ORDER BY key",
                                           "SELECT n, run FROM point ORDER BY n", NULL};
    static const char *const of_run[] = {
        "SELECT id, status, error, seconds, version, config FROM run WHERE id = ?",
        "SELECT key, value FROM parameter WHERE run = ? ORDER BY key",
        "SELECT name, n, value FROM metric WHERE run = ? ORDER BY name", NULL};
    struct tmx_hash *h = NULL;
    enum tmx_status st = tmx_hash_create(&h, err);
    for (size_t i = 0; !st && (id ? of_run : of_study)[i]; i++) {
        sqlite3_stmt *once = NULL, **stmt = id ? &r->part[i] : &once;
        st = *stmt ? TMX_OK : tmx_results_prepare(r, stmt, (id ? of_run : of_study)[i], err);
        if (!st && id) {
            sqlite3_bind_text(*stmt, 1, id, -1, SQLITE_TRANSIENT);
        }
        st = st ? st : hash_rows(r, *stmt, h, err);
        sqlite3_finalize(once);
    }
    if (!st) {
        tmx_hash_hex(h, hex);
    }
    tmx_hash_destroy(h);
    return st;
}

static void intact(sqlite3_context *c, int n, sqlite3_value **v)
{
    char hex[TMX_HASH_HEX];
    struct tmx_err ignored;
    const char *id = (const char *)sqlite3_value_text(v[0]), *hash = (const char *)sqlite3_value_text(v[1]);
    (void)n;
    sqlite3_result_int(c, id && hash && !tmx_results_hash(sqlite3_user_data(c), id, hex, &ignored) &&
                              strcmp(hex, hash) == 0);
}

enum tmx_status tmx_results_whole(struct tmx_results *r, struct tmx_err *err)
{
    char hex[TMX_HASH_HEX], sql[160];
    int n_run = 0, n_broken = 0, sealed = 1;
    enum tmx_status st = tmx_results_hash(r, NULL, hex, err);
    snprintf(sql, sizeof sql, "SELECT count(*) = 0 OR sum(key = 'hash' AND value = '%s') FROM study", hex);
    st = st ? st : tmx_results_int(r, sql, &sealed, err);
    st = st ? st : tmx_results_int(r, "SELECT count(*) FROM run", &n_run, err);
    st = st ? st : tmx_results_int(r, "SELECT count(*) FROM run WHERE NOT intact(id, hash)", &n_broken, err);
    if (!st && (n_broken > 0 || !sealed)) {
        st = tmx_fail_at(err, TMX_EPARSE, r->path, 0,
                         "the database is damaged: %s%d of %d runs are not as they were written; the command "
                         "that made it computes them again",
                         sealed ? "" : "its points are not as they were written; ", n_broken, n_run);
    }
    return st;
}

/* ---- opening ---- */

static enum tmx_status check_format(struct tmx_results *r, bool *empty, struct tmx_err *err)
{
    int application = 0, version = 0, n_table = 0;
    enum tmx_status st = tmx_results_int(r, "PRAGMA application_id", &application, err);
    if (!st) {
        st = tmx_results_int(r, "PRAGMA user_version", &version, err);
    }
    if (!st) {
        st = tmx_results_int(r, "SELECT count(*) FROM sqlite_master", &n_table, err);
    }
    if (st) {
        return st;
    }
    *empty = application == 0 && n_table == 0;
    if (!*empty && application != APPLICATION) {
        return tmx_fail_at(err, TMX_EPARSE, r->path, 0,
                           "not a results database (it belongs to another program)");
    }
    if (!*empty && version != TMX_RESULTS_VERSION) {
        return tmx_fail_at(err, TMX_EPARSE, r->path, 0,
                           "a results database of version %d; this program reads version %d", version,
                           TMX_RESULTS_VERSION);
    }
    st = *empty ? TMX_OK : check_schema(r, err);
    return st || *empty ? st : check_structure(r, err);
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
    tmx_provenance_note(path, NULL, 0);
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

/* Through links in the folder's name, but not through one that is the file. */
static int open_write(struct tmx_results *r, const char *path)
{
    enum { ROOM = 4096 };
    char folder[sizeof r->path], real[ROOM + sizeof r->path] = ".";
    const char *slash = strrchr(path, '/');
    snprintf(folder, sizeof folder, "%.*s", slash ? (int)(slash - path) + 1 : 1, slash ? path : ".");
    (void)!tmx_os_real_path(folder, real, ROOM);
    const size_t n = strlen(real);
    snprintf(real + n, sizeof real - n, "/%s", slash ? slash + 1 : path);
    return sqlite3_open_v2(real, &r->db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOFOLLOW,
                           NULL);
}

static enum tmx_status connect_write(struct tmx_results *r, const char *path, struct tmx_err *err)
{
    bool empty = false;
    enum tmx_status st = path ? tmx_os_mkdirs_for(path, err) : TMX_OK;
    if (st) {
        return st;
    }
    if ((path ? open_write(r, path) : sqlite3_open(":memory:", &r->db)) != SQLITE_OK) {
        return tmx_results_fail(r, err);
    }
    sqlite3_busy_timeout(r->db, BUSY_MS);
    st = check_format(r, &empty, err);
    if (!st && sqlite3_db_readonly(r->db, "main") == 1) {
        st = tmx_fail_at(err, TMX_EIO, path, 0, "the database is read-only");
    }
    return !st && empty ? make_schema(r, err) : st;
}

enum tmx_status tmx_results_write(struct tmx_results *r, struct tmx_err *err)
{
    r->writes = true;
    return tmx_results_exec(r, "PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL", err);
}

enum tmx_status tmx_results_connect(struct tmx_results **r, const char *path, enum tmx_open mode,
                                    struct tmx_err *err)
{
    struct tmx_results *n = calloc(1, sizeof *n);
    *r = NULL;
    if (!n) {
        return tmx_no_memory(err);
    }
    snprintf(n->path, sizeof n->path, "%s/" TMX_SUITE_RESULTS, path ? path : "");
    if (!path || mode != TMX_OPEN_READ || !tmx_os_exists(n->path)) { /* not the folder of a suite */
        snprintf(n->path, sizeof n->path, "%s", path ? path : "results");
    }
    path = path ? n->path : NULL;
    enum tmx_status st =
        path ? tmx_input_check(path, err) : TMX_OK; /* SQLite would wait for a FIFO's writer */
    st = st ? st : mode == TMX_OPEN_READ ? connect_read(n, path, err) : connect_write(n, path, err);
    if (!st && sqlite3_create_function(n->db, "intact", 2, SQLITE_UTF8, n, intact, NULL, NULL) != SQLITE_OK) {
        st = tmx_results_fail(n, err);
    }
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
        for (size_t i = 0; i < TMX_HASH_PARTS; i++) {
            sqlite3_finalize(r->part[i]);
        }
        if (r->db && r->writes) { /* the last one to write leaves one file, which readers add none to */
            sqlite3_busy_timeout(r->db, 0);
            sqlite3_exec(r->db, "PRAGMA journal_mode = DELETE", NULL, NULL, NULL);
        }
        sqlite3_close(r->db);
        free(r);
    }
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "study/results.h"

#include <inttypes.h>
#include <math.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/os.h"
#include "core/base/plausible.h"
#include "core/base/provenance.h"
#include "core/base/text.h"
#include "run/run.h"
#include "study/warnings.h"

enum { TMX_HASH_PARTS = 3 };

struct tmx_results {
    sqlite3 *db;
    char path[512];
    bool writes;
    sqlite3_stmt *part[TMX_HASH_PARTS]; /* a run's rows, in the order of its hash */
};

enum tmx_open { TMX_OPEN_READ, TMX_OPEN_WRITE };

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

/* *err from the connection's last error. */
static enum tmx_status results_fail(const struct tmx_results *r, struct tmx_err *err)
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

static enum tmx_status results_exec(struct tmx_results *r, const char *sql, struct tmx_err *err)
{
    return sqlite3_exec(r->db, sql, NULL, NULL, NULL) == SQLITE_OK ? TMX_OK : results_fail(r, err);
}

static enum tmx_status results_prepare(struct tmx_results *r, sqlite3_stmt **stmt, const char *sql,
                                       struct tmx_err *err)
{
    return sqlite3_prepare_v2(r->db, sql, -1, stmt, NULL) == SQLITE_OK ? TMX_OK : results_fail(r, err);
}

/* Run a prepared statement that returns no rows, and reset it. */
static enum tmx_status results_step(struct tmx_results *r, sqlite3_stmt *stmt, struct tmx_err *err)
{
    const int code = sqlite3_step(stmt);
    const enum tmx_status st = code == SQLITE_DONE || code == SQLITE_ROW ? TMX_OK : results_fail(r, err);
    sqlite3_reset(stmt);
    return st;
}

/* The first column of the first row of a query: a number. */
static enum tmx_status results_int(struct tmx_results *r, const char *sql, int *v, struct tmx_err *err)
{
    sqlite3_stmt *stmt = NULL;
    enum tmx_status st = results_prepare(r, &stmt, sql, err);
    if (!st && sqlite3_step(stmt) == SQLITE_ROW) {
        *v = sqlite3_column_int(stmt, 0);
    } else if (!st) {
        st = results_fail(r, err);
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
        enum tmx_status st = results_prepare(r, &stmt, sql, err);
        if (!st) {
            sqlite3_bind_text(stmt, 1, text, (int)(end - text), SQLITE_STATIC);
            n = sqlite3_step(stmt) == SQLITE_ROW ? sqlite3_column_int(stmt, 0) : -1;
            st = n < 0 ? results_fail(r, err) : TMX_OK;
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

/* What a power cut leaves behind the last page. SQLite does not read it, and the next page replaces it. */
static enum tmx_status note_tail(struct tmx_results *r, struct tmx_err *err)
{
    sqlite3_stmt *stmt = NULL;
    const enum tmx_status st = results_prepare(
        r, &stmt, "SELECT page_count * page_size FROM pragma_page_count, pragma_page_size", err);
    if (!st && sqlite3_step(stmt) == SQLITE_ROW) {
        const double size = sqlite3_column_double(stmt, 0), tail = (double)tmx_os_file_size(r->path) - size;
        if (tail > 0) {
            tmx_doubt("%s: %.0f bytes behind its last page belong to no row; they are not read", r->path,
                      tail);
        }
    }
    sqlite3_finalize(stmt);
    return st;
}

/* Rows in a page that nothing leads to any more would be missing without a word. */
static enum tmx_status check_structure(struct tmx_results *r, struct tmx_err *err)
{
    sqlite3_stmt *stmt = NULL;
    enum tmx_status st = results_prepare(r, &stmt, "PRAGMA integrity_check(1)", err);
    if (!st && sqlite3_step(stmt) != SQLITE_ROW) {
        st = results_fail(r, err);
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
    const enum tmx_status st = code == SQLITE_DONE ? TMX_OK : results_fail(r, err);
    sqlite3_reset(stmt);
    return st;
}

/* The hash of a run, and that of the study and its points (id NULL), of what the database has. Statements may
 * use the first as the function intact(id, hash). */
static enum tmx_status results_hash(struct tmx_results *r, const char *id, char hex[TMX_HASH_HEX],
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
        st = *stmt ? TMX_OK : results_prepare(r, stmt, (id ? of_run : of_study)[i], err);
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
    sqlite3_result_int(c, id && hash && !results_hash(sqlite3_user_data(c), id, hex, &ignored) &&
                              strcmp(hex, hash) == 0);
}

/* Everything in it has its hash; else TMX_EPARSE. */
static enum tmx_status results_whole(struct tmx_results *r, struct tmx_err *err)
{
    char hex[TMX_HASH_HEX], sql[160];
    int n_run = 0, n_broken = 0, sealed = 1;
    enum tmx_status st = results_hash(r, NULL, hex, err);
    snprintf(sql, sizeof sql, "SELECT count(*) = 0 OR sum(key = 'hash' AND value = '%s') FROM study", hex);
    st = st ? st : results_int(r, sql, &sealed, err);
    st = st ? st : results_int(r, "SELECT count(*) FROM run", &n_run, err);
    st = st ? st : results_int(r, "SELECT count(*) FROM run WHERE NOT intact(id, hash)", &n_broken, err);
    if (!st && (n_broken > 0 || !sealed)) {
        st = tmx_fail_at(err, TMX_EPARSE, r->path, 0,
                         "the database is damaged: %s%d of %d runs have changed since they were written; the "
                         "command that made it computes them again",
                         sealed ? "" : "its points are not as they were written; ", n_broken, n_run);
    }
    return st;
}

/* ---- opening ---- */

static enum tmx_status check_format(struct tmx_results *r, bool *empty, struct tmx_err *err)
{
    int application = 0, version = 0, n_table = 0;
    enum tmx_status st = results_int(r, "PRAGMA application_id", &application, err);
    if (!st) {
        st = results_int(r, "PRAGMA user_version", &version, err);
    }
    if (!st) {
        st = results_int(r, "SELECT count(*) FROM sqlite_master", &n_table, err);
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
    st = st || *empty ? st : check_structure(r, err);
    return st || *empty ? st : note_tail(r, err);
}

static enum tmx_status make_schema(struct tmx_results *r, struct tmx_err *err)
{
    char sql[2048];
    bool empty = true;
    enum tmx_status st = results_exec(r, "BEGIN IMMEDIATE", err);
    if (st) {
        return st;
    }
    st = check_format(r, &empty, err); /* another process may have been faster */
    snprintf(sql, sizeof sql, "PRAGMA application_id = %d; PRAGMA user_version = %d; %s", (int)APPLICATION,
             (int)TMX_RESULTS_VERSION, schema);
    if (!st && empty) {
        st = results_exec(r, sql, err);
    }
    if (!st) {
        return results_exec(r, "COMMIT", err);
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
        return results_fail(r, err);
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
        st = open_immutable(r, path) == SQLITE_OK ? check_format(r, &empty, err) : results_fail(r, err);
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
        return results_fail(r, err);
    }
    sqlite3_busy_timeout(r->db, BUSY_MS);
    st = check_format(r, &empty, err);
    if (!st && sqlite3_db_readonly(r->db, "main") == 1) {
        st = tmx_fail_at(err, TMX_EIO, path, 0, "the database is read-only");
    }
    return !st && empty ? make_schema(r, err) : st;
}

/* Before anything is written. */
static enum tmx_status results_write(struct tmx_results *r, struct tmx_err *err)
{
    r->writes = true;
    return results_exec(r, "PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL", err);
}

/* The database that path means: its own, or that of the suite whose folder it is. */
static void locate(const char *path, char file[512])
{
    snprintf(file, 512, "%s/" TMX_SUITE_RESULTS, path);
    if (!tmx_os_exists(file)) {
        snprintf(file, 512, "%s", path);
    }
}

/* Open and check application, version, schema and structure; in write mode make it where there is nothing
 * (path NULL: in memory). Nothing of a database that is there is written. */
static enum tmx_status results_connect(struct tmx_results **r, const char *path, enum tmx_open mode,
                                       struct tmx_err *err)
{
    struct tmx_results *n = calloc(1, sizeof *n);
    *r = NULL;
    if (!n) {
        return tmx_no_memory(err);
    }
    locate(path ? path : "results", n->path);
    path = path ? n->path : NULL;
    enum tmx_status st =
        path ? tmx_input_check(path, err) : TMX_OK; /* SQLite would wait for a FIFO's writer */
    st = st ? st : mode == TMX_OPEN_READ ? connect_read(n, path, err) : connect_write(n, path, err);
    if (!st && sqlite3_create_function(n->db, "intact", 2, SQLITE_UTF8, n, intact, NULL, NULL) != SQLITE_OK) {
        st = results_fail(n, err);
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

/* The whole database in memory, for tables, regressions and figures. */

enum { MAX_POINTS = 50000000 };

struct loader {
    struct tmx_results *r;
    struct tmx_result_set *set;
    sqlite3_stmt *stmt;
    struct tmx_err *err;
};

/* What is stored was written by thermix or by somebody with another aim: every cell is checked for its type.
 */
static enum tmx_status damaged(const struct loader *l, const char *what)
{
    return tmx_fail_at(l->err, TMX_EPARSE, l->r->path, 0, "the database is damaged: %s", what);
}

static enum tmx_status text_at(const struct loader *l, int column, const char *what, const char **text)
{
    *text = sqlite3_column_type(l->stmt, column) == SQLITE_TEXT
                ? (const char *)sqlite3_column_text(l->stmt, column)
                : NULL;
    return *text ? TMX_OK : damaged(l, what);
}

static enum tmx_status real_at(const struct loader *l, int column, const char *what, double *v)
{
    const int type = sqlite3_column_type(l->stmt, column);
    *v = sqlite3_column_double(l->stmt, column);
    return (type == SQLITE_FLOAT || type == SQLITE_INTEGER) && isfinite(*v) ? TMX_OK : damaged(l, what);
}

static enum tmx_status id_at(const struct loader *l, int column, const char **id)
{
    const enum tmx_status st = text_at(l, column, "a run's id is no text", id);
    return st || strlen(*id) < TMX_HASH_HEX ? st : damaged(l, "a run's id is longer than 32 characters");
}

static enum tmx_status add_name(char ***list, size_t *n, const char *name, struct tmx_err *err)
{
    if ((*n & (*n - 1)) == 0) { /* room doubles at powers of two */
        char **more = realloc(*list, (*n ? 2 * *n : 1) * sizeof *more);
        if (!more) {
            return tmx_no_memory(err);
        }
        *list = more;
    }
    (*list)[*n] = tmx_text_dup(name);
    return (*list)[(*n)++] ? TMX_OK : tmx_no_memory(err);
}

/* Calls one() for every row of a query. */
static enum tmx_status each(struct loader *l, const char *sql, enum tmx_status (*one)(struct loader *))
{
    int code = SQLITE_DONE;
    enum tmx_status st = results_prepare(l->r, &l->stmt, sql, l->err);
    while (!st && (code = sqlite3_step(l->stmt)) == SQLITE_ROW) {
        st = one(l);
    }
    if (!st && code != SQLITE_DONE) {
        st = results_fail(l->r, l->err);
    }
    sqlite3_finalize(l->stmt);
    l->stmt = NULL;
    return st;
}

static enum tmx_status study_row(struct loader *l)
{
    struct tmx_result_set *set = l->set;
    const char *key, *value = NULL;
    enum tmx_status st = text_at(l, 0, "table study: a key is no text", &key);
    st = st ? st : text_at(l, 1, "table study: a value is no text", &value);
    if (st) {
        return st;
    }
    if (strcmp(key, "name") == 0) {
        snprintf(set->study, sizeof set->study, "%s", value);
    } else if (strcmp(key, "doc") == 0) {
        snprintf(set->doc, sizeof set->doc, "%s", value);
    } else if (strcmp(key, "method") == 0) {
        snprintf(set->method, sizeof set->method, "%s", value);
    } else if (strcmp(key, "axes") == 0) {
        char *all = tmx_text_dup(value), *begin = all;
        for (char *end = all; all && *end && !st; begin = end + 1) {
            end = begin + strcspn(begin, "\n");
            const bool last = *end == '\0';
            *end = '\0';
            st = add_name(&set->key, &set->n_key, begin, l->err);
            if (last) {
                break;
            }
            *end = ' ';
        }
        st = all ? st : tmx_no_memory(l->err);
        free(all);
    }
    return st;
}

static enum tmx_status metric_name(struct loader *l)
{
    const char *name;
    const enum tmx_status st = text_at(l, 0, "a metric's name is no text", &name);
    return st ? st : add_name(&l->set->metric, &l->set->n_metric, name, l->err);
}

static enum tmx_status run_row(struct loader *l)
{
    struct tmx_result_set *set = l->set;
    const char *id, *error = NULL;
    double seconds;
    enum tmx_status st = id_at(l, 0, &id);
    st = st ? st : text_at(l, 2, "a run's error is no text", &error);
    st = st ? st : real_at(l, 3, "a run's seconds are no number", &seconds);
    if (st) {
        return st;
    }
    struct tmx_result *more = realloc(set->run, (set->n_run + 1) * sizeof *more);
    if (!more) {
        return tmx_no_memory(l->err);
    }
    set->run = more;
    struct tmx_result *run = &more[set->n_run++];
    *run = (struct tmx_result){.seconds = seconds};
    snprintf(run->id, sizeof run->id, "%s", id);
    run->done = sqlite3_column_int(l->stmt, 1) != 0;
    run->error = tmx_text_dup(error);
    run->value = calloc(set->n_key + 1, sizeof *run->value);
    run->metric = malloc((set->n_metric + 1) * sizeof *run->metric);
    bool ok = run->error && run->value && run->metric;
    for (size_t k = 0; ok && k < set->n_key; k++) {
        ok = (run->value[k] = tmx_text_dup("")) != NULL;
    }
    for (size_t m = 0; ok && m < set->n_metric; m++) {
        run->metric[m] = NAN;
    }
    return ok ? TMX_OK : tmx_no_memory(l->err);
}

static int by_id(const void *a, const void *b)
{
    const struct tmx_result *const *x = a, *const *y = b;
    return strcmp((*x)->id, (*y)->id);
}

/* Fills the cells: rows come sorted by run id. */
struct cursor {
    struct tmx_result **sorted; /* [n_run] */
    size_t at;
};

static struct tmx_result *seek(const struct tmx_result_set *set, struct cursor *c, const char *id)
{
    while (c->at < set->n_run && strcmp(c->sorted[c->at]->id, id) < 0) {
        c->at++;
    }
    return c->at < set->n_run && strcmp(c->sorted[c->at]->id, id) == 0 ? c->sorted[c->at] : NULL;
}

static size_t exact(char *const *names, size_t n, const char *word)
{
    size_t i = 0;
    while (i < n && strcmp(names[i], word) != 0) {
        i++;
    }
    return i;
}

/* Names in the order of their letters, to find one of many. */
struct name_at {
    const char *name;
    size_t at;
};

static int by_letters(const void *a, const void *b)
{
    const struct name_at *x = a, *y = b;
    return strcmp(x->name, y->name);
}

static struct name_at *sort_names(char *const *names, size_t n)
{
    struct name_at *sorted = malloc((n + 1) * sizeof *sorted);
    for (size_t i = 0; sorted && i < n; i++) {
        sorted[i] = (struct name_at){names[i], i};
    }
    if (sorted) {
        qsort(sorted, n, sizeof *sorted, by_letters);
    }
    return sorted;
}

static enum tmx_status cells(struct loader *l, struct cursor *c, bool metrics)
{
    struct tmx_result_set *set = l->set;
    c->at = 0;
    const size_t n_name = metrics ? set->n_metric : set->n_key;
    struct name_at *names = sort_names(metrics ? set->metric : set->key, n_name);
    enum tmx_status st = names ? TMX_OK : tmx_no_memory(l->err);
    st = st ? st
            : results_prepare(l->r, &l->stmt,
                              metrics ? "SELECT run, name, value FROM metric ORDER BY run"
                                      : "SELECT run, key, value FROM parameter ORDER BY run",
                              l->err);
    int code = SQLITE_DONE;
    while (!st && (code = sqlite3_step(l->stmt)) == SQLITE_ROW) {
        const char *id, *name = NULL;
        double v = NAN;
        st = id_at(l, 0, &id);
        st = st ? st : text_at(l, 1, "the name of a parameter or metric is no text", &name);
        st = st || !metrics ? st : real_at(l, 2, "a metric is no finite number", &v);
        if (st) {
            break;
        }
        struct tmx_result *run = seek(set, c, id);
        const struct name_at want = {name, 0},
                             *found = bsearch(&want, names, n_name, sizeof *names, by_letters);
        if (!run || !found) {
            continue;
        }
        const size_t i = found->at;
        if (metrics) {
            run->metric[i] = v;
        } else {
            const char *value = (const char *)sqlite3_column_text(l->stmt, 2);
            free(run->value[i]);
            run->value[i] = tmx_text_dup(value ? value : "");
            st = run->value[i] ? TMX_OK : tmx_no_memory(l->err);
        }
    }
    if (!st && code != SQLITE_DONE) {
        st = results_fail(l->r, l->err);
    }
    free(names);
    sqlite3_finalize(l->stmt);
    l->stmt = NULL;
    return st;
}

static enum tmx_status points(struct loader *l, struct cursor *c)
{
    struct tmx_result_set *set = l->set;
    int code = SQLITE_DONE;
    enum tmx_status st = results_prepare(l->r, &l->stmt, "SELECT n, run FROM point ORDER BY run, n", l->err);
    c->at = 0;
    while (!st && (code = sqlite3_step(l->stmt)) == SQLITE_ROW) {
        const size_t n = (size_t)sqlite3_column_int64(l->stmt, 0); /* count_points has seen its range */
        const char *id;
        st = id_at(l, 1, &id);
        const struct tmx_result *run = st ? NULL : seek(set, c, id);
        if (run && n < set->n_point) {
            set->run_of_point[n] = (size_t)(run - set->run);
        }
    }
    if (!st && code != SQLITE_DONE) {
        st = results_fail(l->r, l->err);
    }
    sqlite3_finalize(l->stmt);
    l->stmt = NULL;
    return st;
}

static enum tmx_status count_points(struct loader *l)
{
    const sqlite3_int64 n = sqlite3_column_int64(l->stmt, 0), low = sqlite3_column_int64(l->stmt, 1),
                        high = sqlite3_column_int64(l->stmt, 2);
    if (n > 0 && (low < 0 || high >= MAX_POINTS || high + 1 < n)) {
        return damaged(l, "the numbers of its points are out of range");
    }
    l->set->n_point = n > 0 ? (size_t)high + 1 : 0;
    return TMX_OK;
}

static enum tmx_status count_left_out(struct loader *l)
{
    l->set->n_left_out = (size_t)sqlite3_column_int64(l->stmt, 0);
    return TMX_OK;
}

static enum tmx_status fill(struct loader *l)
{
    struct tmx_result_set *set = l->set;
    struct cursor c = {.sorted = malloc((set->n_run + 1) * sizeof(void *))};
    set->run_of_point = malloc((set->n_point + 1) * sizeof *set->run_of_point);
    enum tmx_status st = c.sorted && set->run_of_point ? TMX_OK : tmx_no_memory(l->err);
    for (size_t i = 0; !st && i < set->n_run; i++) {
        c.sorted[i] = &set->run[i];
    }
    for (size_t i = 0; !st && i < set->n_point; i++) {
        set->run_of_point[i] = set->n_run;
    }
    if (!st) {
        qsort(c.sorted, set->n_run, sizeof(void *), by_id);
        st = cells(l, &c, false);
    }
    st = st ? st : cells(l, &c, true);
    st = st ? st : points(l, &c);
    free(c.sorted);
    return st;
}

enum tmx_status tmx_results_load(struct tmx_result_set *set, const char *path, enum tmx_results_which which,
                                 struct tmx_err *err)
{
    struct loader l = {.set = set, .err = err};
    *set = (struct tmx_result_set){0};
    enum tmx_status st = results_connect(&l.r, path, TMX_OPEN_READ, err);
    if (st) {
        return st;
    }
    st = results_exec(l.r, "BEGIN", err); /* one snapshot, also while a study writes */
    st = st ? st : results_whole(l.r, err);
    st = st ? st : each(&l, "SELECT key, value FROM study", study_row);
    st = st ? st : each(&l, "SELECT name FROM metric GROUP BY name ORDER BY min(n), name", metric_name);
    st = st ? st : each(&l, "SELECT count(*), min(n), max(n) FROM point", count_points);
    st = st || which == TMX_RESULTS_ALL
             ? st
             : each(&l, "SELECT count(*) FROM run WHERE id NOT IN (SELECT run FROM point)", count_left_out);
    st = st ? st
            : each(&l,
                   which == TMX_RESULTS_ALL
                       ? "SELECT id, status = 'done', error, seconds FROM run LEFT JOIN"
                         " (SELECT run, min(n) AS first FROM point GROUP BY run) ON run = id"
                         " ORDER BY first IS NULL, first, id"
                       : "SELECT id, status = 'done', error, seconds FROM run JOIN"
                         " (SELECT run, min(n) AS first FROM point GROUP BY run) ON run = id"
                         " ORDER BY first, id",
                   run_row);
    st = st ? st : fill(&l);
    set->warnings = st ? NULL : calloc(1, sizeof *set->warnings);
    st = st || set->warnings ? st : tmx_no_memory(err);
    st = st ? st : tmx_results_warnings(l.r, set->warnings, err);
    tmx_results_close(l.r);
    if (st) {
        tmx_result_set_finish(set);
    }
    return st;
}

/* Points without a run, and whose run failed. */
static void count_missing(const struct tmx_result_set *set, size_t *absent, size_t *failed)
{
    *absent = *failed = 0;
    for (size_t i = 0; i < set->n_point; i++) {
        const size_t run = set->run_of_point[i];
        *absent += run == set->n_run;
        *failed += run < set->n_run && !set->run[run].done;
    }
}

const char *tmx_results_partial(const struct tmx_result_set *set, char *buf, size_t size)
{
    size_t absent, failed;
    count_missing(set, &absent, &failed);
    buf[0] = '\0';
    if (absent > 0) {
        snprintf(buf, size, "partial: %zu of %zu points", set->n_point - absent, set->n_point);
    }
    return buf;
}

/* Of a point's run. */
static const char *value_of_point(const void *ctx, size_t point, size_t key, char *buf, size_t size)
{
    const struct tmx_result_set *set = ctx;
    const size_t run = set->run_of_point[point];
    (void)buf, (void)size;
    return run < set->n_run ? set->run[run].value[key] : "";
}

void tmx_results_note(const struct tmx_result_set *set, FILE *out)
{
    size_t absent, failed;
    const struct tmx_warned who = {set, set->n_point, set->n_key, (const char *const *)set->key,
                                   value_of_point};
    count_missing(set, &absent, &failed);
    tmx_warnings_doubt(set->warnings, &who);
    if (set->n_left_out > 0) {
        tmx_print_visible(out,
                          "note: study %s: %zu runs of earlier inputs are left out (--all includes them)\n",
                          set->study, set->n_left_out);
    }
    if (absent + failed > 0) {
        tmx_print_visible(out, "note: study %s: of %zu points %zu have not been run and %zu failed\n",
                          set->study, set->n_point, absent, failed);
    }
}

static void free_names(char **names, size_t n)
{
    for (size_t i = 0; names && i < n; i++) {
        free(names[i]);
    }
    free(names);
}

void tmx_result_set_finish(struct tmx_result_set *set)
{
    for (size_t i = 0; i < set->n_run; i++) {
        free(set->run[i].error);
        free_names(set->run[i].value, set->n_key);
        free(set->run[i].metric);
    }
    if (set->warnings) {
        tmx_warnings_finish(set->warnings);
    }
    free(set->warnings);
    free(set->run);
    free(set->run_of_point);
    free_names(set->key, set->n_key);
    free_names(set->metric, set->n_metric);
    *set = (struct tmx_result_set){0};
}

size_t tmx_result_find(char *const *names, size_t n, const char *word)
{
    size_t found = exact(names, n, word), n_found = 0;
    if (found < n) {
        return found;
    }
    for (size_t i = 0; i < n; i++) {
        const char *dot = strrchr(names[i], '.');
        if (dot && strcmp(dot + 1, word) == 0) {
            found = i;
            n_found++;
        }
    }
    return n_found == 1 ? found : n;
}

static enum tmx_status commit(struct tmx_results *r, enum tmx_status st, struct tmx_err *err)
{
    if (!st) {
        st = results_exec(r, "COMMIT", err);
    }
    if (st) {
        sqlite3_exec(r->db, "ROLLBACK", NULL, NULL, NULL);
    }
    return st;
}

static void bind_text(sqlite3_stmt *stmt, int i, const char *text)
{
    sqlite3_bind_text(stmt, i, text, -1, SQLITE_TRANSIENT);
}

/* As SQLite's own type; a whole number is an integer however it was written. */
static void bind_scalar(sqlite3_stmt *stmt, int i, struct tmx_scalar v)
{
    char text[TMX_REAL_SIZE];
    double real;
    if (!tmx_scalar_real(v, &real)) {
        bind_text(stmt, i, tmx_scalar_plain(v, text));
    } else if (v.kind == TMX_SETTING_INTEGER) {
        sqlite3_bind_int64(stmt, i, v.integer);
    } else if (real == floor(real) && fabs(real) < 1e15) {
        sqlite3_bind_int64(stmt, i, (int64_t)real);
    } else {
        sqlite3_bind_double(stmt, i, real);
    }
}

static enum tmx_status axes_text(const struct tmx_runs *s, char **text, struct tmx_err *err)
{
    size_t size = 1, n = 0;
    for (size_t k = 0; k < s->n_key; k++) {
        size += strlen(s->key[k]) + 1;
    }
    *text = malloc(size);
    if (!*text) {
        return tmx_no_memory(err);
    }
    (*text)[0] = '\0';
    for (size_t k = 0; k < s->n_key; k++) {
        n += (size_t)snprintf(*text + n, size - n, "%s%s", k ? "\n" : "", s->key[k]);
    }
    return TMX_OK;
}

enum { LINES = 4 };
struct line { /* of the table study */
    const char *key, *value;
};

static enum tmx_status put_line(struct tmx_results *r, const char *sql, const struct line *l,
                                struct tmx_err *err)
{
    sqlite3_stmt *stmt = NULL;
    enum tmx_status st = results_prepare(r, &stmt, sql, err);
    if (!st) {
        bind_text(stmt, 1, l->key);
        bind_text(stmt, 2, l->value);
        st = results_step(r, stmt, err);
    }
    sqlite3_finalize(stmt);
    return st;
}

/* The database's line, if it has it, is this one. */
static enum tmx_status same_line(struct tmx_results *r, const struct line *l, struct tmx_err *err)
{
    sqlite3_stmt *stmt = NULL;
    enum tmx_status st =
        results_prepare(r, &stmt, "SELECT value FROM study WHERE key = ? AND value <> ?", err);
    if (!st) {
        bind_text(stmt, 1, l->key);
        bind_text(stmt, 2, l->value);
        const int code = sqlite3_step(stmt);
        st = code == SQLITE_ROW
                 ? tmx_fail_at(err, TMX_EIO, r->path, 0,
                               "holds another study: its %s is \"%s\", not \"%s\"; give another file", l->key,
                               (const char *)sqlite3_column_text(stmt, 0), l->value)
             : code == SQLITE_DONE ? TMX_OK
                                   : results_fail(r, err);
    }
    sqlite3_finalize(stmt);
    return st;
}

static enum tmx_status same_lines(struct tmx_results *r, const struct line line[LINES], struct tmx_err *err)
{
    enum tmx_status st = TMX_OK;
    for (size_t i = 0; i < LINES && !st; i++) {
        st = same_line(r, &line[i], err);
    }
    return st;
}

/* The hash of the study and its points, as the last of its lines. */
static enum tmx_status seal(struct tmx_results *r, struct tmx_err *err)
{
    char hex[TMX_HASH_HEX];
    const enum tmx_status st = results_hash(r, NULL, hex, err);
    return st ? st
              : put_line(r, "INSERT OR REPLACE INTO study VALUES(?, ?)", &(struct line){"hash", hex}, err);
}

static enum tmx_status write_lines(struct tmx_results *r, const struct tmx_runs *s,
                                   const struct line line[LINES], struct tmx_err *err)
{
    enum tmx_status st = results_exec(r, "BEGIN IMMEDIATE", err);
    for (size_t i = 0; i < LINES && !st; i++) {
        st = put_line(r,
                      s->suite ? "INSERT OR REPLACE INTO study VALUES(?, ?)"
                               : "INSERT OR IGNORE INTO study VALUES(?, ?)",
                      &line[i], err);
    }
    st = st ? st : same_lines(r, line, err); /* another process may have been faster */
    st = st ? st : seal(r, err);
    return commit(r, st, err);
}

/* Runs that are not as they were written are no results. */
static enum tmx_status drop_damaged(struct tmx_results *r, struct tmx_err *err)
{
    static const char drop[] =
        "BEGIN IMMEDIATE; CREATE TEMP TABLE broken AS SELECT id FROM run"
        " WHERE NOT intact(id, hash); DELETE FROM run WHERE id IN (SELECT id FROM broken)";
    int n = 0;
    enum tmx_status st = results_int(r, "SELECT count(*) FROM run WHERE NOT intact(id, hash)", &n, err);
    if (!st && n > 0) {
        tmx_print_visible(stderr, "note: %s: runs that are not as they were written, computed again: %d\n",
                          r->path, n);
        st = commit(r, results_exec(r, drop, err), err);
    }
    return st;
}

/* A damaged database of a suite is set aside, and a new one begins. */
static enum tmx_status set_aside(const char *path, const struct tmx_err *why, struct tmx_err *err)
{
    static const char *const beside[] = {"-wal", "-shm", "-journal"};
    char name[1024], text[1600];
    for (size_t i = 0; i < sizeof beside / sizeof beside[0]; i++) {
        snprintf(name, sizeof name, "%s%s", path, beside[i]);
        remove(name);
    }
    snprintf(name, sizeof name, "%s.damaged", path);
    tmx_err_format(why, text, sizeof text);
    if (rename(path, name) != 0) {
        return tmx_fail_at(err, TMX_EIO, path, 0, "cannot rename it to %s", name);
    }
    tmx_print_visible(stderr, "note: %s; it is now %s, and all runs are computed again\n", text, name);
    return TMX_OK;
}

enum tmx_status tmx_results_open(struct tmx_results **r, const char *path, const struct tmx_runs *s,
                                 struct tmx_err *err)
{
    char *axes = NULL;
    struct tmx_err why;
    enum tmx_status st = results_connect(r, path, TMX_OPEN_WRITE, &why);
    if (st == TMX_EPARSE && s->suite) {
        st = set_aside(path, &why, err);
        st = st ? st : results_connect(r, path, TMX_OPEN_WRITE, err);
    } else if (st) {
        *err = why;
    }
    st = st ? st : axes_text(s, &axes, err);
    const struct line line[LINES] = {
        {"name", s->name}, {"axes", axes}, {"method", s->method}, {"doc", s->doc}};
    st = st || s->suite ? st : same_lines(*r, line, err); /* before anything is written */
    st = st ? st : results_write(*r, err);
    st = st ? st : drop_damaged(*r, err);
    st = st ? st : write_lines(*r, s, line, err);
    free(axes);
    if (st) {
        tmx_results_close(*r);
        *r = NULL;
    }
    return st;
}

enum tmx_status tmx_results_points(struct tmx_results *r, const struct tmx_runs *s,
                                   const char (*ids)[TMX_HASH_HEX], struct tmx_err *err)
{
    sqlite3_stmt *stmt = NULL;
    enum tmx_status st = results_exec(r, "BEGIN IMMEDIATE; DELETE FROM point", err);
    if (!st) {
        st = results_prepare(r, &stmt, "INSERT INTO point VALUES(?, ?)", err);
    }
    for (size_t i = 0; i < s->n_point && !st; i++) {
        sqlite3_bind_int64(stmt, 1, (sqlite3_int64)i);
        bind_text(stmt, 2, ids[i]);
        st = results_step(r, stmt, err);
    }
    sqlite3_finalize(stmt);
    st = st ? st : seal(r, err);
    return commit(r, st, err);
}

enum tmx_status tmx_results_state(struct tmx_results *r, const char *id, enum tmx_run_state *state,
                                  struct tmx_err *err)
{
    sqlite3_stmt *stmt = NULL;
    enum tmx_status st = results_prepare(r, &stmt, "SELECT status = 'done' FROM run WHERE id = ?", err);
    if (!st) {
        bind_text(stmt, 1, id);
        const int code = sqlite3_step(stmt);
        *state = code != SQLITE_ROW                 ? TMX_RUN_ABSENT
                 : sqlite3_column_int(stmt, 0) != 0 ? TMX_RUN_DONE
                                                    : TMX_RUN_FAILED;
        if (code != SQLITE_ROW && code != SQLITE_DONE) {
            st = results_fail(r, err);
        }
    }
    sqlite3_finalize(stmt);
    return st;
}

static enum tmx_status add_run(struct tmx_results *r, const struct tmx_run_row *row, bool *added,
                               struct tmx_err *err)
{
    sqlite3_stmt *stmt = NULL;
    enum tmx_status st = results_prepare(
        r, &stmt,
        "INSERT INTO run VALUES(?, ?, ?, ?, ?, ?, '') ON CONFLICT(id) DO UPDATE SET status = excluded.status,"
        " error = excluded.error, seconds = excluded.seconds, version = excluded.version"
        " WHERE run.status = 'failed'",
        err);
    if (!st) {
        bind_text(stmt, 1, row->id);
        bind_text(stmt, 2, row->done ? "done" : "failed");
        bind_text(stmt, 3, row->error);
        sqlite3_bind_double(stmt, 4, row->seconds);
        bind_text(stmt, 5, row->version);
        bind_text(stmt, 6, row->config);
        st = results_step(r, stmt, err);
        *added = sqlite3_changes(r->db) > 0;
    }
    sqlite3_finalize(stmt);
    return st;
}

/* Also rows that a damaged run has left. */
static enum tmx_status clear(struct tmx_results *r, const char *id, struct tmx_err *err)
{
    static const char *const rows[] = {"DELETE FROM parameter WHERE run = ?",
                                       "DELETE FROM metric WHERE run = ?"};
    enum tmx_status st = TMX_OK;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0] && !st; i++) {
        sqlite3_stmt *stmt = NULL;
        st = results_prepare(r, &stmt, rows[i], err);
        if (!st) {
            bind_text(stmt, 1, id);
            st = results_step(r, stmt, err);
        }
        sqlite3_finalize(stmt);
    }
    return st;
}

static enum tmx_status add_parameters(struct tmx_results *r, const struct tmx_runs *s,
                                      const struct tmx_run_row *row, struct tmx_err *err)
{
    sqlite3_stmt *stmt = NULL;
    enum tmx_status st = results_prepare(r, &stmt, "INSERT INTO parameter VALUES(?, ?, ?)", err);
    for (size_t k = 0; k < s->n_key && !st; k++) {
        bind_text(stmt, 1, row->id);
        bind_text(stmt, 2, s->key[k]);
        bind_scalar(stmt, 3, s->value(s->ctx, row->point, k));
        st = results_step(r, stmt, err);
    }
    sqlite3_finalize(stmt);
    return st;
}

static enum tmx_status add_metrics(struct tmx_results *r, const struct tmx_run_row *row, struct tmx_err *err)
{
    sqlite3_stmt *stmt = NULL;
    enum tmx_status st = results_prepare(r, &stmt, "INSERT INTO metric VALUES(?, ?, ?, ?)", err);
    for (size_t i = 0; i < row->n_metric && !st; i++) {
        if (isnan(row->value[i])) {
            continue;
        }
        bind_text(stmt, 1, row->id);
        bind_text(stmt, 2, row->name[i]);
        sqlite3_bind_int64(stmt, 3, (sqlite3_int64)i);
        sqlite3_bind_double(stmt, 4, row->value[i]);
        st = results_step(r, stmt, err);
    }
    sqlite3_finalize(stmt);
    return st;
}

static enum tmx_status seal_run(struct tmx_results *r, const char *id, struct tmx_err *err)
{
    sqlite3_stmt *stmt = NULL;
    char hex[TMX_HASH_HEX];
    enum tmx_status st = results_hash(r, id, hex, err);
    st = st ? st : results_prepare(r, &stmt, "UPDATE run SET hash = ? WHERE id = ?", err);
    if (!st) {
        bind_text(stmt, 1, hex);
        bind_text(stmt, 2, id);
        st = results_step(r, stmt, err);
    }
    sqlite3_finalize(stmt);
    return st;
}

enum tmx_status tmx_results_add(struct tmx_results *r, const struct tmx_runs *s,
                                const struct tmx_run_row *row, struct tmx_err *err)
{
    bool added = false;
    enum tmx_status st = results_exec(r, "BEGIN IMMEDIATE", err);
    if (st) {
        return st;
    }
    st = add_run(r, row, &added, err);
    if (!st && added) {
        st = clear(r, row->id, err);
        st = st ? st : add_parameters(r, s, row, err);
        st = st ? st : add_metrics(r, row, err);
        st = st ? st : seal_run(r, row->id, err);
    }
    return commit(r, st, err);
}

enum tmx_status tmx_results_values(struct tmx_results *r, size_t n_point, size_t n_value, double *value,
                                   char **error, struct tmx_err *err)
{
    sqlite3_stmt *stmt = NULL;
    int code = SQLITE_DONE;
    for (size_t i = 0; i < n_point * n_value; i++) {
        value[i] = NAN;
    }
    enum tmx_status st = results_prepare(
        r, &stmt, "SELECT p.n, m.n, m.value FROM point p JOIN metric m ON m.run = p.run", err);
    while (!st && (code = sqlite3_step(stmt)) == SQLITE_ROW) {
        const sqlite3_int64 p = sqlite3_column_int64(stmt, 0), m = sqlite3_column_int64(stmt, 1);
        if (p >= 0 && m >= 0 && (size_t)p < n_point && (size_t)m < n_value) {
            value[(size_t)p * n_value + (size_t)m] = sqlite3_column_double(stmt, 2);
        }
    }
    sqlite3_finalize(stmt);
    stmt = NULL;
    st = st || code == SQLITE_DONE ? st : results_fail(r, err);
    st = st ? st
            : results_prepare(r, &stmt,
                              "SELECT p.n, status = 'done', coalesce(error, '') FROM point p"
                              " LEFT JOIN run ON id = p.run",
                              err);
    while (!st && (code = sqlite3_step(stmt)) == SQLITE_ROW) {
        const sqlite3_int64 p = sqlite3_column_int64(stmt, 0);
        if (p >= 0 && (size_t)p < n_point && !sqlite3_column_int(stmt, 1) && !error[p]) {
            error[p] = tmx_text_dup((const char *)sqlite3_column_text(stmt, 2));
            st = error[p] ? TMX_OK : tmx_no_memory(err);
        }
    }
    sqlite3_finalize(stmt);
    return st || code == SQLITE_DONE ? st : results_fail(r, err);
}

enum tmx_status tmx_results_warnings(struct tmx_results *r, struct tmx_warnings *w, struct tmx_err *err)
{
    sqlite3_stmt *stmt = NULL;
    int code = SQLITE_DONE;
    enum tmx_status st = results_prepare(r, &stmt,
                                         "SELECT p.n, config FROM point p JOIN run ON id = p.run"
                                         " WHERE instr(config, '" TMX_RUN_WARNING "') ORDER BY p.n",
                                         err);
    while (!st && (code = sqlite3_step(stmt)) == SQLITE_ROW) {
        const char *config = (const char *)sqlite3_column_text(stmt, 1);
        st = config ? tmx_warnings_add(w, (size_t)sqlite3_column_int64(stmt, 0), config, err)
                    : tmx_no_memory(err);
    }
    st = st || code == SQLITE_DONE ? st : results_fail(r, err);
    sqlite3_finalize(stmt);
    return st;
}

static enum tmx_status same_study(struct tmx_results *r, const char *from, struct tmx_err *err)
{
    sqlite3_stmt *stmt = NULL;
    enum tmx_status st =
        results_prepare(r, &stmt,
                        "SELECT a.key, a.value, b.value FROM main.study a, other.study b"
                        " WHERE a.key = b.key AND a.key <> 'hash' AND a.value <> b.value LIMIT 1",
                        err);
    if (!st && sqlite3_step(stmt) == SQLITE_ROW) {
        st = tmx_fail_at(err, TMX_EIO, from, 0, "another study: its %s is \"%s\", not \"%s\"",
                         (const char *)sqlite3_column_text(stmt, 0),
                         (const char *)sqlite3_column_text(stmt, 2),
                         (const char *)sqlite3_column_text(stmt, 1));
    }
    sqlite3_finalize(stmt);
    return st;
}

/* A point that both have must have the same run in both: else one of them is of earlier inputs. */
static enum tmx_status same_points(struct tmx_results *r, const char *from, struct tmx_err *err)
{
    sqlite3_stmt *stmt = NULL;
    enum tmx_status st = results_prepare(r, &stmt,
                                         "SELECT count(*) FROM main.point a, other.point b"
                                         " WHERE a.n = b.n AND a.run <> b.run",
                                         err);
    if (!st && sqlite3_step(stmt) == SQLITE_ROW && sqlite3_column_int(stmt, 0) > 0) {
        st = tmx_fail_at(
            err, TMX_EIO, from, 0,
            "%d points have other runs than in %s: the study or a file it names has changed in between; "
            "sweep the older one again",
            sqlite3_column_int(stmt, 0), r->path);
    }
    sqlite3_finalize(stmt);
    return st;
}

static enum tmx_status merge_one(struct tmx_results *r, const char *path, struct tmx_err *err)
{
    char from[512];
    locate(path, from);
    static const char copy_rows[] =
        "BEGIN IMMEDIATE;"
        "INSERT OR IGNORE INTO main.study SELECT * FROM other.study;"
        "INSERT OR IGNORE INTO main.point SELECT * FROM other.point;"
        "CREATE TEMP TABLE fresh AS SELECT id FROM other.run o WHERE NOT EXISTS"
        " (SELECT 1 FROM main.run m WHERE m.id = o.id AND (m.status = 'done' OR o.status = 'failed'));"
        "INSERT OR REPLACE INTO main.run SELECT * FROM other.run WHERE id IN (SELECT id FROM fresh);"
        "INSERT OR REPLACE INTO main.parameter SELECT * FROM other.parameter WHERE run IN (SELECT id FROM "
        "fresh);"
        "INSERT OR REPLACE INTO main.metric SELECT * FROM other.metric WHERE run IN (SELECT id FROM fresh);"
        "DROP TABLE fresh";
    sqlite3_stmt *stmt = NULL;
    enum tmx_status st = results_prepare(r, &stmt, "ATTACH DATABASE ? AS other", err);
    if (!st) {
        bind_text(stmt, 1, from);
        st = results_step(r, stmt, err);
    }
    sqlite3_finalize(stmt);
    if (st) {
        return st;
    }
    st = same_study(r, from, err);
    st = st ? st : same_points(r, from, err);
    if (!st) {
        st = results_exec(r, copy_rows, err);
        st = commit(r, st ? st : seal(r, err), err);
    }
    sqlite3_exec(r->db, "DETACH DATABASE other", NULL, NULL, NULL);
    return st;
}

enum tmx_status tmx_results_merge(const char *path, const char *const *from, size_t n, struct tmx_err *err)
{
    struct tmx_results *r = NULL;
    enum tmx_status st = TMX_OK;
    char to[512];
    locate(path, to);
    const bool before = tmx_os_exists(to);
    for (size_t i = 0; i < n && !st; i++) { /* all are looked at before anything is written */
        st = results_connect(&r, from[i], TMX_OPEN_READ, err);
        if (!st && tmx_os_same_file(to, r->path)) {
            st = tmx_fail_at(err, TMX_ECONFIG, path, 0, "an output would replace this input");
        }
        st = st ? st : results_whole(r, err);
        tmx_results_close(r);
        r = NULL;
    }
    st = st ? st : results_connect(&r, path, TMX_OPEN_WRITE, err);
    st = st || n == 0 ? st : results_whole(r, err);
    st = st ? st : results_write(r, err);
    for (size_t i = 0; i < n && !st; i++) {
        st = merge_one(r, from[i], err);
    }
    tmx_results_close(r);
    if (st && !before) {
        remove(to); /* no half of a merge */
    }
    return st;
}

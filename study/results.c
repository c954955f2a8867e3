/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _POSIX_C_SOURCE 200809L
#include "study/results.h"

#include <math.h>
#include <sqlite3.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/csv.h"
#include "base/os.h"
#include "base/plausible.h"
#include "base/provenance.h"
#include "base/text.h"
#include "run/run.h"

enum { APPLICATION = 0x544d5852, BUSY_MS = 5000, STATEMENTS = 48 }; /* "TMXR" */

/* Within a call of this file the first error stays: what follows it does nothing. */
struct tmx_results {
    sqlite3 *db;
    char path[512];
    bool writes;
    FILE *alone;      /* holds back other commands that would fill it */
    struct tmx_err e; /* of the call */
    int code;         /* SQLite's */
    struct {          /* prepared so far, by the address of its text */
        const char *sql;
        sqlite3_stmt *stmt;
    } kept[STATEMENTS];
};

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
enum { TABLES = 5 };

/* ---- statements ---- */

static void begin(struct tmx_results *r)
{
    r->e = (struct tmx_err){0};
}

/* The connection's last error, unless there was one before. */
static void failed(struct tmx_results *r)
{
    static const struct {
        int code;
        enum tmx_status st;
        const char *words; /* NULL: SQLite's */
    } errors[] = {{SQLITE_NOMEM, TMX_ENOMEM, "out of memory"},
                  {SQLITE_BUSY, TMX_EIO,
                   "the database is locked by another program (waited 5 s); finished runs are kept"},
                  {SQLITE_LOCKED, TMX_EIO,
                   "the database is locked by another program (waited 5 s); finished runs are kept"},
                  {SQLITE_FULL, TMX_EFULL, "the disk is full; finished runs are kept"},
                  {SQLITE_IOERR, TMX_EFULL, "reading or writing failed (disk full?); finished runs are kept"},
                  {SQLITE_READONLY, TMX_EIO, "the database is read-only"},
                  {SQLITE_NOTADB, TMX_EPARSE, "not a results database"},
                  {SQLITE_CANTOPEN, TMX_EIO, "cannot open: no such file or folder, or no permission"},
                  {SQLITE_CORRUPT, TMX_EPARSE, NULL},
                  {0, TMX_EIO, NULL}};
    const int code = sqlite3_errcode(r->db) & 0xff;
    const bool link = sqlite3_extended_errcode(r->db) == SQLITE_CANTOPEN_SYMLINK;
    size_t i = 0;
    while (errors[i].code && errors[i].code != code) {
        i++;
    }
    r->code = r->e.code ? r->code : code;
    tmx_error_at(&r->e, errors[i].st, r->path, 0, "%s%s",
                 code == SQLITE_CORRUPT ? "the database is damaged: " : "",
                 link              ? "a symbolic link: a database is not written through one"
                 : errors[i].words ? errors[i].words
                                   : sqlite3_errmsg(r->db));
}

static void damaged(struct tmx_results *r, const char *what)
{
    tmx_error_at(&r->e, TMX_EPARSE, r->path, 0, "the database is damaged: %.200s", what);
}

static void exec(struct tmx_results *r, const char *sql)
{
    if (!r->e.code && sqlite3_exec(r->db, sql, NULL, NULL, NULL) != SQLITE_OK) {
        failed(r);
    }
}

/* A statement, which is prepared once, with its parameters: t text, i int64_t, d double. NULL after a
 * failure. */
static sqlite3_stmt *ask_list(struct tmx_results *r, const char *sql, const char *types, va_list list)
{
    size_t k = 0;
    while (r->kept[k].sql && r->kept[k].sql != sql) {
        k++;
        tmx_assert(k < STATEMENTS);
    }
    if (!r->e.code && !r->kept[k].sql) {
        if (sqlite3_prepare_v2(r->db, sql, -1, &r->kept[k].stmt, NULL) == SQLITE_OK) {
            r->kept[k].sql = sql;
        } else {
            failed(r);
        }
    }
    if (r->e.code) {
        return NULL;
    }
    sqlite3_stmt *s = r->kept[k].stmt;
    sqlite3_reset(s);
    for (int i = 0; types[i] && !r->e.code; i++) {
        const int code = types[i] == 't'
                             ? sqlite3_bind_text(s, i + 1, va_arg(list, const char *), -1, SQLITE_TRANSIENT)
                         : types[i] == 'i' ? sqlite3_bind_int64(s, i + 1, va_arg(list, int64_t))
                                           : sqlite3_bind_double(s, i + 1, va_arg(list, double));
        if (code != SQLITE_OK) {
            failed(r);
        }
    }
    return r->e.code ? NULL : s;
}

static sqlite3_stmt *ask(struct tmx_results *r, const char *sql, const char *types, ...)
{
    va_list list;
    va_start(list, types);
    sqlite3_stmt *s = ask_list(r, sql, types, list);
    va_end(list);
    return s;
}

/* The next row of a statement; false behind the last, and after a failure. */
static bool row(struct tmx_results *r, sqlite3_stmt *s)
{
    const int code = s && !r->e.code ? sqlite3_step(s) : SQLITE_DONE;
    if (code != SQLITE_ROW && code != SQLITE_DONE) {
        failed(r);
    }
    if (s && code != SQLITE_ROW) {
        sqlite3_reset(s);
    }
    return code == SQLITE_ROW;
}

/* Carry out a statement that has no rows. */
static void tell(struct tmx_results *r, const char *sql, const char *types, ...)
{
    va_list list;
    va_start(list, types);
    (void)row(r, ask_list(r, sql, types, list));
    va_end(list);
}

/* The number that a query asks for; 0 where it has no row. */
static int64_t number(struct tmx_results *r, const char *sql, const char *types, ...)
{
    va_list list;
    va_start(list, types);
    sqlite3_stmt *s = ask_list(r, sql, types, list);
    va_end(list);
    const int64_t n = row(r, s) ? sqlite3_column_int64(s, 0) : 0;
    sqlite3_reset(s);
    return n;
}

static const char *text_at(sqlite3_stmt *s, int column)
{
    return (const char *)sqlite3_column_text(s, column);
}

/* End a transaction. */
static void commit(struct tmx_results *r)
{
    exec(r, "COMMIT");
    if (r->e.code) {
        sqlite3_exec(r->db, "ROLLBACK", NULL, NULL, NULL);
    }
}

static void forget_statements(struct tmx_results *r)
{
    for (size_t i = 0; i < STATEMENTS; i++) {
        sqlite3_finalize(r->kept[i].stmt);
        r->kept[i].sql = NULL;
        r->kept[i].stmt = NULL;
    }
}

/* ---- hashes of what is there ---- */

/* The hash of a run, and that of the study and its points (id NULL), of what the database has: types, lengths
 * and bytes of all cells. Statements may use the first as the function intact(id, hash). */
static void hash_rows(struct tmx_results *r, const char *id, char hex[TMX_HASH_HEX])
{
    static const char *const of[2][3] = {
        {"SELECT key, value FROM study WHERE key <> 'hash' ORDER BY key",
         "SELECT n, run FROM point ORDER BY n", NULL},
        {"SELECT id, status, error, seconds, version, config FROM run WHERE id = ?",
         "SELECT key, value FROM parameter WHERE run = ? ORDER BY key",
         "SELECT name, n, value FROM metric WHERE run = ? ORDER BY name"}};
    struct tmx_hash *h = NULL;
    hex[0] = '\0';
    if (!r->e.code) {
        (void)!tmx_hash_create(&h, &r->e);
    }
    for (size_t i = 0; !r->e.code && i < 3 && of[id != NULL][i]; i++) {
        sqlite3_stmt *s = ask(r, of[id != NULL][i], id ? "t" : "", id);
        while (row(r, s)) {
            for (int c = 0; c < sqlite3_column_count(s); c++) {
                const int type = sqlite3_column_type(s, c);
                const double real = type == SQLITE_FLOAT ? sqlite3_column_double(s, c) : 0;
                const sqlite3_int64 whole = type == SQLITE_INTEGER ? sqlite3_column_int64(s, c) : 0;
                const void *bytes =
                    type == SQLITE_TEXT || type == SQLITE_BLOB ? sqlite3_column_blob(s, c) : NULL;
                const int n = bytes ? sqlite3_column_bytes(s, c) : 0;
                tmx_hash_add(h, &type, sizeof type);
                tmx_hash_add(h, &real, sizeof real);
                tmx_hash_add(h, &whole, sizeof whole);
                tmx_hash_add(h, &n, sizeof n);
                tmx_hash_add(h, bytes, (size_t)n);
            }
        }
    }
    if (!r->e.code) {
        tmx_hash_hex(h, hex);
    }
    tmx_hash_destroy(h);
}

static void intact(sqlite3_context *c, int n, sqlite3_value **v)
{
    char hex[TMX_HASH_HEX] = "";
    const char *id = (const char *)sqlite3_value_text(v[0]), *hash = (const char *)sqlite3_value_text(v[1]);
    (void)n;
    if (id && hash) {
        hash_rows(sqlite3_user_data(c), id, hex);
    }
    sqlite3_result_int(c, hex[0] && strcmp(hex, hash) == 0);
}

/* Everything in it has its hash; else TMX_EPARSE. */
static void check_whole(struct tmx_results *r)
{
    char hex[TMX_HASH_HEX];
    hash_rows(r, NULL, hex);
    const bool as_written =
        number(r, "SELECT count(*) = 0 OR sum(key = 'hash' AND value = ?) FROM study", "t", hex) != 0;
    const int64_t n_run = number(r, "SELECT count(*) FROM run", ""),
                  n_broken = number(r, "SELECT count(*) FROM run WHERE NOT intact(id, hash)", "");
    if (n_broken > 0 || !as_written) {
        tmx_error_at(&r->e, TMX_EPARSE, r->path, 0,
                     "the database is damaged: %s%d of %d runs have changed since they were written; "
                     "the command that made it computes them again",
                     as_written ? "" : "its points are not as they were written; ", (int)n_broken,
                     (int)n_run);
    }
}

/* The hash of the study and its points, as the last of its lines. */
static void store_hash(struct tmx_results *r)
{
    char hex[TMX_HASH_HEX];
    hash_rows(r, NULL, hex);
    tell(r, "INSERT OR REPLACE INTO study VALUES('hash', ?)", "t", hex);
}

/* ---- opening ---- */

/* Whose database it is, and whether its tables are ours: a view of such a name may never end, another column
 * may hold anything, and rows in a page that nothing leads to would be missing without a word. True: it is
 * empty. */
static bool check_format(struct tmx_results *r)
{
    const int64_t application = number(r, "PRAGMA application_id", ""),
                  version = number(r, "PRAGMA user_version", "");
    if (number(r, "SELECT count(*) FROM sqlite_master", "") == 0 && application == 0) {
        return !r->e.code;
    }
    if (application != APPLICATION) {
        tmx_error_at(&r->e, TMX_EPARSE, r->path, 0, "not a results database (it belongs to another program)");
    } else if (version != TMX_RESULTS_VERSION) {
        tmx_error_at(&r->e, TMX_EPARSE, r->path, 0,
                     "a results database of version %d; this program reads version %d", (int)version,
                     TMX_RESULTS_VERSION);
    }
    if (number(r, "SELECT count(*) FROM sqlite_master WHERE type = 'table' AND instr(?, sql || ';')", "t",
               schema) != TABLES) {
        damaged(r, "its tables are not those that thermix makes");
    }
    sqlite3_stmt *s = ask(r, "PRAGMA integrity_check(1)", "");
    const char *answer = row(r, s) ? text_at(s, 0) : "ok";
    if (!answer || strcmp(answer, "ok") != 0) {
        damaged(r, answer ? answer : "no text");
    }
    sqlite3_reset(s);
    /* what a power cut leaves: SQLite does not read it, and the next page replaces it */
    const double tail =
        (double)tmx_os_file_size(r->path) -
        (double)number(r, "SELECT page_count * page_size FROM pragma_page_count, pragma_page_size", "");
    if (!r->e.code && tail > 0) {
        tmx_warn("%s: %.0f bytes behind its last page belong to no row; they are not read", r->path, tail);
    }
    return false;
}

/* A read-only folder has no room for the WAL's index: read the file as it is. */
static void open_immutable(struct tmx_results *r)
{
    char wal[600], uri[1600] = "file:";
    size_t n = strlen(uri);
    snprintf(wal, sizeof wal, "%s-wal", r->path);
    if (tmx_os_file_size(wal) > 0) { /* runs that only the log holds would be missing */
        tmx_error_at(&r->e, TMX_EIO, r->path, 0,
                     "%s holds runs that are not in it yet, and the folder is read-only; copy both to "
                     "a folder that may be written",
                     wal);
        return;
    }
    for (const char *c = r->path; *c && n + 32 < sizeof uri; c++) {
        n +=
            (size_t)snprintf(uri + n, sizeof uri - n, strchr("?#%", *c) ? "%%%02X" : "%c", (unsigned char)*c);
    }
    snprintf(uri + n, sizeof uri - n, "?immutable=1");
    forget_statements(r);
    sqlite3_close(r->db);
    r->db = NULL;
    begin(r);
    if (sqlite3_open_v2(uri, &r->db, SQLITE_OPEN_READONLY | SQLITE_OPEN_URI, NULL) != SQLITE_OK) {
        failed(r);
    }
}

static bool open_read(struct tmx_results *r, int flags)
{
    if (sqlite3_open_v2(r->path, &r->db, flags, NULL) != SQLITE_OK) {
        failed(r);
        return false;
    }
    sqlite3_busy_timeout(r->db, BUSY_MS);
    return true;
}

static void connect_read(struct tmx_results *r)
{
    tmx_provenance_note(r->path, NULL, 0);
    if (!open_read(r, SQLITE_OPEN_READONLY)) {
        return;
    }
    bool empty = check_format(r);
    if (r->e.code && r->code == SQLITE_CANTOPEN) {
        open_immutable(r);
        empty = check_format(r);
    } else if (r->e.code && r->code == SQLITE_READONLY) { /* a killed writer's journal is to be rolled back */
        forget_statements(r);
        sqlite3_close(r->db);
        begin(r);
        empty = open_read(r, SQLITE_OPEN_READWRITE) && check_format(r);
    }
    if (empty) {
        tmx_error_at(&r->e, TMX_EIO, r->path, 0, "an empty database: no results");
    }
}

/* Through links in the folder's name, but not through one that is the file. */
static void connect_write(struct tmx_results *r, bool in_memory)
{
    enum { ROOM = 4096 };
    char folder[sizeof r->path], real[ROOM + sizeof r->path] = ".";
    const char *slash = strrchr(r->path, '/');
    if (!in_memory && tmx_os_mkdirs_for(r->path, &r->e)) {
        return;
    }
    snprintf(folder, sizeof folder, "%.*s", slash ? (int)(slash - r->path) + 1 : 1, slash ? r->path : ".");
    (void)!tmx_os_real_path(folder, real, ROOM);
    const size_t n = strlen(real);
    snprintf(real + n, sizeof real - n, "/%s", slash ? slash + 1 : r->path);
    if ((in_memory ? sqlite3_open(":memory:", &r->db)
                   : sqlite3_open_v2(real, &r->db,
                                     SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOFOLLOW,
                                     NULL)) != SQLITE_OK) {
        failed(r);
        return;
    }
    sqlite3_busy_timeout(r->db, BUSY_MS);
    const bool empty = check_format(r);
    if (!r->e.code && sqlite3_db_readonly(r->db, "main") == 1) {
        tmx_error_at(&r->e, TMX_EIO, r->path, 0, "the database is read-only");
    } else if (empty) {
        char sql[2048];
        snprintf(sql, sizeof sql, "PRAGMA application_id = %d; PRAGMA user_version = %d; %s",
                 (int)APPLICATION, (int)TMX_RESULTS_VERSION, schema);
        exec(r, "BEGIN IMMEDIATE");
        if (!r->e.code && check_format(r)) { /* another process may have been faster */
            exec(r, sql);
        }
        commit(r);
    }
}

/* The database that path means: its own, or that of the suite whose folder it is. */
static void locate(const char *path, char file[512])
{
    snprintf(file, 512, "%s/" TMX_SUITE_RESULTS, path);
    if (!tmx_os_exists(file)) {
        snprintf(file, 512, "%s", path);
    }
}

/* Open and check application, version, schema and structure; to write, make it where there is nothing (path
 * NULL: in memory). Nothing of a database that is there is written. */
static enum tmx_status results_connect(struct tmx_results **r, const char *path, bool write,
                                       struct tmx_err *err)
{
    struct tmx_results *n = *r = err->code ? NULL : calloc(1, sizeof *n);
    if (!n) {
        tmx_error(err, TMX_ENOMEM, "out of memory");
        return err->code;
    }
    locate(path ? path : "results", n->path);
    if (!path || !tmx_input_check(n->path, &n->e)) { /* SQLite would wait for a FIFO's writer */
        write ? connect_write(n, !path) : connect_read(n);
    }
    if (!n->e.code &&
        sqlite3_create_function(n->db, "intact", 2, SQLITE_UTF8, n, intact, NULL, NULL) != SQLITE_OK) {
        failed(n);
    }
    if (tmx_error_give(err, &n->e)) {
        tmx_results_close(n);
        *r = NULL;
    }
    return err->code;
}

/* Before anything is written. */
static void results_write(struct tmx_results *r)
{
    r->writes = true;
    exec(r, "PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL");
}

void tmx_results_close(struct tmx_results *r)
{
    if (r) {
        forget_statements(r);
        if (r->db && r->writes) { /* the last one to write leaves one file, which readers add none to */
            sqlite3_busy_timeout(r->db, 0);
            sqlite3_exec(r->db, "PRAGMA journal_mode = DELETE", NULL, NULL, NULL);
        }
        sqlite3_close(r->db);
        if (r->alone) { /* not before: to close the file would take SQLite's own locks */
            fclose(r->alone);
        }
        free(r);
    }
}

/* ---- a study in memory, for tables, regressions and figures ---- */

enum { MAX_POINTS = 50000000 };

/* What is stored was written by thermix or by somebody with another aim: every cell is checked for its type.
 */
static const char *text_or_damaged(struct tmx_results *r, sqlite3_stmt *s, int column, const char *what)
{
    const char *text = sqlite3_column_type(s, column) == SQLITE_TEXT ? text_at(s, column) : NULL;
    if (!text) {
        damaged(r, what);
    }
    return text ? text : "";
}

static double real_or_damaged(struct tmx_results *r, sqlite3_stmt *s, int column, const char *what)
{
    const int type = sqlite3_column_type(s, column);
    const double v = sqlite3_column_double(s, column);
    if ((type != SQLITE_FLOAT && type != SQLITE_INTEGER) || !isfinite(v)) {
        damaged(r, what);
    }
    return v;
}

static void load_lines(struct tmx_results *r, struct tmx_result_set *set)
{
    sqlite3_stmt *s = ask(r, "SELECT key, value FROM study", "");
    while (row(r, s)) {
        const char *key = text_or_damaged(r, s, 0, "table study: a key is no text"),
                   *value = text_or_damaged(r, s, 1, "table study: a value is no text");
        if (strcmp(key, "name") == 0) {
            snprintf(set->study, sizeof set->study, "%s", value);
        } else if (strcmp(key, "doc") == 0) {
            snprintf(set->doc, sizeof set->doc, "%s", value);
        } else if (strcmp(key, "method") == 0) {
            snprintf(set->method, sizeof set->method, "%s", value);
        } else if (strcmp(key, "axes") == 0 && value[0]) { /* one a line */
            char *at = tmx_arena_text(&set->arena, value);
            size_t n = 1;
            for (const char *c = value; *c; c++) {
                n += *c == '\n';
            }
            TMX_TAKE(&set->arena, set->key, n);
            for (set->n_key = 0; !set->arena.failed && set->n_key < n; at += strlen(at) + 1) {
                at[strcspn(at, "\n")] = '\0';
                set->key[set->n_key++] = at;
            }
        }
    }
}

/* Names of all metrics, and the runs that are shown, each with its place. */
static void load_runs(struct tmx_results *r, struct tmx_result_set *set, enum tmx_results_which which)
{
    exec(r,
         "CREATE TEMP TABLE named(name PRIMARY KEY, at) WITHOUT ROWID;"
         "INSERT INTO named SELECT name, row_number() OVER (ORDER BY min(n), name) - 1 FROM metric GROUP BY "
         "name;"
         "CREATE TEMP TABLE shown(id PRIMARY KEY, at) WITHOUT ROWID;");
    tell(r,
         "INSERT INTO shown SELECT id, row_number() OVER (ORDER BY first IS NULL, first, id) - 1 FROM run"
         " LEFT JOIN (SELECT run, min(n) AS first FROM point GROUP BY run) ON run = id"
         " WHERE ? OR first IS NOT NULL",
         "i", (int64_t)(which == TMX_RESULTS_ALL));
    set->n_metric = (size_t)number(r, "SELECT count(*) FROM named", "");
    set->n_run = (size_t)number(r, "SELECT count(*) FROM shown", "");
    set->n_left_out = (size_t)number(r, "SELECT count(*) FROM run", "") - set->n_run;
    char **value, *none = tmx_arena_text(&set->arena, "");
    double *metric;
    TMX_TAKE(&set->arena, set->metric, set->n_metric);
    TMX_TAKE(&set->arena, set->run, set->n_run);
    TMX_TAKE(&set->arena, value, set->n_run * set->n_key);
    TMX_TAKE(&set->arena, metric, set->n_run * set->n_metric);
    tmx_arena_check(&set->arena, &r->e);
    if (r->e.code) {
        return;
    }
    sqlite3_stmt *s = ask(r, "SELECT name FROM named ORDER BY at", "");
    for (size_t i = 0; row(r, s); i++) {
        set->metric[i] = tmx_arena_text(&set->arena, text_or_damaged(r, s, 0, "a metric's name is no text"));
    }
    s = ask(r, "SELECT id, status = 'done', error, seconds FROM shown JOIN run USING (id) ORDER BY at", "");
    for (size_t i = 0; row(r, s); i++) {
        struct tmx_result *run = &set->run[i];
        const char *id = text_or_damaged(r, s, 0, "a run's id is no text");
        if (strlen(id) >= sizeof run->id) {
            damaged(r, "a run's id is longer than 32 characters");
        }
        snprintf(run->id, sizeof run->id, "%s", id);
        run->done = sqlite3_column_int(s, 1) != 0;
        run->error = tmx_arena_text(&set->arena, text_or_damaged(r, s, 2, "a run's error is no text"));
        run->seconds = real_or_damaged(r, s, 3, "a run's seconds are no number");
        run->value = value + i * set->n_key;
        run->metric = metric + i * set->n_metric;
    }
    for (size_t i = 0; i < set->n_run * set->n_key; i++) {
        value[i] = none;
    }
    for (size_t i = 0; i < set->n_run * set->n_metric; i++) {
        metric[i] = NAN;
    }
}

static void load_cells(struct tmx_results *r, struct tmx_result_set *set)
{
    sqlite3_stmt *s = ask(r, "SELECT at, key, value FROM parameter JOIN shown ON id = run", "");
    while (row(r, s)) {
        const char *key = text_or_damaged(r, s, 1, "the name of a parameter is no text");
        size_t k = 0;
        while (k < set->n_key && strcmp(set->key[k], key) != 0) {
            k++;
        }
        if (k < set->n_key && sqlite3_column_type(s, 2) != SQLITE_NULL) {
            const char *text = text_at(s, 2);
            set->run[sqlite3_column_int64(s, 0)].value[k] = tmx_arena_text(&set->arena, text ? text : "");
        }
    }
    s = ask(r,
            "SELECT shown.at, named.at, value FROM metric CROSS JOIN shown ON id = run"
            " CROSS JOIN named USING (name)",
            "");
    while (row(r, s)) {
        set->run[sqlite3_column_int64(s, 0)].metric[sqlite3_column_int64(s, 1)] =
            real_or_damaged(r, s, 2, "a metric is no finite number");
    }
}

static void load_points(struct tmx_results *r, struct tmx_result_set *set)
{
    const int64_t n = number(r, "SELECT count(*) FROM point", ""),
                  low = number(r, "SELECT min(n) FROM point", ""),
                  high = number(r, "SELECT max(n) FROM point", "");
    if (n > 0 && (low < 0 || high >= MAX_POINTS || high + 1 < n)) {
        damaged(r, "the numbers of its points are out of range");
    }
    set->n_point = n > 0 && !r->e.code ? (size_t)high + 1 : 0;
    TMX_TAKE(&set->arena, set->run_of_point, set->n_point);
    for (size_t i = 0; !set->arena.failed && i < set->n_point; i++) {
        set->run_of_point[i] = set->n_run;
    }
    sqlite3_stmt *s = set->arena.failed ? NULL : ask(r, "SELECT n, at FROM point JOIN shown ON id = run", "");
    while (row(r, s)) {
        set->run_of_point[sqlite3_column_int64(s, 0)] = (size_t)sqlite3_column_int64(s, 1);
    }
}

/* The runs.csv of a study in Python: a grid's keys, the run's id, metrics. */
static void load_table(struct tmx_result_set *set, const char *path, struct tmx_err *err)
{
    struct tmx_csv csv = {0};
    const size_t n_key = tmx_csv_read(&csv, path, err) ? 0 : tmx_csv_column(&csv, "run"), first = n_key + 1;
    if (n_key == 0 || n_key == csv.n_column) {
        tmx_error_at(err, TMX_EPARSE, path, csv.head_line,
                     "expected the columns of a study's runs.csv: its keys, run, metrics");
    }
    if (!err->code) {
        snprintf(set->study, sizeof set->study, "%s", path);
        snprintf(set->method, sizeof set->method, "grid");
        set->n_key = n_key;
        set->n_metric = csv.n_column - first;
        set->n_run = set->n_point = csv.n_row;
        TMX_TAKE(&set->arena, set->key, n_key);
        TMX_TAKE(&set->arena, set->metric, set->n_metric);
        TMX_TAKE(&set->arena, set->run, set->n_run);
        TMX_TAKE(&set->arena, set->run_of_point, set->n_run);
        TMX_TAKE(&set->arena, set->warnings, 1);
    }
    tmx_arena_check(&set->arena, err);
    for (size_t c = 0; c < csv.n_column && !err->code; c++) {
        if (c != n_key) {
            *(c < n_key ? &set->key[c] : &set->metric[c - first]) =
                tmx_arena_text(&set->arena, csv.column[c]);
        }
    }
    for (size_t i = 0; i < csv.n_row && !err->code; i++) {
        struct tmx_result *run = &set->run[i];
        *run = (struct tmx_result){.done = true, .error = ""};
        snprintf(run->id, sizeof run->id, "%s", tmx_csv_cell(&csv, i, n_key));
        set->run_of_point[i] = i;
        TMX_TAKE(&set->arena, run->value, n_key);
        TMX_TAKE(&set->arena, run->metric, set->n_metric);
        tmx_arena_check(&set->arena, err);
        for (size_t c = 0; c < csv.n_column && !err->code; c++) {
            const char *cell = tmx_csv_cell(&csv, i, c);
            if (c < n_key) {
                run->value[c] = tmx_arena_text(&set->arena, cell);
            } else if (c > n_key && !tmx_csv_real(&csv, i, c, &run->metric[c - first])) {
                run->metric[c - first] = NAN;
                if (cell[0]) {
                    tmx_error_at(err, TMX_EPARSE, path, csv.line[i], "%s = %s: expected a number",
                                 csv.column[c], cell);
                }
            }
        }
    }
    tmx_arena_check(&set->arena, err);
    tmx_csv_finish(&csv);
}

enum tmx_status tmx_results_load(struct tmx_result_set *set, const char *path, enum tmx_results_which which,
                                 struct tmx_err *err)
{
    struct tmx_results *r = NULL;
    *set = (struct tmx_result_set){0};
    if (err->code) {
        return err->code;
    }
    if (!results_connect(&r, path, false, err)) {
        exec(r, "PRAGMA temp_store = MEMORY; BEGIN"); /* one snapshot, also while a study writes */
        check_whole(r);
        load_lines(r, set);
        load_runs(r, set, which);
        load_cells(r, set);
        load_points(r, set);
        TMX_TAKE(&set->arena, set->warnings, 1);
        tmx_arena_check(&set->arena, &r->e);
        (void)(tmx_error_give(err, &r->e) || tmx_results_warnings(r, set->warnings, err));
        tmx_results_close(r);
    } else if (err->code != TMX_ENOMEM && tmx_text_ends(path, ".csv")) {
        *err = (struct tmx_err){0};
        load_table(set, path, err);
    }
    if (err->code) {
        tmx_result_set_finish(set);
    }
    return err->code;
}

void tmx_result_set_finish(struct tmx_result_set *set)
{
    if (set->warnings) {
        tmx_warnings_finish(set->warnings);
    }
    tmx_arena_finish(&set->arena);
    *set = (struct tmx_result_set){0};
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
    tmx_warnings_listen(set->warnings, &who);
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

size_t tmx_result_find(char *const *names, size_t n, const char *word)
{
    size_t found = n, n_found = 0;
    for (size_t i = 0; i < n; i++) {
        const char *dot = strrchr(names[i], '.');
        if (strcmp(names[i], word) == 0) {
            return i;
        }
        if (dot && strcmp(dot + 1, word) == 0) {
            found = i;
            n_found++;
        }
    }
    return n_found == 1 ? found : n;
}

/* ---- writing ---- */

struct line { /* of the table study */
    const char *key, *value;
};
enum { LINES = 4 };

/* Those of its lines that the database has are these. */
static void same_lines(struct tmx_results *r, const struct line line[LINES])
{
    for (size_t i = 0; i < LINES; i++) {
        sqlite3_stmt *s =
            ask(r, "SELECT value FROM study WHERE key = ? AND value <> ?", "tt", line[i].key, line[i].value);
        if (row(r, s)) {
            tmx_error_at(&r->e, TMX_EIO, r->path, 0,
                         "holds another study: its %s is \"%s\", not \"%s\"; give another file", line[i].key,
                         text_at(s, 0), line[i].value);
        }
    }
}

/* A damaged database of a suite, as the error says, is set aside, and the error is forgotten: a new one
 * begins. */
static void set_aside(const char *path, struct tmx_err *err)
{
    static const char *const beside[] = {"-wal", "-shm", "-journal"};
    char name[1024], text[1600];
    for (size_t i = 0; i < sizeof beside / sizeof beside[0]; i++) {
        snprintf(name, sizeof name, "%s%s", path, beside[i]);
        remove(name);
    }
    snprintf(name, sizeof name, "%s.damaged", path);
    tmx_err_format(err, text, sizeof text);
    *err = (struct tmx_err){0};
    if (rename(path, name) != 0) {
        tmx_error_at(err, TMX_EIO, path, 0, "cannot rename it to %s", name);
    } else {
        tmx_print_visible(stderr, "note: %s; it is now %s, and all runs are computed again\n", text, name);
    }
}

static void say_waiting(double at_most_s)
{
    (void)at_most_s;
    fputs("another command fills this database; waiting for its end\n", stderr);
}

enum tmx_status tmx_results_open(struct tmx_results **out, const char *path, const struct tmx_runs *s,
                                 struct tmx_err *err)
{
    char *axes = NULL;
    size_t size = 0;
    if (results_connect(out, path, true, err) == TMX_EPARSE && s->suite) {
        set_aside(path, err);
        results_connect(out, path, true, err);
    }
    FILE *text = err->code ? NULL : open_memstream(&axes, &size);
    for (size_t k = 0; text && k < s->n_key; k++) {
        fprintf(text, "%s%s", k ? "\n" : "", s->key[k]);
    }
    if (!text || fclose(text) != 0) {
        tmx_error(err, TMX_ENOMEM, "out of memory");
    }
    if (!err->code) {
        struct tmx_results *r = *out;
        const struct line line[LINES] = {{"name", s->name},
                                         {"axes", axes},
                                         {"method", s->method ? s->method : ""},
                                         {"doc", s->doc ? s->doc : ""}};
        if (!s->suite) {
            same_lines(r, line); /* before anything is written */
        }
        /* behind all bytes that SQLite locks: the points are this command's until it has read them back */
        static const uint64_t behind = UINT64_MAX;
        r->alone = path ? tmx_os_lock(r->path, &behind, INFINITY, say_waiting) : NULL;
        results_write(r);
        exec(r, "CREATE TEMP TABLE broken AS SELECT id FROM run WHERE NOT intact(id, hash)");
        const int64_t n = number(r, "SELECT count(*) FROM broken", "");
        if (!r->e.code && n > 0) { /* runs that are not as they were written are no results */
            tmx_print_visible(stderr,
                              "note: %s: runs that are not as they were written, computed again: %d\n",
                              r->path, (int)n);
        }
        exec(r, "BEGIN IMMEDIATE; DELETE FROM run WHERE id IN (SELECT id FROM broken)");
        for (size_t i = 0; i < LINES; i++) {
            tell(r,
                 s->suite ? "INSERT OR REPLACE INTO study VALUES(?, ?)"
                          : "INSERT OR IGNORE INTO study VALUES(?, ?)",
                 "tt", line[i].key, line[i].value);
        }
        same_lines(r, line); /* another process may have been faster */
        store_hash(r);
        commit(r);
        (void)tmx_error_give(err, &r->e);
    }
    free(axes);
    if (err->code) {
        tmx_results_close(*out);
        *out = NULL;
    }
    return err->code;
}

enum tmx_status tmx_results_points(struct tmx_results *r, const struct tmx_runs *s,
                                   const char (*ids)[TMX_HASH_HEX], struct tmx_err *err)
{
    begin(r);
    exec(r, "BEGIN IMMEDIATE; DELETE FROM point");
    for (size_t i = 0; i < s->n_point; i++) {
        tell(r, "INSERT INTO point VALUES(?, ?)", "it", (int64_t)i, ids[i]);
    }
    store_hash(r);
    commit(r);
    return tmx_error_give(err, &r->e);
}

enum tmx_status tmx_results_runs(struct tmx_results *r, size_t *point, enum tmx_run_state *state, size_t *n,
                                 struct tmx_err *err)
{
    begin(r);
    sqlite3_stmt *s =
        ask(r,
            "SELECT min(n), coalesce(1 + (status <> 'done'), 0) FROM point p LEFT JOIN run ON id = p.run"
            " GROUP BY p.run ORDER BY 1",
            "");
    for (*n = 0; row(r, s); ++*n) {
        point[*n] = (size_t)sqlite3_column_int64(s, 0);
        state[*n] = (enum tmx_run_state)sqlite3_column_int(s, 1);
    }
    return tmx_error_give(err, &r->e);
}

/* A parameter as SQLite's own type; a whole number is an integer however it was written. */
static void add_parameter(struct tmx_results *r, const char *id, const char *key, struct tmx_scalar v)
{
    static const char sql[] = "INSERT INTO parameter VALUES(?, ?, ?)";
    char text[TMX_REAL_SIZE];
    double real;
    if (!tmx_scalar_real(v, &real)) {
        tell(r, sql, "ttt", id, key, tmx_scalar_plain(v, text));
    } else if (v.kind == TMX_SETTING_INTEGER || (real == floor(real) && fabs(real) < 1e15)) {
        tell(r, sql, "tti", id, key, v.kind == TMX_SETTING_INTEGER ? (int64_t)v.integer : (int64_t)real);
    } else {
        tell(r, sql, "ttd", id, key, real);
    }
}

enum tmx_status tmx_results_add(struct tmx_results *r, const struct tmx_runs *s, const struct tmx_run_row *of,
                                struct tmx_err *err)
{
    char hex[TMX_HASH_HEX];
    begin(r);
    exec(r, "BEGIN IMMEDIATE");
    tell(
        r,
        "INSERT INTO run VALUES(?, ?, ?, ?, ?, ?, '') ON CONFLICT(id) DO UPDATE SET status = excluded.status,"
        " error = excluded.error, seconds = excluded.seconds, version = excluded.version"
        " WHERE run.status = 'failed'",
        "tttdtt", of->id, of->done ? "done" : "failed", of->error, of->seconds, of->version, of->config);
    if (!r->e.code && sqlite3_changes(r->db) > 0) {
        tell(r, "DELETE FROM parameter WHERE run = ?", "t", of->id); /* also what a damaged run has left */
        tell(r, "DELETE FROM metric WHERE run = ?", "t", of->id);
        for (size_t k = 0; k < s->n_key && !r->e.code; k++) {
            add_parameter(r, of->id, s->key[k], s->value(s->ctx, of->point, k));
        }
        for (size_t i = 0; i < of->n_metric; i++) {
            if (!isnan(of->value[i])) {
                tell(r, "INSERT INTO metric VALUES(?, ?, ?, ?)", "ttid", of->id, of->name[i], (int64_t)i,
                     of->value[i]);
            }
        }
        hash_rows(r, of->id, hex);
        tell(r, "UPDATE run SET hash = ? WHERE id = ?", "tt", hex, of->id);
    }
    commit(r);
    return tmx_error_give(err, &r->e);
}

enum tmx_status tmx_results_values(struct tmx_results *r, size_t n_point, size_t n_value, double *value,
                                   const char **error, struct tmx_arena *arena, struct tmx_err *err)
{
    begin(r);
    for (size_t i = 0; i < n_point * n_value; i++) {
        value[i] = NAN;
    }
    sqlite3_stmt *s = ask(r, "SELECT p.n, m.n, m.value FROM point p JOIN metric m ON m.run = p.run", "");
    while (row(r, s)) {
        const sqlite3_int64 p = sqlite3_column_int64(s, 0), m = sqlite3_column_int64(s, 1);
        if (p >= 0 && m >= 0 && (size_t)p < n_point && (size_t)m < n_value) {
            value[(size_t)p * n_value + (size_t)m] = sqlite3_column_double(s, 2);
        }
    }
    s = ask(
        r,
        "SELECT p.n, coalesce(error, '') FROM point p LEFT JOIN run ON id = p.run WHERE status IS NOT 'done'",
        "");
    while (row(r, s)) {
        const sqlite3_int64 p = sqlite3_column_int64(s, 0);
        if (p >= 0 && (size_t)p < n_point && !error[p]) {
            error[p] = tmx_arena_text(arena, text_at(s, 1));
        }
    }
    tmx_arena_check(arena, &r->e);
    return tmx_error_give(err, &r->e);
}

enum tmx_status tmx_results_warnings(struct tmx_results *r, struct tmx_warnings *w, struct tmx_err *err)
{
    begin(r);
    sqlite3_stmt *s = ask(r,
                          "SELECT p.n, config FROM point p JOIN run ON id = p.run"
                          " WHERE instr(config, '" TMX_RUN_WARNING "') ORDER BY p.n",
                          "");
    while (row(r, s)) {
        const char *config = text_at(s, 1);
        (void)(config ? tmx_warnings_add(w, (size_t)sqlite3_column_int64(s, 0), config, &r->e)
                      : tmx_no_memory(&r->e));
    }
    return tmx_error_give(err, &r->e);
}

/* Checked against what was taken before it; then its points are taken, or, with write, its runs are stored.
 */
static void merge_one(struct tmx_results *r, const char *path, bool write)
{
    char from[512];
    locate(path, from);
    tell(r, "ATTACH DATABASE ? AS other", "t", from);
    if (r->e.code) {
        return;
    }
    sqlite3_stmt *s = ask(r,
                          "SELECT a.key, a.value, b.value FROM taken_study a, other.study b"
                          " WHERE a.key = b.key AND a.key <> 'hash' AND a.value <> b.value LIMIT 1",
                          "");
    if (row(r, s)) {
        tmx_error_at(&r->e, TMX_EIO, from, 0, "another study: its %s is \"%s\", not \"%s\"", text_at(s, 0),
                     text_at(s, 2), text_at(s, 1));
    }
    /* A point that both have must have the same run in both: else one of them is of earlier inputs. */
    const int64_t n =
        number(r, "SELECT count(*) FROM taken_point a, other.point b WHERE a.n = b.n AND a.run <> b.run", "");
    if (n > 0) {
        tmx_error_at(
            &r->e, TMX_EIO, from, 0,
            "%d points have other runs than in what is merged before it: the study or a file it names has "
            "changed in between; sweep the older one again",
            (int)n);
    }
    if (!write) {
        exec(r, "INSERT OR IGNORE INTO taken_study SELECT key, value FROM other.study;"
                "INSERT OR IGNORE INTO taken_point SELECT n, run FROM other.point");
    } else {
        exec(r,
             "BEGIN IMMEDIATE;"
             "INSERT OR IGNORE INTO main.study SELECT * FROM other.study;"
             "INSERT OR IGNORE INTO main.point SELECT * FROM other.point;"
             "CREATE TEMP TABLE fresh AS SELECT id FROM other.run o WHERE NOT EXISTS"
             " (SELECT 1 FROM main.run m WHERE m.id = o.id AND (m.status = 'done' OR o.status = 'failed'));"
             "INSERT OR REPLACE INTO main.run SELECT * FROM other.run WHERE id IN (SELECT id FROM fresh);"
             "INSERT OR REPLACE INTO main.parameter SELECT * FROM other.parameter"
             " WHERE run IN (SELECT id FROM fresh);"
             "INSERT OR REPLACE INTO main.metric SELECT * FROM other.metric"
             " WHERE run IN (SELECT id FROM fresh);"
             "DROP TABLE fresh");
        store_hash(r);
        commit(r);
    }
    forget_statements(r);
    sqlite3_exec(r->db, "DETACH DATABASE other", NULL, NULL, NULL);
}

enum tmx_status tmx_results_merge(const char *path, const char *const *from, size_t n, struct tmx_err *err)
{
    struct tmx_results *r = NULL;
    char to[512];
    if (err->code) {
        return err->code;
    }
    locate(path, to);
    const bool before = tmx_os_exists(to);
    /* all are looked at before anything is written */
    for (size_t i = 0; i < n && !results_connect(&r, from[i], false, err); i++) {
        if (tmx_os_same_file(to, r->path)) {
            tmx_error_at(err, TMX_ECONFIG, path, 0, "an output would replace this input");
        } else {
            check_whole(r);
            (void)tmx_error_give(err, &r->e);
        }
        tmx_results_close(r);
    }
    if (!results_connect(&r, path, true, err)) {
        if (n > 0) {
            check_whole(r);
        }
        results_write(r);
        exec(r, "CREATE TEMP TABLE taken_study (key PRIMARY KEY, value);"
                "CREATE TEMP TABLE taken_point (n PRIMARY KEY, run);"
                "INSERT INTO taken_study SELECT key, value FROM main.study;"
                "INSERT INTO taken_point SELECT n, run FROM main.point");
        for (size_t i = 0; i < 2 * n && !r->e.code; i++) { /* all are checked before one is written */
            merge_one(r, from[i % n], i >= n);
        }
        (void)tmx_error_give(err, &r->e);
    }
    tmx_results_close(r);
    if (err->code && !before) {
        remove(to); /* no half of a merge */
    }
    return err->code;
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "study/results.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/os.h"
#include "core/base/text.h"
#include "study/results_db.h"

static enum tmx_status commit(struct tmx_results *r, enum tmx_status st, struct tmx_err *err)
{
    if (!st) {
        st = tmx_results_exec(r, "COMMIT", err);
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

/* A literal as SQLite's own type, text without its quotes. */
static void bind_literal(sqlite3_stmt *stmt, int i, const char *literal)
{
    double v;
    const size_t n = strlen(literal);
    if (tmx_span_real((struct tmx_span){literal, literal + n}, &v)) {
        if (literal[strspn(literal, "+-0123456789")] == '\0') {
            sqlite3_bind_int64(stmt, i, strtoll(literal, NULL, 10));
        } else {
            sqlite3_bind_double(stmt, i, v);
        }
    } else if (n >= 2 && literal[0] == '"') {
        sqlite3_bind_text(stmt, i, literal + 1, (int)n - 2, SQLITE_TRANSIENT);
    } else {
        bind_text(stmt, i, literal);
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
    enum tmx_status st = tmx_results_prepare(r, &stmt, sql, err);
    if (!st) {
        bind_text(stmt, 1, l->key);
        bind_text(stmt, 2, l->value);
        st = tmx_results_step(r, stmt, err);
    }
    sqlite3_finalize(stmt);
    return st;
}

/* The database's line, if it has it, is this one. */
static enum tmx_status same_line(struct tmx_results *r, const struct line *l, struct tmx_err *err)
{
    sqlite3_stmt *stmt = NULL;
    enum tmx_status st =
        tmx_results_prepare(r, &stmt, "SELECT value FROM study WHERE key = ? AND value <> ?", err);
    if (!st) {
        bind_text(stmt, 1, l->key);
        bind_text(stmt, 2, l->value);
        const int code = sqlite3_step(stmt);
        st = code == SQLITE_ROW
                 ? tmx_fail_at(err, TMX_EIO, r->path, 0,
                               "holds another study: its %s is \"%s\", not \"%s\"; give another file", l->key,
                               (const char *)sqlite3_column_text(stmt, 0), l->value)
             : code == SQLITE_DONE ? TMX_OK
                                   : tmx_results_fail(r, err);
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
    const enum tmx_status st = tmx_results_hash(r, NULL, hex, err);
    return st ? st
              : put_line(r, "INSERT OR REPLACE INTO study VALUES(?, ?)", &(struct line){"hash", hex}, err);
}

static enum tmx_status write_lines(struct tmx_results *r, const struct tmx_runs *s,
                                   const struct line line[LINES], struct tmx_err *err)
{
    enum tmx_status st = tmx_results_exec(r, "BEGIN IMMEDIATE", err);
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
    enum tmx_status st = tmx_results_int(r, "SELECT count(*) FROM run WHERE NOT intact(id, hash)", &n, err);
    if (!st && n > 0) {
        fprintf(stderr, "note: %s: runs that are not as they were written, computed again: %d\n", r->path, n);
        st = commit(r, tmx_results_exec(r, drop, err), err);
    }
    return st;
}

/* A damaged database of a suite keeps nobody from a new one. */
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
    fprintf(stderr, "note: %s; it is now %s, and all runs are computed again\n", text, name);
    return TMX_OK;
}

enum tmx_status tmx_results_open(struct tmx_results **r, const char *path, const struct tmx_runs *s,
                                 struct tmx_err *err)
{
    char *axes = NULL;
    struct tmx_err why;
    enum tmx_status st = tmx_results_connect(r, path, TMX_OPEN_WRITE, &why);
    if (st == TMX_EPARSE && s->suite) {
        st = set_aside(path, &why, err);
        st = st ? st : tmx_results_connect(r, path, TMX_OPEN_WRITE, err);
    } else if (st) {
        *err = why;
    }
    st = st ? st : axes_text(s, &axes, err);
    const struct line line[LINES] = {
        {"name", s->name}, {"axes", axes}, {"method", s->method}, {"doc", s->doc}};
    st = st || s->suite ? st : same_lines(*r, line, err); /* before anything is written */
    st = st ? st : tmx_results_write(*r, err);
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
    enum tmx_status st = tmx_results_exec(r, "BEGIN IMMEDIATE; DELETE FROM point", err);
    if (!st) {
        st = tmx_results_prepare(r, &stmt, "INSERT INTO point VALUES(?, ?)", err);
    }
    for (size_t i = 0; i < s->n_point && !st; i++) {
        sqlite3_bind_int64(stmt, 1, (sqlite3_int64)i);
        bind_text(stmt, 2, ids[i]);
        st = tmx_results_step(r, stmt, err);
    }
    sqlite3_finalize(stmt);
    st = st ? st : seal(r, err);
    return commit(r, st, err);
}

enum tmx_status tmx_results_state(struct tmx_results *r, const char *id, enum tmx_run_state *state,
                                  struct tmx_err *err)
{
    sqlite3_stmt *stmt = NULL;
    enum tmx_status st = tmx_results_prepare(r, &stmt, "SELECT status = 'done' FROM run WHERE id = ?", err);
    if (!st) {
        bind_text(stmt, 1, id);
        const int code = sqlite3_step(stmt);
        *state = code != SQLITE_ROW                 ? TMX_RUN_ABSENT
                 : sqlite3_column_int(stmt, 0) != 0 ? TMX_RUN_DONE
                                                    : TMX_RUN_FAILED;
        if (code != SQLITE_ROW && code != SQLITE_DONE) {
            st = tmx_results_fail(r, err);
        }
    }
    sqlite3_finalize(stmt);
    return st;
}

static enum tmx_status add_run(struct tmx_results *r, const struct tmx_run_row *row, bool *added,
                               struct tmx_err *err)
{
    sqlite3_stmt *stmt = NULL;
    enum tmx_status st = tmx_results_prepare(
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
        st = tmx_results_step(r, stmt, err);
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
        st = tmx_results_prepare(r, &stmt, rows[i], err);
        if (!st) {
            bind_text(stmt, 1, id);
            st = tmx_results_step(r, stmt, err);
        }
        sqlite3_finalize(stmt);
    }
    return st;
}

static enum tmx_status add_parameters(struct tmx_results *r, const struct tmx_runs *s,
                                      const struct tmx_run_row *row, struct tmx_err *err)
{
    sqlite3_stmt *stmt = NULL;
    enum tmx_status st = tmx_results_prepare(r, &stmt, "INSERT INTO parameter VALUES(?, ?, ?)", err);
    for (size_t k = 0; k < s->n_key && !st; k++) {
        char text[TMX_PARAMETER_SIZE];
        s->value(s->ctx, row->point, k, text);
        bind_text(stmt, 1, row->id);
        bind_text(stmt, 2, s->key[k]);
        bind_literal(stmt, 3, text);
        st = tmx_results_step(r, stmt, err);
    }
    sqlite3_finalize(stmt);
    return st;
}

static enum tmx_status add_metrics(struct tmx_results *r, const struct tmx_run_row *row, struct tmx_err *err)
{
    sqlite3_stmt *stmt = NULL;
    enum tmx_status st = tmx_results_prepare(r, &stmt, "INSERT INTO metric VALUES(?, ?, ?, ?)", err);
    for (size_t i = 0; i < row->n_metric && !st; i++) {
        if (isnan(row->value[i])) {
            continue;
        }
        bind_text(stmt, 1, row->id);
        bind_text(stmt, 2, row->name[i]);
        sqlite3_bind_int64(stmt, 3, (sqlite3_int64)i);
        sqlite3_bind_double(stmt, 4, row->value[i]);
        st = tmx_results_step(r, stmt, err);
    }
    sqlite3_finalize(stmt);
    return st;
}

static enum tmx_status seal_run(struct tmx_results *r, const char *id, struct tmx_err *err)
{
    sqlite3_stmt *stmt = NULL;
    char hex[TMX_HASH_HEX];
    enum tmx_status st = tmx_results_hash(r, id, hex, err);
    st = st ? st : tmx_results_prepare(r, &stmt, "UPDATE run SET hash = ? WHERE id = ?", err);
    if (!st) {
        bind_text(stmt, 1, hex);
        bind_text(stmt, 2, id);
        st = tmx_results_step(r, stmt, err);
    }
    sqlite3_finalize(stmt);
    return st;
}

enum tmx_status tmx_results_add(struct tmx_results *r, const struct tmx_runs *s,
                                const struct tmx_run_row *row, struct tmx_err *err)
{
    bool added = false;
    enum tmx_status st = tmx_results_exec(r, "BEGIN IMMEDIATE", err);
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
    enum tmx_status st = tmx_results_prepare(
        r, &stmt, "SELECT p.n, m.n, m.value FROM point p JOIN metric m ON m.run = p.run", err);
    while (!st && (code = sqlite3_step(stmt)) == SQLITE_ROW) {
        const sqlite3_int64 p = sqlite3_column_int64(stmt, 0), m = sqlite3_column_int64(stmt, 1);
        if (p >= 0 && m >= 0 && (size_t)p < n_point && (size_t)m < n_value) {
            value[(size_t)p * n_value + (size_t)m] = sqlite3_column_double(stmt, 2);
        }
    }
    sqlite3_finalize(stmt);
    stmt = NULL;
    st = st || code == SQLITE_DONE ? st : tmx_results_fail(r, err);
    st = st ? st
            : tmx_results_prepare(r, &stmt,
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
    return st || code == SQLITE_DONE ? st : tmx_results_fail(r, err);
}

static enum tmx_status same_study(struct tmx_results *r, const char *from, struct tmx_err *err)
{
    sqlite3_stmt *stmt = NULL;
    enum tmx_status st =
        tmx_results_prepare(r, &stmt,
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
    enum tmx_status st = tmx_results_prepare(r, &stmt,
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

static enum tmx_status merge_one(struct tmx_results *r, const char *from, struct tmx_err *err)
{
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
    enum tmx_status st = tmx_results_prepare(r, &stmt, "ATTACH DATABASE ? AS other", err);
    if (!st) {
        bind_text(stmt, 1, from);
        st = tmx_results_step(r, stmt, err);
    }
    sqlite3_finalize(stmt);
    if (st) {
        return st;
    }
    st = same_study(r, from, err);
    st = st ? st : same_points(r, from, err);
    if (!st) {
        st = tmx_results_exec(r, copy_rows, err);
        st = commit(r, st ? st : seal(r, err), err);
    }
    sqlite3_exec(r->db, "DETACH DATABASE other", NULL, NULL, NULL);
    return st;
}

enum tmx_status tmx_results_merge(const char *path, const char *const *from, size_t n, struct tmx_err *err)
{
    struct tmx_results *r = NULL;
    enum tmx_status st = TMX_OK;
    const bool before = tmx_os_exists(path);
    for (size_t i = 0; i < n && !st; i++) { /* all are looked at before anything is written */
        if (tmx_os_same_file(path, from[i])) {
            return tmx_fail_at(err, TMX_ECONFIG, path, 0, "an output would replace this input");
        }
        st = tmx_results_connect(&r, from[i], TMX_OPEN_READ, err);
        st = st ? st : tmx_results_whole(r, err);
        tmx_results_close(r);
        r = NULL;
    }
    st = st ? st : tmx_results_connect(&r, path, TMX_OPEN_WRITE, err);
    st = st || n == 0 ? st : tmx_results_whole(r, err);
    st = st ? st : tmx_results_write(r, err);
    for (size_t i = 0; i < n && !st; i++) {
        st = merge_one(r, from[i], err);
    }
    tmx_results_close(r);
    if (st && !before) {
        remove(path); /* no half of a merge */
    }
    return st;
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "study/results.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/os.h"
#include "core/base/text.h"
#include "study/results_db.h"

static const char *const method_name[] = {"grid", "random", "latin", "sobol", "indices"};

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

static enum tmx_status axes_text(const struct tmx_sweep *s, char **text, struct tmx_err *err)
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

/* Write one line of the study, or compare with the one that is there. */
static enum tmx_status study_line(struct tmx_results *r, const char *key, const char *value,
                                  struct tmx_err *err)
{
    sqlite3_stmt *stmt = NULL;
    enum tmx_status st = tmx_results_prepare(r, &stmt, "INSERT OR IGNORE INTO study VALUES(?, ?)", err);
    if (!st) {
        bind_text(stmt, 1, key);
        bind_text(stmt, 2, value);
        st = tmx_results_step(r, stmt, err);
    }
    sqlite3_finalize(stmt);
    stmt = NULL;
    if (!st) {
        st = tmx_results_prepare(r, &stmt, "SELECT value FROM study WHERE key = ?", err);
    }
    if (!st) {
        bind_text(stmt, 1, key);
        if (sqlite3_step(stmt) != SQLITE_ROW) {
            st = tmx_results_fail(r, err);
        } else if (strcmp((const char *)sqlite3_column_text(stmt, 0), value) != 0) {
            st = tmx_fail_at(err, TMX_EIO, r->path, 0,
                             "holds another study: its %s is \"%s\", not \"%s\"; give another file", key,
                             (const char *)sqlite3_column_text(stmt, 0), value);
        }
    }
    sqlite3_finalize(stmt);
    return st;
}

static enum tmx_status study(struct tmx_results *r, const struct tmx_sweep *s, struct tmx_err *err)
{
    char *axes = NULL;
    enum tmx_status st = axes_text(s, &axes, err);
    if (!st) {
        st = tmx_results_exec(r, "BEGIN IMMEDIATE", err);
    }
    if (!st) {
        st = study_line(r, "name", s->name, err);
        st = st ? st : study_line(r, "axes", axes, err);
        st = st ? st : study_line(r, "method", method_name[s->method], err);
        st = st ? st : study_line(r, "doc", s->doc, err);
        st = commit(r, st, err);
    }
    free(axes);
    return st;
}

enum tmx_status tmx_results_open(struct tmx_results **r, const char *path, const struct tmx_sweep *s,
                                 struct tmx_err *err)
{
    enum tmx_status st = tmx_results_connect(r, path, TMX_OPEN_WRITE, err);
    if (!st) {
        st = study(*r, s, err);
    }
    if (st) {
        tmx_results_close(*r);
        *r = NULL;
    }
    return st;
}

enum tmx_status tmx_results_points(struct tmx_results *r, const struct tmx_sweep *s,
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
        "INSERT INTO run VALUES(?, ?, ?, ?, ?, ?) ON CONFLICT(id) DO UPDATE SET status = excluded.status,"
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

static enum tmx_status add_parameters(struct tmx_results *r, const struct tmx_sweep *s,
                                      const struct tmx_run_row *row, struct tmx_err *err)
{
    sqlite3_stmt *stmt = NULL;
    enum tmx_status st =
        tmx_results_prepare(r, &stmt, "INSERT OR REPLACE INTO parameter VALUES(?, ?, ?)", err);
    for (size_t k = 0; k < s->n_key && !st; k++) {
        bind_text(stmt, 1, row->id);
        bind_text(stmt, 2, s->key[k]);
        bind_literal(stmt, 3, tmx_sweep_value(s, row->point, k));
        st = tmx_results_step(r, stmt, err);
    }
    sqlite3_finalize(stmt);
    return st;
}

static enum tmx_status add_metrics(struct tmx_results *r, const struct tmx_run_row *row, struct tmx_err *err)
{
    sqlite3_stmt *stmt = NULL;
    enum tmx_status st =
        tmx_results_prepare(r, &stmt, "INSERT OR REPLACE INTO metric VALUES(?, ?, ?, ?)", err);
    for (size_t i = 0; i < row->n_metric && !st; i++) {
        bind_text(stmt, 1, row->id);
        bind_text(stmt, 2, row->metric[i].name);
        sqlite3_bind_int64(stmt, 3, (sqlite3_int64)i);
        sqlite3_bind_double(stmt, 4, row->metric[i].value);
        st = tmx_results_step(r, stmt, err);
    }
    sqlite3_finalize(stmt);
    return st;
}

enum tmx_status tmx_results_add(struct tmx_results *r, const struct tmx_sweep *s,
                                const struct tmx_run_row *row, struct tmx_err *err)
{
    bool added = false;
    enum tmx_status st = tmx_results_exec(r, "BEGIN IMMEDIATE", err);
    if (st) {
        return st;
    }
    st = add_run(r, row, &added, err);
    if (!st && added) {
        st = add_parameters(r, s, row, err);
    }
    if (!st && added) {
        st = add_metrics(r, row, err);
    }
    return commit(r, st, err);
}

static enum tmx_status same_study(struct tmx_results *r, const char *from, struct tmx_err *err)
{
    sqlite3_stmt *stmt = NULL;
    enum tmx_status st = tmx_results_prepare(r, &stmt,
                                             "SELECT a.key, a.value, b.value FROM main.study a, other.study b"
                                             " WHERE a.key = b.key AND a.value <> b.value LIMIT 1",
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
        st = commit(r, tmx_results_exec(r, copy_rows, err), err);
    }
    sqlite3_exec(r->db, "DETACH DATABASE other", NULL, NULL, NULL);
    return st;
}

enum tmx_status tmx_results_merge(const char *path, const char *const *from, size_t n, struct tmx_err *err)
{
    struct tmx_results *r = NULL;
    enum tmx_status st = TMX_OK;
    for (size_t i = 0; i < n && !st; i++) { /* all are looked at before anything is written */
        if (tmx_os_same_file(path, from[i])) {
            return tmx_fail_at(err, TMX_ECONFIG, path, 0, "an output would replace this input");
        }
        st = tmx_results_connect(&r, from[i], TMX_OPEN_READ, err);
        tmx_results_close(r);
        r = NULL;
    }
    st = st ? st : tmx_results_connect(&r, path, TMX_OPEN_WRITE, err);
    for (size_t i = 0; i < n && !st; i++) {
        st = merge_one(r, from[i], err);
    }
    tmx_results_close(r);
    return st;
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The whole database in memory, for tables, regressions and figures. */

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/text.h"
#include "study/results_db.h"

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
    enum tmx_status st = tmx_results_prepare(l->r, &l->stmt, sql, l->err);
    while (!st && (code = sqlite3_step(l->stmt)) == SQLITE_ROW) {
        st = one(l);
    }
    if (!st && code != SQLITE_DONE) {
        st = tmx_results_fail(l->r, l->err);
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
            : tmx_results_prepare(l->r, &l->stmt,
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
        st = tmx_results_fail(l->r, l->err);
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
    enum tmx_status st =
        tmx_results_prepare(l->r, &l->stmt, "SELECT n, run FROM point ORDER BY run, n", l->err);
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
        st = tmx_results_fail(l->r, l->err);
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
    enum tmx_status st = tmx_results_connect(&l.r, path, TMX_OPEN_READ, err);
    if (st) {
        return st;
    }
    st = tmx_results_exec(l.r, "BEGIN", err); /* one snapshot, also while a study writes */
    st = st ? st : tmx_results_whole(l.r, err);
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

void tmx_results_note(const struct tmx_result_set *set, FILE *out)
{
    size_t absent, failed;
    count_missing(set, &absent, &failed);
    if (set->n_left_out > 0) {
        fprintf(out, "note: study %s: %zu runs of earlier inputs are left out (--all takes them in)\n",
                set->study, set->n_left_out);
    }
    if (absent + failed > 0) {
        fprintf(out, "note: study %s: of %zu points %zu have not been run and %zu failed\n", set->study,
                set->n_point, absent, failed);
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

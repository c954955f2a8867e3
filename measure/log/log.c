/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A log file -> series: find the format, read it, own what came of it. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "measure/log/collect.h"

#define FORMAT(name) &tmx_log_##name,
static const struct tmx_log_format *const formats[] = {TMX_LOG_FORMATS(FORMAT) NULL};

static bool has_column(const struct tmx_measured *m, size_t first, enum tmx_log_quantity q)
{
    for (size_t i = first; i < m->n_column; i++) {
        if (m->column[i].quantity == q) {
            return true;
        }
    }
    return false;
}

enum tmx_status tmx_measured_parse(struct tmx_measured *m, struct tmx_text_file *t,
                                   const struct tmx_read_options *options, struct tmx_err *err)
{
    struct tmx_collect c = {.text = t, .options = options, .to = m};
    struct tmx_lines l = {0};
    const size_t first_column = m->n_column;
    size_t f = 0;
    while (tmx_lines_next(&l, t) && tmx_span_length(tmx_span_trim(l.line)) == 0) {
    }
    if (tmx_span_length(l.line.begin ? tmx_span_trim(l.line) : (struct tmx_span){"", ""}) == 0) {
        return tmx_fail_at(err, TMX_EPARSE, t->name, 1, "the log is empty");
    }
    while (!formats[f]->is(l.line, t)) {
        f++;
    }
    m->format = formats[f]->name;
    enum tmx_status st = formats[f]->read(&c, formats[f]->names, err);
    for (int q = TMX_Q_POWER; !st && q <= TMX_Q_TEMP; q++) {
        if (!has_column(m, first_column, (enum tmx_log_quantity)q)) {
            char names[256] = "";
            for (size_t i = 0; i < m->n_unused && strlen(names) < 160; i++) {
                snprintf(names + strlen(names), sizeof names - strlen(names), "%s%.40s", i ? ", " : "",
                         m->unused[i]);
            }
            st = tmx_fail_at(err, TMX_EPARSE, t->name, l.number,
                             "no column of %s with values (read as %s%s%s)",
                             q == TMX_Q_POWER ? "power" : "temperature", m->format,
                             names[0] ? "; without use: " : "", names);
        }
    }
    st = st ? st : tmx_collect_series(&c, err);
    for (size_t i = 0; i < c.n_run; i++) {
        free(c.run[i]);
    }
    for (size_t i = 0; i < c.n_gpu; i++) {
        free(c.gpu[i]);
    }
    free(c.run);
    free(c.gpu);
    free(c.row);
    return st;
}

enum tmx_status tmx_measured_read(struct tmx_measured *m, const char *path,
                                  const struct tmx_read_options *options, struct tmx_err *err)
{
    struct tmx_text_file t;
    enum tmx_status st = tmx_log_text(&t, path, m, err);
    st = st ? st : tmx_measured_parse(m, &t, options, err);
    tmx_text_finish(&t);
    return st;
}

const struct tmx_log_column *tmx_measured_source(const struct tmx_measured *m, enum tmx_log_quantity q)
{
    for (size_t i = 0; i < m->n_column; i++) {
        if (m->column[i].quantity == q) {
            return &m->column[i];
        }
    }
    return NULL;
}

static void finish_texts(char **list, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        free(list[i]);
    }
    free(list);
}

void tmx_series_finish(struct tmx_series *s)
{
    for (int q = 0; q < TMX_N_LOG_QUANTITY; q++) {
        free(s->q[q]);
    }
    free(s->line);
}

void tmx_measured_finish(struct tmx_measured *m)
{
    for (size_t i = 0; i < m->n_series; i++) {
        tmx_series_finish(&m->series[i]);
    }
    free(m->series);
    finish_texts(m->run, m->n_run);
    finish_texts(m->gpu, m->n_gpu);
    finish_texts(m->note, m->n_note);
    for (size_t i = 0; i < m->n_column; i++) {
        free(m->column[i].name);
    }
    free(m->column);
    finish_texts(m->unused, m->n_unused);
    *m = (struct tmx_measured){0};
}

/* Lists of texts that grow: notes, columns, names of runs and GPUs. */

bool tmx_log_grow(void **list, size_t n, size_t size)
{
    if ((n & (n - 1)) == 0) { /* at 0, 1, 2, 4, ... */
        void *p = realloc(*list, (n ? 2 * n : 1) * size);
        if (!p) {
            return false;
        }
        *list = p;
    }
    return true;
}

/* Append text to a list of owned texts; without memory the text is lost. */
static void add_text(char ***list, size_t *n, char *text)
{
    if (!text || !tmx_log_grow((void **)list, *n, sizeof **list)) {
        free(text);
        return;
    }
    (*list)[(*n)++] = text;
}

void tmx_measured_note(struct tmx_measured *m, const char *fmt, ...)
{
    char buf[1024];
    va_list args;
    va_start(args, fmt);
    vsnprintf(buf, sizeof buf, fmt, args);
    va_end(args);
    for (size_t i = 0; i < m->n_note; i++) {
        if (strcmp(m->note[i], buf) == 0) {
            return;
        }
    }
    add_text(&m->note, &m->n_note, tmx_span_dup((struct tmx_span){buf, buf + strlen(buf)}));
}

void tmx_measured_column(struct tmx_measured *m, enum tmx_log_quantity q, struct tmx_span name)
{
    const struct tmx_log_column column = {q, tmx_span_has(name, "instant"), tmx_span_dup(name)};
    if (!column.name || !tmx_log_grow((void **)&m->column, m->n_column, sizeof *m->column)) {
        free(column.name);
        return;
    }
    m->column[m->n_column++] = column;
}

void tmx_measured_unused(struct tmx_measured *m, struct tmx_span name)
{
    add_text(&m->unused, &m->n_unused, tmx_span_dup(name));
}

size_t tmx_log_intern(char ***list, size_t *n, struct tmx_span s)
{
    char plain[256];
    if (tmx_span_length(s) < sizeof plain && tmx_span_has(s, "\"\"")) { /* of a quoted cell: one quote */
        size_t length = 0;
        for (const char *p = s.begin; p < s.end; p += p + 1 < s.end && p[0] == '"' && p[1] == '"' ? 2 : 1) {
            plain[length++] = *p;
        }
        s = (struct tmx_span){plain, plain + length};
    }
    for (size_t i = *n; i-- > 0;) { /* the newest are asked for most */
        if (strlen((*list)[i]) == tmx_span_length(s) &&
            memcmp((*list)[i], s.begin, tmx_span_length(s)) == 0) {
            return i;
        }
    }
    const size_t before = *n;
    add_text(list, n, tmx_span_dup(s));
    return *n > before ? before : (size_t)-1;
}

/* Runs and GPUs by patterns of their names. */

/* A star takes as few letters as it can; where the rest does not fit, the last one takes one more. */
static bool glob(const char *p, const char *end, const char *text)
{
    const char *star = NULL, *from = NULL;
    while (*text) {
        if (p < end && *p == '*') {
            star = ++p;
            from = text;
        } else if (p < end && (*p == '?' || *p == *text)) {
            p++;
            text++;
        } else if (star) {
            p = star;
            text = ++from;
        } else {
            return false;
        }
    }
    while (p < end && *p == '*') {
        p++;
    }
    return p == end;
}

bool tmx_pattern_match(const char *patterns, const char *text)
{
    for (const char *p = patterns; p;) {
        const char *end = strchr(p, ',');
        if (glob(p, end ? end : p + strlen(p), text)) {
            return true;
        }
        p = end ? end + 1 : NULL;
    }
    return false;
}

enum tmx_status tmx_measured_select(struct tmx_measured *m, const char *runs, const char *gpus,
                                    struct tmx_err *err)
{
    size_t n = 0;
    for (const char *p = runs; p;) { /* every pattern must find something: a typo is no empty selection */
        const char *end = strchr(p, ',');
        const char *stop = end ? end : p + strlen(p);
        bool any = false;
        for (size_t r = 0; r < m->n_run; r++) {
            any = any || glob(p, stop, m->run[r]);
        }
        if (!any) {
            return tmx_fail(err, TMX_ECONFIG, "no run is called \"%.*s\"; there is %s%s%s%s", (int)(stop - p),
                            p, m->run[0], m->n_run > 1 ? ", " : "", m->n_run > 1 ? m->run[1] : "",
                            m->n_run > 2 ? ", ..." : "");
        }
        p = end ? end + 1 : NULL;
    }
    for (size_t i = 0; i < m->n_series; i++) {
        struct tmx_series *s = &m->series[i];
        if ((runs && !tmx_pattern_match(runs, m->run[s->run])) ||
            (gpus && !tmx_pattern_match(gpus, m->gpu[s->gpu]))) {
            tmx_series_finish(s);
        } else {
            m->series[n++] = *s;
        }
    }
    m->n_series = n;
    return n ? TMX_OK
             : tmx_fail(err, TMX_ECONFIG, "no GPU is called \"%s\"; there is %s", gpus ? gpus : "",
                        m->gpu[0]);
}

const struct tmx_series *tmx_measured_find(const struct tmx_measured *m, size_t run, size_t gpu)
{
    for (size_t i = 0; i < m->n_series; i++) {
        if (m->series[i].run == run && m->series[i].gpu == gpu) {
            return &m->series[i];
        }
    }
    return NULL;
}

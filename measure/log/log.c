/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A log file -> series: find the format, read it, own what came of it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "measure/log/collect.h"

/* The first whose header it is; plain takes what is left. */
static const struct tmx_log_format *const formats[] = {
    &tmx_log_dcgm_dmon, &tmx_log_nvidia_dmon, &tmx_log_prometheus, &tmx_log_nvidia_csv,
    &tmx_log_gpuz,      &tmx_log_amd_csv,     &tmx_log_plain,      NULL};

static bool has_column(const struct tmx_measured *m, size_t first, enum tmx_log_quantity q)
{
    const char *name = tmx_log_quantity_name(q);
    for (size_t i = first; i < m->n_column; i++) {
        if (strncmp(m->column[i], name, strlen(name)) == 0) {
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

const char *tmx_measured_source(const struct tmx_measured *m, enum tmx_log_quantity q, char *buf, size_t size)
{
    char begin[64];
    snprintf(begin, sizeof begin, "%s from \"", tmx_log_quantity_name(q));
    buf[0] = '\0';
    for (size_t i = 0; i < m->n_column && !buf[0]; i++) {
        if (strncmp(m->column[i], begin, strlen(begin)) == 0) {
            snprintf(buf, size, "%s", m->column[i] + strlen(begin));
            buf[strcspn(buf, "\"")] = '\0';
        }
    }
    return buf;
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
    finish_texts(m->column, m->n_column);
    finish_texts(m->unused, m->n_unused);
    *m = (struct tmx_measured){0};
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* DCGM: the text of `dcgmi dmon` and what dcgm-exporter serves to Prometheus. Names as `dcgmi dmon -l` and
 * the exporter's metric files list them. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "measure/log/collect.h"

static const struct tmx_alias dmon_names[] = {
    {"entity", TMX_COLUMN_GPU, 0, NULL},
    {"power", TMX_Q_POWER, 1, "w"},
    {"pwins", TMX_Q_POWER, 0, "w"},
    {"powin", TMX_Q_POWER, 0, "w"},
    {"tmptr", TMX_Q_TEMP, 0, "c"},
    {"mmtmp", TMX_Q_MEM_TEMP, 0, "c"},
    {"smclk", TMX_Q_CLOCK, 0, "mhz"},
    {"gputl", TMX_Q_UTIL, 0, "pct"},
    {"fanspd", TMX_Q_FAN_PCT, 0, "pct"},
    {"fansp", TMX_Q_FAN_PCT, 0, "pct"},
    {0},
};

static bool is_dmon(struct tmx_span head, const struct tmx_text_file *text)
{
    (void)text;
    struct tmx_span rest = tmx_span_trim(head), word;
    if (rest.begin == rest.end || *rest.begin != '#') {
        return false;
    }
    rest.begin++;
    return tmx_span_field(&rest, &word) && tmx_span_is(word, "Entity");
}

const struct tmx_log_format tmx_log_dcgm_dmon = {"dcgmi dmon", is_dmon, dmon_names, tmx_read_blank_table};

static const struct tmx_alias metric_names[] = {
    {"dcgm_fi_dev_power_usage_instant", TMX_Q_POWER, 0, "w"},
    {"dcgm_fi_dev_power_usage", TMX_Q_POWER, 1, "w"},
    {"dcgm_fi_dev_gpu_temp", TMX_Q_TEMP, 0, "c"},
    {"dcgm_fi_dev_memory_temp", TMX_Q_MEM_TEMP, 0, "c"},
    {"dcgm_fi_dev_sm_clock", TMX_Q_CLOCK, 0, "mhz"},
    {"dcgm_fi_dev_gpu_util", TMX_Q_UTIL, 0, "pct"},
    {"dcgm_fi_dev_fan_speed", TMX_Q_FAN_PCT, 0, "pct"},
    {0},
};

enum { MAX_GPU = 256 };

struct scrape { /* what one answer of the exporter said so far */
    char gpu[MAX_GPU][64];
    struct tmx_row row[MAX_GPU];
    int rank[MAX_GPU][TMX_N_LOG_QUANTITY];
    size_t n;
};

static bool is_prometheus(struct tmx_span head, const struct tmx_text_file *text)
{
    (void)head;
    return strstr(text->data, "DCGM_FI_DEV_") != NULL && strchr(text->data, '{') != NULL;
}

/* The value of label name in name1="v1",name2="v2". */
static bool label(struct tmx_span labels, const char *name, char *buf, size_t size)
{
    const size_t n = strlen(name);
    for (const char *p = labels.begin; p + n + 2 < labels.end; p++) {
        const bool begins = p == labels.begin || p[-1] == ',' || p[-1] == ' ';
        if (begins && strncmp(p, name, n) == 0 && p[n] == '=' && p[n + 1] == '"') {
            const char *end = memchr(p + n + 2, '"', (size_t)(labels.end - (p + n + 2)));
            return end && tmx_span_copy((struct tmx_span){p + n + 2, end}, buf, size);
        }
    }
    return false;
}

static enum tmx_status emit(struct tmx_collect *c, struct scrape *s, struct tmx_err *err)
{
    const struct tmx_span none = {"", ""};
    enum tmx_status st = TMX_OK;
    for (size_t g = 0; !st && g < s->n; g++) {
        st = tmx_collect_row(c, &s->row[g], none, (struct tmx_span){s->gpu[g], s->gpu[g] + strlen(s->gpu[g])},
                             err);
    }
    s->n = 0;
    return st;
}

/* The row of this GPU in the scrape. */
static struct tmx_row *row_of(struct scrape *s, const char *gpu, unsigned line, size_t *at)
{
    size_t g = 0;
    while (g < s->n && strcmp(s->gpu[g], gpu) != 0) {
        g++;
    }
    if (g == s->n) {
        if (s->n == MAX_GPU) {
            return NULL;
        }
        s->n++;
        memcpy(s->gpu[g], gpu, strlen(gpu) + 1);
        s->row[g] = (struct tmx_row){.line = line};
        for (int q = 0; q < TMX_N_LOG_QUANTITY; q++) {
            s->row[g].q[q] = NAN;
            s->rank[g][q] = 100;
        }
    }
    *at = g;
    return &s->row[g];
}

static enum tmx_status metric(struct tmx_collect *c, struct scrape *s, struct tmx_span line, unsigned number,
                              const struct tmx_alias *names, bool said[TMX_N_LOG_QUANTITY],
                              struct tmx_err *err)
{
    const char *open = memchr(line.begin, '{', tmx_span_length(line));
    const char *close = open ? memchr(open, '}', (size_t)(line.end - open)) : NULL;
    if (!close) {
        return TMX_OK; /* a metric without labels belongs to no GPU */
    }
    const struct tmx_span name = {line.begin, open}, labels = {open + 1, close};
    const struct tmx_column_use use = tmx_column_named(name, (struct tmx_span){open, open}, names);
    struct tmx_span rest = {close + 1, line.end}, value, stamp;
    char gpu[64];
    double v, t = NAN;
    size_t at;
    if (use.quantity < 0) {
        return TMX_OK;
    }
    if (!tmx_span_field(&rest, &value) || !tmx_cell_value(&use, value, false, &v)) {
        return tmx_fail_at(err, TMX_EPARSE, c->text->name, number, "%.*s has no value", TMX_SPAN_ARG(name));
    }
    if (tmx_span_field(&rest, &stamp) && !tmx_span_real(stamp, &t)) {
        return tmx_fail_at(err, TMX_EPARSE, c->text->name, number, "\"%.*s\" is no time in milliseconds",
                           TMX_SPAN_ARG(stamp));
    }
    if (!label(labels, "gpu", gpu, sizeof gpu) && !label(labels, "UUID", gpu, sizeof gpu)) {
        return tmx_fail_at(err, TMX_EPARSE, c->text->name, number, "%.*s has no label gpu",
                           TMX_SPAN_ARG(name));
    }
    struct tmx_row *row = row_of(s, gpu, number, &at);
    const bool again = row && s->rank[at][use.quantity] == use.rank;
    const bool later = row && !isnan(t) && !isnan(row->q[TMX_Q_TIME]) && t / 1000 != row->q[TMX_Q_TIME];
    if (again || later) { /* the metric comes again: the next scrape */
        const enum tmx_status st = emit(c, s, err);
        if (st) {
            return st;
        }
        row = row_of(s, gpu, number, &at);
    }
    if (!row) {
        return tmx_fail_at(err, TMX_EPARSE, c->text->name, number, "more than %d GPUs", MAX_GPU);
    }
    if (!said[use.quantity]) {
        tmx_measured_column(c->to, (enum tmx_log_quantity)use.quantity, name);
        said[use.quantity] = true;
    }
    if (use.rank < s->rank[at][use.quantity]) {
        row->q[use.quantity] = v;
        s->rank[at][use.quantity] = use.rank;
    }
    if (!isnan(t)) {
        row->q[TMX_Q_TIME] = t / 1000;
        c->has_time = true;
    }
    return TMX_OK;
}

static enum tmx_status read_prometheus(struct tmx_collect *c, const struct tmx_alias *names,
                                       struct tmx_err *err)
{
    struct tmx_lines l = {0};
    bool said[TMX_N_LOG_QUANTITY] = {false};
    struct scrape *s = calloc(1, sizeof *s);
    enum tmx_status st = s ? TMX_OK : tmx_fail(err, TMX_ENOMEM, "a scrape");
    c->has_gpu = true;
    while (!st && tmx_lines_next_filled(&l, c->text)) {
        st = metric(c, s, tmx_span_trim(l.line), l.number, names, said, err);
    }
    st = st ? st : emit(c, s, err);
    free(s);
    return st;
}

const struct tmx_log_format tmx_log_prometheus = {"dcgm-exporter", is_prometheus, metric_names,
                                                  read_prometheus};

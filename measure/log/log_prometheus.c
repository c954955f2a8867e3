/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What exporters serve to Prometheus: a line a sample, NAME{LABELS} VALUE [TIME]. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "measure/log/collect.h"

enum { MAX_ROW = 2048 };

struct scrape { /* what one answer of the exporter said so far */
    struct {
        struct tmx_span id[4]; /* host, gpu, uuid, part */
        struct tmx_row row;
        int rank[TMX_N_LOG_QUANTITY];
        unsigned family[TMX_N_LOG_QUANTITY];     /* in which a quantity was seen */
        struct tmx_span all[TMX_N_LOG_QUANTITY]; /* the labels with which it was seen first */
    } of[MAX_ROW];
    size_t n;
    struct tmx_span name; /* of the family that is read: all samples of a metric follow each other */
    unsigned family;
    bool said[TMX_N_LOG_QUANTITY];
};

bool tmx_is_prometheus(const struct tmx_text_file *text)
{
    static const char *const metrics[] = {"DCGM_FI_DEV_", "nvidia_smi_", "gpu_package_power",
                                          "gpu_edge_temp"};
    bool any = false;
    for (size_t i = 0; i < sizeof metrics / sizeof metrics[0]; i++) {
        const char *p = strstr(text->data, metrics[i]);
        const size_t word =
            p ? strspn(p, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_") : 0;
        any = any || (p && (p[word] == '{' || (p > text->data && p[-1] == ' ')));
    }
    return any && strchr(text->data, '{') != NULL;
}

/* The value of the first of the labels that is there, in name1="v1",name2="v2"; empty when none is. */
static struct tmx_span label(struct tmx_span labels, const char *const *names)
{
    for (; *names; names++) {
        const size_t n = strlen(*names);
        for (const char *p = labels.begin; p + n + 2 < labels.end; p++) {
            const bool begins = p == labels.begin || p[-1] == ',' || p[-1] == ' ';
            const char *end = begins && strncmp(p, *names, n) == 0 && p[n] == '=' && p[n + 1] == '"'
                                  ? memchr(p + n + 2, '"', (size_t)(labels.end - (p + n + 2)))
                                  : NULL;
            if (end && end > p + n + 2) {
                return (struct tmx_span){p + n + 2, end};
            }
        }
    }
    return (struct tmx_span){"", ""};
}

/* Who a sample is of. The UUID is the die's own; without it the address that was scraped tells apart two
 * hosts of one name. */
static void who_of(struct tmx_span labels, struct tmx_span id[4])
{
    static const char *const
        host[] = {"Hostname",          "hostname", "exported_hostname",
                  "kubernetes_node",   "node",     "nodename",
                  "exported_instance", "instance", NULL},
        *const gpu[] = {"gpu", "gpu_id", "minor_number", "device", "UUID", "uuid", NULL},
        *const uuid[] = {"UUID", "uuid", "gpu_uuid", "serial_number", "exported_instance", "instance", NULL},
        *const part[] = {"GPU_I_ID", "gpu_partition_id", NULL};
    const char *const *const names[] = {host, gpu, uuid, part};
    for (size_t i = 0; i < 4; i++) {
        id[i] = label(labels, names[i]);
    }
}

static void emit(struct tmx_collect *c, struct scrape *s)
{
    const struct tmx_span none = {"", ""};
    for (size_t g = 0; !c->err.code && g < s->n; g++) {
        const struct tmx_span *id = s->of[g].id;
        const struct tmx_who who = {id[0], id[1], id[2], id[3]};
        tmx_collect_row(c, &s->of[g].row, none, &who);
    }
    s->n = 0;
}

static bool same(struct tmx_span a, struct tmx_span b)
{
    return tmx_span_length(a) == tmx_span_length(b) && memcmp(a.begin, b.begin, tmx_span_length(a)) == 0;
}

/* Index of this GPU's or part's row in the scrape, made when it is new; MAX_ROW when there is no room. */
static size_t row_of(struct scrape *s, const struct tmx_span id[4], unsigned line)
{
    size_t g = 0;
    while (g < s->n && !(same(s->of[g].id[1], id[1]) && same(s->of[g].id[3], id[3]) &&
                         same(s->of[g].id[0], id[0]) && same(s->of[g].id[2], id[2]))) {
        g++;
    }
    if (g == s->n && g < MAX_ROW) {
        s->n++;
        memcpy(s->of[g].id, id, sizeof s->of[g].id);
        s->of[g].row = (struct tmx_row){.line = line};
        for (int q = 0; q < TMX_N_LOG_QUANTITY; q++) {
            s->of[g].row.q[q] = NAN;
            s->of[g].rank[q] = 100;
        }
    }
    return g;
}

/* The next scrape begins where a row's metric comes again: with the same labels, or behind another metric
 * (the samples of one scrape follow each other; those of one GPU differ by the pods that share it). */
static void metric(struct tmx_collect *c, struct scrape *s, struct tmx_span line, unsigned number,
                   const struct tmx_alias *names)
{
    const char *open = memchr(line.begin, '{', tmx_span_length(line));
    const char *close = open ? line.end : NULL;
    while (close && close > open && *close != '}') { /* the last: values of labels may hold one */
        close--;
    }
    if (!close || close == open) {
        return; /* a metric without labels belongs to no GPU */
    }
    const struct tmx_span name = {line.begin, open}, labels = {open + 1, close};
    const struct tmx_column_use use = tmx_column_named(name, (struct tmx_span){open, open}, names);
    struct tmx_span rest = {close + 1, line.end}, value, stamp, id[4];
    double v, t = NAN;
    s->family += !same(s->name, name);
    s->name = name;
    if (use.quantity <= TMX_Q_TIME) {
        return;
    }
    if (!tmx_span_field(&rest, &value) || !tmx_cell_value(&use, value, false, &v)) {
        tmx_collect_error(c, number, "%.*s has no value", TMX_SPAN_ARG(name));
        return;
    }
    if (tmx_span_field(&rest, &stamp) && !tmx_span_real(stamp, &t)) {
        tmx_collect_error(c, number, "\"%.*s\" is no time in milliseconds", TMX_SPAN_ARG(stamp));
    }
    t = memchr(stamp.begin, '.', isnan(t) ? 0 : tmx_span_length(stamp)) ? t : t / 1000; /* OpenMetrics: s */
    who_of(labels, id);
    if (id[1].begin == id[1].end) {
        tmx_collect_error(c, number, "%.*s has no label gpu", TMX_SPAN_ARG(name));
        return;
    }
    const int q = use.quantity;
    size_t at = row_of(s, id, number);
    const bool seen = at < MAX_ROW && s->of[at].rank[q] <= use.rank;
    const bool again = seen && s->of[at].rank[q] == use.rank &&
                       (s->of[at].family[q] != s->family || same(s->of[at].all[q], labels));
    const bool later =
        at < MAX_ROW && !isnan(t) && !isnan(s->of[at].row.q[TMX_Q_TIME]) && t != s->of[at].row.q[TMX_Q_TIME];
    if (again || later) {
        emit(c, s);
        at = row_of(s, id, number);
    }
    if (at == MAX_ROW) {
        tmx_collect_error(c, number, "more than %d GPUs and parts of them", MAX_ROW);
        return;
    }
    if (!s->said[q]) {
        tmx_measured_column(c->to, (enum tmx_log_quantity)q, name);
        s->said[q] = true;
    }
    if (use.rank < s->of[at].rank[q]) {
        s->of[at].row.q[q] = v;
        s->of[at].rank[q] = use.rank;
        s->of[at].family[q] = s->family;
        s->of[at].all[q] = labels;
    }
    if (!isnan(t)) {
        s->of[at].row.q[TMX_Q_TIME] = t;
        c->has_time = true;
    }
}

void tmx_read_prometheus(struct tmx_collect *c, const struct tmx_alias *names)
{
    struct tmx_lines l = {0};
    struct scrape *s;
    c->has_gpu = c->scattered = true;
    if (!TMX_TAKE(&c->arena, s, 1)) {
        tmx_no_memory(&c->err);
        return;
    }
    s->name = (struct tmx_span){"", ""};
    while (!c->err.code && tmx_lines_next_filled(&l, c->text)) {
        metric(c, s, tmx_span_trim(l.line), tmx_collect_line(c, l.number), names);
    }
    emit(c, s);
}

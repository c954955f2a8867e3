/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A log file -> series: find the format, read it, own what came of it. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "measure/log/collect.h"

bool tmx_column_is(struct tmx_span name, int quantity)
{
    bool any = false;
    for (const struct tmx_log_format *f = tmx_log_formats; f->name && !any; f++) {
        any = tmx_column_of(name, f->names).quantity == quantity;
    }
    return any;
}

enum tmx_status tmx_measured_parse(struct tmx_measured *m, struct tmx_text_file *t,
                                   const struct tmx_read_options *options, struct tmx_err *err)
{
    struct tmx_collect c = {.text = t, .options = options, .to = m};
    struct tmx_lines l = {0};
    const size_t first_column = m->n_column;
    while (tmx_lines_next(&l, t) && tmx_span_length(tmx_span_trim(l.line)) == 0) {
    }
    if (tmx_span_length(l.line.begin ? tmx_span_trim(l.line) : (struct tmx_span){"", ""}) == 0) {
        return tmx_fail_at(err, TMX_EPARSE, t->name, 1, "the log is empty");
    }
    tmx_log_reshape(&c, t);
    l = (struct tmx_lines){0};
    while (tmx_lines_next(&l, t) && tmx_span_length(tmx_span_trim(l.line)) == 0) {
    }
    const char *are = options ? options->columns_are : NULL; /* in place of the line of names */
    const struct tmx_span head = are ? (struct tmx_span){are, are + strlen(are)} : l.line;
    const struct tmx_log_format *f = tmx_log_format_of(head, t);
    m->format = f->name;
    for (char *p = t->data; f->read == tmx_read_blank_table && *p; p++) { /* dmon --format csv */
        *p = *p == ',' ? ' ' : *p;
    }
    if (!c.err.code) {
        f->read(&c, f->names);
    }
    if (c.n_header > 1) {
        tmx_collect_note(&c, c.header_at, "the header is repeated here, and %zu times in all: skipped",
                         c.n_header);
    } else if (c.n_header == 1) {
        tmx_collect_note(&c, c.header_at, "the header is repeated here: skipped");
    }
    if (c.n_secondary > 0) {
        tmx_collect_note(&c, c.secondary_at,
                         "%zu rows are of a secondary die, which draws no watts of its own: what its "
                         "package draws is in the row of the primary die, whose watts are those of both dies",
                         c.n_secondary);
    }
    for (int q = TMX_Q_POWER; !c.err.code && q <= TMX_Q_TEMP; q++) {
        bool there = false;
        for (size_t i = first_column; i < m->n_column; i++) {
            there = there || (int)m->column[i].quantity == q;
        }
        if (!there) {
            char names[256] = "";
            for (size_t i = 0; i < m->n_unused && strlen(names) < 160; i++) {
                tmx_text_add(names, sizeof names, "%s%.40s", i ? ", " : "", m->unused[i]);
            }
            tmx_collect_error(&c, tmx_collect_line(&c, l.number),
                              "no column of %s with values (read as %s%s%s); --column %s=NAME names it",
                              q == TMX_Q_POWER ? "power" : "temperature", m->format,
                              names[0] ? "; without use: " : "", names,
                              tmx_log_quantity_name((enum tmx_log_quantity)q));
        }
    }
    if (!c.err.code) {
        tmx_collect_series(&c);
    }
    if (m->arena.failed) {
        tmx_error_at(&c.err, TMX_ENOMEM, t->name, 0, "out of memory");
    }
    tmx_arena_finish(&c.arena);
    free(c.row);
    return tmx_error_give(err, &c.err);
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

struct tmx_range tmx_range_of(const double *v, size_t n)
{
    struct tmx_range r = {INFINITY, -INFINITY, 0, 0};
    for (size_t i = 0; v && i < n; i++) {
        if (v[i] < r.low) { /* false of NAN */
            r.low = v[i];
            r.at_low = i;
        }
        if (v[i] > r.high) {
            r.high = v[i];
            r.at_high = i;
        }
    }
    return r;
}

struct tmx_range tmx_measured_range(const struct tmx_measured *m, enum tmx_log_quantity q, int gpu)
{
    struct tmx_range r = tmx_range_of(NULL, 0);
    for (size_t i = 0; i < m->n_series; i++) {
        if (gpu < 0 || (int)m->series[i].gpu == gpu) {
            const struct tmx_range one = tmx_range_of(m->series[i].q[q], m->series[i].n);
            r.low = fmin(r.low, one.low);
            r.high = fmax(r.high, one.high);
        }
    }
    return r;
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

void tmx_measured_finish(struct tmx_measured *m)
{
    tmx_arena_finish(&m->arena);
    *m = (struct tmx_measured){0};
}

/* Lists of texts that grow: notes, columns, names of runs and GPUs. */

/* Append to a list of texts; without memory the arena knows. */
static void add_text(struct tmx_arena *a, char ***list, size_t *n, const char *text, size_t length)
{
    char *own = tmx_arena_letters(a, text, length);
    if (own && TMX_GROW(a, *list, *n)) {
        (*list)[(*n)++] = own;
    }
}

/* A sentence, once. */
static void add_sentence(struct tmx_arena *a, char ***list, size_t *n, const char *fmt, va_list args)
{
    char buf[1024];
    vsnprintf(buf, sizeof buf, fmt, args);
    for (size_t i = 0; i < *n; i++) {
        if (strcmp((*list)[i], buf) == 0) {
            return;
        }
    }
    add_text(a, list, n, buf, strlen(buf));
}

void tmx_measured_note(struct tmx_measured *m, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    add_sentence(&m->arena, &m->note, &m->n_note, fmt, args);
    va_end(args);
}

void tmx_collect_note(const struct tmx_collect *c, unsigned line, const char *fmt, ...)
{
    char text[1024];
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    tmx_measured_note(c->to, "%s:%u: %s", c->text->name, line, text);
}

void tmx_measured_warn(struct tmx_measured *m, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    add_sentence(&m->arena, &m->warning, &m->n_warning, fmt, args);
    va_end(args);
}

void tmx_measured_column(struct tmx_measured *m, enum tmx_log_quantity q, struct tmx_span name)
{
    char *own = tmx_arena_letters(&m->arena, name.begin, tmx_span_length(name));
    if (own && TMX_GROW(&m->arena, m->column, m->n_column)) {
        m->column[m->n_column++] = (struct tmx_log_column){q, tmx_span_has(name, "instant"), own};
    }
}

void tmx_measured_unused(struct tmx_measured *m, struct tmx_span name)
{
    add_text(&m->arena, &m->unused, &m->n_unused, name.begin, tmx_span_length(name));
}

/* Of a quoted cell: two quotes are one. */
static struct tmx_span unquote(struct tmx_span s, char plain[256])
{
    if (tmx_span_length(s) < 256 && tmx_span_has(s, "\"\"")) {
        size_t length = 0;
        for (const char *p = s.begin; p < s.end; p += p + 1 < s.end && p[0] == '"' && p[1] == '"' ? 2 : 1) {
            plain[length++] = *p;
        }
        s = (struct tmx_span){plain, plain + length};
    }
    return s;
}

size_t tmx_log_intern(struct tmx_arena *a, char ***list, size_t *n, struct tmx_span s)
{
    char plain[256];
    s = unquote(s, plain);
    for (size_t i = *n; i-- > 0;) { /* the newest are asked for most */
        if (tmx_span_same(s, (struct tmx_span){(*list)[i], (*list)[i] + strlen((*list)[i])})) {
            return i;
        }
    }
    const size_t before = *n;
    add_text(a, list, n, s.begin, tmx_span_length(s));
    return *n > before ? before : (size_t)-1;
}

/* Who a GPU is. */

/* What one row leaves out another one may say. */
static bool agree(struct tmx_span s, const char *text)
{
    return s.begin == s.end || !text[0] || tmx_span_is(s, text);
}

size_t tmx_log_who(struct tmx_arena *a, struct tmx_gpu_id **list, size_t *n, const struct tmx_who *who)
{
    char plain[256];
    const struct tmx_span gpu = unquote(who->gpu, plain), uuid = who->uuid, now[] = {who->host, gpu, uuid};
    /* NVML's UUID is one die's anywhere, the address on the bus, 00000000:41:00.0, one's of a host: a driver
     * that starts anew may count its GPUs in another order. A serial number is a board's. */
    const size_t length = tmx_span_length(uuid);
    const bool anywhere = length > 4 && strncmp(uuid.begin, "GPU-", 4) == 0,
               die = anywhere ||
                     (length >= 12 && uuid.end[-8] == ':' && uuid.end[-5] == ':' && uuid.end[-2] == '.');
    size_t k = *n;
    for (; k > 0; k--) { /* the newest are asked for most */
        const struct tmx_gpu_id *id = &(*list)[k - 1];
        const bool host = agree(who->host, id->host);
        if (die && id->uuid[0]
                ? (anywhere || host) && tmx_span_is(uuid, id->uuid)
                : host && tmx_span_same(gpu, (struct tmx_span){id->label, id->label + strlen(id->label)}) &&
                      agree(uuid, id->uuid)) {
            break;
        }
    }
    if (k == 0 && !TMX_GROW(a, *list, *n)) {
        return (size_t)-1;
    }
    struct tmx_gpu_id *id = k > 0 ? &(*list)[k - 1] : &(*list)[*n];
    if (k == 0) {
        *id = (struct tmx_gpu_id){0};
        ++*n;
    }
    char **const text[] = {&id->host, &id->label, &id->uuid};
    for (size_t i = 0; i < 3; i++) {
        if (!*text[i] || (!**text[i] && now[i].begin < now[i].end)) {
            *text[i] = tmx_arena_letters(a, now[i].begin, tmx_span_length(now[i]));
        }
    }
    return a->failed ? (size_t)-1 : (size_t)(id - *list);
}

/* Names in the order of the numbers in them: card2 before card10. */
static int compare_numbered(const char *a, const char *b)
{
    while (*a && *b) {
        const size_t m = strspn(a, "0123456789"), n = strspn(b, "0123456789");
        if (m > 0 && n > 0) {
            const char *x = a + strspn(a, "0"), *y = b + strspn(b, "0");
            x = x > a + m ? a + m : x; /* of zeros alone nothing is left */
            y = y > b + n ? b + n : y;
            const size_t left = (size_t)(a + m - x), right = (size_t)(b + n - y);
            const int order = left != right ? (left > right) - (left < right) : memcmp(x, y, left);
            if (order != 0) {
                return order;
            }
            a += m;
            b += n;
        } else if (*a != *b) {
            return (unsigned char)*a < (unsigned char)*b ? -1 : 1;
        } else {
            a++;
            b++;
        }
    }
    return (*a != 0) - (*b != 0);
}

struct place { /* of a GPU before and after they are put in order */
    struct tmx_gpu_id id;
    size_t was;
};

static int by_number(const void *a, const void *b)
{
    const struct place *x = a, *y = b;
    const int host = compare_numbered(x->id.host, y->id.host),
              label = compare_numbered(x->id.label, y->id.label), uuid = strcmp(x->id.uuid, y->id.uuid);
    return host ? host : label ? label : uuid ? uuid : (x->was > y->was) - (x->was < y->was);
}

/* A host's name without what all of them have: the port, the domain. */
static int host_letters(const char *host, bool brief)
{
    size_t n = strlen(host);
    if (brief) {
        const bool number = host[strspn(host, "0123456789.:")] == '\0';
        n = number ? strcspn(host, ":") : strcspn(host, ".:");
    }
    return (int)n;
}

void tmx_measured_name_gpus(struct tmx_measured *m, struct tmx_err *err)
{
    const size_t n = m->n_id;
    struct place *place;
    size_t *now;
    const char *one = "";
    bool hosts = false, brief = true; /* several; their short names tell them apart */
    TMX_TAKE(&m->arena, place, n + 1);
    TMX_TAKE(&m->arena, now, n + 1);
    if (!TMX_TAKE(&m->arena, m->gpu, n + 1)) {
        tmx_error(err, TMX_ENOMEM, "%zu GPUs", n);
        return;
    }
    m->n_gpu = n;
    for (size_t g = 0; g < n; g++) {
        const char *host = m->id[g].host;
        place[g] = (struct place){m->id[g], g};
        hosts = hosts || (one[0] && host[0] && strcmp(host, one) != 0);
        one = one[0] ? one : host;
    }
    qsort(place, n, sizeof *place, by_number);
    for (size_t g = 0; g < n; g++) {
        m->id[g] = place[g].id;
        now[place[g].was] = g;
    }
    for (size_t i = 0; i < m->n_series; i++) {
        m->series[i].gpu = now[m->series[i].gpu];
    }
    for (size_t i = 0; i < n; i++) {
        for (size_t k = 0; k < i && brief; k++) {
            const char *a = m->id[i].host, *b = m->id[k].host;
            const int letters = host_letters(a, true);
            brief =
                strcmp(a, b) == 0 || letters != host_letters(b, true) || strncmp(a, b, (size_t)letters) != 0;
        }
    }
    /* the label; in front its host where there are several, behind its UUID where a host has the label twice
     */
    for (size_t g = 0; g < n; g++) {
        char buf[512];
        const struct tmx_gpu_id *id = &m->id[g];
        bool twice = false;
        for (size_t k = 0; k < n; k++) {
            twice = twice || (k != g && strcmp(m->id[k].label, id->label) == 0 &&
                              strcmp(m->id[k].host, id->host) == 0);
        }
        const bool host = hosts && id->host[0],
                   last = twice && id->uuid[0] && strcmp(id->uuid, id->label) != 0;
        snprintf(buf, sizeof buf, "%.*s%s%s%s%s", host ? host_letters(id->host, brief) : 0, id->host,
                 host ? "/" : "", id->label, last ? "/" : "", last ? id->uuid : "");
        m->gpu[g] = tmx_arena_text(&m->arena, buf);
    }
    if (hosts && !m->arena.failed) {
        tmx_measured_note(m, "several hosts: GPUs are called HOST/GPU, from %s to %s", m->gpu[0],
                          m->gpu[n - 1]);
    }
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
    for (int gpu = 0; gpu < 2; gpu++) { /* every pattern must find something: a typo is no empty selection */
        char *const *name = gpu ? m->gpu : m->run;
        const size_t n_name = gpu ? m->n_gpu : m->n_run;
        for (const char *p = gpu ? gpus : runs; p;) {
            const char *end = strchr(p, ',');
            const char *stop = end ? end : p + strlen(p);
            bool any = false;
            for (size_t i = 0; i < n_name; i++) {
                any = any || glob(p, stop, name[i]);
            }
            if (!any) {
                return tmx_fail(err, TMX_ECONFIG, "no %s is called \"%.*s\"; there is %s%s%s%s",
                                gpu ? "GPU" : "run", (int)(stop - p), p, name[0], n_name > 1 ? ", " : "",
                                n_name > 1 ? name[1] : "", n_name > 2 ? ", ..." : "");
            }
            p = end ? end + 1 : NULL;
        }
    }
    for (size_t i = 0; i < m->n_series; i++) {
        const struct tmx_series *s = &m->series[i];
        if (!(runs && !tmx_pattern_match(runs, m->run[s->run])) &&
            !(gpus && !tmx_pattern_match(gpus, m->gpu[s->gpu]))) {
            m->series[n++] = *s;
        }
    }
    m->n_series = n;
    return n ? TMX_OK : tmx_fail(err, TMX_ECONFIG, "no run of \"%s\" has a GPU of \"%s\"", runs, gpus);
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

size_t tmx_series_at(const struct tmx_series *s, double time_s)
{
    size_t low = 0, high = s->n; /* rows from high on are later */
    while (low + 1 < high) {
        const size_t mid = (low + high) / 2;
        *(s->q[TMX_Q_TIME][mid] <= time_s ? &low : &high) = mid;
    }
    return low;
}

double tmx_series_share(const struct tmx_series *s, size_t row)
{
    const double *t = s->q[TMX_Q_TIME], span_s = t[s->n - 1] - t[0];
    return span_s > 0 ? (t[row] - t[0]) / span_s : 0;
}

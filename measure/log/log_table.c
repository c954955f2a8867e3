/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tables with a separator and a line of names: what nvidia-smi's CSV, GPU-Z, amd-smi and plain files share.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "measure/log/collect.h"

/* lists: [N/A, N/A, 0 %] is one cell, as amd-smi writes it without quotes. */
static size_t split(struct tmx_span line, char separator, bool lists, struct tmx_span *cell)
{
    size_t n = 0;
    const char *p = line.begin;
    for (;;) {
        const char *begin = p;
        bool quoted = false;
        size_t deep = 0;
        while (p < line.end && (quoted || deep > 0 || *p != separator)) {
            quoted = *p == '"' ? !quoted : quoted;
            deep += lists && *p == '[';
            deep -= lists && *p == ']' && deep > 0;
            p++;
        }
        if (n < TMX_MAX_COLUMN) {
            cell[n] = (struct tmx_span){begin, p};
        }
        n++;
        if (p >= line.end) {
            return n;
        }
        p++;
    }
}

/* A last line without an end whose last cell is shorter than that of the line before: written in part. */
static bool cut_in_cell(const struct tmx_text_file *text, const struct tmx_span *line, char separator)
{
    if (text->size == 0 || text->data[text->size - 1] == '\n' || line->end != text->data + text->size) {
        return false;
    }
    const char *end = line->begin - 1, *at = line->end; /* the end of the line before */
    end -= end > text->data && end[-1] == '\r';
    const char *before = end;
    while (at > line->begin && at[-1] != separator) {
        at--;
    }
    while (before > text->data && before[-1] != separator && before[-1] != '\n') {
        before--;
    }
    return end - before > line->end - at;
}

/* Fields set apart by blanks. Of dcgmi a GPU is two words, "GPU 0"; a switch, a link, a partition, "Switch 3"
 * are not a GPU of its own: no fields. */
static size_t split_blanks(struct tmx_collect *c, const struct tmx_columns *t, const struct tmx_lines *l,
                           struct tmx_span *cell)
{
    struct tmx_span rest = l->line, word;
    size_t n = 0;
    if (t->entity && (!tmx_span_field(&rest, &word) || !tmx_span_is(word, "GPU"))) {
        if (!tmx_span_is(word, "Link") && !tmx_span_is(word, "CPU") &&
            (!tmx_span_field(&rest, &word) || *word.begin < '0' || *word.begin > '9')) {
            const struct tmx_span line = tmx_span_trim(l->line);
            tmx_collect_note(c, l->number, "\"%.*s\" is no row: dropped", TMX_SPAN_ARG(line));
        }
        return 0;
    }
    for (; tmx_span_field(&rest, &word); n++) {
        cell[n < TMX_MAX_COLUMN ? n : TMX_MAX_COLUMN - 1] = word;
    }
    return n;
}

/* A row's cells, and how many; 0 of a line that is to be passed over, and after an error. */
static size_t row_cells(struct tmx_collect *c, const struct tmx_columns *t, const struct tmx_lines *l,
                        struct tmx_span *cell)
{
    const bool last = l->next >= c->text->data + c->text->size;
    const struct tmx_span line = tmx_span_trim(l->line);
    const unsigned number = tmx_collect_line(c, l->number);
    bool rule = t->separator && tmx_span_length(line) > 2; /* a line that is drawn: |---|:--:|, +----+ */
    for (const char *p = line.begin; p < line.end && rule; p++) {
        rule = strchr("-+|:= ", *p) != NULL;
    }
    if (line.begin == line.end || *line.begin == '#' || rule) {
        return 0;
    }
    size_t count = t->separator ? split(l->line, t->separator, false, cell) : split_blanks(c, t, l, cell);
    if (t->separator && count > t->n && memchr(line.begin, '[', tmx_span_length(line))) {
        const size_t with_lists = split(l->line, t->separator, true, cell);
        count = with_lists == t->n ? with_lists : split(l->line, t->separator, false, cell);
    }
    while (count > t->n && count <= TMX_MAX_COLUMN && tmx_span_length(tmx_span_trim(cell[count - 1])) == 0) {
        count--; /* GPU-Z ends its lines with a comma */
    }
    bool names = count > 0 && count == t->n;
    for (size_t i = 0; i < count && names; i++) {
        names = tmx_span_same(tmx_span_trim(cell[i]), tmx_span_trim(t->name[i]));
    }
    if (names) {
        c->header_at = c->n_header++ ? c->header_at : number;
    } else if (count > 0 && count < t->n && last) {
        tmx_collect_note(c, number, "the last line is cut short: dropped");
    } else if (count == t->n && last && t->separator && l->number > 2 &&
               cut_in_cell(c->text, &l->line, t->separator)) {
        tmx_collect_note(c, number,
                         "the last line has no end and its last cell is shorter than the one above: "
                         "cut inside it? dropped");
    } else if (count > 0 && count != t->n) {
        tmx_collect_error(c, number, "%zu %s has %zu%s", count,
                          t->separator ? "cells, the header" : "columns, the line of names", t->n,
                          count <= t->n || t->separator != ',' ? ""
                          : memchr(line.begin, '[', tmx_span_length(line))
                              ? " (a list in brackets? put it in quotes)"
                              : " (decimal commas? then separate the columns by semicolons)");
    } else {
        return count;
    }
    return 0;
}

/* Of whom the row is. */
static struct tmx_span cell_at(const struct tmx_columns *t, const struct tmx_span *cell, int use)
{
    const size_t k = t->from[0][use];
    return k < t->n ? tmx_span_trim(cell[k]) : (struct tmx_span){"", ""};
}

struct seen { /* of a column without use, in the rows of the first GPU */
    double last;
    size_t n, up;
    bool falls;
};

/* Which columns hold values; seen [t->n]: what could be a time, of a log that knows none; NULL: it does. */
static void count_values(struct tmx_collect *c, struct tmx_columns *t, struct tmx_lines l, struct seen *seen)
{
    struct tmx_span *cell, first = {"", ""};
    const size_t notes = c->to->n_note, headers = c->n_header;
    bool any = false;
    if (!TMX_TAKE(&c->arena, cell, TMX_MAX_COLUMN)) {
        tmx_no_memory(&c->err);
    }
    while (!c->err.code && tmx_lines_next(&l, c->text)) {
        const size_t n = row_cells(c, t, &l, cell);
        const struct tmx_span gpu = cell_at(t, cell, TMX_COLUMN_GPU);
        const bool mine = seen && (!any || tmx_span_same(gpu, first));
        first = any || n == 0 ? first : gpu;
        any = any || n > 0;
        for (size_t i = 0; i < n; i++) {
            struct seen *s = mine ? &seen[i] : NULL;
            double v;
            if (t->use[i].quantity == TMX_Q_TIME || tmx_is_reading(t->use[i].quantity)) {
                /* what is no number is refused when it is read */
                t->values[i] += !tmx_cell_value(&t->use[i], cell[i], t->separator != ',', &v) || !isnan(v);
            } else if (s && t->use[i].quantity == TMX_COLUMN_UNUSED && !tmx_cell_empty(cell[i])) {
                const bool time = tmx_time_parse(tmx_span_trim(cell[i]), &v);
                s->falls = s->falls || !time || (s->n > 0 && v < s->last);
                s->up += time && s->n > 0 && v > s->last;
                s->last = time ? v : s->last;
                s->n += time;
            }
        }
    }
    c->to->n_note = notes; /* said in the second pass */
    c->n_header = headers;
}

/* The quantities of a row but its time, each from a column. */
static void take(struct tmx_collect *c, const struct tmx_columns *t, const struct tmx_span *cell,
                 const size_t *from, struct tmx_row *row)
{
    for (int q = TMX_Q_TIME + 1; !c->err.code && q < TMX_N_LOG_QUANTITY; q++) {
        const size_t k = from[q];
        if (k < t->n && !tmx_cell_value(&t->use[k], cell[k], t->separator != ',', &row->q[q])) {
            const struct tmx_span s = tmx_span_trim(cell[k]), name = tmx_span_trim(t->name[k]);
            const char *mark = t->separator ? "\"" : "";
            tmx_collect_error(c, row->line, "column %s%.*s%s: \"%.*s\" is no number%s%s", mark,
                              TMX_SPAN_ARG(name), mark, TMX_SPAN_ARG(s), t->separator ? " of " : "",
                              t->separator ? tmx_log_quantity_name((enum tmx_log_quantity)q) : "");
        } else if (q == TMX_Q_POWER && k < t->n && isnan(row->q[q]) &&
                   tmx_span_has(cell[k], "econdary die")) {
            c->secondary_at = c->n_secondary++ ? c->secondary_at : row->line;
        }
    }
}

static void read_row(struct tmx_collect *c, const struct tmx_columns *t, const struct tmx_span *cell,
                     unsigned line)
{
    struct tmx_row row = {.line = tmx_collect_line(c, line)};
    struct tmx_who who = {cell_at(t, cell, TMX_COLUMN_HOST), cell_at(t, cell, TMX_COLUMN_GPU),
                          cell_at(t, cell, TMX_COLUMN_UUID), cell_at(t, cell, TMX_COLUMN_PART)};
    for (int q = 0; q < TMX_N_LOG_QUANTITY; q++) {
        row.q[q] = NAN;
    }
    const size_t date = t->from[0][TMX_Q_TIME], of_day = t->from[0][TMX_COLUMN_CLOCK_TIME],
                 k = date < t->n ? date : of_day;
    char both[96] = "", day[48] = "", clock[48] = "";
    struct tmx_span shown = k < t->n ? tmx_span_trim(cell[k]) : (struct tmx_span){"", ""};
    double *seconds = &row.q[TMX_Q_TIME];
    bool ok = true;
    if (of_day < t->n && date < t->n) { /* a column of dates and one of times */
        ok = tmx_span_copy(shown, day, sizeof day) &&
             tmx_span_copy(tmx_span_trim(cell[of_day]), clock, sizeof clock);
        snprintf(both, sizeof both, "%s %s", day, clock);
        shown = (struct tmx_span){both, both + strlen(both)};
        ok = ok && tmx_time_parse(shown, seconds);
    } else if (k < t->n) {
        ok = tmx_cell_value(&t->use[k], cell[k], t->separator != ',', seconds);
    }
    if (!ok || (k < t->n && isnan(*seconds))) {
        tmx_collect_error(c, row.line,
                          "\"%.*s\" is no time: expected seconds, or a stamp such as 2025/01/07 12:34:56.789",
                          TMX_SPAN_ARG(shown));
    }
    take(c, t, cell, t->from[0], &row);
    if (t->n_wide == 0 && !c->err.code) {
        tmx_collect_row(c, &row, cell_at(t, cell, TMX_COLUMN_RUN), &who);
    }
    for (size_t w = 1; w <= t->n_wide && !c->err.code; w++) { /* a row for each GPU of a wide table */
        struct tmx_row one = row;
        take(c, t, cell, t->from[w], &one);
        who.gpu = t->wide_gpu[w];
        if (!c->err.code) {
            tmx_collect_row(c, &one, t->wide_run[w], &who);
        }
    }
}

/* The names of the columns: the first line that is filled, or --columns-are. *l is then in front of the rows.
 */
static void read_header(struct tmx_collect *c, struct tmx_columns *t, const struct tmx_alias *aliases,
                        struct tmx_lines *l)
{
    static const char any[] = {',', ';', '\t', '|'};
    const char *are = c->options ? c->options->columns_are : NULL;
    struct tmx_lines before;
    do {
        before = *l;
        if (!tmx_lines_next(l, c->text)) {
            tmx_collect_error(c, 1, "the log is empty");
            return;
        }
    } while (tmx_span_length(tmx_span_trim(l->line)) == 0 || *tmx_span_trim(l->line).begin == '#');
    t->separator = ',';
    for (size_t i = 0, best = 0; i < sizeof any; i++) { /* the most frequent one */
        size_t n = 0;
        for (const char *p = l->line.begin; p < l->line.end; p++) {
            n += *p == any[i];
        }
        t->separator = n > best ? any[i] : t->separator;
        best = n > best ? n : best;
    }
    t->n = split(l->line, t->separator, false, t->name);
    while (t->n > 1 && t->n <= TMX_MAX_COLUMN && tmx_span_length(tmx_span_trim(t->name[t->n - 1])) == 0) {
        t->n--;
    }
    if (t->n > TMX_MAX_COLUMN) {
        tmx_collect_error(c, l->number, "more than %d columns", TMX_MAX_COLUMN);
        return;
    }
    size_t data = 0; /* cells that are a number, a stamp or "[N/A]", which a name is not */
    for (size_t i = 0; i < t->n; i++) {
        const struct tmx_column_use number = {TMX_Q_UTIL, 1, 0, 0};
        const struct tmx_span s = tmx_span_trim(t->name[i]);
        double v;
        bool is_data = s.begin < s.end && (tmx_time_parse(s, &v) || (*s.begin == '[' && tmx_cell_empty(s)));
        const char *end = s.begin; /* "60.00 W", "1755 MHz", "97 %" */
        while (end < s.end && strchr("0123456789+-.", *end)) {
            end++;
        }
        const struct tmx_span begin = {s.begin, end};
        is_data = is_data || (end > s.begin && end < s.end && (*end == ' ' || *end == '%') &&
                              tmx_cell_value(&number, begin, false, &v));
        data += is_data;
    }
    if (!are && 2 * data > t->n) {
        tmx_collect_error(
            c, tmx_collect_line(c, l->number),
            "a row of numbers where the names of its columns are expected (%zu of them); give "
            "them in order: --columns-are timestamp,index,power.draw,temperature.gpu,... (\"-\" "
            "for one without use)",
            t->n);
    }
    if (are) {
        const size_t n = t->n;
        t->n = split((struct tmx_span){are, are + strlen(are)}, ',', false, t->name);
        if (t->n != n) {
            tmx_error_at(&c->err, TMX_ECONFIG, c->text->name, l->number,
                         "--columns-are gives %zu names, this row has %zu cells", t->n, n);
            return;
        }
        *l = before;
    }
    size_t dates = t->n;
    for (size_t i = 0; i < t->n; i++) {
        t->use[i] = tmx_column_of(t->name[i], aliases);
        const struct tmx_span name = tmx_span_trim(t->name[i]);
        for (size_t k = 0; k < i && t->use[i].quantity != TMX_COLUMN_UNUSED; k++) {
            if (tmx_span_same(name, tmx_span_trim(t->name[k]))) {
                tmx_collect_error(c, tmx_collect_line(c, l->number), "two columns are called \"%.*s\"",
                                  TMX_SPAN_ARG(name));
            }
        }
        if (tmx_span_is(tmx_span_trim(t->name[i]), "date")) {
            dates = i;
        }
    }
    for (size_t i = 0; dates < t->n && i < t->n; i++) { /* beside a date, "time" is the time of day */
        if (tmx_span_is(tmx_span_trim(t->name[i]), "time")) {
            t->use[i].quantity = TMX_COLUMN_CLOCK_TIME;
        }
    }
    /* --column inlet_c=NAME: the columns that stand for a quantity, or for whose row it is, by the user's
     * word */
    const char *const *wanted = c->options ? c->options->column : NULL;
    for (size_t i = 0; wanted && wanted[i] && !c->err.code; i++) {
        const char *eq = strchr(wanted[i], '=');
        const int q = tmx_column_by_name((struct tmx_span){wanted[i], eq ? eq : wanted[i]});
        size_t k = 0;
        while (eq && k < t->n && !tmx_span_is(tmx_span_trim(t->name[k]), eq + 1)) {
            k++;
        }
        if (q == TMX_COLUMN_UNUSED) {
            tmx_error(
                &c->err, TMX_ECONFIG,
                "column %s: expected power_w=NAME, temp_c=NAME, time_s=NAME, gpu=NAME, inlet_c=NAME, ...",
                wanted[i]);
        } else if (k == t->n) {
            tmx_error_at(&c->err, TMX_ECONFIG, c->text->name, 1, "there is no column \"%s\"", eq + 1);
        } else {
            t->use[k] = (struct tmx_column_use){q, 1, 0, -2};
            tmx_column_unit(t->name[k], q, &t->use[k]);
        }
    }
    tmx_columns_group(t, aliases);
}

void tmx_read_table(struct tmx_collect *c, const struct tmx_alias *aliases)
{
    enum { LEAST = 4 };
    struct tmx_lines l = {0};
    struct tmx_columns *t;
    struct tmx_span *cell;
    struct seen *seen = NULL;
    TMX_TAKE(&c->arena, t, 1);
    if (!TMX_TAKE(&c->arena, cell, TMX_MAX_COLUMN)) {
        tmx_no_memory(&c->err);
        return;
    }
    read_header(c, t, aliases, &l);
    if (!c->err.code) {
        tmx_columns_choose(t); /* of GPU and time the same without values */
        c->has_time = t->from[0][TMX_Q_TIME] < t->n || t->from[0][TMX_COLUMN_CLOCK_TIME] < t->n;
        if (!c->has_time && !(c->options && c->options->step_s > 0)) {
            TMX_TAKE(&c->arena, seen, t->n + 1);
        }
        count_values(c, t, l, seen);
    }
    if (!c->err.code) {
        tmx_columns_choose(t);
        tmx_columns_say(t, c->to);
        c->has_gpu = t->from[0][TMX_COLUMN_GPU] < t->n || t->n_wide > 0;
    }
    /* A column without use that never falls and mostly rises is likely the time: then "1 s a row" would be a
     * wrong answer. */
    for (size_t k = 0; seen && !c->err.code && k < t->n; k++) {
        if (seen[k].n >= LEAST && !seen[k].falls && 5 * seen[k].up > 2 * seen[k].n) {
            const struct tmx_span name = tmx_span_trim(t->name[k]);
            tmx_collect_error(c, 1,
                              "no column is known as the time, and \"%.*s\" rises from row to row: if it is "
                              "the time, --column time_s=%.*s, else --step S for rows S seconds apart",
                              TMX_SPAN_ARG(name), TMX_SPAN_ARG(name));
        }
    }
    while (!c->err.code && tmx_lines_next(&l, c->text)) {
        if (row_cells(c, t, &l, cell) > 0) {
            read_row(c, t, cell, l.number);
        }
    }
}

/* Tables whose columns are set apart by blanks: nvidia-smi dmon and dcgmi dmon. */

static void read_names(struct tmx_collect *c, struct tmx_columns *t, const struct tmx_alias *aliases,
                       const struct tmx_lines *l)
{
    struct tmx_span rest = tmx_span_trim(l->line), word;
    rest.begin += rest.begin < rest.end && *rest.begin == '#'; /* "#Date": it may touch the first name */
    const struct tmx_span none = {rest.end, rest.end};
    t->n = 0;
    while (tmx_span_field(&rest, &word)) {
        if (t->n == TMX_MAX_COLUMN) {
            tmx_collect_error(c, l->number, "more than %d columns", TMX_MAX_COLUMN);
            return;
        }
        t->name[t->n] = word;
        t->values[t->n] = 1; /* rows come one screen at a time: not counted */
        t->use[t->n++] = tmx_column_named(word, none, aliases);
    }
    t->entity = t->n > 0 && tmx_span_is(t->name[0], "Entity");
    tmx_columns_choose(t);
    if (t->from[0][TMX_COLUMN_CLOCK_TIME] == t->n) {
        t->from[0][TMX_Q_TIME] = t->n; /* a date alone is no time */
    }
}

void tmx_read_blank_table(struct tmx_collect *c, const struct tmx_alias *aliases)
{
    struct tmx_lines l = {0};
    struct tmx_columns *t, *next;
    struct tmx_span *cell;
    TMX_TAKE(&c->arena, t, 1);
    TMX_TAKE(&c->arena, cell, TMX_MAX_COLUMN);
    if (!TMX_TAKE(&c->arena, next, 1)) {
        tmx_no_memory(&c->err);
    }
    bool named = false;
    while (!c->err.code && tmx_lines_next(&l, c->text)) {
        struct tmx_span s = tmx_span_trim(l.line), first = s;
        if (s.begin == s.end) {
            continue;
        }
        if (*s.begin == '#') {
            memset(next, 0, sizeof *next);
            read_names(c, next, aliases, &l);
            const bool names =
                !c->err.code && next->n > 0 && (next->entity || next->from[0][TMX_COLUMN_GPU] < next->n);
            if (names && named && next->n != t->n) {
                tmx_collect_error(c, l.number, "the columns change here: two logs in one file?");
            } else if (names) { /* the line of units starts with # too */
                *t = *next;
            }
            if (names && !named) {
                tmx_columns_say(t, c->to);
                c->has_time = t->from[0][TMX_COLUMN_CLOCK_TIME] < t->n;
                c->has_gpu = t->from[0][TMX_COLUMN_GPU] < t->n;
                named = true;
            }
            continue;
        }
        struct tmx_span word;
        if (tmx_span_field(&first, &word) && tmx_span_is(word, "ID")) {
            continue; /* dcgmi's line of units */
        }
        if (!named) {
            tmx_collect_error(c, l.number, "no line of names before the first row");
        } else if (row_cells(c, t, &l, cell) > 0) {
            read_row(c, t, cell, l.number);
        }
    }
}

/* ---- what exporters serve to Prometheus: a line a sample, NAME{LABELS} VALUE [TIME] ---- */

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

/* Index of this GPU's or part's row in the scrape, made when it is new; MAX_ROW when there is no room. */
static size_t row_of(struct scrape *s, const struct tmx_span id[4], unsigned line)
{
    size_t g = 0;
    while (g < s->n && !(tmx_span_same(s->of[g].id[1], id[1]) && tmx_span_same(s->of[g].id[3], id[3]) &&
                         tmx_span_same(s->of[g].id[0], id[0]) && tmx_span_same(s->of[g].id[2], id[2]))) {
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
    s->family += !tmx_span_same(s->name, name);
    s->name = name;
    if (!tmx_is_reading(use.quantity)) {
        return;
    }
    if (!tmx_span_field(&rest, &value) || !tmx_cell_value(&use, value, false, &v)) {
        tmx_collect_error(c, number, "%.*s has no value", TMX_SPAN_ARG(name));
        return;
    }
    if (tmx_span_field(&rest, &stamp) && !tmx_span_real(stamp, &t)) {
        tmx_collect_error(c, number, "\"%.*s\" is no time in milliseconds", TMX_SPAN_ARG(stamp));
    }
    /* OpenMetrics: seconds, of now with a point or without one */
    t = memchr(stamp.begin, '.', isnan(t) ? 0 : tmx_span_length(stamp)) || (t > 1e9 && t < 1e11) ? t
                                                                                                 : t / 1000;
    /* Whose it is. The UUID is the die's own; without it the address that was scraped tells apart two hosts
     * of one name. */
    static const char *const names_of[4][9] = {
        {"Hostname", "hostname", "exported_hostname", "kubernetes_node", "node", "nodename",
         "exported_instance", "instance", NULL},
        {"gpu", "gpu_id", "minor_number", "device", "UUID", "uuid", NULL},
        {"UUID", "uuid", "gpu_uuid", "serial_number", "exported_instance", "instance", NULL},
        {"GPU_I_ID", "gpu_partition_id", NULL}};
    for (size_t i = 0; i < 4; i++) {
        id[i] = label(labels, names_of[i]);
    }
    if (id[1].begin == id[1].end) {
        tmx_collect_error(c, number, "%.*s has no label gpu", TMX_SPAN_ARG(name));
        return;
    }
    const int q = use.quantity;
    size_t at = row_of(s, id, number);
    const bool seen = at < MAX_ROW && s->of[at].rank[q] <= use.rank;
    const bool again = seen && s->of[at].rank[q] == use.rank &&
                       (s->of[at].family[q] != s->family || tmx_span_same(s->of[at].all[q], labels));
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

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tables with a separator and a line of names: what nvidia-smi's CSV, GPU-Z, amd-smi and plain files share.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "measure/log/collect.h"

static size_t split(struct tmx_span line, char separator, struct tmx_span *cell)
{
    size_t n = 0;
    const char *p = line.begin;
    for (;;) {
        const char *begin = p;
        bool quoted = false;
        while (p < line.end && (quoted || *p != separator)) {
            quoted = *p == '"' ? !quoted : quoted;
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

static char separator_of(struct tmx_span head)
{
    static const char any[] = {',', ';', '\t', '|'};
    size_t best = 0;
    char separator = ',';
    for (size_t i = 0; i < sizeof any; i++) {
        size_t n = 0;
        for (const char *p = head.begin; p < head.end; p++) {
            n += *p == any[i];
        }
        if (n > best) {
            best = n;
            separator = any[i];
        }
    }
    return separator;
}

/* --column inlet_c=NAME: the columns that stand for a quantity by the user's word. */
static enum tmx_status apply_wanted(struct tmx_collect *c, struct tmx_columns *t, struct tmx_err *err)
{
    const char *const *wanted = c->options ? c->options->column : NULL;
    for (size_t i = 0; wanted && i < 8 && wanted[i]; i++) {
        const char *eq = strchr(wanted[i], '=');
        int q = 0;
        while (eq && q < TMX_N_LOG_QUANTITY &&
               (strlen(tmx_log_quantity_name((enum tmx_log_quantity)q)) != (size_t)(eq - wanted[i]) ||
                strncmp(tmx_log_quantity_name((enum tmx_log_quantity)q), wanted[i],
                        (size_t)(eq - wanted[i])) != 0)) {
            q++;
        }
        size_t k = 0;
        while (eq && k < t->n && !tmx_span_is(tmx_span_trim(t->name[k]), eq + 1)) {
            k++;
        }
        if (!eq || q == TMX_N_LOG_QUANTITY) {
            return tmx_fail(err, TMX_ECONFIG,
                            "column %s: expected power_w=NAME, temp_c=NAME, inlet_c=NAME, ...", wanted[i]);
        }
        if (k == t->n) {
            return tmx_fail_at(err, TMX_ECONFIG, c->text->name, 1, "there is no column \"%s\"", eq + 1);
        }
        t->use[k] = (struct tmx_column_use){q, 1, 0, -1};
    }
    return TMX_OK;
}

static bool same_line(const struct tmx_columns *t, const struct tmx_span *cell, size_t n)
{
    bool same = n == t->n;
    for (size_t i = 0; same && i < n; i++) {
        const struct tmx_span a = tmx_span_trim(cell[i]), b = tmx_span_trim(t->name[i]);
        same = tmx_span_length(a) == tmx_span_length(b) && memcmp(a.begin, b.begin, tmx_span_length(a)) == 0;
    }
    return same;
}

/* A row's cells; *n = 0 for a line that is to be passed over. */
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

static enum tmx_status row_cells(struct tmx_collect *c, const struct tmx_columns *t,
                                 const struct tmx_lines *l, struct tmx_span *cell, size_t *n,
                                 struct tmx_err *err)
{
    const bool last = l->next >= c->text->data + c->text->size;
    const struct tmx_span line = tmx_span_trim(l->line);
    *n = 0;
    if (line.begin == line.end || *line.begin == '#') {
        return TMX_OK;
    }
    size_t count = split(l->line, t->separator, cell);
    while (count > t->n && count <= TMX_MAX_COLUMN && tmx_span_length(tmx_span_trim(cell[count - 1])) == 0) {
        count--; /* GPU-Z ends its lines with a comma */
    }
    if (same_line(t, cell, count)) {
        tmx_measured_note(c->to, "%s:%u: the header is repeated here: skipped", c->text->name, l->number);
        return TMX_OK;
    }
    if (count < t->n && last) {
        tmx_measured_note(c->to, "%s:%u: the last line is cut short: dropped", c->text->name, l->number);
        return TMX_OK;
    }
    if (count == t->n && last && l->number > 2 && cut_in_cell(c->text, &l->line, t->separator)) {
        tmx_measured_note(c->to,
                          "%s:%u: the last line has no end and its last cell is shorter than the one above: "
                          "cut inside it? dropped",
                          c->text->name, l->number);
        return TMX_OK;
    }
    if (count != t->n) {
        return tmx_fail_at(
            err, TMX_EPARSE, c->text->name, l->number, "%zu cells, the header has %zu%s", count, t->n,
            count > t->n && t->separator == ',' ? " (decimal commas? then separate the columns by semicolons)"
                                                : "");
    }
    *n = count;
    return TMX_OK;
}

static enum tmx_status count_values(struct tmx_collect *c, struct tmx_columns *t, struct tmx_lines l,
                                    struct tmx_err *err)
{
    struct tmx_span *cell = calloc(TMX_MAX_COLUMN, sizeof *cell);
    enum tmx_status st = cell ? TMX_OK : tmx_fail(err, TMX_ENOMEM, "a row of cells");
    const size_t notes = c->to->n_note;
    while (!st && tmx_lines_next(&l, c->text)) {
        size_t n;
        st = row_cells(c, t, &l, cell, &n, err);
        for (size_t i = 0; !st && i < n; i++) {
            double v;
            if (t->use[i].quantity >= 0) {
                /* what is no number is refused when it is read */
                t->values[i] += !tmx_cell_value(&t->use[i], cell[i], t->separator != ',', &v) || !isnan(v);
            }
        }
    }
    while (c->to->n_note > notes) { /* said in the second pass */
        free(c->to->note[--c->to->n_note]);
    }
    free(cell);
    return st;
}

static enum tmx_status time_of(struct tmx_collect *c, const struct tmx_columns *t,
                               const struct tmx_span *cell, unsigned line, double *seconds,
                               struct tmx_err *err)
{
    const size_t date = t->from[TMX_Q_TIME];
    char both[96], day[48], clock[48];
    bool ok = true;
    *seconds = NAN;
    if (t->clock < t->n && date < t->n && t->clock != date) { /* a column of dates and one of times */
        ok = tmx_span_copy(tmx_span_trim(cell[date]), day, sizeof day) &&
             tmx_span_copy(tmx_span_trim(cell[t->clock]), clock, sizeof clock);
        snprintf(both, sizeof both, "%s %s", ok ? day : "", ok ? clock : "");
        ok = ok && tmx_time_parse((struct tmx_span){both, both + strlen(both)}, seconds);
    } else if (date < t->n || t->clock < t->n) {
        const size_t k = date < t->n ? date : t->clock;
        ok = tmx_cell_value(&t->use[k], cell[k], t->separator != ',', seconds);
    }
    if (!ok || ((date < t->n || t->clock < t->n) && isnan(*seconds))) {
        const struct tmx_span s = tmx_span_trim(cell[date < t->n ? date : t->clock]);
        return tmx_fail_at(
            err, TMX_EPARSE, c->text->name, line,
            "\"%.*s\" is no time: expected seconds, or a stamp such as 2025/01/07 12:34:56.789",
            TMX_SPAN_ARG(s));
    }
    return TMX_OK;
}

static enum tmx_status read_row(struct tmx_collect *c, const struct tmx_columns *t,
                                const struct tmx_span *cell, unsigned line, struct tmx_err *err)
{
    struct tmx_row row = {.line = line};
    const struct tmx_span none = {"", ""};
    enum tmx_status st = time_of(c, t, cell, line, &row.q[TMX_Q_TIME], err);
    for (int q = TMX_Q_TIME + 1; !st && q < TMX_N_LOG_QUANTITY; q++) {
        const size_t k = t->from[q];
        row.q[q] = NAN;
        if (k < t->n && !tmx_cell_value(&t->use[k], cell[k], t->separator != ',', &row.q[q])) {
            const struct tmx_span s = tmx_span_trim(cell[k]), name = tmx_span_trim(t->name[k]);
            st = tmx_fail_at(err, TMX_EPARSE, c->text->name, line,
                             "column \"%.*s\": \"%.*s\" is no number of %s", TMX_SPAN_ARG(name),
                             TMX_SPAN_ARG(s), tmx_log_quantity_name((enum tmx_log_quantity)q));
        }
    }
    return st ? st
              : tmx_collect_row(c, &row, t->run < t->n ? tmx_span_trim(cell[t->run]) : none,
                                t->gpu < t->n ? tmx_span_trim(cell[t->gpu]) : none, err);
}

static enum tmx_status read_header(struct tmx_collect *c, struct tmx_columns *t,
                                   const struct tmx_alias *aliases, struct tmx_lines *l, struct tmx_err *err)
{
    do {
        if (!tmx_lines_next(l, c->text)) {
            return tmx_fail_at(err, TMX_EPARSE, c->text->name, 1, "the log is empty");
        }
    } while (tmx_span_length(tmx_span_trim(l->line)) == 0 || *tmx_span_trim(l->line).begin == '#');
    t->separator = separator_of(l->line);
    t->n = split(l->line, t->separator, t->name);
    while (t->n > 1 && t->n <= TMX_MAX_COLUMN && tmx_span_length(tmx_span_trim(t->name[t->n - 1])) == 0) {
        t->n--;
    }
    if (t->n > TMX_MAX_COLUMN) {
        return tmx_fail_at(err, TMX_EPARSE, c->text->name, l->number, "more than %d columns", TMX_MAX_COLUMN);
    }
    size_t dates = t->n;
    for (size_t i = 0; i < t->n; i++) {
        t->use[i] = tmx_column_of(t->name[i], aliases);
        if (tmx_span_is(tmx_span_trim(t->name[i]), "date")) {
            dates = i;
        }
    }
    for (size_t i = 0; dates < t->n && i < t->n; i++) { /* beside a date, "time" is the time of day */
        if (tmx_span_is(tmx_span_trim(t->name[i]), "time")) {
            t->use[i].quantity = TMX_COLUMN_CLOCK_TIME;
        }
    }
    return apply_wanted(c, t, err);
}

enum tmx_status tmx_read_table(struct tmx_collect *c, const struct tmx_alias *aliases, struct tmx_err *err)
{
    struct tmx_lines l = {0};
    struct tmx_columns *t = calloc(1, sizeof *t);
    struct tmx_span *cell = calloc(TMX_MAX_COLUMN, sizeof *cell);
    enum tmx_status st = t && cell ? TMX_OK : tmx_fail(err, TMX_ENOMEM, "a table's columns");
    st = st ? st : read_header(c, t, aliases, &l, err);
    st = st ? st : count_values(c, t, l, err);
    if (!st) {
        tmx_columns_choose(t);
        tmx_columns_say(t, c->to);
        c->has_time = t->from[TMX_Q_TIME] < t->n || t->clock < t->n;
        c->has_gpu = t->gpu < t->n;
    }
    while (!st && tmx_lines_next(&l, c->text)) {
        size_t n;
        st = row_cells(c, t, &l, cell, &n, err);
        st = st || n == 0 ? st : read_row(c, t, cell, l.number, err);
    }
    free(cell);
    free(t);
    return st;
}

/* Tables whose columns are set apart by blanks: nvidia-smi dmon and dcgmi dmon. */

/* "#Date" and "# gpu": the mark may touch the first name. */
static struct tmx_span after_mark(struct tmx_span line)
{
    struct tmx_span s = tmx_span_trim(line);
    s.begin += s.begin < s.end && *s.begin == '#';
    return s;
}

static enum tmx_status read_names(struct tmx_collect *c, struct tmx_columns *t,
                                  const struct tmx_alias *aliases, const struct tmx_lines *l,
                                  struct tmx_err *err)
{
    struct tmx_span rest = after_mark(l->line), word;
    const struct tmx_span none = {rest.end, rest.end};
    t->n = 0;
    while (tmx_span_field(&rest, &word)) {
        if (t->n == TMX_MAX_COLUMN) {
            return tmx_fail_at(err, TMX_EPARSE, c->text->name, l->number, "more than %d columns",
                               TMX_MAX_COLUMN);
        }
        t->name[t->n] = word;
        t->values[t->n] = 1; /* rows come one screen at a time: not counted */
        t->use[t->n++] = tmx_column_named(word, none, aliases);
    }
    t->entity = t->n > 0 && tmx_span_is(t->name[0], "Entity");
    tmx_columns_choose(t);
    return TMX_OK;
}

static enum tmx_status read_blank_row(struct tmx_collect *c, const struct tmx_columns *t,
                                      const struct tmx_lines *l, struct tmx_err *err)
{
    struct tmx_row row = {.line = l->number};
    struct tmx_span rest = l->line, word, cell[TMX_MAX_COLUMN];
    char stamp[96] = "", part[48];
    size_t n = 0;
    for (int q = 0; q < TMX_N_LOG_QUANTITY; q++) {
        row.q[q] = NAN;
    }
    if (t->entity && (!tmx_span_field(&rest, &word) || !tmx_span_is(word, "GPU"))) {
        /* a switch, a link, a partition, "Switch 3": not a GPU of its own */
        if (!tmx_span_is(word, "Link") && !tmx_span_is(word, "CPU") &&
            (!tmx_span_field(&rest, &word) || *word.begin < '0' || *word.begin > '9')) {
            const struct tmx_span line = tmx_span_trim(l->line);
            tmx_measured_note(c->to, "%s:%u: \"%.*s\" is no row: dropped", c->text->name, l->number,
                              line.end - line.begin < 60 ? (int)(line.end - line.begin) : 60, line.begin);
        }
        return TMX_OK;
    }
    while (tmx_span_field(&rest, &word)) {
        if (n < TMX_MAX_COLUMN) {
            cell[n] = word;
        }
        n++;
    }
    if (n != t->n) {
        if (n < t->n && l->next >= c->text->data + c->text->size) {
            tmx_measured_note(c->to, "%s:%u: the last line is cut short: dropped", c->text->name, l->number);
            return TMX_OK;
        }
        return tmx_fail_at(err, TMX_EPARSE, c->text->name, l->number,
                           "%zu columns, the line of names has %zu", n, t->n);
    }
    for (size_t i = 0; i < n; i++) {
        const int q = t->use[i].quantity;
        const bool stamped = i == t->from[TMX_Q_TIME] || i == t->clock;
        if (stamped && tmx_span_copy(cell[i], part, sizeof part)) {
            snprintf(stamp + strlen(stamp), sizeof stamp - strlen(stamp), "%s%s", stamp[0] ? " " : "", part);
        } else if (q > TMX_Q_TIME && t->from[q] == i &&
                   !tmx_cell_value(&t->use[i], cell[i], false, &row.q[q])) {
            return tmx_fail_at(err, TMX_EPARSE, c->text->name, l->number,
                               "column %.*s: \"%.*s\" is no number", TMX_SPAN_ARG(t->name[i]),
                               TMX_SPAN_ARG(cell[i]));
        }
    }
    if (t->clock < t->n &&
        !tmx_time_parse((struct tmx_span){stamp, stamp + strlen(stamp)}, &row.q[TMX_Q_TIME])) {
        return tmx_fail_at(err, TMX_EPARSE, c->text->name, l->number, "\"%s\" is no time", stamp);
    }
    const struct tmx_span none = {"", ""};
    return tmx_collect_row(c, &row, none, t->gpu < t->n ? cell[t->gpu] : none, err);
}

enum tmx_status tmx_read_blank_table(struct tmx_collect *c, const struct tmx_alias *aliases,
                                     struct tmx_err *err)
{
    struct tmx_lines l = {0};
    struct tmx_columns *t = calloc(1, sizeof *t);
    enum tmx_status st = t ? TMX_OK : tmx_fail(err, TMX_ENOMEM, "a table's columns");
    bool named = false;
    while (!st && tmx_lines_next(&l, c->text)) {
        struct tmx_span s = tmx_span_trim(l.line), first = s;
        if (s.begin == s.end) {
            continue;
        }
        if (*s.begin == '#') {
            struct tmx_columns *next = calloc(1, sizeof *next);
            st =
                next ? read_names(c, next, aliases, &l, err) : tmx_fail(err, TMX_ENOMEM, "a table's columns");
            const bool names = !st && next->n > 0 && (next->entity || next->gpu < next->n);
            if (names && named && next->n != t->n) {
                st = tmx_fail_at(err, TMX_EPARSE, c->text->name, l.number,
                                 "the columns change here: two logs in one file?");
            } else if (names) { /* the line of units starts with # too */
                *t = *next;
            }
            if (names && !named && !st) {
                tmx_columns_say(t, c->to);
                c->has_time = t->clock < t->n;
                c->has_gpu = t->gpu < t->n;
                named = true;
            }
            free(next);
            continue;
        }
        struct tmx_span word;
        if (tmx_span_field(&first, &word) && tmx_span_is(word, "ID")) {
            continue; /* dcgmi's line of units */
        }
        st = named ? read_blank_row(c, t, &l, err)
                   : tmx_fail_at(err, TMX_EPARSE, c->text->name, l.number,
                                 "no line of names before the first row");
    }
    free(t);
    return st;
}

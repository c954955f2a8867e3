/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tables whose columns are set apart by blanks: nvidia-smi dmon and dcgmi dmon. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "measure/log/collect.h"

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

static enum tmx_status read_row(struct tmx_collect *c, const struct tmx_columns *t, const struct tmx_lines *l,
                                struct tmx_err *err)
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
        st = named ? read_row(c, t, &l, err)
                   : tmx_fail_at(err, TMX_EPARSE, c->text->name, l.number,
                                 "no line of names before the first row");
    }
    free(t);
    return st;
}

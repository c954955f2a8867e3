/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>
#include <string.h>

#include "core/base/text.h"
#include "power/regress.h"

static bool next_cell(struct tmx_span *rest, struct tmx_span *cell)
{
    if (!rest->begin) {
        return false;
    }
    const char *comma = memchr(rest->begin, ',', tmx_span_length(*rest));
    *cell = (struct tmx_span){rest->begin, comma ? comma : rest->end};
    rest->begin = comma ? comma + 1 : NULL;
    while (cell->begin < cell->end && (*cell->begin == ' ' || *cell->begin == '\t')) {
        cell->begin++;
    }
    while (cell->end > cell->begin && (cell->end[-1] == ' ' || cell->end[-1] == '\t')) {
        cell->end--;
    }
    return true;
}

static bool skipped(struct tmx_span line)
{
    struct tmx_span field;
    return !tmx_span_field(&line, &field) || *field.begin == '#';
}

static enum tmx_status read_header(struct tmx_training *t, const struct tmx_lines *l, struct tmx_err *err)
{
    struct tmx_span rest = l->line, cell;
    size_t n = 0;
    bool last_is_power = false;
    t->feature = calloc(TMX_FEATURE_MAX + 1, sizeof *t->feature); /* one more: power_w comes last */
    if (!t->feature) {
        return tmx_fail(err, TMX_ENOMEM, "training table");
    }
    for (; next_cell(&rest, &cell); n++) {
        if (n == 0) {
            if (!tmx_span_is(cell, "kernel")) {
                return tmx_fail_at(err, TMX_EPARSE, t->name, l->number,
                                   "the first column must be \"kernel\"");
            }
            continue;
        }
        if (t->n_feature > TMX_FEATURE_MAX) {
            return tmx_fail_at(err, TMX_EPARSE, t->name, l->number, "more than %d events", TMX_FEATURE_MAX);
        }
        last_is_power = tmx_span_is(cell, "power_w");
        for (size_t i = 0; i < t->n_feature; i++) {
            if (tmx_span_is(cell, t->feature[i])) {
                return tmx_fail_at(err, TMX_EPARSE, t->name, l->number, "two columns are called \"%s\"",
                                   t->feature[i]);
            }
        }
        t->feature[t->n_feature] = tmx_span_dup(cell);
        if (!t->feature[t->n_feature++]) {
            return tmx_fail(err, TMX_ENOMEM, "training table");
        }
    }
    if (!last_is_power) {
        return tmx_fail_at(err, TMX_EPARSE, t->name, l->number, "the last column must be \"power_w\"");
    }
    free(t->feature[--t->n_feature]);
    t->feature[t->n_feature] = NULL;
    return t->n_feature > 0
               ? TMX_OK
               : tmx_fail_at(err, TMX_EPARSE, t->name, l->number, "no event column before power_w");
}

static enum tmx_status read_number(const struct tmx_training *t, const struct tmx_lines *l,
                                   struct tmx_span cell, const char *column, double *v, struct tmx_err *err)
{
    char word[64] = "";
    if (tmx_span_real(cell, v)) {
        return TMX_OK;
    }
    if (!tmx_span_copy(cell, word, sizeof word)) {
        memcpy(word, "...", 4);
    }
    return tmx_fail_at(err, TMX_EPARSE, t->name, l->number, "%s: \"%s\" is not a finite number", column,
                       word);
}

static enum tmx_status read_row(struct tmx_training *t, const struct tmx_lines *l, struct tmx_err *err)
{
    struct tmx_span rest = l->line, cell;
    const size_t r = t->n_row;
    if (!next_cell(&rest, &cell) || tmx_span_length(cell) == 0) {
        return tmx_fail_at(err, TMX_EPARSE, t->name, l->number, "kernel without a name");
    }
    t->kernel[r] = tmx_span_dup(cell);
    if (!t->kernel[r]) {
        return tmx_fail(err, TMX_ENOMEM, "training table");
    }
    t->line[r] = l->number;
    t->n_row++;
    for (size_t c = 0; c <= t->n_feature; c++) {
        const char *column = c < t->n_feature ? t->feature[c] : "power_w";
        double *v = c < t->n_feature ? &t->event[r * t->n_feature + c] : &t->power_w[r];
        if (!next_cell(&rest, &cell)) {
            return tmx_fail_at(err, TMX_EPARSE, t->name, l->number, "%s is missing", column);
        }
        enum tmx_status st = read_number(t, l, cell, column, v, err);
        if (st) {
            return st;
        }
    }
    if (rest.begin) {
        return tmx_fail_at(err, TMX_EPARSE, t->name, l->number, "more values than columns");
    }
    if (!(t->power_w[r] > 0)) {
        return tmx_fail_at(err, TMX_EPARSE, t->name, l->number, "power_w = %g is not positive",
                           t->power_w[r]);
    }
    for (size_t i = 0; i < r; i++) {
        if (strcmp(t->kernel[i], t->kernel[r]) == 0) {
            return tmx_fail_at(err, TMX_EPARSE, t->name, l->number, "kernel \"%s\" is already on line %u",
                               t->kernel[r], t->line[i]);
        }
    }
    return TMX_OK;
}

static enum tmx_status take_rows(struct tmx_training *t, const struct tmx_text_file *text,
                                 struct tmx_err *err)
{
    size_t n = 0;
    for (struct tmx_lines l = {0}; tmx_lines_next(&l, text);) {
        n++;
    }
    t->kernel = calloc(n + 1, sizeof *t->kernel);
    t->event = calloc((n + 1) * t->n_feature, sizeof *t->event);
    t->power_w = calloc(n + 1, sizeof *t->power_w);
    t->line = calloc(n + 1, sizeof *t->line);
    return t->kernel && t->event && t->power_w && t->line ? TMX_OK
                                                          : tmx_fail(err, TMX_ENOMEM, "training table");
}

enum tmx_status tmx_training_load(struct tmx_training *t, const char *path, struct tmx_err *err)
{
    struct tmx_text_file text;
    *t = (struct tmx_training){0};
    enum tmx_status st = tmx_text_load(&text, path, err);
    if (st) {
        return st;
    }
    memcpy(t->name, text.name, sizeof t->name);
    for (struct tmx_lines l = {0}; !st && tmx_lines_next(&l, &text);) {
        if (skipped(l.line)) {
            continue;
        }
        if (!t->feature) {
            st = read_header(t, &l, err);
            if (!st) {
                st = take_rows(t, &text, err);
            }
        } else {
            st = read_row(t, &l, err);
        }
    }
    if (!st && !t->feature) {
        st = tmx_fail_at(err, TMX_EPARSE, t->name, 0, "no header line");
    } else if (!st && t->n_row == 0) {
        st = tmx_fail_at(err, TMX_EPARSE, t->name, 0, "a header, but no kernel below it");
    }
    tmx_text_finish(&text);
    if (st) {
        tmx_training_finish(t);
    }
    return st;
}

void tmx_training_finish(struct tmx_training *t)
{
    for (size_t i = 0; t->kernel && i < t->n_row; i++) {
        free(t->kernel[i]);
    }
    for (size_t i = 0; t->feature && i < t->n_feature; i++) {
        free(t->feature[i]);
    }
    free(t->kernel);
    free(t->feature);
    free(t->event);
    free(t->power_w);
    free(t->line);
    *t = (struct tmx_training){0};
}

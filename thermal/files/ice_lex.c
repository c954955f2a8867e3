/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "thermal/files/ice_lex.h"

#include <ctype.h>
#include <string.h>

static bool at(const struct tmx_ice_lex *l, const char *what)
{
    const size_t n = strlen(what);
    return (size_t)(l->text.data + l->text.size - l->next) >= n && memcmp(l->next, what, n) == 0;
}

/* Blanks and comments, counting lines. */
static void skip_space(struct tmx_ice_lex *l)
{
    const char *end = l->text.data + l->text.size;
    const char *until = NULL; /* what ends the comment we are in */
    while (l->next < end) {
        if (until && at(l, until)) {
            l->next += until[0] == '*' ? 2 : 0;
            until = NULL;
        } else if (!until && at(l, "//")) {
            until = "\n";
        } else if (!until && at(l, "/*")) {
            until = "*/";
        } else if (!until && !isspace((unsigned char)*l->next)) {
            return;
        } else {
            l->line += *l->next == '\n';
            l->next++;
        }
    }
}

void tmx_ice_next(struct tmx_ice_lex *l)
{
    const char *end = l->text.data + l->text.size;
    skip_space(l);
    l->word.begin = l->next;
    if (l->next < end && *l->next == '"') {
        const char *close = memchr(l->next + 1, '"', (size_t)(end - l->next - 1));
        l->word = (struct tmx_span){l->next + 1, close ? close : end};
        if (l->word.begin == close) { /* an empty word is the end of the file: the two quotes stand for it */
            l->word = (struct tmx_span){l->next, close + 1};
        }
        l->next = close ? close + 1 : end;
        return;
    }
    if (l->next < end && strchr(":;,()", *l->next)) {
        l->next++;
    } else {
        while (l->next < end && !isspace((unsigned char)*l->next) && !strchr(":;,()\"", *l->next)) {
            l->next++;
        }
    }
    l->word.end = l->next;
}

enum tmx_status tmx_ice_check_closed(const struct tmx_ice_lex *l, bool empty, struct tmx_err *err)
{
    const char *p = l->text.data, *end = l->text.data + l->text.size;
    unsigned line = 1;
    while (p < end) {
        const unsigned begun = line;
        const bool comment = end - p >= 2 && p[0] == '/' && p[1] == '*';
        if (end - p >= 2 && p[0] == '/' && p[1] == '/') {
            while (p < end && *p != '\n') {
                p++;
            }
        } else if (comment || *p == '"') {
            const char *from = p += comment ? 2 : 1;
            while (p < end && !(comment ? end - p >= 2 && p[0] == '*' && p[1] == '/' : *p == '"')) {
                line += *p++ == '\n';
            }
            if (p == end) {
                return tmx_fail_at(err, TMX_EPARSE, l->text.name, begun, "this %s has no end",
                                   comment ? "comment" : "quotation");
            }
            if (!comment && !empty && p == from) {
                return tmx_fail_at(err, TMX_EPARSE, l->text.name, begun, "empty quotation");
            }
            p += comment ? 2 : 1;
        } else {
            line += *p++ == '\n';
        }
    }
    return TMX_OK;
}

enum tmx_status tmx_ice_sniff(struct tmx_ice_lex *l, const char *path, struct tmx_err *err)
{
    *l = (struct tmx_ice_lex){.line = 1, .err = err};
    const enum tmx_status st = tmx_text_load(&l->text, path, err);
    if (!st) {
        l->next = l->text.data;
        tmx_ice_next(l);
    }
    return st;
}

enum tmx_status tmx_ice_open(struct tmx_ice_lex *l, const char *path, struct tmx_err *err)
{
    const enum tmx_status st = tmx_ice_sniff(l, path, err);
    return st ? st : tmx_ice_check_closed(l, false, err);
}

void tmx_ice_close(struct tmx_ice_lex *l)
{
    tmx_text_finish(&l->text);
}

bool tmx_ice_accept(struct tmx_ice_lex *l, const char *word)
{
    const bool is = tmx_span_is(l->word, word);
    if (is) {
        tmx_ice_next(l);
    }
    return is;
}

enum tmx_status tmx_ice_expected(struct tmx_ice_lex *l, const char *what)
{
    if (tmx_span_length(l->word) == 0) {
        return tmx_fail_at(l->err, TMX_EPARSE, l->text.name, l->line, "expected %s, got the end of the file",
                           what);
    }
    return tmx_fail_at(l->err, TMX_EPARSE, l->text.name, l->line, "expected %s, got \"%.*s\"", what,
                       TMX_SPAN_ARG(l->word));
}

enum tmx_status tmx_ice_phrase(struct tmx_ice_lex *l, const char *phrase)
{
    struct tmx_span rest = {phrase, phrase + strlen(phrase)}, field;
    char word[64];
    while (tmx_span_field(&rest, &field)) {
        if (!tmx_span_copy(field, word, sizeof word) || !tmx_ice_accept(l, word)) {
            return tmx_ice_expected(l, phrase);
        }
    }
    return TMX_OK;
}

enum tmx_status tmx_ice_number(struct tmx_ice_lex *l, double *v)
{
    if (!tmx_span_real(l->word, v)) {
        return tmx_ice_expected(l, "a number");
    }
    tmx_ice_next(l);
    return TMX_OK;
}

enum tmx_status tmx_ice_name(struct tmx_ice_lex *l, char *buf, size_t size)
{
    if (tmx_span_length(l->word) == 0 || !tmx_span_copy(l->word, buf, size)) {
        return tmx_ice_expected(l, "a name");
    }
    tmx_ice_next(l);
    return TMX_OK;
}

enum tmx_status tmx_ice_skip_values(struct tmx_ice_lex *l)
{
    do {
        tmx_ice_next(l);
    } while (tmx_span_length(l->word) > 0 && !tmx_span_is(l->word, ";") && !tmx_span_is(l->word, ":"));
    return tmx_ice_phrase(l, ";");
}

void tmx_ice_skip(struct tmx_ice_lex *l)
{
    while (tmx_span_length(l->word) > 0 && !tmx_ice_accept(l, ";")) {
        tmx_ice_next(l);
    }
}

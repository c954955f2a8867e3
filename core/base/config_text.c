/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "core/base/config_text.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/text.h"

enum { MAX_NUMBER = 400 };

/* One file (or text) while it is walked. */
struct source {
    struct tmx_config_text *t;
    const char *at, *end;
    const char *name; /* kept */
    unsigned line;
    int include; /* how many files this one is inside of */
};

/* Brackets that are open, over all files. */
struct nest {
    char open[TMX_CONFIG_DEPTH + 1];
    int keys[TMX_CONFIG_DEPTH + 1]; /* "=" seen in each */
    int depth;
};

#define fail_here(s, err, ...) tmx_fail_at((err), TMX_ECONFIG, (s)->name, (s)->line, __VA_ARGS__)

static enum tmx_status put(struct source *s, const char *bytes, size_t n, struct tmx_err *err)
{
    struct tmx_config_text *t = s->t;
    if (t->size + n > TMX_CONFIG_SIZE) {
        return fail_here(s, err, "the configuration is larger than %d MiB", TMX_CONFIG_SIZE >> 20);
    }
    if (t->size + n + 1 > t->room) {
        const size_t room = 2 * (t->size + n) + 4096;
        char *data = realloc(t->data, room);
        if (!data) {
            return tmx_no_memory(err);
        }
        t->data = data;
        t->room = room;
    }
    memcpy(t->data + t->size, bytes, n);
    t->size += n;
    t->data[t->size] = '\0';
    return TMX_OK;
}

/* The line of data that begins here is line s->line of its file. */
static enum tmx_status mark_line(struct source *s, struct tmx_err *err)
{
    struct tmx_config_text *t = s->t;
    if (t->n_line == t->line_room) {
        const size_t room = t->line_room ? 2 * t->line_room : 256;
        struct tmx_config_place *place = realloc(t->place, room * sizeof *place);
        if (!place) {
            return tmx_no_memory(err);
        }
        t->place = place;
        t->line_room = room;
    }
    t->place[t->n_line++] = (struct tmx_config_place){s->name, s->line};
    return TMX_OK;
}

static enum tmx_status new_line(struct source *s, struct tmx_err *err)
{
    const enum tmx_status st = put(s, "\n", 1, err);
    s->line++;
    return st ? st : mark_line(s, err);
}

static bool starts(const struct source *s, const char *word)
{
    const size_t n = strlen(word);
    return (size_t)(s->end - s->at) >= n && memcmp(s->at, word, n) == 0;
}

/* Skip a comment if one begins here. */
static enum tmx_status comment(struct source *s, bool *was, struct tmx_err *err)
{
    *was = true;
    if (*s->at == '#' || starts(s, "//")) {
        while (s->at < s->end && *s->at != '\n') {
            s->at++;
        }
        return TMX_OK;
    }
    if (!starts(s, "/*")) {
        *was = false;
        return TMX_OK;
    }
    const unsigned begun = s->line;
    enum tmx_status st = put(s, " ", 1, err);
    for (s->at += 2; !st && s->at < s->end && !starts(s, "*/"); s->at++) {
        st = *s->at == '\n' ? new_line(s, err) : TMX_OK;
    }
    if (!st && s->at >= s->end) {
        return tmx_fail_at(err, TMX_ECONFIG, s->name, begun, "a comment /* that is never closed");
    }
    s->at += 2;
    return st;
}

static enum tmx_status quoted(struct source *s, struct tmx_err *err)
{
    const char *begin = s->at++;
    for (; s->at < s->end && *s->at != '"'; s->at++) {
        if (*s->at == '\n') {
            return fail_here(s, err, "a quote that is not closed on its line");
        }
        if ((unsigned char)*s->at < ' ' && *s->at != '\t' && *s->at != '\r') {
            return fail_here(s, err, "a control character (byte %d) in a text", (unsigned char)*s->at);
        }
        if (*s->at == '\\') {
            if (starts(s, "\\x00")) {
                return fail_here(s, err, "\\x00 in a text");
            }
            s->at += s->at + 1 < s->end && s->at[1] != '\n';
        }
    }
    if (s->at >= s->end) {
        return fail_here(s, err, "a quote that is not closed on its line");
    }
    s->at++;
    if (s->at - begin > TMX_CONFIG_TEXT) {
        return fail_here(s, err, "a text longer than %d bytes", TMX_CONFIG_TEXT);
    }
    return put(s, begin, (size_t)(s->at - begin), err);
}

static bool number_goes_on(const char *begin, const char *at)
{
    const bool hex = at - begin > 1 && begin[0] == '0' && (begin[1] == 'x' || begin[1] == 'X');
    const bool sign = *at == '+' || *at == '-';
    return isalnum((unsigned char)*at) || *at == '.' || *at == '_' ||
           (sign && (at == begin || (!hex && (at[-1] == 'e' || at[-1] == 'E'))));
}

/* digits of a decimal integer, or the whole word of a hexadecimal one; 0: neither */
static size_t integer_length(const char *word)
{
    size_t n = word[0] == '+' || word[0] == '-';
    size_t digits = 0;
    if (word[0] == '0' && (word[1] == 'x' || word[1] == 'X')) {
        n = 2;
        digits = strspn(word + n, "0123456789abcdefABCDEF");
    } else {
        digits = strspn(word + n, "0123456789");
    }
    n += digits;
    const char *rest = word + n;
    const bool ends = !*rest || strcmp(rest, "L") == 0 || strcmp(rest, "LL") == 0;
    return digits > 0 && ends ? n : 0;
}

/* A number, an integer with its L. */
static enum tmx_status number(struct source *s, struct tmx_err *err)
{
    char word[MAX_NUMBER + 4];
    const char *begin = s->at;
    while (s->at < s->end && number_goes_on(begin, s->at)) {
        s->at++;
    }
    const size_t n = (size_t)(s->at - begin);
    if (n > MAX_NUMBER) {
        return fail_here(s, err, "a number of %zu characters", n);
    }
    memcpy(word, begin, n);
    word[n] = '\0';
    const size_t whole = integer_length(word);
    errno = 0;
    if (whole > 0) {
        word[whole] = '\0';
        const bool hex = word[1] == 'x' || word[1] == 'X';
        (void)strtoll(word, NULL, hex ? 16 : 10);
        if (errno == ERANGE) {
            return fail_here(s, err, "%.60s does not fit in a 64-bit integer", word);
        }
        word[whole] = 'L';
        return put(s, word, whole + 1, err);
    }
    double v;
    const struct tmx_span span = {word, word + n};
    if (!tmx_span_real(span, &v)) {
        return fail_here(s, err, "\"%.60s\" %s", word, tmx_span_real_fault(span));
    }
    return put(s, word, n, err);
}

static bool is_name_start(char c)
{
    return isalpha((unsigned char)c) || c == '*' || c == '_';
}

static enum tmx_status name(struct source *s, struct tmx_err *err)
{
    const char *begin = s->at;
    while (s->at < s->end && (isalnum((unsigned char)*s->at) || (*s->at && strchr("-_*", *s->at)))) {
        s->at++;
    }
    if (s->at - begin > TMX_CONFIG_NAME) {
        return fail_here(s, err, "a name longer than %d bytes", TMX_CONFIG_NAME);
    }
    return put(s, begin, (size_t)(s->at - begin), err);
}

static enum tmx_status mark(struct source *s, struct nest *nest, struct tmx_err *err)
{
    static const char open[] = "{([", close[] = "})]";
    const char c = *s->at++;
    const char *o = strchr(open, c);
    if (c == '=' || c == ':') {
        if (++nest->keys[nest->depth] > TMX_CONFIG_KEYS) {
            return fail_here(s, err, "more than %d keys in one group", TMX_CONFIG_KEYS);
        }
    } else if (o) {
        if (nest->depth == TMX_CONFIG_DEPTH) {
            return fail_here(s, err, "groups and lists nest deeper than %d", TMX_CONFIG_DEPTH);
        }
        nest->open[++nest->depth] = close[o - open];
        nest->keys[nest->depth] = 0;
    } else if (strchr(close, c)) {
        if (nest->depth == 0 || nest->open[nest->depth] != c) {
            return fail_here(s, err, "\"%c\" closes nothing%s%.1s%s", c, nest->depth ? "; expected \"" : "",
                             nest->depth ? &nest->open[nest->depth] : "", nest->depth ? "\"" : "");
        }
        nest->depth--;
    }
    return put(s, &c, 1, err);
}

static enum tmx_status walk(struct source *s, struct nest *nest, struct tmx_err *err);

static enum tmx_status read_file(struct tmx_config_text *t, const char *path, int include, struct nest *nest,
                                 struct tmx_err *err)
{
    struct tmx_text_file text;
    enum tmx_status st = tmx_text_load(&text, path, err);
    if (st) {
        return st;
    }
    struct source s = {.t = t,
                       .at = text.data,
                       .end = text.data + text.size,
                       .name = tmx_setting_keep(t->names, path),
                       .line = 1,
                       .include = include};
    const char *kind = include == 0 ? tmx_text_kind(&text, ",|;") : NULL; /* what is included may be a part */
    st = s.name ? tmx_utf8_check(text.data, text.size, path, err) : tmx_no_memory(err);
    st = st || !kind
             ? st
             : tmx_fail_at(err, TMX_ECONFIG, path, 1,
                           "is %s; expected settings of libconfig, key = value; and key = { ... };", kind);
    st = st ? st : mark_line(&s, err);
    st = st ? st : walk(&s, nest, err); /* NOLINT(misc-no-recursion): TMX_CONFIG_INCLUDE at most */
    tmx_text_finish(&text);
    return st;
}

/* @include "path" at the begin of a line. */
static enum tmx_status include(struct source *s, struct nest *nest, struct tmx_err *err)
{
    char path[1024];
    s->at += strlen("@include");
    while (s->at < s->end && (*s->at == ' ' || *s->at == '\t')) {
        s->at++;
    }
    const char *begin = s->at + 1, *close = begin;
    while (close < s->end && *close != '"' && *close != '\n') {
        close++;
    }
    if (s->at >= s->end || *s->at != '"' || close >= s->end || *close != '"' || close == begin) {
        return fail_here(s, err, "expected @include \"FILE\"");
    }
    const char *slash = *begin == '/' ? NULL : strrchr(s->name, '/');
    const int folder = slash ? (int)(slash - s->name + 1) : 0;
    if ((size_t)snprintf(path, sizeof path, "%.*s%.*s", folder, s->name, (int)(close - begin), begin) >=
        sizeof path) {
        return fail_here(s, err, "@include: file name too long");
    }
    if (s->include > TMX_CONFIG_INCLUDE) {
        return fail_here(s, err, "@include \"%.*s\": only a file includes others, not a text or an override",
                         (int)(close - begin), begin);
    }
    if (s->include == TMX_CONFIG_INCLUDE) {
        return fail_here(s, err, "@include \"%.*s\": files include one another deeper than %d; a loop?",
                         (int)(close - begin), begin, TMX_CONFIG_INCLUDE);
    }
    s->at = close + 1;
    struct tmx_err inner = {0};
    enum tmx_status st = put(s, "\n", 1, err); /* what is included begins a line of its own */
    if (st) {
        return st;
    }
    st = read_file(s->t, path, s->include + 1, nest, &inner); /* NOLINT(misc-no-recursion): as above */
    if (st == TMX_EIO) {
        return fail_here(s, err, "@include \"%s\": %s", path, inner.msg);
    }
    if (st && err) {
        *err = inner;
    }
    st = st ? st : put(s, "\n", 1, err);
    return st ? st : mark_line(s, err); /* the rest of the line stands after what was included */
}

static enum tmx_status walk(struct source *s, struct nest *nest, struct tmx_err *err)
{
    enum tmx_status st = TMX_OK;
    bool first = true; /* nothing but blanks on this line so far */
    while (!st && s->at < s->end) {
        const char c = *s->at;
        bool was;
        if (c == '\n') {
            st = new_line(s, err);
            s->at++;
            first = true;
            continue;
        }
        st = comment(s, &was, err);
        if (st || was) {
            continue;
        }
        if (first && starts(s, "@include")) {
            st = include(s, nest, err); /* NOLINT(misc-no-recursion): TMX_CONFIG_INCLUDE at most */
            continue;
        }
        if (c == ' ' || c == '\t' || c == '\r' || c == '\f') {
            s->at++;
            st = put(s, " ", 1, err);
            continue;
        }
        first = false;
        if (c == '"') {
            st = quoted(s, err);
        } else if (is_name_start(c)) {
            st = name(s, err);
        } else if (isdigit((unsigned char)c) || c == '+' || c == '-' || c == '.') {
            st = number(s, err);
        } else if (strchr("{}()[]=:;,", c)) {
            st = mark(s, nest, err);
        } else {
            const size_t n = tmx_utf8_length(s->at, s->end);
            st = fail_here(s, err, "unexpected \"%.*s\"", (int)n, s->at);
        }
    }
    return st;
}

enum tmx_status tmx_config_text_read(struct tmx_config_text *t, struct tmx_setting *names, const char *path,
                                     const char *text, const char *name_, struct tmx_err *err)
{
    struct nest nest = {0};
    enum tmx_status st;
    *t = (struct tmx_config_text){.names = names};
    if (path) {
        st = read_file(t, path, 0, &nest, err);
    } else {
        struct source s = {.t = t,
                           .at = text,
                           .end = text + strlen(text),
                           .name = tmx_setting_keep(names, name_),
                           .line = 1,
                           .include = TMX_CONFIG_INCLUDE + 1};
        st = s.name ? tmx_utf8_check(text, strlen(text), name_, err) : tmx_no_memory(err);
        st = st ? st : mark_line(&s, err);
        st = st ? st : walk(&s, &nest, err);
    }
    if (!st && nest.depth > 0) {
        const struct tmx_config_place end = t->place[t->n_line - 1];
        st = tmx_fail_at(err, TMX_ECONFIG, end.file, end.line, "missing \"%c\" at the end",
                         nest.open[nest.depth]);
    }
    return st;
}

struct tmx_config_place tmx_config_text_place(const struct tmx_config_text *t, unsigned line)
{
    const size_t i = line > 0 ? line - 1 : 0;
    return t->place[i < t->n_line ? i : t->n_line - 1];
}

void tmx_config_text_finish(struct tmx_config_text *t)
{
    free(t->place);
    free(t->data);
}

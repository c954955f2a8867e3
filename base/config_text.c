/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _POSIX_C_SOURCE 200809L /* open_memstream */
#include "base/config_text.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"

enum { MAX_NUMBER = 400 };

/* One file (or text) while it is walked. The first error stays (t->st), and nothing is walked after it. */
struct source {
    struct tmx_config_text *t;
    const char *at, *end;
    const char *name; /* kept */
    unsigned line;
    int include; /* how many files this one is inside of */
};

#define fail_here(s, ...) fail_line((s), (s)->line, __VA_ARGS__)
#define fail_line(s, line_, ...) \
    ((s)->t->st =                \
         (s)->t->st ? (s)->t->st : tmx_fail_at((s)->t->err, TMX_ECONFIG, (s)->name, (line_), __VA_ARGS__))

static void put(struct source *s, const char *bytes, size_t n)
{
    struct tmx_config_text *t = s->t;
    t->size += n;
    if (t->size > TMX_CONFIG_SIZE) {
        fail_here(s, "the configuration is larger than %d MiB", TMX_CONFIG_SIZE >> 20);
    } else {
        fwrite(bytes, 1, n, t->text);
    }
}

/* The line of data that begins here is line s->line of its file. */
static void mark_line(const struct source *s)
{
    const struct tmx_config_place place = {s->name, s->line};
    fwrite(&place, sizeof place, 1, s->t->lines);
}

static void new_line(struct source *s)
{
    put(s, "\n", 1);
    s->line++;
    mark_line(s);
}

static bool starts(const struct source *s, const char *word)
{
    const size_t n = strlen(word);
    return (size_t)(s->end - s->at) >= n && memcmp(s->at, word, n) == 0;
}

/* Skip a comment if one begins here. */
static bool comment(struct source *s)
{
    if (*s->at == '#' || starts(s, "//")) {
        while (s->at < s->end && *s->at != '\n') {
            s->at++;
        }
        return true;
    }
    if (!starts(s, "/*")) {
        return false;
    }
    const unsigned begun = s->line;
    put(s, " ", 1);
    for (s->at += 2; s->at < s->end && !starts(s, "*/"); s->at++) {
        if (*s->at == '\n') {
            new_line(s);
        }
    }
    if (s->at >= s->end) {
        fail_line(s, begun, "a comment /* that is never closed");
    }
    s->at += 2;
    return true;
}

static void quoted(struct source *s)
{
    const char *begin = s->at++;
    for (; s->at < s->end && *s->at != '"' && *s->at != '\n'; s->at++) {
        if ((unsigned char)*s->at < ' ' && *s->at != '\t' && *s->at != '\r') {
            fail_here(s, "a control character (byte %d) in a text", (unsigned char)*s->at);
        }
        if (*s->at == '\\') {
            if (starts(s, "\\x00")) {
                fail_here(s, "\\x00 in a text");
            }
            s->at += s->at + 1 < s->end && s->at[1] != '\n';
        }
    }
    if (s->at >= s->end || *s->at == '\n') {
        fail_here(s, "a quote that is not closed on its line");
        return;
    }
    s->at++;
    if (s->at - begin > TMX_CONFIG_TEXT) {
        fail_here(s, "a text longer than %d bytes", TMX_CONFIG_TEXT);
    }
    put(s, begin, (size_t)(s->at - begin));
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
static void number(struct source *s)
{
    char word[MAX_NUMBER + 4];
    const char *begin = s->at;
    while (s->at < s->end && number_goes_on(begin, s->at)) {
        s->at++;
    }
    size_t n = (size_t)(s->at - begin);
    if (n > MAX_NUMBER) {
        fail_here(s, "a number of %zu characters", n);
        return;
    }
    memcpy(word, begin, n);
    word[n] = '\0';
    const size_t whole = integer_length(word);
    const struct tmx_span span = {word, word + n};
    double v;
    if (whole > 0) {
        word[whole] = '\0';
        errno = 0;
        (void)strtoll(word, NULL, word[1] == 'x' || word[1] == 'X' ? 16 : 10);
        if (errno == ERANGE) {
            fail_here(s, "%.60s does not fit in a 64-bit integer", word);
        }
        word[whole] = 'L';
        n = whole + 1;
    } else if (!tmx_span_real(span, &v)) {
        fail_here(s, "\"%.60s\" %s", word, tmx_span_real_fault(span));
    }
    put(s, word, n);
}

static void name(struct source *s)
{
    const char *begin = s->at;
    while (s->at < s->end && (isalnum((unsigned char)*s->at) || (*s->at && strchr("-_*", *s->at)))) {
        s->at++;
    }
    if (s->at - begin > TMX_CONFIG_NAME) {
        fail_here(s, "a name longer than %d bytes", TMX_CONFIG_NAME);
    }
    put(s, begin, (size_t)(s->at - begin));
}

static void mark(struct source *s)
{
    static const char open[] = "{([", close[] = "})]";
    struct tmx_config_text *t = s->t;
    const char c = *s->at++;
    const char *o = strchr(open, c);
    if (c == '=' || c == ':') {
        if (++t->keys[t->depth] > TMX_CONFIG_KEYS) {
            fail_here(s, "more than %d keys in one group", TMX_CONFIG_KEYS);
        }
    } else if (o && t->depth == TMX_CONFIG_DEPTH) {
        fail_here(s, "groups and lists nest deeper than %d", TMX_CONFIG_DEPTH);
    } else if (o) {
        t->open[++t->depth] = close[o - open];
        t->keys[t->depth] = 0;
    } else if (strchr(close, c)) {
        if (t->depth == 0 || t->open[t->depth] != c) {
            fail_here(s, "\"%c\" closes nothing%s%.1s%s", c, t->depth ? "; expected \"" : "",
                      t->depth ? &t->open[t->depth] : "", t->depth ? "\"" : "");
        } else {
            t->depth--;
        }
    }
    put(s, &c, 1);
}

static void walk(struct source *s);

static void read_file(struct tmx_config_text *t, const char *path, int include)
{
    struct tmx_text_file text;
    t->st = tmx_text_load(&text, path, t->err);
    if (t->st) {
        return;
    }
    struct source s = {.t = t,
                       .at = text.data,
                       .end = text.data + text.size,
                       .name = tmx_setting_keep(t->names, path),
                       .line = 1,
                       .include = include};
    const char *kind = include == 0 ? tmx_text_kind(&text, ",|;") : NULL; /* what is included may be a part */
    t->st = s.name ? tmx_utf8_check(text.data, text.size, path, t->err) : tmx_no_memory(t->err);
    if (kind) {
        fail_here(&s, "is %s; expected settings of libconfig, key = value; and key = { ... };", kind);
    }
    mark_line(&s);
    walk(&s); /* NOLINT(misc-no-recursion): TMX_CONFIG_INCLUDE at most */
    tmx_text_finish(&text);
}

/* @include "path" at the begin of a line. */
static void include(struct source *s)
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
    const int length = (int)(close - begin);
    if (s->at >= s->end || *s->at != '"' || close >= s->end || *close != '"' || length == 0) {
        fail_here(s, "expected @include \"FILE\"");
        return;
    }
    const char *slash = *begin == '/' ? NULL : strrchr(s->name, '/');
    const int folder = slash ? (int)(slash - s->name + 1) : 0;
    if ((size_t)snprintf(path, sizeof path, "%.*s%.*s", folder, s->name, length, begin) >= sizeof path) {
        fail_here(s, "@include: file name too long");
    } else if (s->include > TMX_CONFIG_INCLUDE) {
        fail_here(s, "@include \"%.*s\": only a file includes others, not a text or an override", length,
                  begin);
    } else if (s->include == TMX_CONFIG_INCLUDE) {
        fail_here(s, "@include \"%.*s\": files include one another deeper than %d; a loop?", length, begin,
                  TMX_CONFIG_INCLUDE);
    }
    put(s, "\n", 1); /* what is included begins a line of its own */
    if (s->t->st) {
        return;
    }
    s->at = close + 1;
    read_file(s->t, path, s->include + 1); /* NOLINT(misc-no-recursion): as above */
    if (s->t->st == TMX_EIO) {
        struct tmx_err inner = {0};
        if (s->t->err) {
            inner = *s->t->err;
        }
        s->t->st = TMX_OK;
        fail_here(s, "@include \"%s\": %s", path, inner.msg);
    }
    put(s, "\n", 1);
    mark_line(s); /* the rest of the line stands after what was included */
}

static void walk(struct source *s)
{
    bool first = true; /* nothing but blanks on this line so far */
    while (!s->t->st && s->at < s->end) {
        const char c = *s->at;
        if (c == '\n') {
            new_line(s);
            s->at++;
            first = true;
        } else if (comment(s)) {
            continue;
        } else if (first && starts(s, "@include")) {
            include(s); /* NOLINT(misc-no-recursion): TMX_CONFIG_INCLUDE at most */
        } else if (c == ' ' || c == '\t' || c == '\r' || c == '\f') {
            s->at++;
            put(s, " ", 1);
        } else {
            first = false;
            if (c == '"') {
                quoted(s);
            } else if (isalpha((unsigned char)c) || c == '*' || c == '_') {
                name(s);
            } else if (isdigit((unsigned char)c) || c == '+' || c == '-' || c == '.') {
                number(s);
            } else if (strchr("{}()[]=:;,", c)) {
                mark(s);
            } else {
                fail_here(s, "unexpected \"%.*s\"", (int)tmx_utf8_length(s->at, s->end), s->at);
            }
        }
    }
}

enum tmx_status tmx_config_text_read(struct tmx_config_text *t, struct tmx_setting *names, const char *path,
                                     const char *text, const char *name_, struct tmx_err *err)
{
    size_t size = 0, places = 0;
    char *lines = NULL;
    *t = (struct tmx_config_text){.names = names, .err = err};
    t->text = open_memstream(&t->data, &size);
    t->lines = open_memstream(&lines, &places);
    if (!t->text || !t->lines) {
        t->st = tmx_no_memory(err);
    } else if (path) {
        read_file(t, path, 0);
    } else {
        struct source s = {.t = t,
                           .at = text,
                           .end = text + strlen(text),
                           .name = tmx_setting_keep(names, name_),
                           .line = 1,
                           .include = TMX_CONFIG_INCLUDE + 1};
        t->st = s.name ? tmx_utf8_check(text, strlen(text), name_, err) : tmx_no_memory(err);
        mark_line(&s);
        walk(&s);
    }
    FILE *const streams[] = {t->text, t->lines};
    for (size_t i = 0; i < 2; i++) {
        const bool bad = streams[i] && ferror(streams[i]);
        if (streams[i] && (fclose(streams[i]) || bad)) {
            t->st = t->st ? t->st : tmx_no_memory(err);
        }
    }
    t->place = (void *)lines;
    t->n_line = places / sizeof *t->place;
    if (!t->st && t->depth > 0) {
        const struct tmx_config_place end = t->place[t->n_line - 1];
        t->st =
            tmx_fail_at(err, TMX_ECONFIG, end.file, end.line, "missing \"%c\" at the end", t->open[t->depth]);
    }
    return t->st;
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

/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/err.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <thermix/version.h>

static const struct {
    const char *text;
    int exit_code;
} rows[] = {
#define X(code, str, ec) [code] = {str, ec},
    TMX_STATUS_LIST(X)
#undef X
};

const char *tmx_status_text(enum tmx_status code)
{
    return rows[code].text;
}

int tmx_status_exit_code(enum tmx_status code)
{
    return rows[code].exit_code;
}

static void fill(struct tmx_err *err, enum tmx_status code, const char *file, unsigned line, const char *fmt,
                 va_list ap)
{
    if (!err) {
        return;
    }
    err->code = code;
    err->line = line;
    snprintf(err->file, sizeof err->file, "%s", file ? file : "");
    vsnprintf(err->msg, sizeof err->msg, fmt, ap);
}

enum tmx_status(tmx_fail)(struct tmx_err *err, enum tmx_status code, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    fill(err, code, NULL, 0, fmt, ap);
    va_end(ap);
    return code;
}

enum tmx_status(tmx_fail_at)(struct tmx_err *err, enum tmx_status code, const char *file, unsigned line,
                             const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    fill(err, code, file, line, fmt, ap);
    va_end(ap);
    return code;
}

void tmx_error(struct tmx_err *err, enum tmx_status code, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    if (!err->code) {
        fill(err, code, NULL, 0, fmt, ap);
    }
    va_end(ap);
}

void tmx_error_at(struct tmx_err *err, enum tmx_status code, const char *file, unsigned line, const char *fmt,
                  ...)
{
    va_list ap;
    va_start(ap, fmt);
    if (!err->code) {
        fill(err, code, file, line, fmt, ap);
    }
    va_end(ap);
}

enum tmx_status tmx_error_give(struct tmx_err *err, const struct tmx_err *own)
{
    if (own->code && err) {
        *err = *own;
    }
    return own->code;
}

enum tmx_status(tmx_no_memory)(struct tmx_err *err)
{
    return tmx_fail(err, TMX_ENOMEM, "out of memory");
}

void tmx_memory_check(bool there, struct tmx_err *err)
{
    if (!there) {
        tmx_error(err, TMX_ENOMEM, "out of memory");
    }
}

enum tmx_status tmx_fail_from(struct tmx_err *err, enum tmx_status code, const char *file, unsigned line,
                              const char *key)
{
    if (!err || err->line || !file || !*file || tmx_status_exit_code(code) != 2) {
        return code;
    }
    char why[sizeof err->file + sizeof err->msg + 8];
    tmx_err_format(err, why, sizeof why);
    snprintf(err->msg, sizeof err->msg, "%.128s%s%.*s", key, *key ? ": " : "", (int)sizeof err->msg - 160,
             why);
    snprintf(err->file, sizeof err->file, "%s", file);
    err->line = line;
    return code;
}

void tmx_text_visible(char *buf, size_t size)
{
    for (char *c = buf; *c; c++) {
        const unsigned char at = (unsigned char)*c;
        const bool high =
            at == 0xc2 && (unsigned char)c[1] >= 0x80 && (unsigned char)c[1] < 0xa0; /* U+0080 on */
        if (high) {
            c[0] = '^';
            c[1] = (char)((unsigned char)c[1] - 0x40); /* CSI, U+009B, as ESC [ is: ^[ */
            c++;
        } else if (at == 0x7f || (at < ' ' && at != '\n' && at != '\t')) {
            const size_t used = (size_t)(c - buf), rest = strlen(c + 1) + 1;
            const size_t room = size - used - 2, keep = rest < room ? rest : room;
            if (size < used + 3) {
                *c = '\0';
                return;
            }
            memmove(c + 2, c + 1, keep);
            c[1 + keep] = '\0';
            c[0] = '^';
            c[1] = at == 0x7f ? '?' : (char)(at + 0x40);
            c++;
        }
    }
}

void tmx_print_visible(FILE *out, const char *fmt, ...)
{
    char text[8192];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    tmx_text_visible(text, sizeof text);
    fputs(text, out);
}

void tmx_err_format(const struct tmx_err *err, char *buf, size_t size)
{
    const char *msg = err->msg[0] ? err->msg : tmx_status_text(err->code);
    if (err->file[0] && err->line && strncmp(err->file, "--", 2) != 0) { /* an option has no lines */
        snprintf(buf, size, "%s:%u: %s", err->file, err->line, msg);
    } else if (err->file[0]) {
        snprintf(buf, size, "%s: %s", err->file, msg);
    } else {
        snprintf(buf, size, "%s", msg);
    }
    tmx_text_visible(buf, size);
}

_Noreturn void tmx_assert_failed(const char *file, int line, const char *cond)
{
    fprintf(stderr, "%s:%d: internal error: %s\n", file, line, cond);
    abort();
}

void tmx_log_say(const struct tmx_log *log, enum tmx_log_level level, const char *fmt, ...)
{
    char text[2048];
    va_list ap;
    if (!log || !log->line) {
        return;
    }
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    tmx_text_visible(text, sizeof text);
    log->line(log->to, level, text);
}

#define TEXT(x)         #x
#define DOTTED(a, b, c) TEXT(a) "." TEXT(b) "." TEXT(c)

struct tmx_version tmx_version(void)
{
    return (struct tmx_version){TMX_VERSION_MAJOR, TMX_VERSION_MINOR, TMX_VERSION_PATCH, TMX_ABI,
                                DOTTED(TMX_VERSION_MAJOR, TMX_VERSION_MINOR, TMX_VERSION_PATCH)};
}

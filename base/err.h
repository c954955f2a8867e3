/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TMX_BASE_ERR_H
#define TMX_BASE_ERR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include <thermix/error.h>

/* What the inside of the program needs beside the public status and error record, and lines of a log. */

#define TMX_PRINTF(fmt, args) __attribute__((format(printf, fmt, args)))

const char *tmx_status_text(enum tmx_status code);

/* Exit code of a program that ends with this status: 0 ok, 1 failed, 2 bad input. */
int tmx_status_exit_code(enum tmx_status code);

/* Fill *err (may be NULL) and return code, so callers can `return tmx_fail(...)`. */
enum tmx_status tmx_fail(struct tmx_err *err, enum tmx_status code, const char *fmt, ...) TMX_PRINTF(3, 4);
enum tmx_status tmx_fail_at(struct tmx_err *err, enum tmx_status code, const char *file, unsigned line,
                            const char *fmt, ...) TMX_PRINTF(5, 6);

/* TMX_ENOMEM, "out of memory". */
enum tmx_status tmx_no_memory(struct tmx_err *err);

/* The same where memory was not there, as an error that stays. */
void tmx_memory_check(bool there, struct tmx_err *err);

/* Errors that stay: record one where none is recorded yet. A function that works this way returns its value,
 * nothing, or err->code, does nothing when *err holds an error already, and is never given NULL; who calls it
 * looks at err->code where a decision hangs on it. A public function does this in a record of its own, which
 * it hands over at its end: its user's may hold the error of an earlier call. */
void tmx_error(struct tmx_err *err, enum tmx_status code, const char *fmt, ...) TMX_PRINTF(3, 4);
void tmx_error_at(struct tmx_err *err, enum tmx_status code, const char *file, unsigned line, const char *fmt,
                  ...) TMX_PRINTF(5, 6);

/* Has err an error? err may be NULL. */
static inline bool tmx_failed(const struct tmx_err *err)
{
    return err && err->code;
}

/* The error of own, if it has one, becomes that of *err (may be NULL). Returns own's code. */
enum tmx_status tmx_error_give(struct tmx_err *err, const struct tmx_err *own);

/* A failure that has no line yet (a file that is not there, an unknown name, a table without the column) is
 * one of the place that asked for it: put `file:line: key: ` before its message. What is no fault of an input
 * stays as it is. Returns code. */
enum tmx_status tmx_fail_from(struct tmx_err *err, enum tmx_status code, const char *file, unsigned line,
                              const char *key);

/* Control characters but for line ends and tabs as ^[ and the like, in place, cut where that does not fit:
 * names come from files of others, and a terminal would obey them. */
void tmx_text_visible(char *buf, size_t size);

/* fprintf of what a person reads, with control characters made visible. */
void tmx_print_visible(FILE *out, const char *fmt, ...) TMX_PRINTF(2, 3);

#ifdef __clang_analyzer__ /* the analyzer must see that a failure returns its code */
#define tmx_fail(err, code, ...) ((void)(tmx_fail)((err), (code), __VA_ARGS__), (code))
#define tmx_fail_at(err, code, file, line, ...) \
    ((void)(tmx_fail_at)((err), (code), (file), (line), __VA_ARGS__), (code))
#define tmx_no_memory(err) ((void)(tmx_no_memory)(err), TMX_ENOMEM)
#endif

#ifdef __cplusplus
#define TMX_NORETURN [[noreturn]]
#else
#define TMX_NORETURN _Noreturn
#endif

/* A programmer's mistake: prints where and aborts. Always on. */
#define tmx_assert(cond) ((cond) ? (void)0 : tmx_assert_failed(__FILE__, __LINE__, #cond))
TMX_NORETURN void tmx_assert_failed(const char *file, int line, const char *cond);

/* Notes beside the results: lines to the caller's sink. */
enum tmx_log_level {
    TMX_LOG_INFO,
    TMX_LOG_WARNING,
    TMX_LOG_DETAIL,  /* with -v */
    TMX_LOG_PROGRESS /* of long work, in place of the line before; "": it has ended */
};

struct tmx_log {
    /* text has no newline and lives during the call only */
    void (*line)(void *to, enum tmx_log_level level, const char *text);
    void *to;
};

/* Format one line for log; silent when log is NULL. */
void tmx_log_say(const struct tmx_log *log, enum tmx_log_level level, const char *fmt, ...) TMX_PRINTF(3, 4);

#endif

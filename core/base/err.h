#ifndef TMX_CORE_BASE_ERR_H
#define TMX_CORE_BASE_ERR_H

#include <stddef.h>

/* Status codes and the error record that carries a message to the caller. */

#define TMX_NODISCARD         __attribute__((warn_unused_result))
#define TMX_PRINTF(fmt, args) __attribute__((format(printf, fmt, args)))

/* code, text, exit code of the program: 1 failed, 2 bad input */
#define TMX_STATUS_LIST(X)                      \
    X(TMX_OK, "ok", 0)                          \
    X(TMX_ENOMEM, "out of memory", 1)           \
    X(TMX_EIO, "cannot read or write file", 2)  \
    X(TMX_EPARSE, "malformed input", 2)         \
    X(TMX_ECONFIG, "bad configuration", 2)      \
    X(TMX_ERANGE, "value out of range", 2)      \
    X(TMX_ESOLVE, "solver failed", 1)           \
    X(TMX_ERUNAWAY, "thermal runaway", 1)       \
    X(TMX_EUNFINISHED, "work cannot finish", 1) \
    X(TMX_ESTOPPED, "stopped by the user", 1)   \
    X(TMX_EUNSUPPORTED, "not supported", 2)

enum tmx_status {
#define X(code, text, exit_code) code,
    TMX_STATUS_LIST(X)
#undef X
};

/* Zero-initialise. Written once, by the function that detects the error. */
struct tmx_err {
    enum tmx_status code;
    unsigned line;  /* line in the input file, 0 when none */
    char file[512]; /* input file, "" when none */
    char msg[1024];
};

const char *tmx_status_text(enum tmx_status code);

/* Exit code of a program that ends with this status: 0 ok, 1 failed, 2 bad input. */
int tmx_status_exit_code(enum tmx_status code);

/* Fill *err (may be NULL) and return code, so callers can `return tmx_fail(...)`. */
enum tmx_status tmx_fail(struct tmx_err *err, enum tmx_status code, const char *fmt, ...) TMX_PRINTF(3, 4);
enum tmx_status tmx_fail_at(struct tmx_err *err, enum tmx_status code, const char *file, unsigned line,
                            const char *fmt, ...) TMX_PRINTF(5, 6);

#ifdef __clang_analyzer__ /* the analyzer must see that a failure returns its code */
#define tmx_fail(err, code, ...) ((void)(tmx_fail)((err), (code), __VA_ARGS__), (code))
#define tmx_fail_at(err, code, file, line, ...) \
    ((void)(tmx_fail_at)((err), (code), (file), (line), __VA_ARGS__), (code))
#endif

/* Format "file:line: message" (parts that are empty are left out) into buf. */
void tmx_err_format(const struct tmx_err *err, char *buf, size_t size);

/* A programmer's mistake: prints where and aborts. Always on. */
#define tmx_assert(cond) ((cond) ? (void)0 : tmx_assert_failed(__FILE__, __LINE__, #cond))
_Noreturn void tmx_assert_failed(const char *file, int line, const char *cond);

#endif

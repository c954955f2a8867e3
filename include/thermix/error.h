/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef THERMIX_ERROR_H
#define THERMIX_ERROR_H

/* Status codes and the error record that carries a message to the caller. Every function of
 * libthermix that can fail returns a status and takes a struct tmx_err, which may be NULL. */

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define TMX_API       __attribute__((visibility("default"))) /* part of the library's border */
#define TMX_NODISCARD __attribute__((warn_unused_result))
#else
#define TMX_API
#define TMX_NODISCARD
#endif

/* code, text, exit code of a program that ends with it: 1 failed, 2 bad input */
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
    X(TMX_EUNSUPPORTED, "not supported", 2)     \
    X(TMX_EFULL, "no room for the output", 1)   \
    X(TMX_EPROGRAM, "another program failed", 1)

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

/* Write "file:line: message" (parts that are empty are left out) into buf [size bytes], ended
 * by a NUL, cut when it does not fit. */
TMX_API void tmx_err_format(const struct tmx_err *err, char *buf, size_t size);

#ifdef __cplusplus
}
#endif
#endif

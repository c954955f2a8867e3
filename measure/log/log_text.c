/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A log's bytes as text: gzip by zlib, UTF-16 (as Windows writes it) to UTF-8, no byte order mark. */
#define _POSIX_C_SOURCE 200809L
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "base/os.h"
#include "base/provenance.h"
#include "measure/log/collect.h"

enum { CHUNK = 1 << 16 };
static const size_t MOST = (size_t)1 << 29; /* a log of half a gigabyte is a mistake, or a gzip bomb */

static enum tmx_status slurp(gzFile in, struct tmx_text_file *t, struct tmx_err *err)
{
    size_t room = 0;
    for (;;) {
        if (room - t->size < CHUNK + 2) {
            room = room ? 2 * room : 4 * (size_t)CHUNK;
            char *data = realloc(t->data, room);
            if (!data || t->size > MOST) {
                t->data = data ? data : t->data;
                return data ? tmx_fail_at(err, TMX_EPARSE, t->name, 0, "more than %zu MB of text", MOST >> 20)
                            : tmx_fail_at(err, TMX_ENOMEM, t->name, 0, "out of memory");
            }
            t->data = data;
        }
        const int n = gzread(in, t->data + t->size, CHUNK);
        if (n < 0) {
            int code;
            const char *why = gzerror(in, &code);
            return tmx_fail_at(err, code == Z_ERRNO ? TMX_EIO : TMX_EPARSE, t->name, 0, "cannot read: %s",
                               code == Z_ERRNO ? strerror(errno) : why);
        }
        if (n == 0) {
            break;
        }
        t->size += (size_t)n;
    }
    t->data[t->size] = '\0';
    return TMX_OK;
}

static size_t put_utf8(char *to, unsigned code)
{
    if (code < 0x80) {
        to[0] = (char)code;
        return 1;
    }
    if (code < 0x800) {
        to[0] = (char)(0xC0 | code >> 6);
        to[1] = (char)(0x80 | (code & 0x3F));
        return 2;
    }
    to[0] = (char)(0xE0 | code >> 12);
    to[1] = (char)(0x80 | (code >> 6 & 0x3F));
    to[2] = (char)(0x80 | (code & 0x3F));
    return 3;
}

/* UTF-16 with its mark; halves of surrogate pairs become three bytes each, which no name here needs. */
static enum tmx_status from_utf16(struct tmx_text_file *t, bool big, struct tmx_err *err)
{
    char *text = malloc(t->size / 2 * 3 + 1);
    size_t n = 0;
    if (!text) {
        return tmx_fail_at(err, TMX_ENOMEM, t->name, 0, "out of memory");
    }
    for (size_t i = 2; i + 1 < t->size; i += 2) {
        const unsigned a = (unsigned char)t->data[i], b = (unsigned char)t->data[i + 1];
        n += put_utf8(text + n, big ? a << 8 | b : b << 8 | a);
    }
    text[n] = '\0';
    free(t->data);
    t->data = text;
    t->size = n;
    return TMX_OK;
}

/* Where UTF-16 ends and 8-bit text begins, as when another program appends to a log of PowerShell: units of
 * two ASCII bytes each, digits among them. The size when it does not. */
static size_t end_of_utf16(const struct tmx_text_file *t)
{
    enum { RUN = 16 };
    size_t n = 0, digits = 0;
    for (size_t i = 2; i + 1 < t->size; i += 2) {
        const unsigned char a = (unsigned char)t->data[i], b = (unsigned char)t->data[i + 1];
        const bool ascii = a >= '\t' && a < 0x7F && b >= '\t' && b < 0x7F;
        n = ascii ? n + 1 : 0;
        digits = ascii ? digits + (a >= '0' && a <= '9') + (b >= '0' && b <= '9') : 0;
        if (n == RUN && digits >= RUN / 2) {
            return i + 2 - 2 * (size_t)RUN;
        }
        n = n == RUN ? 0 : n;
        digits = n == 0 ? 0 : digits;
    }
    return t->size;
}

enum tmx_status tmx_log_decode(struct tmx_text_file *t, struct tmx_measured *m, struct tmx_err *err)
{
    enum tmx_status st = TMX_OK;
    const unsigned char *b = (const unsigned char *)t->data;
    if (t->size >= 2 && ((b[0] == 0xFF && b[1] == 0xFE) || (b[0] == 0xFE && b[1] == 0xFF))) {
        tmx_measured_note(m, "%s is UTF-16 text, as Windows PowerShell writes it: read as such", t->name);
        const bool big = b[0] == 0xFE;
        const size_t end = end_of_utf16(t);
        unsigned line = 1;
        for (size_t i = 2; i + 1 < end; i += 2) {
            line += t->data[i + big] == '\n' && t->data[i + !big] == '\0';
        }
        st = end == t->size
                 ? TMX_OK
                 : tmx_fail_at(err, TMX_EPARSE, t->name, line,
                               "UTF-16 text up to here, then 8-bit text: two programs wrote into one "
                               "file; make one encoding of it");
        st = st ? st : from_utf16(t, b[0] == 0xFE, err);
    } else if (t->size >= 3 && b[0] == 0xEF && b[1] == 0xBB && b[2] == 0xBF) {
        memmove(t->data, t->data + 3, t->size - 2);
        t->size -= 3;
    }
    if (!st) {
        /* The ends of lines of old Macs and of some loggers. */
        if (memchr(t->data, '\r', t->size) && !memchr(t->data, '\n', t->size)) {
            tmx_measured_note(m, "%s: its lines end in carriage returns: read as such", t->name);
            for (size_t i = 0; i < t->size; i++) {
                t->data[i] = t->data[i] == '\r' ? '\n' : t->data[i];
            }
        }
    }
    const char *nul = st || t->size == 0 ? NULL : memchr(t->data, '\0', t->size);
    if (nul) {
        unsigned line = 1;
        for (const char *c = t->data; c < nul; c++) {
            line += *c == '\n';
        }
        return tmx_fail_at(err, TMX_EPARSE, t->name, line,
                           "a NUL byte; expected a text log (or UTF-16 with its mark)");
    }
    return st;
}

enum tmx_status tmx_log_text(struct tmx_text_file *t, const char *path, struct tmx_measured *m,
                             struct tmx_err *err)
{
    *t = (struct tmx_text_file){0};
    snprintf(t->name, sizeof t->name, "%s", path);
    errno = 0;
    FILE *file = NULL; /* no FIFO, no endless device */
    enum tmx_status st = tmx_input_open(&file, path, err);
    if (st) {
        return st;
    }
    const int fd = file == stdin ? 0 : dup(fileno(file));
    gzFile in = fd >= 0 ? gzdopen(fd, "rb") : NULL;
    if (file != stdin) {
        fclose(file);
    }
    if (!in) {
        if (fd > 0) {
            close(fd);
        }
        return tmx_fail_at(err, TMX_EIO, path, 0, "cannot open: %s",
                           errno ? strerror(errno) : "out of memory");
    }
    st = slurp(in, t, err);
    const int closed = gzclose(in);
    if (!st && closed == Z_BUF_ERROR) {
        st = tmx_fail_at(err, TMX_EPARSE, path, 0, "the gzip file is cut short");
    }
    if (!st) {
        tmx_provenance_note(path, t->data, t->size);
    }
    return st ? st : tmx_log_decode(t, m, err);
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TMX_CORE_BASE_TEXT_H
#define TMX_CORE_BASE_TEXT_H

/* Text files read whole, walked line by line with line numbers; lossless reals. */

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "core/base/err.h"

struct tmx_text_file {
    char *data; /* [size + 1] owned, NUL-terminated; NUL bytes inside are rejected at load */
    size_t size;
    char name[512]; /* as given, for messages */
};

struct tmx_span { /* a piece of the text, not NUL-terminated */
    const char *begin, *end;
};

struct tmx_lines { /* zero-initialise, then tmx_lines_next */
    const char *next;
    struct tmx_span line; /* without its \n or \r\n */
    unsigned number;      /* 1-based */
};

/* Read the file at path ("-" is standard input) whole, without a UTF-8 byte-order mark, and note it as
 * an input (inputs.h). What tmx_input_open (os.h) refuses, UTF-16 and files holding a NUL byte are errors
 * (TMX_EIO, TMX_EPARSE). Release with tmx_text_finish, which accepts zeroed memory. */
TMX_NODISCARD enum tmx_status tmx_text_load(struct tmx_text_file *t, const char *path, struct tmx_err *err);
/* The bytes as they are, for files that may be binary; then tmx_text_accept checks that they are text. */
TMX_NODISCARD enum tmx_status tmx_text_load_bytes(struct tmx_text_file *t, const char *path,
                                                  struct tmx_err *err);
TMX_NODISCARD enum tmx_status tmx_text_accept(struct tmx_text_file *t, struct tmx_err *err);
void tmx_text_finish(struct tmx_text_file *t);

/* Step to the next line; a last line without its newline counts. False at the end. */
bool tmx_lines_next(struct tmx_lines *l, const struct tmx_text_file *t);

/* The same, skipping blank lines and comments (first non-blank character `#`). */
bool tmx_lines_next_filled(struct tmx_lines *l, const struct tmx_text_file *t);

/* Split off the first blank-separated field of *rest; false when none is left. */
bool tmx_span_field(struct tmx_span *rest, struct tmx_span *field);

size_t tmx_span_length(struct tmx_span s);
/* Its letters as a text of its own, to be freed; NULL without memory. */
char *tmx_span_dup(struct tmx_span s);
char *tmx_text_dup(const char *s);
/* Case-insensitive (ASCII) equality with a NUL-terminated word. */
bool tmx_span_is(struct tmx_span s, const char *word);
/* Copy into buf[size], NUL-terminated; false when it does not fit. */
bool tmx_span_copy(struct tmx_span s, char *buf, size_t size);

/* Whole span as a finite decimal number in the C locale ("1,5", "nan", "inf",
 * "0x10" and overflow are refused). Writes *v and returns true, or false. */
bool tmx_span_real(struct tmx_span s, double *v);

/* Why tmx_span_real refuses s, as words for a message: "is not a number", ... */
const char *tmx_span_real_fault(struct tmx_span s);

/* For "%.*s": the characters of s, at most 60. */
#define TMX_SPAN_ARG(s) (int)(tmx_span_length(s) < 60 ? tmx_span_length(s) : 60), (s).begin

/* Length of the UTF-8 sequence that begins at p, 0 when there is none. */
size_t tmx_utf8_length(const char *p, const char *end);
/* TMX_ECONFIG with the line of the first byte that is not UTF-8. */
TMX_NODISCARD enum tmx_status tmx_utf8_check(const char *data, size_t size, const char *name,
                                             struct tmx_err *err);

/* Case-insensitive (ASCII) comparison: 0 when equal, else the order of the lowered words. */
int tmx_word_compare(const char *a, const char *b);

enum { TMX_REAL_SIZE = 32 };
/* Shortest of %.15g, %.16g, %.17g that reads back equal. */
void tmx_real_print(char buf[TMX_REAL_SIZE], double v);

/* Control characters but for line ends and tabs as ^[ and the like, in place, cut where that does not fit:
 * names come from files of others, and a terminal would obey them. */
void tmx_text_visible(char *buf, size_t size);

/* Letters of UTF-8. */
size_t tmx_text_letters(const char *s);
/* The words of s and a line's end, on lines that stop before `width` letters (0: one line); the first begins
 * where `indent` letters have been printed, the others behind as many blanks. */
void tmx_text_wrap(const char *s, size_t indent, size_t width, FILE *out);

/* Lines typed to a shell, each after indent blanks and, where it is longer than width, going on below behind
 * a backslash; it breaks at blanks outside quotes. */
void tmx_text_commands(const char *lines, size_t indent, size_t width, FILE *out);

#endif

/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TMX_BASE_TEXT_H
#define TMX_BASE_TEXT_H

/* Text files read whole, walked line by line with line numbers; lossless reals. */

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "base/err.h"

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
 * an input (provenance.h). What tmx_input_open (os.h) refuses, UTF-16 and files holding a NUL byte are errors
 * (TMX_EIO, TMX_EPARSE), which stay (base/err.h). Release with tmx_text_finish, which accepts zeroed
 * memory. */
enum tmx_status tmx_text_load(struct tmx_text_file *t, const char *path, struct tmx_err *err);
/* The bytes as they are, for files that may be binary. */
TMX_NODISCARD enum tmx_status tmx_text_load_bytes(struct tmx_text_file *t, const char *path,
                                                  struct tmx_err *err);
/* The mark goes, and lines that end in \r alone, as those of old Macs, end in \n; the errors of
 * tmx_text_load. */
TMX_NODISCARD enum tmx_status tmx_text_clean(struct tmx_text_file *t, struct tmx_err *err);
void tmx_text_finish(struct tmx_text_file *t);

/* What the beginning of a text shows it to be: "JSON", ...; NULL: none of those that thermix does not read.
 * separators: those of the reader's columns, of ",|;". */
const char *tmx_text_kind(const struct tmx_text_file *t, const char *separators);
/* Where a reader failed on a text of such a kind, the error says which: "is JSON; expected EXPECTED". Returns
 * st. */
enum tmx_status tmx_text_locate(enum tmx_status st, const struct tmx_text_file *t, const char *separators,
                                const char *expected, struct tmx_err *err);

/* Step to the next line; a last line without its newline counts. False at the end. */
bool tmx_lines_next(struct tmx_lines *l, const struct tmx_text_file *t);

/* The same, skipping blank lines and comments (first non-blank character `#`). */
bool tmx_lines_next_filled(struct tmx_lines *l, const struct tmx_text_file *t);

/* Split off the first blank-separated field of *rest; false when none is left. */
bool tmx_span_field(struct tmx_span *rest, struct tmx_span *field);
/* The same of fields between commas, without the blanks around them; *rest begins as the whole line, and has
 * begin NULL behind the last field. */
bool tmx_span_cell(struct tmx_span *rest, struct tmx_span *cell);
/* Is this line's text one of columns between commas, not blanks? */
bool tmx_span_is_cells(struct tmx_span line);

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

/* Does s, which is longer, end so? */
bool tmx_text_ends(const char *s, const char *end);
/* What is behind the last such letter, of a path or a key; all of s without one. */
const char *tmx_text_behind(const char *s, char letter);
/* As tmx_span_real, of a whole text. */
bool tmx_text_real(const char *s, double *v);
/* For qsort of doubles and of texts, const char *. */
int tmx_real_compare(const void *a, const void *b);
int tmx_text_compare(const void *a, const void *b);

/* Case-insensitive (ASCII) comparison: 0 when equal, else the order of the lowered words. */
int tmx_word_compare(const char *a, const char *b);

enum { TMX_REAL_SIZE = 32 };
/* Shortest of %.15g, %.16g, %.17g that reads back equal. Returns buf. */
const char *tmx_real_print(char buf[TMX_REAL_SIZE], double v);
#define TMX_REAL_TEXT(v) tmx_real_print((char[TMX_REAL_SIZE]){0}, (v)) /* until the block ends */

/* Reads "45C", "45degC" or "318.15K", a temperature as people type it, in degC. */
bool tmx_celsius_read(const char *text, double *celsius);

struct tmx_moment {
    long day; /* of the civil calendar */
    double s; /* of that day */
    bool zoned;
    int zone_min; /* east of UTC, where a zone is written */
};
/* "2023-11-16 18:17:03.98" (or T between), and a zone or none: Z, UTC, +01, +0100, +01:00. Two digits each, a
 * day that its month has, and nothing behind; false else. */
bool tmx_moment_read(const char *text, struct tmx_moment *m);
/* Seconds from one to another, by their clocks. */
double tmx_moment_since(const struct tmx_moment *m, const struct tmx_moment *from);

/* The number of so many decimal digits that is nearest to v. */
double tmx_real_round(double v, int digits);

/* Letters of UTF-8. */
size_t tmx_text_letters(const char *s);

/* Behind what is there, cut where it does not fit. */
void tmx_text_add(char *text, size_t size, const char *fmt, ...) TMX_PRINTF(3, 4);

/* "s" behind a noun of which there are n, "" of one. */
const char *tmx_plural(size_t n);
/* The words of s and a line's end, on lines that stop before `width` letters (0: one line); the first begins
 * where `indent` letters have been printed, the others behind as many blanks. Behind half of the line a word
 * that is longer than what is left is broken. */
void tmx_text_wrap(const char *s, size_t indent, size_t width, FILE *out);

/* Lines typed to a shell, each after indent blanks and, where it is longer than width, going on below behind
 * a backslash; it breaks at blanks outside quotes. */
void tmx_text_commands(const char *lines, size_t indent, size_t width, FILE *out);

/* Look-up by name, and what to tell who has written one that does not exist. */

/* Is word, not "", one of the words that blanks separate? */
bool tmx_words_have(const char *words, const char *word);

/* Index of word among names[0 .. n); n when it is not there. */
size_t tmx_names_find(const char *word, const char *const *names, size_t n);

/* The one of names[0 .. n) nearest to word in edit distance; NULL when none is near. */
const char *tmx_suggest_nearest(const char *word, const char *const *names, size_t n);

enum { TMX_HINT_SIZE = 512 };

/* What follows `unknown thing "word"`: `, did you mean "near"?`, or where none is near `; there is a, b, c`
 * (cut with ", ..." where it is long), or nothing where there is no name at all. Returns hint. */
const char *tmx_suggest(char hint[TMX_HINT_SIZE], const char *word, const char *const *names, size_t n);

/* `a, b, c` into text, cut with ", ..." where it is longer than size. Returns text. */
const char *tmx_names_list(char *text, size_t size, const char *const *names, size_t n);

/* Files that files name: a relative name is relative to the file that contains it and, where that leads to
 * nothing, to the current folder. This is where a name in the file `from` leads, into path; a
 * name of the command line ("--set ...") or of no file (NULL) is relative to the current folder alone. False
 * when nothing is there (path is then the first place) or path is too short. */
bool tmx_beside(const char *from, const char *name, char *path, size_t size);
/* The places that tmx_beside looks at, "a/x.cfg, x.cfg", for messages. Returns buf. */
const char *tmx_beside_places(const char *from, const char *name, char *buf, size_t size);

#endif

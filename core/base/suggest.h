/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TMX_CORE_BASE_SUGGEST_H
#define TMX_CORE_BASE_SUGGEST_H

/* Look-up by name, and what to tell who has written one that does not exist. */

#include <stdbool.h>
#include <stddef.h>

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

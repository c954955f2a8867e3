/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TMX_BASE_PROVENANCE_H
#define TMX_BASE_PROVENANCE_H

/* Which files were read, and their contents.
 *
 * Every input passes one of two doors: tmx_text_load (text.h) notes a file's content, and a reader with a
 * format of its own (a database) calls tmx_provenance_note. Both note in every recorder that is open on this
 * thread. So a run's identity covers each file that it reads and no command can write over what it has read
 * (tmx_output_open asks tmx_provenance_hold), for every reader alike. The list of open recorders is the one
 * variable of this library that is not passed as an argument: a parameter can be forgotten, and then a file
 * is missing from the identity. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"

/* 128-bit content hash (XXH3) for cache keys and run ids. */
enum { TMX_HASH_HEX = 33 }; /* 32 hex digits and the NUL */

struct tmx_hash;

TMX_NODISCARD enum tmx_status tmx_hash_create(struct tmx_hash **h, struct tmx_err *err);
void tmx_hash_add(struct tmx_hash *h, const void *data, size_t size);
void tmx_hash_add_text(struct tmx_hash *h, const char *text); /* with its NUL, so "ab","c" != "a","bc" */
void tmx_hash_hex(const struct tmx_hash *h, char hex[TMX_HASH_HEX]);
void tmx_hash_destroy(struct tmx_hash *h);
/* Of a file's bytes. The file is not noted as an input. */
TMX_NODISCARD enum tmx_status tmx_hash_file(const char *path, char hex[TMX_HASH_HEX], struct tmx_err *err);

struct tmx_provenance { /* zero-initialise */
    struct tmx_input {
        const char *path;        /* as opened */
        uint64_t device, node;   /* of the file; 0, 0 for standard input */
        char hash[TMX_HASH_HEX]; /* of the content; "" when only the name was noted */
    } * file;                    /* [n_file] in the order of reading, each once */
    size_t n_file;
    struct tmx_arena arena; /* of these; failed: one is missing */
    struct tmx_provenance *outer;
};

/* Note what this thread reads from now on; recorders nest. */
void tmx_provenance_begin(struct tmx_provenance *i);
void tmx_provenance_end(struct tmx_provenance *i); /* the one begun last */
void tmx_provenance_finish(struct tmx_provenance *i);

/* data NULL: only the name; what is in the file is in the identity by other means. */
void tmx_provenance_note(const char *path, const void *data, size_t size);

/* Add the contents, in the order of reading, to a hash. Paths stay out: a copy elsewhere is the same input.
 */
TMX_NODISCARD enum tmx_status tmx_provenance_hash(const struct tmx_provenance *i, struct tmx_hash *h,
                                                  struct tmx_err *err);

/* Read without a note, for what is read to be replaced: no recorder is open until resume. */
struct tmx_provenance *tmx_provenance_pause(void);
void tmx_provenance_resume(struct tmx_provenance *i);
/* The file at path is about to go: another file may have its number then, and is none that was read. */
void tmx_provenance_forget(const char *path);

/* Has a recorder that is open now seen the file at path? */
bool tmx_provenance_hold(const char *path);

#endif

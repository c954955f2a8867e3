/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TMX_BASE_ARENA_H
#define TMX_BASE_ARENA_H

/* Arrays that live as long as an object: taken one after another when it is made, freed together. A request
 * that cannot be met is remembered, so that one look at `failed` after the last is enough:
 *
 *     TMX_TAKE(&m->arena, m->job, m->n_job);
 *     TMX_TAKE_REALS(&m->arena, m->n_gpu, &m->speed, &m->volt);
 *     if (m->arena.failed) { destroy and report }
 *
 * Every array is an allocation of its own, so that a sanitizer knows where it ends. */

#include <stdbool.h>

#include "base/err.h"

struct tmx_arena {
    struct tmx_arena_block *last; /* owned */
    bool failed;
};

/* n * size zeroed bytes, which may be none. NULL: no memory, or an earlier request failed. */
void *tmx_arena_take(struct tmx_arena *a, size_t n, size_t size);
#define TMX_TAKE(arena, pointer, n) ((pointer) = tmx_arena_take((arena), (n), sizeof *(pointer)))
/* Arrays of n doubles each, by the addresses of their pointers. */
#define TMX_TAKE_REALS(arena, n, ...) \
    tmx_arena_take_reals((arena), (n), (double **const[]){__VA_ARGS__, NULL})
void tmx_arena_take_reals(struct tmx_arena *a, size_t n, double **const *array); /* NULL-terminated */
char *tmx_arena_text(struct tmx_arena *a, const char *text);                     /* a copy */

/* n letters as a text of its own. */
char *tmx_arena_letters(struct tmx_arena *a, const char *text, size_t n);

/* Make room for one more in a list of n: at 0, 1, 2, 4, ... it doubles. False without memory, then and ever
 * after. */
bool tmx_arena_grow(struct tmx_arena *a, void **list, size_t n, size_t size);
#define TMX_GROW(arena, list, n) tmx_arena_grow((arena), (void **)&(list), (n), sizeof *(list))

/* TMX_ENOMEM where a request could not be met: an error that stays (base/err.h). */
void tmx_arena_check(const struct tmx_arena *a, struct tmx_err *err);

void tmx_arena_clear(struct tmx_arena *a);  /* all arrays are zero again */
void tmx_arena_finish(struct tmx_arena *a); /* accepts zeroed memory */

#endif

/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/arena.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

struct tmx_arena_block {
    struct tmx_arena_block *before;
    unsigned char *data;
    size_t size, count; /* bytes; which of the arena */
};

/* Large arrays begin at different places of a page: loads and stores at equal places of two pages are taken
 * for the same address by x86 processors at first, and wait for one another. */
enum { LARGE = 1 << 16, LINE = 64, N_LINE = 32 };

void *tmx_arena_take(struct tmx_arena *a, size_t n, size_t size)
{
    const size_t count = a->last ? a->last->count + 1 : 0;
    if (a->failed || n > (SIZE_MAX / 2) / size) {
        a->failed = true;
        return NULL;
    }
    const size_t shift = n * size >= LARGE ? LINE * (count % N_LINE) : 0;
    struct tmx_arena_block *b = calloc(1, sizeof *b + shift + n * size);
    if (!b) {
        a->failed = true;
        return NULL;
    }
    *b = (struct tmx_arena_block){a->last, (unsigned char *)(b + 1) + shift, n * size, count};
    a->last = b;
    return b->data;
}

void tmx_arena_take_reals(struct tmx_arena *a, size_t n, double **const *array)
{
    for (; *array; array++) {
        TMX_TAKE(a, **array, n);
    }
}

char *tmx_arena_text(struct tmx_arena *a, const char *text)
{
    const size_t n = strlen(text) + 1;
    char *copy = tmx_arena_take(a, n, 1);
    return copy ? memcpy(copy, text, n) : NULL;
}

char *tmx_arena_letters(struct tmx_arena *a, const char *text, size_t n)
{
    char *own = tmx_arena_take(a, n + 1, 1);
    return own ? memcpy(own, text, n) : NULL;
}

bool tmx_arena_grow(struct tmx_arena *a, void **list, size_t n, size_t size)
{
    void *p = (n & (n - 1)) == 0 ? tmx_arena_take(a, n ? 2 * n : 1, size) : NULL;
    if (p) {
        memcpy(p, n ? *list : p, n * size);
        *list = p;
    }
    return !a->failed;
}

void tmx_arena_check(const struct tmx_arena *a, struct tmx_err *err)
{
    tmx_memory_check(!a->failed, err);
}

void tmx_arena_clear(struct tmx_arena *a)
{
    for (struct tmx_arena_block *b = a->last; b; b = b->before) {
        memset(b->data, 0, b->size);
    }
}

void tmx_arena_finish(struct tmx_arena *a)
{
    while (a->last) {
        struct tmx_arena_block *b = a->last;
        a->last = b->before;
        free(b);
    }
    a->failed = false;
}

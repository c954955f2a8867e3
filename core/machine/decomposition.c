/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "core/machine/decomposition.h"
#include "base/arena.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

struct tmx_decomposition {
    struct tmx_arena arena; /* of the arrays of ranks */
    struct tmx_ranks ranks;
    size_t *first[TMX_N_OF]; /* [size + 1] where the part of each rank begins */
    int *count, *at;         /* [size] bytes of each rank in an exchange, and where they begin */
    unsigned char *all;
    size_t n_all; /* bytes there is room for */
};

enum tmx_status tmx_decomposition_create(struct tmx_decomposition **out, const struct tmx_ranks *ranks,
                                         const struct tmx_machine *m, struct tmx_err *err)
{
    const size_t n = ranks->size;
    if (n > m->n_gpu) {
        return tmx_fail(err, TMX_ECONFIG, "%zu MPI ranks for %zu GPU%s: expected one rank a GPU, at most", n,
                        m->n_gpu, m->n_gpu == 1 ? "" : "s");
    }
    struct tmx_decomposition *s = calloc(1, sizeof *s);
    for (size_t of = 0; of < TMX_N_OF && s; of++) {
        TMX_TAKE(&s->arena, s->first[of], n + 1);
    }
    if (!s || !TMX_TAKE(&s->arena, s->count, n) || !TMX_TAKE(&s->arena, s->at, n)) {
        tmx_decomposition_destroy(s);
        return tmx_no_memory(err);
    }
    s->ranks = *ranks;
    for (size_t r = 0; r <= n; r++) {
        const size_t g = r * m->n_gpu / n;
        s->first[TMX_OF_RANK][r] = r;
        s->first[TMX_OF_GPU][r] = g;
        s->first[TMX_OF_SM][r] = g < m->n_gpu ? m->gpu[g].sm0 : m->n_sm;
        s->first[TMX_OF_UNIT][r] = g < m->n_gpu ? m->gpu[g].unit0 : m->n_unit;
    }
    *out = s;
    return TMX_OK;
}

void tmx_decomposition_destroy(struct tmx_decomposition *s)
{
    if (s) {
        tmx_arena_finish(&s->arena);
        free(s->all);
        free(s);
    }
}

const struct tmx_ranks *tmx_decomposition_ranks(const struct tmx_decomposition *s)
{
    return &s->ranks;
}

struct tmx_gpus tmx_decomposition_own(const struct tmx_decomposition *s, size_t n_gpu)
{
    return s ? (struct tmx_gpus){s->first[TMX_OF_GPU][s->ranks.rank], s->first[TMX_OF_GPU][s->ranks.rank + 1]}
             : (struct tmx_gpus){0, n_gpu};
}

/* A part of more bytes in all is exchanged where it stands, the others in one message. */
enum { LARGE = 16384 };

static size_t bytes(const struct tmx_decomposition *s, const struct tmx_decomposition_part *part, size_t r,
                    size_t end)
{
    return (s->first[part->of][end] - s->first[part->of][r]) * part->size;
}

static bool large(const struct tmx_decomposition *s, const struct tmx_decomposition_part *part)
{
    return bytes(s, part, 0, s->ranks.size) > LARGE;
}

/* What each rank gives, in `count` and `at`, of the parts that are large, or of those that are not; bytes of
 * all. */
static size_t measure(struct tmx_decomposition *s, const struct tmx_decomposition_part *part, size_t n_part,
                      bool of_large, struct tmx_err *err)
{
    size_t total = 0;
    for (size_t r = 0; r < s->ranks.size; r++) {
        size_t n = 0;
        for (size_t i = 0; i < n_part; i++) {
            n += large(s, &part[i]) == of_large ? bytes(s, &part[i], r, r + 1) : 0;
        }
        if (n > INT_MAX - total) {
            tmx_error(err, TMX_EUNSUPPORTED, "ranks exchange more than %d bytes at once: too many GPUs",
                      INT_MAX);
            return 0;
        }
        s->count[r] = (int)n;
        s->at[r] = (int)total;
        total += n;
    }
    return total;
}

/* What rank r has of the small parts, to or from its place in `all`. */
static void copy(const struct tmx_decomposition *s, const struct tmx_decomposition_part *part, size_t n_part,
                 size_t r, bool out)
{
    unsigned char *buf = s->all + s->at[r];
    for (size_t i = 0; i < n_part; i++) {
        const size_t n = large(s, &part[i]) ? 0 : bytes(s, &part[i], r, r + 1);
        unsigned char *own = (unsigned char *)part[i].array + s->first[part[i].of][r] * part[i].size;
        if (n > 0) {
            memcpy(out ? buf : own, out ? own : buf, n);
        }
        buf += n;
    }
}

void tmx_decomposition_exchange(struct tmx_decomposition *s, const struct tmx_decomposition_part *part,
                                size_t n_part, struct tmx_err *err)
{
    for (size_t i = 0; i < n_part; i++) {
        if (large(s, &part[i]) && measure(s, &part[i], 1, true, err) > 0 && !err->code) {
            s->ranks.gather(s->ranks.ctx, part[i].array, s->count, s->at, err);
        }
    }
    const size_t total = err->code ? 0 : measure(s, part, n_part, false, err); /* of the small ones */
    if (total > s->n_all) {
        unsigned char *more = realloc(s->all, total);
        if (!more) {
            tmx_error(err, TMX_ENOMEM, "%zu bytes that ranks exchange", total);
            return;
        }
        s->all = more;
        s->n_all = total;
    }
    if (total > 0) {
        copy(s, part, n_part, s->ranks.rank, true);
        s->ranks.gather(s->ranks.ctx, s->all, s->count, s->at, err);
    }
    for (size_t r = 0; r < s->ranks.size && total > 0 && !err->code; r++) {
        if (r != s->ranks.rank) {
            copy(s, part, n_part, r, false);
        }
    }
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "limits/lp_cache.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/hash.h"

enum { MOST = 256 }; /* kept; then the oldest goes */

struct entry {
    char id[TMX_HASH_HEX];
    double objective, *value; /* [n_col + n_row] x, then dual; owned */
};

struct tmx_lp_cache {
    struct entry entry[MOST];
    size_t n_new;
};

enum tmx_status tmx_lp_cache_create(struct tmx_lp_cache **s, struct tmx_err *err)
{
    *s = calloc(1, sizeof **s);
    return *s ? TMX_OK : tmx_fail(err, TMX_ENOMEM, "programmes solved");
}

void tmx_lp_cache_destroy(struct tmx_lp_cache *s)
{
    for (size_t i = 0; s && i < MOST; i++) {
        free(s->entry[i].value);
    }
    free(s);
}

/* All that the solver sees. */
static enum tmx_status id_of(const struct tmx_lp *lp, char id[TMX_HASH_HEX], struct tmx_err *err)
{
    struct tmx_hash *h = NULL;
    const size_t real = sizeof(double), n[] = {lp->n_col, lp->n_row, lp->n_entry};
    const enum tmx_status st = tmx_hash_create(&h, err);
    if (st) {
        return st;
    }
    tmx_hash_add(h, n, sizeof n);
    tmx_hash_add(h, lp->cost, lp->n_col * real);
    tmx_hash_add(h, lp->lo, lp->n_col * real);
    tmx_hash_add(h, lp->hi, lp->n_col * real);
    tmx_hash_add(h, lp->rhs, lp->n_row * real);
    tmx_hash_add(h, lp->equal, lp->n_row * sizeof *lp->equal);
    tmx_hash_add(h, lp->start, (lp->n_row + 1) * sizeof *lp->start);
    tmx_hash_add(h, lp->col, lp->n_entry * sizeof *lp->col);
    tmx_hash_add(h, lp->val, lp->n_entry * real);
    tmx_hash_hex(h, id);
    tmx_hash_destroy(h);
    return TMX_OK;
}

static const struct entry *find(const struct tmx_lp_cache *s, const char *id)
{
    for (size_t i = 0; i < MOST; i++) {
        if (strcmp(s->entry[i].id, id) == 0) {
            return &s->entry[i];
        }
    }
    return NULL;
}

static enum tmx_status solve(struct tmx_lp_cache *s, const struct tmx_lp *lp, const char *id,
                             const struct entry **found, struct tmx_err *err)
{
    struct entry new, *slot = &s->entry[s->n_new % MOST];
    memcpy(new.id, id, sizeof new.id);
    new.value = malloc((lp->n_col + lp->n_row) * sizeof *new.value);
    enum tmx_status st = new.value ? TMX_OK : tmx_fail(err, TMX_ENOMEM, "programme of %zu rows", lp->n_row);
    st = st ? st : tmx_lp_solve(lp, new.value, new.value + lp->n_col, &new.objective, err);
    if (st) {
        free(new.value);
        return st;
    }
    free(slot->value);
    *slot = new;
    *found = slot;
    s->n_new++;
    return TMX_OK;
}

enum tmx_status tmx_lp_cache_lp(struct tmx_lp_cache *s, const struct tmx_lp *lp, double *x, double *dual,
                                double *objective, struct tmx_err *err)
{
    char id[TMX_HASH_HEX];
    enum tmx_status st = tmx_lp_check(lp, err);
    if (st || !s) {
        return st ? st : tmx_lp_solve(lp, x, dual, objective, err);
    }
    st = id_of(lp, id, err);
    if (st) {
        return st;
    }
    const struct entry *e = find(s, id);
    st = e ? TMX_OK : solve(s, lp, id, &e, err);
    if (st) {
        return st;
    }
    memcpy(dual, e->value + lp->n_col, lp->n_row * sizeof *dual);
    if (x) {
        memcpy(x, e->value, lp->n_col * sizeof *x);
    }
    *objective = e->objective;
    return TMX_OK;
}

size_t tmx_lp_cache_new(const struct tmx_lp_cache *s)
{
    return s->n_new;
}

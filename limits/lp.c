/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "limits/lp.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/provenance.h"

/* Of the sum in tmx_lp_bound, far above what long double loses there and what a solver in double may claim
 * too much: the bound is rounded up. */
static const double ROUND_OFF = 1e-13;

enum tmx_status tmx_lp_init(struct tmx_lp *lp, size_t n_col, struct tmx_err *err)
{
    *lp = (struct tmx_lp){.n_col = n_col};
    TMX_TAKE(&lp->arena, lp->cost, n_col);
    TMX_TAKE(&lp->arena, lp->lo, n_col);
    TMX_TAKE(&lp->arena, lp->hi, n_col);
    if (!TMX_GROW(&lp->arena, lp->start, 0)) {
        return tmx_fail(err, TMX_ENOMEM, "linear programme of %zu columns", n_col);
    }
    for (size_t j = 0; j < n_col; j++) {
        lp->hi[j] = 1;
    }
    return TMX_OK;
}

void tmx_lp_finish(struct tmx_lp *lp)
{
    tmx_arena_finish(&lp->arena);
    *lp = (struct tmx_lp){0};
}

size_t tmx_lp_row(struct tmx_lp *lp, double rhs, bool equal)
{
    const size_t row = lp->n_row;
    if (!TMX_GROW(&lp->arena, lp->rhs, row) || !TMX_GROW(&lp->arena, lp->equal, row) ||
        !TMX_GROW(&lp->arena, lp->start, row + 1)) {
        return 0;
    }
    lp->n_row++;
    lp->rhs[row] = rhs;
    lp->equal[row] = equal;
    lp->start[row + 1] = lp->n_entry;
    return row;
}

void tmx_lp_add(struct tmx_lp *lp, size_t col, double val)
{
    tmx_assert(col < lp->n_col);
    if (val == 0 || !TMX_GROW(&lp->arena, lp->col, lp->n_entry) ||
        !TMX_GROW(&lp->arena, lp->val, lp->n_entry)) {
        return;
    }
    lp->col[lp->n_entry] = col;
    lp->val[lp->n_entry] = val;
    lp->start[lp->n_row] = ++lp->n_entry;
}

enum tmx_status tmx_lp_check(const struct tmx_lp *lp, struct tmx_err *err)
{
    return lp->arena.failed ? tmx_fail(err, TMX_ENOMEM, "linear programme of %zu rows", lp->n_row) : TMX_OK;
}

double tmx_lp_bound(const struct tmx_lp *lp, const double *dual, double *reduced)
{
    long double sum = 0, size = 0;
    long double *r = malloc(lp->n_col * sizeof *r);
    if (!r) {
        return INFINITY; /* true of every optimum */
    }
    for (size_t j = 0; j < lp->n_col; j++) {
        r[j] = lp->cost[j];
    }
    for (size_t i = 0; i < lp->n_row; i++) {
        const double d = lp->equal[i] || dual[i] > 0 ? dual[i] : 0;
        sum += (long double)d * lp->rhs[i];
        size += fabsl((long double)d * lp->rhs[i]);
        for (size_t e = lp->start[i]; e < lp->start[i + 1]; e++) {
            r[lp->col[e]] -= (long double)d * lp->val[e];
        }
    }
    for (size_t j = 0; j < lp->n_col; j++) {
        const long double term = r[j] > 0 ? r[j] * lp->hi[j] : r[j] * lp->lo[j];
        sum += term;
        size += fabsl(term);
        if (reduced) {
            reduced[j] = (double)r[j];
        }
    }
    free(r);
    return (double)(sum + size * ROUND_OFF);
}

double tmx_lp_slack(const struct tmx_lp *lp, size_t row, const double *x)
{
    long double left = lp->rhs[row];
    for (size_t e = lp->start[row]; e < lp->start[row + 1]; e++) {
        left -= (long double)lp->val[e] * x[lp->col[e]];
    }
    return (double)left;
}

enum { MOST = 256 }; /* kept; then the oldest goes */

struct entry {
    char id[TMX_HASH_HEX];
    double objective, *value; /* [n_col + n_row] x, then dual; owned */
};

struct tmx_lp_cache {
    struct entry entry[MOST];
    size_t n_new;
};

struct tmx_lp_cache *tmx_lp_cache_create(void)
{
    return calloc(1, sizeof(struct tmx_lp_cache));
}

void tmx_lp_cache_destroy(void *cache)
{
    struct tmx_lp_cache *s = cache;
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
    struct entry *e = s->entry;
    while (e < s->entry + MOST && strcmp(e->id, id) != 0) {
        e++;
    }
    if (e == s->entry + MOST) {
        struct entry new;
        memcpy(new.id, id, sizeof new.id);
        new.value = malloc((lp->n_col + lp->n_row) * sizeof *new.value);
        st = new.value ? TMX_OK : tmx_fail(err, TMX_ENOMEM, "programme of %zu rows", lp->n_row);
        st = st ? st : tmx_lp_solve(lp, new.value, new.value + lp->n_col, &new.objective, err);
        if (st) {
            free(new.value);
            return st;
        }
        e = &s->entry[s->n_new++ % MOST];
        free(e->value);
        *e = new;
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

/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "limits/lp.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/provenance.h"

#ifdef TMX_GLPK
#include <glpk.h>
#endif

/* Of the sum in tmx_lp_bound, far above what long double loses there and what a solver in double may claim
 * too much: the bound is rounded up. */
static const double ROUND_OFF = 1e-13;

void tmx_lp_init(struct tmx_lp *lp, size_t n_col, struct tmx_err *err)
{
    *lp = (struct tmx_lp){.n_col = n_col};
    TMX_TAKE(&lp->arena, lp->cost, n_col);
    TMX_TAKE(&lp->arena, lp->lo, n_col);
    TMX_TAKE(&lp->arena, lp->hi, n_col);
    (void)TMX_GROW(&lp->arena, lp->start, 0);
    tmx_arena_check(&lp->arena, err);
    for (size_t j = 0; j < n_col && !err->code; j++) {
        lp->hi[j] = 1;
    }
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

/* ---- the solver: GLPK's dual simplex; its result is never trusted, tmx_lp_bound checks the prices ---- */

#ifdef TMX_GLPK

bool tmx_lp_has_solver(void)
{
    return true;
}

void tmx_lp_solve(const struct tmx_lp *lp, double *x, double *dual, double *objective, struct tmx_err *err)
{
    struct tmx_arena arena = {0};
    int *ia, *ja; /* rows and columns are 1-based in GLPK; entry 0 is not used */
    double *ar;
    TMX_TAKE(&arena, ia, lp->n_entry + 1);
    TMX_TAKE(&arena, ja, lp->n_entry + 1);
    TMX_TAKE(&arena, ar, lp->n_entry + 1);
    tmx_arena_check(&lp->arena, err);
    tmx_arena_check(&arena, err);
    if (err->code) {
        tmx_arena_finish(&arena);
        return;
    }
    glp_smcp how;
    glp_prob *p = glp_create_prob();
    glp_init_smcp(&how);
    how.msg_lev = GLP_MSG_OFF;
    how.meth = GLP_DUALP;
    const int was = glp_term_out(GLP_OFF); /* scaling and the basis talk as well */
    glp_set_obj_dir(p, GLP_MAX);
    glp_add_rows(p, (int)lp->n_row);
    glp_add_cols(p, (int)lp->n_col);
    for (size_t j = 0; j < lp->n_col; j++) {
        glp_set_obj_coef(p, (int)j + 1, lp->cost[j]);
        glp_set_col_bnds(p, (int)j + 1, lp->lo[j] < lp->hi[j] ? GLP_DB : GLP_FX, lp->lo[j], lp->hi[j]);
    }
    for (size_t i = 0; i < lp->n_row; i++) {
        glp_set_row_bnds(p, (int)i + 1, lp->equal[i] ? GLP_FX : GLP_UP, lp->rhs[i], lp->rhs[i]);
        for (size_t e = lp->start[i]; e < lp->start[i + 1]; e++) {
            ia[e + 1] = (int)i + 1;
            ja[e + 1] = (int)lp->col[e] + 1;
            ar[e + 1] = lp->val[e];
        }
    }
    glp_load_matrix(p, (int)lp->n_entry, ia, ja, ar);
    tmx_arena_finish(&arena);
    glp_scale_prob(p, GLP_SF_AUTO);
    glp_adv_basis(p, 0);
    int fault = glp_simplex(p, &how);
    if (fault) { /* it lost its basis to round-off, which is no answer */
        glp_smcp again = how;
        again.meth = GLP_PRIMAL;
        glp_std_basis(p);
        fault = glp_simplex(p, &again);
    }
    if (fault || glp_get_status(p) != GLP_OPT) {
        tmx_error(err, fault ? TMX_EPROGRAM : TMX_ESOLVE, "GLPK found no optimum (%d, status %d)", fault,
                  glp_get_status(p));
    }
    /* What the usual tolerance of prices (1e-7) leaves of the optimum: a few primal steps with a finer
     * one. The basis they end at is feasible and no worse wherever they stop. */
    how.meth = GLP_PRIMAL;
    how.tol_dj = 1e-10;
    how.it_lim = 200;
    (void)glp_simplex(p, &how);
    if (!err->code) {
        *objective = glp_get_obj_val(p);
        for (size_t i = 0; i < lp->n_row; i++) {
            dual[i] = glp_get_row_dual(p, (int)i + 1);
        }
        for (size_t j = 0; x && j < lp->n_col; j++) {
            x[j] = glp_get_col_prim(p, (int)j + 1);
        }
    }
    glp_delete_prob(p);
    glp_term_out(was);
}

#else /* a build without GLPK */

bool tmx_lp_has_solver(void)
{
    return false;
}

void tmx_lp_solve(const struct tmx_lp *lp, double *x, double *dual, double *objective, struct tmx_err *err)
{
    (void)lp;
    (void)x;
    (void)dual;
    (void)objective;
    tmx_error(err, TMX_EUNSUPPORTED,
              "this thermix was built without GLPK, the solver behind bounds: install libglpk-dev and "
              "build again");
}

#endif

/* ---- programmes that were solved before ---- */

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

void tmx_lp_cache_lp(struct tmx_lp_cache *s, const struct tmx_lp *lp, double *x, double *dual,
                     double *objective, struct tmx_err *err)
{
    char id[TMX_HASH_HEX]; /* of all that the solver sees */
    struct tmx_hash *h = NULL;
    const size_t real = sizeof(double), n[] = {lp->n_col, lp->n_row, lp->n_entry};
    tmx_arena_check(&lp->arena, err);
    if (!s) {
        tmx_lp_solve(lp, x, dual, objective, err);
        return;
    }
    if (err->code || tmx_hash_create(&h, err)) {
        return;
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
    struct entry *e = s->entry;
    while (e < s->entry + MOST && strcmp(e->id, id) != 0) {
        e++;
    }
    if (e == s->entry + MOST) {
        struct entry new;
        memcpy(new.id, id, sizeof new.id);
        new.value = malloc((lp->n_col + lp->n_row) * sizeof *new.value);
        tmx_memory_check(new.value, err);
        tmx_lp_solve(lp, new.value, new.value + lp->n_col, &new.objective, err);
        if (err->code) {
            free(new.value);
            return;
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
}

size_t tmx_lp_cache_new(const struct tmx_lp_cache *s)
{
    return s->n_new;
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The solver behind bounds: GLPK's dual simplex. Its result is never trusted: tmx_lp_bound checks the prices.
 */
#include "limits/lp.h"

#ifdef TMX_GLPK
#include <glpk.h>

bool tmx_lp_has_solver(void)
{
    return true;
}

/* Rows are 1-based in GLPK; entry 0 is not used. */
static enum tmx_status load(glp_prob *p, const struct tmx_lp *lp, struct tmx_err *err)
{
    struct tmx_arena arena = {0};
    int *ia, *ja;
    double *ar;
    TMX_TAKE(&arena, ia, lp->n_entry + 1);
    TMX_TAKE(&arena, ja, lp->n_entry + 1);
    if (!TMX_TAKE(&arena, ar, lp->n_entry + 1)) {
        tmx_arena_finish(&arena);
        return tmx_fail(err, TMX_ENOMEM, "linear programme of %zu entries", lp->n_entry);
    }
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
    return TMX_OK;
}

enum tmx_status tmx_lp_solve(const struct tmx_lp *lp, double *x, double *dual, double *objective,
                             struct tmx_err *err)
{
    enum tmx_status st = tmx_lp_check(lp, err);
    if (st) {
        return st;
    }
    glp_smcp how;
    glp_prob *p = glp_create_prob();
    glp_init_smcp(&how);
    how.msg_lev = GLP_MSG_OFF;
    how.meth = GLP_DUALP;
    const int was = glp_term_out(GLP_OFF); /* scaling and the basis talk as well */
    st = load(p, lp, err);
    if (!st) {
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
            st = tmx_fail(err, fault ? TMX_EPROGRAM : TMX_ESOLVE, "GLPK found no optimum (%d, status %d)",
                          fault, glp_get_status(p));
        }
        /* What the usual tolerance of prices (1e-7) leaves of the optimum: a few primal steps with a finer
         * one. The basis they end at is feasible and no worse wherever they stop. */
        how.meth = GLP_PRIMAL;
        how.tol_dj = 1e-10;
        how.it_lim = 200;
        (void)glp_simplex(p, &how);
    }
    if (!st) {
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
    return st;
}

#else /* a build without GLPK */

bool tmx_lp_has_solver(void)
{
    return false;
}

enum tmx_status tmx_lp_solve(const struct tmx_lp *lp, double *x, double *dual, double *objective,
                             struct tmx_err *err)
{
    (void)lp;
    (void)x;
    (void)dual;
    (void)objective;
    return tmx_fail(err, TMX_EUNSUPPORTED,
                    "this thermix was built without GLPK, the solver behind bounds: install libglpk-dev and "
                    "build again");
}

#endif

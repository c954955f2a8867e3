/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A build without GLPK. */
#include "limits/lp.h"

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

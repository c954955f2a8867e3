/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TMX_CORE_BASE_FP_ENV_H
#define TMX_CORE_BASE_FP_ENV_H

/* What numbers depend on beside themselves, of the calling thread: between enter and leave its locale
 * is "C" (a decimal point is a point) and its floating-point environment the default one (rounding,
 * denormals, no traps). Leaving puts back what was there, exception flags too. May be nested. */

#include <fenv.h>

struct tmx_fp_env {
    fenv_t environment;
    void *locale; /* locale_t */
};

void tmx_fp_env_enter(struct tmx_fp_env *p);
void tmx_fp_env_leave(const struct tmx_fp_env *p);

#endif

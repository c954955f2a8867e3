/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _POSIX_C_SOURCE 200809L
#include "core/base/fp_env.h"

#include <locale.h>

void tmx_fp_env_enter(struct tmx_fp_env *p)
{
    fegetenv(&p->environment);
    fesetenv(FE_DFL_ENV);
    p->locale = uselocale(newlocale(LC_ALL_MASK, "C", (locale_t)0)); /* a constant of the C library */
}

void tmx_fp_env_leave(const struct tmx_fp_env *p)
{
    uselocale(p->locale);
    fesetenv(&p->environment);
}

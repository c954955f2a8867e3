/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _POSIX_C_SOURCE 200809L
#include "core/base/plain.h"

#include <locale.h>

void tmx_plain_enter(struct tmx_plain *p)
{
    fegetenv(&p->environment);
    fesetenv(FE_DFL_ENV);
    p->locale = uselocale(newlocale(LC_ALL_MASK, "C", (locale_t)0)); /* a constant of the C library */
}

void tmx_plain_leave(const struct tmx_plain *p)
{
    uselocale(p->locale);
    fesetenv(&p->environment);
}

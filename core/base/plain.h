/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TMX_CORE_BASE_PLAIN_H
#define TMX_CORE_BASE_PLAIN_H

/* What numbers depend on beside themselves, of the calling thread: between enter and leave its locale
 * is "C" (a decimal point is a point) and its floating-point environment the default one (rounding,
 * denormals, no traps). Leaving puts back what was there, exception flags too. May be nested. */

#include <fenv.h>

struct tmx_plain {
    fenv_t environment;
    void *locale; /* locale_t */
};

void tmx_plain_enter(struct tmx_plain *p);
void tmx_plain_leave(const struct tmx_plain *p);

#endif

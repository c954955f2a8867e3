/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TMX_BASE_PLAUSIBLE_H
#define TMX_BASE_PLAUSIBLE_H

/* Is a physical constant in the unit that its key has? One table (plausible.c) holds, for every constant that
 * a user types or a log gives, the range that real machines have and the range beyond which it is no machine.
 *
 * Outside the first a warning goes to the listeners, outside the second the value is an error, unless
 * --accept (THERMIX_ACCEPT=1) makes that a warning, too. Both name the unit that the value is likely in.
 * Readers of options (opt.h) look here by themselves. */

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"

/* Listeners of this thread nest; each gets every line (no newline, lives during the call only). Whatever a
 * run warns of goes this way. */
struct tmx_warn_listener {
    void (*line)(void *to, const char *text); /* NULL: not heard */
    void *to;
    bool alone; /* those outside hear nothing */
    struct tmx_warn_listener *outer;
};
void tmx_warn_begin(struct tmx_warn_listener *d); /* d lives until tmx_warn_end */
void tmx_warn_end(struct tmx_warn_listener *d);   /* the one begun last */
void tmx_warn(const char *fmt, ...) TMX_PRINTF(1, 2);

/* The value of a key: TMX_OK, perhaps with a warning, or TMX_ECONFIG. group (may be NULL or ""): what the key
 * is in. A key without a row is always TMX_OK. */
enum tmx_status tmx_plausible(const char *group, const char *key, const char *unit, double v,
                              const char *file, unsigned line, struct tmx_err *err);

/* The same of a resistance to air or liquid, whose largest depends on the area: a film of still air at least.
 */
enum tmx_status tmx_plausible_film(const char *key, double k_per_w, double area_m2, const char *file,
                                   unsigned line, struct tmx_err *err);

/* --accept was given. */
bool tmx_plausible_accepted(void);
/* Does it warn of the value? */
bool tmx_plausible_warns(const char *group, const char *key, const char *unit, double v);

enum { TMX_GUESS_SIZE = 96 };
/* "; is it 6 cm = 0.06 m?", or "" where no usual unit makes v plausible. Returns buf. */
const char *tmx_plausible_guess(char buf[TMX_GUESS_SIZE], const char *group, const char *key,
                                const char *unit, double v);

/* Temperatures [K] of a result whose air or coolant has ambient_k: a warning about what no chip survives, or
 * what no cooling reaches. what: "the steady state". */
void tmx_plausible_result(const char *what, double lowest_k, double highest_k, double ambient_k);

#endif

/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TMX_BASE_COST_H
#define TMX_BASE_COST_H

/* What a computation would cost, known before it begins. Code that is about to compute estimates time and
 * memory; one place knows how much is done without asking and says how to allow more:
 *   $THERMIX_MAX_MINUTES  of computing, one processor (10)
 *   $THERMIX_MAX_GB       of memory (three quarters of what the machine or the process's limit has)
 * `thermix COMMAND --max-minutes M --max-gb G` set them. Estimates are right to a factor of about three. */

#include "base/err.h"

struct tmx_cost {
    double seconds; /* on one processor */
    double bytes;   /* held at once */
};

/* TMX_ERANGE when it is more than is allowed; the message says what it needs and how to allow it. The format
 * says what needs it: "a grid of 1024 x 1024 cells". */
TMX_NODISCARD enum tmx_status tmx_cost_check(struct tmx_cost cost, struct tmx_err *err, const char *fmt, ...)
    TMX_PRINTF(3, 4);

/* "12 s", "7 min", "3.2 h", "12 days". */
void tmx_cost_time(double seconds, char *buf, size_t size);

#endif

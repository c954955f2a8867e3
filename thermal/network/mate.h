/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TMX_THERMAL_NETWORK_MATE_H
#define TMX_THERMAL_NETWORK_MATE_H

#include "core/base/err.h"

/* One more thread of a set-up. It does a task while the caller goes on with other work, and when it has none,
 * its part of what the caller shares out. Where no thread can be had the caller does all. */

struct tmx_mate;

TMX_NODISCARD enum tmx_status tmx_mate_create(struct tmx_mate **mate, struct tmx_err *err);
/* Waits for what has begun. NULL is fine. */
void tmx_mate_destroy(struct tmx_mate *mate);

/* task(ctx), once, while the caller goes on. One at a time: tmx_mate_wait before the next. */
void tmx_mate_start(struct tmx_mate *mate, void (*task)(void *ctx), void *ctx);
/* Until what was started is done, by the caller itself where it has not begun. */
void tmx_mate_wait(struct tmx_mate *mate);

/* piece(ctx, i) for every i below n, each once, in any order and on either thread; all are done on return. */
void tmx_mate_share(struct tmx_mate *mate, size_t n, void (*piece)(void *ctx, size_t i), void *ctx);

#endif

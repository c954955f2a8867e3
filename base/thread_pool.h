/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TMX_BASE_THREAD_POOL_H
#define TMX_BASE_THREAD_POOL_H

/* Threads that wait for work: pieces of a few microseconds and more, which the calling thread shares. Only
 * the thread that made a pool calls its functions. */

#include <stddef.h>

#include "base/err.h"

enum { TMX_THREAD_POOL_MAX = 64, TMX_THREAD_POOL_PIECES = 65535 };

struct tmx_thread_pool;

/* n_thread of 1..TMX_THREAD_POOL_MAX, the caller's own included; they end with tmx_thread_pool_destroy (NULL
 * is fine). TMX_EIO when the system gives no more threads. */
TMX_NODISCARD enum tmx_status tmx_thread_pool_create(struct tmx_thread_pool **pool, size_t n_thread,
                                                     struct tmx_err *err);
void tmx_thread_pool_destroy(struct tmx_thread_pool *pool);

/* work(ctx, i) for every i below n (at most TMX_THREAD_POOL_PIECES), each once, in any order and on any
 * thread; what they wrote is there on return. pool NULL: all here, in order. Not from within work. */
void tmx_thread_pool_run(struct tmx_thread_pool *pool, size_t n, void (*work)(void *ctx, size_t i),
                         void *ctx);

#endif

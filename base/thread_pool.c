/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Each thread has a share of neighbouring pieces, the same ones in every call of as many: what they work on
 * stays in its core's cache. Who is done with its own takes of the others'.
 *
 * One atomic word a share says which call of tmx_thread_pool_run it is, which piece is next and where the
 * share ends. Taking a piece is a compare-and-swap of that word, so a thread that is late can neither take a
 * piece twice nor one of another call; a thread that has taken one holds the call open until it is counted as
 * done. */
#define _POSIX_C_SOURCE 200809L
#include "base/thread_pool.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Looks before a thread sleeps, and between two yields: some 20 us, longer than what a tick does alone. */
enum { LOOKS = 4000 };

struct share {
    _Alignas(64) _Atomic uint64_t ticket; /* call << 32 | end << 16 | next: a line of the cache each */
};

struct helper {
    struct tmx_thread_pool *pool;
    size_t own; /* share */
    pthread_t thread;
};

struct tmx_thread_pool {
    struct share share[TMX_THREAD_POOL_MAX]; /* [n_helper + 1], the caller's own first */
    _Atomic size_t n_done, n_asleep;
    _Atomic int stop;
    void (*work)(void *ctx, size_t i);
    void *ctx;
    pthread_mutex_t lock;
    pthread_cond_t changed;    /* there is more to do */
    size_t n_thread, n_helper; /* shares; threads beside the caller's */
    struct helper helper[TMX_THREAD_POOL_MAX];
};

static size_t next(uint64_t ticket)
{
    return ticket & 0xffff;
}

static size_t end(uint64_t ticket)
{
    return ticket >> 16 & 0xffff;
}

static void relax(void)
{
#if defined(__x86_64__)
    __builtin_ia32_pause();
#endif
}

static void take_pieces(struct tmx_thread_pool *c, size_t own)
{
    for (size_t k = 0; k < c->n_thread; k++) {
        _Atomic uint64_t *ticket = &c->share[(own + k) % c->n_thread].ticket;
        uint64_t t = atomic_load_explicit(ticket, memory_order_acquire);
        while (next(t) < end(t)) {
            if (atomic_compare_exchange_weak_explicit(ticket, &t, t + 1, memory_order_acq_rel,
                                                      memory_order_acquire)) {
                c->work(c->ctx, next(t));
                atomic_fetch_add_explicit(&c->n_done, 1, memory_order_acq_rel);
                t = atomic_load_explicit(ticket, memory_order_acquire);
            }
        }
    }
}

static bool idle(struct tmx_thread_pool *c)
{
    bool left = false;
    for (size_t k = 0; k < c->n_thread && !left; k++) {
        const uint64_t t = atomic_load(&c->share[k].ticket);
        left = next(t) < end(t);
    }
    return !left && !atomic_load(&c->stop);
}

static void *help(void *helper)
{
    const struct helper *h = helper;
    struct tmx_thread_pool *c = h->pool;
    while (!atomic_load(&c->stop)) {
        for (int i = 0; i < LOOKS && idle(c); i++) {
            relax();
        }
        if (idle(c)) {
            pthread_mutex_lock(&c->lock);
            atomic_fetch_add(&c->n_asleep, 1);
            /* Looked at after n_asleep was raised: a thread that adds work sees one or the other. */
            while (idle(c)) {
                pthread_cond_wait(&c->changed, &c->lock);
            }
            atomic_fetch_sub(&c->n_asleep, 1);
            pthread_mutex_unlock(&c->lock);
        }
        take_pieces(c, h->own);
    }
    return NULL;
}

static void wake(struct tmx_thread_pool *c)
{
    if (atomic_load(&c->n_asleep) > 0) {
        pthread_mutex_lock(&c->lock);
        pthread_cond_broadcast(&c->changed);
        pthread_mutex_unlock(&c->lock);
    }
}

enum tmx_status tmx_thread_pool_create(struct tmx_thread_pool **out, size_t n_thread, struct tmx_err *err)
{
    tmx_assert(n_thread >= 1 && n_thread <= TMX_THREAD_POOL_MAX);
    struct tmx_thread_pool *c = aligned_alloc(_Alignof(struct tmx_thread_pool), sizeof *c);
    if (!c) {
        return tmx_fail(err, TMX_ENOMEM, "%zu threads", n_thread);
    }
    memset(c, 0, sizeof *c);
    c->n_thread = n_thread;
    pthread_mutex_init(&c->lock, NULL);
    pthread_cond_init(&c->changed, NULL);
    for (; c->n_helper + 1 < n_thread; c->n_helper++) {
        struct helper *h = &c->helper[c->n_helper];
        *h = (struct helper){.pool = c, .own = c->n_helper + 1};
        const int why = pthread_create(&h->thread, NULL, help, h);
        if (why) {
            const size_t which = c->n_helper + 2;
            tmx_thread_pool_destroy(c);
            return tmx_fail(err, TMX_EIO, "cannot start thread %zu of %zu: %s", which, n_thread,
                            strerror(why));
        }
    }
    *out = c;
    return TMX_OK;
}

void tmx_thread_pool_destroy(struct tmx_thread_pool *c)
{
    if (!c) {
        return;
    }
    atomic_store(&c->stop, 1);
    wake(c);
    for (size_t i = 0; i < c->n_helper; i++) {
        pthread_join(c->helper[i].thread, NULL);
    }
    pthread_cond_destroy(&c->changed);
    pthread_mutex_destroy(&c->lock);
    free(c);
}

void tmx_thread_pool_run(struct tmx_thread_pool *c, size_t n, void (*work)(void *ctx, size_t i), void *ctx)
{
    if (!c || n < 2) {
        for (size_t i = 0; i < n; i++) {
            work(ctx, i);
        }
        return;
    }
    tmx_assert(n <= TMX_THREAD_POOL_PIECES);
    c->work = work;
    c->ctx = ctx;
    atomic_store(&c->n_done, 0);
    const uint64_t call = (atomic_load(&c->share[0].ticket) >> 32) + 1;
    for (size_t k = 0; k < c->n_thread; k++) {
        const uint64_t from = k * n / c->n_thread, to = (k + 1) * n / c->n_thread;
        atomic_store(&c->share[k].ticket, call << 32 | to << 16 | from);
    }
    wake(c);
    take_pieces(c, 0);
    for (int i = 0; atomic_load_explicit(&c->n_done, memory_order_acquire) < n; i++) {
        if (i % LOOKS == LOOKS - 1) {
            (void)sched_yield();
        } else {
            relax();
        }
    }
}

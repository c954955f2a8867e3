/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One atomic word says which call of tmx_thread_pool_run it is, how many pieces it has and how many are
 * taken. Taking a piece is a compare-and-swap of that word, so a thread that is late can neither take a piece
 * twice nor one of another call; a thread that has taken one holds the call open until it is counted as done.
 *
 * The background task is taken in the same way, by a compare-and-swap of its state: a helper takes it, or the
 * thread that waits for it where no helper has begun. */
#define _POSIX_C_SOURCE 200809L
#include "core/base/thread_pool.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Looks before a thread sleeps, and between two yields: some 20 us, longer than what a tick does alone. */
enum { LOOKS = 4000 };

enum task_state { NO_TASK, TASK_WAITS, TASK_RUNS };

struct tmx_thread_pool {
    _Atomic uint64_t ticket; /* call << 32 | pieces << 16 | taken */
    _Atomic size_t n_done, n_asleep;
    _Atomic int stop;
    void (*work)(void *ctx, size_t i);
    void *ctx;
    _Atomic int task_state; /* enum task_state */
    void (*task)(void *ctx);
    void *task_ctx;
    pthread_mutex_t lock;
    pthread_cond_t changed; /* there is more to do, or the task has ended */
    size_t n_helper;
    pthread_t helper[TMX_THREAD_POOL_MAX];
};

static size_t taken(uint64_t ticket)
{
    return ticket & 0xffff;
}

static size_t pieces(uint64_t ticket)
{
    return ticket >> 16 & 0xffff;
}

static void relax(void)
{
#if defined(__x86_64__)
    __builtin_ia32_pause();
#endif
}

static void take_pieces(struct tmx_thread_pool *c)
{
    uint64_t t = atomic_load_explicit(&c->ticket, memory_order_acquire);
    while (taken(t) < pieces(t)) {
        if (atomic_compare_exchange_weak_explicit(&c->ticket, &t, t + 1, memory_order_acq_rel,
                                                  memory_order_acquire)) {
            c->work(c->ctx, taken(t));
            atomic_fetch_add_explicit(&c->n_done, 1, memory_order_acq_rel);
            t = atomic_load_explicit(&c->ticket, memory_order_acquire);
        }
    }
}

/* True: this thread has taken the task and done it. */
static bool take_task(struct tmx_thread_pool *c)
{
    int state = TASK_WAITS;
    if (!atomic_compare_exchange_strong(&c->task_state, &state, TASK_RUNS)) {
        return false;
    }
    c->task(c->task_ctx);
    pthread_mutex_lock(&c->lock);
    atomic_store(&c->task_state, NO_TASK);
    pthread_cond_broadcast(&c->changed);
    pthread_mutex_unlock(&c->lock);
    return true;
}

static bool idle(struct tmx_thread_pool *c)
{
    const uint64_t t = atomic_load(&c->ticket);
    return taken(t) >= pieces(t) && atomic_load(&c->task_state) != TASK_WAITS && !atomic_load(&c->stop);
}

static void *help(void *pool)
{
    struct tmx_thread_pool *c = pool;
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
        if (!take_task(c)) {
            take_pieces(c);
        }
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
    struct tmx_thread_pool *c = calloc(1, sizeof *c);
    tmx_assert(n_thread >= 1 && n_thread <= TMX_THREAD_POOL_MAX);
    if (!c) {
        return tmx_fail(err, TMX_ENOMEM, "%zu threads", n_thread);
    }
    pthread_mutex_init(&c->lock, NULL);
    pthread_cond_init(&c->changed, NULL);
    for (; c->n_helper + 1 < n_thread; c->n_helper++) {
        const int why = pthread_create(&c->helper[c->n_helper], NULL, help, c);
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
        pthread_join(c->helper[i], NULL);
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
    const uint64_t call = (atomic_load(&c->ticket) >> 32) + 1;
    atomic_store(&c->ticket, call << 32 | (uint64_t)n << 16);
    wake(c);
    take_pieces(c);
    for (int i = 0; atomic_load_explicit(&c->n_done, memory_order_acquire) < n; i++) {
        if (i % LOOKS == LOOKS - 1) {
            (void)sched_yield();
        } else {
            relax();
        }
    }
}

void tmx_thread_pool_start(struct tmx_thread_pool *c, void (*task)(void *ctx), void *ctx)
{
    tmx_assert(atomic_load(&c->task_state) == NO_TASK);
    c->task = task;
    c->task_ctx = ctx;
    atomic_store(&c->task_state, TASK_WAITS);
    wake(c);
}

void tmx_thread_pool_wait(struct tmx_thread_pool *c)
{
    if (take_task(c)) {
        return;
    }
    pthread_mutex_lock(&c->lock);
    while (atomic_load(&c->task_state) != NO_TASK) {
        pthread_cond_wait(&c->changed, &c->lock);
    }
    pthread_mutex_unlock(&c->lock);
}

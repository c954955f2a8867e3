/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _POSIX_C_SOURCE 200809L
#include "thermal/network/mate.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>

struct tmx_mate {
    bool has_thread;
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    /* under lock: */
    void (*task)(void *ctx); /* not yet begun; NULL: none */
    void *task_ctx;
    void (*piece)(void *ctx, size_t i);
    void *piece_ctx;
    size_t n_piece, n_taken, n_busy;
    bool running, stop; /* a task is; no more are wanted */
};

/* With the lock held, which it gives back meanwhile. */
static void do_task(struct tmx_mate *m)
{
    void (*const task)(void *ctx) = m->task;
    m->task = NULL;
    m->running = true;
    pthread_mutex_unlock(&m->lock);
    task(m->task_ctx);
    pthread_mutex_lock(&m->lock);
    m->running = false;
    pthread_cond_broadcast(&m->changed);
}

static void do_piece(struct tmx_mate *m)
{
    const size_t i = m->n_taken++;
    m->n_busy++;
    pthread_mutex_unlock(&m->lock);
    m->piece(m->piece_ctx, i);
    pthread_mutex_lock(&m->lock);
    m->n_busy--;
    if (m->n_busy == 0 && m->n_taken == m->n_piece) {
        pthread_cond_broadcast(&m->changed);
    }
}

static void *help(void *mate)
{
    struct tmx_mate *m = mate;
    pthread_mutex_lock(&m->lock);
    while (!m->stop) {
        if (m->task) {
            do_task(m);
        } else if (m->n_taken < m->n_piece) {
            do_piece(m);
        } else {
            pthread_cond_wait(&m->changed, &m->lock);
        }
    }
    pthread_mutex_unlock(&m->lock);
    return NULL;
}

enum tmx_status tmx_mate_create(struct tmx_mate **mate, struct tmx_err *err)
{
    struct tmx_mate *m = calloc(1, sizeof *m);
    *mate = NULL;
    if (!m) {
        return tmx_no_memory(err);
    }
    if (pthread_mutex_init(&m->lock, NULL) != 0) {
        free(m);
        return tmx_no_memory(err);
    }
    if (pthread_cond_init(&m->changed, NULL) != 0) {
        pthread_mutex_destroy(&m->lock);
        free(m);
        return tmx_no_memory(err);
    }
    m->has_thread = pthread_create(&m->thread, NULL, help, m) == 0;
    *mate = m;
    return TMX_OK;
}

void tmx_mate_destroy(struct tmx_mate *m)
{
    if (!m) {
        return;
    }
    pthread_mutex_lock(&m->lock);
    m->stop = true;
    pthread_cond_broadcast(&m->changed);
    pthread_mutex_unlock(&m->lock);
    if (m->has_thread) {
        (void)pthread_join(m->thread, NULL);
    }
    pthread_cond_destroy(&m->changed);
    pthread_mutex_destroy(&m->lock);
    free(m);
}

void tmx_mate_start(struct tmx_mate *m, void (*task)(void *ctx), void *ctx)
{
    pthread_mutex_lock(&m->lock);
    tmx_assert(!m->task && !m->running);
    m->task = task;
    m->task_ctx = ctx;
    pthread_cond_broadcast(&m->changed);
    pthread_mutex_unlock(&m->lock);
}

void tmx_mate_wait(struct tmx_mate *m)
{
    pthread_mutex_lock(&m->lock);
    if (m->task) {
        do_task(m);
    }
    while (m->running) {
        pthread_cond_wait(&m->changed, &m->lock);
    }
    pthread_mutex_unlock(&m->lock);
}

void tmx_mate_share(struct tmx_mate *m, size_t n, void (*piece)(void *ctx, size_t i), void *ctx)
{
    pthread_mutex_lock(&m->lock);
    m->piece = piece;
    m->piece_ctx = ctx;
    m->n_piece = n;
    m->n_taken = 0;
    pthread_cond_broadcast(&m->changed);
    while (m->n_taken < n) {
        do_piece(m);
    }
    while (m->n_busy > 0) {
        pthread_cond_wait(&m->changed, &m->lock);
    }
    m->n_piece = m->n_taken = 0;
    pthread_mutex_unlock(&m->lock);
}

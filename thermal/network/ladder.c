/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _POSIX_C_SOURCE 200809L
#include "thermal/network/ladder.h"

#include <pthread.h>
#include <stdlib.h>

struct tmx_ladder {
    struct tmx_ladder_wish wish;
    struct tmx_solver *solver;
    size_t n_made; /* of the thread, or of the caller where there is none */
    double *x;     /* [n_rhs][n_node] of the rung that was made */
    struct tmx_factor *factor;
    enum tmx_status status; /* of the rung that was made */
    struct tmx_err err;

    bool has_thread;
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    bool made, stop; /* under lock: a rung is there to be taken; no more are wanted */
};

static bool stopped(struct tmx_ladder *l)
{
    pthread_mutex_lock(&l->lock);
    const bool stop = l->stop;
    pthread_mutex_unlock(&l->lock);
    return stop;
}

static void make(struct tmx_ladder *l)
{
    const struct tmx_ladder_wish *w = &l->wish;
    l->status = tmx_factor_create(l->solver, w->gamma, w->shift[l->n_made], &l->factor, &l->err);
    if (!l->status && !stopped(l)) {
        l->status = tmx_solve(l->solver, l->factor, w->n_rhs, w->b, l->x);
        if (l->status) {
            (void)tmx_fail(&l->err, l->status, "basis solve");
        }
    }
    l->n_made++;
}

/* Make rungs, each when the one before has been taken. */
static void *climb(void *ladder)
{
    struct tmx_ladder *l = ladder;
    while (l->n_made < l->wish.n_shift) {
        pthread_mutex_lock(&l->lock);
        while (l->made && !l->stop) {
            pthread_cond_wait(&l->changed, &l->lock);
        }
        const bool stop = l->stop;
        pthread_mutex_unlock(&l->lock);
        if (stop) {
            break;
        }
        make(l);
        pthread_mutex_lock(&l->lock);
        l->made = true;
        pthread_cond_signal(&l->changed);
        pthread_mutex_unlock(&l->lock);
    }
    return NULL;
}

enum tmx_status tmx_ladder_create(const struct tmx_solver *solver, const struct tmx_ladder_wish *wish,
                                  struct tmx_ladder **ladder, struct tmx_err *err)
{
    struct tmx_ladder *l = calloc(1, sizeof *l);
    *ladder = NULL;
    if (!l) {
        return tmx_no_memory(err);
    }
    l->wish = *wish;
    l->x = calloc(wish->n_rhs * wish->n_node, sizeof *l->x);
    enum tmx_status st = l->x ? tmx_solver_create_copy(solver, &l->solver, err) : tmx_no_memory(err);
    if (!st && pthread_mutex_init(&l->lock, NULL) != 0) {
        st = tmx_no_memory(err);
    }
    if (st) {
        tmx_solver_destroy(l->solver);
        free(l->x);
        free(l);
        return st;
    }
    if (pthread_cond_init(&l->changed, NULL) == 0) {
        l->has_thread = pthread_create(&l->thread, NULL, climb, l) == 0;
        if (!l->has_thread) {
            pthread_cond_destroy(&l->changed);
        }
    }
    *ladder = l;
    return TMX_OK;
}

enum tmx_status tmx_ladder_take(struct tmx_ladder *l, struct tmx_factor **factor, double **x,
                                struct tmx_err *err)
{
    if (l->has_thread) {
        pthread_mutex_lock(&l->lock);
        while (!l->made) {
            pthread_cond_wait(&l->changed, &l->lock);
        }
    } else {
        make(l);
    }
    const enum tmx_status st = l->status;
    double *const old = *x;
    if (st && err) {
        *err = l->err;
    }
    *x = l->x;
    l->x = old;
    *factor = l->factor;
    l->factor = NULL;
    if (l->has_thread) {
        l->made = false;
        pthread_cond_signal(&l->changed);
        pthread_mutex_unlock(&l->lock);
    }
    return st;
}

void tmx_ladder_destroy(struct tmx_ladder *l)
{
    if (!l) {
        return;
    }
    if (l->has_thread) {
        pthread_mutex_lock(&l->lock);
        l->stop = true;
        pthread_cond_signal(&l->changed);
        pthread_mutex_unlock(&l->lock);
        (void)pthread_join(l->thread, NULL);
        pthread_cond_destroy(&l->changed);
    }
    pthread_mutex_destroy(&l->lock);
    tmx_factor_destroy(l->solver, l->factor);
    tmx_solver_destroy(l->solver);
    free(l->x);
    free(l);
}

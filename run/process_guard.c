/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "run/process_guard.h"

#include <gsl/gsl_errno.h>
#include <pthread.h>
#include <stddef.h>

/* The one variable of the library: GSL's handler is one of the process, so that what has set it aside must be
 * one, too. */
static struct {
    pthread_mutex_t lock;
    size_t n_guest; /* calls inside now */
    gsl_error_handler_t *handler;
} process = {.lock = PTHREAD_MUTEX_INITIALIZER};

void tmx_process_guard_enter(struct tmx_process_guard *host)
{
    tmx_fp_env_enter(&host->thread);
    pthread_mutex_lock(&process.lock);
    if (process.n_guest++ == 0) {
        process.handler = gsl_set_error_handler_off();
    }
    pthread_mutex_unlock(&process.lock);
}

void tmx_process_guard_leave(const struct tmx_process_guard *host)
{
    pthread_mutex_lock(&process.lock);
    if (--process.n_guest == 0) {
        gsl_set_error_handler(process.handler);
    }
    pthread_mutex_unlock(&process.lock);
    tmx_fp_env_leave(&host->thread);
}

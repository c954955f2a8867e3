/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "run/process_guard.h"

#include <cblas.h>
#include <gsl/gsl_errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* The one variable of the library: GSL's handler and BLAS's threads are variables of the process,
 * so that who has set them aside must be one, too. */
static struct {
    pthread_mutex_t lock;
    size_t n_guest; /* calls inside now */
    gsl_error_handler_t *handler;
    int n_thread;
} process = {.lock = PTHREAD_MUTEX_INITIALIZER};

const char *tmx_process_guard_blas(void)
{
    return openblas_get_corename();
}

/* Zen's kernels are Haswell's. */
static bool is_stored(const char *kernels)
{
    return strcmp(kernels, "Haswell") == 0 || strcmp(kernels, "Zen") == 0;
}

const char *tmx_process_guard_better_blas(void)
{
#if defined(__x86_64__)
    if (!is_stored(tmx_process_guard_blas()) && !getenv("OPENBLAS_CORETYPE") &&
        __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) {
        return "Haswell";
    }
#endif
    return NULL;
}

const char *tmx_process_guard_digits(void)
{
    return is_stored(tmx_process_guard_blas())
               ? ""
               : ", which round differently from the stored results: digits from the twelfth on differ";
}

void tmx_process_guard_enter(struct tmx_process_guard *host)
{
    tmx_fp_env_enter(&host->thread);
    pthread_mutex_lock(&process.lock);
    if (process.n_guest++ == 0) {
        process.handler = gsl_set_error_handler_off();
        process.n_thread = openblas_get_num_threads();
        openblas_set_num_threads(1);
    }
    pthread_mutex_unlock(&process.lock);
}

void tmx_process_guard_leave(const struct tmx_process_guard *host)
{
    pthread_mutex_lock(&process.lock);
    if (--process.n_guest == 0) {
        gsl_set_error_handler(process.handler);
        openblas_set_num_threads(process.n_thread);
    }
    pthread_mutex_unlock(&process.lock);
    tmx_fp_env_leave(&host->thread);
}

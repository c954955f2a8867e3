/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _POSIX_C_SOURCE 200809L
#include "cli/line/blas.h"

#include <stdlib.h>
#include <unistd.h>

#include "run/process_guard.h"

void tmx_choose_blas(char *const *argv)
{
    const char *better = tmx_process_guard_better_blas();
    if (better && setenv("OPENBLAS_CORETYPE", better, 0) == 0) {
        (void)execv("/proc/self/exe", argv);
    }
}

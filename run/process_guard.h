/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TMX_RUN_PROCESS_GUARD_H
#define TMX_RUN_PROCESS_GUARD_H

/* Manners towards the program that calls the library. Every public function that computes,
 * reads or writes numbers stands between tmx_process_guard_enter and tmx_process_guard_leave, which set aside
 *
 * of the calling thread   locale and floating-point environment (base/os.h)
 * of the whole process    GSL's error handler (off)
 *
 * Leaving puts back what was there. What belongs to the process is set aside by the first call
 * that enters and put back by the last that leaves, whichever threads they are in. */

#include "base/os.h"

struct tmx_process_guard {
    struct tmx_fp_env thread;
};

void tmx_process_guard_enter(struct tmx_process_guard *host);
void tmx_process_guard_leave(const struct tmx_process_guard *host);

#endif

/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TMX_RUN_WORKLOAD_H
#define TMX_RUN_WORKLOAD_H

/* The mix of a run, its kernels, and the jobs they make. Private to run/. */

#include "run/state.h"

/* Fill r->mix, r->kernel and r->job; the chips and the group job have been read. */
TMX_NODISCARD enum tmx_status tmx_run_workload_open(struct tmx_run *r, struct tmx_err *err);
void tmx_run_workload_close(struct tmx_run *r);

#endif

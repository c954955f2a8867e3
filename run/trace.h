/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TMX_RUN_TRACE_H
#define TMX_RUN_TRACE_H

/* Files a run writes as it goes: trace.csv (a row a sample and GPU), rows.csv where it serves a model (a row
 * a sample and row of servers), and power.ptrace, temps.ttrace and thermal.config per GPU, so that `thermix
 * thermal` or HotSpot can check it. */

#include "run/run.h"

struct tmx_run_trace;

struct tmx_run_trace_options {
    const char *dir;
    double period_s; /* between rows; rounded to ticks; powers are means over the period */
    bool csv, hotspot;
};

TMX_NODISCARD enum tmx_status tmx_run_trace_open(struct tmx_run_trace **t, struct tmx_run *run,
                                                 const struct tmx_run_trace_options *o, struct tmx_err *err);
/* After every tick. */
void tmx_run_trace_tick(struct tmx_run_trace *t, const struct tmx_sim *sim);
/* Put the files in place; also after a stopped or failed run. */
TMX_NODISCARD enum tmx_status tmx_run_trace_commit(struct tmx_run_trace *t, struct tmx_err *err);
void tmx_run_trace_close(struct tmx_run_trace *t); /* accepts NULL */

#endif

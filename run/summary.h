/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TMX_RUN_SUMMARY_H
#define TMX_RUN_SUMMARY_H

/* What a run leaves behind as tables; the caller ends them with tmx_table_destroy. Lack of memory is
 * found where they are written or checked. */

#include <stdbool.h>
#include <stdio.h>

#include "base/table.h"
#include "core/topology/topology.h"

#include "run/run.h"

/* One row: the run's id, mix and policy, whether all kernels ended (complete, partial), then every metric. */
struct tmx_table *tmx_run_summary(const struct tmx_run *run);
/* A row a kernel of the mix: times, blocks, energy, power density index, its first GPU and how many, wait
 * from arrival to the first block, turnaround from arrival to the end. */
struct tmx_table *tmx_run_kernels(const struct tmx_run *run);

/* A row a GPU: kernels it ran, energies, mean and peak power, temperatures, share of the time with work, time
 * slowed by reason, air it breathed and speed of its card's fans (no fans: empty). */
struct tmx_table *tmx_run_gpus(const struct tmx_run *run);

/* A row a window of all GPUs, of each rack, node and GPU: how their boards' power swings; times count from
 * the end of the warm-up. A run shorter than the window: empty. */
struct tmx_table *tmx_run_ramps(const struct tmx_run *run);

/* A row a bin of the spectrum [Hz]: root mean square [W] of all boards and of the feed in it. No rows: a run
 * of less than 10 s. */
struct tmx_table *tmx_run_spectrum(const struct tmx_run *run);
/* What was so at the largest rise within 50 ms of the power of all GPUs, or fall; "": there is none. Returns
 * buf. */
const char *tmx_run_ramp_why(const struct tmx_run *run, bool fall, char *buf, size_t size);

/* Of a language model: a row a request (arrival, tokens, class, instances, times to its first and last
 * token), as CSV since there may be millions; and a row an instance (time in prompts and tokens, iterations,
 * tokens, energy). */
void tmx_run_requests(const struct tmx_run *run, FILE *out);
struct tmx_table *tmx_run_instances(const struct tmx_run *run);

/* Why limits of serve.limits were missed (one that is not given: the slowest hundredth): a row a limit, means
 * over the requests that missed it: time beyond the request alone, by queue, batch and clock, the clock's by
 * reason. */
struct tmx_table *tmx_run_missed(const struct tmx_run *run);

/* For people: what was run, the metrics that are not zero with their meaning, the names of the others. */
void tmx_run_print(const struct tmx_run *run, FILE *out);

/* Files of a folder that is there: resolved.cfg, folder.cfg (mix, policy, chips, sensors) and
 * floorplan_gpuN.flp, with which the folder describes itself; summary.csv, kernels.csv, gpus.csv, of a
 * synchronous job members.csv. Errors stay (base/err.h). */
void tmx_run_save(const struct tmx_run *run, const char *folder, struct tmx_err *err);

/* The folder of a run, `thermix run -o`. Its manifest.csv (base/output.h) marks it as one run's: its
 * files, then with the status `input` those that it read. A folder without it is of a run that was killed, or
 * of an older version.
 *
 * Are the files in folder those of its manifest? *partial: the run did not end. TMX_EPARSE when not. */
TMX_NODISCARD enum tmx_status tmx_run_folder_check(const char *folder, bool *partial, struct tmx_err *err);

/* Is `run` the one whose results are in folder? change: "" when it is, else in words which files that it
 * reads are others now, as far as the manifest shows it. TMX_EPARSE: no manifest. */
TMX_NODISCARD enum tmx_status tmx_run_folder_compare(const struct tmx_run *run, const char *folder,
                                                     char *change, size_t size, struct tmx_err *err);

/* What people call GPU g (tmx_gpu_label), and whether that is another word than its number for one of them.
 */
const char *tmx_run_gpu_label(const struct tmx_run *run, size_t g, char label[TMX_NAME]);
bool tmx_run_has_gpu_labels(const struct tmx_run *run);

/* Files a run writes as it goes: trace.csv (a row a sample and GPU), rows.csv where it serves a model (a row
 * a sample and row of servers), and power.ptrace, temps.ttrace and thermal.config per GPU, so that `thermix
 * thermal` or HotSpot can check it. */

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

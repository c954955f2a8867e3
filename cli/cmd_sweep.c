/* SPDX-License-Identifier: GPL-3.0-or-later */
/* thermix sweep: a parameter study. */
#include <stdint.h>

#include <string.h>

#include "cli/commands.h"
#include "run/load/data.h"
#include "study/study.h"

struct args {
    struct tmx_texts sweep;
    const char *out, *shard;
    long jobs, limit;
    bool dry_run, quiet, retry_failed;
};

static const struct tmx_arg rows[] = {
    TMX_ARG(args, out, TEXT, "output", 'o', .apart = "dry-run", .value = "DB", .names = TMX_NAMES_FILE,
            .doc = "results database to create or continue (without it: <name>.sqlite)"),
    TMX_ARG_JOBS(args, jobs),
    TMX_ARG(args, shard, TEXT, "shard", 0, .apart = "dry-run", .value = "I/N",
            .doc = "run only part I of N (1..N), for job arrays; join the parts with `thermix merge`"),
    TMX_ARG(args, dry_run, FLAG, "dry-run", 0, .doc = "print the points as CSV and stop"),
    TMX_ARG(args, limit, INT, "limit", 0, .apart = "dry-run", .value = "N", .min = -1, .max = 1e6,
            .def = "-1", .doc = "at most N runs now, -1: all"),
    TMX_ARG(args, retry_failed, FLAG, "retry-failed", 0, .apart = "dry-run",
            .doc = "run failed points again"),
    TMX_ARG_QUIET(args, quiet),
    {0},
};

static void run(void *args, struct tmx_err *err)
{
    const struct args *a = args;
    struct tmx_mpi mpi;
    char path[TMX_PATH_SIZE], out[TMX_SWEEP_TEXT];
    struct tmx_sweep sweep = {0};
    struct tmx_study_options o = {.path = out,
                                  .n_worker = (unsigned)a->jobs,
                                  .n_shard = 1,
                                  .limit = a->limit < 0 ? SIZE_MAX : (size_t)a->limit,
                                  .retry_failed = a->retry_failed,
                                  .noun = a->quiet ? NULL : "runs"};
    if (tmx_mpi_begin(&mpi, NULL, NULL, err)) {
        return;
    }
    (void)((a->shard && tmx_study_read_shard(a->shard, &o, err)) ||
           tmx_data_find(TMX_DATA_SUITE, a->sweep.text[0], path, err) || tmx_sweep_load(&sweep, path, err));
    snprintf(out, sizeof out, "%s%s", a->out ? a->out : sweep.name, a->out ? "" : ".sqlite");
    if (!err->code && a->dry_run && mpi.rank == 0) {
        struct tmx_table *t = tmx_sweep_table(&sweep);
        tmx_table_save(t, TMX_FORMAT_CSV, "-", err);
        tmx_table_destroy(t);
    } else if (!err->code && !a->out && (strchr(sweep.name, '/') || sweep.name[0] == '.')) {
        tmx_error_at(err, TMX_ECONFIG, path, 0,
                     "the study's name \"%s\" cannot be a file's name; give its results a file with -o FILE",
                     sweep.name);
    } else if (!err->code && !a->dry_run) {
        struct tmx_runs runs;
        tmx_sweep_runs(&sweep, &runs);
        tmx_study_on_ranks(&mpi, &runs, &o, err);
    }
    tmx_sweep_finish(&sweep);
    tmx_mpi_end();
}

const struct tmx_command tmx_cmd_sweep = {
    .name = "sweep",
    .summary = "run a parameter study and keep its results",
    .doc = "Run a parameter study and keep its results in one database.",
    .notes =
        "Stop it at any moment and start it again: finished runs are not repeated. A failed run is kept as a "
        "row with its error. Progress goes to standard error, one line a run to DB.log.\n\n"
        "On many machines: mpirun -n 64 thermix sweep cooling -o cooling.sqlite, or job arrays with --shard.",
    .examples = "thermix sweep cooling -o cooling.sqlite -j 2\n"
                "thermix query cooling.sqlite --rows r_convec --pivot policy --value slowdown_pct",
    TMX_OPERANDS(args, sweep, 1, 1, "SWEEP", SUITE, "which sweep? A file, or a name of workloads/suites/"),
    .keeps = true,
    TMX_RUNS(args),
};

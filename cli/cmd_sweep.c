/* SPDX-License-Identifier: GPL-3.0-or-later */
/* thermix sweep: a parameter study. */
#include <stdint.h>
#include <stdlib.h>

#include "cli/commands.h"
#include "run/input/data.h"
#include "study/run_point.h"
#include "study/study_mpi.h"
#include "study/table_out.h"

struct args {
    struct tmx_texts sweep;
    const char *out, *shard;
    long jobs, limit;
    bool dry_run, quiet, retry_failed;
};

static const struct tmx_arg rows[] = {
    {.name = "output",
     .letter = 'o',
     .type = TMX_ARG_TEXT,
     TMX_ARG_FIELD(args, out),
     .value = "DB",
     .names = TMX_NAMES_FILE,
     .doc = "results database, made or continued (without it: <name>.sqlite)"},
    TMX_ARG_JOBS(args, jobs),
    {.name = "shard",
     .type = TMX_ARG_TEXT,
     TMX_ARG_FIELD(args, shard),
     .value = "I/N",
     .doc = "only part I of N (1..N), for job arrays; join them with `thermix merge`"},
    {.name = "dry-run",
     .type = TMX_ARG_FLAG,
     TMX_ARG_FIELD(args, dry_run),
     .doc = "print the points as CSV and stop"},
    {.name = "limit",
     .type = TMX_ARG_INT,
     TMX_ARG_FIELD(args, limit),
     .value = "N",
     .min = -1,
     .max = 1e6,
     .def = "-1",
     .doc = "at most N runs now, -1: all"},
    {.name = "retry-failed",
     .type = TMX_ARG_FLAG,
     TMX_ARG_FIELD(args, retry_failed),
     .doc = "run failed points again"},
    TMX_ARG_QUIET(args, quiet),
    {0},
};

/* "I/N" into a part counted from 0. */
static enum tmx_status read_shard(const char *text, struct tmx_study_options *o, struct tmx_err *err)
{
    char *slash, *end;
    const unsigned long i = strtoul(text, &slash, 10), n = *slash == '/' ? strtoul(slash + 1, &end, 10) : 0;
    if (n == 0 || *end || i < 1 || i > n) {
        return tmx_fail(err, TMX_ECONFIG, "--shard %s: expected I/N with I from 1 to N", text);
    }
    o->shard = i - 1;
    o->n_shard = n;
    return TMX_OK;
}

static enum tmx_status print_points(const struct tmx_sweep *s, struct tmx_err *err)
{
    struct tmx_table *t = NULL;
    enum tmx_status st = tmx_sweep_table(s, &t, err);
    st = st ? st : tmx_table_save(t, TMX_FORMAT_CSV, "-", err);
    tmx_table_destroy(t);
    return st;
}

static void report(const struct tmx_study *s, const char *path)
{
    printf("%zu points, %zu distinct runs: %zu there before, %zu done now, %zu failed; %s\n",
           s->sweep->n_point, s->n_run, s->n_before, s->n_done, s->n_failed, path);
    if (s->n_failed > 0) {
        printf("The errors: thermix query %s --failed; run them again: --retry-failed\n", path);
    }
}

static enum tmx_status lead(const struct tmx_mpi *mpi, const struct tmx_sweep *sweep,
                            const struct tmx_runner *runner, const struct tmx_study_options *o,
                            struct tmx_err *err)
{
    struct tmx_study s;
    enum tmx_status st = tmx_study_begin(&s, sweep, runner, o, err);
    if (mpi->size > 1) {
        struct tmx_study nothing = {.options = o};
        struct tmx_err ignored;
        const enum tmx_status led = tmx_mpi_lead(mpi, st ? &nothing : &s, st ? &ignored : err);
        st = st ? st : led;
    } else if (!st) {
        st = tmx_study_run_local(&s, err);
    }
    if (s.results) {
        report(&s, o->path);
        tmx_study_end(&s);
    }
    return st;
}

static enum tmx_status run_on(const struct args *a, const struct tmx_mpi *mpi,
                              const struct tmx_runner *runner, struct tmx_err *err)
{
    char path[TMX_PATH_SIZE], out[TMX_SWEEP_TEXT];
    struct tmx_sweep sweep = {0};
    struct tmx_study_options o = {.path = out,
                                  .n_worker = (unsigned)a->jobs,
                                  .n_shard = 1,
                                  .limit = a->limit < 0 ? SIZE_MAX : (size_t)a->limit,
                                  .retry_failed = a->retry_failed,
                                  .quiet = a->quiet,
                                  .version = TMX_VERSION};
    enum tmx_status st = a->shard ? read_shard(a->shard, &o, err) : TMX_OK;
    st = st ? st : tmx_data_find(TMX_DATA_SUITE, a->sweep.text[0], path, err);
    st = st ? st : tmx_sweep_load(&sweep, path, err);
    if (st) {
        return st;
    }
    snprintf(out, sizeof out, "%s%s", a->out ? a->out : sweep.name, a->out ? "" : ".sqlite");
    if (a->dry_run) {
        st = mpi->rank == 0 ? print_points(&sweep, err) : TMX_OK;
    } else if (mpi->rank == 0) {
        st = lead(mpi, &sweep, runner, &o, err);
    } else {
        struct tmx_study s;
        tmx_study_begin_worker(&s, &sweep, runner, &o);
        st = tmx_mpi_follow(&s, err);
    }
    tmx_sweep_finish(&sweep);
    return st;
}

enum tmx_status tmx_sweep_with(const void *args, const struct tmx_runner *runner, struct tmx_err *err)
{
    struct tmx_mpi mpi;
    enum tmx_status st = tmx_mpi_begin(&mpi, NULL, NULL, err);
    if (!st) {
        st = run_on(args, &mpi, runner, err);
        tmx_mpi_end();
    }
    return st;
}

static enum tmx_status run(void *args, struct tmx_err *err)
{
    return tmx_sweep_with(args, &tmx_run_point, err);
}

const struct tmx_command tmx_cmd_sweep = {
    .name = "sweep",
    .summary = "run a parameter study and keep its results",
    .doc = "Run a parameter study and keep its results in one database.",
    .notes =
        "Stop it at any moment and start it again: finished runs are not repeated. A run that fails is a row "
        "with "
        "its error. Progress goes to standard error, one line a run to DB.log.\n\n"
        "On many machines: mpirun -n 64 thermix sweep cooling -o cooling.sqlite, or job arrays with --shard.",
    .examples = "thermix sweep cooling -o cooling.sqlite -j 2\n"
                "thermix query cooling.sqlite --rows r_convec --pivot policy --value slowdown_pct",
    .args = rows,
    .operands = "SWEEP",
    .operand = offsetof(struct args, sweep),
    .min_operand = 1,
    .max_operand = 1,
    .which = "which sweep? A file, or a name of workloads/suites/",
    .operand_names = TMX_NAMES_SUITE,
    .size = sizeof(struct args),
    .run = run,
};

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* thermix run: simulate one configuration. */
#define _POSIX_C_SOURCE 200809L
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <thermix/catalog.h>

#include "cli/commands.h"
#include "core/base/config.h"
#include "core/base/os.h"
#include "run/input/data.h"
#include "run/run.h"
#include "run/summary.h"
#include "run/trace.h"
#include "study/progress.h"
#include "study/table_out.h"

struct args {
    struct tmx_texts config, set, module;
    const char *dir;
    double trace_s, hotspot_s;
    int format;
    bool quiet, verbose;
};

static const struct tmx_arg rows[] = {
    {.name = "out",
     .letter = 'o',
     .type = TMX_ARG_TEXT,
     TMX_ARG_FIELD(args, dir),
     .value = "DIR",
     .names = TMX_NAMES_FOLDER,
     .doc = "write resolved.cfg, summary.csv and kernels.csv into DIR"},
    TMX_ARG_SET(args, set, ""),
    {.name = "module",
     .type = TMX_ARG_TEXTS,
     TMX_ARG_FIELD(args, module),
     .value = "FILE",
     .names = TMX_NAMES_FILE,
     .doc = "shared object with policies (docs/extending.md), as key modules; may be repeated"},
    {.name = "trace",
     .type = TMX_ARG_REAL,
     TMX_ARG_FIELD(args, trace_s),
     .value = "SECONDS",
     .min = 1e-6,
     .max = 1e9,
     .doc = "write trace.csv into DIR, a row every SECONDS of simulated time"},
    {.name = "hotspot",
     .type = TMX_ARG_REAL,
     TMX_ARG_FIELD(args, hotspot_s),
     .value = "SECONDS",
     .min = 1e-6,
     .max = 1e9,
     .doc = "write power.ptrace, temps.ttrace and thermal.config into DIR, a row every SECONDS"},
    TMX_ARG_FORMAT(args, format),
    {.name = "quiet",
     .letter = 'q',
     .type = TMX_ARG_FLAG,
     TMX_ARG_FIELD(args, quiet),
     .doc = "print nothing but errors"},
    {.name = "verbose",
     .letter = 'v',
     .type = TMX_ARG_FLAG,
     TMX_ARG_FIELD(args, verbose),
     .doc = "print the resolved configuration first"},
    {0},
};

static volatile sig_atomic_t interrupted; /* the only way a signal can speak */

static void on_signal(int number)
{
    (void)number;
    interrupted = 1;
}

struct watch {
    struct tmx_run_trace *trace, *hotspot;
    const struct tmx_run *run;
    bool progress;
    double begin_s, last_s;
};

static void after_tick(void *ctx, const struct tmx_sim *sim)
{
    struct watch *w = ctx;
    if (w->trace) {
        tmx_run_trace_tick(w->trace, sim);
    }
    if (w->hotspot) {
        tmx_run_trace_tick(w->hotspot, sim);
    }
}

static bool should_stop(void *ctx)
{
    struct watch *w = ctx;
    const double now_s = w->progress ? tmx_os_now_s() : 0;
    if (w->progress && now_s - w->last_s > 0.2) {
        const struct tmx_machine *m = tmx_sim_machine(tmx_run_sim_const(w->run));
        double done = 0, all = 0;
        for (size_t j = 0; j < m->n_job; j++) {
            done += m->job[j].done_sm_s;
            all += m->job[j].work_sm_s;
        }
        char left[32] = "?";
        w->begin_s = w->begin_s > 0 ? w->begin_s : now_s;
        if (done > 0 && now_s > w->begin_s) {
            tmx_progress_time(left, sizeof left, (now_s - w->begin_s) * (all - done) / done);
        }
        fprintf(stderr, "\r%5.1f %% of the work, %.0f s simulated, %s left\033[K", 100 * done / all,
                tmx_sim_time_s(tmx_run_sim_const(w->run)), left);
        w->last_s = now_s;
    }
    return interrupted;
}

/* The whole on the screen; for programs the summary's row alone. */
static enum tmx_status print(const struct args *a, const struct tmx_run *run, struct tmx_err *err)
{
    struct tmx_table *t = NULL;
    const bool people = a->format == TMX_FORMAT_TEXT;
    if (people) {
        tmx_run_print(run, stdout);
    }
    enum tmx_status st = (people ? tmx_run_kernels : tmx_run_summary)(run, &t, err);
    st = st ? st : tmx_table_save(t, (enum tmx_format)a->format, "-", err);
    tmx_table_destroy(t);
    if (!st && people && a->dir) {
        printf("Files: %s/summary.csv, kernels.csv, resolved.cfg%s%s\n", a->dir,
               a->trace_s > 0 ? "; figures: thermix plot " : "", a->trace_s > 0 ? a->dir : "");
    }
    return st;
}

static enum tmx_status report(const struct args *a, const struct tmx_run *run, struct tmx_err *err)
{
    const enum tmx_status st = a->dir ? tmx_run_save_tables(run, a->dir, err) : TMX_OK;
    return st || a->quiet ? st : print(a, run, err);
}

static enum tmx_status open_traces(const struct args *a, struct tmx_run *run, struct watch *w,
                                   struct tmx_err *err)
{
    enum tmx_status st = TMX_OK;
    if (a->trace_s > 0) {
        const struct tmx_run_trace_options o = {.dir = a->dir, .period_s = a->trace_s, .csv = true};
        st = tmx_run_trace_open(&w->trace, run, &o, err);
    }
    if (!st && a->hotspot_s > 0) {
        const struct tmx_run_trace_options o = {.dir = a->dir, .period_s = a->hotspot_s, .hotspot = true};
        st = tmx_run_trace_open(&w->hotspot, run, &o, err);
    }
    return st;
}

/* Run, then write what there is even when the run failed; the run's own failure is told. */
static enum tmx_status simulate(const struct args *a, struct tmx_run *run, struct tmx_err *err)
{
    struct watch w = {.run = run, .progress = !a->quiet && tmx_os_is_terminal(stderr)};
    struct tmx_err later = {0};
    enum tmx_status st = a->dir ? tmx_os_mkdirs(a->dir, err) : TMX_OK;
    st = st ? st : open_traces(a, run, &w, err);
    if (!st && a->dir) {
        st = tmx_run_save_resolved(run, a->dir, err);
    }
    if (!st) {
        const struct tmx_observer observer = {
            .ctx = &w, .tick = w.trace || w.hotspot ? after_tick : NULL, .stop = should_stop};
        st = tmx_run_execute(run, &observer, err);
        if (w.progress) {
            fputc('\n', stderr);
        }
        enum tmx_status end = w.trace ? tmx_run_trace_commit(w.trace, &later) : TMX_OK;
        if (w.hotspot && !end) {
            end = tmx_run_trace_commit(w.hotspot, &later);
        }
        end = end ? end : report(a, run, &later);
        if (st && a->dir) {
            fprintf(stderr, "partial results are in %s\n", a->dir);
        }
        if (!st && end) {
            st = end;
            *err = later;
        }
    }
    tmx_run_trace_close(w.trace);
    tmx_run_trace_close(w.hotspot);
    return st;
}

static enum tmx_status run(void *args, struct tmx_err *err)
{
    const struct args *a = args;
    struct tmx_run *r = NULL;
    struct tmx_config *cfg = NULL;
    char path[TMX_PATH_SIZE];
    const struct sigaction act = {.sa_handler = on_signal};
    if ((a->trace_s > 0 || a->hotspot_s > 0) && !a->dir) {
        return tmx_fail(err, TMX_ECONFIG, "--trace and --hotspot need -o DIR");
    }
    enum tmx_status st = tmx_data_find(TMX_DATA_RUN, a->config.text[0], path, err);
    if (st) {
        return st;
    }
    sigaction(SIGINT, &act, NULL);
    sigaction(SIGTERM, &act, NULL);
    st = tmx_config_load(&cfg, path, (const char *const *)a->set.text, a->set.n, err);
    struct tmx_catalog *catalog = NULL;
    st = st ? st : tmx_catalog_create(&catalog, err);
    for (size_t i = 0; i < a->module.n && !st; i++) {
        st = tmx_catalog_load(catalog, a->module.text[i], err);
    }
    st = st ? st : tmx_run_create_with(&r, tmx_config_root(cfg), catalog, err);
    if (!st) {
        tmx_run_warn(r, stderr);
    }
    if (!st && a->verbose) {
        fputs(tmx_run_resolved(r), stdout);
    }
    st = st ? st : simulate(a, r, err);
    tmx_run_destroy(r);
    tmx_catalog_destroy(catalog);
    tmx_config_close(cfg);
    return st;
}

const struct tmx_command tmx_cmd_run = {
    .name = "run",
    .summary = "simulate one configuration",
    .doc = "Simulate one configuration: a workload on a chip under a policy. CONFIG is a name of `thermix "
           "list runs` or a "
           "file.",
    .notes = "Keys of CONFIG: docs/formats.md.",
    .examples = "thermix run wl1 --set policy=MU -o out/wl1 --trace 0.5",
    .args = rows,
    .operands = "CONFIG",
    .operand = offsetof(struct args, config),
    .min_operand = 1,
    .max_operand = 1,
    .which = "which configuration? `thermix list runs` names them",
    .operand_names = TMX_NAMES_RUN,
    .size = sizeof(struct args),
    .run = run,
};

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* thermix run: simulate one configuration. */
#define _POSIX_C_SOURCE 200809L
#include <signal.h>
#include <stdio.h>
#include <thermix/catalog.h>

#include "base/config.h"
#include "base/os.h"
#include "cli/commands.h"
#include "run/load/data.h"
#include "study/study.h"

struct args {
    struct tmx_texts config, module;
    struct tmx_sets sets;
    const char *dir;
    double trace_s, hotspot_s;
    long seeds;
    bool nudge;
    bool quiet, verbose;
    struct tmx_print print;
};

static const struct tmx_arg rows[] = {
    TMX_ARG(args, dir, TEXT, "out", 'o', .value = "DIR", .names = TMX_NAMES_FOLDER,
            .doc = "write resolved.cfg, summary.csv, kernels.csv and gpus.csv into DIR"),
    TMX_ARG_SET(args, sets, ""),
    TMX_ARG(args, module, TEXTS, "module", 0, .apart = "seeds", .value = "FILE", .names = TMX_NAMES_FILE,
            .doc = "load policies from this shared object (docs/extending.md), as the key modules does; may "
                   "be repeated"),
    TMX_ARG(args, trace_s, REAL, "trace", 0, .needs = "out", .apart = "seeds", .value = "SECONDS",
            .min = 1e-6, .max = 1e9,
            .doc = "write trace.csv into DIR, a row every SECONDS of simulated time; of a served model also "
                   "rows.csv"),
    TMX_ARG(args, hotspot_s, REAL, "hotspot", 0, .needs = "out", .apart = "seeds", .value = "SECONDS",
            .min = 1e-6, .max = 1e9,
            .doc = "write power.ptrace, temps.ttrace and thermal.config into DIR, a row every SECONDS"),
    TMX_ARG(args, sets, SETS, "threads", 0, .value = "N", .prefix = "threads=",
            .doc = "advance the GPUs on N threads (key threads): the same results, faster with many GPUs"),
    TMX_ARG(args, seeds, INT, "seeds", 0, .value = "N", .min = 1, .max = 100000, .def = "1",
            .doc =
                "run with N seeds, from the configuration's on, and print mean, sd and 95 % interval of "
                "every metric; with -o DIR also seeds.csv, and runs.sqlite, which `thermix query DIR` reads"),
    TMX_ARG(args, nudge, FLAG, "nudge", 0,
            .doc = "--seeds N: the same seed N times, with start temperatures 1e-6 K apart: what depends on "
                   "rounding shows its spread"),
    TMX_ARG_FORMAT(args, print.format),
    TMX_ARG(args, print.columns, LIST, "columns", 0, .value = "NAME,...|all",
            .doc = "print these columns of the summary, or where it lacks one of the table of kernels or "
                   "instances, and every row"),
    TMX_ARG(args, quiet, FLAG, "quiet", 'q',
            .doc = "print nothing but errors, and the table if --format names another format"),
    TMX_ARG(args, verbose, FLAG, "verbose", 'v',
            .doc = "print the resolved configuration first, and the folder that THERMIX_DATA names"),
    {0},
};

static volatile sig_atomic_t interrupted; /* the only way a signal can speak */

static void on_signal(int number)
{
    (void)number;
    interrupted = 1;
}

/* A run's folder stands for its configuration. */
static enum tmx_status find_config(const char *name, char path[TMX_PATH_SIZE], struct tmx_err *err)
{
    if (!tmx_path_join(path, name, "resolved.cfg", NULL) && tmx_os_exists(path)) {
        return TMX_OK;
    }
    if (!tmx_path_join(path, name, "node.cfg", NULL) && tmx_os_exists(path)) {
        tmx_error_at(
            err, TMX_ECONFIG, name, 0,
            "a folder of `thermix calibrate`: run a configuration on its node, thermix run wl1 --set "
            "topology=%s",
            path);
        return err->code;
    }
    return tmx_data_find(TMX_DATA_RUN, name, path, err);
}

static void open_run(const struct args *a, struct tmx_catalog **catalog, struct tmx_run **r,
                     struct tmx_err *err)
{
    struct tmx_config *cfg = NULL;
    char path[TMX_PATH_SIZE];
    if (!find_config(a->config.text[0], path, err)) {
        tmx_config_load(&cfg, path, &a->sets, err);
    }
    if (!err->code && (tmx_config_find(cfg, "kind") || tmx_config_find(cfg, "axes"))) {
        const bool suite = tmx_config_find(cfg, "kind") != NULL;
        tmx_error_at(err, TMX_ECONFIG, path, 0, "this is a %s, not a run: `thermix %s %s`",
                     suite ? "suite" : "study", suite ? "table" : "sweep", a->config.text[0]);
    }
    (void)(err->code || tmx_catalog_create(catalog, err));
    for (size_t i = 0; i < a->module.n && !err->code; i++) {
        (void)!tmx_catalog_load(*catalog, a->module.text[i], err);
    }
    (void)(err->code ||
           tmx_run_create(r, tmx_config_root(cfg), &(struct tmx_run_how){.catalog = *catalog}, err));
    tmx_config_close(cfg);
}

static void run_seeds(const struct args *a, struct tmx_err *err)
{
    char path[TMX_PATH_SIZE];
    const struct tmx_run_alone alone = {.dir = a->dir,
                                        .column = a->print.columns.text,
                                        .n_column = a->print.columns.n,
                                        .format = (enum tmx_format)a->print.format,
                                        .quiet = a->quiet};
    if (!find_config(a->config.text[0], path, err)) {
        tmx_run_seeds(path, &a->sets, (size_t)a->seeds, a->nudge, &alone, err);
    }
}

static void run(void *args, struct tmx_err *err)
{
    const struct args *a = args;
    if (a->seeds > 1) {
        run_seeds(a, err);
        return;
    }
    struct tmx_catalog *catalog = NULL;
    struct tmx_run *r = NULL;
    struct tmx_mpi mpi;
    if (a->nudge) {
        tmx_error(err, TMX_ECONFIG, "--nudge is of --seeds N, with N of 2 or more");
    }
    if (err->code || tmx_mpi_begin(&mpi, NULL, NULL, err)) {
        return;
    }
    tmx_mpi_silence(&mpi);
    open_run(a, &catalog, &r, err);
    if (!tmx_mpi_agree(&mpi, err)) {
        fputs(a->verbose ? tmx_run_resolved(r) : "", stdout);
        if (a->verbose && tmx_data_chosen()) {
            tmx_print_visible(stderr, "thermix run: data from %s (THERMIX_DATA)\n", tmx_data_chosen());
        }
    }
    const struct sigaction act = {.sa_handler = on_signal};
    sigaction(SIGINT, &act, NULL); /* before this there is nothing that could be kept */
    sigaction(SIGTERM, &act, NULL);
    const struct tmx_run_alone alone = {.dir = a->dir,
                                        .trace_s = a->trace_s,
                                        .hotspot_s = a->hotspot_s,
                                        .stop = &interrupted,
                                        .column = a->print.columns.text,
                                        .n_column = a->print.columns.n,
                                        .format = (enum tmx_format)a->print.format,
                                        .quiet = a->quiet,
                                        .mpi = &mpi};
    if (!err->code) {
        tmx_run_alone(r, &alone, err);
    }
    tmx_run_destroy(r);
    tmx_catalog_destroy(catalog);
    tmx_mpi_end();
}

const struct tmx_command tmx_cmd_run = {
    .name = "run",
    .summary = "simulate one configuration",
    .doc = "Simulate one configuration: a workload on a chip under a policy. CONFIG is a name of `thermix "
           "list runs`, a file or a run's folder.",
    .notes =
        "Keys of CONFIG: docs/formats.md. Under mpirun the ranks divide the GPUs among themselves; the "
        "results are the same. --format openmetrics prints the trace of --trace, and without it the summary.",
    .examples = "thermix run wl1 --set policy=MU -o out/wl1 --trace 0.5\n"
                "thermix run study --set sensor.noise_k=1 --seeds 5",
    TMX_OPERANDS(args, config, 1, 1, "CONFIG", RUN, "which configuration? `thermix list runs` names them"),
    .keeps = true,
    TMX_RUNS(args),
};

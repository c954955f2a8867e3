/* SPDX-License-Identifier: GPL-3.0-or-later */
/* thermix log: what is in a measured log. */
#include "cli/commands.h"
#include "cli/measured_args.h"
#include "measure/replay.h"

struct args {
    struct tmx_texts words; /* show FILE... */
    struct tmx_measured_args log;
    const char *dir;
    struct tmx_print print;
};

static const char *const verbs[] = {"show", NULL};

static const struct tmx_arg rows[] = {
    TMX_ARG(args, dir, TEXT, "output", 'o', .value = "DIR", .names = TMX_NAMES_FOLDER,
            .doc = "figures of power and temperature, one a run"),
    TMX_MEASURED_LOG_ROWS(args),
    TMX_ARG_TABLE(args),
    {0},
};

static void run(void *args, struct tmx_err *err)
{
    struct args *a = args;
    const struct tmx_texts paths = {.text = a->words.text + 1, .n = a->words.n - 1};
    struct tmx_measured m = {0};
    struct tmx_table *t = NULL;
    a->log.command = "log";
    a->log.quiet = true; /* the description contains the notes */
    a->log.described = a->print.format == TMX_FORMAT_TEXT;
    tmx_measured_open(&a->log, &paths, &m, err);
    (void)(err->code || tmx_measured_table(&m, &t, err));
    if (!err->code && a->log.described) {
        tmx_measured_describe(&m, stdout);
    }
    tmx_print_end(t, &a->print, "-", NULL, err);
    if (!err->code && a->log.described) {
        tmx_measured_sketch(&m, stdout);
    }
    struct tmx_plot p = {.dir = a->dir, .format = "svg"};
    (void)(!err->code && a->dir && (tmx_plot_begin(&p, err) || tmx_measured_figures(&p, &m, NULL, NULL)));
    tmx_measured_finish(&m);
}

const struct tmx_command tmx_cmd_log = {
    .name = "log",
    .summary = "show the contents of a measured log of GPUs",
    .doc = "Show how thermix reads a measured log: format, columns, GPUs, runs, ranges, steps of load, and "
           "the choices that it made.",
    .notes =
        "Formats, recognised by what is in the file: nvidia-smi --query-gpu=... --format=csv[,nounits], dmon "
        "and -q; dcgmi dmon; dcgm-exporter, federated too, and Prometheus' query_range (JSON); GPU-Z sensor "
        "log; amd-smi monitor and metric --csv; rocm-smi --csv and --json; gpustat --json; xpu-smi dump; "
        "wide exports (gpu.0.temp, ...); plain CSV ([run,] time_s, [host,] gpu, power_w, temp_c[, fan_rpm, "
        "inlet_c, ...]) and JSON of such names. gzip and UTF-16 are recognised; - is standard input.",
    .examples =
        "nvidia-smi --query-gpu=timestamp,index,power.draw,temperature.gpu --format=csv -lms 500 > gpu.csv\n"
        "thermix log show gpu.csv -o figures",
    TMX_OPERANDS(args, words, 2, 65, "show FILE...", FILE, "expected: show FILE..."),
    .operand_words = verbs,
    TMX_RUNS(args),
};

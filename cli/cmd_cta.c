/* SPDX-License-Identifier: GPL-3.0-or-later */
/* thermix cta: kernels on a chip under CTA policies. */
#include <stdio.h>

#include "cli/commands.h"
#include "study/microbench/microbench.h"

struct args {
    struct tmx_texts kernel, policy;
    struct tmx_sets sets;
    const char *chip, *out_dir;
    double epoch_cycles;
    long seed;
    int core; /* core: enum tmx_core_source; -1: the chip's */
    bool together;
    struct tmx_print print;
};

static const struct tmx_arg rows[] = {
    TMX_ARG(args, policy, LIST, "policy", 'p', .value = "LIST", .def = "all,tcs", .names = TMX_NAMES_CTA,
            .doc = "CTA policies, separated by commas: all, tcs, htcs, tcs_share, static_optimal, apsa; "
                   "options in brackets: tcs(throttling=false,threshold=1.5)"),
    TMX_ARG(args, chip, TEXT, "chip", 'c', .value = "CHIP", .def = "tcs28", .names = TMX_NAMES_CHIP,
            .doc = "chip"),
    TMX_ARG(args, out_dir, TEXT, "out", 'o', .value = "DIR", .names = TMX_NAMES_FOLDER,
            .doc = "write table.csv, timeline.csv (cores over time) and launches.csv into DIR"),
    TMX_ARG(
        args, together, FLAG, "together", 0,
        .doc = "the kernels wait side by side: a policy may lend cores of the first to the next (tcs_share)"),
    TMX_ARG(
        args, core, WORD, "core", 0, .words = tmx_core_sources,
        .doc =
            "per-core parameters ipc1, cpi1, mlp: given by the kernel's group memory, or sm_cycle: measured "
            "by running its instructions cycle by cycle. Both are printed side by side, and with -o written "
            "to core.csv. Without --core the chip's memory.core is used, and nothing is compared"),
    TMX_ARG(args, epoch_cycles, REAL, "epoch", 0, .value = "CYCLES", .min = 1, .max = 1e9, .def = "2048",
            .doc = "length of an epoch"),
    TMX_ARG(args, seed, INT, "seed", 0, .value = "N", .min = 0, .max = 1e15, .def = "1",
            .doc = "seed of the block lengths, and with --core of the instruction streams"),
    TMX_ARG(args, sets, SETS, "set", 0, .value = "KEY=VALUE",
            .doc = "override a key of the chip, as memory.mshr=64 or energy.sm_scaling=log; may be repeated"),
    TMX_ARG_TABLE(args),
    {0},
};

static void print(const struct args *a, const struct tmx_cta_report *report, struct tmx_err *err)
{
    const enum tmx_format format = (enum tmx_format)a->print.format;
    const bool for_people = format == TMX_FORMAT_TEXT || format == TMX_FORMAT_MARKDOWN;
    if (report->cores && for_people &&
        a->print.columns.n == 0) { /* for programs: one table, this one in core.csv */
        (void)!tmx_table_write(report->cores, format, stdout, err);
        printf("\n");
    }
    tmx_print(report->table, &a->print, "-", NULL, err);
    if (a->out_dir) {
        tmx_cta_report_save(report, a->out_dir, err);
    }
}

static void run(void *args, struct tmx_err *err)
{
    const struct args *a = args;
    struct tmx_cta_report report = {0};
    struct tmx_cta_chip chip;
    const struct tmx_cta_question q = {
        .chip = &chip,
        .kernel = a->kernel.text,
        .n_kernel = a->kernel.n,
        .policy = a->policy.text,
        .n_policy = a->policy.n,
        .options = {.epoch_cycles = a->epoch_cycles, .seed = (uint64_t)a->seed},
        .together = a->together,
        .timeline = a->out_dir != NULL,
        .compare_cores = a->core >= 0};
    if (a->together && a->kernel.n < 2) {
        tmx_error(err, TMX_ECONFIG, "--together: expected two kernels or more");
    }
    tmx_cta_chip_load(&chip, a->chip, &a->sets, err);
    if (a->core >= 0) {
        chip.memory.core = a->core;
    }
    tmx_cta_ask(&q, &report, err);
    if (!err->code) {
        print(a, &report, err);
    }
    tmx_cta_report_finish(&report);
}

const struct tmx_command tmx_cmd_cta = {
    .name = "cta",
    .summary = "how many cores should work for a kernel: TCS, hTCS, ApSA",
    .doc =
        "How many cores should work for a kernel? This command runs each kernel on a chip, epoch by epoch, "
        "under CTA policies and compares performance, energy and memory latency with all cores at work.",
    .notes = "Columns: cores is the number of cores that the policy chose (mean over launches, weighted by "
             "time); optimal_cores gives the smallest energy-delay product; latency_ratio is the memory "
             "latency with all cores over that with one.",
    .examples = "thermix cta MUM LBM BLK --policy all,tcs,htcs\n"
                "thermix cta MUM KMN --together --policy tcs,tcs_share\n"
                "thermix cta MUM --core sm_cycle",
    TMX_OPERANDS(args, kernel, 1, TMX_CTA_KERNELS, "KERNEL...", KERNEL, "expected the names of kernels"),
    .keeps = true,
    TMX_RUNS(args),
};

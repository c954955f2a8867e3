/* SPDX-License-Identifier: GPL-3.0-or-later */
/* thermix cta: kernels on a chip under CTA policies. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/commands.h"
#include "core/base/os.h"
#include "run/cta_core.h"
#include "run/input/data.h"
#include "study/cta_table.h"
#include "study/table_out.h"

enum { MAX_KERNEL = 64, MAX_POLICY = 16 };

struct args {
    struct tmx_texts kernel, set, policy;
    const char *chip, *out_dir;
    double epoch_cycles;
    long seed;
    int format, core; /* core: enum tmx_core_source; -1: the chip's */
    bool together;
};

static const struct tmx_arg rows[] = {
    {.name = "policy",
     .letter = 'p',
     .type = TMX_ARG_LIST,
     TMX_ARG_FIELD(args, policy),
     .value = "LIST",
     .def = "all,tcs",
     .names = TMX_NAMES_CTA,
     .doc = "CTA policies, separated by commas: all, tcs, htcs, tcs_share, static_optimal, apsa; options in "
            "brackets: "
            "tcs(throttling=false,threshold=1.5)"},
    {.name = "chip",
     .letter = 'c',
     .type = TMX_ARG_TEXT,
     TMX_ARG_FIELD(args, chip),
     .value = "CHIP",
     .def = "tcs28",
     .names = TMX_NAMES_CHIP,
     .doc = "chip"},
    {.name = "out",
     .letter = 'o',
     .type = TMX_ARG_TEXT,
     TMX_ARG_FIELD(args, out_dir),
     .value = "DIR",
     .names = TMX_NAMES_FOLDER,
     .doc = "write table.csv, timeline.csv (cores over time) and launches.csv into DIR"},
    {.name = "together",
     .type = TMX_ARG_FLAG,
     TMX_ARG_FIELD(args, together),
     .doc = "the kernels wait side by side: a policy may lend cores of the first to the next (tcs_share)"},
    {.name = "core",
     .type = TMX_ARG_WORD,
     TMX_ARG_FIELD(args, core),
     .words = tmx_core_sources,
     .doc = "per-core parameters ipc1, cpi1, mlp: given by the kernel's group memory, or sm_cycle: measured "
            "by running "
            "its instructions cycle by cycle; prints both side by side, with -o into core.csv. Without it "
            "memory.core "
            "of the chip, and no comparison"},
    {.name = "epoch",
     .type = TMX_ARG_REAL,
     TMX_ARG_FIELD(args, epoch_cycles),
     .value = "CYCLES",
     .min = 1,
     .max = 1e9,
     .def = "2048",
     .doc = "length of an epoch"},
    {.name = "seed",
     .type = TMX_ARG_INT,
     TMX_ARG_FIELD(args, seed),
     .value = "N",
     .min = 0,
     .max = 1e15,
     .def = "1",
     .doc = "of the block lengths, and of the instruction streams with --core"},
    {.name = "set",
     .type = TMX_ARG_TEXTS,
     TMX_ARG_FIELD(args, set),
     .value = "KEY=VALUE",
     .doc = "override a key of the chip, as memory.mshr=64 or energy.sm_scaling=log; may be repeated"},
    TMX_ARG_FORMAT(args, format),
    {0},
};

static enum tmx_status load_programs(const struct args *a, const struct tmx_cta_chip *chip,
                                     struct tmx_memory_program *program, struct tmx_table *compare,
                                     struct tmx_err *err)
{
    enum tmx_status st = TMX_OK;
    for (size_t k = 0; k < a->kernel.n && !st; k++) {
        st = tmx_cta_program_load(&program[k], a->kernel.text[k], chip, (uint64_t)a->seed, compare, err);
    }
    return st;
}

static enum tmx_status parse_policies(const struct args *a, struct tmx_cta_policy_spec *p, size_t *n,
                                      struct tmx_err *err)
{
    enum tmx_status st =
        a->policy.n <= MAX_POLICY ? TMX_OK : tmx_fail(err, TMX_ECONFIG, "--policy: more than %d", MAX_POLICY);
    for (size_t i = 0; i < a->policy.n && !st; i++) {
        st = tmx_cta_policy_parse(a->policy.text[i], &p[i], err);
        *n += !st;
    }
    return st;
}

static enum tmx_status run_all(const struct args *a, const struct tmx_cta_chip *chip,
                               const struct tmx_memory_program *program,
                               const struct tmx_cta_policy_spec *policy, size_t n_policy,
                               struct tmx_cta_report *report, struct tmx_err *err)
{
    enum tmx_status st = TMX_OK;
    const struct tmx_cta_options o = {.epoch_cycles = a->epoch_cycles, .seed = (uint64_t)a->seed};
    const size_t n = a->together ? 1 : a->kernel.n;
    for (size_t k = 0; k < n && !st; k++) {
        const struct tmx_memory_program *list[MAX_KERNEL];
        const size_t n_list = a->together ? a->kernel.n : 1;
        for (size_t i = 0; i < n_list; i++) {
            list[i] = &program[k + i];
        }
        st = tmx_cta_report_kernel(report, chip, list, n_list, policy, n_policy, &o, err);
    }
    return st;
}

static enum tmx_status print(const struct args *a, const struct tmx_table *cores,
                             const struct tmx_cta_report *report, struct tmx_err *err)
{
    const enum tmx_format format = (enum tmx_format)a->format;
    char path[TMX_PATH_SIZE];
    enum tmx_status st = TMX_OK;
    const bool for_people = format == TMX_FORMAT_TEXT || format == TMX_FORMAT_MARKDOWN;
    if (cores && for_people && !st) { /* for programs: one table, this one in core.csv */
        st = tmx_table_write(cores, format, stdout, err);
        printf("\n");
    }
    st = st ? st : tmx_table_write(report->table, format, stdout, err);
    st = st || !a->out_dir ? st : tmx_cta_report_save(report, a->out_dir, err);
    if (st || !a->out_dir || !cores) {
        return st;
    }
    if (snprintf(path, sizeof path, "%s/core.csv", a->out_dir) >= (int)sizeof path) {
        return tmx_fail(err, TMX_EIO, "%s: path too long", a->out_dir);
    }
    return tmx_table_save(cores, TMX_FORMAT_CSV, path, err);
}

static enum tmx_status run(void *args, struct tmx_err *err)
{
    const struct args *a = args;
    struct tmx_cta_policy_spec policy[MAX_POLICY] = {{0}};
    struct tmx_cta_report report = {0};
    struct tmx_table *cores = NULL;
    struct tmx_cta_chip chip;
    size_t n_policy = 0;
    struct tmx_memory_program *program = calloc(a->kernel.n, sizeof *program);
    enum tmx_status st = program ? TMX_OK : tmx_fail(err, TMX_ENOMEM, "%zu kernels", a->kernel.n);
    st = st ? st : tmx_cta_chip_load(&chip, a->chip, (const char *const *)a->set.text, a->set.n, err);
    if (!st && a->core >= 0) {
        chip.memory.core = a->core;
    }
    st = st || a->core < 0 ? st : tmx_cta_core_table(&cores, err);
    st = st ? st : load_programs(a, &chip, program, cores, err);
    st = st ? st : parse_policies(a, policy, &n_policy, err);
    st = st ? st : tmx_cta_report_create(&report, a->out_dir != NULL, err);
    st = st ? st : run_all(a, &chip, program, policy, n_policy, &report, err);
    st = st ? st : print(a, cores, &report, err);
    tmx_cta_report_finish(&report);
    tmx_table_destroy(cores);
    for (size_t p = 0; p < n_policy; p++) {
        tmx_cta_policy_finish(&policy[p]);
    }
    free(program);
    return st;
}

const struct tmx_command tmx_cmd_cta = {
    .name = "cta",
    .summary = "how many cores should work for a kernel: TCS, hTCS, ApSA",
    .doc = "How many cores should work for a kernel? Runs each kernel on a chip, epoch by epoch, under CTA "
           "policies and "
           "compares performance, energy and memory latency with all cores at work.",
    .notes = "cores: what the policy settled for (launches weighted by time); optimal_cores: the smallest "
             "energy-delay "
             "product; latency_ratio: all cores over one.",
    .examples = "thermix cta MUM LBM BLK --policy all,tcs,htcs\n"
                "thermix cta MUM KMN --together --policy tcs,tcs_share\n"
                "thermix cta MUM --core sm_cycle",
    .args = rows,
    .operands = "KERNEL...",
    .operand = offsetof(struct args, kernel),
    .min_operand = 1,
    .max_operand = MAX_KERNEL,
    .which = "expected the names of kernels",
    .operand_names = TMX_NAMES_KERNEL,
    .size = sizeof(struct args),
    .run = run,
};

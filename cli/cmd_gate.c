/* SPDX-License-Identifier: GPL-3.0-or-later */
/* thermix gate: unit gating of kernels on one SM, cycle by cycle. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/commands.h"
#include "core/base/os.h"
#include "core/micro/trace_accelsim.h"
#include "core/micro/trace_file.h"
#include "papers/gate_fit.h"
#include "sched/sched.h"
#include "study/gate_runs.h"

enum { MAX_LIST = 32, EXPORT_BLOCKS = 16, DEFAULT_BUDGET = 300000 };

struct args {
    struct tmx_texts kernel, set, policy, bet, wakeup;
    const char *chip, *out, *trace, *convert, *export_to;
    int fit, tune; /* index of a fit, -1: no tuning */
    long seed, budget, jobs;
    int format;
    bool quiet;
    int bet_cycles[MAX_LIST], wakeup_cycles[MAX_LIST]; /* [bet.n], [wakeup.n] */
};

static const struct tmx_arg rows[] = {
    {.name = "policy",
     .letter = 'p',
     .type = TMX_ARG_LIST,
     TMX_ARG_FIELD(args, policy),
     .value = "LIST",
     .names = TMX_NAMES_GATE,
     .doc = "policies, as in convpg,warped_gates (without it: all)"},
    {.name = "bet",
     .type = TMX_ARG_LIST,
     TMX_ARG_FIELD(args, bet),
     .value = "LIST",
     .doc = "break-even times [cycles], as in 9,14,19,24 (without it: the chip's, 14)"},
    {.name = "wakeup",
     .type = TMX_ARG_LIST,
     TMX_ARG_FIELD(args, wakeup),
     .value = "LIST",
     .doc = "wake-up times [cycles], as in 3,6,9 (without it: the chip's, 3)"},
    {.name = "instructions",
     .letter = 'n',
     .type = TMX_ARG_INT,
     TMX_ARG_FIELD(args, budget),
     .value = "N",
     .min = 1,
     .max = 1e9,
     .doc = "warp instructions a run; without it 300000, and all of a trace"},
    {.name = "seed",
     .type = TMX_ARG_INT,
     TMX_ARG_FIELD(args, seed),
     .value = "N",
     .min = 0,
     .max = 4294967295.0,
     .def = "1",
     .doc = "seed of the instruction streams"},
    {.name = "fit",
     .type = TMX_ARG_WORD,
     TMX_ARG_FIELD(args, fit),
     .words = tmx_gate_fits,
     .def = "all",
     .doc = "which fit of the free knobs"},
    {.name = "tune",
     .type = TMX_ARG_WORD,
     TMX_ARG_FIELD(args, tune),
     .words = tmx_gate_fits,
     .doc = "fit the knobs again over KERNEL... and print them"},
    {.name = "chip",
     .type = TMX_ARG_TEXT,
     TMX_ARG_FIELD(args, chip),
     .value = "NAME",
     .def = "gtx480",
     .names = TMX_NAMES_CHIP,
     .doc = "whose SM, floorplans/NAME/sm.cfg"},
    {.name = "set",
     .type = TMX_ARG_TEXTS,
     TMX_ARG_FIELD(args, set),
     .value = "KEY=VALUE",
     .doc = "override a key of sm.cfg, as in gate.gate_sfu=true; may be repeated"},
    {.name = "trace",
     .type = TMX_ARG_TEXT,
     TMX_ARG_FIELD(args, trace),
     .value = "FILE",
     .names = TMX_NAMES_FILE,
     .doc = "run this instruction trace; KERNEL says how memory answers"},
    {.name = "convert",
     .type = TMX_ARG_TEXT,
     TMX_ARG_FIELD(args, convert),
     .value = "FILE",
     .names = TMX_NAMES_FILE,
     .doc = "convert an Accel-Sim kernel trace (.traceg) to --out and stop"},
    {.name = "export",
     .type = TMX_ARG_TEXT,
     TMX_ARG_FIELD(args, export_to),
     .value = "FILE",
     .names = TMX_NAMES_FILE,
     .doc = "write KERNEL's first 16 thread blocks as a trace and stop"},
    {.name = "out",
     .letter = 'o',
     .type = TMX_ARG_TEXT,
     TMX_ARG_FIELD(args, out),
     .value = "DIR",
     .names = TMX_NAMES_FOLDER,
     .doc = "write table.csv into DIR (with --convert: the file to write)"},
    TMX_ARG_JOBS(args, jobs),
    TMX_ARG_FORMAT(args, format),
    TMX_ARG_QUIET(args, quiet),
    {0},
};

static enum tmx_status cycles(const char *option, const struct tmx_texts *list, int to[MAX_LIST],
                              struct tmx_err *err)
{
    enum tmx_status st = TMX_OK;
    if (list->n > MAX_LIST) {
        return tmx_fail(err, TMX_ECONFIG, "--%s: more than %d values", option, MAX_LIST);
    }
    for (size_t i = 0; i < list->n && !st; i++) {
        long v = 0;
        st = tmx_arg_whole(option, list->text[i], 1, 1000, &v, err);
        to[i] = (int)v;
    }
    return st;
}

/* What no row can say. */
static enum tmx_status check_args(struct args *a, struct tmx_err *err)
{
    enum tmx_status st = cycles("bet", &a->bet, a->bet_cycles, err);
    st = st ? st : cycles("wakeup", &a->wakeup, a->wakeup_cycles, err);
    for (size_t i = 0; i < a->policy.n && !st; i++) {
        if (!tmx_gate_find(a->policy.text[i])) {
            st = tmx_fail(err, TMX_ECONFIG,
                          "--policy: unknown policy \"%s\"; `thermix list policies` names them",
                          a->policy.text[i]);
        }
    }
    if (st) {
        return st;
    }
    if (a->kernel.n == 0 && !a->convert) {
        return tmx_fail(err, TMX_ECONFIG, "which kernel? `thermix list kernels` names them");
    }
    if ((a->trace || a->export_to) && a->kernel.n != 1) {
        return tmx_fail(err, TMX_ECONFIG, "--trace and --export take one kernel");
    }
    return a->convert && !a->out ? tmx_fail(err, TMX_ECONFIG, "--convert needs --out FILE") : TMX_OK;
}

static enum tmx_status convert(const struct args *a, struct tmx_err *err)
{
    struct tmx_output out;
    enum tmx_status st = tmx_output_open(&out, a->out, err);
    if (st) {
        return st;
    }
    st = tmx_trace_from_accelsim(a->convert, TMX_MAX_WARPS, out.file, err);
    st = st ? st : tmx_output_commit(&out, err);
    tmx_output_discard(&out);
    return st;
}

static enum tmx_status export_trace(const struct args *a, const struct tmx_gate_chip *chip,
                                    const struct tmx_gate_kernel *kernel, struct tmx_err *err)
{
    struct tmx_output out;
    struct tmx_stream s;
    enum tmx_status st = tmx_stream_generate(&s, &kernel->stats, &chip->fit[a->fit], (uint64_t)a->seed, err);
    if (st) {
        return st;
    }
    st = tmx_output_open(&out, a->export_to, err);
    if (!st) {
        tmx_trace_file_write(&s, EXPORT_BLOCKS, out.file);
        st = tmx_output_commit(&out, err);
        tmx_output_discard(&out);
    }
    tmx_stream_finish(&s);
    return st;
}

/* Policy "none" first, then every policy at every pair of times. */
static enum tmx_status make_cases(const struct args *a, const struct tmx_gate_params *gate,
                                  struct tmx_gate_case *c, size_t *n, struct tmx_err *err)
{
    const int *bet = a->bet.n ? a->bet_cycles : &gate->break_even_cycles;
    const int *wakeup = a->wakeup.n ? a->wakeup_cycles : &gate->wakeup_cycles;
    const size_t n_bet = a->bet.n ? a->bet.n : 1, n_wakeup = a->wakeup.n ? a->wakeup.n : 1;
    c[0] = (struct tmx_gate_case){tmx_gate_find("none"), bet[0], wakeup[0]};
    *n = 1;
    for (size_t i = 0; i < (a->policy.n ? a->policy.n : MAX_LIST); i++) {
        const struct tmx_gate_policy *p =
            a->policy.n ? tmx_gate_find(a->policy.text[i]) : tmx_gate_policies[i];
        if (!p) {
            break;
        }
        for (size_t k = 0; p->wake != TMX_WAKE_NO_GATING && k < n_bet * n_wakeup; k++) {
            if (*n == TMX_GATE_CASES) {
                return tmx_fail(err, TMX_ERANGE, "more than %d combinations of policies and times",
                                TMX_GATE_CASES);
            }
            c[(*n)++] = (struct tmx_gate_case){p, bet[k / n_wakeup], wakeup[k % n_wakeup]};
        }
    }
    return TMX_OK;
}

static enum tmx_status write_table(const struct args *a, const struct tmx_table *t, struct tmx_err *err)
{
    char path[1024];
    enum tmx_status st = TMX_OK;
    if (a->out) {
        snprintf(path, sizeof path, "%s/table.csv", a->out);
        st = tmx_os_mkdirs(a->out, err);
        st = st ? st : tmx_table_save(t, TMX_FORMAT_CSV, path, err);
    }
    return st ? st : tmx_table_save(t, (enum tmx_format)a->format, "-", err);
}

static enum tmx_status measure(const struct args *a, const struct tmx_gate_chip *chip,
                               const struct tmx_gate_kernel *kernel, struct tmx_err *err)
{
    struct tmx_gate_case cases[TMX_GATE_CASES];
    struct tmx_stream trace = {0};
    struct tmx_table *t = NULL;
    struct tmx_sm_result *result = NULL;
    struct tmx_gate_plan plan = {.chip = chip,
                                 .kernel = kernel,
                                 .n_kernel = a->kernel.n,
                                 .gate = cases,
                                 .first_fit = (size_t)a->fit,
                                 .n_fit = 1,
                                 .seed = (uint64_t)a->seed,
                                 .budget = a->budget > 0 ? (uint64_t)a->budget : DEFAULT_BUDGET,
                                 .n_worker = (unsigned)a->jobs,
                                 .quiet = a->quiet};
    enum tmx_status st = make_cases(a, &chip->gate, cases, &plan.n_case, err);
    if (!st && a->trace) {
        const struct tmx_instr_stats *k = &kernel->stats;
        const struct tmx_memory memory = {k->miss, k->latency_cycles, k->latency_variation, k->bandwidth,
                                          k->lines};
        st = tmx_trace_file_read(&trace, a->trace, &memory, (uint64_t)a->seed, err);
        plan.trace = &trace;
        plan.budget = a->budget > 0 ? plan.budget : UINT64_MAX;
    }
    if (!st) {
        result = calloc(a->kernel.n * plan.n_case + 1, sizeof *result);
        st = result ? tmx_gate_run(&plan, result, err) : tmx_fail(err, TMX_ENOMEM, "results");
    }
    st = st ? st : tmx_gate_table(&plan, result, &t, err);
    st = st ? st : write_table(a, t, err);
    tmx_table_destroy(t);
    free(result);
    tmx_stream_finish(&trace);
    return st;
}

static enum tmx_status run(void *args, struct tmx_err *err)
{
    struct args *a = args;
    struct tmx_gate_chip chip;
    enum tmx_status st = check_args(a, err);
    if (st || a->convert) {
        return st ? st : convert(a, err);
    }
    struct tmx_gate_kernel *kernel = calloc(a->kernel.n, sizeof *kernel);
    if (!kernel) {
        return tmx_fail(err, TMX_ENOMEM, "kernels");
    }
    st = tmx_gate_chip_load(&chip, a->chip, (const char *const *)a->set.text, a->set.n, err);
    for (size_t i = 0; !st && i < a->kernel.n; i++) {
        st = tmx_gate_kernel_load(&kernel[i], a->kernel.text[i], err);
    }
    if (!st && a->export_to) {
        st = export_trace(a, &chip, kernel, err);
    } else if (!st && a->tune >= 0) {
        st = tmx_gate_tune(&chip, kernel, a->kernel.n, (size_t)a->tune, (uint64_t)a->seed, stdout, err);
    } else if (!st) {
        st = measure(a, &chip, kernel, err);
    }
    free(kernel);
    return st;
}

const struct tmx_command tmx_cmd_gate = {
    .name = "gate",
    .summary = "unit gating on one SM, cycle by cycle",
    .doc = "Unit gating of kernels on one SM, cycle by cycle: static energy saved, slowdown, idle periods.",
    .examples = "thermix gate hotspot cutcp --policy convpg,warped_gates --bet 9,14,19,24\n"
                "thermix gate hotspot --wakeup 3,6,9 -o out/hotspot\n"
                "thermix gate --convert kernel-1.traceg -o kernel-1.trace\n"
                "thermix gate hotspot --trace kernel-1.trace",
    .args = rows,
    .operands = "KERNEL...",
    .operand = offsetof(struct args, kernel),
    .max_operand = TMX_GATE_KERNELS,
    .operand_names = TMX_NAMES_KERNEL,
    .size = sizeof(struct args),
    .run = run,
};

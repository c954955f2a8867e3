/* SPDX-License-Identifier: GPL-3.0-or-later */
/* thermix gate: unit gating of kernels on one SM, cycle by cycle. */
#include "base/text.h"
#include "cli/commands.h"
#include "papers/suite.h"
#include "study/microbench/microbench.h"

struct args {
    struct tmx_texts kernel, policy;
    struct tmx_sets sets;
    struct tmx_ints bet, wakeup;
    const char *chip, *out, *trace, *convert, *export_to;
    int fit, tune; /* index of a fit, -1: no tuning */
    long seed, seeds, budget, jobs;
    bool quiet;
    struct tmx_gate_kernel loaded[TMX_GATE_KERNELS];
    struct tmx_print print;
};

static const struct tmx_arg rows[] = {
    TMX_ARG(args, policy, LIST, "policy", 'p', .apart = "convert export tune", .value = "LIST",
            .names = TMX_NAMES_GATE, .doc = "policies, as in convpg,warped_gates (without it: all)"),
    TMX_ARG(args, bet, INTS, "bet", 0, .apart = "convert export tune", .value = "LIST", .min = 1, .max = 1000,
            .doc = "break-even times [cycles], as in 9,14,19,24 (without it: the chip's, 14)"),
    TMX_ARG(args, wakeup, INTS, "wakeup", 0, .apart = "convert export tune", .value = "LIST", .min = 1,
            .max = 1000, .doc = "wake-up times [cycles], as in 3,6,9 (without it: the chip's, 3)"),
    TMX_ARG(args, budget, INT, "instructions", 'n', .apart = "convert", .value = "N", .min = 1, .max = 1e9,
            .doc = "warp instructions in each run (without it: 300000, or the whole trace)"),
    TMX_ARG(args, seed, INT, "seed", 0, .apart = "convert", .value = "N", .min = 0, .max = 4294967295.0,
            .def = "1", .doc = "seed of the instruction streams"),
    TMX_ARG(args, fit, WORD, "fit", 0, .apart = "convert tune", .words = tmx_gate_fits, .def = "all",
            .doc = "fitted knobs of the instruction streams to use"),
    TMX_ARG(args, tune, WORD, "tune", 0, .apart = "convert export", .words = tmx_gate_fits,
            .doc = "fit the knobs again over KERNEL... and print them; slow"),
    TMX_ARG(args, seeds, INT, "seeds", 0, .needs = "tune", .value = "N", .min = 1, .max = 1000, .def = "8",
            .doc = "--tune: fit to the mean over this many seeds"),
    TMX_ARG(args, chip, TEXT, "chip", 0, .apart = "convert", .value = "NAME", .def = "gtx480",
            .names = TMX_NAMES_CHIP, .doc = "chip whose SM is simulated, from floorplans/NAME/sm.cfg"),
    TMX_ARG(args, sets, SETS, "set", 0, .apart = "convert", .value = "KEY=VALUE",
            .doc = "override a key of sm.cfg, as in gate.gate_sfu=true; may be repeated"),
    TMX_ARG(args, trace, TEXT, "trace", 0, .apart = "convert export tune", .value = "FILE",
            .names = TMX_NAMES_FILE, .doc = "run this instruction trace with KERNEL's memory latencies"),
    TMX_ARG(args, convert, TEXT, "convert", 0, .value = "FILE", .names = TMX_NAMES_FILE,
            .doc = "convert an Accel-Sim kernel trace (.traceg) to --out and stop"),
    TMX_ARG(args, export_to, TEXT, "export", 0, .apart = "convert", .value = "FILE", .names = TMX_NAMES_FILE,
            .doc = "write KERNEL's first 16 thread blocks as a trace and stop"),
    TMX_ARG(args, out, TEXT, "out", 'o', .apart = "export tune", .value = "DIR", .names = TMX_NAMES_FOLDER,
            .doc = "write table.csv into DIR (with --convert: the file to write)"),
    TMX_ARG_JOBS(args, jobs),
    TMX_ARG_TABLE_IF(args, .apart = "convert export tune"),
    TMX_ARG_QUIET(args, quiet),
    {0},
};

static void run(void *args, struct tmx_err *err)
{
    struct args *a = args;
    struct tmx_gate_chip chip;
    if (a->convert && !a->out) {
        tmx_error(err, TMX_ECONFIG, "--convert needs --out FILE");
    } else if (a->convert) {
        tmx_gate_convert(a->convert, a->out, err);
        return;
    } else if (a->kernel.n == 0 || ((a->trace || a->export_to) && a->kernel.n != 1)) {
        tmx_error(err, TMX_ECONFIG,
                  a->kernel.n ? "--trace and --export take one kernel"
                              : "which kernel? `thermix list kernels` names them");
    }
    const struct tmx_gate_question q = {.plan = {.chip = &chip,
                                                 .kernel = a->loaded,
                                                 .n_kernel = a->kernel.n,
                                                 .fit = (size_t)a->fit,
                                                 .seed = (uint64_t)a->seed,
                                                 .budget = (uint64_t)a->budget,
                                                 .n_worker = (unsigned)a->jobs,
                                                 .quiet = a->quiet},
                                        .policy = a->policy.text,
                                        .n_policy = a->policy.n,
                                        .break_even_cycles = a->bet.v,
                                        .n_bet = a->bet.n,
                                        .wakeup_cycles = a->wakeup.v,
                                        .n_wakeup = a->wakeup.n,
                                        .trace = a->trace};
    (void)(err->code || tmx_gate_chip_load(&chip, a->chip, &a->sets, err));
    for (size_t i = 0; !err->code && i < a->kernel.n; i++) {
        if (tmx_names_find(a->kernel.text[i], a->kernel.text, i) < i) {
            tmx_error(err, TMX_ECONFIG, "%s is given twice", a->kernel.text[i]);
        } else {
            (void)!tmx_gate_kernel_load(&a->loaded[i], a->kernel.text[i], err);
        }
    }
    if (a->export_to) {
        tmx_gate_export(&q.plan, a->export_to, err);
    } else if (!err->code && a->tune >= 0) {
        (void)!tmx_gate_tune(&chip, q.plan.kernel, q.plan.n_kernel, (size_t)a->tune, q.plan.seed,
                             (size_t)a->seeds, stdout, err);
    } else {
        struct tmx_table *t = tmx_gate_ask(&q, err);
        if (a->out) {
            tmx_table_save_in(t, a->out, "table.csv", err);
        }
        tmx_print_end(t, &a->print, "-", NULL, err);
    }
}

const struct tmx_command tmx_cmd_gate = {
    .name = "gate",
    .summary = "unit gating on one SM, cycle by cycle",
    .doc = "Unit gating of kernels on one SM, cycle by cycle: static energy saved, slowdown, idle periods.",
    .examples = "thermix gate hotspot cutcp --policy convpg,warped_gates --bet 9,14,19,24\n"
                "thermix gate hotspot --wakeup 3,6,9 -o out/hotspot\n"
                "thermix gate --convert kernel-1.traceg -o kernel-1.trace\n"
                "thermix gate hotspot --trace kernel-1.trace",
    TMX_OPERANDS(args, kernel, 0, TMX_GATE_KERNELS, "KERNEL...", KERNEL, NULL),
    TMX_RUNS(args),
};

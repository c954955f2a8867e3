/* SPDX-License-Identifier: GPL-3.0-or-later */
/* thermix table: run a suite and print its table. */
#include "cli/commands.h"
#include "limits/bound.h"
#include "papers/suite.h"

struct args {
    struct tmx_texts suite, policy;
    struct tmx_sets sets;
    struct tmx_suite_call call;
    long jobs;
    struct tmx_print print;
};

static const struct tmx_arg rows[] = {
    TMX_ARG(args, call.out_dir, TEXT, "out", 'o', .value = "DIR", .names = TMX_NAMES_FOLDER,
            .doc = "write table.csv and paper.csv into DIR, and keep the finished runs there"),
    TMX_ARG_JOBS(args, jobs),
    TMX_ARG(args, call.n_seed, INT, "seeds", 0, .value = "N", .min = 0, .max = 1000, .def = "0",
            .doc = "run everything with N seeds, from the suite's on: means; paper.csv has sd, ci95 (half "
                   "the 95 % interval of the mean, by Student's t) and seeds, as table.csv has of mixes; 0: "
                   "as the suite says"),
    TMX_ARG(args, call.nudge, FLAG, "nudge", 0,
            .doc = "--seeds N of a suite of mixes: the suite's seed N times, with start temperatures 1e-6 K "
                   "apart: what depends on rounding shows its spread"),
    TMX_ARG_TABLE(args),
    TMX_ARG_SET(args, sets, "base."),
    TMX_ARG(args, policy, LIST, "policy", 0, .value = "NAME,...",
            .doc = "suites of kind tabs: run these presets and, of its own, only the policies that it "
                   "compares with"),
    TMX_ARG(args, sets, SETS, "gate", 0, .value = "POLICY",
            .prefix = "base.gate.policy=", .names = TMX_NAMES_GATE,
            .doc = "unit gating under every policy, short for --set gate.policy=POLICY"),
    TMX_ARG(args, sets, SETS, "cta", 0, .value = "POLICY",
            .prefix = "base.cta.policy=", .names = TMX_NAMES_CTA,
            .doc = "thread-block throttling under every policy, short for --set cta.policy=POLICY"),
    TMX_ARG_QUIET(args, call.quiet),
    {0},
};

static void run(void *args, struct tmx_err *err)
{
    struct args *a = args;
    struct tmx_suite_call *call = &a->call;
    call->name = a->suite.text[0];
    call->sets = &a->sets;
    call->column = a->print.columns.text;
    call->n_column = a->print.columns.n;
    call->policy = a->policy.text;
    call->n_policy = a->policy.n;
    call->n_worker = (unsigned)a->jobs;
    call->format = (enum tmx_format)a->print.format;
    call->probe = &tmx_gap_probe;
    (void)!tmx_suite_run(call, err);
}

const struct tmx_command tmx_cmd_table = {
    .name = "table",
    .summary = "run a suite and print its table",
    .doc = "Run a suite (workloads/suites/SUITE.cfg or a file) and print its table.",
    .notes = "With -o, each run of a suite of mixes (kind tabs and consolidation_day) is kept in "
             "DIR/runs.sqlite as it ends: after Ctrl-C or a power cut the same command runs only the rest, "
             "and prints how many runs it found. `thermix query DIR` makes other tables of them.",
    .examples = "thermix table tabs -o out/tabs -j 2\n"
                "thermix table tabs --set tick_s=0.01 --format markdown\n"
                "thermix table short --seeds 5 -o out/short5\n"
                "thermix table tabs --policy foresight,tsp",
    TMX_OPERANDS(args, suite, 1, 1, "SUITE", SUITE, "which suite? `thermix list suites` names them"),
    .keeps = true,
    TMX_RUNS(args),
};

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* thermix bound: what could be best. */
#include <math.h>

#include "cli/commands.h"
#include "limits/bound.h"
#include "study/pool.h"

struct args {
    struct tmx_texts what;
    struct tmx_sets sets;
    struct tmx_bound_call call;
    struct tmx_print print;
};

static const struct tmx_arg rows[] = {
    TMX_ARG(args, call.limit_c, REAL, "limit", 0, .value = "C", .min = -273, .max = 300,
            .doc = "no SM hotter than this, degC (without it: where the hardware stops an SM)"),
    TMX_ARG(args, call.uniform, FLAG, "uniform", 0,
            .doc = "treat all SMs alike: the bound without placement"),
    TMX_ARG(args, call.one_level, FLAG, "one-level", 0,
            .doc = "use the fastest clock level only: SMs idle instead of slowing down"),
    TMX_ARG(args, call.sm_leak, REAL, "sm-leak", 0, .value = "X", .min = 0.01, .max = 1,
            .doc = "share of the SMs' leakage that remains under unit gating"),
    TMX_ARG(args, call.tbt_s, REAL, "tbt", 0, .value = "S", .min = 1e-4, .max = 100,
            .doc = "serving: mean time between tokens at most, s"),
    TMX_ARG(args, call.reached, FLAG, "reached", 0,
            .doc = "serving: run each policy of the suite, or the run, and bound it at the time between "
                   "tokens it reached"),
    TMX_ARG_FORMAT(args, print.format),
    TMX_ARG(args, print.columns, LIST, "columns", 0, .value = "NAME,...",
            .doc = "these columns, in this order"),
    TMX_ARG_SET(args, sets, "base."),
    {0},
};

static void run(void *args, struct tmx_err *err)
{
    struct args *a = args;
    struct tmx_table *table = NULL;
    struct tmx_progress progress = {.noun = "runs"};
    a->call.sm_leak = fmax(0, a->call.sm_leak); /* not given: 0 */
    a->call.tbt_s = fmax(0, a->call.tbt_s);
    a->call.sets = &a->sets;
    a->call.run_done = tmx_progress_at;
    a->call.run_done_to = &progress;
    (void)!tmx_bound_table(&table, a->what.text[0], &a->call, err);
    tmx_progress_end(&progress);
    tmx_print_end(table, &a->print, "-", NULL, err);
}

const struct tmx_command tmx_cmd_bound = {
    .name = "bound",
    .summary = "the least slowdown any policy can have, with a certificate",
    .doc =
        "The least slowdown that any policy can have, by a linear programme over shares, places and clock "
        "levels. Of a run that serves a language model: the most tokens a second, by any routing and clocks.",
    .notes = "A mix is bounded on the machine of suite tabs-knobs (--set changes it), a run on its own. "
             "`thermix table SUITE -o DIR` writes DIR/ledger.csv: how much each policy of a suite loses "
             "against its bound, by cause.",
    .examples = "thermix bound tabs-knobs --format csv\n"
                "thermix bound WL7 --limit 88 --one-level\n"
                "thermix bound serve-warm --reached",
    TMX_OPERANDS(args, what, 1, 1, "SUITE|MIX|RUN", SUITE,
                 "which suite, mix or run? `thermix list` names them"),
    .keeps = true,
    TMX_RUNS(args),
};

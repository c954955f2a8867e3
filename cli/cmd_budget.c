/* SPDX-License-Identifier: GPL-3.0-or-later */
/* thermix budget: what is safe. */
#include <math.h>
#include <string.h>

#include "base/text.h"
#include "cli/commands.h"
#include "limits/budget.h"
#include "plots/plot.h"

struct args {
    struct tmx_texts chip;
    struct tmx_sets sets;
    double limit_c, horizon_s, at_s, boost;
    long level;
    const char *map, *state, *out;
    struct tmx_print print;
};

static const struct tmx_arg rows[] = {
    TMX_ARG(args, limit_c, REAL, "limit", 0, .value = "C", .min = -273, .max = 300,
            .doc = "no SM hotter than this, degC (without it: where the hardware stops an SM)"),
    TMX_ARG(args, level, INT, "level", 0, .value = "V", .min = 0, .max = 63,
            .doc = "clock level; 0 is the fastest: leakage follows its voltage"),
    TMX_ARG(args, horizon_s, REAL, "horizon", 0, .value = "S", .min = 1e-6, .max = 1e9,
            .doc = "budgets that hold for this many seconds from the idle chip (without it: for ever)"),
    TMX_ARG(args, boost, REAL, "boost", 0, .apart = "horizon map", .value = "X", .min = 1.001, .max = 20,
            .doc = "how long all SMs may draw X times the work that they may draw for ever"),
    TMX_ARG(args, state, TEXT, "state", 0, .needs = "horizon boost", .value = "RUN", .names = TMX_NAMES_RUN,
            .doc = "with --horizon or --boost: start from a moment of this run (or of a run's folder) "
                   "instead of from the idle chip"),
    TMX_ARG(args, at_s, REAL, "at", 0, .needs = "state", .value = "S", .min = 0, .max = 1e9, .def = "0",
            .doc = "with --state: the moment, in seconds after the run's warm-up"),
    TMX_ARG(args, map, TEXT, "map", 0, .value = "best|worst|FILE", .names = TMX_NAMES_FILE,
            .doc =
                "draw which SMs work: the best or worst choice for each number, or the SMs that FILE names"),
    TMX_ARG_TABLE_TO(args, out, "write the table to FILE; X.svg draws the maps"),
    TMX_ARG_FORMAT(args, print.format),
    TMX_ARG(args, print.columns, LIST, "columns", 0, .value = "NAME,...",
            .doc = "these columns, in this order"),
    TMX_ARG_SET(args, sets, ""),
    {0},
};

static void run(void *args, struct tmx_err *err)
{
    const struct args *a = args;
    struct tmx_table *table = NULL;
    struct tmx_run *run = NULL;
    const bool drawn = tmx_text_ends(a->out, ".svg");
    const struct tmx_budget_table_call call = {
        .limit_c = a->limit_c,
        .horizon_s = isnan(a->horizon_s) ? 0 : a->horizon_s,
        .boost = isnan(a->boost) ? 0 : a->boost,
        .state = a->state,
        .at_s = a->at_s,
        .level = (size_t)a->level,
        .map = drawn && !a->map && isnan(a->boost) ? "best" : a->map,
        .sets = &a->sets,
        .say = a->print.format == TMX_FORMAT_TEXT && strcmp(a->out, "-") == 0 ? stdout : NULL};
    (void)!tmx_budget_table(&table, &run, a->chip.text[0], &call, err);
    if (drawn && a->boost > 0) {
        tmx_error(err, TMX_ECONFIG, "-o %s: --boost has no map to draw", a->out);
    } else if (!err->code && drawn) {
        (void)!tmx_budget_save_svg(tmx_run_sim(run)->machine->gpu[0].chip, table,
                                   strcmp(call.map, "worst") == 0 ? "worst_w" : "best_w", a->out, err);
    } else {
        static const char *const read[] = {"sms", "worst_w", "best_w", "ratio", "chip_w", "loop_gain"};
        const bool people = a->print.format == TMX_FORMAT_TEXT || a->print.format == TMX_FORMAT_MARKDOWN ||
                            a->print.format == TMX_FORMAT_LATEX;
        const struct tmx_print few = {a->print.format, {.text = read, .n = sizeof read / sizeof read[0]}};
        const bool rest_empty = people && !a->map && isnan(a->boost) && a->print.columns.n == 0;
        tmx_print(table, rest_empty ? &few : &a->print, a->out, NULL, err);
    }
    tmx_table_destroy(table);
    tmx_run_destroy(run);
}

const struct tmx_command tmx_cmd_budget = {
    .name = "budget",
    .summary = "watts that working SMs may draw without passing a temperature",
    .doc = "Thermal safe power: the watts of dynamic power that each of n working SMs may draw, for the "
           "worst and the best choice of SMs, with leakage solved beside the temperatures.",
    .notes = "--map adds a column with the floorplan: # works, . rests. A FILE names SM numbers, such as 0 1 "
             "5. With --state, --set changes the run.",
    .examples = "thermix budget gtx280 --limit 88\n"
                "thermix budget gtx280 --limit 88 --horizon 1 --map best\n"
                "thermix budget gtx280 --limit 88 --map best -o maps.svg\n"
                "thermix budget gtx280 --limit 88 --boost 1.3\n"
                "thermix budget gtx280 --state wl1 --at 20 --horizon 1",
    TMX_OPERANDS(args, chip, 1, 1, "CHIP", CHIP, "which chip? `thermix list chips` names them"),
    .keeps = true,
    TMX_RUNS(args),
};

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* thermix bound and thermix budget: what could be best, and what is safe. */
#include <math.h>

#include "cli/commands.h"
#include "plan/bound_table.h"
#include "plan/budget_table.h"
#include "study/table_out.h"

struct bound_args {
    struct tmx_texts what, set;
    double limit_c, sm_leak;
    bool uniform, one_level;
    int format;
};

static const struct tmx_arg bound_rows[] = {
    {.name = "limit",
     .type = TMX_ARG_REAL,
     TMX_ARG_FIELD(bound_args, limit_c),
     .value = "C",
     .min = -273,
     .max = 300,
     .doc = "no SM hotter than this, degC (without it: where the hardware stops an SM)"},
    {.name = "uniform",
     .type = TMX_ARG_FLAG,
     TMX_ARG_FIELD(bound_args, uniform),
     .doc = "all SMs alike: what is lost without placement"},
    {.name = "one-level",
     .type = TMX_ARG_FLAG,
     TMX_ARG_FIELD(bound_args, one_level),
     .doc = "the fastest clock level only: idling in place of slower clocks"},
    {.name = "sm-leak",
     .type = TMX_ARG_REAL,
     TMX_ARG_FIELD(bound_args, sm_leak),
     .value = "X",
     .min = 0.01,
     .max = 1,
     .doc = "the share of the SMs' leakage that unit gating leaves"},
    TMX_ARG_FORMAT(bound_args, format),
    TMX_ARG_SET(bound_args, set, "base."),
    {0},
};

static enum tmx_status run_bound(void *args, struct tmx_err *err)
{
    const struct bound_args *a = args;
    struct tmx_table *table = NULL;
    const struct tmx_bound_call call = {.has_limit = !isnan(a->limit_c),
                                        .limit_c = a->limit_c,
                                        .uniform = a->uniform,
                                        .one_level = a->one_level,
                                        .sm_leak = isnan(a->sm_leak) ? 0 : a->sm_leak,
                                        .set = (const char *const *)a->set.text,
                                        .n_set = a->set.n};
    enum tmx_status st = tmx_bound_table(&table, a->what.text[0], &call, err);
    st = st ? st : tmx_table_save(table, (enum tmx_format)a->format, "-", err);
    tmx_table_destroy(table);
    return st;
}

const struct tmx_command tmx_cmd_bound = {
    .name = "bound",
    .summary = "the least slowdown any policy can have, with a certificate",
    .doc = "The least slowdown that any policy can have, by a linear programme over shares, places and clock "
           "levels.",
    .notes = "A mix is bounded on the machine of suite tabs-h; --set changes it. What each policy of a suite "
             "loses "
             "against its bound, and to what: `thermix table SUITE -o DIR` writes DIR/ledger.csv.",
    .examples = "thermix bound tabs-h --format csv\n"
                "thermix bound WL7 --limit 88 --one-level",
    .args = bound_rows,
    .operands = "SUITE|MIX",
    .operand = offsetof(struct bound_args, what),
    .min_operand = 1,
    .max_operand = 1,
    .which = "which suite or mix? `thermix list` names them",
    .operand_names = TMX_NAMES_SUITE,
    .size = sizeof(struct bound_args),
    .run = run_bound,
};

struct budget_args {
    struct tmx_texts chip, set;
    double limit_c, horizon_s;
    long level;
    const char *map;
    int format;
};

static const struct tmx_arg budget_rows[] = {
    {.name = "limit",
     .type = TMX_ARG_REAL,
     TMX_ARG_FIELD(budget_args, limit_c),
     .value = "C",
     .min = -273,
     .max = 300,
     .doc = "no SM hotter than this, degC (without it: where the hardware stops an SM)"},
    {.name = "level",
     .type = TMX_ARG_INT,
     TMX_ARG_FIELD(budget_args, level),
     .value = "V",
     .min = 0,
     .max = 63,
     .doc = "clock level; 0 is the fastest: leakage follows its voltage"},
    {.name = "horizon",
     .type = TMX_ARG_REAL,
     TMX_ARG_FIELD(budget_args, horizon_s),
     .value = "S",
     .min = 1e-6,
     .max = 1e9,
     .doc = "budgets for so many seconds from the idle chip (without it: for ever)"},
    {.name = "map",
     .type = TMX_ARG_TEXT,
     TMX_ARG_FIELD(budget_args, map),
     .value = "best|worst|FILE",
     .names = TMX_NAMES_FILE,
     .doc = "which SMs work, drawn: the best or worst for each number, or those a file names"},
    TMX_ARG_FORMAT(budget_args, format),
    TMX_ARG_SET(budget_args, set, ""),
    {0},
};

static enum tmx_status run_budget(void *args, struct tmx_err *err)
{
    const struct budget_args *a = args;
    struct tmx_table *table = NULL;
    const struct tmx_budget_table_call call = {.has_limit = !isnan(a->limit_c),
                                               .limit_c = a->limit_c,
                                               .horizon_s = isnan(a->horizon_s) ? 0 : a->horizon_s,
                                               .level = (size_t)a->level,
                                               .map = a->map,
                                               .set = (const char *const *)a->set.text,
                                               .n_set = a->set.n};
    enum tmx_status st = tmx_budget_table(&table, a->chip.text[0], &call, err);
    st = st ? st : tmx_table_save(table, (enum tmx_format)a->format, "-", err);
    tmx_table_destroy(table);
    return st;
}

const struct tmx_command tmx_cmd_budget = {
    .name = "budget",
    .summary = "watts that working SMs may draw without passing a temperature",
    .doc =
        "Thermal safe power: the watts of dynamic power that each of n working SMs may draw, for the worst "
        "and the best choice of SMs, with leakage solved beside the temperatures.",
    .notes = "--map adds a column with the floorplan: # works, . rests. A FILE names SM numbers.",
    .examples = "thermix budget gtx280 --limit 88\n"
                "thermix budget gtx280 --limit 88 --horizon 1 --map best",
    .args = budget_rows,
    .operands = "CHIP",
    .operand = offsetof(struct budget_args, chip),
    .min_operand = 1,
    .max_operand = 1,
    .which = "which chip? `thermix list chips` names them",
    .operand_names = TMX_NAMES_CHIP,
    .size = sizeof(struct budget_args),
    .run = run_budget,
};

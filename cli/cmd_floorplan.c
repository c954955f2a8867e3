/* SPDX-License-Identifier: GPL-3.0-or-later */
/* thermix floorplan: check, show, change, make and compare floorplans. */
#include "cli/commands.h"
#include "cli/parts/floorplan_verbs.h"
#include "core/machine/floorplan_edit.h"
#include "study/table_out.h"

static const char *const formats[] = {"hotspot", "ice", NULL}; /* enum tmx_floorplan_to */

static const struct tmx_arg rows[] = {
    TMX_ARG(tmx_floorplan_args, out, TEXT, "output", 'o', .value = "FILE", .def = "-",
            .names = TMX_NAMES_FILE, .doc = "write to FILE; `show -o X.svg` draws; compare: a folder"),
    TMX_ARG(tmx_floorplan_args, by, TEXT, "by", 0, .value = "XxY",
            .doc = "scale: factors; move: millimetres; split, grid: pieces"),
    TMX_ARG(tmx_floorplan_args, unit, TEXT, "unit", 0, .value = "NAME",
            .doc = "the unit to move, swap or split"),
    TMX_ARG(tmx_floorplan_args, with, TEXT, "with", 0, .value = "NAME", .doc = "swap: the other unit"),
    TMX_ARG(tmx_floorplan_args, turns, INT, "turns", 0, .value = "N", .min = -4096, .max = 4096, .def = "1",
            .doc = "rotate: quarter turns counter-clockwise"),
    TMX_ARG(
        tmx_floorplan_args, to, WORD, "to", 0, .words = formats, .def = "hotspot",
        .doc =
            "convert: HotSpot's files, or 3D-ICE's: of a .flp a floorplan, of a .lcf or .config a stack in "
            "the folder -o"),
    TMX_ARG(tmx_floorplan_args, gaps, FLAG, "allow-gaps", 0, .doc = "units need not fill the die"),
    TMX_ARG_FORMAT(tmx_floorplan_args, format),
    {.type = TMX_ARG_GROUP, .doc = "generate:"},
    TMX_ARG(tmx_floorplan_args, sms, INT, "sms", 0, .value = "N", .min = 1, .max = 4096, .def = "1",
            .doc = "number of SMs"),
    TMX_ARG(tmx_floorplan_args, per_tpc, INT, "per-tpc", 0, .value = "N", .min = 1, .max = 4096, .def = "1",
            .doc = "SMs of one cluster"),
    TMX_ARG(tmx_floorplan_args, die, TEXT, "die", 0, .value = "WxHmm", .doc = "sides of the die"),
    TMX_ARG(tmx_floorplan_args, sm_area_mm2, REAL, "sm-area", 0, .value = "MM2", .min = 0, .max = 1e6,
            .doc = "area of one SM; without it all take 52 % of the die"),
    TMX_ARG(tmx_floorplan_args, margin_mm, REAL, "margin", 0, .value = "MM", .min = 0, .max = 1e6,
            .doc = "width of the memory controllers; without it a twelfth of the die"),
    TMX_ARG(tmx_floorplan_args, place, WORD, "place", 0, .words = tmx_sm_layout_names, .def = "edges",
            .doc = "where the SMs are"),
    {.type = TMX_ARG_GROUP, .doc = "compare:"},
    TMX_ARG(tmx_floorplan_args, suite, TEXT, "suite", 0, .value = "SUITE", .names = TMX_NAMES_SUITE,
            .doc = "its mixes and settings are run on every floorplan"),
    TMX_ARG(tmx_floorplan_args, policy, TEXT, "policy", 0, .value = "NAME", .def = "BL",
            .names = TMX_NAMES_PRESET, .doc = "the policy"),
    TMX_ARG_JOBS(tmx_floorplan_args, jobs),
    {0},
};

static enum tmx_status run(void *args, struct tmx_err *err)
{
    return tmx_floorplan_do(args, err);
}

const struct tmx_command tmx_cmd_floorplan = {
    .name = "floorplan",
    .summary = "check, show, change, make and compare floorplans",
    .doc = "Check, show, change, make and compare floorplans (HotSpot .flp; 3D-ICE .flp and .stk are read "
           "too).\n\n"
           "Verbs: check show convert scale rotate mirror move swap split grid generate compare",
    .notes = "Every result is checked to tile the die before it is written.",
    .examples = "thermix floorplan generate --sms 30 --per-tpc 3 --die 24x24mm --place centre -o centre.flp\n"
                "thermix floorplan scale centre.flp --by 0.7 -o shrink.flp\n"
                "thermix floorplan show shrink.flp -o shrink.svg\n"
                "thermix floorplan compare centre.flp floorplans/gtx280/gtx280.flp --suite tabs",
    .args = rows,
    .operands = "VERB [FILE...]",
    .operand = offsetof(struct tmx_floorplan_args, words),
    .min_operand = 1,
    .max_operand = 33,
    .which = "what to do?",
    .operand_words = tmx_floorplan_verbs,
    .operand_names = TMX_NAMES_FILE,
    .size = sizeof(struct tmx_floorplan_args),
    .run = run,
};

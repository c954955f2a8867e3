/* SPDX-License-Identifier: GPL-3.0-or-later */
/* thermix export: a run as a file of other viewers. */
#include <math.h>

#include "base/text.h"
#include "cli/commands.h"
#include "plots/plot.h"

struct args {
    struct tmx_texts run;
    const char *out;
    double at_s;
    struct tmx_ints gpus;
};

static const struct tmx_arg rows[] = {
    TMX_ARG(args, out, TEXT, "output", 'o', .value = "FILE", .names = TMX_NAMES_FILE,
            .doc = "X.json: the run's timeline for Perfetto or chrome://tracing; X.vtk: its units at one "
                   "moment, for ParaView"),
    TMX_ARG(
        args, at_s, REAL, "at", 0, .value = "SECONDS", .min = -1e9, .max = 1e9,
        .doc =
            "X.vtk: the recorded moment nearest to SECONDS (without it: when the hottest unit was hottest)"),
    TMX_ARG(args, gpus, INTS, "gpu", 0, .value = "N", .min = 0, .max = 65535, .doc = "this GPU alone"),
    {0},
};

static void run(void *args, struct tmx_err *err)
{
    const struct args *a = args;
    if (!a->out) {
        tmx_error(err, TMX_ECONFIG, "where to? -o FILE.json or FILE.vtk");
    } else if (!isnan(a->at_s) && !tmx_text_ends(a->out, ".vtk")) {
        tmx_error(err, TMX_ECONFIG, "--at does nothing in %s: it is of a .vtk", a->out);
    } else if (a->gpus.n > 1) {
        tmx_error(err, TMX_ECONFIG, "--gpu: one GPU, or none for all");
    }
    const struct tmx_export e = {a->run.text[0], a->out, a->at_s, a->gpus.n > 0 ? a->gpus.v[0] : -1};
    (void)(err->code || tmx_export(&e, err));
}

const struct tmx_command tmx_cmd_export = {
    .name = "export",
    .summary = "a run as a timeline for Perfetto, or as VTK",
    .doc = "Write a run's folder as a file of another viewer: what each SM ran, kernels, clocks, their "
           "reasons, powers and temperatures over time (from --trace), or a map of temperatures and powers "
           "(from --hotspot).",
    .notes =
        "Open X.json at https://ui.perfetto.dev or in chrome://tracing. Above 2048 SMs in all the tracks of "
        "SMs need --gpu. `thermix thermal -grid_steady_file X.vtk` writes all layers of a stack.",
    .examples = "thermix run wl1 -o out/wl1 --trace 0.5 --hotspot 0.5\n"
                "thermix export out/wl1 -o wl1.json\n"
                "thermix export out/wl1 -o wl1.vtk --at 30",
    TMX_OPERANDS(args, run, 1, 1, "RUN", FOLDER, "which run? The folder of `thermix run -o`"),
    TMX_RUNS(args),
};

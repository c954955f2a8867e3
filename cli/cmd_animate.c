/* SPDX-License-Identifier: GPL-3.0-or-later */
/* thermix animate: a film of a run. */
#include "cli/commands.h"
#include "plots/plot.h"

struct args {
    struct tmx_texts run;
    const char *out;
    long n_frame, per_s;
    bool keep;
};

static const struct tmx_arg rows[] = {
    TMX_ARG(args, out, TEXT, "output", 'o', .value = "FILE", .names = TMX_NAMES_FILE,
            .doc = "film to write, .mp4 or .gif"),
    TMX_ARG(args, n_frame, INT, "frames", 'n', .value = "N", .min = 1, .max = 5000, .def = "150",
            .doc = "at most N pictures"),
    TMX_ARG(args, per_s, INT, "rate", 'r', .value = "N", .min = 1, .max = 5000, .def = "12",
            .doc = "pictures a second"),
    TMX_ARG(args, keep, FLAG, "keep", 0, .doc = "keep the pictures in FILE.frames"),
    {0},
};

static void run(void *args, struct tmx_err *err)
{
    const struct args *a = args;
    const struct tmx_animation film = {a->run.text[0], a->out, (size_t)a->n_frame, (size_t)a->per_s, a->keep};
    if (!a->out) {
        tmx_error(err, TMX_ECONFIG, "where to? -o FILE");
    }
    (void)(err->code || tmx_animation(&film, stdout, err));
}

const struct tmx_command tmx_cmd_animate = {
    .name = "animate",
    .summary = "a film of a run's heat map",
    .doc = "A film of the heat map of a run, all its GPUs side by side.",
    .notes = "The colour scale is the same in all pictures. The command needs gnuplot and ffmpeg.",
    .examples = "thermix run wl1 -o out/wl1 --hotspot 2\n"
                "thermix animate out/wl1 -o out/wl1/heat.mp4",
    TMX_OPERANDS(args, run, 1, 1, "RUN", FOLDER, "which run? The folder of `thermix run -o`"),
    TMX_RUNS(args),
};

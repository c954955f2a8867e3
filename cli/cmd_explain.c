/* SPDX-License-Identifier: GPL-3.0-or-later */
/* thermix explain: why a run was slow. */
#define _POSIX_C_SOURCE 200809L
#include <stdio.h>
#include <stdlib.h>

#include "base/os.h"
#include "cli/commands.h"
#include "limits/budget.h"
#include "plots/plot.h"
#include "run/load/data.h"
#include "study/study.h"

struct args {
    struct tmx_texts run;
    struct tmx_sets sets;
    long jobs;
    const char *out;
    int size;
    bool no_steps, accept_changed;
    struct tmx_print print;
};

static const struct tmx_arg rows[] = {
    TMX_ARG(args, out, TEXT, "output", 'o', .value = "FILE", .names = TMX_NAMES_FILE,
            .doc = "also draw the loss over time and by SM, to X.svg, X.png or X.pdf (with its data in "
                   "X.figure) or into a folder"),
    TMX_ARG(args, size, WORD, "size", 's', .needs = "output", .words = tmx_plot_sizes,
            .doc = "size of the figure: for a column of a paper, a page or a slide (default: a page)"),
    TMX_ARG_SET(args, sets, ""),
    TMX_ARG(args, no_steps, FLAG, "no-steps", 0,
            .doc = "explain only this run, without the runs in which one knob is turned a step"),
    TMX_ARG(args, accept_changed, FLAG, "accept-changed", 0,
            .doc = "if the kernels, mix or chip of a folder's run have been edited since: explain the run "
                   "with the new files instead of refusing"),
    TMX_ARG_JOBS(args, jobs),
    TMX_ARG_TABLE(args),
    {0},
};

static void run(void *args, struct tmx_err *err)
{
    const struct args *a = args;
    char path[TMX_PATH_SIZE];
    char dir[TMX_PATH_SIZE];
    struct tmx_explained e = {0};
    struct tmx_plot p = {
        .only = "explain", .quiet = true, .size = a->size < 0 ? NULL : tmx_plot_sizes[a->size]};
    const bool people = a->print.format == TMX_FORMAT_TEXT;
    /* before the run: a name that cannot be drawn is known at once */
    (void)(a->out && (tmx_plot_target(&p, a->out, NULL, dir, sizeof dir, err) || tmx_plot_begin(&p, err)));
    const bool folder = snprintf(path, sizeof path, "%s/resolved.cfg", a->run.text[0]) < (int)sizeof path &&
                        tmx_os_exists(path);
    (void)(err->code || folder || tmx_data_find(TMX_DATA_RUN, a->run.text[0], path, err));
    char *why = NULL;
    size_t size = 0;
    FILE *f = err->code || !people ? NULL : open_memstream(&why, &size);
    if (f) {
        (void)!tmx_budget_why(path, &a->sets, f, err);
        fclose(f);
    }
    const struct tmx_explain x = {.path = path,
                                  .first = why,
                                  .folder = folder ? a->run.text[0] : NULL,
                                  .accept_changed = a->accept_changed,
                                  .sets = &a->sets,
                                  .n_worker = (unsigned)a->jobs,
                                  .steps = people && !a->no_steps,
                                  .zeros = !people};
    FILE *nothing = people ? NULL : fopen("/dev/null", "w");
    (void)(err->code || tmx_explain(&x, nothing ? nothing : stdout, &e, err));
    const bool any = !err->code && (!people || tmx_table_rows(e.causes) > 0);
    if (any && people && e.by_sm) {
        printf("\nWhere the lost time went (less than 0: gained):\n");
    }
    if (any) {
        tmx_print(e.causes, &a->print, "-", NULL, err);
    }
    if (a->out && !e.by_sm) {
        tmx_error(err, TMX_EUNSUPPORTED, "-o: there is no figure of a language model's limits");
    }
    if (!err->code && a->out && !tmx_plot_explain(&p, &e) && people) {
        tmx_print_visible(stdout, "\n%s\n", a->out);
    }
    if (nothing) {
        fclose(nothing);
    }
    free(why);
    tmx_explained_finish(&e);
}

const struct tmx_command tmx_cmd_explain = {
    .name = "explain",
    .summary = "explain why a run was slow and what would help",
    .doc = "Explain in words, and with -o in a figure, why a run was slow: the time lost by cause (throttle, "
           "clock level, mixing, memory, gating, waiting), the SMs and the moment that lost most, the heat "
           "left below the limit, and what one step of a knob would change. Of a language model: why "
           "requests missed their limits. RUN is the folder of `thermix run -o`, a name of `thermix list "
           "runs`, or a configuration; it is simulated again with the same result (a folder whose inputs "
           "have changed since is refused), and once more for each step.",
    .examples = "thermix explain out/wl1 -o why.svg\n"
                "thermix explain wl1 --set policy=DVFS --no-steps",
    TMX_OPERANDS(args, run, 1, 1, "RUN", RUN,
                 "which run? A folder of `thermix run -o`, or a name of `thermix list runs`"),
    .keeps = true,
    TMX_RUNS(args),
};

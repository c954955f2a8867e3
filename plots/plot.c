/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which figures results allow. */
#include "plots/plot.h"

#include <stdio.h>
#include <string.h>

#include "core/base/os.h"
#include "plots/history.h"
#include "plots/plot_run.h"
#include "plots/plot_suite.h"
#include "plots/plot_table.h"

enum { MAX_PATH = 1200 };

static bool holds(const char *folder, const char *file)
{
    char path[MAX_PATH];
    snprintf(path, sizeof path, "%s/%s", folder, file);
    return tmx_os_exists(path);
}

static enum tmx_status nothing(const struct tmx_plot *p, const char *results, bool table, struct tmx_err *err)
{
    if (p->only) {
        return tmx_fail_at(
            err, TMX_ECONFIG, results, 0,
            "there is no figure \"%s\" of these results; without --figure all are drawn and named", p->only);
    }
    return tmx_fail_at(
        err, TMX_EIO, results, 0,
        table ? "nothing to draw: its table.csv is not one that a suite or a comparison of floorplans "
                "writes; `thermix "
                "cta -o` and `thermix gate -o` write tables only"
              : "nothing to draw: expected a folder with table.csv (`thermix table -o`) or trace.csv "
                "(`thermix run -o DIR --trace 1`), or a .sqlite database of `thermix sweep`");
}

enum tmx_status tmx_plot_results(struct tmx_plot *p, const char *results, const struct tmx_study_axes *axes,
                                 struct tmx_err *err)
{
    static const struct tmx_study_axes all = {0};
    const size_t n = strlen(results), before = p->n_figure;
    enum tmx_status st = TMX_OK;
    if (n > 7 && strcmp(results + n - 7, ".sqlite") == 0) {
        st = tmx_plot_study(p, results, axes ? axes : &all, err);
        return st || p->n_figure > before || !p->only ? st : nothing(p, results, false, err);
    }
    if (axes && (axes->x || axes->y || axes->by || axes->n_where > 0)) {
        return tmx_fail(err, TMX_ECONFIG,
                        "--x, --y, --by and --where are for the database of a study, X.sqlite");
    }
    const bool table = holds(results, "table.csv");
    if (table) {
        st = tmx_plot_table(p, results, err);
        st = st ? st : tmx_plot_suite(p, results, err);
    }
    if (!st && (holds(results, "trace.csv") || tmx_history_has_frames(results))) {
        st = tmx_plot_run(p, results, err);
    }
    return st || p->n_figure > before ? st : nothing(p, results, table, err);
}

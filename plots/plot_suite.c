/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "plots/plot_suite.h"

#include <stdio.h>
#include <string.h>

#include "core/base/csv.h"
#include "core/base/os.h"

enum { MAX_PATH = 1200 };

/* What a paper's suite draws: a script, the figure's name, the table it needs. */
static const struct figure {
    const char *paper, *script, *name, *file;
} figures[] = {
    {"000", "cta_policies", "policies", "table.csv"},
    {"000", "cta_cores", "cores", "sweep.csv"},
    {"000", "cta_launches", "launches", "launches.csv"},
    {"000", "cta_image", "image", "image.csv"},
    {"001", "warped_gates_fig3", "fig3", "table.csv"},
    {"001", "warped_gates_fig8ac", "fig8ac", "table.csv"},
    {"001", "warped_gates_fig8b", "fig8b", "table.csv"},
    {"001", "warped_gates_fig9a", "fig9a", "table.csv"},
    {"001", "warped_gates_fig9b", "fig9b", "table.csv"},
    {"001", "warped_gates_fig10", "fig10", "table.csv"},
    {"001", "warped_gates_fig11", "fig11", "table.csv"},
    {"002", "apsa", "apsa", "table.csv"},
    {"004", "consolidation_curves", "curves", "table.csv"},
    {"004", "consolidation_tables", "tables", "table.csv"},
    {"004", "consolidation_errors", "errors", "paper.csv"},
    {"day", "consolidation_day", "day", "table.csv"},
};

/* The paper that the folder's paper.csv is of; "day" by the columns of table.csv; "" for anything else. */
static enum tmx_status paper_of(const char *folder, char paper[16], struct tmx_err *err)
{
    char path[MAX_PATH];
    struct tmx_csv csv = {0};
    paper[0] = '\0';
    snprintf(path, sizeof path, "%s/paper.csv", folder);
    const bool compared = tmx_os_exists(path);
    if (!compared) {
        snprintf(path, sizeof path, "%s/table.csv", folder);
    }
    const enum tmx_status st = tmx_os_exists(path) ? tmx_csv_read(&csv, path, err) : TMX_OK;
    if (!st && compared && csv.n_row > 0 && tmx_csv_column(&csv, "paper") < csv.n_column) {
        snprintf(paper, 16, "%s", tmx_csv_cell(&csv, 0, tmx_csv_column(&csv, "paper")));
    } else if (!st && tmx_csv_column(&csv, "gpus") < csv.n_column &&
               tmx_csv_column(&csv, "wait_mean_s") < csv.n_column) {
        snprintf(paper, 16, "day");
    }
    tmx_csv_finish(&csv);
    return st;
}

enum tmx_status tmx_plot_suite(struct tmx_plot *p, const char *folder, struct tmx_err *err)
{
    char paper[16], path[MAX_PATH], vars[MAX_PATH + 16];
    enum tmx_status st = paper_of(folder, paper, err);
    st = st ? st : tmx_plot_path(folder, err);
    snprintf(vars, sizeof vars, "dir='%s'", folder);
    for (size_t i = 0; !st && i < sizeof figures / sizeof figures[0]; i++) {
        snprintf(path, sizeof path, "%s/%s", folder, figures[i].file);
        if (strcmp(figures[i].paper, paper) == 0 && tmx_os_exists(path)) {
            st = tmx_plot_folder(p, err);
            st = st ? st : tmx_plot_draw(p, figures[i].script, figures[i].name, vars, err);
        }
    }
    return st;
}

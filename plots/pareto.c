/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "plots/pareto.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/csv.h"
#include "core/base/output.h"

enum { MAX_VARS = 8000 };

static int by_slowdown(const void *a, const void *b)
{
    const struct tmx_pareto_point *x = a, *y = b;
    return x->slowdown_pct != y->slowdown_pct
               ? (x->slowdown_pct > y->slowdown_pct) - (x->slowdown_pct < y->slowdown_pct)
               : (x->energy_kj > y->energy_kj) - (x->energy_kj < y->energy_kj);
}

enum tmx_status tmx_plot_pareto(struct tmx_plot *p, struct tmx_pareto_point *point, size_t n, bool names,
                                struct tmx_err *err)
{
    char path[1200];
    struct tmx_output o;
    double best = INFINITY;
    tmx_plot_data_path(p, "pareto", path, sizeof path);
    const enum tmx_status st = tmx_output_open(&o, path, err);
    if (st) {
        return st;
    }
    qsort(point, n, sizeof *point, by_slowdown);
    fprintf(o.file, "name,slowdown_pct,energy_kj\n");
    for (size_t i = 0; i < n; i++) {
        tmx_csv_text(point[i].name, o.file);
        fprintf(o.file, ",%.10g,%.10g\n", point[i].slowdown_pct, point[i].energy_kj);
    }
    fprintf(o.file, "\n\n"); /* gnuplot: the next block */
    for (size_t i = 0; i < n; i++) {
        if (point[i].energy_kj < best) {
            best = point[i].energy_kj;
            tmx_csv_text(point[i].name, o.file);
            fprintf(o.file, ",%.10g,%.10g\n", point[i].slowdown_pct, point[i].energy_kj);
        }
    }
    char vars[MAX_VARS] = "names='";
    size_t used = strlen(vars);
    for (size_t i = 0; i < n && names && used + 200 < sizeof vars; i++) {
        char quoted[80];
        tmx_plot_quote(point[i].name, quoted, sizeof quoted);
        for (const char *c = quoted + 1; c[1];
             c++) { /* gnuplot's words() ends at a blank; this one it shows */
            used += (size_t)snprintf(vars + used, sizeof vars - used, *c == ' ' ? "\u00a0" : "%c", *c);
        }
        used += (size_t)snprintf(vars + used, sizeof vars - used, " ");
    }
    snprintf(vars + used, sizeof vars - used, "'");
    const enum tmx_status end = tmx_output_commit(&o, err);
    return end ? end : tmx_plot_draw(p, "pareto", "pareto", vars, err);
}

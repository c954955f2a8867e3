/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "plots/pareto.h"

#include <math.h>
#include <stdlib.h>

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
    static const struct tmx_column columns[] = {{"name", TMX_COLUMN_TEXT, 0},
                                                {"slowdown_pct", TMX_COLUMN_REAL, 4},
                                                {"energy_kj", TMX_COLUMN_REAL, 4}};
    struct tmx_table *t[2] = {NULL, NULL}; /* all points; those that no other beats */
    double best = INFINITY;
    enum tmx_status st = tmx_table_create(&t[0], columns, 3, err);
    st = st ? st : tmx_table_create(&t[1], columns, 3, err);
    qsort(point, n, sizeof *point, by_slowdown);
    for (size_t i = 0; i < n && !st; i++) {
        const bool beaten = point[i].energy_kj >= best;
        best = fmin(best, point[i].energy_kj);
        for (size_t k = 0; k < (beaten ? 1 : 2); k++) {
            tmx_table_text(t[k], point[i].name);
            tmx_table_real(t[k], point[i].slowdown_pct);
            tmx_table_real(t[k], point[i].energy_kj);
        }
        if (names) {
            tmx_plot_label(p, "name", point[i].name);
        }
    }
    st = st ? st : tmx_plot_data(p, "pareto", "", t[0], err);
    st = st ? st : tmx_plot_data(p, "pareto", "_front", t[1], err);
    tmx_table_destroy(t[0]);
    tmx_table_destroy(t[1]);
    return st ? st : tmx_plot_draw(p, "pareto", "pareto", err);
}

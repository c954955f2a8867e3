/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "plots/plot_explain.h"

#include <math.h>

enum tmx_status tmx_plot_explain(struct tmx_plot *p, const struct tmx_explained *e, struct tmx_err *err)
{
    enum tmx_status st = tmx_plot_folder(p, err);
    st = st ? st : tmx_plot_data(p, "explain", "", e->over_time, err);
    st = st ? st : tmx_plot_data(p, "explain", "_sm", e->by_sm, err);
    for (size_t c = 2; c < tmx_table_columns(e->over_time); c++) {
        tmx_plot_label(p, "name", tmx_table_column(e->over_time, c)->name);
    }
    tmx_plot_number(p, "trip_c", isnan(e->trip_c) ? 0 : e->trip_c);
    return st ? st : tmx_plot_draw(p, "explain", "explain", err);
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "plots/plot_explain.h"

#include <math.h>
#include <stdio.h>

enum tmx_status tmx_plot_explain(struct tmx_plot *p, const struct tmx_explained *e, struct tmx_err *err)
{
    char by_sm[1200], vars[1400];
    enum tmx_status st = tmx_plot_folder(p, err);
    st = st ? st : tmx_plot_data(p, "explain", e->over_time, err);
    st = st ? st : tmx_plot_data(p, "explain_sm", e->by_sm, err);
    tmx_plot_data_path(p, "explain_sm", by_sm, sizeof by_sm);
    st = st ? st : tmx_plot_path(by_sm, err);
    snprintf(vars, sizeof vars, "by_sm='%s'; trip_c=%.6g", by_sm, isnan(e->trip_c) ? 0 : e->trip_c);
    return st ? st : tmx_plot_draw(p, "explain", "explain", vars, err);
}

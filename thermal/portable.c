/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "thermal/portable.h"

#include <stdlib.h>
#include <string.h>

#include "thermal/backend/reduced_model.h"

/* to += the sum over the modes of level 0 of scale_i row_i turn_i, turn [k][k] by rows. */
static void add_rows(size_t k, const double *row, size_t stride, const double *scale, const double *turn,
                     double *to)
{
    for (size_t i = 0; i < k; i++) {
        const double part = row[i * stride] / (scale ? scale[i] : 1);
        for (size_t r = 0; r < k; r++) {
            to[r] += part * turn[i * k + r];
        }
    }
}

static enum tmx_status fill(struct tmx_portable *p, const struct tmx_reduced_model *m, struct tmx_err *err)
{
    const struct tmx_modal *first = m->modal;
    const size_t k = m->n_mode, n = first->n_unit, n_level = m->n_level;
    p->n_mode = k;
    p->n_unit = n;
    p->n_level = n_level;
    p->in = calloc(n * k, sizeof *p->in);
    p->out = calloc(n * k, sizeof *p->out);
    p->direct = calloc(n * n, sizeof *p->direct);
    p->one = calloc(k, sizeof *p->one);
    p->rate = calloc(n_level * k, sizeof *p->rate);
    p->vector = calloc(n_level * k * k, sizeof *p->vector);
    p->back = calloc(n_level * k * k, sizeof *p->back);
    if (!p->in || !p->out || !p->direct || !p->one || !p->rate || !p->vector || !p->back) {
        return tmx_fail(err, TMX_ENOMEM, "model of %zu modes", k);
    }
    for (size_t u = 0; u < n; u++) {
        add_rows(k, first->in + u * first->mode_row, 1, first->rate, m->back, p->in + u * k);
        add_rows(k, first->out + u, first->unit_row, NULL, m->back, p->out + u * k);
        memcpy(p->direct + u * n, first->direct + u * first->unit_row, n * sizeof *p->direct);
    }
    add_rows(k, first->one, 1, NULL, m->vector, p->one);
    memcpy(p->vector, m->vector, n_level * k * k * sizeof *p->vector);
    memcpy(p->back, m->back, n_level * k * k * sizeof *p->back);
    for (size_t l = 0; l < n_level; l++) {
        memcpy(p->rate + l * k, m->modal[l].rate, k * sizeof *p->rate);
    }
    return TMX_OK;
}

enum tmx_status tmx_portable_init(struct tmx_portable *p, const struct tmx_thermal_spec *spec,
                                  double tolerance_k, const double *swing_w, struct tmx_err *err)
{
    const struct tmx_reduced_options options = {.tolerance_k = tolerance_k, .cache = true};
    struct tmx_reduced_model m;
    *p = (struct tmx_portable){0};
    tmx_assert(tmx_thermal_spec_levels(spec) > 1 && !spec->init_node_k);
    if (spec->map_mode == TMX_MAP_MIN || spec->map_mode == TMX_MAP_MAX) {
        return tmx_fail(err, TMX_EUNSUPPORTED, "a unit read as the %s of its cells is no linear map",
                        spec->map_mode == TMX_MAP_MIN ? "coldest" : "hottest");
    }
    enum tmx_status st = tmx_reduced_model_init(&m, spec, &options, err);
    st = st ? st : fill(p, &m, err);
    p->error_k = st ? 0 : tmx_reduced_model_bound(&m, false, swing_w);
    tmx_reduced_model_finish(&m);
    return st;
}

void tmx_portable_finish(struct tmx_portable *p)
{
    free(p->in);
    free(p->out);
    free(p->direct);
    free(p->one);
    free(p->rate);
    free(p->vector);
    free(p->back);
    *p = (struct tmx_portable){0};
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "thermal/portable.h"

#include <stdlib.h>
#include <string.h>

#include "thermal/backend/reduced_model.h"

/* to = V^T of a row over the modes of level 0; stride: between the row's elements. */
static void to_basis(const struct tmx_reduced_model *m, const double *row, size_t stride, double *to)
{
    const size_t k = m->n_mode;
    for (size_t i = 0; i < k; i++) {
        for (size_t r = 0; r < k; r++) {
            to[r] += row[i * stride] * m->vector[i * k + r];
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
    p->one = calloc(k, sizeof *p->one);
    p->rate = calloc(n_level * k, sizeof *p->rate);
    p->vector = calloc(n_level * k * k, sizeof *p->vector);
    if (!p->in || !p->out || !p->one || !p->rate || !p->vector) {
        return tmx_fail(err, TMX_ENOMEM, "model of %zu modes", k);
    }
    for (size_t u = 0; u < n; u++) {
        to_basis(m, first->in + u * first->mode_row, 1, p->in + u * k);
        to_basis(m, first->out + u, first->unit_row, p->out + u * k);
    }
    to_basis(m, first->one, 1, p->one);
    memcpy(p->vector, m->vector, n_level * k * k * sizeof *p->vector);
    for (size_t l = 0; l < n_level; l++) {
        memcpy(p->rate + l * k, m->modal[l].rate, k * sizeof *p->rate);
    }
    return TMX_OK;
}

enum tmx_status tmx_portable_init(struct tmx_portable *p, const struct tmx_thermal_spec *spec,
                                  double tolerance_k, const double *swing_w, struct tmx_err *err)
{
    const struct tmx_reduced_wish wish = {.tolerance_k = tolerance_k, .cache = true};
    struct tmx_reduced_model m;
    *p = (struct tmx_portable){0};
    tmx_assert(tmx_thermal_spec_levels(spec) > 1 && !spec->init_node_k);
    if (spec->map_mode == TMX_MAP_MIN || spec->map_mode == TMX_MAP_MAX) {
        return tmx_fail(err, TMX_EUNSUPPORTED, "a unit read as the %s of its cells is no linear map",
                        spec->map_mode == TMX_MAP_MIN ? "coldest" : "hottest");
    }
    enum tmx_status st = tmx_reduced_model_init(&m, spec, &wish, err);
    st = st ? st : fill(p, &m, err);
    p->error_k = st ? 0 : tmx_reduced_model_bound(&m, false, swing_w);
    tmx_reduced_model_finish(&m);
    return st;
}

void tmx_portable_finish(struct tmx_portable *p)
{
    free(p->in);
    free(p->out);
    free(p->one);
    free(p->rate);
    free(p->vector);
    *p = (struct tmx_portable){0};
}

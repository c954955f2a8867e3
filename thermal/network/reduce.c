/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "thermal/network/reduce.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "thermal/network/dense.h"

enum tmx_status tmx_modes_init(struct tmx_modes *modes, const struct tmx_basis *basis, double gamma,
                               struct tmx_err *err)
{
    const size_t k = basis->n_mode, m = basis->n_unit;
    *modes = (struct tmx_modes){.n_mode = k, .n_unit = m, .gamma = gamma};
    modes->rate = calloc(k, sizeof *modes->rate);
    modes->vector = calloc(k * k, sizeof *modes->vector);
    modes->in = calloc(k * m, sizeof *modes->in);
    modes->out = basis->out ? calloc(k * m, sizeof *modes->out) : modes->in;
    modes->one = calloc(k, sizeof *modes->one);
    modes->leave = calloc(k, sizeof *modes->leave);
    if (!modes->rate || !modes->vector || !modes->in || !modes->out || !modes->one || !modes->leave) {
        return tmx_fail(err, TMX_ENOMEM, "%zu modes", k);
    }
    for (size_t i = 0; i < k * k; i++) {
        modes->vector[i] = basis->g[i] + (basis->a ? (gamma - basis->gamma) * basis->a[i] : 0);
    }
    const enum tmx_status st = tmx_dense_eigen(k, modes->vector, modes->rate, err);
    if (st) {
        return st;
    }
    if (!(modes->rate[0] > 0)) {
        return tmx_fail(err, TMX_ESOLVE, "a thermal mode does not decay (rate %g 1/s)", modes->rate[0]);
    }
    tmx_dense_tn(k, m, k, 1, modes->vector, k, basis->in, k, 0, modes->in, k);
    if (basis->out) {
        tmx_dense_tn(k, m, k, 1, modes->vector, k, basis->out, k, 0, modes->out, k);
    }
    tmx_dense_tn(k, 1, k, 1, modes->vector, k, basis->one, k, 0, modes->one, k);
    tmx_dense_tn(k, 1, k, gamma, modes->vector, k, basis->area, k, 0, modes->leave, k);
    tmx_dense_tn(k, 1, k, 1, modes->vector, k, basis->ground, k, 1, modes->leave, k);
    return TMX_OK;
}

void tmx_modes_finish(struct tmx_modes *modes)
{
    free(modes->rate);
    free(modes->vector);
    if (modes->out != modes->in) {
        free(modes->out);
    }
    free(modes->in);
    free(modes->one);
    free(modes->leave);
    *modes = (struct tmx_modes){0};
}

enum tmx_status tmx_modes_layout(const struct tmx_modes *modes, struct tmx_modal *modal, struct tmx_err *err)
{
    const size_t k = modes->n_mode, m = modes->n_unit;
    const enum tmx_status st = tmx_modal_init(modal, k, m, false, err);
    if (st) {
        return st;
    }
    for (size_t i = 0; i < k; i++) {
        modal->rate[i] = modes->rate[i];
        modal->stored[i] = modes->one[i];
        modal->leave[i] = modes->leave[i];
        modal->one[i] = modes->one[i];
        for (size_t u = 0; u < m; u++) {
            modal->in[u * modal->mode_row + i] = modes->in[u * k + i];
            modal->out[i * modal->unit_row + u] = modes->out[u * k + i];
        }
    }
    return TMX_OK;
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "core/contract/forecast.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

/* y += a x over a row whose length is a multiple of 4. */
static void axpy(size_t n, double a, const double *restrict x, double *restrict y)
{
    for (size_t i = 0; i < n; i++) {
        y[i] += a * x[i];
    }
}

/* Column by column: theta of one watt in a unit, with z = weight in. */
static void fill_step(const struct tmx_modes_view *m, const double *weight, double *step)
{
    for (size_t u = 0; u < m->n_unit; u++) {
        double *row = step + u * m->unit_row;
        for (size_t k = 0; k < m->n_mode; k++) {
            axpy(m->unit_row, weight[k] * m->in[u * m->mode_row + k], m->out + k * m->unit_row, row);
        }
        if (m->direct) {
            axpy(m->unit_row, 1, m->direct + u * m->unit_row, row);
        }
    }
}

enum tmx_status tmx_forecast_init(struct tmx_forecast *f, const struct tmx_modes_view *m, double tick_s,
                                  struct tmx_err *err)
{
    *f = (struct tmx_forecast){.modes = *m, .tick_s = tick_s};
    double *weight = calloc(m->mode_row, sizeof *weight);
    f->steady = calloc(m->n_unit * m->unit_row, sizeof *f->steady);
    bool ok = weight && f->steady;
    for (size_t i = 1; ok && i <= TMX_FORECAST_PARTS; i++) {
        f->decay[i] = calloc(m->mode_row, sizeof *f->decay[i]);
        f->gain[i] = calloc(m->mode_row, sizeof *f->gain[i]);
        f->step[i] = calloc(m->n_unit * m->unit_row, sizeof *f->step[i]);
        ok = f->decay[i] && f->gain[i] && f->step[i];
    }
    for (size_t i = 1; ok && i <= TMX_FORECAST_PARTS; i++) {
        const double dt_s = tick_s * (double)i / TMX_FORECAST_PARTS;
        for (size_t k = 0; k < m->n_mode; k++) {
            f->decay[i][k] = exp(-m->rate[k] * dt_s);
            f->gain[i][k] = -expm1(-m->rate[k] * dt_s) / m->rate[k];
        }
        fill_step(m, f->gain[i], f->step[i]);
    }
    for (size_t k = 0; ok && k < m->n_mode; k++) {
        weight[k] = 1 / m->rate[k];
    }
    if (ok) {
        fill_step(m, weight, f->steady);
    }
    free(weight);
    return ok ? TMX_OK : tmx_fail(err, TMX_ENOMEM, "forecast of %zu modes", m->n_mode);
}

void tmx_forecast_finish(struct tmx_forecast *f)
{
    for (size_t i = 1; i <= TMX_FORECAST_PARTS; i++) {
        free(f->decay[i]);
        free(f->gain[i]);
        free(f->step[i]);
    }
    free(f->steady);
    *f = (struct tmx_forecast){0};
}

void tmx_forecast_advance(const struct tmx_forecast *f, size_t part, const double *power_w, double *z)
{
    const struct tmx_modes_view *m = &f->modes;
    const double *decay = f->decay[part], *gain = f->gain[part];
    enum { BLOCK = 8 }; /* modes whose sums stay in registers */
    for (size_t k = 0; k < m->mode_row; k += BLOCK) {
        const size_t n = m->mode_row - k < BLOCK ? m->mode_row - k : BLOCK;
        double sum[BLOCK] = {0};
        for (size_t u = 0; u < m->n_unit; u++) {
            const double *in = m->in + u * m->mode_row + k;
            for (size_t i = 0; i < n; i++) {
                sum[i] += in[i] * power_w[u];
            }
        }
        for (size_t i = 0; i < n; i++) {
            z[k + i] = decay[k + i] * z[k + i] + gain[k + i] * sum[i];
        }
    }
}

void tmx_forecast_read(const struct tmx_forecast *f, const double *z, const double *power_w, double *theta_k)
{
    const struct tmx_modes_view *m = &f->modes;
    for (size_t u = 0; u < m->unit_row; u++) {
        theta_k[u] = 0;
    }
    for (size_t k = 0; k < m->n_mode; k++) {
        axpy(m->unit_row, z[k], m->out + k * m->unit_row, theta_k);
    }
    if (m->direct && power_w) {
        tmx_forecast_add(f, m->direct, power_w, theta_k);
    }
}

void tmx_forecast_add(const struct tmx_forecast *f, const double *table, const double *power_w,
                      double *theta_k)
{
    const struct tmx_modes_view *m = &f->modes;
    for (size_t u = 0; u < m->n_unit; u++) {
        axpy(m->unit_row, power_w[u], table + u * m->unit_row, theta_k);
    }
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "core/contract/forecast.h"

#include <math.h>
#include <string.h>

#include "base/os.h"

static void product(const struct tmx_forecast *f, const double *rows, size_t n_row, size_t n,
                    const double *const *coef, double *const *theta_k)
{
    const size_t row = f->modes.unit_row;
    f->sums(&(struct tmx_rows){rows, n_row, row, row, n, coef, theta_k});
}

/* Row by row: theta of one watt in a unit, with z = weight in. work [mode_row]. */
static void fill_step(const struct tmx_forecast *f, const double *weight, double *work, double *step)
{
    const struct tmx_modes_view *m = &f->modes;
    for (size_t u = 0; u < m->n_unit; u++) {
        double *row = step + u * m->unit_row;
        for (size_t k = 0; k < m->n_mode; k++) {
            work[k] = weight[k] * m->in[u * m->mode_row + k];
        }
        if (m->direct) {
            memcpy(row, m->direct + u * m->unit_row, m->unit_row * sizeof *row);
        }
        product(f, m->out, m->n_mode, 1, (const double *const[]){work}, &row);
    }
}

enum tmx_status tmx_forecast_init(struct tmx_forecast *f, const struct tmx_modes_view *m, double tick_s,
                                  struct tmx_err *err)
{
    *f = (struct tmx_forecast){
        .modes = *m, .sums = TMX_ISA_OF(tmx_rows_any, tmx_rows_v3, tmx_rows_v4), .tick_s = tick_s};
    if (m->frequency) {
        return tmx_fail(err, TMX_EUNSUPPORTED,
                        "a policy that looks ahead cannot do so where coolant flows through channels");
    }
    tmx_assert(m->mode_row % TMX_ROWS_PAD == 0 && m->unit_row % TMX_ROWS_PAD == 0);
    double *weight, *work;
    TMX_TAKE(&f->arena, weight, m->mode_row);
    TMX_TAKE(&f->arena, work, m->mode_row);
    TMX_TAKE(&f->arena, f->steady, m->n_unit * m->unit_row);
    for (size_t i = 1; i <= TMX_FORECAST_PARTS; i++) {
        TMX_TAKE(&f->arena, f->decay[i], m->mode_row);
        TMX_TAKE(&f->arena, f->gain[i], m->mode_row);
        TMX_TAKE(&f->arena, f->step[i], m->n_unit * m->unit_row);
    }
    if (f->arena.failed) {
        return tmx_no_memory(err);
    }
    for (size_t i = 1; i <= TMX_FORECAST_PARTS; i++) {
        const double dt_s = tick_s * (double)i / TMX_FORECAST_PARTS;
        for (size_t k = 0; k < m->n_mode; k++) {
            f->decay[i][k] = exp(-m->rate[k] * dt_s);
            f->gain[i][k] = -expm1(-m->rate[k] * dt_s) / m->rate[k];
        }
        fill_step(f, f->gain[i], work, f->step[i]);
    }
    for (size_t k = 0; k < m->n_mode; k++) {
        f->n_lasting = f->decay[TMX_FORECAST_PARTS][k] > 1e-6 ? k + 1 : f->n_lasting;
        weight[k] = 1 / m->rate[k];
    }
    fill_step(f, weight, work, f->steady);
    return TMX_OK;
}

void tmx_forecast_finish(struct tmx_forecast *f)
{
    tmx_arena_finish(&f->arena);
    *f = (struct tmx_forecast){0};
}

static size_t padded(size_t n)
{
    return (n + TMX_ROWS_PAD - 1) / TMX_ROWS_PAD * TMX_ROWS_PAD;
}

void tmx_forecast_drive(const struct tmx_forecast *f, size_t n_mode, size_t n, const double *const *power_w,
                        double *const *drive)
{
    const struct tmx_modes_view *m = &f->modes;
    for (size_t i = 0; i < n; i++) {
        memset(drive[i], 0, m->mode_row * sizeof *drive[i]);
    }
    f->sums(&(struct tmx_rows){m->in, m->n_unit, m->mode_row, padded(n_mode), n, power_w, drive});
}

void tmx_forecast_advance(const struct tmx_forecast *f, size_t n_mode, size_t part,
                          const double *restrict drive, double *restrict z)
{
    const double *restrict decay = f->decay[part], *restrict gain = f->gain[part];
    for (size_t k = 0; k < n_mode; k++) {
        z[k] = decay[k] * z[k] + gain[k] * drive[k];
    }
}

void tmx_forecast_read(const struct tmx_forecast *f, size_t n_mode, size_t n, const double *const *z,
                       const double *const *power_w, double *const *theta_k)
{
    const struct tmx_modes_view *m = &f->modes;
    for (size_t i = 0; i < n; i++) {
        memset(theta_k[i], 0, m->unit_row * sizeof *theta_k[i]);
    }
    product(f, m->out, n_mode, n, z, theta_k);
    if (m->direct && power_w) {
        product(f, m->direct, m->n_unit, n, power_w, theta_k);
    }
}

void tmx_forecast_add(const struct tmx_forecast *f, const double *table, size_t n,
                      const double *const *power_w, double *const *theta_k)
{
    product(f, table, f->modes.n_unit, n, power_w, theta_k);
}

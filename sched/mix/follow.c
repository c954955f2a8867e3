/* SPDX-License-Identifier: GPL-3.0-or-later */

#include <string.h>

#include "sched/mix/ahead.h"

size_t tmx_ahead_lay_out(double *at, size_t n, size_t length, size_t n_array, double **const *array)
{
    for (size_t i = 0; i < n_array; i++, n += length) {
        *array[i] = at ? at + n : NULL;
    }
    return n;
}

size_t tmx_follow_lay_out(const struct tmx_outlook *look, double *at, struct tmx_follow *m)
{
    const size_t mode = look->forecast->modes.mode_row, unit = look->forecast->modes.unit_row;
    double **const modes[] = {&m->z, &m->later, &m->idle_z, &m->drive_z, &m->dyn_z, &m->leak_z};
    double **const units[] = {&m->dyn_w,     &m->leak_w,     &m->power_w,    &m->work_w,     &m->idle_k,
                              &m->end_k,     &m->end_dyn_k,  &m->end_leak_k, &m->late_dyn_k, &m->late_leak_k,
                              &m->try_dyn_k, &m->try_leak_k, &m->unit_k,     &m->work_k};
    size_t n = tmx_ahead_lay_out(at, 0, TMX_FOLLOW_N_SCALAR, 1, (double **const[]){&m->tick});
    n = tmx_ahead_lay_out(at, n, mode, sizeof modes / sizeof modes[0], modes);
    return tmx_ahead_lay_out(at, n, unit, sizeof units / sizeof units[0], units);
}

void tmx_follow_start(const struct tmx_outlook *look, struct tmx_follow *m)
{
    const struct tmx_forecast *f = look->forecast;
    m->tick[TMX_FOLLOW_FACTOR] = 1;
    tmx_forecast_drive(f, m->n_mode, 1, &look->still.baseline_w, &m->idle_z);
    tmx_forecast_add(f, f->step[TMX_FORECAST_PARTS], 1, &look->still.baseline_w, &m->idle_k);
    memset(m->unit_k, 0,
           f->modes.unit_row * sizeof *m->unit_k); /* warm or cold: the observer's first error */
}

/* What dyn_w and leak_w warm, from a table of step responses. */
static void rise(const struct tmx_forecast *f, const struct tmx_follow *m, const double *table, double *dyn_k,
                 double *leak_k)
{
    memset(dyn_k, 0, f->modes.unit_row * sizeof *dyn_k);
    memset(leak_k, 0, f->modes.unit_row * sizeof *leak_k);
    tmx_forecast_add(f, table, 2, (const double *const[]){m->dyn_w, m->leak_w},
                     (double *const[]){dyn_k, leak_k});
}

/* The level of the last tick's parts from `from` on, and how many of them up to `to` have it. */
static size_t level_of(const struct tmx_follow *m, size_t from, size_t to, size_t *n)
{
    const size_t change = TMX_FORECAST_PARTS - (size_t)m->tick[TMX_FOLLOW_LATE_PARTS];
    *n = from < change && change < to ? change - from : to - from;
    return (size_t)m->tick[from < change ? TMX_FOLLOW_LEVEL : TMX_FOLLOW_LATE_LEVEL];
}

size_t tmx_follow_go(const struct tmx_outlook *look, struct tmx_follow *m, size_t from, size_t to)
{
    const struct tmx_forecast *f = look->forecast;
    size_t level = (size_t)m->tick[TMX_FOLLOW_LEVEL];
    for (size_t n; from < to; from += n) {
        level = level_of(m, from, to, &n);
        const double w = tmx_ahead_power(look->chip, level, m->tick[TMX_FOLLOW_WAITS]),
                     v = tmx_ahead_volt(look->chip, level);
        for (size_t k = 0; k < m->n_mode; k++) {
            m->drive_z[k] = m->idle_z[k] + m->tick[TMX_FOLLOW_FACTOR] * w * m->dyn_z[k] + v * m->leak_z[k];
        }
        tmx_forecast_advance(f, m->n_mode, n, m->drive_z, m->z);
        for (size_t k = 0; k < m->n_mode; k++) {
            m->drive_z[k] = w * m->dyn_z[k];
        }
        tmx_forecast_advance(f, m->n_mode, n, m->drive_z, m->later);
    }
    return level;
}

void tmx_follow_read(const struct tmx_outlook *look, struct tmx_follow *m, size_t level, double worked)
{
    const double w = tmx_ahead_power(look->chip, level, m->tick[TMX_FOLLOW_WAITS]),
                 v = tmx_ahead_volt(look->chip, level);
    for (size_t u = 0; u < look->forecast->modes.n_unit; u++) {
        const double watt = w * m->dyn_w[u];
        m->power_w[u] = look->still.baseline_w[u] + m->tick[TMX_FOLLOW_FACTOR] * watt + v * m->leak_w[u];
        m->work_w[u] = worked * watt;
    }
    tmx_forecast_read(look->forecast, m->n_mode, 2, (const double *const[]){m->z, m->later},
                      (const double *const[]){m->power_w, m->work_w},
                      (double *const[]){m->unit_k, m->work_k});
}

void tmx_follow_read_end(const struct tmx_outlook *look, struct tmx_follow *m)
{
    const struct tmx_chip *c = look->chip;
    const size_t level = (size_t)m->tick[TMX_FOLLOW_LEVEL], late = (size_t)m->tick[TMX_FOLLOW_LATE_LEVEL];
    const double waits = m->tick[TMX_FOLLOW_WAITS], w = tmx_ahead_power(c, level, waits),
                 dw = tmx_ahead_power(c, late, waits) - w, v = tmx_ahead_volt(c, level),
                 dv = tmx_ahead_volt(c, late) - v;
    const bool two = m->tick[TMX_FOLLOW_LATE_PARTS] > 0;
    for (size_t u = 0; u < look->forecast->modes.n_unit; u++) {
        m->work_k[u] = w * m->end_dyn_k[u] + (two ? dw * m->late_dyn_k[u] : 0);
        m->unit_k[u] = m->end_k[u] + m->tick[TMX_FOLLOW_FACTOR] * m->work_k[u] + v * m->end_leak_k[u] +
                       (two ? dv * m->late_leak_k[u] : 0);
    }
}

void tmx_follow_predict(const struct tmx_outlook *look, struct tmx_follow *m)
{
    const struct tmx_forecast *f = look->forecast;
    const double *decay = f->decay[TMX_FORECAST_PARTS];
    for (size_t k = 0; k < m->n_mode; k++) {
        m->later[k] = decay[k] * m->z[k];
    }
    tmx_forecast_read(f, m->n_mode, 1, (const double *const[]){m->later}, NULL, &m->end_k);
    for (size_t u = 0; u < f->modes.n_unit; u++) {
        m->end_k[u] += m->idle_k[u];
    }
    rise(f, m, f->step[TMX_FORECAST_PARTS], m->end_dyn_k, m->end_leak_k);
    tmx_forecast_drive(f, m->n_mode, 2, (const double *const[]){m->dyn_w, m->leak_w},
                       (double *const[]){m->dyn_z, m->leak_z});
}

void tmx_follow_try(const struct tmx_outlook *look, struct tmx_follow *m, size_t parts)
{
    rise(look->forecast, m, look->forecast->step[parts], m->try_dyn_k, m->try_leak_k);
}

void tmx_follow_keep(const struct tmx_outlook *look, struct tmx_follow *m)
{
    const size_t size = look->forecast->modes.unit_row * sizeof *m->late_dyn_k;
    memcpy(m->late_dyn_k, m->try_dyn_k, size);
    memcpy(m->late_leak_k, m->try_leak_k, size);
}

void tmx_follow_rest(const struct tmx_outlook *look, struct tmx_follow *m, double duty)
{
    for (size_t u = 0; u < look->forecast->modes.n_unit; u++) {
        m->dyn_w[u] *= duty;
        m->end_dyn_k[u] *= duty;
    }
    for (size_t k = 0; k < m->n_mode; k++) {
        m->dyn_z[k] *= duty;
    }
}

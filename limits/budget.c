/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "limits/budget.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "limits/budget_steady.h"

/* Sums run until nothing moves: the loop gain is below 1 where there is a budget at all. */
enum { ROUNDS = 100000, BLOCK = 8 }; /* units whose sums stay in registers */
static const double SETTLED_K = 1e-11;

enum tmx_status tmx_budget_steady_init(struct tmx_budget_steady *w, const struct tmx_plan_chip *c,
                                       double volt, struct tmx_err *err)
{
    const size_t n = c->n_unit, row = (n + BLOCK - 1) / BLOCK * BLOCK;
    *w = (struct tmx_budget_steady){.c = c, .volt = volt, .row = row};
    w->block = calloc((5 + n) * row + c->n_sm, sizeof *w->block);
    if (!w->block) {
        return tmx_fail(err, TMX_ENOMEM, "budget of %zu units", n);
    }
    w->temp_k = w->block;
    w->power_w = w->temp_k + row;
    w->slope = w->power_w + row;
    w->rise = w->slope + row;
    w->ones = w->rise + row;
    w->warming = w->ones + row;
    w->sm_k = w->warming + n * row;
    for (size_t j = 0; j < n; j++) {
        for (size_t u = 0; u < n; u++) {
            w->warming[j * row + u] = c->influence[u * n + j];
        }
    }
    return TMX_OK;
}

void tmx_budget_steady_finish(struct tmx_budget_steady *w)
{
    free(w->block);
    *w = (struct tmx_budget_steady){0};
}

void tmx_budget_steady_slopes(struct tmx_budget_steady *w, const double *temp_k)
{
    for (size_t u = 0; u < w->c->n_unit; u++) {
        w->slope[u] = w->volt * tmx_plan_leak_slope(w->c, u, temp_k[u]);
    }
}

void tmx_budget_steady_sensors(struct tmx_budget_steady *w, const double *unit)
{
    const struct tmx_chip *chip = w->c->chip;
    memset(w->sm_k, 0, w->c->n_sm * sizeof *w->sm_k);
    for (size_t u = 0; u < w->c->n_unit; u++) {
        if (chip->sm_of_unit[u] != TMX_NO_SM) {
            w->sm_k[chip->sm_of_unit[u]] += chip->part_share[u] * unit[u];
        }
    }
}

/* x [row] = start + A power_w; returns how far that moves x at most. */
static double warm(const struct tmx_budget_steady *w, double start, double *x)
{
    double move = 0;
    for (size_t u = 0; u < w->row; u += BLOCK) {
        double sum[BLOCK];
        for (size_t i = 0; i < BLOCK; i++) {
            sum[i] = start;
        }
        for (size_t j = 0; j < w->c->n_unit; j++) {
            const double *column = w->warming + j * w->row + u, watt = w->power_w[j];
            for (size_t i = 0; i < BLOCK; i++) {
                sum[i] += column[i] * watt;
            }
        }
        for (size_t i = 0; i < BLOCK; i++) {
            const double d = fabs(sum[i] - x[u + i]);
            move = d > move ? d : move;
            x[u + i] = sum[i];
        }
    }
    return move;
}

/* By iteration. */
bool tmx_budget_steady_respond(struct tmx_budget_steady *w, const double *b, double *x)
{
    double move = 1;
    memset(x, 0, w->row * sizeof *x);
    for (int round = 0; round < ROUNDS && move > SETTLED_K; round++) {
        for (size_t u = 0; u < w->c->n_unit; u++) {
            w->power_w[u] = b[u] + w->slope[u] * x[u];
        }
        move = warm(w, 0, x);
        if (!(move < 1e9)) {
            return false;
        }
    }
    return move <= SETTLED_K;
}

/* Power iteration; A is positive. */
static double loop_gain(struct tmx_budget_steady *w, double temp_k)
{
    double gain = 0;
    for (size_t u = 0; u < w->c->n_unit; u++) {
        w->temp_k[u] = temp_k;
        w->rise[u] = 1;
    }
    tmx_budget_steady_slopes(w, w->temp_k);
    for (int round = 0; round < 200; round++) {
        gain = 0;
        for (size_t u = 0; u < w->c->n_unit; u++) {
            w->power_w[u] = w->slope[u] * w->rise[u];
        }
        (void)warm(w, 0, w->rise);
        for (size_t u = 0; u < w->c->n_unit; u++) {
            gain = fmax(gain, w->rise[u]);
        }
        for (size_t u = 0; u < w->c->n_unit && gain > 0; u++) {
            w->rise[u] /= gain;
        }
    }
    return gain;
}

double tmx_budget_loop_gain(const struct tmx_plan_chip *c, double volt, double temp_k)
{
    struct tmx_budget_steady w;
    const double gain = tmx_budget_steady_init(&w, c, volt, NULL) ? NAN : loop_gain(&w, temp_k);
    tmx_budget_steady_finish(&w);
    return gain;
}

/* From a cold chip: above the steady state lies another, where leakage holds itself. false: it runs away. */
static bool settle(struct tmx_budget_steady *w, double watt)
{
    const struct tmx_plan_chip *c = w->c;
    const double top_k = 590; /* the leakage's table ends at 600 K */
    double move = 1;
    for (size_t u = 0; u < c->n_unit; u++) {
        w->temp_k[u] = c->ambient_k;
    }
    for (int round = 0; round < ROUNDS && move > SETTLED_K; round++) {
        for (size_t u = 0; u < c->n_unit; u++) {
            w->power_w[u] =
                c->baseline_w[u] + w->volt * tmx_plan_leak_w(c, u, w->temp_k[u]) + watt * w->ones[u];
        }
        move = warm(w, c->ambient_k, w->temp_k);
        for (size_t u = 0; u < c->n_unit; u++) {
            if (w->temp_k[u] > top_k) {
                return false;
            }
        }
    }
    return true;
}

enum tmx_status tmx_budget_idle(const struct tmx_plan_chip *c, double volt, double *temp_k,
                                struct tmx_err *err)
{
    struct tmx_budget_steady w;
    enum tmx_status st = tmx_budget_steady_init(&w, c, volt, err);
    if (!st) {
        st =
            settle(&w, 0) ? TMX_OK : tmx_fail(err, TMX_ERUNAWAY, "no power is safe: the idle chip runs away");
        memcpy(temp_k, w.temp_k, c->n_unit * sizeof *temp_k);
    }
    tmx_budget_steady_finish(&w);
    return st;
}

double tmx_budget_steady_watt(struct tmx_budget_steady *w, double limit_k, const bool *on)
{
    enum { STEPS = 60 };
    const struct tmx_plan_chip *c = w->c;
    double watt = 0, step = 1;
    for (size_t u = 0; u < c->n_unit; u++) {
        const int s = c->chip->sm_of_unit[u];
        w->ones[u] = s != TMX_NO_SM && on[s] ? c->chip->part_share[u] : 0;
    }
    for (int i = 0; i < STEPS && fabs(step) > 1e-9; i++) {
        size_t hottest = 0;
        const bool steady = settle(w, watt);
        tmx_budget_steady_sensors(w, w->temp_k);
        for (size_t s = 1; s < c->n_sm; s++) {
            hottest = w->sm_k[s] > w->sm_k[hottest] ? s : hottest;
        }
        tmx_budget_steady_slopes(w, w->temp_k);
        if (!steady || !tmx_budget_steady_respond(w, w->ones, w->rise)) { /* runs away: back half way */
            step = -watt / 2;
        } else {
            step = (limit_k - w->sm_k[hottest]) / tmx_plan_sensor(c, hottest, w->rise);
        }
        watt = fmax(0, watt + step);
        step = watt > 0 ? step : 0;
    }
    return watt;
}

enum tmx_status tmx_budget_of(const struct tmx_plan_chip *c, const struct tmx_budget_call *call,
                              const bool *on, double *watt, double *temp_k, struct tmx_err *err)
{
    struct tmx_budget_steady w;
    enum tmx_status st = tmx_budget_steady_init(&w, c, call->volt, err);
    const double gain = st ? 0 : loop_gain(&w, call->limit_k);
    if (!st && !(gain < 1)) {
        st = tmx_fail(err, TMX_ERUNAWAY, "no power is safe: at %g degC leakage feeds back %.2f-fold",
                      call->limit_k - TMX_ZERO_C, gain);
    }
    if (!st) {
        *watt = tmx_budget_steady_watt(&w, call->limit_k, on);
        if (temp_k) {
            memcpy(temp_k, w.temp_k, c->n_unit * sizeof *temp_k);
        }
    }
    tmx_budget_steady_finish(&w);
    return st;
}

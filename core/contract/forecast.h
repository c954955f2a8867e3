/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TMX_CORE_CONTRACT_FORECAST_H
#define TMX_CORE_CONTRACT_FORECAST_H

/* How a GPU answers watts, for policies that look ahead: its thermal model in modes at one convection,
 *   z' = -rate z + in p,   theta = out z + direct p      (theta: unit temperatures above ambient)
 * and what follows from it for a scheduling tick of length h:
 *   z(h) = decay z + gain (in p),   step(h) = out gain in + direct: theta after h of constant p from z = 0.
 * Constant; GPUs of one kind share one. Products with matrices are what a decision costs: they are made for
 * several vectors at once, and `in p`, the drive of the modes, is linear in p and worth keeping. */

#include <stddef.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/rows.h"
#include "core/contract/power_model.h"

struct tmx_modes_view { /* of a thermal model; pointers live as long as it */
    size_t n_mode, n_unit;
    size_t mode_row, unit_row; /* lengths of rows, multiples of TMX_ROWS_PAD; padding of rate is 1, else 0 */
    const double *rate;        /* [mode_row, 1/s] */
    const double *in;          /* [n_unit][mode_row] */
    const double *out;         /* [n_mode][unit_row] */
    const double *direct;      /* [n_unit][unit_row]; NULL: none */
    double ambient_k;
    const double *frequency; /* [mode_row, 1/s] where coolant flows, whose modes turn in pairs: no forecast
                                has them; NULL */
};

enum { TMX_FORECAST_PARTS = 10 }; /* a scheduling tick may be cut in so many parts */

/* The GPU's cooler where fans move: convection by their speed. Pointers of the run. */
struct tmx_forecast_air {
    size_t n;                    /* 0: convection is constant */
    const double *rpm, *k_per_w; /* [n] ascending speed, sink to air */
    double model_k_per_w;        /* that the modes have */
    double max_rpm, full_w;      /* of the card's fans: full speed, mean; electrical watts at it, together */
};

struct tmx_forecast {
    struct tmx_modes_view modes;
    struct tmx_forecast_air air;
    tmx_rows_kernel sums;
    double tick_s; /* the scheduling tick h */
    size_t
        n_lasting; /* modes up to the last that after h has more than 1e-6 of what it was; the rest is fast */
    struct tmx_arena arena; /* of the tables */
    /* [1 .. TMX_FORECAST_PARTS]: after i / TMX_FORECAST_PARTS of h */
    double *decay[TMX_FORECAST_PARTS + 1], *gain[TMX_FORECAST_PARTS + 1]; /* [mode_row] */
    double *step[TMX_FORECAST_PARTS + 1]; /* [n_unit][unit_row, K/W] row: unit that is powered */
    double *steady;                       /* the same after for ever */
};

/* One GPU, for a policy that looks ahead. */
struct tmx_outlook {
    const struct tmx_forecast *forecast;
    struct tmx_static_power still; /* what it draws without work */
    const struct tmx_chip *chip;   /* levels, and the units of SMs */
    double power_scale;            /* of a kernel's pdi_w, which is for GPU 0's chip */
    const bool *gated;             /* [n_sm] its SMs whose clock is off now */
    double delay_s;                /* age of the sensors' readings */
    const double *waits;           /* [n_job] share of a kernel's time that does not follow the clock */
    const struct tmx_job *job;     /* [n_job] of each, the leakage under it */
};

/* Overwritten; the modes have to outlive it. End with tmx_forecast_finish, also after failure. */
TMX_NODISCARD enum tmx_status tmx_forecast_init(struct tmx_forecast *f, const struct tmx_modes_view *modes,
                                                double tick_s, struct tmx_err *err);
void tmx_forecast_finish(struct tmx_forecast *f); /* accepts zeroed memory */

/* Of the first n_mode modes: n_lasting where only whole scheduling ticks count, else all.
 * drive[i] [mode_row] = in power_w[i] [n_unit]. */
void tmx_forecast_drive(const struct tmx_forecast *f, size_t n_mode, size_t n, const double *const *power_w,
                        double *const *drive);
/* z = decay[part] z + gain[part] drive: part / TMX_FORECAST_PARTS of a scheduling tick goes by. */
void tmx_forecast_advance(const struct tmx_forecast *f, size_t n_mode, size_t part, const double *drive,
                          double *z);
/* theta_k[i] [unit_row] = out z[i] + direct power_w[i]; power_w NULL: without the second. */
void tmx_forecast_read(const struct tmx_forecast *f, size_t n_mode, size_t n, const double *const *z,
                       const double *const *power_w, double *const *theta_k);
/* theta_k[i] [unit_row] += table power_w[i], where table is a step response or the steady one. */
void tmx_forecast_add(const struct tmx_forecast *f, const double *table, size_t n,
                      const double *const *power_w, double *const *theta_k);

#endif

/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TMX_MEASURE_RC_H
#define TMX_MEASURE_RC_H

/* A small RC model of a node, as fine as a log of power and one temperature a GPU can tell.
 *
 *   T(t)     = T_air(t) + offset + R_j P + x_die + x_sink     what the sensor shows [degC]
 *   tau_die x_die' = R_die P - x_die                          die and base, when the log is fast enough
 *   C x_sink'      = P - x_sink / R(n)                        sink, R(n) = R_base + R_sink (n_ref / n)^m
 *   T_air    = ambient + rise + chassis (n_ref / n) + preheat (n_ref / n) q_up + x_case
 *   q_up     = x_sink / R(n) of the GPU upstream              heat it gives to the air [W]
 *   tau_case x_case' = R_case P - x_case                      the case warms up
 *
 * n is the fan's speed; without one all of it holds for "this fan curve only". The exponent m is 0.8, that of
 * forced convection, unless the log holds fan speeds that do not follow the temperature: from one fan curve
 * it cannot be separated from the warming of the case. R_base, air that does not pass the fins, likewise.
 *
 * Between two rows power is a straight line, or the later row's where rows hold means (power_is_mean); each
 * pole's step is exact for that. What follows power at once then sees the power at the row's end: of a row
 * that holds part of a jump, the next row's. */

#include "measure/log/measured.h"

enum { TMX_RC_NONE = -1 };

struct tmx_rc_gpu {
    char name[64];
    double offset_k;         /* of the sensor against the ambient of its run */
    double junction_k_per_w; /* R_j: what follows power at once */
    double die_k_per_w;      /* 0: no die pole */
    double sink_k_per_w;     /* at rpm_ref */
    double sink_j_per_k;
    double preheat_k_per_w; /* at rpm_ref, of the heat of the GPU upstream */
    int upstream;           /* its index, or TMX_RC_NONE */
};

struct tmx_rc {
    struct tmx_rc_gpu *gpu; /* [n_gpu] owned */
    size_t n_gpu;
    double die_s, case_k_per_w, case_s;
    double sink_base_k_per_w, fan_exponent;
    double air_rise_k;    /* of the air at the GPUs over the ambient sensor, at any fan speed */
    double chassis_k;     /* rise of the air before it reaches the GPUs, at rpm_ref, whatever they do */
    double power_lag_s;   /* the log's power is this late */
    double rpm_ref;       /* 0: the fan is not known */
    bool power_is_mean;   /* a row's power is the mean since the row before, not the power at its time */
    bool ambient_fitted;  /* a run's ambient is one number fitted to it, not the log's inlet column */
    char power_from[128]; /* name of the column whose watts these are: a board's are not a chip's; "": not
                             known */
    double power_low_w, power_high_w; /* of the log it was fitted to; 0: not known */
    double leak_per_k;                /* d ln P / dT at equal work (calibrate.h); 0: not known */
    double residual_k;                /* rms of the fit; 0: not known */
};

void tmx_rc_finish(struct tmx_rc *m);
/* Index of a GPU by name; n_gpu when absent. */
size_t tmx_rc_find(const struct tmx_rc *m, const char *name);

/* R(n) of a GPU [K/W]. */
double tmx_rc_sink(const struct tmx_rc *m, size_t gpu, double rpm);

/* The GPU's rise over its run's ambient after long at these powers [n_gpu] and fan speeds [n_gpu; NULL: at
 * rpm_ref]. */
double tmx_rc_steady_k(const struct tmx_rc *m, size_t gpu, const double *power_w, const double *rpm);

struct tmx_rc_drive { /* what drives one GPU, a value a row */
    size_t n;
    const double *time_s, *power_w;
    const double *rpm;       /* NULL: at rpm_ref */
    const double *ambient_c; /* NULL: 0 */
    /* the GPU upstream, on its own rows; n_up = 0: none */
    size_t n_up;
    const double *up_time_s, *up_heat_w;
};

/* temp_c[n]: predicted, from a steady start at power_w[0]; start[n]: its derivative by the start of the sink
 * [K/K]; heat_w[n]: to the air. start and heat_w may be NULL. Allocates nothing. */
void tmx_rc_simulate(const struct tmx_rc *m, size_t gpu, const struct tmx_rc_drive *d, double *temp_c,
                     double *start, double *heat_w);

#endif

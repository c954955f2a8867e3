/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TMX_MEASURE_FIT_H
#define TMX_MEASURE_FIT_H

#include "base/arena.h"
#include "measure/log/measured.h"

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
/* Into a model that has room for the GPUs. */
void tmx_rc_copy(struct tmx_rc *to, const struct tmx_rc *from);
/* Index of a GPU by name; n_gpu when absent. */
size_t tmx_rc_find(const struct tmx_rc *m, const char *name);

/* Does the air that a GPU breathes come from itself? */
bool tmx_rc_circle(const struct tmx_rc *m, size_t gpu);

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

/* Least squares of an RC node on measured series: Levenberg-Marquardt (GSL) on the exact step, the start of
 * each series' sink projected out, standard errors by a jackknife over stretches of equal readings. fit.c
 * shows how. */

enum tmx_fit_kind { /* fields of struct tmx_rc and of its GPUs, and the ambient of a run */
                    TMX_FIT_OFFSET,
                    TMX_FIT_JUNCTION,
                    TMX_FIT_DIE,
                    TMX_FIT_SINK,
                    TMX_FIT_SINK_C,
                    TMX_FIT_PREHEAT,
                    TMX_FIT_DIE_S,
                    TMX_FIT_SINK_BASE,
                    TMX_FIT_EXPONENT,
                    TMX_FIT_CASE,
                    TMX_FIT_CASE_S,
                    TMX_FIT_AIR_RISE,
                    TMX_FIT_CHASSIS,
                    TMX_FIT_LAG,
                    TMX_FIT_AMBIENT,
                    TMX_N_FIT,
                    TMX_N_RC = TMX_N_FIT + 5 /* with those of a calibration's file that are never fitted */
};

enum { TMX_FIT_ALL = -1 };

struct tmx_fit_parameter {
    enum tmx_fit_kind kind;
    int gpu; /* index in the model, or TMX_FIT_ALL: one value for all it applies to */
    int run; /* AMBIENT: index in the log */
    double prior,
        spread;          /* known beforehand, of the logarithm where positive; spread 0: as its kind has it */
    double value, error; /* error: standard, of value */
    bool identified;
    char why[160]; /* when not: what would show it */
};

struct tmx_fit {
    struct tmx_rc *model; /* start values in, fitted values out */
    const struct tmx_measured *log;
    const bool *use;   /* [n_series] of the log: fitted to; NULL: all */
    double to;         /* share of each series' time up to which its rows count; 1: all */
    double *ambient_c; /* [n_run] start values in, fitted out; used where no inlet is */
    bool inlet;        /* ambient from the log's inlet column */
    double rpm;        /* of series without a fan column; 0: at the model's rpm_ref */
    struct tmx_fit_parameter *parameter;
    size_t n_parameter;
    int most_iterations; /* 0: 60 */
    double
        *covariance; /* [n_parameter * n_parameter] out, of logarithms where positive; NULL: not asked for */
    double rms_k;    /* out */
    size_t n_row;    /* out: rows that counted */
    int iterations;  /* out */
};

extern const struct tmx_fit_what {
    const char *name, *unit;
    bool positive;
    double prior, spread; /* what is known beforehand, weakly; spread 0: nothing */
    bool of_gpu;          /* a number of each GPU; else of the model */
    size_t offset;        /* of the number there */
} tmx_fit_kinds[TMX_N_RC];
/* Set the parameter of this name, of this GPU or of "all"; false: there is none. */
bool tmx_fit_set(struct tmx_rc *m, const char *name, const char *gpu, double v);
/* Spread of what is known of a parameter beforehand, of its logarithm where positive; 0: nothing is known. */
double tmx_fit_spread(const struct tmx_fit_parameter *p);

/* Move a parameter of the model: by a factor exp(dx) where it is positive, else by dx. An ambient is in no
 * model. */
void tmx_fit_shift(struct tmx_rc *model, const struct tmx_fit_parameter *p, double dx);

/* errors: also the standard errors. False after TMX_ENOMEM, TMX_ESOLVE. Like the next two it does nothing
 * when *err holds an error already. */
bool tmx_fit_run(struct tmx_fit *f, bool errors, struct tmx_err *err);

/* temp_c[n of the series]: as the model predicts it. *start_k, of the sink beyond steady: NAN asks for the
 * one that fits the rows that count best, and gets it; a number is taken as it is. */
bool tmx_fit_predict(const struct tmx_fit *f, size_t series, double *start_k, double *temp_c,
                     struct tmx_err *err);

/* ambient_c of every run whose log has no inlet, by least squares of the offset alone. */
void tmx_fit_ambients(struct tmx_fit *f, struct tmx_err *err);

/* How far a fit may be off: directions in which its parameters err together, each by one standard deviation
 * and apart from the others (the eigenvectors of the covariance). */
struct tmx_fit_errors {
    struct tmx_arena arena;              /* of these */
    struct tmx_fit_parameter *parameter; /* [n] */
    double *direction;                   /* [n * n] a row a direction; its moves are those of tmx_fit_shift */
    size_t n, n_ambient;
    bool known; /* false: the covariance is not finite */
};
TMX_NODISCARD enum tmx_status tmx_fit_errors_make(struct tmx_fit_errors *e,
                                                  const struct tmx_fit_parameter *parameter, size_t n,
                                                  const double *covariance, struct tmx_err *err);
void tmx_fit_errors_finish(struct tmx_fit_errors *e);
/* Standard error of a GPU's temperature after long at these powers and fan speeds [n_gpu of the model], with
 * the rms of the fit's residual; air: the air is the mean of the fitted ambients, too, not given. NAN: not
 * known. */
double tmx_fit_steady_error_k(const struct tmx_fit_errors *e, const struct tmx_rc *model, size_t gpu,
                              const double *power_w, const double *rpm, bool air);

#endif

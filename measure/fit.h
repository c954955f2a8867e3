/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TMX_MEASURE_FIT_H
#define TMX_MEASURE_FIT_H

/* Least squares of an RC node on measured series: Levenberg-Marquardt (GSL) on the exact step, the start of
 * each series' sink projected out, standard errors by a jackknife over stretches of equal readings. fit.c
 * shows how. */

#include "base/arena.h"
#include "measure/rc.h"

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
                    TMX_N_FIT
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

const char *tmx_fit_name(enum tmx_fit_kind kind);
const char *tmx_fit_unit(enum tmx_fit_kind kind);
bool tmx_fit_positive(enum tmx_fit_kind kind);
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

/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TMX_MEASURE_FIT_PROBLEM_H
#define TMX_MEASURE_FIT_PROBLEM_H

/* The least-squares problem in memory: which rows of a log count, and what the model makes of them. */

#include <gsl/gsl_matrix.h>

#include "measure/fit.h"

struct tmx_fit_span { /* one series of the fit */
    size_t series;    /* of the log */
    size_t gpu;       /* of the model */
    size_t row0, n;   /* its rows in the residual vector: those that count */
    size_t at;        /* its rows in the arrays over all rows */
    int upstream;     /* index of the span upstream, or -1 */
    bool counts;      /* false: only heats others */
};

struct tmx_fit_problem {
    struct tmx_fit *fit;
    struct tmx_fit_span *span; /* [n_span] upstream first within a run */
    size_t n_span, n_row, n_all;
    double *temp, *start, *heat, *scratch, *inlet, *rpm; /* [n_all] */
    double *heat_base;                                   /* [n_all] */
    double *base;                                        /* [n_row] residuals of the last evaluation */
    double *jump_w,
        *time_s;     /* [n_row] jump of power in the interval that ends with the row, else 0; its time */
    double *bare_w;  /* [n_row] the jump where no row beside it holds part of it, else 0 */
    double *step_k;  /* [n_cluster] of its sensor */
    size_t *cluster; /* [n_row] */
    size_t n_cluster, n_reading; /* n_reading: stretches of one reading */
};

void tmx_fit_put(const struct tmx_fit *f, const struct tmx_fit_parameter *p, double x);
double tmx_fit_get(const struct tmx_fit *f, const struct tmx_fit_parameter *p);
/* What is known of x beforehand: a value and its spread; 0: nothing. */
double tmx_fit_prior(const struct tmx_fit_parameter *p);
double tmx_fit_spread(const struct tmx_fit_parameter *p);

TMX_NODISCARD enum tmx_status tmx_fit_problem_init(struct tmx_fit_problem *q, struct tmx_fit *f,
                                                   struct tmx_err *err);
void tmx_fit_problem_finish(struct tmx_fit_problem *q);

/* Is this series of the log fitted to? */
bool tmx_fit_uses(const struct tmx_fit *f, size_t series);
/* Does the parameter move this span? */
bool tmx_fit_moves(const struct tmx_fit_problem *q, const struct tmx_fit_parameter *p,
                   const struct tmx_fit_span *s);
/* Temperatures, their derivative by the start, and heat of one span; up_heat: of the span upstream. */
void tmx_fit_simulate(const struct tmx_fit_problem *q, const struct tmx_fit_span *s, const double *up_heat);
/* The start of the sink that fits best, beyond steady [K]. */
double tmx_fit_best_start(const struct tmx_fit_problem *q, const struct tmx_fit_span *s, double constant);
/* What is added to every prediction of a series: the ambient of its run, 0 where its rows have an inlet. */
double tmx_fit_ambient_of(const struct tmx_fit_problem *q, const struct tmx_series *r);
/* Residuals predicted - measured of one span, its start projected out. */
void tmx_fit_residuals(const struct tmx_fit_problem *q, const struct tmx_fit_span *s, const double *up_heat,
                       double *out);
/* The heat of the span upstream in an array over all rows; NULL without one. */
const double *tmx_fit_up_of(const struct tmx_fit_problem *q, const struct tmx_fit_span *s,
                            const double *heat);

/* Jackknife over clusters: leaving out cluster c moves the solution by (J'J - Jc'Jc)^-1 Jc' rc. A parameter
 * that rests on one cluster makes that matrix singular: its error is then infinite. variance[p], of x. */
void tmx_fit_jackknife(const struct tmx_fit_problem *q, const gsl_matrix *J, const gsl_vector *r,
                       double *variance);

/* Jumps of power between rows; B: the factored J'J of scaled columns. False without memory. */
TMX_NODISCARD bool tmx_fit_jumps(const struct tmx_fit_problem *q, const gsl_matrix *J, const gsl_matrix *B,
                                 const gsl_vector *scale, double *variance);

#endif

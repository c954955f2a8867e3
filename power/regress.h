/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TMX_POWER_REGRESS_H
#define TMX_POWER_REGRESS_H

/* Coefficients of equation 11 by least squares from measured kernels:
 *   power = lambda + sum_i a_i e_i
 * with the leave-one-out error of every row. */

#include <stddef.h>

#include "base/arena.h"
#include "base/csv.h"
#include "base/err.h"
#include "base/table.h"

enum { TMX_FEATURE_MAX = 16 };

struct tmx_training {       /* release with tmx_training_finish */
    struct tmx_csv csv;     /* the table as it was read: names, lines */
    struct tmx_arena arena; /* of the arrays */
    const char **kernel;    /* [n_row] names */
    double *event;          /* [n_row * n_feature] event rates, row by row */
    double *power_w;        /* [n_row] measured, above the idle system */
    char **feature;         /* [n_feature] column names */
    size_t n_row, n_feature;
};

struct tmx_power_fit {                       /* release with tmx_power_fit_finish */
    struct tmx_arena arena;                  /* of the arrays */
    double coefficient[TMX_FEATURE_MAX + 1]; /* lambda, then a_i */
    double std_error[TMX_FEATURE_MAX + 1];   /* of each */
    double *fitted_w;                        /* [n_row] */
    double *left_out_w;                      /* [n_row] predicted by the fit to all other rows */
    double r_squared;
    double rms_w; /* of the residuals, with n_row - n_coefficient degrees of freedom */
    size_t n_coefficient;
};

/* Read a table (base/csv.h) of columns `kernel,<event>...,power_w`. Its errors, and TMX_EPARSE with file:line
 * and the column for a missing column, a value that is not a finite number, a power that is not positive, a
 * kernel named twice. */
TMX_NODISCARD enum tmx_status tmx_training_load(struct tmx_training *t, const char *path,
                                                struct tmx_err *err);
void tmx_training_finish(struct tmx_training *t); /* accepts zeroed memory */

/* Fit all rows, then each row by the others. TMX_EPARSE when the rows are too few (at least two more
 * than coefficients), when an event never changes or is a combination of others (naming it), also
 * with one row left out (naming the row too); TMX_ENOMEM. */
TMX_NODISCARD enum tmx_status tmx_power_fit(const struct tmx_training *t, struct tmx_power_fit *fit,
                                            struct tmx_err *err);
void tmx_power_fit_finish(struct tmx_power_fit *fit); /* accepts zeroed memory */

/* lambda + sum_i a_i event[i]. */
double tmx_power_fit_predict_w(const struct tmx_power_fit *fit, const double *event);

/* A fit of the power model as tables: coefficients, the kernels it was fitted to, kernels it was not. The
 * caller destroys *t. Errors in percent are of the power plus idle_w, that of the rest of the system. */

struct tmx_table *tmx_fit_coefficients(const struct tmx_training *train, const struct tmx_power_fit *fit);
struct tmx_table *tmx_fit_rows(const struct tmx_training *train, const struct tmx_power_fit *fit,
                               double idle_w);

struct tmx_fit_error { /* percent */
    double mean, worst;
    size_t worst_row;
};
/* Every kernel predicted by a fit to the others. */
struct tmx_fit_error tmx_fit_left_out(const struct tmx_training *train, const struct tmx_power_fit *fit,
                                      double idle_w);

/* Predict the kernels of another table. TMX_EPARSE when its columns are not the fit's. */
TMX_NODISCARD enum tmx_status tmx_fit_test(const struct tmx_training *train, const struct tmx_power_fit *fit,
                                           const struct tmx_training *test, double idle_w,
                                           struct tmx_table **t, struct tmx_fit_error *e,
                                           struct tmx_err *err);

#endif

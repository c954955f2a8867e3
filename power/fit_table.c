/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "power/fit_table.h"

#include <math.h>
#include <string.h>

enum tmx_status tmx_fit_coefficients(const struct tmx_training *train, const struct tmx_power_fit *fit,
                                     struct tmx_table **t, struct tmx_err *err)
{
    static const struct tmx_column columns[] = {{"coefficient", TMX_COLUMN_TEXT, 0},
                                                {"value_w", TMX_COLUMN_REAL, 3},
                                                {"standard_error_w", TMX_COLUMN_REAL, 3}};
    const enum tmx_status st = tmx_table_create(t, columns, 3, err);
    for (size_t i = 0; !st && i < fit->n_coefficient; i++) {
        tmx_table_text(*t, i == 0 ? "lambda" : train->feature[i - 1]);
        tmx_table_real(*t, fit->coefficient[i]);
        tmx_table_real(*t, fit->std_error[i]);
    }
    return st;
}

enum tmx_status tmx_fit_rows(const struct tmx_training *train, const struct tmx_power_fit *fit, double idle_w,
                             struct tmx_table **t, struct tmx_err *err)
{
    static const struct tmx_column columns[] = {
        {"kernel", TMX_COLUMN_TEXT, 0},     {"measured_w", TMX_COLUMN_REAL, 2},
        {"fitted_w", TMX_COLUMN_REAL, 2},   {"residual_w", TMX_COLUMN_REAL, 2},
        {"left_out_w", TMX_COLUMN_REAL, 2}, {"left_out_error_percent", TMX_COLUMN_REAL, 2}};
    const enum tmx_status st = tmx_table_create(t, columns, 6, err);
    for (size_t r = 0; !st && r < train->n_row; r++) {
        tmx_table_text(*t, train->kernel[r]);
        tmx_table_real(*t, train->power_w[r]);
        tmx_table_real(*t, fit->fitted_w[r]);
        tmx_table_real(*t, train->power_w[r] - fit->fitted_w[r]);
        tmx_table_real(*t, fit->left_out_w[r]);
        tmx_table_real(*t, 100 * (fit->left_out_w[r] - train->power_w[r]) / (train->power_w[r] + idle_w));
    }
    return st;
}

static void count(struct tmx_fit_error *e, double percent, size_t row, size_t n_row)
{
    e->mean += fabs(percent) / (double)n_row;
    if (fabs(percent) > e->worst) {
        e->worst = fabs(percent);
        e->worst_row = row;
    }
}

struct tmx_fit_error tmx_fit_left_out(const struct tmx_training *train, const struct tmx_power_fit *fit,
                                      double idle_w)
{
    struct tmx_fit_error e = {0};
    for (size_t r = 0; r < train->n_row; r++) {
        count(&e, 100 * (fit->left_out_w[r] - train->power_w[r]) / (train->power_w[r] + idle_w), r,
              train->n_row);
    }
    return e;
}

enum tmx_status tmx_fit_test(const struct tmx_training *train, const struct tmx_power_fit *fit,
                             const struct tmx_training *test, double idle_w, struct tmx_table **t,
                             struct tmx_fit_error *e, struct tmx_err *err)
{
    static const struct tmx_column columns[] = {{"kernel", TMX_COLUMN_TEXT, 0},
                                                {"measured_w", TMX_COLUMN_REAL, 2},
                                                {"predicted_w", TMX_COLUMN_REAL, 2},
                                                {"error_percent", TMX_COLUMN_REAL, 2}};
    *e = (struct tmx_fit_error){0};
    for (size_t f = 0; f < train->n_feature; f++) {
        if (test->n_feature != train->n_feature || strcmp(test->feature[f], train->feature[f]) != 0) {
            return tmx_fail_at(err, TMX_EPARSE, test->name, 0, "columns differ from those of %s",
                               train->name);
        }
    }
    const enum tmx_status st = tmx_table_create(t, columns, 4, err);
    for (size_t r = 0; !st && r < test->n_row; r++) {
        const double w = tmx_power_fit_predict_w(fit, &test->event[r * test->n_feature]);
        const double percent = 100 * (w - test->power_w[r]) / (test->power_w[r] + idle_w);
        tmx_table_text(*t, test->kernel[r]);
        tmx_table_real(*t, test->power_w[r]);
        tmx_table_real(*t, w);
        tmx_table_real(*t, percent);
        count(e, percent, r, test->n_row);
    }
    return st;
}

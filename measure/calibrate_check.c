/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How far a calibration is from what it was not fitted to. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "measure/calibrate_work.h"

enum tmx_status tmx_cal_leave_one_out(struct tmx_cal_work *w, struct tmx_err *err)
{
    struct tmx_calibration *c = w->c;
    const struct tmx_measured *log = w->log;
    struct tmx_cal_state all = {0};
    struct tmx_fit_parameter *keep = malloc((c->fit.n_parameter + 1) * sizeof *keep);
    bool *use = calloc(log->n_series + 1, sizeof *use);
    double *temp = NULL;
    size_t longest = 0;
    for (size_t i = 0; i < log->n_series; i++) {
        longest = log->series[i].n > longest ? log->series[i].n : longest;
    }
    temp = malloc((longest + 1) * sizeof *temp);
    c->leave_one_out = calloc(log->n_run + 1, sizeof *c->leave_one_out);
    enum tmx_status st = use && temp && keep && c->leave_one_out ? tmx_cal_save(w, &all, err)
                                                                 : tmx_fail(err, TMX_ENOMEM, "leave-one-out");
    const size_t n_parameter = c->fit.n_parameter, n_row = c->fit.n_row;
    if (!st) {
        memcpy(keep, c->parameter, n_parameter * sizeof *keep);
    }
    for (size_t r = 0; !st && r < log->n_run; r++) {
        size_t in = 0, out = 0, n = 0;
        double sum = 0;
        for (size_t i = 0; i < log->n_series; i++) {
            use[i] = log->series[i].run != r;
            in += use[i];
            out += !use[i];
        }
        if (in == 0 || out == 0) {
            continue;
        }
        struct tmx_err ignored = {0};
        c->fit.use = use;
        tmx_cal_go_back(w, &all);
        memcpy(c->parameter, keep, n_parameter * sizeof *keep);
        c->fit.n_parameter = 0;
        for (size_t k = 0; k < n_parameter; k++) {
            if (keep[k].kind != TMX_FIT_AMBIENT || keep[k].run != (int)r) {
                c->parameter[c->fit.n_parameter++] = keep[k];
            }
        }
        bool ok = !tmx_fit_run(&c->fit, false, &ignored);
        for (size_t i = 0; i < log->n_series; i++) {
            use[i] = log->series[i].run == r;
        }
        ok = ok && (c->fit.inlet || w->options->ambient == TMX_AMBIENT_GIVEN ||
                    !tmx_fit_ambients(&c->fit, &ignored));
        for (size_t i = 0; ok && i < log->n_series; i++) {
            const struct tmx_series *s = &log->series[i];
            double start = NAN;
            if (use[i] && !tmx_fit_predict(&c->fit, i, &start, temp, &ignored)) {
                for (size_t k = 0; k < s->n; k++) {
                    const double d = temp[k] - s->q[TMX_Q_TEMP][k];
                    sum += isnan(d) ? 0 : d * d;
                    n += isnan(d) ? 0u : 1u;
                }
            }
        }
        c->leave_one_out[c->n_leave_one_out++] =
            (struct tmx_run_error){r, ok && n ? sqrt(sum / (double)n) : NAN};
    }
    if (!st) {
        tmx_cal_go_back(w, &all);
        memcpy(c->parameter, keep, n_parameter * sizeof *keep);
        c->fit.n_parameter = n_parameter;
        c->fit.n_row = n_row;
    }
    c->fit.use = NULL;
    tmx_cal_state_finish(&all);
    free(keep);
    free(use);
    free(temp);
    return st;
}

enum tmx_status tmx_cal_judge_rest(struct tmx_cal_work *w, struct tmx_err *err)
{
    struct tmx_calibration *c = w->c;
    double sum = 0;
    size_t n = 0;
    enum tmx_status st = TMX_OK;
    for (size_t i = 0; !st && i < w->log->n_series; i++) {
        const struct tmx_series *s = &w->log->series[i];
        double *temp = malloc(s->n * sizeof *temp), start = NAN;
        st = temp ? tmx_fit_predict(&c->fit, i, &start, temp, err)
                  : tmx_fail(err, TMX_ENOMEM, "%zu rows", s->n);
        for (size_t k = 0; !st && k < s->n; k++) {
            const double share = s->q[TMX_Q_TIME][k] / s->q[TMX_Q_TIME][s->n - 1],
                         d = temp[k] - s->q[TMX_Q_TEMP][k];
            if (share > c->fit.to && !isnan(d)) {
                sum += d * d;
                n++;
            }
        }
        free(temp);
    }
    c->rest_rms_k = n ? sqrt(sum / (double)n) : NAN;
    return st;
}

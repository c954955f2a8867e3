/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Where a fit starts: one GPU alone, several time constants tried. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "measure/calibrate_work.h"

/* One start of the one-GPU fit, kept when it beats what was found. die_s = 0: one pole. */
static enum tmx_status try_guess(struct tmx_cal_work *w, size_t run, double r, double tau, double die_s,
                                 double ambient_c, struct tmx_cal_state *found, struct tmx_err *err)
{
    struct tmx_calibration *c = w->c;
    struct tmx_err ignored = {0};
    const double before = found->gpu ? found->rms_k : INFINITY;
    for (size_t g = 0; g < c->model.n_gpu; g++) {
        c->model.gpu[g].junction_k_per_w = c->model.gpu[g].sink_k_per_w = r / 2;
        c->model.gpu[g].die_k_per_w = die_s > 0 ? r / 4 : 0;
        c->model.gpu[g].sink_j_per_k = tau / (r / 2);
    }
    c->model.die_s = die_s;
    c->ambient_c[run] = ambient_c;
    return !tmx_fit_run(&c->fit, false, &ignored) && c->fit.rms_k < before ? tmx_cal_save(w, found, err)
                                                                           : TMX_OK;
}

/* The series with the widest swing of power. */
static size_t widest_swing(const struct tmx_measured *log)
{
    size_t best = 0;
    double swing = -1;
    for (size_t i = 0; i < log->n_series; i++) {
        const double *p = log->series[i].q[TMX_Q_POWER];
        double low = INFINITY, high = -INFINITY;
        for (size_t k = 0; k < log->series[i].n; k++) {
            low = fmin(low, p[k]);
            high = fmax(high, p[k]);
        }
        if (high - low > swing) {
            swing = high - low;
            best = i;
        }
    }
    return best;
}

/* What was found for one GPU is where all start. */
static void start_all(struct tmx_cal_work *w, const struct tmx_cal_state *found, size_t gpu, size_t run,
                      double r)
{
    struct tmx_calibration *c = w->c;
    tmx_cal_go_back(w, found);
    for (size_t g = 0; g < c->model.n_gpu; g++) {
        c->model.gpu[g].junction_k_per_w = fmax(c->model.gpu[gpu].junction_k_per_w, 0.02 * r);
        c->model.gpu[g].sink_k_per_w = fmax(c->model.gpu[gpu].sink_k_per_w, 0.02 * r);
        c->model.gpu[g].die_k_per_w = w->die ? c->model.gpu[gpu].die_k_per_w : 0;
    }
    for (size_t k = 0; k < w->log->n_run; k++) {
        c->ambient_c[k] =
            w->options->ambient == TMX_AMBIENT_GIVEN ? w->options->ambient_c : found->ambient_c[run];
    }
}

enum tmx_status tmx_cal_first_guess(struct tmx_cal_work *w, struct tmx_err *err)
{
    struct tmx_calibration *c = w->c;
    const struct tmx_measured *log = w->log;
    const size_t best = widest_swing(log);
    const struct tmx_series *s = &log->series[best];
    const double span_s = s->q[TMX_Q_TIME][s->n - 1];
    const struct tmx_cal_range t = tmx_cal_range(log, TMX_Q_TEMP, (int)s->gpu),
                               p = tmx_cal_range(log, TMX_Q_POWER, (int)s->gpu);
    const double r = fmax(t.high - t.low, 1) / fmax(p.high - p.low, 1);
    struct tmx_cal_state found = {0};
    bool *use = calloc(log->n_series + 1, sizeof *use);
    const size_t gpu = tmx_rc_find(&c->model, log->gpu[s->gpu]);
    struct tmx_fit_parameter list[6] = {{.kind = TMX_FIT_JUNCTION, .gpu = (int)gpu},
                                        {.kind = TMX_FIT_SINK, .gpu = (int)gpu},
                                        {.kind = TMX_FIT_SINK_C, .gpu = TMX_FIT_ALL},
                                        {.kind = TMX_FIT_AMBIENT, .gpu = TMX_FIT_ALL, .run = (int)s->run},
                                        {.kind = TMX_FIT_DIE, .gpu = (int)gpu},
                                        {.kind = TMX_FIT_DIE_S, .gpu = TMX_FIT_ALL}};
    enum tmx_status st = use ? TMX_OK : tmx_fail(err, TMX_ENOMEM, "%zu series", log->n_series);
    if (!st) {
        use[best] = true;
    }
    const bool inlet = c->fit.inlet;
    c->fit.use = use;
    c->fit.inlet = false;
    c->fit.parameter = list;
    c->fit.n_parameter = 4;
    c->fit.rms_k = INFINITY;
    c->fit.most_iterations = 15;
    const double shortest = fmax(s->step_s, span_s / 1000);
    for (double tau = shortest; !st && tau < span_s; tau *= 4) {
        st = try_guess(w, s->run, r, tau, 0, t.low - r * p.low, &found, err);
    }
    const double one_pole_k = found.gpu ? found.rms_k : INFINITY;
    struct tmx_cal_state two = {0};
    c->fit.n_parameter = 6;
    for (double tau = 64 * shortest; !st && tau < span_s / 2; tau *= 4) {
        for (double die_s = 2 * shortest; !st && die_s < tau / 8; die_s *= 8) {
            st = try_guess(w, s->run, r, tau, die_s, t.low - r * p.low, &two, err);
        }
    }
    if (two.gpu && two.rms_k < 0.97 * one_pole_k) {
        struct tmx_cal_state swap = found;
        found = two;
        two = swap;
        w->die = true;
    }
    tmx_cal_state_finish(&two);
    if (!st && !found.gpu) {
        st = tmx_fail(err, TMX_ESOLVE, "no fit of GPU %s: is its temperature that of its power?",
                      log->gpu[s->gpu]);
    }
    if (!st) {
        start_all(w, &found, gpu, s->run, r);
    }
    tmx_cal_state_finish(&found);
    free(use);
    c->fit.use = NULL;
    c->fit.most_iterations = 0;
    c->fit.inlet = inlet;
    return st;
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The parameters of a structure, and growing it: a part of the model is taken in when it lowers the error and
 * the log tells its parameters. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "measure/calibrate_work.h"

/* Mounted parts of one kind differ: spread of the logarithm of their sinks' resistances and capacities,
 * assumed. */
static const double SINKS_DIFFER = 0.2;
/* Inlets of a rack differ by kelvins: spread of an offset that the log itself tells, wide enough to bias
 * nothing.
 */
static const double OFFSETS_DIFFER_K = 20;

static void add(struct tmx_cal_work *w, enum tmx_fit_kind kind, int gpu, int run)
{
    w->c->parameter[w->c->fit.n_parameter++] =
        (struct tmx_fit_parameter){.kind = kind, .gpu = gpu, .run = run, .identified = true};
}

static void list_parameters(struct tmx_cal_work *w)
{
    struct tmx_calibration *c = w->c;
    const size_t n = c->model.n_gpu;
    c->fit.n_parameter = 0;
    for (size_t g = 0; g < n; g++) {
        /* the first GPU's offset is part of the fitted ambient or of air_rise_k */
        if (g > 0) {
            add(w, TMX_FIT_OFFSET, (int)g, 0);
            c->parameter[c->fit.n_parameter - 1].spread =
                w->offset_identified && w->offset_identified[g] ? OFFSETS_DIFFER_K : 0;
        }
        add(w, TMX_FIT_JUNCTION, (int)g, 0);
        if (!w->sink_shared) {
            add(w, TMX_FIT_SINK, (int)g, 0);
            struct tmx_fit_parameter *p = &c->parameter[c->fit.n_parameter - 1];
            p->prior = w->sink_near > 0 ? log(w->sink_near) : 0;
            p->spread = w->sink_near > 0 ? SINKS_DIFFER : 0;
        }
        if (w->c_apart) {
            add(w, TMX_FIT_SINK_C, (int)g, 0);
            c->parameter[c->fit.n_parameter - 1].prior = log(w->c_near);
            c->parameter[c->fit.n_parameter - 1].spread = SINKS_DIFFER;
        }
    }
    if (c->fit.inlet || w->options->ambient == TMX_AMBIENT_GIVEN) {
        add(w, TMX_FIT_AIR_RISE, TMX_FIT_ALL, 0);
    }
    if (w->sink_shared) {
        add(w, TMX_FIT_SINK, TMX_FIT_ALL, 0);
    }
    if (!w->c_apart) {
        add(w, TMX_FIT_SINK_C, TMX_FIT_ALL, 0);
    }
    if (w->die) {
        add(w, TMX_FIT_DIE, TMX_FIT_ALL, 0);
        add(w, TMX_FIT_DIE_S, TMX_FIT_ALL, 0);
    }
    if (w->kase) {
        add(w, TMX_FIT_CASE, TMX_FIT_ALL, 0);
        add(w, TMX_FIT_CASE_S, TMX_FIT_ALL, 0);
    }
    if (w->exponent) {
        add(w, TMX_FIT_EXPONENT, TMX_FIT_ALL, 0);
    }
    if (w->base) {
        add(w, TMX_FIT_SINK_BASE, TMX_FIT_ALL, 0);
    }
    if (w->preheat) {
        add(w, TMX_FIT_PREHEAT, TMX_FIT_ALL, 0);
    }
    if (w->chassis) {
        add(w, TMX_FIT_CHASSIS, TMX_FIT_ALL, 0);
    }
    if (w->lag) {
        add(w, TMX_FIT_LAG, TMX_FIT_ALL, 0);
    }
    for (size_t r = 0; !c->fit.inlet && w->options->ambient != TMX_AMBIENT_GIVEN && r < w->log->n_run; r++) {
        for (size_t i = 0; i < w->log->n_series; i++) {
            if (w->log->series[i].run == r) {
                add(w, TMX_FIT_AMBIENT, TMX_FIT_ALL, (int)r);
                break;
            }
        }
    }
}

struct tmx_fit_parameter *tmx_cal_parameter(struct tmx_cal_work *w, enum tmx_fit_kind kind)
{
    for (size_t k = 0; k < w->c->fit.n_parameter; k++) {
        if (w->c->parameter[k].kind == kind) {
            return &w->c->parameter[k];
        }
    }
    return NULL;
}

enum tmx_status tmx_cal_save(const struct tmx_cal_work *w, struct tmx_cal_state *s, struct tmx_err *err)
{
    const struct tmx_calibration *c = w->c;
    if (!s->gpu) {
        s->gpu = malloc((c->model.n_gpu + 1) * sizeof *s->gpu);
        s->ambient_c = malloc((w->log->n_run + 1) * sizeof *s->ambient_c);
    }
    if (!s->gpu || !s->ambient_c) {
        return tmx_fail(err, TMX_ENOMEM, "%zu GPUs", c->model.n_gpu);
    }
    s->model = c->model;
    s->rms_k = c->fit.rms_k;
    memcpy(s->gpu, c->model.gpu, c->model.n_gpu * sizeof *s->gpu);
    memcpy(s->ambient_c, c->ambient_c, w->log->n_run * sizeof *s->ambient_c);
    return TMX_OK;
}

void tmx_cal_go_back(struct tmx_cal_work *w, const struct tmx_cal_state *s)
{
    struct tmx_rc_gpu *gpu = w->c->model.gpu;
    memcpy(gpu, s->gpu, s->model.n_gpu * sizeof *gpu);
    w->c->model = s->model;
    w->c->model.gpu = gpu;
    memcpy(w->c->ambient_c, s->ambient_c, w->log->n_run * sizeof *s->ambient_c);
    w->c->fit.rms_k = s->rms_k;
}

void tmx_cal_state_finish(struct tmx_cal_state *s)
{
    free(s->gpu);
    free(s->ambient_c);
}

enum tmx_status tmx_cal_refit(struct tmx_cal_work *w, bool errors, struct tmx_err *err)
{
    list_parameters(w);
    w->c->fit.parameter = w->c->parameter;
    return tmx_fit_run(&w->c->fit, errors, err);
}

enum tmx_status tmx_cal_judge_offsets(struct tmx_cal_work *w, struct tmx_err *err)
{
    static const double IDENTIFIED_K = 1; /* standard error, which counts nothing as known */
    bool change = false;
    for (size_t k = 0; k < w->c->fit.n_parameter; k++) {
        const struct tmx_fit_parameter *p = &w->c->parameter[k];
        if (p->kind == TMX_FIT_OFFSET) {
            const bool identified = p->error < IDENTIFIED_K;
            change = change || identified != w->offset_identified[p->gpu];
            w->offset_identified[p->gpu] = identified;
        }
    }
    return change ? tmx_cal_refit(w, true, err) : TMX_OK;
}

void tmx_cal_leave_out(struct tmx_cal_work *w, const char *name, const char *why)
{
    struct tmx_calibration *c = w->c;
    if (c->n_left_out < sizeof c->left_out / sizeof c->left_out[0]) {
        struct tmx_left_out *l = &c->left_out[c->n_left_out++];
        snprintf(l->name, sizeof l->name, "%s", name);
        snprintf(l->why, sizeof l->why, "%s", why);
    }
}

bool tmx_cal_identified(const struct tmx_fit_parameter *p)
{
    const double most = tmx_fit_positive(p->kind) ? 0.35 : 0.5;
    return p && isfinite(p->error) && p->error <= most * fabs(p->value);
}

enum tmx_status tmx_cal_try(struct tmx_cal_work *w, const struct tmx_cal_trial *t, struct tmx_err *err)
{
    struct tmx_cal_state before = {0}, best = {0};
    enum tmx_status st = tmx_cal_save(w, &before, err);
    bool better = false;
    for (size_t i = 0; !st && i < t->n_start; i++) {
        struct tmx_err ignored = {0};
        tmx_cal_go_back(w, &before);
        *t->flag = true;
        for (size_t k = 0; k < t->n_kind; k++) {
            *t->value[k] = t->start[i][k];
            for (size_t g = 0; t->kinds[k] <= TMX_FIT_PREHEAT && g < w->c->model.n_gpu; g++) {
                struct tmx_rc_gpu *gpu = &w->c->model.gpu[g];
                *(t->kinds[k] == TMX_FIT_DIE ? &gpu->die_k_per_w : &gpu->preheat_k_per_w) = t->start[i][k];
            }
        }
        enum tmx_status fitted = tmx_cal_refit(w, true, &ignored);
        bool good = !fitted && w->c->fit.rms_k < (1 - t->gain) * before.rms_k;
        for (size_t k = 0; good && k < t->n_kind; k++) {
            const struct tmx_fit_parameter *p = tmx_cal_parameter(w, t->kinds[k]);
            good = t->kinds[k] == TMX_FIT_LAG ||
                   tmx_cal_identified(p); /* edges tell of the lag: the gain decides */
        }
        const struct tmx_fit_parameter *sink = tmx_cal_parameter(w, TMX_FIT_SINK_C);
        good = good && sink && isfinite(sink->error) && sink->error < 0.5 * sink->value;
        if (good && (!better || w->c->fit.rms_k < best.rms_k)) {
            st = tmx_cal_save(w, &best, err);
            better = true;
        }
    }
    if (!st) {
        tmx_cal_go_back(w, better ? &best : &before);
        *t->flag = better;
        if (!better) {
            tmx_cal_leave_out(w, t->name, t->why);
        }
    }
    tmx_cal_state_finish(&before);
    tmx_cal_state_finish(&best);
    return st;
}

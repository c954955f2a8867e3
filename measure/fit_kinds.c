/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What can be fitted: names, units, what is known beforehand, and where in the model each stands. */
#include <math.h>

#include "measure/fit_problem.h"

struct kind {
    const char *name, *unit;
    bool positive;
    double prior, spread; /* what is known beforehand, weakly; spread 0: nothing */
};
/* Sensors of one kind agree to a quarter of a kelvin, and the air of a room is near 25 degC: assumed, so that
 * what a log does not tell stays at a sane value. Standard errors do not count this as knowledge. */
static const struct kind kinds[TMX_N_FIT] = {
    [TMX_FIT_OFFSET] = {"offset_k", "K", false, 0, 0.25},
    [TMX_FIT_JUNCTION] = {"junction_k_per_w", "K/W", true, 0, 0},
    [TMX_FIT_DIE] = {"die_k_per_w", "K/W", true, 0, 0},
    [TMX_FIT_SINK] = {"sink_k_per_w", "K/W", true, -2.3, 1.5},
    [TMX_FIT_SINK_C] = {"sink_j_per_k", "J/K", true, 6.5, 1},
    [TMX_FIT_PREHEAT] = {"preheat_k_per_w", "K/W", false, 0, 0},
    [TMX_FIT_DIE_S] = {"die_s", "s", true, 0, 0},
    [TMX_FIT_CASE] = {"case_k_per_w", "K/W", true, 0, 0},
    [TMX_FIT_SINK_BASE] = {"sink_base_k_per_w", "K/W", true, 0, 0},
    [TMX_FIT_EXPONENT] = {"fan_exponent", "1", true, -0.2, 0.7},
    [TMX_FIT_CASE_S] = {"case_s", "s", true, 0, 0},
    [TMX_FIT_AIR_RISE] = {"air_rise_k", "K", false, 0, 5},
    [TMX_FIT_CHASSIS] = {"chassis_k", "K", true, 0, 0},
    [TMX_FIT_LAG] = {"power_lag_s", "s", false, 0, 0},
    [TMX_FIT_AMBIENT] = {"ambient_c", "degC", false, 25, 10},
};

const char *tmx_fit_name(enum tmx_fit_kind kind)
{
    return kinds[kind].name;
}

const char *tmx_fit_unit(enum tmx_fit_kind kind)
{
    return kinds[kind].unit;
}

bool tmx_fit_positive(enum tmx_fit_kind kind)
{
    return kinds[kind].positive;
}

static double *field(const struct tmx_fit *f, const struct tmx_fit_parameter *p, size_t gpu)
{
    struct tmx_rc *m = f->model;
    struct tmx_rc_gpu *g = &m->gpu[gpu];
    switch (p->kind) {
    case TMX_FIT_OFFSET:
        return &g->offset_k;
    case TMX_FIT_JUNCTION:
        return &g->junction_k_per_w;
    case TMX_FIT_DIE:
        return &g->die_k_per_w;
    case TMX_FIT_SINK:
        return &g->sink_k_per_w;
    case TMX_FIT_PREHEAT:
        return &g->preheat_k_per_w;
    case TMX_FIT_DIE_S:
        return &m->die_s;
    case TMX_FIT_SINK_C:
        return &g->sink_j_per_k;
    case TMX_FIT_SINK_BASE:
        return &m->sink_base_k_per_w;
    case TMX_FIT_EXPONENT:
        return &m->fan_exponent;
    case TMX_FIT_CASE:
        return &m->case_k_per_w;
    case TMX_FIT_CASE_S:
        return &m->case_s;
    case TMX_FIT_AIR_RISE:
        return &m->air_rise_k;
    case TMX_FIT_CHASSIS:
        return &m->chassis_k;
    case TMX_FIT_LAG:
        return &m->power_lag_s;
    case TMX_FIT_AMBIENT:
        return &f->ambient_c[p->run];
    case TMX_N_FIT:
        break;
    }
    return &m->rpm_ref;
}

void tmx_fit_put(const struct tmx_fit *f, const struct tmx_fit_parameter *p, double x)
{
    const double v = kinds[p->kind].positive ? exp(x) : x;
    if (p->gpu >= 0 || p->kind > TMX_FIT_PREHEAT) {
        *field(f, p, p->gpu >= 0 ? (size_t)p->gpu : 0) = v;
        return;
    }
    for (size_t g = 0; g < f->model->n_gpu; g++) {
        if (p->kind != TMX_FIT_PREHEAT || f->model->gpu[g].upstream >= 0) {
            *field(f, p, g) = v;
        }
    }
}

double tmx_fit_get(const struct tmx_fit *f, const struct tmx_fit_parameter *p)
{
    size_t gpu = p->gpu >= 0 ? (size_t)p->gpu : 0;
    while (p->gpu < 0 && p->kind == TMX_FIT_PREHEAT && gpu + 1 < f->model->n_gpu &&
           f->model->gpu[gpu].upstream < 0) {
        gpu++;
    }
    const double v = *field(f, p, gpu);
    return kinds[p->kind].positive ? log(fmax(v, 1e-12)) : v;
}

double tmx_fit_prior(const struct tmx_fit_parameter *p)
{
    return p->spread > 0 ? p->prior : kinds[p->kind].prior;
}

double tmx_fit_spread(const struct tmx_fit_parameter *p)
{
    return p->spread > 0 ? p->spread : kinds[p->kind].spread;
}

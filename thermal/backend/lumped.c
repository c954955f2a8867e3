/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Back-end: every unit alone, one resistance and one heat capacity to ambient.
 *
 *   C theta' = p - theta / R,  theta(t + h) = R p + (theta - R p) exp(-h / (R C))
 *   R = sum over the unit's and all nearer layers of t / (k a) + (R_package + R_convec) / f
 *   C = 0.333 (sum over the same layers of p t a + f (spreader + sink + air))
 *
 * with a the unit's area and f its share of all dissipating area: heat that flows straight
 * through and shares the package evenly. So crude that its results can be written down: the
 * oracle of the tests. */
#include <math.h>
#include <stdlib.h>

#include "base/arena.h"
#include "thermal/assembly/spec.h"
#include "thermal/backend/backends.h"

static const double LUMPING = 0.333; /* as in the grid model */

struct model {
    size_t n_unit, n_level;
    double *heat_j_k; /* [n_unit] C */
    double *k_per_w;  /* [n_level][n_unit] R */
    double ambient_k, start_k;
    struct tmx_arena arena;
};

struct state {
    const struct model *model;
    size_t level;
    double ambient_k, out_j;
    double theta[]; /* [n_unit] */
};

static void model_destroy(void *model)
{
    struct model *m = model;
    if (m) {
        tmx_arena_finish(&m->arena);
        free(m);
    }
}

static enum tmx_status model_create(const void *options, const struct tmx_thermal_spec *spec, void **model,
                                    struct tmx_err *err)
{
    (void)options;
    const size_t n = tmx_thermal_spec_units(spec), n_level = tmx_thermal_spec_levels(spec);
    struct model *m = calloc(1, sizeof *m);
    if (m) {
        *m = (struct model){
            .n_unit = n, .n_level = n_level, .ambient_k = spec->ambient_k, .start_k = spec->init_k};
        TMX_TAKE(&m->arena, m->heat_j_k, n);
        TMX_TAKE(&m->arena, m->k_per_w, n * n_level);
    }
    if (!m || m->arena.failed) {
        model_destroy(m);
        return tmx_fail(err, TMX_ENOMEM, "thermal model of %zu units", n);
    }
    const struct tmx_package *p = &spec->package;
    const double spreader = p->s_spreader_m * p->s_spreader_m, sink = p->s_sink_m * p->s_sink_m;
    const double r_package = p->t_spreader_m / (p->k_spreader * spreader) + p->t_sink_m / (p->k_sink * sink);
    const double c_package =
        p->p_spreader * p->t_spreader_m * spreader + p->p_sink * p->t_sink_m * sink + p->c_convec_j_per_k;
    double all = 0;
    for (size_t l = 0; l < spec->n_layer; l++) {
        for (size_t u = 0; spec->layer[l].dissipates && u < spec->layer[l].floorplan->n_unit; u++) {
            all += tmx_unit_area_m2(&spec->layer[l].floorplan->unit[u]);
        }
    }
    size_t at = 0;
    for (size_t l = 0; l < spec->n_layer; l++) {
        for (size_t u = 0; spec->layer[l].dissipates && u < spec->layer[l].floorplan->n_unit; u++, at++) {
            const struct tmx_unit *unit = &spec->layer[l].floorplan->unit[u];
            const double area_m2 = tmx_unit_area_m2(unit), share = area_m2 / all;
            double r = 0, c = 0; /* straight through; in a layer with a filler of its own material */
            for (size_t on = l; on < spec->n_layer; on++) {
                const struct tmx_layer *layer = &spec->layer[on];
                const bool own = on == l && layer->filler_k_w_per_mk > 0;
                const double per_k = own && !isnan(unit->resistivity_mk_per_w) ? unit->resistivity_mk_per_w
                                                                               : 1 / layer->k_w_per_mk;
                const double heat = own && !isnan(unit->heat_capacity_j_per_m3k)
                                        ? unit->heat_capacity_j_per_m3k
                                        : layer->p_j_per_m3k;
                r += layer->thickness_m * per_k / area_m2;
                c += LUMPING * heat * layer->thickness_m * area_m2;
            }
            m->heat_j_k[at] = c + LUMPING * share * c_package;
            for (size_t level = 0; level < m->n_level; level++) {
                m->k_per_w[level * m->n_unit + at] =
                    r + (r_package + tmx_thermal_spec_r_convec(spec, level)) / share;
            }
        }
    }
    *model = m;
    return TMX_OK;
}

static void destroy(void *state)
{
    free(state);
}

static enum tmx_status create(const void *model, void **state, struct tmx_err *err)
{
    const struct model *m = model;
    struct state *s = calloc(1, sizeof *s + m->n_unit * sizeof *s->theta);
    if (!s) {
        return tmx_fail(err, TMX_ENOMEM, "thermal instance of %zu units", m->n_unit);
    }
    s->model = m;
    s->ambient_k = m->ambient_k;
    for (size_t u = 0; u < m->n_unit; u++) {
        s->theta[u] = m->start_k - m->ambient_k;
    }
    *state = s;
    return TMX_OK;
}

static const double *resistance(const struct state *s)
{
    return s->model->k_per_w + s->level * s->model->n_unit;
}

/* theta [n_unit] after dt_s, and temp_k, which may be the same array; *out_j += the heat that left meanwhile.
 */
static enum tmx_status advance(const struct state *s, double dt_s, const double *power_w, double *temp_k,
                               double *theta, double *out_j)
{
    enum tmx_status st = TMX_OK;
    for (size_t u = 0; u < s->model->n_unit; u++) {
        const double r = resistance(s)[u], rate = 1.0 / (r * s->model->heat_j_k[u]), end = r * power_w[u],
                     away = s->theta[u] - end;
        *out_j += (end * dt_s - away * expm1(-rate * dt_s) / rate) / r;
        theta[u] = end + away * exp(-rate * dt_s);
        temp_k[u] = s->ambient_k + theta[u];
        st = isfinite(temp_k[u]) ? st : TMX_ESOLVE;
    }
    return st;
}

static enum tmx_status step(void *state, double dt_s, const double *power_w, double *temp_k)
{
    struct state *s = state;
    return advance(s, dt_s, power_w, temp_k, s->theta, &s->out_j);
}

static enum tmx_status predict(const void *state, double dt_s, const double *power_w, double *temp_k)
{
    double out_j = 0;
    return advance(state, dt_s, power_w, temp_k, temp_k, &out_j);
}

static enum tmx_status steady(void *state, const double *power_w, bool move, double *temp_k)
{
    struct state *s = state;
    for (size_t u = 0; u < s->model->n_unit; u++) {
        const double theta = resistance(s)[u] * power_w[u];
        s->theta[u] = move ? theta : s->theta[u];
        temp_k[u] = s->ambient_k + theta;
    }
    return TMX_OK;
}

static void read_now(const void *state, double *temp_k)
{
    const struct state *s = state;
    for (size_t u = 0; u < s->model->n_unit; u++) {
        temp_k[u] = s->ambient_k + s->theta[u];
    }
}

static void set_convection(void *state, size_t level)
{
    struct state *s = state;
    tmx_assert(level < s->model->n_level);
    s->level = level;
}

static void set_ambient(void *state, double ambient_k)
{
    struct state *s = state;
    for (size_t u = 0; u < s->model->n_unit; u++) {
        s->theta[u] += s->ambient_k - ambient_k;
    }
    s->ambient_k = ambient_k;
}

static void heat(const void *state, struct tmx_thermal_heat *h)
{
    const struct state *s = state;
    *h = (struct tmx_thermal_heat){.to_ambient_j = s->out_j};
    for (size_t u = 0; u < s->model->n_unit; u++) {
        h->stored_j += s->model->heat_j_k[u] * s->theta[u];
        h->to_ambient_w += s->theta[u] / resistance(s)[u];
    }
}

static void image(void *state, struct tmx_image *i)
{
    struct state *s = state;
    TMX_IMAGE_FIELD(i, s->ambient_k);
    TMX_IMAGE_FIELD(i, s->out_j);
    TMX_IMAGE_FIELD(i, s->level);
    tmx_image_item(i, s->theta, s->model->n_unit * sizeof *s->theta);
}

const struct tmx_thermal_ops tmx_thermal_lumped = {
    .base = {.name = "lumped",
             .doc = "One resistance and one heat capacity for each unit: the oracle of the tests.",
             .source = "docs/models.md, Lumped model"},
    .claims = TMX_THERMAL_BALANCE | TMX_THERMAL_LINEAR | TMX_THERMAL_RECIPROCAL | TMX_THERMAL_SEMIGROUP |
              TMX_THERMAL_MONOTONE,
    .can = TMX_THERMAL_LEVELS | TMX_THERMAL_FILLER | TMX_THERMAL_FALLS | TMX_THERMAL_BLOCKS,
    .model_create = model_create,
    .model_destroy = model_destroy,
    .create = create,
    .destroy = destroy,
    .step = step,
    .steady = steady,
    .read = read_now,
    .set_convection = set_convection,
    .set_ambient = set_ambient,
    .predict = predict,
    .heat = heat,
    .image = image,
};

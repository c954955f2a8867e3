#include "thermal/backend/reduced_model.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "thermal/network/dense.h"
#include "thermal/network/reduce.h"

static const double POWER_DENSITY =
    0.5e6; /* [W/m2] the tolerance holds for at least this; assumed: a 300 W GPU */
static const double MIN_STEP_S = 1e-3; /* and for steps from this on, or shorter ones when asked for */
/* Part of the tolerance for one step of power; the rest is for steps whose errors add up.
 * Fitted: random 1 ms traces on tests/golden/A_gt200 stay below the tolerance. */
static const double TRUNCATION_SHARE = 0.7;

struct demand { /* the wish, resolved for one spec */
    double tolerance_k, min_step_s;
    double *power_w; /* [n_unit] owned */
    double *start_k; /* [n_node] owned: theta at the start, or 1 K everywhere */
    bool follow_start;
    double start_scale;
};

static double density(const struct tmx_thermal_spec *spec)
{
    double d = POWER_DENSITY;
    while (d < spec->power_density_w_per_m2 && d < 1e12) { /* in powers of two, so that caches match */
        d *= 2;
    }
    return d;
}

static double min_step(const struct tmx_thermal_spec *spec)
{
    return spec->min_step_s > 0 ? fmin(spec->min_step_s, MIN_STEP_S) : MIN_STEP_S;
}

static enum tmx_status demand_init(struct demand *d, const struct tmx_network *net,
                                   const struct tmx_thermal_spec *spec, const struct tmx_reduced_wish *wish,
                                   struct tmx_err *err)
{
    d->tolerance_k = wish->tolerance_k;
    d->min_step_s = min_step(spec);
    d->power_w = calloc(net->n_unit, sizeof *d->power_w);
    d->start_k = calloc(net->n_node, sizeof *d->start_k);
    if (!d->power_w || !d->start_k) {
        return tmx_fail(err, TMX_ENOMEM, "reduced model of %zu nodes", net->n_node);
    }
    for (size_t l = 0; l < spec->n_layer; l++) {
        for (size_t u = net->first_unit[l]; u < net->first_unit[l + 1]; u++) {
            const struct tmx_unit *unit = &spec->layer[l].floorplan->unit[u - net->first_unit[l]];
            d->power_w[u] = density(spec) * tmx_unit_area_m2(unit);
        }
    }
    d->follow_start = spec->init_node_k != NULL;
    d->start_scale = spec->init_node_k ? 1 : spec->init_k - spec->ambient_k;
    for (size_t c = 0; c < net->n_node; c++) {
        d->start_k[c] = spec->init_node_k ? spec->init_node_k[c] - spec->ambient_k : 1;
    }
    return TMX_OK;
}

static void gamma_range(const struct tmx_network *net, const struct tmx_thermal_spec *spec,
                        struct tmx_basis_wish *wish)
{
    wish->gamma_low = INFINITY;
    wish->gamma_high = 0;
    for (size_t l = 0; l < tmx_thermal_spec_levels(spec); l++) {
        const double gamma = tmx_network_gamma(net, tmx_thermal_spec_r_convec(spec, l));
        wish->gamma_low = fmin(wish->gamma_low, gamma);
        wish->gamma_high = fmax(wish->gamma_high, gamma);
    }
}

/* map [n_mode][n_node] in single precision: basis * (vector * lift). */
static enum tmx_status make_map(struct tmx_reduced_model *m, const struct tmx_basis *basis,
                                const double *turn, struct tmx_err *err)
{
    const size_t n = basis->n_node, k = basis->n_mode;
    enum { BATCH = 16 };
    double *part = calloc(BATCH * n, sizeof *part);
    m->map = calloc(m->n_mode * n, sizeof *m->map);
    if (!part || !m->map) {
        free(part);
        return tmx_fail(err, TMX_ENOMEM, "heat map of %zu modes", m->n_mode);
    }
    for (size_t first = 0; first < m->n_mode; first += BATCH) {
        const size_t count = m->n_mode - first < BATCH ? m->n_mode - first : BATCH;
        const double *from = basis->v + first * n;
        if (turn) {
            tmx_dense_nn(n, count, k, 1, basis->v, n, turn + first * k, k, 0, part, n);
            from = part;
        }
        for (size_t i = 0; i < count * n; i++) {
            m->map[first * n + i] = (float)from[i];
        }
    }
    free(part);
    return TMX_OK;
}

/* still = basis * vector * (in / rate). */
static enum tmx_status make_still(struct tmx_reduced_model *m, const struct tmx_basis *basis,
                                  const struct tmx_modes *modes, struct tmx_err *err)
{
    const size_t n = basis->n_node, k = basis->n_mode, u = basis->n_unit;
    double *rest = calloc(2 * k * u, sizeof *rest);
    m->still = calloc(n * u, sizeof *m->still);
    if (!rest || !m->still) {
        free(rest);
        return tmx_fail(err, TMX_ENOMEM, "heat map of %zu units", u);
    }
    for (size_t i = 0; i < k * u; i++) {
        rest[i] = modes->in[i] / modes->rate[i % k];
    }
    tmx_dense_nn(k, u, k, 1, modes->vector, k, rest, k, 0, rest + k * u, k);
    tmx_dense_nn(n, u, k, 1, basis->v, n, rest + k * u, k, 0, m->still, n);
    free(rest);
    return TMX_OK;
}

static enum tmx_status one_level(struct tmx_reduced_model *m, const struct tmx_basis *basis,
                                 const struct demand *d, const struct tmx_reduced_wish *wish,
                                 struct tmx_err *err)
{
    const size_t k = basis->n_mode;
    const struct tmx_truncation cut = {.tolerance_k = TRUNCATION_SHARE * wish->tolerance_k,
                                       .power_w = d->power_w,
                                       .min_step_s = d->min_step_s,
                                       .follow_start = d->follow_start,
                                       .n_mode = wish->n_mode};
    struct tmx_modes modes;
    double *lift = NULL, *turn = NULL;
    enum tmx_status st = tmx_modes_init(&modes, basis, basis->gamma, err);
    st = st ? st : tmx_modes_truncate(&modes, &cut, m->modal, &lift, m->error, &m->start_error_k, err);
    if (!st) {
        m->n_mode = m->modal->n_mode;
        turn = calloc(k * m->n_mode, sizeof *turn);
        st = turn ? TMX_OK : tmx_fail(err, TMX_ENOMEM, "heat map");
    }
    if (!st) {
        tmx_dense_nn(k, m->n_mode, k, 1, modes.vector, k, lift, k, 0, turn, k);
        st = make_map(m, basis, turn, err);
    }
    st = st ? st : make_still(m, basis, &modes, err);
    tmx_modes_finish(&modes);
    free(lift);
    free(turn);
    return st;
}

static enum tmx_status several_levels(struct tmx_reduced_model *m, const struct tmx_basis *basis,
                                      const struct tmx_thermal_spec *spec, struct tmx_err *err)
{
    const size_t k = basis->n_mode;
    m->n_mode = k;
    m->vector = calloc(m->n_level * k * k, sizeof *m->vector);
    enum tmx_status st = m->vector ? make_map(m, basis, NULL, err) : tmx_fail(err, TMX_ENOMEM, "levels");
    for (size_t l = 0; l < m->n_level && !st; l++) {
        struct tmx_modes modes;
        const double gamma = tmx_network_gamma(&m->net, tmx_thermal_spec_r_convec(spec, l));
        st = tmx_modes_init(&modes, basis, gamma, err);
        st = st ? st : tmx_modes_layout(&modes, &m->modal[l], err);
        if (!st) {
            memcpy(m->vector + l * k * k, modes.vector, k * k * sizeof *m->vector);
        }
        tmx_modes_finish(&modes);
    }
    return st;
}

static enum tmx_status build(struct tmx_reduced_model *m, const struct tmx_thermal_spec *spec,
                             const struct demand *d, const struct tmx_reduced_wish *wish, struct tmx_err *err)
{
    struct tmx_basis basis;
    struct tmx_basis_wish basis_wish = {.tolerance_k = d->tolerance_k,
                                        .power_w = d->power_w,
                                        .min_step_s = d->min_step_s,
                                        .start_k = d->start_k,
                                        .follow_start = d->follow_start};
    const size_t unit = m->net.n_unit;
    gamma_range(&m->net, spec, &basis_wish);
    enum tmx_status st = tmx_basis_init(&basis, &m->net, &basis_wish, err);
    if (!st) {
        m->error = calloc(unit * unit, sizeof *m->error);
        st = m->error ? TMX_OK : tmx_fail(err, TMX_ENOMEM, "error bounds");
    }
    if (!st) {
        memcpy(m->error, basis.error, unit * unit * sizeof *m->error);
        m->start_error_k = basis.start_error_k;
        m->n_basis = basis.n_mode;
        m->n_shift = basis.n_shift;
        st = m->n_level == 1 ? one_level(m, &basis, d, wish, err) : several_levels(m, &basis, spec, err);
    }
    tmx_basis_finish(&basis);
    return st;
}

/* From the cache, or built and put there. */
static enum tmx_status obtain(struct tmx_reduced_model *m, const struct tmx_thermal_spec *spec,
                              const struct demand *d, const struct tmx_reduced_wish *wish,
                              struct tmx_err *err)
{
    char key[TMX_HASH_HEX];
    if (!wish->cache) {
        return build(m, spec, d, wish, err);
    }
    enum tmx_status st = tmx_reduced_key(spec, wish, d->min_step_s, density(spec), m->net.n_node, key, err);
    if (st) {
        return st;
    }
    m->from_cache = tmx_reduced_load(m, key);
    if (!m->from_cache) {
        st = build(m, spec, d, wish, err);
        if (!st) {
            tmx_reduced_store(m, key);
        }
    }
    return st;
}

enum tmx_status tmx_reduced_model_init(struct tmx_reduced_model *m, const struct tmx_thermal_spec *spec,
                                       const struct tmx_reduced_wish *wish, struct tmx_err *err)
{
    struct demand d = {0};
    *m = (struct tmx_reduced_model){.n_level = tmx_thermal_spec_levels(spec)};
    enum tmx_status st = tmx_network_init(&m->net, spec, err);
    st = st ? st : demand_init(&d, &m->net, spec, wish, err);
    if (!st) {
        m->modal = calloc(m->n_level, sizeof *m->modal);
        st = m->modal ? TMX_OK : tmx_fail(err, TMX_ENOMEM, "levels");
    }
    st = st ? st : obtain(m, spec, &d, wish, err);
    for (size_t l = 0; l < m->n_level && !st; l++) {
        for (size_t i = 0; i < m->n_mode; i++) {
            m->modal[l].start[i] *= d.start_scale;
        }
        tmx_modal_close(&m->modal[l]);
    }
    free(d.power_w);
    free(d.start_k);
    return st;
}

void tmx_reduced_model_empty(struct tmx_reduced_model *m)
{
    for (size_t l = 0; m->modal && l < m->n_level; l++) {
        tmx_modal_finish(&m->modal[l]);
    }
    free(m->map);
    free(m->still);
    free(m->vector);
    free(m->error);
    m->map = NULL;
    m->still = m->vector = m->error = NULL;
}

void tmx_reduced_model_finish(struct tmx_reduced_model *m)
{
    tmx_reduced_model_empty(m);
    free(m->modal);
    tmx_network_finish(&m->net);
    *m = (struct tmx_reduced_model){0};
}

void tmx_reduced_model_field(const struct tmx_reduced_model *m, size_t level, const double *z,
                             const double *power_w, size_t first, size_t n, double *work, double *theta_k)
{
    const struct tmx_modal *modal = &m->modal[level];
    const size_t n_node = m->net.n_node, k = m->n_mode;
    memset(theta_k, 0, n * sizeof *theta_k);
    if (m->still) {
        tmx_modal_settle(modal, power_w, work);
        for (size_t i = 0; i < k; i++) {
            work[i] = z[i] - work[i];
        }
    } else {
        memset(work, 0, k * sizeof *work);
        for (size_t i = 0; i < k; i++) {
            const double *vector = m->vector + (level * k + i) * k;
            for (size_t r = 0; r < k; r++) {
                work[r] += z[i] * vector[r];
            }
        }
    }
    for (size_t i = 0; i < k; i++) {
        const float *row = m->map + i * n_node + first;
        for (size_t c = 0; c < n; c++) {
            theta_k[c] += work[i] * (double)row[c];
        }
    }
    for (size_t u = 0; u < m->net.n_unit && m->still; u++) {
        const double *row = m->still + u * n_node + first;
        for (size_t c = 0; c < n; c++) {
            theta_k[c] += power_w[u] * row[c];
        }
    }
}

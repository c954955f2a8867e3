/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The reduced model that all instances of a kind of chip share: how it is built, how large its error is, and
 * how the cache keeps it.
 *
 *      spec --> network --> cache? --yes------------------------------.
 *                             |no                                     v
 *                             '--> basis --> modes --> store --> + start field --> error small enough?
 *
 * What the tolerance refers to. It holds at every unit, for steps of power of POWER_DENSITY in all units (or
 * more, in steps of two so that caches match, where the spec has denser units), from MIN_STEP_S after a step
 * on (or the run's shorter step). In the physical network, with a board and with a range of sinks it also
 * holds for a start AMBIENT_K from the air. The basis (krylov.c) may use a part of the tolerance at each
 * tested shift. The truncation (truncate.c) may use SHARE of it for one step of all powers, because errors of
 * several steps add up. Where cells are read nothing is truncated: keep_modes takes every mode of every
 * level.
 *
 * The heat map takes the state back to cells: single precision where a field is only looked at, double where
 * cells are controlled. It is most of a model and few callers need it, so it has a separate file in the cache
 * and is left out with no_field.
 *
 * The error estimate. For each unit v whose power may jump and each unit u that is read, the basis leaves
 * the largest error that any tested shift showed, the truncation adds the largest that any tested time
 * showed, and steady states add what they are off:
 *
 *      estimate = factor * max_u ( sum_v error[v][u] swing_v + error[air][u] |T_start - ambient| )
 *                 + START_SAFETY * error of the start field
 *                 + rounding of mixed precision
 *
 * swing_v is the largest jump of unit v's power. The factors (SAFETY and the others below) allow for what
 * lies between the test points and for errors of several steps that add up. All but one were fitted to random
 * chips (tests/property/test_reduced.c), so the number is an estimate, not a proven bound. One exception is
 * known, below the tolerance of 1 mK: units that are read by grid_map_mode avg, whose weights are not those
 * by which power is spread (0.576 mK, estimated 0.264 mK).
 *
 * From shifts to times. The error that a test finds at shift s is E(s) = s * integral exp(-s t) e(t) dt of
 * the step response's error e. It is 0 at the basis' shifts, which are a factor of rho apart, and m between
 * them, about m/2 (1 - cos(w ln s)) with w = 2 pi / ln(rho). As cos(w ln t) becomes, but for a phase,
 * |Gamma(1 + i w)| cos(w ln s), e(t) has the amplitude m/2 / |Gamma(1 + i w)|, and |Gamma(1 + i w)|^2 = pi w
 * / sinh(pi w): for a rho of 10 it is 8.8 m to both sides of m/2. One step errs by at most 9.3 m; a power
 * that comes and goes at the worst times errs from trough to crest, 17.6 m. HotSpot's network, with its thick
 * sheets, stays below 10 m.
 *
 * An estimate of more than MISSED times the tolerance means that the numbers themselves have failed, as with
 * a sink of 1e6 K/W in rows of 1e-7 s: it is an error (TMX_ESOLVE), and the full grid must solve that
 * network.
 *
 * A range of sinks (r_convec_low, r_convec_high). Runs with different sinks share one basis, from which each
 * truncates a model of its own without a factor (shared_basis).
 *
 * The cache. A key is the hash of everything the numbers depend on: VERSION, package,
 * layers, unit boxes, convection resistances and options; the start is not part of it. A damaged or missing
 * file means that the model is built again, and a cache that cannot be written is no error.
 *
 * The order below: the demand, the maps, modes and their truncation, the cache, a range's basis, the start
 * field, the error, the view of a state. */
#include "thermal/backend/reduced_model.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/cache.h"
#include "thermal/reduction/dense.h"
#include "thermal/reduction/reduction.h"
#include "thermal/solver/solver.h"

static const double POWER_DENSITY =
    0.5e6; /* [W/m2] the tolerance holds for at least this; assumed: a 300 W GPU */
/* A uniform start or a step of the air for which the tolerance holds in the physical network and with a
 * board, whose packages answer it by more than the fields of the powers; assumed. The same holds with a range
 * of sinks, as each of them answers in another way. One sink on HotSpot's one sheet a layer needs no such
 * term: a test of 200 chips started up to 30 K from the air. The printed error counts it everywhere. */
static const double AMBIENT_K = 30;
static const double MIN_STEP_S = 1e-3; /* and for steps from this on, or shorter ones when asked for */
/* Part of the tolerance that the basis gets where means alone are read from the physical network, whose thin
 * sheets answer within the first millisecond, too: the quarter of it that a test allows, times
 * SAFETY_PHYSICAL, is 0.9 of the tolerance. */
static const double BASIS_SHARE_PHYSICAL = 0.2;

/* tmx_reduced_model_bound: the largest errors found at test points, times this for what lies between
 * them and for errors of several steps that add up: of a unit's mean, of its worst cell, of any cell, of a
 * start. Fitted to tests/property/test_reduced.c; SAFETY_PHYSICAL is derived (see above), as what is missed
 * in the physical network lasts longer and adds up to more: up to 14.5 on its first 26 chips with a fan. */
static const double SAFETY = 10.0, SAFETY_PHYSICAL = 17.6, UNIT_CELL_SAFETY = 12.0, CELL_SAFETY = 18.0,
                    START_SAFETY = 30.0;
/* A bound this many times the tolerance means that the numbers themselves have failed: it is 5 to 40
 * times where all is well, 1e4 to 1e11 times where it is not. */
static const double MISSED = 1000;

/* Cells are read for a field, for units that are their hottest or coldest cell, and for a start field. */
static bool needs_maps(const struct tmx_thermal_spec *spec)
{
    return !spec->no_field || spec->accurate_cells || spec->init_node_k || tmx_map_by_cell(spec->map_mode);
}

static double density(const struct tmx_thermal_spec *spec)
{
    double d = POWER_DENSITY;
    while (d < spec->power_density_w_per_m2 && d < 1e12) { /* in powers of two, so that caches match */
        d *= 2;
    }
    return d;
}

/* A die with coolant has settled after milliseconds: what happens within a longer step is not modelled then.
 */
static double min_step(const struct tmx_thermal_spec *spec)
{
    for (size_t l = 0; l < spec->n_layer; l++) {
        if (spec->layer[l].channels && spec->min_step_s > 0) {
            return spec->min_step_s;
        }
    }
    return spec->min_step_s > 0 ? fmin(spec->min_step_s, MIN_STEP_S) : MIN_STEP_S;
}

static bool ranged(const struct tmx_reduced_options *options)
{
    return options->r_convec_high > 0;
}

/* The options, resolved for one spec. */
static void demand_init(struct tmx_demand *d, const struct tmx_network *net,
                        const struct tmx_thermal_spec *spec, const struct tmx_reduced_options *options,
                        struct tmx_err *err)
{
    double *power_w;
    *d = (struct tmx_demand){
        .tolerance_k = options->tolerance_k,
        .ambient_k = spec->network == TMX_NETWORK_PHYSICAL || spec->board || ranged(options) ? AMBIENT_K : 0,
        .min_step_s = min_step(spec),
        .n_mode = (size_t)options->modes,
        .n_level = tmx_thermal_spec_levels(spec),
        .gamma_low = ranged(options) ? tmx_network_gamma(net, options->r_convec_high) : INFINITY,
        .gamma_high = ranged(options) ? tmx_network_gamma(net, options->r_convec_low) : 0,
        .field = needs_maps(spec)};
    d->octaves = net->view_start || d->n_level > 1;
    d->power_w = TMX_TAKE(&d->arena, power_w, net->n_unit);
    TMX_TAKE_REALS(&d->arena, d->n_level, &d->gamma, &d->flow);
    if (d->arena.failed) {
        tmx_error(err, TMX_ENOMEM, "reduced model of %zu nodes", net->n_node);
        return;
    }
    for (size_t l = 0; l < spec->n_layer; l++) {
        for (size_t u = net->first_unit[l]; u < net->first_unit[l + 1]; u++) {
            const struct tmx_unit *unit = &spec->layer[l].floorplan->unit[u - net->first_unit[l]];
            power_w[u] = density(spec) * tmx_unit_area_m2(unit);
        }
    }
    for (size_t l = 0; l < d->n_level; l++) {
        d->flow[l] = tmx_thermal_spec_flow(spec, l);
        d->gamma[l] = tmx_network_gamma(net, tmx_thermal_spec_r_convec(spec, l));
        d->gamma_low = fmin(d->gamma_low, d->gamma[l]);
        d->gamma_high = fmax(d->gamma_high, d->gamma[l]);
    }
    if (tmx_map_by_cell(net->mode)) {
        tmx_regions_units(&d->unit_cells, net, err);
    }
    if (spec->accurate_cells) {
        tmx_regions_tiles(&d->cells, net, err);
    }
}

/* What the reduced model of coolant, and one of a range of sinks, is not made for. */
static void check(const struct tmx_thermal_spec *spec, const struct tmx_reduced_options *options,
                  bool coolant, struct tmx_err *err)
{
    const double low = options->r_convec_low, high = options->r_convec_high;
    const char *what = tmx_map_by_cell(spec->map_mode) ? "grid_map_mode min or max"
                       : spec->accurate_cells          ? "a file of cells"
                       : spec->init_node_k             ? "a start field"
                       : options->precision            ? "precision mixed"
                       : ranged(options)               ? "a range of sinks"
                                                       : NULL;
    if (coolant && what) {
        tmx_error(err, TMX_EUNSUPPORTED,
                  "the reduced model of coolant is for units read by their means, without %s: "
                  "--method grid",
                  what);
    }
    if (low == 0 && high == 0) {
        return;
    }
    if (!(low > 0 && low < high)) {
        tmx_error(err, TMX_ECONFIG,
                  "r_convec_low = %g, r_convec_high = %g: expected two resistances, the lower one first", low,
                  high);
    }
    if (spec->network != TMX_NETWORK_HOTSPOT) {
        tmx_error(err, TMX_EUNSUPPORTED,
                  "r_convec_low and r_convec_high are for HotSpot's network: the physical one's error "
                  "was found above its estimate");
    }
    if (tmx_map_by_cell(spec->map_mode) || spec->accurate_cells) {
        tmx_error(err, TMX_EUNSUPPORTED,
                  "r_convec_low and r_convec_high are for units read by their "
                  "means: grid_map_mode area, avg or center, and no file of cells");
    }
    for (size_t l = 0; l < tmx_thermal_spec_levels(spec); l++) {
        const double r = tmx_thermal_spec_r_convec(spec, l);
        if (r < low || r > high) {
            tmx_error(err, TMX_ECONFIG,
                      "r_convec = %g K/W is outside r_convec_low .. r_convec_high = "
                      "%g .. %g K/W of the model",
                      r, low, high);
        }
    }
}

enum { BATCH = 16 }; /* vectors turned at a time: V streams by once for all of them */

/* Rows [at, at + count) of the map: the view of basis * turn, or of the basis itself. It has room. */
static void fill_map(struct tmx_reduced_model *m, size_t at, const struct tmx_basis *basis,
                     const double *turn, size_t count, struct tmx_err *err)
{
    const size_t n = basis->n_node, k = basis->n_mode, n_view = m->net.n_view;
    double *part = err->code ? NULL : calloc(BATCH * n + n_view, sizeof *part), *view = part + BATCH * n;
    if (!part) {
        tmx_error(err, TMX_ENOMEM, "heat map of %zu modes", count);
        return;
    }
    for (size_t row = 0; row < count; row++) {
        const size_t batch = count - row < BATCH ? count - row : BATCH;
        if (turn && row % BATCH == 0) {
            tmx_dense_nn(n, batch, k, 1, basis->v, n, turn + row * k, k, 0, part, n);
        }
        tmx_network_view(&m->net, turn ? part + row % BATCH * n : basis->v + row * n, 0, n_view, view);
        for (size_t i = 0; i < n_view && m->map; i++) {
            m->map[(at + row) * n_view + i] = (float)view[i];
        }
        if (m->fine_map) {
            memcpy(m->fine_map + (at + row) * n_view, view, n_view * sizeof *view);
        }
    }
    free(part);
}

/* The heat map, and still = view of basis * rest. */
static void make_maps(struct tmx_reduced_model *m, const struct tmx_basis *basis,
                      const struct tmx_truncated *cut, struct tmx_err *err)
{
    const size_t n = basis->n_node, k = basis->n_mode, u = basis->n_unit;
    double *node = calloc(u * n, sizeof *node);
    m->map = calloc(m->n_mode * m->net.n_view, sizeof *m->map);
    TMX_TAKE(&m->arena, m->still, m->net.n_view * u);
    if (!node || !m->map || m->arena.failed) {
        tmx_error(err, TMX_ENOMEM, "heat map of %zu modes and %zu units", m->n_mode, u);
    }
    fill_map(m, 0, basis, cut->map, m->n_mode, err);
    if (!err->code) {
        tmx_dense_nn(n, u, k, 1, basis->v, n, cut->rest, k, 0, node, n);
    }
    for (size_t v = 0; v < u && !err->code; v++) {
        tmx_network_view(&m->net, node + v * n, 0, m->net.n_view, m->still + v * m->net.n_view);
    }
    free(node);
}

/* Every mode of every level. The basis gives its vectors away where the map is fine. */
static void keep_modes(struct tmx_reduced_model *m, struct tmx_basis *basis, const struct tmx_demand *d,
                       struct tmx_err *err)
{
    const size_t k = m->n_mode = basis->n_mode;
    TMX_TAKE(&m->arena, m->vector, m->n_level * k * k);
    if (!m->net.view_start) {
        m->fine_map = basis->v;
        basis->v = NULL;
    } else {
        m->fine_map = calloc(k * m->net.n_view, sizeof *m->fine_map);
    }
    if (m->arena.failed || !m->fine_map) {
        tmx_error(err, TMX_ENOMEM, "heat map of %zu convection levels", m->n_level);
    }
    if (m->net.view_start) {
        fill_map(m, 0, basis, NULL, k, err);
    }
    for (size_t l = 0; l < m->n_level && !err->code; l++) {
        struct tmx_modes modes;
        tmx_modes_init(&modes, basis, d->gamma[l], err);
        tmx_modes_layout(&modes, &m->modal[l], err);
        if (!err->code) {
            memcpy(m->vector + l * k * k, modes.vector, k * k * sizeof *m->vector);
        }
        tmx_modes_finish(&modes);
    }
}

/* A reduced model's way to the cache and back. */

/* Change this whenever the numbers that set-up computes change. */
static const char VERSION[] = "reduced model 38";

#define ADD(h, ...)                        \
    do {                                   \
        const double v_[] = {__VA_ARGS__}; \
        tmx_hash_add((h), v_, sizeof v_);  \
    } while (0)

enum tmx_status tmx_reduced_key(const struct tmx_thermal_spec *spec,
                                const struct tmx_reduced_options *options, bool basis, char key[TMX_HASH_HEX],
                                struct tmx_err *err)
{
    const struct tmx_package *p = &spec->package;
    struct tmx_hash *h;
    const enum tmx_status st = tmx_hash_create(&h, err);
    if (st) {
        return st;
    }
    tmx_hash_add_text(h, VERSION);
    ADD(h, p->s_spreader_m, p->t_spreader_m, p->k_spreader, p->p_spreader, p->s_sink_m, p->t_sink_m,
        p->k_sink, p->p_sink, p->c_convec_j_per_k);
    ADD(h, spec->network, spec->refine, (double)spec->rows, (double)spec->cols, spec->map_mode,
        spec->hotspot_lateral, spec->detailed_3d, spec->r_below_k_per_w, spec->board != NULL);
    if (spec->board) {
        const struct tmx_board *b = spec->board;
        ADD(h, b->s_sub_m, b->s_solder_m, b->s_pcb_m, b->r_convec_k_per_w, b->c_convec_j_per_k,
            b->quasi_static);
    }
    ADD(h, (double)spec->n_layer);
    for (size_t l = 0; l < spec->n_layer; l++) {
        const struct tmx_layer *layer = &spec->layer[l];
        ADD(h, layer->lateral, layer->dissipates, layer->thickness_m, layer->k_w_per_mk);
        if (layer->k_part_x > 0) {
            ADD(h, layer->k_part_x, layer->k_part_y);
        }
        ADD(h, layer->p_j_per_m3k, layer->filler_k_w_per_mk, layer->filler_p_j_per_m3k);
        if (layer->channels) {
            const struct tmx_channels *c = layer->channels;
            ADD(h, c->kind, c->width_m, c->wall_m, c->first_m, c->last_m, c->flow_m3_per_s, c->p_j_per_m3k,
                c->h_top, c->h_bottom, c->h_side, c->pressure_pa, c->pump_pa_s_per_m3, c->upwind,
                c->viscosity_pa_s);
            if (c->cell) {
                tmx_hash_add(h, c->cell, spec->rows * spec->cols);
            }
        }
        ADD(h, (double)layer->floorplan->n_unit);
        for (size_t u = 0; u < layer->floorplan->n_unit; u++) {
            const struct tmx_unit *unit = &layer->floorplan->unit[u];
            ADD(h, unit->x_m, unit->y_m, unit->w_m, unit->h_m);
            if (spec->detailed_3d || layer->filler_k_w_per_mk > 0) {
                ADD(h, unit->heat_capacity_j_per_m3k, unit->resistivity_mk_per_w);
            }
        }
    }
    if (ranged(options)) {
        ADD(h, options->r_convec_low, options->r_convec_high);
    }
    const size_t n_level = basis ? 0 : tmx_thermal_spec_levels(spec);
    ADD(h, (double)n_level);
    for (size_t l = 0; l < n_level; l++) {
        ADD(h, tmx_thermal_spec_r_convec(spec, l));
        if (spec->flow_levels) {
            ADD(h, tmx_thermal_spec_flow(spec, l));
        }
    }
    for (size_t j = 0; spec->col_line_m && j <= spec->cols; j++) {
        ADD(h, spec->col_line_m[j]);
    }
    ADD(h, options->tolerance_k, basis ? 0 : (double)options->modes, min_step(spec), density(spec),
        spec->accurate_cells);
    tmx_hash_hex(h, key);
    tmx_hash_destroy(h);
    return TMX_OK;
}

/* Arrays on their way to a file of the cache, or, with take, from it: they are taken then. */
struct pieces {
    struct tmx_arena *take;
    struct tmx_piece *piece;
    size_t n;
};

#define PUT(pieces, array, count)                                                              \
    do {                                                                                       \
        if ((pieces)->take && (pieces)->n > 0 && (count) > 0) { /* the first are the sizes */  \
            TMX_TAKE((pieces)->take, array, count);                                            \
        }                                                                                      \
        (pieces)->piece[(pieces)->n++] = (struct tmx_piece){array, (count) * sizeof *(array)}; \
    } while (0)

static bool read_pieces(const struct tmx_cache_name *name, const struct pieces *p)
{
    return !p->take->failed && tmx_cache_read(name, p->piece, p->n);
}

/* What precedes the arrays. */
struct sizes {
    size_t n_level, n_mode, n_unit, n_node, n_region, n_basis, n_shift, n_wet, n_watch;
};

/* The maps, in the file of their own. */
static void list_maps(struct tmx_reduced_model *m, struct sizes *sizes, struct pieces *p)
{
    const size_t n_map = m->no_field ? 0 : m->n_mode * m->net.n_view;
    p->n = 0;
    PUT(p, sizes, 1);
    if (p->take && n_map > 0) { /* which grow with a start field */
        m->map = m->fine ? NULL : calloc(n_map, sizeof *m->map);
        m->fine_map = m->fine ? calloc(n_map, sizeof *m->fine_map) : NULL;
        p->take->failed = p->take->failed || !(m->fine ? m->fine_map != NULL : m->map != NULL);
    }
    p->piece[p->n++] = (struct tmx_piece){m->map, m->map ? n_map * sizeof *m->map : 0};
    p->piece[p->n++] = (struct tmx_piece){m->fine_map, m->fine_map ? n_map * sizeof *m->fine_map : 0};
    PUT(p, m->still, m->fine || m->no_field ? 0 : m->net.n_unit * m->net.n_view);
}

static void list_model(struct tmx_reduced_model *m, struct sizes *sizes, struct pieces *p)
{
    const size_t k = m->n_mode, unit = m->net.n_unit;
    const bool turned = m->n_level > 1 || m->fine || m->net.n_flow > 0;
    p->n = 0;
    PUT(p, sizes, 1);
    for (size_t l = 0; l < m->n_level; l++) {
        struct tmx_modal *q = &m->modal[l];
        if (p->take) {
            struct tmx_err err = {0};
            tmx_modal_init(q, k, unit, !m->fine, m->net.n_flow > 0, &err);
            p->take->failed = p->take->failed || err.code;
        }
        const struct tmx_piece own[] = {{q->rate, q->mode_row * sizeof(double)},
                                        {q->in, unit * q->mode_row * sizeof(double)},
                                        {q->out, k * q->unit_row * sizeof(double)},
                                        {q->direct, q->direct ? unit * q->unit_row * sizeof(double) : 0},
                                        {q->stored, q->mode_row * sizeof(double)},
                                        {q->leave, q->mode_row * sizeof(double)},
                                        {q->one, q->mode_row * sizeof(double)},
                                        {q->frequency, q->mode_row * sizeof(double)}};
        const size_t n = sizeof own / sizeof own[0] - (q->frequency ? 0 : 1);
        memcpy(p->piece + p->n, own, n * sizeof own[0]);
        p->n += n;
    }
    PUT(p, m->vector, turned ? m->n_level * k * k : 0);
    PUT(p, m->back, turned && !m->fine ? m->n_level * k * k : 0);
    PUT(p, m->error, (unit + 1) * unit);
    PUT(p, m->cell_error, (unit + 1) * m->n_region);
    if (m->net.n_flow > 0) {
        struct tmx_coolant *c = &m->coolant;
        PUT(p, c->inlet_state, m->n_level * k);
        PUT(p, c->inlet_unit, m->n_level * unit);
        PUT(p, c->wet, c->n_wet);
        PUT(p, c->wet_map, k * c->n_wet);
        PUT(p, c->wet_still, m->n_level * unit * c->n_wet);
        PUT(p, c->watch, m->n_level * k * c->n_watch);
        PUT(p, c->watch_direct, m->n_level * unit * c->n_watch);
    }
}

/* Room for all pieces of any of the lists; NULL: no memory. */
static struct tmx_piece *room(const struct tmx_reduced_model *m)
{
    enum { PER_LEVEL = 8, WHOLE = 16 };
    return calloc(PER_LEVEL * m->n_level + WHOLE, sizeof(struct tmx_piece));
}

/* Release all but the network and the room for the levels. */
static void empty(struct tmx_reduced_model *m)
{
    for (size_t l = 0; m->modal && l < m->n_level; l++) {
        tmx_modal_finish(&m->modal[l]);
    }
    free(m->map);
    free(m->fine_map);
    tmx_coolant_finish(&m->coolant);
    tmx_arena_finish(&m->arena);
    m->map = NULL;
    m->fine_map = m->still = m->vector = m->back = m->error = m->cell_error = NULL;
}

/* Fill a model that has its network and levels, its maps unless no_field; false (and empty) when the cache
 * has none. Maps are a file of their own: they are most of a model, and few ask for them; a model that was
 * built without is built again for who does. */
static bool load_model(struct tmx_reduced_model *m, const char key[TMX_HASH_HEX])
{
    const struct tmx_cache_name name = {.kind = "thermal", .key = key}, field = {.kind = "field", .key = key};
    struct sizes sizes;
    struct pieces p = {.take = &m->arena, .piece = room(m)};
    bool ok = p.piece && tmx_cache_peek(&name, &sizes, sizeof sizes) && sizes.n_level == m->n_level &&
              sizes.n_unit == m->net.n_unit && sizes.n_node == m->net.n_node &&
              sizes.n_region == m->n_region && sizes.n_mode > 0 &&
              sizes.n_mode <= m->net.n_node && /* a damaged head must not ask for all memory */
              sizes.n_wet <= m->net.n_node && sizes.n_watch <= sizes.n_wet;
    if (ok) {
        m->n_mode = sizes.n_mode;
        m->n_basis = sizes.n_basis;
        m->n_shift = sizes.n_shift;
        m->coolant =
            (struct tmx_coolant){.n_mode = sizes.n_mode, .n_wet = sizes.n_wet, .n_watch = sizes.n_watch};
        list_model(m, &sizes, &p);
        ok = read_pieces(&name, &p);
    }
    for (size_t i = 0; i < m->coolant.n_wet && ok; i++) {
        ok = m->coolant.wet[i] < m->net.n_node;
    }
    const struct sizes own = sizes;
    if (ok && !m->no_field) {
        list_maps(m, &sizes, &p);
        ok = read_pieces(&field, &p) && memcmp(&own, &sizes, sizeof own) == 0;
    }
    free(p.piece);
    if (!ok) {
        empty(m);
    }
    return ok;
}

static void store_model(struct tmx_reduced_model *m, const char key[TMX_HASH_HEX])
{
    const struct tmx_cache_name name = {.kind = "thermal", .key = key}, field = {.kind = "field", .key = key};
    struct sizes sizes = {m->n_level, m->n_mode,  m->net.n_unit,    m->net.n_node,     m->n_region,
                          m->n_basis, m->n_shift, m->coolant.n_wet, m->coolant.n_watch};
    struct pieces p = {.piece = room(m)};
    if (p.piece && !m->no_field) { /* first: who finds the model built with maps finds them */
        list_maps(m, &sizes, &p);
        tmx_cache_write(&field, p.piece, p.n);
    }
    if (p.piece) {
        list_model(m, &sizes, &p);
        tmx_cache_write(&name, p.piece, p.n);
    }
    free(p.piece);
}

/* A basis for a range of film coefficients. The network differs between them by what the film conducts alone,
 * V'(G + d A)V = g + d a, so runs whose sinks lie in the range need no factor once one of them has made the
 * basis: the cache keeps its projections (V itself only the heat map needs). */

enum { BASIS_PIECES = 9 };
struct basis_sizes {
    size_t n_node, n_unit, n_mode, n_shift, own_out;
    double gamma;
};

static void list_basis(struct tmx_basis *b, struct basis_sizes *sizes, struct pieces *p)
{
    const size_t k = sizes->n_mode, m = sizes->n_unit;
    PUT(p, sizes, 1);
    PUT(p, b->g, k * k);
    PUT(p, b->a, k * k);
    PUT(p, b->in, m * k);
    PUT(p, b->out, sizes->own_out ? m * k : 0);
    PUT(p, b->one, k);
    PUT(p, b->area, k);
    PUT(p, b->ground, k);
    PUT(p, b->error, (m + 1) * m);
}

static bool load_basis(struct tmx_basis *b, const struct tmx_network *net, const struct tmx_cache_name *name)
{
    struct basis_sizes sizes;
    struct tmx_piece piece[BASIS_PIECES];
    struct pieces p = {&b->arena, piece, 0};
    if (!tmx_cache_peek(name, &sizes, sizeof sizes) || sizes.n_node != net->n_node ||
        sizes.n_unit != net->n_unit || sizes.n_mode == 0 || sizes.n_mode > net->n_node) {
        return false;
    }
    list_basis(b, &sizes, &p);
    if (!read_pieces(name, &p)) {
        tmx_basis_finish(b);
        return false;
    }
    b->n_node = sizes.n_node;
    b->n_unit = sizes.n_unit;
    b->n_mode = sizes.n_mode;
    b->n_shift = 0; /* none was factored for this model */
    b->gamma = sizes.gamma;
    return true;
}

/* The basis holds the steady states at the ends and in the middle of the range; what it misses of those
 * between them, solved directly, is measured and becomes a part of the error. */
static void test_films(const struct tmx_network *net, struct tmx_basis *basis, const struct tmx_demand *d,
                       struct tmx_err *err)
{
    const size_t m = net->n_unit, n = net->n_node;
    struct tmx_solver *solver = tmx_solver_create(net, TMX_SOLVER_BY_SIZE, NULL, err);
    double *off = calloc(2 * n + m + m * m, sizeof *off), *b = off + m * m, *x = b + n, *read = x + n;
    tmx_memory_check(off, err);
    for (size_t i = 0; i < 2 && !err->code; i++) {
        const double gamma = sqrt((i ? d->gamma_high : d->gamma_low) * basis->gamma);
        struct tmx_system *f =
            tmx_system_create(solver, &(struct tmx_matrix){.gamma = gamma, .flow = 1}, err);
        struct tmx_modes modes;
        tmx_modes_init(&modes, basis, gamma, err);
        for (size_t v = 0, layer = 0; v < m && !err->code; v++) {
            while (v >= net->first_unit[layer + 1]) {
                layer++;
            }
            memset(b, 0, n * sizeof *b);
            tmx_gridmap_weights(&net->map[layer], TMX_MAP_AREA, v - net->first_unit[layer],
                                b + layer * net->n_cell);
            if (tmx_solve(solver, f, &(struct tmx_accuracy){.part = 1e-9}, false, 1, b, NULL, x)) {
                tmx_error(err, TMX_ESOLVE, "film test");
            }
            tmx_network_read(net, x, read);
            for (size_t u = 0; u < m; u++) {
                for (size_t k = 0; k < modes.n_mode; k++) {
                    read[u] -=
                        modes.out[u * modes.n_mode + k] * modes.in[v * modes.n_mode + k] / modes.rate[k];
                }
                off[v * m + u] = fmax(off[v * m + u], fabs(read[u]));
            }
        }
        tmx_system_destroy(f);
        tmx_modes_finish(&modes);
    }
    for (size_t i = 0; i < m * m && !err->code; i++) {
        basis->error[i] += off[i];
    }
    tmx_solver_destroy(solver);
    free(off);
}

/* The basis of the range, from the cache or made, and turned to the spec's film coefficient where it has one
 * alone. */
static void shared_basis(const struct tmx_reduced_model *m, const struct tmx_thermal_spec *spec,
                         const struct tmx_demand *d, const struct tmx_reduced_options *options,
                         struct tmx_basis *basis, struct tmx_err *err)
{
    char key[TMX_HASH_HEX];
    const struct tmx_cache_name name = {.kind = "basis", .key = key};
    (void)!tmx_reduced_key(spec, options, true, key, err); /* what is wrong is in err */
    const bool kept = !err->code && options->cache && !m->fine && m->no_field;
    if (!err->code && !(kept && load_basis(basis, &m->net, &name))) {
        FILE *making = kept ? tmx_cache_make(&name) : NULL; /* one run of a sweep; the others find it */
        if (!(making && load_basis(basis, &m->net, &name))) {
            tmx_basis_init(basis, &m->net, d, err);
            if (!err->code) {
                test_films(&m->net, basis, d, err);
            }
            if (kept && !err->code) {
                struct basis_sizes sizes = {basis->n_node,  basis->n_unit,      basis->n_mode,
                                            basis->n_shift, basis->out != NULL, basis->gamma};
                struct tmx_piece piece[BASIS_PIECES];
                struct pieces p = {NULL, piece, 0};
                list_basis(basis, &sizes, &p);
                tmx_cache_write(&name, piece, p.n);
            }
        }
        if (making) {
            fclose(making);
        }
    }
    if (!err->code && m->n_level == 1) {
        for (size_t i = 0; i < basis->n_mode * basis->n_mode; i++) {
            basis->g[i] += (d->gamma[0] - basis->gamma) * basis->a[i];
        }
        basis->a = NULL;
        basis->gamma = d->gamma[0];
    }
}

static void build(struct tmx_reduced_model *m, const struct tmx_thermal_spec *spec,
                  const struct tmx_demand *d, const struct tmx_reduced_options *options, struct tmx_err *err)
{
    struct tmx_basis basis = {0};
    struct tmx_demand of_basis = *d;
    const size_t unit = m->net.n_unit;
    (void)tmx_network_check_cost(&m->net, true, err);
    TMX_TAKE(&m->arena, m->error, (unit + 1) * unit);
    if (m->n_region > 0) {
        TMX_TAKE(&m->arena, m->cell_error, (unit + 1) * m->n_region);
    }
    tmx_arena_check(&m->arena, err);
    if (m->net.n_flow > 0) { /* the network is not symmetric, and all of this is another file's */
        struct tmx_coolant *c = &m->coolant;
        tmx_coolant_reduce(c, &m->net, d, m->modal, m->error, err);
        m->vector = c->vector;
        m->back = c->back;
        m->map = c->map;
        m->still = c->still;
        m->n_mode = c->n_mode;
        m->n_basis = c->n_basis;
        m->n_shift = c->n_shift;
        return;
    }
    of_basis.tolerance_k *= spec->network == TMX_NETWORK_PHYSICAL && !m->fine ? BASIS_SHARE_PHYSICAL : 1;
    if (ranged(options)) {
        shared_basis(m, spec, &of_basis, options, &basis, err);
    } else {
        tmx_basis_init(&basis, &m->net, &of_basis, err);
    }
    if (!err->code) {
        memcpy(m->error, basis.error, (unit + 1) * unit * sizeof *m->error);
        for (size_t i = 0; i < (unit + 1) * m->n_region; i++) {
            m->cell_error[i] = basis.cell_error[i];
        }
        m->n_basis = basis.n_mode;
        m->n_shift = basis.n_shift;
        if (m->fine) {
            keep_modes(m, &basis, d, err);
        } else {
            struct tmx_truncated cut = {.vectors = &m->arena};
            tmx_truncate(&cut, &basis, d, m->modal, m->error, err);
            m->n_mode = cut.n_mode;
            m->vector = cut.vector;
            m->back = cut.back;
            if (d->field && !err->code) {
                make_maps(m, &basis, &cut, err);
            }
            tmx_truncated_finish(&cut);
        }
    }
    /* What the finished model's steady states are off from those solved directly: rounding, where the
     * numbers have held. A range's are those of its middle. */
    const struct tmx_modal *q = m->modal;
    const bool direct = m->n_level == 1 && !ranged(options);
    for (size_t e = 0; e < unit * unit && direct && !err->code; e++) {
        const size_t v = e / unit, u = e % unit;
        double k_w = q->direct ? q->direct[v * q->unit_row + u] : 0;
        for (size_t i = 0; i < q->n_mode; i++) {
            k_w += q->out[i * q->unit_row + u] * q->in[v * q->mode_row + i] / q->rate[i];
        }
        m->error[e] += fabs(k_w - basis.steady[e]);
    }
    tmx_basis_finish(&basis);
}

enum tmx_status tmx_reduced_model_cached(const struct tmx_thermal_spec *spec,
                                         const struct tmx_reduced_options *options, bool *cached,
                                         struct tmx_err *err)
{
    char key[TMX_HASH_HEX], first;
    const enum tmx_status st = options->cache ? tmx_reduced_key(spec, options, false, key, err) : TMX_OK;
    const struct tmx_cache_name name = {.kind = "thermal", .key = key}, maps = {.kind = "field", .key = key};
    *cached = !st && options->cache && tmx_cache_peek(&name, &first, sizeof first) &&
              (!needs_maps(spec) || tmx_cache_peek(&maps, &first, sizeof first));
    return st;
}

/* From the cache, or built and put there. */
static void obtain(struct tmx_reduced_model *m, const struct tmx_thermal_spec *spec,
                   const struct tmx_demand *d, const struct tmx_reduced_options *options, struct tmx_err *err)
{
    char key[TMX_HASH_HEX];
    FILE *making = NULL;
    const bool cache = options->cache;
    if (cache && tmx_reduced_key(spec, options, false, key, err)) {
        return;
    }
    m->from_cache = cache && load_model(m, key);
    if (cache && !m->from_cache) {
        making = tmx_cache_make(&(struct tmx_cache_name){.kind = "thermal", .key = key});
        m->from_cache = making && load_model(m, key);
    }
    if (!m->from_cache) {
        tmx_cache_making(false);
        build(m, spec, d, options, err);
        tmx_cache_making(true);
    }
    if (cache && !m->from_cache && !err->code) {
        store_model(m, key);
    }
    if (making) {
        fclose(making);
    }
}

static void join_start(struct tmx_reduced_model *m, const struct tmx_thermal_spec *spec,
                       const struct tmx_demand *d, struct tmx_err *err)
{
    struct tmx_basis start = {0};
    double *from_k = calloc(m->net.n_node, sizeof *from_k);
    const double *theta;
    if (!from_k) {
        tmx_error(err, TMX_ENOMEM, "start field");
        return;
    }
    tmx_network_unview(&m->net, spec->init_node_k, from_k);
    for (size_t c = 0; c < m->net.n_node; c++) {
        from_k[c] -= spec->ambient_k;
    }
    m->start_error_k = tmx_initial_basis(&start, &m->net, d, from_k, &theta, err);
    const size_t old = m->n_mode, k = start.n_mode, wide = old + k;
    if (!err->code) { /* room in the map for more rows, and in vector and back for a block of its own */
        const size_t n = wide * m->net.n_view;
        float *map = m->map ? realloc(m->map, n * sizeof *map) : NULL;
        double *fine = m->fine_map ? realloc(m->fine_map, n * sizeof *fine) : NULL;
        double **const turn[] = {&m->vector, &m->back};
        m->map = map ? map : m->map;
        m->fine_map = fine ? fine : m->fine_map;
        for (size_t i = 0; i < 2; i++) {
            const double *from = *turn[i];
            if (from) {
                TMX_TAKE(&m->arena, *turn[i], m->n_level * wide * wide);
            }
            for (size_t row = 0; row < m->n_level * old && from && *turn[i]; row++) {
                memcpy(*turn[i] + (row / old * wide + row % old) * wide, from + row * old,
                       old * sizeof *from);
            }
        }
        if ((!map && !fine) || m->arena.failed) {
            tmx_error(err, TMX_ENOMEM, "start field");
        }
    }
    for (size_t l = 0; l < m->n_level && !err->code; l++) { /* its own modes, beside those of the powers */
        struct tmx_modes modes;
        struct tmx_modal more = {0};
        tmx_modes_init(&modes, &start, d->gamma[l], err);
        tmx_modes_layout(&modes, &more, err);
        for (size_t i = 0; i < k && !err->code; i++) {
            more.start[i] = tmx_dot(k, modes.vector + i * k, theta);
            more.one[i] = 0; /* a change of ambient is the other modes' */
        }
        tmx_modal_join(&m->modal[l], &more, err);
        for (size_t i = 0; i < k && !err->code && m->vector; i++) {
            const size_t at = (l * wide + old + i) * wide + old;
            memcpy(m->vector + at, modes.vector + i * k, k * sizeof *m->vector);
            if (m->back) {
                memcpy(m->back + at, modes.vector + i * k, k * sizeof *m->back);
            }
        }
        if (l == 0) {
            fill_map(m, old, &start, m->vector ? NULL : modes.vector, k, err);
        }
        tmx_modal_finish(&more);
        tmx_modes_finish(&modes);
    }
    m->n_mode += err->code ? 0 : k;
    tmx_basis_finish(&start);
    free(from_k);
}

enum tmx_status tmx_reduced_model_init(struct tmx_reduced_model *m, const struct tmx_thermal_spec *spec,
                                       const struct tmx_reduced_options *options, struct tmx_err *err)
{
    struct tmx_demand d = {0};
    struct tmx_err own = {0};
    *m = (struct tmx_reduced_model){.n_level = tmx_thermal_spec_levels(spec)};
    (void)tmx_network_init(&m->net, spec, &own);
    check(spec, options, m->net.n_flow > 0, &own);
    if (!own.code) {
        demand_init(&d, &m->net, spec, options, &own);
        m->n_region = d.cells.n;
        m->fine = d.cells.n > 0 || d.unit_cells.n > 0;
        m->no_field = !d.field;
        m->modal = calloc(m->n_level, sizeof *m->modal);
        if (!m->modal) {
            tmx_error(&own, TMX_ENOMEM, "levels");
        }
    }
    if (!own.code) {
        obtain(m, spec, &d, options, &own);
    }
    for (size_t l = 0; l < m->n_level && !own.code;
         l++) { /* a uniform start is a multiple of the 1 K field */
        for (size_t i = 0; i < m->n_mode; i++) {
            m->modal[l].start[i] =
                spec->init_node_k ? 0 : (spec->init_k - spec->ambient_k) * m->modal[l].one[i];
        }
    }
    m->start_swing_k = spec->init_node_k ? 0 : fabs(spec->init_k - spec->ambient_k);
    if (m->net.n_flow > 0 && !spec->inlet_at_ambient) {
        m->start_swing_k += fabs(m->net.inlet_k - spec->ambient_k);
    }
    if (spec->init_node_k && !own.code) {
        join_start(m, spec, &d, &own);
    }
    if (!own.code && options->modes == 0) {
        double bound_k = tmx_reduced_model_bound(m, false, d.power_w);
        bound_k = m->n_region ? fmax(bound_k, tmx_reduced_model_bound(m, true, d.power_w)) : bound_k;
        if (!(bound_k <= MISSED * d.tolerance_k)) {
            tmx_error(
                &own, TMX_ESOLVE,
                "the reduced model misses its tolerance of %g K: estimated error %.2g K; a network with "
                "such values needs the full grid (method grid)",
                d.tolerance_k, bound_k);
        }
    }
    for (size_t l = 0; l < m->n_level && !own.code; l++) {
        tmx_modal_close(&m->modal[l]);
        if (options->precision == TMX_PRECISION_MIXED) {
            tmx_modal_mix(&m->modal[l], &own);
        }
    }
    tmx_regions_finish(&d.unit_cells);
    tmx_regions_finish(&d.cells);
    tmx_arena_finish(&d.arena);
    return tmx_error_give(err, &own);
}

void tmx_reduced_model_finish(struct tmx_reduced_model *m)
{
    empty(m);
    free(m->modal);
    tmx_network_finish(&m->net);
    *m = (struct tmx_reduced_model){0};
}

/* The largest sum over the modes of |cell's temperature a mode| state. */
static double worst_cell(const struct tmx_reduced_model *m, size_t level, const double *state)
{
    const size_t k = m->n_mode, n = m->net.n_view;
    double *part = calloc((BATCH + 1) * n, sizeof *part), *sum = part + BATCH * n, worst = 0;
    for (size_t row = 0; part && row < k; row++) {
        const size_t batch = k - row < BATCH ? k - row : BATCH;
        if (row % BATCH == 0) {
            tmx_dense_nn(n, batch, k, 1, m->fine_map, n, m->vector + (level * k + row) * k, k, 0, part, n);
        }
        for (size_t c = 0; c < n; c++) {
            sum[c] += fabs(part[row % BATCH * n + c]) * state[row];
        }
    }
    for (size_t c = 0; part && c < n; c++) {
        worst = fmax(worst, sum[c]);
    }
    worst = part ? worst : INFINITY;
    free(part);
    return worst;
}

double tmx_reduced_model_rounding(const struct tmx_reduced_model *m, bool nodes, const double *swing_w)
{
    double worst = 0;
    for (size_t l = 0; l < m->n_level && m->modal[l].mixed; l++) {
        const struct tmx_modal *q = &m->modal[l];
        double *state = calloc(q->mode_row + q->unit_row, sizeof *state);
        if (!state) {
            return INFINITY;
        }
        double *theta_k = state + q->mode_row;
        tmx_modal_rounding(q, swing_w, state, theta_k);
        if (nodes ||
            tmx_map_by_cell(m->net.mode)) { /* read in double, from a state that single precision moved */
            worst = fmax(worst, worst_cell(m, l, state));
        } else {
            for (size_t u = 0; u < q->n_unit; u++) {
                worst = fmax(worst, theta_k[u]);
            }
        }
        free(state);
    }
    return worst;
}

double tmx_reduced_model_bound(const struct tmx_reduced_model *m, bool nodes, const double *swing_w)
{
    const size_t unit = m->net.n_unit, n = nodes ? m->n_region : unit;
    const double *error = nodes ? m->cell_error : m->error;
    double worst = 0;
    if (nodes && !m->cell_error) {
        return INFINITY;
    }
    for (size_t u = 0; u < n; u++) {
        double sum = 0;
        for (size_t v = 0; v < unit; v++) {
            sum += error[v * n + u] * fabs(swing_w[v]);
        }
        sum += error[unit * n + u] * m->start_swing_k;
        worst = fmax(worst, sum);
    }
    const double mean = m->net.view_start ? SAFETY_PHYSICAL : SAFETY; /* HotSpot's nodes are its view */
    const double safety = nodes ? CELL_SAFETY : tmx_map_by_cell(m->net.mode) ? UNIT_CELL_SAFETY : mean;
    return safety * worst + START_SAFETY * m->start_error_k + tmx_reduced_model_rounding(m, nodes, swing_w);
}

void tmx_reduced_model_common(const struct tmx_reduced_model *m, size_t level, const double *z, double *w)
{
    const size_t k = m->n_mode;
    memset(w, 0, k * sizeof *w);
    for (size_t i = 0; i < k; i++) {
        const double *vector = m->vector + (level * k + i) * k;
        for (size_t r = 0; r < k; r++) {
            w[r] += z[i] * vector[r];
        }
    }
}

void tmx_reduced_model_own(const struct tmx_reduced_model *m, size_t level, const double *w, double *z)
{
    const size_t k = m->n_mode;
    const double *back = (m->back ? m->back : m->vector) + level * k * k;
    enum { ROWS = 8 }; /* sums side by side: none waits for the one before */
    for (size_t i = 0; i < k; i += ROWS) {
        const double *row[ROWS];
        double sum[ROWS] = {0};
        for (size_t j = 0; j < ROWS; j++) {
            row[j] = back + (i + j < k ? i + j : k - 1) * k;
        }
        for (size_t r = 0; r < k; r++) {
            for (size_t j = 0; j < ROWS; j++) {
                sum[j] += row[j][r] * w[r];
            }
        }
        for (size_t j = 0; j < ROWS && i + j < k; j++) {
            z[i + j] = sum[j];
        }
    }
}

void tmx_reduced_model_field(const struct tmx_reduced_model *m, size_t level, const double *z,
                             const double *power_w, size_t first, size_t n, double *work, double *theta_k)
{
    const struct tmx_modal *modal = &m->modal[level];
    const size_t n_view = m->net.n_view, k = m->n_mode;
    memset(theta_k, 0, n * sizeof *theta_k);
    if (m->vector) {
        tmx_reduced_model_common(m, level, z, work);
    } else {
        tmx_modal_settle(modal, power_w, work);
        for (size_t i = 0; i < k; i++) {
            work[i] = z[i] - work[i];
        }
    }
    for (size_t i = 0; i < k && m->map; i++) {
        const float *row = m->map + i * n_view + first;
        for (size_t c = 0; c < n; c++) {
            theta_k[c] += work[i] * (double)row[c];
        }
    }
    for (size_t i = 0; i < k && m->fine_map; i++) {
        const double *row = m->fine_map + i * n_view + first;
        for (size_t c = 0; c < n; c++) {
            theta_k[c] += work[i] * row[c];
        }
    }
    for (size_t u = 0; u < m->net.n_unit && m->still; u++) {
        const double *row = m->still + u * n_view + first;
        for (size_t c = 0; c < n; c++) {
            theta_k[c] += power_w[u] * row[c];
        }
    }
}

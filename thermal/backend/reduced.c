/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Back-end: the network reduced to its slow and visible modes, stepped exactly. The default.
 *
 *      network             basis                 modes                       kept modes
 *   16 396 nodes  --->  a few hundred  --->  one rate each, in  --->  100 to 300, enough for the
 *     assembly/            vectors            ascending order           tolerance at every unit
 *                     reduction/krylov.c        (tmx_modes)            reduction/truncate.c
 *
 * The idea. Temperatures of a die are a sum of a few hundred shapes (modes), and each shape decays at a rate
 * of its own. A step of such a model costs two small products of a matrix and a vector, microseconds, where
 * the network needs some thirty sparse solves. The 16 396 nodes above are those of a die of 64 x 64 cells.
 *
 * One model is shared by all instances of a kind of chip; reduced_model.c builds it or reads it from the
 * cache. This file is the instance. Its state is z, one number a mode, and its step of length h is
 *
 *      z_i <- exp(-mu_i h) z_i + (1 - exp(-mu_i h)) / mu_i (in p)_i        T = ambient + out z + direct p
 *
 * This is exact for a power p that is constant over h, at any h: the step has no stability limit and no error
 * of its own. exp(-mu h) and (1 - exp(-mu h)) / mu are tabulated once for each announced h and convection
 * level (prepare); an instance keeps those of the last few h that were not announced.
 *
 * With precision = "mixed" a step's products are in single precision, z and its decay in double
 * (reduction/modal_mixed_kernel.c); everything that is no step stays in double.
 *
 * The direct term. What the kept modes miss of a steady state follows the power at once. So at one convection
 * level the steady state is exact, and only the fast beginning of an answer is approximated.
 *
 * Convection levels (a fan). The levels share the space of the modes; each has its own rates and shapes in
 * it. A change of level turns z from one level's coordinates into the other's and loses nothing:
 * w = vector' z of the old level, z = back w of the new one. The direct term is that of the middle film
 * coefficient at every level, or temperatures would jump with the fan. What steady states miss for it is
 * counted as an error.
 *
 * Ambient. theta = T - ambient, so an ambient that rises by d is a uniform field of -d: z <- z - d one.
 *
 * A start field (an init file) has modes of its own beside those of the powers (krylov.c). The network
 * is linear, so both sets advance side by side and their temperatures add up.
 *
 * Cells. Where units are read as their hottest or coldest cell, or where cells must be accurate, all modes of
 * the basis are kept and there is no direct term. Hottest and coldest cells are read from the heat map
 * (read_cells).
 *
 * Heat. Stored and leaving heat are rows over the modes. The heat that leaves in a step is
 * drain . p h - rest . (z after - z before), so the balance closes to rounding. Before z jumps (a fan, the
 * ambient, a settled start) bank() puts what has left into out_j, and unbank() begins anew from the new z. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "thermal/backend/backends.h"
#include "thermal/backend/reduced_model.h"

enum { BATCH = 16 };  /* instances stepped together: two tiles of the widest kernel */
enum { LENGTHS = 8 }; /* an instance keeps the rows of so many lengths without a table */

static const char *const precisions[] = {
    [TMX_PRECISION_DOUBLE] = "double", [TMX_PRECISION_MIXED] = "mixed", NULL};

static const struct tmx_opt opts[] = {
    TMX_ROW_REAL(tmx_reduced_options, tolerance_k, "K", 1e-6, 1, 1e-3,
                 "largest error of a unit's temperature"),
    TMX_ROW_INT(tmx_reduced_options, modes, "1", 0, 100000, 0,
                "number of modes; 0: what the tolerance needs"),
    TMX_ROW_BOOL(tmx_reduced_options, cache, 1, "keep set-up results in the user's cache folder"),
    TMX_ROW_CHOICE(tmx_reduced_options, precision, precisions, "double",
                   "of the products of a step; mixed: powers to modes and modes to temperatures in single"),
    TMX_ROW_REAL(tmx_reduced_options, r_convec_low, "K/W", 0, 1e6, 0,
                 "least sink resistance of a range that shares one basis; 0: of this chip alone"),
    TMX_ROW_REAL(tmx_reduced_options, r_convec_high, "K/W", 0, 1e6, 0,
                 "largest sink resistance of that range"),
    TMX_ROW_BOOL(tmx_reduced_options, share_sinks, 0,
                 "the range is the band of 0.05 16^n to 0.05 16^(n + 1) K/W of the chip's own sinks: chips "
                 "that differ by their sinks, air or fans share one set-up"),
    {0},
};

struct table { /* of one step length */
    double dt_s;
    double *row; /* [n_level][3][tmx_modal_table] decay, gain, response */
};

struct model {
    struct tmx_reduced_model shared;
    struct table *table; /* [n_table]; grows in prepare alone */
    size_t n_table;
    struct tmx_arena arena; /* of tables and their rows */
    double ambient_k;
    bool inlet_at_ambient;
    double coolant_limit_k; /* INFINITY: none */
};

struct lengths {
    struct {
        double dt_s; /* 0: free */
        size_t level;
    } length[LENGTHS];
    size_t oldest;
    double *rows; /* [LENGTHS][3][tmx_modal_table] as in a table, and work; NULL until the first such step
                     where lengths were announced before the instance was made */
    struct tmx_arena arena; /* of the rows */
};

struct state {
    const struct model *model;
    size_t level;
    double ambient_k;
    double out_j;                   /* heat that left = out_j + drain . energy - rest . z */
    double *z;                      /* [mode_row] */
    double *energy, *power, *theta; /* [unit_row] J since out_j was taken, W and K of the last step */
    /* work */
    double *next;         /* [mode_row] */
    double *now;          /* [unit_row] */
    struct lengths *kept; /* for lengths without a table */
    float *work;          /* [tmx_modal_work] */
    double *cell;         /* [n_cell] where units are not read by a linear map */
    /* where coolant flows, else NULL: z is the distance to the field of its inlet, these are what that field
     * adds */
    double *lift;  /* [n_unit] of the units, K */
    double *brink; /* [2][n_watch] of the coolant that is watched, K; and work */
    double *whole; /* [mode_row] work */
    bool boiled;
    struct tmx_arena arena; /* of the arrays */
};

static void model_destroy(void *model)
{
    struct model *m = model;
    if (m) {
        tmx_arena_finish(&m->arena);
        tmx_reduced_model_finish(&m->shared);
        free(m);
    }
}

static enum tmx_status model_create(const void *options, const struct tmx_thermal_spec *spec, void **model,
                                    struct tmx_err *err)
{
    struct tmx_reduced_options o = *(const struct tmx_reduced_options *)options;
    if (o.share_sinks && (o.r_convec_low > 0 || o.r_convec_high > 0)) {
        return tmx_fail(err, TMX_ECONFIG,
                        "share_sinks takes a band of its own: expected no r_convec_low, r_convec_high");
    }
    if (o.share_sinks) {
        /* The bands of 0.05 16^n K/W in which the spec's sinks lie: a range that follows from the spec alone,
         * so that results do not depend on which other sinks are computed. Between 0.05 and 0.8 are most
         * sinks of cards. 16 is the width for which a range was tested (tests/property/test_reduced.c). */
        double low = INFINITY, high = 0, from = 0.05;
        for (size_t l = 0; l < tmx_thermal_spec_levels(spec); l++) {
            low = fmin(low, tmx_thermal_spec_r_convec(spec, l));
            high = fmax(high, tmx_thermal_spec_r_convec(spec, l));
        }
        while (from > low) { /* by factors that are exact */
            from /= 16;
        }
        while (16 * from <= low) {
            from *= 16;
        }
        o.r_convec_low = from;
        while (from <= high) {
            from *= 16;
        }
        o.r_convec_high = from;
    }
    struct model *m = calloc(1, sizeof *m);
    if (!m) {
        return tmx_fail(err, TMX_ENOMEM, "thermal model");
    }
    m->ambient_k = spec->ambient_k;
    m->inlet_at_ambient = spec->inlet_at_ambient;
    m->coolant_limit_k = spec->coolant_limit_k > 0 ? spec->coolant_limit_k : INFINITY;
    const enum tmx_status st = tmx_reduced_model_init(&m->shared, spec, &o, err);
    if (st) {
        model_destroy(m);
        return st;
    }
    *model = m;
    return TMX_OK;
}

static const struct table *find_table(const struct model *m, double dt_s)
{
    for (size_t t = 0; t < m->n_table; t++) {
        if (m->table[t].dt_s == dt_s) {
            return &m->table[t];
        }
    }
    return NULL;
}

/* decay, gain, and at the head of the third row what 1 W everywhere heats most; INFINITY where modes turn. */
static void tabulate(const struct tmx_modal *m, double dt_s, double *rows)
{
    const size_t row = tmx_modal_table(m);
    double *gain = rows + row, *end = gain + row, most_k = m->frequency ? INFINITY : 0;
    tmx_modal_tabulate(m, dt_s, rows, gain);
    for (size_t i = 0; i < m->n_mode && !m->frequency; i++) {
        double in = 0;
        for (size_t u = 0; u < m->n_unit; u++) {
            in += m->in[u * m->mode_row + i];
        }
        end[i] = gain[i] * in;
    }
    for (size_t u = 0; u < m->n_unit && !m->frequency; u++) {
        double k = 0;
        for (size_t i = 0; i < m->n_mode; i++) {
            k += m->out[i * m->unit_row + u] * end[i];
        }
        for (size_t v = 0; m->direct && v < m->n_unit; v++) {
            k += m->direct[v * m->unit_row + u];
        }
        most_k = k > most_k ? k : most_k;
    }
    end[0] = most_k;
}

static enum tmx_status prepare(void *model, double dt_s, struct tmx_err *err)
{
    struct model *m = model;
    const size_t row = tmx_modal_table(m->shared.modal);
    if (find_table(m, dt_s)) {
        return TMX_OK;
    }
    double *rows;
    if (!TMX_TAKE(&m->arena, rows, 3 * row * m->shared.n_level) ||
        !TMX_GROW(&m->arena, m->table, m->n_table)) {
        return tmx_fail(err, TMX_ENOMEM, "step table");
    }
    for (size_t l = 0; l < m->shared.n_level; l++) {
        tabulate(&m->shared.modal[l], dt_s, rows + 3 * l * row);
    }
    m->table[m->n_table++] = (struct table){dt_s, rows};
    return TMX_OK;
}

static const struct tmx_modal *modal(const struct state *s)
{
    return &s->model->shared.modal[s->level];
}

/* Coolant. z is the distance to the field of the inlet, which is inlet_state times how far the inlet is above
 * ambient: so a step knows nothing of the inlet, and a change of level, of ambient or of inlet turns z. */

static double inlet_theta(const struct state *s)
{
    return s->model->inlet_at_ambient ? 0 : s->model->shared.net.inlet_k - s->ambient_k;
}

static void add_inlet(struct state *s, double times)
{
    const struct tmx_reduced_model *m = &s->model->shared;
    const double theta = s->lift ? times * inlet_theta(s) : 0;
    for (size_t i = 0; i < m->n_mode && theta != 0; i++) {
        s->z[i] += theta * m->coolant.inlet_state[s->level * m->n_mode + i];
    }
}

/* Rises of the watched coolant from z, [n_watch]. */
static void rise_of_watched(const struct state *s, const double *z, const double *power_w, double *rise)
{
    const struct tmx_reduced_model *m = &s->model->shared;
    const struct tmx_coolant *c = &m->coolant;
    const size_t n = c->n_watch;
    memset(rise, 0, n * sizeof *rise);
    for (size_t i = 0; i < m->n_mode; i++) {
        const double *restrict row = c->watch + (s->level * m->n_mode + i) * n;
        for (size_t j = 0; j < n; j++) {
            rise[j] += z[i] * row[j];
        }
    }
    for (size_t v = 0; v < m->net.n_unit && power_w; v++) {
        for (size_t j = 0; j < n; j++) {
            rise[j] += power_w[v] * c->watch_direct[(s->level * m->net.n_unit + v) * n + j];
        }
    }
}

static void new_inlet(struct state *s)
{
    const struct tmx_reduced_model *m = &s->model->shared;
    const double theta = s->lift ? inlet_theta(s) : 0;
    for (size_t u = 0; u < m->net.n_unit && s->lift; u++) {
        s->lift[u] = theta * m->coolant.inlet_unit[s->level * m->net.n_unit + u];
    }
    if (s->lift) {
        rise_of_watched(s, m->coolant.inlet_state + s->level * m->n_mode, NULL, s->brink);
        for (size_t j = 0; j < m->coolant.n_watch; j++) {
            s->brink[j] *= theta;
        }
    }
}

/* The hottest of all coolant [K]; *node is where. */
static double hottest_coolant(const struct state *s, size_t *node)
{
    const struct tmx_reduced_model *m = &s->model->shared;
    const struct tmx_coolant *c = &m->coolant;
    struct state whole = *s;
    double hottest = -INFINITY;
    whole.z = s->whole;
    memcpy(whole.z, s->z, modal(s)->mode_row * sizeof *whole.z);
    add_inlet(&whole, 1);
    tmx_reduced_model_common(m, s->level, whole.z, s->next);
    *node = 0;
    for (size_t w = 0; w < c->n_wet; w++) {
        double theta = 0;
        for (size_t i = 0; i < m->n_mode; i++) {
            theta += s->next[i] * (double)c->wet_map[i * c->n_wet + w];
        }
        for (size_t v = 0; v < m->net.n_unit; v++) {
            theta += s->power[v] * (double)c->wet_still[(s->level * m->net.n_unit + v) * c->n_wet + w];
        }
        if (theta > hottest) {
            hottest = theta;
            *node = c->wet[w];
        }
    }
    return hottest + s->ambient_k;
}

/* After a step: is coolant above its limit? All of it is looked at where the watched is near. */
static bool boils(struct state *s)
{
    const struct tmx_coolant *c = &s->model->shared.coolant;
    const double limit_k = s->model->coolant_limit_k;
    double *rise = s->brink + c->n_watch, hottest = -INFINITY;
    size_t node;
    s->boiled = false;
    if (!isfinite(limit_k)) {
        return false;
    }
    rise_of_watched(s, s->z, s->power, rise);
    for (size_t j = 0; j < c->n_watch; j++) {
        hottest = fmax(hottest, s->brink[j] + (1 + 2 * tmx_coolant_slack) * rise[j]);
    }
    s->boiled = hottest + s->ambient_k > limit_k && hottest_coolant(s, &node) > limit_k;
    return s->boiled;
}

static void why(const void *state, char *text, size_t size)
{
    const struct state *s = state;
    text[0] = '\0';
    if (s->boiled) {
        size_t node;
        const double hottest_k = hottest_coolant(s, &node);
        tmx_network_boils(&s->model->shared.net, node, hottest_k, s->model->coolant_limit_k, text, size);
    }
}

static void destroy(void *state)
{
    struct state *s = state;
    if (s) {
        if (s->kept) {
            tmx_arena_finish(&s->kept->arena);
        }
        tmx_arena_finish(&s->arena);
        free(s);
    }
}

/* Where units are read as the hottest or coldest of their cells: theta from the heat map. */
static void read_cells(const struct state *s, const double *z, const double *power_w, double *work,
                       double *theta)
{
    const struct tmx_network *net = &s->model->shared.net;
    for (size_t l = 0; l < net->n_layer; l++) {
        if (net->first_unit[l + 1] > net->first_unit[l]) {
            tmx_reduced_model_field(&s->model->shared, s->level, z, power_w, l * net->n_cell, net->n_cell,
                                    work, s->cell);
            tmx_gridmap_read(&net->map[l], net->mode, s->cell, theta + net->first_unit[l]);
        }
    }
}

/* Read theta anew after z was set. */
static void refresh(struct state *s)
{
    tmx_modal_read(modal(s), s->power, s->z, s->theta);
    if (s->cell) {
        read_cells(s, s->z, s->power, s->next, s->theta);
    }
}

/* Rows of lengths that were not announced; false: no memory. A run announces its lengths, and its GPUs need
 * none. */
static bool take_rows(const struct state *s)
{
    const struct tmx_modal *m = modal(s);
    struct lengths *kept = s->kept;
    if (!kept->rows) {
        TMX_TAKE(&kept->arena, kept->rows, LENGTHS * 3 * tmx_modal_table(m) + m->mode_row + m->unit_row);
    }
    return kept->rows != NULL;
}

/* Work behind them: [mode_row], and [unit_row] behind it. */
static double *more_row(const struct state *s)
{
    return s->kept->rows + LENGTHS * 3 * tmx_modal_table(modal(s));
}

static enum tmx_status create(const void *model, void **state, struct tmx_err *err)
{
    const struct model *m = model;
    const struct tmx_modal *first = m->shared.modal;
    struct state *s = calloc(1, sizeof *s);
    if (s) {
        *s = (struct state){.model = m, .ambient_k = m->ambient_k};
        TMX_TAKE_REALS(&s->arena, first->mode_row, &s->z, &s->next);
        TMX_TAKE_REALS(&s->arena, first->unit_row, &s->energy, &s->power, &s->theta, &s->now);
        TMX_TAKE(&s->arena, s->work, tmx_modal_work(first));
        TMX_TAKE(&s->arena, s->kept, 1);
    }
    if (s && tmx_map_by_cell(m->shared.net.mode)) {
        TMX_TAKE(&s->arena, s->cell, m->shared.net.n_cell);
    }
    if (s && m->shared.net.n_flow > 0) {
        TMX_TAKE(&s->arena, s->lift, first->unit_row);
        TMX_TAKE(&s->arena, s->whole, first->mode_row);
        TMX_TAKE(&s->arena, s->brink, 2 * m->shared.coolant.n_watch);
    }
    if (!s || s->arena.failed || ((m->n_table == 0 || s->cell) && !take_rows(s))) {
        destroy(s);
        return tmx_fail(err, TMX_ENOMEM, "thermal instance");
    }
    memcpy(s->z, first->start, first->mode_row * sizeof *s->z);
    add_inlet(s, -1);
    new_inlet(s);
    refresh(s);
    s->out_j = tmx_modal_sum(modal(s), modal(s)->rest, s->z);
    *state = s;
    return TMX_OK;
}

static enum tmx_status report(const struct state *s, const double *restrict theta, double *restrict temp_k)
{
    const size_t n = modal(s)->n_unit;
    const double ambient_k = s->ambient_k;
    double finite[4] = {0}; /* stay 0, or become no number */
    for (size_t u = 0; u < n; u++) {
        temp_k[u] = ambient_k + theta[u];
    }
    for (size_t u = 0; u < n && s->lift; u++) {
        temp_k[u] += s->lift[u];
    }
    for (size_t u = 0; u + 4 <= n; u += 4) {
        for (size_t k = 0; k < 4; k++) {
            finite[k] += temp_k[u + k] * 0;
        }
    }
    for (size_t u = n / 4 * 4; u < n; u++) {
        finite[0] += temp_k[u] * 0;
    }
    return finite[0] + finite[1] + finite[2] + finite[3] == 0 ? TMX_OK : TMX_ESOLVE;
}

/* The rows of a length, decay first; NULL where an unannounced length finds no memory. */
static const double *step_rows(const struct state *s, double dt_s)
{
    const size_t size = 3 * tmx_modal_table(modal(s));
    const struct table *t = find_table(s->model, dt_s);
    struct lengths *kept = s->kept;
    if (t) {
        return t->row + s->level * size;
    }
    if (!take_rows(s)) {
        return NULL;
    }
    size_t i = 0;
    while (i < LENGTHS && (kept->length[i].dt_s != dt_s || kept->length[i].level != s->level)) {
        i++;
    }
    if (i == LENGTHS) {
        i = kept->oldest;
        kept->oldest = (i + 1) % LENGTHS;
        kept->length[i].dt_s = dt_s;
        kept->length[i].level = s->level;
        tabulate(modal(s), dt_s, kept->rows + i * size);
    }
    return kept->rows + i * size;
}

/* What follows the products of a step. */
static enum tmx_status end_step(struct state *s, double dt_s, const double *power_w, double *temp_k)
{
    const size_t n = modal(s)->n_unit;
    double *restrict energy = s->energy, *restrict power = s->power;
    const double *restrict given_w = power_w;
    for (size_t u = 0; u < n; u++) {
        power[u] = given_w[u];
        energy[u] += dt_s * given_w[u];
    }
    if (s->cell) {
        read_cells(s, s->z, s->power, s->next, s->theta);
    }
    if (s->lift && boils(s)) { /* it carries heat away in another manner than is computed */
        for (size_t u = 0; u < n; u++) {
            temp_k[u] = NAN;
        }
        return TMX_ESOLVE;
    }
    return report(s, s->theta, temp_k);
}

static enum tmx_status step(void *state, double dt_s, const double *power_w, double *temp_k)
{
    struct state *s = state;
    const double *rows = step_rows(s, dt_s);
    if (!rows) {
        return TMX_ENOMEM;
    }
    tmx_modal_step(modal(s), rows, rows + tmx_modal_table(modal(s)), power_w, s->z, s->z, s->theta, s->work);
    return end_step(s, dt_s, power_w, temp_k);
}

static enum tmx_status step_many(size_t n, void *const *state, double dt_s, const double *const *power_w,
                                 double *const *temp_k, size_t *bad)
{
    enum tmx_status st = TMX_OK;
    for (size_t first = 0, n_batch; first < n; first += n_batch) {
        struct state *head = state[first];
        double *z[BATCH], *theta[BATCH];
        float *work[BATCH];
        for (n_batch = 0; n_batch < BATCH && first + n_batch < n; n_batch++) {
            const struct state *s = state[first + n_batch];
            if (s->level != head->level) {
                break;
            }
            z[n_batch] = s->z;
            theta[n_batch] = s->theta;
            work[n_batch] = s->work;
        }
        const double *rows = step_rows(head, dt_s);
        if (!rows) {
            *bad = first;
            return TMX_ENOMEM;
        }
        tmx_modal_step_many(modal(head), rows, rows + tmx_modal_table(modal(head)), n_batch, power_w + first,
                            z, theta, work);
        for (size_t i = first; i < first + n_batch; i++) {
            if (end_step(state[i], dt_s, power_w[i], temp_k[i]) && !st) {
                st = TMX_ESOLVE;
                *bad = i;
            }
        }
    }
    return st;
}

static bool equal(const double *a, const double *b, size_t n)
{
    return memcmp(a, b, n * sizeof *a) == 0;
}

static bool same(const void *model_a, const void *model_b)
{
    const struct model *a = model_a, *b = model_b;
    const struct tmx_reduced_model *x = &a->shared, *y = &b->shared;
    bool is = x->n_level == y->n_level && x->n_mode == y->n_mode && a->n_table == b->n_table &&
              x->modal[0].n_unit == y->modal[0].n_unit && x->modal[0].mode_row == y->modal[0].mode_row;
    for (size_t l = 0; is && l < x->n_level; l++) {
        const struct tmx_modal *m = &x->modal[l], *n = &y->modal[l];
        is = m->n_mode == n->n_mode && m->kernel == n->kernel && m->mixed == n->mixed &&
             !m->direct == !n->direct && !m->frequency == !n->frequency &&
             (!m->frequency || equal(m->frequency, n->frequency, m->mode_row)) &&
             equal(m->in, n->in, m->n_unit * m->mode_row) && equal(m->out, n->out, m->n_mode * m->unit_row) &&
             equal(m->rate, n->rate, m->mode_row) &&
             (!m->direct || equal(m->direct, n->direct, m->n_unit * m->unit_row));
    }
    for (size_t t = 0; is && t < a->n_table; t++) {
        is = a->table[t].dt_s == b->table[t].dt_s &&
             equal(a->table[t].row, b->table[t].row, 3 * x->n_level * tmx_modal_table(x->modal));
    }
    return is;
}

static enum tmx_status predict(const void *state, double dt_s, const double *power_w, double *temp_k)
{
    const struct state *s = state;
    const struct tmx_modal *m = modal(s);
    const double *rows = step_rows(s, dt_s);
    if (!rows) {
        return TMX_ENOMEM;
    }
    tmx_modal_step(m, rows, rows + tmx_modal_table(m), power_w, s->z, s->next, s->now, s->work);
    if (s->cell) {
        read_cells(s, s->next, power_w, more_row(s), s->now);
    }
    return report(s, s->now, temp_k);
}

/* next and now are what predict left there. */
static void commit(void *state, double dt_s, const double *power_w)
{
    struct state *s = state;
    const size_t n = modal(s)->n_unit;
    memcpy(s->z, s->next, modal(s)->mode_row * sizeof *s->z);
    memcpy(s->theta, s->now, n * sizeof *s->now);
    memcpy(s->power, power_w, n * sizeof *power_w);
    for (size_t u = 0; u < n; u++) {
        s->energy[u] += dt_s * power_w[u];
    }
}

/* Each mode goes one way, and temperatures are their sums. */
static bool is_one_way(const struct state *s)
{
    return !s->cell && !modal(s)->frequency && take_rows(s);
}

static void mean(const void *state, double dt_s, const double *power_w, double *mean_k)
{
    const struct state *s = state;
    const struct tmx_modal *m = modal(s);
    const bool known = is_one_way(s);
    const double *decay = known ? step_rows(s, dt_s) : NULL;
    double *z = known ? more_row(s) : NULL, *theta = known ? z + m->mode_row : NULL;
    for (size_t i = 0; i < m->mode_row && known;
         i++) { /* the share of the way that it has gone in the mean */
        const double x = m->rate[i] * dt_s, share = x > 1e-3 ? 1 / (1 - decay[i]) - 1 / x : 0.5 + x / 12;
        z[i] = s->z[i] + share * (s->next[i] - s->z[i]);
    }
    if (known) {
        tmx_modal_read(m, power_w, z, theta);
    }
    for (size_t u = 0; u < m->n_unit; u++) {
        mean_k[u] = s->ambient_k + (known ? theta[u] : (s->theta[u] + s->now[u]) / 2);
    }
}

static void bound(const void *state, double *high_k)
{
    const struct state *s = state;
    const struct tmx_modal *m = modal(s);
    const bool known = is_one_way(s);
    double *high = known ? more_row(s) + m->mode_row : NULL;
    if (known) {
        memcpy(high, s->now, m->unit_row * sizeof *s->now);
        tmx_modal_add_falls(m, s->z, s->next, high);
    }
    for (size_t u = 0; u < m->n_unit; u++) {
        high_k[u] = known ? s->ambient_k + high[u] : INFINITY;
    }
}

static double response(const void *state, double dt_s)
{
    const struct state *s = state;
    const double *rows = step_rows(s, dt_s);
    return rows ? rows[2 * tmx_modal_table(modal(s))] : INFINITY;
}

/* Heat that left so far goes to out_j, before the state jumps. */
static void bank(struct state *s)
{
    const struct tmx_modal *m = modal(s);
    for (size_t u = 0; u < m->n_unit; u++) {
        s->out_j += m->drain[u] * s->energy[u];
        s->energy[u] = 0;
    }
    s->out_j -= tmx_modal_sum(m, m->rest, s->z);
}

static void unbank(struct state *s)
{
    s->out_j += tmx_modal_sum(modal(s), modal(s)->rest, s->z);
}

static enum tmx_status steady(void *state, const double *power_w, bool move, double *temp_k)
{
    struct state *s = state;
    const struct tmx_modal *m = modal(s);
    double *z = s->next;
    tmx_modal_settle(m, power_w, z);
    tmx_modal_read(m, power_w, z, s->now);
    if (move) {
        bank(s);
        memcpy(s->z, z, m->mode_row * sizeof *z);
        memcpy(s->power, power_w, m->n_unit * sizeof *power_w);
        unbank(s);
    }
    if (s->cell) {
        memcpy(more_row(s), z, m->mode_row * sizeof *z);
        read_cells(s, more_row(s), power_w, s->next, s->now);
    }
    if (move) {
        memcpy(s->theta, s->now, m->n_unit * sizeof *s->now);
    }
    return report(s, s->now, temp_k);
}

static void read_now(const void *state, double *temp_k)
{
    const struct state *s = state;
    (void)report(s, s->theta, temp_k); /* not finite: step said so */
}

static void set_convection(void *state, size_t level)
{
    struct state *s = state;
    const struct tmx_reduced_model *m = &s->model->shared;
    tmx_assert(level < m->n_level);
    if (level == s->level) {
        return;
    }
    bank(s);
    add_inlet(s, 1);
    tmx_reduced_model_common(m, s->level, s->z, s->next);
    s->level = level;
    tmx_reduced_model_own(m, level, s->next, s->z);
    add_inlet(s, -1);
    new_inlet(s);
    unbank(s);
    refresh(s);
}

static void set_ambient(void *state, double ambient_k)
{
    struct state *s = state;
    const struct tmx_modal *m = modal(s);
    bank(s);
    add_inlet(s, 1);
    for (size_t i = 0; i < m->n_mode; i++) {
        s->z[i] += (s->ambient_k - ambient_k) * m->one[i];
    }
    s->ambient_k = ambient_k;
    add_inlet(s, -1);
    new_inlet(s);
    unbank(s);
    refresh(s);
}

static enum tmx_status field(const void *state, size_t layer, double *cell_k)
{
    const struct state *s = state;
    const struct tmx_network *net = &s->model->shared.net;
    const size_t n = layer == net->n_layer ? net->n_package : net->n_cell;
    tmx_assert(layer <= net->n_layer);
    if (s->model->shared.no_field) {
        return TMX_EUNSUPPORTED;
    }
    struct state whole = *s; /* with the field of the inlet */
    if (s->lift) {
        whole.z = s->whole;
        memcpy(whole.z, s->z, modal(s)->mode_row * sizeof *whole.z);
        add_inlet(&whole, 1);
    }
    tmx_reduced_model_field(&s->model->shared, s->level, whole.z, s->power, layer * net->n_cell, n, s->next,
                            cell_k);
    for (size_t c = 0; c < n; c++) {
        cell_k[c] += s->ambient_k;
    }
    return TMX_OK;
}

static double error_bound(const void *state, bool cells, const double *swing_w)
{
    return tmx_reduced_model_bound(&((const struct state *)state)->model->shared, cells, swing_w);
}

static void heat(const void *state, struct tmx_thermal_heat *h)
{
    const struct state *s = state;
    const struct tmx_modal *m = modal(s);
    *h = (struct tmx_thermal_heat){.stored_j = tmx_modal_sum(m, m->stored, s->z),
                                   .to_ambient_w = tmx_modal_sum(m, m->leave, s->z),
                                   .to_ambient_j = s->out_j - tmx_modal_sum(m, m->rest, s->z)};
    for (size_t i = 0; i < m->n_mode && s->lift; i++) {
        h->stored_j +=
            inlet_theta(s) * m->stored[i] * s->model->shared.coolant.inlet_state[s->level * m->n_mode + i];
    }
    for (size_t u = 0; u < m->n_unit; u++) {
        h->to_ambient_j += m->drain[u] * s->energy[u];
    }
}

static void image(void *state, struct tmx_image *i)
{
    struct state *s = state;
    const size_t mode = modal(s)->mode_row * sizeof(double), unit = modal(s)->unit_row * sizeof(double);
    TMX_IMAGE_FIELD(i, s->ambient_k);
    TMX_IMAGE_FIELD(i, s->out_j);
    TMX_IMAGE_FIELD(i, s->level);
    tmx_image_item(i, s->z, mode);
    tmx_image_item(i, s->energy, unit);
    tmx_image_item(i, s->power, unit);
    tmx_image_item(i, s->theta, unit);
    new_inlet(s);
}

static void modes(const void *model, size_t level, struct tmx_modes_view *v)
{
    const struct model *m = model;
    const struct tmx_modal *x = &m->shared.modal[level];
    *v = (struct tmx_modes_view){x->n_mode, x->n_unit, x->mode_row, x->unit_row,  x->rate,
                                 x->in,     x->out,    x->direct,   m->ambient_k, x->frequency};
}

const struct tmx_thermal_ops tmx_thermal_reduced = {
    .base = {.name = "reduced",
             .doc = "The network in a few hundred modes, stepped exactly in microseconds.",
             .source = "docs/models.md, Reduced model",
             .opts = opts,
             .state_size = sizeof(struct tmx_reduced_options)},
    .claims = TMX_THERMAL_BALANCE | TMX_THERMAL_LINEAR | TMX_THERMAL_RECIPROCAL | TMX_THERMAL_SEMIGROUP,
    .can = TMX_THERMAL_PHYSICAL | TMX_THERMAL_LEVELS | TMX_THERMAL_BELOW | TMX_THERMAL_CHANNELS |
           TMX_THERMAL_FILLER | TMX_THERMAL_FIELD,
    .model_create = model_create,
    .model_destroy = model_destroy,
    .create = create,
    .destroy = destroy,
    .step = step,
    .step_many = step_many,
    .same = same,
    .prepare = prepare,
    .steady = steady,
    .read = read_now,
    .set_convection = set_convection,
    .set_ambient = set_ambient,
    .field = field,
    .predict = predict,
    .commit = commit,
    .mean = mean,
    .bound = bound,
    .response = response,
    .error_bound = error_bound,
    .modes = modes,
    .heat = heat,
    .why = why,
    .image = image,
};

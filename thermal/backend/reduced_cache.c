/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A reduced model's way to the cache and back. */
#include <cblas.h>
#include <stdlib.h>
#include <string.h>

#include "core/store/cache.h"
#include "thermal/backend/reduced_model.h"

/* Change this whenever the numbers that set-up computes change. */
static const char VERSION[] = "reduced model 14";

static void add_real(struct tmx_hash *h, double v)
{
    tmx_hash_add(h, &v, sizeof v);
}

static void add_count(struct tmx_hash *h, size_t n)
{
    add_real(h, (double)n);
}

static void add_layer(struct tmx_hash *h, const struct tmx_layer *l, bool detailed)
{
    add_count(h, l->lateral);
    add_count(h, l->dissipates);
    add_real(h, l->thickness_m);
    add_real(h, l->k_w_per_mk);
    add_real(h, l->p_j_per_m3k);
    add_real(h, l->filler_k_w_per_mk);
    add_real(h, l->filler_p_j_per_m3k);
    add_count(h, l->floorplan->n_unit);
    for (size_t u = 0; u < l->floorplan->n_unit; u++) {
        const struct tmx_unit *unit = &l->floorplan->unit[u];
        const double box[] = {unit->x_m, unit->y_m, unit->w_m, unit->h_m};
        const double own[] = {unit->heat_capacity_j_per_m3k, unit->resistivity_mk_per_w};
        tmx_hash_add(h, box, sizeof box);
        if (detailed) {
            tmx_hash_add(h, own, sizeof own);
        }
    }
}

enum tmx_status tmx_reduced_key(const struct tmx_thermal_spec *spec,
                                const struct tmx_reduced_options *options, double min_step_s,
                                double density_w_per_m2, char key[TMX_HASH_HEX], struct tmx_err *err)
{
    const struct tmx_package *p = &spec->package;
    const double package[] = {p->s_spreader_m, p->t_spreader_m, p->k_spreader,
                              p->p_spreader,   p->s_sink_m,     p->t_sink_m,
                              p->k_sink,       p->p_sink,       p->c_convec_j_per_k};
    struct tmx_hash *h;
    const enum tmx_status st = tmx_hash_create(&h, err);
    if (st) {
        return st;
    }
    tmx_hash_add_text(h, VERSION);
    tmx_hash_add_text(h, openblas_get_corename()); /* its kernels round differently: 12 digits are the same */
    tmx_hash_add(h, package, sizeof package);
    add_count(h, (size_t)spec->network);
    add_count(h, spec->refine);
    add_count(h, spec->rows);
    add_count(h, spec->cols);
    add_count(h, (size_t)spec->map_mode);
    add_count(h, spec->hotspot_lateral);
    add_count(h, spec->detailed_3d);
    add_real(h, spec->r_below_k_per_w);
    add_count(h, spec->board != NULL);
    if (spec->board) {
        const struct tmx_board *b = spec->board;
        const double board[] = {b->s_sub_m,          b->s_solder_m,       b->s_pcb_m,
                                b->r_convec_k_per_w, b->c_convec_j_per_k, b->quasi_static};
        tmx_hash_add(h, board, sizeof board);
    }
    add_count(h, spec->n_layer);
    for (size_t l = 0; l < spec->n_layer; l++) {
        add_layer(h, &spec->layer[l], spec->detailed_3d || spec->layer[l].filler_k_w_per_mk > 0);
    }
    add_count(h, tmx_thermal_spec_levels(spec));
    for (size_t l = 0; l < tmx_thermal_spec_levels(spec); l++) {
        add_real(h, tmx_thermal_spec_r_convec(spec, l));
    }
    add_real(h, options->tolerance_k);
    add_count(h, options->n_mode);
    add_real(h, min_step_s);
    add_real(h, density_w_per_m2);
    add_count(h, spec->accurate_cells);
    tmx_hash_hex(h, key);
    tmx_hash_destroy(h);
    return TMX_OK;
}

/* What precedes the arrays. */
struct sizes {
    size_t n_level, n_mode, n_unit, n_node, n_region, n_basis, n_shift;
};

enum { PER_LEVEL = 7, WHOLE = 4 };

/* The maps, in the file of their own. */
static size_t list_maps(const struct tmx_reduced_model *m, struct sizes *sizes, struct tmx_piece piece[WHOLE])
{
    const size_t k = m->n_mode, real = sizeof(double);
    piece[0] = (struct tmx_piece){sizes, sizeof *sizes};
    piece[1] = (struct tmx_piece){m->map, m->map ? k * m->net.n_view * sizeof *m->map : 0};
    piece[2] = (struct tmx_piece){m->fine_map, m->fine_map ? k * m->net.n_view * real : 0};
    piece[3] = (struct tmx_piece){m->still, m->still ? m->net.n_unit * m->net.n_view * real : 0};
    return WHOLE;
}

static size_t list_pieces(const struct tmx_reduced_model *m, struct sizes *sizes, struct tmx_piece *piece)
{
    const size_t k = m->n_mode, unit = m->net.n_unit, real = sizeof(double);
    size_t n = 0;
    piece[n++] = (struct tmx_piece){sizes, sizeof *sizes};
    for (size_t l = 0; l < m->n_level; l++) {
        const struct tmx_modal *q = &m->modal[l];
        piece[n++] = (struct tmx_piece){q->rate, q->mode_row * real};
        piece[n++] = (struct tmx_piece){q->in, unit * q->mode_row * real};
        piece[n++] = (struct tmx_piece){q->out, k * q->unit_row * real};
        piece[n++] = (struct tmx_piece){q->direct, q->direct ? unit * q->unit_row * real : 0};
        piece[n++] = (struct tmx_piece){q->stored, q->mode_row * real};
        piece[n++] = (struct tmx_piece){q->leave, q->mode_row * real};
        piece[n++] = (struct tmx_piece){q->one, q->mode_row * real};
    }
    piece[n++] = (struct tmx_piece){m->vector, m->vector ? m->n_level * k * k * real : 0};
    piece[n++] = (struct tmx_piece){m->back, m->back ? m->n_level * k * k * real : 0};
    piece[n++] = (struct tmx_piece){m->error, (unit + 1) * unit * real};
    piece[n++] = (struct tmx_piece){m->cell_error, (unit + 1) * m->n_region * real};
    return n;
}

static bool allocate(struct tmx_reduced_model *m, const struct sizes *sizes)
{
    const size_t k = sizes->n_mode, unit = sizes->n_unit, n_view = m->net.n_view;
    tmx_assert(k > 0 && m->n_level > 0);
    m->n_mode = k;
    m->n_basis = sizes->n_basis;
    m->n_shift = sizes->n_shift;
    for (size_t l = 0; l < m->n_level; l++) {
        if (tmx_modal_init(&m->modal[l], k, unit, m->truncated, NULL)) {
            return false;
        }
    }
    if (!m->no_field) {
        m->map = m->fine ? NULL : calloc(k * n_view, sizeof *m->map);
        m->fine_map = m->fine ? calloc(k * n_view, sizeof *m->fine_map) : NULL;
        m->still = m->truncated ? calloc(unit * n_view, sizeof *m->still) : NULL;
    }
    const bool turned = m->n_level > 1 || !m->truncated;
    m->vector = turned ? calloc(m->n_level * k * k, sizeof *m->vector) : NULL;
    m->back = turned && m->truncated ? calloc(m->n_level * k * k, sizeof *m->back) : NULL;
    m->error = calloc((unit + 1) * unit, sizeof *m->error);
    m->cell_error = m->n_region ? calloc((unit + 1) * m->n_region, sizeof *m->cell_error) : NULL;
    return (m->no_field ||
            ((m->fine ? m->fine_map != NULL : m->map != NULL) && (!m->truncated || m->still))) &&
           (!turned || (m->vector && (m->back || !m->truncated))) && m->error &&
           (m->n_region == 0 || m->cell_error);
}

bool tmx_reduced_load(struct tmx_reduced_model *m, const char key[TMX_HASH_HEX])
{
    const struct tmx_cache_name name = {.kind = "thermal", .key = key}, field = {.kind = "field", .key = key};
    struct sizes sizes;
    struct tmx_piece *piece = calloc(1 + PER_LEVEL * m->n_level + WHOLE, sizeof *piece);
    bool ok = piece && tmx_cache_peek(&name, &sizes, sizeof sizes) && sizes.n_level == m->n_level &&
              sizes.n_unit == m->net.n_unit && sizes.n_node == m->net.n_node &&
              sizes.n_region == m->n_region && sizes.n_mode > 0 &&
              sizes.n_mode <= m->net.n_node; /* a damaged head must not ask for all memory */
    ok = ok && allocate(m, &sizes);
    ok = ok && tmx_cache_read(&name, piece, list_pieces(m, &sizes, piece));
    const struct sizes own = sizes;
    ok = ok && (m->no_field || (tmx_cache_read(&field, piece, list_maps(m, &sizes, piece)) &&
                                memcmp(&own, &sizes, sizeof own) == 0));
    free(piece);
    if (!ok) {
        tmx_reduced_model_empty(m);
    }
    return ok;
}

void tmx_reduced_store(const struct tmx_reduced_model *m, const char key[TMX_HASH_HEX])
{
    const struct tmx_cache_name name = {.kind = "thermal", .key = key}, field = {.kind = "field", .key = key};
    struct sizes sizes = {m->n_level,  m->n_mode,  m->net.n_unit, m->net.n_node,
                          m->n_region, m->n_basis, m->n_shift};
    struct tmx_piece *piece = calloc(1 + PER_LEVEL * m->n_level + WHOLE, sizeof *piece);
    if (piece) {
        if (!m->no_field) { /* first: who finds the model built with maps finds them */
            tmx_cache_write(&field, piece, list_maps(m, &sizes, piece));
        }
        tmx_cache_write(&name, piece, list_pieces(m, &sizes, piece));
    }
    free(piece);
}

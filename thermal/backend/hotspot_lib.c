/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Back-end: HotSpot itself, from a libhotspot of the system. Compiled only where CMake finds its
 * headers and library (HOTSPOT_ROOT); nothing else needs it.
 *
 * The library reads layer files, so a model writes its layers to a temporary folder and has
 * them read back. It keeps one field of temperatures per model; every step puts the instance's
 * field there and takes the result away, so instances share a model as elsewhere. What the
 * library cannot do is refused at model_create: several convection levels, rectangular cells in
 * the physical orientation, and, in its Runge-Kutta build, a grid that is not a power of two.
 * Its own checks end the program (exit code 1). It allocates in every step. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <temperature.h>
#include <temperature_grid.h>
#include <threads.h>

#include "base/os.h"
#include "base/output.h"
#include "core/floorplan/floorplan.h"
#include "thermal/assembly/gridmap.h"
#include "thermal/assembly/spec.h"
#include "thermal/backend/backends.h"

struct model {
    RC_model_t *hotspot; /* under lock */
    double *power_w;     /* HotSpot's vector over the blocks of all layers, under lock */
    double *temp_k;      /* likewise: where HotSpot leaves its block temperatures */
    mtx_t lock;
    struct tmx_gridmap *map; /* [n_layer]; only those of dissipating layers are filled */
    bool *dissipates;        /* [n_layer] */
    size_t *first_block;     /* [n_layer] place in power_w */
    size_t n_layer, n_unit, n_cell, n_node;
    enum tmx_map_mode map_mode;
    double *start_k; /* [n_node] */
    struct tmx_arena arena;
};

struct state {
    struct model *model;
    double node_k[]; /* [n_node] */
};

/* ---- the layers as HotSpot's files ---- */

static void file_path(char path[TMX_PATH_SIZE], const char *folder, size_t layer)
{
    snprintf(path, TMX_PATH_SIZE, "%s/layer%zu.flp", folder, layer);
}

static enum tmx_status write_layers(const char *folder, const struct tmx_thermal_spec *spec,
                                    struct tmx_err *err)
{
    char lcf[TMX_PATH_SIZE], flp[TMX_PATH_SIZE];
    struct tmx_output out;
    tmx_path_join(lcf, folder, "layers.lcf", err);
    tmx_output_open(&out, lcf, err);
    for (size_t l = 0; !err->code && l < spec->n_layer; l++) {
        const struct tmx_layer *layer = &spec->layer[l];
        file_path(flp, folder, l);
        fprintf(out.file, "%zu\n%c\n%c\n%.17g\n%.17g\n%.17g\n%s\n\n", l, layer->lateral ? 'Y' : 'N',
                layer->dissipates ? 'Y' : 'N', layer->p_j_per_m3k, 1 / layer->k_w_per_mk, layer->thickness_m,
                flp);
        err->code = tmx_flp_write(flp, layer->floorplan, NULL, err);
    }
    return tmx_output_end(&out, err);
}

static void remove_layers(const char *folder, size_t n_layer)
{
    char path[TMX_PATH_SIZE];
    for (size_t l = 0; l < n_layer; l++) {
        file_path(path, folder, l);
        remove(path);
    }
    snprintf(path, sizeof path, "%s/layers.lcf", folder);
    remove(path);
    remove(folder);
}

/* ---- model ---- */

static enum tmx_status refuse(const struct tmx_thermal_spec *spec, struct tmx_err *err)
{
    const struct tmx_floorplan *die = spec->layer[0].floorplan;
    const double dx = tmx_floorplan_width_m(die) / (double)spec->cols;
    const double dy = tmx_floorplan_height_m(die) / (double)spec->rows;
    if (!spec->hotspot_lateral && fabs(dx / dy - 1) > 1e-6) {
        return tmx_fail(
            err, TMX_EUNSUPPORTED,
            "cells of %g x %g um: HotSpot exchanges the lateral resistances of rectangular cells; "
            "take --hotspot-compat or square cells",
            1e6 * dx, 1e6 * dy);
    }
    if (!SUPERLU && ((spec->rows & (spec->rows - 1)) || (spec->cols & (spec->cols - 1)))) {
        return tmx_fail(err, TMX_EUNSUPPORTED,
                        "grid of %zu x %zu: this HotSpot library, built without SuperLU, takes powers of two",
                        spec->rows, spec->cols);
    }
    return TMX_OK;
}

static RC_model_t *open_library(const char *folder, const struct tmx_thermal_spec *spec)
{
    const struct tmx_package *p = &spec->package;
    thermal_config_t c = default_thermal_config();
    materials_list_t none = {0};
    c.s_sink = p->s_sink_m, c.t_sink = p->t_sink_m, c.k_sink = p->k_sink, c.p_sink = p->p_sink;
    c.s_spreader = p->s_spreader_m, c.t_spreader = p->t_spreader_m;
    c.k_spreader = p->k_spreader, c.p_spreader = p->p_spreader;
    c.r_convec = tmx_thermal_spec_r_convec(spec, 0), c.c_convec = p->c_convec_j_per_k;
    c.ambient = spec->ambient_k, c.init_temp = spec->init_k;
    c.grid_rows = (int)spec->rows, c.grid_cols = (int)spec->cols;
    snprintf(c.model_type, sizeof c.model_type, "%s", GRID_MODEL_STR);
    snprintf(c.grid_map_mode, sizeof c.grid_map_mode, "%s", GRID_AVG_STR); /* blocks are read by us */
    snprintf(c.grid_layer_file, sizeof c.grid_layer_file, "%s/layers.lcf", folder);
    RC_model_t *m = alloc_RC_model(&c, NULL, NULL, &none, spec->detailed_3d, FALSE);
    populate_R_model(m, NULL);
    populate_C_model(m, NULL);
#if SUPERLU > 0
    /* The library builds these at its first step in a process, for the model of that step alone. */
    m->grid->G = build_transient_grid_matrix(m->grid);
    m->grid->C = build_diagonal_matrix(m->grid);
#endif
    return m;
}

static void model_destroy(void *model)
{
    struct model *m = model;
    if (!m) {
        return;
    }
    for (size_t l = 0; m->map && l < m->n_layer; l++) {
        tmx_gridmap_finish(&m->map[l]);
    }
    if (m->hotspot) {
        free_dvector(m->power_w);
        free_dvector(m->temp_k);
        delete_RC_model(m->hotspot);
    }
    mtx_destroy(&m->lock);
    tmx_arena_finish(&m->arena);
    free(m);
}

static enum tmx_status model_create(const void *options, const struct tmx_thermal_spec *spec, void **model,
                                    struct tmx_err *err)
{
    (void)options;
    enum tmx_status st = refuse(spec, err);
    struct model *m = st ? NULL : calloc(1, sizeof *m);
    if (!m || mtx_init(&m->lock, mtx_plain) != thrd_success) {
        free(m);
        return st ? st : tmx_fail(err, TMX_ENOMEM, "thermal model");
    }
    m->n_layer = spec->n_layer;
    m->n_cell = spec->rows * spec->cols;
    m->n_node = (spec->n_layer + 2) * m->n_cell + EXTRA;
    m->n_unit = tmx_thermal_spec_units(spec);
    m->map_mode = spec->map_mode;
    TMX_TAKE(&m->arena, m->map, m->n_layer);
    TMX_TAKE(&m->arena, m->dissipates, m->n_layer);
    TMX_TAKE(&m->arena, m->first_block, m->n_layer);
    TMX_TAKE(&m->arena, m->start_k, m->n_node);
    for (size_t c = 0; c < m->n_node && !m->arena.failed; c++) {
        m->start_k[c] = spec->init_node_k ? spec->init_node_k[c] : spec->init_k;
    }
    char folder[200];
    st = m->arena.failed ? tmx_fail(err, TMX_ENOMEM, "model of %zu nodes", m->n_node) : TMX_OK;
    for (size_t l = 0, block = 0; l < spec->n_layer && !st; l++) {
        const struct tmx_floorplan *fp = spec->layer[l].floorplan;
        m->dissipates[l] = spec->layer[l].dissipates;
        m->first_block[l] = block;
        block += fp->n_unit;
        if (m->dissipates[l]) {
            st = tmx_gridmap_init(&m->map[l], fp, tmx_floorplan_width_m(fp), tmx_floorplan_height_m(fp),
                                  spec->rows, spec->cols, NULL, err);
        }
    }
    st = st ? st : tmx_os_temp_dir(folder, sizeof folder, err);
    if (!st) {
        st = write_layers(folder, spec, err);
        m->hotspot = st ? NULL : open_library(folder, spec);
        remove_layers(folder, spec->n_layer);
    }
    if (st) {
        model_destroy(m);
        return st;
    }
    m->power_w = hotspot_vector(m->hotspot);
    m->temp_k = hotspot_vector(m->hotspot);
    m->hotspot->grid->last_temp = m->temp_k;
    *model = m;
    return TMX_OK;
}

/* ---- instance ---- */

static void destroy(void *state)
{
    free(state);
}

static enum tmx_status create(const void *model, void **state, struct tmx_err *err)
{
    const struct model *shared = model;
    struct state *s = malloc(sizeof *s + shared->n_node * sizeof *s->node_k);
    if (!s) {
        return tmx_fail(err, TMX_ENOMEM, "thermal state of %zu nodes", shared->n_node);
    }
    memcpy(&s->model, &model, sizeof model); /* the library's own field changes, under lock */
    memcpy(s->node_k, shared->start_k, shared->n_node * sizeof *s->node_k);
    *state = s;
    return TMX_OK;
}

static void put_power(struct model *m, const double *power_w)
{
    for (size_t l = 0; l < m->n_layer; l++) {
        if (m->dissipates[l]) {
            memcpy(m->power_w + m->first_block[l], power_w, m->map[l].n_unit * sizeof *power_w);
            power_w += m->map[l].n_unit;
        }
    }
}

static enum tmx_status read_units(const struct model *m, const double *node_k, double *temp_k)
{
    enum tmx_status st = TMX_OK;
    for (size_t l = 0, first = 0; l < m->n_layer; l++) {
        if (m->dissipates[l]) {
            tmx_gridmap_read(&m->map[l], m->map_mode, node_k + l * m->n_cell, temp_k + first);
            first += m->map[l].n_unit;
        }
    }
    for (size_t u = 0; u < m->n_unit; u++) {
        st = isfinite(temp_k[u]) ? st : TMX_ESOLVE;
    }
    return st;
}

static enum tmx_status step(void *state, double dt_s, const double *power_w, double *temp_k)
{
    struct state *s = state;
    struct model *m = s->model;
    mtx_lock(&m->lock);
    double *field_k = m->hotspot->grid->last_trans->cuboid[0][0]; /* all cells, then the package nodes */
    memcpy(field_k, s->node_k, m->n_node * sizeof *field_k);
    put_power(m, power_w);
    compute_temp(m->hotspot, m->power_w, NULL, dt_s);
    memcpy(s->node_k, field_k, m->n_node * sizeof *field_k);
    mtx_unlock(&m->lock);
    return read_units(m, s->node_k, temp_k);
}

static enum tmx_status steady(void *state, const double *power_w, bool settle, double *temp_k)
{
    struct state *s = state;
    struct model *m = s->model;
    mtx_lock(&m->lock);
    const double *field_k = m->hotspot->grid->last_steady->cuboid[0][0];
    put_power(m, power_w);
    steady_state_temp(m->hotspot, m->power_w, m->temp_k);
    const enum tmx_status st = read_units(m, field_k, temp_k);
    if (settle) {
        memcpy(s->node_k, field_k, m->n_node * sizeof *field_k);
    }
    mtx_unlock(&m->lock);
    return st;
}

static void read_now(const void *state, double *temp_k)
{
    const struct state *s = state;
    (void)read_units(s->model, s->node_k, temp_k);
}

static void set_convection(void *state, size_t level)
{
    (void)state;
    tmx_assert(level == 0); /* the only one model_create accepts */
}

static enum tmx_status field(const void *state, size_t layer, double *cell_k)
{
    const struct state *s = state;
    const struct model *m = s->model;
    const bool package = layer == m->n_layer + 2;
    memcpy(cell_k, s->node_k + layer * m->n_cell, (package ? EXTRA : m->n_cell) * sizeof *cell_k);
    return TMX_OK;
}

static void image(void *state, struct tmx_image *i)
{
    struct state *s = state;
    tmx_image_item(i, s->node_k, s->model->n_node * sizeof *s->node_k);
}

const struct tmx_thermal_ops tmx_thermal_hotspot = {
    .base = {.name = "hotspot",
             .doc = "HotSpot's own library, if the system has it.",
             .source = "HotSpot 7, temperature_grid.h"},
    .claims = 0, /* its promises are HotSpot's; compared with the grid back-end in its own test */
    .can = TMX_THERMAL_FULL | TMX_THERMAL_CHANNELS | TMX_THERMAL_FIELD | TMX_THERMAL_BLOCKS,
    .model_create = model_create,
    .model_destroy = model_destroy,
    .create = create,
    .destroy = destroy,
    .step = step,
    .steady = steady,
    .read = read_now,
    .set_convection = set_convection,
    .field = field,
    .image = image,
};

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Back-end: temperatures read from a trace (.ttrace), whatever the power. Row r of the file
 * holds at the end of its interval [r, r + 1) * interval_s, as HotSpot writes it; the last
 * row holds for good. A unit that the file does not name is an error. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/trace.h"
#include "thermal/assembly/spec.h"
#include "thermal/backend/backends.h"

struct options {
    char file[512];
    double interval_s;
};
static const struct tmx_opt opts[] = {
    TMX_ROW_FILE(options, file, NULL, "temperature trace (.ttrace)"),
    TMX_ROW_REAL(options, interval_s, "s", 1e-9, 1e9, 0.01, "time between two rows of the trace"),
    {0},
};

struct model {
    struct tmx_trace trace;
    size_t n_unit;
    size_t *column; /* [n_unit] owned: of the trace */
    double interval_s, start_k;
};

struct state {
    const struct model *model;
    double time_s;
};

static void model_destroy(void *model)
{
    struct model *m = model;
    if (m) {
        tmx_trace_finish(&m->trace);
        free(m->column);
        free(m);
    }
}

static enum tmx_status find_columns(struct model *m, const struct tmx_thermal_spec *spec, struct tmx_err *err)
{
    size_t at = 0;
    for (size_t l = 0; l < spec->n_layer; l++) {
        const struct tmx_floorplan *fp = spec->layer[l].floorplan;
        for (size_t u = 0; spec->layer[l].dissipates && u < fp->n_unit; u++) {
            m->column[at] = tmx_trace_find(&m->trace, fp->unit[u].name);
            if (m->column[at++] == m->trace.n_column) {
                return tmx_fail_at(err, TMX_EPARSE, m->trace.source, m->trace.name_line,
                                   "no temperatures of block %s", fp->unit[u].name);
            }
        }
    }
    return TMX_OK;
}

static enum tmx_status model_create(const void *options, const struct tmx_thermal_spec *spec, void **model,
                                    struct tmx_err *err)
{
    const struct options *o = options;
    struct model *m = calloc(1, sizeof *m);
    if (!m) {
        return tmx_fail(err, TMX_ENOMEM, "temperature trace");
    }
    m->n_unit = tmx_thermal_spec_units(spec);
    m->interval_s = o->interval_s;
    m->start_k = spec->init_k;
    m->column = calloc(m->n_unit + 1, sizeof *m->column);
    enum tmx_status st =
        m->column ? tmx_trace_read(o->file, &m->trace, err) : tmx_fail(err, TMX_ENOMEM, "temperature trace");
    st = st ? st : find_columns(m, spec, err);
    if (st) {
        model_destroy(m);
        return st;
    }
    *model = m;
    return TMX_OK;
}

static enum tmx_status prepare(void *model, double dt_s, struct tmx_err *err)
{
    (void)model, (void)dt_s, (void)err; /* a step needs no tables */
    return TMX_OK;
}

static enum tmx_status create(const void *model, void **state, struct tmx_err *err)
{
    struct state *s = calloc(1, sizeof *s);
    if (!s) {
        return tmx_fail(err, TMX_ENOMEM, "thermal instance");
    }
    s->model = model;
    *state = s;
    return TMX_OK;
}

static void destroy(void *state)
{
    free(state);
}

static void read_at(const struct model *m, double time_s, double *temp_k)
{
    const double rows =
        ceil(time_s / m->interval_s - 1e-6); /* a sum of steps may miss the end by a rounding */
    const size_t past = rows < 1 ? 0 : rows > (double)m->trace.n_row ? m->trace.n_row : (size_t)rows;
    for (size_t u = 0; u < m->n_unit; u++) {
        temp_k[u] = past == 0 ? m->start_k : m->trace.value[(past - 1) * m->trace.n_column + m->column[u]];
    }
}

static enum tmx_status step(void *state, double dt_s, const double *power_w, double *temp_k)
{
    struct state *s = state;
    (void)power_w;
    s->time_s += dt_s;
    read_at(s->model, s->time_s, temp_k);
    return TMX_OK;
}

static enum tmx_status predict(const void *state, double dt_s, const double *power_w, double *temp_k)
{
    const struct state *s = state;
    (void)power_w;
    read_at(s->model, s->time_s + dt_s, temp_k);
    return TMX_OK;
}

/* The end of the trace. */
static enum tmx_status steady(void *state, const double *power_w, bool settle, double *temp_k)
{
    struct state *s = state;
    const double end_s = (double)s->model->trace.n_row * s->model->interval_s;
    (void)power_w;
    s->time_s = settle ? end_s : s->time_s;
    read_at(s->model, end_s, temp_k);
    return TMX_OK;
}

static void read_now(const void *state, double *temp_k)
{
    const struct state *s = state;
    read_at(s->model, s->time_s, temp_k);
}

static void set_convection(void *state, size_t level)
{
    (void)state, (void)level; /* the trace knows its own cooling */
}

static size_t snapshot_size(const void *state)
{
    (void)state;
    return sizeof(double);
}

static void save(const void *state, void *buf)
{
    memcpy(buf, &((const struct state *)state)->time_s, sizeof(double));
}

static void restore(void *state, const void *buf)
{
    memcpy(&((struct state *)state)->time_s, buf, sizeof(double));
}

const struct tmx_thermal_ops tmx_thermal_replay = {
    .base = {.name = "replay",
             .doc = "Temperatures read from a trace, independent of the power.",
             .source = "docs/formats.md, Temperature trace",
             .opts = opts,
             .state_size = sizeof(struct options)},
    .model_create = model_create,
    .model_destroy = model_destroy,
    .create = create,
    .destroy = destroy,
    .step = step,
    .prepare = prepare,
    .steady = steady,
    .read = read_now,
    .set_convection = set_convection,
    .predict = predict,
    .snapshot_size = snapshot_size,
    .save = save,
    .restore = restore,
};

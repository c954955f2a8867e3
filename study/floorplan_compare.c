#include "study/floorplan_compare.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/config.h"
#include "core/base/os.h"
#include "core/base/text.h"
#include "run/input/data.h"
#include "run/run.h"
#include "study/pool.h"

enum { PEAK, GRADIENT, SLOWDOWN, ENERGY, N_METRIC, SET_SIZE = 700 };
static const char *const metric_name[N_METRIC] = {"peak_temp_c", "gradient_c", "slowdown_pct", "energy_j"};

struct compare {
    const struct tmx_floorplan_compare *c;
    char suite[TMX_PATH_SIZE];
    char (*mix)[128]; /* [n_mix] */
    size_t n_mix;
    double (*value)[N_METRIC]; /* [n_file * n_mix] */
};

static enum tmx_status read_mixes(struct compare *s, struct tmx_err *err)
{
    struct tmx_config *cfg = NULL;
    enum tmx_status st = tmx_config_load(&cfg, s->suite, NULL, 0, err);
    const struct tmx_setting *mixes = st ? NULL : tmx_config_find(cfg, "mixes");
    const size_t n = tmx_setting_length(mixes);
    if (!st && (n == 0 || !tmx_config_find(cfg, "base"))) {
        st = tmx_fail_at(err, TMX_ECONFIG, s->suite, 0,
                         "a suite to compare floorplans on has mixes and a base");
    }
    s->mix = calloc((size_t)n + 1, sizeof *s->mix);
    if (!st && !s->mix) {
        st = tmx_fail(err, TMX_ENOMEM, "out of memory");
    }
    for (size_t i = 0; i < n && !st; i++) {
        const char *name = tmx_setting_text(tmx_setting_at(mixes, i));
        if (!name) {
            st = tmx_fail_setting(err, mixes, "mixes: expected names in quotes");
        } else {
            snprintf(s->mix[s->n_mix++], sizeof s->mix[0], "%s", name);
        }
    }
    tmx_config_close(cfg);
    return st;
}

static enum tmx_status run(void *ctx, size_t task, FILE *out, struct tmx_err *err)
{
    const struct compare *s = ctx;
    char set[3][SET_SIZE];
    struct tmx_config *cfg = NULL;
    struct tmx_run *r = NULL;
    snprintf(set[0], SET_SIZE, "base.floorplan=\"%s\"", s->c->file[task / s->n_mix]);
    snprintf(set[1], SET_SIZE, "base.mix=\"%s\"", s->mix[task % s->n_mix]);
    snprintf(set[2], SET_SIZE, "base.policy=\"%s\"", s->c->policy);
    const char *const sets[] = {set[0], set[1], set[2]};
    enum tmx_status st = tmx_config_load(&cfg, s->suite, sets, 3, err);
    st = st ? st : tmx_run_open(&r, tmx_config_find(cfg, "base"), err);
    st = st ? st : tmx_run_execute(r, NULL, err);
    for (size_t i = 0; i < N_METRIC && !st; i++) {
        for (const struct tmx_metric *m = tmx_metrics; m->name; m++) {
            char text[TMX_REAL_SIZE];
            if (strcmp(m->name, metric_name[i]) == 0) {
                tmx_real_print(text, m->value(r));
                fprintf(out, "%s ", text);
            }
        }
    }
    tmx_run_close(r);
    tmx_config_close(cfg);
    return st;
}

static enum tmx_status collect(void *ctx, const struct tmx_pool_result *r, struct tmx_err *err)
{
    struct compare *s = ctx;
    struct tmx_span rest = {r->bytes, r->bytes + r->n_byte}, field;
    if (r->status) {
        char text[1100];
        tmx_err_format(&r->err, text, sizeof text);
        return tmx_fail(err, r->status, "%s, %s: %s", s->c->file[r->task / s->n_mix],
                        s->mix[r->task % s->n_mix], text);
    }
    for (size_t i = 0; i < N_METRIC; i++) {
        tmx_assert(tmx_span_field(&rest, &field) && tmx_span_real(field, &s->value[r->task][i]));
    }
    return TMX_OK;
}

static enum tmx_status tabulate(const struct compare *s, struct tmx_table **t, struct tmx_err *err)
{
    static const struct tmx_column columns[] = {
        {"floorplan", TMX_COLUMN_TEXT, 0},    {"mixes", TMX_COLUMN_INT, 0},
        {"peak_temp_c", TMX_COLUMN_REAL, 2},  {"gradient_c", TMX_COLUMN_REAL, 2},
        {"slowdown_pct", TMX_COLUMN_REAL, 2}, {"energy_j", TMX_COLUMN_REAL, 0},
    };
    const enum tmx_status st = tmx_table_create(t, columns, sizeof columns / sizeof columns[0], err);
    for (size_t f = 0; f < s->c->n_file && !st; f++) {
        double peak = -INFINITY, gradient = 0, slowdown = 0, energy = 0;
        for (size_t m = 0; m < s->n_mix; m++) {
            const double *v = s->value[f * s->n_mix + m];
            peak = fmax(peak, v[PEAK]);
            gradient = fmax(gradient, v[GRADIENT]);
            slowdown += v[SLOWDOWN] / (double)s->n_mix;
            energy += v[ENERGY] / (double)s->n_mix;
        }
        tmx_table_text(*t, s->c->file[f]);
        tmx_table_int(*t, (int64_t)s->n_mix);
        tmx_table_real(*t, peak);
        tmx_table_real(*t, gradient);
        tmx_table_real(*t, slowdown);
        tmx_table_real(*t, energy);
    }
    return st;
}

static enum tmx_status save(const struct tmx_floorplan_compare *c, const struct tmx_table *t,
                            struct tmx_err *err)
{
    char path[1200];
    enum tmx_status st = tmx_table_save(t, c->format, "-", err);
    if (!st && c->out_dir) {
        snprintf(path, sizeof path, "%s/table.csv", c->out_dir);
        st = tmx_os_mkdirs(c->out_dir, err);
        st = st ? st : tmx_table_save(t, TMX_FORMAT_CSV, path, err);
    }
    return st;
}

enum tmx_status tmx_floorplan_compare(const struct tmx_floorplan_compare *c, struct tmx_err *err)
{
    struct compare s = {.c = c};
    struct tmx_table *t = NULL;
    enum tmx_status st = tmx_data_find(TMX_DATA_SUITE, c->suite, s.suite, err);
    st = st ? st : read_mixes(&s, err);
    s.value = calloc(c->n_file * s.n_mix + 1, sizeof *s.value);
    if (!st && !s.value) {
        st = tmx_fail(err, TMX_ENOMEM, "out of memory");
    }
    const struct tmx_pool pool = {.n_task = c->n_file * s.n_mix,
                                  .n_worker = c->n_worker,
                                  .noun = "runs",
                                  .ctx = &s,
                                  .run = run,
                                  .collect = collect};
    st = st ? st : tmx_pool_run(&pool, err);
    st = st ? st : tabulate(&s, &t, err);
    st = st ? st : save(c, t, err);
    tmx_table_destroy(t);
    free(s.value);
    free(s.mix);
    return st;
}

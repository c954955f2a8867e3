/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "study/floorplan_compare.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <thermix/policy.h>

#include "core/base/config.h"
#include "core/base/os.h"
#include "core/machine/floorplan_file.h"
#include "core/machine/machine.h"
#include "core/sim/recorder.h"
#include "run/load/data.h"
#include "study/study.h"

enum { PEAK, GRADIENT, SLOWDOWN, ENERGY, N_METRIC };
static const char *const metric_name[N_METRIC] = {"peak_temp_c", "gradient_c", "slowdown_pct", "energy_j"};

struct compare {
    const struct tmx_floorplan_compare *c;
    char suite[TMX_PATH_SIZE];
    char (*mix)[TMX_PATH_SIZE]; /* [n_mix] */
    size_t n_mix;
    struct tmx_floorplan *floorplan; /* [n_file] */
    size_t most_unit;
    struct tmx_run_values runs; /* [n_file * n_mix], values: the metrics, then those of the units */
};

/* The floorplans' geometry, which the runs check against the chip. */
static enum tmx_status read_floorplans(struct compare *s, struct tmx_err *err)
{
    enum tmx_status st = TMX_OK;
    s->floorplan = calloc(s->c->n_file, sizeof *s->floorplan);
    if (!s->floorplan) {
        return tmx_fail(err, TMX_ENOMEM, "floorplans");
    }
    for (size_t f = 0; f < s->c->n_file && !st; f++) {
        st = tmx_flp_read(s->c->file[f], &s->floorplan[f], err);
        s->most_unit = s->floorplan[f].n_unit > s->most_unit ? s->floorplan[f].n_unit : s->most_unit;
    }
    return st;
}

static enum tmx_status sets(const void *ctx, size_t task, struct tmx_sets *set, struct tmx_err *err)
{
    const struct compare *s = ctx;
    enum tmx_status st =
        tmx_sets_add(set, NULL, 0, err, "base.floorplan=\"%s\"", s->c->file[task / s->n_mix]);
    st = st ? st : tmx_sets_add(set, NULL, 0, err, "base.mix=\"%s\"", s->mix[task % s->n_mix]);
    return st ? st : tmx_sets_add(set, NULL, 0, err, "base.policy=\"%s\"", s->c->policy);
}

static void read_units(void *ctx, const struct tmx_run *run, double *value)
{
    const struct compare *s = ctx;
    const struct tmx_recorder *r = tmx_sim_recorder(tmx_run_sim_const(run));
    for (size_t u = 0; u < s->most_unit && u < r->n_unit && r->n_tick > 0; u++) {
        value[u] = r->sum_k[u] / (double)r->n_tick - TMX_ZERO_C;
    }
}

/* All runs, in memory. */
static enum tmx_status run_all(struct compare *s, struct tmx_err *err)
{
    const char **unit = calloc(s->most_unit, sizeof *unit);
    char(*name)[32] = calloc(s->most_unit, sizeof *name);
    for (size_t u = 0; unit && name && u < s->most_unit; u++) {
        snprintf(name[u], sizeof name[u], "unit_%zu_c", u);
        unit[u] = name[u];
    }
    const struct tmx_probe probe = {.ctx = s, .n = s->most_unit, .column = unit, .read = read_units};
    const struct tmx_runs runs = {.name = "floorplans",
                                  .doc = "",
                                  .method = "",
                                  .file = s->suite,
                                  .base = s->suite,
                                  .group = "base",
                                  .n_point = s->c->n_file * s->n_mix,
                                  .ctx = s,
                                  .sets = sets,
                                  .probe = &probe,
                                  .suite = true};
    const struct tmx_study_options o = {.n_worker = s->c->n_worker, .noun = "runs", TMX_STUDY_WHOLE};
    enum tmx_status st = unit && name ? TMX_OK : tmx_no_memory(err);
    st = st ? st : tmx_study_values(&s->runs, &runs, &o, err);
    for (size_t i = 0; i < s->runs.n_point && !st; i++) {
        if (s->runs.error[i]) {
            st = tmx_fail(err, TMX_ESOLVE, "%s, %s: %s", s->c->file[i / s->n_mix], s->mix[i % s->n_mix],
                          s->runs.error[i]);
        }
    }
    free(unit);
    free(name);
    return st;
}

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
        st = tmx_no_memory(err);
    }
    for (size_t i = 0; i < n && !st; i++) {
        const char *name = tmx_setting_text(tmx_setting_at(mixes, i));
        if (!name) {
            st = tmx_fail_setting(err, mixes, "mixes: expected names in quotes");
        } else {
            st = tmx_data_name_for(TMX_DATA_MIX, tmx_setting_at(mixes, i), name, s->mix[s->n_mix++], err);
        }
    }
    tmx_config_close(cfg);
    return st;
}

static enum tmx_status tabulate(const struct compare *s, struct tmx_table **t, struct tmx_err *err)
{
    static const struct tmx_column columns[] = {
        {"floorplan", TMX_COLUMN_TEXT, 0},    {"mixes", TMX_COLUMN_INT, 0},
        {"peak_temp_c", TMX_COLUMN_REAL, 2},  {"gradient_c", TMX_COLUMN_REAL, 2},
        {"slowdown_pct", TMX_COLUMN_REAL, 2}, {"energy_j", TMX_COLUMN_REAL, 0},
    };
    size_t index[N_METRIC];
    for (size_t i = 0; i < N_METRIC; i++) {
        index[i] = tmx_study_metric(metric_name[i]);
    }
    const enum tmx_status st = tmx_table_create(t, columns, sizeof columns / sizeof columns[0], err);
    for (size_t f = 0; f < s->c->n_file && !st; f++) {
        double peak = -INFINITY, gradient = 0, slowdown = 0, energy = 0;
        for (size_t m = 0; m < s->n_mix; m++) {
            const double *v = &s->runs.value[(f * s->n_mix + m) * s->runs.n_value];
            peak = fmax(peak, v[index[PEAK]]);
            gradient = fmax(gradient, v[index[GRADIENT]]);
            slowdown += v[index[SLOWDOWN]] / (double)s->n_mix;
            energy += v[index[ENERGY]] / (double)s->n_mix;
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

/* Every unit of every floorplan with its temperature, the mean over time and mixes. */
static enum tmx_status tabulate_units(const struct compare *s, struct tmx_table **t, struct tmx_err *err)
{
    static const struct tmx_column columns[] = {
        {"floorplan", TMX_COLUMN_TEXT, 0},  {"unit", TMX_COLUMN_TEXT, 0},
        {"left_mm", TMX_COLUMN_REAL, 4},    {"right_mm", TMX_COLUMN_REAL, 4},
        {"bottom_mm", TMX_COLUMN_REAL, 4},  {"top_mm", TMX_COLUMN_REAL, 4},
        {"mean_temp_c", TMX_COLUMN_REAL, 3}};
    const enum tmx_status st = tmx_table_create(t, columns, sizeof columns / sizeof columns[0], err);
    for (size_t f = 0; f < s->c->n_file && !st; f++) {
        for (size_t u = 0; u < s->floorplan[f].n_unit; u++) {
            const struct tmx_unit *unit = &s->floorplan[f].unit[u];
            double sum_c = 0;
            for (size_t m = 0; m < s->n_mix; m++) {
                sum_c += s->runs.value[(f * s->n_mix + m) * s->runs.n_value + tmx_study_metrics() + u];
            }
            tmx_table_text(*t, s->c->file[f]);
            tmx_table_text(*t, unit->name);
            tmx_table_real(*t, 1e3 * unit->x_m);
            tmx_table_real(*t, 1e3 * (unit->x_m + unit->w_m));
            tmx_table_real(*t, 1e3 * unit->y_m);
            tmx_table_real(*t, 1e3 * (unit->y_m + unit->h_m));
            tmx_table_real(*t, sum_c / (double)s->n_mix);
        }
    }
    return st;
}

static enum tmx_status save(const struct tmx_floorplan_compare *c, const struct tmx_table *t,
                            const struct tmx_table *units, struct tmx_err *err)
{
    enum tmx_status st = tmx_table_save(t, c->format, "-", err);
    if (!st && c->out_dir) {
        st = tmx_table_save_in(t, c->out_dir, "table.csv", err);
        st = st ? st : tmx_table_save_in(units, c->out_dir, "units.csv", err);
    }
    return st;
}

enum tmx_status tmx_floorplan_compare(const struct tmx_floorplan_compare *c, struct tmx_err *err)
{
    struct compare s = {.c = c};
    struct tmx_table *t = NULL, *units = NULL;
    enum tmx_status st = tmx_data_find(TMX_DATA_SUITE, c->suite, s.suite, err);
    st = st ? st : read_mixes(&s, err);
    st = st ? st : read_floorplans(&s, err);
    st = st ? st : run_all(&s, err);
    st = st ? st : tabulate(&s, &t, err);
    st = st ? st : tabulate_units(&s, &units, err);
    st = st ? st : save(c, t, units, err);
    tmx_table_destroy(t);
    tmx_table_destroy(units);
    for (size_t f = 0; s.floorplan && f < c->n_file; f++) {
        tmx_floorplan_finish(&s.floorplan[f]);
    }
    free(s.floorplan);
    tmx_run_values_finish(&s.runs);
    free(s.mix);
    return st;
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "study/seeds.h"

#include <math.h>
#include <string.h>

#include "core/base/os.h"
#include "study/analysis/pivot.h"
#include "study/study.h"

struct seeds {
    const struct tmx_seeds *call;
    int64_t first;
};

static struct tmx_scalar value_of(const void *ctx, size_t point, size_t key)
{
    const struct seeds *s = ctx;
    (void)key;
    return TMX_INTEGER_VALUE(s->first + (int64_t)point);
}

static enum tmx_status sets_of(const void *ctx, size_t point, struct tmx_sets *sets, struct tmx_err *err)
{
    const struct seeds *s = ctx;
    const enum tmx_status st = tmx_sets_join(sets, s->call->sets, "", err);
    return st ? st : tmx_sets_put(sets, "seed", value_of(ctx, point, 0), NULL, 0, err);
}

static enum tmx_status first_seed(struct seeds *s, struct tmx_err *err)
{
    struct tmx_config *cfg = NULL;
    struct tmx_run *run = NULL;
    double seed = 0;
    enum tmx_status st = tmx_config_load(&cfg, s->call->path, s->call->sets, err);
    st = st ? st : tmx_run_describe(&run, tmx_config_root(cfg), err);
    if (!st) {
        (void)tmx_setting_real(tmx_setting_find(tmx_run_settings(run), "seed"), &seed);
        s->first = (int64_t)seed;
        tmx_run_warn(run, stderr);
    }
    tmx_run_destroy(run);
    tmx_config_close(cfg);
    return st;
}

static void add_row(struct tmx_table *t, const struct tmx_run_values *v, size_t metric, bool zeros)
{
    const size_t n = v->n_point;
    double sum = 0, square = 0, low = INFINITY, high = -INFINITY;
    for (size_t i = 0; i < n; i++) {
        const double x = v->value[i * v->n_value + metric];
        sum += x;
        low = fmin(low, x);
        high = fmax(high, x);
    }
    if (!isfinite(sum) ||
        (!zeros && low == 0 && high == 0 && strcmp(tmx_metrics[metric].name, "slowdown_pct") != 0)) {
        return;
    }
    for (size_t i = 0; i < n; i++) {
        const double d = v->value[i * v->n_value + metric] - sum / (double)n;
        square += d * d;
    }
    const double sd = n > 1 ? sqrt(square / (double)(n - 1)) : NAN;
    tmx_table_text(t, tmx_metrics[metric].name);
    tmx_table_real(t, sum / (double)n);
    n > 1 ? tmx_table_real(t, sd) : tmx_table_empty(t);
    n > 1 ? tmx_table_real(t, tmx_ci95(sd, n)) : tmx_table_empty(t);
    tmx_table_int(t, (int64_t)n);
    tmx_table_real(t, low);
    tmx_table_real(t, high);
}

enum tmx_status tmx_seeds_table(struct tmx_table **t, const struct tmx_seeds *call, struct tmx_err *err)
{
    static const struct tmx_column columns[] = {{"metric", TMX_COLUMN_TEXT, 0}, {"mean", TMX_COLUMN_REAL, 3},
                                                {"sd", TMX_COLUMN_REAL, 4},     {"ci95", TMX_COLUMN_REAL, 4},
                                                {"n", TMX_COLUMN_INT, 0},       {"min", TMX_COLUMN_REAL, 3},
                                                {"max", TMX_COLUMN_REAL, 3}};
    static const char *const keys[] = {"seed"};
    struct seeds s = {.call = call};
    struct tmx_run_values v = {0};
    char path[TMX_PATH_SIZE];
    *t = NULL;
    enum tmx_status st = first_seed(&s, err);
    if (!st && call->dir) {
        st = tmx_os_mkdirs(call->dir, err);
        st = st ? st : tmx_path_join(path, call->dir, TMX_SUITE_RESULTS, err);
    }
    const struct tmx_runs runs = {.name = "seeds",
                                  .doc = "",
                                  .method = "",
                                  .file = call->path,
                                  .base = call->path,
                                  .n_point = (size_t)call->n,
                                  .n_key = 1,
                                  .key = keys,
                                  .ctx = &s,
                                  .sets = sets_of,
                                  .value = value_of,
                                  .suite = true};
    const struct tmx_study_options o = {
        .path = call->dir ? path : NULL, .noun = call->quiet ? NULL : "runs", TMX_STUDY_WHOLE};
    st = st ? st : tmx_study_values(&v, &runs, &o, err);
    for (size_t i = 0; i < v.n_point && !st; i++) {
        if (v.error[i]) {
            st = tmx_fail(err, TMX_ESOLVE, "seed %lld: %s", (long long)(s.first + (int64_t)i), v.error[i]);
        }
    }
    st = st ? st : tmx_table_create(t, columns, sizeof columns / sizeof columns[0], err);
    for (size_t m = 0; m < tmx_study_metrics() && !st; m++) {
        add_row(*t, &v, m, call->zeros);
    }
    tmx_run_values_finish(&v);
    return st;
}

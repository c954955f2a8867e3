/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "study/run_point.h"

#include "core/base/config.h"
#include "run/run.h"

static enum tmx_status open_with(enum tmx_status (*open)(struct tmx_run **, const struct tmx_setting *,
                                                         struct tmx_err *),
                                 struct tmx_run **run, const struct tmx_point *p, struct tmx_err *err)
{
    struct tmx_config *cfg = NULL;
    *run = NULL;
    enum tmx_status st = tmx_config_load(&cfg, p->base, p->set, p->n_set, err);
    st = st ? st : open(run, tmx_config_root(cfg), err);
    tmx_config_close(cfg);
    return st;
}

static enum tmx_status resolve(void *ctx, const struct tmx_point *p, FILE *out, struct tmx_err *err)
{
    struct tmx_run *run = NULL;
    (void)ctx;
    const enum tmx_status st = open_with(tmx_run_describe, &run, p, err);
    if (!st) { /* the id covers the files that the configuration names */
        fprintf(out, "%s# run %s\n", tmx_run_resolved(run), tmx_run_id(run));
    }
    tmx_run_destroy(run);
    return st;
}

static enum tmx_status simulate(void *ctx, const struct tmx_point *p, struct tmx_measures *m,
                                struct tmx_err *err)
{
    struct tmx_run *run = NULL;
    (void)ctx;
    enum tmx_status st = open_with(tmx_run_create, &run, p, err);
    st = st ? st : tmx_run_execute(run, NULL, err);
    for (const struct tmx_metric *k = tmx_metrics; k->name && !st; k++) {
        st = tmx_measures_add(m, k->name, k->value(run), err);
    }
    tmx_run_destroy(run);
    return st;
}

const struct tmx_runner tmx_run_point = {NULL, resolve, simulate};

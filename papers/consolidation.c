/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Paper 004: its tables and curves beside our predictions. What the paper prints stands in the batches' and
 * the suite's files. */
#include "papers/consolidation.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/config.h"
#include "core/base/opt.h"
#include "core/base/os.h"
#include "run/load/data.h"

struct base {
    char node[TMX_PATH_SIZE];
    char training[TMX_PATH_SIZE];
};
static const struct tmx_opt base_opts[] = {
    TMX_ROW_NAME(base, node, "c1060", "the node's name or file"),
    TMX_ROW_NAME(base, training, "workloads/training/rodinia_c1060.csv", "training table of the power model"),
    {0},
};

static const struct tmx_column columns[] = {
    {"table", TMX_COLUMN_TEXT, 0},
    {"case", TMX_COLUMN_TEXT, 0},
    {"setup", TMX_COLUMN_TEXT, 0},
    {"instances", TMX_COLUMN_INT, 0},
    {"time_s", TMX_COLUMN_REAL, 2},
    {"power_w", TMX_COLUMN_REAL, 1},
    {"energy_j", TMX_COLUMN_REAL, 0},
    {"paper_time_s", TMX_COLUMN_REAL, 1},
    {"paper_energy_j", TMX_COLUMN_REAL, 0},
    {"time_error_percent", TMX_COLUMN_REAL, 2},
    {"energy_error_percent", TMX_COLUMN_REAL, 2},
};

static void known(struct tmx_table *t, double value)
{
    value > 0 ? tmx_table_real(t, value) : tmx_table_empty(t);
}

static void off_percent(struct tmx_table *t, double ours, double paper)
{
    paper > 0 ? tmx_table_real(t, 100 * (ours / paper - 1)) : tmx_table_empty(t);
}

/* One setup of some instances, where the models have something to say. */
static void add_row(const struct tmx_consolidation *s, struct tmx_table *t, const char *table,
                    const char *name, const struct tmx_instances *i, enum tmx_setup setup)
{
    const struct tmx_batch b = {&s->data.node, s->data.kind, s->data.n_kind, i->count};
    const double time_s = tmx_consolidation_measured_s(s, i, setup),
                 energy_j = tmx_consolidation_measured_j(s, i, setup);
    struct tmx_prediction p;
    if (!tmx_consolidation_predict(s, i, setup, &p)) {
        return;
    }
    tmx_table_text(t, table);
    tmx_table_text(t, name);
    tmx_table_text(t, tmx_setups[setup]);
    tmx_table_int(t, (int64_t)tmx_batch_instances(&b));
    known(t, p.time_s);
    known(t, p.power_w);
    known(t, p.energy_j);
    known(t, time_s);
    known(t, energy_j);
    off_percent(t, p.time_s, time_s);
    off_percent(t, p.energy_j, energy_j);
}

static void add_batch(const struct tmx_consolidation *s, struct tmx_table *t, const struct tmx_job_batch *b)
{
    struct tmx_instances i = {.batch = b};
    memcpy(i.count, b->count, sizeof i.count);
    for (size_t k = 0; k < s->data.n_kind; k++) {
        struct tmx_instances one = {.kind = k};
        if (b->count[k] > 0 && s->data.measured_w[k] > 0) {
            one.count[k] = 1;
            add_row(s, t, b->time_table, s->data.kind[k].name, &one, TMX_SETUP_SINGLE);
        }
    }
    for (int setup = TMX_SETUP_CPU; setup <= TMX_SETUP_SERIAL; setup++) {
        const bool printed = tmx_consolidation_measured_s(s, &i, (enum tmx_setup)setup) > 0;
        if (printed || setup == TMX_SETUP_MANUAL || setup == TMX_SETUP_SERIAL) {
            add_row(s, t, b->time_table, b->name, &i, (enum tmx_setup)setup);
        }
    }
}

/* Figures 1, 7 and 8: instances of one kind, in units of one instance on the CPU. */
static enum tmx_status add_curves(struct tmx_consolidation *s, struct tmx_table *t, struct tmx_err *err)
{
    static const struct {
        const char *figure, *name, *kind;
        size_t most;
    } figures[] = {{"Figure 1 and 7", "encryption", "encryption:table1", 15},
                   {"Figure 8", "sorting", "sorting:table1", 12}};
    for (size_t f = 0; f < 2; f++) {
        struct tmx_instances i;
        const enum tmx_status st = tmx_consolidation_find(s, figures[f].kind, &i, err);
        if (st) {
            return st;
        }
        for (size_t n = 1; n <= figures[f].most; n++) {
            i.count[i.kind] = n;
            add_row(s, t, figures[f].figure, figures[f].name, &i, TMX_SETUP_CPU);
            add_row(s, t, figures[f].figure, figures[f].name, &i, TMX_SETUP_MANUAL);
            add_row(s, t, figures[f].figure, figures[f].name, &i, TMX_SETUP_SERIAL);
        }
    }
    return TMX_OK;
}

static enum tmx_status open_suite(struct tmx_consolidation *s, const struct tmx_suite_call *call,
                                  const struct tmx_value_source *values, struct tmx_err *err)
{
    static const char *const root_keys[] = {"name", "kind",    "doc",    "source",
                                            "base", "batches", "values", NULL};
    static const struct tmx_opt none[] = {{0}};
    const struct tmx_setting *list;
    struct base base;
    char path[TMX_PATH_SIZE];
    struct tmx_training train = {0};
    enum tmx_status st = tmx_opt_read(none, NULL, call->root, root_keys, err);
    st = st ? st : tmx_opt_read_group(base_opts, &base, call->root, "base", NULL, err);
    st = st ? st : tmx_setting_texts(call->root, "batches", 1, TMX_CONSOLIDATION_BATCHES, &list, err);
    st = st ? st
            : tmx_setting_blame(tmx_setting_member(call->root, "base"),
                                tmx_job_data_load(&s->data, base.node, NULL, 0, err), err);
    for (size_t i = 0; !st && i < tmx_setting_length(list); i++) {
        const struct tmx_setting *e = tmx_setting_at(list, i);
        st = tmx_data_name_for(TMX_DATA_BATCH, e, tmx_setting_text(e), path, err);
        st = st ? st : tmx_setting_blame(e, tmx_job_batch_load(&s->data, path, &s->batch[i], err), err);
        s->n_batch += !st;
    }
    if (!st && tmx_os_exists(base.training)) {
        memcpy(path, base.training, sizeof path);
    } else {
        st = st ? st : tmx_data_file(base.training, path, err);
    }
    st = st ? st : tmx_training_load(&train, path, err);
    st = st ? st : tmx_power_fit(&train, &s->fit, err);
    tmx_training_finish(&train);
    st = st ? st : tmx_values_check(call->root, values, err);
    if (!st) {
        tmx_consolidation_fit_base(s);
    }
    return st;
}

static enum tmx_status tabulate(struct tmx_consolidation *s, struct tmx_table **t, struct tmx_err *err)
{
    const enum tmx_status st = tmx_table_create(t, columns, sizeof columns / sizeof columns[0], err);
    for (size_t i = 0; !st && i < s->n_batch; i++) {
        add_batch(s, *t, &s->batch[i]);
    }
    return st ? st : add_curves(s, *t, err);
}

enum tmx_status tmx_suite_consolidation(const struct tmx_suite_call *call, struct tmx_err *err)
{
    struct tmx_consolidation *s = calloc(1, sizeof *s);
    struct tmx_table *table = NULL, *paper = NULL;
    if (!s) {
        return tmx_fail(err, TMX_ENOMEM, "suite");
    }
    const struct tmx_value_source values = {.ctx = s,
                                            .paper = "004",
                                            .policy = "single",
                                            .n_seed = 1,
                                            .check = tmx_consolidation_check,
                                            .number = tmx_consolidation_number};
    enum tmx_status st = open_suite(s, call, &values, err);
    if (!st && !call->check) {
        st = tabulate(s, &table, err);
        st = st ? st : tmx_values_table(call->root, &values, &paper, NULL, err);
        st = st ? st : tmx_suite_write(call, table, paper, NULL, err);
    }
    tmx_table_destroy(table);
    tmx_table_destroy(paper);
    tmx_power_fit_finish(&s->fit);
    tmx_job_data_finish(&s->data);
    free(s);
    return st;
}

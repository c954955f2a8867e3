/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Paper 004: what its tables print beside our predictions. */
#include "papers/consolidation.h"

#include <math.h>
#include <string.h>

#include "core/base/config.h"
#include "core/base/opt.h"
#include "power/regress.h"
#include "run/input/data.h"
#include "sched/job/decide.h"

enum { MAX_BATCH = 32 };

struct base {
    char node[128];
    char training[256];
};
static const struct tmx_opt base_opts[] = {
    TMX_ROW_TEXT(base, node, "c1060", "the node's name or file"),
    TMX_ROW_TEXT(base, training, "workloads/training/rodinia_c1060.csv", "training table of the power model"),
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
    {"status", TMX_COLUMN_TEXT, 0},
};

static void known(struct tmx_table *t, double value)
{
    if (value > 0) {
        tmx_table_real(t, value);
    } else {
        tmx_table_empty(t);
    }
}

static void off_percent(struct tmx_table *t, double ours, double paper)
{
    if (paper > 0) {
        tmx_table_real(t, 100 * (ours / paper - 1));
    } else {
        tmx_table_empty(t);
    }
}

void tmx_consolidation_row(struct tmx_consolidation *s, const struct tmx_consolidation_row *r)
{
    static const char *const word[] = {"calibrated", "prediction", "input", "not_reproduced"};
    struct tmx_table *t = s->table;
    tmx_table_text(t, r->table);
    tmx_table_text(t, r->name);
    tmx_table_text(t, r->setup);
    tmx_table_int(t, (int64_t)r->instances);
    known(t, r->ours->time_s);
    known(t, r->ours->power_w);
    known(t, r->ours->energy_j);
    known(t, r->paper_time_s);
    known(t, r->paper_energy_j);
    off_percent(t, r->ours->time_s, r->paper_time_s);
    off_percent(t, r->ours->energy_j, r->paper_energy_j);
    tmx_table_text(t, word[r->status]);
}

void tmx_consolidation_paper(struct tmx_consolidation *s, const char *figure, const char *quantity,
                             const char *name, const char *unit, double paper, double ours,
                             enum tmx_paper_status status)
{
    const struct tmx_paper_row row = {.paper = "004",
                                      .figure = figure,
                                      .quantity = quantity,
                                      .condition = name,
                                      .unit = unit,
                                      .paper_value = isfinite(paper) ? &paper : NULL,
                                      .ours = ours,
                                      .status = status};
    tmx_paper_add(s->paper, &row);
}

/* A prediction outside [low, high] relative error is not reproduced. */
static enum tmx_paper_status judged(enum tmx_paper_status status, double ours, double paper, double low,
                                    double high)
{
    const double e = ours / paper - 1;
    return status == TMX_PAPER_PREDICTION && (e < low || e > high) ? TMX_PAPER_NOT_REPRODUCED : status;
}

/* One setup of one batch: a row of the table, two values of the paper. */
static void setup(struct tmx_consolidation *s, const struct tmx_job_batch *b, const char *name,
                  const struct tmx_prediction *ours, double time_s, double energy_j,
                  enum tmx_paper_status status)
{
    const bool serial = strcmp(name, "serial") == 0;
    const struct tmx_batch batch = {&s->data.node, s->data.kind, s->data.n_kind, b->count};
    char what[128];
    snprintf(what, sizeof what, "%.60s %.30s", b->name, name);
    const enum tmx_paper_status of_time =
        time_s > 0 ? judged(serial ? TMX_PAPER_INPUT : status, ours->time_s, time_s, -0.12, 0.12) : status;
    const enum tmx_paper_status of_energy =
        energy_j > 0 ? judged(status, ours->energy_j, energy_j, serial ? -0.10 : -0.05, serial ? 0.02 : 0.05)
                     : status;
    const struct tmx_consolidation_row row = {.table = b->time_table,
                                              .name = b->name,
                                              .setup = name,
                                              .instances = tmx_batch_instances(&batch),
                                              .ours = ours,
                                              .paper_time_s = time_s,
                                              .paper_energy_j = energy_j,
                                              .status = of_energy};
    tmx_consolidation_row(s, &row);
    if (time_s > 0) {
        tmx_consolidation_paper(s, b->time_table, "time", what, "s", time_s, ours->time_s, of_time);
    }
    if (energy_j > 0) {
        tmx_consolidation_paper(s, b->energy_table, "energy", what, "J", energy_j, ours->energy_j, of_energy);
    }
}

/* The instances alone: what Tables 2 and 3 print of them is input. */
static void singles(struct tmx_consolidation *s, const struct tmx_job_batch *b)
{
    for (size_t k = 0; k < s->data.n_kind; k++) {
        size_t one[TMX_KIND_MAX] = {0};
        const struct tmx_batch alone = {&s->data.node, s->data.kind, s->data.n_kind, one};
        struct tmx_prediction p;
        if (b->count[k] == 0 || s->data.measured_w[k] <= 0) {
            continue;
        }
        one[k] = 1;
        tmx_serial_predict(&alone, s->data.node.reference_c, &p);
        const double energy_j = s->data.measured_w[k] * s->data.kind[k].gpu_time_s;
        const struct tmx_consolidation_row row = {.table = b->time_table,
                                                  .name = s->data.kind[k].name,
                                                  .setup = "single",
                                                  .instances = 1,
                                                  .ours = &p,
                                                  .paper_time_s = p.time_s,
                                                  .paper_energy_j = energy_j,
                                                  .status = TMX_PAPER_INPUT};
        tmx_consolidation_row(s, &row);
        tmx_consolidation_paper(s, b->time_table, "time", s->data.kind[k].name, "s", p.time_s, p.time_s,
                                TMX_PAPER_INPUT);
        tmx_consolidation_paper(s, b->time_table, "energy", s->data.kind[k].name, "J", energy_j, p.energy_j,
                                TMX_PAPER_INPUT);
    }
}

static void headline(struct tmx_consolidation *s, const struct tmx_job_batch *b,
                     const struct tmx_prediction *dynamic, double time_ratio, double energy_ratio)
{
    const double ours[] = {b->measured.cpu_time_s / dynamic->time_s,
                           b->measured.cpu_energy_j / dynamic->energy_j};
    tmx_consolidation_paper(s, "section VIII", "CPU time over merged time", b->name, "1", time_ratio, ours[0],
                            judged(TMX_PAPER_PREDICTION, ours[0], time_ratio, -0.12, 0.12));
    tmx_consolidation_paper(s, "section VIII", "CPU energy over merged energy", b->name, "1", energy_ratio,
                            ours[1], judged(TMX_PAPER_PREDICTION, ours[1], energy_ratio, -0.05, 0.05));
}

/* Section III and VIII: 1 merge, 0 do not. */
static void decision(struct tmx_consolidation *s, const struct tmx_job_batch *b,
                     const struct tmx_batch *batch)
{
    struct tmx_verdict v;
    const struct tmx_prediction cpu = {.time_s = b->measured.cpu_time_s,
                                       .energy_j = b->measured.cpu_energy_j};
    char what[128];
    tmx_decide(batch, s->data.tmpl, s->data.n_tmpl, cpu.energy_j > 0 ? &cpu : NULL, s->data.node.reference_c,
               &v);
    const bool merge = strcmp(b->decision, "merge") == 0;
    snprintf(what, sizeof what, "%.60s (gain %.1f %% +- %.1f %%%s)", b->name, 100 * v.gain,
             100 * s->data.node.uncertainty, v.sure ? "" : ", not sure");
    const enum tmx_paper_status status =
        merge == (v.choice == TMX_MERGE) && v.sure ? TMX_PAPER_PREDICTION : TMX_PAPER_NOT_REPRODUCED;
    tmx_consolidation_paper(s, b->time_table, "decision to merge", what, "1", merge, v.choice == TMX_MERGE,
                            status);
}

static void one_batch(struct tmx_consolidation *s, const struct tmx_job_batch *b)
{
    const struct tmx_batch batch = {&s->data.node, s->data.kind, s->data.n_kind, b->count};
    const struct tmx_job_measured *m = &b->measured;
    const struct tmx_template *tmpl = tmx_template_for(&batch, s->data.tmpl, s->data.n_tmpl);
    const double temp_c = s->data.node.reference_c;
    const enum tmx_paper_status status = b->calibrated ? TMX_PAPER_CALIBRATED : TMX_PAPER_PREDICTION;
    struct tmx_prediction p;
    singles(s, b);
    if (m->cpu_time_s > 0 && tmx_cpu_predict(&batch, &p)) { /* two numbers a table fitted to its CPU column */
        setup(s, b, "cpu", &p, m->cpu_time_s, m->cpu_energy_j, TMX_PAPER_CALIBRATED);
    }
    if (tmx_merge_predict(&batch, tmpl, false, temp_c, &p, NULL) == TMX_FITS) {
        setup(s, b, "manual", &p, m->manual_time_s, m->manual_energy_j, status);
    }
    if (m->dynamic_time_s > 0 && tmx_merge_predict(&batch, tmpl, true, temp_c, &p, NULL) == TMX_FITS) {
        setup(s, b, "dynamic", &p, m->dynamic_time_s, m->dynamic_energy_j, status);
        if (strcmp(b->name, "1S+20B") == 0) {
            headline(s, b, &p, 9.3, 9.9);
        } else if (strcmp(b->name, "5E+15M") == 0) {
            headline(s, b, &p, 19, 22);
        }
    }
    tmx_serial_predict(&batch, temp_c, &p);
    const bool printed = m->cpu_time_s > 0; /* scenarios: the serial values are sums of what is printed */
    setup(s, b, "serial", &p, printed ? m->serial_time_s : 0, printed ? m->serial_energy_j : 0,
          TMX_PAPER_PREDICTION);
    decision(s, b, &batch);
}

static enum tmx_status open_suite(struct tmx_consolidation *s, const struct base *base,
                                  const struct tmx_suite_call *call, struct tmx_job_batch *batch, size_t *n,
                                  struct tmx_err *err)
{
    const struct tmx_setting *list;
    enum tmx_status st = tmx_setting_texts(call->root, "batches", 1, MAX_BATCH, &list, err);
    st = st ? st
            : tmx_setting_blame(tmx_setting_member(call->root, "base"),
                                tmx_job_data_load(&s->data, base->node, NULL, 0, err), err);
    for (size_t i = 0; !st && i < tmx_setting_length(list); i++) {
        const struct tmx_setting *e = tmx_setting_at(list, i);
        st = tmx_setting_blame(e, tmx_job_batch_load(&s->data, tmx_setting_text(e), &batch[i], err), err);
    }
    *n = tmx_setting_length(list);
    return st;
}

static enum tmx_status fill(struct tmx_consolidation *s, const struct base *base,
                            const struct tmx_job_batch *batch, size_t n, struct tmx_err *err)
{
    char path[TMX_PATH_SIZE];
    struct tmx_training train = {0};
    struct tmx_power_fit fit = {0};
    enum tmx_status st = tmx_table_create(&s->table, columns, sizeof columns / sizeof columns[0], err);
    st = st ? st : tmx_paper_create(&s->paper, err);
    st = st ? st : tmx_consolidation_table1(s, err);
    for (size_t i = 0; !st && i < n; i++) {
        one_batch(s, &batch[i]);
    }
    st = st ? st : tmx_consolidation_curves(s, err);
    st = st ? st : tmx_data_file(base->training, path, err);
    st = st ? st : tmx_training_load(&train, path, err);
    st = st ? st : tmx_power_fit(&train, &fit, err);
    if (!st) {
        tmx_consolidation_times(s, batch, n);
        tmx_consolidation_power(s, batch, n, &fit);
    }
    tmx_power_fit_finish(&fit);
    tmx_training_finish(&train);
    return st;
}

enum tmx_status tmx_suite_consolidation(const struct tmx_suite_call *call, struct tmx_err *err)
{
    struct tmx_consolidation s = {0};
    struct base base;
    struct tmx_job_batch batch[MAX_BATCH];
    size_t n = 0;
    enum tmx_status st = tmx_opt_read_group(base_opts, &base, call->root, "base", NULL, err);
    if (st) {
        return st;
    }
    st = open_suite(&s, &base, call, batch, &n, err);
    if (!st && !call->check) {
        st = fill(&s, &base, batch, n, err);
        st = st ? st : tmx_suite_write(call, s.table, s.paper, NULL, err);
    }
    tmx_table_destroy(s.table);
    tmx_table_destroy(s.paper);
    tmx_job_data_finish(&s.data);
    return st;
}

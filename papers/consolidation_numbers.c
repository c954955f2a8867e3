/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The numbers of paper 004's suite, by instances, setup and column. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "papers/consolidation.h"
#include "sched/job/decide.h"

const char *const tmx_setups[] = {"cpu", "manual", "dynamic", "serial", "single", "events", NULL};

static struct tmx_batch batch_of(const struct tmx_consolidation *s, const struct tmx_instances *i)
{
    return (struct tmx_batch){&s->data.node, s->data.kind, s->data.n_kind, i->count};
}

bool tmx_consolidation_predict(const struct tmx_consolidation *s, const struct tmx_instances *i,
                               enum tmx_setup setup, struct tmx_prediction *p)
{
    const struct tmx_batch b = batch_of(s, i);
    const double temp_c = s->data.node.reference_c;
    *p = (struct tmx_prediction){0};
    switch (setup) {
    case TMX_SETUP_CPU:
        return tmx_cpu_predict(&b, p);
    case TMX_SETUP_MANUAL:
    case TMX_SETUP_DYNAMIC:
        return tmx_merge_predict(&b, tmx_template_for(&b, s->data.tmpl, s->data.n_tmpl),
                                 setup == TMX_SETUP_DYNAMIC, temp_c, p, NULL) == TMX_FITS;
    case TMX_SETUP_SERIAL:
    case TMX_SETUP_SINGLE:
        tmx_serial_predict(&b, temp_c, p);
        return true;
    default:
        return false;
    }
}

double tmx_consolidation_measured_s(const struct tmx_consolidation *s, const struct tmx_instances *i,
                                    enum tmx_setup setup)
{
    if (!i->batch) {
        return setup == TMX_SETUP_SINGLE ? s->data.kind[i->kind].gpu_time_s : 0;
    }
    const struct tmx_job_measured *m = &i->batch->measured;
    const double time_s[TMX_SETUPS] = {m->cpu_time_s, m->manual_time_s, m->dynamic_time_s, m->serial_time_s};
    return time_s[setup];
}

double tmx_consolidation_measured_j(const struct tmx_consolidation *s, const struct tmx_instances *i,
                                    enum tmx_setup setup)
{
    if (!i->batch) {
        return setup == TMX_SETUP_SINGLE ? s->data.measured_w[i->kind] * s->data.kind[i->kind].gpu_time_s : 0;
    }
    const struct tmx_job_measured *m = &i->batch->measured;
    const double energy_j[TMX_SETUPS] = {m->cpu_energy_j, m->manual_energy_j, m->dynamic_energy_j,
                                         m->serial_energy_j};
    return energy_j[setup];
}

enum tmx_status tmx_consolidation_find(struct tmx_consolidation *s, const char *name, struct tmx_instances *i,
                                       struct tmx_err *err)
{
    *i = (struct tmx_instances){0};
    for (size_t b = 0; b < s->n_batch; b++) {
        if (strcmp(s->batch[b].name, name) == 0) {
            i->batch = &s->batch[b];
            memcpy(i->count, i->batch->count, sizeof i->count);
            return TMX_OK;
        }
    }
    char *rest;
    const long n = strtol(name, &rest, 10);
    const bool counted = rest != name && *rest == ' ' && n > 0 && n <= 1000;
    const enum tmx_status st = tmx_job_data_kind(&s->data, NULL, counted ? rest + 1 : name, &i->kind, err);
    if (!st) {
        i->count[i->kind] = counted ? (size_t)n : 1;
    }
    return st;
}

/* ---- Figure 5: GPU power, the system's less its idle power, from event rates ---- */

/* Mean event rates of the virtual average SM over time_s; the power above lambda they predict. */
static double events_w(const struct tmx_consolidation *s, const size_t *count, double time_s)
{
    double event[2] = {0};
    for (size_t k = 0; k < s->data.n_kind; k++) {
        const struct tmx_workload *w = &s->data.kind[k];
        const double blocks = (double)count[k] * w->blocks / s->data.node.sms * w->gpu_time_s / time_s;
        event[0] += blocks * s->data.event[k][0];
        event[1] += blocks * s->data.event[k][1];
    }
    return tmx_power_fit_predict_w(&s->fit, event) - s->fit.coefficient[0];
}

/* The setup whose power the paper's tables imply. */
static enum tmx_setup measured_setup(const struct tmx_instances *i)
{
    return i->batch ? TMX_SETUP_MANUAL : TMX_SETUP_SINGLE;
}

void tmx_consolidation_fit_base(struct tmx_consolidation *s)
{
    double sum = 0, n = 0;
    for (size_t b = 0; b < s->n_batch; b++) {
        const struct tmx_job_measured *m = &s->batch[b].measured;
        if (s->batch[b].calibrated && m->manual_time_s > 0) {
            sum += m->manual_energy_j / m->manual_time_s - events_w(s, s->batch[b].count, m->manual_time_s);
            n += 1;
        }
    }
    s->base_w = n > 0 ? sum / n : 0;
}

static double gpu_w(const struct tmx_consolidation *s, const struct tmx_instances *i)
{
    const double time_s = tmx_consolidation_measured_s(s, i, measured_setup(i));
    return time_s > 0 ? s->base_w - s->data.node.idle_w + events_w(s, i->count, time_s) : NAN;
}

/* Every SM's prediction added up, as if each were the average one of a GPU. */
static double added_gpu_w(const struct tmx_consolidation *s, const struct tmx_instances *i)
{
    const double time_s = tmx_consolidation_measured_s(s, i, measured_setup(i));
    return time_s > 0 ? s->base_w - s->data.node.idle_w + s->data.node.sms * events_w(s, i->count, time_s)
                      : NAN;
}

static double measured_gpu_w(const struct tmx_consolidation *s, const struct tmx_instances *i)
{
    const enum tmx_setup setup = measured_setup(i);
    const double time_s = tmx_consolidation_measured_s(s, i, setup),
                 energy_j = tmx_consolidation_measured_j(s, i, setup);
    return time_s > 0 && energy_j > 0 ? energy_j / time_s - s->data.node.idle_w : NAN;
}

/* Mean or largest |error| over everything measured to which nothing was fitted. */
static double power_error(const struct tmx_consolidation *s, bool largest)
{
    double sum = 0, most = 0, n = 0;
    for (size_t k = 0; k < s->data.n_kind + s->n_batch; k++) {
        struct tmx_instances i = {.kind = k};
        if (k < s->data.n_kind) {
            i.count[k] = 1;
        } else {
            i.batch = &s->batch[k - s->data.n_kind];
            memcpy(i.count, i.batch->count, sizeof i.count);
        }
        const double measured = measured_gpu_w(s, &i);
        if (isnan(measured) || (i.batch && i.batch->calibrated)) {
            continue;
        }
        const double off = 100 * fabs(gpu_w(s, &i) / measured - 1);
        sum += off;
        most = fmax(most, off);
        n += 1;
    }
    return n == 0 ? NAN : largest ? most : sum / n;
}

/* ---- by name ---- */

/* 1 merge, 0 do not; NAN: the models cannot decide. */
static double decision(const struct tmx_consolidation *s, const struct tmx_instances *i)
{
    const struct tmx_batch b = batch_of(s, i);
    const struct tmx_prediction cpu = {.time_s = tmx_consolidation_measured_s(s, i, TMX_SETUP_CPU),
                                       .energy_j = tmx_consolidation_measured_j(s, i, TMX_SETUP_CPU)};
    struct tmx_verdict v;
    tmx_decide(&b, s->data.tmpl, s->data.n_tmpl, cpu.energy_j > 0 ? &cpu : NULL, s->data.node.reference_c,
               &v);
    return v.sure ? v.choice == TMX_MERGE : NAN;
}

static double saved_pct(const struct tmx_consolidation *s, const struct tmx_instances *i,
                        enum tmx_setup setup, bool energy)
{
    struct tmx_prediction p, cpu;
    if (!tmx_consolidation_predict(s, i, setup, &p) ||
        !tmx_consolidation_predict(s, i, TMX_SETUP_CPU, &cpu)) {
        return NAN;
    }
    return 100 * (1 - (energy ? p.energy_j / cpu.energy_j : p.time_s / cpu.time_s));
}

enum column {
    TIME,
    ENERGY,
    MEASURED_TIME,
    MEASURED_ENERGY,
    TIME_SAVED,
    ENERGY_SAVED,
    SPEEDUP,
    DECISION,
    GPU_W,
    MEASURED_GPU_W,
    ADDED_GPU_W,
    MEAN_POWER_ERROR,
    LARGEST_POWER_ERROR,
    N_COLUMN
};
static const char *const column_names[] = {"time_s",
                                           "energy_j",
                                           "measured_time_s",
                                           "measured_energy_j",
                                           "time_saved_pct",
                                           "energy_saved_pct",
                                           "speedup",
                                           "decision",
                                           "gpu_w",
                                           "measured_gpu_w",
                                           "added_gpu_w",
                                           "mean_gpu_w_error_pct",
                                           "largest_gpu_w_error_pct",
                                           NULL};

static size_t word(const char *const *words, const char *w)
{
    size_t i = 0;
    while (words[i] && strcmp(words[i], w) != 0) {
        i++;
    }
    return i;
}

enum tmx_status tmx_consolidation_check(void *ctx, const struct tmx_pick *p, const struct tmx_setting *at,
                                        struct tmx_err *err)
{
    struct tmx_instances i;
    struct tmx_err why = {0};
    const size_t column = word(column_names, p->column);
    if (column == N_COLUMN) {
        return tmx_fail_setting(err, at, "values: no column \"%s\"", p->column);
    }
    if (word(tmx_setups, p->policy) == TMX_SETUPS) {
        return tmx_fail_setting(err, at, "values: policy \"%s\": expected a setup, such as cpu or manual",
                                p->policy);
    }
    if (column >= MEAN_POWER_ERROR) {
        return TMX_OK; /* over everything measured */
    }
    return tmx_consolidation_find(ctx, p->of, &i, &why) == TMX_OK
               ? TMX_OK
               : tmx_fail_setting(err, at, "values: \"%s\" is no batch of the suite, nor a kind: %s", p->of,
                                  why.msg);
}

double tmx_consolidation_number(void *ctx, const struct tmx_pick *p, size_t seed)
{
    struct tmx_consolidation *s = ctx;
    const enum tmx_setup setup = (enum tmx_setup)word(tmx_setups, p->policy);
    const enum column column = (enum column)word(column_names, p->column);
    struct tmx_instances i;
    struct tmx_prediction r;
    struct tmx_err none = {0};
    (void)seed;
    if (column == MEAN_POWER_ERROR || column == LARGEST_POWER_ERROR) {
        return power_error(s, column == LARGEST_POWER_ERROR);
    }
    if (tmx_consolidation_find(s, p->of, &i, &none)) {
        return NAN;
    }
    switch (column) {
    case TIME:
        return tmx_consolidation_predict(s, &i, setup, &r) ? r.time_s : NAN;
    case ENERGY:
        return tmx_consolidation_predict(s, &i, setup, &r) ? r.energy_j : NAN;
    case MEASURED_TIME:
        return tmx_consolidation_measured_s(s, &i, setup);
    case MEASURED_ENERGY:
        return tmx_consolidation_measured_j(s, &i, setup);
    case TIME_SAVED:
        return saved_pct(s, &i, setup, false);
    case ENERGY_SAVED:
        return saved_pct(s, &i, setup, true);
    case SPEEDUP:
        return 1 / s->data.kind[i.kind].gpu_time_s;
    case DECISION:
        return decision(s, &i);
    case GPU_W:
        return gpu_w(s, &i);
    case MEASURED_GPU_W:
        return measured_gpu_w(s, &i);
    case ADDED_GPU_W:
        return added_gpu_w(s, &i);
    default:
        return NAN;
    }
}

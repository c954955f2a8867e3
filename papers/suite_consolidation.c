/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Paper 004: its tables and curves beside our predictions. What the paper prints is in the batches' and
 * the suite's files. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/config.h"
#include "base/opt.h"
#include "base/os.h"
#include "base/text.h"
#include "papers/suite.h"
#include "papers/values.h"
#include "power/regress.h"
#include "run/load/data.h"
#include "run/load/job_files.h"
#include "sched/job/group.h"

/* ---- the numbers, by instances, setup and column ---- */

enum { BATCHES = 32 };

struct suite {
    struct tmx_job_data data;
    struct tmx_job_batch batch[BATCHES]; /* [n_batch] */
    size_t n_batch;
    struct tmx_power_fit fit; /* of the events, from the training table; owned */
    double base_w;            /* system power with no event: fitted to the calibrated batches */
};

/* Instances that a value or a row speaks of. */
struct instances {
    size_t count[TMX_KIND_MAX];
    size_t kind;                       /* of a single instance */
    const struct tmx_job_batch *batch; /* NULL: instances of one kind */
};

enum setup_kind { SETUP_CPU, SETUP_MANUAL, SETUP_DYNAMIC, SETUP_SERIAL, SETUP_SINGLE, SETUP_EVENTS, SETUPS };

static const char *const setups[] = {"cpu", "manual", "dynamic", "serial", "single", "events"};

static struct tmx_batch batch_of(const struct tmx_job_data *d, const size_t *count)
{
    return (struct tmx_batch){&d->node, d->kind, d->n_kind, count};
}

/* What the models say of a setup; false where they have nothing. */
static bool predict_at(const struct tmx_job_data *d, const size_t *count, enum setup_kind setup,
                       double temp_c, struct tmx_prediction *p)
{
    const struct tmx_batch b = batch_of(d, count);
    *p = (struct tmx_prediction){0};
    switch (setup) {
    case SETUP_CPU:
        return tmx_cpu_predict(&b, p);
    case SETUP_MANUAL:
    case SETUP_DYNAMIC:
        return tmx_merge_predict(&b, tmx_template_for(&b, d->tmpl, d->n_tmpl), setup == SETUP_DYNAMIC, temp_c,
                                 p, NULL) == TMX_FITS;
    case SETUP_SERIAL:
    case SETUP_SINGLE:
        tmx_serial_predict(&b, temp_c, p);
        return true;
    default:
        return false;
    }
}

static bool predict(const struct suite *s, const struct instances *i, enum setup_kind setup,
                    struct tmx_prediction *p)
{
    return predict_at(&s->data, i->count, setup, s->data.node.reference_c, p);
}

/* What the paper measured; 0: not printed. */
struct measured {
    double time_s, energy_j;
};

static struct measured batch_measured(const struct tmx_job_batch *b, enum setup_kind setup)
{
    const struct tmx_job_measured *m = &b->measured;
    const struct measured of[SETUPS] = {{m->cpu_time_s, m->cpu_energy_j},
                                        {m->manual_time_s, m->manual_energy_j},
                                        {m->dynamic_time_s, m->dynamic_energy_j},
                                        {m->serial_time_s, m->serial_energy_j}};
    return of[setup];
}

static struct measured measured(const struct suite *s, const struct instances *i, enum setup_kind setup)
{
    const double alone_s = s->data.kind[i->kind].gpu_time_s;
    return i->batch                ? batch_measured(i->batch, setup)
           : setup == SETUP_SINGLE ? (struct measured){alone_s, s->data.measured_w[i->kind] * alone_s}
                                   : (struct measured){0};
}

/* Instances by name: a batch, "search:table5" alone, "9 encryption:table1". Reads kinds that are new. */
static void find_instances(struct suite *s, const char *name, struct instances *i, struct tmx_err *err)
{
    *i = (struct instances){0};
    for (size_t b = 0; b < s->n_batch; b++) {
        if (strcmp(s->batch[b].name, name) == 0) {
            i->batch = &s->batch[b];
            memcpy(i->count, i->batch->count, sizeof i->count);
            return;
        }
    }
    char *rest;
    const long n = strtol(name, &rest, 10);
    const bool counted = rest != name && *rest == ' ' && n > 0 && n <= 1000;
    if (!err->code && !tmx_job_data_kind(&s->data, NULL, counted ? rest + 1 : name, &i->kind, err)) {
        i->count[i->kind] = counted ? (size_t)n : 1;
    }
}

/* ---- Figure 5: GPU power, the system's less its idle power, from event rates ---- */

/* Mean event rates of the virtual average SM over time_s; the power above lambda they predict. */
static double events_w(const struct suite *s, const size_t *count, double time_s)
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

/* Of the setup whose power the paper's tables imply. */
static struct measured loaded(const struct suite *s, const struct instances *i)
{
    return measured(s, i, i->batch ? SETUP_MANUAL : SETUP_SINGLE);
}

/* of: 1; or the number of SMs: every SM's prediction added up, as if each were the average one of a GPU. */
static double gpu_w(const struct suite *s, const struct instances *i, double of)
{
    const double time_s = loaded(s, i).time_s;
    return time_s > 0 ? s->base_w - s->data.node.idle_w + of * events_w(s, i->count, time_s) : NAN;
}

static double measured_gpu_w(const struct suite *s, const struct instances *i)
{
    const struct measured m = loaded(s, i);
    return m.time_s > 0 && m.energy_j > 0 ? m.energy_j / m.time_s - s->data.node.idle_w : NAN;
}

/* Mean or largest |error| over everything measured to which nothing was fitted. */
static double power_error(const struct suite *s, bool largest)
{
    double sum = 0, most = 0, n = 0;
    for (size_t k = 0; k < s->data.n_kind + s->n_batch; k++) {
        struct instances i = {.kind = k};
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
        const double off = 100 * fabs(gpu_w(s, &i, 1) / measured - 1);
        sum += off;
        most = fmax(most, off);
        n += 1;
    }
    return n == 0 ? NAN : largest ? most : sum / n;
}

/* ---- by name ---- */

/* 1 merge, 0 do not; NAN: the models cannot decide. */
static double decision(const struct suite *s, const struct instances *i)
{
    const struct tmx_batch b = batch_of(&s->data, i->count);
    const struct measured m = measured(s, i, SETUP_CPU);
    const struct tmx_prediction cpu = {.time_s = m.time_s, .energy_j = m.energy_j};
    struct tmx_verdict v;
    tmx_decide(&b, s->data.tmpl, s->data.n_tmpl, cpu.energy_j > 0 ? &cpu : NULL, s->data.node.reference_c,
               &v);
    return v.sure ? v.choice == TMX_MERGE : NAN;
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
                                           "largest_gpu_w_error_pct"};

/* For `values`. */
static double number_of(void *ctx, const struct tmx_pick *p, size_t seed, char *why)
{
    struct suite *s = ctx;
    const enum setup_kind setup = (enum setup_kind)tmx_names_find(p->policy, setups, SETUPS);
    const enum column column = (enum column)tmx_names_find(p->column, column_names, N_COLUMN);
    const bool all = column >= MEAN_POWER_ERROR; /* over everything measured */
    struct instances i = {0};
    struct tmx_prediction r, cpu;
    struct tmx_err none = {0};
    if (!all) {
        find_instances(s, p->of, &i, &none);
    }
    if (column == N_COLUMN) {
        snprintf(why, TMX_WHY, "no column \"%s\"", p->column);
    } else if (setup == SETUPS) {
        snprintf(why, TMX_WHY, "policy \"%s\": expected a setup, such as cpu or manual", p->policy);
    } else if (none.code) {
        snprintf(why, TMX_WHY, "\"%s\" is no batch of the suite, nor a kind: %s", p->of, none.msg);
    } else if (seed == TMX_NAMES_ALONE) {
        return NAN;
    } else {
        switch (column) {
        case TIME:
            return predict(s, &i, setup, &r) ? r.time_s : NAN;
        case ENERGY:
            return predict(s, &i, setup, &r) ? r.energy_j : NAN;
        case MEASURED_TIME:
            return measured(s, &i, setup).time_s;
        case MEASURED_ENERGY:
            return measured(s, &i, setup).energy_j;
        case TIME_SAVED:
        case ENERGY_SAVED:
            if (!predict(s, &i, setup, &r) || !predict(s, &i, SETUP_CPU, &cpu)) {
                return NAN;
            }
            return 100 * (1 - (column == ENERGY_SAVED ? r.energy_j / cpu.energy_j : r.time_s / cpu.time_s));
        case SPEEDUP:
            return 1 / s->data.kind[i.kind].gpu_time_s;
        case DECISION:
            return decision(s, &i);
        case GPU_W:
            return gpu_w(s, &i, 1);
        case MEASURED_GPU_W:
            return measured_gpu_w(s, &i);
        case ADDED_GPU_W:
            return gpu_w(s, &i, s->data.node.sms);
        default:
            return power_error(s, column == LARGEST_POWER_ERROR);
        }
    }
    return NAN;
}

/* ---- the tables ---- */

struct base {
    char node[TMX_PATH_SIZE];
    char training[TMX_PATH_SIZE];
};
static const struct tmx_opt base_opts[] = {
    TMX_ROW_NAME(base, node, "c1060", "the node's name or file"),
    TMX_ROW_NAME(base, training, "workloads/training/rodinia_c1060.csv", "training table of the power model"),
    {0},
};

/* What is not above 0 is not known. */
static double known(double v)
{
    return v > 0 ? v : NAN;
}

/* One setup of some instances, where the models have something to say. */
static void add_row(const struct suite *s, struct tmx_table *t, const char *table, const char *name,
                    const struct instances *i, enum setup_kind setup)
{
    const struct tmx_batch b = batch_of(&s->data, i->count);
    const struct measured m = measured(s, i, setup);
    const double is_s = known(m.time_s), is_j = known(m.energy_j);
    struct tmx_prediction p;
    if (predict(s, i, setup, &p)) {
        tmx_table_row(t, "%s %s %s %zu %G %G %G %G %G %G %G", table, name, setups[setup],
                      tmx_batch_instances(&b), known(p.time_s), known(p.power_w), known(p.energy_j), is_s,
                      is_j, 100 * (p.time_s / is_s - 1), 100 * (p.energy_j / is_j - 1));
    }
}

/* The batches; then Figures 1, 7 and 8: instances of one kind, in units of one instance on the CPU. */
static void add_rows(struct suite *s, struct tmx_table *t, struct tmx_err *err)
{
    static const struct {
        const char *figure, *name, *kind;
        size_t most;
    } figures[] = {{"Figure 1 and 7", "encryption", "encryption:table1", 15},
                   {"Figure 8", "sorting", "sorting:table1", 12}};
    for (const struct tmx_job_batch *b = s->batch; b < s->batch + s->n_batch; b++) {
        struct instances i = {.batch = b};
        memcpy(i.count, b->count, sizeof i.count);
        for (size_t k = 0; k < s->data.n_kind; k++) {
            struct instances one = {.kind = k};
            if (b->count[k] > 0 && s->data.measured_w[k] > 0) {
                one.count[k] = 1;
                add_row(s, t, b->time_table, s->data.kind[k].name, &one, SETUP_SINGLE);
            }
        }
        for (int setup = SETUP_CPU; setup <= SETUP_SERIAL; setup++) {
            const bool printed = measured(s, &i, (enum setup_kind)setup).time_s > 0;
            if (printed || setup == SETUP_MANUAL || setup == SETUP_SERIAL) {
                add_row(s, t, b->time_table, b->name, &i, (enum setup_kind)setup);
            }
        }
    }
    for (size_t f = 0; f < 2; f++) {
        struct instances i;
        find_instances(s, figures[f].kind, &i, err);
        for (size_t n = 1; n <= figures[f].most && !err->code; n++) {
            i.count[i.kind] = n;
            add_row(s, t, figures[f].figure, figures[f].name, &i, SETUP_CPU);
            add_row(s, t, figures[f].figure, figures[f].name, &i, SETUP_MANUAL);
            add_row(s, t, figures[f].figure, figures[f].name, &i, SETUP_SERIAL);
        }
    }
}

/* The node, the batches, and the power model's fit to the training table. */
static void read_suite(struct suite *s, const struct tmx_setting *root, struct tmx_err *err)
{
    static const char *const root_keys[] = {"name", "kind",    "doc",    "source",
                                            "base", "batches", "values", NULL};
    static const struct tmx_opt none[] = {{0}};
    struct tmx_training train = {0};
    struct base base;
    char path[TMX_PATH_SIZE];
    tmx_opt_read(none, NULL, root, root_keys, err);
    tmx_opt_read_group(base_opts, &base, root, "base", NULL, err);
    const struct tmx_setting *list = tmx_setting_texts(root, "batches", 1, BATCHES, err);
    if (!err->code) {
        (void)tmx_setting_locate(tmx_setting_member(root, "base"),
                                 tmx_job_data_load(&s->data, base.node, NULL, err), err);
    }
    for (size_t i = 0; i < tmx_setting_length(list) && !err->code; i++) {
        const struct tmx_setting *e = tmx_setting_at(list, i);
        tmx_data_name_for(TMX_DATA_BATCH, e, tmx_setting_text(e), path, err);
        if (!err->code) {
            s->n_batch += !tmx_setting_locate(e, tmx_job_batch_load(&s->data, path, &s->batch[i], err), err);
        }
    }
    if (err->code) {
        return;
    }
    if (tmx_os_exists(base.training)) {
        memcpy(path, base.training, sizeof path);
    } else if (tmx_data_file(base.training, path, err)) {
        return;
    }
    (void)(tmx_training_load(&train, path, err) || tmx_power_fit(&train, &s->fit, err));
    tmx_training_finish(&train);
    double sum = 0, n = 0; /* what the calibrated batches drew beyond what their events explain */
    for (size_t b = 0; b < s->n_batch && !err->code; b++) {
        const struct tmx_job_measured *m = &s->batch[b].measured;
        if (s->batch[b].calibrated && m->manual_time_s > 0) {
            sum += m->manual_energy_j / m->manual_time_s - events_w(s, s->batch[b].count, m->manual_time_s);
            n += 1;
        }
    }
    s->base_w = n > 0 ? sum / n : 0;
}

void tmx_suite_consolidation(const struct tmx_suite_call *call, struct tmx_err *err)
{
    struct tmx_arena arena = {0};
    struct suite *s;
    if (!TMX_TAKE(&arena, s, 1)) {
        tmx_no_memory(err);
        return;
    }
    struct tmx_value_source values = {
        .ctx = s, .paper = "004", .policy = "single", .n_seed = 1, .number = number_of};
    struct tmx_table *table =
        tmx_table_of("table case setup instances:d time_s:2 power_w:1 energy_j:0 paper_time_s:1 "
                     "paper_energy_j:0 time_error_percent:2 energy_error_percent:2");
    read_suite(s, call->root, err);
    tmx_values_read(&values, call->root, err);
    if (!err->code && !call->check) {
        add_rows(s, table, err);
    }
    tmx_suite_write(call, table, &values, NULL, err);
    tmx_table_destroy(table);
    tmx_values_finish(&values);
    tmx_power_fit_finish(&s->fit);
    tmx_job_data_finish(&s->data);
    tmx_arena_finish(&arena);
}

/* ---- one batch, for `thermix consolidate` ---- */

enum tmx_status tmx_merge_table(const struct tmx_job_data *d, const struct tmx_job_batch *b, double temp_c,
                                struct tmx_table **t, struct tmx_err *err)
{
    *t = tmx_table_of("setup time_s:2 power_w:1 energy_j:0 measured_time_s:1 measured_energy_j:0 "
                      "time_error_percent:2 energy_error_percent:2");
    for (int k = SETUP_CPU; k <= SETUP_SERIAL && *t; k++) {
        const enum setup_kind setup = (enum setup_kind)k;
        const struct measured m = batch_measured(b, setup);
        const double s = known(m.time_s), j = known(m.energy_j);
        struct tmx_prediction p;
        if (predict_at(d, b->count, setup, temp_c, &p)) {
            tmx_table_row(*t, "%s %g %g %g %G %G %G %G", setups[k], p.time_s, p.power_w, p.energy_j, s, j,
                          100 * (p.time_s / s - 1), 100 * (p.energy_j / j - 1));
        }
    }
    return *t ? TMX_OK : tmx_no_memory(err);
}

enum tmx_status tmx_merge_print(const struct tmx_job_data *d, const struct tmx_job_batch *j, double temp_c,
                                FILE *out, struct tmx_err *err)
{
    const struct tmx_batch batch = batch_of(d, j->count), *b = &batch;
    struct tmx_verdict v;
    struct tmx_grouping g;
    struct tmx_group_limits l = {
        .temp_c = temp_c, .limit_c = INFINITY, .tau_s = 1, .use_cpu = true, .largest = 256};
    const struct tmx_job_measured *m = &j->measured;
    const struct tmx_prediction cpu = {.time_s = m->cpu_time_s, .energy_j = m->cpu_energy_j};
    for (size_t k = 0; k < d->n_kind; k++) {
        l.time_s[k] = INFINITY;
    }
    tmx_decide(b, d->tmpl, d->n_tmpl, m->cpu_energy_j > 0 ? &cpu : NULL, temp_c, &v);
    fprintf(out, "decision: %s (%s)\n", tmx_choice_word(v.choice),
            v.sure ? "sure" : "the models cannot decide");
    if (v.obstacle) {
        fprintf(out, "merge: impossible, %s\n", tmx_obstacle_text(v.obstacle));
    } else {
        fprintf(out, "merge: template %s, %d block(s) per SM, %.1f s, %.0f J\n", v.tmpl->name, v.merge.slots,
                v.merge.time_s, v.merge.energy_j);
        fprintf(out,
                "gain of the merge: %.1f %% of the energy of the best alternative, uncertainty +-%.1f %%\n",
                100 * v.gain, 100 * d->node.uncertainty);
    }
    fprintf(out, "serial: %.1f s, %.0f J\n", v.serial.time_s, v.serial.energy_j);
    if (v.cpu_known) {
        fprintf(out, "cpu: %.1f s, %.0f J%s\n", v.cpu.time_s, v.cpu.energy_j,
                m->cpu_energy_j > 0 ? ", measured" : "");
    } else {
        fprintf(out, "cpu: not known for this mix\n");
    }
    if (isfinite(v.margin)) {
        fprintf(out, "margin: the next best choice needs %.1f %% more energy\n", 100 * v.margin);
    }
    if (tmx_group_all(b, d->tmpl, d->n_tmpl, &l, 4096, &g, err)) {
        return err->code;
    }
    fprintf(out, "grouping: %s, %.0f J", g.exact ? "optimal" : "greedy", g.energy_j);
    if (!g.exact) {
        fprintf(out, " (no grouping can need less than %.0f J)", g.bound_j);
    }
    fputc('\n', out);
    for (size_t i = 0; i < g.n; i++) {
        fprintf(out, "  %zu x %s:", g.group[i].times, tmx_choice_word(g.group[i].choice));
        for (size_t k = 0; k < d->n_kind; k++) {
            if (g.group[i].count[k] > 0) {
                tmx_print_visible(out, " %zu %s", g.group[i].count[k], d->kind[k].name);
            }
        }
        fprintf(out, ", %.1f s, %.0f J each\n", g.group[i].time_s, g.group[i].energy_j);
    }
    return err->code;
}

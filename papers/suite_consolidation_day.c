/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A day of users: job policies x numbers of GPUs in the full simulator, each run in its own process. */
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <thermix/policy.h>

#include "core/base/config.h"
#include "core/base/opt.h"
#include "core/base/text.h"
#include "papers/suite.h"
#include "run/load/data.h"
#include "run/options.h"

enum { MAX_POLICY = 16, MAX_GPUS = 16, MAX_SETS = 10000 };

struct policy {
    char name[64];
    const struct tmx_setting *set; /* list of "key=value", may be NULL */
};

struct day {
    const struct tmx_suite_call *call;
    double day_s, host_w;
    int seeds;
    int64_t first_seed;
    struct policy policy[MAX_POLICY];
    int gpus[MAX_GPUS];
    size_t n_policy, n_gpus;
};

/* What is measured of a day beside the metrics, in this order. */
struct result {
    double arrived, done, energy_gpu_j, peak_temp_c, wait_mean_s, wait_max_s, throttled_s, launches, largest;
};
enum { N_RESULT = sizeof(struct result) / sizeof(double) };
static const char *const result_name[N_RESULT] = {"arrived",    "done",        "gpu_energy_j",
                                                  "peak_sm_c",  "wait_mean_s", "wait_max_s",
                                                  "sm_gated_s", "launches",    "largest_merge"};

static const struct tmx_opt opts[] = {
    TMX_ROW_REAL(day, day_s, "s", 1, 1e7, 86400, "simulated time"),
    TMX_ROW_INT(day, seeds, "1", 1, 1000, 1,
                "of the arrivals, from base.seed on: the table has means over them"),
    TMX_ROW_REAL(day, host_w, "W", 0, 1e5, 250, "power of the node without its GPUs"),
    {0},
};
static const char *const keys_beside[] = {"name", "kind", "doc", "source", "base", "gpus", "policies", NULL};
static const struct tmx_opt policy_opts[] = {
    TMX_ROW_TEXT(policy, name, NULL, "name in the table"),
    {0},
};

static enum tmx_status read_suite(struct day *d, struct tmx_err *err)
{
    static const char *const set[] = {"set", NULL};
    const struct tmx_setting *root = d->call->root;
    const struct tmx_setting *policies, *gpus = NULL;
    enum tmx_status st = tmx_opt_read(opts, d, root, keys_beside, err);
    st = st ? st : tmx_setting_list(root, "policies", 1, MAX_POLICY, &policies, err);
    st = st ? st : tmx_setting_list(root, "gpus", 1, MAX_GPUS, &gpus, err);
    for (size_t i = 0; !st && i < tmx_setting_length(policies); i++) {
        const struct tmx_setting *e = tmx_setting_at(policies, i);
        st = tmx_opt_read(policy_opts, &d->policy[i], e, set, err);
        st = st ? st : tmx_setting_texts(e, "set", 0, MAX_SETS, &d->policy[i].set, err);
        d->n_policy += !st;
    }
    for (size_t i = 0; !st && i < tmx_setting_length(gpus); i++) {
        const struct tmx_setting *e = tmx_setting_at(gpus, i);
        const int64_t v = tmx_setting_is(e, TMX_SETTING_INTEGER) ? tmx_setting_integer(e) : 0;
        st = v > 0 && v <= INT_MAX ? TMX_OK : tmx_fail_setting(err, e, "gpus: expected numbers of GPUs");
        d->gpus[d->n_gpus++] = (int)v;
    }
    struct tmx_run_options base; /* also of the keys that each task overrides */
    st = st ? st : tmx_opt_read_group(tmx_run_opts, &base, root, "base", tmx_run_groups, err);
    d->first_seed = st ? 0 : base.seed;
    return st || tmx_setting_member(tmx_setting_member(root, "base"), "job")
               ? st
               : tmx_fail_at(err, TMX_ECONFIG, d->call->path, 0, "base: missing group job");
}

/* Overrides of one task, the seed running slowest: seed, GPUs, its policy's, the user's last. */
static enum tmx_status sets_of(const void *ctx, size_t task, struct tmx_sets *set, struct tmx_err *err)
{
    const struct day *d = ctx;
    const size_t n = d->n_gpus * d->n_policy;
    enum tmx_status st = tmx_sets_put(
        set, "base.seed", TMX_INTEGER_VALUE((int64_t)d->first_seed + (int64_t)(task / n)), NULL, 0, err);
    task %= n;
    st = st ? st
            : tmx_sets_put(set, "base.gpus", TMX_INTEGER_VALUE(d->gpus[task / d->n_policy]), NULL, 0, err);
    st = st ? st : tmx_sets_add_list(set, "base.", d->policy[task % d->n_policy].set, err);
    return st ? st : tmx_sets_join(set, d->call->sets, "", err);
}

static struct tmx_scalar value_of(const void *ctx, size_t task, size_t key)
{
    const struct day *d = ctx;
    const size_t n = d->n_gpus * d->n_policy, i = task % n;
    return key == 1   ? TMX_TEXT_VALUE(d->policy[i % d->n_policy].name)
           : key == 0 ? TMX_INTEGER_VALUE(d->gpus[i / d->n_policy])
                      : TMX_INTEGER_VALUE((int64_t)d->first_seed + (int64_t)(task / n));
}

struct clock {
    const struct tmx_run *run;
    double end_s;
};

static bool day_is_over(void *ctx)
{
    const struct clock *c = ctx;
    return tmx_sim_time_s(tmx_run_sim_const(c->run)) >= c->end_s;
}

static void *begin(void *kept, const struct tmx_run *run, struct tmx_observer *observer)
{
    const struct day *d = kept;
    struct clock *c = malloc(sizeof *c);
    if (c) {
        *c = (struct clock){run, d->day_s};
        *observer = (struct tmx_observer){.ctx = c, .stop = day_is_over};
    }
    return c;
}

/* An instance waits until its launch runs; one that still waits counts with the time it has waited. */
static void measure(void *state, const struct tmx_run *run, double *value)
{
    const struct tmx_sim *sim = tmx_run_sim_const(run);
    const struct tmx_machine *m = tmx_sim_machine(sim);
    const struct tmx_recorder *rec = tmx_sim_recorder(sim);
    const double now_s = tmx_sim_time_s(sim);
    const struct tmx_jobs_ledger *ledger = tmx_jobs_ledger(tmx_sim_jobs(sim));
    double wait_s = 0;
    struct result r = {.arrived = (double)m->n_arrived,
                       .done = (double)m->n_done,
                       .energy_gpu_j = rec->total_j + ledger->off_die_j,
                       .peak_temp_c = rec->peak_sm_k - TMX_ZERO_C,
                       .launches = (double)ledger->n_launch,
                       .largest = (double)ledger->largest};
    (void)state;
    for (size_t j = 0; j < m->n_arrived; j++) {
        const struct tmx_job *job = &m->job[j];
        const double started_s = job->started_s >= 0 ? job->started_s : now_s;
        const double one_s = fmax(0, started_s - job->arrival_s);
        wait_s += one_s;
        r.wait_max_s = fmax(r.wait_max_s, one_s);
    }
    r.wait_mean_s = m->n_arrived > 0 ? wait_s / (double)m->n_arrived : 0;
    for (size_t sm = 0; sm < m->n_sm; sm++) {
        r.throttled_s += m->gated_s[sm] / (double)m->n_sm;
    }
    memcpy(value, &r, sizeof r);
}

static const struct tmx_column columns[] = {
    {"gpus", TMX_COLUMN_INT, 0},
    {"policy", TMX_COLUMN_TEXT, 0},
    {"arrived", TMX_COLUMN_INT, 0},
    {"done", TMX_COLUMN_INT, 0},
    {"throughput_per_hour", TMX_COLUMN_REAL, 1},
    {"gpu_energy_j", TMX_COLUMN_REAL, 0},
    {"system_energy_j", TMX_COLUMN_REAL, 0},
    {"system_energy_per_instance_j", TMX_COLUMN_REAL, 0},
    {"peak_temp_c", TMX_COLUMN_REAL, 2},
    {"wait_mean_s", TMX_COLUMN_REAL, 1},
    {"wait_max_s", TMX_COLUMN_REAL, 1},
    {"throttled_s", TMX_COLUMN_REAL, 1},
    {"launches", TMX_COLUMN_INT, 0},
    {"largest_merge", TMX_COLUMN_INT, 0},
    {"seeds", TMX_COLUMN_INT, 0},
    {"throughput_sd", TMX_COLUMN_REAL, 1},
    {"energy_per_instance_sd", TMX_COLUMN_REAL, 0},
    {"peak_temp_sd", TMX_COLUMN_REAL, 2},
    {"wait_mean_sd", TMX_COLUMN_REAL, 1},
};

/* Mean and standard deviation over the seeds of what `of` makes of a result. */
struct spread {
    double mean, sd;
};
static struct spread over_seeds(const struct day *d, const struct tmx_run_values *v, size_t i,
                                double (*of)(const struct day *d, const struct result *r))
{
    const size_t n = d->n_gpus * d->n_policy;
    double mean = 0, square = 0;
    for (int k = 0; k < d->seeds; k++) {
        struct result r;
        memcpy(&r, &v->value[((size_t)k * n + i) * v->n_value + tmx_study_metrics()], sizeof r);
        const double x = of(d, &r), off = x - mean;
        mean += off / (k + 1);
        square += off * (x - mean);
    }
    return (struct spread){mean, d->seeds > 1 ? sqrt(square / (d->seeds - 1)) : NAN};
}

static double system_j(const struct day *d, const struct result *r)
{
    return r->energy_gpu_j + d->host_w * d->day_s;
}

static double per_instance_j(const struct day *d, const struct result *r)
{
    return r->done > 0 ? system_j(d, r) / r->done : NAN;
}

static double per_hour(const struct day *d, const struct result *r)
{
    return r->done / d->day_s * 3600;
}

#define FIELD(f)                                                      \
    static double f##_of(const struct day *d, const struct result *r) \
    {                                                                 \
        (void)d;                                                      \
        return r->f;                                                  \
    }
FIELD(arrived)
FIELD(done)
FIELD(energy_gpu_j)
FIELD(peak_temp_c)
FIELD(wait_mean_s)
FIELD(wait_max_s)
FIELD(throttled_s)
FIELD(launches)
FIELD(largest)

static enum tmx_status tabulate(const struct day *d, const struct tmx_run_values *value, struct tmx_table **t,
                                struct tmx_err *err)
{
    enum tmx_status st = tmx_table_create(t, columns, sizeof columns / sizeof columns[0], err);
    for (size_t i = 0; !st && i < d->n_gpus * d->n_policy; i++) {
#define MEAN(of) over_seeds(d, value, i, of).mean
#define SD(of)   over_seeds(d, value, i, of).sd
        tmx_table_int(*t, d->gpus[i / d->n_policy]);
        tmx_table_text(*t, d->policy[i % d->n_policy].name);
        tmx_table_int(*t, llround(MEAN(arrived_of)));
        tmx_table_int(*t, llround(MEAN(done_of)));
        tmx_table_real(*t, MEAN(per_hour));
        tmx_table_real(*t, MEAN(energy_gpu_j_of));
        tmx_table_real(*t, MEAN(system_j));
        tmx_table_real_or_empty(*t, MEAN(per_instance_j));
        tmx_table_real(*t, MEAN(peak_temp_c_of));
        tmx_table_real(*t, MEAN(wait_mean_s_of));
        tmx_table_real(*t, MEAN(wait_max_s_of));
        tmx_table_real(*t, MEAN(throttled_s_of));
        tmx_table_int(*t, llround(MEAN(launches_of)));
        tmx_table_int(*t, llround(MEAN(largest_of)));
        tmx_table_int(*t, d->seeds);
        tmx_table_real_or_empty(*t, SD(per_hour));
        tmx_table_real_or_empty(*t, SD(per_instance_j));
        tmx_table_real_or_empty(*t, SD(peak_temp_c_of));
        tmx_table_real_or_empty(*t, SD(wait_mean_s_of));
    }
    return st;
}

enum tmx_status tmx_suite_consolidation_day(const struct tmx_suite_call *call, struct tmx_err *err)
{
    struct day d = {.call = call};
    struct tmx_table *t = NULL;
    enum tmx_status st = read_suite(&d, err);
    if (st) {
        return st;
    }
    static const char *const keys[] = {"gpus", "policy", "seed"};
    const struct tmx_probe probe = {
        .ctx = &d, .n = N_RESULT, .column = result_name, .begin = begin, .read = measure, .end = free};
    struct tmx_runs runs = tmx_suite_runs(call);
    struct tmx_run_values v;
    char day[TMX_REAL_SIZE];
    tmx_real_print(day, d.day_s);
    runs.n_point = (size_t)d.seeds * d.n_gpus * d.n_policy;
    runs.n_key = sizeof keys / sizeof keys[0];
    runs.key = keys;
    runs.ctx = &d;
    runs.sets = sets_of;
    runs.value = value_of;
    runs.probe = &probe;
    runs.alone = true;
    runs.also = day;
    st = tmx_suite_values(call, &runs, "days", &v, err);
    for (size_t i = 0; i < v.n_point && !st; i++) {
        if (v.error[i]) {
            st = tmx_fail(err, TMX_ESOLVE, "%d GPUs, %s: %s", d.gpus[i / d.n_policy % d.n_gpus],
                          d.policy[i % d.n_policy].name, v.error[i]);
        }
    }
    if (!st && !call->check) {
        st = tabulate(&d, &v, &t, err);
        st = st ? st : tmx_suite_write(call, t, NULL, NULL, err);
    }
    tmx_table_destroy(t);
    tmx_run_values_finish(&v);
    return st;
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A day of users: job policies x numbers of GPUs in the full simulator, each run in its own process. */
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <thermix/policy.h>

#include "base/config.h"
#include "base/opt.h"
#include "base/text.h"
#include "papers/suite.h"
#include "run/load/data.h"
#include "run/options.h"
#include "study/analysis/analysis.h"

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

/* What is measured of a day beside the metrics, in this order; and what follows from it. */
enum quantity {
    ARRIVED,
    DONE,
    GPU_J,
    PEAK_C,
    WAIT_MEAN_S,
    WAIT_MAX_S,
    GATED_S,
    LAUNCHES,
    LARGEST,
    TIME_S,
    N_RESULT,
    PER_HOUR = N_RESULT,
    SYSTEM_J,
    PER_INSTANCE_J,
    SEEDS,
    N_QUANTITY
};
static const char *const result_name[N_RESULT] = {"arrived",       "done",       "gpu_energy_j", "peak_sm_c",
                                                  "wait_mean_s",   "wait_max_s", "sm_gated_s",   "launches",
                                                  "largest_merge", "time_s"};

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

static void read_suite(struct day *d, struct tmx_err *err)
{
    static const char *const set[] = {"set", NULL};
    const struct tmx_setting *root = d->call->root;
    tmx_opt_read(opts, d, root, keys_beside, err);
    const struct tmx_setting *policies = tmx_setting_list(root, "policies", 1, MAX_POLICY, err),
                             *gpus = tmx_setting_list(root, "gpus", 1, MAX_GPUS, err);
    for (; d->n_policy < tmx_setting_length(policies); d->n_policy++) {
        const struct tmx_setting *e = tmx_setting_at(policies, d->n_policy);
        struct policy *p = &d->policy[d->n_policy];
        tmx_opt_read(policy_opts, p, e, set, err);
        p->set = tmx_setting_texts(e, "set", 0, MAX_SETS, err);
    }
    for (; d->n_gpus < tmx_setting_length(gpus); d->n_gpus++) {
        const struct tmx_setting *e = tmx_setting_at(gpus, d->n_gpus);
        const int64_t v = tmx_setting_is(e, TMX_SETTING_INTEGER) ? tmx_setting_integer(e) : 0;
        if (v <= 0 || v > INT_MAX) {
            tmx_error_setting(err, e, "gpus: expected numbers of GPUs");
        }
        d->gpus[d->n_gpus] = (int)v;
    }
    struct tmx_run_options base = {0}; /* also of the keys that each task overrides */
    tmx_opt_read_group(tmx_run_opts, &base, root, "base", tmx_run_groups, err);
    d->first_seed = base.seed;
    if (!tmx_setting_member(tmx_setting_member(root, "base"), "job")) {
        tmx_error_at(err, TMX_ECONFIG, d->call->path, 0, "base: missing group job");
    }
}

/* Of a task, the seed running slowest. */
static struct tmx_scalar value_of(const void *ctx, size_t task, size_t key)
{
    const struct day *d = ctx;
    const size_t n = d->n_gpus * d->n_policy, i = task % n;
    return key == 1   ? TMX_TEXT_VALUE(d->policy[i % d->n_policy].name)
           : key == 0 ? TMX_INTEGER_VALUE(d->gpus[i / d->n_policy])
                      : TMX_INTEGER_VALUE(d->first_seed + (int64_t)(task / n));
}

/* Overrides of one task: seed, GPUs, its policy's, the user's last. */
static void sets_of(const void *ctx, size_t task, struct tmx_sets *set, struct tmx_err *err)
{
    const struct day *d = ctx;
    tmx_sets_put(set, "base.seed", value_of(d, task, 2), NULL, 0, err);
    tmx_sets_put(set, "base.gpus", value_of(d, task, 0), NULL, 0, err);
    tmx_sets_add_list(set, "base.", d->policy[task % d->n_policy].set, err);
    tmx_sets_join(set, d->call->sets, "", err);
}

struct clock {
    const struct tmx_run *run;
    double end_s;
};

static bool day_is_over(void *ctx)
{
    const struct clock *c = ctx;
    return tmx_sim_time_s(tmx_run_sim(c->run)) >= c->end_s;
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
    const struct tmx_sim *sim = tmx_run_sim(run);
    const struct tmx_machine *m = sim->machine;
    const struct tmx_recorder *rec = sim->recorder;
    const double now_s = tmx_sim_time_s(sim);
    const struct tmx_jobs_ledger *ledger = tmx_jobs_ledger(tmx_sim_jobs(sim));
    (void)state;
    memset(value, 0, N_RESULT * sizeof *value);
    value[ARRIVED] = (double)m->n_arrived;
    value[DONE] = (double)m->n_done;
    value[GPU_J] = rec->total_j + ledger->off_die_j;
    value[PEAK_C] = rec->peak_sm_k - TMX_ZERO_C;
    value[LAUNCHES] = (double)ledger->n_launch;
    value[LARGEST] = (double)ledger->largest;
    value[TIME_S] = now_s;
    for (size_t j = 0; j < m->n_arrived; j++) {
        const struct tmx_job *job = &m->job[j];
        const double started_s = job->started_s >= 0 ? job->started_s : now_s,
                     one_s = fmax(0, started_s - job->arrival_s);
        value[WAIT_MEAN_S] += one_s;
        value[WAIT_MAX_S] = fmax(value[WAIT_MAX_S], one_s);
    }
    value[WAIT_MEAN_S] /= m->n_arrived > 0 ? (double)m->n_arrived : 1;
    for (size_t sm = 0; sm < m->n_sm; sm++) {
        value[GATED_S] += m->gated_s[sm] / (double)m->n_sm;
    }
}

static const char columns[] =
    "gpus:d policy arrived:d done:d throughput_per_hour:1 gpu_energy_j:0 system_energy_j:0 "
    "system_energy_per_instance_j:0 peak_temp_c:2 wait_mean_s:1 wait_max_s:1 throttled_s:1 launches:d "
    "largest_merge:d seeds:d throughput_sd:1 energy_per_instance_sd:0 peak_temp_sd:2 wait_mean_sd:1";
/* Behind gpus and policy: the mean of a quantity over the seeds, from FIRST_SD on its standard deviation. */
static const enum quantity quantity_of[] = {
    ARRIVED, DONE,     PER_HOUR, GPU_J, SYSTEM_J, PER_INSTANCE_J, PEAK_C, WAIT_MEAN_S, WAIT_MAX_S,
    GATED_S, LAUNCHES, LARGEST,  SEEDS, PER_HOUR, PER_INSTANCE_J, PEAK_C, WAIT_MEAN_S};
enum { FIRST_SD = 13, N_COLUMN = sizeof quantity_of / sizeof quantity_of[0] };

static struct tmx_table *tabulate(const struct day *d, const struct tmx_run_values *v)
{
    const size_t n = d->n_gpus * d->n_policy;
    struct tmx_table *t = tmx_table_of(columns);
    for (size_t i = 0; t && i < n; i++) {
        struct tmx_moments of[N_QUANTITY] = {{0}};
        for (size_t k = 0; k < (size_t)d->seeds; k++) {
            double q[N_QUANTITY];
            memcpy(q, &v->value[(k * n + i) * v->n_value + tmx_study_metrics()], N_RESULT * sizeof *q);
            const double time_s =
                fmin(q[TIME_S], d->day_s); /* of few arrivals the last ends before the day */
            q[PER_HOUR] = q[DONE] / time_s * 3600;
            q[SYSTEM_J] = q[GPU_J] + d->host_w * time_s;
            q[PER_INSTANCE_J] = q[DONE] > 0 ? q[SYSTEM_J] / q[DONE] : NAN;
            q[SEEDS] = d->seeds;
            for (size_t x = 0; x < N_QUANTITY; x++) {
                tmx_moments_add(&of[x], q[x]);
            }
        }
        tmx_table_row(t, "%d %s", d->gpus[i / d->n_policy], d->policy[i % d->n_policy].name);
        for (size_t c = 0; c < N_COLUMN; c++) {
            const struct tmx_moments *m = &of[quantity_of[c]];
            const double x = c >= FIRST_SD ? tmx_moments_sd(m) : tmx_moments_mean(m);
            tmx_table_column(t, 2 + c)->type == TMX_COLUMN_INT ? tmx_table_int(t, llround(x))
                                                               : tmx_table_real_or_empty(t, x);
        }
    }
    return t;
}

void tmx_suite_consolidation_day(const struct tmx_suite_call *call, struct tmx_err *err)
{
    static const char *const keys[] = {"gpus", "policy", "seed"};
    struct day d = {.call = call};
    const struct tmx_probe probe = {
        .ctx = &d, .n = N_RESULT, .column = result_name, .begin = begin, .read = measure, .end = free};
    struct tmx_runs runs = tmx_suite_runs(call);
    struct tmx_run_values v = {0};
    char day[TMX_REAL_SIZE];
    read_suite(&d, err);
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
    tmx_suite_values(call, &runs, "days", &v, err);
    for (size_t i = 0; i < v.n_point && !err->code; i++) {
        if (v.error[i]) {
            tmx_error(err, TMX_ESOLVE, "%d GPUs, %s: %s", d.gpus[i / d.n_policy % d.n_gpus],
                      d.policy[i % d.n_policy].name, v.error[i]);
        }
    }
    struct tmx_table *t = err->code || call->check ? NULL : tabulate(&d, &v);
    tmx_suite_write(call, t, NULL, NULL, err);
    tmx_table_destroy(t);
    tmx_run_values_finish(&v);
}

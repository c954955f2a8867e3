#include "run/jobs.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/config.h"
#include "run/state.h"
#include "sched/sched.h"

static const struct tmx_opt opts[] = {
    TMX_ROW_TEXT(tmx_run_jobs, node, "c1060", "node of workloads/nodes/, or a path"),
    TMX_ROW_INT(tmx_run_jobs, depth, "1", 1, TMX_KQUEUE, 1,
                "kernels a GPU holds at a time; further instances wait"),
    TMX_ROW_REAL(tmx_run_jobs, deadline_s, "s", 0, 1e9, 0,
                 "every instance's deadline after its arrival; 0: none"),
    {0},
};
static const char *const own_keys[] = {"policy", "node", "depth", "deadline_s", NULL};

/* The group holds our keys and the policy's: each reader leaves the other's alone. */
static enum tmx_status read_own(struct tmx_run_jobs *j, const struct tmx_setting *group,
                                const struct tmx_plugin *p, struct tmx_err *err)
{
    const char *others[64] = {"policy"};
    size_t n = 1;
    for (const struct tmx_opt *o = p->opts; o && o->key && n < 63; o++) {
        others[n++] = o->key;
    }
    return tmx_opt_read(opts, j, group, others, err);
}

static enum tmx_status choose(struct tmx_run *r, const struct tmx_setting *group, struct tmx_err *err)
{
    const struct tmx_setting *s = tmx_setting_member(group, "policy");
    const char *name = s ? tmx_setting_text(s) : "none";
    char list[256] = "";
    for (size_t i = 0; tmx_job_policies[i]; i++) {
        if (name && strcmp(tmx_job_policies[i]->base.name, name) == 0) {
            r->sim_spec.job.ops = tmx_job_policies[i];
            return tmx_plugin_state(&tmx_job_policies[i]->base, group, own_keys, &r->sim_spec.job.state, err);
        }
        const size_t used = strlen(list);
        snprintf(list + used, sizeof list - used, "%s%s", i ? ", " : "", tmx_job_policies[i]->base.name);
    }
    const struct tmx_setting *at = s ? s : group;
    tmx_assert(at); /* without a group the policy is none, which is in the table */
    return tmx_fail_setting(err, at, "job.policy: expected one of %s", list);
}

enum tmx_status tmx_run_jobs_open(struct tmx_run *r, const struct tmx_setting *root, struct tmx_err *err)
{
    const struct tmx_setting *group = tmx_setting_member(root, "job");
    if (!group) {
        return TMX_OK;
    }
    if (!tmx_setting_is(group, TMX_SETTING_GROUP)) {
        return tmx_fail_setting(err, group, "job: expected a group { policy = ...; }");
    }
    enum tmx_status st = choose(r, group, err);
    if (st) {
        return st;
    }
    r->jobs = calloc(1, sizeof *r->jobs);
    if (!r->jobs) {
        return tmx_fail(err, TMX_ENOMEM, "job level");
    }
    st = read_own(r->jobs, group, &r->sim_spec.job.ops->base, err);
    return st ? st : tmx_job_data_load(&r->jobs->data, r->jobs->node, NULL, 0, err);
}

void tmx_run_jobs_close(struct tmx_run_jobs *j)
{
    if (j) {
        tmx_job_data_finish(&j->data);
        free(j->kind_of);
        free(j->deadline);
        free(j);
    }
}

/* The instance alone; the job level writes its launch over it. */
static void make_job(const struct tmx_run *r, size_t kind, const struct tmx_mix_entry *e, struct tmx_job *job)
{
    const struct tmx_job_data *d = &r->jobs->data;
    const struct tmx_workload *w = &d->kind[kind];
    const double sms = w->blocks < d->node.sms ? w->blocks : d->node.sms;
    const double power_w = w->blocks * w->dynamic_w_per_block / sms;
    *job = (struct tmx_job){.kernel = &r->kernel[kind],
                            .arrival_s = e->arrival_s,
                            .priority = e->priority,
                            .work_sm_s = w->gpu_time_s * sms,
                            .blocks_per_sm_s = w->blocks / (w->gpu_time_s * sms),
                            .lifetime_s = w->gpu_time_s / ceil(w->blocks / sms),
                            .power_w = power_w,
                            .pdi_w = power_w,
                            .slowdown = 1,
                            .remote_weight = 1,
                            .width_sms = (size_t)sms};
}

static void make_kernel(const struct tmx_job_data *d, size_t kind, struct tmx_kernel *k)
{
    const struct tmx_workload *w = &d->kind[kind];
    *k = (struct tmx_kernel){
        .launch = {.thread_blocks = w->blocks,
                   .threads_per_block = w->threads_per_block,
                   .registers_per_thread = w->registers_per_thread,
                   .shared_bytes = w->shared_bytes},
        .power = {.sm_power_w = w->blocks * w->dynamic_w_per_block, .block_lifetime_s = w->gpu_time_s}};
    snprintf(k->name, sizeof k->name, "%.63s", w->name);
}

enum tmx_status tmx_run_jobs_make(struct tmx_run *r, struct tmx_err *err)
{
    struct tmx_run_jobs *j = r->jobs;
    const size_t n = r->mix.n_entry;
    const struct tmx_chip *chip = &r->kind[r->kind_of_gpu[0]].chip;
    if ((int)chip->n_sm != j->data.node.sms) {
        return tmx_fail(err, TMX_ECONFIG, "chip %s has %zu SMs, node %s has GPUs of %d", chip->name,
                        chip->n_sm, j->data.name, j->data.node.sms);
    }
    r->job = calloc(n + 1, sizeof *r->job);
    r->kernel = calloc(TMX_KIND_MAX, sizeof *r->kernel);
    j->kind_of = calloc(n + 1, sizeof *j->kind_of);
    j->deadline = j->deadline_s > 0 ? calloc(n + 1, sizeof *j->deadline) : NULL;
    if (!r->job || !r->kernel || !j->kind_of || (j->deadline_s > 0 && !j->deadline)) {
        return tmx_fail(err, TMX_ENOMEM, "mix of %zu instances", n);
    }
    for (size_t i = 0; i < n; i++) {
        const struct tmx_mix_entry *e = &r->mix.entry[i];
        const enum tmx_status st = tmx_job_data_kind(&j->data, e->kernel, &j->kind_of[i], err);
        if (st) {
            return st;
        }
        make_job(r, j->kind_of[i], e, &r->job[i]);
        if (j->deadline) {
            j->deadline[i] = e->arrival_s + j->deadline_s;
        }
    }
    r->n_kernel = j->data.n_kind;
    for (size_t k = 0; k < j->data.n_kind; k++) {
        make_kernel(&j->data, k, &r->kernel[k]);
    }
    r->sim_spec.job.node = &j->data.node;
    r->sim_spec.job.kind = j->data.kind;
    r->sim_spec.job.n_kind = j->data.n_kind;
    r->sim_spec.job.tmpl = j->data.tmpl;
    r->sim_spec.job.n_tmpl = j->data.n_tmpl;
    r->sim_spec.job.kind_of = j->kind_of;
    r->sim_spec.job.deadline_s = j->deadline;
    r->sim_spec.job.depth = (size_t)j->depth;
    return TMX_OK;
}

void tmx_run_jobs_write(const struct tmx_run *r, FILE *out)
{
    const struct tmx_plugin *p = &r->sim_spec.job.ops->base;
    fprintf(out, "job = {\n    policy = \"%s\";\n", p->name);
    tmx_opt_write(opts, r->jobs, "    ", out);
    if (p->opts) {
        tmx_opt_write(p->opts, r->sim_spec.job.state, "    ", out);
    }
    fprintf(out, "};\n");
}

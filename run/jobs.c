/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "run/jobs.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/config.h"
#include "run/choose.h"

static const struct tmx_opt opts[] = {
    TMX_ROW_NAME(tmx_run_jobs, node, "c1060", "node of workloads/nodes/, or a path"),
    TMX_ROW_INT(tmx_run_jobs, depth, "1", 1, TMX_KQUEUE, 1,
                "kernels a GPU holds at a time; further instances wait"),
    TMX_ROW_REAL(tmx_run_jobs, deadline_s, "s", 0, 1e9, 0,
                 "every instance's deadline after its arrival; 0: none"),
    {0},
};

enum tmx_status tmx_run_jobs_open(struct tmx_run *r, const struct tmx_setting *root, struct tmx_err *err)
{
    const struct tmx_setting *group;
    enum tmx_status st = tmx_setting_group(root, "job", &group, err);
    if (st || !group) {
        return st;
    }
    r->jobs = calloc(1, sizeof *r->jobs);
    if (!r->jobs) {
        return tmx_fail(err, TMX_ENOMEM, "job level");
    }
    st = tmx_run_choose(r, root, TMX_LEVEL_JOB, "none", opts, r->jobs, err);
    const struct tmx_setting *node = tmx_setting_member(group, "node");
    return st ? st
              : tmx_setting_blame(node ? node : group,
                                  tmx_job_data_load(&r->jobs->data, r->jobs->node, NULL, 0, err), err);
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
    const struct tmx_job_launch alone = {
        .blocks = w->blocks, .sms = sms, .time_s = w->gpu_time_s, .sm_w = w->blocks * w->dynamic_w_per_block};
    *job = (struct tmx_job){.kernel = &r->kernel[kind],
                            .arrival_s = e->arrival_s,
                            .priority = e->priority,
                            .gate_slowdown = 1,
                            .memory_slowdown = 1,
                            .remote_weight = 1};
    tmx_job_launch(job, &alone);
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
        const enum tmx_status st = tmx_job_data_kind(&j->data, e->file, e->kernel, &j->kind_of[i], err);
        if (st) {
            return tmx_fail_from(err, st, e->file, e->line, "kernel");
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

void tmx_run_jobs_write(const struct tmx_run *r, enum tmx_resolved what, FILE *out)
{
    tmx_run_choice_write(r, TMX_LEVEL_JOB, opts, r->jobs, NULL, what, out);
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/config.h"
#include "base/plausible.h"
#include "base/rng.h"
#include "run/state.h"

static const struct tmx_opt opts[] = {
    TMX_ROW_NAME(tmx_run_jobs, node, "c1060", "node of workloads/nodes/, or a path"),
    TMX_ROW_INT(tmx_run_jobs, depth, "1", 1, TMX_KQUEUE, 1,
                "kernels a GPU holds at a time; further instances wait"),
    TMX_ROW_REAL(tmx_run_jobs, deadline_s, "s", 0, 1e9, 0,
                 "every instance's deadline after its arrival; 0: none"),
    {0},
};

static void open_jobs(struct tmx_run *r)
{
    const struct tmx_setting *group = tmx_setting_group(r->root, "job", &r->err);
    if (!group || !TMX_TAKE(&r->arena, r->jobs, 1)) {
        return;
    }
    tmx_run_choose(r, TMX_LEVEL_JOB, "none", opts, r->jobs);
    const struct tmx_setting *node = tmx_setting_member(group, "node");
    if (!r->err.code) {
        tmx_run_try(r, tmx_job_data_load, &r->jobs->data, r->jobs->node, NULL);
        tmx_run_locate(r, node ? node : group);
    }
}

static void make_jobs(struct tmx_run *r)
{
    struct tmx_run_jobs *j = r->jobs;
    const size_t n = r->mix.n_entry;
    for (size_t k = 0; k < r->n_kind; k++) {
        const struct tmx_chip *chip = &r->kind[k].chip;
        if ((int)chip->n_sm != j->data.node.sms) {
            tmx_error(&r->err, TMX_ECONFIG, "chip %s has %zu SMs, node %s has GPUs of %d", chip->name,
                      chip->n_sm, j->data.name, j->data.node.sms);
        }
    }
    TMX_TAKE(&r->arena, r->job, n);
    TMX_TAKE(&r->arena, r->kernel, TMX_KIND_MAX);
    TMX_TAKE(&r->arena, j->kind_of, n);
    if (j->deadline_s > 0) {
        TMX_TAKE(&r->arena, j->deadline, n);
    }
    tmx_arena_check(&r->arena, &r->err);
    for (size_t i = 0; i < n && !r->err.code; i++) {
        const struct tmx_mix_entry *e = &r->mix.entry[i];
        if (e->work_s != 0 || e->power_w != 0 || e->gpus != 1 || e->priority != 0) {
            tmx_error_at(&r->err, TMX_ECONFIG, e->file, e->line,
                         "work_s, power_w, gpus and priority do nothing under a job policy");
        }
        tmx_run_try(r, tmx_job_data_kind, &j->data, tmx_mix_kernel_from(e), e->kernel, &j->kind_of[i]);
        if (r->err.code) {
            (void)tmx_fail_from(&r->err, r->err.code, e->file, e->line, "kernel");
            return;
        }
        /* the instance alone; the job level writes its launch over it */
        const struct tmx_workload *w = &j->data.kind[j->kind_of[i]];
        const struct tmx_job_launch alone = {.blocks = w->blocks,
                                             .sms = fmin(w->blocks, j->data.node.sms),
                                             .time_s = w->gpu_time_s,
                                             .sm_w = w->blocks * w->dynamic_w_per_block};
        r->job[i] = (struct tmx_job){.kernel = &r->kernel[j->kind_of[i]],
                                     .sm_speed = 1,
                                     .sm_w = 1,
                                     .chip_sms = j->data.node.sms,
                                     .arrival_s = e->arrival_s,
                                     .priority = e->priority,
                                     .gate_slowdown = 1,
                                     .memory_slowdown = 1,
                                     .remote_weight = 1};
        tmx_job_launch(&r->job[i], &alone);
        if (j->deadline) {
            j->deadline[i] = e->arrival_s + j->deadline_s;
        }
    }
    r->n_kernel = j->data.n_kind;
    for (size_t k = 0; k < j->data.n_kind && r->kernel; k++) {
        /* make kernel */
        const struct tmx_workload *w = &j->data.kind[k];
        r->kernel[k] = (struct tmx_kernel){
            .launch = {.thread_blocks = w->blocks,
                       .threads_per_block = w->threads_per_block,
                       .registers_per_thread = w->registers_per_thread,
                       .shared_bytes = w->shared_bytes},
            .power = {.sm_power_w = w->blocks * w->dynamic_w_per_block, .block_lifetime_s = w->gpu_time_s}};
        snprintf(r->kernel[k].name, sizeof r->kernel[k].name, "%.63s", w->name);
    }
    j->spec = (struct tmx_jobs_spec){.node = &j->data.node,
                                     .kind = j->data.kind,
                                     .n_kind = j->data.n_kind,
                                     .tmpl = j->data.tmpl,
                                     .n_tmpl = j->data.n_tmpl,
                                     .kind_of = j->kind_of,
                                     .deadline_s = j->deadline,
                                     .depth = (size_t)j->depth};
    tmx_run_source(r, &tmx_source_job, &j->spec, NULL);
}

static void write_jobs(const struct tmx_run *r, struct tmx_writer *w)
{
    if (r->jobs) {
        tmx_run_choice_write(r, TMX_LEVEL_JOB, opts, r->jobs, NULL, w);
    }
}

enum { MAX_KERNEL = 64 };

static const struct tmx_kernel *open_kernel(struct tmx_run *r, const struct tmx_mix_entry *e,
                                            const struct tmx_chip *chip)
{
    char path[TMX_PATH_SIZE];
    const char *from = tmx_mix_kernel_from(e);
    const bool is_path = tmx_data_is_path(TMX_DATA_KERNEL, e->kernel); /* relative to the file it is in */
    for (size_t i = 0; i < r->n_kernel; i++) {
        const struct tmx_run_kernel *k = &r->kernel_file[i];
        if (strcmp(k->name, e->kernel) == 0 &&
            (!is_path || k->from == from || (k->from && from && strcmp(k->from, from) == 0))) {
            return &r->kernel[i];
        }
    }
    if (r->n_kernel == MAX_KERNEL) {
        tmx_error(&r->err, TMX_ECONFIG, "more than %d different kernels in a mix", MAX_KERNEL);
        return NULL;
    }
    struct tmx_kernel *k = &r->kernel[r->n_kernel];
    tmx_run_try(r, tmx_data_find_from, TMX_DATA_KERNEL, from, e->kernel, path);
    tmx_run_try(r, tmx_kernel_load, k, path);
    if (!r->err.code && k->power.sm_power_w <= 0 && tmx_kernel_equation1_w(k, chip->power.max_power_w) <= 0) {
        tmx_error_at(&r->err, TMX_ECONFIG, path, 0,
                     "no group power with sm_power_w, or with access rates for a chip with max_*_w: kernel "
                     "%s cannot run in a mix",
                     k->name);
    }
    if (r->err.code) {
        return NULL;
    }
    struct tmx_run_kernel *named = &r->kernel_file[r->n_kernel++];
    snprintf(named->name, sizeof named->name, "%s", e->kernel);
    snprintf(named->path, sizeof named->path, "%s", is_path ? path : e->kernel);
    named->from = from;
    return k;
}

/* What the volunteer SM makes of a kernel: equation 1 of paper 003 with an error of each counter, or the
 * kernel's watts with one error. The draws hang on the kernel's name, so that two jobs of a kernel have the
 * same index. */
static void estimate_pdi(struct tmx_run *r, const struct tmx_mix_entry *e, const struct tmx_chip *chip,
                         const struct tmx_kernel *k, struct tmx_job *job)
{
    const struct tmx_run_options *o = &r->options;
    const double *most_w = chip->power.max_power_w;
    double units_w[TMX_N_PART] = {0};
    struct tmx_rng *rng = NULL;
    char stream[sizeof k->name + 8];
    if (o->pdi == TMX_PDI_WATTS && o->rate_error <= 0) {
        return;
    }
    if (o->pdi == TMX_PDI_COUNTERS && tmx_kernel_equation1_w(k, most_w) <= 0) {
        tmx_error_at(&r->err, TMX_ECONFIG, e->file, e->line,
                     "pdi = \"counters\": kernel %s has no rate_*, or the chip no max_*_w", k->name);
    }
    snprintf(stream, sizeof stream, "pdi %s", k->name);
    tmx_run_try(r, tmx_rng_create, &rng, (uint64_t)o->seed, stream);
    for (int i = 0; i < TMX_N_PART; i++) {
        units_w[i] = o->pdi == TMX_PDI_COUNTERS ? most_w[i] * k->power.access_rate[i]
                     : i == 0                   ? job->pdi_w
                                                : 0;
    }
    job->pdi_w = 0;
    for (int i = 0; i < TMX_N_PART && !r->err.code; i++) {
        job->pdi_w += units_w[i] * fmax(0, 1 + tmx_rng_normal(rng, o->rate_error));
    }
    tmx_rng_destroy(rng);
}

static const struct tmx_chip *reference_chip(const struct tmx_run *r)
{
    for (size_t k = 0; k < r->n_kind; k++) {
        const struct tmx_run_kind *kind = &r->kind[k];
        if (strcmp(kind->name, r->options.reference_chip) == 0 ||
            strcmp(kind->chip.name, r->options.reference_chip) == 0) {
            return &kind->chip;
        }
    }
    return NULL;
}

static bool own_gpu(const struct tmx_run *r)
{
    return strcmp(r->sim_spec.choice[TMX_LEVEL_PLACE].policy->name, "own_gpu") == 0;
}

/* The chip whose times and watts an entry's are. */
static const struct tmx_chip *chip_of(const struct tmx_run *r, size_t entry)
{
    size_t gpu = 0;
    if (entry < r->sync_job.n_member) {
        gpu = r->sync_job.gpu[entry];
    } else if (r->options.reference_chip[0]) {
        return reference_chip(r);
    } else if (own_gpu(r)) {
        gpu = entry % r->n_gpu; /* entries are by arrival */
    }
    return &r->kind[r->kind_of_gpu[gpu]].chip;
}

/* The job on chip c alone, as GPU 0's chip counts. */
static void init_job(struct tmx_run *r, size_t entry, const struct tmx_kernel *k, const struct tmx_chip *c,
                     struct tmx_job *job)
{
    const struct tmx_chip *unit = &r->kind[r->kind_of_gpu[0]].chip;
    const struct tmx_mix_entry *e = &r->mix.entry[entry];
    size_t widest = c->n_sm;
    struct tmx_err why = {0};
    if (tmx_job_init(job, k, c, e->work_s, &why)) {
        tmx_error_at(&r->err, why.code, e->file, e->line, "%s", why.msg);
        return;
    }
    const bool fixed = entry < r->sync_job.n_member || (own_gpu(r) && !r->options.reference_chip[0]);
    for (size_t i = 0; i < r->n_kind && !fixed; i++) {
        widest = r->kind[i].chip.n_sm > widest ? r->kind[i].chip.n_sm : widest;
    }
    if (c != unit || widest > c->n_sm) {
        tmx_job_count_in(job, c, unit, widest);
    }
}

/* Where the policy, not the mix, finds a job's GPU, its times and watts are one chip's on all. */
static void warn_of_chips(struct tmx_run *r)
{
    const bool one = r->options.reference_chip[0] || own_gpu(r);
    for (size_t i = r->sync_job.n_member; i < r->mix.n_entry && !one; i++) {
        const struct tmx_chip *is = chip_of(r, i);
        for (size_t k = 0; k < r->n_kind; k++) {
            struct tmx_job a, b;
            const struct tmx_chip *other = &r->kind[k].chip;
            init_job(r, i, r->job[i].kernel, is, &a);
            init_job(r, i, r->job[i].kernel, other, &b);
            if (r->err.code) {
                return;
            }
            if (a.work_sm_s != b.work_sm_s || a.power_w != b.power_w || a.lifetime_s != b.lifetime_s ||
                a.blocks_per_sm_s != b.blocks_per_sm_s || a.leak_factor != b.leak_factor) {
                tmx_warn("place policy %s may run a kernel on %s or on %s: times and watts of the mix are "
                         "those of GPU 0's %s (key reference_chip names another)",
                         r->sim_spec.choice[TMX_LEVEL_PLACE].policy->name, is->name, other->name, is->name);
                return;
            }
        }
    }
}

static void make_job(struct tmx_run *r, size_t entry)
{
    const struct tmx_mix_entry *e = &r->mix.entry[entry];
    const struct tmx_chip *chip = chip_of(r, entry);
    struct tmx_job *job = &r->job[entry];
    const struct tmx_kernel *k = open_kernel(r, e, chip);
    (void)tmx_fail_from(&r->err, r->err.code, e->file, e->line, "kernel");
    if (k) {
        init_job(r, entry, k, chip, job);
    }
    if (r->err.code) {
        return;
    }
    job->arrival_s = e->arrival_s;
    job->priority = e->priority;
    if (e->power_w > 0 && (k->power.sm_power_w <= 0 || job->phases)) {
        tmx_error_at(&r->err, TMX_ECONFIG, e->file, e->line,
                     "power_w: kernel %s has phases, or no sm_power_w to take the place of", k->name);
    } else if (e->power_w > 0) {
        job->power_w *= e->power_w / k->power.sm_power_w;
        job->pdi_w = job->power_w;
    }
    estimate_pdi(r, e, chip, k, job);
    if (e->gpus > 1) { /* each has its share of the data */
        if ((size_t)e->gpus > r->n_gpu) {
            tmx_error_at(&r->err, TMX_ECONFIG, e->file, e->line, "gpus = %d: the node has %zu", e->gpus,
                         r->n_gpu);
        }
        job->gpus = (size_t)e->gpus;
        job->work_sm_s *= e->work_s > 0 ? e->gpus : 1;
        job->remote_weight = 0;
    }
    job->memory_bound = r->options.memory_bound_time ? k->power.memory_bound : 0;
}

static void open_sync_job(struct tmx_run *r)
{
    const struct tmx_setting *group = tmx_run_member(r, "sync_job");
    size_t n_at_start = 0;
    while (n_at_start < r->mix.n_entry && r->mix.entry[n_at_start].arrival_s <= 0) {
        n_at_start++;
    }
    if (group && r->jobs) {
        tmx_run_fail(r, group, "sync_job: its members are kernels of the mix; not under a job policy");
    }
    tmx_run_try(r, tmx_sync_job_read, &r->sync_job, &r->arena, r->root, r->mix.n_entry, n_at_start, r->n_gpu);
    if (group) {
        tmx_run_source(r, &tmx_source_sync_job, &r->sync_job, group);
    }
}

void tmx_run_source(struct tmx_run *r, const struct tmx_source *is, const void *options,
                    const struct tmx_setting *group)
{
    const struct tmx_source *has = r->sim_spec.source.is;
    r->sim_spec.source.is = is;
    r->sim_spec.source.options = options;
    if (has) {
        tmx_run_fail(r, group, "%s and %s: a run has one source of work", is->base.name, has->base.name);
    }
}

#define SOURCE(Y, name) &tmx_source_##name.base,
static const struct tmx_plugin *const sources[] = {TMX_SOURCE_LIST(SOURCE, SOURCE, )};

static void open_workload(struct tmx_run *r)
{
    for (size_t i = 0; i < sizeof sources / sizeof sources[0] && !r->err.code; i++) {
        const struct tmx_plugin *p = sources[i]; /* those whose group is rows alone */
        const struct tmx_setting *group = p->opts ? tmx_run_member(r, p->name) : NULL;
        void *options = group ? tmx_arena_take(&r->arena, 1, p->state_size) : NULL;
        tmx_arena_check(&r->arena, &r->err);
        if (group) {
            tmx_run_try(r, tmx_opt_read, p->opts, options, group, NULL);
            tmx_run_source(r, (const struct tmx_source *)p, options, group);
        }
    }
    if (r->serve || r->err.code) { /* which is the work */
        return;
    }
    if (r->mix.n_entry == 0) { /* else the caller's */
        const struct tmx_setting *at = tmx_run_member(r, "mix");
        if (!r->options.mix[0]) {
            tmx_run_fail(r, tmx_run_place(r, "mix"), "missing key \"mix\" (a workload), or group serve");
        }
        tmx_run_try(r, tmx_data_find_read, TMX_DATA_MIX, tmx_setting_file(at), r->options.mix, r->mix_path);
        tmx_run_locate(r, at);
        tmx_run_try(r, tmx_mix_load, &r->mix, r->mix_path, (uint64_t)r->options.seed);
    }
    const bool reversed = !r->err.code && r->options.arrival_order == TMX_ARRIVE_REVERSED;
    struct tmx_mix_entry *entry = r->mix.entry;
    for (size_t i = 0, end; reversed && i < r->mix.n_entry;
         i = end) { /* of those at one time the last first */
        for (end = i + 1; end < r->mix.n_entry && entry[end].arrival_s == entry[i].arrival_s; end++) {
        }
        for (size_t a = i, b = end; a + 1 < b; a++, b--) {
            const struct tmx_mix_entry e = entry[a];
            entry[a] = entry[b - 1];
            entry[b - 1] = e;
        }
    }
    if (!r->err.code) {
        open_sync_job(r);
    }
    if (r->options.reference_chip[0] && (r->jobs || !reference_chip(r))) {
        tmx_run_fail(r, tmx_run_member(r, "reference_chip"),
                     r->jobs ? "reference_chip: not under a job policy, whose node has the times"
                             : "reference_chip: no GPU of this run has chip %s",
                     r->options.reference_chip);
    }
    if (r->jobs && !r->err.code) {
        make_jobs(r);
        return;
    }
    TMX_TAKE(&r->arena, r->job, r->mix.n_entry);
    TMX_TAKE(&r->arena, r->kernel, MAX_KERNEL);
    TMX_TAKE(&r->arena, r->kernel_file, MAX_KERNEL);
    tmx_arena_check(&r->arena, &r->err);
    for (size_t i = 0; i < r->mix.n_entry && !r->err.code; i++) {
        make_job(r, i);
    }
    if (!r->err.code) {
        warn_of_chips(r);
    }
}

static void close_workload(struct tmx_run *r)
{
    tmx_mix_finish(&r->mix);
    if (r->jobs) {
        tmx_job_data_finish(&r->jobs->data);
    }
}

static void write_sources(const struct tmx_run *r, struct tmx_writer *w)
{
    const struct tmx_source *is = r->sim_spec.source.is;
    tmx_sync_job_write(&r->sync_job, w);
    if (is && is->base.opts) {
        tmx_opt_write_group(is->base.opts, r->sim_spec.source.options, is->base.name, w);
    }
}

const struct tmx_run_feature tmx_feature_sources = {.write = write_sources};
const struct tmx_run_feature tmx_feature_consolidation = {.open = open_jobs, .write = write_jobs};
const struct tmx_run_feature tmx_feature_workload = {.open = open_workload, .close = close_workload};

/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "run/load/job_files.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/config.h"
#include "base/opt.h"
#include "run/load/data.h"

struct tmx_job_cpu {
    char workload[128];
    double first_s, more_s, power_w;
};

static const char *const redistributions[] = {"bulk", "greedy", NULL};
static const char *const scalings[] = {"linear", "log10", NULL};

static const struct tmx_opt root_opts[] = {
    TMX_ROW_TEXT(tmx_job_data, name, NULL, "the node's name"),
    TMX_ROW_TEXT(tmx_job_data, doc, "", "one sentence"),
    TMX_ROW_TEXT(tmx_job_data, source, "", "where the numbers are from"),
    {0},
};
static const struct tmx_opt gpu_opts[] = {
    TMX_ROW_INT(tmx_node, sms, "1", 1, TMX_SM_MAX, NAN, "SMs of one GPU"),
    TMX_ROW_INT(tmx_node, sm_threads, "1", 1, 1e6, NAN, "threads an SM holds"),
    TMX_ROW_INT(tmx_node, sm_blocks, "1", 1, TMX_SLOT_MAX, NAN, "thread blocks an SM holds"),
    TMX_ROW_INT(tmx_node, sm_registers, "1", 1, 1e9, NAN, "registers of an SM"),
    TMX_ROW_INT(tmx_node, sm_shared_bytes, "B", 0, 1e9, NAN, "shared memory of an SM"),
    TMX_ROW_CHOICE(tmx_node, redistribution, redistributions, "bulk", "who gets untouched blocks"),
    {0},
};
static const struct tmx_opt power_opts[] = {
    TMX_ROW_REAL(tmx_node, idle_w, "W", 0, 1e5, NAN, "whole system idle"),
    TMX_ROW_REAL(tmx_node, active_w, "W", 0, 1e5, NAN, "more when the GPU runs anything"),
    TMX_ROW_REAL(tmx_node, on_die, "1", 0, 1, 0.5, "of what the GPU draws outside its SMs, on the die"),
    TMX_ROW_REAL(tmx_node, temperature_w_per_k, "W/K", 0, 100, 0, "temperature term of equation 10"),
    TMX_ROW_REAL(tmx_node, reference_c, "degC", -50, 200, 70, "temperature at which active_w holds"),
    TMX_ROW_CHOICE(tmx_node, scaling, scalings, "linear", "dynamic power against occupied SMs"),
    TMX_ROW_REAL(tmx_node, uncertainty, "1", 0, 1, NAN, "half-width of a predicted energy, relative"),
    {0},
};
static const struct tmx_opt framework_opts[] = {
    TMX_ROW_REAL(tmx_node, message_s, "s", 0, 1, 0, "one exchange between frontend and backend"),
    TMX_ROW_INT(tmx_node, messages, "1", 0, 1000, 0, "exchanges per instance"),
    TMX_ROW_BOOL(tmx_node, leader, 1, "in a merge of one kind one frontend serves all instances"),
    TMX_ROW_BOOL(tmx_node, reuse_constants, 1, "constant tables are loaded once per kernel"),
    TMX_ROW_REAL(tmx_node, copy_bytes_per_s, "B/s", 1, 1e15, NAN, "through the backend's buffer"),
    {0},
};
static const struct tmx_opt events_opts[] = {
    TMX_ROW_REAL(tmx_node_events, active_w, "W", 0, 1e5, NAN, "lambda"),
    TMX_ROW_REAL(tmx_node_events, compute_w, "W", -1e6, 1e6, NAN, "per computation event per cycle"),
    TMX_ROW_REAL(tmx_node_events, memory_w, "W", -1e6, 1e6, NAN, "per global memory event per cycle"),
    {0},
};
static const struct tmx_opt cpu_opts[] = {
    TMX_ROW_TEXT(tmx_job_cpu, workload, NULL, "kernel:variant"),
    TMX_ROW_REAL(tmx_job_cpu, first_s, "s", 0, 1e9, NAN, "one instance alone"),
    TMX_ROW_REAL(tmx_job_cpu, more_s, "s", 0, 1e9, NAN, "every further one"),
    TMX_ROW_REAL(tmx_job_cpu, power_w, "W", 0, 1e6, NAN, "whole system meanwhile"),
    {0},
};

static const struct tmx_opt member_opts[] = {
    TMX_ROW_TEXT(tmx_template_member, kernel, NULL, "kernel in the template"),
    TMX_ROW_REAL(tmx_template_member, slowdown, "1", 0, 100, 0,
                 "its code runs this much longer than on its own"),
    {0},
};
static const struct tmx_opt template_opts[] = {
    TMX_ROW_TEXT(tmx_template, name, NULL, "template's name"),
    TMX_ROW_REAL(tmx_template, overhead_s, "s", 0, 1e6, 0, "set-up by the framework, once a launch"),
    {0},
};

enum { MAX_CPU = 1024, MAX_VARIANTS = 256, MAX_PARTS = 4096 };

static const struct tmx_keys template_inner[] = {
    {TMX_KEYS_LIST(tmx_template, "members", member, n_kernel, member_opts, 1, TMX_MEMBER_MAX)},
    {0},
};
static const struct tmx_keys node_inner[] = {
    {.group = "gpu", .opts = gpu_opts, .offset = offsetof(struct tmx_job_data, node)},
    {.group = "power", .opts = power_opts, .offset = offsetof(struct tmx_job_data, node)},
    {.group = "framework", .opts = framework_opts, .offset = offsetof(struct tmx_job_data, node)},
    TMX_KEYS_GROUP(tmx_job_data, events, events_opts),
    {TMX_KEYS_LIST(tmx_job_data, "cpu", cpu, n_cpu, cpu_opts, 0, MAX_CPU), .owned = true},
    {TMX_KEYS_LIST(tmx_job_data, "templates", tmpl, n_tmpl, template_opts, 0, TMX_TEMPLATE_MAX),
     .inner = template_inner},
    {0},
};
const struct tmx_keys tmx_node_keys[] = {{.group = "", .opts = root_opts, .inner = node_inner}, {0}};

enum tmx_status tmx_job_data_load(struct tmx_job_data *d, const char *node, const struct tmx_sets *sets,
                                  struct tmx_err *err)
{
    char path[TMX_PATH_SIZE];
    *d = (struct tmx_job_data){0};
    tmx_data_find(TMX_DATA_NODE, node, path, err);
    if (tmx_keys_load(tmx_node_keys, d, path, sets, NULL, err)) {
        tmx_job_data_finish(d);
    }
    return err->code;
}

void tmx_job_data_finish(struct tmx_job_data *d)
{
    free(d->cpu);
    d->cpu = NULL;
    d->n_cpu = 0;
}

struct launch {
    int thread_blocks, threads_per_block, registers_per_thread, shared_bytes;
};
static const struct tmx_opt launch_opts[] = {
    TMX_ROW_INT(launch, thread_blocks, "1", 1, 1e6, NAN, "thread blocks of one launch"),
    TMX_ROW_INT(launch, threads_per_block, "1", 1, 2048, NAN, "threads per block"),
    TMX_ROW_INT(launch, registers_per_thread, "1", 0, 255, NAN, "registers per thread"),
    TMX_ROW_INT(launch, shared_bytes, "B", 0, 1e9, 0, "shared memory per block"),
    {0},
};

struct job_group {
    double compute_per_cycle, memory_per_cycle, bandwidth_per_block, copy_bytes, constant_bytes, sm_share;
};
static const struct tmx_opt job_opts[] = {
    TMX_ROW_REAL(job_group, compute_per_cycle, "1", 0, 100, NAN,
                 "computation events per cycle of one block on its SM"),
    TMX_ROW_REAL(job_group, memory_per_cycle, "1", 0, 100, NAN, "global memory events per cycle"),
    TMX_ROW_REAL(job_group, bandwidth_per_block, "1", 0, 1, 0,
                 "slow-down one block causes to other instances"),
    TMX_ROW_REAL(job_group, copy_bytes, "B", 0, 1e15, 0, "moved per instance"),
    TMX_ROW_REAL(job_group, constant_bytes, "B", 0, 1e15, 0, "tables that instances can share"),
    TMX_ROW_REAL(job_group, sm_share, "1", 1e-3, 1, 1, "of an SM's throughput that one block uses"),
    {0},
};

struct variant {
    char name[64];
    int blocks, threads_per_block; /* 0: the launch's */
    double gpu_time_s, gpu_energy_j;
    double copy_bytes, constant_bytes; /* negative: the group's */
};
static const struct tmx_opt variant_opts[] = {
    TMX_ROW_TEXT(variant, name, NULL, "input size's name"),
    TMX_ROW_INT(variant, blocks, "1", 0, 1e6, 0, "thread blocks; 0: as launch"),
    TMX_ROW_INT(variant, threads_per_block, "1", 0, 2048, 0, "threads per block; 0: as launch"),
    TMX_ROW_REAL(variant, gpu_time_s, "s", 1e-9, 1e9, NAN, "one instance alone on the GPU"),
    TMX_ROW_REAL(variant, gpu_energy_j, "J", 0, 1e15, 0, "whole system meanwhile; 0: not measured"),
    TMX_ROW_REAL(variant, copy_bytes, "B", -1, 1e15, -1, "moved per instance; -1: as the group"),
    TMX_ROW_REAL(variant, constant_bytes, "B", -1, 1e15, -1, "tables; -1: as the group"),
    {0},
};

struct kernel_job {       /* the groups of one file that matter here */
    struct job_group job; /* first: its rows fit */
    struct launch launch;
    struct variant *variant;
    size_t n_variant;
    const struct tmx_setting *variants;
};
static const struct tmx_keys variant_list[] = {
    {TMX_KEYS_LIST(kernel_job, "variants", variant, n_variant, variant_opts, 1, MAX_VARIANTS), .owned = true},
    {0},
};
const struct tmx_keys tmx_job_kernel_keys[] = {{.group = "job", .opts = job_opts, .inner = variant_list},
                                               {0}};

static enum tmx_status read_kernel(struct kernel_job *k, const struct tmx_config *cfg, struct tmx_err *err)
{
    const struct tmx_setting *root = tmx_config_root(cfg), *job = tmx_setting_group(root, "job", err);
    if (!job) {
        tmx_error_setting(err, root, "this kernel has no group \"job\"");
    }
    k->variants = tmx_setting_member(job, "variants");
    tmx_opt_read_group(launch_opts, &k->launch, root, "launch", NULL, err);
    return tmx_keys_read(tmx_job_kernel_keys, k, job, err);
}

enum tmx_status tmx_job_kernel_check(const char *path, struct tmx_err *err)
{
    struct tmx_config *cfg = NULL;
    struct kernel_job k = {.n_variant = 0};
    (void)(tmx_config_load(&cfg, path, NULL, err) || read_kernel(&k, cfg, err));
    free(k.variant);
    tmx_config_close(cfg);
    return err->code;
}

/* Dynamic power from the kernel's first variant with a measured energy, else from its events. */
static void dynamic_power(const struct tmx_job_data *d, const struct kernel_job *k, struct tmx_workload *w)
{
    const struct variant *v = k->variant, *end = v + k->n_variant;
    while (v < end && v->gpu_energy_j <= 0) {
        v++;
    }
    w->dynamic_w_per_block =
        v < end ? tmx_workload_dynamic_w(&d->node, v->blocks > 0 ? v->blocks : k->launch.thread_blocks,
                                         v->gpu_energy_j / v->gpu_time_s)
                : (d->events.compute_w * k->job.compute_per_cycle +
                   d->events.memory_w * k->job.memory_per_cycle) /
                      d->node.sms;
}

static enum tmx_status add_variant(struct tmx_job_data *d, const struct kernel_job *k, const char *variant,
                                   struct tmx_workload *w, struct tmx_err *err)
{
    for (const struct variant *v = k->variant; v < k->variant + k->n_variant; v++) {
        if (strcmp(v->name, variant) != 0) {
            continue;
        }
        w->blocks = v->blocks > 0 ? v->blocks : k->launch.thread_blocks;
        w->threads_per_block = v->threads_per_block > 0 ? v->threads_per_block : k->launch.threads_per_block;
        w->registers_per_thread = k->launch.registers_per_thread;
        w->shared_bytes = k->launch.shared_bytes;
        w->sm_share = k->job.sm_share;
        w->gpu_time_s = v->gpu_time_s;
        w->bandwidth_per_block = k->job.bandwidth_per_block;
        w->copy_bytes = v->copy_bytes >= 0 ? v->copy_bytes : k->job.copy_bytes;
        w->constant_bytes = v->constant_bytes >= 0 ? v->constant_bytes : k->job.constant_bytes;
        d->measured_w[d->n_kind] = v->gpu_energy_j / v->gpu_time_s;
        d->event[d->n_kind][0] = k->job.compute_per_cycle;
        d->event[d->n_kind][1] = k->job.memory_per_cycle;
        dynamic_power(d, k, w);
        return TMX_OK;
    }
    return tmx_fail_setting(err, k->variants, "no variant \"%s\" of kernel %s", variant, w->kernel);
}

enum tmx_status tmx_job_data_kind(struct tmx_job_data *d, const char *from, const char *name, size_t *kind,
                                  struct tmx_err *err)
{
    char path[TMX_PATH_SIZE];
    const char *colon = strchr(name, ':');
    struct tmx_config *cfg = NULL;
    struct kernel_job k = {.n_variant = 0};
    for (*kind = 0; *kind < d->n_kind; ++*kind) {
        if (strcmp(d->kind[*kind].name, name) == 0) {
            return TMX_OK;
        }
    }
    if (d->n_kind == TMX_KIND_MAX) {
        return tmx_fail(err, TMX_ERANGE, "more than %d kinds of instances", TMX_KIND_MAX);
    }
    struct tmx_workload *w = &d->kind[d->n_kind];
    *w = (struct tmx_workload){0};
    if (!colon || (size_t)(colon - name) >= sizeof w->kernel || strlen(name) >= sizeof w->name) {
        return tmx_fail(err, TMX_ECONFIG, "\"%s\": expected KERNEL:VARIANT", name);
    }
    memcpy(w->name, name, strlen(name) + 1);
    memcpy(w->kernel, name, (size_t)(colon - name));
    tmx_data_find_from(TMX_DATA_KERNEL, from, w->kernel, path, err);
    (void)(tmx_config_load(&cfg, path, NULL, err) || read_kernel(&k, cfg, err) ||
           add_variant(d, &k, colon + 1, w, err));
    free(k.variant);
    tmx_config_close(cfg);
    if (!err->code) {
        /* cpu times */
        w->cpu_first_s = w->cpu_more_s = w->cpu_power_w = NAN;
        for (size_t i = 0; i < d->n_cpu; i++) {
            if (strcmp(d->cpu[i].workload, w->name) == 0) {
                w->cpu_first_s = d->cpu[i].first_s;
                w->cpu_more_s = d->cpu[i].more_s;
                w->cpu_power_w = d->cpu[i].power_w;
            }
        }
        d->n_kind++;
    }
    return err->code;
}

static const char *const decisions[] = {"none", "merge", "serial", NULL};
static const struct tmx_opt batch_opts[] = {
    TMX_ROW_TEXT(tmx_job_batch, name, NULL, "the batch's name"),
    TMX_ROW_TEXT(tmx_job_batch, doc, "", "one sentence"),
    TMX_ROW_TEXT(tmx_job_batch, source, "", "where it is from"),
    TMX_ROW_TEXT(tmx_job_batch, time_table, "", "where the paper prints its times"),
    TMX_ROW_TEXT(tmx_job_batch, energy_table, "", "and its energies"),
    TMX_ROW_BOOL(tmx_job_batch, calibrated, 0, "the node's fitted numbers were fitted to it"),
    TMX_ROW_CHOICE(tmx_job_batch, decision, decisions, "none", "what the paper decides: merge or serial"),
    {0},
};
static const struct tmx_opt measured_opts[] = {
    TMX_ROW_REAL(tmx_job_measured, cpu_time_s, "s", 0, 1e9, 0, "on the CPU; 0: not measured"),
    TMX_ROW_REAL(tmx_job_measured, cpu_energy_j, "J", 0, 1e15, 0, "likewise"),
    TMX_ROW_REAL(tmx_job_measured, manual_time_s, "s", 0, 1e9, 0, "merged by hand"),
    TMX_ROW_REAL(tmx_job_measured, manual_energy_j, "J", 0, 1e15, 0, "likewise"),
    TMX_ROW_REAL(tmx_job_measured, dynamic_time_s, "s", 0, 1e9, 0, "merged by the framework"),
    TMX_ROW_REAL(tmx_job_measured, dynamic_energy_j, "J", 0, 1e15, 0, "likewise"),
    TMX_ROW_REAL(tmx_job_measured, serial_time_s, "s", 0, 1e9, 0, "one after another"),
    TMX_ROW_REAL(tmx_job_measured, serial_energy_j, "J", 0, 1e15, 0, "likewise"),
    {0},
};
struct part {
    char workload[128];
    int count;
};
static const struct tmx_opt part_opts[] = {
    TMX_ROW_TEXT(part, workload, NULL, "kernel:variant"),
    TMX_ROW_INT(part, count, "1", 0, 100000, 1, "instances"),
    {0},
};

struct batch {
    struct tmx_job_batch batch; /* first: its rows fit */
    struct part *part;
    size_t n_part;
};
static const struct tmx_keys batch_inner[] = {
    {.group = "measured", .opts = measured_opts, .offset = offsetof(struct batch, batch.measured)},
    {TMX_KEYS_LIST(batch, "instances", part, n_part, part_opts, 1, MAX_PARTS), .owned = true},
    {0},
};
const struct tmx_keys tmx_batch_keys[] = {{.group = "", .opts = batch_opts, .inner = batch_inner}, {0}};

enum tmx_status tmx_job_batch_load(struct tmx_job_data *d, const char *name, struct tmx_job_batch *b,
                                   struct tmx_err *err)
{
    char path[TMX_PATH_SIZE];
    struct tmx_config *cfg = NULL;
    struct batch f = {.n_part = 0};
    size_t total = 0;
    tmx_data_find(TMX_DATA_BATCH, name, path, err);
    tmx_keys_load(tmx_batch_keys, &f, path, NULL, &cfg, err);
    for (size_t i = 0; i < f.n_part && !err->code; i++) {
        size_t kind = 0;
        const struct tmx_setting *s = tmx_setting_at(tmx_config_find(cfg, "instances"), i);
        if (!tmx_setting_locate(s, tmx_job_data_kind(d, tmx_setting_file(s), f.part[i].workload, &kind, err),
                                err)) {
            f.batch.count[kind] += (size_t)f.part[i].count;
        }
        total += (size_t)f.part[i].count;
    }
    if (!err->code && total == 0) {
        tmx_error_setting(err, tmx_config_find(cfg, "instances"), "instances: no instance at all");
    }
    *b = f.batch;
    free(f.part);
    tmx_config_close(cfg);
    return err->code;
}

#define _POSIX_C_SOURCE 200809L
#include "run/run.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/config.h"
#include "power/power.h"
#include "run/cta.h"
#include "run/gate.h"
#include "run/input/data.h"
#include "run/jobs.h"
#include "run/node.h"
#include "run/options.h"
#include "run/package.h"
#include "run/presets.h"
#include "run/state.h"
#include "sched/sched.h"

enum { MAX_KERNEL = 64 };

/* One level's group: `dtm = { policy = "dvfs"; emergency_c = 88.5; }`. */
static const char *const policy_key[] = {"policy", NULL};

static enum tmx_status level_name(const struct tmx_setting *root, const char *level, const char *def,
                                  const char **name, struct tmx_err *err)
{
    const struct tmx_setting *group;
    *name = def;
    const enum tmx_status st = tmx_setting_group(root, level, &group, err);
    return st ? st : tmx_setting_word(group, "policy", def, name, err);
}

/* Find the component `name` in a table of plug-ins (each starts with its struct tmx_plugin). */
static enum tmx_status find_plugin(const void *const *table, const char *level, const char *name,
                                   const struct tmx_setting *root, size_t *index, struct tmx_err *err)
{
    const char *names[64] = {NULL};
    size_t n = 0;
    for (; table[n] && n < 64; n++) {
        names[n] = ((const struct tmx_plugin *)table[n])->name;
        if (strcmp(names[n], name) == 0) {
            *index = n;
            return TMX_OK;
        }
    }
    char list[512] = "";
    for (size_t i = 0; i < n; i++) {
        const size_t used = strlen(list);
        snprintf(list + used, sizeof list - used, "%s%s", i ? ", " : "", names[i]);
    }
    const struct tmx_setting *group = tmx_setting_member(root, level);
    return tmx_fail_setting(err, group ? group : root, "%s: unknown policy \"%s\"; there is %s", level, name,
                            list);
}

/* Choose and configure one level; the table's entries begin with struct tmx_plugin. */
static enum tmx_status open_level(const struct tmx_setting *root, const char *level, const char *def,
                                  const void *const *table, size_t *index, void **state, struct tmx_err *err)
{
    const char *name;
    enum tmx_status st = level_name(root, level, def, &name, err);
    st = st ? st : find_plugin(table, level, name, root, index, err);
    return st ? st : tmx_plugin_state(table[*index], tmx_setting_member(root, level), policy_key, state, err);
}

#define OPEN_LEVEL(run, root, field, level, def, table, err)                                            \
    open_one(root, level, def, (const void *const *)(table), (const void **)&(run)->sim_spec.field.ops, \
             &(run)->sim_spec.field.state, err)

static enum tmx_status open_one(const struct tmx_setting *root, const char *level, const char *def,
                                const void *const *table, const void **ops, void **state, struct tmx_err *err)
{
    size_t i = 0;
    const enum tmx_status st = open_level(root, level, def, table, &i, state, err);
    *ops = st ? NULL : table[i];
    return st;
}

static enum tmx_status open_levels(struct tmx_run *r, const struct tmx_setting *root, struct tmx_err *err)
{
    const struct tmx_preset *p = tmx_preset_find(r->options.policy);
    if (!p) {
        const struct tmx_setting *s = tmx_setting_member(root, "policy");
        return tmx_fail_setting(err, s ? s : root,
                                "policy = \"%s\": no such preset; see `thermix list policies`",
                                r->options.policy);
    }
    enum tmx_status st = OPEN_LEVEL(r, root, place, "place", p->place, tmx_place_policies, err);
    st = st ? st : OPEN_LEVEL(r, root, mix, "mix_policy", p->mix, tmx_mix_policies, err);
    st = st ? st : OPEN_LEVEL(r, root, dtm, "dtm", p->dtm, tmx_dtm_policies, err);
    st = st ? st : OPEN_LEVEL(r, root, safety, "throttle", "throttle", tmx_dtm_policies, err);
    st = st ? st : OPEN_LEVEL(r, root, tb, "tb", p->tb, tmx_tb_policies, err);
    return st ? st : OPEN_LEVEL(r, root, cooling, "fan", "fixed", tmx_fan_policies, err);
}

static enum tmx_status open_kernel(struct tmx_run *r, const char *name, const struct tmx_kernel **kernel,
                                   struct tmx_err *err)
{
    char path[TMX_PATH_SIZE];
    for (size_t i = 0; i < r->n_kernel; i++) {
        if (strcmp(r->kernel_file[i], name) == 0) {
            *kernel = &r->kernel[i];
            return TMX_OK;
        }
    }
    if (r->n_kernel == MAX_KERNEL) {
        return tmx_fail(err, TMX_ECONFIG, "more than %d different kernels in a mix", MAX_KERNEL);
    }
    struct tmx_kernel *k = &r->kernel[r->n_kernel];
    enum tmx_status st = tmx_data_find(TMX_DATA_KERNEL, name, path, err);
    st = st ? st : tmx_kernel_load(k, path, err);
    if (!st && k->power.sm_power_w <= 0) {
        st = tmx_fail_at(err, TMX_ECONFIG, path, 0,
                         "no group power with sm_power_w: kernel %s cannot run in a mix", k->name);
    }
    if (st) {
        return st;
    }
    snprintf(r->kernel_file[r->n_kernel], sizeof r->kernel_file[0], "%s", name);
    r->n_kernel++;
    *kernel = k;
    return TMX_OK;
}

static enum tmx_status make_job(struct tmx_run *r, const struct tmx_mix_entry *e, struct tmx_job *job,
                                struct tmx_err *err)
{
    const struct tmx_chip *c = &r->kind[r->kind_of_gpu[0]].chip;
    const struct tmx_kernel *k = NULL;
    enum tmx_status st = open_kernel(r, e->kernel, &k, err);
    if (st) {
        return st;
    }
    const int occupancy = tmx_kernel_occupancy(k, &c->limits);
    if (occupancy == 0) {
        return tmx_fail_at(
            err, TMX_ECONFIG, r->mix_path, 0,
            "kernel %s fits on no SM of %s: a block needs %d threads, %d registers, %d B shared memory",
            k->name, c->name, k->launch.threads_per_block,
            k->launch.threads_per_block * k->launch.registers_per_thread, k->launch.shared_bytes);
    }
    const double lifetime_s = k->power.block_lifetime_s * c->kernel_time_scale;
    const double per_sm_s = occupancy / lifetime_s, n_sm = (double)c->n_sm;
    const double power_w = k->power.sm_power_w * c->kernel_power_scale / c->sm_power_reference_sms;
    const double work_sm_s = e->work_s > 0 ? e->work_s * n_sm : k->launch.thread_blocks / per_sm_s;
    const double width = ceil(work_sm_s * per_sm_s / occupancy);
    *job = (struct tmx_job){.kernel = k,
                            .arrival_s = e->arrival_s,
                            .priority = e->priority,
                            .work_sm_s = work_sm_s,
                            .blocks_per_sm_s = per_sm_s,
                            .lifetime_s = lifetime_s,
                            .power_w = power_w,
                            .pdi_w = power_w,
                            .slowdown = 1,
                            .memory_bound = r->options.memory_bound_time ? k->power.memory_bound : 0,
                            .remote_weight = k->power.remote_weight,
                            .width_sms = width < n_sm ? (size_t)width : c->n_sm};
    return TMX_OK;
}

static enum tmx_status open_mix(struct tmx_run *r, struct tmx_err *err)
{
    enum tmx_status st = tmx_data_find(TMX_DATA_MIX, r->options.mix, r->mix_path, err);
    st = st ? st : tmx_mix_load(&r->mix, r->mix_path, (uint64_t)r->options.seed, err);
    if (st) {
        return st;
    }
    if (r->jobs) {
        return tmx_run_jobs_make(r, err);
    }
    r->job = calloc(r->mix.n_entry, sizeof *r->job);
    r->kernel = calloc(MAX_KERNEL, sizeof *r->kernel);
    r->kernel_file = calloc(MAX_KERNEL, sizeof *r->kernel_file);
    if (!r->job || !r->kernel || !r->kernel_file) {
        return tmx_fail(err, TMX_ENOMEM, "mix of %zu kernels", r->mix.n_entry);
    }
    for (size_t i = 0; i < r->mix.n_entry && !st; i++) {
        st = make_job(r, &r->mix.entry[i], &r->job[i], err);
    }
    return st;
}

/* Paper 003, Table 3: mean speed-up of intermixed kernels on the card, by policy [%]. */
static double measured_gain(const char *mix_policy)
{
    static const struct {
        const char *policy;
        double percent;
    } rows[] = {
        {"alternate", 1.26}, {"mixed_uniform", 5.43}, {"mixed_nonuniform", 2.83}, {"mixed_alternate", 2.87}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        if (strcmp(rows[i].policy, mix_policy) == 0) {
            return 1 + rows[i].percent / 100;
        }
    }
    return 1;
}

static enum tmx_status fill_spec(struct tmx_run *r, struct tmx_err *err)
{
    const struct tmx_run_options *o = &r->options;
    struct tmx_sim_spec *s = &r->sim_spec;
    s->machine =
        (struct tmx_machine_spec){.job = r->job,
                                  .n_job = r->mix.n_entry,
                                  .dt_s = o->tick_s,
                                  .gain = o->measured_gains ? measured_gain(s->mix.ops->base.name) : 1,
                                  .system_kernel_s = o->system_kernel_s,
                                  .blocks_wait = o->stopped_blocks == TMX_BLOCKS_WAIT};
    s->power.ops = tmx_power_models[0];
    s->power.options = &o->leakage;
    s->dt_s = o->tick_s;
    s->quantum_s = o->quantum_s;
    s->warmup_s = o->warmup_s;
    s->warmup_with = (enum tmx_warmup)o->warmup_with;
    s->stuck_s = o->stuck_s;
    s->seed = (uint64_t)o->seed;
    return tmx_run_node_spec(r, err);
}

static void hash_kind(struct tmx_hash *h, const struct tmx_run_kind *k)
{
    for (size_t u = 0; u < k->chip.floorplan.n_unit; u++) {
        const struct tmx_unit *unit = &k->chip.floorplan.unit[u];
        const double numbers[] = {unit->x_m, unit->y_m, unit->w_m, unit->h_m};
        tmx_hash_add_text(h, unit->name);
        tmx_hash_add(h, numbers, sizeof numbers);
    }
    tmx_hash_add(h, k->chip.level, sizeof k->chip.level);
    tmx_hash_add(h, k->level_k_per_w, k->n_level * sizeof *k->level_k_per_w);
}

/* The text of the resolved configuration, and the hash of it and of what it names. */
static enum tmx_status identify(struct tmx_run *r, struct tmx_err *err)
{
    struct tmx_hash *h = NULL;
    size_t size = 0;
    FILE *f = open_memstream(&r->resolved, &size);
    if (!f) {
        return tmx_fail(err, TMX_ENOMEM, "resolved configuration");
    }
    tmx_run_write_resolved(r, f);
    fclose(f);
    const enum tmx_status st = tmx_hash_create(&h, err);
    if (!st) {
        tmx_hash_add(h, r->resolved, size);
        for (size_t i = 0; i < r->mix.n_entry; i++) {
            const struct tmx_job *j = &r->job[i];
            const double numbers[] = {j->arrival_s, j->priority, j->work_sm_s, j->blocks_per_sm_s,
                                      j->power_w};
            tmx_hash_add_text(h, j->kernel->name);
            tmx_hash_add(h, numbers, sizeof numbers);
        }
        for (size_t k = 0; k < r->n_kind; k++) {
            hash_kind(h, &r->kind[k]);
        }
        tmx_run_node_hash(r, h);
        tmx_hash_hex(h, r->id);
        tmx_hash_destroy(h);
    }
    return st;
}

static enum tmx_status read_sensor(struct tmx_run *r, const struct tmx_setting *root, struct tmx_err *err)
{
    struct tmx_sensor_options *o = &r->sim_spec.sensor;
    const enum tmx_status st = tmx_opt_read_group(tmx_sensor_opts, o, root, "sensor", NULL, err);
    if (!st && o->period_s == 0) {
        o->period_s = ceil(TMX_SENSOR_PERIOD_S / r->options.tick_s - 1e-9) * r->options.tick_s;
    }
    return st;
}

enum tmx_status tmx_run_describe(struct tmx_run **run, const struct tmx_setting *root, struct tmx_err *err)
{
    struct tmx_run *r = calloc(1, sizeof *r);
    *run = NULL;
    if (!r) {
        return tmx_fail(err, TMX_ENOMEM, "run");
    }
    enum tmx_status st = tmx_opt_read(tmx_run_opts, &r->options, root, tmx_run_groups, err);
    st = st ? st : open_levels(r, root, err);
    st = st ? st : tmx_run_jobs_open(r, root, err);
    st = st ? st : read_sensor(r, root, err);
    st = st ? st : tmx_run_node_open(r, root, err);
    st = st ? st : tmx_run_check_times(r, root, err);
    st = st ? st : open_mix(r, err);
    st = st ? st : tmx_run_gate_open(r, root, err);
    st = st ? st : tmx_run_cta_open(r, root, err);
    st = st ? st : tmx_run_thermal_read(r, root, err);
    st = st ? st : identify(r, err);
    if (st) {
        tmx_run_close(r);
        return st;
    }
    *run = r;
    return TMX_OK;
}

enum tmx_status tmx_run_open(struct tmx_run **run, const struct tmx_setting *root, struct tmx_err *err)
{
    struct tmx_run *r = NULL;
    enum tmx_status st = tmx_run_describe(&r, root, err);
    *run = NULL;
    if (st) {
        return st;
    }
    st = tmx_run_thermal_build(r, err);
    st = st ? st : fill_spec(r, err);
    if (!st) {
        st = tmx_sim_create(&r->sim, &r->sim_spec, err);
        r->sim_spec.place.state = r->sim_spec.mix.state = r->sim_spec.dtm.state = NULL; /* taken over */
        r->sim_spec.safety.state = r->sim_spec.tb.state = r->sim_spec.job.state = NULL;
        r->sim_spec.cooling.state = NULL;
    }
    if (st) {
        tmx_run_close(r);
        return st;
    }
    *run = r;
    return TMX_OK;
}

void tmx_run_close(struct tmx_run *r)
{
    if (!r) {
        return;
    }
    tmx_sim_destroy(r->sim);
    free(r->sim_spec.job.state);
    free(r->sim_spec.place.state);
    free(r->sim_spec.mix.state);
    free(r->sim_spec.dtm.state);
    free(r->sim_spec.safety.state);
    free(r->sim_spec.tb.state);
    tmx_run_cta_close(r);
    tmx_run_jobs_close(r->jobs);
    free(r->sim_spec.cooling.state);
    tmx_run_thermal_close(r);
    tmx_run_gate_close(r);
    tmx_mix_finish(&r->mix);
    tmx_run_node_close(r);
    free(r->resolved);
    free(r->job);
    free(r->kernel);
    free(r->kernel_file);
    free(r);
}

const char *tmx_run_resolved(const struct tmx_run *r)
{
    return r->resolved;
}

const char *tmx_run_id(const struct tmx_run *r)
{
    return r->id;
}

enum tmx_status tmx_run_execute(struct tmx_run *r, const struct tmx_observer *observer, struct tmx_err *err)
{
    return tmx_sim_run(r->sim, observer, err);
}

struct tmx_sim *tmx_run_sim(struct tmx_run *r)
{
    return r->sim;
}

const char *tmx_run_mix_name(const struct tmx_run *r)
{
    return r->mix.name;
}

const char *tmx_run_policy_name(const struct tmx_run *r)
{
    return r->options.policy;
}

double tmx_run_total_s(const struct tmx_run *r)
{
    double work_sm_s = 0, last_s = 0;
    for (size_t i = 0; i < r->mix.n_entry; i++) {
        work_sm_s += r->job[i].work_sm_s;
        last_s = fmax(last_s, r->job[i].arrival_s);
    }
    return r->options.warmup_s + fmax(last_s, work_sm_s / (double)(r->kind[0].chip.n_sm * r->n_gpu));
}

const struct tmx_sim *tmx_run_sim_const(const struct tmx_run *r)
{
    return r->sim;
}

const struct tmx_sim_gpu_thermal *tmx_run_gpu_thermal(const struct tmx_run *r, size_t gpu)
{
    return &r->thermal_of_gpu[gpu];
}

double tmx_run_tick_s(const struct tmx_run *r)
{
    return r->options.tick_s;
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _POSIX_C_SOURCE 200809L
#include "run/run.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/config.h"
#include "core/base/plausible.h"
#include "core/base/provenance.h"
#include "run/choose.h"
#include "run/cta.h"
#include "run/gate.h"
#include "run/jobs.h"
#include "run/node.h"
#include "run/options.h"
#include "run/package.h"
#include "run/registry.h"
#include "run/state.h"

static enum tmx_status fill_spec(struct tmx_run *r, struct tmx_err *err)
{
    const struct tmx_run_options *o = &r->options;
    struct tmx_sim_spec *s = &r->sim_spec;
    const struct tmx_mix_policy *mix = tmx_mix_of(&s->choice[TMX_LEVEL_MIX]);
    s->machine = (struct tmx_machine_spec){.job = r->job,
                                           .n_job = r->mix.n_entry,
                                           .sync_job = &r->sync_job,
                                           .dt_s = o->tick_s,
                                           .gain = o->measured_gains ? 1 + mix->measured_gain_pct / 100 : 1,
                                           .system_kernel_s = o->system_kernel_s,
                                           .blocks_wait = o->stopped_blocks == TMX_BLOCKS_WAIT};
    s->power.ops = (const struct tmx_power_ops *)tmx_catalog_item(r->catalog, TMX_KIND_POWER, 0);
    s->power.options = &o->leakage;
    s->dt_s = o->tick_s;
    s->quantum_s = o->quantum_s;
    s->warmup_s = o->warmup_s;
    s->warmup_with = (enum tmx_warmup)o->warmup_with;
    s->stuck_s = o->stuck_s;
    s->seed = (uint64_t)o->seed;
    s->n_thread = (size_t)o->threads;
    return tmx_run_node_spec(r, err);
}

/* The text of the resolved configuration, and the id: a hash of the program's version, of every key with its
 * value and of every file that was read. Paths stay out of it: a copy elsewhere is the same input. */
static enum tmx_status identify(struct tmx_run *r, struct tmx_err *err)
{
    struct tmx_hash *h = NULL;
    size_t size = 0;
    FILE *f = open_memstream(&r->resolved, &size), *k = f ? open_memstream(&r->keys, &size) : NULL;
    if (!f || !k) {
        if (f) {
            fclose(f);
        }
        return tmx_fail(err, TMX_ENOMEM, "resolved configuration");
    }
    tmx_run_write_resolved(r, TMX_RESOLVED_FULL, f);
    tmx_run_write_resolved(r, TMX_RESOLVED_KEYS, k);
    fclose(f);
    fclose(k);
    enum tmx_status st = tmx_hash_create(&h, err);
    if (!st) {
        tmx_hash_add_text(h, TMX_VERSION);
        tmx_hash_add(h, r->keys, size);
        st = tmx_provenance_hash(&r->inputs, h, err);
        if (r->sim_spec.choice[TMX_LEVEL_GATE].policy) { /* what it chooses is in no option and no file */
            const struct tmx_gate_policy *p = tmx_gate_of(&r->sim_spec.choice[TMX_LEVEL_GATE]);
            const int choices[] = {(int)p->order, (int)p->wake, p->coordinated, p->adaptive};
            tmx_hash_add(h, choices, sizeof choices);
        }
        /* a policy of another language whose code sees what has no hash says so in its option `code` */
        const bool repeatable = !strstr(r->keys, "code = \"" TMX_UNREPRODUCIBLE);
        memcpy(r->id, TMX_UNREPRODUCIBLE, sizeof TMX_UNREPRODUCIBLE);
        tmx_hash_hex(h, r->id + (repeatable ? 0 : strlen(TMX_UNREPRODUCIBLE)));
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

static enum tmx_status open_modules(struct tmx_run *r, const struct tmx_setting *root, struct tmx_err *err)
{
    const struct tmx_setting *modules;
    enum tmx_status st = tmx_setting_list(root, "modules", 0, 64, &modules, err);
    if (st || !modules) {
        return st;
    }
    st = tmx_catalog_copy(&r->own_catalog, r->catalog, err);
    r->catalog = st ? r->catalog : r->own_catalog;
    return st ? st : tmx_catalog_load_all(r->own_catalog, modules, err);
}

static void keep_doubt(void *run, const char *text)
{
    struct tmx_run *r = run;
    const size_t used = strlen(r->doubt), n = strlen(text);
    if (used + n + 2 <= sizeof r->doubt && !strstr(r->doubt, text)) {
        snprintf(r->doubt + used, sizeof r->doubt - used, "%s\n", text);
    }
}

static enum tmx_status describe(struct tmx_run **run, const struct tmx_setting *root,
                                const struct tmx_catalog *catalog, struct tmx_err *err)
{
    struct tmx_run *r = calloc(1, sizeof *r);
    *run = NULL;
    if (!r) {
        return tmx_fail(err, TMX_ENOMEM, "run");
    }
    r->catalog = catalog ? catalog : &tmx_builtin;
    struct tmx_doubts doubts = {.line = keep_doubt, .to = r};
    tmx_provenance_begin(
        &r->inputs); /* a recorder: what is read from here on is part of the run's identity */
    tmx_doubts_begin(&doubts);
    enum tmx_status st = tmx_opt_read(tmx_run_opts, &r->options, root, tmx_run_groups, err);
    st = st ? st : open_modules(r, root, err);
    st = st ? st : tmx_run_choose_all(r, root, err);
    st = st ? st : tmx_run_check_keys(r, root, err);
    st = st ? st : tmx_run_jobs_open(r, root, err);
    st = st ? st : read_sensor(r, root, err);
    st = st ? st
            : tmx_opt_read(tmx_run_forecast_opts, &r->forecast_options, tmx_setting_member(root, "forecast"),
                           NULL, err);
    st = st ? st
            : tmx_opt_read(tmx_run_bound_opts, &r->bound_options, tmx_setting_member(root, "bound"), NULL,
                           err);
    st = st ? st : tmx_run_node_open(r, root, err);
    st = st ? st : tmx_run_check_boards(r, root, err);
    st = st ? st : tmx_run_check_times(r, root, err);
    st = st ? st : tmx_run_workload_open(r, root, err);
    st = st ? st : tmx_run_gate_open(r, root, err);
    st = st ? st : tmx_run_cta_open(r, root, err);
    st = st ? st : tmx_run_thermal_read(r, root, err);
    st = st ? st : tmx_run_check_cost(r, root, err);
    tmx_doubts_end(&doubts);
    tmx_provenance_end(&r->inputs);
    if (!st) {
        tmx_run_note_powerless(r);
    }
    st = st ? st : identify(r, err);
    if (st) {
        tmx_run_destroy(r);
        return st;
    }
    *run = r;
    return TMX_OK;
}

enum tmx_status tmx_run_describe(struct tmx_run **run, const struct tmx_setting *root, struct tmx_err *err)
{
    return describe(run, root, NULL, err);
}

enum tmx_status tmx_run_look_at(struct tmx_run **run, const struct tmx_setting *root, struct tmx_err *err)
{
    return describe(run, root, &tmx_builtin_check, err);
}

enum tmx_status tmx_run_create(struct tmx_run **run, const struct tmx_setting *root, struct tmx_err *err)
{
    return tmx_run_create_with(run, root, NULL, err);
}

enum tmx_status tmx_run_create_with(struct tmx_run **run, const struct tmx_setting *root,
                                    const struct tmx_catalog *catalog, struct tmx_err *err)
{
    struct tmx_run *r = NULL;
    enum tmx_status st = describe(&r, root, catalog, err);
    *run = NULL;
    if (st) {
        return st;
    }
    st = tmx_run_thermal_build(r, err);
    st = st ? st : tmx_run_forecast_build(r, err);
    st = st ? st : fill_spec(r, err);
    if (!st) {
        st = tmx_sim_create(&r->sim, &r->sim_spec, err);
    }
    if (st) {
        tmx_run_destroy(r);
        return st;
    }
    *run = r;
    return TMX_OK;
}

void tmx_run_destroy(struct tmx_run *r)
{
    if (!r) {
        return;
    }
    tmx_sim_destroy(r->sim);
    tmx_choices_finish(r->sim_spec.choice);
    tmx_run_cta_close(r);
    tmx_run_jobs_close(r->jobs);
    tmx_run_forecast_close(r);
    tmx_run_thermal_close(r);
    tmx_run_gate_close(r);
    tmx_run_workload_close(r);
    tmx_run_node_close(r);
    for (size_t i = 0; i < TMX_N_CHOICE; i++) {
        free(r->unread[i]);
    }
    free(r->resolved);
    free(r->keys);
    tmx_provenance_finish(&r->inputs);
    tmx_catalog_destroy(r->own_catalog);
    free(r);
}

const char *tmx_run_resolved(const struct tmx_run *r)
{
    return r->resolved;
}

void tmx_run_warn(const struct tmx_run *r, FILE *out)
{
    for (const char *line = r->note; *line; line = strchr(line, '\n') + 1) {
        fprintf(out, "warning: %.*s\n", (int)strcspn(line, "\n"), line);
    }
}

const char *tmx_run_keys(const struct tmx_run *r)
{
    return r->keys;
}

const char *tmx_run_id(const struct tmx_run *r)
{
    return r->id;
}

enum tmx_status tmx_run_execute(struct tmx_run *r, const struct tmx_observer *observer, struct tmx_err *err)
{
    const enum tmx_status st = tmx_sim_run(r->sim, observer, err);
    const double peak_k = tmx_sim_recorder(r->sim)->peak_sm_k;
    if (!st && peak_k > 0) {
        tmx_plausible_result("the run", peak_k, peak_k, r->kind[0].stack.spec.ambient_k);
    }
    return st;
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

const struct tmx_sim *tmx_run_sim_const(const struct tmx_run *r)
{
    return r->sim;
}

const struct tmx_sim_gpu_thermal *tmx_run_gpu_thermal(const struct tmx_run *r, size_t gpu)
{
    return &r->thermal_of_gpu[gpu];
}

size_t tmx_run_fastest_air(const struct tmx_run *r)
{
    const struct tmx_run_kind *k = &r->kind[r->kind_of_gpu[0]];
    size_t best = 0;
    for (size_t l = 1; l < k->n_level; l++) {
        best = k->level_k_per_w[l] < k->level_k_per_w[best] ? l : best;
    }
    return k->n_level > 1 ? best : SIZE_MAX;
}

double tmx_run_tick_s(const struct tmx_run *r)
{
    return r->options.tick_s;
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The public functions of a run. */
#include <thermix/run.h>

#include <gsl/gsl_errno.h>
#include <pthread.h>
#include <stddef.h>
#include <string.h>

#include "base/config.h"
#include "base/output.h"
#include "run/run.h"
#include "run/state.h"
#include "run/summary.h"

/* The one variable of the library: GSL's handler is one of the process, so that what has set it aside must be
 * one, too. */
static struct {
    pthread_mutex_t lock;
    size_t n_guest; /* calls inside now */
    gsl_error_handler_t *handler;
} process = {.lock = PTHREAD_MUTEX_INITIALIZER};

void tmx_process_guard_enter(struct tmx_process_guard *host)
{
    tmx_fp_env_enter(&host->thread);
    pthread_mutex_lock(&process.lock);
    if (process.n_guest++ == 0) {
        process.handler = gsl_set_error_handler_off();
    }
    pthread_mutex_unlock(&process.lock);
}

void tmx_process_guard_leave(const struct tmx_process_guard *host)
{
    pthread_mutex_lock(&process.lock);
    if (--process.n_guest == 0) {
        gsl_set_error_handler(process.handler);
    }
    pthread_mutex_unlock(&process.lock);
    tmx_fp_env_leave(&host->thread);
}

static const enum tmx_thing thing_of[TMX_N_QUANTITY] = {
#define X(name, thing, text) [name] = thing,
    TMX_QUANTITY_LIST(X)
#undef X
};

enum tmx_status tmx_run_open(struct tmx_run **run, const struct tmx_config *config,
                             const struct tmx_catalog *catalog, struct tmx_err *err)
{
    struct tmx_process_guard host;
    *run = NULL;
    tmx_process_guard_enter(&host);
    const enum tmx_status st =
        tmx_run_create(run, tmx_config_root(config), &(struct tmx_run_how){.catalog = catalog}, err);
    tmx_process_guard_leave(&host);
    return st;
}

enum tmx_status tmx_run_step(struct tmx_run *r, uint64_t n_tick, bool *done, struct tmx_err *err)
{
    struct tmx_process_guard host;
    tmx_process_guard_enter(&host);
    const enum tmx_status st = tmx_sim_advance(r->sim, n_tick, NULL, err);
    tmx_process_guard_leave(&host);
    if (done) {
        *done = tmx_sim_done(r->sim);
    }
    if (st && err) { /* a program may have several runs */
        char policy[300];
        const size_t n = strlen(err->msg);
        snprintf(err->msg + n, sizeof err->msg - n, " (run: mix %s, policy %s, at %g s)", tmx_run_mix_name(r),
                 tmx_run_policy_words(r, policy, sizeof policy), tmx_sim_time_s(r->sim));
    }
    return st;
}

/* The i-th metric that a run has; the row without a name after the last. */
static const struct tmx_metric *metric_of(const struct tmx_run *r, size_t i)
{
    const struct tmx_metric *m = tmx_metrics;
    for (size_t n = 0; m->name && (!tmx_run_has_metric(r, m) || n++ < i); m++) {
    }
    return m;
}

size_t tmx_run_count(const struct tmx_run *r, enum tmx_thing thing)
{
    const struct tmx_machine *m = r->sim->machine;
    size_t n_metric = 0;
    while (thing == TMX_THING_METRIC && metric_of(r, n_metric)->name) {
        n_metric++;
    }
    const size_t n[TMX_N_THING] = {[TMX_THING_RUN] = 1,
                                   [TMX_THING_GPU] = m->n_gpu,
                                   [TMX_THING_SM] = m->n_sm,
                                   [TMX_THING_UNIT] = m->n_unit,
                                   [TMX_THING_FAN] = r->sim->cooling ? r->topology.n_fan : 0,
                                   [TMX_THING_JOB] = m->n_job,
                                   [TMX_THING_METRIC] = n_metric};
    return (unsigned)thing < TMX_N_THING ? n[thing] : 0;
}

/* The GPU that the i-th of all SMs (units when by_unit) is on. */
static const struct tmx_gpu *gpu_of(const struct tmx_machine *m, size_t i, bool by_unit)
{
    size_t g = m->n_gpu - 1;
    while (g > 0 && i < (by_unit ? m->gpu[g].unit0 : m->gpu[g].sm0)) {
        g--;
    }
    return &m->gpu[g];
}

const char *tmx_run_name(const struct tmx_run *r, enum tmx_thing thing, size_t i)
{
    const struct tmx_machine *m = r->sim->machine;
    if (i >= tmx_run_count(r, thing)) {
        return NULL;
    }
    switch (thing) {
    case TMX_THING_RUN:
        return r->mix.name;
    case TMX_THING_GPU:
        return m->gpu[i].chip->name;
    case TMX_THING_SM: {
        const struct tmx_gpu *gpu = gpu_of(m, i, false);
        return gpu->chip->floorplan.unit[gpu->chip->unit_of_sm[i - gpu->sm0]].name;
    }
    case TMX_THING_UNIT: {
        const struct tmx_gpu *gpu = gpu_of(m, i, true);
        return gpu->chip->floorplan.unit[i - gpu->unit0].name;
    }
    case TMX_THING_FAN:
        return r->topology.fan[i].name;
    case TMX_THING_JOB:
        return m->job[i].kernel->name;
    case TMX_THING_METRIC:
        return metric_of(r, i)->name;
    default:
        return NULL;
    }
}

const double *tmx_run_look(const struct tmx_run *r, enum tmx_quantity q, size_t *n)
{
    const struct tmx_frame *f = &r->sim->frame;
    const double *at = q == TMX_READ_SM_SENSED_K    ? f->sensed_k
                       : q == TMX_READ_UNIT_TEMP_K  ? f->temp_k
                       : q == TMX_READ_UNIT_POWER_W ? f->power_w
                                                    : NULL;
    *n = at ? tmx_run_count(r, thing_of[q]) : 0;
    return at;
}

static double of_gpu(const struct tmx_gpu *g, enum tmx_quantity q)
{
    const double v[TMX_N_QUANTITY] = {[TMX_READ_GPU_N_SM] = (double)g->chip->n_sm,
                                      [TMX_READ_GPU_N_UNIT] = (double)g->chip->floorplan.n_unit,
                                      [TMX_READ_GPU_LEVEL] = (double)g->level,
                                      [TMX_READ_GPU_N_LEVEL] = (double)g->chip->n_level,
                                      [TMX_READ_GPU_SHARE] = g->share,
                                      [TMX_READ_GPU_N_RUN] = (double)g->n_run,
                                      [TMX_READ_GPU_N_QUEUE] = (double)g->n_queue};
    return v[q];
}

static double of_job(const struct tmx_run *r, size_t j, enum tmx_quantity q)
{
    const struct tmx_job *job = &r->sim->machine->job[j];
    const double v[TMX_N_QUANTITY] = {[TMX_READ_JOB_ARRIVAL_S] = tmx_run_arrival_s(r, job),
                                      [TMX_READ_JOB_STARTED_S] = job->started_s,
                                      [TMX_READ_JOB_FINISHED_S] = job->finished_s,
                                      [TMX_READ_JOB_DONE] =
                                          job->work_sm_s > 0 ? job->done_sm_s / job->work_sm_s : 1,
                                      [TMX_READ_JOB_ENERGY_J] = r->sim->recorder->job_j[j]};
    return v[q];
}

/* The i-th value of a quantity that is not kept as an array. */
static double value_of(const struct tmx_run *r, enum tmx_quantity q, size_t i)
{
    const struct tmx_machine *m = r->sim->machine;
    switch (thing_of[q]) {
    case TMX_THING_RUN:
        return q == TMX_READ_TIME_S ? tmx_sim_time_s(r->sim) : tmx_run_tick_s(r);
    case TMX_THING_GPU:
        return of_gpu(&m->gpu[i], q);
    case TMX_THING_SM:
        return m->gated[i];
    case TMX_THING_FAN:
        return r->sim->cooling->rpm[i];
    case TMX_THING_JOB:
        return of_job(r, i, q);
    default:
        return tmx_run_metric(r, metric_of(r, i));
    }
}

enum tmx_status tmx_run_read(const struct tmx_run *r, enum tmx_quantity q, double *out, size_t n,
                             struct tmx_err *err)
{
    struct tmx_process_guard host;
    size_t n_kept;
    if ((int)q < 0 || q >= TMX_N_QUANTITY || n != tmx_run_count(r, thing_of[q])) {
        return tmx_fail(err, TMX_ERANGE, "quantity %d has not %zu values", (int)q, n);
    }
    const double *kept = tmx_run_look(r, q, &n_kept);
    if (kept) {
        memcpy(out, kept, n * sizeof *out);
        return TMX_OK;
    }
    tmx_process_guard_enter(&host);
    for (size_t i = 0; i < n; i++) {
        out[i] = value_of(r, q, i);
    }
    tmx_process_guard_leave(&host);
    return TMX_OK;
}

const char *tmx_run_text(const struct tmx_run *r, enum tmx_text what)
{
    return what == TMX_TEXT_ID ? tmx_run_id(r) : what == TMX_TEXT_RESOLVED ? tmx_run_resolved(r) : NULL;
}

enum tmx_status tmx_run_write(const struct tmx_run *r, const char *folder, struct tmx_err *err)
{
    struct tmx_process_guard host;
    struct tmx_err own = {0}; /* err may hold the error of an earlier call */
    tmx_process_guard_enter(&host);
    struct tmx_folders folders = {.command = "run"};
    tmx_folders_begin(&folders);
    if (!tmx_os_mkdirs(folder, &own) && !tmx_folder_open(folder, TMX_FOLDER_RESULTS, &own)) {
        tmx_run_save(r, folder, &own);
    }
    (void)!tmx_folders_end(&folders, own.code, &own);
    tmx_process_guard_leave(&host);
    return tmx_error_give(err, &own);
}

void tmx_run_close(struct tmx_run *r)
{
    struct tmx_process_guard host;
    if (r) {
        tmx_process_guard_enter(&host);
        tmx_run_destroy(r);
        tmx_process_guard_leave(&host);
    }
}

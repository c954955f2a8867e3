/* SPDX-License-Identifier: GPL-3.0-or-later */

#include <thermix/policy.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/sim/source/sources.h"

enum { WINDOW = 1024 }; /* of the waiting that a policy sees: the oldest */

struct tmx_jobs {
    struct tmx_jobs_spec spec;
    size_t n_job, n_gpu;
    size_t n_seen, n_waiting, n_running;
    struct tmx_jobs_ledger ledger;
    struct tmx_instance *waiting; /* [n_job] by arrival */
    size_t *next;                 /* [n_job] next member of the same launch, TMX_NO_JOB: the last */
    size_t *running;              /* [n_job] carriers of launches with more than one member */
    bool *idle;                   /* [n_gpu] */
    double *temp_c;               /* [n_gpu] */
    struct tmx_launch launch;     /* the policy writes here */
};

struct tmx_jobs *tmx_jobs_take(struct tmx_arena *arena, const struct tmx_jobs_spec *spec,
                               const struct tmx_machine *m)
{
    struct tmx_jobs *j = TMX_TAKE(arena, j, 1);
    tmx_assert(spec->depth >= 1);
    if (j) {
        j->spec = *spec;
        j->n_job = m->n_job;
        j->n_gpu = m->n_gpu;
        TMX_TAKE(arena, j->waiting, m->n_job);
        TMX_TAKE(arena, j->next, m->n_job);
        TMX_TAKE(arena, j->running, m->n_job);
        TMX_TAKE(arena, j->idle, m->n_gpu);
        TMX_TAKE(arena, j->temp_c, m->n_gpu);
    }
    return j;
}

/* A launch: a GPU with room, members in ascending order, a prediction in numbers. */
static void check_launch(const struct tmx_jobs *j, size_t n_waiting, struct tmx_err *err)
{
    const struct tmx_launch *l = &j->launch;
    bool ok = l->target == TMX_TO_GPU && l->gpu < j->n_gpu && j->idle[l->gpu] && l->n_member >= 1 &&
              l->n_member <= TMX_LAUNCH_MAX && l->n_member <= n_waiting && l->predicted.occupied_sms > 0 &&
              isfinite(l->predicted.time_s) && l->predicted.time_s > 0 && isfinite(l->predicted.gpu_w) &&
              isfinite(l->predicted.sm_w);
    for (size_t i = 0; ok && i < l->n_member; i++) {
        ok = l->member[i] < n_waiting && (i == 0 || l->member[i] > l->member[i - 1]);
    }
    if (!ok) {
        tmx_error(err, TMX_ESOLVE, "job policy %s: a launch of %zu of %zu waiting on GPU %zu that cannot be",
                  j->spec.choice->policy->name, l->n_member, n_waiting, l->gpu);
    }
}

void tmx_jobs_step(struct tmx_jobs *j, struct tmx_machine *m, const struct tmx_view *view,
                   struct tmx_err *err)
{
    bool room = false;
    size_t kept = 0;
    for (size_t i = 0; i < j->n_running; i++) { /* members of launches end with their carrier */
        const size_t carrier = j->running[i];
        const struct tmx_job *c = &m->job[carrier];
        if (c->state != TMX_JOB_DONE) {
            j->running[kept++] = carrier;
            continue;
        }
        for (size_t k = j->next[carrier]; k != TMX_NO_JOB; k = j->next[k]) {
            m->job[k].state = TMX_JOB_DONE;
            m->job[k].started_s = c->started_s;
            m->job[k].finished_s = c->finished_s;
            m->n_done++;
        }
    }
    j->n_running = kept;
    for (; j->n_seen < m->n_arrived; j->n_seen++) {
        const size_t id = j->n_seen;
        j->waiting[j->n_waiting++] =
            (struct tmx_instance){.id = id,
                                  .kind = j->spec.kind_of[id],
                                  .arrival_s = m->job[id].arrival_s,
                                  .deadline_s = j->spec.deadline_s ? j->spec.deadline_s[id] : INFINITY};
    }
    for (size_t g = 0; g < j->n_gpu; g++) {
        size_t held = m->gpu[g].n_queue;
        for (size_t k = 0; k < m->gpu[g].n_run; k++) {
            held += m->job[m->gpu[g].run[k]].state != TMX_JOB_DONE;
        }
        j->idle[g] = held < j->spec.depth;
        j->temp_c[g] = view->hottest_k[g] - TMX_ZERO_C;
        room = room || j->idle[g];
    }
    while (room && j->n_waiting > 0) {
        const struct tmx_waiting_view v = {.now_s = view->time_s,
                                           .node = j->spec.node,
                                           .kind = j->spec.kind,
                                           .n_kind = j->spec.n_kind,
                                           .tmpl = j->spec.tmpl,
                                           .n_tmpl = j->spec.n_tmpl,
                                           .waiting = j->waiting,
                                           .n_waiting = j->n_waiting < WINDOW ? j->n_waiting : WINDOW,
                                           .gpu_idle = j->idle,
                                           .gpu_temp_c = j->temp_c,
                                           .n_gpu = j->n_gpu};
        if (!tmx_job_of(j->spec.choice)->next(j->spec.choice->state, &v, &j->launch)) {
            return;
        }
        check_launch(j, v.n_waiting, err);
        if (err->code) {
            return;
        }
        j->idle[j->launch.gpu] = false; /* one launch a GPU and quantum */
        /* start */
        const struct tmx_launch *l = &j->launch;
        const size_t carrier = j->waiting[l->member[0]].id;
        struct tmx_jobs_ledger *ledger = &j->ledger;
        size_t last = carrier;
        /* The carrier becomes the merged kernel: its time on its SMs, the power of its blocks
         * spread over them, and what the GPU draws beside them on the rest of the die. */
        const double beside_w = l->predicted.gpu_w - l->predicted.sm_w, on_die = j->spec.node->on_die;
        struct tmx_job_launch merged = {.sms = (double)l->predicted.occupied_sms,
                                        .time_s = l->predicted.time_s,
                                        .sm_w = l->predicted.sm_w,
                                        .uncore_w = on_die * beside_w};
        for (size_t i = 0; i < l->n_member; i++) {
            merged.blocks += j->spec.kind[j->waiting[l->member[i]].kind].blocks;
        }
        tmx_job_launch(&m->job[carrier], &merged);
        m->job[carrier].home_gpu = m->job[carrier].data_gpu = l->gpu;
        m->job[carrier].n_gpu = 1;
        for (size_t i = 1; i < l->n_member; i++) {
            const size_t id = j->waiting[l->member[i]].id;
            m->job[id].state = TMX_JOB_MERGED;
            m->job[id].blocks_per_sm_s = 0; /* its blocks are the carrier's */
            m->job[id].n_gpu = 1;
            m->job[id].home_gpu = l->gpu;
            j->next[last] = id;
            last = id;
        }
        j->next[last] = TMX_NO_JOB;
        if (l->n_member > 1) {
            j->running[j->n_running++] = carrier;
            ledger->n_merged++;
        }
        ledger->off_die_j += (1 - on_die) * beside_w * l->predicted.time_s;
        ledger->n_launch++;
        ledger->n_member += l->n_member;
        ledger->largest = l->n_member > ledger->largest ? l->n_member : ledger->largest;
        const bool queued = tmx_machine_enqueue(m, carrier);
        tmx_assert(queued); /* a GPU that holds fewer than depth kernels has room */
        size_t at = 0;
        kept = l->member[0];
        for (size_t i = l->member[0]; i < j->n_waiting; i++) {
            if (at < l->n_member && l->member[at] == i) {
                at++;
            } else {
                j->waiting[kept++] = j->waiting[i];
            }
        }
        j->n_waiting = kept;
    }
}

const struct tmx_jobs_ledger *tmx_jobs_ledger(const struct tmx_jobs *j)
{
    return &j->ledger;
}

static void *open(const struct tmx_source_view *v, const void *options, struct tmx_arena *arena)
{
    struct tmx_jobs_spec spec = *(const struct tmx_jobs_spec *)options;
    spec.choice = &v->choice[TMX_LEVEL_JOB];
    return tmx_jobs_take(arena, &spec, v->machine);
}

static void place(const struct tmx_source_view *v, void *own, struct tmx_err *err)
{
    tmx_jobs_step(own, v->machine, v->view, err);
}

const struct tmx_source tmx_source_job = {.base = {.name = "job"}, .open = open, .place = place};

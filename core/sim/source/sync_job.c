/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A synchronous job: its members are jobs of a mix, each on a GPU of its own, that meet once a step
 * (core/workload/sync_job.h). The machine offers it what a member's SMs do in a tick. */
#include <math.h>

#include "core/sim/source/sources.h"

/* The members get their work and GPU. */
static void *open(const struct tmx_source_view *v, const void *options, struct tmx_arena *arena)
{
    const struct tmx_sync_job_spec *s = options;
    struct tmx_machine *m = v->machine;
    struct tmx_sync_job *g = tmx_sync_job_take(arena, s);
    for (size_t i = 0; i < s->n_member && g; i++) {
        struct tmx_job *j = &m->job[i];
        j->work_sm_s = g->member[i].left_s * s->options.steps * tmx_machine_second_sm_s(m, s->gpu[i]);
        j->home_gpu = s->gpu[i];
        j->has_home = true;
    }
    m->members = g;
    m->sync_job = g ? &g->view : NULL;
    return g;
}

/* What the tick's power sees: full power while it computed, a part of it while it waited or wrote, none after
 * the end. */
static void members_busy(struct tmx_machine *m, const struct tmx_sync_job *g, const struct tmx_sync_part *p,
                         double end_s)
{
    const struct tmx_sync_job_options *o = &g->spec.options;
    for (size_t i = p->first; i < p->end; i++) {
        const struct tmx_sync_job_member *mem = &g->member[i];
        if (mem->gpu == SIZE_MAX) {
            continue;
        }
        struct tmx_gpu *gpu = &m->gpu[mem->gpu];
        const double part = (g->active[i] + o->wait_power * (end_s - g->active[i]) +
                             (o->checkpoint_power - o->wait_power) * g->writes[i]) /
                            m->dt_s;
        tmx_machine_scale_busy(m, gpu, mem->kernel_slot, part);
        if (end_s < m->dt_s && gpu->n_run == 1 && gpu->n_queue == 0) { /* the rest of the tick is idle */
            gpu->busy_s -= m->dt_s - end_s;
        }
    }
}

static size_t meet(const struct tmx_source_view *v, void *own)
{
    struct tmx_machine *m = v->machine;
    struct tmx_sync_job *g = own;
    const double time_s = m->now_s;
    bool done = false;
    size_t n_done = 0;
    if (m->job[0].state == TMX_JOB_DONE) {
        return 0;
    }
    double last_s = m->dt_s;
    for (size_t k = 0; k < (size_t)g->spec.options.jobs; k++) {
        double end_s;
        if (tmx_sync_job_advance(g, k, m->dt_s, time_s, m->counting, &end_s)) {
            done = true;
            last_s = end_s;
        }
        members_busy(m, g, &g->part[k], end_s);
    }
    for (size_t k = 0; k < (size_t)g->spec.options.jobs; k++) {
        /* the members' jobs progress with the synchronous job */
        for (size_t i = g->part[k].first; i < g->part[k].end && g->part[k].counting; i++) {
            struct tmx_job *j = &m->job[i];
            const struct tmx_sync_job_member *mem = &g->member[i];
            const double step_s = g->spec.weight[i] * g->spec.options.step_work_s;
            const double all_s = step_s * g->spec.options.steps;
            j->started_s = j->started_s < 0 && mem->gpu != SIZE_MAX ? time_s : j->started_s;
            j->done_sm_s =
                fmin(mem->done_s + step_s - mem->left_s, all_s) * tmx_machine_second_sm_s(m, g->spec.gpu[i]);
            if (done) {
                j->done_sm_s = j->work_sm_s;
                j->state = TMX_JOB_DONE;
                j->finished_s = time_s + last_s;
                n_done++;
            }
        }
    }
    tmx_sync_job_withdraw(g);
    return n_done;
}

const struct tmx_source tmx_source_sync_job = {.base = {.name = "sync_job"}, .open = open, .meet = meet};

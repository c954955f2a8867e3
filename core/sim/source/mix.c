/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The kernels of a mix: each arrives at its time, and the place policy finds its GPUs. */
#include <limits.h>

#include "core/sim/source/sources.h"
#include "core/sim/stage/answers.h"

void tmx_source_widen(const struct tmx_source_view *v, struct tmx_err *err)
{
    const struct tmx_choice *c = &v->choice[TMX_LEVEL_PLACE];
    struct tmx_machine *m = v->machine;
    for (size_t j = m->first_unfinished; tmx_place_of(c)->widen && j < m->n_arrived && !err->code; j++) {
        const struct tmx_job *job = &m->job[j];
        if (job->n_gpu == 0 || job->state != TMX_JOB_RUNNING) {
            continue;
        }
        struct tmx_place p = {0};
        tmx_place_of(c)->widen(c->state, v->view, j, &p);
        tmx_answer_wider(c->policy, &p, m, j, err);
        if (p.n > job->n_gpu && !err->code) {
            (void)tmx_machine_widen(m, j, p.home, p.n); /* a full queue: asked again */
        }
    }
}

/* By priority, then in order of arrival, until one has to wait. */
void tmx_source_place(const struct tmx_source_view *v, struct tmx_err *err)
{
    const struct tmx_choice *c = &v->choice[TMX_LEVEL_PLACE];
    struct tmx_machine *m = v->machine;
    int level = m->ranked ? INT_MAX : m->n_arrived > 0 ? m->job[0].priority : INT_MIN, next;
    for (; level > INT_MIN; level = next) { /* a round at INT_MAX finds the highest */
        next = INT_MIN;
        for (size_t j = m->first_unfinished; j < m->n_arrived && !err->code; j++) {
            struct tmx_job *job = &m->job[j];
            const bool waits = job->n_gpu == 0 && job->state == TMX_JOB_WAITING;
            next = waits && job->priority < level && job->priority > next ? job->priority : next;
            if (!waits || job->priority != level) {
                continue;
            }
            struct tmx_place p = {.home = job->home_gpu, .n = 1};
            if (!job->has_home) {
                p = (struct tmx_place){0};
                tmx_place_of(c)->place(c->state, v->view, j, &p);
            }
            tmx_answer_place(c->policy, &p, m, j, err);
            if (p.n > 0 && p.n < job->gpus) { /* so many from there on, or the last ones */
                p.n = job->gpus;
                p.home = p.home + p.n <= m->n_gpu ? p.home : m->n_gpu - p.n;
            }
            if (err->code || p.n == 0 || (v->shared_queue && m->gpu[p.home].n_queue > 0)) {
                return;
            }
            job->home_gpu = p.home;
            job->n_gpu = p.n;
            if (!tmx_machine_enqueue(m, j)) {
                job->n_gpu = 0;
                return;
            }
        }
    }
}

const struct tmx_source tmx_source_mix = {.base = {.name = "mix"}};

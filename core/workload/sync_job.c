/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "core/workload/sync_job.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/config.h"
#include "base/curve.h"

struct tmx_sync_job *tmx_sync_job_take(struct tmx_arena *arena, const struct tmx_sync_job_spec *s)
{
    const struct tmx_sync_job_options *o = &s->options;
    const size_t n = s->n_member;
    struct tmx_sync_job *g = TMX_TAKE(arena, g, 1);
    if (g) {
        g->spec = *s;
        TMX_TAKE(arena, g->member, n);
        TMX_TAKE(arena, g->part, (size_t)o->jobs);
        TMX_TAKE(arena, g->step_s, (size_t)o->steps * (size_t)o->jobs);
        TMX_TAKE(arena, g->active, n);
        TMX_TAKE(arena, g->writes, n);
        TMX_TAKE(arena, g->view_compute_s, n);
    }
    if (!g || arena->failed) {
        return NULL;
    }
    g->view = (struct tmx_sync_job_view){.n_member = n, .gpu = s->gpu, .compute_s = g->view_compute_s};
    for (size_t i = 0; i < n; i++) {
        g->member[i].left_s = s->weight[i] * o->step_work_s;
        g->member[i].gpu = SIZE_MAX;
    }
    for (size_t k = 0; k < (size_t)o->jobs; k++) {
        g->part[k].first = k * n / (size_t)o->jobs;
        g->part[k].end = (k + 1) * n / (size_t)o->jobs;
    }
    return g;
}

void tmx_sync_job_offer(struct tmx_sync_job *g, size_t member, size_t gpu, size_t kernel_slot, double speed)
{
    g->member[member].gpu = gpu;
    g->member[member].kernel_slot = kernel_slot;
    g->member[member].speed = speed;
}

static void begin_step(struct tmx_sync_job *g, struct tmx_sync_part *p, double time_s)
{
    p->begun_s = time_s;
    p->rest_s = p->hold_s;
    p->doing = p->hold_s > 0 ? TMX_SYNC_HOLDS : TMX_SYNC_COMPUTES;
    p->held_s = p->hold_s;
    p->hold_s = 0;
    for (size_t i = p->first; i < p->end; i++) {
        g->member[i].left_s = g->spec.weight[i] * g->spec.options.step_work_s;
        g->member[i].step_s = 0;
    }
}

/* Steps of the warm-up do not count. The first one that does begins with the counted time; where there are
 * several jobs, whose phases matter, with the job's next step. */
static void start_counting(struct tmx_sync_job *g, struct tmx_sync_part *p)
{
    for (size_t i = p->first; i < p->end; i++) {
        struct tmx_sync_job_member *m = &g->member[i];
        m->compute_s = m->wait_s = m->done_s = 0;
        m->n_last = 0;
    }
    p->n_step = 0;
    p->steps_s = 0;
    p->counting = true;
}

/* All compute or wait for span_s; whole: until the last has arrived. */
static void compute(struct tmx_sync_job *g, const struct tmx_sync_part *p, double span_s, bool whole)
{
    for (size_t i = p->first; i < p->end; i++) {
        struct tmx_sync_job_member *m = &g->member[i];
        const double need_s = m->left_s <= 0 ? 0 : m->speed > 0 ? m->left_s / m->speed : INFINITY;
        const double t = need_s < span_s ? need_s : span_s;
        m->left_s = whole || need_s <= span_s ? 0 : m->left_s - m->speed * t;
        m->step_s += t;
        m->compute_s += t;
        m->wait_s += span_s - t;
        g->active[i] += t;
    }
}

static bool end_step(struct tmx_sync_job *g, struct tmx_sync_part *p, double time_s, bool counting)
{
    for (size_t i = p->first; i < p->end; i++) {
        struct tmx_sync_job_member *m = &g->member[i];
        g->view_compute_s[i] = m->step_s;
        m->done_s += g->spec.weight[i] * g->spec.options.step_work_s;
    }
    g->view.n_step++;
    p->n_all++;
    p->period_s =
        time_s - p->begun_s - p->held_s - (p->doing == TMX_SYNC_WRITES ? g->spec.options.checkpoint_s : 0);
    p->steps_s += time_s - p->begun_s;
    if (p->counting && p->n_step < (size_t)g->spec.options.steps) {
        g->step_s[g->n_step++] = time_s - p->begun_s;
        p->n_step++;
    } else if (counting && !p->counting) {
        start_counting(g, p);
    }
    begin_step(g, p, time_s);
    return g->n_step == (size_t)g->spec.options.steps * (size_t)g->spec.options.jobs;
}

/* What a job does when it has done something else: the next that takes time. True: the step is over. */
static bool go_on(const struct tmx_sync_job *g, struct tmx_sync_part *p)
{
    const struct tmx_sync_job_options *o = &g->spec.options;
    const bool due = o->checkpoint_steps > 0 && (p->n_all + 1) % (size_t)o->checkpoint_steps == 0;
    if (p->doing == TMX_SYNC_COMPUTES) {
        p->doing = TMX_SYNC_COMMUNICATES;
        p->rest_s = o->comm_s;
    }
    if (p->doing == TMX_SYNC_COMMUNICATES && p->rest_s <= 0 && due) {
        p->doing = TMX_SYNC_WRITES;
        p->rest_s = o->checkpoint_s;
    }
    return p->rest_s <= 0;
}

bool tmx_sync_job_advance(struct tmx_sync_job *g, size_t job, double dt_s, double time_s, bool counting,
                          double *end_s)
{
    struct tmx_sync_part *p = &g->part[job];
    bool done = false;
    double now_s = 0; /* since the begin of the tick */
    if (counting && !p->counting && (g->spec.options.jobs == 1 || !p->begun)) {
        start_counting(g, p);
        begin_step(g, p, time_s);
    }
    p->begun = true;
    memset(g->active + p->first, 0, (p->end - p->first) * sizeof *g->active);
    memset(g->writes + p->first, 0, (p->end - p->first) * sizeof *g->writes);
    while (now_s < dt_s && !done) {
        if (p->doing != TMX_SYNC_COMPUTES) {
            const double span_s = fmin(p->rest_s, dt_s - now_s);
            for (size_t i = p->first; i < p->end && p->doing == TMX_SYNC_WRITES; i++) {
                g->writes[i] += span_s;
            }
            p->rest_s -= span_s;
            now_s += span_s;
            if (p->rest_s <= 0 && p->doing == TMX_SYNC_HOLDS) {
                p->doing = TMX_SYNC_COMPUTES;
            } else if (p->rest_s <= 0) {
                done = go_on(g, p) && end_step(g, p, time_s + now_s, counting);
            }
            continue;
        }
        size_t last = 0;
        double arrival_s = 0; /* of the last member, from now on */
        for (size_t i = p->first; i < p->end; i++) {
            const struct tmx_sync_job_member *m = &g->member[i];
            const double t = m->left_s <= 0 ? 0 : m->speed > 0 ? m->left_s / m->speed : INFINITY;
            last = t > arrival_s ? i : last;
            arrival_s = t > arrival_s ? t : arrival_s;
        }
        const bool whole = arrival_s <= dt_s - now_s;
        const double span_s = whole ? arrival_s : dt_s - now_s;
        compute(g, p, span_s, whole);
        now_s = whole ? now_s + span_s : dt_s;
        if (whole) {
            g->member[last].n_last++;
            done = go_on(g, p) && end_step(g, p, time_s + now_s, counting);
        }
    }
    *end_s = done ? now_s : dt_s;
    return done;
}

void tmx_sync_job_withdraw(struct tmx_sync_job *g)
{
    for (size_t i = 0; i < g->spec.n_member; i++) {
        g->member[i].gpu = SIZE_MAX;
        g->member[i].speed = 0;
    }
}

double tmx_sync_job_step_mean_s(const struct tmx_sync_job *g)
{
    double sum = 0;
    for (size_t i = 0; i < g->n_step; i++) {
        sum += g->step_s[i];
    }
    return g->n_step > 0 ? sum / (double)g->n_step : NAN;
}

double tmx_sync_job_step_quantile_s(const struct tmx_sync_job *g, double q)
{
    double *v_s = g->n_step > 0 ? malloc(g->n_step * sizeof *v_s) : NULL;
    const double at_s =
        v_s ? tmx_quantile(g->n_step, memcpy(v_s, g->step_s, g->n_step * sizeof *v_s), q) : NAN;
    free(v_s);
    return at_s;
}

double tmx_sync_job_speed(const struct tmx_sync_job *g, size_t member)
{
    const struct tmx_sync_job_member *m = &g->member[member];
    const double step_s = g->spec.weight[member] * g->spec.options.step_work_s;
    return m->compute_s > 0 ? (m->done_s + step_s - m->left_s) / m->compute_s : 0;
}

double tmx_sync_job_wait_share(const struct tmx_sync_job *g, size_t member)
{
    const double own_s = g->part[member * (size_t)g->spec.options.jobs / g->spec.n_member].steps_s;
    return own_s > 0 ? fmin(1, g->member[member].wait_s / own_s) : 0;
}

/* The group `sync_job` of a run's configuration. */

const struct tmx_opt tmx_sync_job_opts[] = {
    TMX_ROW_INT(tmx_sync_job_options, members, "1", 0, 4096, 0, "the first kernels of the mix; 0: all"),
    TMX_ROW_REAL(tmx_sync_job_options, step_work_s, "s", 1e-5, 1e6, NAN,
                 "work of a step on a whole GPU at its nominal clock"),
    TMX_ROW_INT(tmx_sync_job_options, steps, "1", 1, 1000000, NAN, "steps to do"),
    TMX_ROW_REAL(tmx_sync_job_options, comm_s, "s", 0, 1e6, 0,
                 "communication after each step; the clock does not change it"),
    TMX_ROW_REAL(
        tmx_sync_job_options, wait_power, "1", 0, 1, 0.45,
        "dynamic power of a member that waits or communicates, relative to one that works (assumed)"),
    TMX_ROW_INT(tmx_sync_job_options, checkpoint_steps, "1", 0, 1000000, 0,
                "steps between two checkpoints; 0: none is written"),
    TMX_ROW_REAL(tmx_sync_job_options, checkpoint_s, "s", 0, 1e6, 0, "that writing one takes"),
    TMX_ROW_REAL(tmx_sync_job_options, checkpoint_power, "1", 0, 1, 0,
                 "dynamic power of a member that writes one, relative to one that works (assumed)"),
    TMX_ROW_INT(tmx_sync_job_options, jobs, "1", 1, 4096, 1,
                "equal parts of the members, each a job in step with itself"),
    {0},
};

enum tmx_status tmx_sync_job_read(struct tmx_sync_job_spec *s, struct tmx_arena *a,
                                  const struct tmx_setting *root, size_t n_job, size_t n_at_start,
                                  size_t n_gpu, struct tmx_err *err)
{
    static const char *const also[] = {"weights", "gpus", NULL};
    const struct tmx_setting *group = tmx_setting_member(root, "sync_job");
    *s = (struct tmx_sync_job_spec){0};
    if (!group) {
        return TMX_OK;
    }
    struct tmx_err own = {0};
    own.code = tmx_opt_read_group(tmx_sync_job_opts, &s->options, root, "sync_job", also, &own);
    const size_t n = s->options.members > 0 ? (size_t)s->options.members : n_job;
    if (n > n_job || n > n_gpu) {
        tmx_error_setting(&own, group,
                          "sync_job: %zu members, but the mix has %zu kernels and there are %zu GPUs", n,
                          n_job, n_gpu);
    } else if (n > n_at_start) {
        tmx_error_setting(&own, group, "sync_job: %zu members, but only %zu kernels of the mix arrive at 0 s",
                          n, n_at_start);
    } else if (!own.code && n % (size_t)s->options.jobs != 0) {
        tmx_error_setting(&own, group, "sync_job.jobs: %d jobs of %zu members are not equal", s->options.jobs,
                          n);
    } else if ((s->options.checkpoint_steps > 0) != (s->options.checkpoint_s > 0)) {
        tmx_error_setting(&own, group,
                          "sync_job: expected both checkpoint_steps and checkpoint_s above 0, or neither");
    }
    if (own.code) {
        return tmx_error_give(err, &own);
    }
    s->n_member = n;
    TMX_TAKE(a, s->weight, n);
    TMX_TAKE(a, s->gpu, n);
    tmx_arena_check(a, &own);
    if (!own.code) {
        /* Weights and places of the members: each list has an element for each, or is absent. */
        static const char *const keys[] = {"weights", "gpus"};
        const struct tmx_setting *list[2];
        for (size_t i = 0; i < 2; i++) {
            const size_t least = tmx_setting_member(group, keys[i]) ? s->n_member : 0;
            list[i] = tmx_setting_list(group, keys[i], least, s->n_member, &own);
        }
        for (size_t i = 0; i < s->n_member && !own.code; i++) {
            const struct tmx_setting *e = tmx_setting_at(list[0], i);
            s->weight[i] = 1;
            if (e &&
                (!tmx_setting_real(e, &s->weight[i]) || !(s->weight[i] >= 1e-3 && s->weight[i] <= 1e3))) {
                tmx_error_setting(&own, e, "sync_job.weights: expected numbers in [0.001, 1000]");
            }
        }
        for (size_t i = 0; i < s->n_member && !own.code; i++) {
            const struct tmx_setting *e = tmx_setting_at(list[1], i);
            const int64_t v = !e                                       ? (int64_t)i
                              : tmx_setting_is(e, TMX_SETTING_INTEGER) ? tmx_setting_integer(e)
                                                                       : -1;
            if (v < 0 || (uint64_t)v >= n_gpu) {
                tmx_error_setting(&own, e, "sync_job.gpus: expected numbers of GPUs, 0 to %zu", n_gpu - 1);
            }
            s->gpu[i] = (size_t)v;
            for (size_t k = 0; k < i; k++) {
                if (s->gpu[k] == s->gpu[i]) {
                    tmx_error_setting(&own, e ? e : group,
                                      "sync_job.gpus: members %zu and %zu on GPU %zu; each needs its own", k,
                                      i, s->gpu[i]);
                }
            }
        }
    }
    return tmx_error_give(err, &own);
}

void tmx_sync_job_write(const struct tmx_sync_job_spec *s, struct tmx_writer *w)
{
    if (s->n_member == 0) {
        return;
    }
    tmx_writer_open(w, "sync_job", TMX_SETTING_GROUP);
    tmx_opt_write(tmx_sync_job_opts, &s->options, w);
    for (size_t list = 0; list < 2; list++) {
        tmx_writer_open(w, list ? "gpus" : "weights", TMX_SETTING_LIST);
        for (size_t i = 0; i < s->n_member; i++) {
            tmx_writer_value(
                w, NULL, list ? TMX_INTEGER_VALUE((int64_t)s->gpu[i]) : TMX_REAL_VALUE(s->weight[i]), false);
        }
        tmx_writer_close(w);
    }
    tmx_writer_close(w);
}

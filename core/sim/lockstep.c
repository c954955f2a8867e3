/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Lockstep: several simulations advance side by side and share the thermal step.
 *
 * The thermal step of a reduced model is a product of a matrix with a vector for each GPU. One simulation
 * with one GPU reads the whole matrix for one vector, so memory limits its speed. Simulations whose models
 * are the same
 * (`same` of the back-end) can put their vectors side by side and read the matrix once:
 *
 *      lane 0   | decide, blocks, watts |  \                             / | record |
 *      lane 1   | decide, blocks, watts |   >-- T' = A [T0 T1 T2 T3] --<   | record |
 *      lane 2   | decide, blocks, watts |  /         a step of all       \ | record |
 *                tmx_sim_tick_to_watts        tmx_thermal_step_many         tmx_sim_tick_end
 *
 * A lane is a place for one simulation. Lanes of one class have equal models and an equal dt_s and step
 * together. A tick of all lanes: each goes to its watts, each class steps, each ends its tick and its
 * observer looks. A simulation that fails or ends leaves its lane, and the next task takes it
 * (tmx_lockstep_run).
 *
 * A batch gives each simulation the bits that it would get alone: the product's sum for one vector has the
 * same order for any other vectors in the batch. tests/unit/run/test_lockstep.c holds that.
 *
 * How many lanes pay is limited: each simulation's own state leaves the cache when there are many, and a
 * run's result is kept only when the run has ended, so runs side by side are all lost together when the
 * program is killed. */

#include <math.h>
#include <stdlib.h>

#include "base/arena.h"
#include "core/sim/sim.h"
#include "core/sim/tiles.h"

/* Simulations at a time, as long as they have no more than so many GPUs: more make no better batches, leave
 * the cache, and all that run side by side are lost together when the program is stopped. For that reason
 * also no more than half of the tasks, but a few. */
enum { LANES = 16, FEW_LANES = 4, FLEET_GPUS = 16 };

struct lane {
    struct tmx_sim *sim; /* NULL: free */
    size_t task;
    void *own; /* the task's */
    struct tmx_observer observer;
    size_t class;       /* lanes of one class step together */
    bool heated, ended; /* in this tick; it is to be closed */
    size_t first;       /* of its GPUs in the thermal step of its class */
    enum tmx_status st;
    struct tmx_err err;
};

struct fleet {
    const struct tmx_lockstep_tasks *tasks;
    struct lane lane[LANES];
    size_t n_lane, n_class;
    unsigned n_tick;
    struct tmx_arena arena;   /* of */
    struct tmx_step_view all; /* [n_gpu] of all lanes */
};

/* All GPUs of both are of one model, or of models that are the same, and step by the same time. */
static bool alike(const struct tmx_sim *a, const struct tmx_sim *b)
{
    const struct tmx_sim_gpu_thermal *x = &a->spec.thermal[0], *y = &b->spec.thermal[0];
    bool one = true; /* model of each */
    for (size_t g = 1; g < a->machine->n_gpu; g++) {
        one = one && a->spec.thermal[g].model == x->model;
    }
    for (size_t g = 1; g < b->machine->n_gpu; g++) {
        one = one && b->spec.thermal[g].model == y->model;
    }
    return one && a->spec.dt_s == b->spec.dt_s && x->ops == y->ops &&
           (x->model == y->model || (x->ops->same && x->ops->same(x->model, y->model)));
}

static size_t n_gpu(const struct fleet *f)
{
    size_t n = 0;
    for (size_t i = 0; i < f->n_lane; i++) {
        n += f->lane[i].sim ? f->lane[i].sim->machine->n_gpu : 0;
    }
    return n;
}

/* A task takes a free lane; false: it has ended at once. */
static bool begin(struct fleet *f, struct lane *l, size_t task)
{
    struct tmx_sim *sim = NULL;
    struct tmx_arena arena = {0};
    struct tmx_step_view all;
    *l = (struct lane){.task = task, .class = f->n_class};
    l->st = f->tasks->begin(f->tasks->ctx, task, &sim, &l->observer, &l->own, &l->err);
    if (!l->st) {
        const size_t n = n_gpu(f) + sim->machine->n_gpu;
        TMX_TAKE(&arena, all.state, n);
        TMX_TAKE(&arena, all.power_w, n);
        TMX_TAKE(&arena, all.temp_k, n);
        l->st = arena.failed ? tmx_fail(&l->err, TMX_ENOMEM, "fleet of %zu GPUs", n) : TMX_OK;
    }
    if (l->st) {
        tmx_arena_finish(&arena);
        f->tasks->end(f->tasks->ctx, task, l->own, l->st, &l->err);
        return false;
    }
    for (size_t i = 0; i < f->n_lane; i++) {
        l->class = f->lane[i].sim && alike(f->lane[i].sim, sim) ? f->lane[i].class : l->class;
    }
    f->n_class += l->class == f->n_class;
    tmx_arena_finish(&f->arena);
    f->arena = arena;
    f->all = all;
    l->sim = sim;
    l->ended = tmx_sim_done(sim);
    return true;
}

static void end(struct lane *l, enum tmx_status st)
{
    l->st = st;
    l->ended = true;
}

/* It has no thermal step, or one of a length of its own. */
static bool steps_alone(const struct tmx_sim *s)
{
    return s->cold || s->events;
}

static bool runs(const struct lane *l)
{
    return l->sim && !l->ended;
}

/* One of the batch has failed: the first whose temperatures are no numbers. */
static void find_bad(const struct fleet *f, struct lane *l, enum tmx_status st)
{
    for (size_t k = 0; k < l->sim->machine->n_gpu && !l->ended; k++) {
        const size_t g = tmx_tiles_gpu(l->sim->tiles, k), n = l->sim->machine->gpu[g].chip->floorplan.n_unit;
        for (size_t u = 0; u < n && !l->ended; u++) {
            if (!isfinite(f->all.temp_k[l->first + k][u])) {
                tmx_tiles_heat_failed(l->sim->tiles, k, l->sim->tick, st, &l->err);
                end(l, st);
            }
        }
    }
}

/* The thermal step of a lane and of those like it. */
static void heat(struct fleet *f, struct lane *first)
{
    const struct tmx_sim *head = first->sim;
    size_t n = 0, bad = 0;
    for (struct lane *l = first; l < f->lane + f->n_lane; l++) {
        if (!runs(l) || l->class != first->class) {
            continue;
        }
        l->first = n;
        tmx_tiles_batch(l->sim->tiles,
                        &(struct tmx_step_view){f->all.state + n, f->all.power_w + n, f->all.temp_k + n});
        n += l->sim->machine->n_gpu;
        l->heated = true;
    }
    const enum tmx_status st = tmx_thermal_step_many(head->spec.thermal[0].ops, n, f->all.state,
                                                     head->spec.dt_s, f->all.power_w, f->all.temp_k, &bad);
    for (struct lane *l = first; st && l < f->lane + f->n_lane; l++) {
        if (runs(l) && l->class == first->class) {
            find_bad(f, l, st);
        }
    }
}

static void tick(struct fleet *f)
{
    /* ticks of a simulation that has nothing to share: its matrices come to the cache */
    enum { BURST = 256 };
    for (struct lane *l = f->lane; l < f->lane + f->n_lane; l++) {
        l->heated = runs(l) && steps_alone(l->sim);
        for (int i = 0; i < BURST && l->heated && runs(l); i++) {
            enum tmx_status st = tmx_sim_tick(l->sim, &l->err);
            st = st ? st : tmx_sim_look(l->sim, &l->observer, &l->err);
            if (st || tmx_sim_done(l->sim)) {
                end(l, st);
            }
        }
        if (!l->heated && runs(l)) {
            const enum tmx_status st = tmx_sim_tick_to_watts(l->sim, &l->err);
            st ? end(l, st) : (void)0;
        }
    }
    for (struct lane *l = f->lane; l < f->lane + f->n_lane; l++) {
        if (runs(l) && !l->heated) {
            heat(f, l);
        }
    }
    for (struct lane *l = f->lane; l < f->lane + f->n_lane; l++) {
        if (runs(l) && !steps_alone(l->sim)) {
            tmx_sim_tick_end(l->sim);
            const enum tmx_status st = tmx_sim_look(l->sim, &l->observer, &l->err);
            st || tmx_sim_done(l->sim) ? end(l, st) : (void)0;
        }
    }
}

void tmx_lockstep_run(const struct tmx_lockstep_tasks *t, const size_t *task, size_t n)
{
    enum { TELL_EVERY = 256 };
    struct fleet f = {.tasks = t, .n_lane = n / 2 > LANES ? LANES : n / 2 > FEW_LANES ? n / 2 : FEW_LANES};
    for (size_t next = 0, n_open = 0; next < n || n_open > 0;) {
        struct lane *free = NULL, *ended = NULL;
        for (struct lane *l = f.lane + f.n_lane; l-- > f.lane;) {
            free = l->sim ? free : l;
            ended = l->sim && l->ended ? l : ended;
        }
        if (next < n && free && (n_open == 0 || n_gpu(&f) < FLEET_GPUS)) {
            n_open += begin(&f, free, task[next++]);
        } else if (ended) {
            n_open--;
            ended->sim = NULL;
            t->end(t->ctx, ended->task, ended->own, ended->st, &ended->err);
        } else {
            const bool due = t->progress && ++f.n_tick % TELL_EVERY == 0;
            for (struct lane *l = f.lane; due && l < f.lane + f.n_lane; l++) {
                if (l->sim) {
                    t->progress(t->ctx, l->task, tmx_sim_share(l->sim));
                }
            }
            tick(&f);
        }
    }
    tmx_arena_finish(&f.arena);
}

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
#include "core/sim/lockstep.h"

#include <math.h>
#include <stdlib.h>

#include "base/arena.h"
#include "core/sim/sim.h"
#include "core/sim/tiles.h"

struct lane {
    struct tmx_sim *sim; /* NULL: free */
    size_t task;         /* of those in `tasks` */
    struct tmx_observer observer;
    size_t class;       /* lanes of one class step together */
    bool heated, ended; /* in this tick; to be named by tmx_lockstep_next */
    size_t first;       /* of its GPUs in the thermal step of its class */
    enum tmx_status st;
    struct tmx_err err;
};

struct tmx_lockstep {
    size_t n_lane, n_gpu, n_class;
    struct lane *lane;
    const struct tmx_lockstep_tasks *tasks; /* NULL: the caller owns the simulations */
    unsigned n_tick;
    struct tmx_arena arena;   /* of */
    struct tmx_step_view all; /* [n_gpu] of the lanes of one class */
};

enum tmx_status tmx_lockstep_create(struct tmx_lockstep **f, size_t n_lane, struct tmx_err *err)
{
    struct tmx_lockstep *lockstep = calloc(1, sizeof *lockstep);
    struct lane *lane = calloc(n_lane, sizeof *lane);
    if (!lockstep || !lane) {
        free(lockstep);
        free(lane);
        return tmx_fail(err, TMX_ENOMEM, "simulations in lockstep");
    }
    *lockstep = (struct tmx_lockstep){.n_lane = n_lane, .lane = lane};
    *f = lockstep;
    return TMX_OK;
}

void tmx_lockstep_destroy(struct tmx_lockstep *f)
{
    if (f) {
        tmx_arena_finish(&f->arena);
        free(f->lane);
        free(f);
    }
}

/* All GPUs of both are of one model, or of models that are the same, and step by the same time. */
static bool alike(const struct tmx_sim *a, const struct tmx_sim *b)
{
    const struct tmx_sim_gpu_thermal *x = &a->spec.thermal[0], *y = &b->spec.thermal[0];
    for (size_t g = 1; g < a->machine->n_gpu; g++) {
        if (a->spec.thermal[g].model != x->model) {
            return false;
        }
    }
    for (size_t g = 1; g < b->machine->n_gpu; g++) {
        if (b->spec.thermal[g].model != y->model) {
            return false;
        }
    }
    return a->spec.dt_s == b->spec.dt_s && x->ops == y->ops &&
           (x->model == y->model || (x->ops->same && x->ops->same(x->model, y->model)));
}

enum tmx_status tmx_lockstep_join(struct tmx_lockstep *f, size_t lane, struct tmx_sim *sim,
                                  const struct tmx_observer *observer, struct tmx_err *err)
{
    struct lane *l = &f->lane[lane];
    size_t n_gpu = sim->machine->n_gpu, class = f->n_class;
    tmx_assert(lane < f->n_lane && !l->sim);
    for (size_t i = 0; i < f->n_lane; i++) {
        n_gpu += f->lane[i].sim ? f->lane[i].sim->machine->n_gpu : 0;
        class = f->lane[i].sim && alike(f->lane[i].sim, sim) ? f->lane[i].class : class;
    }
    struct tmx_arena arena = {0};
    struct tmx_step_view all;
    TMX_TAKE(&arena, all.state, n_gpu);
    TMX_TAKE(&arena, all.power_w, n_gpu);
    TMX_TAKE(&arena, all.temp_k, n_gpu);
    if (arena.failed) {
        tmx_arena_finish(&arena);
        return tmx_fail(err, TMX_ENOMEM, "fleet of %zu GPUs", n_gpu);
    }
    tmx_arena_finish(&f->arena);
    f->arena = arena;
    f->all = all;
    f->n_class += class == f->n_class;
    *l = (struct lane){.sim = sim, .class = class, .ended = tmx_sim_done(sim)};
    l->observer = observer ? *observer : (struct tmx_observer){0};
    return TMX_OK;
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
static void find_bad(const struct tmx_lockstep *f, struct lane *l, enum tmx_status st)
{
    for (size_t k = 0; k < l->sim->machine->n_gpu && !l->ended; k++) {
        const size_t g = tmx_tiles_gpu(l->sim->tiles, k), n = l->sim->machine->gpu[g].chip->floorplan.n_unit;
        for (size_t u = 0; u < n && !l->ended; u++) {
            if (!isfinite(f->all.temp_k[l->first + k][u])) {
                end(l, tmx_tiles_heat_failed(l->sim->tiles, k, l->sim->tick, st, &l->err));
            }
        }
    }
}

/* The thermal step of a lane and of those like it. */
static void heat(struct tmx_lockstep *f, struct lane *first)
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

/* Steps of a simulation that has nothing to share with others: so many that its matrices come to the cache.
 */
static void burst(struct lane *l)
{
    enum { STEPS = 256 };
    for (int i = 0; i < STEPS && runs(l); i++) {
        enum tmx_status st = tmx_sim_tick(l->sim, &l->err);
        st = st ? st : tmx_sim_look(l->sim, &l->observer, &l->err);
        st || tmx_sim_done(l->sim) ? end(l, st) : (void)0;
    }
}

static void tick(struct tmx_lockstep *f)
{
    for (struct lane *l = f->lane; l < f->lane + f->n_lane; l++) {
        l->heated = runs(l) && steps_alone(l->sim);
        if (l->heated) {
            burst(l);
        } else if (runs(l)) {
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

static void tell(struct tmx_lockstep *f)
{
    enum { EVERY = 256 };
    if (!f->tasks || !f->tasks->progress || ++f->n_tick % EVERY != 0) {
        return;
    }
    for (size_t i = 0; i < f->n_lane; i++) {
        if (f->lane[i].sim) {
            f->tasks->progress(f->tasks->ctx, f->lane[i].task, tmx_sim_share(f->lane[i].sim));
        }
    }
}

bool tmx_lockstep_next(struct tmx_lockstep *f, size_t *lane, enum tmx_status *st, struct tmx_err *err)
{
    for (bool any = true; any; tick(f)) {
        any = false;
        for (size_t i = 0; i < f->n_lane; i++) {
            struct lane *l = &f->lane[i];
            if (l->sim && l->ended) {
                *lane = i;
                *st = l->st;
                if (err) {
                    *err = l->err;
                }
                l->sim = NULL;
                return true;
            }
            any = any || l->sim;
        }
        if (!any) {
            break;
        }
        tell(f);
    }
    return false;
}

/* Simulations at a time, as long as they have no more than so many GPUs: more make no better batches, leave
 * the cache, and all that run side by side are lost together when the program is stopped. For that reason
 * also no more than half of the tasks, but a few. */
enum { LANES = 16, FEW_LANES = 4, FLEET_GPUS = 16 };

struct open {
    size_t task, n_gpu;
    bool is;
    struct tmx_observer observer;
    void *own;
};

/* False when it has ended at once. */
static bool begin(struct tmx_lockstep *f, size_t lane, const struct tmx_lockstep_tasks *t, struct open *o)
{
    struct tmx_sim *sim = NULL;
    struct tmx_err err = {0};
    enum tmx_status st = t->begin(t->ctx, o->task, &sim, &o->observer, &o->own, &err);
    st = st ? st : tmx_lockstep_join(f, lane, sim, &o->observer, &err);
    if (st) {
        t->end(t->ctx, o->task, o->own, st, &err);
        return false;
    }
    f->lane[lane].task = o->task;
    o->n_gpu = sim->machine->n_gpu;
    return true;
}

void tmx_lockstep_run(const struct tmx_lockstep_tasks *t, const size_t *task, size_t n)
{
    struct open open[LANES] = {0};
    struct tmx_lockstep *f = NULL;
    struct tmx_err err = {0};
    const size_t n_lane = n / 2 > LANES ? LANES : n / 2 > FEW_LANES ? n / 2 : FEW_LANES;
    size_t next = 0, n_open = 0, n_gpu = 0, lane;
    enum tmx_status st = tmx_lockstep_create(&f, n_lane, &err);
    for (; st && next < n; next++) {
        t->end(t->ctx, task[next], NULL, st, &err);
    }
    if (f) {
        f->tasks = t;
    }
    while (next < n || n_open > 0) {
        for (lane = 0; lane < n_lane && open[lane].is; lane++) {
        }
        if (next < n && lane < n_lane && (n_open == 0 || n_gpu < FLEET_GPUS)) {
            open[lane] = (struct open){.task = task[next++]};
            open[lane].is = begin(f, lane, t, &open[lane]);
            n_open += open[lane].is;
            n_gpu += open[lane].n_gpu;
            continue;
        }
        err = (struct tmx_err){0};
        const bool ended = tmx_lockstep_next(f, &lane, &st, &err);
        tmx_assert(ended);
        n_open--;
        n_gpu -= open[lane].n_gpu;
        open[lane].is = false;
        t->end(t->ctx, open[lane].task, open[lane].own, st, &err);
    }
    tmx_lockstep_destroy(f);
}

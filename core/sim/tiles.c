/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tiling for the cache and for threads.
 *
 * What a tick does to a GPU needs only that GPU, once policies have decided: apply the request, run blocks,
 * watts, kelvins, the record. With thousands of GPUs one loop a stage would read each GPU's state from memory
 * once a stage. A tile is a run of neighbouring GPUs that goes through all stages while it is
 * in a core's cache:
 *
 *        GPU  0 .. 63      64 .. 127     128 .. 191
 *           +-----------+ +-----------+ +-----------+
 *   blocks  |  1        | |  1        | |  1        |      within a tile: top to bottom
 *   watts   |  2        | |  2        | |  2        |      tiles: in any order, on any thread
 *   kelvins |  3        | |  3        | |  3        |
 *   record  |  4        | |  4        | |  4        |
 *           +-----------+ +-----------+ +-----------+
 *               sums over GPUs: afterwards, in the GPUs' order
 *
 * Where nothing crosses tiles for several ticks (block()), a tile takes them all before the next tile: a
 * step. Its GPUs then come from memory once a step and not once a tick. Each tile is at a tick of its own
 * within a step; a sample of sensors that only the hardware's throttle looks at is taken tile by tile.
 *
 * The size is a compromise. A small tile stays in the cache. A large tile gives the thermal model large
 * batches: GPUs of one model at one level of convection multiply the same matrix, and a batch does not cross
 * tiles. See BASE and MOST below. Several threads need at least two tiles each to even out their work.
 *
 * GPUs that have a job in common are in one tile, because both add to the job's progress; under a batch or a
 * CTA policy all GPUs are in one tile. join() merges tiles for both reasons.
 *
 * Results do not depend on tiles or threads: a GPU's arithmetic has one order inside its tile, batches give
 * the bits of single steps, sums over GPUs are taken in their order, and of several failures the program
 * reports the one that a single loop over all GPUs would have met first (failed()). */
#include "core/sim/tiles.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/thread_pool.h"
#include "core/sim/sim.h"
#include "core/sim/stage/answers.h"

/* GPUs of a tile. What a tick touches of them (4 kB a GPU, the matrices of the model) should stay in a
 * core's own cache, but batches do not cross tiles: where GPUs are at many levels of convection, BASEs are
 * joined until there are two batches of each, or MOST in all. Several threads have two tiles each, but
 * batches of BATCH or more. */
enum { BASE = 64, MOST = 512, BATCH = 8, PER_THREAD = 2 };

/* Ticks that a tile takes in a row, at most: each leaves the watts of all GPUs, to be summed afterwards. */
enum { BLOCK = TMX_SWING_STEPS };

/* Where a tick of a tile can fail, in the order in which the whole node would. */
enum stage { PLACE, POWER, HEAT };

struct tile {
    struct tmx_gpus span;
    double *scratch; /* [largest n_sm] */
    size_t n_own;    /* GPUs of this rank among them */
    size_t n_done;   /* jobs that ended in the step */
    uint64_t tick;   /* that it is at */
    uint64_t steady; /* ticks until a GPU among them works at other rates */
    enum stage stage;
    struct tmx_err err;
};

struct tmx_tiles {
    struct tmx_sim *sim;
    struct tmx_thread_pool *pool; /* NULL: one thread */
    size_t n_base, *base;         /* [n_base + 1] where tiles may begin */
    bool *joined;                 /* [n_base] this one goes with the one before */
    struct tile *tile;            /* [n_base], */
    size_t n;                     /* of which n are in use */
    size_t *tile_of;              /* [n_gpu] index in base */
    size_t **next;                /* [n_base] scratch of the plan */
    size_t *order;   /* [n_gpu] tile by tile: those of this rank, of one level of convection together */
    double *scratch; /* [n_base * largest n_sm] */
    struct tmx_step_view batch; /* [n_gpu] */
    uint64_t most;              /* ticks until the node's next event */
    double *now_w;              /* [BLOCK][n_gpu] of a step's ticks, where it has several */
};

enum tmx_status tmx_tiles_create(struct tmx_tiles **out, struct tmx_sim *sim, struct tmx_err *err)
{
    const struct tmx_machine *m = sim->machine;
    const size_t n = m->n_gpu, n_thread = sim->spec.n_thread > 0 ? sim->spec.n_thread : 1;
    struct tmx_arena *a = &sim->arena;
    struct tmx_tiles *s = TMX_TAKE(a, s, 1);
    size_t widest = 0;
    for (size_t g = 0; g < n; g++) {
        widest = m->gpu[g].n_sm > widest ? m->gpu[g].n_sm : widest;
    }
    if (!s) {
        return tmx_no_memory(err);
    }
    *out = s;
    s->sim = sim;
    TMX_TAKE(a, s->base, n + 1);
    TMX_TAKE(a, s->joined, n);
    TMX_TAKE(a, s->tile_of, n);
    TMX_TAKE(a, s->next, n);
    TMX_TAKE(a, s->order, n);
    TMX_TAKE(a, s->batch.state, n);
    TMX_TAKE(a, s->batch.power_w, n);
    TMX_TAKE(a, s->batch.temp_k, n);
    TMX_TAKE(a, s->now_w, BLOCK * n);
    if (!a->failed) {
        const size_t wanted = n_thread > 1 ? PER_THREAD * n_thread : 1, fit = n / BATCH,
                     fair = wanted < fit ? wanted : fit, least = (n + BASE - 1) / BASE;
        size_t n_base = fair > least ? fair : least;
        n_base = n_base < n_thread && n >= 2 * n_thread ? n_thread : n_base;
        s->n_base = n_base < TMX_THREAD_POOL_PIECES ? n_base : TMX_THREAD_POOL_PIECES;
        for (size_t i = 0; i < s->n_base; i++) {
            s->base[i + 1] = (i + 1) * n / s->n_base;
            for (size_t g = s->base[i]; g < s->base[i + 1]; g++) {
                s->tile_of[g] = i;
            }
        }
        TMX_TAKE(a, s->tile, s->n_base);
        TMX_TAKE(a, s->scratch, s->n_base * widest);
    }
    if (a->failed) {
        return tmx_fail(err, TMX_ENOMEM, "tiles of %zu GPUs", n);
    }
    for (size_t i = 0; i < s->n_base; i++) {
        s->tile[i].scratch = s->scratch + i * widest;
    }
    const enum tmx_status st = n_thread > 1 ? tmx_thread_pool_create(&s->pool, n_thread, err) : TMX_OK;
    if (!st) {
        tmx_tiles_plan(s);
    }
    return st;
}

void tmx_tiles_destroy(struct tmx_tiles *s)
{
    if (s) {
        tmx_thread_pool_destroy(s->pool);
    }
}

struct tmx_thread_pool *tmx_tiles_pool(const struct tmx_tiles *s)
{
    return s->pool;
}

/* Tiles with a job in common become one, and so do those that are too small for batches. */
static void join(struct tmx_tiles *s)
{
    const struct tmx_machine *m = s->sim->machine;
    const size_t n_thread = s->sim->spec.n_thread, n_level = s->sim->cooling ? s->sim->cooling->n_level : 1,
                 full = 2 * BATCH * n_level < MOST ? 2 * BATCH * n_level : MOST,
                 fair = n_thread > 1 ? m->n_gpu / (PER_THREAD * n_thread) : m->n_gpu,
                 wanted = full < fair ? full : fair; /* GPUs of a tile */
    const bool whole = s->sim->cta || s->sim->source->meet;
    for (size_t i = 0; i < s->n_base; i++) {
        s->joined[i] = whole && i > 0;
    }
    for (size_t g = 0; !whole && s->n_base > 1 && g < m->n_gpu; g++) {
        const struct tmx_gpu *gpu = &m->gpu[g];
        for (size_t k = 0; k < gpu->n_run + gpu->n_queue;
             k++) { /* a job with GPUs is on them or next there */
            const struct tmx_job *job = &m->job[k < gpu->n_run ? gpu->run[k] : gpu->queue[k - gpu->n_run]];
            for (size_t i = job->n_gpu > 1 ? s->tile_of[job->home_gpu] + 1 : 1;
                 job->n_gpu > 1 && i <= s->tile_of[job->home_gpu + job->n_gpu - 1]; i++) {
                s->joined[i] = true;
            }
        }
    }
    s->n = 0;
    for (size_t i = 0; i < s->n_base; i++) {
        if (i > 0 && s->base[i] - s->tile[s->n - 1].span.first < wanted) {
            s->joined[i] = true;
        }
        if (s->joined[i]) {
            s->tile[s->n - 1].span.end = s->base[i + 1];
        } else {
            s->tile[s->n++].span = (struct tmx_gpus){s->base[i], s->base[i + 1]};
        }
    }
}

void tmx_tiles_plan(struct tmx_tiles *s)
{
    const size_t n_gpu = s->sim->machine->n_gpu;
    const size_t *by_level = s->sim->cooling ? s->sim->cooling->order : NULL;
    join(s);
    for (size_t i = 0, k = 0; k < s->n_base; k++) { /* where the next GPU of its tile goes */
        i += k > 0 && !s->joined[k];
        s->next[k] = s->joined[k] ? s->next[k - 1] : &s->tile[i].n_done;
        *s->next[k] = s->tile[i].span.first;
    }
    const struct tmx_gpus own = tmx_decomposition_own(s->sim->share, n_gpu);
    for (size_t k = 0; k < n_gpu; k++) { /* stable: in a tile GPUs keep the order by level */
        const size_t g = by_level ? by_level[k] : k;
        if (g >= own.first && g < own.end) {
            s->order[(*s->next[s->tile_of[g]])++] = g;
        }
    }
    for (size_t i = 0; i < s->n; i++) {
        s->tile[i].n_own = s->tile[i].n_done - s->tile[i].span.first;
        s->tile[i].n_done = 0;
    }
}

/* The begin of the tick that a tile is at. */
static double time_s(const struct tmx_sim *s, const struct tile *p)
{
    return (double)p->tick * s->spec.dt_s;
}

/* What this rank has of a span; empty: nothing. */
static struct tmx_gpus own_of(const struct tmx_tiles *s, struct tmx_gpus span)
{
    const struct tmx_gpus own = tmx_decomposition_own(s->sim->share, s->sim->machine->n_gpu);
    const size_t first = span.first > own.first ? span.first : own.first,
                 end = span.end < own.end ? span.end : own.end;
    return (struct tmx_gpus){first, end > first ? end : first};
}

static void sense(void *ctx, size_t i)
{
    const struct tmx_tiles *s = ctx;
    const struct tmx_sim *sim = s->sim;
    const struct tmx_gpus span = sim->sensor->in_order ? s->tile[i].span : own_of(s, s->tile[i].span);
    tmx_sensor_read(sim->sensor, sim->machine, span, sim->frame.temp_k, sim->frame.sensed_k, sim->hottest_k);
}

static void read_meters(struct tmx_sim *s, struct tmx_gpus span)
{
    tmx_meter_read(s->meter, s->machine, span, s->frame.temp_k, s->frame.power_w, s->sensor);
}

/* A sample within a step: only the hardware's throttle looks at it, which sees the tile as a node. */
static void sample(struct tmx_tiles *p, size_t i)
{
    struct tmx_sim *s = p->sim;
    const struct tmx_gpus span = p->tile[i].span;
    const struct tmx_choice *safety = &s->spec.choice[TMX_SAFETY];
    struct tmx_node_view node = *s->view.node;
    struct tmx_view view = s->view;
    struct tmx_request request = {.gpu = s->request.gpu + span.first, .gate = s->request.gate};
    node.n_gpu = span.end - span.first;
    node.gpus += span.first;
    view.node = &node;
    view.tick = p->tile[i].tick;
    view.time_s = time_s(s, &p->tile[i]);
    view.hottest_k += span.first;
    sense(p, i);
    read_meters(s, span);
    if (tmx_dtm_of(safety)->guard) {
        tmx_dtm_of(safety)->guard(safety->state, &view, &request);
    }
}

/* Noise is of one stream: then every rank reads all sensors, else its own. */
void tmx_tiles_sense(struct tmx_tiles *p)
{
    struct tmx_sim *s = p->sim;
    const bool in_order = s->sensor->in_order;
    const struct tmx_decomposition_part temps = {s->frame.temp_k, TMX_OF_UNIT, sizeof *s->frame.temp_k};
    if (s->share && in_order) {
        tmx_decomposition_exchange(s->share, &temps, 1, &s->err);
    }
    s->sensor->n_sample++;
    tmx_thread_pool_run(in_order ? NULL : p->pool, p->n, sense, p);
    read_meters(s, tmx_machine_all(s->machine));
    const struct tmx_decomposition_part part[] = {{s->frame.sensed_k, TMX_OF_SM, sizeof *s->frame.sensed_k},
                                                  {s->hottest_k, TMX_OF_GPU, sizeof *s->hottest_k},
                                                  {s->meter->memory_k, TMX_OF_GPU, sizeof(double)}};
    if (s->share && !in_order) {
        tmx_decomposition_exchange(s->share, part, sizeof part / sizeof part[0], &s->err);
    }
}

/* The same arrays, at the tile's time. */
static struct tmx_machine machine_at(const struct tmx_sim *s, const struct tile *p)
{
    struct tmx_machine m = *s->machine;
    m.now_s = time_s(s, p) - (double)s->warmup * s->spec.dt_s;
    return m;
}

/* Work is done, jobs end; what had nothing to do slept. */
static void advance(struct tmx_sim *s, struct tile *p)
{
    struct tmx_machine now = machine_at(s, p);
    p->n_done += tmx_machine_advance_span(&now, p->span, now.now_s);
    if (s->source->meet) { /* this is the one tile there is */
        p->n_done += s->source->meet(&s->work_view, s->work);
    }
    if (s->gate) {
        tmx_gate_stage_sleep(s->gate, s->machine, p->span, s->frame.asleep);
    }
    if (s->cta) {
        tmx_cta_stage_sleep(s->cta, s->machine, s->frame.unpowered);
    }
}

static void runaway(const struct tmx_sim *s, struct tile *p, enum tmx_status st)
{
    tmx_error(&p->err, st,
              "thermal runaway at %.3f s: a unit left 200..600 K; its cooling does not carry its watts, or "
              "leakage feeds back faster (more fan or a lower r_convec; a lower leakage_w)",
              time_s(s, p));
}

static void power(struct tmx_sim *s, struct tile *p, struct tmx_gpus span)
{
    const struct tmx_machine now = machine_at(s, p);
    const enum tmx_status st = s->spec.power.ops->eval(s->power, &now, span, &s->frame);
    if (st) {
        runaway(s, p, st);
    } else if (s->smooth) {
        tmx_smooth_fill(&s->spec.smooth, s->machine, span, s->view.time_s, s->smooth, &s->frame);
    }
}

void tmx_tiles_heat_failed(const struct tmx_tiles *p, size_t k, uint64_t tick, enum tmx_status st,
                           struct tmx_err *err)
{
    const struct tmx_sim *s = p->sim;
    const size_t g = p->order[k];
    const struct tmx_thermal_ops *ops = s->spec.thermal[g].ops;
    char why[256] = "";
    if (ops->why) {
        ops->why(s->thermal[g].state, why, sizeof why);
    }
    why[0] ? tmx_error(err, st, "GPU %zu, %g s: %s", g, (double)(tick + 1) * s->spec.dt_s, why)
           : tmx_error(err, st, "thermal back-end %s, GPU %zu, tick %" PRIu64, ops->base.name, g, tick);
}

size_t tmx_tiles_gpu(const struct tmx_tiles *p, size_t k)
{
    return p->order[k];
}

static void to_batch(const struct tmx_tiles *p, size_t k, const struct tmx_step_view *v)
{
    const struct tmx_sim *s = p->sim;
    const size_t g = p->order[k], u0 = s->machine->gpu[g].unit0;
    v->state[k] = s->thermal[g].state;
    v->power_w[k] = &s->frame.power_w[u0];
    v->temp_k[k] = &s->frame.temp_k[u0];
}

void tmx_tiles_batch(const struct tmx_tiles *p, const struct tmx_step_view *v)
{
    for (size_t k = 0; k < p->sim->machine->n_gpu; k++) {
        to_batch(p, k, v);
    }
}

/* GPUs of one model side by side in the order of their convection step as a batch. */
static void heat(const struct tmx_tiles *p, struct tile *own)
{
    const struct tmx_sim *s = p->sim;
    const size_t end = own->span.first + own->n_own;
    for (size_t first = own->span.first, n_batch; first < end && !own->err.code; first += n_batch) {
        const struct tmx_sim_gpu_thermal *kind = &s->spec.thermal[p->order[first]];
        size_t bad = 0;
        for (n_batch = 0; first + n_batch < end; n_batch++) {
            if (s->spec.thermal[p->order[first + n_batch]].model != kind->model) {
                break;
            }
            to_batch(p, first + n_batch, &p->batch);
        }
        const enum tmx_status st =
            tmx_thermal_step_many(kind->ops, n_batch, p->batch.state + first, s->spec.dt_s,
                                  p->batch.power_w + first, p->batch.temp_k + first, &bad);
        if (st) {
            tmx_tiles_heat_failed(p, first + bad, own->tick, st, &own->err);
        }
    }
}

static void record_watts(const struct tmx_tiles *p, size_t i)
{
    const struct tmx_sim *s = p->sim;
    const double dt_s = s->machine->dt_s;
    tmx_recorder_watts(s->recorder, s->machine, own_of(p, p->tile[i].span), &s->frame, dt_s);
    if (!s->share) {
        tmx_recorder_jobs(s->recorder, s->machine, p->tile[i].span, &s->frame, dt_s);
        tmx_meter_add(s->meter, p->tile[i].span, s->recorder->now_w, (double)(s->events ? s->span : 1));
    }
}

static struct tile *begin(struct tmx_tiles *p, size_t i)
{
    p->tile[i].tick = p->sim->tick;
    p->tile[i].err.code = TMX_OK;
    p->tile[i].n_done = 0;
    return &p->tile[i];
}

static void place(struct tmx_tiles *p, size_t i)
{
    struct tmx_sim *s = p->sim;
    struct tile *own = &p->tile[i];
    own->stage = PLACE;
    /* the second part of a scheduling tick may have a clock level of its own */
    const uint64_t left = s->quantum - own->tick % s->quantum;
    for (size_t g = own->span.first; g < own->span.end; g++) {
        struct tmx_gpu_request *r = &s->request.gpu[g];
        if (r->late_s > 0 && (double)left * s->spec.dt_s <= r->late_s * (1 + 1e-9)) {
            r->level = r->late_level;
            r->late_s = 0;
        }
    }
    tmx_machine_apply_span(s->machine, own->span, &s->request, s->frame.sensed_k); /* 5 clamp, charge */
    /* 6 blocks to SMs, and what delays them. Under a CTA policy who has SMs in this tick slows whom, and
     * units sleep at the latency that results. */
    const struct tmx_choice *mix = &s->spec.choice[TMX_LEVEL_MIX];
    if (s->gate && !s->cta) {
        tmx_gate_stage_slow(s->gate, s->machine, own->span, NULL);
    }
    tmx_dispatch(s->machine, own->span, tmx_mix_of(mix), mix->state, time_s(s, own), own->scratch, &own->err);
    if (s->cta && !own->err.code) {
        tmx_cta_stage_slow(s->cta, s->machine);
    }
    if (s->cta && s->gate && !own->err.code) {
        tmx_gate_stage_slow(s->gate, s->machine, own->span, tmx_cta_stage_latency(s->cta));
    }
    if (s->smooth) {
        tmx_smooth_slow(&s->spec.smooth, s->machine, own->span, s->smooth);
    }
}

static void to_watts(struct tmx_tiles *p, size_t i)
{
    struct tmx_sim *s = p->sim;
    struct tile *own = &p->tile[i];
    place(p, i);
    if (own->err.code) {
        return;
    }
    advance(s, own); /* 7 progress, retire, sleep */
    own->stage = POWER;
    power(s, own, own_of(p, own->span)); /* 8 watts */
    if (!own->err.code) {
        record_watts(p, i);
    }
}

static void record_kelvins(void *ctx, size_t i)
{
    const struct tmx_tiles *p = ctx;
    const struct tmx_sim *s = p->sim;
    const double *mean_k = s->events ? s->events->sum_k : s->frame.temp_k;
    tmx_recorder_kelvins(s->recorder, s->machine, own_of(p, p->tile[i].span), &s->frame, mean_k,
                         s->recorder->n_tick + (p->tile[i].tick - s->tick), s->events ? s->span : 1);
}

/* The ticks of a step of a tile. */
static void step(void *ctx, size_t i)
{
    struct tmx_tiles *p = ctx;
    const struct tmx_sim *s = p->sim;
    const size_t first = p->tile[i].span.first, n = p->tile[i].span.end - first;
    struct tile *own = begin(p, i);
    for (const uint64_t end = s->tick + s->span; !own->err.code && own->tick < end;
         own->tick += !own->err.code) {
        const uint64_t k = own->tick - s->tick;
        if (k > 0 && own->tick % s->sample == 0) {
            sample(p, i);
        }
        to_watts(p, i);
        if (!own->err.code) {
            own->stage = HEAT;
            heat(p, own); /* 9 kelvins */
        }
        if (!own->err.code) {
            record_kelvins(p, i);
        }
        if (s->span > 1) {
            memcpy(&p->now_w[k * s->machine->n_gpu + first], &s->recorder->now_w[first],
                   n * sizeof *p->now_w);
        }
    }
}

/* Of several failures the one that the whole node would have met first; NULL: none. */
static const struct tile *failed(const struct tmx_tiles *p)
{
    const struct tile *first = NULL;
    for (size_t i = 0; i < p->n; i++) {
        const struct tile *t = &p->tile[i];
        if (t->err.code &&
            (!first || t->tick < first->tick || (t->tick == first->tick && t->stage < first->stage))) {
            first = &p->tile[i];
        }
    }
    return first;
}

/* It becomes the simulation's; on ranks the first of all ranks. */
static void settle(const struct tmx_tiles *p)
{
    const struct tile *first = failed(p);
    if (p->sim->share) {
        tmx_sim_share_tick(
            p->sim, first ? &first->err : NULL,
            first ? (uint64_t)first->stage * TMX_THREAD_POOL_PIECES + (uint64_t)(first - p->tile) : 0);
    } else if (first) {
        p->sim->err = first->err;
    }
}

/* The step has gone well in all tiles: n of n_tick ticks and watts now_w [n][n_gpu]. */
static void end_step(struct tmx_tiles *p, size_t n, const double *now_w, uint64_t n_tick)
{
    struct tmx_sim *s = p->sim;
    size_t n_done = 0;
    for (size_t i = 0; i < p->n; i++) {
        n_done += p->tile[i].n_done;
    }
    tmx_machine_end_tick(s->machine, n_done);
    if (s->share) {
        tmx_meter_add(s->meter, tmx_machine_all(s->machine), s->recorder->now_w, 1);
    }
    tmx_recorder_end_steps(s->recorder, n, now_w, n_tick, p->pool); /* 10 the only way out */
}

/* A run that fails within a step has other tiles ahead of the tick. A GPU as hot as this, beyond where boards
 * shut down, may be on the way there: single ticks. Assumed. */
static const double HOT_K = 400;

static uint64_t earlier(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* Ticks of a step, BLOCK and `most` at most, in which no GPU has to do with another but those of its tile:
 * until the next scheduling tick, update of fans, sample at which more than the throttle looks, and end of
 * the warm-up; and the run does not end before the last of them. */
static uint64_t block(const struct tmx_sim *s, uint64_t most)
{
    uint64_t end = s->tick + earlier(most, BLOCK);
    double hottest_k = 0;
    for (size_t g = 0; g < s->machine->n_gpu; g++) {
        hottest_k = s->hottest_k[g] > hottest_k ? s->hottest_k[g] : hottest_k;
    }
    if (most == 1 || s->share || s->single || s->cta || s->smooth || hottest_k > HOT_K) {
        return 1;
    }
    end = earlier(end, (s->tick / s->quantum + 1) * s->quantum);
    end = s->cooling ? earlier(end, (s->tick / s->cool + 1) * s->cool) : end;
    end = s->tick < s->warmup ? earlier(end, s->warmup) : end;
    if (!s->spec.samples_skippable || s->sensor->needs_all) {
        end = earlier(end, (s->tick / s->sample + 1) * s->sample);
    }
    return tmx_machine_outlasts(s->machine, end - s->tick) ? end - s->tick : 1;
}

void tmx_tiles_tick(struct tmx_tiles *p, uint64_t most)
{
    struct tmx_sim *s = p->sim;
    s->span = block(s, most);
    tmx_thread_pool_run(p->pool, p->n, step, p);
    settle(p);
    const uint64_t n_whole = s->err.code && !s->share ? failed(p)->tick - s->tick : s->span - 1;
    for (uint64_t k = 0; k < n_whole; k++) {
        if ((s->tick + k + 1) % s->sample == 0) {
            s->sensor->n_sample++;
        }
    }
    if (s->err.code) { /* n ticks of a step, not its last, have gone well in all tiles */
        tmx_recorder_end_steps(s->recorder, n_whole, p->now_w, 1, p->pool);
        s->tick += n_whole;
    } else {
        end_step(p, s->span, s->span > 1 ? p->now_w : s->recorder->now_w, 1);
    }
}

/* ---- several ticks in one step, from event to event (events.c) ---- */

static void place_and_look(void *ctx, size_t i)
{
    struct tmx_tiles *p = ctx;
    struct tmx_sim *s = p->sim;
    struct tile *own = begin(p, i);
    const struct tmx_choice *mix = &s->spec.choice[TMX_LEVEL_MIX];
    place(p, i);
    own->steady = p->most;
    for (size_t g = own->span.first; g < own->span.end && !own->err.code; g++) {
        own->steady = tmx_machine_steady_ticks(s->machine, g, own->steady);
        own->steady = tmx_dispatch_ticks(s->machine, g, tmx_mix_of(mix), mix->state, s->tick, own->steady,
                                         own->scratch);
    }
}

static void go(void *ctx, size_t i)
{
    struct tmx_tiles *p = ctx;
    struct tmx_sim *s = p->sim;
    struct tile *own = &p->tile[i];
    advance(s, own);
    own->stage = POWER;
    if (!s->events->foreseen) {
        power(s, own, own->span);
    }
    for (size_t k = own->span.first; k < own->span.end && !own->err.code; k++) {
        const enum tmx_status st = tmx_events_heat(s, p->order[k]);
        own->stage = st == TMX_ERUNAWAY ? POWER : HEAT;
        if (st == TMX_ERUNAWAY) {
            runaway(s, own, st);
        } else if (st) {
            tmx_tiles_heat_failed(p, k, s->tick, st, &own->err);
        }
    }
    if (!own->err.code) {
        record_watts(p, i);
        record_kelvins(p, i);
    }
}

void tmx_tiles_span(struct tmx_tiles *p)
{
    struct tmx_sim *s = p->sim;
    s->machine->dt_s = s->spec.dt_s;
    p->most = tmx_events_most(s);
    tmx_thread_pool_run(p->pool, p->n, place_and_look, p);
    settle(p);
    uint64_t n = p->most;
    for (size_t i = 0; i < p->n; i++) {
        n = p->tile[i].steady < n ? p->tile[i].steady : n;
    }
    if (!s->err.code) {
        s->span = tmx_events_span(s, n);
        s->machine->dt_s = (double)s->span * s->spec.dt_s;
        tmx_thread_pool_run(p->pool, p->n, go, p);
        settle(p);
    }
    if (!s->err.code) {
        end_step(p, 1, s->recorder->now_w, s->span);
    }
}

/* ---- a tick in parts (lockstep.c) ---- */

static void first_part(void *ctx, size_t i)
{
    (void)begin(ctx, i);
    to_watts(ctx, i);
}

void tmx_tiles_to_watts(struct tmx_tiles *p)
{
    p->sim->span = 1;
    tmx_thread_pool_run(p->pool, p->n, first_part, p);
    settle(p);
}

void tmx_tiles_end(struct tmx_tiles *p)
{
    tmx_thread_pool_run(p->pool, p->n, record_kelvins, p);
    end_step(p, 1, p->sim->recorder->now_w, 1);
}

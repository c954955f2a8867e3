/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "core/sim/sim.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/sim/tiles.h"

static uint64_t multiple(double span_s, double dt_s, const char *what, struct tmx_err *err)
{
    const double n = span_s / dt_s;
    if (n < 0 || fabs(n - round(n)) > 1e-6 * fmax(1, n)) {
        tmx_error(err, TMX_ECONFIG, "%s = %g s is not a multiple of tick_s = %g s", what, span_s, dt_s);
    }
    return n > 0 ? (uint64_t)round(n) : 0;
}

double tmx_slice_s(const struct tmx_choice *mix, double tick_s)
{
    const struct tmx_mix_policy *p = tmx_mix_of(mix);
    const double slice_s = p->slice_s ? p->slice_s(mix->state) : tick_s, pairs = tick_s / (2 * slice_s);
    const bool averaged = slice_s < tick_s && fabs(pairs - round(pairs)) <= 1e-6 * pairs;
    return averaged ? tick_s : slice_s;
}

/* The source of work, and arrays of all stages. */
static void take_arrays(struct tmx_sim *s)
{
    const struct tmx_machine *m = s->machine;
    const struct tmx_choice *row = &s->spec.choice[TMX_LEVEL_ROW];
    struct tmx_frame *f = &s->frame;
    size_t widest = 0;
    const struct tmx_source *is = s->source = s->spec.source.is ? s->spec.source.is : &tmx_source_mix;
    const void *options = s->spec.source.options;
    struct tmx_source_view *v = &s->work_view;
    *v = (struct tmx_source_view){.machine = s->machine,
                                  .view = &s->view,
                                  .choice = s->spec.choice,
                                  .dt_s = s->spec.dt_s,
                                  .shared_queue = s->spec.shared_queue};
    TMX_TAKE(&s->arena, v->scratch, s->machine->n_gpu);
    s->work = is->open ? is->open(v, options, &s->arena) : NULL;
    s->single = is->admit || is->work || is->meet;
    s->cold = is->cold && is->cold(options);
    for (size_t g = 0; g < m->n_gpu; g++) {
        widest = m->gpu[g].chip->n_sm > widest ? m->gpu[g].chip->n_sm : widest;
    }
    TMX_TAKE_REALS(&s->arena, m->n_unit, &f->asleep, &f->unpowered, &f->dynamic_w, &f->leakage_w, &f->saved_w,
                   &f->baseline_w, &f->power_w, &f->temp_k);
    TMX_TAKE(&s->arena, f->sensed_k, m->n_sm);
    TMX_TAKE(&s->arena, f->slot_w, TMX_SLOTS * m->n_gpu);
    TMX_TAKE_REALS(&s->arena, m->n_gpu, &f->transition_w, &f->smooth_w, &s->hottest_k);
    tmx_row_stage_take(&s->rows, &s->arena, row, s->spec.rows.telemetry_s, m);
    if (tmx_smooth_on(&s->spec.smooth) || (row->policy && tmx_row_of(row)->asks == TMX_ROW_RAMPS)) {
        TMX_TAKE(&s->arena, s->smooth, m->n_gpu);
    }
    s->recorder = tmx_recorder_take(&s->arena, m, s->spec.sensor.power_window_s, s->spec.group,
                                    s->spec.n_group, s->cold);
    tmx_feed_take(&s->feed, &s->arena, m, s->spec.cooling.topology, &s->spec.store);
    s->meter = tmx_meter_take(&s->arena, m);
    TMX_TAKE(&s->arena, s->request.gpu, m->n_gpu);
    TMX_TAKE(&s->arena, s->request.gate, m->n_sm);
    TMX_TAKE(&s->arena, s->scratch, widest);
    TMX_TAKE(&s->arena, s->order, widest);
    TMX_TAKE(&s->arena, s->thermal, m->n_gpu);
    TMX_TAKE(&s->arena, s->asked, m->n_gpu);
    TMX_TAKE(&s->arena, s->outlook, m->n_gpu);
    TMX_TAKE(&s->arena, s->waits, m->n_job);
    if (s->arena.failed || s->recorder->state.failed) {
        tmx_error(&s->err, TMX_ENOMEM, "simulation of %zu units", m->n_unit);
        return;
    }
    s->recorder->swing.feed = &s->feed;
    s->work_view.chip_w = s->recorder->now_w;
    f->n_gpu = m->n_gpu;
    f->n_sm = m->n_sm;
    f->n_unit = m->n_unit;
}

/* Dies and what cools them. */
static void start_thermal(struct tmx_sim *s)
{
    static const double round_off_k = 1e-6;
    const struct tmx_cooling_spec *c = &s->spec.cooling;
    for (size_t g = 0; g < s->machine->n_gpu && !s->err.code; g++) {
        const struct tmx_sim_gpu_thermal *t = &s->spec.thermal[g];
        s->thermal[g].ops = t->ops;
        if (!t->ops->create(t->model, &s->thermal[g].state, &s->err)) {
            t->ops->read(s->thermal[g].state, &s->frame.temp_k[s->machine->gpu[g].unit0]);
        }
    }
    if (!c->topology) {
        return;
    }
    s->cool = multiple(c->period_s, s->spec.dt_s, "fan_period_s", &s->err);
    if (s->cool == 0) {
        tmx_error(&s->err, TMX_ECONFIG, "fan_period_s = %g s is shorter than tick_s = %g s", c->period_s,
                  s->spec.dt_s);
    }
    if (s->err.code ||
        tmx_cooling_take(&s->cooling, &s->arena, c, s->thermal, s->warmup, s->spec.dt_s, &s->err)) {
        return;
    }
    s->feed.fan_w = s->cooling->fan_w;
    for (size_t g = 0; !c->cold_start && g < s->machine->n_gpu; g++) { /* no colder than its air */
        const size_t unit = s->machine->gpu[g].unit0;
        double *temp_k = &s->frame.temp_k[unit];
        const double *no_power_w = &s->frame.power_w[unit]; /* before the first tick */
        if (temp_k[0] < s->cooling->inlet_k[g] - round_off_k &&
            s->thermal[g].ops->steady(s->thermal[g].state, no_power_w, true, temp_k)) {
            tmx_error(&s->err, TMX_ESOLVE, "GPU %zu: no temperatures at its inlet's", g);
        }
    }
}

/* Numbers that a policy keeps from call to call; NULL: it keeps none. */
static double *take_memory(struct tmx_sim *s, size_t (*count)(const void *, const struct tmx_view *),
                           const struct tmx_choice *c)
{
    const size_t n = count ? count(c->state, &s->view) : 0;
    return n > 0 ? tmx_arena_take(&s->arena, n, sizeof(double)) : NULL;
}

static void make_view(struct tmx_sim *s)
{
    const struct tmx_choice *choice = &s->spec.choice[TMX_LEVEL_MIX];
    const struct tmx_mix_policy *mix = tmx_mix_of(choice);
    const size_t n_gpu = s->machine->n_gpu;
    const double trip_k = tmx_sim_trip_k(s);
    const struct tmx_sensor_delay *delay = s->spec.sensor.of ? s->spec.sensor.of[TMX_SENSOR_delay] : NULL;
    bool known = s->spec.forecast != NULL;
    for (size_t j = 0; j < s->machine->n_job; j++) {
        s->waits[j] = tmx_job_waits(&s->machine->job[j], 0);
    }
    for (size_t g = 0; g < n_gpu && known; g++) {
        const struct tmx_gpu *gpu = &s->machine->gpu[g];
        s->outlook[g] = (struct tmx_outlook){.forecast = s->spec.forecast[g],
                                             .chip = gpu->chip,
                                             .power_scale = gpu->power_scale,
                                             .gated = s->machine->gated + gpu->sm0,
                                             .delay_s = delay ? delay->delay_s : 0,
                                             .waits = s->waits,
                                             .job = s->machine->job};
        known = tmx_sim_static_power(s, g, &s->outlook[g].still);
    }
    s->view = (struct tmx_view){.node = &s->machine->view,
                                .sensed_k = s->frame.sensed_k,
                                .hottest_k = s->hottest_k,
                                .quantum_s = s->spec.quantum_s,
                                .dt_s = s->spec.dt_s,
                                .limit_k = isnan(trip_k) ? INFINITY : trip_k,
                                .outlook = known ? s->outlook : NULL};
    tmx_meter_view(s->meter, &s->view);
    const struct tmx_choice *dtm = &s->spec.choice[TMX_LEVEL_DTM];
    s->machine->mix_memory = s->mix_memory = take_memory(s, mix->memory, choice);
    s->dtm_memory = dtm->policy ? take_memory(s, tmx_dtm_of(dtm)->memory, dtm) : NULL;
    tmx_arena_check(&s->arena, &s->err);
}

/* Turns of kernels are found as differences of times, which are rounded. */
static const double SHARE_ROUND_OFF = 1e-6;

enum tmx_status tmx_sim_create(struct tmx_sim **sim, struct tmx_sim_spec *spec, struct tmx_err *err)
{
    struct tmx_sim *s = calloc(1, sizeof *s);
    if (!s) {
        tmx_choices_finish(spec->choice);
        return tmx_fail(err, TMX_ENOMEM, "simulation");
    }
    s->spec = *spec;
    for (size_t i = 0; i < TMX_N_CHOICE; i++) {
        spec->choice[i].state = NULL;
    }
    const struct tmx_choice *const mix = &s->spec.choice[TMX_LEVEL_MIX];
    s->spec.cooling.choice = &s->spec.choice[TMX_LEVEL_FAN];
    struct tmx_err *own = &s->err;
    (void)!tmx_machine_create(&s->machine, &spec->machine, own);
    s->quantum = multiple(spec->quantum_s, spec->dt_s, "quantum_s", own);
    s->warmup = multiple(spec->warmup_s, spec->dt_s, "warmup_s", own);
    (void)multiple(tmx_slice_s(mix, spec->dt_s), spec->dt_s, "mix_policy.slice_s", own);
    if (s->quantum == 0) {
        tmx_error(own, TMX_ECONFIG, "quantum_s = %g s is shorter than tick_s = %g s", spec->quantum_s,
                  spec->dt_s);
    }
    if (!own->code &&
        !tmx_sensor_create(&s->sensor, &spec->sensor, s->machine, spec->dt_s, spec->seed, own)) {
        take_arrays(s);
    }
    if (!own->code && !spec->power.ops->create(spec->power.options, s->machine, &s->power, own)) {
        s->gate = spec->gate.kind ? tmx_gate_stage_take(&s->arena, &spec->gate, s->machine) : NULL;
        if (spec->cta.plan) {
            struct tmx_cta_spec cta = spec->cta;
            cta.turns = tmx_mix_of(mix)->turns;
            s->cta = tmx_cta_stage_take(&s->arena, &cta, s->machine);
        }
        s->frame.sleeps = s->gate || s->cta;
        start_thermal(s);
    }
    if (!own->code) {
        s->sample = s->sensor->period;
        s->stuck = (uint64_t)(spec->stuck_s / spec->dt_s);
        s->span = 1;
        s->until = UINT64_MAX;
        s->events = spec->events ? tmx_events_take(&s->arena, s->machine) : NULL;
        s->machine->share_round_off = spec->events ? SHARE_ROUND_OFF : 0;
        s->machine->counting = s->warmup == 0;
        make_view(s);
    }
    if (own->code || tmx_tiles_create(&s->tiles, s, own)) {
        const struct tmx_err failed = *own;
        tmx_sim_destroy(s);
        return tmx_error_give(err, &failed);
    }
    for (size_t g = 0; g < s->machine->n_gpu; g++) {
        s->request.gpu[g] = (struct tmx_gpu_request){.admit = TMX_NO_JOB,
                                                     .share = 1,
                                                     .n_active = s->machine->gpu[g].chip->n_sm,
                                                     .power_cap_w = tmx_sim_power_cap_w(s, g)};
    }
    *sim = s;
    return TMX_OK;
}

void tmx_sim_destroy(struct tmx_sim *s)
{
    if (!s) {
        return;
    }
    for (size_t g = 0; s->thermal && g < s->spec.machine.n_gpu; g++) {
        if (s->thermal[g].ops) {
            s->thermal[g].ops->destroy(s->thermal[g].state);
        }
    }
    if (s->power) {
        s->spec.power.ops->destroy(s->power);
    }
    tmx_tiles_destroy(s->tiles);
    tmx_decomposition_destroy(s->share);
    if (s->recorder) {
        tmx_arena_finish(&s->recorder->state);
    }
    tmx_sensor_destroy(s->sensor);
    tmx_machine_destroy(s->machine);
    tmx_arena_finish(&s->arena);
    tmx_choices_finish(s->spec.choice);
    free(s);
}

static void check_progress(struct tmx_sim *s)
{
    const struct tmx_machine *m = s->machine;
    double done = 0;
    bool work = false, placed = false;
    for (size_t j = m->first_unfinished; j < m->n_arrived; j++) {
        done += m->job[j].done_sm_s;
        const bool left = m->job[j].state == TMX_JOB_WAITING || m->job[j].state == TMX_JOB_RUNNING;
        work = work || left;
        placed = placed || (left && m->job[j].n_gpu > 0);
    }
    done += (double)m->n_done;
    if (!work || !m->counting || done != s->last_done_sm_s) { /* finished jobs leave the sum: it may fall */
        s->last_done_sm_s = done;
        s->last_progress = s->tick;
        return;
    }
    const bool stuck = s->stuck > 0 && s->tick - s->last_progress > s->stuck;
    if (stuck && !placed && !s->source->place) {
        tmx_error(&s->err, TMX_EUNFINISHED,
                  "no progress for %g s of simulated time with work left: place policy %s names no GPU for "
                  "any kernel that waits",
                  s->spec.stuck_s, s->spec.choice[TMX_LEVEL_PLACE].policy->name);
    }
    if (stuck) {
        tmx_error(&s->err, TMX_EUNFINISHED,
                  "no progress for %g s of simulated time with work left: every SM stays clock-gated "
                  "(the chip cannot cool below throttle.release_c with all clocks off?)",
                  s->spec.stuck_s);
    }
}

/* Has the last step come to or passed a multiple of so many ticks? */
static bool passed(const struct tmx_sim *s, uint64_t ticks)
{
    return s->tick / ticks != (s->tick - s->span) / ticks;
}

enum tmx_status tmx_sim_look(struct tmx_sim *s, const struct tmx_observer *observer, struct tmx_err *err)
{
    if (observer && observer->tick) {
        observer->tick(observer->ctx, s);
    }
    if (passed(s, 1024 * s->quantum)) {
        check_progress(s);
    }
    if (!s->err.code && passed(s, s->quantum)) {
        bool stop = observer && observer->stop && observer->stop(observer->ctx);
        if (s->share) {
            tmx_sim_share_any(s, &stop);
        }
        if (stop) {
            tmx_error(&s->err, TMX_ESTOPPED, "stopped at %.3f s", tmx_sim_time_s(s));
        }
    }
    return tmx_error_give(err, &s->err);
}

enum tmx_status tmx_sim_advance(struct tmx_sim *s, uint64_t n_tick, const struct tmx_observer *observer,
                                struct tmx_err *err)
{
    const uint64_t end = n_tick ? s->tick + n_tick : UINT64_MAX;
    enum tmx_status st = TMX_OK;
    s->until = end;
    while (!tmx_sim_done(s) && s->tick < end && !st) {
        st = tmx_sim_step(s, observer && observer->tick ? 1 : end - s->tick, err);
        st = st ? st : tmx_sim_look(s, observer, err);
    }
    tmx_swing_settle(&s->recorder->swing, tmx_tiles_pool(s->tiles));
    if (s->share) {
        struct tmx_err shared = {0};
        tmx_sim_share_all(s, &shared);
        st = st ? st : tmx_error_give(err, &shared);
    }
    return st;
}

double tmx_sim_share(const struct tmx_sim *s)
{
    double done = 0, all = 0;
    if (s->source->share) {
        return s->source->share(s->work);
    }
    for (size_t j = 0; j < s->machine->n_job; j++) {
        done += s->machine->job[j].done_sm_s;
        all += s->machine->job[j].work_sm_s;
    }
    return all > 0 ? done / all : 0;
}

double tmx_sim_time_s(const struct tmx_sim *s)
{
    return ((double)s->tick - (double)s->warmup) * s->spec.dt_s;
}

bool tmx_sim_done(const struct tmx_sim *s)
{
    return s->machine->n_done == s->machine->n_job;
}

const struct tmx_jobs *tmx_sim_jobs(const struct tmx_sim *s)
{
    return s->source == &tmx_source_job ? s->work : NULL;
}

const struct tmx_serve *tmx_sim_serve(const struct tmx_sim *s)
{
    return s->source == &tmx_source_serve ? s->work : NULL;
}

double tmx_sim_trip_k(const struct tmx_sim *s)
{
    const struct tmx_choice *c = &s->spec.choice[TMX_SAFETY];
    return tmx_dtm_of(c)->trip_k ? tmx_dtm_of(c)->trip_k(c->state) : NAN;
}

bool tmx_sim_gpu_cooling(const struct tmx_sim *s, size_t gpu, struct tmx_cooling_gpu *c)
{
    if (s->cooling) {
        *c = tmx_cooling_of_gpu(s->cooling, (double)s->tick * s->spec.dt_s, gpu);
    }
    return s->cooling != NULL;
}

struct tmx_cooling_ledger tmx_sim_cooling_ledger(const struct tmx_sim *s)
{
    return s->cooling ? tmx_cooling_read(s->cooling, (double)s->tick * s->spec.dt_s, s->thermal)
                      : (struct tmx_cooling_ledger){0};
}

double tmx_sim_power_cap_w(const struct tmx_sim *s, size_t gpu)
{
    return s->spec.power_cap_w ? s->spec.power_cap_w[gpu] : INFINITY;
}

bool tmx_sim_static_power(const struct tmx_sim *s, size_t gpu, struct tmx_static_power *p)
{
    if (!s->spec.power.ops->still) {
        return false;
    }
    s->spec.power.ops->still(s->power, s->machine, gpu, p);
    return true;
}

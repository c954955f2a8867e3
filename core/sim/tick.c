/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One tick, and its stages in their order. */
#include <inttypes.h>

#include "core/sim/answers.h"
#include "core/sim/dispatch.h"
#include "core/sim/sim_state.h"

/* Placed jobs may get more GPUs. */
static enum tmx_status widen_jobs(struct tmx_sim *s, struct tmx_err *err)
{
    const struct tmx_choice *c = &s->spec.choice[TMX_LEVEL_PLACE];
    struct tmx_machine *m = s->machine;
    for (size_t j = m->first_unfinished; j < m->n_arrived; j++) {
        const struct tmx_job *job = &m->job[j];
        if (job->n_gpu == 0 || job->state != TMX_JOB_RUNNING) {
            continue;
        }
        struct tmx_place p = {0};
        tmx_place_of(c)->widen(c->state, &s->view, j, &p);
        const enum tmx_status st = tmx_answer_wider(c->policy, &p, m, j, err);
        if (st) {
            return st;
        }
        if (p.n > job->n_gpu) {
            (void)tmx_machine_widen(m, j, p.home, p.n); /* a full queue: asked again */
        }
    }
    return TMX_OK;
}

/* Arrived jobs get their GPUs, in order of arrival, until one has to wait. */
static enum tmx_status place_jobs(struct tmx_sim *s, struct tmx_err *err)
{
    const struct tmx_choice *c = &s->spec.choice[TMX_LEVEL_PLACE];
    struct tmx_machine *m = s->machine;
    for (size_t j = m->first_unfinished; j < m->n_arrived; j++) {
        struct tmx_job *job = &m->job[j];
        if (job->n_gpu > 0 || job->state != TMX_JOB_WAITING) {
            continue;
        }
        const bool member = m->members && j < m->members->spec.n_member; /* its GPU is given */
        struct tmx_place p = {0};
        if (member) {
            p = (struct tmx_place){.home = job->home_gpu, .n = 1};
        } else {
            tmx_place_of(c)->place(c->state, &s->view, j, &p);
        }
        const enum tmx_status st = tmx_answer_place(c->policy, &p, m, j, err);
        if (st) {
            return st;
        }
        if (p.n == 0 || (s->spec.shared_queue && m->gpu[p.home].n_queue > 0)) {
            return TMX_OK;
        }
        job->home_gpu = p.home;
        job->n_gpu = p.n;
        if (!tmx_machine_enqueue(m, j)) {
            job->n_gpu = 0;
            return TMX_OK;
        }
    }
    return TMX_OK;
}

/* Whom the firmware slows down does not get faster in the tick. */
static void govern(struct tmx_sim *s, struct tmx_request *r)
{
    const struct tmx_choice *dtm = &s->spec.choice[TMX_LEVEL_DTM];
    for (size_t g = 0; g < s->machine->n_gpu; g++) {
        s->asked[g] = r->gpu[g].level;
    }
    r->memory = s->dtm_memory;
    tmx_dtm_of(dtm)->govern(dtm->state, &s->view, r);
    for (size_t g = 0; g < s->machine->n_gpu; g++) {
        struct tmx_gpu_request *q = &r->gpu[g];
        q->late_s = q->level > s->asked[g] ? 0 : q->late_s;
    }
}

/* Blocks go to SMs in the order of the CTA stage where it has one, else of the thread-block policy. */
static enum tmx_status order_blocks(struct tmx_sim *s, size_t g, const struct tmx_cta_stage *cta,
                                    struct tmx_err *err)
{
    const struct tmx_choice *tb = &s->spec.choice[TMX_LEVEL_TB];
    struct tmx_gpu *gpu = &s->machine->gpu[g];
    if (cta && tmx_cta_stage_order(cta, gpu, g, s->frame.sensed_k, gpu->order)) {
        return TMX_OK;
    }
    tmx_tb_of(tb)->order(tb->state, &s->view, g, gpu->order);
    return tmx_answer_order(tb->policy, gpu->order, gpu->n_sm, g, s->scratch, err);
}

/* The operating system's scheduling tick. Requests start from "as now, full speed". */
static enum tmx_status schedule(struct tmx_sim *s, struct tmx_err *err)
{
    const struct tmx_choice *choice = s->spec.choice, *mix = &choice[TMX_LEVEL_MIX],
                            *dtm = &choice[TMX_LEVEL_DTM];
    struct tmx_request *r = &s->request;
    const bool warming = s->tick < s->warmup && s->spec.warmup_with != TMX_WARMUP_POLICY;
    for (size_t g = 0; g < s->machine->n_gpu; g++) {
        const struct tmx_gpu *gpu = &s->machine->gpu[g];
        r->gpu[g] = (struct tmx_gpu_request){.admit = TMX_NO_JOB,
                                             .share = gpu->share,
                                             .n_active = gpu->chip->n_sm,
                                             .power_cap_w = tmx_sim_power_cap_w(s, g)};
        const enum tmx_status st = order_blocks(s, g, warming ? NULL : s->cta, err);
        if (st) {
            return st;
        }
    }
    if (warming && s->spec.warmup_with == TMX_WARMUP_IDLE) {
        return TMX_OK;
    }
    enum tmx_status st = s->jobs ? tmx_jobs_step(s->jobs, s->machine, &s->view, err) : place_jobs(s, err);
    if (st || warming) {
        return st;
    }
    st = tmx_place_of(&choice[TMX_LEVEL_PLACE])->widen ? widen_jobs(s, err) : TMX_OK;
    if (!st) {
        const bool caps = dtm->policy && tmx_dtm_of(dtm)->caps;
        r->memory = s->mix_memory;
        tmx_mix_of(mix)->decide(mix->state, &s->view, r);
        st = tmx_answer_mix(mix->policy, r, s->machine, err);
        st = st ? st : tmx_answer_caps(mix->policy, r, s->machine, caps, err);
    }
    if (!st && s->cta) {
        tmx_cta_stage_limit(s->cta, s->machine, r);
    }
    if (!st && dtm->policy && tmx_dtm_of(dtm)->govern) {
        govern(s, r);
    }
    return st;
}

/* The second part of a scheduling tick may have a clock level of its own. */
static void change_late(struct tmx_sim *s)
{
    const uint64_t left = s->quantum - s->tick % s->quantum;
    for (size_t g = 0; g < s->machine->n_gpu; g++) {
        struct tmx_gpu_request *r = &s->request.gpu[g];
        if (r->late_s > 0 && (double)left * s->spec.dt_s <= r->late_s * (1 + 1e-9)) {
            r->level = r->late_level;
            r->late_s = 0;
        }
    }
}

/* A board that has shut down does not come back. */
static enum tmx_status check_shutdown(const struct tmx_sim *s, struct tmx_err *err)
{
    for (size_t g = 0; g < s->machine->n_gpu; g++) {
        if (s->request.gpu[g].reasons >> TMX_REASON_SHUTDOWN & 1) {
            return tmx_fail(err, TMX_EUNFINISHED,
                            "GPU %zu shut down at %.3f s: its sensor reads %.1f degC, its limit is %g degC",
                            g, s->view.time_s, s->hottest_k[g] - TMX_ZERO_C, s->view.board[g].shutdown_c);
        }
    }
    return TMX_OK;
}

static enum tmx_status guard(struct tmx_sim *s, struct tmx_err *err)
{
    const struct tmx_choice *safety = &s->spec.choice[TMX_SAFETY], *dtm = &s->spec.choice[TMX_LEVEL_DTM];
    tmx_sensor_read(s->sensor, s->machine, s->frame.temp_k, s->frame.sensed_k, s->hottest_k);
    tmx_meter_read(s->meter, s->machine, s->frame.temp_k, s->spec.sensor.quantum_k);
    for (size_t g = 0; g < s->machine->n_gpu; g++) {
        tmx_meter_inlet(s->meter, g,
                        s->cooling ? tmx_cooling_inlet_k(s->cooling, g) : s->spec.thermal[g].ambient_k);
    }
    if (tmx_dtm_of(safety)->guard) {
        tmx_dtm_of(safety)->guard(safety->state, &s->view, &s->request);
    }
    if (dtm->policy && tmx_dtm_of(dtm)->guard) {
        s->request.memory = s->dtm_memory;
        tmx_dtm_of(dtm)->guard(dtm->state, &s->view, &s->request);
        return check_shutdown(s, err);
    }
    return TMX_OK;
}

static void begin(struct tmx_sim *s)
{
    s->view.tick = s->tick;
    s->view.time_s = (double)s->tick * s->spec.dt_s;
    if (s->tick == s->warmup) {
        s->machine->counting = true;
        tmx_recorder_reset(s->recorder);
    }
}

static enum tmx_status cool(struct tmx_sim *s, struct tmx_err *err)
{
    const bool due = s->cooling && (s->tick % s->cool == 0 || s->tick == s->warmup);
    return due ? tmx_cooling_update(s->cooling, &s->view, s->thermal, err) : TMX_OK;
}

/* Blocks to SMs, and what delays them. Under a CTA policy who has SMs in this tick slows whom, and
 * units sleep at the latency that results. */
static enum tmx_status place_blocks(struct tmx_sim *s, struct tmx_err *err)
{
    const struct tmx_choice *mix = &s->spec.choice[TMX_LEVEL_MIX];
    if (s->gate && !s->cta) {
        tmx_gate_stage_slow(s->gate, s->machine, NULL);
    }
    const enum tmx_status st =
        tmx_dispatch(s->machine, tmx_mix_of(mix), mix->state, s->view.time_s, s->scratch, err);
    if (!st && s->cta) {
        tmx_cta_stage_slow(s->cta, s->machine);
    }
    if (!st && s->cta && s->gate) {
        tmx_gate_stage_slow(s->gate, s->machine, tmx_cta_stage_latency(s->cta));
    }
    return st;
}

/* Work is done, jobs end; what had nothing to do slept. */
static void advance(struct tmx_sim *s)
{
    tmx_machine_advance(s->machine, s->view.time_s - (double)s->warmup * s->spec.dt_s);
    if (s->gate) {
        tmx_gate_stage_sleep(s->gate, s->machine, s->frame.asleep);
    }
    if (s->cta) {
        tmx_cta_stage_sleep(s->cta, s->machine, s->frame.unpowered);
    }
}

static enum tmx_status power(struct tmx_sim *s, struct tmx_err *err)
{
    const enum tmx_status st = s->spec.power.ops->eval(s->power, s->machine, &s->frame);
    return !st ? TMX_OK
               : tmx_fail(
                     err, st,
                     "thermal runaway at %.3f s: a unit left 200..600 K; leakage feeds back faster than the "
                     "package cools (lower leakage_w or r_convec)",
                     (double)s->tick * s->spec.dt_s);
}

/* GPUs of one model side by side in the order of their convection step as a gang. */
static enum tmx_status heat(struct tmx_sim *s, struct tmx_err *err)
{
    const size_t *order = s->cooling ? tmx_cooling_order(s->cooling) : NULL;
    const size_t n = s->machine->n_gpu;
    for (size_t first = 0, n_gang; first < n; first += n_gang) {
        const struct tmx_sim_gpu_thermal *kind = &s->spec.thermal[order ? order[first] : first];
        size_t bad = 0;
        for (n_gang = 0; first + n_gang < n; n_gang++) {
            const size_t g = order ? order[first + n_gang] : first + n_gang;
            if (s->spec.thermal[g].model != kind->model) {
                break;
            }
            s->gang.state[n_gang] = s->thermal[g].state;
            s->gang.power_w[n_gang] = &s->frame.power_w[s->machine->gpu[g].unit0];
            s->gang.temp_k[n_gang] = &s->frame.temp_k[s->machine->gpu[g].unit0];
        }
        const enum tmx_status st = tmx_thermal_step_many(kind->ops, n_gang, s->gang.state, s->spec.dt_s,
                                                         s->gang.power_w, s->gang.temp_k, &bad);
        if (st) {
            return tmx_fail(err, st, "thermal back-end %s, GPU %zu, tick %" PRIu64, kind->ops->base.name,
                            order ? order[first + bad] : first + bad, s->tick);
        }
    }
    return TMX_OK;
}

enum tmx_status tmx_sim_tick(struct tmx_sim *s, struct tmx_err *err)
{
    enum tmx_status st = TMX_OK;
    begin(s);
    tmx_machine_admit(s->machine, s->tick); /* 1 work arrives */
    if (s->tick % s->sample == 0) {
        st = guard(s, err); /* 2 sensors; too hot? */
    }
    if (!st && s->tick % s->quantum == 0) {
        st = schedule(s, err); /* 3 where, who, how fast */
    }
    st = st ? st : cool(s, err); /* 4 fans, convection, air */
    if (st) {
        return st;
    }
    change_late(s);
    tmx_machine_apply(s->machine, &s->request, s->frame.sensed_k); /* 5 clamp, charge */
    st = place_blocks(s, err);                                     /* 6 blocks to SMs */
    if (st) {
        return st;
    }
    advance(s);                  /* 7 progress, retire, sleep */
    st = power(s, err);          /* 8 watts */
    st = st ? st : heat(s, err); /* 9 kelvins */
    if (st) {
        return st;
    }
    tmx_meter_add(s->meter, s->machine, s->frame.power_w);
    tmx_recorder_sample(s->recorder, s->machine, &s->frame, s->spec.dt_s); /* 10 the only way out */
    s->tick++;
    return TMX_OK;
}

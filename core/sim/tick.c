/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The tick: how a simulation advances by dt_s.
 *
 *      time  t                                                             t + dt
 *            |  decide, all GPUs at rest      |  step, each GPU by itself    |
 *            |                                |                              |
 *            1 admit  2 guard  3 schedule  4 cool    5 .. 10 tiles.c         tick++
 *
 *   1 admit     kernels whose time of arrival has come join the waiting jobs. Every tick.
 *   2 guard     the sensors are read and the hardware's throttle and the dtm policy's guard may stop clocks.
 *               Every sensor period.
 *   3 schedule  the operating system's scheduling tick: blocks' order on SMs, placement of jobs, the mix
 *               policy's shares and levels, the CTA stage's limits, the dtm policy's levels.
 *               Every quantum_s.
 *   rows        a row policy shifts steps of synchronous jobs or shares ramps. Every telemetry.
 *   4 cool      fans turn, convection follows them, GPUs breathe the air that their neighbours let out.
 *               Every fan_period_s.
 *   work        the source of work says what its jobs draw, such as a language model's instances that go
 *               through the tick's iterations (core/serve/serve.c). Every tick.
 *   5 .. 10     apply the request, run blocks, watts, kelvins, record (tiles.c).
 *
 * Two kinds of time scale meet here. Thread blocks live for microseconds and advance as a fluid within the
 * tick (core/machine/machine.h). Temperatures change over milliseconds and more, so power is constant within
 * a tick:
 *
 *      P(t) = P_dynamic(work in the tick) + P_leakage(T(t)),     C dT/dt = -G T + P(t)   from t to t + dt
 *
 * Leakage uses the temperature at the start of the tick. The error is of first order in dt_s.
 *
 * Where work comes from is a table (core/sim/source/sources.h) that 1, 3, work and the tick's end ask.
 *
 * Policies see sensors' readings, never temperatures. A policy's answer is checked before it has any effect
 * (stage/answers.c). In the order above each stage is the only writer of what it writes, so a stage reads
 * either what this tick has finished or what the last tick left. Nothing here allocates, prints or reads a
 * file.
 *
 * Without an observer that looks at every tick a step is all ticks until 3, 4 or a policy's look at the
 * sensors is due again, and each tile of GPUs goes through them by itself (tiles.c). The bytes are those of
 * single ticks; only where a run fails within a step are the other tiles' ledgers those of the step's end.
 *
 * Lockstep (lockstep.c) needs the tick in two parts: tmx_sim_tick_to_watts ends before the kelvins, and
 * tmx_sim_tick_end records them. */
#include <inttypes.h>
#include <string.h>

#include "core/sim/sim.h"
#include "core/sim/stage/answers.h"
#include "core/sim/tiles.h"

/* A GPU that the firmware throttles is never raised to a faster clock in the same tick. */
static enum tmx_status govern(struct tmx_sim *s, struct tmx_request *r, struct tmx_err *err)
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
    return tmx_answer_levels("dtm", dtm->policy, r, s->machine, err);
}

/* Blocks go to SMs in the order of the CTA stage where it has one, else of the thread-block policy. A kernel
 * that is alone keeps its SMs while that order stays. */
static enum tmx_status order_blocks(struct tmx_sim *s, size_t g, const struct tmx_cta_stage *cta,
                                    struct tmx_err *err)
{
    const struct tmx_choice *tb = &s->spec.choice[TMX_LEVEL_TB];
    struct tmx_gpu *gpu = &s->machine->gpu[g];
    const size_t size = gpu->n_sm * sizeof *s->order;
    gpu->dealt = gpu->dealt && !s->cta && gpu->n_run < 2;
    if (cta && tmx_cta_stage_order(cta, gpu, g, s->frame.sensed_k, gpu->order)) {
        return TMX_OK;
    }
    if (gpu->dealt && (tb->policy->rests & TMX_RESTS_ALIKE)) {
        return TMX_OK;
    }
    memcpy(s->order, gpu->order, size);
    tmx_tb_of(tb)->order(tb->state, &s->view, g, s->order);
    if (gpu->dealt && memcmp(s->order, gpu->order, size) == 0) { /* checked before */
        return TMX_OK;
    }
    memcpy(gpu->order, s->order, size);
    gpu->dealt = false;
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
        for (size_t k = 0; k < gpu->n_run; k++) {
            s->waits[gpu->run[k]] = tmx_job_waits(&s->machine->job[gpu->run[k]], s->machine->now_s);
        }
        const enum tmx_status st = order_blocks(s, g, warming ? NULL : s->cta, err);
        if (st) {
            return st;
        }
    }
    if (warming && s->spec.warmup_with == TMX_WARMUP_IDLE) {
        return TMX_OK;
    }
    const struct tmx_source *source = s->source;
    enum tmx_status st =
        source->place ? source->place(&s->work_view, s->work, err) : tmx_source_place(&s->work_view, err);
    if (st || warming) {
        return st;
    }
    st = tmx_source_widen(&s->work_view, err);
    if (!st) {
        const bool caps = dtm->policy && tmx_dtm_of(dtm)->caps;
        r->memory = s->mix_memory;
        tmx_mix_of(mix)->decide(mix->state, &s->view, r);
        st = tmx_answer_mix(mix->policy, r, s->machine, err);
        st = st ? st : tmx_answer_levels("mix", mix->policy, r, s->machine, err);
        st = st ? st : tmx_answer_caps(mix->policy, r, s->machine, caps, err);
    }
    if (!st && s->cta) {
        tmx_cta_stage_limit(s->cta, s->machine, r);
    }
    if (!st && dtm->policy && tmx_dtm_of(dtm)->govern) {
        st = govern(s, r, err);
    }
    if (source->limit) {
        source->limit(&s->work_view, s->work, r);
    }
    return st;
}

static void end_tick(struct tmx_sim *s)
{
    if (s->source->end) {
        s->source->end(&s->work_view, s->work);
    }
    s->tick += s->span;
    s->n_step += s->events ? 1 : s->span;
}

/* A caller of single ticks may read what they have recorded. */
static void settle(struct tmx_sim *s, uint64_t most)
{
    if (most == 1) {
        tmx_swing_settle(&s->recorder->swing, tmx_tiles_pool(s->tiles));
    }
}

/* A board that has shut down does not come back. */
static enum tmx_status check_shutdown(const struct tmx_sim *s, struct tmx_err *err)
{
    for (size_t g = 0; g < s->machine->n_gpu; g++) {
        if (s->request.gpu[g].reasons >> TMX_REASON_SHUTDOWN & 1) {
            char label[TMX_COOLING_LABEL];
            return tmx_fail(err, TMX_EUNFINISHED,
                            "GPU %s shut down at %.3f s: its sensor reads %.1f degC, its limit is %g degC",
                            tmx_cooling_label(&s->spec.cooling, g, label), s->view.time_s,
                            s->hottest_k[g] - TMX_ZERO_C, s->view.board[g].shutdown_c);
        }
    }
    return TMX_OK;
}

static enum tmx_status guard(struct tmx_sim *s, struct tmx_err *err)
{
    const struct tmx_choice *safety = &s->spec.choice[TMX_SAFETY], *dtm = &s->spec.choice[TMX_LEVEL_DTM];
    const enum tmx_status st = tmx_tiles_sense(s->tiles, err);
    if (st) {
        return st;
    }
    for (size_t g = 0; g < s->machine->n_gpu; g++) {
        s->meter->inlet_k[g] = s->cooling ? s->cooling->inlet_k[g] : s->spec.thermal[g].ambient_k;
    }
    if (tmx_dtm_of(safety)->guard) {
        tmx_dtm_of(safety)->guard(safety->state, &s->view, &s->request);
    }
    if (dtm->policy && tmx_dtm_of(dtm)->guard) {
        s->request.memory = s->dtm_memory;
        tmx_dtm_of(dtm)->guard(dtm->state, &s->view, &s->request);
        const enum tmx_status answer = tmx_answer_levels("dtm", dtm->policy, &s->request, s->machine, err);
        return answer ? answer : check_shutdown(s, err);
    }
    return TMX_OK;
}

static void begin(struct tmx_sim *s)
{
    s->view.tick = s->tick;
    s->view.time_s = (double)s->tick * s->spec.dt_s;
    s->machine->now_s = s->view.time_s - (double)s->warmup * s->spec.dt_s;
    s->work_view.tick = s->tick;
    s->work_view.begin_s = ((double)s->tick - (double)s->warmup) * s->spec.dt_s;
    s->work_view.end_s = ((double)s->tick + 1 - (double)s->warmup) * s->spec.dt_s;
    if (s->tick == s->warmup) {
        s->machine->counting = true;
        tmx_recorder_reset(s->recorder);
        tmx_feed_restart(&s->feed);
    }
    if (s->tick % s->quantum == 0) {
        tmx_feed_hosts(&s->feed, s->machine);
    }
}

static enum tmx_status cool(struct tmx_sim *s, struct tmx_err *err)
{
    const bool due = s->cooling && (s->tick % s->cool == 0 || s->tick == s->warmup);
    return due ? tmx_cooling_update(s->cooling, &s->view, s->thermal, s->share, tmx_tiles_pool(s->tiles), err)
               : TMX_OK;
}

static void admit(struct tmx_sim *s, uint64_t tick)
{
    if (!s->source->admit) {
        tmx_machine_admit(s->machine, tick);
    } else if (tick == s->tick) { /* once a tick */
        s->source->admit(&s->work_view, s->work);
    }
}

static enum tmx_status work(struct tmx_sim *s, struct tmx_err *err)
{
    return s->source->work ? s->source->work(&s->work_view, s->work, err) : TMX_OK;
}

/* What comes before the GPUs go on, each by itself. */
static enum tmx_status decide(struct tmx_sim *s, struct tmx_err *err)
{
    enum tmx_status st = TMX_OK;
    begin(s);
    admit(s, s->tick); /* 1 work arrives */
    if (s->tick % s->sample == 0) {
        st = guard(s, err); /* 2 sensors; too hot? */
    }
    if (!st && s->tick % s->quantum == 0) {
        st = schedule(s, err); /* 3 where, who, how fast */
    }
    if (!st && s->rows.period > 0 && s->tick % s->rows.period == 0) {
        st = tmx_row_stage_decide(&s->rows, &s->view, s->machine, s->smooth, err); /* phases, ramps */
    }
    st = st ? st : cool(s, err); /* 4 fans, convection, air */
    st = st ? st : work(s, err); /* what it draws */
    if (st) {
        return st;
    }
    if (s->tick % s->quantum == 0 || (s->cooling && s->tick % s->cool == 0) || s->tick == s->warmup) {
        tmx_tiles_plan(s->tiles);
    }
    return TMX_OK;
}

enum tmx_status tmx_sim_step(struct tmx_sim *s, uint64_t most, struct tmx_err *err)
{
    if (s->cold) {
        begin(s);
        const enum tmx_status served = work(s, err);
        if (!served) {
            tmx_recorder_end_steps(s->recorder, 1, s->recorder->now_w, 1, NULL);
            settle(s, most);
            end_tick(s);
        }
        return served;
    }
    enum tmx_status st = decide(s, err);
    /* 5 to 10: each GPU by itself */
    st = st ? st : s->events ? tmx_tiles_span(s->tiles, err) : tmx_tiles_tick(s->tiles, most, err);
    settle(s, most);
    if (!st) {
        end_tick(s);
        admit(s, s->tick - 1); /* what arrived within the step */
    }
    return st;
}

enum tmx_status tmx_sim_tick(struct tmx_sim *s, struct tmx_err *err)
{
    return tmx_sim_step(s, 1, err);
}

enum tmx_status tmx_sim_tick_to_watts(struct tmx_sim *s, struct tmx_err *err)
{
    const enum tmx_status st = decide(s, err);
    return st ? st : tmx_tiles_to_watts(s->tiles, err);
}

void tmx_sim_tick_end(struct tmx_sim *s)
{
    tmx_tiles_end(s->tiles);
    settle(s, 1);
    end_tick(s);
}

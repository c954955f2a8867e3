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
    tmx_answer_levels("dtm", dtm->policy, r, s->machine, &s->err);
}

/* Blocks go to SMs in the order of the CTA stage where it has one, else of the thread-block policy. A kernel
 * that is alone keeps its SMs while that order stays. */
static void order_blocks(struct tmx_sim *s, size_t g, const struct tmx_cta_stage *cta)
{
    const struct tmx_choice *tb = &s->spec.choice[TMX_LEVEL_TB];
    struct tmx_gpu *gpu = &s->machine->gpu[g];
    const size_t size = gpu->n_sm * sizeof *s->order;
    gpu->dealt = gpu->dealt && !s->cta && gpu->n_run < 2;
    if ((cta && tmx_cta_stage_order(cta, gpu, g, s->frame.sensed_k, gpu->order)) ||
        (gpu->dealt && (tb->policy->rests & TMX_RESTS_ALIKE))) {
        return;
    }
    memcpy(s->order, gpu->order, size);
    tmx_tb_of(tb)->order(tb->state, &s->view, g, s->order);
    if (gpu->dealt && memcmp(s->order, gpu->order, size) == 0) { /* checked before */
        return;
    }
    memcpy(gpu->order, s->order, size);
    gpu->dealt = false;
    tmx_answer_order(tb->policy, gpu->order, gpu->n_sm, g, s->scratch, &s->err);
}

/* The operating system's scheduling tick. Requests start from "as now, full speed". */
static void schedule(struct tmx_sim *s)
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
        order_blocks(s, g, warming ? NULL : s->cta);
    }
    if (s->err.code || (warming && s->spec.warmup_with == TMX_WARMUP_IDLE)) {
        return;
    }
    const struct tmx_source *source = s->source;
    source->place ? source->place(&s->work_view, s->work, &s->err) : tmx_source_place(&s->work_view, &s->err);
    if (!warming) {
        tmx_source_widen(&s->work_view, &s->err);
    }
    if (s->err.code || warming) {
        return;
    }
    r->memory = s->mix_memory;
    tmx_mix_of(mix)->decide(mix->state, &s->view, r);
    tmx_answer_mix(mix->policy, r, s->machine, dtm->policy && tmx_dtm_of(dtm)->caps, &s->err);
    if (!s->err.code && s->cta) {
        tmx_cta_stage_limit(s->cta, s->machine, r);
    }
    if (!s->err.code && dtm->policy && tmx_dtm_of(dtm)->govern) {
        govern(s, r);
    }
    if (source->limit) {
        source->limit(&s->work_view, s->work, r);
    }
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

static void guard(struct tmx_sim *s)
{
    const struct tmx_choice *safety = &s->spec.choice[TMX_SAFETY], *dtm = &s->spec.choice[TMX_LEVEL_DTM];
    tmx_tiles_sense(s->tiles);
    if (s->err.code) {
        return;
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
        tmx_answer_levels("dtm", dtm->policy, &s->request, s->machine, &s->err);
        /* A board that has shut down does not come back. */
        for (size_t g = 0; g < s->machine->n_gpu; g++) {
            if (s->request.gpu[g].reasons >> TMX_REASON_SHUTDOWN & 1) {
                char label[TMX_COOLING_LABEL];
                tmx_error(&s->err, TMX_EUNFINISHED,
                          "GPU %s shut down at %.3f s: its sensor reads %.1f degC, its limit is %g degC",
                          tmx_cooling_label(&s->spec.cooling, g, label), s->view.time_s,
                          s->hottest_k[g] - TMX_ZERO_C, s->view.board[g].shutdown_c);
            }
        }
    }
}

static void begin(struct tmx_sim *s)
{
    s->err.code = TMX_OK;
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

static void admit(struct tmx_sim *s, uint64_t tick)
{
    if (!s->source->admit) {
        tmx_machine_admit(s->machine, tick);
    } else if (tick == s->tick) { /* once a tick */
        s->source->admit(&s->work_view, s->work);
    }
}

static void work(struct tmx_sim *s)
{
    if (s->source->work && !s->err.code) {
        s->source->work(&s->work_view, s->work, &s->err);
    }
}

/* What comes before the GPUs go on, each by itself. */
static void decide(struct tmx_sim *s)
{
    const bool cools = s->cooling && (s->tick % s->cool == 0 || s->tick == s->warmup);
    begin(s);
    admit(s, s->tick); /* 1 work arrives */
    if (s->tick % s->sample == 0) {
        guard(s); /* 2 sensors; too hot? */
    }
    if (!s->err.code && s->tick % s->quantum == 0) {
        schedule(s); /* 3 where, who, how fast */
    }
    if (!s->err.code && s->rows.period > 0 && s->tick % s->rows.period == 0) {
        tmx_row_stage_decide(&s->rows, &s->view, s->machine, s->smooth, &s->err); /* phases, ramps */
    }
    if (!s->err.code && cools) { /* 4 fans, convection, air */
        tmx_cooling_update(s->cooling, &s->view, s->thermal, s->share, tmx_tiles_pool(s->tiles), &s->err);
    }
    work(s); /* what it draws */
    if (!s->err.code && (s->tick % s->quantum == 0 || cools || s->tick == s->warmup)) {
        tmx_tiles_plan(s->tiles);
    }
}

enum tmx_status tmx_sim_step(struct tmx_sim *s, uint64_t most, struct tmx_err *err)
{
    if (s->cold) {
        begin(s);
        work(s);
        if (!s->err.code) {
            tmx_recorder_end_steps(s->recorder, 1, s->recorder->now_w, 1, NULL);
            settle(s, most);
            end_tick(s);
        }
        return tmx_error_give(err, &s->err);
    }
    decide(s);
    if (!s->err.code) { /* 5 to 10: each GPU by itself */
        s->events ? tmx_tiles_span(s->tiles) : tmx_tiles_tick(s->tiles, most);
    }
    settle(s, most);
    if (!s->err.code) {
        end_tick(s);
        admit(s, s->tick - 1); /* what arrived within the step */
    }
    return tmx_error_give(err, &s->err);
}

enum tmx_status tmx_sim_tick(struct tmx_sim *s, struct tmx_err *err)
{
    return tmx_sim_step(s, 1, err);
}

enum tmx_status tmx_sim_tick_to_watts(struct tmx_sim *s, struct tmx_err *err)
{
    decide(s);
    if (!s->err.code) {
        tmx_tiles_to_watts(s->tiles);
    }
    return tmx_error_give(err, &s->err);
}

void tmx_sim_tick_end(struct tmx_sim *s)
{
    tmx_tiles_end(s->tiles);
    settle(s, 1);
    end_tick(s);
}

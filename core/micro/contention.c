/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Events and the policy: launches, wake-ups, drained cores, clocks. */
#include "core/micro/contention.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/micro/chip_state.h"

static void begin_launch(struct tmx_chip_state *s, size_t program)
{
    struct tmx_program_run *run = &s->program[program];
    tmx_assert(s->r->n_launch < TMX_MAX_LAUNCH);
    run->launch = s->r->n_launch++;
    run->next_block = run->done = 0;
    run->instr = 0;
    run->grid = (uint64_t)s->spec->program[program]->kernel[run->kernel].blocks;
    s->r->launch[run->launch] = (struct tmx_cta_launch){
        .program = program, .kernel = run->kernel, .start_s = s->r->seconds, .start_cycle = s->cycle};
    s->stale = true;
}

/* What the policy sees now. */
static void look(struct tmx_chip_state *s)
{
    struct tmx_cta_view *v = &s->view;
    const struct tmx_memory_chip *chip = s->spec->chip;
    const struct tmx_memory_kernel *k = tmx_chip_kernel(s, s->primary);
    const struct tmx_program_run *run = &s->program[s->primary];
    double working = 0;
    v->cycle = s->cycle - s->launch_cycle;
    v->blocks_left = run->grid - run->next_block;
    v->n_drained = s->n_drained;
    for (size_t i = 0; i < s->n_core; i++) {
        const struct tmx_core *c = &s->core[i];
        s->seen[i] =
            (struct tmx_cta_core){.state = c->state,
                                  .n_block = c->n,
                                  .stall_cycles = c->stall_cycles,
                                  .latency_cycles = c->line_sum > 0 ? c->latency_sum / c->line_sum : 0};
        working += c->state == TMX_CORE_ACTIVE && s->request.accept[i];
    }
    /* Profile: shares of peaks. The busiest of n Poisson-filled partitions stands out by about
     * sqrt(2 ln n / lines per partition) of the mean. */
    const double cycles = fmax(v->cycle, 1), ipc = s->launch_instr / cycles / fmax(working, 1);
    const double n = chip->partitions, per = s->launch_dram / n;
    const double mean =
        s->launch_dram / cycles / (chip->dram_lines_per_cycle * s->memory_clock / s->core_clock);
    const double good = fmin(ipc / chip->peak_ipc * k->full_warps, 1);
    v->ipc_share = ipc * k->simd / chip->peak_ipc;
    v->bandwidth_share = per > 0 ? fmin(1, mean * (1 + sqrt(2 * log(n) / per))) : 0;
    v->good_to_bad = good < 0.5 ? good / (1 - good) : 1;
}

static void set_clocks(struct tmx_chip_state *s)
{
    const struct tmx_cta_request *q = &s->request;
    if (q->core_clock == s->core_clock && q->memory_clock == s->memory_clock) {
        return;
    }
    s->core_clock = q->core_clock;
    s->memory_clock = q->memory_clock;
    s->clock = tmx_ledger_clock(&s->r->ledger, s->core_clock, s->memory_clock);
    s->r->ledger.clock_changes++;
    for (size_t i = 0; i < s->n_core; i++) {
        s->core[i].ready_cycle = fmax(s->core[i].ready_cycle, s->cycle + s->spec->chip->clock_change_cycles);
    }
    s->stale = true;
}

/* Nothing of a request that cannot be is taken over; the run ends with it. */
static enum tmx_status check_request(const struct tmx_chip_state *s)
{
    const struct tmx_cta_request *q = &s->request;
    bool ok = isfinite(q->core_clock) && q->core_clock > 0 && isfinite(q->memory_clock) &&
              q->memory_clock > 0 && !isnan(q->wake_cycle) && q->block_limit >= 0;
    for (size_t i = 0; i < s->n_core; i++) {
        ok = ok && (unsigned)q->state[i] < TMX_N_CORE_STATE;
    }
    return ok ? TMX_OK : TMX_ESOLVE;
}

/* Clamp and apply the policy's request. A core that holds blocks cannot be switched off. */
static void apply(struct tmx_chip_state *s)
{
    struct tmx_cta_request *q = &s->request;
    s->answer = s->answer ? s->answer : check_request(s);
    if (s->answer) {
        return;
    }
    set_clocks(s);
    for (size_t i = 0; i < s->n_core; i++) {
        struct tmx_core *c = &s->core[i];
        const bool off = q->state[i] == TMX_CORE_OFF || q->state[i] == TMX_CORE_CLOCK_OFF;
        const bool lent = q->state[i] == TMX_CORE_GIVEN;
        if (q->reset_counters) {
            c->stall_cycles = c->latency_sum = c->line_sum = 0;
        }
        if (q->state[i] == c->state || ((off || lent) && c->n > 0)) {
            continue;
        }
        const bool was_off = c->state == TMX_CORE_OFF ||
                             (c->state == TMX_CORE_GIVEN && c->n == 0 && tmx_chip_taker(s) == SIZE_MAX);
        const bool is_off = q->state[i] == TMX_CORE_OFF || (lent && tmx_chip_taker(s) == SIZE_MAX);
        if (was_off && !is_off) {
            c->ready_cycle = s->cycle + s->spec->chip->wake_cycles;
            s->r->ledger.wakeups++;
        }
        s->r->ledger.gatings += is_off && !was_off;
        c->state = q->state[i];
        s->stale = true;
    }
    q->reset_counters = false;
    s->n_drained = 0;
}

static void tell_launch(struct tmx_chip_state *s)
{
    struct tmx_cta_request *q = &s->request;
    s->launch_cycle = s->cycle;
    s->launch_instr = s->launch_dram = 0;
    s->view.first_done_cycle = INFINITY;
    s->epoch_end = s->cycle + s->spec->epoch_cycles;
    s->n_drained = 0;
    *q = (struct tmx_cta_request){.state = q->state,
                                  .accept = q->accept,
                                  .core_clock = 1,
                                  .memory_clock = 1,
                                  .wake_cycle = INFINITY,
                                  .reset_counters = true};
    for (size_t i = 0; i < s->n_core; i++) {
        q->state[i] = TMX_CORE_ACTIVE;
        q->accept[i] = true;
    }
    look(s);
    s->spec->policy->launch(s->spec->policy_state, &s->view, q);
    apply(s);
    tmx_chip_fill(s);
}

static void end_launch(struct tmx_chip_state *s, size_t program)
{
    struct tmx_program_run *run = &s->program[program];
    struct tmx_cta_launch *l = &s->r->launch[run->launch];
    l->cores = 0;
    for (size_t i = 0; i < s->n_core; i++) {
        l->cores += s->core[i].state == (program == s->primary ? TMX_CORE_ACTIVE : TMX_CORE_GIVEN);
    }
    run->kernel++;
    run->ended = run->kernel == s->spec->program[program]->n;
    if (!run->ended) {
        begin_launch(s, program);
    }
}

/* Launches whose last block has ended; the policy hears of the next launch of its program. */
static void end_launches(struct tmx_chip_state *s)
{
    bool tell = false, begun = false;
    for (size_t p = 0; p < s->spec->n_program; p++) {
        const struct tmx_program_run *run = &s->program[p];
        if (!run->ended && run->done == run->grid) {
            end_launch(s, p);
            tell = tell || p == s->primary;
            begun = true;
            s->stale = true;
        }
    }
    while (s->primary < s->spec->n_program && s->program[s->primary].ended) {
        s->primary++;
        tell = true;
    }
    if (s->primary == s->spec->n_program) {
        return;
    }
    if (tell) {
        tell_launch(s);
    } else if (begun) { /* the next launch of a program on lent cores, or the one after it */
        tmx_chip_fill(s);
    }
}

static double next_event_cycles(const struct tmx_chip_state *s)
{
    double next = fmin(s->epoch_end, s->launch_cycle + s->request.wake_cycle) - s->cycle;
    for (size_t i = 0; i < s->n_core; i++) {
        const double ready = s->core[i].ready_cycle;
        if (ready > s->cycle) {
            next = fmin(next, ready - s->cycle);
        }
    }
    return fmax(tmx_chip_next_cut_cycles(s, fmax(next, 0)), 0);
}

static void wake_ready(struct tmx_chip_state *s, double before)
{
    for (size_t i = 0; i < s->n_core; i++) {
        const double ready = s->core[i].ready_cycle;
        s->stale = s->stale || (ready > before && ready <= s->cycle);
    }
}

static void step(struct tmx_chip_state *s)
{
    const double before = s->cycle, first = s->view.first_done_cycle;
    if (s->stale) {
        tmx_chip_solve(s);
    }
    const double cycles = next_event_cycles(s);
    tmx_chip_account(s, cycles);
    s->cycle += cycles;
    s->r->epochs++;
    wake_ready(s, before);
    tmx_chip_advance_blocks(s, cycles);
    if (s->cycle >= s->epoch_end) {
        s->epoch_end += s->spec->epoch_cycles;
        if (s->spec->probe) {
            s->spec->probe(s->spec->probe_ctx,
                           &(struct tmx_contention_sample){.cycle = s->cycle,
                                                           .seconds = s->r->seconds,
                                                           .n_core = s->n_core,
                                                           .core = s->core,
                                                           .latency = &s->latency,
                                                           .launch = s->program[s->primary].launch});
        }
    }
    const bool first_block = s->request.watch_blocks && isinf(first) && isfinite(s->view.first_done_cycle);
    const double wake = s->request.wake_cycle;
    const bool woken = s->cycle >= s->launch_cycle + wake;
    if (s->spec->policy->observe && (woken || first_block || s->n_drained > 0)) {
        look(s);
        if (woken) { /* to the very cycle asked for, whatever launch_cycle + wake rounds to */
            s->view.cycle = fmax(s->view.cycle, wake);
            s->request.wake_cycle = INFINITY;
        }
        s->spec->policy->observe(s->spec->policy_state, &s->view, &s->request);
        apply(s);
        tmx_chip_fill(s);
    }
    s->n_drained = 0;
    end_launches(s);
}

static enum tmx_status check_alive(const struct tmx_chip_state *s, struct tmx_err *err)
{
    const char *name = s->spec->program[s->primary]->name, *policy = s->spec->policy->base.name;
    if (s->spec->max_cycles > 0 && s->cycle > s->spec->max_cycles) {
        return tmx_fail(err, TMX_EUNFINISHED, "%s under %s: not done after %g cycles", name, policy,
                        s->cycle);
    }
    bool hope = isfinite(s->request.wake_cycle);
    for (size_t i = 0; i < s->n_core && !hope; i++) {
        hope = tmx_chip_runs(s, &s->core[i]) || s->core[i].ready_cycle > s->cycle;
    }
    if (!hope) {
        return tmx_fail(err, TMX_EUNFINISHED, "%s under %s: no core runs, %" PRIu64 " blocks left", name,
                        policy, s->program[s->primary].grid - s->program[s->primary].done);
    }
    return TMX_OK;
}

static enum tmx_status run(struct tmx_chip_state *s, struct tmx_err *err)
{
    enum tmx_status st = TMX_OK;
    for (size_t p = 0; p < s->spec->n_program; p++) {
        begin_launch(s, p);
    }
    s->clock = tmx_ledger_clock(&s->r->ledger, 1, 1);
    tell_launch(s);
    while (!st && !s->answer && s->primary < s->spec->n_program) {
        step(s);
        st = s->primary < s->spec->n_program && !s->answer ? check_alive(s, err) : TMX_OK;
    }
    return !s->answer
               ? st
               : tmx_fail(err, s->answer,
                          "CTA policy %s: a state, a clock, a limit or a wake-up cycle that cannot be, "
                          "after %.0f cycles",
                          s->spec->policy->base.name, s->cycle);
}

enum tmx_status tmx_contention_run(const struct tmx_contention_spec *spec, struct tmx_contention_result *r,
                                   struct tmx_err *err)
{
    struct tmx_chip_state s = {
        .spec = spec, .r = r, .n_core = (size_t)spec->chip->cores, .core_clock = 1, .memory_clock = 1};
    enum tmx_status st = TMX_OK;
    *r = (struct tmx_contention_result){0};
    s.program = calloc(spec->n_program, sizeof *s.program);
    s.core = calloc(s.n_core, sizeof *s.core);
    s.seen = calloc(s.n_core, sizeof *s.seen);
    s.drained = calloc(s.n_core, sizeof *s.drained);
    s.request.state = calloc(s.n_core, sizeof *s.request.state);
    s.request.accept = calloc(s.n_core, sizeof *s.request.accept);
    if (!s.program || !s.core || !s.seen || !s.drained || !s.request.state || !s.request.accept) {
        st = tmx_fail(err, TMX_ENOMEM, "chip of %zu cores", s.n_core);
        goto out;
    }
    for (size_t i = 0; i < s.n_core; i++) {
        s.order[i] = i;
    }
    s.view.n_core = s.n_core;
    s.view.core = s.seen;
    s.view.drained = s.drained;
    s.view.base_latency_cycles = spec->chip->base_core_cycles + spec->chip->base_memory_cycles;
    st = run(&s, err);
out:
    free(s.program);
    free(s.core);
    free(s.seen);
    free(s.drained);
    free(s.request.state);
    free(s.request.accept);
    return st;
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "core/sim/record/recorder.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/os.h"

const char *const tmx_reason_names[TMX_N_REASON + 1] = {
    [TMX_REASON_GPU_IDLE] = "gpu_idle",
    [TMX_REASON_SW_POWER_CAP] = "sw_power_cap",
    [TMX_REASON_SW_THERMAL_SLOWDOWN] = "sw_thermal_slowdown",
    [TMX_REASON_HW_THERMAL_SLOWDOWN] = "hw_thermal_slowdown",
    [TMX_REASON_MEMORY_LIMIT] = "memory_limit",
    [TMX_REASON_SHUTDOWN] = "shutdown",
    [TMX_REASON_HW_POWER_BRAKE] = "hw_power_brake",
};

struct tmx_recorder *tmx_recorder_take(struct tmx_arena *arena, const struct tmx_machine *m, double report_s,
                                       const struct tmx_power_group *group, size_t n_group, bool boards)
{
    const double ticks = round(report_s / m->tick_s);
    struct tmx_recorder *r = TMX_TAKE(arena, r, 1);
    if (!r) {
        return NULL;
    }
    *r = (struct tmx_recorder){.kernel = TMX_ISA_OF(&tmx_recorder_any, &tmx_recorder_v3, &tmx_recorder_v4),
                               .tick_s = m->tick_s,
                               .slot_tick = fmax(1, ceil(ticks / TMX_REPORT_SLOTS)),
                               .n_gpu = m->n_gpu,
                               .n_sm = m->n_sm,
                               .n_unit = m->n_unit,
                               .n_job = m->n_job};
    r->n_slot = (size_t)fmax(1, round(ticks / r->slot_tick));
    TMX_TAKE_REALS(&r->state, m->n_unit, &r->dynamic_j, &r->leakage_j, &r->baseline_j, &r->saved_j,
                   &r->sum_k);
    TMX_TAKE(&r->state, r->job_j, m->n_job);
    TMX_TAKE_REALS(&r->state, m->n_gpu, &r->transition_j, &r->smooth_j, &r->peak_k, &r->peak_w, &r->now_w,
                   &r->clock_s, &r->stops, &r->slot_at, &r->peak_reported_w, &r->peak_gradient_k,
                   &r->memory_k);
    TMX_TAKE(&r->state, r->slot_w, TMX_REPORT_SLOTS * m->n_gpu);
    TMX_TAKE(&r->state, r->reason_s, TMX_N_REASON * m->n_gpu);
    TMX_TAKE_REALS(&r->state, m->n_sm, &r->hot_k, &r->trips, &r->stopped_s, &r->longest_s, &r->first_s,
                   &r->last_s, &r->sm_k);
    tmx_swing_take(&r->swing, &r->state, m, group, n_group, boards);
    return r;
}

void tmx_recorder_reset(struct tmx_recorder *r)
{
    tmx_arena_clear(&r->state);
    r->n_tick = 0;
    r->swing.n_kept = 0;
    r->total_j = 0;
    r->peak_sm_k = 0;
    r->gradient_k = 0;
}

/* A stop that began in the warm-up counts from the end of the warm-up. */
static void sample_stops(struct tmx_recorder *r, const struct tmx_machine *m, size_t g, double now_s,
                         double dt_s)
{
    const struct tmx_gpu *gpu = &m->gpu[g];
    if (!gpu->any_gated && r->stops[g] == 0) { /* as most of the time */
        return;
    }
    r->stops[g] = gpu->any_gated;
    for (size_t sm = gpu->sm0; sm < gpu->sm0 + gpu->n_sm; sm++) {
        if (!m->gated[sm]) {
            r->stopped_s[sm] = 0;
            continue;
        }
        if (r->stopped_s[sm] == 0) {
            r->first_s[sm] = r->trips[sm] > 0 ? r->first_s[sm] : now_s;
            r->last_s[sm] = now_s;
            r->trips[sm] += 1;
        }
        r->stopped_s[sm] += dt_s;
        r->longest_s[sm] = r->stopped_s[sm] > r->longest_s[sm] ? r->stopped_s[sm] : r->longest_s[sm];
    }
}

/* n ticks of the same watts: a full window's mean at the end of each of its slots. */
static void report(struct tmx_recorder *r, const struct tmx_chip *c, size_t g, double now_w, uint64_t n)
{
    const uint64_t each = (uint64_t)r->slot_tick;
    double *slot = r->slot_w + TMX_REPORT_SLOTS * g;
    while (n > 0) {
        const uint64_t at = (uint64_t)r->slot_at[g], place = at / each, left = (place + 1) * each - at,
                       part = n < left ? n : left;
        const size_t k = place % r->n_slot;
        slot[k] = (left == each ? 0 : slot[k]) + (double)part * now_w;
        r->slot_at[g] = (double)(at + part);
        n -= part;
        if (part == left && place + 1 >= r->n_slot) {
            double sum = 0;
            for (size_t i = 0; i < r->n_slot; i++) {
                sum += slot[i];
            }
            r->peak_reported_w[g] =
                fmax(r->peak_reported_w[g], tmx_chip_board_w(c, sum / ((double)r->n_slot * r->slot_tick)));
        }
    }
}

void tmx_recorder_watts(struct tmx_recorder *r, const struct tmx_machine *m, struct tmx_gpus span,
                        const struct tmx_frame *f, double dt_s)
{
    const uint64_t n_tick = (uint64_t)round(dt_s / r->tick_s);
    for (size_t g = span.first; g < span.end; g++) {
        const struct tmx_gpu *gpu = &m->gpu[g];
        const size_t u0 = gpu->unit0;
        struct tmx_recorder_watts s = {.n = gpu->chip->floorplan.n_unit,
                                       .dt_s = dt_s,
                                       .dynamic_w = f->dynamic_w + u0,
                                       .leakage_w = f->leakage_w + u0,
                                       .baseline_w = f->baseline_w + u0,
                                       .saved_w = f->sleeps ? f->saved_w + u0 : NULL,
                                       .power_w = f->power_w + u0,
                                       .dynamic_j = r->dynamic_j + u0,
                                       .leakage_j = r->leakage_j + u0,
                                       .baseline_j = r->baseline_j + u0,
                                       .saved_j = r->saved_j + u0};
        r->kernel->watts(&s);
        r->now_w[g] = s.now_w;
        r->peak_w[g] = s.now_w > r->peak_w[g] ? s.now_w : r->peak_w[g];
        report(r, gpu->chip, g, s.now_w, n_tick);
        r->clock_s[g] += m->speed[g] * (1 - gpu->rest) * dt_s;
        r->transition_j[g] += f->transition_w[g] * dt_s;
        r->smooth_j[g] += f->smooth_w[g] * dt_s;
        for (unsigned why = 0; gpu->reasons >> why; why++) {
            r->reason_s[TMX_N_REASON * g + why] += gpu->reasons >> why & 1 ? dt_s : 0;
        }
    }
}

/* As tmx_chip_sm_k of every SM, in one pass over the units; sm_k [n_sm] receives them. */
static double hottest_sm_k(const struct tmx_chip *c, const double *unit_k, double *sm_k)
{
    double most_k = 0;
    memset(sm_k, 0, c->n_sm * sizeof *sm_k);
    for (size_t u = 0; u < c->floorplan.n_unit; u++) {
        if (c->sm_of_unit[u] != TMX_NO_SM) {
            sm_k[c->sm_of_unit[u]] += c->part_share[u] * unit_k[u];
        }
    }
    for (size_t sm = 0; sm < c->n_sm; sm++) {
        most_k = sm_k[sm] > most_k ? sm_k[sm] : most_k;
    }
    return most_k;
}

void tmx_recorder_kelvins(struct tmx_recorder *r, const struct tmx_machine *m, struct tmx_gpus span,
                          const struct tmx_frame *f, const double *mean_k, uint64_t first, uint64_t n_tick)
{
    for (size_t g = span.first; g < span.end; g++) {
        const struct tmx_gpu *gpu = &m->gpu[g];
        struct tmx_recorder_kelvins s = {.n = gpu->chip->floorplan.n_unit,
                                         .n_tick = (double)n_tick,
                                         .mean_k = mean_k + gpu->unit0,
                                         .n_sm = gpu->n_sm,
                                         .first = gpu->chip->unit_of_sm[0],
                                         .in_row = gpu->chip->sms_in_row,
                                         .temp_k = f->temp_k + gpu->unit0,
                                         .sm_of_unit = gpu->chip->sm_of_unit,
                                         .sum_k = r->sum_k + gpu->unit0,
                                         .sensed_k = f->sensed_k + gpu->sm0,
                                         .hot_k = r->hot_k + gpu->sm0};
        r->kernel->kelvins(&s);
        if (!s.in_row) {
            s.sm_k = hottest_sm_k(gpu->chip, s.temp_k, r->sm_k + gpu->sm0);
        }
        const double gradient_k = s.high_k - s.low_k;
        r->peak_gradient_k[g] = gradient_k > r->peak_gradient_k[g] ? gradient_k : r->peak_gradient_k[g];
        r->peak_k[g] = s.sm_k > r->peak_k[g] ? s.sm_k : r->peak_k[g];
        r->memory_k[g] =
            fmax(r->memory_k[g], tmx_chip_memory_k(gpu->chip, s.temp_k, f->power_w + gpu->unit0));
        sample_stops(r, m, g, (double)first * r->tick_s, (double)n_tick * r->tick_s);
    }
}

void tmx_recorder_jobs(struct tmx_recorder *r, const struct tmx_machine *m, struct tmx_gpus span,
                       const struct tmx_frame *f, double dt_s)
{
    for (size_t g = span.first; g < span.end; g++) {
        const struct tmx_gpu *gpu = &m->gpu[g];
        for (size_t k = 0; k < gpu->n_run; k++) {
            r->job_j[gpu->run[k]] += f->slot_w[k * f->n_gpu + g] * dt_s;
        }
    }
}

void tmx_recorder_end_steps(struct tmx_recorder *r, size_t n, const double *gpu_w, uint64_t n_tick,
                            struct tmx_thread_pool *pool)
{
    for (size_t g = 0; g < r->n_gpu; g++) {
        r->gradient_k = r->peak_gradient_k[g] > r->gradient_k ? r->peak_gradient_k[g] : r->gradient_k;
        r->peak_sm_k = r->peak_k[g] > r->peak_sm_k ? r->peak_k[g] : r->peak_sm_k;
    }
    for (size_t k = 0; k < n; k++) {
        double total_w = 0;
        for (size_t g = 0; g < r->n_gpu; g++) {
            total_w += gpu_w[k * r->n_gpu + g];
        }
        r->total_j += total_w * ((double)n_tick * r->tick_s);
        r->n_tick += n_tick;
    }
    tmx_swing_steps(&r->swing, n, gpu_w, (double)n_tick, pool);
}

/* ---- what feeds a node ---- */

static const double EULER = 2.718281828459045;

const struct tmx_opt tmx_store_opts[] = {
    TMX_ROW_REAL(tmx_store_options, joules, "J", 0, 1e12, 0, "that a node's store holds; 0: there is none"),
    TMX_ROW_REAL(tmx_store_options, watts, "W", 0, 1e9, 0, "that it takes or gives at most"),
    TMX_ROW_REAL(tmx_store_options, efficiency, "1", 0.01, 1, 0.95, "there and back (assumed)"),
    {0},
};

void tmx_feed_take(struct tmx_feed *f, struct tmx_arena *arena, const struct tmx_machine *m,
                   const struct tmx_topology *t, const struct tmx_store_options *o)
{
    const size_t n = t && t->nodes > 1 ? (size_t)t->nodes : 1;
    *f = (struct tmx_feed){.store = *o,
                           .host = t && t->host.given ? &t->host : NULL,
                           .n_node = n,
                           .gpus = m->n_gpu / n,
                           .tick_s = m->tick_s,
                           .tau_s = o->watts > 0 ? EULER / 2 * sqrt(o->efficiency) * o->joules / o->watts : 0,
                           .way = sqrt(o->efficiency)};
    TMX_TAKE(arena, f->node, n);
}

void tmx_feed_restart(struct tmx_feed *f)
{
    for (size_t i = 0; i < f->n_node; i++) {
        struct tmx_feed_node *n = &f->node[i];
        n->load_j = n->fed_j = n->wall_j = n->loss_j = 0;
        n->from_j = n->above_j;
    }
}

void tmx_feed_hosts(struct tmx_feed *f, const struct tmx_machine *m)
{
    for (size_t i = 0; i < f->n_node && f->host; i++) {
        size_t works = 0;
        for (size_t g = i * f->gpus; g < (i + 1) * f->gpus; g++) {
            works += m->gpu[g].n_run > 0;
        }
        f->node[i].host_w = f->host->idle_w + f->host->active_w * (double)works / (double)f->gpus;
    }
}

/* What the store gives of the load, less than 0 where it takes. */
static double give(const struct tmx_feed *f, struct tmx_feed_node *n, double load_w)
{
    const double dt_s = f->tick_s, half_j = f->store.joules / 2;
    n->mean_w = n->started > 0 ? n->mean_w + (load_w - n->mean_w) * dt_s / (f->tau_s + dt_s) : load_w;
    n->started = 1;
    double w = load_w - n->mean_w + n->above_j / (f->tau_s + dt_s);
    w = fmax(-f->store.watts, fmin(w, fmin(f->store.watts, load_w)));
    w = fmax(-(half_j - n->above_j) / (f->way * dt_s), fmin(w, (half_j + n->above_j) * f->way / dt_s));
    const double drawn_w = w > 0 ? w / f->way : w * f->way;
    n->above_j -= drawn_w * dt_s;
    n->loss_j += (drawn_w - w) * dt_s;
    return w;
}

double tmx_feed_tick(struct tmx_feed *f, const double *board_w, double n_tick)
{
    double all_w = 0;
    for (size_t i = 0; i < f->n_node; i++) {
        struct tmx_feed_node *n = &f->node[i];
        double load_w = n->host_w;
        for (size_t g = i * f->gpus; g < (i + 1) * f->gpus; g++) {
            load_w += board_w[g] + (f->fan_w ? f->fan_w[g] : 0);
        }
        const double fed_w = f->store.joules > 0 ? load_w - give(f, n, load_w) : load_w;
        n->load_j += load_w * n_tick * f->tick_s;
        n->fed_j += fed_w * n_tick * f->tick_s;
        const double wall_w = f->host ? tmx_host_wall_w(f->host, fed_w) : fed_w;
        n->wall_j += wall_w * n_tick * f->tick_s;
        all_w += wall_w;
    }
    return all_w;
}

bool tmx_feed_is_boards(const struct tmx_feed *f)
{
    return !f->host && !f->fan_w && f->n_node == 1 && !(f->store.joules > 0);
}

struct tmx_feed_sum tmx_feed_sum(const struct tmx_feed *f)
{
    struct tmx_feed_sum s = {0};
    for (size_t i = 0; i < f->n_node; i++) {
        const struct tmx_feed_node *n = &f->node[i];
        s.load_j += n->load_j;
        s.fed_j += n->fed_j;
        s.wall_j += n->wall_j;
        s.loss_j += n->loss_j;
        s.charge_j += n->above_j - n->from_j;
    }
    return s;
}

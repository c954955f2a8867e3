/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "core/sim/stage/stages.h"

#include <math.h>

#define NO_LIMIT 1e9 /* W/s */
static const double LEAST_SPEED = 1e-9, FORGET_S = 10, ROUND_OFF = 1e-9;

const struct tmx_opt tmx_smooth_opts[] = {
    TMX_ROW_REAL(tmx_smooth_options, floor, "%", 0, 100, 0, "of the board's power limit, held by dummy work"),
    TMX_ROW_REAL(tmx_smooth_options, secondary_floor_w, "W", 0, 1e5, 0,
                 "that the board draws at any time, held by dummy work"),
    TMX_ROW_REAL(tmx_smooth_options, ramp_up_w_per_s, "W/s", 1e-3, NO_LIMIT, NO_LIMIT,
                 "a board's power rises no faster; 1e9: as fast as it does"),
    TMX_ROW_REAL(tmx_smooth_options, ramp_down_w_per_s, "W/s", 1e-3, NO_LIMIT, NO_LIMIT,
                 "a board's power falls no faster; 1e9: as fast as it does"),
    TMX_ROW_REAL(tmx_smooth_options, hysteresis_s, "s", 0, 1e4, 0, "the floor stays for so long after work"),
    TMX_ROW_REAL(tmx_smooth_options, prime_s, "s", 0, 1e4, 0,
                 "the floor is there for so long before a kernel arrives"),
    {0},
};

static bool limited(double w_per_s)
{
    return w_per_s > 0 && w_per_s < NO_LIMIT;
}

/* The slower one of the board's ramp and its row's share. */
static double ramp(double own_w_per_s, const struct tmx_smooth_gpu *v)
{
    const double own = limited(own_w_per_s) ? own_w_per_s : NO_LIMIT;
    return v->row_w_per_s > 0 ? fmin(own, v->row_w_per_s) : own;
}

double tmx_smooth_rise_w(const struct tmx_smooth_gpu *v)
{
    return v->started > 0 ? fmax(0, v->still_w + v->full_w * v->used - v->board_w) : 0;
}

bool tmx_smooth_on(const struct tmx_smooth_options *o)
{
    return o->floor > 0 || o->secondary_floor_w > 0 || limited(o->ramp_up_w_per_s) ||
           limited(o->ramp_down_w_per_s);
}

/* Board watts of the GPU's kernels at full speed on the SMs that this tick gives them. */
static double kernels_w(const struct tmx_machine *m, size_t g)
{
    const struct tmx_gpu *gpu = &m->gpu[g];
    const double volt2 = gpu->chip->power.dvfs_power == TMX_DVFS_V2F ? m->volt2[g] : 1;
    double sum_w = 0;
    for (size_t k = 0; k < gpu->n_run; k++) {
        const struct tmx_job *j = &m->job[gpu->run[k]];
        const double rate = tmx_machine_step_speed(m, g, k) * gpu->power_scale / tmx_job_slowdown(j) *
                            tmx_machine_remote_speed(m, j, g);
        sum_w +=
            tmx_machine_sms(m, g, k) * rate * (volt2 * (tmx_machine_step_w(m, g, k) + j->l2_w) + j->dram_w);
    }
    return sum_w / (1 - gpu->chip->board.loss);
}

void tmx_smooth_slow(const struct tmx_smooth_options *o, struct tmx_machine *m, struct tmx_gpus span,
                     struct tmx_smooth_gpu *gpu)
{
    for (size_t g = span.first; g < span.end; g++) {
        struct tmx_smooth_gpu *v = &gpu[g];
        const double up_w_per_s = ramp(o->ramp_up_w_per_s, v),
                     room_w = v->board_w + up_w_per_s * m->dt_s - v->still_w;
        if (!limited(up_w_per_s)) {
            continue;
        }
        v->full_w = kernels_w(m, g);
        double speed = v->full_w > 0 ? room_w / (v->full_w * v->used) : 1;
        speed = speed < LEAST_SPEED || !(v->started > 0) ? LEAST_SPEED : speed;
        if (speed < 1 - m->gpu[g].rest) {
            m->gpu[g].rest = 1 - speed;
            m->gpu[g].reasons |= v->full_w > 0 ? 1u << TMX_REASON_SW_POWER_CAP : 0;
        }
    }
}

static bool arrives(const struct tmx_smooth_options *o, const struct tmx_machine *m, double time_s)
{
    return o->prime_s > 0 && m->n_arrived < m->n_job &&
           m->job[m->n_arrived].arrival_s - time_s <= o->prime_s * (1 + ROUND_OFF);
}

/* Watts that the board may not fall below. */
static double least_w(const struct tmx_smooth_options *o, const struct tmx_smooth_gpu *v, double limit_w,
                      double dt_s)
{
    const double up_w_per_s = ramp(o->ramp_up_w_per_s, v), down_w_per_s = ramp(o->ramp_down_w_per_s, v);
    double w = fmax(o->secondary_floor_w, v->held > 0 ? o->floor / 100 * limit_w : 0);
    if (limited(up_w_per_s) && v->started > 0) {
        w = fmin(w, v->board_w + up_w_per_s * dt_s);
    }
    return limited(down_w_per_s) && v->started > 0 ? fmax(w, v->board_w - down_w_per_s * dt_s) : w;
}

/* Returns the chip's watts that were added. */
static double burn(const struct tmx_machine *m, const struct tmx_gpu *gpu, double chip_w, double *power_w)
{
    const struct tmx_chip *c = gpu->chip;
    double added_w = 0;
    for (size_t u = 0; u < c->floorplan.n_unit; u++) {
        const int sm = c->sm_of_unit[u];
        if (sm != TMX_NO_SM && !m->gated[gpu->sm0 + (size_t)sm]) {
            const double w = chip_w / (double)gpu->n_sm * c->part_share[u];
            power_w[gpu->unit0 + u] += w;
            added_w += w;
        }
    }
    return added_w;
}

void tmx_smooth_fill(const struct tmx_smooth_options *o, const struct tmx_machine *m, struct tmx_gpus span,
                     double time_s, struct tmx_smooth_gpu *gpu, struct tmx_frame *f)
{
    for (size_t g = span.first; g < span.end; g++) {
        const struct tmx_gpu *of = &m->gpu[g];
        struct tmx_smooth_gpu *v = &gpu[g];
        const double gain = 1 / (1 - of->chip->board.loss);
        double chip_w = 0, dynamic_w = 0;
        for (size_t u = of->unit0; u < of->unit0 + of->chip->floorplan.n_unit; u++) {
            chip_w += f->power_w[u];
            dynamic_w += f->dynamic_w[u];
        }
        const double own_w = tmx_chip_board_w(of->chip, chip_w), work_w = dynamic_w * gain;
        const bool work = work_w > 0 || arrives(o, m, time_s);
        v->idle_s = work ? 0 : v->idle_s + m->dt_s;
        v->held = work || (v->held > 0 && v->idle_s <= o->hysteresis_s * (1 + ROUND_OFF));
        const double wanted_w = least_w(o, v, of->chip->board.power_w, m->dt_s) - own_w;
        f->smooth_w[g] = wanted_w > 0 ? burn(m, of, wanted_w / gain, f->power_w) : 0;
        if (m->members && work_w > 0 && v->full_w > 0) {
            /* the share of what they can draw that members of a synchronous job drew in the last tick. Those
             * that wait go on at full power at any time: the largest counts, forgotten when none has come
             * near it for a while */
            const double used = work_w / (v->full_w * (1 - of->rest));
            v->unused_s = used < v->used * (1 - ROUND_OFF) ? v->unused_s + m->dt_s : 0;
            if (v->unused_s == 0 || v->unused_s > FORGET_S) {
                v->used = used;
                v->unused_s = 0;
            }
        } else {
            v->used = m->members ? fmax(v->used, 1) : 1;
        }
        v->board_w = own_w + f->smooth_w[g] * gain;
        v->still_w = own_w - work_w;
        v->started = 1;
    }
}

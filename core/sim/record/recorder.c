/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "core/sim/record/recorder.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/os.h"

const char *const tmx_reason_names[TMX_N_REASON + 1] = {
    [TMX_REASON_GPU_IDLE] = "gpu_idle",
    [TMX_REASON_SW_POWER_CAP] = "sw_power_cap",
    [TMX_REASON_SW_THERMAL_SLOWDOWN] = "sw_thermal_slowdown",
    [TMX_REASON_HW_THERMAL_SLOWDOWN] = "hw_thermal_slowdown",
    [TMX_REASON_MEMORY_LIMIT] = "memory_limit",
    [TMX_REASON_SHUTDOWN] = "shutdown",
};

/* All arrays live in one block behind dynamic_j, so that reset, save and restore are one copy. */
static size_t n_real(const struct tmx_recorder *r)
{
    return 5 * r->n_unit + r->n_job + (6 + TMX_N_REASON) * r->n_gpu + 6 * r->n_sm;
}

enum tmx_status tmx_recorder_create(struct tmx_recorder **out, const struct tmx_machine *m,
                                    struct tmx_err *err)
{
    struct tmx_recorder *r = calloc(1, sizeof *r);
    if (!r) {
        return tmx_fail(err, TMX_ENOMEM, "recorder");
    }
    *r = (struct tmx_recorder){.kernel = TMX_ISA_OF(&tmx_recorder_any, &tmx_recorder_v3, &tmx_recorder_v4),
                               .n_gpu = m->n_gpu,
                               .n_sm = m->n_sm,
                               .n_unit = m->n_unit,
                               .n_job = m->n_job};
    r->dynamic_j = calloc(n_real(r), sizeof *r->dynamic_j);
    if (!r->dynamic_j) {
        free(r);
        return tmx_fail(err, TMX_ENOMEM, "recorder of %zu units", m->n_unit);
    }
    r->leakage_j = r->dynamic_j + m->n_unit;
    r->baseline_j = r->leakage_j + m->n_unit;
    r->saved_j = r->baseline_j + m->n_unit;
    r->sum_k = r->saved_j + m->n_unit;
    r->job_j = r->sum_k + m->n_unit;
    r->transition_j = r->job_j + m->n_job;
    r->peak_k = r->transition_j + m->n_gpu;
    r->peak_w = r->peak_k + m->n_gpu;
    r->now_w = r->peak_w + m->n_gpu;
    r->now_gradient_k = r->now_w + m->n_gpu;
    r->memory_k = r->now_gradient_k + m->n_gpu;
    r->reason_s = r->memory_k + m->n_gpu;
    r->hot_k = r->reason_s + TMX_N_REASON * m->n_gpu;
    r->trips = r->hot_k + m->n_sm;
    r->stopped_s = r->trips + m->n_sm;
    r->longest_s = r->stopped_s + m->n_sm;
    r->first_s = r->longest_s + m->n_sm;
    r->last_s = r->first_s + m->n_sm;
    *out = r;
    return TMX_OK;
}

void tmx_recorder_destroy(struct tmx_recorder *r)
{
    if (r) {
        free(r->dynamic_j);
        free(r);
    }
}

void tmx_recorder_reset(struct tmx_recorder *r)
{
    memset(r->dynamic_j, 0, n_real(r) * sizeof *r->dynamic_j);
    r->n_tick = 0;
    r->total_j = 0;
    r->peak_sm_k = 0;
    r->gradient_k = 0;
}

/* A stop that began in the warm-up counts from the end of the warm-up. */
static void sample_stops(struct tmx_recorder *r, const struct tmx_machine *m, const struct tmx_gpu *gpu,
                         double dt_s)
{
    const double now_s = (double)r->n_tick * dt_s;
    if (!gpu->any_gated) { /* as most of the time */
        memset(r->stopped_s + gpu->sm0, 0, gpu->n_sm * sizeof *r->stopped_s);
        return;
    }
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

static void sample_memory(struct tmx_recorder *r, const struct tmx_chip *chip, size_t g, const double *temp_k)
{
    for (size_t i = 0; i < chip->n_memory; i++) {
        const double t = temp_k[chip->memory_unit[i]];
        r->memory_k[g] = t > r->memory_k[g] ? t : r->memory_k[g];
    }
}

void tmx_recorder_watts(struct tmx_recorder *r, const struct tmx_machine *m, struct tmx_gpus span,
                        const struct tmx_frame *f, double dt_s)
{
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
        r->transition_j[g] += f->transition_w[g] * dt_s;
        for (unsigned why = 0; gpu->reasons >> why; why++) {
            r->reason_s[TMX_N_REASON * g + why] += gpu->reasons >> why & 1 ? dt_s : 0;
        }
    }
}

void tmx_recorder_kelvins(struct tmx_recorder *r, const struct tmx_machine *m, struct tmx_gpus span,
                          const struct tmx_frame *f, double dt_s)
{
    for (size_t g = span.first; g < span.end; g++) {
        const struct tmx_gpu *gpu = &m->gpu[g];
        struct tmx_recorder_kelvins s = {.n = gpu->chip->floorplan.n_unit,
                                         .n_sm = gpu->n_sm,
                                         .temp_k = f->temp_k + gpu->unit0,
                                         .sm_of_unit = gpu->chip->sm_of_unit,
                                         .sum_k = r->sum_k + gpu->unit0,
                                         .sensed_k = f->sensed_k + gpu->sm0,
                                         .hot_k = r->hot_k + gpu->sm0};
        r->kernel->kelvins(&s);
        r->now_gradient_k[g] = s.high_k - s.low_k;
        r->peak_k[g] = s.sm_k > r->peak_k[g] ? s.sm_k : r->peak_k[g];
        sample_memory(r, gpu->chip, g, s.temp_k);
        sample_stops(r, m, gpu, dt_s);
    }
}

void tmx_recorder_jobs(struct tmx_recorder *r, const struct tmx_machine *m, struct tmx_gpus span,
                       const struct tmx_frame *f, double dt_s)
{
    for (size_t g = span.first; g < span.end; g++) {
        const struct tmx_gpu *gpu = &m->gpu[g];
        for (size_t k = 0; k < gpu->n_run; k++) {
            r->job_j[gpu->run[k]] += f->way_w[k * f->n_gpu + g] * dt_s;
        }
    }
}

void tmx_recorder_end_tick(struct tmx_recorder *r, double dt_s)
{
    double total_w = 0;
    for (size_t g = 0; g < r->n_gpu; g++) {
        total_w += r->now_w[g];
        r->gradient_k = r->now_gradient_k[g] > r->gradient_k ? r->now_gradient_k[g] : r->gradient_k;
        r->peak_sm_k = r->peak_k[g] > r->peak_sm_k ? r->peak_k[g] : r->peak_sm_k;
    }
    r->total_j += total_w * dt_s;
    r->n_tick++;
}

size_t tmx_recorder_image_size(const struct tmx_recorder *r)
{
    return sizeof *r + n_real(r) * sizeof *r->dynamic_j;
}

void tmx_recorder_save(const struct tmx_recorder *r, void *buf)
{
    unsigned char *to = buf;
    memcpy(to, r, sizeof *r);
    memcpy(to + sizeof *r, r->dynamic_j, n_real(r) * sizeof *r->dynamic_j);
}

void tmx_recorder_restore(struct tmx_recorder *r, const void *buf)
{
    const unsigned char *from = buf;
    struct tmx_recorder saved;
    memcpy(&saved, from, sizeof saved);
    r->n_tick = saved.n_tick;
    r->total_j = saved.total_j;
    r->peak_sm_k = saved.peak_sm_k;
    r->gradient_k = saved.gradient_k;
    memcpy(r->dynamic_j, from + sizeof *r, n_real(r) * sizeof *r->dynamic_j);
}

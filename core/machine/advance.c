/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One tick of the hardware: resident blocks run, drain, retire. */
#include "core/machine/machine.h"

#include <math.h>

/* What an SM holds of a kernel slot after run_s, left_s before the old shares' blocks have ended, which they
 * do uniformly over one lifetime; *mean: over that time. */
static double drained(double held, double share, double run_s, double left_s, double *mean)
{
    if (run_s >= left_s) {
        const double w = run_s > 0 ? left_s / (2 * run_s) : 0;
        *mean = share + w * (held - share);
        return share;
    }
    const double end = held + run_s / left_s * (share - held);
    *mean = (held + end) / 2;
    return end;
}

static void drain(struct tmx_machine *m, size_t n, size_t sm, double run_s, double mean[TMX_SLOTS])
{
    for (size_t k = 0; k < n; k++) {
        double *held = &m->held[tmx_machine_at(m, sm, k)];
        *held = drained(*held, m->share[tmx_machine_at(m, sm, k)], run_s, m->drain_s[sm], &mean[k]);
    }
    m->drain_s[sm] = run_s >= m->drain_s[sm] ? 0 : m->drain_s[sm] - run_s;
}

double tmx_machine_sms(const struct tmx_machine *m, size_t g, size_t kernel_slot)
{
    const struct tmx_gpu *gpu = &m->gpu[g];
    const double run_s = gpu->stall_s < m->dt_s ? m->dt_s - gpu->stall_s : 0;
    double sms = 0;
    for (size_t sm = gpu->sm0; sm < gpu->sm0 + gpu->n_sm; sm++) {
        const size_t at = tmx_machine_at(m, sm, kernel_slot);
        double mean = m->share[at];
        if (m->drain_s[sm] > 0) {
            (void)drained(m->held[at], m->share[at], run_s * m->speed[g], m->drain_s[sm], &mean);
        }
        sms += m->gated[sm] ? 0 : mean;
    }
    return sms * run_s / m->dt_s;
}

/* Busy shares of the SMs of one GPU over dt_s, n kernel slots each, and their sums. */
static inline __attribute__((always_inline)) void run_slots(struct tmx_machine *m, size_t g, double run_s,
                                                            size_t n)
{
    struct tmx_gpu *gpu = &m->gpu[g];
    const double full = gpu->full;
    double sum[TMX_SLOTS] = {0};
    gpu->steady = true;
    gpu->any_gated = false;
    for (size_t sm = gpu->sm0; sm < gpu->sm0 + gpu->chip->n_sm; sm++) {
        double mean[TMX_SLOTS];
        for (size_t k = 0; k < n; k++) {
            mean[k] = m->share[tmx_machine_at(m, sm, k)];
        }
        double on = full;
        if (m->gated[sm]) {
            on = 0;
            gpu->any_gated = true;
        } else if (m->drain_s[sm] > 0) {
            drain(m, n, sm, run_s * m->speed[g], mean);
            gpu->steady = false;
        }
        if (m->volunteer_s[sm] > 0) {
            on *= 1 - m->volunteer_s[sm] / m->dt_s;
        }
        for (size_t k = 0; k < n; k++) {
            const double busy = on * mean[k];
            m->busy[tmx_machine_at(m, sm, k)] = busy;
            sum[k] += busy;
        }
    }
    for (size_t k = 0; k < n; k++) {
        gpu->sms[k] = sum[k];
    }
}

/* work[k] gets the SM-seconds each kernel slot runs. */
static void run_sms(struct tmx_machine *m, size_t g, double run_s, double work[TMX_SLOTS])
{
    struct tmx_gpu *gpu = &m->gpu[g];
    const size_t n = tmx_machine_kernel_slots(gpu);
    const double full = (1 - gpu->rest) * run_s / m->dt_s;
    gpu->same = gpu->steady && full == gpu->full;
    gpu->full = full;
    if (!gpu->same && n == 2) { /* a constant: sums in registers */
        run_slots(m, g, run_s, 2);
    } else if (!gpu->same) {
        run_slots(m, g, run_s, n);
    }
    for (size_t k = 0; k < n; k++) {
        work[k] = gpu->sms[k] * m->dt_s;
    }
}

void tmx_machine_scale_busy(struct tmx_machine *m, struct tmx_gpu *gpu, size_t kernel_slot, double by)
{
    for (size_t sm = gpu->sm0; sm < gpu->sm0 + gpu->chip->n_sm; sm++) {
        m->busy[tmx_machine_at(m, sm, kernel_slot)] *= by;
    }
    gpu->steady = gpu->same = false;
}

/* Speed of the job's blocks at the GPU's clock level relative to the nominal one: the clock's, as far as they
 * wait for it. */
static double clock_speed(const struct tmx_machine *m, const struct tmx_job *job, size_t gpu)
{
    return tmx_waiting_speed(m->speed[gpu], tmx_job_waits(job, m->now_s));
}

double tmx_machine_step_speed(const struct tmx_machine *m, size_t g, size_t kernel_slot)
{
    const struct tmx_job *job = &m->job[m->gpu[g].run[kernel_slot]];
    return tmx_job_changes(job) ? m->gpu[g].step[kernel_slot].speed : clock_speed(m, job, g);
}

double tmx_machine_step_w(const struct tmx_machine *m, size_t g, size_t kernel_slot)
{
    const struct tmx_job *job = &m->job[m->gpu[g].run[kernel_slot]];
    return tmx_job_changes(job) ? m->gpu[g].step[kernel_slot].power_w : tmx_job_power_w(job, m->now_s);
}

double tmx_machine_second_sm_s(const struct tmx_machine *m, size_t gpu)
{
    return (double)m->gpu[gpu].chip->n_sm * m->gpu[gpu].speed_scale;
}

double tmx_machine_remote_speed(const struct tmx_machine *m, const struct tmx_job *job, size_t gpu)
{
    return gpu == job->data_gpu ? 1 : 1 / (1 + m->remote_cost * job->remote_weight);
}

static double job_rate(const struct tmx_machine *m, const struct tmx_gpu *gpu, const struct tmx_job *j)
{
    double rate = 1 / tmx_job_slowdown(j);
    if (gpu->n_run >= 2) {
        rate *= m->gain;
    }
    return rate * gpu->speed_scale * tmx_machine_remote_speed(m, j, (size_t)(gpu - m->gpu));
}

/* What phases over the work are in the mean while the kernel slots run work[k] SM-seconds. */
static void pass_phases(struct tmx_machine *m, struct tmx_gpu *gpu, const double *work)
{
    const size_t g = (size_t)(gpu - m->gpu);
    for (size_t k = 0; k < gpu->n_run; k++) {
        const struct tmx_job *j = &m->job[gpu->run[k]];
        if (tmx_job_changes(j)) {
            gpu->step[k] = tmx_job_step(j, work[k], m->speed[g], job_rate(m, gpu, j), m->counting);
        }
    }
}

/* Does the kernel slot hold blocks on a stopped SM? */
static bool blocks_stopped(const struct tmx_machine *m, const struct tmx_gpu *gpu, size_t kernel_slot)
{
    for (size_t sm = gpu->sm0; sm < gpu->sm0 + gpu->chip->n_sm; sm++) {
        if (m->gated[sm] && m->held[tmx_machine_at(m, sm, kernel_slot)] > 0) {
            return true;
        }
    }
    return false;
}

/* Add work to a job; when it ends inside the tick, the slots idle for the rest of it. 1 when it ended. */
static size_t progress(struct tmx_machine *m, struct tmx_gpu *gpu, size_t kernel_slot, double work_sm_s,
                       double time_s)
{
    struct tmx_job *j = &m->job[gpu->run[kernel_slot]];
    if (j->started_s < 0 && m->counting) {
        j->started_s = time_s;
    }
    if (!m->counting || j->state == TMX_JOB_DONE || work_sm_s <= 0) {
        return 0;
    }
    const double add = work_sm_s * job_rate(m, gpu, j), left = j->work_sm_s - j->done_sm_s;
    if (add < left - m->share_round_off * j->work_sm_s) {
        j->done_sm_s += add;
        return 0;
    }
    const double used = fmin(1, left / add);
    j->done_sm_s = j->work_sm_s;
    const bool ends = !m->blocks_wait || !blocks_stopped(m, gpu, kernel_slot);
    if (ends) {
        j->state = TMX_JOB_DONE;
        j->finished_s = time_s + used * m->dt_s;
        if (gpu->n_run == 1 && gpu->n_queue == 0) { /* the rest of the tick is idle */
            gpu->busy_s -= (1 - used) * m->dt_s;
        }
    }
    tmx_machine_scale_busy(m, gpu, kernel_slot, used);
    return ends;
}

/* The volunteers' share of the tick; a profile is known when its time is up. */
static void profile(struct tmx_machine *m, struct tmx_gpu *gpu)
{
    for (size_t sm = gpu->sm0; sm < gpu->sm0 + gpu->chip->n_sm; sm++) {
        m->volunteer_s[sm] = 0;
        if (m->volunteer_job[sm] == TMX_NO_JOB) {
            continue;
        }
        if (m->volunteer_done[sm]) {
            m->volunteer_job[sm] = TMX_NO_JOB;
            m->volunteer_done[sm] = false;
            gpu->n_volunteer--;
            continue;
        }
        struct tmx_job *j = &m->job[m->volunteer_job[sm]];
        const double step_s = j->profiling_s < m->dt_s ? j->profiling_s : m->dt_s;
        m->volunteer_s[sm] = step_s;
        j->profiling_s -= step_s;
        if (j->profiling_s <= 0 || j->state == TMX_JOB_DONE) {
            j->pdi_valid = true;
            m->volunteer_done[sm] = true; /* its time still counts in this tick */
        }
    }
}

size_t tmx_machine_advance_span(struct tmx_machine *m, struct tmx_gpus span, double time_s)
{
    size_t n_done = 0;
    for (size_t g = span.first; g < span.end; g++) {
        struct tmx_gpu *gpu = &m->gpu[g];
        const size_t n_run = gpu->n_run;
        double work[TMX_SLOTS] = {0};
        if (gpu->n_volunteer > 0) {
            profile(m, gpu);
            gpu->steady = false;
        }
        const double lost_s = gpu->stall_s < m->dt_s ? gpu->stall_s : m->dt_s;
        gpu->stall_s -= lost_s;
        run_sms(m, g, m->dt_s - lost_s, work);
        for (size_t sm = gpu->sm0; gpu->any_gated && sm < gpu->sm0 + gpu->n_sm; sm++) {
            m->gated_s[sm] += m->gated[sm] && m->counting ? m->dt_s : 0;
        }
        pass_phases(m, gpu, work);
        for (size_t k = 0; k < n_run; k++) {
            work[k] *= tmx_machine_step_speed(m, g, k);
        }
        work[0] -= gpu->overhead_s < work[0] ? gpu->overhead_s : work[0];
        gpu->overhead_s = 0;
        for (size_t k = 0; k < n_run; k++) {
            m->job[gpu->run[k]].pdi_valid = true; /* resident blocks have shown their activity */
            if (m->members && gpu->run[k] < m->members->spec.n_member) {
                const double rate = job_rate(m, gpu, &m->job[gpu->run[k]]);
                tmx_sync_job_offer(m->members, gpu->run[k], g, k,
                                   work[k] * rate / m->dt_s / tmx_machine_second_sm_s(m, g));
            } else {
                n_done += progress(m, gpu, k, work[k], time_s);
            }
        }
        if (n_run > 0 && m->counting) {
            gpu->busy_s += m->dt_s;
        }
    }
    return n_done;
}

bool tmx_machine_is_steady(const struct tmx_machine *m, size_t g)
{
    const struct tmx_gpu *gpu = &m->gpu[g];
    bool drains = false;
    for (size_t sm = gpu->sm0; sm < gpu->sm0 + gpu->n_sm; sm++) {
        drains = drains || (m->drain_s[sm] > 0 && !m->gated[sm]);
    }
    return !drains && gpu->stall_s <= 0 && gpu->n_volunteer == 0 && gpu->transition_j == 0;
}

void tmx_machine_rates(struct tmx_machine *m, size_t g)
{
    double work[TMX_SLOTS];
    run_sms(m, g, m->dt_s, work);
    pass_phases(m, &m->gpu[g], work);
}

/* Whole ticks within a time, 1 at least and most at most. */
static uint64_t ticks_in(double time_s, double tick_s, uint64_t most)
{
    static const double ROUND_OFF = 1e-9;
    const double n = time_s / tick_s * (1 + ROUND_OFF);
    return !(n >= 1) ? 1 : n < (double)most ? (uint64_t)n : most;
}

/* Work that a kernel slot does in a second, at most, while blocks of old shares end. */
static double slot_rate(const struct tmx_machine *m, size_t g, size_t kernel_slot)
{
    const struct tmx_gpu *gpu = &m->gpu[g];
    const struct tmx_job *j = &m->job[gpu->run[kernel_slot]];
    double sms = 0;
    for (size_t sm = gpu->sm0; sm < gpu->sm0 + gpu->n_sm; sm++) {
        const double share = m->share[tmx_machine_at(m, sm, kernel_slot)],
                     held = m->drain_s[sm] > 0 ? m->held[tmx_machine_at(m, sm, kernel_slot)] : 0;
        sms += m->gated[sm] ? 0 : held > share ? held : share;
    }
    return sms * (1 - gpu->rest) * clock_speed(m, j, g) * job_rate(m, gpu, j);
}

/* The same of a job on all of its GPUs. */
static double job_work_rate(const struct tmx_machine *m, size_t job, size_t g, size_t kernel_slot)
{
    const struct tmx_job *j = &m->job[job];
    double rate = 0;
    if (j->n_gpu <= 1) {
        return slot_rate(m, g, kernel_slot);
    }
    for (size_t i = j->home_gpu; i < j->home_gpu + j->n_gpu; i++) {
        for (size_t k = 0; k < m->gpu[i].n_run; k++) {
            rate += m->gpu[i].run[k] == job ? slot_rate(m, i, k) : 0;
        }
    }
    return rate;
}

/* Until a kernel ends or its power changes. */
static uint64_t kernel_ticks(const struct tmx_machine *m, size_t g, size_t kernel_slot, uint64_t most)
{
    const struct tmx_gpu *gpu = &m->gpu[g];
    const size_t job = gpu->run[kernel_slot];
    const struct tmx_job *j = &m->job[job];
    const double left = j->work_sm_s - j->done_sm_s, rate = job_work_rate(m, job, g, kernel_slot),
                 phase = tmx_job_phase_left(j, m->now_s);
    if (!m->counting || j->state == TMX_JOB_DONE) {
        return most;
    }
    if (left <= 0) { /* it ended before its blocks on stopped SMs */
        return blocks_stopped(m, gpu, kernel_slot) ? most : 1;
    }
    most = rate > 0 ? ticks_in(left / rate, m->tick_s, most) : most;
    if (isfinite(phase) && !tmx_job_changes(j)) {
        return ticks_in(phase, m->tick_s, most);
    }
    if (isfinite(phase) && rate > 0) { /* the tick of the change by itself */
        const uint64_t n = ticks_in(phase / rate, m->tick_s, most);
        return n > 1 ? n - 1 : 1;
    }
    return most;
}

uint64_t tmx_machine_steady_ticks(const struct tmx_machine *m, size_t g, uint64_t most)
{
    const struct tmx_gpu *gpu = &m->gpu[g];
    double drain_s = 0;
    for (size_t sm = gpu->sm0; sm < gpu->sm0 + gpu->n_sm; sm++) {
        if (m->volunteer_job[sm] != TMX_NO_JOB && !m->volunteer_done[sm]) {
            most = ticks_in(m->job[m->volunteer_job[sm]].profiling_s, m->tick_s, most);
        }
        drain_s = m->drain_s[sm] > drain_s && !m->gated[sm] ? m->drain_s[sm] : drain_s;
    }
    if (gpu->stall_s > 0) {
        most = ticks_in(gpu->stall_s, m->tick_s, most);
    } else if (drain_s > 0) { /* the tick in which they end, too */
        most = ticks_in(drain_s / m->speed[g] + m->tick_s, m->tick_s, most);
    }
    for (size_t k = 0; k < gpu->n_run; k++) {
        most = kernel_ticks(m, g, k, most);
    }
    return most;
}

bool tmx_machine_outlasts(const struct tmx_machine *m, uint64_t n)
{
    static const double MARGIN = 2; /* for rounding; two intermixed kernels are faster by m->gain */
    const double most_s = MARGIN * (m->gain > 1 ? m->gain : 1) * (double)n * m->tick_s;
    bool lasts = !m->counting || m->n_arrived < m->n_job;
    for (size_t i = m->first_unfinished; i < m->n_arrived && !lasts; i++) {
        const struct tmx_job *j = &m->job[i];
        double work_sm_s = 0;
        for (size_t g = j->home_gpu; g < j->home_gpu + j->n_gpu; g++) {
            const double speed = tmx_chip_speed(m->gpu[g].chip, 0); /* the fastest */
            work_sm_s += most_s * tmx_machine_second_sm_s(m, g) * (speed > 1 ? speed : 1);
        }
        lasts =
            j->state != TMX_JOB_DONE && j->state != TMX_JOB_MERGED && j->work_sm_s - j->done_sm_s > work_sm_s;
    }
    return lasts;
}

void tmx_machine_end_tick(struct tmx_machine *m, size_t n_done)
{
    m->n_done += n_done;
    while (m->first_unfinished < m->n_job && m->job[m->first_unfinished].state == TMX_JOB_DONE) {
        m->first_unfinished++;
    }
}

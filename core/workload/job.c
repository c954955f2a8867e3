/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "core/workload/job.h"

#include <math.h>

enum tmx_status tmx_job_init(struct tmx_job *job, const struct tmx_kernel *k, const struct tmx_chip *c,
                             double work_s, struct tmx_err *err)
{
    const int occupancy = tmx_kernel_occupancy(k, &c->limits);
    const double rates_w = tmx_kernel_equation1_w(k, c->power.max_power_w);
    if (k->power.sm_power_w <= 0 && rates_w <= 0) {
        return tmx_fail(err, TMX_ECONFIG,
                        "no group power with sm_power_w, or with access rates for a chip with max_*_w: "
                        "kernel %s cannot run in a mix",
                        k->name);
    }
    if (occupancy == 0) {
        return tmx_fail(
            err, TMX_ECONFIG,
            "kernel %s fits on no SM of %s: a block needs %d threads, %d registers, %d B shared memory",
            k->name, c->name, k->launch.threads_per_block,
            k->launch.threads_per_block * k->launch.registers_per_thread, k->launch.shared_bytes);
    }
    const double lifetime_s = k->power.block_lifetime_s * c->kernel_time_scale;
    const double per_sm_s = occupancy / lifetime_s, n_sm = (double)c->n_sm;
    const double scale = c->kernel_power_scale / c->sm_power_reference_sms;
    const double power_w = k->power.sm_power_w > 0
                               ? k->power.sm_power_w * c->kernel_power_scale / c->sm_power_reference_sms
                               : rates_w;
    const double static_w = k->component_w[TMX_COMPONENT_STATIC];
    if (static_w > 0 && c->static_reference_w <= 0) {
        return tmx_fail(
            err, TMX_ECONFIG,
            "kernel %s: components.static_w = %g W would be lost: chip %s has no static_reference_w", k->name,
            static_w, c->name);
    }
    const double work_sm_s = work_s > 0 ? work_s * n_sm : k->launch.thread_blocks / per_sm_s;
    const double width = ceil(work_sm_s * per_sm_s / occupancy);
    *job = (struct tmx_job){.kernel = k,
                            .work_sm_s = work_sm_s,
                            .blocks_per_sm_s = per_sm_s,
                            .lifetime_s = lifetime_s,
                            .power_w = power_w,
                            .pdi_w = power_w,
                            .l2_w = k->component_w[TMX_COMPONENT_L2] * scale,
                            .dram_w = k->component_w[TMX_COMPONENT_DRAM] * scale,
                            .leak_factor = c->static_reference_w > 0 ? static_w / c->static_reference_w : 0,
                            .phases = k->phases.n > 0 ? &k->phases : NULL,
                            .sm_speed = 1,
                            .sm_w = 1,
                            .chip_sms = n_sm,
                            .gate_slowdown = 1,
                            .memory_slowdown = 1,
                            .remote_weight = k->power.remote_weight,
                            .width_sms = width < n_sm ? (size_t)width : c->n_sm};
    return TMX_OK;
}

double tmx_job_sm_speed(const struct tmx_chip *c, const struct tmx_chip *unit)
{
    return unit->kernel_time_scale / c->kernel_time_scale;
}

double tmx_job_sm_w(const struct tmx_chip *c, const struct tmx_chip *unit)
{
    return c->kernel_power_scale / c->sm_power_reference_sms /
           (unit->kernel_power_scale / unit->sm_power_reference_sms);
}

void tmx_job_count_in(struct tmx_job *job, const struct tmx_chip *c, const struct tmx_chip *unit,
                      size_t widest)
{
    const struct tmx_kernel *k = job->kernel;
    const double occupancy = rint(job->blocks_per_sm_s * job->lifetime_s);
    const double scale = unit->kernel_power_scale / unit->sm_power_reference_sms;
    if (job->width_sms == c->n_sm && widest > c->n_sm) {
        const double width = ceil(job->work_sm_s * job->blocks_per_sm_s / occupancy);
        job->width_sms = width < (double)widest ? (size_t)width : widest;
    }
    job->sm_speed = tmx_job_sm_speed(c, unit);
    job->sm_w = tmx_job_sm_w(c, unit);
    job->work_sm_s *= job->sm_speed;
    job->chip_sms *= job->sm_speed;
    job->lifetime_s = k->power.block_lifetime_s * unit->kernel_time_scale;
    job->blocks_per_sm_s = occupancy / job->lifetime_s;
    job->l2_w = k->component_w[TMX_COMPONENT_L2] * scale;
    job->dram_w = k->component_w[TMX_COMPONENT_DRAM] * scale;
    job->power_w = k->power.sm_power_w > 0
                       ? k->power.sm_power_w * unit->kernel_power_scale / unit->sm_power_reference_sms
                       : job->power_w / job->sm_w;
    job->pdi_w = job->power_w;
}

/* SM-seconds of work that one `until` counts. */
static double unit_sm_s(const struct tmx_job *job)
{
    return job->phases->over == TMX_PHASE_WORK ? job->work_sm_s
                                               : job->chip_sms * (double)(job->gpus > 1 ? job->gpus : 1);
}

/* Where a job is in its phases: of its work, or of its time. */
static double phase_of(const struct tmx_job *job, double now_s)
{
    if (tmx_job_changes(job)) {
        return job->work_sm_s > 0 ? job->done_sm_s / unit_sm_s(job) : 0;
    }
    return job->started_s >= 0 ? now_s - job->started_s : 0;
}

static double waits_of(const struct tmx_job *job, size_t phase)
{
    return job->phases->waits[phase] >= 0 ? job->phases->waits[phase] : job->memory_bound;
}

double tmx_job_waits(const struct tmx_job *job, double now_s)
{
    return job->phases ? waits_of(job, tmx_job_phase(job, now_s)) : job->memory_bound;
}

struct walk {
    double run_sm_s, work, joules; /* sums over what was passed: work at a rate of 1 */
};

/* Part of a phase, work SM-seconds of it at a rate of 1. */
static void pass(struct walk *w, const struct tmx_job *job, size_t phase, double clock, double work)
{
    w->run_sm_s += work / tmx_waiting_speed(clock, waits_of(job, phase));
    w->work += work;
    w->joules += work * job->phases->power_w[phase];
}

struct tmx_job_step tmx_job_step(const struct tmx_job *job, double run_sm_s, double clock, double rate,
                                 bool gets_on)
{
    const struct tmx_phases *p = job->phases;
    const double unit = unit_sm_s(job) / rate, turns = phase_of(job, 0), last = p->until[p->n - 1];
    const double at = p->repeat && turns >= last ? fmod(turns, last) : turns; /* in this turn */
    struct walk w = {0}, turn = {0};
    size_t i = tmx_phases_index(p, turns);
    for (size_t k = 0; k < p->n && p->repeat; k++) {
        pass(&turn, job, k, clock, unit * (p->until[k] - (k > 0 ? p->until[k - 1] : 0)));
    }
    if (p->repeat && (!gets_on || run_sm_s >= turn.run_sm_s)) {
        const double n = gets_on ? floor(run_sm_s / turn.run_sm_s) : 1;
        w = (struct walk){n * turn.run_sm_s, n * turn.work, n * turn.joules};
    }
    double left = unit * (p->until[i] - at); /* of the phase it is in */
    while (gets_on && w.run_sm_s < run_sm_s) {
        const double speed = tmx_waiting_speed(clock, waits_of(job, i)),
                     most = (run_sm_s - w.run_sm_s) * speed;
        const bool ends = i + 1 < p->n || p->repeat;
        if (!ends || most <= left) {
            pass(&w, job, i, clock, most);
            break;
        }
        pass(&w, job, i, clock, left > 0 ? left : 0);
        i = i + 1 < p->n ? i + 1 : 0;
        left = unit * (p->until[i] - (i > 0 ? p->until[i - 1] : 0));
    }
    if (!(w.work > 0)) {
        pass(&w, job, i, clock, 1);
    }
    return (struct tmx_job_step){w.work / w.run_sm_s,
                                 job->power_w * w.joules / w.work / job->kernel->power.sm_power_w};
}

double tmx_job_power_w(const struct tmx_job *job, double now_s)
{
    const struct tmx_phases *p = job->phases;
    if (!p) {
        return job->power_w;
    }
    return job->power_w * tmx_phases_at(p, phase_of(job, now_s)) / job->kernel->power.sm_power_w;
}

size_t tmx_job_phase(const struct tmx_job *job, double now_s)
{
    return job->phases ? tmx_phases_index(job->phases, phase_of(job, now_s)) : 0;
}

double tmx_job_phase_left(const struct tmx_job *job, double now_s)
{
    return job->phases ? tmx_phases_left(job->phases, phase_of(job, now_s)) *
                             (tmx_job_changes(job) ? unit_sm_s(job) : 1)
                       : INFINITY;
}

void tmx_job_launch(struct tmx_job *job, const struct tmx_job_launch *l)
{
    job->work_sm_s = l->time_s * l->sms;
    job->blocks_per_sm_s = l->blocks / job->work_sm_s;
    job->lifetime_s = l->time_s / ceil(l->blocks / l->sms);
    job->power_w = job->pdi_w = l->sm_w / l->sms;
    job->uncore_w = l->uncore_w;
    job->width_sms = (size_t)l->sms;
}

struct tmx_job_blocks tmx_job_blocks(const struct tmx_job *job)
{
    const double total = ceil(job->work_sm_s * job->blocks_per_sm_s - 1e-6);
    const double retired =
        job->state == TMX_JOB_DONE ? total : floor(job->done_sm_s * job->blocks_per_sm_s + 1e-6);
    return (struct tmx_job_blocks){(uint64_t)total, (uint64_t)fmin(retired, total)};
}

void tmx_job_rows(const struct tmx_job *job, size_t n_job, const struct tmx_kernel *kernel, size_t n_kernel,
                  size_t *row)
{
    for (size_t j = 0; j < n_job; j++) {
        row[j] = SIZE_MAX;
        for (size_t k = 0; k < n_kernel; k++) {
            row[j] = job[j].kernel == &kernel[k] ? k : row[j];
        }
    }
}

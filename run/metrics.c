/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a run measures, each from the machine, the recorder, or both. */
#include <math.h>
#include <stddef.h>
#include <stdlib.h>

#include <thermix/policy.h>

#include "base/curve.h"
#include "power/leakage.h"
#include "run/state.h"

static const struct tmx_machine *machine(const struct tmx_run *r)
{
    return r->sim->machine;
}

static const struct tmx_recorder *recorder(const struct tmx_run *r)
{
    return r->sim->recorder;
}

static struct tmx_cooling_ledger cooling(const struct tmx_run *r)
{
    return tmx_sim_cooling_ledger(r->sim);
}

/* A number that is kept, by its place in what keeps it. */
enum { RECORDER, MACHINE, LEDGER, FEED, SERVED };

static double number(const struct tmx_run *r, const struct tmx_metric *m)
{
    const struct tmx_cooling_ledger ledger = m->of == LEDGER ? cooling(r) : (struct tmx_cooling_ledger){0};
    const struct tmx_feed_sum feed = tmx_feed_sum(&r->sim->feed);
    const struct tmx_run_serving served = m->of == SERVED ? tmx_run_serving(r) : (struct tmx_run_serving){0};
    const void *const from[] = {recorder(r), machine(r), &ledger, &feed, &served};
    return *(const double *)(const void *)((const char *)from[m->of] + m->what);
}

/* An array of the recorder's, by its place there; of UNITS, GPUS or SMS. */
enum { UNITS, GPUS, SMS };
struct over {
    double total, largest, n_above; /* m->share */
};

static struct over over(const struct tmx_run *r, const struct tmx_metric *m)
{
    const struct tmx_recorder *rec = recorder(r);
    const size_t n = m->of == UNITS ? rec->n_unit : m->of == GPUS ? rec->n_gpu : rec->n_sm;
    const double *v = *(double *const *)(const void *)((const char *)rec + m->what);
    struct over o = {0};
    for (size_t i = 0; i < n; i++) {
        o.total += v[i];
        o.largest = fmax(o.largest, v[i]);
        o.n_above += v[i] > m->share;
    }
    return o;
}

static double total(const struct tmx_run *r, const struct tmx_metric *m)
{
    return over(r, m).total;
}

static double largest(const struct tmx_run *r, const struct tmx_metric *m)
{
    return over(r, m).largest;
}

static double n_above(const struct tmx_run *r, const struct tmx_metric *m)
{
    return over(r, m).n_above;
}

/* Lost share of the busy time: 1 - work / (busy time of all SMs). */
static double slowdown_pct(const struct tmx_run *r)
{
    const struct tmx_machine *m = machine(r);
    double busy_sm_s = 0, done_sm_s = 0;
    for (size_t g = 0; g < m->n_gpu; g++) {
        busy_sm_s += m->gpu[g].busy_s * (double)m->gpu[g].chip->n_sm;
    }
    for (size_t j = 0; j < m->n_job; j++) {
        done_sm_s += m->job[j].done_sm_s / m->job[j].sm_speed;
    }
    const double lost = busy_sm_s > 0 ? 1 - done_sm_s / busy_sm_s : 0;
    return fabs(lost) < 1e-9 ? 0 : 100 * lost; /* round-off of the sums is no slowdown */
}

double tmx_run_arrival_s(const struct tmx_run *run, const struct tmx_job *job)
{
    return fmax(0, job->arrival_s - run->options.warmup_s);
}

static double peak_temp_c(const struct tmx_run *r)
{
    return recorder(r)->peak_sm_k - TMX_ZERO_C;
}

/* Mean over the SMs and the counted time. */
static double mean_temp_c(const struct tmx_run *r)
{
    const struct tmx_machine *m = machine(r);
    const struct tmx_recorder *rec = recorder(r);
    double s = 0, n = 0;
    for (size_t g = 0; g < m->n_gpu; g++) {
        const struct tmx_chip *c = m->gpu[g].chip;
        for (size_t u = 0; u < c->floorplan.n_unit; u++) {
            s += c->part_share[u] * rec->sum_k[m->gpu[g].unit0 + u];
        }
        n += (double)c->n_sm;
    }
    return rec->n_tick > 0 ? s / n / (double)rec->n_tick - TMX_ZERO_C : r->sim->frame.temp_k[0] - TMX_ZERO_C;
}

static double throttled_s(const struct tmx_run *r)
{
    const struct tmx_machine *m = machine(r);
    double s = 0;
    for (size_t sm = 0; sm < m->n_sm; sm++) {
        s += m->gated_s[sm];
    }
    return s / (double)m->n_sm;
}

static double sms_near_trip(const struct tmx_run *r)
{
    const double near_k = tmx_sim_trip_k(r->sim) - 0.5;
    double n = 0;
    for (size_t sm = 0; sm < recorder(r)->n_sm; sm++) {
        n += recorder(r)->hot_k[sm] >= near_k;
    }
    return n;
}

/* From one stop of an SM's clock to its next, mean over all stops. */
static double gating_period_s(const struct tmx_run *r)
{
    const struct tmx_recorder *rec = recorder(r);
    double span_s = 0, periods = 0;
    for (size_t sm = 0; sm < rec->n_sm; sm++) {
        if (rec->trips[sm] > 1) {
            span_s += rec->last_s[sm] - rec->first_s[sm];
            periods += rec->trips[sm] - 1;
        }
    }
    return periods > 0 ? span_s / periods : 0;
}

static double below_trip_k(const struct tmx_run *r)
{
    const double trip_k = tmx_sim_trip_k(r->sim);
    return isnan(trip_k) ? 0 : trip_k - recorder(r)->peak_sm_k;
}

static double makespan_s(const struct tmx_run *r)
{
    const struct tmx_machine *m = machine(r);
    double last = 0;
    for (size_t j = 0; j < m->n_job; j++) {
        last = fmax(last, m->job[j].finished_s);
    }
    return m->n_done == m->n_job ? last : fmax(last, tmx_sim_time_s(r->sim));
}

/* Thread blocks retired per second of makespan. */
static double throughput_blocks_per_s(const struct tmx_run *r)
{
    const struct tmx_machine *m = machine(r);
    double blocks = 0;
    for (size_t j = 0; j < m->n_job; j++) {
        blocks += (double)tmx_job_blocks(&m->job[j]).retired;
    }
    const double t = makespan_s(r);
    return t > 0 ? blocks / t : 0;
}

/* Jain's index over the jobs' progress rates (time alone / time from arrival to end): 1 is fair. */
static double fairness(const struct tmx_run *r)
{
    const struct tmx_machine *m = machine(r);
    double s = 0, s2 = 0, n = 0;
    for (size_t j = 0; j < m->n_job; j++) {
        const struct tmx_job *job = &m->job[j];
        const double arrival_s = tmx_run_arrival_s(r, job);
        if (job->finished_s > arrival_s) {
            const double width = (double)job->width_sms * (job->gpus > 1 ? (double)job->gpus : 1),
                         alone_s = job->work_sm_s / job->sm_speed / width,
                         x = alone_s / (job->finished_s - arrival_s);
            s += x;
            s2 += x * x;
            n += 1;
        }
    }
    return s2 > 0 ? s * s / (n * s2) : 0;
}

static double mean_rpm(const struct tmx_run *r)
{
    bool known = true;
    for (size_t f = 0; f < r->topology.n_fan; f++) {
        known = known && !r->topology.fan[f].stand_in;
    }
    return known ? cooling(r).mean_rpm : 0;
}

static double peak_noise_dba(const struct tmx_run *r)
{
    const double dba = cooling(r).peak_noise_dba;
    return isfinite(dba) ? dba : 0;
}

static double mean_inlet_c(const struct tmx_run *r)
{
    return r->topology.n_gpu > 0 ? cooling(r).mean_inlet_k - TMX_ZERO_C
                                 : r->kind[0].stack.spec.ambient_k - TMX_ZERO_C;
}

/* Temperature of the mean SM that a watt of the chip gives, times the watts that a kelvin of it leaks. From 1
 * on the chip has no steady state. */
static double loop_gain(const struct tmx_run *r)
{
    const struct tmx_chip_power *p = &machine(r)->gpu[0].chip->power;
    const double trip_k = tmx_sim_trip_k(r->sim), half_k = 0.5;
    const double at_k = isnan(trip_k) ? recorder(r)->peak_sm_k : trip_k;
    const double slope =
        p->leakage_w * (tmx_leakage_factor(p, at_k + half_k) - tmx_leakage_factor(p, at_k - half_k));
    const double watts =
        recorder(r)->total_j / ((double)recorder(r)->n_tick * r->options.tick_s) / (double)machine(r)->n_gpu;
    return watts > 0 && r->options.leakage ? (mean_temp_c(r) - mean_inlet_c(r)) / watts * slope : 0;
}

/* Mean, or a quantile. */
static double step_s(const struct tmx_run *r, const struct tmx_metric *m)
{
    const struct tmx_sync_job *g = machine(r)->members;
    const double v = !g             ? 0
                     : m->share > 0 ? tmx_sync_job_step_quantile_s(g, m->share)
                                    : tmx_sync_job_step_mean_s(g);
    return isnan(v) ? 0 : v;
}

static double wait_pct(const struct tmx_run *r)
{
    const struct tmx_sync_job *g = machine(r)->members;
    double s = 0;
    for (size_t i = 0; g && i < g->spec.n_member; i++) {
        s += 100 * tmx_sync_job_wait_share(g, i) / (double)g->spec.n_member;
    }
    return s;
}

/* Time slowed for a reason, mean over GPUs. */
static double reason_s(const struct tmx_run *r, const struct tmx_metric *m)
{
    const struct tmx_recorder *rec = recorder(r);
    double s = 0;
    for (size_t g = 0; g < rec->n_gpu; g++) {
        s += rec->reason_s[TMX_N_REASON * g + m->what];
    }
    return s / (double)rec->n_gpu;
}

static double peak_memory_c(const struct tmx_run *r, const struct tmx_metric *m)
{
    const double peak_k = largest(r, m);
    return peak_k > 0 ? peak_k - TMX_ZERO_C : 0;
}

/* The smallest wait that a share of the kernels that have begun do not exceed; 0: none has, or memory is out.
 */
static double wait_s(const struct tmx_run *r, const struct tmx_metric *metric)
{
    const struct tmx_machine *m = machine(r);
    double *wait = calloc(m->n_job + 1, sizeof *wait);
    size_t n = 0;
    for (size_t j = 0; wait && j < m->n_job; j++) {
        if (m->job[j].started_s >= 0) {
            wait[n++] = m->job[j].started_s - tmx_run_arrival_s(r, &m->job[j]);
        }
    }
    const double at = n > 0 ? tmx_quantile(n, wait, metric->share) : 0;
    free(wait);
    return at;
}

/* Of a language model. */
static double latency_s(const struct tmx_run *r, const struct tmx_metric *m)
{
    return tmx_run_serve_quantile(r, (enum tmx_serve_latency)m->what, m->of, m->share);
}

static double gap_p99_s(const struct tmx_run *r)
{
    return tmx_sim_serve(r->sim) ? tmx_serve_gap_quantile_s(tmx_sim_serve(r->sim), 0.99) : 0;
}

/* How power swings: of all boards together, or of what all feeds see. */
enum { BOARDS, FEEDS };

static size_t series(const struct tmx_run *r, const struct tmx_metric *m)
{
    return m->of == FEEDS ? tmx_swing_feed(&recorder(r)->swing) : 0;
}

static double swing_w(const struct tmx_run *r, const struct tmx_metric *m)
{
    const struct tmx_swing *s = &recorder(r)->swing;
    return tmx_swing_quantile_w(s, series(r, m), 0.95) - tmx_swing_quantile_w(s, series(r, m), 0.05);
}

static double range_w(const struct tmx_run *r, const struct tmx_metric *m)
{
    return tmx_swing_range_w(&recorder(r)->swing, series(r, m));
}

static double ramp_w(const struct tmx_run *r, const struct tmx_metric *m)
{
    return tmx_swing_ramp_w(&recorder(r)->swing, series(r, m), m->what / 2, m->what % 2 > 0);
}

static double swing_band_pct(const struct tmx_run *r, const struct tmx_metric *m)
{
    double share;
    (void)tmx_swing_band_w2(&recorder(r)->swing, m->of == FEEDS, 0.1, 20, &share);
    return 100 * share;
}

static double swing_band_w(const struct tmx_run *r, const struct tmx_metric *m)
{
    return sqrt(tmx_swing_band_w2(&recorder(r)->swing, m->of == FEEDS, 0.1, 20, NULL));
}

/* What several jobs do is as many steps of all members. */
static double step_feed_kj(const struct tmx_run *r)
{
    const struct tmx_sync_job *g = machine(r)->members;
    return g && g->n_step > 0
               ? tmx_feed_sum(&r->sim->feed).wall_j / 1000 * g->spec.options.jobs / (double)g->n_step
               : 0;
}

double tmx_run_metric(const struct tmx_run *run, const struct tmx_metric *m)
{
    return m->value ? m->value(run) : m->part(run, m);
}

/* A language model has no kernels; one that is simulated without heat has no dies either. */
bool tmx_run_has_metric(const struct tmx_run *run, const struct tmx_metric *metric)
{
    const struct tmx_run_serve *s = run->serve;
    const unsigned has = (s ? TMX_NEEDS_REQUESTS : TMX_NEEDS_KERNELS) |
                         (!s || s->spec.options.heat ? TMX_NEEDS_DIES : 0u) |
                         (s && s->alone ? TMX_NEEDS_ALONE : 0u);
    return (metric->needs & ~has) == 0;
}

/* Board watts of all GPUs, mean over the counted time. */
static double gpus_w(const struct tmx_run *r)
{
    const struct tmx_recorder *rec = recorder(r);
    const struct tmx_machine *m = machine(r);
    double w = 0;
    for (size_t g = 0; g < m->n_gpu && rec->n_tick > 0; g++) {
        const struct tmx_gpu *gpu = &m->gpu[g];
        double j = rec->transition_j[g] + rec->smooth_j[g];
        for (size_t u = gpu->unit0; u < gpu->unit0 + gpu->chip->floorplan.n_unit; u++) {
            j += rec->dynamic_j[u] + rec->leakage_j[u] + rec->baseline_j[u];
        }
        w += tmx_chip_board_w(gpu->chip, j / ((double)rec->n_tick * m->tick_s));
    }
    return w;
}

static double mean_clock_hz(const struct tmx_run *r)
{
    const struct tmx_recorder *rec = recorder(r);
    const struct tmx_machine *m = machine(r);
    double hz = 0;
    for (size_t g = 0; g < m->n_gpu && rec->n_tick > 0; g++) {
        const struct tmx_chip *c = m->gpu[g].chip;
        hz +=
            rec->clock_s[g] / ((double)rec->n_tick * m->tick_s) * c->level[0].freq_hz / tmx_chip_speed(c, 0);
    }
    return hz / (double)m->n_gpu;
}

static double work_s_per_kj(const struct tmx_run *r)
{
    const struct tmx_machine *m = machine(r);
    const double j = recorder(r)->total_j;
    double work_s = 0;
    for (size_t i = 0; i < m->n_job; i++) {
        work_s += m->job[i].done_sm_s / m->job[i].chip_sms;
    }
    return j > 0 ? 1000 * work_s / j : 0;
}

/* All nodes alike at their mean load: the supply's curve is nearly straight over what nodes differ by. */
static double wall_w(const struct tmx_run *r)
{
    const struct tmx_host *h = &r->topology.host;
    const struct tmx_recorder *rec = recorder(r);
    const struct tmx_machine *m = machine(r);
    const double time_s = (double)rec->n_tick * m->tick_s, n = fmax(1, r->topology.nodes);
    double busy = 0;
    if (!h->given || rec->n_tick == 0) {
        return 0;
    }
    for (size_t g = 0; g < m->n_gpu; g++) {
        busy += m->gpu[g].busy_s / time_s / (double)m->n_gpu;
    }
    const double load_w = (gpus_w(r) + cooling(r).fan_j / time_s) / n + h->idle_w + busy * h->active_w;
    return n * tmx_host_wall_w(h, load_w);
}

static double wall_overhead_pct(const struct tmx_run *r)
{
    const double w = wall_w(r);
    return w > 0 ? 100 * (1 - gpus_w(r) / w) : 0;
}

#define LATENCY(what_, of_, share_) \
    TMX_NEEDS_REQUESTS, .part = latency_s, .what = TMX_SERVE_##what_, .of = (of_), .share = (share_)
#define SWING(of_, part_, what_) 0, .part = (part_), .what = (what_), .of = (of_), .may_lack = true
#define RISE(of_, window)        SWING(of_, ramp_w, 2 * (window))
#define FALL(of_, window)        SWING(of_, ramp_w, 2 * (window) + 1)
#define NEEDS(needs_, of_, from, field) \
    (needs_), .part = number, .of = (of_), .what = offsetof(struct from, field)
#define NUMBER(of_, from, field) NEEDS(TMX_NEEDS_DIES, of_, from, field)
#define SERVING(field)           NEEDS(TMX_NEEDS_REQUESTS, SERVED, tmx_run_serving, field)
#define ARRAY(part_, of_, field) \
    TMX_NEEDS_DIES, .part = (part_), .of = (of_), .what = offsetof(struct tmx_recorder, field)
#define DIES(name, doc, value_)                      \
    {                                                \
        name, doc, TMX_NEEDS_DIES, .value = (value_) \
    }
#define DIES_PART(part_) TMX_NEEDS_DIES, .part = (part_)
#define WAIT(share_)     DIES_PART(wait_s), .share = (share_)
#define REASON(reason)   DIES_PART(reason_s), .what = TMX_REASON_##reason
#define LATCHED_S        10 /* no throttle that works stops a clock for so long */

const struct tmx_metric tmx_metrics[] = {
    DIES("slowdown_pct", "lost share of the busy time, 1 - work / busy time", slowdown_pct),
    {"energy_j", "energy of the GPUs from the end of the warm-up", NEEDS(0, RECORDER, tmx_recorder, total_j)},
    DIES("peak_temp_c", "hottest SM at the end of any tick", peak_temp_c),
    {"gradient_c", "largest difference between two blocks of one die at one time",
     NUMBER(RECORDER, tmx_recorder, gradient_k)},
    DIES("mean_temp_c", "mean over SMs and time", mean_temp_c),
    DIES("throttled_s", "clock-gated time, mean over SMs", throttled_s),
    {"trips", "stops of an SM's clock, all SMs together", ARRAY(total, SMS, trips)},
    {"sms_gated", "SMs whose clock was ever stopped", ARRAY(n_above, SMS, trips)},
    DIES("sms_near_trip", "SMs whose sensor came within 0.5 K of the trip point", sms_near_trip),
    {"longest_gating_s", "longest time an SM's clock stayed stopped", ARRAY(largest, SMS, longest_s)},
    {"latched_sm", "SMs whose clock stayed stopped for more than 10 s", ARRAY(n_above, SMS, longest_s),
     .share = LATCHED_S},
    DIES("gating_period_s", "mean time from one stop of an SM's clock to its next; 0: no clock stopped twice",
         gating_period_s),
    DIES("below_trip_k", "trip point of the throttle minus peak_temp_c; 0: no trip point", below_trip_k),
    {"makespan_s", "from the end of the warm-up to the end of the last kernel", 0, .value = makespan_s},
    {"wait_p50_s", "from a kernel's arrival to its first block, median over kernels", WAIT(0.5)},
    {"wait_p95_s", "from a kernel's arrival to its first block, 95th percentile", WAIT(0.95)},
    {"wait_p99_s", "from a kernel's arrival to its first block, 99th percentile", WAIT(0.99)},
    {"throughput_blocks_per_s", "thread blocks retired per second of makespan", TMX_NEEDS_KERNELS,
     .value = throughput_blocks_per_s},
    {"fairness", "Jain's index over the kernels' progress rates, 1 is fair", TMX_NEEDS_KERNELS,
     .value = fairness},
    {"dynamic_j", "dynamic energy", ARRAY(total, UNITS, dynamic_j)},
    {"leakage_j", "leakage energy", ARRAY(total, UNITS, leakage_j)},
    {"baseline_j", "baseline energy", ARRAY(total, UNITS, baseline_j)},
    {"transition_j", "energy of changes of the clock level", ARRAY(total, GPUS, transition_j)},
    {"smooth_j", "energy of the dummy work of power smoothing, part of energy_j",
     ARRAY(total, GPUS, smooth_j)},
    {"gating_saved_j", "leakage energy that sleeping units did not spend", ARRAY(total, UNITS, saved_j)},
    {"fan_energy_j", "electrical energy of fans and pumps, not part of energy_j; 0 without a topology",
     NUMBER(LEDGER, tmx_cooling_ledger, fan_j)},
    DIES("board_w", "drawn by the GPUs' boards, all together, mean over time", gpus_w),
    {"peak_reported_w",
     "largest power that a board reports, a mean over sensor.power_window_s; 0: a shorter run",
     ARRAY(largest, GPUS, peak_reported_w)},
    {"power_swing_w", "swing: 95th less 5th percentile of the boards' power, all together",
     SWING(BOARDS, swing_w, 0)},
    {"power_range_w", "swing: highest less lowest tick of it", SWING(BOARDS, range_w, 0)},
    {"rise_50ms_w", "swing: largest rise of it within 50 ms", RISE(BOARDS, 0)},
    {"fall_50ms_w", "swing: largest fall within 50 ms", FALL(BOARDS, 0)},
    {"rise_1s_w", "swing: largest rise within 1 s", RISE(BOARDS, 1)},
    {"fall_1s_w", "swing: largest fall within 1 s", FALL(BOARDS, 1)},
    {"rise_10s_w", "swing: largest rise within 10 s", RISE(BOARDS, 2)},
    {"fall_10s_w", "swing: largest fall within 10 s", FALL(BOARDS, 2)},
    {"rise_60s_w", "swing: largest rise within 60 s", RISE(BOARDS, 3)},
    {"fall_60s_w", "swing: largest fall within 60 s", FALL(BOARDS, 3)},
    {"swing_band_pct", "swing: share of the spectrum's energy from 0.1 to 20 Hz, where grids object",
     SWING(BOARDS, swing_band_pct, 0)},
    {"feed_swing_w",
     "swing: 95th less 5th percentile of what all feeds see: boards, fans and hosts, less what stores give, "
     "behind supplies",
     SWING(FEEDS, swing_w, 0)},
    {"feed_range_w", "swing: highest less lowest tick of it", SWING(FEEDS, range_w, 0)},
    {"feed_rise_50ms_w", "swing: largest rise of it within 50 ms", RISE(FEEDS, 0)},
    {"feed_fall_50ms_w", "swing: largest fall within 50 ms", FALL(FEEDS, 0)},
    {"feed_rise_1s_w", "swing: largest rise within 1 s", RISE(FEEDS, 1)},
    {"feed_fall_1s_w", "swing: largest fall within 1 s", FALL(FEEDS, 1)},
    {"feed_rise_10s_w", "swing: largest rise within 10 s", RISE(FEEDS, 2)},
    {"feed_fall_10s_w", "swing: largest fall within 10 s", FALL(FEEDS, 2)},
    {"feed_rise_60s_w", "swing: largest rise within 60 s", RISE(FEEDS, 3)},
    {"feed_fall_60s_w", "swing: largest fall within 60 s", FALL(FEEDS, 3)},
    {"feed_band_w", "swing: root mean square of its part from 0.1 to 20 Hz", SWING(FEEDS, swing_band_w, 0)},
    {"feed_j", "energy drawn from all feeds", NUMBER(FEED, tmx_feed_sum, wall_j)},
    DIES("step_feed_kj", "synchronous job: of it, a step of all members", step_feed_kj),
    {"store_loss_j", "energy that the nodes' stores lose", NUMBER(FEED, tmx_feed_sum, loss_j)},
    {"store_charge_j", "change of their charge", NUMBER(FEED, tmx_feed_sum, charge_j)},
    DIES("mean_clock_hz",
         "clock of the SMs, mean over GPUs and time; rests and a slowdown's left-out pulses count, stops of "
         "the "
         "throttle do not",
         mean_clock_hz),
    DIES("work_s_per_kj",
         "work that is done, in seconds of a whole GPU at its nominal clock, for a kilojoule of energy_j",
         work_s_per_kj),
    DIES("wall_w",
         "drawn from the wall: GPUs' boards, fans, host and losses of supplies, mean over time; 0 without a "
         "host",
         wall_w),
    DIES("wall_overhead_pct", "share of wall_w that the GPUs' boards do not draw", wall_overhead_pct),
    DIES("mean_rpm",
         "speed of the fans, mean over fans and time; 0 without a topology or where it is not known",
         mean_rpm),
    DIES("peak_noise_dba", "highest noise of all fans together; 0 if no fan turns or has a known noise",
         peak_noise_dba),
    DIES(
        "loop_gain",
        "rise of the mean SM per watt times leakage per kelvin at the trip point; from 1 on: no steady state",
        loop_gain),
    DIES("mean_inlet_c", "air the GPUs breathe, mean over GPUs and time", mean_inlet_c),
    {"remote_cost", "cost of the link between the GPUs, relative to link T3",
     NUMBER(MACHINE, tmx_machine, remote_cost)},
    {"exhaust_j", "enthalpy that left the chassis above room air; 0 without a topology",
     NUMBER(LEDGER, tmx_cooling_ledger, exhaust_j)},
    {"gate_asleep_error_points",
     "unit gating: largest error of interpolated asleep time against fresh cycle-level runs", TMX_NEEDS_DIES,
     .part = tmx_run_gate_points, .what = 0},
    {"gate_slowdown_error_points",
     "unit gating: largest error of interpolated slowdown against fresh cycle-level runs", TMX_NEEDS_DIES,
     .part = tmx_run_gate_points, .what = 1},
    {"step_time_s", "synchronous job: time of a step, mean", DIES_PART(step_s)},
    {"step_p99_s", "synchronous job: 99th percentile of the step times", DIES_PART(step_s), .share = 0.99},
    DIES("wait_pct", "synchronous job: time that members wait for the last one, mean over members", wait_pct),
    {"gpu_idle_s", "dtm boost: time at the slowest clock with nothing to run, mean over GPUs",
     REASON(GPU_IDLE)},
    {"sw_power_cap_s", "dtm boost: time slowed by the power cap, mean over GPUs; reasons overlap",
     REASON(SW_POWER_CAP)},
    {"sw_thermal_slowdown_s",
     "dtm boost: time slowed by the target temperature or the memory's limit, mean over GPUs; reasons "
     "overlap",
     REASON(SW_THERMAL_SLOWDOWN)},
    {"hw_thermal_slowdown_s",
     "dtm boost: time at half the clock or less, for heat, mean over GPUs; reasons overlap",
     REASON(HW_THERMAL_SLOWDOWN)},
    {"memory_limit_s", "dtm boost: the part of sw_thermal_slowdown_s that is the memory's",
     REASON(MEMORY_LIMIT)},
    {"peak_memory_c", "hottest memory stack at the end of any tick; 0: none in the floorplan",
     ARRAY(peak_memory_c, GPUS, memory_k)},
    {"ttft_p50_s", "serving: from arrival to the first token, median", LATENCY(TTFT, -1, 0.5)},
    {"ttft_p90_s", "serving: from arrival to the first token, 90th percentile", LATENCY(TTFT, -1, 0.9)},
    {"ttft_p99_s", "serving: from arrival to the first token, 99th percentile", LATENCY(TTFT, -1, 0.99)},
    {"tbt_p50_s", "serving: mean time between a request's tokens, median", LATENCY(TBT, -1, 0.5)},
    {"tbt_p90_s", "serving: mean time between a request's tokens, 90th percentile", LATENCY(TBT, -1, 0.9)},
    {"tbt_p99_s", "serving: mean time between a request's tokens, 99th percentile", LATENCY(TBT, -1, 0.99)},
    {"e2e_p50_s", "serving: from arrival to the last token, median", LATENCY(E2E, -1, 0.5)},
    {"e2e_p90_s", "serving: from arrival to the last token, 90th percentile", LATENCY(E2E, -1, 0.9)},
    {"e2e_p99_s", "serving: from arrival to the last token, 99th percentile", LATENCY(E2E, -1, 0.99)},
    {"ttft_p50_high_s", "serving: ttft_p50_s of high priority", LATENCY(TTFT, 0, 0.5)},
    {"ttft_p99_high_s", "serving: ttft_p99_s of high priority", LATENCY(TTFT, 0, 0.99)},
    {"tbt_p50_high_s", "serving: tbt_p50_s of high priority", LATENCY(TBT, 0, 0.5)},
    {"tbt_p99_high_s", "serving: tbt_p99_s of high priority", LATENCY(TBT, 0, 0.99)},
    {"e2e_p50_high_s", "serving: e2e_p50_s of high priority", LATENCY(E2E, 0, 0.5)},
    {"e2e_p99_high_s", "serving: e2e_p99_s of high priority", LATENCY(E2E, 0, 0.99)},
    {"ttft_p50_low_s", "serving: ttft_p50_s of low priority", LATENCY(TTFT, 1, 0.5)},
    {"ttft_p99_low_s", "serving: ttft_p99_s of low priority", LATENCY(TTFT, 1, 0.99)},
    {"tbt_p50_low_s", "serving: tbt_p50_s of low priority", LATENCY(TBT, 1, 0.5)},
    {"tbt_p99_low_s", "serving: tbt_p99_s of low priority", LATENCY(TBT, 1, 0.99)},
    {"e2e_p50_low_s", "serving: e2e_p50_s of low priority", LATENCY(E2E, 1, 0.5)},
    {"e2e_p99_low_s", "serving: e2e_p99_s of low priority", LATENCY(E2E, 1, 0.99)},
    {"requests_done", "serving: requests with their last token", SERVING(requests_done)},
    {"tokens_per_s", "serving: output tokens a second up to the last one", SERVING(tokens_per_s)},
    {"j_per_token", "serving: energy of the GPUs for each output token", SERVING(j_per_token)},
    {"node_j_per_token", "serving: the same with the nodes beside them", SERVING(node_j_per_token)},
    {"prompt_pct", "serving: time in iterations with prompts, mean over instances", SERVING(prompt_pct)},
    {"serving_pct", "serving: time in iterations, mean over instances", SERVING(serving_pct)},
    {"active_few_pct", "serving: of the time in iterations, with at most 20 active tokens",
     SERVING(active_few_pct)},
    {"active_one_pct", "serving: of the time in iterations, with one active token", SERVING(active_one_pct)},
    {"gap_p99_s", "serving: between two tokens of a request, 99th percentile over all", TMX_NEEDS_REQUESTS,
     .value = gap_p99_s},
    {"goodput_pct", "serving: requests within all of serve.limits", TMX_NEEDS_REQUESTS,
     .value = tmx_run_goodput_pct},
    {"limits_ratio",
     "serving: slowdown over its limit, the largest of Splitwise's nine; at most 1: all are met",
     TMX_NEEDS_REQUESTS | TMX_NEEDS_ALONE, .value = tmx_run_limits_ratio},
    {"row_peak_w", "serving: largest power of a row between two telemetries", SERVING(row_peak_w)},
    {"row_mean_w", "serving: mean power of the row that draws most", SERVING(row_mean_w)},
    {"row_rise_2s_w", "serving: largest rise of a row's power in 2 s", SERVING(row_rise_2s_w)},
    {"row_rise_40s_w", "serving: largest rise of a row's power in 40 s", SERVING(row_rise_40s_w)},
    {"capped_high_s",
     "serving: time that the row's policy limits the clock, mean over instances of high priority",
     SERVING(capped_high_s)},
    {"capped_low_s", "serving: the same of low priority", SERVING(capped_low_s)},
    {"brakes", "serving: times that a row asked for its power brake", SERVING(brakes)},
    {"brake_s", "serving: time under the power brake, mean over instances", SERVING(brake_s)},
    {"beyond_fit",
     "serving: requests with a prompt, an output or a batch beyond the rows behind the model's fit",
     SERVING(beyond_fit)},
    {"beyond_prompt_x", "serving: largest prompt of an iteration, of the largest behind the fit",
     SERVING(beyond_prompt_x)},
    {"beyond_batch_x", "serving: largest batch of an iteration, of the largest behind the fit",
     SERVING(beyond_batch_x)},
    {0},
};

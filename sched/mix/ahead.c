/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sched/mix/ahead.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

#include "sched/mix/tabs.h"

void tmx_ahead_sms(const struct tmx_chip *c, const double *unit_k, double *sm_k)
{
    for (size_t s = 0; s < c->n_sm; s++) {
        sm_k[s] = 0;
    }
    for (size_t u = 0; u < c->floorplan.n_unit; u++) {
        if (c->sm_of_unit[u] != TMX_NO_SM) {
            sm_k[c->sm_of_unit[u]] += c->part_share[u] * unit_k[u];
        }
    }
}

double tmx_ahead_leak(const struct tmx_outlook *look, size_t n, const size_t *job, double share)
{
    const double first = n > 0 ? tmx_job_leak(&look->job[job[0]]) : 1,
                 second = n > 1 ? tmx_job_leak(&look->job[job[1]]) : first;
    return second + share * (first - second);
}

double tmx_ahead_volt(const struct tmx_chip *c, size_t level)
{
    return c->power.dvfs_leakage ? tmx_chip_volt(c, level) : 1;
}

double tmx_ahead_power(const struct tmx_chip *c, size_t level, double waits)
{
    const double volt = tmx_chip_volt(c, level), speed = tmx_chip_speed(c, level);
    return (speed + waits * (1 - speed)) * (c->power.dvfs_power == TMX_DVFS_V2F ? volt * volt : 1);
}

double tmx_ahead_settle(const struct tmx_outlook *look, double work, const double *dyn_w, double leak,
                        double *power_w, double *unit_k, double *sm_k)
{
    const struct tmx_forecast *f = look->forecast;
    double peak_k = 0;
    look->still.factors(look->still.table, f->modes.n_unit, unit_k, power_w);
    for (size_t u = 0; u < f->modes.n_unit; u++) {
        power_w[u] = look->still.baseline_w[u] + work * dyn_w[u] + leak * look->still.leak_w[u] * power_w[u];
        unit_k[u] = f->modes.ambient_k;
    }
    tmx_forecast_add(f, f->steady, 1, (const double *const[]){power_w}, &unit_k);
    tmx_ahead_sms(look->chip, unit_k, sm_k);
    for (size_t s = 0; s < look->chip->n_sm; s++) {
        peak_k = fmax(peak_k, sm_k[s]);
    }
    return peak_k;
}

/* Hottest SM with watt on each SM, for ever; INFINITY where the leakage runs away. */
static double steady_peak_k(const struct tmx_outlook *look, double watt, double volt, double leak_scale,
                            double *power_w, double *unit_k, double *sm_k)
{
    enum { ROUNDS = 300 };
    const double far_k = 600, near_k = 1e-3;
    double move_k = far_k, peak_k = 0;
    for (size_t u = 0; u < look->forecast->modes.n_unit; u++) {
        unit_k[u] = look->forecast->modes.ambient_k;
    }
    for (int round = 0; round < ROUNDS && move_k > near_k && peak_k < far_k; round++) {
        const double before_k = peak_k;
        peak_k =
            tmx_ahead_settle(look, watt, look->chip->part_share, volt * leak_scale, power_w, unit_k, sm_k);
        move_k = fabs(peak_k - before_k);
    }
    return move_k <= near_k && peak_k < far_k ? peak_k : INFINITY;
}

double tmx_ahead_hold_k(const struct tmx_outlook *look, double limit_k, double volt, double leak_scale,
                        double *power_w, double *unit_k, double *sm_k)
{
    enum { HALVINGS = 20 };
    double low_w = 0, high_w = 1, best_k = 0;
    bool limited = false;
    if (!isfinite(limit_k)) {
        return limit_k;
    }
    while (steady_peak_k(look, high_w, volt, leak_scale, power_w, unit_k, sm_k) < limit_k) {
        high_w *= 2;
    }
    for (int i = 0; i < HALVINGS; i++) {
        const double watt = (low_w + high_w) / 2,
                     peak_k = steady_peak_k(look, watt, volt, leak_scale, power_w, unit_k, sm_k);
        if (peak_k < limit_k) {
            low_w = watt;
            best_k = peak_k;
        } else {
            high_w = watt;
            limited = isfinite(peak_k);
        }
    }
    return limited || best_k == 0 ? limit_k : best_k;
}

static double clip(double v, double low, double high)
{
    return v < low ? low : v > high ? high : v;
}

/* Where the hot kernel of two runs: more on the cool SMs, less on the hot ones, the mean as wanted.
 *   g_s += gain (mean T - T_s) / max(0.05 W, difference of power on an SM),  in [-1, 1]
 *   x_s  = clip(X + g_s + nu, 0, 1),  nu so that mean x = X
 * Feedback on temperatures alone: no model, no oscillation as long as gain is far below what a watt does.
 * temp_k, g, x: [n] by SM; x receives the share of the hot kernel. */
static void equalise(size_t n, double share, double gain, double difference_w, const double *temp_k,
                     double *g, double *x)
{
    enum { TRIES = 40 };
    const double near = 1e-9;
    double mean_k = 0, low = share - 2, high = share + 2, centre = share; /* there every x is 0, or 1 */
    for (size_t s = 0; s < n; s++) {
        mean_k += temp_k[s];
    }
    mean_k /= (double)n;
    for (size_t s = 0; s < n; s++) {
        g[s] = clip(g[s] + gain * (mean_k - temp_k[s]) / fmax(0.05, difference_w), -1, 1);
    }
    for (int i = 0; i < TRIES; i++) { /* the mean is straight between the centres where an x meets 0 or 1 */
        size_t n_free = 0;            /* how many would follow the centre */
        double sum = 0;
        for (size_t s = 0; s < n; s++) {
            const double wanted = centre + g[s];
            x[s] = clip(wanted, 0, 1);
            n_free += x[s] == wanted;
            sum += x[s];
        }
        const double off = sum / (double)n - share;
        if (fabs(off) <= near) {
            break;
        }
        low = off < 0 ? centre : low;
        high = off < 0 ? high : centre;
        const double next = n_free > 0 ? centre - off * (double)n / (double)n_free : low;
        centre = next > low && next < high ? next : (low + high) / 2;
    }
}

/* What a job draws on one SM, as the stat table has it by its kernel; a kernel that has not run yet counts
 * as the hottest known, and where none is, as what the chip's equation 1 allows at most. */
static double believed_w(const struct tmx_ahead *o, const struct tmx_view *view, size_t gpu, size_t job)
{
    const struct tmx_outlook *look = &view->outlook[gpu];
    const struct tmx_job_view *wanted = view->node->jobs[job];
    double w = wanted->pdi_valid ? wanted->pdi_w : 0, most_w = 0;
    bool known = wanted->pdi_valid;
    for (size_t j = 0; j < view->node->n_arrived && !known; j++) {
        const struct tmx_job_view *other = view->node->jobs[j];
        known = other->pdi_valid && other->kernel == wanted->kernel;
        w = known ? other->pdi_w : other->pdi_valid ? fmax(w, other->pdi_w) : w;
    }
    for (int part = 0; part < TMX_N_PART && w == 0; part++) {
        most_w += look->chip->power.max_power_w[part];
    }
    return o->power_scale * look->power_scale * (w == 0 ? most_w : w);
}

void tmx_ahead_mix(const struct tmx_ahead *o, const struct tmx_view *view, size_t gpu,
                   struct tmx_gpu_request *r)
{
    const struct tmx_tabs rule = {.window = o->window};
    const struct tmx_gpu_view *hw = view->node->gpus[gpu];
    if (hw->n_run == 1) {
        r->admit = tmx_tabs_candidate(&rule, view->node, hw, false);
        r->share = r->admit == TMX_NO_JOB ? r->share : 0.5;
    }
}

double tmx_ahead_work(const struct tmx_ahead *o, const struct tmx_view *view, size_t gpu,
                      const struct tmx_gpu_request *r, const double *sm_k, double *g, double *x,
                      double *dyn_w, double *leak)
{
    const struct tmx_gpu_view *hw = view->node->gpus[gpu];
    const struct tmx_chip *c = view->outlook[gpu].chip;
    double w[TMX_SLOTS + 1] = {0}, sum_w = 0, waits_w = 0;
    size_t n = hw->n_run, job[TMX_SLOTS + 1];
    memcpy(job, hw->run, n * sizeof *job);
    if (hw->n_run == 0 && hw->n_queue > 0) {
        job[n++] = hw->queue[0];
    } else if (r->admit != TMX_NO_JOB) {
        job[n++] = r->admit;
    }
    for (size_t k = 0; k < n; k++) {
        const double of = n != 2 ? 1 : k == 0 ? r->share : 1 - r->share;
        w[k] = believed_w(o, view, gpu, job[k]);
        sum_w += of * w[k];
        waits_w += of * w[k] * view->outlook[gpu].waits[job[k]];
    }
    *leak = tmx_ahead_leak(&view->outlook[gpu], n, job, r->share);
    const bool first_is_hot = w[0] >= w[1];
    const double hot_w = fmax(w[0], w[1]), cold_w = fmin(w[0], w[1]);
    const double share = n < 2 ? 1 : first_is_hot ? r->share : 1 - r->share;
    if (n == 2 && o->place) {
        equalise(c->n_sm, share, o->place_gain, hot_w - cold_w, sm_k, g, x);
    } else {
        for (size_t s = 0; s < c->n_sm; s++) {
            x[s] = share;
        }
    }
    for (size_t u = 0; u < c->floorplan.n_unit; u++) {
        const int s = c->sm_of_unit[u];
        dyn_w[u] = s == TMX_NO_SM || n == 0 || view->outlook[gpu].gated[s]
                       ? 0
                       : c->part_share[u] * (x[s] * hot_w + (1 - x[s]) * (n == 2 ? cold_w : 0));
    }
    return sum_w > 0 ? waits_w / sum_w : 0;
}

void tmx_ahead_spread(const void *state, const struct tmx_spread *s, double *share0)
{
    (void)state;
    for (size_t i = 0; i < s->n; i++) {
        const double hot = s->memory ? s->memory[s->sm0 + s->by_index[i]] : s->share;
        share0[s->by_index[i]] = s->first_is_hot || !s->memory ? hot : 1 - hot;
    }
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "core/sim/stage/answers.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

void tmx_answer_place(const struct tmx_plugin *policy, const struct tmx_place *p, const struct tmx_machine *m,
                      size_t job, struct tmx_err *err)
{
    if (p->n > 0 && (p->n > m->n_gpu || p->home > m->n_gpu - p->n)) {
        tmx_error(err, TMX_ESOLVE, "place policy %s: GPUs %zu and %zu more for job %zu, of a node with %zu",
                  policy->name, p->home, p->n - 1, job, m->n_gpu);
    }
}

void tmx_answer_wider(const struct tmx_plugin *policy, const struct tmx_place *p, const struct tmx_machine *m,
                      size_t job, struct tmx_err *err)
{
    const struct tmx_job *j = &m->job[job];
    tmx_answer_place(policy, p, m, job, err);
    if (p->n > 0 && (p->home > j->home_gpu || p->home + p->n < j->home_gpu + j->n_gpu)) {
        tmx_error(err, TMX_ESOLVE, "place policy %s: GPUs %zu to %zu for job %zu leave out one it runs on",
                  policy->name, p->home, p->home + p->n - 1, job);
    }
}

void tmx_answer_order(const struct tmx_plugin *policy, const size_t *order, size_t n_sm, size_t gpu,
                      double *scratch, struct tmx_err *err)
{
    for (size_t i = 0; i < n_sm; i++) {
        scratch[i] = 0;
    }
    for (size_t i = 0; i < n_sm; i++) {
        if (order[i] >= n_sm || scratch[order[i]] > 0) {
            tmx_error(err, TMX_ESOLVE,
                      "thread-block policy %s: the order of GPU %zu names SM %zu %s; it has SMs 0 to %zu",
                      policy->name, gpu, order[i], order[i] < n_sm ? "twice" : "that it has not", n_sm - 1);
            return;
        }
        scratch[order[i]] = 1;
    }
}

static bool is_share(double x)
{
    return x >= 0 && x <= 1; /* false for what is no number */
}

void tmx_answer_levels(const char *kind, const struct tmx_plugin *policy, const struct tmx_request *r,
                       const struct tmx_machine *m, struct tmx_err *err)
{
    for (size_t g = 0; g < m->n_gpu; g++) {
        const struct tmx_gpu_request *q = &r->gpu[g];
        const size_t n_level = m->gpu[g].n_level, n_sm = m->gpu[g].chip->n_sm;
        if (q->level >= n_level || q->late_level >= n_level) {
            tmx_error(err, TMX_ESOLVE, "%s policy %s: clock level %zu on GPU %zu, expected 0 to %zu", kind,
                      policy->name, q->level >= n_level ? q->level : q->late_level, g, n_level - 1);
        }
        if (q->n_active < 1 || q->n_active > n_sm) {
            tmx_error(err, TMX_ESOLVE, "%s policy %s: %zu active SMs on GPU %zu, expected 1 to %zu", kind,
                      policy->name, q->n_active, g, n_sm);
        }
    }
}

void tmx_answer_mix(const struct tmx_plugin *policy, const struct tmx_request *r, const struct tmx_machine *m,
                    bool kept, struct tmx_err *err)
{
    for (size_t g = 0; g < m->n_gpu; g++) {
        if (!is_share(r->gpu[g].share)) {
            tmx_error(err, TMX_ESOLVE, "mix policy %s: a share of %g on GPU %zu, expected 0 to 1",
                      policy->name, r->gpu[g].share, g);
        }
        if (!is_share(r->gpu[g].rest) || !(r->gpu[g].late_s >= 0)) {
            tmx_error(err, TMX_ESOLVE,
                      "mix policy %s: rest = %g, late_s = %g s on GPU %zu, expected 0 to 1 and 0 or more",
                      policy->name, r->gpu[g].rest, r->gpu[g].late_s, g);
        }
        double parts = 0;
        for (size_t k = 0; k < r->gpu[g].n_part && k < TMX_SLOTS; k++) {
            parts += r->gpu[g].part[k];
            if (!is_share(r->gpu[g].part[k])) {
                parts = NAN;
            }
        }
        if (r->gpu[g].n_part > TMX_SLOTS || !(parts <= 1 + 1e-9)) {
            tmx_error(
                err, TMX_ESOLVE,
                "mix policy %s: %zu parts of GPU %zu that add up to %g, expected up to %d of 0 to 1, in "
                "all at most 1",
                policy->name, r->gpu[g].n_part, g, parts, (int)TMX_SLOTS);
        }
        if (r->gpu[g].admit != TMX_NO_JOB && r->gpu[g].admit >= m->n_job) {
            tmx_error(err, TMX_ESOLVE, "mix policy %s: job %zu for GPU %zu, there are %zu", policy->name,
                      r->gpu[g].admit, g, m->n_job);
        }
    }
    tmx_answer_levels("mix", policy, r, m, err);
    for (size_t g = 0; g < m->n_gpu; g++) {
        const double cap_w = r->gpu[g].power_cap_w;
        if (!(cap_w > 0)) {
            tmx_error(err, TMX_ESOLVE, "mix policy %s: power_cap_w = %g on GPU %zu, expected more than 0",
                      policy->name, cap_w, g);
        }
        if (!kept && cap_w < INFINITY) {
            tmx_error(err, TMX_ESOLVE,
                      "mix policy %s: a power cap of %g W on GPU %zu, but no dtm policy of this run "
                      "keeps caps; there is dtm = { policy = \"boost\"; }",
                      policy->name, cap_w, g);
        }
    }
}

static double lifetime_s(const struct tmx_machine *m, const struct tmx_gpu *gpu, size_t kernel_slot)
{
    const struct tmx_job *j = kernel_slot < gpu->n_run ? &m->job[gpu->run[kernel_slot]] : NULL;
    return j ? j->lifetime_s * tmx_job_slowdown(j) / gpu->speed_scale : 0;
}

/* New shares of one SM; when they differ, the kernel slot that shrinks drains for one block lifetime. */
static void set_share(struct tmx_machine *m, struct tmx_gpu *gpu, size_t sm, double s0, double s1)
{
    double *first = &m->share[gpu->sm0 + sm], *second = first + m->n_sm;
    if (fabs(*first - s0) <= m->share_round_off && fabs(*second - s1) <= m->share_round_off) {
        return;
    }
    m->drain_s[gpu->sm0 + sm] = lifetime_s(m, gpu, s0 < *first ? 0 : 1);
    *first = s0;
    *second = s1;
    gpu->steady = false;
}

static size_t width(const struct tmx_machine *m, const struct tmx_gpu *gpu, size_t kernel_slot)
{
    const size_t w = m->job[gpu->run[kernel_slot]].width_sms;
    return w < gpu->n_active ? w : gpu->n_active;
}

/* Are these the shares already, as within a time slice? */
static bool holds(const struct tmx_machine *m, const struct tmx_gpu *gpu, const double *share0)
{
    const double *first = &m->share[gpu->sm0], *second = first + m->n_sm;
    uint64_t differ = 0;
    for (size_t sm = 0; sm < gpu->n_sm; sm++) { /* bits, which no compiler needs a branch for */
        const double want[2] = {share0[sm], 1 - share0[sm]}, held[2] = {first[sm], second[sm]};
        uint64_t a[2], b[2];
        memcpy(a, want, sizeof a);
        memcpy(b, held, sizeof b);
        differ |= (a[0] ^ b[0]) | (a[1] ^ b[1]);
    }
    return differ == 0;
}

static struct tmx_spread question(const struct tmx_machine *m, const struct tmx_gpu *gpu, double begin_s,
                                  double end_s)
{
    return (struct tmx_spread){
        .n = gpu->n_active,
        .by_index = gpu->active,
        .hot_order = gpu->active_hot,
        .share = gpu->share,
        .first_is_hot = m->job[gpu->run[0]].pdi_w >= m->job[gpu->run[1]].pdi_w,
        .begin_s = begin_s,
        .end_s = end_s,
        .sm0 = gpu->sm0,
        .memory = m->mix_memory,
    };
}

static void spread_mixed(struct tmx_machine *m, struct tmx_gpu *gpu, const struct tmx_mix_policy *mix,
                         const void *state, double begin_s, double *share0, struct tmx_err *err)
{
    const size_t n = gpu->chip->n_sm;
    const struct tmx_spread s = question(m, gpu, begin_s, begin_s + m->dt_s);
    if (mix->spread) {
        mix->spread(state, &s, share0);
        if (s.n == n && holds(m, gpu, share0)) {
            return;
        }
    }
    for (size_t i = 0; i < s.n; i++) {
        const size_t sm = s.by_index[i];
        share0[sm] = mix->spread ? share0[sm] : s.share;
        if (!is_share(share0[sm])) {
            tmx_error(err, TMX_ESOLVE,
                      "mix policy %s: spread gives SM %zu of GPU %zu a share of %g, expected 0 to 1",
                      mix->base.name, sm, (size_t)(gpu - m->gpu), share0[sm]);
            return;
        }
    }
    for (size_t sm = 0, k = 0; sm < n; sm++) {
        const bool works = s.n == n || (k < s.n && s.by_index[k] == sm);
        set_share(m, gpu, sm, works ? share0[sm] : 0, works ? 1 - share0[sm] : 0);
        k += works;
    }
}

/* Parts of every SM, one a kernel; what a narrow kernel cannot fill stays free. */
static void spread_parts(struct tmx_machine *m, struct tmx_gpu *gpu)
{
    double want[TMX_SLOTS] = {0};
    for (size_t k = 0; k < gpu->n_run && k < gpu->n_part; k++) {
        const double fills = (double)width(m, gpu, k) / (double)gpu->n_active;
        want[k] = gpu->part[k] < fills ? gpu->part[k] : fills;
    }
    for (size_t sm = 0, a = 0; sm < gpu->chip->n_sm; sm++) {
        const bool works = a < gpu->n_active && gpu->active[a] == sm;
        double drain_s = 0;
        bool differ = false;
        a += works;
        for (size_t k = 0; k < tmx_machine_kernel_slots(gpu); k++) {
            double *share = &m->share[tmx_machine_at(m, gpu->sm0 + sm, k)];
            const double w = works ? want[k] : 0;
            differ = differ || w != *share;
            drain_s = w < *share && lifetime_s(m, gpu, k) > drain_s ? lifetime_s(m, gpu, k) : drain_s;
            *share = w;
        }
        m->drain_s[gpu->sm0 + sm] = differ ? drain_s : m->drain_s[gpu->sm0 + sm];
        gpu->steady = gpu->steady && !differ;
        for (size_t k = 0; differ && drain_s == 0 && k < tmx_machine_kernel_slots(gpu);
             k++) { /* free slots fill at once */
            const size_t i = tmx_machine_at(m, gpu->sm0 + sm, k);
            m->held[i] = m->share[i];
        }
    }
}

void tmx_dispatch(struct tmx_machine *m, struct tmx_gpus span, const struct tmx_mix_policy *mix,
                  const void *mix_state, double begin_s, double *scratch, struct tmx_err *err)
{
    for (size_t g = span.first; g < span.end && !err->code; g++) {
        struct tmx_gpu *gpu = &m->gpu[g];
        if (gpu->dealt) {
            continue;
        }
        const size_t w0 = gpu->n_run > 0 ? width(m, gpu, 0) : 0, w1 = gpu->n_run > 1 ? width(m, gpu, 1) : 0;
        gpu->dealt = true;
        if (gpu->n_part > 0) {
            spread_parts(m, gpu);
        } else if (gpu->n_run < 2 || w0 + w1 <= gpu->n_active) {
            for (size_t i = 0; i < gpu->chip->n_sm; i++) { /* in the order of the thread-block policy */
                const bool first = i < w0, second = !first && i < w0 + w1 && i < gpu->n_active;
                set_share(m, gpu, gpu->order[i], first, second);
            }
        } else {
            gpu->dealt = !mix->slice_s; /* else the next tick may be another kernel's */
            spread_mixed(m, gpu, mix, mix_state, begin_s, scratch, err);
        }
    }
}

/* Are the shares over n ticks from tick on those that SMs have? */
static bool keeps(const struct tmx_machine *m, const struct tmx_gpu *gpu, const struct tmx_mix_policy *mix,
                  const void *mix_state, uint64_t tick, uint64_t n, double *share0)
{
    const struct tmx_spread s = question(m, gpu, (double)tick * m->tick_s, (double)(tick + n) * m->tick_s);
    mix->spread(mix_state, &s, share0);
    for (size_t i = 0; i < s.n; i++) {
        const size_t sm = s.by_index[i];
        if (fabs(share0[sm] - m->share[gpu->sm0 + sm]) > m->share_round_off) {
            return false;
        }
    }
    return true;
}

uint64_t tmx_dispatch_ticks(const struct tmx_machine *m, size_t g, const struct tmx_mix_policy *mix,
                            const void *mix_state, uint64_t tick, uint64_t most, double *scratch)
{
    const struct tmx_gpu *gpu = &m->gpu[g];
    const double slice = mix->slice_s ? round(mix->slice_s(mix_state) / m->tick_s) : 0;
    if (gpu->dealt || !(slice >= 1) || !mix->spread) { /* below one: a tick averages over slices */
        return most;
    }
    const uint64_t turn = (uint64_t)slice, left = turn - tick % turn;
    uint64_t high = left < most ? left : most, low = 1;
    if (!mix->turns || keeps(m, gpu, mix, mix_state, tick, high, scratch)) {
        return high;
    }
    while (high - low > 1) { /* kernels change inside the slice: after low ticks, before high */
        const uint64_t mid = low + (high - low) / 2;
        if (keeps(m, gpu, mix, mix_state, tick, mid, scratch)) {
            low = mid;
        } else {
            high = mid;
        }
    }
    return low;
}

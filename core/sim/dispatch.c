/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "core/sim/dispatch.h"

#include <stdint.h>
#include <string.h>

#include "core/sim/answers.h"

static double lifetime_s(const struct tmx_machine *m, const struct tmx_gpu *gpu, size_t kernel_slot)
{
    const struct tmx_job *j = kernel_slot < gpu->n_run ? &m->job[gpu->run[kernel_slot]] : NULL;
    return j ? j->lifetime_s * tmx_job_slowdown(j) : 0;
}

/* New shares of one SM; when they differ, the way that shrinks drains for one block lifetime. */
static void set_share(struct tmx_machine *m, struct tmx_gpu *gpu, size_t sm, double s0, double s1)
{
    double *first = &m->share[gpu->sm0 + sm], *second = first + m->n_sm;
    if (*first == s0 && *second == s1) {
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

/* Kernels that do not fill the chip take SMs in the order of the thread-block policy. */
static void spread_narrow(struct tmx_machine *m, struct tmx_gpu *gpu, size_t w0, size_t w1)
{
    for (size_t i = 0; i < gpu->chip->n_sm; i++) {
        const bool first = i < w0, second = !first && i < w0 + w1 && i < gpu->n_active;
        set_share(m, gpu, gpu->order[i], first, second);
    }
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

static enum tmx_status spread_mixed(struct tmx_machine *m, struct tmx_gpu *gpu,
                                    const struct tmx_mix_policy *mix, const void *state, double begin_s,
                                    double *share0, struct tmx_err *err)
{
    const size_t n = gpu->chip->n_sm;
    const struct tmx_spread s = {
        .n = gpu->n_active,
        .by_index = gpu->active,
        .hot_order = gpu->active_hot,
        .share = gpu->share,
        .first_is_hot = m->job[gpu->run[0]].pdi_w >= m->job[gpu->run[1]].pdi_w,
        .begin_s = begin_s,
        .end_s = begin_s + m->dt_s,
        .sm0 = gpu->sm0,
        .memory = m->mix_memory,
    };
    if (mix->spread) {
        mix->spread(state, &s, share0);
        if (s.n == n && holds(m, gpu, share0)) {
            return TMX_OK;
        }
        for (size_t i = 0; i < s.n; i++) {
            const size_t sm = s.by_index[i];
            if (!(share0[sm] >= 0 && share0[sm] <= 1)) {
                return tmx_answer_share(&mix->base, share0[sm], (size_t)(gpu - m->gpu), sm, err);
            }
        }
    } else {
        for (size_t i = 0; i < s.n; i++) {
            share0[s.by_index[i]] = s.share;
        }
    }
    if (s.n < n) {
        for (size_t sm = 0, k = 0; sm < n; sm++) {
            const bool works = k < s.n && s.by_index[k] == sm;
            set_share(m, gpu, sm, works ? share0[sm] : 0, works ? 1 - share0[sm] : 0);
            k += works;
        }
        return TMX_OK;
    }
    for (size_t sm = 0; sm < n; sm++) {
        set_share(m, gpu, sm, share0[sm], 1 - share0[sm]);
    }
    return TMX_OK;
}

/* Parts of every SM, one a kernel; what a narrow kernel cannot fill stays free. */
static void spread_parts(struct tmx_machine *m, struct tmx_gpu *gpu)
{
    double want[TMX_WAYS] = {0};
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

static enum tmx_status deal(struct tmx_machine *m, struct tmx_gpu *gpu, const struct tmx_mix_policy *mix,
                            const void *mix_state, double begin_s, double *scratch, struct tmx_err *err)
{
    const size_t w0 = gpu->n_run > 0 ? width(m, gpu, 0) : 0, w1 = gpu->n_run > 1 ? width(m, gpu, 1) : 0;
    gpu->dealt = true;
    if (gpu->n_part > 0) {
        spread_parts(m, gpu);
    } else if (gpu->n_run < 2 || w0 + w1 <= gpu->n_active) {
        spread_narrow(m, gpu, w0, w1);
    } else {
        gpu->dealt = !mix->slice_s; /* else the next tick may be another kernel's */
        return spread_mixed(m, gpu, mix, mix_state, begin_s, scratch, err);
    }
    return TMX_OK;
}

enum tmx_status tmx_dispatch(struct tmx_machine *m, struct tmx_gpus span, const struct tmx_mix_policy *mix,
                             const void *mix_state, double begin_s, double *scratch, struct tmx_err *err)
{
    enum tmx_status st = TMX_OK;
    for (size_t g = span.first; g < span.end && !st; g++) {
        if (!m->gpu[g].dealt) {
            st = deal(m, &m->gpu[g], mix, mix_state, begin_s, scratch, err);
        }
    }
    return st;
}

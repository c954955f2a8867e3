/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sched/mix/tabs.h"

#include <math.h>

#include <thermix/policy.h>

#include "sched/policies.h"

static const char *const admissions[] = {"proactive", "reactive", NULL};
static const char *const places[] = {"thermal", "corners", NULL};

const struct tmx_opt tmx_tabs_opts[] = {
    /* The paper names no thresholds for its rules. The defaults are readings of the set of constants that
     * chip gtx280 has (docs/notes/tabs.md): one pair of thresholds for DVFS and all of T^ABS, dvfs_beside,
     * places. */
    TMX_ROW_REAL(tmx_tabs, emergency_c, "degC", 0, 300, 88.7,
                 "hottest sensor at or above this is an emergency"),
    TMX_ROW_REAL(tmx_tabs, release_c, "degC", 0, 300, 86.6, "below this temperature the measures are undone"),
    TMX_ROW_REAL(tmx_tabs, initial_share, "1", 0.01, 0.5, 0.05,
                 "initial share of a kernel that is mixed in during an emergency"),
    TMX_ROW_REAL(tmx_tabs, step, "1", 0.001, 0.5, 0.05, "change of the shares per scheduling tick"),
    TMX_ROW_REAL(tmx_tabs, first_floor, "1", 0, 1, 0.5, "least share of the hotter kernel if it came first"),
    TMX_ROW_REAL(tmx_tabs, most, "1", 0.5, 1, 0.95,
                 "largest share of the hotter kernel; 0.5: never above half"),
    TMX_ROW_REAL(tmx_tabs, alike, "1", 0, 1, 0, "power density indices closer than this fraction are equal"),
    TMX_ROW_INT(tmx_tabs, window, "1", 1, 1024, 32, "fairness window N of arrivals"),
    TMX_ROW_INT(tmx_tabs, pdi_bits, "bit", 0, 16, 0, "width of the stat table's pdi; 0: reals"),
    TMX_ROW_INT(tmx_tabs, kernels, "1", 1, 2, 2, "kernels resident on a GPU at once"),
    TMX_ROW_BOOL(tmx_tabs, dvfs_beside, 0,
                 "lower the clock also while unlike kernels run and the shares are at their floor"),
    TMX_ROW_CHOICE(tmx_tabs, admission, admissions, "proactive",
                   "mix whenever an unlike kernel waits, or only in an emergency"),
    TMX_ROW_REAL(tmx_tabs, admit_share, "1", 0.01, 0.99, 0.5,
                 "share of a kernel that is mixed in before it is hot"),
    TMX_ROW_CHOICE(
        tmx_tabs, places, places, "corners",
        "mixed uniform: hot blocks go to the coldest SMs, or to the corners whatever their temperature"),
    /* whole lifetimes of blocks, "us to few ms": section 3.1 */
    TMX_ROW_REAL(
        tmx_tabs, slice_s, "s", 1e-4, 10, 5e-4,
        "time slice of alternating policies: whole ticks, or a tick in pairs of slices, taken as their "
        "mean"),
    {0},
};

/* pdi as the kernel stat table holds it: reals, or pdi_bits wide (section 3.3 uses 4 bits) with the
 * largest code at the reference chip's hottest possible SM, 4 W (assumed). */
static double pdi(const struct tmx_tabs *t, const struct tmx_node_view *m, size_t job)
{
    const double w = m->jobs[job]->pdi_w;
    if (t->pdi_bits == 0) {
        return w;
    }
    const double codes = (double)((1 << t->pdi_bits) - 1), full_w = 4.0;
    return fmin(codes, floor(w / full_w * codes + 0.5));
}

static bool alike(const struct tmx_tabs *t, double a, double b)
{
    return fabs(a - b) <= t->alike * fmax(a, b);
}

size_t tmx_tabs_candidate(const struct tmx_tabs *t, const struct tmx_node_view *m,
                          const struct tmx_gpu_view *gpu, bool least)
{
    const size_t resident = gpu->run[0];
    const double p0 = pdi(t, m, resident);
    const uint64_t window = m->jobs[resident]->queue_order / (uint64_t)t->window;
    size_t best = TMX_NO_JOB;
    for (size_t q = 0; q < gpu->n_queue; q++) {
        const size_t j = gpu->queue[q];
        const double p = pdi(t, m, j);
        if (!m->jobs[j]->pdi_valid || m->jobs[j]->queue_order / (uint64_t)t->window != window ||
            alike(t, p, p0)) {
            continue;
        }
        if (best == TMX_NO_JOB || (least ? p < pdi(t, m, best) : p > pdi(t, m, best))) {
            best = j;
        }
    }
    return best;
}

static void decide_one(const struct tmx_tabs *t, const struct tmx_node_view *m,
                       const struct tmx_gpu_view *gpu, double hottest_k, struct tmx_gpu_request *r)
{
    const bool hot = hottest_k >= t->emergency_c + TMX_ZERO_C;
    const size_t j = t->kernels > 1 && (hot || t->admission == TMX_TABS_PROACTIVE)
                         ? tmx_tabs_candidate(t, m, gpu, hot)
                         : TMX_NO_JOB;
    const bool helps = j != TMX_NO_JOB && (!hot || pdi(t, m, j) < pdi(t, m, gpu->run[0]));
    if (!helps) {
        r->level = tmx_level_next(gpu, hottest_k, t->emergency_c, t->release_c);
        return;
    }
    r->admit = j;
    r->share = 1 - (hot ? t->initial_share : t->admit_share);
    r->level = gpu->level;
}

static void decide_two(const struct tmx_tabs *t, const struct tmx_node_view *m,
                       const struct tmx_gpu_view *gpu, double hottest_k, struct tmx_gpu_request *r)
{
    const bool first_is_hot = pdi(t, m, gpu->run[0]) >= pdi(t, m, gpu->run[1]);
    const double floor_x = first_is_hot ? t->first_floor : t->initial_share; /* of the hotter */
    double x = first_is_hot ? gpu->share : 1 - gpu->share;
    r->level = gpu->level;
    if (hottest_k >= t->emergency_c + TMX_ZERO_C) {
        if (x > floor_x + 1e-9) {
            x = fmax(floor_x, x - t->step);
        } else if (t->dvfs_beside) {
            r->level = tmx_level_next(gpu, hottest_k, t->emergency_c, t->release_c);
        }
    } else if (hottest_k < t->release_c + TMX_ZERO_C) {
        if (gpu->level > 0) {
            r->level = gpu->level - 1;
        } else if (x < t->most - 1e-9) {
            x = fmin(t->most, x + t->step);
        }
    }
    r->share = first_is_hot ? x : 1 - x;
}

void tmx_tabs_decide(void *state, const struct tmx_view *view, struct tmx_request *request)
{
    const struct tmx_tabs *t = state;
    const struct tmx_node_view *m = view->node;
    for (size_t g = 0; g < m->n_gpu; g++) {
        const struct tmx_gpu_view *gpu = m->gpus[g];
        if (gpu->n_run == 1) {
            decide_one(t, m, gpu, view->hottest_k[g], &request->gpu[g]);
        } else if (gpu->n_run == 2) {
            decide_two(t, m, gpu, view->hottest_k[g], &request->gpu[g]);
        }
    }
}

/* Mark the SMs that host the hotter of two kernels: one that is marked stays so while the number allows, the
 * coldest ones come first. */
static void mark_places(const struct tmx_tabs *t, const struct tmx_view *view, size_t g,
                        const struct tmx_gpu_request *r, double *hosts)
{
    const struct tmx_node_view *m = view->node;
    const struct tmx_gpu_view *gpu = m->gpus[g];
    const size_t other = gpu->n_run == 2 ? gpu->run[1] : r->admit;
    size_t want = 0, have = 0;
    if (gpu->n_run > 0 && other != TMX_NO_JOB) {
        const bool first_is_hot = pdi(t, m, gpu->run[0]) >= pdi(t, m, other);
        want = (size_t)((first_is_hot ? r->share : 1 - r->share) * (double)gpu->n_sm + 0.5);
    }
    for (size_t i = 0; i < gpu->n_sm; i++) {
        have += hosts[gpu->sm0 + i] > 0;
    }
    while (have != want) { /* the coldest of the others, or the hottest of the hosts */
        const bool more = have < want;
        size_t best = gpu->sm0 + gpu->n_sm;
        for (size_t sm = gpu->sm0; sm < gpu->sm0 + gpu->n_sm; sm++) {
            const bool open = (hosts[sm] > 0) != more;
            const bool better =
                best == gpu->sm0 + gpu->n_sm || (more ? view->sensed_k[sm] < view->sensed_k[best]
                                                      : view->sensed_k[sm] > view->sensed_k[best]);
            best = open && better ? sm : best;
        }
        hosts[best] = more;
        have = more ? have + 1 : have - 1;
    }
}

void tmx_tabs_decide_places(void *state, const struct tmx_view *view, struct tmx_request *request)
{
    const struct tmx_tabs *t = state;
    tmx_tabs_decide(state, view, request);
    for (size_t g = 0; g < view->node->n_gpu && t->places == TMX_TABS_THERMAL; g++) {
        mark_places(t, view, g, &request->gpu[g], request->memory);
    }
}

size_t tmx_tabs_places(const void *state, const struct tmx_view *view)
{
    const struct tmx_tabs *t = state;
    return t->places == TMX_TABS_THERMAL ? view->node->n_sm : 0;
}

double tmx_tabs_slice_s(const void *state)
{
    return ((const struct tmx_tabs *)state)->slice_s;
}

double tmx_tabs_slice(const struct tmx_tabs *t, double time_s)
{
    return floor(time_s / t->slice_s + 1e-9);
}

double tmx_tabs_slices(const struct tmx_tabs *t, const struct tmx_spread *s)
{
    return fmax(1, tmx_tabs_slice(t, s->end_s) - tmx_tabs_slice(t, s->begin_s));
}

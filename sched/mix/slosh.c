/* SPDX-License-Identifier: GPL-3.0-or-later */
/* slosh: watts go to who holds the others back. The GPUs of a synchronous job share what a node may draw;
 * every few seconds each one's cap follows the time it computed a step, without waiting:
 *
 *   cap_g += gain (t_g - mean t) / mean t * cap_g,   then all equally, so that the sum stays, in [min, max]
 *
 * Speed goes about as P^0.6 at a cap, so that a gain of 1 / 0.6 would level times in one step; half of it is
 * the default. Kernels run first come, first served. The caps are kept by a dtm policy that keeps caps.
 *
 * With mode = reduce or realloc the caps follow the algorithm of "Lit Silicon" (arXiv 2511.09861), with the
 * lead of a GPU in place of sums over kernels: lead_g = most t - t_g. Each wants
 *
 *   (1 - (lead_g - least) / (most - least)) (most / the largest so far) step_w,
 *
 * so that the slowest gets all. Then one number is taken off all alike: what their sum exceeds node_w by, a
 * GPU, rounded up, and what any exceeds max_w by. Red starts at the boards' limits and ends where leaders
 * have gone down until all are level; Realloc starts at start_w and keeps the sum; the paper's Slosh is
 * Realloc with a larger sum than n start_w. */
#include <math.h>

#include "sched/policies.h"

enum mode { SHIFT, REDUCE, REALLOC };
static const char *const modes[] = {"shift", "reduce", "realloc", NULL};

struct slosh {
    int mode; /* enum mode */
    double node_w, start_w, min_w, max_w, period_s, gain, step_w;
};

static const struct tmx_opt opts[] = {
    TMX_ROW_CHOICE(slosh, mode, modes, "shift",
                   "shift by gain; reduce the leaders' caps from the boards' limits; realloc from start_w"),
    TMX_ROW_REAL(slosh, start_w, "W", 0, 1e5, 0, "cap of a board at first; 0: an equal part of node_w"),
    TMX_ROW_REAL(slosh, step_w, "W", 0, 1e5, 15, "reduce, realloc: the most that a cap rises at a time"),
    TMX_ROW_REAL(slosh, node_w, "W", 0, 1e6, 0, "sum of the boards' caps; 0: of their own limits"),
    TMX_ROW_REAL(slosh, min_w, "W", 0, 1e5, 0, "least cap of a board; 0: the board's lowest limit"),
    TMX_ROW_REAL(slosh, max_w, "W", 0, 1e5, 0, "largest cap of a board; 0: the board's limit as sold"),
    TMX_ROW_REAL(slosh, period_s, "s", 0.01, 1000, 4, "time between changes of the caps"),
    TMX_ROW_REAL(slosh, gain, "1", 0, 10, 0.8,
                 "relative change of a cap for a relative difference in time; 0: equal caps for ever"),
    {0},
};

/* The memory: these, then of each GPU its cap and the sum of its step times since the last change. */
enum { STARTED, CHANGED_S, N_STEP, N_SUM, MOST_LEAD, N_HEAD };

static size_t memory(const void *state, const struct tmx_view *view)
{
    (void)state;
    return N_HEAD + 2 * view->node->n_gpu;
}

static double least_w(const struct slosh *o, const struct tmx_view *view, size_t g)
{
    return o->min_w > 0 ? o->min_w : fmax(1, view->board[g].power_min_w);
}

static double most_w(const struct slosh *o, const struct tmx_view *view, size_t g)
{
    return o->max_w > 0 ? o->max_w : view->board[g].power_w > 0 ? view->board[g].power_w : INFINITY;
}

/* What is missing of the sum, or too much, to all alike in proportion, but for those at an end of their
 * range. */
static void keep_sum(const struct slosh *o, const struct tmx_view *view, double sum_w, double *cap_w)
{
    const size_t n = view->node->n_gpu;
    for (size_t round = 0; round <= n; round++) {
        double now_w = 0, free_w = 0;
        for (size_t g = 0; g < n; g++) {
            cap_w[g] = fmin(most_w(o, view, g), fmax(least_w(o, view, g), cap_w[g]));
            now_w += cap_w[g];
        }
        const double left_w = sum_w - now_w;
        for (size_t g = 0; g < n; g++) {
            const bool at_end = left_w > 0 ? cap_w[g] >= most_w(o, view, g) : cap_w[g] <= least_w(o, view, g);
            free_w += at_end ? 0 : cap_w[g];
        }
        if (fabs(left_w) < 1e-9 * sum_w || free_w <= 0) {
            return;
        }
        for (size_t g = 0; g < n; g++) {
            const bool at_end = left_w > 0 ? cap_w[g] >= most_w(o, view, g) : cap_w[g] <= least_w(o, view, g);
            cap_w[g] += at_end ? 0 : left_w * cap_w[g] / free_w;
        }
    }
}

static double all_w(const struct slosh *o, const struct tmx_view *view)
{
    double sum_w = 0;
    for (size_t g = 0; g < view->node->n_gpu; g++) {
        sum_w += o->max_w > 0 ? o->max_w : view->board[g].power_w;
    }
    return o->node_w > 0 && o->mode != REDUCE ? o->node_w : sum_w;
}

/* A step of reduce and realloc: time_s are the sums of the steps since the last, of one GPU a member. */
static void follow_leads(const struct slosh *o, const struct tmx_view *view, double *kept, double *cap_w,
                         const double *time_s)
{
    const struct tmx_sync_job_view *job = view->node->sync_job;
    const size_t n = job->n_member;
    double latest_s = 0, least = INFINITY, most = 0, sum_w = 0, over_w = -INFINITY;
    for (size_t i = 0; i < n; i++) {
        latest_s = fmax(latest_s, time_s[job->gpu[i]]);
    }
    for (size_t i = 0; i < n; i++) {
        least = fmin(least, latest_s - time_s[job->gpu[i]]);
        most = fmax(most, latest_s - time_s[job->gpu[i]]);
    }
    kept[MOST_LEAD] = fmax(kept[MOST_LEAD], most);
    if (!(most > least)) {
        return;
    }
    for (size_t i = 0; i < n; i++) {
        const double lead = latest_s - time_s[job->gpu[i]];
        cap_w[job->gpu[i]] += (1 - (lead - least) / (most - least)) * most / kept[MOST_LEAD] * o->step_w;
        sum_w += cap_w[job->gpu[i]];
    }
    const double off_w = ceil((sum_w - all_w(o, view)) / (double)n);
    for (size_t i = 0; i < n; i++) {
        over_w = fmax(over_w, cap_w[job->gpu[i]] - off_w - most_w(o, view, job->gpu[i]));
    }
    for (size_t i = 0; i < n; i++) {
        const size_t g = job->gpu[i];
        cap_w[g] = fmax(least_w(o, view, g), cap_w[g] - off_w - fmax(0, over_w));
    }
}

static void move(const struct slosh *o, const struct tmx_view *view, double *kept, double *cap_w,
                 double *sum_s)
{
    const struct tmx_sync_job_view *sync_job = view->node->sync_job;
    double mean_s = 0;
    if (o->mode != SHIFT) {
        follow_leads(o, view, kept, cap_w, sum_s);
    }
    for (size_t i = 0; i < sync_job->n_member; i++) {
        mean_s += sum_s[sync_job->gpu[i]] / (double)sync_job->n_member;
    }
    for (size_t i = 0; i < sync_job->n_member && mean_s > 0 && o->mode == SHIFT; i++) {
        const size_t g = sync_job->gpu[i];
        cap_w[g] *= fmax(0.5, fmin(2, 1 + o->gain * (sum_s[g] - mean_s) / mean_s));
    }
    if (o->mode == SHIFT) {
        keep_sum(o, view, all_w(o, view), cap_w);
    }
    for (size_t g = 0; g < view->node->n_gpu; g++) {
        sum_s[g] = 0;
    }
    kept[N_SUM] = 0;
    kept[CHANGED_S] = view->time_s;
}

static void decide(void *state, const struct tmx_view *view, struct tmx_request *request)
{
    const struct slosh *o = state;
    const struct tmx_sync_job_view *sync_job = view->node->sync_job;
    const size_t n = view->node->n_gpu;
    double *kept = request->memory, *cap_w = kept + N_HEAD, *sum_s = cap_w + n;
    const double sum_w = all_w(o, view);
    if (!(sum_w > 0)) { /* nothing to divide */
        return;
    }
    if (kept[STARTED] == 0) {
        for (size_t g = 0; g < n; g++) {
            cap_w[g] = o->start_w > 0 ? o->start_w : sum_w / (double)n;
        }
        if (!(o->start_w > 0)) {
            keep_sum(o, view, sum_w, cap_w);
        }
        kept[STARTED] = 1;
        kept[CHANGED_S] = view->time_s;
    }
    if (sync_job && (double)sync_job->n_step > kept[N_STEP]) {
        for (size_t i = 0; i < sync_job->n_member; i++) {
            sum_s[sync_job->gpu[i]] += sync_job->compute_s[i];
        }
        kept[N_STEP] = (double)sync_job->n_step;
        kept[N_SUM] += 1;
    }
    if (sync_job && kept[N_SUM] > 0 && view->time_s - kept[CHANGED_S] >= o->period_s * (1 - 1e-9)) {
        move(o, view, kept, cap_w, sum_s);
    }
    for (size_t g = 0; g < n; g++) {
        request->gpu[g].power_cap_w = fmin(request->gpu[g].power_cap_w, cap_w[g]);
    }
}

const struct tmx_mix_policy tmx_mix_slosh = {
    .base = {.name = "slosh",
             .doc = "Shift power caps to the slowest GPU of a synchronous job; their sum stays constant, or "
                    "as in arXiv 2511.09861.",
             .source = "docs/notes/stragglers.md; the idea: arXiv 2511.09861",
             .opts = opts,
             .state_size = sizeof(struct slosh)},
    .memory = memory,
    .decide = decide,
};

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Merge waiting instances when that saves energy. Below the threshold kernels run as if there were no
 * framework (paper 004, Figure 6). Above it, the group grows from the most urgent (else the oldest)
 * instance; its predicted gain must exceed the node's uncertainty, its members must meet their
 * deadlines, and the chip must stay below limit_c by the prediction of one RC to ambient. A GPU that
 * even one instance would take over the limit waits until it has cooled below release_c. */
#include <math.h>
#include <string.h>

#include "sched/job/group.h"
#include "sched/policies.h"

struct consolidate {
    int threshold_per_gpu;
    int largest;
    bool hold;
    double max_wait_s;
    double limit_c, release_c, ambient_c, r_k_per_w, tau_s;
    bool use_cpu;
};

static const struct tmx_opt opts[] = {
    TMX_ROW_INT(consolidate, threshold_per_gpu, "1", 0, 100000, 10,
                "waiting instances per GPU from which to merge"),
    TMX_ROW_INT(consolidate, largest, "1", 1, TMX_LAUNCH_MAX, 32, "instances of one launch at most"),
    TMX_ROW_BOOL(consolidate, hold, 0, "below the threshold wait for more instead of running one by one"),
    TMX_ROW_REAL(consolidate, max_wait_s, "s", 0, 1e9, 60,
                 "hold: longest time that an instance waits for others"),
    TMX_ROW_REAL(consolidate, limit_c, "degC", 0, 1000, 1000,
                 "refuse groups predicted to heat the chip above this; 1000: off"),
    TMX_ROW_REAL(consolidate, release_c, "degC", 0, 1000, 85, "a refused GPU starts again below this"),
    TMX_ROW_REAL(consolidate, ambient_c, "degC", -50, 200, 45, "prediction: air"),
    TMX_ROW_REAL(consolidate, r_k_per_w, "K/W", 0, 10, 0.4,
                 "prediction: hottest SM to air, per watt above idle"),
    TMX_ROW_REAL(consolidate, tau_s, "s", 1e-3, 1e6, 60, "prediction: time constant"),
    TMX_ROW_BOOL(consolidate, use_cpu, 0, "an idle CPU may take instances that need less energy there"),
    {0},
};

static bool worth_holding(const struct consolidate *c, const struct tmx_waiting_view *v, size_t urgent)
{
    const struct tmx_instance *w = &v->waiting[urgent];
    const double slack_s = w->deadline_s - v->now_s - 2 * v->kind[w->kind].gpu_time_s;
    return c->hold && v->now_s - v->waiting[0].arrival_s < c->max_wait_s && slack_s > 0;
}

/* The launch for one idle GPU; false when its heat forbids even one instance. */
static bool launch_on(const struct consolidate *c, const struct tmx_waiting_view *v, size_t gpu, size_t seed,
                      bool merge, struct tmx_launch *out)
{
    size_t count[TMX_KIND_MAX] = {0}, one[TMX_KIND_MAX] = {0};
    const struct tmx_batch waiting = {v->node, v->kind, v->n_kind, count},
                           alone = {v->node, v->kind, v->n_kind, one};
    struct tmx_group g, single;
    struct tmx_group_limits l = {.temp_c = v->gpu_temp_c[gpu],
                                 .limit_c = c->limit_c < 1000 ? c->limit_c : INFINITY,
                                 .ambient_c = c->ambient_c,
                                 .r_k_per_w = c->r_k_per_w,
                                 .tau_s = c->tau_s,
                                 .use_cpu = c->use_cpu && v->cpu_idle,
                                 .largest = (size_t)c->largest};
    for (size_t k = 0; k < v->n_kind; k++) {
        l.time_s[k] = INFINITY;
    }
    for (size_t i = 0; i < v->n_waiting; i++) {
        const struct tmx_instance *w = &v->waiting[i];
        const double left_s = w->deadline_s - v->now_s;
        if (left_s >= v->kind[w->kind].gpu_time_s &&
            left_s < l.time_s[w->kind]) { /* else it is late anyway */
            l.time_s[w->kind] = left_s;
        }
    }
    one[v->waiting[seed].kind] = 1;
    for (size_t i = 0; i < v->n_waiting; i++) {
        count[v->waiting[i].kind]++;
    }
    if (!tmx_group_cost(&alone, v->tmpl, v->n_tmpl, &l, &single)) {
        if (l.temp_c >= c->release_c) {
            return false;
        }
        l.limit_c = INFINITY; /* cool enough to start, whatever the end: the hardware guards itself */
        if (!tmx_group_cost(&alone, v->tmpl, v->n_tmpl, &l, &single)) {
            return false;
        }
        merge = false;
    }
    g = single;
    const struct tmx_batch b = {v->node, v->kind, v->n_kind, g.count};
    if (merge && tmx_group_grow(&waiting, v->waiting[seed].kind, v->tmpl, v->n_tmpl, &l, &g)) {
        struct tmx_prediction apart;
        tmx_serial_predict(&b, l.temp_c, &apart);
        if (tmx_batch_instances(&b) > 1 && g.energy_j > (1 - v->node->uncertainty) * apart.energy_j) {
            g = single;
        }
    }
    out->gpu = gpu;
    size_t left[TMX_KIND_MAX] = {0}; /* the seed, then the oldest of each kind */
    memcpy(left, g.count, v->n_kind * sizeof left[0]);
    out->n_member = 0;
    left[v->waiting[seed].kind]--;
    for (size_t i = 0; i < v->n_waiting && out->n_member < TMX_LAUNCH_MAX; i++) {
        const size_t k = v->waiting[i].kind;
        if (i == seed || left[k] > 0) {
            left[k] -= i != seed;
            out->member[out->n_member++] = i;
        }
    }
    out->target = g.choice == TMX_CPU ? TMX_TO_CPU : TMX_TO_GPU;
    if (g.choice == TMX_CPU) {
        (void)tmx_cpu_predict(&b, &out->predicted);
    } else if (g.choice == TMX_SERIAL) {
        tmx_serial_predict(&b, l.temp_c, &out->predicted);
    } else {
        (void)tmx_merge_predict(&b, tmx_template_for(&b, v->tmpl, v->n_tmpl), true, l.temp_c, &out->predicted,
                                NULL);
    }
    return true;
}

static bool next(const void *state, const struct tmx_waiting_view *v, struct tmx_launch *launch)
{
    const struct consolidate *c = state;
    if (v->n_waiting == 0) {
        return false;
    }
    /* where on: the most urgent instance if any has a deadline, else the oldest */
    size_t seed = 0;
    for (size_t i = 1; i < v->n_waiting; i++) {
        if (v->waiting[i].deadline_s < v->waiting[seed].deadline_s) {
            seed = i;
        }
    }
    const bool merge = v->n_waiting >= (size_t)c->threshold_per_gpu * v->n_gpu;
    if (!merge && worth_holding(c, v, seed)) {
        return false;
    }
    for (size_t g = 0; g < v->n_gpu; g++) {
        if (v->gpu_idle[g] && launch_on(c, v, g, seed, merge || c->hold, launch)) {
            return true;
        }
    }
    return false;
}

const struct tmx_job_policy tmx_job_consolidate = {
    .base = {.name = "consolidate",
             .doc = "Merge waiting instances when the models of time and power predict a gain.",
             .source = "Li, Byna and Chakradhar, Energy-Aware Workload Consolidation on GPU (paper 004)",
             .opts = opts,
             .state_size = sizeof(struct consolidate)},
    .next = next,
};

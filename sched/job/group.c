/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Exact: E(v) = min over groups g <= v that hold an instance of v's first kind of cost(g) + E(v - g).
 *
 * Bound of the greedy answer: a launch of work W (SM-seconds) on n SMs takes at least W / n, its dynamic
 * energy is at least the sum of its instances' (scaling >= 1), so every instance costs at least
 *   E_i,dynamic + (P_idle + lambda) W_i / n on the GPU, or (further instance) P_cpu t_more on the CPU. */
#include "sched/job/group.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"

const char *tmx_choice_word(enum tmx_means c)
{
    static const char *const word[] = {"merge", "serial", "cpu"};
    return word[c];
}

void tmx_decide(const struct tmx_batch *b, const struct tmx_template *t, size_t n_tmpl,
                const struct tmx_prediction *measured_cpu, double temp_c, struct tmx_verdict *v)
{
    *v = (struct tmx_verdict){.tmpl = tmx_template_for(b, t, n_tmpl), .gain = -INFINITY};
    v->obstacle = tmx_merge_predict(b, v->tmpl, true, temp_c, &v->merge, NULL);
    tmx_serial_predict(b, temp_c, &v->serial);
    v->cpu_known = measured_cpu || tmx_cpu_predict(b, &v->cpu);
    if (measured_cpu) {
        v->cpu = *measured_cpu;
    }
    const bool on_cpu = v->cpu_known && v->cpu.energy_j < v->serial.energy_j;
    const double alone_j = on_cpu ? v->cpu.energy_j : v->serial.energy_j;
    const double merged_j = v->obstacle == TMX_FITS ? v->merge.energy_j : INFINITY;
    v->gain = 1 - merged_j / alone_j;
    if (v->gain > b->node->uncertainty) {
        v->choice = TMX_MERGE;
        v->margin = alone_j / merged_j - 1;
        v->sure = true;
        return;
    }
    const double other_j = on_cpu ? v->serial.energy_j : v->cpu_known ? v->cpu.energy_j : INFINITY;
    v->choice = on_cpu ? TMX_CPU : TMX_SERIAL;
    v->margin = fmin(other_j, merged_j) / alone_j - 1;
    v->sure = fabs(v->margin) > b->node->uncertainty;
}

double tmx_group_temp_c(const struct tmx_group_limits *l, double gpu_w, double time_s)
{
    const double end_c = l->ambient_c + l->r_k_per_w * gpu_w;
    return end_c + (l->temp_c - end_c) * exp(-time_s / l->tau_s);
}

static bool within(const struct tmx_batch *b, const struct tmx_group_limits *l, const struct tmx_group *g)
{
    for (size_t k = 0; k < b->n_kind; k++) {
        if (b->count[k] > 0 && g->time_s > l->time_s[k]) {
            return false;
        }
    }
    return g->choice == TMX_CPU || tmx_group_temp_c(l, g->gpu_w, g->time_s) < l->limit_c;
}

static void offer(const struct tmx_batch *b, const struct tmx_group_limits *l, enum tmx_means choice,
                  const struct tmx_prediction *p, bool *found, struct tmx_group *best)
{
    struct tmx_group g = {
        .times = 1, .choice = choice, .energy_j = p->energy_j, .time_s = p->time_s, .gpu_w = p->gpu_w};
    if (within(b, l, &g) && (!*found || g.energy_j < best->energy_j)) {
        memcpy(g.count, b->count, b->n_kind * sizeof g.count[0]);
        *best = g;
        *found = true;
    }
}

bool tmx_group_cost(const struct tmx_batch *b, const struct tmx_template *t, size_t n_tmpl,
                    const struct tmx_group_limits *l, struct tmx_group *g)
{
    struct tmx_prediction p;
    bool found = false;
    const size_t n = tmx_batch_instances(b);
    if (l->largest > 0 && n > l->largest) {
        return false;
    }
    if (n == 1) {
        tmx_serial_predict(b, l->temp_c, &p);
        offer(b, l, TMX_SERIAL, &p, &found, g);
    } else if (tmx_merge_predict(b, tmx_template_for(b, t, n_tmpl), true, l->temp_c, &p, NULL) == TMX_FITS) {
        offer(b, l, TMX_MERGE, &p, &found, g);
    }
    if (l->use_cpu && tmx_cpu_predict(b, &p)) {
        offer(b, l, TMX_CPU, &p, &found, g);
    }
    return found;
}

/* Energy of one instance of each kind apart; false when it fits nowhere. */
static bool alone_j(const struct tmx_batch *b, const struct tmx_template *t, size_t n_tmpl,
                    const struct tmx_group_limits *l, size_t kind, double *energy_j)
{
    size_t count[TMX_KIND_MAX] = {0};
    const struct tmx_batch one = {b->node, b->kind, b->n_kind, count};
    struct tmx_group g;
    count[kind] = 1;
    if (!tmx_group_cost(&one, t, n_tmpl, l, &g)) {
        return false;
    }
    *energy_j = g.energy_j;
    return true;
}

bool tmx_group_grow(const struct tmx_batch *available, size_t seed, const struct tmx_template *t,
                    size_t n_tmpl, const struct tmx_group_limits *l, struct tmx_group *g)
{
    double apart_j[TMX_KIND_MAX] = {0}, sum_j, best;
    size_t count[TMX_KIND_MAX] = {0};
    bool usable[TMX_KIND_MAX] = {false};
    const struct tmx_batch b = {available->node, available->kind, available->n_kind, count};
    for (size_t k = 0; k < b.n_kind; k++) {
        usable[k] = available->count[k] > 0 && alone_j(available, t, n_tmpl, l, k, &apart_j[k]);
    }
    if (!usable[seed]) {
        return false;
    }
    count[seed] = 1;
    if (!tmx_group_cost(&b, t, n_tmpl, l, g)) {
        return false;
    }
    sum_j = apart_j[seed];
    best = 1;
    for (;;) {
        size_t pick = b.n_kind;
        double pick_ratio = INFINITY;
        struct tmx_group pick_group = {0}, trial;
        for (size_t k = 0; k < b.n_kind; k++) {
            if (!usable[k] || count[k] == available->count[k]) {
                continue;
            }
            count[k]++;
            const double ratio =
                tmx_group_cost(&b, t, n_tmpl, l, &trial) ? trial.energy_j / (sum_j + apart_j[k]) : INFINITY;
            count[k]--;
            if (ratio < pick_ratio) {
                pick = k;
                pick_ratio = ratio;
                pick_group = trial;
            }
        }
        if (pick == b.n_kind) {
            return true; /* nothing more can join */
        }
        count[pick]++;
        sum_j += apart_j[pick];
        if (pick_ratio < best) {
            best = pick_ratio;
            *g = pick_group;
        } else if (pick_ratio > 2 * best) {
            return true; /* far past the best */
        }
    }
}

static double bound_j(const struct tmx_batch *b, const struct tmx_group_limits *l)
{
    const struct tmx_node *n = b->node;
    double sum_j = 0;
    for (size_t k = 0; k < b->n_kind; k++) {
        const struct tmx_workload *w = &b->kind[k];
        const double waves = ceil((double)w->blocks / n->sms);
        const double work_s = w->blocks * w->gpu_time_s / waves * w->sm_share;
        const double base_w = n->idle_w + n->active_w + n->temperature_w_per_k * (l->temp_c - n->reference_c);
        double least_j = w->blocks * w->dynamic_w_per_block * w->gpu_time_s + base_w * work_s / n->sms;
        if (l->use_cpu && isfinite(w->cpu_power_w)) {
            least_j = fmin(least_j, w->cpu_power_w * fmin(w->cpu_more_s, w->cpu_first_s));
        }
        sum_j += (double)b->count[k] * least_j;
    }
    return sum_j;
}

static void append(struct tmx_grouping *out, const struct tmx_group *g, struct tmx_err *err)
{
    size_t i = 0;
    while (i < out->n && memcmp(out->group[i].count, g->count, sizeof g->count) != 0) {
        i++;
    }
    if (i == TMX_GROUP_MAX) {
        tmx_error(err, TMX_ERANGE, "more than %d different groups", TMX_GROUP_MAX);
        return;
    }
    if (i < out->n) {
        out->group[i].times += g->times;
    } else {
        out->group[out->n++] = *g;
    }
    out->energy_j += (double)g->times * g->energy_j;
}

static void greedy(const struct tmx_batch *b, const struct tmx_template *t, size_t n_tmpl,
                   const struct tmx_group_limits *l, struct tmx_grouping *out, struct tmx_err *err)
{
    size_t left[TMX_KIND_MAX] = {0};
    struct tmx_batch rest = {b->node, b->kind, b->n_kind, left};
    memcpy(left, b->count, b->n_kind * sizeof left[0]);
    while (tmx_batch_instances(&rest) > 0 && !err->code) {
        struct tmx_group best = {0}, g = {0};
        double best_ratio = INFINITY;
        for (size_t k = 0; k < b->n_kind; k++) {
            double apart_j = 0, one_j;
            if (left[k] == 0 || !tmx_group_grow(&rest, k, t, n_tmpl, l, &g)) {
                continue;
            }
            for (size_t i = 0; i < b->n_kind; i++) {
                apart_j +=
                    g.count[i] > 0 && alone_j(b, t, n_tmpl, l, i, &one_j) ? (double)g.count[i] * one_j : 0;
            }
            if (g.energy_j / apart_j < best_ratio) {
                best_ratio = g.energy_j / apart_j;
                best = g;
            }
        }
        if (best_ratio == INFINITY) {
            tmx_error(err, TMX_ERANGE, "an instance cannot run within the limits");
            return;
        }
        best.times = SIZE_MAX;
        for (size_t k = 0; k < b->n_kind; k++) {
            const size_t fits = best.count[k] > 0 ? left[k] / best.count[k] : SIZE_MAX;
            best.times = fits < best.times ? fits : best.times;
        }
        for (size_t k = 0; k < b->n_kind; k++) {
            left[k] -= best.times * best.count[k];
        }
        append(out, &best, err);
    }
}

struct table { /* of all count vectors v <= b->count, mixed radix */
    size_t n_kind, size;
    size_t stride[TMX_KIND_MAX];
    struct tmx_group *group; /* [size] cost of v as one launch; times 0: impossible */
    double *energy_j;        /* [size] best partition of v */
    size_t *first;           /* [size] its group with an instance of the first kind */
};

static bool inside(const size_t *g, const size_t *v, size_t n)
{
    for (size_t k = 0; k < n; k++) {
        if (g[k] > v[k]) {
            return false;
        }
    }
    return true;
}

static void exact(const struct tmx_batch *b, const struct tmx_template *t, size_t n_tmpl,
                  const struct tmx_group_limits *l, struct table *s, struct tmx_grouping *out,
                  struct tmx_err *err)
{
    size_t count[TMX_KIND_MAX] = {0};
    const struct tmx_batch part = {b->node, b->kind, b->n_kind, count};
    for (size_t v = 1; v < s->size; v++) {
        for (size_t k = 0; k < s->n_kind; k++) {
            count[k] = v / s->stride[k] % (b->count[k] + 1);
        }
        if (!tmx_group_cost(&part, t, n_tmpl, l, &s->group[v])) {
            s->group[v].times = 0;
        }
        /* the best partition has a group with the first kind */
        size_t kind = 0;
        while (count[kind] == 0) {
            kind++;
        }
        s->energy_j[v] = INFINITY;
        for (size_t g = s->stride[kind]; g <= v; g++) {
            const struct tmx_group *group = &s->group[g];
            if (group->times == 0 || group->count[kind] == 0 || !inside(group->count, count, s->n_kind)) {
                continue;
            }
            const double sum_j = group->energy_j + s->energy_j[v - g];
            if (sum_j < s->energy_j[v]) {
                s->energy_j[v] = sum_j;
                s->first[v] = g;
            }
        }
    }
    if (!isfinite(s->energy_j[s->size - 1])) { /* nor any part of it, then */
        tmx_error(err, TMX_ERANGE, "an instance cannot run within the limits");
        return;
    }
    for (size_t v = s->size - 1; v > 0; v -= s->first[v]) {
        append(out, &s->group[s->first[v]], err);
    }
    out->exact = true;
    out->bound_j = out->energy_j;
}

enum tmx_status tmx_group_all(const struct tmx_batch *b, const struct tmx_template *t, size_t n_tmpl,
                              const struct tmx_group_limits *l, size_t max_states, struct tmx_grouping *out,
                              struct tmx_err *err)
{
    struct table s = {.n_kind = b->n_kind, .size = 1};
    struct tmx_err own = {0};
    *out = (struct tmx_grouping){0};
    for (size_t k = 0; k < b->n_kind; k++) {
        s.stride[k] = s.size;
        if (s.size > max_states / (b->count[k] + 1)) {
            out->bound_j = bound_j(b, l);
            greedy(b, t, n_tmpl, l, out, &own);
            return tmx_error_give(err, &own);
        }
        s.size *= b->count[k] + 1;
    }
    struct tmx_arena arena = {0};
    TMX_TAKE(&arena, s.group, s.size);
    TMX_TAKE(&arena, s.energy_j, s.size);
    TMX_TAKE(&arena, s.first, s.size);
    tmx_arena_check(&arena, &own);
    if (!own.code) {
        exact(b, t, n_tmpl, l, &s, out, &own);
    }
    tmx_arena_finish(&arena);
    return tmx_error_give(err, &own);
}

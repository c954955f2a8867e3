/* SPDX-License-Identifier: GPL-3.0-or-later */
/* T of the first type (every block has an SM for itself):
 *   T = max_i T_i (1 + s_i + sum over blocks of other instances of w_j)
 * with T_i the measured time alone, s_i the template's slow-down of i's code, w_j the bandwidth
 * that a block of j takes from the others. T of the second type: blocks placed over the SMs,
 * T_block = T_i (1 + s_i) / ceil(blocks_i / SMs), the critical SMs end last.
 *
 * E = (P_idle + lambda + P_T) T + scale(N) sum_i E_i,dynamic: equations 10 to 12 make the dynamic
 * energy of an instance independent of what runs beside it. */
#include "kernels/merge.h"

#include <math.h>
#include <string.h>

#include "base/err.h"

const char *tmx_obstacle_text(enum tmx_obstacle o)
{
    static const char *const text[] = {"fits", "no template holds these kernels",
                                       "too many threads per block", "too many registers per block",
                                       "too much shared memory per block"};
    return text[o];
}

size_t tmx_batch_instances(const struct tmx_batch *b)
{
    size_t n = 0;
    for (size_t k = 0; k < b->n_kind; k++) {
        n += b->count[k];
    }
    return n;
}

double tmx_node_scale(const struct tmx_node *n, size_t occupied)
{
    const double sms = (double)n->sms, on = (double)(occupied > 0 ? occupied : 1), beta = 1.1;
    return n->scaling == TMX_SCALE_LINEAR ? 1 : sms * log10((10 - beta) / sms * on + beta) / on;
}

double tmx_workload_dynamic_w(const struct tmx_node *n, int blocks, double power_w)
{
    const size_t on = (size_t)(blocks < n->sms ? blocks : n->sms);
    const double dynamic_w = power_w - n->idle_w - n->active_w;
    return dynamic_w > 0 ? dynamic_w / (blocks * tmx_node_scale(n, on)) : 0;
}

int tmx_merge_slots(const struct tmx_batch *b, enum tmx_obstacle *why)
{
    const struct tmx_node *n = b->node;
    int threads = 1, per_thread = 0, shared = 0;
    for (size_t k = 0; k < b->n_kind; k++) {
        if (b->count[k] > 0) {
            const struct tmx_workload *w = &b->kind[k];
            threads = w->threads_per_block > threads ? w->threads_per_block : threads;
            per_thread = w->registers_per_thread > per_thread ? w->registers_per_thread : per_thread;
            shared = w->shared_bytes > shared ? w->shared_bytes : shared;
        }
    }
    const int registers = threads * per_thread;
    int slots = n->sm_blocks < TMX_SLOT_MAX ? n->sm_blocks : TMX_SLOT_MAX;
    *why = threads > n->sm_threads       ? TMX_NO_THREADS
           : registers > n->sm_registers ? TMX_NO_REGISTERS
           : shared > n->sm_shared_bytes ? TMX_NO_SHARED
                                         : TMX_FITS;
    if (*why) {
        return 0;
    }
    slots = n->sm_threads / threads < slots ? n->sm_threads / threads : slots;
    slots = registers > 0 && n->sm_registers / registers < slots ? n->sm_registers / registers : slots;
    return shared > 0 && n->sm_shared_bytes / shared < slots ? n->sm_shared_bytes / shared : slots;
}

static bool template_slowdown(const struct tmx_template *t, const char *kernel, double *slowdown)
{
    for (size_t i = 0; i < t->n_kernel; i++) {
        if (strcmp(t->member[i].kernel, kernel) == 0) {
            *slowdown = t->member[i].slowdown;
            return true;
        }
    }
    return false;
}

const struct tmx_template *tmx_template_for(const struct tmx_batch *b, const struct tmx_template *t, size_t n)
{
    double slowdown;
    for (size_t i = 0; i < n; i++) {
        bool all = true;
        for (size_t k = 0; k < b->n_kind; k++) {
            all = all && (b->count[k] == 0 || template_slowdown(&t[i], b->kind[k].kernel, &slowdown));
        }
        if (all) {
            return &t[i];
        }
    }
    return NULL;
}

static double overhead_s(const struct tmx_batch *b, const struct tmx_template *t)
{
    const struct tmx_node *n = b->node;
    double bytes = 0;
    size_t kinds = 0;
    for (size_t k = 0; k < b->n_kind; k++) {
        const double count = (double)b->count[k];
        if (b->count[k] > 0) {
            bytes +=
                count * b->kind[k].copy_bytes + (n->reuse_constants ? 1 : count) * b->kind[k].constant_bytes;
            kinds++;
        }
    }
    const bool led = n->leader && kinds == 1; /* section IV: a leader speaks for homogeneous workloads only */
    const double speakers = led ? 1 : (double)tmx_batch_instances(b);
    return t->overhead_s + bytes / n->copy_bytes_per_s + speakers * n->messages * n->message_s;
}

static void second_type(const struct tmx_batch *b, const double *slowdown, int slots,
                        struct tmx_placement *out)
{
    struct tmx_block_type type[TMX_KIND_MAX];
    size_t order[TMX_KIND_MAX], n = 0;
    const size_t sms = (size_t)b->node->sms;
    for (size_t k = 0; k < b->n_kind; k++) { /* kinds with fewer blocks come first, then by index */
        const size_t blocks = b->count[k] * (size_t)b->kind[k].blocks;
        size_t i = k;
        for (; i > 0 && b->count[order[i - 1]] * (size_t)b->kind[order[i - 1]].blocks > blocks; i--) {
            order[i] = order[i - 1];
        }
        order[i] = k;
    }
    for (size_t i = 0; i < b->n_kind; i++) {
        const struct tmx_workload *w = &b->kind[order[i]];
        if (b->count[order[i]] > 0) {
            const double waves = ceil((double)w->blocks / (double)sms);
            type[n++] = (struct tmx_block_type){.blocks = b->count[order[i]] * (size_t)w->blocks,
                                                .work_s = w->gpu_time_s * (1 + slowdown[order[i]]) / waves,
                                                .sm_share = w->sm_share};
        }
    }
    tmx_placement_run(type, n, sms, (size_t)slots, (enum tmx_redistribution)b->node->redistribution, out);
}

static double dynamic_j(const struct tmx_workload *w)
{
    return w->blocks * w->dynamic_w_per_block * w->gpu_time_s;
}

/* Watts above the idle system: active, the temperature's term, and the blocks' scaled dynamic power. */
static void finish(const struct tmx_node *n, double dynamic_energy_j, double temp_c, struct tmx_prediction *p)
{
    p->sm_w = p->time_s > 0 ? dynamic_energy_j / p->time_s : 0;
    p->gpu_w = n->active_w + n->temperature_w_per_k * (temp_c - n->reference_c) +
               p->sm_w * tmx_node_scale(n, p->occupied_sms);
    p->power_w = n->idle_w + p->gpu_w;
    p->energy_j = p->power_w * p->time_s;
}

enum tmx_obstacle tmx_merge_predict(const struct tmx_batch *b, const struct tmx_template *t, bool overheads,
                                    double temp_c, struct tmx_prediction *p, struct tmx_placement *placement)
{
    double slowdown[TMX_KIND_MAX] = {0}, dynamic_energy_j = 0;
    struct tmx_placement own;
    enum tmx_obstacle why = TMX_FITS;
    tmx_assert(b->n_kind <= TMX_KIND_MAX);
    if (!t) {
        return TMX_NO_TEMPLATE;
    }
    for (size_t k = 0; k < b->n_kind; k++) {
        if (b->count[k] > 0 && !template_slowdown(t, b->kind[k].kernel, &slowdown[k])) {
            return TMX_NO_TEMPLATE;
        }
        dynamic_energy_j += (double)b->count[k] * dynamic_j(&b->kind[k]);
    }
    *p = (struct tmx_prediction){.slots = tmx_merge_slots(b, &why)};
    if (why) {
        return why;
    }
    const size_t sms = (size_t)b->node->sms;
    size_t blocks = 0;
    double taken = 0; /* bandwidth, from one another */
    for (size_t k = 0; k < b->n_kind; k++) {
        blocks += b->count[k] * (size_t)b->kind[k].blocks;
        taken += (double)b->count[k] * b->kind[k].blocks * b->kind[k].bandwidth_per_block;
    }
    p->shared_sms = blocks > sms;
    p->occupied_sms = blocks < sms ? blocks : sms;
    if (p->shared_sms || placement) {
        struct tmx_placement *at = placement ? placement : &own;
        second_type(b, slowdown, p->slots, at);
        p->time_s = p->shared_sms ? at->time_s : 0;
        p->critical_sm = at->critical_sm;
    }
    for (size_t k = 0; k < b->n_kind && !p->shared_sms; k++) { /* the first type */
        const struct tmx_workload *w = &b->kind[k];
        const double others = taken - w->blocks * w->bandwidth_per_block,
                     end_s = b->count[k] > 0 ? w->gpu_time_s * (1 + slowdown[k] + others) : 0;
        p->time_s = fmax(p->time_s, end_s);
    }
    p->overhead_s = overheads ? overhead_s(b, t) : 0;
    p->time_s += p->overhead_s;
    finish(b->node, dynamic_energy_j, temp_c, p);
    return TMX_FITS;
}

void tmx_serial_predict(const struct tmx_batch *b, double temp_c, struct tmx_prediction *p)
{
    const int sms = b->node->sms;
    *p = (struct tmx_prediction){.slots = 1};
    for (size_t k = 0; k < b->n_kind; k++) {
        const struct tmx_workload *w = &b->kind[k];
        struct tmx_prediction one = {.time_s = w->gpu_time_s,
                                     .occupied_sms = (size_t)(w->blocks < sms ? w->blocks : sms)};
        finish(b->node, dynamic_j(w), temp_c, &one);
        p->time_s += (double)b->count[k] * one.time_s;
        p->energy_j += (double)b->count[k] * one.energy_j;
        p->sm_w += (double)b->count[k] * dynamic_j(w); /* divided by the time below */
        if (b->count[k] > 0 && one.occupied_sms > p->occupied_sms) {
            p->occupied_sms = one.occupied_sms;
        }
    }
    p->power_w = p->time_s > 0 ? p->energy_j / p->time_s : 0;
    p->sm_w = p->time_s > 0 ? p->sm_w / p->time_s : 0;
    p->gpu_w = p->power_w - b->node->idle_w;
}

bool tmx_cpu_predict(const struct tmx_batch *b, struct tmx_prediction *p)
{
    double more_s = 0, busy_w = 0;
    size_t longest = b->n_kind;
    *p = (struct tmx_prediction){0};
    for (size_t k = 0; k < b->n_kind; k++) {
        const struct tmx_workload *w = &b->kind[k];
        if (b->count[k] == 0) {
            continue;
        }
        if (!isfinite(w->cpu_first_s) || !isfinite(w->cpu_more_s) || !isfinite(w->cpu_power_w)) {
            return false;
        }
        more_s += (double)b->count[k] * w->cpu_more_s;
        longest = longest == b->n_kind || w->cpu_first_s > b->kind[longest].cpu_first_s ? k : longest;
        busy_w = w->cpu_power_w > busy_w ? w->cpu_power_w : busy_w;
    }
    if (longest == b->n_kind) {
        return false;
    }
    p->time_s = more_s - b->kind[longest].cpu_more_s + b->kind[longest].cpu_first_s;
    p->power_w = busy_w;
    p->energy_j = p->power_w * p->time_s;
    return true;
}

struct sm {
    size_t n; /* resident blocks */
    size_t type[TMX_SLOT_MAX];
    double left_s[TMX_SLOT_MAX];
    size_t bound[TMX_KIND_MAX]; /* untouched blocks given to this SM by a bulk redistribution */
};

struct state {
    const struct tmx_block_type *type;
    size_t n_type, sms, slots;
    size_t untouched[TMX_KIND_MAX];
    struct sm sm[TMX_SM_MAX];
    struct tmx_placement *out;
};

/* First type with blocks left in count; n_type when none. */
static size_t next_type(const struct state *s, const size_t *count)
{
    size_t t = 0;
    while (t < s->n_type && count[t] == 0) {
        t++;
    }
    return t;
}

/* An SM with room takes blocks, of those in count, until it has `most`. */
static void take(struct state *s, size_t sm, size_t *count, size_t most)
{
    struct sm *m = &s->sm[sm];
    for (size_t t; m->n < most && (t = next_type(s, count)) < s->n_type;) {
        count[t]--;
        m->type[m->n] = t;
        m->left_s[m->n++] = s->type[t].work_s;
        s->out->blocks[sm][t]++;
    }
}

/* How much slower than alone the blocks of an SM run: their demands add up, one SM serves 1. */
static double stretch(const struct state *s, const struct sm *m)
{
    double demand = 0;
    for (size_t i = 0; i < m->n; i++) {
        demand += s->type[m->type[i]].sm_share;
    }
    return demand > 1 ? demand : 1;
}

void tmx_placement_run(const struct tmx_block_type *type, size_t n_type, size_t sms, size_t slots,
                       enum tmx_redistribution redistribution, struct tmx_placement *out)
{
    struct state s = {.type = type, .n_type = n_type, .sms = sms, .slots = slots, .out = out};
    double now_s = 0;
    tmx_assert(n_type <= TMX_KIND_MAX && sms > 0 && sms <= TMX_SM_MAX && slots > 0 && slots <= TMX_SLOT_MAX);
    memset(out, 0, sizeof *out);
    for (size_t t = 0; t < n_type; t++) {
        tmx_assert(type[t].blocks == 0 || (type[t].work_s > 0 && type[t].sm_share > 0));
        s.untouched[t] = type[t].blocks;
    }
    for (size_t i = 0; i < slots * sms; i++) { /* round robin: one block an SM, then a second one */
        take(&s, i % sms, s.untouched, i / sms + 1);
    }
    for (;;) {
        double step_s = 0; /* to the next end of a block */
        for (const struct sm *m = s.sm; m < s.sm + sms; m++) {
            const double factor = stretch(&s, m);
            for (size_t i = 0; i < m->n; i++) {
                const double end_s = m->left_s[i] * factor;
                step_s = step_s == 0 || end_s < step_s ? end_s : step_s;
            }
        }
        if (!(step_s > 0)) {
            break;
        }
        now_s += step_s;
        size_t idle[TMX_SM_MAX], n_idle = 0; /* SMs without a block */
        for (size_t sm = 0; sm < sms; sm++) {
            struct sm *m = &s.sm[sm];
            const double done_s = step_s / stretch(&s, m);
            size_t kept = 0;
            for (size_t i = 0; i < m->n; i++) {
                const double left_s = m->left_s[i] - done_s;
                if (left_s > 1e-12 * type[m->type[i]].work_s) { /* equal blocks end together */
                    m->type[kept] = m->type[i];
                    m->left_s[kept++] = left_s;
                } else {
                    out->end_s[sm] = now_s;
                }
            }
            m->n = kept;
            if (kept == 0 && next_type(&s, m->bound) == n_type) {
                idle[n_idle++] = sm;
            }
        }
        for (size_t i = 0, t;
             redistribution == TMX_BULK && n_idle > 0 && (t = next_type(&s, s.untouched)) < n_type; i++) {
            s.untouched[t]--;
            s.sm[idle[i % n_idle]].bound[t]++;
        }
        for (size_t sm = 0; sm < sms; sm++) {
            take(&s, sm, redistribution == TMX_BULK ? s.sm[sm].bound : s.untouched, slots);
        }
    }
    for (size_t sm = 0; sm < sms; sm++) {
        out->occupied += out->end_s[sm] > 0;
        if (out->end_s[sm] > out->time_s) {
            out->time_s = out->end_s[sm];
            out->critical_sm = sm;
        }
    }
    for (size_t sm = 0; sm < sms; sm++) {
        out->n_critical += out->time_s > 0 && out->end_s[sm] >= out->time_s * (1 - 1e-12);
    }
}

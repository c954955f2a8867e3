/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "core/machine/placement.h"

#include <math.h>
#include <string.h>

#include "core/base/err.h"

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

static void start(struct state *s, size_t sm, size_t type)
{
    struct sm *m = &s->sm[sm];
    m->type[m->n] = type;
    m->left_s[m->n++] = s->type[type].work_s;
    s->out->blocks[sm][type]++;
}

/* Round-robin: one block an SM, then a second one, until the slots or the blocks are used up. */
static void fill(struct state *s)
{
    for (size_t slot = 0; slot < s->slots; slot++) {
        for (size_t sm = 0; sm < s->sms; sm++) {
            const size_t t = next_type(s, s->untouched);
            if (t == s->n_type) {
                return;
            }
            s->untouched[t]--;
            start(s, sm, t);
        }
    }
}

static void take_greedy(struct state *s)
{
    for (size_t sm = 0; sm < s->sms; sm++) {
        for (size_t t = next_type(s, s->untouched); s->sm[sm].n < s->slots && t < s->n_type;
             t = next_type(s, s->untouched)) {
            s->untouched[t]--;
            start(s, sm, t);
        }
    }
}

static void take_bulk(struct state *s)
{
    size_t idle[TMX_SM_MAX], n_idle = 0;
    for (size_t sm = 0; sm < s->sms; sm++) {
        if (s->sm[sm].n == 0 && next_type(s, s->sm[sm].bound) == s->n_type) {
            idle[n_idle++] = sm;
        }
    }
    for (size_t i = 0, t; n_idle > 0 && (t = next_type(s, s->untouched)) < s->n_type; i++) {
        s->untouched[t]--;
        s->sm[idle[i % n_idle]].bound[t]++;
    }
    for (size_t sm = 0; sm < s->sms; sm++) {
        struct sm *m = &s->sm[sm];
        for (size_t t = next_type(s, m->bound); m->n < s->slots && t < s->n_type;
             t = next_type(s, m->bound)) {
            m->bound[t]--;
            start(s, sm, t);
        }
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

/* Time to the next end of a block; 0 when nothing runs. */
static double next_end_s(const struct state *s)
{
    double step_s = 0;
    for (size_t sm = 0; sm < s->sms; sm++) {
        const struct sm *m = &s->sm[sm];
        const double factor = stretch(s, m);
        for (size_t i = 0; i < m->n; i++) {
            const double end_s = m->left_s[i] * factor;
            step_s = step_s == 0 || end_s < step_s ? end_s : step_s;
        }
    }
    return step_s;
}

static void advance(struct state *s, double step_s, double now_s)
{
    for (size_t sm = 0; sm < s->sms; sm++) {
        struct sm *m = &s->sm[sm];
        const double done_s = step_s / stretch(s, m);
        size_t kept = 0;
        for (size_t i = 0; i < m->n; i++) {
            const double left_s = m->left_s[i] - done_s;
            if (left_s > 1e-12 * s->type[m->type[i]].work_s) { /* equal blocks end together */
                m->type[kept] = m->type[i];
                m->left_s[kept++] = left_s;
            } else {
                s->out->end_s[sm] = now_s;
            }
        }
        m->n = kept;
    }
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
    fill(&s);
    double step_s = next_end_s(&s);
    while (step_s > 0) {
        now_s += step_s;
        advance(&s, step_s, now_s);
        if (redistribution == TMX_GREEDY) {
            take_greedy(&s);
        } else {
            take_bulk(&s);
        }
        step_s = next_end_s(&s);
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

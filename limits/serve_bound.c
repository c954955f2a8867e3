/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How many tokens a second can a row of servers make at most? And why does the answer bound every policy?
 *
 * The idea is that of bound.c. Take any schedule of any router, any governor and any row policy that serves
 * the run's requests, and look only at its averages: how often an instance computes iterations of each
 * kind at each clock, its mean watts by component, the mean temperatures. They satisfy linear conditions, and
 * the largest rate of requests that these conditions allow bounds the rate of every schedule.
 *
 * Work. An iteration of B sequences that hold C tokens in the cache takes (a + b B + c C) g(f) seconds, one
 * of n prompt tokens P(n) g(f), one of both 1.1 P(n + B) g(f), where g(f) = (1 - m) / f + m at f of the
 * fastest clock, at least what its tokens alone would. Columns are iterations a second, for each group of
 * alike instances and each clock:
 *
 *   token    B_k sequences            prompt   n_k tokens               both   n_k tokens, u sequences
 *   cache    tokens read a second     long     prompts above the budget, which run alone
 *
 * P and the joules of an iteration, P(n) w(n), are not linear in n. What they are replaced by is convex, at
 * most equal, and made of few lines:
 *
 *      J |          __.'        the true joules
 *        |     .--'  /          tangents of their lower hull; their corners are the n_k. The mean of many
 *        |   .'  _ -            iterations lies above every tangent, so it is a mixture of corners.
 *        | .'_ -
 *        +------------- n
 *
 * Sequence-seconds, B (a + b B), are treated alike. Cached tokens are a property of the requests: iterations
 * that make u of all output tokens read at least as much cache as the u with the least, a convex function of
 * u, again by tangents. By Little's law, sequence-seconds over tokens are the mean time between tokens.
 *
 * Heat. Prompts and tokens heat a GPU through three numbers, the watts of SMs, L2 and memory: all SMs work
 * alike. With leakage convex, for any temperatures t (as in bound.c),
 *
 *   T >= T_in + A (P + L(t) + L'(t) (T - t) - (1 - V) L(T_max))     V: mean voltage of the leakage
 *
 * and with M = 1 - A L'(t), whose inverse has no negative entry, T >= M^-1 (...): a line in T_in, V and the
 * three watts, for each sensor. The same line with the slopes L' gives the least watts of the GPU. So 161
 * units become a few rows for each t. T_in is the room's air and what the GPUs before it give off, at the
 * fastest air that the run's fans can make.
 *
 * Alike GPUs. Groups are made so that each GPU of a group breathes as much from every other group as its
 * neighbours in the group (an equitable partition): then means over a group satisfy the same rows.
 *
 * Left out, and each can only make a schedule slower: arrivals and queues, that prompts wait for the cache,
 * pools, classes, latencies of clocks, sequences that wait while others' prompts are computed, overshoot.
 * Also left out: heat stored since the start, which vanishes with time, and SMs that the throttle stops while
 * the rest works below the slowest clock.
 *
 * The certificate is that of bound.c: the prices of the solver, put into weak duality. */
#include "limits/bound.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/cost.h"
#include "core/topology/topology.h"
#include "power/power.h"
#include "run/state.h"

enum { MAX_RAY = 24, N_REF = 10, N_CUT_SM = 2, KV_CUTS = 9, N_TANGENT = 9 };

struct rays { /* corners of what replaces an iteration's seconds and joules (or sequence-seconds) */
    size_t n;
    double x[MAX_RAY], s[MAX_RAY], e[MAX_RAY];
};

struct kind { /* instances of one phase of the model */
    const struct tmx_llm_phase *phase;
    const struct tmx_serve_gpu *gpu;
    const struct tmx_chip *chip;
    struct rays prompt, token; /* token: e are sequence-seconds */
    double a, b, c;            /* seconds of an iteration of tokens */
    double token_w, sequence_w;
    double die;            /* share of its watts that is counted: the die's, where dies are simulated */
    double long_s, long_j; /* of the prompts above the budget, for each request */
    double ride_s;         /* of a sequence beside such a prompt, at least */
    double both;           /* an iteration of both takes so many times a prompt */
    bool add;              /* or is the sum of both */
};

struct cut { /* a line below a temperature or the watts: k + in T_in + v V + sm, l2, dram watts */
    double k, in, v, sm, l2, dram;
};

struct cuts { /* of a GPU */
    size_t n_die, n_memory, n_heat;
    struct cut die[N_REF * N_CUT_SM], memory[N_REF], heat[N_REF];
};

struct group {            /* alike instances */
    size_t n, row, first; /* first: an instance of it */
    const struct kind *kind;
    struct at *at; /* [n_level of the chip] */
    size_t mean;   /* first column of V, SM, L2, dram */
};

struct clock {                /* what a level does to an iteration */
    double prompt, token;     /* g(f) */
    double prompt_w, token_w; /* SM and L2 joules for one at the fastest clock */
    double volt, speed;
};

struct at { /* a clock of a group: its columns */
    const struct kind *k;
    double n; /* instances */
    struct clock clock;
    size_t token, cache, cache_both, prompt, both, riding, both_s, lone, lone_both, lone_riding, idle;
};

struct gpus {                    /* alike GPUs, of one group of instances */
    size_t n, group, first, col; /* col: T_in, heat */
    double room_k;
    double *rise_k; /* [n_gpus] by a watt in each GPU of each group */
    struct cuts cuts;
};

struct build {
    const struct tmx_run *run;
    const struct tmx_serve_spec *spec;
    struct tmx_serve_bound *b;
    struct tmx_lp lp;
    size_t n_instance, tp;
    bool heat;
    /* requests, means of one */
    double output, decode, prompt_short, longs;
    uint32_t max_input;
    double kv_at[KV_CUTS], kv_less[KV_CUTS]; /* cached tokens >= at u - less, of a request */
    size_t n_kv;
    struct kind *kind;
    size_t n_kind;
    struct group *group;
    size_t n_group;
    struct at *at; /* of all groups */
    size_t n_at;
    struct gpus *gpus;
    size_t n_gpus;
    size_t *group_of, *gpus_of; /* [n_instance], [n_gpu] SIZE_MAX: serves nothing */
    double *base_k, *rise; /* [n_gpu] inlets by the air alone, and what a watt adds, while they are made */
    size_t tbt_row, row_row0, die_row0, memory_row0, time_row0, end_row;
    struct tmx_arena arena; /* of all but the programme */
    struct tmx_err *err;    /* of the first failure */
};

/* True, and an error, where an array found no memory. */
static bool no_memory(const struct build *d)
{
    tmx_arena_check(&d->arena, d->err);
    return d->arena.failed;
}

/* ---- what the requests ask for ---- */

static double budget_of(const struct tmx_serve_scheduler_options *o)
{
    return o->policy == TMX_SERVE_CHUNKED ? o->chunk : o->policy == TMX_SERVE_ORCA ? 1e9 : o->budget;
}

static double joules(const struct kind *k, double n)
{
    return tmx_llm_prompt_s(k->phase, n) * k->die *
           fmax(0, tmx_llm_prompt_share(k->phase, n) * k->gpu->board_w - k->gpu->static_w);
}

static void read_requests(struct build *d)
{
    static const double share[KV_CUTS] = {0.4, 0.55, 0.7, 0.8, 0.87, 0.92, 0.96, 0.985, 1};
    const struct tmx_serve_scheduler_options *o = &d->spec->scheduler;
    const bool pieces = o->policy == TMX_SERVE_CHUNKED;
    uint64_t most = 0, total = 0, below = 0;
    const struct tmx_serve *served = tmx_sim_serve(tmx_run_sim(d->run));
    const size_t n = served->n_request;
    const struct tmx_llm_request *q = served->request;
    for (size_t i = 0; i < n; i++) {
        const bool alone = !pieces && q[i].input > budget_of(o);
        const uint64_t end = (uint64_t)q[i].input + q[i].output;
        most = end > most ? end : most;
        total += q[i].output - 1;
        d->output += q[i].output / (double)n;
        d->decode += (q[i].output - 1.0) / (double)n;
        d->prompt_short += (alone ? 0 : q[i].input) / (double)n;
        d->longs += (alone ? 1 : 0) / (double)n;
        d->max_input = q[i].input > d->max_input ? q[i].input : d->max_input;
        for (size_t k = 0; k < d->n_kind && alone; k++) {
            struct kind *x = &d->kind[k];
            const double s = tmx_llm_prompt_s(x->phase, q[i].input),
                         next_s = tmx_llm_prompt_s(x->phase, q[i].input + 1.0) - s, /* the least: convex */
                ride_s = x->add ? x->b : x->both * next_s;
            x->ride_s = x->long_s > 0 ? fmin(x->ride_s, ride_s) : ride_s;
            x->long_s += s / (double)n;
            x->long_j += joules(x, q[i].input) / (double)n;
        }
    }
    /* output tokens by the cache they are made beside, as differences: at[in + 1] .. at[in + out - 1] are one
     * more */
    int64_t *at, now = 0;
    TMX_TAKE(&d->arena, at, most + 2);
    if (no_memory(d)) {
        return;
    }
    for (size_t i = 0; i < n; i++) {
        at[q[i].input + 1]++;
        at[q[i].input + q[i].output]--;
    }
    double mass = 0; /* cached tokens of those below */
    for (uint64_t k = 0; k <= most && total > 0; k++) {
        now += at[k];
        below += (uint64_t)now;
        mass += (double)now * (double)k;
        while (d->n_kv < KV_CUTS && now > 0 &&
               (double)below >= share[d->n_kv] * (double)total * (1 - 1e-12)) {
            d->kv_at[d->n_kv] = (double)k;
            d->kv_less[d->n_kv++] = ((double)k * (double)below - mass) / (double)n;
        }
    }
}

/* ---- corners ---- */

static void corner(struct rays *r, double x)
{
    size_t i = r->n;
    for (size_t k = 0; k < r->n; k++) {
        if (fabs(r->x[k] - x) < 1e-6) {
            return;
        }
    }
    if (r->n == MAX_RAY) {
        return;
    }
    for (; i > 0 && r->x[i - 1] > x; i--) {
        r->x[i] = r->x[i - 1];
    }
    r->x[i] = x;
    r->n++;
}

/* Corners of prompts of 1 .. most tokens: where the seconds bend, and where tangents of the joules' lower
 * hull meet. */
static void prompt_rays(struct build *d, struct kind *k, double most)
{
    const size_t top = (size_t)fmin(most, 16384), n = top + (most > (double)top);
    const double *c = k->phase->prompt_ms, bends[] = {1, (c[0] - c[1]) / c[2], 2048, most};
    double *x, *y;
    struct rays *r = &k->prompt;
    size_t n_hull = 0, n_line = 0;
    double slope[N_TANGENT], base[N_TANGENT];
    TMX_TAKE(&d->arena, x, n + 1);
    TMX_TAKE(&d->arena, y, n + 1);
    if (no_memory(d)) {
        return;
    }
    for (size_t i = 0; i < n; i++) {
        const double at = i < top ? (double)i + 1 : most, e = joules(k, at);
        while (n_hull > 1 && (y[n_hull - 1] - y[n_hull - 2]) * (at - x[n_hull - 2]) >=
                                 (e - y[n_hull - 2]) * (x[n_hull - 1] - x[n_hull - 2])) {
            n_hull--;
        }
        x[n_hull] = at;
        y[n_hull++] = e;
    }
    for (size_t i = 0; i < N_TANGENT && n_hull > 1; i++) { /* spread over the hull's lines, ends included */
        const size_t line = i * (n_hull - 2) / (N_TANGENT - 1);
        const double s = (y[line + 1] - y[line]) / (x[line + 1] - x[line]);
        if (n_line == 0 || s > slope[n_line - 1] * (1 + 1e-9)) {
            slope[n_line] = s;
            base[n_line++] = y[line] - s * x[line];
        }
    }
    if (n_line == 0) { /* prompts of one token */
        slope[n_line] = 0;
        base[n_line++] = y[0];
    }
    for (size_t i = 0; i < 4; i++) {
        if (bends[i] >= 1 && bends[i] <= most) {
            corner(r, bends[i]);
        }
    }
    for (size_t i = 1; i < n_line; i++) {
        corner(r, fmin(most, fmax(1, (base[i - 1] - base[i]) / (slope[i] - slope[i - 1]))));
    }
    for (size_t i = 0; i < r->n; i++) {
        r->s[i] = tmx_llm_prompt_s(k->phase, r->x[i]);
        r->e[i] = 0;
        for (size_t l = 0; l < n_line; l++) {
            r->e[i] = fmax(r->e[i], base[l] + slope[l] * r->x[i]);
        }
    }
}

static void make_kinds(struct build *d)
{
    const struct tmx_serve_options *o = &d->spec->options;
    const bool flat = o->token_time != 0;
    TMX_TAKE(&d->arena, d->kind, d->n_instance);
    for (size_t i = 0; i < d->n_instance && !no_memory(d); i++) {
        const struct tmx_serve_gpu *g = &d->spec->gpu[i * d->tp];
        size_t k = 0;
        while (k < d->n_kind && (d->kind[k].phase != g->phase || d->kind[k].chip != g->chip)) {
            k++;
        }
        if (k == d->n_kind) {
            const double *t = g->phase->token_ms, w = g->phase->token_share * g->board_w - g->static_w;
            const bool add = o->mix != 0 || d->spec->scheduler.policy == TMX_SERVE_CHUNKED;
            const double die = d->heat ? 1 - g->chip->board.loss : 1;
            d->kind[d->n_kind++] =
                (struct kind){.phase = g->phase,
                              .die = die,
                              .gpu = g,
                              .chip = g->chip,
                              .a = 1e-3 * (flat ? t[0] + t[1] : t[0]),
                              .b = flat ? 0 : 1e-3 * t[1],
                              .c = flat ? 0 : 1e-3 * t[2],
                              .token_w = die * fmax(0, w),
                              .sequence_w = w < 0 ? 0 : die * g->phase->token_w_per_sequence,
                              .add = add,
                              .both = add ? 1 : 1.1};
        }
    }
}

/* ---- which instances and GPUs are alike ---- */

static bool near(double a, double b)
{
    return fabs(a - b) <= 1e-9 * (fabs(a) + fabs(b));
}

struct air {                                             /* of the whole topology, at the fastest air */
    double *room_k, *flow, *heat_w, *outlet_w, *inlet_k; /* [n_gpu] */
};

static void find_air(struct build *d, struct air *a)
{
    const struct tmx_run *r = d->run;
    const size_t n = r->n_gpu;
    const struct tmx_topology *t = &r->topology;
    TMX_TAKE_REALS(&d->arena, n, &a->room_k, &a->flow, &a->heat_w, &a->outlet_w, &a->inlet_k);
    for (size_t g = 0; g < n && !no_memory(d); g++) {
        a->room_k[g] =
            r->kind[r->kind_of_gpu[g]].stack.spec.ambient_k + (t->inlet_above_k ? t->inlet_above_k[g] : 0);
        if (t->n_gpu == 0) {
            continue;
        }
        const struct tmx_card *card = &t->card[t->gpu[g].card];
        const struct tmx_run_kind *k = &r->kind[r->kind_of_gpu[g]];
        double rpm = 0;
        a->flow[g] = card->still_flow_m3_per_s / (double)card->n_gpu;
        for (size_t l = 0; l < k->n_level; l++) {
            rpm = fmax(rpm, k->level_rpm[l]);
        }
        for (size_t f = card->fan0; f < card->fan0 + card->n_fan; f++) {
            a->flow[g] +=
                tmx_fan_flow_m3_per_s(&t->fan[f], rpm > 0 ? rpm : t->fan[f].max_rpm) / (double)card->n_gpu;
        }
    }
}

/* Kelvins of each GPU's inlet by a watt in every GPU of a group; NULL groups: by the air alone. */
static void rises(const struct tmx_run *r, const struct air *a, const size_t *group, size_t which)
{
    if (r->topology.n_gpu == 0) {
        for (size_t g = 0; g < r->n_gpu; g++) {
            a->inlet_k[g] = a->room_k[g];
        }
        return;
    }
    for (size_t g = 0; g < r->n_gpu; g++) {
        a->heat_w[g] = group && group[g] == which ? 1 : 0;
    }
    (void)tmx_air_flow(&r->topology, a->room_k, a->flow, a->heat_w, a->outlet_w, a->inlet_k);
}

static bool alike_instances(const struct build *d, size_t i, size_t j)
{
    const struct tmx_serve_gpu *a = &d->spec->gpu[i * d->tp], *b = &d->spec->gpu[j * d->tp];
    bool same =
        d->group_of[i] == d->group_of[j] && a->phase == b->phase && a->chip == b->chip && a->row == b->row;
    for (size_t c = 0; c < d->n_gpus && same; c++) {
        size_t n = 0, m = 0;
        for (size_t g = 0; g < d->tp; g++) {
            n += d->gpus_of[i * d->tp + g] == c;
            m += d->gpus_of[j * d->tp + g] == c;
        }
        same = n == m;
    }
    return same;
}

/* d->rise [n_gpu][n_gpus] of the groups so far. */
static bool alike_gpus(const struct build *d, size_t g, size_t h)
{
    const size_t n = d->n_gpus;
    bool same = d->gpus_of[g] == d->gpus_of[h] && d->group_of[g / d->tp] == d->group_of[h / d->tp] &&
                d->run->kind_of_gpu[g] == d->run->kind_of_gpu[h] && near(d->base_k[g], d->base_k[h]);
    for (size_t c = 0; c < n && same; c++) {
        same = near(d->rise[g * n + c], d->rise[h * n + c]);
    }
    return same;
}

/* Numbers n things by what they are: each gets the number of the first that is alike. Returns how many. */
static size_t split(const struct build *d, bool (*alike)(const struct build *, size_t, size_t), size_t n,
                    size_t *fresh, size_t *first, size_t *number)
{
    size_t n_kind = 0;
    for (size_t i = 0; i < n; i++) {
        size_t k = 0;
        while (k < n_kind && !alike(d, i, first[k])) {
            k++;
        }
        first[k] = k == n_kind ? i : first[k];
        n_kind += k == n_kind;
        fresh[i] = k;
    }
    memcpy(number, fresh, n * sizeof *fresh);
    return n_kind;
}

static void partition(struct build *d, const struct air *a)
{
    const size_t n_all = d->run->n_gpu, n_gpu = d->n_instance * d->tp;
    size_t *fresh, *first, before = 0;
    TMX_TAKE(&d->arena, fresh, n_all);
    TMX_TAKE(&d->arena, first, n_all);
    TMX_TAKE(&d->arena, d->base_k, n_all);
    TMX_TAKE(&d->arena, d->group_of, d->n_instance);
    TMX_TAKE(&d->arena, d->gpus_of, n_all);
    if (no_memory(d)) {
        return;
    }
    for (size_t g = n_gpu; g < n_all; g++) {
        d->gpus_of[g] = SIZE_MAX;
    }
    rises(d->run, a, NULL, 0);
    memcpy(d->base_k, a->inlet_k, n_all * sizeof *d->base_k);
    d->n_gpus = 1;
    while (before != d->n_gpus + d->n_group) {
        before = d->n_gpus + d->n_group;
        d->rise = malloc(n_gpu * d->n_gpus * sizeof *d->rise);
        if (!d->rise) {
            tmx_error(d->err, TMX_ENOMEM, "air of %zu groups of GPUs", d->n_gpus);
            return;
        }
        for (size_t c = 0; c < d->n_gpus; c++) {
            rises(d->run, a, d->gpus_of, c);
            for (size_t g = 0; g < n_gpu; g++) {
                const double by_k =
                    a->inlet_k[g] - d->base_k[g]; /* round-off of two temperatures: below 1e-12 K/W */
                d->rise[g * d->n_gpus + c] = by_k > 1e-9 ? by_k : 0;
            }
        }
        d->n_group = split(d, alike_instances, d->n_instance, fresh, first, d->group_of);
        d->n_gpus = split(d, alike_gpus, n_gpu, fresh, first, d->gpus_of);
        free(d->rise);
    }
}

static void make_groups(struct build *d, const struct air *a)
{
    TMX_TAKE(&d->arena, d->group, d->n_group);
    TMX_TAKE(&d->arena, d->gpus, d->n_gpus);
    if (no_memory(d)) {
        return;
    }
    for (size_t i = d->n_instance; i-- > 0;) {
        struct group *x = &d->group[d->group_of[i]];
        const struct tmx_serve_gpu *g = &d->spec->gpu[i * d->tp];
        x->n++;
        x->first = i;
        x->row = g->row;
        for (size_t k = 0; k < d->n_kind; k++) {
            const bool is = d->kind[k].phase == g->phase && d->kind[k].chip == g->chip;
            x->kind = is ? &d->kind[k] : x->kind;
        }
    }
    for (size_t g = d->n_instance * d->tp; g-- > 0;) {
        struct gpus *x = &d->gpus[d->gpus_of[g]];
        x->n++;
        x->first = g;
        x->group = d->group_of[g / d->tp];
    }
    rises(d->run, a, NULL, 0);
    for (size_t c = 0; c < d->n_gpus; c++) {
        struct gpus *x = &d->gpus[c];
        x->room_k = a->inlet_k[x->first];
        TMX_TAKE(&d->arena, x->rise_k, d->n_gpus);
    }
    for (size_t c = 0; c < d->n_gpus && d->run->topology.n_gpu > 0 && !no_memory(d); c++) {
        rises(d->run, a, d->gpus_of, c);
        for (size_t x = 0; x < d->n_gpus; x++) {
            d->gpus[x].rise_k[c] = fmax(0, a->inlet_k[d->gpus[x].first] - d->gpus[x].room_k);
        }
    }
    (void)no_memory(d);
}

/* ---- lines below temperatures and watts ---- */

struct chip { /* a GPU as the lines see it; arrays of units */
    struct tmx_plan_chip plan;
    double *share[3];                /* where SM, L2 and memory watts go */
    double *temp_k, *work_w, *top_w; /* scratch; leakage at the hottest it can be */
    double *matrix, *column;         /* [n_unit][n_unit], [6][n_unit] scratch */
};

static void chip_init(struct chip *c, struct build *d, size_t gpu)
{
    *c = (struct chip){0};
    if (tmx_plan_chip_init(&c->plan, d->run, gpu, tmx_run_fastest_air(d->run, gpu), d->err)) {
        return;
    }
    const size_t n = c->plan.n_unit;
    double *rest[4];
    TMX_TAKE_REALS(&d->arena, n, &c->share[0], &c->share[1], &c->share[2], &c->temp_k, &c->work_w, &c->top_w,
                   &rest[0], &rest[1], &rest[2], &rest[3]);
    TMX_TAKE(&d->arena, c->matrix, n * n);
    TMX_TAKE(&d->arena, c->column, 6 * n);
    if (no_memory(d)) {
        return;
    }
    tmx_plan_check_convex(&c->plan, fmax(d->b->die_k, 350) + 40, d->err);
    const struct tmx_power_shares s = {rest[0], rest[1], rest[2], rest[3], c->share[1], c->share[2]};
    tmx_power_share_out(c->plan.chip, 0, 0, &s);
    for (size_t u = 0; u < n; u++) {
        const bool sm = c->plan.chip->sm_of_unit[u] != TMX_NO_SM;
        double top_k =
            sm ? d->b->die_k : d->b->die_k + 40; /* far above what a unit without a sensor reaches */
        c->share[0][u] = sm ? c->plan.chip->part_share[u] / (double)c->plan.n_sm : 0;
        for (size_t i = 0; i < c->plan.chip->n_memory; i++) {
            top_k = c->plan.chip->memory_unit[i] == u && isfinite(d->b->memory_k) ? d->b->memory_k : top_k;
        }
        c->top_w[u] = tmx_plan_leak_w(&c->plan, u, top_k);
    }
}

/* Temperatures under these watts of SM, L2 and memory, by a few rounds: any will do to put lines at. */
static double settle(struct chip *c, double in_k, const double watt[3], double *memory_k)
{
    enum { ROUNDS = 12 };
    const size_t n = c->plan.n_unit;
    for (size_t u = 0; u < n; u++) {
        c->temp_k[u] = in_k + 20;
    }
    for (int round = 0; round < ROUNDS; round++) {
        for (size_t u = 0; u < n; u++) {
            c->work_w[u] = c->plan.baseline_w[u] + tmx_plan_leak_w(&c->plan, u, fmin(c->temp_k[u], 450)) +
                           watt[0] * c->share[0][u] + watt[1] * c->share[1][u] + watt[2] * c->share[2][u];
        }
        for (size_t u = 0; u < n; u++) {
            double t = in_k;
            for (size_t j = 0; j < n; j++) {
                t += c->plan.influence[u * n + j] * c->work_w[j];
            }
            c->temp_k[u] = t;
        }
    }
    *memory_k = tmx_chip_memory_k(c->plan.chip, c->temp_k, c->work_w);
    return tmx_plan_hottest_k(&c->plan, c->temp_k);
}

/* Gauss without pivots, which an M-matrix does not need; column [6][n] right sides, which become solutions.
 */
static void eliminate(struct chip *c)
{
    const size_t n = c->plan.n_unit;
    for (size_t k = 0; k < n; k++) {
        for (size_t i = k + 1; i < n; i++) {
            const double f = c->matrix[i * n + k] / c->matrix[k * n + k];
            for (size_t j = k + 1; j < n && f != 0; j++) {
                c->matrix[i * n + j] -= f * c->matrix[k * n + j];
            }
            for (size_t r = 0; r < 6; r++) {
                c->column[r * n + i] -= f * c->column[r * n + k];
            }
        }
    }
    for (size_t k = n; k-- > 0;) {
        for (size_t r = 0; r < 6; r++) {
            double x = c->column[r * n + k];
            for (size_t j = k + 1; j < n; j++) {
                x -= c->matrix[k * n + j] * c->column[r * n + j];
            }
            c->column[r * n + k] = x / c->matrix[k * n + k];
        }
    }
}

static struct cut cut_at(const struct chip *c, const double *weight)
{
    double v[6] = {0};
    for (size_t r = 0; r < 6; r++) {
        for (size_t u = 0; u < c->plan.n_unit; u++) {
            v[r] += weight[u] * c->column[r * c->plan.n_unit + u];
        }
    }
    return (struct cut){.in = v[0], .k = v[1] - v[2], .v = v[2], .sm = v[3], .l2 = v[4], .dram = v[5]};
}

/* The lines of the present temperatures. Where leakage runs away there are none. */
static void add_cuts(struct chip *c, struct cuts *cuts)
{
    const struct tmx_plan_chip *p = &c->plan;
    const size_t n = p->n_unit;
    double *slope = c->work_w;
    double *const *s = c->share;
    for (size_t u = 0; u < n; u++) {
        slope[u] = tmx_plan_leak_slope(p, u, c->temp_k[u]);
    }
    memset(c->column, 0, 6 * n * sizeof *c->column);
    for (size_t u = 0; u < n; u++) {
        c->column[u] = 1;
        for (size_t j = 0; j < n; j++) {
            const double a = fmax(0, p->influence[u * n + j]);
            c->matrix[u * n + j] = (u == j ? 1 : 0) - a * slope[j];
            c->column[n + u] +=
                a * (p->baseline_w[j] + tmx_plan_leak_w(p, j, c->temp_k[j]) - slope[j] * c->temp_k[j]);
            c->column[2 * n + u] += a * c->top_w[j];
            for (size_t r = 0; r < 3; r++) {
                c->column[(3 + r) * n + u] += a * s[r][j];
            }
        }
    }
    eliminate(c);
    for (size_t u = 0; u < n; u++) {
        if (!(c->column[u] >= 1 - 1e-9) || !isfinite(c->column[u])) {
            return;
        }
    }
    double *weight = c->matrix; /* no longer needed */
    size_t done[N_CUT_SM];
    for (size_t i = 0; i < N_CUT_SM && i < p->n_sm; i++) {
        size_t hot = SIZE_MAX;
        for (size_t k = 0; k < p->n_sm; k++) {
            const bool had = i > 0 && done[0] == k;
            hot = !had && (hot == SIZE_MAX ||
                           tmx_plan_sensor(p, k, c->temp_k) > tmx_plan_sensor(p, hot, c->temp_k))
                      ? k
                      : hot;
        }
        done[i] = hot;
        for (size_t u = 0; u < n; u++) {
            weight[u] = p->chip->sm_of_unit[u] == (int)hot ? p->chip->part_share[u] : 0;
        }
        cuts->die[cuts->n_die++] = cut_at(c, weight);
    }
    size_t stack = SIZE_MAX;
    for (size_t i = 0; i < p->chip->n_memory; i++) {
        const size_t u = p->chip->memory_unit[i];
        stack = stack == SIZE_MAX || c->temp_k[u] > c->temp_k[stack] ? u : stack;
    }
    if (stack != SIZE_MAX) { /* its sensor is above it by its own watts, leakage left out */
        const double k_per_w = p->chip->board.memory_k_per_w;
        memset(weight, 0, n * sizeof *weight);
        weight[stack] = 1;
        struct cut m = cut_at(c, weight);
        m.k += k_per_w * p->baseline_w[stack];
        m.sm += k_per_w * s[0][stack];
        m.l2 += k_per_w * s[1][stack];
        m.dram += k_per_w * s[2][stack];
        cuts->memory[cuts->n_memory++] = m;
    }
    struct cut heat = cut_at(c, slope);
    for (size_t u = 0; u < n; u++) {
        heat.k +=
            p->baseline_w[u] + tmx_plan_leak_w(p, u, c->temp_k[u]) - slope[u] * c->temp_k[u] - c->top_w[u];
        heat.v += c->top_w[u];
        heat.sm += s[0][u];
        heat.l2 += s[1][u];
        heat.dram += s[2][u];
    }
    cuts->heat[cuts->n_heat++] = heat;
}

/* Lines where the die is at and below its limit, and where the memory is, with the watts of prompts and of
 * tokens. */
static void make_cuts(struct build *d)
{
    static const double below_k[] = {0, 4, 10, 20};
    enum { N_LINE = sizeof below_k / sizeof below_k[0] + 1 };
    const struct tmx_llm *m = d->spec->llm;
    const double dram[2] = {m->prompt_dram_share, m->token_dram_share};
    for (size_t i = 0; i < d->n_gpus && !d->err->code; i++) {
        struct gpus *x = &d->gpus[i];
        size_t same = 0;
        while (same < i && d->run->kind_of_gpu[d->gpus[same].first] != d->run->kind_of_gpu[x->first]) {
            same++;
        }
        if (same < i) { /* lines hold for any air */
            x->cuts = d->gpus[same].cuts;
            continue;
        }
        struct chip c;
        chip_init(&c, d, x->first);
        for (size_t l = 0; l < 2 * N_LINE && !d->err->code; l++) {
            const size_t phase = l / N_LINE, line = l % N_LINE;
            double low = 0, high = 4000;
            for (int halving = 0; halving < 24; halving++) {
                const double w = (low + high) / 2, watt[3] = {w * (1 - m->l2_share - dram[phase]),
                                                              w * m->l2_share, w * dram[phase]};
                double memory_k;
                const double die_k = settle(&c, x->room_k + 5, watt, &memory_k);
                const bool over =
                    line + 1 < N_LINE ? die_k > d->b->die_k - below_k[line] : memory_k > d->b->memory_k - 1;
                low = over ? low : w;
                high = over ? w : high;
            }
            if (low > 0 && high < 3999) {
                add_cuts(&c, &x->cuts);
            }
        }
        if (x->cuts.n_heat == 0) {
            tmx_error(
                d->err, TMX_ESOLVE,
                "no bound here: idle GPUs in air of %.1f degC already pass a limit, or leakage runs away "
                "below it",
                x->room_k - TMX_ZERO_C);
        }
        tmx_plan_chip_finish(&c.plan);
    }
}

/* ---- the programme ---- */

enum { VOLT, SM_W, L2_W, DRAM_W, N_MEAN };

static struct clock clock_of(const struct build *d, const struct kind *k, size_t level)
{
    const struct tmx_llm *m = d->spec->llm;
    const double f = tmx_chip_speed(k->chip, level) / tmx_chip_speed(k->chip, 0),
                 volt = tmx_chip_volt(k->chip, level), volt0 = tmx_chip_volt(k->chip, 0),
                 scale = (d->heat ? tmx_chip_speed(k->chip, level) : f) *
                         (k->chip->power.dvfs_power == TMX_DVFS_V2F
                              ? (d->heat ? volt * volt : volt * volt / (volt0 * volt0))
                              : 1);
    struct clock c = {.prompt = (1 - m->m_prompt) / f + m->m_prompt,
                      .token = (1 - m->m_token) / f + m->m_token,
                      .volt = k->chip->power.dvfs_leakage ? fmin(1, volt) : 1,
                      .speed = f};
    c.prompt_w = c.prompt * scale;
    c.token_w = c.token * scale;
    return c;
}

static void make_columns(struct build *d)
{
    size_t n = 1, n_at = 0;
    double most = 0; /* requests a second, if instances did nothing but pass tokens on */
    for (size_t i = 0; i < d->n_group; i++) {
        n_at += d->group[i].kind->chip->n_level;
    }
    TMX_TAKE(&d->arena, d->at, n_at);
    for (size_t i = 0; i < d->n_group && !no_memory(d); i++) {
        struct group *x = &d->group[i];
        const struct kind *k = x->kind;
        x->at = &d->at[d->n_at];
        for (size_t v = 0; v < k->chip->n_level; v++) {
            const size_t cache = n + k->token.n, both = cache + 2 + k->prompt.n, riding = both + k->prompt.n;
            d->at[d->n_at++] = (struct at){.k = k,
                                           .n = (double)x->n,
                                           .clock = clock_of(d, k, v),
                                           .token = n,
                                           .cache = cache,
                                           .cache_both = cache + 1,
                                           .prompt = cache + 2,
                                           .both = both,
                                           .riding = riding,
                                           .both_s = riding + 1,
                                           .lone = riding + 2,
                                           .lone_both = riding + 3,
                                           .lone_riding = riding + 4,
                                           .idle = riding + 5};
            n = riding + 6;
        }
        x->mean = n;
        n += N_MEAN;
        most += (double)x->n * (d->spec->scheduler.max_batch / k->a + 1e3 / k->phase->prompt_ms[2]) * 2;
    }
    for (size_t i = 0; i < d->n_gpus; i++) {
        d->gpus[i].col = n;
        n += 2;
    }
    tmx_lp_init(&d->lp, n, d->err);
    if (d->err->code) {
        return;
    }
    double *hi = d->lp.hi;
    for (const struct at *a = d->at; a < d->at + d->n_at; a++) {
        const struct kind *k = a->k;
        const double batch = d->spec->scheduler.max_batch, *c = k->phase->prompt_ms;
        const bool both = d->spec->scheduler.policy != TMX_SERVE_PREFILL_FIRST;
        for (size_t r = 0; r < k->token.n; r++) {
            hi[a->token + r] = 1 / k->token.s[r];
        }
        for (size_t r = 0; r < k->prompt.n; r++) {
            hi[a->prompt + r] = 1 / k->prompt.s[r];
            hi[a->both + r] = both ? 1 / k->prompt.s[r] : 0;
        }
        hi[a->cache] = k->c > 0 ? 1 / k->c : 0;
        hi[a->cache_both] = both ? hi[a->cache] : 0;
        hi[a->riding] = both ? batch * 1e3 / fmax(c[0], c[1] + c[2]) : 0;
        hi[a->lone] = k->long_s > 0 ? 1 / k->long_s : 0;
        hi[a->lone_both] = both ? hi[a->lone] : 0;
        hi[a->lone_riding] = k->long_s > 0 && both ? batch * d->longs / k->long_s : 0;
    }
    for (const struct group *x = d->group; x < d->group + d->n_group; x++) {
        hi[x->mean + VOLT] = 4;
        hi[x->mean + SM_W] = hi[x->mean + L2_W] = hi[x->mean + DRAM_W] = 1e5;
    }
    for (const struct gpus *g = d->gpus; g < d->gpus + d->n_gpus; g++) {
        d->lp.lo[g->col] = g->room_k;
        hi[g->col] = g->room_k + 500;
        hi[g->col + 1] = 1e5;
    }
    hi[0] = most;
    d->lp.cost[0] = 1;
}

/* Instances do what the requests need. */
static void work_rows(struct build *d)
{
    struct tmx_lp *lp = &d->lp;
    enum { PROMPT, LONG, DECODE, N };
    const double asked[N] = {d->prompt_short, d->longs, d->decode};
    for (int what = 0; what < N; what++) {
        (void)tmx_lp_row(lp, 0, false);
        tmx_lp_add(lp, 0, what == LONG ? (asked[LONG] > 0 ? 1 : 0) : asked[what]);
        for (const struct at *a = d->at; a < d->at + d->n_at; a++) {
            for (size_t r = 0; r < a->k->prompt.n && what == PROMPT; r++) {
                tmx_lp_add(lp, a->prompt + r, -a->n * a->k->prompt.x[r]);
                tmx_lp_add(lp, a->both + r, -a->n * a->k->prompt.x[r]);
            }
            for (size_t r = 0; r < a->k->token.n && what == DECODE; r++) {
                tmx_lp_add(lp, a->token + r, -a->n * a->k->token.x[r]);
            }
            if (what == DECODE) {
                tmx_lp_add(lp, a->riding, -a->n);
                tmx_lp_add(lp, a->lone_riding, -a->n);
            } else if (what == LONG) {
                tmx_lp_add(lp, a->lone, -a->n);
                tmx_lp_add(lp, a->lone_both, -a->n);
            }
        }
    }
    for (size_t cut = 0; cut < d->n_kv; cut++) { /* cache of the tokens made in iterations that read it */
        (void)tmx_lp_row(lp, 0, false);
        tmx_lp_add(lp, 0, -d->kv_less[cut]);
        for (const struct at *a = d->at; a < d->at + d->n_at; a++) {
            const double n_at = a->k->c > 0 ? a->n * d->kv_at[cut] : 0;
            for (size_t r = 0; r < a->k->token.n; r++) {
                tmx_lp_add(lp, a->token + r, n_at * a->k->token.x[r]);
            }
            tmx_lp_add(lp, a->riding, n_at);
            tmx_lp_add(lp, a->lone_riding, a->k->add ? n_at : 0); /* else a long prompt hides it */
            tmx_lp_add(lp, a->cache_both, -a->n);
            tmx_lp_add(lp, a->cache, -a->n);
        }
    }
}

/* Seconds of iterations of both, and how many sequences ride along. */
static void both_rows(struct build *d, const struct at *a)
{
    const struct kind *k = a->k;
    const double *c = k->phase->prompt_ms, batch = d->spec->scheduler.max_batch, m = 1e-3 * k->both;
    struct tmx_lp *lp = &d->lp;
    const double each[4] = {m * c[0], m * c[1], m * (c[1] - 2048 * c[3]), k->a},
                 prompt[4] = {0, m * c[2], m * (c[2] + c[3]), 0},
                 riding[4] = {0, m * c[2], m * (c[2] + c[3]), k->b};
    for (size_t line = 0; line < (k->add ? 1 : 4); line++) {
        (void)tmx_lp_row(lp, 0, false);
        for (size_t r = 0; r < k->prompt.n; r++) {
            tmx_lp_add(lp, a->both + r, k->add ? k->prompt.s[r] : each[line] + prompt[line] * k->prompt.x[r]);
        }
        tmx_lp_add(lp, a->riding, k->add ? k->b : riding[line]);
        tmx_lp_add(lp, a->cache_both, line == 3 ? k->c : 0);
        tmx_lp_add(lp, a->both_s, -1);
    }
    (void)tmx_lp_row(lp, 0, false);
    tmx_lp_add(lp, a->riding, 1);
    for (size_t r = 0; r < k->prompt.n; r++) {
        tmx_lp_add(lp, a->both + r, -batch);
    }
    (void)tmx_lp_row(lp, 0, false);
    tmx_lp_add(lp, a->lone_riding, 1);
    tmx_lp_add(lp, a->lone_both, -batch * d->longs);
}

/* All of an instance's time, and its means. Column by column: what an iteration a second takes of the time,
 * and of each mean. */
static void mean_row(struct build *d, const struct group *x, int mean, bool time)
{
    const struct kind *k = x->kind;
    const struct tmx_llm *m = d->spec->llm;
    struct tmx_lp *lp = &d->lp;
    for (const struct at *a = x->at; a < x->at + k->chip->n_level; a++) {
        const struct clock c = a->clock;
        const double joules_p = mean == SM_W   ? c.prompt_w * (1 - m->l2_share - m->prompt_dram_share)
                                : mean == L2_W ? c.prompt_w * m->l2_share
                                               : m->prompt_dram_share,
                     joules_t = mean == SM_W   ? c.token_w * (1 - m->l2_share - m->token_dram_share)
                                : mean == L2_W ? c.token_w * m->l2_share
                                               : m->token_dram_share,
                     busy = time           ? 1
                            : mean == VOLT ? c.volt
                                           : 0;
        const bool shares = time || mean == VOLT;
        for (size_t r = 0; r < k->token.n; r++) {
            tmx_lp_add(lp, a->token + r,
                       shares ? busy * c.token * k->token.s[r]
                              : joules_t * (k->token_w * k->token.s[r] + k->sequence_w * k->token.e[r]));
        }
        tmx_lp_add(lp, a->cache, shares ? busy * c.token * k->c : joules_t * k->token_w * k->c);
        tmx_lp_add(lp, a->cache_both, shares && k->add ? busy * c.prompt * k->c : 0);
        for (size_t r = 0; r < k->prompt.n; r++) {
            tmx_lp_add(lp, a->prompt + r,
                       shares ? busy * c.prompt * k->prompt.s[r] : joules_p * k->prompt.e[r]);
            tmx_lp_add(lp, a->both + r, shares ? 0 : joules_p * k->both * k->prompt.e[r]);
        }
        tmx_lp_add(lp, a->both_s, shares ? busy * c.prompt : 0);
        tmx_lp_add(lp, a->lone, shares ? busy * c.prompt * k->long_s : joules_p * k->long_j);
        tmx_lp_add(lp, a->lone_both, k->both * (shares ? busy * c.prompt * k->long_s : joules_p * k->long_j));
        tmx_lp_add(lp, a->lone_riding, shares ? busy * c.prompt * k->ride_s : 0);
        tmx_lp_add(lp, a->idle, shares ? busy : 0);
    }
}

static void add_cut(struct build *d, const struct gpus *g, const struct cut *c, double of_heat, double rhs)
{
    const struct group *x = &d->group[g->group];
    struct tmx_lp *lp = &d->lp;
    (void)tmx_lp_row(lp, rhs - c->k, false);
    tmx_lp_add(lp, g->col, c->in);
    tmx_lp_add(lp, g->col + 1, of_heat);
    tmx_lp_add(lp, x->mean + VOLT, c->v);
    tmx_lp_add(lp, x->mean + SM_W, c->sm);
    tmx_lp_add(lp, x->mean + L2_W, c->l2);
    tmx_lp_add(lp, x->mean + DRAM_W, c->dram);
}

/* Watts of each row: GPUs with their boards, and the nodes beside them. */
static void row_rows(struct build *d)
{
    const struct tmx_serve_options *o = &d->spec->options;
    struct tmx_lp *lp = &d->lp;
    d->row_row0 = lp->n_row;
    for (size_t row = 0; row < d->spec->n_row && isfinite(d->b->row_w); row++) {
        double still_w = 0;
        for (size_t i = 0; i < d->n_group; i++) {
            const struct group *x = &d->group[i];
            const struct kind *k = x->kind;
            const double n = (double)(x->n * d->tp);
            if (x->row == row) {
                const struct tmx_chip_board *b = &k->chip->board;
                still_w +=
                    n * (o->rest_w - o->rest_slope * k->phase->idle_w) +
                    (1 + o->rest_slope) * n * (d->heat ? b->other_w / (1 - b->loss) : k->gpu->static_w);
            }
        }
        (void)tmx_lp_row(lp, d->b->row_w - still_w, false);
        for (size_t i = 0; i < d->n_group && !d->heat; i++) { /* draw the phases' watts, and idle ones' */
            const struct group *x = &d->group[i];
            const struct kind *k = x->kind;
            const double n = (1 + o->rest_slope) * (double)(x->n * d->tp);
            for (size_t v = 0; v < k->chip->n_level && x->row == row; v++) {
                tmx_lp_add(lp, x->at[v].idle, n * (k->phase->idle_w - k->gpu->static_w));
            }
            for (size_t w = SM_W; w < N_MEAN && x->row == row; w++) {
                tmx_lp_add(lp, x->mean + w, n);
            }
        }
        for (size_t i = 0; i < d->n_gpus && d->heat; i++) {
            const struct gpus *g = &d->gpus[i];
            const struct group *x = &d->group[g->group];
            if (x->row == row) {
                tmx_lp_add(lp, g->col + 1,
                           (1 + o->rest_slope) * (double)g->n / (1 - x->kind->chip->board.loss));
            }
        }
    }
}

static void make_rows(struct build *d)
{
    struct tmx_lp *lp = &d->lp;
    work_rows(d);
    /* Little: sequences that wait for their next token, over the tokens */
    d->tbt_row = tmx_lp_row(lp, 0, false);
    for (const struct at *a = d->at; a < d->at + d->n_at && isfinite(d->b->tbt_s); a++) {
        const struct kind *k = a->k;
        const double ride_s = k->both * tmx_llm_prompt_s(k->phase, 1);
        for (size_t r = 0; r < k->token.n; r++) {
            tmx_lp_add(lp, a->token + r,
                       a->n * (a->clock.token * k->token.e[r] - d->b->tbt_s * k->token.x[r]));
        }
        tmx_lp_add(lp, a->riding, a->n * (a->clock.prompt * ride_s - d->b->tbt_s));
        tmx_lp_add(lp, a->lone_riding, a->n * (a->clock.prompt * ride_s - d->b->tbt_s));
    }
    d->time_row0 = lp->n_row;
    for (size_t i = 0; i < d->n_group; i++) {
        (void)tmx_lp_row(lp, 1, true);
        mean_row(d, &d->group[i], VOLT, true);
    }
    const size_t time_end = lp->n_row;
    for (size_t i = 0; i < d->n_group; i++) {
        const struct group *x = &d->group[i];
        for (int mean = 0; mean < N_MEAN; mean++) {
            (void)tmx_lp_row(lp, 0, true);
            mean_row(d, x, mean, false);
            tmx_lp_add(lp, x->mean + (size_t)mean, -1);
        }
        for (size_t v = 0; v < x->kind->chip->n_level; v++) {
            both_rows(d, &x->at[v]);
        }
    }
    d->end_row = time_end;
    row_rows(d);
    d->die_row0 = d->memory_row0 = lp->n_row;
    if (!d->heat) {
        return;
    }
    for (size_t i = 0; i < d->n_gpus; i++) {
        const struct gpus *g = &d->gpus[i];
        (void)tmx_lp_row(lp, g->room_k, true);
        tmx_lp_add(lp, g->col, 1);
        for (size_t j = 0; j < d->n_gpus; j++) {
            tmx_lp_add(lp, d->gpus[j].col + 1, -g->rise_k[j]);
        }
        for (size_t c = 0; c < g->cuts.n_heat; c++) {
            add_cut(d, g, &g->cuts.heat[c], -1, 0);
        }
    }
    d->die_row0 = lp->n_row;
    for (size_t i = 0; i < d->n_gpus; i++) {
        for (size_t c = 0; c < d->gpus[i].cuts.n_die; c++) {
            add_cut(d, &d->gpus[i], &d->gpus[i].cuts.die[c], 0, d->b->die_k);
        }
    }
    d->memory_row0 = lp->n_row;
    for (size_t i = 0; i < d->n_gpus; i++) {
        for (size_t c = 0; c < d->gpus[i].cuts.n_memory && isfinite(d->b->memory_k); c++) {
            add_cut(d, &d->gpus[i], &d->gpus[i].cuts.memory[c], 0, d->b->memory_k);
        }
    }
}

static void read_optimum(struct build *d, const double *x, const double *dual)
{
    struct tmx_serve_bound *b = d->b;
    const double pct = 100 / b->requests_per_s;
    double busy = 0, clock = 0, tokens = 0, iterations = 0, instances = 0, tbt = 0;
    for (size_t i = 0; i < d->n_group; i++) {
        instances += (double)d->group[i].n;
    }
    for (const struct at *a = d->at; a < d->at + d->n_at; a++) {
        const struct kind *k = a->k;
        const struct clock c = a->clock;
        double s =
            c.token * k->c * x[a->cache] +
            c.prompt * ((k->add ? k->c : 0) * x[a->cache_both] + x[a->both_s]) +
            c.prompt * (k->long_s * (x[a->lone] + k->both * x[a->lone_both]) + k->ride_s * x[a->lone_riding]);
        for (size_t r = 0; r < k->token.n; r++) {
            s += c.token * k->token.s[r] * x[a->token + r];
            tokens += a->n * k->token.x[r] * x[a->token + r];
            iterations += a->n * x[a->token + r];
            tbt += a->n * k->token.x[r] * x[a->token + r];
        }
        for (size_t r = 0; r < k->prompt.n; r++) {
            s += c.prompt * k->prompt.s[r] * x[a->prompt + r];
        }
        tbt += a->n * (x[a->riding] + x[a->lone_riding]);
        busy += a->n * s;
        clock += a->n * s * c.speed;
    }
    b->busy = busy / instances;
    b->clock = busy > 0 ? clock / busy : 1;
    b->batch = iterations > 0 ? tokens / iterations : NAN;
    for (size_t i = d->die_row0; i < d->memory_row0; i++) {
        b->gain_pct[TMX_SERVE_LIMIT_DIE] += pct * dual[i];
    }
    for (size_t i = d->memory_row0; i < d->lp.n_row; i++) {
        b->gain_pct[TMX_SERVE_LIMIT_MEMORY] += pct * dual[i];
    }
    for (size_t i = d->row_row0; i < d->die_row0 && isfinite(b->row_w) && i < d->row_row0 + d->spec->n_row;
         i++) {
        b->gain_pct[TMX_SERVE_LIMIT_ROW] += pct * dual[i] * 0.01 * b->row_w;
    }
    b->gain_pct[TMX_SERVE_LIMIT_TBT] =
        isfinite(b->tbt_s) ? pct * dual[d->tbt_row] * tbt * 0.01 * b->tbt_s : 0;
    for (size_t i = d->time_row0; i < d->end_row; i++) {
        b->gain_pct[TMX_SERVE_LIMIT_TIME] += pct * dual[i] * 0.01;
    }
}

/* 0.3 s of 586 rows, 10 s of 2878, 29 to 80 s of 5743, 170 s of 11 473, on machines that differ twofold:
 * fitted. */
static bool too_dear(const struct build *d, size_t n_row)
{
    return tmx_cost_check((struct tmx_cost){.seconds = 3.5e-9 * pow((double)n_row, 2.7),
                                            .bytes = 200 * (double)d->lp.n_entry},
                          d->err, "a bound of %zu groups of instances (a linear programme of %zu rows)",
                          d->n_group, n_row) != TMX_OK;
}

static void solve(struct build *d)
{
    struct tmx_serve_bound *b = d->b;
    double *x, *dual, objective = 0;
    TMX_TAKE(&d->arena, x, d->lp.n_col);
    TMX_TAKE(&d->arena, dual, d->lp.n_row);
    if (no_memory(d)) {
        return;
    }
    tmx_lp_solve(&d->lp, x, dual, &objective, d->err);
    if (d->err->code == TMX_ESOLVE) {
        tmx_fail(d->err, TMX_ESOLVE, "no bound here: idle GPUs already pass a limit");
    }
    if (!d->err->code) {
        b->requests_per_s = tmx_lp_bound(&d->lp, dual, NULL);
        if (!(b->requests_per_s > 1e-9)) { /* round-off, of which no gain is a share */
            tmx_fail(d->err, TMX_ESOLVE, "the bound is 0: within these limits no request is served");
            return;
        }
        b->tokens_per_s = b->requests_per_s * d->output;
        b->certificate = (b->requests_per_s - objective) / fmax(b->requests_per_s, 1e-6);
        b->n_col = d->lp.n_col;
        b->n_row = d->lp.n_row;
        read_optimum(d, x, dual);
    }
}

/* What needs no thermal model. End it with finish, also after failure. */
static void open(struct build *d, const struct tmx_run *run, struct tmx_err *err)
{
    struct air air = {0};
    *d = (struct build){.run = run, .spec = run->serve ? &run->serve->spec : NULL, .err = err};
    if (!d->spec || run->spread_of_gpu || run->n_inlet > 1) {
        tmx_error(err, TMX_EUNSUPPORTED, "no bound here: %s",
                  !d->spec           ? "the run serves no language model"
                  : run->n_inlet > 1 ? "the inlet changes in time"
                                     : "GPUs of a kind differ (spread)");
        return;
    }
    d->tp = (size_t)d->spec->options.tp;
    const struct tmx_serve_pool_options *p = &d->spec->pools;
    d->n_instance = p->prompt > 0 ? (size_t)(p->prompt + p->token) : d->spec->n_gpu / d->tp;
    d->heat = d->spec->options.heat;
    make_kinds(d);
    find_air(d, &air);
    partition(d, &air);
    if (!err->code) {
        make_groups(d, &air);
    }
}

static enum tmx_status finish(struct build *d, struct tmx_err *err)
{
    tmx_lp_finish(&d->lp);
    tmx_arena_finish(&d->arena);
    return tmx_error_give(err, d->err);
}

enum tmx_status tmx_serve_bound_check(const struct tmx_run *run, struct tmx_err *err)
{
    struct tmx_err own = {0};
    struct build d;
    open(&d, run, &own);
    const size_t on_gpu = 1 + N_REF * (N_CUT_SM + 1); /* lines of its die and watts; and of its memory: */
    if (!own.code) {
        size_t n_row = 3 + KV_CUTS + 1 + d.spec->n_row;
        for (size_t i = 0; i < d.n_group; i++) {
            const struct kind *k = d.group[i].kind;
            n_row += 1 + N_MEAN + k->chip->n_level * (k->add ? 3 : 6);
        }
        for (size_t i = 0; i < d.n_gpus && d.heat; i++) {
            n_row += on_gpu + (d.spec->gpu[d.gpus[i].first].chip->board.memory_c > 0 ? N_REF : 0);
        }
        (void)too_dear(&d, n_row);
    }
    return finish(&d, err);
}

enum tmx_status tmx_serve_bound(struct tmx_serve_bound *b, const struct tmx_run *run,
                                const struct tmx_serve_bound_options *o, struct tmx_err *err)
{
    struct tmx_err own = {0};
    struct build d;
    *b = (struct tmx_serve_bound){0};
    open(&d, run, &own);
    d.b = b;
    if (!own.code) { /* which limits */
        const double trip_k = tmx_sim_trip_k(tmx_run_sim(run)), budget_w = d.spec->row_options.budget_w;
        double die_k = trip_k > 0 ? trip_k : INFINITY, memory_k = INFINITY;
        for (size_t g = 0; g < d.n_instance * d.tp; g++) {
            const struct tmx_chip_board *board = &d.spec->gpu[g].chip->board;
            die_k = board->slowdown_c > 0 ? fmin(die_k, board->slowdown_c + TMX_ZERO_C) : die_k;
            memory_k = board->memory_c > 0 ? fmin(memory_k, board->memory_c + TMX_ZERO_C) : memory_k;
        }
        b->die_k = o->die_k > 0 ? o->die_k : die_k;
        b->memory_k = o->memory_k > 0 ? o->memory_k : memory_k;
        b->row_w = o->row_w > 0 ? o->row_w : budget_w > 0 ? budget_w : INFINITY;
        b->tbt_s = o->tbt_s > 0 ? o->tbt_s : INFINITY;
        if (d.heat && !isfinite(b->die_k)) {
            tmx_error(&own, TMX_EUNSUPPORTED, "no bound here: nothing limits the temperature");
        }
        read_requests(&d);
    }
    for (size_t i = 0; i < d.n_kind && !own.code; i++) {
        const struct tmx_serve_scheduler_options *s = &d.spec->scheduler;
        struct kind *k = &d.kind[i];
        struct rays *r = &k->token;
        prompt_rays(&d, k, fmin(budget_of(s), s->max_batch * (double)d.max_input));
        /* iterations of 1 .. most sequences: tangents of B (a + b B) at B = t meet in the middle of two t, at
         * a B + b t1 t2 */
        const double most = s->max_batch, ratio = pow(most, 1.0 / N_TANGENT);
        r->x[r->n++] = 1;
        for (int t = 0; t < N_TANGENT && most > 1; t++) {
            const double low = pow(ratio, t), high = pow(ratio, t + 1);
            r->x[r->n] = (low + high) / 2;
            r->e[r->n++] = low * high;
        }
        r->e[0] = 1;
        r->x[r->n] = most;
        r->e[r->n++] = most * most;
        for (size_t t = 0; t < r->n; t++) {
            r->s[t] = k->a + k->b * r->x[t];
            r->e[t] = k->a * r->x[t] + k->b * r->e[t];
        }
    }
    if (d.heat) {
        make_cuts(&d);
    }
    if (!own.code) {
        make_columns(&d);
    }
    if (!own.code) {
        make_rows(&d);
        if (!too_dear(&d, d.lp.n_row)) {
            solve(&d);
        }
    }
    return finish(&d, err);
}

/* ---- what a run reached ---- */

double tmx_serve_mean_tbt_s(const struct tmx_run *run)
{
    const struct tmx_serve *s = tmx_sim_serve(tmx_run_sim(run));
    const struct tmx_llm_request *q = s->request;
    double sum_s = 0, tokens = 0;
    for (size_t i = 0; i < s->n_request; i++) {
        if (q[i].first_s >= 0 && q[i].done_s >= q[i].first_s) {
            sum_s += q[i].done_s - q[i].first_s;
            tokens += q[i].output - 1.0;
        }
    }
    return tokens > 0 ? sum_s / tokens : 0;
}

double tmx_serve_mean_row_w(const struct tmx_run *run)
{
    const struct tmx_serve *s = tmx_sim_serve(tmx_run_sim(run));
    double most = 0;
    for (size_t k = 0; k < s->spec.n_row; k++) {
        const struct tmx_serve_row_ledger *l = &s->row_ledger[k];
        most = fmax(most, l->n > 0 ? l->sum_w / (double)l->n : 0);
    }
    return most;
}

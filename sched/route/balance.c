/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Routers that look at load alone, and what all routers do: each picks the least of a number over the
 * instances that are open to the request; where phases are split, once for the prompt and once for the
 * tokens, whose instance is the one with the least reserved cache. */
#include <math.h>

#include "sched/policies.h"

enum phase { PROMPT, TOKEN, EITHER };

/* SIZE_MAX: none is open, or has a score. */
static size_t least(const struct tmx_route_view *v, tmx_route_score *score, const void *policy,
                    enum phase phase)
{
    size_t best = SIZE_MAX;
    double of_best = INFINITY;
    for (size_t i = 0; i < v->n_instance; i++) {
        const struct tmx_instance_view *x = &v->instance[i];
        const bool may = x->open && (phase == EITHER || (phase == PROMPT ? x->prompt : x->token));
        const double of_this = may ? score(policy, v, x) : INFINITY;
        best = of_this < of_best ? i : best;
        of_best = fmin(of_this, of_best);
    }
    return best;
}

static double requests(const void *policy, const struct tmx_route_view *v, const struct tmx_instance_view *i)
{
    (void)policy, (void)v;
    return (double)i->n_request;
}

static double tokens(const void *policy, const struct tmx_route_view *v, const struct tmx_instance_view *i)
{
    (void)policy, (void)v;
    return i->pending_tokens;
}

static double reserved(const void *policy, const struct tmx_route_view *v, const struct tmx_instance_view *i)
{
    (void)policy, (void)v;
    return i->reserved_tokens;
}

static void to_instance(size_t prompt, const struct tmx_route_view *v, struct tmx_route *to)
{
    const bool both = prompt < v->n_instance && v->instance[prompt].token;
    *to = (struct tmx_route){prompt, both ? prompt : least(v, reserved, NULL, TOKEN)};
}

void tmx_route_by(tmx_route_score *score, const void *policy, const struct tmx_route_view *v,
                  struct tmx_route *to)
{
    to_instance(least(v, score, policy, PROMPT), v, to);
}

static void route_jsq(void *state, const struct tmx_route_view *v, struct tmx_route *to)
{
    tmx_route_by(requests, state, v, to);
}

static void route_tokens(void *state, const struct tmx_route_view *v, struct tmx_route *to)
{
    tmx_route_by(tokens, state, v, to);
}

struct splitwise {
    double most_tokens;
};

static const struct tmx_opt splitwise_opts[] = {
    TMX_ROW_REAL(splitwise, most_tokens, "tokens", 0, 1e9, 8192,
                 "that may wait at a prompt instance before another is borrowed"),
    {0},
};

/* The least loaded of an own pool, of instances that work for both, or of the other pool. */
enum pool { OWN, BOTH, OTHER };

struct lender {
    bool prompt;
    enum pool pool;
};

static double load_in(const void *lender, const struct tmx_route_view *v, const struct tmx_instance_view *x)
{
    const struct lender *l = lender;
    const bool own = l->prompt ? x->prompt : x->token,
               lent = x->prompt ? x->n_sequence > 0 : x->prompt_tokens > 0;
    const enum pool is = lent ? BOTH : own ? OWN : OTHER;
    (void)v;
    return is != l->pool ? INFINITY : l->prompt ? x->pending_tokens : x->reserved_tokens;
}

/* An own instance where it has room, else one that already works for both, else one of the other pool; the
 * least loaded of all that are left when none is. */
static size_t borrow(const struct tmx_route_view *v, bool prompt, double most)
{
    size_t last = SIZE_MAX;
    for (enum pool pool = OWN; pool <= OTHER; pool++) {
        const size_t i = least(v, load_in, &(struct lender){prompt, pool}, EITHER);
        if (i != SIZE_MAX) {
            const struct tmx_instance_view *x = &v->instance[i];
            const bool room = prompt ? x->prompt_tokens == 0 || x->prompt_tokens + v->input_tokens <= most
                                     : x->reserved_tokens + v->input_tokens <= x->capacity_tokens;
            if (room) {
                return i;
            }
            last = last == SIZE_MAX ? i : last;
        }
    }
    return last;
}

static void route_splitwise(void *state, const struct tmx_route_view *v, struct tmx_route *to)
{
    const struct splitwise *s = state;
    to->prompt = borrow(v, true, s->most_tokens);
    to->token = borrow(v, false, 0);
}

const struct tmx_route_policy tmx_route_splitwise = {
    .base = {.name = "splitwise",
             .doc = "Pools for prompts and tokens that lend each other instances when one is full.",
             .source = "Patel et al., ISCA 2024; splitwise-sim, MixedPoolScheduler (simplified)",
             .opts = splitwise_opts,
             .state_size = sizeof(struct splitwise)},
    .route = route_splitwise,
};

struct turn {
    size_t next;
};

static void route_turn(void *state, const struct tmx_route_view *v, struct tmx_route *to)
{
    struct turn *t = state;
    size_t prompt = SIZE_MAX;
    for (size_t k = 0; k < v->n_instance && prompt == SIZE_MAX; k++) {
        const size_t i = (t->next + k) % v->n_instance;
        prompt = v->instance[i].open && v->instance[i].prompt ? i : prompt;
    }
    t->next = prompt == SIZE_MAX ? t->next : prompt + 1;
    to_instance(prompt, v, to);
}

const struct tmx_route_policy tmx_route_tokens = {
    .base = {.name = "tokens",
             .doc = "The instance with the fewest pending tokens.",
             .source = "splitwise-sim, TokenJSQScheduler"},
    .route = route_tokens,
};

const struct tmx_route_policy tmx_route_jsq = {
    .base = {.name = "jsq",
             .doc = "The instance with the fewest requests.",
             .source = "join the shortest queue"},
    .route = route_jsq,
};

const struct tmx_route_policy tmx_route_round_robin = {
    .base = {.name = "round_robin",
             .doc = "One instance after another.",
             .source = "textbook",
             .state_size = sizeof(struct turn)},
    .route = route_turn,
};

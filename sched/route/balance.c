/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Routers that look at load alone. Each picks the least of a number over the instances that are open to the
 * request, ties to the lowest number; where phases are split, once for the prompt and once for the tokens,
 * whose instance is the one with the least reserved cache. */
#include "sched/policies.h"

typedef double load_fn(const struct tmx_instance_view *i);

static double requests(const struct tmx_instance_view *i)
{
    return (double)i->n_request;
}

static double tokens(const struct tmx_instance_view *i)
{
    return i->pending_tokens;
}

static double reserved(const struct tmx_instance_view *i)
{
    return i->reserved_tokens;
}

/* SIZE_MAX: none is open. */
static size_t least(const struct tmx_route_view *v, load_fn *load, bool prompt)
{
    size_t best = SIZE_MAX;
    for (size_t i = 0; i < v->n_instance; i++) {
        const struct tmx_instance_view *x = &v->instance[i];
        const bool may = x->open && (prompt ? x->prompt : x->token);
        best = may && (best == SIZE_MAX || load(x) < load(&v->instance[best])) ? i : best;
    }
    return best;
}

size_t tmx_route_token(const struct tmx_route_view *v, size_t prompt)
{
    return prompt < v->n_instance && v->instance[prompt].token ? prompt : least(v, reserved, false);
}

static void route_jsq(void *state, const struct tmx_route_view *v, struct tmx_route *to)
{
    (void)state;
    to->prompt = least(v, requests, true);
    to->token = tmx_route_token(v, to->prompt);
}

static void route_tokens(void *state, const struct tmx_route_view *v, struct tmx_route *to)
{
    (void)state;
    to->prompt = least(v, tokens, true);
    to->token = tmx_route_token(v, to->prompt);
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

static size_t least_in(const struct tmx_route_view *v, bool prompt, enum pool pool)
{
    size_t best = SIZE_MAX;
    for (size_t i = 0; i < v->n_instance; i++) {
        const struct tmx_instance_view *x = &v->instance[i];
        const bool own = prompt ? x->prompt : x->token,
                   lent = x->prompt ? x->n_sequence > 0 : x->prompt_tokens > 0;
        const enum pool is = lent ? BOTH : own ? OWN : OTHER;
        const double load = prompt ? x->pending_tokens : x->reserved_tokens;
        const double least_load = best == SIZE_MAX ? 0
                                  : prompt         ? v->instance[best].pending_tokens
                                                   : v->instance[best].reserved_tokens;
        best = x->open && is == pool && (best == SIZE_MAX || load < least_load) ? i : best;
    }
    return best;
}

/* An own instance where it has room, else one that already works for both, else one of the other pool; the
 * least loaded of all that are left when none is. */
static size_t borrow(const struct tmx_route_view *v, bool prompt, double most)
{
    size_t last = SIZE_MAX;
    for (enum pool pool = OWN; pool <= OTHER; pool++) {
        const size_t i = least_in(v, prompt, pool);
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
    for (size_t k = 0; k < v->n_instance && to->prompt == SIZE_MAX; k++) {
        const size_t i = (t->next + k) % v->n_instance;
        if (v->instance[i].open && v->instance[i].prompt) {
            to->prompt = i;
            t->next = i + 1;
        }
    }
    to->token = tmx_route_token(v, to->prompt);
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

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Instances that serve a language model.
 *
 *   requests --> router --> queue of an instance --> iterations --> first token ... last token
 *                                                      |
 *                              share of the tick and watts by component, for each of its GPUs
 *
 * An instance computes iterations, one after another. An iteration has prompts of new requests (which make
 * their first token), or one more token for each running sequence, or both; the scheduler decides at its
 * begin. It takes d(1) seconds at the fastest clock and
 *
 *   d(f) = d(1) ((1 - m) / f + m)
 *
 * at f of it, where m is the part that waits for memory. Instances advance by events: an iteration that ends
 * inside a tick is followed by the next at once, and its end is kept as a time of its own, not as a sum of
 * ticks. So no request depends on tick_s while clocks are constant. A new clock stretches what is left of the
 * running iteration. What an iteration does is visible when it ends: a router that saw it at the begin would
 * send all requests of an iteration's length to one instance.
 *
 * Order inside a tick: all instances advance to the next arrival (iterations that end at that time have
 * ended), the router looks and answers, the request goes. Where phases are split, a prompt's cache travels to
 * its token instance, so that one instance's end is another's arrival: then events of all instances are taken
 * in order of time, ties by number.
 *
 * Memory of the cache is reserved for input and output when a prompt is begun (lengths are in the trace): no
 * sequence is ever evicted. The head of a queue waits until it fits; later requests do not overtake it.
 *
 * Watts of a phase are a GPU's at its fastest clock and 55 degC. What baseline and leakage do not draw of
 * them is dynamic and goes to SMs, L2 and memory; SMs and L2 follow clock and voltage, memory the rate of
 * work. */
#include "core/serve/serve.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "core/floorplan/chip.h"

static const char *const token_times[] = {"batch", "flat", NULL};
static const char *const mixes[] = {"joint", "add", NULL};
static const char *const schedulers[] = {"mixed", "chunked", "prefill_first", "orca", NULL};
static const char *const row_words[] = {"all", "rack", NULL};
enum { FLAT = 1, ADD = 1 };

const struct tmx_opt tmx_serve_opts[] = {
    TMX_ROW_NAME(tmx_serve_options, model, NULL, "phases of the model: a file of workloads/llms/, or a path"),
    TMX_ROW_INT(tmx_serve_options, tp, "1", 1, 256, 8,
                "GPUs of an instance; the model's file must have this degree"),
    TMX_ROW_BOOL(tmx_serve_options, heat, 1, "off: neither dies nor sensors, GPUs draw the phases' watts"),
    TMX_ROW_BOOL(tmx_serve_options, beyond_fit, 0,
                 "compute prompts and batches larger than those of the rows behind the model's fit, and mark "
                 "their requests; off: larger prompts, and outputs longer than those, are refused, batches "
                 "stay within"),
    TMX_ROW_CHOICE(tmx_serve_options, token_time, token_times, "batch",
                   "time of an iteration of tokens: by batch and cache, or the same for all"),
    TMX_ROW_CHOICE(tmx_serve_options, mix, mixes, "joint",
                   "prompts and tokens together: 1.1 times a prompt of as many tokens, or the sum of both"),
    TMX_ROW_REAL(tmx_serve_options, kv_util, "1", 0.01, 1, 1,
                 "share of the GPUs' memory that weights and cache use"),
    TMX_ROW_BOOL(tmx_serve_options, class_servers, 0, "an instance serves requests of one class only"),
    TMX_ROW_REAL(tmx_serve_options, high_servers, "1", 0, 1, 0.5,
                 "class_servers: share of the instances for high priority"),
    TMX_ROW_REAL(tmx_serve_options, rest_w, "W", 0, 1e5, 124.5, "a node beside its GPUs, for each idle GPU"),
    TMX_ROW_REAL(tmx_serve_options, rest_slope, "1", 0, 10, 0.4,
                 "more of it for each watt of a GPU above idle"),
    {0},
};

const struct tmx_opt tmx_serve_scheduler_opts[] = {
    TMX_ROW_CHOICE(tmx_serve_scheduler_options, policy, schedulers, "mixed", "what an iteration consists of"),
    TMX_ROW_INT(tmx_serve_scheduler_options, budget, "tokens", 1, 10000000, 2048,
                "mixed, prefill_first: tokens of an iteration; a longer prompt goes alone"),
    TMX_ROW_INT(tmx_serve_scheduler_options, max_batch, "1", 1, 65535, 512,
                "sequences of an iteration; not given: at most those of the model's fit"),
    TMX_ROW_INT(tmx_serve_scheduler_options, max_preempt, "1", 0, 1000000, 4,
                "mixed: iterations without tokens, one after another"),
    TMX_ROW_INT(tmx_serve_scheduler_options, chunk, "tokens", 1, 10000000, 512,
                "chunked: prompt tokens of an iteration"),
    {0},
};

const struct tmx_opt tmx_serve_pool_opts[] = {
    TMX_ROW_INT(tmx_serve_pool_options, prompt, "1", 0, 65535, 0,
                "instances that compute prompts, the first ones"),
    TMX_ROW_INT(tmx_serve_pool_options, token, "1", 0, 65535, 0,
                "instances that make tokens, those after them"),
    TMX_ROW_REAL(tmx_serve_pool_options, gb_per_s, "GB/s", 0, 1e6, 214.748,
                 "link for the cache; 0: infinitely fast"),
    TMX_ROW_REAL(tmx_serve_pool_options, latency_s, "s", 0, 10, 0, "of that link"),
    TMX_ROW_REAL(tmx_serve_pool_options, overlap, "1", 0, 1, 0.9,
                 "share of the transfer that the prompt hides"),
    {0},
};

const struct tmx_opt tmx_row_opts[] = {
    TMX_ROW_REAL(tmx_row_options, budget_w, "W", 0, 1e12, 0, "that a row may draw; 0: no budget"),
    TMX_ROW_REAL(tmx_row_options, telemetry_s, "s", 1e-3, 3600, 2, "between two readings of a row's power"),
    TMX_ROW_REAL(tmx_row_options, rises_from_s, "s", 0, 1e9, 0,
                 "from when rises of a row's power count: a run begins empty"),
    TMX_ROW_REAL(tmx_row_options, oob_s, "s", 0, 3600, 40, "until a clock that is asked for is in force"),
    TMX_ROW_CHOICE(tmx_row_options, rows, row_words, "all",
                   "servers of a row: all, or a rack of the topology"),
    TMX_ROW_BOOL(tmx_row_options, brake, 1, "the power brake is there"),
    TMX_ROW_REAL(tmx_row_options, brake_s, "s", 0, 3600, 5, "from a reading above the budget to the brake"),
    TMX_ROW_REAL(tmx_row_options, brake_release, "1", 0, 1, 0.84,
                 "share of the budget below which the brake is let go"),
    TMX_ROW_REAL(tmx_row_options, brake_hold_s, "s", 0, 3600, 40, "until it is"),
    TMX_ROW_REAL(tmx_row_options, brake_hz, "Hz", 1e6, 1e10, 288e6, "clock under the brake"),
    {0},
};

static const uint32_t NONE = UINT32_MAX; /* no request */
_Static_assert(sizeof(struct tmx_llm_request) == 48, "a million of them in 48 MB");
enum state { IDLE, BUSY };

struct tmx_serve_fresh { /* sequences whose last token was at the same time */
    double last_s;
    size_t n;
};

struct tmx_serve_end { /* a running sequence, in a heap by the token iteration at which it ends */
    uint64_t at;
    uint32_t request;
};

struct tmx_serve_instance {
    enum state state;
    double from_s,
        end_s; /* accounted for up to; end of the iteration, or when a cache arrives; INFINITY: never */
    double nominal_s, m;       /* of the iteration at the fastest clock */
    double speed, watts_scale; /* clock in force; heat false: f V^2 (or f) */
    double dynamic_w, dram_share;
    uint32_t head, tail;    /* waiting prompts, in order of arrival */
    uint32_t cur, cur_tail; /* prompts that this iteration ends */
    uint32_t in_head;       /* caches on their way, by the time they arrive */
    size_t n_cur;
    uint32_t done_tokens;    /* chunked: of the head's prompt */
    size_t iteration_tokens; /* prompt tokens */
    size_t batch;            /* sequences that get a token; 0: none */
    size_t n_run, preempted;
    uint64_t k;                    /* token iterations so far */
    struct tmx_serve_end *heap;    /* [max_batch]; n_run are in it */
    struct tmx_serve_fresh *fresh; /* [max_batch + 1] */
    double late_s;                 /* that slow clocks took so far */
    double cached, held;           /* tokens of running sequences; reserved of the cache, prompts included */
    size_t n_fresh;
    /* this tick */
    double busy_s, sm_ws, l2_ws, dram_ws;
    struct tmx_serve_now now; /* of a GPU, of the last tick */
    /* row */
    double asked_hz, due_s, clock_hz;
    size_t level;
};

struct tmx_serve_row {
    double joules, w; /* since the last telemetry; mean before it */
    double memory[TMX_ROW_MEMORY];
    bool braked, brake_asked;
    double brake_due_s;
    double *past_w; /* [n_past] ring */
};

/* ---- what an iteration takes and draws ---- */

static double token_s(const struct tmx_serve *s, size_t i, double batch, double cached)
{
    return s->spec.options.token_time == FLAT ? 1e-3 * (s->phase[i]->token_ms[0] + s->phase[i]->token_ms[1])
                                              : tmx_llm_token_s(s->phase[i], batch, cached);
}

static double stretched(const struct tmx_serve_instance *x)
{
    return x->nominal_s * ((1 - x->m) / x->speed + x->m);
}

/* Time and watts of the running iteration up to `to_s`. */
static void account(struct tmx_serve *s, size_t i, double to_s)
{
    struct tmx_serve_instance *x = &s->instance[i];
    const double dt = to_s - x->from_s;
    x->from_s = to_s;
    if (x->state == IDLE || dt <= 0) {
        return;
    }
    const double l2 = s->spec.llm->l2_share, ws = dt * x->dynamic_w,
                 rate = x->speed >= 1 ? 1 : 1 / ((1 - x->m) / x->speed + x->m);
    struct tmx_serve_instance_ledger *l = &s->ledger[i];
    x->busy_s += dt;
    x->l2_ws += ws * l2;
    x->dram_ws += ws * x->dram_share * rate;
    x->sm_ws += ws * (1 - l2 - x->dram_share);
    *(x->iteration_tokens > 0 ? &l->prompt_s : &l->token_s) += dt;
    l->sequence_s += dt * (double)x->batch;
    const double late_s = dt * (1 - 1 / (x->m + (1 - x->m) / x->speed));
    x->late_s += late_s;
    l->late_s[s->row[s->view[i].row].braked ? TMX_LATE_BRAKE
              : x->speed >= tmx_chip_speed(s->chip[i], x->level) / tmx_chip_speed(s->chip[i], 0) - 1e-9
                  ? TMX_LATE_ROW
                  : TMX_LATE_BOARD] += late_s;
    const size_t active = x->iteration_tokens + x->batch;
    l->active_s[active <= 1 ? 0 : active <= 20 ? 1 : 2] += dt;
}

/* ---- the batch ---- */

static uint32_t pop_end(struct tmx_serve_instance *x)
{
    struct tmx_serve_end *h = x->heap;
    const uint32_t first = h[0].request;
    const size_t n = --x->n_run;
    const struct tmx_serve_end last = h[n];
    size_t k = 0, child;
    while ((child = 2 * k + 1) < n) {
        child += child + 1 < n && h[child + 1].at < h[child].at;
        if (h[child].at >= last.at) {
            break;
        }
        h[k] = h[child];
        k = child;
    }
    h[k] = last;
    return first;
}

/* Time that clocks took, as a mark that wraps around: differences count. */
static uint32_t late_mark(const struct tmx_serve_instance *x)
{
    return (uint32_t)(uint64_t)(x->late_s * 1e4);
}

static void complete(struct tmx_serve *s, size_t i, uint32_t r, double at_s)
{
    struct tmx_llm_request *q = &s->request[r];
    struct tmx_serve_instance *x = &s->instance[i];
    q->done_s = at_s;
    q->token_late = q->output > 1 ? late_mark(x) - q->token_late : 0;
    s->n_done++;
    s->end_s = fmax(s->end_s, at_s);
    s->view[i].n_request--;
    s->view[i].pending_tokens -= 1;
    s->view[i].reserved_tokens -= q->input + (double)q->output;
    x->held -= q->input + (double)q->output;
    s->ledger[i].n_request++;
    s->ledger[i].output_tokens += q->output;
}

/* A sequence with its first token, made at last_s, goes on in the batch. */
static void join(struct tmx_serve *s, size_t i, uint32_t r, double last_s)
{
    struct tmx_serve_instance *x = &s->instance[i];
    struct tmx_serve_fresh *f = x->fresh;
    struct tmx_llm_request *q = &s->request[r];
    const double output = q->output / s->phase[i]->max_prompt; /* a cache it has not seen */
    s->most_output = fmax(s->most_output, output);
    q->beyond |= output > 1 ? TMX_BEYOND_OUTPUT : 0;
    q->token_late = late_mark(x);
    const uint64_t at = x->k + q->output - 1; /* its end goes into the heap */
    struct tmx_serve_end *h = x->heap;
    size_t k = x->n_run++;
    s->view[i].n_sequence++;
    while (k > 0 && h[(k - 1) / 2].at > at) {
        h[k] = h[(k - 1) / 2];
        k = (k - 1) / 2;
    }
    h[k] = (struct tmx_serve_end){at, r};
    x->cached += q->input + 1.0;
    if (x->n_fresh > 0 && f[x->n_fresh - 1].last_s == last_s) {
        f[x->n_fresh - 1].n++;
    } else {
        f[x->n_fresh++] = (struct tmx_serve_fresh){last_s, 1};
    }
}

static void prompts_made(struct tmx_serve *s, size_t i, double at_s)
{
    struct tmx_serve_instance *x = &s->instance[i];
    for (size_t c = 0; c < x->n_cur; c++) {
        const uint32_t r = x->cur;
        struct tmx_llm_request *q = &s->request[r];
        x->cur = q->next;
        q->next = NONE;
        q->first_s = at_s;
        q->late_s = 1e-4F * (float)(late_mark(x) - q->prompt_mark);
        s->view[i].pending_tokens -= q->input;
        s->view[i].prompt_tokens -= q->input;
        s->ledger[i].input_tokens += q->input;
        const bool goes = q->token_instance != i && q->output > 1; /* its cache, to its token instance */
        struct tmx_serve_instance *to = &s->instance[q->token_instance];
        uint32_t *link = &to->in_head;
        if (goes) {
            s->view[i].reserved_tokens -= q->input;
            x->held -= q->input;
            s->view[i].pending_tokens -= 1;
            s->view[i].n_request--;
            q->done_s = at_s + s->spec.pools.latency_s +
                        s->token_link_s * q->input; /* until it is done: when it arrives */
            while (*link != NONE && s->request[*link].done_s <= q->done_s) {
                link = &s->request[*link].next;
            }
            q->next = *link;
            *link = r;
            to->end_s = to->state == IDLE ? fmin(to->end_s, q->done_s) : to->end_s;
        } else if (q->output == 1) {
            if (q->token_instance != i) { /* it never goes there; only the prompt's memory is reserved here */
                s->view[q->token_instance].reserved_tokens -= q->input + (double)q->output;
                s->view[q->token_instance].n_request--;
                s->view[q->token_instance].pending_tokens -= 1;
                s->view[i].reserved_tokens += q->output;
                x->held += q->output;
            }
            complete(s, i, r, at_s);
        } else {
            join(s, i, r, at_s);
        }
    }
    x->n_cur = 0;
}

/* ---- what the next iteration consists of ---- */

/* Does the head of the queue fit into the cache? Reserves it. */
static bool reserve_head(struct tmx_serve *s, size_t i)
{
    struct tmx_serve_instance *x = &s->instance[i];
    struct tmx_llm_request *q = &s->request[x->head];
    const bool stays = q->token_instance == i;
    const double wants = q->input + (stays ? (double)q->output : 0);
    if (x->n_run + x->n_cur >= (size_t)s->spec.scheduler.max_batch ||
        x->held + wants > s->view[i].capacity_tokens) {
        return false;
    }
    s->view[i].reserved_tokens += wants;
    x->held += wants;
    q->queue_s = (float)(x->from_s - q->arrival_s);
    q->prompt_mark = late_mark(x);
    return true;
}

/* The head of the queue ends in this iteration. */
static void take_head(struct tmx_serve *s, size_t i)
{
    struct tmx_serve_instance *x = &s->instance[i];
    const uint32_t r = x->head;
    x->head = s->request[r].next;
    x->tail = x->head == NONE ? NONE : x->tail;
    s->request[r].next = NONE;
    *(x->n_cur == 0 ? &x->cur : &s->request[x->cur_tail].next) = r;
    x->cur_tail = r;
    x->n_cur++;
    x->done_tokens = 0;
}

/* Prompts up to `budget` tokens beside those there are, the first always; orca: no budget. */
static void take_prompts(struct tmx_serve *s, size_t i, double beside, double budget)
{
    struct tmx_serve_instance *x = &s->instance[i];
    while (x->head != NONE) {
        const double input = s->request[x->head].input;
        if ((x->n_cur > 0 && (double)x->iteration_tokens + input + beside > budget) || !reserve_head(s, i)) {
            return;
        }
        x->iteration_tokens += (size_t)input;
        take_head(s, i);
    }
}

static void take_pieces(struct tmx_serve *s, size_t i, size_t chunk)
{
    struct tmx_serve_instance *x = &s->instance[i];
    while (x->head != NONE && x->iteration_tokens < chunk && (x->done_tokens > 0 || reserve_head(s, i))) {
        const size_t left = s->request[x->head].input - x->done_tokens, room = chunk - x->iteration_tokens;
        if (left > room) {
            x->done_tokens += (uint32_t)room;
            x->iteration_tokens += room;
        } else {
            x->iteration_tokens += left;
            take_head(s, i);
        }
    }
}

static void begin(struct tmx_serve *s, size_t i, double at_s)
{
    struct tmx_serve_instance *x = &s->instance[i];
    const struct tmx_serve_scheduler_options *o = &s->spec.scheduler;
    x->from_s = at_s;
    /* caches that have arrived join the batch as far as they fit */
    while (x->in_head != NONE && x->n_run < (size_t)o->max_batch) {
        const uint32_t r = x->in_head;
        struct tmx_llm_request *q = &s->request[r];
        if (q->done_s > at_s || x->held + q->input + q->output > s->view[i].capacity_tokens) {
            break;
        }
        x->in_head = q->next;
        x->held += q->input + (double)q->output;
        q->next = NONE;
        q->done_s = -1;
        join(s, i, r, q->first_s);
    }
    /* schedule */
    x->iteration_tokens = x->n_cur = 0;
    x->batch = x->n_run;
    switch (o->policy) {
    case TMX_SERVE_ORCA:
        take_prompts(s, i, 0, s->spec.options.beyond_fit ? INFINITY : s->phase[i]->max_prompt);
        break;
    case TMX_SERVE_CHUNKED:
        take_pieces(s, i, (size_t)o->chunk > x->n_run ? (size_t)o->chunk - x->n_run : 1);
        break;
    case TMX_SERVE_PREFILL_FIRST:
        take_prompts(s, i, 0, o->budget);
        x->batch = x->iteration_tokens > 0 ? 0 : x->n_run;
        break;
    default:
        take_prompts(s, i, (double)x->n_run, o->budget);
        if ((double)(x->iteration_tokens + x->n_run) > o->budget && x->n_cur > 0 &&
            x->preempted < (size_t)o->max_preempt) {
            x->preempted += x->n_run > 0;
            x->batch = 0;
        } else {
            x->preempted = 0;
        }
    }
    if (x->iteration_tokens == 0 && x->batch == 0) {
        x->state = IDLE;
        x->end_s = x->in_head != NONE ? s->request[x->in_head].done_s : INFINITY;
        return;
    }
    x->state = BUSY;
    s->ledger[i].n_iteration++;
    /* an iteration beyond the rows behind the fit marks its requests */
    const struct tmx_llm_phase *p = s->phase[i];
    const double n = (double)x->iteration_tokens, size = (double)x->batch, prompt = n / p->max_prompt,
                 batch = size / p->max_batch;
    s->most_prompt = fmax(s->most_prompt, prompt);
    s->most_batch = fmax(s->most_batch, batch);
    uint32_t r = x->cur;
    for (size_t c = 0; c < x->n_cur && prompt > 1; c++, r = s->request[r].next) {
        s->request[r].beyond |= TMX_BEYOND_PROMPT;
    }
    for (size_t k = 0; k < x->n_run && batch > 1 && x->batch > 0; k++) {
        s->request[x->heap[k].request].beyond |= TMX_BEYOND_BATCH;
    }
    /* its length and watts */
    const struct tmx_llm *llm = s->spec.llm;
    const struct tmx_serve_gpu *gpu = &s->spec.gpu[s->view[i].gpu0];
    double gpu_w;
    if (n > 0) {
        const bool add = s->spec.options.mix == ADD || o->policy == TMX_SERVE_CHUNKED;
        const double tokens = size > 0 ? token_s(s, i, size, x->cached) : 0;
        x->nominal_s = size == 0 ? tmx_llm_prompt_s(p, n)
                       : add     ? tmx_llm_prompt_s(p, n) + tokens - 1e-3 * p->token_ms[0]
                                 : fmax(1.1 * tmx_llm_prompt_s(p, n + size), tokens);
        x->m = llm->m_prompt;
        x->dram_share = llm->prompt_dram_share;
        gpu_w = tmx_llm_prompt_share(p, n) * gpu->board_w;
    } else {
        x->nominal_s = token_s(s, i, size, x->cached);
        x->m = llm->m_token;
        x->dram_share = llm->token_dram_share;
        gpu_w = p->token_share * gpu->board_w + p->token_w_per_sequence * size;
    }
    if (s->row[s->view[i].row].braked) {
        x->m = 0; /* at so slow a clock nothing is hidden behind memory: assumed */
    }
    x->dynamic_w = fmax(0, gpu_w - gpu->static_w);
    x->end_s = at_s + stretched(x);
}

/* The event of an instance: its iteration ends, or a cache arrives; the next iteration begins. */
static void step(struct tmx_serve *s, size_t i)
{
    struct tmx_serve_instance *x = &s->instance[i];
    const double at_s = x->end_s;
    if (x->state == BUSY) {
        account(s, i, at_s);
        if (x->batch > 0) { /* tokens are made */
            struct tmx_serve_fresh *f = x->fresh;
            for (size_t k = 0; k < x->n_fresh; k++) {
                const double gap_s = at_s - f[k].last_s;
                uint64_t bits;
                memcpy(&bits, &gap_s, sizeof bits);
                const int64_t bin = (int64_t)(bits >> 45) - ((1023 - 14) << 7);
                s->gap[bin < 0 || gap_s <= 0 ? 0 : bin >= TMX_GAP_BINS ? TMX_GAP_BINS - 1 : bin] += f[k].n;
            }
            x->k++;
            x->cached += (double)x->batch;
            while (x->n_run > 0 && x->heap[0].at <= x->k) {
                const uint32_t r = pop_end(x);
                s->view[i].n_sequence--;
                x->cached -= s->request[r].input + (double)s->request[r].output;
                complete(s, i, r, at_s);
            }
            f[0] = (struct tmx_serve_fresh){at_s, x->n_run};
            x->n_fresh = x->n_run > 0;
        }
        prompts_made(s, i, at_s);
    }
    begin(s, i, at_s);
}

static void run_to(struct tmx_serve *s, double limit_s)
{
    for (size_t i = 0; !s->split && i < s->n; i++) {
        while (s->instance[i].end_s <= limit_s) {
            step(s, i);
        }
    }
    while (s->split) { /* one's end is another's arrival: in order of time */
        size_t first = 0;
        for (size_t i = 1; i < s->n; i++) {
            first = s->instance[i].end_s < s->instance[first].end_s ? i : first;
        }
        if (s->instance[first].end_s > limit_s) {
            return;
        }
        step(s, first);
    }
}

/* ---- arrivals ---- */

static void arrive(struct tmx_serve *s, uint32_t r, struct tmx_err *err)
{
    struct tmx_llm_request *q = &s->request[r];
    const struct tmx_choice *c = s->spec.route;
    const bool classes = s->spec.options.class_servers;
    for (size_t i = 0; i < s->n && classes; i++) {
        s->view[i].open = s->view[i].class_of == q->class_of;
    }
    const struct tmx_route_view v = {.time_s = q->arrival_s,
                                     .n_instance = s->n,
                                     .n_row = s->spec.n_row,
                                     .instance = s->view,
                                     .row_w = s->row_w,
                                     .budget_w = s->spec.row_options.budget_w,
                                     .input_tokens = q->input,
                                     .class_of = q->class_of};
    struct tmx_route to = {SIZE_MAX, SIZE_MAX};
    tmx_route_of(c)->route(c->state, &v, &to);
    to.token = to.token == SIZE_MAX ? to.prompt : to.token;
    const bool begins = to.prompt < s->n && s->view[to.prompt].open;
    if (!begins || to.token >= s->n || !s->view[to.token].open) {
        const size_t bad = begins ? to.token : to.prompt;
        tmx_error(err, TMX_ESOLVE, "route policy %s: %s instance %zu for request %u, of %zu; it is %s",
                  c->policy->name, begins ? "token" : "prompt", bad, r, s->n,
                  bad < s->n ? "not open to it" : "not there");
        return;
    }
    struct tmx_serve_instance *x = &s->instance[to.prompt];
    q->instance = (uint16_t)to.prompt;
    q->token_instance = (uint16_t)to.token;
    s->view[to.prompt].pending_tokens += q->input + 1.0;
    s->view[to.prompt].prompt_tokens += q->input;
    s->view[to.prompt].n_request++;
    if (to.token != to.prompt) { /* its memory is kept from now on */
        s->view[to.token].reserved_tokens += q->input + (double)q->output;
        s->view[to.token].n_request++;
        s->view[to.token].pending_tokens += 1;
    }
    *(x->head == NONE ? &x->head : &s->request[x->tail].next) = r;
    x->tail = r;
    if (x->state == IDLE) {
        begin(s, to.prompt, q->arrival_s);
    }
}

/* ---- rows ---- */

/* A new clock stretches what is left of the running iteration. */
static void set_speed(struct tmx_serve *s, size_t i, double speed, double at_s)
{
    struct tmx_serve_instance *x = &s->instance[i];
    const bool braked = s->row[s->view[i].row].braked;
    const double m = braked ? 0 : x->iteration_tokens > 0 ? s->spec.llm->m_prompt : s->spec.llm->m_token;
    if (speed == x->speed && (x->state == IDLE || m == x->m)) {
        return;
    }
    if (x->state == BUSY) {
        account(s, i, at_s);
        const double left = (x->end_s - at_s) / stretched(x);
        x->speed = speed;
        x->m = m;
        x->end_s = at_s + left * stretched(x);
    }
    x->speed = speed;
}

/* Readings of a row's power in 40 s. */
static size_t n_past(const struct tmx_row_options *o)
{
    return (size_t)fmax(1, round(40 / o->telemetry_s));
}

static void decide_rows(struct tmx_serve *s, double at_s, struct tmx_err *err)
{
    const struct tmx_row_options *o = &s->spec.row_options;
    const struct tmx_choice *c = s->spec.row;
    const size_t back_2 = (size_t)fmax(1, round(2 / o->telemetry_s)), back_40 = n_past(o),
                 first = (size_t)ceil(o->rises_from_s / o->telemetry_s);
    for (size_t k = 0; k < s->spec.n_row; k++) {
        struct tmx_serve_row *r = &s->row[k];
        struct tmx_serve_row_ledger *l = &s->row_ledger[k];
        s->row_w[k] = r->w = r->joules / o->telemetry_s;
        r->joules = 0;
        l->peak_w = fmax(l->peak_w, r->w);
        l->sum_w += r->w;
        if (l->n >= first + back_2) {
            l->rise_2s_w = fmax(l->rise_2s_w, r->w - r->past_w[(l->n - back_2) % back_40]);
        }
        if (l->n >= first + back_40) {
            l->rise_40s_w = fmax(l->rise_40s_w, r->w - r->past_w[l->n % back_40]);
        }
        r->past_w[l->n++ % back_40] = r->w;
        if (o->budget_w <= 0 || !o->brake) {
            continue;
        }
        if (!r->brake_asked && r->w > o->budget_w) {
            r->brake_asked = true;
            r->brake_due_s = at_s + o->brake_s;
            l->n_brake++;
        } else if (r->brake_asked && r->braked && r->w < o->brake_release * o->budget_w &&
                   r->brake_due_s == INFINITY) {
            r->brake_asked = false;
            r->brake_due_s = at_s + o->brake_hold_s;
        }
    }
    for (size_t k = 0; k < s->spec.n_row && c->policy; k++) {
        const struct tmx_row_view v = {.time_s = at_s,
                                       .telemetry_s = o->telemetry_s,
                                       .row = k,
                                       .n_row = s->spec.n_row,
                                       .power_w = s->row[k].w,
                                       .budget_w = o->budget_w,
                                       .braked = s->row[k].braked,
                                       .n_instance = s->n,
                                       .instance = s->view,
                                       .clock_hz = s->clock_hz,
                                       .memory = s->row[k].memory};
        tmx_row_of(c)->decide(c->state, &v, s->asked_hz);
    }
    for (size_t i = 0; i < s->n; i++) {
        struct tmx_serve_instance *x = &s->instance[i];
        if (!(s->asked_hz[i] > 0)) {
            tmx_error(err, TMX_ESOLVE,
                      "row policy %s: a clock of %g Hz for instance %zu, expected more than 0",
                      c->policy->name, s->asked_hz[i], i);
        }
        if (x->due_s == INFINITY &&
            s->asked_hz[i] != x->clock_hz) { /* a clock on its way is not called back */
            x->asked_hz = s->asked_hz[i];
            x->due_s = at_s + o->oob_s;
        }
    }
}

/* Clocks and brakes whose time has come. */
static void apply_rows(struct tmx_serve *s, double at_s)
{
    static const double early = 1e-9; /* due times are sums */
    for (size_t k = 0; k < s->spec.n_row; k++) {
        struct tmx_serve_row *r = &s->row[k];
        if (r->brake_due_s <= at_s + early) {
            r->braked = r->brake_asked;
            r->brake_due_s = INFINITY;
        }
    }
    for (size_t i = 0; i < s->n; i++) {
        struct tmx_serve_instance *x = &s->instance[i];
        if (x->due_s <= at_s + early) {
            x->clock_hz = s->clock_hz[i] = x->asked_hz;
            x->due_s = INFINITY;
        }
        const struct tmx_chip *c = s->chip[i];
        const bool braked = s->row[s->view[i].row].braked;
        const double hz = braked ? fmin(x->clock_hz, s->spec.row_options.brake_hz) : x->clock_hz;
        x->level = 0;
        while (x->level + 1 < c->n_level && c->level[x->level].freq_hz > hz * (1 + 1e-9)) {
            x->level++;
        }
    }
}

/* ---- the tick ---- */

double tmx_serve_power_w(const struct tmx_serve *s, size_t i, double gpu_w)
{
    const double n = (double)s->view[i].n_gpu, slope = s->spec.options.rest_slope;
    return gpu_w + n * (s->spec.options.rest_w - slope * s->phase[i]->idle_w) + slope * gpu_w;
}

void tmx_serve_account(struct tmx_serve *s, const double *chip_w, double dt_s)
{
    const bool counts = s->tick_end_s > 0; /* not the warm-up */
    for (size_t i = 0; i < s->n; i++) {
        struct tmx_instance_view *v = &s->view[i];
        double gpu_w = 0;
        for (size_t g = v->gpu0; g < v->gpu0 + v->n_gpu; g++) {
            gpu_w += chip_w ? tmx_chip_board_w(s->chip[i], chip_w[g]) : s->instance[i].now.gpu_w;
        }
        v->gpu_w = gpu_w / (double)v->n_gpu;
        v->power_w = tmx_serve_power_w(s, i, gpu_w);
        if (counts) {
            s->row[v->row].joules += v->power_w * dt_s;
            s->ledger[i].joules += gpu_w * dt_s;
            s->ledger[i].inlet_ks += v->inlet_k * dt_s;
        }
    }
}

void tmx_serve_advance(struct tmx_serve *s, const struct tmx_serve_tick *t, struct tmx_err *err)
{
    /* what dies and sensors say of the last tick */
    for (size_t i = 0; i < s->n && t->speed; i++) {
        struct tmx_instance_view *v = &s->view[i];
        double hottest = 0, memory = NAN, inlet = NAN, speed = INFINITY;
        for (size_t g = v->gpu0; g < v->gpu0 + v->n_gpu; g++) {
            hottest = fmax(hottest, t->hottest_k[g]);
            memory = fmax(memory, t->memory_k[g]);
            inlet = fmax(inlet, t->inlet_k[g]);
            speed = fmin(speed, t->speed[g]);
        }
        v->hottest_k = hottest;
        v->memory_k = memory;
        v->inlet_k = inlet;
        set_speed(s, i, fmax(speed, 1e-3), t->begin_s);
    }
    apply_rows(s, t->begin_s);
    if (t->begin_s >= s->telemetry_s - 1e-9) {
        s->telemetry_s += s->spec.row_options.telemetry_s;
        decide_rows(s, t->begin_s, err);
        apply_rows(s, t->begin_s);
    }
    /* without dies a GPU has the clock that its row leaves it */
    for (size_t i = 0; i < s->n && !t->speed; i++) {
        struct tmx_serve_instance *x = &s->instance[i];
        const struct tmx_chip *c = s->chip[i];
        const double speed = tmx_chip_speed(c, x->level) / tmx_chip_speed(c, 0),
                     volt = tmx_chip_volt(c, x->level) / tmx_chip_volt(c, 0);
        x->watts_scale = speed * (c->power.dvfs_power == TMX_DVFS_V2F ? volt * volt : 1);
        set_speed(s, i, speed, t->begin_s);
    }
    while (!err->code && s->next < s->n_request && s->request[s->next].arrival_s < t->end_s) {
        const uint32_t r = (uint32_t)s->next++;
        run_to(s, s->request[r].arrival_s);
        arrive(s, r, err);
    }
    if (err->code) {
        return;
    }
    run_to(s, t->end_s);
    const double dt = t->end_s - t->begin_s;
    for (size_t i = 0; i < s->n; i++) { /* mean watts of the tick */
        struct tmx_serve_instance *x = &s->instance[i];
        const struct tmx_serve_gpu *gpu = &s->spec.gpu[s->view[i].gpu0];
        account(s, i, t->end_s);
        x->now = (struct tmx_serve_now){
            .sm_w = x->sm_ws / dt, .l2_w = x->l2_ws / dt, .dram_w = x->dram_ws / dt, .busy = x->busy_s / dt};
        x->now.gpu_w = x->now.busy * gpu->static_w + (1 - x->now.busy) * s->phase[i]->idle_w +
                       x->watts_scale * (x->now.sm_w + x->now.l2_w) + x->now.dram_w;
        x->busy_s = x->sm_ws = x->l2_ws = x->dram_ws = 0;
        s->ledger[i].capped_s += isfinite(x->clock_hz) ? dt : 0;
        s->ledger[i].braked_s += s->row[s->view[i].row].braked ? dt : 0;
    }
    s->tick_end_s = t->end_s;
}

struct tmx_serve_now tmx_serve_now(const struct tmx_serve *s, size_t gpu)
{
    const size_t i = gpu / (size_t)s->spec.options.tp;
    if (i >= s->n) { /* of no pool */
        return (struct tmx_serve_now){.gpu_w = s->spec.gpu[gpu].phase->idle_w};
    }
    struct tmx_serve_now now = s->instance[i].now;
    now.level = s->instance[i].level;
    now.reasons =
        (s->instance[i].clock_hz < s->chip[i]->level[0].freq_hz ? 1u << TMX_REASON_SW_POWER_CAP : 0u) |
        (s->row[s->view[i].row].braked ? 1u << TMX_REASON_HW_POWER_BRAKE : 0u);
    return now;
}

/* ---- set-up ---- */

int tmx_serve_class(const struct tmx_serve_options *o, size_t instance)
{
    const double i = (double)instance;
    return o->class_servers && floor((i + 1) * o->high_servers) == floor(i * o->high_servers);
}

struct tmx_serve *tmx_serve_take(struct tmx_arena *arena, const struct tmx_serve_spec *spec)
{
    const struct tmx_serve_pool_options *p = &spec->pools;
    const size_t most = (size_t)spec->scheduler.max_batch;
    struct tmx_serve *s = TMX_TAKE(arena, s, 1);
    if (!s) {
        return NULL;
    }
    s->spec = *spec;
    s->split = p->prompt > 0;
    s->n = s->split ? (size_t)(p->prompt + p->token) : spec->n_gpu / (size_t)spec->options.tp;
    s->n_request = spec->list->n;
    s->request = spec->list->request;
    s->token_link_s =
        p->gb_per_s > 0 ? tmx_llm_token_bytes(spec->llm) / (p->gb_per_s * 1e9) * (1 - p->overlap) : 0;
    TMX_TAKE(arena, s->ledger, s->n);
    TMX_TAKE(arena, s->row_ledger, spec->n_row);
    TMX_TAKE(arena, s->instance, s->n);
    TMX_TAKE(arena, s->view, s->n);
    TMX_TAKE(arena, s->row, spec->n_row);
    struct tmx_serve_end *heap = TMX_TAKE(arena, heap, s->n * most);
    struct tmx_serve_fresh *fresh = TMX_TAKE(arena, fresh, s->n * (most + 1));
    for (size_t k = 0; s->row && k < spec->n_row; k++) {
        TMX_TAKE(arena, s->row[k].past_w, n_past(&spec->row_options));
    }
    TMX_TAKE_REALS(arena, s->n, &s->asked_hz, &s->clock_hz);
    TMX_TAKE(arena, s->row_w, spec->n_row);
    TMX_TAKE(arena, s->gap, TMX_GAP_BINS);
    TMX_TAKE(arena, s->chip, s->n);
    TMX_TAKE(arena, s->phase, s->n);
    if (arena->failed) {
        return s;
    }
    s->telemetry_s = spec->row_options.telemetry_s;
    for (size_t k = 0; k < spec->n_row; k++) {
        s->row[k].brake_due_s = INFINITY;
    }
    for (size_t i = 0; i < s->n; i++) {
        const size_t tp = (size_t)spec->options.tp, gpu0 = i * tp;
        const struct tmx_serve_gpu *gpu = &spec->gpu[gpu0];
        s->chip[i] = gpu->chip;
        s->phase[i] = gpu->phase;
        s->instance[i] = (struct tmx_serve_instance){.state = IDLE,
                                                     .end_s = INFINITY,
                                                     .speed = 1,
                                                     .watts_scale = 1,
                                                     .head = NONE,
                                                     .tail = NONE,
                                                     .cur = NONE,
                                                     .in_head = NONE,
                                                     .heap = heap + i * most,
                                                     .fresh = fresh + i * (most + 1),
                                                     .asked_hz = INFINITY,
                                                     .clock_hz = INFINITY,
                                                     .due_s = INFINITY,
                                                     .now = {.gpu_w = gpu->phase->idle_w}};
        s->asked_hz[i] = s->clock_hz[i] = INFINITY;
        s->view[i] = (struct tmx_instance_view){
            .gpu0 = gpu0,
            .n_gpu = tp,
            .row = gpu->row,
            .class_of = (size_t)tmx_serve_class(&spec->options, i),
            .prompt = !s->split || i < (size_t)p->prompt,
            .token = !s->split || i >= (size_t)p->prompt,
            .open = true,
            .capacity_tokens = tmx_llm_capacity(spec->llm, gpu->phase, spec->options.kv_util),
            .prompt_w = tmx_llm_prompt_share(gpu->phase, 4096) * gpu->board_w,
            .k_per_w = gpu->k_per_w,
            .limit_k = gpu->limit_k,
            .memory_k_per_w = gpu->memory_k_per_w,
            .memory_limit_k = gpu->memory_limit_k,
            .gpu_w = gpu->phase->idle_w,
            .power_w = (double)tp * (gpu->phase->idle_w + spec->options.rest_w),
            .hottest_k = NAN,
            .memory_k = NAN,
            .inlet_k = NAN};
    }
    return s;
}

size_t tmx_serve_n_beyond(const struct tmx_serve *s)
{
    size_t n = 0;
    for (size_t i = 0; i < s->n_request; i++) {
        n += s->request[i].beyond != 0;
    }
    return n;
}

double tmx_serve_gap_quantile_s(const struct tmx_serve *s, double q)
{
    uint64_t n = 0, below = 0;
    for (size_t b = 0; b < TMX_GAP_BINS; b++) {
        n += s->gap[b];
    }
    for (size_t b = 0; b < TMX_GAP_BINS && n > 0; b++) {
        below += s->gap[b];
        if ((double)below >= q * (double)n) { /* the middle of the bin */
            return ldexp(1 + ((double)(b % 128) + 0.5) / 128, (int)(b / 128) - 14);
        }
    }
    return 0;
}

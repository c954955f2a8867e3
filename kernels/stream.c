/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "kernels/stream.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "base/rng.h"

const struct tmx_opt tmx_instr_opts[] = {
    TMX_ROW_REAL(tmx_instr_stats, mix_int, "1", 0, 1, NAN, "share of INT instructions"),
    TMX_ROW_REAL(tmx_instr_stats, mix_fp, "1", 0, 1, NAN, "share of FP instructions"),
    TMX_ROW_REAL(tmx_instr_stats, mix_sfu, "1", 0, 1, NAN, "share of SFU instructions"),
    TMX_ROW_REAL(tmx_instr_stats, mix_ldst, "1", 0, 1, NAN, "share of load/store instructions"),
    TMX_ROW_REAL(tmx_instr_stats, persistence, "1", 0, 0.99, 0, "chance to repeat the type, beyond the mix"),
    TMX_ROW_INT(tmx_instr_stats, warps, "warps", 1, TMX_MAX_WARPS, NAN, "resident on an SM"),
    TMX_ROW_INT(tmx_instr_stats, warps_per_block, "warps", 1, TMX_MAX_WARPS, NAN, "of one thread block"),
    TMX_ROW_REAL(tmx_instr_stats, dependence, "1", 0, 1, NAN, "share that reads a recent result"),
    TMX_ROW_REAL(tmx_instr_stats, distance, "instructions", 1, 64, NAN, "mean distance to that result"),
    TMX_ROW_REAL(tmx_instr_stats, load_distance, "instructions", 1, 64, NAN,
                 "mean distance from a load to its first use"),
    TMX_ROW_REAL(tmx_instr_stats, global_share, "1", 0, 1, NAN, "of LDST: global memory"),
    TMX_ROW_REAL(tmx_instr_stats, store_share, "1", 0, 1, 0.2, "of global: stores"),
    TMX_ROW_REAL(tmx_instr_stats, miss, "1", 0, 1, NAN, "of global loads: leave the SM"),
    TMX_ROW_REAL(tmx_instr_stats, latency_cycles, "cycles", 1, 20000, NAN, "mean latency of a miss"),
    TMX_ROW_REAL(tmx_instr_stats, latency_variation, "1", 0, 0.95, 0.3, "relative half width of it"),
    TMX_ROW_REAL(tmx_instr_stats, bandwidth, "lines/cycle", 0, 100, 0, "128 B lines per SM; 0: no limit"),
    TMX_ROW_REAL(tmx_instr_stats, lines, "lines", 1, 32, 1, "per global access that leaves the SM"),
    TMX_ROW_INT(tmx_instr_stats, body, "instructions", 8, TMX_MAX_REGISTER, 100, "length of the loop body"),
    TMX_ROW_INT(tmx_instr_stats, repetitions, "1", 1, 1000000, 20, "loops per thread block"),
    TMX_ROW_INT(tmx_instr_stats, barriers, "1", 0, 64, 0, "per body"),
    TMX_ROW_INT(tmx_instr_stats, blocks_per_launch, "blocks", 0, 1000000, 0,
                "an SM's share of a grid; 0: one endless grid"),
    TMX_ROW_INT(tmx_instr_stats, launch_gap_cycles, "cycles", 0, 100000, 0,
                "the SM is empty between two grids"),
    {0},
};

const struct tmx_opt tmx_knob_opts[] = {
    TMX_ROW_REAL(tmx_stream_knobs, dependence, "1", 0, 10, 1, "factor on dependence"),
    TMX_ROW_REAL(tmx_stream_knobs, persistence, "1", 0, 10, 1, "factor on persistence"),
    TMX_ROW_REAL(tmx_stream_knobs, fp_persistence, "1", 0, 10, 1, "further factor on that of FP"),
    TMX_ROW_REAL(tmx_stream_knobs, miss, "1", 0, 10, 1, "factor on miss"),
    TMX_ROW_REAL(tmx_stream_knobs, latency, "1", 0, 10, 1, "factor on latency_cycles"),
    TMX_ROW_REAL(tmx_stream_knobs, launch_gap, "1", 0, 10, 1, "factor on launch_gap_cycles"),
    TMX_ROW_REAL(tmx_stream_knobs, bodies, "1", 1, 100, 1,
                 "number of loop bodies that are drawn and run one after another"),
    {0},
};

static double at_most(double v, double limit)
{
    return v < limit ? v : limit;
}

static int draw_distance(struct tmx_rng *rng, double mean, int body)
{
    int d = 1;
    while (d < body - 1 && tmx_rng_uniform(rng) >= 1 / mean) { /* geometric from 1 */
        d++;
    }
    return d;
}

static enum tmx_latency_class draw_latency(struct tmx_rng *rng, const struct tmx_instr_stats *stats, int type)
{
    if (type == TMX_UNIT_SFU) {
        return TMX_LATENCY_SFU;
    }
    if (type != TMX_UNIT_LDST) {
        return TMX_LATENCY_ALU;
    }
    const double global = tmx_rng_uniform(rng), store = tmx_rng_uniform(rng);
    if (global >= stats->global_share) {
        return TMX_LATENCY_SHARED;
    }
    return store < stats->store_share ? TMX_LATENCY_STORE : TMX_LATENCY_GLOBAL;
}

/* The result of instruction i is register i + 1; distances wrap round the loop. */
static void draw_body(struct tmx_rng *rng, const struct tmx_instr_stats *stats,
                      const double persistence[TMX_N_UNIT_TYPE], double dependence, struct tmx_instr *body)
{
    const double share[TMX_N_UNIT_TYPE] = {stats->mix_int, stats->mix_fp, stats->mix_sfu, stats->mix_ldst};
    int left[TMX_N_UNIT_TYPE], last = -1;
    const int n = stats->body;

    /* counts of each type in the body: largest remainders, so they sum to body */
    double rest[TMX_N_UNIT_TYPE];
    int sum = 0;
    for (int t = 0; t < TMX_N_UNIT_TYPE; t++) {
        left[t] = (int)floor(share[t] * n);
        rest[t] = share[t] * n - left[t];
        sum += left[t];
    }
    for (; sum < n; sum++) {
        int best = 0;
        for (int t = 1; t < TMX_N_UNIT_TYPE; t++) {
            best = rest[t] > rest[best] ? t : best;
        }
        left[best]++;
        rest[best] = -1;
    }
    for (int i = 0; i < n; i++) { /* the last type again with chance `persistence`, else by what is left */
        const bool again = last >= 0 && left[last] > 0 && tmx_rng_uniform(rng) < persistence[last];
        int type = again ? last : 0, pick = again ? 0 : (int)tmx_rng_below(rng, (uint64_t)(n - i));
        while (!again && pick >= left[type]) {
            pick -= left[type++];
        }
        const enum tmx_latency_class latency = draw_latency(rng, stats, type);
        left[type]--;
        last = type;
        body[i] = (struct tmx_instr){.type = (uint8_t)type,
                                     .latency = (uint8_t)latency,
                                     .dest = latency == TMX_LATENCY_STORE ? 0 : (uint8_t)(i + 1)};
    }
    for (int i = 0; i < n; i++) {
        const double depends = tmx_rng_uniform(rng);
        const int d = draw_distance(rng, stats->distance, n);
        if (depends < dependence) {
            body[i].source[0] = body[(i - d + n) % n].dest;
        }
        if (body[i].latency == TMX_LATENCY_GLOBAL) {
            struct tmx_instr *user = &body[(i + draw_distance(rng, stats->load_distance, n)) % n];
            user->source[user->source[1] ? 2 : 1] = body[i].dest;
        }
    }
    for (int b = 0; b < stats->barriers; b++) {
        body[(b + 1) * n / stats->barriers - 1].barrier = true;
    }
}

enum tmx_status tmx_instr_check(const struct tmx_instr_stats *stats, struct tmx_err *err)
{
    const double sum = stats->mix_int + stats->mix_fp + stats->mix_sfu + stats->mix_ldst;
    if (fabs(sum - 1) > 1e-6) {
        return tmx_fail(err, TMX_ECONFIG, "mix_int + mix_fp + mix_sfu + mix_ldst = %.9g, expected 1", sum);
    }
    if (stats->barriers > stats->body) {
        return tmx_fail(err, TMX_ECONFIG, "barriers = %d in a body of %d instructions", stats->barriers,
                        stats->body);
    }
    if (stats->warps % stats->warps_per_block != 0) {
        return tmx_fail(err, TMX_ECONFIG, "warps = %d is no multiple of warps_per_block = %d", stats->warps,
                        stats->warps_per_block);
    }
    return TMX_OK;
}

enum tmx_status tmx_stream_generate(struct tmx_stream *s, const struct tmx_instr_stats *stats,
                                    const struct tmx_stream_knobs *knobs, uint64_t seed, struct tmx_err *err)
{
    struct tmx_rng *rng = NULL;
    const size_t body = (size_t)stats->body, bodies = (size_t)knobs->bodies;
    *s = (struct tmx_stream){0};
    enum tmx_status status = tmx_instr_check(stats, err);
    if (status) {
        return status;
    }
    *s = (struct tmx_stream){
        .n_instr = body * bodies,
        .n_program = 1,
        .n_register = (unsigned)stats->body + 1,
        .warps = (unsigned)stats->warps,
        .warps_per_block = (unsigned)stats->warps_per_block,
        .n_block = UINT64_MAX,
        .stagger = stats->blocks_per_launch == 0,
        .blocks_per_launch = (unsigned)stats->blocks_per_launch,
        .launch_gap_cycles = (unsigned)(stats->launch_gap_cycles * knobs->launch_gap),
        .memory = {.miss = at_most(stats->miss * knobs->miss, 1),
                   .latency_cycles = stats->latency_cycles * knobs->latency,
                   .latency_variation = stats->latency_variation,
                   .bandwidth = stats->bandwidth,
                   .lines = stats->lines},
        .seed = seed,
    };
    s->instr = calloc(s->n_instr, sizeof *s->instr);
    s->program = calloc(1, sizeof *s->program);
    status = s->instr && s->program ? tmx_rng_create(&rng, seed, "micro.body", err)
                                    : tmx_fail(err, TMX_ENOMEM, "instruction stream of %zu", s->n_instr);
    if (status) {
        tmx_stream_finish(s);
        return status;
    }
    const unsigned repetitions = (unsigned)stats->repetitions / (unsigned)bodies;
    s->program[0] =
        (struct tmx_program){.count = s->n_instr, .repetitions = repetitions > 0 ? repetitions : 1};
    const double persistence = stats->persistence * knobs->persistence;
    const double of_type[TMX_N_UNIT_TYPE] = {at_most(persistence, 0.99),
                                             at_most(persistence * knobs->fp_persistence, 0.99),
                                             at_most(persistence, 0.99), at_most(persistence, 0.99)};
    for (size_t b = 0; b < bodies; b++) {
        draw_body(rng, stats, of_type, at_most(stats->dependence * knobs->dependence, 1),
                  s->instr + b * body);
    }
    tmx_rng_destroy(rng);
    return TMX_OK;
}

void tmx_stream_finish(struct tmx_stream *s)
{
    free(s->instr);
    free(s->program);
    *s = (struct tmx_stream){0};
}

enum { MAX_DEPTH = 8, MAX_TURNS = 1 << 20 };

static const struct letter {
    char name;
    bool result;
    uint8_t type, latency;
} letters[] = {
    {'i', true, TMX_UNIT_INT, TMX_LATENCY_ALU},      {'I', false, TMX_UNIT_INT, TMX_LATENCY_ALU},
    {'f', true, TMX_UNIT_FP, TMX_LATENCY_ALU},       {'F', false, TMX_UNIT_FP, TMX_LATENCY_ALU},
    {'s', true, TMX_UNIT_SFU, TMX_LATENCY_SFU},      {'l', true, TMX_UNIT_LDST, TMX_LATENCY_SHARED},
    {'m', false, TMX_UNIT_LDST, TMX_LATENCY_SHARED}, {'g', true, TMX_UNIT_LDST, TMX_LATENCY_GLOBAL},
    {'w', false, TMX_UNIT_LDST, TMX_LATENCY_STORE},
};

struct loop {
    const char *begin; /* after its bracket */
    unsigned left;     /* turns after this one */
    size_t at;         /* instructions before this turn */
};

struct expander {
    const char *text, *p;
    struct tmx_stream *s;
    size_t first, capacity; /* of this program; of s->instr */
    struct loop loop[MAX_DEPTH];
    unsigned depth;
};

static enum tmx_status bad(const struct expander *e, struct tmx_err *err, const char *what)
{
    return tmx_fail(err, TMX_EPARSE, "program, character %zu: %s", (size_t)(e->p - e->text) + 1, what);
}

/* Digits at p; 0 where there are none or more than limit says. */
static unsigned digits(struct expander *e, unsigned limit)
{
    unsigned v = 0;
    for (; *e->p >= '0' && *e->p <= '9'; e->p++) {
        v = v > limit ? v : 10 * v + (unsigned)(*e->p - '0');
    }
    return v > limit ? 0 : v;
}

/* The result of instruction k is register k mod 254 + 1, so a register lives longer than any distance. */
static enum tmx_status instruction(struct expander *e, struct tmx_err *err)
{
    const struct letter *l = letters;
    const struct letter *end = letters + sizeof letters / sizeof letters[0];
    const size_t k = e->s->n_instr - e->first;
    struct tmx_instr in = {0};
    while (l < end && l->name != *e->p) {
        l++;
    }
    if (l == end) {
        return bad(e, err, "expected an instruction i I f F s l m g w, N( or )");
    }
    e->p++;
    in.type = l->type;
    in.latency = l->latency;
    in.dest = l->result ? (uint8_t)(k % TMX_MAX_REGISTER + 1) : 0;
    for (unsigned i = 0; *e->p >= '0' && *e->p <= '9'; i++) {
        const unsigned d = digits(e, TMX_CODE_DISTANCE);
        if (d == 0 || i == TMX_INSTR_SOURCES) {
            return bad(e, err, "expected at most three distances from 1 to 253");
        }
        if (d <= k) {
            in.source[i] = e->s->instr[e->s->n_instr - d].dest;
        }
        e->p += *e->p == ',';
    }
    in.barrier = *e->p == '!';
    e->p += in.barrier;
    struct tmx_stream *s = e->s;
    if (s->n_instr - e->first == TMX_CODE_MAX) {
        return bad(e, err, "more than 1048576 instructions");
    }
    if (s->n_instr == e->capacity) {
        e->capacity = e->capacity ? 2 * e->capacity : 256;
        struct tmx_instr *more = realloc(s->instr, e->capacity * sizeof *more);
        if (!more) {
            return tmx_fail(err, TMX_ENOMEM, "program of %zu instructions", s->n_instr);
        }
        s->instr = more;
    }
    s->instr[s->n_instr++] = in;
    return TMX_OK;
}

enum tmx_status tmx_code_append(struct tmx_stream *s, const char *text, struct tmx_err *err)
{
    struct expander e = {.text = text, .p = text, .s = s, .first = s->n_instr, .capacity = s->n_instr};
    enum tmx_status st = TMX_OK;
    while (!st && *e.p) {
        struct loop *l = e.depth > 0 ? &e.loop[e.depth - 1] : NULL;
        if (*e.p == ' ') {
            e.p++;
        } else if (*e.p == ')' && (!l || l->at == s->n_instr)) {
            st = bad(&e, err, l ? "a loop without an instruction" : "no loop to close");
        } else if (*e.p == ')' && l->left > 0) {
            l->left--;
            l->at = s->n_instr;
            e.p = l->begin;
        } else if (*e.p == ')') {
            e.depth--;
            e.p++;
        } else if (*e.p >= '0' && *e.p <= '9') {
            const unsigned turns = digits(&e, MAX_TURNS);
            if (turns == 0 || *e.p != '(') {
                st = bad(&e, err, "expected a loop as 16( ... ), of at most 1048576 turns");
            } else if (e.depth == MAX_DEPTH) {
                st = bad(&e, err, "more than 8 loops in one another");
            } else {
                e.p++;
                e.loop[e.depth++] = (struct loop){e.p, turns - 1, s->n_instr};
            }
        } else {
            st = instruction(&e, err);
        }
    }
    if (!st && (e.depth > 0 || s->n_instr == e.first)) {
        st = bad(&e, err, e.depth > 0 ? "a loop is not closed" : "no instruction");
    }
    if (st) {
        return st;
    }
    struct tmx_program *more = realloc(s->program, (s->n_program + 1) * sizeof *more);
    if (!more) {
        return tmx_fail(err, TMX_ENOMEM, "%zu programs", s->n_program + 1);
    }
    s->program = more;
    s->program[s->n_program++] =
        (struct tmx_program){.first = e.first, .count = s->n_instr - e.first, .repetitions = 1};
    s->n_register = TMX_MAX_REGISTER + 1;
    return TMX_OK;
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "core/micro/code.h"

#include <stdbool.h>
#include <stdlib.h>

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

static enum tmx_status push(struct expander *e, const struct tmx_instr *in, struct tmx_err *err)
{
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
    s->instr[s->n_instr++] = *in;
    return TMX_OK;
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
    return push(e, &in, err);
}

static enum tmx_status open_loop(struct expander *e, struct tmx_err *err)
{
    const unsigned turns = digits(e, MAX_TURNS);
    if (turns == 0 || *e->p != '(') {
        return bad(e, err, "expected a loop as 16( ... ), of at most 1048576 turns");
    }
    if (e->depth == MAX_DEPTH) {
        return bad(e, err, "more than 8 loops in one another");
    }
    e->p++;
    e->loop[e->depth++] = (struct loop){e->p, turns - 1, e->s->n_instr};
    return TMX_OK;
}

static enum tmx_status close_loop(struct expander *e, struct tmx_err *err)
{
    if (e->depth == 0) {
        return bad(e, err, "no loop to close");
    }
    struct loop *l = &e->loop[e->depth - 1];
    if (l->at == e->s->n_instr) {
        return bad(e, err, "a loop without an instruction");
    }
    if (l->left > 0) {
        l->left--;
        l->at = e->s->n_instr;
        e->p = l->begin;
    } else {
        e->depth--;
        e->p++;
    }
    return TMX_OK;
}

static enum tmx_status expand(struct expander *e, struct tmx_err *err)
{
    enum tmx_status st = TMX_OK;
    while (!st && *e->p) {
        if (*e->p == ' ') {
            e->p++;
        } else if (*e->p == ')') {
            st = close_loop(e, err);
        } else if (*e->p >= '0' && *e->p <= '9') {
            st = open_loop(e, err);
        } else {
            st = instruction(e, err);
        }
    }
    if (!st && (e->depth > 0 || e->s->n_instr == e->first)) {
        st = bad(e, err, e->depth > 0 ? "a loop is not closed" : "no instruction");
    }
    return st;
}

enum tmx_status tmx_code_append(struct tmx_stream *s, const char *text, struct tmx_err *err)
{
    struct expander e = {.text = text, .p = text, .s = s, .first = s->n_instr, .capacity = s->n_instr};
    const enum tmx_status st = expand(&e, err);
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

/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "core/micro/trace_file.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/text.h"

static const char *const type_words[] = {"INT", "FP", "SFU", "LDST"};
static const char *const latency_words[] = {"alu", "sfu", "shared", "global", "store"};

enum { MAX_WARPS = 1 << 20 };

struct reader {
    struct tmx_text_file text;
    const char *name;
    unsigned line;
    size_t n_warp;
    unsigned block_warps, resident_warps;
};

struct entry { /* one instruction line */
    size_t warp;
    struct tmx_instr instr;
};

static enum tmx_status bad(const struct reader *r, struct tmx_err *err, const char *what)
{
    return tmx_fail_at(err, TMX_EPARSE, r->name, r->line, "%s", what);
}

/* A whole number 0 .. limit. */
static bool whole(struct tmx_span f, double limit, size_t *v)
{
    double x;
    if (!tmx_span_real(f, &x) || x < 0 || x > limit || floor(x) < x) {
        return false;
    }
    *v = (size_t)x;
    return true;
}

static bool word_index(struct tmx_span f, const char *const *words, size_t n, uint8_t *index)
{
    for (size_t i = 0; i < n; i++) {
        if (tmx_span_is(f, words[i])) {
            *index = (uint8_t)i;
            return true;
        }
    }
    return false;
}

static bool reg(struct tmx_span f, uint8_t *index)
{
    size_t v = 0;
    if (tmx_span_is(f, "-")) {
        *index = 0;
        return true;
    }
    const bool ok = whole(f, TMX_MAX_REGISTER, &v) && v > 0;
    *index = (uint8_t)v;
    return ok;
}

static bool sources(struct tmx_span f, uint8_t source[TMX_INSTR_SOURCES])
{
    for (unsigned i = 0; f.begin < f.end; i++) {
        const char *comma = memchr(f.begin, ',', tmx_span_length(f));
        const struct tmx_span one = {f.begin, comma ? comma : f.end};
        if (i == TMX_INSTR_SOURCES || !reg(one, &source[i]) || comma == f.end - 1) {
            return false;
        }
        f.begin = comma ? comma + 1 : f.end;
    }
    return true;
}

static enum tmx_status parse_instr(const struct reader *r, struct tmx_span rest, struct entry *e,
                                   struct tmx_err *err)
{
    struct tmx_span f[6] = {{0}};
    size_t n = 0;
    while (n < 6 && tmx_span_field(&rest, &f[n])) {
        n++;
    }
    *e = (struct entry){0};
    if (n < 5 || tmx_span_field(&rest, &(struct tmx_span){0})) {
        return bad(r, err, "expected: warp type dest sources latency [barrier]");
    }
    if (!whole(f[0], MAX_WARPS - 1, &e->warp)) {
        return bad(r, err, "expected a warp number from 0");
    }
    if (!word_index(f[1], type_words, TMX_N_UNIT_TYPE, &e->instr.type)) {
        return bad(r, err, "expected a type: INT FP SFU LDST");
    }
    if (!reg(f[2], &e->instr.dest) || !sources(f[3], e->instr.source)) {
        return bad(r, err, "expected registers 1 to 254 or \"-\", at most three sources");
    }
    if (!word_index(f[4], latency_words, TMX_N_LATENCY_CLASS, &e->instr.latency)) {
        return bad(r, err, "expected a latency class: alu sfu shared global store");
    }
    if (n == 6 && !tmx_span_is(f[5], "barrier")) {
        return bad(r, err, "expected \"barrier\" or the end of the line");
    }
    e->instr.barrier = n == 6;
    return TMX_OK;
}

static enum tmx_status parse_header(struct reader *r, struct tmx_span rest, unsigned index,
                                    struct tmx_err *err)
{
    static const char *const words[] = {"thermix-trace", "block_warps", "resident_warps"};
    struct tmx_span key, value;
    size_t v;
    if (!tmx_span_field(&rest, &key) || !tmx_span_is(key, words[index]) || !tmx_span_field(&rest, &value) ||
        !whole(value, TMX_MAX_WARPS, &v) || v == 0 || tmx_span_field(&rest, &key)) {
        return tmx_fail_at(err, TMX_EPARSE, r->name, r->line, "expected \"%s N\"", words[index]);
    }
    if (index == 0 && v != 1) {
        return bad(r, err, "this program reads version 1");
    }
    if (index == 1) {
        r->block_warps = (unsigned)v;
    } else if (index == 2) {
        r->resident_warps = (unsigned)v;
        if (v % r->block_warps != 0) {
            return bad(r, err, "resident_warps is no multiple of block_warps");
        }
    }
    return TMX_OK;
}

/* Call each instruction line in order; visit may be NULL. */
static enum tmx_status walk(struct reader *r, void (*visit)(void *ctx, const struct entry *e), void *ctx,
                            struct tmx_err *err)
{
    struct tmx_lines lines = {0};
    unsigned header = 0;
    while (tmx_lines_next(&lines, &r->text)) {
        struct tmx_span rest = lines.line;
        const char *hash = memchr(rest.begin, '#', tmx_span_length(rest));
        struct tmx_span look, first;
        enum tmx_status st;
        r->line = lines.number;
        rest.end = hash ? hash : rest.end;
        look = rest;
        if (!tmx_span_field(&look, &first)) {
            continue;
        }
        if (header < 3) {
            st = parse_header(r, rest, header++, err);
        } else {
            struct entry e;
            st = parse_instr(r, rest, &e, err);
            if (!st) {
                r->n_warp = e.warp >= r->n_warp ? e.warp + 1 : r->n_warp;
            }
            if (!st && visit) {
                visit(ctx, &e);
            }
        }
        if (st) {
            return st;
        }
    }
    r->line = 0;
    return header == 3 ? TMX_OK : bad(r, err, "not a trace: no \"thermix-trace 1\" header");
}

static void count(void *ctx, const struct entry *e)
{
    struct tmx_stream *s = ctx;
    s->program[e->warp].count++;
}

static void fill(void *ctx, const struct entry *e)
{
    struct tmx_stream *s = ctx;
    struct tmx_program *p = &s->program[e->warp];
    s->instr[p->first + p->count++] = e->instr;
    const uint8_t regs[] = {e->instr.dest, e->instr.source[0], e->instr.source[1], e->instr.source[2]};
    for (size_t i = 0; i < sizeof regs; i++) {
        s->n_register = regs[i] >= s->n_register ? regs[i] + 1u : s->n_register;
    }
}

static enum tmx_status place(const struct reader *r, struct tmx_stream *s, struct tmx_err *err)
{
    for (size_t w = 0; w < s->n_program; w++) {
        s->program[w].first = s->n_instr;
        s->n_instr += s->program[w].count;
        s->program[w].count = 0;
        s->program[w].repetitions = 1;
        if ((w + 1) % r->block_warps == 0 && s->n_instr == s->program[w + 1 - r->block_warps].first) {
            return tmx_fail_at(err, TMX_EPARSE, r->name, 0, "thread block %zu has no instruction",
                               w / r->block_warps);
        }
    }
    s->instr = calloc(s->n_instr, sizeof *s->instr);
    return s->instr ? TMX_OK : tmx_fail(err, TMX_ENOMEM, "trace of %zu instructions", s->n_instr);
}

enum tmx_status tmx_trace_file_read(struct tmx_stream *s, const char *path, const struct tmx_memory *memory,
                                    uint64_t seed, struct tmx_err *err)
{
    struct reader r = {.name = path};
    *s = (struct tmx_stream){.memory = *memory, .seed = seed, .n_register = 1};
    enum tmx_status st = tmx_text_load(&r.text, path, err);
    if (st) {
        return st;
    }
    st = walk(&r, NULL, NULL, err);
    if (!st && r.n_warp % r.block_warps != 0) {
        st = tmx_fail_at(err, TMX_EPARSE, path, 0, "%zu warps are no whole number of blocks of %u", r.n_warp,
                         r.block_warps);
    }
    if (!st && r.n_warp == 0) {
        st = tmx_fail_at(err, TMX_EPARSE, path, 0, "no instruction");
    }
    if (!st) {
        s->n_program = r.n_warp;
        s->warps_per_block = r.block_warps;
        s->n_block = r.n_warp / r.block_warps;
        s->warps = r.resident_warps < r.n_warp ? r.resident_warps : (unsigned)r.n_warp;
        s->program = calloc(s->n_program, sizeof *s->program);
        st = s->program ? walk(&r, count, s, err) : tmx_fail(err, TMX_ENOMEM, "%zu warps", s->n_program);
    }
    st = st ? st : place(&r, s, err);
    st = st ? st : walk(&r, fill, s, err);
    tmx_text_finish(&r.text);
    if (st) {
        tmx_stream_finish(s);
    }
    return st;
}

static void print_reg(FILE *out, unsigned v)
{
    if (v) {
        fprintf(out, " %u", v);
    } else {
        fputs(" -", out);
    }
}

static void print_instr(FILE *out, uint64_t warp, const struct tmx_instr *in)
{
    fprintf(out, "%" PRIu64 " %s", warp, type_words[in->type]);
    print_reg(out, in->dest);
    unsigned n = 0;
    for (unsigned i = 0; i < TMX_INSTR_SOURCES; i++) {
        if (in->source[i]) {
            fprintf(out, "%c%u", n++ ? ',' : ' ', in->source[i]);
        }
    }
    fprintf(out, "%s %s%s\n", n ? "" : " -", latency_words[in->latency], in->barrier ? " barrier" : "");
}

void tmx_trace_file_write(const struct tmx_stream *s, uint64_t n_block, FILE *out)
{
    fprintf(out, "thermix-trace 1\nblock_warps %u\nresident_warps %u\n# warp type dest sources latency\n",
            s->warps_per_block, s->warps);
    for (uint64_t warp = 0; warp < n_block * s->warps_per_block; warp++) {
        const struct tmx_program *p = &s->program[warp % s->n_program];
        for (unsigned rep = 0; rep < p->repetitions; rep++) {
            for (size_t i = 0; i < p->count; i++) {
                print_instr(out, warp, &s->instr[p->first + i]);
            }
        }
    }
}

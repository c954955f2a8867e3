/* SPDX-License-Identifier: GPL-3.0-or-later */

#include <inttypes.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/text.h"
#include "kernels/stream.h"

static const char *const type_words[] = {"INT", "FP", "SFU", "LDST"};
static const char *const latency_words[] = {"alu", "sfu", "shared", "global", "store"};

enum { MAX_WARPS = 1 << 20 };

struct input {
    struct tmx_text_file text;
    struct tmx_lines lines;
    const char *path;
    struct tmx_err *err; /* stays */
};

static void bad(const struct input *in, const char *what)
{
    tmx_error_at(in->err, TMX_EPARSE, in->path, in->lines.number, "%s", what);
}

/* A trace's text; what is packed is refused with the program that unpacks it. */
static void load(struct input *in)
{
    static const struct {
        const char *end, *what;
    } packed[] = {
        {".tracez",
         "a packed trace of Accel-Sim 2.0: its own tool `traceDsm FILE.tracez` writes FILE.traceg, "
         "which --convert reads"},
        {".xz", "a packed trace: `xz -d FILE.xz` unpacks it"},
    };
    for (size_t i = 0; i < sizeof packed / sizeof packed[0]; i++) {
        if (tmx_text_ends(in->path, packed[i].end)) {
            tmx_error_at(in->err, TMX_EPARSE, in->path, 0, "%s", packed[i].what);
        }
    }
    tmx_text_load(&in->text, in->path, in->err);
}

/* Digits alone, at most limit. */
static bool whole(struct tmx_span s, size_t limit, size_t *v)
{
    size_t x = 0;
    for (const char *p = s.begin; p < s.end; p++) {
        if (*p < '0' || *p > '9' || (x = 10 * x + (size_t)(*p - '0')) > limit) {
            return false;
        }
    }
    *v = x;
    return s.end > s.begin;
}

/* ---- traces as text ---- */

struct entry { /* one instruction line */
    size_t warp;
    struct tmx_instr instr;
};

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
    const bool none = tmx_span_is(f, "-"), ok = none || (whole(f, TMX_MAX_REGISTER, &v) && v > 0);
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

static void parse_instr(const struct input *in, struct tmx_span rest, struct entry *e)
{
    struct tmx_span f[6] = {{0}};
    size_t n = 0;
    while (n < 6 && tmx_span_field(&rest, &f[n])) {
        n++;
    }
    *e = (struct entry){.instr.barrier = n == 6};
    struct tmx_instr *i = &e->instr;
    const char *fault =
        n < 5 || tmx_span_field(&rest, &(struct tmx_span){0})
            ? "expected: warp type dest sources latency [barrier]"
        : !whole(f[0], MAX_WARPS - 1, &e->warp)                    ? "expected a warp number from 0"
        : !word_index(f[1], type_words, TMX_N_UNIT_TYPE, &i->type) ? "expected a type: INT FP SFU LDST"
        : !reg(f[2], &i->dest) || !sources(f[3], i->source)
            ? "expected registers 1 to 254 or \"-\", at most three sources"
        : !word_index(f[4], latency_words, TMX_N_LATENCY_CLASS, &i->latency)
            ? "expected a latency class: alu sfu shared global store"
        : n == 6 && !tmx_span_is(f[5], "barrier") ? "expected \"barrier\" or the end of the line"
                                                  : NULL;
    if (fault) {
        bad(in, fault);
    }
}

enum { VERSION, BLOCK_WARPS, RESIDENT_WARPS, N_HEADER };

static void parse_header(const struct input *in, struct tmx_span rest, size_t index, size_t value[N_HEADER])
{
    static const char *const words[] = {"thermix-trace", "block_warps", "resident_warps"};
    struct tmx_span key, number;
    size_t *v = &value[index];
    if (!tmx_span_field(&rest, &key) || !tmx_span_is(key, words[index]) || !tmx_span_field(&rest, &number) ||
        !whole(number, TMX_MAX_WARPS, v) || *v == 0 || tmx_span_field(&rest, &key)) {
        tmx_error_at(in->err, TMX_EPARSE, in->path, in->lines.number, "expected \"%s N\"", words[index]);
    } else if (index == VERSION && *v != 1) {
        bad(in, "this program reads version 1");
    } else if (index == RESIDENT_WARPS && *v % value[BLOCK_WARPS] != 0) {
        bad(in, "resident_warps is no multiple of block_warps");
    }
}

/* Lines of warps, which may alternate, to programs: each warp's instructions behind one another. */
static void make_programs(struct tmx_stream *s, const char *path, const struct entry *entry, size_t n,
                          struct tmx_err *err)
{
    s->program = calloc(s->n_program, sizeof *s->program);
    s->instr = calloc(n, sizeof *s->instr);
    tmx_memory_check(s->program && s->instr, err);
    if (err->code) {
        return;
    }
    for (size_t i = 0; i < n; i++) {
        s->program[entry[i].warp].count++;
    }
    for (size_t w = 0; w < s->n_program; w++) {
        struct tmx_program *p = &s->program[w];
        *p = (struct tmx_program){.first = s->n_instr, .count = p->count, .repetitions = 1};
        s->n_instr += p->count;
        p->count = 0;
        if ((w + 1) % s->warps_per_block == 0 && s->n_instr == (p + 1 - s->warps_per_block)->first) {
            tmx_error_at(err, TMX_EPARSE, path, 0, "thread block %zu has no instruction",
                         w / s->warps_per_block);
        }
    }
    for (size_t i = 0; i < n; i++) {
        struct tmx_program *p = &s->program[entry[i].warp];
        const struct tmx_instr *in = &entry[i].instr;
        const uint8_t regs[] = {in->dest, in->source[0], in->source[1], in->source[2]};
        s->instr[p->first + p->count++] = *in;
        for (size_t k = 0; k < sizeof regs; k++) {
            s->n_register = regs[k] >= s->n_register ? regs[k] + 1u : s->n_register;
        }
    }
}

enum tmx_status tmx_trace_file_read(struct tmx_stream *s, const char *path, const struct tmx_memory *memory,
                                    uint64_t seed, struct tmx_err *err)
{
    struct tmx_err own = {0};
    struct input in = {.path = path, .err = &own};
    struct tmx_arena arena = {0};
    struct entry *entry = NULL;
    size_t n = 0, n_header = 0, n_warp = 0, header[N_HEADER] = {0};
    *s = (struct tmx_stream){.memory = *memory, .seed = seed, .n_register = 1};
    load(&in);
    while (!own.code && tmx_lines_next(&in.lines, &in.text)) {
        struct tmx_span rest = in.lines.line, look, first;
        const char *hash = memchr(rest.begin, '#', tmx_span_length(rest));
        rest.end = hash ? hash : rest.end;
        look = rest;
        if (!tmx_span_field(&look, &first)) {
            continue;
        }
        if (n_header < N_HEADER) {
            parse_header(&in, rest, n_header++, header);
        } else if (TMX_GROW(&arena, entry, n)) {
            parse_instr(&in, rest, &entry[n]);
            n_warp = entry[n].warp >= n_warp ? entry[n].warp + 1 : n_warp;
            n++;
        }
        tmx_arena_check(&arena, &own);
    }
    if (n_header < N_HEADER) {
        tmx_error_at(&own, TMX_EPARSE, path, 0, "not a trace: no \"thermix-trace 1\" header");
    } else if (n == 0) {
        tmx_error_at(&own, TMX_EPARSE, path, 0, "no instruction");
    } else if (n_warp % header[BLOCK_WARPS] != 0) {
        tmx_error_at(&own, TMX_EPARSE, path, 0, "%zu warps are no whole number of blocks of %zu", n_warp,
                     header[BLOCK_WARPS]);
    }
    if (!own.code) {
        s->n_program = n_warp;
        s->warps_per_block = (unsigned)header[BLOCK_WARPS];
        s->n_block = n_warp / s->warps_per_block;
        s->warps = (unsigned)(header[RESIDENT_WARPS] < n_warp ? header[RESIDENT_WARPS] : n_warp);
        make_programs(s, path, entry, n, &own);
    }
    tmx_arena_finish(&arena);
    tmx_text_finish(&in.text);
    if (own.code) {
        tmx_stream_finish(s);
    }
    return tmx_error_give(err, &own);
}

void tmx_trace_file_write(const struct tmx_stream *s, uint64_t n_block, FILE *out)
{
    fprintf(out, "thermix-trace 1\nblock_warps %u\nresident_warps %u\n# warp type dest sources latency\n",
            s->warps_per_block, s->warps);
    for (uint64_t warp = 0; warp < n_block * s->warps_per_block; warp++) {
        const struct tmx_program *p = &s->program[warp % s->n_program];
        for (size_t i = 0; i < p->count * p->repetitions; i++) {
            const struct tmx_instr *in = &s->instr[p->first + i % p->count];
            fprintf(out, "%" PRIu64 " %s", warp, type_words[in->type]);
            in->dest ? fprintf(out, " %u", (unsigned)in->dest) : fputs(" -", out);
            unsigned n = 0;
            for (unsigned k = 0; k < TMX_INSTR_SOURCES; k++) {
                if (in->source[k]) {
                    fprintf(out, "%c%u", n++ ? ',' : ' ', in->source[k]);
                }
            }
            fprintf(out, "%s %s%s\n", n ? "" : " -", latency_words[in->latency],
                    in->barrier ? " barrier" : "");
        }
    }
}

/* ---- traces of Accel-Sim ---- */

enum { REGISTERS = 256, ZERO_REGISTER = 255, OPCODE_SIZE = 32 };

/* Opcodes by the part before the first dot, a blank on both sides of each. What is not listed is INT: address
 * and integer arithmetic, logic, moves, branches. */
struct opcodes {
    const char *type, *latency, *names;
};
static const struct opcodes opcodes[] = {
    {"FP", "alu",
     " FADD FADD32I FMUL FMUL32I FFMA FFMA32I FSETP FSET FSEL FMNMX FCHK FSWZADD HADD2 HMUL2 HFMA2 HSETP2 "
     "HSET2 "},
    /* double precision and conversions leave the lanes on a Fermi, as in GPGPU-Sim's GTX480 file */
    {"SFU", "sfu", " DADD DMUL DFMA DSETP MUFU I2F F2I F2F FRND I2I "},
    {"LDST", "global", " LDG LD ATOM ATOMG TEX TLD TLD4 SULD "},
    {"LDST", "store", " STG ST RED SUST "},
    {"LDST", "shared", " LDS LDC LDL LDSM STS STL ATOMS "},
};

struct line { /* one instruction, as it will be written */
    char text[128];
    bool barrier;
};

struct converter {
    struct input in;
    FILE *out;
    size_t block_warps, n_warp; /* warps seen so far */
    bool line_numbers;          /* an extra first column */
    struct line last;           /* held back until it is known whether a barrier follows */
    bool held;
    bool announced;             /* the warp says how many instructions it has: */
    size_t n_announced, n_line; /* that many, and lines seen so far */
    unsigned announced_at;
    unsigned char stands_for[REGISTERS]; /* the first register of the wide load that wrote it */
};

static bool starts(struct tmx_span s, const char *word, struct tmx_span *rest)
{
    const size_t n = strlen(word);
    if (tmx_span_length(s) < n || memcmp(s.begin, word, n) != 0) {
        return false;
    }
    *rest = (struct tmx_span){s.begin + n, s.end};
    return true;
}

static bool read_count(struct tmx_span *rest, size_t limit, size_t *v)
{
    struct tmx_span f;
    return tmx_span_field(rest, &f) && whole(f, limit, v);
}

/* "R12" -> 12 */
static bool read_register(struct tmx_span *rest, size_t *v)
{
    struct tmx_span f;
    if (!tmx_span_field(rest, &f) || *f.begin != 'R') {
        return false;
    }
    f.begin++;
    return whole(f, REGISTERS - 1, v);
}

static void flush(struct converter *c)
{
    if (c->held) {
        fprintf(c->out, "%zu %s%s\n", c->n_warp - 1, c->last.text, c->last.barrier ? " barrier" : "");
        c->held = false;
    }
}

/* Our number of their register; 0 for the zero register. */
static unsigned number(size_t reg)
{
    return reg == ZERO_REGISTER ? 0 : (reg < TMX_MAX_REGISTER ? (unsigned)reg + 1 : TMX_MAX_REGISTER);
}

struct fields {
    char opcode[OPCODE_SIZE];
    size_t n_dest, n_source, dest, source[8], width;
};

/* PC mask dest_num [reg_dests] opcode src_num [reg_srcs] mem_width ... */
static bool split(struct converter *c, struct tmx_span rest, struct fields *f)
{
    struct tmx_span skip, op;
    size_t ignored;
    *f = (struct fields){0};
    for (int i = 0; i < (c->line_numbers ? 3 : 2); i++) {
        if (!tmx_span_field(&rest, &skip)) {
            return false;
        }
    }
    for (const char *p = skip.begin; p < skip.end; p++) { /* the mask of active threads */
        if (!strchr("0123456789abcdefABCDEF", *p)) {
            return false;
        }
    }
    if (tmx_span_length(skip) != 8 || !read_count(&rest, 8, &f->n_dest)) {
        return false;
    }
    for (size_t i = 0; i < f->n_dest; i++) {
        if (!read_register(&rest, i == 0 ? &f->dest : &ignored)) {
            return false;
        }
    }
    if (!tmx_span_field(&rest, &op) || !read_count(&rest, 8, &f->n_source)) {
        return false;
    }
    const char *dot = memchr(op.begin, '.', tmx_span_length(op));
    op.end = dot ? dot : op.end;
    for (size_t i = 0; i < f->n_source; i++) {
        if (!read_register(&rest, &f->source[i])) {
            return false;
        }
    }
    return tmx_span_copy(op, f->opcode, sizeof f->opcode) && read_count(&rest, 64, &f->width);
}

static void instruction(struct converter *c)
{
    struct fields f;
    c->n_line++;
    if (c->n_warp == 0 || !split(c, c->in.lines.line, &f)) {
        bad(&c->in, "expected: PC mask dest_num [dests] opcode src_num [srcs] mem_width ...");
    } else if (strcmp(f.opcode, "BAR") == 0) {
        c->last.barrier = c->held;
    } else if (strcmp(f.opcode, "EXIT") != 0 && strcmp(f.opcode, "NOP") != 0) {
        /* write instr */
        const struct opcodes *op = NULL;
        char sources[64] = "-", word[OPCODE_SIZE + 2];
        unsigned written = 0;
        snprintf(word, sizeof word, " %s ", f.opcode);
        for (size_t i = 0; i < sizeof opcodes / sizeof opcodes[0]; i++) {
            op = strstr(opcodes[i].names, word) ? &opcodes[i] : op;
        }
        for (size_t i = 0; i < f.n_source && written < TMX_INSTR_SOURCES; i++) {
            const unsigned reg = number(c->stands_for[f.source[i]]);
            if (reg) {
                const size_t at = written ? strlen(sources) : 0;
                snprintf(sources + at, sizeof sources - at, "%s%u", written++ ? "," : "", reg);
            }
        }
        const unsigned dest = f.n_dest ? number(f.dest) : 0;
        for (size_t i = 0; f.n_dest && i < (f.width > 4 ? f.width / 4 : 1) && f.dest + i < ZERO_REGISTER;
             i++) {
            c->stands_for[f.dest + i] = (unsigned char)f.dest;
        }
        flush(c);
        c->held = true;
        c->last.barrier = false;
        char dest_text[8] = "-";
        if (dest) {
            snprintf(dest_text, sizeof dest_text, "%u", dest);
        }
        snprintf(c->last.text, sizeof c->last.text, "%s %s %s %s", op ? op->type : "INT", dest_text, sources,
                 op ? op->latency : "alu");
    }
}

/* "(16,16,1)" -> product */
static bool read_extent(struct tmx_span s, size_t *threads)
{
    static const char after[] = ",,)";
    struct tmx_span f;
    if (!tmx_span_field(&s, &f) || tmx_span_length(f) < 2 || *f.begin++ != '(') {
        return false;
    }
    *threads = 1;
    for (int i = 0; i < 3; i++) {
        const char *end = memchr(f.begin, after[i], tmx_span_length(f));
        size_t v;
        if (!end || !whole((struct tmx_span){f.begin, end}, 1024, &v)) {
            return false;
        }
        *threads *= v;
        f.begin = end + 1;
    }
    return f.begin == f.end && *threads >= 1 && *threads <= 1024;
}

static void header_line(struct converter *c, unsigned resident_warps)
{
    struct tmx_span rest;
    size_t threads;
    if (starts(c->in.lines.line, "-enable lineinfo = 1", &rest)) {
        c->line_numbers = true;
    }
    if (!starts(c->in.lines.line, "-block dim =", &rest)) {
        return;
    }
    if (!read_extent(rest, &threads)) {
        bad(&c->in, "expected \"-block dim = (x,y,z)\" of 1 to 1024 threads");
        return;
    }
    if (c->block_warps > 0) {
        bad(&c->in, "a second \"-block dim\"");
    }
    c->block_warps = (threads + 31) / 32;
    if (resident_warps < c->block_warps) {
        bad(&c->in, "a thread block has more warps than the SM holds");
    }
    fprintf(c->out, "thermix-trace 1\nblock_warps %zu\nresident_warps %zu\n", c->block_warps,
            resident_warps / c->block_warps * c->block_warps);
}

/* "insts = N" of the warp that ends here. */
static void check_announced(struct converter *c)
{
    if (c->announced && c->n_line != c->n_announced) {
        tmx_error_at(c->in.err, TMX_EPARSE, c->in.path, c->announced_at,
                     "%zu instructions announced, %zu follow: the trace is cut or damaged", c->n_announced,
                     c->n_line);
    }
    c->announced = false;
}

static void begin_warp(struct converter *c, struct tmx_span rest)
{
    size_t warp;
    if (!read_count(&rest, 1023, &warp)) {
        bad(&c->in, "expected \"warp = N\"");
    } else if (c->block_warps == 0 || warp != c->n_warp % c->block_warps) {
        bad(&c->in, c->block_warps ? "warps are out of order" : "no \"-block dim\" before the first warp");
    }
    check_announced(c);
    flush(c);
    c->n_line = 0;
    c->n_warp++;
    for (size_t i = 0; i < REGISTERS; i++) {
        c->stands_for[i] = (unsigned char)i;
    }
}

static void step(struct converter *c, unsigned resident_warps)
{
    struct tmx_span look = c->in.lines.line, field, rest;
    if (!tmx_span_field(&look, &field) || *field.begin == '#' ||
        starts(c->in.lines.line, "thread block", &rest) || starts(c->in.lines.line, "cluster ", &rest)) {
        return;
    }
    if (starts(field, "insts", &rest)) {
        c->announced = true;
        c->announced_at = c->in.lines.number;
        c->n_line = 0;
        if (c->n_warp == 0 || !tmx_span_field(&look, &field) || !tmx_span_is(field, "=") ||
            !read_count(&look, SIZE_MAX / 16, &c->n_announced)) {
            bad(&c->in, "expected \"insts = N\" in a warp");
        }
    } else if (*field.begin == '-') {
        header_line(c, resident_warps);
    } else if (starts(c->in.lines.line, "warp =", &rest)) {
        begin_warp(c, rest);
    } else {
        instruction(c);
    }
}

enum tmx_status tmx_trace_from_accelsim(const char *path, unsigned resident_warps, FILE *out,
                                        struct tmx_err *err)
{
    struct tmx_err own = {0};
    struct converter c = {.in = {.path = path, .err = &own}, .out = out};
    load(&c.in);
    while (!own.code && tmx_lines_next(&c.in.lines, &c.in.text)) {
        step(&c, resident_warps);
    }
    if (c.n_warp == 0) {
        tmx_error_at(&own, TMX_EPARSE, path, 0, "no warp: not a kernel trace of Accel-Sim (.traceg)");
    }
    check_announced(&c);
    if (!own.code && c.n_warp % c.block_warps != 0) {
        bad(&c.in, "the last thread block has fewer warps than \"-block dim\" gives");
    }
    flush(&c);
    tmx_text_finish(&c.in.text);
    return tmx_error_give(err, &own);
}

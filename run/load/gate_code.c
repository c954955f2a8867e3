/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "run/load/gate_code.h"

#include <math.h>
#include <stdlib.h>

#include "core/base/config.h"
#include "core/micro/stream.h"
#include "run/load/data.h"

static const struct tmx_opt rows[] = {
    TMX_ROW_TEXT(tmx_gate_code, name, NULL, "of the kernel"),
    TMX_ROW_TEXT(tmx_gate_code, source, "", "what was compiled, and for which input"),
    TMX_ROW_INT(tmx_gate_code, warps, "warps", 1, TMX_MAX_WARPS, NAN, "resident on an SM"),
    TMX_ROW_INT(tmx_gate_code, warps_per_block, "warps", 1, TMX_MAX_WARPS, NAN, "of one thread block"),
    TMX_ROW_INT(tmx_gate_code, blocks, "blocks", 1, 1e6, NAN, "one SM's share of a launch"),
    TMX_ROW_REAL(tmx_gate_code, miss, "1", 0, 1, NAN, "of global loads: leave the SM"),
    TMX_ROW_REAL(tmx_gate_code, lines, "lines", 1, 32, NAN, "per global access that leaves the SM"),
    TMX_ROW_REAL(tmx_gate_code, latency_cycles, "cycles", 1, 20000, NAN, "mean latency of a miss"),
    TMX_ROW_REAL(tmx_gate_code, latency_variation, "1", 0, 0.95, 0.3, "relative half width of it"),
    TMX_ROW_REAL(tmx_gate_code, bandwidth, "lines/cycle", 0, 100, 0, "128 B lines per SM; 0: no limit"),
    {0},
};
static const char *const also[] = {"programs", "order", NULL};

/* Warp i of a block runs program order[i], or i where there is no order. */
static enum tmx_status put_in_order(struct tmx_stream *s, const struct tmx_setting *group, int warps,
                                    struct tmx_err *err)
{
    const struct tmx_setting *order = NULL;
    enum tmx_status st = tmx_setting_list(group, "order", 0, TMX_MAX_WARPS, &order, err);
    const size_t n = tmx_setting_length(order);
    if (st || n == 0) {
        return st;
    }
    if (n != (size_t)warps) {
        return tmx_fail_setting(err, order, "order: expected one program for each of %d warps", warps);
    }
    struct tmx_program *program = calloc(n, sizeof *program);
    if (!program) {
        return tmx_fail(err, TMX_ENOMEM, "%zu programs", n);
    }
    for (size_t i = 0; !st && i < n; i++) {
        const struct tmx_setting *e = tmx_setting_at(order, i);
        const int64_t at = tmx_setting_is(e, TMX_SETTING_INTEGER) ? tmx_setting_integer(e) : -1;
        if (at < 0 || at >= (int64_t)s->n_program) {
            st = tmx_fail_setting(err, e, "order: expected a number from 0 to %zu", s->n_program - 1);
        } else {
            program[i] = s->program[at];
        }
    }
    free(s->program);
    s->program = program;
    s->n_program = n;
    return st;
}

static enum tmx_status read_one(struct tmx_gate_code *c, const struct tmx_setting *group, struct tmx_err *err)
{
    const struct tmx_setting *programs = NULL;
    struct tmx_stream *s = &c->stream;
    enum tmx_status st = tmx_opt_read(rows, c, group, also, err);
    if (!st && c->warps % c->warps_per_block != 0) {
        st = tmx_fail_setting(err, group, "warps = %d is no multiple of warps_per_block = %d", c->warps,
                              c->warps_per_block);
    }
    st = st ? st : tmx_setting_texts(group, "programs", 1, (size_t)c->warps_per_block, &programs, err);
    for (size_t i = 0; !st && i < tmx_setting_length(programs); i++) {
        const struct tmx_setting *e = tmx_setting_at(programs, i);
        st = tmx_setting_blame(e, tmx_code_append(s, tmx_setting_text(e), err), err);
    }
    st = st ? st : put_in_order(s, group, c->warps_per_block, err);
    s->warps = (unsigned)c->warps;
    s->warps_per_block = (unsigned)c->warps_per_block;
    s->n_block = (uint64_t)c->blocks;
    s->memory = (struct tmx_memory){.miss = c->miss,
                                    .lines = c->lines,
                                    .latency_cycles = c->latency_cycles,
                                    .latency_variation = c->latency_variation,
                                    .bandwidth = c->bandwidth};
    return st;
}

enum tmx_status tmx_gate_code_load(const char *kernel, struct tmx_gate_code code[TMX_GATE_CODES], size_t *n,
                                   struct tmx_err *err)
{
    char path[TMX_PATH_SIZE];
    struct tmx_config *cfg = NULL;
    const struct tmx_setting *list = NULL;
    *n = 0;
    enum tmx_status st = tmx_data_find(TMX_DATA_KERNEL, kernel, path, err);
    st = st ? st : tmx_config_load(&cfg, path, NULL, 0, err);
    st = st ? st : tmx_setting_list(tmx_config_root(cfg), "code", 1, TMX_GATE_CODES, &list, err);
    for (size_t i = 0; !st && i < tmx_setting_length(list); i++) {
        struct tmx_gate_code *c = &code[(*n)++];
        *c = (struct tmx_gate_code){0};
        st = read_one(c, tmx_setting_at(list, i), err);
    }
    tmx_config_close(cfg);
    for (size_t i = 0; st && i < *n; i++) {
        tmx_gate_code_finish(&code[i]);
    }
    *n = st ? 0 : *n;
    return st;
}

void tmx_gate_code_finish(struct tmx_gate_code *c)
{
    tmx_stream_finish(&c->stream);
}

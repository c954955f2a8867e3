/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "run/load/gate_files.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/config.h"
#include "base/os.h"
#include "kernels/stream.h"
#include "run/load/data.h"

const char *const tmx_gate_fits[] = {"convpg", "all", NULL};

static const struct tmx_opt root_opts[] = {
    TMX_ROW_TEXT(tmx_gate_chip, doc, "", "one sentence"),
    TMX_ROW_TEXT(tmx_gate_chip, source, "", "where the numbers are from"),
    TMX_ROW_REAL(tmx_gate_chip, clock_hz, "Hz", 1e6, 1e11, NAN, "clock of the SM's issue"),
    {0},
};
static const struct tmx_opt leakage_opts[] = {
    TMX_ROW_REAL(tmx_gate_leakage, chip_w, "W", 0.001, 1000, NAN, "leakage of the chip"),
    TMX_ROW_REAL(tmx_gate_leakage, int_w, "W", 0, 1000, NAN, "of it: INT units"),
    TMX_ROW_REAL(tmx_gate_leakage, fp_w, "W", 0, 1000, NAN, "of it: FP units"),
    TMX_ROW_REAL(tmx_gate_leakage, sfu_w, "W", 0, 1000, 0, "of it: SFUs"),
    TMX_ROW_REAL(tmx_gate_leakage, static_share, "1", 0, 1, NAN, "leakage in total on-chip power"),
    {0},
};
static const struct tmx_keys chip_inner[] = {
    TMX_KEYS_GROUP(tmx_gate_chip, sm, tmx_sm_opts),
    TMX_KEYS_GROUP(tmx_gate_chip, gate, tmx_gate_opts),
    TMX_KEYS_GROUP(tmx_gate_chip, leakage, leakage_opts),
    {.group = "fit_convpg", .opts = tmx_knob_opts, .offset = offsetof(struct tmx_gate_chip, fit[0])},
    {.group = "fit_all", .opts = tmx_knob_opts, .offset = offsetof(struct tmx_gate_chip, fit[1])},
    {0},
};
const struct tmx_keys tmx_sm_keys[] = {{.group = "", .opts = root_opts, .inner = chip_inner}, {0}};

enum tmx_status tmx_gate_chip_load(struct tmx_gate_chip *c, const char *chip, const struct tmx_sets *sets,
                                   struct tmx_err *err)
{
    char folder[TMX_PATH_SIZE], path[TMX_PATH_SIZE + 16];
    *c = (struct tmx_gate_chip){0};
    enum tmx_status st = tmx_data_find(TMX_DATA_CHIP, chip, folder, err);
    st = st ? st : tmx_path_join(path, folder, "sm.cfg", err);
    if (!st && !tmx_os_exists(path)) {
        tmx_error(err, TMX_ECONFIG,
                  "chip %s has no SM that runs cycle by cycle: expected %s, a file as "
                  "floorplans/gtx480/sm.cfg",
                  chip, path);
        return err->code;
    }
    return st ? st : tmx_keys_load(tmx_sm_keys, c, path, sets, NULL, err);
}

/* The group of a kernel's file, or the name of the kernel whose group is meant (once: no chains). */
static void read_instructions(struct tmx_gate_kernel *k, const char *name, char *other, size_t size,
                              struct tmx_err *err)
{
    char path[TMX_PATH_SIZE];
    struct tmx_config *cfg = NULL;
    struct tmx_err why = {0};
    if (tmx_data_find(TMX_DATA_KERNEL, name, path, err) || tmx_config_load(&cfg, path, NULL, err)) {
        return;
    }
    const struct tmx_setting *root = tmx_config_root(cfg), *group = tmx_setting_member(root, "instructions");
    const char *text = tmx_setting_text(group);
    snprintf(k->name, sizeof k->name, "%s", tmx_setting_word(root, "name", name, err));
    if (!group) {
        tmx_error_setting(err, root, "missing group \"instructions\": this kernel cannot run cycle by cycle");
    } else if (text && size == 0) {
        tmx_error_setting(err, group, "instructions: kernel %s must have the group itself", k->name);
    } else if (text && !err->code) {
        snprintf(other, size, "%s", text);
        (void)tmx_setting_locate(group, tmx_data_find(TMX_DATA_KERNEL, other, path, err), err);
    } else if (!tmx_opt_read(tmx_instr_opts, &k->stats, group, NULL, err) &&
               tmx_instr_check(&k->stats, &why)) {
        tmx_error_setting(err, group, "instructions: %s", why.msg);
    }
    tmx_config_close(cfg);
}

enum tmx_status tmx_gate_kernel_load(struct tmx_gate_kernel *k, const char *name, struct tmx_err *err)
{
    char other[sizeof k->name] = "";
    *k = (struct tmx_gate_kernel){0};
    read_instructions(k, name, other, sizeof other, err);
    if (!err->code && *other) {
        struct tmx_gate_kernel from = {0};
        read_instructions(&from, other, NULL, 0, err);
        k->stats = from.stats;
    }
    return err->code;
}

enum tmx_status tmx_gate_kernel_stream(const struct tmx_gate_kernel *k, const struct tmx_stream_knobs *knobs,
                                       uint64_t seed, struct tmx_stream *s, struct tmx_err *err)
{
    for (const char *c = k->name; *c; c++) {
        seed = tmx_mix64(seed, (uint64_t)(unsigned char)*c, 1);
    }
    return tmx_stream_generate(s, &k->stats, knobs, seed, err);
}

double tmx_gate_chip_saved(const struct tmx_gate_leakage *l, double int_saved, double fp_saved)
{
    return l->static_share * (l->int_w * int_saved + l->fp_w * fp_saved) / l->chip_w;
}

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
static void put_in_order(struct tmx_stream *s, const struct tmx_setting *group, int warps,
                         struct tmx_err *err)
{
    const struct tmx_setting *order = tmx_setting_list(group, "order", 0, TMX_MAX_WARPS, err);
    const size_t n = tmx_setting_length(order);
    if (n == 0) {
        return;
    }
    if (n != (size_t)warps) {
        tmx_error_setting(err, order, "order: expected one program for each of %d warps", warps);
    }
    struct tmx_program *program = calloc(n, sizeof *program);
    if (!program) {
        tmx_error(err, TMX_ENOMEM, "%zu programs", n);
        return;
    }
    for (size_t i = 0; i < n; i++) {
        const struct tmx_setting *e = tmx_setting_at(order, i);
        const int64_t at = tmx_setting_is(e, TMX_SETTING_INTEGER) ? tmx_setting_integer(e) : -1;
        if (at < 0 || at >= (int64_t)s->n_program) {
            tmx_error_setting(err, e, "order: expected a number from 0 to %zu", s->n_program - 1);
        } else {
            program[i] = s->program[at];
        }
    }
    free(s->program);
    s->program = program;
    s->n_program = n;
}

static void read_one(struct tmx_gate_code *c, const struct tmx_setting *group, struct tmx_err *err)
{
    struct tmx_stream *s = &c->stream;
    if (tmx_opt_read(rows, c, group, also, err)) {
        return;
    }
    if (c->warps % c->warps_per_block != 0) {
        tmx_error_setting(err, group, "warps = %d is no multiple of warps_per_block = %d", c->warps,
                          c->warps_per_block);
    }
    const struct tmx_setting *programs =
        tmx_setting_texts(group, "programs", 1, (size_t)c->warps_per_block, err);
    for (size_t i = 0; i < tmx_setting_length(programs) && !err->code; i++) {
        const struct tmx_setting *e = tmx_setting_at(programs, i);
        (void)tmx_setting_locate(e, tmx_code_append(s, tmx_setting_text(e), err), err);
    }
    put_in_order(s, group, c->warps_per_block, err);
    s->warps = (unsigned)c->warps;
    s->warps_per_block = (unsigned)c->warps_per_block;
    s->n_block = (uint64_t)c->blocks;
    s->memory = (struct tmx_memory){.miss = c->miss,
                                    .lines = c->lines,
                                    .latency_cycles = c->latency_cycles,
                                    .latency_variation = c->latency_variation,
                                    .bandwidth = c->bandwidth};
}

enum tmx_status tmx_gate_code_load(const char *kernel, struct tmx_gate_code code[TMX_GATE_CODES], size_t *n,
                                   struct tmx_err *err)
{
    char path[TMX_PATH_SIZE];
    struct tmx_config *cfg = NULL;
    *n = 0;
    if (tmx_data_find(TMX_DATA_KERNEL, kernel, path, err) || tmx_config_load(&cfg, path, NULL, err)) {
        return err->code;
    }
    const struct tmx_setting *list = tmx_setting_list(tmx_config_root(cfg), "code", 1, TMX_GATE_CODES, err);
    for (size_t i = 0; i < tmx_setting_length(list) && !err->code; i++) {
        struct tmx_gate_code *c = &code[(*n)++];
        *c = (struct tmx_gate_code){0};
        read_one(c, tmx_setting_at(list, i), err);
    }
    tmx_config_close(cfg);
    for (size_t i = 0; err->code && i < *n; i++) {
        tmx_gate_code_finish(&code[i]);
    }
    *n = err->code ? 0 : *n;
    return err->code;
}

void tmx_gate_code_finish(struct tmx_gate_code *c)
{
    tmx_stream_finish(&c->stream);
}

const struct tmx_keys tmx_code_kernel_keys[] = {
    TMX_KEYS("instructions", tmx_instr_opts), TMX_KEYS("code", rows), {0}};

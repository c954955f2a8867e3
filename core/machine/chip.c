/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "core/machine/chip.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/config.h"
#include "core/base/opt.h"
#include "core/base/text.h"

static const char *const dvfs_powers[] = {"v2f", "f", NULL};
static const char *const leakage_forms[] = {"exponential", "quadratic", "liao", "none", NULL};

static const struct tmx_opt root_opts[] = {
    TMX_ROW_TEXT(tmx_chip, name, NULL, "chip's name"),
    TMX_ROW_TEXT(tmx_chip, doc, "", "one sentence"),
    TMX_ROW_TEXT(tmx_chip, source, "", "where the numbers are from"),
    TMX_ROW_TEXT(tmx_chip, confidence, "",
                 "what a reader of results must know of these numbers; said in every output"),
    TMX_ROW_TEXT(tmx_chip, floorplan_file, NULL, "HotSpot floorplan, relative to this file"),
    TMX_ROW_TEXT(tmx_chip, package_file, NULL, "HotSpot configuration of the package, relative to this file"),
    TMX_ROW_TEXT(tmx_chip, sm_prefix, "SM", "floorplan units of this prefix and a number are SMs"),
    TMX_ROW_INT(tmx_chip, sms_per_cluster, "1", 1, 64, 1, "SMs per cluster (TPC, GPC)"),
    TMX_ROW_REAL(tmx_chip, sm_power_reference_sms, "1", 0, 1024, 0,
                 "SMs a kernel's sm_power_w is the sum over; 0: the chip's"),
    TMX_ROW_REAL(tmx_chip, kernel_power_scale, "1", 0, 100, 1, "factor on the kernels' power"),
    TMX_ROW_REAL(tmx_chip, kernel_time_scale, "1", 1e-6, 1e6, 1, "factor on the kernels' block lifetimes"),
    TMX_ROW_REAL(tmx_chip, static_reference_w, "W", 0, 1000, 0,
                 "kernels' static_w at which the chip leaks leakage_w; 0: it does not depend on the kernel"),
    TMX_ROW_TEXT(tmx_chip, sms_off, "", "SMs fused off, by their units' numbers: 14,15,112-127"),
    TMX_ROW_REAL(tmx_chip, step_hz, "Hz", 0, 1e9, 0,
                 "levels are points of a curve: one every step, straight between; 0: as they are given"),
    TMX_ROW_REAL(tmx_chip, nominal_hz, "Hz", 0, 1e10, 0,
                 "clock that kernels' watts and times are given at; 0: the fastest level's"),
    {0},
};

#define MAX_POWER(index, key_)                                                                          \
    {                                                                                                   \
        .key = (key_), .type = TMX_OPT_REAL,                                                            \
        .offset = offsetof(struct tmx_chip_power, max_power_w) + (index) * sizeof(double), .unit = "W", \
        .min = 0, .max = 100, .def = 0, .doc = "per SM at access rate 1, equation 1"                    \
    }

static const struct tmx_opt power_opts[] = {
    TMX_ROW_REAL(tmx_chip_power, baseline_w, "W", 0, 1000, NAN, "constant power outside the SMs"),
    TMX_ROW_REAL(tmx_chip_power, leakage_w, "W", 0, 1000, NAN, "leakage of the chip at leakage_ref_c"),
    TMX_ROW_REAL(tmx_chip_power, leakage_ref_c, "degC", -50, 200, 85, "temperature leakage_w is given at"),
    TMX_ROW_CHOICE(tmx_chip_power, leakage_form, leakage_forms, "exponential", "leakage against temperature"),
    TMX_ROW_REAL(tmx_chip_power, leakage_exp_per_k, "1/K", 0, 0.2, 0.036, "exponent of the exponential form"),
    TMX_ROW_REAL(tmx_chip_power, leakage_c1_per_k, "1/K", -0.1, 0.1, 0.01447,
                 "quadratic form, about 45 degC"),
    TMX_ROW_REAL(tmx_chip_power, leakage_c2_per_k2, "1/K2", -0.01, 0.01, 6.36e-5,
                 "quadratic form, about 45 degC"),
    TMX_ROW_REAL(tmx_chip_power, leakage_sm_share, "1", -1, 1, -1,
                 "of the leakage in SM area; negative: by area"),
    TMX_ROW_REAL(tmx_chip_power, baseline_sm_share, "1", 0, 1, 0, "of the baseline in SM area"),
    TMX_ROW_CHOICE(tmx_chip_power, dvfs_power, dvfs_powers, "v2f",
                   "dynamic power at a lower clock level: V^2 f, or the rate of accesses alone, f"),
    TMX_ROW_BOOL(tmx_chip_power, dvfs_leakage, 1, "leakage follows the level's voltage"),
    TMX_ROW_REAL(tmx_chip_power, transition_s, "s", 0, 1, 5e-5, "stall at a change of level"),
    TMX_ROW_REAL(tmx_chip_power, transition_j, "J", 0, 10, 5e-4, "energy of a change of level"),
    MAX_POWER(TMX_INT, "max_int_w"),
    MAX_POWER(TMX_FP, "max_fp_w"),
    MAX_POWER(TMX_SFU, "max_sfu_w"),
    MAX_POWER(TMX_ALU, "max_alu_w"),
    MAX_POWER(TMX_FDS, "max_fds_w"),
    MAX_POWER(TMX_REG, "max_reg_w"),
    MAX_POWER(TMX_CACHE, "max_cache_w"),
    MAX_POWER(TMX_SHM, "max_shm_w"),
    {0},
};

static const struct tmx_opt level_opts[] = {
    TMX_ROW_REAL(tmx_clock_level, volt_v, "V", 0.3, 3, NAN, "supply voltage"),
    TMX_ROW_REAL(tmx_clock_level, freq_hz, "Hz", 1e6, 1e10, NAN, "clock of the SMs"),
    {0},
};

static const struct tmx_opt board_opts[] = {
    TMX_ROW_REAL(tmx_chip_board, power_w, "W", 0, 1e4, 0, "power limit as sold; 0: none"),
    TMX_ROW_REAL(tmx_chip_board, power_min_w, "W", 0, 1e4, 0, "the least it can be set to"),
    TMX_ROW_REAL(tmx_chip_board, other_w, "W", 0, 1e4, 0, "drawn by the board beside the chip"),
    TMX_ROW_REAL(tmx_chip_board, loss, "1", 0, 0.5, 0, "of the board's power, lost in its regulators"),
    TMX_ROW_REAL(tmx_chip_board, target_c, "degC", 0, 300, 0, "temperature it keeps; 0: none"),
    TMX_ROW_REAL(tmx_chip_board, slowdown_c, "degC", 0, 300, 0, "half the clock from here on; 0: none"),
    TMX_ROW_REAL(tmx_chip_board, shutdown_c, "degC", 0, 300, 0, "stops for good; 0: never"),
    TMX_ROW_REAL(tmx_chip_board, memory_c, "degC", 0, 300, 0, "limit of its memory; 0: none"),
    {0},
};

/* Groups of other models are left to them. */
static const char *const groups[] = {"limits", "power",  "levels", "board", "units",
                                     "memory", "energy", "gating", "job",   NULL};

static const struct tmx_opt part_opts[] = {
    TMX_ROW_TEXT(tmx_chip_part, prefix, NULL, "units whose names begin with this"),
    TMX_ROW_REAL(tmx_chip_part, l2, "1", 0, 1, 0, "of the kernels' l2_w"),
    TMX_ROW_REAL(tmx_chip_part, dram, "1", 0, 1, 0, "of the kernels' dram_w"),
    TMX_ROW_REAL(tmx_chip_part, baseline, "1", 0, 1, 0, "of baseline_w"),
    TMX_ROW_BOOL(tmx_chip_part, memory, 0, "the board's memory sensor reads the hottest of them"),
    TMX_ROW_BOOL(tmx_chip_part, die, 1, "of the die: shares leakage and the rest of the baseline by area"),
    {0},
};

static bool whole_or_nothing(double sum)
{
    return sum == 0 || fabs(sum - 1) < 1e-6;
}

static enum tmx_status read_parts(struct tmx_chip *c, const struct tmx_setting *root, struct tmx_err *err)
{
    const struct tmx_setting *list;
    double l2 = 0, dram = 0, baseline = 0;
    enum tmx_status st = tmx_setting_list(root, "units", 0, TMX_MAX_CHIP_PART, &list, err);
    for (size_t i = 0; !st && i < tmx_setting_length(list); i++) {
        st = tmx_opt_read(part_opts, &c->part[i], tmx_setting_at(list, i), NULL, err);
        l2 += c->part[i].l2;
        dram += c->part[i].dram;
        baseline += c->part[i].baseline;
    }
    c->n_part = tmx_setting_length(list);
    if (!st && !(whole_or_nothing(l2) && whole_or_nothing(dram) && baseline <= 1 + 1e-6)) {
        st = tmx_fail_setting(
            err, list,
            "units: l2 adds up to %g, dram to %g, baseline to %g; expected 1 (or 0: by area), 1 (or 0), at "
            "most 1",
            l2, dram, baseline);
    }
    return st;
}

/* A level every step_hz along the points read so far, the last point's included. */
static enum tmx_status follow_curve(struct tmx_chip *c, const struct tmx_setting *list, struct tmx_err *err)
{
    struct tmx_clock_level point[TMX_MAX_LEVEL];
    const size_t n_point = c->n_level;
    const double top_hz = c->level[0].freq_hz, span_hz = top_hz - c->level[n_point - 1].freq_hz;
    const double steps = ceil(span_hz / c->step_hz - 1e-6);
    if (steps >= TMX_MAX_LEVEL) {
        return tmx_fail_setting(err, list, "%.0f levels every %g MHz, at most %d", steps + 1,
                                c->step_hz / 1e6, TMX_MAX_LEVEL);
    }
    memcpy(point, c->level, sizeof point);
    c->n_level = (size_t)steps + 1;
    for (size_t l = 0, p = 0; l < c->n_level; l++) {
        const double f = fmax(top_hz - (double)l * c->step_hz, point[n_point - 1].freq_hz);
        while (p + 2 < n_point && f < point[p + 1].freq_hz) {
            p++;
        }
        const struct tmx_clock_level *a = &point[p], *b = &point[p + 1 < n_point ? p + 1 : p];
        const double w = a->freq_hz > b->freq_hz ? (a->freq_hz - f) / (a->freq_hz - b->freq_hz) : 0;
        c->level[l] =
            (struct tmx_clock_level){.volt_v = a->volt_v + w * (b->volt_v - a->volt_v), .freq_hz = f};
    }
    return TMX_OK;
}

static enum tmx_status find_nominal(struct tmx_chip *c, const struct tmx_setting *root, struct tmx_err *err)
{
    if (c->nominal_hz == 0) {
        return TMX_OK;
    }
    for (size_t l = 0; l < c->n_level; l++) {
        if (fabs(c->level[l].freq_hz - c->nominal_hz) < fabs(c->level[c->nominal].freq_hz - c->nominal_hz)) {
            c->nominal = l;
        }
    }
    return fabs(c->level[c->nominal].freq_hz - c->nominal_hz) <= 1e-3 * c->nominal_hz
               ? TMX_OK
               : tmx_fail_setting(err, tmx_setting_member(root, "nominal_hz"),
                                  "nominal_hz = %g is no level's clock; the nearest is %g", c->nominal_hz,
                                  c->level[c->nominal].freq_hz);
}

static enum tmx_status read_levels(struct tmx_chip *c, const struct tmx_setting *root, struct tmx_err *err)
{
    const struct tmx_setting *list;
    enum tmx_status st = tmx_setting_list(root, "levels", 1, TMX_MAX_LEVEL, &list, err);
    for (size_t i = 0; !st && i < tmx_setting_length(list); i++) {
        const struct tmx_setting *s = tmx_setting_at(list, i);
        st = tmx_opt_read(level_opts, &c->level[i], s, NULL, err);
        if (!st && i > 0 && c->level[i].freq_hz > c->level[i - 1].freq_hz) {
            st = tmx_fail_setting(err, s, "freq_hz rises: levels go from the fastest to the slowest");
        }
    }
    c->n_level = tmx_setting_length(list);
    st = st || c->step_hz == 0 ? st : follow_curve(c, list, err);
    return st ? st : find_nominal(c, root, err);
}

/* Options of a group of root, those of `over` (may be NULL) winning key by key. */
static enum tmx_status read_overridden(const struct tmx_opt *opts, void *obj, const struct tmx_setting *root,
                                       const char *group, const struct tmx_setting *over, struct tmx_err *err)
{
    struct tmx_opt row[2] = {{0}, {0}};
    enum tmx_status st = tmx_opt_read_group(opts, obj, root, group, NULL, err);
    st = st ? st : tmx_setting_check(over, TMX_SETTING_GROUP, err);
    for (size_t i = 0; !st && i < tmx_setting_length(over); i++) {
        const char *key = tmx_setting_name(tmx_setting_at(over, i));
        const struct tmx_opt *o = opts;
        while (o->key && strcmp(o->key, key) != 0) {
            o++;
        }
        if (!o->key) {
            return tmx_opt_read(opts, obj, over, NULL, err); /* words the error: unknown key */
        }
    }
    for (const struct tmx_opt *o = opts; !st && o->key; o++) {
        if (tmx_setting_member(over, o->key)) {
            const char *others[64] = {NULL};
            for (size_t i = 0; i < tmx_setting_length(over) && i < 63; i++) {
                others[i] = tmx_setting_name(tmx_setting_at(over, i));
            }
            row[0] = *o;
            st = tmx_opt_read(row, obj, over, others, err);
        }
    }
    return st;
}

enum tmx_status tmx_chip_load(struct tmx_chip *c, const char *path, const struct tmx_setting *overrides,
                              struct tmx_err *err)
{
    struct tmx_config *cfg = NULL;
    *c = (struct tmx_chip){0};
    enum tmx_status st = tmx_config_load(&cfg, path, NULL, 0, err);
    if (!st) {
        const struct tmx_setting *root = tmx_config_root(cfg);
        st = tmx_opt_read(root_opts, c, root, groups, err);
        if (!st) {
            st = tmx_sm_limits_read(&c->limits, root, err);
        }
        if (!st) {
            st = read_overridden(power_opts, &c->power, root, "power", overrides, err);
        }
        if (!st) {
            st = tmx_opt_read_group(board_opts, &c->board, root, "board", NULL, err);
        }
        if (!st) {
            st = read_parts(c, root, err);
        }
        if (!st) {
            st = read_levels(c, root, err);
        }
    }
    tmx_config_close(cfg);
    return st;
}

void tmx_chip_finish(struct tmx_chip *c)
{
    tmx_floorplan_finish(&c->floorplan);
    free(c->sm_of_unit);
    free(c->unit_of_sm);
    free(c->sm_name);
    free(c->memory_unit);
    free(c->is_off);
    free(c->off_die);
    free(c->l2_share);
    free(c->dram_share);
    free(c->baseline_share);
    free(c->part_share);
    free(c->hot_order);
    *c = (struct tmx_chip){0};
}

double tmx_chip_speed(const struct tmx_chip *c, size_t level)
{
    return c->level[level].freq_hz / c->level[c->nominal].freq_hz;
}

double tmx_chip_volt(const struct tmx_chip *c, size_t level)
{
    return c->level[level].volt_v / c->level[c->nominal].volt_v;
}

double tmx_chip_board_w(const struct tmx_chip *c, double chip_w)
{
    return (chip_w + c->board.other_w) / (1 - c->board.loss);
}

void tmx_chip_write_power(const struct tmx_chip *c, const char *indent, FILE *out)
{
    tmx_opt_write(power_opts, &c->power, indent, out);
}

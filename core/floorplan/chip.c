/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "core/floorplan/chip.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/config.h"
#include "base/opt.h"
#include "base/os.h"
#include "base/plausible.h"
#include "base/text.h"

const char *const tmx_part_names[] = {"int", "fp", "sfu", "alu", "fds", "reg", "cache", "shm", NULL};

static const char *const dvfs_powers[] = {"v2f", "f", NULL};
static const char *const leakage_forms[] = {"exponential", "quadratic", "liao", "none", NULL};

static const struct tmx_opt root_opts[] = {
    TMX_ROW_TEXT(tmx_chip, name, NULL, "chip's name"),
    TMX_ROW_TEXT(tmx_chip, doc, "", "one sentence"),
    TMX_ROW_TEXT(tmx_chip, source, "", "where the numbers are from"),
    TMX_ROW_TEXT(tmx_chip, confidence, "", "how far these numbers can be trusted; printed with every result"),
    TMX_ROW_TEXT(tmx_chip, floorplan_file, NULL, "HotSpot floorplan, relative to this file"),
    TMX_ROW_TEXT(tmx_chip, package_file, NULL, "HotSpot configuration of the package, relative to this file"),
    TMX_ROW_TEXT(tmx_chip, sm_prefix, "SM", "floorplan units of this prefix and a number are SMs"),
    TMX_ROW_INT(tmx_chip, sms_per_cluster, "1", 1, 64, 1, "SMs per cluster (TPC, GPC)"),
    TMX_ROW_REAL(tmx_chip, sm_power_reference_sms, "1", 0, 1024, 0,
                 "number of SMs that a kernel's sm_power_w is the sum over; 0: the chip's"),
    TMX_ROW_REAL(tmx_chip, kernel_power_scale, "1", 0, 100, 1, "factor on the kernels' power"),
    TMX_ROW_REAL(tmx_chip, kernel_time_scale, "1", 1e-6, 1e6, 1, "factor on the kernels' block lifetimes"),
    TMX_ROW_REAL(tmx_chip, static_reference_w, "W", 0, 1000, 0,
                 "kernels' static_w at which the chip leaks leakage_w; 0: it does not depend on the kernel"),
    TMX_ROW_TEXT(tmx_chip, sms_off, "", "SMs fused off, by their units' numbers: 14,15,112-127"),
    TMX_ROW_REAL(tmx_chip, step_hz, "Hz", 0, 1e9, 0,
                 "clock levels every step_hz, interpolated between those given; 0: only those given"),
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
    TMX_ROW_REAL(tmx_chip_power, volt_knee_hz, "Hz", 0, 1e10, 0,
                 "volts stand still below this clock and rise by volt_per_ghz above, in place of the levels' "
                 "volts; 0: the levels'"),
    TMX_ROW_REAL(tmx_chip_power, volt_per_ghz, "1/GHz", 0, 10, 0, "of the volts at the knee"),
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
    TMX_ROW_REAL(tmx_chip_board, power_min_w, "W", 0, 1e4, 0, "lowest power limit that can be set"),
    TMX_ROW_REAL(tmx_chip_board, other_w, "W", 0, 1e4, 0, "drawn by the board beside the chip"),
    TMX_ROW_REAL(tmx_chip_board, loss, "1", 0, 0.5, 0, "of the board's power, lost in its regulators"),
    TMX_ROW_REAL(tmx_chip_board, target_c, "degC", 0, 300, 0, "temperature that the board keeps; 0: none"),
    TMX_ROW_REAL(tmx_chip_board, slowdown_c, "degC", 0, 300, 0,
                 "temperature from which the clock is halved; 0: none"),
    TMX_ROW_REAL(tmx_chip_board, shutdown_c, "degC", 0, 300, 0,
                 "temperature at which the board shuts down; 0: never"),
    TMX_ROW_REAL(tmx_chip_board, memory_c, "degC", 0, 300, 0, "limit of its memory; 0: none"),
    TMX_ROW_REAL(tmx_chip_board, memory_k_per_w, "K/W", 0, 100, 0,
                 "from the base of a memory stack to its sensor, by the stack's own watts"),
    {0},
};

/* The sink's is at most 0.22, so that draws of three standard deviations stay between a half and two. */
const struct tmx_opt tmx_spread_opts[] = {
    TMX_ROW_REAL(tmx_chip_spread, leakage, "1", 0, 1, 0, "of a GPU's leakage, lognormal"),
    TMX_ROW_REAL(tmx_chip_spread, dynamic, "1", 0, 1, 0, "of its dynamic power, lognormal"),
    TMX_ROW_REAL(tmx_chip_spread, sink, "1", 0, 0.22, 0,
                 "of the resistance from its sink to the air, lognormal"),
    TMX_ROW_REAL(tmx_chip_spread, inlet_k, "K", 0, 50, 0, "of the air before it, normal"),
    TMX_ROW_INT(tmx_chip_spread, seed, "1", -1, 2147483647, -1, "of the draws; -1: the run's seed"),
    {0},
};

static const struct tmx_opt part_opts[] = {
    TMX_ROW_TEXT(tmx_chip_part, prefix, NULL, "units whose names begin with this"),
    TMX_ROW_REAL(tmx_chip_part, l2, "1", 0, 1, 0, "of the kernels' l2_w"),
    TMX_ROW_REAL(tmx_chip_part, dram, "1", 0, 1, 0, "of the kernels' dram_w"),
    TMX_ROW_REAL(tmx_chip_part, baseline, "1", 0, 1, 0, "of baseline_w"),
    TMX_ROW_BOOL(tmx_chip_part, memory, 0, "the board's memory sensor reads the hottest of them"),
    TMX_ROW_BOOL(tmx_chip_part, die, 1, "of the die: shares leakage and the rest of the baseline by area"),
    {0},
};

static const struct tmx_opt limit_opts[] = {
    TMX_ROW_INT(tmx_sm_limits, threads, "1", 1, 4096, NAN, "resident threads per SM"),
    TMX_ROW_INT(tmx_sm_limits, blocks, "1", 1, 64, NAN, "resident thread blocks per SM"),
    TMX_ROW_INT(tmx_sm_limits, registers, "1", 1, 1 << 20, NAN, "32-bit registers per SM"),
    TMX_ROW_INT(tmx_sm_limits, shared_bytes, "B", 0, 1 << 22, NAN, "shared memory per SM"),
    {0},
};

static const struct tmx_keys inner[] = {
    TMX_KEYS_GROUP(tmx_chip, limits, limit_opts),
    TMX_KEYS_GROUP(tmx_chip, power, power_opts),
    TMX_KEYS_GROUP(tmx_chip, board, board_opts),
    TMX_KEYS_GROUP(tmx_chip, spread, tmx_spread_opts),
    {TMX_KEYS_LIST(tmx_chip, "units", part, n_part, part_opts, 0, TMX_MAX_CHIP_PART)},
    {TMX_KEYS_LIST(tmx_chip, "levels", level, n_level, level_opts, 1, TMX_MAX_LEVEL)},
    TMX_KEYS("memory", NULL),
    TMX_KEYS("energy", NULL),
    {0},
};
const struct tmx_keys tmx_chip_keys[] = {{.group = "", .opts = root_opts, .inner = inner}, {0}};

/* A level every step_hz along the points read so far, the last point's included. */
static void follow_curve(struct tmx_chip *c, const struct tmx_setting *list, struct tmx_err *err)
{
    struct tmx_clock_level point[TMX_MAX_LEVEL];
    const size_t n_point = c->n_level;
    const double top_hz = c->level[0].freq_hz, span_hz = top_hz - c->level[n_point - 1].freq_hz;
    const double steps = ceil(span_hz / c->step_hz - 1e-6);
    if (steps >= TMX_MAX_LEVEL) {
        tmx_error_setting(err, list, "%.0f levels every %g MHz, at most %d", steps + 1, c->step_hz / 1e6,
                          TMX_MAX_LEVEL);
        return;
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
}

/* Keys of `power` that win over the file's; NULL: none. */
static void override_power(struct tmx_chip *c, const struct tmx_setting *over, struct tmx_err *err)
{
    struct tmx_opt named[64] = {{0}}; /* the rows of over's keys */
    size_t n = 0;
    for (const struct tmx_opt *o = power_opts; o->key && n < sizeof named / sizeof named[0] - 1; o++) {
        if (tmx_setting_member(over, o->key)) {
            named[n++] = *o;
        }
    }
    /* all rows only word the error: a key is unknown */
    const struct tmx_chip_power own = c->power;
    tmx_opt_read(n == tmx_setting_length(over) ? named : power_opts, &c->power, over, NULL, err);
    const struct tmx_chip_power *p = &c->power;
    const bool leaks = p->leakage_w > 0 && p->leakage_form != TMX_LEAK_NONE;
    const struct {
        const char *keys;
        bool count;
    } rows[] = {{"leakage_exp_per_k", leaks && p->leakage_form == TMX_LEAK_EXPONENTIAL},
                {"leakage_c1_per_k leakage_c2_per_k2", leaks && p->leakage_form == TMX_LEAK_QUADRATIC},
                {"leakage_ref_c leakage_sm_share dvfs_leakage", leaks},
                {"leakage_w", p->leakage_form != TMX_LEAK_NONE},
                {"baseline_sm_share", p->baseline_w > 0},
                {"volt_per_ghz", p->volt_knee_hz > 0}};
    for (size_t i = 0; i < n && !err->code; i++) { /* a resolved configuration repeats the chip's own */
        for (size_t k = 0; k < sizeof rows / sizeof rows[0]; k++) {
            if (!rows[k].count && tmx_words_have(rows[k].keys, named[i].key) &&
                !tmx_opt_same(&named[i], &own, p)) {
                tmx_warn("chip_power.%s does nothing beside the chip's other powers", named[i].key);
            }
        }
    }
}

enum tmx_status tmx_sm_limits_read(struct tmx_sm_limits *limits, const struct tmx_setting *chip,
                                   struct tmx_err *err)
{
    return tmx_opt_read_group(limit_opts, limits, chip, "limits", NULL, err);
}

enum tmx_status tmx_chip_load(struct tmx_chip *c, const char *path, const struct tmx_setting *overrides,
                              struct tmx_err *err)
{
    struct tmx_config *cfg = NULL;
    struct tmx_err own = {0};
    *c = (struct tmx_chip){0};
    tmx_keys_load(tmx_chip_keys, c, path, NULL, &cfg, &own);
    const struct tmx_setting *root = tmx_config_root(cfg);
    if (!own.code) {
        override_power(c, overrides, &own);
    }
    double l2 = 0, dram = 0, baseline = 0;
    for (size_t i = 0; i < c->n_part; i++) {
        l2 += c->part[i].l2;
        dram += c->part[i].dram;
        baseline += c->part[i].baseline;
    }
    if ((l2 != 0 && !(fabs(l2 - 1) < 1e-6)) || (dram != 0 && !(fabs(dram - 1) < 1e-6)) ||
        baseline > 1 + 1e-6) {
        tmx_error_setting(&own, tmx_setting_member(root, "units"),
                          "units: l2 adds up to %g, dram to %g, baseline to %g; expected 1 (or 0: by area), "
                          "1 (or 0), at most 1",
                          l2, dram, baseline);
    }
    if (!own.code) {
        const struct tmx_setting *list = tmx_setting_member(root, "levels");
        const struct tmx_clock_level *level = c->level;
        for (size_t i = 1; i < c->n_level; i++) {
            if (level[i].freq_hz > level[i - 1].freq_hz) {
                tmx_error_setting(&own, tmx_setting_at(list, i),
                                  "freq_hz rises: levels go from the fastest to the slowest");
            }
        }
        if (c->step_hz != 0 && !own.code) {
            follow_curve(c, list, &own);
        }
        for (size_t l = 0; c->power.volt_knee_hz > 0 && l < c->n_level; l++) {
            const double above_ghz = fmax(0, level[l].freq_hz - c->power.volt_knee_hz) / 1e9;
            c->level[l].volt_v = 1 + c->power.volt_per_ghz * above_ghz; /* only ratios count */
        }
        for (size_t l = 0; c->nominal_hz != 0 && l < c->n_level; l++) {
            if (fabs(level[l].freq_hz - c->nominal_hz) < fabs(level[c->nominal].freq_hz - c->nominal_hz)) {
                c->nominal = l;
            }
        }
        if (fabs(level[c->nominal].freq_hz - c->nominal_hz) > 1e-3 * c->nominal_hz && c->nominal_hz != 0) {
            tmx_error_setting(&own, tmx_setting_member(root, "nominal_hz"),
                              "nominal_hz = %g is no level's clock; the nearest is %g", c->nominal_hz,
                              level[c->nominal].freq_hz);
        }
    }
    tmx_config_close(cfg);
    return tmx_error_give(err, &own);
}

enum tmx_status tmx_chip_open(struct tmx_chip *c, const char *folder, struct tmx_err *err)
{
    char path[TMX_PATH_SIZE];
    struct tmx_floorplan fp = {0};
    *c = (struct tmx_chip){0};
    enum tmx_status st = tmx_path_join(path, folder, "chip.cfg", err);
    st = st ? st : tmx_chip_load(c, path, NULL, err);
    st = st ? st : tmx_path_join(path, folder, c->floorplan_file, err);
    st = st ? st : tmx_flp_read(path, &fp, err);
    st = st ? st : tmx_chip_attach(c, &fp, err);
    tmx_floorplan_finish(&fp);
    return st;
}

void tmx_chip_finish(struct tmx_chip *c)
{
    tmx_floorplan_finish(&c->floorplan);
    tmx_arena_finish(&c->arena);
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

double tmx_chip_parts_k(const struct tmx_chip *c, size_t sm, const double *unit_k)
{
    double sum = 0;
    for (size_t u = c->unit_of_sm[sm]; u < c->floorplan.n_unit; u++) {
        if (c->sm_of_unit[u] == (int)sm) {
            sum += c->part_share[u] * unit_k[u];
        }
    }
    return sum;
}

double tmx_chip_board_w(const struct tmx_chip *c, double chip_w)
{
    return (chip_w + c->board.other_w) / (1 - c->board.loss);
}

double tmx_chip_memory_k(const struct tmx_chip *c, const double *temp_k, const double *power_w)
{
    double hottest_k = NAN;
    for (size_t i = 0; i < c->n_memory; i++) {
        const size_t u = c->memory_unit[i];
        hottest_k = fmax(hottest_k, temp_k[u] + c->board.memory_k_per_w * power_w[u]);
    }
    return hottest_k;
}

void tmx_chip_write_power(const struct tmx_chip *c, const char *key, struct tmx_writer *w)
{
    tmx_opt_write_group(power_opts, &c->power, key, w);
}

/* Which unit of the floorplan is what: SMs and their order, memory, the parts of an SM. */

enum { MAX_SM = 4096 };

/* The digits of a name that has the form of an SM's, <prefix><digits>[_part]; NULL: it has another. */
static const char *sm_digits(const struct tmx_chip *c, const char *name, size_t *n_digit)
{
    const size_t n = strlen(c->sm_prefix);
    const bool like = strlen(name) > n && tmx_span_is((struct tmx_span){name, name + n}, c->sm_prefix);
    *n_digit = like ? strspn(name + n, "0123456789") : 0;
    return *n_digit > 0 && (!name[n + *n_digit] || name[n + *n_digit] == '_') ? name + n : NULL;
}

/* Which SMs of n_name are off, of a list like "14,15,112-127". */
static void read_off(const struct tmx_chip *c, bool *off, long n_name, struct tmx_err *err)
{
    for (const char *p = c->sms_off; *p && !err->code;) {
        char *end;
        const bool digit = *p >= '0' && *p <= '9';
        const long first = strtol(p, &end, 10);
        const bool range = *end == '-' && end[1] >= '0' && end[1] <= '9';
        const long last = range ? strtol(end + 1, &end, 10) : first;
        if (!digit || last < first || last >= n_name || (*end != ',' && *end != '\0') ||
            (*end == ',' && !end[1])) {
            tmx_error(err, TMX_ECONFIG,
                      "sms_off = \"%s\" of chip %s: at \"%s\"; expected numbers of SMs, 0 to %ld, as in "
                      "14,15,112-127",
                      c->sms_off, c->name, p, n_name - 1);
            return;
        }
        memset(off + first, true, (size_t)(last - first + 1));
        p = end + (*end == ',');
    }
}

/* The SMs that work get numbers without gaps, in the order of their names'. Names that have the form of an
 * SM's are its, and one SM has one number: SM0 and SM00 are none of one chip. */
static void number_sms(struct tmx_chip *c, struct tmx_err *err)
{
    const struct tmx_floorplan *fp = &c->floorplan;
    const char *name_of[MAX_SM] = {NULL}, *digits_of[MAX_SM] = {NULL};
    size_t n_name = 0, n_of[MAX_SM] = {0};
    bool off[MAX_SM] = {false};
    int index[MAX_SM] = {0};
    for (size_t u = 0; u < fp->n_unit; u++) {
        size_t n = 0;
        const char *name = fp->unit[u].name, *digits = sm_digits(c, name, &n);
        const long sm = digits ? strtol(digits, NULL, 10) : TMX_NO_SM;
        if (sm >= MAX_SM) {
            tmx_error_at(err, TMX_ECONFIG, fp->source, 0, "unit \"%s\": expected an SM's number up to %d",
                         name, MAX_SM - 1);
        } else if (digits && !digits_of[sm]) {
            name_of[sm] = name;
            digits_of[sm] = digits;
            n_of[sm] = n;
        } else if (digits && (n != n_of[sm] || memcmp(digits, digits_of[sm], n) != 0)) {
            tmx_error_at(err, TMX_ECONFIG, fp->source, 0,
                         "units \"%s\" and \"%s\": one SM's number in two ways", name_of[sm], name);
        }
        c->sm_of_unit[u] = (int)(sm < MAX_SM ? sm : TMX_NO_SM);
        n_name = c->sm_of_unit[u] >= (int)n_name ? (size_t)c->sm_of_unit[u] + 1 : n_name;
    }
    if (n_name == 0 || n_name > fp->n_unit) {
        tmx_error_at(err, TMX_ECONFIG, fp->source, 0, "no complete set of units %s0, %s1, ... for the SMs",
                     c->sm_prefix, c->sm_prefix);
    }
    read_off(c, off, (long)n_name, err);
    if (err->code || !TMX_TAKE(&c->arena, c->sm_name, n_name)) {
        return;
    }
    for (size_t k = 0; k < n_name; k++) {
        index[k] = off[k] ? TMX_NO_SM : (int)c->n_sm;
        c->sm_name[c->n_sm] = (int)k;
        c->n_sm += !off[k];
    }
    for (size_t u = 0; u < fp->n_unit; u++) {
        const int name = c->sm_of_unit[u];
        c->sm_of_unit[u] = name == TMX_NO_SM ? TMX_NO_SM : index[name];
        c->is_off[u] = name != TMX_NO_SM && c->sm_of_unit[u] == TMX_NO_SM;
    }
    if (c->n_sm == 0) {
        tmx_error(err, TMX_ECONFIG, "sms_off: every SM of chip %s is off", c->name);
    }
}

static void find_sms(struct tmx_chip *c, struct tmx_err *err)
{
    const struct tmx_floorplan *fp = &c->floorplan;
    number_sms(c, err);
    TMX_TAKE(&c->arena, c->unit_of_sm, c->n_sm);
    TMX_TAKE(&c->arena, c->hot_order, c->n_sm);
    c->sms_in_row = true;
    for (size_t sm = 0; sm < c->n_sm && !err->code && !c->arena.failed; sm++) {
        double area_m2 = 0;
        size_t first = fp->n_unit;
        for (size_t u = fp->n_unit; u-- > 0;) {
            if (c->sm_of_unit[u] == (int)sm) {
                area_m2 += tmx_unit_area_m2(&fp->unit[u]);
                first = u;
            }
        }
        if (first == fp->n_unit) {
            tmx_error_at(err, TMX_ECONFIG, fp->source, 0,
                         "SM unit %s%d is missing (the chip has %s0 to %s%d)", c->sm_prefix, c->sm_name[sm],
                         c->sm_prefix, c->sm_prefix, c->sm_name[c->n_sm - 1]);
        }
        c->unit_of_sm[sm] = first;
        for (size_t u = first; u < fp->n_unit; u++) {
            if (c->sm_of_unit[u] == (int)sm) {
                c->part_share[u] = tmx_unit_area_m2(&fp->unit[u]) / area_m2;
                c->sms_in_row = c->sms_in_row && u == c->unit_of_sm[0] + sm;
            }
        }
    }
}

/* Shares of the units outside the SMs, by area within each part. */
static void find_parts(struct tmx_chip *c, struct tmx_err *err)
{
    const struct tmx_floorplan *fp = &c->floorplan;
    double area_m2[TMX_MAX_CHIP_PART] = {0};
    for (size_t k = 0; k < 2 * fp->n_unit; k++) { /* areas first */
        const size_t u = k % fp->n_unit;
        const char *name = fp->unit[u].name;
        const struct tmx_chip_part *p = NULL; /* the first that it is of */
        for (size_t i = 0; i < c->n_part && !p; i++) {
            const size_t n = strlen(c->part[i].prefix);
            const bool is =
                strlen(name) >= n && tmx_span_is((struct tmx_span){name, name + n}, c->part[i].prefix);
            p = is ? &c->part[i] : NULL;
        }
        if (!p || c->sm_of_unit[u] != TMX_NO_SM || c->is_off[u]) {
            continue;
        }
        const double a = tmx_unit_area_m2(&fp->unit[u]);
        if (k < fp->n_unit) {
            area_m2[p - c->part] += a;
            continue;
        }
        const double share = a / area_m2[p - c->part];
        c->off_die[u] = !p->die;
        if (p->memory) {
            c->memory_unit[c->n_memory++] = u;
        }
        c->l2_share[u] = share * p->l2;
        c->dram_share[u] = share * p->dram;
        c->baseline_share[u] = share * p->baseline;
    }
    for (size_t i = 0; i < c->n_part; i++) {
        if (area_m2[i] == 0) {
            tmx_error_at(err, TMX_ECONFIG, fp->source, 0,
                         "units of chip %s: no unit outside the SMs begins with \"%s\"", c->name,
                         c->part[i].prefix);
        }
    }
}

static size_t cluster_of(const struct tmx_chip *c, size_t sm)
{
    return (size_t)(c->sm_name[sm] / c->sms_per_cluster);
}

/* Cluster by cluster: the one nearest to a die corner not yet served, then the one farthest from all taken;
 * ties go to the lower index. */
static void order_sms(struct tmx_chip *c, struct tmx_err *err)
{
    const double w = tmx_floorplan_width_m(&c->floorplan), h = tmx_floorplan_height_m(&c->floorplan);
    const double corner_x[] = {0, w, 0, w}, corner_y[] = {0, 0, h, h};
    const size_t n = cluster_of(c, c->n_sm - 1) + 1;
    struct tmx_arena a = {0};
    double *x, *y;
    bool *taken;
    size_t filled = 0, n_off = 0;
    TMX_TAKE(&a, x, n);
    TMX_TAKE(&a, y, n);
    if (!TMX_TAKE(&a, taken, n)) {
        tmx_error(err, TMX_ENOMEM, "chip of %zu SMs", c->n_sm);
    }
    for (size_t i = 0; i < n && !a.failed; i++) {
        size_t n_sm = 0; /* of this cluster; 0: all of them are off */
        for (size_t sm = 0; sm < c->n_sm; sm++) {
            const struct tmx_unit *u = &c->floorplan.unit[c->unit_of_sm[sm]];
            if (cluster_of(c, sm) == i) {
                n_sm++;
                x[i] += u->x_m + u->w_m / 2;
                y[i] += u->y_m + u->h_m / 2;
            }
        }
        x[i] /= (double)n_sm;
        y[i] /= (double)n_sm;
        taken[i] = n_sm == 0;
        n_off += taken[i];
    }
    for (size_t n_taken = 0; n_taken < n - n_off && !a.failed; n_taken++) {
        size_t best = n;
        double best_score = -INFINITY;
        for (size_t i = 0; i < n; i++) {
            double score =
                n_taken < 4 ? -hypot(x[i] - corner_x[n_taken], y[i] - corner_y[n_taken]) : INFINITY;
            for (size_t j = 0; j < n && n_taken >= 4; j++) {
                const double d = hypot(x[i] - x[j], y[i] - y[j]); /* NAN: all off */
                score = taken[j] && d < score ? d : score;
            }
            if (!taken[i] && score > best_score + 1e-12) {
                best = i;
                best_score = score;
            }
        }
        taken[best] = true;
        for (size_t sm = 0; sm < c->n_sm; sm++) {
            if (cluster_of(c, sm) == best) {
                c->hot_order[filled++] = sm;
            }
        }
    }
    tmx_arena_finish(&a);
}

enum tmx_status tmx_chip_attach(struct tmx_chip *c, struct tmx_floorplan *fp, struct tmx_err *err)
{
    const size_t n = fp->n_unit;
    struct tmx_err own = {0};
    c->floorplan = *fp;
    *fp = (struct tmx_floorplan){0};
    TMX_TAKE(&c->arena, c->sm_of_unit, n);
    TMX_TAKE(&c->arena, c->memory_unit, n);
    TMX_TAKE(&c->arena, c->is_off, n);
    TMX_TAKE(&c->arena, c->off_die, n);
    TMX_TAKE_REALS(&c->arena, n, &c->part_share, &c->l2_share, &c->dram_share, &c->baseline_share);
    if (!c->arena.failed) {
        find_sms(c, &own);
        find_parts(c, &own);
    }
    if (c->arena.failed) {
        tmx_error(&own, TMX_ENOMEM, "chip of %zu units", n);
    }
    if (c->sm_power_reference_sms == 0) {
        c->sm_power_reference_sms = (double)c->n_sm;
    }
    if (!own.code) {
        order_sms(c, &own);
    }
    return tmx_error_give(err, &own);
}

void tmx_rank_ascending(const double *key, size_t n, size_t *order)
{
    for (size_t i = 0; i < n; i++) {
        size_t j = i;
        for (; j > 0 && key[order[j - 1]] > key[i]; j--) {
            order[j] = order[j - 1];
        }
        order[j] = i;
    }
}

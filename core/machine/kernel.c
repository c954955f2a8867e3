/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "core/machine/kernel.h"

#include <math.h>
#include <stddef.h>

#include "core/base/config.h"
#include "core/base/opt.h"

const char *const tmx_part_names[] = {"int", "fp", "sfu", "alu", "fds", "reg", "cache", "shm", NULL};

static const struct tmx_opt root_opts[] = {
    TMX_ROW_TEXT(tmx_kernel, name, NULL, "name used in mixes"),
    TMX_ROW_TEXT(tmx_kernel, doc, "", "one sentence"),
    TMX_ROW_TEXT(tmx_kernel, source, "", "where the numbers are from"),
    {0},
};

static const struct tmx_opt launch_opts[] = {
    TMX_ROW_INT(tmx_kernel_launch, thread_blocks, "1", 1, 1e9, 1024, "thread blocks of one launch"),
    TMX_ROW_INT(tmx_kernel_launch, threads_per_block, "1", 1, 2048, 256, "threads per block"),
    TMX_ROW_INT(tmx_kernel_launch, registers_per_thread, "1", 0, 255, 16, "32-bit registers per thread"),
    TMX_ROW_INT(tmx_kernel_launch, shared_bytes, "B", 0, 1048576, 0, "shared memory per block"),
    {0},
};

#define RATE(index, key_)                                                                                 \
    {                                                                                                     \
        .key = (key_), .type = TMX_OPT_REAL,                                                              \
        .offset = offsetof(struct tmx_kernel_power, access_rate) + (index) * sizeof(double), .unit = "1", \
        .min = 0, .max = 1, .def = 0, .doc = "access rate of the unit, equation 1"                        \
    }

static const struct tmx_opt power_opts[] = {
    TMX_ROW_REAL(tmx_kernel_power, sm_power_w, "W", 0, 1000, 0,
                 "dynamic power of all SMs at the nominal clock; 0: by equation 1, from rate_* and the "
                 "chip's max_*_w"),
    TMX_ROW_REAL(tmx_kernel_power, block_lifetime_s, "s", 1e-7, 10, 1e-4, "lifetime of one thread block"),
    TMX_ROW_REAL(tmx_kernel_power, memory_bound, "1", 0, 1, 0,
                 "share of a block's time that does not follow the core clock"),
    TMX_ROW_REAL(tmx_kernel_power, remote_weight, "1", 0, 100, 0.04,
                 "extra lifetime of a block on a GPU away from its data, over link T3"),
    RATE(TMX_INT, "rate_int"),
    RATE(TMX_FP, "rate_fp"),
    RATE(TMX_SFU, "rate_sfu"),
    RATE(TMX_ALU, "rate_alu"),
    RATE(TMX_FDS, "rate_fds"),
    RATE(TMX_REG, "rate_reg"),
    RATE(TMX_CACHE, "rate_cache"),
    RATE(TMX_SHM, "rate_shm"),
    {0},
};

/* In the order of enum tmx_component. */
const char *const tmx_component_keys[] = {
    "instruction_buffer_w",
    "instruction_cache_w",
    "data_cache_w",
    "constant_cache_w",
    "shared_memory_w",
    "register_file_w",
    "int_w",
    "fp_w",
    "dp_w",
    "int_mul_w",
    "fp_mul_w",
    "fp_sqrt_w",
    "fp_log_w",
    "fp_sin_w",
    "fp_exp_w",
    "dp_mul_w",
    "tensor_w",
    "texture_w",
    "scheduler_w",
    "pipeline_w",
    "idle_sm_w",
    "l2_w",
    "dram_w",
    "static_w",
};
_Static_assert(sizeof tmx_component_keys / sizeof tmx_component_keys[0] == TMX_N_COMPONENT, "a key each");

static const char *const power_groups[] = {"phases", NULL};
static const char *const groups[] = {"launch", "power",  "components", "instructions",
                                     "code",   "memory", "job",        NULL};

/* Watts by component; those of the SMs add up to sm_power_w. */
static enum tmx_status read_components(struct tmx_kernel *k, const struct tmx_setting *group,
                                       struct tmx_err *err)
{
    struct tmx_opt rows[TMX_N_COMPONENT + 1] = {{0}};
    double sm_w = 0;
    for (size_t i = 0; i < TMX_N_COMPONENT; i++) {
        rows[i] = (struct tmx_opt){.key = tmx_component_keys[i],
                                   .type = TMX_OPT_REAL,
                                   .offset = i * sizeof(double),
                                   .unit = "W",
                                   .max = 1000,
                                   .doc = "of the whole chip, at the nominal clock"};
    }
    const enum tmx_status st = tmx_opt_read(rows, k->component_w, group, NULL, err);
    for (size_t i = 0; i < TMX_COMPONENT_L2; i++) {
        sm_w += k->component_w[i];
    }
    if (!st && k->power.sm_power_w > 0 && fabs(k->power.sm_power_w - sm_w) > 1e-6 * (1 + sm_w)) {
        return tmx_fail_setting(err, group,
                                "components: those of the SMs add up to %g W, power.sm_power_w = %g", sm_w,
                                k->power.sm_power_w);
    }
    k->power.sm_power_w = sm_w;
    return st;
}

enum tmx_status tmx_kernel_load(struct tmx_kernel *k, const char *path, struct tmx_err *err)
{
    struct tmx_config *cfg = NULL;
    *k = (struct tmx_kernel){0};
    enum tmx_status st = tmx_config_load(&cfg, path, NULL, 0, err);
    if (!st) {
        const struct tmx_setting *root = tmx_config_root(cfg);
        const struct tmx_setting *power = tmx_setting_member(root, "power");
        st = tmx_opt_read(root_opts, k, root, groups, err);
        if (!st) {
            st = tmx_opt_read_group(launch_opts, &k->launch, root, "launch", NULL, err);
        }
        const struct tmx_setting *components = tmx_setting_member(root, "components");
        if (!st && (power || components)) {
            const struct tmx_setting *phases = power ? tmx_setting_member(power, "phases") : NULL;
            st = tmx_opt_read(power_opts, &k->power, power, power_groups, err);
            st = st || !phases ? st : tmx_phases_read(&k->phases, phases, path, err);
            if (!st && phases && !components && k->power.sm_power_w <= 0) {
                k->power.sm_power_w = k->phases.mean_w;
            }
        }
        if (!st && components) {
            st = read_components(k, components, err);
        }
    }
    tmx_config_close(cfg);
    return st;
}

static const struct tmx_opt limit_opts[] = {
    TMX_ROW_INT(tmx_sm_limits, threads, "1", 1, 4096, NAN, "resident threads per SM"),
    TMX_ROW_INT(tmx_sm_limits, blocks, "1", 1, 64, NAN, "resident thread blocks per SM"),
    TMX_ROW_INT(tmx_sm_limits, registers, "1", 1, 1 << 20, NAN, "32-bit registers per SM"),
    TMX_ROW_INT(tmx_sm_limits, shared_bytes, "B", 0, 1 << 22, NAN, "shared memory per SM"),
    {0},
};

enum tmx_status tmx_sm_limits_read(struct tmx_sm_limits *limits, const struct tmx_setting *chip,
                                   struct tmx_err *err)
{
    return tmx_opt_read_group(limit_opts, limits, chip, "limits", NULL, err);
}

static int fit(int limit, int room, int per_block)
{
    const int n = per_block > 0 ? room / per_block : limit;
    return n < limit ? n : limit;
}

int tmx_kernel_occupancy(const struct tmx_kernel *k, const struct tmx_sm_limits *limits)
{
    const struct tmx_kernel_launch *l = &k->launch;
    int n = limits->blocks;
    n = fit(n, limits->threads, l->threads_per_block);
    n = fit(n, limits->registers, l->registers_per_thread * l->threads_per_block);
    return fit(n, limits->shared_bytes, l->shared_bytes);
}

double tmx_kernel_equation1_w(const struct tmx_kernel *k, const double max_power_w[TMX_N_PART])
{
    double w = 0;
    for (int i = 0; i < TMX_N_PART; i++) {
        w += max_power_w[i] * k->power.access_rate[i];
    }
    return w;
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "run/cta_core.h"

#include <string.h>

#include "core/base/os.h"
#include "core/micro/profile.h"
#include "run/load/data.h"
#include "run/load/gate_files.h"

enum {
    BUDGET = 100000, /* warp instructions a run */
    FIT_ALL = 1,     /* of tmx_gate_fits: the knobs fitted to all policies */
};

static const struct tmx_column columns[] = {
    {"kernel", TMX_COLUMN_TEXT, 0},
    {"first_launch", TMX_COLUMN_INT, 0},
    {"launches", TMX_COLUMN_INT, 0},
    {"warps", TMX_COLUMN_INT, 0},
    {"lines_per_instr", TMX_COLUMN_REAL, 4},
    {"ipc1_given", TMX_COLUMN_REAL, 2},
    {"ipc1_sm_cycle", TMX_COLUMN_REAL, 2},
    {"cpi1_given_cycles", TMX_COLUMN_REAL, 2},
    {"cpi1_sm_cycle_cycles", TMX_COLUMN_REAL, 2},
    {"mlp_given", TMX_COLUMN_REAL, 2},
    {"mlp_sm_cycle", TMX_COLUMN_REAL, 2},
    {"ipc_given", TMX_COLUMN_REAL, 3},    /* of a core while all work */
    {"ipc_sm_cycle", TMX_COLUMN_REAL, 3}, /* likewise */
    {"fit_mean_error_pct", TMX_COLUMN_REAL, 1},
    {"fit_worst_error_pct", TMX_COLUMN_REAL, 1},
};

enum tmx_status tmx_cta_core_table(struct tmx_table **t, struct tmx_err *err)
{
    return tmx_table_create(t, columns, sizeof columns / sizeof columns[0], err);
}

struct source { /* what sm_cycle needs to know of a kernel and a chip */
    struct tmx_gate_kernel kernel;
    struct tmx_gate_chip sm;
    const struct tmx_memory_chip *chip;
    uint64_t seed; /* of the instruction streams */
    char cache[TMX_PATH_SIZE];
    bool cached;
};

static enum tmx_status open_source(struct source *s, const char *kernel, const struct tmx_cta_chip *chip,
                                   uint64_t seed, struct tmx_err *err)
{
    struct tmx_err no_cache;
    *s = (struct source){.chip = &chip->memory, .seed = seed};
    if (!*chip->memory.sm) {
        return tmx_fail(err, TMX_ECONFIG, "chip %s: memory.sm names no SM, so sm_cycle cannot run",
                        chip->name);
    }
    enum tmx_status st = tmx_gate_chip_load(&s->sm, chip->memory.sm, NULL, 0, err);
    st = st ? st : tmx_gate_kernel_load(&s->kernel, kernel, err);
    s->cached = tmx_os_cache_dir(s->cache, sizeof s->cache, &no_cache) == TMX_OK;
    return st;
}

static enum tmx_status measure(const struct source *s, const struct tmx_memory_kernel *launch,
                               struct tmx_core_fit *fit, struct tmx_err *err)
{
    struct tmx_profile_key key = {.stats = s->kernel.stats,
                                  .knobs = s->sm.fit[FIT_ALL],
                                  .sm = s->sm.sm,
                                  .seed = s->seed,
                                  .budget = BUDGET};
    *fit = (struct tmx_core_fit){0};
    const enum tmx_status st = tmx_launch_profile_key(&key, launch, s->chip, err);
    return st ? st : tmx_profile_core(&key, s->cached ? s->cache : NULL, fit, err);
}

/* Launches that sm_cycle cannot tell apart, and whose given parameters are one row of the comparison. */
static bool alike(const struct tmx_memory_kernel *a, const struct tmx_memory_kernel *b)
{
    return a->lines_per_instr == b->lines_per_instr && a->blocks_per_core == b->blocks_per_core &&
           a->warps_per_block == b->warps_per_block && a->ipc1 == b->ipc1 &&
           a->cpi1_cycles == b->cpi1_cycles && a->mlp == b->mlp;
}

static bool seen_before(const struct tmx_memory_program *p, size_t launch)
{
    size_t k = 0;
    while (!alike(&p->kernel[k], &p->kernel[launch])) {
        k++;
    }
    return k < launch;
}

static void add_row(struct tmx_table *t, const struct tmx_memory_program *p, size_t launch, size_t n,
                    const struct tmx_memory_chip *chip, const struct tmx_memory_kernel *measured,
                    const struct tmx_core_fit *fit)
{
    const struct tmx_memory_kernel *given = &p->kernel[launch];
    const struct tmx_share share[] = {{given, chip->cores}, {measured, chip->cores}};
    double ipc[2], latency[2];
    for (int i = 0; i < 2; i++) {
        tmx_contention_rates(chip, &share[i], 1, 1, 1, &ipc[i], &latency[i]);
    }
    tmx_table_text(t, p->name);
    tmx_table_int(t, (int64_t)launch + 1);
    tmx_table_int(t, (int64_t)n);
    tmx_table_int(t, (int64_t)given->blocks_per_core * given->warps_per_block);
    tmx_table_real(t, given->lines_per_instr);
    tmx_table_real(t, given->ipc1);
    tmx_table_real(t, measured->ipc1);
    tmx_table_real(t, given->cpi1_cycles);
    tmx_table_real(t, measured->cpi1_cycles);
    tmx_table_real(t, given->mlp);
    tmx_table_real(t, measured->mlp);
    tmx_table_real(t, ipc[0]);
    tmx_table_real(t, ipc[1]);
    tmx_table_real(t, 100 * fit->mean_error);
    tmx_table_real(t, 100 * fit->worst_error);
}

static enum tmx_status measure_program(struct tmx_memory_program *p, const struct source *s, bool use,
                                       struct tmx_table *compare, struct tmx_err *err)
{
    const struct tmx_memory_program given = *p;
    for (size_t i = 0; i < given.n; i++) {
        struct tmx_memory_kernel measured = given.kernel[i];
        struct tmx_core_fit fit;
        size_t n = 0;
        if (seen_before(&given, i)) {
            continue;
        }
        enum tmx_status st = measure(s, &given.kernel[i], &fit, err);
        if (st && err && !err->file[0]) { /* it has no line: the kernel's name instead */
            char why[sizeof err->msg];
            snprintf(why, sizeof why, "%s", err->msg);
            st = tmx_fail(err, st, "kernel %s, launch %zu: %.800s", given.name, i + 1, why);
        }
        if (st) {
            return st;
        }
        tmx_launch_profile_use(&measured, s->chip, &fit);
        for (size_t k = i; k < given.n; k++) {
            if (alike(&given.kernel[k], &given.kernel[i])) {
                n++;
                if (use) {
                    tmx_launch_profile_use(&p->kernel[k], s->chip, &fit);
                }
            }
        }
        if (compare) {
            add_row(compare, &given, i, n, s->chip, &measured, &fit);
        }
    }
    return TMX_OK;
}

enum tmx_status tmx_cta_program_load(struct tmx_memory_program *program, const char *kernel,
                                     const struct tmx_cta_chip *chip, uint64_t seed,
                                     struct tmx_table *compare, struct tmx_err *err)
{
    char path[TMX_PATH_SIZE];
    struct source s;
    enum tmx_status st = tmx_data_find(TMX_DATA_KERNEL, kernel, path, err);
    st = st ? st : tmx_memory_program_load(program, path, &chip->memory, err);
    if (st || (chip->memory.core == TMX_SOURCE_GIVEN && !compare)) {
        return st;
    }
    st = open_source(&s, kernel, chip, seed, err);
    return st ? st : measure_program(program, &s, chip->memory.core == TMX_SOURCE_MEASURED, compare, err);
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "power/chip_energy.h"

#include <limits.h>
#include <math.h>

#include "base/config.h"
#include "base/opt.h"

static const char *const scalings[] = {"linear", "log", NULL};

static const struct tmx_opt opts[] = {
    TMX_ROW_REAL(tmx_chip_energy, core_static_w, "W", 0, 100, NAN, "leakage of a powered core"),
    TMX_ROW_REAL(tmx_chip_energy, core_gated_w, "W", 0, 100, 0.001, "leakage of a power-gated core"),
    TMX_ROW_REAL(tmx_chip_energy, core_clock_w, "W", 0, 100, NAN, "clocked core, no instruction"),
    TMX_ROW_REAL(tmx_chip_energy, core_instr_nj, "nJ", 0, 1000, NAN, "per warp instruction"),
    TMX_ROW_REAL(tmx_chip_energy, uncore_static_w, "W", 0, 1000, NAN, "leakage outside the cores"),
    TMX_ROW_REAL(tmx_chip_energy, memory_clock_w, "W", 0, 1000, NAN, "idle memory system, dynamic"),
    TMX_ROW_REAL(tmx_chip_energy, line_nj, "nJ", 0, 1000, NAN, "per line through interconnect and L2"),
    TMX_ROW_REAL(tmx_chip_energy, dram_line_nj, "nJ", 0, 1000, NAN, "per line from DRAM"),
    TMX_ROW_REAL(tmx_chip_energy, gate_nj, "nJ", 0, 1e9, 0, "per core power-gated"),
    TMX_ROW_REAL(tmx_chip_energy, wake_nj, "nJ", 0, 1e9, 0, "per core woken"),
    TMX_ROW_REAL(tmx_chip_energy, clock_change_nj, "nJ", 0, 1e9, 0, "per change of clocks"),
    TMX_ROW_REAL(tmx_chip_energy, voltage_exponent, "1", 0, 2, 0, "V ~ f^x"),
    TMX_ROW_CHOICE(tmx_chip_energy, sm_scaling, scalings, "linear", "dynamic SM power against active SMs"),
    {0},
};

enum tmx_status tmx_chip_energy_load(struct tmx_chip_energy *e, const char *path, const struct tmx_sets *sets,
                                     struct tmx_err *err)
{
    struct tmx_config *cfg = NULL;
    *e = (struct tmx_chip_energy){0};
    enum tmx_status st = tmx_config_load(&cfg, path, sets, err);
    if (!st) {
        const struct tmx_setting *cores = tmx_config_find(cfg, "memory.cores");
        st = tmx_opt_read_group(opts, e, tmx_config_root(cfg), "energy", NULL, err);
        if (!st && tmx_setting_is(cores, TMX_SETTING_INTEGER)) { /* its bounds are memory.c's business */
            const int64_t n = tmx_setting_integer(cores);
            e->cores = n > 0 && n < INT_MAX ? (int)n : e->cores;
        }
    }
    tmx_config_close(cfg);
    return st;
}

double tmx_core_scaling_factor(enum tmx_core_scaling scaling, double n_total, double n_active)
{
    if (scaling == TMX_CORE_LINEAR || n_active <= 0) {
        return 1;
    }
    const double beta = 1.1, alpha = (10 - beta) / n_total;
    return n_total * log10(alpha * n_active + beta) / n_active;
}

/* Power of frequency f relative to nominal, V ~ f^x. */
static double clocked(const struct tmx_chip_energy *e, double f)
{
    return pow(f, 1 + 2 * e->voltage_exponent);
}

struct tmx_energy tmx_chip_energy_of(const struct tmx_chip_energy *e, const struct tmx_ledger *l)
{
    struct tmx_energy sum = {0};
    for (size_t c = 0; c < l->n_clock; c++) {
        const double core_v2 = pow(l->core_clock[c], 2 * e->voltage_exponent),
                     memory_v2 = pow(l->memory_clock[c], 2 * e->voltage_exponent);
        for (size_t n = 0; n <= TMX_MAX_CORE; n++) {
            const struct tmx_ledger_bin *b = &l->bin[c][n];
            const double *core_s = b->core_s,
                         on = core_s[TMX_CORE_ACTIVE] + core_s[TMX_CORE_THROTTLE] + core_s[TMX_CORE_GIVEN];
            if (b->seconds > 0) {
                const double scale =
                    tmx_core_scaling_factor((enum tmx_core_scaling)e->sm_scaling, e->cores, (double)n);
                sum.core_static_j += e->core_static_w * (on + core_s[TMX_CORE_CLOCK_OFF]) +
                                     e->core_gated_w * core_s[TMX_CORE_OFF];
                sum.core_dynamic_j += scale * (e->core_clock_w * clocked(e, l->core_clock[c]) * on +
                                               1e-9 * e->core_instr_nj * core_v2 * b->instr);
                sum.memory_static_j += e->uncore_static_w * b->seconds;
                sum.memory_dynamic_j +=
                    e->memory_clock_w * clocked(e, l->memory_clock[c]) * b->seconds +
                    1e-9 * memory_v2 * (e->line_nj * b->lines + e->dram_line_nj * b->dram_lines);
            }
        }
    }
    sum.switching_j =
        1e-9 * (e->gate_nj * l->gatings + e->wake_nj * l->wakeups + e->clock_change_nj * l->clock_changes);
    sum.total_j =
        sum.core_static_j + sum.core_dynamic_j + sum.memory_static_j + sum.memory_dynamic_j + sum.switching_j;
    return sum;
}

const struct tmx_keys tmx_chip_energy_keys[] = {TMX_KEYS("energy", opts), {0}};

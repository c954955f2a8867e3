/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "kernels/memory.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "base/config.h"
#include "base/err.h"
#include "base/opt.h"

const char *const tmx_core_sources[] = {"given", "sm_cycle", NULL};

static const char *const throttles[] = {"gradual", "at_once", NULL};
static const char *const stalls[] = {"lost", "mshr", "consecutive", NULL};

static const struct tmx_opt chip_opts[] = {
    TMX_ROW_TEXT(tmx_memory_chip, profile, "any", "variant of the kernels' memory group"),
    TMX_ROW_CHOICE(tmx_memory_chip, core, tmx_core_sources, "given",
                   "source of a kernel's ipc1, cpi1_cycles and mlp"),
    TMX_ROW_TEXT(tmx_memory_chip, sm, "", "chip whose sm.cfg describes a core to sm_cycle"),
    TMX_ROW_REAL(tmx_memory_chip, sm_clocks, "cycles", 0.1, 10, 1, "core cycles in one cycle of sm.cfg"),
    TMX_ROW_INT(tmx_memory_chip, cores, "1", 1, 128, NAN, "cores (SMs)"),
    TMX_ROW_INT(tmx_memory_chip, reference_cores, "1", 0, 128, 0,
                "number of active cores for which a kernel's l2_hit and row_loss hold; 0: all"),
    TMX_ROW_REAL(tmx_memory_chip, core_hz, "Hz", 1e6, 1e10, NAN, "nominal core clock"),
    TMX_ROW_INT(tmx_memory_chip, mshr, "1", 1, 4096, NAN, "outstanding lines per core"),
    TMX_ROW_CHOICE(
        tmx_memory_chip, throttle, throttles, "gradual",
        "a throttled core's warps go on until each has met a memory instruction, or stand still at once"),
    TMX_ROW_CHOICE(tmx_memory_chip, stall, stalls, "lost",
                   "when a core counts as stalled: work lost to memory, all MSHRs taken, or all MSHRs taken "
                   "without a break"),
    TMX_ROW_REAL(tmx_memory_chip, peak_ipc, "1", 0.1, 8, 1, "warp instructions per cycle and core at best"),
    TMX_ROW_REAL(tmx_memory_chip, base_core_cycles, "cycles", 0, 1e5, NAN,
                 "contention-free latency in the core's clock"),
    TMX_ROW_REAL(tmx_memory_chip, base_memory_cycles, "cycles", 1, 1e5, NAN,
                 "contention-free latency in the memory system's clock"),
    TMX_ROW_INT(tmx_memory_chip, partitions, "1", 1, 64, NAN, "memory partitions"),
    TMX_ROW_REAL(tmx_memory_chip, l2_lines_per_cycle, "lines/cycle", 1e-3, 1e3, NAN, "L2 and interconnect"),
    TMX_ROW_REAL(tmx_memory_chip, dram_lines_per_cycle, "lines/cycle", 1e-3, 1e3, NAN, "all controllers"),
    TMX_ROW_REAL(tmx_memory_chip, l2_hit_max, "1", 0, 1, 0.95, "bound of the hit rate"),
    TMX_ROW_REAL(tmx_memory_chip, wake_cycles, "cycles", 0, 1e7, 0, "from power-gated to running"),
    TMX_ROW_REAL(tmx_memory_chip, clock_change_cycles, "cycles", 0, 1e7, 0, "stall at a change of clock"),
    {0},
};

#define KERNEL_REAL(field, unit, min, max, def, doc) \
    TMX_ROW_REAL(tmx_memory_kernel, field, unit, min, max, def, doc)
#define KERNEL_INT(field, min, max, def, doc) TMX_ROW_INT(tmx_memory_kernel, field, "1", min, max, def, doc)

static const struct tmx_opt kernel_opts[] = {
    KERNEL_INT(blocks, 0, 1e9, 0, "thread blocks of the launch; 0: launch.thread_blocks"),
    KERNEL_INT(warps_per_block, 0, 64, 0, "0: from launch.threads_per_block"),
    KERNEL_INT(blocks_per_core, 0, 32, 0, "resident blocks; 0: as many as the limits allow"),
    KERNEL_REAL(instr_per_warp, "1", 1, 1e12, NAN, "warp instructions of one warp"),
    KERNEL_REAL(ipc1, "1", 1e-3, 8, NAN, "issue limit of a core"),
    KERNEL_REAL(cpi1_cycles, "cycles", 0.01, 1e4, NAN, "cycles per instruction of one warp, memory aside"),
    KERNEL_REAL(mlp, "1", 0.01, 64, NAN, "lines in flight per warp when it waits"),
    KERNEL_REAL(lines_per_instr, "1", 0, 32, NAN, "lines sent to the L2 per warp instruction"),
    KERNEL_REAL(l2_hit, "1", 0, 1, 0, "L2 hit rate with reference_cores active"),
    KERNEL_REAL(l2_gain, "1", 0, 2, 0, "exponent of reference/active in the hit rate"),
    KERNEL_REAL(row_loss, "1", 0, 0.9, 0, "DRAM throughput lost to row misses with reference_cores active"),
    KERNEL_REAL(simd, "1", 0.01, 1, 1, "mean share of active threads in a warp"),
    KERNEL_REAL(full_warps, "1", 0, 1, 1, "share of instructions with at least 25 active threads"),
    KERNEL_REAL(variation, "1", 0, 0.9, 0.05, "spread of block lengths"),
    KERNEL_REAL(parallel_warps, "1", 0, 1e9, 0, "warps of the launch that can run at once; 0: all"),
    {0},
};

enum tmx_status tmx_memory_chip_load(struct tmx_memory_chip *c, const char *path, const struct tmx_sets *sets,
                                     struct tmx_err *err)
{
    struct tmx_config *cfg = NULL;
    *c = (struct tmx_memory_chip){0};
    tmx_config_load(&cfg, path, sets, err);
    const struct tmx_setting *root = tmx_config_root(cfg);
    (void)(tmx_opt_read_group(chip_opts, c, root, "memory", NULL, err) ||
           tmx_sm_limits_read(&c->limits, root, err));
    tmx_config_close(cfg);
    return err->code;
}

struct launch { /* an element of `sequence` */
    struct tmx_memory_kernel kernel;
    int repeat;
};
static const struct tmx_opt repeat_opts[] = {
    TMX_ROW_INT(launch, repeat, "1", 1, TMX_MAX_LAUNCH, 1, "launches in a row"),
    {0},
};

/* A launch has the group's keys, any of which a launch of its sequence may give again; a launch shape that is
 * not there is that of the file and the chip (NULL: it stays open). */
static void read_variant(struct tmx_memory_program *p, const struct tmx_setting *g,
                         const struct tmx_kernel *file, const struct tmx_memory_chip *chip,
                         struct tmx_err *err)
{
    enum { N = sizeof kernel_opts / sizeof kernel_opts[0] };
    static const char *const also[] = {"sequence", NULL};
    const size_t least = tmx_setting_member(g, "sequence") ? 1 : 0;
    const struct tmx_setting *sequence = tmx_setting_list(g, "sequence", least, TMX_MAX_LAUNCH, err);
    for (size_t i = 0; i < (sequence ? tmx_setting_length(sequence) : 1) && !err->code; i++) {
        const struct tmx_setting *over = tmx_setting_at(sequence, i), *at = over ? over : g;
        struct tmx_opt rows[N + 1] = {[N - 1] =
                                          repeat_opts[0]}; /* of `over`: their defaults are g's values */
        struct launch l = {.repeat = 1};
        struct tmx_memory_kernel *k = &l.kernel;
        tmx_opt_read(kernel_opts, k, g, also, err);
        for (size_t r = 0; r + 1 < N && !err->code; r++) {
            rows[r] = kernel_opts[r];
            (void)tmx_scalar_real(tmx_opt_value(&rows[r], k), &rows[r].def);
        }
        if (over) {
            tmx_opt_read(rows, &l, over, NULL, err);
        }
        if (chip && !err->code) {
            k->blocks = k->blocks ? k->blocks : file->launch.thread_blocks;
            k->warps_per_block =
                k->warps_per_block ? k->warps_per_block : (file->launch.threads_per_block + 31) / 32;
            k->blocks_per_core =
                k->blocks_per_core ? k->blocks_per_core : tmx_kernel_occupancy(file, &chip->limits);
            if (k->blocks_per_core == 0) {
                tmx_error_setting(err, at, "kernel %s: not one block fits on a core", file->name);
            }
        }
        if (p->n + (size_t)l.repeat > TMX_MAX_LAUNCH) {
            tmx_error_setting(err, at, "more than %d launches", TMX_MAX_LAUNCH);
        }
        for (int r = 0; r < l.repeat && !err->code; r++) {
            p->kernel[p->n++] = l.kernel;
        }
    }
}

enum tmx_status tmx_memory_program_load(struct tmx_memory_program *p, const char *path,
                                        const struct tmx_memory_chip *chip, struct tmx_err *err)
{
    struct tmx_kernel file;
    struct tmx_config *cfg = NULL;
    if (tmx_kernel_load(&file, path, err)) {
        return err->code;
    }
    *p = (struct tmx_memory_program){0};
    memcpy(p->name, file.name, sizeof p->name);
    tmx_config_load(&cfg, path, NULL, err);
    const struct tmx_setting *root = tmx_config_root(cfg), *memory = tmx_setting_group(root, "memory", err);
    for (size_t i = 0; i < tmx_setting_length(memory) && !err->code; i++) { /* of other chips, too */
        p->n = 0;
        tmx_setting_check(tmx_setting_at(memory, i), TMX_SETTING_GROUP, err);
        read_variant(p, tmx_setting_at(memory, i), &file, NULL, err);
    }
    p->n = 0;
    if (chip) {
        const char *key = tmx_setting_member(memory, chip->profile) ? chip->profile : "any";
        const struct tmx_setting *g = tmx_setting_group(memory, key, err);
        if (!g) {
            tmx_error_setting(err, memory ? memory : root,
                              "kernel %s has no group memory.%s (its use of the memory system)", file.name,
                              chip->profile);
        }
        read_variant(p, g, &file, chip, err);
    }
    tmx_config_close(cfg);
    return err->code;
}

/* A core with W warps at memory latency L runs at
 *     ipc(L) = smooth minimum of  ipc1,  W B / (B cpi1 + L),  mshr / (q L),      B = mlp / q
 * and sends q ipc lines per cycle. Smooth minimum: (a^-4 + b^-4 + c^-4)^(-1/4).
 * A class of cores with L2 hit rate h sees
 *     L = L0 + w_l2 + (1 - h) w_dram
 * where each station of n partitions is M/D/1 with utilisation rho and service time s of the whole
 * station per line:     w = n s rho / (2 (1 - rho)).
 * L0 has a part in the core's clock and one in the memory's; service times follow the memory's clock. With n
 * of N cores at work h = l2_hit (reference_cores / n)^l2_gain, and DRAM has 1 - row_loss (n - 1)/(N - 1) of
 * its full throughput (contention.c).
 * All MSHRs of a core are taken for the share of time that Erlang's formula gives a = q ipc(L) L lines, as
 * many as would be under way if there were no limit:     E(0) = 1,  E(m) = a E(m - 1) / (m + a E(m - 1)).
 * Unique: ipc falls with L, so w_l2(X(w_l2)) - w_l2 falls strictly for every fixed w_dram, and
 * with that w_l2 the demand on DRAM falls in w_dram: where w_dram rises, the sum X cannot rise (else w_l2
 * would rise too and every class would slow down), and classes that gain are those that hit more often. Hence
 * two nested root searches of falling functions, each with one root. */

static double inv4(double x)
{
    const double y = 1 / (x * x);
    return y * y;
}

double tmx_core_class_ipc(const struct tmx_core_class *c, double latency_cycles)
{
    double sum = inv4(c->ipc1);
    if (c->warps <= 0) {
        return 0;
    }
    if (c->lines_per_instr > 0) {
        const double run = c->mlp / c->lines_per_instr;
        sum += inv4(c->warps * run / (run * c->cpi1_cycles + latency_cycles));
        if (latency_cycles > 0) {
            sum += inv4(c->mshr / (c->lines_per_instr * latency_cycles));
        }
    } else {
        sum += inv4(c->warps / c->cpi1_cycles);
    }
    return 1 / sqrt(sqrt(sum));
}

double tmx_core_class_mshr_full(const struct tmx_core_class *c, double latency_cycles)
{
    struct tmx_core_class unlimited = *c;
    unlimited.mshr = INFINITY;
    const double lines = c->lines_per_instr * tmx_core_class_ipc(&unlimited, latency_cycles) * latency_cycles;
    double full = 1;
    for (int m = 1; m <= (int)c->mshr; m++) {
        full = lines * full / (m + lines * full);
    }
    return full;
}

struct network {
    const struct tmx_memory_system *m;
    const struct tmx_core_class *c;
    size_t n;
    double dram_wait;
    struct tmx_latency *out;
};

static double wait_cycles(double partitions, double service, double load)
{
    return load < 1 ? partitions * service * load / (2 * (1 - load)) : INFINITY;
}

/* Demand at the given waits; fills *out. */
static void flow(const struct network *w, double l2_wait, double dram_wait)
{
    struct tmx_latency *o = w->out;
    o->l2_wait_cycles = l2_wait;
    o->dram_wait_cycles = dram_wait;
    o->lines_per_cycle = o->dram_lines_per_cycle = o->dram_load = 0;
    for (size_t i = 0; i < w->n; i++) {
        const struct tmx_core_class *c = &w->c[i];
        const double miss = 1 - c->l2_hit;
        o->cycles[i] = w->m->base_cycles + l2_wait + miss * dram_wait;
        o->ipc[i] = tmx_core_class_ipc(c, o->cycles[i]);
        const double lines = c->cores * c->lines_per_instr * o->ipc[i];
        o->lines_per_cycle += lines;
        o->dram_lines_per_cycle += miss * lines;
        o->dram_load += miss * lines * c->dram_service;
    }
    o->l2_load = o->lines_per_cycle / w->m->l2_lines_per_cycle;
}

/* Root of a strictly falling f with f(0) >= 0: double until negative, then false position
 * (Illinois) with bisection where f is infinite. */
static double root(double (*f)(struct network *, double), struct network *w, double first)
{
    double lo = 0, flo = f(w, 0), hi = first, fhi = f(w, hi);
    if (flo <= 0) {
        return 0;
    }
    while (fhi > 0) {
        lo = hi;
        flo = fhi;
        hi *= 2;
        fhi = f(w, hi);
    }
    int side = 0;
    for (int i = 0; i < 200 && hi - lo > 1e-13 * hi; i++) {
        const double x = isfinite(flo) ? (lo * fhi - hi * flo) / (fhi - flo) : 0.5 * (lo + hi);
        const double mid = x > lo && x < hi ? x : 0.5 * (lo + hi);
        const double y = f(w, mid);
        if (y == 0 || mid == lo || mid == hi) {
            return mid;
        }
        if (y > 0) {
            lo = mid;
            flo = y;
            fhi = side > 0 ? fhi / 2 : fhi;
            side = 1;
        } else {
            hi = mid;
            fhi = y;
            flo = side < 0 ? flo / 2 : flo;
            side = -1;
        }
        if (fabs(y) <= 1e-12 * mid) {
            return mid;
        }
    }
    return 0.5 * (lo + hi);
}

static double l2_step(struct network *w, double l2_wait)
{
    flow(w, l2_wait, w->dram_wait);
    return wait_cycles(w->m->partitions, 1 / w->m->l2_lines_per_cycle, w->out->l2_load) - l2_wait;
}

static double dram_step(struct network *w, double dram_wait)
{
    double weight = 0, service = 0;
    w->dram_wait = dram_wait;
    const double l2_wait = root(l2_step, w, 1);
    flow(w, l2_wait, dram_wait);
    for (size_t i = 0; i < w->n; i++) {
        weight += w->c[i].cores;
        service += w->c[i].cores * w->c[i].dram_service;
    }
    return wait_cycles(w->m->partitions, service / weight, w->out->dram_load) - dram_wait;
}

/* Waits at both stations less the wait assumed; falls strictly, as demand does. */
static double total_step(struct network *w, double wait)
{
    const double miss = 1 - w->c[0].l2_hit;
    flow(w, wait, 0);
    const struct tmx_latency *o = w->out;
    return wait_cycles(w->m->partitions, 1 / w->m->l2_lines_per_cycle, o->l2_load) +
           (miss > 0 ? miss * wait_cycles(w->m->partitions, w->c[0].dram_service, o->dram_load) : 0) - wait;
}

void tmx_latency_solve(const struct tmx_memory_system *m, const struct tmx_core_class *c, size_t n,
                       struct tmx_latency *out)
{
    struct network w = {.m = m, .c = c, .n = n, .out = out};
    bool alike = n > 0; /* in the memory system: then one number, the wait, says all */
    tmx_assert(n <= TMX_MAX_CLASS);
    out->l2_wait_cycles = out->dram_wait_cycles = out->l2_load = out->dram_load = 0;
    out->lines_per_cycle = out->dram_lines_per_cycle = 0;
    for (size_t i = 0; i < n; i++) {
        alike = alike && c[i].l2_hit == c[0].l2_hit && c[i].dram_service == c[0].dram_service;
        out->ipc_no_memory[i] = tmx_core_class_ipc(
            &(struct tmx_core_class){
                .warps = c[i].warps, .ipc1 = c[i].ipc1, .cpi1_cycles = c[i].cpi1_cycles, .mshr = c[i].mshr},
            0);
    }
    if (alike) {
        flow(&w, root(total_step, &w, 16), 0);
        out->l2_wait_cycles = wait_cycles(m->partitions, 1 / m->l2_lines_per_cycle, out->l2_load);
        out->dram_wait_cycles = wait_cycles(m->partitions, c[0].dram_service, out->dram_load);
    } else if (n > 0) {
        const double dram_wait = root(dram_step, &w, 16);
        (void)dram_step(&w, dram_wait);
    }
}

const struct tmx_keys tmx_memory_chip_keys[] = {TMX_KEYS("memory", chip_opts), {0}};
const struct tmx_keys tmx_memory_kernel_keys[] = {
    TMX_KEYS("memory.KIND", kernel_opts), TMX_KEYS("memory.KIND.sequence", repeat_opts), {0}};

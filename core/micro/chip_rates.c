/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Who runs how fast: classes of equal cores, one latency solution, counters over a step. */
#include <math.h>
#include <string.h>

#include "core/base/err.h"
#include "core/micro/chip_state.h"

/* The memory system seen from cores at relative clock core_clock: what follows the memory's clock
 * takes core_clock / memory_clock times as many core cycles. */
static struct tmx_memory_system memory_system(const struct tmx_memory_chip *c, double core_clock,
                                              double memory_clock)
{
    const double ratio = core_clock / memory_clock;
    return (struct tmx_memory_system){.base_cycles = c->base_core_cycles + c->base_memory_cycles * ratio,
                                      .l2_lines_per_cycle = c->l2_lines_per_cycle / ratio,
                                      .partitions = c->partitions};
}

static const double max_loss = 0.9; /* as of row_loss itself */

/* A class of `cores` cores with n_block blocks each, while n_active cores work on the chip. */
static struct tmx_core_class core_class(const struct tmx_memory_chip *chip, const struct tmx_memory_kernel *k,
                                        double cores, double warps, double n_active, double clock_ratio)
{
    /* By working cores, whatever the chip has: 30 of 60 disturb each other as much as 30 of 30. */
    const double n = chip->reference_cores > 0 ? chip->reference_cores : chip->cores;
    const double hit = k->l2_hit * pow(n / n_active, k->l2_gain);
    const double loss = n > 1 ? fmin(k->row_loss * fmax(n_active - 1, 0) / (n - 1), max_loss) : 0;
    return (struct tmx_core_class){
        .cores = cores,
        .warps = warps,
        .ipc1 = k->ipc1,
        .cpi1_cycles = k->cpi1_cycles,
        .mlp = k->mlp,
        .lines_per_instr = k->lines_per_instr,
        .mshr = chip->mshr,
        .l2_hit = fmin(hit, fmax(chip->l2_hit_max, k->l2_hit)),
        .dram_service = clock_ratio / (chip->dram_lines_per_cycle * (1 - loss)),
    };
}

/* Share of a launch's resident warps that can run at once. */
static double runnable(const struct tmx_memory_kernel *k, double resident_warps)
{
    return k->parallel_warps > 0 && resident_warps > k->parallel_warps ? k->parallel_warps / resident_warps
                                                                       : 1;
}

void tmx_contention_rates(const struct tmx_memory_chip *chip, const struct tmx_share *share, size_t n,
                          double core_clock, double memory_clock, double *ipc, double *latency_cycles)
{
    const struct tmx_memory_system m = memory_system(chip, core_clock, memory_clock);
    struct tmx_core_class class[TMX_MAX_CLASS];
    struct tmx_latency l;
    double active = 0;
    tmx_assert(n <= TMX_MAX_CLASS);
    for (size_t k = 0; k < n; k++) {
        active += share[k].cores;
    }
    active = fmax(active, 1);
    for (size_t k = 0; k < n; k++) {
        const struct tmx_memory_kernel *kernel = share[k].kernel;
        const double warps = (double)kernel->blocks_per_core * kernel->warps_per_block;
        class[k] = core_class(chip, kernel, share[k].cores, warps * runnable(kernel, warps * share[k].cores),
                              active, core_clock / memory_clock);
    }
    tmx_latency_solve(&m, class, n, &l);
    memcpy(ipc, l.ipc, n * sizeof *ipc);
    memcpy(latency_cycles, l.cycles, n * sizeof *latency_cycles);
}

bool tmx_chip_runs(const struct tmx_chip_state *s, const struct tmx_core *c)
{
    return c->n > 0 && c->ready_cycle <= s->cycle &&
           (c->state == TMX_CORE_ACTIVE || c->state == TMX_CORE_GIVEN);
}

static double resident_warps(const struct tmx_chip_state *s, size_t program)
{
    double warps = 0;
    for (size_t i = 0; i < s->n_core; i++) {
        if (s->core[i].owner == program && tmx_chip_runs(s, &s->core[i])) {
            warps += (double)s->core[i].n * tmx_chip_kernel(s, program)->warps_per_block;
        }
    }
    return warps;
}

static size_t count_states(struct tmx_chip_state *s)
{
    size_t running = 0;
    const bool taker = tmx_chip_taker(s) != SIZE_MAX;
    memset(s->count, 0, sizeof s->count);
    s->clocked = 0;
    for (size_t i = 0; i < s->n_core; i++) {
        enum tmx_core_state st = s->core[i].state;
        st = st == TMX_CORE_GIVEN && !taker && s->core[i].n == 0 ? TMX_CORE_OFF : st;
        s->count[st]++;
        s->clocked += st != TMX_CORE_OFF && st != TMX_CORE_CLOCK_OFF;
        running += tmx_chip_runs(s, &s->core[i]);
    }
    return running;
}

/* Sort the running cores into classes by (program, resident blocks). */
static size_t classify(struct tmx_chip_state *s, struct tmx_core_class *class, unsigned char *class_of)
{
    size_t n = 0, owner[TMX_MAX_CLASS];
    int blocks[TMX_MAX_CLASS];
    double warps[TMX_MAX_CLASS], share = 1;
    size_t share_of = SIZE_MAX;
    for (size_t i = 0; i < s->n_core; i++) {
        const struct tmx_core *c = &s->core[i];
        size_t k = 0;
        if (!tmx_chip_runs(s, c)) {
            continue;
        }
        while (k < n && (owner[k] != c->owner || blocks[k] != c->n)) {
            k++;
        }
        if (k == n) {
            tmx_assert(n < TMX_MAX_CLASS);
            const struct tmx_memory_kernel *kernel = tmx_chip_kernel(s, c->owner);
            if (share_of != c->owner) {
                share = runnable(kernel, resident_warps(s, c->owner));
                share_of = c->owner;
            }
            owner[n] = c->owner;
            blocks[n] = c->n;
            warps[n] = (double)c->n * kernel->warps_per_block * share;
            class[n] = core_class(s->spec->chip, kernel, 0, warps[n], (double)s->running,
                                  s->core_clock / s->memory_clock);
            n++;
        }
        class[k].cores++;
        class_of[i] = (unsigned char)k;
    }
    return n;
}

static void set_stall(const struct tmx_chip_state *s, struct tmx_core *c, const struct tmx_core_class *class,
                      double ipc_no_memory)
{
    const int stall = s->spec->chip->stall;
    const double full = stall == TMX_STALL_LOST ? 0 : tmx_core_class_mshr_full(class, c->latency_cycles);
    c->stall_share = stall == TMX_STALL_LOST ? 1 - c->ipc / ipc_no_memory : full;
    c->stall_run_cycles = stall == TMX_STALL_CONSECUTIVE ? c->latency_cycles / class->mshr : 0;
}

void tmx_chip_solve(struct tmx_chip_state *s)
{
    const struct tmx_memory_system m = memory_system(s->spec->chip, s->core_clock, s->memory_clock);
    struct tmx_core_class class[TMX_MAX_CLASS]; /* set as far as used: clearing them costs half a solution */
    unsigned char class_of[TMX_MAX_CORE] = {0};
    s->running = count_states(s);
    const size_t n = classify(s, class, class_of);
    tmx_latency_solve(&m, class, n, &s->latency);
    s->r->solves++;
    s->thread_rate = 0;
    for (size_t p = 0; p < s->spec->n_program; p++) {
        struct tmx_program_run *run = &s->program[p];
        run->instr_rate = run->line_rate = run->latency_rate = run->cores = 0;
    }
    for (size_t i = 0; i < s->n_core; i++) {
        struct tmx_core *c = &s->core[i];
        if (!tmx_chip_runs(s, c)) {
            c->ipc = c->latency_cycles = c->stall_share = 0;
            continue;
        }
        struct tmx_program_run *run = &s->program[c->owner];
        const size_t k = class_of[i];
        tmx_assert(k < n);
        const double lines = s->latency.ipc[k] * class[k].lines_per_instr;
        c->ipc = s->latency.ipc[k];
        c->latency_cycles = s->latency.cycles[k];
        set_stall(s, c, &class[k], s -> latency.ipc_no_memory[k]);
        run->instr_rate += c->ipc;
        run->line_rate += lines;
        run->latency_rate += lines * c->latency_cycles;
        run->cores++;
        s->thread_rate += 32 * c->ipc * tmx_chip_kernel(s, c->owner)->simd;
    }
    s->stale = false;
}

/* Lines inside the memory system: on their way, waiting at an L2 slice, waiting at a controller. Mean
 * queue of M/D/1: rho^2 / (2 (1 - rho)). */
static double lines_inside(const struct tmx_chip_state *s)
{
    const struct tmx_memory_system m = memory_system(s->spec->chip, s->core_clock, s->memory_clock);
    const struct tmx_latency *l = &s->latency;
    return l->lines_per_cycle * m.base_cycles +
           m.partitions * l->l2_load * l->l2_load / (2 * (1 - l->l2_load)) +
           m.partitions * l->dram_load * l->dram_load / (2 * (1 - l->dram_load));
}

static void account_launches(struct tmx_chip_state *s, double cycles, double seconds)
{
    double waited = 0;
    for (size_t p = 0; p < s->spec->n_program; p++) {
        struct tmx_program_run *run = &s->program[p];
        struct tmx_cta_launch *l = &s->r->launch[run->launch];
        if (run->ended || (p != s->primary && run->cores <= 0)) {
            continue;
        }
        l->seconds += seconds;
        l->cycles += cycles;
        l->instr += run->instr_rate * cycles;
        l->lines += run->line_rate * cycles;
        l->latency_sum += run->latency_rate * cycles;
        l->core_seconds += run->cores * seconds;
        run->instr += run->instr_rate * cycles;
        waited += run->latency_rate * cycles;
        s->r->instr += run->instr_rate * cycles;
    }
    s->r->outstanding_core += waited;
}

void tmx_chip_account(struct tmx_chip_state *s, double cycles)
{
    struct tmx_contention_result *r = s->r;
    const double seconds = cycles / (s->spec->chip->core_hz * s->core_clock);
    struct tmx_ledger_bin *bin = &r->ledger.bin[s->clock][s->clocked];
    const double instr0 = r->instr;
    r->cycles += cycles;
    r->seconds += seconds;
    account_launches(s, cycles, seconds);
    r->thread_instr += s->thread_rate * cycles;
    r->lines_served += s->latency.lines_per_cycle * cycles;
    r->dram_lines += s->latency.dram_lines_per_cycle * cycles;
    r->outstanding_memory += lines_inside(s) * cycles;
    bin->seconds += seconds;
    bin->instr += r->instr - instr0;
    bin->lines += s->latency.lines_per_cycle * cycles;
    bin->dram_lines += s->latency.dram_lines_per_cycle * cycles;
    for (int k = 0; k < TMX_N_CORE_STATE; k++) {
        bin->core_s[k] += s->count[k] * seconds;
    }
    s->launch_instr += s->program[s->primary].instr_rate * cycles;
    s->launch_dram += s->latency.dram_lines_per_cycle * cycles;
    for (size_t i = 0; i < s->n_core; i++) {
        struct tmx_core *c = &s->core[i];
        if (c->stall_run_cycles > 0) { /* the longest on end, where there is time for one */
            const double run = fmin(c->stall_run_cycles, c->stall_share * cycles);
            c->stall_cycles = fmax(c->stall_cycles, run);
        } else {
            c->stall_cycles += c->stall_share * cycles;
        }
        c->latency_sum += c->latency_cycles * c->ipc * cycles;
        c->line_sum += c->latency_cycles > 0 ? c->ipc * cycles : 0;
    }
}

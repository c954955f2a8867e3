/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "kernels/contention.h"
#include "base/arena.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/err.h"
#include "kernels/stream.h"

struct program_run {
    size_t kernel;       /* current launch */
    uint64_t next_block; /* not yet given to a core */
    uint64_t done;       /* blocks ended of the current launch */
    uint64_t grid;       /* blocks of the current launch */
    size_t launch;       /* its index in the result */
    bool ended;          /* all launches are */
    double instr;        /* of the current launch, done */
    /* rates now, sums over its cores, per cycle */
    double instr_rate, line_rate, latency_rate, cores;
};

struct chip {
    const struct tmx_contention_spec *spec;
    struct tmx_contention_result *r;
    struct program_run *program; /* [n_program] */
    struct tmx_core *core;       /* [n_core] */
    struct tmx_cta_core *seen;   /* [n_core] the policy's view */
    size_t *drained;             /* [n_core] */
    size_t order[TMX_MAX_CORE];  /* [n_core] cores by their last block's end: a hint for sorting */
    size_t n_core, n_drained, primary, clock;
    struct tmx_cta_view view;
    struct tmx_cta_request request;
    struct tmx_latency latency;
    struct tmx_err err;               /* the first stays */
    double cycle;                     /* since the start of the run */
    double launch_cycle;              /* when the policy learned of its kernel */
    double epoch_end;                 /* cycle */
    double launch_instr, launch_dram; /* since then: profile of one kernel */
    double core_clock, memory_clock;  /* in force */
    double count[TMX_N_CORE_STATE];   /* cores in each state, as the ledger counts them */
    double thread_rate;               /* thread instructions per cycle */
    bool stale;                       /* rates must be solved again */
    size_t running, clocked;          /* cores with work that run; cores that are clocked */
};

/* Index of a clock setting, added when new. A run has at most TMX_MAX_CLOCK settings. */
static size_t ledger_clock(struct tmx_ledger *l, double core_clock, double memory_clock)
{
    for (size_t i = 0; i < l->n_clock; i++) {
        if (l->core_clock[i] == core_clock && l->memory_clock[i] == memory_clock) {
            return i;
        }
    }
    tmx_assert(l->n_clock < TMX_MAX_CLOCK);
    l->core_clock[l->n_clock] = core_clock;
    l->memory_clock[l->n_clock] = memory_clock;
    return l->n_clock++;
}

/* ---- one core: its resident blocks, in the order in which they end ---- */

/* Cycles until the core's next block ends; INFINITY when it stands still. */
static inline double core_next_end_cycles(const struct tmx_core *c)
{
    if (c->n == 0 || c->ipc <= 0) {
        return INFINITY;
    }
    const double left = c->end[0] - c->mark;
    return left > 0 ? left * c->n / c->ipc : 0;
}

/* Advance by cycles; blocks whose end is reached stay until core_retire. */
static inline void core_advance(struct tmx_core *c, double cycles)
{
    if (c->n > 0) {
        c->mark += c->ipc * cycles / c->n;
    }
}

/* Remove the first block if its end is reached, or so near that rounding of mark + rate * time explains
 * the difference; *surplus is how far the core is beyond it. */
static inline bool core_retire(struct tmx_core *c, double *surplus)
{
    static const double same = 1e-12;
    if (c->n == 0 || c->end[0] > c->mark * (1 + same)) {
        return false;
    }
    const double beyond = c->mark - c->end[0];
    *surplus = beyond > 0 ? beyond : 0;
    c->n--;
    for (int i = 0; i < c->n; i++) {
        c->end[i] = c->end[i + 1];
    }
    return true;
}

/* Issue rate of a core with so many blocks that waits for no memory. */
static double free_ipc(const struct tmx_memory_kernel *k, int blocks)
{
    return fmin(k->ipc1, blocks * k->warps_per_block / k->cpi1_cycles);
}

/* ---- blocks: who runs what; from the grids to the cores, and off them at their end ---- */

static const struct tmx_memory_kernel *kernel_of(const struct chip *s, size_t program)
{
    const struct tmx_memory_program *p = s->spec->program[program];
    const size_t k = s->program[program].kernel;
    return &p->kernel[k < p->n ? k : p->n - 1];
}

/* Program that takes lent cores; SIZE_MAX: none. */
static size_t taker_of(const struct chip *s)
{
    for (size_t p = 0; p < s->spec->n_program; p++) {
        if (p != s->primary && !s->program[p].ended) {
            return p;
        }
    }
    return SIZE_MAX;
}

/* Throttled, and on the way to the next memory instruction of its warps. */
static bool core_coasts(const struct chip *s, const struct tmx_core *c)
{
    return c->n > 0 && c->state == TMX_CORE_THROTTLE && s->cycle < c->coast_cycle;
}

/* The core runs or could: clocked and not waiting to wake. */
static bool core_runs(const struct chip *s, const struct tmx_core *c)
{
    return c->n > 0 && c->ready_cycle <= s->cycle &&
           (c->state == TMX_CORE_ACTIVE || c->state == TMX_CORE_GIVEN);
}

/* Program whose blocks the core should hold; SIZE_MAX: none. */
static size_t wanted(const struct chip *s, const struct tmx_core *c)
{
    return c->state == TMX_CORE_GIVEN ? taker_of(s) : s->primary;
}

static bool may_take(const struct chip *s, size_t core)
{
    const struct tmx_core *c = &s->core[core];
    const size_t p = wanted(s, c);
    if (p == SIZE_MAX || (c->n > 0 && c->owner != p)) {
        return false;
    }
    const struct program_run *run = &s->program[p];
    if (run->ended || run->next_block == run->grid || c->n >= kernel_of(s, p)->blocks_per_core) {
        return false;
    }
    if (c->state == TMX_CORE_GIVEN) {
        return true;
    }
    return c->state == TMX_CORE_ACTIVE && s->request.accept[core] &&
           (s->request.block_limit == 0 || run->next_block < (uint64_t)s->request.block_limit);
}

static void give_block(struct chip *s, struct tmx_core *c, double surplus)
{
    const size_t p = wanted(s, c);
    struct program_run *run = &s->program[p];
    c->owner = p;
    const uint64_t stream = s->spec->seed + 1000003u * (uint64_t)(p + 31 * run->kernel);
    const struct tmx_memory_kernel *k = kernel_of(s, p);
    /* a block's length does not depend on when or where it runs: the same for every policy */
    const double drawn = (double)(tmx_mix64(stream, ++run->next_block, 0) >> 11) * 0x1p-53,
                 length = k->instr_per_warp * k->warps_per_block * (1 + k->variation * (2 * drawn - 1));
    s->r->lines_asked += length * k->lines_per_instr;
    /* the block started `surplus` instructions before the core's present mark */
    tmx_assert(c->n < TMX_MAX_RESIDENT);
    if (c->n == 0) {
        c->mark = surplus;
    }
    int i = c->n++;
    const double end = c->mark - surplus + length;
    for (; i > 0 && c->end[i - 1] > end; i--) {
        c->end[i] = c->end[i - 1];
    }
    c->end[i] = end;
}

/* Give waiting blocks to cores. */
static void fill(struct chip *s)
{
    for (int round = 0; round < TMX_MAX_RESIDENT; round++) { /* one block a core and round, in order */
        bool any = false;
        for (size_t i = 0; i < s->n_core; i++) {
            if (s->core[i].n == round && may_take(s, i)) {
                give_block(s, &s->core[i], 0);
                any = true;
                s->stale = true;
            }
            any = any || s->core[i].n > round;
        }
        if (!any) {
            return;
        }
    }
}

/* Until the first block ends whose end changes the set of resident warps; at most `cycles`. */
static double next_cut_cycles(const struct chip *s, double cycles)
{
    const bool first = s->request.watch_blocks && isinf(s->view.first_done_cycle);
    bool safe[TMX_MAX_CORE]; /* so many blocks wait that each that can end within `cycles` is replaced */
    for (size_t p = 0; p < s->spec->n_program; p++) {
        const struct program_run *run = &s->program[p];
        const struct tmx_memory_kernel *k = kernel_of(s, p);
        const double shortest = k->instr_per_warp * k->warps_per_block * (1 - k->variation),
                     may_end = run->instr_rate * cycles / shortest + run->cores * k->blocks_per_core;
        safe[p] = !run->ended && run->cores > 0 && (double)(run->grid - run->next_block) > may_end;
    }
    for (size_t i = 0; i < s->n_core; i++) {
        const struct tmx_core *c = &s->core[i];
        if (c->ipc <= 0) {
            continue;
        }
        const bool takes =
            c->state == TMX_CORE_GIVEN || (c->state == TMX_CORE_ACTIVE && s->request.accept[i]);
        const bool replaced =
            takes && safe[c->owner] && wanted(s, c) == c->owner && s->request.block_limit == 0;
        if (!replaced || (first && c->owner == s->primary)) {
            cycles = fmin(cycles, core_next_end_cycles(c));
        }
    }
    return cycles;
}

/* Insert core i into due[first .. *n), kept in the order of time, ties by core. */
static void insert_due(size_t *due, size_t first, size_t *n, const double *next, size_t i)
{
    size_t k = (*n)++;
    for (; k > first && (next[due[k - 1]] > next[i] || (next[due[k - 1]] == next[i] && due[k - 1] > i));
         k--) {
        due[k] = due[k - 1];
    }
    due[k] = i;
}

/* Blocks end in the order of time, ties by core, so that it does not depend on the length of a step
 * which core gets which block. Cores are visited in the order in which they had their last ends: the next
 * ends mostly come in the same order, which makes sorting cheap. */
static void advance_blocks(struct chip *s, double cycles)
{
    double at[TMX_MAX_CORE], next[TMX_MAX_CORE];
    size_t due[TMX_MAX_CORE], n_due = 0, n_later = 0;
    for (size_t k = 0; k < s->n_core; k++) {
        const size_t i = s->order[k];
        const struct tmx_core *c = &s->core[i];
        /* surely beyond: a test without a division */
        const bool later = c->n == 0 || (c->end[0] - c->mark) * c->n > c->ipc * cycles * (1 + 1e-9);
        at[i] = 0;
        if (!later && (next[i] = core_next_end_cycles(c)) <= cycles) {
            insert_due(due, 0, &n_due, next, i);
        } else {
            s->order[n_later++] = i;
        }
    }
    for (size_t first = 0; n_later < s->n_core;) {
        const size_t i = due[first++];
        struct tmx_core *c = &s->core[i];
        double surplus;
        core_advance(c, next[i] - at[i]);
        at[i] = next[i];
        while (core_retire(c, &surplus)) {
            struct program_run *run = &s->program[c->owner];
            run->done++;
            s->r->blocks++;
            s->r->launch[run->launch].blocks++;
            if (c->owner == s->primary && isinf(s->view.first_done_cycle)) {
                s->view.first_done_cycle = s->cycle - s->launch_cycle;
            }
            if (may_take(s, i)) {
                give_block(s, c, surplus); /* starts where this one ended */
                continue;
            }
            s->stale = true;
            if (c->n == 0) {
                s->drained[s->n_drained++] = i;
            }
        }
        next[i] += core_next_end_cycles(c);
        if (next[i] <= cycles) { /* again in this step: into the place that has become free */
            n_due--;
            first--;
            memmove(&due[first], &due[first + 1], (n_due - first) * sizeof *due);
            insert_due(due, first, &n_due, next, i);
        } else {
            s->order[n_later++] = i;
        }
    }
    for (size_t i = 0; i < s->n_core; i++) {
        core_advance(&s->core[i], cycles - at[i]);
    }
}

/* ---- rates: who runs how fast; classes of equal cores, one latency solution, counters over a step ---- */

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

static double resident_warps(const struct chip *s, size_t program)
{
    double warps = 0;
    for (size_t i = 0; i < s->n_core; i++) {
        if (s->core[i].owner == program && core_runs(s, &s->core[i])) {
            warps += (double)s->core[i].n * kernel_of(s, program)->warps_per_block;
        }
    }
    return warps;
}

/* Sort the running cores into classes by (program, resident blocks). */
static size_t classify(struct chip *s, struct tmx_core_class *class, unsigned char *class_of)
{
    size_t n = 0, owner[TMX_MAX_CLASS];
    int blocks[TMX_MAX_CLASS];
    double warps[TMX_MAX_CLASS], share = 1;
    size_t share_of = SIZE_MAX;
    for (size_t i = 0; i < s->n_core; i++) {
        const struct tmx_core *c = &s->core[i];
        size_t k = 0;
        if (!core_runs(s, c)) {
            continue;
        }
        while (k < n && (owner[k] != c->owner || blocks[k] != c->n)) {
            k++;
        }
        if (k == n) {
            tmx_assert(n < TMX_MAX_CLASS);
            const struct tmx_memory_kernel *kernel = kernel_of(s, c->owner);
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

/* The rates of all cores. */
static void solve(struct chip *s)
{
    const struct tmx_memory_system m = memory_system(s->spec->chip, s->core_clock, s->memory_clock);
    struct tmx_core_class class[TMX_MAX_CLASS]; /* set as far as used: clearing them costs half a solution */
    unsigned char class_of[TMX_MAX_CORE] = {0};
    const bool taker = taker_of(s) != SIZE_MAX;
    memset(s->count, 0, sizeof s->count);
    s->running = s->clocked = 0;
    for (size_t i = 0; i < s->n_core; i++) {
        enum tmx_core_state st = s->core[i].state;
        st = st == TMX_CORE_GIVEN && !taker && s->core[i].n == 0 ? TMX_CORE_OFF : st;
        s->count[st]++;
        s->clocked += st != TMX_CORE_OFF && st != TMX_CORE_CLOCK_OFF;
        s->running += core_runs(s, &s->core[i]);
    }
    const size_t n = classify(s, class, class_of);
    tmx_latency_solve(&m, class, n, &s->latency);
    s->r->solves++;
    s->thread_rate = 0;
    for (size_t p = 0; p < s->spec->n_program; p++) {
        struct program_run *run = &s->program[p];
        run->instr_rate = run->line_rate = run->latency_rate = run->cores = 0;
    }
    for (size_t i = 0; i < s->n_core; i++) {
        struct tmx_core *c = &s->core[i];
        if (!core_runs(s, c)) {
            c->ipc = c->latency_cycles = c->stall_share = 0;
            if (core_coasts(s, c)) { /* what a throttled core still does; its lines are owed */
                const struct tmx_memory_kernel *k = kernel_of(s, c->owner);
                c->ipc = free_ipc(k, c->n);
                s->program[c->owner].instr_rate += c->ipc;
                s->thread_rate += 32 * c->ipc * k->simd;
            }
            continue;
        }
        struct program_run *run = &s->program[c->owner];
        const size_t k = class_of[i];
        tmx_assert(k < n);
        const double lines = s->latency.ipc[k] * class[k].lines_per_instr;
        c->ipc = s->latency.ipc[k];
        c->latency_cycles = s->latency.cycles[k];
        const int stall = s->spec->chip->stall;
        const double full =
            stall == TMX_STALL_LOST ? 0 : tmx_core_class_mshr_full(&class[k], c -> latency_cycles);
        c->stall_share = stall == TMX_STALL_LOST ? 1 - c->ipc / s->latency.ipc_no_memory[k] : full;
        c->stall_run_cycles = stall == TMX_STALL_CONSECUTIVE ? c->latency_cycles / class[k].mshr : 0;
        run->instr_rate += c->ipc;
        run->line_rate += lines;
        run->latency_rate += lines * c->latency_cycles;
        run->cores++;
        s->thread_rate += 32 * c->ipc * kernel_of(s, c->owner)->simd;
    }
    s->stale = false;
}

/* Counters and ledger over a step. */
static void account(struct chip *s, double cycles)
{
    struct tmx_contention_result *r = s->r;
    const double seconds = cycles / (s->spec->chip->core_hz * s->core_clock);
    struct tmx_ledger_bin *bin = &r->ledger.bin[s->clock][s->clocked];
    const double instr0 = r->instr;
    double waited = 0;
    r->cycles += cycles;
    r->seconds += seconds;
    for (size_t p = 0; p < s->spec->n_program; p++) {
        struct program_run *run = &s->program[p];
        struct tmx_cta_launch *l = &r->launch[run->launch];
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
        r->instr += run->instr_rate * cycles;
    }
    r->outstanding_core += waited;
    r->thread_instr += s->thread_rate * cycles;
    r->lines_served += s->latency.lines_per_cycle * cycles;
    r->dram_lines += s->latency.dram_lines_per_cycle * cycles;
    /* lines inside: on their way, waiting at an L2 slice, waiting at a controller. Mean queue of M/D/1:
     * rho^2 / (2 (1 - rho)) */
    const struct tmx_memory_system m = memory_system(s->spec->chip, s->core_clock, s->memory_clock);
    const struct tmx_latency *l = &s->latency;
    r->outstanding_memory += (l->lines_per_cycle * m.base_cycles +
                              m.partitions * l->l2_load * l->l2_load / (2 * (1 - l->l2_load)) +
                              m.partitions * l->dram_load * l->dram_load / (2 * (1 - l->dram_load))) *
                             cycles;
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
        if (core_coasts(s, c)) {
            c->owed_lines += c->ipc * cycles * kernel_of(s, c->owner)->lines_per_instr;
            continue;
        }
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

/* The lines that a throttled core's warps held back: sent when it leaves that state, each at the latency
 * without contention. They are at most one request a warp: the burst is counted, and what it delays is not.
 */
static void pay_owed(struct chip *s, struct tmx_core *c)
{
    if (c->owed_lines <= 0) {
        return;
    }
    struct tmx_contention_result *r = s->r;
    struct tmx_cta_launch *l = &r->launch[s->program[c->owner].launch];
    struct tmx_ledger_bin *bin = &r->ledger.bin[s->clock][s->clocked];
    const double dram = (1 - kernel_of(s, c->owner)->l2_hit) * c->owed_lines;
    const double waited = c->owed_lines * s->view.base_latency_cycles;
    l->lines += c->owed_lines;
    l->latency_sum += waited;
    r->outstanding_core += waited;
    r->outstanding_memory += waited;
    r->lines_served += c->owed_lines;
    r->dram_lines += dram;
    bin->lines += c->owed_lines;
    bin->dram_lines += dram;
    c->owed_lines = 0;
}

/* ---- events and the policy: launches, wake-ups, drained cores, clocks ---- */

static void begin_launch(struct chip *s, size_t program)
{
    struct program_run *run = &s->program[program];
    tmx_assert(s->r->n_launch < TMX_MAX_LAUNCH);
    run->launch = s->r->n_launch++;
    run->next_block = run->done = 0;
    run->instr = 0;
    run->grid = (uint64_t)s->spec->program[program]->kernel[run->kernel].blocks;
    s->r->launch[run->launch] =
        (struct tmx_cta_launch){.program = program, .kernel = run->kernel, .start_s = s->r->seconds};
    s->stale = true;
}

/* What the policy sees now. */
static void look(struct chip *s)
{
    struct tmx_cta_view *v = &s->view;
    const struct tmx_memory_chip *chip = s->spec->chip;
    const struct tmx_memory_kernel *k = kernel_of(s, s->primary);
    const struct program_run *run = &s->program[s->primary];
    double working = 0;
    v->cycle = s->cycle - s->launch_cycle;
    v->blocks_left = run->grid - run->next_block;
    v->n_drained = s->n_drained;
    for (size_t i = 0; i < s->n_core; i++) {
        const struct tmx_core *c = &s->core[i];
        s->seen[i] =
            (struct tmx_cta_core){.state = c->state,
                                  .n_block = c->n,
                                  .stall_cycles = c->stall_cycles,
                                  .latency_cycles = c->line_sum > 0 ? c->latency_sum / c->line_sum : 0};
        working += c->state == TMX_CORE_ACTIVE && s->request.accept[i];
    }
    /* Profile: shares of peaks. The busiest of n Poisson-filled partitions stands out by about
     * sqrt(2 ln n / lines per partition) of the mean. */
    const double cycles = fmax(v->cycle, 1), ipc = s->launch_instr / cycles / fmax(working, 1);
    const double n = chip->partitions, per = s->launch_dram / n;
    const double mean =
        s->launch_dram / cycles / (chip->dram_lines_per_cycle * s->memory_clock / s->core_clock);
    const double good = fmin(ipc / chip->peak_ipc * k->full_warps, 1);
    v->ipc_share = ipc * k->simd / chip->peak_ipc;
    v->bandwidth_share = per > 0 ? fmin(1, mean * (1 + sqrt(2 * log(n) / per))) : 0;
    v->good_to_bad = good < 0.5 ? good / (1 - good) : 1;
}

/* Clamp and apply the policy's request. A core that holds blocks cannot be switched off. */
static void apply(struct chip *s)
{
    struct tmx_cta_request *q = &s->request;
    /* nothing of a request that cannot be is taken over; the run ends with it */
    bool ok = isfinite(q->core_clock) && q->core_clock > 0 && isfinite(q->memory_clock) &&
              q->memory_clock > 0 && !isnan(q->wake_cycle) && q->block_limit >= 0;
    for (size_t i = 0; i < s->n_core; i++) {
        ok = ok && (unsigned)q->state[i] < TMX_N_CORE_STATE;
    }
    if (!ok) {
        tmx_error(&s->err, TMX_ESOLVE,
                  "CTA policy %s: a state, a clock, a limit or a wake-up cycle that cannot be, "
                  "after %.0f cycles",
                  s->spec->policy->base.name, s->cycle);
    }
    if (s->err.code) {
        return;
    }
    if (q->core_clock != s->core_clock || q->memory_clock != s->memory_clock) {
        s->core_clock = q->core_clock;
        s->memory_clock = q->memory_clock;
        s->clock = ledger_clock(&s->r->ledger, s->core_clock, s->memory_clock);
        s->r->ledger.clock_changes++;
        for (size_t i = 0; i < s->n_core; i++) {
            struct tmx_core *c = &s->core[i];
            c->ready_cycle = fmax(c->ready_cycle, s->cycle + s->spec->chip->clock_change_cycles);
        }
        s->stale = true;
    }
    for (size_t i = 0; i < s->n_core; i++) {
        struct tmx_core *c = &s->core[i];
        const bool off = q->state[i] == TMX_CORE_OFF || q->state[i] == TMX_CORE_CLOCK_OFF;
        const bool lent = q->state[i] == TMX_CORE_GIVEN;
        if (q->reset_counters) {
            c->stall_cycles = c->latency_sum = c->line_sum = 0;
        }
        if (q->state[i] == c->state || ((off || lent) && c->n > 0)) {
            continue;
        }
        const bool was_off =
            c->state == TMX_CORE_OFF || (c->state == TMX_CORE_GIVEN && c->n == 0 && taker_of(s) == SIZE_MAX);
        const bool is_off = q->state[i] == TMX_CORE_OFF || (lent && taker_of(s) == SIZE_MAX);
        if (was_off && !is_off) {
            c->ready_cycle = s->cycle + s->spec->chip->wake_cycles;
            s->r->ledger.wakeups++;
        }
        s->r->ledger.gatings += is_off && !was_off;
        if (q->state[i] == TMX_CORE_THROTTLE && core_runs(s, c) &&
            s->spec->chip->throttle == TMX_THROTTLE_GRADUAL) {
            const struct tmx_memory_kernel *k = kernel_of(s, c->owner);
            c->coast_cycle =
                s->cycle + c->n * k->warps_per_block / fmax(k->lines_per_instr, 1e-300) / free_ipc(k, c->n);
        }
        pay_owed(s, c);
        c->state = q->state[i];
        s->stale = true;
    }
    q->reset_counters = false;
    s->n_drained = 0;
}

static void tell_launch(struct chip *s)
{
    struct tmx_cta_request *q = &s->request;
    s->launch_cycle = s->cycle;
    s->launch_instr = s->launch_dram = 0;
    s->view.first_done_cycle = INFINITY;
    s->epoch_end = s->cycle + s->spec->epoch_cycles;
    s->n_drained = 0;
    *q = (struct tmx_cta_request){.state = q->state,
                                  .accept = q->accept,
                                  .core_clock = 1,
                                  .memory_clock = 1,
                                  .wake_cycle = INFINITY,
                                  .reset_counters = true};
    for (size_t i = 0; i < s->n_core; i++) {
        q->state[i] = TMX_CORE_ACTIVE;
        q->accept[i] = true;
    }
    look(s);
    s->spec->policy->launch(s->spec->policy_state, &s->view, q);
    apply(s);
    fill(s);
}

static void step(struct chip *s)
{
    const double before = s->cycle, first = s->view.first_done_cycle;
    if (s->stale) {
        solve(s);
    }
    double next = fmin(s->epoch_end, s->launch_cycle + s->request.wake_cycle) - s->cycle;
    for (size_t i = 0; i < s->n_core; i++) {
        const struct tmx_core *c = &s->core[i];
        next = c->ready_cycle > s->cycle ? fmin(next, c->ready_cycle - s->cycle) : next;
        next = core_coasts(s, c) ? fmin(next, c->coast_cycle - s->cycle) : next;
    }
    const double cycles = fmax(next_cut_cycles(s, fmax(next, 0)), 0);
    account(s, cycles);
    s->cycle += cycles;
    s->r->epochs++;
    for (size_t i = 0; i < s->n_core; i++) {
        const double ready = s->core[i].ready_cycle, stands = s->core[i].coast_cycle;
        s->stale =
            s->stale || (ready > before && ready <= s->cycle) || (stands > before && stands <= s->cycle);
    }
    advance_blocks(s, cycles);
    if (s->cycle >= s->epoch_end) {
        s->epoch_end += s->spec->epoch_cycles;
        if (s->spec->probe) {
            s->spec->probe(s->spec->probe_ctx,
                           &(struct tmx_contention_sample){.cycle = s->cycle,
                                                           .seconds = s->r->seconds,
                                                           .n_core = s->n_core,
                                                           .core = s->core,
                                                           .latency = &s->latency,
                                                           .launch = s->program[s->primary].launch});
        }
    }
    const bool first_block = s->request.watch_blocks && isinf(first) && isfinite(s->view.first_done_cycle);
    const double wake = s->request.wake_cycle;
    const bool woken = s->cycle >= s->launch_cycle + wake;
    if (s->spec->policy->observe && (woken || first_block || s->n_drained > 0)) {
        look(s);
        if (woken) { /* to the very cycle asked for, whatever launch_cycle + wake rounds to */
            s->view.cycle = fmax(s->view.cycle, wake);
            s->request.wake_cycle = INFINITY;
        }
        s->spec->policy->observe(s->spec->policy_state, &s->view, &s->request);
        apply(s);
        fill(s);
    }
    s->n_drained = 0;
    /* launches whose last block has ended; the policy hears of the next launch of its program */
    bool tell = false, begun = false;
    for (size_t p = 0; p < s->spec->n_program; p++) {
        struct program_run *run = &s->program[p];
        struct tmx_cta_launch *l = &s->r->launch[run->launch];
        if (run->ended || run->done < run->grid) {
            continue;
        }
        l->cores = 0;
        for (size_t i = 0; i < s->n_core; i++) {
            if (s->core[i].owner == p) {
                pay_owed(s, &s->core[i]);
            }
            l->cores += s->core[i].state == (p == s->primary ? TMX_CORE_ACTIVE : TMX_CORE_GIVEN);
        }
        run->kernel++;
        run->ended = run->kernel == s->spec->program[p]->n;
        if (!run->ended) {
            begin_launch(s, p);
        }
        tell = tell || p == s->primary;
        begun = true;
        s->stale = true;
    }
    while (s->primary < s->spec->n_program && s->program[s->primary].ended) {
        s->primary++;
        tell = true;
    }
    if (s->primary == s->spec->n_program) {
        return;
    }
    if (tell) {
        tell_launch(s);
    } else if (begun) { /* the next launch of a program on lent cores, or the one after it */
        fill(s);
    }
}

enum tmx_status tmx_contention_run(const struct tmx_contention_spec *spec, struct tmx_contention_result *r,
                                   struct tmx_err *err)
{
    struct chip s = {
        .spec = spec, .r = r, .n_core = (size_t)spec->chip->cores, .core_clock = 1, .memory_clock = 1};
    *r = (struct tmx_contention_result){0};
    struct tmx_arena arena = {0};
    TMX_TAKE(&arena, s.program, spec->n_program);
    TMX_TAKE(&arena, s.core, s.n_core);
    TMX_TAKE(&arena, s.seen, s.n_core);
    TMX_TAKE(&arena, s.drained, s.n_core);
    TMX_TAKE(&arena, s.request.state, s.n_core);
    TMX_TAKE(&arena, s.request.accept, s.n_core);
    for (size_t i = 0; i < s.n_core; i++) {
        s.order[i] = i;
    }
    s.view.n_core = s.n_core;
    s.view.core = s.seen;
    s.view.drained = s.drained;
    s.view.base_latency_cycles = spec->chip->base_core_cycles + spec->chip->base_memory_cycles;
    tmx_arena_check(&arena, &s.err);
    for (size_t p = 0; p < spec->n_program && !s.err.code; p++) {
        begin_launch(&s, p);
    }
    if (!s.err.code) {
        s.clock = ledger_clock(&r->ledger, 1, 1);
        tell_launch(&s);
    }
    while (!s.err.code && s.primary < spec->n_program) {
        step(&s);
        if (s.primary == spec->n_program) {
            break;
        }
        const char *name = spec->program[s.primary]->name, *policy = spec->policy->base.name;
        bool hope = isfinite(s.request.wake_cycle);
        for (size_t i = 0; i < s.n_core && !hope; i++) {
            hope =
                core_runs(&s, &s.core[i]) || core_coasts(&s, &s.core[i]) || s.core[i].ready_cycle > s.cycle;
        }
        if (spec->max_cycles > 0 && s.cycle > spec->max_cycles) {
            tmx_error(&s.err, TMX_EUNFINISHED, "%s under %s: not done after %g cycles", name, policy,
                      s.cycle);
        } else if (!hope) {
            tmx_error(&s.err, TMX_EUNFINISHED, "%s under %s: no core runs, %" PRIu64 " blocks left", name,
                      policy, s.program[s.primary].grid - s.program[s.primary].done);
        }
    }
    tmx_arena_finish(&arena);
    return tmx_error_give(err, &s.err);
}

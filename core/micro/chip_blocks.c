/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Who runs what: blocks from the grids to the cores, and off them at their end. */
#include <math.h>
#include <string.h>

#include "core/base/err.h"
#include "core/micro/chip_state.h"

const struct tmx_memory_kernel *tmx_chip_kernel(const struct tmx_chip_state *s, size_t program)
{
    const struct tmx_memory_program *p = s->spec->program[program];
    const size_t k = s->program[program].kernel;
    return &p->kernel[k < p->n ? k : p->n - 1];
}

size_t tmx_chip_taker(const struct tmx_chip_state *s)
{
    for (size_t p = 0; p < s->spec->n_program; p++) {
        if (p != s->primary && !s->program[p].ended) {
            return p;
        }
    }
    return SIZE_MAX;
}

/* Program whose blocks the core should hold; SIZE_MAX: none. */
static size_t wanted(const struct tmx_chip_state *s, const struct tmx_core *c)
{
    return c->state == TMX_CORE_GIVEN ? tmx_chip_taker(s) : s->primary;
}

static bool may_take(const struct tmx_chip_state *s, size_t core)
{
    const struct tmx_core *c = &s->core[core];
    const size_t p = wanted(s, c);
    if (p == SIZE_MAX || (c->n > 0 && c->owner != p)) {
        return false;
    }
    const struct tmx_program_run *run = &s->program[p];
    if (run->ended || run->next_block == run->grid || c->n >= tmx_chip_kernel(s, p)->blocks_per_core) {
        return false;
    }
    if (c->state == TMX_CORE_GIVEN) {
        return true;
    }
    return c->state == TMX_CORE_ACTIVE && s->request.accept[core] &&
           (s->request.block_limit == 0 || run->next_block < (uint64_t)s->request.block_limit);
}

static void give_block(struct tmx_chip_state *s, struct tmx_core *c, double surplus)
{
    const size_t p = wanted(s, c);
    struct tmx_program_run *run = &s->program[p];
    c->owner = p;
    const uint64_t stream = s->spec->seed + 1000003u * (uint64_t)(p + 31 * run->kernel);
    const struct tmx_memory_kernel *k = tmx_chip_kernel(s, p);
    const double length = tmx_block_length(k, stream, run->next_block++);
    s->r->lines_asked += length * k->lines_per_instr;
    tmx_core_add_block(c, length, surplus);
}

void tmx_chip_fill(struct tmx_chip_state *s)
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

/* True when so many blocks wait that every block of the program that can end within `cycles` will be
 * replaced on its core. */
static bool plenty(const struct tmx_chip_state *s, size_t program, double cycles)
{
    const struct tmx_program_run *run = &s->program[program];
    const struct tmx_memory_kernel *k = tmx_chip_kernel(s, program);
    const double shortest = k->instr_per_warp * k->warps_per_block * (1 - k->variation);
    const double may_end = run->instr_rate * cycles / shortest + run->cores * k->blocks_per_core;
    return (double)(run->grid - run->next_block) > may_end;
}

double tmx_chip_next_cut_cycles(const struct tmx_chip_state *s, double cycles)
{
    const bool first = s->request.watch_blocks && isinf(s->view.first_done_cycle);
    bool safe[TMX_MAX_CORE];
    for (size_t p = 0; p < s->spec->n_program; p++) {
        safe[p] = !s->program[p].ended && s->program[p].cores > 0 && plenty(s, p, cycles);
    }
    for (size_t i = 0; i < s->n_core; i++) {
        const struct tmx_core *c = &s->core[i];
        if (c->ipc <= 0) {
            continue;
        }
        const bool replaced = safe[c->owner] && wanted(s, c) == c->owner && s->request.block_limit == 0 &&
                              (c->state == TMX_CORE_GIVEN || s->request.accept[i]);
        if (!replaced || (first && c->owner == s->primary)) {
            cycles = fmin(cycles, tmx_core_next_end_cycles(c));
        }
    }
    return cycles;
}

static void block_ends(struct tmx_chip_state *s, size_t core, double surplus)
{
    struct tmx_core *c = &s->core[core];
    struct tmx_program_run *run = &s->program[c->owner];
    run->done++;
    s->r->blocks++;
    s->r->launch[run->launch].blocks++;
    if (c->owner == s->primary && isinf(s->view.first_done_cycle)) {
        s->view.first_done_cycle = s->cycle - s->launch_cycle;
    }
    if (!may_take(s, core)) {
        s->stale = true;
        if (c->n == 0) {
            s->drained[s->n_drained++] = core;
        }
        return;
    }
    give_block(s, c, surplus); /* starts where this one ended */
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
void tmx_chip_advance_blocks(struct tmx_chip_state *s, double cycles)
{
    double at[TMX_MAX_CORE], next[TMX_MAX_CORE];
    size_t due[TMX_MAX_CORE], n_due = 0, n_later = 0;
    for (size_t k = 0; k < s->n_core; k++) {
        const size_t i = s->order[k];
        at[i] = 0;
        if (tmx_core_ends_after(&s->core[i], cycles)) {
            s->order[n_later++] = i;
            continue;
        }
        next[i] = tmx_core_next_end_cycles(&s->core[i]);
        if (next[i] <= cycles) {
            insert_due(due, 0, &n_due, next, i);
        } else {
            s->order[n_later++] = i;
        }
    }
    for (size_t first = 0; n_later < s->n_core;) {
        const size_t i = due[first++];
        struct tmx_core *c = &s->core[i];
        double surplus;
        tmx_core_advance(c, next[i] - at[i]);
        at[i] = next[i];
        while (tmx_core_retire(c, &surplus)) {
            block_ends(s, i, surplus);
        }
        next[i] += tmx_core_next_end_cycles(c);
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
        tmx_core_advance(&s->core[i], cycles - at[i]);
    }
}

#include "core/micro/cta_book.h"

#include <math.h>
#include <string.h>

#include "core/base/err.h"

/* Two ends closer than this share of a block are one event (rounding of mark + rate * time). */
static const double same = 1e-12;

/* splitmix64 of (seed, block): a block's length does not depend on when or where it runs. */
static double uniform(uint64_t seed, uint64_t block)
{
    uint64_t z = seed + (block + 1) * 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    z ^= z >> 31;
    return (double)(z >> 11) * 0x1p-53;
}

double tmx_block_length(const struct tmx_memory_kernel *k, uint64_t seed, uint64_t block)
{
    return k->instr_per_warp * k->warps_per_block * (1 + k->variation * (2 * uniform(seed, block) - 1));
}

void tmx_core_add_block(struct tmx_core *c, double length, double surplus)
{
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

double tmx_core_next_end_cycles(const struct tmx_core *c)
{
    if (c->n == 0 || c->ipc <= 0) {
        return INFINITY;
    }
    return fmax(c->end[0] - c->mark, 0) * c->n / c->ipc;
}

void tmx_core_advance(struct tmx_core *c, double cycles)
{
    if (c->n > 0) {
        c->mark += c->ipc * cycles / c->n;
    }
}

bool tmx_core_retire(struct tmx_core *c, double *surplus)
{
    if (c->n == 0 || c->end[0] > c->mark * (1 + same)) {
        return false;
    }
    *surplus = fmax(c->mark - c->end[0], 0);
    c->n--;
    memmove(&c->end[0], &c->end[1], (size_t)c->n * sizeof c->end[0]);
    return true;
}

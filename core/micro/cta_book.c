/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "core/micro/cta_book.h"

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

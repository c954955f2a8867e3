/* SPDX-License-Identifier: GPL-3.0-or-later */
/* sum_i += rows' coef_i, written once and compiled for each width of vector: CMake names
 * each TMX_KERNEL (tmx_kernels in CMakeLists.txt). */
#include "base/rows.h"
#include "base/vector_rows.h"

static inline __attribute__((always_inline)) void sums(size_t wide, size_t tail, size_t many,
                                                       const struct tmx_rows *c, size_t first, size_t at)
{
    vec sum[WIDE_ALONE];
    for (size_t i = 0; i < many; i++) {
        for (size_t k = 0; k < wide; k++) {
            sum[i * wide + k] = LOAD(c->sum[first + i] + at + k * LANES);
        }
    }
    gather(wide, tail, many, c->n_row, c->stride, c->coef + first, c->rows + at, sum, NULL);
    for (size_t i = 0; i < many; i++) {
        for (size_t k = 0; k < wide; k++) {
            STORE(c->sum[first + i] + at + k * LANES, sum[i * wide + k]);
        }
    }
}

void TMX_KERNEL(const struct tmx_rows *c)
{
    size_t first = 0;
    for (; c->n - first >= 2; first += 2) {
        TILES(c->length, sums, WIDE_ALONE / 2, 2, 0);
    }
    if (first < c->n) {
        TILES(c->length, sums, WIDE_ALONE, 1, 0);
    }
}

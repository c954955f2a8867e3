/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tiles of matrix products, compiled for each width of vector (base/os.h). Every element is one chain of
 * fused multiply-adds in the order of k, or TMX_CHAINS of them, so its bits do not depend on the width. */
#include "base/vector_rows.h"
#include "thermal/reduction/dense.h"

enum {
    PARTS = TMX_CHAINS / LANES,
    VECTORS = TMX_TILE_ROWS / LANES,
    COLUMNS = TMX_TILE_COLS,
    AT_ONCE = 2
}; /* vectors in registers */

/* The scalar products of `many` columns of a with `wide` of b, both along k, n_k a multiple of TMX_CHAINS. */
static inline __attribute__((always_inline)) void
products(size_t many, size_t wide, size_t n_k, const double *const *a, const double *const *b, double *c)
{
    vec sum[TMX_TILE_DOTS * TMX_TILE_DOTS * PARTS];
    for (size_t i = 0; i < many * wide * PARTS; i++) {
        sum[i] = ALL(0.0);
    }
    for (size_t k = 0; k < n_k; k += TMX_CHAINS) {
        for (size_t part = 0; part < PARTS; part++) {
            vec x[TMX_TILE_DOTS];
            for (size_t i = 0; i < many; i++) {
                x[i] = LOAD(a[i] + k + part * LANES);
            }
            for (size_t j = 0; j < wide; j++) {
                const vec y = LOAD(b[j] + k + part * LANES);
                for (size_t i = 0; i < many; i++) {
                    sum[(part * wide + j) * many + i] = FMA(x[i], y, sum[(part * wide + j) * many + i]);
                }
            }
        }
    }
    for (size_t e = 0; e < many * wide; e++) {
        double chain[TMX_CHAINS], all = 0;
        for (size_t part = 0; part < PARTS; part++) {
            STORE(chain + part * LANES, sum[part * many * wide + e]);
        }
        for (size_t i = 0; i < TMX_CHAINS; i++) {
            all += chain[i];
        }
        c[e] = all;
    }
}

/* c[TMX_TILE_DOTS][TMX_TILE_DOTS]: columns of a along the shorter step. */
static void dots(size_t n_k, const double *const *a, const double *const *b, double *c)
{
    enum { AT_ONCE_COLS = PARTS > 1 ? 2 : TMX_TILE_DOTS };
    for (size_t j = 0; j < TMX_TILE_DOTS; j += AT_ONCE_COLS) {
        products(TMX_TILE_DOTS, AT_ONCE_COLS, n_k, a, b + j, c + j * TMX_TILE_DOTS);
    }
}

/* c[TMX_TILE_COLS][TMX_TILE_ROWS] = the sum over k of a[k][rows] b[k][cols] */
static void tile(size_t n_k, const double *a, const double *b, double *c)
{
    for (size_t half = 0; half < VECTORS; half += AT_ONCE) {
        vec sum[AT_ONCE * COLUMNS];
        for (size_t i = 0; i < AT_ONCE * COLUMNS; i++) {
            sum[i] = ALL(0.0);
        }
        for (size_t k = 0; k < n_k; k++) {
            vec row[AT_ONCE];
            for (size_t i = 0; i < AT_ONCE; i++) {
                row[i] = LOAD(a + k * TMX_TILE_ROWS + (half + i) * LANES);
            }
            for (size_t j = 0; j < COLUMNS; j++) {
                const vec x = ALL(b[k * TMX_TILE_COLS + j]);
                for (size_t i = 0; i < AT_ONCE; i++) {
                    sum[j * AT_ONCE + i] = FMA(x, row[i], sum[j * AT_ONCE + i]);
                }
            }
        }
        for (size_t j = 0; j < COLUMNS; j++) {
            for (size_t i = 0; i < AT_ONCE; i++) {
                STORE(c + j * TMX_TILE_ROWS + (half + i) * LANES, sum[j * AT_ONCE + i]);
            }
        }
    }
}

const struct tmx_tile TMX_KERNEL = {tile, dots};

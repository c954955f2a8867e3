/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tiles of matrix products, compiled for each width of vector (base/os.h). Every element is one chain of
 * fused multiply-adds in the order of k, or TMX_CHAINS of them, so its bits do not depend on the width. */
#include <stdint.h>

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

/* y += part a; returns a' v. */
static double fold(size_t n, double part, const double *restrict a, const double *restrict v,
                   double *restrict y)
{
    const size_t whole = n - n % TMX_CHAINS;
    const vec all = ALL(part);
    double chain[TMX_CHAINS], sum = 0;
    vec dot[PARTS];
    for (size_t i = 0; i < PARTS; i++) {
        dot[i] = ALL(0.0);
    }
    for (size_t k = 0; k < whole; k += TMX_CHAINS) {
        for (size_t i = 0; i < PARTS; i++) {
            const size_t at = k + i * LANES;
            const vec x = LOAD(a + at);
            dot[i] = FMA(x, LOAD(v + at), dot[i]);
            STORE(y + at, FMA(all, x, LOAD(y + at)));
        }
    }
    for (size_t i = 0; i < PARTS; i++) {
        STORE(chain + i * LANES, dot[i]);
    }
    for (size_t k = whole; k < n; k++) {
        chain[k - whole] = fma(a[k], v[k], chain[k - whole]);
        y[k] = fma(part, a[k], y[k]);
    }
    for (size_t i = 0; i < TMX_CHAINS; i++) {
        sum += chain[i];
    }
    return sum;
}

/* Columns t.at and t.at + 1 of z, n_row rows of each, turn into one another, t by t. */
static void turn(size_t n_turn, const struct tmx_turn *t, size_t n_row, size_t ldz, double *z)
{
    enum { ROWS = 32, MOST = ROWS / LANES };
    size_t row = 0;
    for (; row + ROWS <= n_row; row += ROWS) {
        vec held[MOST]; /* the column that the next turn is likely to want */
        size_t holds = SIZE_MAX;
        for (size_t i = 0; i < n_turn; i++) {
            double *x = z + t[i].at * ldz + row, *y = x + ldz;
            const vec c = ALL(t[i].c), s = ALL(t[i].s);
            for (size_t k = 0; k < MOST && holds != t[i].at + 1; k++) {
                if (holds != SIZE_MAX) {
                    STORE(z + holds * ldz + row + k * LANES, held[k]);
                }
                held[k] = LOAD(y + k * LANES);
            }
            for (size_t k = 0; k < MOST; k++) {
                const vec left = LOAD(x + k * LANES);
                STORE(y + k * LANES, MUL(s, left) + MUL(c, held[k]));
                held[k] = MUL(c, left) - MUL(s, held[k]);
            }
            holds = t[i].at;
        }
        for (size_t k = 0; k < MOST && holds != SIZE_MAX; k++) {
            STORE(z + holds * ldz + row + k * LANES, held[k]);
        }
    }
    for (size_t i = 0; i < n_turn; i++) {
        double *x = z + t[i].at * ldz, *y = x + ldz;
        for (size_t r = row; r < n_row; r++) {
            const double old = y[r];
            y[r] = t[i].s * x[r] + t[i].c * old;
            x[r] = t[i].c * x[r] - t[i].s * old;
        }
    }
}

const struct tmx_tile TMX_KERNEL = {tile, dots, fold, turn};

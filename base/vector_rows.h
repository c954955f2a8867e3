/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Vectors of the width that a file is compiled for, and sums over rows with them: for the bodies of kernels
 * that are compiled for each width (base/os.h, enum tmx_isa). Every sum is one chain of fused
 * multiply-adds in the order of the rows, so its bits do not depend on the width, on how many sums are made
 * at once or on which. */
#ifndef TMX_BASE_VECTOR_ROWS_H
#define TMX_BASE_VECTOR_ROWS_H

#include <math.h>
#include <stddef.h>

#if defined(__AVX512F__)
#include <immintrin.h>
typedef __m512d vec;
enum { LANES = 8, MANY = 8, WIDE = 3, WIDE_ALONE = 8 };
#define LOAD(p)      _mm512_loadu_pd(p)
#define STORE(p, v)  _mm512_storeu_pd(p, v)
#define ALL(x)       _mm512_set1_pd(x)
#define FMA(a, b, c) _mm512_fmadd_pd(a, b, c)
#define MUL(a, b)    _mm512_mul_pd(a, b)
#define SWAP(v, k)   _mm512_permute_pd(v[k], 0x55)
#elif defined(__AVX2__) && defined(__FMA__)
#include <immintrin.h>
typedef __m256d vec;
enum { LANES = 4, MANY = 4, WIDE = 3, WIDE_ALONE = 8 };
#define LOAD(p)      _mm256_loadu_pd(p)
#define STORE(p, v)  _mm256_storeu_pd(p, v)
#define ALL(x)       _mm256_set1_pd(x)
#define FMA(a, b, c) _mm256_fmadd_pd(a, b, c)
#define MUL(a, b)    _mm256_mul_pd(a, b)
#define SWAP(v, k)   _mm256_permute_pd(v[k], 0x5)
#elif defined(__aarch64__)
#include <arm_neon.h>
typedef float64x2_t vec;
enum { LANES = 2, MANY = 4, WIDE = 4, WIDE_ALONE = 8 };
#define LOAD(p)      vld1q_f64(p)
#define STORE(p, v)  vst1q_f64(p, v)
#define ALL(x)       vdupq_n_f64(x)
#define FMA(a, b, c) vfmaq_f64(c, a, b)
#define MUL(a, b)    vmulq_f64(a, b)
#define SWAP(v, k)   vextq_f64(v[k], v[k], 1)
#else /* correct everywhere, slow where the processor does not fuse */
typedef double vec;
enum { LANES = 1, MANY = 1, WIDE = 4, WIDE_ALONE = 8 };
#define LOAD(p)      (*(p))
#define STORE(p, v)  (*(p) = (v))
#define ALL(x)       (x)
#define FMA(a, b, c) fma(a, b, c)
#define MUL(a, b)    ((a) * (b))
#define SWAP(v, k)   ((v)[(k) ^ 1])
#endif

/* SWAP(v, k): the vector v[k] of a tile with neighbours 2j and 2j + 1 exchanged. */

/* sum[i][k] = coef[i][r] * row r + ..., rows of `stride` from `rows`; the counts are constants where this is
 * called. */
static inline __attribute__((always_inline)) void gather(size_t wide, size_t many, size_t n_row,
                                                         size_t stride, const double *const *coef,
                                                         const double *rows, vec *sum)
{
    for (size_t r = 0; r < n_row; r++) {
        vec row[WIDE_ALONE];
        for (size_t k = 0; k < wide; k++) {
            row[k] = LOAD(rows + r * stride + k * LANES);
        }
        for (size_t i = 0; i < many; i++) {
            const vec c = ALL(coef[i][r]);
            for (size_t k = 0; k < wide; k++) {
                sum[i * wide + k] = FMA(c, row[k], sum[i * wide + k]);
            }
        }
    }
}

/* tile(wide, many, c, first, at) over `length` elements, a multiple of LANES: the widest tiles first. */
#define TILES(length, tile, widest, many)                               \
    do {                                                                \
        size_t at_ = 0;                                                 \
        for (; (length)-at_ >= (widest)*LANES; at_ += (widest)*LANES) { \
            tile(widest, many, c, first, at_);                          \
        }                                                               \
        for (; (length)-at_ >= 2 * LANES; at_ += 2 * LANES) {           \
            tile(2, many, c, first, at_);                               \
        }                                                               \
        for (; at_ < (length); at_ += LANES) {                          \
            tile(1, many, c, first, at_);                               \
        }                                                               \
    } while (0)

#endif

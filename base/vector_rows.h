/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Vectors of the width that a file is compiled for, and sums over rows with them: for the bodies of kernels
 * that are compiled for each width (base/os.h, enum tmx_isa). Every sum is one chain of fused
 * multiply-adds in the order of the rows, so its bits do not depend on the width, on how many sums are made
 * at once or on which. */
#ifndef TMX_BASE_VECTOR_ROWS_H
#define TMX_BASE_VECTOR_ROWS_H

#include <math.h>
#include <stdbool.h>
#include <stddef.h>

#ifdef TMX_SINGLE /* vectors of floats: without MUL and SWAP */
typedef float real;
enum { SINGLE = 1 };
#define PS(name)  name##_ps
#define F32(name) name##_f32
#else
typedef double real;
enum { SINGLE = 0 };
#define PS(name)  name##_pd
#define F32(name) name##_f64
#endif

#if defined(__AVX512F__)
#include <immintrin.h>
#ifdef TMX_SINGLE
typedef __m512 vec;
typedef __m256 half_vec; /* costs half of a vector's time; a row may end with one */
#define HALF_ALL(v) _mm512_castps512_ps256(v)
#else
typedef __m512d vec;
typedef __m256d half_vec;
#define HALF_ALL(v) _mm512_castpd512_pd256(v)
#endif
enum { LANES = SINGLE ? 16 : 8, HALF = LANES / 2, MANY = 8, WIDE = 3, WIDE_ALONE = SINGLE ? 6 : 8 };
#define LOAD(p)           PS(_mm512_loadu)(p)
#define STORE(p, v)       PS(_mm512_storeu)(p, v)
#define ALL(x)            PS(_mm512_set1)(x)
#define FMA(a, b, c)      PS(_mm512_fmadd)(a, b, c)
#define MUL(a, b)         PS(_mm512_mul)(a, b)
#define SWAP(v, k)        _mm512_permute_pd(v[k], 0x55)
#define HALF_LOAD(p)      PS(_mm256_loadu)(p)
#define HALF_STORE(p, v)  PS(_mm256_storeu)(p, v)
#define HALF_FMA(a, b, c) PS(_mm256_fmadd)(a, b, c)
#define HALF_MUL(a, b)    PS(_mm256_mul)(a, b)
#define MANY_AT_ONCE      1
#else
#if defined(__AVX2__) && defined(__FMA__)
#include <immintrin.h>
#ifdef TMX_SINGLE
typedef __m256 vec;
#else
typedef __m256d vec;
#endif
enum { LANES = SINGLE ? 8 : 4, MANY = 4, WIDE = 3, WIDE_ALONE = SINGLE ? 3 : 8 };
#define LOAD(p)      PS(_mm256_loadu)(p)
#define STORE(p, v)  PS(_mm256_storeu)(p, v)
#define ALL(x)       PS(_mm256_set1)(x)
#define FMA(a, b, c) PS(_mm256_fmadd)(a, b, c)
#define MUL(a, b)    PS(_mm256_mul)(a, b)
#define SWAP(v, k)   _mm256_permute_pd(v[k], 0x5)
#define MANY_AT_ONCE 1
#elif defined(__aarch64__)
#include <arm_neon.h>
#ifdef TMX_SINGLE
typedef float32x4_t vec;
#else
typedef float64x2_t vec;
#endif
enum { LANES = SINGLE ? 4 : 2, MANY = 4, WIDE = SINGLE ? 5 : 4, WIDE_ALONE = SINGLE ? 5 : 8 };
#define LOAD(p)      F32(vld1q)(p)
#define STORE(p, v)  F32(vst1q)(p, v)
#define ALL(x)       F32(vdupq_n)(x)
#define FMA(a, b, c) F32(vfmaq)(c, a, b)
#define MUL(a, b)    F32(vmulq)(a, b)
#define SWAP(v, k)   vextq_f64(v[k], v[k], 1)
#define MANY_AT_ONCE 1
#else /* correct everywhere, slow where the processor does not fuse */
typedef real vec;
enum { LANES = 1, MANY = 1, WIDE = 4, WIDE_ALONE = SINGLE ? 4 : 8 };
#define LOAD(p)      (*(p))
#define STORE(p, v)  (*(p) = (v))
#define ALL(x)       (x)
#define FMA(a, b, c) (SINGLE ? (real)fmaf((float)(a), (float)(b), (float)(c)) : (real)fma(a, b, c))
#define MUL(a, b)    ((a) * (b))
#define SWAP(v, k)   ((v)[(k) ^ 1])
#define MANY_AT_ONCE 0
#endif
typedef vec half_vec; /* rows end with whole vectors */
enum { HALF = 0 };
#define HALF_LOAD   LOAD
#define HALF_STORE  STORE
#define HALF_ALL(v) (v)
#define HALF_FMA    FMA
#define HALF_MUL    MUL
#endif

/* MANY_AT_ONCE: are tiles of several instances worth their code (MANY is above 1)? SWAP(v, k): the vector
 * v[k] of a tile with neighbours 2j and 2j + 1 exchanged. */

/* The sums of a tile begin at 0. */
static inline __attribute__((always_inline)) void clear(size_t wide, size_t many, vec *sum, half_vec *end)
{
    for (size_t i = 0; i < many; i++) {
        for (size_t k = 0; k < wide; k++) {
            sum[i * wide + k] = ALL((real)0);
        }
        end[i] = HALF_ALL(ALL((real)0));
    }
}

/* sum[i][k] = coef[i][r] * row r + ..., rows of `stride` from `rows`, and the same of end[i] behind them
 * where the tile has a tail; the counts are constants where this is called. */
static inline __attribute__((always_inline)) void gather(size_t wide, size_t tail, size_t many, size_t n_row,
                                                         size_t stride, const real *const *coef,
                                                         const real *rows, vec *sum, half_vec *end)
{
    for (size_t r = 0; r < n_row; r++) {
        vec row[WIDE_ALONE];
        for (size_t k = 0; k < wide; k++) {
            row[k] = LOAD(rows + r * stride + k * LANES);
        }
        const half_vec last = tail ? HALF_LOAD(rows + r * stride + wide * LANES) : HALF_ALL(ALL((real)0));
        for (size_t i = 0; i < many; i++) {
            const vec c = ALL(coef[i][r]);
            for (size_t k = 0; k < wide; k++) {
                sum[i * wide + k] = FMA(c, row[k], sum[i * wide + k]);
            }
            if (tail) {
                end[i] = HALF_FMA(HALF_ALL(c), last, end[i]);
            }
        }
    }
}

/* tile(wide, tail, many, c, first, at) over `length` elements, a multiple of LANES, or with halves of HALF:
 * the widest tiles first, then one of what is left, so that a lone instance has as many chains at once as
 * there are. */
#define REST(tile, w, halves, many)                           \
    if ((w) > 0 && (w) < widest_ && left_ == (w) && !tail_) { \
        tile(w, 0, many, c, first, at_);                      \
    }                                                         \
    if ((halves) && (w) < widest_ && left_ == (w) && tail_) { \
        tile(w, 1, many, c, first, at_);                      \
    }
#define TILES(length, tile, widest, many, halves)                         \
    do {                                                                  \
        enum { widest_ = (widest) };                                      \
        size_t at_ = 0;                                                   \
        for (; (length)-at_ >= widest_ * LANES; at_ += widest_ * LANES) { \
            tile(widest_, 0, many, c, first, at_);                        \
        }                                                                 \
        const size_t left_ = ((length)-at_) / LANES;                      \
        const bool tail_ = (halves) && ((length)-at_) % LANES > 0;        \
        REST(tile, 0, halves, many)                                       \
        REST(tile, 1, halves, many)                                       \
        REST(tile, 2, halves, many)                                       \
        REST(tile, 3, halves, many)                                       \
        REST(tile, 4, halves, many)                                       \
        REST(tile, 5, halves, many)                                       \
        REST(tile, 6, halves, many)                                       \
        REST(tile, 7, halves, many)                                       \
    } while (0)

#endif

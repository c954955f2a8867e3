/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The product of a modal step, written once and compiled for each width of vector: CMake names each
 * TMX_KERNEL (tmx_kernels in CMakeLists.txt).
 *
 *   next_i  = decay . z_i + gain . (in power_i)        theta_i = out next_i + direct power_i
 *
 * for n instances i at once; of modes in pairs (a frequency) decay and gain are complex numbers. Every result
 * is one chain of fused multiply-adds in the order of the rows, so it does not depend on the width of a
 * vector, on how many instances step together or on which. A tile of up to WIDE vectors times MANY instances
 * stays in registers while the rows stream by: a row is loaded once for all instances of a tile. */
#include "base/vector_rows.h"
#include "thermal/reduction/modal.h"

static inline __attribute__((always_inline)) void
modes(size_t wide, size_t tail, size_t many, const struct tmx_modal_call *c, size_t first, size_t at)
{
    vec sum[MANY * WIDE > WIDE_ALONE ? MANY * WIDE : WIDE_ALONE];
    half_vec end[MANY];
    const double *power_w[MANY];
    for (size_t i = 0; i < many; i++) {
        power_w[i] = c->power_w[first + i];
    }
    clear(wide, many, sum, end);
    gather(wide, tail, many, c->m->n_unit, c->m->mode_row, power_w, c->m->in + at, sum, end);
    for (size_t i = 0; i < many && c->m->frequency && wide * LANES % 2 == 0; i++) {
        const double *decay = c->decay + at, *gain = c->gain + at;
        const size_t pair = c->m->mode_row; /* from here on: what a mode gets from its neighbour */
        const vec *q = sum + i * wide;
        vec z[WIDE > WIDE_ALONE ? WIDE : WIDE_ALONE];
        for (size_t k = 0; k < wide; k++) {
            z[k] = LOAD(c->z[first + i] + at + k * LANES);
        }
        for (size_t k = 0; k < wide; k++) {
            const vec from_q =
                FMA(LOAD(gain + pair + k * LANES), SWAP(q, k), MUL(LOAD(gain + k * LANES), q[k]));
            const vec from_pair = FMA(LOAD(decay + pair + k * LANES), SWAP(z, k), from_q);
            STORE(c->next[first + i] + at + k * LANES, FMA(LOAD(decay + k * LANES), z[k], from_pair));
        }
    }
    for (size_t k = 0; k < wide && !c->m->frequency; k++) {
        const vec decay = LOAD(c->decay + at + k * LANES), gain = LOAD(c->gain + at + k * LANES);
        for (size_t i = 0; i < many; i++) {
            const vec z = LOAD(c->z[first + i] + at + k * LANES);
            STORE(c->next[first + i] + at + k * LANES, FMA(decay, z, MUL(gain, sum[i * wide + k])));
        }
    }
    for (size_t i = 0; i < many && tail; i++) {
        const size_t e = at + wide * LANES;
        const half_vec q = HALF_MUL(HALF_LOAD(c->gain + e), end[i]);
        HALF_STORE(c->next[first + i] + e,
                   HALF_FMA(HALF_LOAD(c->decay + e), HALF_LOAD(c->z[first + i] + e), q));
    }
}

static inline __attribute__((always_inline)) void
units(size_t wide, size_t tail, size_t many, const struct tmx_modal_call *c, size_t first, size_t at)
{
    vec sum[MANY * WIDE > WIDE_ALONE ? MANY * WIDE : WIDE_ALONE];
    half_vec end[MANY];
    const double *power_w[MANY], *next[MANY];
    for (size_t i = 0; i < many; i++) {
        power_w[i] = c->power_w[first + i];
        next[i] = c->next[first + i];
    }
    clear(wide, many, sum, end);
    gather(wide, tail, many, c->m->n_mode, c->m->unit_row, next, c->m->out + at, sum, end);
    if (c->m->direct) {
        gather(wide, tail, many, c->m->n_unit, c->m->unit_row, power_w, c->m->direct + at, sum, end);
    }
    for (size_t i = 0; i < many; i++) {
        for (size_t k = 0; k < wide; k++) {
            STORE(c->theta_k[first + i] + at + k * LANES, sum[i * wide + k]);
        }
        if (tail) {
            HALF_STORE(c->theta_k[first + i] + at + wide * LANES, end[i]);
        }
    }
}

/* theta_k += what falls from z to next, mode by mode. */
static void falls(const struct tmx_modal *m, const double *z, const double *next, double *restrict theta_k)
{
    for (size_t i = 0; i < m->n_mode; i++) {
        const double fall = z[i] - next[i];
        const double *restrict out = m->out + i * m->unit_row;
        for (size_t u = 0; u < m->unit_row; u++) {
            const double v = fall * out[u];
            theta_k[u] += v > 0 ? v : 0;
        }
    }
}

/* What there is of a row, in whole vectors or halves; pairs of modes are together. */
static size_t used(const struct tmx_modal *m, size_t n, size_t row)
{
    enum { LEAST = HALF > 0 ? (int)HALF : (int)LANES };
    return m->frequency ? row : (n + LEAST - 1) / LEAST * LEAST;
}

/* A function for each number of instances: one of all takes compilers twice as long. */
#define INSTANCES(name, widest, many)                                                        \
    static __attribute__((noinline)) void name(const struct tmx_modal_call *c, size_t first) \
    {                                                                                        \
        const size_t mode = used(c->m, c->m->n_mode, c->m->mode_row),                        \
                     unit = used(c->m, c->m->n_unit, c->m->unit_row);                        \
        if (c->decay) {                                                                      \
            TILES(mode, modes, widest, many, HALF > 0);                                      \
        }                                                                                    \
        TILES(unit, units, widest, many, HALF > 0);                                          \
    }
#if MANY_AT_ONCE
INSTANCES(together, WIDE, MANY)
INSTANCES(two, 4, 2)
#endif
#if defined(__AVX512F__)
INSTANCES(four, WIDE, 4)
#endif
INSTANCES(alone, WIDE_ALONE, 1)

void TMX_KERNEL(const struct tmx_modal_call *c)
{
    size_t first = 0;
    if (!c->decay && c->z) {
        falls(c->m, c->z[0], c->next[0], c->theta_k[0]);
        return;
    }
#if MANY_AT_ONCE
    for (; c->n - first >= MANY; first += MANY) {
        together(c, first);
    }
#if defined(__AVX512F__)
    if (c->n - first >= 4) { /* fewer than MANY are left: smaller tiles before single instances */
        four(c, first);
        first += 4;
    }
#endif
    if (c->n - first >= 2) {
        two(c, first);
        first += 2;
    }
#endif
    for (; first < c->n; first++) {
        alone(c, first);
    }
}

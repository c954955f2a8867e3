/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The modal step in mixed precision (precision = "mixed"), written once and compiled for each width of
 * vector: CMake names each TMX_KERNEL (tmx_kernels in CMakeLists.txt).
 *
 *   next_i  = decay z_i + gain (in power_i)        theta_i = (out over direct) (next_i, power_i)
 *
 * Both products are in single precision, next, decay and gain in double; next is z (tmx_modal_step sees to
 * it). A sum of many rows is four chains of fused multiply-adds: chain c has the rows c, c + 4, c + 8, ...,
 * the last one first, and the sum is ((chain 3 + chain 2) + chain 1) + chain 0. So the slow modes, which are
 * the large ones and the first rows, go through few roundings (tmx_modal_rounding counts them), and a lone
 * instance has four chains to work on at once. Each lane is a chain of its own: the bits depend neither on
 * the width of a vector nor on how many instances step together. */
#define TMX_SINGLE
#include "base/vector_rows.h"
#include "thermal/reduction/modal.h"

#define INLINE static inline __attribute__((always_inline))

struct product { /* rows' coef_i */
    const float *rows;
    size_t n_row, stride;
    const float *coef[MANY]; /* [n_row] each */
};

enum {
    CHAINS = TMX_MODAL_CHAINS,
    INSTANCE = WIDE_ALONE * LANES + HALF, /* elements of a tile's instance: at most so many */
};
_Static_assert((int)WIDE <= (int)WIDE_ALONE, "tiles of one instance, whose four chains are side by side");

/* The sums of a tile: [chain][instance][element]. In memory, for the registers hold one chain at a time. */
struct part {
    float sum[CHAINS * MANY * INSTANCE];
};

INLINE void put(size_t wide, size_t tail, size_t many, const vec *sum, const half_vec *end_sum, float *to)
{
    const size_t n = wide * LANES + tail * HALF;
    for (size_t i = 0; i < many; i++) {
        for (size_t k = 0; k < wide; k++) {
            STORE(to + i * n + k * LANES, sum[i * wide + k]);
        }
        if (tail) {
            HALF_STORE(to + i * n + wide * LANES, end_sum[i]);
        }
    }
}

/* A chain for many instances: the rows first, first + every, ..., the last one first. */
INLINE void chain(size_t wide, size_t tail, size_t many, const struct product *p, const float *rows,
                  size_t first, size_t every, float *to)
{
    vec sum[MANY * WIDE_ALONE];
    half_vec end_sum[MANY];
    clear(wide, many, sum, end_sum);
    for (size_t left = (p->n_row - first + every - 1) / every; left-- > 0;) {
        const size_t r = first + left * every;
        const float *at = rows + r * p->stride;
        vec row[WIDE_ALONE];
        for (size_t k = 0; k < wide; k++) {
            row[k] = LOAD(at + k * LANES);
        }
        for (size_t i = 0; i < many; i++) {
            const vec c = ALL(p->coef[i][r]);
            for (size_t k = 0; k < wide; k++) {
                sum[i * wide + k] = FMA(c, row[k], sum[i * wide + k]);
            }
            if (tail) {
                end_sum[i] = HALF_FMA(HALF_ALL(c), HALF_LOAD(at + wide * LANES), end_sum[i]);
            }
        }
    }
    put(wide, tail, many, sum, end_sum, to);
}

/* The four chains of one instance side by side. */
INLINE void chains(size_t wide, size_t tail, const struct product *p, const float *rows, float *to)
{
    vec sum[CHAINS * WIDE_ALONE];
    half_vec end_sum[CHAINS];
    clear(wide, CHAINS, sum, end_sum);
    for (size_t left = (p->n_row + CHAINS - 1) / CHAINS; left-- > 0;) {
        for (size_t c = 0; c < CHAINS; c++) {
            const size_t r = left * CHAINS + c;
            if (r >= p->n_row) {
                continue; /* the last rows of some chains */
            }
            const float *at = rows + r * p->stride;
            const vec coef = ALL(p->coef[0][r]);
            for (size_t k = 0; k < wide; k++) {
                sum[c * wide + k] = FMA(coef, LOAD(at + k * LANES), sum[c * wide + k]);
            }
            if (tail) {
                end_sum[c] = HALF_FMA(HALF_ALL(coef), HALF_LOAD(at + wide * LANES), end_sum[c]);
            }
        }
    }
    put(wide, tail, CHAINS, sum, end_sum, to);
}

/* The sums of a tile, which begins `at` elements into each row: [instance][element]. */
INLINE const float *sum_up(size_t wide, size_t tail, size_t many, const struct product *p, size_t at,
                           struct part *to)
{
    const size_t n = many * (wide * LANES + tail * HALF);
    float *restrict sum = to->sum;
    const size_t n_chain = tmx_modal_chains(p->n_row);
    if (many == 1 && n_chain > 1) {
        chains(wide, tail, p, p->rows + at, sum);
    } else {
        for (size_t c = 0; c < n_chain; c++) {
            chain(wide, tail, many, p, p->rows + at, c, n_chain, sum + c * n);
        }
    }
    if (n_chain == 1) {
        return sum;
    }
    for (size_t k = 0; k < n; k++) {
        sum[k] = ((sum[3 * n + k] + sum[2 * n + k]) + sum[n + k]) + sum[k];
    }
    return sum;
}

INLINE void modes(size_t wide, size_t tail, size_t many, const struct tmx_modal_call *c, size_t first,
                  const struct product *p, size_t at, struct part *part)
{
    const size_t n = wide * LANES + tail * HALF;
    const float *restrict in = sum_up(wide, tail, many, p, at, part);
    const double *restrict decay = c->decay + at, *restrict gain = c->gain + at;
    for (size_t i = 0; i < many; i++) {
        double *restrict z = c->next[first + i] + at;
        float *restrict single = c->work[first + i] + at;
        for (size_t k = 0; k < n; k++) {
            z[k] = decay[k] * z[k] + gain[k] * (double)in[i * n + k];
            single[k] = (float)z[k];
        }
    }
}

INLINE void units(size_t wide, size_t tail, size_t many, const struct tmx_modal_call *c, size_t first,
                  const struct product *p, size_t at, struct part *part)
{
    const size_t n = wide * LANES + tail * HALF;
    const float *restrict sum = sum_up(wide, tail, many, p, at, part);
    for (size_t i = 0; i < many; i++) {
        double *restrict theta_k = c->theta_k[first + i] + at;
        for (size_t k = 0; k < n; k++) {
            theta_k[k] = (double)sum[i * n + k];
        }
    }
}

/* The powers behind the modes in an instance's work: what the modes overwrite is written again. */
INLINE void put_power(const struct tmx_modal_call *c, size_t i)
{
    const double *restrict power_w = c->power_w[i];
    float *restrict to = c->work[i] + c->m->n_mode;
    for (size_t u = 0; u < c->m->n_unit; u++) {
        to[u] = (float)power_w[u];
    }
}

/* Of base/vector_rows.h's tiles. */
#define MODES(wide, tail, many, c, first, at) modes(wide, tail, many, c, first, &p, at, &part)
#define UNITS(wide, tail, many, c, first, at) units(wide, tail, many, c, first, &p, at, &part)
/* A function for each number of instances: one of all takes compilers twice as long. */
#define INSTANCES(name, widest, many)                                                         \
    static __attribute__((noinline)) void name(const struct tmx_modal_call *c, size_t first)  \
    {                                                                                         \
        const struct tmx_modal *m = c->m;                                                     \
        struct product p = {.rows = m->in_single, .n_row = m->n_unit, .stride = m->mode_row}; \
        struct part part;                                                                     \
        for (size_t i = 0; i < (many); i++) {                                                 \
            put_power(c, first + i);                                                          \
            p.coef[i] = c->work[first + i] + m->n_mode;                                       \
        }                                                                                     \
        TILES(m->mode_row, MODES, widest, many, HALF > 0);                                    \
        p.rows = m->out_single;                                                               \
        p.n_row = m->n_mode + (m->direct ? m->n_unit : 0);                                    \
        p.stride = m->unit_row;                                                               \
        for (size_t i = 0; i < (many); i++) {                                                 \
            put_power(c, first + i);                                                          \
            p.coef[i] = c->work[first + i];                                                   \
        }                                                                                     \
        TILES(m->unit_row, UNITS, widest, many, HALF > 0);                                    \
    }
#if MANY_AT_ONCE
INSTANCES(together, WIDE, MANY)
#endif
#if defined(__AVX512F__)
INSTANCES(four, WIDE_ALONE, 4)
#endif
INSTANCES(alone, WIDE_ALONE, 1)

void TMX_KERNEL(const struct tmx_modal_call *c)
{
    size_t first = 0;
#if MANY_AT_ONCE
    for (; c->n - first >= MANY; first += MANY) {
        together(c, first);
    }
#endif
#if defined(__AVX512F__)
    if (c->n - first >= 4) { /* fewer than MANY are left: smaller tiles before single instances */
        four(c, first);
        first += 4;
    }
#endif
    for (; first < c->n; first++) {
        alone(c, first);
    }
}

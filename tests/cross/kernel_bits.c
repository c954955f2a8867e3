/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Prints hashes of what the modal kernel and the leakage of this processor compute from fixed pseudo-random
 * numbers: the same lines on every processor (aarch64.sh). Needs no library, so that any cross compiler will
 * do. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "power/leakage.h"
#include "thermal/reduction/modal.h"

enum { MOST = 17, N_TEMP = 4001 };

static double *numbers(size_t n, uint64_t *seed)
{
    double *v = calloc(n, sizeof *v);
    for (size_t i = 0; v && i < n; i++) {
        *seed = *seed * 6364136223846793005u + 1442695040888963407u;
        v[i] = (double)(*seed >> 11) / 4503599627370496.0 - 1;
    }
    if (!v) {
        exit(1);
    }
    return v;
}

static uint64_t add(uint64_t hash, const double *v, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        uint64_t bits;
        memcpy(&bits, &v[i], sizeof bits);
        hash = (hash ^ bits) * 1099511628211u;
    }
    return hash;
}

static float *singles(size_t n, uint64_t *seed)
{
    const double *v = numbers(n, seed);
    float *to = calloc(n, sizeof *to);
    for (size_t i = 0; to && i < n; i++) {
        to[i] = (float)v[i];
    }
    if (!to) {
        exit(1);
    }
    return to;
}

/* n instances of a model of these sizes take a step. */
static uint64_t step(uint64_t hash, size_t n_mode, size_t n_unit, size_t n, bool direct, bool mixed,
                     uint64_t *seed)
{
    const size_t mode = (n_mode + TMX_MODAL_PAD - 1) / TMX_MODAL_PAD * TMX_MODAL_PAD,
                 unit = (n_unit + TMX_MODAL_PAD - 1) / TMX_MODAL_PAD * TMX_MODAL_PAD;
    struct tmx_modal m = {.n_mode = n_mode, .n_unit = n_unit, .mode_row = mode, .unit_row = unit};
    double *decay = numbers(mode, seed), *gain = numbers(mode, seed), *z[MOST], *theta[MOST];
    const double *power[MOST], *from[MOST];
    float *work[MOST];
    m.in = numbers(n_unit * mode, seed);
    m.out = numbers(n_mode * unit, seed);
    m.direct = direct ? numbers(n_unit * unit, seed) : NULL;
    m.in_single = mixed ? singles(n_unit * mode, seed) : NULL;
    m.out_single = mixed ? singles((n_mode + n_unit) * unit, seed) : NULL;
    for (size_t i = 0; i < n; i++) {
        power[i] = numbers(n_unit, seed);
        from[i] = z[i] = numbers(mode, seed);
        theta[i] = numbers(unit, seed);
        work[i] = singles(mode + unit, seed);
    }
    const struct tmx_modal_call call = {.m = &m,
                                        .decay = decay,
                                        .gain = gain,
                                        .n = n,
                                        .power_w = power,
                                        .z = from,
                                        .next = z,
                                        .theta_k = theta,
                                        .work = work};
    (mixed ? tmx_modal_mixed_kernel_any : tmx_modal_kernel_any)(&call);
    for (size_t i = 0; i < n; i++) {
        hash = add(add(hash, z[i], n_mode), theta[i], n_unit);
    }
    return hash; /* the program ends soon: nothing is freed */
}

int main(void)
{
    static const size_t shape[][2] = {{40, 33}, {153, 33}, {97, 58}, {200, 111}, {64, 128}, {7, 1}};
    static double temp_k[N_TEMP], factor[N_TEMP];
    const struct tmx_leakage l = {.form = TMX_LEAK_EXPONENTIAL, .rate = 0.036, .ref = 358.15};
    for (int mixed = 0; mixed < 2; mixed++) {
        uint64_t hash = 14695981039346656037u, seed = 12345;
        for (size_t k = 0; k < sizeof shape / sizeof shape[0]; k++) {
            for (size_t n = 1; n <= MOST; n += 4) {
                hash = step(hash, shape[k][0], shape[k][1], n, k % 2 == 1, mixed, &seed);
            }
        }
        printf("modal kernel%s %016" PRIx64 "\n", mixed ? ", mixed" : "", hash);
    }
    for (size_t i = 0; i < N_TEMP; i++) {
        temp_k[i] = 200 + 0.1 * (double)i;
    }
    tmx_leakage_factors(&l, N_TEMP, temp_k, factor);
    printf("leakage %016" PRIx64 "\n", add(14695981039346656037u, factor, N_TEMP));
    return 0;
}

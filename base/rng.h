/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TMX_BASE_RNG_H
#define TMX_BASE_RNG_H

#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"

/* A named random stream: (run seed, stream name) -> independent sequence, so that
 * adding a consumer moves no other stream. MT19937 of GSL, seeded by XXH3. */
struct tmx_rng;

TMX_NODISCARD enum tmx_status tmx_rng_create(struct tmx_rng **rng, uint64_t seed, const char *stream,
                                             struct tmx_err *err);
void tmx_rng_destroy(struct tmx_rng *rng);

double tmx_rng_uniform(struct tmx_rng *rng);                  /* [0, 1) */
double tmx_rng_exponential(struct tmx_rng *rng, double mean); /* mean > 0 */
double tmx_rng_normal(struct tmx_rng *rng, double sigma);     /* mean 0 */
uint64_t tmx_rng_below(struct tmx_rng *rng, uint64_t n);      /* 0 .. n-1, n > 0 */

#endif

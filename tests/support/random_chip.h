/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TMX_TESTS_SUPPORT_RANDOM_CHIP_H
#define TMX_TESTS_SUPPORT_RANDOM_CHIP_H

#include "base/rng.h"
#include "tests/support/check.h"
#include "thermal/assembly/spec.h"

/* A random chip: a die cut into rectangles, package, grid and the powers it runs at. */
struct random_chip {
    struct tmx_floorplan floorplan;
    struct tmx_layer layer[2]; /* silicon, thermal interface */
    struct tmx_thermal_spec spec;
    double *power_w; /* [n_unit] full power of each unit: 0.02 to 2 W/mm2 */
    size_t n_unit;
};

void random_chip_make(struct random_chip *c, struct tmx_rng *rng);
void random_chip_finish(struct random_chip *c);

/* A uniform start, or a field of as many levels as an init file has, and its jumps; to be freed. */
double *random_chip_start(struct tmx_thermal_spec *spec, struct tmx_rng *rng);

double random_between(struct tmx_rng *rng, double low, double high);
double random_scale(struct tmx_rng *rng, double low, double high); /* even in the logarithm */
size_t random_count(struct tmx_rng *rng, size_t low, size_t high); /* inclusive */

static inline const char *random_word(struct tmx_rng *rng, const char *const *words, size_t n)
{
    return words[(size_t)(tmx_rng_uniform(rng) * (double)n) % n];
}
#define RANDOM_OF(rng, words) random_word((rng), (words), sizeof(words) / sizeof(words)[0])

#endif

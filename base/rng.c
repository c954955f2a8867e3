/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/rng.h"

#include <gsl/gsl_randist.h>
#include <gsl/gsl_rng.h>
#include <string.h>
#include <xxhash.h>

/* struct tmx_rng is a gsl_rng; the name keeps GSL out of our headers. */
static gsl_rng *gsl(struct tmx_rng *rng)
{
    return (gsl_rng *)rng;
}

enum tmx_status tmx_rng_create(struct tmx_rng **rng, uint64_t seed, const char *stream, struct tmx_err *err)
{
    gsl_rng *r = gsl_rng_alloc(gsl_rng_mt19937);
    if (!r) {
        return tmx_fail(err, TMX_ENOMEM, "random stream %s", stream);
    }
    gsl_rng_set(r, (unsigned long)(XXH3_64bits_withSeed(stream, strlen(stream), seed) & 0xffffffffUL));
    *rng = (struct tmx_rng *)r;
    return TMX_OK;
}

void tmx_rng_destroy(struct tmx_rng *rng)
{
    if (rng) {
        gsl_rng_free(gsl(rng));
    }
}

double tmx_rng_uniform(struct tmx_rng *rng)
{
    return gsl_rng_uniform(gsl(rng));
}

double tmx_rng_exponential(struct tmx_rng *rng, double mean)
{
    return gsl_ran_exponential(gsl(rng), mean);
}

double tmx_rng_normal(struct tmx_rng *rng, double sigma)
{
    return gsl_ran_gaussian(gsl(rng), sigma);
}

uint64_t tmx_rng_below(struct tmx_rng *rng, uint64_t n)
{
    return gsl_rng_uniform_int(gsl(rng), n);
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/support/random_chip.h"

#include <stdlib.h>

double random_between(struct tmx_rng *rng, double low, double high)
{
    return low + (high - low) * tmx_rng_uniform(rng);
}

double random_scale(struct tmx_rng *rng, double low, double high)
{
    return exp(random_between(rng, log(low), log(high)));
}

size_t random_count(struct tmx_rng *rng, size_t low, size_t high)
{
    return low + (size_t)((double)(high - low + 1) * tmx_rng_uniform(rng) * (1 - 1e-12));
}

/* Cut the largest unit of fp in two, across its longer side. */
static void cut_largest(struct tmx_floorplan *fp, struct tmx_rng *rng)
{
    size_t big = 0;
    char name[16];
    for (size_t u = 1; u < fp->n_unit; u++) {
        big = tmx_unit_area_m2(&fp->unit[u]) > tmx_unit_area_m2(&fp->unit[big]) ? u : big;
    }
    struct tmx_unit *a = &fp->unit[big], b = *a;
    const double part = random_between(rng, 0.25, 0.75);
    if (a->w_m > a->h_m) {
        a->w_m *= part;
        b.x_m += a->w_m;
        b.w_m -= a->w_m;
    } else {
        a->h_m *= part;
        b.y_m += a->h_m;
        b.h_m -= a->h_m;
    }
    snprintf(name, sizeof name, "U%zu", fp->n_unit);
    b.name = name;
    assert_int_equal(tmx_floorplan_add(fp, &b, NULL), TMX_OK);
}

void random_chip_make(struct random_chip *c, struct tmx_rng *rng)
{
    char first[] = "U0";
    const struct tmx_unit die = {.name = first,
                                 .w_m = random_between(rng, 4e-3, 26e-3),
                                 .h_m = random_between(rng, 4e-3, 26e-3),
                                 .heat_capacity_j_per_m3k = NAN,
                                 .resistivity_mk_per_w = NAN};
    *c = (struct random_chip){.n_unit = random_count(rng, 1, 24)};
    assert_int_equal(tmx_floorplan_add(&c->floorplan, &die, NULL), TMX_OK);
    while (c->floorplan.n_unit < c->n_unit) {
        cut_largest(&c->floorplan, rng);
    }
    c->layer[0] = (struct tmx_layer){.floorplan = &c->floorplan,
                                     .lateral = true,
                                     .dissipates = true,
                                     .thickness_m = random_scale(rng, 50e-6, 800e-6),
                                     .k_w_per_mk = random_between(rng, 80, 150),
                                     .p_j_per_m3k = random_between(rng, 1.5e6, 1.8e6)};
    c->layer[1] = (struct tmx_layer){.floorplan = &c->floorplan,
                                     .lateral = true,
                                     .thickness_m = random_scale(rng, 10e-6, 100e-6),
                                     .k_w_per_mk = random_scale(rng, 1, 80),
                                     .p_j_per_m3k = random_between(rng, 2e6, 4e6)};
    const double spreader = random_between(rng, 28e-3, 45e-3);
    c->spec = (struct tmx_thermal_spec){.layer = c->layer,
                                        .n_layer = 2,
                                        .package = {.s_spreader_m = spreader,
                                                    .t_spreader_m = random_between(rng, 0.5e-3, 3e-3),
                                                    .k_spreader = random_between(rng, 150, 400),
                                                    .p_spreader = random_between(rng, 2.4e6, 3.6e6),
                                                    .s_sink_m = spreader * random_between(rng, 1.3, 3),
                                                    .t_sink_m = random_between(rng, 3e-3, 10e-3),
                                                    .k_sink = random_between(rng, 150, 400),
                                                    .p_sink = random_between(rng, 2.4e6, 3.6e6),
                                                    .r_convec_k_per_w = random_scale(rng, 0.05, 2),
                                                    .c_convec_j_per_k = random_between(rng, 20, 300)},
                                        .rows = random_count(rng, 8, 28),
                                        .cols = random_count(rng, 8, 28),
                                        .ambient_k = 318.15,
                                        .init_k = 318.15};
    c->power_w = calloc(c->n_unit, sizeof *c->power_w);
    assert_non_null(c->power_w);
    for (size_t u = 0; u < c->n_unit; u++) {
        c->power_w[u] = random_scale(rng, 0.02e6, 2e6) * tmx_unit_area_m2(&c->floorplan.unit[u]);
    }
}

void random_chip_finish(struct random_chip *c)
{
    tmx_floorplan_finish(&c->floorplan);
    free(c->power_w);
}

double *random_chip_start(struct tmx_thermal_spec *spec, struct tmx_rng *rng)
{
    const size_t n_cell = spec->rows * spec->cols, n_node = (spec->n_layer + 2) * n_cell + 12;
    if (tmx_rng_uniform(rng) >= 0.5) {
        spec->init_k = spec->ambient_k + random_between(rng, 0, 30);
        return NULL;
    }
    double *start = calloc(n_node, sizeof *start);
    assert_non_null(start);
    for (size_t c = 0; c < n_node; c++) {
        const size_t column = c % spec->cols * 3 / spec->cols, row = c % n_cell / spec->cols * 3 / spec->rows;
        start[c] = spec->ambient_k + 10 + 3 * (double)((column + 2 * row) % 4) + (double)(c / n_cell);
    }
    spec->init_node_k = start;
    return start;
}

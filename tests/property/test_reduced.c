/* The reduced back-end's printed error bound against its true error, on random chips.
 * The number of chips is the first argument. */
#include <stdlib.h>
#include <string.h>

#include "tests/support/golden.h"
#include "tests/support/random_chip.h"

enum { SEED = 20260101 };

static double difference(const struct engine *a, const struct engine *b, double dt_s, const double *power_w,
                         size_t n_unit)
{
    double t[2][32], worst = 0;
    assert_true(n_unit <= 32);
    assert_int_equal(a->ops->step(a->state, dt_s, power_w, t[0]), TMX_OK);
    assert_int_equal(b->ops->step(b->state, dt_s, power_w, t[1]), TMX_OK);
    for (size_t u = 0; u < n_unit; u++) {
        worst = fmax(worst, fabs(t[0][u] - t[1][u]));
    }
    return worst;
}

/* Largest difference in a step of all powers followed from 1 ms on, then in a random
 * trace with rows of 1 ms and of 10 ms that turns each unit on and off. */
static double true_error(const struct random_chip *c, const struct engine *a, const struct engine *b,
                         struct tmx_rng *rng)
{
    static const double wait_s[] = {1e-3, 1e-3, 2e-3, 6e-3, 0.02, 0.07, 0.4, 1.5, 8};
    double power[32], worst = 0;
    for (size_t k = 0; k < sizeof wait_s / sizeof wait_s[0]; k++) {
        worst = fmax(worst, difference(a, b, wait_s[k], c->power_w, c->n_unit));
    }
    for (size_t k = 0; k < 50; k++) {
        for (size_t u = 0; u < c->n_unit; u++) {
            power[u] = c->power_w[u] * (k % 2 ? tmx_rng_uniform(rng) : (double)(tmx_rng_uniform(rng) < 0.5));
        }
        worst = fmax(worst, difference(a, b, k < 35 ? 1e-3 : 1e-2, power, c->n_unit));
    }
    return worst;
}

static int by_size(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void the_bound_holds_and_is_not_wild(void **state)
{
    const size_t n = *(const size_t *)*state;
    double *over = calloc(n, sizeof *over), worst = 0;
    assert_non_null(over);
    for (size_t i = 0; i < n; i++) {
        struct random_chip c;
        struct engine reduced, grid;
        struct tmx_rng *rng = NULL;
        char stream[32];
        snprintf(stream, sizeof stream, "chip %zu", i);
        assert_int_equal(tmx_rng_create(&rng, SEED, stream, NULL), TMX_OK);
        random_chip_make(&c, rng);
        engine_open(&reduced, "reduced", "cache = false;", &c.spec);
        engine_open(&grid, "grid", "", &c.spec);
        const double error = true_error(&c, &reduced, &grid, rng);
        const double bound = reduced.ops->error_bound(reduced.state, c.power_w);
        over[i] = bound / error;
        worst = fmax(worst, error);
        if (!(bound >= error)) {
            fail_msg("seed %d, %s: error %.3g K, bound %.3g K", SEED, stream, error, bound);
        }
        engine_close(&reduced);
        engine_close(&grid);
        random_chip_finish(&c);
        tmx_rng_destroy(rng);
    }
    qsort(over, n, sizeof *over, by_size);
    print_message("%zu chips: largest error %.2e K; bound / error: least %.2f, median %.2f, most %.2f\n", n,
                  worst, over[0], over[n / 2], over[n - 1]);
    assert_true(over[n / 2] <= 20);
    free(over);
}

int main(int argc, char **argv)
{
    size_t n = argc > 1 ? strtoul(argv[1], NULL, 10) : 12;
    const struct CMUnitTest tests[] = {cmocka_unit_test_prestate(the_bound_holds_and_is_not_wild, &n)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

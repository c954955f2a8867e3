/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The physical network beside plain, fine finite volumes (slow_fv.h): steady state and step response of real
 * packages. Prints a table. Arguments: number of chips, cells of the chip's grid and of the oracle's die,
 * first chip. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tests/oracle/slow_fv.h"
#include "tests/support/golden.h"

enum { MAX_UNIT = 16, N_TIME = 11 };
static const double times[N_TIME] = {1e-3, 3e-3, 0.01, 0.03, 0.1, 0.3, 1, 3, 10, 30, 100};

struct chip {
    double w_mm, h_mm;   /* die */
    size_t across, down; /* units */
    double t_chip_um, k_chip, t_tim_um, k_tim, s_spreader_mm, t_spreader_mm, s_sink_mm, t_sink_mm, r_convec;
    double rise_k; /* of the hottest unit, about */
};

/* Dies of 5 to 25 mm: a phone's or embedded chip, a desktop CPU, the case of docs/models.md, a long die with
 * a bad interface, a large GPU. */
static const struct chip chips[] = {
    {16, 16, 4, 4, 150, 100, 20, 4, 30, 1, 60, 6.9, 0.3, 40},
    {5, 5, 2, 2, 200, 110, 50, 4, 15, 1, 30, 4, 1.5, 40},
    {10, 8, 4, 2, 300, 120, 30, 20, 28, 2, 60, 6, 0.35, 40},
    {22, 9, 4, 2, 500, 120, 60, 2, 35, 1.5, 70, 5, 0.25, 40},
    {25, 25, 4, 4, 780, 110, 40, 5, 45, 2.5, 90, 8, 0.12, 40},
};

struct bench {
    struct tmx_floorplan floorplan;
    struct tmx_layer layer[2];
    struct tmx_thermal_spec spec;
    double power_w[MAX_UNIT];
    size_t n;
};

static void make(struct bench *b, const struct chip *c, size_t grid)
{
    static const double weight[MAX_UNIT] = {5, 1, 2, 0.5, 3, 0, 1, 4, 0.5, 6, 1, 2, 1, 0, 3, 2};
    *b = (struct bench){.n = c->across * c->down};
    for (size_t u = 0; u < b->n; u++) {
        char name[16];
        snprintf(name, sizeof name, "U%zu", u);
        const double w = 1e-3 * c->w_mm / (double)c->across, h = 1e-3 * c->h_mm / (double)c->down;
        const struct tmx_unit unit = {.name = name,
                                      .x_m = w * (double)(u % c->across),
                                      .y_m = h * (double)(u / c->across),
                                      .w_m = w,
                                      .h_m = h,
                                      .heat_capacity_j_per_m3k = NAN,
                                      .resistivity_mk_per_w = NAN};
        assert_int_equal(tmx_floorplan_add(&b->floorplan, &unit, NULL), TMX_OK);
        b->power_w[u] = weight[u];
    }
    b->layer[0] = (struct tmx_layer){.floorplan = &b->floorplan,
                                     .lateral = true,
                                     .dissipates = true,
                                     .thickness_m = 1e-6 * c->t_chip_um,
                                     .k_w_per_mk = c->k_chip,
                                     .p_j_per_m3k = 1.75e6};
    b->layer[1] = (struct tmx_layer){.floorplan = &b->floorplan,
                                     .lateral = true,
                                     .thickness_m = 1e-6 * c->t_tim_um,
                                     .k_w_per_mk = c->k_tim,
                                     .p_j_per_m3k = 4e6};
    b->spec = (struct tmx_thermal_spec){.network = TMX_NETWORK_PHYSICAL,
                                        .layer = b->layer,
                                        .n_layer = 2,
                                        .package = {.s_spreader_m = 1e-3 * c->s_spreader_mm,
                                                    .t_spreader_m = 1e-3 * c->t_spreader_mm,
                                                    .k_spreader = 400,
                                                    .p_spreader = 3.55e6,
                                                    .s_sink_m = 1e-3 * c->s_sink_mm,
                                                    .t_sink_m = 1e-3 * c->t_sink_mm,
                                                    .k_sink = 400,
                                                    .p_sink = 3.55e6,
                                                    .r_convec_k_per_w = c->r_convec,
                                                    .c_convec_j_per_k = 0},
                                        .rows = grid,
                                        .cols = grid,
                                        .ambient_k = 300,
                                        .init_k = 300};
}

struct seen {                    /* mean over units and the hottest one */
    double mean, hottest, worst; /* worst: difference of any unit */
};

static struct seen see(const struct bench *b, const double *a, const double *truth, size_t hot)
{
    struct seen s = {0};
    for (size_t u = 0; u < b->n; u++) {
        s.mean += a[u] / (double)b->n;
        s.worst = fmax(s.worst, fabs(a[u] - truth[u]));
    }
    s.hottest = a[hot];
    return s;
}

static double run_grid(struct bench *b, enum tmx_network_kind kind, double steady[MAX_UNIT],
                       double step[N_TIME][MAX_UNIT])
{
    struct engine e;
    double at = 0;
    b->spec.network = kind;
    engine_open(&e, "grid", "", &b->spec);
    assert_int_equal(e.ops->steady(e.state, b->power_w, false, steady), TMX_OK);
    for (size_t k = 0; k < N_TIME; k++) {
        assert_int_equal(e.ops->step(e.state, times[k] - at, b->power_w, step[k]), TMX_OK);
        at = times[k];
    }
    for (size_t u = 0; u < b->n; u++) {
        steady[u] -= b->spec.ambient_k;
        for (size_t k = 0; k < N_TIME; k++) {
            step[k][u] -= b->spec.ambient_k;
        }
    }
    engine_close(&e);
    return 0;
}

static void row(const char *what, double time_s, struct seen truth, struct seen ours, struct seen hotspot)
{
    print_message("%-7s %7.3g | %7.3f %7.3f | %+6.2f %% %+6.2f %% | %+6.1f %% %+6.1f %%\n", what, time_s,
                  truth.mean, truth.hottest, 100 * (ours.mean / truth.mean - 1),
                  100 * (ours.hottest / truth.hottest - 1), 100 * (hotspot.mean / truth.mean - 1),
                  100 * (hotspot.hottest / truth.hottest - 1));
}

static size_t first_chip, n_chip = 1, n_grid = 24, n_oracle = 24;

static void it_agrees_with_finite_volumes(void **state)
{
    for (size_t i = first_chip; i < n_chip; i++) {
        struct bench b;
        double truth[MAX_UNIT], truth_step[N_TIME * MAX_UNIT], ours[MAX_UNIT], ours_step[N_TIME][MAX_UNIT];
        double theirs[MAX_UNIT], theirs_step[N_TIME][MAX_UNIT];
        make(&b, &chips[i], n_grid);
        struct slow_fv *f = slow_fv_create(&b.spec, n_oracle);
        slow_fv_steady(f, b.power_w, truth);
        size_t hot = 0;
        for (size_t u = 1; u < b.n; u++) {
            hot = truth[u] > truth[hot] ? u : hot;
        }
        const double scale = chips[i].rise_k / truth[hot];
        for (size_t u = 0; u < b.n; u++) {
            b.power_w[u] *= scale;
            truth[u] *= scale;
        }
        slow_fv_step(f, b.power_w, times, N_TIME, truth_step);
        run_grid(&b, TMX_NETWORK_HOTSPOT, theirs, theirs_step);
        run_grid(&b, TMX_NETWORK_PHYSICAL, ours, ours_step);
        const struct seen s = see(&b, ours, truth, hot);
        print_message(
            "chip %zu, %g x %g mm, oracle of %zu cells: steady differs by at most %.3f K of %.1f K\n", i,
            chips[i].w_mm, chips[i].h_mm, slow_fv_cells(f), s.worst, truth[hot]);
        print_message("              s |    mean hottest K | physical         | HotSpot's\n");
        for (size_t k = 0; k < N_TIME; k++) {
            const double *t = truth_step + k * b.n;
            const struct seen a = see(&b, t, t, hot), o = see(&b, ours_step[k], t, hot);
            row("step", times[k], a, o, see(&b, theirs_step[k], t, hot));
            check_close(o.mean, a.mean, 0.03, 0);
            check_close(o.hottest, a.hottest, 0.03, 0);
        }
        row("steady", INFINITY, see(&b, truth, truth, hot), s, see(&b, theirs, truth, hot));
        assert_true(s.worst <= 0.3);
        slow_fv_destroy(f);
        tmx_floorplan_finish(&b.floorplan);
    }
}

TMX_TESTS(test_physical)
{
    const size_t most = sizeof chips / sizeof chips[0];
    n_chip = argc > 1 ? strtoul(argv[1], NULL, 10) : 1;
    n_chip = n_chip < most ? n_chip : most;
    n_grid = argc > 2 ? strtoul(argv[2], NULL, 10) : n_grid;
    n_oracle = argc > 3 ? strtoul(argv[3], NULL, 10) : n_oracle;
    first_chip = argc > 4 ? strtoul(argv[4], NULL, 10) : 0;
    const struct CMUnitTest tests[] = {cmocka_unit_test(it_agrees_with_finite_volumes)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

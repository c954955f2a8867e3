/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/support/check.h"

#include <stdlib.h>
#include <string.h>

#include "hotspot/hotspot.h"
#include "tests/support/scratch.h"

/* Ten blocks on 60 mm2 whose powers and wires pull apart, a cache that can be wrapped around them, and the
 * annealer's promises: what it returns tiles the die, keeps areas and shapes, repeats itself, and is better
 * than the row it began with. */

static const char blocks[] = "# name area least most rotable\n"
                             "a 4e-6 0.5 2 1\nb 4e-6 0.5 2 1\nc 6e-6 1 1 0\nd 2e-6 1 3 1\ne 8e-6 0.4 0.8 0\n"
                             "f 3e-6 1 4 1\ng 5e-6 0.5 2 1\nh 1e-6 1 2 1\ni 7e-6 0.5 2 1\nj 2e-6 2 3 1\n"
                             "L2 40e-6 1 3 1\na h 1\nb d 2\nL2 a 1\nc i 1\n";
static const char powers[] = "a 6\nb 6\nc 1\nd 5\ne 1\nf 4\ng 0.5\nh 3\ni 1\nj 0\nL2 2\n";
static const struct {
    const char *name;
    double area, least, most;
    bool rotable;
} shapes[] = {{"a", 4e-6, .5, 2, true}, {"b", 4e-6, .5, 2, true},   {"c", 6e-6, 1, 1, false},
              {"d", 2e-6, 1, 3, true},  {"e", 8e-6, .4, .8, false}, {"f", 3e-6, 1, 4, true},
              {"g", 5e-6, .5, 2, true}, {"h", 1e-6, 1, 2, true},    {"i", 7e-6, .5, 2, true},
              {"j", 2e-6, 2, 3, true}};

static const char *desc;
static struct tmx_hotspot_config cfg;
static bool all; /* the slow test */

static int make(void **state)
{
    desc = scratch_write("floorplanner.desc", blocks);
    tmx_hotspot_config_init(&cfg);
    cfg.grid_rows = cfg.grid_cols = 24;
    return 0;
}

static struct tmx_floorplanner_result optimise(uint64_t seed, bool wrap)
{
    char watts[512];
    snprintf(watts, sizeof watts, "%s%s", powers, wrap ? "L2_left 0.5\nL2_right 0.5\n" : "");
    struct tmx_floorplanner_options o;
    struct tmx_floorplanner_result r;
    struct tmx_err err = {0};
    assert_int_equal(tmx_floorplanner_options_read(&o, NULL, NULL), TMX_OK);
    o.wrap_l2 = wrap;
    o.Rcool = 0.8;
    o.lambdaT = 2;
    const struct tmx_floorplanner_input in = {.file = desc,
                                              .power = scratch_write("floorplanner.p", watts),
                                              .cfg = &cfg,
                                              .options = &o,
                                              .seed = seed};
    if (tmx_floorplanner_run(&in, &r, &err)) {
        print_error("%s\n", err.msg);
        fail();
    }
    return r;
}

static void result_tiles_the_die_and_keeps_areas_and_shapes(void **state)
{
    for (uint64_t seed = 1; seed <= (all ? 4 : 2); seed++) {
        struct tmx_floorplanner_result r = optimise(seed, seed % 2);
        for (size_t k = 0; k < r.n; k++) {
            const struct tmx_floorplan *fp = &r.floorplan[k];
            struct tmx_err err = {0};
            struct tmx_tiling tiling;
            assert_int_equal(tmx_floorplan_check(fp, 0, &err), TMX_OK);
            assert_int_equal(tmx_floorplan_tiling(fp, &tiling, &err), TMX_OK);
            assert_true(tiling.gap_m2 < 1e-9 * tiling.die_m2 && tiling.overlap_m2 < 1e-9 * tiling.die_m2);
            for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++) {
                const size_t u = tmx_floorplan_find(fp, shapes[i].name);
                assert_true(u < fp->n_unit);
                const double area = tmx_unit_area_m2(&fp->unit[u]),
                             most = 1.05, /* compact_ratio at each of ten cuts */
                    aspect = fp->unit[u].w_m / fp->unit[u].h_m, other = 1 / aspect;
                assert_true(area >= shapes[i].area * (1 - 1e-9) && area <= most * shapes[i].area);
                const bool as_is = aspect >= shapes[i].least / most && aspect <= shapes[i].most * most,
                           turned = other >= shapes[i].least / most && other <= shapes[i].most * most;
                assert_true(as_is || (shapes[i].rotable && turned));
            }
            if (seed % 2) {
                double cache = 0;
                for (size_t u = 0; u < fp->n_unit; u++) {
                    cache += strncmp(fp->unit[u].name, "L2", 2) ? 0 : tmx_unit_area_m2(&fp->unit[u]);
                }
                check_close(cache, 40e-6, 1e-9, 0);
            }
        }
        assert_true(r.value[0].cost < r.start_value.cost - 10);
        tmx_floorplanner_finish(&r);
    }
}

static void same_seed_same_floorplan(void **state)
{
    struct tmx_floorplanner_result a = optimise(7, true), b = optimise(7, true), c = optimise(8, true);
    bool differs = a.floorplan[0].n_unit != c.floorplan[0].n_unit;
    assert_int_equal(a.floorplan[0].n_unit, b.floorplan[0].n_unit);
    for (size_t u = 0; u < a.floorplan[0].n_unit; u++) {
        const struct tmx_unit *x = &a.floorplan[0].unit[u], *y = &b.floorplan[0].unit[u];
        assert_memory_equal(&x->x_m, &y->x_m, 4 * sizeof x->x_m);
        differs = differs || x->x_m != c.floorplan[0].unit[u].x_m;
    }
    assert_true(differs);
    tmx_floorplanner_finish(&a);
    tmx_floorplanner_finish(&b);
    tmx_floorplanner_finish(&c);
}

/* The annealer's temperatures against the full grid, over dies of other sides than the one it was fitted to.
 */
static void influence_is_near_the_full_grid(void **state)
{
    cfg.grid_rows = cfg.grid_cols = 80; /* 48 cells a side have 0.6 K of their own at the smallest block */
    for (uint64_t seed = 1; seed <= (all ? 2 : 1); seed++) {
        struct tmx_floorplanner_result r = optimise(seed, seed % 2);
        const double rise = r.value[0].peak_k - cfg.ambient;
        check_close(r.value[0].estimate_k - r.value[0].peak_k, 0, 0, 0.03 * rise);
        tmx_floorplanner_finish(&r);
    }
    cfg.grid_rows = cfg.grid_cols = 24;
}

/* Equal units, the four in the middle hot: they end apart. Those that stay do. */
static void units_of_one_size_change_places(void **state)
{
    char text[8192] = "", heat[2048] = "";
    for (int i = 0; i < 64; i++) {
        const size_t at = strlen(text), to = strlen(heat);
        snprintf(text + at, sizeof text - at, "u%d 1e-3 1e-3 %d.0e-3 %d.0e-3\n", i, i % 8, i / 8);
        snprintf(heat + to, sizeof heat - to, "u%d %d\n", i,
                 i == 27 || i == 28 || i == 35 || i == 36 ? 4 : 0);
    }
    const char *flp = scratch_write("floorplanner.flp", text), *watts = scratch_write("floorplanner.w", heat);
    struct tmx_floorplanner_options o;
    assert_int_equal(tmx_floorplanner_options_read(&o, NULL, NULL), TMX_OK);
    o.Rcool = 0.8;
    for (int mirrored = !all; mirrored < 2; mirrored++) {
        struct tmx_floorplanner_result r;
        struct tmx_err err = {0};
        const struct tmx_floorplanner_input in = {.file = flp,
                                                  .power = watts,
                                                  .stay = "u0,u1*",
                                                  .mirror = mirrored,
                                                  .cfg = &cfg,
                                                  .options = &o,
                                                  .seed = 3};
        assert_int_equal(tmx_floorplanner_run(&in, &r, &err), TMX_OK);
        assert_true(r.value[0].peak_k < r.start_value.peak_k - 3);
        const struct tmx_floorplan *fp = &r.floorplan[0];
        check_close(fp->unit[0].x_m + fp->unit[0].y_m, 0, 0, 0);
        check_close(fp->unit[11].x_m, 3e-3, 0, 0);
        double x_m[4] = {fp->unit[27].x_m, fp->unit[28].x_m, fp->unit[35].x_m, fp->unit[36].x_m}, sum = 0;
        for (size_t i = 0; i < 4; i++) {
            sum += x_m[i] + 0.5e-3;
        }
        if (mirrored) {
            check_close(sum, 4 * 4e-3, 1e-9, 0);
        }
        tmx_floorplanner_finish(&r);
    }
}

static void refuses(const char *file_text, const char *power_text, unsigned line, const char *words)
{
    struct tmx_floorplanner_options o;
    struct tmx_floorplanner_result r;
    struct tmx_err err = {0};
    const char *file = scratch_write("bad.desc", file_text), *watts = scratch_write("bad.p", power_text);
    assert_int_equal(tmx_floorplanner_options_read(&o, NULL, NULL), TMX_OK);
    const struct tmx_floorplanner_input in = {.file = file, .power = watts, .cfg = &cfg, .options = &o};
    const enum tmx_status st = tmx_floorplanner_run(&in, &r, &err);
    assert_true(st == TMX_EPARSE || st == TMX_ECONFIG);
    if (!strstr(err.msg, words) || err.line != line) {
        print_error("\"%s\" is not in line %u: %s\n", words, err.line, err.msg);
        fail();
    }
    tmx_floorplanner_finish(&r);
}

static void bad_input_is_named(void **state)
{
    refuses("a 1e-6 1 2 1\nb 1e-6 2 1 1\n", "a 1\nb 1\n", 2, "block \"b\"");
    refuses("a 1e-6 1 2 1\na 1e-6 1 2 1\n", "a 1\n", 2, "is also on line 1");
    refuses("a 1e-6 1 2 1\nb -1e-6 1 2 1\n", "a 1\nb 1\n", 2, "area above 0");
    refuses("a 1 1 2 1\nb 1 1 2 1\n", "a 1\nb 1\n", 1, "outside 1e-12");
    refuses("a 1e-6 1 2 1\nb 1e-6 1 2\n", "a 1\nb 1\n", 2, "expected a block");
    refuses("a 1e-6 1 2 1\n", "a 1\n", 0, "two blocks or more");
    refuses("a 1e-6 1 2 1\nb 1e-6 1 2 1\na c 1\n", "a 1\nb 1\n", 3, "a wire of \"c\"");
    refuses("a 1e-6 1 2 1\nb 1e-6 1 2 1\n", "a 1\n", 1, "block \"b\"");
    refuses("a 1e-6 1 2 1\nb 1e-6 1 2 1\n", "a 1\nb 1\ncc 2\n", 3, "\"cc\" is no block");
    refuses("a 1e-6 1 2 1\nb 1e-6 1 2 1\n", "a 1\nb -1\n", 2, "block \"b\": expected a power");
    refuses("a 4e-3 1 2 1\nb 4e-3 1 2 1\n", "a 1\nb 1\n", 0, "smaller than the spreader");
}

TMX_TESTS(test_floorplanner)
{
    all = argc > 1;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(result_tiles_the_die_and_keeps_areas_and_shapes),
        cmocka_unit_test(same_seed_same_floorplan),
        cmocka_unit_test(influence_is_near_the_full_grid),
        cmocka_unit_test(units_of_one_size_change_places),
        cmocka_unit_test(bad_input_is_named),
    };
    return cmocka_run_group_tests(tests, make, NULL);
}

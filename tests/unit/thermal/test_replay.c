/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>
#include <string.h>

#include "core/base/config.h"
#include "tests/support/golden.h"

static void a_trace_is_given_back_row_by_row(void **state)
{
    (void)state;
    struct golden g;
    struct engine e;
    struct tmx_trace want;
    double temp[8], ahead[8], again[8], zero[8] = {0};
    char saved[64];
    golden_open(&g, "B_hotblock");
    assert_int_equal(tmx_trace_read("ref_exact.ttrace", &want, NULL), TMX_OK);
    engine_open(&e, "replay", "file = \"ref_exact.ttrace\"; interval_s = 0.002;", &g.stack.spec);
    assert_true(e.ops->snapshot_size(e.state) <= sizeof saved && g.n_unit <= 8);
    e.ops->read(e.state, temp);
    check_close(temp[0], g.stack.spec.init_k, 0, 0);
    for (size_t k = 0; k < 2 * want.n_row + 4; k++) { /* two steps a row, then the last row stays */
        const size_t row = k / 2 < want.n_row ? k / 2 : want.n_row - 1;
        assert_int_equal(e.ops->predict(e.state, 0.001, zero, ahead), TMX_OK);
        assert_int_equal(e.ops->step(e.state, 0.001, zero, temp), TMX_OK);
        assert_memory_equal(ahead, temp, g.n_unit * sizeof *temp);
        for (size_t c = 0; c < want.n_column; c++) {
            check_close(temp[g.unit_of[c]], want.value[row * want.n_column + c], 0, 0);
        }
        if (k == 6) {
            e.ops->save(e.state, saved);
            memcpy(again, temp, sizeof again);
        }
    }
    e.ops->restore(e.state, saved);
    e.ops->read(e.state, temp);
    assert_memory_equal(again, temp, g.n_unit * sizeof *temp);
    assert_int_equal(e.ops->steady(e.state, zero, true, temp), TMX_OK);
    check_close(temp[g.unit_of[0]], want.value[(want.n_row - 1) * want.n_column], 0, 0);
    engine_close(&e);
    tmx_trace_finish(&want);
    golden_close(&g);
}

static void a_trace_of_another_chip_is_refused(void **state)
{
    (void)state;
    struct golden g;
    struct tmx_err err = {0};
    void *model = NULL, *options = NULL;
    const struct tmx_thermal_ops *ops = tmx_thermal_find("replay");
    struct tmx_config *config = NULL;
    golden_open(&g, "B_hotblock");
    assert_int_equal(tmx_config_parse(&config, "file = \"../A_gt200/ref_exact.ttrace\";", "options", &err),
                     TMX_OK);
    assert_int_equal(tmx_plugin_state(&ops->base, tmx_config_root(config), NULL, &options, &err), TMX_OK);
    assert_int_equal(ops->model_create(options, &g.stack.spec, &model, &err), TMX_EPARSE);
    assert_non_null(strstr(err.msg, "no temperatures of block"));
    tmx_config_close(config);
    free(options);
    golden_close(&g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_trace_is_given_back_row_by_row),
        cmocka_unit_test(a_trace_of_another_chip_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Logs made from known numbers: what leakage adds for a kelvin, and the capacity of each sink, come back
 * where the log tells them and are left out by name where it does not. */
#include <gsl/gsl_errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "measure/calibrate.h"
#include "measure/log/collect.h"
#include "tests/support/check.h"

enum { SECONDS = 300, N_GPU = 2 };

struct card {
    double leak_per_k, r_k_per_w[2], c_j_per_k[N_GPU]; /* r: at 8000 and at 4000 rpm */
    double limit_w;                                    /* no more than this */
    double wander;                                     /* of the work, in share of it, over two minutes */
    bool two_runs;                                     /* a run a speed; else the fan changes within one */
    bool ramp;                                         /* the load begins at 20 W a second */
};

/* 60 s idle, load, the last 60 s idle; 1 Hz, whole degrees, a watt of noise. */
static void make_log(const struct card *k, struct tmx_measured *m)
{
    const size_t room = (size_t)2 * SECONDS * N_GPU * 64 + 256;
    struct tmx_text_file text = {.name = "made.csv", .data = malloc(room)};
    struct tmx_rng *rng = NULL;
    struct tmx_err err = {0};
    assert_non_null(text.data);
    assert_int_equal(tmx_rng_create(&rng, 3, "watts", &err), TMX_OK);
    text.size = (size_t)snprintf(text.data, room, "run,gpu,time_s,power_w,temp_c,fan_rpm\n");
    for (int run = 0; run < 2; run++) {
        for (int g = 0; g < N_GPU; g++) {
            double x = 3;
            for (int s = 0; s < SECONDS * (k->two_runs ? 1 : 2 - 2 * run); s++) {
                const int end = k->two_runs ? SECONDS : 2 * SECONDS;
                const bool busy = s >= 60 && s < end - 60, slow = k->two_runs ? run == 1 : s >= SECONDS;
                const double r = k->r_k_per_w[slow], t = 27 + x;
                const double asks = (busy ? fmin(400 * (1 + k->wander * sin(0.05 * s)),
                                                 k->ramp ? 50 + 20 * (s - 59) : 999)
                                          : 50) *
                                    exp(k->leak_per_k * (t - 50)),
                             p = fmin(asks, k->limit_w);
                for (int i = 0; i < 10; i++) {
                    x += 0.1 * (p - x / r) / k->c_j_per_k[g];
                }
                text.size += (size_t)snprintf(
                    text.data + text.size, room - text.size, "%s,%d,%d,%.2f,%.0f,%d\n", run ? "slow" : "fast",
                    g, s, p + tmx_rng_normal(rng, 1), 27 + x + 0.02 * p, slow ? 4000 : 8000);
            }
        }
    }
    assert_int_equal(tmx_measured_parse(m, &text, NULL, &err), TMX_OK);
    tmx_text_finish(&text);
    tmx_rng_destroy(rng);
}

static void what_leakage_adds_for_a_kelvin_comes_back(void **unused)
{
    (void)unused;
    for (int how = 0; how < 4; how++) {
        const bool two = how % 2;
        const struct card k = {.leak_per_k = 0.0025,
                               .ramp = how / 2,
                               .r_k_per_w = {0.05, 0.085},
                               .c_j_per_k = {400, 400},
                               .limit_w = 999,
                               .two_runs = two};
        struct tmx_measured m = {0};
        struct tmx_leak leak;
        struct tmx_err err = {0};
        make_log(&k, &m);
        assert_int_equal(tmx_leak_slope(&leak, &m, two ? "fast,slow" : NULL, &err), TMX_OK);
        print_message("%s: %.5f +- %.5f 1/K from %zu stretches, %zu rows\n", two ? "two runs" : "one run",
                      leak.per_k, leak.error, leak.n_stretch, leak.n_row);
        assert_true(leak.identified);
        assert_int_equal(leak.n_stretch, two ? 4 : 2);
        assert_true(fabs(leak.per_k - 0.0025) < 1.96 * leak.error && leak.error < 0.0004);
        tmx_measured_finish(&m);
    }
}

static void work_that_changes_tells_nothing(void **unused)
{
    (void)unused;
    const struct card k = {
        .r_k_per_w = {0.05, 0.055}, .c_j_per_k = {400, 400}, .limit_w = 999, .wander = 0.08};
    struct tmx_measured m = {0};
    struct tmx_leak leak;
    struct tmx_err err = {0};
    make_log(&k, &m);
    assert_int_equal(tmx_leak_slope(&leak, &m, NULL, &err), TMX_OK);
    print_message("%.5f +- %.5f 1/K: %s\n", leak.per_k, leak.error, leak.why);
    assert_int_equal(leak.n_stretch, 2);
    assert_false(leak.identified);
    tmx_measured_finish(&m);
}

static void a_power_limit_tells_nothing(void **unused)
{
    (void)unused;
    const struct card k = {.leak_per_k = 0.0025,
                           .r_k_per_w = {0.05, 0.085},
                           .c_j_per_k = {400, 400},
                           .limit_w = 350,
                           .two_runs = true};
    struct tmx_measured m = {0};
    struct tmx_leak leak;
    struct tmx_err err = {0};
    make_log(&k, &m);
    assert_int_equal(tmx_leak_slope(&leak, &m, "fast,slow", &err), TMX_OK);
    assert_false(leak.identified);
    assert_non_null(strstr(leak.why, "held by a limit"));
    /* nobody says that the runs do the same: nothing is compared */
    assert_int_equal(tmx_leak_slope(&leak, &m, NULL, &err), TMX_OK);
    assert_false(leak.identified);
    assert_non_null(strstr(leak.why, "two fan speeds"));
    assert_int_equal(tmx_leak_slope(&leak, &m, "fast", &err), TMX_ECONFIG);
    assert_int_equal(tmx_leak_slope(&leak, &m, "fast,slow;none", &err), TMX_ECONFIG);
    tmx_measured_finish(&m);
}

/* The fitted capacity of a GPU (-1: of all); 0: it is no parameter. */
static double capacity(const struct tmx_calibration *c, int gpu)
{
    for (size_t k = 0; k < c->fit.n_parameter; k++) {
        if (c->parameter[k].kind == TMX_FIT_SINK_C && c->parameter[k].gpu == gpu) {
            return c->parameter[k].value;
        }
    }
    return 0;
}

static bool left_out(const struct tmx_calibration *c, const char *name)
{
    bool found = false;
    for (size_t i = 0; i < c->n_left_out; i++) {
        found = found || strcmp(c->left_out[i].name, name) == 0;
    }
    return found;
}

static void sinks_get_their_own_capacity_where_the_log_tells_it(void **unused)
{
    (void)unused;
    const struct tmx_calibrate_options o = {.air = "none", .ambient = TMX_AMBIENT_FIT, .split = 1};
    for (int unlike = 0; unlike < 2; unlike++) {
        const struct card k = {.r_k_per_w = {0.05, 0.085},
                               .c_j_per_k = {400, unlike ? 700 : 400},
                               .limit_w = 999,
                               .two_runs = true};
        struct tmx_measured m = {0};
        struct tmx_calibration c = {0};
        struct tmx_err err = {0};
        make_log(&k, &m);
        assert_int_equal(tmx_calibrate(&c, &m, &o, NULL, &err), TMX_OK);
        if (unlike) {
            check_close(capacity(&c, 0), 400, 0.05, 0);
            check_close(capacity(&c, 1), 700, 0.05, 0);
        } else {
            check_close(capacity(&c, TMX_FIT_ALL), 400, 0.05, 0);
            assert_true(left_out(&c, "sink_j_per_k of each GPU"));
        }
        assert_true(left_out(&c, "leak_per_k"));
        tmx_calibration_finish(&c);
        tmx_measured_finish(&m);
    }
}

TMX_TESTS(test_leak)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_leakage_adds_for_a_kelvin_comes_back),
        cmocka_unit_test(work_that_changes_tells_nothing),
        cmocka_unit_test(a_power_limit_tells_nothing),
        cmocka_unit_test(sinks_get_their_own_capacity_where_the_log_tells_it),
    };
    gsl_set_error_handler_off();
    return cmocka_run_group_tests(tests, NULL, NULL);
}

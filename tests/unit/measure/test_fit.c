/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Synthetic logs of known packages: the printed intervals hold what they promise, and what a log does not
 * tell is said. test_fit [N]: N packages (default 6) */
#include <gsl/gsl_errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/rng.h"
#include "measure/calibrate.h"
#include "measure/log/collect.h"
#include "tests/support/check.h"

static size_t n_package = 6;

struct package {
    double junction, sink, c, ambient;
};

enum { SECONDS = 480, FINE = 10 };

/* Idle, full, half, idle, as docs/measure.md asks for. */
static double load_w(int second, double full)
{
    return second < 60 || second >= 330 ? 0.12 * full : second < 210 ? full : 0.55 * full;
}

/* A log of the package at 1 Hz: power a mean of the last second, readings noisy and in whole degrees. */
static void make_log(const struct package *p, double full_w, double noise_k, double step_k,
                     struct tmx_rng *rng, struct tmx_measured *m)
{
    enum { N = SECONDS * FINE };
    static double t[N], w[N], temp[N];
    struct tmx_rc_gpu gpu = {.junction_k_per_w = p->junction,
                             .sink_k_per_w = p->sink,
                             .sink_j_per_k = p->c,
                             .upstream = TMX_RC_NONE};
    const struct tmx_rc rc = {.gpu = &gpu, .n_gpu = 1, .fan_exponent = 0.8};
    const size_t room = (size_t)SECONDS * 48 + 64;
    struct tmx_text text = {.name = "synthetic.csv", .data = malloc(room)};
    struct tmx_err err = {0};
    assert_non_null(text.data);
    for (int i = 0; i < N; i++) {
        t[i] = (double)i / FINE;
        w[i] = load_w(i / FINE, full_w) * (1 + 0.01 * sin(0.7 * t[i]));
    }
    const struct tmx_rc_drive d = {.n = N, .time_s = t, .power_w = w};
    tmx_rc_simulate(&rc, 0, &d, temp, NULL, NULL);
    text.size = (size_t)snprintf(text.data, room, "time_s,power_w,temp_c\n");
    for (int s = 1; s < SECONDS; s++) {
        double mean = 0;
        for (int k = 0; k < FINE; k++) {
            mean += w[s * FINE - k] / FINE;
        }
        const double read = temp[s * FINE] + p->ambient + tmx_rng_normal(rng, noise_k);
        text.size += (size_t)snprintf(text.data + text.size, room - text.size, "%d,%.2f,%.3f\n", s, mean,
                                      step_k * round(read / step_k));
    }
    assert_int_equal(tmx_measured_parse(m, &text, NULL, &err), TMX_OK);
    tmx_text_finish(&text);
}

static const struct tmx_fit_parameter *parameter(const struct tmx_calibration *c, enum tmx_fit_kind kind)
{
    for (size_t k = 0; k < c->fit.n_parameter; k++) {
        if (c->fit.parameter[k].kind == kind) {
            return &c->fit.parameter[k];
        }
    }
    return NULL;
}

static void true_values_lie_in_the_printed_intervals(void **unused)
{
    (void)unused;
    struct tmx_rng *rng = NULL;
    struct tmx_err err = {0};
    size_t inside = 0, all = 0, silent = 0;
    assert_int_equal(tmx_rng_create(&rng, 7, "packages", &err), TMX_OK);
    for (size_t i = 0; i < n_package; i++) {
        const double full = 80 + 520 * tmx_rng_uniform(rng);
        const struct package p = {.junction = 15 / full * (0.5 + tmx_rng_uniform(rng)),
                                  .sink = 30 / full * (0.5 + tmx_rng_uniform(rng)),
                                  .ambient = 18 + 14 * tmx_rng_uniform(rng),
                                  .c = 0};
        struct package q = p;
        q.c = (15 + 30 * tmx_rng_uniform(rng)) / p.sink;
        struct tmx_measured m = {0};
        struct tmx_calibration c = {0};
        const struct tmx_calibrate_options o = {.air = "none", .ambient = TMX_AMBIENT_FIT, .split = 1};
        make_log(&q, full, 0.3 * tmx_rng_uniform(rng), 1, rng, &m);
        assert_int_equal(tmx_calibrate(&c, &m, &o, NULL, &err), TMX_OK);
        const struct {
            enum tmx_fit_kind kind;
            double is;
        } truth[] = {{TMX_FIT_JUNCTION, q.junction},
                     {TMX_FIT_SINK, q.sink},
                     {TMX_FIT_SINK_C, q.c},
                     {TMX_FIT_AMBIENT, q.ambient}};
        for (size_t k = 0; k < 4; k++) {
            const struct tmx_fit_parameter *f = parameter(&c, truth[k].kind);
            if (!f->identified) {
                silent++;
                continue;
            }
            const double low = tmx_fit_positive(f->kind) ? f->value * exp(-1.96 * f->error / f->value)
                                                         : f->value - 1.96 * f->error;
            const double high = tmx_fit_positive(f->kind) ? f->value * exp(1.96 * f->error / f->value)
                                                          : f->value + 1.96 * f->error;
            const bool in = truth[k].is >= low && truth[k].is <= high;
            all++;
            inside += in;
            if (!in) {
                print_message("package %zu %s: %g not in [%g, %g]\n", i, tmx_fit_name(f->kind), truth[k].is,
                              low, high);
            }
        }
        tmx_calibration_finish(&c);
        tmx_measured_finish(&m);
    }
    tmx_rng_destroy(rng);
    const double share = (double)inside / (double)all;
    print_message("%zu of %zu intervals (%.1f %%) hold the true value; %zu not identified\n", inside, all,
                  100 * share, silent);
    assert_true(silent < all / 10);
    if (n_package >= 100) {
        assert_true(share >= 0.90 && share <= 0.99);
    } else {
        assert_true(share >= 0.85);
    }
}

static void what_a_log_does_not_tell_is_said(void **unused)
{
    (void)unused;
    struct tmx_rng *rng = NULL;
    struct tmx_err err = {0};
    struct tmx_measured m = {0};
    struct tmx_calibration c = {0};
    const struct tmx_calibrate_options o = {.air = "none", .ambient = TMX_AMBIENT_FIT, .split = 1};
    assert_int_equal(tmx_rng_create(&rng, 7, "slow", &err), TMX_OK);
    /* a sink of an hour: eight minutes see its begin only */
    const struct package slow = {.junction = 0.05, .sink = 0.2, .c = 18000, .ambient = 25};
    make_log(&slow, 250, 0.2, 1, rng, &m);
    assert_int_equal(tmx_calibrate(&c, &m, &o, NULL, &err), TMX_OK);
    assert_true(parameter(&c, TMX_FIT_JUNCTION)->identified);
    check_close(parameter(&c, TMX_FIT_JUNCTION)->value, 0.05, 0.1, 0);
    assert_false(parameter(&c, TMX_FIT_SINK)->identified);
    assert_non_null(strstr(parameter(&c, TMX_FIT_SINK)->why, "would need"));
    bool fan = false;
    for (size_t i = 0; i < c.n_left_out; i++) {
        fan = fan || strcmp(c.left_out[i].name, "fan law") == 0;
    }
    assert_true(fan);
    tmx_calibration_finish(&c);
    tmx_measured_finish(&m);
    /* ten watts more or less on fifty: half a degree */
    const struct package cool = {.junction = 0.02, .sink = 0.03, .c = 900, .ambient = 25};
    make_log(&cool, 12, 0.2, 1, rng, &m);
    assert_int_equal(tmx_calibrate(&c, &m, &o, NULL, &err), TMX_ERANGE);
    assert_non_null(strstr(err.msg, "nothing can be identified"));
    tmx_calibration_finish(&c);
    tmx_measured_finish(&m);
    tmx_rng_destroy(rng);
}

static void a_step_is_exact(void **unused)
{
    (void)unused;
    /* power 0 to 100 W in one second, then constant: the pole in closed form, whatever the rows' step */
    struct tmx_rc_gpu gpu = {
        .junction_k_per_w = 0.1, .sink_k_per_w = 0.2, .sink_j_per_k = 100, .upstream = TMX_RC_NONE};
    const struct tmx_rc rc = {.gpu = &gpu, .n_gpu = 1, .fan_exponent = 0.8};
    const double t[] = {0, 1, 4, 50}, w[] = {0, 100, 100, 100}, tau = 20;
    double temp[4], heat[4];
    const struct tmx_rc_drive d = {.n = 4, .time_s = t, .power_w = w};
    tmx_rc_simulate(&rc, 0, &d, temp, NULL, heat);
    const double at1 = 20 * (1 - tau * (1 - exp(-1 / tau)));
    check_close(temp[1], 10 + at1, 1e-12, 0);
    check_close(temp[2], 10 + 20 + (at1 - 20) * exp(-3 / tau), 1e-12, 0);
    check_close(temp[3], 10 + 20 + (at1 - 20) * exp(-49 / tau), 1e-12, 0);
    check_close(heat[3], (temp[3] - 10) / 0.2, 1e-12, 0);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_step_is_exact),
        cmocka_unit_test(what_a_log_does_not_tell_is_said),
        cmocka_unit_test(true_values_lie_in_the_printed_intervals),
    };
    gsl_set_error_handler_off();
    if (argc > 1) {
        n_package = (size_t)atoi(argv[1]);
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Synthetic logs of known packages: the printed intervals hold what they promise, and a calibration names the
 * parameters that a log does not identify. test_fit [N]: N packages (6, with sanitizers 2) */
#include <gsl/gsl_errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "measure/calibrate.h"
#include "measure/log/collect.h"
#include "tests/support/check.h"

static size_t n_package = 6 / TMX_EVERY;

enum { MOST_GPUS = 3, SECONDS = 480, FINE = 40 };

/* GPUs of one kind, each with its own sink, junction and inlet; fans as they turn: at one speed, at two, or
 * as the load has them. */
struct package {
    size_t n_gpu;
    double full_w, noise_k, step_k, c, ambient, junction[MOST_GPUS], sink[MOST_GPUS], inlet_k[MOST_GPUS];
    double low_rpm, high_rpm; /* 0: not in the log */
    double late_s[3];         /* of the load's jumps against the rows */
    int mean_of; /* fortieths of a second before its row, the log's power is the mean of; 0: of the moment */
};

/* Idle, full, half, idle, as docs/measure.md asks for. */
static double load_w(const struct package *p, double second)
{
    return second < 60 + p->late_s[0] || second >= 330 + p->late_s[2] ? 0.12 * p->full_w
           : second < 210 + p->late_s[1]                              ? p->full_w
                                                                      : 0.55 * p->full_w;
}

/* The fan gets faster through the load and falls behind it. */
static double fan_rpm(const struct package *p, double second)
{
    const double up = second < 90    ? 0
                      : second < 150 ? (second - 90) / 60
                      : second < 360 ? 1
                                     : fmax(0, 1 - (second - 360) / 40);
    return p->low_rpm + up * (p->high_rpm - p->low_rpm);
}

/* A log of the package at 1 Hz: power a mean of the last second, readings noisy and in steps. */
static void make_log(const struct package *p, struct tmx_rng *rng, struct tmx_measured *m)
{
    enum { N = SECONDS * FINE };
    static double t[N], w[N], rpm[N], temp[MOST_GPUS][N];
    const size_t room = (size_t)SECONDS * MOST_GPUS * 64 + 64;
    struct tmx_text_file text = {.name = "synthetic.csv", .data = malloc(room)};
    struct tmx_err err = {0};
    assert_non_null(text.data);
    for (int i = 0; i < N; i++) {
        t[i] = (double)i / FINE;
        w[i] = load_w(p, t[i]) * (1 + 0.01 * sin(0.7 * t[i]));
        rpm[i] = fan_rpm(p, t[i]);
    }
    for (size_t g = 0; g < p->n_gpu; g++) {
        struct tmx_rc_gpu gpu = {.junction_k_per_w = p->junction[g],
                                 .sink_k_per_w = p->sink[g],
                                 .sink_j_per_k = p->c,
                                 .upstream = TMX_RC_NONE};
        const struct tmx_rc rc = {.gpu = &gpu, .n_gpu = 1, .fan_exponent = 0.8, .rpm_ref = p->high_rpm};
        const struct tmx_rc_drive d = {
            .n = N, .time_s = t, .power_w = w, .rpm = p->high_rpm > 0 ? rpm : NULL};
        tmx_rc_simulate(&rc, 0, &d, temp[g], NULL, NULL);
    }
    text.size =
        (size_t)snprintf(text.data, room, "time_s,gpu,power_w,temp_c%s\n", p->high_rpm > 0 ? ",fan_rpm" : "");
    for (int s = 1; s < SECONDS; s++) {
        double mean = 0;
        for (int k = 0; k < p->mean_of; k++) {
            mean += 0.5 * (w[s * FINE - k] + w[s * FINE - k - 1]) / p->mean_of;
        }
        mean = p->mean_of > 0 ? mean : w[s * FINE];
        for (size_t g = 0; g < p->n_gpu; g++) {
            const double read =
                temp[g][s * FINE] + p->ambient + p->inlet_k[g] + tmx_rng_normal(rng, p->noise_k);
            text.size += (size_t)snprintf(text.data + text.size, room - text.size, "%d,%zu,%.2f,%.3f", s, g,
                                          mean, p->step_k * round(read / p->step_k));
            text.size += p->high_rpm > 0 ? (size_t)snprintf(text.data + text.size, room - text.size,
                                                            ",%.0f\n", rpm[s * FINE])
                                         : (size_t)snprintf(text.data + text.size, room - text.size, "\n");
        }
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

/* One to three GPUs, inlets a few kelvins apart, a fan or none, a sensor of tenths, halves or whole degrees.
 */
static struct package random_package(struct tmx_rng *rng)
{
    static const double steps_k[] = {1, 1, 0.5, 0.1};
    static const int means[] = {FINE, FINE, FINE / 4, 0};
    struct package p = {.n_gpu = 1 + (size_t)(tmx_rng_uniform(rng) * MOST_GPUS),
                        .full_w = 80 + 520 * tmx_rng_uniform(rng)};
    const double junction = 15 / p.full_w * (0.5 + tmx_rng_uniform(rng)),
                 sink = 30 / p.full_w * (0.5 + tmx_rng_uniform(rng));
    p.ambient = 18 + 14 * tmx_rng_uniform(rng);
    p.c = (15 + 30 * tmx_rng_uniform(rng)) / sink;
    p.noise_k = 0.3 * tmx_rng_uniform(rng);
    for (size_t k = 0; k < 3; k++) {
        p.late_s[k] = tmx_rng_uniform(rng);
    }
    p.mean_of = means[(size_t)(4 * tmx_rng_uniform(rng))];
    p.step_k = steps_k[(size_t)(4 * tmx_rng_uniform(rng))];
    const double fan = tmx_rng_uniform(rng), speed = 1500 + 8000 * tmx_rng_uniform(rng);
    p.high_rpm = fan < 0.4 ? 0 : speed;
    p.low_rpm = fan < 0.6 ? p.high_rpm : speed * (0.4 + 0.4 * tmx_rng_uniform(rng));
    for (size_t g = 0; g < p.n_gpu; g++) {
        p.junction[g] = junction * (1 + tmx_rng_normal(rng, 0.05));
        p.sink[g] = sink * (1 + tmx_rng_normal(rng, 0.05));
        p.inlet_k[g] = g ? tmx_rng_normal(rng, 1.5) : 0;
    }
    return p;
}

static double truth_of(const struct package *p, const struct tmx_fit_parameter *f)
{
    const size_t g = f->gpu >= 0 ? (size_t)f->gpu : 0;
    switch (f->kind) {
    case TMX_FIT_JUNCTION:
        return p->junction[g];
    case TMX_FIT_SINK:
        return p->sink[g];
    case TMX_FIT_SINK_C:
        return p->c;
    case TMX_FIT_AMBIENT:
        return p->ambient;
    case TMX_FIT_OFFSET:
        return p->inlet_k[g];
    case TMX_FIT_EXPONENT:
        return 0.8;
    default:
        return NAN; /* a part that is not there: none may be found */
    }
}

struct tally {
    size_t inside, all, silent;
};

static void count(struct tally *n, size_t package, const struct package *p, const struct tmx_fit_parameter *f)
{
    const double is = truth_of(p, f);
    const bool log = tmx_fit_kinds[f->kind].positive;
    if (f->identified) {
        const double low = log ? f->value * exp(-1.96 * f->error / f->value) : f->value - 1.96 * f->error;
        const double high = log ? f->value * exp(1.96 * f->error / f->value) : f->value + 1.96 * f->error;
        const bool in = is >= low && is <= high;
        n->all++;
        n->inside += in;
        if (!in) {
            print_message("package %zu (%zu GPUs, %g K, fan %g to %g, noise %g, mean of %d) %s: %g "
                          "not in [%g, %g]\n",
                          package, p->n_gpu, p->step_k, p->low_rpm, p->high_rpm, p->noise_k, p->mean_of,
                          tmx_fit_kinds[f->kind].name, is, low, high);
        }
    }
    n->silent += !f->identified;
}

/* A GPU long at a load that the log does not hold, in its own air: the true temperature and the forecast's.
 */
static void count_forecast(struct tally *n, size_t package, const struct package *p,
                           const struct tmx_calibration *c)
{
    struct tmx_fit_errors e;
    struct tmx_err err = {0};
    struct tmx_rc model = c->model;
    double power_w[MOST_GPUS], rpm[MOST_GPUS];
    model.residual_k = 0; /* the model is the log's own, so it misses nothing but noise */
    assert_int_equal(tmx_fit_errors_make(&e, c->fit.parameter, c->fit.n_parameter, c->covariance, &err),
                     TMX_OK);
    for (size_t g = 0; g < p->n_gpu; g++) {
        power_w[g] = 0.8 * p->full_w;
        rpm[g] = p->high_rpm;
    }
    for (size_t g = 0; g < p->n_gpu; g++) {
        const double is = p->ambient + p->inlet_k[g] + (p->junction[g] + p->sink[g]) * power_w[g];
        const double forecast = c->ambient_c[0] + tmx_rc_steady_k(&model, g, power_w, rpm);
        const double error_k = tmx_fit_steady_error_k(&e, &model, g, power_w, rpm, true);
        const bool in = fabs(forecast - is) <= 1.96 * error_k;
        n->silent += isfinite(error_k) ? 0u : 1u;
        n->all += isfinite(error_k) ? 1u : 0u;
        n->inside += in;
        if (isfinite(error_k) && !in) {
            print_message("package %zu, GPU %zu: %.2f degC, forecast %.2f +- %.2f\n", package, g, is,
                          forecast, 1.96 * error_k);
        }
    }
    tmx_fit_errors_finish(&e);
}

static void true_values_lie_in_the_printed_intervals(void **unused)
{
    (void)unused;
    struct tmx_rng *rng = NULL;
    struct tmx_err err = {0};
    struct tally of[TMX_N_FIT] = {{0}}, sum = {0}, forecast = {0};
    size_t means = 0, means_told = 0, moments = 0, moments_told = 0;
    assert_int_equal(tmx_rng_create(&rng, 7, "packages", &err), TMX_OK);
    for (size_t i = 0; i < n_package; i++) {
        const struct package p = random_package(rng);
        struct tmx_measured m = {0};
        struct tmx_calibration c = {0};
        const struct tmx_calibrate_options o = {.air = "none", .ambient = TMX_AMBIENT_FIT, .split = 1};
        make_log(&p, rng, &m);
        assert_int_equal(tmx_calibrate(&c, &m, &o, NULL, &err), TMX_OK);
        for (size_t k = 0; k < c.fit.n_parameter; k++) {
            count(&of[c.fit.parameter[k].kind], i, &p, &c.fit.parameter[k]);
        }
        count_forecast(&forecast, i, &p, &c);
        means += p.mean_of == FINE;
        means_told += p.mean_of == FINE && c.model.power_is_mean;
        moments += p.mean_of == 0;
        moments_told += p.mean_of == 0 && !c.model.power_is_mean;
        tmx_calibration_finish(&c);
        tmx_measured_finish(&m);
    }
    tmx_rng_destroy(rng);
    print_message("watts: %zu of %zu logs of means told, %zu of %zu of moments\n", means_told, means,
                  moments_told, moments);
    for (int k = 0; k < TMX_N_FIT; k++) {
        sum.inside += of[k].inside;
        sum.all += of[k].all;
        sum.silent += of[k].silent;
        if (of[k].all + of[k].silent > 0) {
            print_message("%-18s %4zu of %4zu hold the true value, %zu not identified\n",
                          tmx_fit_kinds[k].name, of[k].inside, of[k].all, of[k].silent);
        }
    }
    const double share = (double)sum.inside / (double)sum.all;
    print_message("%zu of %zu intervals (%.1f %%) hold the true value; %zu not identified\n", sum.inside,
                  sum.all, 100 * share, sum.silent);
    const double right = (double)forecast.inside / (double)forecast.all;
    print_message("%zu of %zu forecasts (%.1f %%) are as near as they say; %zu say nothing\n",
                  forecast.inside, forecast.all, 100 * right, forecast.silent);
    assert_true(sum.silent < sum.all / 10);
    assert_int_equal(forecast.silent, 0);
    assert_true(n_package >= 100 ? right >= 0.90 && right <= 0.995 : right >= 0.85);
    if (n_package >= 100) {
        assert_true(share >= 0.90 && share <= 0.99);
    } else {
        assert_true(share >= 0.85);
    }
}

/* Air that differs by kelvins between GPUs is no resistance. */
static void inlets_three_kelvin_apart_are_told(void **unused)
{
    (void)unused;
    struct tmx_rng *rng = NULL;
    struct tmx_err err = {0};
    struct tmx_measured m = {0};
    struct tmx_calibration c = {0};
    const struct tmx_calibrate_options o = {.air = "none", .ambient = TMX_AMBIENT_FIT, .split = 1};
    const struct package p = {.n_gpu = 2,
                              .full_w = 300,
                              .noise_k = 0.2,
                              .step_k = 1,
                              .mean_of = FINE,
                              .c = 400,
                              .ambient = 24,
                              .junction = {0.05, 0.05},
                              .sink = {0.1, 0.1},
                              .inlet_k = {0, 3},
                              .late_s = {0.3, 0.5, 0.7}};
    assert_int_equal(tmx_rng_create(&rng, 7, "inlets", &err), TMX_OK);
    make_log(&p, rng, &m);
    assert_int_equal(tmx_calibrate(&c, &m, &o, NULL, &err), TMX_OK);
    assert_true(parameter(&c, TMX_FIT_OFFSET)->identified);
    check_close(parameter(&c, TMX_FIT_OFFSET)->value, 3, 0.2, 0);
    check_close(c.model.gpu[1].sink_k_per_w, 0.1, 0.02, 0);
    tmx_calibration_finish(&c);
    tmx_measured_finish(&m);
    tmx_rng_destroy(rng);
}

/* What the user says of the watts is taken: a window of less than half a row is a moment, of a row its mean,
 * a longer one late. */
static void what_watts_are_may_be_given(void **unused)
{
    (void)unused;
    static const struct {
        enum tmx_power_is is;
        double window_s;
        bool mean;
        double lag_s;
    } rows[] = {{TMX_POWER_INSTANT, 0, false, 0},
                {TMX_POWER_MEAN, 0, true, 0},
                {TMX_POWER_AUTO, 0.1, false, 0},
                {TMX_POWER_AUTO, 1, true, 0},
                {TMX_POWER_AUTO, 4, false, 2}};
    const struct package p = {.n_gpu = 1,
                              .full_w = 300,
                              .noise_k = 0.2,
                              .step_k = 1,
                              .mean_of = FINE,
                              .c = 400,
                              .ambient = 24,
                              .junction = {0.05},
                              .sink = {0.1},
                              .late_s = {0.3, 0.5, 0.7}};
    struct tmx_rng *rng = NULL;
    struct tmx_err err = {0};
    struct tmx_measured m = {0};
    assert_int_equal(tmx_rng_create(&rng, 7, "watts", &err), TMX_OK);
    make_log(&p, rng, &m);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct tmx_calibration c = {0};
        const struct tmx_calibrate_options o = {.air = "none",
                                                .ambient = TMX_AMBIENT_FIT,
                                                .split = 1,
                                                .power_is = rows[i].is,
                                                .power_window_s = rows[i].window_s};
        assert_int_equal(tmx_calibrate(&c, &m, &o, NULL, &err), TMX_OK);
        assert_int_equal(c.model.power_is_mean, rows[i].mean);
        if (rows[i].window_s > 0) {
            check_close(c.model.power_lag_s, rows[i].lag_s, 0, 1e-12);
        }
        tmx_calibration_finish(&c);
    }
    tmx_measured_finish(&m);
    tmx_rng_destroy(rng);
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
    const struct package slow = {.n_gpu = 1,
                                 .full_w = 250,
                                 .noise_k = 0.2,
                                 .step_k = 1,
                                 .junction = {0.05},
                                 .sink = {0.2},
                                 .c = 18000,
                                 .ambient = 25};
    make_log(&slow, rng, &m);
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
    const struct package cool = {.n_gpu = 1,
                                 .full_w = 12,
                                 .noise_k = 0.2,
                                 .step_k = 1,
                                 .junction = {0.02},
                                 .sink = {0.03},
                                 .c = 900,
                                 .ambient = 25};
    make_log(&cool, rng, &m);
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

TMX_TESTS(test_fit)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_step_is_exact),
        cmocka_unit_test(inlets_three_kelvin_apart_are_told),
        cmocka_unit_test(what_watts_are_may_be_given),
        cmocka_unit_test(what_a_log_does_not_tell_is_said),
        cmocka_unit_test(true_values_lie_in_the_printed_intervals),
    };
    gsl_set_error_handler_off();
    if (argc > 1) {
        n_package = (size_t)atoi(argv[1]);
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}

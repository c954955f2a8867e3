/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What an SM's sensor reads: the SM's own unit, wherever it stands among the units of the floorplan, or the
 * mean of its parts by their areas; and what the volunteer SM's counters make of a kernel. */
#include <math.h>
#include <string.h>

#include "core/machine/machine.h"
#include "core/sim/sim.h"
#include "run/run.h"
#include "tests/support/open_run.h"

enum { MOST = 512, TICKS = 30 };

/* From the names of units, not from what the chip has made of them. */
static double by_name_k(const struct tmx_chip *c, size_t sm, const double *unit_k)
{
    double sum = 0, area_m2 = 0;
    for (size_t u = 0; u < c->floorplan.n_unit; u++) {
        if (c->sm_of_unit[u] == (int)sm) {
            sum += tmx_unit_area_m2(&c->floorplan.unit[u]) * unit_k[u];
            area_m2 += tmx_unit_area_m2(&c->floorplan.unit[u]);
        }
    }
    return sum / area_m2;
}

static void a_sensor_and_what_is_kept_are_of_whole_sms(void **state)
{
    static const struct {
        const char *what;
        bool in_row;
    } rows[] = {{"chip = \"gtx280\";", true}, /* SMs after two other units */
                {"chip = \"gtx280\"; floorplan = \"checkerboard.flp\";", false},  /* caches between SMs */
                {"chip = \"gtx480\"; floorplan = \"gtx480_units.flp\";", false}}; /* SMs in parts */
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct tmx_run *run =
            open_run("seed = 1; tick_s = 0.01; sensor = { period_s = 0.01; }; rows = 8; cols = 8;"
                     "mix = \"WL1\"; policy = \"MU\"; %s",
                     rows[i].what);
        struct tmx_sim *sim = tmx_run_sim(run);
        const struct tmx_chip *c = sim->machine->gpu[0].chip;
        double before_k[MOST], spread_k = 0, peak_k = 0, sum_k = 0;
        assert_true(c->floorplan.n_unit <= MOST && c->sms_in_row == rows[i].in_row);
        for (size_t t = 0; t < TICKS; t++) {
            memcpy(before_k, sim->frame.temp_k, c->floorplan.n_unit * sizeof *before_k);
            assert_int_equal(tmx_sim_tick(sim, NULL), TMX_OK);
            for (size_t sm = 0; sm < c->n_sm; sm++) {
                const double k = by_name_k(c, sm, sim->frame.temp_k);
                peak_k = fmax(peak_k, k);
                sum_k += k / (double)c->n_sm / TICKS;
            }
        }
        check_close(metric(run, "peak_temp_c"), peak_k - 273.15, 1e-12, 0);
        check_close(metric(run, "mean_temp_c"), sum_k - 273.15, 1e-12, 0);
        for (size_t sm = 0; sm < c->n_sm; sm++) {
            const double k = sim->frame.sensed_k[sm];
            check_close(k, by_name_k(c, sm, before_k), 1e-14, 0);
            spread_k = fmax(spread_k, fabs(k - sim->frame.sensed_k[0]));
        }
        assert_true(spread_k > 0.01); /* or any unit would do */
        tmx_run_destroy(run);
    }
}

static double pdi_w(const char *more, int seed, const char *mix, size_t job)
{
    struct tmx_run *run = open_run(
        "seed = %d; tick_s = 0.05; rows = 8; cols = 8; mix = \"%s\"; chip = \"gtx280\"; %s", seed, mix, more);
    const double w = tmx_run_sim(run)->machine->job[job].pdi_w;
    check_close(tmx_run_sim(run)->machine->job[job].power_w * 30,
                strcmp(mix, "WL7") == 0 || job == 0 ? 87 : 48, 1e-12, 0); /* the estimate draws nothing */
    tmx_run_destroy(run);
    return w;
}

static void an_index_from_counters_is_an_estimate(void **state)
{
    static const char *const erring = "rate_error = 0.2;", *const counted = "pdi = \"counters\";";
    check_close(pdi_w("", 1, "WL1", 0), 87.0 / 30, 1e-12, 0);
    check_close(pdi_w(counted, 1, "WL1", 1), /* Cmem: fds, reg, alu, int, fp */
                0.5 + 0.3 + 0.2 * 0.93 + 0.25 * 0.17 + 0.2 * 0.76, 1e-12, 0);
    check_close(pdi_w(erring, 1, "WL7", 0), pdi_w(erring, 1, "WL7", 1), 0, 0); /* one kernel, one draw */
    double sum = 0, squares = 0;
    for (int seed = 1; seed <= 40; seed++) {
        const double e = pdi_w(erring, seed, "WL1", 0) / (87.0 / 30) - 1;
        sum += e / 40;
        squares += e * e / 40;
    }
    check_close(sum, 0, 0, 0.1); /* three standard errors */
    check_close(sqrt(squares), 0.2, 0, 0.07);
}

TMX_TESTS(test_sensor)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_sensor_and_what_is_kept_are_of_whole_sms),
                                       cmocka_unit_test(an_index_from_counters_is_an_estimate)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

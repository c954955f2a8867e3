/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What an SM's sensor reads: the SM's own unit, wherever it stands among the units of the floorplan, or the
 * mean of its parts by their areas. */
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

static void a_sensor_reads_its_own_sm(void **state)
{
    static const struct {
        const char *what;
        bool in_row;
    } rows[] = {{"chip = \"gtx280\";", true}, /* SMs after two other units */
                {"chip = \"gtx280\"; floorplan = \"checkerboard.flp\";", false},  /* caches between SMs */
                {"chip = \"gtx480\"; floorplan = \"gtx480_units.flp\";", false}}; /* SMs in parts */
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct tmx_run *run =
            open_run("seed = 1; tick_s = 0.01; sensor = { period_s = 0.01; }; rows = 16; cols = 16;"
                     "mix = \"WL1\"; policy = \"MU\"; %s",
                     rows[i].what);
        struct tmx_sim *sim = tmx_run_sim(run);
        const struct tmx_chip *c = tmx_sim_machine(sim)->gpu[0].chip;
        double before_k[MOST], spread_k = 0;
        assert_true(c->floorplan.n_unit <= MOST && c->sms_in_row == rows[i].in_row);
        for (size_t t = 0; t < TICKS; t++) {
            memcpy(before_k, tmx_sim_frame(sim)->temp_k, c->floorplan.n_unit * sizeof *before_k);
            assert_int_equal(tmx_sim_tick(sim, NULL), TMX_OK);
        }
        for (size_t sm = 0; sm < c->n_sm; sm++) {
            const double k = tmx_sim_frame(sim)->sensed_k[sm];
            check_close(k, by_name_k(c, sm, before_k), 1e-14, 0);
            spread_k = fmax(spread_k, fabs(k - tmx_sim_frame(sim)->sensed_k[0]));
        }
        assert_true(spread_k > 0.01); /* or any unit would do */
        tmx_run_destroy(run);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_sensor_reads_its_own_sm)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

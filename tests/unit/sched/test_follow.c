/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The thermal model beside the machine: what the end of a tick was predicted to be is where its modes go,
 * whatever level, factor and faster part it had; modes that forget within a tick may be left out; its
 * products have the same bits on every kind of processor. */
#define _POSIX_C_SOURCE 200809L
#include <stdlib.h>
#include <string.h>

#include "base/os.h"
#include "sched/mix/ahead.h"
#include "tests/support/check.h"

enum { MODES = 21, MODE_ROW = 24, UNITS = 11, UNIT_ROW = 16, MANY = 3 };

struct scene {
    double rate[MODE_ROW], in[UNITS * MODE_ROW], out[MODES * UNIT_ROW], direct[UNITS * UNIT_ROW];
    double baseline_w[UNITS];
    struct tmx_forecast forecast;
    struct tmx_chip *chip;
    struct tmx_outlook look;
    double *memory;
    struct tmx_follow follow;
};

static double wave(size_t i)
{
    return sin(1.7 * (double)i + 0.3) + 0.1;
}

/* Rates from .05 to 1500 per second: of a tick of 50 ms the last forget everything. */
static void open_scene(struct scene *s, bool all)
{
    memset(s, 0, sizeof *s);
    for (size_t k = 0; k < MODE_ROW; k++) {
        s->rate[k] = k < MODES ? 0.05 * exp(log(30000) * (double)k / (MODES - 1)) : 1;
        for (size_t u = 0; k < MODES && u < UNITS; u++) {
            s->in[u * MODE_ROW + k] = wave(u * MODES + k);
            s->out[k * UNIT_ROW + u] = wave(u * MODES + k) * s->rate[k] / (1 + (double)k);
        }
    }
    for (size_t u = 0; u < UNITS; u++) {
        s->baseline_w[u] = 1 + 0.1 * (double)u;
        for (size_t v = 0; v < UNITS; v++) {
            s->direct[u * UNIT_ROW + v] = 0.01 * wave(u + v);
        }
    }
    const struct tmx_modes_view modes = {MODES, UNITS,  MODE_ROW,  UNIT_ROW, s->rate,
                                         s->in, s->out, s->direct, 300,      NULL};
    assert_int_equal(tmx_forecast_init(&s->forecast, &modes, 0.05, NULL), TMX_OK);
    s->chip = calloc(1, sizeof *s->chip);
    s->chip->n_level = 2;
    s->chip->level[0].freq_hz = 1e9;
    s->chip->level[0].volt_v = 1.1;
    s->chip->level[1].freq_hz = 0.9e9;
    s->chip->level[1].volt_v = 1.0;
    s->chip->power.dvfs_leakage = true;
    s->chip->power.dvfs_power = TMX_DVFS_V2F;
    s->look = (struct tmx_outlook){
        .forecast = &s->forecast, .still = {.baseline_w = s->baseline_w}, .chip = s->chip};
    s->memory = calloc(tmx_follow_lay_out(&s->look, NULL, &s->follow), sizeof *s->memory);
    (void)tmx_follow_lay_out(&s->look, s->memory, &s->follow);
    s->follow.n_mode = all ? MODES : s->forecast.n_lasting;
    tmx_follow_start(&s->look, &s->follow);
    for (size_t u = 0; u < UNITS; u++) {
        s->follow.dyn_w[u] = 3 + wave(u);
        s->follow.leak_w[u] = 0.5 + 0.1 * wave(2 * u);
    }
}

static void close_scene(struct scene *s)
{
    tmx_forecast_finish(&s->forecast);
    free(s->chip);
    free(s->memory);
}

/* Ticks at changing parts, factors and rests; the end as predicted, then as the modes have it. */
static void a_tick_ends_as_predicted(void **state)
{
    struct scene s;
    double end_k[UNITS], work_k[UNITS], most_k = 0;
    open_scene(&s, true);
    struct tmx_follow *m = &s.follow;
    for (size_t t = 0; t < 20; t++) {
        const size_t parts = t % TMX_FORECAST_PARTS;
        tmx_follow_predict(&s.look, m);
        if (parts > 0) {
            tmx_follow_try(&s.look, m, parts);
            tmx_follow_keep(&s.look, m);
            tmx_follow_try(&s.look, m, TMX_FORECAST_PARTS); /* not what is taken */
        } else {
            tmx_follow_rest(&s.look, m, 0.7);
        }
        m->tick[TMX_FOLLOW_FACTOR] = 1 + 0.1 * wave(t);
        m->tick[TMX_FOLLOW_LEVEL] = 1;
        m->tick[TMX_FOLLOW_LATE_LEVEL] = parts > 0 ? 0 : 1;
        m->tick[TMX_FOLLOW_LATE_PARTS] = (double)parts;
        memset(m->later, 0, MODE_ROW * sizeof *m->later);
        const size_t half = tmx_follow_go(&s.look, m, 0, 5);
        assert_int_equal(half, parts > 5 ? 0 : 1);
        const size_t level = tmx_follow_go(&s.look, m, 5, TMX_FORECAST_PARTS);
        assert_int_equal(level, parts > 0 ? 0 : 1);
        tmx_follow_read_end(&s.look, m);
        memcpy(end_k, m->unit_k, sizeof end_k);
        memcpy(work_k, m->work_k, sizeof work_k);
        tmx_follow_read(&s.look, m, level, 1);
        for (size_t u = 0; u < UNITS; u++) {
            check_close(m->unit_k[u], end_k[u], 1e-11, 1e-11);
            check_close(m->work_k[u], work_k[u], 1e-11, 1e-11);
            most_k = fmax(most_k, fabs(work_k[u]));
        }
    }
    assert_true(most_k > 0.5);
    close_scene(&s);
}

/* Only lasting modes, beside all. */
static void fast_modes_may_be_left_out(void **state)
{
    struct scene s[2];
    for (int i = 0; i < 2; i++) {
        open_scene(&s[i], i == 0);
        struct tmx_follow *m = &s[i].follow;
        m->tick[TMX_FOLLOW_LEVEL] = m->tick[TMX_FOLLOW_LATE_LEVEL] = 1;
        for (size_t t = 0; t < 30; t++) {
            m->dyn_w[t % UNITS] += wave(t);
            tmx_follow_predict(&s[i].look, m);
            (void)tmx_follow_go(&s[i].look, m, 0, TMX_FORECAST_PARTS);
            tmx_follow_read_end(&s[i].look, m);
        }
    }
    assert_true(s[0].follow.n_mode == MODES && s[1].follow.n_mode < MODES - 3 && s[1].follow.n_mode > 5);
    for (size_t u = 0; u < UNITS; u++) {
        check_close(s[1].follow.unit_k[u], s[0].follow.unit_k[u], 0, 2e-5);
    }
    close_scene(&s[0]);
    close_scene(&s[1]);
}

static void products_have_the_same_bits_everywhere(void **state)
{
    static const char *const isa[] = {"any", "v3", "v4"};
    double rows[UNITS * MODE_ROW], coef[MANY][UNITS], sum[3][MANY][MODE_ROW];
    for (size_t i = 0; i < UNITS * MODE_ROW; i++) {
        rows[i] = wave(i);
    }
    for (size_t i = 0; i < MANY * UNITS; i++) {
        coef[i / UNITS][i % UNITS] = wave(3 * i);
    }
    for (size_t k = 0; k < 3; k++) {
        assert_int_equal(setenv("THERMIX_ISA", isa[k], 1), 0);
        const tmx_rows_kernel kernel = TMX_ISA_OF(tmx_rows_any, tmx_rows_v3, tmx_rows_v4);
        for (size_t i = 0; i < MANY * MODE_ROW; i++) {
            sum[k][i / MODE_ROW][i % MODE_ROW] = 0.5;
        }
        kernel(&(struct tmx_rows){rows, UNITS, MODE_ROW, 16, MANY,
                                  (const double *const[]){coef[0], coef[1], coef[2]},
                                  (double *const[]){sum[k][0], sum[k][1], sum[k][2]}});
        assert_memory_equal(sum[k], sum[0], sizeof sum[0]);
    }
    assert_int_equal(unsetenv("THERMIX_ISA"), 0);
    for (size_t i = 0; i < MANY; i++) {
        for (size_t j = 0; j < MODE_ROW; j++) {
            double expected = 0.5;
            for (size_t r = 0; j < 16 && r < UNITS; r++) {
                expected += coef[i][r] * rows[r * MODE_ROW + j];
            }
            check_close(sum[0][i][j], expected, 0, 1e-13); /* beyond the length: as it was */
        }
    }
}

TMX_TESTS(test_follow)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_tick_ends_as_predicted),
        cmocka_unit_test(fast_modes_may_be_left_out),
        cmocka_unit_test(products_have_the_same_bits_everywhere),
    };
    return cmocka_run_group_tests_name("follow", tests, NULL, NULL);
}

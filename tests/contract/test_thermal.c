/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Every thermal back-end of the table against what its claims promise (core/contract/
 * thermal_model.h). A new back-end is tested by being listed. */
#define _POSIX_C_SOURCE 200809L
#include <stdlib.h>
#include <string.h>
#include <threads.h>

#include "tests/support/allocations.h"
#include "tests/support/golden.h"

/* ---- one small chip: five units, two layers, three fan levels ---- */
enum { N_UNIT = 5, N_LEVEL = 3 };
static char names[N_UNIT][4] = {"a", "b", "c", "d", "e"};
static struct tmx_unit unit_of_chip[N_UNIT] = {{names[0], 0e-3, 0e-3, 3e-3, 4e-3, NAN, NAN, 0},
                                               {names[1], 3e-3, 0e-3, 5e-3, 4e-3, NAN, NAN, 0},
                                               {names[2], 0e-3, 4e-3, 2e-3, 6e-3, NAN, NAN, 0},
                                               {names[3], 2e-3, 4e-3, 6e-3, 2e-3, NAN, NAN, 0},
                                               {names[4], 2e-3, 6e-3, 6e-3, 4e-3, NAN, NAN, 0}};
static const struct tmx_floorplan chip = {.unit = unit_of_chip, .n_unit = N_UNIT, .source = "chip"};
static const struct tmx_layer layers[] = {
    {.floorplan = &chip,
     .lateral = true,
     .dissipates = true,
     .thickness_m = 150e-6,
     .k_w_per_mk = 130,
     .p_j_per_m3k = 1.63e6},
    {.floorplan = &chip, .lateral = true, .thickness_m = 20e-6, .k_w_per_mk = 4, .p_j_per_m3k = 4e6}};
static const double fan_levels[N_LEVEL] = {0.3, 0.15, 0.6};
static const double full_w[N_UNIT] = {6, 3, 2, 5, 9};

/* The same chip on a board: its layers are below the two above. */
static const struct tmx_layer on_board[] = {
    {.floorplan = &chip, .lateral = true, .thickness_m = 2e-3, .k_w_per_mk = 3, .p_j_per_m3k = 1.32e6},
    {.floorplan = &chip, .lateral = true, .thickness_m = 9e-4, .k_w_per_mk = 17, .p_j_per_m3k = 2.1e6},
    {.floorplan = &chip, .lateral = true, .thickness_m = 1e-3, .k_w_per_mk = 2, .p_j_per_m3k = 1.6e6},
    {.floorplan = &chip,
     .lateral = true,
     .dissipates = true,
     .thickness_m = 150e-6,
     .k_w_per_mk = 130,
     .p_j_per_m3k = 1.63e6},
    {.floorplan = &chip, .lateral = true, .thickness_m = 20e-6, .k_w_per_mk = 4, .p_j_per_m3k = 4e6}};
static const struct tmx_board board = {0.021, 0.021, 0.1, 2, 140.4, false};

static struct tmx_thermal_spec chip_spec(size_t n_level)
{
    return (struct tmx_thermal_spec){
        .layer = layers,
        .n_layer = 2,
        .package = {0.03, 1e-3, 400, 3.55e6, 0.06, 6.9e-3, 400, 3.55e6, fan_levels[0], 140.4},
        .rows = 10, /* cells of 1 mm, as units have */
        .cols = 8,
        .ambient_k = 318.15,
        .init_k = 320,
        .r_convec_levels = n_level ? fan_levels : NULL,
        .n_level = n_level};
}

/* ---- the back-ends, each with one and with three fan levels, and their other schemes ---- */
struct subject {
    bool board; /* with a secondary path */
    const char *name, *options;
    unsigned claims;
    size_t n_level;
    double exact_k;    /* how well identities of the exact solution hold */
    double rounding_k; /* of single precision */
};

typedef void check_fn(const struct subject *s);

static void with_each(unsigned claims, check_fn *check)
{
    size_t checked = 0;
    for (size_t i = 0; tmx_thermal_backends[i]; i++) {
        const struct tmx_thermal_ops *ops = tmx_thermal_backends[i];
        const bool reduced = strcmp(ops->base.name, "reduced") == 0,
                   grid = strcmp(ops->base.name, "grid") == 0;
        for (size_t n_level = 0; n_level <= N_LEVEL; n_level += N_LEVEL) {
            if (n_level > 0 && !(ops->can & TMX_THERMAL_LEVELS)) {
                continue;
            }
            struct subject s = {false, ops->base.name, "", ops->claims, n_level, reduced ? 1e-3 : 1e-7, 0};
            if ((s.claims & claims) == claims && s.claims != 0) {
                print_message("  %s, %zu fan levels\n", s.name, n_level);
                check(&s);
                checked++;
            }
            if (reduced) {
                s.options = "precision = \"mixed\";";
                s.claims = TMX_THERMAL_BALANCE;
                s.rounding_k = 1e-5;
                if ((s.claims & claims) == claims) {
                    print_message("  %s %s, %zu fan levels\n", s.name, s.options, n_level);
                    check(&s);
                    checked++;
                }
            }
            if (grid) {
                s.options = "scheme = \"be\";";
                s.claims = (s.claims & ~(unsigned)TMX_THERMAL_SEMIGROUP) | TMX_THERMAL_ORDER1;
                if ((s.claims & claims) == claims) {
                    print_message("  %s %s, %zu fan levels\n", s.name, s.options, n_level);
                    check(&s);
                    checked++;
                }
            }
        }
    }
    assert_true(checked > 0);
}

/* Cells of 1 mm / finer: small networks are factored, others not. */
static void open_finer(struct engine *e, const struct subject *s, double ambient_shift_k, size_t finer)
{
    struct tmx_thermal_spec spec = chip_spec(s->n_level);
    spec.rows *= finer;
    spec.cols *= finer;
    spec.ambient_k += ambient_shift_k;
    spec.init_k += ambient_shift_k;
    if (s->board) {
        spec.layer = on_board;
        spec.n_layer = sizeof on_board / sizeof on_board[0];
        spec.board = &board;
    }
    engine_open(e, s->name, s->options, &spec);
}

static void open_subject(struct engine *e, const struct subject *s, double ambient_shift_k)
{
    open_finer(e, s, ambient_shift_k, 1);
}

static void step(struct engine *e, double dt_s, const double *power_w, double *temp_k)
{
    assert_int_equal(e->ops->step(e->state, dt_s, power_w, temp_k), TMX_OK);
}

/* Some power that changes from step to step. */
static void wave(size_t k, double *power_w)
{
    for (size_t u = 0; u < N_UNIT; u++) {
        power_w[u] = full_w[u] * (0.5 + 0.5 * sin(1.0 + (double)(k * (u + 2))));
    }
}

static void assert_same(const double *a, const double *b, double tolerance_k)
{
    for (size_t u = 0; u < N_UNIT; u++) {
        check_close(a[u], b[u], 0, tolerance_k);
    }
}

/* ---- claims ---- */
static void check_balance(const struct subject *s)
{
    static const double dt_s[] = {1e-3, 1e-2, 0.3, 2e-4, 5};
    struct engine e;
    struct tmx_thermal_heat before, h, again;
    double power[N_UNIT], temp[N_UNIT], in_j = 0, total = 0;
    open_subject(&e, s, 0);
    e.ops->heat(e.state, &before);
    for (size_t k = 0; k < 40; k++) {
        wave(k, power);
        if (s->n_level && k % 10 == 9) {
            e.ops->set_convection(e.state, k / 10 % s->n_level);
        }
        step(&e, dt_s[k % 5], power, temp);
        for (size_t u = 0; u < N_UNIT; u++) {
            in_j += dt_s[k % 5] * power[u];
        }
    }
    e.ops->heat(e.state, &h);
    check_close(h.stored_j - before.stored_j + h.to_ambient_j - before.to_ambient_j, in_j, 1e-9, 0);
    step(&e, 1e-5, power, temp); /* what leaves in a moment is the rate now */
    e.ops->heat(e.state, &again);
    check_close((again.to_ambient_j - h.to_ambient_j) / 1e-5, h.to_ambient_w, 1e-4, 0);
    assert_int_equal(e.ops->steady(e.state, full_w, true, temp), TMX_OK); /* all that enters leaves */
    e.ops->heat(e.state, &h);
    for (size_t u = 0; u < N_UNIT; u++) {
        total += full_w[u];
    }
    check_close(h.to_ambient_w, total, 1e-9, 0);
    engine_close(&e);
}

static void check_linear(const struct subject *s)
{
    struct engine e[3], warm;
    double p[3][N_UNIT], t[3][N_UNIT], shifted[N_UNIT], ambient = 318.15;
    for (size_t i = 0; i < 3; i++) {
        open_subject(&e[i], s, 0);
    }
    open_subject(&warm, s, 12.5);
    for (size_t k = 0; k < 10; k++) {
        wave(k, p[0]);
        wave(k + 100, p[1]);
        for (size_t u = 0; u < N_UNIT; u++) {
            p[2][u] = 0.25 * p[0][u] + 0.75 * p[1][u]; /* weights of sum 1 also mix the start states */
        }
        for (size_t i = 0; i < 3; i++) {
            step(&e[i], 5e-3, p[i], t[i]);
        }
        step(&warm, 5e-3, p[0], shifted);
    }
    for (size_t u = 0; u < N_UNIT; u++) {
        check_close(t[2][u] - ambient, 0.25 * (t[0][u] - ambient) + 0.75 * (t[1][u] - ambient), 1e-9, 1e-9);
        check_close(shifted[u] - 12.5, t[0][u], 0, 1e-9);
    }
    for (size_t i = 0; i < 3; i++) {
        engine_close(&e[i]);
    }
    engine_close(&warm);
}

static void check_reciprocal(const struct subject *s)
{
    double rise[2][N_UNIT][N_UNIT]; /* after 10 ms, and in the end */
    for (size_t u = 0; u < N_UNIT; u++) {
        struct engine e, still;
        double power[N_UNIT] = {0}, rest[N_UNIT];
        power[u] = 10;
        open_subject(&e, s, 0);
        open_subject(&still, s, 0);
        step(&still, 0.01, (double[N_UNIT]){0}, rest);
        engine_close(&still);
        step(&e, 0.01, power, rise[0][u]);
        for (size_t v = 0; v < N_UNIT; v++) {
            rise[0][u][v] -= rest[v];
        }
        assert_int_equal(e.ops->steady(e.state, power, false, rise[1][u]), TMX_OK);
        engine_close(&e);
    }
    const size_t n = N_UNIT;
    for (size_t i = 0; i < 2 * n * n; i++) {
        const size_t u = i / n % n, v = i % n, when = i / (n * n);
        check_close(rise[when][u][v], rise[when][v][u], 0, 1e-9);
    }
}

/* Also in steps by whose end nearly all has decayed, where heat moves and its sum stays, so that there is
 * little of the slowest. */
static void check_semigroup(const struct subject *s)
{
    static const double step_s[] = {0.02, 100};
    for (size_t i = 0; i < sizeof step_s / sizeof *step_s; i++) {
        struct engine a, b;
        double power[N_UNIT], ta[N_UNIT], tb[N_UNIT];
        const size_t finer = i > 0 ? 3 / TMX_EVERY : 1;
        open_finer(&a, s, 0, finer);
        open_finer(&b, s, 0, finer);
        for (size_t k = 0; k < 8 / TMX_EVERY; k++) {
            wave(k, power);
            for (size_t u = 0; u < N_UNIT && i > 0; u++) {
                power[u] = k == 5 ? 50.0 / N_UNIT : u == k % N_UNIT ? 50 - 1e-3 * (k == 3) : 0;
            }
            step(&a, step_s[i], power, ta);
            for (size_t j = 0; j < 10; j++) {
                step(&b, step_s[i] / 10, power, tb);
            }
            assert_same(ta, tb, 1e-8);
        }
        engine_close(&a);
        engine_close(&b);
    }
}

static double error_at(const struct subject *s, double dt_s, const double *exact)
{
    struct engine e;
    double t[N_UNIT] = {0}, worst = 0;
    open_subject(&e, s, 0);
    for (size_t k = 0; k < (size_t)(0.64 / dt_s + 0.5); k++) {
        step(&e, dt_s, full_w, t);
    }
    for (size_t u = 0; u < N_UNIT; u++) {
        worst = fmax(worst, fabs(t[u] - exact[u]));
    }
    engine_close(&e);
    return worst;
}

static void check_first_order(const struct subject *s)
{
    struct subject reference = *s;
    struct engine e;
    double exact[N_UNIT];
    reference.options = "scheme = \"exact\";";
    open_subject(&e, &reference, 0);
    step(&e, 0.64, full_w, exact);
    engine_close(&e);
    const double coarse = error_at(s, 0.02, exact), fine = error_at(s, 0.01, exact);
    check_close(coarse / fine, 2, 0, 0.15);
}

static void monotone_within(const struct subject *s, double tolerance_k)
{
    for (size_t hot = 0; hot < N_UNIT; hot++) {
        struct engine a, b;
        double power[N_UNIT], ta[N_UNIT], tb[N_UNIT];
        open_subject(&a, s, 0);
        open_subject(&b, s, 0);
        for (size_t k = 0; k < 6; k++) {
            wave(k, power);
            step(&a, 1e-3, power, ta);
            power[hot] += 20;
            step(&b, 1e-3, power, tb);
            for (size_t u = 0; u < N_UNIT; u++) {
                assert_true(tb[u] >= ta[u] - tolerance_k);
            }
        }
        engine_close(&a);
        engine_close(&b);
    }
}

static void check_monotone(const struct subject *s)
{
    monotone_within(s, 1e-8);
}

static void check_monotone_to_tolerance(const struct subject *s)
{
    monotone_within(s, s->exact_k);
}

/* ---- what every back-end must do ---- */
static void check_steady(const struct subject *s)
{
    struct engine e;
    double still[N_UNIT], t[N_UNIT], now[N_UNIT];
    open_subject(&e, s, 0);
    assert_int_equal(e.ops->steady(e.state, full_w, false, still), TMX_OK);
    e.ops->read(e.state, now);
    for (size_t u = 0; u < N_UNIT; u++) {
        check_close(now[u], 320, 0, s->exact_k); /* not moved */
    }
    for (size_t k = 0; k < 3; k++) { /* backward Euler needs a few */
        step(&e, 1e6, full_w, t);
    }
    assert_same(t, still, 1e-6 + s->rounding_k);
    assert_int_equal(e.ops->steady(e.state, full_w, true, t), TMX_OK);
    assert_memory_equal(t, still, sizeof t);
    step(&e, 0.01, full_w, t);
    assert_same(t, still, 1e-7 + s->rounding_k);
    engine_close(&e);
}

static void check_save(const struct subject *s)
{
    struct engine e;
    double power[N_UNIT], first[8][N_UNIT], again[N_UNIT];
    struct tmx_thermal_heat h[2];
    void *other = NULL;
    open_subject(&e, s, 0);
    char *buf = calloc(1, tmx_image_size(e.ops->image, e.state));
    assert_non_null(buf);
    if (s->n_level) {
        e.ops->set_convection(e.state, 1);
    }
    for (size_t k = 0; k < 8; k++) {
        wave(k, power);
        if (k == 4) {
            tmx_image_save(e.ops->image, e.state, buf);
        }
        step(&e, k % 3 ? 1e-3 : 4e-3, power, first[k]);
    }
    if (e.ops->heat) {
        e.ops->heat(e.state, &h[0]);
    }
    assert_int_equal(e.ops->create(e.model, &other, NULL), TMX_OK);
    tmx_image_restore(e.ops->image, other, buf);
    e.ops->read(other, again);
    assert_memory_equal(again, first[3], sizeof again);
    for (size_t k = 4; k < 8; k++) {
        wave(k, power);
        assert_int_equal(e.ops->step(other, k % 3 ? 1e-3 : 4e-3, power, again), TMX_OK);
        assert_memory_equal(again, first[k], sizeof again);
    }
    if (e.ops->heat) {
        e.ops->heat(other, &h[1]);
        assert_memory_equal(&h[0], &h[1], sizeof h[0]);
    }
    e.ops->destroy(other);
    free(buf);
    engine_close(&e);
}

static void check_predict(const struct subject *s)
{
    struct engine e;
    double power[N_UNIT], now[N_UNIT], ahead[N_UNIT], t[N_UNIT];
    open_subject(&e, s, 0);
    for (size_t k = 0; k < 4 && e.ops->predict; k++) {
        wave(k, power);
        step(&e, 2e-3, power, now);
        if (s->n_level) {
            e.ops->set_convection(e.state, k % s->n_level);
            e.ops->read(e.state, now);
        }
        wave(k + 1, power);
        assert_int_equal(e.ops->predict(e.state, 2e-3, power, ahead), TMX_OK);
        e.ops->read(e.state, t);
        assert_memory_equal(t, now, sizeof t);
        step(&e, 2e-3, power, t);
        assert_memory_equal(t, ahead, sizeof t);
    }
    engine_close(&e);
}

/* At a fan level the instance is the chip with that convection alone. */
static void check_convection(const struct subject *s)
{
    if (!s->n_level) {
        return;
    }
    for (size_t level = 0; level < s->n_level; level++) {
        struct engine e, alone;
        struct subject one = *s;
        struct tmx_thermal_spec spec = chip_spec(0);
        double t[N_UNIT] = {0}, want[N_UNIT] = {0}, before[N_UNIT] = {0};
        spec.package.r_convec_k_per_w = fan_levels[level];
        open_subject(&e, s, 0);
        engine_open(&alone, one.name, one.options, &spec);
        step(&e, 0.05, full_w, before);
        e.ops->set_convection(e.state, level);
        e.ops->read(e.state, t);
        assert_same(t, before, 1e-8 + s->rounding_k); /* temperatures do not jump */
        assert_int_equal(e.ops->steady(e.state, full_w, false, t), TMX_OK);
        assert_int_equal(alone.ops->steady(alone.state, full_w, false, want), TMX_OK);
        assert_same(t, want, 0.1 * s->exact_k);
        step(&e, 3, full_w, t);
        assert_true(fabs(t[0] - before[0]) > 0.1); /* and then they go on */
        engine_close(&e);
        engine_close(&alone);
    }
}

static void check_ambient(const struct subject *s)
{
    struct engine e, warm;
    double t[N_UNIT], before[N_UNIT], want[N_UNIT];
    open_subject(&e, s, 0);
    if (!e.ops->set_ambient) {
        engine_close(&e);
        return;
    }
    open_subject(&warm, s, 7);
    step(&e, 0.05, full_w, before);
    e.ops->set_ambient(e.state, 318.15 + 7);
    e.ops->read(e.state, t);
    assert_same(t, before, 1e-8 + s->rounding_k);
    assert_int_equal(e.ops->steady(e.state, full_w, false, t), TMX_OK);
    assert_int_equal(warm.ops->steady(warm.state, full_w, false, want), TMX_OK);
    assert_same(t, want, 1e-8);
    step(&e, 1e-3, full_w, t);
    assert_same(t, before, 3); /* the chip feels it through the sink only */
    engine_close(&e);
    engine_close(&warm);
}

static void check_field(const struct subject *s)
{
    struct engine e;
    const struct tmx_thermal_spec spec = chip_spec(0);
    struct tmx_gridmap map;
    double cell[10 * 8], t[N_UNIT], mean[N_UNIT];
    open_subject(&e, s, 0);
    if (e.ops->field) {
        assert_int_equal(tmx_gridmap_init(&map, &chip, 8e-3, 10e-3, spec.rows, spec.cols, NULL, NULL),
                         TMX_OK);
        for (size_t k = 0; k < 3; k++) {
            step(&e, 0.02, full_w, t);
            assert_int_equal(e.ops->field(e.state, 0, cell), TMX_OK);
            tmx_gridmap_read(&map, TMX_MAP_AREA, cell, mean);
            assert_same(t, mean, s->exact_k);
        }
        tmx_gridmap_finish(&map);
    }
    engine_close(&e);
}

static void check_no_allocation(const struct subject *s)
{
    struct engine e;
    double t[N_UNIT];
    open_subject(&e, s, 0);
    assert_int_equal(tmx_thermal_prepare(e.ops, e.model, 1e-3, NULL), TMX_OK);
    step(&e, 1e-3, full_w, t);
    const size_t before = allocations;
    for (size_t k = 0; k < 5; k++) {
        step(&e, 1e-3, full_w, t);
    }
    if (s->n_level) {
        e.ops->set_convection(e.state, 2);
    }
    step(&e, 1e-3, full_w, t);
    assert_int_equal(allocations, before);
    engine_close(&e);
}

static void check_not_finite(const struct subject *s)
{
    struct engine e;
    double power[N_UNIT] = {1, 1, INFINITY, 1, 1}, t[N_UNIT];
    open_subject(&e, s, 0);
    assert_int_equal(e.ops->step(e.state, 1e-3, power, t), TMX_ESOLVE);
    engine_close(&e);
}

struct work {
    struct engine *e;
    void *state;
    double t[N_UNIT];
};

static int run_alone(void *arg)
{
    struct work *w = arg;
    double power[N_UNIT];
    for (size_t k = 0; k < 20; k++) {
        wave(k, power);
        if (w->e->ops->step(w->state, k % 2 ? 1e-3 : 3e-3, power, w->t) != TMX_OK) {
            return 1;
        }
    }
    return 0;
}

static void check_threads(const struct subject *s)
{
    struct engine e;
    struct work work[3];
    thrd_t thread[3];
    open_subject(&e, s, 0);
    for (size_t i = 0; i < 3; i++) {
        work[i] = (struct work){.e = &e};
        assert_int_equal(e.ops->create(e.model, &work[i].state, NULL), TMX_OK);
    }
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(thrd_create(&thread[i], run_alone, &work[i]), thrd_success);
    }
    for (size_t i = 0; i < 3; i++) {
        int failed = 1;
        thrd_join(thread[i], &failed);
        assert_int_equal(failed, 0);
        assert_memory_equal(work[i].t, work[0].t, sizeof work[i].t);
        e.ops->destroy(work[i].state);
    }
    engine_close(&e);
}

/* Many instances at several fan levels, one of them with infinite power, on every kind of processor that this
 * one can be: the bits of single steps, and whose step failed. */
static void check_batch(const struct subject *s)
{
    enum { N = 21, SICK = 17 };
    static const char *const isa[] = {"any", "v3", "v4"};
    struct engine e;
    double power[N][N_UNIT], sync_job[N][N_UNIT], alone[N][N_UNIT], before[N][N_UNIT];
    for (size_t k = 0; k < 3; k++) {
        assert_int_equal(setenv("THERMIX_ISA", isa[k], 1), 0);
        open_subject(&e, s, 0);
        if (!e.ops->step_many) {
            engine_close(&e);
            break;
        }
        void *one[N], *many[N];
        const double *power_w[N];
        double *temp_k[N];
        size_t bad = N;
        for (size_t i = 0; i < N; i++) {
            assert_int_equal(e.ops->create(e.model, &one[i], NULL), TMX_OK);
            assert_int_equal(e.ops->create(e.model, &many[i], NULL), TMX_OK);
            if (s->n_level) {
                e.ops->set_convection(one[i], i / 6 % N_LEVEL);
                e.ops->set_convection(many[i], i / 6 % N_LEVEL);
            }
            power_w[i] = power[i];
            temp_k[i] = sync_job[i];
        }
        for (size_t t = 0; t < 4; t++) {
            for (size_t i = 0; i < N; i++) {
                wave(t * N + i, power[i]);
                power[i][2] = t == 3 && i == SICK ? INFINITY : power[i][2];
                assert_int_equal(e.ops->step(one[i], 1e-3, power[i], alone[i]),
                                 power[i][2] < 1e9 ? TMX_OK : TMX_ESOLVE);
            }
            assert_int_equal(e.ops->step_many(N, many, 1e-3, power_w, temp_k, &bad),
                             t == 3 ? TMX_ESOLVE : TMX_OK);
            for (size_t i = 0; i < N; i++) {
                if (t < 3 || i != SICK) {
                    assert_memory_equal(sync_job[i], alone[i], sizeof sync_job[i]);
                }
            }
            if (t == 2 && k > 0) {
                assert_memory_equal(sync_job, before,
                                    sizeof sync_job); /* the same bits on every kind of processor */
            }
            if (t == 2) {
                memcpy(before, sync_job, sizeof sync_job);
            }
        }
        assert_int_equal(bad, SICK);
        for (size_t i = 0; i < N; i++) {
            e.ops->destroy(one[i]);
            e.ops->destroy(many[i]);
        }
        engine_close(&e);
    }
    unsetenv("THERMIX_ISA");
}

#define CONTRACT(name, claims, check) \
    static void name(void **state)    \
    {                                 \
        with_each((claims), (check)); \
    }
static void heat_through_the_board_is_counted(void **state)
{
    static const struct subject subjects[] = {{true, "grid", "", 0, 0, 1e-7, 0},
                                              {true, "reduced", "", 0, 0, 1e-3, 0},
                                              {true, "reduced", "", 0, N_LEVEL, 1e-3, 0}};
    for (size_t i = 0; i < sizeof subjects / sizeof subjects[0]; i++) {
        check_balance(&subjects[i]);
    }
}

CONTRACT(heat_in_is_heat_stored_plus_heat_to_ambient, TMX_THERMAL_BALANCE, check_balance)
CONTRACT(responses_add_up_and_shift_with_ambient, TMX_THERMAL_LINEAR, check_linear)
CONTRACT(heat_flows_alike_both_ways, TMX_THERMAL_RECIPROCAL, check_reciprocal)
CONTRACT(one_step_is_ten_of_a_tenth, TMX_THERMAL_SEMIGROUP, check_semigroup)
CONTRACT(backward_euler_is_of_first_order, TMX_THERMAL_ORDER1, check_first_order)
CONTRACT(more_power_cools_nothing, TMX_THERMAL_MONOTONE, check_monotone)
CONTRACT(more_power_cools_nothing_beyond_the_tolerance, 0, check_monotone_to_tolerance)
CONTRACT(a_long_step_ends_in_the_steady_state, 0, check_steady)
CONTRACT(a_restored_run_continues_bit_by_bit, 0, check_save)
CONTRACT(a_prediction_is_the_step_that_follows, 0, check_predict)
CONTRACT(a_fan_level_is_the_chip_with_that_convection, 0, check_convection)
CONTRACT(a_new_ambient_changes_the_end_and_not_the_present, 0, check_ambient)
CONTRACT(the_heat_map_agrees_with_the_units, 0, check_field)
CONTRACT(a_step_allocates_nothing, 0, check_no_allocation)
CONTRACT(an_infinite_power_is_noticed, 0, check_not_finite)
CONTRACT(instances_in_threads_do_not_meet, 0, check_threads)
CONTRACT(a_batch_steps_as_each_alone, 0, check_batch)

TMX_TESTS(test_thermal)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(heat_in_is_heat_stored_plus_heat_to_ambient),
        cmocka_unit_test(heat_through_the_board_is_counted),
        cmocka_unit_test(responses_add_up_and_shift_with_ambient),
        cmocka_unit_test(heat_flows_alike_both_ways),
        cmocka_unit_test(one_step_is_ten_of_a_tenth),
        cmocka_unit_test(backward_euler_is_of_first_order),
        cmocka_unit_test(more_power_cools_nothing),
        cmocka_unit_test(more_power_cools_nothing_beyond_the_tolerance),
        cmocka_unit_test(a_long_step_ends_in_the_steady_state),
        cmocka_unit_test(a_restored_run_continues_bit_by_bit),
        cmocka_unit_test(a_prediction_is_the_step_that_follows),
        cmocka_unit_test(a_fan_level_is_the_chip_with_that_convection),
        cmocka_unit_test(a_new_ambient_changes_the_end_and_not_the_present),
        cmocka_unit_test(the_heat_map_agrees_with_the_units),
        cmocka_unit_test(a_step_allocates_nothing),
        cmocka_unit_test(an_infinite_power_is_noticed),
        cmocka_unit_test(instances_in_threads_do_not_meet),
        cmocka_unit_test(a_batch_steps_as_each_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

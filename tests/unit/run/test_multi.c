/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Several GPUs end to end, small grids and long ticks: independence, chassis energy, fans. */
#define _POSIX_C_SOURCE 200809L /* barriers */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/config.h"
#include "run/summary.h"
#include "tests/support/open_run.h"
#include "tests/support/scratch.h"

enum { MAX_UNIT = 64 };

#define COMMON                                                                                        \
    "seed = 1; tick_s = 0.05; sensor = { period_s = 0.05; }; rows = 8; cols = 8; stuck_s = 5000.0;\n" \
    "policy = \"MG-BL\"; thermal = { };\n"

#define CARD(n) "{ name = \"c" n "\"; fit_a_k_per_w = 0.05; fit_b_k_per_w = 111.0; }"
#define FAN(n)                                                                                   \
    "{ name = \"f" n "\"; card = \"c" n "\"; min_rpm = 400.0; max_rpm = 2700.0; power_w = 5.5; " \
    "flow_m3_per_s = 0.009; curve = ( { temp_c = 40.0; speed = 0.3; }, { temp_c = 90.0; speed = 1.0; } ); }"
#define GPU(n) "{ name = \"g" n "\"; chip = \"gtx280\"; card = \"c" n "\"; }"

static const char one[] =
    "name = \"one\"; cards = ( " CARD("0") " ); fans = ( " FAN("0") " ); gpus = ( " GPU("0") " );";
static const char three[] =
    "name = \"three\"; cards = ( " CARD("0") ", " CARD("1") ", " CARD("2") " ); fans = ( " FAN("0") ", " FAN(
        "1") ", " FAN("2") " ); gpus = ( " GPU("0") ", " GPU("1") ", " GPU("2") " );";
static const char row[] =
    "name = \"row\"; cards = ( " CARD("0") ", " CARD("1") ", " CARD("2") " ); fans = ( " FAN("0") ", " FAN(
        "1") ", " FAN("2") " ); gpus = ( " GPU("0") ", " GPU("1") ", " GPU("2") " );\n"
                                                                                "air = ( { from = \"g0\"; to "
                                                                                "= \"g1\"; fraction = 0.6; "
                                                                                "}, { from = \"g1\"; to = "
                                                                                "\"g2\"; fraction = 0.8; } "
                                                                                ");";

/* A mix of one kernel a GPU. */
static const char *mix(const char *name, const char *a, const char *b, const char *c, double work_s)
{
    const char *kernel[] = {a, b, c};
    char text[512];
    int n = snprintf(text, sizeof text, "name = \"m\"; kernels = (");
    for (size_t i = 0; i < 3 && kernel[i]; i++) {
        n += snprintf(text + n, sizeof text - (size_t)n, "%s { kernel = \"%s\"; work_s = %g; }", i ? "," : "",
                      kernel[i], work_s);
    }
    snprintf(text + n, sizeof text - (size_t)n, " );");
    return scratch_write(name, text);
}

static struct tmx_run *open_node(const char *topology, const char *mix_file, const char *more)
{
    return open_run(COMMON "topology = \"%s\"; mix = \"%s\";\n%s\n", topology, mix_file, more);
}

static const double *temps(struct tmx_run *run, size_t gpu)
{
    const struct tmx_sim *s = tmx_run_sim(run);
    return &s->frame.temp_k[s->machine->gpu[gpu].unit0];
}

static size_t units(struct tmx_run *run)
{
    return tmx_run_sim(run)->machine->gpu[0].chip->floorplan.n_unit;
}

/* Policies and fans of all kinds: what happens on one GPU does not show on another. */
static void independent_gpus_run_as_if_alone(void **state)
{
    static const char *const fans[] = {"fan = { policy = \"fixed\"; };", "fan = { policy = \"curve\"; };",
                                       "fan = { policy = \"pi\"; target_c = 70.0; };"};
    const char *a = scratch_write("one.cfg", one), *b = scratch_write("three.cfg", three);
    const char *alone = mix("svm.cfg", "SVM", NULL, NULL, 60),
               *with = mix("scs.cfg", "SVM", "Cmem", "SVM", 60);
    for (size_t f = 0; f < 3; f++) {
        struct tmx_run *x = open_node(a, alone, fans[f]), *y = open_node(b, with, fans[f]);
        const size_t bytes = units(x) * sizeof(double);
        for (size_t t = 0; t < 40; t++) {
            ticks(x, 20);
            ticks(y, 20);
            assert_memory_equal(temps(x, 0), temps(y, 0), bytes);
            assert_memory_equal(temps(x, 0), temps(y, 2), bytes);
            assert_memory_not_equal(temps(x, 0), temps(y, 1), bytes);
        }
        tmx_run_destroy(x);
        tmx_run_destroy(y);
    }
}

static void air_couples_downstream_only(void **state)
{
    const char *a = scratch_write("three.cfg", three), *b = scratch_write("row.cfg", row);
    const char *m = mix("scs.cfg", "SVM", "Cmem", "SVM", 60);
    const char *more =
        "throttle = { trip_c = 150.0; release_c = 140.0; };"; /* else all are as hot as it lets them */
    struct tmx_run *x = open_node(a, m, more), *y = open_node(b, m, more);
    ticks(x, 600);
    ticks(y, 600);
    assert_memory_equal(temps(x, 0), temps(y, 0), units(x) * sizeof(double));
    assert_true(temps(y, 1)[0] > temps(x, 1)[0] + 1);
    assert_true(temps(y, 2)[0] > temps(x, 2)[0] + 1);
    assert_true((tmx_run_sim(y)->cooling)->inlet_k[2] > (tmx_run_sim(y)->cooling)->inlet_k[1]);
    tmx_run_destroy(x);
    tmx_run_destroy(y);
}

static double gpu_power_w(struct tmx_run *run, size_t gpu)
{
    const struct tmx_sim *s = tmx_run_sim(run);
    const double *w = &s->frame.power_w[s->machine->gpu[gpu].unit0];
    double sum = 0;
    for (size_t u = 0; u < units(run); u++) {
        sum += w[u];
    }
    return sum;
}

/* Electrical energy of chips and fans against the enthalpy of the air that left: once the chassis
 * is warm nothing is stored any more, whatever the air's way through it. Over 10 s, J. */
static void what_goes_in_leaves_with_the_air(void **state)
{
    struct tmx_run *r =
        open_node(scratch_write("row.cfg", row), mix("mmm.cfg", "Sepia", "Cmem", "Bs", 2000),
                  "fan = { speed = 0.8; }; throttle = { trip_c = 150.0; release_c = 140.0; };");
    ticks(r,
          30000); /* 1500 s, many time constants of the sinks; no throttling, which would keep on swinging */
    const double in_j = metric(r, "energy_j") + metric(r, "fan_energy_j"), out_j = metric(r, "exhaust_j");
    ticks(r, 200);
    const double d_in_j = metric(r, "energy_j") + metric(r, "fan_energy_j") - in_j;
    check_close(metric(r, "exhaust_j") - out_j, d_in_j, 1e-9, 0);
    assert_true(d_in_j > 1000);
    assert_true(in_j > out_j); /* the difference warmed the sinks */
    /* inlets by hand: what the GPUs before take up, fans included, over the heat capacity of the flow */
    const double fan_w = 5.5 * 0.8 * 0.8 * 0.8, flow = 1e-3 + 0.8 * 0.009, rho_c = 1.059 * 1007;
    const double out0_w = gpu_power_w(r, 0) + fan_w, out1_w = 0.6 * out0_w + gpu_power_w(r, 1) + fan_w;
    const struct tmx_cooling *c = tmx_run_sim(r)->cooling;
    check_close(c->inlet_k[0], 317.75, 1e-12, 0);
    check_close(c->inlet_k[1] - 317.75, 0.6 * out0_w / (rho_c * flow), 1e-7, 0);
    check_close(c->inlet_k[2] - 317.75, 0.8 * out1_w / (rho_c * flow), 1e-7, 0);
    tmx_run_destroy(r);
}

static double settled_c(const char *more, const char *kernel)
{
    struct tmx_run *r =
        open_node(scratch_write("one.cfg", one), mix("k.cfg", kernel, NULL, NULL, 2000), more);
    ticks(r, 3000);
    const double t = temps(r, 0)[0] - 273.15;
    tmx_run_destroy(r);
    return t;
}

static void a_faster_fan_cools_and_a_stopped_one_heats(void **state)
{
    /* without a throttle, which stops the chip at the same temperature under any fan */
    static const char no_throttle[] = "leakage = false; throttle = { trip_c = 150.0; release_c = 140.0; };";
    static const double speeds[] = {1.0, 0.5, 0.2, 0.0};
    double settled[4];
    for (size_t i = 0; i < 4; i++) {
        char more[160];
        snprintf(more, sizeof more, "fan = { speed = %.1f; }; %s", speeds[i], no_throttle);
        settled[i] = settled_c(more, "Sepia");
    }
    const double full = settled[0], half = settled[1], slow = settled[2], still = settled[3];
    assert_true(full < half && half < slow && slow < still);
}

static void without_leakage_the_ambient_shifts_all_temperatures(void **state)
{
    const double cold = settled_c("leakage = false; package = { ambient = 298.15; init_temp = 298.15; };",
                                  "Sepia"),
                 warm = settled_c("leakage = false; package = { ambient = 308.15; init_temp = 308.15; };",
                                  "Sepia");
    check_close(warm - cold, 10, 0, 1e-6);
}

static void a_dead_fan_throttles_and_the_work_still_ends(void **state)
{
    struct tmx_err err = {0};
    const char *a = scratch_write("one.cfg", one), *m = mix("conv.cfg", "Dmadd", NULL, NULL, 120);
    /* less leakage than the chip's: that alone holds it above the release point behind a dead fan */
    struct tmx_run *good = open_node(a, m, "warmup_s = 20.0; chip_power = { leakage_w = 24.0; };"),
                   *dead = open_node(
                       a, m,
                       "warmup_s = 20.0; chip_power = { leakage_w = 24.0; }; fan_failures = ( { fan "
                       "= \"f0\"; at_s = 30.0; } );");
    assert_int_equal(tmx_run_execute(good, NULL, &err), TMX_OK);
    if (tmx_run_execute(dead, NULL, &err)) {
        fail_msg("%s", err.msg);
    }
    assert_true(metric(good, "throttled_s") <= 0);
    assert_true(metric(dead, "throttled_s") > 10);
    assert_true(metric(dead, "peak_temp_c") < 95);
    assert_true(metric(dead, "makespan_s") > metric(good, "makespan_s") + 10);
    assert_true(metric(dead, "mean_rpm") < metric(good, "mean_rpm") / 2);
    check_close(metric(dead, "fan_energy_j"), 5.5 * 30, 1e-9, 0);
    tmx_run_destroy(good);
    tmx_run_destroy(dead);
}

/* Section 3.2: one kernel a chip leaves one chip hot, and the fan follows it. */
static void spreading_the_heat_slows_the_shared_fan(void **state)
{
    struct tmx_err err = {0};
    char path[512];
    snprintf(path, sizeof path, "%s/systems/gtx280x2.cfg", TMX_SOURCE_DIR);
    const char *m = mix("sc.cfg", "SVM", "Cmem", NULL, 40);
    struct tmx_run *bl = open_node(path, m, "fan = { policy = \"curve\"; }; warmup_s = 40.0;"),
                   *mu = open_node(path, m,
                                   "fan = { policy = \"curve\"; }; warmup_s = 40.0; "
                                   "place = { policy = \"spread\"; }; "
                                   "mix_policy = { policy = \"mixed_uniform\"; };");
    assert_int_equal(tmx_run_execute(bl, NULL, &err), TMX_OK);
    assert_int_equal(tmx_run_execute(mu, NULL, &err), TMX_OK);
    assert_true(metric(mu, "mean_rpm") < metric(bl, "mean_rpm"));
    assert_true(metric(mu, "fan_energy_j") < 0.9 * metric(bl, "fan_energy_j"));
    assert_true(metric(mu, "slowdown_pct") < metric(bl, "slowdown_pct"));
    tmx_run_destroy(bl);
    tmx_run_destroy(mu);
}

static double *put(double *to, const double *from, size_t n)
{
    memcpy(to, from, n * sizeof *to);
    return to + n;
}

/* What a run is made of, without addresses: [5 n_unit + (2 + TMX_SLOTS) n_sm + 3 n_job + 2]. */
static void gather(struct tmx_run *run, double *to)
{
    const struct tmx_machine *m = tmx_run_sim(run)->machine;
    const struct tmx_recorder *r = tmx_run_sim(run)->recorder;
    const struct tmx_frame *f = &tmx_run_sim(run)->frame;
    to = put(to, f->temp_k, m->n_unit);
    to = put(to, f->power_w, m->n_unit);
    to = put(to, r->dynamic_j, m->n_unit);
    to = put(to, r->leakage_j, m->n_unit);
    to = put(to, r->sum_k, m->n_unit);
    to = put(to, f->sensed_k, m->n_sm);
    to = put(to, m->held, TMX_SLOTS * m->n_sm);
    to = put(to, m->drain_s, m->n_sm);
    for (size_t j = 0; j < m->n_job; j++) {
        *to++ = m->job[j].done_sm_s;
        *to++ = m->job[j].finished_s;
        *to++ = r->job_j[j];
    }
    *to++ = r->total_j;
    *to = r->gradient_k;
}

/* Cards of two GPUs with a fan. */
static const char pairs[] =
    "name = \"pairs\"; cards = ( { name = \"c\"; count = 17; } ); link = \"T\"; "
    "links = ( { name = \"T\"; bandwidth_gb_per_s = 12.0; latency_us = 1.2; } );\n"
    "gpus = ( { name = \"g\"; chip = \"gtx280\"; card = \"c\"; count = 2; } );\n"
    "fans = ( { name = \"f\"; card = \"c\"; min_rpm = 400.0; max_rpm = 2700.0; power_w = 5.5; "
    "flow_m3_per_s = 0.009; curve = ( { temp_c = 40.0; speed = 0.3; }, { temp_c = 90.0; speed = 1.0; } "
    "); } );";

/* Tiles end inside cards whose two GPUs have jobs in common; fans, noisy sensors, jobs that end and wait. */
static void threads_change_no_byte(void **state)
{
    static const char *const more[] = {
        "policy = \"MG-MU\"; place = { policy = \"spread\"; emergency_c = 46.0; };",
        "policy = \"MG-BL\"; sensor = { period_s = 0.05; noise_k = 0.5; };"};
    char work[4096] = "name = \"m\"; kernels = (";
    for (size_t i = 0; i < 17; i++) { /* two unlike kernels a card */
        const size_t n = strlen(work);
        snprintf(work + n, sizeof work - n,
                 "%s { kernel = \"SVM\"; work_s = 3.0; }, { kernel = \"Cmem\"; work_s = 20.0; }",
                 i ? "," : "");
    }
    snprintf(work + strlen(work), sizeof work - strlen(work), " );");
    const char *topology = scratch_write("pairs.cfg", pairs),
               *mix_file = scratch_write("pairs_mix.cfg", work);
    for (size_t i = 0; i < sizeof more / sizeof more[0]; i++) {
        double *want = NULL, *got = NULL;
        for (size_t n = 1; n <= 4; n++) {
            char text[2048];
            struct tmx_err err = {0};
            struct tmx_run *run = NULL;
            struct tmx_config *cfg = NULL;
            snprintf(text, sizeof text,
                     "seed = 1; tick_s = 0.05; rows = 8; cols = 8; fan = { policy = \"curve\"; }; %s%s\n"
                     "topology = \"%s\"; mix = \"%s\"; threads = %zu;\n",
                     i == 0 ? "sensor = { period_s = 0.05; }; " : "", more[i], topology, mix_file, n);
            assert_int_equal(tmx_config_parse(&cfg, text, "test", &err), TMX_OK);
            if (tmx_run_create(&run, tmx_config_root(cfg), NULL, &err)) {
                fail_msg("%s:%u: %s", err.file, err.line, err.msg);
            }
            tmx_config_close(cfg);
            ticks(run, 100);
            const struct tmx_machine *m = tmx_run_sim(run)->machine;
            size_t n_spread = 0;
            for (size_t j = 0; j < m->n_job; j++) {
                n_spread += m->job[j].n_gpu > 1;
            }
            if (m->n_done == 0 || m->n_done == m->n_job || (i == 0 && n_spread == 0)) {
                fail_msg("%zu of %zu jobs done, %zu on two GPUs", m->n_done, m->n_job, n_spread);
            }
            const size_t size = 5 * m->n_unit + (2 + TMX_SLOTS) * m->n_sm + 3 * m->n_job + 2;
            got = calloc(size, sizeof *got);
            assert_non_null(got);
            gather(run, got);
            if (want) {
                assert_memory_equal(want, got, size * sizeof *got);
                free(got);
            } else {
                want = got;
            }
            tmx_run_destroy(run);
        }
        free(want);
    }
}

/* All that a run is made of and measures, at its tick. */
static void same_runs(struct tmx_run *a, struct tmx_run *b)
{
    const struct tmx_machine *m = tmx_run_sim(a)->machine;
    const size_t size = 5 * m->n_unit + (2 + TMX_SLOTS) * m->n_sm + 3 * m->n_job + 2;
    double *want = calloc(size, sizeof *want), *got = calloc(size, sizeof *got);
    assert_true(want && got);
    gather(a, want);
    gather(b, got);
    assert_memory_equal(want, got, size * sizeof *got);
    assert_int_equal(m->n_arrived, tmx_run_sim(b)->machine->n_arrived);
    for (const struct tmx_metric *t = tmx_metrics; t->name; t++) {
        const double x = tmx_run_metric(a, t), y = tmx_run_metric(b, t);
        if (memcmp(&x, &y, sizeof x) != 0) {
            fail_msg("%s: %.17g tick by tick, %.17g in steps", t->name, x, y);
        }
    }
    free(want);
    free(got);
}

/* Steps of several ticks, between scheduling ticks, fans and the end of the warm-up: throttles that trip
 * within them, policies that look at samples, arrivals, jobs that end, kernels that take turns, the last
 * tick. */
static void ticks_in_a_row_change_no_byte(void **state)
{
    static const char *const more[] = {
        ("policy = \"MG-BL\"; warmup_s = 0.23; fan_period_s = 0.07; sensor = { period_s = 0.01; }; throttle "
         "= { trip_c = 49.0; release_c = "
         "48.5; scope = \"sm\"; };"),
        "policy = \"MG-BL\"; sensor = { period_s = 0.02; delay_s = 0.04; }; dtm = { policy = \"boost\"; "
        "power_cap_w = 150.0; };",
        "policy = \"MG-BL\"; sensor = { period_s = 0.01; noise_k = 0.5; };",
        "policy = \"MG-MU\"; place = { policy = \"spread\"; emergency_c = 40.0; }; sensor = { period_s = "
        "0.02; };",
        "policy = \"MG-DVFS\"; sensor = { period_s = 0.01; quantum_k = 0.5; };"};
    static const char work[] =
        "name = \"m\"; kernels = ( { kernel = \"SVM\"; work_s = 0.8; count = 34; }, { kernel = \"Cmem\"; "
        "work_s = "
        "0.9; count = 34; }, { kernel = \"SVM\"; work_s = 0.2; arrival_s = 0.63; count = 5; }, { kernel = "
        "\"pulse.cfg\"; work_s = 0.5; count = 3; } );";
    scratch_write("pulse.cfg",
                  "name = \"pulse\"; launch = { thread_blocks = 1024; threads_per_block = 256; };\n"
                  "power = { block_lifetime_s = 0.001; phases = { over = \"time\"; repeat = true; list = ("
                  " { until = 0.02; power_w = 100.0; }, { until = 0.03; power_w = 20.0; } ); }; };");
    for (size_t i = 0; i < sizeof more / sizeof more[0]; i++) {
        struct tmx_run *run[3];
        struct tmx_err err = {0};
        for (size_t k = 0; k < 3; k++) {
            run[k] =
                open_run("seed = 1; tick_s = 0.01; rows = 8; cols = 8; "
                         "fan = { policy = \"curve\"; }; %s topology = \"%s\"; mix = \"%s\"; threads = %zu;",
                         more[i], scratch_write("pairs.cfg", pairs), scratch_write("pairs_mix.cfg", work),
                         k > 0 ? k : 1);
        }
        ticks(run[0], 64);
        for (size_t k = 1; k < 3; k++) {
            assert_int_equal(tmx_sim_advance(tmx_run_sim(run[k]), 64, NULL, &err), TMX_OK);
            same_runs(run[0], run[k]);
        }
        for (size_t n = 0; n < 400 && !tmx_sim_done(tmx_run_sim(run[0])); n++) {
            ticks(run[0], 1);
        }
        assert_true(i == 0 ? metric(run[0], "trips") > 0 : tmx_sim_done(tmx_run_sim(run[0])));
        for (size_t k = 1; k < 3; k++) {
            assert_int_equal(tmx_sim_advance(tmx_run_sim(run[k]), 400, NULL, &err), TMX_OK);
            assert_true(tmx_sim_time_s(tmx_run_sim(run[0])) == tmx_sim_time_s(tmx_run_sim(run[k])));
            same_runs(run[0], run[k]);
            tmx_run_destroy(run[k]);
        }
        tmx_run_destroy(run[0]);
    }
}

/* Ranks as threads of this process: each leaves what it has, waits for all, and takes theirs. */
enum { MOST_RANKS = 4, RUNS_AWAY = 3 };
struct meeting {
    pthread_barrier_t all_here;
    const void *of[MOST_RANKS];
};
struct rank {
    struct meeting *meeting;
    struct tmx_ranks ranks;
    struct tmx_run *run;
    uint64_t n_tick;
    enum tmx_status st;
    struct tmx_err err;
};

static enum tmx_status meet(const void *ctx, void *all, const int *count, const int *at, struct tmx_err *err)
{
    const struct rank *r = ctx;
    (void)err;
    r->meeting->of[r->ranks.rank] = (const char *)all + at[r->ranks.rank];
    pthread_barrier_wait(&r->meeting->all_here);
    for (size_t i = 0; i < r->ranks.size; i++) {
        if (i != r->ranks.rank) {
            memcpy((char *)all + at[i], r->meeting->of[i], (size_t)count[i]);
        }
    }
    pthread_barrier_wait(&r->meeting->all_here);
    return TMX_OK;
}

static void *step_rank(void *arg)
{
    struct rank *r = arg;
    r->st = tmx_sim_on_ranks(tmx_run_sim(r->run), &r->ranks, &r->err);
    if (!r->st) {
        r->st = tmx_sim_advance(tmx_run_sim(r->run), r->n_tick, NULL, &r->err);
    }
    return NULL;
}

/* Nine GPUs, so that ranks end inside cards and rows of air: moving fans, jobs on two GPUs, queues; noise; a
 * boosting governor with caps and memory. */
static struct tmx_run *open_shared(size_t i)
{
    static const char *const more[] = {
        ("policy = \"MG-MU\"; place = { policy = \"spread\"; emergency_c = 46.0; }; fan = { policy = \"pi\"; "
         "target_c = 55.0; }; sensor = { period_s = 0.05; quantum_k = 1.0; delay_s = 0.1; };"),
        "policy = \"MG-BL\"; sensor = { period_s = 0.05; noise_k = 0.5; }; fan = { policy = \"curve\"; };",
        "policy = \"MG-BL\"; fan = { policy = \"curve\"; }; threads = 2; warmup_s = 2.5;",
        "policy = \"MG-BL\"; quantum_s = 0.25; sensor = { period_s = 10.0; delay_s = 10.0; }; fan = { policy "
        "= \"curve\"; }; spread = { leakage = 0.2; sink "
        "= 0.1; };"};
    static const char nine[] =
        "name = \"nine\"; link = \"T\"; links = ( { name = \"T\"; bandwidth_gb_per_s = 12.0; latency_us = "
        "1.2; } ); cards = ( { name = \"c\"; count = 3; } );\n"
        "gpus = ( { name = \"g\"; chip = \"gtx280\"; card = \"c\"; count = 3; } );\n"
        "air = ( { from = \"g0\"; to = \"g3\"; fraction = 0.6; }, { from = \"g3\"; to = \"g8\"; fraction = "
        "0.7; } );\n"
        "fans = ( { name = \"f\"; card = \"c\"; min_rpm = 400.0; max_rpm = 2700.0; power_w = 5.5; "
        "flow_m3_per_s = 0.009; curve = ( { temp_c = 40.0; speed = 0.3; }, { temp_c = 90.0; speed = 1.0; } "
        "); } );";
    static const char work[] =
        "name = \"m\"; kernels = ( { kernel = \"SVM\"; work_s = 3.0; count = 9; }, { kernel = \"Cmem\"; "
        "work_s = 20.0; count = 9; } );";
    char text[2048], topology[2048];
    struct tmx_err err = {0};
    struct tmx_run *run = NULL;
    struct tmx_config *cfg = NULL;
    snprintf(topology, sizeof topology, "%s%s", nine, i == RUNS_AWAY ? "inlet_rise_k_per_s = 10.0;" : "");
    snprintf(text, sizeof text,
             "seed = 1; tick_s = 0.05; rows = 8; cols = 8; %s\ntopology = \"%s\"; mix = \"%s\";", more[i],
             scratch_write("nine.cfg", topology), scratch_write("nine_mix.cfg", work));
    assert_int_equal(tmx_config_parse(&cfg, text, "test", &err), TMX_OK);
    if (tmx_run_create(&run, tmx_config_root(cfg), NULL, &err)) {
        fail_msg("%s:%u: %s", err.file, err.line, err.msg);
    }
    tmx_config_close(cfg);
    return run;
}

/* Run i on each of n ranks, advanced by n_tick ticks; all end in the same way. */
static void step_ranks(struct rank *rank, size_t n, size_t i, uint64_t n_tick)
{
    struct meeting meeting;
    pthread_t thread[MOST_RANKS];
    assert_int_equal(pthread_barrier_init(&meeting.all_here, NULL, (unsigned)n), 0);
    for (size_t k = 0; k < n; k++) {
        rank[k] = (struct rank){.meeting = &meeting,
                                .ranks = {.rank = k, .size = n, .ctx = &rank[k], .gather = meet}};
        rank[k].run = open_shared(i);
        rank[k].n_tick = n_tick;
        assert_int_equal(pthread_create(&thread[k], NULL, step_rank, &rank[k]), 0);
    }
    for (size_t k = 0; k < n; k++) {
        assert_int_equal(pthread_join(thread[k], NULL), 0);
        assert_int_equal(rank[k].st, rank[0].st);
        assert_string_equal(rank[k].err.msg, rank[0].err.msg);
    }
    pthread_barrier_destroy(&meeting.all_here);
}

static void ranks_change_no_byte(void **state)
{
    for (size_t i = 0; i < RUNS_AWAY; i++) {
        struct tmx_run *alone = open_shared(i);
        struct tmx_err err = {0};
        assert_int_equal(tmx_sim_advance(tmx_run_sim(alone), 200, NULL, &err), TMX_OK);
        const struct tmx_machine *m = tmx_run_sim(alone)->machine;
        const size_t size = 5 * m->n_unit + (2 + TMX_SLOTS) * m->n_sm + 3 * m->n_job + 2;
        double *want = calloc(size, sizeof *want), *got = calloc(size, sizeof *got);
        assert_true(want && got);
        gather(alone, want);
        assert_true(m->n_done > 0 && m->n_done < m->n_job);
        for (size_t n = 2; n <= MOST_RANKS; n++) {
            struct rank rank[MOST_RANKS];
            step_ranks(rank, n, i, 200);
            assert_int_equal(rank[0].st, TMX_OK);
            for (size_t k = 0; k < n; k++) {
                gather(rank[k].run, got);
                assert_memory_equal(want, got, size * sizeof *got);
                for (const struct tmx_metric *t = tmx_metrics; t->name; t++) {
                    const double a = tmx_run_metric(alone, t), b = tmx_run_metric(rank[k].run, t);
                    if (memcmp(&a, &b, sizeof a) != 0) {
                        fail_msg("%s: %.17g alone, %.17g on rank %zu of %zu", t->name, a, b, k, n);
                    }
                }
                tmx_run_destroy(rank[k].run);
            }
        }
        free(want);
        free(got);
        tmx_run_destroy(alone);
    }
}

static void a_runaway_on_one_rank_ends_all(void **state)
{
    struct rank rank[MOST_RANKS];
    struct tmx_run *alone = open_shared(RUNS_AWAY);
    struct tmx_err err = {0};
    assert_int_equal(tmx_sim_advance(tmx_run_sim(alone), 1000, NULL, &err), TMX_ERUNAWAY);
    step_ranks(rank, 3, RUNS_AWAY, 1000);
    assert_int_equal(rank[0].st, TMX_ERUNAWAY);
    assert_string_equal(rank[0].err.msg, err.msg);
    for (size_t k = 0; k < 3; k++) {
        assert_true(tmx_sim_time_s(tmx_run_sim(rank[k].run)) == tmx_sim_time_s(tmx_run_sim(alone)));
        tmx_run_destroy(rank[k].run);
    }
    tmx_run_destroy(alone);
}

static void a_resolved_run_reads_back_to_itself(void **state)
{
    struct tmx_err err = {0};
    struct tmx_run *again = NULL;
    struct tmx_config *cfg = NULL;
    struct tmx_run *r =
        open_node(scratch_write("row.cfg", row), mix("scs.cfg", "SVM", "Cmem", "SVM", 60),
                  "fan = { policy = \"curve\"; }; fan_failures = ( { fan = \"f1\"; at_s = 5.5; } );");
    assert_int_equal(tmx_config_parse(&cfg, tmx_run_resolved(r), "resolved", &err), TMX_OK);
    if (tmx_run_create(&again, tmx_config_root(cfg), NULL, &err)) {
        fail_msg("%s:%u: %s", err.file, err.line, err.msg);
    }
    assert_string_equal(tmx_run_resolved(again), tmx_run_resolved(r));
    assert_string_equal(tmx_run_id(again), tmx_run_id(r));
    tmx_config_close(cfg);
    tmx_run_destroy(again);
    tmx_run_destroy(r);
}

static double cell(const struct tmx_table *t, size_t r, const char *column)
{
    for (size_t c = 0; c < tmx_table_columns(t); c++) {
        if (strcmp(tmx_table_column(t, c)->name, column) == 0) {
            const struct tmx_cell *v = tmx_table_cell(t, r, c);
            return v->empty ? NAN : v->type == TMX_COLUMN_INT ? (double)v->integer : v->real;
        }
    }
    fail_msg("no column %s", column);
    return NAN;
}

/* gpus.csv adds up to the summary, kernels.csv tells where and when, and the waits' quantiles are those of
 * its column. */
static void what_gpus_and_kernels_tell_adds_up(void **state)
{
    enum { KERNELS = 7 };
    char text[1024];
    struct tmx_table *gpus = NULL, *kernels = NULL;
    double energy_j = 0, inlet_c = 0, rpm = 0, n = 0, wait_s[KERNELS];
    size_t beyond = 0;
    int at = snprintf(text, sizeof text, "name = \"m\"; kernels = (");
    for (int i = 0; i < KERNELS; i++) {
        at += snprintf(text + at, sizeof text - (size_t)at,
                       "%s { kernel = \"%s\"; work_s = %d.0; arrival_s = %d.5; }", i ? "," : "",
                       i % 2 ? "Cmem" : "SVM", 20 + i, i);
    }
    snprintf(text + at, sizeof text - (size_t)at, " );");
    const char *mix_file = scratch_write("gpus_mix.cfg", text);
    struct tmx_run *run =
        open_node(scratch_write("gpus_row.cfg", row), mix_file, "fan = { policy = \"curve\"; };");
    struct tmx_err err = {0};
    assert_int_equal(tmx_run_execute(run, NULL, &err), TMX_OK);
    gpus = tmx_run_gpus(run);
    kernels = tmx_run_kernels(run);
    assert_int_equal(tmx_table_rows(gpus), 3);
    for (size_t g = 0; g < 3; g++) {
        energy_j += cell(gpus, g, "energy_j");
        inlet_c += cell(gpus, g, "mean_inlet_c") / 3;
        rpm += cell(gpus, g, "mean_fan_rpm") / 3;
        n += cell(gpus, g, "kernels");
        assert_true(cell(gpus, g, "peak_w") >= cell(gpus, g, "mean_w"));
        assert_true(cell(gpus, g, "busy_pct") > 0 && cell(gpus, g, "busy_pct") <= 100);
        assert_true(g == 0 ||
                    cell(gpus, g, "mean_inlet_c") > cell(gpus, g - 1, "mean_inlet_c")); /* preheated */
    }
    check_close(energy_j, metric(run, "energy_j"), 1e-9, 0);
    check_close(inlet_c, metric(run, "mean_inlet_c"), 1e-9, 0);
    check_close(rpm, metric(run, "mean_rpm"), 1e-9, 0);
    check_close(n, KERNELS, 0, 0);
    for (size_t j = 0; j < KERNELS; j++) {
        wait_s[j] = cell(kernels, j, "wait_s");
        check_close(wait_s[j], cell(kernels, j, "started_s") - cell(kernels, j, "arrival_s"), 1e-9, 1e-9);
        check_close(cell(kernels, j, "turnaround_s"),
                    cell(kernels, j, "finished_s") - cell(kernels, j, "arrival_s"), 1e-9, 1e-9);
        assert_true(cell(kernels, j, "gpus") == 1 && cell(kernels, j, "gpu") < 3);
        beyond += wait_s[j] > metric(run, "wait_p50_s");
    }
    assert_int_equal(beyond, KERNELS / 2);
    assert_true(metric(run, "wait_p99_s") == metric(run, "wait_p95_s")); /* of seven the longest */
    assert_true(metric(run, "wait_p99_s") > metric(run, "wait_p50_s") && metric(run, "wait_p50_s") >= 0);
    tmx_table_destroy(gpus);
    tmx_table_destroy(kernels);
    tmx_run_destroy(run);
}

/* A kernel for two GPUs takes the time it is given for, on both; one with steps of power spends their energy.
 */
static void wide_kernels_and_steps_of_power(void **state)
{
    struct tmx_table *gpus = NULL, *kernels = NULL;
    struct tmx_err err = {0};
    scratch_write("wave.cfg",
                  "name = \"wave\"; launch = { thread_blocks = 1024; threads_per_block = 256; };\n"
                  "power = { block_lifetime_s = 0.001; phases = { over = \"time\"; repeat = true; list = ("
                  " { until = 5.0; power_w = 100.0; }, { until = 10.0; power_w = 20.0; } ); }; };");
    const char *m = scratch_write(
        "wide_mix.cfg", "name = \"m\"; kernels = ( { kernel = \"wave.cfg\"; work_s = 20.0; gpus = 2; },"
                        " { kernel = \"SVM\"; work_s = 4.0; } );");
    struct tmx_run *run = open_node(scratch_write("wide.cfg", three), m, "");
    assert_int_equal(tmx_run_execute(run, NULL, &err), TMX_OK);
    kernels = tmx_run_kernels(run);
    gpus = tmx_run_gpus(run);
    check_close(cell(kernels, 0, "turnaround_s"), 20, 0.01, 0);
    check_close(cell(kernels, 0, "gpus"), 2, 0, 0);
    const double x = 20 / cell(kernels, 0, "turnaround_s"), y = 4 / cell(kernels, 1, "turnaround_s");
    check_close(metric(run, "fairness"), (x + y) * (x + y) / 2 / (x * x + y * y), 1e-9, 0);
    check_close(cell(kernels, 0, "dynamic_j"), 2 * 20 * 60, 0.01, 0); /* two GPUs, 20 s, 60 W in the mean */
    check_close(cell(kernels, 0, "pdi_w"), 60.0 / 30, 1e-9, 0);
    size_t wide = 0;
    for (size_t g = 0; g < 3; g++) {
        wide += cell(gpus, g, "dynamic_j") > 1000;
    }
    assert_int_equal(wide, 2);
    tmx_table_destroy(gpus);
    tmx_table_destroy(kernels);
    tmx_run_destroy(run);
}

/* The draws of all GPUs of a hall, one column of gpus.csv. */
enum { HALL = 300 };
static void hall_draws(const char *spread, const char *column, double value[HALL])
{
    const char *hall =
        scratch_write("hall.cfg", "name = \"hall\"; inlet_c = 20.0; nodes = 100;"
                                  "cards = ( " CARD("0") ", " CARD("1") ", " CARD(
                                      "2") " );"
                                           "fans = ( " FAN("0") ", " FAN("1") ", " FAN(
                                               "2") " );"
                                                    "gpus = ( " GPU("0") ", " GPU("1") ", " GPU("2") " );");
    struct tmx_run *r = open_node(hall, mix("m.cfg", "SVM", NULL, NULL, 1), spread);
    struct tmx_table *t = NULL;
    t = tmx_run_gpus(r);
    for (size_t g = 0; g < HALL; g++) {
        value[g] = cell(t, g, column);
    }
    tmx_table_destroy(t);
    tmx_run_destroy(r);
}

/* Standard deviations and means are within four standard errors of the ones in the configuration. Each
 * quantity has a random stream of its own: its draws depend on no other quantity, nor on the run's seed if
 * the spread has one. */
static void gpus_differ_as_the_spread_asks(void **state)
{
    static const char *const column[] = {"leakage_factor", "dynamic_factor", "sink_factor", "inlet_offset_k"};
    static const double sd[] = {0.24, 0.03, 0.15, 4.0};
    static double first[HALL], again[HALL];
    for (size_t i = 0; i < 4; i++) {
        double sum = 0, squares = 0;
        hall_draws("spread = { leakage = 0.24; dynamic = 0.03; sink = 0.15; inlet_k = 4.0; };", column[i],
                   first);
        for (size_t g = 0; g < HALL; g++) {
            const double z = i < 3 ? log(first[g]) : first[g];
            sum += z;
            squares += z * z;
        }
        check_close(sum / HALL, 0, 0, 4 * sd[i] / sqrt(HALL));
        check_close(sqrt(squares / HALL), sd[i], 4 / sqrt(2.0 * HALL), 0);
    }
    hall_draws("spread = { leakage = 0.24; seed = 1; };", column[0], first);
    hall_draws("spread = { leakage = 0.24; dynamic = 0.3; sink = 0.1; };", column[0], again);
    assert_memory_equal(first, again, sizeof first); /* the run's seed is 1 */
    hall_draws("spread = { leakage = 0.24; seed = 2; };", column[0], again);
    assert_memory_not_equal(first, again, sizeof first);
}

static void a_spread_of_nothing_changes_no_byte(void **state)
{
    const char *n = scratch_write("row.cfg", row), *m = mix("scs.cfg", "SVM", "Cmem", "SVM", 60);
    struct tmx_run *x = open_node(n, m, ""), *y = open_node(n, m, "spread = { leakage = 0.0; seed = 7; };");
    assert_string_equal(tmx_run_id(x), tmx_run_id(y));
    ticks(x, 200);
    ticks(y, 200);
    assert_memory_equal(temps(x, 0), temps(y, 0), 3 * units(x) * sizeof(double));
    tmx_run_destroy(x);
    tmx_run_destroy(y);
}

/* A spread of one quantity against a chip or card whose file has the drawn value. */
static void a_drawn_gpu_is_one_that_is_made_so(void **state)
{
    static const char *const more =
        "throttle = { trip_c = 190.0; release_c = 180.0; }; fan = { speed = 1.0; };";
    char text[4096];
    struct tmx_table *t = NULL;
    scratch_write("made_kernel.cfg",
                  "name = \"k\"; launch = { thread_blocks = 1024; threads_per_block = 256; };"
                  "power = { block_lifetime_s = 0.001; sm_power_w = 100.0; };");
    struct tmx_run *drawn = open_run(
        COMMON "topology = \"%s\"; mix = \"%s\"; %s spread = { sink = 0.2; leakage = 0.3; dynamic = 0.1; };",
        scratch_write("one.cfg", one),
        scratch_write("m1.cfg",
                      "name = \"m\"; kernels = ( { kernel = \"made_kernel.cfg\"; work_s = 2000.0; } );"),
        more);
    t = tmx_run_gpus(drawn);
    const double sink = cell(t, 0, "sink_factor"), leakage = cell(t, 0, "leakage_factor"),
                 dynamic = cell(t, 0, "dynamic_factor");
    tmx_table_destroy(t);
    assert_true(fabs(sink - 1) > 0.02 && fabs(leakage - 1) > 0.02 && fabs(dynamic - 1) > 0.02);
    snprintf(text, sizeof text,
             "name = \"made\"; cards = ( { name = \"c0\"; fit_a_k_per_w = %.17g; fit_b_k_per_w = %.17g; } );"
             "fans = ( " FAN("0") " ); gpus = ( " GPU("0") " );",
             0.05 * sink, 111.0 * sink);
    const char *made_node = scratch_write("made.cfg", text);
    snprintf(text, sizeof text,
             "name = \"k\"; launch = { thread_blocks = 1024; threads_per_block = 256; };"
             "power = { block_lifetime_s = 0.001; sm_power_w = %.17g; };",
             100.0 * dynamic);
    scratch_write("scaled_kernel.cfg", text);
    const double chip_w = tmx_run_sim(drawn)->machine->gpu[0].chip->power.leakage_w;
    struct tmx_run *made = open_run(
        COMMON "topology = \"%s\"; mix = \"%s\"; %s chip_power = { leakage_w = %.17g; };", made_node,
        scratch_write("m2.cfg",
                      "name = \"m\"; kernels = ( { kernel = \"scaled_kernel.cfg\"; work_s = 2000.0; } );"),
        more, chip_w * leakage);
    ticks(drawn, 12000);
    ticks(made, 12000);
    check_close(gpu_power_w(drawn, 0), gpu_power_w(made, 0), 1e-3, 0);
    check_close(temps(drawn, 0)[0], temps(made, 0)[0], 0, 0.1);
    tmx_run_destroy(drawn);
    tmx_run_destroy(made);
}

/* Boards, fans and host behind a supply whose efficiency rises with the load; a kernel of other watts than
 * its file's. */
static void the_wall_pays_for_all_parts(void **state)
{
    static const char host[] =
        "host = { idle_w = 200.0; active_w = 100.0; supply = ( { load_w = 100.0; efficiency = 0.8; }, "
        "{ load_w = 500.0; efficiency = 0.9; } ); };";
    char text[2048];
    struct tmx_table *t = NULL;
    snprintf(text, sizeof text, "%s %s", one, host);
    scratch_write("load.cfg", "name = \"load\"; launch = { thread_blocks = 1024; threads_per_block = 256; };"
                              "power = { block_lifetime_s = 0.001; sm_power_w = 100.0; };");
    struct tmx_run *r = open_node(
        scratch_write("one_host.cfg", text),
        scratch_write(
            "load_mix.cfg",
            "name = \"m\"; kernels = ( { kernel = \"load.cfg\"; work_s = 20.0; power_w = 50.0; } );"),
        "throttle = { trip_c = 190.0; release_c = 180.0; };");
    assert_int_equal(tmx_run_execute(r, NULL, NULL), TMX_OK);
    t = tmx_run_gpus(r);
    const double w = cell(t, 0, "mean_w"), time_s = metric(r, "energy_j") / w,
                 fan_w = metric(r, "fan_energy_j") / time_s,
                 load_w = w + fan_w + 200 + 100 * cell(t, 0, "busy_pct") / 100;
    check_close(metric(r, "dynamic_j"), 1000, 0.01, 0);
    check_close(metric(r, "wall_w"), load_w / (0.8 + 0.1 * (load_w - 100) / 400), 1e-6, 0);
    check_close(metric(r, "wall_overhead_pct"), 100 * (1 - w / metric(r, "wall_w")), 1e-6, 0);
    tmx_table_destroy(t);
    tmx_run_destroy(r);
}

#define CHIP(n, chip) "{ name = \"g" n "\"; chip = \"" chip "\"; card = \"c" n "\"; }"
static const char small_first[] = "name = \"a\"; cards = ( " CARD("0") ", " CARD("1") " ); fans = ( " FAN(
    "0") ", " FAN("1") " );"
                       "gpus = ( " CHIP("0", "gtx280") ", " CHIP("1", "gtx480") " );";
static const char large_first[] = "name = \"b\"; cards = ( " CARD("1") ", " CARD("0") " ); fans = ( " FAN(
    "1") ", " FAN("0") " );"
                       "gpus = ( " CHIP("1", "gtx480") ", " CHIP("0", "gtx280") " );";

static const char *const sums[] = {"energy_j",     "dynamic_j", "makespan_s",
                                   "slowdown_pct", "fairness",  "work_s_per_kj"};
enum { N_SUM = sizeof sums / sizeof sums[0] };

static void work_two_chips(const char *topology, const char *more, double sum[N_SUM])
{
    struct tmx_run *r = open_node(topology, "two.cfg", more);
    assert_int_equal(tmx_run_execute(r, NULL, NULL), TMX_OK);
    for (size_t i = 0; i < N_SUM; i++) {
        sum[i] = metric(r, sums[i]);
    }
    tmx_run_destroy(r);
}

/* Two chips of 30 and 15 SMs: a job's time and watts are those of its own chip, or of the one that the key
 * names, whatever the order of the GPUs. */
static void the_order_of_two_chips_changes_nothing(void **state)
{
    static const char cool[] = "inlet_c = 45.0; throttle = { trip_c = 190.0; release_c = 180.0; };";
    static const char sync[] = "inlet_c = 45.0; throttle = { trip_c = 190.0; release_c = 180.0; };"
                               "sync_job = { step_work_s = 0.5; steps = 20; };";
    const struct {
        const char *more;
        double makespan_s, dynamic_j, slowdown_pct;
    } of[] = {{"reference_chip = \"gtx280\";", 20, 3000, 0}, /* 300 SM-s on the 15 SMs of a gtx480 */
              {"reference_chip = \"gtx480\";", 10, 1500, 0}, /* 150 on 30 take 5 s */
              {"", 10, 2000, 0}};
    char more[512];
    scratch_write(
        "two.cfg",
        "name = \"m\"; kernels = ( { kernel = \"SVM\"; work_s = 10.0; power_w = 100.0; count = 2; } );");
    const char *a = scratch_write("small.cfg", small_first), *b = scratch_write("large.cfg", large_first);
    for (size_t i = 0; i < sizeof of / sizeof of[0]; i++) {
        double x[N_SUM], y[N_SUM];
        snprintf(more, sizeof more, "%s %s", cool, of[i].more);
        work_two_chips(a, more, x);
        work_two_chips(b, more, y);
        for (size_t k = 0; k < N_SUM; k++) {
            check_close(x[k], y[k], 1e-9, 1e-9);
        }
        check_close(x[1], of[i].dynamic_j, 1e-9, 0);
        check_close(x[2], of[i].makespan_s, 1e-9, 0);
        check_close(x[3], of[i].slowdown_pct, 0, 1e-6);
        check_close(x[5] * x[0] / 1000, 20, 1e-9, 0);
    }
    double x[N_SUM], y[N_SUM];
    work_two_chips(a, sync, x);
    work_two_chips(b, sync, y);
    check_close(x[1], 2000, 1e-3, 0); /* each member computes all of its 10 s */
    check_close(y[1], 2000, 1e-3, 0);
    struct tmx_err err = {0};
    snprintf(more, sizeof more, COMMON "topology = \"%s\"; mix = \"%s\"; reference_chip = \"a100\";", a,
             "two.cfg");
    assert_null(try_run(more, &err));
    assert_string_equal(err.msg, "reference_chip: no GPU of this run has chip a100");
    assert_int_equal(err.line, 3);
}

/* What is not drawn and who has no cap: the resolved configuration is that run again. */
static void a_resolved_configuration_repeats_draws_and_caps(void **state)
{
    scratch_write("capped.cfg",
                  "name = \"a\"; cards = ( " CARD("0") ", " CARD("1") " ); fans = ( " FAN("0") ", " FAN(
                      "1") " ); gpus = ( { name = \"g0\"; chip = \"gtx280\"; card = \"c0\"; "
                           "power_cap_w = 100.0; }, " CHIP("1", "b200-front") " );");
    const char *const text[] = {COMMON "chip = \"v100\"; mix = \"aw1\"; spread = \"v100\";",
                                COMMON "topology = \"capped.cfg\"; mix = \"WL1\"; dtm = { policy = "
                                       "\"boost\"; target_c = 95.0; }; inlet_c = 30.0;"};
    for (size_t i = 0; i < sizeof text / sizeof text[0]; i++) {
        struct tmx_err err = {0};
        struct tmx_run *run = open_run("%s", text[i]), *again = try_run(tmx_run_resolved(run), &err);
        assert_string_equal(err.msg, "");
        assert_string_equal(tmx_run_id(again), tmx_run_id(run));
        tmx_run_destroy(run);
        tmx_run_destroy(again);
    }
}

TMX_TESTS(test_multi)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(independent_gpus_run_as_if_alone),
        cmocka_unit_test(what_gpus_and_kernels_tell_adds_up),
        cmocka_unit_test(wide_kernels_and_steps_of_power),
        cmocka_unit_test(air_couples_downstream_only),
        cmocka_unit_test(what_goes_in_leaves_with_the_air),
        cmocka_unit_test(a_faster_fan_cools_and_a_stopped_one_heats),
        cmocka_unit_test(without_leakage_the_ambient_shifts_all_temperatures),
        cmocka_unit_test(a_dead_fan_throttles_and_the_work_still_ends),
        cmocka_unit_test(spreading_the_heat_slows_the_shared_fan),
        cmocka_unit_test(threads_change_no_byte),
        cmocka_unit_test(ticks_in_a_row_change_no_byte),
        cmocka_unit_test(ranks_change_no_byte),
        cmocka_unit_test(a_runaway_on_one_rank_ends_all),
        cmocka_unit_test(a_resolved_run_reads_back_to_itself),
        cmocka_unit_test(gpus_differ_as_the_spread_asks),
        cmocka_unit_test(the_wall_pays_for_all_parts),
        cmocka_unit_test(the_order_of_two_chips_changes_nothing),
        cmocka_unit_test(a_resolved_configuration_repeats_draws_and_caps),
        cmocka_unit_test(a_spread_of_nothing_changes_no_byte),
        cmocka_unit_test(a_drawn_gpu_is_one_that_is_made_so),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

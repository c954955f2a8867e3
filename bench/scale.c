/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Does time per GPU and tick stay flat as GPUs are added? 1, 8, 64 and 512 GPUs at a 10 ms tick, with all
 * fans at one speed and with 64 different ones, side by side: the runs take turns, the least processor
 * time of several turns counts. Then 512 GPUs for 60 simulated seconds, and memory per extra GPU.
 * `scale hall [N [TICKS [THREADS]]]`: a hall of N GPUs (16 384) in racks of 64 for 60 s (6000 ticks), its
 * time and memory. `scale threads`: 512 GPUs on one thread and on two, the least wall time of several turns
 * of each. `scale tick`: a tick of 512 GPUs beside the thermal step of their batches alone. */
#define _POSIX_C_SOURCE 200809L /* setenv */
#include <gsl/gsl_errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/config.h"
#include "base/os.h"
#include "run/run.h"

enum { N_SIZE = 4, N_FANS = 2, TURN = 25600, N_TURN = 9, MOST = 512, RACK = 64 };
static const size_t sizes[N_SIZE] = {1, 8, 64, MOST};

static const char topology_file[] = "scale_topology.cfg", mix_file[] = "scale_mix.cfg";

/* One card with one fan a GPU; a curve of one point is a speed. */
static void write_topology(size_t n, bool different)
{
    FILE *f = fopen(topology_file, "w");
    if (!f) {
        exit(1);
    }
    fprintf(f, "name = \"scale\";\ncards = (");
    for (size_t i = 0; i < n; i++) {
        fprintf(f, "%s { name = \"c%zu\"; }", i ? "," : "", i);
    }
    fprintf(f, " );\nfans = (");
    for (size_t i = 0; i < n; i++) {
        fprintf(f,
                "%s { name = \"f%zu\"; card = \"c%zu\"; min_rpm = 400.0; max_rpm = 2700.0; power_w = 5.5; "
                "flow_m3_per_s = 0.009; curve = ( { temp_c = 0.0; speed = %.6f; } ); }\n",
                i ? "," : "", i, i, different ? 0.2 + 0.8 * (double)(i * 37 % 64) / 63 : 0.8);
    }
    fprintf(f, " );\ngpus = (");
    for (size_t i = 0; i < n; i++) {
        fprintf(f, "%s { name = \"g%zu\"; chip = \"gtx280\"; card = \"c%zu\"; }\n", i ? "," : "", i, i);
    }
    fprintf(f, " );\n");
    fclose(f);
}

static void write_mix(size_t n)
{
    FILE *f = fopen(mix_file, "w");
    if (!f) {
        exit(1);
    }
    fprintf(f, "name = \"scale\";\nkernels = ( { kernel = \"SVM\"; work_s = 1e6; count = %zu; } );\n", n);
    fclose(f);
}

static void write_hall(size_t n)
{
    FILE *f = fopen(topology_file, "w");
    if (!f) {
        exit(1);
    }
    fprintf(
        f,
        "name = \"scale\"; inlet_c = 25.0;\ncards = ( { name = \"c\"; } );\n"
        "gpus = ( { name = \"g\"; chip = \"gtx280\"; card = \"c\"; } );\n"
        "fans = ( { name = \"f\"; card = \"c\"; min_rpm = 400.0; max_rpm = 2700.0; power_w = 5.5; "
        "flow_m3_per_s = 0.009; curve = ( { temp_c = 45.0; speed = 0.4; }, { temp_c = 90.0; speed = 1.0; } "
        "); } );\n"
        "racks = ( { name = \"r\"; count = %zu; nodes = %d; profile = ( { height = 0.0; inlet_c = 22.0; }, "
        "{ height = 1.0; inlet_c = 27.0; } ); } );\n",
        n / RACK, RACK);
    fclose(f);
}

enum layout { ONE_SPEED, MANY_SPEEDS, HALL };

static struct tmx_run *open_run(size_t n, enum layout layout, size_t n_thread)
{
    static const char format[] =
        "threads = %zu; topology = \"./scale_topology.cfg\"; mix = \"./scale_mix.cfg\"; policy = \"MG-BL\"; "
        "seed = 1; tick_s = 0.01; sensor = { period_s = 0.01; }; fan = { policy = \"curve\"; };";
    struct tmx_err err = {0};
    struct tmx_run *run = NULL;
    struct tmx_config *cfg = NULL;
    char msg[1024], text[sizeof format + 32];
    snprintf(text, sizeof text, format, n_thread);
    if (layout == HALL) {
        write_hall(n);
    } else {
        write_topology(n, layout == MANY_SPEEDS);
    }
    write_mix(n);
    enum tmx_status st = tmx_config_parse(&cfg, text, "scale", &err);
    st = st ? st : tmx_run_create(&run, tmx_config_root(cfg), NULL, &err);
    if (st) {
        tmx_err_format(&err, msg, sizeof msg);
        fprintf(stderr, "scale: %s\n", msg);
        exit(1);
    }
    tmx_config_close(cfg);
    remove(topology_file);
    remove(mix_file);
    return run;
}

static void ticks(struct tmx_run *run, size_t n)
{
    struct tmx_err err = {0};
    if (tmx_sim_advance(tmx_run_sim(run), n, NULL, &err)) {
        fprintf(stderr, "scale: %s\n", err.msg);
        exit(1);
    }
}

/* Resident memory of this program [kB]; 0 where the system does not tell. */
static double resident_kb(void)
{
    char line[256];
    double kb = 0;
    FILE *f = fopen("/proc/self/status", "r");
    while (f && fgets(line, sizeof line, f)) {
        if (strncmp(line, "VmRSS:", 6) == 0) {
            kb = strtod(line + 6, NULL);
        }
    }
    if (f) {
        fclose(f);
    }
    return kb;
}

/* Limit: 8 GiB for 16 384 GPUs. */
static int hall(size_t n, size_t n_tick, size_t n_thread)
{
    const double before_kb = resident_kb(), from_s = tmx_os_cpu_s();
    struct tmx_run *run = open_run(n, HALL, n_thread);
    const double opened_s = tmx_os_cpu_s(), begin_s = tmx_os_now_s();
    ticks(run, n_tick);
    const double end_s = tmx_os_cpu_s(), wall_s = tmx_os_now_s() - begin_s, kb = resident_kb();
    printf(
        "hall of %zu GPUs x %g s: set-up %.2f s, run %.1f s of processors in %.1f s; %.0f MB resident, %.1f "
        "kB a GPU\n"
        "ratio hall_%zu_cpu_s %.2f\nratio hall_%zu_mib %.0f\n",
        n, 0.01 * (double)n_tick, opened_s - from_s, end_s - opened_s, wall_s, kb / 1e3,
        (kb - before_kb) / (double)n, n, end_s - opened_s, n, kb / 1024);
    tmx_run_destroy(run);
    return kb / (double)n < 8.0 * 1024 * 1024 / 16384 ? 0 : 1;
}

/* Limit: 0.55, on a machine with two idle cores. */
static int threads(void)
{
    struct tmx_run *run[2];
    double wall_s[2] = {1e9, 1e9};
    for (size_t i = 0; i < 2; i++) {
        run[i] = open_run(MOST, ONE_SPEED, i + 1);
        ticks(run[i], 10);
    }
    for (int turn = 0; turn < 4 * N_TURN; turn++) {
        for (size_t i = 0; i < 2; i++) {
            const double from_s = tmx_os_now_s();
            ticks(run[i], 100);
            const double t = tmx_os_now_s() - from_s;
            wall_s[i] = t < wall_s[i] ? t : wall_s[i];
        }
    }
    const double ratio = wall_s[1] / wall_s[0];
    printf("%d GPUs, 100 ticks: %.1f ms on one thread, %.1f ms on two\nratio threads_2_over_1 %.2f\n", MOST,
           1e3 * wall_s[0], 1e3 * wall_s[1], ratio);
    for (size_t i = 0; i < 2; i++) {
        tmx_run_destroy(run[i]);
    }
    return ratio <= 0.55 ? 0 : 1;
}

/* The GPUs' models again, stepped by themselves with the run's watts, in batches as large as the tick's. */
struct steps {
    const struct tmx_sim_gpu_thermal *kind;
    void *state[MOST];
    const double *power_w[MOST];
    double *temp_k[MOST];
};

static void open_steps(struct steps *s, struct tmx_run *run)
{
    const struct tmx_frame *f = &tmx_run_sim(run)->frame;
    const size_t n_unit = f->n_unit / MOST;
    struct tmx_err err = {0};
    s->kind = tmx_run_gpu_thermal(run, 0);
    for (size_t g = 0; g < MOST; g++) {
        s->power_w[g] = f->power_w + g * n_unit;
        s->temp_k[g] = calloc(n_unit, sizeof *s->temp_k[g]);
        if (!s->temp_k[g] || s->kind->ops->create(s->kind->model, &s->state[g], &err)) {
            exit(1);
        }
    }
}

static void step(struct steps *s, size_t n)
{
    enum { BATCH = 64 };
    for (size_t i = 0; i < n; i++) {
        for (size_t g = 0; g < MOST; g += BATCH) {
            size_t bad;
            if (tmx_thermal_step_many(s->kind->ops, BATCH, s->state + g, 0.01, s->power_w + g, s->temp_k + g,
                                      &bad)) {
                exit(1);
            }
        }
    }
}

/* Aim: 1.4. */
static int tick(void)
{
    static struct steps s;
    struct tmx_run *run = open_run(MOST, ONE_SPEED, 1);
    double tick_s = 1e9, step_s = 1e9;
    ticks(run, 10);
    open_steps(&s, run);
    for (int turn = 0; turn < 4 * N_TURN; turn++) {
        const double from_s = tmx_os_cpu_s();
        ticks(run, 50);
        const double mid_s = tmx_os_cpu_s();
        step(&s, 50);
        const double end_s = tmx_os_cpu_s();
        tick_s = mid_s - from_s < tick_s ? mid_s - from_s : tick_s;
        step_s = end_s - mid_s < step_s ? end_s - mid_s : step_s;
    }
    printf("%d GPUs: %.3f us a GPU-tick, %.3f us its thermal step in batches\nratio tick_over_batch %.2f\n",
           MOST, 1e6 * tick_s / 50 / MOST, 1e6 * step_s / 50 / MOST, tick_s / step_s);
    for (size_t g = 0; g < MOST; g++) {
        s.kind->ops->destroy(s.state[g]);
        free(s.temp_k[g]);
    }
    tmx_run_destroy(run);
    return tick_s / step_s <= 1.4 ? 0 : 1;
}

static double opened_kb(size_t n, struct tmx_run **run)
{
    const double before_kb = resident_kb();
    *run = open_run(n, MANY_SPEEDS, 1);
    ticks(*run, 50);
    return resident_kb() - before_kb;
}

int main(int argc, char **argv)
{
    struct tmx_run *run[N_SIZE][N_FANS];
    double us[N_SIZE][N_FANS], kb[N_SIZE];
    bool ok = true;
    gsl_set_error_handler_off();
    setenv("THERMIX_MAX_MINUTES", "1e6", 1); /* the mixes never end */
    if (argc > 1 && strcmp(argv[1], "hall") == 0) {
        const long n = argc > 2 ? strtol(argv[2], NULL, 10) : 16384;
        const long n_tick = argc > 3 ? strtol(argv[3], NULL, 10) : 6000;
        const long n_thread = argc > 4 ? strtol(argv[4], NULL, 10) : 1;
        const bool ok_call = n >= RACK && n <= 65536 && n % RACK == 0 && n_tick > 0 && n_thread > 0;
        return ok_call ? hall((size_t)n, (size_t)n_tick, (size_t)n_thread) : 2;
    }
    if (argc > 1 && strcmp(argv[1], "threads") == 0) {
        return threads();
    }
    if (argc > 1 && strcmp(argv[1], "tick") == 0) {
        return tick();
    }
    for (size_t i = N_SIZE; i-- > 0;) {
        kb[i] = opened_kb(sizes[i], &run[i][1]);
        run[i][0] = open_run(sizes[i], ONE_SPEED, 1);
        us[i][0] = us[i][1] = 1e9;
    }
    for (int turn = 0; turn < N_TURN; turn++) {
        for (size_t i = 0; i < N_SIZE; i++) {
            for (size_t k = 0; k < N_FANS; k++) {
                const double from_s = tmx_os_cpu_s();
                ticks(run[i][k], TURN / sizes[i]);
                const double t = (tmx_os_cpu_s() - from_s) / TURN * 1e6;
                us[i][k] = t < us[i][k] ? t : us[i][k];
            }
        }
    }
    printf("%6s  %30s  %30s\n", "GPUs", "equal fans: us a GPU-tick, ratio",
           "64 speeds, 32 levels: us, ratio");
    for (size_t i = 0; i < N_SIZE; i++) {
        printf("%6zu", sizes[i]);
        for (size_t k = 0; k < N_FANS; k++) {
            const double ratio = us[i][k] / us[0][k];
            printf(" %20.3f %8.2f", us[i][k], ratio);
            ok = ok && ratio <= 1.3;
        }
        printf("\n");
    }
    for (size_t k = 0; k < N_FANS; k++) {
        const double from_s = tmx_os_now_s();
        ticks(run[N_SIZE - 1][k], 6000);
        const double wall_s = tmx_os_now_s() - from_s;
        printf("%d GPUs x 60 s, %s: %.1f s wall on one core (limit 60)\nratio hall_512_%s %.2f\n", MOST,
               k ? "64 speeds" : "equal fans", wall_s, k ? "64_speeds_s" : "s", wall_s);
        ok = ok && wall_s < 60;
    }
    const double extra_kb = (kb[N_SIZE - 1] - kb[0]) / (double)(MOST - 1);
    printf("memory per extra GPU: %.1f kB (limit 100)\n", extra_kb);
    for (size_t i = 0; i < N_SIZE; i++) {
        for (size_t k = 0; k < N_FANS; k++) {
            tmx_run_destroy(run[i][k]);
        }
    }
    return ok && extra_kb < 100 ? 0 : 1;
}

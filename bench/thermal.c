/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a step and a set-up of the thermal engine cost, beside their floors, in
 * one run on one thread. Times are the best of many batches: the machine may be busy. */
#define _POSIX_C_SOURCE 200809L
#include <argp.h>
#include <cblas.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/os.h"
#include "base/rng.h"
#include "cli/commands.h"
#include "core/floorplan/floorplan.h"
#include "thermal/backend/reduced_model.h"
#include "thermal/files/stack.h"
#include "thermal/reduction/dense.h"
#include "thermal/solver/solver.h"
#include "thermal/thermal.h"

enum { MAX_UNIT = 128, BATCHES = 60 };

struct args {
    const char *hotspot, *ice, *ice_stack;
    long ice_steps;
    bool quick;
    const char *part; /* NULL: all */
};

/* Solves of the grid back-end are counted (linked with --wrap). */
static size_t solves;
enum tmx_status __real_tmx_solve(struct tmx_solver *s, const struct tmx_system *system,
                                 const struct tmx_accuracy *accuracy, bool transposed, size_t n_rhs,
                                 const double *b, const double *from, double *x);
enum tmx_status __wrap_tmx_solve(struct tmx_solver *s, const struct tmx_system *system,
                                 const struct tmx_accuracy *accuracy, bool transposed, size_t n_rhs,
                                 const double *b, const double *from, double *x);
enum tmx_status __wrap_tmx_solve(struct tmx_solver *s, const struct tmx_system *system,
                                 const struct tmx_accuracy *accuracy, bool transposed, size_t n_rhs,
                                 const double *b, const double *from, double *x)
{
    solves++;
    return __real_tmx_solve(s, system, accuracy, transposed, n_rhs, b, from, x);
}

static void check(enum tmx_status st, const struct tmx_err *err)
{
    char msg[1600];
    if (st) {
        tmx_err_format(err, msg, sizeof msg);
        fprintf(stderr, "bench_thermal: %s\n", msg);
        exit(tmx_status_exit_code(st));
    }
}

/* ---- chips ---- */
struct chip {
    struct tmx_floorplan floorplan;
    struct tmx_layer layer[2];
    struct tmx_thermal_spec spec;
    double power_w[MAX_UNIT];
};

/* Golden A's chip, its largest blocks cut in two until there are n_unit of them. */
static void make_chip(struct chip *c, size_t n_unit, size_t grid)
{
    struct tmx_err err = {0};
    check(tmx_flp_read(TMX_SOURCE_DIR "/tests/golden/A_gt200/chip.flp", &c->floorplan, &err), &err);
    struct tmx_floorplan *fp = &c->floorplan;
    while (fp->n_unit < n_unit) {
        size_t big = 0;
        char name[32];
        for (size_t u = 1; u < fp->n_unit; u++) {
            big = tmx_unit_area_m2(&fp->unit[u]) > tmx_unit_area_m2(&fp->unit[big]) * 1.0001 ? u : big;
        }
        struct tmx_unit half = fp->unit[big];
        snprintf(name, sizeof name, "part%zu", fp->n_unit);
        half.name = name;
        if (half.w_m > half.h_m) {
            half.w_m = fp->unit[big].w_m /= 2;
            half.x_m += half.w_m;
        } else {
            half.h_m = fp->unit[big].h_m /= 2;
            half.y_m += half.h_m;
        }
        check(tmx_floorplan_add(fp, &half, &err), &err);
    }
    c->layer[0] = (struct tmx_layer){.floorplan = fp,
                                     .lateral = true,
                                     .dissipates = true,
                                     .thickness_m = 1.5e-4,
                                     .k_w_per_mk = 130,
                                     .p_j_per_m3k = 1.63e6};
    c->layer[1] = (struct tmx_layer){
        .floorplan = fp, .lateral = true, .thickness_m = 2e-5, .k_w_per_mk = 4, .p_j_per_m3k = 4e6};
    c->spec = (struct tmx_thermal_spec){
        .layer = c->layer,
        .n_layer = 2,
        .package = {0.03, 1e-3, 400, 3.55e6, 0.06, 6.9e-3, 400, 3.55e6, 0.25, 140.4},
        .rows = grid,
        .cols = grid,
        .ambient_k = 318.15,
        .init_k = 318.15};
    for (size_t u = 0; u < fp->n_unit; u++) {
        c->power_w[u] = 0.3e6 * tmx_unit_area_m2(&fp->unit[u]);
    }
}

/* The same die under water in channels, as examples/cooling/pumped has it. */
static void cool(struct chip *c, struct tmx_channels *channels)
{
    *channels = (struct tmx_channels){.kind = TMX_CHANNELS_MERGED,
                                      .width_m = 1e-4,
                                      .wall_m = 1e-4,
                                      .flow_m3_per_s = 1e-5,
                                      .inlet_k = c->spec.ambient_k,
                                      .p_j_per_m3k = 4.15e6,
                                      .h_top = 3.8e4,
                                      .h_bottom = 3.8e4,
                                      .viscosity_pa_s = 6.5e-4,
                                      .upwind = true};
    const double side_m = tmx_floorplan_width_m(&c->floorplan);
    c->layer[1] = c->layer[0];
    c->layer[1].dissipates = false;
    c->layer[1].thickness_m = 3e-4;
    c->layer[1].channels = channels;
    c->spec.network = TMX_NETWORK_PHYSICAL;
    c->spec.package = (struct tmx_package){side_m, 1e-8, 130, 1.63e6, side_m, 1e-8, 130, 1.63e6, 1e6, 0};
    c->spec.rows = c->spec.cols = 16;
    c->spec.coolant_limit_k = 373.15;
    c->spec.min_step_s = 1e-3;
}

static const double fan_levels[] = {0.25, 0.15, 0.5};

static void open_chip(struct tmx_thermal_instance *inst, const char *backend, const char *key,
                      const char *value, const struct tmx_thermal_spec *spec)
{
    struct tmx_err err = {0};
    const char *settings[] = {key, value, NULL};
    check(tmx_thermal_instance_create(inst, backend, settings, spec, &err), &err);
}

/* ---- stepping ---- */
struct pair { /* best seconds of a call each, taken in turns */
    double step, floor;
};

/* The same two products by BLAS, whichever way of storing them is faster. */
static void floor_once(const struct tmx_modal *m, int way, const double *power, double *z, double *theta)
{
    const int k = (int)m->n_mode, u = (int)m->n_unit, ldk = (int)m->mode_row, ldu = (int)m->unit_row;
    if (way == 0) {
        cblas_dgemv(CblasColMajor, CblasNoTrans, k, u, 1, m->in, ldk, power, 1, 0, z, 1);
        cblas_dgemv(CblasColMajor, CblasNoTrans, u, k, 1, m->out, ldu, z, 1, 0, theta, 1);
    } else { /* by dot products */
        cblas_dgemv(CblasColMajor, CblasTrans, ldu, k, 1, m->out, ldu, power, 1, 0, z, 1);
        cblas_dgemv(CblasColMajor, CblasTrans, ldk, u, 1, m->in, ldk, z, 1, 0, theta, 1);
    }
}

static struct pair time_step(struct tmx_thermal_instance *inst, const double *power_w)
{
    const struct tmx_reduced_model *m = inst->model; /* a reduced model begins with what is shared */
    const struct tmx_modal *modal = &m->modal[0];
    struct pair best = {INFINITY, INFINITY};
    double theta[MAX_UNIT + TMX_MODAL_PAD] = {0}, power[MAX_UNIT + TMX_MODAL_PAD] = {0};
    double *z = calloc(modal->mode_row, sizeof *z);
    struct tmx_err err = {0};
    memcpy(power, power_w, modal->n_unit * sizeof *power);
    check(tmx_thermal_prepare(inst->ops, inst->model, 1e-3, &err), &err);
    const size_t calls = 1 + 4000000 / (modal->mode_row * modal->unit_row);
    for (size_t b = 0; b < BATCHES; b++) {
        double t = tmx_os_now_s();
        for (size_t i = 0; i < calls; i++) {
            check(inst->ops->step(inst->state, 1e-3, power, theta), &err);
        }
        best.step = fmin(best.step, (tmx_os_now_s() - t) / (double)calls);
        for (int way = 0; way < 2; way++) {
            t = tmx_os_now_s();
            for (size_t i = 0; i < calls; i++) {
                floor_once(modal, way, power, z, theta);
            }
            best.floor = fmin(best.floor, (tmx_os_now_s() - t) / (double)calls);
        }
    }
    free(z);
    return best;
}

static void bench_steps(const struct args *a)
{
    (void)a;
    printf("\nOne step of the reduced back-end, 64 x 64, tolerance 1 mK, step 1 ms; floor: two BLAS\n"
           "matrix-vector products of the same sizes\n");
    printf("%-22s %6s %6s %9s %9s %6s %11s\n", "chip", "blocks", "modes", "step_us", "floor_us", "ratio",
           "snapshot_kB");
    for (size_t i = 0; i < 7; i++) {
        static const size_t blocks[] = {33, 58, 128, 33};
        struct chip c = {0};
        struct tmx_channels channels;
        struct tmx_thermal_instance inst;
        const bool fan = i % 2, coolant = i == 6;
        make_chip(&c, blocks[i / 2], 64);
        if (fan) {
            c.spec.r_convec_levels = fan_levels;
            c.spec.n_level = sizeof fan_levels / sizeof fan_levels[0];
        }
        if (coolant) {
            cool(&c, &channels);
        }
        open_chip(&inst, "reduced", NULL, NULL, &c.spec);
        const struct pair t = time_step(&inst, c.power_w);
        const struct tmx_reduced_model *m = inst.model;
        printf("%-22s %6zu %6zu %9.3f %9.3f %6.2f %11.1f\n",
               coolant ? "water in channels"
               : fan   ? "changing fan"
                       : "fixed convection",
               c.floorplan.n_unit, m->n_mode, 1e6 * t.step, 1e6 * t.floor, t.step / t.floor,
               (double)tmx_image_size(inst.ops->image, inst.state) / 1e3);
        printf("ratio step_%zu_%s_over_floor %.3f\n", blocks[i / 2],
               coolant ? "coolant"
               : fan   ? "fan"
                       : "fixed",
               t.step / t.floor);
        fflush(stdout);
        tmx_thermal_instance_finish(&inst);
        tmx_floorplan_finish(&c.floorplan);
    }
}

/* What the physical network's step costs beside HotSpot's. */
static void bench_networks(const struct args *a)
{
    (void)a;
    static const size_t blocks[] = {33, 33, 58}, grid[] = {64, 32, 32};
    printf("\nOne step on both networks\n%-20s %7s %6s %8s %9s %8s %9s %6s\n", "convection", "grid", "blocks",
           "hotspot", "step_us", "physical", "step_us", "ratio");
    for (size_t i = 0; i < 6; i++) {
        struct chip c[2] = {0};
        struct tmx_thermal_instance inst[2];
        struct pair t[2];
        const bool fan = i % 2;
        for (size_t n = 0; n < 2; n++) {
            make_chip(&c[n], blocks[i / 2], grid[i / 2]);
            c[n].spec.network = n ? TMX_NETWORK_PHYSICAL : TMX_NETWORK_HOTSPOT;
            c[n].spec.r_convec_levels = fan ? fan_levels : NULL;
            c[n].spec.n_level = fan ? sizeof fan_levels / sizeof fan_levels[0] : 0;
            open_chip(&inst[n], "reduced", NULL, NULL, &c[n].spec);
            t[n] = (struct pair){INFINITY, INFINITY};
        }
        for (size_t turn = 0; turn < 6; turn++) {
            const struct pair now = time_step(&inst[turn % 2], c[turn % 2].power_w);
            t[turn % 2].step = fmin(t[turn % 2].step, now.step);
        }
        const struct tmx_reduced_model *m[2] = {inst[0].model, inst[1].model};
        const double ratio = t[1].step / t[0].step;
        printf("%-20s %3zu x %-3zu %4zu %8zu %9.3f %8zu %9.3f %6.2f\nratio physical_%s_%zu_%zu %.3f\n",
               fan ? "changing fan" : "fixed", grid[i / 2], grid[i / 2], blocks[i / 2], m[0]->n_mode,
               1e6 * t[0].step, m[1]->n_mode, 1e6 * t[1].step, ratio, fan ? "fan" : "fixed", blocks[i / 2],
               grid[i / 2], ratio);
        fflush(stdout);
        for (size_t n = 0; n < 2; n++) {
            tmx_thermal_instance_finish(&inst[n]);
            tmx_floorplan_finish(&c[n].floorplan);
        }
    }
}

/* ---- batches ---- */
enum { MAX_GANG = 64 };

struct batch_times { /* best seconds an instance and step, taken in turns */
    double single, batch, floor, mixed_single, mixed_batch;
};

/* n steps one by one, as n simulations would: each with its own state; and at once. */
static void time_gang(const struct tmx_thermal_instance *inst, size_t n, size_t calls, void *const *state,
                      const double *const *power, double *const *temp, double *single, double *batch)
{
    struct tmx_err err = {0};
    double begin = tmx_os_now_s();
    for (size_t c = 0; c < calls; c++) {
        for (size_t i = 0; i < n; i++) {
            check(inst->ops->step(state[i], 1e-3, power[i], temp[i]), &err);
        }
    }
    *single = fmin(*single, (tmx_os_now_s() - begin) / (double)(calls * n));
    begin = tmx_os_now_s();
    for (size_t c = 0; c < calls; c++) {
        size_t bad = 0;
        check(inst->ops->step_many(n, state, 1e-3, power, temp, &bad), &err);
    }
    *batch = fmin(*batch, (tmx_os_now_s() - begin) / (double)(calls * n));
}

static struct batch_times time_batch(struct tmx_thermal_instance *inst, struct tmx_thermal_instance *mixed,
                                     size_t n, const double *power_w)
{
    const struct tmx_reduced_model *r = inst->model;
    const struct tmx_modal *m = &r->modal[0];
    const size_t k = m->mode_row, u = m->unit_row;
    struct batch_times best = {INFINITY, INFINITY, INFINITY, INFINITY, INFINITY};
    struct tmx_err err = {0};
    void *state[MAX_GANG], *mixed_state[MAX_GANG];
    const double *power[MAX_GANG];
    double *temp[MAX_GANG];
    double *block = calloc(MAX_GANG * (3 * u + k), sizeof *block), *p = block, *t = p + MAX_GANG * u,
           *theta = t + MAX_GANG * u, *z = theta + MAX_GANG * u;
    for (size_t i = 0; i < n; i++) {
        check(inst->ops->create(inst->model, &state[i], &err), &err);
        check(mixed->ops->create(mixed->model, &mixed_state[i], &err), &err);
        for (size_t j = 0; j < m->n_unit; j++) {
            p[i * u + j] = power_w[j] * (1 + 0.01 * (double)i);
        }
        power[i] = p + i * u;
        temp[i] = t + i * u;
    }
    check(tmx_thermal_prepare(inst->ops, inst->model, 1e-3, &err), &err);
    check(tmx_thermal_prepare(mixed->ops, mixed->model, 1e-3, &err), &err);
    const size_t calls = 1 + 2000000 / (k * u * n / 8);
    for (size_t b = 0; b < BATCHES; b++) {
        time_gang(inst, n, calls, state, power, temp, &best.single, &best.batch);
        time_gang(mixed, n, calls, mixed_state, power, temp, &best.mixed_single, &best.mixed_batch);
        const double begin = tmx_os_now_s();
        for (size_t c = 0; c < calls; c++) {
            const int in = (int)n, ik = (int)m->n_mode, iu = (int)m->n_unit, ldk = (int)k, ldu = (int)u;
            cblas_dgemm(CblasColMajor, CblasNoTrans, CblasNoTrans, ik, in, iu, 1, m->in, ldk, p, ldu, 0, z,
                        ldk);
            cblas_dgemm(CblasColMajor, CblasNoTrans, CblasNoTrans, iu, in, ik, 1, m->out, ldu, z, ldk, 0,
                        theta, ldu);
            if (m->direct) {
                cblas_dgemm(CblasColMajor, CblasNoTrans, CblasNoTrans, iu, in, iu, 1, m->direct, ldu, p, ldu,
                            1, theta, ldu);
            }
        }
        best.floor = fmin(best.floor, (tmx_os_now_s() - begin) / (double)(calls * n));
    }
    for (size_t i = 0; i < n; i++) {
        inst->ops->destroy(state[i]);
        mixed->ops->destroy(mixed_state[i]);
    }
    free(block);
    return best;
}

static void bench_batches(const struct args *a)
{
    (void)a;
    static const size_t blocks[] = {33, 58, 111, 128}, batches[] = {16, 64};
    printf("\nGangs: one step of n instances of a model, 64 x 64, fixed convection, microseconds an "
           "instance; floor: three BLAS "
           "dgemm of the same shapes\n");
    printf("%6s %6s %5s %9s %9s %9s %12s %11s %15s %14s\n", "blocks", "modes", "batch", "single_us",
           "batch_us", "floor_us", "batch/single", "batch/floor", "mixed_single_us", "mixed_batch_us");
    for (size_t b = 0; b < sizeof blocks / sizeof blocks[0]; b++) {
        struct chip c = {0};
        struct tmx_thermal_instance inst, mixed;
        make_chip(&c, blocks[b], 64);
        open_chip(&inst, "reduced", NULL, NULL, &c.spec);
        open_chip(&mixed, "reduced", "precision", "mixed", &c.spec);
        const struct tmx_reduced_model *m = inst.model;
        for (size_t i = 0; i < sizeof batches / sizeof batches[0]; i++) {
            const struct batch_times t = time_batch(&inst, &mixed, batches[i], c.power_w);
            printf("%6zu %6zu %5zu %9.3f %9.3f %9.3f %12.2f %11.2f %15.3f %14.3f\n", c.floorplan.n_unit,
                   m->n_mode, batches[i], 1e6 * t.single, 1e6 * t.batch, 1e6 * t.floor, t.batch / t.single,
                   t.batch / t.floor, 1e6 * t.mixed_single, 1e6 * t.mixed_batch);
            if (b == 0) {
                printf("ratio batch_%zu_over_single %.3f\nratio batch_%zu_over_floor %.3f\n", batches[i],
                       t.batch / t.single, batches[i], t.batch / t.floor);
                printf("ratio mixed_%zu_over_double %.3f\nratio mixed_single_%zu_over_double %.3f\n"
                       "ratio mixed_%zu_over_double_single %.3f\n",
                       batches[i], t.mixed_batch / t.batch, batches[i], t.mixed_single / t.single, batches[i],
                       t.mixed_batch / t.single);
            }
            fflush(stdout);
        }
        tmx_thermal_instance_finish(&inst);
        tmx_thermal_instance_finish(&mixed);
        tmx_floorplan_finish(&c.floorplan);
    }
}

/* ---- precision ---- */
/* What single precision changes over 20 000 steps of 0.1 ms to 1 s, its bound, and the estimated error of
 * double beside it. */
static void bench_precision(const struct args *a)
{
    (void)a;
    static const size_t blocks[] = {33, 58, 111, 128};
    printf("\nMixed precision against double, 64 x 64, blocks at 0 to 0.3 W/mm2 or 1 W/mm2 at random\n");
    printf("%6s %6s %8s %10s %10s %12s\n", "blocks", "modes", "rise_K", "error_mK", "bound_mK",
           "estimate_mK");
    for (size_t b = 0; b < sizeof blocks / sizeof blocks[0]; b++) {
        struct chip c = {0};
        struct tmx_thermal_instance inst, mixed;
        struct tmx_err err = {0};
        struct tmx_rng *rng = NULL;
        double power[MAX_UNIT], most_w[MAX_UNIT], t[2][MAX_UNIT], error = 0, rise = 0;
        check(tmx_rng_create(&rng, 1, "precision", &err), &err);
        make_chip(&c, blocks[b], 64);
        open_chip(&inst, "reduced", NULL, NULL, &c.spec);
        open_chip(&mixed, "reduced", "precision", "mixed", &c.spec);
        const size_t n = c.floorplan.n_unit;
        for (size_t u = 0; u < n; u++) {
            most_w[u] = 1 / 0.3 * c.power_w[u];
        }
        for (size_t k = 0; k < 20000; k++) {
            const double dt_s = 1e-4 * pow(10, 4 * tmx_rng_uniform(rng));
            for (size_t u = 0; u < n; u++) {
                const double draw = tmx_rng_uniform(rng);
                power[u] = draw < 0.25 ? most_w[u] : c.power_w[u] * tmx_rng_uniform(rng);
            }
            check(inst.ops->step(inst.state, dt_s, power, t[0]), &err);
            check(mixed.ops->step(mixed.state, dt_s, power, t[1]), &err);
            for (size_t u = 0; u < n; u++) {
                error = fmax(error, fabs(t[0][u] - t[1][u]));
                rise = fmax(rise, t[0][u] - c.spec.ambient_k);
            }
        }
        const struct tmx_reduced_model *m = mixed.model;
        printf("%6zu %6zu %8.1f %10.4f %10.2f %12.2f\n", n, m->n_mode, rise, 1e3 * error,
               1e3 * tmx_reduced_model_rounding(m, false, most_w),
               1e3 * inst.ops->error_bound(inst.state, false, most_w));
        fflush(stdout);
        tmx_rng_destroy(rng);
        tmx_thermal_instance_finish(&inst);
        tmx_thermal_instance_finish(&mixed);
        tmx_floorplan_finish(&c.floorplan);
    }
}

/* ---- set-up ---- */
/* One shift's matrix and its columns, best of three: what a set-up makes of each of its shifts at least. */
static double time_shift(const struct chip *c)
{
    static const struct tmx_accuracy accuracy = {.part = 1e-5};
    struct tmx_network net;
    struct tmx_solver *solver = NULL;
    struct tmx_err err = {0};
    double best = INFINITY;
    check(tmx_network_init(&net, &c->spec, &err), &err);
    solver = tmx_solver_create(&net, TMX_SOLVER_BY_SIZE, NULL, &err);
    check(err.code, &err);
    const struct tmx_matrix matrix = {.gamma = tmx_network_gamma(&net, 0.25), .sigma = 100};
    const size_t n_rhs = c->floorplan.n_unit;
    double *b = calloc(2 * n_rhs * net.n_node, sizeof *b);
    for (size_t i = 0; b && i < n_rhs; i++) {
        b[i * net.n_node + i] = 1;
    }
    for (size_t i = 0; b && i < 3; i++) {
        struct tmx_system *system = NULL;
        const double t = tmx_os_now_s();
        system = tmx_system_create(solver, &matrix, &err);
        check(err.code, &err);
        check(__real_tmx_solve(solver, system, &accuracy, false, n_rhs, b, NULL, b + n_rhs * net.n_node),
              &err);
        best = fmin(best, tmx_os_now_s() - t);
        tmx_system_destroy(system);
    }
    free(b);
    tmx_solver_destroy(solver);
    tmx_network_finish(&net);
    return best;
}

static void bench_setup(const struct args *a)
{
    printf("\nSet-up, 33 blocks (wall; cpu is that of the thread)\n");
    printf("%-10s %8s %8s %8s %10s %9s %9s\n", "grid", "shifts", "basis", "modes", "cold_s", "cold_cpu_s",
           "warm_ms");
    for (size_t grid = 64; grid <= (a->quick ? 64 : 256); grid *= 2) {
        struct chip c = {0};
        struct tmx_thermal_instance inst;
        double warm = INFINITY, t, cpu;
        make_chip(&c, 33, grid);
        c.spec.no_field = true; /* as in a run */
        t = tmx_os_now_s();
        cpu = tmx_os_cpu_s();
        open_chip(&inst, "reduced", "cache", "0", &c.spec);
        t = tmx_os_now_s() - t;
        cpu = tmx_os_cpu_s() - cpu;
        const struct tmx_reduced_model *m = inst.model;
        const size_t shifts = m->n_shift, basis = m->n_basis, modes = m->n_mode;
        tmx_thermal_instance_finish(&inst);
        for (int i = 0; i < 6; i++) { /* the first fills the cache */
            const double begin = tmx_os_now_s();
            open_chip(&inst, "reduced", NULL, NULL, &c.spec);
            m = inst.model;
            warm = m->from_cache ? fmin(warm, tmx_os_now_s() - begin) : warm;
            tmx_thermal_instance_finish(&inst);
        }
        const double floor_s = (double)shifts * time_shift(&c);
        printf("%3zu x %-4zu %8zu %8zu %8zu %10.2f %9.2f %9.1f\nratio setup_%zu_s %.3f\nratio "
               "setup_%zu_over_solves %.3f\n",
               grid, grid, shifts, basis, modes, t, cpu, 1e3 * warm, grid, t, grid, t / floor_s);
        fflush(stdout);
        tmx_floorplan_finish(&c.floorplan);
    }
}

/* ---- full grid ---- */
static double time_grid(const struct chip *c, const char *scheme, size_t *n_solve)
{
    struct tmx_thermal_instance inst;
    struct tmx_err err = {0};
    double theta[MAX_UNIT], power[MAX_UNIT], best = INFINITY;
    open_chip(&inst, "grid", "scheme", scheme, &c->spec);
    check(tmx_thermal_prepare(inst.ops, inst.model, 1e-2, &err), &err);
    for (size_t i = 0; i < BATCHES; i++) {
        for (size_t u = 0; u < c->floorplan.n_unit; u++) {
            power[u] = c->power_w[u] * (double)((i + u) % 3);
        }
        solves = 0;
        const double t = tmx_os_now_s();
        check(inst.ops->step(inst.state, 1e-2, power, theta), &err);
        best = fmin(best, tmx_os_now_s() - t);
        *n_solve = solves;
    }
    tmx_thermal_instance_finish(&inst);
    return best;
}

static double time_solve(const struct chip *c)
{
    static const struct tmx_accuracy accuracy = {.kelvin = 1e-8};
    struct tmx_network net;
    struct tmx_solver *solver = NULL;
    struct tmx_system *system = NULL;
    struct tmx_err err = {0};
    double best = INFINITY;
    check(tmx_network_init(&net, &c->spec, &err), &err);
    solver = tmx_solver_create(&net, TMX_SOLVER_BY_SIZE, NULL, &err);
    check(err.code, &err);
    const struct tmx_matrix matrix = {.gamma = tmx_network_gamma(&net, 0.25), .sigma = 100};
    system = tmx_system_create(solver, &matrix, &err);
    check(err.code, &err);
    double *b = calloc(2 * net.n_node, sizeof *b);
    for (size_t i = 0; b && i < BATCHES; i++) {
        b[i] = 1;
        const double t = tmx_os_now_s();
        check(__real_tmx_solve(solver, system, &accuracy, false, 1, b, NULL, b + net.n_node), &err);
        best = fmin(best, tmx_os_now_s() - t);
    }
    free(b);
    tmx_system_destroy(system);
    tmx_solver_destroy(solver);
    tmx_network_finish(&net);
    return best;
}

/* ---- other programs ---- */
static double run_time(const char *const *argv)
{
    struct tmx_err err = {0};
    int code = 0;
    const double t = tmx_os_now_s();
    check(tmx_os_run(argv, "/dev/null", &code, &err), &err);
    if (code) {
        fprintf(stderr, "bench_thermal: %s ended with exit code %d\n", argv[0], code);
        exit(1);
    }
    return tmx_os_now_s() - t;
}

/* Golden A's power, its first n rows. */
static void write_power(const char *path, size_t n)
{
    struct tmx_trace t;
    struct tmx_err err = {0};
    check(tmx_trace_read(TMX_SOURCE_DIR "/tests/golden/A_gt200/power.ptrace", &t, &err), &err);
    FILE *f = fopen(path, "w");
    if (!f) {
        fprintf(stderr, "bench_thermal: cannot write %s\n", path);
        exit(2);
    }
    tmx_trace_print_names((const char *const *)t.name, t.n_column, f);
    for (size_t r = 0; r < n && r < t.n_row; r++) {
        tmx_trace_print_row(t.value + r * t.n_column, t.n_column, TMX_TRACE_LOSSLESS, f);
    }
    fclose(f);
    tmx_trace_finish(&t);
}

static void bench_others(const struct args *a)
{
    if (a->hotspot) {
        double t[2];
        for (size_t i = 0; i < 2; i++) {
            static const char config[] = TMX_SOURCE_DIR "/tests/golden/A_gt200/case.config";
            static const char floorplan[] = TMX_SOURCE_DIR "/tests/golden/A_gt200/chip.flp";
            const char *const argv[] = {a->hotspot,
                                        "-c",
                                        config,
                                        "-f",
                                        floorplan,
                                        "-p",
                                        "bench_thermal.ptrace",
                                        "-o",
                                        "bench_thermal.ttrace",
                                        NULL};
            write_power("bench_thermal.ptrace", i ? 11 : 1);
            t[i] = run_time(argv);
        }
        printf("%-28s %9.3f   (10 rows of golden A, 64 x 64, without set-up)\n", "HotSpot",
               1e3 * (t[1] - t[0]) / 10);
    }
    if (a->ice) {
        const char *const argv[] = {a->ice, a->ice_stack, NULL};
        printf("%-28s %9.3f   (%s, %ld steps, with set-up)\n", "3D-ICE",
               1e3 * run_time(argv) / (double)a->ice_steps, a->ice_stack, a->ice_steps);
    }
}

static void bench_grid(const struct args *a)
{

    struct chip c = {0};
    size_t n_be, n_exact;
    make_chip(&c, 33, 64);
    const double bare = time_solve(&c), be = time_grid(&c, "be", &n_be),
                 exact = time_grid(&c, "exact", &n_exact);
    printf("\nOne step of 10 ms, full grid 64 x 64, 33 blocks\n");
    printf("%-28s %9s %8s %7s\n", "method", "step_ms", "ratio", "solves");
    printf("%-28s %9.3f %8.2f %7d\n", "solve from 0", 1e3 * bare, 1.0, 1);
    printf("%-28s %9.3f %8.2f %7zu\n", "grid, backward Euler", 1e3 * be, be / bare, n_be);
    printf("%-28s %9.3f %8.2f %7zu\n", "grid, exact", 1e3 * exact, exact / bare, n_exact);
    printf("ratio grid_be_over_solve %.3f\nratio grid_exact_over_solve %.3f\n", be / bare,
           exact / bare / (double)n_exact);
    tmx_floorplan_finish(&c.floorplan);
    bench_others(a);
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct args *a = state->input;
    switch (key) {
    case 'H':
        a->hotspot = arg;
        return 0;
    case 'I':
        a->ice = arg;
        return 0;
    case 'S':
        a->ice_stack = arg;
        return 0;
    case 'N':
        a->ice_steps = strtol(arg, NULL, 10);
        return 0;
    case 'q':
        a->quick = true;
        return 0;
    case ARGP_KEY_ARG:
        if (a->part) {
            return ARGP_ERR_UNKNOWN;
        }
        a->part = arg;
        return 0;
    case ARGP_KEY_END:
        if (a->ice && (!a->ice_stack || a->ice_steps < 1)) {
            argp_error(state, "--3d-ice needs --ice-stack and --ice-steps");
        }
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

int main(int argc, char **argv)
{
    static const struct argp_option options[] = {
        {"hotspot", 'H', "PATH", 0, "HotSpot executable to time beside ours", 0},
        {"3d-ice", 'I', "PATH", 0, "3D-ICE emulator to time beside ours", 0},
        {"ice-stack", 'S', "FILE", 0, "its stack description", 0},
        {"ice-steps", 'N', "COUNT", 0, "steps that FILE makes it compute", 0},
        {"quick", 'q', NULL, 0, "leave out set-ups of 128 x 128 and 256 x 256", 0},
        {0}};
    static const struct argp argp = {options,
                                     parse,
                                     "[PART]",
                                     "Time the thermal engine, each number beside its floor. PART: steps, "
                                     "networks, batches, precision, setup or grid; all of them without "
                                     "one.\vExample:\n  bench/thermal --quick\n  bench/thermal networks",
                                     NULL,
                                     NULL,
                                     NULL};
    struct args a = {0};
    argp_parse(&argp, argc, argv, 0, NULL, &a);
    if (setenv("XDG_CACHE_HOME", "/tmp/thermix-bench-cache", 0)) {
        return 1;
    }
    const struct {
        const char *name;
        void (*run)(const struct args *a);
    } part[] = {{"steps", bench_steps},         {"networks", bench_networks}, {"batches", bench_batches},
                {"precision", bench_precision}, {"setup", bench_setup},       {"grid", bench_grid}};
    bool known = !a.part;
    for (size_t i = 0; i < sizeof part / sizeof part[0]; i++) {
        if (!a.part || strcmp(a.part, part[i].name) == 0) {
            part[i].run(&a);
            known = true;
        }
    }
    if (!known) {
        fprintf(stderr, "bench_thermal: no part \"%s\"\n", a.part);
        return 2;
    }
    return 0;
}

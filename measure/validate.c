/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "measure/validate.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <thermix/policy.h>

#include "base/arena.h"
#include "base/csv.h"
#include "base/text.h"
#include "core/floorplan/floorplan.h"
#include "hotspot/trace_run.h"
#include "measure/calibrate.h"
#include "measure/replay.h"
#include "measure/silicon.h"
#include "power/power.h"
#include "run/load/data.h"
#include "study/pool.h"

/* Empty after an error. */
static struct tmx_measured open_log(struct tmx_claims *c, const char *file, const char *runs)
{
    char name[128], path[TMX_PATH_SIZE];
    struct tmx_measured m = {0};
    snprintf(name, sizeof name, "workloads/measured/%s", file);
    if (!c->err.code && !tmx_data_file(name, path, &c->err) && !tmx_measured_read(&m, path, NULL, &c->err)) {
        (void)!tmx_measured_select(&m, runs, NULL, &c->err);
    }
    return m;
}

/* Largest relative error of the difference between the rows over the runs, under load. */
static double row_difference_error(const struct tmx_replay *r, const struct tmx_measured *log)
{
    double worst = 0;
    for (size_t first = 0; first < r->n_row;) {
        double measured[2] = {0}, predicted[2] = {0}, n[2] = {0};
        size_t k = first;
        for (; k < r->n_row && r->row[k].run == r->row[first].run; k++) {
            const struct tmx_series *s = &log->series[r->series[k]];
            const char *gpu = log->gpu[s->gpu]; /* 1, 2, 5 and 6 of the B200 node are the warmer ones */
            const size_t row = strchr("1256", gpu[0]) && !gpu[1];
            const double end = s->q[TMX_Q_TIME][s->n - 1];
            for (size_t i = 0; i < s->n; i++) {
                const double t = s->q[TMX_Q_TIME][i];
                if (t > 0.45 * end && t < 0.9 * end && !isnan(s->q[TMX_Q_TEMP][i])) {
                    measured[row] += s->q[TMX_Q_TEMP][i];
                    predicted[row] += r->temp_c[r->series[k]][i];
                    n[row] += 1;
                }
            }
        }
        const double is = measured[1] / n[1] - measured[0] / n[0],
                     ours = predicted[1] / n[1] - predicted[0] / n[0];
        worst = fmax(worst, fabs(ours / is - 1));
        first = k;
    }
    return worst;
}

/* Trained on some runs of a node's log, judged on t->only. */
static void node(struct tmx_claims *claims, const struct tmx_claim_task *t)
{
    char rms[64], rows[64];
    const char *trained_on = "";
    struct tmx_calibration fit = {0};
    struct tmx_replay r = {0};
    const struct tmx_calibrate_options o = {.air = t->air, .ambient = TMX_AMBIENT_FIT, .split = 1};
    struct tmx_replay_options how = {.ambient = t->held ? TMX_AMBIENT_GIVEN : TMX_AMBIENT_FIT};
    double worst = 0;
    snprintf(rms, sizeof rms, "%s_rms", t->id);
    snprintf(rows, sizeof rows, "%s_rows", t->id);
    for (size_t i = 0; i < claims->targets->n_row; i++) {
        trained_on = strcmp(tmx_csv_at(claims->targets, i, "id"), rms) == 0
                         ? tmx_csv_at(claims->targets, i, "trained_on")
                         : trained_on;
    }
    struct tmx_measured train = open_log(claims, t->file, trained_on),
                        test = open_log(claims, t->file, t->only);
    if (!claims->err.code && !tmx_calibrate(&fit, &train, &o, NULL, &claims->err)) {
        for (size_t i = 0; i < train.n_run; i++) {
            how.ambient_c += fit.ambient_c[i] / (double)train.n_run;
        }
        if (!tmx_replay(&r, &fit.model, &test, &how, NULL, &claims->err)) {
            for (size_t k = 0; k < r.n_row; k++) {
                worst = fmax(worst, r.row[k].rmse_k);
            }
            tmx_claim(claims, rms, worst);
            tmx_claim(claims, rows, 100 * row_difference_error(&r, &test));
        }
    }
    tmx_replay_finish(&r);
    tmx_calibration_finish(&fit);
    tmx_measured_finish(&train);
    tmx_measured_finish(&test);
}

static void pulses(struct tmx_claims *claims, const struct tmx_claim_task *t)
{
    struct tmx_calibration fit = {0};
    const struct tmx_calibrate_options o = {.air = "none", .ambient = TMX_AMBIENT_FIT, .split = 0.5};
    struct tmx_measured log = open_log(claims, t->file, NULL);
    if (!claims->err.code && !tmx_calibrate(&fit, &log, &o, NULL, &claims->err)) {
        tmx_claim(claims, t->id, fit.rest_rms_k);
    }
    tmx_calibration_finish(&fit);
    tmx_measured_finish(&log);
}

static void watts(struct tmx_claims *claims, const struct tmx_claim_task *t)
{
    struct tmx_watts_check w;
    if (!tmx_validate_watts(&w, &claims->err)) {
        tmx_claim(claims, t->id, w.off_w);
    }
}

struct follow { /* rows as they come beside those of the file */
    const struct tmx_trace_run *run;
    const struct tmx_trace *theirs;
    double worst_k;
};

static void compare_row(void *to, size_t n_done, size_t n_total)
{
    struct follow *f = to;
    (void)n_total;
    for (size_t i = 0; n_done <= f->theirs->n_row && i < f->theirs->n_column; i++) {
        const double d = f->run->row_k[i] - f->theirs->value[(n_done - 1) * f->theirs->n_column + i];
        f->worst_k = fmax(f->worst_k, fabs(d));
    }
}

/* Largest difference of the steady state from what HotSpot wrote. */
static double compare_steady(struct tmx_trace_run *r, const char *path, struct tmx_err *err)
{
    struct tmx_temps theirs = {0};
    double worst_k = 0;
    if (!tmx_trace_run_steady(r, err) && !tmx_temps_init(&theirs, &r->stack, err) &&
        !tmx_temps_read(path, &theirs, err)) {
        for (size_t i = 0; i < theirs.first[theirs.n_layer]; i++) {
            worst_k = fmax(worst_k, fabs(theirs.block_k[i] - r->temps.block_k[i]));
        }
        for (size_t i = 0; i < theirs.n_package; i++) {
            worst_k = fmax(worst_k, fabs(theirs.package_k[i] - r->temps.package_k[i]));
        }
    }
    tmx_temps_finish(&theirs);
    return worst_k;
}

/* Repeat what HotSpot was run with, its conventions and its step, and compare with what it wrote. t->only:
 * the folder of tests/golden, whose README.txt says how its files were made. */
static void golden(struct tmx_claims *claims, const struct tmx_claim_task *t)
{
    static const char *const files[] = {"case.config", "power.ptrace", "out.ttrace", "out.steady"};
    char path[5][TMX_PATH_SIZE], name[256];
    bool found = true;
    const bool stack = strcmp(t->only, "E_stack2") == 0;
    for (size_t i = 0; i < 5; i++) {
        struct tmx_err absent = {0};
        snprintf(name, sizeof name, "tests/golden/%s/%s", t->only,
                 i < 4   ? files[i]
                 : stack ? "stack.lcf"
                         : "chip.flp");
        found = found && !tmx_data_file(name, path[i], &absent);
    }
    if (!found) {
        tmx_claim(claims, t->id, NAN);
        return;
    }
    struct tmx_err *err = &claims->err;
    struct tmx_trace theirs = {0};
    struct tmx_trace_run run = {0};
    const struct tmx_trace *ours = &run.power;
    struct follow follow = {.run = &run, .theirs = &theirs};
    struct tmx_trace_options o = {.method = &tmx_thermal_grid,
                                  .scheme = TMX_TRACE_BE,
                                  .no_cache = true,
                                  .hotspot_compat = true,
                                  .row_done = compare_row,
                                  .row_done_to = &follow};
    tmx_hotspot_config_init(&o.cfg);
    if (!tmx_hotspot_config_set(&o.cfg, stack ? "grid_layer_file" : "f", path[4], TMX_HOTSPOT_COMMAND_LINE, 0,
                                err) &&
        !tmx_hotspot_config_set(&o.cfg, "p", path[1], TMX_HOTSPOT_COMMAND_LINE, 0, err) &&
        !tmx_hotspot_config_read(&o.cfg, path[0], TMX_HOTSPOT_CONFIG, err) &&
        !tmx_trace_read(path[2], &theirs, err) && !tmx_trace_run_read(&run, &o, NULL, err)) {
        bool same = ours->n_column == theirs.n_column && ours->n_row == theirs.n_row;
        for (size_t i = 0; same && i < theirs.n_column; i++) {
            same = strcmp(ours->name[i], theirs.name[i]) == 0;
        }
        if (!same) {
            tmx_error_at(err, TMX_EPARSE, theirs.source, 1, "expected the columns and rows of %s",
                         ours->source);
        } else if (!tmx_trace_run_transient(&run, NULL, NULL, err)) {
            const double steady_k = compare_steady(&run, path[3], err);
            tmx_claim(claims, t->id, fmax(steady_k, follow.worst_k));
        }
    }
    tmx_trace_run_finish(&run);
    tmx_trace_finish(&theirs);
}

/* AccelWattch's kernels on our V100: chip watts of the power model beside the source's sum and the board's.
 */

/* Watts of all units while the kernel fills the chip, at the nominal clock and the leakage's temperature. */
static double chip_w(const struct tmx_chip *c, const char *kernel, struct tmx_err *err)
{
    const struct tmx_power_ops *ops = tmx_power_models[0];
    const bool leakage = true;
    const size_t n = c->floorplan.n_unit;
    char path[TMX_PATH_SIZE];
    struct tmx_kernel k;
    struct tmx_job job;
    struct tmx_machine *m = NULL;
    void *model = NULL;
    double *block = calloc(8 * n + TMX_SLOTS + 1, sizeof *block), watts = 0;
    enum tmx_status st =
        block ? tmx_data_find(TMX_DATA_KERNEL, kernel, path, err) : tmx_fail(err, TMX_ENOMEM, "%zu units", n);
    st = st ? st : tmx_kernel_load(&k, path, err);
    st = st ? st : tmx_job_init(&job, &k, c, 1, err);
    const struct tmx_machine_spec spec = {
        .chip = &c, .n_gpu = 1, .job = &job, .n_job = 1, .dt_s = 1e-3, .gain = 1};
    st = st ? st : tmx_machine_create(&m, &spec, err);
    st = st ? st : ops->create(&leakage, m, &model, err);
    if (!st) {
        struct tmx_frame f = {.n_gpu = 1, .n_sm = c->n_sm, .n_unit = n};
        double **const arrays[] = {&f.asleep,  &f.unpowered,  &f.dynamic_w, &f.leakage_w,
                                   &f.saved_w, &f.baseline_w, &f.power_w,   &f.temp_k};
        for (size_t i = 0; i < sizeof arrays / sizeof arrays[0]; i++) {
            *arrays[i] = block + i * n;
        }
        f.slot_w = block + 8 * n;
        f.transition_w = f.slot_w + TMX_SLOTS;
        for (size_t u = 0; u < n; u++) {
            f.temp_k[u] = c->power.leakage_ref_c + TMX_ZERO_C;
        }
        m->gpu[0].run[0] = 0;
        m->gpu[0].n_run = 1;
        m->job[0].state = TMX_JOB_RUNNING;
        m->speed[0] = m->volt[0] = m->volt2[0] = 1; /* the nominal level */
        for (size_t sm = 0; sm < c->n_sm; sm++) {
            m->busy[sm] = 1;
        }
        if (ops->eval(model, m, tmx_machine_all(m), &f)) {
            tmx_error(err, TMX_ESOLVE, "the power of %s", kernel);
        }
        for (size_t u = 0; u < n; u++) {
            watts += f.power_w[u];
        }
    }
    if (model) {
        ops->destroy(model);
    }
    tmx_machine_destroy(m);
    free(block);
    return tmx_chip_board_w(c, watts);
}

enum tmx_status tmx_validate_watts(struct tmx_watts_check *w, struct tmx_err *err)
{
    /* a row "backprop-rodinia-3.1_k1" is the file aw_backprop_k1: without the suite's name and signs */
    static const char *const drop[] = {"-rodinia-3.1", "parboil-", "+", "-"};
    char path[TMX_PATH_SIZE], name[64];
    struct tmx_csv csv = {0};
    struct tmx_chip chip = {0};
    struct tmx_err failed = {0};
    *w = (struct tmx_watts_check){0};
    enum tmx_status st = tmx_data_file("workloads/measured/accelwattch_volta_kernels.csv", path, err);
    st = st ? st : tmx_csv_read(&csv, path, err);
    if (st) {
        return st;
    }
    const size_t total = tmx_csv_column(&csv, "sim_total_W"), board = tmx_csv_column(&csv, "measured_W");
    if (!tmx_data_find(TMX_DATA_CHIP, "v100", path, &failed) && !tmx_chip_open(&chip, path, &failed) &&
        (total == csv.n_column || board == csv.n_column || csv.n_row == 0)) {
        tmx_error_at(&failed, TMX_EPARSE, csv.source, 1, "expected columns sim_total_W and measured_W");
    }
    for (size_t r = 0; !failed.code && r < csv.n_row; r++) {
        double all, is;
        if (!tmx_csv_real(&csv, r, total, &all) || !tmx_csv_real(&csv, r, board, &is)) {
            tmx_error_at(&failed, TMX_EPARSE, csv.source, csv.line[r], "a total without a value");
            break;
        }
        snprintf(name, sizeof name, "aw_%s", tmx_csv_cell(&csv, r, 2));
        for (size_t i = 0; i < sizeof drop / sizeof drop[0]; i++) {
            for (char *at; (at = strstr(name, drop[i])) != NULL;) {
                memmove(at, at + strlen(drop[i]), strlen(at + strlen(drop[i])) + 1);
            }
        }
        const double ours = chip_w(&chip, name, &failed);
        w->off_w = fmax(w->off_w, fabs(ours - all));
        w->mape_pct += 100 * fabs(ours / is - 1) / (double)csv.n_row;
        w->n_kernel++;
    }
    tmx_chip_finish(&chip);
    tmx_csv_finish(&csv);
    return tmx_error_give(err, &failed);
}

/* Every part is one or more tasks, each in a process of its own (study/pool.h), in the order of the rows. */

const char *const tmx_validate_parts[] = {"b200", "pulses", "accelwattch", "hotspot", "longhorn",    "zeus",
                                          "maxq", "wall",   "steps",       "kalos",   "lit-silicon", NULL};

static tmx_claim_fn *const kinds[] = {[TMX_CLAIM_NODE] = node,
                                      [TMX_CLAIM_PULSES] = pulses,
                                      [TMX_CLAIM_WATTS] = watts,
                                      [TMX_CLAIM_GOLDEN] = golden,
                                      [TMX_CLAIM_RUN] = tmx_silicon_run,
                                      [TMX_CLAIM_POPULATION] = tmx_silicon_population,
                                      [TMX_CLAIM_LIMITS] = tmx_silicon_limits,
                                      [TMX_CLAIM_MAXQ] = tmx_silicon_maxq,
                                      [TMX_CLAIM_STEP] = tmx_silicon_step,
                                      [TMX_CLAIM_LIT] = tmx_silicon_lit};

struct tasks {
    struct tmx_claim_file file;
    const struct tmx_validate_options *options;
    struct tmx_csv targets;
    struct tmx_claim_value *value; /* [n_task][targets.n_row] */
    struct tmx_arena arena;
};

static bool wanted(void *ctx, size_t i)
{
    const struct tasks *s = ctx;
    const size_t n = s->options->n_part;
    return n == 0 || tmx_names_find(s->file.task[i].part, s->options->part, n) < n;
}

/* A child sends the points of figures, then a value a target: of a task whose data are not installed, all of
 * its part. */
static enum tmx_status compute(void *ctx, size_t i, FILE *out, struct tmx_err *err)
{
    const struct tasks *s = ctx;
    const struct tmx_claim_task *task = &s->file.task[i];
    struct tmx_claims c = {.targets = &s->targets,
                           .value = s->value + i * s->targets.n_row,
                           .points = s->options->points ? out : NULL};
    kinds[task->kind](&c, task);
    for (size_t k = 0; k < s->targets.n_row; k++) {
        c.value[k].ours = c.any ? c.value[k].ours : NAN;
        c.value[k].has =
            (c.value[k].has || !c.any) && strcmp(tmx_csv_at(&s->targets, k, "part"), task->part) == 0;
    }
    fwrite(c.value, sizeof *c.value, s->targets.n_row, out);
    return tmx_error_give(err, &c.err);
}

static enum tmx_status collect(void *ctx, const struct tmx_pool_result *r, struct tmx_err *err)
{
    struct tasks *s = ctx;
    const size_t n = s->targets.n_row * sizeof *s->value;
    struct tmx_silicon_points *p = s->options->points;
    if (r->status) {
        *err = r->err;
        return r->status;
    }
    memcpy(s->value + r->task * s->targets.n_row, r->bytes + r->n_byte - n, n);
    if (p && r->n_byte > n) {
        struct tmx_silicon_point *more = realloc(p->point, p->n * sizeof *more + r->n_byte - n);
        if (!more) {
            return tmx_no_memory(err);
        }
        memcpy(more + p->n, r->bytes, r->n_byte - n);
        p->n += (r->n_byte - n) / sizeof *more;
        p->point = more;
    }
    return TMX_OK;
}

static void add_row(struct tmx_table *t, const struct tmx_csv *targets, size_t i, double ours)
{
    const char *origin = tmx_csv_at(targets, i, "origin"), *quantity = tmx_csv_at(targets, i, "quantity");
    const double measured = tmx_csv_value(targets, i, tmx_csv_column(targets, "measured")),
                 band = tmx_csv_value(targets, i, tmx_csv_column(targets, "band"));
    const bool is_there = !isnan(ours) && !isnan(measured), holds = fabs(ours - measured) <= band;
    tmx_table_row(t, "%s %s %s %s %s %G %G %G %s %s %s %s %s %s", tmx_csv_at(targets, i, "part"),
                  tmx_csv_at(targets, i, "what"), tmx_csv_at(targets, i, "trained_on"),
                  tmx_csv_at(targets, i, "source"), quantity[0] ? quantity : tmx_csv_at(targets, i, "id"),
                  measured, ours, is_there ? band : NAN, tmx_csv_at(targets, i, "unit"), origin,
                  strcmp(origin, "identity") == 0 ? ""
                  : strcmp(origin, "unseen") == 0 ? "unseen"
                                                  : "seen",
                  tmx_csv_at(targets, i, "protocol"),
                  !is_there ? "not installed"
                  : holds   ? "yes"
                            : "no",
                  is_there && !holds ? tmx_csv_at(targets, i, "known") : "");
}

enum tmx_status tmx_validate(struct tmx_table **t, const struct tmx_validate_options *options,
                             struct tmx_err *err)
{
    static const struct tmx_column columns[] = {
        TMX_TEXT("part"),     TMX_TEXT("what"),        TMX_TEXT("trained_on"), TMX_TEXT("source"),
        TMX_TEXT("quantity"), TMX_REAL("measured", 3), TMX_REAL("ours", 4),    TMX_REAL("bar", 3),
        TMX_TEXT("unit"),     TMX_TEXT("origin"),      TMX_TEXT("seen"),       TMX_TEXT("protocol"),
        TMX_TEXT("holds"),    TMX_TEXT("known")};
    struct tasks s = {.options = options};
    char path[TMX_PATH_SIZE];
    enum tmx_status st = tmx_claim_load(&s.file, err);
    const size_t n_task = s.file.n_task;
    const struct tmx_pool pool = {.n_task = n_task,
                                  .n_worker = options->n_worker,
                                  .noun = options->quiet ? NULL : "tasks",
                                  .ctx = &s,
                                  .run = compute,
                                  .wanted = wanted,
                                  .collect = collect};
    st = st ? st : tmx_data_file("workloads/measured/targets.csv", path, err);
    st = st ? st : tmx_csv_read(&s.targets, path, err);
    TMX_TAKE(&s.arena, s.value, n_task * s.targets.n_row);
    st = st || s.value ? st : tmx_no_memory(err);
    st = st ? st : tmx_pool_run(&pool, err);
    st = st ? st : tmx_table_create(t, columns, sizeof columns / sizeof columns[0], err);
    for (size_t i = 0; !st && i < 2 * n_task * s.targets.n_row; i++) { /* what was unseen comes first */
        const size_t k = i % s.targets.n_row, at = i % (n_task * s.targets.n_row);
        const bool unseen = strcmp(tmx_csv_at(&s.targets, k, "origin"), "unseen") == 0;
        if (s.value[at].has && unseen == (i < n_task * s.targets.n_row)) {
            add_row(*t, &s.targets, k, s.value[at].ours);
        }
    }
    tmx_claim_finish(&s.file);
    tmx_csv_finish(&s.targets);
    tmx_arena_finish(&s.arena);
    return st;
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "study/study.h"

#include <math.h>
#include <string.h>

#include "base/config.h"
#include "base/csv.h"
#include "base/os.h"
#include "base/output.h"
#include "run/summary.h"
#include "study/analysis/analysis.h"
#include "study/pool.h"

struct probe {
    struct tmx_run_trace *trace, *hotspot;
    const struct tmx_run *run;
    const volatile sig_atomic_t *stop;
    bool progress;
    double begin_s, last_s;
};

static void after_tick(void *ctx, const struct tmx_sim *sim)
{
    struct probe *w = ctx;
    if (w->trace) {
        tmx_run_trace_tick(w->trace, sim);
    }
    if (w->hotspot) {
        tmx_run_trace_tick(w->hotspot, sim);
    }
}

static bool should_stop(void *ctx)
{
    struct probe *w = ctx;
    const double now_s = w->progress ? tmx_os_now_s() : 0;
    if (w->progress && now_s - w->last_s > 0.2) {
        const double share = tmx_sim_share(tmx_run_sim(w->run));
        char left[32] = "?";
        w->begin_s = w->begin_s > 0 ? w->begin_s : now_s;
        if (share > 0 && now_s > w->begin_s) {
            tmx_progress_time(left, sizeof left, (now_s - w->begin_s) * (1 - share) / share);
        }
        const double time_s = tmx_sim_time_s(tmx_run_sim(w->run));
        if (time_s < 0) {
            fprintf(stderr, "\rwarming up, %.0f s to go\033[K", -time_s);
        } else {
            fprintf(stderr, "\r%5.1f %% of the work, %.0f s simulated, %s left\033[K", 100 * share, time_s,
                    left);
        }
        w->last_s = now_s;
    }
    return w->stop && *w->stop;
}

/* The trace that was written, as OpenMetrics; that of rows where no dies were computed. */
static void print_series(const struct tmx_run_alone *a, bool dies, struct tmx_err *err)
{
    char path[TMX_PATH_SIZE];
    struct tmx_csv csv;
    struct tmx_table *t = tmx_table_of("");
    tmx_path_join(path, a->dir, dies ? "trace.csv" : "rows.csv", err);
    tmx_csv_read(&csv, path, err);
    for (size_t c = 0; c < csv.n_column; c++) {
        const bool text = strstr(csv.column[c], "kernel") || strcmp(csv.column[c], "reasons") == 0 ||
                          strcmp(csv.column[c], dies ? "gpu" : "row") == 0;
        tmx_table_extend(t, csv.column[c], text ? TMX_COLUMN_TEXT : TMX_COLUMN_REAL, 0);
    }
    tmx_table_check(t, err);
    for (size_t i = 0; i < csv.n_row * csv.n_column && !err->code; i++) {
        const double v = tmx_csv_value(&csv, i / csv.n_column, i % csv.n_column);
        tmx_table_column(t, i % csv.n_column)->type == TMX_COLUMN_TEXT ? tmx_table_text(t, csv.cell[i])
                                                                       : tmx_table_real_or_empty(t, v);
    }
    tmx_table_save_columns(t, TMX_FORMAT_OPENMETRICS, "-", a->column, a->n_column, err);
    tmx_table_destroy(t);
    tmx_csv_finish(&csv);
}

static bool has_column(const struct tmx_table *t, const char *name)
{
    return tmx_table_find(t, name) < tmx_table_columns(t);
}

/* How many of the columns asked for a table has. */
static size_t has_columns(const struct tmx_table *t, const struct tmx_run_alone *a)
{
    size_t n = 0;
    for (size_t i = 0; i < a->n_column; i++) {
        n += has_column(t, a->column[i]);
    }
    return n;
}

/* The whole on the screen; for programs the summary's row alone. Columns asked for are the summary's where it
 * has them all, else of its parts. */
static void print(const struct tmx_run_alone *a, const struct tmx_run *run, struct tmx_err *err)
{
    enum { MOST_ROWS = 12 }; /* kernels on a screen that shows the metrics too */
    const struct tmx_screen screen = {.column = a->column, .n_column = a->n_column, .most_rows = MOST_ROWS};
    const bool people = a->format == TMX_FORMAT_TEXT;
    if (a->format == TMX_FORMAT_OPENMETRICS && a->trace_s > 0) {
        print_series(a, !tmx_run_sim(run)->cold, err);
        return;
    }
    if (people) {
        tmx_run_print(run, stdout);
    }
    const bool serves = tmx_sim_serve(tmx_run_sim(run)) != NULL;
    struct tmx_table *(*const parts)(const struct tmx_run *) = serves ? tmx_run_instances : tmx_run_kernels;
    struct tmx_table *shown = NULL;
    const bool all = a->n_column == 1 && strcmp(a->column[0], "all") == 0, named = a->n_column > 0 && !all;
    struct tmx_table *t = (people && !named ? parts : tmx_run_summary)(run), *other = NULL;
    tmx_table_check(t, err);
    if (named && !err->code && has_columns(t, a) < a->n_column) {
        other = parts(run);
        bool known = !tmx_table_check(other, err);
        const size_t of_both[] = {has_columns(t, a), known ? has_columns(other, a) : 0};
        for (size_t i = 0; i < a->n_column && known; i++) {
            known = has_column(t, a->column[i]) || has_column(other, a->column[i]);
        }
        if (known && of_both[1] < a->n_column) {
            tmx_error(err, TMX_ECONFIG,
                      "--columns: some are of the summary, others of its %s; expected those of one table",
                      serves ? "instances" : "kernels");
        }
        if (of_both[1] >= of_both[0]) {
            struct tmx_table *const first = t;
            t = other;
            other = first;
        }
    }
    if (!err->code && people && a->n_column == 0 && has_column(t, "gpu_label")) {
        const char *name[64]; /* a screen calls GPUs by their names, and not by their places, too */
        size_t n = 0;
        for (size_t c = 0; c < tmx_table_columns(t) && n < 64; c++) {
            const char *column = tmx_table_column(t, c)->name;
            name[n] = strcmp(column, "gpu") == 0 ? "gpu_label" : column;
            n += strcmp(column, "gpu_label") != 0;
        }
        (void)!tmx_table_choose(t, name, n, &shown, err);
    }
    tmx_table_show(shown ? shown : t, a->format, &screen, err);
    tmx_table_destroy(shown);
    tmx_table_destroy(t);
    tmx_table_destroy(other);
    if (!err->code && people && a->dir) {
        const bool draws = a->trace_s > 0 || serves;
        printf("Files: %s/summary.csv, %s%s, gpus.csv, resolved.cfg", a->dir,
               serves ? "requests.csv, instances.csv" : "kernels.csv",
               serves && a->trace_s > 0 ? ", rows.csv" : "");
        if (draws) {
            printf("; figures: thermix plot %s -o %s/figures", a->dir, a->dir);
        }
        printf("\n");
    }
}

static void go(struct tmx_run *run, const struct tmx_run_alone *a, struct tmx_err *err)
{
    struct probe w = {.run = run, .stop = a->stop, .progress = !a->quiet && tmx_os_is_terminal(stderr)};
    struct tmx_err later = {0}, unsaved = {0};
    const double seconds = tmx_run_cost(run).seconds;
    char text[40];
    if (!a->quiet && seconds > 20) {
        tmx_cost_time(seconds, text, sizeof text);
        fprintf(stderr, "about %s of computing; Ctrl-C stops it and keeps the results so far\n", text);
    }
    (void)(a->dir && (tmx_os_mkdirs(a->dir, err) || tmx_folder_open(a->dir, TMX_FOLDER_RESULTS, err)));
    struct {
        struct tmx_run_trace **trace;
        struct tmx_run_trace_options o;
    } const traces[] = {{&w.trace, {.dir = a->dir, .period_s = a->trace_s, .csv = true}},
                        {&w.hotspot, {.dir = a->dir, .period_s = a->hotspot_s, .hotspot = true}}};
    for (size_t i = 0; i < 2 && !err->code && a->dir; i++) {
        (void)(traces[i].o.period_s > 0 && tmx_run_trace_open(traces[i].trace, run, &traces[i].o, err));
    }
    if (!err->code && a->mpi && a->mpi->size > 1) {
        const struct tmx_ranks ranks = tmx_mpi_ranks(a->mpi, a->trace_s > 0 || a->hotspot_s > 0);
        (void)!tmx_sim_on_ranks(tmx_run_sim(run), &ranks, err);
    }
    if (a->mpi) {
        tmx_mpi_agree(a->mpi, err);
    }
    if (!err->code) {
        const struct tmx_observer observer = {
            .ctx = &w, .tick = w.trace || w.hotspot ? after_tick : NULL, .stop = should_stop};
        (void)!tmx_run_execute(run, &observer, err);
        if (w.progress) {
            fputc('\n', stderr);
        }
        (void)((w.trace && tmx_run_trace_commit(w.trace, &later)) ||
               (w.hotspot && tmx_run_trace_commit(w.hotspot, &later)));
        /* also where a trace found the disk full */
        if (a->dir) {
            tmx_run_save(run, a->dir, &unsaved);
        }
        if (!unsaved.code && !(a->quiet && a->format == TMX_FORMAT_TEXT)) {
            print(a, run, &unsaved);
        }
        if (err->code && a->dir) {
            tmx_print_visible(stderr, "partial results are in %s\n", a->dir);
        }
        (void)(err->code || tmx_error_give(err, later.code ? &later : &unsaved));
    }
    tmx_run_trace_close(w.trace);
    tmx_run_trace_close(w.hotspot);
}

enum tmx_status tmx_run_alone(struct tmx_run *run, const struct tmx_run_alone *a, struct tmx_err *err)
{
    struct tmx_run_alone follower = *a;
    follower.dir = NULL;
    follower.quiet = true;
    follower.format = TMX_FORMAT_TEXT; /* rank 0 prints */
    go(run, a->mpi && a->mpi->rank > 0 ? &follower : a, err);
    return err->code;
}

/* ---- with several seeds ---- */

struct seeds {
    const struct tmx_sets *sets; /* on the configuration */
    int64_t first;
    bool nudge;
};

static struct tmx_scalar value_of(const void *ctx, size_t point, size_t key)
{
    const struct seeds *s = ctx;
    (void)key;
    return s->nudge ? TMX_REAL_VALUE((double)point * TMX_NUDGE_K)
                    : TMX_INTEGER_VALUE(s->first + (int64_t)point);
}

static void sets_of(const void *ctx, size_t point, struct tmx_sets *sets, struct tmx_err *err)
{
    const struct seeds *s = ctx;
    tmx_sets_join(sets, s->sets, "", err);
    tmx_sets_put(sets, s->nudge ? "start_plus_k" : "seed", value_of(ctx, point, 0), NULL, 0, err);
}

/* A row a metric; on a screen not those that are 0 in every run, but for the main one. */
static struct tmx_table *metrics_of(const struct tmx_run_values *v, bool zeros)
{
    struct tmx_table *t = tmx_table_of("metric mean:3 sd:4 ci95:4 n:d min:3 max:3");
    for (size_t m = 0; m < tmx_study_metrics(); m++) {
        const char *name = tmx_metrics[m].name;
        struct tmx_moments of = {0};
        for (size_t i = 0; i < v->n_point; i++) {
            tmx_moments_add(&of, v->value[i * v->n_value + m]);
        }
        const bool zero = of.min == 0 && of.max == 0 && strcmp(name, "slowdown_pct") != 0;
        if (isfinite(of.mean) && (zeros || !zero)) {
            tmx_table_row(t, "%s %g %G %G %zu %g %g", name, of.mean, tmx_moments_sd(&of),
                          tmx_moments_ci95(&of), of.n, of.min, of.max);
        }
    }
    return t;
}

enum tmx_status tmx_run_seeds(const char *config, const struct tmx_sets *sets, size_t n, bool nudge,
                              const struct tmx_run_alone *a, struct tmx_err *err)
{
    const char *const keys[] = {nudge ? "start_plus_k" : "seed"};
    struct seeds s = {.sets = sets, .nudge = nudge};
    struct tmx_run_values v = {0};
    struct tmx_run *run;
    double seed = 0;
    char path[TMX_PATH_SIZE];
    if (!tmx_run_load(&run, config, &(struct tmx_run_how){.sets = sets, .described = true}, err)) {
        (void)tmx_setting_real(tmx_setting_find(tmx_run_settings(run), "seed"), &seed);
        s.first = (int64_t)seed;
    }
    tmx_run_destroy(run);
    if (a->dir) {
        tmx_os_mkdirs(a->dir, err);
        tmx_path_join(path, a->dir, TMX_SUITE_RESULTS, err);
    }
    const struct tmx_runs runs = {.name = "seeds",
                                  .file = config,
                                  .base = config,
                                  .n_point = n,
                                  .n_key = 1,
                                  .key = keys,
                                  .ctx = &s,
                                  .sets = sets_of,
                                  .value = value_of,
                                  .suite = true};
    const struct tmx_study_options o = {
        .path = a->dir ? path : NULL, .noun = a->quiet ? NULL : "runs", TMX_STUDY_WHOLE};
    tmx_study_values(&v, &runs, &o, err);
    for (size_t i = 0; i < v.n_point && !err->code; i++) {
        if (v.error[i]) {
            char buf[32];
            tmx_error(err, TMX_ESOLVE, "%s %s: %s", keys[0], tmx_scalar_plain(value_of(&s, i, 0), buf),
                      v.error[i]);
        }
    }
    struct tmx_table *all = err->code ? NULL : metrics_of(&v, true),
                     *shown = err->code ? NULL : metrics_of(&v, a->format != TMX_FORMAT_TEXT);
    if (a->dir) {
        tmx_table_save_in(all, a->dir, "seeds.csv", err);
    }
    if (!a->quiet || a->format != TMX_FORMAT_TEXT) {
        tmx_table_save_columns(shown, a->format, "-", a->column, a->n_column, err);
    }
    tmx_table_destroy(all);
    tmx_table_destroy(shown);
    if (!err->code && !a->quiet) {
        tmx_study_say_spread(&v, 1, &runs, nudge, a->format == TMX_FORMAT_TEXT ? stdout : stderr);
    }
    tmx_run_values_finish(&v);
    return err->code;
}

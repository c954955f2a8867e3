/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which figures results allow. */
#include "plots/plot.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <thermix/policy.h>

#include "core/base/csv.h"
#include "core/base/os.h"
#include "plots/history.h"

static bool holds(const char *folder, const char *file)
{
    char path[TMX_PATH_SIZE];
    snprintf(path, sizeof path, "%s/%s", folder, file);
    return tmx_os_exists(path);
}

static enum tmx_status nothing(const struct tmx_plot *p, const char *results, bool table, struct tmx_err *err)
{
    if (p->only) {
        return tmx_fail_at(
            err, TMX_ECONFIG, results, 0,
            "there is no figure \"%s\" of these results; without --figure all are drawn and named", p->only);
    }
    return tmx_fail_at(
        err, TMX_EIO, results, 0,
        table ? "nothing to draw: its table.csv is not one that a suite or a comparison of floorplans "
                "writes; `thermix "
                "cta -o` and `thermix gate -o` write tables only"
              : "nothing to draw: expected a folder with table.csv (`thermix table -o`) or trace.csv "
                "(`thermix run -o DIR --trace 1`), with requests.csv (a served model), a .sqlite database of "
                "`thermix sweep`, or a file of temperatures of `thermix thermal`");
}

enum tmx_status tmx_plot_results(struct tmx_plot *p, const char *results, const struct tmx_study_axes *axes,
                                 struct tmx_err *err)
{
    static const struct tmx_study_axes all = {0};
    const size_t n = strlen(results), before = p->n_figure;
    enum tmx_status st = TMX_OK;
    if (n > 7 && strcmp(results + n - 7, ".sqlite") == 0) {
        st = tmx_plot_study(p, results, axes ? axes : &all, err);
        return st || p->n_figure > before || !p->only ? st : nothing(p, results, false, err);
    }
    if (axes && (axes->x || axes->y || axes->by || axes->n_where > 0)) {
        return tmx_fail(err, TMX_ECONFIG,
                        "--x, --y, --by and --where are for the database of a study, X.sqlite");
    }
    const bool table = holds(results, "table.csv");
    if (table) {
        st = tmx_plot_table(p, results, err);
        st = st ? st : tmx_plot_suite(p, results, err);
        st = st ? st : tmx_plot_serve_suite(p, results, err);
    }
    if (!st && (holds(results, "trace.csv") || tmx_history_has_frames(results))) {
        st = tmx_plot_run(p, results, err);
    }
    st = st ? st : tmx_plot_serve(p, results, err);
    return st || p->n_figure > before ? st : nothing(p, results, table, err);
}

/* Figures from one run's folder: temperature, power and clock, SM-to-kernel map, heat map. */

enum { MAX_TIMES = 600, MAX_NAME = 48, MAX_ROW = 4 };
enum { HALL = 16, WORST = 10 }; /* of more GPUs than HALL the overview and the WORST are drawn */

/* A figure of one GPU: its name alone where the run has one GPU, NAME_gpuN where it has more. */
struct figure {
    struct tmx_plot *plot;
    const struct tmx_history *h;
    size_t n_gpu;
};

static const char *named(const struct figure *f, const char *name, char text[MAX_NAME])
{
    if (f->n_gpu == 1) {
        return name;
    }
    snprintf(text, MAX_NAME, "%s_gpu%zu", name, f->h->gpu);
    return text;
}

static enum tmx_status put(const struct figure *f, const char *name, const struct tmx_table *t,
                           struct tmx_err *err)
{
    char text[MAX_NAME];
    const enum tmx_status st = tmx_plot_data(f->plot, named(f, name, text), "", t, err);
    return st ? st : tmx_plot_draw(f->plot, name, named(f, name, text), err);
}

/* Words that the user may replace. */
static void put_words(const struct figure *f, const char *title, const char *x, const char *y)
{
    tmx_plot_label(f->plot, "title", title);
    tmx_plot_label(f->plot, "x", x);
    tmx_plot_label(f->plot, "y", y);
}

static enum tmx_status draw_temperature(const struct figure *f, struct tmx_err *err)
{
    const struct tmx_history *h = f->h;
    static const struct tmx_column columns[] = {{"time_s", TMX_COLUMN_REAL, 3},
                                                {"coolest_c", TMX_COLUMN_REAL, 3},
                                                {"mean_c", TMX_COLUMN_REAL, 3},
                                                {"hottest_c", TMX_COLUMN_REAL, 3},
                                                {"stopped_share_1", TMX_COLUMN_REAL, 3}};
    struct tmx_table *t = NULL;
    enum tmx_status st = tmx_table_create(&t, columns, 5, err);
    for (size_t i = 0; i < h->n_time && !st; i++) {
        tmx_table_real(t, h->time_s[i]);
        tmx_table_real(t, h->coolest_min_c[i]);
        tmx_table_real(t, h->sample_mean_c[i]);
        tmx_table_real(t, h->hottest_max_c[i]);
        tmx_table_real(t, h->stopped_1[i]);
    }
    const bool limited = isfinite(h->trip_c) && isfinite(h->release_c);
    tmx_plot_number(f->plot, "trip_c", limited ? h->trip_c : NAN);
    tmx_plot_number(f->plot, "release_c", limited ? h->release_c : NAN);
    tmx_plot_number(f->plot, "target_c", h->target_c);
    put_words(f, "Temperature of the SMs", "time (s)", "SM temperature (°C)");
    st = st ? st : put(f, "temperature", t, err);
    tmx_table_destroy(t);
    return st;
}

/* Which kernel runs where; the whole of the run, also where no kernel runs. */
static enum tmx_status put_kernels(const struct figure *f, const struct tmx_table *t, struct tmx_err *err)
{
    const struct tmx_history *h = f->h;
    tmx_plot_number(f->plot, "begin_s", h->time_s[0]);
    tmx_plot_number(f->plot, "end_s", h->time_s[h->n_time - 1]);
    for (size_t k = 0; k < h->n_kernel; k++) {
        tmx_plot_label(f->plot, "name", h->kernel[k]);
    }
    put_words(f, "Kernel of each SM", "time (s)", "SM");
    return put(f, "sm_kernel", t, err);
}

static enum tmx_status draw_sms(const struct figure *f, struct tmx_err *err)
{
    const struct tmx_history *h = f->h;
    static const struct tmx_column columns[] = {{"time_s", TMX_COLUMN_REAL, 3},
                                                {"sm", TMX_COLUMN_INT, 0},
                                                {"power_w", TMX_COLUMN_REAL, 3},
                                                {"kernel", TMX_COLUMN_INT, 0},
                                                {"freq_mhz", TMX_COLUMN_REAL, 1}};
    struct tmx_table *t = NULL;
    enum tmx_status st = tmx_table_create(&t, columns, 5, err);
    for (size_t i = 0; i < h->n_time * h->n_sm && !st; i++) {
        tmx_table_real(t, h->time_s[i / h->n_sm]);
        tmx_table_int(t, (int64_t)(i % h->n_sm));
        tmx_table_real(t, h->sm_power_w[i]);
        tmx_table_int(t, (int64_t)h->sm_kernel[i]);
        tmx_table_real(t, h->freq_mhz[i / h->n_sm]);
    }
    tmx_plot_number(f->plot, "n_sm", (double)h->n_sm);
    put_words(f, h->n_sm > 1 ? "Power of each SM and clock" : "Power and clock", "time (s)",
              h->n_sm > 1 ? "SM" : "power (W)");
    st = st ? st : put(f, "sm_power", t, err);
    if (!st && h->n_kernel > 1) {
        st = put_kernels(f, t, err);
    }
    tmx_table_destroy(t);
    return st;
}

static void put_units(struct tmx_table *t, const struct tmx_history *h, size_t frame, double x_m, double y_m)
{
    for (size_t u = 0; u < h->floorplan.n_unit; u++) {
        const struct tmx_unit *unit = &h->floorplan.unit[u];
        tmx_table_text(t, unit->name);
        tmx_table_real(t, 1e3 * (x_m + unit->x_m));
        tmx_table_real(t, 1e3 * (x_m + unit->x_m + unit->w_m));
        tmx_table_real(t, 1e3 * (y_m + unit->y_m));
        tmx_table_real(t, 1e3 * (y_m + unit->y_m + unit->h_m));
        tmx_table_real(t, h->unit_temp_c[frame * h->floorplan.n_unit + u]);
    }
}

static enum tmx_status draw_frame(struct tmx_plot *p, const char *name, const char *of,
                                  const struct tmx_history *all, size_t n_gpu, size_t frame, double low_c,
                                  double high_c, struct tmx_err *err)
{
    static const struct tmx_column columns[] = {
        {"unit", TMX_COLUMN_TEXT, 0},      {"left_mm", TMX_COLUMN_REAL, 3}, {"right_mm", TMX_COLUMN_REAL, 3},
        {"bottom_mm", TMX_COLUMN_REAL, 3}, {"top_mm", TMX_COLUMN_REAL, 3},  {"temp_c", TMX_COLUMN_REAL, 3}};
    tmx_assert(n_gpu > 0);
    const size_t n_column = n_gpu < MAX_ROW        ? n_gpu
                            : n_gpu <= 4 * MAX_ROW ? MAX_ROW
                                                   : 4 * MAX_ROW,
                 n_row = (n_gpu + n_column - 1) / n_column;
    const struct tmx_history *hot = &all[0];
    struct tmx_table *t = NULL;
    double pitch_x_m = 0, pitch_y_m = 0, hottest_c = -INFINITY;
    size_t hottest = 0;
    char where[64] = "";
    for (size_t g = 0; g < n_gpu; g++) {
        pitch_x_m = fmax(pitch_x_m, 1.06 * tmx_floorplan_width_m(&all[g].floorplan));
        pitch_y_m = fmax(pitch_y_m, 1.14 * tmx_floorplan_height_m(&all[g].floorplan));
    }
    enum tmx_status st = tmx_table_create(&t, columns, 6, err);
    for (size_t g = 0; g < n_gpu && !st; g++) { /* the first row on top */
        const struct tmx_history *h = &all[g];
        const size_t row = n_row - 1 - g / n_column;
        put_units(t, h, frame, (double)(g % n_column) * pitch_x_m, (double)row * pitch_y_m);
        for (size_t u = 0; u < h->floorplan.n_unit; u++) {
            const double temp_c = h->unit_temp_c[frame * h->floorplan.n_unit + u];
            if (temp_c > hottest_c) {
                hot = h;
                hottest = u;
                hottest_c = temp_c;
            }
        }
    }
    st = st ? st : tmx_plot_data(p, name, "", t, err);
    tmx_table_destroy(t);
    if (n_gpu > 1) {
        snprintf(where, sizeof where, "GPU %s ", hot->label);
    }
    char text[400];
    snprintf(text, sizeof text, "%s: hottest is %s%s, %.1f °C", of, where, hot->floorplan.unit[hottest].name,
             hottest_c);
    tmx_plot_label(p, "title", text);
    tmx_plot_number(p, "n_gpu", (double)n_gpu);
    for (size_t g = 0; g < n_gpu && n_gpu <= 4 * MAX_ROW; g++) { /* of more none is written */
        tmx_plot_label(p, "name", all[g].label);
    }
    tmx_plot_number(p, "n_column", (double)n_column);
    tmx_plot_number(p, "n_row", (double)n_row);
    tmx_plot_number(p, "pitch_x", 1e3 * pitch_x_m);
    tmx_plot_number(p, "pitch_y", 1e3 * pitch_y_m);
    tmx_plot_number(p, "low_c", low_c);
    tmx_plot_number(p, "high_c", high_c);
    return st ? st : tmx_plot_draw(p, "heatmap", name, err);
}

enum tmx_status tmx_plot_frame(struct tmx_plot *p, const char *name, const struct tmx_history *all,
                               size_t n_gpu, size_t frame, double low_c, double high_c, struct tmx_err *err)
{
    char of[200];
    snprintf(of, sizeof of, "%s, %s, %.1f s", all[0].mix, all[0].policy, all[0].frame_s[frame]);
    return draw_frame(p, name, of, all, n_gpu, frame, low_c, high_c, err);
}

static enum tmx_status draw_heatmap(struct tmx_plot *p, const struct tmx_history *all, size_t n_gpu,
                                    struct tmx_err *err)
{
    double low_c, high_c;
    tmx_history_range(all, n_gpu, &low_c, &high_c);
    size_t frame = tmx_history_hottest(all, n_gpu).frame;
    for (size_t i = 0; p->at && i < all[0].n_frame; i++) { /* the nearest */
        frame =
            i == 0 || fabs(all[0].frame_s[i] - p->at_s) < fabs(all[0].frame_s[frame] - p->at_s) ? i : frame;
    }
    const double first_s = all[0].frame_s[0], last_s = all[0].frame_s[all[0].n_frame - 1];
    if (p->at && (p->at_s < first_s || p->at_s > last_s)) {
        return tmx_fail(err, TMX_ECONFIG, "--at %g: the record goes from %g to %g s", p->at_s, first_s,
                        last_s);
    }
    return tmx_plot_frame(p, "heatmap", all, n_gpu, frame, floor(low_c), ceil(high_c), err);
}

/* The GPUs of gpus.csv as a map: racks side by side, the nodes of a rack from the bottom, the GPUs of a node
 * in a row; without racks 16 in a row. Rows are in that order, as the topology makes them. */
static enum tmx_status draw_hall(struct tmx_plot *p, const char *run_dir, struct tmx_err *err)
{
    static const struct tmx_column columns[] = {{"gpu", TMX_COLUMN_INT, 0},
                                                {"x", TMX_COLUMN_REAL, 2},
                                                {"y", TMX_COLUMN_REAL, 2},
                                                {"peak_temp_c", TMX_COLUMN_REAL, 2},
                                                {"mean_inlet_c", TMX_COLUMN_REAL, 2},
                                                {"slowed_s", TMX_COLUMN_REAL, 2}};
    static const char *const slowed[] = {"clock_stopped_s",       "sw_power_cap_s", "sw_thermal_slowdown_s",
                                         "hw_thermal_slowdown_s", "memory_limit_s", "shutdown_s"};
    enum { WIDE = 16 };
    struct tmx_csv csv = {0};
    struct tmx_table *t = NULL;
    char path[TMX_PATH_SIZE];
    enum tmx_status st = tmx_path_join(path, run_dir, "gpus.csv", err);
    st = st ? st : tmx_csv_read(&csv, path, err);
    st = st ? st : tmx_table_create(&t, columns, 6, err);
    const size_t name = st ? 0 : tmx_csv_column(&csv, "name"), rack = st ? 0 : tmx_csv_column(&csv, "rack"),
                 peak = st ? 0 : tmx_csv_column(&csv, "peak_temp_c"),
                 inlet = st ? 0 : tmx_csv_column(&csv, "mean_inlet_c");
    const bool racks = !st && name < csv.n_column && rack < csv.n_column && tmx_csv_cell(&csv, 0, rack)[0];
    double x0 = 0, y = 0, wide = 0;
    size_t in_row = 0;
    for (size_t r = 0; !st && r < csv.n_row; r++) {
        const char *mine = racks ? tmx_csv_cell(&csv, r, name) : "", *dot = strrchr(mine, '.');
        const char *last = racks && r > 0 ? tmx_csv_cell(&csv, r - 1, name) : mine;
        const size_t node = dot ? (size_t)(dot - mine) + 1 : 0;
        double s = 0, v;
        if (racks && (r == 0 || strcmp(tmx_csv_cell(&csv, r, rack), tmx_csv_cell(&csv, r - 1, rack)) != 0)) {
            x0 += r > 0 ? wide + 1 : 0;
            y = wide = 0;
            in_row = 0;
            tmx_plot_label(p, "name", tmx_csv_cell(&csv, r, rack));
            tmx_plot_number(p, "rack_x", x0);
        } else if (racks && strncmp(mine, last, node) != 0) {
            y += 1.25;
            in_row = 0;
        } else if (in_row == WIDE) {
            y += 1;
            in_row = 0;
        }
        for (size_t i = 0; i < sizeof slowed / sizeof slowed[0]; i++) {
            s += tmx_csv_real(&csv, r, tmx_csv_column(&csv, slowed[i]), &v) ? v : 0;
        }
        tmx_table_int(t, (int64_t)r);
        tmx_table_real(t, x0 + (double)in_row++);
        tmx_table_real(t, y);
        tmx_table_real(t, tmx_csv_real(&csv, r, peak, &v) ? v : 0);
        tmx_table_real(t, tmx_csv_real(&csv, r, inlet, &v) ? v : 0);
        tmx_table_real(t, s);
        wide = fmax(wide, (double)in_row);
    }
    st = st ? st : tmx_plot_data(p, "hall", "", t, err);
    st = st ? st : tmx_plot_draw(p, "hall", "hall", err);
    tmx_table_destroy(t);
    tmx_csv_finish(&csv);
    return st;
}

/* The GPUs' power, all together, and its change from row to row. */
static enum tmx_status draw_power(struct tmx_plot *p, const struct tmx_history *all, size_t n_gpu,
                                  struct tmx_err *err)
{
    static const struct tmx_column columns[] = {
        {"time_s", TMX_COLUMN_REAL, 4}, {"power_w", TMX_COLUMN_REAL, 1}, {"change_w", TMX_COLUMN_REAL, 1}};
    struct tmx_table *t = NULL;
    enum tmx_status st = tmx_table_create(&t, columns, 3, err);
    double last_w = NAN;
    for (size_t i = 0; i < all[0].n_time && !st; i++) {
        double w = 0;
        for (size_t g = 0; g < n_gpu; g++) {
            w += i < all[g].n_time ? all[g].power_w[i] : NAN;
        }
        tmx_table_real(t, all[0].time_s[i]);
        tmx_table_real_or_empty(t, w);
        tmx_table_real_or_empty(t, w - last_w);
        last_w = w;
    }
    st = st ? st : tmx_plot_data(p, "power", "", t, err);
    tmx_plot_number(p, "row_s", all[0].time_s[1] - all[0].time_s[0]);
    tmx_table_destroy(t);
    return st ? st : tmx_plot_draw(p, "power", "power", err);
}

/* How many GPUs were hotter than GPU g. */
static size_t hotter(const struct tmx_history *all, size_t n_gpu, size_t g)
{
    double mine = 0;
    size_t n = 0;
    for (size_t k = 0; k <= n_gpu; k++) { /* g first */
        const struct tmx_history *h = &all[k == 0 ? g : k - 1];
        double peak_c = -INFINITY;
        for (size_t i = 0; i < h->n_time; i++) {
            peak_c = h->time_s[i] >= 0 ? fmax(peak_c, h->hottest_c[i]) : peak_c;
        }
        mine = k == 0 ? peak_c : mine;
        n += k > 0 && (peak_c > mine || (peak_c == mine && k - 1 < g));
    }
    return n;
}

enum tmx_status tmx_plot_run(struct tmx_plot *p, const char *run_dir, struct tmx_err *err)
{
    struct tmx_history *all;
    size_t n_gpu;
    enum tmx_status st = tmx_history_load(&all, &n_gpu, run_dir, MAX_TIMES, err);
    st = st ? st : tmx_plot_folder(p, err);
    const bool hall = n_gpu > HALL;
    st = st || !hall ? st : draw_hall(p, run_dir, err);
    if (!st && hall && !p->only && !p->quiet) {
        fprintf(stderr,
                "%zu GPUs: the overview and the %d hottest; --figure heatmap or, for example, "
                "temperature_gpu0 draws "
                "others\n",
                n_gpu, WORST);
    }
    for (size_t g = 0; g < n_gpu && !st; g++) {
        const struct figure f = {p, &all[g], n_gpu};
        if (f.h->n_time > 0 && (!hall || p->only || hotter(all, n_gpu, g) < WORST)) {
            st = draw_temperature(&f, err);
            st = st ? st : draw_sms(&f, err);
        }
    }
    if (!st && n_gpu > 1 && all[0].n_time > 2) {
        st = draw_power(p, all, n_gpu, err);
    }
    if (!st && all[0].n_frame > 0 && (!hall || p->only)) {
        st = draw_heatmap(p, all, n_gpu, err);
    }
    tmx_history_free(all, n_gpu);
    return st;
}

enum tmx_status tmx_plot_explain(struct tmx_plot *p, const struct tmx_explained *e, struct tmx_err *err)
{
    enum tmx_status st = tmx_plot_folder(p, err);
    st = st ? st : tmx_plot_data(p, "explain", "", e->over_time, err);
    st = st ? st : tmx_plot_data(p, "explain", "_sm", e->by_sm, err);
    for (size_t c = 2; c < tmx_table_columns(e->over_time); c++) {
        tmx_plot_label(p, "name", tmx_table_column(e->over_time, c)->name);
    }
    tmx_plot_number(p, "trip_c", isnan(e->trip_c) ? 0 : e->trip_c);
    return st ? st : tmx_plot_draw(p, "explain", "explain", err);
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which figures results allow. */
#include "plots/plot.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/csv.h"
#include "base/os.h"
#include "base/output.h"
#include "base/plausible.h"
#include "base/provenance.h"
#include "base/text.h"

bool tmx_plot_holds(const char *folder, const char *file, char path[TMX_PATH_SIZE])
{
    snprintf(path, TMX_PATH_SIZE, "%s/%s", folder, file);
    return tmx_os_exists(path);
}

/* Figures from one run's folder: temperature, power and clock, SM-to-kernel map, heat map. */

enum { MAX_TIMES = 600, MAX_NAME = 48, MAX_ROW = 4 };
enum { HALL = 16, WORST = 10 }; /* of more GPUs than HALL the overview and the WORST are drawn */

/* A figure of one GPU: its name alone where the run has one GPU, NAME_gpuN where it has more. */
static void put(struct tmx_plot *p, const struct tmx_history *h, size_t n_gpu, const char *script,
                struct tmx_table *t)
{
    char name[MAX_NAME];
    snprintf(name, sizeof name, n_gpu > 1 ? "%s_gpu%zu" : "%s", script, h->gpu);
    tmx_plot_draw(p, script, name, t);
}

static void draw_temperature(struct tmx_plot *p, const struct tmx_history *h, size_t n_gpu)
{
    struct tmx_table *t = tmx_table_of("time_s:3 coolest_c:3 mean_c:3 hottest_c:3 stopped_share_1:3");
    for (size_t i = 0; i < h->n_time; i++) {
        tmx_table_row(t, "%g %g %g %g %g", h->time_s[i], h->coolest_min_c[i], h->sample_mean_c[i],
                      h->hottest_max_c[i], h->stopped_1[i]);
    }
    const bool limited = isfinite(h->trip_c) && isfinite(h->release_c);
    tmx_plot_numbers(p, "trip_c release_c target_c",
                     (double[]){limited ? h->trip_c : NAN, limited ? h->release_c : NAN, h->target_c});
    tmx_plot_words(p, "Temperature of the SMs", "time (s)", "SM temperature (°C)");
    put(p, h, n_gpu, "temperature", t);
}

/* Power and clock and, of several kernels, which one runs where; the whole of the run, also where none runs.
 */
static void draw_sms(struct tmx_plot *p, const struct tmx_history *h, size_t n_gpu)
{
    for (size_t figure = 0; figure < (h->n_kernel > 1 ? 2 : 1); figure++) {
        struct tmx_table *t = tmx_table_of("time_s:3 sm:d power_w:3 kernel:d freq_mhz:1");
        for (size_t i = 0; i < h->n_time * h->n_sm; i++) {
            tmx_table_row(t, "%g %zu %g %zu %g", h->time_s[i / h->n_sm], i % h->n_sm, h->sm_power_w[i],
                          (size_t)h->sm_kernel[i], h->freq_mhz[i / h->n_sm]);
        }
        if (figure == 0) {
            tmx_plot_number(p, "n_sm", (double)h->n_sm);
            tmx_plot_words(p, h->n_sm > 1 ? "Power of each SM and clock" : "Power and clock", "time (s)",
                           h->n_sm > 1 ? "SM" : "power (W)");
            put(p, h, n_gpu, "sm_power", t);
            continue;
        }
        tmx_plot_numbers(p, "begin_s end_s", (double[]){h->time_s[0], h->time_s[h->n_time - 1]});
        for (size_t k = 0; k < h->n_kernel; k++) {
            tmx_plot_label(p, "name", h->kernel[k]);
        }
        tmx_plot_words(p, "Kernel of each SM", "time (s)", "SM");
        put(p, h, n_gpu, "sm_kernel", t);
    }
}

void tmx_plot_frame(struct tmx_plot *p, const char *name, const struct tmx_history *all, size_t n_gpu,
                    size_t frame, double low_c, double high_c)
{
    tmx_assert(n_gpu > 0);
    const size_t n_column = n_gpu < MAX_ROW        ? n_gpu
                            : n_gpu <= 4 * MAX_ROW ? MAX_ROW
                                                   : 4 * MAX_ROW,
                 n_row = (n_gpu + n_column - 1) / n_column;
    struct tmx_table *t = tmx_table_of(TMX_OUTLINE_COLUMNS " temp_c:3");
    double pitch_x_m = 0, pitch_y_m = 0, hottest_c = -INFINITY;
    const struct tmx_history *hot = &all[0];
    const struct tmx_unit *hottest = &hot->floorplan.unit[0];
    char text[400];
    for (size_t g = 0; g < n_gpu; g++) {
        pitch_x_m = fmax(pitch_x_m, 1.06 * tmx_floorplan_width_m(&all[g].floorplan));
        pitch_y_m = fmax(pitch_y_m, 1.14 * tmx_floorplan_height_m(&all[g].floorplan));
    }
    for (size_t g = 0; g < n_gpu; g++) { /* the first row on top */
        const struct tmx_history *h = &all[g];
        for (size_t u = 0; u < h->floorplan.n_unit; u++) {
            const double temp_c = h->unit_temp_c[frame * h->floorplan.n_unit + u];
            tmx_plot_outline(t, &h->floorplan.unit[u], (double)(g % n_column) * pitch_x_m,
                             (double)(n_row - 1 - g / n_column) * pitch_y_m);
            tmx_table_real(t, temp_c);
            if (temp_c > hottest_c) {
                hot = h;
                hottest = &h->floorplan.unit[u];
                hottest_c = temp_c;
            }
        }
    }
    snprintf(text, sizeof text, "%s, %s, %.1f s: hottest is %s%s%s%s, %.1f °C", all[0].mix, all[0].policy,
             all[0].frame_s[frame], n_gpu > 1 ? "GPU " : "", n_gpu > 1 ? hot->label : "",
             n_gpu > 1 ? " " : "", hottest->name, hottest_c);
    tmx_plot_label(p, "title", text);
    tmx_plot_number(p, "n_gpu", (double)n_gpu);
    for (size_t g = 0; g < n_gpu && n_gpu <= 4 * MAX_ROW; g++) { /* of more none is written */
        tmx_plot_label(p, "name", all[g].label);
    }
    tmx_plot_numbers(
        p, "n_column n_row pitch_x pitch_y low_c high_c",
        (double[]){(double)n_column, (double)n_row, 1e3 * pitch_x_m, 1e3 * pitch_y_m, low_c, high_c});
    tmx_plot_draw(p, "heatmap", name, t);
}

static void draw_heatmap(struct tmx_plot *p, const struct tmx_history *all, size_t n_gpu)
{
    double low_c, high_c;
    tmx_history_range(all, n_gpu, &low_c, &high_c);
    const size_t frame = tmx_history_frame(all, n_gpu, p->at ? p->at_s : NAN, p->err);
    p->at = p->at && !tmx_plot_wants(p, "heatmap");
    tmx_plot_frame(p, "heatmap", all, n_gpu, frame, floor(low_c), ceil(high_c));
}

/* The GPUs of gpus.csv as a map: racks side by side, the nodes of a rack from the bottom, the GPUs of a node
 * in a row; without racks 16 in a row. Rows are in that order, as the topology makes them. */
static void draw_hall(struct tmx_plot *p, const char *run_dir)
{
    static const char *const slowed[] = {"clock_stopped_s",       "sw_power_cap_s", "sw_thermal_slowdown_s",
                                         "hw_thermal_slowdown_s", "memory_limit_s", "shutdown_s"};
    enum { WIDE = 16 };
    struct tmx_csv csv;
    if (!tmx_plot_read(p, run_dir, "gpus.csv", true, &csv)) {
        tmx_csv_finish(&csv);
        return;
    }
    struct tmx_table *t = tmx_table_of("gpu:d x:2 y:2 peak_temp_c:2 mean_inlet_c:2 slowed_s:2");
    const size_t name = tmx_csv_column(&csv, "name"), rack = tmx_csv_column(&csv, "rack");
    const bool racks = name < csv.n_column && rack < csv.n_column && tmx_csv_cell(&csv, 0, rack)[0];
    double x0 = 0, y = 0, wide = 0;
    size_t in_row = 0;
    for (size_t r = 0; r < csv.n_row; r++) {
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
            v = tmx_csv_value_at(&csv, r, slowed[i]);
            s += isnan(v) ? 0 : v;
        }
        tmx_table_row(t, "%zu %g %g", r, x0 + (double)in_row++, y);
        for (size_t c = 3; c < 5; c++) {
            v = tmx_csv_value_at(&csv, r, tmx_table_column(t, c)->name);
            tmx_table_real(t, isnan(v) ? 0 : v);
        }
        tmx_table_real(t, s);
        wide = fmax(wide, (double)in_row);
    }
    tmx_plot_draw(p, "hall", "hall", t);
    tmx_csv_finish(&csv);
}

/* The GPUs' power, all together, and its change from row to row. */
static void draw_power(struct tmx_plot *p, const struct tmx_history *all, size_t n_gpu)
{
    struct tmx_table *t = tmx_table_of("time_s:4 power_w:1 change_w:1");
    double last_w = NAN;
    for (size_t i = 0; i < all[0].n_time; i++) {
        double w = 0;
        for (size_t g = 0; g < n_gpu; g++) {
            w += i < all[g].n_time ? all[g].power_w[i] : NAN;
        }
        tmx_table_row(t, "%g %G %G", all[0].time_s[i], w, w - last_w);
        last_w = w;
    }
    tmx_plot_number(p, "row_s", all[0].time_s[1] - all[0].time_s[0]);
    tmx_plot_draw(p, "power", "power", t);
}

/* Of runs that have it, where power changes at all. */
static void draw_spectrum(struct tmx_plot *p, const char *run_dir)
{
    struct tmx_csv csv;
    struct tmx_table *t = tmx_table_of("hz:4 boards_w:2 feed_w:2");
    bool any = false;
    (void)tmx_plot_read(p, run_dir, "spectrum.csv", false, &csv);
    for (size_t i = 0; i < 3 * csv.n_row && t; i++) {
        const double v = tmx_csv_value_at(&csv, i / 3, tmx_table_column(t, i % 3)->name);
        any = any || (i % 3 > 0 && v > 0);
        tmx_table_real_or_empty(t, v);
    }
    if (any) {
        tmx_plot_draw(p, "spectrum", "spectrum", t);
    } else {
        tmx_table_destroy(t);
    }
    tmx_csv_finish(&csv);
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

static void draw_run(struct tmx_plot *p, const char *run_dir)
{
    struct tmx_history *all = NULL;
    size_t n_gpu = 0;
    tmx_history_load(&all, &n_gpu, run_dir, MAX_TIMES, p->err);
    tmx_plot_folder(p);
    const bool hall = n_gpu > HALL;
    if (hall) {
        draw_hall(p, run_dir);
    }
    if (!p->err->code && hall && !p->only && !p->quiet) {
        fprintf(stderr,
                "%zu GPUs: the overview and the %d hottest; --figure heatmap or, for example, "
                "temperature_gpu0 draws "
                "others\n",
                n_gpu, WORST);
    }
    for (size_t g = 0; g < n_gpu && !p->err->code; g++) {
        if (all[g].n_time > 0 && (!hall || p->only || hotter(all, n_gpu, g) < WORST)) {
            draw_temperature(p, &all[g], n_gpu);
            draw_sms(p, &all[g], n_gpu);
        }
    }
    if (n_gpu > 1 && all[0].n_time > 2) {
        draw_power(p, all, n_gpu);
    }
    draw_spectrum(p, run_dir);
    if (n_gpu > 0 && all[0].n_frame > 0 && (!hall || p->only)) {
        draw_heatmap(p, all, n_gpu);
    }
    tmx_history_free(all, n_gpu);
}

/* Tables that are not as the folder's list has them: edited, cut short, another folder's. */
static void warn_of_changes(const char *folder)
{
    char path[TMX_PATH_SIZE] = "", hash[TMX_HASH_HEX];
    struct tmx_folder_rows list;
    struct tmx_err err = {0};
    (void)!tmx_folder_read(&list, folder, &err);
    for (const struct tmx_folder_row *w = list.row; w < list.row + list.n && !err.code; w++) {
        if (*w->hash && !strchr(w->file, '/') && tmx_text_ends(w->file, ".csv") &&
            !tmx_path_join(path, folder, w->file, &err) && !tmx_hash_file(path, hash, &err) &&
            strcmp(hash, w->hash) != 0) {
            tmx_warn("%s: not the file that its command wrote (" TMX_FOLDER_LIST ")", path);
        }
    }
    if (err.code && list.n > 0) {
        tmx_warn("%s: %s", path, err.msg);
    }
    tmx_folder_rows_finish(&list);
}

static void nothing(struct tmx_plot *p, const char *results, bool table)
{
    if (p->only) {
        tmx_error_at(p->err, TMX_ECONFIG, results, 0,
                     "there is no figure \"%s\" of these results; without --figure all are drawn and named",
                     p->only);
    }
    tmx_error_at(
        p->err, TMX_EIO, results, 0,
        table ? "nothing to draw: its table.csv has no numbers for any figure; `thermix cta -o` and `thermix "
                "gate -o` write tables only, and of a suite's runs.sqlite --x and --y draw any metrics"
              : "nothing to draw: expected a folder with table.csv (`thermix table -o`) or trace.csv "
                "(`thermix run -o DIR --trace 1`), with requests.csv (a served model), a .sqlite database of "
                "`thermix sweep`, or a file of temperatures of `thermix thermal`");
}

enum tmx_status tmx_plot_results(struct tmx_plot *p, const char *results, const struct tmx_study_axes *axes)
{
    char path[TMX_PATH_SIZE];
    const size_t before = p->n_figure;
    const bool study = tmx_text_ends(results, ".sqlite"),
               table = !study && tmx_plot_holds(results, "table.csv", path);
    if (study) {
        tmx_plot_study(p, results, axes);
    } else {
        if (table) {
            warn_of_changes(results);
            tmx_plot_table(p, results);
            tmx_plot_suite(p, results);
        }
        if (tmx_plot_holds(results, "trace.csv", path) || tmx_history_has_frames(results)) {
            draw_run(p, results);
        }
        tmx_plot_serve(p, results);
    }
    if (p->n_figure == before && (!study || p->only)) {
        nothing(p, results, table);
    }
    return p->err->code;
}

enum tmx_status tmx_plot_explain(struct tmx_plot *p, struct tmx_explained *e)
{
    tmx_plot_folder(p);
    for (size_t c = 2; c < tmx_table_columns(e->over_time); c++) {
        tmx_plot_label(p, "name", tmx_table_column(e->over_time, c)->name);
    }
    tmx_plot_number(p, "trip_c", isnan(e->trip_c) ? 0 : e->trip_c);
    tmx_plot_data(p, "explain", "_sm", e->by_sm);
    tmx_plot_draw(p, "explain", "explain", e->over_time);
    e->over_time = e->by_sm = NULL;
    return p->err->code;
}

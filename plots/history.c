/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "plots/plot.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <thermix/policy.h>

#include "base/config.h"
#include "base/csv.h"
#include "base/os.h"
#include "base/text.h"
#include "base/trace.h"
#include "core/floorplan/floorplan.h"
#include "run/summary.h"

/* One history a GPU, with what the folder says of it: sensors and floorplan of folder.cfg, the throttle's
 * limits of resolved.cfg and the governor's target, the same for all GPUs; NAN where the run had none. */
static void read_folder(struct tmx_history **all, size_t *n_gpu, const char *dir, double *warmup_s,
                        struct tmx_err *err)
{
    char path[TMX_PATH_SIZE];
    struct tmx_config *cfg = NULL;
    const struct tmx_setting *gpus = NULL;
    const char *mix = NULL, *policy = NULL;
    double trip_c = NAN, release_c = NAN, target_c = NAN;
    bool partial = false;
    snprintf(path, sizeof path, "%s/folder.cfg", dir);
    if (!tmx_os_exists(path)) {
        tmx_error_at(err, TMX_EIO, path, 0, "no such file; `thermix run -o %s` writes it", dir);
    }
    if (err->code || tmx_run_folder_check(dir, &partial, err) ||
        tmx_path_join(path, dir, "resolved.cfg", err) || tmx_config_open(&cfg, path, err)) {
        return;
    }
    (void)tmx_setting_real(tmx_config_find(cfg, "throttle.trip_c"), &trip_c);
    (void)tmx_setting_real(tmx_config_find(cfg, "throttle.release_c"), &release_c);
    (void)tmx_setting_real(tmx_config_find(cfg, "dtm.target_c"), &target_c);
    tmx_config_close(cfg);
    cfg = NULL;
    if (!tmx_path_join(path, dir, "folder.cfg", err) && !tmx_config_open(&cfg, path, err)) {
        gpus = tmx_setting_list(tmx_config_root(cfg), "gpus", 1, 4096, err);
        mix = tmx_setting_word(tmx_config_root(cfg), "mix", NULL, err);
        policy = tmx_setting_word(tmx_config_root(cfg), "policy", NULL, err);
        if (!tmx_setting_real(tmx_config_find(cfg, "warmup_s"), warmup_s)) {
            tmx_error_at(err, TMX_ECONFIG, path, 0, "warmup_s: expected a number");
        }
        *n_gpu = tmx_setting_length(gpus);
        *all = calloc(*n_gpu, sizeof **all);
        tmx_memory_check(*all, err);
    }
    for (size_t g = 0; !err->code && g < *n_gpu; g++) {
        const struct tmx_setting *gpu = tmx_setting_at(gpus, g),
                                 *sensors = tmx_setting_texts(gpu, "sensors", 1, 100000, err);
        const char *file = tmx_setting_word(gpu, "floorplan", NULL, err),
                   *own = tmx_setting_text(tmx_setting_member(gpu, "name"));
        struct tmx_history *h = &(*all)[g];
        h->gpu = g;
        h->trip_c = trip_c;
        h->release_c = release_c;
        h->target_c = target_c > 0 ? target_c : NAN;
        snprintf(h->mix, sizeof h->mix, "%s", mix);
        snprintf(h->policy, sizeof h->policy, "%s%s", policy, partial ? " (partial run)" : "");
        tmx_gpu_label(own ? own : "", g, h->label);
        if (!err->code && !tmx_path_join(path, dir, file, err) && !tmx_flp_read(path, &h->floorplan, err)) {
            h->n_sm = tmx_setting_length(sensors);
            snprintf(h->floorplan_file, sizeof h->floorplan_file, "%s", file);
        }
    }
    tmx_config_close(cfg);
}

/* Number of a name in a list of texts of `size` letters, from 1, which is added when it is new; 0: no name.
 * What is beyond the most counts as the last. */
static size_t number_of(char *list, size_t size, size_t *n, const char *name)
{
    size_t k = 0;
    while (k < *n && strcmp(list + k * size, name) != 0) {
        k++;
    }
    if (name[0] && k == *n && k < TMX_HISTORY_KERNELS) {
        snprintf(list + size * (*n)++, size, "%s", name);
    }
    return !name[0] ? 0 : k < TMX_HISTORY_KERNELS ? k + 1 : k;
}

/* trace.csv is read twice, row by row: the first time counts each GPU's rows, the second keeps every
 * stride-th. */
static const char *const line_names[] = {"time_s",        "freq_mhz",      "power_w",       "hottest_c",
                                         "mean_c",        "inlet_c",       "fan_rpm",       "coolest_min_c",
                                         "hottest_min_c", "hottest_max_c", "sample_mean_c", "stopped_1"};
enum { N_LINE = sizeof line_names / sizeof line_names[0], LOWEST = 7, LOW, HIGH, MEAN, STOPPED };

static void lines_of(struct tmx_history *h, double **lines[N_LINE])
{
    double **const all[N_LINE] = {&h->time_s,        &h->freq_mhz,      &h->power_w,       &h->hottest_c,
                                  &h->mean_c,        &h->inlet_c,       &h->fan_rpm,       &h->coolest_min_c,
                                  &h->hottest_min_c, &h->hottest_max_c, &h->sample_mean_c, &h->stopped_1};
    memcpy(lines, all, sizeof all);
}

struct trace_reader {
    struct tmx_history *all;
    size_t n_gpu;
    size_t *n_row; /* [n_gpu] */
    size_t *seen;  /* [n_gpu] */
    bool taking;
    size_t gpu, first, kernel, reasons, line[N_LINE]; /* columns */
};

static void find_columns(struct trace_reader *t, const struct tmx_csv *csv, struct tmx_err *err)
{
    t->gpu = tmx_csv_column(csv, "gpu");
    t->first = tmx_csv_column(csv, "sm0_temp_c");
    t->kernel = tmx_csv_column(csv, "first_kernel");
    t->reasons = tmx_csv_column(csv, "reasons");
    for (size_t i = 0; i < N_LINE; i++) {
        t->line[i] = tmx_csv_column(csv, line_names[i]);
    }
    if (t->first == csv->n_column || t->kernel + 1 >= csv->n_column) {
        tmx_error_at(err, TMX_EPARSE, csv->source, 1, "not a trace of `thermix run --trace`");
    }
    for (size_t g = 0; g < t->n_gpu; g++) {
        if (t->first + 4 * t->all[g].n_sm > csv->n_column) {
            tmx_error_at(err, TMX_EPARSE, csv->source, 1, "columns of %zu SMs; GPU %zu has %zu",
                         (csv->n_column - t->first) / 4, g, t->all[g].n_sm);
        }
    }
}

/* What the SMs do at a row that is kept. */
static void fill_sms(struct tmx_history *h, const struct trace_reader *t, const struct tmx_csv *csv)
{
    static const double NEARLY = 0.01, BOTH = INFINITY; /* the number of that is known when all are read */
    double *const to[] = {h->sm_temp_c, h->sm_power_w, h->sm_kernel, h->sm_stopped};
    const size_t at = h->n_time * h->n_sm;
    size_t number[2]; /* of the kernels of the row */
    for (size_t k = 0; k < 2; k++) {
        number[k] =
            number_of(h->kernel[0], sizeof h->kernel[0], &h->n_kernel, tmx_csv_cell(csv, 0, t->kernel + k));
    }
    for (size_t sm = 0; sm < h->n_sm; sm++) {
        for (size_t k = 0; k < sizeof to / sizeof to[0]; k++) {
            to[k][at + sm] = tmx_csv_value(csv, 0, t->first + 4 * sm + k);
        }
        const double share = h->sm_kernel[at + sm]; /* of the first */
        h->sm_kernel[at + sm] = !isfinite(share) || (number[0] == 0 && number[1] == 0) ? 0
                                : share > 1 - NEARLY || number[1] == 0
                                    ? (share > NEARLY ? (double)number[0] : 0)
                                : share < NEARLY ? (double)number[1]
                                                 : BOTH;
    }
    if (t->line[LOW] == csv->n_column) { /* the row's own values in place of its sample's */
        const size_t i = h->n_time;
        h->coolest_min_c[i] = INFINITY;
        h->hottest_min_c[i] = h->hottest_max_c[i] = h->hottest_c[i];
        h->sample_mean_c[i] = h->mean_c[i];
        h->stopped_1[i] = 0;
        for (size_t sm = 0; sm < h->n_sm; sm++) {
            h->coolest_min_c[i] = fmin(h->coolest_min_c[i], h->sm_temp_c[at + sm]);
            h->stopped_1[i] += h->sm_stopped[at + sm] / (double)h->n_sm;
        }
    }
}

static enum tmx_status trace_row(void *ctx, const struct tmx_csv *csv, struct tmx_err *err)
{
    struct trace_reader *t = ctx;
    if (csv->n_row == 0) {
        if (!t->taking) {
            find_columns(t, csv, err);
        }
        return err->code;
    }
    const double number = tmx_csv_value(csv, 0, t->gpu);
    const size_t g = number >= 0 && number < (double)t->n_gpu ? (size_t)number : t->n_gpu;
    if (g == t->n_gpu || (double)g != number) {
        return TMX_OK;
    }
    if (!t->taking) {
        t->n_row[g]++;
        return TMX_OK;
    }
    struct tmx_history *h = &t->all[g];
    double **lines[N_LINE];
    lines_of(h, lines);
    if (t->seen[g] < t->n_row[g]) { /* a row that is left out counts in the sample of the next one */
        const size_t at = h->n_time, since = t->seen[g] > 0 ? (t->seen[g] - 1) % h->time_stride : 0;
        for (size_t i = LOWEST; i < N_LINE; i++) {
            const double v = tmx_csv_value(csv, 0, t->line[i]);
            double *to = *lines[i] + at;
            *to = since == 0  ? v
                  : i <= LOW  ? fmin(*to, v)
                  : i == HIGH ? fmax(*to, v)
                              : *to + (v - *to) / (double)(since + 1);
        }
    }
    if (t->seen[g] < t->n_row[g] && t->seen[g]++ % h->time_stride == 0) {
        for (size_t i = 0; i < LOWEST; i++) {
            (*lines[i])[h->n_time] = tmx_csv_value(csv, 0, t->line[i]);
        }
        if (t->reasons < csv->n_column) {
            h->reason[h->n_time] = (double)number_of(h->reason_text[0], sizeof h->reason_text[0],
                                                     &h->n_reason, tmx_csv_cell(csv, 0, t->reasons));
        }
        fill_sms(h, t, csv);
        h->n_time++;
    }
    return TMX_OK;
}

static void read_trace(struct tmx_history *all, size_t n_gpu, const char *path, size_t max,
                       struct tmx_err *err)
{
    struct trace_reader t = {.all = all, .n_gpu = n_gpu};
    struct tmx_arena arena = {0};
    TMX_TAKE(&arena, t.n_row, n_gpu);
    TMX_TAKE(&arena, t.seen, n_gpu);
    tmx_arena_check(&arena, err);
    tmx_csv_each(path, trace_row, &t, err);
    for (size_t g = 0; !err->code && g < n_gpu; g++) {
        struct tmx_history *h = &all[g];
        double **lines[N_LINE];
        h->time_stride = t.n_row[g] > max ? (t.n_row[g] + max - 1) / max : 1;
        const size_t room = t.n_row[g] / h->time_stride + 2;
        lines_of(h, lines);
        TMX_TAKE(&h->arena, h->reason, room);
        for (size_t i = 0; i < N_LINE; i++) {
            TMX_TAKE(&h->arena, *lines[i], room);
        }
        TMX_TAKE_REALS(&h->arena, room * h->n_sm, &h->sm_temp_c, &h->sm_power_w, &h->sm_kernel,
                       &h->sm_stopped);
        tmx_arena_check(&h->arena, err);
    }
    t.taking = true;
    tmx_csv_each(path, trace_row, &t, err);
    for (size_t g = 0; !err->code && g < n_gpu; g++) {
        struct tmx_history *h = &all[g];
        for (size_t i = 0; i < h->n_time * h->n_sm; i++) {
            h->sm_kernel[i] = isinf(h->sm_kernel[i]) ? (double)h->n_kernel + 1 : h->sm_kernel[i];
        }
    }
    tmx_arena_finish(&arena);
}

/* `-sampling_intvl SECONDS` of the HotSpot configuration beside the traces. */
static double read_interval(const char *path, struct tmx_err *err)
{
    struct tmx_text_file text;
    struct tmx_lines lines = {0};
    struct tmx_span key, value;
    double interval_s = 0;
    bool found = false;
    tmx_text_load(&text, path, err);
    while (!err->code && !found && tmx_lines_next(&lines, &text)) {
        struct tmx_span rest = lines.line;
        found = tmx_span_field(&rest, &key) && tmx_span_is(key, "-sampling_intvl") &&
                tmx_span_field(&rest, &value) && tmx_span_real(value, &interval_s);
    }
    tmx_text_finish(&text);
    if (!found) {
        tmx_error_at(err, TMX_EPARSE, path, 0, "no -sampling_intvl");
    }
    return interval_s;
}

static void read_frames(struct tmx_history *h, size_t n_gpu, const char *dir, double warmup_s, size_t max,
                        struct tmx_err *err)
{
    char config[TMX_PATH_SIZE], temps_at[TMX_PATH_SIZE], power_at[TMX_PATH_SIZE];
    char suffix[32] = ""; /* none where there is one GPU */
    struct tmx_trace temps = {0}, power = {0};
    const size_t n_unit = h->floorplan.n_unit;
    tmx_path_join(config, dir, "thermal.config", err);
    const double interval_s = read_interval(config, err);
    if (n_gpu > 1) {
        snprintf(suffix, sizeof suffix, "_gpu%zu", h->gpu);
    }
    snprintf(temps_at, sizeof temps_at, "%s/temps%s.ttrace", dir, suffix);
    snprintf(power_at, sizeof power_at, "%s/power%s.ptrace", dir, suffix);
    if (!err->code && !tmx_trace_read(temps_at, &temps, err) && temps.n_column != n_unit) {
        tmx_error_at(err, TMX_EPARSE, temps_at, 1, "%zu columns; the floorplan has %zu units", temps.n_column,
                     n_unit);
    }
    if (!err->code && !tmx_trace_read(power_at, &power, err) &&
        (power.n_column != n_unit || power.n_row != temps.n_row)) {
        tmx_error_at(err, TMX_EPARSE, power_at, 1,
                     "%zu rows of %zu columns; the temperatures have %zu of %zu", power.n_row, power.n_column,
                     temps.n_row, n_unit);
    }
    if (!err->code) {
        h->frame_stride = temps.n_row > max ? (temps.n_row + max - 1) / max : 1;
        h->n_frame = (temps.n_row + h->frame_stride - 1) / h->frame_stride;
        TMX_TAKE(&h->arena, h->frame_s, h->n_frame);
        TMX_TAKE(&h->arena, h->unit_temp_c, h->n_frame * n_unit);
        TMX_TAKE(&h->arena, h->unit_w, h->n_frame * n_unit);
        tmx_arena_check(&h->arena, err);
    }
    for (size_t f = 0; !err->code && f < h->n_frame; f++) {
        const size_t row = f * h->frame_stride;
        h->frame_s[f] = (double)(row + 1) * interval_s - warmup_s;
        for (size_t u = 0; u < n_unit; u++) {
            h->unit_temp_c[f * n_unit + u] = temps.value[row * n_unit + u] - TMX_ZERO_C;
            h->unit_w[f * n_unit + u] = power.value[row * n_unit + u];
        }
    }
    tmx_trace_finish(&temps);
    tmx_trace_finish(&power);
}

bool tmx_history_has_frames(const char *dir)
{
    char one[TMX_PATH_SIZE], several[TMX_PATH_SIZE];
    snprintf(one, sizeof one, "%s/temps.ttrace", dir);
    snprintf(several, sizeof several, "%s/temps_gpu0.ttrace", dir);
    return tmx_os_exists(one) || tmx_os_exists(several);
}

enum tmx_status tmx_history_load(struct tmx_history **all, size_t *n_gpu, const char *dir, size_t max,
                                 struct tmx_err *err)
{
    char trace[TMX_PATH_SIZE];
    double warmup_s = 0;
    const bool has_frames = tmx_history_has_frames(dir);
    *all = NULL;
    *n_gpu = 0;
    snprintf(trace, sizeof trace, "%s/trace.csv", dir);
    if (!tmx_os_exists(trace) && !has_frames) {
        tmx_error_at(err, TMX_EIO, dir, 0,
                     "no trace.csv or temps.ttrace; make them with `thermix run CONFIG -o %s --trace 1 "
                     "--hotspot 1`",
                     dir);
    }
    read_folder(all, n_gpu, dir, &warmup_s, err);
    if (!err->code && tmx_os_exists(trace)) {
        read_trace(*all, *n_gpu, trace, max, err);
    }
    for (size_t g = 0; g < *n_gpu && !err->code && has_frames; g++) {
        read_frames(&(*all)[g], *n_gpu, dir, warmup_s, max, err);
    }
    if (err->code) {
        tmx_history_free(*all, *n_gpu);
        *all = NULL;
        *n_gpu = 0;
    }
    return err->code;
}

void tmx_history_free(struct tmx_history *all, size_t n_gpu)
{
    for (size_t g = 0; all && g < n_gpu; g++) {
        tmx_arena_finish(&all[g].arena);
        tmx_floorplan_finish(&all[g].floorplan);
    }
    free(all);
}

/* The first frame of the measured time; 0 when the run ended in its warm-up. */
static size_t first_measured(const struct tmx_history *h)
{
    size_t f = 0;
    while (f < h->n_frame && h->frame_s[f] < 0) {
        f++;
    }
    return f < h->n_frame ? f : 0;
}

struct tmx_hottest tmx_history_hottest(const struct tmx_history *all, size_t n_gpu)
{
    struct tmx_hottest at = {0};
    double best_c = -INFINITY;
    for (size_t g = 0; g < n_gpu; g++) {
        const size_t n_unit = all[g].floorplan.n_unit;
        for (size_t i = first_measured(&all[g]) * n_unit; i < all[g].n_frame * n_unit; i++) {
            if (all[g].unit_temp_c[i] > best_c) {
                at = (struct tmx_hottest){g, i / n_unit, i % n_unit};
                best_c = all[g].unit_temp_c[i];
            }
        }
    }
    return at;
}

size_t tmx_history_frame(const struct tmx_history *all, size_t n_gpu, double at_s, struct tmx_err *err)
{
    const struct tmx_history *h = &all[0];
    const double first_s = h->frame_s[0], last_s = h->frame_s[h->n_frame - 1];
    size_t frame = isfinite(at_s) ? 0 : tmx_history_hottest(all, n_gpu).frame;
    if (at_s < first_s || at_s > last_s) {
        tmx_error(err, TMX_ECONFIG, "--at %g: the record goes from %g to %g s", at_s, first_s, last_s);
    }
    for (size_t f = 0; isfinite(at_s) && f < h->n_frame; f++) {
        frame = fabs(h->frame_s[f] - at_s) < fabs(h->frame_s[frame] - at_s) ? f : frame;
    }
    return frame;
}

void tmx_history_range(const struct tmx_history *all, size_t n_gpu, double *low_c, double *high_c)
{
    *low_c = INFINITY;
    *high_c = -INFINITY;
    for (size_t g = 0; g < n_gpu; g++) {
        const size_t n_unit = all[g].floorplan.n_unit;
        for (size_t i = first_measured(&all[g]) * n_unit; i < all[g].n_frame * n_unit; i++) {
            *low_c = fmin(*low_c, all[g].unit_temp_c[i]);
            *high_c = fmax(*high_c, all[g].unit_temp_c[i]);
        }
    }
}

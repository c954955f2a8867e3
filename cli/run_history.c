#include "cli/run_history.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/run_state.h"
#include "core/base/config.h"
#include "core/base/csv.h"
#include "core/base/os.h"
#include "core/base/text.h"
#include "core/base/trace.h"

#define ZERO_C 273.15
enum { MAX_PATH = 1200 };

static enum tmx_status no_memory(struct tmx_err *err)
{
    (void)tmx_fail(err, TMX_ENOMEM, "out of memory");
    return TMX_ENOMEM;
}

static enum tmx_status read_resolved(struct tmx_history *h, const char *dir, double *warmup_s,
                                     struct tmx_err *err)
{
    char path[MAX_PATH];
    config_t cfg;
    struct tmx_run *run = NULL;
    snprintf(path, sizeof path, "%s/resolved.cfg", dir);
    enum tmx_status st = tmx_config_load(&cfg, path, NULL, 0, err);
    st = st ? st : tmx_run_describe(&run, config_root_setting(&cfg), err);
    if (!st) {
        h->trip_c = 90;
        h->release_c = 85;
        (void)config_lookup_float(&cfg, "throttle.trip_c", &h->trip_c);
        (void)config_lookup_float(&cfg, "throttle.release_c", &h->release_c);
        *warmup_s = run->options.warmup_s;
        snprintf(h->mix, sizeof h->mix, "%s", run->mix.name);
        snprintf(h->policy, sizeof h->policy, "%s", run->options.policy);
    }
    const struct tmx_floorplan *fp = st ? NULL : &run->kind[run->kind_of_gpu[0]].chip.floorplan;
    for (size_t i = 0; !st && i < fp->n_unit; i++) {
        st = tmx_floorplan_add(&h->floorplan, &fp->unit[i], err);
    }
    tmx_run_close(run);
    config_destroy(&cfg);
    return st;
}

/* A column of numbers; NAN where a cell is none. */
static double cell(const struct tmx_csv *csv, size_t row, size_t column)
{
    double v;
    return column < csv->n_column && tmx_csv_real(csv, row, column, &v) ? v : NAN;
}

static void fill_sms(struct tmx_history *h, const struct tmx_csv *csv, size_t row, size_t t)
{
    static const char *const part[] = {"temp_c", "power_w", "first_share", "gated"};
    double *const to[] = {h->sm_temp_c, h->sm_power_w, h->sm_share, h->sm_stopped};
    const size_t first = tmx_csv_column(csv, "sm0_temp_c");
    for (size_t sm = 0; sm < h->n_sm; sm++) {
        for (size_t k = 0; k < sizeof part / sizeof part[0]; k++) {
            to[k][t * h->n_sm + sm] = cell(csv, row, first + 4 * sm + k);
        }
    }
}

static enum tmx_status take_rows(struct tmx_history *h, const struct tmx_csv *csv, size_t n_row, size_t max,
                                 struct tmx_err *err)
{
    h->time_stride = n_row > max ? (n_row + max - 1) / max : 1;
    const size_t room = n_row / h->time_stride + 2;
    double **const lines[] = {&h->time_s, &h->freq_mhz, &h->power_w, &h->hottest_c, &h->mean_c};
    double **const planes[] = {&h->sm_temp_c, &h->sm_power_w, &h->sm_share, &h->sm_stopped};
    static const char *const names[] = {"time_s", "freq_mhz", "power_w", "hottest_c", "mean_c"};
    bool ok = true;
    for (size_t i = 0; i < 5; i++) {
        ok = (*lines[i] = calloc(room, sizeof **lines[i])) && ok;
    }
    for (size_t i = 0; i < 4; i++) {
        ok = (*planes[i] = calloc(room * h->n_sm, sizeof **planes[i])) && ok;
    }
    if (!ok) {
        return no_memory(err);
    }
    size_t seen = 0;
    const size_t gpu = tmx_csv_column(csv, "gpu"), first = tmx_csv_column(csv, "first_kernel");
    for (size_t r = 0; r < csv->n_row; r++) {
        if (cell(csv, r, gpu) != 0 || seen++ % h->time_stride != 0) {
            continue;
        }
        for (size_t i = 0; i < 5; i++) {
            (*lines[i])[h->n_time] = cell(csv, r, tmx_csv_column(csv, names[i]));
        }
        if (!h->second[0] && tmx_csv_cell(csv, r, first + 1)[0]) {
            snprintf(h->first, sizeof h->first, "%s", tmx_csv_cell(csv, r, first));
            snprintf(h->second, sizeof h->second, "%s", tmx_csv_cell(csv, r, first + 1));
        } else if (!h->first[0]) {
            snprintf(h->first, sizeof h->first, "%s", tmx_csv_cell(csv, r, first));
        }
        fill_sms(h, csv, r, h->n_time++);
    }
    return TMX_OK;
}

static enum tmx_status read_trace(struct tmx_history *h, const char *path, size_t max, struct tmx_err *err)
{
    struct tmx_csv csv = {0};
    enum tmx_status st = tmx_csv_read(&csv, path, err);
    const size_t first = st ? 0 : tmx_csv_column(&csv, "sm0_temp_c");
    size_t n_row = 0;
    if (!st && (first == csv.n_column || tmx_csv_column(&csv, "first_kernel") + 1 >= csv.n_column)) {
        st = tmx_fail_at(err, TMX_EPARSE, path, 1, "not a trace of `thermix run --trace`");
    }
    if (!st) {
        h->n_sm = (csv.n_column - first) / 4;
        for (size_t r = 0; r < csv.n_row; r++) {
            n_row += cell(&csv, r, tmx_csv_column(&csv, "gpu")) == 0;
        }
        st = take_rows(h, &csv, n_row, max, err);
    }
    tmx_csv_finish(&csv);
    return st;
}

/* `-sampling_intvl SECONDS` of the HotSpot configuration beside the traces. */
static enum tmx_status read_interval(const char *path, double *interval_s, struct tmx_err *err)
{
    struct tmx_text text;
    struct tmx_lines lines = {0};
    struct tmx_span key, value;
    enum tmx_status st = tmx_text_load(&text, path, err);
    bool found = false;
    while (!st && !found && tmx_lines_next(&lines, &text)) {
        struct tmx_span rest = lines.line;
        found = tmx_span_field(&rest, &key) && tmx_span_is(key, "-sampling_intvl") &&
                tmx_span_field(&rest, &value) && tmx_span_real(value, interval_s);
    }
    tmx_text_finish(&text);
    return !st && !found ? tmx_fail_at(err, TMX_EPARSE, path, 0, "no -sampling_intvl") : st;
}

static enum tmx_status read_frames(struct tmx_history *h, const char *dir, double warmup_s, size_t max,
                                   struct tmx_err *err)
{
    char path[MAX_PATH];
    struct tmx_trace temps = {0}, power = {0};
    double interval_s = 0;
    const size_t n_unit = h->floorplan.n_unit;
    snprintf(path, sizeof path, "%s/thermal.config", dir);
    enum tmx_status st = read_interval(path, &interval_s, err);
    snprintf(path, sizeof path, "%s/temps.ttrace", dir);
    st = st ? st : tmx_trace_read(path, &temps, err);
    if (!st && temps.n_column != n_unit) {
        st = tmx_fail_at(err, TMX_EPARSE, path, 1, "%zu columns; the floorplan has %zu units", temps.n_column,
                         n_unit);
    }
    snprintf(path, sizeof path, "%s/power.ptrace", dir);
    st = st ? st : tmx_trace_read(path, &power, err);
    if (!st && (power.n_column != n_unit || power.n_row != temps.n_row)) {
        st = tmx_fail_at(err, TMX_EPARSE, path, 1, "%zu rows of %zu columns; temps.ttrace has %zu of %zu",
                         power.n_row, power.n_column, temps.n_row, n_unit);
    }
    if (!st) {
        h->frame_stride = temps.n_row > max ? (temps.n_row + max - 1) / max : 1;
        h->n_frame = (temps.n_row + h->frame_stride - 1) / h->frame_stride;
        h->frame_s = calloc(h->n_frame, sizeof *h->frame_s);
        h->unit_temp_c = calloc(h->n_frame * n_unit, sizeof *h->unit_temp_c);
        h->unit_w = calloc(h->n_frame * n_unit, sizeof *h->unit_w);
        st = h->frame_s && h->unit_temp_c && h->unit_w ? TMX_OK : no_memory(err);
    }
    for (size_t f = 0; !st && f < h->n_frame; f++) {
        const size_t row = f * h->frame_stride;
        h->frame_s[f] = (double)(row + 1) * interval_s - warmup_s;
        for (size_t u = 0; u < n_unit; u++) {
            h->unit_temp_c[f * n_unit + u] = temps.value[row * n_unit + u] - ZERO_C;
            h->unit_w[f * n_unit + u] = power.value[row * n_unit + u];
        }
    }
    tmx_trace_finish(&temps);
    tmx_trace_finish(&power);
    return st;
}

enum tmx_status tmx_history_load(struct tmx_history *h, const char *dir, size_t max, struct tmx_err *err)
{
    char trace[MAX_PATH], temps[MAX_PATH];
    double warmup_s = 0;
    *h = (struct tmx_history){0};
    snprintf(trace, sizeof trace, "%s/trace.csv", dir);
    snprintf(temps, sizeof temps, "%s/temps.ttrace", dir);
    if (!tmx_os_exists(trace) && !tmx_os_exists(temps)) {
        return tmx_fail_at(err, TMX_EIO, dir, 0,
                           "no trace.csv or temps.ttrace; make them with `thermix run CONFIG -o %s --trace 1 "
                           "--hotspot 1`",
                           dir);
    }
    enum tmx_status st = read_resolved(h, dir, &warmup_s, err);
    if (!st && tmx_os_exists(trace)) {
        st = read_trace(h, trace, max, err);
    }
    if (!st && tmx_os_exists(temps)) {
        st = read_frames(h, dir, warmup_s, max, err);
    }
    if (st) {
        tmx_history_finish(h);
    }
    return st;
}

void tmx_history_finish(struct tmx_history *h)
{
    double *const all[] = {h->time_s,     h->freq_mhz,  h->power_w,     h->hottest_c,
                           h->mean_c,     h->sm_temp_c, h->sm_power_w,  h->sm_share,
                           h->sm_stopped, h->frame_s,   h->unit_temp_c, h->unit_w};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        free(all[i]);
    }
    tmx_floorplan_finish(&h->floorplan);
    *h = (struct tmx_history){0};
}

void tmx_history_hottest(const struct tmx_history *h, size_t *frame, size_t *unit)
{
    size_t best = 0;
    for (size_t i = 1; i < h->n_frame * h->floorplan.n_unit; i++) {
        best = h->unit_temp_c[i] > h->unit_temp_c[best] ? i : best;
    }
    *frame = best / h->floorplan.n_unit;
    *unit = best % h->floorplan.n_unit;
}

void tmx_history_range(const struct tmx_history *h, double *low_c, double *high_c)
{
    *low_c = INFINITY;
    *high_c = -INFINITY;
    for (size_t i = 0; i < h->n_frame * h->floorplan.n_unit; i++) {
        *low_c = fmin(*low_c, h->unit_temp_c[i]);
        *high_c = fmax(*high_c, h->unit_temp_c[i]);
    }
}

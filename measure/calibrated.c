/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "measure/calibrated.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/csv.h"
#include "base/os.h"
#include "base/output.h"
#include "base/text.h"
#include "study/table_out.h"

static const struct tmx_column columns[] = {TMX_TEXT("parameter"), TMX_TEXT("gpu"),
                                            TMX_TEXT("run"),       TMX_REAL("value", 5),
                                            TMX_TEXT("unit"),      TMX_REAL("standard_error", 5),
                                            TMX_REAL("low_95", 5), TMX_REAL("high_95", 5),
                                            TMX_TEXT("status"),    TMX_TEXT("note")};

static void fixed_row(struct tmx_table *t, const char *name, const char *gpu, double value, const char *unit,
                      const char *note)
{
    tmx_table_row(t, "%s %s %s %g %s - - - %s %s", name, gpu, "", value, unit, "given", note);
}

/* What a row's watts were taken for, and who said so. */
static void power_row(struct tmx_table *t, const struct tmx_calibration *c)
{
    char note[160];
    if (c->power_window_s > 0) {
        snprintf(note, sizeof note, "given: a mean over %g s", c->power_window_s);
    } else {
        snprintf(note, sizeof note, "%s%s",
                 c->model.power_is_mean ? "a row's power is the mean since the row before"
                                        : "a row's power is that of its time",
                 c->power_is == TMX_POWER_AUTO ? ": fits better (--power-is)"
                 : c->power_instant            ? ": by the name of its column"
                                               : ": given");
    }
    fixed_row(t, "power_is_mean", "all", c->model.power_is_mean ? 1 : 0, "1", note);
    if (c->power_window_s > 0 && c->model.power_lag_s > 0) {
        fixed_row(t, "power_lag_s", "all", c->model.power_lag_s, "s", "half of it");
    }
}

/* NULL: no memory. */
static struct tmx_table *fit_table(const struct tmx_calibration *c, const struct tmx_measured *log)
{
    const struct tmx_leak *leak = &c->leak;
    struct tmx_table *t = tmx_table_new(columns, sizeof columns / sizeof columns[0]);
    char note[160];
    for (size_t g = 0; g < c->model.n_gpu; g++) { /* the GPUs there are, and whose air they breathe */
        const struct tmx_rc_gpu *gpu = &c->model.gpu[g];
        fixed_row(t, "upstream", gpu->name, gpu->upstream >= 0 ? 1 : 0, "1",
                  gpu->upstream >= 0 ? c->model.gpu[gpu->upstream].name : "");
    }
    fixed_row(t, "rpm_ref", "all", c->model.rpm_ref, "rpm",
              c->model.rpm_ref > 0 ? "sinks and preheat are given at this speed"
                                   : "no fan speed known: holds for this fan curve only");
    fixed_row(t, "power_w", "all", 1, "1", c->model.power_from);
    power_row(t, c);
    fixed_row(t, "power_low_w", "all", c->model.power_low_w, "W", "");
    fixed_row(t, "power_high_w", "all", c->model.power_high_w, "W", "");
    fixed_row(t, "residual_k", "all", c->fit.rms_k, "K", "rms of the residual");
    for (size_t k = 0; k < c->fit.n_parameter; k++) {
        const struct tmx_fit_parameter *p = &c->fit.parameter[k];
        const bool error = isfinite(p->error) && p->error < 1e6 * fmax(fabs(p->value), 1);
        double low = p->value - 1.96 * p->error, high = p->value + 1.96 * p->error;
        if (tmx_fit_positive(p->kind) && error) { /* of the logarithm, which is what was fitted */
            low = p->value * exp(-1.96 * p->error / p->value);
            high = p->value * exp(1.96 * p->error / p->value);
        }
        tmx_table_row(t, "%s %s %s %g %s %G %G %G %s %s", tmx_fit_name(p->kind),
                      p->gpu >= 0 ? c->model.gpu[p->gpu].name : "all",
                      p->kind == TMX_FIT_AMBIENT ? log->run[p->run] : "", p->value, tmx_fit_unit(p->kind),
                      error ? p->error : NAN, error ? low : NAN, error ? high : NAN,
                      p->identified ? "fitted" : "not identified", p->why);
    }
    if (leak->identified) {
        snprintf(note, sizeof note,
                 "d ln P / dT at equal work, %zu stretches of load, %.0f W, %.0f to %.0f degC: %.2f W/K",
                 leak->n_stretch, leak->mean_w, leak->low_c, leak->high_c, leak->per_k * leak->mean_w);
        tmx_table_row(t, "%s %s %s %g %s %g %g %g %s %s", "leak_per_k", "all", "", leak->per_k, "1/K",
                      leak->error, leak->per_k - 1.96 * leak->error, leak->per_k + 1.96 * leak->error,
                      "fitted", note);
    }
    for (size_t k = 0; k < c->n_left_out; k++) {
        tmx_table_row(t, "%s %s %s - %s - - - %s %s", c->left_out[k].name, "", "", "", "left out",
                      c->left_out[k].why);
    }
    return t;
}

static struct tmx_table *residual_table(const struct tmx_calibration *c, const struct tmx_measured *log,
                                        struct tmx_err *err)
{
    static const struct tmx_column residual_columns[] = {
        TMX_TEXT("run"),          TMX_TEXT("gpu"),           TMX_REAL("time_s", 3),
        TMX_REAL("power_w", 1),   TMX_REAL("measured_c", 1), TMX_REAL("predicted_c", 2),
        TMX_REAL("residual_k", 2)};
    struct tmx_table *t = tmx_table_new(residual_columns, 7);
    for (size_t i = 0; !err->code && i < log->n_series; i++) {
        const struct tmx_series *s = &log->series[i];
        double *temp = malloc(s->n * sizeof *temp), start = NAN;
        if (!temp) {
            tmx_error(err, TMX_ENOMEM, "%zu rows", s->n);
        }
        tmx_fit_predict(&c->fit, i, &start, temp, err);
        for (size_t k = 0; !err->code && k < s->n; k++) {
            tmx_table_row(t, "%s %s %g %g %G %g %G", log->run[s->run], log->gpu[s->gpu], s->q[TMX_Q_TIME][k],
                          s->q[TMX_Q_POWER][k], s->q[TMX_Q_TEMP][k], temp[k], temp[k] - s->q[TMX_Q_TEMP][k]);
        }
        free(temp);
    }
    return t;
}

/* parameter,gpu,run and a column for each of the rows. */
static struct tmx_table *covariance_table(const struct tmx_calibration *c, const struct tmx_measured *log)
{
    static const struct tmx_column first[] = {TMX_TEXT("parameter"), TMX_TEXT("gpu"), TMX_TEXT("run")};
    const size_t n = c->fit.n_parameter;
    struct tmx_arena arena = {0};
    struct tmx_column *column;
    char(*name)[16];
    TMX_TAKE(&arena, column, n + 3);
    TMX_TAKE(&arena, name, n + 3);
    for (size_t k = 0; !arena.failed && k < n + 3; k++) {
        snprintf(name[k], sizeof name[k], "row_%zu", k - 2);
        column[k] = k < 3 ? first[k] : (struct tmx_column)TMX_REAL(name[k], 9);
    }
    struct tmx_table *t = arena.failed ? NULL : tmx_table_new(column, n + 3);
    for (size_t k = 0; k < n; k++) {
        const struct tmx_fit_parameter *p = &c->fit.parameter[k];
        tmx_table_row(t, "%s %s %s", tmx_fit_name(p->kind), p->gpu >= 0 ? c->model.gpu[p->gpu].name : "all",
                      p->kind == TMX_FIT_AMBIENT ? log->run[p->run] : "");
        for (size_t i = 0; i < n; i++) {
            tmx_table_real_or_empty(t, c->covariance[k * n + i]);
        }
    }
    tmx_arena_finish(&arena);
    return t;
}

/* Not after an error. */
static void save(struct tmx_table *t, const char *dir, const char *name, struct tmx_err *err)
{
    char path[TMX_PATH_SIZE];
    if (!err->code && !tmx_path_join(path, dir, name, err)) {
        (void)!tmx_table_save(t, TMX_FORMAT_CSV, path, err);
    }
    tmx_table_destroy(t);
}

/* What the rows of the fit have to say, below it. */
static void print_notes(const struct tmx_table *t, size_t width, FILE *out)
{
    enum { PARAMETER = 0, INDENT = 2 };
    const size_t note = tmx_table_find(t, "note");
    fputc('\n', out);
    for (size_t r = 0; r < tmx_table_rows(t); r++) {
        const struct tmx_cell *words = tmx_table_cell(t, r, note);
        char line[1024];
        const char *parameter = tmx_table_cell(t, r, PARAMETER)->text;
        bool said =
            words->empty || !words->text[0] || strcmp(parameter, "upstream") == 0; /* below, or before */
        for (size_t k = 0; k < r && !said; k++) {
            const struct tmx_cell *before = tmx_table_cell(t, k, note);
            said = !before->empty && strcmp(before->text, words->text) == 0 &&
                   strcmp(tmx_table_cell(t, k, PARAMETER)->text, parameter) == 0;
        }
        if (!said) {
            snprintf(line, sizeof line, "%s: %s", parameter, words->text);
            tmx_text_wrap(line, INDENT, width, out);
        }
    }
}

/* What the calibration is good for, in a sentence: how it follows the log, and how far a forecast may be off.
 */
static void print_verdict(const struct tmx_calibration *c, const struct tmx_measured *log, size_t width,
                          FILE *out, struct tmx_err *err)
{
    static const double TWO_SIDED_95 = 1.96, USELESS_K = 10;
    struct tmx_fit_errors e;
    struct tmx_rc model = c->model;
    char line[700], which[80] = "it";
    double worst_k = 0, *power_w;
    size_t silent = 0, at = 0;
    model.residual_k = c->fit.rms_k;
    if (tmx_fit_errors_make(&e, c->fit.parameter, c->fit.n_parameter, c->covariance, err) ||
        !TMX_TAKE(&e.arena, power_w, model.n_gpu + 1)) {
        tmx_error(err, TMX_ENOMEM, "out of memory");
        tmx_fit_errors_finish(&e);
        return;
    }
    for (size_t i = 0; i < log->n_series; i++) {
        const size_t g = tmx_rc_find(&model, log->gpu[log->series[i].gpu]);
        for (size_t k = 0; k < log->series[i].n && g < model.n_gpu; k++) {
            power_w[g] = fmax(power_w[g], log->series[i].q[TMX_Q_POWER][k]);
        }
    }
    for (size_t g = 0; g < model.n_gpu; g++) {
        const double error_k = TWO_SIDED_95 * tmx_fit_steady_error_k(&e, &model, g, power_w, NULL, true);
        if (!(error_k <= worst_k)) { /* also of one that is not known */
            worst_k = error_k;
            at = g;
        }
    }
    for (size_t k = 0; k < c->fit.n_parameter; k++) {
        silent += !c->fit.parameter[k].identified;
    }
    if (model.n_gpu > 1) {
        snprintf(which, sizeof which, "GPU %.60s, the least certain,", model.gpu[at].name);
    }
    snprintf(line, sizeof line, "The model follows the log of %zu GPU%s to %.2f K rms.", model.n_gpu,
             tmx_plural(model.n_gpu), c->fit.rms_k);
    if (!isfinite(worst_k) || worst_k > USELESS_K) {
        tmx_text_add(line, sizeof line,
                     " It forecasts little: long at the log's highest power, %.0f W, %s may be ", power_w[at],
                     which);
        tmx_text_add(line, sizeof line,
                     isfinite(worst_k) ? "%.0f K off (95 %%); the notes say what to log."
                                       : "anywhere; the notes say what to log.",
                     worst_k);
    } else {
        tmx_text_add(line, sizeof line,
                     " Long at the log's highest power, %.0f W, %s is forecast to +- %.1f K (95 %%).",
                     power_w[at], which, worst_k);
    }
    if (silent > 0) {
        tmx_text_add(line, sizeof line, " %zu of %zu parameters are not identified by themselves%s.", silent,
                     c->fit.n_parameter, worst_k <= USELESS_K ? ", but what they make together is" : "");
    }
    const struct tmx_bold bold = tmx_os_bold(out);
    fputs(bold.on, out);
    tmx_text_wrap(line, 0, width, out);
    fputs(bold.off, out);
    fputc('\n', out);
    tmx_fit_errors_finish(&e);
}

/* "left out once": a run beside a fit to the others, and what those were. */
static void print_left_out(const struct tmx_calibration *c, const struct tmx_measured *log, size_t i,
                           size_t width, FILE *out)
{
    const struct tmx_run_error *e = &c->leave_one_out[i];
    double low[2] = {INFINITY, INFINITY}, high[2] = {0, 0}; /* W of the run, of the others */
    size_t rows = 0, runs = 0, lacks = 0;
    const char *other = "";
    char line[700];
    for (size_t k = 0; k < log->n_series; k++) {
        const struct tmx_series *s = &log->series[k];
        const int rest = s->run != e->run;
        bool seen = false;
        runs += rest && (k == 0 || log->series[k - 1].run != s->run);
        other = rest ? log->run[s->run] : other;
        rows += rest ? s->n : 0;
        for (size_t j = 0; j < s->n; j++) {
            low[rest] = fmin(low[rest], s->q[TMX_Q_POWER][j]);
            high[rest] = fmax(high[rest], s->q[TMX_Q_POWER][j]);
        }
        for (size_t j = 0; j < log->n_series; j++) {
            seen = seen || (log->series[j].run != e->run && log->series[j].gpu == s->gpu);
        }
        lacks += !rest && !seen;
    }
    snprintf(line, sizeof line, "left out once: run %.100s: rms %.3f K by a fit to ", log->run[e->run],
             e->rms_k);
    if (runs == 1) {
        tmx_text_add(line, sizeof line, "run %.100s alone", other);
    } else {
        tmx_text_add(line, sizeof line, "the other %zu runs", runs);
    }
    tmx_text_add(line, sizeof line, " (%zu rows, %.0f to %.0f W; this run has %.0f to %.0f W)", rows, low[1],
                 high[1], low[0], high[0]);
    if (lacks > 0) {
        tmx_text_add(line, sizeof line, "; %zu of its GPUs %s in no other run", lacks,
                     lacks > 1 ? "are" : "is");
    }
    tmx_text_wrap(line, 0, width, out);
}

enum tmx_status tmx_calibrated_print(const struct tmx_calibration *c, const struct tmx_measured *log,
                                     FILE *out, struct tmx_err *err)
{
    static const char *const shown[] = {"parameter",      "gpu",   "run", "value", "unit",
                                        "standard_error", "status"};
    const size_t width = tmx_os_terminal_width(out);
    const struct tmx_screen screen = {
        .width = width, .column = shown, .n_column = sizeof shown / sizeof shown[0]};
    struct tmx_err failed = {0};
    print_verdict(c, log, width, out, &failed);
    struct tmx_table *t = fit_table(c, log);
    if (!failed.code && (t ? !tmx_table_write_screen(t, &screen, out, &failed) : !tmx_no_memory(&failed))) {
        print_notes(t, width, out);
    }
    tmx_table_destroy(t);
    if (failed.code) {
        return tmx_error_give(err, &failed);
    }
    fprintf(out, "\n%zu rows, rms of the residual %.3f K, %d iteration%s\nair: %s%s\n", c->fit.n_row,
            c->fit.rms_k, c->fit.iterations, tmx_plural((size_t)c->fit.iterations), c->air,
            c->air_found ? " (found: cooler GPUs are in front; the air paths follow their order, because "
                           "equal loads do not separate them)"
            : log->n_gpu > 1 && strcmp(c->air, "none") == 0
                ? " (--air '0>1' where you know that GPU 1 breathes GPU 0's)"
                : "");
    if (!isnan(c->rest_rms_k)) {
        fprintf(out, "rest of the time, not fitted: rms %.3f K\n", c->rest_rms_k);
    }
    for (size_t i = 0; i < c->n_leave_one_out; i++) {
        print_left_out(c, log, i, width, out);
    }
    if (!(c->model.rpm_ref > 0)) {
        fprintf(out, "no fan speed: the resistance is that of this fan curve only\n");
    }
    return TMX_OK;
}

/* The options as they would be typed. */
static void print_how(const struct tmx_measured *log, const struct tmx_calibrate_options *o, FILE *out)
{
    static const char *const ambients[] = {"auto", "inlet", "fit"};
    fprintf(out, "thermix calibrate LOG... --air '%s'", o->air ? o->air : "auto");
    if (o->ambient == TMX_AMBIENT_GIVEN) {
        fprintf(out, " --ambient %.15g", o->ambient_c);
    } else {
        fprintf(out, " --ambient %s", ambients[o->ambient]);
    }
    fprintf(out, "%s", o->alike ? " --alike" : "");
    if (o->same_work) {
        fprintf(out, " --same-work '%s'", o->same_work);
    }
    if (o->power_window_s > 0) {
        fprintf(out, " --power-is %.15g", o->power_window_s);
    } else if (o->power_is != TMX_POWER_AUTO) {
        fprintf(out, " --power-is %s", o->power_is == TMX_POWER_MEAN ? "mean" : "instant");
    }
    if (o->rpm > 0) {
        fprintf(out, " --rpm %.15g", o->rpm);
    }
    if (o->levels) {
        fprintf(out, " --levels '%s'", o->levels->name);
    }
    if (o->split > 0 && o->split < 1) {
        fprintf(out, " --split %.15g", o->split);
    }
    fprintf(out, " --runs '");
    for (size_t i = 0; i < log->n_series; i++) {
        if (i == 0 || log->series[i].run != log->series[i - 1].run) {
            fprintf(out, "%s%s", i ? "," : "", log->run[log->series[i].run]);
        }
    }
    fprintf(out, "'\n# format: %s\n", log->format);
    for (size_t i = 0; i < log->n_column; i++) {
        fprintf(out, "# %s from \"%s\"\n", tmx_log_quantity_name(log->column[i].quantity),
                log->column[i].name);
    }
    for (size_t i = 0; i < log->n_warning; i++) {
        fprintf(out, "# warning: %s\n", log->warning[i]);
    }
    for (size_t i = 0; i < log->n_note; i++) {
        fprintf(out, "# note: %s\n", log->note[i]);
    }
}

/* The air of the log's runs, the mean over them, and in `from` how it is known. */
static double air_c(const struct tmx_calibration *c, const struct tmx_measured *log,
                    const struct tmx_calibrate_options *options, char *from, size_t size)
{
    double sum = 0, low = INFINITY, high = -INFINITY;
    size_t n = 0;
    for (size_t i = 0; c->fit.inlet && i < log->n_series; i++) {
        const double *inlet = log->series[i].q[TMX_Q_INLET];
        for (size_t k = 0; inlet && k < log->series[i].n; k++) {
            sum += isfinite(inlet[k]) ? inlet[k] : 0;
            low = isfinite(inlet[k]) ? fmin(low, inlet[k]) : low;
            high = isfinite(inlet[k]) ? fmax(high, inlet[k]) : high;
            n += isfinite(inlet[k]) ? 1 : 0;
        }
    }
    for (size_t i = 0; !c->fit.inlet && i < log->n_series; i++) { /* runs that were fitted, each once */
        const size_t r = log->series[i].run;
        if (i == 0 || r != log->series[i - 1].run) {
            sum += c->ambient_c[r];
            low = fmin(low, c->ambient_c[r]);
            high = fmax(high, c->ambient_c[r]);
            n++;
        }
    }
    if (n == 0) {
        snprintf(from, size, "assumed: edit");
        return 25;
    }
    const char *how = c->fit.inlet                            ? "mean of the log's inlet air"
                      : options->ambient == TMX_AMBIENT_GIVEN ? "given (--ambient)"
                                                              : "fitted to the log";
    if (high - low > 0.05) {
        snprintf(from, size, "%s, %.1f to %.1f", how, low, high);
    } else {
        snprintf(from, size, "%s", how);
    }
    return sum / (double)n;
}

enum tmx_status tmx_calibrated_write(const struct tmx_calibration *c, const struct tmx_measured *log,
                                     const struct tmx_calibrate_options *options, const char *dir,
                                     struct tmx_err *err)
{
    struct tmx_output o = {0};
    struct tmx_err failed = {0};
    char path[TMX_PATH_SIZE], from[80];
    if (strlen(dir) > TMX_PATH_SIZE - 64) {
        return tmx_fail_at(err, TMX_EIO, dir, 0, "the name is too long");
    }
    if (!tmx_os_mkdirs(dir, &failed) && !tmx_folder_open(dir, TMX_FOLDER_RESULTS, &failed)) {
        save(fit_table(c, log), dir, "fit.csv", &failed);
        save(covariance_table(c, log), dir, "covariance.csv", &failed);
        save(residual_table(c, log, &failed), dir, "residuals.csv", &failed);
    }
    if (!failed.code && !tmx_path_join(path, dir, "how.txt", &failed) &&
        !tmx_output_open(&o, path, &failed)) {
        print_how(log, options, o.file);
        (void)!tmx_output_commit(&o, &failed);
        tmx_output_discard(&o);
    }
    const double inlet_c = air_c(c, log, options, from, sizeof from);
    return failed.code ? tmx_error_give(err, &failed)
                       : tmx_calibrated_node(&c->model, log, inlet_c, from, options->levels, dir, err);
}

/* ---- reading ---- */

static bool set_parameter(struct tmx_rc *m, const char *name, const char *gpu, double v)
{
    const struct {
        const char *name;
        double *at;
    } others[] = {{"rpm_ref", &m->rpm_ref},
                  {"leak_per_k", &m->leak_per_k},
                  {"power_low_w", &m->power_low_w},
                  {"power_high_w", &m->power_high_w},
                  {"residual_k", &m->residual_k}};
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        if (strcmp(others[i].name, name) == 0) {
            *others[i].at = v;
            return true;
        }
    }
    if (strcmp(name, "power_is_mean") == 0) {
        m->power_is_mean = v > 0;
        return true;
    }
    m->ambient_fitted = m->ambient_fitted || strcmp(name, "ambient_c") == 0;
    return strcmp(name, "ambient_c") == 0 || strcmp(name, "upstream") == 0 || tmx_fit_set(m, name, gpu, v);
}

enum { PARAMETER, GPU, VALUE, STATUS, NOTE, N_READ };

/* Is a row that sets a parameter alone in that, and its value one that the parameter can have? */
static void check_row(const struct tmx_csv *csv, const size_t *c, size_t row, double v, struct tmx_err *err)
{
    static const char *const above_0[] = {"sink_k_per_w", "sink_j_per_k", "fan_exponent"};
    static const char *const from_0[] = {"junction_k_per_w", "die_k_per_w", "die_s",
                                         "case_k_per_w",     "case_s",      "rpm_ref"};
    const char *name = tmx_csv_cell(csv, row, c[PARAMETER]), *gpu = tmx_csv_cell(csv, row, c[GPU]);
    const bool above = tmx_names_find(name, above_0, 3) < 3, from = tmx_names_find(name, from_0, 6) < 6;
    if ((above && v <= 0) || (from && v < 0)) {
        tmx_error_at(err, TMX_EPARSE, csv->source, csv->line[row], "%s of GPU %s = %g: expected %s", name,
                     gpu, v, above ? "a number above 0" : "0 or more");
    }
    for (size_t k = 0; k < row && strcmp(name, "ambient_c") != 0; k++) { /* an ambient a run */
        if (strcmp(name, tmx_csv_cell(csv, k, c[PARAMETER])) == 0 &&
            strcmp(gpu, tmx_csv_cell(csv, k, c[GPU])) == 0) {
            tmx_error_at(err, TMX_EPARSE, csv->source, csv->line[row],
                         "%s of GPU %s is given twice (first at line %u)", name, gpu, csv->line[k]);
        }
    }
}

/* Rows "upstream" name the GPUs; then every row sets what it has. */
static void read_rows(struct tmx_rc *m, const char *path, const struct tmx_csv *csv, const size_t *c,
                      struct tmx_err *err)
{
    for (size_t r = 0; r < csv->n_row; r++) {
        if (strcmp(tmx_csv_cell(csv, r, c[PARAMETER]), "upstream") == 0) {
            struct tmx_rc_gpu *g = &m->gpu[m->n_gpu++];
            if (snprintf(g->name, sizeof g->name, "%s", tmx_csv_cell(csv, r, c[GPU])) >=
                (int)sizeof g->name) {
                tmx_error_at(err, TMX_EPARSE, path, csv->line[r], "a GPU's name longer than %zu characters",
                             sizeof g->name - 1);
            }
            g->upstream = TMX_RC_NONE;
        }
    }
    for (size_t r = 0; !err->code && r < csv->n_row; r++) {
        const char *name = tmx_csv_cell(csv, r, c[PARAMETER]), *gpu = tmx_csv_cell(csv, r, c[GPU]),
                   *note = tmx_csv_cell(csv, r, c[NOTE]);
        double v;
        if (strcmp(tmx_csv_cell(csv, r, c[STATUS]), "left out") == 0) {
            continue;
        }
        if (strcmp(name, "power_w") == 0) { /* whose watts: the note */
            snprintf(m->power_from, sizeof m->power_from, "%s", note);
            continue;
        }
        if (!tmx_csv_real(csv, r, c[VALUE], &v) || !set_parameter(m, name, gpu, v)) {
            tmx_error_at(err, TMX_EPARSE, csv->source, csv->line[r],
                         "parameter %s of GPU %s: unknown, or without a value", name, gpu);
            return;
        }
        check_row(csv, c, r, v, err);
        if (strcmp(name, "upstream") == 0 && v > 0) {
            const size_t g = tmx_rc_find(m, gpu), up = tmx_rc_find(m, note);
            if (up == m->n_gpu || up == g) {
                tmx_error_at(err, TMX_EPARSE, csv->source, csv->line[r],
                             "GPU %s: there is no GPU \"%s\" upstream", gpu, note);
            } else {
                m->gpu[g].upstream = (int)up;
            }
        }
    }
    if (m->n_gpu == 0) {
        tmx_error_at(err, TMX_EPARSE, csv->source, 0, "no GPU: expected rows \"upstream\"");
    }
    for (size_t g = 0; g < m->n_gpu; g++) {
        if (!(m->gpu[g].sink_k_per_w > 0) || !(m->gpu[g].sink_j_per_k > 0) || !(m->fan_exponent > 0) ||
            m->gpu[g].junction_k_per_w < 0 || (m->gpu[g].die_k_per_w > 0 && !(m->die_s > 0))) {
            tmx_error_at(err, TMX_EPARSE, csv->source, 0,
                         "GPU %s has no sink_k_per_w, sink_j_per_k or die_s above 0", m->gpu[g].name);
        }
    }
}

enum tmx_status tmx_calibrated_read(struct tmx_rc *m, const char *path, struct tmx_err *err)
{
    static const char *const names[N_READ] = {"parameter", "gpu", "value", "status", "note"};
    struct tmx_csv csv = {0};
    struct tmx_err failed = {0};
    size_t c[N_READ];
    char file[TMX_PATH_SIZE + 16];
    snprintf(file, sizeof file, "%s/fit.csv", path);
    *m = (struct tmx_rc){.fan_exponent = 0.8};
    if (!tmx_os_exists(file) && strlen(path) > 4 && tmx_text_ends(path, ".cfg")) {
        return tmx_fail(err, TMX_ECONFIG, "%s: expected the folder of thermix calibrate, or its fit.csv",
                        path);
    }
    (void)!tmx_csv_read(&csv, tmx_os_exists(file) ? file : path, &failed);
    for (size_t i = 0; i < N_READ && !failed.code; i++) {
        c[i] = tmx_csv_column(&csv, names[i]);
        if (c[i] == csv.n_column) {
            tmx_error_at(
                &failed, TMX_EPARSE, csv.source, 1,
                "expected the fit.csv of thermix calibrate: columns parameter, gpu, value, status, note");
        }
    }
    m->gpu = failed.code ? NULL : calloc(csv.n_row + 1, sizeof *m->gpu);
    if (m->gpu) {
        read_rows(m, path, &csv, c, &failed);
    } else {
        tmx_error(&failed, TMX_ENOMEM, "%zu rows", csv.n_row);
    }
    tmx_csv_finish(&csv);
    return tmx_error_give(err, &failed);
}

/* ---- how far a calibration may be off ---- */

enum tmx_status tmx_calibrated_errors(struct tmx_fit_errors *e, const struct tmx_rc *model, const char *path,
                                      struct tmx_err *err)
{
    struct tmx_csv csv = {0};
    struct tmx_arena arena = {0};
    struct tmx_fit_parameter *parameter;
    double *covariance;
    char file[TMX_PATH_SIZE + 24];
    *e = (struct tmx_fit_errors){0};
    snprintf(file, sizeof file, "%s/covariance.csv", path);
    if (!tmx_os_exists(file)) {
        return TMX_OK; /* of 1.0, or of a file alone */
    }
    enum tmx_status st = tmx_csv_read(&csv, file, err);
    const size_t n = st ? 0 : csv.n_row;
    if (!st && (n == 0 || csv.n_column != n + 3)) {
        st = tmx_fail_at(
            err, TMX_EPARSE, csv.source, 1,
            "expected the covariance.csv of thermix calibrate: parameter, gpu, run and a column a row");
    }
    TMX_TAKE(&arena, covariance, n * n + 1);
    TMX_TAKE(&arena, parameter, n + 1);
    st = st || !arena.failed ? st : tmx_no_memory(err);
    for (size_t k = 0; !st && k < n; k++) {
        const char *name = tmx_csv_cell(&csv, k, 0), *gpu = tmx_csv_cell(&csv, k, 1);
        const size_t g = tmx_rc_find(model, gpu);
        const bool all = strcmp(gpu, "all") == 0;
        struct tmx_fit_parameter *p = &parameter[k];
        *p = (struct tmx_fit_parameter){.gpu = all ? TMX_FIT_ALL : (int)g};
        while (p->kind < TMX_N_FIT && strcmp(tmx_fit_name(p->kind), name) != 0) {
            p->kind++;
        }
        if (p->kind == TMX_N_FIT || (!all && g == model->n_gpu)) {
            st = tmx_fail_at(err, TMX_EPARSE, csv.source, csv.line[k],
                             "parameter %s of GPU %s: unknown, or not in fit.csv", name, gpu);
        }
        for (size_t i = 0; !st && i < n; i++) { /* an empty cell is an infinite one */
            double *v = &covariance[k * n + i];
            *v = tmx_csv_real(&csv, k, i + 3, v) ? *v : INFINITY;
        }
    }
    st = st ? st : tmx_fit_errors_make(e, parameter, n, covariance, err);
    tmx_arena_finish(&arena);
    tmx_csv_finish(&csv);
    return st;
}

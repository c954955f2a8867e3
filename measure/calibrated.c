/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "measure/calibrate.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/config.h"
#include "base/csv.h"
#include "base/os.h"
#include "base/output.h"
#include "base/text.h"
#include "study/table_out.h"

static void fixed_row(struct tmx_table *t, const char *name, const char *gpu, double value, const char *unit,
                      const char *note)
{
    tmx_table_row(t, "%s %s %s %g %s - - - %s %s", name, gpu, "", value, unit, "given", note);
}

/* NULL: no memory. */
static struct tmx_table *fit_table(const struct tmx_calibration *c, const struct tmx_measured *log)
{
    const struct tmx_leak *leak = &c->leak;
    struct tmx_table *t =
        tmx_table_of("parameter gpu run value:5 unit standard_error:5 low_95:5 high_95:5 status note");
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
    /* what a row's watts were taken for, and who said so */
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
    fixed_row(t, "power_low_w", "all", c->model.power_low_w, "W", "");
    fixed_row(t, "power_high_w", "all", c->model.power_high_w, "W", "");
    fixed_row(t, "residual_k", "all", c->fit.rms_k, "K", "rms of the residual");
    for (size_t k = 0; k < c->fit.n_parameter; k++) {
        const struct tmx_fit_parameter *p = &c->fit.parameter[k];
        const bool error = isfinite(p->error) && p->error < 1e6 * fmax(fabs(p->value), 1);
        double low = p->value - 1.96 * p->error, high = p->value + 1.96 * p->error;
        if (tmx_fit_kinds[p->kind].positive && error) { /* of the logarithm, which is what was fitted */
            low = p->value * exp(-1.96 * p->error / p->value);
            high = p->value * exp(1.96 * p->error / p->value);
        }
        tmx_table_row(t, "%s %s %s %g %s %G %G %G %s %s", tmx_fit_kinds[p->kind].name,
                      p->gpu >= 0 ? c->model.gpu[p->gpu].name : "all",
                      p->kind == TMX_FIT_AMBIENT ? log->run[p->run] : "", p->value,
                      tmx_fit_kinds[p->kind].unit, error ? p->error : NAN, error ? low : NAN,
                      error ? high : NAN, p->identified ? "fitted" : "not identified", p->why);
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

/* Not after an error. */
static void save(struct tmx_table *t, const char *dir, const char *name, struct tmx_err *err)
{
    char path[TMX_PATH_SIZE];
    tmx_path_join(path, dir, name, err);
    tmx_table_save(t, TMX_FORMAT_CSV, path, err);
    tmx_table_destroy(t);
}

/* The highest power of a GPU in the log. */
static double peak_w(const struct tmx_rc *m, size_t g, const struct tmx_measured *log)
{
    const size_t gpu = tmx_names_find(m->gpu[g].name, (const char *const *)log->gpu, log->n_gpu);
    return fmax(0, tmx_measured_range(log, TMX_Q_POWER, (int)gpu).high);
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
    for (size_t g = 0; g < model.n_gpu; g++) {
        power_w[g] = peak_w(&model, g, log);
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
        const struct tmx_range w = tmx_range_of(s->q[TMX_Q_POWER], s->n);
        low[rest] = fmin(low[rest], w.low);
        high[rest] = fmax(high[rest], w.high);
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
    enum { PARAMETER = 0, INDENT = 2 };
    const size_t width = tmx_os_terminal_width(out);
    const struct tmx_screen screen = {
        .width = width, .column = shown, .n_column = sizeof shown / sizeof shown[0]};
    struct tmx_err failed = {0};
    print_verdict(c, log, width, out, &failed);
    struct tmx_table *t = fit_table(c, log);
    const size_t note = tmx_table_find(t, "note");
    (void)(failed.code || tmx_table_write_screen(t, &screen, out, &failed));
    fputs(failed.code ? "" : "\n", out);
    /* what the rows of the fit have to say, below it */
    for (size_t r = 0; r < tmx_table_rows(t) && !failed.code; r++) {
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
    bool *there = calloc(log->n_gpu + 1, sizeof *there);
    size_t n_there = 0;
    for (size_t i = 0; there && i < log->n_series; i++) {
        n_there += !there[log->series[i].gpu];
        there[log->series[i].gpu] = true;
    }
    for (size_t g = 0, n = 0; there && g < log->n_gpu && n_there < log->n_gpu; g++) {
        fprintf(out, "%s%s", !there[g] ? "" : n++ ? "," : "' --gpus '", there[g] ? log->gpu[g] : "");
    }
    free(there);
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
    const struct tmx_range inlet = tmx_measured_range(log, TMX_Q_INLET, -1);
    double sum = 0, low = c->fit.inlet ? inlet.low : INFINITY, high = c->fit.inlet ? inlet.high : -INFINITY;
    size_t n = 0;
    for (size_t i = 0; c->fit.inlet && i < log->n_series; i++) {
        const double *of = log->series[i].q[TMX_Q_INLET];
        for (size_t k = 0; of && k < log->series[i].n; k++) {
            sum += isfinite(of[k]) ? of[k] : 0;
            n += isfinite(of[k]) ? 1 : 0;
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

/* ---- the node as files of `thermix run` ---- */

/* A calibrated node as files of `thermix run`: a chip of one unit a GPU, its package, the topology.
 *
 * fit.h adds poles that all see the power (Foster); a package is a ladder in which heat passes one body after
 * another (Cauer). Two poles (R1, tau1), (R2, tau2) are this ladder, exactly:
 *
 *      P -> R_j -> die side C1 -> r1 -> sink C2 -> r2 -> air      a1 = R1 tau2 + R2 tau1
 *                                                                 C1 = tau1 tau2 / a1
 *      c = tau1 + tau2 - C1 (R1 + R2),  r1 = a1 / c,  r2 = R1 + R2 - r1,  C2 = c / r2
 *
 * The interface carries R_j. The first pole is no silicon: its heat capacity is that of the base or vapour
 * chamber on the die (5 to 230 J/K in the logs of workloads/measured, a die has 1), so the spreader carries
 * C1 as copper, as wide and thick as makes its resistance r1; c_convec carries C2. Without that pole the
 * spreader is next to nothing. HotSpot counts lumped capacities times 0.333, so they are divided by it here.
 *
 * A case that warms is one more pole, for which a package has no place: its resistance is added to the
 * sink's, and the two heat up at the rate that they have together at first. */
static const double LUMPING = 0.333;
static const double SIDE_M = 0.028; /* of a die without a base: any, the lumped die has no inside */
static const double COPPER_J_PER_M3K = 3.55e6, COPPER_W_PER_MK = 400, SILICON_J_PER_M3K = 1.75e6;
static const double THICKEST_M = 0.05;       /* of a base; a larger one is wider, and conducts less */
static const double LEAST_K_PER_W = 1e-3;    /* that a card's law takes beside 0: base/plausible.c */
static const double MOST_TIM_W_PER_MK = 600; /* of real interfaces: base/plausible.c */

struct ladder {
    double interface_k_per_w, base_k_per_w, base_j_per_k; /* base_j_per_k 0: none */
    double sink_k_per_w, sink_j_per_k;                    /* at rpm_ref */
    double law_k_per_w;                                   /* of sink_k_per_w, what no fan changes */
};

static struct ladder ladder_of(const struct tmx_rc *m, size_t g)
{
    const struct tmx_rc_gpu *gpu = &m->gpu[g];
    const double fin = tmx_rc_sink(m, g, m->rpm_ref), case_part = m->case_k_per_w;
    const double r1 = gpu->die_k_per_w, r2 = fin + case_part,
                 c2 = case_part > 0 && m->case_s > 0 ? 1 / (1 / gpu->sink_j_per_k + case_part / m->case_s)
                                                     : gpu->sink_j_per_k;
    struct ladder l = {gpu->junction_k_per_w, 0, 0, r2, c2, m->sink_base_k_per_w + case_part};
    if (r1 > 0 && m->die_s > 0) {
        const double tau1 = m->die_s, tau2 = r2 * c2, a1 = r1 * tau2 + r2 * tau1;
        l.base_j_per_k = tau1 * tau2 / a1;
        const double c = tau1 + tau2 - l.base_j_per_k * (r1 + r2);
        l.base_k_per_w = a1 / c;
        l.sink_k_per_w = r1 + r2 - l.base_k_per_w;
        l.sink_j_per_k = c / l.sink_k_per_w;
        l.law_k_per_w += l.sink_k_per_w - r2;
    }
    if (m->rpm_ref > 0 && l.law_k_per_w < LEAST_K_PER_W) { /* below what a law takes: nearer to the die */
        *(l.base_j_per_k > 0 ? &l.base_k_per_w : &l.interface_k_per_w) += l.law_k_per_w;
        l.sink_k_per_w -= l.law_k_per_w;
        l.law_k_per_w = 0;
    }
    return l;
}

/* The die's side and, when it has one, its base: a copper plate of this heat capacity and resistance through
 * it. */
static double side_m(const struct ladder *l, double *thickness_m, double *k_w_per_mk)
{
    *thickness_m = 1e-4;
    *k_w_per_mk = 4000;
    if (!(l->base_j_per_k > 0)) {
        return SIDE_M;
    }
    const double volume_m3 = l->base_j_per_k / (LUMPING * COPPER_J_PER_M3K);
    *thickness_m = fmin(sqrt(volume_m3 * l->base_k_per_w * COPPER_W_PER_MK), THICKEST_M);
    const double area = volume_m3 / *thickness_m;
    *k_w_per_mk = *thickness_m / (l->base_k_per_w * area);
    return sqrt(area);
}

static enum tmx_status open_file(struct tmx_output *o, const char *dir, const char *name, struct tmx_err *err)
{
    char path[TMX_PATH_SIZE + 64];
    tmx_path_join(path, dir, name, err);
    return tmx_output_open(o, path, err);
}

static void write_package(const struct tmx_rc *m, size_t g, const char *dir, struct tmx_err *err)
{
    const struct tmx_rc_gpu *gpu = &m->gpu[g];
    const struct ladder l = ladder_of(m, g);
    struct tmx_output o;
    if (open_file(&o, dir, "package.config", err)) {
        return;
    }
    double t_base, k_base;
    const double side = side_m(&l, &t_base, &k_base), /* beside a base 0.1 mm of silicon: gone in a few ms */
        p_chip = l.base_j_per_k > 0 ? SILICON_J_PER_M3K : 0.1 / (LUMPING * 1e-4 * SIDE_M * SIDE_M);
    /* an interface as thin and as good as real ones: what is left out is at most 0.02 K at 1000 W */
    const double area = side * side, r = l.interface_k_per_w;
    double t_tim = 1e-4;
    while (t_tim > 2e-6 && !(t_tim / (r * area) < MOST_TIM_W_PER_MK)) {
        t_tim /= 10;
    }
    t_tim = t_tim / (r * area) < 0.1 ? 1e-3 : t_tim;
    const double k_tim = fmin(t_tim / (r * area), MOST_TIM_W_PER_MK);
    fprintf(o.file,
            "# GPU %s, calibrated to a log by thermix calibrate: not a drawing of the package.\n"
            "# interface: %.6g K/W (R_j)%s",
            gpu->name, r, l.base_j_per_k > 0 ? "" : "; die: 0.1 J/K");
    if (l.base_j_per_k > 0) {
        fprintf(o.file, "; base: %.6g K/W and %.4g J/K (die_k_per_w, die_s), a copper plate", l.base_k_per_w,
                l.base_j_per_k);
    }
    fprintf(o.file,
            "; sink: %.6g J/K (c_convec x 0.333)\n"
            "\t\t-t_chip\t\t\t1e-4\n\t\t-k_chip\t\t\t4000\n\t\t-p_chip\t\t\t%.6g\n"
            "\t\t-t_interface\t\t%g\n\t\t-k_interface\t\t%.8g\n\t\t-p_interface\t\t1\n"
            "\t\t-s_spreader\t\t%.8g\n\t\t-t_spreader\t\t%.8g\n\t\t-k_spreader\t\t%.8g\n"
            "\t\t-p_spreader\t\t%.6g\n"
            "\t\t-s_sink\t\t\t%.8g\n\t\t-t_sink\t\t\t1e-4\n\t\t-k_sink\t\t\t4000\n\t\t-p_sink\t\t\t1e4\n"
            "\t\t-r_convec\t\t%.8g\n\t\t-c_convec\t\t%.8g\n"
            "\t\t-ambient\t\t298.15\n\t\t-init_temp\t\t298.15\n"
            "\t\t-model_type\t\tgrid\n\t\t-grid_rows\t\t4\n\t\t-grid_cols\t\t4\n",
            l.sink_j_per_k, p_chip, t_tim, k_tim, side * 1.002, t_base, k_base,
            l.base_j_per_k > 0 ? COPPER_J_PER_M3K : 1e4, side * 1.004, l.sink_k_per_w,
            l.sink_j_per_k / LUMPING);
    tmx_output_end(&o, err);
}

/* key = "words"; */
static void print_text(const char *key, const char *words, FILE *out)
{
    fprintf(out, "%s = ", key);
    tmx_config_quote(words, out);
    fputc(';', out);
}

static void write_chip(const struct tmx_rc *m, size_t g, const struct tmx_measured *log,
                       const struct tmx_chip *levels, const char *dir, struct tmx_err *err)
{
    struct tmx_output o;
    const struct ladder l = ladder_of(m, g);
    double thickness_m, k_w_per_mk, side = side_m(&l, &thickness_m, &k_w_per_mk);
    if (!open_file(&o, dir, "die.flp", err)) {
        fprintf(o.file,
                "# one unit: a log of one temperature does not show the inside of the "
                "die\nSM0\t%.8g\t%.8g\t0\t0\n",
                side, side);
        tmx_output_end(&o, err);
    }
    if (open_file(&o, dir, "chip.cfg", err)) {
        return;
    }
    char doc[160];
    snprintf(doc, sizeof doc, "GPU %.100s as calibrated: one unit", m->gpu[g].name);
    print_text("name", m->gpu[g].name, o.file);
    fputc('\n', o.file);
    print_text("doc", doc, o.file);
    fprintf(
        o.file,
        "\n"
        "source = \"thermix calibrate; limits and clock assumed\";\n"
        "floorplan_file = \"die.flp\";\n"
        "package_file = \"package.config\";\n"
        "sm_prefix = \"SM\";\n"
        "sms_per_cluster = 1;\n"
        "sm_power_reference_sms = 1.0;\n"
        "kernel_power_scale = 1.0;\n"
        "kernel_time_scale = 1.0;\n"
        "limits = { threads = 2048; blocks = 32; registers = 65536; shared_bytes = 233472; };  # assumed\n"
        "power = {\n"
        "    baseline_w = 0.0;      # the log's watts are all here: give them to the kernels\n"
        "    leakage_w = 0.0;\n"
        "    leakage_form = \"none\";\n"
        "};\n"
        "# Peak in the log: %.1f W. It has no voltage: %s%s.\n"
        "levels = (",
        peak_w(m, g, log), levels ? "the levels are those of " : "the one level is assumed",
        levels ? levels->name : "");
    for (size_t i = 0; levels && i < levels->n_level; i++) {
        fprintf(o.file, "%s\n    { volt_v = %.6g; freq_hz = %.9g; }", i ? "," : "", levels->level[i].volt_v,
                levels->level[i].freq_hz);
    }
    fprintf(o.file, levels ? "\n);\nnominal_hz = %.9g;\n" : " { volt_v = 1.0; freq_hz = %.1e; } );\n",
            levels ? levels->level[levels->nominal].freq_hz : 1e9);
    if (m->leak_per_k > 0) {
        fprintf(
            o.file,
            "# At equal work power rises by %.3g %%/K (fit.csv). With an exponential of 0.0127/K (CACTI) "
            "%.0f %% of it is leakage.\n# To let that part follow the temperature, take it from the kernels "
            "and write it as leakage_w.\n",
            100 * m->leak_per_k, 100 * fmin(m->leak_per_k / 0.0127, 1));
    }
    tmx_output_end(&o, err);
}

/* The fan's curve from the log: what it turned at, on the mean, when what it follows was this warm: its GPU,
 * or on one card the hottest of the run. A fan that hardly changes its speed in a run is held by hand and
 * follows no curve. */
static size_t fan_curve(const struct tmx_measured *log, double max_rpm, bool shared, double *temp_c,
                        double *speed)
{
    enum { BINS = 8 };
    double low = INFINITY, high = -INFINITY, sum[BINS] = {0}, n[BINS] = {0};
    size_t count = 0;
    for (int pass = 0; pass < 2; pass++) {
        for (size_t i = 0; i < log->n_series; i++) {
            const struct tmx_series *s = &log->series[i];
            const struct tmx_range r = tmx_range_of(s->q[TMX_Q_RPM], s->n);
            const bool held = !s->q[TMX_Q_RPM] || r.high - r.low < 0.03 * r.high;
            for (size_t k = 0; !held && k < s->n; k++) {
                double t = s->q[TMX_Q_TEMP][k], rpm = s->q[TMX_Q_RPM][k];
                for (const struct tmx_series *u = log->series; shared && u < log->series + log->n_series;
                     u++) {
                    const bool beside = u->run == s->run && u->q[TMX_Q_TEMP];
                    t = beside ? fmax(t, u->q[TMX_Q_TEMP][tmx_series_at(u, s->q[TMX_Q_TIME][k])]) : t;
                }
                if (isnan(t) || isnan(rpm)) {
                    continue;
                }
                low = pass ? low : fmin(low, t);
                high = pass ? high : fmax(high, t);
                if (pass && high - low >= 4) {
                    const size_t b = (size_t)fmin(BINS - 1, (t - low) / (high - low) * BINS);
                    sum[b] += rpm / max_rpm;
                    n[b] += 1;
                }
            }
        }
    }
    for (size_t b = 0; b < BINS; b++) {
        if (n[b] >= 3) {
            temp_c[count] = low + ((double)b + 0.5) * (high - low) / BINS;
            speed[count] = fmin(1, sum[b] / n[b]);
            speed[count] = count > 0 ? fmax(speed[count], speed[count - 1]) : speed[count];
            count++;
        }
    }
    return count;
}

const char *tmx_calibrated_name(const struct tmx_rc *m, size_t g, char buf[TMX_NAME])
{
    const char *name = m->gpu[g].name;
    const size_t n = strlen(name);
    if (n < TMX_NAME) {
        snprintf(buf, TMX_NAME, "%s", name);
    } else {
        snprintf(buf, TMX_NAME, "%.20s..%s#%zu", name, name + n - 18, g);
    }
    return buf;
}

/* Cards and fans are called after the log's numbers of their GPUs, where all have one. */
static void number_of(const struct tmx_rc *m, size_t g, char number[32])
{
    bool numbers = true;
    for (size_t i = 0; i < m->n_gpu; i++) {
        const char *name = m->gpu[i].name;
        numbers = numbers && name[0] && strlen(name) < 10 && name[strspn(name, "0123456789")] == '\0';
    }
    numbers ? snprintf(number, 32, "%s", m->gpu[g].name) : snprintf(number, 32, "%zu", g);
}

/* The letters of a name that a file may have, behind "gpu" where it begins with a digit. */
static void plain_name(const char *name, char folder[96])
{
    const bool bare = !isalpha((unsigned char)name[0]);
    snprintf(folder, 96, "%s%.64s", bare ? "gpu" : "", name);
    for (char *p = folder; *p; p++) {
        *p = isalnum((unsigned char)*p) || strchr("._-", *p) ? *p : '_';
    }
}

/* A chip's folder: gpu5; where an earlier one has the name, #N follows, which no other has. */
static void folder_of(const struct tmx_rc *m, size_t g, char folder[96])
{
    char other[96];
    bool taken = false;
    plain_name(m->gpu[g].name, folder);
    for (size_t k = 0; k < g && !taken; k++) {
        plain_name(m->gpu[k].name, other);
        taken = strcmp(other, folder) == 0;
    }
    if (taken) {
        snprintf(folder + strlen(folder), 96 - strlen(folder), "#%zu", g);
    }
}

static void write_topology(const struct tmx_rc *m, const struct tmx_measured *log, double inlet_c,
                           const char *inlet_from, const char *dir, struct tmx_err *err)
{
    const bool fan = m->rpm_ref > 0;
    struct tmx_output o;
    char folder[96], number[32], path[128], name[TMX_NAME];
    double low_rpm = INFINITY, high_rpm = fan ? m->rpm_ref : 1000, preheat = 0, temp_c[8], speed[8];
    bool shared = true; /* GPUs of one sink are on one card behind one fan */
    size_t n_air = 0;
    if (open_file(&o, dir, "node.cfg", err)) {
        return;
    }
    for (size_t i = 0; i < log->n_series; i++) {
        const double *rpm = log->series[i].q[TMX_Q_RPM];
        for (size_t k = 0; rpm && k < log->series[i].n; k++) {
            low_rpm = rpm[k] > 0 ? fmin(low_rpm, rpm[k]) : low_rpm;
            high_rpm = fmax(high_rpm, rpm[k]);
        }
    }
    low_rpm = fmin(low_rpm, high_rpm);
    for (size_t g = 0; g < m->n_gpu; g++) {
        preheat = fmax(preheat, m->gpu[g].preheat_k_per_w);
        shared = shared && m->gpu[g].sink_k_per_w == m->gpu[0].sink_k_per_w;
    }
    const size_t cards = shared ? 1 : m->n_gpu, lanes = shared ? m->n_gpu : 1,
                 n_curve = fan ? fan_curve(log, high_rpm, shared, temp_c, speed) : 0;
    /* of one GPU's lane at full speed: air such that phi of it, passed on, warms the next by preheat K per W:
     * phi / (rho c V) */
    static const double RHO_C = 1.059 * 1007; /* as core/topology/topology */
    const double flow_m3_per_s =
        (preheat > 0 ? fmin(1 / (RHO_C * preheat), 9) : 0.05) * (fan ? high_rpm / m->rpm_ref : 1);
    fprintf(o.file,
            "# Calibrated by thermix calibrate (how.txt). GPUs have the names that they have in the log. The "
            "log has "
            "no power of\n# fans and no noise: both are 0. The fans' curve is read off the log%s. "
            "inlet_above_k is "
            "what a GPU's sensor shows\n# above the air: offset_k, air_rise_k and chassis_k of fit.csv%s.%s\n"
            "name = \"calibrated\";\ndoc = \"calibrated from a log\";\nsource = \"thermix calibrate\";\n"
            "inlet_c = %.1f;  # %s\n",
            n_curve ? "" : ", which has no speeds: the fans turn at full speed",
            m->chassis_k > 0      ? ", at the fastest fans"
            : m->case_k_per_w > 0 ? "; the case (case_k_per_w) is part of the sinks"
                                  : "",
            fan ? "" : " The log has no\n# fan speeds: the fans are stand-ins of unknown speed.", inlet_c,
            inlet_from);
    fputs("cards = (\n", o.file);
    for (size_t g = 0; g < cards; g++) {
        const struct ladder l = ladder_of(m, g);
        number_of(m, g, number);
        fprintf(o.file,
                "    { name = \"card%s\"; fit_a_k_per_w = %.8g; fit_b_k_per_w = %.8g; fit_exponent = %.6g;\n"
                "      still_k_per_w = %.6g; still_flow_m3_per_s = %.6g; }%s\n",
                number, fan ? l.law_k_per_w : l.sink_k_per_w,
                fan ? m->gpu[g].sink_k_per_w * pow(m->rpm_ref, m->fan_exponent) : 0.0, m->fan_exponent,
                fmax(fmin(20 * l.sink_k_per_w, 30), 1.5 * l.sink_k_per_w),
                fmax((double)lanes * flow_m3_per_s / 100, 1e-6), g + 1 < cards ? "," : "");
    }
    fprintf(o.file, ");\nfans = (\n");
    for (size_t g = 0; g < cards; g++) {
        number_of(m, g, number);
        fprintf(o.file,
                "    { name = \"fan%s\"; card = \"card%s\"; min_rpm = %.6g; max_rpm = %.6g; power_w = 0.0; "
                "flow_m3_per_s = %.6g;\n      noise_dba = 0.0; stand_in = %s; curve = (",
                number, number, low_rpm, high_rpm, fmin((double)lanes * flow_m3_per_s, 10),
                fan ? "false" : "true");
        for (size_t i = 0; i < n_curve; i++) {
            fprintf(o.file, "%s { temp_c = %.6g; speed = %.6g; }", i ? "," : "", temp_c[i], speed[i]);
        }
        fprintf(o.file, "%s ); }%s\n", n_curve ? "" : " { temp_c = 25.0; speed = 1.0; }",
                g + 1 < cards ? "," : "");
    }
    fputs(");\ngpus = (\n", o.file);
    for (size_t g = 0; g < m->n_gpu; g++) {
        const double above_k = m->gpu[g].offset_k + m->air_rise_k + m->chassis_k;
        folder_of(m, g, folder);
        number_of(m, shared ? 0 : g, number);
        snprintf(path, sizeof path, "chips/%s", folder);
        fputs("    { ", o.file);
        print_text("name", tmx_calibrated_name(m, g, name), o.file);
        fputc(' ', o.file);
        print_text("chip", path, o.file);
        fprintf(o.file, " card = \"card%s\";", number);
        if (above_k != 0) {
            fprintf(o.file, " inlet_above_k = %.6g;", above_k);
        }
        fprintf(o.file, " }%s\n", g + 1 < m->n_gpu ? "," : "");
    }
    fprintf(o.file, ");\n");
    for (size_t g = 0; g < m->n_gpu; g++) {
        if (m->gpu[g].upstream >= 0 && m->gpu[g].preheat_k_per_w > 0) {
            fputs(n_air++ ? ",\n    { " : "air = (\n    { ", o.file);
            print_text("from", tmx_calibrated_name(m, (size_t)m->gpu[g].upstream, name), o.file);
            fputc(' ', o.file);
            print_text("to", tmx_calibrated_name(m, g, name), o.file);
            fprintf(o.file, " fraction = %.6g; }", m->gpu[g].preheat_k_per_w / preheat);
        }
    }
    fprintf(o.file, "%s", n_air ? "\n);\n" : "");
    tmx_output_end(&o, err);
}

enum tmx_status tmx_calibrated_write(const struct tmx_calibration *c, const struct tmx_measured *log,
                                     const struct tmx_calibrate_options *options, const char *dir,
                                     struct tmx_err *err)
{
    struct tmx_output o;
    char from[80];
    if (strlen(dir) > TMX_PATH_SIZE - 64) {
        return tmx_fail_at(err, TMX_EIO, dir, 0, "the name is too long");
    }
    (void)(tmx_os_mkdirs(dir, err) || tmx_folder_open(dir, TMX_FOLDER_RESULTS, err));
    save(fit_table(c, log), dir, "fit.csv", err);
    const size_t n = c->fit.n_parameter;
    struct tmx_table *t = tmx_table_of("parameter gpu run"); /* and a column for each of the rows */
    for (size_t k = 1; k <= n; k++) {
        char name[24];
        snprintf(name, sizeof name, "row_%zu", k);
        tmx_table_extend(t, name, TMX_COLUMN_REAL, 9);
    }
    for (size_t k = 0; k < n; k++) {
        const struct tmx_fit_parameter *p = &c->fit.parameter[k];
        tmx_table_row(t, "%s %s %s", tmx_fit_kinds[p->kind].name,
                      p->gpu >= 0 ? c->model.gpu[p->gpu].name : "all",
                      p->kind == TMX_FIT_AMBIENT ? log->run[p->run] : "");
        for (size_t i = 0; i < n; i++) {
            tmx_table_real_or_empty(t, c->covariance[k * n + i]);
        }
    }
    save(t, dir, "covariance.csv", err);
    t = tmx_table_of("run gpu time_s:3 power_w:1 measured_c:1 predicted_c:2 residual_k:2");
    for (size_t i = 0; i < log->n_series; i++) {
        const struct tmx_series *s = &log->series[i];
        for (size_t k = 0; k < s->n; k++) {
            const double is_c = s->q[TMX_Q_TEMP][k], ours_c = c->predicted[i][k];
            tmx_table_row(t, "%s %s %g %g %G %g %G", log->run[s->run], log->gpu[s->gpu], s->q[TMX_Q_TIME][k],
                          s->q[TMX_Q_POWER][k], is_c, ours_c, ours_c - is_c);
        }
    }
    save(t, dir, "residuals.csv", err);
    if (!open_file(&o, dir, "how.txt", err)) {
        print_how(log, options, o.file);
        tmx_output_end(&o, err);
    }
    const double inlet_c = air_c(c, log, options, from, sizeof from);
    if (strlen(dir) > 200) {
        tmx_error_at(err, TMX_EIO, dir, 0, "the name is too long for a chip's folder");
    }
    for (size_t g = 0; !err->code && g < c->model.n_gpu; g++) {
        char name[96], folder[TMX_PATH_SIZE + 128];
        folder_of(&c->model, g, name);
        snprintf(folder, sizeof folder, "%s/chips/%s", dir, name);
        tmx_os_mkdirs(folder, err);
        write_package(&c->model, g, folder, err);
        write_chip(&c->model, g, log, options->levels, folder, err);
    }
    write_topology(&c->model, log, inlet_c, from, dir, err);
    return err->code;
}

/* ---- reading ---- */

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
        const bool ambient = strcmp(name, "ambient_c") == 0, mean = strcmp(name, "power_is_mean") == 0,
                   upstream = strcmp(name, "upstream") == 0;
        double v = 0;
        if (strcmp(tmx_csv_cell(csv, r, c[STATUS]), "left out") == 0) {
            continue;
        }
        if (strcmp(name, "power_w") == 0) { /* whose watts: the note */
            snprintf(m->power_from, sizeof m->power_from, "%s", note);
            continue;
        }
        if (!tmx_csv_real(csv, r, c[VALUE], &v) ||
            !(ambient || mean || upstream || tmx_fit_set(m, name, gpu, v))) {
            tmx_error_at(err, TMX_EPARSE, csv->source, csv->line[r],
                         "parameter %s of GPU %s: unknown, or without a value", name, gpu);
            return;
        }
        m->ambient_fitted = m->ambient_fitted || ambient;
        m->power_is_mean = mean ? v > 0 : m->power_is_mean;
        check_row(csv, c, r, v, err);
        if (upstream && v > 0) {
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
        if (tmx_rc_circle(m, g)) {
            tmx_error_at(err, TMX_EPARSE, csv->source, 0, "GPU %s breathes its own air", m->gpu[g].name);
        }
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
    size_t c[N_READ];
    char file[TMX_PATH_SIZE + 16];
    snprintf(file, sizeof file, "%s/fit.csv", path);
    *m = (struct tmx_rc){.fan_exponent = 0.8};
    if (!tmx_os_exists(file) && strlen(path) > 4 && tmx_text_ends(path, ".cfg")) {
        return tmx_fail(err, TMX_ECONFIG, "%s: expected the folder of thermix calibrate, or its fit.csv",
                        path);
    }
    tmx_csv_read(&csv, tmx_os_exists(file) ? file : path, err);
    for (size_t i = 0; i < N_READ && !err->code; i++) {
        c[i] = tmx_csv_column(&csv, names[i]);
        if (c[i] == csv.n_column) {
            tmx_error_at(
                err, TMX_EPARSE, csv.source, 1,
                "expected the fit.csv of thermix calibrate: columns parameter, gpu, value, status, note");
        }
    }
    m->gpu = err->code ? NULL : calloc(csv.n_row + 1, sizeof *m->gpu);
    if (m->gpu) {
        read_rows(m, path, &csv, c, err);
    } else {
        tmx_error(err, TMX_ENOMEM, "%zu rows", csv.n_row);
    }
    tmx_csv_finish(&csv);
    return err->code;
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
    tmx_csv_read(&csv, file, err);
    const size_t n = csv.n_row;
    if (n == 0 || csv.n_column != n + 3) {
        tmx_error_at(
            err, TMX_EPARSE, csv.source, 1,
            "expected the covariance.csv of thermix calibrate: parameter, gpu, run and a column a row");
    }
    TMX_TAKE(&arena, covariance, n * n + 1);
    TMX_TAKE(&arena, parameter, n + 1);
    tmx_arena_check(&arena, err);
    for (size_t k = 0; !err->code && k < n; k++) {
        const char *name = tmx_csv_cell(&csv, k, 0), *gpu = tmx_csv_cell(&csv, k, 1);
        const size_t g = tmx_rc_find(model, gpu);
        const bool all = strcmp(gpu, "all") == 0;
        struct tmx_fit_parameter *p = &parameter[k];
        *p = (struct tmx_fit_parameter){.gpu = all ? TMX_FIT_ALL : (int)g};
        while (p->kind < TMX_N_FIT && strcmp(tmx_fit_kinds[p->kind].name, name) != 0) {
            p->kind++;
        }
        if (p->kind == TMX_N_FIT || (!all && g == model->n_gpu)) {
            tmx_error_at(err, TMX_EPARSE, csv.source, csv.line[k],
                         "parameter %s of GPU %s: unknown, or not in fit.csv", name, gpu);
        }
        for (size_t i = 0; i < n; i++) { /* an empty cell is an infinite one */
            double *v = &covariance[k * n + i];
            *v = tmx_csv_real(&csv, k, i + 3, v) ? *v : INFINITY;
        }
    }
    (void)(err->code || tmx_fit_errors_make(e, parameter, n, covariance, err));
    tmx_arena_finish(&arena);
    tmx_csv_finish(&csv);
    return err->code;
}

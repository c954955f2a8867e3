/* SPDX-License-Identifier: GPL-3.0-or-later */
/* thermix replay: a log's power through a calibrated model. */
#include <math.h>
#include <string.h>

#include "base/os.h"
#include "base/text.h"
#include "cli/commands.h"
#include "cli/measured_args.h"
#include "measure/calibrate.h"
#include "measure/replay.h"

struct args {
    struct tmx_texts words; /* CALIBRATED LOG... */
    struct tmx_measured_args log;
    struct tmx_texts set;
    const char *out, *trace, *figures;
    double from;
    struct tmx_print print;
};

static const struct tmx_arg rows[] = {
    TMX_ARG(args, out, TEXT, "output", 'o', .value = "FILE", .names = TMX_NAMES_FILE,
            .doc = "write run,gpu,rows,rmse_k,bias_k,max_abs_k as CSV"),
    TMX_ARG(args, trace, TEXT, "trace", 0, .value = "FILE", .names = TMX_NAMES_FILE,
            .doc = "write run,gpu,time_s,power_w,measured_c,predicted_c as CSV"),
    TMX_ARG(args, figures, TEXT, "figures", 0, .value = "DIR", .names = TMX_NAMES_FOLDER,
            .doc = "measured, predicted and residual, one figure a run; with --set also the what-if, with "
                   "its 95 % interval"),
    TMX_ARG(args, from, REAL, "from", 0, .value = "SHARE", .min = 0, .max = 0.99,
            .doc = "compute errors from the rows after this share of each run's time; the rows before it set "
                   "the starting temperatures"),
    TMX_ARG(args, set, TEXTS, "set", 0, .value = "KEY=VALUE",
            .doc = "change the log, as listed below; may be repeated"),
    TMX_MEASURED_LOG_ROWS(args),
    TMX_MEASURED_MODEL_ROWS(args),
    TMX_ARG_TABLE(args),
    {0},
};

/* A figure a run; rows of the replay by the log's series. */
static void draw(const struct args *a, const struct tmx_replay *r, const struct tmx_measured *m,
                 struct tmx_err *err)
{
    struct tmx_plot p = {.dir = a->figures, .format = "svg"};
    char words[300] = "";
    for (size_t i = 0; i < a->set.n; i++) {
        tmx_text_add(words, sizeof words, "%s%s", i ? " " : "", a->set.text[i]);
    }
    const struct tmx_what_if if_so = {words, r->if_c, r->error_k};
    (void)(tmx_plot_begin(&p, err) || tmx_measured_figures(&p, m, r->temp_c, r->what_if ? &if_so : NULL));
}

/* What a what-if keeps as it was, and the command that does not keep it. */
static void say_held(const struct args *a, const struct tmx_replay *r, const struct tmx_measured *m,
                     const struct tmx_rc *model)
{
    char node[TMX_PATH_SIZE], line[TMX_PATH_SIZE + 400];
    double most_w = 0;
    bool cap = false, air = a->set.n > 0;
    for (size_t i = 0; i < a->set.n; i++) {
        cap = cap || strncmp(a->set.text[i], "power_cap_w", strlen("power_cap_w")) == 0;
        air = air && strncmp(a->set.text[i], "inlet_", strlen("inlet_")) == 0;
    }
    for (size_t k = 0; k < r->n_row; k++) {
        const struct tmx_series *s = &m->series[r->series[k]];
        for (size_t i = 0; i < s->n; i++) {
            most_w = fmax(most_w, s->q[TMX_Q_POWER][i]);
        }
    }
    if (!r->what_if) {
        return;
    }
    const bool there = snprintf(node, sizeof node, "%s/node.cfg", a->words.text[0]) < (int)sizeof node &&
                       tmx_os_exists(node);
    snprintf(line, sizeof line, "Held as in the log: %swhat the work draws (leakage follows no temperature).",
             !r->fans_held        ? ""
             : model->rpm_ref > 0 ? "the speed of the fans, and "
                                  : "the fans, whose speed it does not tell, and ");
    if (there && r->fans_held && air && model->rpm_ref > 0) {
        snprintf(line + strlen(line), sizeof line - strlen(line),
                 " With fans on the curve that the log shows: thermix place %s --power %.0f",
                 a->words.text[0], most_w);
        for (size_t i = 0; i < a->set.n; i++) {
            snprintf(line + strlen(line), sizeof line - strlen(line), " --set %s", a->set.text[i]);
        }
    }
    if (cap) {
        snprintf(line + strlen(line), sizeof line - strlen(line),
                 " What a cap costs in time a replay does not tell: thermix calibrate --levels CHIP gives "
                 "the node clocks for thermix run.");
    }
    tmx_text_wrap(line, 0, tmx_os_terminal_width(stdout), stdout);
    fputc('\n', stdout);
}

static void put_out(const struct args *a, const struct tmx_replay *r, const struct tmx_measured *m,
                    const struct tmx_rc *model, struct tmx_err *err)
{
    const bool stamps = a->print.format == TMX_FORMAT_OPENMETRICS;
    struct tmx_table *t = tmx_replay_table(r, m), *trace = tmx_replay_trace(r, m, false),
                     *series = stamps ? tmx_replay_trace(r, m, true) : NULL;
    tmx_table_check(t, err);
    tmx_table_check(trace, err);
    if (!err->code && a->print.format == TMX_FORMAT_TEXT) {
        tmx_replay_summary(r, m, stdout);
        say_held(a, r, m, model);
    }
    tmx_print(stamps ? series : t, &a->print, "-", NULL, err);
    if (a->out) {
        tmx_table_save(t, TMX_FORMAT_CSV, a->out, err);
    }
    if (a->trace) {
        tmx_table_save(trace, TMX_FORMAT_CSV, a->trace, err);
    }
    if (!err->code && a->figures) {
        draw(a, r, m, err);
    }
    tmx_table_destroy(t);
    tmx_table_destroy(trace);
    tmx_table_destroy(series);
}

static void run(void *args, struct tmx_err *err)
{
    struct args *a = args;
    const struct tmx_texts paths = {.text = a->words.text + 1, .n = a->words.n - 1};
    const struct tmx_log say = {tmx_measured_say, &a->log};
    struct tmx_replay_options o = {.rpm = tmx_measured_rpm(&a->log), .from = isnan(a->from) ? 0 : a->from};
    struct tmx_measured m = {0};
    struct tmx_rc model = {0};
    struct tmx_replay r = {0};
    struct tmx_fit_errors errors = {0};
    a->log.command = "replay";
    if (a->out && a->trace && tmx_os_same_file(a->out, a->trace)) {
        tmx_error(err, TMX_ECONFIG, "-o and --trace are both %s", a->out);
    }
    if (a->set.n >= TMX_MAX_WHAT_IF) {
        tmx_error(err, TMX_ECONFIG, "--set: at most %d", TMX_MAX_WHAT_IF - 1);
    }
    for (size_t i = 0; i < a->set.n && !err->code; i++) {
        o.what_if[i] = a->set.text[i];
    }
    o.errors = &errors;
    tmx_measured_ambient(&a->log, &o.ambient, &o.ambient_c, err);
    (void)(err->code || tmx_calibrated_read(&model, a->words.text[0], err) ||
           tmx_calibrated_errors(&errors, &model, a->words.text[0], err));
    tmx_measured_open(&a->log, &paths, &m, err);
    if (!err->code && !tmx_replay(&r, &model, &m, &o, &say, err)) {
        put_out(a, &r, &m, &model, err);
    }
    tmx_replay_finish(&r);
    tmx_fit_errors_finish(&errors);
    tmx_rc_finish(&model);
    tmx_measured_finish(&m);
}

const struct tmx_command tmx_cmd_replay = {
    .name = "replay",
    .summary = "compare measured temperatures with a calibrated model's",
    .doc = "Feed a log's measured power to a calibrated model and set the predicted temperature beside the "
           "measured one.",
    .notes = "What-ifs of --set, beside the log as it was:\n" TMX_WHAT_IF_HELP
             "What no row changes stays as logged: a fan does not answer to other air, nor watts to other "
             "temperatures.\n"
             "With --format openmetrics the series of --trace are printed, at the log's own times.",
    .examples = "thermix replay mine gpu.csv -o errors.csv\n"
                "thermix replay mine gpu.csv --set inlet_c=30 --set power_cap_w=300",
    TMX_OPERANDS(args, words, 2, 65, "CALIBRATED LOG...", FILE,
                 "expected CALIBRATED (the folder of thermix calibrate) and LOG..."),
    .keeps = true,
    TMX_RUNS(args),
};

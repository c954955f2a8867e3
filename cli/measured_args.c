/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/measured_args.h"

#include <math.h>
#include <string.h>

#include "base/os.h"
#include "base/plausible.h"
#include "base/text.h"

void tmx_measured_ambient(const struct tmx_measured_args *a, enum tmx_ambient *how, double *ambient_c,
                          struct tmx_err *err)
{
    static const struct {
        const char *word;
        enum tmx_ambient how;
    } words[] = {{"auto", TMX_AMBIENT_AUTO}, {"inlet", TMX_AMBIENT_INLET}, {"fit", TMX_AMBIENT_FIT}};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        if (strcmp(words[i].word, a->ambient) == 0) {
            *how = words[i].how;
            return;
        }
    }
    *how = TMX_AMBIENT_GIVEN;
    if ((!tmx_text_real(a->ambient, ambient_c) && !tmx_celsius_read(a->ambient, ambient_c)) ||
        *ambient_c < -60 || *ambient_c > 90) {
        tmx_error(err, TMX_ECONFIG, "--ambient %s: expected degC from -60 to 90, inlet, fit or auto",
                  a->ambient);
    }
    (void)(err->code || tmx_plausible(NULL, "ambient_c", "degC", *ambient_c, "--ambient", 0, err));
}

void tmx_measured_power_is(const char *text, enum tmx_power_is *is, double *window_s, struct tmx_err *err)
{
    static const char *const words[] = {
        [TMX_POWER_AUTO] = "auto", [TMX_POWER_INSTANT] = "instant", [TMX_POWER_MEAN] = "mean"};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        if (strcmp(words[i], text) == 0) {
            *is = (enum tmx_power_is)i;
            return;
        }
    }
    if (!tmx_text_real(text, window_s) || *window_s <= 0 || *window_s > 3600) {
        tmx_error(err, TMX_ECONFIG, "--power-is %s: expected instant, mean, auto or seconds up to 3600",
                  text);
    }
}

double tmx_measured_rpm(const struct tmx_measured_args *a)
{
    return isnan(a->rpm) ? 0 : a->rpm;
}

void tmx_measured_say(void *to, enum tmx_log_level level, const char *text)
{
    static const double LONG_S = 0.5;
    const struct tmx_measured_args *a = to;
    const bool shown = !a->quiet && tmx_os_cpu_s() > LONG_S && tmx_os_is_terminal(stderr);
    fputs(shown ? "\r\033[K" : "", stderr); /* in place of a line of progress */
    if (level == TMX_LOG_PROGRESS) {
        fputs(shown ? text : "", stderr);
    } else if (level == TMX_LOG_WARNING || !a->quiet) {
        fprintf(stderr, "thermix %s: %s%s\n", a->command, level == TMX_LOG_WARNING ? "warning: " : "", text);
    }
}

/* Two runs with the same rows are one log given twice: its rows would count twice, and standard errors would
 * be too small by the root of 2. */
static void refuse_copies(const struct tmx_measured *m, struct tmx_err *err)
{
    static const enum tmx_log_quantity same[] = {TMX_Q_TIME, TMX_Q_POWER, TMX_Q_TEMP};
    for (size_t i = 0; i < m->n_series; i++) {
        for (size_t k = i + 1; k < m->n_series; k++) {
            const struct tmx_series *a = &m->series[i], *b = &m->series[k];
            bool copy = a->run != b->run && a->n == b->n && a->n >= 10;
            for (size_t q = 0; copy && q < sizeof same / sizeof same[0]; q++) {
                const double *x = a->q[same[q]], *y = b->q[same[q]];
                copy = x && y && memcmp(x, y, a->n * sizeof *x) == 0;
            }
            if (copy) {
                tmx_error(
                    err, TMX_ECONFIG,
                    "runs %s and %s are the same %zu rows: a log that is given twice? leave one out (--runs)",
                    m->run[a->run], m->run[b->run], a->n);
            }
        }
    }
}

void tmx_measured_open(const struct tmx_measured_args *a, const struct tmx_texts *path,
                       struct tmx_measured *m, struct tmx_err *err)
{
    struct tmx_read_options o = {.step_s = isnan(a->step_s) ? 0 : a->step_s, .columns_are = a->columns_are};
    if (a->column.n >= sizeof o.column / sizeof o.column[0]) {
        tmx_error(err, TMX_ECONFIG, "--column: at most %zu", sizeof o.column / sizeof o.column[0] - 1);
    }
    for (size_t i = 0; i < a->column.n && !err->code; i++) {
        o.column[i] = a->column.text[i];
    }
    (void)(!err->code && a->rpm > 0 && tmx_plausible(NULL, "rpm", "1/min", a->rpm, "--rpm", 0, err));
    for (size_t i = 0; !err->code && i < path->n; i++) {
        (void)!tmx_measured_read(m, path->text[i], &o, err);
    }
    for (size_t i = 0; !a->described && i < m->n_warning; i++) { /* also with -q: the numbers rest on it */
        tmx_print_visible(stderr, "thermix %s: warning: %s\n", a->command, m->warning[i]);
    }
    for (size_t i = 0; !a->quiet && i < m->n_note; i++) {
        tmx_print_visible(stderr, "thermix %s: note: %s\n", a->command, m->note[i]);
    }
    (void)(err->code || tmx_measured_select(m, a->runs, a->gpus, err));
    bool fans = a->rpm > 0; /* in every run */
    for (size_t i = 0; i < m->n_series; i++) {
        fans = fans && m->series[i].q[TMX_Q_RPM];
    }
    if (fans) {
        tmx_error(err, TMX_ECONFIG, "--rpm does nothing: every run of the log has a fan speed");
    }
    refuse_copies(m, err);
}

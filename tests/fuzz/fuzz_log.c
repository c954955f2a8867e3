/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Logs of GPUs, what is made from them, and words that people type. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "measure/calibrate.h"
#include "measure/log/collect.h"
#include "measure/log/measured.h"
#include "measure/measure.h"
#include "power/regress.h"
#include "study/analysis/analysis.h"
#include "tests/fuzz/fuzz.h"

/* Times rise, and power is known everywhere. */
static void check(const struct tmx_series *s)
{
    for (size_t k = 0; k < s->n; k++) {
        fuzz_check(isfinite(s->q[TMX_Q_TIME][k]) && isfinite(s->q[TMX_Q_POWER][k]));
        fuzz_check(k == 0 || s->q[TMX_Q_TIME][k] > s->q[TMX_Q_TIME][k - 1]);
    }
}

/* Logs of every format. */
void fuzz_log(const char *path)
{
    struct tmx_measured m = {0};
    struct tmx_err err = {0};
    if (fuzz_reads(tmx_measured_read(&m, path, NULL, &err), &err)) {
        fuzz_check(m.n_series > 0);
        for (size_t i = 0; i < m.n_series; i++) {
            const struct tmx_series *s = &m.series[i];
            fuzz_check(s->n >= 4 && s->run < m.n_run && s->gpu < m.n_gpu);
            check(s);
        }
    }
    tmx_measured_finish(&m);
}

/* The rows of each format behind a head that is in order: the first byte chooses the format; a digit of the
 * comments does. */
static const char *const heads[] = {
    "#Date Time gpu pwr gtemp mtemp sm pclk\n#YYYYMMDD HH:MM:SS Idx W C C % MHz\n", /* 2 */
    "#Entity POWER TMPTR\nID W C\n",
    "DCGM_FI_DEV_POWER_USAGE{gpu=\"0\",GPU_I_ID=\"1\"} 50 1000\n",
    "Date , GPU Clock [MHz] , GPU Temperature [C] , Fan Speed (RPM) [RPM] , Board Power Draw [W] ,\n",
    "timestamp,gpu,vcn_activity,socket_power,edge,hotspot,mem\n",
    "device,Temperature (Sensor edge) (C),Current Socket Graphics Package Power (W)\n",
    "{\"time\": 0, \"card1\": {\"power\": 50, \"temp\": \"40 C\"}}\n",
    "==============NVSMI LOG==============\n\nTimestamp   : Fri Mar  6 10:00:00 2026\nGPU 00000000:01:00.0\n",
    "time_s,gpu,power_w,temp_c,fan_rpm,inlet_c\n",                                         /* 0 */
    "timestamp, index, power.draw [W], temperature.gpu, clocks.sm [MHz], fan.speed [%]\n", /* 1 */
};
enum { N_HEAD = sizeof heads / sizeof heads[0] };

void fuzz_log_format(const char *path)
{
    struct tmx_measured m = {0};
    struct tmx_text_file t, whole = {.name = "log"};
    struct tmx_err err = {0};
    if (tmx_text_load(&t, path, &err) != TMX_OK || t.size == 0) {
        tmx_text_finish(&t);
        return;
    }
    const char *head = heads[(unsigned char)t.data[0] % N_HEAD];
    whole.size = strlen(head) + t.size - 1;
    whole.data = malloc(whole.size + 1);
    fuzz_check(whole.data);
    snprintf(whole.data, whole.size + 1, "%s%s", head, t.data + 1);
    if (fuzz_reads(tmx_measured_parse(&m, &whole, NULL, &err), &err)) {
        for (size_t i = 0; i < m.n_series; i++) {
            check(&m.series[i]);
        }
    }
    tmx_measured_finish(&m);
    tmx_text_finish(&whole);
    tmx_text_finish(&t);
}

/* Either file of AccelWattch. */
void fuzz_accelwattch(const char *path)
{
    struct tmx_table *t = NULL;
    struct tmx_err err = {0};
    if (fuzz_reads(tmx_accelwattch_import(path, NULL, NULL, &t, &err), &err)) {
        fuzz_check(tmx_table_rows(t) > 0);
    }
    tmx_table_destroy(t);
}

/* The fit.csv of a calibration. */
void fuzz_fit_csv(const char *path)
{
    struct tmx_rc m = {0};
    struct tmx_err err = {0};
    if (fuzz_reads(tmx_calibrated_read(&m, path, &err), &err)) {
        fuzz_check(m.n_gpu > 0);
        for (size_t g = 0; g < m.n_gpu; g++) {
            fuzz_check(m.gpu[g].upstream < (int)m.n_gpu && m.gpu[g].upstream != (int)g &&
                       m.gpu[g].sink_k_per_w > 0);
        }
    }
    tmx_rc_finish(&m);
}

/* The table of `thermix power fit`, and the fit of a small one. */
void fuzz_training(const char *path)
{
    enum { SMALL = 12 };
    struct tmx_training t = {0};
    struct tmx_power_fit fit = {0};
    struct tmx_err err = {0};
    if (fuzz_reads(tmx_training_load(&t, path, &err), &err)) {
        fuzz_check(t.n_row > 0 && t.n_feature > 0);
        if (t.n_row <= SMALL && tmx_power_fit(&t, &fit, &err) == TMX_OK) {
            for (size_t i = 0; i < fit.n_coefficient; i++) {
                fuzz_check(isfinite(fit.coefficient[i]));
            }
        }
    }
    fuzz_check(err.code == TMX_OK || err.msg[0]);
    tmx_power_fit_finish(&fit);
    tmx_training_finish(&t);
}

/* Words as they stand on a command line or in a cell, one a line: numbers, times, patterns, conditions. */
static void number(struct tmx_span s)
{
    char buf[TMX_REAL_SIZE];
    double v, again;
    if (!tmx_span_real(s, &v)) {
        fuzz_check(tmx_span_real_fault(s)[0]);
        return;
    }
    tmx_real_print(buf, v);
    fuzz_check(isfinite(v) && tmx_span_real((struct tmx_span){buf, buf + strlen(buf)}, &again) && again == v);
}

static void cell(struct tmx_span s)
{
    static const int quantities[] = {TMX_Q_POWER, TMX_Q_TEMP, TMX_COLUMN_CLOCK_TIME};
    double v;
    for (size_t i = 0; i < sizeof quantities / sizeof quantities[0]; i++) {
        const struct tmx_column_use use = {.quantity = quantities[i], .scale = 1};
        for (int comma = 0; comma < 2; comma++) {
            fuzz_check(!tmx_cell_value(&use, s, comma, &v) || isfinite(v) || isnan(v));
        }
    }
    fuzz_check(!tmx_time_parse(s, &v) || isfinite(v));
}

void fuzz_words(const char *path)
{
    enum { SHORT = 20 }; /* what costs its square */
    static const char *const names[] = {"policy", "package.r_convec", "tick_s", "quantum_s"};
    struct tmx_lines l = {0};
    struct tmx_err err = {0};
    struct tmx_text_file t;
    if (tmx_text_load(&t, path, &err) != TMX_OK) {
        return;
    }
    while (tmx_lines_next(&l, &t)) {
        char word[256], hint[TMX_HINT_SIZE];
        const char *const text = word;
        struct tmx_where w;
        number(l.line);
        cell(l.line);
        if (tmx_span_copy(l.line, word, sizeof word)) {
            if (strlen(word) < SHORT) {
                fuzz_check(tmx_suggest(hint, word, names, 4) == hint);
            }
            (void)tmx_pattern_match(word, "run 1");
            fuzz_check(tmx_pattern_match("*", word));
            err = (struct tmx_err){0};
            tmx_where_parse(&text, 1, &w, 1, &err);
            if (!err.code) {
                (void)tmx_where_holds(&w, "0.25");
            } else {
                fuzz_check(err.msg[0]);
            }
        }
    }
    tmx_text_finish(&t);
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "measure/replay.h"

#include <math.h>
#include <string.h>

#include "base/os.h"
#include "base/text.h"

enum { MAX_FIGURE = 16, MAX_GPU = 16, WIDTH = 56, FILE_NAME = 96 };

/* Changes of load: the mean power of the rows after differs from that before by more than a fifth of the
 * range. */
static size_t load_steps(const struct tmx_series *s)
{
    enum { AROUND = 3 };
    const double *p = s->q[TMX_Q_POWER];
    const struct tmx_range r = tmx_range_of(p, s->n);
    const double least = fmax(0.2 * (r.high - r.low), 5);
    size_t n = 0;
    for (size_t i = AROUND; i + AROUND <= s->n;) {
        double before = 0, after = 0;
        for (size_t k = 0; k < AROUND; k++) {
            before += p[i - AROUND + k] / AROUND;
            after += p[i + k] / AROUND;
        }
        if (fabs(after - before) > least) {
            n++;
            i += 2 * AROUND;
        } else {
            i++;
        }
    }
    return n;
}

enum tmx_status tmx_measured_table(const struct tmx_measured *m, struct tmx_table **t, struct tmx_err *err)
{
    static const enum tmx_log_quantity ranges[] = {TMX_Q_POWER, TMX_Q_TEMP, TMX_Q_RPM, TMX_Q_INLET};
    *t = tmx_table_of("run gpu rows:d duration_s:1 step_s:3 power_min_w:1 power_max_w:1 temp_min_c:1 "
                      "temp_max_c:1 fan_min_rpm:0 fan_max_rpm:0 inlet_min_c:1 inlet_max_c:1 load_steps:d");
    for (size_t i = 0; *t && i < m->n_series; i++) {
        const struct tmx_series *s = &m->series[i];
        tmx_table_row(*t, "%s %s %zu %g %g", m->run[s->run], m->gpu[s->gpu], s->n,
                      s->q[TMX_Q_TIME][s->n - 1] - s->q[TMX_Q_TIME][0], s->step_s);
        for (size_t k = 0; k < 4; k++) {
            const struct tmx_range r = tmx_range_of(s->q[ranges[k]], s->n);
            tmx_table_row(*t, "%G %G", r.low, r.high);
        }
        tmx_table_row(*t, "%zu", load_steps(s));
    }
    return *t ? TMX_OK : tmx_no_memory(err);
}

void tmx_measured_describe(const struct tmx_measured *m, FILE *out)
{
    const size_t width = tmx_os_terminal_width(out);
    fprintf(out, "format: %s\n", m->format);
    for (size_t i = 0; i < m->n_column; i++) {
        char text[320];
        snprintf(text, sizeof text, "%s from \"%s\"", tmx_log_quantity_name(m->column[i].quantity),
                 m->column[i].name);
        fputs(i ? "         " : "columns: ", out);
        tmx_text_wrap(text, 9, width, out);
    }
    for (size_t i = 0; i < m->n_unused && i < 12; i++) {
        tmx_print_visible(out, "%s%s%s", i ? ", " : "without use: ", m->unused[i],
                          i == 11 && m->n_unused > 12 ? ", ..." : "");
    }
    fprintf(out, "%s", m->n_unused ? "\n" : "");
    for (size_t i = 0; i < m->n_warning; i++) {
        fputs("warning: ", out);
        tmx_text_wrap(m->warning[i], 9, width, out);
    }
    for (size_t i = 0; i < m->n_note; i++) {
        fputs("note: ", out);
        tmx_text_wrap(m->note[i], 6, width, out);
    }
}

/* The mean of each of WIDTH equal spans of time, as eight heights. */
static void line_of_blocks(const struct tmx_series *s, enum tmx_log_quantity q, const char *unit, FILE *out)
{
    static const char *const blocks[] = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
    double sum[WIDTH] = {0}, n[WIDTH] = {0};
    const struct tmx_range r = tmx_range_of(s->q[q], s->n);
    const double span = fmax(s->q[TMX_Q_TIME][s->n - 1], 1e-9);
    for (size_t i = 0; i < s->n; i++) {
        if (!isnan(s->q[q][i])) {
            const size_t k = (size_t)fmin(WIDTH - 1, s->q[TMX_Q_TIME][i] / span * WIDTH);
            sum[k] += s->q[q][i];
            n[k] += 1;
        }
    }
    fprintf(out, "  ");
    double height = 0;
    for (size_t k = 0; k < WIDTH; k++) { /* a span without a row shows the last one's */
        height = n[k] > 0 ? (sum[k] / n[k] - r.low) / fmax(r.high - r.low, 1e-9) : height;
        fprintf(out, "%s", blocks[(size_t)fmin(7, fmax(0, height * 8))]);
    }
    fprintf(out, "  %.6g to %.6g %s\n", r.low, r.high, unit);
}

void tmx_measured_sketch(const struct tmx_measured *m, FILE *out)
{
    for (size_t i = 0; i < m->n_series && i < MAX_GPU && m->series[i].run == m->series[0].run; i++) {
        const struct tmx_series *s = &m->series[i];
        tmx_print_visible(out, "run %s, GPU %s, %.6g s\n", m->run[s->run], m->gpu[s->gpu],
                          s->q[TMX_Q_TIME][s->n - 1]);
        line_of_blocks(s, TMX_Q_POWER, "W", out);
        line_of_blocks(s, TMX_Q_TEMP, "degC", out);
    }
}

static void plain_name(const char *run, char *buf, size_t size)
{
    size_t n = 0;
    for (; run[n] && n + 1 < size; n++) {
        const char c = run[n];
        const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                           c == '-' || (c == '.' && n > 0);
        buf[n] = plain ? c : '_';
    }
    buf[n] = '\0';
}

enum tmx_status tmx_measured_figures(struct tmx_plot *p, const struct tmx_measured *m,
                                     double *const *predicted, const struct tmx_what_if *if_so)
{
    size_t n = 0;
    tmx_plot_folder(p);
    for (size_t i = 0; i < m->n_series && n < MAX_FIGURE; n++) {
        char name[FILE_NAME];
        size_t end = i;
        while (end < m->n_series && m->series[end].run == m->series[i].run) {
            end++;
        }
        const size_t n_gpu = end - i < MAX_GPU ? end - i : MAX_GPU;
        /* A run's name as a file's: letters, digits, point, dash; the rest becomes _. Where an earlier run
         * has this name, the run's number in the log follows. */
        const size_t run = m->series[i].run;
        const size_t size = sizeof name;
        char earlier[FILE_NAME];
        plain_name(m->run[run], name, size);
        bool taken = false;
        for (size_t r = 0; r < run && !taken; r++) {
            plain_name(m->run[r], earlier, size);
            taken = strcmp(earlier, name) == 0;
        }
        if (taken) {
            snprintf(earlier, sizeof earlier, "_%zu", run + 1);
            const size_t room = size - 1 - strlen(earlier), used = strlen(name) < room ? strlen(name) : room;
            snprintf(name + used, size - used, "%s", earlier);
        }
        tmx_plot_number(p, "n_gpu", (double)n_gpu);
        for (size_t g = 0; g < n_gpu; g++) {
            tmx_plot_label(p, "name", m->gpu[m->series[i + g].gpu]);
        }
        tmx_plot_number(p, "predicted", predicted != NULL);
        if (if_so) {
            tmx_plot_label(p, "what_if", if_so->words);
        }
        struct tmx_table *t = tmx_table_of(
            if_so ? "gpu:d time_s:3 power_w:1 measured_c:1 predicted_c:2 what_if_c:2 low_c:2 high_c:2"
                  : "gpu:d time_s:3 power_w:1 measured_c:1 predicted_c:2");
        for (size_t g = 0; g < n_gpu; g++) {
            const struct tmx_series *s = &m->series[i + g];
            for (size_t k = 0; k < s->n; k++) {
                tmx_table_row(t, "%zu %g %g %G %G", g, s->q[TMX_Q_TIME][k], s->q[TMX_Q_POWER][k],
                              s->q[TMX_Q_TEMP][k], predicted && predicted[i + g] ? predicted[i + g][k] : NAN);
                if (if_so) {
                    const double c = if_so->temp_c[i + g] ? if_so->temp_c[i + g][k] : NAN,
                                 off_k = if_so->error_k[i + g] ? if_so->error_k[i + g][k] : NAN;
                    tmx_table_row(t, "%G %G %G", c, c - off_k, c + off_k);
                }
            }
        }
        tmx_plot_draw(p, "measured", name, t);
        i = end;
    }
    return p->err->code;
}

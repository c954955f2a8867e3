/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Whose air a GPU breathes: found, or as given. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "measure/calibrate_work.h"

double tmx_cal_static_k_per_w(const struct tmx_rc *m, size_t g, double rpm)
{
    return m->gpu[g].junction_k_per_w + tmx_rc_sink(m, g, rpm);
}

void tmx_cal_find_air(struct tmx_cal_work *w)
{
    struct tmx_rc *m = &w->c->model;
    const double rpm = tmx_cal_range(w->log, TMX_Q_RPM, -1).low; /* where the air is warmed most */
    size_t order[64];
    const size_t n = m->n_gpu;
    if (n < 4 || n > 64 || n % 2) {
        return;
    }
    for (size_t g = 0; g < n; g++) {
        size_t k = g;
        for (; k > 0 && tmx_cal_static_k_per_w(m, order[k - 1], rpm) > tmx_cal_static_k_per_w(m, g, rpm);
             k--) {
            order[k] = order[k - 1];
        }
        order[k] = g;
    }
    const size_t half = n / 2;
    double mean[2] = {0, 0}, var = 0;
    for (size_t k = 0; k < n; k++) {
        mean[k >= half] += tmx_cal_static_k_per_w(m, order[k], rpm) / (double)half;
    }
    for (size_t k = 0; k < n; k++) {
        const double d = tmx_cal_static_k_per_w(m, order[k], rpm) - mean[k >= half];
        var += d * d / (double)(n - 2);
    }
    const double gap =
        tmx_cal_static_k_per_w(m, order[half], rpm) - tmx_cal_static_k_per_w(m, order[half - 1], rpm);
    if (mean[1] - mean[0] < 4 * sqrt(var) || mean[1] < 1.05 * mean[0] || gap <= sqrt(var)) {
        return;
    }
    bool rear[64] = {false};
    for (size_t k = half; k < n; k++) {
        rear[order[k]] = true;
    }
    for (size_t g = 0, front = 0; g < n; g++) {
        if (rear[g]) {
            while (rear[front]) {
                front++;
            }
            m->gpu[g].upstream = (int)front++;
        }
    }
    w->c->air_found = true;
}

enum tmx_status tmx_cal_give_air(struct tmx_cal_work *w, struct tmx_err *err)
{
    struct tmx_rc *m = &w->c->model;
    for (const char *p = w->options->air; p && *p;) {
        const char *end = strchr(p, ','), *arrow = strchr(p, '>');
        char from[64], to[64];
        end = end ? end : p + strlen(p);
        if (!arrow || arrow > end || arrow - p > 63 || end - arrow > 64) {
            return tmx_fail(err, TMX_ECONFIG, "air \"%s\": expected auto, none or pairs such as 0>1,3>2",
                            w->options->air);
        }
        snprintf(from, sizeof from, "%.*s", (int)(arrow - p), p);
        snprintf(to, sizeof to, "%.*s", (int)(end - arrow - 1), arrow + 1);
        const size_t a = tmx_rc_find(m, from), b = tmx_rc_find(m, to);
        if (a == m->n_gpu || b == m->n_gpu || a == b) {
            return tmx_fail(err, TMX_ECONFIG, "air: there is no GPU \"%s\" in the log",
                            a == m->n_gpu ? from : to);
        }
        m->gpu[b].upstream = (int)a;
        p = *end ? end + 1 : end;
    }
    for (size_t g = 0; g < m->n_gpu; g++) { /* no circles */
        size_t steps = 0;
        for (int u = m->gpu[g].upstream; u >= 0; u = m->gpu[u].upstream) {
            if (++steps > m->n_gpu) {
                return tmx_fail(err, TMX_ECONFIG, "air: GPU %s breathes its own air", m->gpu[g].name);
            }
        }
    }
    return TMX_OK;
}

void tmx_cal_print_air(struct tmx_calibration *c)
{
    size_t n = 0;
    for (size_t g = 0; g < c->model.n_gpu; g++) {
        if (c->model.gpu[g].upstream >= 0 && n + 140 < sizeof c->air) {
            n += (size_t)snprintf(c->air + n, sizeof c->air - n, "%s%s>%s", n ? "," : "",
                                  c->model.gpu[c->model.gpu[g].upstream].name, c->model.gpu[g].name);
        }
    }
    if (n == 0) {
        snprintf(c->air, sizeof c->air, "none");
    }
}

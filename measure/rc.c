/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "measure/fit.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

void tmx_rc_finish(struct tmx_rc *m)
{
    free(m->gpu);
    *m = (struct tmx_rc){0};
}

void tmx_rc_copy(struct tmx_rc *to, const struct tmx_rc *from)
{
    struct tmx_rc_gpu *own = to->gpu;
    memcpy(own, from->gpu, from->n_gpu * sizeof *own);
    *to = *from;
    to->gpu = own;
}

size_t tmx_rc_find(const struct tmx_rc *m, const char *name)
{
    size_t g = 0;
    while (g < m->n_gpu && strcmp(m->gpu[g].name, name) != 0) {
        g++;
    }
    return g;
}

bool tmx_rc_circle(const struct tmx_rc *m, size_t gpu)
{
    size_t steps = 0;
    for (int u = m->gpu[gpu].upstream; u >= 0 && steps <= m->n_gpu; u = m->gpu[u].upstream) {
        steps++;
    }
    return steps > m->n_gpu;
}

/* A curve given at rising times, read at times that mostly rise: straight between, constant outside. */
struct reader {
    const double *t, *v;
    size_t n, at;
};

static double read_at(struct reader *r, double t)
{
    while (r->at > 0 && r->t[r->at] > t) {
        r->at--;
    }
    while (r->at + 2 < r->n && r->t[r->at + 1] <= t) {
        r->at++;
    }
    if (r->n == 1 || t <= r->t[0]) {
        return r->v[0];
    }
    if (t >= r->t[r->n - 1]) {
        return r->v[r->n - 1];
    }
    const double part = (t - r->t[r->at]) / (r->t[r->at + 1] - r->t[r->at]);
    return r->v[r->at] + part * (r->v[r->at + 1] - r->v[r->at]);
}

/* What a pole forgets in steps of one length. Exponentials are what a fit spends its time on, and the times
 * of thousands of rows differ by some hundred lengths: each stays at the place that its bits give it. */
struct fading {
    double tau, h, gone, left; /* 1 - e, e */
};
enum { LENGTH_BITS = 7, N_LENGTH = 1 << LENGTH_BITS };

static const struct fading *fade(struct fading *of_length, double tau, double h)
{
    uint64_t bits;
    memcpy(&bits, &h, sizeof bits);
    struct fading *f = &of_length[bits * 0x9e3779b97f4a7c15 >> (64 - LENGTH_BITS)];
    if (f->tau != tau || f->h != h) {
        *f = (struct fading){tau, h, -expm1(-h / tau), exp(-h / tau)};
    }
    return f;
}

/* One pole over h seconds while its steady value goes straight from a to b. */
static double pole(struct fading *f, double x, double tau, double h, double a, double b)
{
    if (tau <= 0) {
        return b;
    }
    const double slope = (b - a) / h, gone = fade(f, tau, h)->gone;
    return x + (a - x) * gone + slope * (h - tau * gone);
}

/* Power at the end of row i where rows hold means: a row that holds part of a jump ends behind it, with the
 * power of the next. */
static double at_end(const double *mean_w, size_t n, size_t i)
{
    static const double JUMP = 0.1, PART = 0.05;
    if (i == 0 || i + 1 >= n) {
        return mean_w[i];
    }
    const double whole = mean_w[i + 1] - mean_w[i - 1], part = mean_w[i] - mean_w[i - 1];
    const bool jump = fabs(whole) > JUMP * fmax(fabs(mean_w[i - 1]), fabs(mean_w[i + 1]));
    return jump && part / whole > PART && part / whole < 1 - PART ? mean_w[i + 1] : mean_w[i];
}

static double slower(const struct tmx_rc *m, double rpm)
{
    return m->rpm_ref > 0 && rpm > 0 ? m->rpm_ref / rpm : 1;
}

double tmx_rc_sink(const struct tmx_rc *m, size_t gpu, double rpm)
{
    return m->sink_base_k_per_w + m->gpu[gpu].sink_k_per_w * pow(slower(m, rpm), m->fan_exponent);
}

double tmx_rc_steady_k(const struct tmx_rc *m, size_t gpu, const double *power_w, const double *rpm)
{
    const struct tmx_rc_gpu *g = &m->gpu[gpu];
    const double n = rpm ? rpm[gpu] : 0, p = power_w[gpu];
    const double up = g->upstream >= 0 ? g->preheat_k_per_w * slower(m, n) * power_w[g->upstream] : 0;
    return g->offset_k + m->air_rise_k + m->chassis_k * slower(m, n) + up +
           (g->junction_k_per_w + g->die_k_per_w + tmx_rc_sink(m, gpu, n) + m->case_k_per_w) * p;
}

void tmx_rc_simulate(const struct tmx_rc *m, size_t gpu, const struct tmx_rc_drive *d, double *temp_c,
                     double *start, double *heat_w)
{
    const struct tmx_rc_gpu *g = &m->gpu[gpu];
    struct reader power = {d->time_s, d->power_w, d->n, 0}, up = {d->up_time_s, d->up_heat_w, d->n_up, 0};
    const bool lag = m->power_lag_s != 0;
    struct fading die[N_LENGTH] = {0}, sink[N_LENGTH] = {0}, case_part[N_LENGTH] = {0};
    double p = lag ? read_at(&power, d->time_s[0] + m->power_lag_s) : d->power_w[0];
    double slow = slower(m, d->rpm ? d->rpm[0] : 0), r_sink = tmx_rc_sink(m, gpu, d->rpm ? d->rpm[0] : 0);
    double x_die = g->die_k_per_w * p, x_sink = r_sink * p, x_case = m->case_k_per_w * p, decay = 1;
    for (size_t i = 0; i < d->n; i++) {
        if (i > 0) {
            const double h = d->time_s[i] - d->time_s[i - 1];
            const double next = lag ? read_at(&power, d->time_s[i] + m->power_lag_s) : d->power_w[i];
            if (d->rpm && d->rpm[i] != d->rpm[i - 1]) { /* of the interval: the mean speed */
                r_sink = tmx_rc_sink(m, gpu, 0.5 * (d->rpm[i - 1] + d->rpm[i]));
            } else if (i > 1 && d->rpm && d->rpm[i - 1] != d->rpm[i - 2]) {
                r_sink = tmx_rc_sink(m, gpu, d->rpm[i]);
            }
            const double tau = g->sink_j_per_k * r_sink;
            const double begin = m->power_is_mean ? next : p;
            x_die = g->die_k_per_w > 0
                        ? pole(die, x_die, m->die_s, h, g->die_k_per_w * begin, g->die_k_per_w * next)
                        : 0;
            x_sink = pole(sink, x_sink, tau, h, r_sink * begin, r_sink * next);
            x_case = m->case_k_per_w > 0 ? pole(case_part, x_case, m->case_s, h, m->case_k_per_w * begin,
                                                m->case_k_per_w * next)
                                         : 0;
            decay *= fade(sink, tau, h)->left; /* also where tau is none */
            p = next;
            slow = slower(m, d->rpm ? d->rpm[i] : 0);
        }
        const double preheat = d->n_up ? g->preheat_k_per_w * slow * read_at(&up, d->time_s[i]) : 0;
        const double air =
            (d->ambient_c ? d->ambient_c[i] : 0) + m->air_rise_k + m->chassis_k * slow + preheat + x_case;
        const double p_end = m->power_is_mean && !lag ? at_end(d->power_w, d->n, i) : p;
        temp_c[i] = air + g->offset_k + g->junction_k_per_w * p_end + x_die + x_sink;
        if (start) {
            start[i] = decay;
        }
        if (heat_w) {
            heat_w[i] = x_sink / r_sink;
        }
    }
}

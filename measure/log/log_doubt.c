/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Values a GPU can have but hardly does, and rows that look like two GPUs': said with their line, not
 * refused. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "measure/log/collect.h"

/* Lowest and highest of a quantity, and where. */
struct range {
    double low, high;
    size_t at_low, at_high;
};

static struct range range_of(const struct tmx_series *s, enum tmx_log_quantity q)
{
    struct range r = {INFINITY, -INFINITY, 0, 0};
    for (size_t i = 0; s->q[q] && i < s->n; i++) {
        const double v = s->q[q][i];
        if (v < r.low) { /* false of NAN */
            r.low = v;
            r.at_low = i;
        }
        if (v > r.high) {
            r.high = v;
            r.at_high = i;
        }
    }
    return r;
}

/* Rows with less than 1 W, and the first of them. */
static size_t dead_rows(const struct tmx_series *s, size_t *first)
{
    size_t n = 0;
    for (size_t i = s->n; i-- > 0;) {
        const bool dead = s->q[TMX_Q_POWER][i] < 1;
        n += dead;
        *first = dead ? i : *first;
    }
    return n;
}

/* How temperature goes with power, -1 to 1; a lag weakens it, and turns no sign. */
static double correlation(const struct tmx_series *s)
{
    double n = 0, p = 0, t = 0, pp = 0, tt = 0, pt = 0;
    for (size_t i = 0; s->q[TMX_Q_TEMP] && i < s->n; i++) {
        const double x = s->q[TMX_Q_POWER][i], y = s->q[TMX_Q_TEMP][i];
        if (!isnan(y)) {
            const double dx = x - p, dy = y - t;
            n += 1;
            p += dx / n;
            t += dy / n;
            pp += dx * (x - p);
            tt += dy * (y - t);
            pt += dx * (y - t);
        }
    }
    return pp > 0 && tt > 0 ? pt / sqrt(pp * tt) : 0;
}

void tmx_log_doubt(struct tmx_measured *m, const struct tmx_series *s, const char *file, const char *who,
                   const struct tmx_read_options *o)
{
    bool chosen = false; /* a fan in percent as rpm, as docs/measure.md says */
    for (size_t i = 0; o && i < sizeof o->column / sizeof o->column[0] && o->column[i]; i++) {
        chosen = chosen || strncmp(o->column[i], "fan_rpm=", 8) == 0;
    }
    const struct range p = range_of(s, TMX_Q_POWER), t = range_of(s, TMX_Q_TEMP), f = range_of(s, TMX_Q_RPM),
                       in = range_of(s, TMX_Q_INLET);
    if (p.high < 1) {
        tmx_measured_note(m, "%s:%u: %s never draws more than %g W: kilowatts? call the column power_kw",
                          file, s->line[p.at_high], who, p.high);
    } else if (p.high - p.low < 1) {
        tmx_measured_note(m, "%s:%u: %s draws %g W in every row: a calibration needs steps of load", file,
                          s->line[0], who, p.low);
    }
    size_t first = 0;
    const size_t n_dead = p.high >= 1 ? dead_rows(s, &first) : 0;
    if (n_dead > 0) {
        tmx_measured_note(m, "%s:%u: %s draws less than 1 W in %zu rows: readings that failed?", file,
                          s->line[first], who, n_dead);
    }
    if (p.high - p.low > 40 && t.high - t.low > 5 && correlation(s) < -0.5) {
        tmx_measured_note(m,
                          "%s:%u: the temperature of %s falls where its power rises: a margin to a limit "
                          "(TLIMIT), or another GPU's?",
                          file, s->line[0], who);
    }
    if (t.high > 110) {
        tmx_measured_note(m,
                          "%s:%u: %s is at %g degC, hotter than where boards shut down: Fahrenheit? call the "
                          "column temp_f",
                          file, s->line[t.at_high], who, t.high);
    }
    if (t.low == 0) {
        tmx_measured_note(m, "%s:%u: %s is at 0 degC: a reading that failed?", file, s->line[t.at_low], who);
    } else if (t.high == t.low && p.high - p.low > 40) {
        tmx_measured_note(m,
                          "%s:%u: %s stays at %g degC while its power changes by %g W: a sensor that hangs?",
                          file, s->line[0], who, t.low, p.high - p.low);
    }
    if (!chosen && f.high > 0 && f.high <= 100) {
        tmx_measured_note(
            m, "%s:%u: the fan of %s turns at most %g times a minute: percent? call the column fan_pct", file,
            s->line[f.at_high], who, f.high);
    }
    if (in.high > 55) {
        tmx_measured_note(m, "%s:%u: %s breathes air of %g degC: Fahrenheit? call the column inlet_f", file,
                          s->line[in.at_high], who, in.high);
    }
}

static int by_value(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Loggers write the GPUs one after the other, then wait: short steps between long ones. */
bool tmx_log_bursts(const double *t, size_t n)
{
    double *d = n > 8 ? malloc((n - 1) * sizeof *d) : NULL;
    if (!d) {
        return false;
    }
    for (size_t i = 0; i + 1 < n; i++) {
        d[i] = t[i + 1] - t[i];
    }
    qsort(d, n - 1, sizeof *d, by_value);
    const double full = d[(n - 1) * 95 / 100];
    free(d);
    size_t shorts = 0, longs = 0, followed = 0;
    for (size_t i = 0; i + 1 < n; i++) {
        const double step = t[i + 1] - t[i];
        shorts += step < 0.1 * full ? 1u : 0u;
        longs += step > 0.5 * full ? 1u : 0u;
        followed += step > 0.5 * full && i + 2 < n && t[i + 2] - t[i + 1] < 0.1 * full ? 1u : 0u;
    }
    return (double)(shorts + longs) > 0.95 * (double)(n - 1) && (double)shorts > 0.45 * (double)(n - 1) &&
           (double)followed > 0.9 * (double)longs - 1;
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "measure/leak.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PARTS = 8 };
static const double JUMP = 0.1;         /* of the power's range: a step of load */
static const double LONG_S = 30;        /* a stretch of load, at least */
static const double APART_K = 3;        /* temperatures of equal work, at least */
static const double FAN = 0.1;          /* change of a fan's speed that counts as one */
static const double MOST_PER_K = 0.008; /* an exponential of 0.0127/K (CACTI) on 60 % of the power */
static const double WANDERS = 0.015;    /* of power at one temperature, under equal work */
static const double LEAST = 0.35;       /* standard error of a slope that is reported, in share of it */

struct stretch { /* the settled part of a load held by one GPU */
    const struct tmx_series *s;
    size_t begin, end; /* rows */
    int work;          /* equal numbers: equal work of this GPU; -1: unknown work */
};

struct sums { /* of one stretch's part */
    double n, t, p, tt, tp, pp;
};

static void add(struct sums *to, const struct sums *from, double sign)
{
    to->n += sign * from->n;
    to->t += sign * from->t;
    to->p += sign * from->p;
    to->tt += sign * from->tt;
    to->tp += sign * from->tp;
    to->pp += sign * from->pp;
}

/* The longest stretch of load, without its first half, in which fan and temperature settle. False: none. */
static bool longest_load(const struct tmx_series *s, bool whole, struct stretch *found)
{
    const double *p = s->q[TMX_Q_POWER], *time = s->q[TMX_Q_TIME];
    double low = INFINITY, high = -INFINITY, best_s = 0;
    for (size_t i = 0; i < s->n; i++) {
        low = fmin(low, p[i]);
        high = fmax(high, p[i]);
    }
    for (size_t i = 0; i < s->n;) {
        size_t end = i + 1;
        while (end < s->n && fabs(p[end] - p[end - 1]) < JUMP * (high - low) && p[end] > 0.5 * (low + high)) {
            end++;
        }
        const double length_s = time[end - 1] - time[i];
        if (p[i] > 0.5 * (low + high) && length_s > fmax(best_s, LONG_S)) {
            best_s = length_s;
            size_t begin = i;
            while (time[begin] < time[i] + (whole ? 0.1 : 0.5) * length_s) {
                begin++;
            }
            *found = (struct stretch){s, begin, end, -1};
        }
        i = end;
    }
    return best_s > 0;
}

/* Does the fan change its speed in the stretch? */
static bool fan_moves(const struct stretch *s)
{
    const double *rpm = s->s->q[TMX_Q_RPM] ? s->s->q[TMX_Q_RPM] : s->s->q[TMX_Q_FAN_PCT];
    double low = INFINITY, high = 0;
    for (size_t i = s->begin; rpm && i < s->end; i++) {
        if (rpm[i] > 0) {
            low = fmin(low, rpm[i]);
            high = fmax(high, rpm[i]);
        }
    }
    return high > (1 + FAN) * low;
}

/* Runs of each group get its number. */
static enum tmx_status read_groups(const struct tmx_measured *log, const char *text, int *group, int *n,
                                   struct tmx_err *err)
{
    for (size_t r = 0; r < log->n_run; r++) {
        group[r] = -1;
    }
    *n = 0;
    for (const char *p = text; p && *p; ++*n) {
        const char *end = strchr(p, ';');
        char patterns[1024];
        size_t runs = 0;
        end = end ? end : p + strlen(p);
        if ((size_t)(end - p) >= sizeof patterns) {
            return tmx_fail(err, TMX_ECONFIG, "same work: more than %zu letters", sizeof patterns - 1);
        }
        snprintf(patterns, sizeof patterns, "%.*s", (int)(end - p), p);
        for (size_t r = 0; r < log->n_run; r++) {
            bool there = false;
            for (size_t i = 0; i < log->n_series; i++) {
                there = there || log->series[i].run == r;
            }
            if (there && tmx_pattern_match(patterns, log->run[r])) {
                group[r] = *n;
                runs++;
            }
        }
        if (runs < 2) {
            return tmx_fail(err, TMX_ECONFIG, "same work \"%s\": %zu of the runs match, expected two or more",
                            patterns, runs);
        }
        p = *end ? end + 1 : end;
    }
    return TMX_OK;
}

static enum tmx_status find_stretches(const struct tmx_measured *log, const char *same_work,
                                      struct stretch *stretch, size_t *n, struct tmx_err *err)
{
    int *group = malloc((log->n_run + 1) * sizeof *group), n_group = 0;
    if (!group) {
        return tmx_fail(err, TMX_ENOMEM, "%zu runs", log->n_run);
    }
    enum tmx_status st = read_groups(log, same_work, group, &n_group, err);
    *n = 0;
    for (size_t i = 0; !st && i < log->n_series; i++) {
        const struct tmx_series *s = &log->series[i];
        struct stretch one;
        if (!s->q[TMX_Q_TEMP]) {
            continue;
        }
        if (group[s->run] >= 0 && longest_load(s, false, &one)) {
            one.work = (int)s->gpu * n_group + group[s->run];
            stretch[(*n)++] = one;
        } else if (group[s->run] < 0 && longest_load(s, true, &one) && fan_moves(&one)) {
            one.work = (int)(log->n_gpu * (size_t)(n_group + 1) + i); /* a work of its own */
            stretch[(*n)++] = one;
        }
    }
    free(group);
    return st;
}

static void sum_parts(const struct stretch *s, struct sums part[PARTS])
{
    const size_t n = s->end - s->begin;
    memset(part, 0, PARTS * sizeof *part);
    for (size_t i = s->begin; i < s->end; i++) {
        const double t = s->s->q[TMX_Q_TEMP][i], p = log(fmax(s->s->q[TMX_Q_POWER][i], 1e-3));
        if (!isnan(t)) {
            const struct sums row = {1, t, p, t * t, t * p, p * p};
            add(&part[(i - s->begin) * PARTS / n], &row, 1);
        }
    }
}

struct line { /* what a fit needs and gives */
    const struct stretch *stretch;
    struct sums (*part)[PARTS];
    size_t n;
    double slope, spread; /* of T around the means of equal work, K^2 rows */
    double power;         /* of ln P, the same */
};

/* The slope without the part `drop` of stretch `without` (drop == PARTS: the whole of it); without == n: of
 * all. */
static double slope_without(struct line *l, size_t without, size_t drop)
{
    double tt = 0, tp = 0, pp = 0;
    for (size_t i = 0; i < l->n; i++) {
        struct sums work = {0};
        bool first = true;
        for (size_t k = 0; k < i; k++) {
            first = first && l->stretch[k].work != l->stretch[i].work;
        }
        for (size_t k = i; first && k < l->n; k++) {
            for (size_t q = 0; l->stretch[k].work == l->stretch[i].work && q < PARTS; q++) {
                if (k != without || (drop != PARTS && drop != q)) {
                    add(&work, &l->part[k][q], 1);
                }
            }
        }
        if (work.n > 1) {
            tt += work.tt - work.t * work.t / work.n;
            tp += work.tp - work.t * work.p / work.n;
            pp += work.pp - work.p * work.p / work.n;
        }
    }
    l->spread = tt;
    l->power = pp;
    return tt > 0 ? tp / tt : NAN;
}

static double jackknife(struct line *l, bool whole)
{
    double sum = 0, n = 0;
    for (size_t i = 0; i < l->n; i++) {
        for (size_t q = whole ? PARTS : 0; q < (whole ? PARTS + 1 : PARTS); q++) {
            const double d = slope_without(l, i, q) - l->slope;
            sum += isnan(d) ? 0 : d * d;
            n += isnan(d) ? 0 : 1;
        }
    }
    return n > 1 ? sqrt(sum * (n - 1) / n) : INFINITY;
}

/* Temperatures of equal work read 1 degC apart are off by up to half of one each, whatever the rows. */
static double rounding(const struct line *l, double n_row)
{
    const double spread_k = sqrt(l->spread / n_row);
    return fabs(l->slope) / sqrt(12) / (spread_k * sqrt((double)l->n));
}

static void measure(struct line *l, struct tmx_leak *leak)
{
    double n = 0, p = 0;
    leak->low_c = INFINITY;
    leak->high_c = -INFINITY;
    for (size_t i = 0; i < l->n; i++) {
        struct sums all = {0};
        sum_parts(&l->stretch[i], l->part[i]);
        for (size_t q = 0; q < PARTS; q++) {
            add(&all, &l->part[i][q], 1);
        }
        n += all.n;
        p += all.p;
        leak->low_c = fmin(leak->low_c, all.t / all.n);
        leak->high_c = fmax(leak->high_c, all.t / all.n);
    }
    l->slope = slope_without(l, l->n, 0);
    const double rows = l->spread, apart_k = 2 * sqrt(rows / fmax(n, 1));
    const double wanders = sqrt(fmax(l->power - l->slope * l->slope * rows, 0) / fmax(n, 1));
    leak->n_row = (size_t)n;
    leak->mean_w = exp(p / fmax(n, 1));
    if (isnan(l->slope) || apart_k < APART_K) {
        snprintf(leak->why, sizeof leak->why,
                 "equal work at temperatures %.1f K apart: would need %g K, by two fan speeds", apart_k,
                 APART_K);
        return;
    }
    leak->per_k = l->slope;
    const double by_part = jackknife(l, false), by_stretch = l->n >= 4 ? jackknife(l, true) : 0;
    l->spread = rows;
    leak->error = hypot(fmax(by_part, by_stretch), rounding(l, n));
    leak->identified = leak->per_k > 0 && leak->per_k <= MOST_PER_K && wanders <= WANDERS &&
                       leak->error <= LEAST * leak->per_k;
    if (!leak->identified &&
        (leak->per_k > MOST_PER_K || wanders > WANDERS)) { /* then power moves temperature */
        snprintf(leak->why, sizeof leak->why,
                 "not the same work: power wanders by %.1f %% at one temperature, or rises by more than "
                 "leakage can",
                 100 * wanders);
    } else if (!leak->identified) {
        snprintf(leak->why, sizeof leak->why,
                 "power does not rise with temperature by more than its error: "
                 "held by a limit, or not the same work?");
    }
}

enum tmx_status tmx_leak_slope(struct tmx_leak *leak, const struct tmx_measured *log, const char *same_work,
                               struct tmx_err *err)
{
    *leak = (struct tmx_leak){.per_k = NAN, .error = NAN};
    struct stretch *stretch = malloc((log->n_series + 1) * sizeof *stretch);
    struct line l = {.stretch = stretch, .part = malloc((log->n_series + 1) * sizeof *l.part)};
    enum tmx_status st = stretch && l.part ? TMX_OK : tmx_fail(err, TMX_ENOMEM, "%zu series", log->n_series);
    st = st ? st : find_stretches(log, same_work, stretch, &l.n, err);
    if (!st && l.n == 0) {
        snprintf(leak->why, sizeof leak->why,
                 "no load held while the fan changed: the same work at two fan speeds (--same-work names "
                 "such runs)");
    } else if (!st) {
        leak->n_stretch = l.n;
        measure(&l, leak);
    }
    free(stretch);
    free(l.part);
    return st;
}

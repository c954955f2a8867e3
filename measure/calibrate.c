/* SPDX-License-Identifier: GPL-3.0-or-later */
/* From a log of watts and degrees to the parameters of a node.
 *
 * The question is not only "which values fit best" but "which parameters does this log identify at all". A
 * log of one steady load shows one resistance and nothing of capacities; one fan speed shows no fan law; two
 * GPUs that are always loaded alike do not show whose air they breathe. A model with all parameters would fit
 * every log and predict nothing. So the structure grows, from one pole a GPU, and a part stays only where the
 * data carry it:
 *
 *      log ----> begin ----> first_guess ----> grow_model ----> refit ----> judge_identified ----> fit.csv
 *                ranges,     one GPU alone,       |   ^
 *                ambient,    several time         v   |  save, try, keep or go_back
 *                kind of     constants         try_part
 *                watts                            air paths, means, fan law, die pole, warming case,
 *                                                 chassis, lag, a capacity for each sink
 *
 * A trial sets a part's start values, fits (fit.c) and looks at two things: the rms residual must fall by the
 * part's `gain` (1 to 2 %), and every new parameter must be identified, its standard error at most 35 %
 * (positive) or 50 % of its value. Else the state before is restored and the part is listed in `left_out`,
 * with the log that would show it. So what is printed is either known with an error or named as unknown.
 *
 * What is assumed, as a log never shows it: sinks of one node are alike within 20 % (SINKS_DIFFER), and
 * sensors of one kind agree to a quarter of a kelvin, unless the log itself identifies a GPU's offset
 * (judge_offsets). Offset and resistance of one GPU are confounded in a short log: T = offset + R P leaves a
 * line of pairs that fit alike,
 *
 *      R |  \                the log: any point of the line
 *        |   \               with a long idle part: a point
 *        |----*----           assumed: offset near 0, which is used only where the log gives no better
 *        |     \
 *        +------------- offset
 *
 * and a warning is given where the fit strains against the assumption by three of its spreads.
 *
 * The watts of a row are those of its moment, the mean since the row before, or a mean over a window: given
 * by the options, by the name of the column, or found as whichever fits better (give_power, try_means).
 * Between rows power is a straight line or a step accordingly, and rc.c's step is exact for it.
 *
 * Long logs: which parts the model has is found on the rows where the power varies most (PART_ROWS), and the
 * values are then fitted to all. At the end the calibration is tested on what it was not fitted to: the rest
 * of each run's time, or each run under a fit to the others.
 *
 * The order below is the order of the picture. */
#include "measure/calibrate.h"

#include <gsl/gsl_sort.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/plausible.h"
#include "base/text.h"

struct work {
    struct tmx_calibration *c;
    const struct tmx_measured *log;
    const struct tmx_calibrate_options *options;
    const struct tmx_log *say;
    struct tmx_err err; /* the first stays */
    bool sink_shared;
    double sink_near;      /* the GPUs' sinks differ a little from this [K/W]; 0: each for itself */
    bool c_apart;          /* a capacity for each sink, near c_near [J/K] */
    double c_near, step_s; /* the shortest of a series */
    bool die, case_part, chassis, preheat, lag, exponent, base;
    bool *offset_identified; /* [n_gpu] the log tells the GPU's offset, nothing else is held about it */
};

struct state {           /* of the model, to go back to */
    struct tmx_rc model; /* gpu NULL: nothing is saved */
    double *ambient_c, rms_k;
};

struct trial {
    bool skip, *flag;
    enum tmx_fit_kind kinds[2]; /* the second may be TMX_FIT_OFFSET, which is no trial's: none */
    double start[3][2];         /* values of these */
    size_t n_start;
    double gain; /* the rms must fall by this share; 0: by 0.02 */
    const char *name, *why;
};

/* ---- what the log holds ---- */

static bool several_hosts(const struct tmx_measured *log)
{
    const char *host = "";
    bool several = false;
    for (size_t i = 0; i < log->n_series; i++) {
        const char *now = log->series[i].gpu < log->n_id ? log->id[log->series[i].gpu].host : "";
        several = several || (host[0] && now[0] && strcmp(host, now) != 0);
        host = host[0] ? host : now;
    }
    return several;
}

/* Was it selected? */
static bool has_run(const struct tmx_measured *log, size_t run)
{
    size_t i = 0;
    while (i < log->n_series && log->series[i].run != run) {
        i++;
    }
    return i < log->n_series;
}

static size_t rows_of(const struct tmx_measured *log)
{
    size_t n = 0;
    for (size_t i = 0; i < log->n_series; i++) {
        n += log->series[i].n;
    }
    return n;
}

static void begin(struct work *w)
{
    struct tmx_calibration *c = w->c;
    const struct tmx_measured *log = w->log;
    const struct tmx_calibrate_options *o = w->options;
    static const double SENSOR_ERROR_K = 5;
    char other[TMX_GUESS_SIZE];
    bool inlet = true;
    w->step_s = INFINITY;
    c->model.gpu = calloc(log->n_gpu + 1, sizeof *c->model.gpu);
    TMX_TAKE(&c->arena, w->offset_identified, log->n_gpu + 1);
    TMX_TAKE(&c->arena, c->ambient_c, log->n_run + 1);
    TMX_TAKE(&c->arena, c->parameter, 4 * log->n_gpu + log->n_run + 16);
    if (!c->model.gpu || c->arena.failed) {
        tmx_no_memory(&w->err);
        return;
    }
    for (size_t g = 0; g < log->n_gpu; g++) {
        bool there = false;
        for (size_t i = 0; i < log->n_series; i++) {
            there = there || log->series[i].gpu == g;
        }
        if (there) {
            struct tmx_rc_gpu *gpu = &c->model.gpu[c->model.n_gpu++];
            gpu->upstream = TMX_RC_NONE;
            if (snprintf(gpu->name, sizeof gpu->name, "%s", log->gpu[g]) >= (int)sizeof gpu->name) {
                tmx_error(&w->err, TMX_ECONFIG, "GPU %s: a name longer than %zu characters", log->gpu[g],
                          sizeof gpu->name - 1);
            }
        }
    }
    const struct tmx_range p = tmx_measured_range(log, TMX_Q_POWER, -1),
                           t = tmx_measured_range(log, TMX_Q_TEMP, -1),
                           n = tmx_measured_range(log, TMX_Q_RPM, -1);
    if (p.high - p.low < fmax(2, 0.05 * p.high) || t.high - t.low < 3) {
        tmx_error(&w->err, TMX_ERANGE,
                  "power goes from %.1f to %.1f W and temperature from %.1f to %.1f degC: nothing can "
                  "be identified; "
                  "log idle, a step of load held for minutes, and idle again",
                  p.low, p.high, t.low, t.high);
    }
    if (w->err.code) {
        return;
    }
    if (p.high - p.low < 0.5 * p.high) {
        tmx_log_say(w->say, TMX_LOG_WARNING,
                    "power goes from %.0f to %.0f W only: predictions at other powers are uncertain; "
                    "calibrate to runs from idle to the highest power",
                    p.low, p.high);
    }
    if (several_hosts(log)) {
        tmx_log_say(
            w->say, TMX_LOG_WARNING,
            "GPUs of several hosts are fitted as one node, and no air paths are looked for; --gpus 'HOST/*' "
            "fits one host");
    }
    c->model.power_low_w = p.low;
    c->model.power_high_w = p.high;
    const bool rpm = n.high > 0;
    c->model.fan_exponent = 0.8;
    c->model.rpm_ref = rpm ? n.high : o->rpm;
    c->fan_varies = rpm && (n.low < 0.9 * n.high || (o->rpm > 0 && fabs(o->rpm - n.high) > 0.1 * n.high));
    c->fit = (struct tmx_fit){.model = &c->model,
                              .log = log,
                              .to = o->split > 0 && o->split < 1 ? o->split : 1,
                              .ambient_c = c->ambient_c,
                              .rpm = o->rpm,
                              .inlet = o->ambient == TMX_AMBIENT_INLET};
    for (size_t i = 0; i < log->n_series; i++) {
        inlet = inlet && log->series[i].q[TMX_Q_INLET];
        w->step_s = fmin(w->step_s, log->series[i].step_s);
    }
    if (o->ambient == TMX_AMBIENT_INLET && !inlet) {
        tmx_error(&w->err, TMX_ECONFIG,
                  "--ambient inlet: not every run has a column of inlet air; use --ambient fit to fit it");
    }
    for (size_t r = 0; r < log->n_run; r++) {
        c->ambient_c[r] = o->ambient == TMX_AMBIENT_GIVEN ? o->ambient_c : t.low - 5;
    }
    if (o->ambient == TMX_AMBIENT_GIVEN && o->ambient_c > t.low + SENSOR_ERROR_K) {
        tmx_error(&w->err, TMX_ECONFIG,
                  "ambient %g degC: the log has a GPU at %g degC, and none is colder than its air%s",
                  o->ambient_c, t.low, tmx_plausible_guess(other, NULL, "ambient_c", "degC", o->ambient_c));
    }
    const struct tmx_log_column *power = tmx_measured_source(log, TMX_Q_POWER);
    if (power) {
        snprintf(c->model.power_from, sizeof c->model.power_from, "%s", power->name);
        c->power_instant = power->instant;
    }
    c->model.ambient_fitted = !c->fit.inlet && o->ambient != TMX_AMBIENT_GIVEN;
    c->rest_rms_k = NAN;
    c->power_is = o->power_is == TMX_POWER_AUTO && c->power_instant ? TMX_POWER_INSTANT : o->power_is;
    c->power_window_s = o->power_window_s;
    if (o->power_window_s > 0) { /* a mean over much less than a row is a moment, one over about a row is the
                                  * row's, a longer one is the power of half of it ago */
        const bool longer = o->power_window_s > 1.5 * w->step_s;
        c->power_is = o->power_window_s > 0.5 * w->step_s && !longer ? TMX_POWER_MEAN : TMX_POWER_INSTANT;
        c->model.power_lag_s = longer ? 0.5 * o->power_window_s : 0;
    }
    c->model.power_is_mean = c->power_is == TMX_POWER_MEAN;
}

/* ---- how power follows temperature at equal work ---- */

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

static void add_sums(struct sums *to, const struct sums *from)
{
    to->n += from->n;
    to->t += from->t;
    to->p += from->p;
    to->tt += from->tt;
    to->tp += from->tp;
    to->pp += from->pp;
}

/* The longest stretch of load, without its first half, in which fan and temperature settle. False: none. */
static bool longest_load(const struct tmx_series *s, bool whole, struct stretch *found)
{
    const double *p = s->q[TMX_Q_POWER], *time = s->q[TMX_Q_TIME];
    const struct tmx_range w = tmx_range_of(p, s->n);
    const double half_w = 0.5 * (w.low + w.high);
    double best_s = 0;
    for (size_t i = 0; i < s->n;) {
        size_t end = i + 1;
        while (end < s->n && p[i] > half_w && fabs(p[end] - p[end - 1]) < JUMP * (w.high - w.low) &&
               p[end] > half_w) {
            end++;
        }
        const double length_s = time[end - 1] - time[i];
        if (p[i] > half_w && length_s > fmax(best_s, LONG_S)) {
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
            if (has_run(log, r) && tmx_pattern_match(patterns, log->run[r])) {
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
                    add_sums(&work, &l->part[k][q]);
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

static void measure(struct line *l, struct tmx_leak *leak)
{
    double n = 0, p = 0;
    leak->low_c = INFINITY;
    leak->high_c = -INFINITY;
    for (size_t i = 0; i < l->n; i++) {
        const struct stretch *s = &l->stretch[i];
        struct sums all = {0};
        for (size_t k = s->begin; k < s->end; k++) {
            const double t_c = s->s->q[TMX_Q_TEMP][k], ln_p = log(fmax(s->s->q[TMX_Q_POWER][k], 1e-3));
            const struct sums row = {1, t_c, ln_p, t_c * t_c, t_c * ln_p, ln_p * ln_p};
            if (!isnan(t_c)) {
                add_sums(&l->part[i][(k - s->begin) * PARTS / (s->end - s->begin)], &row);
            }
        }
        for (size_t q = 0; q < PARTS; q++) {
            add_sums(&all, &l->part[i][q]);
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
    /* temperatures of equal work read 1 degC apart are off by up to half of one each, whatever the rows */
    const double rounding = fabs(l->slope) / sqrt(12) / (sqrt(rows / n) * sqrt((double)l->n));
    leak->error = hypot(fmax(by_part, by_stretch), rounding);
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
    struct tmx_arena arena = {0};
    struct stretch *stretch;
    struct line l = {0};
    int *group, n_group = 0;
    *leak = (struct tmx_leak){.per_k = NAN, .error = NAN};
    TMX_TAKE(&arena, stretch, log->n_series + 1);
    TMX_TAKE(&arena, l.part, log->n_series + 1);
    TMX_TAKE(&arena, group, log->n_run + 1);
    l.stretch = stretch;
    enum tmx_status st = arena.failed ? tmx_no_memory(err) : TMX_OK;
    st = st ? st : read_groups(log, same_work, group, &n_group, err);
    for (size_t i = 0; !st && i < log->n_series; i++) {
        const struct tmx_series *s = &log->series[i];
        const double *rpm = s->q[TMX_Q_RPM] ? s->q[TMX_Q_RPM] : s->q[TMX_Q_FAN_PCT];
        const bool alone = group[s->run] < 0; /* a work of its own: its fan has to change its speed */
        struct stretch *one = &stretch[l.n];
        double low = INFINITY, high = 0;
        if (!s->q[TMX_Q_TEMP] || !longest_load(s, alone, one)) {
            continue;
        }
        for (size_t k = one->begin; rpm && k < one->end; k++) {
            low = rpm[k] > 0 ? fmin(low, rpm[k]) : low;
            high = fmax(high, rpm[k]);
        }
        one->work =
            alone ? (int)(log->n_gpu * (size_t)(n_group + 1) + i) : (int)s->gpu * n_group + group[s->run];
        l.n += !alone || high > (1 + FAN) * low;
    }
    if (!st && l.n == 0) {
        snprintf(leak->why, sizeof leak->why,
                 "no load held while the fan changed: the same work at two fan speeds (--same-work names "
                 "such runs)");
    } else if (!st) {
        leak->n_stretch = l.n;
        measure(&l, leak);
    }
    tmx_arena_finish(&arena);
    return st;
}

/* ---- the parameters of a structure, ways back, and trials of further parts ---- */

/* Mounted parts of one kind differ: spread of the logarithm of their sinks' resistances and capacities,
 * assumed. */
static const double SINKS_DIFFER = 0.2;
/* Inlets of a rack differ by kelvins: spread of an offset that the log itself tells, wide enough to bias
 * nothing.
 */
static const double OFFSETS_DIFFER_K = 20;

static struct tmx_fit_parameter *add(struct work *w, enum tmx_fit_kind kind, int gpu, int run)
{
    struct tmx_fit_parameter *p = &w->c->parameter[w->c->fit.n_parameter++];
    *p = (struct tmx_fit_parameter){.kind = kind, .gpu = gpu, .run = run, .identified = true};
    return p;
}

static void list_parameters(struct work *w)
{
    struct tmx_calibration *c = w->c;
    const bool given = w->options->ambient == TMX_AMBIENT_GIVEN;
    c->fit.n_parameter = 0;
    for (size_t g = 0; g < c->model.n_gpu; g++) {
        if (g > 0) { /* the first GPU's offset is part of the fitted ambient or of air_rise_k */
            add(w, TMX_FIT_OFFSET, (int)g, 0)->spread = w->offset_identified[g] ? OFFSETS_DIFFER_K : 0;
        }
        add(w, TMX_FIT_JUNCTION, (int)g, 0);
        if (!w->sink_shared) {
            struct tmx_fit_parameter *p = add(w, TMX_FIT_SINK, (int)g, 0);
            p->prior = w->sink_near > 0 ? log(w->sink_near) : 0;
            p->spread = w->sink_near > 0 ? SINKS_DIFFER : 0;
        }
        if (w->c_apart) {
            struct tmx_fit_parameter *p = add(w, TMX_FIT_SINK_C, (int)g, 0);
            p->prior = log(w->c_near);
            p->spread = SINKS_DIFFER;
        }
    }
    const struct {
        bool has;
        enum tmx_fit_kind kind;
    } shared[] = {{c->fit.inlet || given, TMX_FIT_AIR_RISE},
                  {w->sink_shared, TMX_FIT_SINK},
                  {!w->c_apart, TMX_FIT_SINK_C},
                  {w->die, TMX_FIT_DIE},
                  {w->die, TMX_FIT_DIE_S},
                  {w->case_part, TMX_FIT_CASE},
                  {w->case_part, TMX_FIT_CASE_S},
                  {w->exponent, TMX_FIT_EXPONENT},
                  {w->base, TMX_FIT_SINK_BASE},
                  {w->preheat, TMX_FIT_PREHEAT},
                  {w->chassis, TMX_FIT_CHASSIS},
                  {w->lag, TMX_FIT_LAG}};
    for (size_t i = 0; i < sizeof shared / sizeof shared[0]; i++) {
        if (shared[i].has) {
            add(w, shared[i].kind, TMX_FIT_ALL, 0);
        }
    }
    for (size_t r = 0; !c->fit.inlet && !given && r < w->log->n_run; r++) {
        if (has_run(w->log, r)) {
            add(w, TMX_FIT_AMBIENT, TMX_FIT_ALL, (int)r);
        }
    }
}

/* The first parameter of a kind; NULL when the structure has none. */
static struct tmx_fit_parameter *parameter_of(struct work *w, enum tmx_fit_kind kind)
{
    for (size_t k = 0; k < w->c->fit.n_parameter; k++) {
        if (w->c->parameter[k].kind == kind) {
            return &w->c->parameter[k];
        }
    }
    return NULL;
}

static void save(struct work *w, struct state *s)
{
    struct tmx_calibration *c = w->c;
    if (!s->model.gpu) {
        TMX_TAKE(&c->arena, s->model.gpu, c->model.n_gpu + 1);
        TMX_TAKE(&c->arena, s->ambient_c, w->log->n_run + 1);
    }
    tmx_arena_check(&c->arena, &w->err);
    if (c->arena.failed) {
        return;
    }
    s->rms_k = c->fit.rms_k;
    tmx_rc_copy(&s->model, &c->model);
    memcpy(s->ambient_c, c->ambient_c, w->log->n_run * sizeof *s->ambient_c);
}

static void go_back(struct work *w, const struct state *s)
{
    if (w->err.code) {
        return;
    }
    tmx_rc_copy(&w->c->model, &s->model);
    memcpy(w->c->ambient_c, s->ambient_c, w->log->n_run * sizeof *s->ambient_c);
    w->c->fit.rms_k = s->rms_k;
}

/* Fit the structure as its flags stand; false: it cannot be, *err says why. */
static bool refit_or(struct work *w, struct tmx_err *err)
{
    list_parameters(w);
    w->c->fit.parameter = w->c->parameter;
    tmx_log_say(w->say, TMX_LOG_PROGRESS, "fitting %zu parameters to %zu rows", w->c->fit.n_parameter,
                rows_of(w->c->fit.log));
    return tmx_fit_run(&w->c->fit, true, err);
}

static void refit(struct work *w)
{
    if (!w->err.code) {
        refit_or(w, &w->err);
    }
}

/* Did a further part fit, and lower the rms below this share of what it was? */
static bool refit_to(struct work *w, double share, const struct state *before)
{
    struct tmx_err ignored = {0};
    return !w->err.code && refit_or(w, &ignored) && w->c->fit.rms_k < share * before->rms_k;
}

/* Let go of what is assumed of the offsets that the log tells by itself, hold it for the others; refit where
 * that changes. */
static void judge_offsets(struct work *w)
{
    static const double IDENTIFIED_K = 1; /* standard error, which counts nothing as known */
    bool change = false;
    for (size_t k = 0; k < w->c->fit.n_parameter && !w->err.code; k++) {
        const struct tmx_fit_parameter *p = &w->c->parameter[k];
        if (p->kind == TMX_FIT_OFFSET) {
            const bool identified = p->error < IDENTIFIED_K;
            change = change || identified != w->offset_identified[p->gpu];
            w->offset_identified[p->gpu] = identified;
        }
    }
    if (change) {
        refit(w);
    }
}

static void leave_out(struct work *w, const char *name, const char *why)
{
    struct tmx_calibration *c = w->c;
    if (c->n_left_out < sizeof c->left_out / sizeof c->left_out[0]) {
        struct tmx_left_out *l = &c->left_out[c->n_left_out++];
        snprintf(l->name, sizeof l->name, "%s", name);
        snprintf(l->why, sizeof l->why, "%s", why);
    }
}

/* Does the log determine the value: is its 95 % interval narrower than itself, and away from 0? p may be
 * NULL. */
static bool is_identified(const struct tmx_fit_parameter *p)
{
    return p && isfinite(p->error) &&
           p->error <= (tmx_fit_kinds[p->kind].positive ? 0.35 : 0.5) * fabs(p->value);
}

static void try_part(struct work *w, const struct trial *t)
{
    struct state before = {0}, best = {0};
    bool better = false;
    save(w, &before);
    for (size_t i = 0; i < t->n_start && !w->err.code; i++) {
        go_back(w, &before);
        *t->flag = true;
        for (size_t k = 0; k < 2 && t->kinds[k]; k++) {
            tmx_fit_set(&w->c->model, tmx_fit_kinds[t->kinds[k]].name, "all", t->start[i][k]);
        }
        bool good = refit_to(w, 1 - (t->gain > 0 ? t->gain : 0.02), &before);
        for (size_t k = 0; good && k < 2 && t->kinds[k]; k++) { /* edges tell of the lag: the gain decides */
            good = t->kinds[k] == TMX_FIT_LAG || is_identified(parameter_of(w, t->kinds[k]));
        }
        const struct tmx_fit_parameter *sink = parameter_of(w, TMX_FIT_SINK_C);
        good = good && sink && isfinite(sink->error) && sink->error < 0.5 * sink->value;
        if (good && (!better || w->c->fit.rms_k < best.rms_k)) {
            save(w, &best);
            better = true;
        }
    }
    go_back(w, better ? &best : &before);
    *t->flag = better;
    if (!better) {
        leave_out(w, t->name, t->why);
    }
}

/* ---- where a fit starts: one GPU alone, several time constants tried ---- */

/* One start of the one-GPU fit, kept when it beats what was found. die_s = 0: one pole. */
static void try_guess(struct work *w, size_t run, double r, double tau, double die_s, double ambient_c,
                      struct state *found)
{
    struct tmx_calibration *c = w->c;
    struct tmx_err ignored = {0};
    const double before = found->model.gpu ? found->rms_k : INFINITY;
    for (size_t g = 0; g < c->model.n_gpu; g++) {
        c->model.gpu[g].junction_k_per_w = c->model.gpu[g].sink_k_per_w = r / 2;
        c->model.gpu[g].die_k_per_w = die_s > 0 ? r / 4 : 0;
        c->model.gpu[g].sink_j_per_k = tau / (r / 2);
    }
    c->model.die_s = die_s;
    c->ambient_c[run] = ambient_c;
    if (tmx_fit_run(&c->fit, false, &ignored) && c->fit.rms_k < before) {
        save(w, found);
    }
}

static void first_guess(struct work *w)
{
    struct tmx_calibration *c = w->c;
    const struct tmx_measured *log = w->log;
    size_t best = 0; /* the series with the widest swing of power */
    double swing = -1;
    for (size_t i = 0; i < log->n_series; i++) {
        const struct tmx_range p = tmx_range_of(log->series[i].q[TMX_Q_POWER], log->series[i].n);
        best = p.high - p.low > swing ? i : best;
        swing = fmax(swing, p.high - p.low);
    }
    const struct tmx_series *s = &log->series[best];
    const double span_s = s->q[TMX_Q_TIME][s->n - 1];
    const struct tmx_range t = tmx_measured_range(log, TMX_Q_TEMP, (int)s->gpu),
                           p = tmx_measured_range(log, TMX_Q_POWER, (int)s->gpu);
    const double r = fmax(t.high - t.low, 1) / fmax(p.high - p.low, 1), air_c = t.low - r * p.low;
    struct state found = {0}, two = {0};
    bool *use;
    const size_t gpu = tmx_rc_find(&c->model, log->gpu[s->gpu]);
    struct tmx_fit_parameter list[6] = {{.kind = TMX_FIT_JUNCTION, .gpu = (int)gpu},
                                        {.kind = TMX_FIT_SINK, .gpu = (int)gpu},
                                        {.kind = TMX_FIT_SINK_C, .gpu = TMX_FIT_ALL},
                                        {.kind = TMX_FIT_AMBIENT, .gpu = TMX_FIT_ALL, .run = (int)s->run},
                                        {.kind = TMX_FIT_DIE, .gpu = (int)gpu},
                                        {.kind = TMX_FIT_DIE_S, .gpu = TMX_FIT_ALL}};
    if (!TMX_TAKE(&c->arena, use, log->n_series + 1)) {
        tmx_no_memory(&w->err);
        return;
    }
    use[best] = true;
    const bool inlet = c->fit.inlet;
    c->fit.use = use;
    c->fit.inlet = false;
    c->fit.parameter = list;
    c->fit.n_parameter = 4;
    c->fit.rms_k = INFINITY;
    c->fit.most_iterations = 15;
    const double shortest = fmax(s->step_s, span_s / 1000);
    for (double tau = shortest; tau < span_s; tau *= 4) {
        try_guess(w, s->run, r, tau, 0, air_c, &found);
    }
    const double one_pole_k = found.model.gpu ? found.rms_k : INFINITY;
    c->fit.n_parameter = 6;
    for (double tau = 64 * shortest; tau < span_s / 2; tau *= 4) {
        for (double die_s = 2 * shortest; die_s < tau / 8; die_s *= 8) {
            try_guess(w, s->run, r, tau, die_s, air_c, &two);
        }
    }
    if (two.model.gpu && two.rms_k < 0.97 * one_pole_k) {
        found = two;
        w->die = true;
    }
    if (!found.model.gpu) {
        tmx_error(&w->err, TMX_ESOLVE,
                  "no fit of GPU %s: do its temperature and its power belong to the same GPU?",
                  log->gpu[s->gpu]);
    }
    go_back(w, &found); /* what was found for one GPU is where all start */
    const struct tmx_rc_gpu one = c->model.gpu[gpu];
    for (size_t g = 0; g < c->model.n_gpu && !w->err.code; g++) {
        c->model.gpu[g].junction_k_per_w = fmax(one.junction_k_per_w, 0.02 * r);
        c->model.gpu[g].sink_k_per_w = fmax(one.sink_k_per_w, 0.02 * r);
        c->model.gpu[g].die_k_per_w = w->die ? one.die_k_per_w : 0;
    }
    for (size_t k = 0; k < log->n_run && !w->err.code; k++) {
        c->ambient_c[k] =
            w->options->ambient == TMX_AMBIENT_GIVEN ? w->options->ambient_c : found.ambient_c[s->run];
    }
    c->fit.use = NULL;
    c->fit.most_iterations = 0;
    c->fit.inlet = inlet;
}

/* ---- whose air a GPU breathes: found, or as given ---- */

static double static_k_per_w(const struct tmx_rc *m, size_t g, double rpm)
{
    return m->gpu[g].junction_k_per_w + tmx_rc_sink(m, g, rpm);
}

/* Two rows when the GPUs' resistances fall into two groups set well apart. Cooler ones are taken to be in
 * front; their order then decides which feeds which, as equal loads do not separate the air paths. */
static void find_air(struct work *w)
{
    struct tmx_rc *m = &w->c->model;
    const double rpm = tmx_measured_range(w->log, TMX_Q_RPM, -1).low; /* where the air is warmed most */
    enum { MOST = 64 };
    size_t order[MOST];
    const size_t n = m->n_gpu, half = n / 2;
    double r[MOST], mean[2] = {0, 0}, var = 0;
    if (n < 4 || n > MOST || n % 2) {
        return;
    }
    for (size_t g = 0; g < n; g++) {
        r[g] = static_k_per_w(m, g, rpm);
    }
    gsl_sort_index(order, r, 1, n);
    for (size_t k = 0; k < n; k++) {
        mean[k >= half] += r[order[k]] / (double)half;
    }
    for (size_t k = 0; k < n; k++) {
        const double d = r[order[k]] - mean[k >= half];
        var += d * d / (double)(n - 2);
    }
    const double gap = r[order[half]] - r[order[half - 1]];
    if (mean[1] - mean[0] < 4 * sqrt(var) || mean[1] < 1.05 * mean[0] || gap <= sqrt(var)) {
        return;
    }
    bool rear[MOST] = {false};
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

static void give_air(struct work *w)
{
    struct tmx_rc *m = &w->c->model;
    for (const char *p = w->options->air; p && *p;) {
        const char *end = strchr(p, ','), *arrow = strchr(p, '>');
        char from[64], to[64];
        end = end ? end : p + strlen(p);
        if (!arrow || arrow > end || arrow - p > 63 || end - arrow > 64) {
            tmx_error(&w->err, TMX_ECONFIG, "air \"%s\": expected auto, none or pairs such as 0>1,3>2",
                      w->options->air);
            return;
        }
        snprintf(from, sizeof from, "%.*s", (int)(arrow - p), p);
        snprintf(to, sizeof to, "%.*s", (int)(end - arrow - 1), arrow + 1);
        const size_t a = tmx_rc_find(m, from), b = tmx_rc_find(m, to);
        if (a == m->n_gpu || b == m->n_gpu || a == b) {
            tmx_error(&w->err, TMX_ECONFIG, "air: there is no GPU \"%s\" in the log",
                      a == m->n_gpu ? from : to);
            return;
        }
        if (m->gpu[b].upstream >= 0) {
            tmx_error(&w->err, TMX_ECONFIG, "air: GPU %s breathes the air of one other GPU, not of two", to);
            return;
        }
        m->gpu[b].upstream = (int)a;
        p = *end ? end + 1 : end;
    }
    for (size_t g = 0; g < m->n_gpu; g++) {
        if (tmx_rc_circle(m, g)) {
            tmx_error(&w->err, TMX_ECONFIG, "air: GPU %s breathes its own air", m->gpu[g].name);
        }
    }
}

/* ---- growing the model ---- */

/* Equal parts: what sets the rows apart is their air. Where the log does not show it, no row breathes
 * another's. */
static void part_rows(struct work *w)
{
    struct tmx_rc *m = &w->c->model;
    struct state apart = {0};
    double junction = 0, sink = 0;
    save(w, &apart);
    for (size_t g = 0; g < m->n_gpu; g++) {
        junction += m->gpu[g].junction_k_per_w / (double)m->n_gpu;
        sink += m->gpu[g].sink_k_per_w / (double)m->n_gpu;
    }
    for (size_t g = 0; g < m->n_gpu; g++) {
        m->gpu[g].sink_k_per_w = sink;
        m->gpu[g].preheat_k_per_w = m->gpu[g].upstream >= 0 ? 0.1 * (junction + sink) : 0;
    }
    w->sink_shared = w->preheat = true;
    refit(w);
    if (!w->err.code && !is_identified(parameter_of(w, TMX_FIT_PREHEAT))) {
        leave_out(w, "preheat_k_per_w", "rows do not differ: load one row alone, or two fan speeds");
        go_back(w, &apart);
        for (size_t g = 0; g < m->n_gpu; g++) {
            m->gpu[g].upstream = TMX_RC_NONE;
            m->gpu[g].preheat_k_per_w = 0;
        }
        w->sink_shared = w->options->alike;
        w->preheat = w->c->air_found = false;
        refit(w);
    }
}

/* Parts that one or two numbers make, in the order in which they are tried. */
static void try_parts(struct work *w)
{
    struct tmx_rc *m = &w->c->model;
    double length_s = 0;
    for (size_t i = 0; i < w->log->n_series; i++) {
        const struct tmx_series *s = &w->log->series[i];
        length_s = fmax(length_s, s->q[TMX_Q_TIME][s->n - 1]);
    }
    const double tau = m->gpu[0].sink_j_per_k * m->gpu[0].sink_k_per_w, r = static_k_per_w(m, 0, m->rpm_ref);
    const double step = w->step_s;
    const bool fan = w->c->fan_varies;
    const struct trial parts[] = {
        {.skip = !fan,
         .flag = &w->exponent,
         .kinds = {TMX_FIT_EXPONENT},
         .start = {{0.8}, {1.6}},
         .n_start = 2,
         .name = "fan_exponent",
         .why = "0.8 taken: hold the same load at two fan speeds"},
        {.skip = !fan,
         .flag = &w->base,
         .kinds = {TMX_FIT_SINK_BASE},
         .start = {{0.3 * r}},
         .n_start = 1,
         .name = "sink_base_k_per_w",
         .why = "0 taken: hold the same load at three fan speeds"},
        {.skip = w->die,
         .flag = &w->die,
         .kinds = {TMX_FIT_DIE, TMX_FIT_DIE_S},
         .start = {{0.2 * r, fmax(2 * step, tau / 40)}, {0.2 * r, tau / 6}, {0.2 * r, 4 * step}},
         .n_start = tau > 6 * step ? 3 : 0,
         .name = "die_k_per_w, die_s",
         .why = "a second, faster pole does not show: log at a tenth of its time constant, through steps of "
                "load"},
        {.flag = &w->case_part,
         .kinds = {TMX_FIT_CASE, TMX_FIT_CASE_S},
         .start = {{0.1 * r, 4 * tau}, {0.1 * r, 20 * tau}},
         .n_start = length_s > 3 * tau ? 2 : 0,
         .name = "case_k_per_w, case_s",
         .why = "a warming case does not show: half an hour of steady load, then half an hour idle"},
        {.flag = &w->chassis,
         .kinds = {TMX_FIT_CHASSIS},
         .start = {{1}},
         .n_start = fan ? 1 : 0,
         .gain = 0.01,
         .name = fan ? "chassis_k" : "fan law",
         .why = fan              ? "no sign of air warmed before it reaches the GPUs"
                : m->rpm_ref > 0 ? "one fan speed only: log the same load at a second one"
                                 : "no fan speed in rpm: the resistance holds for this fan curve only "
                                   "(percent will do: --column fan_rpm=NAME)"},
        {.skip = w->c->power_window_s > 0,
         .flag = &w->lag,
         .kinds = {TMX_FIT_LAG},
         .start = {{0.3 * step}, {-0.3 * step}},
         .n_start = 2,
         .gain = 0.01,
         .name = "power_lag_s",
         .why = "power and temperature of a row belong together"}};
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
        if (!parts[i].skip && !w->err.code) {
            try_part(w, &parts[i]);
        }
    }
}

/* A capacity for each sink, where that lowers the error and the log determines every one, one of them apart
 * from the rest. */
static void try_capacities(struct work *w)
{
    struct tmx_calibration *c = w->c;
    struct state shared = {0};
    bool apart = false;
    if (c->model.n_gpu < 2) {
        return;
    }
    save(w, &shared);
    w->c_near = c->model.gpu[0].sink_j_per_k;
    w->c_apart = true;
    bool good = refit_to(w, 0.99, &shared);
    for (size_t k = 0; good && k < c->fit.n_parameter; k++) {
        const struct tmx_fit_parameter *p = &c->parameter[k];
        if (p->kind == TMX_FIT_SINK_C) {
            good = is_identified(p);
            apart = apart || fabs(log(p->value / w->c_near)) > 1.96 * p->error / p->value;
        }
    }
    if (!good || !apart) {
        go_back(w, &shared);
        w->c_apart = false;
        leave_out(w, "sink_j_per_k of each GPU",
                  "one for all: the log does not distinguish them; steps of load held for three time "
                  "constants, logged at a tenth of one");
    }
}

static void grow_model(struct work *w)
{
    first_guess(w);
    w->sink_shared = w->options->alike;
    refit(w);
    judge_offsets(w);
    if (!w->err.code) {
        const char *air = w->options->air ? w->options->air : "auto";
        bool any = false;
        if (strcmp(air, "auto") == 0 && !several_hosts(w->log)) {
            find_air(w);
        } else if (strcmp(air, "auto") != 0 && strcmp(air, "none") != 0) {
            give_air(w);
        }
        for (size_t g = 0; g < w->c->model.n_gpu; g++) {
            any = any || w->c->model.gpu[g].upstream >= 0;
        }
        if (any && !w->err.code) {
            part_rows(w);
        }
    }
    if (!w->err.code) {
        /* Are the rows' watts means? */
        struct state points = {0};
        if (w->c->power_is == TMX_POWER_AUTO) { /* is not given */
            save(w, &points);
            w->c->model.power_is_mean = true;
            if (!refit_to(w, 0.998, &points)) {
                go_back(w, &points);
            }
        }
        try_parts(w);
    }
    if (w->sink_shared && !w->options->alike) {
        w->sink_near = w->c->model.gpu[0].sink_k_per_w;
        w->sink_shared = false;
        refit(w);
    }
    judge_offsets(w);
    if (!w->err.code) {
        try_capacities(w);
    }
}

/* ---- long logs: the structure is found on a part of the rows, the values are fitted to all ---- */

enum { LONG_ROWS = 60000, PART_ROWS = 20000, LEAST_PART = 2000 };

/* Squares of a series' power around its mean, a row, from from_s to to_s. */
static double varies(const struct tmx_series *s, double from_s, double to_s)
{
    const size_t begin = tmx_series_at(s, from_s), end = tmx_series_at(s, to_s) + 1;
    double mean = 0, m2 = 0;
    for (size_t k = begin; k < end; k++) {
        const double d = s->q[TMX_Q_POWER][k] - mean;
        mean += d / (double)(k - begin + 1);
        m2 += d * (s->q[TMX_Q_POWER][k] - mean);
    }
    return m2 / (double)(end - begin);
}

/* Begin and end of n rows of a series during which its power varies most, of what it does in all (all_w2
 * [n_series]). together: with the others of its run, the least of them counts, and n doubles until that is
 * enough. */
static void liveliest(const struct tmx_measured *log, const struct tmx_series *of, size_t n, bool together,
                      const double *all_w2, double time_s[2])
{
    const double *t = of->q[TMX_Q_TIME], enough = together ? 0.25 : 0;
    double most = -1;
    for (; most < enough && n < of->n; n *= 2) {
        most = -1;
        for (size_t first = 0; first + n <= of->n; first += n / 4) {
            const double to_s = t[first + n - 1];
            double least = INFINITY;
            for (size_t i = 0; i < log->n_series; i++) {
                const struct tmx_series *s = &log->series[i];
                if (all_w2[i] > 0 && (together ? s->run == of->run : s == of)) {
                    least = fmin(least, varies(s, t[first], to_s) / all_w2[i]);
                }
            }
            if (least > most) {
                most = least;
                time_s[0] = t[first];
                time_s[1] = to_s;
            }
        }
    }
    if (most < enough) {
        time_s[0] = -INFINITY;
        time_s[1] = INFINITY;
    }
}

/* As grow_model, of a long log on the same share of every series, where it is liveliest: a view of its rows
 * with times of its own, from 0. GPUs that may breathe each other's air have one begin and end in a run: what
 * one does the other feels then. The values that it ends with are where the fit to all begins. */
static void grow_on_part(struct work *w)
{
    static const double ROW_US = 25; /* of the whole fit, a row, on one core of 2024 */
    const struct tmx_measured *log = w->log;
    const size_t n_row = rows_of(log);
    const double share = (double)PART_ROWS / (double)n_row;
    const bool together = w->c->model.n_gpu > 1 && !(w->options->air && strcmp(w->options->air, "none") == 0);
    struct tmx_arena *a = &w->c->arena;
    struct tmx_measured part = *log;
    double time_s[2] = {-INFINITY, INFINITY}, *all_w2;
    if (n_row <= LONG_ROWS) {
        grow_model(w);
        return;
    }
    TMX_TAKE(a, part.series, log->n_series + 1);
    TMX_TAKE(a, all_w2, log->n_series + 1);
    for (size_t i = 0; i < part.n_series && !a->failed; i++) {
        all_w2[i] = varies(&log->series[i], -INFINITY, INFINITY);
    }
    for (size_t i = 0; i < part.n_series && !a->failed; i++) {
        const struct tmx_series *from = &log->series[i];
        struct tmx_series *s = &part.series[i];
        *s = *from;
        if (!together || i == 0 || log->series[i - 1].run != from->run) {
            liveliest(log, from, (size_t)fmax(share * (double)from->n, LEAST_PART), together, all_w2, time_s);
        }
        const size_t first = tmx_series_at(from, time_s[0]), n = tmx_series_at(from, time_s[1]) + 1 - first;
        if (n == from->n || n < LEAST_PART / 10 || !TMX_TAKE(a, s->q[TMX_Q_TIME], n)) {
            continue; /* it has few rows then: all of them */
        }
        for (size_t k = 0; k < n; k++) {
            s->q[TMX_Q_TIME][k] = from->q[TMX_Q_TIME][first + k] - time_s[0];
        }
        for (size_t q = TMX_Q_TIME + 1; q < TMX_N_LOG_QUANTITY; q++) {
            s->q[q] = s->q[q] ? s->q[q] + first : NULL;
        }
        s->line = s->line ? s->line + first : NULL;
        s->n = n;
    }
    tmx_arena_check(a, &w->err);
    if (a->failed) {
        return;
    }
    tmx_log_say(w->say, TMX_LOG_INFO,
                "%zu rows: which parts the model has is found on %zu of them, where the power varies most; "
                "its values are fitted to all (about %.0f s)",
                n_row, rows_of(&part), ceil(1e-6 * ROW_US * (double)n_row));
    w->log = w->c->fit.log = &part;
    grow_model(w);
    w->log = w->c->fit.log = log;
}

/* ---- what was found, judged ---- */

/* An offset that the log does not tell stays near 0, as sensors and air of one kind are alike: assumed. */
static void judge_identified(struct work *w)
{
    struct tmx_calibration *c = w->c;
    for (size_t k = 0; k < c->fit.n_parameter; k++) {
        struct tmx_fit_parameter *p = &c->parameter[k];
        const bool number =
            p->kind == TMX_FIT_OFFSET || p->kind == TMX_FIT_AMBIENT || p->kind == TMX_FIT_AIR_RISE;
        p->identified = p->kind == TMX_FIT_OFFSET ? w->offset_identified[p->gpu]
                        : number                  ? p->error < 5
                                                  : is_identified(p);
        const double spread = tmx_fit_spread(p);
        const bool strained = fabs(p->value) > 3 * spread;
        if (!p->identified && p->kind != TMX_FIT_OFFSET) {
            snprintf(p->why, sizeof p->why, "would need %s",
                     p->kind == TMX_FIT_JUNCTION ? "steps of load logged faster than the sink's time constant"
                     : number                    ? "a longer idle part"
                                                 : "a larger step of power, held for three time constants");
        } else if (!p->identified) {
            snprintf(p->why, sizeof p->why,
                     "held near 0 by the assumed spread of sensors (%.2g K)%s; log a longer idle part",
                     spread, strained ? ", and yet far from it" : "");
        }
        if (!p->identified && p->kind == TMX_FIT_OFFSET && strained) {
            tmx_log_say(w->say, TMX_LOG_WARNING,
                        "GPU %s: its air or sensor is %.1f K or more apart from the first GPU's, which this "
                        "log does not "
                        "identify well: its resistances depend on the assumed spread (%.2g K); log a longer "
                        "idle part",
                        c->model.gpu[p->gpu].name, p->value, spread);
        }
    }
}

/* A warning where the interval of the rows, a resistance or a heat capacity is none of a GPU: the log's times
 * or watts are then in another unit. The capacity comes from a time constant over the resistance, so its unit
 * is warned of only beside a resistance that is none to warn of. Of many GPUs the first is named. */
static void warn_of_units(const struct work *w)
{
    const struct tmx_rc *m = &w->c->model;
    struct tmx_err none = {0}; /* these rows of the table have no error */
    bool warned = false;
    (void)!tmx_plausible("log", "step_s", "s", w->step_s, "the log", 0, &none);
    for (size_t g = 0; g < m->n_gpu && !warned; g++) {
        const struct {
            const char *key, *unit;
            double v;
        } of[] = {{"static_k_per_w", "K/W", static_k_per_w(m, g, m->rpm_ref)},
                  {"sink_j_per_k", "J/K", m->gpu[g].sink_j_per_k}};
        char fit[160];
        snprintf(fit, sizeof fit, m->n_gpu > 1 ? "the fit of GPU %.100s" : "the fit", m->gpu[g].name);
        for (size_t k = 0; k < 2 && !warned; k++) {
            warned = tmx_plausible_warns("fit", of[k].key, of[k].unit, of[k].v);
            (void)!tmx_plausible("fit", of[k].key, of[k].unit, of[k].v, fit, 0, &none);
        }
    }
}

/* A warning where the model misses the log: the GPU that warms least like the others may have other units. */
static void warn_of_fit(const struct work *w)
{
    static const double MISSES_K = 5, UNLIKE = 4;
    const struct tmx_rc *m = &w->c->model;
    char other[200] = "", unit[TMX_GUESS_SIZE];
    double *warms, *sorted, most = UNLIKE;
    TMX_TAKE(&w->c->arena, warms, m->n_gpu);
    if (!(w->c->fit.rms_k > MISSES_K) || !TMX_TAKE(&w->c->arena, sorted, m->n_gpu)) {
        return;
    }
    for (size_t g = 0; g < m->n_gpu; g++) {
        const int of = (int)tmx_names_find(m->gpu[g].name, (const char *const *)w->log->gpu, w->log->n_gpu);
        const struct tmx_range p = tmx_measured_range(w->log, TMX_Q_POWER, of),
                               t = tmx_measured_range(w->log, TMX_Q_TEMP, of);
        warms[g] = sorted[g] = (t.high - t.low) / (p.high - p.low);
    }
    qsort(sorted, m->n_gpu, sizeof *sorted, tmx_real_compare);
    for (size_t g = 0; g < m->n_gpu; g++) {
        const double usual = sorted[(m->n_gpu - 1) / 2], unlike = fmax(warms[g] / usual, usual / warms[g]);
        if (unlike > most) {
            most = unlike;
            snprintf(other, sizeof other, ": GPU %.64s warms by %.3g K/W where others do by %.3g%s",
                     m->gpu[g].name, warms[g], usual,
                     tmx_plausible_guess(unit, "fit", "static_k_per_w", "K/W", warms[g]));
        }
    }
    tmx_warn("the fit misses the temperatures by %.1f K; is every power in W and of the GPU beside it?%s",
             w->c->fit.rms_k, other);
}

/* ---- how far the calibration is from what it was not fitted to ---- */

/* Rms of these series, predicted into temp; use NULL: of all rows that are not fitted to. NAN: there are
 * none.
 */
static double missed_k(const struct work *w, const bool *use, double *temp, struct tmx_err *err)
{
    double sum = 0;
    size_t n = 0;
    for (size_t i = 0; i < w->log->n_series && !err->code; i++) {
        const struct tmx_series *s = &w->log->series[i];
        const double *at = use ? temp : w->c->predicted[i];
        double start = NAN;
        if (use && (!use[i] || !tmx_fit_predict(&w->c->fit, i, &start, temp, err))) {
            continue;
        }
        for (size_t k = 0; k < s->n; k++) {
            const double d = at[k] - s->q[TMX_Q_TEMP][k];
            const bool in = (use || tmx_series_share(s, k) > w->c->fit.to) && !isnan(d);
            sum += in ? d * d : 0;
            n += in;
        }
    }
    return n ? sqrt(sum / (double)n) : NAN;
}

/* Each run, predicted by a fit to the others. */
static void judge_runs(struct work *w)
{
    struct tmx_calibration *c = w->c;
    const struct tmx_measured *log = w->log;
    const size_t n_parameter = c->fit.n_parameter, n_row = c->fit.n_row;
    struct state all = {0};
    struct tmx_fit_parameter *keep;
    bool *use;
    double *temp;
    TMX_TAKE(&c->arena, keep, n_parameter + 1);
    TMX_TAKE(&c->arena, use, log->n_series + 1);
    TMX_TAKE(&c->arena, temp, rows_of(log)); /* enough for each series */
    TMX_TAKE(&c->arena, c->leave_one_out, log->n_run + 1);
    save(w, &all);
    if (w->err.code) {
        return;
    }
    memcpy(keep, c->parameter, n_parameter * sizeof *keep);
    c->fit.use = use;
    for (size_t r = 0; r < log->n_run; r++) {
        size_t in = 0, out = 0;
        for (size_t i = 0; i < log->n_series; i++) {
            use[i] = log->series[i].run != r;
            in += use[i];
            out += !use[i];
        }
        if (in == 0 || out == 0) {
            continue;
        }
        struct tmx_err failed = {0}, ignored = {0};
        tmx_log_say(w->say, TMX_LOG_PROGRESS, "fitting without run %zu of %zu", r + 1, log->n_run);
        go_back(w, &all);
        c->fit.n_parameter = 0;
        for (size_t k = 0; k < n_parameter; k++) {
            if (keep[k].kind != TMX_FIT_AMBIENT || keep[k].run != (int)r) {
                c->parameter[c->fit.n_parameter++] = keep[k];
            }
        }
        tmx_fit_run(&c->fit, false, &failed);
        for (size_t i = 0; i < log->n_series; i++) {
            use[i] = log->series[i].run == r;
        }
        if (!c->fit.inlet && w->options->ambient != TMX_AMBIENT_GIVEN) {
            tmx_fit_ambients(&c->fit, &failed);
        }
        c->leave_one_out[c->n_leave_one_out++] =
            (struct tmx_run_error){r, failed.code ? NAN : missed_k(w, use, temp, &ignored)};
    }
    go_back(w, &all);
    memcpy(c->parameter, keep, n_parameter * sizeof *keep);
    c->fit.n_parameter = n_parameter;
    c->fit.n_row = n_row;
    c->fit.use = NULL;
}

/* ---- the whole ---- */

enum tmx_status tmx_calibrate(struct tmx_calibration *c, const struct tmx_measured *log,
                              const struct tmx_calibrate_options *options, const struct tmx_log *say,
                              struct tmx_err *err)
{
    struct work w = {.c = c, .log = log, .options = options, .say = say};
    *c = (struct tmx_calibration){0};
    begin(&w);
    if (!w.err.code) {
        grow_on_part(&w);
    }
    if (!w.err.code && !tmx_leak_slope(&c->leak, log, options->same_work, &w.err)) {
        c->model.leak_per_k = c->leak.identified ? c->leak.per_k : 0;
        if (!c->leak.identified) {
            leave_out(&w, "leak_per_k", c->leak.why);
        }
        list_parameters(&w); /* the last fit: what its errors have in common is kept, too */
        c->fit.covariance = TMX_TAKE(&c->arena, c->covariance, c->fit.n_parameter * c->fit.n_parameter + 1);
        tmx_arena_check(&c->arena, &w.err);
        refit(&w);
        c->fit.covariance = NULL;
    }
    if (!w.err.code) {
        judge_identified(&w);
        warn_of_units(&w);
        warn_of_fit(&w);
        for (size_t g = 0; g < c->model.n_gpu; g++) {
            if (c->model.gpu[g].upstream >= 0 && strlen(c->air) + 140 < sizeof c->air) {
                tmx_text_add(c->air, sizeof c->air, "%s%s>%s", c->air[0] ? "," : "",
                             c->model.gpu[c->model.gpu[g].upstream].name, c->model.gpu[g].name);
            }
        }
        tmx_text_add(c->air, sizeof c->air, "%s", c->air[0] ? "" : "none");
        TMX_TAKE(&c->arena, c->predicted, log->n_series); /* temperatures by the model as it is now */
        for (size_t i = 0; !c->arena.failed && i < log->n_series; i++) {
            double start = NAN;
            if (TMX_TAKE(&c->arena, c->predicted[i], log->series[i].n)) {
                tmx_fit_predict(&c->fit, i, &start, c->predicted[i], &w.err);
            }
        }
        tmx_arena_check(&c->arena, &w.err);
    }
    if (!w.err.code) {
        if (c->fit.to < 1) {
            c->rest_rms_k = missed_k(&w, NULL, NULL, &w.err);
        } else if (options->leave_one_out) {
            judge_runs(&w);
        }
    }
    return tmx_error_give(err, &w.err);
}

void tmx_calibration_finish(struct tmx_calibration *c)
{
    tmx_rc_finish(&c->model);
    tmx_arena_finish(&c->arena);
    *c = (struct tmx_calibration){0};
}

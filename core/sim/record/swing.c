/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "core/sim/record/recorder.h"

#include <gsl/gsl_fft_real.h>
#include <gsl/gsl_math.h>
#include <math.h>
#include <string.h>

enum { OCTAVE_BITS = 6, OCTAVE = 1 << OCTAVE_BITS, SEGMENT = TMX_SWING_SEGMENT };
enum { PIECES = 16, WORTH_SHARING = 64 }; /* groups; assumed */
const double tmx_swing_window_s[TMX_SWING_WINDOWS] = {0.05, 1, 10, 60};
static const double SAMPLE_S = 0.01, LEAST_S = 10 /* a period of 0.1 Hz */, ROUND_OFF = 1e-9;

void tmx_swing_take(struct tmx_swing *s, struct tmx_arena *arena, const struct tmx_machine *m,
                    const struct tmx_power_group *group, size_t n_group, bool boards)
{
    *s = (struct tmx_swing){.machine = m, .group = group, .n = n_group, .boards = boards};
    s->n_board = n_group - (n_group > 0 && strcmp(group[n_group - 1].level, "feed") == 0);
    for (size_t k = 0; k < TMX_SWING_WINDOWS; k++) {
        const double ticks = round(tmx_swing_window_s[k] / m->tick_s);
        s->slot[k] = ceil(ticks / TMX_SWING_SLOTS);
        s->n_slot[k] = ticks > 0 ? (size_t)ceil(ticks / s->slot[k]) : 0;
    }
    s->sample = fmax(1, round(SAMPLE_S / m->tick_s));
    TMX_TAKE(arena, s->n_tick, 1);
    TMX_TAKE(arena, s->series, n_group);
    TMX_TAKE(arena, s->spectrum, n_group > 0 ? 2 : 0);
    TMX_TAKE(arena, s->board_w, n_group > 0 ? TMX_SWING_STEPS * m->n_gpu : 0);
    TMX_TAKE(arena, s->scratch, n_group > 0 ? SEGMENT : 0);
}

static double bin_w(size_t bin)
{
    return ldexp(1 + (double)(bin % OCTAVE) / OCTAVE, (int)(bin / OCTAVE));
}

static struct tmx_swing_ticks ticks_from(const struct tmx_swing *s, double at, double n)
{
    struct tmx_swing_ticks t = {.at = at, .n = n};
    for (size_t k = 0; k < TMX_SWING_WINDOWS; k++) {
        t.place[k] = floor(at / s->slot[k]);
        t.last[k] = floor((at + n) / s->slot[k]);
        t.ring[k] = s->n_slot[k] > 0 ? (size_t)t.place[k] % s->n_slot[k] : 0;
    }
    return t;
}

/* The first of the ticks makes the ramp; the others only fill slots. */
static void add_to_window(struct tmx_swing_series *series, size_t k, double slot, size_t n_slot, double w,
                          const struct tmx_swing_ticks *t)
{
    struct tmx_swing_window *v = &series->window[k];
    const double now[2] = {w, -w};
    double place = t->place[k];
    for (size_t e = 0; e < 2; e++) {
        v->least[e] = t->at == place * slot || now[e] < v->least[e] ? now[e] : v->least[e];
        const double from = t->at >= slot && v->past[e] < v->least[e] ? v->past[e] : v->least[e],
                     ramp_w = now[e] - from;
        if (ramp_w > v->ramp_w[e]) { /* of ramps that are alike but for round-off the first has the time */
            v->ramp_at[e] = ramp_w > v->ramp_w[e] * (1 + ROUND_OFF) ? t->at : v->ramp_at[e];
            v->ramp_w[e] = ramp_w;
        }
    }
    /* A slot is full and takes place i of the ring, whose left part are slots, since place 0, and whose right
     * part are the least of those before them and all to their right: so what leaves the window costs no
     * search. */
    while (place < t->last[k]) {
        double(*ring)[2] = series->slot[k];
        const size_t i = place == t->place[k] ? t->ring[k] : (size_t)place % n_slot;
        const bool whole = place >= (double)n_slot && i + 1 < n_slot;
        for (size_t e = 0; e < 2; e++) {
            v->since[e] = i > 0 && v->since[e] < v->least[e] ? v->since[e] : v->least[e];
            ring[i][e] = v->least[e];
            v->past[e] = whole && ring[i + 1][e] < v->since[e] ? ring[i + 1][e] : v->since[e];
        }
        for (size_t n = i; i + 1 == n_slot && n-- > 0;) {
            for (size_t e = 0; e < 2; e++) {
                ring[n][e] = ring[n + 1][e] < ring[n][e] ? ring[n + 1][e] : ring[n][e];
            }
        }
        v->least[0] = now[0];
        v->least[1] = now[1];
        place = fmax(place + 1, t->last[k] - 1 - (double)n_slot); /* what is before has left the window */
    }
}

static void add(const struct tmx_swing *s, struct tmx_swing_series *v, double w,
                const struct tmx_swing_ticks *t)
{
    v->low_w = t->at > 0 && v->low_w < w ? v->low_w : w;
    v->high_w = t->at > 0 && v->high_w > w ? v->high_w : w;
    uint64_t bits; /* by exponent (1023: of 1 W) and the first OCTAVE_BITS of the 52 bits of the mantissa */
    memcpy(&bits, &w, sizeof bits);
    const uint64_t bin = w >= 1 ? (bits >> (52 - OCTAVE_BITS)) - (1023 * OCTAVE) : 0;
    v->bin[bin < TMX_SWING_BINS ? bin : TMX_SWING_BINS - 1] += t->n;
    for (size_t k = 0; k < TMX_SWING_WINDOWS; k++) {
        if (s->n_slot[k] > 0) {
            add_to_window(v, k, s->slot[k], s->n_slot[k], w, t);
        }
    }
}

/* The power of n means, without their mean, under Hann's window, added to psd; zeros behind them. */
static void transform(const double *mean_w, size_t n, double *scratch, double *psd)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++) {
        sum += mean_w[i];
    }
    for (size_t i = 0; i < SEGMENT; i++) {
        scratch[i] =
            i < n ? (mean_w[i] - sum / (double)n) * (1 - cos(2 * M_PI * ((double)i + 0.5) / (double)n)) : 0;
    }
    gsl_fft_real_radix2_transform(scratch, 1, SEGMENT);
    for (size_t k = 1; k < SEGMENT / 2; k++) {
        psd[k] += scratch[k] * scratch[k] + scratch[SEGMENT - k] * scratch[SEGMENT - k];
    }
    psd[SEGMENT / 2] += scratch[SEGMENT / 2] * scratch[SEGMENT / 2] / 2; /* it is there once */
}

static void sample(struct tmx_swing *s, struct tmx_spectrum *v, double w, double n_tick)
{
    while (n_tick > 0) {
        const double part = fmin(n_tick, s->sample - v->part);
        v->part_w += part * w;
        v->part += part;
        n_tick -= part;
        if (v->part < s->sample) {
            return;
        }
        size_t n = (size_t)v->n_mean;
        v->mean_w[n++] = v->part_w / s->sample;
        v->part = v->part_w = 0;
        if (n == SEGMENT) {
            transform(v->mean_w, n, s->scratch, v->psd);
            v->n_segment += 1;
            n = SEGMENT / 2;
            memmove(v->mean_w, v->mean_w + n, n * sizeof *v->mean_w);
        }
        v->n_mean = (double)n;
    }
}

size_t tmx_swing_feed(const struct tmx_swing *s)
{
    return s->n_board < s->n ? s->n_board : SIZE_MAX;
}

/* A feed of boards alone sees what the first group draws. */
static bool alike(const struct tmx_swing *s)
{
    return s->n_board < s->n && tmx_feed_is_boards(s->feed);
}

const struct tmx_swing_series *tmx_swing_of(const struct tmx_swing *s, size_t group)
{
    return &s->series[group == s->n_board && alike(s) ? 0 : group];
}

struct steps { /* what a piece of a pool's work sees */
    struct tmx_swing *swing;
    size_t n, n_piece; /* steps; pieces that the work is cut in */
    const double *now_w;
};

static void to_boards(void *ctx, size_t piece)
{
    const struct steps *t = ctx;
    const struct tmx_swing *s = t->swing;
    const size_t n_gpu = s->machine->n_gpu, end = (piece + 1) * n_gpu / t->n_piece;
    for (size_t g = piece * n_gpu / t->n_piece; g < end; g++) {
        for (size_t k = 0; k < t->n; k++) {
            const double w = t->now_w[k * n_gpu + g];
            s->board_w[(s->n_kept + k) * n_gpu + g] =
                s->boards ? w : tmx_chip_board_w(s->machine->gpu[g].chip, w);
        }
    }
}

/* A group takes all steps while it is in the core's cache. */
static void add_groups(void *ctx, size_t piece)
{
    const struct steps *t = ctx;
    struct tmx_swing *s = t->swing;
    const size_t end = (piece + 1) * s->n_board / t->n_piece;
    for (size_t i = piece * s->n_board / t->n_piece; i < end; i++) {
        for (size_t k = 0; k < TMX_SWING_WINDOWS && i + 1 < end; k++) { /* the next one, from memory */
            __builtin_prefetch(&s->series[i + 1].window[k], 1);
            __builtin_prefetch(&s->series[i + 1].slot[k][s->kept[0].ring[k]], 1);
        }
        for (size_t k = 0; k < t->n; k++) {
            double w = 0;
            for (size_t g = s->group[i].gpus.first; g < s->group[i].gpus.end; g++) {
                w += s->board_w[k * s->machine->n_gpu + g];
            }
            add(s, &s->series[i], w, &s->kept[k]);
            if (i == 0) {
                sample(s, &s->spectrum[0], w, s->kept[k].n);
            }
        }
    }
}

/* The pool, where there are groups enough for it. */
static struct tmx_thread_pool *shared(const struct tmx_swing *s, struct tmx_thread_pool *pool)
{
    return s->n_board < WORTH_SHARING ? NULL : pool;
}

void tmx_swing_settle(struct tmx_swing *s, struct tmx_thread_pool *pool)
{
    struct tmx_thread_pool *const p = shared(s, pool);
    struct steps t = {.swing = s, .n = s->n_kept, .n_piece = p ? PIECES : 1};
    if (s->n_kept > 0) {
        tmx_thread_pool_run(p, t.n_piece, add_groups, &t);
    }
    s->n_kept = 0;
}

void tmx_swing_steps(struct tmx_swing *s, size_t n, const double *now_w, double n_tick,
                     struct tmx_thread_pool *pool)
{
    struct tmx_thread_pool *const p = shared(s, pool);
    struct steps t = {.swing = s, .n = n, .n_piece = p ? PIECES : 1, .now_w = now_w};
    if (s->n == 0) {
        *s->n_tick += (double)n * n_tick;
        return;
    }
    if (s->n_kept + n > TMX_SWING_STEPS) {
        tmx_swing_settle(s, pool);
    }
    tmx_thread_pool_run(p, t.n_piece, to_boards, &t);
    for (size_t k = 0; k < n; k++) {
        const double *board_w = s->board_w + s->n_kept * s->machine->n_gpu;
        const bool feed = s->n_board < s->n, stores = feed && s->feed->store.joules > 0;
        const double each = stores ? 1 : n_tick; /* a store changes what the feed sees from tick to tick */
        const struct tmx_swing_ticks all = s->kept[s->n_kept++] = ticks_from(s, *s->n_tick, n_tick);
        *s->n_tick += n_tick;
        for (double at = 0; at < n_tick && feed; at += each) {
            const double w = tmx_feed_tick(s->feed, board_w, each);
            if (!alike(s)) {
                const struct tmx_swing_ticks now = each < n_tick ? ticks_from(s, all.at + at, each) : all;
                add(s, &s->series[s->n_board], w, &now);
                sample(s, &s->spectrum[1], w, each);
            }
        }
    }
}

double tmx_swing_quantile_w(const struct tmx_swing *s, size_t group, double share)
{
    if (group >= s->n || *s->n_tick == 0) {
        return NAN;
    }
    const struct tmx_swing_series *v = tmx_swing_of(s, group);
    double left = share * *s->n_tick;
    size_t i = 0;
    while (i + 1 < TMX_SWING_BINS && v->bin[i] < left) {
        left -= v->bin[i++];
    }
    const double low_w = i > 0 ? bin_w(i) : 0, part = v->bin[i] > 0 ? left / v->bin[i] : 0;
    return fmin(fmax(low_w + part * (bin_w(i + 1) - low_w), v->low_w), v->high_w);
}

double tmx_swing_range_w(const struct tmx_swing *s, size_t group)
{
    return *s->n_tick > 0 && group < s->n ? tmx_swing_of(s, group)->high_w - tmx_swing_of(s, group)->low_w
                                          : NAN;
}

double tmx_swing_ramp_w(const struct tmx_swing *s, size_t group, size_t k, bool fall)
{
    const bool there =
        group < s->n && s->n_slot[k] > 0 && *s->n_tick >= round(tmx_swing_window_s[k] / s->machine->tick_s);
    return there ? tmx_swing_of(s, group)->window[k].ramp_w[fall] : NAN;
}

double tmx_swing_spectrum(const struct tmx_swing *s, bool feed, double *psd, double *unit)
{
    double scratch[SEGMENT];
    if (s->n == 0 || (feed && tmx_swing_feed(s) == SIZE_MAX) || *s->n_tick * s->machine->tick_s < LEAST_S) {
        return NAN;
    }
    const struct tmx_spectrum *v = &s->spectrum[feed && !alike(s)];
    const bool whole = v->n_segment > 0;
    memcpy(psd, v->psd, sizeof v->psd);
    if (!whole) { /* shorter than a segment */
        transform(v->mean_w, (size_t)v->n_mean, scratch, psd);
    }
    /* 1.5: mean square of the window */
    *unit = 2 / (1.5 * (whole ? SEGMENT * v->n_segment : v->n_mean) * SEGMENT);
    return 1 / (SEGMENT * s->sample * s->machine->tick_s);
}

double tmx_swing_band_w2(const struct tmx_swing *s, bool feed, double low_hz, double high_hz, double *share)
{
    const double sample_s = s->sample * s->machine->tick_s;
    double psd[SEGMENT / 2 + 1] = {0}, in = 0, all = 0, unit = 0;
    const double bin_hz = tmx_swing_spectrum(s, feed, psd, &unit);
    for (size_t k = 1; k <= SEGMENT / 2; k++) {
        const double hz = (double)k / (SEGMENT * sample_s);
        in += hz >= low_hz && hz <= high_hz ? psd[k] : 0;
        all += psd[k];
    }
    const bool there = isfinite(bin_hz) && 2 * high_hz * sample_s <= 1; /* ticks are short enough */
    if (share) {
        *share = there && all > 0 ? in / all : NAN;
    }
    return there ? unit * in : NAN;
}

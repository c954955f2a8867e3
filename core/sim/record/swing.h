/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TMX_CORE_SIM_RECORD_SWING_H
#define TMX_CORE_SIM_RECORD_SWING_H

/* How power swings: of groups of GPUs, and of what feeds see, the extremes, percentiles and largest ramps; of
 * the first group and the feed the spectrum.
 * A tick adds to arrays of fixed size; what they keep bounds the error:
 *
 *   lowest, highest   exact
 *   percentiles       a histogram of 64 bins an octave from 1 W on: within 1.6 % of the value
 *   ramps             per window the extremes of at most 50 slots and of the slot that fills: the largest
 *                     difference of two ticks that are no further apart than the window; pairs up to a slot
 *                     further apart may count, too (2 % of the window; none where a slot is a tick)
 *   spectrum          Welch's: means over 10 ms, segments of 2048 of them (20.48 s) that overlap by
 *                     half under Hann's window: resolution 0.1 Hz; what is faster than 50 Hz is averaged
 *                     out */

#include "base/arena.h"
#include "base/err.h"
#include "base/thread_pool.h"
#include "core/machine/machine.h"
#include "core/sim/record/feed.h"

enum {
    TMX_SWING_WINDOWS = 4,
    TMX_SWING_SLOTS = 50, /* and the one that fills */
    TMX_SWING_BINS = 64 * 28,
    TMX_SWING_SEGMENT = 2048,
    TMX_SWING_STEPS = 16 /* that are added at once */
};
extern const double tmx_swing_window_s[TMX_SWING_WINDOWS];

struct tmx_power_group { /* GPUs whose watts are looked at together */
    const char *level;   /* hall, rack, node, gpu; feed: what all feeds see */
    size_t name_length;  /* of the first GPU's name; 0: its number */
    struct tmx_gpus gpus;
};

/* The extremes of slots, each better than all after it; the first is that of all. */
struct tmx_swing_past {
    size_t first, n; /* in a ring as long as the window */
    struct {
        double place, w;
    } slot[TMX_SWING_SLOTS];
};

struct tmx_swing_window {
    double low_w, high_w;                    /* of the slot that fills */
    double past_low_w, past_high_w;          /* of those before it */
    double rise_w, fall_w, rise_at, fall_at; /* ticks, of the first one after it */
};

struct tmx_swing_series {
    double low_w, high_w;
    struct tmx_swing_window window[TMX_SWING_WINDOWS];
    struct tmx_swing_past low[TMX_SWING_WINDOWS], high[TMX_SWING_WINDOWS];
    double bin[TMX_SWING_BINS]; /* ticks */
};

struct tmx_spectrum {
    double n_mean, n_segment, part, part_w; /* part: ticks in the next mean, and their sum */
    double mean_w[TMX_SWING_SEGMENT];
    double psd[TMX_SWING_SEGMENT / 2 + 1]; /* of all segments */
};

struct tmx_swing {
    const struct tmx_machine *machine;
    const struct tmx_power_group *group; /* [n] not owned; the first is all GPUs, the last may be the feed */
    struct tmx_feed *feed;               /* not owned; of the last group, where it is the feed */
    size_t n, n_board;                   /* groups, and those of boards */
    bool boards;                         /* watts are the boards' already */
    double slot[TMX_SWING_WINDOWS];      /* ticks of a slot, and slots of a window; 0: shorter than a tick */
    size_t n_slot[TMX_SWING_WINDOWS];    /* before the one that fills */
    double sample;                       /* ticks of a sample of the spectrum */
    double *n_tick;                      /* [1] */
    struct tmx_swing_series *series;     /* [n] */
    struct tmx_spectrum *spectrum;       /* [2] of the first group, and of the feed */
    double *board_w, *scratch;           /* [STEPS][n_gpu]; [SEGMENT] */
};

/* n_group 0: nothing is kept. boards: tmx_swing_steps gets boards' watts, else chips'. */
void tmx_swing_take(struct tmx_swing *s, struct tmx_arena *arena, const struct tmx_machine *m,
                    const struct tmx_power_group *group, size_t n_group, bool boards);
/* n steps, STEPS at most, of watts now_w [n][n_gpu] for n_tick ticks each; a pool (NULL: none) shares the
 * groups: a group's sums have one order. */
void tmx_swing_steps(struct tmx_swing *s, size_t n, const double *now_w, double n_tick,
                     struct tmx_thread_pool *pool);

/* NAN: no power, or a run shorter than the window (of the band: than 10 s). */
double tmx_swing_quantile_w(const struct tmx_swing *s, size_t group, double share);
double tmx_swing_range_w(const struct tmx_swing *s, size_t group);
double tmx_swing_rise_w(const struct tmx_swing *s, size_t group, size_t window);
double tmx_swing_fall_w(const struct tmx_swing *s, size_t group, size_t window);
/* What is kept of a group, whose number is less than n. */
const struct tmx_swing_series *tmx_swing_of(const struct tmx_swing *s, size_t group);
/* The group of the feed, which has none where there is no such group: SIZE_MAX. */
size_t tmx_swing_feed(const struct tmx_swing *s);
/* Mean square [W2] of all GPUs' power, or the feed's, without its mean, from low_hz to high_hz; *share
 * (may be NULL): of what it is at all frequencies. */
double tmx_swing_band_w2(const struct tmx_swing *s, bool feed, double low_hz, double high_hz, double *share);
/* Into psd [SEGMENT / 2 + 1] the mean square [W2] in each bin k >= 1 at k times the Hz that are returned;
 * NAN: shorter than 10 s. */
double tmx_swing_spectrum(const struct tmx_swing *s, bool feed, double *psd);

#endif

/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TMX_SCHED_MIX_AHEAD_H
#define TMX_SCHED_MIX_AHEAD_H

/* What mix policies that look ahead have in common: who joins, where the hot kernel runs, what that draws. */

#include <stddef.h>

#include <thermix/policy.h>

#include "core/contract/forecast.h"

struct tmx_ahead {
    double power_scale; /* kernels' powers as believed, relative to the stat table */
    double place_gain;  /* of the placement [W/K] */
    int window;         /* fairness window of arrivals */
    bool place;         /* else both kernels on every SM alike */
};

/* What the sensors of the SMs would read: sm_k [n_sm] of unit_k [n_unit]. */
void tmx_ahead_sms(const struct tmx_chip *c, const double *unit_k, double *sm_k);
/* Leakage under n <= 2 kernels, relative to the chip's; share: of the first of two. */
double tmx_ahead_leak(const struct tmx_outlook *look, size_t n, const size_t *job, double share);
/* Leakage and dynamic power at a clock level, relative to the nominal one. */
double tmx_ahead_volt(const struct tmx_chip *c, size_t level);
/* waits: of the work's watts, the share whose time does not follow the clock. */
double tmx_ahead_power(const struct tmx_chip *c, size_t level, double waits);

/* One round towards the steady state of work times dyn_w: temperatures unit_k become those that they lead to
 * by what leaks at them, leak times the nominal; the hottest of sm_k. The arrays are as below. */
double tmx_ahead_settle(const struct tmx_outlook *look, double work, const double *dyn_w, double leak,
                        double *power_w, double *unit_k, double *sm_k);

/* The temperature beyond which more heat is leaked than shed: hottest SM under the most watts that have a
 * steady state; the limit where that comes first. power_w, unit_k [unit_row] and sm_k [n_sm] are work. */
double tmx_ahead_hold_k(const struct tmx_outlook *look, double limit_k, double volt, double leak_scale,
                        double *power_w, double *unit_k, double *sm_k);

/* A waiting kernel of another power density joins, half the GPU each. */
void tmx_ahead_mix(const struct tmx_ahead *o, const struct tmx_view *view, size_t gpu,
                   struct tmx_gpu_request *r);
/* Who runs in the coming tick, where, and what it draws at the nominal level. sm_k [n_sm] temperatures; g
 * [n_sm] integrator of the placement; x [n_sm] receives the share of the hotter kernel, dyn_w [n_unit] watts.
 * Returns the share of these watts whose time does not follow the clock; leak as above. */
double tmx_ahead_work(const struct tmx_ahead *o, const struct tmx_view *view, size_t gpu,
                      const struct tmx_gpu_request *r, const double *sm_k, double *g, double *x,
                      double *dyn_w, double *leak);
/* The slot of that name; the policy's memory begins with x of all SMs of the node. */
void tmx_ahead_spread(const void *state, const struct tmx_spread *s, double *share0);

/* A GPU's thermal model beside the machine: its modes follow what is thought to be drawn, scheduling tick by
 * scheduling tick, and say where the coming one leads. Everything is linear in the work's watts, in leakage's
 * and in a constant, so products with matrices are made once a tick, for the watts at the nominal level; a
 * level, a factor on the work, a faster part at the end are weights on what came out. What the end of a tick
 * was predicted to be is read back when it has come. All arrays are doubles of a policy's memory. */

enum {                        /* the last tick, as decided */
       TMX_FOLLOW_FACTOR,     /* on its work's watts */
       TMX_FOLLOW_LEVEL,      /* clock level */
       TMX_FOLLOW_LATE_LEVEL, /* of its last parts */
       TMX_FOLLOW_LATE_PARTS, /* how many */
       TMX_FOLLOW_WAITS,      /* share of its work's watts whose time does not follow the clock */
       TMX_FOLLOW_N_SCALAR
};

struct tmx_follow {
    size_t n_mode;            /* that are followed: only the lasting ones unless readings are late */
    double *tick;             /* [TMX_FOLLOW_N_SCALAR] */
    double *z;                /* [mode_row] */
    double *later;            /* [mode_row] work; while the last tick is followed, modes by its work alone */
    double *idle_z, *drive_z; /* [mode_row] drive by what is drawn without work; work */
    double *dyn_z, *leak_z;   /* [mode_row] drive by dyn_w and leak_w */
    double *dyn_w, *leak_w;   /* [unit_row] of the tick, at the nominal level */
    double *power_w, *work_w; /* [unit_row] work: all that is drawn, by work alone */
    double *idle_k;           /* [unit_row] rise in a tick by what is drawn without work */
    double *end_k;            /* [unit_row] above ambient at the end of the tick, without work and leakage */
    double *end_dyn_k, *end_leak_k;   /* [unit_row] rise until then by dyn_w, by leak_w */
    double *late_dyn_k, *late_leak_k; /* [unit_row] the same by the last parts */
    double *try_dyn_k, *try_leak_k;   /* [unit_row] work: by other parts */
    double *unit_k, *work_k; /* [unit_row] what was read: above ambient; of this by the tick's work */
};

/* n_array arrays of this length into the doubles at + n; at NULL: only counted. Returns n after them. */
size_t tmx_ahead_lay_out(double *at, size_t n, size_t length, size_t n_array, double **const *array);
/* Doubles that it needs of `at`, where its arrays begin; at NULL: only counted. */
size_t tmx_follow_lay_out(const struct tmx_outlook *look, double *at, struct tmx_follow *m);
/* Before the first tick, in zeroed memory. */
void tmx_follow_start(const struct tmx_outlook *look, struct tmx_follow *m);
/* z and later go on through parts `from` to `to` of the last tick. Returns the level they end with. */
size_t tmx_follow_go(const struct tmx_outlook *look, struct tmx_follow *m, size_t from, size_t to);
/* unit_k and work_k in the middle of the last tick, where `level` was in force; worked 0: its work had not
 * begun. */
void tmx_follow_read(const struct tmx_outlook *look, struct tmx_follow *m, size_t level, double worked);
/* The same at its end, as it was predicted. */
void tmx_follow_read_end(const struct tmx_outlook *look, struct tmx_follow *m);
/* The end of the coming tick, from z, dyn_w and leak_w: end_k, end_dyn_k, end_leak_k. */
void tmx_follow_predict(const struct tmx_outlook *look, struct tmx_follow *m);
/* try_dyn_k and try_leak_k: what dyn_w and leak_w warm in so many parts; keep: so the tick will end. */
void tmx_follow_try(const struct tmx_outlook *look, struct tmx_follow *m, size_t parts);
void tmx_follow_keep(const struct tmx_outlook *look, struct tmx_follow *m);
/* The coming tick's work rests for a part of the time. */
void tmx_follow_rest(const struct tmx_outlook *look, struct tmx_follow *m, double duty);

#endif

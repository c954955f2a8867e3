/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TMX_SCHED_MIX_FOLLOW_H
#define TMX_SCHED_MIX_FOLLOW_H

/* A GPU's thermal model beside the machine: its modes follow what is thought to be drawn, scheduling tick by
 * scheduling tick, and say where the coming one leads. Everything is linear in the work's watts, in leakage's
 * and in a constant, so products with matrices are made once a tick, for the watts at the nominal level; a
 * level, a factor on the work, a faster part at the end are weights on what came out. What the end of a tick
 * was predicted to be is read back when it has come. All arrays are doubles of a policy's memory. */

#include <thermix/policy.h>

#include "core/contract/forecast.h"

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

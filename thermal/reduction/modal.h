/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TMX_THERMAL_REDUCTION_MODAL_H
#define TMX_THERMAL_REDUCTION_MODAL_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/err.h"

/* A network in modal form, and its exact step:
 *   z' = -rate z + in p,   y = out z + direct p   (y: unit temperatures above ambient)
 *
 * Where coolant flows, modes come in pairs that turn into one another: two neighbours 2j and 2j + 1 are one
 * complex number z_2j + i z_2j+1 that decays with rate - i frequency. Then frequency is there, -w and w of a
 * pair, 0 of a mode alone. */

enum { TMX_MODAL_PAD = 8 }; /* rows are padded with zeros to a multiple of this */

/* A sum of n products in single precision is made in so many chains (modal_mixed_kernel.c). */
enum { TMX_MODAL_CHAINS = 4 };
static inline size_t tmx_modal_chains(size_t n)
{
    return n < 64 ? 1 : TMX_MODAL_CHAINS;
}

struct tmx_modal_call; /* below */

struct tmx_modal {
    size_t n_mode, n_unit;
    size_t mode_row, unit_row; /* padded lengths */
    double *rate;              /* [mode_row, 1/s]; padding is 1 */
    double *frequency;         /* [mode_row, 1/s] of pairs; NULL: no mode turns */
    double *in;                /* [n_unit][mode_row] */
    double *out;               /* [n_mode][unit_row] */
    double *direct;            /* [n_unit][unit_row]; NULL: none */
    /* rows over the modes, [mode_row] each */
    double *stored; /* [J] heat above ambient */
    double *leave;  /* [W] heat to ambient */
    double *one;    /* state of the uniform field of 1 K */
    double *start;  /* state at the start */
    /* for the heat that leaves during a step, see tmx_modal_close */
    double *rest;  /* [mode_row, J] leave / rate */
    double *drain; /* [unit_row] share of each unit's heat that leaves in the end */
    /* in mixed precision, else NULL: the two projections in single */
    float *in_single;                              /* [n_unit][mode_row] in */
    float *out_single;                             /* [n_mode (+ n_unit)][unit_row] out, direct below it */
    void (*mixed)(const struct tmx_modal_call *);  /* the step on this processor */
    void (*kernel)(const struct tmx_modal_call *); /* in double, on this processor */
    struct tmx_arena arena;                        /* of all arrays */
};

/* Allocate the arrays, zeroed but for rate's padding; a model with a frequency takes no steps in mixed
 * precision. Returns TMX_OK or TMX_ENOMEM; end with tmx_modal_finish in both cases. */
void tmx_modal_init(struct tmx_modal *m, size_t n_mode, size_t n_unit, bool direct, bool frequency,
                    struct tmx_err *err);
void tmx_modal_finish(struct tmx_modal *m); /* accepts zeroed memory */

/* Put the modes of more beside those of m: its z goes on by itself and adds to the temperatures. Both
 * have the same units; more has no direct term. Returns TMX_OK or TMX_ENOMEM (m unchanged). */
void tmx_modal_join(struct tmx_modal *m, const struct tmx_modal *more, struct tmx_err *err);

/* Fill rest and drain from the others. Heat to ambient over a step under power p is
 *   drain . p dt - rest . (z at the end - z at the beginning).
 * All heat that is stored leaves, so rest equals stored, and drain is 1. Modes that turn may be nearly
 * parallel, and sums over them lose digits: for these both are set to that. */
void tmx_modal_close(struct tmx_modal *m);

/* Turn the steps of a finished model to mixed precision: both products in single, the modes' state and decay
 * in double. All that is no step (read, settle, sum) stays in double. Returns TMX_OK or TMX_ENOMEM. */
void tmx_modal_mix(struct tmx_modal *m, struct tmx_err *err);

/* Bounds on what single precision does to steps of a mixed model while unit u's power is at most power_w[u]
 * and z began at start or at rest: state [mode_row] of z, theta_k [unit_row, K] of the temperatures that a
 * step writes. Derived from the number of roundings that each term goes through, so they hold for any order
 * of powers and any dt. 0 without tmx_modal_mix. */
void tmx_modal_rounding(const struct tmx_modal *m, const double *power_w, double *state, double *theta_k);

/* Floats of work that a step of a mixed model needs for an instance; 0 otherwise. */
size_t tmx_modal_work(const struct tmx_modal *m);

/* Length of each of the two tables of a step: mode_row, or twice that with a frequency, whose second half is
 * what a mode gets from its neighbour. */
size_t tmx_modal_table(const struct tmx_modal *m);

/* decay = exp(-rate dt), gain = (1 - decay) / rate, both [tmx_modal_table]. */
void tmx_modal_tabulate(const struct tmx_modal *m, double dt_s, double *decay, double *gain);

/* theta_k [unit_row] += the sum over modes of what falls between z and next, so that temperatures at the end
 * become a bound on those since the beginning under constant power: each mode goes one way. */
void tmx_modal_add_falls(const struct tmx_modal *m, const double *z, double *next, double *theta_k);

/* next = decay z + gain (in power_w); theta_k = out next + direct power_w, [unit_row, K].
 * next may be z; work is [tmx_modal_work]. No allocation; every sum is made in a fixed order, the same bits
 * on every processor. */
void tmx_modal_step(const struct tmx_modal *m, const double *decay, const double *gain, const double *power_w,
                    const double *z, double *next, double *theta_k, float *work);

/* The same for n instances, each with its own power_w, z (overwritten) and theta_k: the bits of n single
 * steps, at less than half the time, because a row of the matrices is loaded once for several instances. */
void tmx_modal_step_many(const struct tmx_modal *m, const double *decay, const double *gain, size_t n,
                         const double *const *power_w, double *const *z, double *const *theta_k,
                         float *const *work);

/* theta_k = out z + direct power_w. */
void tmx_modal_read(const struct tmx_modal *m, const double *power_w, const double *z, double *theta_k);

/* z = in power_w / rate, the equilibrium. */
void tmx_modal_settle(const struct tmx_modal *m, const double *power_w, double *z);

/* z := z / rate, or / (rate - i frequency). */
void tmx_modal_divide(const struct tmx_modal *m, double *z);

/* row . z over the modes. */
double tmx_modal_sum(const struct tmx_modal *m, const double *row, const double *z);

/* The step for several instances at once, compiled for each kind of processor. All give the same
 * bits. */

struct tmx_modal_call {
    const struct tmx_modal *m;
    const double *decay, *gain; /* [tmx_modal_table]; decay NULL: only theta_k is computed, from next, or with
                                   z the falls of the first are added */
    size_t n;                   /* instances */
    const double *const *power_w; /* [n][n_unit, W] */
    const double *const *z;       /* [n][mode_row] */
    double *const *next;          /* [n][mode_row] written; may be z */
    double *const *theta_k;       /* [n][unit_row, K] written */
    float *const *work;           /* [n][tmx_modal_work] of a mixed step */
};

void tmx_modal_kernel_any(const struct tmx_modal_call *c);
void tmx_modal_kernel_v3(const struct tmx_modal_call *c); /* x86-64-v3: AVX2 and FMA */
void tmx_modal_kernel_v4(const struct tmx_modal_call *c); /* x86-64-v4: AVX-512F */
void tmx_modal_mixed_kernel_any(const struct tmx_modal_call *c);
void tmx_modal_mixed_kernel_v3(const struct tmx_modal_call *c);
void tmx_modal_mixed_kernel_v4(const struct tmx_modal_call *c);

#endif

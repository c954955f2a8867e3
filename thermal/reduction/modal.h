/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TMX_THERMAL_REDUCTION_MODAL_H
#define TMX_THERMAL_REDUCTION_MODAL_H

#include <stdbool.h>
#include <stddef.h>

#include "core/base/err.h"

/* A network in modal form, and its exact step:
 *   z' = -rate z + in p,   y = out z + direct p   (y: unit temperatures above ambient) */

enum { TMX_MODAL_PAD = 8 }; /* rows are padded with zeros to a multiple of this */

struct tmx_modal_call; /* below */

struct tmx_modal {
    size_t n_mode, n_unit;
    size_t mode_row, unit_row; /* padded lengths */
    double *rate;              /* [mode_row, 1/s] owned; padding is 1 */
    double *in;                /* [n_unit][mode_row] owned */
    double *out;               /* [n_mode][unit_row] owned */
    double *direct;            /* [n_unit][unit_row] owned; NULL: none */
    /* rows over the modes, [mode_row] each, owned */
    double *stored; /* [J] heat above ambient */
    double *leave;  /* [W] heat to ambient */
    double *one;    /* state of the uniform field of 1 K */
    double *start;  /* state at the start */
    /* for the heat that leaves during a step, see tmx_modal_close */
    double *rest;  /* [mode_row, J] leave / rate */
    double *drain; /* [unit_row] share of each unit's heat that leaves in the end */
    void (*kernel)(const struct tmx_modal_call *); /* for this processor */
};

/* Allocate the arrays, zeroed but for rate's padding. Returns TMX_OK or TMX_ENOMEM; end
 * with tmx_modal_finish in both cases. */
TMX_NODISCARD enum tmx_status tmx_modal_init(struct tmx_modal *m, size_t n_mode, size_t n_unit, bool direct,
                                             struct tmx_err *err);
void tmx_modal_finish(struct tmx_modal *m); /* accepts zeroed memory */

/* Put the modes of more beside those of m: its z goes on by itself and adds to the temperatures. Both
 * have the same units; more has no direct term. Returns TMX_OK or TMX_ENOMEM (m unchanged). */
TMX_NODISCARD enum tmx_status tmx_modal_join(struct tmx_modal *m, const struct tmx_modal *more,
                                             struct tmx_err *err);

/* Fill rest and drain from the others. Heat to ambient over a step under power p is
 *   drain . p dt - rest . (z at the end - z at the beginning). */
void tmx_modal_close(struct tmx_modal *m);

/* decay = exp(-rate dt), gain = (1 - decay) / rate, both [mode_row]. */
void tmx_modal_tabulate(const struct tmx_modal *m, double dt_s, double *decay, double *gain);

/* next = decay z + gain (in power_w); theta_k = out next + direct power_w, [unit_row, K].
 * next may be z. No allocation; every sum is one chain of fused multiply-adds in a fixed order, the same bits
 * on every processor. */
void tmx_modal_step(const struct tmx_modal *m, const double *decay, const double *gain, const double *power_w,
                    const double *z, double *next, double *theta_k);

/* The same for n instances, each with its own power_w, z (overwritten) and theta_k: the bits of n single
 * steps, at less than half the time, because a row of the matrices is loaded once for several instances. */
void tmx_modal_step_many(const struct tmx_modal *m, const double *decay, const double *gain, size_t n,
                         const double *const *power_w, double *const *z, double *const *theta_k);

/* theta_k = out z + direct power_w. */
void tmx_modal_read(const struct tmx_modal *m, const double *power_w, const double *z, double *theta_k);

/* z = in power_w / rate, the equilibrium. */
void tmx_modal_settle(const struct tmx_modal *m, const double *power_w, double *z);

/* row . z over the modes. */
double tmx_modal_sum(const struct tmx_modal *m, const double *row, const double *z);

/* The step for several instances at once, compiled for each kind of processor. All give the same
 * bits. */

struct tmx_modal_call {
    const struct tmx_modal *m;
    const double *decay, *gain;   /* [mode_row]; decay NULL: only theta_k is computed, from next */
    size_t n;                     /* instances */
    const double *const *power_w; /* [n][n_unit, W] */
    const double *const *z;       /* [n][mode_row] */
    double *const *next;          /* [n][mode_row] written; may be z */
    double *const *theta_k;       /* [n][unit_row, K] written */
};

void tmx_modal_kernel_any(const struct tmx_modal_call *c);
void tmx_modal_kernel_v3(const struct tmx_modal_call *c); /* x86-64-v3: AVX2 and FMA */
void tmx_modal_kernel_v4(const struct tmx_modal_call *c); /* x86-64-v4: AVX-512F */

#endif

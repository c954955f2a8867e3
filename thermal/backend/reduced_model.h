/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TMX_THERMAL_BACKEND_REDUCED_MODEL_H
#define TMX_THERMAL_BACKEND_REDUCED_MODEL_H

#include "base/provenance.h"
#include "thermal/assembly/network.h"
#include "thermal/assembly/spec.h"
#include "thermal/reduction/modal.h"
#include "thermal/reduction/reduction.h"

/* What the instances of the reduced back-end share. Built from a network, or read from the
 * cache; never changed afterwards. */

enum tmx_precision { TMX_PRECISION_DOUBLE, TMX_PRECISION_MIXED };

struct tmx_reduced_options { /* the back-end's rows (reduced.c) */
    double tolerance_k;
    int modes; /* 0: what the tolerance needs */
    bool cache;
    int precision;                      /* enum tmx_precision, of steps: the cache keeps doubles */
    double r_convec_low, r_convec_high; /* [K/W] sinks that share one basis; 0: those of the spec alone */
    bool share_sinks;                   /* the back-end's, which turns it into these */
};

struct tmx_reduced_model {
    struct tmx_network net;
    size_t n_level, n_mode;
    struct tmx_modal *modal; /* [n_level] owned */
    /* One level: theta = still p + map (z - in p / rate); several, or fine: theta = still p + map
     * vector[level]' z, and z = back[level] (vector' z of another level). Fine: single cells must be
     * accurate, and no mode is left out. */
    bool fine;
    float *map;           /* [n_mode][n_view] owned; NULL when fine */
    double *fine_map;     /* the same in full precision, when fine; owned */
    double *still;        /* [n_unit][n_view, K/W] NULL when fine */
    double *vector;       /* [n_level][n_mode][n_mode] by rows of modes; NULL: one level, not fine */
    double *back;         /* its inverse, likewise; NULL: none, or vector itself, which is orthonormal */
    double *error;        /* [n_unit + 1][n_unit] see tmx_basis and tmx_modes_truncate */
    double *cell_error;   /* [n_unit + 1][n_region] NULL where cells are not controlled */
    size_t n_region;      /* of all nodes; 0: not controlled */
    double start_error_k; /* of a start that is not uniform */
    double start_swing_k; /* of a uniform one, from the air */
    size_t n_basis;       /* vectors of the basis behind it */
    size_t n_shift;       /* factorisations it took */
    bool no_field;        /* map, fine_map and still are not there */
    struct tmx_coolant coolant; /* where coolant flows; its vector, back, map and still are those above */
    bool from_cache;
    struct tmx_arena arena; /* of what is not owned singly */
};

/* Overwritten; end it with tmx_reduced_model_finish, also after failure. A cache that
 * cannot be read or written is done without. TMX_ESOLVE when the tolerance is missed by far,
 * unless options->modes asks for it. */
TMX_NODISCARD enum tmx_status tmx_reduced_model_init(struct tmx_reduced_model *m,
                                                     const struct tmx_thermal_spec *spec,
                                                     const struct tmx_reduced_options *options,
                                                     struct tmx_err *err);
void tmx_reduced_model_finish(struct tmx_reduced_model *m);

/* *cached: does the cache have a file of this model? (Whether it is whole shows when it is read.) */
TMX_NODISCARD enum tmx_status tmx_reduced_model_cached(const struct tmx_thermal_spec *spec,
                                                       const struct tmx_reduced_options *options,
                                                       bool *cached, struct tmx_err *err);

/* Name in the cache of the model, or of the basis that models of a range share: a hash of all that its
 * numbers depend on. The start is none of it. */
TMX_NODISCARD enum tmx_status tmx_reduced_key(const struct tmx_thermal_spec *spec,
                                              const struct tmx_reduced_options *options, bool basis,
                                              char key[TMX_HASH_HEX], struct tmx_err *err);

/* Estimate [K] of the largest error at a unit, or at any node (INFINITY where nothing controls it), while
 * each unit's power changes by at most swing_w [n_unit, W] at a time; in mixed precision, while it is at most
 * that, too, and the air keeps its temperature. */
double tmx_reduced_model_bound(const struct tmx_reduced_model *m, bool nodes, const double *swing_w);
/* The part of it that is the rounding of mixed precision, a proven bound at one convection level; INFINITY
 * without memory. */
double tmx_reduced_model_rounding(const struct tmx_reduced_model *m, bool nodes, const double *swing_w);

/* Where there are vectors: a state of a level in coordinates that mean the same field at every level, and
 * back; all [n_mode], not the same array. */
void tmx_reduced_model_common(const struct tmx_reduced_model *m, size_t level, const double *z, double *w);
void tmx_reduced_model_own(const struct tmx_reduced_model *m, size_t level, const double *w, double *z);

/* rows [first, first + n) of the view of theta (above ambient) for a state; work is [n_mode]. */
void tmx_reduced_model_field(const struct tmx_reduced_model *m, size_t level, const double *z,
                             const double *power_w, size_t first, size_t n, double *work, double *theta_k);

#endif

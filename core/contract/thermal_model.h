/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TMX_CORE_CONTRACT_THERMAL_MODEL_H
#define TMX_CORE_CONTRACT_THERMAL_MODEL_H

/* What every thermal back-end provides: temperatures from powers.
 *
 * A *model* is what set-up computes once for one kind of chip (matrices, basis) and
 * never changes afterwards; any number of *instances* (GPUs) share it, each with its
 * own state. Temperatures and powers are per dissipating floorplan unit, in the order
 * of the spec. An instance is used by one thread at a time; a model by any number. */

#include <stdbool.h>
#include <string.h>

#include "base/opt.h"
#include "core/contract/forecast.h"

struct tmx_thermal_spec; /* the chip, package and convection levels to model: thermal/assembly/spec.h */

enum tmx_thermal_claims {                                /* properties the contract tests may check */
                          TMX_THERMAL_BALANCE = 1u << 0, /* heat in = heat stored + heat to ambient, 1e-9 */
                          TMX_THERMAL_LINEAR = 1u << 1,  /* superposition, ambient shift */
                          TMX_THERMAL_RECIPROCAL = 1u << 2,
                          TMX_THERMAL_SEMIGROUP = 1u << 3, /* one step = ten steps of a tenth */
                          TMX_THERMAL_ORDER1 = 1u << 4,    /* first order in dt (backward Euler) */
                          TMX_THERMAL_MONOTONE = 1u << 5,  /* more power nowhere lowers a temperature */
};

enum tmx_thermal_abilities {
    TMX_THERMAL_FULL = 1u << 0, /* a step solves for every node: its cost grows with them, its steady states
                                   are exact */
    /* what a spec may ask for */
    TMX_THERMAL_PHYSICAL = 1u << 1, /* the physical network */
    TMX_THERMAL_LEVELS = 1u << 2,   /* several levels of convection */
    TMX_THERMAL_BELOW = 1u << 3,    /* a second heat path: board, r_below_k_per_w */
    TMX_THERMAL_CHANNELS = 1u << 4, /* coolant in layers */
    TMX_THERMAL_FILLER = 1u << 5,   /* beside dies */
    TMX_THERMAL_FALLS = 1u << 6,    /* conductivity that falls with temperature */
    TMX_THERMAL_FIELD = 1u << 7,    /* a start field, init_node_k */
    TMX_THERMAL_BLOCKS = 1u << 8,   /* HotSpot's block model */
};

struct tmx_thermal_heat { /* bookkeeping of one instance, for energy balances */
    double stored_j;      /* [J] above a field at ambient */
    double to_ambient_w;  /* [W] leaving now */
    double to_ambient_j;  /* [J] that left in all steps since create; settling and predicting do not count */
};

/* Images of an instance's changing state. A back-end has one function that names its fields, its
 * image function; size, save and restore all call it, so that the three cannot differ. An image belongs to
 * objects that were made alike; a restored object continues bit for bit. */

struct tmx_image {
    unsigned char *to;         /* save; NULL: not */
    const unsigned char *from; /* restore; NULL: not; both NULL: count */
    size_t at;                 /* where the next field is */
};

/* A field of `size` bytes. */
static inline void tmx_image_item(struct tmx_image *i, void *field, size_t size)
{
    if (i->to && size > 0) {
        memcpy(i->to + i->at, field, size);
    } else if (i->from && size > 0) {
        memcpy(field, i->from + i->at, size);
    }
    i->at += size;
}

/* A field that is no pointer, or an array within a struct. */
#define TMX_IMAGE_FIELD(i, field) tmx_image_item((i), &(field), sizeof(field))

static inline size_t tmx_image_size(void (*image)(void *, struct tmx_image *), void *object)
{
    struct tmx_image i = {NULL, NULL, 0};
    image(object, &i);
    return i.at;
}

static inline void tmx_image_save(void (*image)(void *, struct tmx_image *), void *object, void *buf)
{
    struct tmx_image i = {(unsigned char *)buf, NULL, 0};
    image(object, &i);
}

static inline void tmx_image_restore(void (*image)(void *, struct tmx_image *), void *object, const void *buf)
{
    struct tmx_image i = {NULL, (const unsigned char *)buf, 0};
    image(object, &i);
}

struct tmx_thermal_ops {
    struct tmx_plugin base; /* options of the method; state_size is that of the options struct */
    unsigned claims;        /* of enum tmx_thermal_claims, with the default options */
    unsigned can;           /* of enum tmx_thermal_abilities */

    /* REQUIRED. Set-up for one kind of chip; options is the struct base.opts describes.
     * The caller owns *model and ends it with model_destroy after its instances. The spec asks for nothing
     * that `can` lacks: tmx_thermal_model_create (thermal/thermal.h) refuses it. TMX_EUNSUPPORTED for what
     * else the method cannot model. */
    enum tmx_status (*model_create)(const void *options, const struct tmx_thermal_spec *spec, void **model,
                                    struct tmx_err *err);
    void (*model_destroy)(void *model);

    /* REQUIRED. One instance, at the spec's start field. */
    enum tmx_status (*create)(const void *model, void **state, struct tmx_err *err);
    void (*destroy)(void *state);

    /* REQUIRED. Advance by dt_s [s] > 0 under constant power_w [n_unit, W]; temp_k
     * [n_unit, K] is written with the temperatures at the end. Allocates nothing once
     * a dt_s has been used before (prepare for it with prepare). Returns TMX_OK, or
     * TMX_ESOLVE when a temperature is not finite, and then says why. */
    enum tmx_status (*step)(void *state, double dt_s, const double *power_w, double *temp_k);

    /* OPTIONAL. The step of n instances of one model, or of models that are the same, at once, each with its
     * own power_w and temp_k: the same bits as n single steps, and nothing of one instance reaches another.
     * Fastest where neighbours have one level of convection. Returns TMX_OK, or TMX_ESOLVE when a temperature
     * is not finite, all having been stepped; *bad is the first such instance. Absent: step is called for
     * each. */
    enum tmx_status (*step_many)(size_t n, void *const *state, double dt_s, const double *const *power_w,
                                 double *const *temp_k, size_t *bad);

    /* OPTIONAL. Two models whose instances may step together in step_many: the numbers of both are the same,
     * also those of every dt_s prepared. Absent: only instances of one model step together. */
    bool (*same)(const void *a, const void *b);

    /* OPTIONAL. Do for dt_s what step would do at its first use (factor, tabulate), for every convection
     * level. Not in the tick. Absent: a step needs no tables. See tmx_thermal_prepare. */
    enum tmx_status (*prepare)(void *model, double dt_s, struct tmx_err *err);

    /* REQUIRED. Equilibrium temp_k [n_unit, K] for power_w at the present convection;
     * the instance is moved there when settle is true. */
    enum tmx_status (*steady)(void *state, const double *power_w, bool settle, double *temp_k);

    /* REQUIRED. temp_k [n_unit, K] now. */
    void (*read)(const void *state, double *temp_k);

    /* REQUIRED where the spec has more than one convection level: use r_convec[level]
     * of the spec from now on. No allocation, no rebuild. */
    void (*set_convection)(void *state, size_t level);

    /* OPTIONAL. Inlet air moves to ambient_k [K]: the same network over another ambient. */
    void (*set_ambient)(void *state, double ambient_k);

    /* OPTIONAL; TMX_EUNSUPPORTED where the spec has no_field. Grid temperatures cell_k [rows * cols,
     * K], row 0 = north, of layer; the spreader is layer n_layer, the sink n_layer + 1. Layer n_layer + 2
     * stands for the 12 package nodes (W,E,N,S of spreader, inner and outer sink): cell_k [12, K]. */
    enum tmx_status (*field)(const void *state, size_t layer, double *cell_k);

    /* OPTIONAL. temp_k [n_unit, K] after dt_s under power_w, the instance unchanged. */
    enum tmx_status (*predict)(const void *state, double dt_s, const double *power_w, double *temp_k);

    /* OPTIONAL, the four of them with predict, for steps whose length the caller chooses as it goes. The
     * last call was predict, with this dt_s and power_w. commit: the instance is where it said. mean: of the
     * temperatures within that step, mean_k [n_unit, K], before it is committed. bound: a
     * bound high_k [n_unit, K] on the temperatures at any time within that step; INFINITY where there is
     * none. */
    void (*commit)(void *state, double dt_s, const double *power_w);
    void (*mean)(const void *state, double dt_s, const double *power_w, double *mean_k);
    void (*bound)(const void *state, double *high_k);
    /* What 1 W in every unit for dt_s heats the unit most that it heats most [K]. */
    double (*response)(const void *state, double dt_s);

    /* OPTIONAL. Estimate [K] of the method's largest error against the full network, from the shortest
     * accurate step on, while each unit's power changes by at most swing_w [n_unit, W] at a time: of units as
     * step writes them, or (cells) of all that field writes, INFINITY where the spec did not ask for accurate
     * cells. It is no proven bound: cases are known in which the true error is up to 2.2 times as large,
     * below the tolerance of 1 mK (thermal/backend/reduced_model.c). Absent: the method solves the network
     * itself. */
    double (*error_bound)(const void *state, bool cells, const double *swing_w);

    /* OPTIONAL. The model in modes at a convection level of the spec, for policies that look ahead. */
    void (*modes)(const void *model, size_t level, struct tmx_modes_view *modes);

    /* OPTIONAL. For energy balances. */
    void (*heat)(const void *state, struct tmx_thermal_heat *heat);

    /* OPTIONAL. Why the last step failed, in words; empty: it is not known. */
    void (*why)(const void *state, char *text, size_t size);

    /* REQUIRED. All that changes. */
    void (*image)(void *state, struct tmx_image *i);
};

/* prepare of ops, where it has one. */
static inline enum tmx_status tmx_thermal_prepare(const struct tmx_thermal_ops *ops, void *model, double dt_s,
                                                  struct tmx_err *err)
{
    return ops->prepare ? ops->prepare(model, dt_s, err) : TMX_OK;
}

/* step_many of ops, or step for each. */
static inline enum tmx_status tmx_thermal_step_many(const struct tmx_thermal_ops *ops, size_t n,
                                                    void *const *state, double dt_s,
                                                    const double *const *power_w, double *const *temp_k,
                                                    size_t *bad)
{
    enum tmx_status st = TMX_OK;
    if (ops->step_many) {
        return ops->step_many(n, state, dt_s, power_w, temp_k, bad);
    }
    for (size_t i = 0; i < n; i++) {
        const enum tmx_status one = ops->step(state[i], dt_s, power_w[i], temp_k[i]);
        if (one && !st) {
            st = one;
            *bad = i;
        }
    }
    return st;
}

#endif

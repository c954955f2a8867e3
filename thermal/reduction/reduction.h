/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TMX_THERMAL_REDUCTION_REDUCTION_H
#define TMX_THERMAL_REDUCTION_REDUCTION_H

#include "thermal/assembly/network.h"
#include "thermal/reduction/dense.h"
#include "thermal/reduction/modal.h"

/* Sets of nodes whose own temperatures must be accurate, where a mean over a unit is not
 * all that is read: errors are kept for each region, as its worst node's. */

struct tmx_regions {
    size_t n;
    size_t *start; /* [n + 1] first entry of each region in node */
    size_t *node;  /* [start[n]] */
    struct tmx_arena arena;
};

/* One region a dissipating unit: the cells it touches. *r is overwritten; end it with
 * tmx_regions_finish, also after failure (an error that stays: TMX_ENOMEM). */
void tmx_regions_units(struct tmx_regions *r, const struct tmx_network *net, struct tmx_err *err);
/* All nodes: every layer in tiles, then what is not a layer's cell. */
void tmx_regions_tiles(struct tmx_regions *r, const struct tmx_network *net, struct tmx_err *err);
void tmx_regions_finish(struct tmx_regions *r); /* accepts zeroed memory */

/* What a reduced model is made for: everything that its accuracy refers to. */

struct tmx_demand {
    double tolerance_k;    /* at every unit, for steps of power_w in all units */
    const double *power_w; /* [n_unit] */
    double ambient_k;      /* and for a start, a step of the air or an inlet so far from the others; 0: error
                              alone counts these */
    double min_step_s;     /* from this time after a step on */
    size_t n_mode;         /* 0: as few as the tolerance allows */
    size_t n_level;
    double *gamma, *flow;         /* [n_level] film coefficients [W/(m2 K)], flow of the spec's own */
    double gamma_low, gamma_high; /* of the film coefficients that will be used */
    bool octaves;                 /* choose directions by every octave of time alike, not by every second */
    bool field;                   /* fields will be looked at */
    /* Regions at whose every node the tolerance must hold, too; n 0: none. */
    struct tmx_regions unit_cells; /* [n_unit]: then errors of units are those of their worst cells */
    struct tmx_regions cells;
    struct tmx_arena arena; /* of power_w, gamma and flow */
};

/* A rational Krylov basis V of the network: V spans (G + sigma C)^-1 B for a list of shifts
 * that grows until the projected network answers steps of power to the tolerance. */

struct tmx_basis {
    size_t n_node, n_mode, n_unit;
    double *v;              /* [n_mode][n_node] owned, V' C V = 1 */
    double *g;              /* [n_mode][n_mode] V' G V at film coefficient gamma */
    double *a;              /* [n_mode][n_mode] V' A V; NULL when gamma is the only film coefficient */
    double *in;             /* [n_unit][n_mode] V' B */
    double *out;            /* [n_unit][n_mode] V' E: temperatures are E' theta; NULL when E = B */
    double *one;            /* [n_mode] V' C 1: the uniform field 1 K */
    double *area;           /* [n_mode] V' A 1 */
    double *ground;         /* [n_mode] V' of what the board conducts to the air */
    double *error;          /* [n_unit + 1][n_unit] K/W: what V misses at each unit, row by unit that changes;
                               the last row: K/K, by the air's temperature */
    double *cell_error;     /* [n_unit + 1][regions] likewise at the nodes of demand->cells; NULL without */
    double *steady;         /* [n_unit][n_unit] K/W: E' G^-1 B at gamma, solved directly */
    double gamma;           /* expansion point [W/(m2 K)] */
    size_t n_shift;         /* factorisations used */
    struct tmx_arena arena; /* of all but v */
};

/* Fill *basis (overwritten; end it with tmx_basis_finish, also after failure). net must
 * have a linear map mode, or MIN or MAX, for which demand->unit_cells must be there.
 * Errors that stay: TMX_ENOMEM or TMX_ESOLVE. */
void tmx_basis_init(struct tmx_basis *basis, const struct tmx_network *net, const struct tmx_demand *demand,
                    struct tmx_err *err);
void tmx_basis_finish(struct tmx_basis *basis);

/* The vectors of a basis while it grows: V' C V = 1, with the projections of G, A, B and E onto them. */

struct tmx_growing {
    const struct tmx_network *net;
    struct tmx_basis *basis; /* gamma is the caller's; g and a have room rows a column until grow_close */
    struct tmx_thread_pool *pool; /* of two threads */
    struct tmx_tall tall;
    bool several;             /* film coefficients will be used: a is needed */
    double dependent;         /* square of the part of a vector that must be new */
    size_t room;              /* columns v, g, a have space for */
    size_t n_in;              /* columns of B: the units', and perhaps that of the air */
    double *b;                /* [n_in][n_node] B, the caller's to fill */
    double *e;                /* [n_unit][n_node] E, likewise; NULL when E = B */
    double *x, *w;            /* [n_in][n_node] what is to be appended; work */
    double *in, *out;         /* [room][n_in] B' V, [room][n_unit] E' V; out NULL when E = B */
    double *small, *part;     /* [room * n_in], [TMX_TALL_PIECES][room * n_in] work */
    double *eigen, *eigenval; /* [n_in * n_in], [n_in] work */
    double *square;           /* [room * room] work */
    struct tmx_arena arena;
    struct tmx_err *err;
};

/* Make the n_col columns of x orthonormal to V and among themselves (in C), dropping what is dependent; a
 * second time where little was left of a column, whose rounding has grown with it. Returns how many remain,
 * as the first columns of x. */
size_t tmx_orthonormalise(struct tmx_growing *b, size_t n_col);

/* How one start field dies away: a small basis of its own, beside that of the powers. The
 * network is linear, so both go on side by side and add up, and what was set up for the powers
 * serves every start. */

/* Fill *basis (overwritten; end it with tmx_basis_finish, also after failure) with no input and the field
 * theta_k [n_node, above ambient] as V' C theta_k in theta [n_mode], which is the basis'. Returns an estimate
 * [K] of what it misses. Errors that stay: TMX_ENOMEM or TMX_ESOLVE. */
double tmx_initial_basis(struct tmx_basis *basis, const struct tmx_network *net,
                         const struct tmx_demand *demand, const double *theta_k, const double **theta,
                         struct tmx_err *err);

/* From a basis to a model of as few modes as steps of power need, at one film coefficient or at several. */

/* At level l a state z has the field V x,
 *   one level:  x = rest p + map (z - in p / rate)       several:  x = rest p + map vector[l]' z
 * w = vector[l]' z is the same before and after a change of level; z = back[l] w. */
struct tmx_truncated {
    size_t n_mode;
    double *map;               /* [n_mode][basis n_mode] */
    double *rest;              /* [n_unit][basis n_mode] */
    double *vector;            /* [n_level][n_mode][n_mode] by rows of modes; NULL: one level */
    double *back;              /* the same of its inverse */
    struct tmx_arena *vectors; /* of these two: the caller's */
    struct tmx_arena arena;    /* of map and rest */
};

/* Overwritten but for `vectors`; end it with tmx_truncated_finish, also after failure. modal [n_level] is
 * filled, one table a level, each to be ended with tmx_modal_finish. error [n_unit + 1][n_unit], rows as
 * those of tmx_basis: the largest difference to the whole basis from min_step_s on, added to what is there.
 */
void tmx_truncate(struct tmx_truncated *cut, const struct tmx_basis *basis, const struct tmx_demand *demand,
                  struct tmx_modal *modal, double *error, struct tmx_err *err);
void tmx_truncated_finish(struct tmx_truncated *cut);

/* From a basis to the modal form at one film coefficient. */

struct tmx_modes { /* the modal form, not yet laid out for stepping; columns over n_mode */
    size_t n_mode, n_unit;
    double gamma;
    double *rate;        /* [n_mode, 1/s] ascending */
    double *vector;      /* [n_mode][n_mode] modes in the basis, by columns */
    double *in, *out;    /* [n_unit][n_mode] out may be in */
    double *one, *leave; /* [n_mode] leave: heat to the air [W], through sink and board */
    struct tmx_arena arena;
};

/* Diagonalise the projected network at gamma. Overwritten; end with tmx_modes_finish. */
void tmx_modes_init(struct tmx_modes *modes, const struct tmx_basis *basis, double gamma,
                    struct tmx_err *err);
void tmx_modes_finish(struct tmx_modes *modes);

/* The full modal form, ready to step. */
void tmx_modes_layout(const struct tmx_modes *modes, struct tmx_modal *modal, struct tmx_err *err);

/* The reduced model of a network through which coolant flows: C theta' + (G + gamma A + flow F) theta = B p +
 * flow c theta_inlet, where F is not symmetric. coolant.c says how it is made. */

/* A state z of level l has the field V w, w = vector[l]' z; z = back[l] w. By rows of modes. */
struct tmx_coolant {
    size_t n_mode, n_basis, n_shift;
    double *vector, *back; /* [n_level][n_mode][n_mode] */
    float *map;            /* [n_mode][n_view] V, the caller's to free; NULL without demand->field */
    double *still; /* [n_unit][n_view, K/W] the direct term of the field, at a middle flow; likewise */
    /* an inlet 1 K above ambient, when all has settled: */
    double *inlet_state; /* [n_level][n_mode] */
    double *inlet_unit;  /* [n_level][n_unit] */
    /* does it boil? the nodes of coolant; and a few, one of which is the hottest in every steady state, or
     * within tmx_coolant_slack of its rise */
    size_t n_wet, n_watch;
    size_t *wet;                      /* [n_wet] nodes */
    float *wet_map;                   /* [n_mode][n_wet] */
    float *wet_still;                 /* [n_level][n_unit][n_wet] */
    double *watch;                    /* [n_level][n_mode][n_watch] from z */
    double *watch_direct;             /* [n_level][n_unit][n_watch] */
    struct tmx_arena arena, of_modes; /* of the rest; of vector, back and inlet_state */
};

extern const double tmx_coolant_slack;

/* *c is overwritten; end it with tmx_coolant_finish, also after failure. modal [n_level], zeroed, is filled;
 * each is to be ended with tmx_modal_finish. error [n_unit + 1][n_unit] K/W, the last row K/K: see
 * tmx_reduced_model. net must read units by a linear map. Errors that stay: TMX_ENOMEM or TMX_ESOLVE. */
void tmx_coolant_reduce(struct tmx_coolant *c, const struct tmx_network *net, const struct tmx_demand *demand,
                        struct tmx_modal *modal, double *error, struct tmx_err *err);
void tmx_coolant_finish(struct tmx_coolant *c); /* accepts zeroed memory */

#endif

/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TMX_THERMAL_REDUCTION_KRYLOV_H
#define TMX_THERMAL_REDUCTION_KRYLOV_H

#include "thermal/assembly/network.h"
#include "thermal/reduction/dense.h"

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

#endif

/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TMX_THERMAL_SOLVER_CYCLE_H
#define TMX_THERMAL_SOLVER_CYCLE_H

/* Private to multigrid.c, which makes levels and their work space, and cycle_kernel.c, which works on them.
 */

#include <cs.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"

enum { TMX_MOST_LEVELS = 24 };

/* Cells of an axis and those of the next level: fine cell i takes `own` of the coarse cell it is in (i / 2)
 * and the rest of its neighbour, the one before for an even i, else the one behind. */
struct tmx_mg_axis {
    size_t n, coarse;
    float *own;     /* [n] NULL: not coarsened */
    float *down[4]; /* [coarse] what coarse cell I takes of the fine ones 2I - 1 to 2I + 2 */
};

struct tmx_mg_group { /* of sheets; its cells in the arrays of a level: at [z][y][x] of [nz][ny + 2][row]
                         with a rim of zeros, those behind a row before the next one, too */
    size_t nx, ny, nz, first; /* first: (0, 0, 0) */
    size_t row, sheet;
    unsigned char *linked; /* [nz * ny] does a cell of this line have another link? */
    struct tmx_mg_axis x, y;
};

struct tmx_mg_level {
    struct tmx_mg_group *group; /* [n_group] */
    size_t n, single;           /* length of arrays, and where single nodes begin in them */
    float *east, *south, *up;   /* links to the next cell */
    float *diagonal, *ground;   /* diagonal: without the other links; ground: of the first level alone */
    float *eliminate, *pivot;   /* of the columns' factors; of single nodes 1 / diagonal */
    size_t n_link;
    uint32_t *link; /* [n_link][2] */
    float *link_w_k;
};

struct tmx_multigrid {
    size_t n_level, n_group, n_single;
    struct tmx_mg_level level[TMX_MOST_LEVELS];
    css *order; /* of the last level */
    csn *factor;
    struct tmx_arena arena; /* of all but the factor */
};

struct tmx_mg_vectors { /* [n of the level] each */
    float *x, *b, *r, *step;
};

struct tmx_cycle {
    struct tmx_mg_vectors v[TMX_MOST_LEVELS];
    struct tmx_mg_group *group; /* of the first level, for the places of rows */
    size_t single;
    float *p, *q, *sum;  /* of the first level: direction, A times it, the solution */
    float *line, *room;  /* [row] of the coarser level; [nz][row] */
    double *last, *work; /* [nodes of the last level] */
    struct tmx_arena arena;
};

/* x of the last level := its solution for b. */
void tmx_cycle_solve_last(const struct tmx_multigrid *mg, const struct tmx_cycle *c);

/* What tmx_cycle_run does, for each width of vector. */
float tmx_cycle_any(const struct tmx_multigrid *mg, const struct tmx_cycle *c, float part, float limit,
                    double *least);
float tmx_cycle_v3(const struct tmx_multigrid *mg, const struct tmx_cycle *c, float part, float limit,
                   double *least);
float tmx_cycle_v4(const struct tmx_multigrid *mg, const struct tmx_cycle *c, float part, float limit,
                   double *least);

#endif

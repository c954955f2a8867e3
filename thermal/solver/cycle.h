/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TMX_THERMAL_SOLVER_CYCLE_H
#define TMX_THERMAL_SOLVER_CYCLE_H

/* Private to multigrid.c, which makes levels and their work space, and cycle_kernel.c, which works on them.
 */

#include <cs.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"

enum { TMX_MOST_LEVELS = 24, TMX_MG_LINE = 16 };

/* Values that begin a row and end it are those of whole lines of the cache, so that no vector lies in two. */
static inline size_t in_lines(size_t n)
{
    return (n + TMX_MG_LINE - 1) / TMX_MG_LINE * TMX_MG_LINE;
}

/* Cells of an axis and those of the next level: fine cell i takes `own` of the coarse cell it is in (i / 2)
 * and the rest of its neighbour, the one before for an even i, else the one behind. */
struct tmx_mg_axis {
    size_t n, coarse;
    float *own;     /* [2][in_lines(coarse)] of even cells, of odd ones; NULL: not coarsened */
    float *down[4]; /* [in_lines(coarse)] what coarse cell I takes of the fine ones 2I - 1 to 2I + 2 */
};

struct tmx_mg_group { /* of sheets; its cells in the arrays of a level: lines [z][y] of [nz][ny + 2][row] with
                         a rim of zeros; in a line the even x, zeros, and from odd on the odd x */
    size_t nx, ny, nz, first; /* first: (0, 0, 0) */
    size_t row, sheet, odd;
    unsigned char *linked; /* [nz * ny][2] has an even, an odd cell of this line another link? */
    struct tmx_mg_axis x, y;
};

struct tmx_mg_link { /* one end of a link that is not to the next cell */
    uint32_t own, other;
    float w_k;
};

/* A level has blocks: of each group the columns of either colour (0: x + y even), then single nodes. */
struct tmx_mg_level {
    struct tmx_mg_group *group; /* [n_group] */
    size_t n, single;           /* length of arrays, and where single nodes begin in them */
    float *east, *south;        /* links to the next cell */
    float *eliminate, *pivot;   /* of the columns' factors; of single nodes 1 / diagonal */
    float *up, *ground;         /* of the first level alone */
    struct tmx_mg_link *link;   /* by blocks of their own end */
    size_t *first;              /* [2 n_block + 1] of a block: links to blocks before it, then the others */
};

struct tmx_multigrid {
    size_t n_level, n_group, n_single;
    struct tmx_mg_level level[TMX_MOST_LEVELS];
    css *order; /* of the last level */
    csn *factor;
    struct tmx_arena arena; /* of all but the factor */
};

struct tmx_mg_vectors { /* [n of the level] each */
    float *x, *b, *r;
};

struct tmx_cycle {
    struct tmx_mg_vectors v[TMX_MOST_LEVELS];
    struct tmx_mg_group *group; /* of the first level, for the places of rows */
    size_t single;
    float *p, *q, *sum;  /* of the first level: direction, A times it, the solution */
    float *line, *room;  /* a coarser level's row; [nz][row] */
    double *last, *work; /* [nodes of the last level] */
    struct tmx_arena arena;
};

/* x of the last level := its solution for b. */
void tmx_cycle_solve_last(const struct tmx_multigrid *mg, const struct tmx_cycle *c);

/* What tmx_cycle_run does (multigrid.h), for each width of vector. */
struct tmx_cycle_end;
struct tmx_cycle_end tmx_cycle_any(const struct tmx_multigrid *mg, const struct tmx_cycle *c, float part,
                                   float limit);
struct tmx_cycle_end tmx_cycle_v3(const struct tmx_multigrid *mg, const struct tmx_cycle *c, float part,
                                  float limit);
struct tmx_cycle_end tmx_cycle_v4(const struct tmx_multigrid *mg, const struct tmx_cycle *c, float part,
                                  float limit);

#endif

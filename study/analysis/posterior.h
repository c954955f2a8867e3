/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TMX_STUDY_ANALYSIS_POSTERIOR_H
#define TMX_STUDY_ANALYSIS_POSTERIOR_H

/* What printed values say of sampled constants, and the other way round: approximate Bayesian computation on
 * the sets of a suite (its sets.csv and values.csv). A set's weight is its importance (a column behind the
 * values: the prior's density over that from which it was drawn; 1 without such a column) times the product
 * over the printed numbers of
 *
 *     1 / (1 + z^2),   z = (ours - printed) / (widen * sqrt(band^2 + spread^2))
 *
 * over all but bounds, orders, those that follow from others and those that do not weigh: a Cauchy density,
 * which forgives a value that no set meets and still prefers the nearer one. Values of one name as_one enter
 * once, by their mean z. A figure's own numbers are weighed by the other figures. */

#include "base/arena.h"
#include "base/csv.h"
#include "base/table.h"
#include "study/analysis/pivot.h"

struct tmx_posterior {
    struct tmx_csv sets, values;
    size_t status, key0, n_key, value0, n_value; /* columns of sets */
    size_t importance;                           /* likewise; n_column: none */
    struct tmx_printed *value;                   /* [values.n_row] */
    size_t *row;                                 /* [n_row] of sets that were run in full, after `where` */
    size_t n_row;
    double *ours; /* [values.n_row][n_row] */
    struct {
        bool text; /* not all are numbers */
        size_t n_word;
    } * axis;      /* [n_key + 1] */
    size_t *word;  /* [n_key + 1][n_row] below n_word, alike for alike cells */
    char **figure; /* [n_figure] of the values, pieces of their text */
    size_t n_figure;
    double *weight; /* [2 + n_figure][n_row] with all figures, without one of them, with all and what does not
                     * weigh */
    double *prior;  /* [n_row] importance, the largest 1 */
    struct tmx_arena arena;
};

/* From a folder that `thermix table` of a suite with sets wrote. importance: a column; "": "importance" where
 * there is one. Every condition is on a column of sets.csv.
 */
TMX_NODISCARD enum tmx_status tmx_posterior_load(struct tmx_posterior *p, const char *dir, double widen,
                                                 const char *importance, const struct tmx_where *where,
                                                 size_t n_where, struct tmx_err *err);
void tmx_posterior_finish(struct tmx_posterior *p); /* accepts zeroed memory */

/* (sum of w)^2 / sum of w^2: how many equal weights would do as well; figure n_figure: of all figures. */
double tmx_posterior_effective(const struct tmx_posterior *p, size_t figure);

/* Tables for the caller to destroy; NULL: no memory. */

/* A row a printed value: ours at 5, 50 and 95 % of the sets, of those weighted by the other figures, and by
 * all, and with what does not weigh; how probable its band is by the other figures (of orders: that it holds,
 * alone, clearly (by more than twice its spread), and with the others of its quantity); the three axes that
 * move it most, with Spearman's rank correlation, of axes of words with the correlation ratio of the ranks.
 */
struct tmx_table *tmx_posterior_values(const struct tmx_posterior *p);
/* A row an axis, of words a row a word: before and after. */
struct tmx_table *tmx_posterior_axes(const struct tmx_posterior *p);
/* The sets by weight, the likeliest first, with their constants and values. */
struct tmx_table *tmx_posterior_sets(const struct tmx_posterior *p);

#endif

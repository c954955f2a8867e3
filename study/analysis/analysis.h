/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TMX_STUDY_ANALYSIS_ANALYSIS_H
#define TMX_STUDY_ANALYSIS_ANALYSIS_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/csv.h"
#include "base/table.h"
#include "study/results.h"

/* Tables out of a study's results. */

enum tmx_aggregate { TMX_MEAN, TMX_MIN, TMX_MAX, TMX_STDEV, TMX_COUNT, TMX_CI95, TMX_N_AGGREGATE };

enum tmx_relation { TMX_EQUAL, TMX_UNEQUAL, TMX_LESS, TMX_AT_MOST, TMX_MORE, TMX_AT_LEAST, TMX_IN };

struct tmx_where { /* key relation value; IN: values between bars */
    char key[64], value[192];
    enum tmx_relation relation;
};

/* Errors of what follows stay (base/err.h). Each text "key=value", also with !=, <, <=, >, >= between them,
 * or "key in a,b,c". Returns n; more than there is room for are an error. */
size_t tmx_where_parse(const char *const *text, size_t n, struct tmx_where *w, size_t room,
                       struct tmx_err *err);
/* What the condition is of: a key's index, or n_key and a metric's. TMX_ECONFIG for a name that is neither.
 */
enum tmx_status tmx_where_index(const struct tmx_result_set *set, const struct tmx_where *w, size_t *i,
                                struct tmx_err *err);
/* Does a value satisfy it? Numbers compare as numbers; < and > of a text hold never. */
bool tmx_where_holds(const struct tmx_where *w, const char *value);
/* Does a run? Never by a metric that it does not have. */
bool tmx_where_run(const struct tmx_where *w, const struct tmx_result_set *set, size_t i,
                   const struct tmx_result *run);

struct tmx_query {
    const char *rows[8]; /* keys, NULL: up to here */
    const char *pivot;   /* key whose values become columns; NULL: none */
    const char *value[16];
    struct tmx_where where[16]; /* kept runs: all of these hold */
    size_t n_where;
    enum tmx_aggregate aggregate[TMX_N_AGGREGATE];
    size_t n_aggregate; /* 0: the mean */
    bool *pooled;       /* out, [n_key]: cells have runs of several values; NULL: not asked */
};

/* Numbers one after another, from {0} on. NAN where there are none; sd (of the sample) and ci95 (half the 95
 * % interval of the mean, by Student's t) also where there is one. */
struct tmx_moments {
    size_t n;
    double mean, m2, min, max; /* m2: squares of the distances from the mean, summed */
};
void tmx_moments_add(struct tmx_moments *s, double v);
double tmx_moments_mean(const struct tmx_moments *s);
double tmx_moments_sd(const struct tmx_moments *s);
double tmx_moments_ci95(const struct tmx_moments *s);

/* mean, min, max, sd (of the sample; stdev), n (count), ci95 (half the 95 % interval of the mean by Student's
 * t). */
enum tmx_aggregate tmx_aggregate_parse(const char *word, struct tmx_err *err);

/* Tables of a study that is not complete have a last column `status` that says so in every row. */

/* One row per distinct combination of the row keys, in order of value; one column per
 * pivot value and wanted metric. Runs that fall together are aggregated; failed ones are
 * left out. Unknown names: TMX_ECONFIG with the known ones. */
enum tmx_status tmx_pivot(const struct tmx_result_set *set, const struct tmx_query *q, struct tmx_table **t,
                          struct tmx_err *err);
/* All finished runs with all keys and metrics (NULL value list), or the wanted metrics. */
enum tmx_status tmx_flat(const struct tmx_result_set *set, const struct tmx_query *q, struct tmx_table **t,
                         struct tmx_err *err);
/* The failed runs and their errors. */
struct tmx_table *tmx_failures(const struct tmx_result_set *set);

/* Index of a key or metric by name, or by the part after its last dot. */
enum tmx_status tmx_key_index(const struct tmx_result_set *set, const char *word, size_t *i,
                              struct tmx_err *err);
enum tmx_status tmx_metric_index(const struct tmx_result_set *set, const char *word, size_t *i,
                                 struct tmx_err *err);

bool tmx_is_seed(const char *key); /* "seed" or "group.seed" */
/* Is a seed the only key of which cells have several values? Then the runs of a cell are repetitions, and an
 * interval of their mean is one. */
bool tmx_only_repeated(const struct tmx_result_set *set, const bool *pooled);

/* Order of two parameter values: numbers by value, before texts. */
int tmx_value_compare(const char *a, const char *b);

/* Runs in groups that differ in their seed alone. */
struct tmx_run_of {
    const struct tmx_result_set *set;
    const struct tmx_result *run;
};
int tmx_run_axes(const struct tmx_run_of *x, const struct tmx_run_of *y); /* by their axes; seeds are none */
int tmx_run_order(const void *a, const void *b);                          /* for qsort: then by place */

/* How much each axis of a study moves one metric.
 *
 *   effect        of a model of main effects by least squares, y = a + sum over the axes: what a value of an
 *                 axis adds to the mean over its values; of an axis of numbers that has many values a
 *                 straight line, and what it adds from its lowest to its highest
 *   ci95          half the effect's 95 % interval, Student's t on what the model leaves of the means over
 *                 seeds
 *   share         of the metric's variance over the runs, which the model would lose without the axis. In a
 *                 whole grid the shares and what is left, interactions and seeds, are 100 %
 *   change        of the metric in percent for one percent of an axis of positive numbers, from
 *                 ln y = a + sum e_i ln x_i; kelvins have no percent: of a temperature the axis' step is 1 K
 *                 and the metric's change is in K, of a percentage in points
 *   elasticity    the change where both are percents
 *   standardised  b_i of (y - mean)/sd = sum b_i (x_i - mean)/sd, by least squares
 *
 * Sobol indices of a study with sample.method = "indices": first order S_i = V_i / V and total T_i,
 * estimators of Saltelli et al., Comput. Phys. Commun. 181 (2010), Table 2 (b) and (f); their standard error
 * is that of the mean of the n terms. Of keys that move together the first stands for all. Seeds are
 * repetitions, no axis. */

/* A row for each axis, for each value of one whose values have effects of their own, and for what is left;
 * what does not apply is empty. TMX_ECONFIG when no axis varies or too few runs are done. */
enum tmx_status tmx_effects(const struct tmx_result_set *set, size_t metric, struct tmx_table **t,
                            struct tmx_err *err);

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
enum tmx_status tmx_posterior_load(struct tmx_posterior *p, const char *dir, double widen,
                                   const char *importance, const struct tmx_where *where, size_t n_where,
                                   struct tmx_err *err);
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

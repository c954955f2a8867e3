/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TMX_STUDY_ANALYSIS_PIVOT_H
#define TMX_STUDY_ANALYSIS_PIVOT_H

/* Tables out of a study's results. */

#include <stdbool.h>

#include "base/table.h"
#include "study/results.h"

enum tmx_aggregate { TMX_MEAN, TMX_MIN, TMX_MAX, TMX_STDEV, TMX_COUNT, TMX_CI95, TMX_N_AGGREGATE };

enum tmx_relation { TMX_EQUAL, TMX_UNEQUAL, TMX_LESS, TMX_AT_MOST, TMX_MORE, TMX_AT_LEAST, TMX_IN };

struct tmx_where { /* key relation value; IN: values between bars */
    char key[64], value[192];
    enum tmx_relation relation;
};

/* "key=value", also with !=, <, <=, >, >= between them, or "key in a,b,c". */
TMX_NODISCARD enum tmx_status tmx_where_parse(const char *text, struct tmx_where *w, struct tmx_err *err);
/* What the condition is of: a key's index, or n_key and a metric's. TMX_ECONFIG for a name that is neither.
 */
TMX_NODISCARD enum tmx_status tmx_where_index(const struct tmx_result_set *set, const struct tmx_where *w,
                                              size_t *i, struct tmx_err *err);
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
TMX_NODISCARD enum tmx_status tmx_aggregate_parse(const char *word, enum tmx_aggregate *a,
                                                  struct tmx_err *err);

/* Tables of a study that is not complete have a last column `status` that says so in every row. */

/* One row per distinct combination of the row keys, in order of value; one column per
 * pivot value and wanted metric. Runs that fall together are aggregated; failed ones are
 * left out. Unknown names: TMX_ECONFIG with the known ones. */
TMX_NODISCARD enum tmx_status tmx_pivot(const struct tmx_result_set *set, const struct tmx_query *q,
                                        struct tmx_table **t, struct tmx_err *err);
/* All finished runs with all keys and metrics (NULL value list), or the wanted metrics. */
TMX_NODISCARD enum tmx_status tmx_flat(const struct tmx_result_set *set, const struct tmx_query *q,
                                       struct tmx_table **t, struct tmx_err *err);
/* The failed runs and their errors; NULL: no memory. */
struct tmx_table *tmx_failures(const struct tmx_result_set *set);

/* Index of a key or metric by name, or by the part after its last dot. */
TMX_NODISCARD enum tmx_status tmx_key_index(const struct tmx_result_set *set, const char *word, size_t *i,
                                            struct tmx_err *err);
TMX_NODISCARD enum tmx_status tmx_metric_index(const struct tmx_result_set *set, const char *word, size_t *i,
                                               struct tmx_err *err);

bool tmx_is_seed(const char *key); /* "seed" or "group.seed" */
/* Is a seed the only key of which cells have several values? Then the runs of a cell are repetitions, and an
 * interval of their mean is one. */
bool tmx_only_repeated(const struct tmx_result_set *set, const bool *pooled);

/* Order of two parameter values: numbers by value, before texts. */
int tmx_value_compare(const char *a, const char *b);

#endif

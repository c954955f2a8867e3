/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TMX_PAPERS_VALUES_H
#define TMX_PAPERS_VALUES_H

/* A paper's printed values: list `values` of a suite file (docs/formats.md), and the one rule that sets ours
 * beside them. Every kind of suite says only what a name means and what the number is. */

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/arena.h"
#include "base/opt.h"
#include "base/setting.h"
#include "base/table.h"

/* Where our number comes from, seen from the printed one. */
enum tmx_origin {
    TMX_FITTED,   /* parameters were fitted to it */
    TMX_WATCHED,  /* not fitted, but looked at while a reading or a constant was chosen */
    TMX_DERIVED,  /* follows from fitted ones inside a model that was chosen with this value in view */
    TMX_IDENTITY, /* could not come out otherwise */
    TMX_INPUT,    /* went in */
    TMX_UNSEEN,   /* nothing was fitted to it, and no reading was chosen after looking at it */
    TMX_N_ORIGIN
};
extern const char *const tmx_origins[]; /* their words, NULL-terminated */

enum tmx_paper_relation {
    TMX_PAPER_EQUAL,
    TMX_PAPER_AT_MOST,
    TMX_PAPER_AT_LEAST
}; /* what the paper says: 6 %; at most, at least */

enum tmx_outcome {
    TMX_IN_BAND,
    TMX_OUT_OF_BAND,
    TMX_UNDECIDED, /* an order closer than twice what tick, grid and seed move it */
    TMX_NO_VALUE,  /* thermix has no number: the run failed, it is undefined, or not modelled */
    TMX_N_OUTCOME
};
extern const char *const tmx_outcomes[];

/* The rule: error = ours - printed; in band when |error| <= band, or when ours passes the printed bound by no
 * more than band. What is not finite has no value and is never a hit. */
enum tmx_outcome tmx_value_outcome(enum tmx_paper_relation relation, double printed, double ours,
                                   double band);

/* Which number of a suite. */
struct tmx_pick {
    char of[96];     /* a mix, kernel or batch, or a group of them such as "mean" */
    char policy[96]; /* or setup */
    char column[64]; /* what is taken; "": nothing, thermix does not model it */
    char variant[64];
};

enum { TMX_WHY = 256 };

/* Of a suite: its list, and what its names mean. */
struct tmx_value_source {
    void *ctx;
    const char *paper;   /* "003" */
    const char *policy;  /* of a value that names none */
    size_t n_seed;       /* runs with one seed each, >= 1 */
    unsigned first_seed; /* for seeds.csv */
    bool fitted;         /* the suite's constants were fitted to the values that the list calls watched */
    bool number_rows;    /* a first column names the rows v1, v2, ... as sets.csv does */
    /* The number of a pick under a seed; NAN: there is none. why [TMX_WHY] gets what of it the suite has not.
     * Before anything has run it is only asked for that, with TMX_NAMES_ALONE as the seed. */
    double (*number)(void *ctx, const struct tmx_pick *p, size_t seed, char *why);
    /* of tmx_values_read */
    bool any;                /* false: a suite without `values` */
    struct tmx_value *value; /* [n_value] */
    size_t n_value;
    struct tmx_arena arena;
};
#define TMX_NAMES_ALONE SIZE_MAX

/* Does the suite have what a pick names? Else an error at this place of the file; errors stay. */
void tmx_pick_check(const struct tmx_value_source *from, const struct tmx_pick *p,
                    const struct tmx_setting *at, struct tmx_err *err);

/* Read and check the list before anything runs. */
void tmx_values_read(struct tmx_value_source *from, const struct tmx_setting *root, struct tmx_err *err);
void tmx_values_finish(struct tmx_value_source *from); /* also of a list that was not read */

/* paper.csv. seeds: every value under every seed, where there are several; NULL: not wanted. The caller
 * destroys both. */
struct tmx_table *tmx_values_table(const struct tmx_value_source *from, struct tmx_table **seeds);

/* Ours of an entry of the list; NAN: there is none. */
double tmx_values_ours(const struct tmx_value_source *from, size_t value, size_t seed);

/* The printed value of a pick without a second one, of this origin; false: the list has none. */
bool tmx_values_find(const struct tmx_setting *root, const struct tmx_pick *pick, enum tmx_origin origin,
                     double *printed);

/* A paper's values in the rows of one suite: [origin][outcome] counts. */
struct tmx_score {
    size_t n[TMX_N_ORIGIN][TMX_N_OUTCOME];
};
void tmx_score_add(struct tmx_score *s, const char *origin, const char *outcome); /* other words: ignored */
size_t tmx_score_of(const struct tmx_score *s, enum tmx_origin o);                /* all outcomes */

/* The report of papers against ours as Markdown: one section a folder that `thermix table SUITE -o` wrote,
 * with the notes of <notes>/<suite>.md where there are any. */
TMX_NODISCARD enum tmx_status tmx_reproduce(const char *const *dir, size_t n_dir, const char *notes,
                                            FILE *out, struct tmx_err *err);

/* The rows of the paper.csv of each folder under one another, after a column that names the folder; what one
 * has and another lacks is empty there. The caller destroys *t. Errors: of reading them. */
TMX_NODISCARD enum tmx_status tmx_paper_stack(const char *const *dir, size_t n_dir, struct tmx_table **t,
                                              struct tmx_err *err);

extern const struct tmx_keys tmx_value_keys[]; /* of a suite */

#endif

/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TMX_PAPERS_SUITE_CTA_H
#define TMX_PAPERS_SUITE_CTA_H

/* What suites `tcs` and `apsa` share: their file, kernels, chips and seeds, the numbers a printed value can
 * be set beside, extra output files. */

#include "base/arena.h"
#include "papers/suite.h"
#include "papers/values.h"
#include "run/cta.h"
#include "study/microbench/cta_table.h"

enum { TMX_CTA_LIST = 32, TMX_CTA_PROGRAMS = 64, TMX_CTA_CHIPS = 6 };

struct tmx_cta_suite;

/* One launch (0: all) of a kernel under a policy on a chip with a seed. */
struct tmx_cta_at {
    size_t seed, chip, kernel, launch;
    const char *policy;
};

struct tmx_cta_column { /* what a printed value may name as its column */
    const char *name;
    double (*number)(const struct tmx_cta_suite *s, const struct tmx_cta_at *at); /* NAN: none */
};

struct tmx_cta_kind {                     /* what tells one suite from the other */
    const char *paper;                    /* "000" */
    const char *first, *second;           /* keys of the two lists of kernels */
    const char *first_name, *second_name; /* of the groups, in `of = "mean ..."` */
    const char *const *policies;          /* NULL-terminated; on the suite's chip */
    const char *const *beside;            /* likewise, on its further chips */
    const struct tmx_cta_column *columns; /* {0}-terminated, beside those of every row */
};

struct tmx_cta_suite {
    const struct tmx_suite_call *call;
    const struct tmx_cta_kind *kind;
    struct tmx_cta_chip chip[TMX_CTA_CHIPS]; /* [n_chip]; [0] the suite's own */
    char chip_name[TMX_CTA_CHIPS][64];       /* as `variant` of a value; [0] is "" */
    size_t n_chip, n_seed;
    struct tmx_cta_options options; /* with the first seed */
    struct tmx_value_source values;
    struct tmx_memory_program
        *program; /* [n_seed][TMX_CTA_PROGRAMS], n used: the first list, then the second */
    size_t n, n_first;
    struct tmx_cta_report *report; /* [n_seed * n_chip], the chip running fastest */
    struct tmx_table *cores;       /* per-core parameters, both sources; NULL without an output folder */
    struct tmx_arena arena;
};

/* Read the suite, its chips and all kernels, and check its `values`. */
TMX_NODISCARD enum tmx_status tmx_cta_suite_begin(struct tmx_cta_suite *s, const struct tmx_suite_call *call,
                                                  const struct tmx_cta_kind *kind, struct tmx_err *err);
void tmx_cta_suite_end(struct tmx_cta_suite *s);

/* Run every kernel under the kind's policies on every chip with every seed. */
TMX_NODISCARD enum tmx_status tmx_cta_suite_run(const struct tmx_cta_suite *s, struct tmx_err *err);

/* The row of a run; NULL where there is none. */
const struct tmx_cta_row *tmx_cta_suite_row(const struct tmx_cta_suite *s, const struct tmx_cta_at *at);

/* A column's number of a run. */
double tmx_cta_suite_number(const struct tmx_cta_suite *s, const char *column, const struct tmx_cta_at *at);

/* table.csv (`table`, or that of the first seed where it is NULL), paper.csv, seeds.csv, launches.csv,
 * core.csv. */
TMX_NODISCARD enum tmx_status tmx_cta_suite_write(const struct tmx_cta_suite *s,
                                                  const struct tmx_table *table, struct tmx_err *err);

#endif

/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TMX_PAPERS_CTA_SUITE_H
#define TMX_PAPERS_CTA_SUITE_H

/* What suites `tcs` and `apsa` share: their file, kernel lists, extra output files, figures. */

#include "papers/suite.h"
#include "run/cta_core.h"
#include "study/alone/cta_table.h"

enum { TMX_CTA_LIST = 32 };

struct tmx_cta_suite {
    const struct tmx_suite_call *call;
    char chip_name[64], half_chip[64];
    struct tmx_cta_chip chip;
    struct tmx_cta_options options;
    struct tmx_memory_program *program; /* [n] owned: the first list, then the second */
    size_t n, n_first;
    struct tmx_cta_report report;
    struct tmx_table *paper;
    struct tmx_table *cores; /* per-core parameters, both sources; NULL without an output folder */
    char paper_number[8];
};

/* Read `base` and the two kernel lists named; loads the chip and all kernels. */
TMX_NODISCARD enum tmx_status tmx_cta_suite_begin(struct tmx_cta_suite *s, const struct tmx_suite_call *call,
                                                  const char *paper, const char *first, const char *second,
                                                  struct tmx_err *err);
void tmx_cta_suite_end(struct tmx_cta_suite *s);

/* Run every kernel under the policies given as text (NULL-terminated) and add the rows to report. */
TMX_NODISCARD enum tmx_status tmx_cta_suite_run(const struct tmx_cta_suite *s,
                                                const struct tmx_cta_chip *chip, const char *const *policies,
                                                struct tmx_cta_report *report, struct tmx_err *err);

/* Mean over kernels first .. last - 1 of a field of the rows under a policy: offset of a double in
 * struct tmx_cta_row. */
double tmx_cta_suite_mean(const struct tmx_cta_suite *s, const char *policy, size_t first, size_t last,
                          size_t field);
/* The smallest (sign < 0) or largest value likewise. */
double tmx_cta_suite_extreme(const struct tmx_cta_suite *s, const char *policy, size_t first, size_t last,
                             size_t field, int sign);

/* A row of paper.csv. paper_value NAN: the text prints none. What misses it by more than `band` has status
 * not_reproduced, anything else and every input the status given. */
void tmx_cta_suite_paper(struct tmx_cta_suite *s, const char *figure, const char *quantity,
                         const char *condition, const char *unit, double paper_value, double ours,
                         double band, enum tmx_paper_status status);

/* Write table t as DIR/name where the call has an output folder. */
TMX_NODISCARD enum tmx_status tmx_cta_suite_save(const struct tmx_cta_suite *s, const struct tmx_table *t,
                                                 const char *name, struct tmx_err *err);

/* table.csv, paper.csv, launches.csv, core.csv. */
TMX_NODISCARD enum tmx_status tmx_cta_suite_write(struct tmx_cta_suite *s, struct tmx_err *err);

#endif

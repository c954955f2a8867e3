/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TMX_PAPERS_CONSOLIDATION_H
#define TMX_PAPERS_CONSOLIDATION_H

/* Private to suite_consolidation.c and consolidation_figures.c: the suite of paper 004. */

#include "core/base/table.h"
#include "papers/suite.h"
#include "power/regress.h"
#include "run/input/job_files.h"

struct tmx_consolidation {
    struct tmx_job_data data;
    struct tmx_table *table, *paper;
};

struct tmx_consolidation_row { /* of table.csv; 0 where there is no value */
    const char *table, *name, *setup;
    size_t instances;
    const struct tmx_prediction *ours;
    double paper_time_s, paper_energy_j;
    enum tmx_paper_status status;
};
void tmx_consolidation_row(struct tmx_consolidation *s, const struct tmx_consolidation_row *r);

/* Of paper.csv; paper is NAN where the text prints no value. */
void tmx_consolidation_paper(struct tmx_consolidation *s, const char *figure, const char *quantity,
                             const char *name, const char *unit, double paper, double ours,
                             enum tmx_paper_status status);

/* Table 1: the speed-ups are input. */
enum tmx_status tmx_consolidation_table1(struct tmx_consolidation *s, struct tmx_err *err);

/* Figures 1, 7 and 8: instances of encryption and sorting, merged, one by one and on the CPU, in units of
 * one instance on the CPU; what the text says of them. */
enum tmx_status tmx_consolidation_curves(struct tmx_consolidation *s, struct tmx_err *err);

void tmx_consolidation_times(struct tmx_consolidation *s, const struct tmx_job_batch *batch, size_t n);

/* Figure 5: powers predicted from event rates by the regression against those that the tables imply. */
void tmx_consolidation_power(struct tmx_consolidation *s, const struct tmx_job_batch *batch, size_t n,
                             const struct tmx_power_fit *fit);

#endif

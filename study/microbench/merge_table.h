/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TMX_STUDY_MICROBENCH_MERGE_TABLE_H
#define TMX_STUDY_MICROBENCH_MERGE_TABLE_H

/* A batch of instances (paper 004): time and energy on the CPU, merged and one after another; what to do. */

#include <stdio.h>

#include "base/table.h"
#include "run/load/job_files.h"

/* One row a setup, measured values beside ours where the batch has them. The caller destroys *out. */
TMX_NODISCARD enum tmx_status tmx_merge_table(const struct tmx_job_data *d, const struct tmx_job_batch *j,
                                              double temp_c, struct tmx_table **out, struct tmx_err *err);

/* The decision, its margin and the best grouping, as lines of text. */
TMX_NODISCARD enum tmx_status tmx_merge_print(const struct tmx_job_data *d, const struct tmx_job_batch *j,
                                              double temp_c, FILE *out, struct tmx_err *err);

#endif

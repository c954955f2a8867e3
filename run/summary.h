/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TMX_RUN_SUMMARY_H
#define TMX_RUN_SUMMARY_H

/* What a run leaves behind as tables; the caller ends them with tmx_table_destroy. */

#include "core/base/table.h"
#include "run/run.h"

/* One row: the run's id, mix and policy, then every metric. */
TMX_NODISCARD enum tmx_status tmx_run_summary(const struct tmx_run *run, struct tmx_table **out,
                                              struct tmx_err *err);
/* A row a kernel of the mix: times, blocks, energy, power density index. */
TMX_NODISCARD enum tmx_status tmx_run_kernels(const struct tmx_run *run, struct tmx_table **out,
                                              struct tmx_err *err);

/* Files of a folder that is there: resolved.cfg before the run, summary.csv and kernels.csv after it. */
TMX_NODISCARD enum tmx_status tmx_run_save_resolved(const struct tmx_run *run, const char *folder,
                                                    struct tmx_err *err);
TMX_NODISCARD enum tmx_status tmx_run_save_tables(const struct tmx_run *run, const char *folder,
                                                  struct tmx_err *err);

#endif

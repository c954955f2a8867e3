/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TMX_STUDY_RUN_ALONE_H
#define TMX_STUDY_RUN_ALONE_H

#include <signal.h>

#include "run/run.h"
#include "study/study_mpi.h"
#include "study/table_out.h"

struct tmx_run_alone {                 /* one run by itself: its folder, its screen, its interruption */
    const char *dir;                   /* tables, resolved.cfg and traces go there; NULL: nowhere */
    double trace_s, hotspot_s;         /* between rows of trace.csv, and of HotSpot's files; NAN: none */
    const volatile sig_atomic_t *stop; /* not 0: the run ends; NULL: it does not */
    enum tmx_format format;            /* of what is printed */
    const char *const *column;         /* [n_column] of the table; 0: what fits, the first rows */
    size_t n_column;
    bool quiet;                /* print no progress, and no table for people */
    const struct tmx_mpi *mpi; /* the ranks it is on, which all make this call; rank 0 writes. NULL: none */
};

/* Run, then write and print what there is, also when the run failed; returns the run's own failure first. */
TMX_NODISCARD enum tmx_status tmx_run_alone(struct tmx_run *run, const struct tmx_run_alone *a,
                                            struct tmx_err *err);

/* With seed, seed + 1, ... in place of the configuration's own, or (nudge) with its own and start
 * temperatures TMX_NUDGE_K apart: n runs, kept in dir's runs.sqlite; prints and writes (seeds.csv) a row a
 * metric: metric, mean, sd (of the sample), ci95 (half the 95 % interval of the mean, by Student's t), n,
 * min, max. Of *a it reads dir, format and quiet. */
TMX_NODISCARD enum tmx_status tmx_run_seeds(const char *config, const struct tmx_sets *sets, size_t n,
                                            bool nudge, const struct tmx_run_alone *a, struct tmx_err *err);

#endif

/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TMX_STUDY_STUDY_MPI_H
#define TMX_STUDY_STUDY_MPI_H

/* What uses the ranks of an MPI job. A study: rank 0 hands out one run at a time and is the only writer;
 * every other rank runs what it is given. One run: each rank steps its share of the GPUs, rank 0 writes.
 * Without MPI at build time these functions say so. */

#include "core/machine/decomposition.h"
#include "study/study.h"

struct tmx_mpi {
    int rank, size; /* 0, 1 when not started by an MPI launcher */
};

/* Joins the job when a launcher (mpirun, srun --mpi) started this program. A launched
 * program that was built without MPI: TMX_EUNSUPPORTED, as every rank would do all runs. */
TMX_NODISCARD enum tmx_status tmx_mpi_begin(struct tmx_mpi *m, int *argc, char ***argv, struct tmx_err *err);
void tmx_mpi_end(void);

/* For one run on all ranks. Only rank 0 speaks: the others' standard output and error lead nowhere from here
 * on. */
void tmx_mpi_silence(const struct tmx_mpi *m);
/* Called by all: the failure of the first rank that has one, on all; st and err: this rank's. A rank that
 * continued alone would wait for ever. */
TMX_NODISCARD enum tmx_status tmx_mpi_agree(const struct tmx_mpi *m, enum tmx_status st, struct tmx_err *err);
/* How the ranks of a simulation reach one another; watched: core/machine/decomposition.h. */
struct tmx_ranks tmx_mpi_ranks(const struct tmx_mpi *m, bool watched);

/* "I/N", I from 1 to N, into o->shard and o->n_shard. */
TMX_NODISCARD enum tmx_status tmx_study_read_shard(const char *text, struct tmx_study_options *o,
                                                   struct tmx_err *err);

/* Run what is missing. On rank 0 says on standard output what was done, unless the study could not begin. */
TMX_NODISCARD enum tmx_status tmx_study_on_ranks(const struct tmx_mpi *mpi, const struct tmx_runs *runs,
                                                 const struct tmx_study_options *o, struct tmx_err *err);

#endif

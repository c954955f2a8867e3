/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TMX_STUDY_STUDY_RANKS_H
#define TMX_STUDY_STUDY_RANKS_H

/* A study on this process, or on all that an MPI launcher started: rank 0 leads, the others follow. */

#include "study/study_mpi.h"

/* "I/N", I from 1 to N, into o->shard and o->n_shard. */
TMX_NODISCARD enum tmx_status tmx_study_read_shard(const char *text, struct tmx_study_options *o,
                                                   struct tmx_err *err);

/* Run what is missing. On rank 0 says on standard output what was done, unless the study could not begin. */
TMX_NODISCARD enum tmx_status tmx_study_on_ranks(const struct tmx_mpi *mpi, const struct tmx_runs *runs,
                                                 const struct tmx_study_options *o, struct tmx_err *err);

#endif

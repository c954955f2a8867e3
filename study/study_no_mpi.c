/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Ranks in a build that found no MPI. */

#include <stdlib.h>

#include "study/study_mpi.h"

enum tmx_status tmx_mpi_begin(struct tmx_mpi *m, int *argc, char ***argv, struct tmx_err *err)
{
    (void)argc, (void)argv;
    *m = (struct tmx_mpi){.size = 1};
    if (getenv("OMPI_COMM_WORLD_SIZE") || getenv("PMI_SIZE") || getenv("PMIX_RANK")) {
        return tmx_fail(err, TMX_EUNSUPPORTED,
                        "built without MPI, so every rank would do all of it; install libopenmpi-dev and "
                        "build again (sweeps also go with --shard)");
    }
    return TMX_OK;
}

void tmx_mpi_end(void)
{
}

enum tmx_status tmx_mpi_lead(const struct tmx_mpi *m, struct tmx_study *s, struct tmx_err *err)
{
    (void)m;
    return tmx_study_run_local(s, err);
}

enum tmx_status tmx_mpi_follow(struct tmx_study *s, struct tmx_err *err)
{
    (void)s;
    return tmx_fail(err, TMX_EUNSUPPORTED, "built without MPI");
}

void tmx_mpi_hush(const struct tmx_mpi *m)
{
    (void)m;
}

enum tmx_status tmx_mpi_agree(const struct tmx_mpi *m, enum tmx_status st, struct tmx_err *err)
{
    (void)m, (void)err;
    return st;
}

struct tmx_ranks tmx_mpi_ranks(const struct tmx_mpi *m, bool watched)
{
    (void)m;
    return (struct tmx_ranks){.size = 1, .watched = watched};
}

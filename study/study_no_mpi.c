/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The study over MPI ranks, in a build that found no MPI. */

#include <stdlib.h>

#include "study/study_mpi.h"

enum tmx_status tmx_mpi_begin(struct tmx_mpi *m, int *argc, char ***argv, struct tmx_err *err)
{
    (void)argc, (void)argv;
    *m = (struct tmx_mpi){.size = 1};
    if (getenv("OMPI_COMM_WORLD_SIZE") || getenv("PMI_SIZE") || getenv("PMIX_RANK")) {
        return tmx_fail(err, TMX_EUNSUPPORTED,
                        "built without MPI, so every rank would do all runs; use --shard, or install "
                        "libopenmpi-dev and build again");
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

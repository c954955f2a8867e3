#include "core/machine/job.h"

#include <math.h>

struct tmx_job_blocks tmx_job_blocks(const struct tmx_job *job, double slots)
{
    const double total = ceil(job->work_sm_s * job->blocks_per_sm_s - 1e-6);
    const double retired =
        job->state == TMX_JOB_DONE ? total : floor(job->done_sm_s * job->blocks_per_sm_s + 1e-6);
    struct tmx_job_blocks b = {.total = (uint64_t)total};
    b.retired = retired < total ? (uint64_t)retired : b.total;
    const uint64_t left = b.total - b.retired;
    const uint64_t room = job->state == TMX_JOB_RUNNING && slots > 0 ? (uint64_t)ceil(slots - 1e-9) : 0;
    b.resident = room < left ? room : left;
    b.pending = left - b.resident;
    return b;
}

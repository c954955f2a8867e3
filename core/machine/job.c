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

void tmx_job_rows(const struct tmx_job *job, size_t n_job, const struct tmx_kernel *kernel, size_t n_kernel,
                  size_t *row)
{
    for (size_t j = 0; j < n_job; j++) {
        row[j] = SIZE_MAX;
        for (size_t k = 0; k < n_kernel; k++) {
            row[j] = job[j].kernel == &kernel[k] ? k : row[j];
        }
    }
}

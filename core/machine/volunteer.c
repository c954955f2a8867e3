/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "core/machine/volunteer.h"

void tmx_machine_volunteer(struct tmx_machine *m, struct tmx_gpu *gpu, const double *sensed_k)
{
    for (size_t q = 0; q < gpu->n_queue; q++) {
        struct tmx_job *j = &m->job[gpu->queue[q]];
        size_t coldest = TMX_NO_JOB;
        if (j->pdi_valid || j->profiling_s > 0 || gpu->n_run == 0) {
            continue;
        }
        for (size_t sm = gpu->sm0; sm < gpu->sm0 + gpu->chip->n_sm; sm++) {
            const bool free_sm = m->volunteer_job[sm] == TMX_NO_JOB && !m->gated[sm];
            if (free_sm && (coldest == TMX_NO_JOB || sensed_k[sm] < sensed_k[coldest])) {
                coldest = sm;
            }
        }
        if (coldest == TMX_NO_JOB) {
            return;
        }
        m->volunteer_job[coldest] = gpu->queue[q];
        gpu->n_volunteer++;
        j->profiling_s = m->job[gpu->run[0]].lifetime_s + j->lifetime_s + m->system_kernel_s;
    }
}

void tmx_machine_profile(struct tmx_machine *m, struct tmx_gpu *gpu)
{
    for (size_t sm = gpu->sm0; sm < gpu->sm0 + gpu->chip->n_sm; sm++) {
        m->volunteer_s[sm] = 0;
        if (m->volunteer_job[sm] == TMX_NO_JOB) {
            continue;
        }
        if (m->volunteer_done[sm]) {
            m->volunteer_job[sm] = TMX_NO_JOB;
            m->volunteer_done[sm] = false;
            gpu->n_volunteer--;
            continue;
        }
        struct tmx_job *j = &m->job[m->volunteer_job[sm]];
        const double step_s = j->profiling_s < m->dt_s ? j->profiling_s : m->dt_s;
        m->volunteer_s[sm] = step_s;
        j->profiling_s -= step_s;
        if (j->profiling_s <= 0 || j->state == TMX_JOB_DONE) {
            j->pdi_valid = true;
            m->volunteer_done[sm] = true; /* its time still counts in this tick */
        }
    }
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a run has to do, as the rows of a bound. */
#include <stdlib.h>

#include "limits/bound.h"
#include "run/state.h"

static enum tmx_status describable(const struct tmx_run *run, struct tmx_err *err)
{
    const char *what = run->jobs  ? "the job level merges work"
                       : run->cta ? "CTA policies change how fast kernels run beside one another"
                       : run->gate && !(run->bound_options.sm_leak < 1)
                           ? "unit gating changes leakage with the work; bound.sm_leak says what it leaves"
                       : run->options.memory_bound_time ? "memory-bound kernels do not follow the clock"
                       : run->n_kind > 1                ? "GPUs of several kinds"
                                                        : NULL;
    return what ? tmx_fail(err, TMX_EUNSUPPORTED, "no bound here: %s", what) : TMX_OK;
}

static size_t row_of(struct tmx_work *w, double sm_w)
{
    size_t row = 0;
    while (row < w->n && w->sm_w[row] != sm_w) {
        row++;
    }
    w->sm_w[row] = sm_w;
    w->n += row == w->n;
    return row;
}

enum tmx_status tmx_work_init(struct tmx_work *w, const struct tmx_run *run, struct tmx_err *err)
{
    const struct tmx_machine *m = tmx_sim_machine(tmx_run_sim_const(run));
    *w = (struct tmx_work){.gain = m->gain > 1 ? m->gain : 1};
    const enum tmx_status st = describable(run, err);
    if (st) {
        return st;
    }
    w->sm_w = calloc(m->n_job, sizeof *w->sm_w);
    w->work_s = calloc(m->n_job, sizeof *w->work_s);
    w->row_of_job = calloc(m->n_job, sizeof *w->row_of_job);
    if (!w->sm_w || !w->work_s || !w->row_of_job) {
        return tmx_fail(err, TMX_ENOMEM, "work of %zu kernels", m->n_job);
    }
    for (size_t j = 0; j < m->n_job; j++) {
        if (m->job[j].phases) {
            return tmx_fail(err, TMX_EUNSUPPORTED,
                            "no bound here: the power of kernel %s changes while it runs",
                            m->job[j].kernel->name);
        }
        if (m->job[j].arrival_s > 0) {
            return tmx_fail(err, TMX_EUNSUPPORTED,
                            "no bound here: kernels arrive later, and idle time cools");
        }
        const double work_s = m->job[j].work_sm_s / (double)m->n_sm;
        w->row_of_job[j] = row_of(w, m->job[j].power_w);
        w->work_s[w->row_of_job[j]] += work_s;
        w->sum_s += work_s;
    }
    return TMX_OK;
}

void tmx_work_finish(struct tmx_work *w)
{
    free(w->sm_w);
    free(w->work_s);
    free(w->row_of_job);
    *w = (struct tmx_work){0};
}

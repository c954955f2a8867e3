/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "core/sim/answers.h"

#include <math.h>

static enum tmx_status outside(const struct tmx_plugin *policy, const struct tmx_place *p, size_t n_gpu,
                               size_t job, struct tmx_err *err)
{
    return tmx_fail(err, TMX_ESOLVE, "place policy %s: GPUs %zu and %zu more for job %zu, of a node with %zu",
                    policy->name, p->home, p->n - 1, job, n_gpu);
}

enum tmx_status tmx_answer_place(const struct tmx_plugin *policy, const struct tmx_place *p,
                                 const struct tmx_machine *m, size_t job, struct tmx_err *err)
{
    const bool inside = p->n == 0 || (p->n <= m->n_gpu && p->home <= m->n_gpu - p->n);
    return inside ? TMX_OK : outside(policy, p, m->n_gpu, job, err);
}

enum tmx_status tmx_answer_wider(const struct tmx_plugin *policy, const struct tmx_place *p,
                                 const struct tmx_machine *m, size_t job, struct tmx_err *err)
{
    const struct tmx_job *j = &m->job[job];
    const enum tmx_status st = tmx_answer_place(policy, p, m, job, err);
    if (!st && p->n > 0 && (p->home > j->home_gpu || p->home + p->n < j->home_gpu + j->n_gpu)) {
        return tmx_fail(err, TMX_ESOLVE,
                        "place policy %s: GPUs %zu to %zu for job %zu leave out one it runs on", policy->name,
                        p->home, p->home + p->n - 1, job);
    }
    return st;
}

enum tmx_status tmx_answer_order(const struct tmx_plugin *policy, const size_t *order, size_t n_sm,
                                 size_t gpu, double *scratch, struct tmx_err *err)
{
    for (size_t i = 0; i < n_sm; i++) {
        scratch[i] = 0;
    }
    for (size_t i = 0; i < n_sm; i++) {
        if (order[i] >= n_sm || scratch[order[i]] > 0) {
            return tmx_fail(
                err, TMX_ESOLVE,
                "thread-block policy %s: the order of GPU %zu names SM %zu %s; it has SMs 0 to %zu",
                policy->name, gpu, order[i], order[i] < n_sm ? "twice" : "that it has not", n_sm - 1);
        }
        scratch[order[i]] = 1;
    }
    return TMX_OK;
}

static bool is_share(double x)
{
    return x >= 0 && x <= 1; /* false for what is no number */
}

enum tmx_status tmx_answer_mix(const struct tmx_plugin *policy, const struct tmx_request *r,
                               const struct tmx_machine *m, struct tmx_err *err)
{
    for (size_t g = 0; g < m->n_gpu; g++) {
        if (!is_share(r->gpu[g].share)) {
            return tmx_fail(err, TMX_ESOLVE, "mix policy %s: a share of %g on GPU %zu, expected 0 to 1",
                            policy->name, r->gpu[g].share, g);
        }
        if (!is_share(r->gpu[g].rest) || !(r->gpu[g].late_s >= 0)) {
            return tmx_fail(
                err, TMX_ESOLVE,
                "mix policy %s: rest = %g, late_s = %g s on GPU %zu, expected 0 to 1 and 0 or more",
                policy->name, r->gpu[g].rest, r->gpu[g].late_s, g);
        }
        double parts = 0;
        for (size_t k = 0; k < r->gpu[g].n_part && k < TMX_WAYS; k++) {
            parts += r->gpu[g].part[k];
            if (!is_share(r->gpu[g].part[k])) {
                parts = NAN;
            }
        }
        if (r->gpu[g].n_part > TMX_WAYS || !(parts <= 1 + 1e-9)) {
            return tmx_fail(
                err, TMX_ESOLVE,
                "mix policy %s: %zu parts of GPU %zu that add up to %g, expected up to %d of 0 to 1, in "
                "all at most 1",
                policy->name, r->gpu[g].n_part, g, parts, (int)TMX_WAYS);
        }
        if (r->gpu[g].admit != TMX_NO_JOB && r->gpu[g].admit >= m->n_job) {
            return tmx_fail(err, TMX_ESOLVE, "mix policy %s: job %zu for GPU %zu, there are %zu",
                            policy->name, r->gpu[g].admit, g, m->n_job);
        }
    }
    return TMX_OK;
}

enum tmx_status tmx_answer_levels(const char *kind, const struct tmx_plugin *policy,
                                  const struct tmx_request *r, const struct tmx_machine *m,
                                  struct tmx_err *err)
{
    for (size_t g = 0; g < m->n_gpu; g++) {
        const struct tmx_gpu_request *q = &r->gpu[g];
        const size_t n_level = m->gpu[g].n_level, n_sm = m->gpu[g].chip->n_sm;
        if (q->level >= n_level || q->late_level >= n_level) {
            return tmx_fail(err, TMX_ESOLVE, "%s policy %s: clock level %zu on GPU %zu, expected 0 to %zu",
                            kind, policy->name, q->level >= n_level ? q->level : q->late_level, g,
                            n_level - 1);
        }
        if (q->n_active < 1 || q->n_active > n_sm) {
            return tmx_fail(err, TMX_ESOLVE, "%s policy %s: %zu active SMs on GPU %zu, expected 1 to %zu",
                            kind, policy->name, q->n_active, g, n_sm);
        }
    }
    return TMX_OK;
}

enum tmx_status tmx_answer_caps(const struct tmx_plugin *policy, const struct tmx_request *r,
                                const struct tmx_machine *m, bool kept, struct tmx_err *err)
{
    for (size_t g = 0; g < m->n_gpu; g++) {
        const double cap_w = r->gpu[g].power_cap_w;
        if (!(cap_w > 0)) {
            return tmx_fail(err, TMX_ESOLVE,
                            "mix policy %s: power_cap_w = %g on GPU %zu, expected more than 0", policy->name,
                            cap_w, g);
        }
        if (!kept && cap_w < INFINITY) {
            return tmx_fail(err, TMX_ESOLVE,
                            "mix policy %s: a power cap of %g W on GPU %zu, but no dtm policy of this run "
                            "keeps caps; there is dtm = { policy = \"boost\"; }",
                            policy->name, cap_w, g);
        }
    }
    return TMX_OK;
}

enum tmx_status tmx_answer_share(const struct tmx_plugin *policy, double share, size_t gpu, size_t sm,
                                 struct tmx_err *err)
{
    return is_share(share)
               ? TMX_OK
               : tmx_fail(err, TMX_ESOLVE,
                          "mix policy %s: spread gives SM %zu of GPU %zu a share of %g, expected 0 to 1",
                          policy->name, sm, gpu, share);
}

enum tmx_status tmx_answer_speed(const struct tmx_plugin *policy, double speed, size_t fan,
                                 struct tmx_err *err)
{
    return isfinite(speed) ? TMX_OK
                           : tmx_fail(err, TMX_ESOLVE, "fan policy %s: a speed of %g for fan %zu",
                                      policy->name, speed, fan);
}

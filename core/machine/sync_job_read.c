/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The group `sync_job` of a run's configuration. */
#include <math.h>
#include <stdlib.h>

#include "core/base/text.h"
#include "core/machine/sync_job.h"

const struct tmx_opt tmx_sync_job_opts[] = {
    TMX_ROW_INT(tmx_sync_job_options, members, "1", 0, 4096, 0, "the first kernels of the mix; 0: all"),
    TMX_ROW_REAL(tmx_sync_job_options, step_work_s, "s", 1e-5, 1e6, NAN,
                 "work of a step on a whole GPU at its nominal clock"),
    TMX_ROW_INT(tmx_sync_job_options, steps, "1", 1, 1000000, NAN, "steps to do"),
    TMX_ROW_REAL(tmx_sync_job_options, comm_s, "s", 0, 1e6, 0,
                 "communication after each step; the clock does not change it"),
    TMX_ROW_REAL(tmx_sync_job_options, wait_power, "1", 0, 1, 0.45,
                 "dynamic power of who waits or communicates, relative to working (assumed)"),
    {0},
};

/* A list with an element for each member; absent: NULL. */
static enum tmx_status members(const struct tmx_setting *group, const char *key, size_t n,
                               const struct tmx_setting **list, struct tmx_err *err)
{
    const struct tmx_setting *at = tmx_setting_member(group, key);
    return at ? tmx_setting_list(group, key, n, n, list, err) : TMX_OK;
}

static enum tmx_status read_weights(struct tmx_sync_job_spec *s, const struct tmx_setting *group,
                                    struct tmx_err *err)
{
    const struct tmx_setting *list = NULL;
    const enum tmx_status st = members(group, "weights", s->n_member, &list, err);
    for (size_t i = 0; i < s->n_member && !st; i++) {
        const struct tmx_setting *e = tmx_setting_at(list, i);
        s->weight[i] = 1;
        if (e && (!tmx_setting_real(e, &s->weight[i]) || !(s->weight[i] >= 1e-3 && s->weight[i] <= 1e3))) {
            return tmx_fail_setting(err, e, "sync_job.weights: expected numbers in [0.001, 1000]");
        }
    }
    return st;
}

static enum tmx_status read_gpus(struct tmx_sync_job_spec *s, const struct tmx_setting *group, size_t n_gpu,
                                 struct tmx_err *err)
{
    const struct tmx_setting *list = NULL;
    const enum tmx_status st = members(group, "gpus", s->n_member, &list, err);
    for (size_t i = 0; i < s->n_member && !st; i++) {
        const struct tmx_setting *e = tmx_setting_at(list, i);
        s->gpu[i] = i;
        if (e) {
            const int64_t v = tmx_setting_is(e, TMX_SETTING_INTEGER) ? tmx_setting_integer(e) : -1;
            if (v < 0 || (uint64_t)v >= n_gpu) {
                return tmx_fail_setting(err, e, "sync_job.gpus: expected numbers of GPUs, 0 to %zu",
                                        n_gpu - 1);
            }
            s->gpu[i] = (size_t)v;
        }
        for (size_t k = 0; k < i; k++) {
            if (s->gpu[k] == s->gpu[i]) {
                return tmx_fail_setting(err, e ? e : group,
                                        "sync_job.gpus: members %zu and %zu on GPU %zu; each needs its own",
                                        k, i, s->gpu[i]);
            }
        }
    }
    return st;
}

enum tmx_status tmx_sync_job_read(struct tmx_sync_job_spec *s, const struct tmx_setting *root, size_t n_job,
                                  size_t n_at_start, size_t n_gpu, struct tmx_err *err)
{
    static const char *const also[] = {"weights", "gpus", NULL};
    const struct tmx_setting *group = tmx_setting_member(root, "sync_job");
    *s = (struct tmx_sync_job_spec){0};
    if (!group) {
        return TMX_OK;
    }
    enum tmx_status st = tmx_opt_read_group(tmx_sync_job_opts, &s->options, root, "sync_job", also, err);
    if (st) {
        return st;
    }
    const size_t n = s->options.members > 0 ? (size_t)s->options.members : n_job;
    if (n > n_job || n > n_gpu) {
        return tmx_fail_setting(err, group,
                                "sync_job: %zu members, but the mix has %zu kernels and there are %zu GPUs",
                                n, n_job, n_gpu);
    }
    if (n > n_at_start) {
        return tmx_fail_setting(err, group,
                                "sync_job: %zu members, but only %zu kernels of the mix arrive at 0 s", n,
                                n_at_start);
    }
    s->n_member = n;
    s->weight = calloc(n, sizeof *s->weight);
    s->gpu = calloc(n, sizeof *s->gpu);
    if (!s->weight || !s->gpu) {
        return tmx_fail(err, TMX_ENOMEM, "sync_job of %zu members", n);
    }
    st = read_weights(s, group, err);
    return st ? st : read_gpus(s, group, n_gpu, err);
}

void tmx_sync_job_spec_finish(struct tmx_sync_job_spec *s)
{
    free(s->weight);
    free(s->gpu);
    *s = (struct tmx_sync_job_spec){0};
}

void tmx_sync_job_write(const struct tmx_sync_job_spec *s, FILE *out)
{
    if (s->n_member == 0) {
        return;
    }
    fputs("sync_job = {\n", out);
    tmx_opt_write(tmx_sync_job_opts, &s->options, "    ", out);
    fputs("    weights = (", out);
    for (size_t i = 0; i < s->n_member; i++) {
        char real[TMX_REAL_SIZE];
        tmx_real_print(real, s->weight[i]);
        fprintf(out, "%s%s", i ? ", " : "", real);
    }
    fputs(");\n    gpus = (", out);
    for (size_t i = 0; i < s->n_member; i++) {
        fprintf(out, "%s%zu", i ? ", " : "", s->gpu[i]);
    }
    fputs(");\n};\n", out);
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "study/study_ranks.h"

#include <stdint.h>
#include <stdlib.h>

/* "I/N" into a part counted from 0. */
enum tmx_status tmx_study_read_shard(const char *text, struct tmx_study_options *o, struct tmx_err *err)
{
    char *slash, *end;
    const unsigned long i = strtoul(text, &slash, 10), n = *slash == '/' ? strtoul(slash + 1, &end, 10) : 0;
    if (n == 0 || *end || i < 1 || i > n) {
        return tmx_fail(err, TMX_ECONFIG, "--shard %s: expected I/N with I from 1 to N", text);
    }
    o->shard = i - 1;
    o->n_shard = n;
    return TMX_OK;
}

static void report(const struct tmx_study *s, const char *path)
{
    printf("%zu points, %zu distinct runs: %zu there before, %zu done now, %zu failed; %s\n",
           s->runs->n_point, s->n_run, s->n_before, s->n_done, s->n_failed, path);
    if (s->n_failed > 0) {
        printf("The errors: thermix query %s --failed; run them again: --retry-failed\n", path);
    }
}

enum tmx_status tmx_study_on_ranks(const struct tmx_mpi *mpi, const struct tmx_runs *runs,
                                   const struct tmx_study_options *o, struct tmx_err *err)
{
    struct tmx_study s;
    if (mpi->rank > 0) {
        enum tmx_status st = tmx_study_begin_worker(&s, runs, o, err);
        st = st ? st : tmx_mpi_follow(&s, err);
        tmx_study_end(&s);
        return st;
    }
    enum tmx_status st = tmx_study_begin(&s, runs, o, err);
    if (mpi->size > 1) {
        struct tmx_study nothing = {.options = o};
        struct tmx_err ignored;
        const enum tmx_status led = tmx_mpi_lead(mpi, st ? &nothing : &s, st ? &ignored : err);
        st = st ? st : led;
    } else if (!st) {
        st = tmx_study_run_local(&s, err);
    }
    if (s.results) {
        report(&s, o->path);
        if (!st && s.n_failed > 0) {
            st = tmx_fail(err, TMX_ESOLVE, "%zu of %zu runs failed", s.n_failed, s.n_run);
        }
        tmx_study_end(&s);
    }
    return st;
}

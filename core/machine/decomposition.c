/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "core/machine/decomposition.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "core/sim/sim_state.h"
#include "core/sim/tiles.h"

struct tmx_decomposition {
    struct tmx_ranks ranks;
    size_t *first[TMX_N_OF]; /* [size + 1] where the part of each rank begins */
    int *count, *at;         /* [size] bytes of each rank in an exchange, and where they begin */
    unsigned char *all;
    size_t n_all; /* bytes there is room for */
};

enum tmx_status tmx_decomposition_create(struct tmx_decomposition **out, const struct tmx_ranks *ranks,
                                         const struct tmx_machine *m, struct tmx_err *err)
{
    const size_t n = ranks->size;
    if (n > m->n_gpu) {
        return tmx_fail(err, TMX_ECONFIG, "%zu MPI ranks for %zu GPU%s: expected one rank a GPU, at most", n,
                        m->n_gpu, m->n_gpu == 1 ? "" : "s");
    }
    struct tmx_decomposition *s = calloc(1, sizeof *s);
    bool got = s != NULL;
    for (size_t of = 0; of < TMX_N_OF && got; of++) {
        s->first[of] = calloc(n + 1, sizeof *s->first[of]);
        got = s->first[of] != NULL;
    }
    if (got) {
        s->count = calloc(n, sizeof *s->count);
        s->at = calloc(n, sizeof *s->at);
    }
    if (!got || !s->count || !s->at) {
        tmx_decomposition_destroy(s);
        return tmx_fail(err, TMX_ENOMEM, "%zu ranks", n);
    }
    s->ranks = *ranks;
    for (size_t r = 0; r <= n; r++) {
        const size_t g = r * m->n_gpu / n;
        s->first[TMX_OF_RANK][r] = r;
        s->first[TMX_OF_GPU][r] = g;
        s->first[TMX_OF_SM][r] = g < m->n_gpu ? m->gpu[g].sm0 : m->n_sm;
        s->first[TMX_OF_UNIT][r] = g < m->n_gpu ? m->gpu[g].unit0 : m->n_unit;
    }
    *out = s;
    return TMX_OK;
}

void tmx_decomposition_destroy(struct tmx_decomposition *s)
{
    if (s) {
        for (size_t of = 0; of < TMX_N_OF; of++) {
            free(s->first[of]);
        }
        free(s->count);
        free(s->at);
        free(s->all);
        free(s);
    }
}

const struct tmx_ranks *tmx_decomposition_ranks(const struct tmx_decomposition *s)
{
    return &s->ranks;
}

struct tmx_gpus tmx_decomposition_own(const struct tmx_decomposition *s, size_t n_gpu)
{
    return s ? (struct tmx_gpus){s->first[TMX_OF_GPU][s->ranks.rank], s->first[TMX_OF_GPU][s->ranks.rank + 1]}
             : (struct tmx_gpus){0, n_gpu};
}

/* A part of more bytes in all is exchanged where it stands, the others in one message. */
enum { LARGE = 16384 };

static size_t bytes(const struct tmx_decomposition *s, const struct tmx_decomposition_part *part, size_t r,
                    size_t end)
{
    return (s->first[part->of][end] - s->first[part->of][r]) * part->size;
}

static bool large(const struct tmx_decomposition *s, const struct tmx_decomposition_part *part)
{
    return bytes(s, part, 0, s->ranks.size) > LARGE;
}

/* What each rank gives, in `count` and `at`, of the parts that are large, or of those that are not; bytes of
 * all. */
static enum tmx_status measure(struct tmx_decomposition *s, const struct tmx_decomposition_part *part,
                               size_t n_part, bool of_large, size_t *total, struct tmx_err *err)
{
    *total = 0;
    for (size_t r = 0; r < s->ranks.size; r++) {
        size_t n = 0;
        for (size_t i = 0; i < n_part; i++) {
            n += large(s, &part[i]) == of_large ? bytes(s, &part[i], r, r + 1) : 0;
        }
        if (n > INT_MAX - *total) {
            return tmx_fail(err, TMX_EUNSUPPORTED, "ranks exchange more than %d bytes at once: too many GPUs",
                            INT_MAX);
        }
        s->count[r] = (int)n;
        s->at[r] = (int)*total;
        *total += n;
    }
    return TMX_OK;
}

/* What rank r has of the small parts, to or from its place in `all`. */
static void copy(const struct tmx_decomposition *s, const struct tmx_decomposition_part *part, size_t n_part,
                 size_t r, bool out)
{
    unsigned char *buf = s->all + s->at[r];
    for (size_t i = 0; i < n_part; i++) {
        const size_t n = large(s, &part[i]) ? 0 : bytes(s, &part[i], r, r + 1);
        unsigned char *own = (unsigned char *)part[i].array + s->first[part[i].of][r] * part[i].size;
        if (n > 0) {
            memcpy(out ? buf : own, out ? own : buf, n);
        }
        buf += n;
    }
}

static enum tmx_status exchange_small(struct tmx_decomposition *s, const struct tmx_decomposition_part *part,
                                      size_t n_part, struct tmx_err *err)
{
    size_t total;
    enum tmx_status st = measure(s, part, n_part, false, &total, err);
    if (st || total == 0) {
        return st;
    }
    if (total > s->n_all) {
        unsigned char *more = realloc(s->all, total);
        if (!more) {
            return tmx_fail(err, TMX_ENOMEM, "%zu bytes that ranks exchange", total);
        }
        s->all = more;
        s->n_all = total;
    }
    copy(s, part, n_part, s->ranks.rank, true);
    st = s->ranks.gather(s->ranks.ctx, s->all, s->count, s->at, err);
    for (size_t r = 0; r < s->ranks.size && !st; r++) {
        if (r != s->ranks.rank) {
            copy(s, part, n_part, r, false);
        }
    }
    return st;
}

enum tmx_status tmx_decomposition_exchange(struct tmx_decomposition *s,
                                           const struct tmx_decomposition_part *part, size_t n_part,
                                           struct tmx_err *err)
{
    enum tmx_status st = TMX_OK;
    for (size_t i = 0; i < n_part && !st; i++) {
        size_t total;
        if (large(s, &part[i])) {
            st = measure(s, &part[i], 1, true, &total, err);
            st = st ? st : s->ranks.gather(s->ranks.ctx, part[i].array, s->count, s->at, err);
        }
    }
    return st ? st : exchange_small(s, part, n_part, err);
}

/* ---- what a simulation exchanges ---- */

enum tmx_status tmx_sim_on_ranks(struct tmx_sim *s, const struct tmx_ranks *ranks, struct tmx_err *err)
{
    tmx_assert(s->tick == 0 && !s->share);
    const enum tmx_status st = tmx_decomposition_create(&s->share, ranks, s->machine, err);
    if (st) {
        return st;
    }
    s->outcome = calloc(ranks->size, sizeof *s->outcome);
    if (!s->outcome) {
        return tmx_fail(err, TMX_ENOMEM, "%zu ranks", ranks->size);
    }
    tmx_tiles_plan(s->tiles);
    return TMX_OK;
}

/* The words of rank r, to all. */
static enum tmx_status tell(struct tmx_sim *s, size_t r, const struct tmx_err *own, struct tmx_err *err)
{
    const struct tmx_ranks *ranks = tmx_decomposition_ranks(s->share);
    struct tmx_err *all = calloc(ranks->size, sizeof *all);
    const struct tmx_decomposition_part part = {all, TMX_OF_RANK, sizeof *all};
    if (!all) {
        return tmx_fail(err, TMX_ENOMEM, "%zu ranks", ranks->size);
    }
    if (own) {
        all[ranks->rank] = *own;
    }
    const enum tmx_status st = tmx_decomposition_exchange(s->share, &part, 1, err);
    if (!st && err) {
        *err = all[r];
    }
    free(all);
    return st;
}

static size_t ways_in_use(const struct tmx_machine *m)
{
    size_t most = 0;
    for (size_t g = 0; g < m->n_gpu; g++) {
        most = m->gpu[g].n_run > most ? m->gpu[g].n_run : most;
    }
    return most;
}

enum tmx_status tmx_sim_share_tick(struct tmx_sim *s, struct tmx_rank_status own,
                                   const struct tmx_err *own_err, struct tmx_err *err)
{
    const struct tmx_ranks *ranks = tmx_decomposition_ranks(s->share);
    struct tmx_recorder *r = s->recorder;
    const struct tmx_frame *f = &s->frame;
    struct tmx_decomposition_part part[6 + TMX_WAYS] = {
        {s->outcome, TMX_OF_RANK, sizeof *s->outcome},
        {r->now_w, TMX_OF_GPU, sizeof *r->now_w},
        {r->now_gradient_k, TMX_OF_GPU, sizeof *r->now_gradient_k},
        {r->peak_k, TMX_OF_GPU, sizeof *r->peak_k},
    };
    size_t n_part = 4, first = 0;
    for (size_t k = 0, n = ways_in_use(s->machine); k < n; k++) {
        part[n_part++] =
            (struct tmx_decomposition_part){f->way_w + k * f->n_gpu, TMX_OF_GPU, sizeof *f->way_w};
    }
    if (ranks->watched) {
        part[n_part++] = (struct tmx_decomposition_part){f->temp_k, TMX_OF_UNIT, sizeof *f->temp_k};
        part[n_part++] = (struct tmx_decomposition_part){f->power_w, TMX_OF_UNIT, sizeof *f->power_w};
    }
    s->outcome[ranks->rank] = own;
    const enum tmx_status st = tmx_decomposition_exchange(s->share, part, n_part, err);
    if (st) {
        return st;
    }
    for (size_t i = 1; i < ranks->size; i++) {
        const struct tmx_rank_status *a = &s->outcome[first], *b = &s->outcome[i];
        first = b->st && (!a->st || b->order < a->order) ? i : first;
    }
    if (s->outcome[first].st) {
        const enum tmx_status told = tell(s, first, own_err, err);
        return told ? told : (enum tmx_status)s->outcome[first].st;
    }
    tmx_recorder_jobs(r, s->machine, tmx_machine_all(s->machine), &s->frame, s->spec.dt_s);
    return TMX_OK;
}

enum tmx_status tmx_sim_share_any(struct tmx_sim *s, bool *said, struct tmx_err *err)
{
    const struct tmx_ranks *ranks = tmx_decomposition_ranks(s->share);
    const struct tmx_decomposition_part part = {s->outcome, TMX_OF_RANK, sizeof *s->outcome};
    s->outcome[ranks->rank] = (struct tmx_rank_status){.st = *said};
    const enum tmx_status st = tmx_decomposition_exchange(s->share, &part, 1, err);
    for (size_t i = 0; i < ranks->size && !st; i++) {
        *said = *said || s->outcome[i].st;
    }
    return st;
}

/* The instances that other ranks have stepped. */
static enum tmx_status share_thermal(struct tmx_sim *s, struct tmx_err *err)
{
    const size_t n_gpu = s->machine->n_gpu;
    const struct tmx_gpus own = tmx_decomposition_own(s->share, n_gpu);
    size_t most = 0;
    for (size_t g = 0; g < n_gpu; g++) {
        const size_t n = s->thermal[g].ops->snapshot_size(s->thermal[g].state);
        most = n > most ? n : most;
    }
    unsigned char *all = calloc(n_gpu, most);
    const struct tmx_decomposition_part part = {all, TMX_OF_GPU, most};
    if (!all) {
        return tmx_fail(err, TMX_ENOMEM, "%zu GPUs", n_gpu);
    }
    for (size_t g = own.first; g < own.end; g++) {
        s->thermal[g].ops->save(s->thermal[g].state, all + g * most);
    }
    const enum tmx_status st = tmx_decomposition_exchange(s->share, &part, 1, err);
    for (size_t g = 0; g < n_gpu && !st; g++) {
        if (g < own.first || g >= own.end) {
            s->thermal[g].ops->restore(s->thermal[g].state, all + g * most);
        }
    }
    free(all);
    return st;
}

enum tmx_status tmx_sim_share_all(struct tmx_sim *s, struct tmx_err *err)
{
    const struct tmx_recorder *r = s->recorder;
    const struct tmx_frame *f = &s->frame;
    const size_t real = sizeof(double);
    const struct tmx_decomposition_part part[] = {
        {f->dynamic_w, TMX_OF_UNIT, real},   {f->leakage_w, TMX_OF_UNIT, real},
        {f->saved_w, TMX_OF_UNIT, real},     {f->baseline_w, TMX_OF_UNIT, real},
        {f->power_w, TMX_OF_UNIT, real},     {f->temp_k, TMX_OF_UNIT, real},
        {f->transition_w, TMX_OF_GPU, real}, {r->dynamic_j, TMX_OF_UNIT, real},
        {r->leakage_j, TMX_OF_UNIT, real},   {r->baseline_j, TMX_OF_UNIT, real},
        {r->saved_j, TMX_OF_UNIT, real},     {r->sum_k, TMX_OF_UNIT, real},
        {r->transition_j, TMX_OF_GPU, real}, {r->peak_w, TMX_OF_GPU, real},
        {r->memory_k, TMX_OF_GPU, real},     {r->reason_s, TMX_OF_GPU, TMX_N_REASON * real},
        {r->hot_k, TMX_OF_SM, real},         {r->trips, TMX_OF_SM, real},
        {r->stopped_s, TMX_OF_SM, real},     {r->longest_s, TMX_OF_SM, real},
        {r->first_s, TMX_OF_SM, real},       {r->last_s, TMX_OF_SM, real}};
    const enum tmx_status st = tmx_decomposition_exchange(s->share, part, sizeof part / sizeof part[0], err);
    return st ? st : share_thermal(s, err);
}

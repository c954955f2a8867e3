/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a simulation on several processes exchanges: after each tick what all need of it, at its end the rest.
 */
#include <stdlib.h>

#include "core/sim/sim.h"
#include "core/sim/tiles.h"

enum tmx_status tmx_sim_on_ranks(struct tmx_sim *s, const struct tmx_ranks *ranks, struct tmx_err *err)
{
    tmx_assert(s->tick == 0 && !s->share);
    if (s->events) {
        return tmx_fail(
            err, TMX_ECONFIG,
            "tick = \"events\": one process steps all GPUs: expected tick = \"fixed\", or no ranks");
    }
    const enum tmx_status st = tmx_decomposition_create(&s->share, ranks, s->machine, err);
    if (st) {
        return st;
    }
    if (!TMX_TAKE(&s->arena, s->outcome, ranks->size)) {
        return tmx_fail(err, TMX_ENOMEM, "%zu ranks", ranks->size);
    }
    tmx_tiles_plan(s->tiles);
    return TMX_OK;
}

/* The words of rank r, to all. */
static void tell(struct tmx_sim *s, size_t r, const struct tmx_err *own)
{
    const struct tmx_ranks *ranks = tmx_decomposition_ranks(s->share);
    struct tmx_err *all = calloc(ranks->size, sizeof *all);
    const struct tmx_decomposition_part part = {all, TMX_OF_RANK, sizeof *all};
    if (!all) {
        tmx_error(&s->err, TMX_ENOMEM, "%zu ranks", ranks->size);
        return;
    }
    if (own) {
        all[ranks->rank] = *own;
    }
    tmx_decomposition_exchange(s->share, &part, 1, &s->err);
    if (!s->err.code) {
        s->err = all[r];
    }
    free(all);
}

void tmx_sim_share_tick(struct tmx_sim *s, const struct tmx_err *own, uint64_t order)
{
    const struct tmx_ranks *ranks = tmx_decomposition_ranks(s->share);
    struct tmx_recorder *r = s->recorder;
    const struct tmx_frame *f = &s->frame;
    struct tmx_decomposition_part part[7 + TMX_SLOTS] = {
        {s->outcome, TMX_OF_RANK, sizeof *s->outcome},
        {r->now_w, TMX_OF_GPU, sizeof *r->now_w},
        {r->peak_gradient_k, TMX_OF_GPU, sizeof *r->peak_gradient_k},
        {r->peak_k, TMX_OF_GPU, sizeof *r->peak_k},
    };
    size_t n_part = 4, first = 0;
    size_t ways = 0; /* in use */
    for (size_t g = 0; g < s->machine->n_gpu; g++) {
        ways = s->machine->gpu[g].n_run > ways ? s->machine->gpu[g].n_run : ways;
    }
    for (size_t k = 0; k < ways; k++) {
        part[n_part++] =
            (struct tmx_decomposition_part){f->slot_w + k * f->n_gpu, TMX_OF_GPU, sizeof *f->slot_w};
    }
    if (s->smooth) {
        part[n_part++] = (struct tmx_decomposition_part){s->smooth, TMX_OF_GPU, sizeof *s->smooth};
    }
    if (ranks->watched) {
        part[n_part++] = (struct tmx_decomposition_part){f->temp_k, TMX_OF_UNIT, sizeof *f->temp_k};
        part[n_part++] = (struct tmx_decomposition_part){f->power_w, TMX_OF_UNIT, sizeof *f->power_w};
    }
    s->outcome[ranks->rank] = (struct tmx_rank_status){own ? own->code : TMX_OK, order};
    tmx_decomposition_exchange(s->share, part, n_part, &s->err);
    if (s->err.code) {
        return;
    }
    for (size_t i = 1; i < ranks->size; i++) {
        const struct tmx_rank_status *a = &s->outcome[first], *b = &s->outcome[i];
        first = b->st && (!a->st || b->order < a->order) ? i : first;
    }
    if (s->outcome[first].st) {
        tell(s, first, own);
    } else {
        tmx_recorder_jobs(r, s->machine, tmx_machine_all(s->machine), &s->frame, s->spec.dt_s);
    }
}

void tmx_sim_share_any(struct tmx_sim *s, bool *said)
{
    const struct tmx_ranks *ranks = tmx_decomposition_ranks(s->share);
    const struct tmx_decomposition_part part = {s->outcome, TMX_OF_RANK, sizeof *s->outcome};
    s->outcome[ranks->rank] = (struct tmx_rank_status){.st = *said};
    tmx_decomposition_exchange(s->share, &part, 1, &s->err);
    for (size_t i = 0; i < ranks->size; i++) {
        *said = *said || s->outcome[i].st;
    }
}

void tmx_sim_share_all(struct tmx_sim *s, struct tmx_err *err)
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
        {r->clock_s, TMX_OF_GPU, real},      {r->peak_reported_w, TMX_OF_GPU, real},
        {r->hot_k, TMX_OF_SM, real},         {r->trips, TMX_OF_SM, real},
        {r->stopped_s, TMX_OF_SM, real},     {r->longest_s, TMX_OF_SM, real},
        {r->first_s, TMX_OF_SM, real},       {r->last_s, TMX_OF_SM, real},
        {r->smooth_j, TMX_OF_GPU, real}};
    tmx_decomposition_exchange(s->share, part, sizeof part / sizeof part[0], err);
    if (err->code) {
        return;
    }
    /* the instances that other ranks have stepped */
    const size_t n_gpu = s->machine->n_gpu;
    const struct tmx_gpus own = tmx_decomposition_own(s->share, n_gpu);
    size_t most = 0;
    for (size_t g = 0; g < n_gpu; g++) {
        const size_t n = tmx_image_size(s->thermal[g].ops->image, s->thermal[g].state);
        most = n > most ? n : most;
    }
    unsigned char *all = calloc(n_gpu, most);
    const struct tmx_decomposition_part images = {all, TMX_OF_GPU, most};
    if (!all) {
        tmx_error(err, TMX_ENOMEM, "%zu GPUs", n_gpu);
        return;
    }
    for (size_t g = own.first; g < own.end; g++) {
        tmx_image_save(s->thermal[g].ops->image, s->thermal[g].state, all + g * most);
    }
    tmx_decomposition_exchange(s->share, &images, 1, err);
    for (size_t g = 0; g < n_gpu && !err->code; g++) {
        if (g < own.first || g >= own.end) {
            tmx_image_restore(s->thermal[g].ops->image, s->thermal[g].state, all + g * most);
        }
    }
    free(all);
}

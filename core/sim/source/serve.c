/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A language model: each GPU has one job, whose watts are those of the iterations of its instance, event by
 * event (core/serve/serve.c). The last token of all ends them. */
#include "core/serve/serve.h"

#include "core/sim/source/sources.h"

static bool cold(const void *options)
{
    return !((const struct tmx_serve_spec *)options)->options.heat;
}

static void *open(const struct tmx_source_view *v, const void *options, struct tmx_arena *arena)
{
    struct tmx_serve_spec spec = *(const struct tmx_serve_spec *)options;
    spec.route = &v->choice[TMX_LEVEL_ROUTE];
    spec.row = &v->choice[TMX_LEVEL_ROW];
    return tmx_serve_take(arena, &spec);
}

/* The slower of dtm, cap and row counts. */
static void limit(const struct tmx_source_view *v, void *own, struct tmx_request *r)
{
    for (size_t g = 0; g < v->machine->n_gpu; g++) {
        const struct tmx_serve_now now = tmx_serve_now(own, g);
        r->gpu[g].level = now.level > r->gpu[g].level ? now.level : r->gpu[g].level;
        r->gpu[g].late_s = now.level > 0 ? 0 : r->gpu[g].late_s;
        r->gpu[g].reasons |= now.reasons;
    }
}

/* Iterations of the tick, at the clocks in force at its begin; then the watts of each GPU's job. */
static void work(const struct tmx_source_view *v, void *own, struct tmx_err *err)
{
    struct tmx_machine *m = v->machine;
    struct tmx_serve *s = own;
    const bool heat = s->spec.options.heat;
    const struct tmx_serve_tick t = {.begin_s = v->begin_s,
                                     .end_s = v->end_s,
                                     .speed = heat ? v->scratch : NULL,
                                     .hottest_k = v->view->hottest_k,
                                     .memory_k = v->view->memory_k,
                                     .inlet_k = v->view->inlet_k};
    for (size_t g = 0; heat && g < m->n_gpu; g++) {
        /* how fast it works, of its fastest clock: its level, stopped SMs, rests that a policy puts in */
        const struct tmx_gpu *gpu = &m->gpu[g];
        size_t stopped = 0;
        for (size_t sm = gpu->sm0; gpu->any_gated && sm < gpu->sm0 + gpu->n_sm; sm++) {
            stopped += m->gated[sm];
        }
        v->scratch[g] = m->speed[g] / tmx_chip_speed(gpu->chip, 0) * (1 - gpu->rest) *
                        (1 - (double)stopped / (double)gpu->n_sm);
    }
    tmx_serve_advance(s, &t, err);
    for (size_t g = 0; g < m->n_gpu && !err->code; g++) {
        const struct tmx_serve_now now = tmx_serve_now(s, g);
        const double die = 1 - m->gpu[g].chip->board.loss; /* of the board's watts */
        tmx_machine_draw(m, g, g, die * now.sm_w, die * now.l2_w, die * now.dram_w);
        v->chip_w[g] = heat ? v->chip_w[g] : now.gpu_w;
    }
}

static void end(const struct tmx_source_view *v, void *own)
{
    struct tmx_machine *m = v->machine;
    struct tmx_serve *s = own;
    tmx_serve_account(s, s->spec.options.heat ? v->chip_w : NULL, v->dt_s);
    for (size_t g = 0; s->n_done == s->n_request && m->n_done < m->n_job; g++) {
        m->job[g].state = TMX_JOB_DONE;
        m->job[g].finished_s = s->end_s;
        m->n_done++;
    }
}

static double share(const void *own)
{
    const struct tmx_serve *s = own;
    return (double)s->n_done / (double)s->n_request;
}

const struct tmx_source tmx_source_serve = {
    .base = {.name = "serve"},
    .open = open,
    .limit = limit,
    .work = work,
    .end = end,
    .share = share,
    .cold = cold,
};

/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "core/sim/stage/stages.h"

#include <math.h>

const struct tmx_opt tmx_row_stage_opts[] = {
    TMX_ROW_REAL(tmx_row_stage_options, telemetry_s, "s", 1e-3, 3600, 2,
                 "between two readings of a row's power"),
    {0},
};

void tmx_row_stage_take(struct tmx_row_stage *r, struct tmx_arena *arena, const struct tmx_choice *choice,
                        double telemetry_s, const struct tmx_machine *m)
{
    const bool holds = choice->policy && tmx_row_of(choice)->asks == TMX_ROW_HOLDS,
               ramps = choice->policy && tmx_row_of(choice)->asks == TMX_ROW_RAMPS;
    *r = (struct tmx_row_stage){.choice = choice, .telemetry_s = telemetry_s};
    if ((holds && m->members) || ramps) {
        r->period = (uint64_t)fmax(1, round(telemetry_s / m->tick_s));
        r->n = ramps ? m->n_gpu : (size_t)m->members->spec.options.jobs;
    }
    TMX_TAKE(arena, r->instance, r->n);
    TMX_TAKE(arena, r->asked, r->n);
    TMX_TAKE(arena, r->memory, TMX_ROW_MEMORY);
}

void tmx_row_stage_decide(struct tmx_row_stage *r, const struct tmx_view *view, struct tmx_machine *m,
                          struct tmx_smooth_gpu *smooth, struct tmx_err *err)
{
    const bool ramps = tmx_row_of(r->choice)->asks == TMX_ROW_RAMPS;
    struct tmx_row_view v = {.time_s = m->now_s,
                             .telemetry_s = r->telemetry_s,
                             .n_row = 1,
                             .n_instance = r->n,
                             .instance = r->instance,
                             .memory = r->memory};
    for (size_t i = 0; i < r->n; i++) {
        if (ramps) {
            r->instance[i] = (struct tmx_instance_view){
                .gpu0 = i, .n_gpu = 1, .power_w = view->board_w[i], .rise_w = tmx_smooth_rise_w(&smooth[i])};
        } else {
            /* Members need not run on GPUs side by side: gpu0 is the first one's. */
            const struct tmx_sync_part *p = &m->members->part[i];
            const size_t *gpu = m->members->spec.gpu;
            r->instance[i] =
                (struct tmx_instance_view){.gpu0 = gpu[p->first],
                                           .n_gpu = p->end - p->first,
                                           .period_s = p->period_s,
                                           .begun_s = p->period_s > 0 ? p->begun_s + p->held_s : 0};
            for (size_t k = p->first; k < p->end; k++) {
                r->instance[i].power_w += view->board_w[gpu[k]];
            }
            r->asked[i] = 0;
        }
        v.power_w += r->instance[i].power_w;
    }
    tmx_row_of(r->choice)->decide(r->choice->state, &v, r->asked);
    for (size_t i = 0; i < r->n; i++) {
        const double a = r->asked[i];
        if (!isfinite(a) || a < 0 || (ramps && a == 0)) {
            tmx_error(err, TMX_ESOLVE, "row policy %s: a %s of %g %s for %s %zu, expected %s 0",
                      r->choice->policy->name, ramps ? "ramp" : "hold", a, ramps ? "W/s" : "s",
                      ramps ? "GPU" : "job", i, ramps ? "more than" : "at least");
        }
        if (ramps) {
            smooth[i].row_w_per_s = a;
        } else {
            m->members->part[i].hold_s = a;
        }
    }
}

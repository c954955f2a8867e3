/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Snapshots: one walk over everything that changes serves size, save and restore. */
#include <string.h>

#include "core/sim/sim_state.h"
#include "core/sim/tiles.h"

enum direction { COUNT, SAVE, RESTORE };

struct walk {
    enum direction d;
    unsigned char *buf;
    size_t at;
};

static void item(struct walk *w, void *field, size_t size)
{
    if (size == 0) {
        return;
    }
    if (w->d == SAVE) {
        memcpy(w->buf + w->at, field, size);
    } else if (w->d == RESTORE) {
        memcpy(field, w->buf + w->at, size);
    }
    w->at += size;
}

static void policies(struct walk *w, struct tmx_sim *s)
{
    for (size_t i = 0; i < TMX_N_CHOICE; i++) {
        const struct tmx_choice *c = &s->spec.choice[i];
        item(w, c->state, c->state ? c->policy->state_size : 0);
    }
}

static void part(struct walk *w, size_t size, void *object, void (*save)(const void *, void *),
                 void (*restore)(void *, const void *))
{
    if (w->d == SAVE) {
        save(object, w->buf + w->at);
    } else if (w->d == RESTORE) {
        restore(object, w->buf + w->at);
    }
    w->at += size;
}

static size_t walk(enum direction d, struct tmx_sim *s, unsigned char *buf)
{
    struct walk w = {d, buf, 0};
    const size_t n_gpu = s->machine->n_gpu;
    item(&w, &s->tick, sizeof s->tick);
    item(&w, &s->last_progress, sizeof s->last_progress);
    item(&w, &s->last_done_sm_s, sizeof s->last_done_sm_s);
    item(&w, s->request.gpu, n_gpu * sizeof *s->request.gpu);
    item(&w, s->request.gate, s->machine->n_sm * sizeof *s->request.gate);
    item(&w, s->mix_memory, s->n_mix_memory * sizeof *s->mix_memory);
    item(&w, s->dtm_memory, s->n_dtm_memory * sizeof *s->dtm_memory);
    item(&w, tmx_meter_image(s->meter), tmx_meter_image_size(s->meter));
    item(&w, s->block, s->n_block * sizeof *s->block);
    policies(&w, s);
    if (d == SAVE) {
        tmx_machine_save(s->machine, buf + w.at);
    } else if (d == RESTORE) {
        tmx_machine_restore(s->machine, buf + w.at);
    }
    w.at += tmx_machine_image_size(s->machine);
    if (d == SAVE) {
        tmx_sensor_save(s->sensor, buf + w.at);
    } else if (d == RESTORE) {
        tmx_sensor_restore(s->sensor, buf + w.at);
    }
    w.at += tmx_sensor_image_size(s->sensor);
    if (d == SAVE) {
        tmx_recorder_save(s->recorder, buf + w.at);
    } else if (d == RESTORE) {
        tmx_recorder_restore(s->recorder, buf + w.at);
    }
    w.at += tmx_recorder_image_size(s->recorder);
    if (s->jobs && d == SAVE) {
        tmx_jobs_save(s->jobs, buf + w.at);
    } else if (s->jobs && d == RESTORE) {
        tmx_jobs_restore(s->jobs, buf + w.at);
    }
    w.at += tmx_jobs_image_size(s->jobs);
    for (size_t g = 0; g < n_gpu; g++) {
        const struct tmx_cooled *t = &s->thermal[g];
        part(&w, t->ops->snapshot_size(t->state), t->state, t->ops->save, t->ops->restore);
    }
    if (s->cooling && d == SAVE) {
        tmx_cooling_save(s->cooling, buf + w.at);
    } else if (s->cooling && d == RESTORE) {
        tmx_cooling_restore(s->cooling, buf + w.at);
    }
    return w.at + (s->cooling ? tmx_cooling_image_size(s->cooling) : 0);
}

size_t tmx_sim_image_size(struct tmx_sim *s)
{
    return walk(COUNT, s, NULL);
}

void tmx_sim_save(struct tmx_sim *s, void *buf)
{
    (void)walk(SAVE, s, buf);
}

void tmx_sim_restore(struct tmx_sim *s, void *buf)
{
    (void)walk(RESTORE, s, buf);
    tmx_tiles_plan(s->tiles);
}

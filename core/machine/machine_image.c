/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Images of a machine for snapshots. */
#include <string.h>

#include "core/machine/machine.h"

size_t tmx_image_item(enum tmx_image d, void *field, size_t size, unsigned char *buf, size_t at)
{
    if (d == TMX_IMAGE_SAVE) {
        memcpy(buf + at, field, size);
    } else if (d == TMX_IMAGE_RESTORE) {
        memcpy(field, buf + at, size);
    }
    return at + size;
}

static size_t walk_gpu(enum tmx_image d, struct tmx_gpu *gpu, unsigned char *buf, size_t at)
{
    const size_t n = gpu->chip->n_sm;
    struct tmx_gpu keep = *gpu;
    at = tmx_image_item(d, gpu, sizeof *gpu, buf, at);
    gpu->chip = keep.chip; /* pointers belong to this machine, not to the image */
    gpu->active = keep.active;
    gpu->active_hot = keep.active_hot;
    gpu->order = keep.order;
    gpu->steady = gpu->steady && d != TMX_IMAGE_RESTORE; /* others may rest on it */
    at = tmx_image_item(d, gpu->active, n * sizeof *gpu->active, buf, at);
    at = tmx_image_item(d, gpu->active_hot, n * sizeof *gpu->active_hot, buf, at);
    return tmx_image_item(d, gpu->order, n * sizeof *gpu->order, buf, at);
}

static size_t walk(enum tmx_image d, struct tmx_machine *m, unsigned char *buf)
{
    size_t at = 0;
    for (size_t g = 0; g < m->n_gpu; g++) {
        at = walk_gpu(d, &m->gpu[g], buf, at);
    }
    for (size_t j = 0; j < m->n_job; j++) {
        const struct tmx_kernel *kernel = m->job[j].kernel;
        at = tmx_image_item(d, &m->job[j], sizeof m->job[j], buf, at);
        m->job[j].kernel = kernel;
    }
    at = tmx_image_item(d, &m->n_arrived, sizeof m->n_arrived, buf, at);
    at = tmx_image_item(d, &m->n_done, sizeof m->n_done, buf, at);
    at = tmx_image_item(d, &m->first_unfinished, sizeof m->first_unfinished, buf, at);
    at = tmx_image_item(d, &m->last_home, sizeof m->last_home, buf, at);
    at = tmx_image_item(d, &m->counting, sizeof m->counting, buf, at);
    at = tmx_image_item(d, m->gated, m->n_sm * sizeof *m->gated, buf, at);
    at = tmx_image_item(d, m->share, m->n_sm * TMX_WAYS * sizeof *m->share, buf, at);
    at = tmx_image_item(d, m->held, m->n_sm * TMX_WAYS * sizeof *m->held, buf, at);
    at = tmx_image_item(d, m->busy, m->n_sm * TMX_WAYS * sizeof *m->busy, buf, at);
    at = tmx_image_item(d, m->drain_s, m->n_sm * sizeof *m->drain_s, buf, at);
    at = tmx_image_item(d, m->gated_s, m->n_sm * sizeof *m->gated_s, buf, at);
    at = tmx_image_item(d, m->volunteer_s, m->n_sm * sizeof *m->volunteer_s, buf, at);
    at = tmx_image_item(d, m->volunteer_job, m->n_sm * sizeof *m->volunteer_job, buf, at);
    at = tmx_image_item(d, m->volunteer_done, m->n_sm * sizeof *m->volunteer_done, buf, at);
    at = tmx_image_item(d, m->speed, m->n_gpu * sizeof *m->speed, buf, at);
    at = tmx_image_item(d, m->volt2, m->n_gpu * sizeof *m->volt2, buf, at);
    at = tmx_image_item(d, m->volt, m->n_gpu * sizeof *m->volt, buf, at);
    if (d == TMX_IMAGE_SAVE) {
        tmx_sync_job_save(m->members, buf + at);
    } else if (d == TMX_IMAGE_RESTORE) {
        tmx_sync_job_restore(m->members, buf + at);
    }
    return at + tmx_sync_job_image_size(m->members);
}

size_t tmx_machine_image_size(struct tmx_machine *m)
{
    return walk(TMX_IMAGE_COUNT, m, NULL);
}

void tmx_machine_save(struct tmx_machine *m, void *buf)
{
    (void)walk(TMX_IMAGE_SAVE, m, buf);
}

void tmx_machine_restore(struct tmx_machine *m, void *buf)
{
    (void)walk(TMX_IMAGE_RESTORE, m, buf);
}

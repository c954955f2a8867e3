/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "core/sim/meter.h"

#include <math.h>
#include <stdlib.h>

struct tmx_meter {
    size_t n_gpu;
    double *block; /* [4 * n_gpu + 1] backs what follows */
    double *sum_w, *board_w, *inlet_k, *memory_k, *n_tick;
    struct tmx_board_view *board; /* [n_gpu] */
    double *level;                /* speeds and voltages of all boards */
};

static void fill_boards(struct tmx_meter *m, const struct tmx_machine *machine)
{
    double *at = m->level;
    for (size_t g = 0; g < m->n_gpu; g++) {
        const struct tmx_chip *c = machine->gpu[g].chip;
        const struct tmx_chip_board *b = &c->board;
        for (size_t l = 0; l < c->n_level; l++) {
            at[l] = tmx_chip_speed(c, l);
            at[c->n_level + l] = tmx_chip_volt(c, l);
        }
        m->board[g] = (struct tmx_board_view){.power_w = b->power_w,
                                              .power_min_w = b->power_min_w,
                                              .target_c = b->target_c,
                                              .slowdown_c = b->slowdown_c,
                                              .shutdown_c = b->shutdown_c,
                                              .memory_c = b->memory_c,
                                              .n_level = c->n_level,
                                              .speed = at,
                                              .volt = at + c->n_level};
        at += 2 * c->n_level;
    }
}

enum tmx_status tmx_meter_create(struct tmx_meter **out, const struct tmx_machine *machine,
                                 struct tmx_err *err)
{
    struct tmx_meter *m = calloc(1, sizeof *m);
    size_t n_level = 0;
    for (size_t g = 0; g < machine->n_gpu; g++) {
        n_level += machine->gpu[g].chip->n_level;
    }
    if (!m) {
        return tmx_fail(err, TMX_ENOMEM, "meters");
    }
    m->n_gpu = machine->n_gpu;
    m->block = calloc(4 * m->n_gpu + 1, sizeof *m->block);
    m->board = calloc(m->n_gpu, sizeof *m->board);
    m->level = calloc(2 * n_level + 1, sizeof *m->level);
    if (!m->block || !m->board || !m->level) {
        tmx_meter_destroy(m);
        return tmx_fail(err, TMX_ENOMEM, "meters of %zu GPUs", machine->n_gpu);
    }
    m->sum_w = m->block;
    m->board_w = m->sum_w + m->n_gpu;
    m->inlet_k = m->board_w + m->n_gpu;
    m->memory_k = m->inlet_k + m->n_gpu;
    m->n_tick = m->memory_k + m->n_gpu;
    fill_boards(m, machine);
    *out = m;
    return TMX_OK;
}

void tmx_meter_destroy(struct tmx_meter *m)
{
    if (m) {
        free(m->block);
        free(m->board);
        free(m->level);
        free(m);
    }
}

void tmx_meter_add(struct tmx_meter *m, const double *gpu_w)
{
    for (size_t g = 0; g < m->n_gpu; g++) {
        m->sum_w[g] += gpu_w[g];
    }
    *m->n_tick += 1;
}

static double memory_k(const struct tmx_gpu *gpu, const double *temp_k)
{
    const struct tmx_chip *c = gpu->chip;
    double hottest_k = NAN;
    for (size_t i = 0; i < c->n_memory; i++) {
        hottest_k = fmax(hottest_k, temp_k[gpu->unit0 + c->memory_unit[i]]);
    }
    return hottest_k;
}

void tmx_meter_read(struct tmx_meter *m, const struct tmx_machine *machine, const double *temp_k,
                    double quantum_k)
{
    for (size_t g = 0; g < m->n_gpu; g++) {
        const struct tmx_gpu *gpu = &machine->gpu[g];
        const double hot_k = memory_k(gpu, temp_k);
        m->board_w[g] = *m->n_tick > 0 ? tmx_chip_board_w(gpu->chip, m->sum_w[g] / *m->n_tick) : 0;
        m->memory_k[g] = quantum_k > 0 ? round(hot_k / quantum_k) * quantum_k : hot_k;
        m->sum_w[g] = 0;
    }
    *m->n_tick = 0;
}

double *tmx_meter_memory_k(struct tmx_meter *m)
{
    return m->memory_k;
}

void tmx_meter_inlet(struct tmx_meter *m, size_t gpu, double inlet_k)
{
    m->inlet_k[gpu] = inlet_k;
}

void tmx_meter_view(const struct tmx_meter *m, struct tmx_view *view)
{
    view->board_w = m->board_w;
    view->inlet_k = m->inlet_k;
    view->memory_k = m->memory_k;
    view->board = m->board;
}

void *tmx_meter_image(struct tmx_meter *m)
{
    return m->block;
}

size_t tmx_meter_image_size(const struct tmx_meter *m)
{
    return (4 * m->n_gpu + 1) * sizeof *m->block;
}

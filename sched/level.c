/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sched/level.h"

#include "core/base/units.h"

size_t tmx_level_next(const struct tmx_gpu_view *gpu, double hottest_k, double emergency_c, double release_c)
{
    if (hottest_k >= emergency_c + TMX_ZERO_C) {
        return gpu->level + 1 < gpu->n_level ? gpu->level + 1 : gpu->level;
    }
    return hottest_k < release_c + TMX_ZERO_C && gpu->level > 0 ? gpu->level - 1 : gpu->level;
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TMX_SCHED_LEVEL_H
#define TMX_SCHED_LEVEL_H

#include <thermix/policy.h>

/* Clock level by temperature, as several policies step it. */

/* Clock level by two thresholds, one step a call: slower at emergency_c, faster below
 * release_c. Paper 003's DVFS, and what T^ABS falls back to. */
size_t tmx_level_next(const struct tmx_gpu_view *gpu, double hottest_k, double emergency_c, double release_c);

#endif

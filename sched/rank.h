#ifndef TMX_SCHED_RANK_H
#define TMX_SCHED_RANK_H

/* Pure helpers of the policies. */

#include "core/contract/view.h"

#define TMX_ZERO_C 273.15

/* Clock level by two thresholds, one step a call: slower at emergency_c, faster below
 * release_c. Paper 003's DVFS, and what T^ABS falls back to. */
size_t tmx_rank_level(const struct tmx_gpu *gpu, double hottest_k, double emergency_c, double release_c);

/* Order order[0..n) = 0..n-1 by key ascending, ties by index. */
void tmx_rank_ascending(const double *key, size_t n, size_t *order);

#endif

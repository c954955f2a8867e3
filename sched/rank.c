#include "sched/rank.h"

size_t tmx_rank_level(const struct tmx_gpu *gpu, double hottest_k, double emergency_c, double release_c)
{
    if (hottest_k >= emergency_c + TMX_ZERO_C) {
        return gpu->level + 1 < gpu->chip->n_level ? gpu->level + 1 : gpu->level;
    }
    return hottest_k < release_c + TMX_ZERO_C && gpu->level > 0 ? gpu->level - 1 : gpu->level;
}

void tmx_rank_ascending(const double *key, size_t n, size_t *order)
{
    for (size_t i = 0; i < n; i++) {
        size_t j = i;
        for (; j > 0 && key[order[j - 1]] > key[i]; j--) {
            order[j] = order[j - 1];
        }
        order[j] = i;
    }
}

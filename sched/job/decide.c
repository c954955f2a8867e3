/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sched/job/decide.h"

#include <math.h>

const char *tmx_choice_word(enum tmx_means c)
{
    static const char *const word[] = {"merge", "serial", "cpu"};
    return word[c];
}

void tmx_decide(const struct tmx_batch *b, const struct tmx_template *t, size_t n_tmpl,
                const struct tmx_prediction *measured_cpu, double temp_c, struct tmx_verdict *v)
{
    *v = (struct tmx_verdict){.tmpl = tmx_template_for(b, t, n_tmpl), .gain = -INFINITY};
    v->obstacle = tmx_merge_predict(b, v->tmpl, true, temp_c, &v->merge, NULL);
    tmx_serial_predict(b, temp_c, &v->serial);
    v->cpu_known = measured_cpu || tmx_cpu_predict(b, &v->cpu);
    if (measured_cpu) {
        v->cpu = *measured_cpu;
    }
    const bool on_cpu = v->cpu_known && v->cpu.energy_j < v->serial.energy_j;
    const double alone_j = on_cpu ? v->cpu.energy_j : v->serial.energy_j;
    const double merged_j = v->obstacle == TMX_FITS ? v->merge.energy_j : INFINITY;
    v->gain = 1 - merged_j / alone_j;
    if (v->gain > b->node->uncertainty) {
        v->choice = TMX_MERGE;
        v->margin = alone_j / merged_j - 1;
        v->sure = true;
        return;
    }
    const double other_j = on_cpu ? v->serial.energy_j : v->cpu_known ? v->cpu.energy_j : INFINITY;
    v->choice = on_cpu ? TMX_CPU : TMX_SERIAL;
    v->margin = fmin(other_j, merged_j) / alone_j - 1;
    v->sure = fabs(v->margin) > b->node->uncertainty;
}

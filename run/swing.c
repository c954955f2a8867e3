/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Whose power is looked at: all GPUs, their racks, nodes, each GPU, and the feed; and the table of their
 * ramps. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "run/state.h"
#include "run/summary.h"

enum { MOST_GPUS = 128 }; /* 21 kB and 0.1 us a tick each: of more there are no rows of single GPUs */

static const char *name_of(const struct tmx_run *r, size_t g)
{
    return r->topology.n_gpu > 0 ? r->topology.gpu[g].name : "";
}

void tmx_run_power_groups(struct tmx_run *r)
{
    struct tmx_power_group *group = TMX_TAKE(&r->arena, group, 3 * r->n_gpu + 2);
    size_t n = 1;
    if (!group) {
        return;
    }
    for (int nodes = 0; nodes < 2; nodes++) { /* racks first */
        for (size_t g = 0, last = 0; g < r->topology.n_gpu; g++) {
            const struct tmx_topology_gpu *gpu = &r->topology.gpu[g];
            const size_t letters = nodes ? gpu->node_letters : gpu->rack_letters;
            if (letters > 0 && g > 0 && last == letters && strncmp(gpu->name, gpu[-1].name, letters) == 0) {
                group[n - 1].gpus.end = g + 1;
            } else if (letters > 0) {
                group[n++] = (struct tmx_power_group){nodes ? "node" : "rack", letters, {g, g + 1}};
            }
            last = letters;
        }
    }
    group[0] = (struct tmx_power_group){n > 1 ? "hall" : r->n_gpu > 1 ? "node" : "gpu", 0, {0, r->n_gpu}};
    for (size_t g = 0; r->n_gpu > 1 && r->n_gpu <= MOST_GPUS && g < r->n_gpu; g++) {
        group[n++] = (struct tmx_power_group){"gpu", strlen(name_of(r, g)), {g, g + 1}};
    }
    group[n++] = (struct tmx_power_group){"feed", 0, {0, r->n_gpu}};
    r->sim_spec.group = group;
    r->sim_spec.n_group = n;
}

enum tmx_status tmx_run_ramps(const struct tmx_run *run, struct tmx_table **out, struct tmx_err *err)
{
    static const struct tmx_column columns[] = {
        {"level", TMX_COLUMN_TEXT, 0},     {"name", TMX_COLUMN_TEXT, 0},
        {"swing_w", TMX_COLUMN_REAL, 1},   {"range_w", TMX_COLUMN_REAL, 1},
        {"window_s", TMX_COLUMN_REAL, 2},  {"rise_w", TMX_COLUMN_REAL, 1},
        {"rise_at_s", TMX_COLUMN_REAL, 4}, {"fall_w", TMX_COLUMN_REAL, 1},
        {"fall_at_s", TMX_COLUMN_REAL, 4},
    };
    const struct tmx_swing *s = &tmx_sim_recorder(run->sim)->swing;
    const enum tmx_status st = tmx_table_create(out, columns, sizeof columns / sizeof columns[0], err);
    for (size_t i = 0; i < s->n && !st; i++) {
        const struct tmx_power_group *group = &s->group[i];
        for (size_t k = 0; k < TMX_SWING_WINDOWS; k++) {
            const struct tmx_swing_window *v = &s->series[i].window[k];
            const double rise_w = tmx_swing_rise_w(s, i, k), fall_w = tmx_swing_fall_w(s, i, k);
            char name[TMX_NAME] = "";
            if (group->name_length > 0) {
                snprintf(name, sizeof name, "%.*s", (int)group->name_length, name_of(run, group->gpus.first));
            } else if (i > 0 && i != tmx_swing_feed(s)) {
                snprintf(name, sizeof name, "%zu", group->gpus.first);
            }
            tmx_table_row(*out, "%s %s %G %G %g %G %G %G %G", group->level, name,
                          tmx_swing_quantile_w(s, i, 0.95) - tmx_swing_quantile_w(s, i, 0.05),
                          tmx_swing_range_w(s, i), tmx_swing_window_s[k], rise_w,
                          rise_w > 0 ? v->rise_at * run->options.tick_s : NAN, fall_w,
                          fall_w > 0 ? v->fall_at * run->options.tick_s : NAN);
        }
    }
    return st;
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* POLCA (Patel et al., ASPLOS 2024): two thresholds of a row's budget and clocks by priority.
 *
 *      power > t1        low priority at low_hz                            until power < t1 - hysteresis
 *      power > t2        low priority at low2_hz, then, if that is not     until power < t2 - hysteresis
 *                        enough, high priority at high_hz
 *
 * Thresholds, clocks and hysteresis are the paper's. Not printed there, assumed: a step is taken at most once
 * in step_s, one at a time in both directions. memory[0] is the step in force, memory[1] the time of the last
 * change, plus 1. */
#include <math.h>

#include "sched/policies.h"

static const char *const whom[] = {"both", "low", "all", NULL};
enum { BOTH, LOW, ALL };

struct polca {
    double t1, t2, hysteresis;
    double low_hz, low2_hz, high_hz;
    double step_s;
    int cap;
};

static const struct tmx_opt opts[] = {
    TMX_ROW_REAL(polca, t1, "1", 0, 2, 0.80, "first threshold, of the budget"),
    TMX_ROW_REAL(polca, t2, "1", 0, 2, 0.89, "second threshold"),
    TMX_ROW_REAL(polca, hysteresis, "1", 0, 1, 0.05, "a step is undone so far below its threshold"),
    TMX_ROW_REAL(polca, low_hz, "Hz", 1e6, 1e10, 1275e6, "low priority above t1"),
    TMX_ROW_REAL(polca, low2_hz, "Hz", 1e6, 1e10, 1110e6, "low priority above t2"),
    TMX_ROW_REAL(polca, high_hz, "Hz", 1e6, 1e10, 1305e6,
                 "high priority above t2, when low2_hz was not enough"),
    TMX_ROW_REAL(polca, step_s, "s", 0, 3600, 40, "between two steps"),
    TMX_ROW_CHOICE(
        polca, cap, whom, "both",
        "both: as above; low: one threshold t2, low priority alone; all: t2, every server at low2_hz"),
    {0},
};

static double clock_of(const struct polca *p, int step, size_t class_of)
{
    if (step == 0 || (class_of == 0 && (p->cap == LOW || (p->cap == BOTH && step < 3)))) {
        return INFINITY;
    }
    return p->cap != BOTH ? p->low2_hz : class_of == 0 ? p->high_hz : step == 1 ? p->low_hz : p->low2_hz;
}

static void decide(const void *state, const struct tmx_row_view *v, double *clock_hz)
{
    const struct polca *p = state;
    const int last = p->cap == BOTH ? 3 : 1;
    int step = (int)v->memory[0];
    const double share = v->power_w / v->budget_w;
    if (v->memory[1] <= 0 || v->time_s - (v->memory[1] - 1) >= p->step_s) {
        const double up = step == 0 && p->cap == BOTH ? p->t1 : p->t2,
                     down = (step == 1 && p->cap == BOTH ? p->t1 : p->t2) - p->hysteresis;
        const int to = step < last && share > up ? step + 1 : step > 0 && share < down ? step - 1 : step;
        if (to != step) {
            v->memory[0] = step = to;
            v->memory[1] = v->time_s + 1;
        }
    }
    for (size_t i = 0; i < v->n_instance; i++) {
        if (v->instance[i].row == v->row) {
            clock_hz[i] = clock_of(p, step, v->instance[i].class_of);
        }
    }
}

const struct tmx_row_policy tmx_row_polca = {
    .base = {.name = "polca",
             .doc = "Clocks by priority at two thresholds of the row's budget.",
             .source = "Patel et al., ASPLOS 2024 (arXiv 2308.12908)",
             .opts = opts,
             .state_size = sizeof(struct polca)},
    .decide = decide,
};

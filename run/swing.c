/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Whose power is looked at: all GPUs, their racks, nodes, each GPU, and the feed; and the table of their
 * ramps. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "run/state.h"
#include "run/summary.h"

enum { MOST_GPUS = 128 }; /* 18 kB and 0.1 us a tick each: of more there are no rows of single GPUs */

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

static void open_row(struct tmx_run *r)
{
    const struct tmx_setting *row = tmx_run_member(r, "row");
    double *telemetry_s = &r->sim_spec.rows.telemetry_s;
    if (row && !r->serves) {
        tmx_run_choose(r, TMX_LEVEL_ROW, "none", tmx_row_stage_opts, &r->sim_spec.rows);
    }
    const struct tmx_choice *c = &r->sim_spec.choice[TMX_LEVEL_ROW];
    const bool none = c->policy && strcmp(c->policy->name, "none") == 0 && tmx_setting_member(row, "policy");
    if (r->err.code || !row || !c->policy || (none && !r->serves)) {
        return;
    }
    const enum tmx_row_asks asks = tmx_row_of(c)->asks;
    if (r->serves != (asks == TMX_ROW_CLOCKS)) {
        tmx_run_fail(r, row, "row policy %s does nothing here: %s", c->policy->name,
                     r->serves ? "a language model is served; expected one that asks for clocks"
                               : "it asks for clocks, and no language model is served (group serve)");
    }
    if (asks == TMX_ROW_HOLDS && !(r->sync_job.n_member > 0 && r->sync_job.options.jobs > 1)) {
        tmx_run_fail(r, row, "row policy %s does nothing here: expected sync_job.jobs above 1",
                     c->policy->name);
    }
    if (asks == TMX_ROW_RAMPS && r->options.tick != TMX_TICK_FIXED) {
        tmx_run_fail(r, row, "row policy %s: expected tick = \"fixed\"", c->policy->name);
    }
    if (!r->serves) {
        tmx_run_whole(r, "row.telemetry_s", *telemetry_s, telemetry_s, "tick_s", r->options.tick_s);
    }
}

static void write_row(const struct tmx_run *r, struct tmx_writer *w)
{
    if (!r->serves) {
        tmx_run_choice_write(r, TMX_LEVEL_ROW, tmx_row_stage_opts, &r->sim_spec.rows, NULL, w);
    }
}

const struct tmx_run_feature tmx_feature_row = {.open = open_row, .write = write_row};

struct tmx_table *tmx_run_ramps(const struct tmx_run *run)
{
    const struct tmx_swing *s = &run->sim->recorder->swing;
    struct tmx_table *t =
        tmx_table_of("level name swing_w:1 range_w:1 window_s:2 rise_w:1 rise_at_s:4 fall_w:1 fall_at_s:4");
    for (size_t i = 0; i < s->n; i++) {
        const struct tmx_power_group *group = &s->group[i];
        for (size_t k = 0; k < TMX_SWING_WINDOWS; k++) {
            const struct tmx_swing_window *v = &tmx_swing_of(s, i)->window[k];
            const double rise_w = tmx_swing_ramp_w(s, i, k, false), fall_w = tmx_swing_ramp_w(s, i, k, true);
            char name[TMX_NAME] = "";
            if (group->name_length > 0) {
                snprintf(name, sizeof name, "%.*s", (int)group->name_length, name_of(run, group->gpus.first));
            } else if (i > 0 && i != tmx_swing_feed(s)) {
                snprintf(name, sizeof name, "%zu", group->gpus.first);
            }
            tmx_table_row(t, "%s %s %G %G %g %G %G %G %G", group->level, name,
                          tmx_swing_quantile_w(s, i, 0.95) - tmx_swing_quantile_w(s, i, 0.05),
                          tmx_swing_range_w(s, i), tmx_swing_window_s[k], rise_w,
                          rise_w > 0 ? v->ramp_at[0] * run->options.tick_s : NAN, fall_w,
                          fall_w > 0 ? v->ramp_at[1] * run->options.tick_s : NAN);
        }
    }
    return t;
}

struct tmx_table *tmx_run_spectrum(const struct tmx_run *run)
{
    const struct tmx_swing *s = &run->sim->recorder->swing;
    double psd[2][TMX_SWING_SEGMENT / 2 + 1], unit[2];
    const double bin_hz = tmx_swing_spectrum(s, false, psd[0], &unit[0]);
    const bool there = isfinite(bin_hz) && isfinite(tmx_swing_spectrum(s, true, psd[1], &unit[1]));
    struct tmx_table *t = tmx_table_of("hz:4 boards_w:2 feed_w:2");
    for (size_t k = 1; k <= TMX_SWING_SEGMENT / 2 && there; k++) {
        tmx_table_real(t, (double)k * bin_hz);
        tmx_table_real(t, sqrt(psd[0][k] * unit[0]));
        tmx_table_real(t, sqrt(psd[1][k] * unit[1]));
    }
    return t;
}

static bool near(double a_s, double b_s)
{
    return fabs(a_s - b_s) <= tmx_swing_window_s[0];
}

/* What begins or ends then: steps of a synchronous job that is alone, else kernels. */
static const char *what_is_at(const struct tmx_run *run, double at_s, bool fall, char *buf, size_t size)
{
    const struct tmx_machine *m = run->sim->machine;
    const struct tmx_sync_job *g = m->members;
    double begun_s = 0;
    size_t began = 0, ended = 0;
    *buf = '\0';
    for (size_t i = 0;
         g && g->spec.options.jobs == 1 && i < g->n_step && begun_s <= at_s + tmx_swing_window_s[0]; i++) {
        const double rest_s = g->spec.options.comm_s, end_s = begun_s + g->step_s[i];
        if (!fall && near(at_s, begun_s)) {
            snprintf(buf, size, "step %zu begins", i + 1);
        } else if (fall && near(at_s, end_s - rest_s)) {
            snprintf(buf, size, "all have computed step %zu and communicate", i + 1);
        }
        begun_s = end_s;
    }
    for (size_t j = 0; j < m->n_job && !g; j++) {
        began += near(m->job[j].started_s, at_s);
        ended += m->job[j].state == TMX_JOB_DONE && near(m->job[j].finished_s, at_s);
    }
    if (began + ended > 0) {
        snprintf(buf, size, "%zu kernels start, %zu end", began, ended);
    }
    return buf;
}

const char *tmx_run_ramp_why(const struct tmx_run *run, bool fall, char *buf, size_t size)
{
    const struct tmx_swing *s = &run->sim->recorder->swing;
    const double w = tmx_swing_ramp_w(s, 0, 0, fall);
    *buf = '\0';
    if (!(w > 0)) {
        return buf;
    }
    const struct tmx_swing_window *all = &s->series[0].window[0];
    const double at_s = all->ramp_at[fall] * run->options.tick_s;
    size_t n_gpu = 0, together = 0;
    char what[96];
    for (size_t i = 1; i < s->n; i++) {
        const struct tmx_swing_window *v = &s->series[i].window[0];
        const bool gpu = strcmp(s->group[i].level, "gpu") == 0;
        n_gpu += gpu;
        together += gpu && near(v->ramp_at[fall] * run->options.tick_s, at_s);
    }
    snprintf(buf, size, "Largest %s within 50 ms: %.4g W at %.6g s", fall ? "fall" : "rise", w, at_s);
    if (*what_is_at(run, at_s, fall, what, sizeof what)) {
        tmx_text_add(buf, size, ", when %s", what);
    }
    if (n_gpu > 0) {
        tmx_text_add(buf, size, "; of %zu GPUs %zu have their own largest %s then", n_gpu, together,
                     fall ? "fall" : "rise");
    }
    return buf;
}

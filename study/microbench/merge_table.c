/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "study/microbench/merge_table.h"

#include <math.h>

#include "sched/job/group.h"

static const struct tmx_column columns[] = {TMX_TEXT("setup"),
                                            TMX_REAL("time_s", 2),
                                            TMX_REAL("power_w", 1),
                                            TMX_REAL("energy_j", 0),
                                            TMX_REAL("measured_time_s", 1),
                                            TMX_REAL("measured_energy_j", 0),
                                            TMX_REAL("time_error_percent", 2),
                                            TMX_REAL("energy_error_percent", 2)};

static void row(struct tmx_table *t, const char *setup, const struct tmx_prediction *p, double time_s,
                double energy_j)
{
    const double s = time_s > 0 ? time_s : NAN, j = energy_j > 0 ? energy_j : NAN; /* measured */
    tmx_table_row(t, "%s %g %g %g %G %G %G %G", setup, p->time_s, p->power_w, p->energy_j, s, j,
                  100 * (p->time_s / s - 1), 100 * (p->energy_j / j - 1));
}

enum tmx_status tmx_merge_table(const struct tmx_job_data *d, const struct tmx_job_batch *j, double temp_c,
                                struct tmx_table **out, struct tmx_err *err)
{
    const struct tmx_batch batch = {&d->node, d->kind, d->n_kind, j->count}, *b = &batch;
    struct tmx_table *t = NULL;
    struct tmx_prediction p;
    const struct tmx_template *tmpl = tmx_template_for(b, d->tmpl, d->n_tmpl);
    const struct tmx_job_measured *m = &j->measured;
    const enum tmx_status st = tmx_table_create(&t, columns, sizeof columns / sizeof columns[0], err);
    if (st) {
        return st;
    }
    if (tmx_cpu_predict(b, &p)) {
        row(t, "cpu", &p, m->cpu_time_s, m->cpu_energy_j);
    }
    if (tmx_merge_predict(b, tmpl, false, temp_c, &p, NULL) == TMX_FITS) {
        row(t, "manual", &p, m->manual_time_s, m->manual_energy_j);
        (void)tmx_merge_predict(b, tmpl, true, temp_c, &p, NULL); /* the same merge fits */
        row(t, "dynamic", &p, m->dynamic_time_s, m->dynamic_energy_j);
    }
    tmx_serial_predict(b, temp_c, &p);
    row(t, "serial", &p, m->serial_time_s, m->serial_energy_j);
    *out = t;
    return TMX_OK;
}

static void print_grouping(const struct tmx_grouping *g, const struct tmx_job_data *d, FILE *out)
{
    fprintf(out, "grouping: %s, %.0f J", g->exact ? "optimal" : "greedy", g->energy_j);
    if (!g->exact) {
        fprintf(out, " (no grouping can need less than %.0f J)", g->bound_j);
    }
    fputc('\n', out);
    for (size_t i = 0; i < g->n; i++) {
        fprintf(out, "  %zu x %s:", g->group[i].times, tmx_choice_word(g->group[i].choice));
        for (size_t k = 0; k < d->n_kind; k++) {
            if (g->group[i].count[k] > 0) {
                tmx_print_visible(out, " %zu %s", g->group[i].count[k], d->kind[k].name);
            }
        }
        fprintf(out, ", %.1f s, %.0f J each\n", g->group[i].time_s, g->group[i].energy_j);
    }
}

enum tmx_status tmx_merge_print(const struct tmx_job_data *d, const struct tmx_job_batch *j, double temp_c,
                                FILE *out, struct tmx_err *err)
{
    const struct tmx_batch batch = {&d->node, d->kind, d->n_kind, j->count}, *b = &batch;
    struct tmx_verdict v;
    struct tmx_grouping g;
    struct tmx_group_limits l = {
        .temp_c = temp_c, .limit_c = INFINITY, .tau_s = 1, .use_cpu = true, .largest = 256};
    const struct tmx_job_measured *m = &j->measured;
    const struct tmx_prediction cpu = {.time_s = m->cpu_time_s, .energy_j = m->cpu_energy_j};
    for (size_t k = 0; k < d->n_kind; k++) {
        l.time_s[k] = INFINITY;
    }
    tmx_decide(b, d->tmpl, d->n_tmpl, m->cpu_energy_j > 0 ? &cpu : NULL, temp_c, &v);
    fprintf(out, "decision: %s (%s)\n", tmx_choice_word(v.choice),
            v.sure ? "sure" : "the models cannot decide");
    if (v.obstacle) {
        fprintf(out, "merge: impossible, %s\n", tmx_obstacle_text(v.obstacle));
    } else {
        fprintf(out, "merge: template %s, %d block(s) per SM, %.1f s, %.0f J\n", v.tmpl->name, v.merge.slots,
                v.merge.time_s, v.merge.energy_j);
        fprintf(out,
                "gain of the merge: %.1f %% of the energy of the best alternative, uncertainty +-%.1f %%\n",
                100 * v.gain, 100 * d->node.uncertainty);
    }
    fprintf(out, "serial: %.1f s, %.0f J\n", v.serial.time_s, v.serial.energy_j);
    if (v.cpu_known) {
        fprintf(out, "cpu: %.1f s, %.0f J\n", v.cpu.time_s, v.cpu.energy_j);
    } else {
        fprintf(out, "cpu: not known for this mix\n");
    }
    if (isfinite(v.margin)) {
        fprintf(out, "margin: the next best choice needs %.1f %% more energy\n", 100 * v.margin);
    }
    const enum tmx_status st = tmx_group_all(b, d->tmpl, d->n_tmpl, &l, 4096, &g, err);
    if (!st) {
        print_grouping(&g, d, out);
    }
    return st;
}

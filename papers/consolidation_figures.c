/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <string.h>

#include "papers/consolidation.h"

/* Table 1: speed-up of one instance on the GPU over the CPU. */
enum tmx_status tmx_consolidation_table1(struct tmx_consolidation *s, struct tmx_err *err)
{
    static const struct {
        const char *kind;
        double speedup;
    } rows[] = {{"encryption:table1", 0.84}, {"encryption:table1_6k", 0.15},    {"sorting:table1", 1.45},
                {"search:table1", 0.48},     {"blackscholes_job:table1", 1.68}, {"montecarlo:table1", 7.0}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        size_t k = 0;
        const enum tmx_status st = tmx_job_data_kind(&s->data, rows[i].kind, &k, err);
        if (st) {
            return st;
        }
        tmx_consolidation_paper(s, "Table 1", "GPU speed-up over CPU", rows[i].kind, "1", rows[i].speedup,
                                1 / s->data.kind[k].gpu_time_s, TMX_PAPER_INPUT);
    }
    return TMX_OK;
}

struct curve { /* one count of instances of one kind */
    struct tmx_prediction cpu, merged, serial;
};

static void at_count(struct tmx_consolidation *s, size_t kind, size_t n, struct curve *c)
{
    size_t count[TMX_KIND_MAX] = {0};
    const struct tmx_batch b = {&s->data.node, s->data.kind, s->data.n_kind, count};
    const double temp_c = s->data.node.reference_c;
    count[kind] = n;
    *c = (struct curve){0};
    (void)tmx_cpu_predict(&b, &c->cpu); /* all zero, printed as empty, where unknown */
    if (tmx_merge_predict(&b, tmx_template_for(&b, s->data.tmpl, s->data.n_tmpl), false, temp_c, &c->merged,
                          NULL)) {
        c->merged = (struct tmx_prediction){0};
    }
    tmx_serial_predict(&b, temp_c, &c->serial);
}

static void curve_rows(struct tmx_consolidation *s, const char *figure, const char *name, size_t n,
                       const struct curve *c)
{
    const struct {
        const char *setup;
        const struct tmx_prediction *p;
    } rows[] = {{"cpu", &c->cpu}, {"manual", &c->merged}, {"serial", &c->serial}};
    for (size_t i = 0; i < 3; i++) {
        const struct tmx_consolidation_row row = {.table = figure,
                                                  .name = name,
                                                  .setup = rows[i].setup,
                                                  .instances = n,
                                                  .ours = rows[i].p,
                                                  .status =
                                                      i == 0 ? TMX_PAPER_CALIBRATED : TMX_PAPER_PREDICTION};
        tmx_consolidation_row(s, &row);
    }
}

enum tmx_status tmx_consolidation_curves(struct tmx_consolidation *s, struct tmx_err *err)
{
    static const struct {
        const char *figure, *name, *kind;
        size_t most;
    } figures[] = {{"Figure 1 and 7", "encryption", "encryption:table1", 15},
                   {"Figure 8", "sorting", "sorting:table1", 12}};
    struct curve first[2] = {0}, ninth[2] = {0};
    for (size_t f = 0; f < 2; f++) {
        size_t kind = 0;
        const enum tmx_status st = tmx_job_data_kind(&s->data, figures[f].kind, &kind, err);
        if (st) {
            return st;
        }
        for (size_t n = 1; n <= figures[f].most; n++) {
            struct curve c;
            at_count(s, kind, n, &c);
            curve_rows(s, figures[f].figure, figures[f].name, n, &c);
            first[f] = n == 1 ? c : first[f];
            ninth[f] = n == 9 ? c : ninth[f];
        }
    }
    const double saved_time = 100 * (1 - ninth[0].merged.time_s / ninth[0].cpu.time_s);
    const double saved_energy = 100 * (1 - ninth[0].merged.energy_j / ninth[0].cpu.energy_j);
    tmx_consolidation_paper(s, "Figure 1", "energy of one instance, GPU over CPU", "encryption", "1", 1.5,
                            first[0].serial.energy_j / first[0].cpu.energy_j, TMX_PAPER_CALIBRATED);
    tmx_consolidation_paper(s, "Figure 1", "time saved over CPU", "9 encryption instances", "percent", 68,
                            saved_time, TMX_PAPER_CALIBRATED);
    tmx_consolidation_paper(s, "Figure 1", "energy saved over CPU", "9 encryption instances", "percent", 29,
                            saved_energy, TMX_PAPER_NOT_REPRODUCED);
    tmx_consolidation_paper(s, "Figure 8", "CPU time over merged time", "1 sorting instance", "1", 1.4,
                            first[1].cpu.time_s / first[1].merged.time_s, TMX_PAPER_INPUT);
    tmx_consolidation_paper(s, "Figure 8", "CPU time over merged time", "9 sorting instances", "1", 2,
                            ninth[1].cpu.time_s / ninth[1].merged.time_s, TMX_PAPER_CALIBRATED);
    tmx_consolidation_paper(s, "Figure 8", "merged time of 9 over 1", "sorting", "1", 1,
                            ninth[1].merged.time_s / first[1].merged.time_s, TMX_PAPER_CALIBRATED);
    return TMX_OK;
}

/* Mean event rates of the virtual average SM over time_s; the power above lambda they predict. */
static double events_w(const struct tmx_consolidation *s, const size_t *count, double time_s,
                       const struct tmx_power_fit *fit)
{
    double event[2] = {0};
    for (size_t k = 0; k < s->data.n_kind; k++) {
        const struct tmx_workload *w = &s->data.kind[k];
        const double blocks = (double)count[k] * w->blocks / s->data.node.sms * w->gpu_time_s / time_s;
        event[0] += blocks * s->data.event[k][0];
        event[1] += blocks * s->data.event[k][1];
    }
    return tmx_power_fit_predict_w(fit, event) - fit->coefficient[0];
}

/* Figures 3 and 4: the times of merges by the two types of the time model. */
void tmx_consolidation_times(struct tmx_consolidation *s, const struct tmx_job_batch *batch, size_t n)
{
    double worst = 0;
    for (size_t i = 0; i < n; i++) {
        const struct tmx_batch b = {&s->data.node, s->data.kind, s->data.n_kind, batch[i].count};
        const struct tmx_template *t = tmx_template_for(&b, s->data.tmpl, s->data.n_tmpl);
        const double measured_s = batch[i].measured.manual_time_s;
        struct tmx_prediction p;
        if (measured_s <= 0 || tmx_merge_predict(&b, t, false, s->data.node.reference_c, &p, NULL)) {
            continue;
        }
        const double off = 100 * fabs(p.time_s / measured_s - 1);
        if (p.shared_sms) {
            worst = off > worst ? off : worst;
            tmx_consolidation_paper(s, "Figure 4", "time, more than one block on an SM", batch[i].name, "s",
                                    measured_s, p.time_s,
                                    off < 12 ? TMX_PAPER_PREDICTION : TMX_PAPER_NOT_REPRODUCED);
        } else {
            tmx_consolidation_paper(
                s, "Figure 3", "time, at most one block on an SM (paper: its Tables 5 and 7)", batch[i].name,
                "s", measured_s, p.time_s, batch[i].calibrated ? TMX_PAPER_CALIBRATED : TMX_PAPER_PREDICTION);
        }
    }
    tmx_consolidation_paper(s, "Figure 4", "error of predicted time (paper: less than)", "scenarios 1 and 2",
                            "percent", 12, worst,
                            worst < 12 ? TMX_PAPER_PREDICTION : TMX_PAPER_NOT_REPRODUCED);
}

struct power_test {
    double base_w;      /* idle + lambda, fitted to the calibration rows */
    double mean, worst; /* errors of the others, percent of the system's power */
    size_t n_base, n;
};

static void test_row(struct tmx_consolidation *s, struct power_test *t, const char *name, const char *setup,
                     double paper_w, double dynamic_w, bool calibrated)
{
    const double ours_w = t->base_w + dynamic_w, e = 100 * fabs(ours_w / paper_w - 1);
    const struct tmx_prediction p = {.power_w = ours_w};
    const struct tmx_consolidation_row row = {.table = "Figure 5",
                                              .name = name,
                                              .setup = setup,
                                              .ours = &p,
                                              .status =
                                                  calibrated ? TMX_PAPER_CALIBRATED : TMX_PAPER_PREDICTION};
    tmx_consolidation_row(s, &row);
    tmx_consolidation_paper(s, "Figure 5",
                            "mean system power from event rates (paper: energy / time of its tables)", name,
                            "W", paper_w, ours_w,
                            calibrated  ? TMX_PAPER_CALIBRATED
                            : e <= 10.0 ? TMX_PAPER_PREDICTION
                                        : TMX_PAPER_NOT_REPRODUCED);
    if (!calibrated) {
        t->mean += e;
        t->worst = e > t->worst ? e : t->worst;
        t->n++;
    }
}

void tmx_consolidation_power(struct tmx_consolidation *s, const struct tmx_job_batch *batch, size_t n,
                             const struct tmx_power_fit *fit)
{
    struct power_test t = {0};
    for (size_t i = 0; i < n; i++) {
        const struct tmx_job_measured *m = &batch[i].measured;
        if (batch[i].calibrated && m->manual_time_s > 0) {
            t.base_w +=
                m->manual_energy_j / m->manual_time_s - events_w(s, batch[i].count, m->manual_time_s, fit);
            t.n_base++;
        }
    }
    t.base_w /= t.n_base > 0 ? (double)t.n_base : 1;
    for (size_t k = 0; k < s->data.n_kind; k++) {
        size_t one[TMX_KIND_MAX] = {0};
        if (s->data.measured_w[k] > 0) {
            one[k] = 1;
            test_row(s, &t, s->data.kind[k].name, "single", s->data.measured_w[k],
                     events_w(s, one, s->data.kind[k].gpu_time_s, fit), false);
        }
    }
    for (size_t i = 0; i < n; i++) {
        const struct tmx_job_measured *m = &batch[i].measured;
        if (m->manual_time_s > 0) {
            test_row(s, &t, batch[i].name, "manual", m->manual_energy_j / m->manual_time_s,
                     events_w(s, batch[i].count, m->manual_time_s, fit), batch[i].calibrated);
        }
    }
    tmx_consolidation_paper(s, "Figure 5", "power prediction error, mean",
                            "test set: powers implied by Tables 2-8", "percent", 6.4,
                            t.n > 0 ? t.mean / (double)t.n : 0, TMX_PAPER_PREDICTION);
    tmx_consolidation_paper(s, "Figure 5", "power prediction error, worst (paper: less than)",
                            "test set: powers implied by Tables 2-8", "percent", 10, t.worst,
                            t.worst <= 10 ? TMX_PAPER_PREDICTION : TMX_PAPER_NOT_REPRODUCED);
    tmx_consolidation_paper(s, "Figure 5", "leave-one-out error, mean (paper: its 14 combinations)",
                            "training table (computed)", "percent", 6.4, fit->mean_percent,
                            TMX_PAPER_PREDICTION);
    tmx_consolidation_paper(s, "Figure 5", "leave-one-out error, worst (paper: less than)",
                            "training table (computed)", "percent", 10, fit->worst_percent,
                            TMX_PAPER_PREDICTION);
}

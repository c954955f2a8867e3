/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "study/explain.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/config.h"
#include "core/base/units.h"
#include "run/run.h"
#include "study/batch.h"

enum { MOST_SM = 3, N_STEP = 4 };

struct watch {
    double *sm_gated_s;     /* [n_sm] */
    double *gated_before_s; /* [n_sm] */
    double lost[4096];      /* SM seconds stopped, a second of counted time each */
    size_t n_lost;
};

static void tick(void *ctx, const struct tmx_sim *sim)
{
    struct watch *w = ctx;
    const struct tmx_machine *m = tmx_sim_machine(sim);
    double stopped = 0;
    for (size_t sm = 0; sm < m->n_sm; sm++) {
        const double now = m->gated_s[sm];
        const double more = now - w->gated_before_s[sm];
        w->gated_before_s[sm] = now;
        if (more > 0) { /* less: the warm-up has ended and the ledger begins again */
            w->sm_gated_s[sm] += more;
            stopped += more;
        } else if (more < 0) {
            memset(w->sm_gated_s, 0, m->n_sm * sizeof *w->sm_gated_s);
            memset(w->lost, 0, sizeof w->lost);
            stopped = 0;
        }
    }
    const double at_s = tmx_sim_time_s(sim);
    const size_t second = at_s > 0 ? (size_t)at_s : 0, last = sizeof w->lost / sizeof w->lost[0] - 1;
    w->lost[second < last ? second : last] += stopped;
    w->n_lost = second < last ? second + 1 : last + 1;
}

/* The second of counted time with the most stopped SM time. */
static size_t worst_second(const struct watch *w)
{
    size_t worst = 0;
    for (size_t i = 0; i < w->n_lost; i++) {
        worst = w->lost[i] > w->lost[worst] ? i : worst;
    }
    return worst;
}

static double metric(const struct tmx_run *run, const char *name)
{
    const struct tmx_metric *k = &tmx_metrics[tmx_batch_metric(name)];
    return k->name ? k->value(run) : 0;
}

static enum tmx_status causes_of(const struct tmx_run *run, const struct watch *w, struct tmx_table **t,
                                 struct tmx_err *err)
{
    static const struct tmx_column columns[] = {
        {"cause", TMX_COLUMN_TEXT, 0}, {"lost_pct", TMX_COLUMN_REAL, 2}, {"sm_s", TMX_COLUMN_REAL, 2}};
    const struct tmx_machine *m = tmx_sim_machine(tmx_run_sim_const(run));
    double busy = 0, gated = 0;
    for (size_t g = 0; g < m->n_gpu; g++) {
        busy += m->gpu[g].busy_s * (double)m->gpu[g].chip->n_sm;
    }
    for (size_t sm = 0; sm < m->n_sm; sm++) {
        gated += w->sm_gated_s[sm];
    }
    const double slow = metric(run, "slowdown_pct"), total = slow * busy / 100;
    const double stopped = fmin(gated, fmax(total, 0)), rest = total - stopped;
    const bool level = metric(run, "transition_j") > 0;
    const enum tmx_status st = tmx_table_create(t, columns, 3, err);
    const struct {
        const char *cause;
        double sm_s;
    } rows[] = {{"clock stopped by the throttle", stopped},
                {level ? "slower clock level, mixing, memory, waiting for blocks"
                       : "mixing, memory, waiting for blocks",
                 rest}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0] && !st; i++) {
        tmx_table_text(*t, rows[i].cause);
        tmx_table_real(*t, busy > 0 ? 100 * rows[i].sm_s / busy : 0);
        tmx_table_real(*t, rows[i].sm_s);
    }
    return st;
}

/* One knob turned one step, each a run of its own. */
struct step {
    const char *words;
    char set[96];
};

struct steps {
    const struct tmx_explain *x;
    struct step step[N_STEP];
    size_t n;
};

static enum tmx_status sets(void *ctx, size_t task, struct tmx_sets *s, struct tmx_err *err)
{
    const struct steps *t = ctx;
    enum tmx_status st = TMX_OK;
    for (size_t i = 0; i < t->x->n_set && !st; i++) {
        st = tmx_sets_add(s, err, "%s", t->x->set[i]);
    }
    return st ? st : tmx_sets_add(s, err, "%s", t->step[task].set);
}

static void add_step(struct steps *s, const char *words, const char *key, double value)
{
    struct step *t = &s->step[s->n++];
    t->words = words;
    snprintf(t->set, sizeof t->set, "%s=%.10g", key, value);
}

/* Steps from the values that the run has, as its resolved configuration says. */
static enum tmx_status choose_steps(struct steps *s, const char *resolved, struct tmx_err *err)
{
    struct tmx_config *cfg = NULL;
    double v;
    const enum tmx_status st = tmx_config_parse(&cfg, resolved, "resolved configuration", err);
    if (st) {
        return st;
    }
    if (tmx_setting_real(tmx_config_find(cfg, "package.r_convec"), &v)) {
        add_step(s, "a sink with a tenth less resistance to air", "package.r_convec", 0.9 * v);
    }
    if (tmx_setting_real(tmx_config_find(cfg, "package.ambient"), &v)) {
        add_step(s, "air 2 K colder", "package.ambient", v - 2);
    }
    if (tmx_setting_real(tmx_config_find(cfg, "throttle.trip_c"), &v)) {
        add_step(s, "a throttle that trips 1 K later", "throttle.trip_c", v + 1);
    }
    const struct tmx_setting *policy = tmx_config_find(cfg, "mix_policy.policy");
    const char *name = policy ? tmx_setting_text(policy) : NULL;
    if (name && strcmp(name, "mixed_nonuniform") != 0) {
        struct step *t = &s->step[s->n++];
        t->words = "both kernels on every SM";
        snprintf(t->set, sizeof t->set, "mix_policy.policy=mixed_nonuniform");
    }
    tmx_config_close(cfg);
    return TMX_OK;
}

static enum tmx_status print_steps(const struct tmx_explain *x, const char *resolved, double slowdown_pct,
                                   FILE *out, struct tmx_err *err)
{
    struct steps s = {.x = x};
    enum tmx_status st = choose_steps(&s, resolved, err);
    struct tmx_run_batch b = {.path = x->path,
                              .n_task = s.n,
                              .n_worker = x->n_worker,
                              .ctx = &s,
                              .sets = sets,
                              .n_value = tmx_batch_metrics()};
    st = st ? st : tmx_batch_run(&b, err);
    if (!st) {
        fputs("\nOne step of one knob, all else equal:\n", out);
    }
    for (size_t i = 0; i < s.n && !st; i++) {
        const double v = b.value[i * b.n_value + tmx_batch_metric("slowdown_pct")];
        if (b.error[i]) {
            fprintf(out, "  %-44s not possible here: %s\n", s.step[i].words, b.error[i]);
        } else {
            fprintf(out, "  %-44s slowdown %6.2f %% (%+.2f)   --set %s\n", s.step[i].words, v,
                    v - slowdown_pct, s.step[i].set);
        }
    }
    tmx_batch_finish(&b);
    return st;
}

static void print_places(const struct tmx_run *run, const struct watch *w, FILE *out)
{
    const struct tmx_machine *m = tmx_sim_machine(tmx_run_sim_const(run));
    size_t done[MOST_SM], n = 0;
    for (; n < MOST_SM; n++) {
        size_t best = m->n_sm;
        for (size_t sm = 0; sm < m->n_sm; sm++) {
            bool taken = false;
            for (size_t k = 0; k < n; k++) {
                taken = taken || done[k] == sm;
            }
            if (!taken && w->sm_gated_s[sm] > 0 &&
                (best == m->n_sm || w->sm_gated_s[sm] > w->sm_gated_s[best])) {
                best = sm;
            }
        }
        if (best == m->n_sm) {
            break;
        }
        done[n] = best;
        fprintf(out, "%sSM %zu %.2f s", n ? ", " : "Stopped longest: ", best, w->sm_gated_s[best]);
    }
    if (n > 0) {
        const size_t worst = worst_second(w);
        fprintf(out, ".\nThe worst second begins at %zu s: %.2f SM seconds stopped.\n", worst,
                w->lost[worst]);
    } else {
        fputs("No SM's clock was ever stopped.\n", out);
    }
}

static void print_heat(const struct tmx_run *run, FILE *out)
{
    const double below = metric(run, "below_trip_k");
    fprintf(out, "The hottest SM reached %.2f degC, %.2f K %s the throttle's trip point.\n",
            metric(run, "peak_temp_c"), fabs(below), below >= 0 ? "below" : "above");
}

enum tmx_status tmx_explain(const struct tmx_explain *x, FILE *out, struct tmx_table **causes,
                            struct tmx_err *err)
{
    struct watch *w = calloc(1, sizeof *w);
    struct tmx_config *cfg = NULL;
    struct tmx_run *run = NULL;
    enum tmx_status st = w ? TMX_OK : tmx_fail(err, TMX_ENOMEM, "explain");
    *causes = NULL;
    st = st ? st : tmx_config_load(&cfg, x->path, x->set, x->n_set, err);
    st = st ? st : tmx_run_create(&run, tmx_config_root(cfg), err);
    if (!st) {
        const size_t n = tmx_sim_machine(tmx_run_sim_const(run))->n_sm;
        w->sm_gated_s = calloc(n, sizeof *w->sm_gated_s);
        w->gated_before_s = calloc(n, sizeof *w->gated_before_s);
        st = w->sm_gated_s && w->gated_before_s ? TMX_OK : tmx_fail(err, TMX_ENOMEM, "explain");
    }
    const struct tmx_observer observer = {.ctx = w, .tick = tick};
    st = st ? st : tmx_run_execute(run, &observer, err);
    if (!st) {
        const double slow = metric(run, "slowdown_pct");
        fprintf(out, "%s under %s lost %.2f %% of its busy time; the last kernel ended after %.2f s.\n",
                tmx_run_mix_name(run), tmx_run_policy_name(run), slow, metric(run, "makespan_s"));
        print_heat(run, out);
        print_places(run, w, out);
        st = causes_of(run, w, causes, err);
        st = st || !x->steps ? st : print_steps(x, tmx_run_resolved(run), slow, out, err);
    }
    tmx_run_destroy(run);
    tmx_config_close(cfg);
    if (w) {
        free(w->sm_gated_s);
        free(w->gated_before_s);
    }
    free(w);
    return st;
}

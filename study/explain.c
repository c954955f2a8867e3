/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "study/explain.h"

#include <math.h>
#include <string.h>

#include "core/base/config.h"
#include "core/machine/machine.h"
#include "run/run.h"
#include "study/batch.h"
#include "study/losses.h"

enum { MOST_SM = 3, N_STEP = 5 };

static double metric(const struct tmx_run *run, const char *name)
{
    const struct tmx_metric *k = &tmx_metrics[tmx_batch_metric(name)];
    return k->name ? k->value(run) : 0;
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
    static const struct {
        const char *mix, *words;
    } policies[] = {{"mixed_nonuniform", "both kernels on every SM"},
                    {"alternate", "kernels in turns on all SMs"}};
    const struct tmx_setting *policy = tmx_config_find(cfg, "mix_policy.policy");
    const char *name = policy ? tmx_setting_text(policy) : NULL;
    for (size_t i = 0; name && i < sizeof policies / sizeof policies[0]; i++) {
        if (strcmp(name, policies[i].mix) != 0) {
            struct step *t = &s->step[s->n++];
            t->words = policies[i].words;
            snprintf(t->set, sizeof t->set, "mix_policy.policy=%s", policies[i].mix);
        }
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

/* The SM that lost most of those not in done [n]; n_sm when none lost anything. */
static size_t worst_sm(const struct tmx_losses *l, const size_t *done, size_t n)
{
    size_t worst = l->n_sm;
    for (size_t sm = 0; sm < l->n_sm; sm++) {
        bool taken = tmx_losses_of_sm(l, sm) <= 1e-4 * l->busy_sm_s / (double)l->n_sm;
        for (size_t k = 0; k < n; k++) {
            taken = taken || done[k] == sm;
        }
        if (!taken && (worst == l->n_sm || tmx_losses_of_sm(l, sm) > tmx_losses_of_sm(l, worst))) {
            worst = sm;
        }
    }
    return worst;
}

static void print_places(const struct tmx_losses *l, FILE *out)
{
    size_t done[MOST_SM], n = 0, worst = 0;
    for (; n < MOST_SM; n++) {
        done[n] = worst_sm(l, done, n);
        if (done[n] == l->n_sm) {
            break;
        }
        fprintf(out, "%sSM %zu %.2f s", n ? ", " : "Lost most: ", done[n], tmx_losses_of_sm(l, done[n]));
    }
    if (n == 0) {
        fputs("No SM lost any time to speak of.\n", out);
        return;
    }
    for (size_t b = 0; b < l->n_bin; b++) {
        worst = tmx_losses_of_bin(l, b) > tmx_losses_of_bin(l, worst) ? b : worst;
    }
    fprintf(out, ".\nThe worst %.3g s begin at %.4g s: %.2f of %.2f SM seconds lost.\n", l->bin_s,
            (double)worst * l->bin_s, tmx_losses_of_bin(l, worst), l->busy[worst]);
}

/* Kernels that were there and had to wait for their turn; that is not slowdown, which counts busy time. */
static void print_queue(const struct tmx_run *run, FILE *out)
{
    const struct tmx_machine *m = tmx_sim_machine(tmx_run_sim_const(run));
    const struct tmx_job *longest = NULL;
    double longest_s = 0;
    for (size_t j = 0; j < m->n_job; j++) {
        const double wait_s = m->job[j].started_s - tmx_run_arrival_s(run, &m->job[j]);
        if (m->job[j].started_s >= 0 && wait_s > longest_s) {
            longest = &m->job[j];
            longest_s = wait_s;
        }
    }
    if (longest && longest_s > m->dt_s) {
        fprintf(out, "%s waited %.2f s for its turn (no slowdown: that counts busy time).\n",
                longest->kernel->name, longest_s);
    }
}

static void print_heat(const struct tmx_run *run, FILE *out)
{
    const double below = metric(run, "below_trip_k");
    fprintf(out, "The hottest SM reached %.2f degC, %.2f K %s the throttle's trip point.\n",
            metric(run, "peak_temp_c"), fabs(below), below >= 0 ? "below" : "above");
}

static enum tmx_status tables(const struct tmx_losses *l, const struct tmx_run *run, bool zeros,
                              struct tmx_explained *e, struct tmx_err *err)
{
    struct tmx_config *cfg = NULL;
    enum tmx_status st = tmx_losses_causes(l, zeros, &e->causes, err);
    st = st ? st : tmx_losses_over_time(l, &e->over_time, err);
    st = st ? st : tmx_losses_by_sm(l, &e->by_sm, err);
    st = st ? st : tmx_config_parse(&cfg, tmx_run_resolved(run), "resolved configuration", err);
    e->trip_c = NAN;
    if (!st) {
        (void)tmx_setting_real(tmx_config_find(cfg, "throttle.trip_c"), &e->trip_c);
    }
    tmx_config_close(cfg);
    return st;
}

enum tmx_status tmx_explain(const struct tmx_explain *x, FILE *out, struct tmx_explained *e,
                            struct tmx_err *err)
{
    struct tmx_losses *l = NULL;
    struct tmx_config *cfg = NULL;
    struct tmx_run *run = NULL;
    *e = (struct tmx_explained){0};
    enum tmx_status st = tmx_config_load(&cfg, x->path, x->set, x->n_set, err);
    st = st ? st : tmx_run_create(&run, tmx_config_root(cfg), err);
    st = st ? st : tmx_losses_create(&l, tmx_run_sim_const(run), err);
    const struct tmx_observer observer = {.ctx = l, .tick = tmx_losses_tick};
    st = st ? st : tmx_run_execute(run, &observer, err);
    if (!st) {
        const double slow = metric(run, "slowdown_pct");
        tmx_losses_end(l, tmx_run_sim_const(run));
        fprintf(out, "%s under %s lost %.2f %% of its busy time; the last kernel ended after %.2f s.\n",
                tmx_run_mix_name(run), tmx_run_policy_name(run), slow, metric(run, "makespan_s"));
        print_heat(run, out);
        print_places(l, out);
        print_queue(run, out);
        st = tables(l, run, x->zeros, e, err);
        st = st || !x->steps ? st : print_steps(x, tmx_run_resolved(run), slow, out, err);
    }
    tmx_run_destroy(run);
    tmx_config_close(cfg);
    tmx_losses_destroy(l);
    return st;
}

void tmx_explained_finish(struct tmx_explained *e)
{
    tmx_table_destroy(e->causes);
    tmx_table_destroy(e->over_time);
    tmx_table_destroy(e->by_sm);
    *e = (struct tmx_explained){0};
}

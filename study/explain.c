/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "study/study.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/config.h"
#include "base/os.h"
#include "base/plausible.h"
#include "base/text.h"
#include "core/machine/machine.h"
#include "core/sim/losses.h"
#include "run/run.h"
#include "run/summary.h"

enum { MOST_SM = 3, N_STEP = 10 };

static double metric(const struct tmx_run *run, const char *name)
{
    const struct tmx_metric *k = &tmx_metrics[tmx_study_metric(name)];
    return k->name ? tmx_run_metric(run, k) : 0;
}

static const double NOTHING_PCT = 0.005; /* what two decimals show */

/* One knob turned one step, each a run of its own. */
struct step {
    const char *words, *key;
    struct tmx_scalar value;
};

struct steps {
    const struct tmx_explain *x;
    struct step step[N_STEP];
    size_t n;
};

static enum tmx_status sets(const void *ctx, size_t task, struct tmx_sets *s, struct tmx_err *err)
{
    const struct steps *t = ctx;
    const enum tmx_status st = tmx_sets_join(s, t->x->sets, "", err);
    return st ? st : tmx_sets_put(s, t->step[task].key, t->step[task].value, NULL, 0, err);
}

/* A value of ten digits, as the step is printed. */
static void add_step(struct steps *s, const char *words, const char *key, double value)
{
    s->step[s->n++] = (struct step){words, key, TMX_REAL_VALUE(tmx_real_round(value, 10))};
}

static const char *step_text(const struct step *t, char *buf, size_t size)
{
    char value[TMX_REAL_SIZE];
    double kelvin;
    if (strcmp(t->key, "package.ambient") == 0 && tmx_scalar_real(t->value, &kelvin)) {
        snprintf(buf, size, "%s=%gC", t->key, tmx_real_round(kelvin - 273.15, 10)); /* as it may be typed */
        return buf;
    }
    snprintf(buf, size, "%s=%s", t->key, tmx_scalar_plain(t->value, value));
    return buf;
}

static bool is_word(const struct tmx_setting *root, const char *path, const char *word)
{
    const char *text = tmx_setting_text(tmx_setting_find(root, path));
    return text && strcmp(text, word) == 0;
}

/* Steps from the values that the run has, those that make a run: a key may be of another policy only. */
static void choose_steps(struct steps *s, const struct tmx_run *run)
{
    static const struct {
        const char *mix, *words;
    } policies[] = {{"mixed_nonuniform", "both kernels on every SM"},
                    {"alternate", "kernels in turns on all SMs"}};
    const struct tmx_setting *root = tmx_run_settings(run);
    double v;
    if (!tmx_setting_find(root, "topology") && /* whose cards have their own convection */
        tmx_setting_real(tmx_setting_find(root, "package.r_convec"), &v)) {
        add_step(s, "a sink with a tenth less resistance to air", "package.r_convec", 0.9 * v);
    }
    if (tmx_setting_real(tmx_setting_find(root, "package.ambient"), &v)) {
        add_step(s, "air 2 K colder", "package.ambient", v - 2);
    }
    if (tmx_setting_real(tmx_setting_find(root, "fan.speed"), &v) && v < 0.95) {
        add_step(s, "fans a tenth faster", "fan.speed", fmin(1, 1.1 * v));
    }
    if (tmx_setting_real(tmx_setting_find(root, "throttle.trip_c"), &v)) {
        add_step(s, "a throttle that trips 1 K later", "throttle.trip_c", v + 1);
    }
    if (is_word(root, "dtm.policy", "boost")) {
        const double board_c = tmx_run_sim(run)->machine->gpu[0].chip->board.target_c;
        const bool own = tmx_setting_real(tmx_setting_find(root, "dtm.target_c"), &v) && v > 0;
        if (own || board_c > 0) {
            add_step(s, "a governor that holds 2 K more", "dtm.target_c", (own ? v : board_c) + 2);
        }
        const struct tmx_setting *caps = tmx_setting_find(root, "power_caps_w");
        double first_w = 0;
        bool alike = tmx_setting_is_list(caps) && tmx_setting_length(caps) > 0;
        for (size_t i = 0; alike && i < tmx_setting_length(caps); i++) {
            alike = tmx_setting_real(tmx_setting_at(caps, i), &v) && (i == 0 || v == first_w);
            first_w = v;
        }
        if (alike) {
            add_step(s, "a power cap a tenth higher", "power_caps_w", 1.1 * first_w);
        }
    }
    if (is_word(root, "dtm.policy", "none")) {
        s->step[s->n++] =
            (struct step){"slower clocks before the trip point", "dtm.policy", TMX_TEXT_VALUE("dvfs")};
    }
    const bool mixes = tmx_run_sim(run)->machine->n_job > 1;
    for (size_t i = 0; i < sizeof policies / sizeof policies[0] && mixes; i++) {
        if (!is_word(root, "mix_policy.policy", policies[i].mix)) {
            s->step[s->n++] =
                (struct step){policies[i].words, "mix_policy.policy", TMX_TEXT_VALUE(policies[i].mix)};
        }
    }
    size_t n = 0;
    for (size_t i = 0; i < s->n; i++) {
        struct tmx_sets all = {0};
        const struct tmx_run_how how = {.sets = &all, .described = true};
        struct tmx_run *with = NULL;
        struct tmx_err ignored = {0};
        if (!sets(s, i, &all, &ignored) && !tmx_run_load(&with, s->x->path, &how, &ignored)) {
            s->step[n++] = s->step[i];
        }
        tmx_run_destroy(with);
        tmx_sets_finish(&all);
    }
    s->n = n;
}

/* The slowdown with this step; without an error in `b`. */
static double with_step(const struct tmx_run_values *b, size_t step)
{
    return b->value[step * b->n_value + tmx_study_metric("slowdown_pct")];
}

/* Steps that move the slowdown, then the others in a sentence. */
static void print_effects(const struct steps *s, const struct tmx_run_values *b, const size_t *order,
                          double slowdown_pct, FILE *out)
{
    enum { INDENT = 20 };
    const size_t width = tmx_os_terminal_width(out);
    bool idle = false;
    char text[96];
    fprintf(out, "\nOne step of one knob, all else equal, takes the slowdown of %.2f %% to:\n", slowdown_pct);
    for (size_t k = 0; k < s->n; k++) {
        const size_t i = order[k];
        const double v = b->error[i] ? 0 : with_step(b, i);
        const bool moves = !b->error[i] && fabs(v - slowdown_pct) > NOTHING_PCT;
        idle = idle || !(moves || b->error[i]);
        if (moves) {
            fprintf(out, "  %6.2f %% (%+.2f)  %s\n%*s--set %s\n", v, v - slowdown_pct, s->step[i].words,
                    INDENT, "", step_text(&s->step[i], text, sizeof text));
        } else if (b->error[i]) {
            char line[600];
            snprintf(line, sizeof line, "%s: %s", s->step[i].words, b->error[i]);
            fprintf(out, "  %-*s", INDENT - 2, "fails");
            tmx_text_wrap(line, INDENT, width, out);
        }
    }
    for (size_t i = 0; i < s->n && idle; i++) {
        if (!b->error[i] && fabs(with_step(b, i) - slowdown_pct) <= NOTHING_PCT) {
            char line[200];
            snprintf(line, sizeof line, "%s (%s)", s->step[i].words,
                     step_text(&s->step[i], text, sizeof text));
            fprintf(out, "  %-*s", INDENT - 2, "no change");
            tmx_text_wrap(line, INDENT, width, out);
        }
    }
}

static enum tmx_status print_steps(const struct tmx_explain *x, const struct tmx_run *run,
                                   double slowdown_pct, FILE *out, struct tmx_explained *e,
                                   struct tmx_err *err)
{
    struct steps s = {.x = x};
    size_t order[N_STEP];
    char text[96];
    choose_steps(&s, run);
    if (s.n == 0) {
        return TMX_OK;
    }
    const struct tmx_runs runs = {.name = "explain",
                                  .file = x->path,
                                  .base = x->path,
                                  .n_point = s.n,
                                  .ctx = &s,
                                  .sets = sets,
                                  .suite = true};
    struct tmx_run_values b = {0};
    enum tmx_status st = tmx_study_values(
        &b, &runs, &(struct tmx_study_options){.n_worker = x->n_worker, TMX_STUDY_WHOLE}, err);
    if (!st) {
        /* By insertion: what helps most first. */
        for (size_t i = 0; i < s.n; i++) {
            size_t at = i;
            for (; at > 0 && !b.error[i] &&
                   (b.error[order[at - 1]] || with_step(&b, i) < with_step(&b, order[at - 1]));
                 at--) {
                order[at] = order[at - 1];
            }
            order[at] = i;
        }
        if (!x->brief) {
            print_effects(&s, &b, order, slowdown_pct, out);
        }
        e->steps = tmx_table_of("step set slowdown_pct:2");
        st = e->steps ? TMX_OK : tmx_no_memory(err);
    }
    for (size_t k = 0; !st && k < s.n; k++) {
        if (!b.error[order[k]]) {
            tmx_table_row(e->steps, "%s %s %g", s.step[order[k]].words,
                          step_text(&s.step[order[k]], text, sizeof text), with_step(&b, order[k]));
        }
    }
    tmx_run_values_finish(&b);
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

static void print_places(const struct tmx_losses *l, const struct tmx_run *run, FILE *out)
{
    const struct tmx_machine *m = tmx_run_sim(run)->machine;
    char label[TMX_COOLING_LABEL];
    size_t done[MOST_SM], n = 0, worst = 0;
    for (; n < MOST_SM; n++) {
        done[n] = worst_sm(l, done, n);
        if (done[n] == l->n_sm) {
            break;
        }
        size_t g = 0;
        while (g + 1 < m->n_gpu && m->gpu[g + 1].sm0 <= done[n]) {
            g++;
        }
        fputs(n ? ", " : "Lost most: ", out);
        if (m->n_gpu > 1) {
            fprintf(out, "GPU %s ", tmx_cooling_label(&tmx_run_sim(run)->spec.cooling, g, label));
        }
        fprintf(out, "SM %zu %.2f s", done[n] - m->gpu[g].sm0, tmx_losses_of_sm(l, done[n]));
    }
    size_t n_alike = 0; /* that are not named and lost as much as the last one that is */
    for (size_t sm = 0; sm < l->n_sm && n == MOST_SM; sm++) {
        bool named = false;
        for (size_t k = 0; k < n; k++) {
            named = named || done[k] == sm;
        }
        const double last_s = tmx_losses_of_sm(l, done[n - 1]);
        n_alike += !named && tmx_losses_of_sm(l, sm) > last_s * (1 - 1e-9);
    }
    if (n_alike > 0) {
        fprintf(out, " and %zu more alike", n_alike);
    }
    if (n == 0) {
        fputs("No SM lost any time to speak of.\n", out);
        return;
    }
    for (size_t b = 0; b < l->n_bin; b++) {
        worst = tmx_losses_of_bin(l, b) > tmx_losses_of_bin(l, worst) ? b : worst;
    }
    fprintf(out, ".\nThe worst %.3g s, from %.4g s on, lost %.2f of %.2f SM seconds.\n", l->bin_s,
            (double)worst * l->bin_s, tmx_losses_of_bin(l, worst), l->busy[worst]);
}

/* Cores kept free for a memory that is then less crowded: both sides of what the causes show as one. */
static void print_free(const struct tmx_losses *l, FILE *out)
{
    const double back_sm_s = l->free_sm_s - l->total[TMX_LOSS_MEMORY];
    if (l->free_sm_s > 1e-4 * l->busy_sm_s) {
        char line[160];
        snprintf(line, sizeof line,
                 "The thread-block policy kept %.2f %% of the SMs' time free; memory, less crowded, gave "
                 "%.2f %% back.",
                 100 * l->free_sm_s / l->busy_sm_s, 100 * back_sm_s / l->busy_sm_s);
        tmx_text_wrap(line, 0, tmx_os_terminal_width(out), out);
    }
}

/* Kernels that were there and had to wait for their turn; that is not slowdown, which counts busy time. */
static void print_queue(const struct tmx_run *run, FILE *out)
{
    const struct tmx_machine *m = tmx_run_sim(run)->machine;
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
        tmx_print_visible(out, "%s waited %.2f s for its turn (busy time does not count that).\n",
                          longest->kernel->name, longest_s);
    }
}

/* Do the files of the folder still make the run whose results are in it? */
static enum tmx_status check_folder(const struct tmx_explain *x, struct tmx_err *err)
{
    struct tmx_run *run = NULL;
    bool partial;
    char change[1200] = "";
    enum tmx_status st = tmx_run_folder_check(x->folder, &partial, err);
    st = st ? st : tmx_run_load(&run, x->path, &(struct tmx_run_how){.described = true}, err);
    st = st ? st : tmx_run_folder_compare(run, x->folder, change, sizeof change, err);
    if (!st && change[0] && !x->accept_changed) {
        st = tmx_fail_at(err, TMX_ECONFIG, x->folder, 0,
                         "its results are not those of the run that its resolved.cfg now describes: %s; run "
                         "it again, or explain the run with the new files by --accept-changed",
                         change);
    } else if (!st && change[0]) {
        tmx_print_visible(stderr, "warning: %s: %s; the explanation below is of the run with the new files\n",
                          x->folder, change);
    }
    tmx_run_destroy(run);
    return st;
}

enum tmx_status tmx_explain(const struct tmx_explain *x, FILE *out, struct tmx_explained *e,
                            struct tmx_err *err)
{
    struct tmx_losses *l = NULL;
    struct tmx_run *run = NULL;
    *e = (struct tmx_explained){0};
    enum tmx_status st = x->folder ? check_folder(x, err) : TMX_OK;
    st = st ? st : tmx_run_load(&run, x->path, &(struct tmx_run_how){.sets = x->sets}, err);
    st = st ? st : tmx_losses_create(&l, tmx_run_sim(run), err);
    const struct tmx_observer observer = {.ctx = l, .tick = tmx_losses_tick};
    const bool serves = !st && tmx_sim_serve(tmx_run_sim(run));
    st = st ? st : tmx_run_execute(run, serves ? NULL : &observer, err);
    if (!st && serves) {
        fprintf(out,
                "%s served %.0f requests in %.2f s.\n"
                "Means over the requests that missed a limit (one that is not given: the slowest hundredth): "
                "time\n"
                "beyond the request alone in the queue, by others in the batch, and by slow clocks, these in "
                "percent\n"
                "by the row's policy, its power brake, or the board (power, temperature).\n",
                tmx_run_mix_name(run), metric(run, "requests_done"), metric(run, "makespan_s"));
        e->causes = tmx_run_missed(run);
        st = tmx_table_check(e->causes, err);
    } else if (!st) {
        char policy[300], line[900];
        const double slow = metric(run, "slowdown_pct");
        tmx_losses_end(l, tmx_run_sim(run));
        if (x->first && x->first[0]) {
            tmx_os_headline(out, x->first);
        }
        if (!x->brief) {
            snprintf(line, sizeof line, "%s under %s lost %.2f %% of its busy time.", tmx_run_mix_name(run),
                     tmx_run_policy_words(run, policy, sizeof policy), slow);
            tmx_text_wrap(line, 0, tmx_os_terminal_width(out), out);
            fprintf(out, "The last kernel ended after %.2f s.\n", metric(run, "makespan_s"));
        }
        /* the hottest SM against what would slow it */
        const double below = metric(run, "below_trip_k"), by_heat = metric(run, "sw_thermal_slowdown_s"),
                     by_cap = metric(run, "sw_power_cap_s");
        fprintf(out, "The hottest SM reached %.2f degC", metric(run, "peak_temp_c"));
        if (below != 0) {
            fprintf(out, ", %.2f K %s the throttle's trip point.\n", fabs(below),
                    below > 0 ? "below" : "above");
        } else {
            fputs("; no throttle stops clocks here.\n", out);
        }
        if (by_heat > 0) {
            fprintf(out, "The governor slowed it for %.2f s by its temperature.\n", by_heat);
        }
        if (by_cap > 0) {
            fprintf(out, "The governor slowed it for %.2f s by its power cap.\n", by_cap);
        }
        if (!x->brief) {
            print_places(l, run, out);
            print_queue(run, out);
        }
        print_free(l, out);
        for (int fall = 0; fall < 2; fall++) {
            if (*tmx_run_ramp_why(run, fall, line, sizeof line)) {
                tmx_text_wrap(strcat(line, "."), 0, tmx_os_terminal_width(out), out);
            }
        }
        e->causes = tmx_losses_causes(l, x->zeros);
        e->over_time = tmx_losses_over_time(l);
        e->by_sm = tmx_losses_by_sm(l);
        st = tmx_table_check(e->causes, err);
        st = st ? st : tmx_table_check(e->over_time, err);
        st = st ? st : tmx_table_check(e->by_sm, err);
        e->trip_c = NAN;
        (void)tmx_setting_real(tmx_setting_find(tmx_run_settings(run), "throttle.trip_c"), &e->trip_c);
        struct tmx_warn_listener unheard = {.alone = true}; /* of steps that are not the user's */
        tmx_warn_begin(&unheard);
        st = st || !x->steps || slow <= NOTHING_PCT ? st : print_steps(x, run, slow, out, e, err);
        tmx_warn_end(&unheard);
    }
    tmx_run_destroy(run);
    tmx_losses_destroy(l);
    return st;
}

void tmx_explained_finish(struct tmx_explained *e)
{
    tmx_table_destroy(e->causes);
    tmx_table_destroy(e->over_time);
    tmx_table_destroy(e->by_sm);
    tmx_table_destroy(e->steps);
    *e = (struct tmx_explained){0};
}

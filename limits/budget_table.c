/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _XOPEN_SOURCE 700 /* POSIX 2008 with realpath */
#include "limits/budget_table.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/config.h"
#include "core/base/os.h"
#include "core/base/text.h"
#include "limits/budget.h"
#include "run/load/data.h"

enum { LIST_SIZE = 8 * 4096 };

struct maker {
    const struct tmx_budget_table_call *call;
    struct tmx_budget_call budget;
    struct tmx_plan_chip chip;
    struct tmx_modes_view modes;
    struct tmx_budget_path path; /* of the horizon */
    bool always;                 /* what is safe for ever is safe for the horizon, which begins idle */
    struct tmx_table *table;
    double gain;
    bool *all; /* [n_sm] true */
    struct tmx_arena arena;
};

static void list_sms(const struct tmx_plan_chip *c, const bool *on, char *text, size_t size)
{
    size_t used = 0;
    text[0] = '\0';
    for (size_t s = 0; s < c->n_sm && used + 16 < size; s++) {
        if (on[s]) {
            used += (size_t)snprintf(text + used, size - used, "%s%zu", used ? " " : "", s);
        }
    }
}

/* SMs in their places on the die, from above: # works, . rests; one character each, rows by "/". */
static void draw(const struct tmx_plan_chip *c, const bool *on, char *text, size_t size)
{
    const struct tmx_floorplan *fp = &c->chip->floorplan;
    size_t order[4096], n = c->n_sm < 4096 ? c->n_sm : 4096, used = 0;
    for (size_t s = 0; s < n; s++) { /* by row, then column */
        const struct tmx_unit *u = &fp->unit[c->chip->unit_of_sm[s]];
        size_t at = s;
        while (at > 0) {
            const struct tmx_unit *v = &fp->unit[c->chip->unit_of_sm[order[at - 1]]];
            const bool above = u->y_m > v->y_m + v->h_m / 2;
            const bool left = u->y_m > v->y_m - v->h_m / 2 && u->x_m < v->x_m;
            if (!above && !left) {
                break;
            }
            order[at] = order[at - 1];
            at--;
        }
        order[at] = s;
    }
    for (size_t i = 0; i < n && used + 3 < size; i++) {
        const struct tmx_unit *u = &fp->unit[c->chip->unit_of_sm[order[i]]];
        if (i > 0 && fp->unit[c->chip->unit_of_sm[order[i - 1]]].y_m > u->y_m + u->h_m / 2) {
            text[used++] = '/';
        }
        text[used++] = on[order[i]] ? '#' : '.';
    }
    text[used] = '\0';
}

/* A file of SM numbers, separated by space, lines, commas or semicolons. */
static enum tmx_status read_map(const struct maker *m, const char *path, bool *on, size_t *n,
                                struct tmx_err *err)
{
    struct tmx_text_file text;
    struct tmx_lines lines = {0};
    *n = 0;
    enum tmx_status st = tmx_text_load(&text, path, err);
    while (!st && tmx_lines_next(&lines, &text)) {
        for (const char *c = lines.line.begin; c < lines.line.end && !st;) {
            const bool digit = isdigit((unsigned char)*c);
            size_t number = 0;
            if (!digit && !isspace((unsigned char)*c) && *c != ',' && *c != ';') {
                st = tmx_fail_at(err, TMX_ECONFIG, path, lines.number, "expected SM numbers");
            }
            c += !digit;
            for (; digit && c < lines.line.end && isdigit((unsigned char)*c); c++) {
                number = number < m->chip.n_sm ? 10 * number + (size_t)(*c - '0') : number;
            }
            if (digit && (number >= m->chip.n_sm || on[number])) {
                st = tmx_fail_at(err, TMX_ECONFIG, path, lines.number,
                                 "SM %zu: %s (the chip has SMs 0 to %zu)", number,
                                 number >= m->chip.n_sm ? "there is none" : "named twice", m->chip.n_sm - 1);
            } else if (digit) {
                on[number] = true;
                (*n)++;
            }
        }
    }
    tmx_text_finish(&text);
    if (st) {
        return st;
    }
    return *n > 0 ? TMX_OK : tmx_fail_at(err, TMX_ECONFIG, path, 0, "no SM number");
}

/* Watts of a set: for ever, or for the horizon. From the idle chip, which only warms, what is safe for ever
 * is safe for a while; the path to a far horizon, with leakage as at the limit, allows less. */
static enum tmx_status watts(const struct maker *m, const bool *on, double *watt, struct tmx_err *err)
{
    const bool ends = m->call->horizon_s > 0;
    double always_w = 0;
    *watt = 0;
    enum tmx_status st =
        ends ? tmx_budget_for(&m->chip, &m->modes, &m->budget, on, &m->path, watt, err) : TMX_OK;
    st = st || (ends && !m->always) ? st : tmx_budget_of(&m->chip, &m->budget, on, &always_w, NULL, err);
    *watt = fmax(*watt, always_w);
    return st;
}

static void add_row(struct maker *m, size_t n, double worst_w, double best_w, const bool *map)
{
    char *text = map ? malloc(2 * LIST_SIZE) : NULL;
    tmx_table_row(m->table, "%zu %g %g %g %g %g", n, worst_w, best_w, worst_w > 0 ? best_w / worst_w : 1,
                  (double)n * best_w, m->gain);
    if (text) {
        list_sms(&m->chip, map, text, LIST_SIZE);
        draw(&m->chip, map, text + LIST_SIZE, LIST_SIZE);
        tmx_table_row(m->table, "%s %s", text, text + LIST_SIZE);
    } else {
        tmx_table_row(m->table, "- -");
    }
    free(text);
}

static enum tmx_status fill(struct maker *m, struct tmx_err *err)
{
    const char *map = m->call->map;
    const bool best_map = map && strcmp(map, "best") == 0, worst_map = map && strcmp(map, "worst") == 0;
    const size_t n_sm = m->chip.n_sm;
    bool *worst = calloc(3 * n_sm, sizeof *worst), *best = worst + n_sm, *other = best + n_sm;
    enum tmx_status st = worst ? TMX_OK : tmx_fail(err, TMX_ENOMEM, "budget of %zu SMs", n_sm);
    double w, b;
    size_t n;
    if (!st && map && !best_map && !worst_map) {
        st = read_map(m, map, best, &n, err);
        st = st ? st : watts(m, best, &b, err);
        if (!st) {
            add_row(m, n, b, b, best);
        }
        free(worst);
        return st;
    }
    struct tmx_budget_search *search = NULL, *always = NULL;
    const bool ends = m->call->horizon_s > 0;
    st = st ? st
            : tmx_budget_search_create(&search, &m->chip, &m->budget, ends ? &m->modes : NULL,
                                       ends ? &m->path : NULL, err);
    st = st || !ends || !m->always ? st
                                   : tmx_budget_search_create(&always, &m->chip, &m->budget, NULL, NULL, err);
    for (n = 1; n <= n_sm && !st; n++) {
        w = tmx_budget_worst(search, n, worst);
        b = tmx_budget_best(search, n, best);
        if (always) { /* as in watts() */
            w = fmax(w, tmx_budget_worst(always, n, other));
            const double b_always = tmx_budget_best(always, n, other);
            memcpy(best, b_always > b ? other : best, n_sm * sizeof *best);
            b = fmax(b, b_always);
        }
        add_row(m, n, w, b, worst_map ? worst : best_map ? best : NULL);
    }
    tmx_budget_search_destroy(search);
    tmx_budget_search_destroy(always);
    free(worst);
    return st;
}

/* By name, or as the folder that the run reads. */
static bool same_chip(const struct tmx_run *run, const char *chip)
{
    char path[2][TMX_PATH_SIZE], word[TMX_PATH_SIZE];
    const char *of_run = tmx_setting_text(tmx_setting_find(tmx_run_settings(run), "chip"));
    tmx_data_word(TMX_DATA_CHIP, chip, word, sizeof word);
    if (!of_run) { /* a topology's */
        return strcmp(tmx_sim_machine(tmx_run_sim_const(run))->gpu[0].chip->name, word) == 0;
    }
    struct tmx_err ignored = {0};
    if (tmx_data_find(TMX_DATA_CHIP, of_run, path[0], &ignored) ||
        tmx_data_find(TMX_DATA_CHIP, chip, path[1], &ignored)) {
        return false;
    }
    char *a = realpath(path[0], NULL), *b = realpath(path[1], NULL);
    const bool same = a && b && strcmp(a, b) == 0;
    free(a);
    free(b);
    return same;
}

/* The run whose state is asked for, on that chip, advanced to its time. */
static enum tmx_status open_state(struct maker *m, const char *chip, struct tmx_run **run,
                                  struct tmx_err *err)
{
    char path[TMX_PATH_SIZE];
    struct tmx_config *cfg = NULL;
    const bool folder = snprintf(path, sizeof path, "%s/resolved.cfg", m->call->state) < (int)sizeof path &&
                        tmx_os_exists(path); /* of `thermix run -o` */
    enum tmx_status st = folder ? TMX_OK : tmx_data_find(TMX_DATA_RUN, m->call->state, path, err);
    st = st ? st : tmx_config_load(&cfg, path, m->call->sets, err);
    st = st ? st : tmx_run_create(run, tmx_config_root(cfg), err);
    tmx_config_close(cfg);
    if (st) {
        return st;
    }
    struct tmx_sim *sim = tmx_run_sim(*run);
    const char *name = tmx_sim_machine(sim)->gpu[0].chip->name;
    if (!same_chip(*run, chip)) {
        return tmx_fail(err, TMX_ECONFIG, "--state %s: its GPU 0 is a %s, but the budget is for %s",
                        m->call->state, name, chip);
    }
    const double ticks = round((m->call->at_s - tmx_sim_time_s(sim)) / tmx_run_tick_s(*run));
    st = ticks >= 1 ? tmx_sim_advance(sim, (uint64_t)ticks, NULL, err) : TMX_OK;
    if (!st && tmx_sim_time_s(sim) < m->call->at_s - tmx_run_tick_s(*run)) {
        st = tmx_fail(err, TMX_ECONFIG, "--at %g: the run ends at %g s", m->call->at_s, tmx_sim_time_s(sim));
    }
    return st;
}

/* The chip, through a run on it: any work will do, none is done. */
static enum tmx_status open_chip(struct maker *m, const char *chip, struct tmx_run **run, struct tmx_err *err)
{
    struct tmx_config *cfg = NULL;
    struct tmx_sets sets = {0};
    enum tmx_status st = tmx_config_parse(&cfg, "mix = \"WL10\"; seed = 1;", "budget", err);
    st = st ? st : tmx_sets_put(&sets, "chip", TMX_TEXT_VALUE(chip), NULL, 0, err);
    st = st ? st : tmx_sets_join(&sets, m->call->sets, "", err);
    st = st ? st : tmx_config_apply(cfg, &sets, err);
    st = st ? st : tmx_run_create(run, tmx_config_root(cfg), err);
    tmx_config_close(cfg);
    tmx_sets_finish(&sets);
    return st;
}

/* For ever: without work, too, the limit has to hold, or the budgets would be watts that do not keep it. */
static enum tmx_status check_idle(const struct maker *m, struct tmx_err *err)
{
    double *temp_k = calloc(m->chip.n_unit, sizeof *temp_k), most_k = 0;
    enum tmx_status st = temp_k ? tmx_budget_idle(&m->chip, m->budget.volt, temp_k, err) : tmx_no_memory(err);
    for (size_t s = 0; s < m->chip.n_sm && !st; s++) {
        most_k = fmax(most_k, tmx_plan_sensor(&m->chip, s, temp_k));
    }
    if (!st && most_k > m->budget.limit_k) {
        st = tmx_fail(err, TMX_ECONFIG,
                      "no power keeps %g degC: without work the hottest SM comes to %.2f degC",
                      m->budget.limit_k - TMX_ZERO_C, most_k - TMX_ZERO_C);
    }
    free(temp_k);
    return st;
}

static enum tmx_status see_chip(struct maker *m, const struct tmx_run *run, struct tmx_err *err)
{
    const enum tmx_status st = tmx_plan_chip_init(&m->chip, run, 0, SIZE_MAX, err);
    TMX_TAKE(&m->arena, m->all, m->chip.n_sm);
    for (size_t s = 0; s < m->chip.n_sm && m->all; s++) {
        m->all[s] = true;
    }
    return st || m->all ? st : tmx_no_memory(err);
}

static void forget_chip(struct maker *m)
{
    tmx_budget_path_finish(&m->path);
    tmx_plan_chip_finish(&m->chip);
    tmx_arena_finish(&m->arena);
}

static enum tmx_status prepare(struct maker *m, const struct tmx_run *run, struct tmx_err *err)
{
    const struct tmx_sim_gpu_thermal *t = tmx_run_gpu_thermal(run, 0);
    const double trip_k = tmx_sim_trip_k(tmx_run_sim_const(run));
    enum tmx_status st = see_chip(m, run, err);
    if (!st && m->call->level >= m->chip.n_level) {
        st = tmx_fail(err, TMX_ECONFIG, "--level %zu: the chip has levels 0 to %zu", m->call->level,
                      m->chip.n_level - 1);
    }
    if (!st && isnan(m->call->limit_c) && !(trip_k > 0)) {
        st = tmx_fail(err, TMX_ECONFIG, "nothing limits the temperature: give --limit");
    }
    const bool ends = m->call->horizon_s > 0 || m->call->boost > 0;
    if (!st && ends && !t->ops->modes) {
        st = tmx_fail(err, TMX_EUNSUPPORTED,
                      "a budget for a while: back-end %s has no modes; use method = \"reduced\"",
                      t->ops->base.name);
    }
    if (st) {
        return st;
    }
    m->budget =
        (struct tmx_budget_call){.limit_k = !isnan(m->call->limit_c) ? m->call->limit_c + TMX_ZERO_C : trip_k,
                                 .volt = m->chip.leak[m->call->level]};
    if (m->budget.limit_k <= m->chip.ambient_k) {
        return tmx_fail(err, TMX_ECONFIG, "the limit of %g degC is not above the ambient %g degC",
                        m->budget.limit_k - TMX_ZERO_C, m->chip.ambient_k - TMX_ZERO_C);
    }
    m->gain = tmx_budget_loop_gain(&m->chip, m->budget.volt, m->budget.limit_k);
    if (ends) {
        t->ops->modes(t->model, 0, &m->modes);
    }
    if (ends && m->modes.spin) {
        return tmx_fail(err, TMX_EUNSUPPORTED,
                        "a budget for a while: not where coolant flows through channels");
    }
    if (m->call->horizon_s > 0) {
        st = m->call->state
                 ? tmx_budget_path_run(&m->path, &m->chip, run, &m->budget, m->call->horizon_s, err)
                 : tmx_budget_path_idle(&m->path, &m->chip, &m->modes, &m->budget, m->call->horizon_s, err);
        struct tmx_err ignored = {0};
        m->always = !st && !m->call->state && m->gain < 1 && check_idle(m, &ignored) == TMX_OK;
    } else if (m->gain < 1) { /* where it is not, that is the reason */
        st = check_idle(m, err);
    }
    return st;
}

/* What all SMs at work may draw for ever, and what is drawn besides then. */
struct sustained {
    double work_w, leak_w, base_w;
};

static enum tmx_status sustain(const struct maker *m, struct sustained *s, struct tmx_err *err)
{
    const struct tmx_plan_chip *c = &m->chip;
    double *temp_k = calloc(c->n_unit, sizeof *temp_k), watt = 0;
    enum tmx_status st =
        temp_k ? tmx_budget_of(c, &m->budget, m->all, &watt, temp_k, err) : tmx_no_memory(err);
    *s = (struct sustained){0};
    s->work_w = watt * (double)c->n_sm;
    for (size_t u = 0; u < c->n_unit && !st; u++) {
        s->leak_w += m->budget.volt * tmx_plan_leak_w(c, u, temp_k[u]);
        s->base_w += c->baseline_w[u];
    }
    free(temp_k);
    return st;
}

static enum tmx_status print_answer(const struct maker *m, struct tmx_err *err)
{
    const struct tmx_plan_chip *c = &m->chip;
    struct sustained s;
    char line[400 + TMX_PATH_SIZE];
    if (m->call->horizon_s > 0) {
        double watt = 0;
        const enum tmx_status found = watts(m, m->all, &watt, err);
        if (!found) {
            snprintf(line, sizeof line,
                     "%.0f W of work for %g s below %g degC with all %zu SM%s, from %s.\n\n",
                     watt * (double)c->n_sm, m->call->horizon_s, m->budget.limit_k - TMX_ZERO_C, c->n_sm,
                     tmx_plural(c->n_sm), m->call->state ? m->call->state : "the idle chip");
            tmx_os_headline(m->call->say, line);
        }
        return found;
    }
    const enum tmx_status st = sustain(m, &s, err);
    if (!st) {
        snprintf(line, sizeof line,
                 "%.0f W for ever below %g degC with all %zu SM%s in air of %g degC:\n"
                 "%.0f W of work, %.0f W leakage, %.0f W besides.\n%s",
                 s.work_w + s.leak_w + s.base_w, m->budget.limit_k - TMX_ZERO_C, c->n_sm, tmx_plural(c->n_sm),
                 c->ambient_k - TMX_ZERO_C, s.work_w, s.leak_w, s.base_w, m->call->boost > 0 ? "" : "\n");
        tmx_os_headline(m->call->say, line);
    }
    return st;
}

/* May all SMs draw watt each for so long? */
static enum tmx_status holds(const struct maker *m, const struct tmx_run *run, double watt, double time_s,
                             bool *yes, struct tmx_err *err)
{
    struct tmx_budget_path path = {0};
    double may_w = 0;
    enum tmx_status st = m->call->state
                             ? tmx_budget_path_run(&path, &m->chip, run, &m->budget, time_s, err)
                             : tmx_budget_path_idle(&path, &m->chip, &m->modes, &m->budget, time_s, err);
    st = st ? st : tmx_budget_for(&m->chip, &m->modes, &m->budget, m->all, &path, &may_w, err);
    tmx_budget_path_finish(&path);
    *yes = may_w >= watt;
    return st;
}

/* Twice as long until it does not hold, then by halves. */
static enum tmx_status boost_time(const struct maker *m, const struct tmx_run *run, double work_w,
                                  double *time_s, struct tmx_err *err)
{
    const double first_s = m->call->state ? tmx_run_tick_s(run) : 1e-3, longest_s = 1e5;
    const double watt = m->call->boost * work_w / (double)m->chip.n_sm;
    bool yes = true;
    double low_s = 0, high_s = first_s;
    enum tmx_status st = TMX_OK;
    while (!st && yes && high_s < longest_s) {
        st = holds(m, run, watt, high_s, &yes, err);
        low_s = yes ? high_s : low_s;
        high_s = yes ? 2 * high_s : high_s;
    }
    while (!st && !yes && low_s > 0 && high_s - low_s > fmax(1e-3 * high_s, first_s)) {
        const double mid_s = (low_s + high_s) / 2;
        bool longer;
        st = holds(m, run, watt, mid_s, &longer, err);
        *(longer ? &low_s : &high_s) = mid_s;
    }
    *time_s = low_s;
    return st;
}

static enum tmx_status fill_boost(struct maker *m, const struct tmx_run *run, struct tmx_err *err)
{
    struct sustained s;
    double time_s = 0;
    enum tmx_status st = sustain(m, &s, err);
    st = st ? st : boost_time(m, run, s.work_w, &time_s, err);
    if (st) {
        return st;
    }
    tmx_table_row(m->table, "%g %g %g", m->call->boost, m->call->boost * s.work_w, time_s);
    if (m->call->say) {
        const struct tmx_bold bold = tmx_os_bold(m->call->say);
        fprintf(m->call->say, "%s%g times that work (%.0f W) holds for %s%.3g s from %s.%s\n\n", bold.on,
                m->call->boost, m->call->boost * s.work_w, time_s > 0 ? "at least " : "", time_s,
                m->call->state ? m->call->state : "the idle chip", bold.off);
    }
    return TMX_OK;
}

enum tmx_status tmx_budget_table(struct tmx_table **t, struct tmx_run **run, const char *chip,
                                 const struct tmx_budget_table_call *call, struct tmx_err *err)
{
    static const struct tmx_column columns[] = {
        {"sms", TMX_COLUMN_INT, 0},    {"worst_w", TMX_COLUMN_REAL, 3}, {"best_w", TMX_COLUMN_REAL, 3},
        {"ratio", TMX_COLUMN_REAL, 2}, {"chip_w", TMX_COLUMN_REAL, 2},  {"loop_gain", TMX_COLUMN_REAL, 3},
        {"map", TMX_COLUMN_TEXT, 0},   {"picture", TMX_COLUMN_TEXT, 0},
    };
    static const struct tmx_column boosted[] = {
        {"boost", TMX_COLUMN_REAL, 2}, {"work_w", TMX_COLUMN_REAL, 2}, {"time_s", TMX_COLUMN_REAL, 3}};
    const bool boost = call->boost > 0;
    struct maker m = {.call = call};
    *t = NULL;
    *run = NULL;
    if (boost && (call->horizon_s > 0 || call->map)) {
        return tmx_fail(err, TMX_ECONFIG,
                        "--boost asks for a time of all SMs: leave out --horizon and --map");
    }
    if (call->state && !(call->horizon_s > 0) && !boost) {
        return tmx_fail(err, TMX_ECONFIG,
                        "--state does nothing without --horizon, because a budget for ever does not depend "
                        "on it; give --horizon or --boost");
    }
    if (call->at_s > 0 && !call->state) {
        return tmx_fail(err, TMX_ECONFIG, "--at %g needs a run: give --state", call->at_s);
    }
    enum tmx_status st = call->state ? open_state(&m, chip, run, err) : open_chip(&m, chip, run, err);
    st = st ? st : prepare(&m, *run, err);
    st = st      ? st
         : boost ? tmx_table_create(&m.table, boosted, sizeof boosted / sizeof boosted[0], err)
                 : tmx_table_create(&m.table, columns, sizeof columns / sizeof columns[0], err);
    if (!st && call->say) {
        st = print_answer(&m, err);
    }
    st = st ? st : boost ? fill_boost(&m, *run, err) : fill(&m, err);
    forget_chip(&m);
    if (st) {
        tmx_table_destroy(m.table);
        tmx_run_destroy(*run);
        *run = NULL;
        return st;
    }
    *t = m.table;
    return TMX_OK;
}

enum tmx_status tmx_budget_why(const char *path, const struct tmx_sets *sets, FILE *out, struct tmx_err *err)
{
    struct tmx_config *cfg = NULL;
    struct tmx_run *run = NULL;
    struct maker m = {0};
    struct sustained s;
    enum tmx_status st = tmx_config_load(&cfg, path, sets, err);
    st = st ? st : tmx_run_create(&run, tmx_config_root(cfg), err);
    tmx_config_close(cfg);
    const struct tmx_machine *machine = st ? NULL : tmx_sim_machine(tmx_run_sim_const(run));
    const struct tmx_job *hottest = NULL;
    for (size_t j = 0; !st && j < machine->n_job; j++) {
        hottest = !hottest || machine->job[j].power_w > hottest->power_w ? &machine->job[j] : hottest;
    }
    const double trip_k = st ? NAN : tmx_sim_trip_k(tmx_run_sim_const(run));
    if (st || machine->n_gpu > 1 || !hottest || tmx_sim_cooling(tmx_run_sim_const(run)) || !(trip_k > 0) ||
        tmx_sim_serve(tmx_run_sim_const(run))) {
        tmx_run_destroy(run);
        return st;
    }
    struct tmx_err why = {0}; /* where the back-end, leakage or limit has no answer, there is no sentence */
    m.budget = (struct tmx_budget_call){.limit_k = trip_k, .volt = 1};
    if (see_chip(&m, run, &why) == TMX_OK && trip_k > m.chip.ambient_k && sustain(&m, &s, &why) == TMX_OK) {
        const double work_w = hottest->power_w * machine->gpu[0].power_scale * (double)m.chip.n_sm;
        tmx_print_visible(
            out, "%s draws %.0f W; this chip carries %.0f W below %g degC in air of %.4g degC.\n",
            hottest->kernel->name, work_w, s.work_w, trip_k - TMX_ZERO_C, m.chip.ambient_k - TMX_ZERO_C);
    }
    forget_chip(&m);
    tmx_run_destroy(run);
    return TMX_OK;
}

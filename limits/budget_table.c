/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _XOPEN_SOURCE 700 /* POSIX 2008 with realpath */

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/config.h"
#include "base/os.h"
#include "base/text.h"
#include "core/workload/mix.h"
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
    struct tmx_arena arena;
    struct tmx_run *run;
    struct tmx_err *err; /* of the first failure */
};

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

/* A file of SM numbers, separated by space, lines, commas or semicolons; returns how many. */
static size_t read_map(const struct maker *m, const char *path, bool *on)
{
    struct tmx_text_file text;
    struct tmx_lines lines = {0};
    size_t n = 0;
    if (tmx_text_load(&text, path, m->err)) {
        return 0;
    }
    while (!m->err->code && tmx_lines_next(&lines, &text)) {
        for (const char *c = lines.line.begin; c < lines.line.end && *c != '#' && !m->err->code;) {
            const bool digit = isdigit((unsigned char)*c);
            size_t number = 0;
            if (!digit && !isspace((unsigned char)*c) && *c != ',' && *c != ';') {
                tmx_error_at(m->err, TMX_ECONFIG, path, lines.number, "expected SM numbers");
            }
            c += !digit;
            for (; digit && c < lines.line.end && isdigit((unsigned char)*c); c++) {
                number = number < m->chip.n_sm ? 10 * number + (size_t)(*c - '0') : number;
            }
            if (digit && (number >= m->chip.n_sm || on[number])) {
                tmx_error_at(m->err, TMX_ECONFIG, path, lines.number,
                             "SM %zu: %s (the chip has SMs 0 to %zu)", number,
                             number >= m->chip.n_sm ? "there is none" : "named twice", m->chip.n_sm - 1);
            } else if (digit) {
                on[number] = true;
                n++;
            }
        }
    }
    tmx_text_finish(&text);
    if (n == 0) {
        tmx_error_at(m->err, TMX_ECONFIG, path, 0, "no SM number");
    }
    return n;
}

/* Watts of a set (NULL: all SMs): for ever, or for the horizon. From the idle chip, which only warms, what is
 * safe for ever is safe for a while; the path to a far horizon, with leakage as at the limit, allows less. */
static double watts(const struct maker *m, const bool *on)
{
    const bool ends = m->call->horizon_s > 0;
    const double watt = ends ? tmx_budget_for(&m->chip, &m->modes, &m->budget, on, &m->path, m->err) : 0;
    return fmax(watt, !ends || m->always ? tmx_budget_of(&m->chip, &m->budget, on, NULL, m->err) : 0);
}

static void add_row(struct maker *m, size_t n, double worst_w, double best_w, const bool *map)
{
    char *text = map ? malloc(2 * LIST_SIZE) : NULL;
    tmx_table_row(m->table, "%zu %g %g %g %g %g", n, worst_w, best_w, worst_w > 0 ? best_w / worst_w : 1,
                  (double)n * best_w, m->gain);
    if (text) {
        size_t used = 0;
        text[0] = '\0';
        for (size_t s = 0; s < m->chip.n_sm && used + 16 < LIST_SIZE; s++) {
            used += map[s] ? (size_t)sprintf(text + used, "%s%zu", used ? " " : "", s) : 0;
        }
        draw(&m->chip, map, text + LIST_SIZE, LIST_SIZE);
        tmx_table_row(m->table, "%s %s", text, text + LIST_SIZE);
    } else {
        tmx_table_row(m->table, "- -");
    }
    free(text);
}

static void fill(struct maker *m)
{
    const char *map = m->call->map;
    const bool best_map = map && strcmp(map, "best") == 0, worst_map = map && strcmp(map, "worst") == 0;
    const size_t n_sm = m->chip.n_sm;
    bool *worst, *best, *other, ends = m->call->horizon_s > 0;
    TMX_TAKE(&m->arena, worst, n_sm);
    TMX_TAKE(&m->arena, best, n_sm);
    if (!TMX_TAKE(&m->arena, other, n_sm)) {
        tmx_error(m->err, TMX_ENOMEM, "out of memory");
        return;
    }
    if (map && !best_map && !worst_map) {
        const size_t n = read_map(m, map, best);
        const double w = watts(m, best);
        if (!m->err->code) {
            add_row(m, n, w, w, best);
        }
        return;
    }
    struct tmx_budget_search *search, *always = NULL;
    search = tmx_budget_search_create(&m->chip, &m->budget, ends ? &m->modes : NULL, ends ? &m->path : NULL,
                                      m->err);
    if (ends && m->always) {
        always = tmx_budget_search_create(&m->chip, &m->budget, NULL, NULL, m->err);
    }
    for (size_t n = 1; n <= n_sm && !m->err->code; n++) {
        double w = tmx_budget_worst(search, n, worst), b = tmx_budget_best(search, n, best);
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
}

/* By name, or as the folder that the run reads. */
static bool same_chip(const struct tmx_run *run, const char *chip)
{
    char path[2][TMX_PATH_SIZE], word[TMX_PATH_SIZE];
    const char *of_run = tmx_setting_text(tmx_setting_find(tmx_run_settings(run), "chip"));
    tmx_data_word(TMX_DATA_CHIP, chip, word, sizeof word);
    if (!of_run) { /* a topology's */
        return strcmp(tmx_run_sim(run)->machine->gpu[0].chip->name, word) == 0;
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
static void open_state(struct maker *m, const char *chip)
{
    char path[TMX_PATH_SIZE];
    const bool folder = snprintf(path, sizeof path, "%s/resolved.cfg", m->call->state) < (int)sizeof path &&
                        tmx_os_exists(path); /* of `thermix run -o` */
    if ((!folder && tmx_data_find(TMX_DATA_RUN, m->call->state, path, m->err)) ||
        tmx_run_load(&m->run, path, &(struct tmx_run_how){.sets = m->call->sets}, m->err)) {
        return;
    }
    struct tmx_sim *sim = tmx_run_sim(m->run);
    const char *name = sim->machine->gpu[0].chip->name;
    if (!same_chip(m->run, chip)) {
        tmx_error(m->err, TMX_ECONFIG, "--state %s: its GPU 0 is a %s, but the budget is for %s",
                  m->call->state, name, chip);
        return;
    }
    const double ticks = round((m->call->at_s - tmx_sim_time_s(sim)) / tmx_run_tick_s(m->run));
    if (ticks >= 1 && tmx_sim_advance(sim, (uint64_t)ticks, NULL, m->err)) {
        return;
    }
    if (tmx_sim_time_s(sim) < m->call->at_s - tmx_run_tick_s(m->run)) {
        tmx_error(m->err, TMX_ECONFIG, "--at %g: the run ends at %g s", m->call->at_s, tmx_sim_time_s(sim));
    }
}

/* The chip, through a run on it: any work will do, none is done, and little costs nothing. */
static void open_chip(struct maker *m, const char *chip)
{
    struct tmx_sets sets = {0};
    struct tmx_mix mix = {.name = "budget", .entry = calloc(1, sizeof *mix.entry)};
    if (!mix.entry) {
        tmx_no_memory(m->err);
    } else {
        mix.entry[mix.n_entry++] = (struct tmx_mix_entry){.kernel = "Bs", .gpus = 1, .work_s = 1};
    }
    tmx_sets_refuse(
        m->call->sets,
        "mix policy place mix_policy dtm tb cta gate job smooth sensor tick tick_s quantum_s gpus bound "
        "arrival_order measured_gains memory_bound_time pdi queue rate_error reference_chip row "
        "stopped_blocks stuck_s system_kernel_s warmup_s warmup_with",
        "a budget follows from the chip and its cooling, whatever work, policy or tick; "
        "--state RUN has a run's",
        m->err);
    tmx_sets_put(&sets, "seed", TMX_INTEGER_VALUE(1), NULL, 0, m->err);
    tmx_sets_put(&sets, "chip", TMX_TEXT_VALUE(chip), NULL, 0, m->err);
    tmx_sets_join(&sets, m->call->sets, "", m->err);
    tmx_run_load(&m->run, "", &(struct tmx_run_how){.sets = &sets, .mix = &mix}, m->err);
    tmx_sets_finish(&sets);
}

/* For ever: without work, too, the limit has to hold, or the budgets would be watts that do not keep it. */
static void check_idle(struct maker *m, struct tmx_err *err)
{
    double *temp_k, most_k = 0;
    TMX_TAKE(&m->arena, temp_k, m->chip.n_unit);
    tmx_arena_check(&m->arena, err);
    if (!err->code) {
        tmx_budget_idle(&m->chip, m->budget.volt, temp_k, err);
        most_k = tmx_plan_hottest_k(&m->chip, temp_k);
    }
    if (most_k > m->budget.limit_k) {
        tmx_error(err, TMX_ECONFIG, "no power keeps %g degC: without work the hottest SM comes to %.2f degC",
                  m->budget.limit_k - TMX_ZERO_C, most_k - TMX_ZERO_C);
    }
}

static void forget_chip(struct maker *m)
{
    tmx_budget_path_finish(&m->path);
    tmx_plan_chip_finish(&m->chip);
    tmx_arena_finish(&m->arena);
}

/* From the state of the run, or from the idle chip. */
static void make_path(const struct maker *m, struct tmx_budget_path *path, double horizon_s)
{
    if (m->call->state) {
        tmx_budget_path_run(path, &m->chip, m->run, &m->budget, horizon_s, m->err);
    } else {
        tmx_budget_path_idle(path, &m->chip, &m->modes, &m->budget, horizon_s, m->err);
    }
}

static void prepare(struct maker *m)
{
    if (m->err->code || tmx_plan_chip_init(&m->chip, m->run, 0, SIZE_MAX, m->err)) {
        return;
    }
    const struct tmx_sim_gpu_thermal *t = tmx_run_gpu_thermal(m->run, 0);
    const double trip_k = tmx_sim_trip_k(tmx_run_sim(m->run));
    const bool ends = m->call->horizon_s > 0 || m->call->boost > 0;
    if (m->call->level >= m->chip.n_level) {
        tmx_error(m->err, TMX_ECONFIG, "--level %zu: the chip has levels 0 to %zu", m->call->level,
                  m->chip.n_level - 1);
    } else if (isnan(m->call->limit_c) && !(trip_k > 0)) {
        tmx_error(m->err, TMX_ECONFIG, "nothing limits the temperature: give --limit");
    } else if (ends && !t->ops->modes) {
        tmx_error(m->err, TMX_EUNSUPPORTED,
                  "a budget for a while: back-end %s has no modes; use method = \"reduced\"",
                  t->ops->base.name);
    }
    if (m->err->code) {
        return;
    }
    m->budget =
        (struct tmx_budget_call){.limit_k = !isnan(m->call->limit_c) ? m->call->limit_c + TMX_ZERO_C : trip_k,
                                 .volt = m->chip.leak[m->call->level]};
    if (m->budget.limit_k <= m->chip.ambient_k) {
        tmx_error(m->err, TMX_ECONFIG, "the limit of %g degC is not above the ambient %g degC",
                  m->budget.limit_k - TMX_ZERO_C, m->chip.ambient_k - TMX_ZERO_C);
        return;
    }
    m->gain = tmx_budget_loop_gain(&m->chip, m->budget.volt, m->budget.limit_k);
    if (ends) {
        t->ops->modes(t->model, 0, &m->modes);
    }
    if (ends && m->modes.frequency) {
        tmx_error(m->err, TMX_EUNSUPPORTED, "a budget for a while: not where coolant flows through channels");
    } else if (m->call->horizon_s > 0) {
        struct tmx_err ignored = {0};
        make_path(m, &m->path, m->call->horizon_s);
        check_idle(m, &ignored);
        m->always = !m->call->state && m->gain < 1 && !ignored.code;
    } else if (m->gain < 1) { /* where it is not, that is the reason */
        check_idle(m, m->err);
    }
}

/* What all SMs at work may draw for ever, and what is drawn besides then. */
struct sustained {
    double work_w, leak_w, base_w;
};

static struct sustained sustain(struct maker *m)
{
    const struct tmx_plan_chip *c = &m->chip;
    struct sustained s = {0};
    double *temp_k;
    TMX_TAKE(&m->arena, temp_k, c->n_unit);
    tmx_arena_check(&m->arena, m->err);
    const double watt = m->err->code ? NAN : tmx_budget_of(c, &m->budget, NULL, temp_k, m->err);
    if (!m->err->code) {
        s.work_w = watt * (double)c->n_sm;
        for (size_t u = 0; u < c->n_unit; u++) {
            s.leak_w += m->budget.volt * tmx_plan_leak_w(c, u, temp_k[u]);
            s.base_w += c->baseline_w[u];
        }
    }
    return s;
}

static void print_answer(struct maker *m)
{
    const struct tmx_plan_chip *c = &m->chip;
    const double limit_c = m->budget.limit_k - TMX_ZERO_C;
    char line[400 + TMX_PATH_SIZE];
    if (m->call->horizon_s > 0) {
        snprintf(line, sizeof line, "%.0f W of work for %g s below %g degC with all %zu SM%s, from %s.\n\n",
                 watts(m, NULL) * (double)c->n_sm, m->call->horizon_s, limit_c, c->n_sm, tmx_plural(c->n_sm),
                 m->call->state ? m->call->state : "the idle chip");
    } else {
        const struct sustained s = sustain(m);
        snprintf(line, sizeof line,
                 "%.0f W for ever below %g degC with all %zu SM%s in air of %g degC:\n"
                 "%.0f W of work, %.0f W leakage, %.0f W besides.\n%s",
                 s.work_w + s.leak_w + s.base_w, limit_c, c->n_sm, tmx_plural(c->n_sm),
                 c->ambient_k - TMX_ZERO_C, s.work_w, s.leak_w, s.base_w, m->call->boost > 0 ? "" : "\n");
    }
    if (!m->err->code) {
        tmx_os_headline(m->call->say, line);
    }
}

/* May all SMs draw watt each for so long? */
static bool holds(const struct maker *m, double watt, double time_s)
{
    struct tmx_budget_path path;
    make_path(m, &path, time_s);
    const double may_w = tmx_budget_for(&m->chip, &m->modes, &m->budget, NULL, &path, m->err);
    tmx_budget_path_finish(&path);
    return may_w >= watt;
}

/* How long that holds: twice as long until it does not, then by halves. */
static void fill_boost(struct maker *m)
{
    const double first_s = m->call->state ? tmx_run_tick_s(m->run) : 1e-3, longest_s = 1e5;
    const double work_w = m->call->boost * sustain(m).work_w, watt = work_w / (double)m->chip.n_sm;
    bool yes = true;
    double low_s = 0, high_s = first_s;
    while (yes && high_s < longest_s && !m->err->code) {
        yes = holds(m, watt, high_s);
        low_s = yes ? high_s : low_s;
        high_s = yes ? 2 * high_s : high_s;
    }
    while (!yes && low_s > 0 && high_s - low_s > fmax(1e-3 * high_s, first_s) && !m->err->code) {
        const double mid_s = (low_s + high_s) / 2;
        *(holds(m, watt, mid_s) ? &low_s : &high_s) = mid_s;
    }
    if (m->err->code) {
        return;
    }
    tmx_table_row(m->table, "%g %g %g", m->call->boost, work_w, low_s);
    if (m->call->say) {
        const struct tmx_bold bold = tmx_os_bold(m->call->say);
        fprintf(m->call->say, "%s%g times that work (%.0f W) holds for %s%.3g s from %s.%s\n\n", bold.on,
                m->call->boost, work_w, low_s > 0 ? "at least " : "", low_s,
                m->call->state ? m->call->state : "the idle chip", bold.off);
    }
}

enum tmx_status tmx_budget_table(struct tmx_table **t, struct tmx_run **run, const char *chip,
                                 const struct tmx_budget_table_call *call, struct tmx_err *err)
{
    const bool boost = call->boost > 0;
    struct tmx_err own = {0};
    struct maker m = {.call = call, .err = &own};
    (call->state ? open_state : open_chip)(&m, chip);
    prepare(&m);
    m.table = tmx_table_of(boost ? "boost:2 work_w:2 time_s:3"
                                 : "sms:d worst_w:3 best_w:3 ratio:2 chip_w:2 loop_gain:3 map picture");
    if (!own.code && call->say) {
        print_answer(&m);
    }
    if (!own.code) {
        (boost ? fill_boost : fill)(&m);
    }
    forget_chip(&m);
    if (own.code) {
        tmx_table_destroy(m.table);
        tmx_run_destroy(m.run);
        m.table = NULL;
        m.run = NULL;
    }
    *t = m.table;
    *run = m.run;
    return tmx_error_give(err, &own);
}

enum tmx_status tmx_budget_why(const char *path, const struct tmx_sets *sets, FILE *out, struct tmx_err *err)
{
    struct tmx_err why = {0}; /* where the back-end, leakage or limit has no answer, there is no sentence */
    struct maker m = {.err = &why};
    if (tmx_run_load(&m.run, path, &(struct tmx_run_how){.sets = sets}, err)) {
        return err->code;
    }
    const struct tmx_sim *sim = tmx_run_sim(m.run);
    const struct tmx_machine *machine = sim->machine;
    const struct tmx_job *hottest = NULL;
    for (size_t j = 0; j < machine->n_job; j++) {
        hottest = !hottest || machine->job[j].power_w > hottest->power_w ? &machine->job[j] : hottest;
    }
    const double trip_k = tmx_sim_trip_k(sim);
    if (machine->n_gpu == 1 && hottest && !tmx_job_outside(hottest) && !sim->cooling && trip_k > 0 &&
        !tmx_sim_serve(sim)) {
        m.budget = (struct tmx_budget_call){.limit_k = trip_k, .volt = 1};
        const bool above =
            !tmx_plan_chip_init(&m.chip, m.run, 0, SIZE_MAX, &why) && trip_k > m.chip.ambient_k;
        const struct sustained s = above ? sustain(&m) : (struct sustained){0};
        if (above && !why.code) {
            const double work_w = hottest->power_w * machine->gpu[0].power_scale * (double)m.chip.n_sm;
            tmx_print_visible(
                out, "%s draws %.0f W; this chip carries %.0f W below %g degC in air of %.4g degC.\n",
                hottest->kernel->name, work_w, s.work_w, trip_k - TMX_ZERO_C, m.chip.ambient_k - TMX_ZERO_C);
        }
    }
    forget_chip(&m);
    tmx_run_destroy(m.run);
    return TMX_OK;
}

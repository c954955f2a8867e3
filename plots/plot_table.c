/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Figures from the table of a suite: bars of mixes by policies, means by variant, floorplans. */
#include "plots/plot.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/csv.h"
#include "base/plausible.h"
#include "base/text.h"

enum { MAX_NAMES = 64 };

struct source {                /* table.csv and its columns */
    struct tmx_csv csv, paper; /* paper: without rows where there is none */
    size_t mix, policy, variant;
    char first_variant[64];
    size_t n_variant;
};

/* The values of a column, each once, but for those that end in skip ("": none). */
static size_t distinct(const struct source *s, size_t column, const char **names, const char *skip)
{
    size_t n = 0;
    for (size_t r = 0; r < s->csv.n_row; r++) {
        const char *v = tmx_csv_cell(&s->csv, r, column);
        const bool skipped = skip[0] && (strcmp(v, skip) == 0 || tmx_text_ends(v, skip));
        if (tmx_names_find(v, names, n) == n && n < MAX_NAMES && !skipped) {
            names[n++] = v;
        }
    }
    return n;
}

/* Figures that leave names out say so. */
static void warn_of_more(const struct source *s, size_t column)
{
    const char *names[MAX_NAMES];
    const size_t n = column < s->csv.n_column ? distinct(s, column, names, "") : 0;
    bool more = false;
    for (size_t r = 0; r < s->csv.n_row && n == MAX_NAMES; r++) {
        more = more || tmx_names_find(tmx_csv_cell(&s->csv, r, column), names, n) == n;
    }
    if (more) {
        tmx_warn("%s: figures have the first %d values of column %s, not all", s->csv.source, MAX_NAMES,
                 s->csv.column[column]);
    }
}

/* The value of one cell of the long table, of the first row with these names; false when it has none. */
static bool value(const struct source *s, const char *variant, const char *mix, const char *policy,
                  size_t column, double *v)
{
    const bool any = s->variant == s->csv.n_column;
    size_t r = 0;
    while (r < s->csv.n_row && (strcmp(tmx_csv_cell(&s->csv, r, s->mix), mix) != 0 ||
                                strcmp(tmx_csv_cell(&s->csv, r, s->policy), policy) != 0 ||
                                (!any && strcmp(tmx_csv_cell(&s->csv, r, s->variant), variant) != 0))) {
        r++;
    }
    return r < s->csv.n_row && tmx_csv_real(&s->csv, r, column, v);
}

/* The technologies of paper 003's Figure 6, T1 to T5, in order. */
static size_t technologies(const struct source *s, const char **names)
{
    const char *all[MAX_NAMES];
    size_t n = 0;
    const size_t n_all = s->variant < s->csv.n_column ? distinct(s, s->variant, all, "") : 0;
    for (size_t i = 0; i < n_all; i++) {
        if (all[i][0] == 'T' && all[i][1] >= '1' && all[i][1] <= '9' && !all[i][2]) {
            names[n++] = all[i];
        }
    }
    qsort(names, n, sizeof *names, tmx_text_compare);
    return n;
}

struct bars {
    const char *figure, *script, *column, *skip_policy;
    const char *printed, *quantity; /* rows of paper.csv: its figure, what its quantity begins with */
    bool has_bound;                 /* a line at what no policy can pass */
    enum groups { BY_MIX, BY_TECHNOLOGY, BY_VARIANT } by; /* but for mixes, at the row "mean" */
    const char *title, *y, *of; /* words of scripts/quantity.gp; %s: the baseline's name */
};

struct shown { /* of a figure */
    const struct bars *b;
    const char *group[MAX_NAMES], *policy[MAX_NAMES];
    size_t n_group, n_policy, column;
};

/* The number of a group under a policy. */
static bool value_at(const struct source *s, const struct bars *b, const char *group, const char *policy,
                     size_t column, double *v)
{
    return b->by == BY_MIX ? value(s, s->first_variant, group, policy, column, v)
                           : value(s, group, "mean", policy, column, v);
}

/* A part of the figure and the number that says so, if the part has a row. */
static void put_part(struct tmx_plot *p, const struct bars *b, const char *part, struct tmx_table *t,
                     double has)
{
    char key[40];
    if (tmx_table_rows(t) == 0) {
        tmx_table_destroy(t);
        return;
    }
    tmx_plot_data(p, b->figure, part, t);
    snprintf(key, sizeof key, "has%s", part);
    tmx_plot_number(p, key, has);
}

/* What the paper prints at these groups and bars, for the marks: group and bar counted as the script does. */
static void paper_marks(struct tmx_plot *p, const struct source *s, const struct shown *f)
{
    char want[256];
    struct tmx_table *t = tmx_table_of("group:d bar:d paper_value:2");
    const struct tmx_csv *c = &s->paper;
    const struct bars *b = f->b;
    for (size_t r = 0; r < c->n_row; r++) {
        const double v = tmx_csv_value_at(c, r, "paper_value");
        if (strcmp(tmx_csv_at(c, r, "figure"), b->printed) != 0 ||
            strncmp(tmx_csv_at(c, r, "quantity"), b->quantity, strlen(b->quantity)) != 0 || isnan(v)) {
            continue;
        }
        for (size_t i = 0; i < f->n_group * f->n_policy; i++) {
            const char *at = f->group[i / f->n_policy], *bar = f->policy[i % f->n_policy];
            snprintf(want, sizeof want, b->by == BY_MIX ? "%s %s" : "mean %s %s", b->by == BY_MIX ? at : bar,
                     b->by == BY_MIX ? bar : at);
            if (strcmp(tmx_csv_at(c, r, "case"), want) == 0) {
                tmx_table_row(t, "%zu %zu %g", i / f->n_policy, i % f->n_policy + 1, v);
            }
        }
    }
    put_part(p, b, "_paper", t, 1);
}

/* What no policy can pass in each group, where the table has bounds: in the column's own terms, slowdown or
 * improvement over BL. */
static bool bound_of(const struct source *s, const struct shown *f, const char *group, double *v)
{
    const size_t bound = tmx_csv_column(&s->csv, "bound_pct"), slow = tmx_csv_column(&s->csv, "slowdown_pct");
    double bl;
    bool there = false;
    for (size_t i = 0; i < f->n_policy && bound < s->csv.n_column && !there; i++) {
        there = value_at(s, f->b, group, f->policy[i], bound, v);
    }
    if (!there || strcmp(f->b->column, "slowdown_pct") == 0) {
        return there;
    }
    if (!value_at(s, f->b, group, "BL", slow, &bl) || bl < 0.005) { /* 0.00 as printed */
        return false;
    }
    *v = 100 * (1 - *v / bl);
    return true;
}

/* Of several seeds: half the 95 % interval of every bar's mean. */
static void intervals(struct tmx_plot *p, const struct source *s, const struct shown *f)
{
    char name[96];
    snprintf(name, sizeof name, "%s_ci95", f->b->column);
    const size_t ci95 = tmx_csv_column(&s->csv, name), seeds = tmx_csv_column(&s->csv, "seeds");
    double n = 0;
    if (ci95 == s->csv.n_column || seeds == s->csv.n_column || !tmx_csv_real(&s->csv, 0, seeds, &n)) {
        return;
    }
    struct tmx_table *t = tmx_table_of("group:d bar:d mean:4 ci95:4");
    for (size_t i = 0; i < f->n_group * f->n_policy; i++) {
        const char *at = f->group[i / f->n_policy], *of = f->policy[i % f->n_policy];
        double mean, half;
        if (value_at(s, f->b, at, of, f->column, &mean) && value_at(s, f->b, at, of, ci95, &half)) {
            tmx_table_row(t, "%zu %zu %g %g", i / f->n_policy, i % f->n_policy + 1, mean, half);
        }
    }
    put_part(p, f->b, "_ci95", t, n);
}

/* Has the first variant this mix? Another may have its own. */
static bool in_first(const struct source *s, const char *mix)
{
    bool found = s->variant == s->csv.n_column;
    for (size_t r = 0; r < s->csv.n_row && !found; r++) {
        found = strcmp(tmx_csv_cell(&s->csv, r, s->mix), mix) == 0 &&
                strcmp(tmx_csv_cell(&s->csv, r, s->variant), s->first_variant) == 0;
    }
    return found;
}

/* Keep the first variant's mixes that were run under more than one policy: a single run beside the mixes has
 * nothing to be compared with, unless no mix was run twice. Returns how many are left. */
static size_t compared(const struct source *s, const char **mix, size_t n_mix)
{
    const char *policy[MAX_NAMES];
    const size_t column = tmx_csv_column(&s->csv, "slowdown_pct");
    const size_t n_policy = column < s->csv.n_column ? distinct(s, s->policy, policy, "") : 0;
    size_t kept = 0;
    for (size_t m = 0; m < n_mix; m++) {
        size_t n = 0;
        for (size_t i = 0; i < n_policy; i++) {
            double v;
            n += value(s, s->first_variant, mix[m], policy[i], column, &v);
        }
        if ((n != 1 || n_policy == 1) && in_first(s, mix[m])) {
            mix[kept++] = mix[m];
        }
    }
    return kept ? kept : n_mix;
}

/* Is there a policy whose name begins with these n letters? Of n with the NUL: with this name. */
static bool has_policy(const struct source *s, const char *name, size_t n)
{
    bool found = false;
    for (size_t r = 0; r < s->csv.n_row && !found; r++) {
        found = strncmp(tmx_csv_cell(&s->csv, r, s->policy), name, n) == 0;
    }
    return found;
}

/* The groups of a figure. A suite of one mix has no mean beside it. */
static size_t groups_of(const struct source *s, const struct bars *b, const char **group)
{
    size_t n = b->by == BY_TECHNOLOGY ? technologies(s, group)
               : b->by == BY_VARIANT  ? distinct(s, s->variant, group, "")
                                      : distinct(s, s->mix, group, "mean_target");
    if (b->by == BY_MIX) {
        n = compared(s, group, n);
        n = n == 2 && strcmp(group[1], "mean") == 0 ? 1 : n;
    }
    return n;
}

/* Policies with something to show: against itself the baseline has nothing. Returns how many are left. */
static size_t shown(const struct source *s, struct shown *f, size_t n_policy)
{
    size_t kept = 0;
    for (size_t i = 0; i < n_policy; i++) {
        bool any = f->b->skip_policy[0] == '\0';
        for (size_t g = 0; g < f->n_group && !any; g++) {
            double v;
            any = value_at(s, f->b, f->group[g], f->policy[i], f->column, &v) && v != 0;
        }
        if (any) {
            f->policy[kept++] = f->policy[i];
        }
    }
    return kept;
}

/* text with the baseline's name for "%s" and "%" for "%%". */
static void put_word(struct tmx_plot *p, const char *key, const char *text, const char *base)
{
    char word[160];
    size_t n = 0;
    for (const char *c = text; *c && n + 1 < sizeof word; c++) {
        if (*c != '%') {
            word[n++] = *c;
        } else if (*++c == 's') {
            n += (size_t)snprintf(word + n, sizeof word - n, "%s", base);
        } else {
            word[n++] = '%';
        }
    }
    word[n < sizeof word ? n : sizeof word - 1] = '\0';
    tmx_plot_label(p, key, word);
}

static void draw_bars(struct tmx_plot *p, const struct source *s, const struct bars *b)
{
    struct shown f = {.b = b, .column = tmx_csv_column(&s->csv, b->column)};
    if (f.column == s->csv.n_column || !tmx_plot_wants(p, b->figure)) {
        return;
    }
    f.n_group = groups_of(s, b, f.group);
    f.n_policy = shown(s, &f, distinct(s, s->policy, f.policy, b->skip_policy));
    if (f.n_policy == 0) {
        return;
    }
    struct tmx_table *t = tmx_table_of(b->by == BY_MIX ? "mix" : "variant");
    tmx_plot_order(p, f.policy, f.n_policy);
    tmx_plot_order(p, f.group, f.n_group);
    for (size_t i = 0; i < f.n_policy; i++) {
        tmx_table_extend(t, f.policy[i], TMX_COLUMN_REAL, 2);
    }
    for (size_t g = 0; g < f.n_group; g++) {
        tmx_table_text(t, f.group[g]);
        for (size_t i = 0; i < f.n_policy; i++) {
            double v;
            tmx_table_real_or_empty(t, value_at(s, b, f.group[g], f.policy[i], f.column, &v) ? v : NAN);
        }
    }
    tmx_plot_names(p, f.policy, f.n_policy);
    tmx_plot_number(p, "n_group", (double)f.n_group);
    if (b->title) {
        /* is what the table compares with BL, as in the papers, or a suite's own? */
        const char *base = has_policy(s, "BL", 3) || has_policy(s, "MG-BL", 6) ? "BL" : "the baseline";
        put_word(p, "title", b->title, base);
        put_word(p, "y", b->y, base);
        tmx_plot_label(p, "of", b->of);
        if (b->by == BY_TECHNOLOGY) {
            tmx_plot_label(p, "x", "memory and interconnect technology");
            tmx_plot_number(p, "wide", 5);
        }
    }
    if (b->by == BY_MIX && s->n_variant > 1) {
        tmx_plot_label(p, "variant", s->first_variant);
    }
    intervals(p, s, &f);
    paper_marks(p, s, &f);
    if (b->has_bound) {
        struct tmx_table *line = tmx_table_of("group:d bound:3");
        for (size_t g = 0; g < f.n_group; g++) {
            double v;
            if (bound_of(s, &f, f.group[g], &v)) {
                tmx_table_row(line, "%zu %g", g, v);
            }
        }
        put_part(p, b, "_bound", line, 1);
    }
    tmx_plot_draw(p, b->script, b->figure, t);
}

static void draw_pareto(struct tmx_plot *p, const struct source *s)
{
    const char *policy[MAX_NAMES];
    struct tmx_pareto_point point[MAX_NAMES];
    const size_t slowdown = tmx_csv_column(&s->csv, "slowdown_pct"),
                 energy = tmx_csv_column(&s->csv, "energy_j");
    size_t n = 0;
    if (slowdown == s->csv.n_column || energy == s->csv.n_column) {
        return;
    }
    const size_t n_policy = distinct(s, s->policy, policy, "");
    for (size_t i = 0; i < n_policy; i++) {
        double x, y;
        if (value(s, s->first_variant, "mean", policy[i], slowdown, &x) &&
            value(s, s->first_variant, "mean", policy[i], energy, &y)) {
            point[n++] = (struct tmx_pareto_point){policy[i], x, y / 1000};
        }
    }
    if (n >= 2) {
        tmx_plot_words(p, "Energy against slowdown, means; left and below is better", "slowdown (%)",
                       "energy (kJ)");
        tmx_plot_pareto(p, point, n);
    }
}

/* The floorplans' heat maps side by side, where the comparison left its units. */
static void draw_maps(struct tmx_plot *p, const char *folder)
{
    struct source s = {0};
    char text[80];
    const char *name[MAX_NAMES];
    const bool there = tmx_plot_read(p, folder, "units.csv", false, &s.csv);
    const size_t of = there ? tmx_csv_column(&s.csv, "floorplan") : 0,
                 n = !there || of == s.csv.n_column ? 0 : distinct(&s, of, name, "");
    struct tmx_table *t = tmx_table_of("floorplan:d " TMX_OUTLINE_COLUMNS " mean_temp_c:3");
    for (size_t r = 0; r < s.csv.n_row && !p->err->code && n > 0 && t; r++) {
        tmx_table_row(t, "%zu", tmx_names_find(tmx_csv_cell(&s.csv, r, of), name, n) + 1);
        for (size_t c = 1; c < 7 && !p->err->code; c++) {
            const size_t from = tmx_csv_column(&s.csv, tmx_table_column(t, c)->name);
            const double v = tmx_csv_value(&s.csv, r, from);
            if (from == s.csv.n_column || (c > 1 && isnan(v))) {
                tmx_error_at(p->err, TMX_EPARSE, s.csv.source, s.csv.line[r], "expected a number as %s",
                             tmx_table_column(t, c)->name);
            } else if (c == 1) {
                tmx_table_text(t, tmx_csv_cell(&s.csv, r, from));
            } else {
                tmx_table_real(t, v);
            }
        }
    }
    for (size_t i = 0; i < n; i++) {
        tmx_plot_label(p, "name", tmx_plot_stem(name[i], ".flp", text));
    }
    tmx_plot_draw(p, "floorplan_maps", "floorplan_maps", t);
    tmx_csv_finish(&s.csv);
}

static void draw_floorplans(struct tmx_plot *p, const struct source *s)
{
    struct tmx_table *t = tmx_table_of("floorplan peak_temp_c:2 gradient_c:2 slowdown_pct:2 energy_kj:2");
    for (size_t r = 0; r < s->csv.n_row && t; r++) {
        char name[80];
        tmx_table_text(t, tmx_plot_stem(tmx_csv_at(&s->csv, r, "floorplan"), ".flp", name));
        for (size_t i = 1; i < 5; i++) {
            const double v = tmx_csv_value_at(&s->csv, r, i == 4 ? "energy_j" : tmx_table_column(t, i)->name);
            tmx_table_real_or_empty(t, i == 4 ? v / 1000 : v);
        }
    }
    tmx_plot_draw(p, "floorplans", "floorplans", t);
}

static void draw_suite(struct tmx_plot *p, const struct source *s)
{
    static const struct bars single[] = {
        {"figure3", "quantity", "improvement_over_bl_pct", "BL", "Figure 3", "improvement over BL", true,
         BY_MIX, "Improvement over %s by mix", "improvement over %s (%%)", "paper 003, Figure 3"},
        {"figure4", "quantity", "energy_saved_vs_bl_pct", "BL", "Figure 4", "energy saved over BL", false,
         BY_MIX, "Energy saved against %s by mix", "energy saved against %s (%%)", "paper 003, Figure 4"},
        {"slowdown", "quantity", "slowdown_pct", "", "4.3", "slowdown", true, BY_MIX, "Slowdown by mix",
         "slowdown (%%)", "paper 003, section 4.3"},
    };
    static const struct bars multi[] = {
        {"figure5", "quantity", "improvement_over_bl_pct", "BL", "Figure 5", "improvement over BL", false,
         BY_MIX, "Improvement over %s on several GPUs", "improvement over %s (%%)", "paper 003, Figure 5"},
        {"figure6", "quantity", "improvement_over_bl_pct", "BL", "Figure 6", "improvement over BL", false,
         BY_TECHNOLOGY, "Improvement over %s, mean over the mixes", "improvement over %s, mean (%%)",
         "paper 003, Figure 6"},
    };
    static const struct bars variants = {.figure = "variants",
                                         .script = "variants",
                                         .column = "slowdown_pct",
                                         .skip_policy = "",
                                         .printed = "no figure",
                                         .quantity = "",
                                         .has_bound = true,
                                         .by = BY_VARIANT};
    const char *variant[MAX_NAMES];
    if (s->n_variant > 1) {
        draw_bars(p, s, &variants);
    }
    if (has_policy(s, "MG", 2)) { /* several GPUs: the policies of paper 003's Figures 5 and 6 */
        draw_bars(p, s, &multi[0]);
        if (technologies(s, variant) >= 2) {
            draw_bars(p, s, &multi[1]);
        }
        return;
    }
    for (size_t i = 0; i < sizeof single / sizeof single[0]; i++) {
        draw_bars(p, s, &single[i]);
    }
    draw_pareto(p, s);
}

/* ---- a suite that serves a language model ---- */

struct served {
    const struct source *s;
    const char *policy[MAX_NAMES], *variant[MAX_NAMES]; /* in the table's order */
    size_t n_policy, n_variant;
    bool numbers; /* variants begin with a number, and its words are the same: a load */
};

/* "+30 %, a week" is 30 and " %, a week"; false: there is no number in front. */
static bool number_of(const char *name, double *v, const char **words)
{
    char *end;
    *v = strtod(name + (name[0] == '\''), &end); /* in front of a formula there is a ' */
    *words = end;
    return end > name && isfinite(*v);
}

/* NAN: none, and of dies and memories that there are not. */
static double served_at(const struct served *q, size_t variant, size_t policy, const char *column)
{
    const struct tmx_csv *csv = &q->s->csv;
    const size_t c = tmx_csv_column(csv, column);
    double v;
    return c < csv->n_column &&
                   value(q->s, q->variant[variant], tmx_csv_cell(csv, 0, q->s->mix), q->policy[policy], c,
                         &v) &&
                   (v > 0 || strncmp(column, "peak_", 5) != 0)
               ? v
               : NAN;
}

/* A row a variant, a column a policy for each of these metrics; nothing where no cell has a number. */
static void draw_variants(struct tmx_plot *p, const struct served *q, const char *script, const char *figure,
                          const char *const *metric, size_t n_metric, const char *title, const char *y_words)
{
    struct tmx_table *t = tmx_table_of(q->numbers ? "variant:2" : "variant");
    char name[160], unit[40] = "";
    const size_t n = q->n_policy * n_metric;
    bool any = false;
    for (size_t c = 0; c < n; c++) {
        snprintf(name, sizeof name, "%.80s%s%s", q->policy[c / n_metric], n_metric > 1 ? "." : "",
                 n_metric > 1 ? metric[c % n_metric] : "");
        tmx_table_extend(t, name, TMX_COLUMN_REAL, 4);
    }
    for (size_t v = 0; v < q->n_variant; v++) {
        double x = 0;
        const char *words = "";
        if (q->numbers && number_of(q->variant[v], &x, &words)) {
            tmx_table_real(t, x);
        } else {
            tmx_table_text(t, q->n_variant > 1 ? q->variant[v] : "");
        }
        if (v == 0) {
            words += strspn(words, " ");
            snprintf(unit, sizeof unit, "%.*s", (int)strcspn(words, ","), words);
        }
        for (size_t c = 0; c < n; c++) {
            const double y = served_at(q, v, c / n_metric, metric[c % n_metric]);
            any |= isfinite(y);
            tmx_table_real_or_empty(t, y);
        }
    }
    if (!any) {
        tmx_table_destroy(t);
        return;
    }
    tmx_plot_label(p, "unit", unit);
    tmx_plot_names(p, q->policy, q->n_policy);
    tmx_plot_number(p, "n_group", (double)q->n_variant);
    tmx_plot_words(p, title, NULL, y_words);
    tmx_plot_draw(p, script, figure, t);
}

struct cost {
    struct tmx_pareto_point at; /* first token [s], J a token */
    size_t policy, variant;
};

/* Joules a token over the first token. Where the variants are a load, what no other beats in both is joined.
 */
static void draw_costs(struct tmx_plot *p, const struct served *q)
{
    static const char columns[] =
        "policy variant policy_number:d variant_number:d ttft_p99_s:4 j_per_token:3";
    struct cost point[MAX_NAMES * MAX_NAMES];
    size_t n = 0;
    double best = INFINITY;
    const bool words = q->n_variant > 1 && !q->numbers;
    for (size_t i = 0; i < q->n_policy * q->n_variant; i++) {
        const size_t policy = i / q->n_variant, variant = i % q->n_variant;
        point[n] = (struct cost){{.x = served_at(q, variant, policy, "ttft_p99_s"),
                                  .y = served_at(q, variant, policy, "j_per_token")},
                                 policy,
                                 variant};
        n += point[n].at.x > 0 && point[n].at.y > 0;
    }
    if (n == 0) {
        return;
    }
    struct tmx_table *t[2] = {tmx_table_of(columns), tmx_table_of(columns)};
    qsort(point, n, sizeof *point, tmx_pareto_order);
    for (const struct cost *c = point; c < point + n; c++) {
        const bool front = q->numbers && c->at.y < best;
        best = fmin(best, c->at.y);
        for (size_t k = 0; k < (front ? 2 : 1); k++) {
            tmx_table_row(t[k], "%s %s %zu %zu %g %g", q->policy[c->policy], q->variant[c->variant],
                          c->policy + 1, c->variant + 1, c->at.x, c->at.y);
        }
    }
    tmx_plot_names(p, q->policy, q->n_policy);
    for (size_t v = 0; v < q->n_variant && words; v++) {
        tmx_plot_label(p, "variant", q->variant[v]);
    }
    tmx_plot_numbers(p, "n_variant n_front",
                     (double[]){words ? (double)q->n_variant : 0, (double)tmx_table_rows(t[1])});
    tmx_plot_data(p, "pareto", "_front", t[1]);
    tmx_plot_draw(p, "serve_pareto", "pareto", t[0]);
}

static void draw_served(struct tmx_plot *p, const struct source *s)
{
    static const char *const metrics[] = {"ttft_p50_s", "ttft_p99_s", "tbt_p50_s", "tbt_p99_s"};
    static const struct {
        const char *metric, *title, *y;
        bool load; /* also where latencies are drawn over the load */
    } bars[] = {{"ttft_p99_s", "First token, slowest hundredth", "time (s)", false},
                {"e2e_p50_s", "Whole request, median", "time (s)", false},
                {"peak_temp_c", "Hottest die", "peak temperature (°C)", true},
                {"peak_memory_c", "Hottest memory", "peak temperature (°C)", true}};
    struct served q = {.s = s};
    if (tmx_csv_column(&s->csv, "ttft_p99_s") == s->csv.n_column || s->variant == s->csv.n_column) {
        return;
    }
    q.n_policy = distinct(s, s->policy, q.policy, "");
    q.n_variant = distinct(s, s->variant, q.variant, "");
    q.numbers = q.n_variant > 1;
    for (size_t v = 0; v < q.n_variant; v++) {
        double x;
        const char *words;
        q.numbers = q.numbers && number_of(q.variant[v], &x, &words);
    }
    if (q.numbers) {
        draw_variants(p, &q, "serve_load", "latency_load", metrics, 4, NULL, NULL);
    }
    for (size_t i = 0; i < sizeof bars / sizeof bars[0]; i++) {
        if (!q.numbers || bars[i].load) {
            draw_variants(p, &q, "quantity", bars[i].metric, &bars[i].metric, 1, bars[i].title, bars[i].y);
        }
    }
    draw_costs(p, &q);
}

/* A column with a unit holds numbers or nothing: a word there would be a missing bar. */
static void check_numbers(const struct tmx_csv *csv, struct tmx_err *err)
{
    static const char *const units[] = {"_pct", "_j", "_c", "_s", "_w", "_k"};
    for (size_t c = 0; c < csv->n_column; c++) {
        bool number = false;
        for (size_t i = 0; i < sizeof units / sizeof units[0]; i++) {
            number = number || tmx_text_ends(csv->column[c], units[i]);
        }
        for (size_t r = 0; number && r < csv->n_row; r++) {
            const char *cell = tmx_csv_cell(csv, r, c);
            double v;
            if (*cell && !tmx_csv_real(csv, r, c, &v)) {
                tmx_error_at(err, TMX_EPARSE, csv->source, csv->line[r],
                             "%s = \"%.60s\": expected a number, or nothing", csv->column[c], cell);
            }
        }
    }
}

void tmx_plot_table(struct tmx_plot *p, const char *folder)
{
    struct source s = {0};
    (void)tmx_plot_read(p, folder, "table.csv", true, &s.csv);
    check_numbers(&s.csv, p->err);
    (void)tmx_plot_read(p, folder, "paper.csv", false, &s.paper);
    s.mix = tmx_csv_column(&s.csv, "mix");
    s.policy = tmx_csv_column(&s.csv, "policy");
    s.variant = tmx_csv_column(&s.csv, "variant");
    if (s.csv.n_row > 0 && s.variant < s.csv.n_column) {
        const char *variant[MAX_NAMES];
        snprintf(s.first_variant, sizeof s.first_variant, "%s", tmx_csv_cell(&s.csv, 0, s.variant));
        s.n_variant = distinct(&s, s.variant, variant, "");
    }
    warn_of_more(&s, s.mix);
    warn_of_more(&s, s.policy);
    warn_of_more(&s, s.variant);
    const bool floorplans = tmx_csv_column(&s.csv, "floorplan") < s.csv.n_column;
    const bool suite = s.csv.n_row > 0 && s.mix < s.csv.n_column && s.policy < s.csv.n_column;
    if (floorplans || suite) {
        tmx_plot_folder(p);
    }
    if (!p->err->code && floorplans) {
        if (tmx_csv_column(&s.csv, "slowdown_pct") < s.csv.n_column) { /* not one power file */
            draw_floorplans(p, &s);
        }
        draw_maps(p, folder);
    } else if (!p->err->code && suite) {
        draw_suite(p, &s);
        draw_served(p, &s);
    }
    tmx_csv_finish(&s.csv);
    tmx_csv_finish(&s.paper);
}

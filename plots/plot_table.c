/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Figures from the table of a suite: bars of mixes by policies, means by variant, floorplans. */
#include "plots/plot.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/csv.h"
#include "core/base/os.h"
#include "plots/figure.h"

enum { MAX_NAMES = 64 };

struct source {                /* table.csv and its columns */
    struct tmx_csv csv, paper; /* paper: without rows where there is none */
    size_t mix, policy, variant;
    char first_variant[64];
    size_t n_variant;
    struct named_row { /* [n_row of csv] in the order of their names */
        const char *mix, *policy, *variant;
        size_t row;
    } * sorted;
};

/* The values of a column, each once, but for those that end in skip ("": none). */
static size_t distinct(const struct source *s, size_t column, const char **names, const char *skip)
{
    size_t n = 0;
    for (size_t r = 0; r < s->csv.n_row; r++) {
        const char *v = tmx_csv_cell(&s->csv, r, column);
        size_t i = 0;
        while (i < n && strcmp(names[i], v) != 0) {
            i++;
        }
        const size_t length = strlen(v), end = strlen(skip);
        const bool skipped = end > 0 && length >= end && strcmp(v + length - end, skip) == 0;
        if (i == n && n < MAX_NAMES && !skipped) {
            names[n++] = v;
        }
    }
    return n;
}

/* By mix, policy and variant, then as in the table. */
static int by_name(const void *a, const void *b)
{
    const struct named_row *x = a, *y = b;
    int order = strcmp(x->mix, y->mix);
    order = order ? order : strcmp(x->policy, y->policy);
    order = order ? order : strcmp(x->variant, y->variant);
    return order ? order : (x->row > y->row) - (x->row < y->row);
}

static enum tmx_status sort_rows(struct source *s, struct tmx_err *err)
{
    s->sorted = calloc(s->csv.n_row + 1, sizeof *s->sorted);
    if (!s->sorted) {
        return tmx_no_memory(err);
    }
    for (size_t r = 0; r < s->csv.n_row; r++) {
        s->sorted[r] =
            (struct named_row){tmx_csv_cell(&s->csv, r, s->mix), tmx_csv_cell(&s->csv, r, s->policy),
                               s->variant < s->csv.n_column ? tmx_csv_cell(&s->csv, r, s->variant) : "", r};
    }
    qsort(s->sorted, s->csv.n_row, sizeof *s->sorted, by_name);
    return TMX_OK;
}

/* The value of one cell of the long table, of the first row with these names; false when it has none. */
static bool value(const struct source *s, const char *variant, const char *mix, const char *policy,
                  size_t column, double *v)
{
    const struct named_row want = {mix, policy, s->variant < s->csv.n_column ? variant : "", 0};
    size_t low = 0, high = s->csv.n_row;
    while (low < high) { /* the first row that is not before it */
        const size_t middle = low + (high - low) / 2;
        if (by_name(&s->sorted[middle], &want) < 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    struct named_row found = low < s->csv.n_row ? s->sorted[low] : want;
    const size_t row = found.row;
    found.row = 0;
    return low < s->csv.n_row && by_name(&found, &want) == 0 && tmx_csv_real(&s->csv, row, column, v);
}

static enum tmx_status open_bars(struct tmx_table **t, const char *head, const char *const *policy, size_t n,
                                 struct tmx_err *err)
{
    struct tmx_column columns[MAX_NAMES + 1] = {{head, TMX_COLUMN_TEXT, 0}};
    for (size_t i = 0; i < n; i++) {
        columns[i + 1] = (struct tmx_column){policy[i], TMX_COLUMN_REAL, 2};
    }
    return tmx_table_create(t, columns, n + 1, err);
}

static int by_text(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
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
    qsort(names, n, sizeof *names, by_text);
    return n;
}

struct bars {
    const char *figure, *script, *column, *skip_policy;
    const char *printed, *quantity; /* rows of paper.csv: its figure, what its quantity begins with */
    bool has_bound;                 /* a line at what no policy can pass */
    enum groups { BY_MIX, BY_TECHNOLOGY, BY_VARIANT } by; /* but for mixes, at the row "mean" */
    const char *title, *y, *of; /* words of scripts/quantity.gp; %s: the baseline's name */
};

/* The number of a group under a policy. */
static bool value_at(const struct source *s, const struct bars *b, const char *group, const char *policy,
                     size_t column, double *v)
{
    return b->by == BY_MIX ? value(s, s->first_variant, group, policy, column, v)
                           : value(s, group, "mean", policy, column, v);
}

/* What the paper prints at these groups and bars, for the marks: group and bar counted as the script does. */
static enum tmx_status paper_marks(struct tmx_plot *p, const struct source *s, const struct bars *b,
                                   const char *const *group, size_t n_group, const char *const *policy,
                                   size_t n_policy, struct tmx_err *err)
{
    static const struct tmx_column columns[] = {
        {"group", TMX_COLUMN_INT, 0}, {"bar", TMX_COLUMN_INT, 0}, {"paper_value", TMX_COLUMN_REAL, 2}};
    char want[256];
    struct tmx_table *t = NULL;
    const struct tmx_csv *c = &s->paper;
    enum tmx_status st = tmx_table_create(&t, columns, 3, err);
    for (size_t r = 0; r < c->n_row && !st; r++) {
        double v;
        if (strcmp(tmx_csv_cell(c, r, tmx_csv_column(c, "figure")), b->printed) != 0 ||
            strncmp(tmx_csv_cell(c, r, tmx_csv_column(c, "quantity")), b->quantity, strlen(b->quantity)) !=
                0 ||
            !tmx_csv_real(c, r, tmx_csv_column(c, "paper_value"), &v)) {
            continue;
        }
        for (size_t i = 0; i < n_group * n_policy; i++) {
            const char *at = group[i / n_policy], *bar = policy[i % n_policy];
            snprintf(want, sizeof want, b->by == BY_MIX ? "%s %s" : "mean %s %s", b->by == BY_MIX ? at : bar,
                     b->by == BY_MIX ? bar : at);
            if (strcmp(tmx_csv_cell(c, r, tmx_csv_column(c, "case")), want) == 0) {
                tmx_table_int(t, (int64_t)(i / n_policy));
                tmx_table_int(t, (int64_t)(i % n_policy + 1));
                tmx_table_real(t, v);
            }
        }
    }
    if (!st && tmx_table_rows(t) > 0) {
        st = tmx_plot_data(p, b->figure, "_paper", t, err);
        tmx_plot_number(p, "has_paper", 1);
    }
    tmx_table_destroy(t);
    return st;
}

/* What no policy can pass in each group, where the table has bounds: in the column's own terms, slowdown or
 * improvement over BL. */
static bool bound_of(const struct source *s, const struct bars *b, const char *group,
                     const char *const *policy, size_t n_policy, double *v)
{
    const size_t bound = tmx_csv_column(&s->csv, "bound_pct"), slow = tmx_csv_column(&s->csv, "slowdown_pct");
    double bl;
    bool there = false;
    for (size_t i = 0; i < n_policy && bound < s->csv.n_column && !there; i++) {
        there = value_at(s, b, group, policy[i], bound, v);
    }
    if (!there || strcmp(b->column, "slowdown_pct") == 0) {
        return there;
    }
    if (!value_at(s, b, group, "BL", slow, &bl) || bl < 0.005) { /* 0.00 as printed */
        return false;
    }
    *v = 100 * (1 - *v / bl);
    return true;
}

static enum tmx_status bound_line(struct tmx_plot *p, const struct source *s, const struct bars *b,
                                  const char *const *group, size_t n_group, const char *const *policy,
                                  size_t n_policy, struct tmx_err *err)
{
    static const struct tmx_column columns[] = {{"group", TMX_COLUMN_INT, 0}, {"bound", TMX_COLUMN_REAL, 3}};
    struct tmx_table *t = NULL;
    enum tmx_status st = tmx_table_create(&t, columns, 2, err);
    for (size_t g = 0; g < n_group && !st; g++) {
        double v;
        if (bound_of(s, b, group[g], policy, n_policy, &v)) {
            tmx_table_int(t, (int64_t)g);
            tmx_table_real(t, v);
        }
    }
    if (!st && tmx_table_rows(t) > 0) {
        st = tmx_plot_data(p, b->figure, "_bound", t, err);
        tmx_plot_number(p, "has_bound", 1);
    }
    tmx_table_destroy(t);
    return st;
}

/* Of several seeds: half the 95 % interval of every bar's mean. */
static enum tmx_status intervals(struct tmx_plot *p, const struct source *s, const struct bars *b,
                                 const char *const *group, size_t n_group, const char *const *policy,
                                 size_t n_policy, size_t column, struct tmx_err *err)
{
    static const struct tmx_column columns[] = {{"group", TMX_COLUMN_INT, 0},
                                                {"bar", TMX_COLUMN_INT, 0},
                                                {"mean", TMX_COLUMN_REAL, 4},
                                                {"ci95", TMX_COLUMN_REAL, 4}};
    char name[96];
    snprintf(name, sizeof name, "%s_ci95", b->column);
    const size_t ci95 = tmx_csv_column(&s->csv, name), seeds = tmx_csv_column(&s->csv, "seeds");
    double n = 0;
    if (ci95 == s->csv.n_column || seeds == s->csv.n_column || !tmx_csv_real(&s->csv, 0, seeds, &n)) {
        return TMX_OK;
    }
    struct tmx_table *t = NULL;
    enum tmx_status st = tmx_table_create(&t, columns, 4, err);
    for (size_t i = 0; i < n_group * n_policy && !st; i++) {
        const char *at = group[i / n_policy], *of = policy[i % n_policy];
        double mean, half;
        if (value_at(s, b, at, of, column, &mean) && value_at(s, b, at, of, ci95, &half)) {
            tmx_table_int(t, (int64_t)(i / n_policy));
            tmx_table_int(t, (int64_t)(i % n_policy + 1));
            tmx_table_real(t, mean);
            tmx_table_real(t, half);
        }
    }
    if (!st && tmx_table_rows(t) > 0) {
        st = tmx_plot_data(p, b->figure, "_ci95", t, err);
        tmx_plot_number(p, "has_ci95", n);
    }
    tmx_table_destroy(t);
    return st;
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

/* Is what the table compares with BL, as in the papers, or a suite's own? */
static bool has_bl(const struct source *s)
{
    bool found = false;
    for (size_t r = 0; r < s->csv.n_row && !found; r++) {
        const char *name = tmx_csv_cell(&s->csv, r, s->policy);
        found = strcmp(name, "BL") == 0 || strcmp(name, "MG-BL") == 0;
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
static size_t shown(const struct source *s, const struct bars *b, const char *const *group, size_t n_group,
                    const char **policy, size_t n_policy, size_t column)
{
    size_t kept = 0;
    for (size_t i = 0; i < n_policy; i++) {
        bool any = b->skip_policy[0] == '\0';
        for (size_t g = 0; g < n_group && !any; g++) {
            double v;
            any = value_at(s, b, group[g], policy[i], column, &v) && v != 0;
        }
        if (any) {
            policy[kept++] = policy[i];
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

static void put_words(struct tmx_plot *p, const struct bars *b, const char *base)
{
    put_word(p, "title", b->title, base);
    put_word(p, "y", b->y, base);
    tmx_plot_label(p, "of", b->of);
    if (b->by == BY_TECHNOLOGY) {
        tmx_plot_label(p, "x", "memory and interconnect technology");
        tmx_plot_number(p, "wide", 5);
    }
}

static enum tmx_status draw_bars(struct tmx_plot *p, const struct source *s, const struct bars *b,
                                 struct tmx_err *err)
{
    const char *group[MAX_NAMES], *policy[MAX_NAMES];
    struct tmx_table *t = NULL;
    const size_t column = tmx_csv_column(&s->csv, b->column);
    if (column == s->csv.n_column || !tmx_plot_wants(p, b->figure)) {
        return TMX_OK;
    }
    const size_t n_group = groups_of(s, b, group);
    const size_t n_policy =
        shown(s, b, group, n_group, policy, distinct(s, s->policy, policy, b->skip_policy), column);
    if (n_policy == 0) {
        return TMX_OK;
    }
    tmx_plot_order(p, policy, n_policy);
    tmx_plot_order(p, group, n_group);
    enum tmx_status st = open_bars(&t, b->by == BY_MIX ? "mix" : "variant", policy, n_policy, err);
    for (size_t g = 0; g < n_group && !st; g++) {
        tmx_table_text(t, group[g]);
        for (size_t i = 0; i < n_policy; i++) {
            double v;
            if (value_at(s, b, group[g], policy[i], column, &v)) {
                tmx_table_real(t, v);
            } else {
                tmx_table_empty(t);
            }
        }
    }
    st = st ? st : tmx_plot_data(p, b->figure, "", t, err);
    tmx_table_destroy(t);
    for (size_t i = 0; i < n_policy; i++) {
        tmx_plot_label(p, "name", policy[i]);
    }
    tmx_plot_number(p, "n_group", (double)n_group);
    if (b->title) {
        put_words(p, b, has_bl(s) ? "BL" : "the baseline");
    }
    if (b->by == BY_MIX && s->n_variant > 1) {
        tmx_plot_label(p, "variant", s->first_variant);
    }
    st = st ? st : intervals(p, s, b, group, n_group, policy, n_policy, column, err);
    st = st ? st : paper_marks(p, s, b, group, n_group, policy, n_policy, err);
    if (!st && b->has_bound) {
        st = bound_line(p, s, b, group, n_group, policy, n_policy, err);
    }
    return st ? st : tmx_plot_draw(p, b->script, b->figure, err);
}

static enum tmx_status draw_pareto(struct tmx_plot *p, const struct source *s, struct tmx_err *err)
{
    const char *policy[MAX_NAMES];
    struct tmx_pareto_point point[MAX_NAMES];
    const size_t slowdown = tmx_csv_column(&s->csv, "slowdown_pct"),
                 energy = tmx_csv_column(&s->csv, "energy_j");
    size_t n = 0;
    if (slowdown == s->csv.n_column || energy == s->csv.n_column) {
        return TMX_OK;
    }
    const size_t n_policy = distinct(s, s->policy, policy, "");
    for (size_t i = 0; i < n_policy; i++) {
        double x, y;
        if (value(s, s->first_variant, "mean", policy[i], slowdown, &x) &&
            value(s, s->first_variant, "mean", policy[i], energy, &y)) {
            point[n++] = (struct tmx_pareto_point){policy[i], x, y / 1000};
        }
    }
    tmx_plot_label(p, "title", "Energy against slowdown, means; left and below is better");
    tmx_plot_label(p, "x", "slowdown (%)");
    tmx_plot_label(p, "y", "energy (kJ)");
    if (n < 2) {
        tmx_plot_drop(p);
        return TMX_OK;
    }
    return tmx_plot_pareto(p, point, n, err);
}

/* The name of a floorplan's file, without folder and ending. */
static const char *short_name(const char *path, char buf[80])
{
    const char *slash = strrchr(path, '/');
    const char *base = slash && slash[1] ? slash + 1 : path;
    const size_t n = strlen(base);
    const bool flp = n > 4 && strcmp(base + n - 4, ".flp") == 0;
    snprintf(buf, 80, "%.*s", (int)(flp ? n - 4 : n), base);
    return buf;
}

/* The floorplans' heat maps side by side, where the comparison left its units. */
static enum tmx_status draw_maps(struct tmx_plot *p, const char *folder, struct tmx_err *err)
{
    static const struct tmx_column columns[] = {
        {"floorplan", TMX_COLUMN_INT, 0},    {"unit", TMX_COLUMN_TEXT, 0},
        {"left_mm", TMX_COLUMN_REAL, 3},     {"right_mm", TMX_COLUMN_REAL, 3},
        {"bottom_mm", TMX_COLUMN_REAL, 3},   {"top_mm", TMX_COLUMN_REAL, 3},
        {"mean_temp_c", TMX_COLUMN_REAL, 3},
    };
    char path[TMX_PATH_SIZE], text[80];
    struct source s = {0};
    struct tmx_table *t = NULL;
    const char *name[MAX_NAMES];
    snprintf(path, sizeof path, "%s/units.csv", folder);
    if (!tmx_os_exists(path)) {
        return TMX_OK;
    }
    enum tmx_status st = tmx_csv_read(&s.csv, path, err);
    const size_t of = st ? 0 : tmx_csv_column(&s.csv, columns[0].name);
    const size_t n = st || of == s.csv.n_column ? 0 : distinct(&s, of, name, "");
    st = st ? st : tmx_table_create(&t, columns, 7, err);
    for (size_t r = 0; r < s.csv.n_row && !st && n > 0; r++) {
        size_t i = 0;
        while (i < n && strcmp(name[i], tmx_csv_cell(&s.csv, r, of)) != 0) {
            i++;
        }
        tmx_table_int(t, (int64_t)i + 1);
        for (size_t c = 1; c < 7 && !st; c++) {
            const size_t from = tmx_csv_column(&s.csv, columns[c].name);
            double v = 0;
            if (from == s.csv.n_column || (c > 1 && !tmx_csv_real(&s.csv, r, from, &v))) {
                st = tmx_fail_at(err, TMX_EPARSE, path, s.csv.line[r], "expected a number as %s",
                                 columns[c].name);
            } else if (c == 1) {
                tmx_table_text(t, tmx_csv_cell(&s.csv, r, from));
            } else {
                tmx_table_real(t, v);
            }
        }
    }
    if (!st && n > 0) {
        for (size_t i = 0; i < n; i++) {
            tmx_plot_label(p, "name", short_name(name[i], text));
        }
        st = tmx_plot_data(p, "floorplan_maps", "", t, err);
        st = st ? st : tmx_plot_draw(p, "floorplan_maps", "floorplan_maps", err);
    }
    tmx_table_destroy(t);
    tmx_csv_finish(&s.csv);
    return st;
}

static enum tmx_status draw_floorplans(struct tmx_plot *p, const struct source *s, struct tmx_err *err)
{
    static const struct tmx_column columns[] = {{"floorplan", TMX_COLUMN_TEXT, 0},
                                                {"peak_temp_c", TMX_COLUMN_REAL, 2},
                                                {"gradient_c", TMX_COLUMN_REAL, 2},
                                                {"slowdown_pct", TMX_COLUMN_REAL, 2},
                                                {"energy_kj", TMX_COLUMN_REAL, 2}};
    static const char *const from[] = {"peak_temp_c", "gradient_c", "slowdown_pct", "energy_j"};
    struct tmx_table *t = NULL;
    enum tmx_status st = tmx_table_create(&t, columns, 5, err);
    for (size_t r = 0; r < s->csv.n_row && !st; r++) {
        char name[80];
        tmx_table_text(t, short_name(tmx_csv_cell(&s->csv, r, tmx_csv_column(&s->csv, "floorplan")), name));
        for (size_t i = 0; i < 4; i++) {
            const size_t column = tmx_csv_column(&s->csv, from[i]);
            double v;
            if (column < s->csv.n_column && tmx_csv_real(&s->csv, r, column, &v)) {
                tmx_table_real(t, i == 3 ? v / 1000 : v);
            } else {
                tmx_table_empty(t);
            }
        }
    }
    st = st ? st : tmx_plot_data(p, "floorplans", "", t, err);
    tmx_table_destroy(t);
    return st ? st : tmx_plot_draw(p, "floorplans", "floorplans", err);
}

/* Several GPUs: the policies of paper 003's Figures 5 and 6. */
static bool is_multi(const struct source *s)
{
    for (size_t r = 0; r < s->csv.n_row; r++) {
        if (strncmp(tmx_csv_cell(&s->csv, r, s->policy), "MG", 2) == 0) {
            return true;
        }
    }
    return false;
}

static enum tmx_status draw_suite(struct tmx_plot *p, const struct source *s, struct tmx_err *err)
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
    enum tmx_status st = s->n_variant > 1 ? draw_bars(p, s, &variants, err) : TMX_OK;
    if (is_multi(s)) {
        st = st ? st : draw_bars(p, s, &multi[0], err);
        return st || technologies(s, variant) < 2 ? st : draw_bars(p, s, &multi[1], err);
    }
    for (size_t i = 0; i < sizeof single / sizeof single[0] && !st; i++) {
        st = draw_bars(p, s, &single[i], err);
    }
    return st ? st : draw_pareto(p, s, err);
}

/* A column with a unit holds numbers or nothing: a word there would be a missing bar. */
static enum tmx_status check_numbers(const struct tmx_csv *csv, struct tmx_err *err)
{
    static const char *const units[] = {"_pct", "_j", "_c", "_s", "_w", "_k"};
    for (size_t c = 0; c < csv->n_column; c++) {
        const size_t n = strlen(csv->column[c]);
        bool number = false;
        for (size_t i = 0; i < sizeof units / sizeof units[0]; i++) {
            const size_t m = strlen(units[i]);
            number = number || (n > m && strcmp(csv->column[c] + n - m, units[i]) == 0);
        }
        for (size_t r = 0; number && r < csv->n_row; r++) {
            const char *cell = tmx_csv_cell(csv, r, c);
            double v;
            if (*cell && !tmx_csv_real(csv, r, c, &v)) {
                return tmx_fail_at(err, TMX_EPARSE, csv->source, csv->line[r],
                                   "%s = \"%.60s\": expected a number, or nothing", csv->column[c], cell);
            }
        }
    }
    return TMX_OK;
}

enum tmx_status tmx_plot_table(struct tmx_plot *p, const char *folder, struct tmx_err *err)
{
    struct source s = {0};
    char path[TMX_PATH_SIZE];
    enum tmx_status st = tmx_path_join(path, folder, "table.csv", err);
    st = st ? st : tmx_csv_read(&s.csv, path, err);
    st = st ? st : check_numbers(&s.csv, err);
    snprintf(path, sizeof path, "%s/paper.csv", folder);
    if (!st && tmx_os_exists(path)) {
        st = tmx_csv_read(&s.paper, path, err);
    }
    if (st) {
        tmx_csv_finish(&s.csv);
        return st;
    }
    s.mix = tmx_csv_column(&s.csv, "mix");
    s.policy = tmx_csv_column(&s.csv, "policy");
    s.variant = tmx_csv_column(&s.csv, "variant");
    if (s.csv.n_row > 0 && s.variant < s.csv.n_column) {
        const char *variant[MAX_NAMES];
        snprintf(s.first_variant, sizeof s.first_variant, "%s", tmx_csv_cell(&s.csv, 0, s.variant));
        s.n_variant = distinct(&s, s.variant, variant, "");
    }
    const bool floorplans = tmx_csv_column(&s.csv, "floorplan") < s.csv.n_column;
    const bool suite = s.csv.n_row > 0 && s.mix < s.csv.n_column && s.policy < s.csv.n_column;
    st = suite ? sort_rows(&s, err) : TMX_OK;
    st = st || !(floorplans || suite) ? st : tmx_plot_folder(p, err);
    if (floorplans && !st) {
        const bool runs = tmx_csv_column(&s.csv, "slowdown_pct") < s.csv.n_column; /* not one power file */
        st = runs ? draw_floorplans(p, &s, err) : TMX_OK;
        st = st ? st : draw_maps(p, folder, err);
    } else if (suite && !st) {
        st = draw_suite(p, &s, err);
    }
    free(s.sorted);
    tmx_csv_finish(&s.csv);
    tmx_csv_finish(&s.paper);
    return st;
}

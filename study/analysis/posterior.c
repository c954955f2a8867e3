/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "study/analysis/analysis.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/os.h"
#include "base/plausible.h"
#include "base/text.h"

enum relation { EQUAL, AT_MOST, AT_LEAST };
static const char *const relations[] = {"equal", "at_most", "at_least", NULL};
static const char *const yes_no[] = {"no", "yes", NULL};
static const char *const statuses[] = {"done", "screened", "failed", "not run", NULL};

struct item { /* to be sorted by x or by text */
    double x, w;
    size_t i;
    const char *text;
};

struct tmx_printed {
    size_t column; /* of sets */
    double paper, band, spread;
    int relation, follows, weighs;
    size_t first; /* of the values that are weighed as one with it */
    size_t figure;
};

/* Ours of a value in the i-th set. */
static double ours(const struct tmx_posterior *p, size_t value, size_t i)
{
    return p->ours[value * p->n_row + i];
}

/* Is it a number of its own, that may enter the weights? */
static bool is_own(const struct tmx_printed *v)
{
    return v->relation == EQUAL && !v->follows && !isnan(v->paper);
}

static size_t figure_of(const struct tmx_posterior *p, size_t value)
{
    size_t f = 0;
    while (f < p->n_figure && strcmp(p->figure[f], tmx_csv_at(&p->values, value, "figure")) != 0) {
        f++;
    }
    return f;
}

static void bad_cell(const struct tmx_csv *csv, size_t row, size_t column, const char *expected,
                     struct tmx_err *err)
{
    tmx_error_at(err, TMX_EPARSE, csv->source, csv->line[row], "%s: \"%s\", expected %s", csv->column[column],
                 tmx_csv_cell(csv, row, column), expected);
}

/* NAN of an empty cell. */
static double read_real(const struct tmx_csv *csv, size_t row, size_t column, struct tmx_err *err)
{
    double v = NAN;
    if (tmx_csv_cell(csv, row, column)[0] && !tmx_csv_real(csv, row, column, &v)) {
        bad_cell(csv, row, column, "a number or nothing", err);
    }
    return v;
}

static int read_word(const struct tmx_csv *csv, size_t row, size_t column, const char *const *words,
                     struct tmx_err *err)
{
    char expected[64] = "";
    int v = 0;
    for (; words[v] && strcmp(words[v], tmx_csv_cell(csv, row, column)) != 0; v++) {
        tmx_text_add(expected, sizeof expected, "%s%s", v ? ", " : "", words[v]);
    }
    if (!words[v]) {
        bad_cell(csv, row, column, expected, err);
    }
    return v;
}

/* Which of the columns v1, v2, ... each printed value is of, by column `value` or, without one, by its row;
 * and what is printed. Folders of earlier versions lack some columns. */
static void read_values(struct tmx_posterior *p, struct tmx_err *err)
{
    const struct tmx_csv *sets = &p->sets, *values = &p->values;
    const size_t by = tmx_csv_column(values, "value"), band = tmx_csv_column(values, "band"),
                 spread = tmx_csv_column(values, "spread"), weighs = tmx_csv_column(values, "weighs"),
                 as_one = tmx_csv_column(values, "as_one"), none = values->n_column;
    bool *has;
    TMX_TAKE(&p->arena, has, p->n_value);
    TMX_TAKE(&p->arena, p->value, values->n_row);
    tmx_arena_check(&p->arena, err);
    if (err->code) {
        return;
    }
    if (values->n_row != p->n_value) {
        tmx_error_at(err, TMX_EPARSE, values->source, 1,
                     "%zu printed values, expected %zu, for v1 to v%zu of %s", values->n_row, p->n_value,
                     p->n_value, sets->source);
        return;
    }
    if (by == none) {
        tmx_warn("%s has no column \"value\": its first row is taken for v1, and so on", values->source);
    }
    for (size_t v = 0; v < values->n_row && !err->code; v++) {
        const size_t c = by < none ? tmx_csv_column(sets, tmx_csv_cell(values, v, by)) : p->value0 + v;
        if (c < p->value0 || c >= p->value0 + p->n_value || has[c - p->value0]) {
            bad_cell(values, v, by, "each of v1, v2, ... of sets.csv once", err);
            return;
        }
        has[c - p->value0] = true;
        p->value[v].column = c;
    }
    for (size_t v = 0; v < values->n_row && !err->code; v++) {
        struct tmx_printed *to = &p->value[v];
        to->paper = read_real(values, v, tmx_csv_column(values, "paper_value"), err);
        to->band = read_real(values, v, band, err);
        to->relation = read_word(values, v, tmx_csv_column(values, "relation"), relations, err);
        to->follows = read_word(values, v, tmx_csv_column(values, "follows"), yes_no, err);
        to->spread = spread < none ? read_real(values, v, spread, err) : 0;
        to->spread = isnan(to->spread) ? 0 : to->spread;
        to->weighs = weighs < none ? read_word(values, v, weighs, yes_no, err) : 1;
        const char *one = as_one < none ? tmx_csv_cell(values, v, as_one) : "";
        while (to->first < v && !(one[0] && is_own(&p->value[to->first]) && is_own(to) &&
                                  strcmp(one, tmx_csv_cell(values, to->first, as_one)) == 0)) {
            to->first++;
        }
        if (!err->code && (is_own(to) ? !(to->band > 0) : to->band < 0)) {
            bad_cell(values, v, band, is_own(to) ? "above 0, or \"yes\" in column follows" : "0 or more",
                     err);
        }
    }
}

static void check_columns(struct tmx_posterior *p, const char *importance, struct tmx_err *err)
{
    const struct tmx_csv *sets = &p->sets, *values = &p->values;
    if (tmx_csv_need(values, "figure quantity case paper_value relation band follows", err)) {
        return;
    }
    p->status = tmx_csv_column(sets, "status");
    p->value0 = tmx_csv_column(sets, "v1");
    p->key0 = p->status + 1;
    bool right = p->status == 1 && p->value0 >= p->key0;
    for (size_t c = p->value0; c < sets->n_column && right; c++) { /* v1, v2, ..., then importances */
        char name[24];
        snprintf(name, sizeof name, "v%zu", p->n_value + 1);
        const bool is_value = strcmp(sets->column[c], name) == 0;
        right = is_value ? c == p->value0 + p->n_value
                         : sets->column[c][0] != 'v' || strspn(sets->column[c] + 1, "0123456789") == 0;
        p->n_value += is_value;
    }
    p->n_key = p->value0 - p->key0;
    p->importance = tmx_csv_column(sets, importance[0] ? importance : "importance");
    if (!right) {
        tmx_error_at(err, TMX_EPARSE, sets->source, 1, "expected columns set, status, axes, v1 to v%zu",
                     values->n_row);
    } else if (p->importance < p->value0 + p->n_value || (importance[0] && p->importance == sets->n_column)) {
        tmx_error_at(err, TMX_EPARSE, sets->source, 1, "no column \"%s\" behind the values",
                     importance[0] ? importance : "importance");
    }
}

static int by_x(const void *a, const void *b)
{
    const struct item *p = a, *q = b;
    return p->x != q->x ? (p->x > q->x) - (p->x < q->x) : (p->i > q->i) - (p->i < q->i);
}

static int by_text(const void *a, const void *b)
{
    const struct item *p = a, *q = b;
    const int order = strcmp(p->text, q->text);
    return order ? order : by_x(a, b);
}

/* The sets that were run in full and meet every condition, by their numbers, so that an order of the lines
 * changes no sum; what we have of the values, and which of an axis's n_word cells each set has. */
static void read_sets(struct tmx_posterior *p, const struct tmx_where *where, size_t n_where,
                      struct tmx_err *err)
{
    const struct tmx_csv *sets = &p->sets;
    struct item *item;
    TMX_TAKE(&p->arena, p->row, sets->n_row);
    TMX_TAKE(&p->arena, item, sets->n_row);
    tmx_arena_check(&p->arena, err);
    if (err->code) {
        return;
    }
    for (size_t w = 0; w < n_where && !err->code; w++) {
        if (tmx_csv_column(sets, where[w].key) == sets->n_column) {
            tmx_error(err, TMX_ECONFIG, "--where: %s has no column \"%s\"", sets->source, where[w].key);
        }
    }
    for (size_t r = 0; r < sets->n_row && !err->code; r++) {
        const bool done = read_word(sets, r, p->status, statuses, err) == 0;
        const double importance =
            done && p->importance < sets->n_column ? read_real(sets, r, p->importance, err) : 1;
        if (importance < 0) {
            bad_cell(sets, r, p->importance, "a number from 0 on", err);
        }
        bool keep = done && importance > 0;
        for (size_t w = 0; w < n_where; w++) {
            keep = keep && tmx_where_holds(&where[w], tmx_csv_at(sets, r, where[w].key));
        }
        if (keep) {
            const double x = tmx_csv_value(sets, r, 0);
            item[p->n_row++] = (struct item){.x = isnan(x) ? INFINITY : x, .i = r};
        }
    }
    qsort(item, p->n_row, sizeof *item, by_x);
    for (size_t i = 0; i < p->n_row; i++) {
        p->row[i] = item[i].i;
    }
    if (p->n_row < 2) {
        tmx_error(err, TMX_ECONFIG, "%s: %zu sets were run in full%s%s, too few to weigh", sets->source,
                  p->n_row, p->importance < sets->n_column ? ", have an importance above 0" : "",
                  n_where ? " and meet every --where" : "");
    }
    TMX_TAKE(&p->arena, p->ours, p->values.n_row * p->n_row);
    TMX_TAKE(&p->arena, p->axis, p->n_key + 1);
    TMX_TAKE(&p->arena, p->word, (p->n_key + 1) * p->n_row);
    tmx_arena_check(&p->arena, err);
    for (size_t v = 0; v < p->values.n_row; v++) {
        for (size_t i = 0; i < p->n_row && !err->code; i++) {
            p->ours[v * p->n_row + i] = read_real(sets, p->row[i], p->value[v].column, err);
        }
    }
    for (size_t k = 0; k <= p->n_key && !err->code; k++) { /* behind the axes the names of sets */
        const size_t c = k < p->n_key ? p->key0 + k : 0;
        for (size_t i = 0; i < p->n_row; i++) {
            item[i] = (struct item){.text = tmx_csv_cell(sets, p->row[i], c), .i = i};
            p->axis[k].text = p->axis[k].text || isnan(tmx_csv_value(sets, p->row[i], c));
        }
        qsort(item, p->n_row, sizeof *item, by_text);
        for (size_t i = 0; i < p->n_row && !err->code; i++) {
            const bool first = i == 0 || strcmp(item[i].text, item[i - 1].text) != 0;
            p->axis[k].n_word += first;
            p->word[k * p->n_row + item[i].i] = p->axis[k].n_word - 1;
            if (!first && k == p->n_key) {
                bad_cell(sets, p->row[item[i].i], c, "each set once", err);
            }
        }
    }
}

/* Logarithms to weights, the largest 1. */
static void scale(double *w, size_t n)
{
    double most = -INFINITY;
    for (size_t i = 0; i < n; i++) {
        most = fmax(most, w[i]);
    }
    for (size_t i = 0; i < n; i++) {
        w[i] = isfinite(most) ? exp(w[i] - most) : 0;
    }
}

/* Mean z of the values that are weighed as one with the first of them, of the i-th set: of weights 0 those
 * that weigh, of 1 + figure less those of that figure, of the last all. */
static double mean_z(const struct tmx_posterior *p, size_t first, size_t i, double widen, size_t weights)
{
    double sum = 0, n = 0;
    for (size_t v = first; v < p->values.n_row; v++) {
        const struct tmx_printed *to = &p->value[v];
        const bool in =
            weights == p->n_figure + 1 || (to->weighs && (weights == 0 || weights - 1 != to->figure));
        if (in && is_own(to) && to->first == first) {
            sum += (ours(p, v, i) - to->paper) / (widen * hypot(to->band, to->spread));
            n += 1;
        }
    }
    return n > 0 ? sum / n : 0;
}

static void weigh(struct tmx_posterior *p, double widen, struct tmx_err *err)
{
    const size_t column = tmx_csv_column(&p->values, "figure");
    if (err->code) {
        return;
    }
    TMX_TAKE(&p->arena, p->figure, p->values.n_row);
    for (size_t v = 0; p->figure && v < p->values.n_row; v++) {
        if (is_own(&p->value[v]) && p->value[v].weighs && figure_of(p, v) == p->n_figure) {
            p->figure[p->n_figure++] = p->values.cell[v * p->values.n_column + column];
        }
    }
    TMX_TAKE(&p->arena, p->weight, (2 + p->n_figure) * p->n_row);
    TMX_TAKE(&p->arena, p->prior, p->n_row);
    if (p->arena.failed) {
        tmx_no_memory(err);
        return;
    }
    for (size_t i = 0; i < p->n_row && p->importance < p->sets.n_column; i++) {
        p->prior[i] = log(tmx_csv_value(&p->sets, p->row[i], p->importance));
        for (size_t f = 0; f < 2 + p->n_figure; f++) {
            p->weight[f * p->n_row + i] = p->prior[i];
        }
    }
    for (size_t v = 0; v < p->values.n_row; v++) {
        p->value[v].figure = figure_of(p, v);
    }
    for (size_t v = 0; v < p->values.n_row; v++) {
        const struct tmx_printed *to = &p->value[v];
        for (size_t i = 0; i < p->n_row && is_own(to) && to->first == v; i++) {
            for (size_t f = 0; f < 2 + p->n_figure; f++) {
                const double z = mean_z(p, v, i, widen, f);
                p->weight[f * p->n_row + i] += isnan(z) ? -INFINITY : -log1p(z * z);
            }
        }
    }
    for (size_t f = 0; f < 2 + p->n_figure; f++) {
        scale(p->weight + f * p->n_row, p->n_row);
    }
    scale(p->prior, p->n_row);
}

enum tmx_status tmx_posterior_load(struct tmx_posterior *p, const char *dir, double widen,
                                   const char *importance, const struct tmx_where *where, size_t n_where,
                                   struct tmx_err *err)
{
    char path[TMX_PATH_SIZE];
    *p = (struct tmx_posterior){0};
    tmx_path_join(path, dir, "sets.csv", err);
    tmx_csv_read(&p->sets, path, err);
    tmx_path_join(path, dir, "values.csv", err);
    if (!tmx_csv_read(&p->values, path, err)) {
        check_columns(p, importance, err);
        read_values(p, err);
        read_sets(p, where, n_where, err);
        weigh(p, widen, err);
    }
    if (err->code) {
        tmx_posterior_finish(p);
    }
    return err->code;
}

void tmx_posterior_finish(struct tmx_posterior *p)
{
    tmx_csv_finish(&p->sets);
    tmx_csv_finish(&p->values);
    tmx_arena_finish(&p->arena);
    *p = (struct tmx_posterior){0};
}

double tmx_posterior_effective(const struct tmx_posterior *p, size_t figure)
{
    const double *w = p->weight + (figure == p->n_figure ? 0 : figure + 1) * p->n_row;
    double sum = 0, square = 0;
    for (size_t i = 0; i < p->n_row; i++) {
        sum += w[i];
        square += w[i] * w[i];
    }
    return square > 0 ? sum * sum / square : 0;
}

/* ---- quantiles, ranks ---- */

/* The finite x of the sets in order; how many. w NULL: all weigh 1. */
static size_t sorted(const struct tmx_posterior *p, size_t column, const double *w, struct item *item)
{
    size_t n = 0;
    for (size_t i = 0; i < p->n_row; i++) {
        const double x = tmx_csv_value(&p->sets, p->row[i], column);
        if (isfinite(x)) {
            item[n++] = (struct item){.x = x, .w = w ? w[i] : 1, .i = i};
        }
    }
    qsort(item, n, sizeof *item, by_x);
    return n;
}

/* The smallest x below which no less than a share of the weight is. */
static void add_quantiles(struct tmx_table *t, const struct tmx_posterior *p, size_t column, const double *w,
                          struct item *item)
{
    static const double share[] = {0.05, 0.5, 0.95};
    const size_t n = sorted(p, column, w, item);
    double all = 0;
    for (size_t i = 0; i < n; i++) {
        all += item[i].w;
    }
    for (size_t k = 0; k < 3; k++) {
        size_t i = 0;
        double below = n > 0 ? item[0].w : 0;
        while (i + 1 < n && below < share[k] * all) {
            below += item[++i].w;
        }
        all > 0 ? tmx_table_real(t, item[i].x) : tmx_table_empty(t);
    }
}

static void ranks(struct item *item, size_t n, double *rank)
{
    qsort(item, n, sizeof *item, by_x);
    for (size_t i = 0, j; i < n; i = j) {
        for (j = i + 1; j < n && item[j].x == item[i].x; j++) {
        }
        for (size_t k = i; k < j; k++) {
            rank[item[k].i] = 0.5 * (double)(i + j - 1);
        }
    }
}

static double correlation(const double *a, const double *b, const bool *use, size_t n)
{
    double m = 0, sa = 0, sb = 0, saa = 0, sbb = 0, sab = 0;
    for (size_t i = 0; i < n; i++) {
        if (use[i]) {
            m += 1, sa += a[i], sb += b[i], saa += a[i] * a[i], sbb += b[i] * b[i], sab += a[i] * b[i];
        }
    }
    const double va = m * saa - sa * sa, vb = m * sbb - sb * sb;
    return va > 0 && vb > 0 ? (m * sab - sa * sb) / sqrt(va * vb) : 0;
}

/* Of the ranks of a value by the words of an axis: the correlation ratio, which has no sign and does not
 * depend on an order of the words, less what as many groups give by chance: sqrt(1 - (1 - eta^2)(n - 1)/(n -
 * groups)). sum, many: [2 n_word] to work in. */
static double ratio(const size_t *word, size_t n_word, const double *rank, const bool *use, size_t n,
                    double *sum)
{
    double *many = sum + n_word, m = 0, all = 0, square = 0, between = 0, groups = 0;
    memset(sum, 0, 2 * n_word * sizeof *sum);
    for (size_t i = 0; i < n; i++) {
        if (use[i]) {
            sum[word[i]] += rank[i], many[word[i]] += 1, m += 1, all += rank[i], square += rank[i] * rank[i];
        }
    }
    for (size_t g = 0; g < n_word; g++) {
        between += many[g] > 0 ? sum[g] * sum[g] / many[g] : 0;
        groups += many[g] > 0;
    }
    const double total = square - all * all / m, eta2 = total > 0 ? (between - all * all / m) / total : 0;
    /* m eta2 is a chi-square of groups - 1; of one number with one degree the bound is |r| sqrt(m) = 2 */
    if (m <= groups || groups < 2 || m * eta2 < groups - 1 + 3 * sqrt(groups - 1)) {
        return 0;
    }
    return sqrt(fmax(0, 1 - (1 - eta2) * (m - 1) / (m - groups)));
}

struct work {
    struct item *item; /* [n_row] */
    double *axis;      /* [n_key][n_row] ranks of the axes, */
    double *value;     /* [n_row] and of a value */
    double *sum;       /* [2 n_row] of words */
    double *moved;     /* [n_key] by each axis */
    bool *use;         /* [n_row] it has that value */
    struct tmx_arena arena;
};

/* "leakage_w -0.61, k_interface 0.33, most 0.20"; those of chance alone are left out. */
static void add_movers(struct tmx_table *t, const struct tmx_posterior *p, size_t value, struct work *w)
{
    char text[256] = "";
    size_t n = 0;
    for (size_t i = 0; i < p->n_row; i++) {
        const double x = ours(p, value, i);
        w->use[i] = isfinite(x);
        if (w->use[i]) {
            w->item[n++] = (struct item){.x = x, .i = i};
        }
    }
    ranks(w->item, n, w->value);
    for (size_t k = 0; k < p->n_key; k++) {
        const double r = p->axis[k].text ? ratio(p->word + k * p->n_row, p->axis[k].n_word, w->value, w->use,
                                                 p->n_row, w->sum)
                                         : correlation(w->axis + k * p->n_row, w->value, w->use, p->n_row);
        w->moved[k] = p->axis[k].text || fabs(r) * sqrt((double)n) >= 2 ? r : 0;
    }
    for (size_t place = 0; place < 3; place++) {
        size_t at = 0;
        for (size_t k = 1; k < p->n_key; k++) {
            at = fabs(w->moved[k]) > fabs(w->moved[at]) ? k : at;
        }
        if (p->n_key == 0 || w->moved[at] == 0) {
            break;
        }
        tmx_text_add(text, sizeof text, "%s%.60s %.2f", place > 0 ? ", " : "",
                     tmx_text_behind(p->sets.column[p->key0 + at], '.'), w->moved[at]);
        w->moved[at] = 0;
    }
    tmx_table_text(t, text);
}

/* clearly: an order by more than twice its spread. */
static bool meets(const struct tmx_posterior *p, size_t value, size_t i, bool clearly)
{
    const struct tmx_printed *v = &p->value[value];
    const double off = ours(p, value, i) - v->paper, margin = clearly ? 2 * v->spread : 0;
    return v->relation == AT_MOST    ? off <= v->band - margin
           : v->relation == AT_LEAST ? off >= margin - v->band
                                     : fabs(off) <= v->band;
}

/* Share of the weight of the sets that meet a value; together: with all others of its quantity. */
static void add_probability(struct tmx_table *t, const struct tmx_posterior *p, size_t value, const double *w,
                            bool together, bool clearly)
{
    double all = 0, in = 0;
    for (size_t i = 0; i < p->n_row; i++) {
        bool yes = meets(p, value, i, clearly);
        for (size_t v = 0; v < p->values.n_row && together; v++) {
            yes = yes && (strcmp(tmx_csv_at(&p->values, v, "quantity"),
                                 tmx_csv_at(&p->values, value, "quantity")) != 0 ||
                          meets(p, v, i, clearly));
        }
        all += w[i];
        in += yes ? w[i] : 0;
    }
    all > 0 ? tmx_table_real(t, in / all) : tmx_table_empty(t);
}

struct tmx_table *tmx_posterior_values(const struct tmx_posterior *p)
{
    struct work w = {0};
    TMX_TAKE(&w.arena, w.item, p->n_row);
    TMX_TAKE(&w.arena, w.axis, p->n_key * p->n_row);
    TMX_TAKE(&w.arena, w.value, p->n_row);
    TMX_TAKE(&w.arena, w.sum, 2 * p->n_row);
    TMX_TAKE(&w.arena, w.moved, p->n_key);
    TMX_TAKE(&w.arena, w.use, p->n_row);
    struct tmx_table *t =
        w.arena.failed
            ? NULL
            : tmx_table_of(
                  "figure quantity case paper:2 prior_5:1 prior_50:1 prior_95:1 rest_5:1 rest_50:1 "
                  "rest_95:1 all_5:1 all_50:1 all_95:1 more_5:1 more_50:1 more_95:1 p_rest:2 p_all:2 "
                  "p_clear:2 p_together:2 p_together_clear:2 moved_by");
    for (size_t k = 0; t && k < p->n_key; k++) {
        for (size_t i = 0; i < p->n_row && !p->axis[k].text; i++) {
            w.item[i] = (struct item){.x = tmx_csv_value(&p->sets, p->row[i], p->key0 + k), .i = i};
        }
        if (!p->axis[k].text) {
            ranks(w.item, p->n_row, w.axis + k * p->n_row);
        }
    }
    for (size_t v = 0; t && v < p->values.n_row; v++) {
        const size_t f = p->value[v].figure, c = p->value[v].column;
        const bool order = p->value[v].relation != EQUAL;
        const double *rest = p->weight + (f < p->n_figure ? f + 1 : 0) * p->n_row;
        tmx_table_row(t, "%s %s %s %G", tmx_csv_at(&p->values, v, "figure"),
                      tmx_csv_at(&p->values, v, "quantity"), tmx_csv_at(&p->values, v, "case"),
                      p->value[v].paper);
        add_quantiles(t, p, c, p->prior, w.item);
        add_quantiles(t, p, c, rest, w.item);
        add_quantiles(t, p, c, p->weight, w.item);
        add_quantiles(t, p, c, p->weight + (1 + p->n_figure) * p->n_row, w.item);
        add_probability(t, p, v, rest, false, false);
        add_probability(t, p, v, p->weight, false, false);
        for (int k = 1; k < 4; k++) { /* clearly, together, both */
            order ? add_probability(t, p, v, p->weight, k > 1, k != 2) : tmx_table_empty(t);
        }
        add_movers(t, p, v, &w);
    }
    tmx_arena_finish(&w.arena);
    return t;
}

/* Shares of the words of an axis, in the order in which they come. n: [2 n_row] to work in. */
static void add_words(struct tmx_table *t, const struct tmx_posterior *p, size_t key, double *n)
{
    const size_t c = p->key0 + key, *word = p->word + key * p->n_row;
    double *in = n + p->n_row, all = 0, n_all = 0;
    memset(n, 0, 2 * p->n_row * sizeof *n);
    for (size_t i = 0; i < p->n_row; i++) {
        n[word[i]] += p->prior[i];
        n_all += p->prior[i];
        in[word[i]] += p->weight[i];
        all += p->weight[i];
    }
    for (size_t i = 0; i < p->n_row; i++) {
        if (n[word[i]] > 0) {
            tmx_table_row(t, "%s %s - - - - - - %G %G", p->sets.column[c],
                          tmx_csv_cell(&p->sets, p->row[i], c), n_all > 0 ? n[word[i]] / n_all : NAN,
                          all > 0 ? in[word[i]] / all : NAN);
            n[word[i]] = 0; /* said */
        }
    }
}

struct tmx_table *tmx_posterior_axes(const struct tmx_posterior *p)
{
    struct tmx_arena arena = {0};
    struct item *item;
    double *share;
    TMX_TAKE(&arena, item, p->n_row);
    TMX_TAKE(&arena, share, 2 * p->n_row);
    struct tmx_table *t =
        arena.failed
            ? NULL
            : tmx_table_of(
                  "axis word prior_5:5 prior_50:5 prior_95:5 posterior_5:5 posterior_50:5 posterior_95:5 "
                  "prior_share:2 posterior_share:2");
    for (size_t k = 0; k < p->n_key && t; k++) {
        if (p->axis[k].n_word < 6 || p->axis[k].text) { /* a reading */
            add_words(t, p, k, share);
            continue;
        }
        tmx_table_row(t, "%s %s", p->sets.column[p->key0 + k], "");
        add_quantiles(t, p, p->key0 + k, p->prior, item);
        add_quantiles(t, p, p->key0 + k, p->weight, item);
        tmx_table_row(t, "- -");
    }
    tmx_arena_finish(&arena);
    return t;
}

struct tmx_table *tmx_posterior_sets(const struct tmx_posterior *p)
{
    const size_t n = p->sets.n_column - p->key0;
    struct item *item = calloc(p->n_row + 1, sizeof *item);
    struct tmx_table *t = item ? tmx_table_of("set:t weight:4") : NULL;
    for (size_t k = 0; k < n; k++) {
        tmx_table_extend(t, p->sets.column[p->key0 + k], TMX_COLUMN_TEXT, TMX_TEXT_TYPED);
    }
    for (size_t i = 0; i < p->n_row && t; i++) {
        item[i] = (struct item){.x = -p->weight[i], .i = i};
    }
    if (t) {
        qsort(item, p->n_row, sizeof *item, by_x);
    }
    for (size_t i = 0; i < p->n_row && t; i++) {
        const size_t r = p->row[item[i].i];
        tmx_table_row(t, "%s %g", tmx_csv_cell(&p->sets, r, 0), -item[i].x);
        for (size_t k = 0; k < n; k++) {
            tmx_table_text(t, tmx_csv_cell(&p->sets, r, p->key0 + k));
        }
    }
    free(item);
    return t;
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "study/analysis/posterior.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/os.h"
#include "core/base/text.h"

static const char *cell(const struct tmx_csv *csv, size_t row, const char *column)
{
    return tmx_csv_cell(csv, row, tmx_csv_column(csv, column));
}

static double real(const struct tmx_csv *csv, size_t row, size_t column)
{
    double v;
    return tmx_csv_real(csv, row, column, &v) ? v : NAN;
}

/* Ours of a value in the i-th set. */
static double ours(const struct tmx_posterior *p, size_t value, size_t i)
{
    return real(&p->sets, p->row[i], p->value0 + value);
}

static bool is_order(const struct tmx_posterior *p, size_t value)
{
    return strcmp(cell(&p->values, value, "relation"), "equal") != 0;
}

static double printed(const struct tmx_posterior *p, size_t value)
{
    return real(&p->values, value, tmx_csv_column(&p->values, "paper_value"));
}

static double band(const struct tmx_posterior *p, size_t value)
{
    return real(&p->values, value, tmx_csv_column(&p->values, "band"));
}

/* A cell of a column that folders of earlier versions lack; then "". */
static const char *later_cell(const struct tmx_posterior *p, size_t value, const char *column)
{
    return tmx_csv_column(&p->values, column) < p->values.n_column ? cell(&p->values, value, column) : "";
}

/* Is it a number of its own, that may enter the weights? */
static bool is_own(const struct tmx_posterior *p, size_t value)
{
    return !is_order(p, value) && strcmp(cell(&p->values, value, "follows"), "yes") != 0 &&
           band(p, value) > 0;
}

/* Does it enter the weights? */
static bool weighs(const struct tmx_posterior *p, size_t value)
{
    return is_own(p, value) && strcmp(later_cell(p, value, "weighs"), "no") != 0;
}

static double spread(const struct tmx_posterior *p, size_t value)
{
    return strtod(later_cell(p, value, "spread"), NULL);
}

/* The first value that is weighed as one with it. */
static size_t first_of_one(const struct tmx_posterior *p, size_t value)
{
    const char *one = later_cell(p, value, "as_one");
    size_t v = 0;
    while (v < value && (!one[0] || !is_own(p, v) || strcmp(later_cell(p, v, "as_one"), one) != 0)) {
        v++;
    }
    return v;
}

static size_t figure_of(const struct tmx_posterior *p, size_t value)
{
    size_t f = 0;
    while (f < p->n_figure && strcmp(p->figure[f], cell(&p->values, value, "figure")) != 0) {
        f++;
    }
    return f;
}

static enum tmx_status check_columns(struct tmx_posterior *p, const char *importance, struct tmx_err *err)
{
    static const char *const need[] = {"figure",   "quantity", "case",   "paper_value",
                                       "relation", "band",     "follows"};
    for (size_t i = 0; i < sizeof need / sizeof need[0]; i++) {
        if (tmx_csv_column(&p->values, need[i]) == p->values.n_column) {
            return tmx_fail_at(err, TMX_EPARSE, p->values.source, 1, "no column \"%s\"", need[i]);
        }
    }
    p->status = tmx_csv_column(&p->sets, "status");
    p->value0 = tmx_csv_column(&p->sets, "v1");
    p->key0 = p->status + 1;
    p->n_key = p->value0 - p->key0;
    p->importance = tmx_csv_column(&p->sets, importance[0] ? importance : "importance");
    if (importance[0] && p->importance == p->sets.n_column) {
        return tmx_fail_at(err, TMX_EPARSE, p->sets.source, 1, "no column \"%s\"", importance);
    }
    return p->status >= p->value0 || p->value0 + p->values.n_row > p->sets.n_column
               ? tmx_fail_at(err, TMX_EPARSE, p->sets.source, 1,
                             "expected columns set, status, axes, v1 to v%zu", p->values.n_row)
               : TMX_OK;
}

static enum tmx_status take_rows(struct tmx_posterior *p, const struct tmx_where *where, size_t n_where,
                                 struct tmx_err *err)
{
    p->row = malloc((p->sets.n_row + 1) * sizeof *p->row);
    if (!p->row) {
        return tmx_no_memory(err);
    }
    for (size_t w = 0; w < n_where; w++) {
        if (tmx_csv_column(&p->sets, where[w].key) == p->sets.n_column) {
            return tmx_fail(err, TMX_ECONFIG, "--where: %s has no column \"%s\"", p->sets.source,
                            where[w].key);
        }
    }
    for (size_t r = 0; r < p->sets.n_row; r++) {
        const double importance = p->importance < p->sets.n_column ? real(&p->sets, r, p->importance) : 1;
        bool keep = strcmp(tmx_csv_cell(&p->sets, r, p->status), "done") == 0 && importance > 0;
        for (size_t w = 0; w < n_where; w++) {
            keep = keep && tmx_where_holds(&where[w], cell(&p->sets, r, where[w].key));
        }
        if (keep) {
            p->row[p->n_row++] = r;
        }
    }
    return p->n_row > 1 ? TMX_OK
                        : tmx_fail(err, TMX_ECONFIG, "%s: %zu sets were run in full%s, too few to weigh",
                                   p->sets.source, p->n_row, n_where ? " and meet every --where" : "");
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

/* Mean z of the values that are weighed as one with the first of them, of the i-th set. */
static double mean_z(const struct tmx_posterior *p, size_t first, size_t i, double widen)
{
    double sum = 0, n = 0;
    for (size_t v = first; v < p->values.n_row; v++) {
        if (is_own(p, v) && first_of_one(p, v) == first) {
            sum += (ours(p, v, i) - printed(p, v)) / (widen * hypot(band(p, v), spread(p, v)));
            n += 1;
        }
    }
    return sum / n;
}

static enum tmx_status weigh(struct tmx_posterior *p, double widen, struct tmx_err *err)
{
    const size_t column = tmx_csv_column(&p->values, "figure");
    p->figure = calloc(p->values.n_row + 1, sizeof *p->figure);
    for (size_t v = 0; p->figure && v < p->values.n_row; v++) {
        if (weighs(p, v) && figure_of(p, v) == p->n_figure) {
            p->figure[p->n_figure++] = p->values.cell[v * p->values.n_column + column];
        }
    }
    p->weight = p->figure ? calloc((2 + p->n_figure) * p->n_row, sizeof *p->weight) : NULL;
    p->prior = calloc(p->n_row, sizeof *p->prior);
    if (!p->weight || !p->prior) {
        return tmx_no_memory(err);
    }
    for (size_t i = 0; i < p->n_row && p->importance < p->sets.n_column; i++) {
        p->prior[i] = log(real(&p->sets, p->row[i], p->importance));
        for (size_t f = 0; f < 2 + p->n_figure; f++) {
            p->weight[f * p->n_row + i] = p->prior[i];
        }
    }
    for (size_t v = 0; v < p->values.n_row; v++) {
        const size_t figure = figure_of(p, v);
        for (size_t i = 0; i < p->n_row && is_own(p, v) && first_of_one(p, v) == v; i++) {
            const double z = mean_z(p, v, i, widen), log_weight = isnan(z) ? -INFINITY : -log1p(z * z);
            for (size_t f = 0; f < 2 + p->n_figure; f++) {
                const bool in = f == p->n_figure + 1 || (weighs(p, v) && (f == 0 || f - 1 != figure));
                p->weight[f * p->n_row + i] += in ? log_weight : 0;
            }
        }
    }
    for (size_t f = 0; f < 2 + p->n_figure; f++) {
        scale(p->weight + f * p->n_row, p->n_row);
    }
    scale(p->prior, p->n_row);
    return TMX_OK;
}

enum tmx_status tmx_posterior_load(struct tmx_posterior *p, const char *dir, double widen,
                                   const char *importance, const struct tmx_where *where, size_t n_where,
                                   struct tmx_err *err)
{
    char path[TMX_PATH_SIZE];
    *p = (struct tmx_posterior){0};
    enum tmx_status st = TMX_OK;
    struct tmx_csv *const csv[] = {&p->sets, &p->values};
    static const char *const name[] = {"sets.csv", "values.csv"};
    for (size_t i = 0; i < 2 && !st; i++) {
        st = tmx_path_join(path, dir, name[i], err);
        st = st ? st : tmx_csv_read(csv[i], path, err);
    }
    st = st ? st : check_columns(p, importance, err);
    st = st ? st : take_rows(p, where, n_where, err);
    st = st ? st : weigh(p, widen, err);
    if (st) {
        tmx_posterior_finish(p);
    }
    return st;
}

void tmx_posterior_finish(struct tmx_posterior *p)
{
    tmx_csv_finish(&p->sets);
    tmx_csv_finish(&p->values);
    free(p->row);
    free(p->figure);
    free(p->weight);
    free(p->prior);
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

struct item {
    double x, w;
    size_t i;
};

static int by_x(const void *a, const void *b)
{
    const struct item *p = a, *q = b;
    return p->x != q->x ? (p->x > q->x) - (p->x < q->x) : (p->i > q->i) - (p->i < q->i);
}

/* The finite x of the sets in order; how many. w NULL: all weigh 1. */
static size_t sorted(const struct tmx_posterior *p, size_t column, const double *w, struct item *item)
{
    size_t n = 0;
    for (size_t i = 0; i < p->n_row; i++) {
        const double x = real(&p->sets, p->row[i], column);
        if (isfinite(x)) {
            item[n++] = (struct item){x, w ? w[i] : 1, i};
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

/* A number of an axis, also of words: their place in the order in which they first appear. */
static double level(const struct tmx_posterior *p, size_t key, size_t i)
{
    const size_t c = p->key0 + key;
    const double v = real(&p->sets, p->row[i], c);
    if (!isnan(v)) {
        return v;
    }
    double place = 0;
    for (size_t j = 0; j < p->n_row; j++) {
        const char *word = tmx_csv_cell(&p->sets, p->row[j], c);
        bool first = true;
        for (size_t k = 0; k < j && first; k++) {
            first = strcmp(tmx_csv_cell(&p->sets, p->row[k], c), word) != 0;
        }
        if (strcmp(word, tmx_csv_cell(&p->sets, p->row[i], c)) == 0) {
            return place;
        }
        place += first;
    }
    return place;
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

struct work {
    struct item *item; /* [n_row] */
    double *axis;      /* [n_key][n_row] ranks of the axes, */
    double *value;     /* [n_row] and of a value */
    bool *use;         /* [n_row] it has that value */
};

static void work_finish(struct work *w)
{
    free(w->item);
    free(w->axis);
    free(w->value);
    free(w->use);
}

static enum tmx_status work_init(struct work *w, const struct tmx_posterior *p, struct tmx_err *err)
{
    *w = (struct work){calloc(p->n_row, sizeof *w->item), calloc(p->n_key * p->n_row + 1, sizeof *w->axis),
                       calloc(p->n_row, sizeof *w->value), calloc(p->n_row, sizeof *w->use)};
    if (!w->item || !w->axis || !w->value || !w->use) {
        work_finish(w);
        return tmx_no_memory(err);
    }
    for (size_t k = 0; k < p->n_key; k++) {
        for (size_t i = 0; i < p->n_row; i++) {
            w->item[i] = (struct item){level(p, k, i), 1, i};
        }
        ranks(w->item, p->n_row, w->axis + k * p->n_row);
    }
    return TMX_OK;
}

/* "leakage_w -0.61, k_interface 0.33, most 0.20" */
static void add_movers(struct tmx_table *t, const struct tmx_posterior *p, size_t value, struct work *w)
{
    char text[256] = "";
    size_t n = 0, used = 0;
    bool taken[256] = {false};
    for (size_t i = 0; i < p->n_row; i++) {
        const double x = ours(p, value, i);
        w->use[i] = isfinite(x);
        if (w->use[i]) {
            w->item[n++] = (struct item){x, 1, i};
        }
    }
    ranks(w->item, n, w->value);
    for (size_t place = 0; place < 3; place++) {
        double best = 0;
        size_t at = p->n_key;
        for (size_t k = 0; k < p->n_key && k < 256; k++) {
            const double r = correlation(w->axis + k * p->n_row, w->value, w->use, p->n_row);
            if (!taken[k] && fabs(r) > fabs(best)) {
                best = r;
                at = k;
            }
        }
        if (at == p->n_key || fabs(best) * sqrt((double)n) < 2) { /* what chance alone would give */
            break;
        }
        taken[at] = true;
        const char *name = p->sets.column[p->key0 + at], *dot = strrchr(name, '.');
        used += (size_t)snprintf(text + used, sizeof text - used, "%s%s %.2f", used ? ", " : "",
                                 dot ? dot + 1 : name, best);
    }
    tmx_table_text(t, text);
}

/* margin: of an order, by how much it is to hold. */
static bool meets(const struct tmx_posterior *p, size_t value, size_t i, double margin)
{
    const char *relation = cell(&p->values, value, "relation");
    const double off = ours(p, value, i) - printed(p, value), room = band(p, value);
    return strcmp(relation, "at_most") == 0    ? off <= room - margin
           : strcmp(relation, "at_least") == 0 ? off >= margin - room
                                               : fabs(off) <= room;
}

/* Share of the weight of the sets that meet a value; together: with all others of its quantity. */
static void add_probability(struct tmx_table *t, const struct tmx_posterior *p, size_t value, const double *w,
                            bool together, bool clearly)
{
    double all = 0, in = 0;
    for (size_t i = 0; i < p->n_row; i++) {
        bool yes = meets(p, value, i, clearly ? 2 * spread(p, value) : 0);
        for (size_t v = 0; v < p->values.n_row && together; v++) {
            yes = yes && (strcmp(cell(&p->values, v, "quantity"), cell(&p->values, value, "quantity")) != 0 ||
                          meets(p, v, i, clearly ? 2 * spread(p, v) : 0));
        }
        all += w[i];
        in += yes ? w[i] : 0;
    }
    all > 0 ? tmx_table_real(t, in / all) : tmx_table_empty(t);
}

enum tmx_status tmx_posterior_values(const struct tmx_posterior *p, struct tmx_table **t, struct tmx_err *err)
{
    static const struct tmx_column columns[] = {
        {"figure", TMX_COLUMN_TEXT, 0},
        {"quantity", TMX_COLUMN_TEXT, 0},
        {"case", TMX_COLUMN_TEXT, 0},
        {"paper", TMX_COLUMN_REAL, 2},
        {"prior_5", TMX_COLUMN_REAL, 1},
        {"prior_50", TMX_COLUMN_REAL, 1},
        {"prior_95", TMX_COLUMN_REAL, 1},
        {"rest_5", TMX_COLUMN_REAL, 1},
        {"rest_50", TMX_COLUMN_REAL, 1},
        {"rest_95", TMX_COLUMN_REAL, 1},
        {"all_5", TMX_COLUMN_REAL, 1},
        {"all_50", TMX_COLUMN_REAL, 1},
        {"all_95", TMX_COLUMN_REAL, 1},
        {"more_5", TMX_COLUMN_REAL, 1},
        {"more_50", TMX_COLUMN_REAL, 1},
        {"more_95", TMX_COLUMN_REAL, 1},
        {"p_rest", TMX_COLUMN_REAL, 2},
        {"p_all", TMX_COLUMN_REAL, 2},
        {"p_clear", TMX_COLUMN_REAL, 2},
        {"p_together", TMX_COLUMN_REAL, 2},
        {"p_together_clear", TMX_COLUMN_REAL, 2},
        {"moved_by", TMX_COLUMN_TEXT, 0},
    };
    struct work work;
    enum tmx_status st = work_init(&work, p, err);
    if (st) {
        return st;
    }
    st = tmx_table_create(t, columns, sizeof columns / sizeof columns[0], err);
    for (size_t v = 0; v < p->values.n_row && !st; v++) {
        const size_t f = figure_of(p, v), c = p->value0 + v;
        const double *rest = p->weight + (f < p->n_figure ? f + 1 : 0) * p->n_row;
        tmx_table_text(*t, cell(&p->values, v, "figure"));
        tmx_table_text(*t, cell(&p->values, v, "quantity"));
        tmx_table_text(*t, cell(&p->values, v, "case"));
        isnan(printed(p, v)) ? tmx_table_empty(*t) : tmx_table_real(*t, printed(p, v));
        add_quantiles(*t, p, c, p->prior, work.item);
        add_quantiles(*t, p, c, rest, work.item);
        add_quantiles(*t, p, c, p->weight, work.item);
        add_quantiles(*t, p, c, p->weight + (1 + p->n_figure) * p->n_row, work.item);
        add_probability(*t, p, v, rest, false, false);
        add_probability(*t, p, v, p->weight, false, false);
        for (int k = 1; k < 4; k++) { /* clearly, together, both */
            is_order(p, v) ? add_probability(*t, p, v, p->weight, k > 1, k != 2) : tmx_table_empty(*t);
        }
        add_movers(*t, p, v, &work);
    }
    work_finish(&work);
    return st;
}

/* Shares of the words of an axis. */
static void add_words(struct tmx_table *t, const struct tmx_posterior *p, size_t key)
{
    const size_t c = p->key0 + key;
    for (size_t i = 0; i < p->n_row; i++) {
        const char *word = tmx_csv_cell(&p->sets, p->row[i], c);
        double n = 0, n_all = 0, all = 0, in = 0;
        bool first = true;
        for (size_t k = 0; k < p->n_row; k++) {
            const bool same = strcmp(tmx_csv_cell(&p->sets, p->row[k], c), word) == 0;
            first = first && (k >= i || !same);
            n += same ? p->prior[k] : 0;
            n_all += p->prior[k];
            all += p->weight[k];
            in += same ? p->weight[k] : 0;
        }
        if (first) {
            tmx_table_text(t, p->sets.column[c]);
            tmx_table_text(t, word);
            for (size_t k = 0; k < 6; k++) {
                tmx_table_empty(t);
            }
            n_all > 0 ? tmx_table_real(t, n / n_all) : tmx_table_empty(t);
            all > 0 ? tmx_table_real(t, in / all) : tmx_table_empty(t);
        }
    }
}

enum tmx_status tmx_posterior_axes(const struct tmx_posterior *p, struct tmx_table **t, struct tmx_err *err)
{
    static const struct tmx_column columns[] = {
        {"axis", TMX_COLUMN_TEXT, 0},         {"word", TMX_COLUMN_TEXT, 0},
        {"prior_5", TMX_COLUMN_REAL, 5},      {"prior_50", TMX_COLUMN_REAL, 5},
        {"prior_95", TMX_COLUMN_REAL, 5},     {"posterior_5", TMX_COLUMN_REAL, 5},
        {"posterior_50", TMX_COLUMN_REAL, 5}, {"posterior_95", TMX_COLUMN_REAL, 5},
        {"prior_share", TMX_COLUMN_REAL, 2},  {"posterior_share", TMX_COLUMN_REAL, 2},
    };
    struct item *item = calloc(p->n_row, sizeof *item);
    enum tmx_status st =
        item ? tmx_table_create(t, columns, sizeof columns / sizeof columns[0], err) : tmx_no_memory(err);
    for (size_t k = 0; k < p->n_key && !st; k++) {
        size_t distinct = 0;
        for (size_t i = 0; i < p->n_row && distinct < 6; i++) {
            bool first = true;
            for (size_t j = 0; j < i && first; j++) {
                first = strcmp(tmx_csv_cell(&p->sets, p->row[i], p->key0 + k),
                               tmx_csv_cell(&p->sets, p->row[j], p->key0 + k)) != 0;
            }
            distinct += first;
        }
        if (distinct < 6 || isnan(real(&p->sets, p->row[0], p->key0 + k))) { /* a reading */
            add_words(*t, p, k);
            continue;
        }
        tmx_table_text(*t, p->sets.column[p->key0 + k]);
        tmx_table_text(*t, "");
        add_quantiles(*t, p, p->key0 + k, p->prior, item);
        add_quantiles(*t, p, p->key0 + k, p->weight, item);
        tmx_table_empty(*t);
        tmx_table_empty(*t);
    }
    free(item);
    return st;
}

enum tmx_status tmx_posterior_sets(const struct tmx_posterior *p, struct tmx_table **t, struct tmx_err *err)
{
    const size_t n = p->sets.n_column - p->key0;
    struct tmx_column *c = calloc(2 + n, sizeof *c);
    struct item *item = calloc(p->n_row, sizeof *item);
    enum tmx_status st = c && item ? TMX_OK : tmx_no_memory(err);
    if (!st) {
        c[0] = (struct tmx_column){"set", TMX_COLUMN_TEXT, TMX_TEXT_TYPED};
        c[1] = (struct tmx_column){"weight", TMX_COLUMN_REAL, 4};
        for (size_t k = 0; k < n; k++) {
            c[2 + k] = (struct tmx_column){p->sets.column[p->key0 + k], TMX_COLUMN_TEXT, TMX_TEXT_TYPED};
        }
        st = tmx_table_create(t, c, 2 + n, err);
    }
    for (size_t i = 0; i < p->n_row && !st; i++) {
        item[i] = (struct item){-p->weight[i], 1, i};
    }
    if (!st) {
        qsort(item, p->n_row, sizeof *item, by_x);
    }
    for (size_t i = 0; i < p->n_row && !st; i++) {
        const size_t r = p->row[item[i].i];
        tmx_table_text(*t, tmx_csv_cell(&p->sets, r, 0));
        tmx_table_real(*t, -item[i].x);
        for (size_t k = 0; k < n; k++) {
            tmx_table_text(*t, tmx_csv_cell(&p->sets, r, p->key0 + k));
        }
    }
    free(c);
    free(item);
    return st;
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "study/analysis/analysis.h"

#include <gsl/gsl_cdf.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/text.h"

enum { MAX_ROW_KEYS = 8, MAX_VALUES = 16, LABEL = 256, DECIMALS = 4 };

static const char *const aggregates[] = {"mean", "min", "max", "sd", "n", "ci95", "stdev", "count"};

enum tmx_aggregate tmx_aggregate_parse(const char *word, struct tmx_err *err)
{
    static const enum tmx_aggregate of[] = {TMX_MEAN,  TMX_MIN,  TMX_MAX,   TMX_STDEV,
                                            TMX_COUNT, TMX_CI95, TMX_STDEV, TMX_COUNT};
    const size_t n = sizeof aggregates / sizeof aggregates[0], i = tmx_names_find(word, aggregates, n);
    char hint[TMX_HINT_SIZE];
    if (i == n) {
        tmx_error(err, TMX_ECONFIG, "--aggregate: no statistic \"%s\"%s", word,
                  tmx_suggest(hint, word, aggregates, 6));
    }
    return i < n ? of[i] : TMX_MEAN;
}

static enum tmx_status name_index(char *const *names, size_t n, const char *kind, const char *word, size_t *i,
                                  struct tmx_err *err)
{
    char list[700] = "none";
    *i = tmx_result_find(names, n, word);
    if (*i == n && n > 0) {
        tmx_names_list(list, sizeof list, (const char *const *)names, n);
    }
    if (*i == n) {
        tmx_error(err, TMX_ECONFIG, "no %s \"%s\"; known: %s", kind, word, list);
    }
    return err->code;
}

enum tmx_status tmx_key_index(const struct tmx_result_set *set, const char *word, size_t *i,
                              struct tmx_err *err)
{
    return name_index(set->key, set->n_key, "key", word, i, err);
}

enum tmx_status tmx_metric_index(const struct tmx_result_set *set, const char *word, size_t *i,
                                 struct tmx_err *err)
{
    return name_index(set->metric, set->n_metric, "metric", word, i, err);
}

int tmx_value_compare(const char *a, const char *b)
{
    double x, y;
    const bool nx = tmx_text_real(a, &x), ny = tmx_text_real(b, &y);
    if (nx && ny) {
        return (x > y) - (x < y);
    }
    return nx != ny ? ny - nx : strcmp(a, b);
}

static void trim(char *s)
{
    size_t n = strlen(s), first = strspn(s, " ");
    while (n > first && s[n - 1] == ' ') {
        n--;
    }
    memmove(s, s + first, n - first);
    s[n - first] = '\0';
}

static void parse(const char *text, struct tmx_where *w, struct tmx_err *err)
{
    static const char *const words[] = {"=", "!=", "<", "<=", ">", ">=", " in "}; /* as the relations */
    const size_t n = strcspn(text, "=!<>");
    const char *in = strstr(text, " in "), *at = text + n, *value = NULL;
    *w = (struct tmx_where){0};
    if (in && in < at) {
        at = in;
        w->relation = TMX_IN;
        value = in + 4;
    } else {
        for (size_t i = 0; i < 6; i++) { /* the longer of two that fit: <= over < */
            const size_t length = strlen(words[i]);
            if (strncmp(at, words[i], length) == 0 && (!value || length == 2)) {
                w->relation = (enum tmx_relation)i;
                value = at + length;
            }
        }
    }
    const size_t key = (size_t)(at - text);
    if (!value || key == 0 || key >= sizeof w->key || strlen(value) >= sizeof w->value || !*value) {
        tmx_error(err, TMX_ECONFIG,
                  "--where %s: expected KEY=VALUE, with !=, <, <=, >, >= in place of =, or \"KEY in A,B,C\"",
                  text);
        return;
    }
    snprintf(w->key, sizeof w->key, "%.*s", (int)key, text);
    snprintf(w->value, sizeof w->value, "%s", value);
    trim(w->key);
    trim(w->value);
    double celsius;
    if (tmx_text_ends(w->key, "_c") && tmx_celsius_read(w->value, &celsius)) {
        tmx_real_print(w->value, celsius);
    }
}

size_t tmx_where_parse(const char *const *text, size_t n, struct tmx_where *w, size_t room,
                       struct tmx_err *err)
{
    if (n > room) {
        tmx_error(err, TMX_ECONFIG, "--where: at most %zu of them", room);
    }
    for (size_t i = 0; i < n && !err->code; i++) {
        parse(text[i], &w[i], err);
    }
    return n;
}

/* A word of a list with commas; what is behind it, NULL behind the last. */
static const char *next_word(const char *list, char word[192])
{
    const size_t n = strcspn(list, ",");
    snprintf(word, 192, "%.*s", (int)n, list);
    trim(word);
    return list[n] ? list + n + 1 : NULL;
}

enum tmx_status tmx_where_index(const struct tmx_result_set *set, const struct tmx_where *w, size_t *i,
                                struct tmx_err *err)
{
    const size_t metric = tmx_result_find(set->metric, set->n_metric, w->key);
    *i = tmx_result_find(set->key, set->n_key, w->key);
    if (*i < set->n_key || metric == set->n_metric) { /* an unknown name is taken for a key's */
        return tmx_key_index(set, w->key, i, err);
    }
    *i = set->n_key + metric;
    return err->code;
}

bool tmx_where_run(const struct tmx_where *w, const struct tmx_result_set *set, size_t i,
                   const struct tmx_result *run)
{
    char text[TMX_REAL_SIZE];
    if (i < set->n_key) {
        return tmx_where_holds(w, run->value[i]);
    }
    tmx_real_print(text, run->metric[i - set->n_key]);
    return !isnan(run->metric[i - set->n_key]) && tmx_where_holds(w, text);
}

bool tmx_where_holds(const struct tmx_where *w, const char *value)
{
    double a, b;
    if (w->relation <= TMX_UNEQUAL) {
        return (tmx_value_compare(value, w->value) == 0) == (w->relation == TMX_EQUAL);
    }
    if (w->relation == TMX_IN) {
        const char *list = w->value;
        char word[192];
        bool found = false;
        while (list && !found) {
            list = next_word(list, word);
            found = tmx_value_compare(word, value) == 0;
        }
        return found;
    }
    if (!tmx_text_real(value, &a) || !tmx_text_real(w->value, &b)) {
        return false;
    }
    return w->relation == TMX_LESS      ? a < b
           : w->relation == TMX_AT_MOST ? a <= b
           : w->relation == TMX_MORE    ? a > b
                                        : a >= b;
}

/* The query with names turned into indices. */
struct plan {
    const struct tmx_result_set *set;
    const struct tmx_query *q;
    size_t row[MAX_ROW_KEYS], n_row;
    size_t value[MAX_VALUES], n_value;
    size_t where[MAX_VALUES];
    size_t pivot;     /* n_key: none */
    char partial[64]; /* "" for a complete study */
};

static const char NONE_FITS[] = "no finished run fits";

/* A value of the key that some run has; else an error that names those there are. */
static void check_value(const struct tmx_result_set *set, size_t key, const char *value, struct tmx_err *err)
{
    const char *names[32];
    char hint[TMX_HINT_SIZE];
    size_t n = 0;
    for (size_t i = 0; i < set->n_run; i++) {
        const char *have = set->run[i].value[key];
        if (tmx_value_compare(have, value) == 0) {
            return;
        }
        if (n < sizeof names / sizeof names[0] && tmx_names_find(have, names, n) == n) {
            names[n++] = have;
        }
    }
    tmx_error(err, TMX_ECONFIG, "--where: no run has %s = %s%s", set->key[key], value,
              tmx_suggest(hint, value, names, n));
}

/* = != and in compare with values: each must be one of the key's. */
static void check_where(const struct tmx_result_set *set, const struct tmx_where *w, size_t key,
                        struct tmx_err *err)
{
    char word[192];
    double v;
    if (key >= set->n_key) {
        if (w->relation != TMX_IN && !tmx_text_real(w->value, &v)) {
            tmx_error(err, TMX_ECONFIG, "--where: %s is a metric: expected a number, not \"%s\"", w->key,
                      w->value);
        }
    } else if (w->relation <= TMX_UNEQUAL) {
        check_value(set, key, w->value, err);
    } else {
        for (const char *at = w->value; w->relation == TMX_IN && at;) {
            at = next_word(at, word);
            check_value(set, key, word, err);
        }
    }
}

static void plan_init(struct plan *p, const struct tmx_result_set *set, const struct tmx_query *q,
                      struct tmx_err *err)
{
    *p = (struct plan){.set = set, .q = q, .pivot = set->n_key};
    tmx_results_partial(set, p->partial, sizeof p->partial);
    for (; p->n_row < MAX_ROW_KEYS && q->rows[p->n_row]; p->n_row++) {
        tmx_key_index(set, q->rows[p->n_row], &p->row[p->n_row], err);
    }
    for (; p->n_value < MAX_VALUES && q->value[p->n_value]; p->n_value++) {
        tmx_metric_index(set, q->value[p->n_value], &p->value[p->n_value], err);
    }
    for (size_t i = 0; i < q->n_where && !tmx_where_index(set, &q->where[i], &p->where[i], err); i++) {
        check_where(set, &q->where[i], p->where[i], err);
    }
    if (q->pivot) {
        tmx_key_index(set, q->pivot, &p->pivot, err);
    }
}

static bool kept(const struct plan *p, const struct tmx_result *r)
{
    bool keep = r->done;
    for (size_t i = 0; i < p->q->n_where; i++) {
        keep = keep && tmx_where_run(&p->q->where[i], p->set, p->where[i], r);
    }
    return keep;
}

struct entry { /* one kept run, sortable */
    const struct plan *p;
    const struct tmx_result *r;
    size_t pivot; /* the column of its value, once pivots() has counted */
};

static int compare_rows(const struct entry *x, const struct entry *y)
{
    int d = 0;
    for (size_t k = 0; k < x->p->n_row && d == 0; k++) {
        d = tmx_value_compare(x->r->value[x->p->row[k]], y->r->value[x->p->row[k]]);
    }
    return d;
}

static int by_rows(const void *a, const void *b)
{
    const struct entry *x = a, *y = b;
    int d = compare_rows(x, y);
    d = d ? d : (x->pivot > y->pivot) - (x->pivot < y->pivot);
    return d ? d : (x->r > y->r) - (x->r < y->r);
}

static int by_pivot(const void *a, const void *b)
{
    const struct entry *x = a, *y = b;
    const int d = tmx_value_compare(x->r->value[x->p->pivot], y->r->value[y->p->pivot]);
    return d ? d : (x->r > y->r) - (x->r < y->r);
}

/* Distinct values of the pivot key, in order of value; each entry gets the place of its own. How many. */
static size_t pivots(const struct plan *p, struct entry *e, size_t n, const char **list)
{
    size_t n_list = 0;
    if (p->pivot == p->set->n_key) {
        list[0] = NULL;
        return 1;
    }
    qsort(e, n, sizeof *e, by_pivot);
    for (size_t i = 0; i < n; i++) {
        const char *v = e[i].r->value[p->pivot];
        if (n_list == 0 || tmx_value_compare(list[n_list - 1], v) != 0) {
            list[n_list++] = v;
        }
        e[i].pivot = n_list - 1;
    }
    return n_list;
}

void tmx_moments_add(struct tmx_moments *s, double v)
{
    const double d = v - s->mean;
    s->min = s->n == 0 || v < s->min ? v : s->min;
    s->max = s->n == 0 || v > s->max ? v : s->max;
    s->n++;
    s->mean += d / (double)s->n;
    s->m2 += d * (v - s->mean);
}

double tmx_moments_mean(const struct tmx_moments *s)
{
    return s->n > 0 ? s->mean : NAN;
}

double tmx_moments_sd(const struct tmx_moments *s)
{
    return s->n > 1 ? sqrt(s->m2 / (double)(s->n - 1)) : NAN;
}

double tmx_moments_ci95(const struct tmx_moments *s)
{
    return s->n > 1 ? gsl_cdf_tdist_Pinv(0.975, (double)(s->n - 1)) * tmx_moments_sd(s) / sqrt((double)s->n)
                    : NAN;
}

static double aggregate(const struct tmx_moments *s, enum tmx_aggregate a)
{
    switch (a) {
    case TMX_COUNT:
        return (double)s->n;
    case TMX_STDEV:
        return tmx_moments_sd(s);
    case TMX_CI95:
        return tmx_moments_ci95(s);
    case TMX_MIN:
        return s->n > 0 ? s->min : NAN;
    case TMX_MAX:
        return s->n > 0 ? s->max : NAN;
    default:
        return tmx_moments_mean(s);
    }
}

/* The n entries of one row, in order of their pivot values. */
static void fill_row(const struct plan *p, const struct entry *e, size_t n, size_t n_pivot,
                     struct tmx_table *t)
{
    const size_t n_of = p->q->n_aggregate > 0 ? p->q->n_aggregate : 1;
    for (size_t k = 0; k < p->n_row; k++) {
        tmx_table_text(t, e[0].r->value[p->row[k]]);
    }
    for (size_t i = 0, first = 0, next; i < n_pivot; i++, first = next) {
        for (next = first; next < n && e[next].pivot == i; next++) {
            for (size_t k = 0; p->q->pooled && k < p->set->n_key; k++) {
                p->q->pooled[k] =
                    p->q->pooled[k] || tmx_value_compare(e[first].r->value[k], e[next].r->value[k]) != 0;
            }
        }
        for (size_t v = 0; v < p->n_value; v++) {
            struct tmx_moments s = {0};
            for (size_t j = first; j < next; j++) {
                const double x = e[j].r->metric[p->value[v]];
                if (!isnan(x)) {
                    tmx_moments_add(&s, x);
                }
            }
            for (size_t a = 0; a < n_of; a++) {
                tmx_table_real_or_empty(t, aggregate(&s, p->q->aggregate[a]));
            }
        }
    }
    if (p->partial[0]) {
        tmx_table_text(t, p->partial);
    }
}

static struct tmx_table *table_of(const struct tmx_result_set *set, const size_t *key, size_t n_key)
{
    struct tmx_table *t = tmx_table_of("");
    for (size_t k = 0; k < n_key; k++) {
        tmx_table_extend(t, set->key[key ? key[k] : k], TMX_COLUMN_TEXT, TMX_TEXT_TYPED);
    }
    return t;
}

enum tmx_status tmx_pivot(const struct tmx_result_set *set, const struct tmx_query *q, struct tmx_table **t,
                          struct tmx_err *err)
{
    struct plan p;
    struct tmx_arena arena = {0};
    struct entry *e;
    const char **pivot;
    size_t n = 0;
    TMX_TAKE(&arena, e, set->n_run);
    TMX_TAKE(&arena, pivot, set->n_run + 1);
    tmx_arena_check(&arena, err);
    plan_init(&p, set, q, err);
    if (p.n_value == 0) {
        tmx_error(err, TMX_ECONFIG, "which metric? --value NAME");
    }
    for (size_t i = 0; i < set->n_run && !err->code; i++) {
        if (kept(&p, &set->run[i])) {
            e[n++] = (struct entry){.p = &p, .r = &set->run[i]};
        }
    }
    if (n == 0) {
        tmx_error(err, TMX_ECONFIG, NONE_FITS);
    }
    const size_t n_pivot = err->code ? 0 : pivots(&p, e, n, pivot),
                 n_of = q->n_aggregate > 0 ? q->n_aggregate : 1, n_cell = p.n_value * n_of;
    *t = err->code ? NULL : table_of(set, p.row, p.n_row);
    for (size_t i = 0; i < n_pivot * n_cell; i++) {
        const enum tmx_aggregate of = q->aggregate[i % n_of];
        const char *metric = set->metric[p.value[i % n_cell / n_of]],
                   *mark = of && n_of > 1 ? aggregates[of] : "", *over = pivot[i / n_cell];
        char label[LABEL];
        if (over && p.n_value > 1) {
            snprintf(label, sizeof label, "%s %s%s%s", over, metric, mark[0] ? "_" : "", mark);
        } else {
            snprintf(label, sizeof label, "%s%s%s", over ? over : metric, mark[0] ? over ? " " : "_" : "",
                     mark);
        }
        tmx_table_extend(*t, label, TMX_COLUMN_REAL, of == TMX_COUNT ? 0 : DECIMALS);
    }
    if (*t && p.partial[0]) {
        tmx_table_extend(*t, "status", TMX_COLUMN_TEXT, 0);
    }
    if (!tmx_table_check(*t, err)) {
        qsort(e, n, sizeof *e, by_rows);
    }
    for (size_t first = 0, next; !err->code && first < n; first = next) {
        for (next = first + 1; next < n && compare_rows(&e[first], &e[next]) == 0; next++) {
        }
        fill_row(&p, e + first, next - first, n_pivot, *t);
    }
    tmx_arena_finish(&arena);
    return err->code;
}

bool tmx_is_seed(const char *key)
{
    return strcmp(tmx_text_behind(key, '.'), "seed") == 0;
}

bool tmx_only_repeated(const struct tmx_result_set *set, const bool *pooled)
{
    bool only = true;
    for (size_t k = 0; k < set->n_key; k++) {
        only = only && (!pooled[k] || tmx_is_seed(set->key[k]));
    }
    return only;
}

enum tmx_status tmx_flat(const struct tmx_result_set *set, const struct tmx_query *q, struct tmx_table **t,
                         struct tmx_err *err)
{
    struct plan p;
    plan_init(&p, set, q, err);
    const size_t n_value = p.n_value ? p.n_value : set->n_metric;
    size_t n = 0;
    *t = err->code ? NULL : table_of(set, NULL, set->n_key);
    for (size_t v = 0; *t && v < n_value; v++) {
        tmx_table_extend(*t, set->metric[p.n_value ? p.value[v] : v], TMX_COLUMN_REAL, DECIMALS);
    }
    if (*t && p.partial[0]) {
        tmx_table_extend(*t, "status", TMX_COLUMN_TEXT, 0);
    }
    tmx_table_check(*t, err);
    for (size_t i = 0; i < set->n_run && !err->code; i++) {
        const struct tmx_result *r = &set->run[i];
        if (!kept(&p, r)) {
            continue;
        }
        n++;
        for (size_t k = 0; k < set->n_key; k++) {
            tmx_table_text(*t, r->value[k]);
        }
        for (size_t v = 0; v < n_value; v++) {
            tmx_table_real_or_empty(*t, r->metric[p.n_value ? p.value[v] : v]);
        }
        if (p.partial[0]) {
            tmx_table_text(*t, p.partial);
        }
    }
    if (n == 0 && q->n_where > 0) {
        tmx_error(err, TMX_ECONFIG, NONE_FITS);
    }
    return err->code;
}

struct tmx_table *tmx_failures(const struct tmx_result_set *set)
{
    struct tmx_table *t = table_of(set, NULL, set->n_key);
    tmx_table_extend(t, "error", TMX_COLUMN_TEXT, 0);
    for (size_t i = 0; i < set->n_run; i++) {
        for (size_t k = 0; !set->run[i].done && k <= set->n_key; k++) {
            tmx_table_text(t, k < set->n_key ? set->run[i].value[k] : set->run[i].error);
        }
    }
    return t;
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "papers/values.h"

#include <math.h>
#include <string.h>

#include "base/opt.h"
#include "study/analysis/pivot.h"

const char *const tmx_origins[] = {"fitted", "watched", "derived", "identity", "input", "unseen", NULL};
const char *const tmx_outcomes[] = {"in band", "not in band", "undecided", "no value", NULL};
static const char *const relations[] = {"equal", "at_most", "at_least", NULL};

enum { MAX_VALUES = 10000 };

struct tmx_value { /* one entry of `values` */
    char figure[64], quantity[128], name[128], unit[16], printed[64], as_one[64], headline[64], under[96];
    int origin, relation;
    bool follows; /* from other entries of the list, or cannot be missed: counted apart */
    bool weighs;  /* in a posterior */
    double value, band, band_pct, spread;
    double low, high; /* 5 and 95 % of the sets of a posterior */
    struct tmx_pick pick;
    bool has_minus, has_over;
    struct tmx_pick minus, over; /* ours is pick - minus, or pick / over */
};

#define PICK_ROWS(s)                                                                     \
    TMX_ROW_TEXT(s, of, "", "mix, kernel or batch, or a group of them"),                 \
        TMX_ROW_TEXT(s, policy, "", "policy or setup"),                                  \
        TMX_ROW_TEXT(s, column, "", "what is taken; absent: thermix does not model it"), \
        TMX_ROW_TEXT(s, variant, "", "variant of the suite")

static const struct tmx_opt pick_opts[] = {PICK_ROWS(tmx_pick), {0}};
static const char *const pick_also[] = {"figure",  "quantity", "name",   "unit",     "printed",  "value",
                                        "band",    "band_pct", "origin", "relation", "minus",    "over",
                                        "follows", "spread",   "as_one", "weighs",   "headline", "under",
                                        "low",     "high",     NULL};
static const char *const value_also[] = {"of", "policy", "column", "variant", "minus", "over", NULL};

static const double absent = 1e300;
static const struct tmx_opt value_opts[] = {
    TMX_ROW_TEXT(tmx_value, figure, NULL, "where the paper prints it"),
    TMX_ROW_TEXT(tmx_value, quantity, NULL, "what it is"),
    TMX_ROW_TEXT(tmx_value, name, "", "column `case`; absent: what is picked"),
    TMX_ROW_TEXT(tmx_value, unit, "percent", "unit"),
    TMX_ROW_CHOICE(tmx_value, origin, tmx_origins, NULL, "where our number comes from"),
    TMX_ROW_CHOICE(tmx_value, relation, relations, "equal", "how the paper relates the value to the number"),
    TMX_ROW_BOOL(tmx_value, follows, 0, "it follows from other values of the list, or nothing can miss it"),
    TMX_ROW_REAL(
        tmx_value, spread, "1", 0, 1e300, 0,
        "what tick, grid, seed and model move it: an order within twice that is undecided; a posterior "
        "adds it to the band"),
    TMX_ROW_TEXT(tmx_value, headline, "", "a line of the suite's first screen"),
    TMX_ROW_TEXT(tmx_value, under, "", "the group of headlines it is in"),
    TMX_ROW_REAL(tmx_value, low, "1", -1e300, 1e300, 1e300, "5 % of the sets of a posterior are below this"),
    TMX_ROW_REAL(tmx_value, high, "1", -1e300, 1e300, 1e300, "95 %"),
    TMX_ROW_TEXT(tmx_value, as_one, "",
                 "a posterior weighs values of one such name as one: the mean of their errors"),
    TMX_ROW_BOOL(tmx_value, weighs, 1, "it is in the weights of a posterior"),
    TMX_ROW_REAL(tmx_value, value, "1", -1e9, 1e300, 1e300, "the printed value"),
    TMX_ROW_TEXT(tmx_value, printed, "", "instead of value: the column of the suite that holds it"),
    TMX_ROW_REAL(tmx_value, band, "1", 0, 1e300, 1e300,
                 "how far ours may be off, stated before it was known"),
    TMX_ROW_REAL(tmx_value, band_pct, "percent", 0, 1e300, 1e300, "instead of band: in percent of the value"),
    {0},
};

enum tmx_status tmx_pick_check(const struct tmx_value_source *from, const struct tmx_pick *p,
                               const struct tmx_setting *at, struct tmx_err *err)
{
    char why[TMX_WHY] = "";
    (void)from->number(from->ctx, p, TMX_NAMES_ALONE, why);
    return why[0] ? tmx_fail_setting(err, at, "values: %s", why) : TMX_OK;
}

/* A second pick says only what differs from the first. */
static enum tmx_status read_second(const struct tmx_setting *e, const char *key,
                                   const struct tmx_value_source *from, const struct tmx_pick *first,
                                   struct tmx_pick *p, bool *there, struct tmx_err *err)
{
    const struct tmx_setting *g = tmx_setting_member(e, key);
    *there = g != NULL;
    enum tmx_status st = g ? tmx_opt_read(pick_opts, p, g, NULL, err) : TMX_OK;
    char *const to[] = {p->of, p->policy, p->column, p->variant};
    const char *const others[] = {first->of, first->policy, first->column, first->variant};
    const size_t size[] = {sizeof p->of, sizeof p->policy, sizeof p->column, sizeof p->variant};
    for (size_t i = 0; g && !st && i < 4; i++) {
        if (!to[i][0]) {
            memcpy(to[i], others[i], size[i]);
        }
    }
    return st || !g || !first->column[0] ? st : tmx_pick_check(from, p, e, err);
}

static enum tmx_status read_value(const struct tmx_setting *e, const struct tmx_value_source *from,
                                  struct tmx_value *v, struct tmx_err *err)
{
    enum tmx_status st = tmx_opt_read(value_opts, v, e, value_also, err);
    st = st ? st : tmx_opt_read(pick_opts, &v->pick, e, pick_also, err);
    if (st) {
        return st;
    }
    if (!v->pick.policy[0]) {
        snprintf(v->pick.policy, sizeof v->pick.policy, "%s", from->policy);
    }
    const struct {
        bool wrong;
        const char *words;
    } rules[] = {
        {(v->value < absent) == (v->printed[0] != '\0'), "expected either value or printed"},
        {(v->band < absent) == (v->band_pct < absent),
         "expected either band or band_pct, stated before the run"},
        {(v->headline[0] != '\0') != (v->under[0] != '\0'),
         "a headline is under a group: expected headline and under"},
        {(v->low < absent) != (v->high < absent) || v->low > v->high,
         "expected low and high of the sets, low first"},
        {tmx_setting_member(e, "minus") && tmx_setting_member(e, "over"), "expected either minus or over"}};
    for (size_t i = 0; i < sizeof rules / sizeof rules[0]; i++) {
        if (rules[i].wrong) {
            return tmx_fail_setting(err, e, "values: %s", rules[i].words);
        }
    }
    struct tmx_pick printed = v->pick;
    memcpy(printed.column, v->printed, sizeof printed.column);
    st = v->pick.column[0] ? tmx_pick_check(from, &v->pick, e, err) : TMX_OK;
    st = st ? st : read_second(e, "minus", from, &v->pick, &v->minus, &v->has_minus, err);
    st = st ? st : read_second(e, "over", from, &v->pick, &v->over, &v->has_over, err);
    return st || !v->pick.column[0] || !v->printed[0] ? st : tmx_pick_check(from, &printed, e, err);
}

enum tmx_status tmx_values_read(struct tmx_value_source *from, const struct tmx_setting *root,
                                struct tmx_err *err)
{
    const struct tmx_setting *list;
    enum tmx_status st = tmx_setting_list(root, "values", 0, MAX_VALUES, &list, err);
    from->any = !st && list;
    from->n_value = st ? 0 : tmx_setting_length(list);
    TMX_TAKE(&from->arena, from->value, from->n_value);
    st = st || from->value ? st : tmx_no_memory(err);
    for (size_t i = 0; !st && i < from->n_value; i++) {
        st = read_value(tmx_setting_at(list, i), from, &from->value[i], err);
    }
    return st;
}

void tmx_values_finish(struct tmx_value_source *from)
{
    tmx_arena_finish(&from->arena);
}

enum tmx_outcome tmx_value_outcome(enum tmx_paper_relation relation, double printed, double ours, double band)
{
    const double error = ours - printed;
    if (!isfinite(error)) {
        return TMX_NO_VALUE;
    }
    const double beyond = relation == TMX_PAPER_AT_MOST    ? error
                          : relation == TMX_PAPER_AT_LEAST ? -error
                                                           : fabs(error);
    return beyond <= band ? TMX_IN_BAND : TMX_OUT_OF_BAND;
}

double tmx_values_ours(const struct tmx_value_source *from, size_t value, size_t seed)
{
    const struct tmx_value *v = &from->value[value];
    char why[TMX_WHY];
    double ours = v->pick.column[0] ? from->number(from->ctx, &v->pick, seed, why) : NAN;
    ours -= v->has_minus ? from->number(from->ctx, &v->minus, seed, why) : 0;
    return v->has_over ? ours / from->number(from->ctx, &v->over, seed, why) : ours;
}

/* "of policy variant", and what the second pick has otherwise. */
static void describe(const struct tmx_value *v, char *text, size_t size)
{
    const struct tmx_pick *p = &v->pick, *q = v->has_minus ? &v->minus : v->has_over ? &v->over : p;
    if (v->name[0]) {
        snprintf(text, size, "%s", v->name);
        return;
    }
    const char *const has[] = {p->of, p->policy, p->variant}, *const other[] = {q->of, q->policy, q->variant};
    size_t n = 0;
    text[0] = '\0';
    for (size_t i = 0; i < 3 && n < size; i++) {
        n += has[i][0] ? (size_t)snprintf(text + n, size - n, "%s%s", n ? " " : "", has[i]) : 0;
    }
    for (size_t i = 0; i < 3 && n < size && q != p; i++) {
        if (strcmp(has[i], other[i]) != 0) {
            n += (size_t)snprintf(text + n, size - n, " %s %s", v->has_minus ? "less" : "over", other[i]);
        }
    }
}

struct tmx_table *tmx_values_table(const struct tmx_value_source *from, struct tmx_table **seeds)
{
    static const struct tmx_column columns[] = {
        TMX_TEXT("value"),    TMX_TEXT("paper"),     TMX_TEXT("figure"),         TMX_TEXT("quantity"),
        TMX_TEXT("case"),     TMX_TEXT("unit"),      TMX_REAL("paper_value", 2), TMX_REAL("ours", 2),
        TMX_REAL("sd", 2),    TMX_REAL("ci95", 2),   TMX_INT("seeds"),           TMX_TEXT("origin"),
        TMX_TEXT("relation"), TMX_REAL("error", 2),  TMX_REAL("band", 2),        TMX_TEXT("outcome"),
        TMX_TEXT("follows"),  TMX_REAL("spread", 2), TMX_TEXT("as_one"),         TMX_TEXT("weighs"),
        TMX_TEXT("headline"), TMX_TEXT("under"),     TMX_REAL("sets_low", 1),    TMX_REAL("sets_high", 1)};
    static const struct tmx_column of_seed[] = {TMX_TEXT("figure"), TMX_TEXT("quantity"), TMX_TEXT("case"),
                                                TMX_INT("seed"), TMX_REAL("ours", 2)};
    const size_t n_left = from->number_rows ? 0 : 1;
    const bool several = seeds && from->n_seed > 1;
    struct tmx_table *t = tmx_table_new(columns + n_left, sizeof columns / sizeof columns[0] - n_left);
    struct tmx_table *each = several ? tmx_table_new(of_seed, sizeof of_seed / sizeof of_seed[0]) : NULL;
    for (size_t i = 0; i < from->n_value; i++) {
        const struct tmx_value *v = &from->value[i];
        double printed = v->value;
        struct tmx_moments of = {0};
        char text[320], row[16], why[TMX_WHY];
        describe(v, text, sizeof text);
        for (size_t k = 0; k < from->n_seed; k++) {
            const double x = tmx_values_ours(from, i, k);
            tmx_moments_add(&of, x);
            tmx_table_row(each, "%s %s %s %zu %G", v->figure, v->quantity, text, from->first_seed + k, x);
        }
        if (v->printed[0]) {
            struct tmx_pick p = v->pick;
            memcpy(p.column, v->printed, sizeof p.column);
            printed = from->number(from->ctx, &p, 0, why);
        }
        const double mean = tmx_moments_mean(&of);
        const double band = v->band < absent ? v->band : fabs(printed) * v->band_pct / 100;
        const bool undecided = v->relation != TMX_PAPER_EQUAL && fabs(mean - printed) < 2 * v->spread;
        const enum tmx_outcome outcome =
            undecided ? TMX_UNDECIDED
                      : tmx_value_outcome((enum tmx_paper_relation)v->relation, printed, mean, band);
        if (from->number_rows) {
            snprintf(row, sizeof row, "v%zu", i + 1);
            tmx_table_text(t, row);
        }
        tmx_table_row(t, "%s %s %s %s %s %G %G %G %G %zu %s %s %G %G %s %s %g %s %s %s %s %G %G", from->paper,
                      v->figure, v->quantity, text, v->unit, printed, mean, tmx_moments_sd(&of),
                      tmx_moments_ci95(&of), from->n_seed,
                      tmx_origins[from->fitted && v->origin == TMX_WATCHED ? TMX_FITTED : v->origin],
                      relations[v->relation], mean - printed, band, tmx_outcomes[outcome],
                      v->follows ? "yes" : "no", v->spread, v->as_one, v->weighs ? "yes" : "no", v->headline,
                      v->under, v->low < absent ? v->low : NAN, v->high < absent ? v->high : NAN);
    }
    if (several) {
        *seeds = each;
    }
    return t;
}

bool tmx_values_find(const struct tmx_setting *root, const struct tmx_pick *pick, enum tmx_origin origin,
                     double *printed)
{
    const struct tmx_setting *list = tmx_setting_member(root, "values");
    for (size_t i = 0; list && i < tmx_setting_length(list); i++) {
        const struct tmx_setting *e = tmx_setting_at(list, i);
        struct tmx_value v;
        struct tmx_err none = {0};
        if (tmx_opt_read(value_opts, &v, e, value_also, &none) == TMX_OK &&
            tmx_opt_read(pick_opts, &v.pick, e, pick_also, &none) == TMX_OK && v.origin == (int)origin &&
            !tmx_setting_member(e, "minus") && !tmx_setting_member(e, "over") &&
            strcmp(v.pick.of, pick->of) == 0 && strcmp(v.pick.policy, pick->policy) == 0 &&
            strcmp(v.pick.column, pick->column) == 0 && strcmp(v.pick.variant, pick->variant) == 0) {
            *printed = v.value;
            return true;
        }
    }
    return false;
}

static size_t word_index(const char *const *words, const char *word)
{
    size_t i = 0;
    while (words[i] && strcmp(words[i], word) != 0) {
        i++;
    }
    return i;
}

void tmx_score_add(struct tmx_score *s, const char *origin, const char *outcome)
{
    const size_t o = word_index(tmx_origins, origin), k = word_index(tmx_outcomes, outcome);
    if (o < TMX_N_ORIGIN && k < TMX_N_OUTCOME) {
        s->n[o][k]++;
    }
}

size_t tmx_score_of(const struct tmx_score *s, enum tmx_origin o)
{
    size_t n = 0;
    for (size_t k = 0; k < TMX_N_OUTCOME; k++) {
        n += s->n[o][k];
    }
    return n;
}

const struct tmx_keys tmx_value_keys[] = {TMX_KEYS("values", pick_opts), TMX_KEYS("values", value_opts), {0}};

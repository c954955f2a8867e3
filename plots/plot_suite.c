/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _POSIX_C_SOURCE 200809L /* regcomp */
#include "plots/plot.h"

#include <math.h>
#include <regex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/opt.h"
#include "base/text.h"
#include "run/load/data.h"

enum { MAX_WHERE = 6, MAX_COLUMN = 24, MAX_WORD = 64 };

/* What a paper's suite draws, a row of scripts/suites.cfg, which says what the keys mean. */
struct part {
    char name[16], file[16], key[16], by[16], of[96], value[96], where[96], over[64], means_by[16];
    char figure[32], quantity[64], names[16];
    bool means;
};
struct figure {
    char paper[8], script[24], name[16], title[96], y[32];
    struct part *part; /* [n_part] owned; none: that of image.csv */
    size_t n_part;
};
struct figures {
    struct figure *figure; /* [n_figure] owned */
    size_t n_figure;
};

static const struct tmx_opt part_opts[] = {
    TMX_ROW_TEXT(part, name, "", "of the part; the first has none"),
    TMX_ROW_TEXT(part, file, NULL, "table that it is from"),
    TMX_ROW_TEXT(part, key, NULL, "its first column"),
    TMX_ROW_TEXT(part, by, "", "column of the words of `of`"),
    TMX_ROW_TEXT(part, of, "", "words of that column"),
    TMX_ROW_TEXT(part, value, NULL, "columns of numbers"),
    TMX_ROW_TEXT(part, where, "", "rows that count"),
    TMX_ROW_TEXT(part, over, "", "rows that numbers are divided by"),
    TMX_ROW_BOOL(part, means, 0, "the mean of the keys behind them"),
    TMX_ROW_TEXT(part, means_by, "", "and one for each value of this column"),
    TMX_ROW_TEXT(part, figure, "", "of the marks"),
    TMX_ROW_TEXT(part, quantity, "", "of the marks"),
    TMX_ROW_TEXT(part, names, "", "what paper.csv calls `of`"),
    {0},
};
static const struct tmx_keys parts[] = {
    {TMX_KEYS_LIST(figure, "parts", part, n_part, part_opts, 0, 7), .owned = true}, {0}};
static const struct tmx_opt figure_opts[] = {
    TMX_ROW_TEXT(figure, paper, NULL, "number of the paper"),
    TMX_ROW_TEXT(figure, script, NULL, "that draws it"),
    TMX_ROW_TEXT(figure, name, NULL, "of the picture"),
    TMX_ROW_TEXT(figure, title, "", "words of quantity.gp; of others: their own"),
    TMX_ROW_TEXT(figure, y, "", "likewise"),
    {0},
};
static const struct tmx_keys lists[] = {
    {TMX_KEYS_LIST(figures, "figures", figure, n_figure, figure_opts, 1, 100), .inner = parts, .owned = true},
    {0}};
static const struct tmx_opt no_opts[] = {{0}};
static const struct tmx_keys file_keys[] = {{.group = "", .opts = no_opts, .inner = lists}, {0}};

/* ---- rows that hold what is asked ---- */

struct rows {
    const struct tmx_csv *csv;
    struct {
        size_t column;
        bool pattern;
        const char *text; /* own, or a cell */
        char own[MAX_WORD];
        regex_t match;
    } is[MAX_WHERE];
    size_t n;
};

static bool matches(const char *pattern, const char *text)
{
    regex_t match;
    const bool is = regcomp(&match, pattern, REG_EXTENDED | REG_NOSUB) == 0;
    const bool found = is && regexec(&match, text, 0, NULL, 0) == 0;
    if (is) {
        regfree(&match);
    }
    return found;
}

/* "all" where the column has it, else its first by letter. */
static const char *first_of(const struct tmx_csv *c, size_t column)
{
    const char *first = c->n_row > 0 ? tmx_csv_cell(c, 0, column) : "";
    for (size_t r = 0; r < c->n_row; r++) {
        const char *v = tmx_csv_cell(c, r, column);
        if (strcmp(v, "all") == 0) {
            return v;
        }
        first = strcmp(v, first) < 0 ? v : first;
    }
    return first;
}

static void rows_begin(struct rows *w, const struct tmx_csv *c, const char *where)
{
    *w = (struct rows){.csv = c};
    while (*where) {
        char key[MAX_WORD], value[MAX_WORD];
        const size_t n = strcspn(where, ";"), at = strcspn(where, "=~");
        snprintf(key, sizeof key, "%.*s", (int)at, where);
        snprintf(value, sizeof value, "%.*s", (int)(n - at - 1), where + at + 1);
        const size_t column = tmx_csv_column(c, key);
        if (column < c->n_column) {
            tmx_assert(w->n < MAX_WHERE);
            w->is[w->n].column = column;
            w->is[w->n].pattern = where[at] == '~';
            snprintf(w->is[w->n].own, MAX_WORD, "%s", value);
            w->is[w->n].text = strcmp(value, "?") == 0 ? first_of(c, column) : w->is[w->n].own;
            const int wrong =
                w->is[w->n].pattern ? regcomp(&w->is[w->n].match, value, REG_EXTENDED | REG_NOSUB) : 0;
            tmx_assert(!wrong);
            w->n++;
        }
        where += n + (where[n] == ';');
    }
}

static bool holds(const struct rows *w, size_t r)
{
    bool all = true;
    for (size_t i = 0; i < w->n && all; i++) {
        const char *v = tmx_csv_cell(w->csv, r, w->is[i].column);
        all = w->is[i].pattern ? regexec(&w->is[i].match, v, 0, NULL, 0) == 0 : strcmp(v, w->is[i].text) == 0;
    }
    return all;
}

static void rows_end(struct rows *w)
{
    for (size_t i = 0; i < w->n; i++) {
        if (w->is[i].pattern) {
            regfree(&w->is[i].match);
        }
    }
}

/* ---- one part ---- */

/* Word i of a text of words; false after the last. */
static bool word(const char *words, size_t i, char buf[MAX_WORD])
{
    for (; *words; i--) {
        const size_t n = strcspn(words, " ");
        if (i == 0) {
            snprintf(buf, MAX_WORD, "%.*s", (int)n, words);
            return true;
        }
        words += n + (words[n] == ' ');
    }
    return false;
}

struct column { /* of the part */
    char of[MAX_WORD];
    size_t value;
};

struct grid {
    const struct part *part;
    const struct tmx_csv *csv;
    size_t key, by; /* columns of csv; by: n_column where there is no choice */
    struct column column[MAX_COLUMN];
    size_t n_column;
    struct tmx_arena arena;
    size_t *first; /* [n] a row of csv with each key */
    size_t n;
    double *v; /* [n * n_column]; NaN: none */
};

static bool of_column(const struct grid *g, size_t c, size_t r)
{
    return g->by == g->csv->n_column || strcmp(tmx_csv_cell(g->csv, r, g->by), g->column[c].of) == 0;
}

/* The mean over the rows of a key; NaN: it has none. chosen: those of column c's policy alone. */
static double mean_of(const struct grid *g, const struct rows *w, size_t c, const char *key, bool chosen)
{
    double sum = 0, v;
    size_t n = 0;
    for (size_t r = 0; r < g->csv->n_row; r++) {
        if (strcmp(tmx_csv_cell(g->csv, r, g->key), key) == 0 && holds(w, r) &&
            (!chosen || of_column(g, c, r)) && tmx_csv_real(g->csv, r, g->column[c].value, &v)) {
            sum += v;
            n++;
        }
    }
    return n > 0 ? sum / (double)n : NAN;
}

static void fill(struct grid *g, struct tmx_plot *p)
{
    struct rows where, over;
    const struct tmx_csv *csv = g->csv;
    TMX_TAKE(&g->arena, g->first, csv->n_row + 1);
    tmx_arena_check(&g->arena, p->err);
    if (p->err->code) {
        return;
    }
    rows_begin(&where, csv, g->part->where);
    rows_begin(&over, csv, g->part->over);
    for (size_t r = 0; r < csv->n_row; r++) { /* the keys in their order */
        bool is = false;
        for (size_t c = 0; c < g->n_column && !is; c++) {
            is = of_column(g, c, r) && holds(&where, r);
        }
        for (size_t k = 0; k < g->n && is; k++) {
            is = strcmp(tmx_csv_cell(csv, g->first[k], g->key), tmx_csv_cell(csv, r, g->key)) != 0;
        }
        if (is) {
            g->first[g->n++] = r;
        }
    }
    TMX_TAKE(&g->arena, g->v, g->n * g->n_column + 1);
    for (size_t i = 0; g->v && i < g->n * g->n_column; i++) {
        const char *key = tmx_csv_cell(csv, g->first[i / g->n_column], g->key);
        const size_t c = i % g->n_column;
        g->v[i] = mean_of(g, &where, c, key, true);
        if (g->part->over[0]) {
            const double base = mean_of(g, &over, c, key, false);
            g->v[i] = isnan(g->v[i]) ? NAN : isnan(base) || base == 0 ? 0 : g->v[i] / base;
        }
    }
    rows_end(&where);
    rows_end(&over);
    tmx_arena_check(&g->arena, p->err);
}

/* A row: the mean over the keys whose `kind` has this value (SIZE_MAX: over all). */
static void put_mean(struct tmx_table *t, const struct grid *g, const char *name, size_t kind, const char *of)
{
    tmx_table_text(t, name);
    for (size_t c = 0; c < g->n_column; c++) {
        double sum = 0;
        size_t n = 0;
        for (size_t k = 0; k < g->n; k++) {
            const double v = g->v[k * g->n_column + c];
            if (!isnan(v) && (kind == SIZE_MAX || strcmp(tmx_csv_cell(g->csv, g->first[k], kind), of) == 0)) {
                sum += v;
                n++;
            }
        }
        tmx_table_real_or_empty(t, sum / (double)n);
    }
}

static struct tmx_table *table_of(const struct grid *g)
{
    struct tmx_table *t = tmx_table_of(g->part->key);
    for (size_t c = 0; c < g->n_column; c++) {
        const char *value = g->column[c].value < g->csv->n_column ? g->csv->column[g->column[c].value] : "";
        char name[3 * MAX_WORD];
        snprintf(name, sizeof name, "%s%s%s", g->column[c].of,
                 g->column[c].of[0] && strchr(g->part->value, ' ') ? "." : "",
                 !g->column[c].of[0] || strchr(g->part->value, ' ') ? value : "");
        tmx_table_extend(t, name, TMX_COLUMN_REAL, 4);
    }
    for (size_t k = 0; k < g->n; k++) {
        tmx_table_text(t, tmx_csv_cell(g->csv, g->first[k], g->key));
        for (size_t c = 0; c < g->n_column; c++) {
            tmx_table_real_or_empty(t, g->v[k * g->n_column + c]);
        }
    }
    const size_t kind = tmx_csv_column(g->csv, g->part->means_by);
    for (size_t k = 0; k < g->n && kind < g->csv->n_column; k++) {
        const char *of = tmx_csv_cell(g->csv, g->first[k], kind);
        bool seen = false;
        for (size_t i = 0; i < k && !seen; i++) {
            seen = strcmp(tmx_csv_cell(g->csv, g->first[i], kind), of) == 0;
        }
        if (!seen) {
            char mean[2 * MAX_WORD];
            snprintf(mean, sizeof mean, "mean_%.100s", of);
            put_mean(t, g, mean, kind, of);
        }
    }
    if (g->part->means && g->n > 0) {
        put_mean(t, g, "mean", SIZE_MAX, "");
    }
    return t;
}

/* ---- the paper's values beside bars ---- */

static void replace(char *text, const char *from, const char *to)
{
    char *at = strstr(text, from), rest[4 * MAX_WORD];
    if (at) {
        snprintf(rest, sizeof rest, "%s", at + strlen(from));
        *at = '\0';
        snprintf(at, 4 * MAX_WORD - strlen(text), "%s%s", to, rest);
    }
}

/* A case of paper.csv, "GROUP NAME", "mean NAME" or "mean KIND NAME", as the bars have them: group in `text`,
 * with _ for blanks; false when it is of another name. */
static bool group_of(const char *paper_case, const char *name, char text[4 * MAX_WORD])
{
    snprintf(text, 4 * MAX_WORD, "%.200s", paper_case);
    if (tmx_text_ends(text, " fit all")) {
        text[strlen(text) - 8] = '\0';
        text[strlen(text) - tmx_text_ends(text, ",")] = '\0';
    }
    if (strncmp(text, "geometric ", 10) == 0) {
        memmove(text, text + 10, strlen(text + 10) + 1);
    }
    replace(text, "mean type ", "mean ");
    replace(text, " 30 cores", "_30");
    if (tmx_text_ends(text, " 60 cores")) {
        text[strlen(text) - 9] = '\0';
    }
    const bool mean = strcmp(text, name) == 0;
    const size_t at = mean || tmx_text_ends(text, name) ? strlen(text) - strlen(name) : 0;
    if (!mean && (at == 0 || text[at - 1] != ' ')) {
        return false;
    }
    snprintf(text + (mean ? 0 : at - 1), 8, "%s", mean ? "mean" : "");
    for (char *c = text; *c; c++) {
        *c = *c == ' ' ? '_' : *c;
    }
    return true;
}

static void put_marks(struct tmx_plot *p, const struct figure *f, const struct part *part, const char *folder,
                      const struct tmx_table *bars)
{
    char pattern[4 * MAX_WORD], name[MAX_WORD], group[4 * MAX_WORD];
    struct tmx_csv paper;
    (void)tmx_plot_read(p, folder, "paper.csv", false, &paper);
    const size_t figure = tmx_csv_column(&paper, "figure"), quantity = tmx_csv_column(&paper, "quantity"),
                 value = tmx_csv_column(&paper, "paper_value"), relation = tmx_csv_column(&paper, "relation"),
                 of = tmx_csv_column(&paper, "case"), n = paper.n_column;
    const bool has = !p->err->code && figure < n && quantity < n && value < n && of < n;
    struct tmx_table *t = tmx_table_of("group:d bar:d paper_value:2");
    snprintf(pattern, sizeof pattern, "^(%s)$", part->figure);
    for (size_t r = 0; has && r < paper.n_row; r++) {
        double v;
        if (!tmx_csv_real(&paper, r, value, &v) || !matches(pattern, tmx_csv_cell(&paper, r, figure)) ||
            !matches(part->quantity, tmx_csv_cell(&paper, r, quantity)) ||
            (relation < n && strcmp(tmx_csv_cell(&paper, r, relation), "equal") != 0)) {
            continue; /* a bound has no place among bars */
        }
        for (size_t i = 0; word(part->names[0] ? part->names : part->of, i, name); i++) {
            const bool is = group_of(tmx_csv_cell(&paper, r, of), name, group);
            for (size_t g = 0; g < tmx_table_rows(bars) && is; g++) {
                if (strcmp(tmx_table_cell(bars, g, 0)->text, group) == 0) {
                    tmx_table_row(t, "%zu %zu %g", g, i + 1, v);
                }
            }
        }
    }
    if (tmx_table_rows(t) > 0) {
        tmx_plot_number(p, "has_paper", 1);
        snprintf(name, sizeof name, "%s_paper", part->name);
        tmx_plot_data(p, f->name, name, t);
    } else {
        tmx_table_destroy(t);
    }
    tmx_csv_finish(&paper);
}

/* Returns the table of the part without a name, which is drawn; NULL of another. */
static struct tmx_table *put_part(struct tmx_plot *p, const struct figure *f, const struct part *part,
                                  const char *folder)
{
    struct tmx_csv csv;
    struct tmx_table *t = NULL;
    char value[MAX_WORD], name[MAX_WORD];
    (void)tmx_plot_read(p, folder, part->file, false, &csv);
    struct grid g = {.part = part,
                     .csv = &csv,
                     .key = tmx_csv_column(&csv, part->key),
                     .by = tmx_csv_column(&csv, part->by)};
    for (size_t i = 0; word(part->value, i, value); i++) {
        const size_t column = tmx_csv_column(&csv, value);
        if (csv.n_row > 0 && (column == csv.n_column || g.key == csv.n_column)) {
            tmx_error_at(p->err, TMX_EPARSE, csv.source, 1, "expected the columns %s and %s", part->key,
                         value);
        }
        for (size_t k = 0; k == 0 || word(part->of, k, name); k++) {
            tmx_assert(g.n_column < MAX_COLUMN);
            g.column[g.n_column].value = column;
            (void)word(part->of, k, g.column[g.n_column].of);
            g.n_column++;
        }
    }
    if (!p->err->code) {
        fill(&g, p);
    }
    if (!p->err->code) {
        t = table_of(&g);
        for (size_t i = 0; word(part->of, i, name); i++) {
            tmx_plot_label(p, "name", name);
        }
        tmx_plot_number(p, "n_group", (double)tmx_table_rows(t));
        if (part->figure[0]) {
            put_marks(p, f, part, folder, t);
        }
    }
    if (part->name[0]) {
        tmx_plot_data(p, f->name, part->name, t);
        tmx_plot_labels(p, f->name, part->name);
        t = NULL;
    }
    tmx_arena_finish(&g.arena);
    tmx_csv_finish(&csv);
    return t;
}

struct cell {
    struct tmx_pareto_point at; /* core, us */
    double ipc;
};

/* Figure 8 of paper 000: the IPC of each core from one sample to the core's next one. */
static struct tmx_table *put_image(struct tmx_plot *p, const char *folder)
{
    static const char *const policies[] = {"all", "tcs", "tcs(throttling=false)", "htcs"};
    struct tmx_csv csv;
    struct tmx_table *t = tmx_table_of("policy:d core:d from_us:4 to_us:4 ipc:4");
    (void)tmx_plot_read(p, folder, "image.csv", false, &csv);
    const size_t policy = tmx_csv_column(&csv, "policy"), time = tmx_csv_column(&csv, "time_us"),
                 core = tmx_csv_column(&csv, "core"), ipc = tmx_csv_column(&csv, "ipc");
    struct cell *cell = calloc(csv.n_row + 1, sizeof *cell);
    tmx_memory_check(cell, p->err);
    for (size_t i = 0; i < sizeof policies / sizeof policies[0] && cell; i++) {
        size_t n = 0;
        for (size_t r = 0; r < csv.n_row && policy < csv.n_column; r++) {
            const double c = tmx_csv_value(&csv, r, core);
            cell[n] = (struct cell){{.x = floor(c), .y = tmx_csv_value(&csv, r, time)},
                                    tmx_csv_value(&csv, r, ipc)};
            n += strcmp(tmx_csv_cell(&csv, r, policy), policies[i]) == 0 && c >= 0 && c < 1e6 &&
                 !isnan(cell[n].at.y) && !isnan(cell[n].ipc);
        }
        qsort(cell, n, sizeof *cell, tmx_pareto_order);
        for (size_t k = 0; k + 1 < n; k++) {
            if (cell[k].at.x == cell[k + 1].at.x) {
                tmx_table_row(t, "%zu %zu %g %g %g", i + 1, (size_t)cell[k].at.x, cell[k].at.y,
                              cell[k + 1].at.y, cell[k].ipc);
            }
        }
        tmx_plot_label(p, "name", policies[i]);
    }
    free(cell);
    tmx_csv_finish(&csv);
    return t;
}

void tmx_plot_suite(struct tmx_plot *p, const char *folder)
{
    char paper[16], path[TMX_PATH_SIZE];
    struct figures all = {0};
    /* The paper that the folder's paper.csv is of; "day" by the columns of table.csv; "" for anything else.
     */
    struct tmx_csv csv;
    paper[0] = '\0';
    const bool compared = tmx_plot_read(p, folder, "paper.csv", false, &csv);
    if (!compared && tmx_plot_read(p, folder, "table.csv", false, &csv) &&
        tmx_csv_column(&csv, "gpus") < csv.n_column && tmx_csv_column(&csv, "wait_mean_s") < csv.n_column) {
        snprintf(paper, 16, "day");
    } else if (compared && csv.n_row > 0 && tmx_csv_column(&csv, "paper") < csv.n_column) {
        snprintf(paper, 16, "%s", tmx_csv_at(&csv, 0, "paper"));
    }
    tmx_csv_finish(&csv);
    (void)(paper[0] && (tmx_data_file("plots/scripts/suites.cfg", path, p->err) ||
                        tmx_keys_load(file_keys, &all, path, NULL, NULL, p->err)));
    for (const struct figure *f = all.figure; !p->err->code && f < all.figure + all.n_figure; f++) {
        snprintf(path, sizeof path, "%s/%s", folder, f->n_part > 0 ? f->part[0].file : "image.csv");
        if (strcmp(f->paper, paper) != 0 || !tmx_plot_wants(p, f->name) || !tmx_os_exists(path)) {
            continue;
        }
        tmx_plot_folder(p);
        struct tmx_table *t = f->n_part == 0 ? put_image(p, folder) : NULL;
        for (size_t k = 1; k <= f->n_part; k++) { /* the first last: its labels are the figure's */
            t = put_part(p, f, &f->part[k % f->n_part], folder);
        }
        if (f->title[0]) { /* scripts/quantity.gp's */
            tmx_plot_words(p, f->title, NULL, f->y);
            tmx_plot_numbers(p, "wide high", (double[]){10, 4.4});
        }
        tmx_plot_draw(p, f->script, f->name, t); /* a table that was stopped has nothing of it */
    }
    for (size_t i = 0; i < all.n_figure; i++) {
        free(all.figure[i].part);
    }
    free(all.figure);
}

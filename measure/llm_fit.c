/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A phase has seven numbers and few rows, so each part is fitted by what is linear in it or nearly so:
 *
 *   prompt  max(c0, c1 + c2 n + c3 max(0, n - 2048)): least squares of log ratios, by a simplex from the
 * rows' own floor and slope, begun again from its end
 *
 *   token   a + b B + c KV, KV = B (prompt + half of the output): relative least squares; a coefficient that
 *           comes out below 0 is left out
 *
 * Repeats count as their median. Every cell is predicted once by a fit that has not seen it: the error left
 * out. */
#include "measure/measure.h"

#include <gsl/gsl_multifit.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/config.h"
#include "base/csv.h"
#include "base/curve.h"
#include "base/os.h"
#include "base/output.h"
#include "base/plausible.h"
#include "base/text.h"
#include "run/load/data.h"

enum { MAX_ROWS = 20000, MAX_TP = 256, MAX_LEFT_OUT = 10000, N_PROMPT = 4, N_TOKEN = 3 };

static const double MAX_VALUE = 1e9; /* tokens, ms, shares: beyond, the fits lose their digits */

struct row {
    char gpu[64];
    int tp;
    double prompt, batch, output, prompt_ms, token_ms, peak, mean;
    char hardware[64]; /* as it is written */
    unsigned line;
};

struct cell { /* repeats: n prompt tokens, or a batch with its cache */
    double n, batch, cached, ms;
};

static const char *const names[] = {"prompt_size", "batch_size", "token_size",
                                    "prompt_time", "token_time", "tensor_parallel",
                                    "hardware",    "peak_power", "average_power"};
enum { TP = 5, HARDWARE = 6, PEAK = 7, N_NAME = sizeof names / sizeof names[0] };

static void read_row(const struct tmx_csv *csv, size_t r, const size_t *column, const struct tmx_llm *like,
                     struct row *row, struct tmx_err *err)
{
    double v[N_NAME] = {0};
    for (size_t c = 0; c < N_NAME; c++) {
        const bool optional = c >= HARDWARE;
        if (c == HARDWARE ||
            (optional && (column[c] == csv->n_column || !tmx_csv_cell(csv, r, column[c])[0]))) {
            continue; /* not measured */
        }
        if (!tmx_csv_real(csv, r, column[c], &v[c]) || v[c] > MAX_VALUE ||
            (optional ? v[c] < 0 : !(v[c] >= 1 / MAX_VALUE))) {
            tmx_error_at(err, TMX_EPARSE, csv->source, csv->line[r],
                         "%s = \"%.40s\": expected a number %s 0, up to %g", names[c],
                         tmx_csv_cell(csv, r, column[c]), optional ? "from" : "above", MAX_VALUE);
        }
    }
    for (size_t c = 0; c < 3; c++) {
        if (v[c] != floor(v[c])) {
            tmx_error_at(err, TMX_EPARSE, csv->source, csv->line[r],
                         "%s = \"%.40s\": expected a whole number", names[c],
                         tmx_csv_cell(csv, r, column[c]));
        }
    }
    if (v[TP] != floor(v[TP]) || v[TP] > MAX_TP) {
        tmx_error_at(err, TMX_EPARSE, csv->source, csv->line[r],
                     "tensor_parallel = \"%.40s\": expected a number of GPUs up to %d",
                     tmx_csv_cell(csv, r, column[TP]), MAX_TP);
    }
    const char *hardware =
        column[HARDWARE] < csv->n_column ? tmx_csv_cell(csv, r, column[HARDWARE]) : like->phase[0].gpu;
    if (!*hardware || *hardware == '-' || strlen(hardware) >= sizeof row->gpu) {
        tmx_error_at(err, TMX_EPARSE, csv->source, csv->line[r],
                     "hardware = \"%.80s\": expected a chip's name", hardware);
    }
    *row = (struct row){.tp = err->code ? 0 : (int)v[TP],
                        .prompt = v[0],
                        .batch = v[1],
                        .output = v[2],
                        .prompt_ms = v[3],
                        .token_ms = v[4],
                        .peak = v[PEAK],
                        .mean = v[PEAK + 1],
                        .line = csv->line[r]};
    snprintf(row->hardware, sizeof row->hardware, "%s", hardware);
}

/* The chip of each row: a100-pcie is one, a100-80gb is a100: the longest name that is one; else what is
 * before the first dash. Two machines that become one are named. */
static void find_chips(const char *path, struct row *rows, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        size_t k = i;
        while (k > 0 && strcmp(rows[k - 1].hardware, rows[i].hardware) != 0) {
            k--;
        }
        if (k > 0) {
            memcpy(rows[i].gpu, rows[k - 1].gpu, sizeof rows[i].gpu);
            continue;
        }
        char path_of[TMX_PATH_SIZE], *gpu = rows[i].gpu;
        snprintf(gpu, sizeof rows[i].gpu, "%s", rows[i].hardware);
        while (tmx_data_find(TMX_DATA_CHIP, gpu, path_of, NULL)) {
            char *dash = strrchr(gpu, '-');
            if (!dash) {
                snprintf(gpu, sizeof rows[i].gpu, "%.*s", (int)strcspn(rows[i].hardware, "-"),
                         rows[i].hardware);
                break;
            }
            *dash = '\0';
        }
        for (size_t other = 0; other < i; other++) {
            if (strcmp(rows[other].gpu, rows[i].gpu) == 0) {
                tmx_warn("%s:%u: %s and %s (line %u) are both chip %s: their rows count as one machine's",
                         path, rows[i].line, rows[i].hardware, rows[other].hardware, rows[other].line,
                         rows[i].gpu);
                break;
            }
        }
    }
}

/* Least and largest of a column are of its unit. */
static void check_units(const char *path, const struct row *rows, size_t n, struct tmx_err *err)
{
    static const struct {
        size_t field;
        const char *name, *unit;
    } columns[] = {{offsetof(struct row, prompt_ms), "prompt_time", "ms"},
                   {offsetof(struct row, token_ms), "token_time", "ms"},
                   {offsetof(struct row, prompt), "prompt_size", "tokens"},
                   {offsetof(struct row, output), "token_size", "tokens"},
                   {offsetof(struct row, batch), "batch_size", "requests"},
                   {offsetof(struct row, peak), "peak_power", "of the board's limit"},
                   {offsetof(struct row, mean), "average_power", "of the board's limit"}};
    size_t exchanged = 0, above = 0, wide = 0, first = 0, first_above = 0;
    for (size_t i = 0; i < n; i++) {
        const bool is =
            rows[i].prompt_ms<0.9 * rows[i].token_ms, over = rows[i].peak> 0 && rows[i].mean > rows[i].peak;
        first = is && exchanged == 0 ? i : first;
        first_above = over && above == 0 ? i : first_above;
        exchanged += is;
        wide += rows[i].batch > rows[i].prompt;
        above += over;
    }
    if (wide == n && !tmx_plausible_accepted()) {
        tmx_error_at(err, TMX_EPARSE, path, rows[0].line,
                     "batch_size is above prompt_size in every row: are they exchanged? --accept takes them");
    }
    if (exchanged > 0) {
        tmx_warn("%s:%u: prompts take less than a token in %zu of %zu rows: are prompt_time and token_time "
                 "exchanged?",
                 path, rows[first].line, exchanged, n);
    }
    if (above > 0) {
        tmx_warn("%s:%u: average_power = %g is above peak_power = %g, in %zu of %zu rows", path,
                 rows[first_above].line, rows[first_above].mean, rows[first_above].peak, above, n);
    }
    for (size_t c = 0; c < sizeof columns / sizeof columns[0] && !err->code; c++) {
        size_t low = SIZE_MAX, high = SIZE_MAX;
        double v, least = INFINITY, most = 0;
        for (size_t i = 0; i < n; i++) {
            memcpy(&v, (const char *)&rows[i] + columns[c].field, sizeof v);
            low = v > 0 && v < least ? i : low;
            high = v > most ? i : high;
            least = v > 0 ? fmin(least, v) : least;
            most = fmax(most, v);
        }
        if (!(low < n &&
              tmx_plausible(NULL, columns[c].name, columns[c].unit, least, path, rows[low].line, err)) &&
            high < n && high != low) {
            (void)!tmx_plausible(NULL, columns[c].name, columns[c].unit, most, path, rows[high].line, err);
        }
    }
}

/* In the arena; NULL after an error. */
static struct row *read_rows(const char *path, const struct tmx_llm *like, size_t *n, struct tmx_arena *arena,
                             struct tmx_err *err)
{
    struct tmx_csv csv = {0};
    struct row *rows = NULL;
    size_t column[N_NAME + 1], *model = &column[N_NAME];
    *n = 0;
    tmx_csv_read(&csv, path, err);
    for (size_t c = 0; !err->code && c < N_NAME; c++) {
        column[c] = tmx_csv_column(&csv, names[c]);
        if (column[c] == csv.n_column && c < HARDWARE) {
            tmx_error_at(
                err, TMX_EPARSE, path, 1,
                "no column %s; expected prompt_size, batch_size, token_size, prompt_time, token_time [ms], "
                "tensor_parallel",
                names[c]);
        }
    }
    if (!err->code) {
        *model = tmx_csv_column(&csv, "model");
        tmx_csv_idle(&csv, column, N_NAME + 1);
    }
    if (csv.n_row == 0 || csv.n_row > MAX_ROWS) {
        tmx_error_at(err, TMX_EPARSE, path, 0, "%zu rows, expected 1 to %d", csv.n_row, MAX_ROWS);
    }
    if (!err->code && !TMX_TAKE(arena, rows, csv.n_row)) {
        tmx_no_memory(err);
    }
    for (size_t r = 0; !err->code && r < csv.n_row; r++) {
        read_row(&csv, r, column, like, &rows[(*n)++], err);
        if (*model < csv.n_column &&
            strcmp(tmx_csv_cell(&csv, r, *model), tmx_csv_cell(&csv, 0, *model)) != 0) {
            tmx_error_at(err, TMX_EPARSE, path, csv.line[r],
                         "model = \"%.80s\", after \"%.80s\" in line %u: expected the rows of one model",
                         tmx_csv_cell(&csv, r, *model), tmx_csv_cell(&csv, 0, *model), csv.line[0]);
        }
    }
    tmx_csv_finish(&csv);
    if (!err->code) {
        find_chips(path, rows, *n);
        check_units(path, rows, *n, err);
    }
    return err->code ? NULL : rows;
}

static double median(double *v, size_t n)
{
    qsort(v, n, sizeof *v, tmx_real_compare);
    return n == 0 ? NAN : n % 2 ? v[n / 2] : (v[n / 2 - 1] + v[n / 2]) / 2;
}

static bool same_phase(const struct row *a, const struct row *b)
{
    return a->tp == b->tp && strcmp(a->gpu, b->gpu) == 0;
}

/* Is it a row of this phase and size and, for tokens, of this output? */
static bool alike(const struct row *a, const struct row *b, bool token)
{
    return same_phase(a, b) && a->prompt == b->prompt && a->batch == b->batch &&
           (!token || a->output == b->output);
}

static int by_size(const void *a, const void *b)
{
    const struct cell *x = a, *y = b;
    const double d[] = {x->batch - y->batch, x->n - y->n, x->cached - y->cached, x->ms - y->ms};
    size_t i = 0;
    while (i < 3 && d[i] == 0) {
        i++;
    }
    return (d[i] > 0) - (d[i] < 0);
}

/* The cells of the phase of row `first`, by their sizes, so that the order of rows does not matter; scratch
 * has room for all rows. */
static size_t make_cells(const struct row *rows, size_t n, size_t first, bool token, struct cell *cell,
                         double *scratch)
{
    size_t n_cell = 0;
    for (size_t i = 0; i < n; i++) {
        const struct row *r = &rows[i];
        bool seen = !same_phase(r, &rows[first]);
        for (size_t k = 0; k < i && !seen; k++) {
            seen = alike(&rows[k], r, token);
        }
        size_t m = 0;
        for (size_t k = i; k < n && !seen; k++) {
            if (alike(&rows[k], r, token)) {
                scratch[m++] = token ? rows[k].token_ms : rows[k].prompt_ms;
            }
        }
        if (!seen) {
            cell[n_cell++] = (struct cell){r->prompt * r->batch, r->batch,
                                           r->batch * (r->prompt + r->output / 2), median(scratch, m)};
        }
    }
    qsort(cell, n_cell, sizeof *cell, by_size);
    return n_cell;
}

/* Repeats that differ, and times that fall while the batch grows: of the phase of row `first`. */
static void warn_of_rows(const char *path, const struct row *rows, size_t n, size_t first, bool token)
{
    static const double REPEATS = 0.2, FALL = 0.05;
    const char *name = token ? "token_time" : "prompt_time";
    size_t n_fall = 0, n_spread = 0;
    for (size_t i = 0; i < n; i++) {
        const struct row *r = &rows[i];
        bool seen = !same_phase(r, &rows[first]);
        double low = INFINITY, high = 0;
        for (size_t k = 0; k < n && !seen; k++) {
            const double ms = token ? rows[k].token_ms : rows[k].prompt_ms;
            seen = k < i && alike(&rows[k], r, token);
            low = alike(&rows[k], r, token) ? fmin(low, ms) : low;
            high = alike(&rows[k], r, token) ? fmax(high, ms) : high;
        }
        if (!seen && high > (1 + REPEATS) * low && n_spread++ == 0) {
            tmx_warn("%s:%u: %s of a prompt of %g, batch %g, is from %g to %g ms in its repeats", path,
                     r->line, name, r->prompt, r->batch, low, high);
        }
        for (size_t k = 0; k < n && !seen; k++) { /* the next larger batch, or prompt of single requests */
            const struct row *s = &rows[k];
            const bool output = !token || s->output == r->output,
                       wider = output && s->prompt == r->prompt && s->batch > r->batch,
                       longer = output && s->prompt > r->prompt && s->batch == r->batch;
            const double ms = token ? s->token_ms : s->prompt_ms, was_ms = token ? r->token_ms : r->prompt_ms;
            if (same_phase(s, r) && (wider || longer) && ms < (1 - FALL) * was_ms) {
                if (n_fall++ == 0) {
                    tmx_warn("%s:%u: %s falls to %g ms at %s %g, from %g ms at %g (line %u)", path, s->line,
                             name, ms, wider ? "batch" : "a prompt of", wider ? s->batch : s->prompt, was_ms,
                             wider ? r->batch : r->prompt, r->line);
                }
                break;
            }
        }
    }
    if (n_fall > 1 || n_spread > 1) {
        tmx_warn("%s: %s of %s at %d: %zu rows from which times fall as size grows, %zu cells whose repeats "
                 "differ by "
                 "more than %g %%",
                 path, name, rows[first].gpu, rows[first].tp, n_fall, n_spread, 100 * REPEATS);
    }
}

/* Numbers from those of a simplex, which are free. */
static void free_to_prompt(const double *x, double c[N_PROMPT])
{
    for (size_t i = 0; i < N_PROMPT; i++) {
        c[i] = exp(x[i]);
    }
}

struct fit {
    const struct cell *cell;
    size_t n, without; /* cell left out; SIZE_MAX: none */
};

static double prompt_ms(const double *c, double n)
{
    const struct tmx_llm_phase p = {.prompt_ms = {c[0], c[1], c[2], c[3]}};
    return 1e3 * tmx_llm_prompt_s(&p, n);
}

static double token_ms(const double *c, const struct cell *x)
{
    return c[0] + c[1] * x->batch + c[2] * x->cached;
}

static double misfit(const double *x, void *ctx)
{
    const struct fit *f = ctx;
    double c[N_PROMPT], sum = 0;
    free_to_prompt(x, c);
    for (size_t i = 0; i < f->n; i++) {
        const double e = i == f->without ? 0 : log(prompt_ms(c, f->cell[i].n) / f->cell[i].ms);
        sum += e * e;
    }
    return sum;
}

static void fit_prompt(const struct fit *f, double c[N_PROMPT], struct tmx_err *err)
{
    enum { ROUNDS = 6, STEPS = 600 };
    double least = INFINITY, most = 0, most_n = 0;
    for (size_t i = 0; i < f->n; i++) {
        least = i == f->without ? least : fmin(least, f->cell[i].ms);
        if (i != f->without && f->cell[i].n > most_n) {
            most_n = f->cell[i].n;
            most = f->cell[i].ms;
        }
    }
    double x[N_PROMPT] = {log(least), log(0.3 * least), log(0.7 * most / most_n), log(0.1 * most / most_n)};
    for (int round = 0; round < ROUNDS && !err->code; round++) {
        tmx_minimise(misfit, (void *)(uintptr_t)f, N_PROMPT, x, 0.3, 1e-6, STEPS, err);
    }
    free_to_prompt(x, c);
}

/* A coefficient that comes out below 0 is left out. */
static void fit_token(const struct fit *f, double c[N_TOKEN], struct tmx_err *err)
{
    const size_t n = f->n - (f->without < f->n);
    /* columns that are used, as bits: of one batch nothing follows for others */
    unsigned use = f->cell[0].batch == f->cell[f->n - 1].batch ? 5 : 7;
    for (bool fits = false; !fits && !err->code;) {
        const size_t p = (size_t)((use & 1) + (use >> 1 & 1) + (use >> 2 & 1));
        gsl_matrix *a = gsl_matrix_alloc(n, p), *cov = gsl_matrix_alloc(p, p);
        gsl_vector *y = gsl_vector_alloc(n), *x = gsl_vector_alloc(p);
        gsl_multifit_linear_workspace *w = gsl_multifit_linear_alloc(n, p);
        double chisq;
        tmx_memory_check(a && cov && y && x && w, err);
        for (size_t i = 0, r = 0; !err->code && i < f->n; i++) {
            const double v[N_TOKEN] = {1, f->cell[i].batch, f->cell[i].cached};
            for (size_t k = 0, at = 0; i != f->without && k < N_TOKEN; k++) {
                if (use >> k & 1) {
                    gsl_matrix_set(a, r, at++, v[k] / f->cell[i].ms);
                }
            }
            if (i != f->without) {
                gsl_vector_set(y, r++, 1);
            }
        }
        const bool solved = !err->code && gsl_multifit_linear(a, y, x, cov, &chisq, w) == GSL_SUCCESS;
        for (size_t k = 0, at = 0; k < N_TOKEN; k++) {
            c[k] = !solved ? NAN : use >> k & 1 ? gsl_vector_get(x, at++) : 0;
        }
        if (!isfinite(c[1]) || !isfinite(c[2])) {
            tmx_error(err, TMX_ESOLVE, "no fit of the token times of %zu cells", n);
        }
        gsl_matrix_free(a);
        gsl_matrix_free(cov);
        gsl_vector_free(y);
        gsl_vector_free(x);
        gsl_multifit_linear_free(w);
        fits = c[1] >= 0 && c[2] >= 0;
        use &= c[2] < c[1] * 1e-3 ? 3u : 5u; /* the more negative for a token of the cache */
    }
}

static double error_pct(const double *c, const struct cell *x, bool token)
{
    return 100 * fabs((token ? token_ms(c, x) : prompt_ms(c, x->n)) / x->ms - 1);
}

/* What an iteration has to do: tokens of its prompts, or in the cache of its sequences. */
static double load(const struct cell *x, bool token)
{
    return token ? x->cached : x->n;
}

/* The fit of all cells, and of all but each: of more than a hundred, of all but each of some. */
static void fit_cells(const struct cell *cell, size_t n, bool token, const char *path, const struct row *of,
                      double *c, struct tmx_table *t, struct tmx_err *err)
{
    double mean = 0, worst = 0, left_mean = 0, left_worst = 0;
    if (n < 6) {
        tmx_error_at(err, TMX_EPARSE, path, of->line, "%s at %d: %zu cells of %s times, expected 6 or more",
                     of->gpu, of->tp, n, token ? "token" : "prompt");
        return;
    }
    size_t few = 0, many = 0;
    for (size_t i = 1; i < n; i++) {
        few = load(&cell[i], token) < load(&cell[few], token) ? i : few;
        many = load(&cell[i], token) > load(&cell[many], token) ? i : many;
    }
    if (cell[many].ms < 0.9 * cell[few].ms) { /* a tenth is taken for noise */
        tmx_error_at(
            err, TMX_EPARSE, path, of->line,
            "%s at %d: %s times fall, from %g ms with %g tokens to %g ms with %g; expected them to rise",
            of->gpu, of->tp, token ? "token" : "prompt", cell[few].ms, load(&cell[few], token), cell[many].ms,
            load(&cell[many], token));
        return;
    }
    void (*const fit)(const struct fit *, double *, struct tmx_err *) = token ? fit_token : fit_prompt;
    fit(&(struct fit){cell, n, SIZE_MAX}, c, err);
    const size_t every = 1 + (n - 1) * n / MAX_LEFT_OUT, n_left = (n + every - 1) / every;
    for (size_t i = 0; !err->code && i < n; i++) {
        const double e = error_pct(c, &cell[i], token);
        mean += e / (double)n;
        worst = fmax(worst, e);
    }
    for (size_t i = 0; !err->code && i < n; i += every) {
        double other[N_PROMPT];
        fit(&(struct fit){cell, n, i}, other, err);
        const double left = err->code ? 0 : error_pct(other, &cell[i], token);
        left_mean += left / (double)n_left;
        left_worst = fmax(left_worst, left);
    }
    if (!err->code) {
        tmx_table_row(t, "%s %d %s %zu %g %g %g %g", of->gpu, of->tp, token ? "token" : "prompt", n, mean,
                      worst, left_mean, left_worst);
    }
}

/* Shares of the power limit: peaks of single requests by prompt; tokens by what a request's mean leaves for
 * them. */
static void fit_watts(const char *path, const struct row *rows, size_t n, size_t first,
                      const struct tmx_llm_phase *like, struct tmx_llm_phase *p, double *scratch)
{
    double *tokens = scratch + n; /* [n] */
    size_t n_tokens = 0, m = 0;
    for (size_t i = 0; i < n; i++) {
        bool known = rows[i].batch != 1 || rows[i].peak <= 0 || !same_phase(&rows[i], &rows[first]);
        for (size_t k = 0; k < n_tokens; k++) {
            known = known || tokens[k] == rows[i].prompt;
        }
        if (!known) {
            tokens[n_tokens++] = rows[i].prompt;
        }
    }
    qsort(tokens, n_tokens, sizeof *tokens, tmx_real_compare);
    if (n_tokens > TMX_LLM_POINTS) { /* evenly by rank, both ends included */
        tmx_warn(
            "%s: peak_power of %zu prompt sizes; the model's file has room for %d of them, evenly chosen",
            path, n_tokens, TMX_LLM_POINTS);
        for (size_t k = 0; k < TMX_LLM_POINTS; k++) {
            tokens[k] = tokens[k * (n_tokens - 1) / (TMX_LLM_POINTS - 1)];
        }
        n_tokens = TMX_LLM_POINTS;
    }
    for (size_t k = 0; k < n_tokens; k++) {
        size_t n_peak = 0;
        for (size_t i = 0; i < n; i++) {
            if (rows[i].batch == 1 && rows[i].prompt == tokens[k] && rows[i].peak > 0 &&
                same_phase(&rows[i], &rows[first])) {
                scratch[n_peak++] = rows[i].peak;
            }
        }
        p->prompt_tokens[k] = tokens[k];
        p->prompt_share[k] = median(scratch, n_peak);
    }
    p->n_point = n_tokens;
    for (size_t i = 0; i < n; i++) { /* longer prompts' means are doubtful in the rows that are known */
        const struct row *r = &rows[i];
        const double token_s = r->token_ms * (r->output - 1);
        if (r->batch == 1 && r->prompt == 512 && r->output > 1 && r->mean > 0 && r->peak > 0 &&
            same_phase(r, &rows[first])) {
            scratch[m++] = (r->mean * (r->prompt_ms + token_s) - r->peak * r->prompt_ms) / token_s;
        }
    }
    p->token_share = m > 0 ? fmax(0, median(scratch, m)) : like->token_share;
    if (m == 0) {
        tmx_warn("%s: %s at %d: no row of batch 1, a prompt of 512, peak_power and average_power; "
                 "token_share = %g is that of --like",
                 path, p->gpu, p->tp, like->token_share);
    }
    if (n_tokens == 0) { /* no watts in the rows */
        tmx_warn("%s: %s at %d: no row of batch 1 with peak_power; prompt_share is that of --like", path,
                 p->gpu, p->tp);
        p->n_point = like->n_point;
        memcpy(p->prompt_tokens, like->prompt_tokens, sizeof p->prompt_tokens);
        memcpy(p->prompt_share, like->prompt_share, sizeof p->prompt_share);
    }
}

static void fit_phase(const char *path, const struct row *rows, size_t n, size_t first,
                      const struct tmx_llm *like, struct tmx_llm *m, struct cell *cell, double *scratch,
                      struct tmx_table *t, struct tmx_err *err)
{
    struct tmx_llm_phase *p = &m->phase[m->n_phase++];
    const struct tmx_llm_phase *same = &like->phase[0];
    for (size_t k = 0; k < like->n_phase; k++) {
        const bool gpu = strcmp(like->phase[k].gpu, rows[first].gpu) == 0;
        same = gpu && (strcmp(same->gpu, rows[first].gpu) != 0 || like->phase[k].tp == rows[first].tp)
                   ? &like->phase[k]
                   : same;
    }
    *p = (struct tmx_llm_phase){.tp = rows[first].tp,
                                .memory_bytes = same->memory_bytes,
                                .idle_w = same->idle_w,
                                .token_w_per_sequence = same->token_w_per_sequence};
    snprintf(p->gpu, sizeof p->gpu, "%s", rows[first].gpu);
    if (strcmp(same->gpu, p->gpu) != 0 || same->tp != p->tp) {
        tmx_warn("%s: %s at %d is not in --like: memory_bytes = %g, idle_w = %g and token_w_per_sequence = "
                 "%g are those of "
                 "%s at %d",
                 path, p->gpu, p->tp, same->memory_bytes, same->idle_w, same->token_w_per_sequence, same->gpu,
                 same->tp);
    }
    for (size_t i = 0; i < n; i++) {
        if (same_phase(&rows[i], &rows[first])) {
            p->max_prompt = fmax(p->max_prompt, rows[i].prompt);
            p->max_batch = fmax(p->max_batch, rows[i].batch);
        }
    }
    warn_of_rows(path, rows, n, first, false);
    warn_of_rows(path, rows, n, first, true);
    for (int token = 0; token < 2 && !err->code; token++) {
        const size_t n_cell = make_cells(rows, n, first, token, cell, scratch);
        fit_cells(cell, n_cell, token, path, &rows[first], token ? p->token_ms : p->prompt_ms, t, err);
    }
    fit_watts(path, rows, n, first, same, p, scratch);
}

enum tmx_status tmx_llm_fit(const char *path, const struct tmx_llm *like, struct tmx_llm *m,
                            struct tmx_table **errors, struct tmx_err *err)
{
    struct tmx_err failed = {0};
    struct tmx_arena arena = {0};
    struct cell *cell;
    double *scratch;
    size_t n;
    *m = *like;
    m->config = NULL;
    m->n_phase = 0;
    snprintf(m->source, sizeof m->source,
             "fitted by thermix llm fit to %.300s; weights, heads, shares and idle watts are those of %.60s",
             path, like->name);
    const struct row *rows = read_rows(path, like, &n, &arena, &failed);
    *errors =
        rows ? tmx_table_of(
                   "gpu tp:d time cells:d mean_pct:2 worst_pct:2 left_out_mean_pct:2 left_out_worst_pct:2")
             : NULL;
    TMX_TAKE(&arena, cell, n);
    if (!TMX_TAKE(&arena, scratch, 2 * n) || !*errors) {
        tmx_error(&failed, TMX_ENOMEM, "out of memory");
    }
    for (size_t i = 0; !failed.code && i < n; i++) {
        bool seen = false;
        for (size_t k = 0; k < i && !seen; k++) {
            seen = same_phase(&rows[k], &rows[i]);
        }
        if (!seen && m->n_phase == TMX_LLM_PHASES) {
            tmx_error_at(&failed, TMX_ERANGE, path, 0, "more than %d chips and degrees", TMX_LLM_PHASES);
        } else if (!seen) {
            fit_phase(path, rows, n, i, like, m, cell, scratch, *errors, &failed);
        }
    }
    tmx_arena_finish(&arena);
    return tmx_error_give(err, &failed);
}

static void write_numbers(const char *key, const double *v, size_t n, FILE *out)
{
    fprintf(out, " %s = [", key);
    for (size_t i = 0; i < n; i++) {
        fprintf(out, "%s%#.6g", i ? ", " : "", v[i]);
    }
    fputs("];", out);
}

static void print_model(const struct tmx_llm *m, FILE *out)
{
    fputs("# Phases of a language model; docs/formats.md, Serving.\nname = ", out);
    tmx_config_quote(m->name, out);
    fputs(";\nsource = ", out);
    tmx_config_quote(m->source, out);
    fprintf(out,
            ";\nweights_bytes = %#.6g;\nlayers = %d;\nkv_heads = %d;\nhead_dim = %d;\nvalue_bytes = %d;\n"
            "m_prompt = %#.4g;\nm_token = %#.4g;\nprompt_dram_share = %#.4g;\ntoken_dram_share = "
            "%#.4g;\nl2_share = %#.4g;\n"
            "phases = (\n",
            m->weights_bytes, m->layers, m->kv_heads, m->head_dim, m->value_bytes, m->m_prompt, m->m_token,
            m->prompt_dram_share, m->token_dram_share, m->l2_share);
    for (size_t i = 0; i < m->n_phase; i++) {
        const struct tmx_llm_phase *p = &m->phase[i];
        fputs("    { gpu = ", out);
        tmx_config_quote(p->gpu, out);
        fprintf(out, "; tp = %d; memory_bytes = %#.6g; idle_w = %#.6g; token_share = %#.4g;", p->tp,
                p->memory_bytes, p->idle_w, p->token_share);
        fprintf(out, " token_w_per_sequence = %#.4g; max_prompt = %#.6g; max_batch = %#.6g;\n     ",
                p->token_w_per_sequence, p->max_prompt, p->max_batch);
        write_numbers("prompt_ms", p->prompt_ms, N_PROMPT, out);
        write_numbers("token_ms", p->token_ms, N_TOKEN, out);
        write_numbers("prompt_tokens", p->prompt_tokens, p->n_point, out);
        write_numbers("prompt_share", p->prompt_share, p->n_point, out);
        fprintf(out, " }%s\n", i + 1 < m->n_phase ? "," : "");
    }
    fputs(");\n", out);
}

/* What is written is what a run reads: read it before it is there. */
static enum tmx_status check_model(const struct tmx_llm *m, struct tmx_err *err)
{
    char folder[TMX_PATH_SIZE - 16], path[TMX_PATH_SIZE];
    struct tmx_output o = {0};
    struct tmx_llm again = {0};
    struct tmx_err why = {0};
    const enum tmx_status st = tmx_os_temp_dir(folder, sizeof folder, err);
    if (st) {
        return st;
    }
    snprintf(path, sizeof path, "%s/model.cfg", folder);
    if (!tmx_output_open(&o, path, &why)) {
        print_model(m, o.file);
        (void)(tmx_output_commit(&o, &why) || tmx_llm_load(&again, path, &why));
    }
    tmx_llm_finish(&again);
    remove(path);
    remove(folder);
    return why.code ? tmx_fail(err, why.code, "a run would refuse this fit: %s", why.msg) : TMX_OK;
}

enum tmx_status tmx_llm_write(const struct tmx_llm *m, const char *path, struct tmx_err *err)
{
    struct tmx_output o = {0};
    enum tmx_status st = check_model(m, err);
    st = st || !path ? st : tmx_output_open(&o, path, err);
    if (st || !path) {
        return st;
    }
    print_model(m, o.file);
    return tmx_output_commit(&o, err);
}

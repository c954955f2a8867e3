/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "core/serve/serve.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cost.h"
#include "base/csv.h"
#include "base/plausible.h"
#include "base/rng.h"
#include "base/text.h"

static const char *const processes[] = {"trace", "poisson", NULL}; /* enum tmx_request_process */

const struct tmx_opt tmx_request_opts[] = {
    TMX_ROW_NAME(tmx_request_options, file, "",
                 "trace: a table of requests; docs/formats.md lists the formats"),
    TMX_ROW_NAME(tmx_request_options, sizes, "",
                 "poisson: a trace whose pairs of input and output are drawn; it needs no times"),
    TMX_ROW_CHOICE(tmx_request_options, process, processes, "trace", "arrivals as in the file, or drawn"),
    TMX_ROW_REAL(tmx_request_options, rate_per_s, "1/s", 0, 1e6, 0,
                 "poisson: mean rate of arrivals; with noise their median"),
    TMX_ROW_REAL(tmx_request_options, day, "1", 0, 1, 0, "poisson: the rate swings by this share over a day"),
    TMX_ROW_REAL(tmx_request_options, noise, "1", 0, 2, 0,
                 "poisson: standard deviation of the rate's logarithm"),
    TMX_ROW_REAL(tmx_request_options, noise_s, "s", 1, 1e6, 60, "poisson: correlation time of that noise"),
    TMX_ROW_REAL(tmx_request_options, duration_s, "s", 0, 1e8, 0, "arrivals end; 0: by count"),
    TMX_ROW_INT(tmx_request_options, count, "1", 0, 100000000, 0, "most requests; 0: all"),
    TMX_ROW_REAL(tmx_request_options, speed, "1", 1e-3, 1e3, 1, "trace: arrivals come so many times as fast"),
    TMX_ROW_REAL(tmx_request_options, high, "1", 0, 1, 1,
                 "share of high priority where the trace has no class, by a hash of the row"),
    {0},
};

enum { MOST = 100000000, MAX_TOKENS = 100000000 };

/* NONE: a column that must be 0, as what it counts is in no other */
enum column { ARRIVAL, INPUT, OUTPUT, CLASS, NONE, N_COLUMN };
enum { MAX_SKIPPED = 8 };

/* The tables that are known, by their columns. */
static const struct format {
    const char *name;                 /* for messages */
    const char *column[N_COLUMN];     /* NULL where the format has none */
    double unit_s;                    /* of arrivals; 0: a date and a time */
    const char *skipped[MAX_SKIPPED]; /* columns without an effect */
    bool failures;                    /* a row of no output is a request that failed */
} formats[] = {
    {.name = "thermix", /* its requests.csv */
     .column = {"arrival_s", "input_tokens", "output_tokens", "class"},
     .unit_s = 1,
     .skipped = {"instance", "token_instance", "ttft_s", "e2e_s", "beyond_fit"}},
    {.name = "Azure", .column = {"TIMESTAMP", "ContextTokens", "GeneratedTokens", NULL, "NumImages"}},
    {.name = "vidur",
     .column = {"arrived_at", "num_prefill_tokens", "num_decode_tokens"},
     .unit_s = 1,
     .skipped = {"num_total_tokens", "pd_ratio"}},
    {.name = "splitwise-sim",
     .column = {"arrival_timestamp", "prompt_size", "token_size"},
     .unit_s = 1,
     .skipped = {"request_id", "request_type", "application_id", "batch_size"}},
    {.name = "BurstGPT",
     .column = {"Timestamp", "Request tokens", "Response tokens"},
     .unit_s = 1,
     .skipped = {"Model", "Total tokens", "Log Type", "Session ID", "Elapsed time"},
     .failures = true},
    {.name = "Mooncake",
     .column = {"timestamp", "input_length", "output_length"},
     .unit_s = 1e-3,
     .skipped = {"hash_ids"}},
    {.name = "LLMServingSim", .column = {"arrival_time_ns", "input_toks", "output_toks"}, .unit_s = 1e-9},
};
enum { N_FORMAT = sizeof formats / sizeof formats[0] };

struct reader {
    struct tmx_request_list *list;
    const struct tmx_request_options *o;
    bool sizes; /* only input and output count */
    const struct format *format;
    size_t column[N_COLUMN], total;
    struct tmx_moment first;
    double last_s;                   /* arrival of the row before, as it is written */
    double first_s;                  /* of the first row, as it is written */
    bool unlike;                     /* a row's total is not input and output */
    size_t n_row, n_failed, n_drawn; /* rows; of them without output; whose class is drawn */
};

/* A request whose row (or number) decides on its class. */
static bool is_high(uint64_t row, double share)
{
    uint64_t x = row + 0x9e3779b97f4a7c15u; /* splitmix64 */
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    x ^= x >> 31;
    return (double)(x >> 11) * 0x1p-53 < share;
}

static void append(struct tmx_request_list *l, double arrival_s, double input, double output, int class_of,
                   struct tmx_err *err)
{
    if (!err->code && (l->n & (l->n - 1)) == 0) { /* room doubles at powers of two */
        struct tmx_llm_request *p = realloc(l->request, (l->n ? 2 * l->n : 1) * sizeof *p);
        l->request = p ? p : l->request;
        if (!p) {
            tmx_error(err, TMX_ENOMEM, "%zu requests", l->n);
        }
    }
    if (!err->code) {
        l->request[l->n++] = (struct tmx_llm_request){.arrival_s = arrival_s,
                                                      .first_s = -1,
                                                      .done_s = -1,
                                                      .input = (uint32_t)input,
                                                      .output = (uint32_t)output & 0xfffffff,
                                                      .next = UINT32_MAX,
                                                      .class_of = class_of > 0};
    }
}

/* The format whose columns the table has, and none but those and what may be skipped, which is printed. */
static void find_columns(struct reader *r, const struct tmx_csv *csv, struct tmx_err *err)
{
    const char *known[N_COLUMN + MAX_SKIPPED];
    char hint[TMX_HINT_SIZE];
    const struct format *f = formats;
    size_t n = 0;
    for (size_t found = 0; f < formats + N_FORMAT; f++, found = 0) {
        for (size_t c = 0; c < N_COLUMN; c++) {
            r->column[c] = f->column[c] ? tmx_csv_column(csv, f->column[c]) : csv->n_column;
            found += c > ARRIVAL && c < CLASS && r->column[c] < csv->n_column;
        }
        if (found == CLASS - 1) {
            break;
        }
    }
    if (f == formats + N_FORMAT) {
        tmx_error_at(err, TMX_EPARSE, csv->source, csv->head_line,
                     "no header of requests; expected arrival_s,input_tokens,output_tokens[,class], or the "
                     "columns of Azure (TIMESTAMP,ContextTokens,GeneratedTokens), vidur (arrived_at,"
                     "num_prefill_tokens,num_decode_tokens), splitwise-sim (arrival_timestamp, prompt_size, "
                     "token_size), BurstGPT, Mooncake or LLMServingSim");
        return;
    }
    if (r->column[ARRIVAL] == csv->n_column && !r->sizes) {
        tmx_error_at(err, TMX_EPARSE, csv->source, csv->head_line,
                     "no column %s: a trace without times; process = \"poisson\" draws arrivals, with this "
                     "file as sizes",
                     f->column[ARRIVAL]);
    }
    r->format = f;
    r->total = tmx_csv_column(csv, f->failures ? "Total tokens" : "num_total_tokens");
    for (size_t c = 0; c < N_COLUMN + MAX_SKIPPED; c++) {
        const char *name = c < N_COLUMN ? f->column[c] : f->skipped[c - N_COLUMN];
        if (name) {
            known[n++] = name;
        }
    }
    for (size_t c = 0; c < csv->n_column; c++) {
        const char *name = csv->column[c];
        const bool index = !*name || strncmp(name, "Unnamed: ", 9) == 0; /* of the rows */
        if (!index && tmx_names_find(name, known, n) == n) {
            tmx_error_at(err, TMX_EPARSE, csv->source, csv->head_line,
                         "unknown column \"%.60s\" of a trace of %s%s", name, f->name,
                         tmx_suggest(hint, name, known, n));
        }
    }
    if (!err->code) {
        tmx_csv_idle(csv, r->column, N_COLUMN);
    }
}

/* At the row that is read. */
#define FAIL(...) tmx_error_at(err, TMX_EPARSE, csv->source, csv->line[0], __VA_ARGS__)

static double tokens(const struct tmx_csv *csv, size_t column, struct tmx_err *err)
{
    double v = 0;
    if (!tmx_csv_real(csv, 0, column, &v) || v < 1 || v > MAX_TOKENS || v != floor(v)) {
        FAIL("%s = \"%.40s\": expected a whole number of tokens from 1 on", csv->column[column],
             tmx_csv_cell(csv, 0, column));
    }
    return v;
}

/* Seconds as they are written, from the first date on. */
static double arrival(struct reader *r, const struct tmx_csv *csv, struct tmx_err *err)
{
    const size_t c = r->column[ARRIVAL];
    const bool date = r->format->unit_s == 0;
    struct tmx_moment m = {0};
    double s = 0;
    if (date ? !tmx_moment_read(tmx_csv_cell(csv, 0, c), &m) : !tmx_csv_real(csv, 0, c, &s) || s < 0) {
        FAIL("%s = \"%.40s\": expected %s", csv->column[c], tmx_csv_cell(csv, 0, c),
             date ? "a date and a time, 2023-11-16 18:17:03.9799600, and a zone or none"
                  : "a number from 0 on");
    }
    r->first = r->n_row == 0 ? m : r->first;
    if (m.zoned != r->first.zoned || m.zone_min != r->first.zone_min) {
        FAIL("%s = \"%.40s\": another zone than in the first row; expected one", csv->column[c],
             tmx_csv_cell(csv, 0, c));
    }
    return date ? tmx_moment_since(&m, &r->first) : s * r->format->unit_s;
}

static enum tmx_status row(void *ctx, const struct tmx_csv *csv, struct tmx_err *err)
{
    struct reader *r = ctx;
    struct tmx_request_list *l = r->list;
    double none, total;
    if (csv->n_row == 0) {
        find_columns(r, csv, err);
        return err->code;
    }
    if (!r->sizes && r->o->count > 0 && l->n >= (size_t)r->o->count) {
        return TMX_OK;
    }
    if (r->column[NONE] < csv->n_column && (!tmx_csv_real(csv, 0, r->column[NONE], &none) || none != 0)) {
        FAIL("%s = \"%.40s\": no column counts the tokens of images; expected 0, or the tokens in %s",
             r->format->column[NONE], tmx_csv_cell(csv, 0, r->column[NONE]), r->format->column[INPUT]);
        return err->code;
    }
    if (r->format->failures && strcmp(tmx_csv_cell(csv, 0, r->column[OUTPUT]), "0") == 0) {
        r->n_failed++;
        return TMX_OK;
    }
    const double arrival_s = r->sizes ? 0 : arrival(r, csv, err), input = tokens(csv, r->column[INPUT], err),
                 output = tokens(csv, r->column[OUTPUT], err), time_s = arrival_s / r->o->speed;
    const char *class_of = r->column[CLASS] < csv->n_column ? tmx_csv_cell(csv, 0, r->column[CLASS]) : "";
    const bool drawn = !*class_of, low = drawn ? !is_high(l->n, r->o->high)
                                               : strcmp(class_of, "low") == 0 || strcmp(class_of, "1") == 0;
    if (!drawn && !low && strcmp(class_of, "high") != 0 && strcmp(class_of, "0") != 0) {
        FAIL("class = \"%.40s\": expected high (0) or low (1)", class_of);
    }
    if (r->n_row > 0 && arrival_s < r->last_s) {
        FAIL("this request arrives before the one above it; expected times that do not fall");
    }
    if (err->code) {
        return err->code;
    }
    if (!r->unlike && r->total < csv->n_column &&
        (!tmx_csv_real(csv, 0, r->total, &total) || total != input + output)) {
        r->unlike = true;
        tmx_warn("%s:%u: %s = %s: expected %g, the sum of %s and %s", csv->source, csv->line[0],
                 csv->column[r->total], tmx_csv_cell(csv, 0, r->total), input + output,
                 r->format->column[INPUT], r->format->column[OUTPUT]);
    }
    r->n_drawn += drawn;
    l->first_line = r->n_row == 0 ? csv->line[0] : l->first_line;
    r->first_s = r->n_row++ == 0 ? arrival_s : r->first_s;
    r->last_s = arrival_s;
    if (r->sizes || !(r->o->duration_s > 0) || time_s < r->o->duration_s) {
        append(l, time_s, input, output, low, err);
    }
    return err->code;
}

/* A pair of streams: arrivals and sizes; the noise has a third, so that it is the same at every rate. */
static void draw(struct tmx_request_list *l, const struct tmx_request_list *sizes,
                 const struct tmx_request_options *o, uint64_t seed, struct tmx_err *err)
{
    static const double pi = 3.14159265358979323846;
    struct tmx_rng *gaps = NULL, *pairs = NULL, *noise = NULL;
    const size_t most = o->count > 0 ? (size_t)o->count : MOST;
    const double rho = exp(-1 / o->noise_s), end_s = o->duration_s > 0 ? o->duration_s : INFINITY;
    (void)(err->code || tmx_rng_create(&gaps, seed, "requests", err) ||
           tmx_rng_create(&pairs, seed, "request sizes", err) ||
           tmx_rng_create(&noise, seed, "request rate", err));
    double left = err->code ? 0 : tmx_rng_exponential(gaps, 1); /* of the integral of the rate */
    double log_rate = !err->code && o->noise > 0 ? tmx_rng_normal(noise, o->noise) : 0;
    for (double t = 0; !err->code && l->n < most && t < end_s;
         t += 1) { /* the rate is constant for a second */
        const double day = 1 + o->day * sin(2 * pi * t / 86400), rate = o->rate_per_s * day * exp(log_rate);
        double at_s = 0; /* into this second */
        while (!err->code && l->n < most && left <= rate * (1 - at_s)) {
            at_s += left / rate;
            left = tmx_rng_exponential(gaps, 1);
            const struct tmx_llm_request *size = &sizes->request[tmx_rng_below(pairs, sizes->n)];
            if (t + at_s < end_s) {
                append(l, t + at_s, size->input, size->output, !is_high(l->n, o->high), err);
            }
        }
        left -= rate * (1 - at_s);
        log_rate = o->noise > 0 ? rho * log_rate + tmx_rng_normal(noise, o->noise * sqrt(1 - rho * rho)) : 0;
    }
    tmx_rng_destroy(gaps);
    tmx_rng_destroy(pairs);
    tmx_rng_destroy(noise);
}

static void read_trace(struct tmx_request_list *l, const struct tmx_request_options *o, const char *path,
                       bool sizes, const struct tmx_setting *at, struct tmx_err *err)
{
    struct reader r = {.list = l, .o = o, .sizes = sizes};
    if (!err->code) {
        tmx_csv_each(path, row, &r, err);
    }
    if (l->n == 0) {
        tmx_error_setting(err, at, "%s: no request%s", path, r.n_row > 0 ? " arrives before duration_s" : "");
    }
    if (!err->code && !sizes) {
        /* what a slip of units makes of a trace */
        static const double SPARSE_S = 300; /* a mean gap above it is no service's: assumed */
        const double span_s = r.last_s - r.first_s, gap_s = r.n_row > 1 ? span_s / (double)(r.n_row - 1) : 0;
        if (o->high < 1 && r.n_drawn == 0) {
            tmx_warn("%s: requests.high = %g does nothing: every request has a class", path, o->high);
        }
        if (r.n_failed > 0) {
            tmx_warn("%s: %zu requests with no output, which are failures, are left out", path, r.n_failed);
        }
        if (r.n_row > 1 && r.first_s > fmax(span_s, 1)) {
            tmx_warn("%s: the first request arrives at %.6g s, later than the trace is long (%.6g s): are "
                     "its times seconds from its begin?",
                     path, r.first_s, span_s);
        } else if (r.n_row >= 10 && gap_s > SPARSE_S) {
            tmx_warn("%s: a request in %.4g s on average: are its times in seconds?", path, gap_s);
        }
    }
}

enum tmx_status tmx_requests_make(struct tmx_request_list *l, const struct tmx_request_options *o,
                                  const struct tmx_setting *at, uint64_t seed, struct tmx_err *err)
{
    static const double MAX_S = 1e8, REQUEST_S = 2e-7; /* s to draw one */
    struct tmx_request_list sizes = {0};
    struct tmx_err own = {0};
    *l = (struct tmx_request_list){0};
    if (o->process != TMX_REQUESTS_POISSON) {
        if (!o->file[0]) {
            tmx_error_setting(&own, at, "requests: missing file = \"REQUESTS.csv\"");
        }
        read_trace(l, o, o->file, false, tmx_setting_nearest(at, "file"), &own);
        return tmx_error_give(err, &own);
    }
    if (!o->sizes[0] || !(o->rate_per_s > 0) || (o->count == 0 && !(o->duration_s > 0))) {
        tmx_error_setting(&own, tmx_setting_nearest(at, "process"),
                          "poisson requests: expected sizes, rate_per_s, and count or duration_s");
    }
    /* known before they are drawn: their memory, and a rate at which they come at all */
    const double most = o->count > 0 ? o->count : MOST,
                 mean_per_s = o->rate_per_s * exp(o->noise * o->noise / 2),
                 end_s = o->duration_s > 0 ? o->duration_s : INFINITY,
                 n = fmin(most, mean_per_s * (1 + o->day) * end_s);
    const struct tmx_cost cost = {.seconds = REQUEST_S * n, .bytes = 2 * n * sizeof(struct tmx_llm_request)};
    if (end_s == INFINITY && most / mean_per_s > MAX_S) {
        tmx_error_setting(&own, tmx_setting_nearest(at, "rate_per_s"),
                          "rate_per_s = %g: %g requests take %.3g s; expected at most %g s", o->rate_per_s,
                          most, most / mean_per_s, MAX_S);
    }
    if (!own.code) {
        tmx_setting_locate(tmx_setting_nearest(at, o->count > 0 ? "count" : "rate_per_s"),
                           tmx_cost_check(cost, &own, "%.3g requests", n), &own);
    }
    read_trace(&sizes, o, o->sizes, true, tmx_setting_nearest(at, "sizes"), &own);
    draw(l, &sizes, o, seed, &own);
    free(sizes.request);
    if (l->n == 0) {
        tmx_error_setting(&own, at, "requests: none arrives before duration_s");
    }
    return tmx_error_give(err, &own);
}

void tmx_requests_finish(struct tmx_request_list *l)
{
    free(l->request);
    *l = (struct tmx_request_list){0};
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "core/serve/requests.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/csv.h"
#include "core/base/rng.h"

static const char *const processes[] = {"trace", "poisson", NULL}; /* enum tmx_request_process */

const struct tmx_opt tmx_request_opts[] = {
    TMX_ROW_NAME(tmx_request_options, file, "", "trace: a CSV of one of four headers"),
    TMX_ROW_NAME(tmx_request_options, sizes, "",
                 "poisson: a trace whose pairs of input and output are drawn"),
    TMX_ROW_CHOICE(tmx_request_options, process, processes, "trace", "arrivals as in the file, or drawn"),
    TMX_ROW_REAL(tmx_request_options, rate_per_s, "1/s", 0, 1e6, 0, "poisson: mean rate of arrivals"),
    TMX_ROW_REAL(tmx_request_options, day, "1", 0, 1, 0, "poisson: the rate swings by this share over a day"),
    TMX_ROW_REAL(tmx_request_options, noise, "1", 0, 2, 0,
                 "poisson: standard deviation of the rate's logarithm"),
    TMX_ROW_REAL(tmx_request_options, noise_s, "s", 1, 1e6, 60, "poisson: correlation time of that noise"),
    TMX_ROW_REAL(tmx_request_options, duration_s, "s", 0, 1e8, 0, "poisson: arrivals end; 0: by count"),
    TMX_ROW_INT(tmx_request_options, count, "1", 0, 100000000, 0, "most requests; 0: all"),
    TMX_ROW_REAL(tmx_request_options, speed, "1", 1e-3, 1e3, 1, "trace: arrivals come so many times as fast"),
    TMX_ROW_REAL(tmx_request_options, high, "1", 0, 1, 1,
                 "share of high priority where the trace has no class, by a hash of the row"),
    {0},
};

enum { MOST = 100000000, MAX_TOKENS = 100000000 };

enum column { ARRIVAL, INPUT, OUTPUT, CLASS, N_COLUMN };

/* The headers that are known, as they are. */
static const struct header {
    const char *column[N_COLUMN]; /* CLASS: NULL where the format has none */
    bool timestamp;               /* arrival is a date and a time */
} headers[] = {
    {{"arrival_s", "input_tokens", "output_tokens", "class"}, false},
    {{"TIMESTAMP", "ContextTokens", "GeneratedTokens", NULL}, true},          /* Azure 2023 */
    {{"arrived_at", "num_prefill_tokens", "num_decode_tokens", NULL}, false}, /* vidur */
    {{"arrival_timestamp", "prompt_size", "token_size", NULL}, false},        /* splitwise-sim */
};
enum { N_HEADER = sizeof headers / sizeof headers[0] };

struct reader {
    struct tmx_request_list *list;
    const struct tmx_request_options *o;
    const struct header *header;
    size_t column[N_COLUMN];
    long day0;
    double first_s;
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

static enum tmx_status append(struct tmx_request_list *l, double arrival_s, double input, double output,
                              int class_of, struct tmx_err *err)
{
    if ((l->n & (l->n - 1)) == 0) { /* room doubles at powers of two */
        struct tmx_llm_request *p = realloc(l->request, (l->n ? 2 * l->n : 1) * sizeof *p);
        if (!p) {
            return tmx_fail(err, TMX_ENOMEM, "%zu requests", l->n);
        }
        l->request = p;
    }
    l->request[l->n++] = (struct tmx_llm_request){.arrival_s = arrival_s,
                                                  .first_s = -1,
                                                  .done_s = -1,
                                                  .input = (uint32_t)input,
                                                  .output = (uint32_t)output,
                                                  .next = UINT32_MAX,
                                                  .class_of = class_of > 0};
    return TMX_OK;
}

/* "2023-11-16 18:17:03.9799600": seconds of the day, and those of the days up to day0 (0: that day, which is
 * set): their sum with a year's days would lose digits. */
static bool timestamp(const char *text, long *day0, double *s)
{
    int year, month, day, hour, minute, used = 0;
    double second;
    static const int before[] = {0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334};
    if (sscanf(text, "%4d-%2d-%2d%*1[ T]%2d:%2d:%n", &year, &month, &day, &hour, &minute, &used) != 5 ||
        used == 0 || sscanf(text + used, "%lf", &second) != 1 || month < 1 || month > 12 || day < 1 ||
        day > 31 || hour < 0 || hour > 23 || minute < 0 || minute > 59 || !(second >= 0) || second >= 61 ||
        year < 1970 || year > 9999) {
        return false;
    }
    const int leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0, past = year - 1;
    const long days =
        365L * past + past / 4 - past / 100 + past / 400 + before[month - 1] + (leap && month > 2) + day;
    *day0 = *day0 ? *day0 : days;
    *s = 86400.0 * (double)(days - *day0) + (hour * 3600 + minute * 60 + second);
    return true;
}

static enum tmx_status find_columns(struct reader *r, const struct tmx_csv *csv, struct tmx_err *err)
{
    for (size_t h = 0; h < N_HEADER; h++) {
        size_t found = 0;
        for (size_t c = 0; c < N_COLUMN; c++) {
            r->column[c] = headers[h].column[c] ? tmx_csv_column(csv, headers[h].column[c]) : csv->n_column;
            found += c < CLASS && r->column[c] < csv->n_column;
        }
        if (found == CLASS) {
            r->header = &headers[h];
            return TMX_OK;
        }
    }
    return tmx_fail_at(
        err, TMX_EPARSE, csv->source, 1,
        "no header of requests; expected arrival_s,input_tokens,output_tokens[,class], "
        "TIMESTAMP,ContextTokens,GeneratedTokens, arrived_at,num_prefill_tokens,num_decode_tokens or "
        "splitwise-sim's arrival_timestamp, prompt_size and token_size");
}

static enum tmx_status tokens(const struct tmx_csv *csv, size_t column, double *v, struct tmx_err *err)
{
    if (!tmx_csv_real(csv, 0, column, v) || *v < 1 || *v > MAX_TOKENS || *v != floor(*v)) {
        return tmx_fail_at(err, TMX_EPARSE, csv->source, csv->line[0],
                           "%s = \"%.40s\": expected a whole number of tokens from 1 on", csv->column[column],
                           tmx_csv_cell(csv, 0, column));
    }
    return TMX_OK;
}

static enum tmx_status class_of(const struct reader *r, const struct tmx_csv *csv, int *which,
                                struct tmx_err *err)
{
    const size_t c = r->column[CLASS];
    const char *word = c < csv->n_column ? tmx_csv_cell(csv, 0, c) : "";
    if (!*word) {
        *which = !is_high(r->list->n, r->o->high);
        return TMX_OK;
    }
    *which = strcmp(word, "low") == 0 || strcmp(word, "1") == 0;
    return *which || strcmp(word, "high") == 0 || strcmp(word, "0") == 0
               ? TMX_OK
               : tmx_fail_at(err, TMX_EPARSE, csv->source, csv->line[0],
                             "class = \"%.40s\": expected high (0) or low (1)", word);
}

static enum tmx_status row(void *ctx, const struct tmx_csv *csv, struct tmx_err *err)
{
    struct reader *r = ctx;
    struct tmx_request_list *l = r->list;
    double arrival_s, input, output;
    int which;
    if (csv->n_row == 0) {
        return find_columns(r, csv, err);
    }
    if (r->o->count > 0 && l->n >= (size_t)r->o->count) {
        return TMX_OK;
    }
    const char *text = tmx_csv_cell(csv, 0, r->column[ARRIVAL]);
    if (r->header->timestamp ? !timestamp(text, &r->day0, &arrival_s)
                             : !tmx_csv_real(csv, 0, r->column[ARRIVAL], &arrival_s) || arrival_s < 0) {
        return tmx_fail_at(err, TMX_EPARSE, csv->source, csv->line[0], "%s = \"%.40s\": expected %s",
                           csv->column[r->column[ARRIVAL]], text,
                           r->header->timestamp ? "a date and a time, 2023-11-16 18:17:03.9799600"
                                                : "seconds from 0 on");
    }
    if (l->n == 0) {
        r->first_s = r->header->timestamp ? arrival_s : 0;
        l->first_line = csv->line[0];
    }
    arrival_s = (arrival_s - r->first_s) / r->o->speed;
    enum tmx_status st = tokens(csv, r->column[INPUT], &input, err);
    st = st ? st : tokens(csv, r->column[OUTPUT], &output, err);
    st = st ? st : class_of(r, csv, &which, err);
    if (!st && l->n > 0 && arrival_s < l->request[l->n - 1].arrival_s) {
        st = tmx_fail_at(err, TMX_EPARSE, csv->source, csv->line[0],
                         "this request arrives before the one above it; expected times that do not fall");
    }
    return st ? st : append(l, arrival_s, input, output, which, err);
}

/* A pair of streams: arrivals and sizes; the noise has a third, so that it is the same at every rate. */
static enum tmx_status draw(struct tmx_request_list *l, const struct tmx_request_list *sizes,
                            const struct tmx_request_options *o, uint64_t seed, struct tmx_err *err)
{
    static const double pi = 3.14159265358979323846;
    struct tmx_rng *gaps = NULL, *pairs = NULL, *noise = NULL;
    const size_t most = o->count > 0 ? (size_t)o->count : MOST;
    const double rho = exp(-1 / o->noise_s), end_s = o->duration_s > 0 ? o->duration_s : INFINITY;
    enum tmx_status st = tmx_rng_create(&gaps, seed, "requests", err);
    st = st ? st : tmx_rng_create(&pairs, seed, "request sizes", err);
    st = st ? st : tmx_rng_create(&noise, seed, "request rate", err);
    double left = st ? 0 : tmx_rng_exponential(gaps, 1), log_rate = 0; /* of the integral of the rate */
    if (!st && o->noise > 0) {
        log_rate = tmx_rng_normal(noise, o->noise);
    }
    for (double t = 0; !st && l->n < most && t < end_s; t += 1) { /* the rate is constant for a second */
        const double day = 1 + o->day * sin(2 * pi * t / 86400), rate = o->rate_per_s * day * exp(log_rate);
        double at_s = 0; /* into this second */
        while (!st && l->n < most && left <= rate * (1 - at_s)) {
            at_s += left / rate;
            left = tmx_rng_exponential(gaps, 1);
            const struct tmx_llm_request *size = &sizes->request[tmx_rng_below(pairs, sizes->n)];
            if (t + at_s < end_s) {
                st = append(l, t + at_s, size->input, size->output, !is_high(l->n, o->high), err);
            }
        }
        left -= rate * (1 - at_s);
        log_rate = o->noise > 0 ? rho * log_rate + tmx_rng_normal(noise, o->noise * sqrt(1 - rho * rho)) : 0;
    }
    tmx_rng_destroy(gaps);
    tmx_rng_destroy(pairs);
    tmx_rng_destroy(noise);
    return st;
}

static const struct tmx_setting *key(const struct tmx_setting *at, const char *name)
{
    const struct tmx_setting *s = tmx_setting_member(at, name);
    return s ? s : at;
}

static enum tmx_status read_trace(struct tmx_request_list *l, const struct tmx_request_options *o,
                                  const char *path, const struct tmx_setting *at, struct tmx_err *err)
{
    struct reader r = {.list = l, .o = o};
    const enum tmx_status st = tmx_csv_each(path, row, &r, err);
    return !st && l->n == 0 ? tmx_fail_setting(err, at, "%s: no request", path) : st;
}

enum tmx_status tmx_requests_make(struct tmx_request_list *l, const struct tmx_request_options *o,
                                  const struct tmx_setting *at, uint64_t seed, struct tmx_err *err)
{
    const bool drawn = o->process == TMX_REQUESTS_POISSON;
    struct tmx_request_list sizes = {0};
    *l = (struct tmx_request_list){0};
    if (!drawn) {
        return o->file[0] ? read_trace(l, o, o->file, key(at, "file"), err)
                          : tmx_fail_setting(err, at, "requests: missing file = \"REQUESTS.csv\"");
    }
    if (!o->sizes[0] || !(o->rate_per_s > 0) || (o->count == 0 && !(o->duration_s > 0))) {
        return tmx_fail_setting(err, key(at, "process"),
                                "poisson requests: expected sizes, rate_per_s, and count or duration_s");
    }
    struct tmx_request_options whole = *o;
    whole.count = 0;
    enum tmx_status st = read_trace(&sizes, &whole, o->sizes, key(at, "sizes"), err);
    st = st ? st : draw(l, &sizes, o, seed, err);
    free(sizes.request);
    return !st && l->n == 0 ? tmx_fail_setting(err, at, "requests: none arrives before duration_s") : st;
}

void tmx_requests_finish(struct tmx_request_list *l)
{
    free(l->request);
    *l = (struct tmx_request_list){0};
}

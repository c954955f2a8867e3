/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A language model served: phases, requests, batching, pools, rows, against what can be computed by hand; and
 * what may not matter does not: ticks, snapshots. */
#include <stdlib.h>
#include <string.h>

#include "base/plausible.h"
#include "core/serve/serve.h"
#include "measure/measure.h"
#include "tests/support/open_run.h"
#include "tests/support/scratch.h"

enum { N = 60, MAX_TEXT = 8192 };

/* Bursts of prompts of all lengths, outputs from 1 on. */
static const char *trace(const char *name, int n)
{
    char text[MAX_TEXT] = "arrival_s,input_tokens,output_tokens,class\n";
    unsigned x = 7;
    for (int i = 0; i < n; i++) {
        x = x * 1664525u + 1013904223u;
        snprintf(text + strlen(text), sizeof text - strlen(text), "%.3f,%u,%u,%s\n",
                 0.17 * i + (i % 5) * 0.01, 1 + (x >> 20), 1 + (x >> 8) % 60, x >> 30 & 1 ? "low" : "high");
    }
    return scratch_write(name, text);
}

#define COMMON                                                                                              \
    "chip = \"a100\"; gpus = 16; seed = 1; tick_s = %g; quantum_s = %g; serve = { model = \"llama2-70b\"; " \
    "tp = 8; "                                                                                              \
    "heat = false; %s };"

static struct tmx_run *serve(double tick_s, const char *more)
{
    struct tmx_run *run = open_run(COMMON, tick_s, tick_s, more);
    assert_int_equal(tmx_run_execute(run, NULL, NULL), TMX_OK);
    return run;
}

static void refused(struct tmx_err *err, const char *more)
{
    char text[2048];
    snprintf(text, sizeof text, COMMON, 0.5, 0.5, more);
    assert_null(try_run(text, err));
}

static struct tmx_run *serve_routed(double tick_s, const char *route, const char *more)
{
    struct tmx_run *run = open_run(COMMON " route = { policy = \"%s\"; };", tick_s, tick_s, more, route);
    assert_int_equal(tmx_run_execute(run, NULL, NULL), TMX_OK);
    return run;
}

static const struct tmx_llm_request *requests(struct tmx_run *run, size_t *n)
{
    *n = tmx_sim_serve(tmx_run_sim(run))->n_request;
    return tmx_sim_serve(tmx_run_sim(run))->request;
}

static void same_requests(const struct tmx_llm_request *x, const struct tmx_llm_request *y, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        check_close(x[i].first_s, y[i].first_s, 0, 0);
        check_close(x[i].done_s, y[i].done_s, 0, 0);
        assert_int_equal(x[i].instance, y[i].instance);
        assert_int_equal(x[i].token_instance, y[i].token_instance);
    }
}

static void lengths_and_capacities_are_those_of_the_file(void **state)
{
    struct tmx_llm m;
    const struct tmx_llm_phase *p;
    struct tmx_err err = {0};
    assert_int_equal(tmx_llm_load(&m, TMX_SOURCE_DIR "/workloads/llms/llama2-70b.cfg", &err), TMX_OK);
    assert_int_equal(tmx_llm_find(&m, "a100", 8, &p, &err), TMX_OK);
    check_close(tmx_llm_prompt_s(p, 100), 0.066048, 1e-12, 0); /* the floor */
    check_close(tmx_llm_prompt_s(p, 4096), 1e-3 * (28.437 + 0.12652 * 4096 + 0.09343 * 2048), 1e-12, 0);
    check_close(tmx_llm_token_s(p, 64, 64 * 576), 1e-3 * (44.033 + 0.1895 * 64 + 0.0003355 * 64 * 576), 1e-12,
                0);
    check_close(tmx_llm_prompt_share(p, 64), 0.46, 1e-12, 0);
    check_close(tmx_llm_prompt_share(p, 384), (0.658 + 0.749) / 2, 1e-12, 0);
    check_close(tmx_llm_token_bytes(&m), 327680, 0, 0);
    check_close(tmx_llm_capacity(&m, p, 1), 1685000, 1e-3, 0);
    assert_int_equal(tmx_llm_find(&m, "a100", 6, &p, &err), TMX_ECONFIG); /* nothing is interpolated */
    assert_non_null(strstr(err.msg, "a100 at 4"));
    tmx_llm_finish(&m);
}

/* Rows made by a phase give the phase back; what was written is read again. */
static void a_fit_finds_the_phase_behind_rows(void **state)
{
    static const double prompts[] = {128, 512, 1024, 2048, 4096, 8192}, batches[] = {1, 4, 16, 64};
    static struct tmx_llm like, m, again;
    char text[MAX_TEXT] = "prompt_size,batch_size,token_size,prompt_time,token_time,tensor_parallel,hardware,"
                          "peak_power,average_power\n";
    static const struct {
        const char *row, *said;
    } bad[] = {
        {"128,1,128,20,30,8,a100x,0.8,0.5", "a100x at 8: 1 cells of prompt times, expected 6 or more"},
        {"128,1,128,20,30,1e7,a100,0.8,0.5",
         "tensor_parallel = \"1e7\": expected a number of GPUs up to 256"},
        {"128,1e308,128,20,30,8,a100,0.8,0.5",
         "batch_size = \"1e308\": expected a number above 0, up to 1e+09"},
        {"128,1,128,1e-300,30,8,a100,0.8,0.5", "prompt_time = \"1e-300\""},
        {"128,1,128,20,30,2.5,a100,0.8,0.5", "tensor_parallel = \"2.5\""},
        {"128,1,128,20,30,8,-,0.8,0.5", "hardware = \"-\": expected a chip's name"},
    };
    struct tmx_table *errors = NULL;
    struct tmx_err err = {0};
    assert_int_equal(tmx_llm_load(&like, TMX_SOURCE_DIR "/workloads/llms/llama2-70b.cfg", &err), TMX_OK);
    const struct tmx_llm_phase *p = &like.phase[2]; /* a100 at 8 */
    for (size_t i = 0; i < 10; i++) {
        const double n = i < 6 ? prompts[i] : 512, b = i < 6 ? 1 : batches[i - 6];
        const double token_ms = 1e3 * tmx_llm_token_s(p, b, b * (n + 64)),
                     prompt_ms = 1e3 * tmx_llm_prompt_s(p, n * b);
        const double mean = (0.8 * prompt_ms + 0.43 * 127 * token_ms) / (prompt_ms + 127 * token_ms);
        snprintf(text + strlen(text), sizeof text - strlen(text), "%g,%g,128,%.10g,%.10g,8,a100-80gb,", n, b,
                 prompt_ms, token_ms);
        snprintf(text + strlen(text), sizeof text - strlen(text), i < 9 ? "0.8,%.10g\n" : ",\n", mean);
    }
    assert_int_equal(tmx_llm_fit(scratch_write("llm_rows.csv", text), &like, &m, &errors, NULL), TMX_OK);
    assert_int_equal(m.n_phase, 1);
    assert_int_equal(tmx_llm_write(&m, "llm_fit.cfg", NULL), TMX_OK);
    assert_int_equal(tmx_llm_load(&again, "llm_fit.cfg", &err), TMX_OK);
    for (size_t i = 0; i < 3; i++) {
        check_close(again.phase[0].token_ms[i], p->token_ms[i], 1e-5, 0);
    }
    for (double n = 100; n < 30000; n *= 1.7) {
        check_close(tmx_llm_prompt_s(&again.phase[0], n), tmx_llm_prompt_s(p, n), 5e-3, 0);
    }
    check_close(again.phase[0].token_share, 0.43, 1e-3, 0);
    check_close(again.phase[0].prompt_share[3], 0.8, 1e-6, 0);
    tmx_table_destroy(errors);
    assert_non_null(strstr(m.source, "weights, heads, shares and idle watts are those of llama2-70b"));
    char falling[MAX_TEXT] =
        "prompt_size,batch_size,token_size,prompt_time,token_time,tensor_parallel,hardware\n";
    for (size_t i = 0; i < 6; i++) {
        snprintf(falling + strlen(falling), sizeof falling - strlen(falling), "%g,1,128,%g,30,8,a100-80gb\n",
                 prompts[i], 1e4 / prompts[i]);
    }
    assert_int_equal(tmx_llm_fit(scratch_write("llm_rows.csv", falling), &like, &m, &errors, &err),
                     TMX_EPARSE);
    assert_non_null(strstr(err.msg, "prompt times fall, from "));
    tmx_table_destroy(errors);
    scratch_write("llm_rows.csv", "prompt_size,batch_size\n1,2\n");
    assert_int_equal(tmx_llm_fit("llm_rows.csv", &like, &m, &errors, &err), TMX_EPARSE);
    assert_non_null(strstr(err.msg, "no column token_size"));
    tmx_table_destroy(errors);
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        char *at = strstr(text, "\n128,"), more[MAX_TEXT + 200];
        snprintf(more, sizeof more, "%.*s\n%s\n%s", (int)(at - text), text, bad[i].row, at + 1);
        assert_int_equal(tmx_llm_fit(scratch_write("llm_rows.csv", more), &like, &m, &errors, &err),
                         TMX_EPARSE);
        assert_non_null(strstr(err.msg, bad[i].said));
        assert_string_equal(err.file, "llm_rows.csv");
        assert_int_equal(err.line, 2);
        tmx_table_destroy(errors);
    }
    tmx_llm_finish(&like);
    tmx_llm_finish(&again);
}

static void keep_line(void *to, const char *text)
{
    char *all = to;
    snprintf(all + strlen(all), MAX_TEXT - strlen(all), "%s\n", text);
}

/* Rows in a unit that is not theirs are refused or warned of; neither their order nor a machine's memory
 * matters. */
static void rows_of_a_fit_are_judged(void **state)
{
#define HEAD                                                                                                \
    "prompt_size,batch_size,token_size,prompt_time,token_time,tensor_parallel,hardware,peak_power,average_" \
    "power\n"
    static const char *const good[] = {
        "128,1,128,65,43,8,a100-80gb,0.46,0.44\n",   "256,1,128,67,43.5,8,a100-80gb,0.66,0.43\n",
        "512,1,128,94,44.9,8,a100-80gb,0.75,0.43\n", "512,4,128,292,45.8,8,a100-80gb,0.92,0.44\n",
        "512,32,128,3525,53,8,a100-80gb,,\n",        "1024,1,128,154,45,8,a100-80gb,0.74,0.43\n",
        "4096,1,128,661,46.5,8,a100-80gb,1.0,\n",
    };
    static const struct {
        const char *from, *to, *error, *warning;
    } rows[] = {
        {"0.46,0.44", "46,44", "peak_power = 46 of the board's limit is far outside", NULL},
        {"0.46,0.44", "184,170", "peak_power = 184 of the board's limit is far outside", NULL},
        {",65,43,", ",0.065,0.043,", "is it 0.065 s = 65 ms?", NULL},
        {",65,43,", ",65000,43000,", "is it 43000 us = 43 ms?", NULL},
        {"128,1,128,65", "128,0.5,128,65", "batch_size = \"0.5\": expected a whole number", NULL},
        {",65,43,", ",43,65,", "token times fall, from 65 ms with 192 tokens", NULL},
        {"0.46,0.44", "0.46,0.54", NULL, "average_power = 0.54 is above peak_power = 0.46"},
        {"0.75,0.43", ",0.43", NULL, "no row of batch 1, a prompt of 512, peak_power and average_power"},
        {"512,4,128,292", "512,4,128,80", NULL,
         "llm_rows.csv:5: prompt_time falls to 80 ms at batch 4, from 94 ms at 1 (line 4)"},
        {"256,1,128,67,43.5,8,a100-80gb", "256,1,128,67,43.5,8,a100-40gb", NULL,
         "a100-40gb and a100-80gb (line 2) are both chip a100"},
        {"256,1,128,67", "128,1,128,90", NULL,
         "prompt_time of a prompt of 128, batch 1, is from 65 to 90 ms in its repeats"},
    };
    static struct tmx_llm like, m, other;
    struct tmx_table *errors = NULL;
    struct tmx_err err = {0};
    char text[MAX_TEXT], lines[MAX_TEXT];
    struct tmx_warn_listener listener = {.line = keep_line, .to = lines};
    assert_int_equal(tmx_llm_load(&like, TMX_SOURCE_DIR "/workloads/llms/llama2-70b.cfg", &err), TMX_OK);
    for (size_t k = 0; k <= sizeof rows / sizeof rows[0]; k++) { /* the last: none is spoilt */
        strcpy(text, HEAD);
        for (size_t i = 0; i < 7; i++) {
            strcat(text, good[i]);
        }
        char *at = k < sizeof rows / sizeof rows[0] ? strstr(text, rows[k].from) : NULL;
        if (at) {
            char rest[MAX_TEXT];
            strcpy(rest, at + strlen(rows[k].from));
            strcpy(at, rows[k].to);
            strcat(text, rest);
        }
        lines[0] = '\0';
        tmx_warn_begin(&listener);
        const enum tmx_status st = tmx_llm_fit(scratch_write("llm_rows.csv", text), &like, &m, &errors, &err);
        tmx_warn_end(&listener);
        tmx_table_destroy(errors);
        if (at && rows[k].error ? !st || !strstr(err.msg, rows[k].error)
                                : st || (at ? !strstr(lines, rows[k].warning) : lines[0] != '\0')) {
            fail_msg("row %zu: %s, %s", k, st ? err.msg : "taken", lines);
        }
    }
    strcpy(text, HEAD);
    for (size_t i = 7; i-- > 0;) {
        strcat(text, good[i]);
    }
    assert_int_equal(tmx_llm_fit(scratch_write("llm_rows.csv", text), &like, &other, &errors, NULL), TMX_OK);
    assert_memory_equal(other.phase[0].prompt_ms, m.phase[0].prompt_ms, sizeof m.phase[0].prompt_ms);
    assert_memory_equal(other.phase[0].token_ms, m.phase[0].token_ms, sizeof m.phase[0].token_ms);
    tmx_table_destroy(errors);
    assert_int_equal(tmx_llm_write(&m, NULL, NULL), TMX_OK);
    m.phase[0].token_ms[0] = -1; /* what a run refuses is not written */
    assert_int_equal(tmx_llm_write(&m, "llm_bad.cfg", &err), TMX_ECONFIG);
    assert_non_null(strstr(err.msg, "a run would refuse this fit: token_ms: expected numbers from 0 on"));
    strcpy(text, HEAD); /* more prompts than a file has room for, in any order; a chip of its own name */
    for (int i = 0; i < 20; i++) {
        snprintf(text + strlen(text), sizeof text - strlen(text), "%d,%d,128,%d,40,8,a100-pcie,%g,\n",
                 200 + 100 * (i * 7 % 20), 1 + (i % 3 == 9), 60 + 3 * (i * 7 % 20),
                 0.4 + 0.01 * (i * 7 % 20));
    }
    assert_int_equal(tmx_llm_fit(scratch_write("llm_rows.csv", text), &like, &m, &errors, NULL), TMX_OK);
    assert_string_equal(m.phase[0].gpu, "a100-pcie");
    assert_true(m.phase[0].n_point == 16 && m.phase[0].prompt_tokens[0] == 200 &&
                m.phase[0].prompt_tokens[15] == 2100);
    assert_true(m.phase[0].token_ms[1] == 0); /* of one batch nothing follows for others */
    tmx_table_destroy(errors);
    tmx_llm_finish(&like);
}

static void traces_are_known_by_their_headers(void **state)
{
    static const struct {
        const char *text;
        double last_s;
    } files[] = {
        {"arrival_s,input_tokens,output_tokens\n1,10,5\n2.5,20,6\n", 2.5},
        {"TIMESTAMP,ContextTokens,GeneratedTokens\r\n2024-02-29 23:59:59.5000000,10,5\r\n"
         "2024-03-01 00:00:01.0000000,20,6",
         1.5},
        {"arrived_at,num_prefill_tokens,num_decode_tokens\n0,10,5\n3,20,6\n", 3},
        {"request_id,request_type,application_id,arrival_timestamp,batch_size,prompt_size,token_size\n"
         "0,2,0,0,1,10,5\n1,2,0,4,1,20,6\n",
         4},
        {"TIMESTAMP,NumImages,ContextTokens,GeneratedTokens\n2024-05-10 00:00:00+05:00,0,10,5\n"
         "2024-05-10T00:00:01.25+05:00,0,20,6\n",
         1.25},
        {"Timestamp,Model,Request tokens,Response tokens,Total tokens,Log Type\n5,GPT-4,10,5,15,API log\n"
         "6,GPT-4,9,0,9,API log\n7.5,GPT-4,20,6,26,API log\n",
         7.5},
        {"{\"timestamp\": 0, \"input_length\": 10, \"output_length\": 5, \"hash_ids\": [0, 1]}\n"
         "{\"timestamp\": 27482, \"input_length\": 20, \"output_length\": 6, \"hash_ids\": [0, [2, "
         "\"}\"]]}\n",
         27.482},
        {"[{\"input_toks\": 10, \"output_toks\": 5, \"arrival_time_ns\": 4.0e8},\n"
         " {\"output_toks\": 6, \"input_toks\": 20, \"arrival_time_ns\": 1500000000}]\n",
         1.5},
        {"# drawn by hand\n\narrival_s|input_tokens|output_tokens\n1|10|5\n# the second\n2|20|6\n", 2},
        {"arrival_s\tinput_tokens\toutput_tokens\n1\t10\t5\n3\t20\t6\n", 3},
        {"arrival_s,input_tokens,output_tokens,class,instance,token_instance,ttft_s,e2e_s,beyond_fit\n"
         "1,10,5,high,0,0,0.1,0.2,\n9,20,6,low,0,0,,,prompt\n",
         9},
        {"arrived_at,num_prefill_tokens,num_decode_tokens,num_total_tokens\n0,10,5,15\n3,20,6,27\n", 3},
    };
    const size_t n_file = sizeof files / sizeof files[0];
    char lines[MAX_TEXT] = "";
    struct tmx_warn_listener listener = {.line = keep_line, .to = lines};
    tmx_warn_begin(&listener);
    for (size_t i = 0; i < n_file; i++) {
        struct tmx_request_options o = {.process = TMX_REQUESTS_TRACE, .speed = 1, .high = 1};
        struct tmx_request_list l;
        struct tmx_err err = {0};
        assert_null(strstr(lines, "the sum of")); /* but of the last */
        snprintf(o.file, sizeof o.file, "%s", scratch_write("serve_header.csv", files[i].text));
        assert_int_equal(tmx_requests_make(&l, &o, NULL, 1, &err), TMX_OK);
        assert_int_equal(l.n, 2);
        check_close(l.request[1].arrival_s, files[i].last_s, 0, 1e-6);
        assert_int_equal(l.request[1].input, 20);
        assert_int_equal(l.request[1].output, 6);
        tmx_requests_finish(&l);
    }
    tmx_warn_end(&listener);
    assert_non_null(
        strstr(lines, "serve_header.csv:3: num_total_tokens = 27: expected 26, the sum of num_prefill"));
}

static void bad_traces_are_refused_with_their_line(void **state)
{
    static const struct {
        const char *text, *words;
        unsigned line;
    } files[] = {
        {"when,what\n1,2\n", "no header of requests", 1},
        {"arrival_s,input_tokens,output_tokens\n1,10,5\n0.5,20,6\n", "do not fall", 3},
        {"arrival_s,input_tokens,output_tokens\n1,0,5\n", "input_tokens = \"0\"", 2},
        {"arrival_s,input_tokens,output_tokens\n1,10,2.5\n", "output_tokens = \"2.5\"", 2},
        {"arrival_s,input_tokens,output_tokens\n-1,10,5\n", "expected a number from 0 on", 2},
        {"arrival_s,input_tokens,output_tokens,class\n1,10,5,middle\n", "class = \"middle\"", 2},
        {"TIMESTAMP,ContextTokens,GeneratedTokens\n2023-13-01 00:00:00,10,5\n", "a date and a time", 2},
        {"TIMESTAMP,ContextTokens,GeneratedTokens\n2023-02-29 00:00:00,10,5\n", "a date and a time", 2},
        {"TIMESTAMP,ContextTokens,GeneratedTokens\n2023-06-31 00:00:00,10,5\n", "a date and a time", 2},
        {"TIMESTAMP,ContextTokens,GeneratedTokens\n2023-06-30 00:00:0x1,10,5\n", "a date and a time", 2},
        {"TIMESTAMP,ContextTokens,GeneratedTokens\n2023-06-30 00:00:1e1,10,5\n", "a date and a time", 2},
        {"TIMESTAMP,ContextTokens,GeneratedTokens\n2023-06-30 00:00:01 word,10,5\n", "a date and a time", 2},
        {"TIMESTAMP,ContextTokens,GeneratedTokens\n2023-6-30 00:00:01,10,5\n", "a date and a time", 2},
        {"TIMESTAMP,ContextTokens,GeneratedTokens\n2023-06-30 00:00:01Z,10,5\n2023-06-30 "
         "00:00:02+05:00,10,5\n",
         "another zone than in the first row", 3},
        {"TIMESTAMP,NumImages,ContextTokens,GeneratedTokens\n2024-05-10 00:00:00,2,10,5\n",
         "no column counts the tokens of images", 2},
        {"arrival_s,input_tokens,output_tokens,Class\n1,10,5,low\n",
         "unknown column \"Class\" of a trace of thermix", 1},
        {"\n# x\narrived_at,num_prefill_tokens,num_decode_tokens,priority\n1,10,5,1\n",
         "unknown column \"priority\"", 3},
        {"num_prefill_tokens,num_decode_tokens\n1,10\n", "no column arrived_at: a trace without times", 1},
        {"{\"timestamp\": 0, \"input_length\": 1, \"output_length\": 3}\n{\"timestamp\": 0, "
         "\"input_length\": 1}\n",
         "no key \"output_length\"", 2},
        {"{\"timestamp\": 0, \"input_length\": 1, \"output_length\": 3, \"x\": 1}\n", "unknown column \"x\"",
         1},
        {"{\"timestamp\": 0, \"input_length\": 1, \"output_length\": }\n", "expected a value", 1},
        {"{\"timestamp\": 0, \"input_length\": 1, \"output_length\": 3\n", "is JSON; expected columns", 1},
        {"<html>\n", "is XML or HTML", 1},
    };
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        struct tmx_request_options o = {.process = TMX_REQUESTS_TRACE, .speed = 1, .high = 1};
        struct tmx_request_list l;
        struct tmx_err err = {0};
        snprintf(o.file, sizeof o.file, "%s", scratch_write("serve_bad.csv", files[i].text));
        assert_int_equal(tmx_requests_make(&l, &o, NULL, 1, &err), TMX_EPARSE);
        if (!strstr(err.msg, files[i].words) || err.line != files[i].line) {
            fail_msg("%u: %s, expected line %u: %s", err.line, err.msg, files[i].line, files[i].words);
        }
        tmx_requests_finish(&l);
    }
}

static void drawn_arrivals_have_their_rate_and_classes(void **state)
{
    struct tmx_request_options o = {.process = TMX_REQUESTS_POISSON,
                                    .rate_per_s = 20,
                                    .duration_s = 1000,
                                    .speed = 1,
                                    .high = 0.25,
                                    .noise_s = 60};
    struct tmx_request_list l;
    double low = 0, gap2 = 0;
    snprintf(o.sizes, sizeof o.sizes, "%s", trace("serve_sizes.csv", N));
    assert_int_equal(tmx_requests_make(&l, &o, NULL, 3, NULL), TMX_OK);
    check_close((double)l.n, 20000, 0, 3 * 142);
    for (size_t i = 1; i < l.n; i++) {
        const double gap_s = l.request[i].arrival_s - l.request[i - 1].arrival_s;
        assert_true(gap_s >= 0);
        gap2 += gap_s * gap_s / (double)l.n;
        low += l.request[i].class_of;
    }
    check_close(gap2, 2 * 0.05 * 0.05, 0.05, 0); /* exponential */
    check_close(low / (double)l.n, 0.75, 0, 0.01);
    tmx_requests_finish(&l);
}

static void a_request_alone_takes_what_its_phases_say(void **state)
{
    size_t n;
    scratch_write("serve_one.csv", "arrival_s,input_tokens,output_tokens\n0.25,1000,11\n");
    struct tmx_run *run = serve(1, "requests = { file = \"serve_one.csv\"; };");
    const struct tmx_llm_request *q = requests(run, &n);
    double e2e_s = 1e-3 * (28.437 + 0.12652 * 1000);
    check_close(q->first_s - q->arrival_s, e2e_s, 1e-12, 0);
    for (int k = 0; k < 10; k++) {
        e2e_s += 1e-3 * (44.033 + 0.1895 + 0.0003355 * (1001 + k));
    }
    check_close(q->done_s - q->arrival_s, e2e_s, 1e-12, 0);
    tmx_run_destroy(run);
}

static const char *const schedulers[] = {"mixed", "chunked", "prefill_first", "orca"};

/* Clocks are constant without dies and rows. */
static void no_request_depends_on_the_tick(void **state)
{
    static const char *const pools[] = {"", "pools = { prompt = 1; token = 1; overlap = 0.0; };"};
    char more[512];
    trace("serve_ticks.csv", N);
    for (size_t k = 0; k < 8; k++) {
        size_t n, n_other;
        snprintf(more, sizeof more,
                 "requests = { file = \"serve_ticks.csv\"; }; scheduler = { policy = \"%s\"; }; %s",
                 schedulers[k / 2], pools[k % 2]);
        struct tmx_run *a = serve(1, more), *b = serve(0.004, more);
        const struct tmx_llm_request *x = requests(a, &n), *y = requests(b, &n_other);
        assert_int_equal(n, N);
        assert_int_equal(n_other, N);
        same_requests(x, y, n);
        check_close(metric(a, "j_per_token"), metric(b, "j_per_token"), 3e-2,
                    0); /* the last tick is a whole one */
        tmx_run_destroy(a);
        tmx_run_destroy(b);
    }
}

static void every_token_is_made_and_memory_comes_free(void **state)
{
    char more[512];
    trace("serve_tokens.csv", N);
    for (size_t k = 0; k < 8; k++) {
        size_t n;
        double input = 0, output = 0, made = 0, read = 0;
        snprintf(more, sizeof more,
                 "requests = { file = \"serve_tokens.csv\"; }; kv_util = 0.2; scheduler = { policy = \"%s\"; "
                 "max_batch = 6; }; %s",
                 schedulers[k / 2], k % 2 ? "pools = { prompt = 1; token = 1; };" : "");
        struct tmx_run *run = serve_routed(0.5, k % 2 ? "splitwise" : "tokens", more);
        const struct tmx_serve *s = tmx_sim_serve(tmx_run_sim(run));
        const struct tmx_llm_request *q = requests(run, &n);
        const struct tmx_instance_view *v = s->view;
        for (size_t i = 0; i < n; i++) {
            assert_true(q[i].first_s > q[i].arrival_s);
            assert_true(q[i].output == 1 ? q[i].done_s == q[i].first_s : q[i].done_s > q[i].first_s);
            input += q[i].input;
            output += q[i].output;
        }
        for (size_t i = 0; i < s->n; i++) {
            made += (double)s->ledger[i].output_tokens;
            read += (double)s->ledger[i].input_tokens;
            check_close(v[i].pending_tokens, 0, 0, 0);
            check_close(v[i].prompt_tokens, 0, 0, 0);
            check_close(v[i].reserved_tokens, 0, 0, 0);
            assert_int_equal(v[i].n_request, 0);
        }
        check_close(made, output, 0, 0);
        check_close(read, input, 0, 0);
        tmx_run_destroy(run);
    }
}

/* Watts of the iterations are the watts of the ticks. */
static void energy_is_that_of_the_phases(void **state)
{
    scratch_write("serve_one.csv", "arrival_s,input_tokens,output_tokens\n0,512,101\n");
    struct tmx_run *run = serve(0.001, "requests = { file = \"serve_one.csv\"; };");
    size_t n;
    const struct tmx_llm_request *q = requests(run, &n);
    const double prompt_s = q->first_s, token_s = q->done_s - q->first_s, other_s = q->done_s;
    const double joules = 8 * (0.749 * 400 * prompt_s + (0.43 * 400 + 0.3) * token_s + 63 * other_s);
    check_close(metric(run, "energy_j"), joules, 1e-3, 0);
    tmx_run_destroy(run);
}

/* Who is in no pool idles. */
static void instances_of_no_pool_draw_idle_watts(void **state)
{
    static const char text[] =
        "chip = \"a100\"; gpus = %d; seed = 1; tick_s = 0.1; quantum_s = 0.1; serve = { model = "
        "\"llama2-70b\"; tp = 8; heat = false; rest_w = 200.0; rest_slope = 0.1; requests = { file = "
        "\"serve_one.csv\"; }; "
        "pools = { prompt = 1; token = 1; }; };";
    double j[2], node_j[2], time_s = 0;
    scratch_write("serve_one.csv", "arrival_s,input_tokens,output_tokens\n0,512,101\n");
    for (int i = 0; i < 2; i++) {
        struct tmx_run *run = open_run(text, i == 0 ? 16 : 24);
        assert_int_equal(tmx_run_execute(run, NULL, NULL), TMX_OK);
        time_s = tmx_sim_time_s(tmx_run_sim(run));
        j[i] = metric(run, "energy_j");
        node_j[i] = 101 * metric(run, "node_j_per_token");
        tmx_run_destroy(run);
    }
    check_close(j[1] - j[0], 8 * 63 * time_s, 1e-9, 0);
    check_close(node_j[1] - node_j[0], 8 * (63 + 200) * time_s, 1e-9, 0);
}

/* With dies, too, of a board whose regulators lose 40 %. */
static void a_board_with_losses_draws_the_watts_of_the_phases(void **state)
{
    scratch_write("serve_one.csv", "arrival_s,input_tokens,output_tokens\n0,512,101\n");
    scratch_write(
        "lossy.cfg",
        "name = \"lossy\"; doc = \"d\"; source = \"s\"; weights_bytes = 2.0e10; layers = 80; kv_heads = 8; "
        "head_dim = 128; value_bytes = "
        "2; "
        "m_prompt = 0.39; m_token = 0.85; prompt_dram_share = 0.08; token_dram_share = 0.2; l2_share = 0.06; "
        "phases = ( { gpu = \"rtx3090\"; tp = 2; prompt_ms = [66.0, 28.4, 0.127, 0.093]; token_ms = [44.0, "
        "0.19, 0.0003]; "
        "prompt_tokens = [128, 8192]; prompt_share = [0.8, 0.8]; token_share = 0.6; token_w_per_sequence = "
        "0.3; "
        "idle_w = 40.0; } );");
    struct tmx_run *run =
        open_run("chip = \"rtx3090\"; gpus = 2; seed = 1; tick_s = 0.01; quantum_s = 0.01; rows = 12; cols = "
                 "12; leakage = false; "
                 "serve = { model = \"./lossy.cfg\"; tp = 2; requests = { file = \"serve_one.csv\"; }; };");
    assert_int_equal(tmx_run_execute(run, NULL, NULL), TMX_OK);
    size_t n;
    const struct tmx_llm_request *q = requests(run, &n);
    const double joules = 2 * 350 * (0.8 * q->first_s + (0.6 + 0.3 / 350) * (q->done_s - q->first_s));
    check_close(tmx_sim_serve(tmx_run_sim(run))->ledger[0].joules, joules, 2e-3, 0);
    tmx_run_destroy(run);
}

/* Joules of all instances. */
static double joules_of(const struct tmx_run *run)
{
    const struct tmx_serve *s = tmx_sim_serve(tmx_run_sim(run));
    double j = 0;
    for (size_t i = 0; i < s->n; i++) {
        j += s->ledger[i].joules;
    }
    return j;
}

/* At every tick: instances sum to the energy, rows to that and the nodes' rest, and a row whose servers are
 * busy from the begin draws the same in each reading. */
static void rows_and_instances_sum_to_the_energy_at_every_tick(void **state)
{
    static const double ticks[] = {1, 0.1, 0.01};
    char text[MAX_TEXT] = "arrival_s,input_tokens,output_tokens\n";
    double peak_w = 0;
    for (int i = 0; i < 40; i++) {
        strcat(text, "0,1500,300\n");
    }
    scratch_write("serve_busy.csv", text);
    for (size_t k = 0; k < 3; k++) {
        struct tmx_run *run =
            serve(ticks[k], "requests = { file = \"serve_busy.csv\"; }; token_time = \"flat\";");
        const struct tmx_serve *s = tmx_sim_serve(tmx_run_sim(run));
        const struct tmx_serve_row_ledger *row = &s->row_ledger[0];
        const double time_s = tmx_sim_time_s(tmx_run_sim(run)), joules = metric(run, "energy_j"),
                     rest_w = 16 * (124.5 - 0.4 * 63), read_s = 2 * (double)row->n;
        check_close(joules_of(run), joules, 1e-12, 0);
        assert_true(row->n > 3 && read_s <= time_s && time_s - read_s <= 2 + ticks[k]);
        /* what was read is the row's up to then: the rest is at most its peak and at least idle */
        const double rest_j = rest_w * time_s + 1.4 * joules - row->sum_w * 2;
        assert_true(rest_j >= 16 * 187.4 * (time_s - read_s) - 1e-6 &&
                    rest_j <= row->peak_w * (time_s - read_s) + 1e-6);
        peak_w = k == 0 ? row->peak_w : peak_w;
        check_close(row->peak_w, peak_w, 1e-6, 0);
        tmx_run_destroy(run);
    }
    trace("serve_heat.csv", 20);
    struct tmx_run *run = open_run("topology = \"dgx-a100\"; seed = 1; tick_s = 0.1; quantum_s = 0.1; method "
                                   "= \"lumped\"; warmup_s = 0.5; "
                                   "sensor = { period_s = 0.1; }; serve = { model = \"llama2-70b\"; requests "
                                   "= { file = \"serve_heat.csv\"; }; };");
    struct tmx_sim *sim = tmx_run_sim(run);
    double joules = 0;
    for (int k = 0; k < 30; k++) { /* five of them are the warm-up */
        assert_int_equal(tmx_sim_tick(sim, NULL), TMX_OK);
        for (size_t g = 0; g < 8 && k >= 5; g++) {
            joules += 0.1 * tmx_chip_board_w(sim->machine->gpu[g].chip, sim->recorder->now_w[g]);
        }
    }
    check_close(joules_of(run), joules, 1e-12, 0);
    tmx_run_destroy(run);
}

/* Beyond the rows behind the fit: refused, or computed and marked. */
static void what_is_beyond_the_fit_is_refused_or_marked(void **state)
{
    struct tmx_err err = {0};
    size_t n;
    scratch_write("serve_long.csv", "arrival_s,input_tokens,output_tokens\n0,8192,5\n0,8193,5\n0,20000,5\n");
    refused(&err, "requests = { file = \"serve_long.csv\"; };");
    assert_non_null(strstr(
        err.msg, "request 2: a prompt of 8193 tokens; the fit of llama2-70b has seen at most 8192 (2 of 3 "
                 "requests are beyond, up to 2.44 times)"));
    struct tmx_run *run = serve(0.5, "beyond_fit = true; requests = { file = \"serve_long.csv\"; };");
    const struct tmx_llm_request *q = requests(run, &n);
    assert_true(q[0].beyond == 0 && q[1].beyond == TMX_BEYOND_PROMPT && q[2].beyond == TMX_BEYOND_PROMPT);
    assert_true(metric(run, "beyond_fit") == 2);
    check_close(metric(run, "beyond_prompt_x"), 20000.0 / 8192, 1e-12, 0);
    tmx_run_destroy(run);
    scratch_write("serve_talk.csv", "arrival_s,input_tokens,output_tokens\n0,9,8192\n0,9,16384\n");
    refused(&err, "requests = { file = \"serve_talk.csv\"; };");
    assert_non_null(strstr(err.msg, "request 2: an output of 16384 tokens; the fit of llama2-70b"));
    run = serve(0.5, "beyond_fit = true; requests = { file = \"serve_talk.csv\"; };");
    q = requests(run, &n);
    assert_true(q[0].beyond == 0 && q[1].beyond == TMX_BEYOND_OUTPUT && metric(run, "beyond_fit") == 1);
    tmx_run_destroy(run);
    char text[MAX_TEXT] = "arrival_s,input_tokens,output_tokens\n";
    for (int i = 0; i < 160; i++) {
        strcat(text, "0,10,100\n");
    }
    scratch_write("serve_wide.csv", text);
    run =
        serve(0.5, "requests = { file = \"serve_wide.csv\"; };"); /* 80 an instance; 64 are behind the fit */
    assert_true(metric(run, "beyond_fit") == 0 && metric(run, "beyond_batch_x") == 1);
    tmx_run_destroy(run);
    run = serve(0.5, "beyond_fit = true; requests = { file = \"serve_wide.csv\"; };");
    assert_true(metric(run, "beyond_fit") == 160);
    check_close(metric(run, "beyond_batch_x"), 80.0 / 64, 1e-12, 0);
    assert_true(requests(run, &n)[0].beyond == TMX_BEYOND_BATCH);
    tmx_run_destroy(run);
    refused(&err, "requests = { file = \"serve_wide.csv\"; }; scheduler = { max_batch = 100; };");
    assert_non_null(
        strstr(err.msg, "serve.scheduler.max_batch = 100: the fit of llama2-70b has seen at most 64"));
}

/* A key that has no effect beside the others is an error at its line. */
static void keys_without_an_effect_are_refused(void **state)
{
#define TRACE_ "requests = { file = \"serve_row.csv\"; };"
#define DRAWN_ "requests = { process = \"poisson\"; sizes = \"serve_row.csv\"; rate_per_s = 9.0; count = 5;"
    static const struct {
        const char *more, *key;
    } rows[] = {
        {"requests = { file = \"serve_row.csv\"; rate_per_s = 9.0; };", "serve.requests.rate_per_s"},
        {"requests = { file = \"serve_row.csv\"; day = 0.9; };", "serve.requests.day"},
        {"requests = { file = \"serve_row.csv\"; sizes = \"serve_row.csv\"; };", "serve.requests.sizes"},
        {DRAWN_ " speed = 2.0; };", "serve.requests.speed"},
        {DRAWN_ " file = \"serve_row.csv\"; };", "serve.requests.file"},
        {DRAWN_ " noise_s = 9.0; };", "serve.requests.noise_s"},
        {TRACE_ " high_servers = 0.2;", "serve.high_servers"},
        {TRACE_ " scheduler = { chunk = 64; };", "serve.scheduler.chunk"},
        {TRACE_ " scheduler = { policy = \"chunked\"; budget = 64; };", "serve.scheduler.budget"},
        {TRACE_ " scheduler = { policy = \"orca\"; max_preempt = 2; };", "serve.scheduler.max_preempt"},
        {TRACE_ " mix = \"add\"; scheduler = { policy = \"prefill_first\"; };", "serve.mix"},
        {TRACE_ " pools = { gb_per_s = 1.0; };", "serve.pools.gb_per_s"},
        {TRACE_ " pools = { prompt = 1; token = 1; gb_per_s = 0.0; overlap = 0.5; };", "serve.pools.overlap"},
        {TRACE_ " }; row = { brake = false;", "row.brake"},
        {TRACE_ " }; row = { budget_w = 9000.0; oob_s = 9.0;", "row.oob_s"},
        {TRACE_ " }; row = { budget_w = 9000.0; brake = false; brake_s = 9.0;", "row.brake_s"},
        {TRACE_ " }; queue = \"shared\"; bound = {", "queue"},
        {TRACE_ " }; measured_gains = true; bound = {", "measured_gains"},
        {TRACE_ " }; pdi = \"counters\"; bound = {", "pdi"},
        {TRACE_ " }; warmup_with = \"idle\"; bound = {", "warmup_with"},
        {TRACE_ " }; bound = { uniform = true;", "bound.uniform"},
        {TRACE_ " }; place = { policy = \"coldest\";", "place policy coldest"},
        {TRACE_ " }; tb = { policy = \"coldest_first\";", "tb policy coldest_first"},
        {TRACE_ " }; policy = \"MG-COLD\"; bound = {", "place policy coldest"},
    };
    trace("serve_row.csv", N);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct tmx_err err = {0};
        char words[100];
        refused(&err, rows[i].more);
        snprintf(words, sizeof words, "%s does nothing here: ", rows[i].key);
        if (!strstr(err.msg, words) || err.line == 0) {
            fail_msg("%u: %s, expected %s", err.line, err.msg, words);
        }
    }
}

static void a_budget_slows_servers_and_a_brake_stops_them(void **state)
{
    char more[512];
    trace("serve_row.csv", N);
    snprintf(more, sizeof more,
             "requests = { file = \"serve_row.csv\"; }; class_servers = true; }; row = { policy = \"polca\"; "
             "budget_w = 6000.0; telemetry_s = 0.5; oob_s = 0.5; step_s = 0.5; brake = false; ");
    struct tmx_run *free_run = serve(0.5, "requests = { file = \"serve_row.csv\"; }; class_servers = true;");
    struct tmx_run *run = serve(0.5, more);
    assert_true(metric(run, "capped_low_s") > 0);
    assert_true(metric(run, "e2e_p50_low_s") > metric(free_run, "e2e_p50_low_s"));
    assert_true(metric(run, "row_mean_w") < metric(free_run, "row_mean_w"));
    tmx_run_destroy(run);
    snprintf(more, sizeof more,
             "requests = { file = \"serve_row.csv\"; }; class_servers = true; }; row = { budget_w = 4000.0; "
             "telemetry_s = 0.5; brake_s = 0.5; brake_hold_s = 0.5; ");
    run = serve(0.5, more);
    assert_true(metric(run, "brakes") > 0 && metric(run, "brake_s") > 0);
    assert_true(metric(run, "e2e_p99_s") > 2 * metric(free_run, "e2e_p99_s"));
    tmx_run_destroy(run);
    snprintf(
        more, sizeof more,
        "requests = { file = \"serve_row.csv\"; }; class_servers = true; }; row = { policy = \"foresight\"; "
        "budget_w = 6000.0; telemetry_s = 0.5; oob_s = 0.5; mean_s = 1.0; brake = false; ");
    run = serve(0.5, more); /* low priority pays first */
    assert_true(metric(run, "row_mean_w") < metric(free_run, "row_mean_w"));
    assert_true(metric(run, "capped_low_s") > metric(run, "capped_high_s"));
    tmx_run_destroy(run);
    tmx_run_destroy(free_run);
}

/* A rise is over its seconds, however many readings they have. */
static void rises_are_over_all_readings_of_their_seconds(void **state)
{
    char text[MAX_TEXT] = "arrival_s,input_tokens,output_tokens\n";
    double w[400], before = 0, rise_w = 0;
    size_t n = 0;
    for (int i = 0; i < 60; i++) {
        snprintf(text + strlen(text), sizeof text - strlen(text), "%g,1500,100\n", 8.0 * sqrt(i));
    }
    scratch_write("serve_ramp.csv", text);
    struct tmx_run *run = open_run(
        COMMON, 0.5, 0.5, "requests = { file = \"serve_ramp.csv\"; }; }; row = { telemetry_s = 0.5; ");
    const struct tmx_serve_row_ledger *row = &tmx_sim_serve(tmx_run_sim(run))->row_ledger[0];
    (void)state;
    while (n < 400 && !tmx_sim_tick(tmx_run_sim(run), NULL)) {
        w[n] = row->sum_w - before;
        before = row->sum_w;
        n = row->n > n ? n + 1 : n;
    }
    for (size_t i = 80; i < n; i++) {
        rise_w = fmax(rise_w, w[i] - w[i - 80]);
    }
    assert_true(n > 100);
    check_close(metric(run, "row_rise_40s_w"), rise_w, 1e-9, 0);
    tmx_run_destroy(run);
}

static void without_dies_foresight_routes_by_tokens(void **state)
{
    trace("serve_blind.csv", N);
    const char *more = "requests = { file = \"serve_blind.csv\"; };";
    struct tmx_run *a = serve_routed(0.5, "tokens", more), *b = serve_routed(0.5, "foresight", more);
    size_t n;
    const struct tmx_llm_request *q = requests(a, &n);
    same_requests(q, requests(b, &n), n);
    tmx_run_destroy(a);
    tmx_run_destroy(b);
}

/* With dies a row's brake slows the clocks that heat them. */
static void a_brake_slows_the_clocks_of_dies(void **state)
{
    trace("serve_brake.csv", N);
    struct tmx_run *run =
        open_run("topology = \"dgx-a100\"; seed = 1; tick_s = 0.1; quantum_s = 0.1; rows = 8; cols = 8; "
                 "row = { budget_w = 2000.0; brake_s = 0.0; }; "
                 "serve = { model = \"llama2-70b\"; requests = { file = \"serve_brake.csv\"; }; };");
    const struct tmx_gpu *gpu = &tmx_run_sim(run)->machine->gpu[3];
    for (int k = 0; k < 30; k++) {
        assert_int_equal(tmx_sim_tick(tmx_run_sim(run), NULL), TMX_OK);
        assert_int_equal(gpu->level > 0, k >= 21); /* read at 2 s, in force at the next scheduling tick */
        assert_int_equal(gpu->reasons >> TMX_REASON_HW_POWER_BRAKE & 1, k >= 21);
    }
    tmx_run_destroy(run);
}

/* With dies: components get their watts. */
static void dies_get_the_watts(void **state)
{
    trace("serve_heat.csv", N);
    struct tmx_run *run =
        open_run("topology = \"dgx-a100\"; seed = 1; tick_s = 0.05; quantum_s = 0.05; rows = 8; cols = 8; "
                 "serve = { model = \"llama2-70b\"; requests = { file = \"serve_heat.csv\"; }; };");
    struct tmx_sim *sim = tmx_run_sim(run);
    for (int k = 0; k < 40; k++) {
        assert_int_equal(tmx_sim_tick(sim, NULL), TMX_OK);
    }
    const struct tmx_instance_view *v = tmx_sim_serve(sim)->view;
    assert_true(v->k_per_w > 0.01 &&
                v->k_per_w < 0.2); /* a second of a prompt: not the steady 0.075 K/W yet, */
    assert_true(v->memory_k_per_w > 0.01 && v->memory_k_per_w < 0.2); /* and not nothing */
    check_close(v->memory_limit_k, 95 + 273.15, 0, 1e-9);
    const struct tmx_serve_now w = tmx_serve_now(tmx_sim_serve(sim), 3);
    const struct tmx_frame *f = &sim->frame;
    const struct tmx_gpu *gpu = &sim->machine->gpu[3];
    double dynamic_w = 0, memory_w = 0;
    for (size_t u = 0; u < gpu->chip->floorplan.n_unit; u++) {
        dynamic_w += f->dynamic_w[gpu->unit0 + u];
        memory_w += gpu->chip->dram_share[u] > 0 ? f->dynamic_w[gpu->unit0 + u] : 0;
    }
    assert_true(w.busy > 0.9 && w.sm_w > 0);
    check_close(dynamic_w, w.sm_w + w.l2_w + w.dram_w, 1e-9, 0);
    check_close(memory_w, w.dram_w, 1e-9, 0);
    assert_int_equal(tmx_sim_advance(sim, 0, NULL, NULL), TMX_OK);
    tmx_run_destroy(run);
}

TMX_TESTS(test_serve)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lengths_and_capacities_are_those_of_the_file),
        cmocka_unit_test(a_fit_finds_the_phase_behind_rows),
        cmocka_unit_test(rows_of_a_fit_are_judged),
        cmocka_unit_test(traces_are_known_by_their_headers),
        cmocka_unit_test(bad_traces_are_refused_with_their_line),
        cmocka_unit_test(drawn_arrivals_have_their_rate_and_classes),
        cmocka_unit_test(a_request_alone_takes_what_its_phases_say),
        cmocka_unit_test(no_request_depends_on_the_tick),
        cmocka_unit_test(every_token_is_made_and_memory_comes_free),
        cmocka_unit_test(energy_is_that_of_the_phases),
        cmocka_unit_test(instances_of_no_pool_draw_idle_watts),
        cmocka_unit_test(a_board_with_losses_draws_the_watts_of_the_phases),
        cmocka_unit_test(rows_and_instances_sum_to_the_energy_at_every_tick),
        cmocka_unit_test(what_is_beyond_the_fit_is_refused_or_marked),
        cmocka_unit_test(keys_without_an_effect_are_refused),
        cmocka_unit_test(a_budget_slows_servers_and_a_brake_stops_them),
        cmocka_unit_test(rises_are_over_all_readings_of_their_seconds),
        cmocka_unit_test(without_dies_foresight_routes_by_tokens),
        cmocka_unit_test(a_brake_slows_the_clocks_of_dies),
        cmocka_unit_test(dies_get_the_watts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

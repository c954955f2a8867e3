/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A language model served: phases, requests, batching, pools, rows, against what can be computed by hand; and
 * what may not matter does not: ticks, snapshots. */
#include <stdlib.h>
#include <string.h>

#include "core/serve/serve.h"
#include "measure/llm_fit.h"
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

static struct tmx_run *serve_routed(double tick_s, const char *route, const char *more)
{
    struct tmx_run *run = open_run(COMMON " route = { policy = \"%s\"; };", tick_s, tick_s, more, route);
    assert_int_equal(tmx_run_execute(run, NULL, NULL), TMX_OK);
    return run;
}

static const struct tmx_llm_request *requests(struct tmx_run *run, size_t *n)
{
    return tmx_serve_requests(tmx_sim_serve(tmx_run_sim(run)), n);
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
    struct tmx_err err;
    (void)state;
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
         "tensor_parallel = \"1e7\": expected a number of GPUs up to 1024"},
        {"128,1e308,128,20,30,8,a100,0.8,0.5",
         "batch_size = \"1e308\": expected a number above 0, up to 1e+09"},
        {"128,1,128,1e-300,30,8,a100,0.8,0.5", "prompt_time = \"1e-300\""},
        {"128,1,128,20,30,2.5,a100,0.8,0.5", "tensor_parallel = \"2.5\""},
        {"128,1,128,20,30,8,-,0.8,0.5", "hardware = \"-\": expected a chip's name"},
    };
    struct tmx_table *errors = NULL;
    struct tmx_err err = {0};
    (void)state;
    assert_int_equal(tmx_llm_load(&like, TMX_SOURCE_DIR "/workloads/llms/llama2-70b.cfg", NULL), TMX_OK);
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
    assert_int_equal(tmx_llm_load(&again, "llm_fit.cfg", NULL), TMX_OK);
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
    };
    (void)state;
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        struct tmx_request_options o = {.process = TMX_REQUESTS_TRACE, .speed = 1, .high = 1};
        struct tmx_request_list l;
        struct tmx_err err;
        snprintf(o.file, sizeof o.file, "%s", scratch_write("serve_header.csv", files[i].text));
        assert_int_equal(tmx_requests_make(&l, &o, NULL, 1, &err), TMX_OK);
        assert_int_equal(l.n, 2);
        check_close(l.request[1].arrival_s, files[i].last_s, 0, 1e-6);
        assert_int_equal(l.request[1].input, 20);
        assert_int_equal(l.request[1].output, 6);
        tmx_requests_finish(&l);
    }
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
        {"arrival_s,input_tokens,output_tokens\n-1,10,5\n", "expected seconds from 0 on", 2},
        {"arrival_s,input_tokens,output_tokens,class\n1,10,5,middle\n", "class = \"middle\"", 2},
        {"TIMESTAMP,ContextTokens,GeneratedTokens\n2023-13-01 00:00:00,10,5\n", "a date and a time", 2},
    };
    (void)state;
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
    (void)state;
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
    (void)state;
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
    (void)state;
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
    (void)state;
    trace("serve_tokens.csv", N);
    for (size_t k = 0; k < 8; k++) {
        size_t n, n_instance;
        double input = 0, output = 0, made = 0, read = 0;
        snprintf(more, sizeof more,
                 "requests = { file = \"serve_tokens.csv\"; }; kv_util = 0.2; scheduler = { policy = \"%s\"; "
                 "max_batch = 6; }; %s",
                 schedulers[k / 2], k % 2 ? "pools = { prompt = 1; token = 1; };" : "");
        struct tmx_run *run = serve_routed(0.5, k % 2 ? "splitwise" : "tokens", more);
        const struct tmx_serve *s = tmx_sim_serve(tmx_run_sim(run));
        const struct tmx_llm_request *q = requests(run, &n);
        const struct tmx_instance_view *v = tmx_serve_instances(s, &n_instance);
        for (size_t i = 0; i < n; i++) {
            assert_true(q[i].first_s > q[i].arrival_s);
            assert_true(q[i].output == 1 ? q[i].done_s == q[i].first_s : q[i].done_s > q[i].first_s);
            input += q[i].input;
            output += q[i].output;
        }
        for (size_t i = 0; i < n_instance; i++) {
            made += (double)tmx_serve_instance_ledger(s, i)->output_tokens;
            read += (double)tmx_serve_instance_ledger(s, i)->input_tokens;
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
    (void)state;
    scratch_write("serve_one.csv", "arrival_s,input_tokens,output_tokens\n0,512,101\n");
    struct tmx_run *run = serve(0.001, "requests = { file = \"serve_one.csv\"; };");
    size_t n;
    const struct tmx_llm_request *q = requests(run, &n);
    const double prompt_s = q->first_s, token_s = q->done_s - q->first_s, other_s = q->done_s;
    const double joules = 8 * (0.749 * 400 * prompt_s + (0.43 * 400 + 0.3) * token_s + 63 * other_s);
    check_close(metric(run, "energy_j"), joules, 1e-3, 0);
    tmx_run_destroy(run);
}

static void a_budget_slows_servers_and_a_brake_stops_them(void **state)
{
    char more[512];
    (void)state;
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

static void without_dies_foresight_routes_by_tokens(void **state)
{
    (void)state;
    trace("serve_blind.csv", N);
    const char *more = "requests = { file = \"serve_blind.csv\"; };";
    struct tmx_run *a = serve_routed(0.5, "tokens", more), *b = serve_routed(0.5, "foresight", more);
    size_t n;
    const struct tmx_llm_request *q = requests(a, &n);
    same_requests(q, requests(b, &n), n);
    tmx_run_destroy(a);
    tmx_run_destroy(b);
}

/* With dies: components get their watts, a snapshot goes on bit-equal. */
static void dies_get_the_watts_and_snapshots_go_on(void **state)
{
    (void)state;
    trace("serve_heat.csv", N);
    struct tmx_run *run =
        open_run("topology = \"dgx-a100\"; seed = 1; tick_s = 0.05; quantum_s = 0.05; rows = 16; cols = 16; "
                 "serve = { model = \"llama2-70b\"; requests = { file = \"serve_heat.csv\"; }; };");
    struct tmx_sim *sim = tmx_run_sim(run);
    void *image = malloc(tmx_image_size(tmx_sim_image, sim));
    assert_non_null(image);
    for (int k = 0; k < 40; k++) {
        assert_int_equal(tmx_sim_tick(sim, NULL), TMX_OK);
    }
    const struct tmx_instance_view *v = tmx_serve_instances(tmx_sim_serve(sim), &(size_t){0});
    assert_true(v->k_per_w > 0.01 &&
                v->k_per_w < 0.2); /* a second of a prompt: not the steady 0.075 K/W yet, */
    assert_true(v->memory_k_per_w > 0.01 && v->memory_k_per_w < 0.2); /* and not nothing */
    check_close(v->memory_limit_k, 95 + 273.15, 0, 1e-9);
    const struct tmx_serve_watts w = tmx_serve_watts(tmx_sim_serve(sim), 3);
    const struct tmx_frame *f = tmx_sim_frame(sim);
    const struct tmx_gpu *gpu = &tmx_sim_machine(sim)->gpu[3];
    double dynamic_w = 0, memory_w = 0;
    for (size_t u = 0; u < gpu->chip->floorplan.n_unit; u++) {
        dynamic_w += f->dynamic_w[gpu->unit0 + u];
        memory_w += gpu->chip->dram_share[u] > 0 ? f->dynamic_w[gpu->unit0 + u] : 0;
    }
    assert_true(w.busy > 0.9 && w.sm_w > 0);
    check_close(dynamic_w, w.sm_w + w.l2_w + w.dram_w, 1e-9, 0);
    check_close(memory_w, w.dram_w, 1e-9, 0);
    tmx_image_save(tmx_sim_image, sim, image);
    assert_int_equal(tmx_sim_run(sim, NULL, NULL), TMX_OK);
    size_t n;
    const struct tmx_llm_request *q = requests(run, &n);
    struct tmx_llm_request *first = malloc(n * sizeof *q);
    assert_non_null(first);
    memcpy(first, q, n * sizeof *q);
    const double joules = metric(run, "energy_j");
    tmx_image_restore(tmx_sim_image, sim, image);
    assert_int_equal(tmx_sim_run(sim, NULL, NULL), TMX_OK);
    same_requests(first, requests(run, &n), n);
    check_close(metric(run, "energy_j"), joules, 0, 0);
    free(first);
    free(image);
    tmx_run_destroy(run);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lengths_and_capacities_are_those_of_the_file),
        cmocka_unit_test(a_fit_finds_the_phase_behind_rows),
        cmocka_unit_test(traces_are_known_by_their_headers),
        cmocka_unit_test(bad_traces_are_refused_with_their_line),
        cmocka_unit_test(drawn_arrivals_have_their_rate_and_classes),
        cmocka_unit_test(a_request_alone_takes_what_its_phases_say),
        cmocka_unit_test(no_request_depends_on_the_tick),
        cmocka_unit_test(every_token_is_made_and_memory_comes_free),
        cmocka_unit_test(energy_is_that_of_the_phases),
        cmocka_unit_test(a_budget_slows_servers_and_a_brake_stops_them),
        cmocka_unit_test(without_dies_foresight_routes_by_tokens),
        cmocka_unit_test(dies_get_the_watts_and_snapshots_go_on),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

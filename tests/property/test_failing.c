/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Whatever fails, once: memory that is not given, a file that cannot be read, one that cannot be written.
 * Each of a command's works is done again and again, and each time another one of its requests is refused: it
 * ends with a status and a message, leaks nothing (the sanitized build looks) and is done the next time.
 *   test_failing [STEPS]: how many places of each work, spread over all of them; 12 */
#define _POSIX_C_SOURCE 200809L
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/config.h"
#include "base/output.h"
#include "base/text.h"
#include "base/trace.h"
#include "measure/log/measured.h"
#include "papers/suite.h"
#include "power/regress.h"
#include "run/load/job_files.h"
#include "run/run.h"
#include "study/analysis/analysis.h"
#include "study/microbench/microbench.h"
#include "study/results.h"
#include "study/study.h"
#include "tests/support/scratch.h"
#include "thermal/files/ice.h"
#include "thermal/files/stack.h"

/* ---- what is refused ---- */

enum { OFF = -1 };
enum kind { MEMORY, READING, WRITING, N_KIND };
static const char *const kinds[] = {"memory", "reading", "writing"};
static long left[N_KIND] = {OFF, OFF, OFF}; /* requests until one is refused */

static bool refused(enum kind k)
{
    return left[k] != OFF && left[k]-- == 0;
}

void *__real_malloc(size_t size);
void *__real_calloc(size_t n, size_t size);
void *__real_realloc(void *p, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_realloc(void *p, size_t size);
enum tmx_status __real_tmx_text_load_bytes(struct tmx_text_file *t, const char *path, struct tmx_err *err);
enum tmx_status __wrap_tmx_text_load_bytes(struct tmx_text_file *t, const char *path, struct tmx_err *err);
enum tmx_status __real_tmx_output_open(struct tmx_output *o, const char *path, struct tmx_err *err);
enum tmx_status __wrap_tmx_output_open(struct tmx_output *o, const char *path, struct tmx_err *err);

void *__wrap_malloc(size_t size)
{
    return refused(MEMORY) ? NULL : __real_malloc(size);
}

void *__wrap_calloc(size_t n, size_t size)
{
    return refused(MEMORY) ? NULL : __real_calloc(n, size);
}

void *__wrap_realloc(void *p, size_t size)
{
    return refused(MEMORY) ? NULL : __real_realloc(p, size);
}

enum tmx_status __wrap_tmx_text_load_bytes(struct tmx_text_file *t, const char *path, struct tmx_err *err)
{
    if (refused(READING)) {
        *t = (struct tmx_text_file){0};
        return tmx_fail_at(err, TMX_EIO, path, 0, "cannot read: %s", strerror(EIO));
    }
    return __real_tmx_text_load_bytes(t, path, err);
}

enum tmx_status __wrap_tmx_output_open(struct tmx_output *o, const char *path, struct tmx_err *err)
{
    if (refused(WRITING)) {
        *o = (struct tmx_output){0};
        return tmx_fail_at(err, TMX_EFULL, path, 0, "cannot write: %s", strerror(ENOSPC));
    }
    return __real_tmx_output_open(o, path, err);
}

/* ---- works ---- */

/* A run of a moment, with its folder. */
static enum tmx_status run(const char *mix, const char *extra, struct tmx_err *err)
{
    const struct tmx_run_alone alone = {
        .dir = "failing_run", .trace_s = 0.05, .hotspot_s = 0.1, .quiet = true};
    char text[1024];
    struct tmx_config *cfg = NULL;
    struct tmx_run *r = NULL;
    const int cells = strstr(extra, "grid") ? 4 : 8; /* whose steps are dear */
    snprintf(text, sizeof text,
             "seed = 1; tick_s = 0.05; quantum_s = 0.05; rows = %d; cols = %d; mix = \"./failing_%s.cfg\"; "
             "sensor = { period_s = 0.05; }; %s",
             cells, cells, mix, extra);
    enum tmx_status st = tmx_config_parse(&cfg, text, "failing.cfg", err);
    st = st ? st : tmx_run_create(&r, tmx_config_root(cfg), NULL, err);
    tmx_config_close(cfg);
    st = st ? st : tmx_run_alone(r, &alone, err);
    tmx_run_destroy(r);
    return st;
}

static enum tmx_status plain(struct tmx_err *err)
{
    return run("mix", "chip = \"gtx280\"; policy = \"MU\";", err);
}

static enum tmx_status fans(struct tmx_err *err)
{
    return run("mix", "topology = \"gtx280x2\"; policy = \"MG-MU\"; fan = { policy = \"curve\"; };", err);
}

static enum tmx_status gates(struct tmx_err *err)
{
    return run("mix", "chip = \"gtx280\"; gate = { policy = \"convpg\"; instructions = 1000; };", err);
}

static enum tmx_status blocks(struct tmx_err *err)
{
    return run("mix", "chip = \"gtx280\"; cta = { policy = \"tcs\"; epoch_cycles = 65536; };", err);
}

static enum tmx_status jobs(struct tmx_err *err)
{
    return run("jobs", "chip = \"c1060\"; job = { policy = \"consolidate\"; node = \"c1060\"; };", err);
}

static enum tmx_status foresight(struct tmx_err *err)
{
    return run("mix", "chip = \"gtx280\"; mix_policy = { policy = \"foresight\"; };", err);
}

static enum tmx_status whole_grid(struct tmx_err *err)
{
    return run("mix", "chip = \"gtx280\"; method = \"grid\"; network = \"physical\";", err);
}

static enum tmx_status layers(struct tmx_err *err)
{
    struct tmx_hotspot_config cfg;
    struct tmx_stack stack = {0};
    const struct tmx_stack_options o = {.allow_gaps = true, .network = TMX_NETWORK_PHYSICAL};
    tmx_hotspot_config_init(&cfg);
    enum tmx_status st = tmx_hotspot_config_set(&cfg, "grid_layer_file", "failing_stack/stack.lcf",
                                                TMX_HOTSPOT_COMMAND_LINE, 0, err);
    st = st ? st : tmx_hotspot_config_read(&cfg, "failing_stack/stack.config", TMX_HOTSPOT_CONFIG, err);
    st = st ? st : tmx_stack_create(&cfg, &o, NULL, &stack, err);
    tmx_stack_finish(&stack);
    return st;
}

static enum tmx_status ice(struct tmx_err *err)
{
    return tmx_ice_convert_stack("failing.stk", "failing_stack", err);
}

static enum tmx_status logs(struct tmx_err *err)
{
    static const char *const names[] = {"amd.csv",  "dcgmi.txt",  "dmon.txt", "exporter.prom",
                                        "gpuz.txt", "nvidia.csv", "plain.csv"};
    enum tmx_status st = TMX_OK;
    for (size_t i = 0; i < sizeof names / sizeof names[0] && (!st || st == TMX_EPARSE); i++) {
        char path[512];
        struct tmx_measured m = {0};
        snprintf(path, sizeof path, "%s/tests/fuzz/corpus/log/%s", TMX_SOURCE_DIR, names[i]);
        st = tmx_measured_read(&m, path, NULL, err);
        tmx_measured_finish(&m);
    }
    return st == TMX_EPARSE ? TMX_OK : st; /* some are too short to be a log */
}

static enum tmx_status training(struct tmx_err *err)
{
    struct tmx_training t = {0};
    struct tmx_power_fit fit = {0};
    struct tmx_fit_error e;
    struct tmx_table *table[3] = {NULL};
    enum tmx_status st = tmx_training_load(&t, TMX_SOURCE_DIR "/workloads/training/rodinia_c1060.csv", err);
    st = st ? st : tmx_power_fit(&t, &fit, err);
    table[0] = st ? NULL : tmx_fit_coefficients(&t, &fit);
    st = st ? st : tmx_table_check(table[0], err);
    table[1] = st ? NULL : tmx_fit_rows(&t, &fit, 0);
    st = st ? st : tmx_table_check(table[1], err);
    st = st ? st : tmx_fit_test(&t, &fit, &t, 0, &table[2], &e, err);
    for (size_t i = 0; i < 3; i++) {
        tmx_table_destroy(table[i]);
    }
    tmx_power_fit_finish(&fit);
    tmx_training_finish(&t);
    return st;
}

static enum tmx_status batch(struct tmx_err *err)
{
    struct tmx_job_data d = {0};
    struct tmx_job_batch b = {0};
    struct tmx_table *t = NULL;
    enum tmx_status st = tmx_job_data_load(&d, "c1060", NULL, err);
    st = st ? st : tmx_job_batch_load(&d, "1E+1M", &b, err);
    st = st ? st : tmx_merge_table(&d, &b, 60, &t, err);
    tmx_table_destroy(t);
    tmx_job_data_finish(&d);
    return st;
}

static enum tmx_status instruction_trace(struct tmx_err *err)
{
    struct tmx_gate_chip chip;
    struct tmx_gate_kernel kernel;
    const struct tmx_gate_plan p = {.chip = &chip, .kernel = &kernel, .n_kernel = 1, .seed = 1};
    enum tmx_status st = tmx_gate_chip_load(&chip, "gtx480", NULL, err);
    st = st ? st : tmx_gate_kernel_load(&kernel, "hotspot", err);
    return st ? st : tmx_gate_export(&p, "failing.trace", err);
}

/* A study's points and its database, written and asked. */
static enum tmx_status ask(const struct tmx_result_set *set, struct tmx_err *err)
{
    const struct tmx_query q = {.rows = {"policy"}, .value = {"energy_j"}}, all = {0};
    struct tmx_table *t[4] = {NULL};
    enum tmx_status st = tmx_pivot(set, &q, &t[0], err);
    st = st ? st : tmx_flat(set, &all, &t[1], err);
    st = st || (t[2] = tmx_failures(set)) ? st : tmx_no_memory(err);
    st = st ? st : tmx_effects(set, 0, &t[3], err);
    for (size_t i = 0; i < 4; i++) {
        tmx_table_destroy(t[i]);
    }
    return st;
}

static enum tmx_status fill(struct tmx_results *r, const struct tmx_runs *s, struct tmx_err *err)
{
    char(*id)[TMX_HASH_HEX] = malloc(s->n_point * sizeof *id);
    enum tmx_status st = id ? TMX_OK : tmx_fail(err, TMX_ENOMEM, "ids");
    for (size_t p = 0; p < s->n_point && !st; p++) {
        const char *const name = "energy_j";
        const double value = 100 + (double)(p * p);
        snprintf(id[p], sizeof id[p], "%032zu", p);
        st = tmx_results_add(r, s,
                             &(struct tmx_run_row){.id = id[p],
                                                   .done = p != 3,
                                                   .error = p == 3 ? "hot" : "",
                                                   .version = "1",
                                                   .config = "",
                                                   .point = p,
                                                   .name = &name,
                                                   .value = &value,
                                                   .n_metric = p == 3 ? 0 : 1},
                             err);
    }
    st = st ? st : tmx_results_points(r, s, (const char(*)[TMX_HASH_HEX])id, err);
    free(id);
    return st;
}

static enum tmx_status study(struct tmx_err *err)
{
    static const char path[] = "failing.sqlite", copy[] = "failing_copy.sqlite";
    struct tmx_sweep s = {0};
    struct tmx_results *r = NULL;
    struct tmx_result_set set = {0};
    struct tmx_table *t = NULL;
    remove(path);
    remove(copy);
    enum tmx_status st = tmx_sweep_load(&s, "failing_study.cfg", err);
    st = st || (t = tmx_sweep_table(&s)) ? st : tmx_no_memory(err);
    tmx_table_destroy(t);
    struct tmx_runs runs;
    tmx_sweep_runs(&s, &runs);
    st = st ? st : tmx_results_open(&r, path, &runs, err);
    st = st ? st : fill(r, &runs, err);
    tmx_results_close(r);
    tmx_sweep_finish(&s);
    st = st ? st : tmx_results_merge(copy, (const char *const[]){path}, 1, err);
    st = st ? st : tmx_results_load(&set, copy, TMX_RESULTS_ALL, err);
    st = st ? st : ask(&set, err);
    tmx_result_set_finish(&set);
    st = st ? st : tmx_results_load(&set, "failing_runs.csv", TMX_RESULTS_ALL, err);
    tmx_result_set_finish(&set);
    return st;
}

static enum tmx_status check(struct tmx_err *err)
{
    struct tmx_sweep s = {0};
    struct tmx_runs runs;
    (void)!tmx_sweep_load(&s, "failing_study.cfg", err);
    tmx_sweep_runs(&s, &runs);
    tmx_study_check(&runs, err);
    tmx_sweep_finish(&s);
    return err->code;
}

static const struct work {
    const char *name;
    enum tmx_status (*go)(struct tmx_err *err);
} works[] = {{"a run", plain},
             {"fans", fans},
             {"gates", gates},
             {"blocks", blocks},
             {"jobs", jobs},
             {"foresight", foresight},
             {"the grid", whole_grid},
             {"3D-ICE", ice},
             {"layers", layers},
             {"logs", logs},
             {"training", training},
             {"a batch", batch},
             {"an instruction trace", instruction_trace},
             {"a study", study},
             {"its check", check}};

/* ---- each of them with one thing refused ---- */

/* How many requests of a kind the work makes. */
static long requests(const struct work *w, enum kind k)
{
    const long many = 1L << 40;
    struct tmx_err err = {0};
    left[k] = many;
    const enum tmx_status st = w->go(&err);
    const long n = many - left[k];
    left[k] = OFF;
    if (st) {
        fail_msg("%s: %s %s", w->name, err.file, err.msg);
    }
    return n;
}

static void refuse(const struct work *w, enum kind k, long nth)
{
    static const enum tmx_status wanted[] = {TMX_ENOMEM, TMX_EIO, TMX_EFULL};
    struct tmx_err err = {0};
    left[k] = nth;
    const enum tmx_status st = w->go(&err);
    left[k] = OFF;
    /* what is kept for later (the cache) or made smaller may fail unseen; a key names a file that cannot be
     * read */
    const bool of_key = k == READING && st == TMX_ECONFIG;
    if (st && st != wanted[k] && !of_key) {
        fail_msg("%s, %s %ld refused: status %d, %s %s", w->name, kinds[k], nth, (int)st, err.file, err.msg);
    }
    if (st && !err.msg[0]) {
        fail_msg("%s, %s %ld refused: no message", w->name, kinds[k], nth);
    }
}

static long steps = 12;

static void whatever_is_refused_is_said_and_leaks_nothing(void **state)
{
    for (size_t i = 0; i < sizeof works / sizeof works[0]; i++) {
        for (int k = 0; k < N_KIND; k++) {
            const long n = requests(&works[i], (enum kind)k);
            long done = 0;
            for (long nth = 0; nth<n; nth += n / steps> 1 ? n / steps + (nth % 3) : 1) {
                refuse(&works[i], (enum kind)k, nth);
                done++;
            }
            printf("%s: %ld of %ld requests for %s refused\n", works[i].name, done, n, kinds[k]);
        }
        (void)requests(&works[i], MEMORY); /* nothing stays broken */
    }
}

TMX_TESTS(test_failing)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(whatever_is_refused_is_said_and_leaks_nothing)};
    steps = argc > 1 ? strtol(argv[1], NULL, 10) : steps;
    setenv("THERMIX_DATA", TMX_SOURCE_DIR, 1);
    setenv("XDG_CACHE_HOME", "failing_cache", 1);
    scratch_write("failing_mix.cfg",
                  "name = \"m\"; kernels = ( { kernel = \"Cmem\"; work_s = 0.3; }, { kernel = \"SVM\"; "
                  "work_s = 0.3; arrival_s = 0.1; } );\n");
    scratch_write("failing.stk",
                  "material SILICON : thermal conductivity 1.30e-4 ; volumetric heat capacity 1.628e-12 ;\n"
                  "top heat sink : heat transfer coefficient 1.0e-7 ; temperature 318.15 ;\n"
                  "layer TIM : height 20 ; material SILICON ;\n"
                  "die CHIP : layer 100 SILICON ; source 2 SILICON ; layer 50 SILICON ;\n"
                  "dimensions : chip length 2000, width 2000 ; cell length 100, width 100 ;\n"
                  "stack : layer TOP TIM ; die LOGIC CHIP floorplan \"./failing_ice.flp\" ;\n"
                  "solver : steady ; initial temperature 300.0 ;\n");
    scratch_write("failing_ice.flp",
                  "C0 : position 0, 0 ; dimension 1000, 2000 ; power values 1.0, 2.0 ;\n"
                  "C1 : position 1000, 0; dimension 1000, 2000; power values 1.0, 2.0 ;\n");
    scratch_write("failing_jobs.cfg", "name = \"j\"; kernels = ( { kernel = \"encryption:table1\"; } );\n");
    scratch_write("failing_base.cfg",
                  "chip = \"gtx280\"; mix = \"./failing_mix.cfg\"; seed = 1; tick_s = 0.01; rows = 8; "
                  "cols = 8; sensor = { period_s = 0.05; };\n");
    scratch_write("failing_runs.csv", "policy,run,energy_j,mean_c\nBL,x,1,\nMU,y,2,3\n");
    scratch_write("failing_study.cfg",
                  "name = \"s\"; base = \"failing_base.cfg\"; axes = ( { key = \"policy\"; values = [\"BL\", "
                  "\"A\"]; }, "
                  "{ key = \"package.r_convec\"; range = { from = 0.2; to = 0.3; steps = 2; }; } );\n");
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* libthermix as a guest: what a program has set is what it finds after every call, and its numbers do
 * not depend on what the program has set. Built with pkg-config against an installed library.
 * Usage: host LOCALE, one with a decimal comma. */
#define _GNU_SOURCE
#include <fenv.h>
#include <gsl/gsl_errno.h>
#include <locale.h>
#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <thermix/engine.h>
#include <thermix/run.h>

#define CHECK(cond) ((cond) ? (void)0 : failed(__LINE__, #cond))

enum { N_STEP = 50, MAX_UNIT = 64, MAX_METRIC = 128 };

static FILE *screen; /* where this test speaks: the library gets files in place of its standard streams */

static void failed(int line, const char *what)
{
    fprintf(screen, "tests/api/host.c:%d: %s\n", line, what);
    exit(1);
}

/* ---- what a host owns ---- */

static void handler(const char *reason, const char *file, int line, int code)
{
    (void)reason, (void)file, (void)line, (void)code;
}

static void on_signal(int number)
{
    (void)number;
}

static void arrange(const char *comma)
{
    CHECK(setlocale(LC_ALL, comma));
    CHECK(strcmp(localeconv()->decimal_point, ",") == 0);
    gsl_set_error_handler(handler);
    for (int s = 1; s < 32; s++) {
        if (s != SIGKILL && s != SIGSTOP) {
            signal(s, on_signal);
        }
    }
    fesetround(FE_UPWARD);
    feclearexcept(FE_ALL_EXCEPT);
}

static void is_as_arranged(const char *comma)
{
    CHECK(strcmp(setlocale(LC_ALL, NULL), comma) == 0);
    CHECK(uselocale((locale_t)0) == LC_GLOBAL_LOCALE);
    gsl_error_handler_t *now = gsl_set_error_handler(handler);
    CHECK(now == handler);
    for (int s = 1; s < 32; s++) {
        struct sigaction act;
        if (s != SIGKILL && s != SIGSTOP) {
            CHECK(sigaction(s, NULL, &act) == 0 && act.sa_handler == on_signal);
        }
    }
    CHECK(fegetround() == FE_UPWARD);
    CHECK(fetestexcept(FE_ALL_EXCEPT) == 0);
}

/* ---- calls ---- */

struct job {
    const char *method, *option, *size; /* of the engine */
    double temp_k[N_STEP * MAX_UNIT];
    size_t n_unit;
    bool (*between)(void); /* after every call; NULL: nothing */
};

static const char *arranged; /* the locale */

static bool check_between(void)
{
    is_as_arranged(arranged);
    return true;
}

static void use_engine(struct job *j)
{
    const char *const options[] = {"chip=gtx280", j->method,       j->option, j->size,
                                   "grid_cols=8", "r_convec=0.15", NULL};
    double power_w[N_STEP * MAX_UNIT];
    struct tmx_engine *e = NULL;
    struct tmx_err err = {0};
    const enum tmx_status st = tmx_engine_open(&e, options, &err);
    if (st) {
        fprintf(screen, "%s: %s\n", j->method, err.msg);
    }
    CHECK(st == TMX_OK && (!j->between || j->between()));
    j->n_unit = tmx_engine_units(e);
    CHECK(j->n_unit > 1 && j->n_unit <= MAX_UNIT && !tmx_engine_unit(e, j->n_unit));
    for (size_t i = 0; i < N_STEP * j->n_unit; i++) {
        power_w[i] = (double)(i * 7919 % 13);
    }
    CHECK(tmx_engine_steady(e, power_w, true, NULL, &err) == TMX_OK && (!j->between || j->between()));
    CHECK(tmx_engine_step_many(e, 0.01, N_STEP - 1, power_w, j->temp_k, &err) == TMX_OK);
    CHECK(!j->between || j->between());
    const size_t last = (N_STEP - 1) * j->n_unit;
    CHECK(tmx_engine_step(e, 0.01, power_w + last, j->temp_k + last, &err) == TMX_OK);
    CHECK(!j->between || j->between());
    CHECK(tmx_engine_step(e, -1, power_w, NULL, &err) == TMX_ERANGE);
    power_w[1] = -1;
    CHECK(tmx_engine_step(e, 0.01, power_w, NULL, &err) == TMX_ERANGE);
    CHECK(tmx_engine_steady(e, power_w, false, NULL, &err) == TMX_ERANGE);
    power_w[1] = NAN;
    CHECK(tmx_engine_step(e, 0.01, power_w, NULL, &err) == TMX_ERANGE);
    CHECK(strstr(err.msg, tmx_engine_unit(e, 1)));
    tmx_engine_close(e);
}

struct simulation {
    const char *policy;
    double temp_k[MAX_UNIT], metric[MAX_METRIC];
    char id[64];
    bool (*between)(void);
};

static void use_run(struct simulation *s)
{
    static const char text[] =
        "chip = \"gtx280\"; mix = \"hot_cold\"; seed = 3; tick_s = 0.01; warmup_s = 1.5e0;\n"
        "rows = 8; cols = 8; package = { r_convec = 0.35; }; dtm = { policy = \"dvfs\"; };\n";
    struct tmx_config *config = NULL;
    struct tmx_run *run = NULL;
    struct tmx_err err = {0};
    bool done = false;
    size_t n = 0;
    enum tmx_status st = tmx_config_parse(&config, text, "host.c", &err);
    st = st ? st : tmx_config_set(config, s->policy, &err);
    CHECK(!s->between || s->between());
    st = st ? st : tmx_run_open(&run, config, NULL, &err);
    tmx_config_close(config);
    if (st) {
        fprintf(screen, "%s:%u: %s\n", err.file, err.line, err.msg);
    }
    CHECK(st == TMX_OK && (!s->between || s->between()));
    const double *temp_k = tmx_run_look(run, TMX_READ_UNIT_TEMP_K, &n);
    CHECK(temp_k && n == tmx_run_count(run, TMX_THING_UNIT) && n <= MAX_UNIT);
    CHECK(tmx_run_step(run, 700, &done, &err) == TMX_OK && !done && (!s->between || s->between()));
    CHECK(tmx_run_step(run, 0, &done, &err) == TMX_OK && done && (!s->between || s->between()));
    CHECK(tmx_run_step(run, 5, &done, &err) == TMX_OK && done);
    memcpy(s->temp_k, temp_k, n * sizeof *temp_k);
    n = tmx_run_count(run, TMX_THING_METRIC);
    CHECK(n > 0 && n <= MAX_METRIC && !tmx_run_name(run, TMX_THING_METRIC, n));
    CHECK(tmx_run_read(run, TMX_READ_METRIC_VALUE, s->metric, n, &err) == TMX_OK);
    CHECK(tmx_run_read(run, TMX_READ_METRIC_VALUE, s->metric, n + 1, &err) == TMX_ERANGE);
    CHECK(tmx_run_read(run, TMX_N_QUANTITY, s->metric, n, &err) == TMX_ERANGE);
    CHECK(strlen(tmx_run_text(run, TMX_TEXT_ID)) < sizeof s->id);
    strcpy(s->id, tmx_run_text(run, TMX_TEXT_ID));
    CHECK(strstr(tmx_run_text(run, TMX_TEXT_RESOLVED), "tick_s = 0.01"));
    tmx_run_close(run);
    tmx_run_close(NULL);
    CHECK(!s->between || s->between());
}

static void *run_thread(void *s)
{
    use_run(s);
    return NULL;
}

static void same_run(const struct simulation *a, const struct simulation *b)
{
    CHECK(memcmp(a->temp_k, b->temp_k, sizeof a->temp_k) == 0);
    CHECK(memcmp(a->metric, b->metric, sizeof a->metric) == 0);
    CHECK(strcmp(a->id, b->id) == 0);
}

static void refuse(const char *const *options, const char *words)
{
    struct tmx_engine *e = NULL;
    struct tmx_err err = {0};
    char text[2048];
    const enum tmx_status st = tmx_engine_open(&e, options, &err);
    tmx_err_format(&err, text, sizeof text);
    if (!st || e || !strstr(text, words)) {
        fprintf(screen, "status %d, \"%s\" lacks \"%s\"\n", (int)st, text, words);
        exit(1);
    }
}

static void refusals(void)
{
    refuse((const char *const[]){"chip=gtx281", NULL}, "did you mean \"gtx280\"?");
    refuse((const char *const[]){"chip", NULL}, "\"chip\": expected name=value");
    refuse((const char *const[]){"chip=gtx280", "c=x.config", NULL}, "no c=");
    refuse((const char *const[]){"f=x.flp", "chip=gtx280", NULL}, "no f=");
    refuse((const char *const[]){"chip=gtx280", "grid_layer_file=x.lcf", NULL}, "no grid_layer_file=");
    refuse((const char *const[]){"c=absent.config", NULL}, "absent.config");
    refuse((const char *const[]){"chips=gtx280", NULL}, "did you mean \"chip\"?");
    refuse((const char *const[]){"chip=gtx280", "grid_row=8", NULL}, "did you mean \"grid_rows\"?");
    refuse((const char *const[]){"chip=gtx280", "method=fast", NULL}, "no thermal back-end \"fast\"");
    refuse((const char *const[]){"chip=gtx280", "method=grid", "modes=3", NULL}, "no option \"modes\"");
    refuse((const char *const[]){"chip=gtx280", "leakage_used=1", NULL}, "leakage");
    refuse((const char *const[]){"chip=gtx280", "init_file=absent.init", NULL}, "absent.init");
    refuse((const char *const[]){"chip=gtx280", "use_microchannels=1", NULL}, "use_microchannels");
    refuse((const char *const[]){"chip=gtx280", "detailed_3D=on", NULL}, "grid_layer_file");
    refuse((const char *const[]){"chip=gtx280", "p=x.ptrace", NULL}, "reads no trace");
    refuse((const char *const[]){"chip=gtx280", "steady_file=x.steady", NULL}, "writes no file");
    refuse((const char *const[]){"chip=gtx280", "allow_gaps=yes", NULL}, "expected 0 or 1");
    refuse((const char *const[]){"chip=gtx280", "r_convec=0,15", NULL}, "r_convec");
}

static void *thread(void *job)
{
    for (int i = 0; i < 3; i++) {
        use_engine(job);
    }
    return NULL;
}

static size_t bytes_of(FILE *f)
{
    fflush(f);
    fseek(f, 0, SEEK_END);
    return (size_t)ftell(f);
}

int main(int argc, char **argv)
{
    static struct job plain[2] = {
        {.method = "method=reduced", .option = "cache=0", .size = "grid_rows=8"},
        {.method = "method=grid", .option = "scheme=exact", .size = "grid_rows=16"}};
    static struct job guest[2], beside[2];
    static struct simulation alone[2] = {{.policy = "policy=MU"}, {.policy = "policy=A"}}, run[2],
                             run_beside[2];
    FILE *out = tmpfile(), *err = tmpfile();
    screen = fdopen(dup(STDERR_FILENO), "w");
    if (argc != 2 || !out || !err || dup2(fileno(out), STDOUT_FILENO) < 0 ||
        dup2(fileno(err), STDERR_FILENO) < 0) {
        return 1;
    }
    for (size_t i = 0; i < 2; i++) { /* as a program alone */
        guest[i] = beside[i] = plain[i];
        run[i] = run_beside[i] = alone[i];
        use_engine(&plain[i]);
        use_run(&alone[i]);
    }
    arranged = argv[1];
    arrange(arranged);
    for (size_t i = 0; i < 2; i++) {
        guest[i].between = check_between;
        use_engine(&guest[i]);
        run[i].between = check_between;
        use_run(&run[i]);
        same_run(&run[i], &alone[i]);
        CHECK(memcmp(guest[i].temp_k, plain[i].temp_k, sizeof plain[i].temp_k) == 0);
    }
    refusals();
    is_as_arranged(arranged);

    pthread_t t[4]; /* engines and runs at a time, and nothing is left behind */
    for (size_t i = 0; i < 2; i++) {
        CHECK(pthread_create(&t[i], NULL, thread, &beside[i]) == 0);
        CHECK(pthread_create(&t[2 + i], NULL, run_thread, &run_beside[i]) == 0);
    }
    for (size_t i = 0; i < 4; i++) {
        pthread_join(t[i], NULL);
    }
    for (size_t i = 0; i < 2; i++) {
        same_run(&run_beside[i], &alone[i]);
        CHECK(memcmp(beside[i].temp_k, plain[i].temp_k, sizeof plain[i].temp_k) == 0);
    }
    is_as_arranged(arranged);
    fflush(NULL);
    CHECK(bytes_of(out) == 0 && bytes_of(err) == 0);
    fprintf(screen, "ok\n");
    return 0;
}

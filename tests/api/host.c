/* libthermix as a guest: what a program has set is what it finds after every call, and its numbers do
 * not depend on what the program has set. Built with pkg-config against an installed library.
 * Usage: host LOCALE, one with a decimal comma. */
#define _GNU_SOURCE
#include <cblas.h>
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

#define CHECK(cond) ((cond) ? (void)0 : failed(__LINE__, #cond))

enum { N_STEP = 50, MAX_UNIT = 64 };

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
    openblas_set_num_threads(2);
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
    CHECK(openblas_get_num_threads() == 2);
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
    power_w[1] = NAN;
    CHECK(tmx_engine_step(e, 0.01, power_w, NULL, &err) == TMX_ERANGE);
    CHECK(strstr(err.msg, tmx_engine_unit(e, 1)));
    tmx_engine_close(e);
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
    refuse((const char *const[]){"c=absent.config", NULL}, "absent.config");
    refuse((const char *const[]){"chips=gtx280", NULL}, "did you mean \"chip\"?");
    refuse((const char *const[]){"chip=gtx280", "grid_row=8", NULL}, "did you mean \"grid_rows\"?");
    refuse((const char *const[]){"chip=gtx280", "method=fast", NULL}, "no thermal back-end \"fast\"");
    refuse((const char *const[]){"chip=gtx280", "method=grid", "modes=3", NULL}, "no option \"modes\"");
    refuse((const char *const[]){"chip=gtx280", "leakage_used=1", NULL}, "leakage");
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
    FILE *out = tmpfile(), *err = tmpfile();
    screen = fdopen(dup(STDERR_FILENO), "w");
    if (argc != 2 || !out || !err || dup2(fileno(out), STDOUT_FILENO) < 0 ||
        dup2(fileno(err), STDERR_FILENO) < 0) {
        return 1;
    }
    for (size_t i = 0; i < 2; i++) { /* as a program alone */
        guest[i] = beside[i] = plain[i];
        use_engine(&plain[i]);
    }
    arranged = argv[1];
    arrange(arranged);
    for (size_t i = 0; i < 2; i++) {
        guest[i].between = check_between;
        use_engine(&guest[i]);
        CHECK(memcmp(guest[i].temp_k, plain[i].temp_k, sizeof plain[i].temp_k) == 0);
    }
    refusals();
    is_as_arranged(arranged);

    pthread_t t[2]; /* two at a time, and nothing is left behind */
    for (size_t i = 0; i < 2; i++) {
        CHECK(pthread_create(&t[i], NULL, thread, &beside[i]) == 0);
    }
    for (size_t i = 0; i < 2; i++) {
        pthread_join(t[i], NULL);
        CHECK(memcmp(beside[i].temp_k, plain[i].temp_k, sizeof plain[i].temp_k) == 0);
    }
    is_as_arranged(arranged);
    fflush(NULL);
    CHECK(bytes_of(out) == 0 && bytes_of(err) == 0);
    fprintf(screen, "ok\n");
    return 0;
}

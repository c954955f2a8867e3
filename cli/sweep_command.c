#include "cli/sweep_command.h"

#include <argp.h>
#include <stdlib.h>
#include <string.h>

#include "cli/commands.h"
#include "run/input/data.h"
#include "study/study_mpi.h"
#include "study/table_out.h"

enum { KEY_SHARD = 256, KEY_DRY_RUN, KEY_LIMIT, KEY_RETRY };

struct arguments {
    const char *sweep, *out;
    unsigned long jobs, shard, n_shard, limit;
    bool dry_run, quiet, retry_failed;
};

static const struct argp_option options[] = {
    {"output", 'o', "DB", 0, "results database, made or continued (default: <name>.sqlite)", 0},
    {"jobs", 'j', "N", 0, "runs at a time (default: one a processor)", 0},
    {"shard", KEY_SHARD, "I/N", 0, "only part I of N (1..N), for job arrays; join them with `thermix merge`",
     0},
    {"dry-run", KEY_DRY_RUN, 0, 0, "print the points as CSV and stop", 0},
    {"limit", KEY_LIMIT, "N", 0, "at most N runs now", 0},
    {"retry-failed", KEY_RETRY, 0, 0, "run failed points again", 0},
    {"quiet", 'q', 0, 0, "no progress line", 0},
    {0},
};

static unsigned long count(const char *text, struct argp_state *state)
{
    char *end;
    const unsigned long n = strtoul(text, &end, 10);
    if (*end || end == text || text[0] == '-' || n > 1000000) {
        argp_error(state, "\"%s\" is not a number from 0 to 1000000", text);
    }
    return n;
}

static void shard(struct arguments *a, const char *text, struct argp_state *state)
{
    char *slash;
    a->shard = strtoul(text, &slash, 10);
    a->n_shard = *slash == '/' ? count(slash + 1, state) : 0;
    if (a->shard < 1 || a->shard > a->n_shard) {
        argp_error(state, "--shard %s: expected I/N with I from 1 to N", text);
    }
    a->shard--;
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct arguments *a = state->input;
    switch (key) {
    case 'o':
        a->out = arg;
        return 0;
    case 'j':
        a->jobs = count(arg, state);
        return 0;
    case 'q':
        a->quiet = true;
        return 0;
    case KEY_SHARD:
        shard(a, arg, state);
        return 0;
    case KEY_DRY_RUN:
        a->dry_run = true;
        return 0;
    case KEY_LIMIT:
        a->limit = count(arg, state);
        return 0;
    case KEY_RETRY:
        a->retry_failed = true;
        return 0;
    case ARGP_KEY_ARG:
        if (a->sweep) {
            argp_error(state, "one sweep at a time");
        }
        a->sweep = arg;
        return 0;
    case ARGP_KEY_END:
        if (!a->sweep) {
            argp_error(state, "which sweep? A file, or a name of workloads/suites/");
        }
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp argp = {
    options,
    parse,
    "SWEEP",
    "Run a parameter study and keep its results in one database.\v"
    "Stop it at any moment and start it again: finished runs are not repeated. A run that fails is a row "
    "with "
    "its error. Progress goes to standard error, one line a run to DB.log.\n\n"
    "Example:\n"
    "  thermix sweep cooling -o cooling.sqlite -j 2\n"
    "  thermix query cooling.sqlite --rows r_convec --pivot policy --value slowdown_pct\n\n"
    "On many machines: mpirun -n 64 thermix sweep cooling -o cooling.sqlite, or job arrays with --shard.",
    NULL,
    NULL,
    NULL};

static enum tmx_status print_points(const struct tmx_sweep *s, struct tmx_err *err)
{
    struct tmx_table *t = NULL;
    struct tmx_column *columns = calloc(s->n_key + 1, sizeof *columns);
    if (!columns) {
        return tmx_fail(err, TMX_ENOMEM, "out of memory");
    }
    columns[0] = (struct tmx_column){"point", TMX_COLUMN_INT, 0};
    for (size_t k = 0; k < s->n_key; k++) {
        columns[k + 1] = (struct tmx_column){s->key[k], TMX_COLUMN_TEXT, 0};
    }
    enum tmx_status st = tmx_table_create(&t, columns, s->n_key + 1, err);
    free(columns);
    for (size_t i = 0; i < s->n_point && !st; i++) {
        tmx_table_int(t, (int64_t)i);
        for (size_t k = 0; k < s->n_key; k++) {
            const char *v = tmx_sweep_value(s, i, k);
            char plain[TMX_SWEEP_TEXT];
            const size_t quoted = v[0] == '"';
            snprintf(plain, sizeof plain, "%.*s", (int)(strlen(v) - 2 * quoted), v + quoted);
            tmx_table_text(t, plain);
        }
    }
    st = st ? st : tmx_table_save(t, TMX_FORMAT_CSV, "-", err);
    tmx_table_destroy(t);
    return st;
}

static void report(const struct tmx_study *s, const char *path)
{
    printf("%zu points, %zu distinct runs: %zu there before, %zu done now, %zu failed; %s\n",
           s->sweep->n_point, s->n_run, s->n_before, s->n_done, s->n_failed, path);
    if (s->n_failed > 0) {
        printf("The errors: thermix query %s --failed; run them again: --retry-failed\n", path);
    }
}

static enum tmx_status lead(const struct tmx_mpi *mpi, const struct tmx_sweep *sweep,
                            const struct tmx_runner *runner, const struct tmx_study_options *o,
                            struct tmx_err *err)
{
    struct tmx_study s;
    enum tmx_status st = tmx_study_begin(&s, sweep, runner, o, err);
    if (mpi->size > 1) {
        struct tmx_study nothing = {.options = o};
        struct tmx_err ignored;
        const enum tmx_status led = tmx_mpi_lead(mpi, st ? &nothing : &s, st ? &ignored : err);
        st = st ? st : led;
    } else if (!st) {
        st = tmx_study_run_local(&s, err);
    }
    if (s.results) {
        report(&s, o->path);
        tmx_study_end(&s);
    }
    return st;
}

static enum tmx_status run(const struct arguments *a, const struct tmx_mpi *mpi,
                           const struct tmx_runner *runner, struct tmx_err *err)
{
    char path[TMX_PATH_SIZE], out[TMX_SWEEP_TEXT];
    struct tmx_sweep sweep = {0};
    enum tmx_status st = tmx_data_find(TMX_DATA_SUITE, a->sweep, path, err);
    st = st ? st : tmx_sweep_load(&sweep, path, err);
    if (st) {
        return st;
    }
    snprintf(out, sizeof out, "%s%s", a->out ? a->out : sweep.name, a->out ? "" : ".sqlite");
    const struct tmx_study_options o = {.path = out,
                                        .n_worker = (unsigned)a->jobs,
                                        .shard = a->shard,
                                        .n_shard = a->n_shard,
                                        .limit = a->limit,
                                        .retry_failed = a->retry_failed,
                                        .quiet = a->quiet,
                                        .version = TMX_VERSION};
    if (a->dry_run) {
        st = mpi->rank == 0 ? print_points(&sweep, err) : TMX_OK;
    } else if (mpi->rank == 0) {
        st = lead(mpi, &sweep, runner, &o, err);
    } else {
        struct tmx_study s;
        tmx_study_begin_worker(&s, &sweep, runner, &o);
        st = tmx_mpi_follow(&s, err);
    }
    tmx_sweep_finish(&sweep);
    return st;
}

int tmx_sweep_command(int argc, char **argv, const struct tmx_runner *runner)
{
    struct arguments a = {.n_shard = 1};
    struct tmx_err err = {0};
    struct tmx_mpi mpi;
    argp_parse(&argp, argc, argv, 0, NULL, &a); /* ends the program on an error and after --help */
    enum tmx_status st = tmx_mpi_begin(&mpi, &argc, &argv, &err);
    if (!st) {
        st = run(&a, &mpi, runner, &err);
        tmx_mpi_end();
    }
    return tmx_command_end("sweep", st, &err);
}

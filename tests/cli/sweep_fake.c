/* SPDX-License-Identifier: GPL-3.0-or-later */
/* `thermix sweep` on arithmetic in place of a simulation, for the tests of killing and resuming: keys x, y,
 * sleep_ms, crash. The linker puts the functions below in the place of those that make, run and read a run.
 */
#define _POSIX_C_SOURCE 200809L
#include <argp.h>
#include <gsl/gsl_errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/config.h"
#include "base/opt.h"
#include "base/plausible.h"
#include "cli/commands.h"
#include "core/sim/sim.h"
#include "run/run.h"

struct fake {
    double x, y;
    int sleep_ms, seed;
    bool crash;
    char *keys;
};

static const struct tmx_opt opts[] = {
    TMX_ROW_REAL(fake, x, "1", -1e3, 1e3, 0, "any"),
    TMX_ROW_REAL(fake, y, "1", -1e3, 1e3, 0, "any"),
    TMX_ROW_INT(fake, sleep_ms, "ms", 0, 1e4, 0, "time a run takes"),
    TMX_ROW_INT(fake, seed, "1", 0, 1e6, 1, "any"),
    TMX_ROW_BOOL(fake, crash, 0, "end by a signal"),
    {0},
};

static const struct fake *of(const struct tmx_run *run)
{
    return (const void *)run;
}

void __wrap_tmx_run_destroy(struct tmx_run *run);
void __wrap_tmx_run_destroy(struct tmx_run *run)
{
    struct fake *f = (void *)run;
    if (f) {
        free(f->keys);
        free(f);
    }
}

enum tmx_status __wrap_tmx_run_load(struct tmx_run **run, const char *path, const struct tmx_run_how *how,
                                    struct tmx_err *err);
enum tmx_status __wrap_tmx_run_load(struct tmx_run **run, const char *path, const struct tmx_run_how *how,
                                    struct tmx_err *err)
{
    struct fake *f = calloc(1, sizeof *f);
    struct tmx_config *cfg = NULL;
    size_t size;
    FILE *out = f ? open_memstream(&f->keys, &size) : NULL;
    enum tmx_status st = out ? tmx_config_load(&cfg, path, how->sets, err) : tmx_no_memory(err);
    st = st ? st : tmx_opt_read(opts, f, tmx_config_root(cfg), NULL, err);
    if (out) {
        struct tmx_writer w = {.full = out};
        tmx_opt_write(opts, f, &w);
        (void)!tmx_writer_finish(&w, NULL, err);
        fclose(out);
    }
    tmx_config_close(cfg);
    *run = (void *)f;
    if (st) {
        __wrap_tmx_run_destroy(*run);
        *run = NULL;
    }
    return st;
}

const char *__wrap_tmx_run_keys(const struct tmx_run *run);
const char *__wrap_tmx_run_keys(const struct tmx_run *run)
{
    return of(run)->keys;
}

const char *__wrap_tmx_run_resolved(const struct tmx_run *run);
const char *__wrap_tmx_run_resolved(const struct tmx_run *run)
{
    return of(run)->keys;
}

const char *__wrap_tmx_run_id(const struct tmx_run *run);
const char *__wrap_tmx_run_id(const struct tmx_run *run)
{
    return run ? "fake" : "";
}

void __wrap_tmx_run_warn_of_result(const struct tmx_run *run);
void __wrap_tmx_run_warn_of_result(const struct tmx_run *run)
{
    if (of(run)->y >= 2) {
        tmx_warn("y = %g is high", of(run)->y);
    }
}

struct tmx_sim *__wrap_tmx_run_sim(struct tmx_run *run);
struct tmx_sim *__wrap_tmx_run_sim(struct tmx_run *run)
{
    return (void *)run;
}

static double sum(const struct tmx_run *run)
{
    return of(run)->x + of(run)->y;
}

static double product(const struct tmx_run *run)
{
    return of(run)->x * of(run)->y / 3;
}

extern const struct tmx_metric __wrap_tmx_metrics[];
const struct tmx_metric __wrap_tmx_metrics[] = {
    {"sum", "", 0, .value = sum}, {"product", "", 0, .value = product}, {0}};

bool __wrap_tmx_run_has_metric(const struct tmx_run *run, const struct tmx_metric *metric);
bool __wrap_tmx_run_has_metric(const struct tmx_run *run, const struct tmx_metric *metric)
{
    (void)run;
    return metric->name;
}

static enum tmx_status simulate(const struct fake *f, struct tmx_err *err)
{
    const struct timespec t = {.tv_sec = f->sleep_ms / 1000, .tv_nsec = f->sleep_ms % 1000 * 1000000L};
    nanosleep(&t, NULL);
    if (f->crash) {
        raise(SIGKILL);
    }
    return f->x < 0 ? tmx_fail(err, TMX_EUNFINISHED, "x = %g never ends", f->x) : TMX_OK;
}

/* One after another. */
void __wrap_tmx_lockstep_run(const struct tmx_lockstep_tasks *t, const size_t *task, size_t n);
void __wrap_tmx_lockstep_run(const struct tmx_lockstep_tasks *t, const size_t *task, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        struct tmx_observer observer = {0};
        struct tmx_sim *sim = NULL;
        struct tmx_err err = {0};
        void *own = NULL;
        enum tmx_status st = t->begin(t->ctx, task[i], &sim, &observer, &own, &err);
        st = st ? st : simulate((const void *)sim, &err);
        t->end(t->ctx, task[i], own, st, &err);
    }
}

int main(int argc, char **argv)
{
    gsl_set_error_handler_off();
    argp_err_exit_status = 2;
    return tmx_command_main(&tmx_cmd_sweep, argc, argv);
}

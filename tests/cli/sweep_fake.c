/* SPDX-License-Identifier: GPL-3.0-or-later */
/* `thermix sweep` on arithmetic in place of a simulation, for the tests of killing and
 * resuming: keys x, y, sleep_ms, crash. */
#define _POSIX_C_SOURCE 200809L
#include <argp.h>
#include <gsl/gsl_errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cli/commands.h"
#include "core/base/config.h"
#include "core/base/opt.h"
#include "study/points.h"

struct fake {
    double x, y;
    int sleep_ms, seed;
    bool crash;
};

static const struct tmx_opt opts[] = {
    TMX_ROW_REAL(fake, x, "1", -1e3, 1e3, 0, "any"),
    TMX_ROW_REAL(fake, y, "1", -1e3, 1e3, 0, "any"),
    TMX_ROW_INT(fake, sleep_ms, "ms", 0, 1e4, 0, "time a run takes"),
    TMX_ROW_INT(fake, seed, "1", 0, 1e6, 1, "any"),
    TMX_ROW_BOOL(fake, crash, 0, "end by a signal"),
    {0},
};

static enum tmx_status read(struct fake *f, const struct tmx_point *p, struct tmx_err *err)
{
    struct tmx_config *cfg = NULL;
    enum tmx_status st = tmx_point_load(&cfg, p, err);
    if (!st) {
        st = tmx_opt_read(opts, f, tmx_config_root(cfg), NULL, err);
    }
    tmx_config_close(cfg);
    return st;
}

static enum tmx_status resolve(void *ctx, const struct tmx_point *p, FILE *out, struct tmx_err *err)
{
    struct fake f;
    (void)ctx;
    const enum tmx_status st = read(&f, p, err);
    if (!st) {
        tmx_opt_write(opts, &f, "", out);
    }
    return st;
}

static enum tmx_status run(void *ctx, const struct tmx_point *p, struct tmx_measures *m, struct tmx_err *err)
{
    struct fake f;
    (void)ctx;
    enum tmx_status st = read(&f, p, err);
    if (st) {
        return st;
    }
    const struct timespec t = {.tv_sec = f.sleep_ms / 1000, .tv_nsec = f.sleep_ms % 1000 * 1000000L};
    nanosleep(&t, NULL);
    if (f.crash) {
        raise(SIGKILL);
    }
    if (f.x < 0) {
        return tmx_fail(err, TMX_EUNFINISHED, "x = %g never ends", f.x);
    }
    st = tmx_measures_add(m, "sum", f.x + f.y, err);
    return st ? st : tmx_measures_add(m, "product", f.x * f.y / 3, err);
}

static enum tmx_status sweep(void *args, struct tmx_err *err)
{
    static const struct tmx_runner runner = {.resolve = resolve, .run = run};
    return tmx_sweep_with(args, &runner, err);
}

int main(int argc, char **argv)
{
    struct tmx_command c = tmx_cmd_sweep;
    c.run = sweep;
    gsl_set_error_handler_off();
    argp_err_exit_status = 2;
    return tmx_command_main(&c, argc, argv);
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TMX_TESTS_SUPPORT_OPEN_RUN_H
#define TMX_TESTS_SUPPORT_OPEN_RUN_H

/* A run from the text of a configuration, and what it measures. */

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/config.h"
#include "run/run.h"
#include "tests/support/check.h"

/* The run of a configuration; NULL and *err: it is refused. */
static inline struct tmx_run *try_run(const char *text, struct tmx_err *err)
{
    struct tmx_run *run = NULL;
    struct tmx_config *cfg = NULL;
    if (tmx_config_parse(&cfg, text, "test", err) || tmx_run_create(&run, tmx_config_root(cfg), NULL, err)) {
        run = NULL;
    }
    tmx_config_close(cfg);
    return run;
}

/* The run of this configuration, printed as by printf; what refuses it fails the test. tmx_run_destroy. */
TMX_PRINTF(1, 2) static inline struct tmx_run *open_run(const char *format, ...)
{
    char text[2048];
    struct tmx_err err = {0};
    va_list args;
    va_start(args, format);
    assert_in_range(vsnprintf(text, sizeof text, format, args), 0, sizeof text - 1);
    va_end(args);
    struct tmx_run *run = try_run(text, &err);
    if (!run) {
        fail_msg("%s:%u: %s, in: %s", err.file, err.line, err.msg, text);
    }
    return run;
}

static inline void ticks(struct tmx_run *run, size_t n)
{
    struct tmx_err err = {0};
    for (size_t i = 0; i < n; i++) {
        if (tmx_sim_tick(tmx_run_sim(run), &err)) {
            fail_msg("tick %zu: %s", i, err.msg);
        }
    }
}

static inline double metric(const struct tmx_run *run, const char *name)
{
    for (const struct tmx_metric *m = tmx_metrics; m->name; m++) {
        if (strcmp(m->name, name) == 0) {
            return tmx_run_metric(run, m);
        }
    }
    fail_msg("no metric %s", name);
    return 0;
}

#endif

/* thermix check: is this configuration fit to run? */
#include <stdio.h>

#include "cli/commands.h"
#include "core/base/config.h"
#include "run/input/data.h"
#include "run/run.h"

struct args {
    struct tmx_texts config, set;
};

static const struct tmx_arg rows[] = {TMX_ARG_SET(args, set, ""), {0}};

static enum tmx_status run(void *args, struct tmx_err *err)
{
    const struct args *a = args;
    struct tmx_run *r = NULL;
    struct tmx_config *cfg = NULL;
    char path[TMX_PATH_SIZE];
    enum tmx_status st = tmx_data_find(TMX_DATA_RUN, a->config.text[0], path, err);
    if (st) {
        return st;
    }
    st = tmx_config_load(&cfg, path, (const char *const *)a->set.text, a->set.n, err);
    st = st ? st : tmx_run_open(&r, tmx_config_root(cfg), err);
    if (!st) {
        fputs(tmx_run_resolved(r), stdout);
    }
    tmx_run_close(r);
    tmx_config_close(cfg);
    return st;
}

const struct tmx_command tmx_cmd_check = {
    .name = "check",
    .summary = "check a configuration without running it",
    .doc = "Check a run's configuration and everything it names; print it resolved.",
    .examples = "thermix check wl1",
    .args = rows,
    .operands = "CONFIG",
    .operand = offsetof(struct args, config),
    .min_operand = 1,
    .max_operand = 1,
    .which = "which configuration?",
    .operand_names = TMX_NAMES_RUN,
    .size = sizeof(struct args),
    .run = run,
};

/* thermix check: is this configuration fit to run? */
#include <argp.h>
#include <stdio.h>

#include "cli/commands.h"
#include "core/base/config.h"
#include "run/run.h"

enum { MAX_SET = 256, KEY_SET = 256 };

struct args {
    const char *config;
    const char *set[MAX_SET];
    size_t n_set;
};

static const struct argp_option options[] = {
    {"set", KEY_SET, "KEY=VALUE", 0, "override a key; may be repeated", 0},
    {0},
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct args *a = state->input;
    switch (key) {
    case KEY_SET:
        if (a->n_set == MAX_SET) {
            argp_error(state, "too many --set");
        }
        a->set[a->n_set++] = arg;
        return 0;
    case ARGP_KEY_ARG:
        a->config = arg;
        return 0;
    case ARGP_KEY_END:
        if (!a->config) {
            argp_error(state, "which configuration?");
        }
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

int tmx_cmd_check(int argc, char **argv)
{
    static const struct argp argp = {options,
                                     parse,
                                     "CONFIG",
                                     "Check a run's configuration and everything it names; print it resolved."
                                     "\vExample: thermix check workloads/runs/wl1.cfg",
                                     NULL,
                                     NULL,
                                     NULL};
    struct args a = {0};
    struct tmx_err err = {0};
    struct tmx_run *run = NULL;
    struct tmx_config *cfg = NULL;
    argp_parse(&argp, argc, argv, 0, NULL, &a);
    enum tmx_status st = tmx_config_load(&cfg, a.config, a.set, a.n_set, &err);
    st = st ? st : tmx_run_open(&run, tmx_config_root(cfg), &err);
    if (!st) {
        fputs(tmx_run_resolved(run), stdout);
    }
    tmx_run_close(run);
    tmx_config_close(cfg);
    return tmx_command_end("check", st, &err);
}

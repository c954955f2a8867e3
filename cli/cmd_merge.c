#include <argp.h>
#include <stdio.h>

#include "cli/commands.h"
#include "study/results.h"

struct arguments {
    const char *out;
    const char *const *from; /* [n_from] */
    size_t n_from;
};

static const struct argp_option options[] = {
    {"output", 'o', "DB", 0, "database to make or to add to", 0},
    {0},
};

static error_t parse(int key, char *arg, /* NOLINT(readability-non-const-parameter): argp's type */
                     struct argp_state *state)
{
    struct arguments *a = state->input;
    switch (key) {
    case 'o':
        a->out = arg;
        return 0;
    case ARGP_KEY_ARGS:
        a->from = (const char *const *)(state->argv + state->next);
        a->n_from = (size_t)(state->argc - state->next);
        return 0;
    case ARGP_KEY_END:
        if (!a->out || a->n_from == 0) {
            argp_error(state, "expected databases and -o DB");
        }
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp argp = {options,
                                 parse,
                                 "DB...",
                                 "Join the databases of one study's parts.\v"
                                 "A run that several parts hold is taken once; a finished run replaces a "
                                 "failed one.\n\nExample:\n"
                                 "  thermix sweep cooling --shard 1/2 -o a.sqlite\n"
                                 "  thermix sweep cooling --shard 2/2 -o b.sqlite\n"
                                 "  thermix merge a.sqlite b.sqlite -o all.sqlite",
                                 NULL,
                                 NULL,
                                 NULL};

int tmx_cmd_merge(int argc, char **argv)
{
    struct arguments a = {0};
    struct tmx_err err = {0};
    struct tmx_result_set set = {0};
    argp_parse(&argp, argc, argv, 0, NULL, &a);
    enum tmx_status st = tmx_results_merge(a.out, a.from, a.n_from, &err);
    if (!st) {
        st = tmx_results_load(&set, a.out, &err);
    }
    if (!st) {
        printf("%zu runs of %zu points; %s\n", set.n_run, set.n_point, a.out);
    }
    tmx_result_set_finish(&set);
    return tmx_command_end("merge", st, &err);
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <argp.h>
#include <gsl/gsl_errno.h>
#include <string.h>

#include "cli/commands.h"
#include "core/base/inputs.h"
#include "core/store/keep.h"

int main(int argc, char **argv)
{
    struct tmx_err err = {0};
    char name[64];               /* argp prints argv[0] in messages */
    gsl_set_error_handler_off(); /* GSL's default handler aborts; every return is checked */
    argp_err_exit_status = 2;
    argp_program_version = "thermix " TMX_VERSION;
    if (argc < 2) {
        tmx_commands_usage(stderr);
        return 2;
    }
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0) {
        tmx_commands_usage(stdout);
        return 0;
    }
    if (strcmp(argv[1], "--version") == 0 || strcmp(argv[1], "-V") == 0) {
        printf("thermix %s\n", TMX_VERSION);
        return 0;
    }
    if (strcmp(argv[1], "complete") ==
        0) { /* a shell's question, see help.c: any word may follow, "--help" too */
        tmx_complete(tmx_commands, (const char *const *)argv + 2, (size_t)argc - 2, stdout);
        return 0;
    }
    const struct tmx_command *c = tmx_command_find(argv[1]);
    if (!c) {
        const enum tmx_status st = tmx_command_unknown(argv[1], &err);
        char text[1100];
        tmx_err_format(&err, text, sizeof text);
        fprintf(stderr, "thermix: %s\n", text);
        return tmx_status_exit_code(st);
    }
    uint64_t cache_bytes;
    const enum tmx_status st = tmx_cache_limit(&cache_bytes, &err);
    if (st) { /* said here, once: writing to the cache fails in silence */
        return tmx_command_end(c->name, st, &err);
    }
    snprintf(name, sizeof name, "thermix %s", c->name);
    argv[1] = name;
    struct tmx_inputs inputs = {0}; /* no output of a command replaces what it has read */
    tmx_inputs_begin(&inputs);
    const int code = tmx_command_main(c, argc - 1, argv + 1);
    tmx_inputs_end(&inputs);
    tmx_inputs_finish(&inputs);
    return code;
}

#include <stdio.h>

#include "cli/commands.h"

int tmx_command_end(const char *command, enum tmx_status st, const struct tmx_err *err)
{
    if (st) {
        char text[2048];
        struct tmx_err e = *err;
        e.code = st;
        tmx_err_format(&e, text, sizeof text);
        if (err->file[0]) {
            fprintf(stderr, "%s\n", text); /* file:line: ... stands first, as editors want it */
        } else {
            fprintf(stderr, "thermix %s: %s\n", command, text);
        }
    }
    return tmx_status_exit_code(st);
}

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "cli/commands.h"

int tmx_command_end(const char *command, enum tmx_status st, const struct tmx_err *err)
{
    struct tmx_err e = *err;
    errno = 0;
    if (!st && (fflush(stdout) != 0 || ferror(stdout))) {
        st = tmx_fail(&e, TMX_EIO, "cannot write to standard output: %s",
                      errno ? strerror(errno) : "write error");
    }
    if (st) {
        char text[2048];
        e.code = st;
        tmx_err_format(&e, text, sizeof text);
        if (e.file[0]) {
            fprintf(stderr, "%s\n", text); /* file:line: ... stands first, as editors want it */
        } else {
            fprintf(stderr, "thermix %s: %s\n", command, text);
        }
    }
    return tmx_status_exit_code(st);
}

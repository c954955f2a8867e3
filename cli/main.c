/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _POSIX_C_SOURCE 200809L
#include <argp.h>
#include <errno.h>
#include <fcntl.h>
#include <gsl/gsl_errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/cache.h"
#include "base/os.h"
#include "base/provenance.h"
#include "base/text.h"
#include "cli/commands.h"

static const char *const limits[][2] = {{"--max-minutes", "THERMIX_MAX_MINUTES"},
                                        {"--max-gb", "THERMIX_MAX_GB"}};
enum { N_LIMIT = sizeof limits / sizeof limits[0] };

static bool is_limit(const char *value)
{
    double v;
    return tmx_text_real(value, &v) && v > 0;
}

/* Variables that say something wrong would otherwise say nothing. */
static void check_environment(struct tmx_err *err)
{
    const char *data = getenv("THERMIX_DATA");
    uint64_t cache_bytes;
    for (size_t k = 0; k < N_LIMIT; k++) {
        const char *value = getenv(limits[k][1]);
        if (value && !is_limit(value)) {
            tmx_error(err, TMX_ECONFIG, "%s = \"%s\"; expected a number above 0", limits[k][1], value);
        }
    }
    if (data && *data && !tmx_os_exists(data)) {
        tmx_error(err, TMX_ECONFIG, "THERMIX_DATA = \"%s\": no such folder", data);
    }
    /* said here, once: writing to the cache fails in silence */
    (void)(err->code || tmx_cache_limit(&cache_bytes, err));
}

/* At the end, also where argp ends the program after --help: did everything reach the screen? */
static void check_output(void)
{
    errno = 0;
    if (fflush(stdout) != 0 || ferror(stdout)) {
        fprintf(stderr, "thermix: cannot write to standard output: %s\n",
                errno ? strerror(errno) : "write error");
        _exit(tmx_status_exit_code(TMX_EFULL));
    }
}

/* Options of every command: bounds of what is computed without asking (base/cost.h), and --accept, which
 * takes values that are far from every machine's (base/plausible.h). Taken out of argv; false after a
 * mistake, which the program reports. */
static bool take_limits(int *argc, char **argv)
{
    int kept = 1;
    bool all = false; /* "--": operands follow */
    for (int i = 1; i < *argc; i++) {
        const char *value = NULL, *to = NULL, *option = NULL;
        all = all || strcmp(argv[i], "--") == 0;
        for (size_t k = 0; k < N_LIMIT && !all; k++) {
            const size_t n = strlen(limits[k][0]);
            if (strncmp(argv[i], limits[k][0], n) == 0 && (argv[i][n] == '=' || !argv[i][n])) {
                to = limits[k][1];
                option = limits[k][0];
                value = argv[i][n] ? argv[i] + n + 1 : i + 1 < *argc ? argv[++i] : "";
            }
        }
        if (!all && strcmp(argv[i], "--accept") == 0) {
            to = "THERMIX_ACCEPT";
            option = argv[i];
            value = "1";
        }
        if (!to) {
            argv[kept++] = argv[i];
        } else if (!is_limit(value) || setenv(to, value, 1) != 0) {
            fprintf(stderr, "thermix: %s: \"%s\" is not a number above 0\n", option, value);
            return false;
        }
    }
    *argc = kept;
    argv[kept] = NULL;
    return true;
}

/* What the machine leaves this process. The next file that is opened takes the place of a standard stream
 * that is closed, and messages would land in it. A limit on sizes is a failed write, which is reported. */
static void take_place(void)
{
    enum { LEAST_MIB = 400 };
    for (int fd = 0; fd <= 2; fd++) {
        if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", fd == 0 ? O_RDONLY : O_WRONLY) != fd) {
            _exit(1);
        }
    }
    signal(SIGXFSZ, SIG_IGN);
    struct rlimit space;
    if (getrlimit(RLIMIT_AS, &space) == 0 && space.rlim_cur != RLIM_INFINITY &&
        space.rlim_cur >> 20 < LEAST_MIB) {
        fprintf(stderr, "thermix: %llu MiB of address space (ulimit -v); it takes at least %d MiB\n",
                (unsigned long long)(space.rlim_cur >> 20), LEAST_MIB);
        _exit(1);
    }
}

int main(int argc, char **argv)
{
    struct tmx_err err = {0};
    take_place();
    char name[64];               /* argp prints argv[0] in messages */
    gsl_set_error_handler_off(); /* GSL's default handler aborts; every return is checked */
    argp_err_exit_status = 2;
    argp_program_version = "thermix " TMX_VERSION;
    if (atexit(check_output) != 0) {
        return 1;
    }
    const bool completing = argc > 1 && strcmp(argv[1], "complete") == 0;
    if (!completing && !take_limits(&argc, argv)) {
        return 2;
    }
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
    if (completing) { /* a shell's question, see complete.c: any word may follow, "--help" too */
        tmx_complete((const char *const *)argv + 2, (size_t)argc - 2, stdout);
        return 0;
    }
    const struct tmx_command *c = tmx_command_find(argv[1], &err);
    check_environment(&err);
    if (err.code) {
        return tmx_command_end(c ? c->name : NULL, &err);
    }
    snprintf(name, sizeof name, "thermix %s", c->name);
    argv[1] = name;
    struct tmx_provenance inputs = {0}; /* no output of a command replaces what it has read */
    tmx_provenance_begin(&inputs);
    const int code = tmx_command_main(c, argc - 1, argv + 1);
    tmx_provenance_end(&inputs);
    tmx_provenance_finish(&inputs);
    return code;
}

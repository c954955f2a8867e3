#define _XOPEN_SOURCE 700 /* POSIX 2008 with realpath */
#include "core/base/os.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum tmx_status tmx_output_open(struct tmx_output *o, const char *path, struct tmx_err *err)
{
    struct stat info;
    *o = (struct tmx_output){0};
    if ((size_t)snprintf(o->path, sizeof o->path, "%s", path) >= sizeof o->path) {
        return tmx_fail_at(err, TMX_EIO, path, 0, "file name too long");
    }
    if (strcmp(path, "-") == 0) {
        o->file = stdout;
        return TMX_OK;
    }
    const bool there = stat(path, &info) == 0;
    if ((there && !S_ISREG(info.st_mode)) || strncmp(path, "/dev/", 5) == 0) {
        o->file = fopen(path, "w"); /* a folder fails here, a pipe or device is written directly */
    } else if (!there || access(path, W_OK) == 0) {
        char *target = there ? realpath(path, NULL) : NULL; /* a link stays, what it names is written */
        if (target && strlen(target) < sizeof o->path) {
            memcpy(o->path, target, strlen(target) + 1);
        }
        free(target);
        const mode_t mask = umask(0);
        umask(mask);
        snprintf(o->temp, sizeof o->temp, "%s.tmp-XXXXXX", o->path);
        const int fd = mkstemp(o->temp);
        if (fd >= 0) {
            fchmod(fd, there ? info.st_mode & 0777 : 0666 & ~mask);
            o->file = fdopen(fd, "w");
        }
    }
    if (!o->file) {
        return tmx_fail_at(err, TMX_EIO, path, 0, "cannot write: %s", strerror(errno));
    }
    return TMX_OK;
}

enum tmx_status tmx_output_check(struct tmx_output *o, struct tmx_err *err)
{
    errno = 0;
    if (fflush(o->file) == 0 && !ferror(o->file)) {
        return TMX_OK;
    }
    return tmx_fail_at(err, TMX_EIO, o->path, 0, "cannot write: %s", errno ? strerror(errno) : "write error");
}

enum tmx_status tmx_output_commit(struct tmx_output *o, struct tmx_err *err)
{
    errno = 0;
    bool ok = fflush(o->file) == 0 && !ferror(o->file);
    if (o->file != stdout) {
        ok = fclose(o->file) == 0 && ok;
    }
    o->file = NULL;
    if (ok && o->temp[0]) {
        ok = rename(o->temp, o->path) == 0;
    }
    if (!ok) {
        const int why = errno;
        tmx_output_discard(o);
        return tmx_fail_at(err, TMX_EIO, o->path, 0, "cannot write: %s", why ? strerror(why) : "write error");
    }
    o->temp[0] = '\0';
    return TMX_OK;
}

void tmx_output_discard(struct tmx_output *o)
{
    if (o->file && o->file != stdout) {
        fclose(o->file);
    }
    o->file = NULL;
    if (o->temp[0]) {
        unlink(o->temp);
        o->temp[0] = '\0';
    }
}

enum tmx_status tmx_os_mkdirs(const char *path, struct tmx_err *err)
{
    char buf[512];
    if ((size_t)snprintf(buf, sizeof buf, "%s", path) >= sizeof buf) {
        return tmx_fail_at(err, TMX_EIO, path, 0, "folder name too long");
    }
    for (char *p = buf + 1;; p++) {
        const char c = *p;
        if (c == '/' || c == '\0') {
            *p = '\0';
            if (mkdir(buf, 0777) != 0 && errno != EEXIST) {
                return tmx_fail_at(err, TMX_EIO, buf, 0, "cannot make folder: %s", strerror(errno));
            }
            *p = c;
        }
        if (c == '\0') {
            break;
        }
    }
    struct stat info;
    if (stat(path, &info) != 0 || !S_ISDIR(info.st_mode)) {
        return tmx_fail_at(err, TMX_EIO, path, 0, "not a folder");
    }
    return TMX_OK;
}

enum tmx_status tmx_os_temp_dir(char *buf, size_t size, struct tmx_err *err)
{
    const char *parent = getenv("TMPDIR");
    const int n = snprintf(buf, size, "%s/thermix-XXXXXX", parent && *parent ? parent : "/tmp");
    if (n < 0 || (size_t)n >= size) {
        return tmx_fail(err, TMX_EIO, "TMPDIR is too long a name");
    }
    return mkdtemp(buf) ? TMX_OK
                        : tmx_fail_at(err, TMX_EIO, buf, 0, "cannot make folder: %s", strerror(errno));
}

enum tmx_status tmx_os_cache_dir(char *buf, size_t size, struct tmx_err *err)
{
    const char *xdg = getenv("XDG_CACHE_HOME");
    const char *home = getenv("HOME");
    int n = -1;
    if (xdg && xdg[0] == '/') {
        n = snprintf(buf, size, "%s/thermix", xdg);
    } else if (home && home[0]) {
        n = snprintf(buf, size, "%s/.cache/thermix", home);
    }
    if (n < 0 || (size_t)n >= size) {
        return tmx_fail(err, TMX_EIO, "no cache folder: neither XDG_CACHE_HOME nor HOME is usable");
    }
    return tmx_os_mkdirs(buf, err);
}

/* The folder that path is in, and its name there. */
static const char *split(const char *path, char folder[512])
{
    const char *slash = strrchr(path, '/');
    snprintf(folder, 512, "%.*s", slash ? (int)(slash - path + 1) : 2, slash ? path : "./");
    return slash ? slash + 1 : path;
}

bool tmx_os_same_file(const char *a, const char *b)
{
    struct stat in_a, in_b;
    const bool there_a = stat(a, &in_a) == 0, there_b = stat(b, &in_b) == 0;
    char folder_a[512], folder_b[512];
    if (!there_a && !there_b) { /* the same name in the same folder */
        if (strcmp(split(a, folder_a), split(b, folder_b)) != 0 || stat(folder_a, &in_a) != 0 ||
            stat(folder_b, &in_b) != 0) {
            return false;
        }
    } else if (!there_a || !there_b) {
        return false;
    }
    return in_a.st_dev == in_b.st_dev && in_a.st_ino == in_b.st_ino;
}

bool tmx_os_exists(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0;
}

static double clock_s(clockid_t id)
{
    struct timespec t;
    clock_gettime(id, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

double tmx_os_now_s(void)
{
    return clock_s(CLOCK_MONOTONIC);
}

double tmx_os_cpu_s(void)
{
    return clock_s(CLOCK_THREAD_CPUTIME_ID);
}

bool tmx_os_is_terminal(FILE *f)
{
    return isatty(fileno(f));
}

enum tmx_status tmx_os_run(const char *const *argv, const char *out_path, int *exit_code, struct tmx_err *err)
{
    const pid_t pid = fork();
    if (pid < 0) {
        return tmx_fail(err, TMX_EIO, "cannot start %s: %s", argv[0], strerror(errno));
    }
    if (pid == 0) {
        if (out_path) {
            const int fd = open(out_path, O_WRONLY | O_CREAT | O_TRUNC, 0666);
            if (fd < 0 || dup2(fd, STDOUT_FILENO) < 0) {
                _exit(126);
            }
        }
        union { /* execvp wants char *const[]; it does not write */
            const char *const *from;
            char *const *to;
        } args = {.from = argv};
        execvp(argv[0], args.to);
        _exit(127);
    }
    int status;
    while (waitpid(pid, &status, 0) < 0) {
        if (errno != EINTR) {
            return tmx_fail(err, TMX_EIO, "waiting for %s: %s", argv[0], strerror(errno));
        }
    }
    *exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    return TMX_OK;
}

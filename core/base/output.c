/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _XOPEN_SOURCE   700 /* POSIX 2008 with realpath */
#define _DEFAULT_SOURCE     /* O_TMPFILE's flags */
#include "core/base/output.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "core/base/folder.h"
#include "core/base/provenance.h"

enum tmx_status tmx_output_guard(const char *path, struct tmx_err *err)
{
    return tmx_provenance_hold(path)
               ? tmx_fail_at(err, TMX_ECONFIG, path, 0, "an output would replace this input")
               : TMX_OK;
}

/* A full disk is no fault of an input. */
static enum tmx_status fail_write(const char *path, int why, struct tmx_err *err)
{
    const bool full = why == ENOSPC || why == EDQUOT || why == EFBIG || why == EIO;
    return tmx_fail_at(err, full ? TMX_EFULL : TMX_EIO, path, 0, "cannot write: %s",
                       why ? strerror(why) : "write error");
}

/* A file of the folder of o->path that has no name: what a killed process leaves behind is nothing. -1 where
 * the file system has no such files. */
static int open_unnamed(const struct tmx_output *o, mode_t mode)
{
#if defined(__O_TMPFILE)
    char folder[sizeof o->path];
    const char *slash = strrchr(o->path, '/');
    const size_t n = slash ? (size_t)(slash - o->path) + 1 : 0;
    memcpy(folder, n ? o->path : ".", n ? n : 1);
    folder[n ? n : 1] = '\0';
    return access("/proc/self/fd", X_OK) == 0
               ? open(folder, O_RDWR | __O_TMPFILE | O_DIRECTORY | O_CLOEXEC, mode)
               : -1;
#else
    (void)o;
    (void)mode;
    return -1;
#endif
}

/* Give the file its temporary name. */
static bool name_temp(struct tmx_output *o)
{
    char self[64];
    snprintf(self, sizeof self, "/proc/self/fd/%d", fileno(o->file));
    o->unnamed = linkat(AT_FDCWD, self, AT_FDCWD, o->temp, AT_SYMLINK_FOLLOW) != 0;
    return !o->unnamed;
}

/* A new file beside o->path, with the rights that the process gives files of this mode. mkstemp would make it
 * private, and to ask for the umask is to set it, for all threads. */
static int open_temp(struct tmx_output *o, mode_t mode)
{
    struct timespec now;
    int fd = open_unnamed(o, mode);
    o->unnamed = fd >= 0;
    for (unsigned i = 0; i < 100 && (fd < 0 || !o->temp[0]); i++) {
        clock_gettime(CLOCK_REALTIME, &now);
        const unsigned long mark = (unsigned long)now.tv_nsec * 31 + (unsigned long)getpid() * 1000003 +
                                   (unsigned long)(uintptr_t)o + i;
        snprintf(o->temp, sizeof o->temp, "%s.tmp-%06lx", o->path, mark & 0xffffff);
        if (!o->unnamed) {
            fd = open(o->temp, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, mode);
        }
        if (fd < 0 && errno != EEXIST) {
            break;
        }
    }
    if (fd < 0) {
        o->temp[0] = '\0';
    }
    return fd;
}

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
    if (there && S_ISREG(info.st_mode) && tmx_provenance_hold(path)) {
        return tmx_output_guard(path, err);
    }
    if ((there && !S_ISREG(info.st_mode)) || strncmp(path, "/dev/", 5) == 0) {
        o->file = fopen(path, "w"); /* a folder fails here, a pipe or device is written directly */
    } else if (!there || access(path, W_OK) == 0) {
        char *target = there ? realpath(path, NULL) : NULL; /* a link stays, what it names is written */
        if (target && strlen(target) < sizeof o->path) {
            memcpy(o->path, target, strlen(target) + 1);
        }
        free(target);
        const mode_t mode = there ? info.st_mode & 0777 : tmx_folder_mode(path);
        const int fd = open_temp(o, mode ? 0600 : 0666);
        if (fd >= 0 && mode) {
            fchmod(fd, mode);
        }
        memcpy(o->asked, path, strlen(path) + 1);
        o->file = fd >= 0 ? fdopen(fd, "w") : NULL;
    }
    if (!o->file) {
        return tmx_fail_at(err, TMX_EIO, path, 0, "cannot write: %s", strerror(errno));
    }
    return TMX_OK;
}

enum tmx_status tmx_output_open_private(struct tmx_output *o, const char *path, struct tmx_err *err)
{
    *o = (struct tmx_output){0};
    if ((size_t)snprintf(o->path, sizeof o->path, "%s", path) >= sizeof o->path) {
        return tmx_fail_at(err, TMX_EIO, path, 0, "file name too long");
    }
    snprintf(o->temp, sizeof o->temp, "%s.tmp-XXXXXX", o->path);
    const int fd = mkstemp(o->temp); /* mode 0600 */
    o->file = fd >= 0 ? fdopen(fd, "w") : NULL;
    if (!o->file) {
        return tmx_fail_at(err, TMX_EIO, path, 0, "cannot write: %s", strerror(errno));
    }
    return TMX_OK;
}

enum tmx_status tmx_output_check(struct tmx_output *o, struct tmx_err *err)
{
    errno = 0;
    return fflush(o->file) == 0 && !ferror(o->file) ? TMX_OK : fail_write(o->path, errno, err);
}

enum tmx_status tmx_output_commit(struct tmx_output *o, struct tmx_err *err)
{
    errno = 0;
    bool ok = fflush(o->file) == 0 && !ferror(o->file);
    if (ok && o->temp[0] && tmx_provenance_hold(o->path)) { /* read after it was opened */
        tmx_output_discard(o);
        return tmx_output_guard(o->path, err);
    }
    if (ok && o->asked[0]) {
        const enum tmx_status st = tmx_folder_note(o->asked, err);
        if (st) {
            tmx_output_discard(o);
            return st;
        }
    }
    ok = ok && (!o->unnamed || name_temp(o));
    int why = errno;
    if (o->file != stdout && fclose(o->file) != 0) {
        why = ok ? errno : why;
        ok = false;
    }
    o->file = NULL;
    if (ok && o->temp[0] && rename(o->temp, o->path) != 0) {
        why = errno;
        ok = false;
    }
    if (!ok) {
        tmx_output_discard(o);
        return fail_write(o->path, why, err);
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
    if (o->temp[0] && !o->unnamed) {
        unlink(o->temp);
    }
    o->temp[0] = '\0';
}

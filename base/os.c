/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _GNU_SOURCE /* realpath, flock, F_OFD_SETLK, posix_spawn_file_actions_addchdir_np */
#include "base/os.h"

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <fenv.h>
#include <link.h>
#include <locale.h>
#include <signal.h>
#include <spawn.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static const char *kind_of(mode_t mode)
{
    return S_ISDIR(mode)    ? "a folder"
           : S_ISFIFO(mode) ? "a FIFO"
           : S_ISSOCK(mode) ? "a socket"
           : S_ISCHR(mode)  ? "a device"
           : S_ISBLK(mode)  ? "a device"
                            : "no regular file";
}

enum tmx_status tmx_input_check(const char *path, struct tmx_err *err)
{
    struct stat info;
    return stat(path, &info) != 0 || S_ISREG(info.st_mode)
               ? TMX_OK
               : tmx_fail_at(err, TMX_EIO, path, 0, "%s; expected a regular file", kind_of(info.st_mode));
}

/* A stream of the descriptor, if what is known of it is well; else NULL, and it is closed. errno stays. */
static FILE *stream(int fd, bool well, const char *mode)
{
    FILE *f = fd >= 0 && well ? fdopen(fd, mode) : NULL;
    const int why = errno;
    if (fd >= 0 && !f) {
        close(fd);
    }
    errno = why;
    return f;
}

/* Its owner runs this process, and no other user may write it. */
static bool is_ours(const struct stat *info)
{
    return info->st_uid == geteuid() && (info->st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

enum tmx_status tmx_input_open(FILE **f, const char *path, struct tmx_err *err)
{
    struct stat info;
    *f = NULL;
    if (strcmp(path, "-") == 0) {
        *f = feof(stdin) || fcntl(fileno(stdin), F_GETFD) < 0 ? NULL : stdin;
        return *f ? TMX_OK
                  : tmx_fail_at(err, TMX_ECONFIG, path, 0, "standard input is given twice, or closed");
    }
    const int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC); /* does not wait for a FIFO's writer */
    const bool known = fd >= 0 && fstat(fd, &info) == 0, regular = known && S_ISREG(info.st_mode);
    *f = stream(fd, regular && info.st_size >> 20 <= TMX_INPUT_MAX_MIB, "rb");
    if (known && !regular) {
        return tmx_fail_at(err, TMX_EIO, path, 0, "%s; expected a regular file%s", kind_of(info.st_mode),
                           S_ISDIR(info.st_mode) ? "" : " (\"-\" reads standard input)");
    }
    if (regular && info.st_size >> 20 > TMX_INPUT_MAX_MIB) {
        return tmx_fail_at(err, TMX_EIO, path, 0, "%lld MiB; at most %d MiB are read",
                           (long long)(info.st_size >> 20), TMX_INPUT_MAX_MIB);
    }
    return *f ? TMX_OK : tmx_fail_at(err, TMX_EIO, path, 0, "cannot open: %s", strerror(errno));
}

FILE *tmx_os_open_private(const char *path)
{
    struct stat info;
    const int fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    return stream(fd, fd >= 0 && fstat(fd, &info) == 0 && S_ISREG(info.st_mode) && is_ours(&info), "rb");
}

enum tmx_status tmx_path_join(char path[TMX_PATH_SIZE], const char *folder, const char *name,
                              struct tmx_err *err)
{
    if (tmx_failed(err)) {
        path[0] = '\0';
        return err->code;
    }
    return snprintf(path, TMX_PATH_SIZE, "%s/%s", folder, name) < TMX_PATH_SIZE
               ? TMX_OK
               : tmx_fail_at(err, TMX_EIO, folder, 0, "folder name too long");
}

enum tmx_status tmx_os_mkdirs(const char *path, struct tmx_err *err)
{
    char buf[512];
    if (tmx_failed(err)) {
        return err->code;
    }
    if (!*path || (*path == '-' && strchr("/", path[1]))) { /* "-" is standard output */
        return tmx_fail(err, TMX_ECONFIG, "\"%s\" is no name of a folder", path);
    }
    if ((size_t)snprintf(buf, sizeof buf, "%s", path) >= sizeof buf) {
        return tmx_fail_at(err, TMX_EIO, path, 0, "folder name too long");
    }
    for (char *p = buf; *p;) {
        p += 1 + strcspn(p + 1, "/");
        const char c = *p;
        *p = '\0';
        if (mkdir(buf, 0777) != 0 && errno != EEXIST) {
            return tmx_fail_at(err, TMX_EIO, buf, 0, "cannot make folder: %s", strerror(errno));
        }
        *p = c;
    }
    return tmx_os_is_folder(path) ? TMX_OK : tmx_fail_at(err, TMX_EIO, path, 0, "not a folder");
}

enum tmx_status tmx_os_mkdirs_for(const char *file, struct tmx_err *err)
{
    char folder[512];
    const char *slash = strrchr(file, '/');
    if (!slash || slash == file) {
        return TMX_OK;
    }
    if ((size_t)(slash - file) >= sizeof folder) {
        return tmx_fail_at(err, TMX_EIO, file, 0, "file name too long");
    }
    memcpy(folder, file, (size_t)(slash - file));
    folder[slash - file] = '\0';
    return tmx_os_mkdirs(folder, err);
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
    struct stat info;
    char *slash = strrchr(buf, '/');
    *slash = '\0'; /* a name of ours follows it */
    const enum tmx_status st = tmx_os_mkdirs(buf, err);
    *slash = '/';
    if (st) {
        return st;
    }
    if (mkdir(buf, 0700) != 0 && errno != EEXIST) {
        return tmx_fail_at(err, TMX_EIO, buf, 0, "cannot make folder: %s", strerror(errno));
    }
    return lstat(buf, &info) == 0 && S_ISDIR(info.st_mode) && is_ours(&info)
               ? TMX_OK
               : tmx_fail_at(err, TMX_EIO, buf, 0,
                             "not a folder of yours that only you may write; nothing is kept in it");
}

static int by_name(const void *a, const void *b)
{
    return strcmp(((const struct tmx_os_entry *)a)->name, ((const struct tmx_os_entry *)b)->name);
}

enum tmx_status tmx_os_folder_read(const char *path, struct tmx_arena *arena, struct tmx_os_entry **entry,
                                   size_t *n, struct tmx_err *err)
{
    struct stat info;
    DIR *dir = opendir(path);
    *entry = NULL;
    *n = 0;
    if (!dir) {
        return tmx_fail_at(err, TMX_EIO, path, 0, "cannot read folder: %s", strerror(errno));
    }
    for (const struct dirent *d = readdir(dir); d; d = readdir(dir)) {
        if (strlen(d->d_name) >= sizeof(*entry)->name ||
            fstatat(dirfd(dir), d->d_name, &info, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISREG(info.st_mode) ||
            !TMX_GROW(arena, *entry, *n)) {
            continue;
        }
        struct tmx_os_entry *e = &(*entry)[(*n)++];
        *e = (struct tmx_os_entry){.size = (uint64_t)info.st_size,
                                   .changed_s =
                                       (double)info.st_mtim.tv_sec + 1e-9 * (double)info.st_mtim.tv_nsec};
        snprintf(e->name, sizeof e->name, "%s", d->d_name);
    }
    closedir(dir);
    if (*n > 0) {
        qsort(*entry, *n, sizeof **entry, by_name);
    }
    return arena->failed ? tmx_no_memory(err) : TMX_OK;
}

void tmx_os_touch(FILE *f)
{
    (void)futimens(fileno(f), NULL);
}

void *tmx_os_shared(size_t size)
{
    void *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    return p == MAP_FAILED ? NULL : p;
}

void tmx_os_large_pages(void *p, size_t size)
{
#ifdef MADV_HUGEPAGE
    const uintptr_t page = (uintptr_t)1 << 21, from = ((uintptr_t)p + page - 1) & ~(page - 1);
    const uintptr_t end = ((uintptr_t)p + size) & ~(page - 1);
    if (p && end > from) {
        (void)madvise((char *)p + (from - (uintptr_t)p), end - from, MADV_HUGEPAGE);
    }
#else
    (void)p;
    (void)size;
#endif
}

FILE *tmx_os_lock(const char *path, const uint64_t *place, double patience_s, void (*waits)(double))
{
    const struct timespec pause = {.tv_nsec = 2000000};
    const double begin_s = tmx_os_now_s(), until_s = begin_s + patience_s;
    struct flock byte = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_len = 1};
    if (place) {
        byte.l_start = (off_t)(*place >> 2);
    }
    const int fd = open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0600);
    FILE *f = stream(fd, true, "r+b");
    while (f && (place ? fcntl(fd, F_OFD_SETLK, &byte) : flock(fd, LOCK_EX | LOCK_NB)) != 0) {
        const bool busy = errno == EWOULDBLOCK || errno == EACCES || errno == EINTR;
        const double now_s = tmx_os_now_s();
        if (!busy || now_s > until_s) {
            fclose(f);
            return NULL;
        }
        if (waits && now_s - begin_s > 1) {
            waits(patience_s);
            waits = NULL;
        }
        (void)nanosleep(&pause, NULL);
    }
    return f;
}

enum tmx_status tmx_os_lock_folder(FILE **f, const char *path, bool wait, struct tmx_err *err)
{
    *f = NULL;
    const int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0) {
        return tmx_fail_at(err, TMX_EIO, path, 0, "cannot open folder: %s", strerror(errno));
    }
    const int why = flock(fd, wait ? LOCK_EX : LOCK_EX | LOCK_NB) == 0 ? 0 : errno;
    *f = stream(fd, why != EWOULDBLOCK && why != EINTR, "r");
    return why == EINTR ? tmx_fail_at(err, TMX_ESTOPPED, path, 0, "stopped by a signal while waiting")
           : *f || why == EWOULDBLOCK ? TMX_OK
                                      : tmx_no_memory(err);
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
    char folder_a[512], folder_b[512];
    const bool there = stat(a, &in_a) == 0;
    if ((stat(b, &in_b) == 0) != there) {
        return false;
    }
    if (!there && (strcmp(split(a, folder_a), split(b, folder_b)) != 0 || stat(folder_a, &in_a) != 0 ||
                   stat(folder_b, &in_b) != 0)) { /* the same name in the same folder */
        return false;
    }
    return in_a.st_dev == in_b.st_dev && in_a.st_ino == in_b.st_ino;
}

bool tmx_os_file_id(const char *path, uint64_t *device, uint64_t *node)
{
    struct stat info = {0};
    const bool there = strcmp(path, "-") != 0 && stat(path, &info) == 0;
    *device = (uint64_t)info.st_dev;
    *node = (uint64_t)info.st_ino;
    return there;
}

long long tmx_os_file_size(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0 ? (long long)info.st_size : -1;
}

bool tmx_os_is_folder(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0 && S_ISDIR(info.st_mode);
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

size_t tmx_os_terminal_width(FILE *f)
{
    struct winsize w = {0};
    const char *columns = getenv("COLUMNS");
    const long asked = columns ? strtol(columns, NULL, 10) : 0;
    if (!tmx_os_is_terminal(f)) {
        return 0;
    }
    if (ioctl(fileno(f), TIOCGWINSZ, &w) == 0 && w.ws_col > 0) {
        return w.ws_col;
    }
    return asked > 0 && asked < 10000 ? (size_t)asked : 80;
}

struct tmx_bold tmx_os_bold(FILE *f)
{
    const char *term = getenv("TERM"), *no = getenv("NO_COLOR");
    const bool on = tmx_os_is_terminal(f) && !(no && no[0]) && !(term && strcmp(term, "dumb") == 0);
    return on ? (struct tmx_bold){"\033[1m", "\033[0m"} : (struct tmx_bold){"", ""};
}

void tmx_os_headline(FILE *f, const char *text)
{
    const struct tmx_bold bold = tmx_os_bold(f);
    const int n = (int)strcspn(text, "\n");
    fprintf(f, "%s%.*s%s%s", bold.on, n, text, bold.off, text + n);
}

/* In the folder at, or where this process is (NULL). */
static enum tmx_status run_in(const char *at, const char *const *argv, const char *out_path, int *exit_code,
                              struct tmx_err *err)
{
    posix_spawn_file_actions_t files;
    posix_spawnattr_t how;
    sigset_t none;
    pid_t pid;
    union { /* posix_spawnp wants char *const[]; it does not write */
        const char *const *from;
        char *const *to;
    } args = {.from = argv};
    sigemptyset(&none);
    posix_spawnattr_init(&how);
    posix_spawnattr_setsigmask(&how, &none);
    posix_spawnattr_setflags(&how, POSIX_SPAWN_SETSIGMASK);
    posix_spawn_file_actions_init(&files);
    int why = at ? posix_spawn_file_actions_addchdir_np(&files, at) : 0;
    if (out_path && !why) {
        why = posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, out_path, O_WRONLY | O_CREAT | O_TRUNC,
                                               0666);
    }
    why = why ? why : posix_spawnp(&pid, argv[0], &files, &how, args.to, environ);
    posix_spawn_file_actions_destroy(&files);
    posix_spawnattr_destroy(&how);
    if (why == ENOENT || why == EACCES) {
        *exit_code = 127;
        return TMX_OK;
    }
    if (why) {
        return tmx_fail(err, TMX_EPROGRAM, "cannot start %s: %s", argv[0], strerror(why));
    }
    int status;
    while (waitpid(pid, &status, 0) < 0) {
        if (errno != EINTR) {
            return tmx_fail(err, TMX_EPROGRAM, "waiting for %s: %s", argv[0], strerror(errno));
        }
    }
    *exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    return TMX_OK;
}

enum tmx_status tmx_os_run(const char *const *argv, const char *out_path, int *exit_code, struct tmx_err *err)
{
    return run_in(NULL, argv, out_path, exit_code, err);
}

static const int ending[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};
enum { N_ENDING = sizeof ending / sizeof ending[0] };

enum tmx_status tmx_os_private_begin(struct tmx_os_private *d, struct tmx_err *err)
{
    sigset_t hold, before;
    d->held = 0;
    sigemptyset(&hold);
    for (size_t i = 0; i < N_ENDING; i++) {
        sigaddset(&hold, ending[i]);
    }
    sigprocmask(SIG_BLOCK, &hold, &before);
    for (size_t i = 0; i < N_ENDING; i++) {
        d->held |= sigismember(&before, ending[i]) == 1 ? 0 : 1U << i;
    }
    const enum tmx_status st = tmx_os_temp_dir(d->path, sizeof d->path, err);
    if (st) {
        d->path[0] = '\0';
        tmx_os_private_end(d);
    }
    return st;
}

enum tmx_status tmx_os_private_link(const struct tmx_os_private *d, const char *path, const char *name,
                                    struct tmx_err *err)
{
    char real[4096], link[sizeof d->path + 128];
    if (!tmx_os_real_path(path, real, sizeof real)) {
        return tmx_fail_at(err, TMX_EIO, path, 0, "%s", strerror(errno));
    }
    snprintf(link, sizeof link, "%s/%s", d->path, name);
    return symlink(real, link) == 0 ? TMX_OK
                                    : tmx_fail_at(err, TMX_EIO, link, 0, "cannot write: %s", strerror(errno));
}

enum tmx_status tmx_os_private_run(const struct tmx_os_private *d, const char *const *argv, int *exit_code,
                                   struct tmx_err *err)
{
    return run_in(d->path, argv, NULL, exit_code, err);
}

void tmx_os_private_end(struct tmx_os_private *d)
{
    DIR *dir = d->path[0] ? opendir(d->path) : NULL;
    for (const struct dirent *e = dir ? readdir(dir) : NULL; e; e = readdir(dir)) {
        (void)unlinkat(dirfd(dir), e->d_name, 0); /* "." and ".." are folders and stay */
    }
    if (dir) {
        closedir(dir);
        (void)rmdir(d->path);
    }
    sigset_t let;
    sigemptyset(&let);
    for (size_t i = 0; i < N_ENDING; i++) {
        if (d->held & 1U << i) {
            sigaddset(&let, ending[i]);
        }
    }
    *d = (struct tmx_os_private){.path = ""};
    sigprocmask(SIG_UNBLOCK, &let, NULL); /* one that came meanwhile comes now */
}

bool tmx_os_real_path(const char *path, char *real, size_t size)
{
    char *full = realpath(path, NULL);
    const bool fits = full && strlen(full) < size;
    if (fits) {
        memcpy(real, full, strlen(full) + 1);
    }
    free(full);
    return fits;
}

/* A module runs as the user: only the user and root may change it. */
static enum tmx_status only_ours(const char *path, const struct stat *s, struct tmx_err *err)
{
    if (s->st_uid != 0 && s->st_uid != geteuid()) {
        return tmx_fail_at(err, TMX_EIO, path, 0,
                           "belongs to another user; a module and its folder are yours or root's");
    }
    if (s->st_mode & (S_IWGRP | S_IWOTH)) {
        return tmx_fail_at(err, TMX_EIO, path, 0, "%s may write it; a module runs as you: chmod go-w",
                           s->st_mode & S_IWOTH ? "everybody" : "its group");
    }
    return TMX_OK;
}

enum tmx_status tmx_os_module_path(const char *path, char *real, size_t size, struct tmx_err *err)
{
    struct stat s;
    if (stat(path, &s) != 0) {
        return tmx_fail_at(err, TMX_EIO, path, 0, "%s", strerror(errno));
    }
    if (!tmx_os_real_path(path, real, size)) {
        return tmx_fail_at(err, TMX_EIO, path, 0, "path too long");
    }
    if (!S_ISREG(s.st_mode)) {
        return tmx_fail_at(err, TMX_EIO, path, 0, "a module is a regular file");
    }
    enum tmx_status st = only_ours(path, &s, err);
    char *slash = strrchr(real, '/');
    *slash = '\0'; /* the folder: who may write it may exchange the file */
    if (!st && stat(slash == real ? "/" : real, &s) != 0) {
        st = tmx_fail_at(err, TMX_EIO, real, 0, "%s", strerror(errno));
    }
    st = st ? st : only_ours(slash == real ? "/" : real, &s, err);
    *slash = '/';
    return st;
}

enum tmx_status tmx_os_module_whole(const char *path, const char *data, size_t size, struct tmx_err *err)
{
    ElfW(Ehdr) head;
    if (size < sizeof head || memcmp(data, ELFMAG, SELFMAG) != 0) {
        return tmx_fail_at(err, TMX_EIO, path, 0, "cannot be loaded: it is no ELF file");
    }
    memcpy(&head, data, sizeof head);
    bool whole = head.e_phentsize == sizeof(ElfW(Phdr)) && head.e_phoff <= size &&
                 head.e_phnum <= (size - head.e_phoff) / sizeof(ElfW(Phdr)) && head.e_shoff <= size &&
                 (size_t)head.e_shnum * head.e_shentsize <= size - head.e_shoff;
    for (size_t i = 0; whole && i < head.e_phnum; i++) {
        ElfW(Phdr) part;
        memcpy(&part, data + head.e_phoff + i * sizeof part, sizeof part);
        whole = part.p_type == PT_NULL || (part.p_offset <= size && part.p_filesz <= size - part.p_offset);
    }
    return whole
               ? TMX_OK
               : tmx_fail_at(
                     err, TMX_EIO, path, 0,
                     "cannot be loaded: its %zu bytes are not all of it, or it is for another machine", size);
}

enum tmx_status tmx_os_module_open(const char *real, const char *symbol, void **handle, const void **address,
                                   struct tmx_err *err)
{
    fenv_t environment; /* constructors of objects made with -ffast-math change it */
    const bool kept = fegetenv(&environment) == 0;
    *handle = dlopen(real, RTLD_NOW | RTLD_LOCAL);
    if (kept) {
        (void)fesetenv(&environment);
    }
    if (!*handle) {
        return tmx_fail_at(err, TMX_EIO, real, 0, "cannot be loaded: %s", dlerror());
    }
    *address = dlsym(*handle, symbol);
    if (!*address) {
        return tmx_fail_at(err, TMX_EUNSUPPORTED, real, 0, "no module: it defines no %s", symbol);
    }
    return TMX_OK;
}

void tmx_os_module_close(void *handle)
{
    if (handle) {
        (void)dlclose(handle);
    }
}

enum tmx_status tmx_os_append(FILE **f, const char *path, struct tmx_err *err)
{
    struct stat info;
    const int fd = open(path, O_WRONLY | O_APPEND | O_CREAT | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC, 0666);
    const bool regular = fd >= 0 && fstat(fd, &info) == 0 && S_ISREG(info.st_mode);
    *f = stream(fd, regular, "a");
    return *f ? TMX_OK
              : tmx_fail_at(err, TMX_EIO, path, 0, "cannot write: %s",
                            fd >= 0 && !regular ? "it is no regular file"
                            : errno == ELOOP    ? "it is a symbolic link"
                                                : strerror(errno));
}

double tmx_os_memory_bytes(void)
{
    double least = (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGESIZE);
    for (int i = 0; i < 2; i++) {
        struct rlimit r;
        if (getrlimit(i ? RLIMIT_DATA : RLIMIT_AS, &r) == 0 && r.rlim_cur != RLIM_INFINITY &&
            (double)r.rlim_cur < least) {
            least = (double)r.rlim_cur;
        }
    }
    FILE *f = fopen("/sys/fs/cgroup/memory.max", "r"); /* of a container; "max" is none */
    double limit;
    if (f && fscanf(f, "%lf", &limit) == 1 && limit > 0 && limit < least) {
        least = limit;
    }
    if (f) {
        fclose(f);
    }
    return least;
}

static enum tmx_isa isa_of_machine(void)
{
#if defined(__x86_64__)
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") ? TMX_ISA_V4
           : __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")       ? TMX_ISA_V3
                                                                                   : TMX_ISA_ANY;
#else
    return TMX_ISA_V3; /* there is but one, and it fuses */
#endif
}

enum tmx_isa tmx_os_isa(void)
{
    const char *want = getenv("THERMIX_ISA");
    const enum tmx_isa have = isa_of_machine();
    const enum tmx_isa most = !want                      ? TMX_ISA_V4
                              : strcmp(want, "any") == 0 ? TMX_ISA_ANY
                              : strcmp(want, "v3") == 0  ? TMX_ISA_V3
                                                         : TMX_ISA_V4;
    return have < most ? have : most;
}

const char *tmx_os_digits(void (*symbol)(void))
{
    union {
        void (*function)(void);
        void *address;
    } of = {.function = symbol};
    Dl_info info;
    if (isa_of_machine() == TMX_ISA_ANY) {
        return ", on a processor without FMA: last digits differ";
    }
    if (dladdr(of.address, &info) && info.dli_fname && strstr(info.dli_fname, "blas") &&
        !strstr(info.dli_fname, "gslcblas")) {
        return ", with another BLAS in GSL's place: last digits differ";
    }
    return "";
}

void tmx_fp_env_enter(struct tmx_fp_env *p)
{
    fegetenv(&p->environment);
    fesetenv(FE_DFL_ENV);
    p->locale = uselocale(newlocale(LC_ALL_MASK, "C", (locale_t)0)); /* a constant of the C library */
}

void tmx_fp_env_leave(const struct tmx_fp_env *p)
{
    uselocale(p->locale);
    fesetenv(&p->environment);
}

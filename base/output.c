/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _XOPEN_SOURCE   700 /* POSIX 2008 with realpath */
#define _DEFAULT_SOURCE     /* O_TMPFILE's flags */
#include "base/output.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/csv.h"
#include "base/os.h"
#include "base/provenance.h"
#include "base/text.h"

/* An error when path is a file that has been read (provenance.h). */
static enum tmx_status guard(const char *path, struct tmx_err *err)
{
    return tmx_provenance_hold(path)
               ? tmx_fail_at(err, TMX_ECONFIG, path, 0, "an output would replace this input")
               : TMX_OK;
}

enum tmx_status tmx_output_remove(const char *path, struct tmx_err *err)
{
    const enum tmx_status st = guard(path, err);
    return st || unlink(path) == 0 || errno == ENOENT
               ? st
               : tmx_fail_at(err, TMX_EIO, path, 0, "cannot remove: %s", strerror(errno));
}

/* A full disk is no fault of an input, nor is what a stream has lost before (why is 0). */
static enum tmx_status fail_write(const char *path, int why, struct tmx_err *err)
{
    const bool full = !why || why == ENOSPC || why == EDQUOT || why == EFBIG || why == EIO;
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
    if (tmx_failed(err)) {
        return err->code;
    }
    if ((size_t)snprintf(o->path, sizeof o->path, "%s", path) >= sizeof o->path) {
        return tmx_fail_at(err, TMX_EIO, path, 0, "file name too long");
    }
    if (strcmp(path, "-") == 0) {
        o->file = stdout;
        return TMX_OK;
    }
    const bool there = stat(path, &info) == 0;
    if (there && S_ISREG(info.st_mode) && tmx_provenance_hold(path)) {
        return guard(path, err);
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
    return o->file ? TMX_OK : tmx_fail_at(err, TMX_EIO, path, 0, "cannot write: %s", strerror(errno));
}

enum tmx_status tmx_output_possible(const char *path, struct tmx_err *err)
{
    struct stat info;
    return stat(path, &info) != 0 || !S_ISDIR(info.st_mode)
               ? TMX_OK
               : tmx_fail_at(err, TMX_EIO, path, 0, "a folder; expected a file to write");
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
    return o->file ? TMX_OK : tmx_fail_at(err, TMX_EIO, path, 0, "cannot write: %s", strerror(errno));
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
        return guard(o->path, err);
    }
    const enum tmx_status st = ok && o->asked[0] ? tmx_folder_note(o->asked, err) : TMX_OK;
    if (st) {
        tmx_output_discard(o);
        return st;
    }
    if (ok && o->unnamed) { /* it gets its temporary name */
        char self[64];
        snprintf(self, sizeof self, "/proc/self/fd/%d", fileno(o->file));
        ok = linkat(AT_FDCWD, self, AT_FDCWD, o->temp, AT_SYMLINK_FOLLOW) == 0;
        o->unnamed = !ok;
    }
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

enum tmx_status tmx_output_end(struct tmx_output *o, struct tmx_err *err)
{
    err->code = err->code ? err->code : tmx_output_commit(o, err);
    tmx_output_discard(o);
    return err->code;
}

/* ---- folders of results ---- */

/* What a row's file is while a command writes: its own, or an earlier command's. */
static const char WRITING[] = "writing", REPLACED[] = "replaced", INPUT[] = "input"; /* not in the folder */

struct tmx_folder {
    char path[512]; /* without a slash at its end */
    struct tmx_folders *of;
    const char *command;
    FILE *say;
    enum tmx_folder_kind kind;
    FILE *lock, *list; /* from the first file on */
    char run[TMX_HASH_HEX], status[16];
    struct tmx_folder_rows gone, input;
    bool listing; /* its own list is being written */
    struct tmx_folder *next;
    bool passes; /* tmx_folder_pass */
};

static _Thread_local struct tmx_folders *open_list;

void tmx_folder_rows_finish(struct tmx_folder_rows *r)
{
    tmx_arena_finish(&r->arena);
    *r = (struct tmx_folder_rows){0};
}

/* A copy; whether all found room, the arena knows. */
static void rows_add(struct tmx_folder_rows *r, const struct tmx_folder_row *w)
{
    if (TMX_GROW(&r->arena, r->row, r->n)) {
        const char *const from[] = {w->run, w->status, w->file, w->hash, w->command};
        struct tmx_folder_row *to = &r->row[r->n];
        const char **const text[] = {&to->run, &to->status, &to->file, &to->hash, &to->command};
        for (size_t i = 0; i < sizeof from / sizeof from[0]; i++) {
            *text[i] = tmx_arena_text(&r->arena, from[i]);
        }
        r->n += !r->arena.failed;
    }
}

static bool is_input(const struct tmx_folder_row *w)
{
    return strcmp(w->status, INPUT) == 0;
}

/* Inputs at the end. */
static int by_file(const void *a, const void *b)
{
    const struct tmx_folder_row *x = a, *y = b;
    const int kind = is_input(x) - is_input(y), order = kind ? kind : strcmp(x->file, y->file),
              status = order ? order : strcmp(x->status, y->status); /* "writing" after all others */
    return status ? status : strcmp(x->hash, y->hash);
}

/* A name below the folder: no list leads out of it. */
static bool is_below(const char *file)
{
    for (const char *part = file;; part++) {
        const size_t n = strcspn(part, "/");
        if (n == 0 || (n == 1 && part[0] == '.') || (n == 2 && part[0] == '.' && part[1] == '.')) {
            return false;
        }
        part += n;
        if (!*part) {
            return true;
        }
    }
}

static void read_list(const char *folder, struct tmx_folder_rows *r, struct tmx_err *err)
{
    char path[TMX_PATH_SIZE];
    struct tmx_csv csv = {0};
    tmx_path_join(path, folder, TMX_FOLDER_LIST, err);
    if (err->code || !tmx_os_exists(path)) {
        return;
    }
    struct tmx_provenance *paused = tmx_provenance_pause();
    tmx_csv_read_short(&csv, path, 1, err); /* a list that was cut off has a short row */
    tmx_provenance_resume(paused);
    const size_t run = tmx_csv_column(&csv, "run"), status = tmx_csv_column(&csv, "status"),
                 file = tmx_csv_column(&csv, "file"), hash = tmx_csv_column(&csv, "hash"),
                 command = tmx_csv_column(&csv, "command"), n = csv.n_column;
    if (run == n || status == n || file == n || hash == n) {
        tmx_error_at(err, TMX_EPARSE, path, 1,
                     "not a list that thermix wrote (run,status,file,hash,command); expected one, or none: "
                     "choose another folder, or move it");
    }
    for (size_t i = 0; !err->code && i < csv.n_row; i++) {
        const char *name = tmx_csv_cell(&csv, i, file);
        name += name[0] == '\'' && name[1] && strchr("=+-@", name[1]); /* tmx_csv_text put it there */
        if (!is_below(name)) {
            tmx_error_at(err, TMX_EPARSE, path, csv.line[i],
                         "\"%s\"; expected the name of a file in this folder", name);
        } else {
            rows_add(r, &(struct tmx_folder_row){tmx_csv_cell(&csv, i, run), tmx_csv_cell(&csv, i, status),
                                                 name, tmx_csv_cell(&csv, i, hash),
                                                 command < n ? tmx_csv_cell(&csv, i, command) : "run", 0});
        }
    }
    tmx_arena_check(&r->arena, err);
    tmx_csv_finish(&csv);
}

enum tmx_status tmx_folder_read(struct tmx_folder_rows *r, const char *folder, struct tmx_err *err)
{
    struct tmx_err own = {0};
    *r = (struct tmx_folder_rows){0};
    read_list(folder, r, &own);
    return tmx_error_give(err, &own);
}

/* In place of the list that is there, at once. */
static void write_list(struct tmx_folder *f, const struct tmx_folder_rows *r, struct tmx_err *err)
{
    char path[TMX_PATH_SIZE], fresh[TMX_PATH_SIZE];
    struct tmx_output o = {0};
    tmx_path_join(path, f->path, TMX_FOLDER_LIST, err);
    tmx_path_join(fresh, f->path, TMX_FOLDER_LIST ".new", err);
    err->code = err->code ? err->code : tmx_output_remove(fresh, err); /* a link would be followed */
    if (tmx_output_open(&o, fresh, err)) {
        return;
    }
    fputs("run,status,file,hash,command\n", o.file);
    for (const struct tmx_folder_row *w = r->row; w < r->row + r->n; w++) {
        tmx_csv_text(w->run, o.file);
        fprintf(o.file, ",%s,", w->status);
        tmx_csv_text(w->file, o.file);
        fprintf(o.file, ",%s,%s\n", w->hash, w->command);
    }
    f->listing = true;
    err->code = tmx_output_commit(&o, err);
    f->listing = false;
    tmx_provenance_forget(path);
    if (!err->code && rename(fresh, path) != 0) {
        tmx_error_at(err, TMX_EIO, path, 0, "cannot write");
    }
}

/* The open folder that holds path, and the file's name in it. */
static struct tmx_folder *folder_of(const char *path, const char **name)
{
    for (struct tmx_folders *l = open_list; l; l = l->outer) {
        for (struct tmx_folder *f = l->first; f; f = f->next) {
            const size_t n = strlen(f->path);
            if (strncmp(path, f->path, n) == 0 && (path[n] == '/' || path[n] == '\0')) {
                *name = path + n + strspn(path + n, "/");
                return f;
            }
        }
    }
    return NULL;
}

/* Is it for this command to remove? */
static bool replaces(const struct tmx_folder *f, const struct tmx_folder_row *w)
{
    return f->kind == TMX_FOLDER_RESULTS || strcmp(w->command, f->command) == 0;
}

void tmx_folders_begin(struct tmx_folders *f)
{
    f->outer = open_list;
    open_list = f;
}

enum tmx_status tmx_folder_open(const char *path, enum tmx_folder_kind kind, struct tmx_err *err)
{
    const char *name;
    struct tmx_folder_rows r = {0};
    struct tmx_err own = {0};
    char file[TMX_PATH_SIZE];
    if (!open_list || folder_of(path, &name)) {
        return TMX_OK;
    }
    struct tmx_folder *f = calloc(1, sizeof *f);
    if (!f) {
        return tmx_no_memory(err);
    }
    *f = (struct tmx_folder){.of = open_list,
                             .command = open_list->command,
                             .say = open_list->say,
                             .kind = kind,
                             .next = open_list->first};
    if ((size_t)snprintf(f->path, sizeof f->path, "%s", path) >= sizeof f->path) {
        tmx_error_at(&own, TMX_EIO, path, 0, "folder name too long");
    }
    for (size_t n = strlen(f->path); n > 1 && f->path[n - 1] == '/'; n--) {
        f->path[n - 1] = '\0';
    }
    if (!own.code) {
        read_list(f->path, &r, &own);
    }
    for (size_t i = 0; !own.code && i < r.n; i++) {
        if (replaces(f, &r.row[i]) && !is_input(&r.row[i])) {
            tmx_path_join(file, f->path, r.row[i].file, &own);
            own.code = own.code ? own.code : guard(file, &own);
        }
    }
    tmx_folder_rows_finish(&r);
    if (own.code) {
        free(f);
    } else {
        open_list->first = f;
    }
    return tmx_error_give(err, &own);
}

void tmx_folder_mark(const char *path, const char *run, const char *status)
{
    const char *name;
    struct tmx_folder *f = folder_of(path, &name);
    if (f) {
        snprintf(f->run, sizeof f->run, "%s", run);
        snprintf(f->status, sizeof f->status, "%s", status);
    }
}

void tmx_folder_pass(const char *path)
{
    const char *name;
    struct tmx_folder *f = folder_of(path, &name);
    if (f) {
        f->passes = true;
    }
}

/* Remove a file of an earlier command, and the folders between it and the open one that are empty then.
 * Nothing behind a link; a link itself only at the end, as it may be written through. */
static void take_away(const struct tmx_folder *f, struct tmx_folder_row *w, bool end, struct tmx_err *err)
{
    char path[TMX_PATH_SIZE];
    struct stat info;
    const size_t begin = strlen(f->path) + 1;
    tmx_path_join(path, f->path, w->file, err);
    for (char *slash = path + begin; !err->code && (slash = strchr(slash, '/')); slash++) {
        *slash = '\0';
        const bool folder = lstat(path, &info) == 0 && S_ISDIR(info.st_mode);
        *slash = '/';
        if (!folder) {
            return;
        }
    }
    if (!err->code && lstat(path, &info) == 0 && !S_ISDIR(info.st_mode) && (end || S_ISREG(info.st_mode))) {
        w->mode = info.st_mode & 0777;
        err->code = tmx_output_remove(path, err);
    }
    for (char *slash; end && !err->code && (slash = strrchr(path, '/')) && slash > path + begin;) {
        *slash = '\0';
        if (rmdir(path) != 0) {
            break;
        }
    }
}

enum tmx_status tmx_folder_input(const char *path, const char *file, const char *hash, struct tmx_err *err)
{
    const char *name;
    struct tmx_folder *f = folder_of(path, &name);
    if (f) {
        rows_add(&f->input, &(struct tmx_folder_row){f->run, INPUT, file, hash, f->command, 0});
    }
    return f && f->input.arena.failed ? tmx_no_memory(err) : TMX_OK;
}

static enum tmx_status start(struct tmx_folder *f, struct tmx_err *err)
{
    struct tmx_folder_rows old = {0}, kept = {0};
    struct tmx_err own = {0};
    char path[TMX_PATH_SIZE];
    own.code = tmx_os_lock_folder(&f->lock, f->path, false, &own);
    if (!own.code && !f->lock) {
        if (f->say) {
            fprintf(f->say, "%s: another command writes this folder; waiting for its end\n", f->path);
        }
        own.code = tmx_os_lock_folder(&f->lock, f->path, true, &own);
    }
    f->of->writing = 1; /* not before: a signal ends the wait */
    if (!own.code) {
        read_list(f->path, &old, &own);
    }
    for (size_t i = 0; !own.code && i < old.n; i++) {
        struct tmx_folder_row w = old.row[i];
        const bool goes = replaces(f, &w);
        if (goes && is_input(&w)) {
            continue;
        }
        if (goes) {
            w.status = REPLACED;
            w.hash = "";
            rows_add(&f->gone, &w);
        }
        rows_add(&kept, &w);
    }
    tmx_arena_check(&f->gone.arena, &own);
    tmx_arena_check(&kept.arena, &own);
    if (!own.code) {
        write_list(f, &kept, &own);
    }
    for (size_t i = 0; !own.code && i < f->gone.n; i++) {
        take_away(f, &f->gone.row[i], false, &own);
    }
    tmx_path_join(path, f->path, TMX_FOLDER_LIST, &own);
    own.code = own.code ? own.code : tmx_os_append(&f->list, path, &own);
    tmx_folder_rows_finish(&old);
    tmx_folder_rows_finish(&kept);
    return tmx_error_give(err, &own);
}

enum tmx_status tmx_folder_start(const char *path, struct tmx_err *err)
{
    const char *name;
    struct tmx_folder *f = folder_of(path, &name);
    return f && !f->list ? start(f, err) : TMX_OK;
}

enum tmx_status tmx_folder_note(const char *path, struct tmx_err *err)
{
    const char *name;
    struct tmx_folder *f = folder_of(path, &name);
    if (!f || f->listing || !*name) {
        return TMX_OK;
    }
    if (f->of->stop) {
        return tmx_fail_at(err, TMX_ESTOPPED, path, 0, "interrupted");
    }
    const enum tmx_status st = f->list ? TMX_OK : start(f, err);
    if (st) {
        return st;
    }
    fprintf(f->list, ",%s,", WRITING);
    tmx_csv_text(name, f->list);
    fprintf(f->list, ",,%s\n", f->command);
    return fflush(f->list) == 0 ? TMX_OK : tmx_fail_at(err, TMX_EFULL, f->path, 0, "cannot write its list");
}

mode_t tmx_folder_mode(const char *path)
{
    const char *name;
    const struct tmx_folder *f = folder_of(path, &name);
    for (size_t i = 0; f && i < f->gone.n; i++) {
        if (strcmp(f->gone.row[i].file, name) == 0) {
            return f->gone.row[i].mode;
        }
    }
    return 0;
}

/* The rows of files that were written, each once, with their hashes. */
static void write_manifest(struct tmx_folder *f, const char *status, struct tmx_err *err)
{
    struct tmx_folder_rows said = {0}, kept = {0};
    char path[TMX_PATH_SIZE], hash[TMX_HASH_HEX];
    read_list(f->path, &said, err);
    if (said.n > 0) {
        qsort(said.row, said.n, sizeof *said.row, by_file);
    }
    for (size_t i = 0; !err->code && i < said.n; i++) {
        struct tmx_folder_row *w = &said.row[i];
        const bool again =
            i + 1 < said.n && !is_input(&said.row[i + 1]) && strcmp(w->file, said.row[i + 1].file) == 0;
        tmx_path_join(path, f->path, w->file, err);
        if (err->code || again) {
            continue;
        }
        if (strcmp(w->status, REPLACED) == 0 || (f->passes && strcmp(w->status, WRITING) == 0)) {
            take_away(f, w, true, err);
        } else if (strcmp(w->status, WRITING) != 0) {
            rows_add(&kept, w);
        } else if (tmx_os_exists(path)) {
            err->code = tmx_hash_file(path, hash, err);
            rows_add(&kept, &(struct tmx_folder_row){f->run, f->status[0] ? f->status : status, w->file, hash,
                                                     f->command, 0});
        }
    }
    for (size_t i = 0; !err->code && i < f->input.n; i++) {
        rows_add(&kept, &f->input.row[i]);
    }
    tmx_arena_check(&kept.arena, err);
    if (!err->code && f->passes && kept.n == 0) {
        tmx_path_join(path, f->path, TMX_FOLDER_LIST, err);
        (void)(!err->code && remove(path) == 0 &&
               rmdir(f->path)); /* it stays where something else is in it */
    } else if (!err->code) {
        write_list(f, &kept, err);
    }
    tmx_folder_rows_finish(&said);
    tmx_folder_rows_finish(&kept);
}

enum tmx_status tmx_folders_end(struct tmx_folders *l, enum tmx_status st, struct tmx_err *err)
{
    const char *status = st ? "partial" : "complete";
    tmx_assert(open_list == l);
    for (struct tmx_folder *f; (f = l->first);) {
        struct tmx_err own = {0};
        if (f->list) {
            fclose(f->list);
            write_manifest(f, status, &own);
            st = st ? st : tmx_error_give(err, &own);
        }
        if (f->lock) {
            fclose(f->lock);
        }
        l->first = f->next;
        tmx_folder_rows_finish(&f->gone);
        tmx_folder_rows_finish(&f->input);
        free(f);
    }
    open_list = l->outer;
    l->outer = NULL;
    l->writing = 0;
    return st;
}

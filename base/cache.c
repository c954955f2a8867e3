/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Layout of a file: struct head, then the pieces. Native byte order: caches do not travel.
 *
 * A writer holds the lock from measuring the cache to renaming the new file. So the bound holds for any
 * number of writers, and a temporary file that a holder of the lock finds has lost its writer. */
#define _POSIX_C_SOURCE 200809L /* gmtime_r */
#include "base/cache.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/os.h"
#include "base/output.h"

/* A writer takes milliseconds, a set-up of 256 x 256 cells some 20 s; a stopped one must not block others. */
static const double PATIENCE_S[] = {5, 60};
enum lock { WRITE, MAKE, N_LOCK };
static const uint64_t MIB = 1024 * 1024;
static const char TEMP[] = ".tmp-"; /* of os.c's outputs */

enum tmx_status tmx_cache_limit(uint64_t *limit, struct tmx_err *err)
{
    const char *text = getenv("THERMIX_CACHE_MIB");
    *limit = 1024 * MIB;
    if (!text || !*text) {
        return TMX_OK;
    }
    char *end;
    errno = 0;
    const long v = strtol(text, &end, 10);
    if (errno || *end || v < 0 || v > 1048576 || text[strspn(text, "0123456789")]) {
        return tmx_fail(err, TMX_ECONFIG,
                        "THERMIX_CACHE_MIB = \"%s\"; expected a whole number of MiB, 0 to 1048576", text);
    }
    *limit = (uint64_t)v * MIB;
    return TMX_OK;
}

enum tmx_status tmx_cache_folder(const char *folder, char *path, size_t size, struct tmx_err *err)
{
    if (!folder) {
        return tmx_os_cache_dir(path, size, err);
    }
    return (size_t)snprintf(path, size, "%s", folder) < size
               ? TMX_OK
               : tmx_fail_at(err, TMX_EIO, folder, 0, "folder name too long");
}

/* Is it KEY.KIND, or that with a temporary end? */
static bool ours(const struct tmx_os_entry *e, struct tmx_cache_file *f)
{
    const size_t n_key = TMX_HASH_HEX - 1;
    if (strspn(e->name, "0123456789abcdef") != n_key || e->name[n_key] != '.') {
        return false;
    }
    const char *kind = e->name + n_key + 1, *temp = strstr(kind, TEMP);
    const size_t n = temp ? (size_t)(temp - kind) : strlen(kind);
    if (n == 0 || n >= sizeof f->kind || strspn(kind, "abcdefghijklmnopqrstuvwxyz") != n) {
        return false;
    }
    *f = (struct tmx_cache_file){.size = e->size, .used_s = e->changed_s, .unfinished = temp != NULL};
    snprintf(f->name, sizeof f->name, "%s", e->name);
    memcpy(f->kind, kind, n);
    return true;
}

enum tmx_status tmx_cache_files(const char *folder, struct tmx_arena *arena, struct tmx_cache_file **file,
                                size_t *n, struct tmx_err *err)
{
    char path[500];
    struct tmx_os_entry *entry = NULL;
    size_t n_entry = 0;
    *n = 0;
    enum tmx_status st = tmx_cache_folder(folder, path, sizeof path, err);
    st = st ? st : tmx_os_folder_read(path, arena, &entry, &n_entry, err);
    st = st || TMX_TAKE(arena, *file, n_entry) ? st : tmx_no_memory(err);
    for (size_t i = 0; i < n_entry && !st; i++) {
        *n += ours(&entry[i], &(*file)[*n]);
    }
    return st;
}

static int by_use(const void *a, const void *b)
{
    const struct tmx_cache_file *x = a, *y = b;
    return x->used_s != y->used_s ? (x->used_s < y->used_s ? -1 : 1) : strcmp(x->name, y->name);
}

/* With the lock held: unfinished files go, then the others by age, until what is left of those not called
 * `name` takes at most `limit` bytes. */
static enum tmx_status shrink(const char *path, uint64_t limit, const char *name, size_t *n_removed,
                              struct tmx_err *err)
{
    struct tmx_arena arena = {0};
    struct tmx_cache_file *file;
    size_t n;
    uint64_t left = 0;
    char victim[TMX_PATH_SIZE];
    enum tmx_status st = tmx_cache_files(path, &arena, &file, &n, err);
    for (size_t i = 0; i < n && !st; i++) {
        left += strcmp(file[i].name, name) == 0 ? 0 : file[i].size;
    }
    if (n > 0 && !st) {
        qsort(file, n, sizeof *file, by_use);
    }
    for (size_t i = 0; i < n && !st; i++) {
        const bool replaced = strcmp(file[i].name, name) == 0;
        if (replaced || (left <= limit && !file[i].unfinished)) {
            continue;
        }
        st = tmx_path_join(victim, path, file[i].name, err);
        st = st ? st : tmx_output_remove(victim, err);
        left -= file[i].size;
        *n_removed += 1;
    }
    tmx_arena_finish(&arena);
    return st;
}

/* Of a thread, and of the processes that it has forked since tmx_cache_usable. */
struct waiting {
    _Atomic double until_s[N_LOCK]; /* end of the wait for a lock [s of tmx_os_now_s], 0 where none is waited
                                     * for: for all files together no longer than for one */
    _Atomic uint64_t making;        /* the place that one of them has locked last */
};
static _Thread_local struct waiting own_waiting, *shared_waiting;
static _Thread_local void (*say_waiting)(double at_most_s);

void tmx_cache_on_wait(void (*say)(double at_most_s))
{
    say_waiting = say;
}

static _Thread_local void (*say_making)(bool done);

void tmx_cache_on_making(void (*say)(bool done))
{
    say_making = say;
}

void tmx_cache_making(bool done)
{
    if (say_making) {
        say_making(done);
    }
}

/* place: of the file, which others may have others of; NULL: all of it. */
static FILE *lock(const char *path, const char *file, enum lock which, const uint64_t *place)
{
    char name[600];
    snprintf(name, sizeof name, "%s/%s", path, file);
    const double now_s = tmx_os_now_s(), last_s = now_s + PATIENCE_S[which];
    struct waiting *w = shared_waiting ? shared_waiting : &own_waiting;
    double end_s = 0;
    end_s = atomic_compare_exchange_strong(&w->until_s[which], &end_s, last_s) ? last_s : end_s;
    const bool ours = !place || atomic_load(&w->making) == *place;
    FILE *f = tmx_os_lock(name, place, end_s - now_s, ours ? NULL : say_waiting);
    if (place) {
        atomic_store(&w->making, *place);
    }
    if (f) {
        atomic_store(&w->until_s[which], 0);
    }
    return f;
}

enum tmx_status tmx_cache_clean(const char *folder, uint64_t limit, size_t *n_removed, struct tmx_err *err)
{
    char path[500];
    *n_removed = 0;
    enum tmx_status st = tmx_cache_folder(folder, path, sizeof path, err);
    if (st) {
        return st;
    }
    FILE *f = lock(path, "lock", WRITE, NULL);
    if (!f) {
        return tmx_fail_at(err, TMX_EIO, path, 0, "other programs have locked the cache for %g s",
                           PATIENCE_S[WRITE]);
    }
    st = shrink(path, limit, "", n_removed, err);
    fclose(f);
    return st;
}

/* The right to write a file of `size` bytes under this name, until fclose: the writes of all others wait, and
 * room has been made. NULL: it does not fit, or others are busy; then it is not kept. */
static FILE *claim(const char *folder, const char *name, uint64_t size)
{
    char path[500];
    uint64_t limit;
    size_t n_removed = 0;
    (void)!tmx_cache_limit(&limit, NULL); /* the program has said what is wrong with it */
    if (size > limit || tmx_cache_folder(folder, path, sizeof path, NULL)) {
        return NULL;
    }
    FILE *f = lock(path, "lock", WRITE, NULL);
    if (f && shrink(path, limit - size, name, &n_removed, NULL)) {
        fclose(f);
        f = NULL;
    }
    return f;
}

enum tmx_status tmx_cache_usable(const char *folder, struct tmx_err *err)
{
    static const char some[65536] = {0};
    static const char name[] = "00000000000000000000000000000000.probe"; /* as files are called: see ours */
    char path[500], file[TMX_PATH_SIZE];
    struct tmx_output out = {0};
    uint64_t limit;
    enum tmx_status st = tmx_cache_limit(&limit, err);
    if (st || limit == 0) {
        return st;
    }
    if (!shared_waiting) {
        shared_waiting = tmx_os_shared(sizeof *shared_waiting);
    }
    st = tmx_cache_folder(folder, path, sizeof path, err);
    st = st ? st : tmx_path_join(file, st ? "" : path, name, err);
    st = st ? st : tmx_output_open_private(&out, file, err);
    if (!st) {
        errno = 0;
        st = fwrite(some, sizeof some, 1, out.file) == 1
                 ? tmx_output_check(&out, err)
                 : tmx_fail_at(err, TMX_EFULL, path, 0, "cannot write: %s", strerror(errno));
        tmx_output_discard(&out);
    }
    return st;
}

struct head {
    char magic[16];
    char kind[16];
    char key[TMX_HASH_HEX];
    char sum[TMX_HASH_HEX]; /* of the contents */
    char pad[6];            /* of zeros; the size is a multiple of 8 */
    uint64_t size;          /* of the contents, bytes */
};

static const char MAGIC[16] = "thermix cache 2";

static bool name_file(const struct tmx_cache_name *name, char *path, size_t size)
{
    char folder[400];
    return tmx_cache_folder(name->folder, folder, sizeof folder, NULL) == TMX_OK &&
           (size_t)snprintf(path, size, "%s/%s.%s", folder, name->key, name->kind) < size;
}

static struct head make_head(const struct tmx_cache_name *name)
{
    struct head head = {.size = 0};
    memcpy(head.magic, MAGIC, sizeof head.magic);
    snprintf(head.kind, sizeof head.kind, "%s", name->kind);
    snprintf(head.key, sizeof head.key, "%s", name->key);
    return head;
}

/* Open a file behind its head; NULL when there is none that fits. */
static FILE *open_file(const struct tmx_cache_name *name, struct head *head)
{
    char path[500];
    const struct head want = make_head(name);
    FILE *f = name_file(name, path, sizeof path) ? tmx_os_open_private(path) : NULL;
    if (f && (fread(head, sizeof *head, 1, f) != 1 || memcmp(head, &want, offsetof(struct head, sum)) != 0)) {
        fclose(f);
        f = NULL;
    }
    return f;
}

static bool sum_pieces(const struct tmx_piece *piece, size_t n_piece, char sum[TMX_HASH_HEX])
{
    struct tmx_hash *h;
    if (tmx_hash_create(&h, NULL)) {
        return false;
    }
    for (size_t i = 0; i < n_piece; i++) {
        tmx_hash_add(h, piece[i].data, piece[i].size);
    }
    tmx_hash_hex(h, sum);
    tmx_hash_destroy(h);
    return true;
}

bool tmx_cache_read(const struct tmx_cache_name *name, const struct tmx_piece *piece, size_t n_piece)
{
    struct head head;
    char sum[TMX_HASH_HEX];
    uint64_t size = 0;
    FILE *f = open_file(name, &head);
    bool ok = f != NULL;
    for (size_t i = 0; i < n_piece; i++) {
        size += piece[i].size;
    }
    static const char zeros[sizeof head.pad] = {0};
    ok = ok && head.size == size && memcmp(head.pad, zeros, sizeof zeros) == 0;
    for (size_t i = 0; i < n_piece && ok; i++) {
        ok = piece[i].size == 0 || fread(piece[i].data, piece[i].size, 1, f) == 1;
    }
    ok = ok && fgetc(f) == EOF && sum_pieces(piece, n_piece, sum) && memcmp(sum, head.sum, sizeof sum) == 0;
    if (f) {
        if (ok) {
            tmx_os_touch(f); /* what is used stays longest */
        }
        fclose(f);
    }
    return ok;
}

bool tmx_cache_peek(const struct tmx_cache_name *name, void *data, size_t size)
{
    struct head head;
    FILE *f = open_file(name, &head);
    const bool ok = f && fread(data, size, 1, f) == 1;
    if (f) {
        fclose(f);
    }
    return ok;
}

void tmx_cache_write(const struct tmx_cache_name *name, const struct tmx_piece *piece, size_t n_piece)
{
    struct head head = make_head(name);
    struct tmx_output out;
    char path[500];
    for (size_t i = 0; i < n_piece; i++) {
        head.size += piece[i].size;
    }
    if ((name->folder && tmx_os_mkdirs(name->folder, NULL)) || !name_file(name, path, sizeof path) ||
        !sum_pieces(piece, n_piece, head.sum)) {
        return;
    }
    FILE *lock_file = claim(name->folder, strrchr(path, '/') + 1, sizeof head + head.size);
    if (!lock_file) {
        return;
    }
    if (!tmx_output_open_private(&out, path, NULL)) {
        fwrite(&head, sizeof head, 1, out.file);
        for (size_t i = 0; i < n_piece; i++) {
            if (piece[i].size > 0) { /* an empty piece may have no address */
                fwrite(piece[i].data, 1, piece[i].size, out.file);
            }
        }
        (void)!tmx_output_commit(&out, NULL); /* checks every write; discards the file on failure */
    }
    fclose(lock_file);
}

FILE *tmx_cache_make(const struct tmx_cache_name *name)
{
    char path[500], text[17];
    uint64_t limit, place = 0;
    (void)!tmx_cache_limit(&limit, NULL);
    if (limit == 0 || tmx_cache_folder(name->folder, path, sizeof path, NULL)) {
        return NULL;
    }
    /* one file whose places are the keys; a model's is locked before its basis's, so no two wait for each
     * other */
    snprintf(text, sizeof text, "%.16s", name->key);
    place = strtoull(text, NULL, 16);
    return lock(path, "making", MAKE, &place);
}

/* Its contents, block by block. */
static const char *contents_fault(FILE *f, const struct head *head)
{
    unsigned char block[65536];
    char sum[TMX_HASH_HEX];
    struct tmx_hash *h;
    uint64_t size = 0;
    if (tmx_hash_create(&h, NULL)) {
        return "not enough memory to check it";
    }
    for (size_t n = fread(block, 1, sizeof block, f); n > 0; n = fread(block, 1, sizeof block, f)) {
        tmx_hash_add(h, block, n);
        size += n;
    }
    tmx_hash_hex(h, sum);
    tmx_hash_destroy(h);
    return size != head->size                        ? "cut short or too long"
           : memcmp(sum, head->sum, sizeof sum) != 0 ? "damaged: its checksum differs"
                                                     : NULL;
}

const char *tmx_cache_fault(const char *folder, const char *name)
{
    char base[400], path[500], called[80];
    struct head head;
    if (tmx_cache_folder(folder, base, sizeof base, NULL) ||
        (size_t)snprintf(path, sizeof path, "%s/%s", base, name) >= sizeof path) {
        return "no such folder";
    }
    if (strstr(name, ".tmp-")) {
        return "unfinished: its writer is at work or was killed";
    }
    FILE *f = tmx_os_open_private(path);
    if (!f) {
        return "a link, of another owner, or others may write it";
    }
    const char *fault = NULL;
    if (fread(&head, sizeof head, 1, f) != 1) {
        fault = "cut short";
    } else if (memcmp(head.magic, MAGIC, sizeof MAGIC) != 0) {
        fault = "of another version of thermix, or damaged";
    } else {
        snprintf(called, sizeof called, "%.*s.%.*s", TMX_HASH_HEX - 1, head.key, (int)sizeof head.kind - 1,
                 head.kind);
        fault = strcmp(called, name) != 0 ? "damaged: its content is stored under another name"
                                          : contents_fault(f, &head);
    }
    fclose(f);
    return fault;
}

static void add_row(struct tmx_table *t, const struct tmx_cache_file *f, const char *state)
{
    char used[32];
    const time_t at = (time_t)f->used_s;
    struct tm utc;
    strftime(used, sizeof used, "%Y-%m-%d %H:%M:%S", gmtime_r(&at, &utc));
    tmx_table_row(t, "%s %s %g %s %s", f->name, f->kind, (double)f->size / (double)MIB, used, state);
}

enum tmx_status tmx_cache_table(const char *folder, bool check, struct tmx_table **t,
                                struct tmx_cache_sum *sum, struct tmx_err *err)
{
    struct tmx_arena arena = {0};
    struct tmx_cache_file *file;
    size_t n = 0;
    *sum = (struct tmx_cache_sum){0};
    enum tmx_status st = tmx_cache_files(folder, &arena, &file, &n, err);
    *t = tmx_table_of("file kind size_mib:3 last_used_utc state");
    for (size_t i = 0; i < n && !st; i++) {
        const char *fault = check ? tmx_cache_fault(folder, file[i].name) : NULL;
        add_row(*t, &file[i], fault ? fault : file[i].unfinished ? "unfinished" : check ? "whole" : "");
        sum->n_bad += fault != NULL;
        sum->size += file[i].size;
        sum->n++;
    }
    tmx_arena_finish(&arena);
    return st;
}

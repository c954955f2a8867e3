/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/provenance.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "base/os.h"
#include "base/text.h"

/* struct tmx_hash is an XXH3_state_t; the name keeps xxhash out of our headers. */
static XXH3_state_t *xxh(struct tmx_hash *h)
{
    return (XXH3_state_t *)h;
}

enum tmx_status tmx_hash_create(struct tmx_hash **h, struct tmx_err *err)
{
    XXH3_state_t *s = XXH3_createState();
    if (!s || XXH3_128bits_reset(s) != XXH_OK) {
        XXH3_freeState(s);
        return tmx_fail(err, TMX_ENOMEM, "hash state");
    }
    *h = (struct tmx_hash *)s;
    return TMX_OK;
}

void tmx_hash_add(struct tmx_hash *h, const void *data, size_t size)
{
    tmx_assert(XXH3_128bits_update(xxh(h), data, size) == XXH_OK);
}

void tmx_hash_add_text(struct tmx_hash *h, const char *text)
{
    tmx_hash_add(h, text, strlen(text) + 1);
}

void tmx_hash_hex(const struct tmx_hash *h, char hex[TMX_HASH_HEX])
{
    const XXH128_hash_t d = XXH3_128bits_digest((const XXH3_state_t *)h);
    snprintf(hex, TMX_HASH_HEX, "%016" PRIx64 "%016" PRIx64, (uint64_t)d.high64, (uint64_t)d.low64);
}

void tmx_hash_destroy(struct tmx_hash *h)
{
    XXH3_freeState(xxh(h));
}

enum tmx_status tmx_hash_file(const char *path, char hex[TMX_HASH_HEX], struct tmx_err *err)
{
    char bytes[65536];
    struct tmx_hash *h = NULL;
    FILE *f = NULL;
    enum tmx_status st = tmx_input_open(&f, path, err);
    if (st) {
        return st;
    }
    st = tmx_hash_create(&h, err);
    if (!st) {
        for (size_t n; (n = fread(bytes, 1, sizeof bytes, f)) > 0;) {
            tmx_hash_add(h, bytes, n);
        }
        st = ferror(f) ? tmx_fail_at(err, TMX_EIO, path, 0, "cannot read") : TMX_OK;
        tmx_hash_hex(h, hex);
        tmx_hash_destroy(h);
    }
    fclose(f);
    return st;
}

static _Thread_local struct tmx_provenance *open_list;

void tmx_provenance_begin(struct tmx_provenance *i)
{
    i->outer = open_list;
    open_list = i;
}

void tmx_provenance_end(struct tmx_provenance *i)
{
    tmx_assert(open_list == i);
    open_list = i->outer;
    i->outer = NULL;
}

void tmx_provenance_finish(struct tmx_provenance *i)
{
    tmx_arena_finish(&i->arena);
    *i = (struct tmx_provenance){0};
}

static void add(struct tmx_provenance *i, const char *path, const struct tmx_input *file)
{
    for (size_t k = 0; k < i->n_file; k++) {
        if (strcmp(i->file[k].path, path) == 0 && strcmp(i->file[k].hash, file->hash) == 0) {
            return;
        }
    }
    const char *own = tmx_arena_text(&i->arena, path);
    if (TMX_GROW(&i->arena, i->file, i->n_file)) {
        i->file[i->n_file] = *file;
        i->file[i->n_file++].path = own;
    }
}

void tmx_provenance_note(const char *path, const void *data, size_t size)
{
    struct tmx_input file = {0};
    struct tmx_hash *h = NULL;
    if (!open_list) {
        return;
    }
    tmx_os_file_id(path, &file.device, &file.node);
    const bool ok = !data || tmx_hash_create(&h, NULL) == TMX_OK;
    if (h) {
        tmx_hash_add(h, data, size);
        tmx_hash_hex(h, file.hash);
        tmx_hash_destroy(h);
    }
    for (struct tmx_provenance *i = open_list; i; i = i->outer) {
        i->arena.failed = i->arena.failed || !ok;
        add(i, path, &file);
    }
}

enum tmx_status tmx_provenance_hash(const struct tmx_provenance *i, struct tmx_hash *h, struct tmx_err *err)
{
    if (i->arena.failed) {
        return tmx_fail(err, TMX_ENOMEM, "list of inputs: out of memory");
    }
    for (size_t k = 0; k < i->n_file; k++) {
        if (i->file[k].hash[0]) {
            tmx_hash_add_text(h, i->file[k].hash);
        }
    }
    return TMX_OK;
}

/* Is this file one of those that were read? forget: it is none any more. */
static bool find(const char *path, bool forget)
{
    uint64_t device, node;
    bool found = false;
    if (!tmx_os_file_id(path, &device, &node)) {
        return false;
    }
    for (struct tmx_provenance *i = open_list; i; i = i->outer) {
        for (size_t k = 0; k < i->n_file; k++) {
            const bool same = i->file[k].node == node && i->file[k].device == device;
            found = found || same;
            if (same && forget) {
                i->file[k].node = i->file[k].device = 0;
            }
        }
    }
    return found;
}

bool tmx_provenance_hold(const char *path)
{
    return find(path, false);
}

void tmx_provenance_forget(const char *path)
{
    (void)find(path, true);
}

struct tmx_provenance *tmx_provenance_pause(void)
{
    struct tmx_provenance *i = open_list;
    open_list = NULL;
    return i;
}

void tmx_provenance_resume(struct tmx_provenance *i)
{
    open_list = i;
}

/* ---- a text's bytes: here and not in text.c, so that a program can be linked that has its files in memory
 * (tests/fuzz) ---- */

enum { CHUNK = 65536 };

static enum tmx_status slurp(FILE *in, struct tmx_text_file *t, struct tmx_err *err)
{
    size_t room = 0, n;
    do {
        if (room - t->size < CHUNK + 1) {
            room = room ? 2 * room : 2 * (size_t)CHUNK;
            char *data = realloc(t->data, room);
            if (!data) {
                return tmx_fail_at(err, TMX_ENOMEM, t->name, 0, "out of memory");
            }
            t->data = data;
        }
        n = fread(t->data + t->size, 1, CHUNK, in);
        t->size += n;
    } while (n > 0);
    t->data[t->size] = '\0';
    return ferror(in) ? tmx_fail_at(err, TMX_EIO, t->name, 0, "cannot read: %s", strerror(errno)) : TMX_OK;
}

enum tmx_status tmx_text_load_bytes(struct tmx_text_file *t, const char *path, struct tmx_err *err)
{
    *t = (struct tmx_text_file){0};
    snprintf(t->name, sizeof t->name, "%s", path);
    FILE *in = NULL;
    enum tmx_status st = tmx_input_open(&in, path, err);
    if (st) {
        return st;
    }
    st = slurp(in, t, err);
    if (in != stdin) {
        fclose(in);
    }
    if (st) {
        tmx_text_finish(t);
    } else {
        tmx_provenance_note(path, t->data, t->size);
    }
    return st;
}

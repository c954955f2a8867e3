/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Layout of a file: struct head, then the pieces. Native byte order: caches do not travel. */
#include "core/store/cache.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "core/base/os.h"
#include "core/base/output.h"
#include "core/store/cache_evict.h"

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
    FILE *claim = tmx_cache_claim(name->folder, strrchr(path, '/') + 1, sizeof head + head.size);
    if (!claim) {
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
    fclose(claim);
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
           : memcmp(sum, head->sum, sizeof sum) != 0 ? "damaged: its checksum is another"
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
        fault = strcmp(called, name) != 0 ? "damaged: its name is another inside" : contents_fault(f, &head);
    }
    fclose(f);
    return fault;
}

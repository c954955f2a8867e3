/* Layout of a file: struct head, then the pieces. Native byte order: caches do not travel. */
#include "thermal/backend/cache.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "core/base/os.h"

struct head {
    char magic[16];
    char key[TMX_HASH_HEX];
    char sum[TMX_HASH_HEX]; /* of the contents */
    char pad[6];            /* of zeros; the size is a multiple of 8 */
    uint64_t size;          /* of the contents, bytes */
};

static const char MAGIC[16] = "thermix cache 1";

static bool name_file(const char key[TMX_HASH_HEX], char *path, size_t size)
{
    char folder[400];
    return tmx_os_cache_dir(folder, sizeof folder, NULL) == TMX_OK &&
           (size_t)snprintf(path, size, "%s/%s.thermal", folder, key) < size;
}

/* Open the file of key behind its head; NULL when there is none that fits. */
static FILE *open_file(const char key[TMX_HASH_HEX], struct head *head)
{
    char path[500];
    FILE *f = name_file(key, path, sizeof path) ? fopen(path, "rb") : NULL;
    if (f && (fread(head, sizeof *head, 1, f) != 1 || memcmp(head->magic, MAGIC, sizeof MAGIC) != 0 ||
              memcmp(head->key, key, sizeof head->key) != 0)) {
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

bool tmx_cache_read(const char key[TMX_HASH_HEX], const struct tmx_piece *piece, size_t n_piece)
{
    struct head head;
    char sum[TMX_HASH_HEX];
    uint64_t size = 0;
    FILE *f = open_file(key, &head);
    bool ok = f != NULL;
    for (size_t i = 0; i < n_piece; i++) {
        size += piece[i].size;
    }
    ok = ok && head.size == size;
    for (size_t i = 0; i < n_piece && ok; i++) {
        ok = piece[i].size == 0 || fread(piece[i].data, piece[i].size, 1, f) == 1;
    }
    ok = ok && fgetc(f) == EOF && sum_pieces(piece, n_piece, sum) && memcmp(sum, head.sum, sizeof sum) == 0;
    if (f) {
        fclose(f);
    }
    return ok;
}

bool tmx_cache_peek(const char key[TMX_HASH_HEX], void *data, size_t size)
{
    struct head head;
    FILE *f = open_file(key, &head);
    const bool ok = f && fread(data, size, 1, f) == 1;
    if (f) {
        fclose(f);
    }
    return ok;
}

void tmx_cache_write(const char key[TMX_HASH_HEX], const struct tmx_piece *piece, size_t n_piece)
{
    struct head head = {.size = 0};
    struct tmx_output out;
    char path[500];
    memcpy(head.magic, MAGIC, sizeof head.magic);
    memcpy(head.key, key, sizeof head.key);
    if (!name_file(key, path, sizeof path) || !sum_pieces(piece, n_piece, head.sum) ||
        tmx_output_open(&out, path, NULL)) {
        return;
    }
    for (size_t i = 0; i < n_piece; i++) {
        head.size += piece[i].size;
    }
    fwrite(&head, sizeof head, 1, out.file);
    for (size_t i = 0; i < n_piece; i++) {
        if (piece[i].size > 0) { /* an empty piece may have no address */
            fwrite(piece[i].data, 1, piece[i].size, out.file);
        }
    }
    (void)!tmx_output_commit(&out, NULL); /* checks every write; discards the file on failure */
}

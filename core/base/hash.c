/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "core/base/hash.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <xxhash.h>

#include "core/base/os.h"

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

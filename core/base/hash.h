/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TMX_CORE_BASE_HASH_H
#define TMX_CORE_BASE_HASH_H

#include <stddef.h>

#include "core/base/err.h"

/* 128-bit content hash (XXH3) for cache keys and run ids. */
enum { TMX_HASH_HEX = 33 }; /* 32 hex digits and the NUL */

struct tmx_hash;

TMX_NODISCARD enum tmx_status tmx_hash_create(struct tmx_hash **h, struct tmx_err *err);
void tmx_hash_add(struct tmx_hash *h, const void *data, size_t size);
void tmx_hash_add_text(struct tmx_hash *h, const char *text); /* with its NUL, so "ab","c" != "a","bc" */
void tmx_hash_hex(const struct tmx_hash *h, char hex[TMX_HASH_HEX]);
void tmx_hash_destroy(struct tmx_hash *h);
/* Of a file's bytes. The file is not noted as an input. */
TMX_NODISCARD enum tmx_status tmx_hash_file(const char *path, char hex[TMX_HASH_HEX], struct tmx_err *err);

#endif

/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TMX_CORE_BASE_IMAGE_H
#define TMX_CORE_BASE_IMAGE_H

/* Images of an object's changing state, for snapshots. One walk over the fields serves size, save and
 * restore, so that the three cannot differ. */

#include <stddef.h>
#include <string.h>

enum tmx_image { TMX_IMAGE_COUNT, TMX_IMAGE_SAVE, TMX_IMAGE_RESTORE };

/* Count, save or restore a field of `size` bytes at `at` of the image; returns where the next one is. */
static inline size_t tmx_image_item(enum tmx_image d, void *field, size_t size, unsigned char *buf, size_t at)
{
    if (d == TMX_IMAGE_SAVE && size > 0) {
        memcpy(buf + at, field, size);
    } else if (d == TMX_IMAGE_RESTORE && size > 0) {
        memcpy(field, buf + at, size);
    }
    return at + size;
}

#endif

/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TMX_BASE_IMAGE_H
#define TMX_BASE_IMAGE_H

/* Images of an object's changing state, for snapshots. An object has one function that names its fields, its
 * image function; size, save and restore all call it, so that the three cannot differ. An image belongs to
 * objects that were made alike; a restored object continues bit for bit. */

#include <stddef.h>
#include <string.h>

struct tmx_image {
    unsigned char *to;         /* save; NULL: not */
    const unsigned char *from; /* restore; NULL: not; both NULL: count */
    size_t at;                 /* where the next field is */
};

/* A field of `size` bytes. */
static inline void tmx_image_item(struct tmx_image *i, void *field, size_t size)
{
    if (i->to && size > 0) {
        memcpy(i->to + i->at, field, size);
    } else if (i->from && size > 0) {
        memcpy(field, i->from + i->at, size);
    }
    i->at += size;
}

/* A field that is no pointer, or an array within a struct. */
#define TMX_IMAGE_FIELD(i, field) tmx_image_item((i), &(field), sizeof(field))

static inline size_t tmx_image_size(void (*image)(void *, struct tmx_image *), void *object)
{
    struct tmx_image i = {NULL, NULL, 0};
    image(object, &i);
    return i.at;
}

static inline void tmx_image_save(void (*image)(void *, struct tmx_image *), void *object, void *buf)
{
    struct tmx_image i = {(unsigned char *)buf, NULL, 0};
    image(object, &i);
}

static inline void tmx_image_restore(void (*image)(void *, struct tmx_image *), void *object, const void *buf)
{
    struct tmx_image i = {NULL, (const unsigned char *)buf, 0};
    image(object, &i);
}

#endif

/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <thermix/version.h>

#define TEXT(x)         #x
#define DOTTED(a, b, c) TEXT(a) "." TEXT(b) "." TEXT(c)

struct tmx_version tmx_version(void)
{
    return (struct tmx_version){TMX_VERSION_MAJOR, TMX_VERSION_MINOR, TMX_VERSION_PATCH, TMX_ABI,
                                DOTTED(TMX_VERSION_MAJOR, TMX_VERSION_MINOR, TMX_VERSION_PATCH)};
}

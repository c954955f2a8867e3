/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _GNU_SOURCE /* dladdr1 */
#include "run/input/origin.h"

#include <dlfcn.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Path of what this object file was linked into, malloced; NULL: nobody knows. */
static char *own_path(const struct link_map *map)
{
    enum { LONGEST = 4096 };
    if (map && map->l_name[0]) {
        return realpath(map->l_name, NULL);
    }
    char *path = calloc(1, LONGEST + 1); /* a program has no name in the list of what is loaded */
    if (path && readlink("/proc/self/exe", path, LONGEST) < 0) {
        free(path);
        path = NULL;
    }
    return path;
}

bool tmx_origin_find(const char *relative, char *buf, size_t size)
{
    static const char here = 0; /* an address of this object file */
    struct link_map *map = NULL;
    Dl_info info;
    const bool known = dladdr1(&here, &info, (void **)&map, RTLD_DL_LINKMAP) != 0;
    char *own = own_path(known ? map : NULL);
    char *slash = own ? strrchr(own, '/') : NULL, *real = NULL;
    bool ok = false;
    if (slash && (size_t)snprintf(buf, size, "%.*s/%s", (int)(slash - own), own, relative) < size) {
        real = realpath(buf, NULL);
        ok = real && (size_t)snprintf(buf, size, "%s", real) < size;
    }
    free(real);
    free(own);
    return ok;
}

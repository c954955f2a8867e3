/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _GNU_SOURCE /* dladdr1 */
#include "run/load/data.h"

#include <dirent.h>
#include <dlfcn.h>
#include <link.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/opt.h"
#include "base/os.h"
#include "base/plausible.h"
#include "base/text.h"

static const struct {
    const char *folder, *suffix, *word;
} kinds[] = {
    [TMX_DATA_CHIP] = {"floorplans", "", "chip"},
    [TMX_DATA_KERNEL] = {"workloads/kernels", ".cfg", "kernel"},
    [TMX_DATA_MIX] = {"workloads/mixes", ".cfg", "mix"},
    [TMX_DATA_SUITE] = {"workloads/suites", ".cfg", "suite"},
    [TMX_DATA_SYSTEM] = {"systems", ".cfg", "topology"},
    [TMX_DATA_TRACE] = {"workloads/traces", ".ptrace", "trace"},
    [TMX_DATA_PLOT] = {"plots/scripts", ".gp", "figure script"},
    [TMX_DATA_RUN] = {"workloads/runs", ".cfg", "run"},
    [TMX_DATA_BATCH] = {"workloads/batches", ".cfg", "batch"},
    [TMX_DATA_NODE] = {"workloads/nodes", ".cfg", "node"},
    [TMX_DATA_LLM] = {"workloads/llms", ".cfg", "language model"},
};

/* Folders in the order they are tried. The two near the program are looked for when they are asked for: most
 * files are found before. */
enum { N_ROOT = 5, HERE = 1 };

/* What runs as code, scripts of gnuplot and of the page, comes from where thermix was installed, or from
 * THERMIX_DATA, which the user chose: never from the current folder, which may be of somebody else. */
static bool is_code(const char *relative)
{
    return strncmp(relative, "plots/", 6) == 0;
}

const char *tmx_data_chosen(void)
{
    const char *env = getenv("THERMIX_DATA");
    return env && env[0] ? env : NULL;
}

/* Root i, in buf or somebody else's; NULL: not there. */
static const char *root(size_t i, char buf[TMX_PATH_SIZE])
{
    switch (i) {
    case 0:
        return tmx_data_chosen();
    case HERE:
        return ".";
    case 2: /* of bin and lib */
        return tmx_exe_relative("../share/thermix", buf, TMX_PATH_SIZE) ? buf : NULL;
    case 3: /* of lib/x */
        return tmx_exe_relative("../../share/thermix", buf, TMX_PATH_SIZE) ? buf : NULL;
    default:
        return TMX_INSTALL_DATA_DIR;
    }
}

static bool join(char path[TMX_PATH_SIZE], const char *root, const char *folder, const char *name,
                 const char *suffix)
{
    const int n = strcmp(root, ".") == 0
                      ? snprintf(path, TMX_PATH_SIZE, "%s/%s%s", folder, name, suffix)
                      : snprintf(path, TMX_PATH_SIZE, "%s/%s/%s%s", root, folder, name, suffix);
    return n > 0 && n < TMX_PATH_SIZE;
}

/* The first root that has it. */
static bool below_root(const char *relative, char path[TMX_PATH_SIZE])
{
    char buf[TMX_PATH_SIZE];
    for (size_t i = 0; i < N_ROOT; i++) {
        const char *at = i == HERE && is_code(relative) ? NULL : root(i, buf);
        if (at && snprintf(path, TMX_PATH_SIZE, "%s/%s", at, relative) < TMX_PATH_SIZE &&
            tmx_os_exists(path)) {
            return true;
        }
    }
    return false;
}

enum tmx_status tmx_data_file(const char *relative, char path[TMX_PATH_SIZE], struct tmx_err *err)
{
    if (tmx_failed(err)) {
        return err->code;
    }
    return below_root(relative, path)
               ? TMX_OK
               : tmx_fail(err, TMX_EIO, "%s not found; set THERMIX_DATA to the folder that holds it",
                          relative);
}

static bool ends_with(const char *s, const char *suffix)
{
    const size_t n = strlen(s), m = strlen(suffix);
    return m > 0 && n > m && strcmp(s + n - m, suffix) == 0;
}

/* WL2 before WL10. */
static int by_text(const void *a, const void *b)
{
    return strverscmp(*(const char *const *)a, *(const char *const *)b);
}

size_t tmx_data_names(enum tmx_data kind, const char *const **names, struct tmx_arena *arena)
{
    const char *suffix = kinds[kind].suffix, **list = NULL;
    size_t n = 0, kept = 0;
    for (size_t i = 0; i < N_ROOT; i++) {
        char buf[TMX_PATH_SIZE], folder[TMX_PATH_SIZE];
        const char *at = root(i, buf);
        const bool fits =
            at && snprintf(folder, sizeof folder, "%s/%s", at, kinds[kind].folder) < TMX_PATH_SIZE;
        DIR *dir = fits ? opendir(folder) : NULL;
        for (struct dirent *e; dir && (e = readdir(dir));) {
            const bool is = suffix[0] ? ends_with(e->d_name, suffix) : !strchr(e->d_name, '.');
            if (e->d_name[0] != '.' && is && TMX_GROW(arena, list, n)) {
                list[n++] = tmx_arena_letters(arena, e->d_name, strlen(e->d_name) - strlen(suffix));
            }
        }
        if (dir) {
            closedir(dir);
        }
    }
    n = arena->failed ? 0 : n;
    if (n > 0) {
        qsort(list, n, sizeof *list, by_text);
    }
    for (size_t i = 0; i < n; i++) { /* a name that several roots have counts once */
        if (kept == 0 || strcmp(list[kept - 1], list[i]) != 0) {
            list[kept++] = list[i];
        }
    }
    *names = list;
    return kept;
}

static enum tmx_status unknown(enum tmx_data kind, const char *from, const char *name, struct tmx_err *err)
{
    char here[TMX_PATH_SIZE], hint[TMX_HINT_SIZE];
    if (name[0] && tmx_beside(from, name, here, sizeof here)) {
        return tmx_fail(err, TMX_EIO, "no %s \"%s\" in %s/; the one in %s is \"./%s\"", kinds[kind].word,
                        name, kinds[kind].folder, strchr(here, '/') ? "this file's folder" : "this folder",
                        name);
    }
    static const struct {
        enum tmx_data kind;
        const char *how;
    } others[] = {{TMX_DATA_SYSTEM, "such a system: a run's file names it, topology = \"NAME\""},
                  {TMX_DATA_CHIP, "such a chip: a run's file names it, chip = \"NAME\""},
                  {TMX_DATA_MIX, "such a mix: a run's file names it, mix = \"NAME\""},
                  {TMX_DATA_SUITE, "such a suite or study: thermix table or thermix sweep run it"}};
    size_t other = kind == TMX_DATA_RUN ? 0 : 4; /* what this name is, where it is no run */
    while (other < 4 && tmx_data_find(others[other].kind, name, here, NULL)) {
        other++;
    }
    struct tmx_arena arena = {0};
    const char *const *names;
    const size_t n = tmx_data_names(kind, &names, &arena);
    enum tmx_status st;
    if (arena.failed) {
        st = tmx_no_memory(err);
    } else if (other < 4) {
        st = tmx_fail(err, TMX_EIO, "no run \"%s\" in %s/%s; there is %s", name, kinds[kind].folder,
                      tmx_suggest(hint, name, names, n), others[other].how);
    } else if (n) {
        st = tmx_fail(err, TMX_EIO, "no %s \"%s\" in %s/%s", kinds[kind].word, name, kinds[kind].folder,
                      tmx_suggest(hint, name, names, n));
    } else {
        st = tmx_fail(err, TMX_EIO,
                      "no %s \"%s\": found no %s/ folder; set THERMIX_DATA to the one that holds it",
                      kinds[kind].word, name, kinds[kind].folder);
    }
    tmx_arena_finish(&arena);
    return st;
}

bool tmx_data_is_path(enum tmx_data kind, const char *name)
{
    return strchr(name, '/') || ends_with(name, kinds[kind].suffix);
}

/* Byte by byte; folders of chips are compared by their chip.cfg. */
static bool same_content(enum tmx_data kind, const char *a, const char *b)
{
    char file[2][TMX_PATH_SIZE + 16];
    const char *end = kind == TMX_DATA_CHIP ? "/chip.cfg" : "";
    snprintf(file[0], sizeof file[0], "%s%s", a, end);
    snprintf(file[1], sizeof file[1], "%s%s", b, end);
    FILE *f = fopen(file[0], "rb"), *g = fopen(file[1], "rb");
    int x = EOF, y = EOF;
    bool same = f && g;
    do {
        x = f ? getc(f) : EOF;
        y = g ? getc(g) : EOF;
        same = same && x == y;
    } while (same && x != EOF);
    if (f) {
        fclose(f);
    }
    if (g) {
        fclose(g);
    }
    return same;
}

/* A folder workloads/ of the current folder hides what thermix has under the same name: said with both. */
static void warn_of_shadow(enum tmx_data kind, const char *name, const char *path)
{
    char buf[TMX_PATH_SIZE], other[TMX_PATH_SIZE];
    for (size_t i = HERE + 1; i < N_ROOT; i++) {
        const char *at = root(i, buf);
        if (at && join(other, at, kinds[kind].folder, name, kinds[kind].suffix) && tmx_os_exists(other) &&
            !same_content(kind, path, other)) {
            tmx_warn("%s %s is %s of the current folder, not %s", kinds[kind].word, name, path, other);
            return;
        }
    }
}

enum tmx_status tmx_data_find_from(enum tmx_data kind, const char *from, const char *name,
                                   char path[TMX_PATH_SIZE], struct tmx_err *err)
{
    char buf[TMX_PATH_SIZE];
    if (tmx_failed(err)) {
        return err->code;
    }
    if (tmx_data_is_path(kind, name)) {
        char places[2 * TMX_PATH_SIZE];
        tmx_beside_places(from, name, places, sizeof places);
        const bool one = strcmp(places, name) == 0;
        const bool plain = name[0] != '/' && name[0] != '.' && strchr(name, '/'); /* relative to no folder */
        return tmx_beside(from, name, path, TMX_PATH_SIZE) || (plain && below_root(name, path))
                   ? TMX_OK
                   : tmx_fail_at(err, TMX_EIO, name, 0, "no such %s%s%s", kinds[kind].word,
                                 one ? "" : "; looked for ", one ? "" : places);
    }
    for (size_t i = 0; i < N_ROOT && name[0]; i++) {
        const char *at = i == HERE && is_code(kinds[kind].folder) ? NULL : root(i, buf);
        if (at && join(path, at, kinds[kind].folder, name, kinds[kind].suffix) && tmx_os_exists(path)) {
            if (i == HERE) {
                warn_of_shadow(kind, name, path);
            }
            return TMX_OK;
        }
    }
    return unknown(kind, from, name, err);
}

enum tmx_status tmx_data_find_read(enum tmx_data kind, const char *from, const char *value,
                                   char path[TMX_PATH_SIZE], struct tmx_err *err)
{
    const bool there = tmx_data_is_path(kind, value) && tmx_os_exists(value);
    return tmx_data_find_from(kind, there ? NULL : from, value, path, err);
}

enum tmx_status tmx_data_find(enum tmx_data kind, const char *name, char path[TMX_PATH_SIZE],
                              struct tmx_err *err)
{
    return tmx_data_find_from(kind, NULL, name, path, err);
}

void tmx_data_find_for(enum tmx_data kind, const struct tmx_setting *asked, const char *name,
                       char path[TMX_PATH_SIZE], struct tmx_err *err)
{
    if (!err->code && tmx_data_find_from(kind, tmx_setting_file(asked), name, path, err)) {
        (void)tmx_setting_locate(asked, err->code, err);
    }
}

void tmx_data_name_for(enum tmx_data kind, const struct tmx_setting *asked, const char *name,
                       char anywhere[TMX_PATH_SIZE], struct tmx_err *err)
{
    snprintf(anywhere, TMX_PATH_SIZE, "%s", name);
    if (tmx_data_is_path(kind, name)) {
        tmx_data_find_for(kind, asked, name, anywhere, err);
    }
}

void tmx_data_word(enum tmx_data kind, const char *name, char *word, size_t size)
{
    size_t n = strlen(name);
    while (n > 1 && name[n - 1] == '/') {
        n--;
    }
    size_t begin = n;
    while (begin > 0 && name[begin - 1] != '/') {
        begin--;
    }
    const size_t suffix = strlen(kinds[kind].suffix);
    if (tmx_data_is_path(kind, name) && suffix > 0 && n - begin > suffix &&
        strncmp(name + n - suffix, kinds[kind].suffix, suffix) == 0) {
        n -= suffix;
    }
    snprintf(word, size, "%.*s", (int)(n - begin), name + begin);
}

/* Path of what this object file was linked into, malloced; NULL: unknown. */
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

bool tmx_exe_relative(const char *relative, char *buf, size_t size)
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

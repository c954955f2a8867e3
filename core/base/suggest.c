/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "core/base/suggest.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "core/base/os.h"

enum { MAX_WORD = 63 };

static size_t min3(size_t a, size_t b, size_t c)
{
    const size_t m = a < b ? a : b;
    return m < c ? m : c;
}

static size_t edit_distance(const char *a, const char *b)
{
    size_t row[MAX_WORD + 2];
    const size_t la = strlen(a), lb = strlen(b);
    if (la > MAX_WORD || lb > MAX_WORD) {
        return SIZE_MAX;
    }
    for (size_t j = 0; j <= lb; j++) {
        row[j] = j;
    }
    for (size_t i = 1; i <= la; i++) {
        size_t diag = row[0];
        row[0] = i;
        for (size_t j = 1; j <= lb; j++) {
            const size_t up = row[j];
            row[j] = min3(up + 1, row[j - 1] + 1, diag + (a[i - 1] != b[j - 1]));
            diag = up;
        }
    }
    return row[lb];
}

size_t tmx_names_find(const char *word, const char *const *names, size_t n)
{
    size_t i = 0;
    while (i < n && strcmp(names[i], word) != 0) {
        i++;
    }
    return i;
}

const char *tmx_suggest_nearest(const char *word, const char *const *names, size_t n)
{
    const char *best = NULL;
    size_t best_d = strlen(word) / 3 + 2;
    const size_t length = strlen(word);
    for (size_t i = 0; i < n; i++) {
        /* the unit alone is missing: "tick" means "tick_s" */
        const bool begins = length > 2 && strncmp(names[i], word, length) == 0 && names[i][length] == '_';
        const size_t d = begins ? 1 : edit_distance(word, names[i]);
        if (d < best_d) {
            best = names[i];
            best_d = d;
        }
    }
    return best;
}

const char *tmx_names_list(char *text, size_t size, const char *const *names, size_t n)
{
    static const char more[] = ", ...";
    size_t used = 0;
    text[0] = '\0';
    for (size_t i = 0; i < n; i++) {
        const size_t room = size - used - (i + 1 < n ? sizeof more - 1 : 0);
        const size_t want = strlen(names[i]) + (i ? 2 : 0);
        if (want >= room) {
            snprintf(text + used, size - used, "%s", i ? more : "...");
            break;
        }
        used += (size_t)snprintf(text + used, size - used, "%s%s", i ? ", " : "", names[i]);
    }
    return text;
}

const char *tmx_suggest(char hint[TMX_HINT_SIZE], const char *word, const char *const *names, size_t n)
{
    static const char there[] = "; there is ";
    const char *near = tmx_suggest_nearest(word, names, n);
    hint[0] = '\0';
    if (near) {
        snprintf(hint, TMX_HINT_SIZE, ", did you mean \"%s\"?", near);
    } else if (n > 0) {
        memcpy(hint, there, sizeof there);
        tmx_names_list(hint + sizeof there - 1, TMX_HINT_SIZE - sizeof there + 1, names, n);
    }
    return hint;
}

/* ---- files that files name ---- */

/* Length of the folder before the file's own name, with its slash; 0: the current one. */
static size_t folder_length(const char *from, const char *name)
{
    const char *slash = from && strncmp(from, "--", 2) != 0 && name[0] != '/' ? strrchr(from, '/') : NULL;
    return slash ? (size_t)(slash + 1 - from) : 0;
}

/* "./x" in "a/b.cfg" is a/x. */
static const char *bare(const char *name, size_t folder)
{
    while (folder > 0 && strncmp(name, "./", 2) == 0 && name[2] != '/') {
        name += 2;
    }
    return name;
}

bool tmx_beside(const char *from, const char *name, char *path, size_t size)
{
    const size_t n = folder_length(from, name);
    const int length = snprintf(path, size, "%.*s%s", (int)n, n ? from : "", bare(name, n));
    const bool fits = length >= 0 && (size_t)length < size;
    if (fits && tmx_os_exists(path)) {
        return true;
    }
    if (n > 0 && strlen(name) < size && tmx_os_exists(name)) {
        memcpy(path, name, strlen(name) + 1);
        return true;
    }
    return false;
}

const char *tmx_beside_places(const char *from, const char *name, char *buf, size_t size)
{
    const size_t n = folder_length(from, name);
    snprintf(buf, size, "%.*s%s%s%s", (int)n, n ? from : "", bare(name, n), n ? ", " : "", n ? name : "");
    return buf;
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A target's main program. Inputs are in memory: the linker gives the readers' loading of a file
 * (tmx_text_load_bytes) to this file (--wrap), which opens only what it does not have itself. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/provenance.h"
#include "tests/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
const char *__asan_default_options(void);
enum tmx_status __real_tmx_text_load_bytes(struct tmx_text_file *t, const char *path, struct tmx_err *err);
enum tmx_status __wrap_tmx_text_load_bytes(struct tmx_text_file *t, const char *path, struct tmx_err *err);

/* Most of a run is the allocator: what it keeps to name a fault's past is kept small. A finding is replayed
 * by the debug build's replay, which keeps all. */
const char *__asan_default_options(void)
{
    return "quarantine_size_mb=1:malloc_context_size=1:allocator_release_to_os_interval_ms=-1";
}

static struct {
    const char *path, *data;
    size_t size;
} files[2] = {{"/memory/input", NULL, 0}, {"/memory/beside", NULL, 0}};

_Noreturn void fuzz_failed(const char *file, int line, const char *cond)
{
    fprintf(stderr, "%s:%d: %s\n", file, line, cond);
    abort();
}

const char *fuzz_file(const char *data, size_t size)
{
    files[1].data = data;
    files[1].size = size;
    return files[1].path;
}

const char *fuzz_bytes(const char *path, size_t *size)
{
    for (size_t i = 0; i < 2; i++) {
        if (files[i].data && strcmp(files[i].path, path) == 0) {
            *size = files[i].size;
            return files[i].data;
        }
    }
    return NULL;
}

enum tmx_status __wrap_tmx_text_load_bytes(struct tmx_text_file *t, const char *path, struct tmx_err *err)
{
    size_t size;
    const char *data = fuzz_bytes(path, &size);
    if (!data) {
        return __real_tmx_text_load_bytes(t, path, err);
    }
    *t = (struct tmx_text_file){.data = malloc(size + 1), .size = size};
    fuzz_check(t->data);
    memcpy(t->data, data, size);
    t->data[size] = '\0';
    snprintf(t->name, sizeof t->name, "%s", path);
    tmx_provenance_note(path, t->data, t->size);
    return TMX_OK;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    files[0].data = size ? (const char *)data : ""; /* no input: libFuzzer gives no bytes at all */
    files[0].size = size;
    FUZZ_READER(files[0].path);
    files[1].data = NULL;
    return 0;
}

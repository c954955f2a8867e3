/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "core/base/inputs.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/os.h"

static _Thread_local struct tmx_inputs *open_list;

void tmx_inputs_begin(struct tmx_inputs *i)
{
    i->outer = open_list;
    open_list = i;
}

void tmx_inputs_end(struct tmx_inputs *i)
{
    tmx_assert(open_list == i);
    open_list = i->outer;
    i->outer = NULL;
}

void tmx_inputs_finish(struct tmx_inputs *i)
{
    for (size_t k = 0; k < i->n_file; k++) {
        free(i->file[k].path);
    }
    free(i->file);
    *i = (struct tmx_inputs){0};
}

static bool add(struct tmx_inputs *i, const struct tmx_input *file)
{
    for (size_t k = 0; k < i->n_file; k++) {
        if (strcmp(i->file[k].path, file->path) == 0 && strcmp(i->file[k].hash, file->hash) == 0) {
            return true;
        }
    }
    const size_t length = strlen(file->path) + 1;
    struct tmx_input *more = realloc(i->file, (i->n_file + 1) * sizeof *more);
    if (!more) {
        return false;
    }
    i->file = more;
    more[i->n_file] = *file;
    more[i->n_file].path = malloc(length);
    if (!more[i->n_file].path) {
        return false;
    }
    memcpy(more[i->n_file++].path, file->path, length);
    return true;
}

void tmx_inputs_note(const char *path, const void *data, size_t size)
{
    struct tmx_input file = {0};
    struct tmx_hash *h = NULL;
    union { /* add() copies the name, it does not write it */
        const char *from;
        char *to;
    } name = {.from = path};
    if (!open_list) {
        return;
    }
    file.path = name.to;
    bool ok = true;
    tmx_os_file_id(path, &file.device, &file.node);
    if (data) {
        ok = tmx_hash_create(&h, NULL) == TMX_OK;
        if (ok) {
            tmx_hash_add(h, data, size);
            tmx_hash_hex(h, file.hash);
            tmx_hash_destroy(h);
        }
    }
    for (struct tmx_inputs *i = open_list; i; i = i->outer) {
        i->out_of_memory = !(ok && add(i, &file)) || i->out_of_memory;
    }
}

enum tmx_status tmx_inputs_hash(const struct tmx_inputs *i, struct tmx_hash *h, struct tmx_err *err)
{
    if (i->out_of_memory) {
        return tmx_fail(err, TMX_ENOMEM, "list of inputs: out of memory");
    }
    for (size_t k = 0; k < i->n_file; k++) {
        if (i->file[k].hash[0]) {
            tmx_hash_add_text(h, i->file[k].hash);
        }
    }
    return TMX_OK;
}

bool tmx_inputs_hold(const char *path)
{
    uint64_t device, node;
    if (!tmx_os_file_id(path, &device, &node)) {
        return false;
    }
    for (const struct tmx_inputs *i = open_list; i; i = i->outer) {
        for (size_t k = 0; k < i->n_file; k++) {
            if (i->file[k].node == node && i->file[k].device == device) {
                return true;
            }
        }
    }
    return false;
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Logs have a loading of their own, for gzip; here they are plain bytes. */
#include <stdlib.h>
#include <string.h>

#include "measure/log/collect.h"
#include "tests/fuzz/fuzz.h"

enum tmx_status __wrap_tmx_log_text(struct tmx_text_file *t, const char *path, struct tmx_measured *m,
                                    struct tmx_err *err);

enum tmx_status __wrap_tmx_log_text(struct tmx_text_file *t, const char *path, struct tmx_measured *m,
                                    struct tmx_err *err)
{
    const enum tmx_status st = tmx_text_load_bytes(t, path, err);
    return st ? st : tmx_log_decode(t, m, err);
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "measure/measure.h"
#include "tests/fuzz/fuzz.h"

/* Either file of AccelWattch. */
void fuzz_reader(const char *path)
{
    struct tmx_table *t = NULL;
    struct tmx_err err = {0};
    if (tmx_accelwattch_import(path, NULL, NULL, &t, &err) == TMX_OK) {
        fuzz_check(tmx_table_rows(t) > 0);
    } else {
        fuzz_check(err.msg[0]);
    }
    tmx_table_destroy(t);
}

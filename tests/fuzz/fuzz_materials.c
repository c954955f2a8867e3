/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/fuzz/fuzz.h"

#include "thermal/files/hotspot_lcf.h"

void fuzz_reader(const char *path)
{
    struct tmx_materials m;
    struct tmx_err err = {0};
    if (tmx_materials_read(path, &m, &err) == TMX_OK) {
        for (size_t i = 0; i < m.n; i++) {
            fuzz_check(tmx_materials_find(&m, m.item[i].name) == &m.item[i]);
            fuzz_check(m.item[i].k_w_per_mk > 0 && m.item[i].p_j_per_m3k > 0);
        }
    } else {
        fuzz_check(err.msg[0]);
    }
    tmx_materials_finish(&m);
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/fuzz/fuzz.h"

#include "thermal/files/hotspot_lcf.h"

void fuzz_reader(const char *path)
{
    struct tmx_material silicon = {.name = "silicon", .k_w_per_mk = 130, .p_j_per_m3k = 1.63e6};
    const struct tmx_materials materials = {.item = &silicon, .n = 1};
    struct tmx_lcf lcf;
    struct tmx_err err = {0};
    if (tmx_lcf_read(path, &materials, &lcf, &err) == TMX_OK) {
        fuzz_check(lcf.n_layer > 0);
        for (size_t l = 0; l < lcf.n_layer; l++) {
            fuzz_check(lcf.layer[l].given && lcf.layer[l].l.thickness_m > 0 &&
                       lcf.layer[l].part[0].floorplan[0]);
            fuzz_check(lcf.layer[l].l.k_w_per_mk > 0.0099 && lcf.layer[l].l.k_w_per_mk < 5001);
        }
    } else {
        fuzz_check(err.msg[0]);
    }
    tmx_lcf_finish(&lcf);
}

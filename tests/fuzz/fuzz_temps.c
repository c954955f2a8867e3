/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/fuzz/fuzz.h"

#include <math.h>

#include "thermal/files/hotspot_temps.h"

/* A .steady file for two blocks on silicon and interface. */
void fuzz_reader(const char *path)
{
    char a[] = "A", b[] = "B";
    struct tmx_unit unit[] = {
        {.name = a, .w_m = 2e-3, .h_m = 4e-3, .heat_capacity_j_per_m3k = NAN},
        {.name = b, .x_m = 2e-3, .w_m = 2e-3, .h_m = 4e-3, .heat_capacity_j_per_m3k = NAN}};
    struct tmx_floorplan fp = {.unit = unit, .n_unit = 2};
    struct tmx_layer layer[] = {{.floorplan = &fp, .dissipates = true}, {.floorplan = &fp}};
    struct tmx_stack stack = {.floorplan = &fp,
                              .layer = layer,
                              .spec = {.layer = layer, .n_layer = 2, .rows = 4, .cols = 4, .init_k = 300}};
    static struct tmx_temps
        t; /* made once: it is most of the work, and a reader may be given one that was used */
    struct tmx_err err = {0};
    fuzz_check(t.n_layer > 0 || tmx_temps_init(&t, &stack, &err) == TMX_OK);
    if (tmx_temps_read(path, &t, &err) == TMX_OK) {
        for (size_t i = 0; i < t.first[t.n_layer]; i++) {
            fuzz_check(t.block_k[i] >= 200 && t.block_k[i] <= 5000);
        }
        tmx_temps_limit(&t, false, 350);
    } else {
        fuzz_check(err.msg[0]);
    }
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>

#include "core/topology/topology.h"
#include "tests/fuzz/fuzz.h"

/* Nodes: every GPU and fan is on a card, and air flows forward. */
void fuzz_reader(const char *path)
{
    struct tmx_topology t = {0};
    struct tmx_err err = {0};
    if (tmx_topology_load(&t, path, &err) == TMX_OK) {
        fuzz_check(t.n_gpu > 0 && t.n_card > 0);
        for (size_t g = 0; g < t.n_gpu; g++) {
            fuzz_check(t.gpu[g].card < t.n_card && t.upstream_first[g] < t.n_gpu);
        }
        for (size_t f = 0; f < t.n_fan; f++) {
            fuzz_check(t.fan[f].card < t.n_card && isfinite(tmx_fan_power_w(&t.fan[f], t.fan[f].max_rpm)));
        }
        for (size_t a = 0; a < t.n_air; a++) {
            fuzz_check(t.air[a].from < t.n_gpu && t.air[a].to < t.n_gpu);
        }
    } else {
        fuzz_check(err.msg[0]);
    }
    tmx_topology_finish(&t);
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>

#include "tests/fuzz/fuzz.h"
#include "thermal/files/ice.h"

/* 3D-ICE's stacks, without the floorplans they name. */
void fuzz_reader(const char *path)
{
    struct tmx_ice_stack s = {0};
    struct tmx_err err = {0};
    if (tmx_ice_stack_read(&s, path, &err) == TMX_OK) {
        fuzz_check(s.n_placed <= TMX_ICE_MAX_STACK && s.n_kind <= TMX_ICE_MAX_KIND);
        fuzz_check(isfinite(s.length_m) && isfinite(s.width_m) && isfinite(s.init_k));
    } else {
        fuzz_check(err.msg[0]);
    }
    tmx_ice_stack_finish(&s);
}

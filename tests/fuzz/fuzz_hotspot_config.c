/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/fuzz/fuzz.h"

#include <stdio.h>

#include "thermal/files/hotspot_config.h"

void fuzz_reader(const char *path)
{
    struct tmx_hotspot_config cfg, again;
    struct tmx_err err = {0};
    char copy[128];
    tmx_hotspot_config_init(&cfg);
    tmx_hotspot_config_init(&again);
    if (tmx_hotspot_config_read(&cfg, path, TMX_HOTSPOT_CONFIG, &err) != TMX_OK) {
        fuzz_check(err.msg[0]);
        return;
    }
    snprintf(copy, sizeof copy, "%.100s.copy", path);
    FILE *f = fopen(copy, "wb");
    fuzz_check(f);
    tmx_hotspot_config_print(&cfg, f);
    fclose(f);
    fuzz_check(tmx_hotspot_config_read(&again, copy, TMX_HOTSPOT_CONFIG, &err) == TMX_OK);
    fuzz_check(again.t_chip == cfg.t_chip && again.grid_rows == cfg.grid_rows && again.rpm == cfg.rpm);
    remove(copy);
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _POSIX_C_SOURCE 200809L
#include <stdio.h>
#include <stdlib.h>

#include "tests/fuzz/fuzz.h"
#include "thermal/files/hotspot_config.h"

void fuzz_reader(const char *path)
{
    struct tmx_hotspot_config cfg, again;
    struct tmx_err err = {0};
    char *text = NULL;
    size_t size = 0;
    tmx_hotspot_config_init(&cfg);
    tmx_hotspot_config_init(&again);
    if (tmx_hotspot_config_read(&cfg, path, TMX_HOTSPOT_CONFIG, &err) != TMX_OK) {
        fuzz_check(err.msg[0]);
        return;
    }
    FILE *f = open_memstream(&text, &size);
    fuzz_check(f);
    tmx_hotspot_config_print(&cfg, f);
    fclose(f);
    fuzz_check(tmx_hotspot_config_read(&again, fuzz_file(text, size), TMX_HOTSPOT_CONFIG, &err) == TMX_OK);
    fuzz_check(again.t_chip == cfg.t_chip && again.grid_rows == cfg.grid_rows &&
               again.fan.rpm == cfg.fan.rpm);
    free(text);
}

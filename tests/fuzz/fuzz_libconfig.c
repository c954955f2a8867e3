/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/options.h"

#include "base/config.h"

/* Configuration files and the option tables that read them. */
void fuzz_reader(const char *path)
{
    struct tmx_config *cfg = NULL;
    struct part part;
    struct tmx_err err = {0};
    enum tmx_status st = tmx_config_load(&cfg, path, NULL, &err);
    st = st ? st : tmx_opt_read(part_options, &part, tmx_config_root(cfg), NULL, &err);
    fuzz_check(st ? err.msg[0] != 0 : part_within(&part));
    tmx_config_close(cfg);
}

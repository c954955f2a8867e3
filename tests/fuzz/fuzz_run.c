/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _POSIX_C_SOURCE 200809L
#include <stdlib.h>

#include "base/config.h"
#include "run/run.h"
#include "tests/fuzz/fuzz.h"

/* A run's configuration with all that it names, short of the thermal model. What it is refused for is said.
 */
void fuzz_reader(const char *path)
{
    struct tmx_config *cfg = NULL;
    struct tmx_run *run = NULL;
    struct tmx_err err = {0};
    setenv("THERMIX_DATA", TMX_FUZZ_DATA, 0);
    setenv("THERMIX_CACHE_MIB", "0", 0);
    setenv("THERMIX_MAX_MINUTES", "0.005", 0); /* nothing that takes long is begun */
    enum tmx_status st = tmx_config_load(&cfg, path, NULL, &err);
    st = st ? st : tmx_run_create(&run, tmx_config_root(cfg), &(struct tmx_run_how){.described = true}, &err);
    fuzz_check(st ? err.msg[0] != 0 : tmx_run_id(run)[0] != 0);
    tmx_run_destroy(run);
    tmx_config_close(cfg);
}

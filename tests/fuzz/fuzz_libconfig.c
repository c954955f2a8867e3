/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/fuzz/fuzz.h"

#include <stdbool.h>

#include "core/base/config.h"
#include "core/base/opt.h"

struct part {
    double real;
    int integer, choice;
    bool flag;
    char text[8];
};

/* Configuration files and the option tables that read them. */
void fuzz_reader(const char *path)
{
    static const char *const words[] = {"one", "two", NULL};
    static const struct tmx_opt opts[] = {TMX_ROW_REAL(part, real, "W", -1, 1e6, 0, "a number"),
                                          TMX_ROW_INT(part, integer, "1", -5, 5, 0, "an integer"),
                                          TMX_ROW_CHOICE(part, choice, words, "one", "a word"),
                                          TMX_ROW_BOOL(part, flag, 0, "a switch"),
                                          TMX_ROW_TEXT(part, text, "", "some text"),
                                          {0}};
    struct tmx_config *cfg = NULL;
    struct part part;
    struct tmx_err err = {0};
    enum tmx_status st = tmx_config_load(&cfg, path, NULL, 0, &err);
    st = st ? st : tmx_opt_read(opts, &part, tmx_config_root(cfg), NULL, &err);
    fuzz_check(st ? err.msg[0] != 0
                  : part.real >= -1 && part.real <= 1e6 && part.integer <= 5 && part.choice < 2);
    tmx_config_close(cfg);
}

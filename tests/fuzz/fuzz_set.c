/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/config.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/options.h"

/* Overrides, one a line, of a configuration that stays; and the same words as values of options. */
void fuzz_reader(const char *path)
{
    struct tmx_config *cfg = NULL;
    struct part part = {0};
    struct tmx_lines l = {0};
    struct tmx_err err = {0};
    struct tmx_text_file t;
    if (tmx_text_load(&t, path, &err) != TMX_OK) {
        return;
    }
    fuzz_check(tmx_config_parse(&cfg, "real = 1.0; text = \"a\"; flag = true;", "part", &err) == TMX_OK);
    while (tmx_lines_next(&l, &t)) {
        char word[256];
        if (!tmx_span_copy(l.line, word, sizeof word)) {
            continue;
        }
        fuzz_check(tmx_config_set(cfg, word, &err) == TMX_OK || err.msg[0]);
        for (const struct tmx_opt *o = part_options; o->key; o++) {
            fuzz_check(tmx_opt_set(o, &part, word, "file", 1, &err) == TMX_OK || err.msg[0]);
        }
        fuzz_check(part_within(&part));
    }
    if (tmx_opt_read(part_options, &part, tmx_config_root(cfg), NULL, &err) == TMX_OK) {
        fuzz_check(part_within(&part));
    } else {
        fuzz_check(err.msg[0]);
    }
    tmx_config_close(cfg);
    tmx_text_finish(&t);
}

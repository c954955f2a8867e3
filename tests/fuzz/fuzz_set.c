/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdbool.h>

#include "core/base/config.h"
#include "core/base/opt.h"
#include "tests/fuzz/fuzz.h"

struct part {
    double real;
    int integer, choice;
    bool flag;
    char text[8];
};

/* Overrides, one a line, of a configuration that stays; and the same words as values of options. */
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
    struct part part = {0};
    struct tmx_lines l = {0};
    struct tmx_err err = {0};
    struct tmx_text t;
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
        for (const struct tmx_opt *o = opts; o->key; o++) {
            fuzz_check(tmx_opt_set(o, &part, word, "file", 1, &err) == TMX_OK || err.msg[0]);
        }
        fuzz_check(part.real >= -1 && part.real <= 1e6 && part.integer <= 5 && part.choice < 2);
    }
    if (tmx_opt_read(opts, &part, tmx_config_root(cfg), NULL, &err) == TMX_OK) {
        fuzz_check(part.real >= -1 && part.real <= 1e6 && part.integer <= 5 && part.choice < 2);
    } else {
        fuzz_check(err.msg[0]);
    }
    tmx_config_close(cfg);
    tmx_text_finish(&t);
}

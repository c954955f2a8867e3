/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TMX_TESTS_FUZZ_OPTIONS_H
#define TMX_TESTS_FUZZ_OPTIONS_H

/* A part with an option of each type, and what its values may be. */

#include <stdbool.h>

#include "base/opt.h"

struct part {
    double real;
    int integer, choice;
    bool flag;
    char text[8];
};

static const char *const part_words[] = {"one", "two", NULL};
static const struct tmx_opt part_options[] = {TMX_ROW_REAL(part, real, "W", -1, 1e6, 0, "a number"),
                                              TMX_ROW_INT(part, integer, "1", -5, 5, 0, "an integer"),
                                              TMX_ROW_CHOICE(part, choice, part_words, "one", "a word"),
                                              TMX_ROW_BOOL(part, flag, 0, "a switch"),
                                              TMX_ROW_TEXT(part, text, "", "some text"),
                                              {0}};

static inline bool part_within(const struct part *p)
{
    return p->real >= -1 && p->real <= 1e6 && p->integer >= -5 && p->integer <= 5 && p->choice >= 0 &&
           p->choice < 2;
}

#endif

/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TMX_TESTS_SUPPORT_SCRATCH_H
#define TMX_TESTS_SUPPORT_SCRATCH_H

#include "tests/support/check.h"

/* Write text to a file in the working folder (the build's tests folder) and return its name. */
static inline const char *scratch_write(const char *name, const char *text)
{
    FILE *f = fopen(name, "wb");
    assert_non_null(f);
    fputs(text, f);
    assert_int_equal(fclose(f), 0);
    return name;
}

#endif

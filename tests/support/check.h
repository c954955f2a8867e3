/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TMX_TESTS_SUPPORT_CHECK_H
#define TMX_TESTS_SUPPORT_CHECK_H

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#pragma GCC diagnostic ignored "-Wunused-parameter" /* cmocka's state */

/* TMX_TESTS(test_name) { ... }: what runs the tests of the file test_name.c within its folder's program
 * (main.c). */
#define TMX_TESTS(name)              \
    int name(int argc, char **argv); \
    int name(int argc, char **argv)

/* cmocka's assert_float_equal compares in single precision, too coarse for kelvins. */
#define check_close(actual, expected, rel, abs)                                                       \
    do {                                                                                              \
        const double a_ = (actual), e_ = (expected);                                                  \
        if (!(fabs(a_ - e_) <= (abs) + (rel)*fabs(e_))) {                                             \
            print_error("%s = %.17g, expected %.17g, off by %.3g\n", #actual, a_, e_, fabs(a_ - e_)); \
            _fail(__FILE__, __LINE__);                                                                \
        }                                                                                             \
    } while (0)

#endif

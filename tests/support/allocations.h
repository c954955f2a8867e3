/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TMX_TESTS_SUPPORT_ALLOCATIONS_H
#define TMX_TESTS_SUPPORT_ALLOCATIONS_H

/* Counts what the test and the code linked into it allocate; shared libraries count for themselves. For one
 * source file of a test that is linked with --wrap=malloc, calloc and realloc (tests/CMakeLists.txt). */

#include <stddef.h>

static size_t allocations;

void *__real_malloc(size_t size);
void *__real_calloc(size_t n, size_t size);
void *__real_realloc(void *p, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_realloc(void *p, size_t size);
void *__wrap_malloc(size_t size)
{
    allocations++;
    return __real_malloc(size);
}
void *__wrap_calloc(size_t n, size_t size)
{
    allocations++;
    return __real_calloc(n, size);
}
void *__wrap_realloc(void *p, size_t size)
{
    allocations++;
    return __real_realloc(p, size);
}

#endif

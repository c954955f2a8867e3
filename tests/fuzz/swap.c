/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Every second mutation of a configuration gives a key another value: of another type, too large for its
 * type, or that of another key. Bytes alone rarely leave a file that parses. */
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max_size);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned int seed);

struct span {
    size_t at, n;
};

static const char *const others[] = {
    "5",    "-1",    "0",   "1.5", "1e308", "4294967297", "99999999999L", "0x100000001", "true",
    "\"\"", "\"x\"", "{ }", "( )", "[ ]",   "[ 1, 2 ]",   "( ( 1 ) )",    "{ z = 1; }",  "( { } )"};

/* The value behind the '=' at `at`: up to ';', ',' or a bracket that was not opened in it. */
static struct span value_behind(const uint8_t *data, size_t size, size_t at)
{
    int depth = 0;
    size_t i = ++at;
    for (bool quoted = false; i < size; i++) {
        const char c = (char)data[i];
        quoted ^= c == '"';
        if (quoted) {
            continue;
        }
        depth += strchr("({[", c) && c ? 1 : 0;
        if (depth == 0 && c && strchr(";,)}]", c)) {
            break;
        }
        depth -= strchr(")}]", c) && c ? 1 : 0;
    }
    return (struct span){at, i - at};
}

static bool pick(const uint8_t *data, size_t size, unsigned choice, struct span *s)
{
    size_t n = 0;
    for (size_t i = 0; i < size; i++) {
        n += data[i] == '=';
    }
    for (size_t i = 0, k = n ? choice % n : 0; n && i < size; i++) {
        if (data[i] == '=' && k-- == 0) {
            *s = value_behind(data, size, i);
            return true;
        }
    }
    return false;
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned int seed)
{
    enum { N = sizeof others / sizeof others[0], LONGEST = 4096 };
    struct span to, from;
    char with[LONGEST];
    if (seed % 2 == 0 || !pick(data, size, seed >> 1 & 0xff, &to)) {
        return LLVMFuzzerMutate(data, size, max_size);
    }
    const unsigned k = (seed >> 9) % (N + 6); /* now and then another key's value */
    size_t n = 0;
    if (k < N) {
        n = strlen(others[k]);
        memcpy(with, others[k], n);
    } else if (pick(data, size, seed >> 16, &from) && from.n < LONGEST) {
        n = from.n;
        memcpy(with, data + from.at, n);
    }
    if (size - to.n + n > max_size) {
        return LLVMFuzzerMutate(data, size, max_size);
    }
    memmove(data + to.at + n, data + to.at + to.n, size - to.at - to.n);
    memcpy(data + to.at, with, n);
    return size - to.n + n;
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "plots/base64.h"

#include <stdlib.h>

char *tmx_base64(const void *bytes, size_t n)
{
    static const char digit[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const unsigned char *in = bytes;
    char *out = malloc(4 * (n / 3 + 1) + 1);
    size_t k = 0;
    for (size_t i = 0; out && i < n; i += 3) {
        const unsigned a = in[i], b = i + 1 < n ? in[i + 1] : 0, c = i + 2 < n ? in[i + 2] : 0;
        const unsigned all = a << 16 | b << 8 | c;
        out[k++] = digit[all >> 18];
        out[k++] = digit[all >> 12 & 63];
        out[k++] = i + 1 < n ? digit[all >> 6 & 63] : '=';
        out[k++] = i + 2 < n ? digit[all & 63] : '=';
    }
    if (out) {
        out[k] = '\0';
    }
    return out;
}

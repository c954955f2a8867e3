/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TMX_PLOTS_BASE64_H
#define TMX_PLOTS_BASE64_H

#include <stddef.h>

/* n bytes as base64 text (RFC 4648), owned by the caller; NULL without memory. */
char *tmx_base64(const void *bytes, size_t n);

#endif

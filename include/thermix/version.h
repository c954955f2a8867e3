/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef THERMIX_VERSION_H
#define THERMIX_VERSION_H

/* The version of the project, written in this file alone: CMake, the Python package and the release read it
 * from here. */

#include <thermix/error.h>

#ifdef __cplusplus
extern "C" {
#endif

#define TMX_VERSION_MAJOR 1
#define TMX_VERSION_MINOR 0
#define TMX_VERSION_PATCH 0

/* Number of the binary border: the library's SOVERSION, and what a module is checked against.
 * Raised when a struct of the public headers changes or a function goes. */
#define TMX_ABI 1

struct tmx_version {
    int major, minor, patch, abi;
    const char *text; /* "major.minor.patch"; lives as long as the library */
};

/* Of the library that is loaded; the macros above are those of the headers. */
TMX_API struct tmx_version tmx_version(void);

#ifdef __cplusplus
}
#endif
#endif

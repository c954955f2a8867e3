/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TMX_RUN_INPUT_ORIGIN_H
#define TMX_RUN_INPUT_ORIGIN_H

#include <stdbool.h>
#include <stddef.h>

/* Where `relative` ("../share/thermix") leads from the folder of the program or shared library
 * that holds this code, without links, into buf. What belongs to an installation is found this
 * way wherever it was moved. False when there is no such file or buf is too short. */
bool tmx_origin_find(const char *relative, char *buf, size_t size);

#endif

/* SPDX-License-Identifier: GPL-3.0-or-later */
#define TMX_KERNEL tmx_rows_v3
#include "core/vector/rows_kernel.h"

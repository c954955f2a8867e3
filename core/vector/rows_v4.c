/* SPDX-License-Identifier: GPL-3.0-or-later */
#define TMX_KERNEL tmx_rows_v4
#include "core/vector/rows_kernel.h"

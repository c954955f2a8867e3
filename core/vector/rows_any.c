/* SPDX-License-Identifier: GPL-3.0-or-later */
#define TMX_KERNEL tmx_rows_any
#include "core/vector/rows_kernel.h"

/* SPDX-License-Identifier: GPL-3.0-or-later */
#define TMX_KERNEL tmx_watts_v4
#include "power/watts_kernel.h"

/* SPDX-License-Identifier: GPL-3.0-or-later */
#define TMX_KERNEL tmx_watts_v3
#include "power/watts_kernel.h"

/* SPDX-License-Identifier: GPL-3.0-or-later */
#define TMX_KERNEL tmx_modal_kernel_v3
#include "thermal/network/modal_kernel.h"

/* SPDX-License-Identifier: GPL-3.0-or-later */
#define TMX_KERNEL tmx_modal_kernel_v4
#include "thermal/network/modal_kernel.h"
